//! `rosenblatt train FILE...`: from files to a model and an honest estimate of how good it is.
//!
//! A part of the rows is set aside before anything is learned and used for the estimate and to fit
//! probabilities. Of the rest, some rows decide when to stop. Vocabularies and scales are taken from all rows;
//! they see no labels.

use super::bounds::{self, Bounds};
use super::estimate::{self, Estimate, Estimated, Plan};
use super::{inspect, train_online, train_streamed};
use crate::again;
use crate::args::{DataArgs, SpecArgs, decide_scale, size};
use crate::checkpoints::{Checkpoints, Every};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::report;
use crate::signals;
use crate::ui::{self, count, counted};
use rosenblatt::core::observer::Snapshot;
use rosenblatt::core::{NameError, Observer, Pass, Readout};
use rosenblatt::{
    Checkpoint, Claim, Dataset, Date, Error, Evaluation, Export, Labels, Method, Model, Spec, Training,
    check_writable, evaluate_rows, previous_path,
};
use rosenblatt_data::{LabelColumn, ReadOptions, Schema, Source, load_with_schema};
use serde_json::json;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// More classes than this, of fewer than two rows each, are a sign of a mistake.
const MANY_CLASSES: usize = 20;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  rosenblatt train mail.csv                           everything found out, model in mail.model
  rosenblatt train a9a --model a9a.model --epochs 10  libsvm, model where you say
  rosenblatt train data.csv --label species --missing mean
  rosenblatt train data.csv --algorithm pa1 --param C=0.1 --readout last
  cat data.svm | rosenblatt train - --model data.model
  rosenblatt train data.csv --k-fold 10               error by cross-validation, model from all rows
  rosenblatt train digits.csv --label digit --kernel poly --degree 4 --readout vote
  rosenblatt train faces.svm --one-against-rest ann   is it ann, or anybody else?
  rosenblatt train mail.csv --export onnx mail.onnx   for other programs, too
  rosenblatt train huge.svm --online --model huge.model   one pass, in the memory of a few blocks
  rosenblatt train huge.svm --memory 512MiB               many passes over more than memory holds
  rosenblatt train big.svm --checkpoint-every 10m --resume   goes on where it was stopped

