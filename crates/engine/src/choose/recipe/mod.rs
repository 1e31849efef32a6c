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
//! The estimate comes from rows that had no part in training or choosing: each fold in turn if there are few rows, else a
//! held-out part ([`Plan`]). On the other rows candidates race ([`Choice::Race`]), or the rule that you named is trained, and
//! is judged on the rows left out. The saved model learns from all rows in the same way, unless [`Recipe::refit`] is off.
//! For a rule that you named, a validation set of its rows decides when to stop. The model keeps its predictions for
//! held-out rows, and the probabilities fitted to them. Vocabularies and scales see no labels and come from all rows.
//!
//! Nothing here prints, reads a clock or knows a signal: that is the [`Monitor`]'s business.

mod chosen;
mod disk;
mod infer;
mod numbers;
mod ongoing;
mod online;
mod report;
mod sentences;
mod start;
mod suspicion;
mod ties;
mod words;

pub use crate::estimate::{Calibrate, Plan};
pub use crate::task::TaskChoice;
pub use infer::{LabelFound, note_on_quantity};
pub use numbers::TrainedNumbers;
pub use ongoing::Ongoing;
pub use report::error_rates;
pub use words::{AUTO, Words};

use crate::calibration::{Calibration, Naming, Scored, n_curves};
use crate::costs::Costs;
use crate::defaults;
use crate::describe::options::{NONE_HELD_OUT, by_name};
use crate::error::{Error, refuse};
use crate::estimate::Method;
use crate::evaluate::{Evaluation, Folds, Judged, keeps_scores};
use crate::insight::mistake_bound;
use crate::keep::held_out::{HeldOut, MOST_ROWS as MOST_HELD_ROWS};
use crate::model::{Checkpoint, Estimated, Model};
use crate::monitor::{Monitor, OrStop, Stage};
use crate::race::{self, Metric, Race};
use crate::rows::RowSource;
use crate::settings::Asked;
use crate::slice::sample;
use crate::spec::{Options, Spec};
use crate::split::{Part, Ties};
pub use crate::statistics::ByGroup;
use crate::statistics::deviation;
use crate::tagger::TaggerOptions;
use crate::train::{Training, weights_by_counts};
use crate::understand::shuffling::{Shuffling, variations};
use rosenblatt_core::{Average, Hyperplanes, Readout, Setting, Totals, settings};
use rosenblatt_data::words::count;
use rosenblatt_data::{
    DataError, Dataset, ErrorKind, Labels, Missing, ReadOptions, Scaling, Schema, SentenceStream, Shape,
    Source, load_with_schema,
};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;

/// How many numbers are kept of held-out rows at most, and how many rows at least where there are many.
const MOST_HELD_VALUES: usize = 1 << 18;
const FEWEST_HELD_ROWS: usize = 1_000;
/// Fewer rows to learn from make a rough estimate.
const FEW: usize = 50;

settings! {
    /// Everything that can be set about a training. The default is what happens if nothing is set.
    #[derive(Debug, Clone, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
    pub struct Recipe: Judging {
        /// How the data is read.
        reading: ReadOptions = ReadOptions::default() => Setting::group("reading");
        /// What is learned; in a race, what all candidates share.
        learning: Asked<Options> = Asked::default() => Setting::group("learning");
        /// What is learned from sentences. If it is not set, the format of the files decides whether they hold sentences.
        tagging: Option<Asked<TaggerOptions>> = None => Setting::group("tagging");
        /// Whether classes or numbers are predicted.
        #[serde(with = "by_name")]
        task: TaskChoice = TaskChoice::Auto => Setting::choice::<TaskChoice>().flag("task").common();
        /// Who decides what is learned. auto: a race, unless an option of learning is set that candidates do not share;
        /// given: the options; {"race": race options}: that race.
        choice: Choice = Choice::default() => Setting::other();
        /// How the error on new rows is estimated. auto: folds of few rows, else a hold-out; {"hold-out": share of the rows,
        /// from 0 to 1}; {"folds": number, from 2}.
        estimate: Plan = Plan::default() => Setting::other();
        /// Refit on all rows once the error is estimated. If it is off, the kept model is the one that was judged, which did
        /// not learn from the held-out rows; folds need it on.
        refit: bool = true => Setting::switch().flag_for("no-refit", "false").idle_online(NONE_HELD_OUT);
        /// Keep the predictions of held-out rows with the model. For up to 10,000 rows these are their numbers, classes and
        /// scores, by which a report and figures judge the model.
        keep_held_out: bool = true => Setting::switch().flag_for("no-held-out-scores", "false").idle_online(NONE_HELD_OUT);
        /// How the scores of held-out rows become probabilities.
        #[serde(with = "by_name")]
        calibration: Calibrate = Calibrate::Auto => Setting::choice::<Calibrate>().flag("calibrate").of_all()
            .idle_online(NONE_HELD_OUT);
        /// Column of times, by name or number. Race, folds and held-out rows are then split by it: rows are judged by what was
        /// learned from earlier ones, and the column is no feature. It holds numbers, or dates such as 2024-05-31.
        time: Option<String> = None
            => Setting::text().flag("time").value("COLUMN").unset("rows are split at random");
        /// Column of groups, such as patients or users. Race, folds and held-out rows are then split by it: no group is both learned
        /// from and judged, and the column is no feature.
        group: Option<String> = None
            => Setting::text().flag("group").value("COLUMN").unset("rows are split at random");
        /// Positive class. If there are more than two classes, it is separated from all others together.
        positive: Option<String> = None => Setting::text().flag("positive").value("CLASS").unset("the second of two");
        /// Limit on the memory that rows take.
        memory: Option<MemoryLimit> = None => Setting::group("memory");
        /// Learn in one epoch, in the memory of a few blocks. Rows come in their order. Each row is predicted before it is
        /// learned from, and the errors of those predictions are the estimate. There is no race.
        online: bool = false => Setting::switch().flag("online").of_all();
        /// Take only the classes, columns and options of the model to start from, and start from weights of zero. Votes,
        /// kernels and maps have no weights to start from, and can go on in no other way.
        blank: bool = false => Setting::switch().flag("blank");
    } with {
        /// The model to start from instead of nothing. Its classes, columns and scales are kept. Options of learning that
        /// are not set are as they were there, unless another algorithm is set.
        #[serde(skip)]
        start: Option<Arc<Model>>,
        /// What ties the rows together, as it was found in the columns of times and groups.
        #[serde(skip)]
        ties: Arc<Ties>,
    }
}

