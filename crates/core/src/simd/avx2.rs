//! The eight lanes in two registers, spelled out. Left alone the compiler cuts rows and weights in pieces that
//! straddle each other, and then every score after a step waits for the memory.

#![expect(unsafe_code, reason = "registers are filled through pointers")]

use super::Value;
use super::plain::dense_dot;
use std::arch::x86_64::{
    __m256, __m256d, _CMP_EQ_OQ, _mm_add_pd, _mm_cvtsd_f64, _mm_loadu_ps, _mm_unpackhi_pd, _mm256_add_pd,
    _mm256_castpd_ps, _mm256_castpd256_pd128, _mm256_cmp_pd, _mm256_cmp_ps, _mm256_cvtps_pd,
    _mm256_extractf128_pd, _mm256_loadu_pd, _mm256_loadu_ps, _mm256_movemask_ps, _mm256_mul_pd, _mm256_or_pd,
    _mm256_or_ps, _mm256_set_pd, _mm256_set1_pd, _mm256_setzero_pd, _mm256_setzero_ps, _mm256_storeu_pd,
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
            // SAFETY: this is compiled for AVX2, so the caller has seen that the processor has it.
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
    // SAFETY: this is compiled for AVX2, so the caller has seen that the processor has it.
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
        // SAFETY: this is compiled for AVX2, so the caller has seen that the processor has it.
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
