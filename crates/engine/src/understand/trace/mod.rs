//! A run round by round, as a textbook prints it.
//!
//! [`trace`] trains as [`crate::train()`] does and writes down every round: the example, its score,
//! whether that was a mistake, the step, and the hypothesis after it. It ends when the run ends, or earlier when
//! the weights are what they were before the same row: then the steps in between add up to nothing, and would for ever.
//! [`Walk`] makes the same run a few rounds at a time, for those who look at it in between.

mod forms;
mod start;
mod walk;

pub use forms::{Table, Told, latex, markdown, number, step_in_words, vector};
pub use start::{Beginning, StartWeights};
pub use walk::Walk;

use crate::error::{Error, refuse};
use crate::model::Model;
use crate::spec::{Classes, Spec};
use crate::train::Training;
use rosenblatt_core::memory::Kept;
use rosenblatt_core::observer::{Observer, Round};
use rosenblatt_core::space::Hypothesis;
use rosenblatt_core::{Bias, Examples, Hyperplanes, Order, Readout, Row, Schedule, Stopped, Totals};
use rosenblatt_data::{Dataset, Labels, visit};
use serde::Serialize;
use std::collections::HashMap;
use std::mem;
use std::ops::{ControlFlow, RangeInclusive};

/// How many numbers are kept to notice that weights repeat. A run that outgrows them is no longer searched.
const MOST_REMEMBERED: usize = 1 << 24;

/// One round of one output.
#[derive(Debug, Clone, PartialEq)]
pub struct TracedRound {
    /// Number of the round, from 1.
    pub round: u64,
    /// Number of the epoch, from 1.
    pub epoch: u64,
    /// Which row was shown, from 0.
    pub row: usize,
    /// Its class.
    pub class: u32,
    /// Which output was asked; its name is in [`Trace::outputs`].
    pub output: usize,
    /// `+1` or `-1`: the side the row is on for this output.
    pub side: f64,
    /// The features that are not zero.
    pub features: Vec<(usize, f64)>,
    /// The output's score.
    pub activation: f64,
    /// Whether that counts as a mistake.
    pub mistaken: bool,
    /// The step that followed.
    pub step: Option<TracedStep>,
    /// The weights after the round.
    pub weights: Vec<f64>,
    /// The bias after the round.
    pub bias: f64,
    /// For how many rounds these weights have lived by now, the round that made them included.
    pub survived: u64,
}

/// `w ← keep·w + amount·x`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TracedStep {
    /// How far along the example, its side and weight included.
    pub amount: f64,
    /// How much of the old weights stays.
    pub keep: f64,
}

/// Why a trace ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The run was over.
    Over(Stopped),
    /// The weights after round `again` are those after round `first`; 0 is the start.
    Repeats {
        /// The round after which the weights were first so.
        first: u64,
        /// The round after which they were so again.
        again: u64,
        /// How many steps were made in between.
        steps: u64,
        /// Whether that proves that no hyperplane separates the data: plain steps of equal length add up to
        /// nothing, so the rows they were made along contradict each other.
        proof: bool,
    },
}

impl Ending {
    /// What became of a run with these totals, in a sentence without an end.
    pub fn in_words(&self, totals: Totals, bias: Bias) -> String {
        let counted = |n: u64, what: &str, many: &str| format!("{n} {}", if n == 1 { what } else { many });
        let mistakes = counted(totals.mistakes, "mistake", "mistakes");
        match *self {
            Self::Over(Stopped::Clean) => {
                format!("converged in epoch {}: no mistake in a whole epoch, after {mistakes}", totals.epochs)
            }
            Self::Over(Stopped::Converged) => {
                format!("converged in epoch {}, after {mistakes}", totals.epochs)
            }
            Self::Over(Stopped::Cycle) => {
                format!("stopped in epoch {}: the weights of an earlier one came back", totals.epochs)
            }
            Self::Over(Stopped::Updates) => {
                format!("stopped after {} steps, with {mistakes}", totals.updates)
            }
            Self::Over(_) => {
                format!("not converged after {} and {mistakes}", counted(totals.epochs, "epoch", "epochs"))
            }
            Self::Repeats { first, again, steps, proof } => {
                let before =
                    if first == 0 { "at the start".to_owned() } else { format!("after round {first}") };
                let text = format!("after round {again} the weights are what they were {before}");
                if !proof {
                    return text;
                }
                let place = if bias == Bias::None { " through the origin" } else { "" };
                format!(
                    "{text}: the {steps} steps in between add up to nothing, so no hyperplane{place} separates \
                     these rows"
                )
            }
        }
    }
}

