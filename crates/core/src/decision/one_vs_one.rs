//! One output per pair of classes, each trained on the rows of its two classes only; most wins win.
//!
//! Pair `(a, b)` with `a < b` speaks for `a` when its score is positive and for `b` when negative; a
//! score of zero is half a win for both. Classes with equally many wins are compared by their summed
//! scores, then by convention.

use super::{Decision, Problem, highest};
use crate::convention::Zero;
use crate::random::Random;

/// Each class against each other one.
#[derive(Debug, Clone)]
pub struct OneVsOne {
    n_classes: usize,
    pairs: Vec<(u32, u32)>,
}

impl OneVsOne {
    /// For `n_classes` classes, which makes `n(n-1)/2` pairs.
    pub fn new(n_classes: usize) -> Self {
        let classes = 0..n_classes as u32;
        let pairs = classes.clone().flat_map(|a| (a + 1..classes.end).map(move |b| (a, b))).collect();
        Self { n_classes, pairs }
    }

    /// The pairs, in the order of their scores.
    pub fn pairs(&self) -> &[(u32, u32)] {
        &self.pairs
    }
}

impl Decision for OneVsOne {
    fn n_classes(&self) -> usize {
        self.n_classes
    }

    fn n_outputs(&self) -> usize {
        self.pairs.len()
    }

    fn problems(&mut self, class: u32, scores: &[f64], mut visit: impl FnMut(Problem<'_>)) {
        for (output, &(a, b)) in self.pairs.iter().enumerate() {
            let label = match class {
                _ if class == a => 1.0,
                _ if class == b => -1.0,
                _ => continue,
            };
            let margin = label * scores[output];
            visit(Problem { margin, label, directions: &[(output, label)], joint: false });
        }
    }

    /// The closest of the duels that the class is in.
    fn margin(&self, class: u32, scores: &[f64]) -> f64 {
        let duels = self.pairs.iter().zip(scores).filter_map(|(&(a, b), &score)| match class {
            _ if class == a => Some(score),
            _ if class == b => Some(-score),
            _ => None,
        });
        duels.fold(f64::INFINITY, f64::min)
    }

    fn decide(&self, scores: &[f64], zero: Zero, random: &mut Random) -> Option<u32> {
        let mut wins = vec![0_u32; self.n_classes];
        let mut sums = vec![0.0; self.n_classes];
        for (&(a, b), &score) in self.pairs.iter().zip(scores) {
            let (a, b) = (a as usize, b as usize);
            wins[a] += if score > 0.0 { 2 } else { u32::from(score == 0.0) };
            wins[b] += if score < 0.0 { 2 } else { u32::from(score == 0.0) };
            sums[a] += score;
            sums[b] -= score;
        }
        let most = wins.iter().copied().max().unwrap_or(0);
        let contenders: Vec<f64> = wins
            .iter()
            .zip(&sums)
            .map(|(&won, &sum)| if won == most { sum } else { f64::NEG_INFINITY })
            .collect();
        highest(&contenders, zero, random)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_classes_make_three_pairs_and_two_wins_win() {
        // Apple 0, banana 1, orange 2; apple beats banana, orange beats apple, orange beats banana.
        let decision = OneVsOne::new(3);
        assert_eq!(decision.pairs(), [(0, 1), (0, 2), (1, 2)]);
        assert_eq!(decision.decide(&[1.0, -1.0, -1.0], Zero::Minus, &mut Random::new(0)), Some(2));
    }

    #[test]
    fn a_circle_of_wins_is_settled_by_the_sums() {
        let decision = OneVsOne::new(3);
        assert_eq!(decision.decide(&[2.0, -1.0, 5.0], Zero::Minus, &mut Random::new(0)), Some(1));
    }
}
