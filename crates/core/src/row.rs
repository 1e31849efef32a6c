//! One row of features, borrowed: dense or sparse, `f32` or `f64`.
//!
//! A row's score never depends on how the row is stored. Every sum over a row runs in eight lanes, which the
//! entries that are not zero take in turn, and the lanes are added in one fixed tree. So a dense row and its
//! sparse twin, which stores no zeros, give the same bits, on every machine, with or without wide registers.
//! Products are rounded before they are added (no fused multiply-add) for the same reason.
//!
//! Nothing here allocates, and nothing here knows about labels: see [`crate::examples`].

use crate::simd::plain::{GATHERED, PIECE, Piece, Room, dense_sum, has_no_zero, sparse_sum};
use crate::simd::{self};
pub use crate::simd::{SIDE_BY_SIDE, Value};

/// A borrowed row of features.
///
/// Rows may be narrower than the weights they meet: features beyond the end of a row are zero.
pub trait Row: Copy {
    /// `Σ w_j x_j`. Panics if the row has a feature that `weights` lacks.
    fn dot(self, weights: &[f64]) -> f64;

    /// [`Row::dot`] of several rows.
    #[inline(always)]
    fn dots(rows: [Self; SIDE_BY_SIDE], weights: &[f64]) -> [f64; SIDE_BY_SIDE] {
        rows.map(|row| row.dot(weights))
    }

    /// `w += amount · x`.
    fn add_to(self, amount: f64, weights: &mut [f64]);

    /// Two [`Row::add_to`] in one sweep, each with its own amount.
    #[inline(always)]
    fn add_to_both(self, amounts: [f64; 2], first: &mut [f64], second: &mut [f64]) {
        self.add_to(amounts[0], first);
        self.add_to(amounts[1], second);
    }

    /// `Σ term(j, x_j)` over the entries, in the row's fixed order of lanes.
    /// `term(j, 0)` must be zero, since a sparse row has no zeros.
    fn sum(self, term: impl Fn(usize, f64) -> f64) -> f64;

    /// The stored entries, by ascending feature.
    fn entries(self) -> impl Iterator<Item = (usize, f64)>;

    /// Lends the entries that are not zero, by ascending feature, some at a time: features and values side by side.
    /// All but the last time it is a multiple of eight.
    fn pieces(self, lend: impl FnMut(&[u32], &[f64]));

    /// One more than the last feature that is stored; 0 for an empty row.
    fn width(self) -> usize;

    /// `‖x‖²`.
    #[inline]
    fn norm2(self) -> f64 {
        self.sum(|_, value| value * value)
    }

    /// Whether every entry is zero, so that no step along this row moves anything.
    #[inline]
    fn is_zero(self) -> bool {
        self.entries().all(|(_, value)| value == 0.0)
    }
}

/// A row that stores every feature.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dense<'a, T>(pub &'a [T]);

/// A row that stores its non-zero features by ascending index. A zero that is stored all the same takes a lane, so that
/// the last bit of a sum may be another one than without it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sparse<'a, T> {
    indices: &'a [u32],
    values: &'a [T],
}

impl<'a, T> Sparse<'a, T> {
    /// A row with `values[k]` at feature `indices[k]`. The two must be equally long and the indices
    /// strictly ascending; a reader of foreign data checks that once, on entry.
    #[inline(always)]
    pub fn new(indices: &'a [u32], values: &'a [T]) -> Self {
        assert!(indices.len() == values.len(), "a sparse row has as many indices as values");
        debug_assert!(indices.windows(2).all(|pair| pair[0] < pair[1]), "indices ascend strictly");
        Self { indices, values }
    }

    /// The features that are stored, ascending.
    pub fn indices(self) -> &'a [u32] {
        self.indices
    }

    /// The values of those features.
    pub fn values(self) -> &'a [T] {
        self.values
    }
}

