//! Logistic regression by stochastic gradient: a neighbour of the family, for comparison.
//!
//! Steps in every round, by how surprised it is: `1 / (1 + e^{y f(x)})`.

use crate::elementary::logistic;
use crate::params::{Param, ParamError, Params, Range};
use crate::rule::{Algorithm, Info, Law, Rule, Seen, Step};
use crate::schedule::Schedule;
use crate::space::Linear;

/// Gradient steps on the log loss.
#[derive(Debug, Clone)]
pub struct Logistic {
    l2: f64,
    rate: Schedule,
}

impl Rule for Logistic {
    fn step(&self, seen: &Seen) -> Option<Step> {
        let rate = self.rate.rate(seen.updates + 1);
        let surprise = logistic(-seen.margin);
        let keep = (1.0 - rate * self.l2).max(0.0);
        Some(Step { tau: rate * surprise, keep, extra: 0.0 })
    }
}

impl Algorithm for Logistic {
    type Space = Linear;

    const INFO: Info = Info {
        aliases: &["log"],
        summary: "logistic regression by stochastic gradient, for comparison",
        update: "always:  w = (1 - rate l2) w + rate y x / (1 + exp(y f(x)))",
        source: "Cox 1958; stochastic gradient after Robbins and Monro 1951",
        prefer: "when calibrated probabilities matter more than speed",
        params: &[Param {
            name: "l2",
            meaning: "strength of the penalty on large weights",
            default: 0.0,
            range: Range::NonNegative,
        }],
        rate: Some("1; 1/sqrt(k) with l2"),
        shrinks: true,
        log_odds: true,
        exempt: &[(Law::RateScale, "the size of a step depends on the size of the weights")],
        own_loop: true,
        ..Info::named("logistic")
    };

    fn new(params: &Params) -> Result<Self, ParamError> {
        params.check(&Self::INFO)?;
        let l2 = params.get(&Self::INFO, "l2");
        // The average, which is the usual read-out, settles without a falling rate; one that falls with every
        // row stands still before rows of length 1 are learned. A penalty pulls back by the rate, so beside
        // one it must fall.
        let suited = if l2 == 0.0 { Schedule::Constant(1.0) } else { Schedule::InverseSqrt(1.0) };
        Ok(Self { l2, rate: params.rate_or(suited) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::tests::seen;

    #[test]
    fn steps_shrink_with_certainty_and_never_overflow() {
        let rule = Logistic { l2: 0.0, rate: Schedule::Constant(1.0) };
        let tau = |margin| rule.step(&seen(margin)).unwrap().tau;
        assert_eq!(tau(0.0), 0.5);
        assert!((tau(2.0) - 1.0 / (1.0 + 2_f64.exp())).abs() < 1e-16);
        assert_eq!((tau(1e308), tau(-1e308)), (0.0, 1.0));
    }
}
