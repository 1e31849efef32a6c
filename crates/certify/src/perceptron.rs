//! What the perceptron itself can say: a hyperplane, a count of mistakes, or its own cycle.
//!
//! The loop is the core's; here it is only watched. On data that nothing separates, weights that are exact
//! must come back to a value they had before (Minsky and Papert; Block and Levin 1970), and the steps in
//! between are a contradiction: what was added up in the meantime is zero.

use crate::integers::whole;
use crate::rows::{Rows, shift};
use crate::watch::{Clock, Watch};
use rosenblatt_core::observer::Snapshot;
use rosenblatt_core::{
    Average, Bias, Binary, Convention, Epoch, Observer, Order, Plan, Ratchet, Readout, Remember, Round, Run,
    Setup, Stopped, rules,
};
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;

/// How many epochs may be spent on a quick answer.
const QUICK_EPOCHS: u64 = 50;
/// Doubles hold every integer up to here.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// What a run of the perceptron came to.
#[derive(Debug, Clone, PartialEq)]
pub struct PerceptronRun {
    /// How many mistakes it made.
    pub mistakes: u64,
    /// How many epochs.
    pub epochs: u64,
    /// Whether the last epoch was without a mistake.
    pub converged: bool,
    /// Its last weights and bias.
    pub weights: Vec<f64>,
    /// The bias; 0 through the origin.
    pub intercept: f64,
}

struct Epochs<'a>(&'a Clock<'a>);

impl Observer for Epochs<'_> {
    fn epoch(&mut self, _epoch: &Epoch, _run: &dyn Snapshot) -> ControlFlow<()> {
        go_on(self.0)
    }
}

fn go_on(clock: &Clock<'_>) -> ControlFlow<()> {
    if clock.is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

fn convention(bias: bool) -> Convention {
    Convention { bias: if bias { Bias::Learned } else { Bias::None }, ..Convention::default() }
}

/// The textbook perceptron: rows in their order, a score of zero is a mistake, until an epoch is clean.
pub fn perceptron(rows: &Rows, bias: bool, epochs: u64, watch: &Watch<'_>) -> PerceptronRun {
    perceptron_by(rows, bias, epochs, &Clock::new(watch))
}

pub(crate) fn perceptron_by(rows: &Rows, bias: bool, epochs: u64, clock: &Clock<'_>) -> PerceptronRun {
    clock.begin("running the perceptron");
    let setup = Setup { width: rows.width(), convention: convention(bias), ..Setup::default() };
    let mut run = Run::new(rules::Perceptron::default(), Binary, setup).expect("a textbook setup");
    let order = Order::Given;
    let stopped = run.fit(rows.examples(), &Plan::new(&order, epochs, 0), &mut Epochs(clock));
    let (totals, last) = (run.totals(), run.last());
    PerceptronRun {
        mistakes: totals.mistakes,
        epochs: totals.epochs,
        converged: stopped == Stopped::Clean,
        weights: last.weights(0),
        intercept: if bias { last.biases()[0] } else { 0.0 },
    }
}

/// A hyperplane, if a few epochs are enough to find one.
pub(crate) fn quick(rows: &Rows, bias: bool, clock: &Clock<'_>) -> Option<(Vec<f64>, f64)> {
    let outcome = perceptron_by(rows, bias, QUICK_EPOCHS, clock);
    outcome.converged.then_some((outcome.weights, outcome.intercept))
}

/// The fewest mistakes the pocket finds, as weights and bias. Finding the fewest possible is NP-hard, so
/// that this is an upper bound and nothing else.
pub fn pocket(rows: &Rows, bias: bool, epochs: u64, seed: u64, watch: &Watch<'_>) -> (Vec<f64>, f64) {
    candidates(rows, bias, epochs, seed, &Clock::new(watch)).swap_remove(0)
}

/// Hyperplanes with few mistakes, as weights and bias: what a perceptron keeps in its pocket first, then its average
/// and its last weights.
pub(crate) fn candidates(
    rows: &Rows,
    bias: bool,
    epochs: u64,
    seed: u64,
    clock: &Clock<'_>,
) -> Vec<(Vec<f64>, f64)> {
    let remember = Remember { pocket: Some(Ratchet::On), averaged: true, ..Remember::default() };
    let setup =
        Setup { width: rows.width(), convention: convention(bias), remember, seed, ..Setup::default() };
    let mut run = Run::new(rules::Perceptron::default(), Binary, setup).expect("a textbook setup");
    let order = Order::ShuffleEpoch;
    run.fit(rows.examples(), &Plan::new(&order, epochs, seed), &mut Epochs(clock));
    let kept = [Readout::Pocket, Readout::Averaged(Average::Post)]
        .map(|readout| run.read(readout).and_then(|kept| kept.planes().cloned()));
    let planes = kept.into_iter().flatten().chain([run.last()]);
    planes.map(|planes| (planes.weights(0), if bias { planes.biases()[0] } else { 0.0 })).collect()
}

/// A cycle of the perceptron: its weights came back to what they had been before the same row, so it goes on as it did then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cycle {
    /// After how many steps the cycle begins.
    pub from: u64,
    /// How many steps it takes.
    pub steps: u64,
    /// Which rows, from 0, it steps on, and how often each.
    pub rows: Vec<(usize, u64)>,
}

