//! What the columns of a source are: their names, their kinds, and the features they become.
//!
//! A [`Schema`] is established once, by the first file or by a survey of all of them, and from then on
//! it is law: later files and later runs find their columns by name in it, and a column that is missing
//! or new is an error. It is what a model keeps of the data it was trained on. Formats that number their
//! features themselves (libsvm) have no columns and, until everything is read, no width.

use crate::encode::{Bend, Bends, Crosser, Scaler, Scaling, TextEncoder, crossed_names, n_crossed};
use crate::error::{DataError, ErrorKind};
use crate::hash::MOST_BITS;
use crate::hash::hash_slot;
use crate::rows::labels::Labels;
use crate::rows::spelling::Spelling;
use serde::{Deserialize, Serialize};
use std::cell::LazyCell;
use std::collections::HashMap;
use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

/// The features that are products of others, of a row of these.
type Joiner = Box<dyn Fn(&[(u32, f64)]) -> Vec<(u32, f64)>>;

/// How the rows of a source are stored. A row's score does not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// Every feature of every row.
    Dense,
    /// Only the features that are there.
    #[default]
    Sparse,
}

/// How feature values are stored.
///
/// Text is rounded to the nearest `f64` first and then, for single precision, to the nearest `f32`, in
/// every format alike: the same data gives the same bits whatever file it came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Precision {
    /// `f32`: half the memory, and enough for measured data. The default.
    #[default]
    #[serde(rename = "f32")]
    Single,
    /// `f64`.
    #[serde(rename = "f64")]
    Double,
}

/// What becomes of a missing value: an empty cell, `NA`, `N/A`, `NaN`, `null`, `?`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// It is an error with its place.
    #[default]
    Error,
    /// It is the mean of its column in the training data, a category the most frequent one.
    Mean,
    /// It is the median of its column in the training data, a category the most frequent one.
    Median,
    /// It is the value that is most frequent in the training data.
    MostFrequent,
    /// It is zero; a missing category is none of the known ones.
    Zero,
    /// Its row is left out.
    Drop,
    /// It is a feature of its own, where columns of numbers bend; a missing category is none of the known ones.
    Own,
}

rosenblatt_core::named!(Missing, "missing",
    "error" = Self::Error, "an error with its place";
    "mean" = Self::Mean, "the mean of the column in the training data; of categories the most frequent";
    "median" = Self::Median, "the median of the column in the training data; of categories the most frequent";
    "most-frequent" or "mode" = Self::MostFrequent, "the most frequent value in the training data";
    "zero" = Self::Zero, "zero; a category is unknown";
    "drop" = Self::Drop, "the row is left out";
    "own" = Self::Own, "a weight of its own, where columns bend (`shape`); a category is unknown";
);

rosenblatt_core::named!(Precision, "precision",
    "f32" or "single" = Self::Single, "single precision";
    "f64" or "double" = Self::Double, "double precision";
);

