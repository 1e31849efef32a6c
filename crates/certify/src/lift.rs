//! Rows in the space of a polynomial kernel: every monomial a feature.
//!
//! Separability there does not depend on how long each monomial's axis is, so that the plain monomials serve
//! for every positive offset. Products of doubles are rounded; what is proved with them holds for the rows
//! themselves only if the checker, which multiplies exactly, agrees.

use crate::certificate::Polynomial;
use crate::rows::Rows;

/// The most values that are written down.
const MOST_VALUES: usize = 1 << 25;

/// The rows with all monomials for features; `None` if these are too many, or too large for doubles.
pub fn lift(rows: &Rows, kernel: Polynomial) -> Option<Rows> {
    if !kernel.is_small(rows.width()) {
        return None;
    }
    let monomials = kernel.monomials(rows.width());
    if monomials.len().saturating_mul(rows.len()) > MOST_VALUES {
        return None;
    }
    rows.map(monomials.len(), |entries, lifted| {
        let mut values = vec![0.0; rows.width() + 1];
        for &(feature, value) in entries {
            values[feature] = value;
        }
        values[rows.width()] = 1.0;
        for (feature, factors) in monomials.iter().enumerate() {
            lifted.push((feature, factors.iter().map(|&factor| values[factor]).product::<f64>()));
        }
    })
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
        let ask = |degree, homogeneous| {
            let kernel = Polynomial { degree, homogeneous };
            let lifted = lift(&xor, kernel).unwrap();
            let answer = decide(&lifted, Question::default(), &mut |_| ControlFlow::Continue(()));
            let certificate = answer.certificate(&xor, true, Some(kernel), [None, None]).unwrap();
            assert_eq!(check(&certificate, &xor), Ok(()));
            matches!(answer.verdict, Verdict::Separable(_))
        };
        assert!(ask(2, false) && ask(2, true), "x1 x2 tells them apart");
        assert!(!ask(1, false) && !ask(3, true), "odd products do not");
        assert!(lift(&xor, Polynomial { degree: 0, homogeneous: false }).is_none());
        assert!(lift(&xor, Polynomial { degree: u32::MAX, homogeneous: false }).is_none());
    }

    #[test]
    fn squares_that_doubles_cannot_hold_are_left_out() {
        let rows = Rows::from_points(&[[1e200], [-1e200]], &[true, false]);
        assert!(lift(&rows, Polynomial { degree: 2, homogeneous: false }).is_none());
    }
}
