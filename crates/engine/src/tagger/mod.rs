//! Taggers: models that label the tokens of sentences, from files to a model and back.
//!
//! Reading, training, tagging and evaluation of sentences, as [`Recipe`](crate::Recipe) and [`Model`](crate::Model) have
//! them for rows. What is learned, and how labels are found, is the sequence crate's; the training loop is the core's.

mod options;
mod reading;
mod train;

pub use options::TaggerOptions;
pub use train::TaggerTraining;

pub(crate) use options::check_labels;
pub(crate) use reading::Columns;
pub(crate) use train::Mark;

use crate::error::Error;
use crate::model::TrainingSummary;
use rosenblatt_data::{DataError, SentenceFormat, SentenceStream, Sentences, Source, sentences};
use rosenblatt_sequence::spans::Agreement;
use rosenblatt_sequence::{Constraints, Corpus, Lattice, Lexicon, Scheme, Scratch, Tagging};

/// A tagger that has learned.
#[derive(Debug, Clone)]
pub struct Tagger {
    pub(crate) options: TaggerOptions,
    pub(crate) labels: Vec<String>,
    /// The templates, as text; none where a file has attributes.
    pub(crate) template: Option<String>,
    pub(crate) columns: Columns,
    /// The scheme whose rules labels keep to.
    pub(crate) scheme: Option<Scheme>,
    pub(crate) lexicon: Lexicon,
    pub(crate) tagging: Tagging,
    pub(crate) training_summary: TrainingSummary,
    pub(crate) tokens: u64,
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

impl Tagger {
    /// What it was asked to be.
    pub fn options(&self) -> &TaggerOptions {
        &self.options
    }

    /// The labels, by their numbers.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// How the training went; its rows are sentences.
    pub fn training_summary(&self) -> &TrainingSummary {
        &self.training_summary
    }

    /// How many tokens it learned from.
    pub fn n_tokens(&self) -> u64 {
        self.tokens
    }

    /// The scheme of spans whose rules it keeps to, if any.
    pub fn scheme(&self) -> Option<Scheme> {
        self.scheme
    }

    /// The attributes.
    pub fn lexicon(&self) -> &Lexicon {
        &self.lexicon
    }

    /// The weights at work.
    pub fn tagging(&self) -> &Tagging {
        &self.tagging
    }

    /// How sentences are read, unless something else is said.
    pub fn format(&self) -> Option<&'static dyn SentenceFormat> {
        rosenblatt_data::find_sentence_format(&self.columns.format).ok()
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
        Ok(self.tagging.tag(room.corpus.sentence(0), &mut room.lattice))
    }

