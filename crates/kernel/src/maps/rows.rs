//! A few rows on their way through a map: whatever they were stored as, the entries that are not zero.

use rosenblatt_core::{Row, Sparse};

/// Rows in one form, so that a map gives the same bits whatever form they came in.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    offsets: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl Default for Rows {
    fn default() -> Self {
        Self { offsets: vec![0], indices: Vec::new(), values: Vec::new() }
    }
}

impl Rows {
    /// Rows from compressed parts; `None` if they do not fit together or reach beyond `width`.
    pub fn from_parts(
        offsets: Vec<usize>,
        indices: Vec<u32>,
        values: Vec<f64>,
        width: usize,
    ) -> Option<Self> {
        let ends_fit = offsets.first() == Some(&0) && offsets.last() == Some(&indices.len());
        let is_whole = ends_fit && indices.len() == values.len() && offsets.is_sorted();
        let is_right = |bounds: &[usize]| {
            let row = &indices[bounds[0]..bounds[1]];
            row.windows(2).all(|pair| pair[0] < pair[1])
                && row.last().is_none_or(|&last| (last as usize) < width)
        };
        (is_whole && offsets.windows(2).all(is_right)).then_some(Self { offsets, indices, values })
    }

    /// Where each row begins and the last ends, the feature of each entry, and its value.
    pub fn parts(&self) -> (&[usize], &[u32], &[f64]) {
        (&self.offsets, &self.indices, &self.values)
    }

    /// Forgets all rows, and keeps their room.
    pub fn clear(&mut self) {
        self.offsets.truncate(1);
        self.indices.clear();
        self.values.clear();
    }

    /// Adds what a row says of the first `width` features.
    pub fn push<R: Row>(&mut self, row: R, width: usize) {
        for (feature, value) in row.entries().take_while(|(feature, _)| *feature < width) {
            if value != 0.0 {
                self.indices.push(feature as u32);
                self.values.push(value);
            }
        }
        self.offsets.push(self.indices.len());
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One of the rows.
    pub fn row(&self, idx: usize) -> Sparse<'_, f64> {
        let entries = self.offsets[idx]..self.offsets[idx + 1];
        Sparse::new(&self.indices[entries.clone()], &self.values[entries])
    }

    /// The rows, one after the other.
    pub fn iter(&self) -> impl Iterator<Item = Sparse<'_, f64>> {
        (0..self.len()).map(|idx| self.row(idx))
    }
}