/// A run, round by round.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Trace {
    /// The rounds that were asked for.
    pub rounds: Vec<TracedRound>,
    /// What the outputs are called.
    pub outputs: Vec<String>,
    /// What the classes are called.
    pub classes: Vec<String>,
    /// What the features are called.
    pub features: Vec<String>,
    /// Rounds, mistakes and steps of the whole run.
    pub totals: Totals,
    /// Why it ends.
    pub ending: Ending,
    /// What the run is read out as, where that is not its last hypothesis.
    pub read_out: Option<ReadOut>,
}

/// What a run is read out as: the hypotheses that vote, or the one that all of them were made into.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadOut {
    /// How it was read out.
    pub readout: Readout,
    /// The first of the hypotheses, each with the number of rounds it survived if it votes.
    pub hypotheses: Vec<(Hyperplanes, Option<u64>)>,
    /// How many there are.
    pub n_hypotheses: usize,
}

/// How many hypotheses that vote are written down, if their numbers are no more than those of rounds may be.
const MOST_VOTERS: usize = 100;

impl ReadOut {
    fn of(model: &Model) -> Option<Self> {
        let readout = model.spec().readout();
        let (mut hypotheses, mut n_hypotheses) = (Vec::new(), 0);
        match &model.kept {
            _ if readout == Readout::Last => return None,
            Kept::Hyperplanes(planes) => {
                (hypotheses, n_hypotheses) = (vec![(planes.clone(), None)], 1);
            }
            Kept::Votes(votes) => votes.replay(|planes, survived| {
                n_hypotheses += 1;
                let n_numbers = planes.width().saturating_mul(planes.biases().len()).max(1);
                if hypotheses.len() < MOST_VOTERS.min(MOST_REMEMBERED / n_numbers) {
                    hypotheses.push((planes.clone(), Some(survived)));
                }
            }),
            Kept::Other(_) => return None,
        }
        Some(Self { readout, hypotheses, n_hypotheses })
    }
}

/// Trains and writes down the rounds in `window`.
///
/// ```
/// use rosenblatt::{Dataset, Options, Spec};
/// use rosenblatt::trace::trace;
///
/// let data = Dataset::from_rows(&[[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]], &["+", "-", "-", "+"]);
/// let spec = Spec::new(Options { order: Some("given".parse()?), ..Options::default() })?;
/// let xor = trace(&spec, &data, 1..=100)?;
/// assert!(matches!(xor.ending, rosenblatt::trace::Ending::Repeats { first: 0, again: 4, steps: 4, proof: true }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn trace(spec: &Spec, data: &Dataset, window: RangeInclusive<u64>) -> Result<Trace, Error> {
    check(spec)?;
    // A validation set takes rows away, and which come next is not known here.
    let n_rows = if spec.options().validation.is_some() { 1 } else { data.len() };
    let mut tracer = Tracer::new(window, spec, (n_rows, data.width()), data.labels().len(), None);
    let model = Training::new(spec, data).run(&mut tracer)?;
    let summary = model.training_summary();
    let ending = tracer.ending(spec, data, summary.stopped);
    let totals = if tracer.repeats.is_some() { tracer.totals } else { summary.totals };
    Ok(Trace { read_out: ReadOut::of(&model), ..Trace::new(spec, data, tracer.rounds, totals, ending) })
}