    fn look_up(
        &self,
        block: &Sentences,
        sentence: usize,
        format: &dyn SentenceFormat,
        room: &mut Room,
    ) -> Result<(), Error> {
        let cell = self.columns.fit(&self.lexicon, block, sentence, format)?;
        room.corpus.clear();
        let skip = self.columns.label;
        self.lexicon.look_up(block, sentence, skip, cell, &mut room.scratch, &mut room.corpus);
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
            let cell = self.columns.label_in(block, number, format);
            let found = self.tag(block, number, format, room)?;
            let mut names = found.iter().map(|label| self.labels[*label as usize].as_str());
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
        type Written = Result<String, Error>;
        let threads =
            if threads == 0 { std::thread::available_parallelism().map_or(1, usize::from) } else { threads };
        let mut rooms: Vec<Room> = (0..threads).map(|_| Room::default()).collect();
        let mut waiting: Vec<Sentences> = Vec::new();
        let mut spare: Vec<Sentences> = Vec::new();
        let fill =
            |stream: &mut SentenceStream, spare: &mut Vec<Sentences>| -> Result<Vec<Sentences>, DataError> {
                let mut blocks = Vec::new();
                for _ in 0..threads {
                    let mut block = spare.pop().unwrap_or_default();
                    if !stream.next(&mut block)? {
                        break;
                    }
                    blocks.push(block);
                }
                Ok(blocks)
            };
        waiting.extend(fill(stream, &mut spare)?);
        while !waiting.is_empty() {
            let format = stream.format();
            let work = |block: &Sentences, room: &mut Room| -> Written {
                let mut out = String::new();
                self.write(block, format, room, &mut out).map(|()| out)
            };
            // While blocks are tagged, the next ones are read.
            let (written, next) = if threads == 1 {
                let written: Vec<Written> =
                    waiting.iter().zip(&mut rooms).map(|(block, room)| work(block, room)).collect();
                (written, fill(stream, &mut spare))
            } else {
                std::thread::scope(|scope| {
                    let tagged = waiting
                        .iter()
                        .zip(&mut rooms)
                        .map(|(block, room)| scope.spawn(move || work(block, room)));
                    let tagged: Vec<_> = tagged.collect();
                    let next = fill(stream, &mut spare);
                    let join = |thread: std::thread::ScopedJoinHandle<'_, Written>| match thread.join() {
                        Ok(written) => written,
                        Err(panic) => std::panic::resume_unwind(panic),
                    };
                    (tagged.into_iter().map(join).collect::<Vec<Written>>(), next)
                })
            };
            for text in written {
                lend(&text?)?;
            }
            spare.append(&mut waiting);
            waiting = next?;
        }
        Ok(())
    }

    /// How well it does on sentences whose labels are known.
    pub fn evaluate(
        &self,
        source: &Source,
        format: Option<&'static dyn SentenceFormat>,
    ) -> Result<Agreement, Error> {
        let mut stream = self.open(source, format)?;
        let mut block = Sentences::default();
        let mut room = Room::default();
        let mut agreement = Agreement::default();
        let constraints = self.scheme.map(|scheme| Constraints::of_scheme(scheme, &self.labels));
        while stream.next(&mut block)? {
            let format = stream.format();
            for number in 0..block.len() {
                let tokens = block.tokens(number);
                let cell = self.columns.known_label(&block, number, format)?;
                let gold: Vec<&str> =
                    tokens.clone().map(|token| block.cell(token, cell).unwrap_or_default()).collect();
                let labels = self.tag(&block, number, format, &mut room)?;
                if let Some(constraints) = &constraints {
                    agreement.invalid += u64::from(!constraints.allow(labels));
                }
                let found: Vec<&str> =
                    labels.iter().map(|label| self.labels[*label as usize].as_str()).collect();
                let word = self.columns.word(format);
                let is_new = |token: usize| {
                    let cell = block.cell(tokens.start + token, word).unwrap_or_default();
                    self.lexicon.knows(self.columns.word, cell) == Some(false)
                };
                agreement.add(&gold, &found, is_new);
            }
        }
        if agreement.tokens == 0 {
            return Err(Error::NoRows);
        }
        Ok(agreement)
    }

    /// Why the tokens of a sentence got their labels.
    pub fn explain(
        &self,
        block: &Sentences,
        sentence: usize,
        format: &dyn SentenceFormat,
        room: &mut Room,
    ) -> Result<Vec<Reason>, Error> {
        self.look_up(block, sentence, format, room)?;
        let seen = room.corpus.sentence(0);
        let labels = self.tagging.best(seen).labels;
        let leads = self.tagging.leads(seen, &labels);
        let reason = |token: usize| {
            let (attributes, values) = seen.token(token);
            let label = labels[token];
            let weight = |(place, attribute): (usize, &u32)| {
                let weights = self.tagging.weights().of_attribute(*attribute)?;
                let value = values.get(place).copied().unwrap_or(1.0);
                Some((self.lexicon.name(*attribute), weights[label as usize] * value))
            };
            let mut attributes: Vec<(String, f64)> =
                attributes.iter().enumerate().filter_map(weight).collect();
            attributes.sort_by(|one, other| other.1.abs().total_cmp(&one.1.abs()));
            Reason {
                label: self.labels[label as usize].clone(),
                lead: leads[token],
                transition: self.tagging.step(&labels[..token], label),
                attributes,
            }
        };
        Ok((0..labels.len()).map(reason).collect())
    }

    /// The attributes with the largest weights for a label.
    pub fn top_attributes(&self, label: u32, n: usize) -> Vec<(String, f64)> {
        let weights = self.tagging.weights();
        let of = |attribute: u32| Some((attribute, *weights.of_attribute(attribute)?.get(label as usize)?));
        let mut all: Vec<(u32, f64)> = (0..weights.n_attributes() as u32).filter_map(of).collect();
        all.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        all.truncate(n);
        all.into_iter().map(|(attribute, weight)| (self.lexicon.name(attribute), weight)).collect()
    }
}
