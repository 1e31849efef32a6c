//! Cholesky's factor of a kernel matrix, largest remainder first: what Nyström's map divides by.
//!
//! Rows that the ones before them nearly make up add nothing but rounding, and are left out. `L⁻¹ k` differs
//! from the textbook's `K^(-1/2) k` by a rotation, which changes no product and so nothing that a learner with
//! one rate for all features does.

use rosenblatt_core::{Dense, Row as _};

/// What is left of a row's own value must be more than this share of the largest one.
const SHARE: f64 = 1e-10;

/// A lower triangle, column by column.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Factor {
    size: usize,
    /// Column `k` holds rows `k..size`.
    columns: Vec<f64>,
}

/// The factor of a symmetric matrix of `size` rows, and the rows it is made of, in its order.
pub(super) fn factor(matrix: &[f64], size: usize) -> (Factor, Vec<usize>) {
    let mut left: Vec<f64> = (0..size).map(|row| matrix[row * size + row]).collect();
    let largest = left.iter().copied().fold(0.0, f64::max);
    let mut order: Vec<usize> = (0..size).collect();
    // Every row's part of each column so far, in the rows' first order.
    let mut columns: Vec<Vec<f64>> = Vec::new();
    for done in 0..size {
        let remaining = done..size;
        // The first of equals.
        let best = remaining.rev().max_by(|&a, &b| left[order[a]].total_cmp(&left[order[b]]));
        let Some(best) = best.filter(|&best| left[order[best]] > SHARE * largest) else { break };
        order.swap(done, best);
        let pivot = order[done];
        let root = left[pivot].sqrt();
        let mut column = matrix[pivot * size..][..size].to_vec();
        for before in &columns {
            Dense(before).add_to(-before[pivot], &mut column);
        }
        for value in &mut column {
            *value /= root;
        }
        left.iter_mut().zip(&column).for_each(|(left, value)| *left -= value * value);
        columns.push(column);
    }
    let size = columns.len();
    order.truncate(size);
    let packed = columns.iter().enumerate().flat_map(|(k, column)| order[k..].iter().map(|&row| column[row]));
    (Factor { size, columns: packed.collect() }, order)
}

impl Factor {
    /// A factor from its numbers; `None` if they are not as many as `size` rows have, or cannot be divided by.
    pub(super) fn from_columns(columns: Vec<f64>, size: usize) -> Option<Self> {
        let factor = Self { size, columns };
        let n_values = size.checked_mul(size.checked_add(1)?)? / 2;
        let is_whole = factor.columns.len() == n_values;
        (is_whole && factor.each_column().all(|column| column[0] > 0.0)).then_some(factor)
    }

    pub(super) fn columns(&self) -> &[f64] {
        &self.columns
    }

    pub(super) fn size(&self) -> usize {
        self.size
    }

    fn each_column(&self) -> impl Iterator<Item = &[f64]> {
        let mut rest = self.columns.as_slice();
        (1..=self.size).rev().map(move |length| {
            let (column, after) = rest.split_at(length);
            rest = after;
            column
        })
    }

    /// Solves `L y = values` in place.
    pub(super) fn solve(&self, mut values: &mut [f64]) {
        for column in self.each_column() {
            let Some((first, rest)) = values.split_first_mut() else { return };
            *first /= column[0];
            Dense(&column[1..]).add_to(-*first, rest);
            values = rest;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rosenblatt_core::Random;

    #[test]
    fn the_factor_makes_up_the_matrix_and_solves_it() {
        let mut random = Random::new(9);
        for (size, rank) in [(1, 1), (5, 5), (12, 4), (30, 30)] {
            let vectors: Vec<Vec<f64>> =
                (0..size).map(|_| (0..rank).map(|_| random.unit() - 0.5).collect()).collect();
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            let matrix: Vec<f64> =
                vectors.iter().flat_map(|a| vectors.iter().map(move |b| dot(a, b))).collect();
            let (factor, order) = factor(&matrix, size);
            assert_eq!(order.len(), rank);
            // Any two rows' products come back from what the factor makes of them, those left out too.
            let solved: Vec<Vec<f64>> = (0..size)
                .map(|row| {
                    let mut values: Vec<f64> = order.iter().map(|&kept| matrix[row * size + kept]).collect();
                    factor.solve(&mut values);
                    values
                })
                .collect();
            for a in 0..size {
                for b in 0..size {
                    assert!((dot(&solved[a], &solved[b]) - matrix[a * size + b]).abs() < 1e-8);
                }
            }
            assert_eq!(Factor::from_columns(factor.columns().to_vec(), rank), Some(factor.clone()));
            assert_eq!(Factor::from_columns(factor.columns().to_vec(), rank + 1), None);
        }
    }

    #[test]
    fn a_matrix_of_no_kernel_has_no_factor() {
        assert!(factor(&[-1.0, 0.0, 0.0, -2.0], 2).1.is_empty());
        assert!(factor(&[0.0], 1).1.is_empty());
        assert_eq!(Factor::from_columns(vec![0.0], 1), None);
    }
}
