//! Rows with their classes: what a learner is shown.
//!
//! [`Examples`] is the one view the training loop knows. [`DenseExamples`] and [`SparseExamples`]
//! borrow flat arrays, so anything that can lend its memory (a dataset, a block of a stream, a `NumPy`
//! array) is learned from without a copy. Classes are numbers `0..n_classes`; in a binary problem
//! class 1 is the positive one. Who the classes are called is none of the core's business.

use crate::row::{Dense, Row, Sparse, Value};
use crate::simd;

/// How many bytes make a dense row long: more than the memory brings near before it is asked.
const LONG: usize = 8 << 10;

/// A finite, indexable set of labelled rows. Cheap to copy: it is a view.
pub trait Examples: Copy + Sync {
    /// How a row is stored.
    type Row: Row;

    /// How many rows there are.
    fn len(self) -> usize;

    /// How many features there are; no row is wider.
    fn width(self) -> usize;

    /// The features of row `idx`.
    fn row(self, idx: usize) -> Self::Row;

    /// The class of row `idx`.
    fn class(self, idx: usize) -> u32;

    /// How much row `idx` counts; 0 hides it.
    fn weight(self, idx: usize) -> f64;

    /// Whether every row counts 1. May say no when in doubt.
    fn is_unweighted(self) -> bool {
        false
    }

    /// Whether rows are long stretches of memory, of which [several are best read side by side](Row::dots).
    fn has_long_rows(self) -> bool {
        false
    }

    /// Tells the memory that row `idx` will be asked for soon. A loop that reads row after row need not.
    fn announce(self, _idx: usize) {}

    /// Whether every value of every row is a finite number.
    fn all_finite(self) -> bool {
        (0..self.len()).all(|idx| self.row(idx).entries().all(|(_, value)| value.is_finite()))
    }

    /// The rows from `first` up to `end`, each with its class.
    #[inline(always)]
    fn stretch(self, first: usize, end: usize) -> impl Iterator<Item = (Self::Row, u32)> {
        (first..end).map(move |idx| (self.row(idx), self.class(idx)))
    }

    /// The dot products of the rows from `first` on with these weights, of which no row has more: [`Row::dot`] of each.
    fn dots(self, first: usize, weights: &[f64], sums: &mut [f64]) {
        for (idx, sum) in (first..).zip(sums) {
            *sum = self.row(idx).dot(weights);
        }
    }

    /// The dot products of eight rows from `first` on with each of these vectors of weights, one after the other and each
    /// as long as a row is wide: [`Row::dot`] of each. False, if rows one by one are as quick.
    fn products_of_eight(self, _first: usize, _weights: &[f64], _sums: &mut [[f64; 8]]) -> bool {
        false
    }

    /// Whether there are no rows at all.
    fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// Rows of equal width, one after the other.
#[derive(Debug, Clone, Copy)]
pub struct DenseExamples<'a, T> {
    values: &'a [T],
    width: usize,
    classes: &'a [u32],
    weights: Option<&'a [f64]>,
}

impl<'a, T> DenseExamples<'a, T> {
    /// Views `values` as `classes.len()` rows of `width` features each.
    pub fn new(values: &'a [T], width: usize, classes: &'a [u32]) -> Self {
        assert_eq!(values.len(), width * classes.len(), "values fill the rows exactly");
        Self { values, width, classes, weights: None }
    }

    /// The same rows with other classes, for instance under another numbering.
    #[must_use]
    pub fn with_classes(self, classes: &'a [u32]) -> Self {
        assert_eq!(classes.len(), self.classes.len(), "one class per row");
        Self { classes, ..self }
    }

    /// The same rows, each with a weight of its own.
    #[must_use]
    pub fn with_weights(self, weights: &'a [f64]) -> Self {
        assert_eq!(weights.len(), self.classes.len(), "one weight per row");
        Self { weights: Some(weights), ..self }
    }
}

impl<'a, T: Copy + Into<f64>> DenseExamples<'a, T> {
    /// The same rows in double precision, which changes no score, in `room`.
    pub fn widened<'b>(self, room: &'b mut Vec<f64>) -> DenseExamples<'b, f64>
    where
        'a: 'b,
    {
        let Self { values, width, classes, weights } = self;
        room.clear();
        room.extend(values.iter().map(|&value| value.into()));
        DenseExamples { values: room, width, classes, weights }
    }
}

impl<'a, T: Value> Examples for DenseExamples<'a, T> {
    type Row = Dense<'a, T>;

    #[inline(always)]
    fn len(self) -> usize {
        self.classes.len()
    }

    #[inline(always)]
    fn width(self) -> usize {
        self.width
    }

    #[inline(always)]
    fn row(self, idx: usize) -> Self::Row {
        // Sliced so that every row is seen to be equally wide, which lets loops be chosen once for all.
        Dense(&self.values[idx * self.width..][..self.width])
    }

