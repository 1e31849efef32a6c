//! Who watches a run: progress, traces, proofs, early stopping.
//!
//! An [`Observer`] sees every epoch, and every round if it asks for that. It may end the run.
//! Observers combine as tuples, so a trace and a proof can watch the same run; `()` watches nothing
//! and costs nothing.

use crate::hypothesis::Hypothesis;
use crate::memory::{Kept, Readout};
use crate::rule::Step;
use crate::state::State;
use std::ops::ControlFlow;

/// One round, after it is over: one example, one output.
#[derive(Clone, Copy)]
pub struct Round<'a> {
    /// Number of the round, from 1.
    pub round: u64,
    /// Number of the epoch, from 1.
    pub epoch: u64,
    /// Which row was shown.
    pub row: usize,
    /// Its class.
    pub class: u32,
    /// Which output was asked; in direct multiclass, that of the true class.
    pub output: usize,
    /// `+1` or `-1`: which side the example was on for this output.
    pub label: f64,
    /// The output's score.
    pub activation: f64,
    /// How right it was: positive is right.
    pub margin: f64,
    /// Whether that counts as a mistake.
    pub mistaken: bool,
    /// The step that followed, example weight not included.
    pub step: Option<Step>,
    /// How much the example counts.
    pub weight: f64,
    /// `‖x‖²`, bias coordinate included where there is one.
    pub spread: f64,
    /// `‖w‖²` after the round.
    pub norm2: f64,
    /// The hypothesis after the round.
    pub hypothesis: &'a dyn Hypothesis,
}

/// Totals of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Epochs finished.
    pub epochs: u64,
    /// Examples shown.
    pub rounds: u64,
    /// Mistakes made, summed over outputs.
    pub mistakes: u64,
    /// Steps made, summed over outputs.
    pub updates: u64,
    /// Rows that were given the wrong class before they were learned from.
    pub errors: u64,
}

impl Totals {
    /// The epoch that has just ended, in which these totals grew from those `before`.
    pub fn since(&self, before: &Self) -> Epoch {
        Epoch {
            number: self.epochs,
            rounds: self.rounds,
            visited: self.rounds - before.rounds,
            mistakes: self.mistakes - before.mistakes,
            updates: self.updates - before.updates,
            errors: self.errors - before.errors,
        }
    }

    /// Both together, but for the epochs, which two runs made side by side.
    #[must_use]
    pub fn beside(&self, other: &Self) -> Self {
        Self {
            epochs: self.epochs.max(other.epochs),
            rounds: self.rounds + other.rounds,
            mistakes: self.mistakes + other.mistakes,
            updates: self.updates + other.updates,
            errors: self.errors + other.errors,
        }
    }

    /// All five, in their order.
    pub fn to_list(self) -> [u64; 5] {
        [self.epochs, self.rounds, self.mistakes, self.updates, self.errors]
    }

    /// The same the other way round.
    pub fn from_list([epochs, rounds, mistakes, updates, errors]: [u64; 5]) -> Self {
        Self { epochs, rounds, mistakes, updates, errors }
    }
}

/// Totals of a run so far, and of its last epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Epoch {
    /// Its number, from 1.
    pub number: u64,
    /// Rounds since the run began.
    pub rounds: u64,
    /// Rounds of this epoch.
    pub visited: u64,
    /// Mistakes of this epoch, summed over outputs.
    pub mistakes: u64,
    /// Steps of this epoch, summed over outputs.
    pub updates: u64,
    /// Rows of this epoch that were given the wrong class before the hypothesis learned from them.
    pub errors: u64,
}

/// A run as it stands, for those who want a model of it.
pub trait Snapshot {
    /// The read-out as of now; `None` if it was not remembered.
    fn read(&self, readout: Readout) -> Option<Kept>;

    /// All that a fresh run of the same setup needs to go on from here.
    fn state(&self) -> State<'_>;

    /// The mean loss of the rows of the last epoch, for a space that sums it up.
    fn loss(&self) -> Option<f64> {
        None
    }
}

/// Someone who watches a run.
pub trait Observer {
    /// Whether [`Observer::round`] wants to be called. Rounds are cheap; watching them is not.
    fn wants_rounds(&self) -> bool {
        false
    }