Ctrl-C leaves a checkpoint beside the model (PATH.checkpoint) and says how to go on; pressed twice,
it stops at once. A resumed run ends in the same model, to the bit, as one that was left alone.")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that a person types")]
pub(crate) struct Args {
    /// Files, folders or patterns; `-` is stdin
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<String>,
    /// Where the model goes; the first file's name with `.model` if not said
    #[arg(long, short, value_name = "PATH")]
    model: Option<PathBuf>,
    /// The share of rows set aside for the estimate; 0 to learn from all. Words and scales, which see no
    /// labels, are taken from all rows
    #[arg(long, value_name = "SHARE", default_value_t = again::HOLDOUT)]
    pub(super) holdout: f64,
    /// Estimate the error by cross-validation on K folds instead; the model learns from all rows
    #[arg(long, value_name = "K", conflicts_with = "holdout")]
    pub(super) k_fold: Option<usize>,
    /// How scores become probabilities, fitted on the rows held out: platt, isotonic (for a thousand rows or
    /// more) or none; platt if rows are held out
    #[arg(long, value_name = "NAME", value_parser = ["platt", "isotonic", "none"])]
    pub(super) calibrate: Option<String>,
    /// Tell this class from all others taken together, which become `not CLASS`
    #[arg(long, value_name = "CLASS", conflicts_with_all = ["positive", "classes"])]
    pub(super) one_against_rest: Option<String>,
    /// Also write the model for other programs, as onnx, json or csv
    #[arg(long, num_args = 2, value_names = ["FORMAT", "PATH"])]
    export: Option<Vec<String>>,
    /// The class a positive score speaks for, of two
    #[arg(long, value_name = "CLASS")]
    positive: Option<String>,
    /// All classes, in their order, instead of those found in the data
    #[arg(long, value_name = "CLASS,...", value_delimiter = ',')]
    classes: Option<Vec<String>>,
    /// Learn in one pass over the rows in their order, in the memory of a few blocks, and print the
    /// error of the predictions made before each row was learned from
    #[arg(long, conflicts_with_all = ["holdout", "epochs", "patience", "order", "max_updates", "k_fold",
        "calibrate", "one_against_rest", "export"])]
    online: bool,
    /// Keep a checkpoint beside the model every N passes, or every 30s, 10m, 2h or 100000rows
    #[arg(long, value_name = "N|TIME|ROWS")]
    pub(super) checkpoint_every: Option<Every>,
    /// Go on from the checkpoint beside the model, with the same data and options; from the beginning if
    /// there is none
    #[arg(long)]
    pub(super) resume: bool,
    /// Write the date into the model: the time now, in UTC, or that of `SOURCE_DATE_EPOCH` (seconds since 1970)
    /// if it is set. Without it no date is written, and the same training gives the same bytes
    #[arg(long)]
    date: bool,
    /// Keep the model that is there now, with `.1` behind its name
    #[arg(long)]
    keep_previous: bool,
    /// Show the perceptron's mistakes beside their bounds, pass by pass
    #[arg(long, conflicts_with = "online")]
    pub(super) bounds: bool,
    /// If the rows would take more memory than this (512MiB, 2GiB), they are parsed once into a cache on disk and
    /// every pass reads that: rows are visited as they stand (`--order given`), and the model, its
    /// estimate and the rows set aside are what they would be in memory with that order. Twelve bytes a row
    /// are needed all the same, and the scores of those that probabilities are fitted on, which are left out
    /// if they do not fit and were not asked for. Without it, all rows are held in memory
    #[arg(long, value_name = "SIZE", value_parser = size, conflicts_with = "online")]
    pub(super) memory: Option<u64>,
    /// Where that cache goes; it stays and is used again for the same data read in the same way. Otherwise it
    /// lies in the folder for temporary files and is removed in the end
    #[arg(long, value_name = "PATH", requires = "memory")]
    pub(super) cache: Option<PathBuf>,
    /// Print the report as JSON
    #[arg(long)]
    pub(super) json: bool,
    /// Say nothing but the result
    #[arg(long, short)]
    pub(super) quiet: bool,
    #[command(flatten)]
    pub(super) data: DataArgs,
    #[command(flatten)]
    pub(super) spec: SpecArgs,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    args.spec.spec(0)?;
    let read = ReadOptions {
        positive: args.positive.clone(),
        classes: args.classes.clone(),
        ..args.data.options()?
    };
    if !(0.0..1.0).contains(&args.holdout) {
        return Err(Failure::Usage(format!(
            "`--holdout` should be at least 0 and below 1, but is {}",
            args.holdout
        )));
    }
    let wish = Wish::new(args)?;
    let export = args.export.as_deref().map(inspect::export_wish).transpose()?;
    args.check_kernel(export.as_ref())?;
    if export.is_some() && args.spec.spec(0)?.readout() == Readout::Voted {
        let message = "a vote of many hyperplanes cannot be exported; train with `--readout averaged`";
        return Err(Failure::Usage(message.to_owned()));
    }
    let path = model_path(args)?;
    let date = args.date()?;
    let claim = Claim::take(&path)?;
    signals::remove_at_exit(claim.path());
    signals::sweep_at_exit(&path);
    let mut checkpoints = Checkpoints::new(&path, args.checkpoint_every);
    let checkpoint = checkpoints.load(args.resume)?;
    if args.online {
        return train_online::run(args, read, &path, checkpoints, checkpoint);
    }
    if let Some((_, path)) = export.as_ref().filter(|(_, path)| path.as_os_str() != "-") {
        check_writable(path)?;
    }
    let found = Source::find_all(&args.files)?;
    let streamed = match args.memory {
        Some(limit) => {
            let keeping = (&mut checkpoints, checkpoint.as_ref());
            train_streamed::train(args, &found, &read, limit, wish.calibrate, keeping)?
        }
        None => None,
    };
    let mut trained = if let Some(trained) = streamed {
        trained
    } else {
        let (source, read) = decide_scale(&args.data_words(), &found, read)?;
        train(
            &source,
            &read,
            |n_rows| args.wished_spec(n_rows),
            &wish,
            args.quiet,
            Some((&mut checkpoints, checkpoint)),
        )?
    };
    if let Some(date) = date {
        trained.model = trained.model.dated(date);
    }
    args.save(&trained.model, &path)?;
    checkpoints.clear();
    if let Some((format, path)) = export {
        inspect::export_to(&trained.model, format, &path)?;
    }
    signals::answer("stopped after the model was saved")?;
    let size = std::fs::metadata(&path).map_or(0, |data| data.len());
    if args.json {
        let mut report = trained.json();
        report["model"] = json!(path.display().to_string());
        report["model-bytes"] = json!(size);
        return ui::print(&format!("{report}\n"));
    }
    let mut text = trained.text();
    let _ = writeln!(text, "model: {} ({})", path.display(), ui::bytes(size));
    ui::print(&text)
}

