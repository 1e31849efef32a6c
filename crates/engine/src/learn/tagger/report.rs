//! What there is to say of a tagger, as JSON, for every face.

use super::{Tagger, TaggerEstimate};
use crate::error::Error;
use rosenblatt_sequence::Scheme;
use rosenblatt_sequence::spans::{Agreement, Count};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

impl Tagger {
    /// What it is and how its training went.
    pub fn summary(&self) -> Value {
        let training = self.training_summary();
        json!({
            "kind": "tagger",
            "options": self.options(),
            "labels": self.labels(),
            "sentences": training.rows,
            "tokens": self.n_tokens(),
            "attributes": self.lexicon().len(),
            "constraints": self.scheme().map(Scheme::name),
            "estimate": self.estimate().map(estimate_report),
            "progressive": self.progressive().map(estimate_report),
            "calibration": self.calibration(),
            "training-summary": training,
        })
    }

    /// The same with the strongest attributes of every label, and how labels follow each other: by row the one before. A vote
    /// has neither.
    pub fn insight(&self, most: usize) -> Value {
        let n_labels = self.labels().len() as u32;
        let mut told = self.summary();
        let top = |label: u32| {
            Ok((self.labels()[label as usize].clone(), json!(self.top_attributes(label, most)?)))
        };
        let tops: Result<Map<_, _>, Error> = (0..n_labels).map(top).collect();
        told["top-attributes"] = tops.map_or(Value::Null, Value::Object);
        told["transitions"] = Value::Null;
        let Ok(weights) = self.weights() else { return told };
        let row =
            |before: u32| (0..n_labels).map(|label| weights.of_pair(before, label)).collect::<Vec<f64>>();
        told["transitions"] = json!((0..n_labels).map(row).collect::<Vec<_>>());
        told
    }
}

/// What was found in sentences that were new.
pub fn estimate_report(estimate: &TaggerEstimate) -> Value {
    json!({
        "sentences": estimate.sentences,
        "sentence-accuracy": estimate.sentence_accuracy(),
        "tokens": estimate.tokens,
        "accuracy": estimate.accuracy(),
        "spans": count_report(&estimate.count()),
        "trainings": estimate.trainings,
    })
}

/// How well found labels agree with the truth.
pub fn agreement_report(agreement: &Agreement) -> Value {
    let all = |counts: &BTreeMap<String, Count>| {
        counts.iter().map(|(name, count)| (name.clone(), count_report(count))).collect::<Map<_, _>>()
    };
    let confused = agreement.confused.iter();
    let confused =
        confused.map(|((truth, found), times)| json!({"true": truth, "found": found, "tokens": times}));
    json!({
        "sentences": agreement.sentences,
        "sentence-accuracy": agreement.sentence_accuracy(),
        "tokens": agreement.tokens,
        "accuracy": agreement.accuracy(),
        "unknown-tokens": agreement.unknown,
        "unknown-accuracy": agreement.unknown_accuracy(),
        "invalid-sentences": agreement.invalid,
        "spans": count_report(&agreement.all_spans()),
        "spans-by-type": all(&agreement.spans),
        "labels": all(&agreement.labels),
        "confused": confused.collect::<Vec<_>>(),
    })
}

fn count_report(count: &Count) -> Value {
    json!({"there": count.gold, "found": count.found, "right": count.right,
        "precision": count.precision(), "recall": count.recall(), "f1": count.f1()})
}
