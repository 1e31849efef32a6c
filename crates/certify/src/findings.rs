//! Everything worth saying about some rows: the verdict, and what a person asks next.
//!
//! If they can be separated: how hard they are for the perceptron, and how many mistakes it makes beside its
//! bound. If not: which rows are equal but on different sides, the perceptron's own cycle, and which rows
//! stand in the way of a hyperplane.

use crate::certificate::Polynomial;
use crate::decide::{Answer, Question, Verdict, decide_by, opposites};
use crate::exact::length_up;
use crate::in_the_way::in_the_way;
use crate::kernel_margin::Axes;
use crate::lift::lift;
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

impl Findings {
    fn new(answer: Answer, radius: f64) -> Self {
        Self {
            answer,
            radius,
            difficulty: None,
            perceptron: None,
            cycle: None,
            opposites: Vec::new(),
            in_the_way: None,
        }
    }
}

impl Difficulty {
    fn new(radius: f64, margin: (f64, f64)) -> Option<Self> {
        let most_mistakes = (radius / margin.0).powi(2) * (1.0 + 8.0 * f64::EPSILON);
        most_mistakes.is_finite().then_some(Self { radius, margin, most_mistakes })
    }
}

/// How closely plain monomials are looked at: their margin is not the one that is asked for.
const KERNEL_GAP: f64 = 0.5;

/// Asks, and asks on, in the space of a kernel; `None` if this has too many features, or too large ones.
pub fn investigate_in(
    rows: &Rows,
    kernel: Polynomial,
    question: Question,
    watch: &Watch<'_>,
) -> Option<Findings> {
    let lifted = lift(rows, kernel)?;
    let clock = Clock::new(watch);
    let mut answer = decide_by(&lifted, Question { gap: question.gap.max(KERNEL_GAP), ..question }, &clock);
    let axes = Axes::new(kernel, rows.width());
    let seen = axes.as_ref().and_then(|axes| axes.stretch(&lifted));
    let is_separable = matches!(answer.verdict, Verdict::Separable(_));
    match axes.as_ref().zip(seen.as_ref()) {
        Some((axes, seen)) if is_separable && rows.has_both_sides() => {
            answer = axes.measure(&lifted, seen, answer, question, &clock);
        }
        // Nothing is known of the lengths that the kernel means.
        _ => (answer.at_least, answer.at_most, answer.nearest) = (0.0, f64::INFINITY, Vec::new()),
    }
    let radius = seen.as_ref().map_or(f64::INFINITY, |seen| radius(seen) * (1.0 + 1e-12));
    let clock = &Clock::of_part(watch, Part::Rest);
    let mut findings = Findings::new(answer, radius);
    if is_separable {
        let Answer { at_least, at_most, .. } = findings.answer;
        // With a bias the theorem is about rows with one feature more, whose margin is another one.
        findings.difficulty =
            (!question.bias).then(|| Difficulty::new(radius, (at_least, at_most))).flatten();
        findings.perceptron = seen.map(|seen| perceptron_by(&seen, question.bias, epochs(&seen), clock));
    } else {
        findings.opposites = opposites(&lifted, question.bias, MOST_PAIRS);
        findings.in_the_way = Some(in_the_way(&lifted, question.bias, clock));
    }
    Some(findings)
}

/// Asks, and asks on.
pub fn investigate(rows: &Rows, question: Question, watch: &Watch<'_>) -> Findings {
    let answer = decide_by(rows, question, &Clock::new(watch));
    let clock = &Clock::of_part(watch, Part::Rest);
    let mut findings = Findings::new(answer, radius(rows));
    if let Verdict::Separable(_) = findings.answer.verdict {
        findings.difficulty = difficulty(rows, question, &findings.answer, clock);
        findings.perceptron = Some(perceptron_by(rows, question.bias, epochs(rows), clock));
    } else {
        findings.opposites = opposites(rows, question.bias, MOST_PAIRS);
        findings.in_the_way = Some(in_the_way(rows, question.bias, clock));
        if let Verdict::Inseparable(_) = findings.answer.verdict {
            findings.cycle = cycle_by(rows, question.bias, CYCLE_STEPS, clock);
        }
    }
    findings
}

/// How many epochs the perceptron is given.
fn epochs(rows: &Rows) -> u64 {
    (PERCEPTRON_WORK / size(rows)).clamp(100, 1_000_000) as u64
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
    Difficulty::new(radius, margin)
}