/// Who decides what is learned.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    /// The usual race, if no option was set but those that all candidates share (the seed, the weights of classes and the
    /// costs of mistakes), and the rows are in memory; else the options. An option that was set counts, even if it was
    /// set to its default.
    #[default]
    Auto,
    /// The options, as they are.
    Given,
    /// A race of candidates on the rows that are not held out, which must be in memory.
    Race(Racing),
}

settings! {
    /// What a race is about.
    #[derive(Debug, Clone, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
    pub struct Racing: Judging {
        /// Options of learning that compete, the preferred ones first. No validation sets are kept apart: the race decides
        /// how long to train.
        candidates: Vec<Options> = Vec::new() => Setting::other().unset("the usual ones");
        /// Metric that candidates are compared by.
        metric: Metric = Metric::default() => Setting::choice::<Metric>();
        /// Time after which no part of the race is begun, in seconds. With it, the outcome depends on the machine.
        budget: Option<f64> = None => Setting::positive().unset("no limit");
    }
}

settings! {
    /// A limit on the memory that rows take. If they take more, they are parsed once into a cache on disk, and every
    /// epoch reads that.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, rename_all = "kebab-case")]
    pub struct MemoryLimit: Judging {
        /// Memory that rows may take before they are kept in a cache on disk, which every epoch reads. They are then visited as
        /// they stand (order given), and the error is estimated on a hold-out; twelve bytes a row stay in memory.
        bytes: u64 = 0 => Setting::bytes().flag("memory").unset("no limit").idle_online("left out where rows are learned online: they are not kept");
        /// File of the cache, to be used again for the same data read in the same way.
        #[serde(default)]
        cache: Option<PathBuf> = None
            => Setting::text().flag("cache").value("PATH").unset("a nameless file that ends with the training");
    }
}

/// A model, and the full report on it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Trained {
    /// The model.
    pub model: Model,
    /// What it was trained from.
    pub data: Outline,
    /// How good it is on the rows it learned from; unknown of a stream, if it was not finished, and if
    /// [the monitor does not want them](Monitor::wants_figures).
    pub training: Option<Evaluation>,
    /// How good it is on rows it did not learn from.
    pub estimate: Option<Estimate>,
    /// How what was trained was chosen, if it was by a race.
    pub race: Option<Race>,
    /// What is proved about its mistakes with the margin that was found, if anything is.
    pub mistake_bound: Option<f64>,
    /// The report on a model that predicts numbers; the estimate is in the model.
    pub numbers: Option<TrainedNumbers>,
    /// Of a stream, the totals at every power of two of rows, and in the end.
    pub progress: Vec<Totals>,
    /// What a person may want to know about how the data was understood.
    pub notes: Vec<String>,
    /// Whether you stopped it after the training: then nothing was measured, and no probabilities were fitted.
    pub is_unfinished: bool,
}

impl Trained {
    /// A model of which nothing is measured yet.
    fn new(model: Model, data: Outline, notes: Vec<String>) -> Self {
        Self {
            model,
            data,
            training: None,
            estimate: None,
            race: None,
            mistake_bound: None,
            numbers: None,
            progress: Vec::new(),
            notes,
            is_unfinished: false,
        }
    }
}

/// What was read.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
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

/// The result on held-out rows.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Estimate {
    /// All held-out rows together. Probabilities are judged by curves that were not fitted on the rows they are
    /// judged on: each half by the other's.
    pub evaluation: Evaluation,
    /// The error of each fold; empty if rows were held out once.
    pub fold_errors: Vec<f64>,
    /// What groups of rows say of it, where groups tie them.
    pub by_group: Option<ByGroup>,
}

