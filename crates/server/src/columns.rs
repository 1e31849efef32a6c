//! Names of columns in rows of JSON, held against those of the model before the rows are read.
//!
//! A row may have columns that the model does not know: the answer names them. Where such a row also lacks a column of the
//! model, one is likely a slip for the other, and the row is refused instead of being read with a missing value.

use crate::live::cut;
use crate::problem::Problem;
use rosenblatt_data::{Schema, closest};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

/// What the columns of rows are called that the model does not know, by the number of the row, from 0.
#[derive(Debug, Default)]
pub struct Unknown(Vec<(usize, Vec<String>)>);

impl Unknown {
    /// Those of one row.
    pub(crate) fn of_row(&self, row: usize) -> &[String] {
        let place = self.0.binary_search_by_key(&row, |(row, _)| *row);
        place.map_or(&[], |place| &self.0[place].1)
    }

    /// Those of all rows, each once.
    pub(crate) fn names(&self) -> Vec<String> {
        let names: BTreeSet<&String> = self.0.iter().flat_map(|(_, names)| names).collect();
        names.into_iter().cloned().collect()
    }
}

/// Looks for unknown columns in `lines`, an object each. `has_lines` says whether these are the lines of the body.
pub(crate) fn check(
    lines: &[u8],
    schema: &Schema,
    is_labelled: bool,
    has_lines: bool,
) -> Result<Unknown, Problem> {
    let columns = &schema.columns;
    let mut found = Unknown::default();
    if !schema.has_names || columns.is_empty() {
        return Ok(found);
    }
    let places: HashMap<&str, usize> = columns.iter().map(|column| column.name.as_str()).zip(0..).collect();
    let label = schema.label.as_deref().unwrap_or("label");
    // The last row that had each column, from 1.
    let mut last_seen = vec![0; columns.len()];
    let mut n_rows = 0;
    for (line, number) in lines.split(|byte| *byte == b'\n').zip(1..) {
        if line.trim_ascii().is_empty() {
            continue;
        }
        n_rows += 1;
        let (mut unknown, mut n_seen, mut has_label, mut next) = (Vec::new(), 0, false, 0);
        each_key(line, |name| {
            let is_next = columns.get(next).is_some_and(|column| column.name == name);
            match if is_next { Some(next) } else { places.get(name).copied() } {
                Some(place) => {
                    n_seen += usize::from(last_seen[place] != n_rows);
                    last_seen[place] = n_rows;
                    next = place + 1;
                }
                None if name == label => has_label = true,
                None if schema.ignored.iter().any(|ignored| ignored == name) => {}
                None => unknown.push(name.to_owned()),
            }
        });
        // Where the model does not know what its label is called, a column that it does not know is the label.
        let may_be_label = is_labelled && schema.label.is_none() && !has_label;
        if unknown.is_empty() || may_be_label {
            continue;
        }
        if n_seen < columns.len() {
            let lacking = columns.iter().zip(&last_seen).filter(|(_, row)| **row != n_rows);
            let lacking: Vec<&str> = lacking.map(|(column, _)| column.name.as_str()).collect();
            return Err(refusal(&unknown, &lacking).at(n_rows, has_lines.then_some(number)));
        }
        found.0.push((n_rows as usize - 1, unknown));
    }
    Ok(found)
}

/// Why a row is refused that has columns which the model does not know, and lacks some that it does.
fn refusal(unknown: &[String], lacking: &[&str]) -> Problem {
    let slip = unknown.iter().find_map(|name| Some((name, closest(name, lacking.iter().copied())?)));
    let (name, meant) = slip.unwrap_or((&unknown[0], lacking[0]));
    let message = format!(
        "the model has no column `{}`, and the row lacks the model's column `{}`",
        cut(name),
        cut(meant)
    );
    let null = format!("if the value of `{}` is missing, send null for it", cut(meant));
    Problem::new("bad-rows", message).with_help(match slip {
        Some((_, meant)) => format!("did you mean `{}`? {null}", cut(meant)),
        None => {
            format!("call columns what the model calls them, see `inputs` of GET /v1/models/NAME; {null}")
        }
    })
}

/// A name as JSON has it.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

/// Shows the keys of the object on a line, without those of objects in it. What is no JSON is left to the reader.
fn each_key(line: &[u8], mut show: impl FnMut(&str)) {
    let (mut at, mut depth, mut is_key) = (0, 0_usize, false);
    while let Some(byte) = line.get(at) {
        match byte {
            b'{' | b'[' => {
                depth += 1;
                is_key = depth == 1;
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b',' => is_key = depth == 1,
            b'"' => {
                let begun = at;
                at += 1;
                while line.get(at).is_some_and(|byte| *byte != b'"') {
                    at += 1 + usize::from(line[at] == b'\\');
                }
                if is_key && let Some(Ok(Name(name))) = line.get(begun..=at).map(serde_json::from_slice) {
                    show(&name);
                }
                is_key = false;
            }
            _ => {}
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_the_outer_object() {
        let keys = |line: &str| {
            let mut keys = Vec::new();
            each_key(line.as_bytes(), |name| keys.push(name.to_owned()));
            keys.join(" ")
        };
        for (line, expected) in [
            (r#"{"a": 1, "b": "c", "d": NaN}"#, "a b d"),
            (r#" {"a" : {"b": 1, "c": [2, "d"]}, "e\"f": [{"g": 1}, 2], "\u0068": null}"#, "a e\"f h"),
            (r#"{"a\\": "b\\", "c": "{\"d\": 1"}"#, "a\\ c"),
            (r#"{"a": 1, "b"#, "a"),
            (r#"{"a": "\"#, "a"),
            ("}{]", ""),
            ("", ""),
        ] {
            assert_eq!(keys(line), expected, "{line}");
        }
    }
}
