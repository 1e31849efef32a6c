//! `rosenblatt train FILE...`: from files to a model and an honest estimate of how good it is.
//!
//! What is done, and the defaults, are the engine's [`Recipe`]. Here words become a recipe, and the
//! outcome becomes a file and a report.

use super::tagger;
use super::train_face::{Face, Table};
use super::{inspect, train_report};
use crate::again::{self, Given};
use crate::args::{CostArgs, DataArgs, RecipeArgs, SpecArgs, Spoken, TaggerArgs, share};
use crate::checkpoints::{Checkpoints, Every};
use crate::choices::export_help;
use crate::failure::Failure;
use crate::paths::default_model;
use crate::signals;
use crate::ui;
use rosenblatt::data::files::{Claim, is_stdout, previous_path};
use rosenblatt::learning::Readout;
use rosenblatt::model::Checkpoint;
use rosenblatt::model::Date;
use rosenblatt::recipe::{Choice, Plan};
use rosenblatt::{Error, Model, Recipe, Spec, Trained};
use rosenblatt_data::{ReadOptions, Source};
use serde_json::json;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

#[derive(clap::Args)]
#[command(
    after_help = "Examples:
  rosenblatt train mail.csv                           all settings detected; makes mail.model
  rosenblatt train data.csv --label species --missing mean
  rosenblatt train data.csv --algorithm perceptron    no race: this rule, its defaults
  rosenblatt train news.conllu                        a tagger of sentences",
    after_long_help = "Examples:
  rosenblatt train mail.csv                           all settings detected; makes mail.model
  rosenblatt train a9a --model adult.model            libsvm; names the model
  rosenblatt train data.csv --label species --missing mean
  rosenblatt train data.csv --algorithm perceptron    no race: this rule, its defaults
  rosenblatt train data.csv --algorithm pa1 --param C=0.1 --readout last
  cat data.svm | rosenblatt train - --model data.model
  rosenblatt train data.csv --folds 10                error by cross-validation, model from all rows
  rosenblatt train digits.csv --kernel polynomial --degree 4 --readout voted
  rosenblatt train faces.svm --positive ann           ann against all others
  rosenblatt train mail.csv --export onnx mail.onnx   for other programs, too
  rosenblatt train huge.svm --online --model huge.model      one epoch, in the memory of a few blocks
  rosenblatt train huge.svm --memory 512MiB                  many epochs over more than memory holds
  rosenblatt train big.svm --checkpoint-every 10m --resume   continues where it stopped
  rosenblatt train news.conllu --holdout 0.1                 a tagger of sentences, and its error
  rosenblatt train train.txt --features template.txt         the same with templates of CRF++

Ctrl-C leaves a checkpoint beside the model (PATH.checkpoint) and tells you how to resume. Press
it twice to stop at once. A resumed run ends in the same model, to the bit."
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that a person types")]
pub(crate) struct Args {
    #[command(flatten)]
    spoken: Spoken,
    /// Files, folders or patterns to read; `-` is stdin
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<OsString>,
    /// Save the model here [default: mail.model for mail.csv]
    #[arg(long, short, value_name = "PATH")]
    model: Option<PathBuf>,
    /// Estimate the error on this share of the rows. The same training without them predicts them, and the saved
    /// model learns from all rows; 0 for no estimate. If you name a rule and have 1,000 rows or more, a tenth of the
    /// rows of each training decides when it stops (`--patience 0` turns that off), and the saved model makes as many
    /// epochs. Vocabulary and scales see no labels and come from all rows [default: 5 folds of up to 3,000 rows, 0.2 of more; 0 of sentences]
    #[arg(long, alias = "test-size", value_name = "SHARE", value_parser = share)]
    pub(super) holdout: Option<f64>,
    /// Estimate the error by cross-validation on N folds. The saved model learns from all rows
    #[arg(long, aliases = ["k-fold", "cv"], value_name = "N", conflicts_with = "holdout")]
    pub(super) folds: Option<usize>,
    #[arg(long, num_args = 2, value_names = ["FORMAT", "PATH"], help = export_help("Also write"))]
    export: Option<Vec<OsString>>,
    /// All classes, in their order [default: those found in the data; numbers by value, names by the alphabet]
    #[arg(long, value_name = "CLASS,...", value_delimiter = ',')]
    classes: Option<Vec<String>>,
    /// Save a checkpoint beside the model every N epochs, or every 30s, 10m, 2h or 100000rows [default: only when
    /// interrupted]
    #[arg(long, value_name = "N|TIME|ROWS")]
    pub(super) checkpoint_every: Option<Every>,
    /// Continue from the checkpoint beside the model, with the same data and options; start over if there is none
    #[arg(long)]
    pub(super) resume: bool,
    /// Write the date into the model: the time now, in UTC, or that of `SOURCE_DATE_EPOCH` (seconds since 1970)
    /// if it is set. Without it no date is written, and the same training gives the same bytes
    #[arg(long)]
    date: bool,
    /// Back up an existing model as PATH.1
    #[arg(long)]
    keep_previous: bool,
    /// Train the perceptron without a race, and print its mistakes beside their bounds, epoch by epoch
    #[arg(long, conflicts_with = "online")]
    bounds: bool,
    /// Start from the weights of this model, and read rows as it does [default: from zero]
    #[arg(long, value_name = "MODEL", conflicts_with = "folds")]
    pub(super) start_from: Option<PathBuf>,
    /// Accept new classes, each when its first row comes (with --online) [default: a new class is an error]
    #[arg(long)]
    grow_classes: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    recipe: RecipeArgs,
    #[command(flatten)]
    decision: CostArgs,
    #[command(flatten)]
    pub(super) data: DataArgs,
    #[command(flatten)]
    pub(super) spec: SpecArgs,
    #[command(flatten)]
    pub(super) tagger: TaggerArgs,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    if args.is_of_sentences() {
        args.spoken.only_of_sentences(tagger::TRAINING)?;
        // Rules race on sentences only where that is asked for.
        let choice = args.spec.choice();
        return follow(args, if matches!(choice, Choice::Auto) { Choice::Given } else { choice });
    }
    args.spoken.only_of_tables()?;
    // What is proved of mistakes is proved of the perceptron.
    follow(args, if args.bounds { Choice::Given } else { args.spec.choice() })
}

