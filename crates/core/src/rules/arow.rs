//! AROW: adaptive regularisation of weights; features seen often move little.
//!
//! A passive-aggressive step in the metric of what is still uncertain. The space keeps a variance per
//! feature; each step goes along `Σx` and then shrinks the variances it used.

use crate::params::{Param, ParamError, Params, Range};
use crate::rule::{Algorithm, Info, Needs, Rule, Seen, Step};
use crate::space::Diagonal;

/// Adaptive regularisation of weights, diagonal.
#[derive(Debug, Clone)]
pub struct Arow {
    r: f64,
}

impl Rule for Arow {
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
        if loss <= 0.0 || seen.spread == 0.0 {
            return None;
        }
        let shrink = 1.0 / (seen.spread + self.r);
        Some(Step { tau: loss * shrink, keep: 1.0, extra: shrink })
    }
}

impl Algorithm for Arow {
    type Space = Diagonal;

    const INFO: Info = Info {
        aliases: &["adaptive-regularization"],
        summary: "steps along what is uncertain; features seen often move little",
        update: "y f(x) < 1:  b = 1/(x'Sx + r), w += y (1 - y f(x)) b Sx, S -= b (Sx)(Sx)'",
        source: "Crammer, Kulesza and Dredze 2009, diagonal",
        prefer: "on text and other sparse data with rare but telling features",
        params: &[Param {
            name: "r",
            meaning: "how slowly variances shrink",
            default: 1.0,
            range: Range::Positive,
        }],
        own_loop: true,
        ..Info::named("arow")
    };

    fn new(params: &Params) -> Result<Self, ParamError> {
        params.check(&Self::INFO)?;
        Ok(Self { r: params.get(&Self::INFO, "r") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::tests::seen;

    #[test]
    fn step_and_shrink_share_one_factor() {
        let rule = Arow { r: 1.0 };
        let step = rule.step(&Seen { spread: 3.0, ..seen(-1.0) }).unwrap();
        assert_eq!(step, Step { tau: 0.5, keep: 1.0, extra: 0.25 });
        assert_eq!(rule.step(&seen(1.0)), None);
    }
}
