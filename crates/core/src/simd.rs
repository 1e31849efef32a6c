//! The same code, compiled once more for processors with wide registers.
//!
//! The check is made once per block of plain rounds, and everything such a round calls is compiled into
//! the wide copy. Nothing here changes a result: the lanes of [`crate::row`] fix every order of addition,
//! and products and sums stay separate instructions, since `fma` is never asked for. Sums over rows and steps
//! along dense ones have a second source, and a test holds the two together bit by bit.

use crate::row::{self, PIECE, Piece, Room, SIDE_BY_SIDE, Value, dense_add, dense_dot};
use crate::space::{BLOCK, Block, Change};
use std::ops::Range;

/// A piece of work. `run` must be `#[inline(always)]`, or the wide copy calls the plain one.
pub(crate) trait Work {
    /// What comes of it.
    type Output;

    /// Does it.
    fn run(self) -> Self::Output;
}

/// Does the work in registers of four doubles where the machine has them. What takes registers of eight (the sums
/// over rows) asks for them by itself.
#[inline(always)]
pub(crate) fn widest<W: Work>(work: W) -> W::Output {
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

/// How many bytes of a row are asked for ahead of time, at most; the memory guesses the rest by itself.
const ANNOUNCED: usize = 1024;

/// Has the memory bring `values` near, if the machine can be told so.
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

/// [`dense_dot`] in the widest registers this machine has.
#[inline(always)]
pub(crate) fn dot<T: Value>(row: &[T], weights: &[f64]) -> f64 {
    #[cfg(target_arch = "x86_64")]
    if has_avx512() {
        #[expect(unsafe_code, reason = "only a check at run time can tell what the processor has")]
        // SAFETY: the one thing `widest::dot` needs is a processor with AVX-512, and this one has it.
        return unsafe { widest::dot(row, weights) };
    }
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        #[expect(unsafe_code, reason = "only a check at run time can tell what the processor has")]
        // SAFETY: the one thing `wide::dot` needs is a processor with AVX2, and this one has it.
        return unsafe { wide::dot(row, weights) };
    }
    plain_dot(row, weights)
}

/// [`dot`] of several rows.
pub(crate) fn dots<T: Value>(rows: [&[T]; SIDE_BY_SIDE], weights: &[f64]) -> [f64; SIDE_BY_SIDE] {
    #[cfg(target_arch = "x86_64")]
    if has_avx512() {
        #[expect(unsafe_code, reason = "only a check at run time can tell what the processor has")]
        // SAFETY: the one thing `widest::dots` needs is a processor with AVX-512, and this one has it.
        let found = unsafe { widest::dots(rows, weights) };
        if let Some(found) = found {
            return found;
        }
    }
    rows.map(|row| dot(row, weights))
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
        // SAFETY: the one thing `wide::add` needs is a processor with AVX2, and this one has it.
        return unsafe { wide::add(amounts, row, weights) };
    }
    for (amount, weights) in amounts.into_iter().zip(weights) {
        dense_add(amount, row, weights);
    }
}

/// [`row::sparse_dot`] in the widest registers this machine has.
#[inline(always)]
pub(crate) fn sparse_dot<T: Value>(indices: &[u32], values: &[T], weights: &[f64]) -> f64 {
    #[cfg(target_arch = "x86_64")]
    if has_avx512() && i32::try_from(weights.len()).is_ok() {
        #[expect(unsafe_code, reason = "only a check at run time can tell what the processor has")]
        // SAFETY: the one thing `widest::sparse_dot` needs is a processor with AVX-512, and this one has it.
        return unsafe { widest::sparse_dot(indices, values, weights) };
    }
    row::sparse_dot(indices, values, weights)
}

/// [`row::gather_nonzero`] in the widest registers this machine has.
#[inline(always)]
pub(crate) fn gather_nonzero<T: Value>(values: &[T], first: u32, piece: &mut Piece) {
    #[cfg(target_arch = "x86_64")]
    if has_avx512() {
        #[expect(unsafe_code, reason = "only a check at run time can tell what the processor has")]
        // SAFETY: the one thing this needs is a processor with AVX-512, and this one has it.
        return unsafe { widest::gather_nonzero(values, first, piece) };
    }
    row::gather_nonzero(values, first, piece);
}

