//! How data is to be read: everything a user may say about a source, and the limits.
//!
//! The defaults read what people usually have. Every limit has a name and a number here, appears in the
//! error it causes, and can be raised. Nothing here looks at the data.

use crate::bytes::meter::Meter;
use crate::encode::{FitBounds, Scaling, Shape, TextOptions};
use crate::hash::MOST_BITS;
use crate::rows::schema::{Missing, Precision, Schema};
use rosenblatt_core::{Setting, settings};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;

settings! {
    /// What a user says about a source.
    #[derive(Debug, Clone, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
    pub struct ReadOptions: Reading {
        /// Format of the source.
        format: Option<String> = None
            => Setting::listed("format").flag("format").common().of_all().unset("detected from content and name");
        /// Label column, by name or number. 1 is the first, -1 the last.
        label: LabelColumn = LabelColumn::Guess
            => Setting::column().flag("label").aliases(&["target"]).common().of_all()
                .unset("the column called label, class, target or y (without an x), else the last");
        /// Column of row weights, by name or number.
        weight: Option<String> = None
            => Setting::text().flag("weight").value("COLUMN").unset("every row counts once");
        /// Columns to leave out, by name or number.
        ignore: Vec<String> = Vec::new() => Setting::columns().flag("ignore").aliases(&["drop"]);
        /// Columns whose numbers are categories, by name or number.
        categorical: Vec<String> = Vec::new() => Setting::columns().flag("categorical").kept_by_model();
        /// Whether the first line holds column names.
        header: Option<bool> = None => Setting::yes_or_no().flag("header").unset("detected");
        /// Character that separates cells; `tab` for a tab.
        delimiter: Option<u8> = None => Setting::character().flag("delimiter").unset("detected");
        /// Positive class of two.
        positive: Option<String> = None => Setting::text().unset("the second");
        /// All classes, in their order.
        classes: Option<Vec<String>> = None
            => Setting::texts().unset("those found in the data; numbers by value, names by the alphabet");
        /// Whether a stream may bring classes that its first rows do not show.
        grow_classes: bool = false => Setting::switch();
        /// What becomes of missing values.
        missing: Missing = Missing::default()
            => Setting::choice::<Missing>().flag("missing").aliases(&["impute"]).value("POLICY").common().kept_by_model();
        /// Whether features are numbered from 0 instead of 1 (libsvm).
        zero_based: bool = false => Setting::switch().flag("zero-based");
        /// Precision in which values are stored.
        precision: Precision = Precision::default()
            => Setting::choice::<Precision>().flag("precision").value("TYPE").unset("f32; f64 for certify and trace");
        /// Hash features into a table of 2^BITS.
        hash_bits: Option<u32> = None
            => Setting::at_least(1).flag("hash-bits").value("BITS").kept_by_model().of_all()
                .unset("no hashing, every feature has its own weight");
        /// How features are scaled.
        scaling: Scaling = Scaling::default()
            => Setting::choice::<Scaling>().flag("scale").aliases(&["normalize", "normalise", "scaling"]).kept_by_model()
                .python("scale").unset("auto where a model is trained, else none");
        /// Straight lines or curves for columns of numbers. Curves are made of lines between knots.
        shape: Shape = Shape::default() => Setting::choice::<Shape>().flag("shape").value("SHAPE").kept_by_model();
        /// Text columns of a table, by name or number. The words of each become features; with a model of messages, the
        /// column that holds them.
        text_columns: Vec<String> = Vec::new()
            => Setting::columns().flag("text").python("text").unset("detected");
        /// Pairs of columns, or namespaces, whose features are multiplied with each other.
        crosses: Vec<[String; 2]> = Vec::new() => Setting::pairs().flag("cross").kept_by_model();
        /// What becomes of a category that the model did not learn from. The model does not keep this choice.
        unknown: Unknown = Unknown::default() => Setting::choice::<Unknown>().flag("unknown").value("POLICY");
        /// How text becomes features.
        text: TextOptions = TextOptions::default() => Setting::group("text");
        /// Whether blocks keep the texts that their rows were made of.
        keep_texts: bool = false => Setting::switch();
        /// Leave out rows that cannot be read, instead of stopping at the first.
        on_bad_row: OnBadRow = OnBadRow::default()
            => Setting::choice::<OnBadRow>().flag_for("skip-bad-rows", "skip");
        /// File of labels for a file of pictures or arrays (IDX, `.npy`).
        labels_file: Option<PathBuf> = None
            => Setting::text().flag("labels").value("FILE").unset("looked for beside the data");
        /// What becomes of pictures.
        pictures: Pictures = Pictures::default() => Setting::group("pictures");
        /// Number of threads that parse text or tag sentences; 0 is one per core. Changes nothing but the time.
        threads: usize = 0 => Setting::at_least(0).flag("threads").of_all();
        /// Limits on what is read.
        limits: Limits = Limits::default() => Setting::group("limits");
    } with {
        /// What earlier data established and this data must keep to: that of a model, or of the first file.
        #[serde(skip)]
        schema: Option<Arc<Schema>>,
        /// Counts what is read.
        #[serde(skip)]
        meter: Meter,
        /// The one column that is read, in place of the label; see [`crate::column`].
        #[serde(skip)]
        only: Option<OneColumn>,
    }
}

