//! One output per class, learned together: only classes that beat the true one are pushed down.
//!
//! The multiclass perceptron after Kesler, with the ultraconservative shares of Crammer and Singer
//! (2003). The true class goes up by one step; the rivals that score at least as high share one step
//! down. All three shares are the plain perceptron when there are two classes. With [`Share::Max`] the
//! number of mistakes is at most `2R²/γ²`.

use super::{Decision, Problem, highest};
use crate::convention::Zero;
use crate::random::Random;

/// How the rivals that beat the true class share the step down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Share {
    /// The strongest rival takes all of it.
    #[default]
    Max,
    /// All rivals that score at least as high as the true class take the same part.
    Uniform,
    /// They take parts in proportion to their lead; the strongest takes all if none leads.
    Proportional,
}

/// All classes at once.
#[derive(Debug, Clone)]
pub struct Direct {
    n_classes: usize,
    share: Share,
    directions: Vec<(usize, f64)>,
}

impl Direct {
    /// For `n_classes` classes.
    pub fn new(n_classes: usize, share: Share) -> Self {
        Self { n_classes, share, directions: Vec::with_capacity(n_classes) }
    }
}

impl Decision for Direct {
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

    fn votes_jointly(&self) -> bool {
        true
    }

    fn problems(&mut self, class: u32, scores: &[f64], mut visit: impl FnMut(Problem<'_>)) {
        let truth = class as usize;
        let Some(strongest) = strongest_rival(truth, scores) else { return };
        let margin = scores[truth] - scores[strongest];
        self.directions.clear();
        self.directions.push((truth, 1.0));
        let rivals = (0..scores.len()).filter(|&rival| rival != truth && scores[rival] >= scores[truth]);
        match self.share {
            // A rule with a margin may act although no rival beats the truth; then the nearest rival yields.
            _ if margin > 0.0 => self.directions.push((strongest, -1.0)),
            Share::Max => self.directions.push((strongest, -1.0)),
            Share::Uniform => {
                let n_rivals = rivals.clone().count() as f64;
                self.directions.extend(rivals.map(|rival| (rival, -1.0 / n_rivals)));
            }
            Share::Proportional => {
                let lead: f64 = rivals.clone().map(|rival| scores[rival] - scores[truth]).sum();
                if lead == 0.0 {
                    self.directions.push((strongest, -1.0));
                } else {
                    let leading = rivals.filter(|&rival| scores[rival] > scores[truth]);
                    self.directions
                        .extend(leading.map(|rival| (rival, (scores[truth] - scores[rival]) / lead)));
                }
            }
        }
        visit(Problem { margin, label: 1.0, directions: &self.directions, joint: true });
    }

    fn decide(&self, scores: &[f64], zero: Zero, random: &mut Random) -> Option<u32> {
        highest(scores, zero, random)
    }
}

/// The wrong class with the highest score, the first of them if several have it.
pub(crate) fn strongest_rival(truth: usize, scores: &[f64]) -> Option<usize> {
    let rivals = (0..scores.len()).filter(|&rival| rival != truth);
    rivals.reduce(|best, rival| if scores[rival] > scores[best] { rival } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directions(share: Share, scores: &[f64]) -> Vec<(usize, f64)> {
        let mut shown = Vec::new();
        Direct::new(scores.len(), share).problems(0, scores, |problem| shown = problem.directions.to_vec());
        shown
    }

    #[test]
    fn rivals_share_the_step_down() {
        let scores = [1.0, 2.0, 4.0, 0.0];
        assert_eq!(directions(Share::Max, &scores), [(0, 1.0), (2, -1.0)]);
        assert_eq!(directions(Share::Uniform, &scores), [(0, 1.0), (1, -0.5), (2, -0.5)]);
        assert_eq!(directions(Share::Proportional, &scores), [(0, 1.0), (1, -0.25), (2, -0.75)]);
    }

    #[test]
    fn a_tie_is_shared_and_a_near_rival_yields_to_margin_rules() {
        assert_eq!(directions(Share::Proportional, &[0.0; 3]), [(0, 1.0), (1, -1.0)]);
        assert_eq!(directions(Share::Uniform, &[0.0; 3]), [(0, 1.0), (1, -0.5), (2, -0.5)]);
        assert_eq!(directions(Share::Uniform, &[2.0, 1.0, 0.5]), [(0, 1.0), (1, -1.0)]);
    }
}
