//! The same code, compiled once more for processors with wide registers.
//!
//! The check is made once per block of plain rounds, and everything such a round calls is compiled into
//! the wide copy. Nothing here changes a result: the lanes of [`plain`] fix every order of addition,
//! and products and sums stay separate instructions, since `fma` is never asked for. Sums over rows and steps
//! along dense ones have a second source, and a test holds the two together bit by bit.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod block;
pub(crate) mod plain;
#[cfg(target_arch = "x86_64")]
mod sweep;
mod value;

#[cfg(test)]
pub(crate) use block::LINE;
pub(crate) use block::{BLOCK, Block, Cells, Change};
use plain::{PIECE, Piece, Room, dense_add, dense_dot};
use std::ops::Range;
pub use value::Value;

/// How many rows are best read side by side: memory answers several askers sooner than one, and weights that are too
/// many for the nearest cache are fetched once for all of them.
pub const SIDE_BY_SIDE: usize = 4;

/// How many blocks of rows are read in another way after one that had a zero, before they are trusted again.
pub(crate) const DISTRUSTED: usize = 7;

/// A piece of work. `run` must be `#[inline(always)]`, or the wide copy calls the plain one.
pub trait Work {
    /// What comes of it.
    type Output;

    /// Does it.
    fn run(self) -> Self::Output;
}

/// Does the work in registers of four doubles where the machine has them. What takes registers of eight (the sums
/// over rows) asks for them by itself.
#[inline(always)]
pub fn widest<W: Work>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        #[expect(unsafe_code, reason = "only a check at run time can tell what the processor has")]
        // SAFETY: the one thing `with_avx2` needs is a processor with AVX2, and this one has it.
        return unsafe { with_avx2(work) };
    }
    without_avx2(work)
}

/// Not inlined, like the wide copy: inside a training loop it would run short of registers.
#[inline(never)]
fn without_avx2<W: Work>(work: W) -> W::Output {
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn has_avx2() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn has_avx512() -> bool {
    std::arch::is_x86_feature_detected!("avx512f")
        && std::arch::is_x86_feature_detected!("avx512vl")
        && std::arch::is_x86_feature_detected!("popcnt")
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn with_avx2<W: Work>(work: W) -> W::Output {
    work.run()
}

/// How many bytes of a row are asked for ahead of time, at most. The memory guesses the rest by itself, and asking for
/// more than it can fetch at once makes the asker wait.
const ANNOUNCED: usize = 256;

/// Prefetches `values`, if the machine can.
#[inline(always)]
pub(crate) fn prefetch<T>(values: &[T]) {
    #[cfg(target_arch = "x86_64")]
    for offset in (0..size_of_val(values).min(ANNOUNCED)).step_by(64) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        #[expect(unsafe_code, reason = "a hint to the memory")]
        // SAFETY: a hint reads nothing, and the place is within the values.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(values.as_ptr().cast::<i8>().add(offset));
        }
    }
}

/// Asks for what lies `n` values after the first of these, if the machine can and there is something.
#[inline(always)]
pub fn announce<T>(values: &[T], n: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        #[expect(unsafe_code, reason = "a hint to the memory")]
        // SAFETY: a hint reads nothing, wherever it points.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(values.as_ptr().wrapping_add(n).cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (values, n);
}

/// [`dense_dot`] in the widest registers this machine has.
#[inline(always)]
pub(crate) fn dot<T: Value>(row: &[T], weights: &[f64]) -> f64 {
    #[cfg(target_arch = "x86_64")]
    if has_avx512() {
        #[expect(unsafe_code, reason = "only a check at run time can tell what the processor has")]
        // SAFETY: the one thing `avx512::dot` needs is a processor with AVX-512, and this one has it.
        return unsafe { avx512::dot(row, weights) };
    }
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        #[expect(unsafe_code, reason = "only a check at run time can tell what the processor has")]
        // SAFETY: the one thing `avx2::dot` needs is a processor with AVX2, and this one has it.
        return unsafe { avx2::dot(row, weights) };
    }
    plain_dot(row, weights)
}