settings! {
    /// What becomes of pictures.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
    pub struct Pictures: Reading {
        /// Width and height to which every picture is resized, in pixels.
        size: Option<(u32, u32)> = None
            => Setting::size().flag("size").kept_by_model().unset("the size of the first, which all must have");
        /// Read pictures in colour instead of grey.
        colour: bool = false => Setting::switch().flag("colour").aliases(&["color"]).kept_by_model();
        /// Whether pixels go from 0 to 255 instead of 0 to 1.
        unscaled: bool = false => Setting::switch();
    }
}

/// What becomes of a category that was not learned from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unknown {
    /// It is none of the known ones; such cells are counted.
    #[default]
    Ignore,
    /// It is an error with its place.
    Error,
}

rosenblatt_core::named!(Unknown, "unknown",
    "ignore" = Self::Ignore, "encode as all-zero, and report the count";
    "error" = Self::Error, "an error with its place";
);

/// A column that is read alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OneColumn {
    /// Its name or number.
    pub what: String,
    /// What its cells are: `times`, `groups`.
    pub cells: &'static str,
    /// Whether they stay as they are written, those that hold nothing too. Else they are values: spellings of one number
    /// are one, and every row has one.
    pub is_written: bool,
}

impl OneColumn {
    /// The values of a column.
    pub fn of_values(what: &str, cells: &'static str) -> Self {
        Self { what: what.to_owned(), cells, is_written: false }
    }

    /// The cells of a column as they are written.
    pub fn as_written(what: &str, cells: &'static str) -> Self {
        Self { is_written: true, ..Self::of_values(what, cells) }
    }
}

/// Which column is the label.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabelColumn {
    /// The one called `label`, `class`, `target` or `y`, else the last if it looks like one.
    #[default]
    Guess,
    /// The one of this name, or else of this number: `1` is the first, `-1` the last.
    Named(String),
    /// None: rows that are to be labelled.
    Absent,
}

/// What becomes of a row that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnBadRow {
    /// It is an error with its place.
    #[default]
    Error,
    /// It is left out and counted.
    Skip,
}

rosenblatt_core::named!(OnBadRow, "on-bad-row",
    "error" = Self::Error, "an error with its place";
    "skip" = Self::Skip, "the row is left out and counted";
);

