//! A user's own kernel, from a function of two rows.

use super::{Kernel, Sum};
use std::fmt;

/// A kernel from a function of two rows of equal length, evaluated pair by pair.
///
/// ```
/// use rosenblatt_kernel::{FromRows, Kernel};
///
/// let shared_signs = FromRows(|one: &[f64], other: &[f64]| {
///     one.iter().zip(other).filter(|(x, y)| *x * *y > 0.0).count() as f64
/// });
/// assert_eq!(shared_signs.of_rows(&[1.0, -2.0, 3.0], &[5.0, -1.0, 0.0]), 2.0);
/// ```
pub struct FromRows<F>(pub F);

impl<F> fmt::Debug for FromRows<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FromRows")
    }
}

impl<F: Fn(&[f64], &[f64]) -> f64 + Send + Sync> Kernel for FromRows<F> {
    fn sum(&self) -> Sum {
        Sum::Rows
    }

    fn finish(&self, _sums: &mut [f64], _norm2: f64, _norms2: &[f64]) {}

    fn of_rows(&self, one: &[f64], other: &[f64]) -> f64 {
        (self.0)(one, other)
    }

    fn largest(&self, _norm2: f64) -> f64 {
        // Only its author knows.
        1.0
    }
}
