//! Who watches long work, and may stop it: the only way in which the engine talks to the outside while it works.
//!
//! The engine prints nothing and knows no signal, and reads a clock only to keep to a time that it was given. It says what
//! it is about to do, and asks several times a second whether to go on.

use crate::error::Error;
use crate::model::Model;
use crate::online::Online;
use crate::race::Progress;
use crate::train::{CheckpointRequest, Checkpointer, Training};
use rosenblatt_core::Totals;
use rosenblatt_data::Source;
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

/// Someone who watches. `()` watches nothing and never stops anything.
pub trait Monitor {
    /// Work of another kind begins.
    fn stage(&mut self, _stage: Stage<'_>) {}

    /// Whether to stop. Asked again and again, whatever is being done.
    fn wants_to_stop(&mut self) -> bool {
        false
    }

    /// Whether anybody wants to know how good the model is on the rows it learned from, which takes another look at all of
    /// them and changes nothing about it.
    fn wants_figures(&self) -> bool {
        true
    }

    /// Runs the training of the model that is kept: the place to add checkpoints and observers.
    fn train(&mut self, training: Training<'_>) -> Result<Model, Error> {
        training.run(&mut ())
    }

    /// A stream is about to be learned from. Whoever is asked to stop while the stream is silent finds the learner
    /// here, as it stands.
    fn online(&mut self, _learner: &Arc<Mutex<Online>>) {}

    /// Rows of a stream were learned from: the totals so far.
    fn learned(&mut self, _learner: &Online, _totals: Totals) {}
}

impl Monitor for () {}

/// Work whose outcome is of no use unless it is finished, and that is given up when the monitor wants to stop.
pub(crate) struct OrStop<'a>(pub(crate) &'a mut dyn Monitor);

impl Checkpointer for OrStop<'_> {
    fn request(&mut self, _so_far: &Totals) -> CheckpointRequest {
        if self.0.wants_to_stop() { CheckpointRequest::SaveAndStop } else { CheckpointRequest::Continue }
    }

    fn save(&mut self, _checkpoint: &[u8]) {}
}
