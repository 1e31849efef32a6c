//! What `compare` does with sentences: rules, attributes and histories side by side, on the same folds.

use super::format_of;
use crate::args::features;
use crate::commands::compare;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::ui::{self, count, percent};
use rosenblatt::compare::Candidate;
use rosenblatt::sequence::spans::Agreement;
use rosenblatt::tagger::{TaggerComparison, TaggerOptions, TaggerTrial};
use rosenblatt::{defaults, tagger};
use rosenblatt_data::{ReadOptions, Source};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::time::Duration;

/// The candidates if you name none.
const USUAL: &str = "perceptron:last,perceptron,pa1,arow";

pub(in crate::commands) fn compare(args: &compare::Args) -> Result<(), Failure> {
    args.spoken.only("files algorithms folds epochs seed json format label features history")?;
    let words = if args.spoken.has("algorithms") { args.algorithms.as_str() } else { USUAL };
    let usage = |error| Failure::Usage(Failure::words(&error));
    if args.folds < 2 {
        return Err(Failure::Usage(format!("`--folds` should be at least 2, but is {}", args.folds)));
    }
    let sets: Vec<&str> = args.features.as_deref().unwrap_or("auto").split(',').collect();
    let histories = if args.history.is_empty() { vec![1] } else { args.history.clone() };
    let mut candidates = Vec::new();
    for set in &sets {
        let (features, template) = features(set)?;
        for candidate in Candidate::list(words).map_err(usage)? {
            if candidate.kernel.is_some() {
                return Err(Failure::Usage("taggers have no kernel".to_owned()));
            }
            for history in &histories {
                let options = TaggerOptions {
                    algorithm: candidate.algorithm.clone(),
                    params: candidate.params.clone(),
                    epochs: if args.spoken.has("epochs") { args.epochs } else { defaults::TAGGER_EPOCHS },
                    seed: args.seed,
                    features: features.clone(),
                    template: template.clone(),
                    history: *history,
                    label: args.data.0.word("label").map(str::to_owned),
                    ..TaggerOptions::default()
                };
                let options = match candidate.readout {
                    Some(readout) => options.read_out(readout).map_err(usage)?,
                    None => options,
                };
                options.check().map_err(usage)?;
                candidates.push(((*set).to_owned(), options));
            }
        }
    }
    let format = format_of(args.data.format())?;
    let source = Source::find_all(&args.files)?.rewindable(ReadOptions::default().limits.held_bytes)?;
    let (sets, options): (Vec<String>, Vec<TaggerOptions>) = candidates.into_iter().unzip();
    let names = options.iter().map(TaggerOptions::rule).collect();
    let mut face = compare::Face::new(Progress::new(true), names);
    let compared = tagger::compare(&options, &source, format, args.folds, args.seed, &mut face)?;
    let seconds = |trial: &TaggerTrial| face.seconds(trial.candidate, trial.folds.len());
    if args.json {
        return ui::print(&format!("{}\n", as_json(&source.name(), &compared, &sets, seconds)));
    }
    ui::print(&as_text(&source.name(), &compared, &sets, seconds))
}

/// What the attributes are called: the file of templates, or the set.
fn attributes<'a>(set: &'a str, options: &'a TaggerOptions) -> &'a str {
    if options.template.is_some() { set } else { &options.features }
}

fn as_text(
    source: &str,
    compared: &TaggerComparison,
    sets: &[String],
    seconds: impl Fn(&TaggerTrial) -> f64,
) -> String {
    let TaggerComparison { trials, failed, sentences, tokens, labels, n_folds, .. } = compared;
    let mut text = format!(
        "{source}: {}, {}, {}; {n_folds} folds of sentences that were not learned from\n\n",
        ui::counted(*sentences as u64, "sentence", "sentences"),
        ui::counted(*tokens as u64, "token", "tokens"),
        ui::counted(labels.len() as u64, "label", "labels"),
    );
    let has_spans = trials.first().is_some_and(|trial| trial.whole().has_spans());
    let mut head = vec!["algorithm", "attributes", "history", "tokens right", "sentences right"];
    head.extend(has_spans.then_some("F1 of spans"));
    head.extend(["spread", "mistakes", "time"]);
    let mut table = vec![head.into_iter().map(str::to_owned).collect::<Vec<String>>()];
    for trial in trials {
        let whole = trial.whole();
        let mut row = vec![
            trial.options.rule(),
            attributes(&sets[trial.candidate], &trial.options).to_owned(),
            trial.options.history.to_string(),
            percent(whole.accuracy()),
            percent(whole.sentence_accuracy()),
        ];
        row.extend(has_spans.then(|| format!("{:.2}", 100.0 * whole.all_spans().f1())));
        let mistakes = trial.mistakes.iter().sum::<u64>() / trial.mistakes.len().max(1) as u64;
        row.push(format!("+- {:.2}", 100.0 * trial.deviation()));
        row.push(count(mistakes));
        row.push(ui::duration(Duration::from_secs_f64(seconds(trial))));
        table.push(row);
    }
    text.push_str(&ui::table(&table));
    let ranked = if has_spans { "F1 of spans, as conlleval counts them" } else { "right tokens" };
    let _ = writeln!(
        text,
        "\nbest first, by {ranked}; spread is from fold to fold, in points; mistakes while learning and time are means \
         per fold"
    );
    for (options, error) in failed {
        let _ = writeln!(text, "left out: {}: {error}", options.rule());
    }
    text
}

fn as_json(
    source: &str,
    compared: &TaggerComparison,
    sets: &[String],
    seconds: impl Fn(&TaggerTrial) -> f64,
) -> Value {
    let one = |agreement: &Agreement| {
        json!({
            "accuracy": agreement.accuracy(),
            "sentence-accuracy": agreement.sentence_accuracy(),
            "f1": agreement.has_spans().then(|| agreement.all_spans().f1()),
        })
    };
    let trial = |trial: &TaggerTrial| {
        let mut entry = one(&trial.whole());
        entry["algorithm"] = json!(trial.options.rule());
        entry["features"] = json!(attributes(&sets[trial.candidate], &trial.options));
        entry["history"] = json!(trial.options.history);
        entry["attributes"] = json!(trial.attributes);
        entry["spread"] = json!(trial.deviation());
        entry["mistakes"] = json!(trial.mistakes);
        entry["folds"] = trial.folds.iter().map(one).collect();
        entry["seconds"] = json!(seconds(trial));
        entry
    };
    let failed = |(options, error): &(TaggerOptions, rosenblatt::Error)| json!({ "algorithm": options.rule(), "reason": error.to_string() });
    json!({
        "data": {
            "source": source, "sentences": compared.sentences, "tokens": compared.tokens, "labels": compared.labels,
        },
        "folds": compared.n_folds,
        "taggers": compared.trials.iter().map(trial).collect::<Vec<_>>(),
        "left-out": compared.failed.iter().map(failed).collect::<Vec<_>>(),
    })
}