impl Estimate {
    /// What a model remembers of it; `refitted` if it learned from the same rows afterwards.
    fn remembered(&self, refitted: bool) -> Estimated {
        Estimated {
            rows: self.evaluation.rows,
            errors: self.evaluation.errors,
            refitted,
            by_group: self.by_group,
        }
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
        if self.tagging.is_some() {
            return sentences::check(self, &sentences::merged(self)?);
        }
        let spec = Spec::new(self.learning.options().clone())?;
        self.check_numbers()?;
        // A model that learned from a stream has none, whatever its readout.
        if self.start.is_none() && !self.learning.ratchet && spec.readout() != Readout::Pocket {
            return refuse("ratchet", "left out unless the readout is pocket", "no");
        }
        match (self.estimate, self.calibration) {
            _ if matches!(spec.readout(), Readout::Averaged(Average::From(epoch)) if epoch > self.learning.epochs) => {
                refuse("readout", "an average from one of the epochs on", spec.readout())
            }
            (Plan::HoldOut(share), _) if !(0.0..1.0).contains(&share) => {
                refuse("hold-out", "at least 0 and below 1", share)
            }
            (Plan::Folds(n_folds), _) if n_folds < 2 => refuse("folds", "at least 2", n_folds),
            _ if self.learning.costs != Costs::Even && !self.may_calibrate() => {
                Err(Error::CostsWithoutProbabilities)
            }
            (Plan::HoldOut(0.0), Calibrate::Platt | Calibrate::Isotonic) => Err(Error::NothingHeldOut),
            (Plan::HoldOut(0.0), _) if !self.refit => {
                refuse("refit", "left on where no rows are held out", "off")
            }
            (Plan::HoldOut(0.0), _) if !self.keep_held_out && matches!(self.choice, Choice::Given) => {
                refuse("keep-held-out", "left on where no rows are held out", "off")
            }
            _ if self.is_precomputed() && !matches!(self.reading.scaling, Scaling::Auto | Scaling::None) => {
                refuse(
                    "scaling",
                    "none for kernel values that are precomputed",
                    self.reading.scaling.to_string(),
                )
            }
            _ if self.online => {
                ties::check_stream(self)?;
                online::spec(self).map(|_| ())
            }
            _ => Ok(()),
        }
    }

    /// What is learned of it where rows come and go: one epoch in their order; an error if the rule needs more.
    pub fn online_spec(&self) -> Result<Spec, Error> {
        online::spec(self)
    }

