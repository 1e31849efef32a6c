//! Numbers for the search: doubles, and pairs of doubles with twice the digits where those do not suffice. For still
//! more digits there is [`crate::wide::Wide`].
//!
//! Pairs follow Dekker (1971): a sum or product of doubles is a double and an exact remainder, and the pair of
//! both is carried on. Plain operations only, so that the bits are the same on every machine.

use crate::integers::whole;
use crate::rows::shift;
use num_bigint::BigInt;
use std::fmt::Debug;
use std::ops::{Add, Div, Mul, Sub};

/// A real number, rounded somehow.
pub(crate) trait Real:
    Copy
    + Debug
    + Default
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
{
    /// Below which powers of two, one after the other, a length is worth trying as zero.
    const ZEROS: &'static [i32];
    /// How often a system is solved, each time for what the last solution left.
    const SOLVES: usize;
    /// About how large a rounding error is, relative to the result.
    fn doubt() -> Self;
    /// A double, exactly.
    fn of(value: f64) -> Self;
    /// The nearest double.
    fn near(self) -> f64;
    /// The square root.
    fn root(self) -> Self;
    /// Times a double.
    fn times(self, factor: f64) -> Self;
    /// Times a power of two.
    fn shifted(self, power: i32) -> Self;
    /// These numbers as integers, all multiplied by the same power of two.
    fn integers(numbers: &[Self]) -> Vec<BigInt>;

    /// `Σ a b`.
    fn product(a: &[Self], b: &[Self]) -> Self {
        a.iter().zip(b).fold(Self::default(), |sum, (&a, &b)| sum + a * b)
    }
}

impl Real for f64 {
    const ZEROS: &'static [i32] = &[-20, -30, -40, -50];
    const SOLVES: usize = 2;

    fn doubt() -> Self {
        f64::EPSILON
    }

    fn of(value: f64) -> Self {
        value
    }

    fn near(self) -> f64 {
        self
    }

    fn root(self) -> Self {
        self.sqrt()
    }

    fn times(self, factor: f64) -> Self {
        self * factor
    }

    fn shifted(self, power: i32) -> Self {
        shift(self, power)
    }

    fn integers(numbers: &[Self]) -> Vec<BigInt> {
        let pairs: Vec<Pair> = numbers.iter().map(|&number| Pair::of(number)).collect();
        Pair::integers(&pairs)
    }

    /// In eight lanes, so that it can use wide registers.
    fn product(a: &[Self], b: &[Self]) -> Self {
        let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
        let mut sums = [0.0; 8];
        for (a, b) in a.iter().zip(b) {
            for lane in 0..8 {
                sums[lane] += a[lane] * b[lane];
            }
        }
        let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
        sums.iter().sum::<f64>() + rest
    }
}

/// A number as the sum of two doubles, the second below the last place of the first.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd)]
pub(crate) struct Pair(f64, f64);

impl Pair {
    pub(crate) fn parts(self) -> (f64, f64) {
        (self.0, self.1)
    }
}

/// A sum and what rounding took from it.
fn two_sum(a: f64, b: f64) -> Pair {
    let sum = a + b;
    let of_b = sum - a;
    Pair(sum, (a - (sum - of_b)) + (b - of_b))
}

/// A product and what rounding took from it.
pub(crate) fn two_product(a: f64, b: f64) -> Pair {
    let halves = |x: f64| {
        let wide = 134_217_729.0 * x;
        let high = wide - (wide - x);
        (high, x - high)
    };
    let (product, (a1, a2), (b1, b2)) = (a * b, halves(a), halves(b));
    Pair(product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2)
}

/// A pair whose parts do not overlap.
fn tidy(high: f64, low: f64) -> Pair {
    let sum = high + low;
    Pair(sum, low - (sum - high))
}

impl Add for Pair {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let (Pair(high, low), Pair(below, rest)) = (two_sum(self.0, other.0), two_sum(self.1, other.1));
        let Self(high, low) = tidy(high, low + below);
        tidy(high, low + rest)
    }
}

impl Sub for Pair {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + Self(-other.0, -other.1)
    }
}

impl Mul for Pair {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let Self(high, low) = two_product(self.0, other.0);
        tidy(high, low + (self.0 * other.1 + self.1 * other.0))
    }
}

impl Div for Pair {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let first = Self::of(self.0 / other.0);
        let rest = self - first * other;
        let second = Self::of(rest.0 / other.0);
        let rest = rest - second * other;
        first + second + Self::of(rest.0 / other.0)
    }
}

impl Real for Pair {
    const ZEROS: &'static [i32] = &[-40, -60, -80, -100];
    const SOLVES: usize = 2;

    fn doubt() -> Self {
        Self(f64::EPSILON * f64::EPSILON, 0.0)
    }

    fn of(value: f64) -> Self {
        Self(value, 0.0)
    }

    fn near(self) -> f64 {
        self.0
    }

    fn times(self, factor: f64) -> Self {
        let Self(high, low) = two_product(self.0, factor);
        tidy(high, low + self.1 * factor)
    }

    fn shifted(self, power: i32) -> Self {
        Self(shift(self.0, power), shift(self.1, power))
    }

    fn integers(numbers: &[Self]) -> Vec<BigInt> {
        let doubles = numbers.iter().flat_map(|number| [number.0, number.1]).filter(|&double| double != 0.0);
        let low = doubles.map(|double| whole(double).1).min().unwrap_or(0);
        let integer = |value: f64| {
            let (mantissa, exponent) = whole(value);
            if mantissa == 0 { BigInt::ZERO } else { BigInt::from(mantissa) << (exponent - low) }
        };
        numbers.iter().map(|number| integer(number.0) + integer(number.1)).collect()
    }

    fn root(self) -> Self {
        if self.0 <= 0.0 {
            return Self::default();
        }
        let first = Self::of(self.0.sqrt());
        first + (self - first * first) / (first + first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_have_twice_the_digits() {
        let third = Pair::of(1.0) / Pair::of(3.0);
        let missing = third + third + third - Pair::of(1.0);
        assert!(missing.near().abs() < 1e-31, "{missing:?}");
        let root = Pair::of(2.0).root();
        assert!((root * root - Pair::of(2.0)).near().abs() < 1e-30, "{root:?}");
        assert!((2_f64.root() * 2_f64.root() - 2.0).abs() > 1e-17, "a double does not");
        let sum = Pair::of(1e20) + Pair::of(1.0) - Pair::of(1e20);
        assert_eq!(sum, Pair::of(1.0));
    }
}
