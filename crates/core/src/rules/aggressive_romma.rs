//! Aggressive ROMMA: the same step as [`Romma`](super::Romma), taken until every margin is 1.
//!
//! Cycled over separable data it converges to the hyperplane of a hard-margin support vector machine.

use super::romma::shortest;
use crate::params::{ParamError, Params};
use crate::rule::{Algorithm, Info, Needs, Rule, Seen, Step, Weighs};
use crate::space::Linear;

/// Relaxed online maximum margin, acting on every margin below 1.
#[derive(Debug, Clone)]
pub struct AggressiveRomma;

impl Rule for AggressiveRomma {
    fn needs(&self) -> Needs {
        Needs { spread: true, norm2: true, weighs: Weighs::Visits, ..Needs::default() }
    }

    fn acts(&self, seen: &Seen) -> bool {
        seen.margin < 1.0
    }

    fn step(&self, seen: &Seen) -> Option<Step> {
        if seen.margin < 1.0 { shortest(seen) } else { None }
    }

    /// Steps on right answers never shorten `w`, mistakes lengthen `‖w‖²` by `1/R²`, and `‖w‖ ≤ 1/γ`.
    fn bound(&self, radius: f64, margin: f64) -> Option<f64> {
        Some((radius / margin).powi(2))
    }
}

impl Algorithm for AggressiveRomma {
    type Space = Linear;

    const INFO: Info = Info {
        aliases: &["aromma"],
        summary: "ROMMA's step on every example whose margin is below 1",
        update: "y f(x) < 1:  ROMMA's step",
        source: "Li and Long 2002: mistakes <= (R/margin)^2; cycling converges to the maximum margin",
        prefer: "for the maximum margin on separable data, step by step",
        shrinks: true,
        whole_vector: true,
        ..Info::named("aggressive-romma")
    };

    fn new(params: &Params) -> Result<Self, ParamError> {
        params.check(&Self::INFO)?;
        Ok(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::tests::seen;

    #[test]
    fn a_margin_below_one_is_not_enough() {
        let near = Seen { spread: 2.0, norm2: 1.0, ..seen(0.5) };
        assert!(AggressiveRomma.step(&near).is_some());
        assert_eq!(AggressiveRomma.step(&Seen { margin: 1.0, ..near }), None);
    }

    #[test]
    fn a_short_row_stands_alone() {
        // |x|²|w|² = 5/16 < 1/2 = y w.x: the shortest vector that meets the row meets the old rows too.
        let short = Seen { spread: 0.3125, norm2: 1.0, ..seen(0.5) };
        assert_eq!(AggressiveRomma.step(&short), Some(Step { tau: 3.2, keep: 0.0, extra: 0.0 }));
    }
}
