//! `NumPy`: `.npy` and `.npz`: arrays of numbers, labels beside them.
//!
//! The first dimension counts the rows, the others are flattened. Labels come from the array `y` (or
//! `labels`, `target`) of an `.npz`, from `y.npy` beside `X.npy`, from a file that is named, or from a
//! column of the array that `label` names. In an `.npz` the features are `X` (or `data`, `features`),
//! else the first array of two dimensions; what `scipy.sparse.save_npz` writes is recognised, in CSR
//! only, its duplicates added up as `SciPy` does. Numbers are taken as they are, whatever their type,
//! byte order or memory order; nothing is scaled. A NaN is a missing value.
//!
//! Rows are streamed, except that arrays in Fortran order are held in memory. Arrays of objects are
//! pickles, which run code when they are opened, and are refused.

mod array;

use super::matrix::{self, LabelsAt};
use super::zip::{self, Archive};
use super::{Format, FormatInfo, Head, Reader, Sniff};
use crate::bytes::source::{Input, Part};
use crate::error::{DataError, ErrorKind, Position, quote};
use crate::options::{LabelColumn, OnBadRow, ReadOptions, find_column};
use crate::rows::block::{Block, Stored, merge_row, sort_row};
use crate::rows::schema::{Layout, Missing, Picture, Precision, Schema};
use array::{Array, Feed, Kind, MAGIC};
use std::collections::HashMap;
use std::sync::Arc;

/// What arrays of features are called, the most telling first.
const FEATURE_NAMES: [&str; 8] =
    ["X", "x", "data", "features", "X_train", "x_train", "train_images", "images"];

/// What arrays of labels are called.
const LABEL_NAMES: [&str; 9] =
    ["y", "Y", "labels", "label", "target", "targets", "y_train", "train_labels", "classes"];

/// An inflated array held in memory may have this many bytes, and more if its packed bytes justify it.
const HELD_AT_LEAST: u64 = 64 << 20;
const HELD_RATIO: u64 = 200;

/// How many entries of sparse rows make a block.
const BLOCK_ENTRIES: usize = 128 << 10;

/// `NumPy` arrays.
#[derive(Debug)]
pub(crate) struct Numpy;

impl Format for Numpy {
    fn info(&self) -> FormatInfo {
        FormatInfo {
            aliases: &["npy", "npz"],
            extensions: &["npy", "npz"],
            ..FormatInfo::new(
                "numpy",
                "NumPy arrays, alone or several in an archive, SciPy's sparse ones too",
            )
        }
    }

    fn heeds(&self) -> &'static [&'static str] {
        &["label", "labels", "ignore", "missing", "shape"]
    }

    fn numbers_features(&self) -> bool {
        true
    }

    fn sniff(&self, head: &Head<'_>) -> Sniff {
        let archived = || {
            head.bytes.starts_with(zip::MAGIC)
                && (head.extension == Some("npz")
                    || head.bytes.get(30..).is_some_and(|name| {
                        memchr::memmem::find(&name[..name.len().min(256)], MAGIC).is_some()
                            || memchr::memmem::find(&name[..name.len().min(256)], b".npy").is_some()
                    }))
        };
        if head.bytes.starts_with(MAGIC) || archived() { Sniff::Certain } else { Sniff::No }
    }

    fn open(&self, input: Input, how: &ReadOptions) -> Result<Box<dyn Reader>, DataError> {
        Ok(match how.precision {
            Precision::Single => open_any::<f32>(input, how)?,
            Precision::Double => open_any::<f64>(input, how)?,
        })
    }
}

fn open_any<T: Stored>(input: Input, how: &ReadOptions) -> Result<Box<dyn Reader>, DataError> {
    let name = input.name().clone();
    if input.head().starts_with(zip::MAGIC) {
        open_archive::<T>(input, how).map_err(|error| error.in_source(&name))
    } else {
        let labels = matrix::find_labels(&input, how, label_files);
        let array = Array::open(Feed::Input(input), "array").map_err(|error| error.in_source(&name))?;
        let n_columns = array.header.width().unwrap_or(0);
        let labels = match (labels, label_column(how, n_columns)?) {
            (_, Some(column)) => LabelsFrom::Column(column),
            (LabelsAt::File(path), None) => LabelsFrom::Array(labels_of(path)?),
            (LabelsAt::Nowhere, None) => LabelsFrom::Nowhere,
            (LabelsAt::Lost(tried), None) => {
                let help = "name a file of labels with {labels}, or the column they are in with {label} \
                            (-1 is the last)";
                return Err(matrix::labels_lost(&tried, help).in_source(&name));
            }
        };
        Ok(Box::new(DenseReader::<T>::new(name, array, labels, how)?))
    }
}

