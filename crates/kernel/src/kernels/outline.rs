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
        let mut survey = Survey::default();
        survey.look(examples, rows, 0);
        survey.measure(examples.width());
        survey.look_again(examples, rows);
        survey.outline(examples.len())
    }
}

/// An outline in the making, for rows that come in blocks: all are shown twice, in one order, so that the outcome
/// is that of all together.
#[derive(Debug, Clone, Default)]
pub struct Survey {
    width: usize,
    n_rows: u64,
    n_entries: u64,
    total: f64,
    norm2: f64,
    negative: Option<(usize, usize, f64)>,
    mean: f64,
    squares: f64,
}

fn entries<E: Examples>(examples: E, row: u32) -> impl Iterator<Item = (usize, f64)> {
    examples.row(row as usize).entries().filter(|(_, value)| *value != 0.0)
}

impl Survey {
    /// Looks at these rows of a block that begins with row `first`.
    pub fn look<E: Examples>(&mut self, examples: E, rows: &[u32], first: usize) {
        for &row in rows {
            let mut own = 0.0;
            for (feature, value) in entries(examples, row) {
                self.n_entries += 1;
                self.total += value;
                own += value * value;
                if value < 0.0 && self.negative.is_none() {
                    self.negative = Some((first + row as usize, feature, value));
                }
            }
            self.norm2 = self.norm2.max(own);
        }
        self.n_rows += rows.len() as u64;
    }

    /// All rows, of `width` features, have been looked at once.
    pub fn measure(&mut self, width: usize) {
        self.width = width;
        let n_values = self.n_values();
        self.mean = if n_values > 0.0 { self.total / n_values } else { 0.0 };
        self.squares = (n_values - self.n_entries as f64) * self.mean * self.mean;
    }

    /// Looks at the rows of a block for the second time.
    pub fn look_again<E: Examples>(&mut self, examples: E, rows: &[u32]) {
        let mean = self.mean;
        for &row in rows {
            let squares = entries(examples, row).map(|(_, value)| (value - mean) * (value - mean));
            self.squares += squares.sum::<f64>();
        }
    }

    /// The outline, of data that has `n_rows` rows, learned from or not.
    pub fn outline(&self, n_rows: usize) -> Outline {
        let n_values = self.n_values();
        let variance = if n_values > 0.0 { self.squares / n_values } else { 0.0 };
        Outline { n_rows, width: self.width, variance, norm2: self.norm2, negative: self.negative }
    }

    fn n_values(&self) -> f64 {
        self.n_rows as f64 * self.width as f64
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