/// The columns of a source and the features made of them.
///
/// Stored as JSON (or anything else that serde writes) it is all that prediction must know of the data;
/// [`Schema::check`] tells whether one that was stored makes sense. What only matters while reading is
/// not stored: notes, and whether it is provisional.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Schema {
    /// The columns that become features, in the order of their features. Empty if the format numbers
    /// its features itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<Column>,
    /// What the label column is called, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Columns that were left out, as asked for or for a reason, and stay so.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<String>,
    /// Numbered features that were left out, from 0: they are zero in every row, and stay so.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<u32>,
    /// How values were stored, if not as was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision: Option<Precision>,
    /// Whether the names stood in the source, so that columns can be matched by them.
    pub has_names: bool,
    /// How rows are stored.
    pub layout: Layout,
    /// The size of the table that hashed features share, as a power of two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash_bits: Option<u32>,
    /// How many features there are, where that is known without columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<usize>,
    /// What the features are called, if the source names them in every row: numbers first, then words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub names: Option<Vec<String>>,
    /// Whether features that are numbered in the source begin at 0.
    pub zero_based: bool,
    /// The form of the rows, if they are pictures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub picture: Option<Picture>,
    /// What becomes of missing values.
    pub missing: Missing,
    /// How text becomes features, if that is what the source holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<TextEncoder>,
    /// Columns, or namespaces, whose features are multiplied with each other's. The products come after all other
    /// features.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub crosses: Vec<[String; 2]>,
    /// How features are brought to one scale, if they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scaler: Option<Scaler>,
    /// How columns of numbers bend, if they do. Nothing is scaled then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bends: Option<Bends>,
    /// How many numbered features a model knows that is to read rows: those beyond are noted.
    #[serde(skip)]
    pub known: Option<usize>,
    /// Whether the schema is still being established: categories and means are collected, and no row can
    /// be made yet. See [`crate::survey`].
    #[serde(skip)]
    pub provisional: bool,
    /// Why rows are scaled as they are, if that was decided by what they are.
    #[serde(skip)]
    pub scaled_because: Option<&'static str>,
    /// What a user may want to know about how the source was understood. Not an error, reported once.
    #[serde(skip)]
    pub notes: Vec<String>,
}

/// The form of a row that is a picture: pixels from the top left, line by line, channels together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Picture {
    /// Pixels in a line.
    pub width: usize,
    /// Lines.
    pub height: usize,
    /// Numbers per pixel: 1 for grey, 3 for red, green and blue.
    pub channels: usize,
    /// Whether pictures of other sizes are resized to this one.
    pub resized: bool,
}

/// One column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Column {
    /// Its name, from the header or `column_3`.
    pub name: String,
    /// What becomes of its cells.
    pub kind: ColumnKind,
}

/// What becomes of the cells of a column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum ColumnKind {
    /// One feature, the number itself.
    Number {
        /// What stands in for a missing number, if anything: the mean of the training data, or zero.
        fill: Option<f64>,
        /// How the numbers that were learned from were written.
        #[serde(default, skip_serializing_if = "Spelling::is_plain")]
        spelling: Spelling,
    },
    /// One feature per value, 1 where the cell has that value.
    ///
    /// Of two values only the second has a feature: it is 1 there, and one half where neither is.
    Category {
        /// The known values, sorted.
        values: Vec<String>,
        /// What stands in for a missing value, if anything.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fill: Option<String>,
    },
    /// The feature `column=value` of a table of hashed features.
    Hashed,
    /// One feature per word, or run of words.
    Text(Box<TextEncoder>),
}

/// A column of numbers as programs write them.
fn plain_number(fill: Option<f64>) -> ColumnKind {
    ColumnKind::Number { fill, spelling: Spelling::PLAIN }
}

impl ColumnKind {
    /// Whether cells are names, each of them a value among others.
    pub(crate) fn has_values(&self) -> bool {
        matches!(self, Self::Category { .. } | Self::Hashed)
    }
}

impl Schema {
    /// How many features a row has, or `None` if that shows only at the end.
    pub fn width(&self) -> Option<usize> {
        let base = self.base_width()?;
        Some(if self.crosses.is_empty() { base } else { base.saturating_add(n_crossed(self)) })
    }

    /// How many features a row has before any are crossed.
    pub fn base_width(&self) -> Option<usize> {
        let straight = self.straight_width()?;
        Some(self.bends.as_ref().map_or(straight, |bends| bends.width(straight)))
    }

    /// How many features a row has before any bend or are crossed.
    pub fn straight_width(&self) -> Option<usize> {
        if let Some(text) = &self.text {
            return Some(text.width());
        }
        if let Some(names) = &self.names {
            return Some(names.len());
        }
        if self.columns.is_empty() {
            return self.width.or_else(|| self.hash_bits.map(|bits| 1 << bits));
        }
        let hashed = self.columns.iter().any(|column| column.kind == ColumnKind::Hashed);
        let table = if hashed { self.hash_bits.map_or(0, |bits| 1 << bits) } else { 0 };
        Some(self.columns.iter().map(Column::n_features).sum::<usize>() + table)
    }

