//! Rows in the space of a polynomial kernel: every monomial a feature.
//!
//! Separability there does not depend on how long each monomial's axis is, so that the plain monomials serve
//! for every positive offset. A product of doubles has more digits than a double: it becomes a sum of doubles, the
//! nearest one first, so that nothing is rounded and what is proved holds for the rows themselves.

use crate::certificate::Polynomial;
use crate::exact::parts;
use crate::real::two_product;
use crate::rows::{Rows, shift};
use num_bigint::{BigInt, Sign};

/// The most values that are written down.
const MOST_VALUES: usize = 1 << 25;

/// The rows with all monomials for features; `None` if these are too many, or need digits beyond the range of doubles.
pub fn lift(rows: &Rows, kernel: Polynomial) -> Option<Rows> {
    if !kernel.is_small(rows.width()) {
        return None;
    }
    let monomials = kernel.monomials(rows.width());
    if monomials.len().saturating_mul(rows.len()) > MOST_VALUES {
        return None;
    }
    rows.map(monomials.len(), |entries, lifted, tails| {
        let mut values = vec![0.0; rows.width() + 1];
        for &(feature, value) in entries {
            values[feature] = value;
        }
        values[rows.width()] = 1.0;
        for (feature, factors) in monomials.iter().enumerate() {
            let mut factors = factors.iter().map(|&factor| values[factor]).filter(|&value| value != 1.0);
            let (one, two) = (factors.next().unwrap_or(1.0), factors.next().unwrap_or(1.0));
            let (product, rest) = two_product(one, two).parts();
            // Only of moderate size is what rounding took known exactly by this short way.
            let is_moderate = one == 0.0 || two == 0.0 || (1e-140..1e140).contains(&product.abs());
            if let (None, true) = (factors.next(), is_moderate) {
                lifted.push((feature, product));
                tails.extend((rest != 0.0).then_some((feature, rest)));
                continue;
            }
            let (first, more) = sum_of_doubles(&monomials[feature], &values)?;
            lifted.push((feature, first));
            tails.extend(more.into_iter().map(|value| (feature, value)));
        }
        Some(())
    })
}

/// Doubles that add up to the product of these values: the nearest one, then the nearest one to what is left.
fn sum_of_doubles(factors: &[usize], values: &[f64]) -> Option<(f64, Vec<f64>)> {
    let (mut rest, mut exponent) = (BigInt::from(1), 0);
    for &factor in factors {
        let (mantissa, power) = parts(values[factor]);
        rest *= if values[factor] < 0.0 { -BigInt::from(mantissa) } else { BigInt::from(mantissa) };
        exponent += power;
    }
    let mut doubles = Vec::new();
    while rest != BigInt::ZERO {
        // The first 64 bits round to the nearest double but for ties, which the next one makes up for.
        let spare = rest.bits().saturating_sub(64);
        let head = u64::try_from(rest.magnitude() >> spare).ok()? as f64;
        let head = if rest.sign() == Sign::Minus { -head } else { head };
        let value = shift(head, exponent + spare as i32);
        if !value.is_finite() || value.abs() < f64::MIN_POSITIVE {
            return None;
        }
        doubles.push(value);
        // `head` is a multiple of 2^11 if anything was cut off, or a short integer.
        rest -= BigInt::from(head as i128) << spare;
    }
    let first = if doubles.is_empty() { 0.0 } else { doubles.remove(0) };
    Some((first, doubles))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Question, Verdict, check, decide};
    use std::ops::ControlFlow;

    #[test]
    fn the_corners_of_a_square_are_separable_in_the_space_of_squares() {
        let corners = [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]];
        let xor = Rows::from_points(&corners, &[true, false, false, true]);
        let ask = |degree, offset| {
            let kernel = Polynomial { degree, offset };
            let lifted = lift(&xor, kernel).unwrap();
            let mut answer = decide(&lifted, Question::default(), &|_| ControlFlow::Continue(()));
            // The margin of plain monomials is not the kernel's.
            answer.nearest.clear();
            let certificate = answer.certificate(&xor, true, Some(kernel), [None, None]).unwrap();
            assert_eq!(check(&certificate, &xor), Ok(()));
            matches!(answer.verdict, Verdict::Separable(_))
        };
        assert!(ask(2, 1.0) && ask(2, 0.0), "x1 x2 tells them apart");
        assert!(!ask(1, 1.0) && !ask(3, 0.0), "odd products do not");
        assert!(lift(&xor, Polynomial { degree: 0, offset: 1.0 }).is_none());
        assert!(lift(&xor, Polynomial { degree: u32::MAX, offset: 1.0 }).is_none());
    }

    #[test]
    fn products_that_doubles_cannot_hold_are_left_out() {
        for value in [1e200, 1e-200] {
            let rows = Rows::from_points(&[[value], [-value]], &[true, false]);
            assert!(lift(&rows, Polynomial { degree: 2, offset: 1.0 }).is_none());
        }
    }

    #[test]
    fn products_are_exact() {
        let rows = Rows::from_points(&[[0.1, -0.7, 1e150]], &[true]);
        for degree in [2, 3] {
            let kernel = Polynomial { degree, offset: 0.0 };
            let lifted = lift(&Rows::from_points(&[[0.1, -0.7, 1e30]], &[true]), kernel).unwrap();
            for (feature, factors) in kernel.monomials(3).iter().enumerate() {
                let integer = |value: f64| {
                    let (mantissa, exponent) = parts(value);
                    let size = BigInt::from(mantissa) << (exponent + 1074);
                    if value < 0.0 { -size } else { size }
                };
                let exact: BigInt =
                    factors.iter().map(|&factor| integer([0.1, -0.7, 1e30][factor])).product();
                let sum: BigInt =
                    lifted.exact(0).filter(|&(j, _)| j == feature).map(|(_, value)| integer(value)).sum();
                assert_eq!(sum << (1074 * (degree - 1)), exact, "{factors:?}");
            }
        }
        assert!(lift(&rows, Polynomial { degree: 3, offset: 0.0 }).is_none());
    }
}
