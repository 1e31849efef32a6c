//! One output per class, each trained on its class against all the others; the highest score wins.
//!
//! The outputs never meet while they learn: each makes the very steps it would make alone. Winning by
//! the highest score, not by the only positive sign, settles rows that several or no outputs claim.

use super::{Decision, Problem, highest};
use crate::convention::Zero;
use crate::random::Random;

/// Each class against the rest.
#[derive(Debug, Clone, Copy)]
pub struct OneVsRest {
    n_classes: usize,
}

impl OneVsRest {
    /// For `n_classes` classes.
    pub fn new(n_classes: usize) -> Self {
        Self { n_classes }
    }
}

impl Decision for OneVsRest {
    fn n_classes(&self) -> usize {
        self.n_classes
    }

    fn n_outputs(&self) -> usize {
        self.n_classes
    }

    fn add_class(&mut self) -> bool {
        self.n_classes += 1;
        true
    }

    fn problems(&mut self, class: u32, scores: &[f64], mut visit: impl FnMut(Problem<'_>)) {
        for (output, score) in scores.iter().enumerate() {
            let label = if output == class as usize { 1.0 } else { -1.0 };
            visit(Problem { margin: label * score, label, directions: &[(output, label)], joint: false });
        }
    }

    fn decide(&self, scores: &[f64], zero: Zero, random: &mut Random) -> Option<u32> {
        highest(scores, zero, random)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_banana_output_claims_the_row() {
        // "not apple", "banana", "not orange".
        let decision = OneVsRest::new(3);
        assert_eq!(decision.decide(&[-1.0, 1.0, -1.0], Zero::Minus, &mut Random::new(0)), Some(1));
    }
}