    /// [`Schema::straight_width`], unless it is large and the schema holds no number for the features: a model of a few
    /// kilobytes may claim any number of them, and rows that are sparse need no room for those that they lack.
    pub(crate) fn shown_width(&self) -> Option<usize> {
        const GIVEN: usize = 1 << 16;
        let shown = self.scaler.as_ref().map_or(0, |scaler| scaler.scale.len());
        self.straight_width().filter(|width| *width <= GIVEN.max(shown))
    }

    /// The features that are numbers, ascending, of rows that are `width` wide before any bend: those of columns, or of
    /// arrays that have none.
    pub fn numbers(&self, width: usize) -> Vec<u32> {
        if self.columns.is_empty() {
            let is_array = self.layout == Layout::Dense
                && self.picture.is_none()
                && self.text.is_none()
                && self.names.is_none()
                && self.hash_bits.is_none();
            return if is_array { (0..width as u32).collect() } else { Vec::new() };
        }
        let starts = self.starts().0;
        let columns = self.columns.iter().zip(starts);
        let numbers = columns.filter(|(column, _)| matches!(column.kind, ColumnKind::Number { .. }));
        numbers.map(|(_, start)| start as u32).collect()
    }

    /// The features of each column as learners see them, with its name; those of each number of an array that bends.
    pub fn runs(&self) -> Vec<(String, Range<usize>)> {
        let Some(bends) = &self.bends else {
            let (starts, _) = self.starts();
            let columns = self.columns.iter().zip(starts);
            return columns
                .map(|(column, start)| (column.name.clone(), start..start + column.n_features()))
                .collect();
        };
        if self.columns.is_empty() {
            let number = |feature: usize| (format!("feature {}", feature + 1), bends.place(feature));
            return (0..self.straight_width().unwrap_or(0)).map(number).collect();
        }
        let (starts, _) = self.starts();
        let run = |(column, start): (&Column, usize)| {
            let first = bends.place(start);
            let end = match column.kind {
                ColumnKind::Number { .. } => first.end,
                _ => first.start + column.n_features(),
            };
            (column.name.clone(), first.start..end)
        };
        self.columns.iter().zip(starts).map(run).collect()
    }

    /// The column of numbers that a feature is a part of, if columns bend.
    pub fn bent_column(&self, feature: usize) -> Option<(String, &Bend)> {
        let bends = self.bends.as_ref()?;
        let bend = bends.columns.iter().find(|bend| bends.place(bend.feature as usize).contains(&feature))?;
        Some((self.number_name(bend), bend))
    }

    /// The column of two categories that this feature tells apart, before any bend, and the one that it is zero for.
    pub fn first_of_two(&self, feature: usize) -> Option<(&str, &str)> {
        let place = |start: usize| self.bends.as_ref().map_or(start, |bends| bends.place(start).start);
        let mut columns = self.columns.iter().zip(self.starts().0);
        columns.find_map(|(column, start)| match &column.kind {
            ColumnKind::Category { values, .. } if values.len() == 2 && place(start) == feature => {
                Some((column.name.as_str(), values[0].as_str()))
            }
            _ => None,
        })
    }

    /// What the column of numbers is called that bends so.
    fn number_name(&self, bend: &Bend) -> String {
        let mut columns = self.columns.iter().zip(self.starts().0);
        let is_it = |(column, start): &(&Column, usize)| {
            matches!(column.kind, ColumnKind::Number { .. }) && *start == bend.feature as usize
        };
        let named = columns.find(is_it).map(|(column, _)| column.name.clone());
        named.unwrap_or_else(|| format!("feature {}", bend.feature + 1))
    }

