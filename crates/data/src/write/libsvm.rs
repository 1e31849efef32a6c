//! libsvm: `label index:value …`, zeros left out.
//!
//! Rows without labels get the label `0`, since the format wants one. Weights cannot be written.

use super::{OutRow, RowWriter, Shape, WriteFormat, push_number, unfit};
use crate::error::{DataError, quote};
use crate::formats::FormatInfo;
use crate::rows::schema::Precision;
use std::io::Write;

/// libsvm text.
pub(super) struct Libsvm;

impl WriteFormat for Libsvm {
    fn info(&self) -> FormatInfo {
        FormatInfo {
            extensions: &["libsvm", "svm", "svmlight"],
            ..FormatInfo::new("libsvm", "sparse rows: a label, then feature:value")
        }
    }

    fn note(&self, shape: &Shape) -> Option<String> {
        let names = shape.labels.iter().find(|label| label.parse::<f64>().is_err());
        names.map(|name| {
            format!(
                "labels are names, such as {}: other readers of libsvm may want numbers",
                quote(name.as_bytes())
            )
        })
    }

    fn numbers_features(&self, _shape: &Shape) -> bool {
        true
    }

    fn start(&self, shape: &Shape) -> Result<Box<dyn RowWriter>, DataError> {
        if shape.weighted {
            let message = "libsvm has no place for the weights of rows";
            return Err(unfit(message, "write CSV, or leave the weights out"));
        }
        let first = u64::from(!shape.zero_based);
        Ok(Box::new(Rows { precision: shape.precision, first, scratch: String::new() }))
    }
}

struct Rows {
    precision: Precision,
    first: u64,
    scratch: String,
}

impl RowWriter for Rows {
    fn row(&mut self, row: &OutRow<'_>, into: &mut Vec<u8>) -> Result<(), DataError> {
        let label = row.label.unwrap_or("0");
        let is_word = |c: char| c.is_ascii_graphic() || c.is_alphabetic();
        if !label.chars().all(is_word) || label.contains([':', ',', '#']) {
            let label = quote(label.as_bytes());
            let message = format!("libsvm cannot hold the label {label}, expected a number or a word");
            return Err(unfit(message, "write CSV or JSON Lines, which hold any text"));
        }
        into.extend_from_slice(label.as_bytes());
        for &(feature, value) in row.entries.iter().filter(|(_, value)| *value != 0.0) {
            // Writing to memory cannot fail.
            let _ = write!(into, " {}:", u64::from(feature) + self.first);
            push_number(into, value, self.precision, &mut self.scratch);
        }
        into.push(b'\n');
        Ok(())
    }
}
