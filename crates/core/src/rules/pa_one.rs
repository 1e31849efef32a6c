//! PA-I: the passive-aggressive step, never longer than `C`.
//!
//! A wrongly labelled example can then do only so much harm.

use crate::params::{Param, ParamError, Params, Range};
use crate::rule::{Algorithm, Info, Needs, Rule, Seen, Step};
use crate::space::Linear;

/// The passive-aggressive rule with a capped step.
#[derive(Debug, Clone)]
pub struct PaOne {
    c: f64,
}

impl Rule for PaOne {
    fn needs(&self) -> Needs {
        Needs { spread: true, ..Needs::default() }
    }

    #[inline]
    fn acts(&self, seen: &Seen) -> bool {
        seen.margin < 1.0
    }

    #[inline]
    fn step(&self, seen: &Seen) -> Option<Step> {
        let loss = 1.0 - seen.margin;
        (loss > 0.0 && seen.spread > 0.0).then(|| Step::of((loss / seen.spread).min(self.c)))
    }

    fn bound(&self, radius: f64, margin: f64) -> Option<f64> {
        Some((radius * radius).max(1.0 / self.c) / (margin * margin))
    }

    fn repeats(&self) -> bool {
        true
    }
}

impl Algorithm for PaOne {
    type Space = Linear;

    const INFO: Info = Info {
        aliases: &["pa-i", "passive-aggressive-1"],
        summary: "the passive-aggressive step, capped at C",
        update: "y f(x) < 1:  w += y x min(C, (1 - y f(x)) / |x|^2)",
        source: "Crammer et al. 2006: mistakes <= max(R^2, 1/C) / margin^2",
        prefer: "as a robust default on noisy data",
        params: &[Param {
            name: "C",
            meaning: "aggressiveness: how much one example may change",
            default: 1.0,
            range: Range::Positive,
        }],
        own_loop: true,
        ..Info::named("pa1")
    };

    fn new(params: &Params) -> Result<Self, ParamError> {
        params.check(&Self::INFO)?;
        Ok(Self { c: params.get(&Self::INFO, "C") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::tests::seen;

    #[test]
    fn the_step_is_capped() {
        let rule = PaOne { c: 0.1 };
        assert_eq!(rule.step(&Seen { spread: 4.0, ..seen(-1.0) }), Some(Step::of(0.1)));
        assert_eq!(rule.step(&Seen { spread: 40.0, ..seen(-1.0) }), Some(Step::of(0.05)));
    }
}
