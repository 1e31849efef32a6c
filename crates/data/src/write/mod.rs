//! Rows to bytes: one file per format, one line in [`WRITERS`].
//!
//! Writers append to a buffer and know nothing of files. Numbers are written as short as they can be
//! while reading gives back the same bits. What a format cannot hold is an error, never left out; the one
//! exception are the names of features, which libsvm and `NumPy` have no place for.

#[cfg(feature = "arrow")]
mod arrow_batches;
pub(crate) mod file;
mod table;

pub use csv::csv_cell;
pub use file::NewFile;
pub use table::{Cell, CellKind, ParquetTable};

use crate::error::{DataError, ErrorKind};
use crate::formats::{FormatInfo, formats};
use crate::rows::schema::{Layout, Precision};
use crate::scan::number;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

formats! {
    /// All formats that can be written.
    pub static WRITERS: WriteFormat;
    mod libsvm::Libsvm;
    mod csv::Csv;
    also csv::Tsv;
    mod json_lines::JsonLines;
    mod vw::Vw;
    mod numpy::Npy;
    also numpy::Npz;
    mod parquet::Parquet;
    mod arrow_ipc::ArrowFile;
    also arrow_ipc::ArrowStream;
}

/// A format that can be written.
pub trait WriteFormat: Sync {
    /// What the outside needs to know of it.
    fn info(&self) -> FormatInfo;

    /// A writer for rows of this shape.
    fn start(&self, shape: &Shape) -> Result<Box<dyn RowWriter>, DataError>;

    /// Whether features of this shape are written as numbers.
    fn numbers_features(&self, _shape: &Shape) -> bool {
        false
    }

    /// What readers elsewhere may not take of rows of this shape, in words.
    fn note(&self, _shape: &Shape) -> Option<String> {
        None
    }
}

/// What all rows have in common.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Shape {
    /// How many features a row has.
    pub width: usize,
    /// What they are called, if they have names.
    pub names: Option<Arc<[String]>>,
    /// Whether rows have labels.
    pub labelled: bool,
    /// Whether rows have weights.
    pub weighted: bool,
    /// How values are stored.
    pub precision: Precision,
    /// Whether features are to be numbered from 0, where they are numbered.
    pub zero_based: bool,
    /// Whether rows hold all values, or only those that are not zero.
    pub layout: Layout,
    /// How many rows there will be.
    pub n_rows: u64,
    /// The names of all classes.
    pub labels: Vec<String>,
}

impl Shape {
    /// What the columns of a table are called: the label and the weight, if there are any, then the features.
    /// Features without names are `f1`, `f2`, …
    pub(crate) fn column_names(&self) -> Vec<String> {
        let first = [self.labelled.then_some("label"), self.weighted.then_some("weight")];
        let mut names: Vec<String> = first.into_iter().flatten().map(str::to_owned).collect();
        let taken = names.clone();
        for place in 0..self.width {
            let named = self.names.as_ref().and_then(|names| names.get(place));
            let mut name = named.cloned().unwrap_or_else(|| format!("f{}", place + 1));
            while taken.contains(&name) {
                name.push('_');
            }
            names.push(name);
        }
        names
    }

    /// Refuses what has no features or more than `max_columns` of them.
    pub(crate) fn check_columns(&self, max_columns: usize) -> Result<(), DataError> {
        if (1..=max_columns).contains(&self.width) {
            return Ok(());
        }
        let message = format!("a table should have from 1 to {max_columns} features, but has {}", self.width);
        Err(DataError::new(ErrorKind::Options, message).with_help("write libsvm, which leaves zeros out"))
    }

    /// The classes as whole numbers, if that is what they all are.
    pub(crate) fn whole_labels(&self) -> Option<Vec<i64>> {
        let whole = |name: &String| {
            let number: i64 = name.parse().ok()?;
            // Readers take numbers for doubles on the way.
            (number.to_string() == *name && number.unsigned_abs() < 1 << 53).then_some(number)
        };
        self.labels.iter().map(whole).collect()
    }

    /// The classes as numbers, if that is what they all are and the precision has room for them.
    pub(crate) fn number_labels(&self) -> Option<Vec<f64>> {
        let exact =
            |number: &f64| self.precision == Precision::Double || f64::from(*number as f32) == *number;
        self.labels.iter().map(|name| number::parse(name.as_bytes()).ok().filter(exact)).collect()
    }
}

/// The error for what a format cannot hold, and the cure.
pub(crate) fn unfit(message: impl Into<String>, help: &str) -> DataError {
    DataError::new(ErrorKind::Options, message).with_help(help)
}

/// One row, as a writer is handed it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OutRow<'a> {
    /// Its class, if it has one.
    pub label: Option<&'a str>,
    /// The number of its class.
    pub class: u32,
    /// How much it counts.
    pub weight: f64,
    /// Its features, ascending; those that are not there are zero.
    pub entries: &'a [(u32, f64)],
}

