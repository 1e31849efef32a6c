//! How far off predicted numbers are, and between what bounds the truth lies.
//!
//! A model keeps what was predicted of rows that it did not learn from. Their residuals say how wide an interval must be:
//! of the next row, drawn as these were, the residual is among the smallest `share` of them with about that probability,
//! whatever the distribution (conformal prediction; Vovk, Gammerman and Shafer 2005). Of one part that is held out and not
//! learned from later, it is at least that; residuals of folds are those of models that learned from fewer rows.

use crate::statistics::{interval_of_mean, mean_by_group};
use serde::{Deserialize, Serialize};

/// A figure, and between which numbers it lies with 95 % confidence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Spread {
    /// The figure.
    pub value: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The errors of predictions for held-out rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct NumberEstimate {
    /// How many rows.
    pub rows: u64,
    /// The root of the mean squared residual.
    pub rmse: Spread,
    /// The mean absolute residual.
    pub mae: Spread,
    /// The share of the variance that is explained: 1 is perfect, 0 as good as always predicting the mean.
    pub r2: Spread,
    /// The root mean squared residual of always predicting the mean of the rows learned from.
    pub mean_rmse: f64,
    /// The mean absolute residual of always predicting the median of the rows learned from.
    pub median_mae: f64,
}

impl NumberEstimate {
    /// Judges predictions beside those of always predicting the mean and the median. Rows of a group, where there are groups,
    /// are off together: the intervals are those of new groups.
    pub fn new(
        targets: &[f64],
        predicted: &[f64],
        means: &[f64],
        medians: &[f64],
        groups: Option<&[u32]>,
    ) -> Self {
        let sure = |numbers: &[f64]| match groups.and_then(|groups| mean_by_group(numbers, groups)) {
            Some((mean, reach, _)) => (mean, (mean - reach, mean + reach)),
            None => interval_of_mean(numbers),
        };
        let residuals =
            |numbers: &[f64]| targets.iter().zip(numbers).map(|(t, p)| t - p).collect::<Vec<f64>>();
        let squares = |numbers: &[f64]| residuals(numbers).iter().map(|r| r * r).collect::<Vec<f64>>();
        let sizes = |numbers: &[f64]| residuals(numbers).iter().map(|r| r.abs()).collect::<Vec<f64>>();
        let (mse, (low, high)) = sure(&squares(predicted));
        let (mae, (low_mae, high_mae)) = sure(&sizes(predicted));
        let (mean, _) = interval_of_mean(targets);
        let (variance, _) = interval_of_mean(&squares(&vec![mean; targets.len()]));
        // Targets that are all alike have no variance to explain.
        let r2 = |mse: f64| if variance > 0.0 { 1.0 - mse / variance } else { 0.0 };
        let (mean_mse, _) = interval_of_mean(&squares(means));
        let (median_mae, _) = interval_of_mean(&sizes(medians));
        let root = |square: f64| square.max(0.0).sqrt();
        Self {
            rows: targets.len() as u64,
            rmse: Spread { value: root(mse), low: root(low), high: root(high) },
            mae: Spread { value: mae, low: low_mae.max(0.0), high: high_mae },
            r2: Spread { value: r2(mse), low: r2(high), high: r2(low.max(0.0)) },
            mean_rmse: root(mean_mse),
            median_mae,
        }
    }

    fn is_possible(&self) -> bool {
        let Self { rmse, mae, r2, mean_rmse, median_mae, .. } = self;
        let ends = [rmse, mae, r2].into_iter().flat_map(|spread| [spread.value, spread.low, spread.high]);
        ends.chain([*mean_rmse, *median_mae]).all(f64::is_finite)
    }
}

/// What was predicted of rows that were not learned from; of very many, a sample.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct HeldNumbers {
    /// Their numbers, from 0, ascending.
    pub rows: Vec<u32>,
    /// What was to be predicted.
    pub targets: Vec<f64>,
    /// What was predicted.
    pub predicted: Vec<f64>,
    /// What all of them come to, those that are not kept among them.
    pub estimate: NumberEstimate,
}

impl HeldNumbers {
    pub(crate) fn new(
        rows: Vec<u32>,
        targets: Vec<f64>,
        predicted: Vec<f64>,
        estimate: NumberEstimate,
    ) -> Self {
        Self { rows, targets, predicted, estimate }
    }

    /// What cannot be, if anything.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        let n_rows = self.rows.len();
        if self.targets.len() != n_rows
            || self.predicted.len() != n_rows
            || n_rows as u64 > self.estimate.rows
        {
            return Some("it should have a target and a prediction for each held-out row");
        }
        if !self.targets.iter().chain(&self.predicted).all(|value| value.is_finite()) {
            return Some("held-out targets and predictions should be finite numbers");
        }
        (!self.estimate.is_possible()).then_some("what it says of held-out rows is no number")
    }

    /// How far from its prediction the number of a new row lies with this probability, at most; nothing if there are too
    /// few rows to tell.
    pub fn reach(&self, share: f64) -> Option<f64> {
        let mut sizes: Vec<f64> = self
            .targets
            .iter()
            .zip(&self.predicted)
            .map(|(target, numbers)| (target - numbers).abs())
            .collect();
        sizes.sort_by(f64::total_cmp);
        let rank = ((sizes.len() + 1) as f64 * share).ceil() as usize;
        sizes.get(rank.checked_sub(1)?).copied()
    }
}
