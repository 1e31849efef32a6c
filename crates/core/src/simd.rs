//! The same code, compiled once more for processors with wide registers.
//!
//! The check is made once per block of plain rounds, and everything such a round calls is compiled into
//! the wide copy. Nothing here changes a result: the lanes of [`crate::row`] fix every order of addition,
//! and products and sums stay separate instructions, since `fma` is never asked for. Sums over rows and steps
//! along dense ones have a second source, and a test holds the two together bit by bit.

use crate::row::{self, Piece, SIDE_BY_SIDE, Value, dense_add, dense_dot};
use std::ops::Range;

/// A piece of work. `run` must be `#[inline(always)]`, or the wide copy calls the plain one.
pub(crate) trait Work {
    /// What comes of it.
    type Output;

    /// Does it.
    fn run(self) -> Self::Output;
}

/// Does the work in the widest registers this machine has.
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

/// On its own like the wide copy: in the middle of a training loop it would not find registers enough.
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

/// How many scorers are summed in one sweep over a row.
pub(crate) const SWEEP: usize = 16;

/// The partial sums of up to [`SWEEP`] scorers, each in the lanes of [`crate::row`].
#[derive(Default)]
#[repr(align(64))]
pub(crate) struct Lanes(pub(crate) [[f64; SWEEP]; 8]);

/// The weights of several scorers, feature by feature.
#[derive(Clone, Copy)]
pub(crate) struct Columns<'a> {
    pub(crate) weights: &'a [f64],
    pub(crate) width: usize,
    pub(crate) n_scorers: usize,
}

/// Adds the products of some entries with the weights of these scorers, [`SWEEP`] at most, to their lanes. The first
/// entry is one for the first lane.
#[inline(always)]
pub(crate) fn add_many(
    lanes: &mut Lanes,
    columns: Columns<'_>,
    scorers: Range<usize>,
    features: &[u32],
    values: &[f64],
) {
    #[cfg(target_arch = "x86_64")]
    if has_avx512() {
        #[expect(unsafe_code, reason = "only a check at run time can tell what the processor has")]
        // SAFETY: the one thing this needs is a processor with AVX-512, and this one has it.
        return unsafe { widest::add_many(lanes, columns, scorers, features, values) };
    }
    add_many_plainly(lanes, columns, scorers, features, values);
}

fn add_many_plainly(
    lanes: &mut Lanes,
    columns: Columns<'_>,
    scorers: Range<usize>,
    features: &[u32],
    values: &[f64],
) {
    let Columns { weights, n_scorers, .. } = columns;
    for (place, (&feature, value)) in features.iter().zip(values).enumerate() {
        let first = feature as usize * n_scorers;
        let weights = &weights[first + scorers.start..first + scorers.end];
        for (sum, weight) in lanes.0[place % 8].iter_mut().zip(weights) {
            *sum += weight * value;
        }
    }
}

/// What takes registers of eight doubles: all lanes in one.
#[cfg(target_arch = "x86_64")]
pub(crate) mod widest {
    #![expect(unsafe_code, reason = "registers are filled and emptied through pointers")]

    use super::{Columns, Lanes, SWEEP};
    use crate::row::{PIECE, Piece, SIDE_BY_SIDE, Value};
    use std::arch::x86_64::{
        __m256i, __m512d, _CMP_NEQ_UQ, _mm_add_pd, _mm_cvtsd_f64, _mm_unpackhi_pd, _mm256_add_epi32,
        _mm256_add_pd, _mm256_castpd256_pd128, _mm256_cmplt_epu32_mask, _mm256_extractf128_pd,
        _mm256_loadu_ps, _mm256_loadu_si256, _mm256_maskz_compress_epi32, _mm256_maskz_loadu_epi32,
        _mm256_set1_epi32, _mm256_setr_epi32, _mm256_storeu_si256, _mm512_add_pd, _mm512_castpd512_pd256,
        _mm512_castps512_ps256, _mm512_cmp_pd_mask, _mm512_cvtps_pd, _mm512_extractf64x4_pd,
        _mm512_i32gather_pd, _mm512_load_pd, _mm512_loadu_pd, _mm512_loadu_si512, _mm512_mask_i32gather_pd,
        _mm512_maskz_compress_pd, _mm512_maskz_loadu_pd, _mm512_maskz_loadu_ps, _mm512_mul_pd,
        _mm512_permutexvar_pd, _mm512_set1_pd, _mm512_setzero_pd, _mm512_store_pd, _mm512_storeu_pd,
    };
    use std::ops::Range;

    /// How many times eight features are taken for a row without zeros before it is found out whether it is one.
    const TRUSTED: usize = 8;

    const TOO_WIDE: &str = "the row is wider than the weights";

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