/// [`row::widen`] in the widest registers this machine has.
#[inline(always)]
pub(crate) fn widen<'a, T: Value>(values: &[T], wide: &'a mut Room<f64, PIECE>) -> &'a [f64] {
    #[cfg(target_arch = "x86_64")]
    if has_avx512() {
        #[expect(unsafe_code, reason = "only a check at run time can tell what the processor has")]
        // SAFETY: the one thing this needs is a processor with AVX-512, and this one has it.
        return unsafe { widest::widen(values, wide) };
    }
    row::widen(values, wide)
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
        return unsafe { widest::add_many(lanes, columns, outputs, features, values) };
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
    if has_avx512() && width <= widest::MOST_FEATURES {
        #[expect(unsafe_code, reason = "only a check at run time can tell what the processor has")]
        // SAFETY: the one thing this needs is a processor with AVX-512, and this one has it.
        return unsafe { widest::add_blocks(sums, blocks, width, features, values) };
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

/// Adds some entries, [`PIECE`] at most, to the outputs of some blocks, so many times to each. All features must be
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
    if has_avx512() && width <= widest::MOST_FEATURES {
        #[expect(unsafe_code, reason = "only a check at run time can tell what the processor has")]
        // SAFETY: the one thing this needs is a processor with AVX-512, and this one has it.
        return unsafe { widest::change_blocks(blocks, changes, width, features, values) };
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

/// What takes registers of eight doubles: all lanes in one.
#[cfg(target_arch = "x86_64")]
pub(crate) mod widest {
    #![expect(unsafe_code, reason = "registers are filled and emptied through pointers")]

    use super::{Columns, Lanes, SWEEP, Sums, TOO_WIDE};
    use crate::row::{PIECE, Piece, Room, SIDE_BY_SIDE, Value};
    use crate::space::{Block, Change};
    use std::arch::x86_64::{
        __m128d, __m256d, __m256i, __m512d, __m512i, _CMP_NEQ_UQ, _mm_add_pd, _mm_cvtsd_f64, _mm_loadu_pd,
        _mm_mask_add_pd, _mm_mask_mul_pd, _mm_mul_pd, _mm_set1_pd, _mm_storeu_pd, _mm_unpackhi_pd,
        _mm256_add_epi32, _mm256_add_pd, _mm256_castpd128_pd256, _mm256_castpd256_pd128,
        _mm256_cmplt_epu32_mask, _mm256_extractf128_pd, _mm256_insertf128_pd, _mm256_loadu_pd,
        _mm256_loadu_ps, _mm256_loadu_si256, _mm256_mask_add_pd, _mm256_mask_mul_pd,
        _mm256_maskz_compress_epi32, _mm256_maskz_loadu_epi32, _mm256_max_epu32, _mm256_mul_pd,
        _mm256_set1_epi32, _mm256_set1_pd, _mm256_setr_epi32, _mm256_setzero_si256, _mm256_slli_epi32,
        _mm256_storeu_pd, _mm256_storeu_si256, _mm512_add_epi64, _mm512_add_pd, _mm512_castpd256_pd512,
        _mm512_castpd512_pd256, _mm512_castps512_ps256, _mm512_cmp_pd_mask, _mm512_cvtps_pd,
        _mm512_extractf64x4_pd, _mm512_i32gather_pd, _mm512_insertf64x4, _mm512_load_pd, _mm512_loadu_pd,
        _mm512_loadu_si512, _mm512_mask_add_pd, _mm512_mask_i32gather_pd, _mm512_mask_mul_pd,
        _mm512_maskz_compress_pd, _mm512_maskz_loadu_pd, _mm512_maskz_loadu_ps, _mm512_mul_pd,
        _mm512_permutexvar_pd, _mm512_set1_epi64, _mm512_set1_pd, _mm512_setr_epi64, _mm512_setzero_pd,
        _mm512_store_pd, _mm512_storeu_pd,
    };
    use std::ops::Range;

    /// How many times eight features are taken for a row without zeros before it is found out whether it is one.
    const TRUSTED: usize = 8;

    /// Which lane comes to which place when all are moved on by so many places.
    static TURNS: [[u64; 8]; 8] = {
        let mut turns = [[0; 8]; 8];
        let mut by = 0;
        while by < 8 {
            let mut place = 0;
            while place < 8 {
                turns[by][place] = ((place + 8 - by) % 8) as u64;
                place += 1;
            }
            by += 1;
        }
        turns
    };

    /// The bits of the first `n` places, eight at most.
    #[inline(always)]
    fn first_places(n: usize) -> u8 {
        if n < 8 { (1 << n) - 1 } else { u8::MAX }
    }

    /// Eight doubles in a register.
    ///
    /// # Safety
    /// The processor has AVX-512.
    #[inline(always)]
    pub(crate) unsafe fn doubles(values: &[f64; 8]) -> __m512d {
        // SAFETY: the reference is good for eight doubles, and loading needs no alignment.
        unsafe { _mm512_loadu_pd(values.as_ptr()) }
    }

    /// Eight singles in a register, as doubles.
    ///
    /// # Safety
    /// The processor has AVX-512.
    #[inline(always)]
    pub(crate) unsafe fn singles(values: &[f32; 8]) -> __m512d {
        // SAFETY: the reference is good for eight singles, and loading needs no alignment.
        unsafe { _mm512_cvtps_pd(_mm256_loadu_ps(values.as_ptr())) }
    }

    /// Up to eight doubles in a register.
    ///
    /// # Safety
    /// The processor has AVX-512.
    #[inline(always)]
    pub(crate) unsafe fn up_to_eight_doubles(values: &[f64]) -> __m512d {
        // SAFETY: only what is there is read.
        unsafe { _mm512_maskz_loadu_pd(first_places(values.len()), values.as_ptr()) }
    }

    /// Up to eight singles in a register, as doubles.
    ///
    /// # Safety
    /// The processor has AVX-512.
    #[inline(always)]
    pub(crate) unsafe fn up_to_eight_singles(values: &[f32]) -> __m512d {
        // SAFETY: only what is there is read.
        unsafe {
            let present = u16::from(first_places(values.len()));
            _mm512_cvtps_pd(_mm512_castps512_ps256(_mm512_maskz_loadu_ps(present, values.as_ptr())))
        }
    }

    /// The lanes added up in their tree.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn total(lanes: __m512d) -> f64 {
        let sums = _mm256_add_pd(_mm512_castpd512_pd256(lanes), _mm512_extractf64x4_pd::<1>(lanes));
        let sums = _mm_add_pd(_mm256_castpd256_pd128(sums), _mm256_extractf128_pd::<1>(sums));
        _mm_cvtsd_f64(sums) + _mm_cvtsd_f64(_mm_unpackhi_pd(sums, sums))
    }

    /// Which of eight values are not zero.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn nonzero(values: __m512d) -> u8 {
        _mm512_cmp_pd_mask::<_CMP_NEQ_UQ>(values, _mm512_setzero_pd())
    }

    #[inline(never)]
    #[target_feature(enable = "avx512f,popcnt")]
    pub(super) fn dot<T: Value>(row: &[T], weights: &[f64]) -> f64 {
        let (eights, last) = row.as_chunks::<8>();
        let (weight_eights, weights_last) = weights[..row.len()].as_chunks::<8>();
        let (mut lanes, mut n_done) = (_mm512_setzero_pd(), 0);
        // A row is taken for one without zeros until some of it is done.
        while eights.len() - n_done > TRUSTED {
            let some = n_done..n_done + TRUSTED;
            let (sums, present) = trusting(lanes, &eights[some.clone()], &weight_eights[some]);
            if present != u8::MAX {
                return dot_with_zeros(&stored(lanes), row, weights, n_done * 8);
            }
            (lanes, n_done) = (sums, n_done + TRUSTED);
        }
        let (mut sums, mut present) = trusting(lanes, &eights[n_done..], &weight_eights[n_done..]);
        if !last.is_empty() {
            // SAFETY: this is compiled for AVX-512, so whoever calls it has seen that the processor has it.
            let (row, weights) = unsafe { (T::up_to_eight(last), up_to_eight_doubles(weights_last)) };
            present &= nonzero(row) | !first_places(last.len());
            sums = _mm512_add_pd(sums, _mm512_mul_pd(weights, row));
        }
        if present != u8::MAX {
            return dot_with_zeros(&stored(lanes), row, weights, n_done * 8);
        }
        total(sums)
    }

    /// [`dot`] of several rows, if they are equally long. A zero makes the entries behind it take other lanes, so that
    /// what comes to the lanes is turned, for every row by as much as it has had zeros.
    #[inline(never)]
    #[target_feature(enable = "avx512f,popcnt")]
    pub(super) fn dots<T: Value>(rows: [&[T]; SIDE_BY_SIDE], weights: &[f64]) -> Option<[f64; SIDE_BY_SIDE]> {
        let weights = &weights[..rows[0].len()];
        if rows.iter().any(|row| row.len() != weights.len()) {
            return None;
        }
        let turned = |by: usize| -> __m512i {
            // SAFETY: a turn is eight numbers, and loading needs no alignment.
            unsafe { _mm512_loadu_si512(TURNS[by % 8].as_ptr().cast()) }
        };
        let (weight_eights, weights_last) = weights.as_chunks::<8>();
        // Equally long, so that nothing is checked any more.
        let eights = rows.map(|row| &row.as_chunks::<8>().0[..weight_eights.len()]);
        let mut lanes = [_mm512_setzero_pd(); SIDE_BY_SIDE];
        let (mut n_present, mut turns) = ([0; SIDE_BY_SIDE], [turned(0); SIDE_BY_SIDE]);
        for (place, weights) in weight_eights.iter().enumerate() {
            // SAFETY: this is compiled for AVX-512, so whoever calls it has seen that the processor has it.
            let (weights, values) = unsafe { (doubles(weights), eights.map(|row| T::eight(&row[place]))) };
            let present = values.map(|values| nonzero(values));
            let mut products = values.map(|values| _mm512_mul_pd(weights, values));
            if present.iter().fold(u8::MAX, |all, present| all & present) == u8::MAX {
                for row in 0..SIDE_BY_SIDE {
                    lanes[row] = _mm512_add_pd(lanes[row], _mm512_permutexvar_pd(turns[row], products[row]));
                }
            } else {
                for row in 0..SIDE_BY_SIDE {
                    products[row] = _mm512_maskz_compress_pd(present[row], products[row]);
                    lanes[row] = _mm512_add_pd(lanes[row], _mm512_permutexvar_pd(turns[row], products[row]));
                    n_present[row] += present[row].count_ones() as usize;
                    turns[row] = turned(n_present[row]);
                }
            }
        }
        let mut sums = [0.0; SIDE_BY_SIDE];
        for row in 0..SIDE_BY_SIDE {
            let last = rows[row].as_chunks::<8>().1;
            // SAFETY: as above.
            let (values, weights) = unsafe { (T::up_to_eight(last), up_to_eight_doubles(weights_last)) };
            let together = _mm512_maskz_compress_pd(nonzero(values), _mm512_mul_pd(weights, values));
            sums[row] = total(_mm512_add_pd(lanes[row], _mm512_permutexvar_pd(turns[row], together)));
        }
        Some(sums)
    }

    /// The lanes if no feature is zero, and bits that are all set if that is so.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn trusting<T: Value>(mut lanes: __m512d, rows: &[[T; 8]], weights: &[[f64; 8]]) -> (__m512d, u8) {
        let mut present = u8::MAX;
        for (row, weights) in rows.iter().zip(weights) {
            // SAFETY: this is compiled for AVX-512, so whoever calls it has seen that the processor has it.
            let (row, weights) = unsafe { (T::eight(row), doubles(weights)) };
            present &= nonzero(row);
            lanes = _mm512_add_pd(lanes, _mm512_mul_pd(weights, row));
        }
        (lanes, present)
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn stored(lanes: __m512d) -> [f64; 8] {
        let mut stored = [0.0; 8];
        // SAFETY: there is room for eight.
        unsafe { _mm512_storeu_pd(stored.as_mut_ptr(), lanes) };
        stored
    }

    /// The rest of a dot product, from feature `from` on. The entries that are not zero move together and then on to
    /// their lanes; the lanes that get none gain a zero.
    #[inline(never)]
    #[target_feature(enable = "avx512f,popcnt")]
    fn dot_with_zeros<T: Value>(lanes: &[f64; 8], row: &[T], weights: &[f64], from: usize) -> f64 {
        let (eights, last) = row[from..].as_chunks::<8>();
        let (weight_eights, weights_last) = weights[from..row.len()].as_chunks::<8>();
        // SAFETY: this is compiled for AVX-512, so whoever calls it has seen that the processor has it, and a turn is
        // eight numbers.
        unsafe {
            let (mut lanes, mut turn) = (doubles(lanes), 0);
            for (row, weights) in eights.iter().zip(weight_eights) {
                let (row, weights) = (T::eight(row), doubles(weights));
                let by = _mm512_loadu_si512(TURNS[turn].as_ptr().cast());
                let together = _mm512_maskz_compress_pd(nonzero(row), _mm512_mul_pd(weights, row));
                lanes = _mm512_add_pd(lanes, _mm512_permutexvar_pd(by, together));
                turn = (turn + nonzero(row).count_ones() as usize) % 8;
            }
            let (row, weights) = (T::up_to_eight(last), up_to_eight_doubles(weights_last));
            let by = _mm512_loadu_si512(TURNS[turn].as_ptr().cast());
            let together = _mm512_maskz_compress_pd(nonzero(row), _mm512_mul_pd(weights, row));
            total(_mm512_add_pd(lanes, _mm512_permutexvar_pd(by, together)))
        }
    }

    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512vl")]
    pub(super) fn sparse_dot<T: Value>(indices: &[u32], values: &[T], weights: &[f64]) -> f64 {
        // Indices are taken for signed ones where they are looked up.
        let width = i32::try_from(weights.len()).expect("the caller has looked");
        let width = _mm256_set1_epi32(width);
        let mut lanes = _mm512_setzero_pd();
        let (eights, last) = indices.as_chunks::<8>();
        let (value_eights, values_last) = values.as_chunks::<8>();
        for (indices, values) in eights.iter().zip(value_eights) {
            // SAFETY: this is compiled for AVX-512, the references are good for eight each, and weights are looked up
            // for indices below their number only.
            unsafe {
                let indices = _mm256_loadu_si256(indices.as_ptr().cast());
                assert!(_mm256_cmplt_epu32_mask(indices, width) == u8::MAX, "{TOO_WIDE}");
                let weights = _mm512_i32gather_pd::<8>(indices, weights.as_ptr());
                lanes = _mm512_add_pd(lanes, _mm512_mul_pd(weights, T::eight(values)));
            }
        }
        let n = last.len().min(values_last.len());
        if n > 0 {
            let present = first_places(n);
            // SAFETY: as above, and only what is present is read and looked up.
            unsafe {
                let indices = _mm256_maskz_loadu_epi32(present, last.as_ptr().cast());
                let known = _mm256_cmplt_epu32_mask(indices, width);
                assert!(known & present == present, "{TOO_WIDE}");
                let zero = _mm512_setzero_pd();
                let weights = _mm512_mask_i32gather_pd::<8>(zero, present, indices, weights.as_ptr());
                lanes = _mm512_add_pd(lanes, _mm512_mul_pd(weights, T::up_to_eight(&values_last[..n])));
            }
        }
        total(lanes)
    }

    #[target_feature(enable = "avx512f,avx512vl,popcnt")]
    pub(super) fn gather_nonzero<T: Value>(values: &[T], first: u32, piece: &mut Piece) {
        let (eights, last) = values.as_chunks::<8>();
        assert!(piece.n + values.len() <= PIECE, "room for all");
        let (at_features, at_values) = (piece.features.as_mut_ptr(), piece.values.as_mut_ptr());
        let mut n = piece.n;
        let mut features = _mm256_add_epi32(
            _mm256_set1_epi32(first.cast_signed()),
            _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
        );
        let put = |values: __m512d, features: __m256i, n: usize| {
            let found = nonzero(values);
            // SAFETY: there are at most `PIECE` entries, and a piece has room for all of these and for eight more.
            unsafe {
                _mm512_storeu_pd(at_values.add(n), _mm512_maskz_compress_pd(found, values));
                let features = _mm256_maskz_compress_epi32(found, features);
                _mm256_storeu_si256(at_features.add(n).cast(), features);
            }
            n + found.count_ones() as usize
        };
        for eight in eights {
            // SAFETY: this is compiled for AVX-512, so whoever calls it has seen that the processor has it.
            n = put(unsafe { T::eight(eight) }, features, n);
            features = _mm256_add_epi32(features, _mm256_set1_epi32(8));
        }
        // SAFETY: as above.
        piece.n = put(unsafe { T::up_to_eight(last) }, features, n);
    }

    #[target_feature(enable = "avx512f")]
    pub(super) fn widen<'a, T: Value>(values: &[T], wide: &'a mut Room<f64, PIECE>) -> &'a [f64] {
        assert!(values.len() <= PIECE, "a piece");
        let to = wide.as_mut_ptr();
        let (eights, last) = values.as_chunks::<8>();
        // SAFETY: this is compiled for AVX-512. A piece has room for as many values as there are, and for the zeros
        // that fill up the last eight of them, since it is a multiple of eight; all that is read was written.
        unsafe {
            for (number, eight) in eights.iter().enumerate() {
                _mm512_storeu_pd(to.add(8 * number), T::eight(eight));
            }
            if !last.is_empty() {
                _mm512_storeu_pd(to.add(8 * eights.len()), T::up_to_eight(last));
            }
            wide.first(values.len())
        }
    }

    /// Up to so many features, sixteen times a feature is a number that an offset can be.
    pub(crate) const MOST_FEATURES: usize = 1 << 28;

    /// Where the weights of some features are, in sixteenths: a feature of a block with stride 8 begins at four times
    /// its offset, in bytes. An address is then found without any other instruction.
    type Offsets = Room<u32, PIECE>;

    /// The offsets of the features, as many eights as they fill or begin; the last is filled up with zeros.
    #[inline]
    #[target_feature(enable = "avx512f,avx512vl")]
    fn offsets(features: &[u32], width: usize, offsets: &mut Offsets) {
        assert!(
            features.len() <= PIECE && width <= MOST_FEATURES,
            "a piece, and features that an offset can be"
        );
        let (eights, last) = features.as_chunks::<8>();
        let mut most = _mm256_setzero_si256();
        let mut put = |place: usize, eight: __m256i| {
            most = _mm256_max_epu32(most, eight);
            // SAFETY: a piece is a multiple of eight, and so is every place.
            unsafe {
                _mm256_storeu_si256(offsets.as_mut_ptr().add(place).cast(), _mm256_slli_epi32::<4>(eight));
            };
        };
        for (number, eight) in eights.iter().enumerate() {
            // SAFETY: the reference is good for eight.
            put(8 * number, unsafe { _mm256_loadu_si256(eight.as_ptr().cast()) });
        }
        if !last.is_empty() {
            // SAFETY: only what is there is read.
            let eight = unsafe { _mm256_maskz_loadu_epi32(first_places(last.len()), last.as_ptr().cast()) };
            put(8 * eights.len(), eight);
        }
        if !features.is_empty() {
            let known = _mm256_cmplt_epu32_mask(most, _mm256_set1_epi32((width as u32).cast_signed()));
            assert!(known == u8::MAX, "{TOO_WIDE}");
        }
    }

    /// The outputs of a block in one register.
    ///
    /// # Safety
    /// The processor has AVX-512, for every function below, and pointers are good for `N` doubles.
    trait Register: Copy {
        /// How many.
        const N: usize;
        unsafe fn load(from: *const f64) -> Self;
        unsafe fn store(self, to: *mut f64);
        unsafe fn splat(value: f64) -> Self;
        unsafe fn times(self, other: Self) -> Self;
        unsafe fn plus(self, other: Self) -> Self;
        /// The sum where the mask has a bit, and elsewhere what was there.
        unsafe fn plus_where(self, mask: u8, other: Self) -> Self;
        /// The product where the mask has a bit, and elsewhere what `or` has.
        unsafe fn times_where(self, mask: u8, other: Self, or: Self) -> Self;
    }

    macro_rules! register {
        ($name:ty, $n:literal, $load:ident, $store:ident, $splat:ident, $times:ident, $plus:ident, $plus_where:ident, $times_where:ident) => {
            impl Register for $name {
                const N: usize = $n;

                #[inline(always)]
                unsafe fn load(from: *const f64) -> Self {
                    // SAFETY: as the caller's.
                    unsafe { $load(from) }
                }

                #[inline(always)]
                unsafe fn store(self, to: *mut f64) {
                    // SAFETY: as the caller's.
                    unsafe { $store(to, self) }
                }

                #[inline(always)]
                unsafe fn splat(value: f64) -> Self {
                    // SAFETY: as the caller's.
                    unsafe { $splat(value) }
                }

                #[inline(always)]
                unsafe fn times(self, other: Self) -> Self {
                    // SAFETY: as the caller's.
                    unsafe { $times(self, other) }
                }

                #[inline(always)]
                unsafe fn plus(self, other: Self) -> Self {
                    // SAFETY: as the caller's.
                    unsafe { $plus(self, other) }
                }

                #[inline(always)]
                unsafe fn plus_where(self, mask: u8, other: Self) -> Self {
                    // SAFETY: as the caller's.
                    unsafe { $plus_where(self, mask, self, other) }
                }

                #[inline(always)]
                unsafe fn times_where(self, mask: u8, other: Self, or: Self) -> Self {
                    // SAFETY: as the caller's.
                    unsafe { $times_where(or, mask, self, other) }
                }
            }
        };
    }

    register!(
        __m512d,
        8,
        _mm512_loadu_pd,
        _mm512_storeu_pd,
        _mm512_set1_pd,
        _mm512_mul_pd,
        _mm512_add_pd,
        _mm512_mask_add_pd,
        _mm512_mask_mul_pd
    );
    register!(
        __m256d,
        4,
        _mm256_loadu_pd,
        _mm256_storeu_pd,
        _mm256_set1_pd,
        _mm256_mul_pd,
        _mm256_add_pd,
        _mm256_mask_add_pd,
        _mm256_mask_mul_pd
    );
    register!(
        __m128d,
        2,
        _mm_loadu_pd,
        _mm_storeu_pd,
        _mm_set1_pd,
        _mm_mul_pd,
        _mm_add_pd,
        _mm_mask_add_pd,
        _mm_mask_mul_pd
    );

    /// The sums of a block while a row is gone over.
    ///
    /// # Safety
    /// The processor has AVX-512, for every function below; the cells have the stride of the group, and all offsets
    /// are those of features that they have.
    trait Group: Sized {
        const STRIDE: usize;
        unsafe fn zero() -> Self;
        unsafe fn load(lanes: &[[f64; 8]; 8]) -> Self;
        unsafe fn store(&self, lanes: &mut [[f64; 8]; 8]);
        /// Adds eight entries, one for every lane.
        unsafe fn add(&mut self, cells: *const f64, offsets: &[u32; 8], values: &[f64; 8]);
        /// Adds the first `n` of eight entries.
        unsafe fn add_first(&mut self, n: usize, cells: *const f64, offsets: &[u32; 8], values: &[f64; 8]);
        /// The lanes added up in their tree.
        unsafe fn totals(&self, totals: &mut [f64; 8]);
    }

    /// A register for every lane.
    struct Each<R>([R; 8]);

    impl<R: Register> Each<R> {
        /// The products of one entry.
        #[inline(always)]
        unsafe fn products(cells: *const f64, offset: u32, value: f64) -> R {
            // SAFETY: as the caller's.
            unsafe { R::load(cells.byte_add(offset as usize * (R::N / 2))).times(R::splat(value)) }
        }
    }

    impl<R: Register> Group for Each<R> {
        const STRIDE: usize = R::N;

        #[inline(always)]
        unsafe fn zero() -> Self {
            // SAFETY: as the caller's.
            Self([unsafe { R::splat(0.0) }; 8])
        }

        #[inline(always)]
        unsafe fn load(lanes: &[[f64; 8]; 8]) -> Self {
            // SAFETY: as the caller's; a lane has room for eight.
            Self(std::array::from_fn(|lane| unsafe { R::load(lanes[lane].as_ptr()) }))
        }

        #[inline(always)]
        unsafe fn store(&self, lanes: &mut [[f64; 8]; 8]) {
            for (sum, lane) in self.0.iter().zip(lanes) {
                // SAFETY: as the caller's; a lane has room for eight.
                unsafe { sum.store(lane.as_mut_ptr()) };
            }
        }

        #[inline(always)]
        unsafe fn add(&mut self, cells: *const f64, offsets: &[u32; 8], values: &[f64; 8]) {
            for lane in 0..8 {
                // SAFETY: as the caller's.
                unsafe {
                    self.0[lane] = self.0[lane].plus(Self::products(cells, offsets[lane], values[lane]));
                }
            }
        }

        #[inline(always)]
        unsafe fn add_first(&mut self, n: usize, cells: *const f64, offsets: &[u32; 8], values: &[f64; 8]) {
            for lane in 0..8 {
                let mask = if lane < n { u8::MAX } else { 0 };
                // SAFETY: as the caller's.
                unsafe {
                    let products = Self::products(cells, offsets[lane], values[lane]);
                    self.0[lane] = self.0[lane].plus_where(mask, products);
                }
            }
        }

        #[inline(always)]
        unsafe fn totals(&self, totals: &mut [f64; 8]) {
            let [a, b, c, d, e, f, g, h] = self.0;
            // SAFETY: as the caller's; there is room for eight.
            unsafe {
                let sums = a.plus(e).plus(c.plus(g)).plus(b.plus(f).plus(d.plus(h)));
                sums.store(totals.as_mut_ptr());
            }
        }
    }

    /// Two outputs, four lanes of theirs side by side in a register: a quarter of the additions.
    struct Pairs([__m512d; 2]);

    impl Pairs {
        /// The products of four entries from place `FROM` of eight on.
        #[inline(always)]
        unsafe fn products<const FROM: i64>(
            cells: *const f64,
            offsets: &[u32; 8],
            values: &[f64; 8],
        ) -> __m512d {
            // SAFETY: as the caller's.
            unsafe {
                let two = |k: usize| _mm_loadu_pd(cells.byte_add(offsets[FROM as usize + k] as usize));
                let low = _mm256_insertf128_pd::<1>(_mm256_castpd128_pd256(two(0)), two(1));
                let high = _mm256_insertf128_pd::<1>(_mm256_castpd128_pd256(two(2)), two(3));
                let weights = _mm512_insertf64x4::<1>(_mm512_castpd256_pd512(low), high);
                let which =
                    _mm512_add_epi64(_mm512_set1_epi64(FROM), _mm512_setr_epi64(0, 0, 1, 1, 2, 2, 3, 3));
                _mm512_mul_pd(weights, _mm512_permutexvar_pd(which, doubles(values)))
            }
        }
    }

    impl Group for Pairs {
        const STRIDE: usize = 2;

        #[inline(always)]
        unsafe fn zero() -> Self {
            // SAFETY: as the caller's.
            Self([unsafe { _mm512_setzero_pd() }; 2])
        }

        #[inline(always)]
        unsafe fn load(lanes: &[[f64; 8]; 8]) -> Self {
            // SAFETY: as the caller's.
            Self([0, 1].map(|half| unsafe { doubles(&lanes[half]) }))
        }

        #[inline(always)]
        unsafe fn store(&self, lanes: &mut [[f64; 8]; 8]) {
            for (sums, lane) in self.0.iter().zip(lanes) {
                // SAFETY: as the caller's; there is room for eight.
                unsafe { _mm512_storeu_pd(lane.as_mut_ptr(), *sums) };
            }
        }

        #[inline(always)]
        unsafe fn add(&mut self, cells: *const f64, offsets: &[u32; 8], values: &[f64; 8]) {
            // SAFETY: as the caller's.
            unsafe {
                self.0[0] = _mm512_add_pd(self.0[0], Self::products::<0>(cells, offsets, values));
                self.0[1] = _mm512_add_pd(self.0[1], Self::products::<4>(cells, offsets, values));
            }
        }

        #[inline(always)]
        unsafe fn add_first(&mut self, n: usize, cells: *const f64, offsets: &[u32; 8], values: &[f64; 8]) {
            let masks = [first_places(2 * n), first_places(2 * n.saturating_sub(4))];
            // SAFETY: as the caller's.
            unsafe {
                self.0[0] = self.0[0].plus_where(masks[0], Self::products::<0>(cells, offsets, values));
                self.0[1] = self.0[1].plus_where(masks[1], Self::products::<4>(cells, offsets, values));
            }
        }

        #[inline(always)]
        unsafe fn totals(&self, totals: &mut [f64; 8]) {
            // SAFETY: as the caller's; there is room for eight.
            unsafe {
                let sums = _mm512_add_pd(self.0[0], self.0[1]);
                let sums = _mm256_add_pd(_mm512_castpd512_pd256(sums), _mm512_extractf64x4_pd::<1>(sums));
                let sums = _mm_add_pd(_mm256_castpd256_pd128(sums), _mm256_extractf128_pd::<1>(sums));
                sums.store(totals.as_mut_ptr());
            }
        }
    }

    /// No second block.
    impl Group for () {
        const STRIDE: usize = 0;

        unsafe fn zero() -> Self {}
        unsafe fn load(_lanes: &[[f64; 8]; 8]) -> Self {}
        unsafe fn store(&self, _lanes: &mut [[f64; 8]; 8]) {}
        unsafe fn add(&mut self, _cells: *const f64, _offsets: &[u32; 8], _values: &[f64; 8]) {}
        unsafe fn add_first(
            &mut self,
            _n: usize,
            _cells: *const f64,
            _offsets: &[u32; 8],
            _values: &[f64; 8],
        ) {
        }
        unsafe fn totals(&self, _totals: &mut [f64; 8]) {}
    }

    #[target_feature(enable = "avx512f,avx512vl")]
    pub(super) fn add_blocks(
        sums: &mut Sums,
        blocks: &[Block],
        width: usize,
        features: &[u32],
        values: &[f64],
    ) {
        let nothing = [];
        match blocks {
            [a] if a.stride == 2 => {
                add_groups::<Pairs, ()>(sums, [&a.cells, &nothing], width, features, values);
            }
            [a] if a.stride == 4 => {
                add_groups::<Each<__m256d>, ()>(sums, [&a.cells, &nothing], width, features, values);
            }
            [a] => add_groups::<Each<__m512d>, ()>(sums, [&a.cells, &nothing], width, features, values),
            [a, b] => {
                let cells = [&a.cells[..], &b.cells[..]];
                match b.stride {
                    2 => add_groups::<Each<__m512d>, Pairs>(sums, cells, width, features, values),
                    4 => add_groups::<Each<__m512d>, Each<__m256d>>(sums, cells, width, features, values),
                    _ => add_groups::<Each<__m512d>, Each<__m512d>>(sums, cells, width, features, values),
                }
            }
            _ => unreachable!("one block or two"),
        }
    }

    /// Needs cells of the strides that `A` and `B` have, and looks whether there are enough.
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512vl")]
    fn add_groups<A: Group, B: Group>(
        sums: &mut Sums,
        cells: [&[f64]; 2],
        width: usize,
        features: &[u32],
        values: &[f64],
    ) {
        assert!(width * A::STRIDE <= cells[0].len() && width * B::STRIDE <= cells[1].len(), "cells for all");
        assert!(features.len() == values.len(), "a value per feature");
        let mut room = Offsets::new();
        offsets(features, width, &mut room);
        let [first, second] = cells.map(<[f64]>::as_ptr);
        let (eights, last) = values.as_chunks::<8>();
        // SAFETY: this is compiled for AVX-512. So many eights of offsets were written, all of features below `width`
        // or of the first one, and there is one if there is an entry; the cells were seen to have these.
        unsafe {
            let (mut a, mut b) = if sums.begun {
                (A::load(&sums.lanes[0]), B::load(&sums.lanes[1]))
            } else {
                (A::zero(), B::zero())
            };
            let offsets = room.first(values.len().next_multiple_of(8)).as_chunks::<8>().0;
            for (offsets, values) in offsets.iter().zip(eights) {
                a.add(first, offsets, values);
                b.add(second, offsets, values);
            }
            if let (false, Some(offsets)) = (last.is_empty(), offsets.last()) {
                let values = stored(up_to_eight_doubles(last));
                a.add_first(last.len(), first, offsets, &values);
                b.add_first(last.len(), second, offsets, &values);
            }
            a.store(&mut sums.lanes[0]);
            b.store(&mut sums.lanes[1]);
            let ([low, high], _) = sums.totals.as_chunks_mut::<8>() else { unreachable!("two eights") };
            a.totals(low);
            b.totals(high);
        }
        sums.begun = true;
    }

    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512vl")]
    pub(super) fn change_blocks(
        blocks: &mut [Block],
        changes: &[Change],
        width: usize,
        features: &[u32],
        values: &[f64],
    ) {
        assert!(features.len() == values.len(), "a value per feature");
        let mut room = Offsets::new();
        offsets(features, width, &mut room);
        // SAFETY: so many were written.
        let offsets = unsafe { room.first(features.len()) };
        for (Block { stride, cells }, change) in blocks.iter_mut().zip(changes) {
            if change.outputs == 0 {
                continue;
            }
            assert!(width * *stride <= cells.len(), "cells for all");
            let cells = cells.as_mut_ptr();
            // SAFETY: this is compiled for AVX-512, all features are below `width`, and there are cells for these.
            unsafe {
                match stride {
                    2 => change_each::<__m128d>(cells, change, offsets, values),
                    4 => change_each::<__m256d>(cells, change, offsets, values),
                    8 => change_each::<__m512d>(cells, change, offsets, values),
                    _ => unreachable!("no other strides where there are several outputs"),
                }
            }
        }
    }

    /// All places of a feature are written: a masked store could not be read before it is done. What does not change
    /// gains -0, the one number that leaves every other as it is, zeros of both signs included.
    ///
    /// # Safety
    /// The processor has AVX-512, and the cells have the stride of the register and the features of all offsets.
    #[inline(always)]
    unsafe fn change_each<R: Register>(cells: *mut f64, change: &Change, offsets: &[u32], values: &[f64]) {
        // SAFETY: as the caller's; there are eight amounts.
        unsafe {
            let (amounts, nothing) = (R::load(change.amounts.as_ptr()), R::splat(-0.0));
            for (&offset, &value) in offsets.iter().zip(values) {
                let place = cells.byte_add(offset as usize * (R::N / 2));
                let products = amounts.times_where(change.outputs, R::splat(value), nothing);
                R::load(place).plus(products).store(place);
            }
        }
    }

    #[target_feature(enable = "avx512f")]
    pub(super) fn add_many(
        lanes: &mut Lanes,
        columns: Columns<'_>,
        outputs: Range<usize>,
        features: &[u32],
        values: &[f64],
    ) {
        if outputs.len() <= SWEEP / 2 {
            add_halves::<1>(lanes, columns, outputs, features, values);
        } else {
            add_halves::<2>(lanes, columns, outputs, features, values);
        }
    }

    /// For up to eight outputs, or up to sixteen: as many as find a register for every lane.
    #[inline(never)]
    #[target_feature(enable = "avx512f")]
    fn add_halves<const N: usize>(
        lanes: &mut Lanes,
        columns: Columns<'_>,
        outputs: Range<usize>,
        features: &[u32],
        values: &[f64],
    ) {
        let Columns { weights, width, n_outputs } = columns;
        let n = outputs.len();
        assert!(n <= N * 8 && outputs.end <= n_outputs && width * n_outputs <= weights.len());
        let present = [first_places(n), first_places(n.saturating_sub(8))];
        let first = &weights[outputs.start..];
        let mut sums = [[_mm512_setzero_pd(); N]; 8];
        for (sums, lane) in sums.iter_mut().zip(&lanes.0) {
            for (half, sum) in sums.iter_mut().enumerate() {
                // SAFETY: the sums of a lane are sixteen, aligned to a register.
                *sum = unsafe { _mm512_load_pd(lane.as_ptr().add(8 * half)) };
            }
        }
        let add = |sums: &mut [__m512d; N], feature: u32, value: f64| {
            assert!((feature as usize) < width, "{TOO_WIDE}");
            let value = _mm512_set1_pd(value);
            for half in 0..N {
                // SAFETY: only what is present is read, which ends with the last of these outputs' weights for a
                // feature that there is.
                let weights = unsafe {
                    let from = first.as_ptr().add(feature as usize * n_outputs + 8 * half);
                    _mm512_maskz_loadu_pd(present[half], from)
                };
                sums[half] = _mm512_add_pd(sums[half], _mm512_mul_pd(weights, value));
            }
        };
        let (features, last_features) = features.as_chunks::<8>();
        let (values, last_values) = values.as_chunks::<8>();
        for (features, values) in features.iter().zip(values) {
            for lane in 0..8 {
                add(&mut sums[lane], features[lane], values[lane]);
            }
        }
        for (place, (sums, lane)) in sums.iter_mut().zip(&mut lanes.0).enumerate() {
            if let (Some(&feature), Some(&value)) = (last_features.get(place), last_values.get(place)) {
                add(sums, feature, value);
            }
            for (half, sum) in sums.iter().enumerate() {
                // SAFETY: as above.
                unsafe { _mm512_store_pd(lane.as_mut_ptr().add(8 * half), *sum) };
            }
        }
    }
}

