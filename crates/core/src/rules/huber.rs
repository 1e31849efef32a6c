//! Huber's loss: squared near the target, absolute far from it, so that a few rows that are far off decide little.
//!
//! Minimises `Σ loss(t - f(x)) + l2/2 |w|²`, where the loss is `r²/2` up to `|r| = delta` and `delta |r| - delta²/2` beyond,
//! by least squares in which rows beyond `delta` count less with every epoch (iteratively reweighted).

use super::ridge::{EXEMPT, L2};
use crate::params::{Param, ParamError, Params, Range};
use crate::rule::{Algorithm, Info, Needs, Rule, Seen, Step, Weighs};
use crate::space::{Normal, Shape};

/// Robust regression.
#[derive(Debug, Clone)]
pub struct Huber {
    delta: f64,
    l2: f64,
}

impl Rule for Huber {
    fn needs(&self) -> Needs {
        Needs { weighs: Weighs::Rule, ..Needs::default() }
    }

    fn step(&self, seen: &Seen) -> Option<Step> {
        let residual = -seen.margin;
        let counts = if residual <= self.delta { 1.0 } else { self.delta / residual };
        let counts = seen.weight * counts;
        Some(Step { tau: counts * residual, keep: 1.0, extra: counts })
    }
}

impl Algorithm for Huber {
    type Space = Normal;

    const INFO: Info = Info {
        aliases: &["robust"],
        summary: "least squares near the target, absolute residuals far from it, so that outliers decide little",
        update: "after an epoch:  w += (X'CX + l2)^-1 (X'C(t - f(X)) - l2 w),  C = min(1, delta / |t - f(x)|)",
        source: "Huber 1964; Holland and Welsch 1977",
        prefer: "where some targets are far off",
        params: &[
            Param {
                name: "delta",
                meaning: "residuals beyond this count by their size alone, in standard deviations of the target",
                default: 0.5,
                range: Range::Positive,
            },
            L2,
        ],
        settles: true,
        numbers: true,
        per_pair: true,
        exempt: EXEMPT,
        ..Info::named("huber")
    };

    fn new(params: &Params) -> Result<Self, ParamError> {
        params.check(&Self::INFO)?;
        let get = |name| params.get(&Self::INFO, name);
        Ok(Self { delta: get("delta"), l2: get("l2") })
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
    fn beyond_delta_a_row_pulls_no_harder() {
        let rule = Huber { delta: 2.0, l2: 0.0 };
        let at = |residual: f64| rule.step(&seen(-residual)).unwrap();
        assert_eq!(at(1.5), Step { tau: 1.5, keep: 1.0, extra: 1.0 });
        assert_eq!(at(8.0), Step { tau: 2.0, keep: 1.0, extra: 0.25 });
    }
}
