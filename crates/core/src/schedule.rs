//! Learning rates: how long the k-th step is.
//!
//! `k` counts the updates of an output, from 1, as in the textbooks' variable increments. Separation
//! is reached on separable data whenever `Σ η_k` diverges and `Σ η_k² / (Σ η_k)²` vanishes; all named
//! schedules here meet that for powers up to 1.

use crate::range::{ParamError, Range};
use std::fmt;
use std::sync::Arc;

/// A learning rate for every step.
#[derive(Clone)]
pub enum Schedule {
    /// The same rate throughout.
    Constant(f64),
    /// `rate / k`.
    Inverse(f64),
    /// `rate / √k`.
    InverseSqrt(f64),
    /// `rate / k^power`.
    InverseScaling {
        /// The rate of the first step.
        rate: f64,
        /// How fast it falls.
        power: f64,
    },
    /// Whatever the user's function says for step `k`.
    Custom(Arc<dyn Fn(u64) -> f64 + Send + Sync>),
}

impl Schedule {
    /// The rate of step `k`, counted from 1.
    #[inline(always)]
    pub fn rate(&self, k: u64) -> f64 {
        if let Self::Constant(rate) = self { *rate } else { self.varying_rate(k) }
    }

    /// On its own: the training loop mostly steps at a constant rate.
    #[inline(never)]
    fn varying_rate(&self, k: u64) -> f64 {
        match self {
            Self::Constant(rate) => *rate,
            Self::Inverse(rate) => rate / k as f64,
            Self::InverseSqrt(rate) => rate / (k as f64).sqrt(),
            Self::InverseScaling { rate, power } => rate / (k as f64).powf(*power),
            Self::Custom(function) => function(k),
        }
    }

    /// The same schedule with every rate multiplied by `factor`.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        match self {
            Self::Constant(rate) => Self::Constant(rate * factor),
            Self::Inverse(rate) => Self::Inverse(rate * factor),
            Self::InverseSqrt(rate) => Self::InverseSqrt(rate * factor),
            Self::InverseScaling { rate, power } => {
                Self::InverseScaling { rate: rate * factor, power: *power }
            }
            Self::Custom(function) => {
                let function = Arc::clone(function);
                Self::Custom(Arc::new(move |k| factor * function(k)))
            }
        }
    }

    pub(crate) fn check(&self) -> Result<(), ParamError> {
        let (rate, power) = match self {
            Self::Constant(rate) | Self::Inverse(rate) | Self::InverseSqrt(rate) => (*rate, 0.0),
            Self::InverseScaling { rate, power } => (*rate, *power),
            Self::Custom(_) => return Ok(()),
        };
        let check = |name, range: Range, value| {
            if range.holds(value) { Ok(()) } else { Err(ParamError::OutOfRange { name, range, value }) }
        };
        check("rate", Range::Positive, rate)?;
        check("power", Range::NonNegative, power)
    }
}

impl Default for Schedule {
    fn default() -> Self {
        Self::Constant(1.0)
    }
}

impl fmt::Debug for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant(rate) => write!(f, "{rate}"),
            Self::Inverse(rate) => write!(f, "{rate}/k"),
            Self::InverseSqrt(rate) => write!(f, "{rate}/sqrt(k)"),
            Self::InverseScaling { rate, power } => write!(f, "{rate}/k^{power}"),
            Self::Custom(_) => f.write_str("custom"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_fall_as_they_say() {
        assert_eq!(Schedule::Constant(0.5).rate(9), 0.5);
        assert_eq!(Schedule::Inverse(1.0).rate(4), 0.25);
        assert_eq!(Schedule::InverseSqrt(1.0).rate(4), 0.5);
        assert_eq!(Schedule::InverseScaling { rate: 2.0, power: 2.0 }.rate(2), 0.5);
        assert_eq!(Schedule::Custom(Arc::new(|k| k as f64)).scaled(2.0).rate(3), 6.0);
        assert!(Schedule::Constant(-1.0).check().is_err());
    }
}
