//! The same code, compiled once more for processors with wide registers.
//!
//! The check is made once per block of plain rounds, and everything such a round calls is compiled into
//! the wide copy. Nothing here changes a result: the lanes of [`crate::row`] fix every order of addition,
//! and products and sums stay separate instructions, since only `avx2` is asked for, not `fma`. Only the
//! dense dot product has a second source, and a test holds the two together bit by bit.

use crate::row::{Value, dense_dot};

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
        // SAFETY: the one thing `wide_dot` needs is a processor with AVX2, and this one has it.
        return unsafe { wide_dot(row, weights) };
    }
    plain_dot(row, weights)
}

/// On its own: in the middle of a training loop its sums would not all find a register.
#[inline(never)]
fn plain_dot<T: Value>(row: &[T], weights: &[f64]) -> f64 {
    dense_dot(row, weights)
}

/// The eight lanes in two registers. Spelled out, since left alone the compiler cuts the lanes in pieces
/// that straddle those in which a step has written the weights, and then every score after a step waits
/// for the memory.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn wide_dot<T: Value>(row: &[T], weights: &[f64]) -> f64 {
    use std::arch::x86_64::{
        _mm_add_pd, _mm_cvtsd_f64, _mm_unpackhi_pd, _mm256_add_pd, _mm256_castpd256_pd128,
        _mm256_extractf128_pd, _mm256_mul_pd, _mm256_set_pd, _mm256_setzero_pd,
    };
    let weights = &weights[..row.len()];
    let (fours, few) = row.as_chunks::<4>();
    let (weight_fours, weight_few) = weights.as_chunks::<4>();
    // The half whose turn it is comes first.
    let (mut next, mut other) = (_mm256_setzero_pd(), _mm256_setzero_pd());
    for (row, weights) in fours.iter().zip(weight_fours) {
        let [a, b, c, d] = row.map(Value::wide);
        let [u, v, w, x] = *weights;
        let products = _mm256_mul_pd(_mm256_set_pd(x, w, v, u), _mm256_set_pd(d, c, b, a));
        (next, other) = (other, _mm256_add_pd(next, products));
    }
    if !few.is_empty() {
        let product = |k: usize| few.get(k).zip(weight_few.get(k)).map_or(0.0, |(x, w)| w * x.wide());
        next = _mm256_add_pd(next, _mm256_set_pd(0.0, product(2), product(1), product(0)));
    }
    let sums = _mm256_add_pd(next, other);
    let sums = _mm_add_pd(_mm256_castpd256_pd128(sums), _mm256_extractf128_pd::<1>(sums));
    _mm_cvtsd_f64(sums) + _mm_cvtsd_f64(_mm_unpackhi_pd(sums, sums))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn wide_and_plain_dot_products_agree_to_the_bit() {
        let mut random = Random::new(3);
        for width in (0..40).chain([63, 64, 65, 1000]) {
            let row: Vec<f32> = (0..width).map(|_| (random.unit() - 0.5) as f32).collect();
            let weights: Vec<f64> = (0..width).map(|_| random.unit() - 0.5).collect();
            assert_eq!(dot(&row, &weights).to_bits(), plain_dot(&row, &weights).to_bits(), "width {width}");
        }
    }
}