    /// The columns of each surface, by name; none if columns are straight, or every one adds something by itself.
    pub fn surfaces(&self) -> Vec<[String; 2]> {
        let surfaces = self.bends.as_ref().map_or(&[][..], |bends| &bends.surfaces);
        let name = |axis: &Bend| self.number_name(axis);
        surfaces.iter().map(|surface| surface.axes.each_ref().map(name)).collect()
    }

    /// Where the features of each column begin before any bend, and where the table of hashed features does.
    pub fn starts(&self) -> (Vec<usize>, usize) {
        let mut next = 0;
        let starts = self.columns.iter().map(|column| {
            let start = next;
            next += column.n_features();
            start
        });
        let starts = starts.collect();
        (starts, next)
    }

    /// The crosses of a row whose other features, scaled if they are to be, are these, ascending.
    pub fn crossed(&self, entries: &[(u32, f64)]) -> Vec<(u32, f64)> {
        let crosser = Crosser::new(self, usize::MAX).ok().flatten();
        crosser.map_or_else(Vec::new, |crosser| crosser.row(entries))
    }

    /// From which feature on features are made of several columns, and how, from the others of a row; nothing if none is.
    pub fn together(&self) -> Option<(usize, Joiner)> {
        let bends = self.bends.clone().filter(|bends| !bends.surfaces.is_empty());
        let crosser = Crosser::new(self, usize::MAX).ok().flatten();
        let start = match (&bends, &crosser) {
            (Some(bends), None) => bends.surfaces[0].start as usize,
            (None, Some(_)) => self.base_width()?,
            _ => return None,
        };
        let products = move |entries: &[(u32, f64)]| match (&bends, &crosser) {
            (Some(bends), _) => bends.crossed(entries),
            (None, Some(crosser)) => crosser.row(entries),
            (None, None) => Vec::new(),
        };
        Some((start, Box::new(products)))
    }

    /// How texts become features, and the column that they stand in if there are columns.
    pub fn texts(&self) -> impl Iterator<Item = (Option<&str>, &TextEncoder)> {
        let columns = self.columns.iter().filter_map(|column| match &column.kind {
            ColumnKind::Text(encoder) => Some((Some(column.name.as_str()), &**encoder)),
            _ => None,
        });
        self.text.iter().map(|text| (None, text)).chain(columns)
    }

    /// Per feature, whether it only says that something is so: such features have no scale. Nothing if there are no
    /// columns; features beyond the last column are crosses, which have none either.
    pub fn indicators(&self) -> Vec<bool> {
        let column = |column: &Column| {
            let is_number = matches!(column.kind, ColumnKind::Number { .. });
            std::iter::repeat_n(!is_number, column.n_features())
        };
        self.columns.iter().flat_map(column).collect()
    }

    /// The slot of the hashed feature `column=value` within its table.
    pub fn hashed_feature(&self, column: &str, value: &str) -> u32 {
        hash_slot(format!("{column}={value}").as_bytes(), self.hash_bits.unwrap_or(0))
    }

    /// A name for every feature, if the schema knows them all by name.
    pub fn feature_names(&self) -> Option<Arc<[String]>> {
        let names = self.base_names()?;
        if self.crosses.is_empty() {
            return Some(names);
        }
        Some(names.iter().cloned().chain(crossed_names(self, &names)).collect())
    }

    /// Names of the features that are not crosses.
    pub(crate) fn base_names(&self) -> Option<Arc<[String]>> {
        let Some(bends) = &self.bends else { return self.straight_names() };
        if self.columns.is_empty() {
            let numbers: Vec<String> =
                (0..self.straight_width()?).map(|feature| format!("feature {}", feature + 1)).collect();
            return Some(bends.names(&numbers).into());
        }
        Some(bends.names(&self.straight_names()?).into())
    }

