//! Sums over one row in registers of eight doubles: all lanes in one.

#![expect(unsafe_code, reason = "registers are filled and emptied through pointers")]

use super::plain::{PIECE, Piece, Room};
use super::{ByColumns, DISTRUSTED, SIDE_BY_SIDE, TOO_WIDE, Value};
use std::arch::x86_64::{
    __m256i, __m512d, __m512i, _CMP_NEQ_UQ, _MM_HINT_T0, _mm_add_pd, _mm_cvtsd_f64, _mm_prefetch,
    _mm_unpackhi_pd, _mm256_add_epi32, _mm256_add_pd, _mm256_alignr_epi32, _mm256_castpd256_pd128,
    _mm256_cmplt_epi32_mask, _mm256_cmplt_epu32_mask, _mm256_extractf128_pd, _mm256_loadu_ps,
    _mm256_loadu_si256, _mm256_maskz_compress_epi32, _mm256_maskz_loadu_epi32, _mm256_set1_epi32,
    _mm256_setr_epi32, _mm256_storeu_si256, _mm512_add_pd, _mm512_castpd512_pd256, _mm512_castps512_ps256,
    _mm512_cmp_pd_mask, _mm512_cvtps_pd, _mm512_extractf64x4_pd, _mm512_i32gather_pd, _mm512_loadu_pd,
    _mm512_loadu_si512, _mm512_mask_i32gather_pd, _mm512_maskz_compress_pd, _mm512_maskz_loadu_pd,
    _mm512_maskz_loadu_ps, _mm512_mul_pd, _mm512_permutexvar_pd, _mm512_set1_pd, _mm512_setzero_pd,
    _mm512_shuffle_f64x2, _mm512_storeu_pd, _mm512_unpackhi_pd, _mm512_unpacklo_pd,
};

/// How many times eight features are taken for a row without zeros before it is found out whether it is one.
const TRUSTED: usize = 8;

/// How many values ahead to prefetch, where rows are long or contiguous.
const ANNOUNCED: usize = 256;

/// How many rows ahead to prefetch of each column, where rows lie column by column.
const COLUMN_ANNOUNCED: usize = 16;

/// Which lane comes to which place when all are moved on by this many places.
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
pub(super) fn first_places(n: usize) -> u8 {
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
        // SAFETY: this is compiled for AVX-512, so the caller has seen that the processor has it.
        let (row, weights) = unsafe { (T::up_to_eight(last), up_to_eight_doubles(weights_last)) };
        present &= nonzero(row) | !first_places(last.len());
        sums = _mm512_add_pd(sums, _mm512_mul_pd(weights, row));
    }
    if present != u8::MAX {
        return dot_with_zeros(&stored(lanes), row, weights, n_done * 8);
    }
    total(sums)
}

/// [`dot`] of several rows, if they are equally long. A zero makes the entries after it take other lanes, so that
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
        for row in eights {
            _mm_prefetch::<_MM_HINT_T0>(row[place].as_ptr().wrapping_add(ANNOUNCED).cast());
        }
        // SAFETY: this is compiled for AVX-512, so the caller has seen that the processor has it.
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

/// [`dot`] of all rows of a stretch, eight at a time.
#[inline(never)]
#[target_feature(enable = "avx512f,popcnt")]
pub(super) fn stretch_dots<T: Value>(values: &[T], weights: &[f64], sums: &mut [f64]) {
    let width = weights.len();
    assert_eq!(values.len(), width * sums.len(), "values fill the rows exactly");
    let n_together = sums.len() / 8 * 8;
    let (blocks, rest) = sums.split_at_mut(n_together);
    let mut n_distrusted = 0;
    for (block, sums) in blocks.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let rows = &values[8 * block * width..][..8 * width];
        let found = if n_distrusted == 0 { trusting_rows::<T, true>(rows, weights) } else { None };
        if let Some(found) = found {
            *sums = found;
            continue;
        }
        n_distrusted = if n_distrusted == 0 { DISTRUSTED } else { n_distrusted - 1 };
        for (half, sums) in sums.as_chunks_mut::<SIDE_BY_SIDE>().0.iter_mut().enumerate() {
            let row = |row: usize| &rows[(SIDE_BY_SIDE * half + row) * width..][..width];
            *sums = dots(std::array::from_fn(row), weights).expect("equally long rows");
        }
    }
    for (row, sum) in (n_together..).zip(rest) {
        *sum = dot(&values[row * width..][..width], weights);
    }
}

/// [`dot`] of eight contiguous rows with each of these vectors of weights, one after the other; false if one of the
/// features is zero.
#[inline(never)]
#[target_feature(enable = "avx512f")]
pub(super) fn trusting_products<T: Value>(
    rows: &[T],
    width: usize,
    weights: &[f64],
    sums: &mut [[f64; 8]],
) -> bool {
    let mut planes = weights.chunks_exact(width).zip(sums);
    let Some((weights, sums)) = planes.next() else { return true };
    let Some(found) = trusting_rows::<T, true>(rows, weights) else { return false };
    *sums = found;
    for (weights, sums) in planes {
        *sums = trusting_rows::<T, false>(rows, weights).expect("seen to have no zeros");
    }
    true
}

