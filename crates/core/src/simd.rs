//! The same code, compiled once more for processors with wide registers.
//!
//! The check is made once per block of plain rounds, and everything such a round calls is compiled into
//! the wide copy. Nothing here changes a result: the lanes of [`crate::row`] fix every order of addition,
//! and products and sums stay separate instructions, since only `avx2` is asked for, not `fma`. Only dense
//! sums and steps have a second source, and a test holds the two together bit by bit.

use crate::row::{Value, dense_add, dense_dot};

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
#[inline]
#[target_feature(enable = "avx2")]
fn with_avx2<W: Work>(work: W) -> W::Output {
    work.run()
}

/// [`dense_dot`] in the widest registers this machine has.
#[inline(always)]
pub(crate) fn dot<T: Value>(row: &[T], weights: &[f64]) -> f64 {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        #[expect(unsafe_code, reason = "only a check at run time can tell what the processor has")]
        // SAFETY: the one thing `wide::dot` needs is a processor with AVX2, and this one has it.
        return unsafe { wide::dot(row, weights) };
    }
    plain_dot(row, weights)
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

/// The eight lanes in two registers, spelled out. Left alone the compiler cuts rows and weights in pieces that
/// straddle each other, and then every score after a step waits for the memory.
#[cfg(target_arch = "x86_64")]
pub(crate) mod wide {
    #![expect(unsafe_code, reason = "registers are filled through pointers")]

    use crate::row::Value;
    use std::arch::x86_64::{
        __m256d, _mm_add_pd, _mm_cvtsd_f64, _mm_loadu_ps, _mm_unpackhi_pd, _mm256_add_pd,
        _mm256_castpd256_pd128, _mm256_cvtps_pd, _mm256_extractf128_pd, _mm256_loadu_pd, _mm256_mul_pd,
        _mm256_set_pd, _mm256_set1_pd, _mm256_setzero_pd, _mm256_storeu_pd,
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

    #[inline(never)]
    #[target_feature(enable = "avx2")]
    pub(super) fn dot<T: Value>(row: &[T], weights: &[f64]) -> f64 {
        let weights = &weights[..row.len()];
        let (eights, rest) = row.as_chunks::<8>();
        let (weight_eights, weight_rest) = weights.as_chunks::<8>();
        let (mut low, mut high) = (_mm256_setzero_pd(), _mm256_setzero_pd());
        for (row, weights) in eights.iter().zip(weight_eights) {
            let ([row_low, row_high], _) = row.as_chunks::<4>() else { unreachable!("eight are two fours") };
            let ([weights_low, weights_high], _) = weights.as_chunks::<4>() else {
                unreachable!("eight are two fours")
            };
            low = _mm256_add_pd(low, products(row_low, weights_low));
            high = _mm256_add_pd(high, products(row_high, weights_high));
        }
        if let (Some((row, few)), Some((weights, weight_few))) =
            (rest.split_first_chunk(), weight_rest.split_first_chunk())
        {
            low = _mm256_add_pd(low, products(row, weights));
            if !few.is_empty() {
                high = _mm256_add_pd(high, few_products(few, weight_few));
            }
        } else if !rest.is_empty() {
            low = _mm256_add_pd(low, few_products(rest, weight_rest));
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
        for width in (0..40).chain([63, 64, 65, 1000]) {
            let row: Vec<f32> = (0..width).map(|_| (random.unit() - 0.5) as f32).collect();
            let weights: Vec<f64> = (0..width).map(|_| random.unit() - 0.5).collect();
            assert_eq!(dot(&row, &weights).to_bits(), plain_dot(&row, &weights).to_bits(), "width {width}");

            let (mut first, mut second) = (weights.clone(), weights.clone());
            add([0.3, -0.7], &row, [&mut first, &mut second]);
            for (amount, wide) in [(0.3, first), (-0.7, second)] {
                let mut plain = weights.clone();
                dense_add(amount, &row, &mut plain);
                assert_eq!(wide, plain, "width {width}");
            }
        }
    }
}