    /// Names of the features before any bend or are crossed.
    fn straight_names(&self) -> Option<Arc<[String]>> {
        if let Some(text) = &self.text {
            return text.feature_names();
        }
        if let Some(names) = &self.names {
            return Some(names.as_slice().into());
        }
        let mut names = Vec::new();
        for column in &self.columns {
            match &column.kind {
                ColumnKind::Number { .. } => names.push(column.name.clone()),
                ColumnKind::Category { values, .. } => {
                    let shown = if values.len() == 2 { &values[1..] } else { &values[..] };
                    names.extend(shown.iter().map(|value| format!("{}={value}", column.name)));
                }
                ColumnKind::Hashed => return None,
                // Words alone need not say where they stood.
                ColumnKind::Text(encoder) if self.columns.len() == 1 => return encoder.feature_names(),
                ColumnKind::Text(encoder) => {
                    let words = encoder.feature_names()?;
                    names.extend(words.iter().map(|word| format!("{}:{word}", column.name)));
                }
            }
        }
        (!names.is_empty()).then(|| names.into())
    }

    /// The schema as a model keeps it. Columns of numbers that are merely numbered (`f1`, `f2`, …) say no
    /// more than features without columns, so they are dropped: the same rows give the same model whether
    /// they came as a table or as libsvm. [`Schema::for_table`] is the way back.
    #[must_use]
    pub fn without_numbered_columns(self) -> Self {
        let fill = self.plain_fill();
        let plain = self.columns.iter().all(|column| column.kind == plain_number(fill));
        let label_is_plain = self.label.as_deref().is_none_or(|label| label == "label");
        // One column that holds all features has no names for them either.
        if self.columns.is_empty() && self.ignored.is_empty() && self.text.is_none() && label_is_plain {
            return Self { label: None, ..self };
        }
        let is_kept = self.provisional
            || !self.crosses.is_empty()
            || self.bends.is_some()
            || self.hash_bits.is_some()
            || !self.ignored.is_empty();
        if is_kept || !self.has_names || !plain || !label_is_plain {
            return self;
        }
        // Rows that are scaled are stored as they were; others may come in any form.
        let moves_zero = |scaler: &Scaler| matches!(scaler.scaling, Scaling::Standard | Scaling::MinMax);
        let layout = if self.scaler.as_ref().is_some_and(moves_zero) { self.layout } else { Layout::Sparse };
        let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        // Bare numbers may count anything, and are kept as names.
        let are_bare = names.iter().any(|name| is_whole(name));
        if are_bare || !numbered(&names, names.len()).is_some_and(|places| places.is_sorted()) {
            return self;
        }
        let width = Some(names.len());
        Self { columns: Vec::new(), label: None, has_names: false, layout, width, ..self }
    }

    /// The schema as a table with columns of these names must keep to: if features are numbered and the
    /// columns are too, whatever the letters before the numbers, they belong together.
    #[must_use]
    pub fn for_table(&self, names: &[&str]) -> Self {
        let fits = self.columns.is_empty() && self.text.is_none() && self.hash_bits.is_none();
        let places = self.width.filter(|_| fits).and_then(|width| numbered(names, width));
        let Some(places) = places else { return self.clone() };
        let mut is_feature = vec![false; names.len()];
        for &place in &places {
            is_feature[place] = true;
        }
        let others: Vec<&&str> = names
            .iter()
            .zip(is_feature)
            .filter(|(_, is_feature)| !is_feature)
            .map(|(name, _)| name)
            .collect();
        let label = if let [label] = others[..] { Some((*label).to_owned()) } else { None };
        self.with_columns(places.iter().map(|&place| names[place]), label)
    }

