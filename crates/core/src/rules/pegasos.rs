//! Pegasos: a linear support vector machine with a step size that needs no tuning.
//!
//! Gradient steps on the hinge loss with an L2 penalty, the rate being `1 / (lambda t)`. After `t`
//! rounds the objective is within `O(log t / (lambda t))` of the best. The first steps are long, and a
//! bias that did not shrink with the weights would never recover from them, so it is a coordinate.

use crate::params::{Param, ParamError, Params, Range};
use crate::rule::{Algorithm, Info, Rule, Seen, Step};
use crate::space::Linear;

/// Primal estimated sub-gradient solver for support vector machines.
#[derive(Debug, Clone)]
pub struct Pegasos {
    lambda: f64,
}

impl Rule for Pegasos {
    fn step(&self, seen: &Seen) -> Option<Step> {
        // Every round is a step, so the number of the step is the number of the round.
        let t = (seen.updates + 1) as f64;
        let tau = if seen.margin < 1.0 { 1.0 / (self.lambda * t) } else { 0.0 };
        Some(Step { tau, keep: 1.0 - 1.0 / t, extra: 0.0 })
    }
}

impl Algorithm for Pegasos {
    type Space = Linear;

    const INFO: Info = Info {
        aliases: &["sgd-svm"],
        summary: "linear SVM by stochastic sub-gradient, for comparison",
        update: "always:  w *= 1 - 1/t; y f(x) < 1:  w += y x / (lambda t)",
        source: "Shalev-Shwartz, Singer, Srebro and Cotter 2011",
        prefer: "for a soft-margin SVM on large data",
        params: &[Param {
            name: "lambda",
            meaning: "strength of the penalty on large weights",
            default: 1e-4,
            range: Range::Positive,
        }],
        shrinks: true,
        settles: true,
        whole_vector: true,
        ..Info::named("pegasos")
    };

    fn new(params: &Params) -> Result<Self, ParamError> {
        params.check(&Self::INFO)?;
        Ok(Self { lambda: params.get(&Self::INFO, "lambda") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::tests::seen;

    #[test]
    fn rates_fall_with_the_round() {
        let rule = Pegasos { lambda: 0.5 };
        let fourth = Seen { updates: 3, ..seen(0.0) };
        assert_eq!(rule.step(&fourth), Some(Step { tau: 0.5, keep: 0.75, extra: 0.0 }));
        assert_eq!(rule.step(&Seen { margin: 1.0, ..fourth }).unwrap().tau, 0.0);
    }
}