/// [`dot`] of eight contiguous rows; nothing if one of their features is zero. `FIRST` is for rows not looked at yet,
/// which are also asked for ahead of time.
#[inline]
#[target_feature(enable = "avx512f")]
fn trusting_rows<T: Value, const FIRST: bool>(rows: &[T], weights: &[f64]) -> Option<[f64; 8]> {
    let width = weights.len();
    assert_eq!(rows.len(), 8 * width, "eight rows");
    let (weight_eights, weights_last) = weights.as_chunks::<8>();
    let (mut lanes, mut present) = ([_mm512_setzero_pd(); 8], u8::MAX);
    for (place, weights) in weight_eights.iter().enumerate() {
        // SAFETY: this is compiled for AVX-512, so the caller has seen that the processor has it.
        let weights = unsafe { doubles(weights) };
        for (row, lanes) in lanes.iter_mut().enumerate() {
            let values = rows.as_ptr().wrapping_add(row * width + 8 * place);
            if FIRST {
                // Where the next eight rows have the same.
                _mm_prefetch::<_MM_HINT_T0>(values.wrapping_add(8 * width).cast());
            }
            // SAFETY: as above; each row has `width` values, of which these eight are some.
            let values = unsafe { T::eight(&*values.cast::<[T; 8]>()) };
            if FIRST {
                present &= nonzero(values);
            }
            *lanes = _mm512_add_pd(*lanes, _mm512_mul_pd(weights, values));
        }
    }
    if !weights_last.is_empty() {
        // SAFETY: as above.
        let weights = unsafe { up_to_eight_doubles(weights_last) };
        let past_end = !first_places(weights_last.len());
        for (row, lanes) in rows.chunks_exact(width).zip(&mut lanes) {
            // SAFETY: as above.
            let values = unsafe { T::up_to_eight(row.as_chunks::<8>().1) };
            if FIRST {
                present &= nonzero(values) | past_end;
            }
            *lanes = _mm512_add_pd(*lanes, _mm512_mul_pd(weights, values));
        }
    }
    (present == u8::MAX).then(|| stored(totals(&lanes)))
}

/// [`dot`] of eight rows that lie column by column, the first being row `first`, with each of these vectors of weights;
/// false if one of their features is zero.
#[inline(never)]
#[target_feature(enable = "avx512f")]
pub(super) fn column_products<T: Value>(
    columns: ByColumns<'_, T>,
    first: usize,
    weights: &[f64],
    sums: &mut [[f64; 8]],
) -> bool {
    let mut planes = weights.chunks_exact(columns.width()).zip(sums);
    let Some((weights, sums)) = planes.next() else { return true };
    let Some(found) = eight_by_columns::<T, true>(columns, first, weights) else { return false };
    *sums = found;
    for (weights, sums) in planes {
        *sums = eight_by_columns::<T, false>(columns, first, weights).expect("seen to have no zeros");
    }
    true
}