    /// The schema whose numbered features stand in columns of these names.
    pub(crate) fn with_columns<'a>(
        &self,
        names: impl Iterator<Item = &'a str>,
        label: Option<String>,
    ) -> Self {
        let fill = self.plain_fill();
        let column = |name: &str| Column { name: name.to_owned(), kind: plain_number(fill) };
        Self {
            columns: names.map(column).collect(),
            label,
            has_names: true,
            layout: Layout::Dense,
            width: None,
            ..self.clone()
        }
    }

    /// How messages become features, if a row is a message and nothing else: a text, or a table's one column of text.
    pub(crate) fn message_encoder(&self) -> Option<&TextEncoder> {
        match (&self.text, &self.columns[..]) {
            (Some(text), _) => Some(text),
            (None, [Column { kind: ColumnKind::Text(encoder), .. }]) => Some(encoder),
            _ => None,
        }
    }

    /// The schema as texts without columns must keep to, if one column of text is all that was learned from.
    pub(crate) fn for_messages(&self) -> Option<Self> {
        let text = self.message_encoder()?.clone();
        Some(Self { columns: Vec::new(), text: Some(text), has_names: false, ..self.clone() })
    }

    /// The schema as a table must keep to whose column `text` holds messages, for a model that learned from texts.
    pub(crate) fn for_text_column(&self, text: &str, others: Vec<String>, label: Option<String>) -> Self {
        let kind = self.text.clone().map(|encoder| ColumnKind::Text(Box::new(encoder)));
        let columns = kind.map(|kind| Column { name: text.to_owned(), kind }).into_iter().collect();
        Self { columns, text: None, label, ignored: others, ..self.clone() }
    }

    /// What stands in for a missing number where no means were taken.
    fn plain_fill(&self) -> Option<f64> {
        (self.missing == Missing::Zero).then_some(0.0)
    }

    /// Whether the parts of a schema that was stored fit together.
    pub fn check(&self) -> Result<(), DataError> {
        let refuse = |complaint: &str| {
            Err(DataError::new(ErrorKind::Shape, format!("the stored schema makes no sense: {complaint}")))
        };
        let mut tables =
            self.hash_bits.into_iter().chain(self.texts().filter_map(|(_, text)| text.hash_bits));
        if tables.any(|bits| bits > MOST_BITS) {
            return refuse("its table of hashed features should have at most 2^30 slots");
        }
        let mut complaint = self.texts().find_map(|(_, text)| text.unsound());
        complaint = complaint.or_else(|| self.scaler.as_ref().and_then(Scaler::complaint));
        let mut names = std::collections::BTreeSet::new();
        if !self.names.iter().flatten().all(|name| names.insert(name.as_str())) {
            complaint = Some("its features should have different names");
        }
        names.clear();
        for column in &self.columns {
            if !names.insert(column.name.as_str()) {
                complaint = Some("its columns should have different names");
            }
            match &column.kind {
                ColumnKind::Number { fill: Some(fill), .. } if !fill.is_finite() => {
                    complaint = Some("what stands in for missing numbers should be finite");
                }
                ColumnKind::Category { values, .. } => {
                    let mut sorted: Vec<&String> = values.iter().collect();
                    sorted.sort_unstable();
                    if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
                        complaint = Some("the values of a column should differ");
                    }
                }
                ColumnKind::Hashed if self.hash_bits.is_none() => {
                    complaint = Some("hashed columns should have a table");
                }
                ColumnKind::Number { .. } | ColumnKind::Hashed | ColumnKind::Text(_) => {}
            }
        }
        if let Some(bends) = &self.bends {
            let straight = self.straight_width().unwrap_or(0);
            complaint = complaint.or_else(|| bends.complaint(&self.numbers(straight), straight));
            if self.scaler.is_some() {
                complaint = Some("what bends should not be scaled");
            }
        }
        if complaint.is_none() && Crosser::new(self, usize::MAX).is_err() {
            complaint = Some("it crosses columns that it does not have");
        }
        if self.width().is_some_and(|width| width > u32::MAX as usize) {
            complaint = Some("its features should be fewer than 2^32");
        }
        complaint.map_or(Ok(()), refuse)
    }

    /// Ends a survey of words or names: they get their places.
    pub fn settle(&mut self) {
        self.provisional = false;
        self.notes.extend(self.text.as_mut().and_then(|text| text.settle().note));
        if let Some(names) = &mut self.names {
            *names = Labels::sorted(&*names).names().to_vec();
        }
    }
}

