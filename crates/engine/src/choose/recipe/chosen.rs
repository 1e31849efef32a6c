//! A training whose description is found by a race.
//!
//! The estimate is honest because nothing it is made of was learned from or chosen with: the race is run on the rows
//! that are not held out, its winner is trained on them and judged on the others; with folds, all of that is done in
//! every fold. Then the winner learns from all rows, so that no row is lost on the estimate. Probabilities are fitted on
//! the winner's predictions in the race for rows it had not seen.

use super::{Estimate, FEW, Fitting, Plan, Racing, Trained, stopped};
use crate::error::Error;
use crate::evaluate::{Evaluation, Judged, keeps_scores};
use crate::insight::mistake_bound;
use crate::model::{Checkpoint, Model};
use crate::monitor::{Monitor, OrStop, Stage};
use crate::race::{
    BENDS, MOST_ROWS, Metric, Progress, Race, RaceOptions, Rescale, Spectator, crossed, gather, portfolio,
    race, standardised,
};
use crate::rows::check_finite;
use crate::spec::{Options, Spec};
use crate::split::Ties;
use crate::train::Training;
use crate::understand::shuffling::{Shuffling, variations};
use rosenblatt_data::{Bends, Dataset, Missing, ReadOptions, Scaling, Schema, Shape, load_with_schema};
use std::sync::Arc;
use std::time::Duration;