/// Follows the textbook perceptron until its weights repeat. `None` if it converges first, takes more than
/// `most` steps, or if the values are no integers (up to a common power of two), so that its sums are rounded.
pub fn cycle(rows: &Rows, bias: bool, most: u64, watch: &Watch<'_>) -> Option<Cycle> {
    cycle_by(rows, bias, most, &Clock::new(watch))
}

pub(crate) fn cycle_by(rows: &Rows, bias: bool, most: u64, clock: &Clock<'_>) -> Option<Cycle> {
    clock.begin("following the perceptron");
    if (0..rows.len()).any(|idx| !rows.tails(idx).is_empty()) {
        return None;
    }
    let values = || (0..rows.len()).flat_map(|idx| rows.entries(idx).map(|(_, value)| value));
    // A bias steps by 1, which has to be a multiple of the unit, too.
    let unit = values()
        .chain(bias.then_some(1.0))
        .map(|value| shift(1.0, whole(value).1))
        .fold(f64::INFINITY, f64::min);
    let largest = values().map(f64::abs).fold(0.0, f64::max);
    if unit <= 0.0 || largest / unit * most as f64 >= EXACT {
        return None;
    }
    let setup = Setup { width: rows.width(), convention: convention(bias), ..Setup::default() };
    let mut run = Run::new(rules::Perceptron::default(), Binary, setup).expect("a textbook setup");
    let order = Order::Given;
    let plan = Plan { max_updates: Some(most), ..Plan::new(&order, u64::MAX, 0) };
    let mut follower = Follower {
        rows,
        bias,
        seen: HashMap::from([((0, 0), vec![0])]),
        hash: 0,
        steps: Vec::new(),
        found: None,
        unit,
        steps_before: 0,
        clock,
    };
    run.fit(rows.examples(), &plan, &mut follower);
    let (from, until) = follower.found?;
    let mut counts: BTreeMap<usize, u64> = BTreeMap::new();
    for &row in &follower.steps[from..until] {
        *counts.entry(row).or_insert(0) += 1;
    }
    Some(Cycle { from: from as u64, steps: (until - from) as u64, rows: counts.into_iter().collect() })
}

/// Watches the steps. Weights are known by a sum of their parts, each times a random factor, modulo `2^64`:
/// a step changes it by what it adds. Equal sums are put to the proof.
struct Follower<'a> {
    rows: &'a Rows,
    bias: bool,
    /// By the place of the next row and the sum.
    seen: HashMap<(u64, u64), Vec<usize>>,
    hash: u64,
    steps: Vec<usize>,
    found: Option<(usize, usize)>,
    unit: f64,
    /// How many steps there were when this epoch began.
    steps_before: usize,
    clock: &'a Clock<'a>,
}

impl Follower<'_> {
    /// Whether the steps from `from` on add up to zero.
    fn closes(&self, from: usize) -> bool {
        let mut sum = vec![0_i128; self.rows.width() + 1];
        for &idx in &self.steps[from..] {
            let sign = if self.rows.is_positive(idx) { 1 } else { -1 };
            self.rows.entries(idx).for_each(|(j, value)| sum[j] += sign * (value / self.unit) as i128);
            sum[self.rows.width()] += if self.bias { sign } else { 0 };
        }
        sum.iter().all(|&part| part == 0)
    }
}

impl Observer for Follower<'_> {
    fn wants_rounds(&self) -> bool {
        true
    }

    fn round(&mut self, round: &Round<'_>) -> ControlFlow<()> {
        if round.step.is_none() {
            return ControlFlow::Continue(());
        }
        let factor = |j: usize| rosenblatt_core::Random::new(j as u64).next();
        let mut change = if self.bias { factor(usize::MAX) } else { 0 };
        for (j, value) in self.rows.entries(round.row) {
            change = change.wrapping_add(factor(j).wrapping_mul((value / self.unit) as i64 as u64));
        }
        let is_positive = self.rows.is_positive(round.row);
        self.hash = if is_positive { self.hash.wrapping_add(change) } else { self.hash.wrapping_sub(change) };
        self.steps.push(round.row);
        let met = (round.round % self.rows.len().max(1) as u64, self.hash);
        let before =
            self.seen.get(&met).and_then(|places| places.iter().copied().find(|&from| self.closes(from)));
        if let Some(from) = before {
            self.found = Some((from, self.steps.len()));
            return ControlFlow::Break(());
        }
        self.seen.entry(met).or_default().push(self.steps.len());
        if self.steps.len().is_multiple_of(256) { go_on(self.clock) } else { ControlFlow::Continue(()) }
    }

    fn epoch(&mut self, _epoch: &Epoch, _run: &dyn Snapshot) -> ControlFlow<()> {
        // A mistake on nothing but zeros is no step. Where there are no others, nothing will ever change.
        let is_still = self.steps.len() == self.steps_before;
        self.steps_before = self.steps.len();
        if is_still { ControlFlow::Break(()) } else { go_on(self.clock) }
    }
}
