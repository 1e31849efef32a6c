//! PA-II: the passive-aggressive step, softened by `C`.
//!
//! Long steps are shortened more than short ones, smoothly. An example of weight `h` may change as much as `h C` allows.

use crate::params::{Param, ParamError, Params, Range};
use crate::rule::{Algorithm, Info, Needs, Rule, Seen, Step, Weighs};
use crate::space::Linear;

/// The passive-aggressive rule with a softened step.
#[derive(Debug, Clone)]
pub struct PaTwo {
    c: f64,
}

impl Rule for PaTwo {
    fn needs(&self) -> Needs {
        Needs { spread: true, weighs: Weighs::Rule, ..Needs::default() }
    }

    #[inline]
    fn acts(&self, seen: &Seen) -> bool {
        seen.margin < 1.0
    }

    #[inline]
    fn step(&self, seen: &Seen) -> Option<Step> {
        let loss = 1.0 - seen.margin;
        (loss > 0.0 && seen.spread > 0.0)
            .then(|| Step::of(loss / (seen.spread + 0.5 / (self.c * seen.weight))))
    }

    fn bound(&self, radius: f64, margin: f64) -> Option<f64> {
        Some((radius * radius + 0.5 / self.c) / (margin * margin))
    }

    fn repeats(&self) -> bool {
        true
    }
}

impl Algorithm for PaTwo {
    type Space = Linear;

    const INFO: Info = Info {
        aliases: &["pa-ii", "passive-aggressive-2"],
        summary: "the passive-aggressive step, softened by C",
        update: "y f(x) < 1:  w += y x (1 - y f(x)) / (|x|^2 + 1/(2C))",
        source: "Crammer et al. 2006: mistakes <= (R^2 + 1/(2C)) / margin^2",
        prefer: "on noisy data, where PA-I is too abrupt",
        params: &[Param {
            name: "C",
            meaning: "aggressiveness: how much one example may change",
            default: 1.0,
            range: Range::Positive,
        }],
        ..Info::named("pa2")
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
    fn the_step_is_softened() {
        let rule = PaTwo { c: 1.0 };
        assert_eq!(rule.step(&Seen { spread: 3.5, ..seen(-1.0) }), Some(Step::of(0.5)));
        // However much an example counts, it is not left behind.
        assert_eq!(rule.step(&Seen { spread: 2.0, weight: f64::MAX, ..seen(-1.0) }), Some(Step::of(1.0)));
        assert_eq!(rule.step(&Seen { spread: 2.0, weight: 0.25, ..seen(-1.0) }), Some(Step::of(0.5)));
    }
}
