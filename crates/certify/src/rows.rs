//! The rows a question is about: exact doubles, each on one of two sides.
//!
//! Every kind of example becomes compressed rows of doubles here, which loses nothing: a single is a double
//! too. Products of features are sums of doubles, the first the nearest one. Zeros are not stored. Rows keep the numbers they have in the user's data, since some may be left out.

use rosenblatt_core::{Dense, Examples, Row, Sparse, SparseExamples, SparseRows};
use sha2::{Digest, Sha256};

/// Rows on two sides.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    stored: SparseRows,
    width: usize,
    /// What doubles cannot hold of some values, per row, if there is anything: to be added to the values.
    tails: Vec<Vec<(usize, f64)>>,
    /// 1 for the positive side, 0 for the other: classes as the core knows them.
    sides: Vec<u32>,
    numbers: Vec<usize>,
}

/// A value that is not a finite number, and where.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NotFinite {
    /// The row, from 0, in the user's data.
    pub row: usize,
    /// The feature, from 0.
    pub feature: usize,
}

impl std::fmt::Display for NotFinite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { row, feature } = self;
        write!(f, "feature {} of row {} should be a finite number, but is not", feature + 1, row + 1)
    }
}

impl std::error::Error for NotFinite {}

impl Rows {
    /// The rows for which `side` says on which side their class is; others are left out.
    pub fn new<E: Examples>(examples: E, side: impl Fn(u32) -> Option<bool>) -> Result<Self, NotFinite> {
        let mut rows = Self {
            stored: SparseRows::default(),
            width: examples.width(),
            tails: Vec::new(),
            sides: Vec::new(),
            numbers: Vec::new(),
        };
        for number in 0..examples.len() {
            let Some(is_positive) = side(examples.class(number)) else { continue };
            let row = examples.row(number);
            if let Some((feature, _)) = row.entries().find(|(_, value)| !value.is_finite()) {
                return Err(NotFinite { row: number, feature });
            }
            rows.stored.push_entries(row.entries());
            rows.sides.push(u32::from(is_positive));
            rows.numbers.push(number);
        }
        Ok(rows)
    }

    /// The same rows with other numbers, which ascend like theirs.
    #[must_use]
    pub fn numbered(mut self, number: impl Fn(usize) -> usize) -> Self {
        self.numbers.iter_mut().for_each(|own| *own = number(*own));
        self
    }

    /// Dense rows, each with its side: the shortest way to ask about a few points.
    ///
    /// # Panics
    /// If a value is not finite.
    pub fn from_points<P: AsRef<[f64]>>(points: &[P], positive: &[bool]) -> Self {
        assert_eq!(points.len(), positive.len(), "one side per point");
        let mut rows = Self {
            stored: SparseRows::default(),
            width: points.iter().map(|point| point.as_ref().len()).max().unwrap_or(0),
            tails: Vec::new(),
            sides: positive.iter().map(|&positive| u32::from(positive)).collect(),
            numbers: (0..points.len()).collect(),
        };
        for point in points {
            assert!(point.as_ref().iter().all(|value| value.is_finite()), "points are finite");
            rows.stored.push_entries(Dense(point.as_ref()).entries());
        }
        rows
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.sides.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.sides.is_empty()
    }

    /// How many features there are.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Which row of the user's data this one is, from 0.
    pub fn number(&self, idx: usize) -> usize {
        self.numbers[idx]
    }

    /// The row with this number in the user's data.
    pub fn find(&self, number: usize) -> Option<usize> {
        self.numbers.binary_search(&number).ok()
    }

    /// Whether the row is on the positive side.
    pub fn is_positive(&self, idx: usize) -> bool {
        self.sides[idx] == 1
    }

    /// `y`: 1 on the positive side, -1 on the other.
    pub fn sign(&self, idx: usize) -> f64 {
        if self.is_positive(idx) { 1.0 } else { -1.0 }
    }

