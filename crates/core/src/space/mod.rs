//! Where hypotheses live: plain weights, weights with variances, weights with dual variables, weights that move batch
//! by batch, weights that are solved for.
//!
//! A [`Space`] scores rows and moves along them; it knows neither labels nor rules. The training loop
//! hands it the rows it is about to visit ([`Space::prepare`]), so that a space may score a whole
//! block at once (a matrix product, two cores) and keep those scores right while the hypothesis moves
//! inside the block. What a space promises is that [`Space::scores`] is always the score under the
//! hypothesis as it stands, however it got there.

mod batch;
mod diagonal;
mod dual;
mod linear;
mod normal;

pub use crate::hypothesis::{Hyperplanes, Hypothesis, Linear, Move, Shape, Visits};
pub use batch::Batch;
pub use diagonal::Diagonal;
pub use dual::Dual;
pub use normal::Normal;

use crate::examples::Examples;
use crate::memory::{Ballot, Kept, Memories, Memory, Readout, Recall};
use crate::row::Row;
use crate::state::{Resumable, State, StateError};

/// A hypothesis as the training loop needs it.
pub trait Space: Hypothesis {
    /// What is remembered of past hypotheses beside the current one.
    type Memory;

    /// How many rows the next block has, into which the loop cuts its visits. Results may depend on it only where a
    /// space says so (a mini-batch); a space that merely scores ahead gives the same bits for all.
    fn block<E: Examples>(&self, _examples: E) -> usize {
        usize::MAX
    }

    /// The loop is about to visit `visits`, at most one block, in this order.
    fn prepare<E: Examples>(&mut self, _examples: E, _visits: Visits<'_>) {}

    /// The scores of the row at place `place` of the prepared block, under the current hypothesis.
    fn scores<R: Row>(&self, place: usize, row: R, scores: &mut [f64]);

    /// [`Space::scores`] where there is one output, with whatever can be looked up beforehand looked up.
    #[inline(always)]
    fn sole_output<R: Row>(&self) -> impl Fn(usize, R) -> f64 {
        |place, row| {
            let mut score = [0.0];
            self.scores(place, row, &mut score);
            score[0]
        }
    }

    /// `xᵀΣx`: the squared length of `row`, which is at place `place` of the prepared block, in this space's
    /// metric for `output`.
    fn spread<R: Row>(&self, place: usize, output: usize, row: R) -> f64;

    /// The dual variable of the row at place `place` of the prepared block, for one output.
    fn dual(&self, _place: usize, _output: usize) -> f64 {
        0.0
    }

    /// An epoch is over. Whether nothing of weight changed in it, for a space that can tell.
    fn end_epoch(&mut self) -> bool {
        false
    }

    /// The mean loss of the rows of the last epoch, for a space that sums it up.
    fn loss(&self) -> Option<f64> {
        None
    }

    /// Whether a step along `row` moves nothing but a bias.
    #[inline(always)]
    fn is_still<R: Row>(&self, row: R) -> bool {
        row.is_zero()
    }

    /// Moves along `row`, which is at place `place` of the prepared block, and tells `memory`.
    fn shift<R: Row>(&mut self, place: usize, row: R, step: Move, memory: &mut Self::Memory);

    /// Whether all moves of a row may be made when its problems are over. They may where nothing that a space says of
    /// one output depends on another one.
    const MOVES_TOGETHER: bool = false;

    /// Makes the moves of a row, one after the other. For spaces that may make them [together](Self::MOVES_TOGETHER).
    fn shift_together<R: Row>(&mut self, place: usize, row: R, steps: &[Move], memory: &mut Self::Memory) {
        for &step in steps {
            self.shift(place, row, step, memory);
        }
    }

    /// From now on the rows of `examples` are visited again and again, by the same numbers, until
    /// [`Space::leaves`]: a space may keep what it knows of each.
    fn stays<E: Examples>(&mut self, _examples: E) {}

    /// The rows are gone; their numbers mean nothing any more.
    fn leaves(&mut self) {}

    /// The block is over; a space that holds moves back makes them now.
    fn settle(&mut self, _round: u64, _memory: &mut Self::Memory) {}

    /// Keep `‖w‖²` up to date from now on.
    fn track_norm(&mut self);

    /// Makes room for rows of `width` features; known weights stay.
    fn widen(&mut self, width: usize);
}

/// A space that a run can be ended in: what came of it can be read, and carried over to another run.
pub trait Outcome: Space<Memory: Recall> + Resumable {
    /// The read-out after `rounds` rounds, `ballot` being the way survivors vote. `None` if it was not remembered.
    fn read(&self, memory: &Self::Memory, readout: Readout, ballot: Ballot, rounds: u64) -> Option<Kept>;

