//! Numbers to predict: one score, which is to equal the target of its row.
//!
//! Rows carry the place of their target in a table of the different ones, as they carry the number of a class. The problem
//! of a row is its residual `r = t - f(x)`: its sign is the side the row is on, and the margin is `-|r|`. A rule's step
//! `w += tau y x` is then a gradient step on whatever loss the rule measures `|r|` by.

use super::{Decision, Problem};
use crate::convention::Zero;
use crate::random::Random;
use std::sync::Arc;

/// Targets that are numbers.
#[derive(Debug, Clone, Default)]
pub struct Numbers {
    targets: Arc<[f64]>,
}

impl Numbers {
    /// The different targets, by the number that a row carries.
    pub fn new(targets: impl Into<Arc<[f64]>>) -> Self {
        Self { targets: targets.into() }
    }
}

impl Decision for Numbers {
    fn n_classes(&self) -> usize {
        self.targets.len()
    }

    fn n_outputs(&self) -> usize {
        1
    }

    fn problems(&mut self, class: u32, scores: &[f64], mut visit: impl FnMut(Problem<'_>)) {
        let residual = self.targets[class as usize] - scores[0];
        let label = if residual < 0.0 { -1.0 } else { 1.0 };
        visit(Problem { margin: -residual.abs(), label, directions: &[(0, label)], joint: false });
    }

    fn margin(&self, class: u32, scores: &[f64]) -> f64 {
        -(self.targets[class as usize] - scores[0]).abs()
    }

    /// No score is a class.
    fn decide(&self, _scores: &[f64], _zero: Zero, _random: &mut Random) -> Option<u32> {
        None
    }
}
