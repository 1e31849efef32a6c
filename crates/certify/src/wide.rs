//! Numbers with as many digits as are asked for: `N` words of 64 bits, and an exponent of any size.
//!
//! What doubles and pairs of doubles cannot tell apart, these can: the same search runs in them, only slower. Results
//! are cut off, not rounded to nearest; the search does not mind, and whatever it finds is verified.

use crate::exact::parts;
use crate::real::Real;
use num_bigint::{BigInt, BigUint};
use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Sub};

/// `±0.limbs · 2^exponent`, the lowest limb first, the highest bit of the last one set; or zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Wide<const N: usize> {
    sign: i8,
    exponent: i64,
    limbs: [u64; N],
}

impl<const N: usize> Default for Wide<N> {
    fn default() -> Self {
        Self { sign: 0, exponent: 0, limbs: [0; N] }
    }
}

/// Moves limbs up by fewer than 64 bits, and gives what falls out at the top.
fn shift_up(limbs: &mut [u64], bits: u32) -> u64 {
    if bits == 0 {
        return 0;
    }
    let mut carry = 0;
    for limb in limbs {
        let next = *limb >> (64 - bits);
        *limb = (*limb << bits) | carry;
        carry = next;
    }
    carry
}

impl<const N: usize> Wide<N> {
    /// Binary digits.
    const BITS: i64 = 64 * N as i64;

    /// The highest `N` limbs of a product or quotient, `0.limbs · 2^exponent`.
    fn of_limbs(sign: i8, limbs: &[u64], exponent: i64) -> Self {
        let Some(top) = limbs.iter().rposition(|&limb| limb != 0) else { return Self::default() };
        let zeros = limbs[top].leading_zeros();
        let mut kept = [0; N];
        // One more limb than is kept, so that shifting up brings in true digits.
        let at = |back: usize| top.checked_sub(back).map_or(0, |place| limbs[place]);
        for (back, limb) in kept.iter_mut().rev().enumerate() {
            *limb = if zeros == 0 { at(back) } else { (at(back) << zeros) | (at(back + 1) >> (64 - zeros)) };
        }
        let spare = 64 * (limbs.len() - 1 - top) as i64 + i64::from(zeros);
        Self { sign, exponent: exponent - spare, limbs: kept }
    }

    fn compare_size(&self, other: &Self) -> Ordering {
        self.exponent.cmp(&other.exponent).then_with(|| self.limbs.iter().rev().cmp(other.limbs.iter().rev()))
    }

    /// The sum or difference of sizes, `self` the larger.
    fn combine(self, other: Self, subtract: bool) -> Self {
        let apart = self.exponent - other.exponent;
        if apart >= Self::BITS {
            return self;
        }
        let (words, bits) = ((apart / 64) as usize, (apart % 64) as u32);
        let at = |place: usize| other.limbs.get(place).copied().unwrap_or(0);
        let mut limbs = [0; N];
        let mut carry = false;
        for (place, limb) in limbs.iter_mut().enumerate() {
            let low = at(place + words) >> bits;
            let shifted = if bits == 0 { low } else { low | (at(place + words + 1) << (64 - bits)) };
            let (first, over) = if subtract {
                self.limbs[place].overflowing_sub(shifted)
            } else {
                self.limbs[place].overflowing_add(shifted)
            };
            let (second, over_again) = if subtract {
                first.overflowing_sub(u64::from(carry))
            } else {
                first.overflowing_add(u64::from(carry))
            };
            (*limb, carry) = (second, over || over_again);
        }
        if carry {
            // A sum of 1 or more: one bit down.
            for place in 0..N {
                let above = if place + 1 < N { limbs[place + 1] } else { 1 };
                limbs[place] = (limbs[place] >> 1) | (above << 63);
            }
            return Self { sign: self.sign, exponent: self.exponent + 1, limbs };
        }
        Self::of_limbs(self.sign, &limbs, self.exponent)
    }

    fn magnitude(&self) -> BigUint {
        let words = self.limbs.iter().flat_map(|&limb| [limb as u32, (limb >> 32) as u32]);
        BigUint::new(words.collect())
    }

    /// `±magnitude · 2^exponent`.
    fn of_magnitude(sign: i8, magnitude: &BigUint, exponent: i64) -> Self {
        let limbs: Vec<u64> = magnitude.iter_u64_digits().collect();
        Self::of_limbs(sign, &limbs, exponent + 64 * limbs.len() as i64)
    }