/// Names of a file of labels beside one of features.
fn label_files(name: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (from, to) in
        [("X", "y"), ("x", "y"), ("data", "labels"), ("features", "labels"), ("images", "labels")]
    {
        if let Some(rest) = name.strip_prefix(from)
            && !rest.starts_with(|c: char| c.is_ascii_alphanumeric())
        {
            names.push(format!("{to}{rest}"));
        }
        let stem = name.split('.').next().unwrap_or(name);
        if let Some(before) = stem.strip_suffix(from)
            && before.ends_with(['_', '-'])
        {
            names.push(format!("{before}{to}{}", &name[stem.len()..]));
        }
    }
    names
}

/// The column of labels that the options name, if they do.
fn label_column(how: &ReadOptions, n_columns: usize) -> Result<Option<usize>, DataError> {
    let LabelColumn::Named(what) = &how.label else { return Ok(None) };
    // The columns of an array have numbers and no names, and there may be very many.
    let number: Option<i64> = what.parse().ok();
    let place = match number {
        Some(number) if number > 0 => usize::try_from(number - 1).ok(),
        Some(number) => {
            usize::try_from(number.unsigned_abs()).ok().and_then(|back| n_columns.checked_sub(back))
        }
        None => find_column(what, &[""; 0]),
    };
    if how.schema.as_ref().is_some_and(|schema| schema.straight_width() == Some(n_columns)) {
        let message = format!(
            "the model learned from all {n_columns} columns, expected one more if one of them is the label"
        );
        return Err(DataError::new(ErrorKind::Options, message).with_help("leave {label} out here"));
    }
    place.filter(|&place| place < n_columns).map(Some).ok_or_else(|| {
        let message = format!(
            "there is no column {} of labels, expected a number from 1 to {n_columns}, or -1 for the last",
            quote(what.as_bytes())
        );
        DataError::new(ErrorKind::Options, message)
    })
}

/// The first array of a file of labels.
fn labels_of(path: std::path::PathBuf) -> Result<Array, DataError> {
    let input = Part::File(path).open()?;
    let name = input.name().clone();
    let open = || {
        if input.head().starts_with(zip::MAGIC) {
            let message = "the labels are in an archive, expected one array";
            return Err(DataError::new(ErrorKind::Format, message).with_help("save them with numpy.save"));
        }
        Array::open(Feed::Input(input), "labels")
    };
    open().map_err(|error| error.in_source(&name))
}

/// Where the labels come from.
enum LabelsFrom {
    Array(Array),
    Column(usize),
    Nowhere,
}

impl LabelsFrom {
    /// Checks that there is a label for each of `n_rows` rows.
    fn check(&self, n_rows: u64) -> Result<(), DataError> {
        let Self::Array(array) = self else { return Ok(()) };
        let is_list = array.header.width() == Some(1) && !array.header.shape.is_empty();
        if !is_list || array.header.n_rows() != n_rows {
            let message = format!(
                "the labels `{}` have the shape {:?}, expected ({n_rows},), one for each row",
                array.name, array.header.shape
            );
            return Err(DataError::new(ErrorKind::Shape, message));
        }
        Ok(())
    }

    /// Numbers of the labels of the next `n_rows` rows, after `n_before` others.
    fn next(
        &mut self,
        n_rows: usize,
        n_before: u64,
        block: &mut Block,
        into: &mut Vec<u32>,
    ) -> Result<(), DataError> {
        into.clear();
        let Self::Array(array) = self else { return Ok(()) };
        let mut bytes = Vec::new();
        array.read(n_rows, &mut bytes)?;
        for (row, bytes) in (n_before + 1..).zip(bytes.chunks_exact(array.header.dtype.size)) {
            let position = Position { row: Some(row), line: None, column: None };
            let fail = |message: String| DataError::new(ErrorKind::Label, message).at(position);
            let text = array.header.dtype.text(bytes).map_err(|point| {
                fail(format!("the label should be text, but holds {point:#X}, which is no character"))
            })?;
            let class = block.names.number(&text).map_err(|bad| fail(bad.message(&text)))?;
            into.push(class);
        }
        Ok(())
    }
}

/// What became of a row.
enum Kept {
    Row,
    Dropped,
    Skipped(DataError),
}

