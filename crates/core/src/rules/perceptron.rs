//! The perceptron: on a mistake, add the example.
//!
//! Every other rule here is measured against this one. From zero weights a constant rate only rescales
//! the weights, so the rate matters only where it varies (the textbooks' variable increments) or where
//! training starts elsewhere.

use crate::params::{ParamError, Params};
use crate::rule::{Algorithm, Info, Rule, Seen, Step};
use crate::schedule::Schedule;
use crate::space::Linear;

/// Rosenblatt's rule.
#[derive(Debug, Clone, Default)]
pub struct Perceptron {
    rate: Schedule,
}

impl Rule for Perceptron {
    #[inline(always)]
    fn acts(&self, seen: &Seen) -> bool {
        seen.mistaken
    }

    #[inline(always)]
    fn step(&self, seen: &Seen) -> Option<Step> {
        seen.mistaken.then(|| Step::of(self.rate.rate(seen.updates + 1)))
    }

    fn repeats(&self) -> bool {
        matches!(self.rate, Schedule::Constant(_))
    }

    fn bound(&self, radius: f64, margin: f64) -> Option<f64> {
        matches!(self.rate, Schedule::Constant(_)).then(|| (radius / margin).powi(2))
    }
}

impl Algorithm for Perceptron {
    type Space = Linear;

    const INFO: Info = Info {
        aliases: &["standard", "rosenblatt"],
        summary: "on a mistake, adds the example to the weights",
        update: "y f(x) <= 0:  w += rate y x",
        source: "Rosenblatt 1958; bound by Block 1962 and Novikoff 1962: mistakes <= (R/margin)^2",
        prefer: "as the baseline, and averaged or voted as a fast strong default",
        rate: Some("1"),
        mistake_driven: true,
        fixed_increment: true,
        own_loop: true,
        ..Info::named("perceptron")
    };

    fn new(params: &Params) -> Result<Self, ParamError> {
        params.check(&Self::INFO)?;
        Ok(Self { rate: params.rate() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::tests::seen;

    #[test]
    fn it_steps_on_mistakes_and_only_on_them() {
        let rule = Perceptron::default();
        assert_eq!(rule.step(&seen(-0.5)), Some(Step::of(1.0)));
        assert_eq!(rule.step(&seen(0.0)), Some(Step::of(1.0)));
        assert_eq!(rule.step(&seen(0.5)), None);
    }

    #[test]
    fn variable_increments_count_updates() {
        let rule = Perceptron { rate: Schedule::Inverse(1.0) };
        let third = Seen { updates: 2, ..seen(-1.0) };
        assert_eq!(rule.step(&third), Some(Step::of(1.0 / 3.0)));
    }
}
