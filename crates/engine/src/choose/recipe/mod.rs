//! From files to a model and an honest estimate of how good it is: what every face of Rosenblatt does when it trains.
//!
//! ```no_run
//! use rosenblatt::Recipe;
//! use rosenblatt::data::Source;
//!
//! let trained = Recipe::default().train(&Source::find("mail.csv")?, &mut ())?;
//! println!("{:.1} % of new rows are wrong", 100.0 * trained.estimate.unwrap().evaluation.error());
//! trained.model.save("mail.model")?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A part of the rows is held out before anything is learned or chosen; it serves the estimate. On the rest candidates
//! race for what is to be trained ([`Choice::Race`]), and the winner learns once more, from all rows. If what is trained
//! is said, the rows that are held out serve the fit of probabilities, too, and are not learned from; of the rest, a
//! validation set decides when to stop. Vocabularies and scales are taken from all rows; they see no labels. With folds
//! instead, every row is held out once by models that are trained for nothing else, and the model
//! that is kept learns from all rows.
//!
//! Nothing here prints, reads a clock or knows a signal: that is the [`Monitor`]'s business.

mod chosen;
mod disk;
mod infer;
mod ongoing;
mod online;
mod start;
mod suspicion;

pub use crate::estimate::{Calibrate, Plan};
pub use infer::LabelFound;
pub use ongoing::Ongoing;

use crate::calibration::{Calibration, Naming, Scored};
use crate::costs::Costs;
use crate::defaults;
use crate::error::Error;
use crate::estimate::Method;
use crate::evaluate::{Evaluation, Folds, Judged, keeps_scores};
use crate::insight::mistake_bound;
use crate::model::{Checkpoint, Estimated, Model};
use crate::monitor::{Monitor, Stage};
use crate::race::{self, Metric, Race};
use crate::rows::RowSource;
use crate::spec::{Options, Spec};
use crate::split::split;
use crate::statistics::deviation;
use crate::train::Training;
use rosenblatt_core::{Hyperplanes, Readout, Totals};
use rosenblatt_data::{Dataset, Labels, ReadOptions, Scaling, Schema, Source, load_with_schema};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;

/// Everything that may be said about a training. The default is what is done if nothing is said.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Recipe {
    /// How the data is read.
    pub reading: ReadOptions,
    /// What is learned; in a race, what all candidates have in common.
    pub learning: Options,
    /// Who decides what is learned.
    pub choice: Choice,
    /// How the estimate is come by.
    pub estimate: Plan,
    /// How scores become probabilities.
    pub calibration: Calibrate,
    /// The class that a positive score speaks for. If there are more than two, it is told from all others together.
    pub positive: Option<String>,
    /// How much memory the rows may take; as much as they need if nothing is said.
    pub memory: Option<MemoryLimit>,
    /// Learn in one epoch over the rows in their order, in the memory of a few blocks. Each row is predicted before it
    /// is learned from, and the errors of those predictions are the estimate.
    pub online: bool,
    /// The model to start from instead of nothing. Its classes, columns and scales are kept; what is not said about
    /// learning is as it was there.
    #[serde(skip)]
    pub start: Option<Arc<Model>>,
    /// Take nothing but the classes, columns and options of that model: weights begin at zero. Votes, kernels and maps
    /// have no weights to start from, and so can go on in no other way.
    pub blank: bool,
}

impl Default for Recipe {
    fn default() -> Self {
        Self {
            reading: ReadOptions::default(),
            learning: Options::default(),
            choice: Choice::default(),
            estimate: Plan::default(),
            calibration: Calibrate::Auto,
            positive: None,
            memory: None,
            online: false,
            start: None,
            blank: false,
        }
    }
}

/// Who decides what is learned.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    /// The usual race, if the options say nothing but the seed and how much classes count, and the rows are in memory;
    /// else the options.
    #[default]
    Auto,
    /// The options, as they are.
    Given,
    /// A race of candidates on the rows that are not held out, which must be in memory.
    Race(Racing),
}

