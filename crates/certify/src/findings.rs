//! Everything worth saying about some rows: the verdict, and what a person asks next.
//!
//! If they can be separated: how hard they are for the perceptron, and how many mistakes it makes beside its
//! bound. If not: which rows are equal but on different sides, the perceptron's own cycle, and which rows
//! stand in the way of a hyperplane.

use crate::decide::{Answer, Question, Verdict, decide_by, opposites};
use crate::exact::length_up;
use crate::in_the_way::in_the_way;
use crate::perceptron::{Cycle, PerceptronRun, cycle_by, perceptron_by};
use crate::rows::{Rows, shift};
use crate::watch::{Clock, Part, Watch};

/// How many pairs of contradicting rows are named.
pub const MOST_PAIRS: usize = 1000;
/// How many values a run of the perceptron may look at.
const PERCEPTRON_WORK: usize = 1_000_000_000;
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
    pub perceptron: Option<PerceptronRun>,
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
        let epochs = (PERCEPTRON_WORK / size(rows)).clamp(100, 1_000_000) as u64;
        findings.perceptron = Some(perceptron_by(rows, question.bias, epochs, clock));
    } else {
        findings.opposites = opposites(rows, question.bias, MOST_PAIRS);
        findings.in_the_way = Some(in_the_way(rows, question.bias, clock));
        if let Verdict::Inseparable(_) = findings.answer.verdict {
            findings.cycle = cycle_by(rows, question.bias, CYCLE_STEPS, clock);
        }
    }
    findings
}

/// How many values an epoch looks at.
pub(crate) fn size(rows: &Rows) -> usize {
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