impl Args {
    /// What is to be trained on so many rows.
    pub(super) fn wished_spec(&self, n_rows: usize) -> Result<Spec, Failure> {
        match self.one_against_rest {
            Some(_) => self.spec.for_one_class(n_rows).spec(n_rows),
            None => self.spec.spec(n_rows),
        }
    }

    /// What the model is to be dated, if it is.
    pub(super) fn date(&self) -> Result<Option<Date>, Failure> {
        if !self.date {
            return Ok(None);
        }
        let date = match std::env::var_os("SOURCE_DATE_EPOCH") {
            Some(text) => {
                let seconds = text.to_str().and_then(|text| text.parse().ok());
                seconds.and_then(Date::from_seconds).ok_or_else(|| {
                    let found = text.to_string_lossy().escape_debug().to_string();
                    Failure::Usage(format!(
                        "SOURCE_DATE_EPOCH should be a number of seconds since 1970, but is `{found}`"
                    ))
                })?
            }
            None => SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .ok()
                .and_then(|since| Date::from_seconds(since.as_secs()))
                .ok_or_else(|| {
                    Failure::Work("the clock of this machine shows no time since 1970".to_owned())
                })?,
        };
        Ok(Some(date))
    }

    /// Refuses what only hyperplanes can do.
    fn check_kernel(&self, export: Option<&(Export, PathBuf)>) -> Result<(), Failure> {
        let Some(kernel) = self.spec.kernel.exact() else { return Ok(()) };
        let wishes = [(export.is_some(), "--export"), (self.bounds, "--bounds")];
        if let Some((_, name)) = wishes.iter().find(|(wished, _)| *wished) {
            return Err(Failure::Usage(format!(
                "`{name}` speaks of weights, but a model with a kernel has none"
            )));
        }
        if kernel == "precomputed" && !matches!(self.data.scale.as_str(), "auto" | "none") {
            let message = "`--scale` would change kernel values that are precomputed; leave it out";
            return Err(Failure::Usage(message.to_owned()));
        }
        Ok(())
    }

    /// How data is read: precomputed kernel values are taken as they are.
    fn data_words(&self) -> DataArgs {
        let as_it_is = self.spec.kernel.exact() == Some("precomputed");
        let scale = if as_it_is { "none".to_owned() } else { self.data.scale.clone() };
        DataArgs { scale, ..self.data.clone() }
    }

    pub(super) fn save(&self, model: &Model, path: &Path) -> Result<(), Failure> {
        if self.keep_previous && path.exists() {
            model.save_keeping_previous(path)?;
            if !self.quiet {
                ui::note(&format!("the previous model is in {}", previous_path(path).display()));
            }
            return Ok(());
        }
        Ok(model.save(path)?)
    }
}

/// What is wanted besides what a spec says.
pub(super) struct Wish {
    pub(super) plan: Plan,
    pub(super) calibrate: Option<Method>,
    pub(super) one_against_rest: Option<String>,
    pub(super) bounds: bool,
}