    /// Reads, trains and measures, watched by `monitor`. Rows of a table and sentences alike: the files decide.
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
        if sentences::are_meant(self, source) {
            let trained = sentences::train(self, source, checkpoint, monitor);
            return trained.map_err(|error| error.in_data(&source.name()));
        }
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
        let mut trained = trained.map_err(|error| of_folders(error, source).in_data(&source.name()))?;
        let summary = &mut trained.model.training_summary;
        (summary.time, summary.group) = (self.time.clone(), self.group.clone());
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
        let source = &self.read_twice(source)?;
        if self.online {
            return online::train(self, source, checkpoint, monitor);
        }
        let cells = self.cells(source)?;
        if let Some(limit) = &self.memory
            && let Some(trained) = disk::train(self, source, &cells, limit, checkpoint.as_ref(), monitor)?
        {
            return Ok(trained);
        }
        let (reading, (data, schema)) = self.with_labels(source, |reading| {
            let (data, schema) = load_with_schema(source, reading)?;
            let is_quantity = infer::is_for_numbers(self, data.labels(), data.classes().len());
            Ok(((data, schema), is_quantity))
        })?;
        let can_bend = source.can_rewind() && rosenblatt_data::can_bend(source, &reading)?;
        let again = Some(source).filter(|_| can_bend);
        if let Some((recipe, why)) = infer::for_numbers(self, &schema, data.labels(), data.classes().len())? {
            let tied = recipe.tied(&cells, &(&data).into())?;
            let schema = infer::without_classes(schema, why);
            let read = Read { reading: &reading, schema, again };
            return tied.fit(source.name(), data, Some(read), checkpoint, monitor);
        }
        infer::check_label(self.task, &reading, &schema, data.classes().len(), data.labels())?;
        let (reading, data, schema) = match bent_if_own(reading.clone()) {
            bent if bent.shape != reading.shape && self.racing(&(&data).into()).is_none() => {
                let (data, schema) = load_with_schema(source, &bent)?;
                (bent, data, schema)
            }
            _ => (reading, data, schema),
        };
        let tied = self.tied(&cells, &(&data).into())?;
        tied.fit(source.name(), data, Some(Read { reading: &reading, schema, again }), checkpoint, monitor)
    }

    /// Reads rows, as many different labels as they may have if those are numbers. `read` says as well whether they are.
    fn with_labels<T>(
        &self,
        source: &Source,
        read: impl Fn(&ReadOptions) -> Result<(T, bool), DataError>,
    ) -> Result<(ReadOptions, T), Error> {
        let reading = self.reading();
        let mut unlimited = reading.clone();
        unlimited.limits.classes = u32::MAX as usize;
        if self.wants_numbers() {
            return Ok((unlimited.clone(), read(&unlimited)?.0));
        }
        match read(&reading) {
            Ok((rows, _)) => Ok((reading, rows)),
            Err(error) if error.kind() == ErrorKind::Limit && source.can_rewind() => {
                match read(&unlimited)? {
                    (rows, true) => Ok((unlimited, rows)),
                    (_, false) => Err(error.into()),
                }
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The same for rows in memory, without scaling or encoding.
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
        ties::check_rows(self)?;
        if self.wants_numbers() {
            return self.for_numbers()?.fit("rows in memory".to_owned(), data, None, None, monitor);
        }
        self.fit("rows in memory".to_owned(), data, None, None, monitor)
    }

    /// The same on sentences in memory, whose labels are known.
    pub fn train_sentences(
        &self,
        stream: SentenceStream,
        monitor: &mut dyn Monitor,
    ) -> Result<Trained, Error> {
        sentences::train_in_memory(self, stream, monitor)
    }

    fn fit(
        &self,
        name: String,
        data: Dataset,
        read: Option<Read<'_>>,
        checkpoint: Option<Checkpoint>,
        monitor: &mut dyn Monitor,
    ) -> Result<Trained, Error> {
        let data = match &self.positive {
            Some(class) => with_positive(data, class)?,
            None => data,
        };
        let estimate = match (self.estimate, &self.start, self.refit) {
            // Rows that a model starts from, or that it is not to learn from, are one part.
            (Plan::Auto, Some(_), _) | (Plan::Auto, _, false) => Plan::HoldOut(defaults::HOLD_OUT),
            (plan, ..) => plan.for_rows(&data, self.names_numbers()),
        };
        let estimate = match (self.estimate, estimate, self.ties.most_folds()) {
            (Plan::Auto, Plan::Folds(n_folds), Some(most)) => Plan::Folds(n_folds.min(most)),
            (_, plan, _) => plan,
        };
        Self { estimate, ..self.clone() }.fit_by(name, &data, read, checkpoint, monitor)
    }

    /// The same, by a plan that is known.
    fn fit_by(
        &self,
        name: String,
        data: &Dataset,
        read: Option<Read<'_>>,
        checkpoint: Option<Checkpoint>,
        monitor: &mut dyn Monitor,
    ) -> Result<Trained, Error> {
        if let Plan::Folds(folds) = self.estimate
            && folds > data.len()
        {
            return Err(Error::TooFewRows { folds, rows: data.len() });
        }
        let mut notes = read.as_ref().map_or_else(Vec::new, |read| read.schema.notes.clone());
        let numbers = self.names_numbers();
        let (classes, rows) = (data.labels().len(), data.len());
        // Of classes with one row each, none can be both learned and judged.
        if classes == rows && !numbers && self.estimate != Plan::HoldOut(0.0) {
            let column = read.as_ref().and_then(|read| read.schema.label.clone());
            return Err(Error::NotALabel { column, classes, rows });
        }
        if data.rows_are_alike() {
            notes.push(
                "all features are constant: every row is the same, so no rule can tell the classes apart"
                    .to_owned(),
            );
        }
        if let Some(Read { schema, .. }) = read.as_ref().filter(|_| !numbers) {
            notes.extend(suspicion::deciding(data, schema));
        }
        notes.extend(suspicion::ordered(data).filter(|_| self.ties.is_empty() && !numbers));
        notes.extend(self.told_of_copies(data));
        if let Some(model) = &self.start {
            notes.extend(start::told(model, data, self.blank)?);
        }
        let outline = outline(name, &data.into(), read.as_ref().map(|read| (read.reading, &read.schema)));
        let spec = self.spec(&data.into())?;
        let again = read.as_ref().and_then(|read| Some((read.again?, read.reading)));
        let schema = read.map(|read| read.schema);
        notes.extend(told_of_weights(&spec, data)?);
        if numbers {
            let fitting = Fitting { recipe: self, spec, schema, calibrate: None, outline, notes, again };
            return fitting.numbers(data, checkpoint, monitor);
        }
        let mut calibrate = self.calibration.method();
        let is_asked = self.calibration != Calibrate::Auto || self.learning.costs != Costs::Even;
        let (n_classes, too_many) =
            (count(data.labels().len() as u64), "classes have more scores than so few rows justify");
        if calibrate.is_some() && !is_asked && !keeps_scores(&data.into(), self.n_judged(data.len())) {
            calibrate = None;
            notes.push(format!("probabilities are not fitted, as {n_classes} {too_many}"));
        }
        if matches!(self.choice, Choice::Auto) && self.learning.leaves_race_open() {
            let (rule, least) = (spec.entry().info.name, defaults::ROWS_TO_RACE_BY);
            let why = if !can_race(&data.into()) {
                Some(format!("{n_classes} {too_many}"))
            } else if !knows_two_classes(&data.into()) {
                Some(format!("fewer than two classes have {least} rows"))
            } else {
                None
            };
            if let Some(why) = why {
                notes.push(format!("no candidates are raced: {rule} with its defaults, as {why}"));
            }
        }
        let names_rule = self.learning.is_set("algorithm");
        if matches!(self.choice, Choice::Auto) && !self.learning.leaves_race_open() && !names_rule {
            let rule = spec.entry().info.name;
            notes.push(format!("no candidates are raced, as options say how to learn: {rule}"));
        }
        let fitting = Fitting { recipe: self, spec, schema, calibrate, outline, notes, again };
        fitting.run(&mut data.into(), checkpoint, monitor)
    }

    /// The race that decides what is learned, if one does. With too few rows to judge by, there is none.
    fn racing(&self, rows: &RowSource<'_>) -> Option<Racing> {
        match &self.choice {
            Choice::Auto if !knows_two_classes(rows) || !can_race(rows) => None,
            Choice::Auto if self.learning.leaves_race_open() => Some(Racing::default()),
            Choice::Race(racing) => Some(racing.clone()),
            Choice::Auto | Choice::Given => None,
        }
    }

    /// How many rows are judged by a model that did not learn from them.
    fn n_judged(&self, n_rows: usize) -> usize {
        match self.estimate {
            Plan::HoldOut(share) => (n_rows as f64 * share) as usize,
            Plan::Auto | Plan::Folds(_) => n_rows,
        }
    }

    /// The parts of the rows: those to learn from, and those to judge by.
    fn parts(&self, rows: &RowSource<'_>) -> Result<Vec<Part>, Error> {
        let seed = self.learning.seed;
        // Numbers are no classes to be spread evenly.
        let flat: Vec<u32>;
        let is_flat = self.names_numbers();
        let classes = if is_flat {
            flat = vec![0; rows.classes().len()];
            &flat
        } else {
            rows.classes()
        };
        Ok(match (self.estimate, rows.dataset()) {
            (Plan::Folds(n_folds), Some(data)) if self.ties.is_empty() && !is_flat => {
                Folds::new(data, &Ties::default(), n_folds, seed)?.into_parts()
            }
            (Plan::Folds(n_folds), Some(_)) => self.ties.parts(classes, &rows.all(), n_folds, seed)?,
            (plan, _) => match plan.share() {
                Some(share) if share > 0.0 => {
                    vec![self.ties.split(classes, &rows.all(), share, seed)?]
                }
                _ => Vec::new(),
            },
        })
    }

    /// Whether probabilities may come of it.
    fn may_calibrate(&self) -> bool {
        let is_held_out = self.estimate != Plan::HoldOut(0.0) || !matches!(self.choice, Choice::Given);
        self.calibration != Calibrate::Off && !self.online && is_held_out
    }

    /// How many held-out rows were learned from, as far as their values tell.
    fn told_of_copies(&self, data: &Dataset) -> Option<String> {
        let parts = self.parts(&data.into()).ok()?;
        let n_held: usize = parts.iter().map(|(_, held)| held.len()).sum();
        let copies = parts.iter().map(|(learned, held)| suspicion::copies(data, learned, held));
        let n_copies: usize = copies.sum();
        let what = if parts.len() > 1 {
            "rows repeat a row of another fold"
        } else {
            "held-out rows repeat a training row"
        };
        (n_copies > 0).then(|| {
            format!(
                "{} of {} {what}: if they are copies, the estimate is too good",
                count(n_copies as u64),
                count(n_held as u64)
            )
        })
    }

    /// Whether the error changes along the file, unless it is known by then that the classes do.
    fn told_of_drift(&self, parts: &[Part], judged: &[Judged], notes: &[String]) -> Option<String> {
        if !self.ties.is_empty() || notes.iter().any(|note| note.starts_with(suspicion::ORDER)) {
            return None;
        }
        let of_part = |((_, held), judged): (&Part, &Judged)| {
            let wrong = judged.classes.iter().zip(&judged.predicted).map(|(class, named)| class != named);
            held.iter().copied().zip(wrong).collect::<Vec<_>>()
        };
        suspicion::drifting(parts.iter().zip(judged).flat_map(of_part).collect())
    }

    /// How rows are read: values of a kernel that are precomputed are taken as they are.
    fn reading(&self) -> ReadOptions {
        let scaling = if self.is_precomputed() { Scaling::None } else { self.reading.scaling };
        // What rows are split by is no feature.
        let split_by = self.time.iter().chain(&self.group).cloned();
        let ignore = self.reading.ignore.iter().cloned().chain(split_by).collect();
        let reading = ReadOptions { scaling, ignore, ..self.reading.clone() };
        let races = match &self.choice {
            Choice::Auto => self.learning.leaves_race_open(),
            Choice::Given => false,
            Choice::Race(racing) => racing.candidates.is_empty(),
        };
        match reading.missing {
            // Straight columns have no scale where a number is missing, and only those that bend will race.
            Missing::Own if races && self.memory.is_none() && !self.online && reading.crosses.is_empty() => {
                let is_open = matches!(reading.shape, Shape::Auto | Shape::Curves);
                let is_unscaled = is_open && reading.scaling == Scaling::Auto;
                ReadOptions { scaling: if is_unscaled { Scaling::None } else { reading.scaling }, ..reading }
            }
            _ => bent_if_own(reading),
        }
    }

    fn is_precomputed(&self) -> bool {
        Spec::new(self.learning.options().clone())
            .is_ok_and(|spec| spec.kernel_info().is_some_and(|info| info.by_number))
    }

    /// What is trained on these rows: the one place where anything that the options leave open is decided.
    fn spec(&self, rows: &RowSource<'_>) -> Result<Spec, Error> {
        let spec = Spec::new(self.learning.options().clone())?;
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

/// The same, with columns that bend where a missing number has a weight of its own and no race decides how they do.
fn bent_if_own(reading: ReadOptions) -> ReadOptions {
    let is_open = matches!(reading.shape, Shape::Auto | Shape::Curves) && reading.schema.is_none();
    let shape = if is_open && reading.missing == Missing::Own { Shape::USUAL_BEND } else { reading.shape };
    ReadOptions { shape, ..reading }
}

/// Whether rows weigh more than the rule can count, in words.
fn told_of_weights(spec: &Spec, data: &Dataset) -> Result<Option<String>, Error> {
    let Some(most) = spec.most_weight() else { return Ok(None) };
    let mut counts = vec![0; data.labels().len()];
    data.classes().iter().for_each(|&class| counts[class as usize] += 1);
    let of_classes = weights_by_counts(&spec.options().class_weights, data.labels(), &counts)?;
    let heaviest = |weights: &[f64]| weights.iter().fold(1.0_f64, |most, weight| most.max(*weight));
    let heaviest = heaviest(&of_classes) * heaviest(data.weights().unwrap_or_default());
    let rule = spec.entry().info.name;
    Ok((heaviest > most as f64).then(|| {
        format!(
            "a row that weighs {heaviest} is met {most} times on end, which is the most: {rule} takes a weight as a number of \
             visits"
        )
    }))
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

/// How rows were read.
struct Read<'a> {
    reading: &'a ReadOptions,
    schema: Schema,
    /// Where they can be read once more.
    again: Option<&'a Source>,
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
    /// Where the rows can be read once more, and how.
    again: Option<(&'a Source, &'a ReadOptions)>,
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
        let Self { recipe, spec, schema, calibrate, outline, mut notes, .. } = self;
        if recipe.racing(rows).is_some() {
            let rule = spec.entry().info.name;
            notes.push(format!("rows that are not in memory are not raced on: {rule} with its defaults"));
        }
        let parts = recipe.parts(rows)?;
        let all = rows.all();
        let learned = match parts.as_slice() {
            [(learned, _)] if !recipe.refit => learned,
            _ => &all,
        };
        if parts.iter().any(|(learned, _)| learned.len() < FEW) {
            notes.push(format!("fewer than {FEW} rows: the estimate is rough"));
        }
        let start = recipe.start_planes().map(|planes| planes.widened(rows.width()));
        let schema = schema.map(Arc::new);
        let judging = Judging {
            recipe,
            spec: &spec,
            schema: schema.as_deref(),
            parts: &parts,
            learned,
            start,
            calibrate,
        };
        // Where a validation set decides when to stop, it does so for the estimate, and the model learns for as long from all rows.
        let decides = spec.validation(rows.classes().len()).is_some() && !parts.is_empty() && recipe.refit;
        let unseen = if decides { Some(judging.unseen(None, None, rows, monitor)?) } else { None };
        monitor.stage(Stage::Training);
        let mut training = Training::new(&spec, rows.reborrow()).rows(learned).schema_if_any(schema.clone());
        if let Some(planes) = &judging.start {
            training = training.start(planes.clone());
        }
        if let Some(unseen) = &unseen {
            training = training.fingerprint(&unseen.known).epochs(unseen.usual_epochs());
        }
        let model = training.resume(checkpoint).run_for(monitor)?;
        let model = match recipe.estimate {
            Plan::Folds(n_folds) => model.with_folds(n_folds),
            plan => model.with_held_out(plan.share().unwrap_or(0.0)),
        };
        notes.extend(model.device_note());
        let mut trained = Trained { is_unfinished: true, ..Trained::new(model, outline, notes) };
        match judging.measure(&mut trained, unseen, rows, monitor) {
            // A stop while the error is measured keeps the trained model.
            Err(Error::Stopped) => Ok(trained),
            measured => measured.map(|()| trained),
        }
    }
}

/// How a model that was trained is judged.
struct Judging<'a> {
    recipe: &'a Recipe,
    spec: &'a Spec,
    schema: Option<&'a Schema>,
    parts: &'a [Part],
    /// The rows that it learned from.
    learned: &'a [u32],
    start: Option<Hyperplanes>,
    calibrate: Option<Method>,
}

/// What the same training without the rows of each part says of these.
#[derive(Default)]
struct Unseen {
    /// The fingerprint of the data.
    known: String,
    judged: Vec<Judged>,
    shuffling: Option<Shuffling>,
    /// After how many epochs the validation set of each was content.
    epochs: Vec<u64>,
}

impl Unseen {
    /// The median of the epochs; of two, the later.
    fn usual_epochs(&self) -> Option<u64> {
        let mut sorted = self.epochs.clone();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied()
    }
}

impl Judging<'_> {
    /// Judges the same training without the rows of each part on these. A `model` that learned from no others is judged itself.
    fn unseen(
        &self,
        model: Option<&Model>,
        known: Option<String>,
        rows: &mut RowSource<'_>,
        monitor: &mut dyn Monitor,
    ) -> Result<Unseen, Error> {
        let known = match (known, rows.dataset()) {
            (Some(known), _) => known,
            (None, Some(data)) => crate::model::fingerprint(data),
            (None, None) => rows.fingerprint()?,
        };
        let mut unseen = Unseen { known, ..Unseen::default() };
        for (fold, (learned, held)) in self.parts.iter().enumerate() {
            let n_scores = held.len().saturating_mul(n_curves(rows.labels().len()));
            let with_scores =
                keeps_scores(rows, held.len()) || self.calibrate.is_some() || n_scores <= MOST_HELD_VALUES;
            let without;
            let model = if let Some(model) = model.filter(|_| learned.as_slice() == self.learned) {
                model
            } else {
                monitor.stage(Stage::Fold { candidate: 0, fold, n_folds: self.parts.len() });
                let mut training =
                    Training::new(self.spec, rows.reborrow()).rows(learned).fingerprint(&unseen.known);
                if let Some(planes) = &self.start {
                    training = training.start(planes.clone());
                }
                without = training.checkpointer(&mut OrStop(monitor)).run(&mut ()).map_err(stopped)?;
                &without
            };
            monitor.stage(Stage::Judging);
            let stop = &mut || monitor.wants_to_stop();
            unseen.judged.push(Judged::new(model, rows, held, with_scores, stop)?);
            let shuffling =
                unseen.shuffling.get_or_insert_with(|| Shuffling::new(rows.width(), self.schema, model));
            shuffling.add(model, rows, held, self.parts.len(), self.spec.options().seed)?;
            unseen.epochs.extend(model.training_summary.validation.as_ref().map(|of| of.best_epoch));
        }
        Ok(unseen)
    }

    /// Puts together what is known of rows that were not learned from, and judges the model on those it learned from.
    fn measure(
        &self,
        trained: &mut Trained,
        unseen: Option<Unseen>,
        rows: &mut RowSource<'_>,
        monitor: &mut dyn Monitor,
    ) -> Result<(), Error> {
        let model = &mut trained.model;
        let unseen = match unseen {
            Some(unseen) => unseen,
            None => self.unseen(Some(model), model.provenance.data.clone(), rows, monitor)?,
        };
        let Unseen { judged, shuffling, .. } = unseen;
        if !judged.is_empty() {
            let n_classes = model.labels().len();
            let calibrate =
                self.calibrate.and_then(|_| model.spec.calibration(self.recipe.calibration, n_classes));
            let held: Vec<u32> = self.parts.iter().flat_map(|(_, held)| held).copied().collect();
            let groups = self.recipe.ties.groups_of(&held);
            let whole = CrossValidated::new(&model.spec, calibrate, &judged, groups.as_deref(), monitor)?;
            let is_alone = judged.len() == 1;
            let fold_errors = if is_alone { Vec::new() } else { whole.fold_errors() };
            let held_out = self.recipe.predictions(self.parts, std::slice::from_ref(&whole.judged));
            let mut evaluation = whole.judged.evaluation;
            evaluation.take_areas(held_out.as_ref());
            let by_group = self.recipe.by_group(held_out.as_ref(), &evaluation);
            let estimate = Estimate { evaluation, fold_errors, by_group };
            let is_refitted = self.parts.iter().all(|(learned, _)| learned.as_slice() != self.learned);
            model.training_summary.estimate = Some(estimate.remembered(is_refitted));
            model.provenance.importance = shuffling.and_then(Shuffling::found).map(Arc::new);
            model.provenance.variations = variations(model, rows, model.spec.options().seed)?;
            trained.notes.extend(self.recipe.told_of_drift(self.parts, &judged, &trained.notes));
            model.provenance.held_out = held_out.filter(|_| self.recipe.keep_held_out).map(Arc::new);
            (model.calibration, trained.estimate) = (whole.calibration, Some(estimate));
        }
        if monitor.wants_figures() {
            monitor.stage(Stage::Judging);
            let (model, learned) = (&trained.model, self.learned);
            let with_scores = keeps_scores(rows, learned.len());
            let stop = &mut || monitor.wants_to_stop();
            let judged = Judged::new(model, rows, learned, with_scores, stop)?;
            trained.training = Some(judged.evaluation);
            trained.mistake_bound = rows.dataset().and_then(|data| mistake_bound(model, data, learned));
        }
        trained.is_unfinished = false;
        Ok(())
    }
}

