//! A model for other programs: one file per format, one line in the table.
//!
//! Exports are one-way. ONNX, JSON and CSV hold what predicts from encoded features; how files become features (columns,
//! words, categories) stays in the model file. SQL, C, JavaScript and scorecards take the cells of a table as they are.
//! A model that predicts a number goes the same way; what would name its class is left out.

mod additive;
mod c;
mod javascript;
mod onnx;
mod protobuf;
mod scorecard;
mod sql;
mod weights;

use additive::Additive;

use crate::calibration::Method;
use crate::error::Error;
use crate::model::Model;
use crate::task::Task;
use rosenblatt_core::{Hyperplanes, NameError, Zero};
use rosenblatt_data::{Bend, Bends, ColumnKind, Dataset, FormatInfo, Scaler};
use std::fmt;
use std::str::FromStr;

/// A format that models are exported to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Export {
    /// A graph for ONNX runtimes: features in; label, scores and, if they are fitted by Platt's method,
    /// probabilities out, or a number. It works in doubles and contains the scaling.
    Onnx,
    /// Weights, names, scaling and calibration as one JSON object.
    Json,
    /// A line per feature: its name, and its weight in every hyperplane.
    Csv,
    /// A query that adds scores, probabilities and the class to the rows of a table.
    Sql,
    /// A source with one function from a row of a table to its class.
    C,
    /// A module with one function from a row of a table to its class.
    JavaScript,
    /// Whole points for ranges and categories, to be added up by hand.
    Scorecard,
}

/// About what a weight takes on its way, its name included.
const EXPORTED_BYTES: usize = 200;

/// What makes the bytes.
enum Writer {
    /// Of features, as the model sees them.
    Features(fn(&Model, &Hyperplanes) -> Vec<u8>),
    /// Of the cells of a table.
    Cells(fn(&Additive<'_>) -> Vec<u8>),
    /// Of the cells of a table, and of rows that show how well it does.
    Card,
}

impl Export {
    /// All there are.
    pub const ALL: [Self; 7] =
        [Self::Onnx, Self::Json, Self::Csv, Self::Sql, Self::C, Self::JavaScript, Self::Scorecard];

    /// The table of formats.
    fn entry(self) -> (FormatInfo, Writer) {
        match self {
            Self::Onnx => {
                let about = "a graph for ONNX runtimes, with the scaling, curves and, by Platt's method, probabilities";
                let info = FormatInfo { extensions: &["onnx"], ..FormatInfo::new("onnx", about) };
                (info, Writer::Features(onnx::bytes))
            }
            Self::Json => {
                let about = "weights, names, scaling and calibration as one object";
                let info = FormatInfo { extensions: &["json"], ..FormatInfo::new("json", about) };
                (info, Writer::Features(weights::json))
            }
            Self::Csv => {
                let about = "a line per feature: its name, and its weight in every hyperplane";
                let info = FormatInfo { extensions: &["csv"], ..FormatInfo::new("csv", about) };
                (info, Writer::Features(weights::csv))
            }
            Self::Sql => {
                let about = "a query for SQLite, DuckDB and the like, from a table to scores, probabilities and classes, or numbers";
                let info = FormatInfo { extensions: &["sql"], ..FormatInfo::new("sql", about) };
                (info, Writer::Cells(sql::bytes))
            }
            Self::C => {
                let about = "a C99 source with one function from a row of a table to its class or number";
                let info = FormatInfo { extensions: &["c"], ..FormatInfo::new("c", about) };
                (info, Writer::Cells(c::bytes))
            }
            Self::JavaScript => {
                let about = "an ES module with one function from a row of a table to its class or number";
                let info = FormatInfo::new("javascript", about);
                (
                    FormatInfo { extensions: &["mjs", "js"], aliases: &["js"], ..info },
                    Writer::Cells(javascript::bytes),
                )
            }
            Self::Scorecard => {
                let about = "whole points for ranges and categories as a Markdown table, with the loss of rank on rows";
                (FormatInfo { extensions: &["md"], ..FormatInfo::new("scorecard", about) }, Writer::Card)
            }
        }
    }

    /// What the outside needs to know of it.
    pub fn info(self) -> FormatInfo {
        self.entry().0
    }
}

impl fmt::Display for Export {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.info().name)
    }
}

impl FromStr for Export {
    type Err = NameError;

    fn from_str(name: &str) -> Result<Self, NameError> {
        let known = Self::ALL.into_iter().find(|export| export.info().is_called(name));
        known.ok_or_else(|| NameError {
            what: "export",
            given: name.to_owned(),
            known: "one of onnx, json, csv, sql, c, javascript, scorecard",
        })
    }
}

