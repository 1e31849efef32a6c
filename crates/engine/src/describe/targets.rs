//! Numbers to predict: what the labels of rows say, and the units that they are learned in.
//!
//! Rows carry the number of their label, as they do of a class; here the names of the labels become numbers. They are
//! learned less their mean and in standard deviations, so that rates, tolerances and tubes suit every target, and weights
//! are brought back to the units of the target afterwards.

use crate::error::Error;
use crate::rows::RowSource;
use rosenblatt_core::Hyperplanes;
use rosenblatt_core::memory::Kept;
use rosenblatt_data::formats::spelling_of;
use rosenblatt_data::{Decimal, Labels, Schema, Spelling};
use std::sync::Arc;

/// No target is larger: squares and sums of them are numbers, too.
const LARGEST: f64 = 1e100;
/// What is predicted, if it has no name: as libsvm and tables of numbered columns call it, so that both give the same bytes.
const NAMELESS: &str = "label";

/// The number that each label stands for; the error names the first row whose label stands for none.
pub(crate) fn targets(data: &RowSource<'_>) -> Result<Vec<f64>, Error> {
    let names = data.labels().names();
    let spelling = spelling_of(names).unwrap_or(Spelling::PLAIN);
    let number = |name: &String| if spelling.is_plain() { name.parse().ok() } else { spelling.number(name) };
    let of_name = |name: &String| number(name).filter(|number: &f64| number.abs() <= LARGEST);
    if let Some(numbers) = names.iter().map(of_name).collect::<Option<Vec<f64>>>() {
        return Ok(numbers);
    }
    let is_bad: Vec<bool> = names.iter().map(|name| of_name(name).is_none()).collect();
    let place = data.classes().iter().position(|&class| is_bad[class as usize]).ok_or(Error::NoRows)?;
    let name = &names[data.classes()[place] as usize];
    let (found, expected) = match number(name) {
        Some(number) => {
            (format!("{number:e}"), "at most 1e100 in size; divide all of them by the same number")
        }
        None if is_date(name) => {
            (format!("`{name}`"), "a number; of a date, take the days since another one")
        }
        None if is_amount(name) => {
            (format!("`{name}`"), "a number that can be read in one way only, such as 1234.5")
        }
        None => (format!("`{name}`"), "a number"),
    };
    Err(Error::BadTarget { row: data.number(place) + 1, found, expected })
}

/// Whether a text holds the digits of one number, with points, commas, spaces or other signs that part them, or beside a sign
/// of money or percent.
pub(crate) fn is_amount(name: &str) -> bool {
    let digits: String =
        name.chars().filter(|letter| !letter.is_whitespace() && !"'’_".contains(*letter)).collect();
    [digits.as_str(), name].iter().any(|text| {
        let is_one = |decimal| {
            spelling_of(&[text])
                .is_none_or(|spelling| Spelling { decimal, ..spelling }.number(text).is_some())
        };
        [Decimal::Point, Decimal::PointAfterCommas, Decimal::CommaAfterPoints].into_iter().any(is_one)
    })
}

/// Digits in three parts, with the same sign between them.
fn is_date(name: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    ['-', '/', '.'].iter().any(|sign| name.split(*sign).count() == 3 && name.split(*sign).all(is_number))
}

/// Targets as they are learned.
#[derive(Debug)]
pub(crate) struct Units {
    mean: f64,
    deviation: f64,
    /// The target of every label, less the mean and in deviations.
    pub(crate) scaled: Arc<[f64]>,
}

impl Units {
    /// The units that suit these rows.
    pub(crate) fn of(data: &RowSource<'_>, rows: &[u32]) -> Result<Self, Error> {
        let targets = targets(data)?;
        let of_rows = || rows.iter().map(|&row| targets[data.classes()[row as usize] as usize]);
        let first = of_rows().next().ok_or(Error::NoRows)?;
        let n_rows = rows.len() as f64;
        let mean = of_rows().map(|target| target / n_rows).sum::<f64>();
        let square = of_rows().map(|target| (target - mean).powi(2) / n_rows).sum::<f64>();
        if of_rows().all(|target| target == first) {
            return Err(Error::OneTarget { found: first });
        }
        // Targets that differ in their last digits only may have no square.
        let deviation = if square.sqrt() > 0.0 { square.sqrt() } else { 1.0 };
        let scaled = targets.iter().map(|target| (target - mean) / deviation).collect();
        Ok(Self { mean, deviation, scaled })
    }

    /// Hyperplanes in the units of the target.
    pub(crate) fn unscaled(&self, kept: Kept) -> Kept {
        let Kept::Hyperplanes(planes) = &kept else { return kept };
        let weights = planes.raw_weights().iter().map(|weight| weight * self.deviation).collect();
        let biases = planes.biases().iter().map(|bias| bias * self.deviation + self.mean).collect();
        Kept::Hyperplanes(Hyperplanes::from_parts(weights, biases))
    }

    /// What is predicted.
    pub(crate) fn label(schema: Option<&Schema>) -> Labels {
        let name = schema.and_then(|schema| schema.label.clone());
        Labels::in_order(vec![name.unwrap_or_else(|| NAMELESS.to_owned())])
    }
}

/// The mean and the median.
pub(crate) fn middles(mut targets: Vec<f64>) -> (f64, f64) {
    targets.sort_by(f64::total_cmp);
    let n = targets.len();
    if n == 0 {
        return (0.0, 0.0);
    }
    let mean = targets.iter().map(|target| target / n as f64).sum();
    (mean, f64::midpoint(targets[(n - 1) / 2], targets[n / 2]))
}
