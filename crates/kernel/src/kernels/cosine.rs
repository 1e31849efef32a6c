//! The angle between two rows, whatever their lengths.

use super::{Ending, Formula, Info, Kernel};
use std::sync::Arc;

pub(super) const INFO: Info = Info {
    formula: "x.y / (|x| |y|)",
    prefer: "for texts of different lengths",
    at_most_one: true,
    ..Info::new("cosine", |_| Arc::new(Cosine))
};

/// `x·y / (‖x‖ ‖y‖)`, and 0 where a row is zero.
#[derive(Debug, Clone, Copy)]
pub struct Cosine;

impl Kernel for Cosine {
    fn finish(&self, sums: &mut [f64], norm2: f64, norms2: &[f64]) {
        for (sum, other) in sums.iter_mut().zip(norms2) {
            let lengths = (norm2 * other).sqrt();
            *sum = if lengths > 0.0 { *sum / lengths } else { 0.0 };
        }
    }

    fn ignores_zeros(&self) -> bool {
        true
    }

    fn largest(&self, norm2: f64) -> f64 {
        // The product of two squared lengths is taken on the way.
        if (norm2 * norm2).is_finite() { 1.0 } else { f64::INFINITY }
    }

    fn ending(&self) -> Option<Ending> {
        Some(Ending::Angle)
    }

    fn formula(&self) -> Option<Formula> {
        Some(INFO.formula([]))
    }
}
