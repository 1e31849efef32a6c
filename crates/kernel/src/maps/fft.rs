//! The fast Fourier transform of lengths that are powers of two: all that a polynomial sketch needs of it.

use super::elementary::{cos_turns, sin_turns};

/// A complex number.
pub(super) type Complex = [f64; 2];

/// Transforms of one length.
#[derive(Debug, Clone)]
pub(super) struct Fft {
    /// The roots of unity of the longest stage; shorter stages use every second, fourth, …
    roots: Vec<Complex>,
}

impl Fft {
    /// Transforms of `length` numbers, a power of two.
    pub(super) fn new(length: usize) -> Self {
        assert!(length.is_power_of_two(), "a length that can be halved to the end");
        let turns = |k: usize| k as f64 / length as f64;
        Self { roots: (0..length / 2).map(|k| [cos_turns(turns(k)), -sin_turns(turns(k))]).collect() }
    }

    /// The transform in place, unscaled. Its inverse is the transform of the conjugate, conjugated and
    /// divided by the length.
    pub(super) fn transform(&self, values: &mut [Complex]) {
        let length = values.len();
        assert_eq!(length.max(2) / 2, self.roots.len().max(1), "the length it was made for");
        let n_bits = length.trailing_zeros();
        for place in 0..length {
            let other = place.reverse_bits() >> (usize::BITS - n_bits).min(usize::BITS - 1);
            if place < other {
                values.swap(place, other);
            }
        }
        let mut half = 1;
        while half < length {
            let stride = length / (2 * half);
            for pair in values.chunks_exact_mut(2 * half) {
                let (low, high) = pair.split_at_mut(half);
                for ((a, b), root) in low.iter_mut().zip(high).zip(self.roots.iter().step_by(stride)) {
                    let turned = product(*b, *root);
                    *b = [a[0] - turned[0], a[1] - turned[1]];
                    *a = [a[0] + turned[0], a[1] + turned[1]];
                }
            }
            half *= 2;
        }
    }
}

/// The product of two complex numbers.
#[inline(always)]
pub(super) fn product(a: Complex, b: Complex) -> Complex {
    [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use rosenblatt_core::Random;

    #[test]
    fn it_is_the_sum_that_defines_it() {
        let mut random = Random::new(2);
        for length in [1, 2, 4, 8, 64, 256] {
            let values: Vec<Complex> = (0..length).map(|_| [random.unit() - 0.5, random.unit()]).collect();
            let mut found = values.clone();
            Fft::new(length).transform(&mut found);
            for (k, found) in found.iter().enumerate() {
                let expected = values.iter().enumerate().fold([0.0; 2], |sum, (n, value)| {
                    let angle = -std::f64::consts::TAU * ((k * n) % length) as f64 / length as f64;
                    let term = product(*value, [angle.cos(), angle.sin()]);
                    [sum[0] + term[0], sum[1] + term[1]]
                });
                assert!((found[0] - expected[0]).abs() + (found[1] - expected[1]).abs() < 1e-11, "{length}");
            }
        }
    }
}
