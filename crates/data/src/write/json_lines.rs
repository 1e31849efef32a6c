//! JSON Lines: an object a row, `{"label": …, "weight": …, …}`.
//!
//! Features with names are keys, all of them in every row. Without names they are a list called `features`,
//! or, where most are zero, an object of those that are not, by number: `{"features": {"3": 0.5}}`.

use super::{OutRow, RowWriter, Shape, WriteFormat, push_number};
use crate::error::DataError;
use crate::formats::FormatInfo;
use crate::rows::schema::{Layout, Precision};
use std::fmt::Write as _;

/// The most keys that are written: sparse data of more has better formats.
const MAX_COLUMNS: usize = 1 << 17;

/// JSON Lines.
pub(super) struct JsonLines;

impl WriteFormat for JsonLines {
    fn info(&self) -> FormatInfo {
        FormatInfo {
            extensions: &["jsonl", "ndjson", "json"],
            ..FormatInfo::new("jsonl", "an object a line")
        }
    }

    fn numbers_features(&self, shape: &Shape) -> bool {
        shape.names.is_none() && shape.layout == Layout::Sparse
    }

    fn start(&self, shape: &Shape) -> Result<Box<dyn RowWriter>, DataError> {
        let mut keys: Vec<String> = Vec::new();
        if shape.names.is_some() {
            shape.check_columns(MAX_COLUMNS)?;
            let n_first = usize::from(shape.labelled) + usize::from(shape.weighted);
            keys.extend(shape.column_names().iter().skip(n_first).map(|name| quoted(name)));
        }
        let whole = shape.whole_labels().is_some();
        let labels =
            shape.labels.iter().map(|name| if whole { name.clone() } else { quoted(name) }).collect();
        Ok(Box::new(Objects { shape: shape.clone(), keys, labels, scratch: String::new() }))
    }
}

struct Objects {
    shape: Shape,
    /// The names of the features, quoted; none if they are numbered.
    keys: Vec<String>,
    /// The classes as they are written.
    labels: Vec<String>,
    scratch: String,
}

impl Objects {
    /// Hands over every feature of a row, zeros among them.
    fn dense(&mut self, row: &OutRow<'_>, into: &mut Vec<u8>) {
        let mut entries = row.entries.iter().peekable();
        for feature in 0..self.shape.width as u32 {
            if into.last().is_some_and(|last| !matches!(last, b'{' | b'[')) {
                into.push(b',');
            }
            if let Some(key) = self.keys.get(feature as usize) {
                into.extend_from_slice(key.as_bytes());
                into.push(b':');
            }
            match entries.next_if(|(stored, _)| *stored == feature) {
                Some(&(_, value)) => push_number(into, value, self.shape.precision, &mut self.scratch),
                None => into.push(b'0'),
            }
        }
    }
}

impl RowWriter for Objects {
    fn row(&mut self, row: &OutRow<'_>, into: &mut Vec<u8>) -> Result<(), DataError> {
        into.push(b'{');
        if self.shape.labelled {
            into.extend_from_slice(b"\"label\":");
            into.extend_from_slice(
                self.labels.get(row.class as usize).map_or(&b"null"[..], |label| label.as_bytes()),
            );
        }
        if self.shape.weighted {
            into.extend_from_slice(if self.shape.labelled { b",\"weight\":" } else { b"\"weight\":" });
            push_number(into, row.weight, Precision::Double, &mut self.scratch);
        }
        if !self.keys.is_empty() {
            self.dense(row, into);
            into.extend_from_slice(b"}\n");
            return Ok(());
        }
        if into.last() != Some(&b'{') {
            into.push(b',');
        }
        into.extend_from_slice(b"\"features\":");
        if self.shape.layout == Layout::Sparse {
            let first = u64::from(!self.shape.zero_based);
            into.push(b'{');
            for &(feature, value) in row.entries.iter().filter(|(_, value)| *value != 0.0) {
                if into.last() != Some(&b'{') {
                    into.push(b',');
                }
                into.extend_from_slice(format!("\"{}\":", u64::from(feature) + first).as_bytes());
                push_number(into, value, self.shape.precision, &mut self.scratch);
            }
            into.extend_from_slice(b"}}\n");
        } else {
            into.push(b'[');
            self.dense(row, into);
            into.extend_from_slice(b"]}\n");
        }
        Ok(())
    }
}

/// `text` between quotes, with whatever JSON wants escaped.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            // Writing to a string cannot fail.
            c if c.is_ascii_control() => drop(write!(quoted, "\\u{:04x}", c as u32)),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
