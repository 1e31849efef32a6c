//! Taggers that become one: the mean of their weights, attribute by attribute and label by label.

use super::Mixing;
use super::share::sum;
use crate::error::Error;
use crate::model::training_summary;
use crate::tagger::{Tagger, TaggerOptions};
use rosenblatt_core::{Stopped, Totals};
use rosenblatt_sequence::{Shape, Tagging, Weights};

/// The mean of taggers that were trained in the same way on different sentences. Their order does not matter, to the bit;
/// one tagger is itself. Labels and attributes that only some of them know have a weight of zero in the others.
pub fn mix_taggers(taggers: &[Tagger], mixing: Mixing) -> Result<Tagger, Error> {
    let Some(first) = taggers.first() else {
        return Err(Error::NotMixable { differences: vec!["there is no tagger".to_owned()] });
    };
    if taggers.len() == 1 {
        return Ok(first.clone());
    }
    let mut differences = Vec::new();
    for (number, tagger) in taggers.iter().enumerate() {
        let others = differences_of(first, tagger).into_iter();
        differences.extend(others.map(|what| format!("tagger {}: {what}", number + 1)));
    }
    if !differences.is_empty() {
        return Err(Error::NotMixable { differences });
    }
    // Numbers are given and sums run in an order that the taggers decide, not the caller.
    let mut order: Vec<(Vec<u8>, &Tagger)> =
        taggers.iter().map(|tagger| (tagger.to_bytes(), tagger)).collect();
    order.sort_by(|one, other| one.0.cmp(&other.0));
    let order: Vec<&Tagger> = order.into_iter().map(|(_, tagger)| tagger).collect();
    let mut labels: Vec<String> = order.iter().flat_map(|tagger| tagger.labels.iter().cloned()).collect();
    labels.sort();
    labels.dedup();
    let mut lexicon = order[0].lexicon.clone();
    let numbers: Vec<Vec<u32>> = order.iter().map(|tagger| lexicon.join(&tagger.lexicon)).collect();
    let shape = Shape { n_labels: labels.len(), ..first.tagging.weights().shape() };
    let moved = order.iter().zip(&numbers).map(|(tagger, numbers)| {
        let place = |label: &String| labels.binary_search(label).unwrap_or(0) as u32;
        let places: Vec<u32> = tagger.labels.iter().map(place).collect();
        tagger.tagging.weights().renumbered(shape, lexicon.len(), numbers, &places)
    });
    let moved: Vec<Weights> = moved.collect();
    let mut parts: Vec<u64> =
        order.iter().map(|tagger| mixing.part(&tagger.training_summary.totals)).collect();
    if parts.iter().all(|part| *part == 0) {
        parts.fill(1);
    }
    let shares: Vec<(&Weights, f64)> =
        moved.iter().zip(&parts).map(|(part, share)| (part, *share as f64)).collect();
    let mean = Weights::mean(&shares).ok_or(Error::NoRows)?;
    let (mut totals, mut rows, mut tokens) = (Totals::default(), 0, 0);
    for tagger in &order {
        totals = sum(&totals, &tagger.training_summary.totals);
        rows += tagger.training_summary.rows;
        tokens += tagger.tokens;
    }
    if !mean.is_finite() {
        return Err(Error::Overflow { epoch: totals.epochs, row: None });
    }
    let seed = taggers.iter().map(|tagger| tagger.options.seed).min().unwrap_or_default();
    let constraints = first.constraints_for(&labels);
    let search = first.options.meaning()?.search;
    Ok(Tagger {
        options: TaggerOptions { seed, ..first.options.clone() },
        labels,
        lexicon,
        tagging: Tagging::new(mean, constraints, search),
        training_summary: training_summary(rows, totals, Stopped::Epochs, None),
        tokens,
        progressive: None,
        estimate: None,
        calibration: None,
        ..first.clone()
    })
}

/// Why the second tagger cannot be mixed with the first.
fn differences_of(first: &Tagger, tagger: &Tagger) -> Vec<String> {
    // Seeds may differ.
    let differences =
        first.options.differences(&tagger.options).into_iter().filter(|(name, ..)| name != "seed");
    let mut differences: Vec<String> = differences
        .map(|(name, said, other)| format!("`{name}` is {other}, where tagger 1 has {said}"))
        .collect();
    if tagger.tagging.votes().is_some() {
        differences.push("its hypotheses vote, and a vote has no mean".to_owned());
    }
    if tagger.template != first.template || tagger.columns != first.columns {
        differences.push("its sentences are read in another way than by tagger 1".to_owned());
    }
    if tagger.scheme != first.scheme {
        differences.push("its labels keep to other rules than those of tagger 1".to_owned());
    }
    differences
}