/// [`dot`] of several rows.
pub(crate) fn dots<T: Value>(rows: [&[T]; SIDE_BY_SIDE], weights: &[f64]) -> [f64; SIDE_BY_SIDE] {
    #[cfg(target_arch = "x86_64")]
    if has_avx512() {
        #[expect(unsafe_code, reason = "only a check at run time can tell what the processor has")]
        // SAFETY: the one thing `avx512::dots` needs is a processor with AVX-512, and this one has it.
        let found = unsafe { avx512::dots(rows, weights) };
        if let Some(found) = found {
            return found;
        }
    }
    rows.map(|row| dot(row, weights))
}

/// [`dot`] of all rows of a stretch, which are contiguous and as long as there are weights.
pub(crate) fn stretch_dots<T: Value>(values: &[T], weights: &[f64], sums: &mut [f64]) {
    #[cfg(target_arch = "x86_64")]
    if has_avx512() {
        #[expect(unsafe_code, reason = "only a check at run time can tell what the processor has")]
        // SAFETY: the one thing `avx512::stretch_dots` needs is a processor with AVX-512, and this one has it.
        return unsafe { avx512::stretch_dots(values, weights, sums) };
    }
    for (place, sum) in sums.iter_mut().enumerate() {
        *sum = dot(&values[place * weights.len()..][..weights.len()], weights);
    }
}

/// [`dot`] of eight contiguous rows with each of these vectors of weights, one after the other, where that is quicker
/// than to take the rows one by one: in the widest registers, and if no feature is zero. Else false.
pub(crate) fn trusting_products<T: Value>(
    rows: &[T],
    width: usize,
    weights: &[f64],
    sums: &mut [[f64; 8]],
) -> bool {
    #[cfg(target_arch = "x86_64")]
    if has_avx512() {
        #[expect(unsafe_code, reason = "only a check at run time can tell what the processor has")]
        // SAFETY: the one thing `avx512::trusting_products` needs is a processor with AVX-512, and this one has it.
        return unsafe { avx512::trusting_products(rows, width, weights, sums) };
    }
    let _ = (rows, width, weights, sums);
    false
}

/// Rows that lie column by column.
#[derive(Debug, Clone, Copy)]
pub struct ByColumns<'a, T> {
    values: &'a [T],
    n_rows: usize,
    width: usize,
}

impl<'a, T: Value> ByColumns<'a, T> {
    /// Columns of `n_rows` values each, one after the other.
    ///
    /// # Panics
    /// If the values do not fill the columns exactly.
    pub fn new(values: &'a [T], n_rows: usize, width: usize) -> Self {
        assert_eq!(values.len(), n_rows * width, "values fill the columns exactly");
        Self { values, n_rows, width }
    }

    /// How many features a row has.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Writes some of the rows to `rows`, row by row.
    pub fn turn(&self, first: usize, rows: &mut [T]) {
        for (column, values) in self.values.chunks_exact(self.n_rows).enumerate() {
            for (row, value) in rows.chunks_exact_mut(self.width).zip(&values[first..]) {
                row[column] = *value;
            }
        }
    }

    /// The values of eight rows in one column.
    #[inline(always)]
    fn eight(&self, column: usize, first: usize) -> &'a [T; 8] {
        self.values[column * self.n_rows..][..self.n_rows][first..].first_chunk().expect("eight rows")
    }
}

/// [`dot`] of eight rows that lie column by column, with each of these vectors of weights, one after the other; false
/// if one of their features is zero.
pub(crate) fn column_products<T: Value>(
    columns: ByColumns<'_, T>,
    first: usize,
    weights: &[f64],
    sums: &mut [[f64; 8]],
) -> bool {
    #[cfg(target_arch = "x86_64")]
    if has_avx512() {
        #[expect(unsafe_code, reason = "only a check at run time can tell what the processor has")]
        // SAFETY: the one thing `avx512::column_products` needs is a processor with AVX-512, and this one has it.
        return unsafe { avx512::column_products(columns, first, weights, sums) };
    }
    widest(plain::ColumnProducts { columns, first, weights, sums })
}

/// On its own: in the middle of a training loop its sums would not all find a register.
#[inline(never)]
fn plain_dot<T: Value>(row: &[T], weights: &[f64]) -> f64 {
    dense_dot(row, weights)
}

/// [`dense_add`] in the widest registers this machine has, to one or to several weight vectors, each with its
/// own amount.
#[inline(always)]
pub(crate) fn add<T: Value, const N: usize>(amounts: [f64; N], row: &[T], weights: [&mut [f64]; N]) {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        #[expect(unsafe_code, reason = "only a check at run time can tell what the processor has")]
        // SAFETY: the one thing `avx2::add` needs is a processor with AVX2, and this one has it.
        return unsafe { avx2::add(amounts, row, weights) };
    }
    for (amount, weights) in amounts.into_iter().zip(weights) {
        dense_add(amount, row, weights);
    }
}