    /// [`dot`] of several rows, if they are equally long and without a zero, so that all of them take their lanes alike.
    #[inline(never)]
    #[target_feature(enable = "avx512f,popcnt")]
    pub(super) fn dots<T: Value>(rows: [&[T]; SIDE_BY_SIDE], weights: &[f64]) -> Option<[f64; SIDE_BY_SIDE]> {
        let weights = &weights[..rows[0].len()];
        if rows.iter().any(|row| row.len() != weights.len()) {
            return None;
        }
        let (weight_eights, weights_last) = weights.as_chunks::<8>();
        let split = rows.map(|row| row.as_chunks::<8>());
        let mut lanes = [_mm512_setzero_pd(); SIDE_BY_SIDE];
        let mut from = 0;
        while from < weight_eights.len() {
            let some = from..weight_eights.len().min(from + TRUSTED);
            let weights = &weight_eights[some.clone()];
            // Equally long, so that nothing is checked any more.
            let rows = split.map(|(eights, _)| &eights[some.clone()][..weights.len()]);
            let mut present = u8::MAX;
            for (place, weights) in weights.iter().enumerate() {
                // SAFETY: this is compiled for AVX-512, so whoever calls it has seen that the processor has it.
                let weights = unsafe { doubles(weights) };
                for (lanes, row) in lanes.iter_mut().zip(rows) {
                    // SAFETY: as above.
                    let row = unsafe { T::eight(&row[place]) };
                    present &= nonzero(row);
                    *lanes = _mm512_add_pd(*lanes, _mm512_mul_pd(weights, row));
                }
            }
            if present != u8::MAX {
                return None;
            }
            from = some.end;
        }
        let mut sums = [0.0; SIDE_BY_SIDE];
        for ((sum, mut lanes), (_, last)) in sums.iter_mut().zip(lanes).zip(split) {
            // SAFETY: as above.
            let (row, weights) = unsafe { (T::up_to_eight(last), up_to_eight_doubles(weights_last)) };
            if nonzero(row) | !first_places(last.len()) != u8::MAX {
                return None;
            }
            lanes = _mm512_add_pd(lanes, _mm512_mul_pd(weights, row));
            *sum = total(lanes);
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
        let (eights, last) = values[..values.len().min(PIECE)].as_chunks::<8>();
        assert!(piece.n < 8, "what was lent is gone");
        let (at_features, at_values) = (piece.features.as_mut_ptr(), piece.values.as_mut_ptr());
        let mut n = piece.n;
        let mut features = _mm256_add_epi32(
            _mm256_set1_epi32(first.cast_signed()),
            _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
        );
        let put = |values: __m512d, features: __m256i, n: usize| {
            let found = nonzero(values);
            // SAFETY: fewer than eight entries were there and at most `PIECE` come to them, and a piece has room for
            // all of these and for eight more.
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
    pub(super) fn add_many(
        lanes: &mut Lanes,
        columns: Columns<'_>,
        scorers: Range<usize>,
        features: &[u32],
        values: &[f64],
    ) {
        if scorers.len() <= SWEEP / 2 {
            add_halves::<1>(lanes, columns, scorers, features, values);
        } else {
            add_halves::<2>(lanes, columns, scorers, features, values);
        }
    }

    /// For up to eight scorers, or up to sixteen: as many as find a register for every lane.
    #[inline(never)]
    #[target_feature(enable = "avx512f")]
    fn add_halves<const N: usize>(
        lanes: &mut Lanes,
        columns: Columns<'_>,
        scorers: Range<usize>,
        features: &[u32],
        values: &[f64],
    ) {
        let Columns { weights, width, n_scorers } = columns;
        let n = scorers.len();
        assert!(n <= N * 8 && scorers.end <= n_scorers && width * n_scorers <= weights.len());
        let present = [first_places(n), first_places(n.saturating_sub(8))];
        let first = &weights[scorers.start..];
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
                // SAFETY: only what is present is read, which ends with the last of these scorers' weights for a
                // feature that there is.
                let weights = unsafe {
                    let from = first.as_ptr().add(feature as usize * n_scorers + 8 * half);
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
    fn many_scorers_at_once_are_each_alone_to_the_bit() {
        let mut random = Random::new(4);
        for (width, n_scorers) in [(1, 2), (5, 3), (40, 7), (40, 8), (300, 9), (70, 16), (33, 17), (20, 40)] {
            let weights: Vec<f64> = (0..width * n_scorers).map(|_| random.unit() - 0.5).collect();
            let columns = Columns { weights: &weights, width, n_scorers };
            let features: Vec<u32> = (0..width as u32).filter(|_| random.unit() < 0.7).collect();
            let values: Vec<f64> = features.iter().map(|_| random.unit() - 0.5).collect();
            for from in (0..n_scorers).step_by(SWEEP) {
                let scorers = from..n_scorers.min(from + SWEEP);
                let (mut wide, mut plain) = (Lanes::default(), Lanes::default());
                add_many(&mut wide, columns, scorers.clone(), &features, &values);
                add_many_plainly(&mut plain, columns, scorers.clone(), &features, &values);
                assert_eq!(wide.0, plain.0, "{width} by {n_scorers}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "wider than the weights")]
    #[cfg(target_arch = "x86_64")]
    fn a_row_that_is_too_wide_is_refused_before_anything_is_read() {
        assert!(has_avx512(), "wider than the weights: this machine takes the plain path");
        sparse_dot(&[0, 1, 2, 3, 4, 5, 6, 7, 900], &[1.0; 9], &[1.0; 899]);
    }
}