/// Turns the numbers of a row into stored values by the policy for missing ones.
fn narrow_row<T: Stored>(
    numbers: impl Iterator<Item = f64>,
    missing: Missing,
    on_bad_row: OnBadRow,
    row_number: u64,
    row: &mut Vec<T>,
) -> Result<Kept, DataError> {
    row.clear();
    for number in numbers {
        if let Some(value) = T::narrow(number) {
            row.push(value);
            continue;
        }
        match missing {
            Missing::Zero if number.is_nan() => {
                row.push(T::default());
                continue;
            }
            Missing::Own if number.is_nan() => {
                row.push(T::nearest(number));
                continue;
            }
            Missing::Drop if number.is_nan() => return Ok(Kept::Dropped),
            _ => {}
        }
        let column = row.len() as u64 + 1;
        let position = Position { row: Some(row_number), line: None, column: Some(column) };
        let (message, help) = if number.is_nan() && missing == Missing::Mean {
            (
                "the value is missing (NaN), and means are known only of tables with columns".to_owned(),
                "use {missing=zero} or {missing=drop}",
            )
        } else if number.is_nan() {
            (
                "the value should be a finite number, but is NaN".to_owned(),
                "say what becomes of missing values with {missing=zero} or drop",
            )
        } else if number.is_finite() {
            (format!("the value should fit single precision, but is {number}"), "use {precision=f64}")
        } else {
            (format!("the value should be a finite number, but is {number}"), "mend the array")
        };
        let error = DataError::new(ErrorKind::Number, message).at(position).with_help(help);
        return if on_bad_row == OnBadRow::Skip { Ok(Kept::Skipped(error)) } else { Err(error) };
    }
    Ok(Kept::Row)
}

/// A reader of an array with one row of numbers per example.
struct DenseReader<T> {
    name: Arc<str>,
    array: Array,
    labels: LabelsFrom,
    schema: Schema,
    /// Elements per row, the label's too.
    n_columns: usize,
    n_rows: u64,
    /// All of the array if it is in Fortran order.
    held: Option<Vec<u8>>,
    on_bad_row: OnBadRow,
    bytes: Vec<u8>,
    numbers: Vec<f64>,
    classes: Vec<u32>,
    row: Vec<T>,
}

impl<T: Stored> DenseReader<T> {
    fn new(
        name: Arc<str>,
        mut array: Array,
        labels: LabelsFrom,
        how: &ReadOptions,
    ) -> Result<Self, DataError> {
        let mut open = || {
            let header = array.header.clone();
            if header.shape.len() < 2 || header.dtype.is_text() {
                let message = format!(
                    "the array `{}` has the shape {:?}, expected rows and columns of numbers",
                    array.name, header.shape
                );
                return Err(DataError::new(ErrorKind::Shape, message));
            }
            let n_columns = header.width().ok_or_else(|| {
                DataError::new(ErrorKind::Limit, format!("the shape {:?} is too large", header.shape))
            })?;
            let width = n_columns - usize::from(matches!(labels, LabelsFrom::Column(_)));
            let picture = match header.shape[..] {
                [_, height, image_width] if width == n_columns => Some(Picture {
                    width: image_width as usize,
                    height: height as usize,
                    channels: 1,
                    resized: false,
                }),
                _ => None,
            };
            let schema = matrix::schema_of(width, Layout::Dense, picture, how)?;
            labels.check(header.n_rows())?;
            let held = if header.fortran && header.shape.iter().filter(|&&size| size > 1).count() > 1 {
                Some(hold(&mut array, how)?)
            } else {
                None
            };
            Ok((schema, n_columns, held))
        };
        let (schema, n_columns, held) = open().map_err(|error: DataError| error.in_source(&name))?;
        Ok(Self {
            name,
            array,
            labels,
            schema,
            n_columns,
            n_rows: 0,
            held,
            on_bad_row: how.on_bad_row,
            bytes: Vec::new(),
            numbers: Vec::new(),
            classes: Vec::new(),
            row: Vec::new(),
        })
    }

    /// The numbers of the next `n_rows` rows, row by row, out of the bytes that were read or are held.
    fn put_numbers(&mut self, n_rows: usize) {
        self.numbers.clear();
        let dtype = self.array.header.dtype;
        let Some(held) = &self.held else {
            dtype.numbers(&self.bytes, &mut self.numbers);
            return;
        };
        for row in self.n_rows as usize..self.n_rows as usize + n_rows {
            for column in 0..self.n_columns {
                let at = self.place_in_fortran_order(row, column);
                dtype.numbers(&held[at * dtype.size..][..dtype.size], &mut self.numbers);
            }
        }
    }

    /// Where an element stands if the first dimension varies fastest.
    fn place_in_fortran_order(&self, row: usize, column: usize) -> usize {
        let size = |place: usize| self.array.header.shape.get(place).map_or(1, |&size| size as usize);
        let (mut rest, mut at) = (column, row);
        let mut stride = self.n_columns / size(1).max(1);
        let mut step = size(0);
        for place in 1..self.array.header.shape.len() {
            at += rest.checked_div(stride).unwrap_or(0) * step;
            rest = rest.checked_rem(stride).unwrap_or(0);
            step *= size(place);
            stride = stride.checked_div(size(place + 1)).unwrap_or(1);
        }
        at
    }