/// The eight lanes in two registers, spelled out. Left alone the compiler cuts rows and weights in pieces that
/// straddle each other, and then every score after a step waits for the memory.
#[cfg(target_arch = "x86_64")]
pub(crate) mod wide {
    #![expect(unsafe_code, reason = "registers are filled through pointers")]

    use crate::row::{Value, dense_dot};
    use std::arch::x86_64::{
        __m256, __m256d, _CMP_EQ_OQ, _mm_add_pd, _mm_cvtsd_f64, _mm_loadu_ps, _mm_unpackhi_pd, _mm256_add_pd,
        _mm256_castpd_ps, _mm256_castpd256_pd128, _mm256_cmp_pd, _mm256_cmp_ps, _mm256_cvtps_pd,
        _mm256_extractf128_pd, _mm256_loadu_pd, _mm256_loadu_ps, _mm256_movemask_ps, _mm256_mul_pd,
        _mm256_or_pd, _mm256_or_ps, _mm256_set_pd, _mm256_set1_pd, _mm256_setzero_pd, _mm256_setzero_ps,
        _mm256_storeu_pd,
    };

    /// Four doubles in a register.
    ///
    /// # Safety
    /// The processor has AVX2.
    #[inline(always)]
    pub(crate) unsafe fn doubles(values: &[f64; 4]) -> __m256d {
        // SAFETY: the reference is good for four doubles, and loading needs no alignment.
        unsafe { _mm256_loadu_pd(values.as_ptr()) }
    }

