//! One row of features, borrowed: dense or sparse, `f32` or `f64`.
//!
//! A row's score never depends on how the row is stored. Every sum over a row runs in eight lanes,
//! feature `j` always in lane `j mod 8`, and the lanes are added in one fixed tree. Absent features
//! add exact zeros, so a dense row and its sparse twin give the same bits, on every machine, with or
//! without wide registers. Products are rounded before they are added (no fused multiply-add) for the
//! same reason.
//!
//! Nothing here allocates, and nothing here knows about labels: see [`crate::examples`].

use crate::simd;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// How many partial sums a row's sum is split into.
const LANES: usize = 8;

/// A feature value as it is stored: `f32` or `f64`. All arithmetic is in `f64`.
pub trait Value: Copy + Send + Sync + 'static {
    /// The value as a double; exact for both types.
    fn wide(self) -> f64;

    /// Four values as doubles, in one register.
    ///
    /// # Safety
    /// The processor has AVX2.
    #[cfg(target_arch = "x86_64")]
    #[doc(hidden)]
    #[expect(unsafe_code, reason = "a register that not every processor has")]
    unsafe fn four(values: &[Self; 4]) -> std::arch::x86_64::__m256d;
}

impl Value for f32 {
    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    #[expect(unsafe_code, reason = "a register that not every processor has")]
    unsafe fn four(values: &[Self; 4]) -> std::arch::x86_64::__m256d {
        // SAFETY: the caller has seen that the processor has AVX2.
        unsafe { simd::wide::singles(values) }
    }
}

impl Value for f64 {
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    #[expect(unsafe_code, reason = "a register that not every processor has")]
    unsafe fn four(values: &[Self; 4]) -> std::arch::x86_64::__m256d {
        // SAFETY: the caller has seen that the processor has AVX2.
        unsafe { simd::wide::doubles(values) }
    }
}

/// A borrowed row of features.
///
/// Rows may be narrower than the weights they meet: features beyond the end of a row are zero.
pub trait Row: Copy {
    /// `Σ w_j x_j`. Panics if the row has a feature that `weights` lacks.
    fn dot(self, weights: &[f64]) -> f64;

    /// `w += amount · x`.
    fn add_to(self, amount: f64, weights: &mut [f64]);

    /// Two [`Row::add_to`] in one sweep, each with its own amount.
    #[inline(always)]
    fn add_to_both(self, amounts: [f64; 2], first: &mut [f64], second: &mut [f64]) {
        self.add_to(amounts[0], first);
        self.add_to(amounts[1], second);
    }

    /// `Σ term(j, x_j)` over the stored entries, in the row's fixed order of lanes.
    /// `term(j, 0)` must be zero, since a sparse row skips its zeros.
    fn sum(self, term: impl Fn(usize, f64) -> f64) -> f64;

    /// The stored entries, by ascending feature.
    fn entries(self) -> impl Iterator<Item = (usize, f64)>;

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

/// A row that stores its non-zero features by ascending index.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sparse<'a, T> {
    indices: &'a [u32],
    values: &'a [T],
}