impl Recipe {
    /// What the groups of all rows that were left out say of the error.
    fn by_group(&self, held_out: Option<&HeldOut>, evaluation: &Evaluation) -> Option<ByGroup> {
        let known = held_out.filter(|known| known.rows.len() as u64 == evaluation.rows)?;
        let groups = self.ties.groups_of(&known.rows)?;
        ByGroup::of(&groups, &known.classes, &known.predicted, evaluation.folds)
    }

    /// What was predicted of rows that were left out, one judgement for each part or one for all of them.
    fn predictions(&self, parts: &[Part], judged: &[Judged]) -> Option<HeldOut> {
        let n_classes = judged.first()?.evaluation.labels.len();
        let all: Vec<u32>;
        let rows: Vec<&[u32]> = match judged {
            [_] => {
                all = parts.iter().flat_map(|(_, held)| held).copied().collect();
                vec![&all]
            }
            _ => parts.iter().map(|(_, held)| held.as_slice()).collect(),
        };
        let parts: Vec<(&[u32], &Judged)> = rows.into_iter().zip(judged).collect();
        gather(&parts, n_classes, self.learning.seed)
    }
}

/// What was predicted of parts of the rows; of very many, a sample. `None` if scores were not kept, or if a row has so
/// many of them that few rows would be left.
fn gather(parts: &[(&[u32], &Judged)], n_classes: usize, seed: u64) -> Option<HeldOut> {
    let n_values = n_curves(n_classes);
    let mut places = Vec::new();
    for (part, (rows, judged)) in parts.iter().enumerate() {
        if judged.scores.len() != rows.len() * n_values || judged.scores.iter().any(|score| score.is_nan()) {
            return None;
        }
        places.extend(rows.iter().enumerate().map(|(place, &row)| (row, part, place)));
    }
    let room = MOST_HELD_ROWS.min(MOST_HELD_VALUES / n_values);
    if places.is_empty() || room < places.len().min(FEWEST_HELD_ROWS) {
        return None;
    }
    places.sort_unstable();
    let has_probabilities = parts.iter().all(|(_, judged)| judged.log_shares.len() == judged.scores.len());
    let mut kept = HeldOut {
        rows: Vec::new(),
        classes: Vec::new(),
        predicted: Vec::new(),
        values: Vec::new(),
        has_probabilities,
        n_classes,
    };
    for idx in sample(places.len(), room, seed) {
        let (row, part, place) = places[idx];
        let judged = parts[part].1;
        kept.rows.push(row);
        kept.classes.push(judged.classes[place]);
        kept.predicted.push(judged.predicted[place]);
        let of_row = place * n_values..(place + 1) * n_values;
        if has_probabilities {
            kept.values.extend(&judged.log_shares[of_row]);
        } else {
            let single = |score: &f64| score.clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32;
            kept.values.extend(judged.scores[of_row].iter().map(single));
        }
    }
    Some(kept)
}