    /// Four singles in a register, as doubles.
    ///
    /// # Safety
    /// The processor has AVX2.
    #[inline(always)]
    pub(crate) unsafe fn singles(values: &[f32; 4]) -> __m256d {
        // SAFETY: the reference is good for four singles, and loading needs no alignment.
        unsafe { _mm256_cvtps_pd(_mm_loadu_ps(values.as_ptr())) }
    }

    /// Where one of eight singles is zero.
    ///
    /// # Safety
    /// The processor has AVX2.
    #[inline(always)]
    pub(crate) unsafe fn zero_singles(values: &[f32; 8]) -> __m256 {
        // SAFETY: the reference is good for eight singles, and loading needs no alignment.
        unsafe { _mm256_cmp_ps::<_CMP_EQ_OQ>(_mm256_loadu_ps(values.as_ptr()), _mm256_setzero_ps()) }
    }

    /// Where one of eight doubles is zero; the first four and the others share their places.
    ///
    /// # Safety
    /// The processor has AVX2.
    #[inline(always)]
    pub(crate) unsafe fn zero_doubles(values: &[f64; 8]) -> __m256 {
        let ([low, high], _) = values.as_chunks::<4>() else { unreachable!("eight are two fours") };
        // SAFETY: as above.
        unsafe {
            let (low, high) = (doubles(low), doubles(high));
            let zero = _mm256_setzero_pd();
            let [low, high] = [low, high].map(|four| _mm256_cmp_pd::<_CMP_EQ_OQ>(four, zero));
            _mm256_castpd_ps(_mm256_or_pd(low, high))
        }
    }

