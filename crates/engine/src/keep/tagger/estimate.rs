//! What was found in sentences that a tagger did not learn from, as its file keeps it.

use rosenblatt_sequence::spans::{Agreement, Count, spans, tell_spans};
use rosenblatt_sequence::{Corpus, Met};
use serde::{Deserialize, Serialize};

/// What sentences that were not learned from, or not yet, say of a training.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TaggerEstimate {
    /// Sentences.
    pub sentences: u64,
    /// Those without a mistake.
    pub sentences_right: u64,
    /// Tokens.
    pub tokens: u64,
    /// Those with the right label.
    pub tokens_right: u64,
    /// Spans that are there.
    pub spans: u64,
    /// Spans that were found.
    pub spans_found: u64,
    /// Spans that were found rightly.
    pub spans_right: u64,
    /// Over how many trainings this was counted: one where sentences were held out, several with folds.
    pub trainings: usize,
}

impl TaggerEstimate {
    pub(crate) fn of(agreement: &Agreement, trainings: usize) -> Self {
        let all = if agreement.has_spans() { agreement.all_spans() } else { Count::default() };
        let Count { gold, found, right } = all;
        Self {
            sentences: agreement.sentences,
            sentences_right: agreement.sentences_right,
            tokens: agreement.tokens,
            tokens_right: agreement.tokens_right,
            spans: gold,
            spans_found: found,
            spans_right: right,
            trainings,
        }
    }

    /// Counts what was found in sentences before they were learned from.
    pub(crate) fn of_met(met: &Met, corpus: &Corpus, sentences: &[u32], labels: &[String]) -> Self {
        let mut found = Self::of(&Agreement::default(), 1);
        found.take_in(met, corpus, sentences, labels);
        found
    }

    /// Counts more of them.
    pub(crate) fn take_in(&mut self, met: &Met, corpus: &Corpus, sentences: &[u32], labels: &[String]) {
        fn named<'n>(names: &'n [String], labels: &[u32]) -> Vec<&'n str> {
            labels.iter().map(|label| names[*label as usize].as_str()).collect()
        }
        let has_spans = tell_spans(labels);
        met.each(corpus, sentences, |gold, found| {
            self.sentences += 1;
            self.sentences_right += u64::from(gold == found);
            self.tokens += gold.len() as u64;
            self.tokens_right += gold.iter().zip(found).filter(|(gold, found)| gold == found).count() as u64;
            if !has_spans {
                return;
            }
            let there = named(labels, gold);
            let there = spans(&there);
            self.spans += there.len() as u64;
            if gold == found {
                self.spans_found += there.len() as u64;
                self.spans_right += there.len() as u64;
                return;
            }
            let predicted = named(labels, found);
            let predicted = spans(&predicted);
            self.spans_found += predicted.len() as u64;
            self.spans_right +=
                predicted.iter().filter(|span| there.binary_search(span).is_ok()).count() as u64;
        });
    }

    /// The share of right tokens.
    pub fn accuracy(&self) -> f64 {
        self.tokens_right as f64 / self.tokens.max(1) as f64
    }

    /// The share of sentences without a mistake.
    pub fn sentence_accuracy(&self) -> f64 {
        self.sentences_right as f64 / self.sentences.max(1) as f64
    }

    /// The spans.
    pub fn count(&self) -> Count {
        Count { gold: self.spans, found: self.spans_found, right: self.spans_right }
    }
}
