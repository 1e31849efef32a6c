//! How the error is estimated, and how scores become probabilities.

use crate::defaults;
use rosenblatt_data::Dataset;
use serde::{Deserialize, Serialize};

/// How the error is estimated.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Plan {
    /// Five folds of rows that are in memory and not many, so that the estimate does not hang on which of them were held
    /// out; of more, a fifth is held out.
    #[default]
    Auto,
    /// This share of the rows is held out; none if it is 0.
    HoldOut(f64),
    /// The rows are parted in this many folds.
    Folds(usize),
}

impl Plan {
    /// What it comes to for these rows, whose labels are classes unless they are `numbers`.
    pub(crate) fn for_rows(self, data: &Dataset, numbers: bool) -> Self {
        let mut counts = vec![0_usize; data.labels().len()];
        data.classes().iter().for_each(|&class| counts[class as usize] += 1);
        // In every fold, two classes must be left to learn from.
        let is_shared = numbers || counts.iter().filter(|count| **count >= 2).count() >= 2;
        let is_small = data.len() <= defaults::FOLDED_ROWS && data.n_values() <= defaults::FOLDED_VALUES;
        match self {
            Self::Auto if is_shared && is_small => Self::Folds(defaults::FOLDS.min(data.len())),
            Self::Auto => Self::HoldOut(defaults::HOLD_OUT),
            chosen => chosen,
        }
    }

    /// The share that is held out of rows that cannot be parted in folds; `None` if that is asked for all the same.
    pub(crate) fn share(self) -> Option<f64> {
        match self {
            Self::Auto => Some(defaults::HOLD_OUT),
            Self::HoldOut(share) => Some(share),
            Self::Folds(_) => None,
        }
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
    "auto" = Self::Auto, "platt, if rows are held out and memory allows it; of networks and of logistic rules for two classes what their scores stand for, unless platt is measurably better";
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
    /// Of scores that were learned as logarithms of odds, the probabilities that they stand for.
    Softmax,
}

rosenblatt_core::named!(Method, "calibration",
    "platt" or "sigmoid" = Self::Platt, "a sigmoid: two numbers per curve, so that few rows suffice";
    "isotonic" = Self::Isotonic, "steps that never fall: any shape, but better from a thousand rows on";
    "softmax" = Self::Softmax, "what scores stand for that were learned as logarithms of odds";
);
