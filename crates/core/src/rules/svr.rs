//! Support vector regression, solved: dual coordinate descent.
//!
//! Minimises `|w|²/2 + C Σ loss(|t - f(x)|)`, a bias being the weight of a constant feature, where residuals up to `epsilon`
//! cost nothing and larger ones what is beyond it, or its square. As [`SvmDual`](super::SvmDual), every visit sets the dual
//! variable of its row to the best value there is. With `squared` and an `epsilon` of 0 it is ridge regression with
//! `l2 = 1/(2C)`, for rows with any number of features.

use super::svm_dual::{C, TOLERANCE};
use crate::params::{Param, ParamError, Params, Range};
use crate::rule::{Algorithm, Info, Needs, Rule, Seen, Step};
use crate::space::{Dual, Shape};

/// Support vector regression in the dual.
#[derive(Debug, Clone)]
pub struct Svr {
    c: f64,
    epsilon: f64,
    squared: bool,
    tolerance: f64,
}

/// Up to where residuals cost nothing.
pub(super) const EPSILON: Param = Param {
    name: "epsilon",
    meaning: "residuals up to this are none, in standard deviations of the target",
    default: 0.1,
    range: Range::NonNegative,
};

impl Rule for Svr {
    fn needs(&self) -> Needs {
        Needs { spread: true, dual: true, ..Needs::default() }
    }

    fn acts(&self, seen: &Seen) -> bool {
        -seen.margin > self.epsilon || seen.dual != 0.0
    }

    fn step(&self, seen: &Seen) -> Option<Step> {
        if seen.spread == 0.0 {
            return None;
        }
        let residual = -seen.margin * seen.label;
        let (softening, most) = if self.squared { (0.5 / self.c, f64::INFINITY) } else { (0.0, self.c) };
        let curvature = seen.weight * seen.spread + softening;
        // The best value without the tube, pulled towards zero by it.
        let best = seen.dual + (residual - softening * seen.dual) / curvature;
        let pull = self.epsilon / curvature;
        let dual = if best.abs() <= pull { 0.0 } else { (best - pull.copysign(best)).clamp(-most, most) };
        let tau = (dual - seen.dual) * seen.label;
        (tau != 0.0).then_some(Step { tau, keep: 1.0, extra: dual })
    }
}

impl Algorithm for Svr {
    type Space = Dual;

    const INFO: Info = Info {
        aliases: &["svr-dual", "support-vector-regression"],
        summary: "support vector regression, solved to a tolerance by dual coordinate descent",
        update: "b' = clip(soft(b + (t - f(x)) / x.x, epsilon / x.x), -C, C):  w += (b' - b) x",
        source: "Drucker, Burges, Kaufman, Smola and Vapnik 1997; Ho and Lin 2012",
        prefer: "with very many features, or where small residuals are no matter",
        params: &[
            C,
            EPSILON,
            Param {
                name: "squared",
                meaning: "1 for the squared loss beyond epsilon, 0 for the absolute one",
                default: 1.0,
                range: Range::Flag,
            },
            TOLERANCE,
        ],
        whole_vector: true,
        settles: true,
        per_row: true,
        numbers: true,
        ..Info::named("svr")
    };

    fn new(params: &Params) -> Result<Self, ParamError> {
        params.check(&Self::INFO)?;
        let get = |name| params.get(&Self::INFO, name);
        let (c, epsilon, tolerance) = (get("C"), get("epsilon"), get("tolerance"));
        Ok(Self { c, epsilon, squared: get("squared") == 1.0, tolerance })
    }

    fn space(&self, shape: Shape) -> Dual {
        Dual::new(shape, 0.0, self.tolerance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::tests::seen;

    #[test]
    fn the_variable_goes_to_its_best_value_on_either_side() {
        let rule = Svr { c: 1.0, epsilon: 0.5, squared: false, tolerance: 1e-3 };
        let at =
            |margin, label, dual| rule.step(&Seen { label, dual, weight: 1.0, spread: 4.0, ..seen(margin) });
        assert_eq!(at(-2.5, 1.0, 0.0), Some(Step { tau: 0.5, keep: 1.0, extra: 0.5 }));
        assert_eq!(at(-2.5, -1.0, 0.0), Some(Step { tau: 0.5, keep: 1.0, extra: -0.5 }));
        assert_eq!(at(-9.0, 1.0, 0.0), Some(Step { tau: 1.0, keep: 1.0, extra: 1.0 }), "at its bound");
        assert_eq!(at(-0.25, 1.0, 0.0), None, "within the tube");
        assert_eq!(at(-2.5, -1.0, 0.5), Some(Step { tau: 0.5, keep: 1.0, extra: 0.0 }), "back to zero");
    }
}