    /// A round is over. Breaking ends the run.
    fn round(&mut self, _round: &Round<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// Asked before an epoch and again and again during it, every thousand rows or so. Breaking leaves the
    /// run where it stands, in the middle of an epoch; the next fit goes on from there.
    fn pause(&mut self, _so_far: &Totals, _run: &dyn Snapshot) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// How many visits may be made at most before it is [asked](Observer::pause) again: one for those who look at
    /// every single example. Asked after every [`Observer::pause`] that did not break.
    fn stride(&self) -> usize {
        usize::MAX
    }

    /// An epoch is over. Breaking ends the run.
    fn epoch(&mut self, _epoch: &Epoch, _run: &dyn Snapshot) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl Observer for () {}

impl<O: Observer + ?Sized> Observer for &mut O {
    fn wants_rounds(&self) -> bool {
        (**self).wants_rounds()
    }

    fn round(&mut self, round: &Round<'_>) -> ControlFlow<()> {
        (**self).round(round)
    }

    fn pause(&mut self, so_far: &Totals, run: &dyn Snapshot) -> ControlFlow<()> {
        (**self).pause(so_far, run)
    }

    fn stride(&self) -> usize {
        (**self).stride()
    }

    fn epoch(&mut self, epoch: &Epoch, run: &dyn Snapshot) -> ControlFlow<()> {
        (**self).epoch(epoch, run)
    }
}

macro_rules! observe_as_tuple {
    ($($name:ident)+) => {
        impl<$($name: Observer),+> Observer for ($($name,)+) {
            fn wants_rounds(&self) -> bool {
                #[expect(non_snake_case, reason = "the type's name serves as the field's")]
                let ($($name,)+) = self;
                false $(|| $name.wants_rounds())+
            }

            fn round(&mut self, round: &Round<'_>) -> ControlFlow<()> {
                #[expect(non_snake_case, reason = "the type's name serves as the field's")]
                let ($($name,)+) = self;
                // Everybody sees the round, even if one before them wants to stop.
                let mut flow = ControlFlow::Continue(());
                $(if $name.wants_rounds() && $name.round(round).is_break() { flow = ControlFlow::Break(()); })+
                flow
            }

            fn pause(&mut self, so_far: &Totals, run: &dyn Snapshot) -> ControlFlow<()> {
                #[expect(non_snake_case, reason = "the type's name serves as the field's")]
                let ($($name,)+) = self;
                let mut flow = ControlFlow::Continue(());
                $(if $name.pause(so_far, run).is_break() { flow = ControlFlow::Break(()); })+
                flow
            }

            fn stride(&self) -> usize {
                #[expect(non_snake_case, reason = "the type's name serves as the field's")]
                let ($($name,)+) = self;
                usize::MAX$(.min($name.stride()))+
            }

            fn epoch(&mut self, epoch: &Epoch, run: &dyn Snapshot) -> ControlFlow<()> {
                #[expect(non_snake_case, reason = "the type's name serves as the field's")]
                let ($($name,)+) = self;
                let mut flow = ControlFlow::Continue(());
                $(if $name.epoch(epoch, run).is_break() { flow = ControlFlow::Break(()); })+
                flow
            }
        }
    };
}

observe_as_tuple!(A);
observe_as_tuple!(A B);
observe_as_tuple!(A B C);
observe_as_tuple!(A B C D);

/// Calls a function for every round, and stops when it says so.
///
/// ```
/// use rosenblatt_core::{rules, Binary, DenseExamples, EachRound, Round, Run, Setup, Visits};
/// use std::ops::ControlFlow;
///
/// let examples = DenseExamples::new(&[1.0, 2.0, 3.0], 1, &[1, 0, 1]);
/// let mut run = Run::new(rules::Perceptron::default(), Binary, Setup::default())?;
/// let mut two_rounds = EachRound(|round: &Round<'_>| {
///     if round.round == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
/// });
/// assert!(run.learn(examples, Visits::all(examples), &mut two_rounds).is_break());
/// assert_eq!(run.totals().rounds, 2);
/// # Ok::<(), rosenblatt_core::SetupError>(())
/// ```
pub struct EachRound<F>(pub F);

impl<F: FnMut(&Round<'_>) -> ControlFlow<()>> Observer for EachRound<F> {
    fn wants_rounds(&self) -> bool {
        true
    }

    fn round(&mut self, round: &Round<'_>) -> ControlFlow<()> {
        (self.0)(round)
    }
}

/// Calls a function for every epoch, and stops when it says so.
pub struct EachEpoch<F>(pub F);

impl<F: FnMut(&Epoch) -> ControlFlow<()>> Observer for EachEpoch<F> {
    fn epoch(&mut self, epoch: &Epoch, _run: &dyn Snapshot) -> ControlFlow<()> {
        (self.0)(epoch)
    }
}
