//! Passive-aggressive regression: the smallest change that brings the prediction within `epsilon` of the target.
//!
//! As for classes, `C` bounds how far a single row is trusted: a step is at most `C` long (PA-I), or `1/(2C)` is added to
//! the squared length of the row (PA-II, `squared`). With a very large `C` both are the plain rule.

use super::svm_dual::C;
use super::svr::EPSILON;
use crate::params::{Param, ParamError, Params, Range};
use crate::rule::{Algorithm, Info, Needs, Rule, Seen, Step};
use crate::space::Linear;

/// The passive-aggressive rule for numbers.
#[derive(Debug, Clone)]
pub struct PaRegression {
    c: f64,
    epsilon: f64,
    squared: bool,
}

impl Rule for PaRegression {
    fn needs(&self) -> Needs {
        Needs { spread: true, ..Needs::default() }
    }

    fn acts(&self, seen: &Seen) -> bool {
        -seen.margin > self.epsilon
    }

    fn step(&self, seen: &Seen) -> Option<Step> {
        let loss = -seen.margin - self.epsilon;
        if loss <= 0.0 || seen.spread <= 0.0 {
            return None;
        }
        let tau =
            if self.squared { loss / (seen.spread + 0.5 / self.c) } else { (loss / seen.spread).min(self.c) };
        Some(Step::of(tau))
    }
}

impl Algorithm for PaRegression {
    type Space = Linear;

    const INFO: Info = Info {
        aliases: &["pa-r"],
        summary: "the smallest change that brings the prediction within epsilon of the target",
        update: "|t - f(x)| > epsilon:  w += sign(t - f(x)) x min(C, (|t - f(x)| - epsilon) / |x|^2)",
        source: "Crammer, Dekel, Keshet, Shalev-Shwartz and Singer 2006",
        prefer: "where rows come one by one",
        params: &[
            C,
            EPSILON,
            Param {
                name: "squared",
                meaning: "1 for PA-II, whose steps shrink, 0 for PA-I, whose steps are cut at C",
                default: 0.0,
                range: Range::Flag,
            },
        ],
        numbers: true,
        ..Info::named("pa-regression")
    };

    fn new(params: &Params) -> Result<Self, ParamError> {
        params.check(&Self::INFO)?;
        let get = |name| params.get(&Self::INFO, name);
        Ok(Self { c: get("C"), epsilon: get("epsilon"), squared: get("squared") == 1.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::tests::seen;

    #[test]
    fn the_step_ends_at_the_edge_of_the_tube_unless_it_is_cut() {
        let rule = PaRegression { c: 1e300, epsilon: 0.5, squared: false };
        let at = |rule: &PaRegression, margin| rule.step(&Seen { spread: 4.0, ..seen(margin) });
        assert_eq!(at(&rule, -2.5), Some(Step::of(0.5)));
        assert_eq!(at(&rule, -0.5), None);
        assert_eq!(rule.step(&Seen { spread: 0.0, ..seen(-2.5) }), None);
        assert_eq!(at(&PaRegression { c: 0.25, ..rule.clone() }, -2.5), Some(Step::of(0.25)));
        assert_eq!(at(&PaRegression { c: 0.125, squared: true, ..rule }, -2.5), Some(Step::of(0.25)));
    }
}
