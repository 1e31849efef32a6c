//! PAUM: the perceptron with uneven margins, for classes of very different size.
//!
//! A rare positive class gets a larger threshold than the common negative one, which moves the
//! hyperplane away from it. The paper's bias step `b += y R²` is `bias = augmented(R)`.

use crate::params::{Param, ParamError, Params, Range};
use crate::rule::{Algorithm, Info, Law, Rule, Seen, Step};
use crate::schedule::Schedule;
use crate::space::Linear;

/// One margin for each side.
#[derive(Debug, Clone)]
pub struct Paum {
    plus: f64,
    minus: f64,
    rate: Schedule,
}

impl Paum {
    fn margin(&self, label: f64) -> f64 {
        if label > 0.0 { self.plus } else { self.minus }
    }
}

impl Rule for Paum {
    #[inline]
    fn acts(&self, seen: &Seen) -> bool {
        seen.margin <= self.margin(seen.label)
    }

    #[inline]
    fn step(&self, seen: &Seen) -> Option<Step> {
        (seen.margin <= self.margin(seen.label)).then(|| Step::of(self.rate.rate(seen.updates + 1)))
    }

    fn repeats(&self) -> bool {
        matches!(self.rate, Schedule::Constant(_))
    }

    fn bound(&self, radius: f64, margin: f64) -> Option<f64> {
        let wider = self.plus.max(self.minus);
        match self.rate {
            Schedule::Constant(rate) => Some((radius * radius + 2.0 * wider / rate) / (margin * margin)),
            _ => None,
        }
    }
}

impl Algorithm for Paum {
    type Space = Linear;

    const INFO: Info = Info {
        aliases: &["uneven-margins"],
        summary: "one margin for positive and another for negative examples",
        update: "y f(x) <= margin of y's side:  w += rate y x",
        source: "Li, Zaragoza, Herbrich, Shawe-Taylor and Kandola 2002",
        prefer: "when one class is much rarer than the other",
        params: &[
            Param {
                name: "plus",
                meaning: "margin of positive examples",
                default: 1.0,
                range: Range::NonNegative,
            },
            Param {
                name: "minus",
                meaning: "margin of negative examples",
                default: 0.1,
                range: Range::NonNegative,
            },
        ],
        rate: Some("1"),
        exempt: &[
            (Law::FlippedLabels, "the two sides have different margins"),
            (Law::RateScale, "the margins are fixed while the weights scale with the rate"),
        ],
        ..Info::named("paum")
    };

    fn new(params: &Params) -> Result<Self, ParamError> {
        params.check(&Self::INFO)?;
        let get = |name| params.get(&Self::INFO, name);
        Ok(Self { plus: get("plus"), minus: get("minus"), rate: params.rate() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::tests::seen;

    #[test]
    fn the_sides_have_their_own_margins() {
        let rule = Paum::new(&Params::new()).unwrap();
        assert!(rule.step(&Seen { label: 1.0, ..seen(0.5) }).is_some());
        assert!(rule.step(&Seen { label: -1.0, ..seen(0.5) }).is_none());
    }
}
