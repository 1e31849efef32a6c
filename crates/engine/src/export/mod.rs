//! A model for other programs: one file per format, one line in the table.
//!
//! Exports are one-way. What they hold is enough to predict from encoded features; how files become
//! features (columns, words, categories) stays in the model file.

mod onnx;
mod protobuf;
mod weights;

pub use weights::csv_cell;

use crate::error::Error;
use crate::model::Model;
use rosenblatt_core::Planes;
use rosenblatt_data::Scaler;
use std::fmt;
use std::str::FromStr;

/// A format that models are exported to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Export {
    /// A graph for ONNX runtimes: features in; label, scores and, if they are fitted by Platt's method,
    /// probabilities out. It works in doubles and contains the scaling.
    Onnx,
    /// Weights, names, scaling and calibration as one JSON object.
    Json,
    /// A line per feature: its name, and its weight in every hyperplane.
    Csv,
}

/// The table of formats: name, and what makes the bytes.
type Writer = fn(&Model, &Planes) -> Vec<u8>;
const FORMATS: [(Export, &str, Writer); 3] = [
    (Export::Onnx, "onnx", onnx::bytes),
    (Export::Json, "json", weights::json),
    (Export::Csv, "csv", weights::csv),
];

impl fmt::Display for Export {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = FORMATS.iter().find(|(format, ..)| format == self);
        f.write_str(known.map_or("", |(_, name, _)| name))
    }
}

impl FromStr for Export {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = FORMATS.iter().find(|(_, known, _)| *known == name);
        known
            .map(|(format, ..)| *format)
            .ok_or_else(|| format!("it should be onnx, json or csv, but is `{name}`"))
    }
}

/// The bytes of `model` in another format; refused if the model is a vote, which no single weights are, or sees
/// rows through a map, which other programs do not have.
pub fn export(model: &Model, format: Export) -> Result<Vec<u8>, Error> {
    if model.map().is_some() {
        return Err(Error::Mapped { what: "an exported model weighs" });
    }
    let planes = model.planes().ok_or(Error::NotLinear)?;
    let (.., write) = FORMATS.iter().find(|(known, ..)| *known == format).unwrap_or(&FORMATS[0]);
    Ok(write(model, planes))
}

/// What a positive score of each hyperplane speaks for, and what a negative one does; `None` for "all the
/// others".
fn sides(model: &Model) -> Vec<(&str, Option<&str>)> {
    let names = model.labels().names();
    match (names, model.pairs()) {
        ([first, second], _) => vec![(second, Some(first))],
        (_, Some(pairs)) => pairs.into_iter().map(|(a, b)| (a, Some(b))).collect(),
        _ => names.iter().map(|name| (name.as_str(), None)).collect(),
    }
}

/// How features are scaled before the weights see them, if they are.
fn scaler(model: &Model) -> Option<&Scaler> {
    model.schema().and_then(|schema| schema.scaler.as_ref())
}
