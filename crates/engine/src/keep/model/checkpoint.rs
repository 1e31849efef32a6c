//! A run that was left where it stood: what must be known to end in the same bits as if it had not been.
//!
//! The file is a container like a model's. It holds the description of the run, a mark of the data, the
//! state of the learner, and what the validation set has shown so far. To resume, bring the same
//! data and the same description; otherwise the error says what differs, and nothing is learned.

use super::Validated;
use super::file::{
    Array, Arrays, Body, FormatError, Hypothesis, content, decode_hypothesis, encode_kept, header_error,
    pack, unpack,
};
use crate::error::Error;
use crate::fingerprint::Fingerprint;
use crate::keep::tagger::{TaggerEstimate, TaggerOptions};
use crate::settings;
use crate::spec::{Options, Spec};
use crate::start::Start;
use rosenblatt_core::memory::Kept;
use rosenblatt_core::state::State;
use rosenblatt_data::{Labels, Schema};
use serde::{Deserialize, Serialize};

/// What the header of a checkpoint says it is.
const CHECKPOINT: &str = "rosenblatt checkpoint";

/// A run as it stood at some moment.
#[derive(Debug, Clone)]
pub struct Checkpoint {
    spec: Spec,
    writer: String,
    pub(crate) mark: Mark,
    pub(crate) state: State<'static>,
    pub(crate) watched: Option<Watched>,
    /// What else there is to know of a run over sentences.
    pub(crate) sentences: Option<OfSentences>,
}

/// What a run over sentences is to be, and what a stream of them has shown so far.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct OfSentences {
    options: TaggerOptions,
    pub(crate) estimate: Option<TaggerEstimate>,
}

/// What tells the rows, or the sentences, of one run from those of another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Mark {
    /// Rows of the data; of a stream, those seen so far.
    pub(crate) rows: usize,
    /// Features of a row; of a stream, those that turned up so far.
    pub(crate) features: usize,
    pub(crate) classes: Vec<String>,
    /// How many rows are learned from, or tokens of sentences.
    pub(crate) used: usize,
    /// A digest of the rows.
    pub(crate) values: String,
    /// A digest of which rows are learned from, and where learning starts.
    pub(crate) choice: String,
    /// A digest of how the rows are read and what the features are called.
    pub(crate) reading: String,
}

/// What the validation set has shown so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Watched {
    /// Errors after each epoch.
    pub(crate) errors: Vec<u64>,
    /// The best hypothesis so far, and the epoch it was made by.
    pub(crate) best: Option<(u64, Kept)>,
}

impl Watched {
    /// Takes note of what they say after an epoch. Returns how many epochs ago the best one was.
    pub(crate) fn note(&mut self, epoch: u64, errors: u64, kept: Kept) -> u64 {
        self.errors.push(errors);
        // Of epochs that did equally well the last is kept: it has learned from more. Being as good as before is no
        // progress, though, so patience counts from the first of them.
        if self.best.as_ref().is_none_or(|(best, _)| errors <= self.errors[*best as usize - 1]) {
            self.best = Some((epoch, kept));
        }
        let least = self.errors.iter().min();
        let first = self.errors.iter().position(|errors| Some(errors) == least).unwrap_or(0);
        epoch - (first as u64 + 1)
    }

