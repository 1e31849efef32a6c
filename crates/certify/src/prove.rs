//! What numbers of any length prove: a hyperplane with integers for weights, means with integers for shares.
//!
//! Where doubles have too few digits to say what was found, these say it, and the bounds are worked out without any
//! rounding but that of the last step.

use crate::exact::{parts, scale_down, scale_up};
use crate::rows::Rows;
use crate::watch::Clock;
use num_bigint::{BigInt, Sign};

/// A hyperplane with integers for weights that has every row strictly on its side.
pub(crate) struct Separated {
    pub(crate) weights: Vec<BigInt>,
    pub(crate) intercept: BigInt,
    /// A lower bound of its margin.
    pub(crate) at_least: f64,
}

/// The lowest exponent of any value, or of 1.
fn unit(rows: &Rows) -> i32 {
    let values =
        (0..rows.len()).flat_map(|idx| rows.exact(idx).map(|(_, value)| crate::integers::whole(value).1));
    values.fold(0, i32::min)
}

/// `value / 2^unit`.
fn integer(value: f64, unit: i32) -> BigInt {
    let (mantissa, exponent) = parts(value);
    let up = exponent - unit;
    let size = if up >= 0 { BigInt::from(mantissa) << up } else { BigInt::from(mantissa) >> -up };
    if value < 0.0 { -size } else { size }
}

/// Puts a hyperplane with these weights halfway between the sides, or through the origin, if it separates them.
pub(crate) fn separated(rows: &Rows, bias: bool, weights: &[BigInt], clock: &Clock<'_>) -> Option<Separated> {
    let unit = unit(rows);
    // Per side the score that is the farthest on the wrong one.
    let mut nearest: [Option<BigInt>; 2] = [None, None];
    for idx in 0..rows.len() {
        if clock.is_over() {
            return None;
        }
        let score: BigInt = rows.exact(idx).map(|(j, value)| &weights[j] * integer(value, unit)).sum();
        let own = if rows.is_positive(idx) { score } else { -score };
        let nearest = &mut nearest[usize::from(bias && rows.is_positive(idx))];
        if nearest.as_ref().is_none_or(|nearest| own < *nearest) {
            *nearest = Some(own);
        }
    }
    let (least, intercept, up) = match nearest {
        [Some(least), None] => (least, BigInt::ZERO, -unit),
        [Some(minus), Some(plus)] => (&plus + &minus, minus - plus, 1 - unit),
        _ => return None,
    };
    if least.sign() != Sign::Plus {
        return None;
    }
    let mut weights: Vec<BigInt> = weights.iter().map(|weight| weight << up).collect();
    let norm2: BigInt = weights.iter().map(|weight| weight * weight).sum();
    if norm2.sign() != Sign::Plus {
        return None;
    }
    let at_least = root(&(&least * &least), &norm2, 0).0;
    let mut intercept = intercept;
    // The same hyperplane in fewer digits.
    let spare = weights.iter().chain([&intercept]).filter_map(BigInt::trailing_zeros).min().unwrap_or(0);
    weights.iter_mut().chain([&mut intercept]).for_each(|weight| *weight >>= spare);
    Some(Separated { weights, intercept, at_least })
}

/// An upper bound of the margin: how far the means with these shares are apart, rounded up.
pub(crate) fn apart(rows: &Rows, bias: bool, shares: &[(usize, BigInt)]) -> f64 {
    let unit = unit(rows);
    let mut totals = [BigInt::ZERO, BigInt::ZERO];
    let mut sums = [vec![BigInt::ZERO; rows.width()], vec![BigInt::ZERO; rows.width()]];
    for (idx, share) in shares {
        let side = usize::from(rows.is_positive(*idx));
        totals[side] += share;
        rows.exact(*idx).for_each(|(j, value)| sums[side][j] += share * integer(value, unit));
    }
    let [minus, plus] = totals;
    let one = BigInt::from(1);
    let (of_plus, of_minus) = if bias { (&minus, &plus) } else { (&one, &one) };
    let parts = sums[1].iter().zip(&sums[0]).map(|(above, below)| above * of_plus - below * of_minus);
    let apart2: BigInt = parts.map(|part| &part * &part).sum();
    let whole = if bias { BigInt::from(2) * &plus * &minus } else { &plus + &minus };
    if whole.sign() == Sign::Plus { root(&apart2, &(&whole * &whole), unit).1 } else { f64::INFINITY }
}

/// Doubles that `√(a/b) · 2^power` lies between.
fn root(a: &BigInt, b: &BigInt, power: i32) -> (f64, f64) {
    if a.sign() == Sign::NoSign {
        return (0.0, 0.0);
    }
    // The quotient is brought to some 128 bits, its root to some 64.
    let up = (130 - (a.bits() as i64 - b.bits() as i64)) / 2;
    let (a, b) = if up >= 0 { (a << (2 * up), b.clone()) } else { (a.clone(), b << (-2 * up)) };
    let root = u128::try_from((a / b).sqrt()).unwrap_or(0);
    let spare = (128 - root.leading_zeros()).saturating_sub(53);
    let (head, exponent) = ((root >> spare) as f64, spare as i32 + power - up.clamp(-9000, 9000) as i32);
    // What was cut off is less than one unit of the last place.
    (scale_down(head, exponent), scale_up(head + 1.0, exponent))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::ControlFlow;

    #[test]
    fn roots_are_rounded_apart() {
        for (a, b, power) in [(2, 1, 0), (1, 3, 5), (4, 1, 0), (7, 1_000_000_007, -40)] {
            let (low, high) = root(&BigInt::from(a), &BigInt::from(b), power);
            let near = (f64::from(a) / f64::from(b)).sqrt() * 2_f64.powi(power);
            assert!(
                low <= near && near <= high && high - low <= 4.0 * f64::EPSILON * near,
                "{low} {near} {high}"
            );
        }
        let huge = BigInt::from(1) << 5000;
        assert_eq!(root(&huge, &BigInt::from(1), 0), (f64::MAX, f64::INFINITY));
        assert_eq!(root(&BigInt::from(1), &huge, 0), (0.0, 5e-324));
    }

    #[test]
    fn a_hyperplane_lies_halfway_and_its_margin_is_the_distance() {
        let rows = Rows::from_points(&[[3.0, 0.25], [1.0, 0.0], [-1.0, 7.0]], &[true, false, false]);
        let clock = Clock::new(&|_| ControlFlow::Continue(()));
        let found = separated(&rows, true, &[BigInt::from(3), BigInt::ZERO], &clock).unwrap();
        assert_eq!(found.intercept, BigInt::from(-2) * &found.weights[0], "at x = 2");
        assert!(found.at_least <= 1.0 && found.at_least > 1.0 - 1e-15);
        assert!(separated(&rows, true, &[BigInt::from(-3), BigInt::ZERO], &clock).is_none());
        assert!(separated(&rows, false, &[BigInt::from(1), BigInt::ZERO], &clock).is_none());
        let bound = apart(&rows, true, &[(0, BigInt::from(5)), (1, BigInt::from(9))]);
        let exact = (4.0_f64 + 0.0625).sqrt() / 2.0;
        assert!(bound >= exact && bound < exact * (1.0 + 1e-15), "{bound}");
    }
}