impl Wish {
    fn new(args: &Args) -> Result<Self, Failure> {
        let plan = match args.k_fold {
            Some(n_folds) if n_folds < 2 => {
                return Err(Failure::Usage(format!("`--k-fold` should be at least 2, but is {n_folds}")));
            }
            Some(n_folds) => Plan::Folds(n_folds),
            None => Plan::HoldOut(args.holdout),
        };
        let calibrate = match args.calibrate.as_deref() {
            None => Some(Method::Platt),
            Some("none") => None,
            Some(_) if plan == Plan::HoldOut(0.0) => {
                let message = "`--calibrate` needs rows that are held out, but `--holdout` is 0";
                return Err(Failure::Usage(format!(
                    "{message}; try `--k-fold 5`, which learns from all rows"
                )));
            }
            Some(name) => Some(name.parse().map_err(|error: NameError| Failure::Usage(error.to_string()))?),
        };
        Ok(Self { plan, calibrate, one_against_rest: args.one_against_rest.clone(), bounds: args.bounds })
    }
}

fn model_path(args: &Args) -> Result<PathBuf, Failure> {
    if let Some(path) = &args.model {
        return Ok(path.clone());
    }
    let first = args.files.first().map(String::as_str).unwrap_or_default();
    if first == "-" {
        return Err(Failure::Usage("`--model PATH` is needed when the data comes from stdin".to_owned()));
    }
    let name = PathBuf::from(first);
    let stem = name.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let stem = stem.split('.').find(|part| !part.is_empty()).unwrap_or("rosenblatt").to_owned();
    Ok(PathBuf::from(format!("{stem}.model")))
}

/// A model with all there is to say about it.
pub(super) struct Trained {
    pub(super) model: Model,
    pub(super) source: String,
    pub(super) data: Outline,
    pub(super) training: Evaluation,
    pub(super) estimate: Option<Estimate>,
    pub(super) bound: Option<f64>,
    pub(super) bounds: Option<Bounds>,
    pub(super) read_time: Duration,
    pub(super) train_time: Duration,
    pub(super) notes: Vec<String>,
}

/// What was read.
pub(super) struct Outline {
    rows: usize,
    width: usize,
    classes: Vec<(String, usize)>,
}

/// Reads, trains and measures.
pub(super) fn train(
    source: &Source,
    read: &ReadOptions,
    spec: impl FnOnce(usize) -> Result<Spec, Failure>,
    wish: &Wish,
    quiet: bool,
    keeping: Option<(&mut Checkpoints, Option<Checkpoint>)>,
) -> Result<Trained, Failure> {
    let start = Instant::now();
    let progress = Progress::new(quiet);
    progress.reading(source, &read.meter, 1);
    let (data, schema) = load_with_schema(source, read)?;
    let data = choose_one(data, wish.one_against_rest.as_deref())?;
    check_folds(wish.plan, data.len())?;
    check_guess(read, &data)?;
    let read_time = start.elapsed();
    let spec = spec(data.len())?;
    let mut watch = Watch { progress: &progress, epochs: spec.options().epochs, mistakes: 0, last: None };
    let mut notes = schema.notes.clone();
    let mut bounds = None;
    let learn = |rows: &[u32]| {
        let (model, compared) = learn((&spec, &data, rows), schema, keeping, wish.bounds, &mut watch)?;
        bounds = compared;
        Ok(model)
    };
    let Estimated { model, rows: train_rows, time: train_time, estimate } =
        estimate::train(&spec, &data, wish.plan, wish.calibrate, &progress, learn)?;
    progress.stage("measuring");
    if train_rows.len() < 50 {
        notes.push("fewer than 50 rows: the estimate is rough".to_owned());
    }
    if data.rows_are_alike() {
        notes.push("all features are constant: every row is the same, and no class can be told".to_owned());
    }
    let bound = rosenblatt::mistake_bound(&model, &data, &train_rows);
    Ok(Trained {
        training: evaluate_rows(&model, &data, &train_rows),
        estimate,
        source: source.name(),
        data: outline(data.width(), data.classes(), data.labels()),
        bound,
        bounds,
        model,
        read_time,
        train_time,
        notes,
    })
}

