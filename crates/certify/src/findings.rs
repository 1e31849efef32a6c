//! Everything worth saying about some rows: the verdict, and what a person asks next.
//!
//! If they can be separated: how hard they are for the perceptron, and how many mistakes it makes beside its
//! bound. If not: which rows are equal but on different sides, the perceptron's own cycle, and which rows
//! stand in the way of a hyperplane.

use crate::decide::{Answer, Question, Verdict, Watch, decide, mistakes, opposites};
use crate::exact::length_up;
use crate::perceptron::{Cycle, Told, cycle, perceptron, pocket};
use crate::rows::Rows;
use std::ops::ControlFlow;

/// How many pairs of contradicting rows are named.
pub const MOST_PAIRS: usize = 1000;
/// How many values a run of the perceptron may look at.
const PERCEPTRON_WORK: usize = 1_000_000_000;
/// How many values a search for the fewest mistakes may look at.
const POCKET_WORK: usize = 100_000_000;
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
pub fn investigate(rows: &Rows, question: Question, watch: &mut Watch<'_>) -> Findings {
    let answer = decide(rows, question, watch);
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
        findings.difficulty = difficulty(rows, question, &findings.answer, watch);
        let passes = (PERCEPTRON_WORK / size(rows)).clamp(100, 1_000_000) as u64;
        findings.perceptron = Some(perceptron(rows, question.bias, passes, watch));
    } else {
        findings.opposites = opposites(rows, question.bias, MOST_PAIRS);
        findings.in_the_way = Some(in_the_way(rows, question.bias));
        if let Verdict::Inseparable(_) = findings.answer.verdict {
            findings.cycle = cycle(rows, question.bias, CYCLE_STEPS, watch);
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
    let lengths =
        (0..rows.len()).map(|idx| length_up(&rows.entries(idx).map(|(_, value)| value).collect::<Vec<_>>()));
    lengths.fold(0.0, f64::max)
}

fn difficulty(rows: &Rows, question: Question, answer: &Answer, watch: &mut Watch<'_>) -> Option<Difficulty> {
    let (radius, margin) = if question.bias {
        let augmented = rows.augmented(1.0);
        let answer = decide(&augmented, Question { bias: false, ..question }, watch);
        (radius(&augmented), (answer.at_least, answer.at_most))
    } else {
        (radius(rows), (answer.at_least, answer.at_most))
    };
    let most_mistakes = (radius / margin.0).powi(2) * (1.0 + 8.0 * f64::EPSILON);
    most_mistakes.is_finite().then_some(Difficulty { radius, margin, most_mistakes })
}

/// The mistakes of the best hyperplane that some pockets end with.
fn in_the_way(rows: &Rows, bias: bool) -> Vec<usize> {
    let passes = (POCKET_WORK / size(rows)).clamp(2, 1000) as u64;
    let found = (0..POCKETS).map(|seed| {
        // The work is limited by its size, so that the same rows are found whatever the clock says.
        let (weights, intercept) =
            pocket(rows, bias, passes / POCKETS + 1, seed, &mut |_| ControlFlow::Continue(()));
        mistakes(rows, &weights, intercept)
    });
    found.min_by_key(Vec::len).unwrap_or_default()
}
