//! The hyperbolic tangent of the product. Not positive definite: norms may come out negative, and no mistake
//! bound holds. Here because others have it.

use super::{Formula, Gamma, Info, Kernel};
use std::sync::Arc;

pub(super) const INFO: Info = Info {
    name: "sigmoid",
    aliases: &["tanh"],
    formula: "tanh(gamma x.y + offset)",
    prefer: "only to compare with others: it is not positive definite",
    gamma: Some(Gamma::Scale),
    offset: Some(0.0),
    degree: None,
    build: |numbers| Arc::new(Sigmoid { gamma: numbers.gamma, offset: numbers.offset }),
};

/// `tanh(gamma x·y + offset)`.
#[derive(Debug, Clone, Copy)]
pub struct Sigmoid {
    /// The factor of the product.
    pub gamma: f64,
    /// What is added to it.
    pub offset: f64,
}

impl Kernel for Sigmoid {
    fn finish(&self, sums: &mut [f64], _norm2: f64, _norms2: &[f64]) {
        for sum in sums {
            *sum = (self.gamma * *sum + self.offset).tanh();
        }
    }

    fn ignores_zeros(&self) -> bool {
        self.offset == 0.0
    }

    fn largest(&self, _norm2: f64) -> f64 {
        1.0
    }

    fn formula(&self) -> Option<Formula> {
        let Self { gamma, offset } = *self;
        Some(Formula { gamma: Some(gamma), offset: Some(offset), ..Formula::named(INFO.name) })
    }
}