/// The training of the model that is kept: its checkpoints, if any are, the signals that stop it, and the bounds it
/// is compared with.
fn learn(
    (spec, data, rows): (&Spec, &Dataset, &[u32]),
    schema: Schema,
    keeping: Option<(&mut Checkpoints, Option<Checkpoint>)>,
    with_bounds: bool,
    watch: &mut Watch<'_>,
) -> Result<(Model, Option<Bounds>), Failure> {
    let run = |training: Training<'_>, watch: &mut Watch<'_>| {
        if with_bounds {
            let compared = bounds::run(training, data, spec, watch)?;
            return Ok(compared.map(|(model, bounds)| (model, Some(bounds))));
        }
        Ok::<_, Failure>(training.run(watch).map(|model| (model, None)))
    };
    let training = Training::new(spec, data).rows(rows).schema(Arc::new(schema));
    let Some((checkpoints, checkpoint)) = keeping else { return Ok(run(training, watch)??) };
    signals::be_careful();
    let training = training.keeper(checkpoints);
    let training = if let Some(from) = checkpoint { training.resume(from) } else { training };
    match (run(training, watch)?, signals::asked()) {
        (Err(Error::Interrupted { .. }), Some(signal)) => Err(checkpoints.stopped(signal)),
        (trained, _) => Ok(trained?),
    }
}

pub(super) fn choose_one(data: Dataset, class: Option<&str>) -> Result<Dataset, Failure> {
    let Some(class) = class else { return Ok(data) };
    let unknown = no_class(data.labels(), class);
    data.one_against_rest(class).ok_or(unknown)
}

pub(super) fn no_class(labels: &Labels, class: &str) -> Failure {
    let names = labels.names();
    let known: Vec<String> = names.iter().take(12).map(|name| format!("`{name}`")).collect();
    let dots = if names.len() > known.len() { ", …" } else { "" };
    Failure::Work(format!("there is no class `{class}`; the classes are {}{dots}", known.join(", ")))
}

/// A column that was taken for the label, and is different in most rows, is none.
fn check_guess(read: &ReadOptions, data: &Dataset) -> Result<(), Failure> {
    let n_classes = data.labels().len();
    if read.label != LabelColumn::Guess || n_classes <= MANY_CLASSES || n_classes * 2 <= data.len() {
        return Ok(());
    }
    let classes = counted(n_classes as u64, "class", "classes");
    let rows = counted(data.len() as u64, "row", "rows");
    Err(Failure::Work(format!(
        "there would be {classes} in {rows}, so what was taken for the label is none\n\
         help: name the label column with --label, and a column of text with --text"
    )))
}

fn check_folds(plan: Plan, n_rows: usize) -> Result<(), Failure> {
    match plan {
        Plan::Folds(n_folds) if n_folds > n_rows => {
            let rows = counted(n_rows as u64, "row", "rows");
            Err(Failure::Work(format!("{n_folds} folds need at least as many rows; there are {rows}")))
        }
        _ => Ok(()),
    }
}

pub(super) fn outline(width: usize, classes: &[u32], labels: &Labels) -> Outline {
    let mut counts = vec![0; labels.len()];
    for &class in classes {
        counts[class as usize] += 1;
    }
    Outline { rows: classes.len(), width, classes: labels.names().iter().cloned().zip(counts).collect() }
}