/// Refuses what has no weights that could be written down.
fn check(spec: &Spec) -> Result<(), Error> {
    spec.check_classes()?;
    if spec.options().map.is_some() {
        return Err(Error::Mapped { what: "a trace shows" });
    }
    if let Some(options) = spec.kernel() {
        let expected = "none, as a trace shows weights";
        return refuse("kernel", expected, &options.name);
    }
    if spec.entry().network {
        let expected = "one with weights of its own for every score; back-propagation has a trace of its own";
        return refuse("algorithm", expected, spec.entry().info.name);
    }
    Ok(())
}

/// What the features are called, those without a name by their number.
fn feature_names(data: &Dataset) -> Vec<String> {
    let named = |feature: usize| data.feature_names().and_then(|names| names.get(feature)).cloned();
    (0..data.width()).map(|feature| named(feature).unwrap_or_else(|| format!("x{}", feature + 1))).collect()
}

/// A round as it is written down, with names in place of numbers, and rows counted from 1.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RoundRecord<'a> {
    round: u64,
    epoch: u64,
    row: usize,
    class: &'a str,
    asked: &'a str,
    side: f64,
    x: Vec<(&'a str, f64)>,
    activation: f64,
    mistake: bool,
    step: Option<TracedStep>,
    w: &'a [f64],
    b: f64,
    survived: u64,
}

impl Trace {
    /// A trace of rounds that were written down without their features.
    fn new(
        spec: &Spec,
        data: &Dataset,
        mut rounds: Vec<TracedRound>,
        totals: Totals,
        ending: Ending,
    ) -> Self {
        for round in &mut rounds {
            round.features = features_of(data, round.row);
        }
        let outputs = output_names(spec, data.labels());
        let (classes, features) = (data.labels().names().to_vec(), feature_names(data));
        Self { rounds, outputs, classes, features, totals, ending, read_out: None }
    }

    /// What became of the run, in a sentence without an end.
    pub fn ending_in_words(&self, bias: Bias) -> String {
        self.ending.in_words(self.totals, bias)
    }

    /// The rounds to be written down, one record each.
    pub fn records(&self) -> impl Iterator<Item = RoundRecord<'_>> {
        self.rounds.iter().map(|round| RoundRecord {
            round: round.round,
            epoch: round.epoch,
            row: round.row + 1,
            class: &self.classes[round.class as usize],
            asked: &self.outputs[round.output],
            side: round.side,
            x: round.features.iter().map(|&(feature, value)| (&*self.features[feature], value)).collect(),
            activation: round.activation,
            mistake: round.mistaken,
            step: round.step,
            w: &round.weights,
            b: round.bias,
            survived: round.survived,
        })
    }
}

/// Whether every step of the run is the example itself, forward or backward.
fn has_equal_steps(spec: &Spec, data: &Dataset) -> bool {
    let options = spec.options();
    spec.entry().info.fixed_increment
        && matches!(options.rate, None | Some(Schedule::Constant(_)))
        && data.weights().is_none()
        && options.class_weights == crate::options::ClassWeights::Even
}

/// What each output decides.
fn output_names(spec: &Spec, labels: &Labels) -> Vec<String> {
    let names = labels.names();
    if names.len() == 2 && spec.n_outputs(2) == 1 {
        return vec![names[1].clone()];
    }
    match spec.options().multiclass {
        Classes::OneVsRest | Classes::Direct(_) => names.to_vec(),
        Classes::OneVsOne => {
            let pairs = (0..names.len()).flat_map(|a| (a + 1..names.len()).map(move |b| (a, b)));
            pairs.map(|(a, b)| format!("{} or {}", names[a], names[b])).collect()
        }
    }
}

fn asked_last(spec: &Spec, n_classes: usize) -> Option<Vec<usize>> {
    let n_outputs = spec.n_outputs(n_classes);
    match spec.options().multiclass {
        _ if n_outputs == 1 => None,
        Classes::Direct(_) => None,
        Classes::OneVsRest => Some(vec![n_outputs - 1; n_classes]),
        Classes::OneVsOne => {
            let mut last = vec![0; n_classes];
            let pairs = (0..n_classes).flat_map(|a| (a + 1..n_classes).map(move |b| (a, b)));
            for (output, (a, b)) in pairs.enumerate() {
                (last[a], last[b]) = (output, output);
            }
            Some(last)
        }
    }
}

