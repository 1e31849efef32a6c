//! Taggers of sentences: which labels follow which, as a picture, and a page that tells all there is to tell.

use crate::error::FigureError;
use crate::page::{Cell, Page};
use crate::settings::Settings;
use crate::subject::Subject;
use crate::words::{count, counted, percent, short_number};
use crate::{Figure, Needs};
use rosenblatt::sequence::spans::{Agreement, Count};
use rosenblatt::tagger::{Mistaken, Tagger, TaggerEstimate};
use rosenblatt::{Model, Task};
use rosenblatt_plot::{Canvas, Confusion, Picture, PlotError, Svg, Transitions};
use std::collections::BTreeMap;

/// How many labels are drawn: those that turn up most often.
const MOST_LABELS: usize = 40;
/// How many attributes of a label are listed.
const TOP_ATTRIBUTES: usize = 8;
/// How many attributes of a mistake are listed.
const REASONS: usize = 4;

pub(crate) const TRANSITIONS: Figure = Figure {
    name: "transitions",
    about: "which labels of a tagger follow which, and how strongly",
    needs: Needs::ModelOnly,
    tasks: &[Task::Tags],
    textbook: false,
    settings: &[],
    draw,
};

fn draw(subject: &Subject, settings: &Settings, canvas: Canvas) -> Result<Picture, FigureError> {
    let tagger = subject.model.as_ref().and_then(Model::tagger);
    let tagger = tagger.ok_or(FigureError::NoModel)?;
    tagger.weights()?;
    let title = settings.title(|| format!("Which label follows which, {}", subject.source));
    Ok(transitions(tagger, title, canvas)?)
}

fn transitions(tagger: Tagger<'_>, title: String, canvas: Canvas) -> Result<Picture, PlotError> {
    let labels = &tagger.labels()[..tagger.labels().len().min(MOST_LABELS)];
    let step = |before: usize, label: usize| {
        let weight = tagger.tagging().step(&[before as u32], label as u32);
        (weight > f64::NEG_INFINITY).then_some(weight)
    };
    let row = |before: usize| (0..labels.len()).map(|label| step(before, label)).collect();
    let weights: Vec<Vec<Option<f64>>> = (0..labels.len()).map(row).collect();
    let mut notes = vec![format!("{}.", learner(tagger))];
    if weights.iter().flatten().any(Option::is_none) {
        notes.push("A cross: the label may not follow.".to_owned());
    }
    if labels.len() < tagger.labels().len() {
        notes.push(format!("The first {} of {} labels.", labels.len(), tagger.labels().len()));
    }
    Transitions { title, notes, labels, weights: &weights }.draw(canvas)
}

fn learner(tagger: Tagger<'_>) -> String {
    let options = tagger.options();
    let readout = options.readout();
    let scheme =
        tagger.scheme().map_or(String::new(), |scheme| format!(", labels keep to {}", scheme.name()));
    format!("{}, {readout}, {} labels{scheme}", options.algorithm, tagger.labels().len())
}

/// A page about a tagger, judged on sentences whose labels are known.
#[derive(Debug)]
pub struct TaggerReport<'a> {
    /// What the tagger is called.
    pub name: String,
    /// The tagger.
    pub tagger: Tagger<'a>,
    /// What the sentences are called.
    pub source: String,
    /// How it fared on them.
    pub agreement: Agreement,
    /// The most confident mistakes.
    pub mistakes: Vec<Mistaken>,
    /// The commands that make the tagger and the page again.
    pub commands: Option<String>,
}

