//! Sentences: what `train`, `predict`, `evaluate` and `inspect` do with them. All of it is the engine's; here words become
//! options, and outcomes become lines.

mod ask;
mod compare;
mod look;
mod trace;

pub(super) use ask::{evaluate, predict};
pub(super) use compare::compare;
pub(super) use look::{inspect, mix, report};
pub(super) use trace::trace;

use super::train;
use crate::args::{DataArgs, SpecArgs};
use crate::checkpoints::Checkpoints;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::signals;
use crate::ui::{self, count, percent};
use rosenblatt::core::observer::Snapshot;
use rosenblatt::core::{Average, Epoch, Observer, Readout};
use rosenblatt::data::{SentenceFormat, find_sentence_format};
use rosenblatt::files::{Apart, Claim};
use rosenblatt::model::TaggerCheckpoint;
use rosenblatt::recipe::Plan;
use rosenblatt::sequence::template::SETS;
use rosenblatt::tagger::{Judging, TaggerEstimate, are_sentences};
use rosenblatt::{Error, Tagger, TaggerOptions, TaggerTraining};
use rosenblatt_data::Source;
use rosenblatt_figures::describe_estimate;
use serde_json::json;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

/// How many attributes and labels are listed.
const LISTED: usize = 8;
const LISTED_LABELS: usize = 30;

/// Where the help lists what is said of sentences.
pub(super) const HEADING: &str = "Sentences";

/// What is said of sentences.
#[derive(clap::Args)]
#[command(next_help_heading = HEADING)]
pub(crate) struct TaggerArgs {
    /// Tag the tokens of sentences, by a ready-made set of attributes (tagging, chunking, ner, letters), the one that
    /// suits (auto), or the templates of CRF++ in a file [default: auto for files that are named like sentences:
    /// .conllu, .conll, .iob, .crfsuite]
    #[arg(long, value_name = "SET|FILE")]
    pub(super) features: Option<String>,
    /// Let a label depend on the N labels before it, 1 or 2 [default: 1]
    #[arg(long, value_name = "N")]
    history: Option<usize>,
    /// Search with a beam of N labels at each token [default: exact search]
    #[arg(long, value_name = "N")]
    beam: Option<usize>,
    /// Choose what is compared with the best labels found once a beam has lost the true ones: all of them (complete), those
    /// up to where they were lost (early), or up to where a rival leads by most (max-violation) [default: max-violation]
    #[arg(long, value_name = "NAME", requires = "beam")]
    violation: Option<String>,
    /// Ask that the true labels lead a rival by this much more for every label it has wrong beyond the first
    /// [default: 0]
    #[arg(long, value_name = "NUMBER")]
    label_cost: Option<f64>,
    /// Choose which labels may follow which: bio, bioes, bilou, iob1, none, or auto for the scheme that the labels
    /// keep to [default: auto]
    #[arg(long, value_name = "NAME")]
    constraints: Option<String>,
    /// Leave out attributes that occur fewer than N times [default: 1]
    #[arg(long, value_name = "N")]
    min_count: Option<u32>,
    /// Split the sentences into N shards that learn in parallel, on all cores, and average their weights after every
    /// epoch [default: 1, one sentence after the other]
    #[arg(long, value_name = "N")]
    shards: Option<usize>,
}

/// What `train` may be told of sentences.
const TRAINING: &[&str] = &[
    "files",
    "model",
    "json",
    "resume",
    "checkpoint_every",
    "format",
    "label",
    "algorithm",
    "params",
    "readout",
    "epochs",
    "seed",
    "features",
    "history",
    "beam",
    "violation",
    "label_cost",
    "constraints",
    "min_count",
    "shards",
    "hash_bits",
    "threads",
    "holdout",
    "folds",
    "calibrate",
    "start_from",
    "online",
];

/// Refuses what was typed and says nothing of sentences, rather than pass over it.
fn only(known: &[&str]) -> Result<(), Failure> {
    let other = crate::typed().into_iter().find(|(name, _)| !known.contains(&name.as_str()));
    let refused =
        |(_, word)| Failure::Usage(format!("`{word}` is for rows of a table, but these are sentences"));
    other.map_or(Ok(()), |other| Err(refused(other)))
}

impl TaggerArgs {
    /// Refuses what was said of sentences where there are none.
    pub(super) fn are_for_sentences(&self) -> Result<(), Failure> {
        let Self { features: _, history, beam, violation, label_cost, constraints, min_count, shards } = self;
        let said = [
            (history.is_some(), "--history"),
            (beam.is_some(), "--beam"),
            (violation.is_some(), "--violation"),
            (label_cost.is_some(), "--label-cost"),
            (constraints.is_some(), "--constraints"),
            (min_count.is_some(), "--min-count"),
            (shards.is_some(), "--shards"),
        ];
        match said.iter().find(|(is_said, _)| *is_said) {
            None => Ok(()),
            Some((_, word)) => Err(Failure::Usage(format!(
                "`{word}` is for sentences, but these are rows of a table; `--features auto` reads them as sentences"
            ))),
        }
    }
}

