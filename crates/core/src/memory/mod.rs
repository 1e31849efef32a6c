//! What is remembered of past hypotheses: one training run, several read-outs.
//!
//! The loop tells the hypothesis to move; the hypothesis tells its [`Memories`]. Nothing is called in
//! rounds that change nothing: how long a hypothesis survived is the difference of two round numbers.
//! Each memory is a file here that implements [`Memory`], and one line in [`Memories`].

mod averaged;
mod pocket;
mod random_survivor;
mod running;
mod survivors;

pub use averaged::Averaged;
pub use pocket::Pocket;
pub use random_survivor::RandomSurvivor;
pub use running::Running;
pub use survivors::{Ballot, Log, MOST_ROUNDS, Survivors, Votes};

use crate::hypothesis::{Hyperplanes, Hypothesis, Linear, Move};
use crate::row::Row;
use crate::state::{State, StateError};
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// Something that is kept beside the current hypothesis.
pub trait Memory {
    /// The hypothesis `before` survived all rounds up to the one of `step`, and now moves.
    fn leaving(&mut self, _step: Move, _before: &Linear) {}

    /// The factor of the step's output is about to be multiplied by `step.keep`.
    fn shrinking(&mut self, _step: Move, _before: &Linear) {}

    /// The stored weights of the step's output are about to be multiplied by `scale`, the factor they
    /// had until now; the factor is 1 from here on.
    fn folding(&mut self, _step: Move, _scale: f64, _before: &Linear) {}

    /// The step was made; the stored weights moved by `amount · row`.
    fn moved<R: Row>(&mut self, _row: R, _step: Move, _amount: f64, _after: &Linear) {}

    /// Adds what it remembers to `state`.
    fn save<'a>(&'a self, state: &mut State<'a>);

    /// Takes the same out again, beside the hypothesis `now` after `rounds` rounds.
    fn restore(&mut self, state: &mut State<'_>, now: &Linear, rounds: u64) -> Result<(), StateError>;
}

impl<M: Memory> Memory for Option<M> {
    fn leaving(&mut self, step: Move, before: &Linear) {
        if let Some(memory) = self {
            memory.leaving(step, before);
        }
    }

    fn shrinking(&mut self, step: Move, before: &Linear) {
        if let Some(memory) = self {
            memory.shrinking(step, before);
        }
    }

    fn folding(&mut self, step: Move, scale: f64, before: &Linear) {
        if let Some(memory) = self {
            memory.folding(step, scale, before);
        }
    }

    fn moved<R: Row>(&mut self, row: R, step: Move, amount: f64, after: &Linear) {
        if let Some(memory) = self {
            memory.moved(row, step, amount, after);
        }
    }

    fn save<'a>(&'a self, state: &mut State<'a>) {
        if let Some(memory) = self {
            memory.save(state);
        }
    }

    fn restore(&mut self, state: &mut State<'_>, now: &Linear, rounds: u64) -> Result<(), StateError> {
        self.as_mut().map_or(Ok(()), |memory| memory.restore(state, now, rounds))
    }
}

/// Which hypotheses a run shall remember besides the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Remember {
    /// The sum of all hypotheses, for every kind of average but [`Average::Running`].
    pub averaged: bool,
    /// The epoch with which that sum begins anew, for [`Average::From`].
    pub averaged_from: Option<u64>,
    /// The running mean of all hypotheses, as scikit-learn computes it.
    pub running: bool,
    /// Every hypothesis and how long it survived, for votes.
    pub survivors: bool,
    /// The best hypothesis so far, by [`Pocket`].
    pub pocket: Option<Ratchet>,
    /// One hypothesis at random, each in proportion to its survival; the number is the seed.
    pub random: Option<u64>,
}

/// Whether the pocket compares training errors before it changes its mind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ratchet {
    /// A longer run of right answers is enough.
    Off,
    /// The new hypothesis must also make fewer training errors. Needs all rows at hand.
    On,
}

/// Which past hypotheses count in an average, `w_t` being the one after round `t` of `n`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Average {
    /// `w_1 … w_n`: Freund and Schapire, Collins, scikit-learn.
    #[default]
    Post,
    /// `w_0 … w_{n-1}`: the hypotheses that made the predictions.
    Pre,
    /// `w_0 … w_n`: the averaged training of *A Course in Machine Learning*.
    Both,
    /// `w_1 … w_n` by scikit-learn's own recurrence, rounding included.
    Running,
    /// Those of the epoch with this number, from 1, and of all epochs after it: what was learned first, and worst, does
    /// not count. Of all epochs as long as it has not begun.
    From(u64),
}

/// What a model is made of when a run is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readout {
    /// The last hypothesis.
    Last,
    /// The mean of all.
    Averaged(Average),
    /// A vote of all, each with as many votes as rounds it survived.
    Voted,
    /// The one in the pocket.
    Pocket,
    /// One drawn at random, by survival.
    Random,
}

