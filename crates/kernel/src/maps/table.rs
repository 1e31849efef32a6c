//! Numbers of many outputs for every feature: what random directions and landmarks have in common.

use super::SparseRows;
use crate::kernels::Sum;
use rosenblatt_core::{Dense, Row, Sparse};

/// How many outputs are computed at a time: what some hundred features hold of them stays in the cache while the
/// rows of a block go by.
const TILE: usize = 256;

/// A number per feature and output, the outputs of a feature side by side.
#[derive(Debug, Clone)]
pub(super) struct Table {
    size: usize,
    values: Vec<f64>,
}

impl Table {
    /// A table of `size` outputs that knows no feature yet.
    pub(super) fn new(size: usize) -> Self {
        Self { size, values: Vec::new() }
    }

    /// Features become outputs: one per row. It knows those that some row has.
    pub(super) fn of_rows(rows: &SparseRows) -> Self {
        let size = rows.len();
        let width = rows.parts().1.iter().max().map_or(0, |last| *last as usize + 1);
        let mut values = vec![0.0; width * size];
        for (output, row) in rows.iter().enumerate() {
            row.entries().for_each(|(feature, value)| values[feature * size + output] = value);
        }
        Self { size, values }
    }

    pub(super) fn width(&self) -> usize {
        self.values.len() / self.size
    }

    /// Adds features up to `width`, each with the numbers that `of_feature` gives it.
    pub(super) fn widen<I: Iterator<Item = f64>>(&mut self, width: usize, of_feature: impl Fn(usize) -> I) {
        let known = self.width();
        self.values.reserve(self.size * width.saturating_sub(known));
        for feature in known..width {
            self.values.extend(of_feature(feature).take(self.size));
        }
    }

    /// Adds what every row says, feature by feature in ascending order, to its `size` numbers in `sums`. Distances
    /// are counted from those to a row of zeros. What it does not know is zero for all outputs.
    pub(super) fn add(&self, kind: Sum, rows: &SparseRows, sums: &mut [f64]) {
        for first in (0..self.size).step_by(TILE) {
            let tile = first..self.size.min(first + TILE);
            for (row, sums) in rows.iter().zip(sums.chunks_exact_mut(self.size)) {
                self.add_row(kind, row, first, &mut sums[tile.clone()]);
            }
        }
    }

    fn add_row(&self, kind: Sum, row: Sparse<'_, f64>, first: usize, sums: &mut [f64]) {
        for (feature, value) in row.entries() {
            let first = feature * self.size + first;
            let Some(table) = self.values.get(first..first + sums.len()) else {
                match kind {
                    Sum::Products | Sum::Rows => {}
                    Sum::Distances => sums.iter_mut().for_each(|sum| *sum += value.abs()),
                    Sum::Minima => sums.iter_mut().for_each(|sum| *sum += value.min(0.0)),
                }
                continue;
            };
            let pairs = sums.iter_mut().zip(table);
            match kind {
                Sum::Products | Sum::Rows => Dense(table).add_to(value, sums),
                Sum::Distances => pairs.for_each(|(sum, own)| *sum += (value - own).abs() - own.abs()),
                Sum::Minima => pairs.for_each(|(sum, own)| *sum += value.min(*own)),
            }
        }
    }
}
