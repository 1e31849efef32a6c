//! Where hypotheses live: plain weights, weights with variances, weights that move batch by batch.
//!
//! A [`Space`] scores rows and moves along them; it knows neither labels nor rules. The training loop
//! hands it the rows it is about to visit ([`Space::prepare`]), so that a space may score a whole
//! block at once (a matrix product, two cores) and keep those scores right while the hypothesis moves
//! inside the block. What a space promises is that [`Space::scores`] is always the score under the
//! hypothesis as it stands, however it got there.

mod batch;
mod diagonal;
mod linear;

pub use batch::Batch;
pub use diagonal::Diagonal;
pub use linear::{Linear, Planes};

use crate::convention::Bias;
use crate::examples::Examples;
use crate::memory::Memories;
use crate::row::Row;
use crate::state::Resumable;

/// The outline of a hypothesis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shape {
    /// Features; rows may be narrower.
    pub width: usize,
    /// How many scores a row gets: 1 for two classes.
    pub n_scorers: usize,
    /// How the bias enters.
    pub bias: Bias,
}

/// Which rows a pass visits, in order.
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

/// A move of one scorer: `w ← keep·w + amount·x`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Move {
    /// Which scorer moves.
    pub scorer: usize,
    /// How far along the row, label and example weight included.
    pub amount: f64,
    /// How much of the old weights stays.
    pub keep: f64,
    /// How strongly a second-order space shrinks its variance along the row.
    pub shrink: f64,
    /// What the scorer said of the row before the move.
    pub score: f64,
    /// In which round.
    pub round: u64,
}

/// A hypothesis as others may look at it.
pub trait Hypothesis {
    /// How many scores a row gets.
    fn n_scorers(&self) -> usize;

    /// The weights of one scorer.
    fn weights(&self, scorer: usize) -> Vec<f64>;

    /// The bias of one scorer.
    fn bias(&self, scorer: usize) -> f64;

    /// `‖w‖²` of one scorer, bias coordinate included where there is one.
    fn norm2(&self, scorer: usize) -> f64;

    /// How often this scorer has moved.
    fn moves(&self, scorer: usize) -> u64;
}

/// A hypothesis as the training loop needs it.
pub trait Space: Hypothesis {
    /// What is remembered of past hypotheses beside the current one.
    type Memory;

    /// Into blocks of how many rows the loop cuts its visits. Results may depend on it only where a
    /// space says so (a mini-batch); a space that merely scores ahead gives the same bits for all.
    fn block(&self) -> usize {
        usize::MAX
    }

    /// The loop is about to visit `visits`, at most one block, in this order.
    fn prepare<E: Examples>(&mut self, _examples: E, _visits: Visits<'_>) {}

    /// The scores of the row at place `place` of the prepared block, under the current hypothesis.
    fn scores<R: Row>(&self, place: usize, row: R, scores: &mut [f64]);

    /// [`Space::scores`] where there is one scorer, with whatever can be looked up beforehand looked up.
    #[inline(always)]
    fn sole_scorer<R: Row>(&self) -> impl Fn(usize, R) -> f64 {
        |place, row| {
            let mut score = [0.0];
            self.scores(place, row, &mut score);
            score[0]
        }
    }

    /// `xᵀΣx`: the squared length of `row` in this space's metric for `scorer`.
    fn spread<R: Row>(&self, scorer: usize, row: R) -> f64;

    /// Moves along `row`, which is at place `place` of the prepared block, and tells `memory`.
    fn shift<R: Row>(&mut self, place: usize, row: R, step: Move, memory: &mut Self::Memory);

    /// The block is over; a space that holds moves back makes them now.
    fn settle(&mut self, _round: u64, _memory: &mut Self::Memory) {}

    /// Keep `‖w‖²` up to date from now on.
    fn track_norm(&mut self);

    /// Makes room for rows of `width` features; known weights stay.
    fn widen(&mut self, width: usize);
}

/// A space whose hypotheses are hyperplanes in the features, whatever else it keeps.
pub trait LinearSpace: Space<Memory = Memories> + Resumable + Clone + Send + Sync + 'static {
    /// Zero weights of the given shape.
    fn zero(shape: Shape) -> Self;

    /// The hyperplanes as they stand.
    fn linear(&self) -> &Linear;

    /// Starts from given hyperplanes instead of zero. Only before the first round.
    fn start_from(&mut self, planes: &Planes);
}
