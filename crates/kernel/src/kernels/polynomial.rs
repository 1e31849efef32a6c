//! Powers of the product: all products of up to `degree` features at once.

use super::{Ending, Formula, GAMMA, Info, Kernel, Setting, power};
use rosenblatt_core::{Param, Range};
use std::sync::Arc;

pub(super) const INFO: Info = Info {
    aliases: &["poly"],
    formula: "(gamma x.y + offset)^degree",
    prefer: "for pictures and wherever features count together; the kernel of Freund and Schapire",
    params: &[
        // Beyond the largest degree, products differ by this many orders of magnitude that only one of them counts.
        Param {
            name: "degree",
            meaning: "the degree of a polynomial",
            default: 3.0,
            range: Range::Whole(1, 64),
        },
        GAMMA,
        Param {
            name: "offset",
            meaning: "the number added to the product",
            default: 1.0,
            range: Range::NonNegative,
        },
    ],
    // Powers of products that grow with the number of features leave room for the largest of them alone.
    gamma: Some(Setting::Scale),
    ..Info::new("polynomial", |values| {
        Arc::new(Polynomial { degree: values[0] as u32, gamma: values[1], offset: values[2] })
    })
};

/// `(gamma x·y + offset)^degree`.
#[derive(Debug, Clone, Copy)]
pub struct Polynomial {
    /// The factor of the product.
    pub gamma: f64,
    /// What is added to it.
    pub offset: f64,
    /// The power.
    pub degree: u32,
}

impl Kernel for Polynomial {
    fn finish(&self, sums: &mut [f64], _norm2: f64, _norms2: &[f64]) {
        let Self { gamma, offset, degree } = *self;
        // The degrees that are used all the time, each a loop that the compiler can spread over lanes.
        match degree {
            1 => sums.iter_mut().for_each(|sum| *sum = power(gamma * *sum + offset, 1)),
            2 => sums.iter_mut().for_each(|sum| *sum = power(gamma * *sum + offset, 2)),
            3 => sums.iter_mut().for_each(|sum| *sum = power(gamma * *sum + offset, 3)),
            4 => sums.iter_mut().for_each(|sum| *sum = power(gamma * *sum + offset, 4)),
            5 => sums.iter_mut().for_each(|sum| *sum = power(gamma * *sum + offset, 5)),
            _ => sums.iter_mut().for_each(|sum| *sum = power(gamma * *sum + offset, degree)),
        }
    }

    fn ignores_zeros(&self) -> bool {
        self.offset == 0.0
    }

    fn largest(&self, norm2: f64) -> f64 {
        power(self.gamma * norm2 + self.offset, self.degree)
    }

    fn ending(&self) -> Option<Ending> {
        Some(Ending::Power { gamma: self.gamma, offset: self.offset, degree: self.degree })
    }

    fn formula(&self) -> Option<Formula> {
        Some(INFO.formula([f64::from(self.degree), self.gamma, self.offset]))
    }
}