/// The rows that are measured to learn how long rows of bent columns are.
const FEW_ROWS: usize = 1_000;
/// A number that bends takes four times the memory: more of them than this stay straight, unless they are asked to bend.
const MOST_BENT: usize = 1 << 26;
/// The same in a race, where several shapes are at hand at once.
const MOST_RACED: usize = 1 << 22;
/// Up to this many rows are copied to be brought to another scale.
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
        let known = crate::model::fingerprint(data);
        let mut notes = self.notes.clone();
        let parts = self.recipe.parts(&data.into())?;
        let (n_parts, mut n_judged, mut shuffling) = (parts.len(), 0, None);
        let mut judge = |learned: &[u32], held: &[u32], monitor: &mut dyn Monitor| {
            let raced = self.choose(racing, data, learned, monitor)?;
            monitor.stage(Stage::Fold { candidate: 0, fold: n_judged, n_folds: n_parts });
            n_judged += 1;
            // Many rows know nothing of each other by their common scale, and are not copied.
            let is_copied = data.len() <= COPIED_ROWS || data.len() < data.width();
            let bends = self.bends(raced.shape(), data, learned);
            let rescaled = match &bends {
                Some(bends) => Some(data.bent(bends)),
                None if is_copied => standardised(data, learned, &self.rescale()),
                None => None,
            };
            let seen = rescaled.as_ref().unwrap_or(data);
            let training = Training::new(&raced.winner, seen).rows(learned).fingerprint(&known);
            let model = training.checkpointer(&mut OrStop(monitor)).run(&mut ()).map_err(stopped)?;
            let model = self.calibrated(model, &raced, monitor)?;
            monitor.stage(Stage::Judging);
            let stop = &mut || monitor.wants_to_stop();
            let with_scores = keeps_scores(&seen.into(), held.len());
            let judged = Judged::new(&model, &mut seen.into(), held, with_scores, stop)?;
            // Where knots are is known of these rows alone; how many there are tells where columns stand.
            let shaped = bends.and_then(|bends| Some(Schema { bends: Some(bends), ..self.schema.clone()? }));
            let schema = shaped.as_ref().or(self.schema.as_ref());
            let shuffling = shuffling.get_or_insert_with(|| Shuffling::new(seen.width(), schema, &model));
            shuffling.moved(seen.width(), schema, &model);
            shuffling.add(&model, &mut seen.into(), held, n_parts, self.recipe.learning.seed)?;
            Ok::<_, Error>((raced, judged))
        };
        if parts.iter().any(|(learned, _)| learned.len() < FEW) {
            notes.push(format!("fewer than {FEW} rows: the estimate is rough"));
        }
        let (mut first, mut judged) = (None, Vec::new());
        for (learned, held) in &parts {
            let (raced, of_part) = judge(learned, held, monitor)?;
            first.get_or_insert(raced);
            judged.push(of_part);
        }
        // Of one part, the race was run on nearly all rows; of folds, on those of each but one.
        let raced = match (first, parts.len()) {
            (Some(raced), 1) => raced,
            _ => self.choose(racing, data, &all, monitor)?,
        };
        let held_out = self.recipe.predictions(&parts, &judged);
        let evaluation = Evaluation::pooled(judged.iter().map(|judged| &judged.evaluation));
        let estimate = evaluation.map(|mut evaluation| {
            evaluation.take_areas(held_out.as_ref());
            let errors = judged.iter().map(|judged| judged.evaluation.error());
            let fold_errors = if judged.len() > 1 { errors.collect() } else { Vec::new() };
            let by_group = self.recipe.by_group(held_out.as_ref(), &evaluation);
            Estimate { evaluation, fold_errors, by_group }
        });
        notes.extend(self.recipe.told_of_drift(&parts, &judged, &notes));
        let is_usual = self.is_usual(racing);
        // Whichever shape won, the same command races them again.
        let raced_shape = is_usual && !self.straight(data).is_empty();
        let reread = self.read_bent(raced.shape(), data, monitor)?;
        let (data, schema) = match &reread {
            Some((bent, schema)) => (bent, Some(schema.clone())),
            None => (data, self.schema.clone()),
        };
        let known = if reread.is_some() { crate::model::fingerprint(data) } else { known };
        let mut outline = self.outline.clone();
        if reread.is_some() {
            (outline.scaling, outline.features) = (Scaling::None, data.width());
        }
        monitor.stage(Stage::Training);
        let schema = schema.map(Arc::new);
        let kept = match parts.as_slice() {
            [(learned, _)] if !self.recipe.refit => learned,
            _ => &all,
        };
        let training =
            Training::new(&raced.winner, data).rows(kept).schema_if_any(schema).fingerprint(&known);
        let model = training.resume(checkpoint).run_for(monitor)?;
        let (mut model, share) = match self.recipe.estimate {
            Plan::Folds(n_folds) => (model.with_folds(n_folds), 0.0),
            plan => (model, plan.share().unwrap_or(0.0)),
        };
        model.provenance.held_out = held_out.filter(|_| self.recipe.keep_held_out).map(Arc::new);
        if let Some(shuffling) = shuffling {
            model.provenance.importance = shuffling.found().map(Arc::new);
            model.provenance.variations = variations(&model, &mut data.into(), self.recipe.learning.seed)?;
        }
        model.training_summary.raced_shape = raced_shape;
        model.training_summary.without_crosses = raced_shape && !self.may_cross();
        let model = model.with_race(is_usual.then_some(share));
        let model = model
            .with_estimate(estimate.as_ref().map(|estimate| estimate.remembered(kept.len() == all.len())));
        notes.extend(model.device_note());
        let trained = Trained::new(model.clone(), outline, notes);
        let mut trained = Trained { estimate, is_unfinished: true, ..trained };
        let finish = |trained: &mut Trained, monitor: &mut dyn Monitor| {
            trained.model = self.calibrated(model, &raced, monitor)?;
            if monitor.wants_figures() {
                monitor.stage(Stage::Judging);
                let stop = &mut || monitor.wants_to_stop();
                let with_scores = keeps_scores(&data.into(), kept.len());
                let judged = Judged::new(&trained.model, &mut data.into(), kept, with_scores, stop)?;
                trained.training = Some(judged.evaluation);
                trained.mistake_bound = mistake_bound(&trained.model, data, kept);
            }
            trained.is_unfinished = false;
            Ok(())
        };
        let finished = finish(&mut trained, monitor);
        trained.race = Some(raced);
        match finished {
            // A stop while the error is measured keeps the trained model.
            Err(Error::Stopped) => Ok(trained),
            finished => finished.map(|()| trained),
        }
    }

    /// What was brought to standard scale, all rows together.
    pub(super) fn rescale(&self) -> Rescale {
        match self.outline.scaling {
            Scaling::Standard => {
                Rescale::AllBut(self.schema.as_ref().map_or_else(Vec::new, Schema::indicators))
            }
            _ => Rescale::Nothing,
        }
    }

    /// Whether one word describes the race: the usual candidates, compared as usual.
    fn is_usual(&self, racing: &Racing) -> bool {
        let Racing { candidates, metric, budget } = racing;
        self.recipe.learning.leaves_race_open()
            && candidates.is_empty()
            && *metric == Metric::default()
            && budget.is_none()
    }

    /// The features that may bend; none if the shape of columns is settled, or they could not be read again. A scale that
    /// is asked for is one of straight columns, and a cross of columns that bend is another one than was raced.
    pub(super) fn straight(&self, data: &Dataset) -> Vec<u32> {
        let is_asked = self.again.is_some_and(|(_, reading)| {
            matches!(reading.shape, Shape::Auto | Shape::Curves)
                && (reading.scaling == Scaling::Auto || reading.missing == Missing::Own)
                && reading.crosses.is_empty()
                && reading.schema.is_none()
                && !self.recipe.is_precomputed()
        });
        let schema = self.schema.as_ref().filter(|_| is_asked);
        let numbers = schema.map_or_else(Vec::new, |schema| schema.numbers(data.width()));
        let n_rows = usize::try_from(self.outline.rows).unwrap_or(usize::MAX);
        let is_little = |n_rows: usize, most: usize| n_rows.saturating_mul(numbers.len()) <= most;
        let is_open = is_little(n_rows, MOST_BENT) && is_little(n_rows.min(MOST_ROWS), MOST_RACED);
        if is_open || self.lacks(data) { numbers } else { Vec::new() }
    }

    /// Whether numbers are missing that have no weight but where columns bend.
    pub(super) fn lacks(&self, data: &Dataset) -> bool {
        self.again.is_some_and(|(_, reading)| reading.missing == Missing::Own)
            && check_finite(data.view()).is_err()
    }

    /// Whether pairs of columns may add something together.
    fn may_cross(&self) -> bool {
        self.again.is_some_and(|(_, reading)| reading.shape == Shape::Auto)
    }

    /// How columns of this shape bend, by the rows that are learned from.
    pub(super) fn bends(&self, shape: Shape, data: &Dataset, learned: &[u32]) -> Option<Bends> {
        Bends::fit(shape, data, learned.iter().map(|&row| row as usize), &self.straight(data))
    }

    /// All rows read once more with columns that bend, if they are to; the values of `data` are scaled.
    pub(super) fn read_bent(
        &self,
        shape: Shape,
        data: &Dataset,
        monitor: &mut dyn Monitor,
    ) -> Result<Option<(Dataset, Schema)>, Error> {
        let (Shape::Bend { .. }, Some((source, reading))) = (shape, self.again) else { return Ok(None) };
        monitor.stage(Stage::Reading(source));
        let (bent, schema) = load_with_schema(source, &ReadOptions { shape, ..reading.clone() })?;
        let bent = match &self.recipe.positive {
            Some(class) => super::with_positive(bent, class)?,
            None => bent,
        };
        if bent.classes() != data.classes() {
            return Err(Error::SourceChanged);
        }
        Ok(Some((bent, schema)))
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
        let base = Options { validation: None, ..self.recipe.learning.options().clone() };
        let named = racing.candidates.iter().cloned();
        let mut shapes = Vec::new();
        let candidates = if racing.candidates.is_empty() {
            let mut all = if self.lacks(data) { Vec::new() } else { portfolio(data, rows.len(), &base)? };
            shapes.resize(all.len(), Shape::Line);
            let some = |most: usize| -> Dataset {
                let step = rows.len().div_ceil(most).max(1);
                gather(data, &rows.iter().copied().step_by(step).collect::<Vec<u32>>())
            };
            let few = some(FEW_ROWS);
            let places: Vec<u32> = (0..few.len() as u32).collect();
            for shape in BENDS {
                // Of few rows it is seen how long they are once they bend.
                let Some(bends) = self.bends(shape, &few, &places) else { continue };
                let more = portfolio(&few.bent(&bends), rows.len(), &base)?;
                shapes.extend(more.iter().map(|_| shape));
                all.extend(more);
            }
            let n_columns = if self.may_cross() { self.straight(data).len() } else { 0 };
            let many = if n_columns > 1 { some(MOST_ROWS) } else { few };
            let places: Vec<u32> = (0..many.len() as u32).collect();
            for shape in crossed(n_columns) {
                // Where no pair says anything, there is nothing to race.
                let bends = self.bends(shape, &many, &places);
                let Some(bends) = bends.filter(|bends| !bends.surfaces.is_empty()) else { continue };
                let more = portfolio(&many.bent(&bends), rows.len(), &base)?;
                shapes.extend(more.iter().map(|_| shape));
                all.extend(more);
            }
            all
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
            ties: Ties::clone(&self.recipe.ties),
            shapes,
            numbers: self.straight(data),
        };
        race(&candidates, data, rows, &options, &mut Watching(monitor)).map_err(stopped)
    }

    /// The model with probabilities, if they are wished.
    fn calibrated(&self, model: Model, raced: &Race, monitor: &mut dyn Monitor) -> Result<Model, Error> {
        let n_classes = model.labels().len();
        let method =
            self.calibrate.and_then(|_| raced.winner.calibration(self.recipe.calibration, n_classes));
        let Some(method) = method else { return Ok(model) };
        monitor.stage(Stage::Calibrating);
        let fitted = raced.calibration(method, &mut || monitor.wants_to_stop())?;
        Ok(model.with_calibration(Some(fitted)))
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
