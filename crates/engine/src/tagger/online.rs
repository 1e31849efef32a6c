//! Learning from sentences as they come: each is met once, tagged first and learned from then.

use super::Tagger;
use super::estimate::TaggerEstimate;
use super::options::{TaggerOptions, Wanted, check_labels};
use super::train::{Reader, TaggerTraining, begin_run};
use crate::error::Error;
use crate::train::training_summary;
use rosenblatt_core::{Order, Plan, Stopped, Visits};
use rosenblatt_data::Source;
use rosenblatt_sequence::spans::Agreement;
use rosenblatt_sequence::{Constraints, Corpus, Numbers, Scheme, Shape, Tagging, Weights};
use std::ops::ControlFlow;
use std::sync::Arc;

impl TaggerTraining<'_> {
    /// Reads a stream once and learns from it, in the memory of a block, the attributes and the weights. `told` hears after
    /// every block how good the labels were that were found before each sentence was learned from. Labels are taken in as
    /// they turn up.
    pub fn run_online(
        self,
        source: &Source,
        mut told: impl FnMut(&TaggerEstimate) -> ControlFlow<()>,
    ) -> Result<Tagger, Error> {
        let Self { options, format, start, .. } = self;
        let meaning = options.meaning()?;
        if options.min_count > 1 || options.shards > 1 {
            let name = if options.min_count > 1 { "min-count" } else { "shards" };
            return Err(Error::Range { name, expected: "1 online", found: "more".to_owned() });
        }
        let scheme = match meaning.constraints {
            Wanted::Scheme(scheme) => Some(scheme),
            // What nobody has seen yet may break any rule.
            Wanted::Auto => start.and_then(Tagger::scheme),
            Wanted::None => None,
        };
        let mut reader = Reader::new(source, format, options, start)?;
        let constraints = |labels: &[String]| {
            scheme.map_or_else(Constraints::default, |scheme| Constraints::of_scheme(scheme, labels))
        };
        let shape = |n_labels| Shape { n_labels, order: meaning.order };
        let mut weights =
            start.map_or_else(|| Weights::zero(shape(0), 0), |tagger| tagger.tagging.weights().clone());
        weights = weights.with_room(shape(reader.names.len()), reader.lexicon.len());
        let mut run = begin_run(options, Arc::new(Corpus::default()), weights, constraints(&reader.names))?;
        let mut estimate = TaggerEstimate::of(&Agreement::default(), 1);
        let (mut n_sentences, mut n_tokens) = (0, 0);
        let plan = Plan {
            rows: None,
            order: &Order::Given,
            seed: options.seed,
            epochs: 1,
            max_updates: None,
            stop_when_clean: false,
        };
        let mut corpus = Corpus::default();
        let stopped = run.fit_in_blocks(&plan, &mut (), |run, observer| {
            while reader.take_in(&mut corpus)? {
                let n = corpus.len();
                check_labels(reader.names.len(), meaning.order)?;
                let allowed = constraints(&reader.names);
                check_scheme(scheme, &allowed, &corpus)?;
                if reader.names.len() > run.space().weights().shape().n_labels {
                    run.space_mut().take_in_labels(reader.names.len(), allowed);
                }
                let lent = Arc::new(std::mem::take(&mut corpus));
                run.space_mut().lend(Arc::clone(&lent), reader.lexicon.len());
                run.space_mut().watch_next(n as u64);
                run.set_place(run.place() + n);
                if let ControlFlow::Break(stopped) =
                    run.learn(Numbers(n), Visits::Range { first: 0, end: n }, observer)
                {
                    return Ok(ControlFlow::Break(Some(stopped)));
                }
                let all: Vec<u32> = (0..n as u32).collect();
                if let Some(met) = run.space().met() {
                    estimate.take_in(met, &lent, &all, &reader.names);
                }
                n_sentences += n;
                n_tokens += lent.n_tokens() as u64;
                // Nobody else holds it once the space has let go of it.
                run.space_mut().lend(Arc::default(), reader.lexicon.len());
                corpus = Arc::try_unwrap(lent).unwrap_or_default();
                corpus.clear();
                if told(&estimate).is_break() {
                    return Ok(ControlFlow::Break(Some(Stopped::Observer)));
                }
            }
            Ok::<_, Error>(ControlFlow::Continue(()))
        })?;
        let totals = run.totals();
        let Reader { lexicon, names: labels, columns, set, template, .. } = reader;
        if labels.len() < 2 {
            return Err(Error::OneClass { found: labels.first().map(|label| format!("`{label}`")) });
        }
        let (space, lag) = run.into_parts();
        let weights = space.finish(lag, totals.rounds);
        if !weights.is_finite() {
            return Err(Error::Overflow { epoch: 1, row: None });
        }
        let tagging = Tagging::new(weights, constraints(&labels), meaning.search);
        Ok(Tagger {
            options: TaggerOptions { features: set, epochs: 1, ..options.clone() },
            labels,
            template,
            columns,
            scheme,
            lexicon,
            tagging,
            training_summary: training_summary(n_sentences, totals, stopped, None),
            tokens: n_tokens,
            progressive: (estimate.tokens > 0).then_some(estimate),
            estimate: None,
            calibration: None,
        })
    }
}

/// Refuses sentences whose labels break the rules that found ones keep to.
fn check_scheme(scheme: Option<Scheme>, allowed: &Constraints, corpus: &Corpus) -> Result<(), Error> {
    match scheme {
        Some(scheme) if !corpus.iter().all(|sentence| allowed.allow(sentence.labels)) => Err(Error::Range {
            name: "constraints",
            expected: "a scheme that the labels of all sentences keep to, or none",
            found: scheme.name().to_owned(),
        }),
        _ => Ok(()),
    }
}
