//! Rows as columns of integers: what exact linear algebra starts from.
//!
//! Every feature is multiplied by a power of two of its own that makes its values whole. A contradiction is
//! not changed by that, and the weights of a hyperplane are changed back by the same powers.

use crate::exact::parts;
use crate::rows::Rows;
use num_bigint::BigInt;
use std::collections::BTreeMap;

/// One equation per feature that occurs, and one for the sides if there is a bias; one column per row.
pub(crate) struct Integers {
    /// The signed entries of each column, as equation and mantissa with a shift to the left.
    pub(crate) columns: Vec<Vec<(usize, i64, u64)>>,
    /// The feature of each equation, and by which power of two its values were multiplied; `None` for the
    /// equation of the sides.
    pub(crate) equations: Vec<Option<(usize, i32)>>,
}

impl Integers {
    pub(crate) fn new(rows: &Rows, places: &[usize], bias: bool) -> Self {
        let mut lowest: BTreeMap<usize, i32> = BTreeMap::new();
        for &idx in places {
            for (feature, value) in rows.entries(idx) {
                let (_, exponent) = whole(value);
                lowest.entry(feature).and_modify(|low| *low = exponent.min(*low)).or_insert(exponent);
            }
        }
        let mut equations: Vec<_> = lowest.iter().map(|(&feature, &low)| Some((feature, -low))).collect();
        let of_feature: BTreeMap<usize, (usize, i32)> = lowest
            .into_iter()
            .enumerate()
            .map(|(equation, (feature, low))| (feature, (equation, low)))
            .collect();
        let columns = places.iter().map(|&idx| {
            let sign = if rows.is_positive(idx) { 1 } else { -1 };
            let entries = rows.entries(idx).map(|(feature, value)| {
                let (mantissa, exponent) = whole(value);
                let (equation, low) = of_feature[&feature];
                (equation, sign * mantissa, (exponent - low) as u64)
            });
            let side = bias.then_some((of_feature.len(), sign, 0));
            entries.chain(side).collect()
        });
        let columns = columns.collect();
        if bias {
            equations.push(None);
        }
        Self { columns, equations }
    }

    /// The columns in machine integers below `2^62`; `None` if one of them is larger.
    pub(crate) fn small(&self) -> Option<Vec<Vec<(usize, i64)>>> {
        let fit = |&(equation, mantissa, shift): &(usize, i64, u64)| {
            let bits = u64::from(64 - mantissa.unsigned_abs().leading_zeros());
            (bits + shift < 62).then(|| (equation, mantissa << shift))
        };
        self.columns.iter().map(|column| column.iter().map(fit).collect()).collect()
    }
}

/// An entry of any size.
pub(crate) fn big(mantissa: i64, shift: u64) -> BigInt {
    BigInt::from(mantissa) << shift
}

/// A double as an odd integer and an exponent.
pub(crate) fn whole(value: f64) -> (i64, i32) {
    let (mantissa, exponent) = parts(value);
    let spare = mantissa.trailing_zeros().min(52);
    let mantissa = (mantissa >> spare) as i64;
    (if value < 0.0 { -mantissa } else { mantissa }, exponent + spare as i32)
}
