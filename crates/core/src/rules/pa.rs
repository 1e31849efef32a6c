//! PA: the smallest change that gets the example right with margin 1.
//!
//! Passive when the margin is already 1, as aggressive as needed otherwise. On noisy data prefer
//! [`PaOne`](super::PaOne) or [`PaTwo`](super::PaTwo), which do not trust single examples that far.

use crate::params::{ParamError, Params};
use crate::rule::{Algorithm, Info, Needs, Rule, Seen, Step};
use crate::space::Linear;

/// The plain passive-aggressive rule.
#[derive(Debug, Clone)]
pub struct Pa;

impl Rule for Pa {
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
        (loss > 0.0 && seen.spread > 0.0).then(|| Step::of(loss / seen.spread))
    }

    fn bound(&self, radius: f64, margin: f64) -> Option<f64> {
        Some((radius / margin).powi(2))
    }

    fn repeats(&self) -> bool {
        true
    }
}

impl Algorithm for Pa {
    type Space = Linear;

    const INFO: Info = Info {
        aliases: &["passive-aggressive"],
        summary: "the smallest change that gives the example margin 1",
        update: "y f(x) < 1:  w += y x (1 - y f(x)) / |x|^2",
        source: "Crammer, Dekel, Keshet, Shalev-Shwartz and Singer 2006: mistakes <= (R/margin)^2",
        prefer: "on clean data",
        ..Info::named("pa")
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
    fn the_step_closes_the_gap_exactly() {
        assert_eq!(Pa.step(&Seen { spread: 4.0, ..seen(-1.0) }), Some(Step::of(0.5)));
        assert_eq!(Pa.step(&Seen { spread: 4.0, ..seen(1.0) }), None);
        assert_eq!(Pa.step(&Seen { spread: 0.0, ..seen(0.0) }), None);
    }
}
