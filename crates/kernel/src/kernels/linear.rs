//! The product itself: the perceptron of the features, kept as the rows it stepped along.

use super::{Ending, Formula, Info, Kernel};
use std::sync::Arc;

pub(super) const INFO: Info = Info {
    aliases: &["dot"],
    formula: "x.y",
    prefer: "to compare; without a kernel the same is learned faster",
    ..Info::new("linear", |_| Arc::new(Linear))
};

/// `x·y`.
#[derive(Debug, Clone, Copy)]
pub struct Linear;

impl Kernel for Linear {
    fn finish(&self, _sums: &mut [f64], _norm2: f64, _norms2: &[f64]) {}

    fn ignores_zeros(&self) -> bool {
        true
    }

    fn largest(&self, norm2: f64) -> f64 {
        norm2
    }

    fn ending(&self) -> Option<Ending> {
        Some(Ending::Sum)
    }

    fn formula(&self) -> Option<Formula> {
        Some(INFO.formula([]))
    }
}
