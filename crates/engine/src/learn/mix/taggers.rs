//! Taggers that become one: the mean of their weights, attribute by attribute and label by label.

use super::Mixing;
use super::share::sum;
use crate::error::Error;
use crate::model::{Model, training_summary};
use crate::tagger::{KeptTagger, Tagger, TaggerOptions};
use rosenblatt_core::{Stopped, Totals};
use rosenblatt_sequence::{Shape, Tagging, Weights};

/// The mean of taggers in the order in which sums run. Labels and attributes that only some of them know have a weight of
/// zero in the others.
pub(super) fn mean(order: &[Tagger<'_>], mixing: Mixing) -> Result<Model, Error> {
    let first = order[0].kept;
    let mut labels: Vec<String> = order.iter().flat_map(|tagger| tagger.labels().iter().cloned()).collect();
    labels.sort();
    labels.dedup();
    let mut lexicon = first.lexicon.clone();
    let numbers: Vec<Vec<u32>> = order.iter().map(|tagger| lexicon.join(tagger.lexicon())).collect();
    let shape = Shape { n_labels: labels.len(), ..first.tagging.weights().shape() };
    let moved = order.iter().zip(&numbers).map(|(tagger, numbers)| {
        let place = |label: &String| labels.binary_search(label).unwrap_or(0) as u32;
        let places: Vec<u32> = tagger.labels().iter().map(place).collect();
        tagger.tagging().weights().renumbered(shape, lexicon.len(), numbers, &places)
    });
    let moved: Vec<Weights> = moved.collect();
    let mut parts: Vec<u64> =
        order.iter().map(|tagger| mixing.part(&tagger.training_summary().totals)).collect();
    if parts.iter().all(|part| *part == 0) {
        parts.fill(1);
    }
    let shares: Vec<(&Weights, f64)> =
        moved.iter().zip(&parts).map(|(part, share)| (part, *share as f64)).collect();
    let mean = Weights::mean(&shares).ok_or(Error::NoRows)?;
    let (mut totals, mut rows, mut tokens) = (Totals::default(), 0, 0);
    for tagger in order {
        totals = sum(&totals, &tagger.training_summary().totals);
        rows += tagger.training_summary().rows;
        tokens += tagger.n_tokens();
    }
    if !mean.is_finite() {
        return Err(Error::Overflow { epoch: totals.epochs, row: None });
    }
    let seed = order.iter().map(|tagger| tagger.options().seed).min().unwrap_or_default();
    let constraints = first.constraints_for(&labels);
    let search = first.options.meaning()?.search;
    let kept = KeptTagger {
        options: TaggerOptions { seed, ..first.options.clone() },
        lexicon,
        tagging: Tagging::new(mean, constraints, search),
        tokens,
        progressive: None,
        estimate: None,
        ..first.clone()
    };
    Ok(Model::of_tags(kept, labels, training_summary(rows, totals, Stopped::Epochs, None), None))
}

/// Why the second tagger cannot be mixed with the first.
pub(super) fn differences_of(first: &KeptTagger, tagger: &KeptTagger) -> Vec<String> {
    // Seeds may differ.
    let differences =
        first.options.differences(&tagger.options).into_iter().filter(|(name, ..)| name != "seed");
    let mut differences: Vec<String> = differences
        .map(|(name, said, other)| format!("`{name}` is {other}, where model 1 has {said}"))
        .collect();
    if tagger.tagging.votes().is_some() {
        differences.push("its hypotheses vote, and a vote has no mean".to_owned());
    }
    if tagger.template != first.template || tagger.columns != first.columns {
        differences.push("its sentences are read in another way than by model 1".to_owned());
    }
    if tagger.scheme != first.scheme {
        differences.push("its labels keep to other rules than those of model 1".to_owned());
    }
    differences
}
