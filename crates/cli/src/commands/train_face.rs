//! What the command line does while a recipe is at work: the bar, the clock, signals, checkpoints, `--bounds`.

use super::bounds::{self, Bounds};
use crate::checkpoints::Checkpoints;
use crate::progress::Progress;
use crate::signals;
use crate::ui::{self, count, percent};
use rosenblatt::learning::observer::Snapshot;
use rosenblatt::learning::{Epoch, Observer, Totals};
use rosenblatt::monitor::{self, CheckpointRequest, Checkpointer, Pausable, Progress as RaceProgress, Stage};
use rosenblatt::recipe::error_rates;
use rosenblatt::{Dataset, Error, Monitor, Spec};
use rosenblatt_data::Meter;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The watcher of one training.
pub(super) struct Face {
    pub(super) progress: Progress,
    pub(super) meter: Meter,
    /// Checkpoints, if any are kept.
    pub(super) checkpoints: Option<Arc<Mutex<Checkpoints>>>,
    pub(super) with_bounds: bool,
    /// What they were, once the training is over.
    pub(super) bounds: Option<Bounds>,
    /// The table of a stream, unless it is hidden.
    pub(super) table: Option<Table>,
    begun: Instant,
    pub(super) read_time: Option<Duration>,
    pub(super) train_time: Duration,
    /// Mistakes of every epoch.
    pub(super) mistakes: Vec<u64>,
}

impl Face {
    pub(super) fn new(shown: bool, meter: Meter) -> Self {
        Self {
            progress: Progress::new(shown),
            meter,
            checkpoints: None,
            with_bounds: false,
            bounds: None,
            table: None,
            begun: Instant::now(),
            read_time: None,
            train_time: Duration::ZERO,
            mistakes: Vec::new(),
        }
    }

    /// How long all of it has taken.
    pub(super) fn time(&self) -> Duration {
        self.begun.elapsed()
    }
}

impl Monitor for Face {
    fn stage(&mut self, stage: Stage<'_>) {
        match stage {
            Stage::Reading(source) => self.progress.reading(source, &self.meter, 1),
            Stage::Fold { fold, n_folds, .. } => {
                self.read_time.get_or_insert(self.begun.elapsed());
                if n_folds == 1 {
                    return self.progress.stage("learning without the held-out rows, to be judged on them");
                }
                self.progress.show(Some(fold as f64 / n_folds as f64), || {
                    format!("cross-validation: fold {} of {n_folds}", fold + 1)
                });
            }
            Stage::Race(RaceProgress { bout, bouts, done, of }) => {
                self.read_time.get_or_insert(self.begun.elapsed());
                let share = (bout - 1) as f64 + done as f64 / of.max(1) as f64;
                self.progress.show(Some(share / bouts as f64), || {
                    format!("race: bout {bout} of {bouts}, {done} of {of} candidates judged")
                });
            }
            Stage::Training => {
                self.read_time.get_or_insert(self.begun.elapsed());
                self.progress.stage("first epoch");
                if self.checkpoints.is_some() {
                    // From here on there is something to lose.
                    signals::be_careful();
                }
            }
            Stage::Calibrating => self.progress.stage("calibration"),
            _ => self.progress.stage("measuring"),
        }
    }

    fn wants_to_stop(&mut self) -> bool {
        signals::asked().is_some()
    }

