//! ALMA: approaches the best margin with a falling demand and a falling step, on the unit ball.
//!
//! Rows count with unit length, and after every step the weights are brought back into the unit ball.
//! This is the Euclidean member (`p = 2`) of Gentile's family.

use crate::params::{Param, ParamError, Params, Range};
use crate::rule::{Algorithm, Info, Needs, Rule, Seen, Step, Weighs};
use crate::space::Linear;

/// Gentile's approximate large margin algorithm.
#[derive(Debug, Clone)]
pub struct Alma {
    alpha: f64,
    demand: f64,
    step: f64,
}

impl Rule for Alma {
    fn needs(&self) -> Needs {
        Needs { spread: true, norm2: true, weighs: Weighs::Visits, ..Needs::default() }
    }

    fn step(&self, seen: &Seen) -> Option<Step> {
        if seen.spread == 0.0 {
            return None;
        }
        let root_k = ((seen.updates + 1) as f64).sqrt();
        let length = seen.spread.sqrt();
        let margin = seen.margin / length;
        if margin > (1.0 - self.alpha) * self.demand / root_k {
            return None;
        }
        let rate = self.step / root_k;
        let norm = (seen.norm2 + 2.0 * rate * margin + rate * rate).max(0.0).sqrt();
        let keep = 1.0 / norm.max(1.0);
        Some(Step { tau: keep * rate / length, keep, extra: 0.0 })
    }
}

impl Algorithm for Alma {
    type Space = Linear;

    const INFO: Info = Info {
        aliases: &["alma2"],
        summary: "falling demand, falling step, weights kept in the unit ball",
        update: "y w.x/|x| <= (1 - alpha) B/sqrt(k):  w += y x C/(|x| sqrt(k)), then |w| <= 1",
        source: "Gentile 2001 (p = 2): margin >= (1 - alpha) best after O(1/(alpha best)^2) steps",
        prefer: "for large margins on noisy data in few epochs",
        params: &[
            Param {
                name: "alpha",
                meaning: "the share of the best margin that may be missed",
                default: 0.9,
                range: Range::UpTo(0.0, 1.0),
            },
            Param {
                name: "B",
                meaning: "the first demand; 0 stands for 1/alpha",
                default: 0.0,
                range: Range::NonNegative,
            },
            Param {
                name: "C",
                meaning: "the first step",
                default: std::f64::consts::SQRT_2,
                range: Range::Positive,
            },
        ],
        shrinks: true,
        whole_vector: true,
        ..Info::named("alma")
    };

    fn new(params: &Params) -> Result<Self, ParamError> {
        params.check(&Self::INFO)?;
        let get = |name| params.get(&Self::INFO, name);
        let alpha = get("alpha");
        let demand = if get("B") == 0.0 { 1.0 / alpha } else { get("B") };
        Ok(Self { alpha, demand, step: get("C") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::tests::seen;

    #[test]
    fn the_first_step_lands_on_the_unit_sphere() {
        let rule = Alma::new(&Params::new()).unwrap();
        let step = rule.step(&Seen { spread: 4.0, ..seen(0.0) }).unwrap();
        // From zero: w = C x̂, brought back to length 1.
        assert!((step.tau * 2.0 - 1.0).abs() < 1e-15);
        assert_eq!(rule.step(&Seen { spread: 0.0, ..seen(0.0) }), None);
    }
}