/// Whether sentences are to be learned from.
pub(super) fn is_meant(files: &[String], format: Option<&str>, features: Option<&str>) -> bool {
    features.is_some() || are_sentences(format, files.iter().map(String::as_str))
}

fn format_of(name: Option<&str>) -> Result<Option<&'static dyn SentenceFormat>, Failure> {
    Ok(name.map(find_sentence_format).transpose()?)
}

/// A ready-made set by its name, or the templates of a file.
fn features(name: &str) -> Result<(String, Option<String>), Failure> {
    if name == "auto" || SETS.iter().any(|(set, _)| *set == name) {
        return Ok((name.to_owned(), None));
    }
    let text = std::fs::read_to_string(name).map_err(|error| {
        let sets: Vec<&str> = SETS.iter().map(|(set, _)| *set).collect();
        Failure::Usage(format!(
            "`--features` should be auto, {} or a file of templates, but `{name}` cannot be read: {error}",
            sets.join(", ")
        ))
    })?;
    Ok((TaggerOptions::default().features, Some(text)))
}

/// Whether the mean of all hypotheses is kept, and whether all of them are and vote.
fn readout(readout: Readout) -> Result<(bool, bool), Failure> {
    match readout {
        Readout::Averaged(Average::Post) => Ok((true, false)),
        Readout::Last => Ok((false, false)),
        Readout::Voted => Ok((true, true)),
        other => Err(Failure::Usage(format!(
            "`--readout` should be averaged, last or voted for sentences, but is {other}"
        ))),
    }
}

/// What the words mean; what they do not say is as in `plain`.
fn options(
    spec: &SpecArgs,
    said: &TaggerArgs,
    data: &DataArgs,
    plain: TaggerOptions,
) -> Result<TaggerOptions, Failure> {
    let learning = spec.options()?;
    let is_said = |name: &str| crate::typed().iter().any(|(typed, _)| typed == name);
    let (features, template) = match &said.features {
        Some(name) => features(name)?,
        None => (plain.features, plain.template),
    };
    let names_rule = is_said("algorithm") || is_said("params");
    let (averaged, voted) = spec.readout.map_or(Ok((plain.averaged, plain.voted)), readout)?;
    Ok(TaggerOptions {
        algorithm: if names_rule { learning.algorithm } else { plain.algorithm },
        params: if names_rule { learning.params } else { plain.params },
        averaged,
        voted,
        epochs: spec.epochs.unwrap_or(plain.epochs),
        seed: if is_said("seed") { learning.seed } else { plain.seed },
        features,
        template,
        history: said.history.unwrap_or(plain.history),
        beam: said.beam.or(plain.beam),
        violation: said.violation.clone().unwrap_or(plain.violation),
        cost: said.label_cost.unwrap_or(plain.cost),
        constraints: said.constraints.clone().unwrap_or(plain.constraints),
        min_count: said.min_count.unwrap_or(plain.min_count),
        hash_bits: data.hash_bits.or(plain.hash_bits),
        shards: said.shards.unwrap_or(plain.shards),
        label: data.label.clone().or(plain.label),
    })
}

/// Shows how far it has come.
struct Watch {
    progress: Progress,
    epochs: u64,
    /// Mistakes of every epoch.
    mistakes: Vec<u64>,
}

impl Observer for Watch {
    fn epoch(&mut self, epoch: &Epoch, _run: &dyn Snapshot) -> ControlFlow<()> {
        self.mistakes.push(epoch.mistakes);
        let wrong = epoch.mistakes as f64 / epoch.visited.max(1) as f64;
        self.progress.show(Some(epoch.number as f64 / self.epochs as f64), || {
            format!(
                "epoch {} of {}: {} of sentences with a mistake",
                epoch.number,
                self.epochs,
                percent(wrong)
            )
        });
        ControlFlow::Continue(())
    }
}