/// Trains what `choice` chooses.
pub(super) fn follow(args: &Args, choice: Choice) -> Result<(), Failure> {
    if matches!(choice, Choice::Race(_)) && args.spec.has("patience") {
        let message = "`--patience` has no effect here, as the race decides how long to train; leave it out";
        return Err(Failure::Usage(message.to_owned()));
    }
    let recipe = args.recipe(choice)?;
    recipe.check().map_err(|error| Failure::Usage(Failure::words(&error)))?;
    let export = args.export.as_deref().map(inspect::export_wish).transpose()?;
    // What is exported to stdout is the result, and stands there alone.
    let is_export_result = export.as_ref().is_some_and(|(_, path)| is_stdout(path));
    if is_export_result && args.json {
        let message = "stdout has room for the export or the report, not for both; \
                       export to a file, or leave `--json` out";
        return Err(Failure::Usage(message.to_owned()));
    }
    let spec = Spec::new(recipe.learning.options().clone())?;
    if spec.kernel().is_some()
        && let Some((_, name)) = [(export.is_some(), "--export"), (args.bounds, "--bounds")]
            .iter()
            .find(|(is_wished, _)| *is_wished)
    {
        let message = format!("`{name}` needs weights, but a model with a kernel has none");
        return Err(Failure::Usage(message));
    }
    if export.is_some() && spec.readout() == Readout::Voted {
        let message = "a vote of many hyperplanes cannot be exported; train with `--readout averaged`";
        return Err(Failure::Usage(message.to_owned()));
    }
    let path = model_path(args)?;
    let date = args.date()?;
    let mut checkpoints = Checkpoints::new(&path, args.checkpoint_every);
    let _claim = Claim::take(&path)?;
    let source = Source::find_all(&args.files)?;
    let checkpoint = checkpoints.load(args.resume)?;
    let (mut trained, mut face, checkpoints) = args.train(&recipe, &source, checkpoints, checkpoint)?;
    if let Some(date) = date {
        trained.model = trained.model.dated(date);
    }
    signals::be_careful();
    args.save(&trained.model, &path)?;
    checkpoints.lock().unwrap_or_else(PoisonError::into_inner).clear();
    face.progress.end();
    if let Some((format, path)) = export {
        inspect::export_to(&trained.model, format, &path, Some(&source))?;
    }
    let (table, last) = (face.table.as_mut(), trained.progress.last());
    if let (Some(table), Some(last)) = (table, last) {
        table.line(*last);
    }
    let unfinished =
        if trained.is_unfinished { ", before it was measured and probabilities were fitted" } else { "" };
    signals::answer(&format!("stopped after the model was saved{unfinished}"))?;
    let size = std::fs::metadata(&path).map_or(0, |data| data.len());
    let tagger = trained.model.tagger();
    if args.json {
        let mut report = match tagger {
            Some(tagger) => tagger::trained_json(args, tagger, &face),
            None => train_report::json(&trained, &face),
        };
        report["model"] = json!(path.display().to_string());
        report["model-bytes"] = json!(size);
        return ui::print(&format!("{report}\n"));
    }
    if ui::is_quiet() {
        return Ok(());
    }
    let gap = if trained.progress.is_empty() { "" } else { "\n" };
    let mut text = match tagger {
        Some(tagger) => tagger::trained_text(args, tagger, &trained.notes, &face),
        None => format!("{gap}{}", train_report::text(&trained, &face)),
    };
    let _ = writeln!(text, "model: {} ({})", path.display(), ui::bytes(size));
    if trained.race.is_some() {
        let given =
            Given { files: &args.files, rows: None, data: &args.data, model: &path.display().to_string() };
        let command = again::command(&trained.model.clone().with_race(None), &given);
        let _ = writeln!(text, "to train the winner without the race: {command}");
        if trained.model.calibration().is_some() && !command.contains(" --folds ") {
            text.push_str(
                "  the same weights without probabilities: a row near the boundary may get another class\n",
            );
        }
    }
    let next = if tagger.is_some() { "evaluate OTHER-SENTENCES" } else { "predict NEW-ROWS" };
    let _ = writeln!(text, "next: rosenblatt {next} --model {}", path.display());
    if is_export_result {
        ui::note(text.trim_end());
        return Ok(());
    }
    ui::print_report(&text)
}

