//! Who watches long work, and may stop it: the only way in which the engine talks to the outside while it works.
//!
//! The engine prints nothing and knows no signal, and reads a clock only to keep to a time that it was given. It says what
//! it is about to do, and asks several times a second whether to go on.

use crate::error::Error;
use crate::spec::Spec;
use rosenblatt_core::Totals;
use rosenblatt_core::observer::{Epoch, Observer, Snapshot};
use rosenblatt_data::{Dataset, Source};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

/// What is being done.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Stage<'a> {
    /// Rows are read.
    Reading(&'a Source),
    /// A model is trained on all folds but one, to be judged on that one.
    Fold {
        /// Which candidate is trained, of those that are compared; 0 if there is only one.
        candidate: usize,
        /// Which fold is left out, from 0.
        fold: usize,
        /// How many folds there are.
        n_folds: usize,
    },
    /// Candidates race for what is to be trained.
    Race(Progress),
    /// The model that is kept is trained.
    Training,
    /// Models are asked about rows they did not learn from, or about those they did.
    Judging,
    /// Probabilities are fitted.
    Calibrating,
}

/// An observer of a whole recipe. `()` observes nothing and never stops it.
pub trait Monitor {
    /// Work of another kind begins.
    fn stage(&mut self, _stage: Stage<'_>) {}

    /// Whether to stop. Asked again and again, whatever is being done.
    fn wants_to_stop(&mut self) -> bool {
        false
    }

    /// Whether to measure how good the model is on the rows it learned from, which takes another look at all
    /// of them and changes nothing about it.
    fn wants_figures(&self) -> bool {
        true
    }

    /// The model that is kept is about to be trained as `spec` says, on `data` if its rows are in memory: who watches
    /// that. Sentences are no rows. An error is that of the training.
    fn training<'a>(&'a mut self, _spec: &'a Spec, _data: Option<&'a Dataset>) -> Result<Watch<'a>, Error> {
        Ok(Watch { checkpointer: Box::new(()), observer: Box::new(()) })
    }

    /// A stream is about to be learned from. A monitor that is asked to stop while the stream is silent finds
    /// the learner here, as it stands.
    fn online(&mut self, _learner: &Arc<Mutex<dyn Pausable>>) {}

    /// Rows of a stream were learned from: the totals so far.
    fn learned(&mut self, _learner: &dyn Pausable, _totals: Totals) {}
}

impl Monitor for () {}

/// Decides when a training's checkpoints are made, saves them, and may stop the training.
pub trait Checkpointer {
    /// What is to be done now. Asked before every epoch and again and again during it.
    fn request(&mut self, so_far: &Totals) -> CheckpointRequest;

    /// Saves a checkpoint that was requested.
    fn save(&mut self, checkpoint: &[u8]);
}

impl Checkpointer for () {
    fn request(&mut self, _so_far: &Totals) -> CheckpointRequest {
        CheckpointRequest::Continue
    }

    fn save(&mut self, _checkpoint: &[u8]) {}
}

/// What a [`Checkpointer`] asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckpointRequest {
    /// No checkpoint: training goes on.
    Continue,
    /// A checkpoint; training goes on.
    Save,
    /// A checkpoint, and the end of training.
    SaveAndStop,
}

/// Asks whether a checkpoint is wanted, and saves what `encode` makes if it is. Whether the run ends here.
pub(crate) fn keep(
    checkpointer: &mut Option<&mut dyn Checkpointer>,
    so_far: &Totals,
    encode: impl FnOnce() -> Vec<u8>,
) -> bool {
    let Some(checkpointer) = checkpointer else { return false };
    let request = checkpointer.request(so_far);
    if request != CheckpointRequest::Continue {
        checkpointer.save(&encode());
    }
    request == CheckpointRequest::SaveAndStop
}

/// Ends a run as soon as the answer to the question whether to stop is yes.
pub(crate) struct Unless<F>(pub(crate) F);

impl<F: FnMut() -> bool> Unless<F> {
    fn flow(&mut self) -> ControlFlow<()> {
        if (self.0)() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl<F: FnMut() -> bool> Observer for Unless<F> {
    fn pause(&mut self, _so_far: &Totals, _run: &dyn Snapshot) -> ControlFlow<()> {
        self.flow()
    }

    fn epoch(&mut self, _epoch: &Epoch, _run: &dyn Snapshot) -> ControlFlow<()> {
        self.flow()
    }
}

/// The observers of one training.
pub struct Watch<'a> {
    /// Asks for checkpoints, saves them, and may stop the training.
    pub checkpointer: Box<dyn Checkpointer + 'a>,
    /// Sees every epoch, and every round if it wants to.
    pub observer: Box<dyn Observer + 'a>,
}

/// Something that learns for as long as a stream lasts.
pub trait Pausable: Send {
    /// The bytes from which it goes on later; `None` if it keeps no track of where it is.
    fn checkpoint(&self) -> Option<Vec<u8>>;
}

/// How far a race is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The bout, from 1.
    pub bout: usize,
    /// How many bouts there are.
    pub bouts: usize,
    /// Candidates judged in this bout.
    pub done: usize,
    /// Candidates in this bout.
    pub of: usize,
}

/// Work whose outcome is of no use unless it is finished, and that is given up when the monitor wants to stop.
pub(crate) struct OrStop<'a>(pub(crate) &'a mut dyn Monitor);

impl Checkpointer for OrStop<'_> {
    fn request(&mut self, _so_far: &Totals) -> CheckpointRequest {
        if self.0.wants_to_stop() { CheckpointRequest::SaveAndStop } else { CheckpointRequest::Continue }
    }

    fn save(&mut self, _checkpoint: &[u8]) {}
}