/// A lane of eight rows is a register here, so that what is added to which lane, and in which order, stays the same.
#[inline]
#[target_feature(enable = "avx512f")]
fn eight_by_columns<T: Value, const FIRST: bool>(
    columns: ByColumns<'_, T>,
    first: usize,
    weights: &[f64],
) -> Option<[f64; 8]> {
    let (mut lanes, mut present) = ([_mm512_setzero_pd(); 8], u8::MAX);
    let (eights, last) = weights.as_chunks::<8>();
    let mut add = |lane: usize, column: usize, weight: f64| {
        let values = columns.eight(column, first);
        if FIRST {
            // Two lines on: as many columns at once as there are are more than the memory guesses by itself.
            _mm_prefetch::<_MM_HINT_T0>(values.as_ptr().wrapping_add(COLUMN_ANNOUNCED).cast());
        }
        // SAFETY: this is compiled for AVX-512, so the caller has seen that the processor has it.
        let values = unsafe { T::eight(values) };
        if FIRST {
            present &= nonzero(values);
        }
        lanes[lane] = _mm512_add_pd(lanes[lane], _mm512_mul_pd(_mm512_set1_pd(weight), values));
    };
    for (number, eight) in eights.iter().enumerate() {
        for (lane, weight) in eight.iter().enumerate() {
            add(lane, 8 * number + lane, *weight);
        }
    }
    for (lane, weight) in last.iter().enumerate() {
        add(lane, 8 * eights.len() + lane, *weight);
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    let even = _mm512_add_pd(_mm512_add_pd(a, e), _mm512_add_pd(c, g));
    let odd = _mm512_add_pd(_mm512_add_pd(b, f), _mm512_add_pd(d, h));
    (present == u8::MAX).then(|| stored(_mm512_add_pd(even, odd)))
}

/// [`total`] of the lanes of eight rows, each in the same tree.
#[inline]
#[target_feature(enable = "avx512f")]
fn totals(lanes: &[__m512d; 8]) -> __m512d {
    // The halves of two rows, the quarters of four, and then the eighths of all.
    let halves = |one: __m512d, other: __m512d| {
        _mm512_add_pd(
            _mm512_shuffle_f64x2::<0b01_00_01_00>(one, other),
            _mm512_shuffle_f64x2::<0b11_10_11_10>(one, other),
        )
    };
    let quarters = |one: __m512d, other: __m512d| {
        _mm512_add_pd(
            _mm512_shuffle_f64x2::<0b10_00_10_00>(one, other),
            _mm512_shuffle_f64x2::<0b11_01_11_01>(one, other),
        )
    };
    let &[a, b, c, d, e, f, g, h] = lanes;
    let first = quarters(halves(a, b), halves(c, d));
    let second = quarters(halves(e, f), halves(g, h));
    let sums = _mm512_add_pd(_mm512_unpacklo_pd(first, second), _mm512_unpackhi_pd(first, second));
    // They came by turns.
    // SAFETY: an order is eight numbers, and loading needs no alignment.
    let order = unsafe { _mm512_loadu_si512([0_u64, 2, 4, 6, 1, 3, 5, 7].as_ptr().cast()) };
    _mm512_permutexvar_pd(order, sums)
}

/// The lanes if no feature is zero, and bits that are all set if that is so.
#[inline]
#[target_feature(enable = "avx512f")]
fn trusting<T: Value>(mut lanes: __m512d, rows: &[[T; 8]], weights: &[[f64; 8]]) -> (__m512d, u8) {
    let mut present = u8::MAX;
    for (row, weights) in rows.iter().zip(weights) {
        // SAFETY: this is compiled for AVX-512, so the caller has seen that the processor has it.
        let (row, weights) = unsafe { (T::eight(row), doubles(weights)) };
        present &= nonzero(row);
        lanes = _mm512_add_pd(lanes, _mm512_mul_pd(weights, row));
    }
    (lanes, present)
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn stored(lanes: __m512d) -> [f64; 8] {
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
    // SAFETY: this is compiled for AVX-512, so the caller has seen that the processor has it, and a turn is
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

#[inline(never)]
#[target_feature(enable = "avx512f,avx512vl")]
pub(super) fn unseen_dot<T: Value>(indices: &[u32], values: &[T], weights: &[f64]) -> Option<f64> {
    // Indices are taken for signed ones where they are looked up and compared; what is negative then is not known.
    let width = i32::try_from(weights.len()).expect("the caller has looked");
    let width = _mm256_set1_epi32(width);
    let (mut lanes, mut sound, mut before) = (_mm512_setzero_pd(), u8::MAX, _mm256_set1_epi32(-1));
    let mut take = |indices: __m256i, values: __m512d, present: u8| {
        let known = _mm256_cmplt_epu32_mask(indices, width) & present;
        let ascend = _mm256_cmplt_epi32_mask(_mm256_alignr_epi32::<7>(indices, before), indices);
        sound &= known & ascend & nonzero(values) | !present;
        // SAFETY: weights are looked up for indices below their number only.
        let weights =
            unsafe { _mm512_mask_i32gather_pd::<8>(_mm512_setzero_pd(), known, indices, weights.as_ptr()) };
        lanes = _mm512_add_pd(lanes, _mm512_mul_pd(weights, values));
        before = indices;
    };
    let (eights, last) = indices.as_chunks::<8>();
    let (value_eights, values_last) = values.as_chunks::<8>();
    for (indices, values) in eights.iter().zip(value_eights) {
        _mm_prefetch::<_MM_HINT_T0>(indices.as_ptr().wrapping_add(ANNOUNCED).cast());
        _mm_prefetch::<_MM_HINT_T0>(values.as_ptr().wrapping_add(ANNOUNCED).cast());
        // SAFETY: this is compiled for AVX-512, and the references are good for eight each.
        let (indices, values) = unsafe { (_mm256_loadu_si256(indices.as_ptr().cast()), T::eight(values)) };
        take(indices, values, u8::MAX);
    }
    let n = last.len().min(values_last.len());
    if n > 0 {
        let present = first_places(n);
        // SAFETY: as above, and only what is present is read.
        let indices = unsafe { _mm256_maskz_loadu_epi32(present, last.as_ptr().cast()) };
        // SAFETY: this is compiled for AVX-512.
        take(indices, unsafe { T::up_to_eight(&values_last[..n]) }, present);
    }
    (sound == u8::MAX).then(|| total(lanes))
}

#[target_feature(enable = "avx512f,avx512vl,popcnt")]
pub(super) fn gather_nonzero<T: Value>(values: &[T], first: u32, piece: &mut Piece) {
    let (eights, last) = values.as_chunks::<8>();
    assert!(piece.n + values.len() <= PIECE, "room for all");
    let (at_features, at_values) = (piece.features.as_mut_ptr(), piece.values.as_mut_ptr());
    let mut n = piece.n;
    let mut features =
        _mm256_add_epi32(_mm256_set1_epi32(first.cast_signed()), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
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
        // SAFETY: this is compiled for AVX-512, so the caller has seen that the processor has it.
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