pub(super) fn train(args: &train::Args) -> Result<(), Failure> {
    only(TRAINING)?;
    let begun = Instant::now();
    let start = args.start_from.as_ref().map(Tagger::load).transpose()?;
    let plain = start.as_ref().map_or_else(TaggerOptions::default, |tagger| tagger.options().clone());
    let options = options(&args.spec, &args.tagger, &args.data, plain)?;
    options.check().map_err(|error| Failure::Usage(Failure::words(&error)))?;
    let said_holdout = crate::typed().iter().any(|(name, _)| name == "holdout");
    let plan = match args.folds {
        Some(n_folds) => Plan::Folds(n_folds),
        None => Plan::HoldOut(if said_holdout { args.holdout } else { 0.0 }),
    };
    let format = format_of(args.data.format.as_deref())?;
    let path = train::model_path(args)?;
    let mut checkpoints = Checkpoints::new(&path, args.checkpoint_every);
    let source = Source::find_all(&args.files)?;
    let mut files = Apart::default();
    files.writes("the model", &path);
    checkpoints.note(&mut files);
    args.data.note(&mut files, &source);
    files.check()?;
    let _claim = Claim::take(&path)?;
    let checkpoint = checkpoints.load_as(args.resume, |path| TaggerCheckpoint::load(path))?;
    let mut watch = Watch { progress: Progress::new(true), epochs: options.epochs, mistakes: Vec::new() };
    signals::be_careful();
    let training = TaggerTraining::new(&options)
        .format(format)
        .start_from(start.as_ref())
        .resume(checkpoint)
        .judged(Judging { plan, calibrate: args.calibrate })
        .checkpointer(&mut checkpoints);
    let trained = if args.is_online() {
        let show = |so_far: &TaggerEstimate| {
            watch.progress.show(None, || format!("before learning: {}", describe_estimate(so_far)));
            ControlFlow::Continue(())
        };
        training.run_online(&source, show)
    } else {
        training.run(&source, &mut watch)
    };
    let tagger = match (trained, signals::asked()) {
        (Err(Error::Interrupted { .. }), Some(signal)) => return Err(checkpoints.stopped(signal)),
        (trained, _) => trained?,
    };
    let Watch { progress, mistakes, .. } = watch;
    drop(progress);
    tagger.save(&path)?;
    checkpoints.clear();
    told(args, &tagger, &mistakes, &path, begun)
}

/// What was trained.
fn told(
    args: &train::Args,
    tagger: &Tagger,
    mistakes: &[u64],
    path: &Path,
    begun: Instant,
) -> Result<(), Failure> {
    let size = std::fs::metadata(path).map_or(0, |data| data.len());
    if args.json {
        let mut report = tagger.summary();
        report["mistakes-by-epoch"] = json!(mistakes);
        report["seconds"] = json!(begun.elapsed().as_secs_f64());
        report["model"] = json!(path.display().to_string());
        report["model-bytes"] = json!(size);
        return ui::print(&format!("{report}\n"));
    }
    if ui::is_quiet() {
        return Ok(());
    }
    let mut text = describe(tagger);
    if let Some(last) = mistakes.last() {
        let _ = writeln!(
            text,
            "last epoch: a mistake in {} of the sentences",
            share(*last, tagger.training_summary().rows as u64)
        );
    }
    if tagger.estimate().is_none() && !args.is_online() {
        text.push_str(
            "no sentence was held out; --holdout 0.1 or --folds 5 tells how good it is on new ones\n",
        );
    }
    let _ = writeln!(text, "took {}", ui::duration(begun.elapsed()));
    let _ = writeln!(text, "model: {} ({})", path.display(), ui::bytes(size));
    let _ = writeln!(text, "next: rosenblatt evaluate OTHER-SENTENCES --model {}", path.display());
    ui::print(&text)
}

fn share(part: u64, whole: u64) -> String {
    percent(part as f64 / whole.max(1) as f64)
}

fn describe(tagger: &Tagger) -> String {
    let summary = tagger.training_summary();
    let options = tagger.options();
    let mut text = format!(
        "{} sentences, {} tokens, {} labels, {} attributes\n",
        count(summary.rows as u64),
        count(tagger.n_tokens()),
        tagger.labels().len(),
        count(tagger.lexicon().len() as u64),
    );
    let features = if options.template.is_some() { "templates of your own" } else { &options.features };
    let constraints = tagger
        .scheme()
        .map_or("no constraints".to_owned(), |scheme| format!("labels keep to {}", scheme.name()));
    let _ = writeln!(
        text,
        "{}, {}, {} epochs, attributes: {features}; {constraints}",
        options.algorithm,
        options.readout(),
        summary.totals.epochs,
    );
    if let Some(estimate) = tagger.estimate() {
        let by = match estimate.trainings {
            1 => "a tagger that learned from the others".to_owned(),
            n => format!("{n} taggers, each of which learned from the others"),
        };
        let _ = writeln!(text, "held-out: {}, by {by}", describe_estimate(estimate));
    }
    if let Some(progressive) = tagger.progressive() {
        let _ = writeln!(
            text,
            "met for the first time: {}, each before it was learned from",
            describe_estimate(progressive)
        );
    }
    if let Some(calibration) = tagger.calibration() {
        let _ = writeln!(
            text,
            "probabilities: {}, fitted on {}",
            calibration.method(),
            ui::counted(calibration.rows(), "held-out token", "held-out tokens")
        );
    }
    text
}