    #[inline(always)]
    fn has_long_rows(self) -> bool {
        self.width * size_of::<T>() >= LONG
    }

    #[inline(always)]
    fn announce(self, idx: usize) {
        simd::prefetch(self.row(idx).0);
    }

    #[inline(always)]
    fn class(self, idx: usize) -> u32 {
        self.classes[idx]
    }

    #[inline(always)]
    fn weight(self, idx: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[idx])
    }

    #[inline(always)]
    fn is_unweighted(self) -> bool {
        self.weights.is_none()
    }

    fn all_finite(self) -> bool {
        T::all_finite(self.values)
    }

    fn dots(self, first: usize, weights: &[f64], sums: &mut [f64]) {
        let values = &self.values[first * self.width..][..sums.len() * self.width];
        simd::stretch_dots(values, &weights[..self.width], sums);
    }

    fn products_of_eight(self, first: usize, weights: &[f64], sums: &mut [[f64; 8]]) -> bool {
        let rows = &self.values[first * self.width..][..8 * self.width];
        simd::trusting_products(rows, self.width, weights, sums)
    }

    #[inline(always)]
    fn stretch(self, first: usize, end: usize) -> impl Iterator<Item = (Self::Row, u32)> {
        // Step by step instead of number by number, which leaves less to check row by row.
        let mut rest = &self.values[first * self.width..];
        self.classes[first..end].iter().map(move |&class| {
            let (row, after) = rest.split_at(self.width);
            rest = after;
            (Dense(row), class)
        })
    }
}

/// Rows in compressed form: row `i` holds the entries `offsets[i]..offsets[i + 1]`.
#[derive(Debug, Clone, Copy)]
pub struct SparseExamples<'a, T> {
    offsets: &'a [usize],
    indices: &'a [u32],
    values: &'a [T],
    width: usize,
    classes: &'a [u32],
    weights: Option<&'a [f64]>,
}

impl<'a, T> SparseExamples<'a, T> {
    /// Views compressed rows. Within a row the indices ascend strictly and stay below `width`.
    pub fn new(
        offsets: &'a [usize],
        indices: &'a [u32],
        values: &'a [T],
        width: usize,
        classes: &'a [u32],
    ) -> Self {
        assert_eq!(offsets.len(), classes.len() + 1, "one offset per row and one for the end");
        assert_eq!(indices.len(), values.len(), "as many indices as values");
        assert_eq!(offsets.last().copied(), Some(indices.len()), "the last offset is the end");
        Self { offsets, indices, values, width, classes, weights: None }
    }

    /// The same rows with other classes, for instance under another numbering.
    #[must_use]
    pub fn with_classes(self, classes: &'a [u32]) -> Self {
        assert_eq!(classes.len(), self.classes.len(), "one class per row");
        Self { classes, ..self }
    }

    /// The same rows, each with a weight of its own.
    #[must_use]
    pub fn with_weights(self, weights: &'a [f64]) -> Self {
        assert_eq!(weights.len(), self.classes.len(), "one weight per row");
        Self { weights: Some(weights), ..self }
    }
}

impl<'a, T: Copy + Into<f64>> SparseExamples<'a, T> {
    /// The same rows in double precision, which changes no score, in `room`.
    pub fn widened<'b>(self, room: &'b mut Vec<f64>) -> SparseExamples<'b, f64>
    where
        'a: 'b,
    {
        let Self { offsets, indices, values, width, classes, weights } = self;
        room.clear();
        room.extend(values.iter().map(|&value| value.into()));
        SparseExamples { offsets, indices, values: room, width, classes, weights }
    }
}

impl<'a, T: Value> Examples for SparseExamples<'a, T> {
    type Row = Sparse<'a, T>;

    #[inline(always)]
    fn len(self) -> usize {
        self.classes.len()
    }

    #[inline(always)]
    fn width(self) -> usize {
        self.width
    }

    #[inline(always)]
    fn row(self, idx: usize) -> Self::Row {
        let entries = self.offsets[idx]..self.offsets[idx + 1];
        Sparse::new(&self.indices[entries.clone()], &self.values[entries])
    }

    #[inline(always)]
    fn announce(self, idx: usize) {
        let row = self.row(idx);
        simd::prefetch(row.indices());
        simd::prefetch(row.values());
    }

    #[inline(always)]
    fn class(self, idx: usize) -> u32 {
        self.classes[idx]
    }

    #[inline(always)]
    fn is_unweighted(self) -> bool {
        self.weights.is_none()
    }

    fn all_finite(self) -> bool {
        T::all_finite(self.values)
    }

    #[inline(always)]
    fn weight(self, idx: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[idx])
    }
}
