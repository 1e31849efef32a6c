//! What two histograms have in common: the smaller of each pair of bars.

use super::{Ending, Formula, Info, Kernel, Sum};
use std::sync::Arc;

pub(super) const INFO: Info = Info {
    aliases: &["histogram-intersection", "min"],
    formula: "sum min(x, y)",
    prefer: "for counts and histograms; values must not be negative",
    ..Info::new("intersection", |_| Arc::new(Intersection))
};

/// `Σ min(x_j, y_j)`.
#[derive(Debug, Clone, Copy)]
pub struct Intersection;

impl Kernel for Intersection {
    fn sum(&self) -> Sum {
        Sum::Minima
    }

    fn finish(&self, _sums: &mut [f64], _norm2: f64, _norms2: &[f64]) {}

    fn ignores_zeros(&self) -> bool {
        true
    }

    fn largest(&self, norm2: f64) -> f64 {
        // The sum of what is at most its own square, or at most 1, feature by feature, is far from any limit.
        norm2
    }

    fn ending(&self) -> Option<Ending> {
        Some(Ending::Sum)
    }

    fn formula(&self) -> Option<Formula> {
        Some(INFO.formula([]))
    }
}
