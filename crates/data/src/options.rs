//! How data is to be read: everything a user may say about a source, and the limits.
//!
//! The defaults read what people usually have. Every limit has a name and a number here, appears in the
//! error it causes, and can be raised. Nothing here looks at the data.

use crate::bytes::meter::Meter;
use crate::encode::{FitBounds, Scaling, TextOptions};
use crate::hash::MOST_BITS;
use crate::rows::schema::{Missing, Precision, Schema};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;

/// What a user says about a source.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ReadOptions {
    /// The format by name, instead of finding it out from the content and the file name.
    pub format: Option<String>,
    /// Which column is the label.
    pub label: LabelColumn,
    /// Which column weighs the rows, by name or number.
    pub weight: Option<String>,
    /// Columns that are left out, by name or number.
    pub ignore: Vec<String>,
    /// Columns whose values are names even if they look like numbers, by name or number.
    pub categorical: Vec<String>,
    /// Whether the first line holds the names of the columns; found out if not said.
    pub header: Option<bool>,
    /// What stands between two cells; found out if not said.
    pub delimiter: Option<u8>,
    /// The class that a positive score speaks for, of two.
    pub positive: Option<String>,
    /// All classes, in their order, instead of those found in the data, sorted.
    pub classes: Option<Vec<String>>,
    /// Whether a stream may meet classes that are not among the first; see [`crate::Numbering`].
    pub grow_classes: bool,
    /// What becomes of missing values.
    pub missing: Missing,
    /// Whether feature indices start at 0 rather than 1, in formats that number features.
    pub zero_based: bool,
    /// How values are stored.
    pub precision: Precision,
    /// Hash features into a table of `2^bits` instead of numbering them.
    pub hash_bits: Option<u32>,
    /// How features are brought to one scale.
    pub scaling: Scaling,
    /// Columns of a table that hold text, by name or number: the words of each become features. Columns of prose
    /// are found out if none is named.
    pub text_columns: Vec<String>,
    /// Columns of a table, or namespaces of a source that has them, whose features are multiplied with each other's.
    pub crosses: Vec<[String; 2]>,
    /// What becomes of a category that was not learned from.
    pub unknown: Unknown,
    /// How text becomes features.
    pub text: TextOptions,
    /// Whether blocks keep the texts that their rows were made of; see [`crate::texts`].
    pub keep_texts: bool,
    /// What becomes of a row that cannot be read.
    pub on_bad_row: OnBadRow,
    /// Where the labels are, for formats that keep them in a file of their own; looked for beside the
    /// data if not said.
    pub labels_file: Option<PathBuf>,
    /// What becomes of pictures.
    pub pictures: Pictures,
    /// What earlier data established and this data must keep to: that of a model, or of the first file.
    #[serde(skip)]
    pub schema: Option<Arc<Schema>>,
    /// How many threads parse text; 0 is one per core. Changes nothing but the time it takes.
    pub threads: usize,
    /// What is too much.
    pub limits: Limits,
    /// Counts what is read.
    #[serde(skip)]
    pub meter: Meter,
}

/// What becomes of pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Pictures {
    /// Width and height to which every picture is resized. Otherwise all must have the size of the first.
    pub size: Option<(u32, u32)>,
    /// Red, green and blue instead of grey.
    pub colour: bool,
    /// Pixels as they are stored, 0 to 255, instead of 0 to 1.
    pub unscaled: bool,
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
    "ignore" = Self::Ignore, "none of the known ones, counted and told";
    "error" = Self::Error, "an error with its place";
);

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

/// What is too much. Whatever is larger is an error that names the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Limits {
    /// Bytes in a line, or in a record that spans several.
    pub line_bytes: usize,
    /// Features a row may have room for: a learner keeps a weight for each.
    pub features: usize,
    /// Different labels.
    pub classes: usize,
    /// Different values of one categorical column.
    pub categories: usize,
    /// Different words, or runs of words, of a text.
    pub vocabulary: usize,
    /// Pixels of one picture.
    pub pixels: u64,
    /// Bytes of one source held in memory, where a format or a pipe makes that necessary.
    pub held_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            line_bytes: 16 << 20,
            features: 1 << 25,
            classes: 10_000,
            categories: 50_000,
            vocabulary: 1 << 22,
            pixels: 1 << 24,
            held_bytes: 4 << 30,
        }
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

    /// What is said of the source that some formats cannot heed, each with the reason why they cannot.
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
            (self.unknown != Unknown::default(), "unknown", "it has no categories"),
            (self.labels_file.is_some(), "labels", "its labels stand in the file itself"),
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
