//! Half of the best margin, when a margin is known to be possible.
//!
//! Steps until every example is at least `gamma / 2` away from the hyperplane. If some hyperplane has
//! geometric margin `gamma` this ends after at most `8 (R/gamma)² + 4 R/gamma` steps.

use crate::params::{Param, ParamError, Params, Range};
use crate::rule::{Algorithm, Info, Needs, Rule, Seen, Step};
use crate::space::Linear;

/// Steps while the example is closer than `gamma / 2`.
#[derive(Debug, Clone)]
pub struct HalfMargin {
    gamma: f64,
}

impl Rule for HalfMargin {
    fn needs(&self) -> Needs {
        Needs { norm2: true, ..Needs::default() }
    }

    #[inline]
    fn step(&self, seen: &Seen) -> Option<Step> {
        let near = seen.norm2 == 0.0 || seen.margin < 0.5 * self.gamma * seen.norm2.sqrt();
        near.then(|| Step::of(1.0))
    }

    fn bound(&self, radius: f64, margin: f64) -> Option<f64> {
        let difficulty = radius / self.gamma;
        (self.gamma <= margin).then_some(8.0 * difficulty * difficulty + 4.0 * difficulty)
    }
}

impl Algorithm for HalfMargin {
    type Space = Linear;

    const INFO: Info = Info {
        aliases: &["half-best", "known-gamma"],
        summary: "reaches half of a margin that is known to be possible",
        update: "y f(x) / |w| < gamma / 2:  w += y x",
        source: "Balcan, Blum and Vempala 2006: at most 12 (R/gamma)^2 updates",
        prefer: "when a lower bound on the margin is known, for instance from a certificate",
        params: &[Param {
            name: "gamma",
            meaning: "a geometric margin some hyperplane has",
            default: 0.1,
            range: Range::Positive,
        }],
        // Its margin is measured by the norm of the whole vector.
        whole_vector: true,
        ..Info::named("half-margin")
    };

    fn new(params: &Params) -> Result<Self, ParamError> {
        params.check(&Self::INFO)?;
        Ok(Self { gamma: params.get(&Self::INFO, "gamma") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::tests::seen;

    #[test]
    fn distance_decides_not_the_score() {
        let rule = HalfMargin { gamma: 0.5 };
        assert!(rule.step(&Seen { norm2: 16.0, ..seen(0.9) }).is_some());
        assert!(rule.step(&Seen { norm2: 16.0, ..seen(1.0) }).is_none());
        assert!(rule.step(&Seen { norm2: 0.0, ..seen(0.0) }).is_some());
    }
}