impl TaggerReport<'_> {
    /// The page: HTML that stands alone, without scripts.
    pub fn page(&self) -> String {
        let mut page = Page::new(&format!("{}: a report", self.name));
        self.summary(&mut page);
        self.quality(&mut page);
        self.labels(&mut page);
        self.wrong(&mut page);
        self.training(&mut page);
        if let Some(commands) = &self.commands {
            page.section("The same again");
            page.code(commands);
        }
        page.finish(&format!("Rosenblatt {}", env!("CARGO_PKG_VERSION")))
    }

    fn summary(&self, page: &mut Page) {
        let agreement = &self.agreement;
        page.lead(&format!(
            "{} of {} in {} have the right label; {} of {} are right as a whole.",
            percent(agreement.accuracy()),
            counted(agreement.tokens, "token", "tokens"),
            self.source,
            percent(agreement.sentence_accuracy()),
            counted(agreement.sentences, "sentence", "sentences"),
        ));
        let mut tiles = vec![
            (percent(agreement.accuracy()), "tokens right"),
            (percent(agreement.sentence_accuracy()), "sentences right"),
        ];
        if agreement.has_spans() {
            tiles.push((format!("{:.2}", 100.0 * agreement.all_spans().f1()), "F1 of spans"));
        }
        if agreement.unknown > 0 {
            tiles.push((percent(agreement.unknown_accuracy()), "of unknown words right"));
        }
        tiles.push((count(self.tagger.labels().len() as u64), "labels"));
        tiles.push((count(self.tagger.lexicon().len() as u64), "attributes with weights"));
        page.tiles(&tiles);
        let share_known = 1.0 - agreement.unknown as f64 / agreement.tokens.max(1) as f64;
        if agreement.unknown == 0 && share_known == 1.0 {
            page.warning(
                "It knows every word of these sentences. If they are those it learned from, expect less of new ones.",
            );
        }
    }

    fn quality(&self, page: &mut Page) {
        let agreement = &self.agreement;
        page.section("How good it is");
        if agreement.has_spans() {
            listed(page, "Spans, as conlleval counts them.", list_spans(agreement));
        }
        listed(page, "Tokens, label by label.", list_labels(agreement));
        self.confusion(page);
    }

    /// Which labels were taken for which, of those that are met most often.
    fn confusion(&self, page: &mut Page) {
        let labels = &self.agreement.labels;
        let mut names: Vec<String> = labels.keys().cloned().collect();
        names.sort_by_key(|name| (std::cmp::Reverse(labels[name].gold), name.clone()));
        names.truncate(MOST_LABELS);
        names.sort();
        let place: BTreeMap<&str, usize> = names.iter().map(String::as_str).zip(0..).collect();
        let mut counts = vec![vec![0; names.len()]; names.len()];
        for (number, name) in names.iter().enumerate() {
            counts[number][number] = labels[name].right;
        }
        for ((truth, found), times) in &self.agreement.confused {
            if let (Some(&truth), Some(&found)) = (place.get(truth.as_str()), place.get(found.as_str())) {
                counts[truth][found] += times;
            }
        }
        let mut most: Vec<_> = self.agreement.confused.iter().collect();
        most.sort_by_key(|(pair, times)| (std::cmp::Reverse(**times), *pair));
        let told: Vec<String> = most
            .iter()
            .take(3)
            .map(|((truth, found), times)| format!("{truth} taken for {found} ({times})"))
            .collect();
        let mut notes = Vec::new();
        if !told.is_empty() {
            notes.push(format!("Most often: {}.", told.join(", ")));
        }
        let title = format!("Which label is taken for which, {}", self.source);
        let drawn = Confusion { title, notes, classes: &names, counts: &counts, written: count }
            .draw(Canvas::default());
        put(page, drawn, "confusion", "What tokens of each label were taken for.");
    }

    fn labels(&self, page: &mut Page) {
        let tagger = self.tagger;
        page.section("What it decides by");
        if tagger.weights().is_err() {
            return page.paragraph("Many hypotheses vote: there are no weights of its own to show.");
        }
        let names = tagger.labels().iter().enumerate().take(MOST_LABELS);
        let rows: Vec<Vec<Cell>> = names
            .map(|(label, name)| {
                let tops = list_attributes(tagger, label as u32, TOP_ATTRIBUTES);
                vec![Cell::Head(name.clone()), Cell::Text(tops.join(", "))]
            })
            .collect();
        page.table(
            "The attributes with the largest weights for each label.",
            &["label", "attributes"],
            &rows,
        );
        let title = "Which label follows which".to_owned();
        let caption = "How gladly a label follows another: the label before downwards, the label across.";
        put(page, transitions(tagger, title, Canvas::default()), "transitions", caption);
    }

    fn wrong(&self, page: &mut Page) {
        page.section("Mistakes worth a look");
        if self.mistakes.is_empty() {
            return page.paragraph("There are none.");
        }
        page.paragraph(
            "The most confident first, one of a sentence. Where the tagger is sure and wrong, the label may be, too.",
        );
        for mistake in &self.mistakes {
            let Mistaken { words, truth, found, token, lead, reason, .. } = mistake;
            let heading = format!(
                "{}: {} taken for {}, ahead by {}",
                words[*token],
                truth[*token],
                found[*token],
                short_number(*lead)
            );
            let marked: Vec<String> = words
                .iter()
                .enumerate()
                .map(|(place, word)| if place == *token { format!("[{word}]") } else { word.clone() })
                .collect();
            let attributes: Vec<String> = reason
                .attributes
                .iter()
                .take(REASONS)
                .map(|(name, weight)| format!("{name} {}", short_number(*weight)))
                .collect();
            let remarks = [
                ("found", found.join(" ")),
                ("true", truth.join(" ")),
                ("because of", attributes.join(", ")),
                ("labels before", short_number(reason.transition)),
            ];
            page.card(&heading, None, Some(&marked.join(" ")), &remarks);
        }
    }

    fn training(&self, page: &mut Page) {
        let (tagger, options) = (self.tagger, self.tagger.options());
        page.section("How it was trained");
        let summary = tagger.training_summary();
        let features = if options.template.is_some() {
            "templates of its own".to_owned()
        } else {
            options.features.clone()
        };
        let mut facts = vec![
            ("algorithm", options.algorithm.clone()),
            ("weights used", options.readout().to_owned()),
            ("attributes", features),
            ("labels before a label that it depends on", options.history.to_string()),
            ("sentences", count(summary.rows as u64)),
            ("tokens", count(tagger.n_tokens())),
            ("epochs", count(summary.totals.epochs)),
            ("mistakes while learning", count(summary.totals.mistakes)),
            ("rules of labels", tagger.scheme().map_or("none", |scheme| scheme.name()).to_owned()),
            ("seed", options.seed.to_string()),
        ];
        if let Some(estimate) = tagger.estimate() {
            facts.push(("held-out sentences", describe_estimate(estimate)));
        }
        if let Some(progressive) = tagger.progressive() {
            facts.push(("before they were learned from", describe_estimate(progressive)));
        }
        if let Some(calibration) = tagger.calibration() {
            let tokens = counted(calibration.rows(), "held-out token", "held-out tokens");
            facts.push(("probabilities", format!("{}, fitted on {tokens}", calibration.method())));
        }
        page.facts("Its description.", &facts);
    }
}