/// Of a folder, what was taken for a class belongs to what is wrong.
fn of_folders(error: Error, source: &Source) -> Error {
    match (error, source.parts()) {
        (Error::OneClass { found: Some(class) }, [rosenblatt_data::Part::Folder(_)]) => {
            Error::OneFolder { class }
        }
        (error, _) => error,
    }
}

/// Work that keeps nothing is abandoned rather than interrupted.
fn stopped(error: Error) -> Error {
    match error {
        Error::Interrupted { .. } => Error::Stopped,
        error => error,
    }
}

/// Whether rows may be raced on: with very many classes, scoring would dominate the run time.
fn can_race(rows: &RowSource<'_>) -> bool {
    rows.dataset().is_none() || keeps_scores(rows, rows.classes().len().min(race::MOST_ROWS))
}

/// Whether two classes have rows enough to tell candidates apart by.
fn knows_two_classes(rows: &RowSource<'_>) -> bool {
    let mut counts = vec![0_usize; rows.labels().len()];
    rows.classes().iter().for_each(|&class| counts[class as usize] += 1);
    counts.iter().filter(|count| **count >= defaults::ROWS_TO_RACE_BY).count() >= 2
}

/// All folds of a cross-validation together.
pub(crate) struct CrossValidated {
    judged: Judged,
    calibration: Option<Calibration>,
    /// Fold by fold, whether a row was given the wrong class.
    pub(crate) wrong: Vec<Vec<bool>>,
}