/// What a race is about.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Racing {
    /// Who takes part, the preferred ones first; the usual ones if nobody is named. No validation sets are kept apart: how
    /// long to train is decided by the race.
    pub candidates: Vec<Options>,
    /// What they are compared by.
    pub metric: Metric,
    /// No part of the race is begun after so many seconds. With it the outcome depends on the machine.
    pub budget: Option<f64>,
}

/// A limit on the memory that rows take. If they take more, they are parsed once into a cache on disk, and every
/// epoch reads that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MemoryLimit {
    /// In bytes.
    pub bytes: u64,
    /// Where the cache is kept, to be used again for the same data read in the same way. If nothing is said, it is a
    /// nameless file in the folder for temporary files, and ends with the training.
    #[serde(default)]
    pub cache: Option<PathBuf>,
}

/// A model, and all there is to say about it.
#[derive(Debug)]
pub struct Trained {
    /// The model.
    pub model: Model,
    /// What it was trained from.
    pub data: Outline,
    /// How good it is on the rows it learned from; unknown of a stream, if it was not finished, and if
    /// [nobody wants to know](Monitor::wants_figures).
    pub training: Option<Evaluation>,
    /// How good it is on rows it did not learn from.
    pub estimate: Option<Estimate>,
    /// How what was trained was chosen, if it was by a race.
    pub race: Option<Race>,
    /// What is proved about its mistakes with the margin that was found, if anything is.
    pub mistake_bound: Option<f64>,
    /// Of a stream, the totals at every power of two of rows, and in the end.
    pub progress: Vec<Totals>,
    /// What a person may want to know about how the data was understood.
    pub notes: Vec<String>,
    /// Whether somebody wanted to stop after the training: then nothing was measured, and no probabilities fitted.
    pub is_unfinished: bool,
}

/// What was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Outline {
    /// What the source is called.
    pub source: String,
    /// Rows.
    pub rows: u64,
    /// Features of a row.
    pub features: usize,
    /// The classes, with their number of rows; of a stream they are not counted.
    pub classes: Vec<(String, u64)>,
    /// Which column was taken for the label, and why.
    pub label: Option<LabelFound>,
    /// How features were brought to one scale.
    pub scaling: Scaling,
    /// Rows of a stream that lacked a value and were left out.
    pub dropped: u64,
    /// Rows of a stream that could not be read and were left out.
    pub skipped: u64,
}

/// What held-out rows said.
#[derive(Debug, Clone)]
pub struct Estimate {
    /// All held-out rows together. Probabilities are judged by curves that were not fitted on the rows they are
    /// judged on: each half by the other's.
    pub evaluation: Evaluation,
    /// The error of each fold; empty if rows were held out once.
    pub fold_errors: Vec<f64>,
}

impl Estimate {
    /// What a model remembers of it; `refitted` if it learned from the same rows afterwards.
    fn remembered(&self, refitted: bool) -> Estimated {
        Estimated { rows: self.evaluation.rows, errors: self.evaluation.errors, refitted }
    }

    /// The standard deviation of the error from fold to fold.
    pub fn deviation(&self) -> f64 {
        deviation(&self.fold_errors)
    }
}

impl Recipe {
    /// The weights that learning starts from, if any.
    fn start_planes(&self) -> Option<Hyperplanes> {
        self.start.as_ref().filter(|_| !self.blank).and_then(|model| model.planes().cloned())
    }