    /// The features that are not zero, by ascending number.
    pub fn entries(&self, idx: usize) -> impl ExactSizeIterator<Item = (usize, f64)> + '_ {
        self.stored.entries(idx)
    }

    /// What is to be added to the entries of a row: of products of features, the digits that doubles cannot hold.
    pub(crate) fn tails(&self, idx: usize) -> &[(usize, f64)] {
        self.tails.get(idx).map_or(&[], Vec::as_slice)
    }

    /// Doubles that add up to the features, some of which may come more than once.
    pub(crate) fn exact(&self, idx: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.entries(idx).chain(self.tails(idx).iter().copied())
    }

    /// `x_i` as the core knows rows.
    pub fn row(&self, idx: usize) -> Sparse<'_, f64> {
        self.stored.row(idx)
    }

    /// All rows as the core knows them, class 1 on the positive side.
    pub fn examples(&self) -> SparseExamples<'_, f64> {
        let (offsets, indices, values) = self.stored.parts();
        SparseExamples::new(offsets, indices, values, self.width, &self.sides)
    }

    /// Whether both sides have rows.
    pub fn has_both_sides(&self) -> bool {
        self.sides.contains(&0) && self.sides.contains(&1)
    }

    /// SHA-256 over the number of features and, row by row, its number from 1, its side (1 or 0), how many
    /// features are not zero, and each of those as number from 0 and double; all as eight little-endian bytes.
    pub fn fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        let mut add = |number: u64| hash.update(number.to_le_bytes());
        add(self.width as u64);
        for idx in 0..self.len() {
            add(self.numbers[idx] as u64 + 1);
            add(u64::from(self.sides[idx]));
            add(self.entries(idx).len() as u64);
            for (feature, value) in self.entries(idx) {
                add(feature as u64);
                add(value.to_bits());
            }
        }
        hash.finalize().iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
    }

    /// The rows with one feature more, which is always `constant`: what a perceptron with a bias sees.
    ///
    /// # Panics
    /// If the constant is not finite.
    #[must_use]
    pub fn augmented(&self, constant: f64) -> Self {
        assert!(constant.is_finite(), "a constant is finite");
        let mut stored = SparseRows::default();
        for idx in 0..self.len() {
            stored.push_entries(self.entries(idx).chain([(self.width, constant)]));
        }
        Self { stored, width: self.width + 1, ..self.clone() }
    }

    /// The rows at these ascending places.
    pub(crate) fn only(&self, places: &[usize]) -> Self {
        let mut stored = SparseRows::default();
        for &idx in places {
            stored.push_entries(self.entries(idx));
        }
        let sides = places.iter().map(|&idx| self.sides[idx]).collect();
        let numbers = places.iter().map(|&idx| self.numbers[idx]).collect();
        let tails = if self.tails.is_empty() {
            Vec::new()
        } else {
            places.iter().map(|&idx| self.tails[idx].clone()).collect()
        };
        Self { stored, width: self.width, tails, sides, numbers }
    }

    /// The same rows with every value multiplied by a power of two of its feature's and one of its row's. What
    /// becomes too small for a double is rounded, so that the outcome is for searching only.
    pub(crate) fn scaled(&self, of_feature: &[i32], of_row: &[i32]) -> Self {
        let mut scaled = self.clone();
        scaled.stored.clear();
        for idx in 0..self.len() {
            let power = |j: usize| of_feature[j] + of_row.get(idx).copied().unwrap_or(0);
            scaled.stored.push_entries(self.entries(idx).map(|(j, value)| (j, shift(value, power(j)))));
            if let Some(tails) = scaled.tails.get_mut(idx) {
                for (j, value) in tails {
                    *value = shift(*value, power(*j));
                }
            }
        }
        scaled
    }

    /// The same rows with other features: each row's, made from its entries, with what they lack.
    pub(crate) fn map(
        &self,
        width: usize,
        mut features: impl FnMut(&[(usize, f64)], &mut Vec<(usize, f64)>, &mut Vec<(usize, f64)>) -> Option<()>,
    ) -> Option<Self> {
        let mut mapped = Self { width, tails: Vec::new(), ..self.clone() };
        mapped.stored.clear();
        let mut made = Vec::new();
        for idx in 0..self.len() {
            made.clear();
            let mut tails = Vec::new();
            features(&self.entries(idx).collect::<Vec<_>>(), &mut made, &mut tails)?;
            mapped.stored.push_entries(made.iter().copied());
            mapped.tails.push(tails);
        }
        if mapped.tails.iter().all(Vec::is_empty) {
            mapped.tails.clear();
        }
        Some(mapped)
    }
}

/// `value · 2^power`, without an intermediate overflow.
pub(crate) fn shift(value: f64, power: i32) -> f64 {
    let half = power / 2;
    value * 2_f64.powi(half.clamp(-1000, 1000)) * 2_f64.powi((power - half).clamp(-1000, 1000))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rosenblatt_core::DenseExamples;

    #[test]
    fn classes_become_sides_and_rows_keep_their_numbers() {
        let values = [1.0_f32, 0.0, 0.1, 2.0, 3.0, 4.0];
        let examples = DenseExamples::new(&values, 2, &[7, 5, 6]);
        let rows = Rows::new(examples, |class| (class != 5).then_some(class == 6)).unwrap();
        assert_eq!((rows.len(), rows.number(1), rows.find(2), rows.find(1)), (2, 2, Some(1), None));
        assert_eq!((rows.sign(0), rows.sign(1)), (-1.0, 1.0));
        assert_eq!(rows.entries(0).collect::<Vec<_>>(), [(0, 1.0)]);
        let nan = [f64::NAN];
        let error = Rows::new(DenseExamples::new(&nan, 1, &[0]), |_| Some(true)).unwrap_err();
        assert_eq!(error.to_string(), "feature 1 of row 1 should be a finite number, but is not");
    }
}