/// The bytes of `model` in another format; refused if the model is a vote, which no single weights are, or sees
/// rows through a map, which other programs do not have.
pub fn export(model: &Model, format: Export) -> Result<Vec<u8>, Error> {
    export_beside(model, format, None)
}

/// The same. A scorecard states what it loses on these rows.
pub fn export_beside(model: &Model, format: Export, rows: Option<&Dataset>) -> Result<Vec<u8>, Error> {
    if model.map().is_some() {
        return Err(Error::Mapped { what: "an exported model weighs" });
    }
    if format == Export::Onnx {
        onnx::check(model)?;
    }
    if let (Some(network), Export::Onnx) = (model.network(), format) {
        return Ok(onnx::of_network(model, network));
    }
    match (model.tagger(), format) {
        (Some(tagger), Export::Csv) => return weights::csv_of_tags(tagger),
        (Some(_), _) => model.check_task(Task::Classes)?,
        (None, _) => {}
    }
    let planes = model.planes().ok_or(Error::NotLinear)?;
    model.check_room("an export", EXPORTED_BYTES)?;
    if format == Export::Onnx && bends(model).is_some() {
        additive::check(model, format)?;
    }
    Ok(match format.entry().1 {
        Writer::Features(bytes) => bytes(model, planes),
        Writer::Cells(bytes) => bytes(&Additive::of(model, planes, format)?),
        Writer::Card => scorecard::bytes(&Additive::of(model, planes, format)?, model, rows)?,
    })
}

/// What an exported file leaves to its user, in words: how a source becomes features, and what the format has no
/// way to say.
pub fn left_to_user(model: &Model, format: Export) -> Vec<String> {
    let mut notes = Vec::new();
    let schema = model.schema();
    if !matches!(format.entry().1, Writer::Features(_)) {
        let zero = model.spec().options().zero;
        if model.task() == Task::Classes && matches!(zero, Zero::Random | Zero::Wrong) {
            notes.push("a score of zero counts as the first class in it".to_owned());
        }
        return notes;
    }
    let columns = schema.map_or(&[][..], |schema| &schema.columns);
    let has = |wanted: fn(&ColumnKind) -> bool| columns.iter().any(|column| wanted(&column.kind));
    if schema.is_some_and(|schema| schema.texts().next().is_some()) {
        notes.push(
            "texts are not in it: its features are the words, weighted as the model file says".to_owned(),
        );
    }
    if has(|kind| matches!(kind, ColumnKind::Category { .. })) {
        notes.push("categories are not in it: each is a feature of its own, 1 where a row has it".to_owned());
    }
    if schema.is_some_and(|schema| schema.hash_bits.is_some() || has(|kind| *kind == ColumnKind::Hashed)) {
        notes.push("hashing is not in it: its features are the slots of the table".to_owned());
    }
    if schema.is_some_and(|schema| !schema.crosses.is_empty()) {
        notes.push("crosses are not in it: each is the product of two features, scaled before".to_owned());
    }
    if bends(model).is_some() && format == Export::Csv {
        notes.push("knots are not in it: a feature is called by its column and its knot".to_owned());
    }
    if schema.is_some_and(|schema| schema.picture.is_some()) {
        notes.push(
            "pictures are not in it: its features are pixels from the top left, from 0 to 1".to_owned(),
        );
    }
    if has(|kind| {
        matches!(kind, ColumnKind::Number { fill: Some(_), .. } | ColumnKind::Category { fill: Some(_), .. })
    }) {
        notes.push("what stands in for missing values is not in it".to_owned());
    }
    let is_isotonic = model.calibration().is_some_and(|fitted| fitted.method() == Method::Isotonic);
    let is_scaled = scaler(model).is_some();
    match format {
        Export::Onnx if is_isotonic => notes.push("isotonic probabilities are not in it".to_owned()),
        Export::Csv if is_scaled => notes.push("its weights are those of scaled features".to_owned()),
        _ => {}
    }
    notes
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

/// A number that is read back as the same double, and as a double at all: with an exponent.
fn exact(number: f64) -> String {
    format!("{number:e}")
}

/// How columns bend before the weights see them, if they do.
fn bends(model: &Model) -> Option<&Bends> {
    model.schema().and_then(|schema| schema.bends.as_ref())
}

/// How many features rows have before any bend that have `width` of them after.
fn n_straight(bends: &Bends, width: usize) -> usize {
    let of_curves: usize = bends.columns.iter().map(Bend::n_features).sum();
    let of_surfaces: usize = bends.surfaces.iter().map(|surface| surface.features().len()).sum();
    (width + bends.columns.len()).saturating_sub(of_curves + of_surfaces)
}

/// How features are scaled before the weights see them, if they are.
fn scaler(model: &Model) -> Option<&Scaler> {
    model.schema().and_then(|schema| schema.scaler.as_ref())
}
