//! What there is to say of a training, for programs.

use super::{LabelFound, Trained};
use rosenblatt_core::Totals;
use serde_json::{Value, json};

/// The error since `before`, and the error so far.
pub fn error_rates(before: &Totals, now: &Totals) -> (f64, f64) {
    let rate = |errors: u64, rounds: u64| errors as f64 / rounds.max(1) as f64;
    (rate(now.errors - before.errors, now.rounds - before.rounds), rate(now.errors, now.rounds))
}

impl Trained {
    /// What was read, what was trained, how it was chosen and how good it is.
    pub fn report(&self) -> Value {
        let data = &self.data;
        let label = data.label.as_ref().map(|label| {
            let found = match label {
                LabelFound::Named(_) => "named",
                LabelFound::ByName(_) => "by-name",
                LabelFound::Guessed(_) => "guessed",
            };
            json!({ "column": label.column(), "found": found })
        });
        let mut outline = json!({
            "source": data.source, "rows": data.rows, "features": data.features, "notes": self.notes,
            "label": label, "scale": data.scaling,
        });
        if let Some(bends) = self.model.schema().and_then(|schema| schema.bends.as_ref()) {
            outline["shape"] = json!(bends.shape);
        }
        let mut report = json!({
            "spec": self.model.spec().options(),
            "training-summary": self.model.training_summary(),
        });
        if self.progress.is_empty() {
            let classes = data.classes.iter().map(|(name, rows)| json!({ "class": name, "rows": rows }));
            outline["classes"] = classes.collect();
            report["mistake-bound"] = json!(self.mistake_bound);
            report["training"] = json!(self.training);
            let estimate = self.estimate.as_ref();
            report["held-out"] = json!(estimate.map(|estimate| &estimate.evaluation));
            let summary = self.model.training_summary();
            report["by-group"] = json!(estimate.and_then(|estimate| estimate.by_group));
            report["assumes"] = json!(estimate.map(|_| summary.assumes()));
            report["fold-errors"] = json!(estimate.map(|estimate| &estimate.fold_errors));
            report["calibration"] = json!(self.model.calibration());
            report["importance"] = json!(self.model.importance());
            report["race"] = json!(self.race);
            if let Some(numbers) = &self.numbers {
                let held = self.model.held_numbers().map(|held| held.estimate);
                let race =
                    numbers.candidates.iter().map(|(name, rmse)| json!({ "candidate": name, "rmse": rmse }));
                report["task"] = json!(self.model.task());
                (report["training"], report["held-out"]) = (json!(numbers.training), json!(held));
                report["candidates"] = race.collect();
            }
        } else {
            outline["classes"] = data.classes.iter().map(|(name, _)| json!(name)).collect();
            (outline["dropped"], outline["skipped"]) = (json!(data.dropped), json!(data.skipped));
            let mut before = Totals::default();
            let lines = self.progress.iter().map(|now| {
                let (since_last, so_far) = error_rates(&std::mem::replace(&mut before, *now), now);
                json!({
                    "rows": now.rounds, "error-since-last": since_last, "error-so-far": so_far, "updates": now.updates,
                })
            });
            report["progress"] = lines.collect();
            let totals = self.model.training_summary().totals;
            report["progressive-error"] = json!(error_rates(&Totals::default(), &totals).1);
        }
        report["data"] = outline;
        report
    }
}