    /// How many times eight features are taken for a row without zeros before it is found out whether it is one.
    const TRUSTED: usize = 16;

    #[inline(never)]
    #[target_feature(enable = "avx2")]
    pub(super) fn dot<T: Value>(row: &[T], weights: &[f64]) -> f64 {
        let (eights, last) = row.as_chunks::<8>();
        let (weight_eights, weights_last) = weights[..row.len()].as_chunks::<8>();
        let weights_all = weights;
        let (mut low, mut high) = (_mm256_setzero_pd(), _mm256_setzero_pd());
        // A row is taken for one without zeros until some of it is done.
        for (rows, weights) in eights.chunks(TRUSTED).zip(weight_eights.chunks(TRUSTED)) {
            let mut zeros = _mm256_setzero_ps();
            for (row, weights) in rows.iter().zip(weights) {
                let ([row_low, row_high], _) = row.as_chunks::<4>() else { unreachable!("two fours") };
                let ([weights_low, weights_high], _) = weights.as_chunks::<4>() else {
                    unreachable!("two fours")
                };
                // SAFETY: this is compiled for AVX2, so whoever calls it has seen that the processor has it.
                zeros = _mm256_or_ps(zeros, unsafe { T::zeros(row) });
                low = _mm256_add_pd(low, products(row_low, weights_low));
                high = _mm256_add_pd(high, products(row_high, weights_high));
            }
            if _mm256_movemask_ps(zeros) != 0 {
                return dense_dot(row, weights_all);
            }
        }
        if !last.iter().fold(true, |none, value| none & (value.wide() != 0.0)) {
            return dense_dot(row, weights);
        }
        if let (Some((row, few)), Some((weights, weight_few))) =
            (last.split_first_chunk(), weights_last.split_first_chunk())
        {
            low = _mm256_add_pd(low, products(row, weights));
            if !few.is_empty() {
                high = _mm256_add_pd(high, few_products(few, weight_few));
            }
        } else if !last.is_empty() {
            low = _mm256_add_pd(low, few_products(last, weights_last));
        }
        let sums = _mm256_add_pd(low, high);
        let sums = _mm_add_pd(_mm256_castpd256_pd128(sums), _mm256_extractf128_pd::<1>(sums));
        _mm_cvtsd_f64(sums) + _mm_cvtsd_f64(_mm_unpackhi_pd(sums, sums))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn products<T: Value>(row: &[T; 4], weights: &[f64; 4]) -> __m256d {
        // SAFETY: this is compiled for AVX2, so whoever calls it has seen that the processor has it.
        unsafe { _mm256_mul_pd(doubles(weights), T::four(row)) }
    }

    /// The products of up to three features. The other lanes gain a zero, which changes nothing.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn few_products<T: Value>(row: &[T], weights: &[f64]) -> __m256d {
        let product = |k: usize| row.get(k).zip(weights.get(k)).map_or(0.0, |(x, w)| w * x.wide());
        _mm256_set_pd(0.0, product(2), product(1), product(0))
    }