    /// Checks what can be checked before anything is read.
    pub fn check(&self) -> Result<(), Error> {
        Spec::new(self.learning.clone())?;
        let range = |name, expected, found: String| Err(Error::Range { name, expected, found });
        match (self.estimate, self.calibration) {
            (Plan::HoldOut(share), _) if !(0.0..1.0).contains(&share) => {
                range("hold-out", "at least 0 and below 1", share.to_string())
            }
            (Plan::Folds(n_folds), _) if n_folds < 2 => range("folds", "at least 2", n_folds.to_string()),
            _ if self.learning.costs != Costs::Even && !self.may_calibrate() => {
                Err(Error::CostsWithoutProbabilities)
            }
            (Plan::HoldOut(0.0), Calibrate::Platt | Calibrate::Isotonic) => Err(Error::NothingHeldOut),
            _ if self.is_precomputed() && !matches!(self.reading.scaling, Scaling::Auto | Scaling::None) => {
                range(
                    "scaling",
                    "none for kernel values that are precomputed",
                    self.reading.scaling.to_string(),
                )
            }
            _ if self.online => online::spec(self).map(|_| ()),
            _ => Ok(()),
        }
    }

    /// What is learned of it where rows come and go: one epoch in their order; an error if the rule needs more.
    pub fn online_spec(&self) -> Result<Spec, Error> {
        online::spec(self)
    }

    /// Reads, trains and measures, watched by `monitor`.
    pub fn train(&self, source: &Source, monitor: &mut dyn Monitor) -> Result<Trained, Error> {
        self.resume(source, None, monitor)
    }

    /// The same, going on from a checkpoint of the same recipe and data.
    pub fn resume(
        &self,
        source: &Source,
        checkpoint: Option<Checkpoint>,
        monitor: &mut dyn Monitor,
    ) -> Result<Trained, Error> {
        if self.start.is_some() {
            return start::from_model(self)?.follow(source, checkpoint, monitor);
        }
        self.follow(source, checkpoint, monitor)
    }

    fn follow(
        &self,
        source: &Source,
        checkpoint: Option<Checkpoint>,
        monitor: &mut dyn Monitor,
    ) -> Result<Trained, Error> {
        self.check()?;
        let trained = self.train_as_said(source, checkpoint, monitor);
        let mut trained = trained.map_err(|error| error.in_data(&source.name()))?;
        let spec = &trained.model.spec;
        if trained.model.calibration.is_none() && spec.options().costs != Costs::Even {
            if !trained.is_unfinished {
                return Err(Error::CostsWithoutProbabilities);
            }
            // Without probabilities there is nothing to weigh costs by.
            trained.model.spec = spec.with_costs(Costs::Even);
        }
        Ok(trained)
    }

    fn train_as_said(
        &self,
        source: &Source,
        checkpoint: Option<Checkpoint>,
        monitor: &mut dyn Monitor,
    ) -> Result<Trained, Error> {
        monitor.stage(Stage::Reading(source));
        if self.online {
            return online::train(self, source, checkpoint, monitor);
        }
        if let Some(limit) = &self.memory
            && let Some(trained) = disk::train(self, source, limit, checkpoint.as_ref(), monitor)?
        {
            return Ok(trained);
        }
        let reading = self.reading();
        let (data, schema) = load_with_schema(source, &reading)?;
        infer::check_label(&reading, &schema, data.classes().len(), data.labels().len())?;
        self.fit(source.name(), data, Some((&reading, schema)), checkpoint, monitor)
    }

    /// The same for rows that are in memory already, and are taken as they are.
    ///
    /// ```
    /// use rosenblatt::{Dataset, Recipe};
    ///
    /// let rows: Vec<[f64; 2]> = (0..40).map(|row| [f64::from(row), f64::from(row % 3)]).collect();
    /// let names: Vec<&str> = (0..40).map(|row| if row < 20 { "low" } else { "high" }).collect();
    /// let trained = Recipe::default().train_rows(Dataset::from_rows(&rows, &names), &mut ())?;
    /// assert_eq!(trained.model.predict(&[39.0, 1.0])?, "high");
    /// # Ok::<(), rosenblatt::Error>(())
    /// ```
    pub fn train_rows(&self, data: Dataset, monitor: &mut dyn Monitor) -> Result<Trained, Error> {
        self.check()?;
        self.fit("rows in memory".to_owned(), data, None, None, monitor)
    }