/// Writes rows, one after the other.
pub trait RowWriter: Send {
    /// What stands before the first row.
    fn head(&mut self, _into: &mut Vec<u8>) -> Result<(), DataError> {
        Ok(())
    }

    /// One row. The error says what the format cannot hold.
    fn row(&mut self, row: &OutRow<'_>, into: &mut Vec<u8>) -> Result<(), DataError>;

    /// What follows the last row.
    fn end(&mut self, _into: &mut Vec<u8>) -> Result<(), DataError> {
        Ok(())
    }
}

/// The format called `name`, or the one that the extension of `path` stands for (`.gz`, `.zst` left out).
pub fn find_writer(name: Option<&str>, path: &Path) -> Result<&'static dyn WriteFormat, DataError> {
    let names = || WRITERS.iter().map(|writer| writer.info().name).collect::<Vec<_>>().join(", ");
    let fail =
        |message: String| DataError::new(ErrorKind::Options, message).in_source(&path.display().to_string());
    if let Some(name) = name {
        let named = WRITERS.iter().find(|writer| writer.info().is_called(name));
        return named.copied().ok_or_else(|| {
            fail(format!("the format to write should be one of {}, but is `{name}`", names()))
        });
    }
    let file = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let file = file.strip_suffix(".gz").or(file.strip_suffix(".zst")).unwrap_or(&file);
    let extension = file.rsplit_once('.').map_or("", |(_, extension)| extension);
    let known = WRITERS.iter().find(|writer| writer.info().extensions.contains(&extension));
    known.copied().ok_or_else(|| {
        fail(format!("the name does not tell the format to write, expected one of {}", names()))
            .with_help("name the format with {to}")
    })
}

/// Appends `value` so that it reads back to the same bits.
pub(crate) fn push_number(into: &mut Vec<u8>, value: f64, precision: Precision, scratch: &mut String) {
    scratch.clear();
    let narrow = value as f32;
    // Writing to a string cannot fail.
    if precision == Precision::Single && f64::from(narrow) == value {
        let _ = write!(scratch, "{}", Short32(narrow));
        // Text is rounded to double precision first, which may, in theory, tip the balance.
        if scratch.parse::<f64>().is_ok_and(|read| (read as f32).to_bits() == narrow.to_bits()) {
            into.extend_from_slice(scratch.as_bytes());
            return;
        }
        scratch.clear();
    }
    let _ = write!(scratch, "{}", Short64(value));
    into.extend_from_slice(scratch.as_bytes());
}

/// Shortest digits, with an exponent where there would be many zeros.
struct Short32(f32);
struct Short64(f64);

impl std::fmt::Display for Short32 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let size = self.0.abs();
        if size != 0.0 && !(1e-5..1e16).contains(&size) {
            write!(f, "{:e}", self.0)
        } else {
            write!(f, "{}", self.0)
        }
    }
}

impl std::fmt::Display for Short64 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let size = self.0.abs();
        if size != 0.0 && !(1e-5..1e16).contains(&size) {
            write!(f, "{:e}", self.0)
        } else {
            write!(f, "{}", self.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_back_to_the_same_bits() {
        let mut random = rosenblatt_core::Random::new(3);
        let mut scratch = String::new();
        for _ in 0..20_000 {
            let single = f32::from_bits(random.next() as u32);
            let double = f64::from_bits(random.next());
            let mut text = Vec::new();
            if single.is_finite() {
                push_number(&mut text, f64::from(single), Precision::Single, &mut scratch);
                let read = crate::scan::number::parse(&text).unwrap() as f32;
                assert_eq!(read.to_bits(), single.to_bits(), "{single:e}");
            }
            text.clear();
            if double.is_finite() {
                push_number(&mut text, double, Precision::Double, &mut scratch);
                assert_eq!(
                    crate::scan::number::parse(&text).unwrap().to_bits(),
                    double.to_bits(),
                    "{double:e}"
                );
            }
        }
        let mut text = Vec::new();
        push_number(&mut text, f64::from(0.1_f32), Precision::Single, &mut scratch);
        assert_eq!(text, b"0.1");
    }

    #[test]
    fn formats_are_found_by_name_and_extension() {
        let found =
            |name, path: &str| find_writer(name, Path::new(path)).map(|format| format.info().name).ok();
        assert_eq!(found(None, "a.SVM.gz"), Some("libsvm"));
        assert_eq!(found(None, "a.tsv"), Some("tsv"));
        assert_eq!(found(None, "a.jsonl.zst"), Some("jsonl"));
        assert_eq!(found(None, "-"), None);
        assert_eq!(found(Some("csv"), "a"), Some("csv"));
        assert_eq!(found(None, "a.xyz"), None);
        assert_eq!(found(Some("xls"), "a.csv"), None);
    }
}
