//! Quantile regression: the prediction that a share `q` of the targets lies below. A `q` of a half is the median, which
//! is regression by absolute residuals.
//!
//! Minimises `Σ loss(t - f(x)) + l2/2 |w|²`, where the loss is `q r` above the prediction and `(q - 1) r` below it, by the
//! majorisation of Hunter and Lange: least squares in which a row counts `1/(2|r|)`, moved by `q - 1/2`. Residuals smaller
//! than a millionth count as that.

use super::ridge::{EXEMPT, L2};
use crate::params::{Param, ParamError, Params, Range};
use crate::rule::{Algorithm, Info, Needs, Rule, Seen, Step, Weighs};
use crate::space::{Normal, Shape};

/// The smallest residual there is.
const SMALLEST: f64 = 1e-6;

/// Regression for a quantile.
#[derive(Debug, Clone)]
pub struct Quantile {
    q: f64,
    l2: f64,
}

impl Rule for Quantile {
    fn needs(&self) -> Needs {
        Needs { weighs: Weighs::Rule, ..Needs::default() }
    }

    fn step(&self, seen: &Seen) -> Option<Step> {
        let residual = -seen.margin;
        let counts = seen.weight * 0.5 / residual.max(SMALLEST);
        let tau = counts * residual + seen.weight * (self.q - 0.5) * seen.label;
        Some(Step { tau, keep: 1.0, extra: counts })
    }
}

impl Algorithm for Quantile {
    type Space = Normal;

    const INFO: Info = Info {
        aliases: &["absolute", "median", "pinball"],
        summary: "the prediction that a share q of the targets lies below; a half is the median",
        update: "after an epoch:  w += (X'CX + l2)^-1 (X'(C(t - f(X)) + q - 1/2) - l2 w),  C = 1 / (2 |t - f(x)|)",
        source: "Koenker and Bassett 1978; Hunter and Lange 2000",
        prefer: "where the middle, or a bound, of the targets matters and not their mean",
        params: &[
            Param {
                name: "q",
                meaning: "share of the targets that lies below the prediction",
                default: 0.5,
                range: Range::Between(0.0, 1.0),
            },
            L2,
        ],
        settles: true,
        numbers: true,
        per_pair: true,
        exempt: EXEMPT,
        ..Info::named("quantile")
    };

    fn new(params: &Params) -> Result<Self, ParamError> {
        params.check(&Self::INFO)?;
        let get = |name| params.get(&Self::INFO, name);
        Ok(Self { q: get("q"), l2: get("l2") })
    }

    fn space(&self, shape: Shape) -> Normal {
        Normal::new(shape, self.l2, true, 1e-9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::tests::seen;

    #[test]
    fn rows_above_pull_by_q_and_rows_below_by_the_rest() {
        let rule = Quantile { q: 0.9, l2: 0.0 };
        let pull = |label: f64| rule.step(&Seen { label, ..seen(-4.0) }).unwrap().tau * label;
        assert!((pull(1.0) - 0.9).abs() < 1e-15 && (pull(-1.0) + 0.1).abs() < 1e-15);
    }
}
