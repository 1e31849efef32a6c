//! What the columns of a table are for: one set of rules for every format that has columns.
//!
//! Which column is the label is said by the user, by the schema of the model at hand, or by the column's
//! own name; two that could be it are asked about. Nothing here looks at cells.

use crate::error::{DataError, ErrorKind, quote};
use crate::options::{LabelColumn, ReadOptions, find_column};
use crate::remedy;
use std::borrow::Cow;
use std::sync::Arc;

/// What a column that is the label is often called.
const LABEL_NAMES: [&str; 4] = ["label", "class", "target", "y"];

/// What a column is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Feature,
    Label,
    Weight,
    Ignore,
}

/// The role of every column. `may_be_label` says of which columns the last can be the label for want of a
/// better guess, and `remark` what there is to know about how columns are named.
pub(super) fn roles(
    names: &[String],
    how: &ReadOptions,
    may_be_label: impl Fn(usize) -> bool,
    remark: &str,
) -> Result<Vec<Role>, DataError> {
    let unknown = |what: &str, why: &str| {
        let what = quote(what.as_bytes());
        let message = format!("there is no column {what} {why}, expected one of {}", list(names));
        DataError::new(ErrorKind::Options, message).with_help(format!("name a column of the table{remark}"))
    };
    let mut roles = vec![Role::Feature; names.len()];
    for what in &how.ignore {
        roles[find_column(what, names).ok_or_else(|| unknown(what, "to ignore"))?] = Role::Ignore;
    }
    if let Some(what) = &how.weight {
        roles[find_column(what, names).ok_or_else(|| unknown(what, "of weights"))?] = Role::Weight;
    }
    let label = match (&how.label, &how.schema) {
        (LabelColumn::Absent, _) => None,
        (LabelColumn::Named(what), None) => {
            Some(find_column(what, names).ok_or_else(|| unknown(what, "of labels"))?)
        }
        (LabelColumn::Named(what), Some(_)) => find_column(what, names),
        (LabelColumn::Guess, Some(schema)) => {
            // A table that must keep to a schema may come without labels: it is to be labelled.
            let may_have_one = schema.has_names || names.len() > schema.columns.len();
            let learned = schema.label.as_ref().filter(|_| may_have_one);
            learned.and_then(|label| names.iter().position(|name| name == label))
        }
        (LabelColumn::Guess, None) => guess(names, &roles, may_be_label)?,
    };
    if let Some(place) = label {
        roles[place] = Role::Label;
    }
    if !roles.contains(&Role::Feature) {
        let message =
            format!("the table has {} column(s), expected a label and at least one feature", names.len());
        return Err(DataError::new(ErrorKind::Shape, message)
            .with_help("if cells are separated by something unusual, say so with {delimiter}"));
    }
    if label.is_none() && how.label != LabelColumn::Absent && how.schema.is_none() {
        let message = format!("there is no column of labels, expected one of {}", list(names));
        return Err(DataError::new(ErrorKind::Label, message).with_help("name it with {label}"));
    }
    Ok(roles)
}

/// The options for a table with columns of these names. A schema of numbered features is looked for among
/// them; a column beside them is then the label, whether or not anybody looks at it.
pub(super) fn for_table<'a>(how: &'a ReadOptions, names: &[String]) -> Cow<'a, ReadOptions> {
    let Some(schema) = how.schema.as_ref().filter(|schema| schema.columns.is_empty()) else {
        return Cow::Borrowed(how);
    };
    let schema = schema.for_table(names);
    let label = match &how.label {
        LabelColumn::Absent if schema.label.is_some() => LabelColumn::Guess,
        label => label.clone(),
    };
    Cow::Owned(ReadOptions { schema: Some(Arc::new(schema)), label, ..how.clone() })
}

/// The column whose name says that it is the label, else the last that may be.
fn guess(
    names: &[String],
    roles: &[Role],
    may_be_label: impl Fn(usize) -> bool,
) -> Result<Option<usize>, DataError> {
    let is_free = |place: &usize| roles[*place] == Role::Feature;
    let says_so = |place: &usize| LABEL_NAMES.iter().any(|label| names[*place].eq_ignore_ascii_case(label));
    let candidates: Vec<usize> = (0..names.len()).filter(is_free).filter(says_so).collect();
    if let [first, .., last] = candidates.as_slice() {
        let message = format!(
            "columns {} and {} could both be the label, expected one such name",
            quote(names[*first].as_bytes()),
            quote(names[*last].as_bytes())
        );
        return Err(DataError::new(ErrorKind::Options, message).with_help(format!(
            "say which one it is, for instance {}",
            remedy::set("label", &names[*last])
        )));
    }
    let last = || (0..names.len()).rev().filter(is_free).find(|&place| may_be_label(place));
    Ok(candidates.first().copied().or_else(last))
}

/// Some of the names, as a message lists them.
pub(super) fn list(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(8).map(|name| quote(name.as_bytes())).collect();
    let more = if names.len() > 8 { format!(" and {} more", names.len() - 8) } else { String::new() };
    shown.join(", ") + &more
}