    /// The label in `column` of the row that is the `place`-th of those at hand and `row`-th of all, digit by digit.
    fn label_in_column(&self, column: usize, place: usize, row: usize) -> Vec<u8> {
        let dtype = self.array.header.dtype;
        let (bytes, at) = match &self.held {
            Some(held) => (held, self.place_in_fortran_order(row, column)),
            None => (&self.bytes, place * self.n_columns + column),
        };
        dtype.text(&bytes[at * dtype.size..][..dtype.size]).unwrap_or_default()
    }

    /// Whether rows are stored in the file as they are in a block.
    fn is_stored_alike(&self) -> bool {
        let dtype = self.array.header.dtype;
        self.held.is_none()
            && self.schema.layout == Layout::Dense
            && !matches!(self.labels, LabelsFrom::Column(_))
            && matches!(dtype.kind, Kind::Float)
            && dtype.size == size_of::<T>()
            && !dtype.big_endian
    }

    /// Takes the rows whose bytes were just read over as they are. False, and nothing done, if there is something among
    /// them that must be looked at closely.
    fn fill_alike(&mut self, n_rows: usize, into: &mut Block) -> Result<bool, DataError> {
        let Some(matrix) = T::dense(&mut into.matrix) else { return Ok(false) };
        T::get(&self.bytes, &mut matrix.values);
        if !T::all_finite(&matrix.values) {
            matrix.values.clear();
            return Ok(false);
        }
        self.labels.next(n_rows, self.n_rows, into, &mut self.classes)?;
        self.n_rows += n_rows as u64;
        into.classes.extend((0..n_rows).map(|place| self.classes.get(place).copied().unwrap_or(0)));
        Ok(true)
    }

    fn fill(&mut self, into: &mut Block) -> Result<bool, DataError> {
        let width = self.n_columns - usize::from(matches!(self.labels, LabelsFrom::Column(_)));
        into.clear(self.schema.layout, T::PRECISION, width);
        into.labelled = !matches!(self.labels, LabelsFrom::Nowhere);
        into.first_row = self.n_rows;
        while into.is_empty() {
            let n_left = self.array.header.n_rows() - self.n_rows;
            let n_rows = (matrix::rows_per_block(width) as u64).min(n_left) as usize;
            if n_rows == 0 {
                self.array.check_end()?;
                if let LabelsFrom::Array(labels) = &mut self.labels {
                    labels.check_end()?;
                }
                return Ok(false);
            }
            if self.held.is_none() {
                self.array.read(n_rows * self.n_columns, &mut self.bytes)?;
            }
            if self.is_stored_alike() && self.fill_alike(n_rows, into)? {
                continue;
            }
            self.put_numbers(n_rows);
            self.labels.next(n_rows, self.n_rows, into, &mut self.classes)?;
            for (place, numbers) in self.numbers.chunks_exact(self.n_columns).enumerate() {
                self.n_rows += 1;
                let class = match self.labels {
                    LabelsFrom::Column(column) => {
                        let text = self.label_in_column(column, place, self.n_rows as usize - 1);
                        into.names.number(&text).map_err(|bad| {
                            let position = Position {
                                row: Some(self.n_rows),
                                line: None,
                                column: Some(column as u64 + 1),
                            };
                            DataError::new(ErrorKind::Label, bad.message(&text)).at(position)
                        })?
                    }
                    _ => self.classes.get(place).copied().unwrap_or(0),
                };
                let features = numbers.iter().enumerate().filter(|(column, _)| match self.labels {
                    LabelsFrom::Column(label) => *column != label,
                    _ => true,
                });
                let features = features.map(|(_, &number)| number);
                let missing = self.schema.missing;
                match narrow_row(features, missing, self.on_bad_row, self.n_rows, &mut self.row)? {
                    Kept::Dropped => into.drop_row(),
                    Kept::Skipped(error) => into.skip_row(&error.in_source(&self.name)),
                    Kept::Row => {
                        matrix::push_row(&mut into.matrix, &self.row);
                        into.classes.push(class);
                    }
                }
            }
        }
        Ok(true)
    }
}

