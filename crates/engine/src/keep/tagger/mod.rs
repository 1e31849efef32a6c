//! Models whose task is tags: they label the tokens of sentences together.
//!
//! What a kept one holds, and what it does: reading sentences, tagging, evaluation, explanation. What comes of a training
//! is a [`Model`] like any other; a [`Tagger`] is such a model at work, as a [`Predictor`](crate::Predictor) is one for
//! rows. How labels are found is the sequence crate's; how they are learned is another folder's.

mod blocks;
mod estimate;
pub(crate) mod options;
pub(crate) mod reading;
mod report;

pub use estimate::TaggerEstimate;
pub use options::{TaggerOptions, Wanted};
pub use reading::are_sentences;
pub use report::{Telling, agreement_report, estimate_report};

pub(crate) use options::check_labels;
pub(crate) use reading::Columns;

use self::blocks::each_block;
use crate::calibration::Calibration;
use crate::error::Error;
use crate::keep::model::{Model, Provenance, TrainingSummary};
use crate::task::Task;
use rosenblatt_core::memory::{Kept, Other};
use rosenblatt_data::{DataError, Labels, SentenceFormat, SentenceStream, Sentences, Source, sentences};
use rosenblatt_sequence::spans::Agreement;
use rosenblatt_sequence::{Constraints, Corpus, Lattice, Lexicon, Scheme, Scratch, Tagged, Tagging, Weights};
use std::sync::Arc;

/// A model at work on sentences. It borrows the model, as a predictor does.
#[derive(Debug, Clone, Copy)]
pub struct Tagger<'m> {
    model: &'m Model,
    pub(crate) kept: &'m KeptTagger,
}

/// What a model of tags predicts with.
#[derive(Debug, Clone)]
pub(crate) struct KeptTagger {
    pub(crate) options: TaggerOptions,
    /// The templates, as text; none where a file has attributes.
    pub(crate) template: Option<String>,
    pub(crate) columns: Columns,
    /// The scheme whose rules labels keep to.
    pub(crate) scheme: Option<Scheme>,
    pub(crate) lexicon: Lexicon,
    pub(crate) tagging: Tagging,
    pub(crate) tokens: u64,
    /// What was found in sentences before they were learned from.
    pub(crate) progressive: Option<TaggerEstimate>,
    /// What was found in sentences that were held out.
    pub(crate) estimate: Option<TaggerEstimate>,
}

impl PartialEq for KeptTagger {
    fn eq(&self, other: &Self) -> bool {
        let parts =
            |kept: &Self| (kept.template.clone(), kept.scheme, kept.tokens, kept.lexicon.store(|_| true));
        self.options == other.options
            && self.columns == other.columns
            && self.tagging.weights() == other.tagging.weights()
            && self.tagging.votes() == other.tagging.votes()
            && parts(self) == parts(other)
    }
}

/// A sentence is no row, so it knows none.
impl Other for KeptTagger {}

impl Model {
    /// A model of tags. `calibration` leads from the lead of a label to the probability that it is right.
    pub(crate) fn of_tags(
        kept: KeptTagger,
        labels: Vec<String>,
        training_summary: TrainingSummary,
        calibration: Option<Calibration>,
    ) -> Self {
        Self {
            spec: kept.options.spec(),
            labels: Labels::in_order(labels),
            feature_names: None,
            schema: None,
            map: None,
            kept: Kept::Other(Arc::new(kept)),
            training_summary,
            calibration,
            provenance: Provenance::default(),
        }
    }

    /// The model at work on sentences, if its task is tags.
    pub fn tagger(&self) -> Option<Tagger<'_>> {
        self.kept.other().map(|kept| Tagger { model: self, kept })
    }

    /// The same; an error if its task is another.
    pub fn to_tag(&self) -> Result<Tagger<'_>, Error> {
        self.tagger().ok_or(Error::OtherTask { has: self.task(), wants: Task::Tags })
    }
}

