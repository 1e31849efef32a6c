//! Taggers that become one: the mean of their weights, attribute by attribute and label by label.

use crate::error::Error;
use crate::keep::tagger::{KeptTagger, Tagger, TaggerOptions};
use crate::model::{Model, TrainingSummary};
use rosenblatt_sequence::{Constraints, Shape, Tagging, Weights};

/// The mean of taggers in the order in which sums run, each as much as its part. Labels and attributes that only some of them
/// know have a weight of zero in the others.
pub(super) fn mean(order: &[Tagger<'_>], parts: &[u64], summary: TrainingSummary) -> Result<Model, Error> {
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
    let shares: Vec<(&Weights, f64)> =
        moved.iter().zip(parts).map(|(part, share)| (part, *share as f64)).collect();
    let mean = Weights::mean(&shares).ok_or(Error::NoRows)?;
    if !mean.is_finite() {
        return Err(Error::Overflow { epoch: summary.totals.epochs, row: None });
    }
    let seed = order.iter().map(|tagger| tagger.options().seed).min().unwrap_or_default();
    let constraints = Constraints::of_scheme(first.scheme, &labels);
    let search = first.options.meaning()?.search;
    let kept = KeptTagger {
        options: TaggerOptions { seed, ..first.options.clone() },
        lexicon,
        tagging: Tagging::new(mean, constraints, search),
        tokens: order.iter().map(Tagger::n_tokens).sum(),
        progressive: None,
        estimate: None,
        ..first.clone()
    };
    Ok(Model::of_tags(kept, labels, summary, None))
}

/// Why the second tagger cannot be mixed with the first.
pub(super) fn differences_of(first: &KeptTagger, tagger: &KeptTagger) -> Vec<String> {
    let mut differences = super::models::other_settings(first.options.differences(&tagger.options));
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
