//! The last resort for small problems: linear programming in exact integers.
//!
//! It asks for non-negative weights, 1 in all, under which the signed rows add up to zero (phase one of the
//! simplex method, Bland's rule, fractions over one common denominator). If there are none, the prices of the
//! equations are a hyperplane. It always ends, and it is always right; it is just slow.

use crate::integers::{Integers, big};
use num_bigint::{BigInt, Sign};
use std::ops::ControlFlow;

/// The most cells of a tableau that anybody wants to wait for.
const MOST_CELLS: usize = 100_000;

/// What the method found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Outcome {
    /// Weights of the columns that add up to zero.
    Contradiction(Vec<BigInt>),
    /// One weight per equation of the integers: every column's product with them is positive.
    Prices(Vec<BigInt>),
    /// Too large, or stopped.
    Nothing,
}

pub(crate) fn simplex(integers: &Integers, stop: &mut dyn FnMut() -> ControlFlow<()>) -> Outcome {
    let (n, m) = (integers.columns.len(), integers.equations.len() + 1);
    if n == 0 || (n + m + 1).saturating_mul(m + 1) > MOST_CELLS {
        return Outcome::Nothing;
    }
    // Columns: rows of the data, one artificial variable per equation, the right side. The last equation
    // says that all weights add up to 1, the last row of the tableau what is still missing.
    let mut table = vec![vec![BigInt::ZERO; n + m + 1]; m + 1];
    for (place, column) in integers.columns.iter().enumerate() {
        for &(equation, mantissa, shift) in column {
            table[equation][place] = big(mantissa, shift);
        }
        table[m - 1][place] = BigInt::from(1);
    }
    table[m - 1][n + m] = BigInt::from(1);
    for equation in 0..m {
        table[equation][n + equation] = BigInt::from(1);
        for place in (0..n).chain([n + m]) {
            let value = table[equation][place].clone();
            table[m][place] -= value;
        }
    }
    let mut basis: Vec<usize> = (n..n + m).collect();
    let mut denominator = BigInt::from(1);
    while let Some(enters) = (0..n).find(|&place| table[m][place].sign() == Sign::Minus) {
        if stop().is_break() {
            return Outcome::Nothing;
        }
        let rises = (0..m).filter(|&row| table[row][enters].sign() == Sign::Plus);
        let leaves = rises.min_by(|&a, &b| {
            let (left, right) = (&table[a][n + m] * &table[b][enters], &table[b][n + m] * &table[a][enters]);
            left.cmp(&right).then(basis[a].cmp(&basis[b]))
        });
        let Some(leaves) = leaves else { return Outcome::Nothing };
        let row = table[leaves].clone();
        let pivot = row[enters].clone();
        for other in (0..=m).filter(|&other| other != leaves) {
            let factor = table[other][enters].clone();
            for (value, head) in table[other].iter_mut().zip(&row) {
                if value.sign() == Sign::NoSign
                    && (factor.sign() == Sign::NoSign || head.sign() == Sign::NoSign)
                {
                    continue;
                }
                *value = (&*value * &pivot - &factor * head) / &denominator;
            }
        }
        denominator = pivot;
        basis[leaves] = enters;
    }
    if table[m][n + m].sign() == Sign::NoSign {
        let mut weights = vec![BigInt::ZERO; n];
        for (row, &variable) in basis.iter().enumerate().filter(|(_, variable)| **variable < n) {
            weights[variable].clone_from(&table[row][n + m]);
        }
        return Outcome::Contradiction(weights);
    }
    // An artificial variable costs 1, so its reduced cost is 1 minus the price of its equation.
    Outcome::Prices((0..m - 1).map(|equation| &table[m][n + equation] - &denominator).collect())
}
