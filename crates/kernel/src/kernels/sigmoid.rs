//! The hyperbolic tangent of the product. Not positive definite: norms may come out negative, and no mistake
//! bound holds. Here because others have it.

use super::{Ending, Formula, GAMMA, Info, Kernel, Setting};
use rosenblatt_core::{Param, Range, elementary};
use std::sync::Arc;

pub(super) const INFO: Info = Info {
    aliases: &["tanh"],
    formula: "tanh(gamma x.y + offset)",
    prefer: "only to compare with others: it is not positive definite",
    params: &[GAMMA, OFFSET],
    gamma: Some(Setting::Scale),
    positive_definite: false,
    ..Info::new("sigmoid", |values| Arc::new(Sigmoid { gamma: values[0], offset: values[1] }))
};

const OFFSET: Param =
    Param { name: "offset", meaning: "the number added to the product", default: 0.0, range: Range::Any };

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
            *sum = elementary::tanh(self.gamma * *sum + self.offset);
        }
    }

    fn ignores_zeros(&self) -> bool {
        self.offset == 0.0
    }

    fn largest(&self, _norm2: f64) -> f64 {
        1.0
    }

    fn ending(&self) -> Option<Ending> {
        Some(Ending::Tanh { gamma: self.gamma, offset: self.offset })
    }

    fn formula(&self) -> Option<Formula> {
        Some(INFO.formula([self.gamma, self.offset]))
    }
}
