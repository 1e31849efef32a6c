//! Nearness by the sum of distances instead of their squares: less moved by a single feature that is far off.

use super::{Formula, Gamma, Info, Kernel, Sum};
use std::sync::Arc;

pub(super) const INFO: Info = Info {
    name: "laplacian",
    aliases: &["laplace"],
    formula: "exp(-gamma sum |x - y|)",
    prefer: "where `rbf` suffers from features that are far off now and then",
    gamma: Some(Gamma::Auto),
    offset: None,
    degree: None,
    build: |numbers| Arc::new(Laplacian { gamma: numbers.gamma }),
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
            *sum = (-self.gamma * *sum).exp();
        }
    }

    fn largest(&self, _norm2: f64) -> f64 {
        1.0
    }

    fn is_at_most_one(&self) -> bool {
        true
    }

    fn formula(&self) -> Option<Formula> {
        Some(Formula { gamma: Some(self.gamma), ..Formula::named(INFO.name) })
    }
}
