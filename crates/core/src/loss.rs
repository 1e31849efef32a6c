//! Losses, and what a hypothesis loses: on a set of examples, or on a stream while it learns.
//!
//! A loss is a function of the margin: `y f(x)` with two classes, the lead of the true class over its
//! strongest rival with more. The updates of a rule need not follow any of them: the perceptron loss is
//! 0 at `w = 0`, where the perceptron steps all the same.

use crate::decision::Decision;
use crate::elementary;
use crate::examples::Examples;
use crate::memory::Kept;
use crate::observer::{Observer, Round};
use std::ops::ControlFlow;

/// A loss, as a function of the margin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// 1 where the margin is 0 or less: a tie is lost.
    ZeroOne,
    /// `max(0, -m)`.
    Perceptron,
    /// `max(0, 1 - m)`.
    Hinge,
    /// `ln(1 + e^-m)`.
    Logistic,
    /// `(1 - m)²`.
    Squared,
}

crate::named!(Loss, "loss",
    "zero-one" = Self::ZeroOne, "1 where the margin is 0 or less";
    "perceptron" = Self::Perceptron, "how far the margin is below 0";
    "hinge" = Self::Hinge, "how far the margin is below 1";
    "logistic" = Self::Logistic, "ln(1 + e^-m) of the margin m";
    "squared" = Self::Squared, "the squared difference of the margin from 1";
);

impl Loss {
    /// What a margin costs.
    pub fn of(self, margin: f64) -> f64 {
        match self {
            Self::ZeroOne => f64::from(margin <= 0.0),
            Self::Perceptron => (-margin).max(0.0),
            Self::Hinge => (1.0 - margin).max(0.0),
            // The exponent is never positive, so nothing overflows however wrong the margin is.
            Self::Logistic => (-margin).max(0.0) + elementary::ln_1p_of_share(elementary::exp(-margin.abs())),
            Self::Squared => (1.0 - margin) * (1.0 - margin),
        }
    }
}

/// The empirical risk: the mean loss of `kept` over all examples, each counting by its weight.
/// `None` if nothing counts. A vote's margins are counted in rounds.
///
/// ```
/// use rosenblatt_core::{loss, Binary, DenseExamples, Kept, Loss, Hyperplanes};
///
/// let examples = DenseExamples::new(&[2.0, -1.0], 1, &[1, 1]);
/// let kept = Kept::Hyperplanes(Hyperplanes::from_parts(vec![1.0], vec![0.0]));
/// assert_eq!(loss::risk(&kept, &Binary, Loss::Hinge, examples), Some(1.0));
/// assert_eq!(loss::risk(&kept, &Binary, Loss::ZeroOne, examples), Some(0.5));
/// ```
pub fn risk<E: Examples, D: Decision>(kept: &Kept, decision: &D, loss: Loss, examples: E) -> Option<f64> {
    let mut scores = vec![0.0; decision.n_outputs()];
    let mut scratch = Vec::new();
    let (mut lost, mut weights) = (0.0, 0.0);
    for row_idx in (0..examples.len()).filter(|&row_idx| examples.weight(row_idx) != 0.0) {
        kept.scores(examples.row(row_idx), &mut scores, &mut scratch);
        let weight = examples.weight(row_idx);
        lost += weight * loss.of(decision.margin(examples.class(row_idx), &scores));
        weights += weight;
    }
    (weights > 0.0).then(|| lost / weights)
}

/// Watches a stream and adds up what each example cost before it was learned from.
///
/// Every output that is asked is charged: one-vs-rest and one-vs-one pay once per output and round,
/// direct multiclass once per round. Examples count by their weight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OnlineLoss {
    loss: Loss,
    total: f64,
    weights: f64,
}

impl OnlineLoss {
    /// Nothing lost yet.
    pub fn new(loss: Loss) -> Self {
        Self { loss, total: 0.0, weights: 0.0 }
    }

    /// The total loss so far.
    pub fn total(&self) -> f64 {
        self.total
    }

    /// The loss per unit of example weight so far; 0 before the first example.
    pub fn mean(&self) -> f64 {
        if self.weights > 0.0 { self.total / self.weights } else { 0.0 }
    }
}

impl Observer for OnlineLoss {
    fn wants_rounds(&self) -> bool {
        true
    }

