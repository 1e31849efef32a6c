//! A training on sentences as a textbook prints it: the lattice with its scores, the best labels and the true ones, and what
//! moved.

use super::train::Material;
use crate::error::Error;
use crate::keep::tagger::{TaggerOptions, link_name};
use rosenblatt_core::{Stopped, Visits};
use rosenblatt_data::{SentenceFormat, Sentences, Source, sentences};
use rosenblatt_sequence::{Numbers, Order, Search, Tagging, Weights};
use serde::Serialize;
use std::collections::HashSet;
use std::ops::RangeInclusive;

/// A training, sentence by sentence.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct TaggerTrace {
    /// The labels, in the order of the columns of every lattice.
    pub labels: Vec<String>,
    /// The rounds that are shown.
    pub rounds: Vec<TracedSentence>,
    /// How many rounds there were.
    pub n_rounds: u64,
    /// How many mistakes there were.
    pub mistakes: u64,
    /// Whether the last epoch was without a mistake.
    pub is_clean: bool,
}

/// One sentence as it was met.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct TracedSentence {
    /// From 1.
    pub round: u64,
    /// The epoch, from 1.
    pub epoch: u64,
    /// The number of the sentence, from 1.
    pub sentence: usize,
    /// Its words.
    pub words: Vec<String>,
    /// Its true labels.
    pub truth: Vec<String>,
    /// The best labels, of all.
    pub found: Vec<String>,
    /// What each token says for each label.
    pub says: Vec<Vec<f64>>,
    /// The score of the best way to each label of each token; null where there is none.
    pub reached: Vec<Vec<f64>>,
    /// The score of the true labels.
    pub true_score: f64,
    /// The score of the found ones.
    pub found_score: f64,
    /// Whether the true labels did not lead.
    pub is_mistake: bool,
    /// The weights that moved.
    pub moved: Vec<MovedWeight>,
}

/// A weight that moved.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct MovedWeight {
    /// The attribute, alone or after a label, or the label or the two labels before.
    pub from: String,
    /// Whether that is a label.
    pub is_transition: bool,
    /// For which label.
    pub label: String,
    /// What it was.
    pub before: f64,
    /// What it is now.
    pub after: f64,
}

/// Trains on sentences in their order, the last weights deciding, and tells of the rounds that are asked for. It ends at an
/// epoch without a mistake, or after the epochs of the options.
pub fn trace(
    options: &TaggerOptions,
    source: &Source,
    format: Option<&'static dyn SentenceFormat>,
    shown: RangeInclusive<u64>,
) -> Result<TaggerTrace, Error> {
    let options = TaggerOptions { averaged: false, voted: false, ..options.clone() };
    let material = Material::read(source, format, &options, None)?;
    let words = words(source, format)?;
    let n_sentences = material.corpus.len();
    let mut run = material.begin(&options, None)?;
    let mut traced = TaggerTrace {
        labels: material.labels.clone(),
        rounds: Vec::new(),
        n_rounds: 0,
        mistakes: 0,
        is_clean: false,
    };
    for epoch in 1..=options.epochs {
        let mistakes = run.totals().mistakes;
        for number in 0..n_sentences {
            let round = run.totals().rounds + 1;
            let before = shown.contains(&round).then(|| run.space().weights().clone());
            let so_far = run.totals().mistakes;
            let learned = run.learn(Numbers(n_sentences), Visits::Listed(&[number as u32]), &mut ());
            debug_assert!(
                !matches!(learned, std::ops::ControlFlow::Break(Stopped::Observer)),
                "nobody watches"
            );
            if let Some(before) = before {
                let is_mistake = run.totals().mistakes > so_far;
                let moved = moved(&material, number, &before, run.space().weights());
                let tagging = Tagging::new(before, material.constraints(), Search::Exact);
                let sentence = material.corpus.sentence(number);
                let best = tagging.best(sentence);
                let named = |labels: &[u32]| -> Vec<String> {
                    labels.iter().map(|label| material.labels[*label as usize].clone()).collect()
                };
                traced.rounds.push(TracedSentence {
                    round,
                    epoch,
                    sentence: number + 1,
                    words: words.get(number).cloned().unwrap_or_default(),
                    truth: named(sentence.labels),
                    found: named(&best.labels),
                    says: tagging.emissions(sentence),
                    reached: tagging.lattice(sentence),
                    true_score: tagging.score(sentence, sentence.labels),
                    found_score: best.score,
                    is_mistake,
                    moved,
                });
            }
        }
        if run.totals().mistakes == mistakes {
            traced.is_clean = true;
            break;
        }
    }
    traced.n_rounds = run.totals().rounds;
    traced.mistakes = run.totals().mistakes;
    Ok(traced)
}

