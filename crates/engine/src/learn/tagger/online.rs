//! Learning from sentences as they come: each is met once, tagged first and learned from then.

use super::shards::Nowhere;
use super::train::{Reader, TaggerTraining, add_sentence, begin_run, check_links, mark};
use crate::error::{Error, refuse};
use crate::fingerprint::Fingerprint;
use crate::keep::tagger::{KeptTagger, TaggerEstimate, TaggerOptions, Wanted, check_labels};
use crate::model::{Mark, Model, encode_sentences, training_summary};
use crate::monitor::keep;
use rosenblatt_core::observer::{Epoch, Observer, Snapshot as _};
use rosenblatt_core::{Order, Plan, Stopped, Visits};
use rosenblatt_data::SentenceStream;
use rosenblatt_sequence::spans::Agreement;
use rosenblatt_sequence::{Constraints, Corpus, Numbers, Scheme, Shape, Tagging, Weights};
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

impl TaggerTraining<'_> {
    /// Tells `observer` after every block how many sentences were labelled wrongly before they were learned from.
    pub(super) fn run_online(
        self,
        stream: SentenceStream,
        observer: &mut dyn Observer,
    ) -> Result<Model, Error> {
        let Self { options, start, checkpoint, mut checkpointer, .. } = self;
        let meaning = options.meaning()?;
        if options.voted {
            let expected = "averaged or last online, as a stream may have no end and every update would vote";
            return refuse("readout", expected, "voted");
        }
        if options.min_count > 1 || options.shards > 1 {
            let name = if options.min_count > 1 { "min-count" } else { "shards" };
            return refuse(name, "1 online", "more");
        }
        let scheme = match options.constraints {
            Wanted::Scheme(scheme) => Some(scheme),
            // A class that is still unseen may break any rule.
            Wanted::Auto => start.and_then(|tagger| tagger.scheme()),
            Wanted::None => None,
        };
        let mut reader = Reader::new(stream, options, start)?;
        let constraints = |labels: &[String]| Constraints::of_scheme(scheme, labels);
        let shape = |n_labels| Shape { n_labels, order: meaning.order };
        let (mut corpus, mut read) = (Corpus::default(), Read::default());
        let mut known = (reader.names.len(), reader.lexicon.len());
        // Sentences of the first block that were learned from.
        let mut n_over = 0;
        if let Some(checkpoint) = &checkpoint {
            let mark = &checkpoint.mark;
            n_over = read.again(&mut reader, &mut corpus, mark)?;
            // The rest of the block may have more of both.
            known = (reader.names.len().min(mark.classes.len()), reader.lexicon.len().min(mark.features));
            checkpoint.check_sentences(
                options,
                &read.mark(reader.names[..known.0].to_vec(), known.1),
                true,
            )?;
        }
        let weights =
            start.map_or_else(|| Weights::zero(shape(0), 0), |tagger| tagger.tagging().weights().clone());
        let weights = weights.with_room(shape(known.0), known.1);
        let allowed = constraints(&reader.names[..known.0]);
        let mut run = begin_run(options, Arc::new(Corpus::default()), weights, allowed)?;
        let mut estimate = TaggerEstimate::of(&Agreement::default(), 1);
        if let Some(checkpoint) = checkpoint {
            estimate = checkpoint.sentences.and_then(|of| of.estimate).unwrap_or(estimate);
            run.restore(checkpoint.state)?;
        }
        let mut is_interrupted = false;
        let plan = Plan { stop_when_clean: false, ..Plan::new(&Order::Given, 1, options.seed) };
        let stopped = run.fit_in_blocks(&plan, &mut (), |run, nothing| {
            while !corpus.is_empty() || reader.take_in(&mut corpus)? {
                let first = std::mem::take(&mut n_over);
                let n = corpus.len();
                check_labels(reader.names.len(), meaning.order)?;
                let allowed = constraints(&reader.names);
                check_scheme(scheme, &allowed, &corpus)?;
                if reader.names.len() > run.space().weights().shape().n_labels {
                    run.space_mut().take_in_labels(reader.names.len(), allowed);
                }
                // Each time one is met, the true labels and a rival's may get weights.
                let n_quads = run.space().weights().n_link_quads() + 2 * corpus.links().len();
                check_links(reader.lexicon.len(), reader.names.len(), n_quads as u128, meaning.variances)?;
                let lent = Arc::new(std::mem::take(&mut corpus));
                run.space_mut().lend(Arc::clone(&lent), reader.lexicon.len());
                run.space_mut().watch_next((n - first) as u64);
                run.set_place(run.place() + n - first);
                if let ControlFlow::Break(stopped) =
                    run.learn(Numbers(n), Visits::Range { first, end: n }, nothing)
                {
                    return Ok(ControlFlow::Break(Some(stopped)));
                }
                let all: Vec<u32> = (first as u32..n as u32).collect();
                if let Some(met) = run.space().met() {
                    estimate.take_in(met, &lent, &all, &reader.names);
                }
                read.take_in(&lent, first..n);
                // This is the only holder once the space has let go of it.
                run.space_mut().lend(Arc::default(), reader.lexicon.len());
                corpus = Arc::try_unwrap(lent).unwrap_or_default();
                corpus.clear();
                let (rounds, wrong) = (estimate.sentences, estimate.sentences - estimate.sentences_right);
                let (mistakes, updates, errors) = (wrong, wrong, wrong);
                let seen = Epoch { number: 1, rounds, visited: rounds, mistakes, updates, errors };
                if observer.epoch(&seen, &Nowhere).is_break() {
                    return Ok(ControlFlow::Break(Some(Stopped::Observer)));
                }
                let totals = run.totals();
                let encode = || {
                    // What was found in the block is counted, and its sentences are gone.
                    run.space_mut().watch_next(0);
                    let mark = read.mark(reader.names.clone(), reader.lexicon.len());
                    encode_sentences(options, &mark, Some(&estimate), &run.state())
                };
                is_interrupted = keep(&mut checkpointer, &totals, encode);
                if is_interrupted {
                    return Ok(ControlFlow::Break(None));
                }
            }
            Ok::<_, Error>(ControlFlow::Continue(()))
        })?;
        if is_interrupted {
            return Err(Error::Interrupted { epoch: 1 });
        }
        let totals = run.totals();
        let Reader { lexicon, names: labels, columns, set, template, .. } = reader;
        if labels.len() < 2 {
            return Err(Error::OneClass { found: labels.first().map(|label| format!("`{label}`")) });
        }
        let (space, past) = run.into_parts();
        let (weights, _) = space.finish(past, totals.rounds);
        if !weights.is_finite() {
            return Err(Error::Overflow { epoch: 1, row: None });
        }
        let tagging = Tagging::new(weights, constraints(&labels), meaning.search);
        let kept = KeptTagger {
            options: TaggerOptions { features: set, epochs: 1, ..options.clone() },
            template,
            columns,
            scheme,
            lexicon,
            tagging,
            tokens: read.tokens as u64,
            progressive: (estimate.tokens > 0).then_some(estimate),
            estimate: None,
        };
        let summary = training_summary(read.sentences, totals, stopped, None);
        Ok(Model::of_tags(kept, labels, summary, None))
    }
}