/// Weights and biases of all outputs, bit by bit, zeros without a sign.
type Bits = Vec<u64>;

fn bits_of_start(start: Option<&Hyperplanes>, width: usize, n_outputs: usize) -> Bits {
    match start {
        None => vec![0; (width + 1) * n_outputs],
        Some(planes) => {
            let outputs = (0..n_outputs).flat_map(|output| {
                let mut numbers = planes.weights(output);
                numbers.push(planes.biases()[output]);
                numbers
            });
            outputs.map(|number| (number + 0.0).to_bits()).collect()
        }
    }
}

fn bits_of(hypothesis: &dyn Hypothesis) -> Bits {
    let mut bits = Vec::new();
    for output in 0..hypothesis.n_outputs() {
        bits.extend(hypothesis.weights(output).iter().map(|weight| (weight + 0.0).to_bits()));
        bits.push((hypothesis.bias(output) + 0.0).to_bits());
    }
    bits
}

#[derive(Debug, Clone, Copy)]
struct Repeats {
    first: u64,
    again: u64,
    steps: u64,
}

struct Tracer {
    window: RangeInclusive<u64>,
    /// Whether only the rounds of the row shown last are kept.
    only_last: bool,
    rounds: Vec<TracedRound>,
    /// For every output, the round in which it last moved.
    born: Vec<u64>,
    /// For every class, the output that is asked last about a row of it; nothing if all are asked at once.
    asked_last: Option<Vec<usize>>,
    /// Whether an output has moved for the row at hand.
    has_moved: bool,
    /// After how many rounds the same row is next again; 1 if rows come in another order each epoch, or the weights alone
    /// say which is next.
    period: u64,
    /// The hypotheses so far and where in the period they were met, each with the round and the number of steps that led
    /// to it.
    seen: HashMap<(u64, Bits), (u64, u64)>,
    room: usize,
    totals: Totals,
    repeats: Option<Repeats>,
}

impl Observer for Tracer {
    fn wants_rounds(&self) -> bool {
        true
    }

    fn round(&mut self, seen: &Round<'_>) -> ControlFlow<()> {
        let Round { round, epoch, row, class, output, label, activation, mistaken, step, weight, .. } = *seen;
        let totals = &mut self.totals;
        *totals = Totals {
            epochs: epoch,
            rounds: round,
            mistakes: totals.mistakes + u64::from(mistaken),
            updates: totals.updates + u64::from(step.is_some()),
            errors: totals.errors,
        };
        if step.is_some() {
            self.born[output] = round;
        }
        if self.window.contains(&round) {
            if self.only_last && self.rounds.last().is_some_and(|last| last.round != round) {
                self.rounds.clear();
            }
            self.rounds.push(TracedRound {
                round,
                epoch,
                row,
                class,
                output,
                side: label,
                features: Vec::new(),
                activation,
                mistaken,
                step: step.map(|step| TracedStep { amount: label * (step.tau * weight), keep: step.keep }),
                weights: seen.hypothesis.weights(output),
                bias: seen.hypothesis.bias(output),
                survived: round + 1 - self.born[output].max(1),
            });
        }
        self.has_moved |= step.is_some();
        if self.asked_last.as_ref().is_some_and(|last| last[class as usize] != output) {
            return ControlFlow::Continue(());
        }
        // Between two outputs of a row the weights are no hypothesis.
        if mem::take(&mut self.has_moved) { self.compare(seen) } else { ControlFlow::Continue(()) }
    }
}

