//! From sentences to a tagger.

use super::Tagger;
use super::options::{Meaning, TaggerOptions, Wanted, check_labels};
use super::reading::{Columns, suited, template_text};
use crate::error::Error;
use crate::fingerprint::Fingerprint;
use crate::model::{TaggerCheckpoint, encode_tagger_checkpoint};
use crate::train::{CheckpointRequest, Checkpointer, MOST_WEIGHT_BYTES, training_summary};
use rosenblatt_core::memory::Kept;
use rosenblatt_core::observer::{Epoch, Observer, Snapshot};
use rosenblatt_core::space::Outcome as _;
use rosenblatt_core::{Average, Bias, Convention, Order as Visiting, Plan, Readout, Rule, Run, Totals};
use rosenblatt_data::{ErrorKind, SentenceFormat, Sentences, Source, sentences};
use rosenblatt_sequence::{
    Constraints, Corpus, Design, Lag, Lead, Lexicon, Numbers, Scheme, Scratch, Shape, TaggerSpace, Tagging,
    Weights, template,
};
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

/// A training with everything that may be said about it.
pub struct TaggerTraining<'a> {
    options: &'a TaggerOptions,
    format: Option<&'static dyn SentenceFormat>,
    checkpoint: Option<TaggerCheckpoint>,
    checkpointer: Option<&'a mut dyn Checkpointer>,
}

/// What tells the sentences of one run from those of another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Mark {
    pub(crate) sentences: usize,
    pub(crate) tokens: usize,
    pub(crate) attributes: usize,
    pub(crate) labels: Vec<String>,
    pub(crate) digest: String,
}

/// Sentences that were read.
struct Read {
    corpus: Corpus,
    lexicon: Lexicon,
    labels: Vec<String>,
    columns: Columns,
    set: String,
    template: Option<String>,
}

type TaggerRun = Run<Box<dyn Rule + Send + Sync>, TaggerSpace, Lead>;

impl<'a> TaggerTraining<'a> {
    /// Trains what `options` describe.
    pub fn new(options: &'a TaggerOptions) -> Self {
        Self { options, format: None, checkpoint: None, checkpointer: None }
    }

    /// Reads this format; the one that sentences seem to have if nothing is said.
    #[must_use]
    pub fn format(self, format: Option<&'static dyn SentenceFormat>) -> Self {
        Self { format, ..self }
    }

    /// Goes on from where an earlier run of the same options on the same sentences stood, to the same bits.
    #[must_use]
    pub fn resume(self, checkpoint: Option<TaggerCheckpoint>) -> Self {
        Self { checkpoint, ..self }
    }

    /// Hands checkpoints to `checkpointer` whenever it asks for one.
    #[must_use]
    pub fn checkpointer(self, checkpointer: &'a mut dyn Checkpointer) -> Self {
        Self { checkpointer: Some(checkpointer), ..self }
    }

