//! Two classes, one score: positive speaks for class 1, negative for class 0.

use super::{Decision, Problem};
use crate::convention::Zero;
use crate::random::Random;

/// Two classes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Binary;

impl Decision for Binary {
    const SOLE: bool = true;

    fn n_classes(&self) -> usize {
        2
    }

    fn n_outputs(&self) -> usize {
        1
    }

    #[inline(always)]
    fn problems(&mut self, class: u32, scores: &[f64], mut visit: impl FnMut(Problem<'_>)) {
        // Signs are set bit by bit, not branched to: nothing foresees which class comes next.
        let sign = u64::from(class ^ 1) << 63;
        let label = f64::from_bits(1.0_f64.to_bits() | sign);
        let margin = label * scores[0];
        visit(Problem { margin, label, directions: &[(0, label)], joint: false });
    }

    fn margin(&self, class: u32, scores: &[f64]) -> f64 {
        if class == 1 { scores[0] } else { -scores[0] }
    }

    #[inline(always)]
    fn decide(&self, scores: &[f64], zero: Zero, random: &mut Random) -> Option<u32> {
        side(scores[0], zero, random).map(u32::from)
    }
}

/// Whether a score is on the positive side; zero by convention.
#[inline(always)]
pub(super) fn side(score: f64, zero: Zero, random: &mut Random) -> Option<bool> {
    if score != 0.0 {
        return Some(score > 0.0);
    }
    match zero {
        Zero::Plus => Some(true),
        Zero::Minus => Some(false),
        Zero::Random => Some(random.below(2) == 1),
        Zero::Wrong => None,
    }
}