    #[inline(never)]
    #[target_feature(enable = "avx2")]
    pub(super) fn add<T: Value, const N: usize>(amounts: [f64; N], row: &[T], weights: [&mut [f64]; N]) {
        let (fours, few) = row.as_chunks::<4>();
        let spreads = amounts.map(|amount| _mm256_set1_pd(amount));
        let mut weights = weights.map(|weights| weights[..row.len()].as_chunks_mut::<4>());
        for (k, row) in fours.iter().enumerate() {
            // SAFETY: this is compiled for AVX2, so whoever calls it has seen that the processor has it.
            let row = unsafe { T::four(row) };
            for (spread, (weights, _)) in spreads.iter().zip(&mut weights) {
                let weights = &mut weights[k];
                // SAFETY: as above, and the reference is good for four doubles.
                unsafe {
                    let moved = _mm256_add_pd(doubles(weights), _mm256_mul_pd(*spread, row));
                    _mm256_storeu_pd(weights.as_mut_ptr(), moved);
                }
            }
        }
        for (amount, (_, weights)) in amounts.iter().zip(&mut weights) {
            // One by one, as the next score reads them; a masked store could not be read before it is done.
            for k in 0..3 {
                if let (Some(weight), Some(value)) = (weights.get_mut(k), few.get(k)) {
                    *weight += amount * value.wide();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::space::Table;

    #[test]
    fn wide_and_plain_agree_to_the_bit() {
        let mut random = Random::new(3);
        let widths = (0..40_usize).chain([63, 64, 65, 1000]);
        for (width, zeros) in widths.flat_map(|width| [0.0, 0.02, 0.5].map(|zeros| (width, zeros))) {
            let value = |random: &mut Random| {
                if random.unit() < zeros { 0.0 } else { (random.unit() - 0.5) as f32 }
            };
            let row: Vec<f32> = (0..width).map(|_| value(&mut random)).collect();
            let weights: Vec<f64> = (0..width).map(|_| random.unit() - 0.5).collect();
            let expected = plain_dot(&row, &weights).to_bits();
            assert_eq!(dot(&row, &weights).to_bits(), expected, "width {width}");
            #[cfg(target_arch = "x86_64")]
            if has_avx2() {
                #[expect(unsafe_code, reason = "only a check at run time can tell what the processor has")]
                // SAFETY: the processor has AVX2.
                let wide = unsafe { wide::dot(&row, &weights) };
                assert_eq!(wide.to_bits(), expected, "width {width}");
            }
            let others: Vec<Vec<f32>> =
                (1..SIDE_BY_SIDE).map(|_| (0..width).map(|_| value(&mut random)).collect()).collect();
            let mut rows = [&row[..]; SIDE_BY_SIDE];
            rows[1..].iter_mut().zip(&others).for_each(|(row, other)| *row = other);
            // A last one that is shorter keeps them from being read side by side.
            for n_left in [width, width.saturating_sub(1)] {
                rows[SIDE_BY_SIDE - 1] = &rows[SIDE_BY_SIDE - 1][..n_left];
                let alone = rows.map(|row| plain_dot(row, &weights[..row.len()]).to_bits());
                assert_eq!(dots(rows, &weights).map(f64::to_bits), alone, "width {width}");
            }
            let indices: Vec<u32> = (0..width as u32).filter(|&j| row[j as usize] != 0.0).collect();
            let values: Vec<f32> = indices.iter().map(|&j| row[j as usize]).collect();
            assert_eq!(sparse_dot(&indices, &values, &weights).to_bits(), expected, "width {width}");
            assert_eq!(row::sparse_dot(&indices, &values, &weights).to_bits(), expected, "width {width}");

            let (mut first, mut second) = (weights.clone(), weights.clone());
            add([0.3, -0.7], &row, [&mut first, &mut second]);
            for (amount, wide) in [(0.3, first), (-0.7, second)] {
                let mut plain = weights.clone();
                dense_add(amount, &row, &mut plain);
                assert_eq!(wide, plain, "width {width}");
            }
        }
    }

    #[test]
    fn many_outputs_at_once_are_each_alone_to_the_bit() {
        let mut random = Random::new(4);
        for (width, n_outputs) in [(1, 2), (5, 3), (40, 7), (40, 8), (300, 9), (70, 16), (33, 17), (20, 40)] {
            let weights: Vec<f64> = (0..width * n_outputs).map(|_| random.unit() - 0.5).collect();
            let columns = Columns { weights: &weights, width, n_outputs };
            let features: Vec<u32> = (0..width as u32).filter(|_| random.unit() < 0.7).collect();
            let values: Vec<f64> = features.iter().map(|_| random.unit() - 0.5).collect();
            for from in (0..n_outputs).step_by(SWEEP) {
                let outputs = from..n_outputs.min(from + SWEEP);
                let (mut wide, mut plain) = (Lanes::default(), Lanes::default());
                add_many(&mut wide, columns, outputs.clone(), &features, &values);
                add_many_plainly(&mut plain, columns, outputs.clone(), &features, &values);
                assert_eq!(wide.0, plain.0, "{width} by {n_outputs}");
            }
        }
    }

    #[test]
    fn blocks_of_outputs_are_swept_alike_in_registers_and_plainly() {
        let mut random = Random::new(6);
        for (width, n_outputs) in
            [(1, 2), (30, 3), (90, 5), (300, 8), (256, 9), (200, 10), (40, 12), (250, 16)]
        {
            // Zeros of both signs: what does not change keeps its sign.
            let mut number = |_| if random.unit() < 0.1 { -0.0 } else { random.unit() - 0.5 };
            let numbers: Vec<f64> = (0..width * n_outputs).map(&mut number).collect();
            let (mut wide, mut plain) =
                (Table::from_compact(&numbers, n_outputs), Table::from_compact(&numbers, n_outputs));
            let (mut sums, mut plain_sums) = (Sums::new(), Sums::new());
            // Two pieces of a row, of which only the last may be odd, and the changes that each asks for.
            for n in [width.min(PIECE) / 8 * 8, width.min(PIECE) - width.min(PIECE) / 3] {
                let features: Vec<u32> = (0..n).map(|_| random.below(width as u64) as u32).collect();
                let values: Vec<f64> = features.iter().map(|_| random.unit() - 0.5).collect();
                add_blocks(&mut sums, wide.blocks(), width, &features, &values);
                add_blocks_plainly(&mut plain_sums, plain.blocks(), width, &features, &values);
                let bits =
                    |sums: &Sums| sums.totals()[..n_outputs].iter().map(|s| s.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&sums), bits(&plain_sums), "{width} by {n_outputs}");

                let mut changes = [Change::default(); 2];
                for output in 0..n_outputs {
                    if random.unit() < 0.5 {
                        continue;
                    }
                    changes[output / BLOCK].amounts[output % BLOCK] = random.unit() - 0.5;
                    changes[output / BLOCK].outputs |= 1 << (output % BLOCK);
                }
                change_blocks(wide.blocks(), &changes, width, &features, &values);
                change_blocks_plainly(plain.blocks(), &changes, width, &features, &values);
                let bits = |table: &Table| table.compact().iter().map(|w| w.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&wide), bits(&plain), "{width} by {n_outputs}");
            }
        }
    }

    /// On every machine: wide registers check the features beforehand, the plain path checks each.
    #[test]
    fn a_row_that_is_too_wide_is_refused_before_anything_is_read() {
        let features = [0, 1, 2, 3, 4, 5, 6, 7, 900];
        let fits = std::panic::catch_unwind(|| sparse_dot(&features, &[1.0; 9], &[1.0; 901]));
        assert_eq!(fits.ok(), Some(9.0));
        let beyond = std::panic::catch_unwind(|| sparse_dot(&features, &[1.0; 9], &[1.0; 899]));
        assert!(beyond.is_err(), "a weight that is not there was read");
        let beyond = std::panic::catch_unwind(|| row::sparse_dot(&features, &[1.0; 9], &[1.0; 899]));
        assert!(beyond.is_err(), "a weight that is not there was read");
    }
}
