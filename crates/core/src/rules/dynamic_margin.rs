//! The perceptron with dynamic margin: approaches the best margin without knowing it.
//!
//! `‖w‖/k` never falls below the best margin `γ`, so demanding `(1-ε)‖w‖²/k` of every example demands
//! at least `(1-ε)γ` of the final hyperplane. A small `ε` is slow.

use crate::params::{Param, ParamError, Params, Range};
use crate::rule::{Algorithm, Info, Needs, Rule, Seen, Step, Weighs};
use crate::space::Linear;

/// Steps while `y w·x ≤ (1-ε)‖w‖²/k`.
#[derive(Debug, Clone)]
pub struct DynamicMargin {
    epsilon: f64,
}

impl Rule for DynamicMargin {
    fn needs(&self) -> Needs {
        Needs { norm2: true, weighs: Weighs::Visits, ..Needs::default() }
    }

    #[inline]
    fn step(&self, seen: &Seen) -> Option<Step> {
        // Without a step yet there is no margin to demand: any hypothesis is as good.
        let demanded = if seen.updates == 0 { 0.0 } else { seen.norm2 / seen.updates as f64 };
        (seen.margin <= (1.0 - self.epsilon) * demanded).then(|| Step::of(1.0))
    }
}

impl Algorithm for DynamicMargin {
    type Space = Linear;

    const INFO: Info = Info {
        aliases: &["pdm"],
        summary: "demands a margin that it estimates on the way",
        update: "y f(x) <= (1 - epsilon) |w|^2 / k:  w += y x",
        source: "Panagiotakopoulos and Tsampouka 2011: final margin >= (1 - epsilon) best",
        prefer: "for nearly the largest margin on separable data, without a solver",
        params: &[Param {
            name: "epsilon",
            meaning: "the share of the best margin that may be missed",
            default: 0.5,
            range: Range::UpTo(0.0, 1.0),
        }],
        // Its margin is measured by the norm of the whole vector.
        whole_vector: true,
        ..Info::named("dynamic-margin")
    };

    fn new(params: &Params) -> Result<Self, ParamError> {
        params.check(&Self::INFO)?;
        Ok(Self { epsilon: params.get(&Self::INFO, "epsilon") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::tests::seen;

    #[test]
    fn the_demand_is_a_share_of_the_squared_norm_per_update() {
        let rule = DynamicMargin { epsilon: 0.5 };
        let after_two = |margin| Seen { norm2: 8.0, updates: 2, ..seen(margin) };
        assert!(rule.step(&after_two(2.0)).is_some());
        assert!(rule.step(&after_two(2.1)).is_none());
        assert!(rule.step(&seen(0.0)).is_some());
    }
}