impl<T: Value> Row for Dense<'_, T> {
    #[inline(always)]
    fn dot(self, weights: &[f64]) -> f64 {
        let (row, weights) = (self.0, &weights[..self.0.len()]);
        if let (Ok(row), Ok(weights)) = (row.try_into(), weights.try_into()) {
            four_dot(row, weights)
        } else {
            simd::dot(row, weights)
        }
    }

    #[inline(always)]
    fn dots(rows: [Self; SIDE_BY_SIDE], weights: &[f64]) -> [f64; SIDE_BY_SIDE] {
        simd::dots(rows.map(|row| row.0), weights)
    }

    #[inline(always)]
    fn add_to(self, amount: f64, weights: &mut [f64]) {
        let (row, weights) = (self.0, &mut weights[..self.0.len()]);
        if let (Ok(row), Ok(weights)) = (<&[T; 4]>::try_from(row), <&mut [f64; 4]>::try_from(&mut *weights)) {
            four_add(amount, row, weights);
        } else {
            simd::add([amount], row, [weights]);
        }
    }

    #[inline(always)]
    fn add_to_both(self, amounts: [f64; 2], first: &mut [f64], second: &mut [f64]) {
        let row = self.0;
        let (first, second) = (&mut first[..row.len()], &mut second[..row.len()]);
        if let (Ok(row), Ok(first), Ok(second)) =
            (row.try_into(), (&mut *first).try_into(), (&mut *second).try_into())
        {
            four_add(amounts[0], row, first);
            four_add(amounts[1], row, second);
        } else {
            simd::add(amounts, row, [first, second]);
        }
    }

    #[inline(always)]
    fn sum(self, term: impl Fn(usize, f64) -> f64) -> f64 {
        dense_sum(self.0, term)
    }

    #[inline]
    fn entries(self) -> impl Iterator<Item = (usize, f64)> {
        self.0.iter().enumerate().map(|(feature, value)| (feature, value.wide()))
    }

    #[inline]
    fn pieces(self, mut lend: impl FnMut(&[u32], &[f64])) {
        let mut piece = Piece::new();
        for (number, values) in self.0.chunks(GATHERED).enumerate() {
            simd::gather_nonzero(values, (number * GATHERED) as u32, &mut piece);
            if piece.n > PIECE - GATHERED {
                piece.lend(&mut lend);
            }
        }
        let (features, values) = piece.first(piece.n);
        lend(features, values);
    }

    #[inline(always)]
    fn width(self) -> usize {
        self.0.len()
    }
}

/// The dot product of four features, short enough to stand in a training loop. Its bits are those of
/// [`simd::dot`]: an untouched lane is zero, and adding zero changes nothing.
#[inline(always)]
fn four_dot<T: Value>(row: &[T; 4], weights: &[f64; 4]) -> f64 {
    if !has_no_zero(row) {
        return simd::dot(row, weights);
    }
    let [a, b, c, d] = [0, 1, 2, 3].map(|lane| 0.0 + weights[lane] * row[lane].wide());
    (a + c) + (b + d)
}

/// [`simd::add`] for four features. All are read before the first is written, so that no check is needed
/// whether the two overlap.
#[inline(always)]
fn four_add<T: Value>(amount: f64, row: &[T; 4], weights: &mut [f64; 4]) {
    let row = row.map(Value::wide);
    *weights = [0, 1, 2, 3].map(|lane| weights[lane] + amount * row[lane]);
}

impl<T: Value> Row for Sparse<'_, T> {
    #[inline(always)]
    fn dot(self, weights: &[f64]) -> f64 {
        simd::sparse_dot(self.indices, self.values, weights)
    }

    #[inline(always)]
    fn add_to(self, amount: f64, weights: &mut [f64]) {
        sparse_add(amount, self.indices, self.values, weights);
    }

    #[inline(always)]
    fn add_to_both(self, amounts: [f64; 2], first: &mut [f64], second: &mut [f64]) {
        sparse_add_both(amounts, self.indices, self.values, first, second);
    }

    #[inline(always)]
    fn sum(self, term: impl Fn(usize, f64) -> f64) -> f64 {
        sparse_sum(self.indices, self.values, term)
    }

    #[inline]
    fn entries(self) -> impl Iterator<Item = (usize, f64)> {
        self.indices.iter().zip(self.values).map(|(&feature, value)| (feature as usize, value.wide()))
    }

    #[inline]
    fn pieces(self, mut lend: impl FnMut(&[u32], &[f64])) {
        let mut wide = Room::<f64, PIECE>::new();
        for (features, values) in self.indices.chunks(PIECE).zip(self.values.chunks(PIECE)) {
            let values = simd::widen(values, &mut wide);
            lend(features, values);
        }
    }

    #[inline(always)]
    fn width(self) -> usize {
        self.indices.last().map_or(0, |&feature| feature as usize + 1)
    }
}

#[inline(never)]
fn sparse_add<T: Value>(amount: f64, indices: &[u32], values: &[T], weights: &mut [f64]) {
    for (&feature, value) in indices.iter().zip(values) {
        weights[feature as usize] += amount * value.wide();
    }
}

#[inline(never)]
fn sparse_add_both<T: Value>(
    [amount, other]: [f64; 2],
    indices: &[u32],
    values: &[T],
    first: &mut [f64],
    second: &mut [f64],
) {
    // Equally long, so that one check of a feature serves both.
    let n = first.len().min(second.len());
    let (first, second) = (&mut first[..n], &mut second[..n]);
    for (&feature, value) in indices.iter().zip(values) {
        let value = value.wide();
        first[feature as usize] += amount * value;
        second[feature as usize] += other * value;
    }
}

/// A row seen through a diagonal metric: entry `j` is `x_j · metric_j`.
/// Second-order rules step along such a row instead of the row itself.
#[derive(Debug, Clone, Copy)]
pub struct Stretched<'a, R> {
    /// The row that is stretched.
    pub row: R,
    /// One factor per feature.
    pub metric: &'a [f64],
}

