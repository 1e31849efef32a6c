//! Logistic regression with a penalty, solved: dual coordinate descent.
//!
//! Minimises `|w|²/2 + C Σ log(1 + e^{-y f(x)}) + l1 |w|₁`, a bias being the weight of a constant feature. Every visit
//! finds the best value of its row's dual variable, which lies strictly between 0 and C, by Newton's method: the root
//! of one increasing function that lies in a known interval, so that it is always found.

use super::svm_dual::{C, L1, TOLERANCE};
use crate::elementary::{ln, logistic};
use crate::params::{ParamError, Params};
use crate::rule::{Algorithm, Info, Needs, Rule, Seen, Step};
use crate::space::{Dual, Shape};

/// Logistic regression in the dual.
#[derive(Debug, Clone)]
pub struct LogisticDual {
    c: f64,
    l1: f64,
    tolerance: f64,
}

/// After this many halvings and Newton steps the interval is as narrow as doubles are.
const MOST_STEPS: u32 = 100;
/// A Newton step that is so short beside where it leads has arrived: what is left is about its square.
const ARRIVED: f64 = 1e-8;
/// So has a halving that is so short.
const HALVED: f64 = 1e-15;

impl LogisticDual {
    pub(super) fn of(params: &Params, info: &Info) -> Result<Self, ParamError> {
        params.check(info)?;
        let [c, l1, tolerance] = [C, L1, TOLERANCE].map(|param| params.get(info, param.name));
        Ok(Self { c, l1, tolerance })
    }

    /// The dual variable at which the objective is stationary: `z = C s(t)`, `s` being the logistic function, where
    /// `t + y f(x) + a (z - b) = 0`, `b` being its value now and `a` how fast the margin grows with it.
    fn best(&self, seen: &Seen) -> f64 {
        let (a, b) = (seen.weight * seen.spread, seen.dual);
        // As z is between 0 and C, so is what must make up for the margin.
        let (mut low, mut high) = (-seen.margin - a * (self.c - b), -seen.margin + a * b);
        let known = ln(b / (self.c - b));
        let mut t = if low <= known && known <= high { known } else { 0.5 * (low + high) };
        for _ in 0..MOST_STEPS {
            let s = logistic(t);
            let value = t + seen.margin + a * (self.c * s - b);
            if value > 0.0 {
                high = t;
            } else {
                low = t;
            }
            let newton = t - value / (1.0 + a * self.c * s * (1.0 - s));
            let (next, short) =
                if low < newton && newton < high { (newton, ARRIVED) } else { (0.5 * (low + high), HALVED) };
            let is_found = (next - t).abs() <= short * t.abs().max(1.0);
            t = next;
            if is_found {
                break;
            }
        }
        self.c * logistic(t)
    }
}

impl Rule for LogisticDual {
    fn needs(&self) -> Needs {
        Needs { spread: true, dual: true, ..Needs::default() }
    }

    fn step(&self, seen: &Seen) -> Option<Step> {
        if seen.spread == 0.0 {
            return None;
        }
        let dual = self.best(seen);
        let tau = dual - seen.dual;
        (tau != 0.0).then_some(Step { tau, keep: 1.0, extra: dual })
    }
}

impl Algorithm for LogisticDual {
    type Space = Dual;

    const INFO: Info = Info {
        aliases: &["dual-logistic", "logistic-regression"],
        summary: "logistic regression with a penalty, solved to a tolerance by dual coordinate descent",
        update: "b' minimises the dual, 0 < b' < C:  w += (b' - b) y x",
        source: "Yu, Huang and Lin 2011",
        prefer: "when probabilities matter, and nothing is to be tuned but C",
        params: &[C, L1, TOLERANCE],
        whole_vector: true,
        settles: true,
        log_odds: true,
        per_row: true,
        ..Info::named("logistic-dual")
    };

    fn new(params: &Params) -> Result<Self, ParamError> {
        Self::of(params, &Self::INFO)
    }

    fn space(&self, shape: Shape) -> Dual {
        Dual::new(shape, self.l1, self.tolerance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::tests::seen;

    #[test]
    fn the_best_variable_is_where_the_derivative_vanishes() {
        let rule = LogisticDual { c: 3.0, l1: 0.0, tolerance: 1e-3 };
        for margin in [-800.0, -3.0, 0.0, 1e-9, 2.5, 700.0] {
            for dual in [0.0, 1e-12, 1.0, 2.999, 3.0] {
                for spread in [1e-8, 1.0, 50.0, 1e6] {
                    let seen = Seen { spread, dual, ..seen(margin) };
                    let best = rule.best(&seen);
                    assert!((0.0..=3.0).contains(&best), "{seen:?}: {best}");
                    let slope = |z: f64| (z / (3.0 - z)).ln() + margin + spread * (z - dual);
                    let (below, above) = (best * (1.0 - 1e-9), best + (3.0 - best) * 1e-9);
                    let sharp = 1e-6 * (1.0 + spread + margin.abs());
                    assert!(below == 0.0 || slope(below) <= sharp, "{seen:?}: {best}");
                    assert!(above >= 3.0 || slope(above) >= -sharp, "{seen:?}: {best}");
                }
            }
        }
        // With no row but one of length 1, b = s(-b): by symmetry the same for both classes.
        let step = rule.step(&Seen { spread: 1.0, ..seen(0.0) }).unwrap();
        assert!(((step.extra / (3.0 - step.extra)).ln() + step.extra).abs() < 1e-12);
    }
}