    /// The epoch number `epoch` begins after `rounds` rounds. May be called twice, if nothing happened in between.
    fn epoch_begins(&self, _memory: &mut Self::Memory, _epoch: u64, _rounds: u64) {}

    /// An epoch is over after `rounds` rounds.
    fn epoch_over(&self, _memory: &mut Self::Memory, _rounds: u64) {}

    /// The hyperplanes, where they are all there is, so that the same ones mean the same run from here on.
    fn whole(&self) -> Option<Hyperplanes> {
        None
    }

    /// Adds what `memory` remembers to `state`.
    fn save_memory<'a>(&self, _memory: &'a Self::Memory, _state: &mut State<'a>) {}

    /// Takes the same out again, after `rounds` rounds.
    fn restore_memory(
        &self,
        _memory: &mut Self::Memory,
        _state: &mut State<'_>,
        _rounds: u64,
    ) -> Result<(), StateError> {
        Ok(())
    }

    /// Goes on from hyperplanes that others had a part in: each has moved `moves` times in `rounds` rounds, and `memory`
    /// begins anew. False if this space, or its memory, keeps more than that.
    fn stand_at(&mut self, _memory: &mut Self::Memory, _moves: &[u64], _rounds: u64) -> bool {
        false
    }

    /// Adds an output of zeros after all others, in place. False, and nothing is changed, if this space, or its memory, keeps
    /// more than grows by an output.
    fn add_output(&mut self, _memory: &mut Self::Memory) -> bool {
        false
    }

    /// By how much the sum behind an average is more than that of as many copies of the start; `None` without one.
    fn drift(&self, _memory: &Self::Memory, _rounds: u64) -> Option<Hyperplanes> {
        None
    }

    /// Whether everything learned is a number.
    fn is_finite(&self) -> bool;
}

impl<S: LinearSpace> Outcome for S {
    fn stand_at(&mut self, memory: &mut Memories, moves: &[u64], rounds: u64) -> bool {
        self.set_moves(moves);
        S::SUITS_KERNELS && memory.begin_anew(rounds)
    }

    fn add_output(&mut self, memory: &mut Memories) -> bool {
        let Some(linear) = self.whole_mut() else { return false };
        let fits = memory.add_output();
        if fits {
            linear.add_output();
        }
        fits
    }

    fn drift(&self, memory: &Memories, rounds: u64) -> Option<Hyperplanes> {
        memory.drift(self.linear(), rounds)
    }

    fn read(&self, memory: &Memories, readout: Readout, ballot: Ballot, rounds: u64) -> Option<Kept> {
        memory.read(readout, ballot, self.linear(), rounds)
    }

    fn epoch_begins(&self, memory: &mut Memories, epoch: u64, rounds: u64) {
        memory.epoch_begins(epoch, rounds);
    }

    fn epoch_over(&self, memory: &mut Memories, rounds: u64) {
        memory.epoch_over(rounds, self.linear());
    }

    fn whole(&self) -> Option<Hyperplanes> {
        S::SUITS_KERNELS.then(|| self.linear().planes())
    }

    fn save_memory<'a>(&self, memory: &'a Memories, state: &mut State<'a>) {
        memory.save(state);
    }

    fn restore_memory(
        &self,
        memory: &mut Memories,
        state: &mut State<'_>,
        rounds: u64,
    ) -> Result<(), StateError> {
        memory.restore(state, self.linear(), rounds)
    }

    fn is_finite(&self) -> bool {
        self.linear().is_finite()
    }
}

/// A space whose hypotheses are hyperplanes in the features, whatever else it keeps.
pub trait LinearSpace: Space<Memory = Memories> + Resumable + Clone + Send + Sync + 'static {
    /// Whether a hypothesis is nothing but the rows it stepped along, one by one, so that a kernel may take
    /// the place of their products.
    const SUITS_KERNELS: bool = false;

    /// Zero weights of the given shape.
    fn zero(shape: Shape) -> Self;

    /// The hyperplanes as they stand.
    fn linear(&self) -> &Linear;

    /// The hyperplanes, where they are all that is kept.
    fn whole_mut(&mut self) -> Option<&mut Linear> {
        None
    }

    /// Says how often each hyperplane has moved, where a space counts that.
    fn set_moves(&mut self, _moves: &[u64]) {}

    /// Starts from given hyperplanes instead of zero. Only before the first round.
    fn start_from(&mut self, planes: &Hyperplanes);
}
