//! `MinOver`: always steps on the example with the smallest margin, right or wrong.
//!
//! `w/k` is then a Frank-Wolfe iterate on the shortest vector of the convex hull of the `y x`, so
//! `‖w‖/k` falls to the largest margin. It never ends by itself: give it a number of updates.

use crate::params::{ParamError, Params};
use crate::rule::{Algorithm, Info, Law, Rule, Seen, Step};
use crate::space::Linear;

/// The minimum-overlap rule.
#[derive(Debug, Clone)]
pub struct MinOver;

impl Rule for MinOver {
    fn step(&self, _seen: &Seen) -> Option<Step> {
        Some(Step::of(1.0))
    }
}

impl Algorithm for MinOver {
    type Space = Linear;

    const INFO: Info = Info {
        aliases: &["min-over", "minimum-overlap"],
        summary: "always steps on the example with the smallest margin",
        update: "x the worst of all:  w += y x",
        source: "Krauth and Mezard 1987: |w|/k falls to the largest margin",
        prefer: "to approach the maximum margin on small data",
        picks_worst: true,
        settles: true,
        exempt: &[
            (Law::HalfEpochs, "it looks at all rows before every step"),
            (Law::ZeroRow, "a row of zeros may be the worst one"),
            (Law::OneVsRest, "the row that is worst for one output is shown to all of them"),
        ],
        ..Info::named("minover")
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
    fn it_always_steps() {
        assert_eq!(MinOver.step(&seen(9.0)), Some(Step::of(1.0)));
    }
}
