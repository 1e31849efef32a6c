//! The engine of the R package `rosenblatt`.
//!
//! A face adds no logic: columns become a table ([`table`]), words become a recipe ([`settings`]), and what the engine
//! answers becomes lists ([`values`]). What fails comes back as a list with `error`, which the package raises as a condition:
//! nothing jumps over Rust's frames.

mod failure;
mod proof;
mod settings;
mod table;
mod values;
mod watch;

use extendr_api::prelude::*;
use failure::{Failure, guarded};
use rosenblatt::data::{ReadOptions, load_source};
use rosenblatt::learning::Zero;
use rosenblatt::model::class_scores;
use rosenblatt::{Model, Task};
use rosenblatt_data::{ColumnKind, Gap, View};
use serde_json::json;
use std::path::Path;
use values::to_r;
use watch::Watching;

/// From a table to a model and all there is to say about it.
#[extendr]
fn train(columns: List, label: &str, categorical: Robj, settings: List) -> Robj {
    guarded(|| {
        let source = table::source(&columns)?;
        let recipe = settings::recipe(&settings, label, &values::texts(&categorical))?;
        recipe.check()?;
        let mut watching = Watching::default();
        let trained = recipe.train(&source, &mut watching)?;
        watching.unless_stopped()?;
        let estimate = match trained.model.held_numbers() {
            Some(numbers) => json!(numbers.estimate),
            None => json!(trained.estimate.as_ref().map(|estimate| &estimate.evaluation)),
        };
        let story = json!({
            "rows": trained.data.rows,
            "scaling": trained.data.scaling.to_string(),
            "notes": trained.notes,
            "training": trained.training,
            "estimate": estimate,
            "race": trained.race,
            "mistake-bound": trained.mistake_bound,
        });
        Ok(list!(model = Raw::from_bytes(&trained.model.to_bytes()), story = to_r(&story)).into())
    })
}

/// What a model is.
#[extendr]
fn describe(model: &[u8], most: i32) -> Robj {
    guarded(|| {
        let model = Model::from_bytes(model)?;
        let mut described = model.describe(usize::try_from(most).unwrap_or(0));
        described["is-calibrated"] = json!(model.has_probabilities());
        described["columns"] = json!(model.schema().map(|schema| {
            let columns = schema.columns.iter();
            columns
                .map(|column| json!({ "name": column.name, "kind": kind(&column.kind) }))
                .collect::<Vec<_>>()
        }));
        Ok(to_r(&described))
    })
}

fn kind(kind: &ColumnKind) -> &'static str {
    match kind {
        ColumnKind::Number { .. } => "number",
        ColumnKind::Category { .. } | ColumnKind::Hashed => "category",
        ColumnKind::Text(_) => "text",
    }
}

/// Classes (numbers from 1), scores or probabilities of each row, row after row; not a number for rows that the model leaves
/// out.
#[extendr]
fn predict(model: &[u8], columns: List, what: &str) -> Robj {
    guarded(|| {
        let model = Model::from_bytes(model)?;
        if what == "classes" {
            model.check_task(Task::Classes)?;
        }
        let source = table::source(&columns)?;
        let width = match (what, model.labels().len()) {
            ("classes", _) | ("scores", ..=2) => 1,
            (_, n_classes) => n_classes,
        };
        let mut answers = Answers { model: &model, what, width, values: Vec::new() };
        // Coins are thrown row after row, so that all rows must come at once.
        if model.spec().options().zero == Zero::Random {
            let data = load_source(&source, &model.to_predict(ReadOptions::default()))?;
            answers.add(data.view(), &[])?;
        } else {
            let (mut rows, watching) = (model.open(&source)?, Watching::default());
            while let Some(block) = rows.next()? {
                answers.add(block.view(), block.gaps())?;
                watching.unless_stopped()?;
            }
            rows.gaps_at_end().iter().for_each(|gap| answers.leave_out(gap));
        }
        Ok(list!(values = answers.values, width = width as i32).into())
    })
}

/// What a model answers about rows.
struct Answers<'a> {
    model: &'a Model,
    what: &'a str,
    /// How many values a row has.
    width: usize,
    values: Vec<f64>,
}

impl Answers<'_> {
    fn add(&mut self, rows: View<'_>, gaps: &[Gap]) -> Result<(), Failure> {
        let (model, mut gaps) = (self.model, gaps.iter().peekable());
        let mut fresh: Vec<f64> = Vec::new();
        match self.what {
            "classes" => fresh.extend(model.predict_view(rows)?.iter().map(|&class| f64::from(class) + 1.0)),
            "scores" => {
                let mut of_row = Vec::new();
                model.each_row(rows, |_, _, scores| {
                    class_scores(model, scores, &mut of_row);
                    fresh.extend(&of_row);
                })?;
            }
            _ => fresh.extend(model.predict_proba_view(rows)?),
        }
        for (row, values) in fresh.chunks(self.width).enumerate() {
            while let Some(gap) = gaps.next_if(|gap| gap.n_before <= row) {
                self.leave_out(gap);
            }
            self.values.extend(values);
        }
        gaps.for_each(|gap| self.leave_out(gap));
        Ok(())
    }

    fn leave_out(&mut self, gap: &Gap) {
        let n_values = self.width * usize::try_from(gap.n_rows).unwrap_or(usize::MAX);
        self.values.resize(self.values.len() + n_values, f64::NAN);
    }
}

/// The hyperplanes of a model: names of features, weights output by output, biases; nothing of votes, kernels and networks.
#[extendr]
fn planes(model: &[u8]) -> Robj {
    guarded(|| {
        let model = Model::from_bytes(model)?;
        let Some(planes) = model.planes() else { return Ok(().into()) };
        let weights: Vec<f64> = (0..planes.biases().len()).flat_map(|plane| planes.weights(plane)).collect();
        let names = model.feature_names().map(<[String]>::to_vec).unwrap_or_default();
        Ok(list!(names = names, weights = weights, biases = planes.biases().to_vec()).into())
    })
}

/// Writes a model to a file, whole or not at all.
#[extendr]
fn save(model: &[u8], path: &str) -> Robj {
    guarded(|| {
        Model::from_bytes(model)?.save(Path::new(path))?;
        Ok(().into())
    })
}

/// The model in a file, as its bytes.
#[extendr]
fn load(path: &str) -> Robj {
    guarded(|| Ok(Raw::from_bytes(&Model::load(Path::new(path))?.to_bytes()).into()))
}

extendr_module! {
    mod rosenblatt_r;
    fn train;
    fn describe;
    fn predict;
    fn planes;
    fn save;
    fn load;
    use proof;
}
