//! Hypotheses: hyperplanes that stand still, hyperplanes that learn, and the words in which others speak of them.
//!
//! Nothing here knows rules, memories or the training loop; those look at hypotheses, and [`crate::space`] moves them.

mod hyperplanes;
mod linear;
mod table;

pub use hyperplanes::Hyperplanes;
pub use linear::Linear;
pub(crate) use linear::{Ahead, Output};
pub(crate) use table::Table;

use crate::convention::Bias;
use crate::examples::Examples;

/// The outline of a hypothesis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shape {
    /// Features; rows may be narrower.
    pub width: usize,
    /// How many scores a row gets: 1 for two classes.
    pub n_outputs: usize,
    /// How the bias enters.
    pub bias: Bias,
}

/// Which rows an epoch visits, in order.
#[derive(Debug, Clone, Copy)]
pub enum Visits<'a> {
    /// Rows `first..end` as they stand.
    Range {
        /// The first row.
        first: usize,
        /// One past the last row.
        end: usize,
    },
    /// These rows, in this order, repeats allowed.
    Listed(&'a [u32]),
}

impl<'a> Visits<'a> {
    /// All rows of `examples`, as they stand.
    pub fn all(examples: impl Examples) -> Self {
        Self::Range { first: 0, end: examples.len() }
    }

    /// How many rows are visited.
    #[inline]
    pub fn len(self) -> usize {
        match self {
            Self::Range { first, end } => end - first,
            Self::Listed(rows) => rows.len(),
        }
    }

    /// Whether no row is visited.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The row that is visited at place `place`.
    #[inline(always)]
    pub fn row(self, place: usize) -> usize {
        match self {
            Self::Range { first, .. } => first + place,
            Self::Listed(rows) => rows[place] as usize,
        }
    }

    /// The visits `from..to` of these.
    #[must_use]
    pub fn part(self, from: usize, to: usize) -> Visits<'a> {
        match self {
            Self::Range { first, .. } => Self::Range { first: first + from, end: first + to },
            Self::Listed(rows) => Self::Listed(&rows[from..to]),
        }
    }
}

/// A move of one output: `w ← keep·w + amount·x`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Move {
    /// Which output moves.
    pub output: usize,
    /// How far along the row, label and example weight included.
    pub amount: f64,
    /// How much of the old weights stays.
    pub keep: f64,
    /// For a space that keeps more than weights ([`Step::extra`](crate::Step::extra)).
    pub extra: f64,
    /// The output's score of the row before the move.
    pub score: f64,
    /// In which round.
    pub round: u64,
}

/// A hypothesis as others may look at it.
pub trait Hypothesis {
    /// How many scores a row gets.
    fn n_outputs(&self) -> usize;

    /// The weights of one output; none where a hypothesis is not made of weights.
    fn weights(&self, output: usize) -> Vec<f64>;

    /// The bias of one output.
    fn bias(&self, output: usize) -> f64;

    /// `‖w‖²` of one output, bias coordinate included where there is one.
    fn norm2(&self, output: usize) -> f64;

    /// How often this output has moved.
    fn moves(&self, output: usize) -> u64;
}
