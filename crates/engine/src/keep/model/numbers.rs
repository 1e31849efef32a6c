//! A model that predicts numbers, at work.

use super::{HeldNumbers, Model, NumberEstimate, Sample};
use crate::error::{Error, refuse};
use crate::targets::{middles, targets};
use crate::task::Task;
use rosenblatt_data::{Dataset, View};
use std::sync::Arc;

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

    /// Its errors on these rows, whose labels are numbers, beside those of their mean and median.
    pub fn evaluate_numbers(&self, data: &Dataset) -> Result<NumberEstimate, Error> {
        let all: Vec<u32> = (0..data.len() as u32).collect();
        Ok(self.judge_numbers(data, &all)?.estimate)
    }

    /// Its predictions for some of these rows, and their errors.
    pub fn judge_numbers(&self, data: &Dataset, rows: &[u32]) -> Result<HeldNumbers, Error> {
        self.check_task(Task::Numbers)?;
        let by_label = targets(&data.into())?;
        let truths: Vec<f64> =
            rows.iter().map(|&row| by_label[data.classes()[row as usize] as usize]).collect();
        let predicted = self.predict_some(data.view(), rows)?;
        let (mean, median) = middles(truths.clone());
        let (means, medians) = (vec![mean; truths.len()], vec![median; truths.len()]);
        let estimate = NumberEstimate::new(&truths, &predicted, &means, &medians, None);
        Ok(HeldNumbers::new(rows.to_vec(), truths, predicted, estimate))
    }

    /// How far from its prediction the number of a new row lies with probability `share`, at most: what the residuals of
    /// held-out rows say. The error says what is lacking.
    pub fn reach(&self, share: f64) -> Result<f64, Error> {
        self.check_task(Task::Numbers)?;
        if !(0.0 < share && share < 1.0) {
            return refuse("interval", "between 0 and 1", share);
        }
        let held = self.held_numbers().filter(|held| !held.rows.is_empty()).ok_or(Error::NoResiduals)?;
        held.reach(share).ok_or(Error::FewResiduals { share, rows: held.rows.len() })
    }

    /// What was predicted of rows that were not learned from, where that is numbers.
    pub fn held_numbers(&self) -> Option<&Arc<HeldNumbers>> {
        self.provenance.numbers.as_ref()
    }
}