impl<R: Row> Row for Stretched<'_, R> {
    #[inline]
    fn dot(self, weights: &[f64]) -> f64 {
        self.sum(|feature, value| weights[feature] * value)
    }

    #[inline]
    fn add_to(self, amount: f64, weights: &mut [f64]) {
        for (feature, value) in self.entries() {
            weights[feature] += amount * value;
        }
    }

    #[inline]
    fn sum(self, term: impl Fn(usize, f64) -> f64) -> f64 {
        self.row.sum(|feature, value| term(feature, value * self.metric[feature]))
    }

    #[inline]
    fn entries(self) -> impl Iterator<Item = (usize, f64)> {
        self.row.entries().map(move |(feature, value)| (feature, value * self.metric[feature]))
    }

    #[inline]
    fn pieces(self, mut lend: impl FnMut(&[u32], &[f64])) {
        let mut stretched = [0.0; PIECE];
        self.row.pieces(|features, values| {
            for (stretched, (feature, value)) in stretched.iter_mut().zip(features.iter().zip(values)) {
                *stretched = value * self.metric[*feature as usize];
            }
            lend(features, &stretched[..features.len()]);
        });
    }

    #[inline]
    fn width(self) -> usize {
        self.row.width()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// The order of addition, spelled out as plainly as possible: what every fast path must equal.
    fn plain_dot(row: &[f64], weights: &[f64]) -> f64 {
        let products: Vec<f64> =
            row.iter().zip(weights).filter(|(x, _)| **x != 0.0).map(|(x, w)| w * x).collect();
        let lane = |which: usize| products.iter().skip(which).step_by(8).fold(0.0, |sum, term| sum + term);
        ((lane(0) + lane(4)) + (lane(2) + lane(6))) + ((lane(1) + lane(5)) + (lane(3) + lane(7)))
    }

    /// All pieces of a row.
    fn lent(row: impl Row) -> (Vec<u32>, Vec<f64>) {
        let (mut features, mut values) = (Vec::new(), Vec::new());
        row.pieces(|some, their| {
            assert_eq!((features.len() % 8, some.len()), (0, their.len()), "only the last is odd");
            features.extend_from_slice(some);
            values.extend_from_slice(their);
        });
        (features, values)
    }

    #[test]
    fn dense_and_sparse_rows_of_every_width_agree_to_the_bit() {
        let mut random = Random::new(7);
        let widths = (0..40).chain([63, 64, 65, 127, 128, 129, 1000]);
        for (width, zeros) in widths.flat_map(|width| [0.0, 0.02, 0.4, 0.9].map(|zeros| (width, zeros))) {
            let dense: Vec<f32> = (0..width)
                .map(|_| if random.unit() < zeros { 0.0 } else { (random.unit() - 0.5) as f32 })
                .collect();
            let weights: Vec<f64> = (0..width).map(|_| random.unit() - 0.5).collect();
            let wide: Vec<f64> = dense.iter().map(|&value| f64::from(value)).collect();
            let indices: Vec<u32> = (0..width as u32).filter(|&j| dense[j as usize] != 0.0).collect();
            let values: Vec<f32> = indices.iter().map(|&j| dense[j as usize]).collect();

            let expected = plain_dot(&wide, &weights);
            let sparse = Sparse::new(&indices, &values);
            assert_eq!(Dense(&dense).dot(&weights).to_bits(), expected.to_bits(), "width {width}");
            assert_eq!(Dense(&wide).dot(&weights).to_bits(), expected.to_bits(), "width {width}");
            assert_eq!(sparse.dot(&weights).to_bits(), expected.to_bits(), "width {width}");
            assert_eq!(sparse.norm2().to_bits(), Dense(&dense).norm2().to_bits());
            assert_eq!(sparse.norm2().to_bits(), plain_dot(&wide, &wide).to_bits());

            let (mut by_dense, mut by_sparse) = (weights.clone(), weights.clone());
            Dense(&dense).add_to(0.3, &mut by_dense);
            sparse.add_to(0.3, &mut by_sparse);
            assert_eq!(by_dense, by_sparse);

            let expected: Vec<f64> = values.iter().map(|&value| f64::from(value)).collect();
            let rows = [
                lent(Dense(&dense)),
                lent(Dense(&wide)),
                lent(sparse),
                lent(Stretched { row: sparse, metric: &vec![1.0; width] }),
            ];
            assert!(rows.iter().all(|row| *row == (indices.clone(), expected.clone())), "width {width}");
        }
    }

    #[test]
    fn a_stretched_row_is_the_row_times_its_metric() {
        let row = Sparse::new(&[0, 2], &[2.0, 3.0]);
        let stretched = Stretched { row, metric: &[0.5, 9.0, 2.0] };
        assert_eq!(stretched.entries().collect::<Vec<_>>(), [(0, 1.0), (2, 6.0)]);
        assert_eq!(stretched.dot(&[1.0, 1.0, 1.0]), 7.0);
    }
}