    /// An integer times a power of two.
    #[cfg(test)]
    fn of_integer(value: &BigInt, exponent: i64) -> Self {
        let sign = value.cmp(&BigInt::ZERO) as i8;
        if sign == 0 {
            return Self::default();
        }
        Self::of_magnitude(sign, value.magnitude(), exponent)
    }
}

impl<const N: usize> PartialOrd for Wide<N> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(match (self.sign, other.sign) {
            (0, 0) => Ordering::Equal,
            (1, 1) => self.compare_size(other),
            (-1, -1) => other.compare_size(self),
            (one, two) => one.cmp(&two),
        })
    }
}

impl<const N: usize> Add for Wide<N> {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        if self.sign == 0 {
            return other;
        }
        if other.sign == 0 {
            return self;
        }
        let (large, small) =
            if self.compare_size(&other) == Ordering::Less { (other, self) } else { (self, other) };
        large.combine(small, self.sign != other.sign)
    }
}

impl<const N: usize> Sub for Wide<N> {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.add(Self { sign: -other.sign, ..other })
    }
}

impl<const N: usize> Mul for Wide<N> {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        if self.sign == 0 || other.sign == 0 {
            return Self::default();
        }
        // The upper half of the product, and one limb below it for its carry: low[0] is worth 2^-64(N+1).
        let (mut high, mut low) = ([0_u64; N], 0_u64);
        for (i, &a) in self.limbs.iter().enumerate() {
            let mut carry = 0_u64;
            for (j, &b) in other.limbs.iter().enumerate().skip(N - 1 - i) {
                let product = u128::from(a) * u128::from(b) + u128::from(carry);
                let place = if i + j + 1 == N { &mut low } else { &mut high[i + j - N] };
                let sum = product + u128::from(*place);
                *place = sum as u64;
                carry = (sum >> 64) as u64;
            }
            high[i] = carry;
        }
        let (sign, mut exponent) = (self.sign * other.sign, self.exponent + other.exponent);
        if high[N - 1] >> 63 == 0 {
            // Both are at least 1/2, so that one bit at most is missing.
            shift_up(&mut high, 1);
            high[0] |= low >> 63;
            exponent -= 1;
        }
        Self { sign, exponent, limbs: high }
    }
}

impl<const N: usize> Div for Wide<N> {
    type Output = Self;
    /// Zero where it is divided by zero: the search meets that only where it has lost its way, and stops.
    fn div(self, other: Self) -> Self {
        if self.sign == 0 || other.sign == 0 {
            return Self::default();
        }
        let quotient = (self.magnitude() << (64 * N + 1)) / other.magnitude();
        let exponent = self.exponent - other.exponent - Self::BITS - 1;
        Self::of_magnitude(self.sign * other.sign, &quotient, exponent)
    }
}

impl<const N: usize> Real for Wide<N> {
    const ZEROS: &'static [i32] = &[-60, -16 * N as i32, -32 * N as i32, -56 * N as i32];
    // There are digits to spare.
    const SOLVES: usize = 1;

    fn doubt() -> Self {
        Self::of(1.0).shifted(4 - 64 * N as i32)
    }

    fn of(value: f64) -> Self {
        let (mantissa, exponent) = parts(value);
        let sign = if value < 0.0 { -1 } else { 1 };
        Self::of_limbs(sign, &[mantissa], i64::from(exponent) + 64)
    }

    fn near(self) -> f64 {
        let head = self.limbs[N - 1] as f64;
        let exponent = (self.exponent - 64).clamp(-4000, 4000) as i32;
        f64::from(self.sign) * crate::rows::shift(head, exponent)
    }

    fn root(self) -> Self {
        if self.sign <= 0 {
            return Self::default();
        }
        let odd = self.exponent.rem_euclid(2);
        let root = (self.magnitude() << (64 * N as u64 + odd as u64)).sqrt();
        Self::of_magnitude(1, &root, (self.exponent - odd) / 2 - Self::BITS)
    }

