//! Scores of rows without doubt: a bound on the rounding first, exact sums where it cannot decide.
//!
//! [`ExactSum`] is a fixed row of digits that is wide enough for any sum of products of doubles, so that it
//! never rounds, overflows or allocates. It is slow, and rarely asked: [`own_side`] first adds in doubles and
//! bounds what rounding can have done.

use crate::rows::Rows;

/// Digits of 32 bits from `2^-2148` up to `2^2048` and room above for carries.
const DIGITS: usize = 136;
/// The exponent of the lowest binary place.
const LOWEST: i32 = -2148;

/// A sum of products of doubles, exactly.
pub(crate) struct ExactSum {
    digits: [i64; DIGITS],
    /// How many products may still be added before carries must be passed on.
    room: u32,
}

impl ExactSum {
    pub(crate) fn new() -> Self {
        Self { digits: [0; DIGITS], room: 1 << 29 }
    }

    /// Adds `a · b`, both finite.
    pub(crate) fn add(&mut self, a: f64, b: f64) {
        let ((one, e_one), (two, e_two)) = (parts(a), parts(b));
        if one == 0 || two == 0 {
            return;
        }
        if self.room == 0 {
            self.carry();
        }
        self.room -= 1;
        let product = u128::from(one) * u128::from(two);
        let place = (e_one + e_two - LOWEST) as u32;
        let (first, shift) = ((place / 32) as usize, place % 32);
        let sign = if (a < 0.0) == (b < 0.0) { 1 } else { -1 };
        for digit in 0..4 {
            let shifted = ((product >> (32 * digit)) as u32 as u64) << shift;
            self.digits[first + digit] += sign * i64::from(shifted as u32);
            self.digits[first + digit + 1] += sign * (shifted >> 32) as i64;
        }
    }

    /// Brings every digit but the last to `0..2^32`.
    fn carry(&mut self) {
        let mut carried = 0;
        for digit in &mut self.digits[..DIGITS - 1] {
            let sum = *digit + carried;
            *digit = sum & 0xFFFF_FFFF;
            carried = sum >> 32;
        }
        self.digits[DIGITS - 1] += carried;
        self.room = 1 << 29;
    }

    /// Two doubles that the sum lies between; equal only for zero. Infinite beyond the range of doubles.
    pub(crate) fn bounds(mut self) -> (f64, f64) {
        self.carry();
        let is_negative = self.digits[DIGITS - 1] < 0;
        if is_negative {
            self.digits.iter_mut().for_each(|digit| *digit = -*digit);
            self.carry();
        }
        let Some(top) = self.digits.iter().rposition(|&digit| digit != 0) else { return (0.0, 0.0) };
        // The first 64 bits or more; what is cut off is less than one unit of their last place.
        let head = (0..3)
            .filter_map(|back| top.checked_sub(back))
            .fold(0_u128, |head, place| (head << 32) | self.digits[place] as u128);
        let last = LOWEST + 32 * (top.saturating_sub(2)) as i32;
        let spare = (128 - head.leading_zeros()).saturating_sub(53);
        let mantissa = (head >> spare) as f64;
        let exponent = last + spare as i32;
        let (low, high) = (scale_down(mantissa, exponent), scale_up(mantissa + 1.0, exponent));
        if is_negative { (-high, -low) } else { (low, high) }
    }
}

/// A finite double as a mantissa below `2^53` and an exponent.
pub(crate) fn parts(value: f64) -> (u64, i32) {
    let (exponent, fraction) = ((value.to_bits() >> 52) as i32 & 0x7FF, value.to_bits() & ((1 << 52) - 1));
    if exponent == 0 { (fraction, -1074) } else { (fraction | (1 << 52), exponent - 1075) }
}

/// `mantissa · 2^exponent`, or something smaller; `mantissa` is not negative.
pub(crate) fn scale_down(mantissa: f64, exponent: i32) -> f64 {
    let scaled = crate::rows::shift(mantissa, exponent);
    if scaled.is_infinite() {
        f64::MAX
    } else if scaled < f64::MIN_POSITIVE {
        // Steps of shifting may have rounded up.
        (scaled.next_down()).max(0.0)
    } else {
        scaled
    }
}

/// `mantissa · 2^exponent`, or something larger; `mantissa` is positive.
pub(crate) fn scale_up(mantissa: f64, exponent: i32) -> f64 {
    let scaled = crate::rows::shift(mantissa, exponent);
    if scaled < f64::MIN_POSITIVE { scaled.next_up() } else { scaled }
}

