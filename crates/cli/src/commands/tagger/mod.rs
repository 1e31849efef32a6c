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
use crate::failure::Failure;
use crate::ui::{self, count, percent};
use rosenblatt::data::{SentenceFormat, find_sentence_format};
use rosenblatt::tagger::{Tagger, are_sentences};
use rosenblatt_figures::describe_estimate;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fmt::Write as _;

/// How many labels are listed.
const LISTED_LABELS: usize = 30;

/// What `train` and `tune` accept for sentences besides settings.
pub(super) const TRAINING: &str = "files date keep_previous export algorithms model json resume checkpoint_every holdout folds \
                                   start_from";

/// Whether sentences are to be learned from.
pub(super) fn is_meant(files: &[OsString], format: Option<&str>, features: Option<&str>) -> bool {
    let names: Vec<_> = files.iter().map(|file| file.to_string_lossy()).collect();
    features.is_some() || are_sentences(format, names.iter().map(AsRef::as_ref))
}

fn format_of(name: Option<&str>) -> Result<Option<&'static dyn SentenceFormat>, Failure> {
    Ok(name.map(find_sentence_format).transpose()?)
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
