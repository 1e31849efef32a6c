//! What was taken for the label, and why. What cannot be guessed is asked.

use super::{Recipe, TaskChoice};
use crate::error::Error;
use crate::targets::is_amount;
use rosenblatt_data::formats::{is_label_name, spelling_of};
use rosenblatt_data::words::count;
use rosenblatt_data::{Decimal, LabelColumn, Labels, ReadOptions, Schema, Spelling};

/// More classes than this, of fewer than two rows each, are a sign of a mistake.
const MANY_CLASSES: usize = 20;
/// More whole numbers than this, of fewer rows each than that, are no codes of classes.
const MOST_CODES: usize = 50;
const FEWEST_OF_CODE: usize = 4;

/// Few texts among labels: one in this many.
const FEW_TEXTS: usize = 20;

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

/// The recipe for numbers, and why, if the label is to be predicted as one.
pub(super) fn for_numbers(
    recipe: &Recipe,
    schema: &Schema,
    labels: &Labels,
    rows: usize,
) -> Result<Option<(Recipe, Option<String>)>, Error> {
    if !is_for_numbers(recipe, labels, rows) {
        return Ok(None);
    }
    let is_said = recipe.wants_numbers();
    let column =
        schema.label.as_ref().map_or_else(|| "the label".to_owned(), |name| format!("column `{name}`"));
    let spelling = spelling_of(labels.names()).unwrap_or(Spelling::PLAIN);
    let words = match spelling {
        Spelling { decimal: Decimal::Point, mark: None } => "numbers".to_owned(),
        Spelling { decimal: Decimal::PointAfterCommas, mark: None } => {
            "numbers whose commas part thousands".to_owned()
        }
        spelling => spelling.words(),
    };
    let why = match is_said {
        false => Some(format!(
            "{column} is a quantity, {} different {words} in {} rows: numbers are predicted, not classes",
            count(labels.len() as u64),
            count(rows as u64)
        )),
        true if spelling.is_plain() => None,
        true => Some(format!("{column} is read as {words}")),
    };
    Ok(Some((recipe.for_numbers()?, why)))
}

/// Whether the label is to be predicted as a number: you asked for it, or it is a quantity.
pub(super) fn is_for_numbers(recipe: &Recipe, labels: &Labels, rows: usize) -> bool {
    recipe.wants_numbers() || (recipe.task == TaskChoice::Auto && is_quantity(labels.names(), rows))
}

/// What was found out about columns, with why numbers are predicted and without notes on classes.
pub(super) fn without_classes(mut schema: Schema, why: Option<String>) -> Schema {
    schema.notes.retain(|note| !note.starts_with("the labels ") && !note.starts_with("the classes "));
    schema.notes.extend(why);
    schema
}

/// A column that was taken for the label, and is different in most rows, is none; nor is a quantity.
pub(super) fn check_label(
    task: TaskChoice,
    how: &ReadOptions,
    schema: &Schema,
    rows: usize,
    labels: &Labels,
) -> Result<(), Error> {
    let classes = labels.len();
    check_quantity(task, schema, rows, labels)?;
    if classes == rows && rows > MANY_CLASSES {
        return Err(Error::NotALabel { column: schema.label.clone(), classes, rows });
    }
    if how.label != LabelColumn::Guess || classes <= MANY_CLASSES || classes * 2 <= rows {
        return Ok(());
    }
    Err(Error::NotALabel { column: schema.label.clone(), classes, rows })
}

/// Values of a quantity are no classes, unless the task says so.
pub(super) fn check_quantity(
    task: TaskChoice,
    schema: &Schema,
    rows: usize,
    labels: &Labels,
) -> Result<(), Error> {
    if task != TaskChoice::Classification && is_quantity(labels.names(), rows) {
        return Err(Error::Quantity { column: schema.label.clone(), classes: labels.len(), rows });
    }
    let names = labels.names();
    let n_amounts = || names.iter().filter(|name| is_amount(name)).count();
    if task != TaskChoice::Classification
        && names.len() > MOST_CODES
        && names.len() * FEWEST_OF_CODE > rows
        && names.len() - n_amounts() <= names.len() / FEW_TEXTS
    {
        let found = names.iter().rev().find(|name| is_amount(name)).cloned().unwrap_or_default();
        return Err(Error::Amounts { column: schema.label.clone(), classes: names.len(), rows, found });
    }
    Ok(())
}

/// The note for commands that take the values of a quantity as classes: a comparison, a certificate.
pub fn note_on_quantity(labels: &Labels, rows: usize) -> Option<String> {
    is_quantity(labels.names(), rows).then(|| {
        format!(
            "the label looks like a quantity: each of its {} different numbers is taken as a class",
            labels.len()
        )
    })
}

/// Whether classes are the values of a quantity: many numbers, and some between whole ones or each met a few times at most. Codes
/// of classes are whole, and each is met again and again.
fn is_quantity(names: &[String], rows: usize) -> bool {
    let spelling = if names.len() > MANY_CLASSES { spelling_of(names) } else { None };
    let numbers: Vec<f64> = match spelling {
        Some(spelling) if !spelling.is_plain() => {
            names.iter().filter_map(|name| spelling.number(name)).collect()
        }
        _ => names.iter().filter_map(|name| name.parse().ok()).collect(),
    };
    // A few texts among many numbers are a quantity with mistakes in it, which the row is named for.
    if numbers.len() <= MANY_CLASSES || (names.len() - numbers.len()) * FEW_TEXTS > names.len() {
        return false;
    }
    numbers.iter().any(|number| number.fract() != 0.0)
        || (numbers.len() > MOST_CODES && numbers.len() * FEWEST_OF_CODE > rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_a_quantity_and_codes_are_not() {
        let names = |numbers: &[f64]| numbers.iter().map(ToString::to_string).collect::<Vec<_>>();
        let prices: Vec<f64> = (0..400).map(|row| f64::from(row) * 1.25).collect();
        assert!(is_quantity(&names(&prices), 4000));
        let codes: Vec<f64> = (0..400).map(f64::from).collect();
        assert!(!is_quantity(&names(&codes), 4000));
        assert!(is_quantity(&names(&codes), 500));
        // A text or two are mistakes in a quantity.
        let mut mistaken = names(&prices);
        mistaken[7] = "n/a".to_owned();
        assert!(is_quantity(&mistaken, 4000));
        // Money and shares, however they are written.
        let dollars: Vec<String> = (0..90).map(|row| format!("${},{:03}.50", row + 1, row * 7)).collect();
        assert!(is_quantity(&dollars, 4000));
        assert!(is_quantity(&(0..90).map(|row| format!("{row}.5%")).collect::<Vec<_>>(), 4000));
        // Grades, and names that are no numbers.
        assert!(!is_quantity(&names(&[1.0, 1.5, 2.0, 2.5]), 9));
        assert!(!is_quantity(&(0..90).map(|row| format!("w{row}")).collect::<Vec<_>>(), 91));
    }
}
