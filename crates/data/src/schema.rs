//! What the columns of a source are: their names, their kinds, and the features they become.
//!
//! A [`Schema`] is established once, by the first file or by a survey of all of them, and from then on
//! it is law: later files and later runs find their columns by name in it, and a column that is missing
//! or new is an error. It is what a model keeps of the data it was trained on. Formats that number their
//! features themselves (libsvm) have no columns and, until everything is read, no width.

use crate::hash::hash_slot;
use crate::labels::Labels;

/// How the rows of a source are stored. A row's score does not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Precision {
    /// `f32`: half the memory, and enough for measured data. The default.
    #[default]
    Single,
    /// `f64`.
    Double,
}

/// What becomes of a missing value: an empty cell, `NA`, `N/A`, `NaN`, `null`, `?`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Missing {
    /// It is an error with its place.
    #[default]
    Error,
    /// It is the mean of its column in the training data; a missing category is none of the known ones.
    Mean,
    /// It is zero; a missing category is none of the known ones.
    Zero,
    /// Its row is left out.
    Drop,
}

/// The mean of the numbers of a column so far.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Tally {
    n_numbers: u64,
    mean: f64,
}

impl Tally {
    /// Takes one more number in, in the order of the rows, so that the bits never vary.
    pub(crate) fn add(&mut self, number: f64) {
        self.n_numbers += 1;
        let n = self.n_numbers as f64;
        // Divided before subtracted: the difference of two large numbers may overflow.
        self.mean += number / n - self.mean / n;
    }
}

/// The columns of a source and the features made of them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Schema {
    /// The columns that become features, in the order of their features. Empty if the format numbers
    /// its features itself.
    pub columns: Vec<Column>,
    /// What the label column is called, if there is one.
    pub label: Option<String>,
    /// Whether the names stood in the source, so that columns can be matched by them.
    pub has_names: bool,
    /// How rows are stored.
    pub layout: Layout,
    /// The size of the table that hashed features share, as a power of two.
    pub hash_bits: Option<u32>,
    /// How many features there are, where that is known without columns.
    pub width: Option<usize>,
    /// The form of the rows, if they are pictures.
    pub picture: Option<Picture>,
    /// What becomes of missing values.
    pub missing: Missing,
    /// Whether the schema is still being established: categories and means are collected, and no row can
    /// be made yet. See [`crate::survey`].
    pub provisional: bool,
    /// Per column, what a survey has seen of its numbers.
    pub(crate) tallies: Vec<Tally>,
    /// What a user may want to know about how the source was understood. Not an error, said once.
    pub notes: Vec<String>,
}

/// The form of a row that is a picture: pixels from the top left, line by line, channels together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name, from the header or `column_3`.
    pub name: String,
    /// What becomes of its cells.
    pub kind: ColumnKind,
}

/// What becomes of the cells of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnKind {
    /// One feature, the number itself.
    Number {
        /// What stands in for a missing number, if anything: the mean of the training data, or zero.
        fill: Option<f64>,
    },
    /// One feature per value, 1 where the cell has that value.
    Category {
        /// The known values, sorted.
        values: Vec<String>,
    },
    /// The feature `column=value` of a table of hashed features.
    Hashed,
}

impl Schema {
    /// How many features a row has, or `None` if that shows only at the end.
    pub fn width(&self) -> Option<usize> {
        if self.columns.is_empty() {
            return self.width.or_else(|| self.hash_bits.map(|bits| 1 << bits));
        }
        let hashed = self.columns.iter().any(|column| column.kind == ColumnKind::Hashed);
        let table = if hashed { self.hash_bits.map_or(0, |bits| 1 << bits) } else { 0 };
        Some(self.columns.iter().map(Column::n_features).sum::<usize>() + table)
    }

    /// Where the features of each column begin, and where the table of hashed features does.
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

    /// The slot of the hashed feature `column=value` within its table.
    pub fn hashed_feature(&self, column: &str, value: &str) -> u32 {
        hash_slot(format!("{column}={value}").as_bytes(), self.hash_bits.unwrap_or(0))
    }

    /// A name for every feature, if the schema knows them all by name.
    pub fn feature_names(&self) -> Option<Vec<String>> {
        let mut names = Vec::new();
        for column in &self.columns {
            match &column.kind {
                ColumnKind::Number { .. } => names.push(column.name.clone()),
                ColumnKind::Category { values } => {
                    names.extend(values.iter().map(|value| format!("{}={value}", column.name)));
                }
                ColumnKind::Hashed => return None,
            }
        }
        (!names.is_empty()).then_some(names)
    }

    /// Ends a survey: categories are sorted, means take the place of missing numbers.
    pub fn settle(&mut self) {
        self.provisional = false;
        for (place, column) in self.columns.iter_mut().enumerate() {
            match &mut column.kind {
                ColumnKind::Number { fill } if self.missing == Missing::Mean => {
                    *fill = Some(self.tallies.get(place).map_or(0.0, |tally| tally.mean));
                }
                ColumnKind::Category { values } => {
                    *values = Labels::sorted(&*values).names().to_vec();
                }
                ColumnKind::Number { .. } | ColumnKind::Hashed => {}
            }
        }
        self.tallies = Vec::new();
    }
}

impl Column {
    /// How many features of its own the column has.
    pub fn n_features(&self) -> usize {
        match &self.kind {
            ColumnKind::Number { .. } => 1,
            ColumnKind::Category { values } => values.len(),
            ColumnKind::Hashed => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_become_features_in_order() {
        let category = ColumnKind::Category { values: vec!["f".into(), "m".into()] };
        let mut schema = Schema {
            columns: vec![
                Column { name: "sex".into(), kind: category },
                Column { name: "mass".into(), kind: ColumnKind::Number { fill: None } },
            ],
            ..Schema::default()
        };
        assert_eq!(schema.width(), Some(3));
        assert_eq!(schema.starts(), (vec![0, 2], 3));
        assert_eq!(schema.feature_names().unwrap(), ["sex=f", "sex=m", "mass"]);
        schema.columns[0].kind = ColumnKind::Hashed;
        schema.hash_bits = Some(4);
        assert_eq!(schema.width(), Some(17));
        assert_eq!(schema.starts(), (vec![0, 0], 1));
        assert_eq!(schema.feature_names(), None);
        assert_eq!(Schema::default().width(), None);
    }

    #[test]
    fn settling_sorts_categories_and_fills_in_means() {
        let category = ColumnKind::Category { values: vec!["b".into(), "10".into(), "9".into()] };
        let mut tally = Tally::default();
        for number in [1.0, 2.0, 6.0] {
            tally.add(number);
        }
        let mut schema = Schema {
            columns: vec![
                Column { name: "c".into(), kind: category },
                Column { name: "n".into(), kind: ColumnKind::Number { fill: None } },
            ],
            missing: Missing::Mean,
            provisional: true,
            tallies: vec![Tally::default(), tally],
            ..Schema::default()
        };
        schema.settle();
        let sorted = ["9", "10", "b"].map(String::from).to_vec();
        assert_eq!(schema.columns[0].kind, ColumnKind::Category { values: sorted });
        assert_eq!(schema.columns[1].kind, ColumnKind::Number { fill: Some(3.0) });
    }
}
