//! Values computed elsewhere: column `j` of a row is its kernel value with row `j`.
//!
//! The training data is a square matrix. A support vector is then known by its number alone: it is stored as the
//! unit vector of that number, whose product with a row is the value the row has there.

use super::{Formula, Info, Kernel};
use std::sync::Arc;

pub(super) const INFO: Info = Info {
    formula: "column j of a row is its value with row j",
    prefer: "for kernels of strings, graphs or anything else that is not a row of numbers",
    by_number: true,
    ..Info::new("precomputed", |_| Arc::new(Precomputed))
};

/// The value in the column of the other row.
#[derive(Debug, Clone, Copy)]
pub struct Precomputed;

impl Kernel for Precomputed {
    fn finish(&self, _sums: &mut [f64], _norm2: f64, _norms2: &[f64]) {}

    fn by_number(&self) -> bool {
        true
    }

    fn largest(&self, norm2: f64) -> f64 {
        norm2.sqrt()
    }

    fn formula(&self) -> Option<Formula> {
        Some(INFO.formula([]))
    }
}
