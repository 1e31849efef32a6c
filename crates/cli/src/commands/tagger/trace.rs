//! What `trace` shows of sentences: the lattice with its scores, the best labels and the true ones, and what moved.

use super::format_of;
use crate::commands::trace;
use crate::failure::Failure;
use crate::ui;
use rosenblatt::tagger::{self, TaggerOptions, TaggerTrace, TracedSentence};
use rosenblatt::trace::number;
use rosenblatt_data::write::csv_cell;
use rosenblatt_data::{ReadOptions, Source};
use serde_json::json;
use std::fmt::Write as _;

/// How many weights that moved are listed.
const LISTED: usize = 40;

pub(in crate::commands) fn trace(args: &trace::Args) -> Result<(), Failure> {
    args.spoken.only(
        "files rounds form json format label algorithm param epochs features history label-cost constraints min-count",
    )?;
    let usage = |error| Failure::Usage(Failure::words(&error));
    let options = TaggerOptions::default();
    let options = options.with_set(&args.tagger.asked()?, &args.spec.asked()?, &args.data.to_learn()?);
    let options = options.map_err(usage)?;
    options.check().map_err(usage)?;
    let format = format_of(args.data.format())?;
    let source = Source::find_all(&args.files)?.rewindable(ReadOptions::default().limits.held_bytes)?;
    // A single sentence has room for details.
    let (first, last) = if args.rounds == trace::USUAL { (1, 3) } else { args.rounds };
    let traced = tagger::trace(&options, &source, format, first..=last)?;
    let form = trace::form(args);
    match form {
        "jsonl" => ui::print(&lines(&traced)),
        "csv" => ui::print(&cells(&traced)),
        _ => ui::print(&text(&traced, form)),
    }
}

/// The score of a way; nothing where there is none.
fn score(value: f64) -> String {
    if value == f64::NEG_INFINITY { "never".to_owned() } else { number(value) }
}

fn text(traced: &TaggerTrace, form: &str) -> String {
    let comment = if form == "latex" { "% " } else { "" };
    let print = |head: &[&str], rows: &[Vec<String>]| trace::in_form(form, head, rows);
    let mut text = format!(
        "{comment}sentences in their order; a cell is the best score of a way to the label, and in brackets what the \
         token itself says\n"
    );
    for round in &traced.rounds {
        let TracedSentence { words, truth, found, says, reached, moved, .. } = round;
        let verdict = if round.is_mistake { "mistake" } else { "right" };
        let _ = writeln!(
            text,
            "\n{comment}round {}, epoch {}: sentence {}; true labels {}, best labels {}: {verdict}\n",
            round.round,
            round.epoch,
            round.sentence,
            score(round.true_score),
            score(round.found_score),
        );
        let head: Vec<&str> =
            ["token", "true", "best"].into_iter().chain(traced.labels.iter().map(String::as_str)).collect();
        let row = |token: usize| {
            let cell = |label: usize| match reached[token][label] {
                f64::NEG_INFINITY => "never".to_owned(),
                way => format!("{} ({})", number(way), number(says[token][label])),
            };
            let mut row = vec![words[token].clone(), truth[token].clone(), found[token].clone()];
            row.extend((0..traced.labels.len()).map(cell));
            row
        };
        text.push_str(&print(&head, &(0..words.len()).map(row).collect::<Vec<_>>()));
        if moved.is_empty() {
            continue;
        }
        let row = |weight: &tagger::MovedWeight| {
            let from =
                if weight.is_transition { format!("after {}", weight.from) } else { weight.from.clone() };
            let step = weight.after - weight.before;
            let sign = if step > 0.0 { "+" } else { "" };
            vec![
                from,
                weight.label.clone(),
                number(weight.before),
                format!("{sign}{}", number(step)),
                number(weight.after),
            ]
        };
        let rows: Vec<Vec<String>> = moved.iter().take(LISTED).map(row).collect();
        text.push('\n');
        text.push_str(&print(&["weight of", "for", "was", "moves", "is"], &rows));
        if moved.len() > LISTED {
            let _ = writeln!(
                text,
                "{comment}… {} more; `--json` has all",
                ui::counted((moved.len() - LISTED) as u64, "weight", "weights")
            );
        }
    }
    let _ = writeln!(text, "\n{comment}{}", ending(traced));
    text
}

fn ending(traced: &TaggerTrace) -> String {
    let rounds = ui::counted(traced.n_rounds, "round", "rounds");
    let mistakes = ui::counted(traced.mistakes, "mistake", "mistakes");
    if traced.is_clean {
        format!(
            "{mistakes} in {rounds}; the last epoch was without one, so these weights label all sentences rightly"
        )
    } else {
        format!("{mistakes} in {rounds}; `--epochs` allows more")
    }
}

fn lines(traced: &TaggerTrace) -> String {
    let mut text = String::new();
    for round in &traced.rounds {
        let mut line = json!(round);
        line["labels"] = json!(traced.labels);
        let _ = writeln!(text, "{line}");
    }
    let last = json!({
        "rounds": traced.n_rounds, "mistakes": traced.mistakes, "clean": traced.is_clean, "ending": ending(traced),
    });
    let _ = writeln!(text, "{last}");
    text
}

fn cells(traced: &TaggerTrace) -> String {
    let mut text = String::from("round,sentence,token,word,true,best,label,says,reached\n");
    for round in &traced.rounds {
        for (token, word) in round.words.iter().enumerate() {
            for (label, name) in traced.labels.iter().enumerate() {
                let way = round.reached[token][label];
                let way = if way == f64::NEG_INFINITY { String::new() } else { way.to_string() };
                let _ = writeln!(
                    text,
                    "{},{},{},{},{},{},{},{},{way}",
                    round.round,
                    round.sentence,
                    token + 1,
                    csv_cell(word),
                    csv_cell(&round.truth[token]),
                    csv_cell(&round.found[token]),
                    csv_cell(name),
                    round.says[token][label],
                );
            }
        }
    }
    text
}
