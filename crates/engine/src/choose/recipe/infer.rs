//! What was taken for the label, and why. What cannot be guessed is asked.

use crate::error::Error;
use rosenblatt_data::formats::is_label_name;
use rosenblatt_data::{LabelColumn, ReadOptions, Schema};

/// More classes than this, of fewer than two rows each, are a sign of a mistake.
const MANY_CLASSES: usize = 20;

/// Which column was taken for the label, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LabelFound {
    /// It was named.
    Named(String),
    /// Its name says so.
    ByName(String),
    /// It is the last column, or the only one that can be.
    Guessed(String),
}

impl LabelFound {
    /// What is known of the label of a table that was read in this way.
    pub fn new(how: &ReadOptions, schema: &Schema) -> Option<Self> {
        let column = schema.label.clone()?;
        Some(match how.label {
            LabelColumn::Named(_) => Self::Named(column),
            _ if is_label_name(&column) => Self::ByName(column),
            _ => Self::Guessed(column),
        })
    }

    /// The column.
    pub fn column(&self) -> &str {
        let (Self::Named(column) | Self::ByName(column) | Self::Guessed(column)) = self;
        column
    }
}

/// A column that was taken for the label, and is different in most rows, is none.
pub(super) fn check_label(
    how: &ReadOptions,
    schema: &Schema,
    rows: usize,
    classes: usize,
) -> Result<(), Error> {
    if how.label != LabelColumn::Guess || classes <= MANY_CLASSES || classes * 2 <= rows {
        return Ok(());
    }
    Err(Error::NotALabel { column: schema.label.clone(), classes, rows })
}
