//! The perceptron with a fixed margin: steps until every example clears a threshold.
//!
//! With `w` growing, a fixed functional margin `b` becomes a geometric one: at convergence the
//! separation is at least `γ b / (R² + 2b)`, which tends to half of the best as `b` grows.

use crate::params::{Param, ParamError, Params, Range};
use crate::rule::{Algorithm, Info, Law, Rule, Seen, Step};
use crate::schedule::Schedule;
use crate::space::Linear;

/// Steps while `y f(x) ≤ margin`.
#[derive(Debug, Clone)]
pub struct FixedMargin {
    margin: f64,
    rate: Schedule,
}

impl Rule for FixedMargin {
    #[inline(always)]
    fn acts(&self, seen: &Seen) -> bool {
        seen.margin <= self.margin
    }

    #[inline(always)]
    fn step(&self, seen: &Seen) -> Option<Step> {
        (seen.margin <= self.margin).then(|| Step::of(self.rate.rate(seen.updates + 1)))
    }

    fn repeats(&self) -> bool {
        matches!(self.rate, Schedule::Constant(_))
    }

    fn bound(&self, radius: f64, margin: f64) -> Option<f64> {
        // A rate of `r` is a rate of 1 with the threshold divided by `r`.
        match self.rate {
            Schedule::Constant(rate) => {
                Some((radius * radius + 2.0 * self.margin / rate) / (margin * margin))
            }
            _ => None,
        }
    }
}

impl Algorithm for FixedMargin {
    type Space = Linear;

    const INFO: Info = Info {
        aliases: &["margin", "margin-perceptron"],
        summary: "steps until every example clears a fixed margin",
        update: "y f(x) <= margin:  w += rate y x",
        source: "Duda and Hart 1973; Krauth and Mezard 1987: updates <= (R^2 + 2 margin) / best^2",
        prefer: "when the plain perceptron stops too close to the examples",
        params: &[Param {
            name: "margin",
            meaning: "how far above zero `y f(x)` must be",
            default: 1.0,
            range: Range::NonNegative,
        }],
        rate: Some("1"),
        exempt: &[(Law::RateScale, "the margin is fixed while the weights scale with the rate")],
        ..Info::named("fixed-margin")
    };

    fn new(params: &Params) -> Result<Self, ParamError> {
        params.check(&Self::INFO)?;
        Ok(Self { margin: params.get(&Self::INFO, "margin"), rate: params.rate() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::tests::seen;

    #[test]
    fn right_but_not_clearly_so_still_steps() {
        let rule = FixedMargin::new(&Params::new().with("margin", 2.0)).unwrap();
        assert_eq!(rule.step(&seen(2.0)), Some(Step::of(1.0)));
        assert_eq!(rule.step(&seen(2.1)), None);
        assert_eq!(rule.bound(3.0, 0.5), Some(52.0));
    }
}
