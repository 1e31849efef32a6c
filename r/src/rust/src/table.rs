//! Columns of R as a table that the engine reads: the text of a CSV file, in memory, with every bit of the numbers.

use crate::failure::Failure;
use extendr_api::prelude::*;
use rosenblatt::data::Source;
use std::fmt::Write as _;

/// What the table is called in errors.
const NAME: &str = "data.csv";

/// What stands for a missing value, so that no line of one column is empty.
const MISSING: &str = "NA";

/// A column that R holds.
enum Column {
    Numbers(Vec<f64>),
    Counts(Vec<Rint>),
    Switches(Vec<Rbool>),
    Texts(Vec<Option<String>>),
}

impl Column {
    fn new(name: &str, values: &Robj) -> std::result::Result<Self, Failure> {
        if let Some(numbers) = values.as_real_slice() {
            Ok(Self::Numbers(numbers.to_vec()))
        } else if let Some(switches) = values.as_logical_slice() {
            Ok(Self::Switches(switches.to_vec()))
        } else if let Some(counts) = values.as_integers() {
            Ok(Self::Counts(counts.iter().collect()))
        } else if let Some(texts) = values.as_str_iter() {
            Ok(Self::Texts(texts.map(|text| (!text.is_na()).then(|| text.to_owned())).collect()))
        } else {
            Err(format!("column `{name}` holds neither numbers nor texts").into())
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Numbers(all) => all.len(),
            Self::Counts(all) => all.len(),
            Self::Switches(all) => all.len(),
            Self::Texts(all) => all.len(),
        }
    }

    fn write(&self, row: usize, into: &mut String) {
        match self {
            Self::Numbers(all) if all[row].is_nan() => into.push_str(MISSING),
            Self::Numbers(all) => number(all[row], into),
            Self::Counts(all) if all[row].is_na() => into.push_str(MISSING),
            // Writing to a string cannot fail.
            Self::Counts(all) => drop(write!(into, "{}", all[row].0)),
            Self::Switches(all) if all[row].is_na() => into.push_str(MISSING),
            Self::Switches(all) => into.push_str(if all[row].is_true() { "TRUE" } else { "FALSE" }),
            Self::Texts(all) => match &all[row] {
                Some(word) => text(word, into),
                None => into.push_str(MISSING),
            },
        }
    }
}

/// The shortest digits that are this number and no other.
fn number(number: f64, into: &mut String) {
    let size = number.abs();
    let _ = if size != 0.0 && !(1e-5..1e16).contains(&size) {
        write!(into, "{number:e}")
    } else {
        write!(into, "{number}")
    };
}

/// A cell, in quotes where it would else be read as something different.
fn text(cell: &str, into: &mut String) {
    let is_plain =
        !cell.is_empty() && cell.trim_ascii() == cell && !cell.contains([',', '"', '\n', '\r', ';', '\t']);
    if is_plain {
        into.push_str(cell);
    } else {
        into.push('"');
        into.push_str(&cell.replace('"', "\"\""));
        into.push('"');
    }
}

/// The table that these columns of R are.
pub(crate) fn source(columns: &List) -> std::result::Result<Source, Failure> {
    let named = columns.iter().map(|(name, values)| Ok((name, Column::new(name, &values)?)));
    let named = named.collect::<std::result::Result<Vec<_>, Failure>>()?;
    let n_rows = named.first().map_or(0, |(_, column)| column.len());
    if named.iter().any(|(_, column)| column.len() != n_rows) {
        return Err("the columns are not equally long".to_owned().into());
    }
    let mut csv = String::new();
    let line = |csv: &mut String, cell: &dyn Fn(usize, &mut String)| {
        for place in 0..named.len() {
            if place > 0 {
                csv.push(',');
            }
            cell(place, csv);
        }
        csv.push('\n');
    };
    line(&mut csv, &|place, csv| text(named[place].0, csv));
    for row in 0..n_rows {
        line(&mut csv, &|place, csv| named[place].1.write(row, csv));
    }
    Ok(Source::bytes(NAME, csv.into_bytes()))
}
