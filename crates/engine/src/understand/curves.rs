//! How learning goes, epoch by epoch and step by step: what learning curves are drawn from.

use crate::error::Error;
use crate::model::Model;
use crate::spec::{Options, Spec};
use crate::train::Training;
use rosenblatt_core::memory::Kept;
use rosenblatt_core::observer::{Epoch, Observer, Round, Snapshot};
use rosenblatt_core::{Bias, Decision, Examples, Loss, Readout};
use rosenblatt_data::{Dataset, visit};
use serde::Serialize;
use std::ops::ControlFlow;

/// More steps than this are thinned out.
const MOST_POINTS: usize = 2000;

/// One epoch of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EpochPoint {
    /// Number of the epoch, from 1.
    pub epoch: u64,
    /// Mistakes made while learning in this epoch, summed over outputs.
    pub mistakes: u64,
    /// The share of rows given the wrong class, after the epoch: of those learned from, and of those held out.
    pub errors: [f64; 2],
    /// The mean loss of the rows learned from, and of those held out, after the epoch.
    pub losses: [f64; 2],
}

/// A run, read out after every epoch. `rows` are learned from, `held` are not; without any held out, their
/// figures are 0.
///
/// Nothing stops early but a clean epoch, so that read-outs of one spec can be laid over each other.
pub fn learning_curve(
    spec: &Spec,
    data: &Dataset,
    (rows, held): (&[u32], &[u32]),
    readout: Readout,
    loss: Loss,
) -> Result<Vec<EpochPoint>, Error> {
    let options = Options { readout: Some(readout), validation: None, ..spec.options().clone() };
    let spec = Spec::new(options)?;
    spec.check_classes()?;
    let mut curve = Curve { spec: &spec, data, parts: [rows, held], readout, loss, points: Vec::new() };
    Training::new(&spec, data).rows(rows).run(&mut curve)?;
    Ok(curve.points)
}

struct Curve<'a> {
    spec: &'a Spec,
    data: &'a Dataset,
    parts: [&'a [u32]; 2],
    readout: Readout,
    loss: Loss,
    points: Vec<EpochPoint>,
}

impl Observer for Curve<'_> {
    fn epoch(&mut self, epoch: &Epoch, run: &dyn Snapshot) -> ControlFlow<()> {
        if let Some(kept) = run.read(self.readout) {
            let judged = self.parts.map(|rows| self.judge(&kept, rows));
            self.points.push(EpochPoint {
                epoch: epoch.number,
                mistakes: epoch.mistakes,
                errors: judged.map(|(error, _)| error),
                losses: judged.map(|(_, loss)| loss),
            });
        }
        ControlFlow::Continue(())
    }
}

impl Curve<'_> {
    /// The share of these rows that it gives another class, and the mean loss.
    fn judge(&self, kept: &Kept, rows: &[u32]) -> (f64, f64) {
        let options = self.spec.options();
        let decision = options.multiclass.decision(self.data.labels().len());
        let (mut scores, mut scratch) = (vec![0.0; decision.n_outputs()], Vec::new());
        let mut random = rosenblatt_core::Random::for_purpose(options.seed, "predict");
        let (mut wrong, mut lost) = (0_u64, 0.0);
        visit!(self.data.view(), examples => {
            for row in rows.iter().map(|&row| row as usize) {
                kept.scores(examples.row(row), &mut scores, &mut scratch);
                let class = examples.class(row);
                wrong += u64::from(decision.name(&scores, options.zero, &mut random) != class);
                lost += self.loss.of(decision.margin(class, &scores));
            }
        });
        let n_rows = rows.len().max(1) as f64;
        (wrong as f64 / n_rows, lost / n_rows)
    }
}

/// A run after one of its steps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct GrowthPoint {
    /// The round of the step.
    pub round: u64,
    /// Steps so far, this one included.
    pub steps: u64,
    /// Mistakes so far.
    pub mistakes: u64,
    /// The length of the weights after it, a learned bias being one of them.
    pub norm: f64,
}

/// How the weights of a run grew, step by step.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Growth {
    /// Its steps, thinned out evenly where there are many, the last always among them.
    pub points: Vec<GrowthPoint>,
    /// Rounds of the whole run.
    pub rounds: u64,
    /// Mistakes of the whole run.
    pub mistakes: u64,
    /// The length of the longest row, a learned bias being a feature that is always 1.
    pub radius: f64,
    /// Whether every step added the example, or took it away, whole: only then do the textbook's bounds apply.
    pub plain: bool,
}

