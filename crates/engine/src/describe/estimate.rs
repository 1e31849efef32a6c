//! How the error is estimated, and how scores become probabilities.

use crate::defaults;
use serde::{Deserialize, Serialize};

/// How the error is estimated.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Plan {
    /// This share of the rows is held out; none if it is 0.
    HoldOut(f64),
    /// The rows are parted in so many folds.
    Folds(usize),
}

impl Default for Plan {
    fn default() -> Self {
        Self::HoldOut(defaults::HOLD_OUT)
    }
}

/// How scores become probabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Calibrate {
    /// The usual way, if rows are held out and memory allows it.
    #[default]
    Auto,
    /// Not at all.
    Off,
    /// By Platt's sigmoid.
    Platt,
    /// By isotonic regression.
    Isotonic,
}

rosenblatt_core::named!(Calibrate, "calibrate",
    "auto" = Self::Auto, "platt, if rows are held out and memory allows it";
    "off" or "none" = Self::Off, "no probabilities";
    "platt" or "sigmoid" = Self::Platt, "a sigmoid: two numbers per curve, so that few rows suffice";
    "isotonic" = Self::Isotonic, "steps that never fall: any shape, but better from a thousand rows on";
);

impl Calibrate {
    pub(crate) fn method(self) -> Option<Method> {
        match self {
            Self::Auto => Some(defaults::CALIBRATION),
            Self::Off => None,
            Self::Platt => Some(Method::Platt),
            Self::Isotonic => Some(Method::Isotonic),
        }
    }
}

/// How scores become probabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// A sigmoid, fitted by maximum likelihood. Two numbers per curve, so that few rows suffice.
    Platt,
    /// Steps that never fall, joined by lines. Follows any shape, and needs a thousand rows or more.
    Isotonic,
}

rosenblatt_core::named!(Method, "calibration",
    "platt" or "sigmoid" = Self::Platt, "a sigmoid: two numbers per curve, so that few rows suffice";
    "isotonic" = Self::Isotonic, "steps that never fall: any shape, but better from a thousand rows on";
);