/// Where the names are that consist of the same letters and the numbers from 1, or from 0, on: `width` of
/// them, by number.
fn numbered(names: &[&str], width: usize) -> Option<Vec<usize>> {
    if width == 0 || names.len() < width {
        return None;
    }
    let by_name = LazyCell::new(|| -> HashMap<&str, usize> { names.iter().copied().zip(0..).collect() });
    // Of names that are nothing but numbers, each is a feature.
    let n_numbers = names.iter().filter(|name| is_whole(name)).count();
    let stems = names.iter().flat_map(|name| [1, 0].map(|first| (name.strip_suffix(['0', '1']), first)));
    stems
        .filter_map(|(stem, first)| {
            Some((stem.filter(|stem| !stem.is_empty() || n_numbers == width)?, first))
        })
        .filter(|(stem, _)| !stem.ends_with(|c: char| c.is_ascii_digit()))
        .find_map(|(stem, first)| {
            let (mut name, mut next) = (String::new(), 0);
            let place = |number: usize| {
                name.clear();
                let _ = write!(name, "{stem}{number}");
                // As a rule one follows the other.
                let is_next = names.get(next).is_some_and(|candidate| *candidate == name);
                let place = if is_next { next } else { *by_name.get(name.as_str())? };
                next = place + 1;
                Some(place)
            };
            (first..first + width).map(place).collect()
        })
}

fn is_whole(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit())
}

