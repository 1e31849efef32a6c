//! The linear support vector machine, solved: dual coordinate descent.
//!
//! Minimises `|w|²/2 + C Σ loss(y f(x)) + l1 |w|₁`, a bias being the weight of a constant feature, with the hinge loss
//! `max(0, 1 - y f(x))` or its square. Every visit sets the dual variable of its row to the best value there is while
//! the others stay, which moves the weights along the row. There is no rate to choose, every visit brings the dual
//! closer to its optimum, and training ends when no visit changes anything any more. With `l1` the weights move less
//! than the step assumes (they are pulled to zero), which keeps it safe (Shalev-Shwartz and Zhang 2014).

use crate::params::{Param, ParamError, Params, Range};
use crate::rule::{Algorithm, Info, Needs, Rule, Seen, Step};
use crate::space::{Dual, Shape};

/// The support vector machine in the dual.
#[derive(Debug, Clone)]
pub struct SvmDual {
    c: f64,
    squared: bool,
    l1: f64,
    tolerance: f64,
}

/// How strongly errors count, for all rules that are solved in the dual.
pub(super) const C: Param = Param {
    name: "C",
    meaning: "how much errors count beside small weights",
    default: 1.0,
    range: Range::Positive,
};

/// Which changes count as none.
pub(super) const TOLERANCE: Param = Param {
    name: "tolerance",
    meaning: "training ends after an epoch in which no visit changed a margin by more",
    default: 1e-3,
    range: Range::Positive,
};

/// A penalty on absolute weights, which makes many of them zero.
pub(super) const L1: Param = Param {
    name: "l1",
    meaning: "strength of the penalty on absolute weights, which leaves only features that pay for it",
    default: 0.0,
    range: Range::NonNegative,
};

impl Rule for SvmDual {
    fn needs(&self) -> Needs {
        Needs { spread: true, dual: true, ..Needs::default() }
    }

    fn acts(&self, seen: &Seen) -> bool {
        seen.margin < 1.0 || seen.dual > 0.0
    }

    fn step(&self, seen: &Seen) -> Option<Step> {
        // Of c_i b_i, of which the weights are made, only b_i is bounded: rows that count twice weigh twice.
        let curvature = seen.weight * seen.spread;
        let (curvature, slope, most) = if self.squared {
            (curvature + 0.5 / self.c, seen.margin - 1.0 + 0.5 * seen.dual / self.c, f64::INFINITY)
        } else {
            (curvature, seen.margin - 1.0, self.c)
        };
        if seen.spread == 0.0 {
            return None;
        }
        let dual = (seen.dual - slope / curvature).clamp(0.0, most);
        let tau = dual - seen.dual;
        (tau != 0.0).then_some(Step { tau, keep: 1.0, extra: dual })
    }
}

impl Algorithm for SvmDual {
    type Space = Dual;

    const INFO: Info = Info {
        aliases: &["dual-svm", "svm", "linear-svm"],
        summary: "the linear support vector machine, solved to a tolerance by dual coordinate descent",
        update: "b' = clip(b + (1 - y f(x)) / x.x, 0, C):  w += (b' - b) y x",
        source: "Hsieh, Chang, Lin, Keerthi and Sundararajan 2008",
        prefer: "when the best hyperplane matters more than the time to find it, and nothing is to be tuned but C",
        params: &[
            C,
            Param {
                name: "squared",
                meaning: "1 for the squared hinge loss, 0 for the hinge loss",
                default: 1.0,
                range: Range::Flag,
            },
            L1,
            TOLERANCE,
        ],
        whole_vector: true,
        settles: true,
        per_row: true,
        ..Info::named("svm-dual")
    };

    fn new(params: &Params) -> Result<Self, ParamError> {
        params.check(&Self::INFO)?;
        let get = |name| params.get(&Self::INFO, name);
        let (c, squared, l1, tolerance) = (get("C"), get("squared") == 1.0, get("l1"), get("tolerance"));
        Ok(Self { c, squared, l1, tolerance })
    }

    fn space(&self, shape: Shape) -> Dual {
        Dual::new(shape, self.l1, self.tolerance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::tests::seen;

    #[test]
    fn the_variable_goes_to_its_best_value_within_its_bounds() {
        let rule = SvmDual { c: 1.0, squared: false, l1: 0.0, tolerance: 1e-3 };
        let at = |margin, dual, spread| rule.step(&Seen { spread, dual, ..seen(margin) });
        assert_eq!(at(0.0, 0.0, 4.0), Some(Step { tau: 0.25, keep: 1.0, extra: 0.25 }));
        assert_eq!(at(0.0, 0.5, 0.5), Some(Step { tau: 0.5, keep: 1.0, extra: 1.0 }));
        assert_eq!(at(9.0, 0.5, 4.0), Some(Step { tau: -0.5, keep: 1.0, extra: 0.0 }));
        assert_eq!(at(0.5, 1.0, 1.0), None, "at its bound, and would go on");
        assert!(!rule.acts(&seen(1.0)) && rule.acts(&Seen { dual: 0.1, ..seen(2.0) }));
        let squared = SvmDual { squared: true, ..rule };
        // One row of length 1: b minimises b²/2 + b²/4 - b.
        let step = squared.step(&Seen { spread: 1.0, ..seen(0.0) }).unwrap();
        assert!((step.extra - 2.0 / 3.0).abs() < 1e-15);
    }
}