/// The weights that a step changed, attributes first, in the order of the sentence.
fn moved(material: &Material, number: usize, before: &Weights, after: &Weights) -> Vec<MovedWeight> {
    let sentence = material.corpus.sentence(number);
    let mut found = Vec::new();
    // Hashed attributes of both kinds share their numbers, but not their weights.
    let (mut seen, mut seen_links) = (HashSet::new(), HashSet::new());
    let n_labels = material.labels.len();
    let name = |label: usize| material.labels[label].clone();
    for token in 0..sentence.len() {
        for &attribute in sentence.token(token).0 {
            let Some(now) = after.of_attribute(attribute).filter(|_| seen.insert(attribute)) else {
                continue;
            };
            let then = before.of_attribute(attribute).unwrap_or_else(|| vec![0.0; n_labels]);
            for label in (0..n_labels).filter(|label| now[*label] != then[*label]) {
                found.push(MovedWeight {
                    from: material.lexicon.name(attribute),
                    is_transition: false,
                    label: name(label),
                    before: then[label],
                    after: now[label],
                });
            }
        }
    }
    for token in 0..sentence.len() {
        for &attribute in sentence.links(token).iter().filter(|attribute| seen_links.insert(**attribute)) {
            for (first, label, now) in either(before.links_of(attribute), after.links_of(attribute)) {
                let then = before.of_link(attribute, first, label);
                if then != now {
                    let from = link_name(&material.lexicon, &material.labels, attribute, first);
                    let label = name(label as usize);
                    found.push(MovedWeight { from, is_transition: false, label, before: then, after: now });
                }
            }
        }
    }
    for first in 0..n_labels {
        for label in 0..n_labels {
            let [then, now] = [before, after].map(|weights| weights.of_pair(first as u32, label as u32));
            if then != now {
                let (from, label) = (name(first), name(label));
                found.push(MovedWeight { from, is_transition: true, label, before: then, after: now });
            }
        }
    }
    let n_threes = if before.shape().order == Order::Second { n_labels } else { 0 };
    for (first, second) in (0..n_threes).flat_map(|first| (0..n_threes).map(move |second| (first, second))) {
        for label in 0..n_threes {
            let [then, now] =
                [before, after].map(|weights| weights.of_triple(first as u32, second as u32, label as u32));
            if then != now {
                let (from, label) = (format!("{}, {}", name(first), name(second)), name(label));
                found.push(MovedWeight { from, is_transition: true, label, before: then, after: now });
            }
        }
    }
    found
}

/// What is there now, and zero for what was there and is there no more.
fn either(then: Vec<(u32, u32, f64)>, now: Vec<(u32, u32, f64)>) -> Vec<(u32, u32, f64)> {
    let is_gone = |(before, label, _): &(u32, u32, f64)| {
        now.binary_search_by_key(&(*before, *label), |(before, label, _)| (*before, *label)).is_err()
    };
    let gone: Vec<_> =
        then.into_iter().filter(is_gone).map(|(before, label, _)| (before, label, 0.0)).collect();
    let mut all = now;
    all.extend(gone);
    all.sort_by_key(|(before, label, _)| (*before, *label));
    all
}

/// The words of all sentences.
fn words(source: &Source, format: Option<&'static dyn SentenceFormat>) -> Result<Vec<Vec<String>>, Error> {
    let mut stream = sentences(source, format)?;
    let (mut block, mut all) = (Sentences::default(), Vec::new());
    while stream.next(&mut block)? {
        let cell = stream.format().word_cell();
        let word = |token: usize| block.cell(token, cell).unwrap_or_default().to_owned();
        all.extend((0..block.len()).map(|number| block.tokens(number).map(word).collect::<Vec<_>>()));
    }
    Ok(all)
}
