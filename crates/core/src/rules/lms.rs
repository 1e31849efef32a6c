//! LMS, the rule of the ADALINE: the perceptron's sibling of 1960, which learns numbers.
//!
//! Every row moves the weights along itself by the residual `t - f(x)`: a gradient step on half its square. A rate above
//! `2 / |x|^2` overshoots by more than it corrects, and the weights grow without end; then choose a smaller one.

use crate::params::{ParamError, Params};
use crate::rule::{Algorithm, Info, Law, Rule, Seen, Step};
use crate::schedule::Schedule;
use crate::space::Linear;

/// Gradient steps on the squared error.
#[derive(Debug, Clone)]
pub struct Lms {
    rate: Schedule,
}

impl Rule for Lms {
    fn step(&self, seen: &Seen) -> Option<Step> {
        Some(Step::of(self.rate.rate(seen.updates + 1) * -seen.margin))
    }
}

impl Algorithm for Lms {
    type Space = Linear;

    const INFO: Info = Info {
        aliases: &["adaline", "widrow-hoff", "delta-rule"],
        summary: "gradient steps on the squared error, row by row: the ADALINE",
        update: "always:  w += rate (t - f(x)) x",
        source: "Widrow and Hoff 1960",
        prefer: "to see the sibling of the perceptron at work, or where rows come one by one",
        rate: Some("0.01"),
        numbers: true,
        exempt: &[(Law::RateScale, "the size of a step depends on the size of the weights")],
        ..Info::named("lms")
    };

    fn new(params: &Params) -> Result<Self, ParamError> {
        params.check(&Self::INFO)?;
        Ok(Self { rate: params.rate_or(Schedule::Constant(0.01)) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::tests::seen;

    #[test]
    fn the_step_is_the_residual_times_the_rate() {
        let rule = Lms { rate: Schedule::Constant(0.5) };
        assert_eq!(rule.step(&seen(-3.0)), Some(Step::of(1.5)));
    }
}