/// What `y (w·x + b)` lies between, quickly: added in doubles, with all that rounding may have done.
fn roughly(rows: &Rows, idx: usize, weights: &[f64], bias: f64) -> (f64, f64) {
    let (mut sum, mut size, mut n_terms) = (bias, bias.abs(), 4.0);
    for (feature, value) in rows.exact(idx) {
        let term = weights[feature] * value;
        sum += term;
        size += term.abs();
        n_terms += 1.0;
    }
    let own = rows.sign(idx) * sum;
    // The usual bound n u/(1 - n u) on the sum of moduli, doubled instead of reasoned about, and a little
    // for products below the range of normal numbers.
    let doubt = n_terms * (f64::EPSILON * size + f64::MIN_POSITIVE);
    if doubt.is_finite() { (own - doubt, own + doubt) } else { (f64::NEG_INFINITY, f64::INFINITY) }
}

/// What `y (w·x + b)` lies between, up to the last place or two.
pub(crate) fn exactly(rows: &Rows, idx: usize, weights: &[f64], bias: f64) -> (f64, f64) {
    let (mut sum, sign) = (ExactSum::new(), rows.sign(idx));
    sum.add(bias, sign);
    rows.exact(idx).for_each(|(feature, value)| sum.add(sign * weights[feature], value));
    sum.bounds()
}

/// What `y (w·x + b)` lies between. The sign is beyond doubt: both are positive, both negative or both zero.
pub(crate) fn own_side(rows: &Rows, idx: usize, weights: &[f64], bias: f64) -> (f64, f64) {
    let (low, high) = roughly(rows, idx, weights, bias);
    if low > 0.0 || high < 0.0 { (low, high) } else { exactly(rows, idx, weights, bias) }
}

/// A lower bound of the smallest `y (w·x + b)`, sharp to a few places even where rounding spoils doubles.
pub(crate) fn least_own_side(rows: &Rows, weights: &[f64], bias: f64) -> f64 {
    let mut nearest = f64::INFINITY;
    let rough: Vec<(f64, f64)> = (0..rows.len()).map(|idx| roughly(rows, idx, weights, bias)).collect();
    let highest = rough.iter().map(|&(_, high)| high).fold(f64::INFINITY, f64::min);
    for (idx, &(low, high)) in rough.iter().enumerate() {
        // Only rows that may be the nearest are worth exact digits, and only if doubles leave doubt.
        let is_sharp = low > highest || (low > 0.0 && high - low < 1e-14 * low);
        let low = if is_sharp { low } else { exactly(rows, idx, weights, bias).0 };
        nearest = nearest.min(low);
    }
    nearest
}

/// An upper bound of the length of a vector whose parts are of moderate size.
pub(crate) fn length_up(vector: &[f64]) -> f64 {
    let sum: f64 = vector.iter().map(|part| part * part).sum();
    let slack = (vector.len() as f64 + 8.0) * f64::EPSILON;
    ((sum * (1.0 + slack)) + f64::MIN_POSITIVE).sqrt() * (1.0 + 2.0 * f64::EPSILON)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rosenblatt_core::Random;

    #[test]
    fn exact_sums_see_what_doubles_lose() {
        let mut sum = ExactSum::new();
        for (a, b) in [(1e300, 1e8), (1e-300, 1e-8), (-1e300, 1e8)] {
            sum.add(a, b);
        }
        let (low, high) = sum.bounds();
        assert!(low <= 1e-308 && 1e-308 <= high && low > 0.0, "{low} {high}");
        let mut sum = ExactSum::new();
        for (a, b) in [(0.1, 3.0), (-0.3, 1.0)] {
            sum.add(a, b);
        }
        // 3 fl(0.1) - fl(0.3) is 2^-55 exactly.
        let (low, high) = sum.bounds();
        assert!(low <= 2_f64.powi(-55) && 2_f64.powi(-55) <= high && high < 1.0001 * low);
        let mut sum = ExactSum::new();
        sum.add(5e-324, 5e-324);
        sum.add(-f64::MAX, f64::MAX);
        let (low, high) = sum.bounds();
        assert!(low == f64::NEG_INFINITY && high == -f64::MAX);
    }

    #[test]
    fn random_sums_agree_with_integers() {
        let mut random = Random::new(4);
        for _ in 0..2000 {
            let (mut sum, mut expected) = (ExactSum::new(), 0_i128);
            for _ in 0..random.below(6) {
                let [a, b] = [0, 1].map(|_| random.below(1 << 20) as i64 - (1 << 19));
                sum.add(a as f64 / 1024.0, b as f64 * 2_f64.powi(40));
                expected += (i128::from(a) * i128::from(b)) << 30;
            }
            let (low, high) = sum.bounds();
            assert!(low as i128 <= expected && expected <= high as i128, "{low} {expected} {high}");
            assert_eq!(expected == 0, low == 0.0 && high == 0.0);
            assert!(expected == 0 || (low > 0.0) == (expected > 0));
        }
    }
}
