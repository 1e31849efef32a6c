//! Which columns matter, as a model remembers it.

use serde::{Deserialize, Serialize};

/// Of more columns than this nothing is asked, and no more are read from a file.
pub(crate) const MOST_COLUMNS: usize = 200;

/// Of more features than this no spread is kept.
pub(crate) const MOST_SPREADS: usize = 1024;

/// Which columns matter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Importance {
    /// What is lost.
    pub measure: Measure,
    /// The columns, the one that is missed most first.
    pub columns: Vec<ColumnImportance>,
    /// The standard deviation of every feature: a weight times this is what the feature contributes. Empty where features
    /// are many.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub spreads: Vec<f32>,
}

/// What is lost without a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// The mean of `-ln` of the probability of the actual class.
    LogLoss,
    /// The share of rows that are given the wrong class.
    Error,
}

/// How much a column matters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ColumnImportance {
    /// What it is called.
    pub column: String,
    /// By how much the loss rises when its values are shuffled.
    pub rise: f64,
    /// Between which numbers that lies, with 95 % confidence.
    pub interval: (f64, f64),
}

impl Importance {
    /// Whether a file may say this.
    pub(crate) fn is_possible(&self) -> bool {
        let is_finite = |column: &ColumnImportance| {
            [column.rise, column.interval.0, column.interval.1].iter().all(|number| number.is_finite())
        };
        let is_spread = |spread: &f32| spread.is_finite() && *spread >= 0.0;
        self.columns.len() <= MOST_COLUMNS
            && self.columns.iter().all(is_finite)
            && self.spreads.len() <= MOST_SPREADS
            && self.spreads.iter().all(is_spread)
    }
}