    /// Reads and trains, watched by `observer`.
    pub fn run(self, source: &Source, observer: &mut dyn Observer) -> Result<Tagger, Error> {
        let Self { options, format, checkpoint, checkpointer } = self;
        let meaning = options.meaning()?;
        let read = read(source, format, options)?;
        let Read { mut corpus, lexicon, labels, columns, set, template } = read;
        check_labels(labels.len(), meaning.order)?;
        if labels.len() < 2 {
            return Err(Error::OneClass { found: labels.first().map(|label| format!("`{label}`")) });
        }
        let scheme = scheme(meaning.constraints, &labels, &corpus)?;
        let constraints =
            scheme.map_or_else(Constraints::default, |scheme| Constraints::of_scheme(scheme, &labels));
        if options.min_count > 1 {
            let mut counts = vec![0_u32; lexicon.len()];
            for attribute in corpus.attributes() {
                counts[*attribute as usize] = counts[*attribute as usize].saturating_add(1);
            }
            corpus
                .renumber(|attribute| (counts[attribute as usize] >= options.min_count).then_some(attribute));
        }
        let shape = Shape { n_labels: labels.len(), order: meaning.order };
        let needed = lexicon.len() as u128 * labels.len().next_multiple_of(4) as u128 * 8;
        if needed > 4 * MOST_WEIGHT_BYTES {
            return Err(Error::TooLarge { features: lexicon.len(), outputs: labels.len(), needed });
        }
        let mark = mark(&corpus, &lexicon, &labels);
        let (n_sentences, n_tokens) = (corpus.len(), corpus.n_tokens());
        let Meaning { rule, info, variances, search, violation, .. } = meaning;
        debug_assert!(!info.shrinks, "such rules were refused");
        let design = Design { constraints: constraints.clone(), search, violation, cost: options.cost };
        let space = TaggerSpace::new(design, shape, lexicon.len(), Arc::new(corpus), &rule, variances);
        let convention = Convention { bias: Bias::None, ..Convention::default() };
        let memory = Lag::new(shape, options.averaged);
        let mut run: TaggerRun =
            Run::from_parts(rule, space, memory, Lead, convention, Vec::new(), options.seed);
        if let Some(checkpoint) = checkpoint {
            checkpoint.check(options, &mark)?;
            run.restore(checkpoint.state)
                .map_err(|error| Error::BadCheckpoint { what: error.to_string() })?;
        }
        let order = Visiting::ShuffleEpoch;
        let plan = Plan {
            rows: None,
            order: &order,
            seed: options.seed,
            epochs: options.epochs,
            max_updates: None,
            stop_when_clean: true,
        };
        let mut keeping = Keeping { options, mark: &mark, checkpointer, stopped: false };
        let stopped = run.fit(Numbers(n_sentences), &plan, &mut (observer, &mut keeping));
        if keeping.stopped {
            return Err(Error::Interrupted { epoch: run.totals().epochs + 1 });
        }
        if !run.space().is_finite() {
            return Err(Error::Overflow { epoch: run.totals().epochs, row: None });
        }
        let weights = read_out(&run, options)?;
        Ok(Tagger {
            options: TaggerOptions { features: set, ..options.clone() },
            labels,
            template,
            columns,
            scheme,
            lexicon,
            tagging: Tagging::new(weights, constraints, search),
            training_summary: training_summary(n_sentences, run.totals(), stopped, None),
            tokens: n_tokens as u64,
        })
    }
}

fn read_out(run: &TaggerRun, options: &TaggerOptions) -> Result<Weights, Error> {
    let readout = if options.averaged { Readout::Averaged(Average::Post) } else { Readout::Last };
    let Some(Kept::Other(kept)) = run.read(readout) else { return Err(Error::NoRows) };
    let any: Arc<dyn Any + Send + Sync> = kept;
    let weights: Arc<Weights> = any.downcast().map_err(|_| Error::NoRows)?;
    Ok(Arc::try_unwrap(weights).unwrap_or_else(|shared| (*shared).clone()))
}

/// Reads all sentences.
fn read(
    source: &Source,
    format: Option<&'static dyn SentenceFormat>,
    options: &TaggerOptions,
) -> Result<Read, Error> {
    let mut stream = sentences(source, format)?;
    let mut block = Sentences::default();
    if !stream.next(&mut block)? {
        return Err(Error::NoRows);
    }
    let format = stream.format();
    let columns = Columns::new(&block, format, options.label.as_deref())?;
    let first_labels = (0..block.n_tokens()).filter_map(|token| block.cell(token, columns.label));
    let set = match options.features.as_str() {
        "auto" => suited(&columns, first_labels).to_owned(),
        name => name.to_owned(),
    };
    let template = match &options.template {
        _ if columns.width == 0 => None,
        Some(text) => Some(text.clone()),
        None => template_text(&set, &columns),
    };
    let templates = match &template {
        Some(text) => template::parse(text).map_err(|error| Error::Template { what: error.to_string() })?,
        None => Vec::new(),
    };
    if columns.width > 0 && templates.is_empty() {
        let what = format!("`{set}` is for files that have attributes, as items are; these have columns");
        return Err(Error::Template { what });
    }
    columns.check(&templates)?;
    let mut lexicon = Lexicon::new(templates);
    let mut corpus = Corpus::default();
    let mut scratch = Scratch::default();
    let mut numbers: HashMap<String, u32> = HashMap::new();
    let mut names: Vec<String> = Vec::new();
    loop {
        for number in 0..block.len() {
            for token in block.tokens(number) {
                let label = block.cell(token, columns.label).unwrap_or_default();
                if label.is_empty() {
                    return Err(block
                        .error(
                            token,
                            columns.label,
                            ErrorKind::Label,
                            "a token to learn from should have a label",
                        )
                        .into());
                }
                let known = numbers.get(label).copied();
                corpus.push_label(known.unwrap_or_else(|| {
                    let number = names.len() as u32;
                    names.push(label.to_owned());
                    numbers.insert(label.to_owned(), number);
                    number
                }));
                // Nobody waits for a hundred thousand of them to be counted.
                check_labels(names.len(), rosenblatt_sequence::Order::First)?;
            }
            lexicon.learn(&block, number, columns.label, &mut scratch, &mut corpus);
            corpus.end_sentence();
        }
        if lexicon.len() > MOST_ATTRIBUTES {
            return Err(Error::TooLarge {
                features: lexicon.len(),
                outputs: names.len(),
                needed: lexicon.len() as u128 * names.len() as u128 * 8,
            });
        }
        if !stream.next(&mut block)? {
            break;
        }
    }
    // Numbered in alphabetical order, whatever the order of the sentences.
    let mut labels = names.clone();
    labels.sort();
    let place = |name: &String| labels.binary_search(name).unwrap_or(0) as u32;
    let places: Vec<u32> = names.iter().map(place).collect();
    corpus.relabel(|label| places[label as usize]);
    Ok(Read { corpus, lexicon, labels, columns, set, template })
}

