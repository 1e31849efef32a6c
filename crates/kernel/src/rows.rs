//! Support rows: distinct rows that were stepped along, dense or compressed, found again by their content.

use rosenblatt_core::SparseRows;
use std::collections::HashMap;

/// Rows in the order they came, each stored once.
#[derive(Debug, Clone)]
pub struct Rows {
    width: usize,
    storage: Storage,
    norms2: Vec<f64>,
    /// Rows by a hash of their entries. Only ever looked up, never walked.
    by_hash: HashMap<u64, Vec<u32>>,
}

#[derive(Debug, Clone)]
enum Storage {
    /// Row by row, all features.
    Dense(Vec<f64>),
    /// Row by row, those that are not zero.
    Sparse(SparseRows),
}

/// A row as it is stored.
pub(crate) enum Stored<'a> {
    Dense(&'a [f64]),
    Sparse(&'a [u32], &'a [f64]),
}

impl PartialEq for Rows {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len()
            && (0..self.len() as u32).all(|row| self.entries(row).eq(other.entries(row)))
    }
}

impl Rows {
    /// No rows yet, of `width` features.
    pub(crate) fn new(width: usize, dense: bool) -> Self {
        let storage = if dense { Storage::Dense(Vec::new()) } else { Storage::Sparse(SparseRows::default()) };
        Self { width, storage, norms2: Vec::new(), by_hash: HashMap::new() }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.norms2.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.norms2.is_empty()
    }

    /// How many features they have.
    pub fn width(&self) -> usize {
        self.width
    }

    /// How many values are stored.
    pub fn n_entries(&self) -> usize {
        match &self.storage {
            Storage::Dense(values) => values.len(),
            Storage::Sparse(rows) => rows.parts().2.len(),
        }
    }

    pub(crate) fn is_dense(&self) -> bool {
        matches!(self.storage, Storage::Dense(_))
    }

