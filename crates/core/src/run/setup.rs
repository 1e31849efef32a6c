//! What a run is put together from, how long it goes on, and why it ended.

use crate::convention::{Bias, Convention, ConventionError};
use crate::hypothesis::{Hyperplanes, Shape};
use crate::memory::{Memories, Remember};
use crate::order::Order;
use crate::rule::Info;
use crate::space::LinearSpace;
use std::fmt;

/// What a run needs to know besides its rule and its classes.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    /// Features; a run can be [widened](super::Run::widen) later.
    pub width: usize,
    /// The textbook conventions.
    pub convention: Convention,
    /// Which hypotheses to remember.
    pub remember: Remember,
    /// Where to start; zero if nothing is given.
    pub start: Option<Hyperplanes>,
    /// How much each class counts; 1 where nothing is given.
    pub class_weights: Vec<f64>,
    /// For coin tosses.
    pub seed: u64,
}

/// A setup that cannot work, and why.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum SetupError {
    /// The conventions contradict each other.
    Convention(ConventionError),
    /// The rule steps on the whole vector, so a bias beside it would not be part of its guarantee.
    BiasBeside(&'static str),
    /// scikit-learn's recurrence is not defined for rules that shrink their weights.
    RunningAverage(&'static str),
    /// The starting planes do not fit the classes.
    Start {
        /// How many hyperplanes the classes need.
        needed: usize,
        /// How many were given.
        given: usize,
    },
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Convention(error) => error.fmt(f),
            Self::BiasBeside(name) => write!(
                f,
                "`{name}` steps on the whole vector, so its bias must be a coordinate of it; \
                 use `bias = augmented(1)` or `bias = none`"
            ),
            Self::RunningAverage(name) => {
                write!(
                    f,
                    "`average = running` is not defined for `{name}`, which shrinks its weights; use `post`"
                )
            }
            Self::Start { needed, given } => {
                write!(f, "`start` should hold {needed} hyperplanes for these classes, but holds {given}")
            }
        }
    }
}

impl std::error::Error for SetupError {}

/// How long a run goes on, and in which order it visits rows.
#[derive(Debug, Clone)]
pub struct Plan<'a> {
    /// The rows to learn from; all if nothing is given.
    pub rows: Option<&'a [u32]>,
    /// In which order.
    pub order: &'a Order,
    /// For shuffles and draws.
    pub seed: u64,
    /// Stop after this many epochs, counted from the beginning of the run.
    pub epochs: u64,
    /// Stop after this many steps, counted from the beginning of the run.
    pub max_updates: Option<u64>,
    /// Stop when nothing is left to learn: after an epoch that met every row without a mistake or a step, when the rule has
    /// converged, or when the same hypotheses come round again.
    pub stop_when_clean: bool,
}

impl<'a> Plan<'a> {
    /// At most this many epochs over all rows, until nothing is left to learn.
    pub fn new(order: &'a Order, epochs: u64, seed: u64) -> Self {
        Self { rows: None, order, seed, epochs, max_updates: None, stop_when_clean: true }
    }
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// All epochs were made.
    Epochs,
    /// All steps were made.
    Updates,
    /// An epoch that met every row found nothing left to learn: the data is separated.
    Clean,
    /// The rule found the hypothesis it looks for, to its tolerance.
    Converged,
    /// The hypothesis after an epoch was the one after an earlier epoch, under an order and a rule that repeat themselves:
    /// from here on nothing new would ever come.
    Cycle,
    /// An observer had seen enough.
    Observer,
}

impl Setup {
    /// Whether this can work with a rule, whatever space it moves in.
    pub fn check(&self, info: &Info) -> Result<(), SetupError> {
        let from_zero = self.start.as_ref().is_none_or(Hyperplanes::is_zero);
        self.convention.check(from_zero, info.mistake_driven).map_err(SetupError::Convention)?;
        if info.whole_vector && self.convention.bias == Bias::Learned {
            return Err(SetupError::BiasBeside(info.name));
        }
        if self.remember.running && info.shrinks {
            return Err(SetupError::RunningAverage(info.name));
        }
        Ok(())
    }

    /// The empty hypothesis and its memory, unless the setup cannot work.
    pub(super) fn prepare<S: LinearSpace>(
        &self,
        info: &Info,
        n_outputs: usize,
        space: impl FnOnce(Shape) -> S,
    ) -> Result<(S, Memories), SetupError> {
        self.check(info)?;
        let Self { width, convention, remember, start, .. } = self;
        let mut space = space(Shape { width: *width, n_outputs, bias: convention.bias });
        if let Some(planes) = start {
            if planes.n_outputs() != n_outputs {
                return Err(SetupError::Start { needed: n_outputs, given: planes.n_outputs() });
            }
            space.start_from(planes);
        }
        let memory = Memories::new(*remember, space.linear());
        Ok((space, memory))
    }
}
