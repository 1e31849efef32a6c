//! Rows as columns of integers: what exact linear algebra starts from.
//!
//! Every feature is multiplied by a power of two of its own that makes its values whole. A contradiction is not
//! changed by that.

use crate::exact::parts;
use crate::rows::Rows;
use num_bigint::BigInt;
use std::collections::BTreeMap;

/// One equation per feature that occurs, and one for the sides if there is a bias; one column per row.
pub(crate) struct Integers {
    /// The signed entries of each column that are not zero, by equation.
    pub(crate) columns: Vec<Vec<(usize, BigInt)>>,
    pub(crate) n_equations: usize,
}

impl Integers {
    pub(crate) fn new(rows: &Rows, places: &[usize], bias: bool) -> Self {
        let mut lowest: BTreeMap<usize, i32> = BTreeMap::new();
        for &idx in places {
            for (feature, value) in rows.exact(idx) {
                let (_, exponent) = whole(value);
                lowest.entry(feature).and_modify(|low| *low = exponent.min(*low)).or_insert(exponent);
            }
        }
        let equation_of: BTreeMap<usize, usize> =
            lowest.keys().enumerate().map(|(equation, &feature)| (feature, equation)).collect();
        let columns = places.iter().map(|&idx| {
            let sign = if rows.is_positive(idx) { 1 } else { -1 };
            let mut column: BTreeMap<usize, BigInt> = BTreeMap::new();
            for (feature, value) in rows.exact(idx) {
                let (mantissa, exponent) = whole(value);
                let value = BigInt::from(sign * mantissa) << (exponent - lowest[&feature]);
                *column.entry(equation_of[&feature]).or_default() += value;
            }
            if bias {
                column.insert(lowest.len(), BigInt::from(sign));
            }
            column.into_iter().collect()
        });
        Self { columns: columns.collect(), n_equations: lowest.len() + usize::from(bias) }
    }
}

/// A double as an odd integer and an exponent.
pub(crate) fn whole(value: f64) -> (i64, i32) {
    let (mantissa, exponent) = parts(value);
    let spare = mantissa.trailing_zeros().min(52);
    let mantissa = (mantissa >> spare) as i64;
    (if value < 0.0 { -mantissa } else { mantissa }, exponent + spare as i32)
}