impl Remember {
    /// What must be remembered for `readout`. `seed` is for random choices.
    pub fn for_readout(readout: Readout, ratchet: Ratchet, seed: u64) -> Self {
        let nothing = Self::default();
        match readout {
            Readout::Last => nothing,
            Readout::Averaged(Average::Running) => Self { running: true, ..nothing },
            Readout::Averaged(Average::From(epoch)) => {
                Self { averaged: true, averaged_from: Some(epoch), ..nothing }
            }
            Readout::Averaged(_) => Self { averaged: true, ..nothing },
            Readout::Voted => Self { survivors: true, ..nothing },
            Readout::Pocket => Self { pocket: Some(ratchet), ..nothing },
            Readout::Random => Self { random: Some(seed), ..nothing },
        }
    }
}

/// What a run remembers besides its current hypothesis.
#[derive(Debug, Clone, Default)]
pub struct Memories {
    start: Option<Hyperplanes>,
    averaged: Option<Averaged>,
    /// Whether there is any of those below. One question instead of four, where steps are made.
    others: bool,
    running: Option<Running>,
    survivors: Option<Survivors>,
    pocket: Option<Pocket>,
    random: Option<RandomSurvivor>,
}

/// A hypothesis, or several that vote, ready to predict.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is one per model, never a list of them")]
pub enum Kept {
    /// One hyperplane per output.
    Hyperplanes(Hyperplanes),
    /// All survivors, voting.
    Votes(Votes),
    /// What another space than the core's reads out.
    Other(Arc<dyn Other>),
}

/// A hypothesis that is not made of hyperplanes in the features. Its maker knows what it is, and finds it again
/// by its type.
pub trait Other: Equals + Any + fmt::Debug + Send + Sync {
    /// How many features it knows: none, where what is learned from is no row, as a sentence is none.
    fn width(&self) -> usize {
        0
    }

    /// The scores of a row, given by its entries in ascending order: none are known to what knows no rows.
    fn scores(&self, _row: &mut dyn Iterator<Item = (usize, f64)>, scores: &mut [f64]) {
        scores.fill(0.0);
    }
}

/// Equality with what is only known to be an [`Other`]: whatever is [`PartialEq`] has it.
pub trait Equals {
    /// Whether the other one is the same.
    fn equals(&self, other: &dyn Other) -> bool;
}

impl<T: Any + PartialEq> Equals for T {
    fn equals(&self, other: &dyn Other) -> bool {
        let other: &dyn Any = other;
        other.downcast_ref::<T>() == Some(self)
    }
}

impl PartialEq for dyn Other {
    fn eq(&self, other: &Self) -> bool {
        self.equals(other)
    }
}

impl Kept {
    /// What was kept, if it is of this kind.
    pub fn other<T: Other>(&self) -> Option<&T> {
        let Self::Other(other) = self else { return None };
        (&**other as &dyn Any).downcast_ref()
    }

    /// The scores of a row. `scratch` is room that a caller lends again and again.
    pub fn scores<R: Row>(&self, row: R, scores: &mut [f64], scratch: &mut Vec<f64>) {
        match self {
            Self::Hyperplanes(planes) => planes.scores(row, scores),
            Self::Votes(votes) => votes.scores(row, scores, scratch),
            Self::Other(other) => other.scores(&mut row.entries(), scores),
        }
    }

    /// How many features it knows.
    pub fn width(&self) -> usize {
        match self {
            Self::Hyperplanes(planes) => planes.width(),
            Self::Votes(votes) => votes.width(),
            Self::Other(other) => other.width(),
        }
    }

    /// The hyperplanes, if that is what it is.
    pub fn planes(&self) -> Option<&Hyperplanes> {
        match self {
            Self::Hyperplanes(planes) => Some(planes),
            Self::Votes(_) | Self::Other(_) => None,
        }
    }
}

impl Memories {
    /// Room for what `remember` asks, beside a hypothesis that starts as `start` does.
    pub fn new(remember: Remember, start: &Linear) -> Self {
        let n_outputs = start.n_outputs();
        let weights = start.unscaled().compact();
        let started =
            (0..n_outputs).any(|k| start.bias(k) != 0.0) || weights.iter().any(|weight| *weight != 0.0);
        Self {
            averaged: remember.averaged.then(|| Averaged::new(n_outputs, remember.averaged_from)),
            others: Remember { averaged: false, averaged_from: None, ..remember } != Remember::default(),
            running: remember.running.then(|| Running::new(n_outputs)),
            survivors: remember.survivors.then(|| Survivors::new(n_outputs)),
            pocket: remember.pocket.map(Pocket::new),
            random: remember.random.map(RandomSurvivor::new),
            start: started.then(|| start.planes()),
        }
    }

    /// The read-out after `rounds` rounds, `now` being the current hypothesis and `ballot` the way
    /// survivors vote. `None` if it was not remembered.
    pub fn read(&self, readout: Readout, ballot: Ballot, now: &Linear, rounds: u64) -> Option<Kept> {
        let planes = match readout {
            Readout::Last => now.planes(),
            Readout::Averaged(Average::Running) => self.running.as_ref()?.mean(now, rounds),
            Readout::Averaged(kind) => {
                self.averaged.as_ref()?.mean(kind, self.start.as_ref(), now, rounds)?
            }
            Readout::Voted => {
                let survivors = self.survivors.as_ref()?;
                return Some(Kept::Votes(survivors.votes(ballot, self.start.clone(), now.width(), rounds)));
            }
            Readout::Pocket => self.pocket.as_ref()?.best(now, rounds),
            Readout::Random => self.random.as_ref()?.chosen(now, rounds),
        };
        Some(Kept::Hyperplanes(planes))
    }