/// A sentence with the labels that were found, and how sure they are.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TaggedSentence {
    /// Its words; attributes where a file has those.
    pub words: Vec<String>,
    /// The best labels.
    pub labels: Vec<String>,
    /// Their score.
    pub score: f64,
    /// How far the best labels lead over the best ones in which this token has another label.
    pub leads: Vec<f64>,
    /// How probable it is that each label is right, of a tagger that was calibrated.
    pub probabilities: Option<Vec<f64>>,
    /// The next best labels, and their scores, as many as were asked for.
    pub next: Vec<(Vec<String>, f64)>,
}

/// Room for tagging, used again.
#[derive(Debug, Default)]
pub struct Room {
    scratch: Scratch,
    corpus: Corpus,
    lattice: Lattice,
}

/// Why a token got its label.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Reason {
    /// The label that was found.
    pub label: String,
    /// How far the best labels lead over the best ones in which this token has another label.
    pub lead: f64,
    /// What the labels before it add.
    pub transition: f64,
    /// The attributes that were known, and what each adds for the label.
    pub attributes: Vec<(String, f64)>,
}

/// A sentence with a mistake.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Mistaken {
    /// Its words.
    pub words: Vec<String>,
    /// Its true labels.
    pub truth: Vec<String>,
    /// The labels that were found.
    pub found: Vec<String>,
    /// The token that is wrong, by the farthest lead of those that are.
    pub token: usize,
    /// How far its label led.
    pub lead: f64,
    /// Why.
    pub reason: Reason,
}

