//! ROMMA: the shortest vector that keeps what was learned and gets the new example right.
//!
//! All earlier examples are summed up in one constraint, `u·w ≥ ‖w‖²`; the new one adds `y u·x ≥ 1`.
//! The shortest `u` that meets both has a closed form. Mistakes obey the perceptron's bound.

use crate::params::{ParamError, Params};
use crate::rule::{Algorithm, Info, Needs, Rule, Seen, Step, Weighs};
use crate::space::Linear;

/// Relaxed online maximum margin.
#[derive(Debug, Clone)]
pub struct Romma;

/// What both ROMMA rules step by.
pub(super) fn shortest(seen: &Seen) -> Option<Step> {
    let Seen { margin, spread, norm2, .. } = *seen;
    if spread == 0.0 {
        return None;
    }
    let determinant = spread * norm2 - margin * margin;
    // No hypothesis yet, or one parallel to the example: only the example's own constraint is left. Nor is
    // the old one needed if what meets the new one alone, `y x/‖x‖²`, meets it too; that takes a short row
    // that is right by too little, so only the aggressive rule sees it.
    if determinant <= 1e-12 * spread * norm2 || margin >= spread * norm2 {
        return Some(Step { tau: 1.0 / spread, keep: 0.0, extra: 0.0 });
    }
    let keep = (spread * norm2 - margin) / determinant;
    let tau = norm2 * (1.0 - margin) / determinant;
    Some(Step { tau, keep, extra: 0.0 })
}

impl Rule for Romma {
    fn needs(&self) -> Needs {
        Needs { spread: true, norm2: true, weighs: Weighs::Visits, ..Needs::default() }
    }

    fn acts(&self, seen: &Seen) -> bool {
        seen.mistaken
    }

    fn step(&self, seen: &Seen) -> Option<Step> {
        if seen.mistaken { shortest(seen) } else { None }
    }

    fn bound(&self, radius: f64, margin: f64) -> Option<f64> {
        Some((radius / margin).powi(2))
    }
}

impl Algorithm for Romma {
    type Space = Linear;

    const INFO: Info = Info {
        summary: "on a mistake, the shortest vector that keeps the old constraint and meets the new one",
        update: "y f(x) <= 0:  w = c w + d x, shortest with w.w_old >= |w_old|^2 and y w.x >= 1",
        source: "Li and Long 2002: mistakes <= (R/margin)^2",
        prefer: "for a better margin than the perceptron's at its price",
        mistake_driven: true,
        shrinks: true,
        whole_vector: true,
        ..Info::named("romma")
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
    fn the_new_example_is_met_exactly() {
        // w = (1/4, 0), x = (1, 1), y = -1: margin -1/4, |x|^2 = 2, |w|^2 = 1/16.
        let step = Romma.step(&Seen { spread: 2.0, norm2: 1.0 / 16.0, ..seen(-0.25) }).unwrap();
        let new = (step.keep * 0.25 - step.tau, -step.tau);
        assert_eq!(new, (0.25, -1.25));
    }
}
