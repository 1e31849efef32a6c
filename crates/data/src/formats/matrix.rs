//! What formats share whose rows are a fixed number of numbers: IDX, `NumPy`, pictures.
//!
//! Such data has no columns with names, only a width; where its labels are is another file's business.
//! Nothing here knows a format.

use crate::bytes::source::{Input, Part};
use crate::error::{DataError, ErrorKind};
use crate::options::{LabelColumn, ReadOptions};
use crate::rows::block::Stored;
use crate::rows::dataset::Matrix;
use crate::rows::schema::{ColumnKind, Layout, Picture, Schema};
use std::path::{Path, PathBuf};

/// How many bytes of stored values a block of such rows holds, about.
const BLOCK_BYTES: usize = 512 << 10;

/// How many rows of `width` values make a block.
pub(super) fn rows_per_block(width: usize) -> usize {
    (BLOCK_BYTES / 4 / width.max(1)).max(1)
}

/// The schema of rows of `width` numbers, or the one that is law if they keep to it.
pub(super) fn schema_of(
    width: usize,
    layout: Layout,
    picture: Option<Picture>,
    how: &ReadOptions,
) -> Result<Schema, DataError> {
    if width == 0 {
        let message = "the rows hold no values, expected at least one feature";
        return Err(DataError::new(ErrorKind::Shape, message));
    }
    if width > how.limits.features {
        let message = format!("there are {width} features, more than {}, the limit", how.limits.features);
        return Err(
            DataError::new(ErrorKind::Limit, message).with_help("raise the limit with {max-features}")
        );
    }
    let Some(known) = &how.schema else {
        return Ok(Schema { width: Some(width), layout, picture, missing: how.missing, ..Schema::default() });
    };
    let only_numbers = known.columns.iter().all(|column| matches!(column.kind, ColumnKind::Number { .. }));
    let expected = known.straight_width();
    // A schema without a width is that of a format that numbers its features: any width is well.
    if !only_numbers || expected.is_some_and(|expected| expected != width) {
        let (expected, help) = match expected {
            Some(expected) if only_numbers => {
                (expected.to_string(), "the data must have the form of the data that was learned from")
            }
            _ => (
                "a table whose columns have names, as some of them are categories".to_owned(),
                "give a table with the columns that were learned from: CSV, JSON Lines, Arrow or a data frame",
            ),
        };
        let message = format!("the rows have {width} features without names, expected {expected}");
        return Err(DataError::new(ErrorKind::Shape, message).with_help(help));
    }
    if let (Some(known), Some(found)) = (known.picture, picture)
        && (known.width, known.height, known.channels) != (found.width, found.height, found.channels)
    {
        let show = |picture: Picture| format!("{}x{}x{}", picture.width, picture.height, picture.channels);
        let message = format!("the pictures are {}, expected {}", show(found), show(known));
        return Err(DataError::new(ErrorKind::Shape, message));
    }
    Ok((**known).clone())
}

/// Adds one row to a matrix, zeros left out if it is sparse.
pub(super) fn push_row<T: Stored>(matrix: &mut Matrix, row: &[T]) {
    if let Some(dense) = T::dense(matrix) {
        dense.values.extend_from_slice(row);
    } else if let Some(sparse) = T::sparse(matrix) {
        for (index, &value) in (0..).zip(row) {
            if value != T::default() {
                sparse.indices.push(index);
                sparse.values.push(value);
            }
        }
        sparse.end_row();
    }
}

/// Adds up to `n_bytes` of `input` to `into`, which grows only as bytes come. Returns how many came;
/// fewer than asked for only at the end.
pub(super) fn read_up_to(input: &mut Input, into: &mut Vec<u8>, n_bytes: usize) -> Result<usize, DataError> {
    let start = into.len();
    let end = start.saturating_add(n_bytes);
    while into.len() < end {
        let from = into.len();
        into.resize(from + (end - from).min(64 << 10), 0);
        let n_read = match input.read_some(&mut into[from..]) {
            Ok(n_read) => n_read,
            Err(error) => {
                into.truncate(from);
                return Err(error);
            }
        };
        into.truncate(from + n_read);
        if n_read == 0 {
            break;
        }
    }
    Ok(into.len() - start)
}

/// Where the labels of a file are that holds none itself.
#[derive(Debug)]
pub(super) enum LabelsAt {
    /// In this file.
    File(PathBuf),
    /// Nowhere: the rows are to be labelled.
    Nowhere,
    /// Nowhere, though they are needed; these names were looked for.
    Lost(Vec<String>),
}

/// Finds the file of labels that belongs to `input`: the one that is named, else the first of
/// `candidates`, which makes sibling names of the file's own.
pub(super) fn find_labels(
    input: &Input,
    how: &ReadOptions,
    candidates: impl Fn(&str) -> Vec<String>,
) -> LabelsAt {
    if how.label == LabelColumn::Absent {
        return LabelsAt::Nowhere;
    }
    if let Some(path) = &how.labels_file {
        return LabelsAt::File(path.clone());
    }
    let mut tried = Vec::new();
    if let Part::File(path) = input.part()
        && let Some(name) = path.file_name().and_then(|name| name.to_str())
    {
        let folder = path.parent().unwrap_or(Path::new(""));
        for candidate in candidates(name) {
            let plain =
                candidate.strip_suffix(".gz").or(candidate.strip_suffix(".zst")).unwrap_or(&candidate);
            for name in [candidate.clone(), plain.to_owned(), format!("{plain}.gz"), format!("{plain}.zst")] {
                let sibling = folder.join(&name);
                if sibling.is_file() && sibling != *path {
                    return LabelsAt::File(sibling);
                }
            }
            tried.push(candidate);
        }
    }
    // Data that must keep to a schema may come without labels: it is to be labelled.
    if how.schema.is_some() { LabelsAt::Nowhere } else { LabelsAt::Lost(tried) }
}

/// The error for data whose labels are nowhere to be found.
pub(super) fn labels_lost(tried: &[String], help: &str) -> DataError {
    let expected = match tried {
        [] => "a file of labels".to_owned(),
        [first, ..] => format!("`{first}` beside it"),
    };
    DataError::new(ErrorKind::Label, format!("the file holds no labels, expected {expected}")).with_help(help)
}
