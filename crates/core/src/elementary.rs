//! Exponential, logarithm and hyperbolic tangent, out of additions, products and quotients alone.
//!
//! The functions of a system's library give other bits on another system, and on another processor of the same
//! one. What is learned must not depend on that. Nothing is fused and nothing branches, so that a loop over many
//! values fills wide registers, and a device that rounds as IEEE 754 says gives the same bits.

use std::f64::consts::{LN_2, LOG2_E, SQRT_2};

/// Added and taken away again, it leaves the nearest whole number; added, it leaves that number in the lowest bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0;

/// `ln 2` in two parts: the products of the first with whole numbers below 2^20 are exact.
const LN_2_HIGH: f64 = f64::from_bits(0x3FE6_2E42_FEE0_0000);
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// `e^x`, to one unit in the last place.
#[inline(always)]
#[must_use]
pub fn exp(x: f64) -> f64 {
    let (twos, rest) = split(x);
    // The power of two is taken in two steps, as neither it nor the result need be a normal number.
    let half = (0.5 * twos + ROUNDER) - ROUNDER;
    let within = (1.0 + exp_m1_of_small(rest)) * power_of_two(half) * power_of_two(twos - half);
    let not_below = if x < -746.0 { 0.0 } else { within };
    if x > 710.0 { f64::INFINITY } else { not_below }
}

/// `e^x - 1`, to two units in the last place, however small `x` is.
#[inline(always)]
#[must_use]
pub fn exp_m1(x: f64) -> f64 {
    let (twos, rest) = split(x.clamp(-746.0, 709.0));
    let power = power_of_two(twos.max(-1000.0));
    let below_overflow = power * exp_m1_of_small(rest) + (power - 1.0);
    if x > 709.0 { exp(x) } else { below_overflow }
}

/// The hyperbolic tangent, to four units in the last place.
#[inline(always)]
#[must_use]
pub fn tanh(x: f64) -> f64 {
    // Beyond 20 it is 1 to the last bit.
    let (twos, rest) = split(2.0 * x.abs().clamp(0.0, 20.0));
    let power = power_of_two(twos);
    let grown = power * exp_m1_of_small(rest) + (power - 1.0);
    (grown / (grown + 2.0)).copysign(x)
}

/// The logistic function `1 / (1 + e^-x)`.
#[inline(always)]
#[must_use]
pub fn logistic(x: f64) -> f64 {
    // The exponent is never positive, so nothing overflows.
    let small = exp(-x.abs());
    let numerator = if x >= 0.0 { 1.0 } else { small };
    numerator / (1.0 + small)
}

/// The natural logarithm, to two units in the last place.
#[must_use]
pub fn ln(x: f64) -> f64 {
    if x < f64::MIN_POSITIVE {
        return match x {
            0.0 => f64::NEG_INFINITY,
            x if x > 0.0 => ln(x * (1_u64 << 54) as f64) - 54.0 * LN_2,
            _ => f64::NAN,
        };
    }
    if !x.is_finite() {
        return x;
    }
    let bits = x.to_bits();
    let mut exponent = (bits >> 52) as i32 - 1023;
    let mut mantissa = f64::from_bits((bits & 0x000F_FFFF_FFFF_FFFF) | 0x3FF0_0000_0000_0000);
    if mantissa > SQRT_2 {
        mantissa /= 2.0;
        exponent += 1;
    }
    // ln m = 2 artanh((m - 1) / (m + 1)), whose argument is at most 0.172.
    let small = (mantissa - 1.0) / (mantissa + 1.0);
    let square = small * small;
    let mut sum = 0.0;
    for odd in (1..=23).rev().step_by(2) {
        sum = sum * square + 1.0 / f64::from(odd);
    }
    2.0 * small * sum + f64::from(exponent) * LN_2
}

/// `ln(1 + x)` for `x` between 0 and 1.
#[must_use]
pub fn ln_1p_of_share(x: f64) -> f64 {
    // What the sum loses of `x` is put back by the slope of the logarithm (Kahan).
    let sum = 1.0 + x;
    ln(sum) + (x - (sum - 1.0)) / sum
}

/// `x = twos · ln 2 + rest`, with a whole number of twos and the rest at most half of `ln 2`.
#[inline(always)]
fn split(x: f64) -> (f64, f64) {
    let twos = (x * LOG2_E + ROUNDER) - ROUNDER;
    (twos, (x - twos * LN_2_HIGH) - twos * LN_2_LOW)
}

