//! What rows that were held out say of a training, as curves, tables and margins.

use crate::calibration::{Losses, n_curves};
use crate::confusion::ConfusionMatrix;
use crate::error::Error;
use crate::evaluate::{Evaluation, areas};
use crate::keep::held_out::HeldOut;
use crate::model::Model;
use crate::ranking::curve;
use crate::roc::{PrecisionRecall, Reliability, Roc, each_class, precision_curve, reliability_of};
use rosenblatt_core::elementary;
use rosenblatt_data::Labels;

impl HeldOut {
    /// What was right and wrong, under these names of the classes.
    pub fn evaluation(&self, labels: &Labels) -> Evaluation {
        let mut shares = Vec::new();
        let mut losses = Losses::default();
        for (row, &class) in self.classes.iter().enumerate().filter(|_| self.has_probabilities) {
            self.shares(row, &mut shares);
            losses.add(&shares, class);
        }
        let mut evaluation = Evaluation {
            rows: self.rows.len() as u64,
            errors: 0,
            labels: labels.clone(),
            confusion: ConfusionMatrix::new(labels.len()),
            auc: self.areas(),
            probability_scores: Losses::together(&[losses]),
            folds: 1,
        };
        evaluation.with_predictions(&self.classes, &self.predicted);
        evaluation
    }

    /// The area under the ROC curve of each class, of all rows together.
    fn areas(&self) -> Vec<Option<f64>> {
        areas(&self.scores(), &self.classes, self.n_classes, &mut || false).unwrap_or_default()
    }

    /// The ROC curve of each class; thresholds are probabilities, if there are any.
    pub fn roc(&self) -> Vec<Roc> {
        let mut curves = each_class(self.n_classes, &self.scores(), &self.classes, curve);
        for curve in &mut curves {
            to_probabilities(self, &mut curve.thresholds);
        }
        curves
    }

    /// Precision against recall of each class; thresholds are probabilities, if there are any.
    pub fn precision_recall(&self) -> Vec<PrecisionRecall> {
        let mut curves = each_class(self.n_classes, &self.scores(), &self.classes, precision_curve);
        for curve in &mut curves {
            to_probabilities(self, &mut curve.thresholds);
        }
        curves
    }

    /// The calibration curve of held-out probabilities; an error if there are none.
    pub fn reliability(&self) -> Result<Reliability, Error> {
        if !self.has_probabilities {
            return Err(Error::NotCalibrated);
        }
        let mut shares = Vec::new();
        let rows = self.classes.iter().enumerate();
        let rows = rows.map(|(row, &class)| {
            self.shares(row, &mut shares);
            (shares.clone(), class)
        });
        Ok(reliability_of(self.n_classes, rows))
    }

    /// By how much the true class of each row is ahead of the others, or behind if that is negative: logarithms of the
    /// odds if there are probabilities, else differences of scores. Of two classes, ahead of where `model` begins to name
    /// the second, which costs may have moved.
    pub fn margins(&self, model: &Model) -> Vec<f64> {
        let cut = model.costs().filter(|_| self.has_probabilities).map_or(0.0, |costs| {
            let least = costs.threshold();
            elementary::ln(least / (1.0 - least))
        });
        let margin = |(of_row, &class): (&[f32], &u32)| {
            if of_row.len() == 1 {
                let towards_second = self.towards_second(of_row) - cut;
                return if class == 1 { towards_second } else { -towards_second };
            }
            let others = of_row.iter().enumerate().filter(|(other, _)| *other != class as usize);
            let next = others.map(|(_, &value)| f64::from(value)).fold(f64::NEG_INFINITY, f64::max);
            f64::from(of_row[class as usize]) - next
        };
        self.values.chunks(n_curves(self.n_classes)).zip(&self.classes).map(margin).collect()
    }
}

impl Evaluation {
    /// The areas under the curves that are drawn of the same rows, so that a report says what its curves say; those of a
    /// sample are others.
    pub(crate) fn take_areas(&mut self, held_out: Option<&HeldOut>) {
        if let Some(held_out) = held_out.filter(|held_out| held_out.rows.len() as u64 == self.rows) {
            self.auc = held_out.areas();
        }
    }
}

fn to_probabilities(held_out: &HeldOut, thresholds: &mut [f64]) {
    let is_told = |threshold: &&mut f64| held_out.has_probabilities && threshold.is_finite();
    for threshold in thresholds.iter_mut().filter(is_told) {
        *threshold = elementary::exp(*threshold);
    }
}
