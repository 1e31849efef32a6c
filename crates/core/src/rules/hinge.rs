//! A linear support vector machine by stochastic gradient on the hinge loss with an L2 penalty.
//!
//! The same objective as [`Pegasos`](super::Pegasos), with a learning rate of the user's own.

use crate::params::{Param, ParamError, Params, Range};
use crate::rule::{Algorithm, Info, Law, Rule, Seen, Step};
use crate::schedule::Schedule;
use crate::space::Linear;

/// Gradient steps on the hinge loss.
#[derive(Debug, Clone)]
pub struct Hinge {
    l2: f64,
    rate: Schedule,
}

impl Rule for Hinge {
    #[inline]
    fn acts(&self, seen: &Seen) -> bool {
        seen.margin <= 1.0 || self.l2 > 0.0
    }

    #[inline]
    fn step(&self, seen: &Seen) -> Option<Step> {
        let rate = self.rate.rate(seen.updates + 1);
        let tau = if seen.margin <= 1.0 { rate } else { 0.0 };
        let keep = (1.0 - rate * self.l2).max(0.0);
        Some(Step { tau, keep, extra: 0.0 })
    }
}

impl Algorithm for Hinge {
    type Space = Linear;

    const INFO: Info = Info {
        aliases: &["svm-sgd"],
        summary: "linear SVM: stochastic gradient on the hinge loss with an L2 penalty",
        update: "always:  w *= 1 - rate l2; y f(x) <= 1:  w += rate y x",
        source: "Zhang 2004; Bottou 2010",
        prefer: "for an SVM with a learning rate of your own",
        params: &[Param {
            name: "l2",
            meaning: "strength of the penalty on large weights",
            default: 1e-4,
            range: Range::NonNegative,
        }],
        rate: Some("1/sqrt(k)"),
        shrinks: true,
        exempt: &[(Law::RateScale, "the margin of 1 is fixed while the weights scale with the rate")],
        own_loop: true,
        ..Info::named("hinge")
    };

    fn new(params: &Params) -> Result<Self, ParamError> {
        params.check(&Self::INFO)?;
        let rate = params.rate_or(Schedule::InverseSqrt(1.0));
        Ok(Self { l2: params.get(&Self::INFO, "l2"), rate })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::tests::seen;

    #[test]
    fn it_always_shrinks_and_steps_below_margin_one() {
        let rule = Hinge { l2: 0.5, rate: Schedule::Constant(0.5) };
        assert_eq!(rule.step(&seen(1.0)), Some(Step { tau: 0.5, keep: 0.75, extra: 0.0 }));
        assert_eq!(rule.step(&seen(1.1)), Some(Step { tau: 0.0, keep: 0.75, extra: 0.0 }));
    }
}
