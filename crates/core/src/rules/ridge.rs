//! Least squares and ridge regression, solved by the normal equations.
//!
//! Minimises `Σ (t - f(x))² + l2 |w|²`; the bias is not pulled. One epoch finds the solution, the next corrects what
//! rounding left of it.

use crate::params::{Param, ParamError, Params, Range};
use crate::rule::{Algorithm, Info, Law, Needs, Rule, Seen, Step, Weighs};
use crate::space::{Normal, Shape};

/// Least squares with a penalty on large weights.
#[derive(Debug, Clone)]
pub struct Ridge {
    l2: f64,
}

/// A penalty on squared weights, for all rules that are solved by the normal equations.
pub(super) const L2: Param = Param {
    name: "l2",
    meaning: "strength of the penalty on squared weights, beside the sum over all rows",
    default: 0.0,
    range: Range::NonNegative,
};

/// The laws that no rule obeys that is solved for.
pub(super) const EXEMPT: &[(Law, &str)] =
    &[(Law::HalfEpochs, "the equations are of a whole epoch"), (Law::RateScale, "there is no rate")];

impl Rule for Ridge {
    fn needs(&self) -> Needs {
        Needs { weighs: Weighs::Rule, ..Needs::default() }
    }

    fn step(&self, seen: &Seen) -> Option<Step> {
        Some(Step { tau: seen.weight * -seen.margin, keep: 1.0, extra: seen.weight })
    }
}

impl Algorithm for Ridge {
    type Space = Normal;

    const INFO: Info = Info {
        aliases: &["least-squares", "ols"],
        summary: "least squares, with a penalty on large weights if you like, solved to machine precision",
        update: "after an epoch:  w += (X'X + l2)^-1 (X'(t - f(X)) - l2 w)",
        source: "Gauss 1809; Hoerl and Kennard 1970",
        prefer: "for numbers, unless some rows are far off or there are thousands of features",
        params: &[L2],
        settles: true,
        numbers: true,
        per_pair: true,
        exempt: EXEMPT,
        ..Info::named("ridge")
    };

    fn new(params: &Params) -> Result<Self, ParamError> {
        params.check(&Self::INFO)?;
        Ok(Self { l2: params.get(&Self::INFO, "l2") })
    }

    fn space(&self, shape: Shape) -> Normal {
        Normal::new(shape, self.l2, false, 1e-12)
    }
}
