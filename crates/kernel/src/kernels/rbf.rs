//! The Gaussian (RBF) kernel: rows speak for the rows close to them.

use super::{Ending, Formula, GAMMA, Info, Kernel, Setting, Spectrum};
use rosenblatt_core::elementary;
use std::sync::Arc;

pub(super) const INFO: Info = Info {
    aliases: &["gaussian"],
    formula: "exp(-gamma |x - y|^2)",
    prefer: "for few features of one scale, where near rows are alike",
    params: &[GAMMA],
    gamma: Some(Setting::Scale),
    at_most_one: true,
    spectrum: Some(Spectrum::Normal),
    ..Info::new("rbf", |values| Arc::new(Rbf { gamma: values[0] }))
};

/// `exp(-gamma ‖x - y‖²)`.
#[derive(Debug, Clone, Copy)]
pub struct Rbf {
    /// How quickly nearness fades.
    pub gamma: f64,
}

impl Kernel for Rbf {
    fn finish(&self, sums: &mut [f64], norm2: f64, norms2: &[f64]) {
        for (sum, other) in sums.iter_mut().zip(norms2) {
            // Rounding may leave a little less than nothing between a row and its like.
            let distance2 = (norm2 + other - 2.0 * *sum).max(0.0);
            *sum = elementary::exp(-self.gamma * distance2);
        }
    }

    fn largest(&self, _norm2: f64) -> f64 {
        1.0
    }

    fn ending(&self) -> Option<Ending> {
        Some(Ending::Gauss { gamma: self.gamma })
    }

    fn formula(&self) -> Option<Formula> {
        Some(INFO.formula([self.gamma]))
    }
}