/// What was read of a stream, and learned from.
#[derive(Default)]
struct Read {
    sentences: usize,
    tokens: usize,
    digest: Fingerprint,
}

impl Read {
    fn take_in(&mut self, corpus: &Corpus, sentences: Range<usize>) {
        for number in sentences {
            let sentence = corpus.sentence(number);
            self.sentences += 1;
            self.tokens += sentence.len();
            add_sentence(&mut self.digest, sentence);
        }
    }

    /// Reads what an earlier run has learned from, and leaves the block in which that ended, if it did not end with it. Says
    /// how many sentences of it are over.
    fn again(&mut self, reader: &mut Reader, corpus: &mut Corpus, mark: &Mark) -> Result<usize, Error> {
        while self.sentences < mark.rows {
            corpus.clear();
            if !reader.take_in(corpus)? {
                let differences = vec!["the stream is shorter than what it learned from".to_owned()];
                return Err(Error::OtherRun { differences });
            }
            let n_over = corpus.len().min(mark.rows - self.sentences);
            self.take_in(corpus, 0..n_over);
            if n_over < corpus.len() {
                return Ok(n_over);
            }
        }
        corpus.clear();
        Ok(0)
    }

    fn mark(&self, labels: Vec<String>, attributes: usize) -> Mark {
        mark((self.sentences, self.tokens), attributes, labels, &self.digest)
    }
}

/// Refuses sentences whose labels break the rules that found ones keep to.
fn check_scheme(scheme: Option<Scheme>, allowed: &Constraints, corpus: &Corpus) -> Result<(), Error> {
    match scheme {
        Some(scheme) if !corpus.iter().all(|sentence| allowed.allow(sentence.labels)) => {
            refuse("constraints", "a scheme that the labels of all sentences keep to, or none", scheme.name())
        }
        _ => Ok(()),
    }
}
