//! Rows that grow one by one, whatever form they came in: of each, the entries that are not zero.

use crate::row::{Row, Sparse};

/// Contiguous rows in one form, so that they give the same bits whatever form they came in.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseRows {
    offsets: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl Default for SparseRows {
    fn default() -> Self {
        Self { offsets: vec![0], indices: Vec::new(), values: Vec::new() }
    }
}

impl SparseRows {
    /// Rows of at most `width` features from plain arrays, which may come from anywhere; the error says what does not
    /// fit.
    pub fn from_parts(
        offsets: Vec<usize>,
        indices: Vec<u32>,
        values: Vec<f64>,
        width: usize,
    ) -> Result<Self, &'static str> {
        if offsets.first() != Some(&0) || offsets.last() != Some(&indices.len()) || !offsets.is_sorted() {
            return Err("the stored rows do not fill their entries");
        }
        if indices.len() != values.len() {
            return Err("two arrays that belong together differ in length");
        }
        let is_right = |bounds: &[usize]| {
            let row = &indices[bounds[0]..bounds[1]];
            row.is_sorted_by(|a, b| a < b) && row.last().is_none_or(|&last| (last as usize) < width)
        };
        if !offsets.windows(2).all(is_right) {
            return Err("the features of a stored row do not ascend within the width");
        }
        Ok(Self { offsets, indices, values })
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
        self.push_entries(row.entries().take_while(|(feature, _)| *feature < width));
    }

    /// Adds the row of these entries, by ascending feature; zeros are left out.
    pub fn push_entries(&mut self, entries: impl Iterator<Item = (usize, f64)>) {
        // Where zeros and others take turns, a branch per entry is guessed wrong too often: each is written, and the next one
        // over it if it was zero.
        const AT_ONCE: usize = 64;
        let (mut indices, mut values, mut n) = ([0_u32; AT_ONCE], [0.0; AT_ONCE], 0);
        for (feature, value) in entries {
            (indices[n % AT_ONCE], values[n % AT_ONCE]) = (feature as u32, value);
            n += usize::from(value != 0.0);
            if n == AT_ONCE {
                self.indices.extend_from_slice(&indices);
                self.values.extend_from_slice(&values);
                n = 0;
            }
        }
        self.indices.extend_from_slice(&indices[..n]);
        self.values.extend_from_slice(&values[..n]);
        self.offsets.push(self.indices.len());
    }

    /// Adds all rows of another.
    pub fn append(&mut self, other: &Self) {
        let n_before = self.indices.len();
        self.offsets.extend(other.offsets[1..].iter().map(|offset| n_before + offset));
        self.indices.extend_from_slice(&other.indices);
        self.values.extend_from_slice(&other.values);
    }

    /// Puts the row of these entries in the place of another.
    pub fn replace(&mut self, idx: usize, entries: impl Iterator<Item = (usize, f64)>) {
        let range = self.offsets[idx]..self.offsets[idx + 1];
        let entries = entries.filter(|(_, value)| *value != 0.0);
        let (indices, values): (Vec<u32>, Vec<f64>) =
            entries.map(|(feature, value)| (feature as u32, value)).unzip();
        let (before, after) = (range.len(), values.len());
        self.indices.splice(range.clone(), indices);
        self.values.splice(range, values);
        for offset in &mut self.offsets[idx + 1..] {
            *offset = *offset + after - before;
        }
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

    /// The entries of one of the rows, by ascending feature.
    pub fn entries(&self, idx: usize) -> impl ExactSizeIterator<Item = (usize, f64)> + Clone + '_ {
        let row = self.row(idx);
        row.indices().iter().zip(row.values()).map(|(&feature, &value)| (feature as usize, value))
    }

    /// The rows, one after the other.
    pub fn iter(&self) -> impl Iterator<Item = Sparse<'_, f64>> {
        (0..self.len()).map(|idx| self.row(idx))
    }

    /// A hash of entries, the same for the same row in whatever form it comes if zeros are left out.
    pub fn hash_of(entries: impl Iterator<Item = (usize, f64)>) -> u64 {
        let mut hash = 0xCBF2_9CE4_8422_2325_u64;
        for (feature, value) in entries {
            for bits in [feature as u64, value.to_bits()] {
                hash = (hash ^ bits).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23);
            }
        }
        hash
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Dense;

    #[test]
    fn rows_come_back_as_they_were_pushed_and_replaced() {
        let mut rows = SparseRows::default();
        rows.push(Dense(&[1.0_f32, 0.0, 2.0, 9.0]), 3);
        rows.push(Dense(&[0.0_f64; 3]), 3);
        rows.push(Sparse::new(&[1], &[4.0_f64]), 3);
        let all = |rows: &SparseRows| -> Vec<Vec<(usize, f64)>> {
            (0..rows.len()).map(|idx| rows.entries(idx).collect()).collect()
        };
        assert_eq!(all(&rows), [vec![(0, 1.0), (2, 2.0)], vec![], vec![(1, 4.0)]]);
        rows.replace(0, [(0, 0.0), (1, 5.0)].into_iter());
        rows.replace(1, [(0, 6.0), (2, 7.0)].into_iter());
        assert_eq!(all(&rows), [vec![(1, 5.0)], vec![(0, 6.0), (2, 7.0)], vec![(1, 4.0)]]);
        let (offsets, indices, values) = rows.parts();
        let again = SparseRows::from_parts(offsets.to_vec(), indices.to_vec(), values.to_vec(), 3);
        assert_eq!(again.as_ref(), Ok(&rows));
        for (offsets, indices, n_values) in [
            (vec![], vec![], 0),
            (vec![0, 2], vec![1], 1),
            (vec![0, 2, 1], vec![1], 1),
            (vec![0, 1], vec![1], 2),
            (vec![0, 2], vec![1, 1], 2),
            (vec![0, 1], vec![3], 1),
        ] {
            assert!(SparseRows::from_parts(offsets, indices, vec![1.0; n_values], 3).is_err());
        }
    }
}