    /// The best hypothesis, and its result on `rows` rows.
    pub(crate) fn finish(self, rows: usize) -> Option<(Kept, Validated)> {
        let (best_epoch, kept) = self.best?;
        Some((kept, Validated { rows, errors: self.errors, best_epoch }))
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Header {
    format: String,
    writer: String,
    spec: Options,
    data: Mark,
    watched: Option<WatchedText>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sentences: Option<OfSentences>,
    /// How many of the arrays are the learner's.
    state: usize,
    arrays: Vec<Array>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct WatchedText {
    errors: Vec<u64>,
    best_epoch: Option<u64>,
    best: Option<Hypothesis>,
}

impl Mark {
    /// The mark of a run that learns from `rows` of data of this shape, whose fingerprint is known.
    pub(crate) fn new(
        (n_rows, width, labels): (usize, usize, &Labels),
        values: &str,
        rows: &[u32],
        start: Option<&Start>,
        reading: String,
    ) -> Self {
        let mut choice = Fingerprint::default();
        for row in rows {
            choice.add(u64::from(*row));
        }
        for weight in start.into_iter().flat_map(Start::numbers) {
            choice.add(weight.to_bits());
        }
        Self {
            rows: n_rows,
            features: width,
            classes: labels.names().to_vec(),
            used: rows.len(),
            values: values.to_owned(),
            choice: choice.digest(),
            reading,
        }
    }
}

/// A digest of how rows are read.
pub(crate) fn reading(schema: Option<&Schema>, names: Option<&[String]>) -> String {
    let mut reading = Fingerprint::default();
    reading.add_text(&serde_json::to_vec(&(schema, names)).unwrap_or_default());
    reading.digest()
}

impl Checkpoint {
    /// The checkpoint in `bytes`.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        let (_, header, body) = unpack(bytes, &[CHECKPOINT])?;
        let header: Header = serde_json::from_slice(header).map_err(|error| header_error(&error))?;
        let spec = Spec::new(header.spec).map_err(|error| content(format!("its spec: {error}")))?;
        let mut arrays = Arrays::new(header.arrays, body);
        let mut state = State::default();
        for _ in 0..header.state {
            let (name, list) = arrays.next_list()?;
            state.push(name, list);
        }
        let n_classes = header.data.classes.len();
        // A stream of sentences may have shown fewer so far.
        let least = if header.sentences.is_some() { 0 } else { 2 };
        if n_classes < least || Labels::sorted(&header.data.classes).len() != n_classes {
            return Err(content("it should name at least two different classes"));
        }
        let widest = spec.map().map_or(header.data.features, |map| map.size);
        let watched = match header.watched {
            None => None,
            Some(WatchedText { errors, best_epoch, best }) => {
                let kept = best.map(|best| decode_hypothesis(&best, spec.n_outputs(n_classes), &mut arrays));
                let best = best_epoch.zip(kept.transpose()?);
                if best.as_ref().is_some_and(|&(epoch, _)| epoch == 0 || epoch > errors.len() as u64) {
                    return Err(content("its best epoch is none that it made"));
                }
                if best.as_ref().is_some_and(|(_, kept)| kept.width() > widest) {
                    return Err(content("its best hypothesis is wider than its rows"));
                }
                Some(Watched { errors, best })
            }
        };
        arrays.finish()?;
        let Header { writer, data: mark, sentences, .. } = header;
        Ok(Self { spec, writer, mark, state, watched, sentences })
    }

    /// The description of the run.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Refuses to go on with another description or other data, saying what differs.
    pub(crate) fn check(&self, spec: &Spec, mark: &Mark) -> Result<(), Error> {
        let mut differences = self.differences(spec);
        let Mark { rows, features, classes, used, values, choice, reading } = &self.mark;
        if (*rows, *features) != (mark.rows, mark.features) {
            differences.push(format!(
                "the data had {rows} rows of {features} features and has {} of {}",
                mark.rows, mark.features
            ));
        } else if *classes != mark.classes {
            let now = mark.classes.join(", ");
            differences.push(format!("the classes were {} and are {now}", classes.join(", ")));
        } else if *values != mark.values {
            differences.push("the data has the same shape, but other values, classes or weights".to_owned());
        } else if *used != mark.used {
            differences.push(format!("it learned from {used} of the rows, and would from {}", mark.used));
        } else if *choice != mark.choice {
            differences.push("it learned from other rows, or started elsewhere".to_owned());
        } else if *reading != mark.reading {
            differences.push("columns, words or scales are read in another way".to_owned());
        }
        if differences.is_empty() { Ok(()) } else { Err(Error::OtherRun { differences }) }
    }

    /// What differs between this run's description and `spec`.
    pub(crate) fn differences(&self, spec: &Spec) -> Vec<String> {
        let mut differences = Vec::new();
        let version = env!("CARGO_PKG_VERSION");
        if self.writer != version {
            differences.push(format!("it was made by version {}, and this is {version}", self.writer));
        }
        if self.sentences.is_some() {
            differences.push("it learned from sentences, and would from rows".to_owned());
        }
        let of_options = settings::differences(self.spec.options(), spec.options()).into_iter();
        differences.extend(of_options.map(|(name, was, is)| format!("`{name}` was {was} and is {is}")));
        differences
    }
}

impl Checkpoint {
    /// Refuses to go on with other options or other sentences, or from a stream to a run over all of them or back, saying
    /// what differs.
    pub(crate) fn check_sentences(
        &self,
        options: &TaggerOptions,
        mark: &Mark,
        is_stream: bool,
    ) -> Result<(), Error> {
        let Some(OfSentences { options: then, estimate }) = &self.sentences else {
            let differences = vec!["it learned from rows, and would from sentences".to_owned()];
            return Err(Error::OtherRun { differences });
        };
        let differences = then.differences(options).into_iter();
        let mut differences: Vec<String> =
            differences.map(|(name, was, is)| format!("`{name}` was {was} and is {is}")).collect();
        // A stream tells what it has shown so far.
        if estimate.is_some() != is_stream {
            let (was, is) = if is_stream { ("in epochs", "online") } else { ("online", "in epochs") };
            differences.push(format!("it learned {was}, and would {is}"));
        }
        if self.mark != *mark {
            differences.push(format!(
                "it learned from {} sentences of {} tokens, and would from other ones, {} of {}",
                self.mark.rows, self.mark.used, mark.rows, mark.used
            ));
        }
        if differences.is_empty() { Ok(()) } else { Err(Error::OtherRun { differences }) }
    }
}

/// The bytes of a checkpoint of a run over sentences.
pub(crate) fn encode_sentences(
    options: &TaggerOptions,
    mark: &Mark,
    estimate: Option<&TaggerEstimate>,
    state: &State<'_>,
) -> Vec<u8> {
    let sentences = OfSentences { options: options.clone(), estimate: estimate.cloned() };
    written(&options.spec(), mark, state, None, Some(sentences))
}

/// The bytes of a checkpoint.
pub(crate) fn encode(spec: &Spec, mark: &Mark, state: &State<'_>, watched: Option<&Watched>) -> Vec<u8> {
    written(spec, mark, state, watched, None)
}

fn written(
    spec: &Spec,
    mark: &Mark,
    state: &State<'_>,
    watched: Option<&Watched>,
    sentences: Option<OfSentences>,
) -> Vec<u8> {
    let mut body = Body::default();
    body.state(state);
    let n_lists = body.arrays.len();
    let watched = watched.map(|watched| WatchedText {
        errors: watched.errors.clone(),
        best_epoch: watched.best.as_ref().map(|(epoch, _)| *epoch),
        best: watched.best.as_ref().map(|(_, kept)| encode_kept(kept, &mut body)),
    });
    let header = Header {
        format: CHECKPOINT.to_owned(),
        writer: env!("CARGO_PKG_VERSION").to_owned(),
        spec: spec.options().clone(),
        data: mark.clone(),
        watched,
        sentences,
        state: n_lists,
        arrays: std::mem::take(&mut body.arrays),
    };
    pack(&header, &body)
}
