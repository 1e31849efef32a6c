//! Sentences: what `train`, `predict`, `evaluate` and `inspect` do with them. All of it is the engine's; here words become
//! options, and outcomes become lines.

mod ask;
mod compare;
mod look;
mod trace;

pub(super) use ask::{evaluate, predict};
pub(super) use compare::compare;
pub(super) use look::{inspected, report};
pub(super) use trace::trace;

use super::train;
use super::train_face::Face;
use crate::args::DataArgs;
use crate::failure::Failure;
use crate::ui::{self, count, percent};
use rosenblatt::data::{SentenceFormat, find_sentence_format};
use rosenblatt::files::read_text;
use rosenblatt::sequence::template::SETS;
use rosenblatt::tagger::are_sentences;
use rosenblatt::{Error, Model, Options, Tagger, TaggerOptions};
use rosenblatt_figures::describe_estimate;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;

/// How many labels are listed.
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

/// What `train` and `tune` may be told of sentences.
pub(super) const TRAINING: &[&str] = &[
    "files",
    "date",
    "keep_previous",
    "export",
    "algorithms",
    "model",
    "json",
    "resume",
    "checkpoint_every",
    "format",
    "label",
    "algorithm",
    "param",
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
    "hash-bits",
    "threads",
    "holdout",
    "folds",
    "calibrate",
    "start_from",
    "online",
];

/// Refuses what was typed and says nothing of sentences, rather than pass over it.
pub(super) fn only(known: &[&str]) -> Result<(), Failure> {
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
pub(super) fn is_meant(files: &[OsString], format: Option<&str>, features: Option<&str>) -> bool {
    let names: Vec<_> = files.iter().map(|file| file.to_string_lossy()).collect();
    features.is_some() || are_sentences(format, names.iter().map(AsRef::as_ref))
}

fn format_of(name: Option<&str>) -> Result<Option<&'static dyn SentenceFormat>, Failure> {
    Ok(name.map(find_sentence_format).transpose()?)
}

/// A ready-made set by its name, or the templates of a file.
fn features(name: &str) -> Result<(String, Option<String>), Failure> {
    if name == "auto" || SETS.iter().any(|(set, _)| *set == name) {
        return Ok((name.to_owned(), None));
    }
    let text = read_text(Path::new(name)).map_err(|error| {
        let sets: Vec<&str> = SETS.iter().map(|(set, _)| *set).collect();
        Failure::Usage(format!(
            "`--features` should be auto, {} or a file of templates, but {error}",
            sets.join(", ")
        ))
    })?;
    Ok((TaggerOptions::default().features, Some(text)))
}

/// What the words mean; what they do not say is as in the model to start from, or as it is usual.
pub(super) fn options(
    learning: Options,
    said: &TaggerArgs,
    data: &DataArgs,
    start: Option<&Model>,
) -> Result<TaggerOptions, Failure> {
    let start = start.map(Model::to_tag).transpose()?;
    let plain = start.map_or_else(TaggerOptions::default, |tagger| tagger.options().clone());
    let is_said = |name: &str| crate::typed().iter().any(|(typed, _)| typed == name);
    let (features, template) = match &said.features {
        Some(name) => features(name)?,
        None => (plain.features, plain.template),
    };
    let names_rule = is_said("algorithm") || is_said("param");
    let usage = |error: Error| Failure::Usage(Failure::words(&error));
    let plain = match learning.readout {
        Some(readout) => TaggerOptions { features, template, ..plain }.read_out(readout).map_err(usage)?,
        None => TaggerOptions { features, template, ..plain },
    };
    let options = TaggerOptions {
        algorithm: if names_rule { learning.algorithm } else { plain.algorithm },
        params: if names_rule { learning.params } else { plain.params },
        averaged: plain.averaged,
        voted: plain.voted,
        epochs: if is_said("epochs") { learning.epochs } else { plain.epochs },
        seed: if is_said("seed") { learning.seed } else { plain.seed },
        features: plain.features,
        template: plain.template,
        history: said.history.unwrap_or(plain.history),
        beam: said.beam.or(plain.beam),
        violation: said.violation.clone().unwrap_or(plain.violation),
        cost: said.label_cost.unwrap_or(plain.cost),
        constraints: said.constraints.clone().unwrap_or(plain.constraints),
        min_count: said.min_count.unwrap_or(plain.min_count),
        hash_bits: data.to_learn()?.hash_bits.or(plain.hash_bits),
        shards: said.shards.unwrap_or(plain.shards),
        label: data.0.word("label").map(str::to_owned).or(plain.label),
    };
    options.check().map_err(usage)?;
    Ok(options)
}

/// What was trained, for programs.
pub(super) fn trained_json(args: &train::Args, tagger: Tagger<'_>, face: &Face) -> Value {
    let mut report = tagger.summary();
    // A stream has none.
    let mistakes = if args.is_online() { &[][..] } else { &face.mistakes };
    report["mistakes-by-epoch"] = json!(mistakes);
    report["seconds"] = json!(face.time().as_secs_f64());
    report
}

/// What was trained, for people.
pub(super) fn trained_text(args: &train::Args, tagger: Tagger<'_>, notes: &[String], face: &Face) -> String {
    let mut text = String::new();
    for note in notes {
        let _ = writeln!(text, "{note}");
    }
    text += &describe(tagger);
    if let Some(last) = face.mistakes.last().filter(|_| !args.is_online()) {
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
    let _ = writeln!(text, "took {}", ui::duration(face.time()));
    text
}

fn share(part: u64, whole: u64) -> String {
    percent(part as f64 / whole.max(1) as f64)
}

fn describe(tagger: Tagger<'_>) -> String {
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
