//! How good a model will be on rows it never saw, and what fits its probabilities: rows that were held out.
//!
//! Either a share of the rows is set aside before anything is learned, or every row is held out once, in
//! turn, by models that are trained for nothing else. The second costs trainings but no rows: the model
//! that is kept learns from all of them.

use crate::failure::Failure;
use crate::progress::Progress;
use rosenblatt::{
    Calibration, Dataset, Evaluation, Method, Model, Spec, Training, evaluate_rows, fingerprint, folds,
    held_out_scores, split,
};
use std::time::{Duration, Instant};

/// How the estimate is come by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Plan {
    /// This share of the rows is set aside; none if it is 0.
    HoldOut(f64),
    /// The rows are parted in so many folds.
    Folds(usize),
}

/// What held-out rows said.
pub(super) struct Estimate {
    pub(super) evaluation: Evaluation,
    /// The error of each fold; empty if rows were set aside once.
    pub(super) fold_errors: Vec<f64>,
}

impl Estimate {
    /// The standard deviation of the error from fold to fold.
    pub(super) fn spread(&self) -> f64 {
        let n_folds = self.fold_errors.len() as f64;
        let mean = self.fold_errors.iter().sum::<f64>() / n_folds;
        let squares: f64 = self.fold_errors.iter().map(|error| (error - mean).powi(2)).sum();
        (squares / (n_folds - 1.0)).sqrt()
    }
}

/// A model, the rows it learned from, and what others said of it.
pub(super) struct Estimated {
    pub(super) model: Model,
    pub(super) rows: Vec<u32>,
    /// How long its own training took.
    pub(super) time: Duration,
    pub(super) estimate: Option<Estimate>,
}

/// Trains, judges and calibrates; `learn` trains the model that is kept, from the rows it is given.
pub(super) fn train(
    spec: &Spec,
    data: &Dataset,
    plan: Plan,
    calibrate: Option<Method>,
    progress: &Progress,
    learn: impl FnOnce(&[u32]) -> Result<Model, Failure>,
) -> Result<Estimated, Failure> {
    let all: Vec<u32> = (0..data.len() as u32).collect();
    match plan {
        Plan::HoldOut(share) => {
            let (rows, held) =
                if share > 0.0 { split(data, share, spec.options().seed) } else { (all, Vec::new()) };
            progress.stage("first pass");
            let start = Instant::now();
            let mut model = learn(&rows)?.with_held_out(share);
            let time = start.elapsed();
            if held.is_empty() {
                return Ok(Estimated { model, rows, time, estimate: None });
            }
            if let Some(method) = calibrate {
                model = model.calibrated(method, data, &held)?;
            }
            let evaluation = evaluate_rows(&model, data, &held);
            let estimate = Some(Estimate { evaluation, fold_errors: Vec::new() });
            Ok(Estimated { model, rows, time, estimate })
        }
        Plan::Folds(n_folds) => {
            let parts = folds(data, n_folds, spec.options().seed);
            let (mut scores, mut classes, mut judged) = (Vec::new(), Vec::new(), Vec::new());
            progress.stage("cross-validation");
            let known = fingerprint(data);
            for (number, held) in parts.iter().enumerate() {
                progress.show(Some(number as f64 / n_folds as f64), || {
                    format!("cross-validation: fold {} of {n_folds}", number + 1)
                });
                let mut is_held = vec![false; data.len()];
                for &row in held {
                    is_held[row as usize] = true;
                }
                let rows: Vec<u32> = all.iter().copied().filter(|&row| !is_held[row as usize]).collect();
                let model = Training::new(spec, data).rows(&rows).fingerprint(&known).run(&mut ())?;
                judged.push(evaluate_rows(&model, data, held));
                let (fold_scores, fold_classes) = held_out_scores(&model, data, held);
                scores.extend(fold_scores);
                classes.extend(fold_classes);
            }
            let fitted =
                calibrate.map(|method| Calibration::fit(method, data.labels().len(), &scores, &classes));
            let fitted = fitted.transpose()?;
            progress.stage("first pass over all rows");
            let start = Instant::now();
            let model = learn(&all)?.with_folds(n_folds).with_calibration(fitted);
            let time = start.elapsed();
            let fold_errors = judged.iter().map(Evaluation::error).collect();
            let estimate = Evaluation::pooled(&judged).map(|evaluation| Estimate { evaluation, fold_errors });
            Ok(Estimated { model, rows: all, time, estimate })
        }
    }
}
