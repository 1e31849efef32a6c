//! What `predict` and `evaluate` say of sentences.

use super::{LISTED_LABELS, format_of};
use crate::commands::{evaluate, predict};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::report::short_number;
use crate::ui::{self, count, percent};
use rosenblatt::data::files::is_stdout;
use rosenblatt::data::{SentenceFormat, Sentences};
use rosenblatt::sequence::spans::Agreement;
use rosenblatt::tagger::{Room, Tagger, Telling, agreement_report};
use rosenblatt_data::Source;
use rosenblatt_data::write::NewFile;
use rosenblatt_figures::{list_labels, list_spans};
use std::fmt::Write as _;
use std::io::IsTerminal as _;

pub(in crate::commands) fn predict(args: &predict::Args, tagger: Tagger<'_>) -> Result<(), Failure> {
    args.spoken.only("files model output explain format json probabilities k_best threads")?;
    if args.probabilities && tagger.weights().is_err() {
        return Err(Failure::Work(
            "`--probabilities` are made of leads, but the hypotheses of this tagger vote, and a vote has none\n\
             help: train it again with `--readout averaged` and `--holdout` or `--folds`"
                .to_owned(),
        ));
    }
    if args.probabilities && tagger.calibration().is_none() {
        return Err(Failure::Work(
            "`--probabilities` needs a calibrated tagger, but this one has no calibration\n\
             help: train it again with `--holdout` or `--folds`, which leave sentences to fit it on; some of their labels \
             must be found wrongly"
                .to_owned(),
        ));
    }
    let format = format_of(args.data.format())?;
    let source = Source::find_all(&args.files)?;
    let mut file = args.output.as_deref().filter(|path| !is_stdout(path)).map(NewFile::create).transpose()?;
    // Lines that scroll by are progress enough.
    let progress = Progress::new(file.is_some() || !std::io::stdout().is_terminal());
    let mut write = |text: &str| -> Result<(), Failure> {
        match &mut file {
            Some(file) => Ok(file.write(text.as_bytes())?),
            None => ui::print(text),
        }
    };
    progress.stage(&format!("predicting {}", source.name()));
    let mut stream = tagger.open(&source, format)?;
    let is_plain = !args.json && !args.probabilities && args.explain.is_none() && args.k_best.is_none();
    if is_plain {
        tagger.write_all(&mut stream, args.data.to_learn()?.threads, write)?;
    } else {
        let (mut block, mut room) = (Sentences::default(), Room::default());
        while stream.next(&mut block)? {
            for number in 0..block.len() {
                write(&sentence(args, tagger, (&block, number), stream.format(), &mut room)?)?;
            }
        }
    }
    match file {
        Some(file) => Ok(file.finish()?),
        None => Ok(()),
    }
}

/// All that was asked for of one sentence.
fn sentence(
    args: &predict::Args,
    tagger: Tagger<'_>,
    (block, number): (&Sentences, usize),
    format: &dyn SentenceFormat,
    room: &mut Room,
) -> Result<String, Failure> {
    if args.json {
        let telling = Telling {
            scores: true,
            probabilities: args.probabilities,
            k_best: args.k_best,
            explain: args.explain,
        };
        return Ok(format!("{}\n", tagger.object(block, number, format, telling, room)?));
    }
    let n_next = args.k_best.unwrap_or(1).saturating_sub(1);
    let tagged = tagger.tell(block, number, format, n_next, room)?;
    let reasons = match args.explain {
        Some(n) => Some((n, tagger.explain(block, number, format, room)?)),
        None => None,
    };
    let mut text = String::new();
    if args.k_best.is_some() {
        let all = std::iter::once((&tagged.labels, tagged.score));
        let all = all.chain(tagged.next.iter().map(|(labels, score)| (labels, *score)));
        for (rank, (labels, score)) in all.enumerate() {
            let _ = writeln!(text, "# {} {}", rank + 1, short_number(score));
            tagger.write_labels(block, number, format, labels, &mut text);
        }
        return Ok(text);
    }
    for token in 0..tagged.words.len() {
        let _ = write!(text, "{}\t{}", tagged.words[token], tagged.labels[token]);
        if let Some(probabilities) = tagged.probabilities.as_ref().filter(|_| args.probabilities) {
            let _ = write!(text, "\t{:.4}", probabilities[token]);
        }
        if let Some((n, reasons)) = &reasons {
            let reason = &reasons[token];
            let attributes = reason.attributes.iter().take(*n);
            let attributes: Vec<String> =
                attributes.map(|(name, weight)| format!("{name} {}", signed(*weight))).collect();
            let (lead, before) = (short_number(reason.lead), signed(reason.transition));
            let _ = write!(text, "\tlead {lead}\tlabels before {before}\t{}", attributes.join("\t"));
        }
        text.push('\n');
    }
    text.push('\n');
    Ok(text)
}

fn signed(number: f64) -> String {
    if number > 0.0 { format!("+{}", short_number(number)) } else { short_number(number) }
}

pub(in crate::commands) fn evaluate(args: &evaluate::Args, tagger: Tagger<'_>) -> Result<(), Failure> {
    args.spoken.only("files model json format")?;
    let format = format_of(args.data.format())?;
    let source = Source::find_all(&args.files)?;
    let progress = Progress::new(true);
    progress.stage(&format!("predicting {}", source.name()));
    let agreement = tagger.evaluate(&source, format)?;
    drop(progress);
    if args.json {
        return ui::print(&format!("{}\n", agreement_report(&agreement)));
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
    let rows = if agreement.has_spans() {
        let _ = writeln!(text, "sentences with labels that may not follow each other: {}", agreement.invalid);
        list_spans(&agreement)
    } else {
        let mut rows = list_labels(&agreement);
        rows.truncate(1 + LISTED_LABELS);
        rows
    };
    ui::print(&format!("{text}\n{}", ui::table(&rows)))
}
