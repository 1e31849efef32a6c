//! The table of activations: what a hidden unit makes of its sum.

use rosenblatt_core::elementary::{logistic, tanh};

/// What a hidden unit makes of its sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Activation {
    /// `max(0, z)`.
    #[default]
    Relu,
    /// The hyperbolic tangent.
    Tanh,
    /// `1 / (1 + e^-z)`.
    Logistic,
    /// The sum itself: layers of it are one linear layer, which is what makes it worth showing.
    Identity,
}

rosenblatt_core::named!(Activation, "activation",
    "relu" = Self::Relu, "max(0, z); quick, and what deep networks use";
    "tanh" = Self::Tanh, "between -1 and 1, smooth";
    "logistic" or "sigmoid" = Self::Logistic, "between 0 and 1, smooth";
    "identity" or "linear" = Self::Identity, "the sum itself, so that all layers together are one";
);

impl Activation {
    /// What a unit says to its sum `z`.
    #[inline(always)]
    pub fn of(self, z: f64) -> f64 {
        match self {
            Self::Relu => {
                if z > 0.0 {
                    z
                } else {
                    0.0
                }
            }
            Self::Tanh => tanh(z),
            Self::Logistic => logistic(z),
            Self::Identity => z,
        }
    }

    /// The derivative at a sum of which it made `value`, which alone decides it.
    #[inline(always)]
    pub fn derivative(self, value: f64) -> f64 {
        match self {
            Self::Relu => f64::from(u8::from(value > 0.0)),
            Self::Tanh => 1.0 - value * value,
            Self::Logistic => value * (1.0 - value),
            Self::Identity => 1.0,
        }
    }

    /// How wide the weights of a unit with this many inputs, in a layer of this many units, are drawn: evenly
    /// from minus this to this. He's for units that are silent half of the time, Glorot's for the others.
    pub fn spread(self, n_inputs: usize, n_units: usize) -> f64 {
        match self {
            Self::Relu => (6.0 / n_inputs.max(1) as f64).sqrt(),
            _ => (6.0 / (n_inputs + n_units).max(1) as f64).sqrt(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rosenblatt_core::Choices;

    #[test]
    fn slopes_are_those_of_the_curves() {
        for named in Activation::ALL {
            let activation: Activation = named.name.parse().unwrap();
            for z in [-30.0, -2.5, -0.7, 0.3, 1.0, 4.0, 20.0] {
                let h = 1e-5;
                let rise = (activation.of(z + h) - activation.of(z - h)) / (2.0 * h);
                assert!((rise - activation.derivative(activation.of(z))).abs() < 1e-9, "{} {z}", named.name);
            }
            assert!(activation.of(-1e6).is_finite() && activation.of(1e6).is_finite());
        }
    }
}