/// All bytes of an array, if that is not too much.
fn hold(array: &mut Array, how: &ReadOptions) -> Result<Vec<u8>, DataError> {
    let limit = match &array.feed {
        Feed::Input(_) => how.limits.held_bytes,
        Feed::Entry(_, n_packed) => {
            how.limits.held_bytes.min(HELD_AT_LEAST.max(n_packed.saturating_mul(HELD_RATIO)))
        }
    };
    let n_elements = array.header.shape.iter().try_fold(1_u64, |n, &size| n.checked_mul(size));
    let n_bytes = n_elements.and_then(|n| n.checked_mul(array.header.dtype.size as u64));
    match n_bytes {
        Some(n_bytes) if n_bytes <= limit => {
            let mut held = Vec::new();
            array.read((n_bytes / array.header.dtype.size as u64) as usize, &mut held)?;
            Ok(held)
        }
        _ => {
            let message = format!(
                "the array `{}` is in Fortran order and larger than {limit} bytes, the limit for what is held",
                array.name
            );
            Err(DataError::new(ErrorKind::Limit, message)
                .with_help("save it in C order: numpy.save(FILE, numpy.ascontiguousarray(X))"))
        }
    }
}

impl<T: Stored> Reader for DenseReader<T> {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn read(&mut self, into: &mut Block) -> Result<bool, DataError> {
        self.fill(into).map_err(|error| error.in_source(&self.name))
    }
}

/// A reader of compressed sparse rows, three arrays read side by side.
struct SparseReader<T> {
    name: Arc<str>,
    data: Array,
    indices: Array,
    indptr: Array,
    labels: LabelsFrom,
    schema: Schema,
    width: usize,
    all_rows: u64,
    n_rows: u64,
    /// How many entries there are, and how many were read.
    n_entries: u64,
    at_entry: u64,
    on_bad_row: OnBadRow,
    bytes: Vec<u8>,
    numbers: Vec<f64>,
    row: Vec<T>,
    scratch: Vec<(u32, T)>,
}

impl<T: Stored> SparseReader<T> {
    /// The next element of `indptr`.
    fn next_bound(&mut self) -> Result<u64, DataError> {
        self.indptr.read(1, &mut self.bytes)?;
        let bound = self.indptr.header.dtype.signed(&self.bytes);
        let expected = self.at_entry..=self.n_entries;
        u64::try_from(bound).ok().filter(|bound| expected.contains(bound)).ok_or_else(|| {
            let position = Position { row: Some(self.n_rows + 1), line: None, column: None };
            let message = format!(
                "`indptr` says {bound}, expected a number from {} to {}",
                expected.start(),
                expected.end()
            );
            DataError::new(ErrorKind::Shape, message).at(position)
        })
    }

    fn fill(&mut self, into: &mut Block) -> Result<bool, DataError> {
        into.clear(Layout::Sparse, T::PRECISION, self.width);
        into.labelled = !matches!(self.labels, LabelsFrom::Nowhere);
        into.first_row = self.n_rows;
        if self.n_rows == 0 && self.indptr.n_read == 0 {
            let first = self.next_bound()?;
            if first != 0 {
                let message = format!("`indptr` begins with {first}, expected 0");
                return Err(DataError::new(ErrorKind::Shape, message));
            }
        }
        let mut class = Vec::new();
        while self.n_rows < self.all_rows {
            let n_stored = T::sparse(&mut into.matrix).map_or(0, |matrix| matrix.n_entries());
            if n_stored >= BLOCK_ENTRIES || into.len() >= BLOCK_ENTRIES {
                return Ok(true);
            }
            let bound = self.next_bound()?;
            let n_entries = usize::try_from(bound - self.at_entry).unwrap_or(usize::MAX);
            self.at_entry = bound;
            self.labels.next(1, self.n_rows, into, &mut class)?;
            self.n_rows += 1;
            let position = Position { row: Some(self.n_rows), line: None, column: None };
            self.indices.read(n_entries, &mut self.bytes)?;
            let dtype = self.indices.header.dtype;
            let Some(matrix) = T::sparse(&mut into.matrix) else { return Ok(false) };
            let start = matrix.n_entries();
            for bytes in self.bytes.chunks_exact(dtype.size) {
                let index = dtype.signed(bytes);
                let Some(index) = u32::try_from(index).ok().filter(|&index| (index as usize) < self.width)
                else {
                    let message = format!("`indices` says {index}, expected 0 to {}", self.width - 1);
                    return Err(DataError::new(ErrorKind::Index, message).at(position));
                };
                matrix.indices.push(index);
            }
            self.data.read(n_entries, &mut self.bytes)?;
            self.numbers.clear();
            self.data.header.dtype.numbers(&self.bytes, &mut self.numbers);
            let numbers = self.numbers.iter().copied();
            match narrow_row(numbers, self.schema.missing, self.on_bad_row, self.n_rows, &mut self.row)? {
                Kept::Row => matrix.values.extend_from_slice(&self.row),
                Kept::Dropped => {
                    matrix.truncate(start);
                    into.drop_row();
                    continue;
                }
                Kept::Skipped(error) => {
                    matrix.truncate(start);
                    into.skip_row(&error.in_source(&self.name));
                    continue;
                }
            }
            let (indices, values) = (&mut matrix.indices[start..], &mut matrix.values[start..]);
            let sorted = indices.windows(2).all(|pair| pair[0] < pair[1]);
            if !sorted
                && sort_row(indices, values, &mut self.scratch).is_some()
                && merge_row(matrix, start).is_none()
            {
                let message = "the sum of equal indices should be finite, but is not";
                return Err(DataError::new(ErrorKind::Number, message).at(position));
            }
            matrix.end_row();
            into.classes.push(class.first().copied().unwrap_or(0));
        }
        if into.is_empty() {
            if self.at_entry != self.n_entries {
                let message = format!("`indptr` ends with {}, expected {}", self.at_entry, self.n_entries);
                return Err(DataError::new(ErrorKind::Shape, message));
            }
            for array in [&mut self.data, &mut self.indices, &mut self.indptr] {
                array.check_end()?;
            }
            if let LabelsFrom::Array(labels) = &mut self.labels {
                labels.check_end()?;
            }
            return Ok(false);
        }
        Ok(true)
    }
}

