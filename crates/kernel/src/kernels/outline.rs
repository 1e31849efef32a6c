//! What a kernel must know of the rows before it is used: their number, scale and longest.

use rosenblatt_core::{Examples, Row};

/// The outline of rows that are to be learned from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outline {
    /// How many rows the data has, learned from or not.
    pub n_rows: usize,
    /// Features.
    pub width: usize,
    /// The variance of all values.
    pub variance: f64,
    /// The largest squared length of a row.
    pub norm2: f64,
    /// The first negative value: row, feature, value.
    pub negative: Option<(usize, usize, f64)>,
}

impl Outline {
    /// The outline of these rows of `examples`. The same however the rows are stored: zeros are counted, not added.
    pub fn of<E: Examples>(examples: E, rows: &[u32]) -> Self {
        let entries = |row: u32| examples.row(row as usize).entries().filter(|(_, value)| *value != 0.0);
        let (mut n_entries, mut total, mut norm2, mut negative) = (0_u64, 0.0, 0.0_f64, None);
        for &row in rows {
            let mut own = 0.0;
            for (feature, value) in entries(row) {
                n_entries += 1;
                total += value;
                own += value * value;
                if value < 0.0 && negative.is_none() {
                    negative = Some((row as usize, feature, value));
                }
            }
            norm2 = norm2.max(own);
        }
        let n_values = rows.len() as f64 * examples.width() as f64;
        let mean = if n_values > 0.0 { total / n_values } else { 0.0 };
        let mut squares = (n_values - n_entries as f64) * mean * mean;
        for &row in rows {
            squares += entries(row).map(|(_, value)| (value - mean) * (value - mean)).sum::<f64>();
        }
        let variance = if n_values > 0.0 { squares / n_values } else { 0.0 };
        Self { n_rows: examples.len(), width: examples.width(), variance, norm2, negative }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rosenblatt_core::{DenseExamples, SparseExamples};

    #[test]
    fn dense_rows_and_their_sparse_twins_have_one_outline() {
        let values = [1.0, 0.0, 2.0, 0.0, -3.0, 0.5];
        let dense = Outline::of(DenseExamples::new(&values, 3, &[0, 1]), &[0, 1]);
        let (offsets, indices, stored) = ([0, 2, 4], [0, 2, 1, 2], [1.0, 2.0, -3.0, 0.5]);
        let sparse = Outline::of(SparseExamples::new(&offsets, &indices, &stored, 3, &[0, 1]), &[0, 1]);
        assert_eq!(dense, sparse);
        assert_eq!((dense.norm2, dense.negative), (9.25, Some((1, 1, -3.0))));
        let mean = 0.5 / 6.0;
        let variance = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / 6.0;
        assert!((dense.variance - variance).abs() < 1e-15);
    }
}