    fn fit(
        &self,
        name: String,
        data: Dataset,
        read: Option<(&ReadOptions, Schema)>,
        checkpoint: Option<Checkpoint>,
        monitor: &mut dyn Monitor,
    ) -> Result<Trained, Error> {
        let data = match &self.positive {
            Some(class) => with_positive(data, class)?,
            None => data,
        };
        if let Plan::Folds(folds) = self.estimate
            && folds > data.len()
        {
            return Err(Error::TooFewRows { folds, rows: data.len() });
        }
        let mut notes = read.as_ref().map_or_else(Vec::new, |(_, schema)| schema.notes.clone());
        if data.rows_are_alike() {
            notes.push(
                "all features are constant: every row is the same, and no class can be told".to_owned(),
            );
        }
        if let Some((_, schema)) = &read {
            notes.extend(suspicion::deciding(&data, schema));
        }
        notes.extend(self.told_of_copies(&data));
        if let Some(model) = &self.start {
            notes.extend(start::told(model, &data, self.blank)?);
        }
        let outline =
            outline(name, &(&data).into(), read.as_ref().map(|(reading, schema)| (*reading, schema)));
        let spec = self.spec(&(&data).into())?;
        let schema = read.map(|(_, schema)| schema);
        let mut calibrate = self.calibration.method();
        let is_asked = self.calibration != Calibrate::Auto || self.learning.costs != Costs::Even;
        let (n_classes, too_many) =
            (data.labels().len(), "classes have more scores than so few rows justify");
        if calibrate.is_some() && !is_asked && !keeps_scores(&(&data).into(), self.n_judged(data.len())) {
            calibrate = None;
            notes.push(format!("probabilities are not fitted, as {n_classes} {too_many}"));
        }
        if matches!(self.choice, Choice::Auto) && self.says_nothing() && !can_race(&(&data).into()) {
            let rule = spec.entry().info.name;
            notes.push(format!("no candidates are raced: {rule} as it comes, as {n_classes} {too_many}"));
        }
        if matches!(self.choice, Choice::Auto) && !self.says_nothing() {
            let rule = spec.entry().info.name;
            notes.push(format!("no candidates are raced, as options say how to learn: {rule}"));
        }
        let fitting = Fitting { recipe: self, spec, schema, calibrate, outline, notes };
        fitting.run(&mut (&data).into(), checkpoint, monitor)
    }

    /// The race that decides what is learned, if one does. Where rows are too few to judge by, nobody is asked to.
    fn racing(&self, rows: &RowSource<'_>) -> Option<Racing> {
        let mut counts = vec![0_usize; rows.labels().len()];
        rows.classes().iter().for_each(|&class| counts[class as usize] += 1);
        let n_known = counts.iter().filter(|count| **count >= defaults::ROWS_TO_RACE_BY).count();
        match &self.choice {
            Choice::Auto if n_known < 2 || !can_race(rows) => None,
            Choice::Auto if self.says_nothing() => Some(Racing::default()),
            Choice::Race(racing) => Some(racing.clone()),
            Choice::Auto | Choice::Given => None,
        }
    }

    /// How many rows are judged by a model that did not learn from them.
    fn n_judged(&self, n_rows: usize) -> usize {
        match self.estimate {
            Plan::HoldOut(share) => (n_rows as f64 * share) as usize,
            Plan::Folds(_) => n_rows,
        }
    }

    /// Whether probabilities may come of it.
    fn may_calibrate(&self) -> bool {
        let is_held_out = self.estimate != Plan::HoldOut(0.0) || !matches!(self.choice, Choice::Given);
        self.calibration != Calibrate::Off && !self.online && is_held_out
    }

