//! A training whose description is found by a race.
//!
//! The estimate is honest because nothing it is made of was learned from or chosen with: the race is run on the rows
//! that are not held out, its winner is trained on them and judged on the others; with folds, all of that is done in
//! every fold. Then the winner learns from all rows, so that no row is lost on the estimate. Probabilities are fitted on
//! what the winner said in the race of rows it had not seen.

use super::{Estimate, Fitting, Plan, Racing, Trained};
use crate::error::Error;
use crate::evaluate::{Evaluation, Folds, Judged, keeps_scores};
use crate::insight::mistake_bound;
use crate::model::{Checkpoint, Model};
use crate::monitor::{Monitor, OrStop, Stage};
use crate::race::{Metric, Progress, Race, RaceOptions, Rescale, Spectator, portfolio, race, standardised};
use crate::spec::{Options, Spec};
use crate::split::split;
use crate::train::Training;
use rosenblatt_data::{Dataset, Scaling, Schema};
use std::sync::Arc;
use std::time::Duration;

/// Up to so many rows are copied to be brought to another scale.
const COPIED_ROWS: usize = 20_000;

impl Fitting<'_> {
    /// Races, judges the winner on rows that were not in the race, and trains it on all.
    pub(super) fn race(
        self,
        racing: &Racing,
        data: &Dataset,
        checkpoint: Option<Checkpoint>,
        monitor: &mut dyn Monitor,
    ) -> Result<Trained, Error> {
        let all: Vec<u32> = (0..data.len() as u32).collect();
        let seed = self.recipe.learning.seed;
        let known = crate::model::fingerprint(data);
        let mut notes = self.notes.clone();
        let judge = |learned: &[u32], held: &[u32], monitor: &mut dyn Monitor| {
            let raced = self.choose(racing, data, learned, monitor)?;
            // Many rows know nothing of each other by their common scale, and are not copied.
            let is_copied = data.len() <= COPIED_ROWS || data.len() < data.width();
            let rescaled = if is_copied { standardised(data, learned, &self.rescale()) } else { None };
            let seen = rescaled.as_ref().unwrap_or(data);
            let training = Training::new(&raced.winner, seen).rows(learned).fingerprint(&known);
            let model = training.checkpointer(&mut OrStop(monitor)).run(&mut ()).map_err(stopped)?;
            let model = self.calibrated(model, &raced, monitor)?;
            monitor.stage(Stage::Judging);
            let stop = &mut || monitor.wants_to_stop();
            let with_scores = keeps_scores(&seen.into(), held.len());
            let judged = Judged::new(&model, &mut seen.into(), held, with_scores, stop)?;
            Ok::<_, Error>((raced, judged.evaluation))
        };
        let (raced, estimate) = match self.recipe.estimate {
            Plan::HoldOut(share) if share > 0.0 => {
                let (learned, held) = split(data, share, seed);
                if learned.len() < 50 {
                    notes.push("fewer than 50 rows: the estimate is rough".to_owned());
                }
                let (raced, evaluation) = judge(&learned, &held, monitor)?;
                (raced, Some(Estimate { evaluation, fold_errors: Vec::new() }))
            }
            Plan::HoldOut(_) => (self.choose(racing, data, &all, monitor)?, None),
            Plan::Folds(n_folds) => {
                let mut judged = Vec::new();
                for (learned, held) in Folds::new(data, n_folds, seed)?.parts() {
                    judged.push(judge(learned, held, monitor)?.1);
                }
                let fold_errors = judged.iter().map(Evaluation::error).collect();
                let evaluation = Evaluation::pooled(&judged).ok_or(Error::NoRows)?;
                (self.choose(racing, data, &all, monitor)?, Some(Estimate { evaluation, fold_errors }))
            }
        };
        monitor.stage(Stage::Training);
        let schema = self.schema.clone().map(Arc::new);
        let training =
            Training::new(&raced.winner, data).rows(&all).schema_if_any(schema).fingerprint(&known);
        let model = training.resume(checkpoint).run_for(monitor)?;
        let (model, share) = match self.recipe.estimate {
            Plan::Folds(n_folds) => (model.with_folds(n_folds), 0.0),
            Plan::HoldOut(share) => (model, share),
        };
        let model = model.with_race(self.is_usual(racing).then_some(share));
        let model = model.with_estimate(estimate.as_ref().map(|estimate| estimate.remembered(true)));
        notes.extend(model.device_note());
        let mut trained = Trained {
            data: self.outline.clone(),
            training: None,
            estimate,
            mistake_bound: None,
            progress: Vec::new(),
            notes,
            is_unfinished: true,
            race: None,
            model: model.clone(),
        };
        let finish = |trained: &mut Trained, monitor: &mut dyn Monitor| {
            trained.model = self.calibrated(model, &raced, monitor)?;
            if monitor.wants_figures() {
                monitor.stage(Stage::Judging);
                let stop = &mut || monitor.wants_to_stop();
                let with_scores = keeps_scores(&data.into(), all.len());
                let judged = Judged::new(&trained.model, &mut data.into(), &all, with_scores, stop)?;
                trained.training = Some(judged.evaluation);
                trained.mistake_bound = mistake_bound(&trained.model, data, &all);
            }
            trained.is_unfinished = false;
            Ok(())
        };
        let finished = finish(&mut trained, monitor);
        trained.race = Some(raced);
        match finished {
            // The training is not lost on somebody who cannot wait for the figures.
            Err(Error::Stopped) => Ok(trained),
            finished => finished.map(|()| trained),
        }
    }

    /// What was brought to standard scale, all rows together.
    fn rescale(&self) -> Rescale {
        match self.outline.scaling {
            Scaling::Standard => {
                Rescale::AllBut(self.schema.as_ref().map_or_else(Vec::new, Schema::indicators))
            }
            _ => Rescale::Nothing,
        }
    }

    /// Whether the race can be told in a word: the usual candidates, compared as usual.
    fn is_usual(&self, racing: &Racing) -> bool {
        let Racing { candidates, metric, budget } = racing;
        self.recipe.says_nothing()
            && candidates.is_empty()
            && *metric == Metric::default()
            && budget.is_none()
    }

    /// Runs the race on these rows.
    fn choose(
        &self,
        racing: &Racing,
        data: &Dataset,
        rows: &[u32],
        monitor: &mut dyn Monitor,
    ) -> Result<Race, Error> {
        // How long to train is decided by the race.
        let base = Options { validation: None, ..self.recipe.learning.clone() };
        let named = racing.candidates.iter().cloned();
        let candidates = if racing.candidates.is_empty() {
            portfolio(data, rows.len(), &base)?
        } else {
            named
                .map(|options| Spec::new(Options { validation: None, ..options }))
                .collect::<Result<_, _>>()?
        };
        let options = RaceOptions {
            metric: racing.metric,
            seed: base.seed,
            threads: Some(self.recipe.reading.threads).filter(|n_threads| *n_threads > 0),
            rescale: self.rescale(),
            budget: racing.budget.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
        };
        race(&candidates, data, rows, &options, &mut Watching(monitor)).map_err(stopped)
    }

    /// The model with probabilities, if they are wished.
    fn calibrated(&self, model: Model, raced: &Race, monitor: &mut dyn Monitor) -> Result<Model, Error> {
        let Some(method) = self.calibrate else { return Ok(model) };
        monitor.stage(Stage::Calibrating);
        let fitted = raced.calibration(method, &mut || monitor.wants_to_stop())?;
        Ok(model.with_calibration(Some(fitted)))
    }
}

/// Work that leaves nothing behind is not interrupted, but given up.
fn stopped(error: Error) -> Error {
    match error {
        Error::Interrupted { .. } => Error::Stopped,
        error => error,
    }
}

/// The monitor at a race.
struct Watching<'a>(&'a mut dyn Monitor);

impl Spectator for Watching<'_> {
    fn told(&mut self, so_far: &Progress) {
        self.0.stage(Stage::Race(*so_far));
    }

    fn wants_to_stop(&mut self) -> bool {
        self.0.wants_to_stop()
    }
}