impl Tracer {
    /// One that writes down the rounds in `window` of a run from `start`, or from zero.
    fn new(
        window: RangeInclusive<u64>,
        spec: &Spec,
        (n_rows, width): (usize, usize),
        n_classes: usize,
        start: Option<&Hyperplanes>,
    ) -> Self {
        let n_outputs = spec.n_outputs(n_classes);
        let period = match spec.order() {
            Order::Given | Order::ShuffleOnce | Order::Permutation(_) => n_rows.max(1) as u64,
            Order::ShuffleEpoch | Order::Draws | Order::Worst => 1,
        };
        Self {
            window,
            only_last: false,
            rounds: Vec::new(),
            born: vec![0; n_outputs],
            asked_last: asked_last(spec, n_classes),
            has_moved: false,
            period,
            seen: HashMap::from([((0, bits_of_start(start, width, n_outputs)), (0, 0))]),
            room: MOST_REMEMBERED,
            totals: Totals::default(),
            repeats: None,
        }
    }

    /// Why the run ended, if no other observer stopped it.
    fn ending(&self, spec: &Spec, data: &Dataset, stopped: Stopped) -> Ending {
        match self.repeats {
            None => Ending::Over(stopped),
            Some(Repeats { first, again, steps }) => {
                let proof = self.born.len() == 1 && has_equal_steps(spec, data);
                Ending::Repeats { first, again, steps, proof }
            }
        }
    }

    /// Looks whether the hypothesis has been here before.
    fn compare(&mut self, seen: &Round<'_>) -> ControlFlow<()> {
        let met = (seen.round % self.period, bits_of(seen.hypothesis));
        if let Some(&(first, steps)) = self.seen.get(&met) {
            let steps = self.totals.updates - steps;
            self.repeats = Some(Repeats { first, again: seen.round, steps });
            return ControlFlow::Break(());
        }
        if let Some(room) = self.room.checked_sub(met.1.len()) {
            self.room = room;
            self.seen.insert(met, (seen.round, self.totals.updates));
        }
        ControlFlow::Continue(())
    }
}