    /// How many held-out rows were learned from, as far as their values tell.
    fn told_of_copies(&self, data: &Dataset) -> Option<String> {
        let seed = self.learning.seed;
        let (n_held, n_copies, what) = match self.estimate {
            Plan::HoldOut(share) if share > 0.0 => {
                let (learned, held) = split(data, share, seed);
                (held.len(), suspicion::copies(data, &learned, &held), "held-out rows")
            }
            Plan::HoldOut(_) => return None,
            Plan::Folds(n_folds) => {
                let parts = Folds::new(data, n_folds, seed).ok()?;
                let copies = parts.parts().iter();
                let copies = copies.map(|(learned, held)| suspicion::copies(data, learned, held)).sum();
                (data.len(), copies, "rows, each held out in its fold,")
            }
        };
        (n_copies > 0).then(|| {
            format!(
                "{n_copies} of {n_held} {what} have the same values as a row that was learned from: if they are copies, \
                 the estimate is too good"
            )
        })
    }

    /// Whether nothing is said about learning but the seed, how much classes count and what mistakes cost.
    fn says_nothing(&self) -> bool {
        let Options { seed, class_weights, costs, .. } = self.learning.clone();
        let usual = Options { seed, class_weights, costs, ..Options::default() };
        serde_json::to_value(&usual).ok() == serde_json::to_value(&self.learning).ok()
    }

    /// How rows are read: values of a kernel that are precomputed are taken as they are.
    fn reading(&self) -> ReadOptions {
        let scaling = if self.is_precomputed() { Scaling::None } else { self.reading.scaling };
        ReadOptions { scaling, ..self.reading.clone() }
    }

    fn is_precomputed(&self) -> bool {
        Spec::new(self.learning.clone())
            .is_ok_and(|spec| spec.kernel_info().is_some_and(|info| info.by_number))
    }

    /// What is trained on these rows: the one place where anything that the options leave open is decided.
    fn spec(&self, rows: &RowSource<'_>) -> Result<Spec, Error> {
        let spec = Spec::new(self.learning.clone())?;
        let options = spec.options();
        // What a rare class taught is lost in an average of few epochs, so the best hypothesis is kept instead.
        let is_rare = rows.labels().told_from_rest().is_some() && rows.classes().len() < defaults::FEW_ROWS;
        if is_rare
            && spec.entry().info.fixed_increment
            && options.readout.is_none()
            && options.kernel.is_none()
        {
            return Spec::new(Options { readout: Some(Readout::Pocket), ..options.clone() });
        }
        Ok(spec)
    }
}

/// The rows with `class` as the positive one of two classes; see [`Recipe::positive`].
pub fn with_positive(data: Dataset, class: &str) -> Result<Dataset, Error> {
    let unknown = no_class(data.labels(), class);
    data.with_positive(class).ok_or(unknown)
}

fn no_class(labels: &Labels, class: &str) -> Error {
    Error::UnknownClass { name: class.to_owned(), known: labels.names().to_vec() }
}

fn outline(source: String, rows: &RowSource<'_>, read: Option<(&ReadOptions, &Schema)>) -> Outline {
    let mut counts = vec![0; rows.labels().len()];
    rows.classes().iter().for_each(|&class| counts[class as usize] += 1);
    Outline {
        source,
        rows: rows.classes().len() as u64,
        features: rows.width(),
        classes: rows.labels().names().iter().cloned().zip(counts).collect(),
        label: read.and_then(|(reading, schema)| LabelFound::new(reading, schema)),
        scaling: read
            .and_then(|(_, schema)| schema.scaler.as_ref())
            .map_or(Scaling::None, |scaler| scaler.scaling),
        dropped: 0,
        skipped: 0,
    }
}

/// A training whose rows are at hand, in memory or on disk.
struct Fitting<'a> {
    recipe: &'a Recipe,
    spec: Spec,
    /// How the rows came to be, if they were read.
    schema: Option<Schema>,
    calibrate: Option<Method>,
    outline: Outline,
    notes: Vec<String>,
}