impl Args {
    pub(super) fn is_of_sentences(&self) -> bool {
        tagger::is_meant(&self.files, self.data.format(), self.tagger.features())
    }

    pub(super) fn is_online(&self) -> bool {
        self.recipe.0.has("online")
    }

    /// What the words mean.
    fn recipe(&self, choice: Choice) -> Result<Recipe, Failure> {
        let costs = self.decision.costs()?;
        let mut choice = choice;
        // Candidates that you named carry their own parameters and network settings.
        let mut learning = match &mut choice {
            Choice::Race(racing) if !racing.candidates.is_empty() => {
                let costs = costs.clone().unwrap_or_default();
                racing.candidates.iter_mut().for_each(|candidate| candidate.costs = costs.clone());
                let mut shared = self.spec.asked_and_values()?.0;
                if !self.is_of_sentences() {
                    shared.set("network", |options| options.network = None);
                }
                shared
            }
            _ => self.spec.asked()?,
        };
        if let Some(costs) = costs {
            learning.set("costs", |options| options.costs = costs);
        }
        let start = self.start_from.as_ref().map(Model::load).transpose()?;
        if start.is_some() {
            self.data.leave_to_the_model()?;
        }
        let tagging = self.is_of_sentences().then(|| self.tagger.asked()).transpose()?;
        if tagging.is_some() {
            start.as_ref().map(Model::to_tag).transpose()?;
        }
        Ok(Recipe {
            reading: ReadOptions {
                classes: self.classes.clone(),
                grow_classes: self.grow_classes,
                ..self.data.to_learn()?
            },
            learning,
            tagging,
            choice,
            estimate: match (self.folds, self.holdout) {
                (Some(n_folds), _) => Plan::Folds(n_folds),
                (None, Some(share)) => Plan::HoldOut(share),
                (None, None) => Plan::Auto,
            },
            start: start.map(Arc::new),
            ..self.recipe.recipe()?
        })
    }

    /// Follows the recipe.
    fn train(
        &self,
        recipe: &Recipe,
        source: &Source,
        checkpoints: Checkpoints,
        checkpoint: Option<Checkpoint>,
    ) -> Result<(Trained, Face, Arc<Mutex<Checkpoints>>), Failure> {
        let of_rows = recipe.online && recipe.tagging.is_none();
        let mut face = Face::new(!of_rows, recipe.reading.meter.clone());
        let checkpoints = Arc::new(Mutex::new(checkpoints));
        face.checkpoints = Some(Arc::clone(&checkpoints));
        face.with_bounds = self.bounds;
        face.table = (of_rows && !self.json && !ui::is_quiet()).then(Table::default);
        match (recipe.resume(source, checkpoint, &mut face), signals::asked()) {
            (Err(Error::Interrupted { .. }), Some(signal)) => {
                Err(checkpoints.lock().unwrap_or_else(PoisonError::into_inner).stopped(signal))
            }
            (trained, _) => Ok((trained?, face, checkpoints)),
        }
    }

    /// What the model is to be dated, if it is.
    fn date(&self) -> Result<Option<Date>, Failure> {
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

    fn save(&self, model: &Model, path: &Path) -> Result<(), Failure> {
        if self.keep_previous && path.exists() {
            model.save_keeping_previous(path)?;
            ui::note(&format!("the previous model is in {}", previous_path(path).display()));
            return Ok(());
        }
        Ok(model.save(path)?)
    }
}

pub(super) fn model_path(args: &Args) -> Result<PathBuf, Failure> {
    if let Some(path) = &args.model {
        return Ok(path.clone());
    }
    let first = args.files.first().cloned().unwrap_or_default();
    if first == "-" {
        return Err(Failure::Usage("`--model PATH` is needed when the data comes from stdin".to_owned()));
    }
    Ok(default_model(&first))
}