impl<T: Stored> Reader for SparseReader<T> {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn read(&mut self, into: &mut Block) -> Result<bool, DataError> {
        self.fill(into).map_err(|error| error.in_source(&self.name))
    }
}

fn open_archive<T: Stored>(input: Input, how: &ReadOptions) -> Result<Box<dyn Reader>, DataError> {
    let name = input.name().clone();
    let label_file = how.labels_file.clone();
    let archive = Archive::open(input.into_bytes(how.limits.held_bytes)?.into())?;
    let array_name = |entry: &str| entry.strip_suffix(".npy").unwrap_or(entry).to_owned();
    let names: Vec<String> = archive.entries().iter().map(|entry| array_name(&entry.name)).collect();
    // Of arrays of one name the first counts.
    let places = names.iter().enumerate().rev().map(|(place, name)| (name.as_str(), place));
    let places: HashMap<&str, usize> = places.collect();
    let open = |wanted: &str| -> Result<Option<Array>, DataError> {
        let Some(&place) = places.get(wanted) else { return Ok(None) };
        let entry = &archive.entries()[place];
        Array::open(Feed::Entry(archive.read(entry), entry.n_packed()), wanted).map(Some)
    };
    let listed = || names.iter().take(12).map(String::as_str).collect::<Vec<_>>().join(", ");
    let is_sparse = ["data", "indices", "indptr", "shape"].iter().all(|part| names.iter().any(|n| n == part));
    let known_labels = LABEL_NAMES.iter().find(|label| names.iter().any(|name| name == *label));
    let mut labels = match (&how.label, label_file) {
        (LabelColumn::Absent, _) => LabelsFrom::Nowhere,
        (_, Some(path)) => LabelsFrom::Array(labels_of(path)?),
        (LabelColumn::Named(what), None) if names.iter().any(|name| name == what) => {
            open(what)?.map_or(LabelsFrom::Nowhere, LabelsFrom::Array)
        }
        // A number is a column of the features.
        (LabelColumn::Named(what), None) if what.parse::<i64>().is_ok() => LabelsFrom::Nowhere,
        (LabelColumn::Named(what), None) => {
            let message = format!(
                "there is no array {} of labels, expected one of {}",
                quote(what.as_bytes()),
                listed()
            );
            return Err(DataError::new(ErrorKind::Options, message).with_help("name an array with {label}"));
        }
        (LabelColumn::Guess, None) => {
            known_labels.map_or(Ok(None), |label| open(label))?.map_or(LabelsFrom::Nowhere, LabelsFrom::Array)
        }
    };
    let no_labels = || {
        let message = format!("the archive holds no labels, expected an array `y` among {}", listed());
        DataError::new(ErrorKind::Label, message)
            .with_help("name the array with {label}, or a file of labels with {labels}")
    };
    let unlabelled_is_well = how.label == LabelColumn::Absent || how.schema.is_some();
    if is_sparse {
        if matches!(labels, LabelsFrom::Nowhere) && !unlabelled_is_well {
            return Err(no_labels());
        }
        let (Some(data), Some(indices), Some(indptr), Some(shape)) =
            (open("data")?, open("indices")?, open("indptr")?, open("shape")?)
        else {
            return Err(DataError::new(ErrorKind::Internal, "an array of the archive is gone"));
        };
        if let Some(mut format) = open("format")? {
            let mut bytes = Vec::new();
            format.read(1, &mut bytes)?;
            let text = format.header.dtype.text(&bytes).unwrap_or_default();
            if text != b"csr" {
                let message = format!("the sparse array is stored as {}, expected csr", quote(&text));
                return Err(DataError::new(ErrorKind::Format, message)
                    .with_help("save it as scipy.sparse.csr_array(X)"));
            }
        }
        let shape = shape.small()?;
        let sizes: Vec<usize> = shape.iter().filter_map(|&size| usize::try_from(size).ok()).collect();
        let ([n_rows, width], 2) = (&sizes[..], shape.len()) else {
            let message = format!("the sparse array has the shape {shape:?}, expected rows and columns");
            return Err(DataError::new(ErrorKind::Shape, message));
        };
        let (n_rows, width) = (*n_rows as u64, *width);
        let whole = |array: &Array| {
            array.header.shape.len() == 1 && matches!(array.header.dtype.kind, Kind::Signed | Kind::Unsigned)
        };
        let fits = whole(&indices)
            && whole(&indptr)
            && data.header.shape == indices.header.shape
            && !data.header.dtype.is_text()
            && n_rows.checked_add(1) == Some(indptr.header.n_rows());
        if !fits {
            let message = format!(
                "the sparse array does not fit together: data {:?}, indices {:?}, indptr {:?} for {n_rows} rows",
                data.header.shape, indices.header.shape, indptr.header.shape
            );
            return Err(DataError::new(ErrorKind::Shape, message));
        }
        labels.check(n_rows)?;
        let mut schema = matrix::schema_of(width, Layout::Sparse, None, how)?;
        schema.layout = Layout::Sparse;
        return Ok(Box::new(SparseReader::<T> {
            name,
            n_entries: data.header.n_rows(),
            data,
            indices,
            indptr,
            labels,
            schema,
            width,
            all_rows: n_rows,
            n_rows: 0,
            at_entry: 0,
            on_bad_row: how.on_bad_row,
            bytes: Vec::new(),
            numbers: Vec::new(),
            row: Vec::new(),
            scratch: Vec::new(),
        }));
    }
    let mut features = None;
    for wanted in FEATURE_NAMES {
        features = open(wanted)?;
        if features.is_some() {
            break;
        }
    }
    if features.is_none() {
        for wanted in &names {
            let array = open(wanted)?;
            if array.as_ref().is_some_and(|array| array.header.shape.len() >= 2) {
                features = array;
                break;
            }
        }
    }
    let Some(features) = features else {
        let message =
            format!("no array of the archive has rows and columns, expected one among {}", listed());
        return Err(DataError::new(ErrorKind::Shape, message));
    };
    if matches!(labels, LabelsFrom::Nowhere) {
        match label_column(how, features.header.width().unwrap_or(0))? {
            Some(column) => labels = LabelsFrom::Column(column),
            None if unlabelled_is_well => {}
            None => return Err(no_labels()),
        }
    }
    Ok(Box::new(DenseReader::<T>::new(name, features, labels, how)?))
}

