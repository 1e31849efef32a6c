//! From sentences to a tagger.

use super::estimate::{self, Judging};
use super::shards;
use crate::error::{Error, refuse};
use crate::fingerprint::Fingerprint;
use crate::keep::tagger::options::{MOST_VOTES, Meaning};
use crate::keep::tagger::reading::{suited, template_text};
use crate::keep::tagger::{Columns, KeptTagger, Tagger, TaggerEstimate, TaggerOptions, Wanted, check_labels};
use crate::model::{Checkpoint, Mark, Model, TrainingSummary, encode_sentences, training_summary};
use crate::monitor::{Checkpointer, keep};
use crate::start::MOST_WEIGHT_BYTES;
use rosenblatt_core::observer::{Observer, Snapshot};
use rosenblatt_core::space::Outcome as _;
use rosenblatt_core::{Bias, Convention, Order as Visiting, Plan, Rule, Run, Stopped, Totals};
use rosenblatt_data::{ErrorKind, SentenceFormat, SentenceStream, Sentences, Source, sentences};
use rosenblatt_sequence::{
    Constraints, Corpus, Design, Lead, Lexicon, Numbers, Order, Past, Scheme, Scratch, Sentence, Shape,
    TaggerSpace, Tagging, Votes, Weights, template,
};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A training with all its settings.
pub struct TaggerTraining<'a> {
    pub(super) options: &'a TaggerOptions,
    pub(super) start: Option<Tagger<'a>>,
    judging: Judging,
    online: bool,
    pub(super) checkpoint: Option<Checkpoint>,
    pub(super) checkpointer: Option<&'a mut dyn Checkpointer>,
}

/// Sentences that were read, as numbers, and what the numbers mean.
pub(super) struct Material {
    pub(super) corpus: Arc<Corpus>,
    pub(super) lexicon: Lexicon,
    pub(super) labels: Vec<String>,
    pub(super) columns: Columns,
    pub(super) set: String,
    pub(super) template: Option<String>,
    pub(super) scheme: Option<Scheme>,
}

pub(super) type TaggerRun = Run<Box<dyn Rule + Send + Sync>, TaggerSpace, Lead>;

impl<'a> TaggerTraining<'a> {
    /// Trains what `options` describe.
    pub fn new(options: &'a TaggerOptions) -> Self {
        let (start, judging) = (None, Judging::default());
        Self { options, start, judging, online: false, checkpoint: None, checkpointer: None }
    }

    /// Starts from the weights of this model, and reads sentences as it does. Labels and attributes that are new are
    /// taken in.
    #[must_use]
    pub fn start_from(self, start: Option<Tagger<'a>>) -> Self {
        Self { start, ..self }
    }

    /// Also trains on parts of the sentences, to be judged on the rest of them: the estimate, and the curve that makes
    /// probabilities of leads. The tagger itself learns from all sentences.
    #[must_use]
    pub fn judged(self, judging: Judging) -> Self {
        Self { judging, ..self }
    }

    /// Continues an earlier run of the same options on the same sentences, to the same bits.
    #[must_use]
    pub fn resume(self, checkpoint: Option<Checkpoint>) -> Self {
        Self { checkpoint, ..self }
    }