/// `2^power` for a whole number of a normal double's exponents.
#[inline(always)]
fn power_of_two(power: f64) -> f64 {
    f64::from_bits((power + ROUNDER).to_bits().wrapping_add(1023) << 52)
}

/// `e^x - 1` for `|x| <= 0.35`: Taylor's series, whose first term left out is 1e-17 of the sum. Neighbouring terms
/// are added first (Estrin), since a chain of thirteen steps would be three times as long.
#[inline(always)]
fn exp_m1_of_small(x: f64) -> f64 {
    /// `1 / (k + 2)!`.
    const TERMS: [f64; 12] = {
        let mut terms = [0.5; 12];
        let mut k = 1;
        let mut factorial = 2.0;
        while k < 12 {
            factorial *= (k + 2) as f64;
            terms[k] = 1.0 / factorial;
            k += 1;
        }
        terms
    };
    let pair = |k: usize| TERMS[k] + x * TERMS[k + 1];
    let square = x * x;
    let fourth = square * square;
    let four = |k: usize| pair(k) + square * pair(k + 2);
    let sum = (four(0) + fourth * four(4)) + (fourth * fourth) * four(8);
    x + square * sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    /// How many doubles apart two numbers are.
    fn apart(a: f64, b: f64) -> u128 {
        let place = |x: f64| {
            let size = i128::from(x.abs().to_bits());
            if x.is_sign_negative() { -size } else { size }
        };
        place(a).abs_diff(place(b))
    }

    #[test]
    fn the_functions_are_those_of_the_library_to_the_last_digits() {
        let mut random = Random::new(3);
        for round in 0_i32..200_000 {
            let size = [1e-6, 1.0, 40.0, 1500.0][(round % 4).unsigned_abs() as usize];
            let x = (random.unit() - 0.5) * size;
            assert!(apart(exp(x), x.exp()) <= 1, "exp {x}");
            assert!(apart(exp_m1(x), x.exp_m1()) <= 2, "exp_m1 {x}");
            assert!(apart(tanh(x), x.tanh()) <= 4, "tanh {x}");
            assert!((logistic(x) - 1.0 / (1.0 + (-x).exp())).abs() < 3e-16, "logistic {x}");
            let positive = x.abs() * 10_f64.powi(round % 600 - 300);
            assert!(
                (ln(positive) - positive.ln()).abs() <= 5e-16 * (1.0 + positive.ln().abs()),
                "ln {positive}"
            );
            let share = random.unit();
            assert!(apart(ln_1p_of_share(share), share.ln_1p()) <= 4, "ln_1p {share}");
        }
    }

    #[test]
    fn the_ends_of_the_range_are_those_of_the_library() {
        let same = |ours: f64, library: f64| ours.is_nan() && library.is_nan() || apart(ours, library) <= 3;
        let ends = [
            0.0, 1.0, 5e-324, 2.3e-308, 1e-30, 20.0, 22.0, 700.0, 708.5, 709.5, 709.78, 709.79, 744.0, 745.13,
        ];
        let ends = ends.into_iter().chain([745.2, 746.0, 1e10, 1e300, f64::MAX, f64::INFINITY]);
        for x in ends.flat_map(|x| [x, -x]).chain([f64::NAN]) {
            assert!(same(exp(x), x.exp()), "exp {x}: {}", exp(x));
            assert!(same(exp_m1(x), x.exp_m1()), "exp_m1 {x}: {}", exp_m1(x));
            assert!(same(tanh(x), x.tanh()), "tanh {x}: {}", tanh(x));
            assert!(same(ln(x), x.ln()), "ln {x}: {}", ln(x));
        }
        assert_eq!((exp(0.0), exp(-0.0), exp_m1(0.0), ln(1.0)), (1.0, 1.0, 0.0, 0.0));
        assert_eq!(tanh(-0.0).to_bits(), (-0.0_f64).to_bits());
    }

    /// Models hold what these functions gave: they must never change.
    #[test]
    fn the_bits_are_pinned() {
        let mut random = Random::new(11);
        let mut mixed = 0_u64;
        for _ in 0..10_000 {
            let x = (random.unit() - 0.5) * 60.0;
            for value in [exp(x), exp_m1(x), tanh(x), logistic(x), ln(x.abs()), ln_1p_of_share(random.unit())]
            {
                mixed = mixed.rotate_left(7) ^ value.to_bits();
            }
        }
        assert_eq!(mixed, 10_381_273_765_293_582_939);
    }
}
