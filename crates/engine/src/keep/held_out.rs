//! What was predicted of rows that were not learned from: what a model that has learned from all rows since is judged by.
//!
//! With folds, the rows were judged by several models, whose scores are on scales of their own. So what is kept of a row
//! are the logarithms of its probabilities, each by a curve that was not fitted on that row; without probabilities it is
//! the scores. The rows themselves are not kept, only their numbers.

use crate::calibration::n_curves;
use rosenblatt_core::elementary;

/// How many rows are kept at most.
pub(crate) const MOST_ROWS: usize = 10_000;

/// What was predicted of rows that were not learned from.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldOut {
    /// The numbers of the rows in the data, ascending.
    pub(crate) rows: Vec<u32>,
    pub(crate) classes: Vec<u32>,
    pub(crate) predicted: Vec<u32>,
    /// Row by row, of the second of two classes or of each of more: the logarithm of its probability, or its score.
    pub(crate) values: Vec<f32>,
    pub(crate) has_probabilities: bool,
    pub(crate) n_classes: usize,
}

impl HeldOut {
    /// Why it cannot be what a training of this many rows held out says, if it cannot.
    pub(crate) fn fault(&self, n_held: u64) -> Option<&'static str> {
        let is_class = |class: &u32| (*class as usize) < self.n_classes;
        let n_rows = self.rows.len();
        if n_rows == 0 || n_rows > MOST_ROWS || n_rows as u64 > n_held {
            return Some("it should keep the scores of at most as many rows as were held out");
        }
        if !self.rows.is_sorted_by(|a, b| a < b) {
            return Some("the numbers of the rows held out should ascend");
        }
        if self.classes.len() != n_rows
            || self.predicted.len() != n_rows
            || self.values.len() != n_rows * n_curves(self.n_classes)
        {
            return Some("every row held out should have its classes and scores");
        }
        if !self.classes.iter().chain(&self.predicted).all(is_class) {
            return Some("a row held out is of a class that it does not name");
        }
        let is_fit = |value: &f32| value.is_finite() && !(self.has_probabilities && *value > 0.0);
        (!self.values.iter().all(is_fit))
            .then_some("a score of a row held out is no number, or no probability")
    }

    /// The numbers of these rows in the data, from 0, ascending.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Whether it knows probabilities; else it has scores.
    pub fn has_probabilities(&self) -> bool {
        self.has_probabilities
    }

    /// What speaks for the second of two classes, and against it if negative.
    pub(crate) fn towards_second(&self, of_row: &[f32]) -> f64 {
        let value = f64::from(of_row[0]);
        if self.has_probabilities { value - log_of_rest(value) } else { value }
    }

    /// The numbers of all rows, as they are compared.
    pub(crate) fn scores(&self) -> Vec<f64> {
        self.values.iter().map(|&value| f64::from(value)).collect()
    }

    /// The probability of every class of a row.
    pub(crate) fn shares(&self, row: usize, into: &mut Vec<f64>) {
        let n_values = n_curves(self.n_classes);
        let of_row = &self.values[row * n_values..(row + 1) * n_values];
        into.clear();
        into.extend(of_row.iter().map(|&value| elementary::exp(f64::from(value))));
        if let [second] = into[..] {
            into.insert(0, 1.0 - second);
        }
    }
}

/// The logarithms of the probabilities that are kept of a row: that of the second of two classes, else all.
pub(crate) fn log_shares(shares: &[f64]) -> impl Iterator<Item = f32> {
    let kept = if shares.len() == 2 { &shares[1..] } else { shares };
    // What was held impossible is kept as nearly so.
    kept.iter().map(|share| elementary::ln(share.clamp(f64::MIN_POSITIVE, 1.0)) as f32)
}

/// The logarithm of what is left of a probability with this logarithm.
pub(crate) fn log_of_rest(log_share: f64) -> f64 {
    elementary::ln((-elementary::exp_m1(log_share)).max(f64::MIN_POSITIVE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Model, Recipe};
    use rosenblatt_data::Dataset;

    fn trained() -> Model {
        let rows: Vec<[f64; 2]> = (0..60).map(|row| [f64::from(row % 10), f64::from(row % 7)]).collect();
        let names: Vec<&str> = (0..60).map(|row| if row % 10 + row % 3 < 6 { "a" } else { "b" }).collect();
        Recipe::default().train_rows(Dataset::from_rows(&rows, &names), &mut ()).unwrap().model
    }

    #[test]
    fn what_was_predicted_is_read_back_and_says_what_the_estimate_says() {
        let model = trained();
        let held_out = model.held_out().unwrap();
        let estimate = model.training_summary().estimate.unwrap();
        let evaluation = held_out.evaluation(model.labels());
        assert_eq!((evaluation.rows, evaluation.errors), (estimate.rows, estimate.errors));
        assert_eq!(held_out.misclassified().len() as u64, estimate.errors);
        assert!(held_out.has_probabilities() && held_out.reliability().is_ok());
        let again = Model::from_bytes(&model.to_bytes()).unwrap();
        assert_eq!(again.held_out(), model.held_out());
        assert_eq!(again.importance(), model.importance());
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let model = trained();
        let sound = HeldOut::clone(model.held_out().unwrap());
        let n_held = model.training_summary().estimate.unwrap().rows;
        assert_eq!(sound.fault(n_held), None);
        assert!(sound.fault(n_held - 1).is_some());
        let faults: [fn(&mut HeldOut); 7] = [
            |held_out| held_out.values[3] = f32::NAN,
            |held_out| held_out.values[3] = 0.5,
            |held_out| held_out.rows.swap(0, 1),
            |held_out| held_out.classes[0] = 2,
            |held_out| held_out.predicted[0] = u32::MAX,
            |held_out| held_out.values.truncate(5),
            |held_out| held_out.rows.clear(),
        ];
        for (number, spoil) in faults.iter().enumerate() {
            let mut spoiled = sound.clone();
            spoil(&mut spoiled);
            assert!(spoiled.fault(n_held).is_some(), "{number}");
        }
    }
}