impl<'m> Tagger<'m> {
    /// The model that it borrows.
    pub fn model(&self) -> &'m Model {
        self.model
    }

    /// What it was asked to be.
    pub fn options(&self) -> &'m TaggerOptions {
        &self.kept.options
    }

    /// The labels, by their numbers.
    pub fn labels(&self) -> &'m [String] {
        self.model.labels.names()
    }

    /// How the training went; its rows are sentences.
    pub fn training_summary(&self) -> &'m TrainingSummary {
        &self.model.training_summary
    }

    /// How many tokens it learned from.
    pub fn n_tokens(&self) -> u64 {
        self.kept.tokens
    }

    /// The scheme of spans whose rules it keeps to, if any.
    pub fn scheme(&self) -> Option<Scheme> {
        self.kept.scheme
    }

    /// What was found in sentences before they were learned from: the first epoch, in which every sentence is new.
    pub fn progressive(&self) -> Option<&'m TaggerEstimate> {
        self.kept.progressive.as_ref()
    }

    /// What was found in sentences that were held out, by taggers that learned from the others.
    pub fn estimate(&self) -> Option<&'m TaggerEstimate> {
        self.kept.estimate.as_ref()
    }

    /// How leads become probabilities, if they do.
    pub fn calibration(&self) -> Option<&'m Calibration> {
        self.model.calibration.as_ref()
    }

    /// The attributes.
    pub fn lexicon(&self) -> &'m Lexicon {
        &self.kept.lexicon
    }

    /// The weights at work.
    pub fn tagging(&self) -> &'m Tagging {
        &self.kept.tagging
    }

    /// How sentences are read by default.
    pub fn format(&self) -> Option<&'static dyn SentenceFormat> {
        rosenblatt_data::find_sentence_format(&self.kept.columns.format).ok()
    }

    /// The sentences of a source, in the format that is named or that they seem to have.
    pub fn open(
        &self,
        source: &Source,
        format: Option<&'static dyn SentenceFormat>,
    ) -> Result<SentenceStream, DataError> {
        sentences(source, format)
    }

    /// The labels of a sentence, in room that is used again.
    pub fn tag<'r>(
        &self,
        block: &Sentences,
        sentence: usize,
        format: &dyn SentenceFormat,
        room: &'r mut Room,
    ) -> Result<&'r [u32], Error> {
        self.look_up(block, sentence, format, room)?;
        Ok(self.kept.tagging.tag(room.corpus.sentence(0), &mut room.lattice))
    }

    fn look_up(
        &self,
        block: &Sentences,
        sentence: usize,
        format: &dyn SentenceFormat,
        room: &mut Room,
    ) -> Result<(), Error> {
        let cell = self.kept.columns.fit(&self.kept.lexicon, block, sentence, format)?;
        room.corpus.clear();
        let skip = self.kept.columns.label;
        self.kept.lexicon.look_up(block, sentence, skip, cell, &mut room.scratch, &mut room.corpus);
        room.corpus.end_sentence();
        Ok(())
    }

    /// Tags a block of sentences and writes them as their format does.
    pub fn write(
        &self,
        block: &Sentences,
        format: &dyn SentenceFormat,
        room: &mut Room,
        out: &mut String,
    ) -> Result<(), Error> {
        for number in 0..block.len() {
            let cell = self.kept.columns.label_in(block, number, format);
            let found = self.tag(block, number, format, room)?;
            let mut names = found.iter().map(|label| self.labels()[*label as usize].as_str());
            format.write(block, number, &mut names, cell, out);
        }
        Ok(())
    }

    /// Tags a stream on `threads` threads and lends what is written, in the order of the sentences.
    pub fn write_all<X: From<Error> + From<DataError>>(
        &self,
        stream: &mut SentenceStream,
        threads: usize,
        mut lend: impl FnMut(&str) -> Result<(), X>,
    ) -> Result<(), X> {
        let work = |block: &Sentences, format: &dyn SentenceFormat, room: &mut Room| {
            let mut out = String::new();
            self.write(block, format, room, &mut out).map(|()| out)
        };
        each_block(stream, threads, work, |written: String| lend(&written))
    }

    /// The labels of all sentences of a stream by their numbers, one after the other, found on `threads` threads. Before
    /// each block `go_on` is asked, which may say why not.
    pub fn tag_all<X: From<Error> + From<DataError>>(
        &self,
        stream: &mut SentenceStream,
        threads: usize,
        mut go_on: impl FnMut() -> Result<(), X>,
    ) -> Result<Vec<Vec<u32>>, X> {
        let work = |block: &Sentences, format: &dyn SentenceFormat, room: &mut Room| {
            (0..block.len()).map(|number| Ok(self.tag(block, number, format, room)?.to_vec())).collect()
        };
        let mut all = Vec::new();
        each_block(stream, threads, work, |mut found: Vec<Vec<u32>>| {
            all.append(&mut found);
            go_on()
        })?;
        Ok(all)
    }

    /// How well it does on sentences whose labels are known.
    pub fn evaluate(
        &self,
        source: &Source,
        format: Option<&'static dyn SentenceFormat>,
    ) -> Result<Agreement, Error> {
        self.evaluate_all(self.open(source, format)?)
    }

    /// How well it does on the sentences of a stream.
    pub fn evaluate_all(&self, stream: SentenceStream) -> Result<Agreement, Error> {
        self.evaluate_each(stream, |_, _, _| Ok(()))
    }

    /// The same, with `visit` called for every sentence: its block and number, and whether all labels were right.
    fn evaluate_each(
        &self,
        mut stream: SentenceStream,
        mut visit: impl FnMut((&Sentences, usize), &dyn SentenceFormat, &[&str]) -> Result<(), Error>,
    ) -> Result<Agreement, Error> {
        let mut block = Sentences::default();
        let mut room = Room::default();
        let mut agreement = Agreement::default();
        let constraints = Constraints::of_scheme(self.scheme(), self.labels());
        while stream.next(&mut block)? {
            let format = stream.format();
            for number in 0..block.len() {
                let tokens = block.tokens(number);
                let cell = self.kept.columns.known_label(&block, number, format)?;
                let gold: Vec<&str> =
                    tokens.clone().map(|token| block.cell(token, cell).unwrap_or_default()).collect();
                let labels = self.tag(&block, number, format, &mut room)?;
                agreement.invalid += u64::from(!constraints.allow(labels));
                let found: Vec<&str> =
                    labels.iter().map(|label| self.labels()[*label as usize].as_str()).collect();
                let word = self.kept.columns.word(format);
                let is_new = |token: usize| {
                    let cell = block.cell(tokens.start + token, word).unwrap_or_default();
                    self.kept.lexicon.knows(self.kept.columns.word, cell) == Some(false)
                };
                agreement.add(&gold, &found, is_new);
                if gold != found {
                    visit((&block, number), format, &gold)?;
                }
            }
        }
        if agreement.tokens == 0 {
            return Err(Error::NoRows);
        }
        Ok(agreement)
    }

    /// The same, and the `n` most confident mistakes, at most one of a sentence: where the tagger is sure and wrong, the
    /// label may be, too. A vote is never sure, and refused.
    pub fn review(
        &self,
        source: &Source,
        format: Option<&'static dyn SentenceFormat>,
        n: usize,
    ) -> Result<(Agreement, Vec<Mistaken>), Error> {
        self.weights()?;
        let mut room = Room::default();
        let mut mistakes: Vec<Mistaken> = Vec::new();
        let agreement = self.evaluate_each(self.open(source, format)?, |(block, number), format, gold| {
            let tagged = self.tell(block, number, format, 0, &mut room)?;
            let wrong = (0..gold.len()).filter(|token| tagged.labels[*token] != gold[*token]);
            let Some(token) = wrong.max_by(|one, other| tagged.leads[*one].total_cmp(&tagged.leads[*other]))
            else {
                return Ok(());
            };
            let lead = tagged.leads[token];
            if mistakes.len() == n && mistakes.last().is_some_and(|last| last.lead >= lead) {
                return Ok(());
            }
            let reason = self.explain(block, number, format, &mut room)?.swap_remove(token);
            let truth = gold.iter().map(ToString::to_string).collect();
            let place = mistakes.partition_point(|other| other.lead >= lead);
            mistakes.insert(
                place,
                Mistaken { words: tagged.words, truth, found: tagged.labels, token, lead, reason },
            );
            mistakes.truncate(n);
            Ok(())
        })?;
        Ok((agreement, mistakes))
    }

    /// The weights that labels are found by; an error where many hypotheses vote, none of which speaks for all.
    pub fn weights(&self) -> Result<&'m Weights, Error> {
        if self.kept.tagging.votes().is_some() {
            Err(Error::NotLinear)
        } else {
            Ok(self.kept.tagging.weights())
        }
    }

    /// The words of a sentence, and the labels that were found.
    pub fn label(
        &self,
        block: &Sentences,
        sentence: usize,
        format: &dyn SentenceFormat,
        room: &mut Room,
    ) -> Result<(Vec<String>, Vec<String>), Error> {
        let labels = self.named(self.tag(block, sentence, format, room)?);
        Ok((self.words(block, sentence, format), labels))
    }

    fn named(&self, labels: &[u32]) -> Vec<String> {
        labels.iter().map(|label| self.labels()[*label as usize].clone()).collect()
    }

    fn words(&self, block: &Sentences, sentence: usize, format: &dyn SentenceFormat) -> Vec<String> {
        let word = self.kept.columns.word(format);
        block.tokens(sentence).map(|token| block.cell(token, word).unwrap_or_default().to_owned()).collect()
    }

    /// The best labels of a sentence, `n_next` that come next, and how sure the best are. A vote has only labels.
    pub fn tell(
        &self,
        block: &Sentences,
        sentence: usize,
        format: &dyn SentenceFormat,
        n_next: usize,
        room: &mut Room,
    ) -> Result<TaggedSentence, Error> {
        self.weights()?;
        self.look_up(block, sentence, format, room)?;
        let seen = room.corpus.sentence(0);
        let best = self.kept.tagging.best(seen);
        let leads = self.kept.tagging.leads(seen, &best.labels);
        let probable = |calibration: &Calibration| {
            let curve = calibration.curves().first();
            let at = |lead: &f64| match curve {
                Some(curve) if lead.is_finite() => curve.at(*lead),
                // Nothing else may stand there.
                _ => 1.0,
            };
            leads.iter().map(at).collect()
        };
        let next = if n_next == 0 { Vec::new() } else { self.kept.tagging.k_best(seen, n_next + 1) };
        let is_next = |tagged: &Tagged| tagged.labels != best.labels;
        let next = next.into_iter().filter(is_next).take(n_next);
        Ok(TaggedSentence {
            words: self.words(block, sentence, format),
            labels: self.named(&best.labels),
            score: best.score,
            probabilities: self.calibration().map(probable),
            leads,
            next: next.map(|tagged| (self.named(&tagged.labels), tagged.score)).collect(),
        })
    }

    /// Writes a sentence as its format does, with these labels.
    pub fn write_labels(
        &self,
        block: &Sentences,
        sentence: usize,
        format: &dyn SentenceFormat,
        labels: &[String],
        out: &mut String,
    ) {
        let cell = self.kept.columns.label_in(block, sentence, format);
        format.write(block, sentence, &mut labels.iter().map(String::as_str), cell, out);
    }

    /// Why the tokens of a sentence got their labels.
    pub fn explain(
        &self,
        block: &Sentences,
        sentence: usize,
        format: &dyn SentenceFormat,
        room: &mut Room,
    ) -> Result<Vec<Reason>, Error> {
        let weights = self.weights()?;
        self.look_up(block, sentence, format, room)?;
        let seen = room.corpus.sentence(0);
        let labels = self.kept.tagging.best(seen).labels;
        let leads = self.kept.tagging.leads(seen, &labels);
        let reason = |token: usize| {
            let (attributes, values) = seen.token(token);
            let label = labels[token];
            let weight = |(place, attribute): (usize, &u32)| {
                let weights = weights.of_attribute(*attribute)?;
                let value = values.get(place).copied().unwrap_or(1.0);
                Some((self.kept.lexicon.name(*attribute), weights[label as usize] * value))
            };
            let mut attributes: Vec<(String, f64)> =
                attributes.iter().enumerate().filter_map(weight).collect();
            if let Some(before) = token.checked_sub(1).map(|before| labels[before]) {
                let link = |attribute: &u32| {
                    let weight = weights.of_link(*attribute, before, label);
                    (self.link_name(*attribute, before), weight)
                };
                attributes.extend(seen.links(token).iter().map(link));
            }
            attributes.sort_by(|one, other| other.1.abs().total_cmp(&one.1.abs()));
            Reason {
                label: self.labels()[label as usize].clone(),
                lead: leads[token],
                transition: self.kept.tagging.step(&labels[..token], label),
                attributes,
            }
        };
        Ok((0..labels.len()).map(reason).collect())
    }

    /// What an attribute is called that speaks of what follows this label.
    pub fn link_name(&self, attribute: u32, before: u32) -> String {
        link_name(&self.kept.lexicon, self.labels(), attribute, before)
    }

    /// The attributes with the largest weights for a label, those for it after another one included.
    pub fn top_attributes(&self, label: u32, n: usize) -> Result<Vec<(String, f64)>, Error> {
        let weights = self.weights()?;
        let of = |attribute: u32| {
            let alone = weights.of_attribute(attribute).and_then(|row| row.get(label as usize).copied());
            let links = weights.links_of(attribute).into_iter().filter(|(_, of, _)| *of == label);
            let links = links.map(move |(before, _, weight)| (attribute, Some(before), weight));
            alone.map(|weight| (attribute, None, weight)).into_iter().chain(links)
        };
        let mut all: Vec<(u32, Option<u32>, f64)> = weights.known_attributes().flat_map(of).collect();
        all.sort_by(|one, other| other.2.total_cmp(&one.2).then((one.0, one.1).cmp(&(other.0, other.1))));
        all.truncate(n);
        let named = |(attribute, before, weight): (u32, Option<u32>, f64)| {
            let name = match before {
                Some(before) => self.link_name(attribute, before),
                None => self.kept.lexicon.name(attribute),
            };
            (name, weight)
        };
        Ok(all.into_iter().map(named).collect())
    }
}

/// What an attribute is called that speaks of what follows this label.
pub(crate) fn link_name(lexicon: &Lexicon, labels: &[String], attribute: u32, before: u32) -> String {
    format!("{} after {}", lexicon.name(attribute), labels[before as usize])
}
