//! What is found out by a look at the data: which column is text, whether a table is brought to scale, and what was
//! taken for the label. What is guessed is noted, and what cannot be guessed is asked.

use crate::error::Error;
use rosenblatt_data::{
    Column, ColumnKind, Input, LabelColumn, Meter, Missing, OnBadRow, ReadOptions, Scaling, Schema, Source,
    formats, load_with_schema,
};

/// From how many words on, in the mean, a cell that is different in every row is text and no name.
const TEXT_WORDS: f64 = 6.0;
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

/// The source, and the options with what only a look at the source can decide: the scale of a table, if that is left
/// open, and which of its columns is text.
pub fn settle(
    source: &Source,
    how: &ReadOptions,
    scale_tables: bool,
    notes: &mut Vec<String>,
) -> Result<(Source, ReadOptions), Error> {
    let mut how = how.clone();
    let is_sought = how.text_column.is_none() && how.hash_bits.is_none() && how.categorical.is_empty();
    let scale_tables = scale_tables && how.scaling == Scaling::None;
    if !scale_tables && !is_sought {
        return Ok((source.clone(), how));
    }
    // Looking at the head must not cost a pipe its first bytes.
    let source = source.rewindable(how.limits.held_bytes)?;
    let Some(first) = source.parts().first() else { return Ok((source, how)) };
    let input = first.open()?;
    let is_table = matches!(formats::find(&input, &how)?.info().name, "csv" | "tsv");
    if is_table && is_sought {
        how = find_text(&input, how, notes)?;
    }
    if scale_tables && is_table && how.text_column.is_none() {
        how.scaling = Scaling::Standard;
    }
    Ok((source, how))
}

/// The options with the column of a table that is text, if there is one, by the first rows.
fn find_text(input: &Input, how: ReadOptions, notes: &mut Vec<String>) -> Result<ReadOptions, Error> {
    let whole_lines = match input.head().iter().rposition(|byte| *byte == b'\n') {
        Some(end) if !input.head_is_all() => &input.head()[..=end],
        _ => input.head(),
    };
    let look = ReadOptions {
        label: LabelColumn::Absent,
        weight: None,
        missing: Missing::Drop,
        on_bad_row: OnBadRow::Skip,
        meter: Meter::default(),
        ..how.clone()
    };
    // What cannot be read here will be complained about when it is read in earnest.
    let Ok((data, schema)) = load_with_schema(&Source::bytes(input.name(), whole_lines), &look) else {
        return Ok(how);
    };
    let is_text = |column: &&Column| {
        let ColumnKind::Category { values } = &column.kind else { return false };
        let words: usize = values.iter().map(|value| value.split_whitespace().count()).sum();
        let mostly_different = values.len() * 5 >= data.len() * 4;
        mostly_different && words as f64 >= TEXT_WORDS * values.len() as f64
    };
    let texts: Vec<&Column> = schema.columns.iter().filter(is_text).collect();
    let [text] = texts.as_slice() else { return Ok(how) };
    let mut how = ReadOptions { text_column: Some(text.name.clone()), ..how };
    let is_free = |column: &&Column| column.name != text.name && !how.ignore.contains(&column.name);
    let others: Vec<&Column> = schema.columns.iter().filter(is_free).collect();
    let is_last = schema.columns.last().is_some_and(|last| last.name == text.name);
    // For want of a name that says so, the last column would be the label.
    if how.label == LabelColumn::Guess && is_last && !others.iter().any(|column| says_so(&column.name)) {
        let is_name = |column: &&&Column| matches!(column.kind, ColumnKind::Category { .. });
        let names: Vec<&Column> = others.iter().filter(is_name).copied().collect();
        let (([only], _) | (_, [only])) = (others.as_slice(), names.as_slice()) else {
            let candidates = others.iter().map(|column| column.name.clone()).collect();
            return Err(Error::WhichLabel { candidates });
        };
        how.label = LabelColumn::Named(only.name.clone());
    }
    let left_out = if others.len() > 1 { "; other columns but the label are left out" } else { "" };
    notes.push(format!("column `{}` is read as text{left_out}", text.name));
    Ok(how)
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
