//! `rosenblatt train FILE...`: from files to a model and an honest estimate of how good it is.
//!
//! A part of the rows is set aside before anything is learned and only used for the estimate. Of the
//! rest, some rows decide when to stop. Vocabularies and scales are taken from all rows; they see no labels.

use super::bounds::{self, Bounds};
use super::train_online;
use crate::args::{DataArgs, SpecArgs, decide_scale};
use crate::failure::Failure;
use crate::report;
use crate::ui::{self, Progress, count, counted};
use rosenblatt::core::observer::Snapshot;
use rosenblatt::core::{Observer, Pass};
use rosenblatt::{Dataset, Evaluation, Model, Spec, Training, check_writable, evaluate_rows, split};
use rosenblatt_data::{ReadOptions, Source, load_with_schema};
use serde_json::json;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  rosenblatt train mail.csv                           everything found out, model in mail.model
  rosenblatt train a9a --model a9a.model --epochs 10  libsvm, model where you say
  rosenblatt train data.csv --label species --missing mean
  rosenblatt train data.csv --algorithm pa1 --param C=0.1 --readout last
  cat data.svm | rosenblatt train - --model data.model
  rosenblatt train huge.svm --online --model huge.model   one pass, in the memory of a few blocks")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that a person types")]
pub(crate) struct Args {
    /// Files, folders or patterns; `-` is stdin
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<String>,
    /// Where the model goes; the first file's name with `.model` if not said
    #[arg(long, short, value_name = "PATH")]
    model: Option<PathBuf>,
    /// The share of rows set aside for the estimate; 0 to learn from all
    #[arg(long, value_name = "SHARE", default_value_t = 0.2)]
    holdout: f64,
    /// The class a positive score speaks for, of two
    #[arg(long, value_name = "CLASS")]
    positive: Option<String>,
    /// All classes, in their order, instead of those found in the data
    #[arg(long, value_name = "CLASS,...", value_delimiter = ',')]
    classes: Option<Vec<String>>,
    /// Learn in one pass over the rows in their order, in the memory of a few blocks, and print the
    /// error of the predictions made before each row was learned from
    #[arg(long, conflicts_with_all = ["holdout", "epochs", "patience", "order", "max_updates"])]
    online: bool,
    /// Show the perceptron's mistakes beside their bounds, pass by pass
    #[arg(long, conflicts_with = "online")]
    bounds: bool,
    #[command(flatten)]
    pub(super) data: DataArgs,
    #[command(flatten)]
    pub(super) spec: SpecArgs,
    /// Print the report as JSON
    #[arg(long)]
    pub(super) json: bool,
    /// Say nothing but the result
    #[arg(long, short)]
    pub(super) quiet: bool,
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
    let path = model_path(args)?;
    if args.online {
        return train_online::run(args, read, &path);
    }
    check_writable(&path)?;
    let (source, read) = decide_scale(&args.data, &Source::find_all(&args.files)?, read)?;
    let trained =
        train(&source, &read, |n_rows| args.spec.spec(n_rows), args.holdout, args.bounds, args.quiet)?;
    trained.model.save(&path)?;
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
    source: String,
    data: Outline,
    training: Evaluation,
    held_out: Option<Evaluation>,
    bound: Option<f64>,
    bounds: Option<Bounds>,
    read_time: Duration,
    train_time: Duration,
    notes: Vec<String>,
}

/// What was read.
struct Outline {
    rows: usize,
    width: usize,
    classes: Vec<(String, usize)>,
}