impl Fitting<'_> {
    /// Trains, judges and calibrates.
    fn run(
        self,
        rows: &mut RowSource<'_>,
        checkpoint: Option<Checkpoint>,
        monitor: &mut dyn Monitor,
    ) -> Result<Trained, Error> {
        match (self.recipe.racing(rows), rows.dataset()) {
            (Some(racing), Some(data)) => return self.race(&racing, data, checkpoint, monitor),
            (Some(_), None) if matches!(self.recipe.choice, Choice::Race(_)) => {
                return Err(Error::NeedsMemory { what: "a race" });
            }
            _ => {}
        }
        let Self { recipe, spec, schema, calibrate, outline, mut notes } = self;
        if recipe.racing(rows).is_some() {
            let rule = spec.entry().info.name;
            notes.push(format!("rows that are not in memory are not raced on: {rule} as it comes"));
        }
        let seed = spec.options().seed;
        let (learned, held) = match recipe.estimate {
            Plan::HoldOut(share) if share > 0.0 => split(rows.reborrow(), share, seed),
            _ => (rows.all(), Vec::new()),
        };
        let is_estimated = !held.is_empty() || matches!(recipe.estimate, Plan::Folds(_));
        if is_estimated && learned.len() < 50 {
            notes.push("fewer than 50 rows: the estimate is rough".to_owned());
        }
        let crossed = match (recipe.estimate, rows.dataset()) {
            (Plan::Folds(n_folds), Some(data)) => {
                let mut judged = Vec::new();
                let folds = Folds::new(data, n_folds, seed)?.keeping_scores(calibrate.is_some());
                folds.judge(&spec, data, 0, monitor, |_, _, fold| {
                    judged.push(fold);
                    Ok(())
                })?;
                let whole = CrossValidated::new(&spec, calibrate, &judged, monitor)?;
                let fold_errors = whole.fold_errors();
                Some((whole.calibration, Estimate { evaluation: whole.evaluation, fold_errors }))
            }
            _ => None,
        };
        monitor.stage(Stage::Training);
        let width = rows.width();
        let mut training =
            Training::new(&spec, rows.reborrow()).rows(&learned).schema_if_any(schema.map(Arc::new));
        if let Some(planes) = recipe.start_planes() {
            training = training.start(planes.widened(width));
        }
        let model = training.resume(checkpoint).run_for(monitor)?;
        let model = match recipe.estimate {
            Plan::HoldOut(share) => model.with_held_out(share),
            Plan::Folds(n_folds) => model.with_folds(n_folds),
        };
        notes.extend(model.device_note());
        let mut trained = Trained {
            data: outline,
            training: None,
            estimate: None,
            race: None,
            mistake_bound: None,
            progress: Vec::new(),
            notes,
            is_unfinished: true,
            model,
        };
        match measure(&mut trained, rows, (&learned, &held), calibrate, crossed, monitor) {
            // The training is not lost on somebody who cannot wait for the figures.
            Err(Error::Stopped) => Ok(trained),
            measured => measured.map(|()| trained),
        }
    }
}

/// Whether rows may be raced on: with very many classes their scores cost more than anybody who wrote the file would
/// expect to pay for.
fn can_race(rows: &RowSource<'_>) -> bool {
    rows.dataset().is_none() || keeps_scores(rows, rows.classes().len().min(race::MOST_ROWS))
}

/// Judges a model on the rows it learned from and, unless that was done by `crossed` already, on those it did not.
fn measure(
    trained: &mut Trained,
    rows: &mut RowSource<'_>,
    (learned, held): (&[u32], &[u32]),
    calibrate: Option<Method>,
    crossed: Option<(Option<Calibration>, Estimate)>,
    monitor: &mut dyn Monitor,
) -> Result<(), Error> {
    let Trained { model, .. } = trained;
    if let Some((calibration, estimate)) = crossed {
        model.training_summary.estimate = Some(estimate.remembered(true));
        (model.calibration, trained.estimate) = (calibration, Some(estimate));
    } else if !held.is_empty() {
        monitor.stage(Stage::Judging);
        let with_scores = keeps_scores(rows, held.len()) || calibrate.is_some();
        let mut judged = Judged::new(model, rows, held, with_scores, &mut || monitor.wants_to_stop())?;
        model.calibration = fit_probabilities(&model.spec, calibrate, &mut judged, monitor)?;
        let estimate = Estimate { evaluation: judged.evaluation, fold_errors: Vec::new() };
        model.training_summary.estimate = Some(estimate.remembered(false));
        trained.estimate = Some(estimate);
    }
    if monitor.wants_figures() {
        monitor.stage(Stage::Judging);
        let with_scores = keeps_scores(rows, learned.len());
        let judged = Judged::new(model, rows, learned, with_scores, &mut || monitor.wants_to_stop())?;
        trained.training = Some(judged.evaluation);
        trained.mistake_bound = rows.dataset().and_then(|data| mistake_bound(model, data, learned));
    }
    trained.is_unfinished = false;
    Ok(())
}

