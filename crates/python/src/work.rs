//! Long work without Python's lock, which Ctrl-C stops.

use crate::error::{Failure, Outcome, broken};
use pyo3::prelude::*;
use rosenblatt::learning::observer::Snapshot;
use rosenblatt::learning::{Epoch, Observer, Totals};
use rosenblatt::monitor::{CheckpointRequest, Checkpointer, Stage, Watch};
use rosenblatt::{Dataset, Error, Monitor, Spec};
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// So often Python is asked whether there was a signal.
const EVERY: Duration = Duration::from_millis(100);

/// Does `work` while other threads may use Python. What breaks is an exception, never the end of the process.
pub(crate) fn alone<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&mut Signals) -> Outcome<T> + Send,
) -> PyResult<T> {
    let mut signals = Signals { asked: Instant::now(), raised: None };
    let done = py.detach(|| catch_unwind(AssertUnwindSafe(|| work(&mut signals))));
    // What a signal's handler raised is what Python shall see, whatever the engine made of it.
    if let Some(raised) = signals.raised {
        return Err(raised);
    }
    match done {
        Ok(done) => done.map_err(Into::into),
        Err(cause) => Err(broken(&*cause)),
    }
}

/// Whether Python has been interrupted.
pub(crate) struct Signals {
    asked: Instant,
    raised: Option<PyErr>,
}

impl Signals {
    /// What Python raised elsewhere is what it shall see.
    pub(crate) fn raise(&mut self, raised: PyErr) {
        self.raised.get_or_insert(raised);
    }

    /// Whether to stop; looked up ten times a second.
    pub(crate) fn stop(&mut self) -> bool {
        if self.raised.is_none() && self.asked.elapsed() >= EVERY {
            self.asked = Instant::now();
            self.raised = Python::attach(|py| py.check_signals().err());
        }
        self.raised.is_some()
    }
}

/// The recipe's monitor: stops at a signal, and calls a Python function at each stage, if there is one.
pub(crate) struct Watching<'a> {
    pub(crate) signals: &'a mut Signals,
    pub(crate) stages: Option<Py<PyAny>>,
    /// A function that is called after each epoch of the training of the model that is kept.
    pub(crate) epochs: Option<Py<PyAny>>,
    /// Whether the error on the training rows is needed.
    pub(crate) figures: bool,
}

impl Monitor for Watching<'_> {
    fn stage(&mut self, stage: Stage<'_>) {
        let Some(stages) = &self.stages else { return };
        let words = match stage {
            Stage::Reading(source) => format!("reading {}", source.name()),
            Stage::Fold { fold, n_folds, .. } => format!("fold {} of {n_folds}", fold + 1),
            Stage::Race(_) => "race".to_owned(),
            Stage::Training => "training".to_owned(),
            Stage::Judging => "judging".to_owned(),
            Stage::Calibrating => "calibrating".to_owned(),
            _ => return,
        };
        let outcome = Python::attach(|py| stages.call1(py, (words,)).map(|_| ()));
        if let Err(raised) = outcome {
            self.signals.raised.get_or_insert(raised);
        }
    }

    fn wants_to_stop(&mut self) -> bool {
        self.signals.stop()
    }

    fn wants_figures(&self) -> bool {
        self.figures
    }

    fn training<'a>(&'a mut self, _: &'a Spec, _: Option<&'a Dataset>) -> Result<Watch<'a>, Error> {
        let signals = Rc::new(RefCell::new(&mut *self.signals));
        let observer = EachEpoch { function: self.epochs.as_ref(), signals: Rc::clone(&signals) };
        Ok(Watch { checkpointer: Box::new(Asked(signals)), observer: Box::new(observer) })
    }
}

/// Asks Python for signals while a model is trained.
struct Asked<'a>(Rc<RefCell<&'a mut Signals>>);

impl Checkpointer for Asked<'_> {
    fn request(&mut self, _so_far: &Totals) -> CheckpointRequest {
        if self.0.borrow_mut().stop() { CheckpointRequest::SaveAndStop } else { CheckpointRequest::Continue }
    }

    fn save(&mut self, _checkpoint: &[u8]) {}
}

/// Calls a function of Python after each epoch, which ends the run by returning a true value, or by raising: what it raises is
/// what Python sees.
struct EachEpoch<'a> {
    function: Option<&'a Py<PyAny>>,
    signals: Rc<RefCell<&'a mut Signals>>,
}

impl Observer for EachEpoch<'_> {
    fn epoch(&mut self, epoch: &Epoch, run: &dyn Snapshot) -> ControlFlow<()> {
        let Some(function) = self.function else { return ControlFlow::Continue(()) };
        let Epoch { number, visited, mistakes, updates, errors, .. } = *epoch;
        let counts = (number, visited, mistakes, updates, errors, run.loss());
        let answer = Python::attach(|py| function.call1(py, counts)?.is_truthy(py));
        match answer {
            Ok(false) => ControlFlow::Continue(()),
            Ok(true) => ControlFlow::Break(()),
            Err(error) => {
                self.signals.borrow_mut().raise(error);
                ControlFlow::Break(())
            }
        }
    }
}

/// The call from outside was interrupted.
pub(crate) fn unless_stopped(signals: &mut Signals) -> Outcome<()> {
    if signals.stop() { Err(Failure::from(Error::Stopped)) } else { Ok(()) }
}