    /// Whether anything is remembered besides an average.
    #[inline(always)]
    pub(crate) fn has_others(&self) -> bool {
        self.others
    }

    /// The sum behind an average, if there is one.
    #[inline(always)]
    pub(crate) fn averaged(&mut self) -> Option<&mut Averaged> {
        self.averaged.as_mut()
    }

    /// A hypothesis whose training errors the pocket wants to know before it takes it.
    pub(crate) fn to_judge(&self) -> Option<&Hyperplanes> {
        if self.others { self.pocket.as_ref().and_then(Pocket::candidate) } else { None }
    }

    /// Whether hypotheses are judged now and then, each time on all rows.
    pub(crate) fn judges(&self) -> bool {
        self.pocket.as_ref().is_some_and(Pocket::has_ratchet)
    }

    /// The answer to [`Memories::to_judge`].
    pub(crate) fn judged(&mut self, errors: f64) {
        if let Some(pocket) = &mut self.pocket {
            pocket.judge(errors);
        }
    }

    /// The epoch number `epoch` begins after `rounds` rounds.
    pub(crate) fn epoch_begins(&mut self, epoch: u64, rounds: u64) {
        if let Some(averaged) = &mut self.averaged {
            averaged.epoch_begins(epoch, rounds);
        }
    }

    /// Adds an output after all others. Only an average can, of hypotheses that began at zero: false if there is more.
    pub(crate) fn add_output(&mut self) -> bool {
        !self.others && self.start.is_none() && self.averaged.as_mut().is_none_or(Averaged::add_output)
    }

    /// What is remembered begins anew after `rounds` rounds. Only an average can: says whether there is nothing else.
    pub(crate) fn begin_anew(&mut self, rounds: u64) -> bool {
        if let Some(averaged) = &mut self.averaged {
            averaged.begin_anew(rounds);
        }
        !self.others
    }

    /// By how much the sum behind an average is more than that of as many copies of the start; `None` without one.
    pub(crate) fn drift(&self, now: &Linear, rounds: u64) -> Option<Hyperplanes> {
        Some(self.averaged.as_ref()?.drift(self.start.as_ref(), now, rounds))
    }

    /// The epoch is over; a memory that only acts when a hypothesis dies may look at the living one.
    pub(crate) fn epoch_over(&mut self, rounds: u64, now: &Linear) {
        if let Some(pocket) = &mut self.pocket {
            pocket.consider(rounds + 1, now);
        }
    }
}

impl Memory for Memories {
    fn leaving(&mut self, step: Move, before: &Linear) {
        self.averaged.leaving(step, before);
        self.running.leaving(step, before);
        self.pocket.leaving(step, before);
        self.random.leaving(step, before);
    }

    fn shrinking(&mut self, step: Move, before: &Linear) {
        self.averaged.shrinking(step, before);
        self.running.shrinking(step, before);
    }

    fn folding(&mut self, step: Move, scale: f64, before: &Linear) {
        self.averaged.folding(step, scale, before);
    }

    fn moved<R: Row>(&mut self, row: R, step: Move, amount: f64, after: &Linear) {
        self.averaged.moved(row, step, amount, after);
        self.running.moved(row, step, amount, after);
        self.survivors.moved(row, step, amount, after);
    }

    fn save<'a>(&'a self, state: &mut State<'a>) {
        self.averaged.save(state);
        self.running.save(state);
        self.survivors.save(state);
        self.pocket.save(state);
        self.random.save(state);
    }

    fn restore(&mut self, state: &mut State<'_>, now: &Linear, rounds: u64) -> Result<(), StateError> {
        self.averaged.restore(state, now, rounds)?;
        self.running.restore(state, now, rounds)?;
        self.survivors.restore(state, now, rounds)?;
        self.pocket.restore(state, now, rounds)?;
        self.random.restore(state, now, rounds)
    }
}

/// Memories as the loop needs them: someone may ask for the training errors of a hypothesis.
pub trait Recall {
    /// A hypothesis whose training errors are wanted.
    fn to_judge(&self) -> Option<&Hyperplanes> {
        None
    }

    /// How many training errors it makes, each as much as its row counts.
    fn judged(&mut self, _errors: f64) {}

    /// Whether hypotheses are judged now and then, each time on all rows.
    fn judges(&self) -> bool {
        false
    }
}

impl Recall for () {}

impl Recall for Memories {
    fn to_judge(&self) -> Option<&Hyperplanes> {
        Memories::to_judge(self)
    }

    fn judged(&mut self, errors: f64) {
        Memories::judged(self, errors);
    }

    fn judges(&self) -> bool {
        Memories::judges(self)
    }
}
