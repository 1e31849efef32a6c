//! Which columns matter, as a model remembers it.

use serde::{Deserialize, Serialize};

/// Of more columns than this nothing is asked, and no more are read from a file.
pub(crate) const MOST_COLUMNS: usize = 200;

/// Of more features than this, only how the leading ones vary is kept; no more are read from a file.
pub(crate) const MOST_VARIATIONS: usize = 1024;

/// Which columns matter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Importance {
    /// What is lost.
    pub measure: Measure,
    /// The columns, the one that is missed most first.
    pub columns: Vec<ColumnImportance>,
}

/// How a feature varies from row to row.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(into = "(u32, f32, f32, f32)", from = "Stored")]
pub struct Variation {
    /// Which feature.
    pub feature: u32,
    /// Its standard deviation: a weight times this is what the feature contributes.
    pub deviation: f32,
    /// The share of the rows in which it is not zero.
    pub share: f32,
    /// Its mean over the rows.
    pub mean: f32,
}

impl From<Variation> for (u32, f32, f32, f32) {
    fn from(Variation { feature, deviation, share, mean }: Variation) -> Self {
        (feature, deviation, share, mean)
    }
}

/// As files have it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Stored {
    Whole(u32, f32, f32, f32),
    /// What files of the first builds lack. Of what is 0 or 1, the share of rows is the mean.
    WithoutMean(u32, f32, f32),
}

impl From<Stored> for Variation {
    fn from(stored: Stored) -> Self {
        let (feature, deviation, share, mean) = match stored {
            Stored::Whole(feature, deviation, share, mean) => (feature, deviation, share, mean),
            Stored::WithoutMean(feature, deviation, share) => (feature, deviation, share, share),
        };
        Self { feature, deviation, share, mean }
    }
}

impl Variation {
    /// Whether a file may say this of a model that is so wide.
    pub(crate) fn are_possible(all: &[Self], width: usize) -> bool {
        let is_possible = |one: &Self| {
            (one.feature as usize) < width
                && one.deviation.is_finite()
                && one.deviation >= 0.0
                && one.mean.is_finite()
                && (0.0..=1.0).contains(&one.share)
        };
        all.len() <= MOST_VARIATIONS
            && all.iter().all(is_possible)
            && all.is_sorted_by(|a, b| a.feature < b.feature)
    }
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
        self.columns.len() <= MOST_COLUMNS && self.columns.iter().all(is_finite)
    }
}