/// [`plain::sparse_dot`] in the widest registers this machine has.
#[inline(always)]
pub(crate) fn sparse_dot<T: Value>(indices: &[u32], values: &[T], weights: &[f64]) -> f64 {
    #[cfg(target_arch = "x86_64")]
    if has_avx512() && i32::try_from(weights.len()).is_ok() {
        #[expect(unsafe_code, reason = "only a check at run time can tell what the processor has")]
        // SAFETY: the one thing `avx512::sparse_dot` needs is a processor with AVX-512, and this one has it.
        return unsafe { avx512::sparse_dot(indices, values, weights) };
    }
    plain::sparse_dot(indices, values, weights)
}

/// [`plain::unseen_dot`] in the widest registers this machine has.
#[inline(always)]
pub(crate) fn unseen_dot<T: Value>(indices: &[u32], values: &[T], weights: &[f64]) -> Option<f64> {
    #[cfg(target_arch = "x86_64")]
    if has_avx512() && i32::try_from(weights.len()).is_ok() {
        #[expect(unsafe_code, reason = "only a check at run time can tell what the processor has")]
        // SAFETY: the one thing `avx512::unseen_dot` needs is a processor with AVX-512, and this one has it.
        return unsafe { avx512::unseen_dot(indices, values, weights) };
    }
    plain::unseen_dot(indices, values, weights)
}

/// [`plain::gather_nonzero`] in the widest registers this machine has.
#[inline(always)]
pub(crate) fn gather_nonzero<T: Value>(values: &[T], first: u32, piece: &mut Piece) {
    #[cfg(target_arch = "x86_64")]
    if has_avx512() {
        #[expect(unsafe_code, reason = "only a check at run time can tell what the processor has")]
        // SAFETY: the one thing this needs is a processor with AVX-512, and this one has it.
        return unsafe { avx512::gather_nonzero(values, first, piece) };
    }
    plain::gather_nonzero(values, first, piece);
}

/// [`plain::widen`] in the widest registers this machine has.
#[inline(always)]
pub(crate) fn widen<'a, T: Value>(values: &'a [T], wide: &'a mut Room<f64, PIECE>) -> &'a [f64] {
    if let Some(same) = T::as_doubles(values) {
        return same;
    }
    #[cfg(target_arch = "x86_64")]
    if has_avx512() {
        #[expect(unsafe_code, reason = "only a check at run time can tell what the processor has")]
        // SAFETY: the one thing this needs is a processor with AVX-512, and this one has it.
        return unsafe { avx512::widen(values, wide) };
    }
    plain::widen(values, wide)
}

/// How many outputs are summed in one sweep over a row.
pub(crate) const SWEEP: usize = 16;

/// The partial sums of up to [`SWEEP`] outputs, each in the lanes of [`crate::row`].
#[derive(Default)]
#[repr(align(64))]
pub(crate) struct Lanes(pub(crate) [[f64; SWEEP]; 8]);

/// The weights of several outputs, feature by feature.
#[derive(Clone, Copy)]
pub(crate) struct Columns<'a> {
    pub(crate) weights: &'a [f64],
    pub(crate) width: usize,
    pub(crate) n_outputs: usize,
}

/// Adds the products of some entries with the weights of these outputs, [`SWEEP`] at most, to their lanes. The first
/// entry is one for the first lane.
#[inline(always)]
pub(crate) fn add_many(
    lanes: &mut Lanes,
    columns: Columns<'_>,
    outputs: Range<usize>,
    features: &[u32],
    values: &[f64],
) {
    #[cfg(target_arch = "x86_64")]
    if has_avx512() {
        #[expect(unsafe_code, reason = "only a check at run time can tell what the processor has")]
        // SAFETY: the one thing this needs is a processor with AVX-512, and this one has it.
        return unsafe { sweep::add_many(lanes, columns, outputs, features, values) };
    }
    add_many_plainly(lanes, columns, outputs, features, values);
}

