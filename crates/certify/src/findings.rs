//! Everything worth saying about some rows: the verdict, and what a person asks next.
//!
//! If they can be separated: how hard they are for the perceptron, and how many mistakes it makes beside its
//! bound. If not: which rows are equal but on different sides, the perceptron's own cycle, and which rows
//! stand in the way of a hyperplane.

use crate::decide::{Answer, Question, Verdict, decide_by, mistakes, opposites};
use crate::exact::length_up;
use crate::perceptron::{Cycle, Told, cycle_by, perceptron_by, pocket_by};
use crate::rows::{Rows, shift};
use crate::watch::{Clock, Part, Watch};

/// How many pairs of contradicting rows are named.
pub const MOST_PAIRS: usize = 1000;
/// How many values a run of the perceptron may look at.
const PERCEPTRON_WORK: usize = 1_000_000_000;
/// How many values a search for the fewest mistakes may look at.
const POCKET_WORK: usize = 100_000_000;
/// Up to how many values times rows it is tried to put rows back.
const RETURN_WORK: usize = 2_000_000;
/// How often the pocket is filled from a new seed.
const POCKETS: u64 = 4;
/// After how many steps a cycle is no longer waited for.
const CYCLE_STEPS: u64 = 200_000;

/// What was found out.
#[derive(Debug, Clone, PartialEq)]
pub struct Findings {
    /// The verdict, with the margin.
    pub answer: Answer,
    /// The length of the longest row.
    pub radius: f64,
    /// How hard the rows are for the perceptron, if they are separable.
    pub difficulty: Option<Difficulty>,
    /// What the textbook perceptron did, rows in their order, if they are separable.
    pub perceptron: Option<Told>,
    /// The cycle of its weights, if they are not, and one was met.
    pub cycle: Option<Cycle>,
    /// Rows, from 0, that contradict each other alone or in pairs.
    pub opposites: Vec<Vec<usize>>,
    /// The fewest rows found, from 0, without which the others are separable. There may be fewer: finding the
    /// fewest is NP-hard.
    pub in_the_way: Option<Vec<usize>>,
}

/// What the convergence theorem says. A bias is a weight of a feature that is always 1, so that with a bias
/// radius and margin are those of the rows with that feature.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difficulty {
    /// The length of the longest row.
    pub radius: f64,
    /// What the margin lies between.
    pub margin: (f64, f64),
    /// `(R/margin)²`: more mistakes are impossible, in whatever order the rows come.
    pub most_mistakes: f64,
}

/// Asks, and asks on.
pub fn investigate(rows: &Rows, question: Question, watch: &Watch<'_>) -> Findings {
    let answer = decide_by(rows, question, &Clock::new(watch));
    let clock = &Clock::of_part(watch, Part::Rest);
    let radius = radius(rows);
    let mut findings = Findings {
        radius,
        difficulty: None,
        perceptron: None,
        cycle: None,
        opposites: Vec::new(),
        in_the_way: None,
        answer,
    };
    if let Verdict::Separable(_) = findings.answer.verdict {
        findings.difficulty = difficulty(rows, question, &findings.answer, clock);
        let passes = (PERCEPTRON_WORK / size(rows)).clamp(100, 1_000_000) as u64;
        findings.perceptron = Some(perceptron_by(rows, question.bias, passes, clock));
    } else {
        findings.opposites = opposites(rows, question.bias, MOST_PAIRS);
        findings.in_the_way = Some(in_the_way(rows, question.bias, clock));
        if let Verdict::Inseparable(_) = findings.answer.verdict {
            findings.cycle = cycle_by(rows, question.bias, CYCLE_STEPS, clock);
        }
    }
    findings
}

/// How many values a pass looks at.
fn size(rows: &Rows) -> usize {
    (0..rows.len()).map(|idx| rows.entries(idx).len() + 1).sum::<usize>().max(1)
}

/// `max |x|`, rounded up.
fn radius(rows: &Rows) -> f64 {
    let lengths = (0..rows.len()).map(|idx| {
        let largest = rows.entries(idx).fold(0.0_f64, |largest, (_, value)| largest.max(value.abs()));
        // Of moderate size, so that squares neither overflow nor vanish.
        let power = if largest > 0.0 { -(largest.log2().floor() as i32) } else { 0 };
        let values: Vec<f64> = rows.entries(idx).map(|(_, value)| shift(value, power)).collect();
        shift(length_up(&values), -power).next_up()
    });
    lengths.fold(0.0, f64::max)
}