    fn times(self, factor: f64) -> Self {
        let (mantissa, exponent) = parts(factor);
        if self.sign == 0 || mantissa == 0 {
            return Self::default();
        }
        let zeros = mantissa.leading_zeros();
        let mantissa = mantissa << zeros;
        let mut limbs = [0; N];
        let mut carry = 0_u64;
        let mut lowest = 0;
        for (place, &limb) in self.limbs.iter().enumerate() {
            let product = u128::from(limb) * u128::from(mantissa) + u128::from(carry);
            if place == 0 {
                lowest = product as u64;
            } else {
                limbs[place - 1] = product as u64;
            }
            carry = (product >> 64) as u64;
        }
        limbs[N - 1] = carry;
        let mut exponent = self.exponent + i64::from(exponent) + 64 - i64::from(zeros);
        if carry >> 63 == 0 {
            shift_up(&mut limbs, 1);
            limbs[0] |= lowest >> 63;
            exponent -= 1;
        }
        Self { sign: if factor < 0.0 { -self.sign } else { self.sign }, exponent, limbs }
    }

    fn integers(numbers: &[Self]) -> Vec<BigInt> {
        let lowest = |number: &Self| {
            let zeros = number.limbs.iter().position(|&limb| limb != 0).unwrap_or(0);
            number.exponent - Self::BITS + 64 * zeros as i64 + i64::from(number.limbs[zeros].trailing_zeros())
        };
        let low = numbers.iter().filter(|number| number.sign != 0).map(lowest).min().unwrap_or(0);
        let integer = |number: &Self| {
            let magnitude = BigInt::from(number.magnitude());
            let up = number.exponent - Self::BITS - low;
            let shifted = if up >= 0 { magnitude << up } else { magnitude >> -up };
            if number.sign < 0 { -shifted } else { shifted }
        };
        numbers.iter().map(|number| if number.sign == 0 { BigInt::ZERO } else { integer(number) }).collect()
    }

    fn shifted(self, power: i32) -> Self {
        Self { exponent: if self.sign == 0 { 0 } else { self.exponent + i64::from(power) }, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::Sign;
    use rosenblatt_core::Random;

    type Four = Wide<4>;

    /// Whether two numbers agree to all but the last few of their 256 digits.
    fn agrees(found: Four, expected: Four) -> bool {
        let (found, expected) = (found - expected, expected);
        found.sign == 0 || found.exponent < expected.exponent - 250
    }

    #[test]
    fn arithmetic_agrees_with_integers() {
        let mut random = Random::new(9);
        let mut draw = || {
            let n_bits = 1 + random.below(250);
            let mut value = BigInt::ZERO;
            for _ in 0..4 {
                value = (value << 64) + random.next();
            }
            let value = value >> (256 - n_bits);
            if random.below(2) == 0 { -value } else { value }
        };
        for _ in 0..20_000 {
            let (a, b) = (draw(), draw());
            let (x, y) = (Four::of_integer(&a, 0), Four::of_integer(&b, 0));
            assert!(agrees(x + y, Four::of_integer(&(&a + &b), 0)), "{a} + {b}");
            assert!(agrees(x - y, Four::of_integer(&(&a - &b), 0)), "{a} - {b}");
            assert!(agrees(x * y, Four::of_integer(&(&a * &b), 0)), "{a} * {b}");
            assert_eq!(x.partial_cmp(&y), a.partial_cmp(&b));
            if b.sign() != Sign::NoSign {
                let quotient = (&a << 600) / &b;
                assert!(agrees(x / y, Four::of_integer(&quotient, -600)), "{a} / {b}");
            }
            let factor = b.iter_u64_digits().next().unwrap_or(0) as u32;
            let by_double = x.times(-f64::from(factor) / 8.0);
            assert!(agrees(by_double, Four::of_integer(&(&a * -BigInt::from(factor)), -3)), "{a} * {factor}");
            let root = x.root();
            assert!(a.sign() == Sign::Minus || agrees(root * root, x), "{a}");
            assert_eq!(Real::integers(&[x, Four::of(1.0)])[0], a);
        }
    }

    #[test]
    fn doubles_go_in_and_out() {
        for value in [0.0, 1.0, -1.5, 0.1, 1e300, -1e-300, 5e-324, f64::MAX] {
            assert_eq!(Four::of(value).near(), value);
            assert_eq!((Four::of(value) * Four::of(2.0)).shifted(-1).near(), value);
        }
        let big = 2_f64.powi(900);
        assert_eq!(Four::of(big).times(big).times(1.0 / big).times(1.0 / big).near(), 1.0);
        assert!(Four::of(-1.0) < Four::default() && Four::default() < Four::of(1e-320));
    }
}