/// Reads, trains and measures.
pub(super) fn train(
    source: &Source,
    read: &ReadOptions,
    spec: impl FnOnce(usize) -> Result<Spec, Failure>,
    holdout: f64,
    with_bounds: bool,
    quiet: bool,
) -> Result<Trained, Failure> {
    let start = Instant::now();
    let mut progress = Progress::new(quiet);
    progress.show(|| format!("reading {}", source.name()));
    let (data, schema) = load_with_schema(source, read)?;
    let read_time = start.elapsed();
    let spec = spec(data.len())?;
    let all: Vec<u32> = (0..data.len() as u32).collect();
    let (train_rows, held_rows) =
        if holdout > 0.0 { split(&data, holdout, spec.options().seed) } else { (all, Vec::new()) };
    let start = Instant::now();
    let mut watch = Watch { progress: Progress::new(quiet), epochs: spec.options().epochs };
    let training = Training::new(&spec, &data).rows(&train_rows);
    let (model, bounds) = if with_bounds {
        let (model, bounds) = bounds::run(training, &data, &spec, &mut watch)?;
        (model, Some(bounds))
    } else {
        (training.run(&mut watch)?, None)
    };
    drop(watch);
    let train_time = start.elapsed();
    let mut notes = schema.notes.clone();
    if train_rows.len() < 50 {
        notes.push("fewer than 50 rows: the estimate is rough".to_owned());
    }
    let model = model.with_schema(Arc::new(schema));
    let bound = rosenblatt::mistake_bound(&model, &data, &train_rows);
    Ok(Trained {
        training: evaluate_rows(&model, &data, &train_rows),
        held_out: (!held_rows.is_empty()).then(|| evaluate_rows(&model, &data, &held_rows)),
        source: source.name(),
        data: outline(&data),
        bound,
        bounds,
        model,
        read_time,
        train_time,
        notes,
    })
}

fn outline(data: &Dataset) -> Outline {
    let mut counts = vec![0; data.labels().len()];
    for &class in data.classes() {
        counts[class as usize] += 1;
    }
    let classes = data.labels().names().iter().cloned().zip(counts).collect();
    Outline { rows: data.len(), width: data.width(), classes }
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
        if let Some(held_out) = &self.held_out {
            let _ = writeln!(text, "held-out error: {}", report::error_line(held_out));
        }
        let _ = writeln!(text, "\n{}", report::classes(self.held_out.as_ref().unwrap_or(&self.training)));
        let voices = report::voices(&self.model);
        if !voices.is_empty() {
            let _ = writeln!(text, "{voices}");
        }
        text
    }

    /// The report for programs.
    fn json(&self) -> serde_json::Value {
        let classes: Vec<_> =
            self.data.classes.iter().map(|(name, rows)| json!({ "class": name, "rows": rows })).collect();
        json!({
            "data": {
                "source": self.source, "rows": self.data.rows, "features": self.data.width,
                "classes": classes, "notes": self.notes,
            },
            "spec": self.model.spec().options(),
            "story": report::story_json(&self.model),
            "mistake-bound": self.bound,
            "bounds": self.bounds.as_ref().map(Bounds::json),
            "training": report::evaluation_json(&self.training),
            "held-out": self.held_out.as_ref().map(report::evaluation_json),
            "seconds": { "read": self.read_time.as_secs_f64(), "train": self.train_time.as_secs_f64() },
        })
    }

    /// How good it is on rows it never saw.
    pub(super) fn held_out(&self) -> Option<&Evaluation> {
        self.held_out.as_ref()
    }
}

/// Shows how training gets on.
struct Watch {
    progress: Progress,
    epochs: u64,
}

impl Observer for Watch {
    fn pass(&mut self, pass: &Pass, _run: &dyn Snapshot) -> ControlFlow<()> {
        let Self { progress, epochs } = self;
        let rate = pass.rounds as f64 / progress.elapsed().as_secs_f64().max(1e-9);
        progress.show(|| {
            let error = pass.errors as f64 / pass.visited.max(1) as f64;
            format!(
                "pass {} of at most {epochs}: {} mistakes, online error {}, {} rows/s",
                pass.epoch,
                count(pass.mistakes),
                ui::percent(error),
                count(rate as u64)
            )
        });
        ControlFlow::Continue(())
    }
}