impl Column {
    /// How many features of its own the column has.
    pub fn n_features(&self) -> usize {
        match &self.kind {
            ColumnKind::Number { .. } => 1,
            // One feature separates two values.
            ColumnKind::Category { values, .. } if values.len() == 2 => 1,
            ColumnKind::Category { values, .. } => values.len(),
            ColumnKind::Hashed => 0,
            ColumnKind::Text(encoder) => encoder.width(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::ReadOptions;

    #[test]
    fn merely_numbered_columns_are_kept_as_a_width_and_found_again() {
        let number = |name: &str| Column { name: name.into(), kind: plain_number(None) };
        let table = |names: &[&str], label: &str| Schema {
            columns: names.iter().map(|name| number(name)).collect(),
            label: Some(label.into()),
            has_names: true,
            layout: Layout::Dense,
            ..Schema::default()
        };
        let kept = table(&["f1", "f2", "f3"], "label").without_numbered_columns();
        assert_eq!(kept, Schema { width: Some(3), ..Schema::default() });
        assert_eq!(kept, table(&["px0", "px1", "px2"], "label").without_numbered_columns());
        for names in [&["f1", "f3", "f2"][..], &["f1", "g2", "f3"], &["1", "2"], &["f2", "f3"], &["age"]] {
            let as_it_was = table(names, "label");
            assert_eq!(as_it_was.clone().without_numbered_columns(), as_it_was, "{names:?}");
        }
        let named = table(&["f1", "f2"], "species");
        assert_eq!(named.clone().without_numbered_columns(), named);

        let found = kept.for_table(&["x3", "class", "x1", "x2"]);
        assert_eq!(found, table(&["x1", "x2", "x3"], "class"));
        assert_eq!(kept.for_table(&["x1", "x2", "y"]), kept);
        assert_eq!(kept.for_table(&["f1", "f2", "f3"]).label, None);
    }

    #[test]
    fn columns_become_features_in_order() {
        let category =
            ColumnKind::Category { values: ["f", "m", "x"].map(String::from).to_vec(), fill: None };
        let mut schema = Schema {
            columns: vec![
                Column { name: "sex".into(), kind: category },
                Column { name: "mass".into(), kind: plain_number(None) },
            ],
            ..Schema::default()
        };
        assert_eq!(schema.width(), Some(4));
        assert_eq!(schema.starts(), (vec![0, 3], 4));
        assert_eq!(*schema.feature_names().unwrap(), ["sex=f", "sex=m", "sex=x", "mass"]);
        let two = ColumnKind::Category { values: vec!["f".into(), "m".into()], fill: None };
        schema.columns[0].kind = two;
        assert_eq!(*schema.feature_names().unwrap(), ["sex=m", "mass"]);
        schema.columns[0].kind = ColumnKind::Hashed;
        schema.hash_bits = Some(4);
        assert_eq!(schema.width(), Some(17));
        assert_eq!(schema.starts(), (vec![0, 0], 1));
        assert_eq!(schema.feature_names(), None);
        assert_eq!(Schema::default().width(), None);
    }

    #[test]
    fn a_stored_schema_reads_back_as_itself() {
        use crate::encode::{Scaling, TextOptions, Weighting};
        use crate::{Source, load_with_schema};
        let table = Source::bytes("t.csv", *b"mass,sex,label\n0.1,f,a\n0.7,m,b\n,f,b\n");
        let hashed = ReadOptions { hash_bits: Some(4), missing: Missing::Mean, ..ReadOptions::as_stored() };
        let scaled =
            ReadOptions { missing: Missing::Mean, scaling: Scaling::Standard, ..ReadOptions::as_stored() };
        let messages = Source::bytes("t.tsv", *b"ham\tsee \"you\" soon\nspam\twin \xF0\x9F\x92\xB0 now\n");
        let plain = ReadOptions::as_stored();
        let text = TextOptions { weighting: Weighting::TfIdf, keep_names: true, ..TextOptions::default() };
        let hashed_text = ReadOptions { hash_bits: Some(5), text, ..ReadOptions::as_stored() };
        let svm = Source::bytes("t.svm", *b"1 0:1 7:0.3\n-1 2:4\n");
        let zero = ReadOptions { zero_based: true, scaling: Scaling::MaxAbs, ..ReadOptions::as_stored() };
        for (source, how) in
            [(&table, hashed), (&table, scaled), (&messages, plain), (&messages, hashed_text), (&svm, zero)]
        {
            let (data, mut schema) = load_with_schema(source, &how).unwrap();
            schema.check().unwrap();
            let json = serde_json::to_string(&schema).unwrap();
            let again: Schema = serde_json::from_str(&json).unwrap();
            schema.notes.clear();
            assert_eq!(again, schema, "{json}");
            // Under the stored schema the same file gives the same rows.
            let how = ReadOptions::as_stored().with_schema(std::sync::Arc::new(again));
            let (same, _) = load_with_schema(source, &how).unwrap();
            assert_eq!(same, data, "{json}");
        }
    }

    #[test]
    fn a_stored_schema_that_makes_no_sense_is_refused() {
        for (json, expected) in [
            (r#"{"hash-bits": 31}"#, "2^30"),
            (r#"{"text": {"hash-bits": 64}}"#, "2^30"),
            (r#"{"text": {"vocabulary": ["b", "a"]}}"#, "sorted"),
            (r#"{"text": {"vocabulary": ["a"], "idf": [1, 2]}}"#, "weight"),
            (r#"{"scaler": {"scale": [0]}}"#, "positive"),
            (r#"{"names": ["a", "b", "a"]}"#, "different"),
            (r#"{"scaler": {"scale": [1], "shift": [1, 2]}}"#, "as many"),
            (r#"{"columns": [{"name": "a", "kind": "hashed"}]}"#, "table"),
            (r#"{"columns": [{"name": "a", "kind": {"category": {"values": ["x", "x"]}}}]}"#, "differ"),
        ] {
            let schema: Schema = serde_json::from_str(json).unwrap();
            let error = schema.check().unwrap_err();
            assert!(error.message().contains(expected), "{error}");
        }
        assert!(serde_json::from_str::<Schema>(r#"{"from-the-future": 1}"#).is_err());
    }
}