/// Trains one output, two classes, and writes down how its weights grow.
pub fn growth(spec: &Spec, data: &Dataset) -> Result<(Model, Growth), Error> {
    spec.check_classes()?;
    let mut watch = GrowthWatch {
        bias: spec.bias(),
        growth: Growth { points: Vec::new(), rounds: 0, mistakes: 0, radius: 0.0, plain: true },
        steps: 0,
        stride: 1,
        last: None,
    };
    let model = Training::new(spec, data).run(&mut watch)?;
    let GrowthWatch { mut growth, last, .. } = watch;
    if let Some(last) = last.filter(|last| growth.points.last() != Some(last)) {
        growth.points.push(last);
    }
    Ok((model, growth))
}

struct GrowthWatch {
    bias: Bias,
    growth: Growth,
    steps: u64,
    stride: u64,
    last: Option<GrowthPoint>,
}

impl Observer for GrowthWatch {
    fn wants_rounds(&self) -> bool {
        true
    }

    fn round(&mut self, round: &Round<'_>) -> ControlFlow<()> {
        let beside = if self.bias == Bias::Learned { 1.0 } else { 0.0 };
        let growth = &mut self.growth;
        growth.rounds = round.round;
        growth.mistakes += u64::from(round.mistaken);
        growth.radius = growth.radius.max((round.spread + beside).sqrt());
        let Some(step) = round.step else { return ControlFlow::Continue(()) };
        growth.plain &= step.tau * round.weight == 1.0 && step.keep == 1.0 && step.extra == 0.0;
        self.steps += 1;
        let constant = beside * round.hypothesis.bias(round.output);
        let norm = (round.norm2 + constant * constant).sqrt();
        let point = GrowthPoint { round: round.round, steps: self.steps, mistakes: growth.mistakes, norm };
        self.last = Some(point);
        if self.steps.is_multiple_of(self.stride) {
            growth.points.push(point);
        }
        if growth.points.len() >= MOST_POINTS {
            self.stride *= 2;
            let stride = self.stride;
            growth.points.retain(|point| point.steps.is_multiple_of(stride));
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lecture() -> (Spec, Dataset) {
        let rows = [[4.0, 0.0], [1.0, 1.0], [0.0, 1.0], [-2.0, -2.0]];
        let data = Dataset::from_rows(&rows, &["plus", "minus", "minus", "plus"]);
        let options = Options {
            bias: Some(Bias::None),
            order: Some(rosenblatt_core::Order::Given),
            ..Options::default()
        };
        (Spec::new(options).unwrap(), data)
    }

    #[test]
    fn the_lecture_note_epoch_by_epoch() {
        let (spec, data) = lecture();
        let rows = [0, 1, 2, 3];
        let curve = learning_curve(&spec, &data, (&rows, &[]), Readout::Last, Loss::Perceptron).unwrap();
        let mistakes: Vec<u64> = curve.iter().map(|point| point.mistakes).collect();
        assert_eq!(mistakes, [3, 0]);
        assert_eq!(curve[0].errors, [0.0, 0.0]);
        assert_eq!(curve[0].losses[0], 0.0);
    }

    #[test]
    fn weights_grow_as_the_lecture_note_says() {
        let (spec, data) = lecture();
        let (_, growth) = growth(&spec, &data).unwrap();
        let norms: Vec<f64> = growth.points.iter().map(|point| point.norm * point.norm).collect();
        // (4, 0), (3, -1), (1, -3); the labels are in the order of the alphabet, which only turns signs.
        for (norm, expected) in norms.iter().zip([16.0, 10.0, 10.0]) {
            assert!((norm - expected).abs() < 1e-12, "{norms:?}");
        }
        assert_eq!((growth.mistakes, growth.radius, growth.plain), (3, 4.0, true));
    }

    #[test]
    fn long_runs_are_thinned_and_keep_their_end() {
        let rows: Vec<[f64; 2]> =
            (0..200).map(|k| [f64::from(k % 7) - 3.0, f64::from(k % 5) - 2.0]).collect();
        let names: Vec<&str> = (0..200).map(|k| if k % 3 == 0 { "a" } else { "b" }).collect();
        let spec = Spec::new(Options { epochs: 200, ..Options::default() }).unwrap();
        let (model, growth) = growth(&spec, &Dataset::from_rows(&rows, &names)).unwrap();
        assert!(growth.points.len() <= MOST_POINTS + 1);
        assert_eq!(growth.points.last().unwrap().steps, model.training_summary().totals.updates);
    }
}