/// How well each type of spans was found, below the names of the columns and a row of all of them.
pub fn list_spans(agreement: &Agreement) -> Vec<Vec<String>> {
    let all = ("all".to_owned(), agreement.all_spans());
    counts("spans", std::iter::once((&all.0, &all.1)).chain(&agreement.spans))
}

/// How well each label was found, below the names of the columns.
pub fn list_labels(agreement: &Agreement) -> Vec<Vec<String>> {
    counts("label", &agreement.labels)
}

fn counts<'a>(what: &str, of: impl IntoIterator<Item = (&'a String, &'a Count)>) -> Vec<Vec<String>> {
    let share = |share: f64| format!("{:.2} %", 100.0 * share);
    let row = |(name, of): (&String, &Count)| {
        let f1 = format!("{:.2}", 100.0 * of.f1());
        vec![name.clone(), share(of.precision()), share(of.recall()), f1, count(of.gold), count(of.found)]
    };
    let head = [what, "precision", "recall", "F1", "there", "found"].map(str::to_owned).to_vec();
    std::iter::once(head).chain(of.into_iter().map(row)).collect()
}

/// The attributes with the largest weights for a label, each with its weight; none where hypotheses vote.
pub fn list_attributes(tagger: Tagger<'_>, label: u32, n: usize) -> Vec<String> {
    let tops = tagger.top_attributes(label, n).unwrap_or_default();
    tops.iter().map(|(name, weight)| format!("{name} {}", short_number(*weight))).collect()
}

/// A table of numbers whose first row names the columns.
fn listed(page: &mut Page, caption: &str, rows: Vec<Vec<String>>) {
    let mut rows = rows.into_iter();
    let head = rows.next().unwrap_or_default();
    let cell = |(column, text)| if column == 0 { Cell::Head(text) } else { Cell::Number(text) };
    let cells = |row: Vec<String>| row.into_iter().enumerate().map(cell).collect();
    page.table(
        caption,
        &head.iter().map(String::as_str).collect::<Vec<_>>(),
        &rows.map(cells).collect::<Vec<_>>(),
    );
}

/// What sentences that were not learned from say, in a line.
pub fn describe_estimate(estimate: &TaggerEstimate) -> String {
    let spans = if estimate.spans > 0 {
        format!(", F1 of spans {:.2}", 100.0 * estimate.count().f1())
    } else {
        String::new()
    };
    format!(
        "{} of {} right, {} of {}{spans}",
        percent(estimate.accuracy()),
        counted(estimate.tokens, "token", "tokens"),
        percent(estimate.sentence_accuracy()),
        counted(estimate.sentences, "sentence", "sentences"),
    )
}

fn put(page: &mut Page, drawn: Result<Picture, PlotError>, ids: &str, caption: &str) {
    if let Ok(picture) = drawn {
        page.picture(&picture.svg(&Svg { ids, inline: true, ..Svg::default() }), caption);
    }
}
