//! What `inspect`, `report` and `mix` make of taggers.

use super::{LISTED, LISTED_LABELS, describe, format_of, only};
use crate::again;
use crate::commands::{inspect, mix, report};
use crate::failure::Failure;
use crate::report::short_number;
use crate::ui;
use rosenblatt::files::{Apart, check_writable, write_whole};
use rosenblatt::mix::mix_taggers;
use rosenblatt::tagger::{agreement_report, estimate_report};
use rosenblatt::{Error, Tagger};
use rosenblatt_data::Source;
use rosenblatt_figures::TaggerReport;
use serde_json::json;
use std::fmt::Write as _;

/// So many mistakes are shown on a page.
const SHOWN: usize = 12;

pub(in crate::commands) fn inspect(args: &inspect::Args) -> Result<(), Failure> {
    let tagger = Tagger::load(&args.model)?;
    let n_labels = tagger.labels().len() as u32;
    if args.weights {
        let weights = tagger.weights()?;
        let mut text = String::from("attribute,label,weight\n");
        for attribute in 0..weights.n_attributes() as u32 {
            let quoted = |name: String| name.replace('"', "\"\"");
            let name = quoted(tagger.lexicon().name(attribute));
            for (label, weight) in weights.of_attribute(attribute).unwrap_or_default().iter().enumerate() {
                if *weight != 0.0 {
                    let _ = writeln!(text, "\"{name}\",{},{weight}", tagger.labels()[label]);
                }
            }
            for (before, label, weight) in weights.links_of(attribute) {
                let name = quoted(tagger.link_name(attribute, before));
                let _ = writeln!(text, "\"{name}\",{},{weight}", tagger.labels()[label as usize]);
            }
        }
        return ui::print(&text);
    }
    if args.json {
        return ui::print(&format!("{}\n", tagger.insight(LISTED)));
    }
    let mut text = describe(&tagger);
    if let Some(votes) = tagger.tagging().votes() {
        let voters = ui::counted(votes.len() as u64, "hypothesis votes", "hypotheses vote");
        let _ = writeln!(text, "{voters}: there are no weights of its own to list");
        return ui::print(&text);
    }
    text.push_str("\nstrongest attributes\n");
    let shown = n_labels.min(LISTED_LABELS as u32);
    let row = |label: u32| {
        let tops = tagger.top_attributes(label, 4)?;
        let tops: Vec<String> =
            tops.iter().map(|(name, weight)| format!("{name} {}", short_number(*weight))).collect();
        Ok(vec![tagger.labels()[label as usize].clone(), tops.join("  ")])
    };
    text.push_str(&ui::table(&(0..shown).map(row).collect::<Result<Vec<_>, Error>>()?));
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

/// One page about a tagger.
pub(in crate::commands) fn report(args: &report::Args) -> Result<(), Failure> {
    only(&["files", "model", "output", "json", "format"])?;
    let tagger = Tagger::load(&args.model)?;
    let output = args.output.clone().unwrap_or_else(|| args.model.with_extension("html"));
    let source = Source::find_all(&args.files)?;
    let mut files = Apart::default();
    args.data.note(&mut files, &source);
    files.reads("the model", &args.model);
    files.writes("the report", &output);
    files.check()?;
    check_writable(&output)?;
    let format = format_of(args.data.format.as_deref())?;
    let (agreement, mistakes) = tagger.review(&source, format, SHOWN)?;
    let name = args.model.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let words: Vec<String> = std::env::args().skip(1).collect();
    let commands = Some(again::words("rosenblatt", &words));
    let page = TaggerReport { name, tagger: &tagger, source: source.name(), agreement, mistakes, commands };
    let text = page.page();
    write_whole(&output, text.as_bytes())?;
    if args.json {
        let told = json!({
            "report": output.display().to_string(),
            "bytes": text.len(),
            "evaluation": agreement_report(&page.agreement),
            "estimate": tagger.estimate().map(estimate_report),
        });
        return ui::print(&format!("{told}\n"));
    }
    if ui::is_quiet() {
        return Ok(());
    }
    ui::print(&format!(
        "accuracy: {}, whole sentences {}\nreport: {} ({})\n",
        ui::percent(page.agreement.accuracy()),
        ui::percent(page.agreement.sentence_accuracy()),
        output.display(),
        ui::bytes(text.len() as u64)
    ))
}

/// The mean of several taggers.
pub(in crate::commands) fn mix(args: &mix::Args) -> Result<(), Failure> {
    let taggers = args.models.iter().map(Tagger::load).collect::<Result<Vec<_>, _>>()?;
    let mean = mix_taggers(&taggers, args.by)?;
    if taggers.len() > 1 && taggers.iter().any(|tagger| tagger.calibration().is_some()) {
        ui::note("probabilities are left out: no sentence that they were fitted on knows the mean");
    }
    mean.save(&args.output)?;
    let learned = mean.training_summary();
    args.tell(["tagger", "taggers"], ["sentence", "sentences"], learned.rows as u64, learned.totals.updates)
}