    /// The entries of a row that are not zero.
    pub fn entries(&self, row: u32) -> impl Iterator<Item = (usize, f64)> + '_ {
        let (indices, values) = match self.stored(row) {
            Stored::Dense(values) => (None, values),
            Stored::Sparse(indices, values) => (Some(indices), values),
        };
        let feature = move |place: usize| indices.map_or(place, |indices| indices[place] as usize);
        let entries = values.iter().enumerate().map(move |(place, value)| (feature(place), *value));
        entries.filter(|(_, value)| *value != 0.0)
    }

    pub(crate) fn stored(&self, row: u32) -> Stored<'_> {
        let row = row as usize;
        match &self.storage {
            Storage::Dense(values) => Stored::Dense(&values[row * self.width..][..self.width]),
            Storage::Sparse(rows) => {
                let row = rows.row(row);
                Stored::Sparse(row.indices(), row.values())
            }
        }
    }

    /// `‖x‖²` of a row.
    pub fn norm2(&self, row: u32) -> f64 {
        self.norms2[row as usize]
    }

    /// Makes room for rows of `width` features.
    pub(crate) fn widen(&mut self, width: usize) {
        if width <= self.width {
            return;
        }
        if let Storage::Dense(values) = &mut self.storage {
            let mut wide = vec![0.0; self.norms2.len() * width];
            if self.width > 0 {
                for (old, new) in values.chunks_exact(self.width).zip(wide.chunks_exact_mut(width)) {
                    new[..self.width].copy_from_slice(old);
                }
            }
            *values = wide;
        }
        self.width = width;
    }

    /// The number of the row with these entries, which is stored if it is new.
    pub(crate) fn intern(&mut self, entries: impl Iterator<Item = (usize, f64)> + Clone) -> u32 {
        let entries = entries.filter(|(_, value)| *value != 0.0);
        let hash = SparseRows::hash_of(entries.clone());
        self.find_hashed(hash, &entries).unwrap_or_else(|| self.push(hash, entries))
    }

    /// The number of the row with these entries, none of them zero.
    pub(crate) fn find(&self, entries: &(impl Iterator<Item = (usize, f64)> + Clone)) -> Option<u32> {
        self.find_hashed(SparseRows::hash_of(entries.clone()), entries)
    }

    fn find_hashed(&self, hash: u64, entries: &(impl Iterator<Item = (usize, f64)> + Clone)) -> Option<u32> {
        let known = self.by_hash.get(&hash).map_or(&[][..], Vec::as_slice);
        known.iter().copied().find(|&other| self.entries(other).eq(entries.clone()))
    }

    /// Puts a row in the place of another, which is forgotten.
    pub(crate) fn replace(&mut self, row: u32, entries: impl Iterator<Item = (usize, f64)> + Clone) {
        let old = SparseRows::hash_of(self.entries(row));
        if let Some(alike) = self.by_hash.get_mut(&old) {
            alike.retain(|other| *other != row);
        }
        let entries = entries.filter(|(_, value)| *value != 0.0);
        self.by_hash.entry(SparseRows::hash_of(entries.clone())).or_default().push(row);
        self.norms2[row as usize] = norm2_of(entries.clone().map(|(_, value)| value));
        match &mut self.storage {
            Storage::Dense(values) => {
                let values = &mut values[row as usize * self.width..][..self.width];
                values.fill(0.0);
                entries.for_each(|(feature, value)| values[feature] = value);
            }
            Storage::Sparse(rows) => rows.replace(row as usize, entries),
        }
    }

    fn push(&mut self, hash: u64, entries: impl Iterator<Item = (usize, f64)> + Clone) -> u32 {
        let number = self.len() as u32;
        self.norms2.push(norm2_of(entries.clone().map(|(_, value)| value)));
        match &mut self.storage {
            Storage::Dense(values) => {
                let from = values.len();
                values.resize(from + self.width, 0.0);
                entries.for_each(|(feature, value)| values[from + feature] = value);
            }
            Storage::Sparse(rows) => rows.push_entries(entries),
        }
        self.by_hash.entry(hash).or_default().push(number);
        number
    }

    /// The rows as compressed arrays: where each begins and the end, features, values.
    pub fn compressed(&self) -> (Vec<u64>, Vec<u32>, Vec<f64>) {
        let mut rows = SparseRows::default();
        for row in 0..self.len() as u32 {
            rows.push_entries(self.entries(row));
        }
        let (offsets, indices, values) = rows.parts();
        (offsets.iter().map(|&offset| offset as u64).collect(), indices.to_vec(), values.to_vec())
    }

    /// Rows from compressed arrays, which may come from anywhere; the error says what does not fit.
    pub fn from_compressed(
        width: usize,
        offsets: &[u64],
        indices: &[u32],
        values: &[f64],
    ) -> Result<Self, &'static str> {
        if !values.iter().all(|value| value.is_finite()) {
            return Err("a stored row has a value that is not a finite number");
        }
        let offsets = offsets.iter().map(|&offset| offset as usize).collect();
        let given = SparseRows::from_parts(offsets, indices.to_vec(), values.to_vec(), width)?;
        let n_rows = given.len();
        // Room for all features of all rows is only taken if the entries themselves take a good part of it.
        let dense = is_dense(indices.len(), n_rows, width);
        let mut rows = Self::new(width, dense);
        for idx in 0..n_rows {
            rows.push(SparseRows::hash_of(given.entries(idx)), given.entries(idx));
        }
        Ok(rows)
    }
}

/// Whether rows with this many entries in all are better stored with their zeros: measured, products of dense rows
/// are quicker per entry by about this factor.
pub(crate) fn is_dense(n_entries: usize, n_rows: usize, width: usize) -> bool {
    n_entries as u128 * 4 > n_rows as u128 * width as u128
}

/// `‖x‖²`, in the order and rounding of `simd::plain`.
pub(crate) fn norm2_of(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |sum: f64, value| value.mul_add(value, sum))
}
