//! What `inspect` and `report` make of taggers.

use super::{LISTED_LABELS, describe, format_of};
use crate::again;
use crate::commands::report::{self, Written};
use crate::failure::Failure;
use crate::report::short_number;
use crate::ui;
use rosenblatt::tagger::{Tagger, agreement_report, estimate_report};
use rosenblatt_data::Source;
use rosenblatt_figures::{TaggerReport, list_attributes};
use serde_json::json;
use std::fmt::Write as _;

/// How many mistakes a page shows.
const SHOWN: usize = 12;

pub(in crate::commands) fn inspected(tagger: Tagger<'_>) -> String {
    let n_labels = tagger.labels().len() as u32;
    let mut text = describe(tagger);
    if let Some(votes) = tagger.tagging().votes() {
        let voters = ui::counted(votes.len() as u64, "hypothesis votes", "hypotheses vote");
        let _ = writeln!(text, "{voters}: there are no weights of its own to list");
        return text;
    }
    text.push_str("\nstrongest attributes\n");
    let shown = n_labels.min(LISTED_LABELS as u32);
    let row = |label: u32| {
        vec![tagger.labels()[label as usize].clone(), list_attributes(tagger, label, 4).join("  ")]
    };
    text.push_str(&ui::table(&(0..shown).map(row).collect::<Vec<_>>()));
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
    text
}

/// One page about a model of tags.
pub(in crate::commands) fn report(
    args: &report::Args,
    name: String,
    tagger: Tagger<'_>,
    source: &Source,
) -> Result<Written, Failure> {
    args.spoken.only("files model output json format")?;
    let format = format_of(args.data.format())?;
    let (agreement, mistakes) = tagger.review(source, format, SHOWN)?;
    let commands = Some(again::typed());
    let page = TaggerReport { name, tagger, source: source.name(), agreement, mistakes, commands };
    let agreement = &page.agreement;
    Ok(Written {
        page: page.page(),
        summary: json!({
            "evaluation": agreement_report(agreement),
            "estimate": tagger.estimate().map(estimate_report),
        }),
        text: format!(
            "accuracy: {}, whole sentences {}\n",
            ui::percent(agreement.accuracy()),
            ui::percent(agreement.sentence_accuracy()),
        ),
    })
}