#[cfg(test)]
mod tests {
    use super::array::half;
    use super::*;
    use crate::bytes::source::Source;
    use crate::load::{load, load_source, read_rows};

    fn npy(descr: &str, fortran: &str, shape: &str, elements: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend((header.len() as u16).to_le_bytes());
        file.extend(header.as_bytes());
        file.extend(elements);
        file
    }

    fn last_label() -> ReadOptions {
        ReadOptions {
            label: LabelColumn::Named("-1".into()),
            precision: Precision::Double,
            ..ReadOptions::as_stored()
        }
    }

    fn rows(file: Vec<u8>) -> Result<Vec<crate::load::LabelledRow>, DataError> {
        read_rows(&Source::bytes("X.npy", file), &last_label())
    }

    type Encode<'a> = &'a dyn Fn(u8) -> Vec<u8>;

    #[test]
    fn every_type_and_order_gives_the_same_rows() {
        let expected =
            vec![("7".to_owned(), vec![(0, 1.0), (1, 2.0)]), ("8".to_owned(), vec![(0, 3.0), (1, 4.0)])];
        let numbers = [1_u8, 2, 7, 3, 4, 8];
        let fortran = [1_u8, 3, 2, 4, 7, 8];
        let wide =
            |order: &[u8], encode: &dyn Fn(u8) -> Vec<u8>| order.iter().flat_map(|&n| encode(n)).collect();
        let types: [(&str, Encode<'_>); 9] = [
            ("'|u1'", &|n| vec![n]),
            ("'|i1'", &|n| vec![n]),
            ("'<i2'", &|n| i16::from(n).to_le_bytes().to_vec()),
            ("'>i4'", &|n| i32::from(n).to_be_bytes().to_vec()),
            ("'<u8'", &|n| u64::from(n).to_le_bytes().to_vec()),
            ("'<f4'", &|n| f32::from(n).to_le_bytes().to_vec()),
            ("'>f8'", &|n| f64::from(n).to_be_bytes().to_vec()),
            ("'<f8'", &|n| f64::from(n).to_le_bytes().to_vec()),
            ("'>i8'", &|n| i64::from(n).to_be_bytes().to_vec()),
        ];
        for (descr, encode) in types {
            let elements: Vec<u8> = wide(&numbers, encode);
            assert_eq!(rows(npy(descr, "False", "(2, 3)", &elements)).unwrap(), expected, "{descr}");
            let elements: Vec<u8> = wide(&fortran, encode);
            assert_eq!(rows(npy(descr, "True", "(2, 3)", &elements)).unwrap(), expected, "{descr}");
        }
        assert_eq!([0x3C00, 0xC000, 0x0001, 0x7BFF].map(half), [1.0, -2.0, 2.0_f64.powi(-24), 65504.0]);
        assert!(half(0x7C01).is_nan() && half(0xFC00) == f64::NEG_INFINITY);
    }

    #[test]
    fn bad_arrays_are_refused_with_the_reason() {
        let good = npy("'|u1'", "False", "(2, 3)", &[1, 2, 7, 3, 4, 8]);
        for length in 6..good.len() {
            assert!(rows(good[..length].to_vec()).is_err(), "cut at {length}");
        }
        for (file, expected) in [
            (npy("'|O'", "False", "(2, 3)", &[0; 48]), "runs code"),
            (npy("[('a', '<f8')]", "False", "(2,)", &[0; 16]), "records"),
            (npy("'<c16'", "False", "(2, 3)", &[0; 96]), "`<c16` is not read"),
            (npy("'<M8[ns]'", "False", "(2, 3)", &[0; 48]), "the type is odd"),
            (npy("'|u1'", "False", "(6,)", &[0; 6]), "rows and columns"),
            (npy("'|u1'", "False", "(-2, 3)", &[0; 6]), "shape is odd"),
            (npy("'|u1'", "False", "(2, 99999999999)", &[0; 6]), "the limit"),
            (npy("'|u1'", "False", "(99999999999, 3)", &[0; 6]), "ends after 6"),
            (npy("'|u1'", "False", "(18446744073709551615, 18446744073709551615)", &[0; 6]), "the limit"),
            (npy("'|u1'", "True", "(99999999999, 3)", &[0; 6]), "Fortran"),
            (npy("'|u1'", "False", "(2, 3)", &[0; 7]), "bytes follow"),
            (npy("'|S3'", "False", "(2, 3)", &[b'x'; 18]), "numbers"),
        ] {
            let error = rows(file).unwrap_err();
            assert!(error.to_string().contains(expected), "{expected}: {error}");
        }
        let mut nan: Vec<u8> =
            [1.0_f64, 2.0, 7.0, 3.0, f64::NAN, 8.0].iter().flat_map(|n| n.to_le_bytes()).collect();
        let error = rows(npy("'<f8'", "False", "(2, 3)", &nan)).unwrap_err();
        assert_eq!((error.position().row, error.position().column), (Some(2), Some(2)));
        nan = npy("'<f8'", "False", "(2, 3)", &nan);
        for (missing, n_rows) in [(Missing::Drop, 1), (Missing::Zero, 2)] {
            let how = ReadOptions { missing, ..last_label() };
            assert_eq!(load_source(&Source::bytes("X.npy", nan.clone()), &how).unwrap().len(), n_rows);
        }
    }

    #[test]
    fn labels_are_found_beside_the_features() {
        let folder = tempfile::tempdir().unwrap();
        let features = npy("'|u1'", "False", "(2, 3)", &[1, 2, 7, 3, 4, 8]);
        let path = folder.path().join("X_train.npy");
        std::fs::write(&path, &features).unwrap();
        let error = load(&path, &ReadOptions::as_stored()).unwrap_err();
        assert!(error.to_string().contains("expected `y_train.npy` beside it"), "{error}");
        let labels = npy("'<U3'", "False", "(2,)", b"h\0\0\0a\0\0\0m\0\0\0n\0\0\0\xE9\0\0\0\0\0\0\0");
        std::fs::write(folder.path().join("y_train.npy"), labels).unwrap();
        let dataset = load(&path, &ReadOptions::as_stored()).unwrap();
        assert_eq!(
            (dataset.width(), dataset.labels().names()),
            (3, &["ham".to_owned(), "né".to_owned()][..])
        );
        std::fs::write(folder.path().join("y_train.npy"), npy("'|u1'", "False", "(3,)", &[1, 2, 3])).unwrap();
        assert_eq!(load(&path, &ReadOptions::as_stored()).unwrap_err().kind(), ErrorKind::Shape);
        assert_eq!(label_files("train_X.npy.gz"), ["train_y.npy.gz"]);
    }
}