impl Trained {
    /// The report for people.
    pub(super) fn text(&self) -> String {
        let shown =
            self.data.classes.iter().take(6).map(|(name, rows)| format!("{name} {}", count(*rows as u64)));
        let mut shown: Vec<String> = shown.collect();
        if self.data.classes.len() > shown.len() {
            shown.push(format!("and {} more", self.data.classes.len() - shown.len()));
        }
        let mut text = format!(
            "{}: {}, {}, {} ({}) in {}\n",
            self.source,
            counted(self.data.rows as u64, "row", "rows"),
            counted(self.data.width as u64, "feature", "features"),
            counted(self.data.classes.len() as u64, "class", "classes"),
            shown.join(", "),
            ui::duration(self.read_time),
        );
        for note in &self.notes {
            let _ = writeln!(text, "note: {note}");
        }
        let rounds = self.model.story().totals.rounds as f64 / self.train_time.as_secs_f64().max(1e-9);
        let _ = writeln!(text, "\n{}", report::story(&self.model));
        if let Some(bound) = self.bound {
            let mistakes = self.model.story().totals.mistakes;
            let _ = writeln!(
                text,
                "mistakes {} against at most {} by the bound (R/margin)^2 with the margin found",
                count(mistakes),
                count(bound.floor() as u64)
            );
        }
        if let Some(bounds) = &self.bounds {
            let _ = writeln!(text, "{}", bounds.text());
        }
        let _ = writeln!(
            text,
            "{} rows a second, {} in all",
            count(rounds as u64),
            ui::duration(self.train_time)
        );
        let _ = writeln!(text, "\ntraining error: {}", report::error_line(&self.training));
        if let Some(estimate) = &self.estimate {
            let line = report::error_line(&estimate.evaluation);
            let _ = match estimate.fold_errors.len() {
                0 => writeln!(text, "held-out error: {line}"),
                n_folds => writeln!(
                    text,
                    "cross-validated error: {line}\nspread of {n_folds} folds: +- {}; the model itself is trained on all rows",
                    ui::percent(estimate.spread())
                ),
            };
        }
        let shown = self.held_out().unwrap_or(&self.training);
        let of = if self.estimate.is_some() { "rows it did not learn from" } else { "the training rows" };
        let _ = writeln!(text, "\nconfusion on {of}:\n{}", report::classes(shown));
        let _ = writeln!(text, "{}\n", report::probabilities(&self.model, shown));
        let voices = report::voices(&self.model);
        if !voices.is_empty() {
            let _ = writeln!(text, "{voices}");
        }
        text
    }

    /// The report for programs.
    pub(super) fn json(&self) -> serde_json::Value {
        let classes: Vec<_> =
            self.data.classes.iter().map(|(name, rows)| json!({ "class": name, "rows": rows })).collect();
        json!({
            "data": {
                "source": self.source, "rows": self.data.rows, "features": self.data.width,
                "classes": classes, "notes": self.notes,
            },
            "spec": self.model.spec().options(),
            "story": self.model.story(),
            "mistake-bound": self.bound,
            "bounds": self.bounds.as_ref().map(Bounds::json),
            "training": self.training,
            "held-out": self.held_out(),
            "fold-errors": self.estimate.as_ref().map(|estimate| &estimate.fold_errors),
            "calibration": self.model.calibration(),
            "seconds": { "read": self.read_time.as_secs_f64(), "train": self.train_time.as_secs_f64() },
        })
    }

    /// How good it is on rows it never saw.
    pub(super) fn held_out(&self) -> Option<&Evaluation> {
        self.estimate.as_ref().map(|estimate| &estimate.evaluation)
    }
}

/// Shows how training gets on.
pub(super) struct Watch<'a> {
    pub(super) progress: &'a Progress,
    pub(super) epochs: u64,
    /// In all passes so far.
    pub(super) mistakes: u64,
    /// When the last pass ended.
    pub(super) last: Option<Instant>,
}

impl Observer for Watch<'_> {
    fn pass(&mut self, pass: &Pass, _run: &dyn Snapshot) -> ControlFlow<()> {
        let Self { progress, epochs, .. } = *self;
        self.mistakes += pass.mistakes;
        let took = self.last.replace(Instant::now()).map(|last| last.elapsed().as_secs_f64());
        let rate = took.map_or_else(String::new, |took| {
            format!(", {} rows/s", count((pass.visited as f64 / took.max(1e-9)) as u64))
        });
        let error = pass.errors as f64 / pass.visited.max(1) as f64;
        progress.show(Some(pass.epoch as f64 / epochs as f64), || {
            let (error, mistakes) = (ui::percent(error), count(self.mistakes));
            format!("pass {} of {epochs}: error {error}, {mistakes} mistakes{rate}", pass.epoch)
        });
        ControlFlow::Continue(())
    }
}