/// All folds of a cross-validation together.
pub(crate) struct CrossValidated {
    evaluation: Evaluation,
    calibration: Option<Calibration>,
    /// Fold by fold, whether a row was given the wrong class.
    pub(crate) wrong: Vec<Vec<bool>>,
}

impl CrossValidated {
    /// The folds of one training, with probabilities fitted to all of them.
    pub(crate) fn new(
        spec: &Spec,
        calibrate: Option<Method>,
        folds: &[Judged],
        monitor: &mut dyn Monitor,
    ) -> Result<Self, Error> {
        let evaluation = Evaluation::pooled(folds.iter().map(|fold| &fold.evaluation));
        let all = |of: fn(&Judged) -> &[u32]| folds.iter().flat_map(of).copied().collect::<Vec<_>>();
        let (classes, predicted) = (all(|fold| &fold.classes), all(|fold| &fold.predicted));
        let scores: Vec<f64> = folds.iter().flat_map(|fold| &fold.scores).copied().collect();
        let mut whole = Judged { evaluation: evaluation.ok_or(Error::NoRows)?, scores, classes, predicted };
        let calibration = fit_probabilities(spec, calibrate, &mut whole, monitor)?;
        let mut rest = whole.classes.iter().zip(&whole.predicted);
        let of_fold = |fold: &Judged| {
            rest.by_ref().take(fold.classes.len()).map(|(class, said)| class != said).collect()
        };
        let wrong = folds.iter().map(of_fold).collect();
        Ok(Self { evaluation: whole.evaluation, calibration, wrong })
    }

    fn fold_errors(&self) -> Vec<f64> {
        let share =
            |wrong: &Vec<bool>| wrong.iter().filter(|wrong| **wrong).count() as f64 / wrong.len() as f64;
        self.wrong.iter().map(share).collect()
    }
}

/// Fits probabilities to the scores of held-out rows. Each half of the rows is judged, and given a class, by what was
/// fitted to the other: nothing is judged on rows it was fitted on.
fn fit_probabilities(
    spec: &Spec,
    method: Option<Method>,
    judged: &mut Judged,
    monitor: &mut dyn Monitor,
) -> Result<Option<Calibration>, Error> {
    let Some(method) = method else { return Ok(None) };
    monitor.stage(Stage::Calibrating);
    let Judged { evaluation, scores, classes, predicted } = judged;
    let n_classes = evaluation.labels.len();
    let stop: &mut dyn FnMut() -> bool = &mut || monitor.wants_to_stop();
    let Options { class_weights, costs, .. } = spec.options();
    let costs = costs.counted(evaluation.labels.names(), classes.iter().copied())?;
    let costs = costs.matrix(evaluation.labels.names())?;
    let naming = Naming::of(class_weights, costs.as_ref());
    let rows = Scored { n_classes, scores, classes, named: predicted };
    let fitted = Calibration::fit_for(naming, method, &rows, stop);
    let renamed;
    (evaluation.probability_scores, renamed) = Calibration::cross_fitted(method, &rows, naming, stop)?;
    evaluation.with_predictions(classes, &renamed);
    *predicted = renamed;
    fitted.map(Some)
}
