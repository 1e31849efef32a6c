//! CSV and TSV: a header, the label first, then the features, all of them.
//!
//! The label comes first and is called `label`, weights come next and are called `weight`, so that
//! reading finds the label by itself. Features without names are called `f1`, `f2`, ….

use super::{OutRow, RowWriter, Shape, WriteFormat, push_number};
use crate::error::DataError;
use crate::formats::FormatInfo;
use crate::rows::schema::Precision;
use std::borrow::Cow;

/// The most columns that are written: sparse data of more has better formats.
const MAX_COLUMNS: usize = 1 << 17;

/// Comma-separated values.
pub(super) struct Csv;

/// Tab-separated values.
pub(super) struct Tsv;

impl WriteFormat for Csv {
    fn info(&self) -> FormatInfo {
        FormatInfo {
            extensions: &["csv"],
            ..FormatInfo::new("csv", "a table below a header, cells apart by commas")
        }
    }

    fn start(&self, shape: &Shape) -> Result<Box<dyn RowWriter>, DataError> {
        start(b',', shape)
    }
}

impl WriteFormat for Tsv {
    fn info(&self) -> FormatInfo {
        FormatInfo {
            extensions: &["tsv", "tab"],
            ..FormatInfo::new("tsv", "a table below a header, cells apart by tabs")
        }
    }

    fn start(&self, shape: &Shape) -> Result<Box<dyn RowWriter>, DataError> {
        start(b'\t', shape)
    }
}

fn start(delimiter: u8, shape: &Shape) -> Result<Box<dyn RowWriter>, DataError> {
    shape.check_columns(MAX_COLUMNS)?;
    Ok(Box::new(Table { delimiter, shape: shape.clone(), scratch: String::new() }))
}

struct Table {
    delimiter: u8,
    shape: Shape,
    scratch: String,
}

/// Text as a cell of a table whose cells are apart by commas, in quotes where it would not mean itself.
pub fn csv_cell(text: &str) -> Cow<'_, str> {
    cell(text, b',')
}

fn cell(text: &str, delimiter: u8) -> Cow<'_, str> {
    let special = |byte: u8| byte == delimiter || matches!(byte, b'"' | b'\n' | b'\r');
    let blank = text.starts_with(char::is_whitespace) || text.ends_with(char::is_whitespace);
    if !text.bytes().any(special) && !blank {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
}

impl Table {
    fn push_cell(&self, text: &str, into: &mut Vec<u8>) {
        into.extend_from_slice(cell(text, self.delimiter).as_bytes());
    }
}

impl RowWriter for Table {
    fn head(&mut self, into: &mut Vec<u8>) -> Result<(), DataError> {
        let names = self.shape.column_names();
        for (place, name) in names.iter().enumerate() {
            if place > 0 {
                into.push(self.delimiter);
            }
            self.push_cell(name, into);
        }
        into.push(b'\n');
        Ok(())
    }

    fn row(&mut self, row: &OutRow<'_>, into: &mut Vec<u8>) -> Result<(), DataError> {
        let mut is_first = true;
        let delimiter = self.delimiter;
        let mut next = |into: &mut Vec<u8>| {
            if !std::mem::take(&mut is_first) {
                into.push(delimiter);
            }
        };
        if self.shape.labelled {
            next(into);
            self.push_cell(row.label.unwrap_or("?"), into);
        }
        if self.shape.weighted {
            next(into);
            push_number(into, row.weight, Precision::Double, &mut self.scratch);
        }
        let mut entries = row.entries.iter().peekable();
        for feature in 0..self.shape.width as u32 {
            next(into);
            match entries.next_if(|(stored, _)| *stored == feature) {
                Some(&(_, value)) => push_number(into, value, self.shape.precision, &mut self.scratch),
                None => into.push(b'0'),
            }
        }
        into.push(b'\n');
        Ok(())
    }
}