impl<'a, T> Sparse<'a, T> {
    /// A row with `values[k]` at feature `indices[k]`. The two must be equally long and the indices
    /// strictly ascending; whoever reads foreign data checks that once, at the door.
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

/// The one tree in which lanes are added.
#[inline(always)]
fn total([a, b, c, d, e, f, g, h]: [f64; LANES]) -> f64 {
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// The partial sums of a row whose features come in leaps, as bits.
///
/// Atomic only for the way they are read: one by one. Ordinary numbers would be fetched in pairs at the
/// end, and a pair has to wait until the two single stores before it have left the store buffer.
struct Scattered([AtomicU64; LANES]);

impl Scattered {
    #[inline(always)]
    fn new() -> Self {
        Self([const { AtomicU64::new(0) }; LANES])
    }

    #[inline(always)]
    fn add(&mut self, feature: usize, term: f64) {
        let lane = self.0[feature % LANES].get_mut();
        *lane = (f64::from_bits(*lane) + term).to_bits();
    }

    #[inline(always)]
    fn total(&self) -> f64 {
        total(self.0.each_ref().map(|lane| f64::from_bits(lane.load(Relaxed))))
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
        let mut lanes = [0.0; LANES];
        let (chunks, rest) = self.0.as_chunks::<LANES>();
        for (chunk_idx, chunk) in chunks.iter().enumerate() {
            for (lane, value) in chunk.iter().enumerate() {
                lanes[lane] += term(chunk_idx * LANES + lane, value.wide());
            }
        }
        let from = chunks.len() * LANES;
        add_rest(&mut lanes, rest.len(), |place| term(from + place, rest[place].wide()));
        total(lanes)
    }

    #[inline]
    fn entries(self) -> impl Iterator<Item = (usize, f64)> {
        self.0.iter().enumerate().map(|(feature, value)| (feature, value.wide()))
    }

    #[inline(always)]
    fn width(self) -> usize {
        self.0.len()
    }
}

/// The dot product of four features, short enough to stand in a training loop. Its bits are those of
/// [`dense_dot`]: an untouched lane is zero, and adding zero changes nothing.
#[inline(always)]
fn four_dot<T: Value>(row: &[T; 4], weights: &[f64; 4]) -> f64 {
    let [a, b, c, d] = [0, 1, 2, 3].map(|lane| 0.0 + weights[lane] * row[lane].wide());
    (a + c) + (b + d)
}

/// [`dense_add`] for four features. All are read before the first is written, so that nobody has to check
/// whether the two overlap.
#[inline(always)]
fn four_add<T: Value>(amount: f64, row: &[T; 4], weights: &mut [f64; 4]) {
    let row = row.map(Value::wide);
    *weights = [0, 1, 2, 3].map(|lane| weights[lane] + amount * row[lane]);
}

/// The dense dot product.
#[inline(always)]
pub(crate) fn dense_dot<T: Value>(row: &[T], weights: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    let (row_chunks, row_rest) = row.as_chunks::<LANES>();
    let (weight_chunks, weight_rest) = weights.as_chunks::<LANES>();
    for (chunk, weights) in row_chunks.iter().zip(weight_chunks) {
        for lane in 0..LANES {
            lanes[lane] += weights[lane] * chunk[lane].wide();
        }
    }
    if !row_rest.is_empty() {
        let n = row_rest.len().min(weight_rest.len());
        add_rest(&mut lanes, n, |place| weight_rest[place] * row_rest[place].wide());
    }
    total(lanes)
}

/// `w += amount · x`.
#[inline(always)]
pub(crate) fn dense_add<T: Value>(amount: f64, row: &[T], weights: &mut [f64]) {
    for (weight, value) in weights.iter_mut().zip(row) {
        *weight += amount * value.wide();
    }
}

/// Adds the last `n < 8` terms to their lanes. Every place is spelled out, so that the lanes can stay
/// in registers; a loop would have to keep them in memory.
#[inline(always)]
fn add_rest(lanes: &mut [f64; LANES], n: usize, term: impl Fn(usize) -> f64) {
    if n & 4 == 0 {
        add_few::<0>(lanes, n, term);
    } else {
        for (lane, sum) in lanes.iter_mut().take(4).enumerate() {
            *sum += term(lane);
        }
        add_few::<4>(lanes, n - 4, term);
    }
}

/// Adds the terms of up to three places from `FROM` on.
#[inline(always)]
fn add_few<const FROM: usize>(lanes: &mut [f64; LANES], n: usize, term: impl Fn(usize) -> f64) {
    if n > 0 {
        lanes[FROM] += term(FROM);
    }
    if n > 1 {
        lanes[FROM + 1] += term(FROM + 1);
    }
    if n > 2 {
        lanes[FROM + 2] += term(FROM + 2);
    }
}

impl<T: Value> Row for Sparse<'_, T> {
    #[inline(always)]
    fn dot(self, weights: &[f64]) -> f64 {
        sparse_dot(self.indices, self.values, weights)
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
        let mut lanes = Scattered::new();
        for (&feature, value) in self.indices.iter().zip(self.values) {
            lanes.add(feature as usize, term(feature as usize, value.wide()));
        }
        lanes.total()
    }

    #[inline]
    fn entries(self) -> impl Iterator<Item = (usize, f64)> {
        self.indices.iter().zip(self.values).map(|(&feature, value)| (feature as usize, value.wide()))
    }

    #[inline(always)]
    fn width(self) -> usize {
        self.indices.last().map_or(0, |&feature| feature as usize + 1)
    }
}

/// The sparse dot product. On its own: in the middle of a training loop its pointers would not all find
/// a register.
#[inline(never)]
fn sparse_dot<T: Value>(indices: &[u32], values: &[T], weights: &[f64]) -> f64 {
    Sparse { indices, values }.sum(|feature, value| weights[feature] * value)
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
        let lane = |which: usize| {
            let mut sum = 0.0;
            for j in (which..row.len()).step_by(8) {
                sum += weights[j] * row[j];
            }
            sum
        };
        ((lane(0) + lane(4)) + (lane(2) + lane(6))) + ((lane(1) + lane(5)) + (lane(3) + lane(7)))
    }

    #[test]
    fn dense_and_sparse_rows_of_every_width_agree_to_the_bit() {
        let mut random = Random::new(7);
        for width in (0..40).chain([63, 64, 65, 1000]) {
            let dense: Vec<f32> = (0..width)
                .map(|_| if random.unit() < 0.4 { 0.0 } else { (random.unit() - 0.5) as f32 })
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