    fn training<'a>(
        &'a mut self,
        spec: &'a Spec,
        data: Option<&'a Dataset>,
    ) -> Result<monitor::Watch<'a>, Error> {
        let Self { progress, checkpoints, with_bounds, bounds, train_time, mistakes, .. } = self;
        let (progress, epochs) = (&*progress, spec.options().epochs);
        let clock = Clock { begun: Instant::now(), took: train_time };
        let watch = Watch { progress, epochs, mistakes, last: None, _clock: clock };
        let observer: Box<dyn Observer + 'a> =
            if *with_bounds { bounds::beside(watch, spec, data, bounds)? } else { Box::new(watch) };
        let checkpointer: Box<dyn Checkpointer + 'a> = match checkpoints {
            Some(checkpoints) => Box::new(Locked(lock(checkpoints))),
            None => Box::new(()),
        };
        Ok(monitor::Watch { checkpointer, observer })
    }

    fn online(&mut self, learner: &Arc<Mutex<dyn Pausable>>) {
        let (learner, checkpoints) = (Arc::clone(learner), self.checkpoints.clone());
        // A stream may be silent for hours, so this thread does not wait for signals: the thread that receives one
        // makes the checkpoint.
        signals::last_will(move |signal| {
            let checkpoint = lock(&learner).checkpoint();
            if let Some(checkpoints) = checkpoints {
                let mut checkpoints = lock(&checkpoints);
                if let Some(checkpoint) = checkpoint {
                    checkpoints.save(&checkpoint);
                }
                ui::complain(&checkpoints.stopped(signal));
            }
        });
    }

    fn learned(&mut self, learner: &dyn Pausable, totals: Totals) {
        if let Some(checkpoints) = &self.checkpoints {
            let mut checkpoints = lock(checkpoints);
            if checkpoints.request(&totals) == CheckpointRequest::Save
                && let Some(checkpoint) = learner.checkpoint()
            {
                checkpoints.save(&checkpoint);
            }
        }
        if let Some(table) = &mut self.table
            && totals.rounds.is_power_of_two()
        {
            table.line(totals);
        }
    }
}

/// The checkpoints of one training.
struct Locked<'a>(MutexGuard<'a, Checkpoints>);

impl Checkpointer for Locked<'_> {
    fn request(&mut self, so_far: &Totals) -> CheckpointRequest {
        self.0.request(so_far)
    }

    fn save(&mut self, checkpoint: &[u8]) {
        self.0.save(checkpoint);
    }
}

/// Measures how long it lives.
pub(super) struct Clock<'a> {
    begun: Instant,
    took: &'a mut Duration,
}

impl Drop for Clock<'_> {
    fn drop(&mut self) {
        *self.took = self.begun.elapsed();
    }
}

fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The table of a stream, a line at every power of two, and one at the end.
#[derive(Default)]
pub(super) struct Table {
    last: Totals,
}

impl Table {
    /// Prints a line, unless it was printed. If stderr is closed, the report that follows has the same figures.
    pub(super) fn line(&mut self, totals: Totals) {
        if totals.rounds <= self.last.rounds {
            return;
        }
        let head = ["rows", "error since last", "error so far", "updates"].map(str::to_owned);
        let errors = error_rates(&self.last, &totals);
        let cells = [count(totals.rounds), percent(errors.0), percent(errors.1), count(totals.updates)];
        let shown = if self.last.rounds == 0 { vec![head, cells] } else { vec![cells] };
        for [rows, since, so_far, updates] in shown {
            let _ = ui::print(&format!("{rows:>13}  {since:>16}  {so_far:>12}  {updates:>13}\n"));
        }
        self.last = totals;
    }
}

/// Shows how training gets on.
pub(super) struct Watch<'a> {
    pub(super) progress: &'a Progress,
    pub(super) epochs: u64,
    /// Of every epoch so far.
    mistakes: &'a mut Vec<u64>,
    /// When the last epoch ended.
    last: Option<Instant>,
    _clock: Clock<'a>,
}

impl Observer for Watch<'_> {
    fn epoch(&mut self, epoch: &Epoch, _run: &dyn Snapshot) -> ControlFlow<()> {
        let Self { progress, epochs, .. } = *self;
        self.mistakes.push(epoch.mistakes);
        let took = self.last.replace(Instant::now()).map(|last| last.elapsed().as_secs_f64());
        let rate = took.map_or_else(String::new, |took| {
            format!(", {} rows/s", count((epoch.visited as f64 / took.max(1e-9)) as u64))
        });
        let error = epoch.errors as f64 / epoch.visited.max(1) as f64;
        progress.show(Some(epoch.number as f64 / epochs as f64), || {
            let (error, mistakes) = (percent(error), count(self.mistakes.iter().sum::<u64>()));
            format!("epoch {} of {epochs}: error {error}, {mistakes} mistakes{rate}", epoch.number)
        });
        ControlFlow::Continue(())
    }
}