fn difficulty(rows: &Rows, question: Question, answer: &Answer, clock: &Clock<'_>) -> Option<Difficulty> {
    let (radius, margin) = if question.bias {
        let augmented = rows.augmented(1.0);
        let answer = decide_by(&augmented, Question { bias: false, ..question }, clock);
        (radius(&augmented), (answer.at_least, answer.at_most))
    } else {
        (radius(rows), (answer.at_least, answer.at_most))
    };
    let most_mistakes = (radius / margin.0).powi(2) * (1.0 + 8.0 * f64::EPSILON);
    most_mistakes.is_finite().then_some(Difficulty { radius, margin, most_mistakes })
}

/// The mistakes of the best hyperplane that some pockets end with, less those that can be put back.
fn in_the_way(rows: &Rows, bias: bool, clock: &Clock<'_>) -> Vec<usize> {
    let passes = (POCKET_WORK / size(rows)).clamp(2, 1000) as u64;
    let found = (0..POCKETS).map(|seed| {
        let (weights, intercept) = pocket_by(rows, bias, passes / POCKETS + 1, seed, clock);
        let kept = mistakes(rows, &weights, intercept);
        if !bias {
            return kept;
        }
        let moved = mistakes(rows, &weights, best_intercept(rows, &weights));
        if moved.len() < kept.len() { moved } else { kept }
    });
    let removed = found.min_by_key(Vec::len).unwrap_or_default();
    if removed.len().saturating_mul(size(rows)) > RETURN_WORK {
        return removed;
    }
    // One row after the other comes back, as long as the others stay separable.
    let mut gone = removed.clone();
    for idx in removed {
        let without: Vec<usize> = gone.iter().copied().filter(|&other| other != idx).collect();
        let rest: Vec<usize> = (0..rows.len()).filter(|other| !without.contains(other)).collect();
        if clock.is_over() {
            break;
        }
        let answer = decide_by(&rows.only(&rest), Question { bias, gap: 0.5 }, clock);
        if let Verdict::Separable(_) = answer.verdict {
            gone = without;
        }
    }
    gone
}

/// The intercept with the fewest mistakes for these weights: between two neighbouring scores, or beyond all.
fn best_intercept(rows: &Rows, weights: &[f64]) -> f64 {
    let score = |idx: usize| rows.entries(idx).map(|(j, value)| weights[j] * value).sum::<f64>();
    let mut scores: Vec<(f64, bool)> =
        (0..rows.len()).map(|idx| (score(idx), rows.is_positive(idx))).collect();
    scores.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (Some(&(first, _)), Some(&(last, _))) = (scores.first(), scores.last()) else { return 0.0 };
    // Below all scores everything counts as positive; every score that is passed counts as negative.
    let mut wrong = scores.iter().filter(|(_, positive)| !positive).count();
    let mut best = (wrong, 1.0 + first.abs() - first);
    for (place, &(score, positive)) in scores.iter().enumerate() {
        wrong = if positive { wrong + 1 } else { wrong - 1 };
        let next = scores.get(place + 1).map_or(last + 1.0 + last.abs(), |next| next.0);
        if next > score && wrong < best.0 {
            best = (wrong, -(0.5 * score + 0.5 * next));
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::ControlFlow;

    #[test]
    fn the_rows_in_the_way_are_few_and_the_rest_is_separable() {
        let corners = [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]];
        let xor = Rows::from_points(&corners, &[true, false, false, true]);
        let findings = investigate(&xor, Question::default(), &|_| ControlFlow::Continue(()));
        let gone = findings.in_the_way.unwrap();
        assert_eq!(gone.len(), 1, "one corner is enough");
        // On a line, one of five is on the wrong side.
        let line = [[0.0], [1.0], [2.0], [3.0], [0.5]];
        let rows = Rows::from_points(&line, &[false, false, true, true, true]);
        let findings = investigate(&rows, Question::default(), &|_| ControlFlow::Continue(()));
        assert_eq!(findings.in_the_way.unwrap().len(), 1);
        assert_eq!(mistakes(&rows, &[1.0], best_intercept(&rows, &[1.0])).len(), 1);
    }
}