settings! {
    /// What is too much. Whatever is larger is an error that names the limit.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
    pub struct Limits: Reading {
        /// Maximum length of a line, or of a record that spans several, in bytes.
        line_bytes: usize = 16 << 20 => Setting::at_least(1).flag("max-line").value("BYTES");
        /// Maximum number of features.
        features: usize = 1 << 25 => Setting::at_least(1).flag("max-features");
        /// Maximum number of classes.
        classes: usize = 10_000 => Setting::at_least(1).flag("max-classes");
        /// Maximum number of values of a categorical column.
        categories: usize = 50_000 => Setting::at_least(1);
        /// Maximum number of different words, or runs of words.
        vocabulary: usize = 1 << 22 => Setting::at_least(1).flag("max-vocabulary");
        /// Maximum size of a picture, in pixels.
        pixels: u64 = 1 << 24 => Setting::at_least(1).flag("max-pixels");
        /// Maximum size of a source that has to be held in memory, in bytes.
        held_bytes: u64 = 4 << 30 => Setting::at_least(1);
    }
}

impl ReadOptions {
    /// The largest number of bits that features can be hashed to.
    pub const MAX_HASH_BITS: u32 = MOST_BITS;

    /// The defaults, but for the scale: values are what stands in the source.
    pub fn as_stored() -> Self {
        Self { scaling: Scaling::None, ..Self::default() }
    }

    /// What a fit of columns keeps to.
    pub(crate) fn fit_bounds(&self) -> FitBounds {
        let Limits { categories, vocabulary, .. } = self.limits;
        FitBounds { precision: self.precision, threads: self.threads, categories, words: vocabulary }
    }

    /// The options that some formats cannot heed, each with the reason why they cannot.
    pub(crate) fn said(&self) -> Vec<(&'static str, &'static str)> {
        let text = TextOptions::default();
        let no_text = "it holds no text";
        let all = [
            (matches!(self.label, LabelColumn::Named(_)), "label", "its labels have their fixed place"),
            (self.weight.is_some(), "weight", "it has no columns that could weigh the rows"),
            (!self.ignore.is_empty(), "ignore", "it has no columns that could be left out"),
            (!self.categorical.is_empty(), "categorical", "its features are numbers"),
            (self.header.is_some(), "header", "it has no line of names"),
            (self.delimiter.is_some(), "delimiter", "it has no cells to be parted"),
            (self.missing != Missing::default(), "missing", "no value can be missing there"),
            (self.zero_based, "zero-based", "its features are not numbered"),
            (self.hash_bits.is_some(), "hash-bits", "its features have their fixed places"),
            (!self.text_columns.is_empty(), "text", "it has no columns that could be text"),
            (!self.crosses.is_empty(), "cross", "it has neither columns nor namespaces"),
            (matches!(self.shape, Shape::Bend { .. }), "shape", "it has no columns of numbers"),
            (self.unknown != Unknown::default(), "unknown", "it has no categories"),
            (self.labels_file.is_some(), "labels", "its labels are in the file itself"),
            (self.pictures.size.is_some(), "size", "it has no pictures that could be resized"),
            (self.pictures.colour, "colour", "it has no pictures in colour"),
            ((self.text.shortest, self.text.longest) != (text.shortest, text.longest), "ngrams", no_text),
            (self.text.units != text.units, "characters", no_text),
            (self.text.weighting != text.weighting, "words", no_text),
        ];
        all.into_iter().filter(|(is_said, ..)| *is_said).map(|(_, option, why)| (option, why)).collect()
    }

    /// The same options for data that must keep to `schema`.
    #[must_use]
    pub fn with_schema(&self, schema: Arc<Schema>) -> Self {
        Self { schema: Some(schema), ..self.clone() }
    }
}

/// The place of the column called `what`, or else of that number: from 1, or from -1 at the end.
pub(crate) fn find_column(what: &str, names: &[impl AsRef<str>]) -> Option<usize> {
    if let Some(place) = names.iter().position(|name| name.as_ref() == what) {
        return Some(place);
    }
    let number: isize = what.parse().ok()?;
    let distance = number.unsigned_abs();
    let place = if number < 0 { names.len().checked_sub(distance)? } else { distance.checked_sub(1)? };
    (place < names.len()).then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_name_and_then_by_number() {
        let names = ["a", "3", "c"].map(String::from);
        let found = ["c", "1", "3", "-1", "4", "0", "-4", "x"].map(|what| find_column(what, &names));
        assert_eq!(found, [Some(2), Some(0), Some(1), Some(2), None, None, None, None]);
    }
}
