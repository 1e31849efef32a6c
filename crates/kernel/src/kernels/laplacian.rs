//! Nearness by the sum of distances instead of their squares: less moved by a single feature that is far off.

use super::{Ending, Formula, GAMMA, Info, Kernel, Setting, Spectrum, Sum};
use rosenblatt_core::elementary;
use std::sync::Arc;

pub(super) const INFO: Info = Info {
    aliases: &["laplace"],
    formula: "exp(-gamma sum |x - y|)",
    prefer: "where outliers in features hurt `rbf`",
    params: &[GAMMA],
    gamma: Some(Setting::Auto),
    at_most_one: true,
    spectrum: Some(Spectrum::Cauchy),
    ..Info::new("laplacian", |values| Arc::new(Laplacian { gamma: values[0] }))
};

/// `exp(-gamma Σ|x_j - y_j|)`.
#[derive(Debug, Clone, Copy)]
pub struct Laplacian {
    /// How quickly nearness fades.
    pub gamma: f64,
}

impl Kernel for Laplacian {
    fn sum(&self) -> Sum {
        Sum::Distances
    }

    fn finish(&self, sums: &mut [f64], _norm2: f64, _norms2: &[f64]) {
        for sum in sums {
            *sum = elementary::exp(-self.gamma * *sum);
        }
    }

    fn largest(&self, _norm2: f64) -> f64 {
        1.0
    }

    fn ending(&self) -> Option<Ending> {
        Some(Ending::Decay { gamma: self.gamma })
    }

    fn formula(&self) -> Option<Formula> {
        Some(INFO.formula([self.gamma]))
    }
}
