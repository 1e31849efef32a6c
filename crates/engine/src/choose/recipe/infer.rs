//! What was taken for the label, and why. What cannot be guessed is asked.

use crate::error::Error;
use rosenblatt_data::formats::is_label_name;
use rosenblatt_data::{LabelColumn, Labels, ReadOptions, Schema};

/// More classes than this, of fewer than two rows each, are a sign of a mistake.
const MANY_CLASSES: usize = 20;
/// More whole numbers than this, most of them met once, are no codes of classes.
const MOST_CODES: usize = 100;

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

/// A column that was taken for the label, and is different in most rows, is none; nor is a quantity.
pub(super) fn check_label(
    how: &ReadOptions,
    schema: &Schema,
    rows: usize,
    labels: &Labels,
) -> Result<(), Error> {
    let classes = labels.len();
    if is_quantity(labels.names(), rows) {
        return Err(Error::Quantity { column: schema.label.clone(), classes, rows });
    }
    if how.label != LabelColumn::Guess || classes <= MANY_CLASSES || classes * 2 <= rows {
        return Ok(());
    }
    Err(Error::NotALabel { column: schema.label.clone(), classes, rows })
}

/// Whether classes are the values of a quantity: many numbers, and some between whole ones or nearly as many as rows. Codes
/// of classes are whole, and each is met again and again.
fn is_quantity(names: &[String], rows: usize) -> bool {
    let numbers: Option<Vec<f64>> = names.iter().map(|name| name.parse().ok()).collect();
    let Some(numbers) = numbers.filter(|numbers| numbers.len() > MANY_CLASSES) else { return false };
    numbers.iter().any(|number| number.fract() != 0.0)
        || (numbers.len() > MOST_CODES && numbers.len() * 2 > rows)
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
        // Grades, and names that are no numbers.
        assert!(!is_quantity(&names(&[1.0, 1.5, 2.0, 2.5]), 9));
        assert!(!is_quantity(&(0..90).map(|row| format!("w{row}")).collect::<Vec<_>>(), 91));
    }
}