    fn round(&mut self, round: &Round<'_>) -> ControlFlow<()> {
        self.total += round.weight * self.loss.of(round.margin);
        self.weights += round.weight;
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convention::{Bias, Convention};
    use crate::decision::{Binary, OneVsOne, OneVsRest};
    use crate::examples::DenseExamples;
    use crate::rules::Perceptron;
    use crate::run::{Run, Setup};
    use crate::space::{Hyperplanes, Visits};

    #[test]
    fn losses_by_hand_and_by_name() {
        let all = [Loss::ZeroOne, Loss::Perceptron, Loss::Hinge, Loss::Logistic, Loss::Squared];
        let costs = |margin: f64| all.map(|loss| loss.of(margin));
        let e = std::f64::consts::E;
        assert_eq!(costs(0.0), [1.0, 0.0, 1.0, 2_f64.ln(), 1.0]);
        assert_eq!(costs(2.0)[..3], [0.0, 0.0, 0.0]);
        assert_eq!(costs(-1.0)[..3], [1.0, 1.0, 2.0]);
        assert!((costs(-1.0)[3] - (1.0 + e).ln()).abs() < 1e-15);
        assert_eq!((costs(2.0)[4], costs(-1.0)[4]), (1.0, 4.0));
        assert_eq!((Loss::Logistic.of(-1e300), Loss::Logistic.of(1e300)), (1e300, 0.0));
        for loss in all {
            assert_eq!(loss.to_string().parse(), Ok(loss));
        }
        assert!("absolute".parse::<Loss>().is_err());
    }

    #[test]
    fn at_zero_weights_the_perceptron_loses_nothing_and_steps_all_the_same() {
        let examples = DenseExamples::new(&[4.0, 0.0], 2, &[1]);
        let zero = Kept::Hyperplanes(Hyperplanes::zero(2, 1));
        assert_eq!(risk(&zero, &Binary, Loss::Perceptron, examples), Some(0.0));
        let convention = Convention { bias: Bias::None, ..Convention::default() };
        let setup = Setup { convention, ..Setup::default() };
        let mut run = Run::new(Perceptron::default(), Binary, setup).unwrap();
        let mut online = OnlineLoss::new(Loss::Perceptron);
        assert!(run.learn(examples, Visits::all(examples), &mut online).is_continue());
        assert_eq!((online.total(), run.totals().updates), (0.0, 1));
    }

    #[test]
    fn a_stream_is_charged_before_it_is_learned_from() {
        // The four points of the notes: margins 0, -4, 1, -4.
        let values = [4.0, 0.0, 1.0, 1.0, 0.0, 1.0, -2.0, -2.0];
        let classes = [1, 0, 0, 1];
        let examples = DenseExamples::new(&values, 2, &classes);
        let convention = Convention { bias: Bias::None, ..Convention::default() };
        for (loss, total) in [
            (Loss::ZeroOne, 3.0),
            (Loss::Perceptron, 8.0),
            (Loss::Hinge, 11.0),
            (Loss::Squared, 1.0 + 25.0 + 0.0 + 25.0),
        ] {
            let setup = Setup { convention, ..Setup::default() };
            let mut run = Run::new(Perceptron::default(), Binary, setup).unwrap();
            let mut online = OnlineLoss::new(loss);
            assert!(run.learn(examples, Visits::all(examples), &mut online).is_continue());
            assert_eq!((online.total(), online.mean()), (total, total / 4.0));
        }
        // The weights it ends with, (1, -3), have margins 4, 2, 3, 4.
        let last = Kept::Hyperplanes(Hyperplanes::from_parts(vec![1.0, -3.0], vec![0.0]));
        assert_eq!(risk(&last, &Binary, Loss::Squared, examples), Some((9.0 + 1.0 + 4.0 + 9.0) / 4.0));
        let heavy = examples.with_weights(&[0.0, 3.0, 1.0, 0.0]);
        assert_eq!(risk(&last, &Binary, Loss::Squared, heavy), Some((3.0 + 4.0) / 4.0));
        assert_eq!(risk(&last, &Binary, Loss::Squared, examples.with_weights(&[0.0; 4])), None);
    }

    #[test]
    fn several_classes_lose_by_the_lead_over_the_strongest_rival() {
        let planes = |scores: &[f64]| {
            Kept::Hyperplanes(Hyperplanes::from_parts(scores.to_vec(), vec![0.0; scores.len()]))
        };
        let examples = DenseExamples::new(&[1.0], 1, &[2]);
        // Scores 1, -2, 1.5: the margin is 1/2.
        assert_eq!(risk(&planes(&[1.0, -2.0, 1.5]), &OneVsRest::new(3), Loss::Hinge, examples), Some(0.5));
        // Duels (0,1), (0,2), (1,2): class 2 wins the second by 3 and loses the third by 1/4.
        let duels = planes(&[9.0, -3.0, 0.25]);
        assert_eq!(risk(&duels, &OneVsOne::new(3), Loss::Hinge, examples), Some(1.25));
    }
}
