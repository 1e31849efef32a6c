//! Sentences: what `train`, `predict`, `evaluate` and `inspect` do with them. All of it is the engine's; here words become
//! options, and outcomes become lines.

use super::{evaluate, inspect, predict, train};
use crate::checkpoints::Checkpoints;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::report::short_number;
use crate::signals;
use crate::ui::{self, count, percent};
use rosenblatt::core::observer::Snapshot;
use rosenblatt::core::{Average, Epoch, Observer, Readout};
use rosenblatt::data::{SentenceFormat, Sentences, find_sentence_format, sentence_format_by_name};
use rosenblatt::files::{Apart, Claim, is_stdout};
use rosenblatt::model::TaggerCheckpoint;
use rosenblatt::sequence::spans::{Agreement, Count};
use rosenblatt::sequence::template::SETS;
use rosenblatt::tagger::Room;
use rosenblatt::{Error, Tagger, TaggerOptions, TaggerTraining};
use rosenblatt_data::Source;
use rosenblatt_data::write::NewFile;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::time::Instant;

/// How many attributes and labels are listed.
const LISTED: usize = 8;
const LISTED_LABELS: usize = 30;

/// What is said of sentences.
#[derive(clap::Args)]
#[command(next_help_heading = "Sentences")]
pub(crate) struct TaggerArgs {
    /// Tag the tokens of sentences, by a ready-made set of attributes (tagging, chunking, ner, letters), the one that suits
    /// (auto), or the templates of CRF++ in a file; auto for files that are named like sentences (.conllu, .conll, .iob,
    /// .crfsuite) if not said
    #[arg(long, value_name = "SET|FILE")]
    features: Option<String>,
    /// Let a label depend on so many labels before it, 1 or 2; 1 if not said
    #[arg(long, value_name = "N")]
    history: Option<usize>,
    /// Search with so many labels kept at each token; exactly if not said
    #[arg(long, value_name = "N")]
    beam: Option<usize>,
    /// Choose what becomes of true labels that a beam has lost: complete, early or max-violation; max-violation
    /// if not said
    #[arg(long, value_name = "NAME", requires = "beam")]
    violation: Option<String>,
    /// Ask that true labels lead by so much more for every wrong label of a rival beyond the first; 0 if not said
    #[arg(long, value_name = "NUMBER")]
    label_cost: Option<f64>,
    /// Choose which labels may follow which: bio, bioes, bilou, iob1, none, or auto for the scheme that the labels keep to;
    /// auto if not said
    #[arg(long, value_name = "NAME")]
    constraints: Option<String>,
    /// Leave out attributes that turn up less often; 1 if not said
    #[arg(long, value_name = "N")]
    min_count: Option<u32>,
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
        let Self { features: _, history, beam, violation, label_cost, constraints, min_count } = self;
        let said = [
            (history.is_some(), "--history"),
            (beam.is_some(), "--beam"),
            (violation.is_some(), "--violation"),
            (label_cost.is_some(), "--label-cost"),
            (constraints.is_some(), "--constraints"),
            (min_count.is_some(), "--min-count"),
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
pub(super) fn is_meant(args: &train::Args) -> bool {
    let by_format = args.data.format.as_deref().is_some_and(|name| find_sentence_format(name).is_ok());
    let by_name = |file: &String| {
        sentence_format_by_name(file).is_some_and(|format| format.info().name != "token-lists")
    };
    args.tagger.features.is_some()
        || by_format
        || args.data.format.is_none() && !args.files.is_empty() && args.files.iter().all(by_name)
}

fn format_of(name: Option<&str>) -> Result<Option<&'static dyn SentenceFormat>, Failure> {
    Ok(name.map(find_sentence_format).transpose()?)
}

fn options(args: &train::Args) -> Result<TaggerOptions, Failure> {
    let said = &args.tagger;
    let learning = args.spec.options()?;
    let averaged = match args.spec.readout {
        None | Some(Readout::Averaged(Average::Post)) => true,
        Some(Readout::Last) => false,
        Some(other) => {
            return Err(Failure::Usage(format!(
                "`--readout` should be averaged or last for sentences, but is {other}"
            )));
        }
    };
    let plain = TaggerOptions::default();
    let (features, template) = match &said.features {
        Some(name) if name == "auto" || SETS.iter().any(|(set, _)| set == name) => (name.clone(), None),
        Some(path) => {
            let read = std::fs::read_to_string(path);
            let text = read.map_err(|error| {
                let sets: Vec<&str> = SETS.iter().map(|(set, _)| *set).collect();
                Failure::Usage(format!(
                    "`--features` should be auto, {} or a file of templates, but `{path}` cannot be read: {error}",
                    sets.join(", ")
                ))
            })?;
            (plain.features, Some(text))
        }
        None => (plain.features, None),
    };
    Ok(TaggerOptions {
        algorithm: learning.algorithm,
        params: learning.params,
        averaged,
        epochs: args.spec.epochs.unwrap_or(plain.epochs),
        seed: learning.seed,
        features,
        template,
        history: said.history.unwrap_or(plain.history),
        beam: said.beam,
        violation: said.violation.clone().unwrap_or(plain.violation),
        cost: said.label_cost.unwrap_or(plain.cost),
        constraints: said.constraints.clone().unwrap_or(plain.constraints),
        min_count: said.min_count.unwrap_or(plain.min_count),
        label: args.data.label.clone(),
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
    let options = options(args)?;
    options.check().map_err(|error| Failure::Usage(Failure::words(&error)))?;
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
    let training =
        TaggerTraining::new(&options).format(format).resume(checkpoint).checkpointer(&mut checkpoints);
    let tagger = match (training.run(&source, &mut watch), signals::asked()) {
        (Err(Error::Interrupted { .. }), Some(signal)) => return Err(checkpoints.stopped(signal)),
        (trained, _) => trained?,
    };
    let Watch { progress, mistakes, .. } = watch;
    drop(progress);
    tagger.save(&path)?;
    checkpoints.clear();
    let size = std::fs::metadata(&path).map_or(0, |data| data.len());
    if args.json {
        let mut report = summary(&tagger);
        report["mistakes-by-epoch"] = json!(mistakes);
        report["model"] = json!(path.display().to_string());
        report["model-bytes"] = json!(size);
        return ui::print(&format!("{report}\n"));
    }
    if ui::is_quiet() {
        return Ok(());
    }
    let mut text = describe(&tagger);
    if let Some(last) = mistakes.last() {
        let _ = writeln!(
            text,
            "last epoch: a mistake in {} of the sentences",
            share(*last, tagger.training_summary().rows as u64)
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
        if options.averaged { "averaged" } else { "last" },
        summary.totals.epochs,
    );
    text
}

fn summary(tagger: &Tagger) -> Value {
    let training = tagger.training_summary();
    json!({
        "kind": "tagger",
        "options": tagger.options(),
        "labels": tagger.labels(),
        "sentences": training.rows,
        "tokens": tagger.n_tokens(),
        "attributes": tagger.lexicon().len(),
        "constraints": tagger.scheme().map(rosenblatt::sequence::Scheme::name),
        "training-summary": training,
    })
}

pub(super) fn predict(args: &predict::Args) -> Result<(), Failure> {
    only(&["files", "model", "output", "explain", "format"])?;
    let tagger = Tagger::load(&args.model)?;
    let format = format_of(args.data.format.as_deref())?;
    let source = Source::find_all(&args.files)?;
    let mut files = Apart::default();
    args.data.note(&mut files, &source);
    files.reads("the model", &args.model);
    if let Some(path) = &args.output {
        files.writes("the output", path);
    }
    files.check()?;
    let mut file = args.output.as_deref().filter(|path| !is_stdout(path)).map(NewFile::create).transpose()?;
    let mut write = |text: &str| -> Result<(), Failure> {
        match &mut file {
            Some(file) => Ok(file.write(text.as_bytes())?),
            None => ui::print(text),
        }
    };
    let mut stream = tagger.open(&source, format)?;
    if let Some(n) = args.explain {
        let (mut block, mut room) = (Sentences::default(), Room::default());
        while stream.next(&mut block)? {
            let format = stream.format();
            for number in 0..block.len() {
                let reasons = tagger.explain(&block, number, format, &mut room)?;
                let mut text = String::new();
                for (token, reason) in block.tokens(number).zip(reasons) {
                    let word = block.cell(token, format.word_cell()).unwrap_or_default();
                    let attributes = reason.attributes.iter().take(n);
                    let attributes: Vec<String> =
                        attributes.map(|(name, weight)| format!("{name} {}", signed(*weight))).collect();
                    let _ = writeln!(
                        text,
                        "{word}\t{}\tlead {}\tlabels before {}\t{}",
                        reason.label,
                        short_number(reason.lead),
                        signed(reason.transition),
                        attributes.join("\t")
                    );
                }
                text.push('\n');
                write(&text)?;
            }
        }
    } else {
        tagger.write_all(&mut stream, 0, write)?;
    }
    match file {
        Some(file) => Ok(file.finish()?),
        None => Ok(()),
    }
}

fn signed(number: f64) -> String {
    if number > 0.0 { format!("+{}", short_number(number)) } else { short_number(number) }
}

pub(super) fn evaluate(args: &evaluate::Args) -> Result<(), Failure> {
    only(&["files", "model", "json", "format"])?;
    let tagger = Tagger::load(&args.model)?;
    let format = format_of(args.data.format.as_deref())?;
    let agreement = tagger.evaluate(&Source::find_all(&args.files)?, format)?;
    if args.json {
        return ui::print(&format!("{}\n", agreement_json(&agreement)));
    }
    let Agreement { sentences, tokens, tokens_right, .. } = agreement;
    let mut text = format!(
        "{} sentences, {} tokens\naccuracy: {} ({} wrong), whole sentences {}\n",
        count(sentences),
        count(tokens),
        percent(agreement.accuracy()),
        count(tokens - tokens_right),
        percent(agreement.sentence_accuracy()),
    );
    if agreement.unknown > 0 {
        let _ = writeln!(
            text,
            "unknown words: {} of {} tokens right",
            percent(agreement.unknown_accuracy()),
            count(agreement.unknown)
        );
    }
    let all = agreement.all_spans();
    let has_spans = agreement.labels.keys().any(|label| label.starts_with("B-") || label.starts_with("I-"));
    let row = |name: &str, count_of: &Count| {
        let two = |share: f64| format!("{:.2} %", share * 100.0);
        let Count { gold, found, .. } = *count_of;
        vec![
            name.to_owned(),
            two(count_of.precision()),
            two(count_of.recall()),
            format!("{:.2}", count_of.f1() * 100.0),
            count(gold),
            count(found),
        ]
    };
    let heads =
        |what: &str| [what, "precision", "recall", "F1", "there", "found"].map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> = if has_spans {
        let _ = writeln!(text, "sentences with labels that may not follow each other: {}", agreement.invalid);
        let of_types = agreement.spans.iter().map(|(name, count)| row(name, count));
        [heads("spans"), row("all", &all)].into_iter().chain(of_types).collect()
    } else {
        let labels = agreement.labels.iter().take(LISTED_LABELS);
        std::iter::once(heads("label")).chain(labels.map(|(name, count)| row(name, count))).collect()
    };
    ui::print(&format!("{text}\n{}", ui::table(&rows)))
}

fn agreement_json(agreement: &Agreement) -> Value {
    let one = |count: &Count| {
        json!({"there": count.gold, "found": count.found, "right": count.right,
            "precision": count.precision(), "recall": count.recall(), "f1": count.f1()})
    };
    let all = |counts: &std::collections::BTreeMap<String, Count>| {
        counts.iter().map(|(name, count)| (name.clone(), one(count))).collect::<serde_json::Map<_, _>>()
    };
    json!({
        "sentences": agreement.sentences,
        "sentence-accuracy": agreement.sentence_accuracy(),
        "tokens": agreement.tokens,
        "accuracy": agreement.accuracy(),
        "unknown-tokens": agreement.unknown,
        "unknown-accuracy": agreement.unknown_accuracy(),
        "invalid-sentences": agreement.invalid,
        "spans": one(&agreement.all_spans()),
        "spans-by-type": all(&agreement.spans),
        "labels": all(&agreement.labels),
    })
}

pub(super) fn inspect(args: &inspect::Args) -> Result<(), Failure> {
    let tagger = Tagger::load(&args.model)?;
    let n_labels = tagger.labels().len() as u32;
    let weights = tagger.tagging().weights();
    if args.weights {
        let mut text = String::from("attribute,label,weight\n");
        for attribute in 0..weights.n_attributes() as u32 {
            let name = tagger.lexicon().name(attribute).replace('"', "\"\"");
            for (label, weight) in weights.of_attribute(attribute).unwrap_or_default().iter().enumerate() {
                if *weight != 0.0 {
                    let _ = writeln!(text, "\"{name}\",{},{weight}", tagger.labels()[label]);
                }
            }
        }
        return ui::print(&text);
    }
    if args.json {
        let mut report = summary(&tagger);
        let tops = (0..n_labels).map(|label| {
            (tagger.labels()[label as usize].clone(), json!(tagger.top_attributes(label, LISTED)))
        });
        report["top-attributes"] = Value::Object(tops.collect());
        let row =
            |before: u32| (0..n_labels).map(|label| weights.of_pair(before, label)).collect::<Vec<f64>>();
        report["transitions"] = json!((0..n_labels).map(row).collect::<Vec<_>>());
        return ui::print(&format!("{report}\n"));
    }
    let mut text = describe(&tagger);
    text.push_str("\nstrongest attributes\n");
    let shown = n_labels.min(LISTED_LABELS as u32);
    let rows = (0..shown).map(|label| {
        let tops = tagger.top_attributes(label, 4);
        let tops: Vec<String> =
            tops.iter().map(|(name, weight)| format!("{name} {}", short_number(*weight))).collect();
        vec![tagger.labels()[label as usize].clone(), tops.join("  ")]
    });
    text.push_str(&ui::table(&rows.collect::<Vec<_>>()));
    text.push_str("\nlabels that follow each other: by row the label before\n");
    let shown = n_labels.min(12);
    let names = (0..shown).map(|label| tagger.labels()[label as usize].clone());
    let heads: Vec<String> = std::iter::once(String::new()).chain(names).collect();
    let allowed = tagger.tagging();
    let row = |before: u32| {
        let cell = |label: u32| match allowed.step(&[before], label) {
            f64::NEG_INFINITY => "never".to_owned(),
            weight => short_number(weight),
        };
        std::iter::once(tagger.labels()[before as usize].clone()).chain((0..shown).map(cell)).collect()
    };
    let rows: Vec<Vec<String>> = std::iter::once(heads).chain((0..shown).map(row)).collect();
    text.push_str(&ui::table(&rows));
    if shown < n_labels {
        let _ = writeln!(text, "and {} labels more; --json has all", n_labels - shown);
    }
    ui::print(&text)
}