fn features_of(data: &Dataset, row: usize) -> Vec<(usize, f64)> {
    visit!(data.view(), examples => examples.row(row).entries().filter(|(_, value)| *value != 0.0).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Options;
    use rosenblatt_core::{Mistake, Zero};

    /// The four points of a lecture note, in its order.
    fn lecture() -> Dataset {
        let rows = [[4.0, 0.0], [1.0, 1.0], [0.0, 1.0], [-2.0, -2.0]];
        Dataset::from_rows(&rows, &["+1", "-1", "-1", "+1"])
    }

    /// With several outputs it is all weights that return, at the end of a row, and not those of some while others move.
    #[test]
    fn all_weights_return_where_a_trace_says_so() {
        // No line separates any two of the classes.
        let rows = [[1.0, 1.0], [1.0, -1.0], [2.0, 2.0], [-1.0, -1.0], [-1.0, 1.0], [-2.0, -2.0]];
        let data = Dataset::from_rows(&rows, &["a", "b", "c", "a", "b", "c"]);
        for multiclass in [Classes::OneVsRest, Classes::OneVsOne] {
            let options = Options {
                multiclass,
                order: Some(Order::Given),
                readout: Some(Readout::Last),
                epochs: 500,
                validation: None,
                ..Options::default()
            };
            let traced = trace(&Spec::new(options).unwrap(), &data, 1..=u64::MAX).unwrap();
            let Ending::Repeats { first, again, .. } = traced.ending else { panic!("{:?}", traced.ending) };
            let after = |last: u64| {
                let mut weights = vec![(vec![0.0; 2], 0.0); 3];
                for round in traced.rounds.iter().filter(|round| round.round <= last) {
                    weights[round.output] = (round.weights.clone(), round.bias);
                }
                weights
            };
            assert_eq!(after(first), after(again), "{first} {again}");
        }
    }

    /// Weights come back after rounds 4 and 9, before other rows: the run goes on, as `train` does, and finds better ones.
    #[test]
    fn weights_that_come_back_before_another_row_are_no_cycle() {
        let rows = [[0.0, 0.0], [3.0, -2.0], [-3.0, 2.0], [3.0, 1.0]];
        let data = Dataset::from_rows(&rows, &["+1", "-1", "-1", "+1"]);
        let traced = trace(&Spec::new(textbook(Bias::Learned)).unwrap(), &data, 1..=u64::MAX).unwrap();
        let after = |round: usize| (&traced.rounds[round - 1].weights, traced.rounds[round - 1].bias);
        assert_eq!(after(4), after(9));
        assert!(traced.rounds.len() > 9, "{:?}", traced.ending);
        if let Ending::Repeats { first, again, .. } = traced.ending {
            assert_eq!((again - first) % 4, 0);
        }
    }

    fn xor() -> Dataset {
        let rows = [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]];
        Dataset::from_rows(&rows, &["+1", "-1", "-1", "+1"])
    }

    /// The weights of the lecture's four steps are (0, 0) for no round, then (-1, -1), (3, -1) and so on; what they
    /// average to and how long each survived is added up here by hand from the rounds themselves.
    #[test]
    fn a_trace_ends_in_what_the_run_is_read_out_as() {
        let of = |readout: &str| {
            let options = Options { readout: Some(readout.parse().unwrap()), ..textbook(Bias::Learned) };
            trace(&Spec::new(options).unwrap(), &lecture(), 1..=1_000).unwrap()
        };
        assert_eq!(of("last").read_out, None);
        let averaged = of("averaged");
        let n_rounds = averaged.rounds.len() as f64;
        let read_out = averaged.read_out.unwrap();
        let (planes, survived) = &read_out.hypotheses[0];
        assert_eq!((read_out.n_hypotheses, *survived), (1, None));
        for feature in 0..2 {
            let mean = averaged.rounds.iter().map(|round| round.weights[feature]).sum::<f64>() / n_rounds;
            assert!((planes.weights(0)[feature] - mean).abs() < 1e-12, "{planes:?} and {mean}");
        }
        let voted = of("voted");
        let read_out = voted.read_out.unwrap();
        let survived: u64 = read_out.hypotheses.iter().filter_map(|(_, survived)| *survived).sum();
        assert_eq!(survived, voted.rounds.len() as u64, "every round has one hypothesis");
        let (last, _) = read_out.hypotheses.last().unwrap();
        assert_eq!(Some(last.weights(0)), voted.rounds.last().map(|round| round.weights.clone()));
    }

    fn textbook(bias: Bias) -> Options {
        Options {
            bias: Some(bias),
            order: Some(rosenblatt_core::Order::Given),
            readout: Some(rosenblatt_core::Readout::Last),
            validation: None,
            ..Options::default()
        }
    }

    fn steps(options: Options, data: &Dataset) -> (Vec<(u64, Vec<f64>, f64)>, Ending) {
        let trace = trace(&Spec::new(options).unwrap(), data, 1..=1000).unwrap();
        let moved = trace.rounds.into_iter().filter(|round| round.step.is_some());
        (moved.map(|round| (round.round, round.weights, round.bias)).collect(), trace.ending)
    }

    #[test]
    fn the_lecture_note_through_the_origin() {
        let (steps, ending) = steps(textbook(Bias::None), &lecture());
        let expected = [(1, vec![4.0, 0.0], 0.0), (2, vec![3.0, -1.0], 0.0), (4, vec![1.0, -3.0], 0.0)];
        assert_eq!(steps, expected);
        assert_eq!(ending, Ending::Over(Stopped::Clean));
    }

    #[test]
    fn the_lecture_note_with_a_bias() {
        let (steps, ending) = steps(textbook(Bias::Learned), &lecture());
        let expected = [(1, vec![4.0, 0.0], 1.0), (2, vec![3.0, -1.0], 0.0), (4, vec![1.0, -3.0], 1.0)];
        assert_eq!(steps, expected);
        assert_eq!(ending, Ending::Over(Stopped::Clean));
    }

    #[test]
    fn the_lecture_note_where_only_a_wrong_prediction_is_a_mistake() {
        let options = Options { zero: Zero::Plus, mistake: Mistake::Pred, ..textbook(Bias::None) };
        let (steps, _) = steps(options, &lecture());
        let weights: Vec<_> = steps.into_iter().map(|(_, weights, _)| weights).collect();
        assert_eq!(weights, [[-1.0, -1.0], [3.0, -1.0], [2.0, -2.0], [1.0, -3.0]]);
    }

    #[test]
    fn xor_comes_back_to_where_it_was() {
        let weights = |steps: &[(u64, Vec<f64>, f64)]| -> Vec<Vec<f64>> {
            steps.iter().map(|(_, weights, _)| weights.clone()).collect()
        };
        let (with_bias, ending) = steps(textbook(Bias::Learned), &xor());
        assert_eq!(weights(&with_bias), [[1.0, 1.0], [0.0, 2.0], [1.0, 1.0], [0.0, 0.0]]);
        assert_eq!(ending, Ending::Repeats { first: 0, again: 4, steps: 4, proof: true });
        // Without one, the weights of round 1 are back after round 3, but the next row is another: the run goes on.
        let (without, ending) = steps(textbook(Bias::None), &xor());
        assert_eq!(weights(&without), [[1.0, 1.0], [0.0, 2.0], [1.0, 1.0], [0.0, 0.0]]);
        assert_eq!(ending, Ending::Repeats { first: 0, again: 4, steps: 4, proof: true });
        let options = Options { zero: Zero::Plus, mistake: Mistake::Pred, ..textbook(Bias::None) };
        let (by_prediction, ending) = steps(options, &xor());
        assert_eq!(weights(&by_prediction), [[-1.0, 1.0], [0.0, 0.0], [-1.0, 1.0]]);
        assert_eq!(ending, Ending::Repeats { first: 2, again: 6, steps: 2, proof: true });
    }

    #[test]
    fn survivors_are_counted_and_a_window_is_only_a_window() {
        let spec = Spec::new(textbook(Bias::None)).unwrap();
        let whole = trace(&spec, &lecture(), 1..=1000).unwrap();
        let lives: Vec<u64> = whole.rounds.iter().map(|round| round.survived).collect();
        assert_eq!(lives, [1, 1, 2, 1, 2, 3, 4, 5]);
        let part = trace(&spec, &lecture(), 3..=4).unwrap();
        assert_eq!(part.rounds, whole.rounds[2..4]);
        assert_eq!((part.totals, part.ending), (whole.totals, whole.ending));
        assert_eq!(whole.totals.updates, 3);
    }

    #[test]
    fn every_algorithm_and_every_way_to_many_classes_can_be_traced() {
        let rows = [[0.0, 2.0], [2.0, 0.0], [-2.0, -2.0], [0.5, 2.5], [2.5, 0.5], [-2.0, -1.5]];
        let many = Dataset::from_rows(&rows, &["a", "b", "c", "a", "b", "c"]);
        for multiclass in ["one-vs-rest", "one-vs-one", "direct-max"] {
            let options = Options { multiclass: multiclass.parse().unwrap(), ..textbook(Bias::None) };
            let spec = Spec::new(options).unwrap();
            let trace = trace(&spec, &many, 1..=1000).unwrap();
            assert_eq!(trace.outputs.len(), 3, "{multiclass}");
            assert_eq!(trace.ending, Ending::Over(Stopped::Clean), "{multiclass}");
        }
        for entry in crate::algorithms::ALGORITHMS.iter().filter(|entry| !entry.info.numbers) {
            let options = Options {
                algorithm: entry.info.name.to_owned(),
                bias: Some(Bias::None),
                order: None,
                epochs: 5,
                ..textbook(Bias::None)
            };
            let Ok(spec) = Spec::new(options) else { continue };
            let traced = trace(&spec, &lecture(), 1..=1000).unwrap();
            assert!(!traced.rounds.is_empty(), "{}", entry.info.name);
        }
    }
}