    /// Hands checkpoints to `checkpointer` whenever it asks for one.
    #[must_use]
    pub fn checkpointer<'k>(self, checkpointer: &'k mut dyn Checkpointer) -> TaggerTraining<'k>
    where
        'a: 'k,
    {
        let Self { options, start, judging, online, checkpoint, .. } = self;
        TaggerTraining { options, start, judging, online, checkpoint, checkpointer: Some(checkpointer) }
    }

    /// Reads the sentences once and learns from each as it comes, in the memory of a block, the attributes and the weights.
    /// Labels are taken in as they turn up. A stream that is resumed is read from its beginning: what was learned from is
    /// read again, and no more, so that attributes and labels have the numbers they had.
    #[must_use]
    pub fn online(self, online: bool) -> Self {
        Self { online, ..self }
    }

    /// Reads and trains, watched by `observer`, to which every block of a stream is an epoch.
    pub fn run(self, source: &Source, observer: &mut dyn Observer) -> Result<Model, Error> {
        self.options.check()?;
        self.judging.check(self.options, self.start.is_some())?;
        self.run_on(sentences(source, None)?, observer)
    }

    /// The same for sentences that are already open or in memory.
    pub fn run_on(self, stream: SentenceStream, observer: &mut dyn Observer) -> Result<Model, Error> {
        if self.online {
            return self.run_online(stream, observer);
        }
        let Self { options, start, judging, checkpoint, checkpointer, .. } = self;
        let meaning = options.meaning()?;
        judging.check(options, start.is_some())?;
        let material = Material::of(stream, options, start)?;
        let parts = judging.parts(material.corpus.len(), options.seed)?;
        let weights = start.map(|tagger| material.room_for(&tagger));
        // What is judged learns beside what is kept: neither waits for the other, nor has a part in it.
        let is_over = AtomicBool::new(false);
        let (trained, judged) = std::thread::scope(|scope| {
            let judge = || estimate::judge(&material, options, &parts, judging.calibrate.method(), &is_over);
            let judged = (!parts.is_empty()).then(|| scope.spawn(judge));
            let trained = material.train(options, weights, checkpoint, checkpointer, observer);
            if trained.is_err() {
                is_over.store(true, Ordering::Relaxed);
            }
            let judged = judged.map(|thread| match thread.join() {
                Ok(judged) => judged,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            (trained, judged)
        });
        let Trained { weights, votes, summary, progressive } = trained?;
        let (estimate, calibration) = judged.transpose()?.unwrap_or_default();
        let tokens = material.corpus.n_tokens() as u64;
        let tagging = Tagging::new(weights, material.constraints(), meaning.search).voted(votes);
        let Material { lexicon, labels, columns, set, template, scheme, .. } = material;
        let options = TaggerOptions { features: set, ..options.normal() };
        let kept = KeptTagger {
            options,
            template,
            columns,
            scheme,
            lexicon,
            tagging,
            tokens,
            progressive,
            estimate,
        };
        Ok(Model::of_tags(kept, labels, summary, calibration))
    }
}

/// What came of a training.
pub(super) struct Trained {
    pub(super) weights: Weights,
    /// All hypotheses, where they vote.
    pub(super) votes: Option<Votes>,
    pub(super) summary: TrainingSummary,
    /// What was found in sentences before they were learned from.
    pub(super) progressive: Option<TaggerEstimate>,
}

impl Material {
    /// Reads all sentences.
    pub(super) fn read(
        source: &Source,
        format: Option<&'static dyn SentenceFormat>,
        options: &TaggerOptions,
        start: Option<Tagger<'_>>,
    ) -> Result<Self, Error> {
        Self::of(sentences(source, format)?, options, start)
    }

    /// Reads the sentences of a stream.
    fn of(stream: SentenceStream, options: &TaggerOptions, start: Option<Tagger<'_>>) -> Result<Self, Error> {
        let meaning = options.meaning()?;
        let mut reader = Reader::new(stream, options, start)?;
        let mut corpus = Corpus::default();
        while reader.take_in(&mut corpus)? {}
        let Reader { lexicon, mut names, columns, set, template, .. } = reader;
        // Numbered alphabetically, whatever the order of the sentences; new ones after known ones.
        let n_known = start.map_or(0, |tagger| tagger.labels().len());
        let mut labels = names.clone();
        labels[n_known..].sort();
        let mut places = vec![0; names.len()];
        let by_name: HashMap<&str, u32> = labels.iter().map(String::as_str).zip(0..).collect();
        for (place, name) in places.iter_mut().zip(&names) {
            *place = by_name.get(name.as_str()).copied().unwrap_or(0);
        }
        names.clear();
        corpus.relabel(|label| places[label as usize]);
        check_labels(labels.len(), meaning.order)?;
        if labels.len() < 2 {
            return Err(Error::OneClass { found: labels.first().map(|label| format!("`{label}`")) });
        }
        let scheme = scheme(options.constraints, &labels, &corpus)?;
        if options.min_count > 1 {
            let mut counts = vec![0_u32; lexicon.len()];
            for attribute in corpus.attributes().iter().chain(corpus.links()) {
                counts[*attribute as usize] = counts[*attribute as usize].saturating_add(1);
            }
            corpus
                .renumber(|attribute| (counts[attribute as usize] >= options.min_count).then_some(attribute));
        }
        // What is there, the true labels once, and a rival in every epoch.
        let n_there = start.map_or(0, |tagger| tagger.tagging().weights().n_link_quads());
        let n_quads = n_there as u128 + corpus.links().len() as u128 * (u128::from(options.epochs) + 1);
        check_links(lexicon.len(), labels.len(), n_quads, meaning.variances)?;
        let needed = lexicon.len() as u128 * labels.len().next_multiple_of(4) as u128 * 8;
        if needed > 4 * MOST_WEIGHT_BYTES {
            return Err(Error::TooLarge { features: lexicon.len(), outputs: labels.len(), needed });
        }
        corpus.shrink();
        Ok(Self { corpus: Arc::new(corpus), lexicon, labels, columns, set, template, scheme })
    }

    /// Which labels may follow which.
    pub(super) fn constraints(&self) -> Constraints {
        Constraints::of_scheme(self.scheme, &self.labels)
    }

    pub(super) fn shape(&self, order: Order) -> Shape {
        Shape { n_labels: self.labels.len(), order }
    }

    /// The weights of the tagger that these sentences were read for, with room for what is new in them.
    fn room_for(&self, start: &Tagger<'_>) -> Weights {
        let weights = start.tagging().weights().clone();
        let shape = self.shape(weights.shape().order);
        weights.with_room(shape, self.lexicon.len())
    }

    /// A run that has seen nothing yet.
    pub(super) fn begin(&self, options: &TaggerOptions, start: Option<Weights>) -> Result<TaggerRun, Error> {
        let shape = self.shape(options.meaning()?.order);
        let start = start.unwrap_or_else(|| Weights::zero(shape, self.lexicon.len()));
        let start = start.with_room(shape, self.lexicon.len());
        begin_run(options, Arc::clone(&self.corpus), start, self.constraints())
    }

    /// Trains on all sentences.
    fn train(
        &self,
        options: &TaggerOptions,
        start: Option<Weights>,
        checkpoint: Option<Checkpoint>,
        checkpointer: Option<&mut dyn Checkpointer>,
        observer: &mut dyn Observer,
    ) -> Result<Trained, Error> {
        if options.shards > 1 {
            return shards::train(self, options, start, (checkpoint, checkpointer), observer);
        }
        let mark = self.mark();
        let mut run = self.begin(options, start)?;
        run.space_mut().watch_next(self.corpus.len() as u64);
        if let Some(checkpoint) = checkpoint {
            checkpoint.check_sentences(options, &mark, false)?;
            run.restore(checkpoint.state)?;
        }
        let mut keeping = Keeping { options, mark: &mark, checkpointer, stopped: false };
        let stopped = self.fit(&mut run, options, None, &mut (observer, &mut keeping));
        if keeping.stopped {
            return Err(Error::Interrupted { epoch: run.totals().epochs + 1 });
        }
        self.read_out(run, stopped, self.corpus.len())
    }

    /// Goes over these sentences, or all, epoch by epoch.
    pub(super) fn fit<O: Observer + ?Sized>(
        &self,
        run: &mut TaggerRun,
        options: &TaggerOptions,
        rows: Option<&[u32]>,
        observer: &mut O,
    ) -> Stopped {
        let plan = Plan {
            rows,
            max_updates: options.voted.then_some(MOST_VOTES + 1),
            ..Plan::new(&Visiting::ShuffleEpoch, options.epochs, options.seed)
        };
        run.fit(Numbers(self.corpus.len()), &plan, observer)
    }

    /// What a run ends in.
    pub(super) fn read_out(&self, run: TaggerRun, stopped: Stopped, n_rows: usize) -> Result<Trained, Error> {
        let totals = run.totals();
        if !run.space().is_finite() {
            return Err(Error::Overflow { epoch: totals.epochs, row: None });
        }
        let all: Vec<u32> = (0..self.corpus.len() as u32).collect();
        let progressive = run.space().met().filter(|_| n_rows == all.len());
        let progressive =
            progressive.map(|met| TaggerEstimate::of_met(met, &self.corpus, &all, &self.labels));
        if stopped == Stopped::Updates {
            return refuse(
                "readout",
                "averaged or last where a training makes more than 5000 updates, as every one of them would vote; \
                           fewer sentences or epochs make fewer",
                "voted",
            );
        }
        let (space, past) = run.into_parts();
        let (weights, votes) = space.finish(past, totals.rounds);
        let summary = training_summary(n_rows, totals, stopped, None);
        Ok(Trained { weights, votes, summary, progressive })
    }

    pub(super) fn mark(&self) -> Mark {
        let mut digest = Fingerprint::default();
        self.corpus.iter().for_each(|sentence| add_sentence(&mut digest, sentence));
        let Self { corpus, lexicon, labels, .. } = self;
        mark((corpus.len(), corpus.n_tokens()), lexicon.len(), labels.clone(), &digest)
    }
}

/// What tells these sentences and tokens from others.
pub(super) fn mark(
    (rows, used): (usize, usize),
    features: usize,
    classes: Vec<String>,
    digest: &Fingerprint,
) -> Mark {
    let (choice, reading) = (String::new(), String::new());
    Mark { rows, features, classes, used, values: digest.digest(), choice, reading }
}

/// Takes in what tells a sentence from others.
pub(super) fn add_sentence(digest: &mut Fingerprint, sentence: Sentence<'_>) {
    digest.add(sentence.len() as u64);
    for (token, label) in sentence.labels.iter().enumerate() {
        digest.add(u64::from(*label));
        let (attributes, values) = sentence.token(token);
        for attribute in attributes.iter().chain(sentence.links(token)) {
            digest.add(u64::from(*attribute));
        }
        for value in values {
            digest.add(value.to_bits());
        }
    }
}

/// Refuses attributes of two labels that could take more memory than there may be: four weights for each, and never more
/// than there are attributes and pairs of labels.
pub(super) fn check_links(
    n_attributes: usize,
    n_labels: usize,
    n_quads: u128,
    variances: bool,
) -> Result<(), Error> {
    // Four weights side by side, what their average needs, their variances, and where they stand.
    let bytes = (2 + u128::from(variances)) * 32 + 12;
    let all = n_attributes as u128 * n_labels as u128 * n_labels.div_ceil(4) as u128;
    let needed = all.min(n_quads) * bytes;
    if needed <= 4 * MOST_WEIGHT_BYTES {
        return Ok(());
    }
    let what = format!(
        "attributes of two labels (templates that begin with B and have cells) could take {needed} bytes; write fewer of them, \
         write them with U, leave out what is rare with a higher min-count, or train for fewer epochs"
    );
    Err(Error::Template { what })
}

/// A run from these weights that has seen nothing yet.
pub(super) fn begin_run(
    options: &TaggerOptions,
    corpus: Arc<Corpus>,
    start: Weights,
    constraints: Constraints,
) -> Result<TaggerRun, Error> {
    let Meaning { rule, info, variances, search, violation, .. } = options.meaning()?;
    debug_assert!(!info.shrinks, "such rules were refused");
    let memory = Past::new(start.shape(), options.recalled());
    let design = Design { constraints, search, violation, cost: options.cost };
    let space = TaggerSpace::starting_from(start, design, corpus, &rule, variances);
    let convention = Convention { bias: Bias::None, ..Convention::default() };
    Ok(Run::from_parts(rule, space, memory, Lead, convention, Vec::new(), options.seed))
}

/// Makes numbers of sentences, block by block.
pub(super) struct Reader {
    stream: SentenceStream,
    block: Sentences,
    is_read: bool,
    pub(super) lexicon: Lexicon,
    scratch: Scratch,
    numbers: HashMap<String, u32>,
    /// Labels in the order in which they turned up.
    pub(super) names: Vec<String>,
    pub(super) columns: Columns,
    pub(super) set: String,
    pub(super) template: Option<String>,
}

impl Reader {
    pub(super) fn new(
        mut stream: SentenceStream,
        options: &TaggerOptions,
        start: Option<Tagger<'_>>,
    ) -> Result<Self, Error> {
        let mut block = Sentences::default();
        if !stream.next(&mut block)? {
            return Err(Error::NoRows);
        }
        let format = stream.format();
        let columns = Columns::new(&block, format, options.label.as_deref())?;
        let scratch = Scratch::default();
        if let Some(start) = start {
            let (kept, labels) = (start.kept, start.labels());
            start.model().check_room("a run that starts from it", 8)?;
            if options.voted || kept.options.voted {
                let what = "hypotheses that vote begin at zero, and so does what they vote on".to_owned();
                return Err(Error::BadStart { what });
            }
            if options.hash_bits != kept.options.hash_bits {
                let what = "its attributes are hashed in another way, or not at all".to_owned();
                return Err(Error::BadStart { what });
            }
            if columns != kept.columns {
                let what = format!(
                    "it learned from {} of {} columns with the label in number {}, and here are {} of {} with it in \
                     number {}",
                    kept.columns.format,
                    kept.columns.width,
                    kept.columns.label + 1,
                    columns.format,
                    columns.width,
                    columns.label + 1
                );
                return Err(Error::BadStart { what });
            }
            let names = labels.to_vec();
            let numbers = names.iter().cloned().zip(0..).collect();
            let (set, template) = (kept.options.features.clone(), kept.template.clone());
            let lexicon = kept.lexicon.clone();
            return Ok(Self {
                stream,
                block,
                is_read: true,
                lexicon,
                scratch,
                numbers,
                names,
                columns,
                set,
                template,
            });
        }
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
            Some(text) => {
                template::parse(text).map_err(|error| Error::Template { what: error.to_string() })?
            }
            None => Vec::new(),
        };
        if columns.width > 0 && templates.is_empty() {
            let what = format!("`{set}` is for files that have attributes, as items are; these have columns");
            return Err(Error::Template { what });
        }
        columns.check(&templates)?;
        Ok(Self {
            stream,
            block,
            is_read: true,
            lexicon: Lexicon::new(templates).hashed(options.hash_bits),
            scratch,
            numbers: HashMap::new(),
            names: Vec::new(),
            columns,
            set,
            template,
        })
    }

    /// Takes in the next block of sentences; false if there is none.
    pub(super) fn take_in(&mut self, corpus: &mut Corpus) -> Result<bool, Error> {
        if !std::mem::take(&mut self.is_read) && !self.stream.next(&mut self.block)? {
            return Ok(false);
        }
        let Self { block, lexicon, scratch, numbers, names, columns, .. } = self;
        for number in 0..block.len() {
            for token in block.tokens(number) {
                let label = block.cell(token, columns.label).unwrap_or_default();
                if label.is_empty() || label.contains(['\t', '\n', '\r', '\0']) {
                    let message =
                        "a token to learn from should have a label, without tabs, line ends and zeros";
                    return Err(block.error(token, columns.label, ErrorKind::Label, message).into());
                }
                let known = numbers.get(label).copied();
                corpus.push_label(known.unwrap_or_else(|| {
                    let number = names.len() as u32;
                    names.push(label.to_owned());
                    numbers.insert(label.to_owned(), number);
                    number
                }));
                // Refuse early, before a hundred thousand of them are counted.
                check_labels(names.len(), Order::First)?;
            }
            lexicon.learn(block, number, columns.label, scratch, corpus);
            corpus.end_sentence();
        }
        if lexicon.len() > MOST_ATTRIBUTES {
            return Err(Error::TooLarge {
                features: lexicon.len(),
                outputs: names.len(),
                needed: lexicon.len() as u128 * names.len() as u128 * 8,
            });
        }
        Ok(true)
    }
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
        Wanted::Scheme(scheme) => {
            refuse("constraints", "a scheme that the labels of all sentences keep to, or none", scheme.name())
        }
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
        let encode = || encode_sentences(self.options, self.mark, None, &run.state());
        self.stopped = keep(&mut self.checkpointer, so_far, encode);
        if self.stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_of_two_labels_are_refused_by_the_memory_that_they_could_take() {
        let most = 4 * MOST_WEIGHT_BYTES;
        let is_refused = |n_attributes, n_quads, variances| {
            let refused = check_links(n_attributes, 1000, n_quads, variances);
            refused.is_err_and(|error| error.to_string().contains("higher min-count"))
        };
        // Of many attributes, what was met counts; of few, that there are no more of them.
        for (variances, bytes) in [(false, 76), (true, 108)] {
            assert!(!is_refused(1 << 20, most / bytes, variances));
            assert!(is_refused(1 << 20, most / bytes + 1, variances));
            let n_attributes = (most / bytes / 250_000) as usize;
            assert!(!is_refused(n_attributes, u128::from(u64::MAX), variances));
            assert!(is_refused(n_attributes + 1, u128::from(u64::MAX), variances));
        }
    }
}