fn add_many_plainly(
    lanes: &mut Lanes,
    columns: Columns<'_>,
    outputs: Range<usize>,
    features: &[u32],
    values: &[f64],
) {
    let Columns { weights, n_outputs, .. } = columns;
    for (place, (&feature, value)) in features.iter().zip(values).enumerate() {
        let first = feature as usize * n_outputs;
        let weights = &weights[first + outputs.start..first + outputs.end];
        for (sum, weight) in lanes.0[place % 8].iter_mut().zip(weights) {
            *sum += weight * value;
        }
    }
}

const TOO_WIDE: &str = "the row is wider than the weights";

/// The partial sums of two blocks of outputs, in the lanes of [`crate::row`]. How they lie is for those to know who
/// add to them.
#[repr(align(64))]
pub(crate) struct Sums {
    lanes: [[[f64; BLOCK]; 8]; 2],
    totals: [f64; 2 * BLOCK],
    /// Before that, all lanes are zero.
    begun: bool,
}

impl Sums {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self { lanes: [[[0.0; BLOCK]; 8]; 2], totals: [0.0; 2 * BLOCK], begun: false }
    }

    /// The sums of the outputs, those of the second block from place eight on.
    #[inline(always)]
    pub(crate) fn totals(&self) -> &[f64; 2 * BLOCK] {
        &self.totals
    }
}

/// Adds the products of some entries, [`PIECE`] at most, with the weights of one block of outputs or of two. The first
/// entry is one for the first lane. All features must be below `width`.
#[inline(always)]
pub(crate) fn add_blocks(sums: &mut Sums, blocks: &[Block], width: usize, features: &[u32], values: &[f64]) {
    #[cfg(target_arch = "x86_64")]
    if has_avx512() && width <= sweep::MOST_FEATURES {
        #[expect(unsafe_code, reason = "only a check at run time can tell what the processor has")]
        // SAFETY: the one thing this needs is a processor with AVX-512, and this one has it.
        return unsafe { sweep::add_blocks(sums, blocks, width, features, values) };
    }
    add_blocks_plainly(sums, blocks, width, features, values);
}

fn add_blocks_plainly(sums: &mut Sums, blocks: &[Block], width: usize, features: &[u32], values: &[f64]) {
    assert!(features.iter().all(|&feature| (feature as usize) < width), "{TOO_WIDE}");
    for (number, Block { stride, cells }) in blocks.iter().enumerate() {
        let lanes = &mut sums.lanes[number];
        for (place, (&feature, value)) in features.iter().zip(values).enumerate() {
            let weights = &cells[feature as usize * stride..][..*stride];
            for (sum, weight) in lanes[place % 8].iter_mut().zip(weights) {
                *sum += weight * value;
            }
        }
        let [a, b, c, d, e, f, g, h] = &*lanes;
        for k in 0..BLOCK {
            sums.totals[number * BLOCK + k] =
                ((a[k] + e[k]) + (c[k] + g[k])) + ((b[k] + f[k]) + (d[k] + h[k]));
        }
    }
    sums.begun = true;
}

/// Adds some entries, [`PIECE`] at most, to the outputs of some blocks, to each by its amount. All features must be
/// below `width`.
#[inline(always)]
pub(crate) fn change_blocks(
    blocks: &mut [Block],
    changes: &[Change],
    width: usize,
    features: &[u32],
    values: &[f64],
) {
    #[cfg(target_arch = "x86_64")]
    if has_avx512() && width <= sweep::MOST_FEATURES {
        #[expect(unsafe_code, reason = "only a check at run time can tell what the processor has")]
        // SAFETY: the one thing this needs is a processor with AVX-512, and this one has it.
        return unsafe { sweep::change_blocks(blocks, changes, width, features, values) };
    }
    change_blocks_plainly(blocks, changes, width, features, values);
}

fn change_blocks_plainly(
    blocks: &mut [Block],
    changes: &[Change],
    width: usize,
    features: &[u32],
    values: &[f64],
) {
    assert!(features.iter().all(|&feature| (feature as usize) < width), "{TOO_WIDE}");
    for (Block { stride, cells }, change) in blocks.iter_mut().zip(changes) {
        for place in (0..BLOCK).filter(|place| change.outputs & 1 << place != 0) {
            for (&feature, value) in features.iter().zip(values) {
                cells[feature as usize * *stride + place] += change.amounts[place] * value;
            }
        }
    }
}

#[cfg(test)]
mod tests;