impl CrossValidated {
    /// The folds of one training, with probabilities fitted to all of them; `groups` has the group of each row, fold after
    /// fold, where groups tie rows.
    pub(crate) fn new(
        spec: &Spec,
        calibrate: Option<Method>,
        folds: &[Judged],
        groups: Option<&[u32]>,
        monitor: &mut dyn Monitor,
    ) -> Result<Self, Error> {
        let evaluation = Evaluation::pooled(folds.iter().map(|fold| &fold.evaluation));
        let all = |of: fn(&Judged) -> &[u32]| folds.iter().flat_map(of).copied().collect::<Vec<_>>();
        let (classes, predicted) = (all(|fold| &fold.classes), all(|fold| &fold.predicted));
        let scores: Vec<f64> = folds.iter().flat_map(|fold| &fold.scores).copied().collect();
        let evaluation = evaluation.ok_or(Error::NoRows)?;
        let mut whole = Judged { evaluation, scores, log_shares: Vec::new(), classes, predicted };
        let calibration = fit_probabilities(spec, calibrate, &mut whole, groups, monitor)?;
        let mut rest = whole.classes.iter().zip(&whole.predicted);
        let of_fold = |fold: &Judged| {
            rest.by_ref().take(fold.classes.len()).map(|(class, said)| class != said).collect()
        };
        let wrong = folds.iter().map(of_fold).collect();
        Ok(Self { judged: whole, calibration, wrong })
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
    groups: Option<&[u32]>,
    monitor: &mut dyn Monitor,
) -> Result<Option<Calibration>, Error> {
    let Some(method) = method else { return Ok(None) };
    monitor.stage(Stage::Calibrating);
    let Judged { evaluation, scores, log_shares, classes, predicted } = judged;
    let n_classes = evaluation.labels.len();
    let stop: &mut dyn FnMut() -> bool = &mut || monitor.wants_to_stop();
    let Options { class_weights, costs, .. } = spec.options();
    let costs = costs.counted(evaluation.labels.names(), classes.iter().copied())?;
    let costs = costs.matrix(evaluation.labels.names())?;
    let naming = Naming::of(class_weights, costs.as_ref());
    let rows = Scored { n_classes, scores, classes, named: predicted, groups };
    let method = Calibration::settled(method, &rows, naming, stop)?;
    let fitted = Calibration::fit_for(naming, method, &rows, stop);
    let fresh = Calibration::cross_fitted(method, &rows, naming, stop)?;
    evaluation.probability_scores = fresh.scores;
    (*log_shares, *predicted) = (fresh.log_shares, fresh.named);
    evaluation.with_predictions(classes, predicted);
    fitted.map(Some)
}
