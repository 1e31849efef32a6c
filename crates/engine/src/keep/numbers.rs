//! Models that predict numbers: their predictions, how far off these are, and between what bounds the truth lies.
//!
//! A model keeps what was predicted of rows that it did not learn from. Their residuals say how wide an interval must be:
//! of the next row, drawn as these were, the residual is among the smallest `share` of them with at least that
//! probability, whatever the distribution (conformal prediction; Vovk, Gammerman and Shafer 2005).

use crate::error::{Error, refuse};
use crate::keep::model::{Model, Sample};
use crate::statistics::interval_of_mean;
use crate::targets::{middles, targets};
use crate::task::Task;
use rosenblatt_data::{Dataset, View};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

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

/// How far off predictions were of rows that were not learned from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct NumberEstimate {
    /// How many rows.
    pub rows: u64,
    /// The root of the mean squared residual.
    pub rmse: Spread,
    /// The mean absolute residual.
    pub mae: Spread,
    /// The share of the variance that is explained: 1 is perfect, 0 as good as always saying the mean.
    pub r2: Spread,
    /// The root mean squared residual of always saying the mean of the rows learned from.
    pub mean_rmse: f64,
    /// The mean absolute residual of always saying the median of the rows learned from.
    pub median_mae: f64,
}

impl NumberEstimate {
    /// Judges predictions beside those of always saying the mean and the median.
    pub fn new(targets: &[f64], predicted: &[f64], means: &[f64], medians: &[f64]) -> Self {
        let residuals =
            |numbers: &[f64]| targets.iter().zip(numbers).map(|(t, p)| t - p).collect::<Vec<f64>>();
        let squares = |numbers: &[f64]| residuals(numbers).iter().map(|r| r * r).collect::<Vec<f64>>();
        let sizes = |numbers: &[f64]| residuals(numbers).iter().map(|r| r.abs()).collect::<Vec<f64>>();
        let (mse, (low, high)) = interval_of_mean(&squares(predicted));
        let (mae, (low_mae, high_mae)) = interval_of_mean(&sizes(predicted));
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
    fn reach(&self, share: f64) -> Option<f64> {
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

impl Model {
    /// The number that is predicted of one row.
    ///
    /// ```
    /// use rosenblatt::builders::Ridge;
    /// use rosenblatt::Dataset;
    ///
    /// let data = Dataset::from_rows(&[[0.0], [1.0], [2.0], [3.0]], &["1", "3", "5", "7"]);
    /// let model = Ridge::new().fit(&data)?;
    /// assert!((model.predict_number(&[10.0])? - 21.0).abs() < 1e-9);
    /// assert!(model.predict(&[10.0]).is_err());
    /// # Ok::<(), rosenblatt::Error>(())
    /// ```
    pub fn predict_number<'a>(&self, row: impl Into<Sample<'a>>) -> Result<f64, Error> {
        self.check_task(Task::Numbers)?;
        let scores = self.decision_function(row)?;
        let number = scores.first().copied().filter(|number| number.is_finite());
        number.ok_or(Error::Endless)
    }

    /// The number that is predicted of every row. The rows are as the model sees them.
    pub fn predict_numbers(&self, rows: View<'_>) -> Result<Vec<f64>, Error> {
        let all: Vec<u32> = (0..rows.len() as u32).collect();
        self.predict_some(rows, &all)
    }

    /// The same of some of the rows, in their order.
    pub(crate) fn predict_some(&self, rows: View<'_>, some: &[u32]) -> Result<Vec<f64>, Error> {
        self.check_task(Task::Numbers)?;
        self.check_width(rows)?;
        let mut numbers = Vec::with_capacity(some.len());
        self.each_of(rows, some, |_, _, scores| numbers.push(scores[0]));
        if numbers.iter().all(|number| number.is_finite()) {
            return Ok(numbers);
        }
        crate::rows::check_finite(rows)?;
        Err(Error::Endless)
    }

    /// How far off it is on these rows, whose labels are numbers; beside the mean and the median of these very rows.
    pub fn evaluate_numbers(&self, data: &Dataset) -> Result<NumberEstimate, Error> {
        self.check_task(Task::Numbers)?;
        let by_label = targets(&data.into())?;
        let truths: Vec<f64> = data.classes().iter().map(|&class| by_label[class as usize]).collect();
        let numbers = self.predict_numbers(data.view())?;
        let (mean, median) = middles(truths.clone());
        Ok(NumberEstimate::new(&truths, &numbers, &vec![mean; truths.len()], &vec![median; truths.len()]))
    }

    /// How far from its prediction the number of a new row lies with probability `share`, at most: what the residuals of
    /// held-out rows say. The error says what is lacking.
    pub fn reach(&self, share: f64) -> Result<f64, Error> {
        self.check_task(Task::Numbers)?;
        if !(0.0 < share && share < 1.0) {
            return refuse("interval", "between 0 and 1", share);
        }
        let Some(held) = self.held_numbers() else { return Err(Error::NoResiduals) };
        held.reach(share).ok_or(Error::FewResiduals { share, rows: held.rows.len() })
    }

    /// What was predicted of rows that were not learned from, where that is numbers.
    pub fn held_numbers(&self) -> Option<&Arc<HeldNumbers>> {
        self.provenance.numbers.as_ref()
    }
}
