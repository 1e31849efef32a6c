//! What is found out by a look at the data: which column is text, whether a table is brought to scale, and what was
//! taken for the label. What is guessed is noted, and what cannot be guessed is asked.

use crate::error::Error;
use rosenblatt_data::{LabelColumn, ReadOptions, Scaling, Schema, Source};

/// What a column that is the label is often called.
const LABEL_NAMES: [&str; 4] = ["label", "class", "target", "y"];
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
    pub(super) fn new(how: &ReadOptions, schema: &Schema) -> Option<Self> {
        let column = schema.label.clone()?;
        Some(match how.label {
            LabelColumn::Named(_) => Self::Named(column),
            _ if says_so(&column) => Self::ByName(column),
            _ => Self::Guessed(column),
        })
    }

    /// The column.
    pub fn column(&self) -> &str {
        let (Self::Named(column) | Self::ByName(column) | Self::Guessed(column)) = self;
        column
    }
}

fn says_so(column: &str) -> bool {
    LABEL_NAMES.iter().any(|label| column.eq_ignore_ascii_case(label))
}

/// The source, and the options to read it with: how rows are scaled is decided by what they are, if that is left open.
pub fn settle(
    source: &Source,
    how: &ReadOptions,
    scale_tables: bool,
    _notes: &mut Vec<String>,
) -> Result<(Source, ReadOptions), Error> {
    let scaling = match how.scaling {
        Scaling::Auto | Scaling::None if scale_tables => Scaling::Auto,
        Scaling::Auto => Scaling::None,
        given => given,
    };
    Ok((source.clone(), ReadOptions { scaling, ..how.clone() }))
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