/// The most attributes.
const MOST_ATTRIBUTES: usize = 1 << 26;

/// The scheme that is to be kept to.
fn scheme(wanted: Wanted, labels: &[String], corpus: &Corpus) -> Result<Option<Scheme>, Error> {
    let suits = |scheme: Scheme| {
        labels.iter().all(|label| scheme.knows(label)) && {
            let constraints = Constraints::of_scheme(scheme, labels);
            corpus.iter().all(|sentence| constraints.allow(sentence.labels))
        }
    };
    match wanted {
        Wanted::None => Ok(None),
        Wanted::Auto => {
            let any_span = labels.iter().any(|label| label.contains('-'));
            Ok(Scheme::ALL.iter().map(|(scheme, _)| *scheme).find(|scheme| any_span && suits(*scheme)))
        }
        Wanted::Scheme(scheme) if suits(scheme) => Ok(Some(scheme)),
        Wanted::Scheme(scheme) => Err(Error::Range {
            name: "constraints",
            expected: "a scheme that the labels of all sentences keep to, or none",
            found: scheme.name().to_owned(),
        }),
    }
}

fn mark(corpus: &Corpus, lexicon: &Lexicon, labels: &[String]) -> Mark {
    let mut digest = Fingerprint::default();
    for sentence in corpus.iter() {
        digest.add(sentence.len() as u64);
        for (token, label) in sentence.labels.iter().enumerate() {
            digest.add(u64::from(*label));
            let (attributes, values) = sentence.token(token);
            for attribute in attributes {
                digest.add(u64::from(*attribute));
            }
            for value in values {
                digest.add(value.to_bits());
            }
        }
    }
    Mark {
        sentences: corpus.len(),
        tokens: corpus.n_tokens(),
        attributes: lexicon.len(),
        labels: labels.to_vec(),
        digest: digest.digest(),
    }
}

/// Makes checkpoints when they are asked for.
struct Keeping<'a, 'k> {
    options: &'a TaggerOptions,
    mark: &'a Mark,
    checkpointer: Option<&'k mut dyn Checkpointer>,
    stopped: bool,
}

impl Observer for Keeping<'_, '_> {
    fn pause(&mut self, so_far: &Totals, run: &dyn Snapshot) -> ControlFlow<()> {
        let Some(checkpointer) = &mut self.checkpointer else { return ControlFlow::Continue(()) };
        let request = checkpointer.request(so_far);
        if request != CheckpointRequest::Continue {
            checkpointer.save(&encode_tagger_checkpoint(self.options, self.mark, &run.state()));
        }
        if request == CheckpointRequest::SaveAndStop {
            self.stopped = true;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn epoch(&mut self, _epoch: &Epoch, _run: &dyn Snapshot) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
