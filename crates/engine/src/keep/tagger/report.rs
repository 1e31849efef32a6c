//! What there is to say of a tagger, as JSON, for every face.

use super::{Reason, Room, Tagger, TaggerEstimate};
use crate::error::Error;
use rosenblatt_data::{SentenceFormat, Sentences};
use rosenblatt_sequence::Scheme;
use rosenblatt_sequence::spans::{Agreement, Count};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

impl Tagger<'_> {
    /// What it is and how its training went.
    pub fn summary(&self) -> Value {
        let training = self.training_summary();
        json!({
            "task": self.model().task(),
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
        let mut report = self.summary();
        let top = |label: u32| {
            Ok((self.labels()[label as usize].clone(), json!(self.top_attributes(label, most)?)))
        };
        let tops: Result<Map<_, _>, Error> = (0..n_labels).map(top).collect();
        report["top-attributes"] = tops.map_or(Value::Null, Value::Object);
        report["transitions"] = Value::Null;
        let Ok(weights) = self.weights() else { return report };
        let row =
            |before: u32| (0..n_labels).map(|label| weights.of_pair(before, label)).collect::<Vec<f64>>();
        report["transitions"] = json!((0..n_labels).map(row).collect::<Vec<_>>());
        report
    }
}

/// What to report of a sentence besides its tags.
#[derive(Debug, Clone, Copy, Default)]
pub struct Telling {
    /// The score of the tags, and how far each leads.
    pub scores: bool,
    /// How probable each tag is; an error if the model was not calibrated.
    pub probabilities: bool,
    /// This many label sequences, the best among them.
    pub k_best: Option<usize>,
    /// This many attributes of every token.
    pub explain: Option<usize>,
}

impl Tagger<'_> {
    /// A sentence with its tags as an object, the same for every face.
    pub fn object(
        &self,
        block: &Sentences,
        number: usize,
        format: &dyn SentenceFormat,
        telling: Telling,
        room: &mut Room,
    ) -> Result<Value, Error> {
        let Telling { scores, probabilities, k_best, explain } = telling;
        if probabilities && self.weights().is_ok() && self.calibration().is_none() {
            return Err(Error::NotCalibrated);
        }
        let needs_leads = probabilities || k_best.is_some() || explain.is_some();
        if !needs_leads && (!scores || self.weights().is_err()) {
            let (tokens, tags) = self.label(block, number, format, room)?;
            let mut object = json!({"tokens": tokens, "tags": tags});
            if scores {
                (object["score"], object["leads"]) = (Value::Null, Value::Null);
            }
            return Ok(object);
        }
        let n_next = k_best.unwrap_or(1).saturating_sub(1);
        let tagged = self.tell(block, number, format, n_next, room)?;
        let mut object = json!({"tokens": tagged.words, "tags": tagged.labels});
        if scores {
            let leads = tagged.leads.iter().map(|lead| lead.is_finite().then_some(lead));
            let leads: Vec<Option<&f64>> = leads.collect();
            (object["score"], object["leads"]) = (json!(tagged.score), json!(leads));
        }
        if probabilities {
            object["probabilities"] = json!(tagged.probabilities);
        }
        if k_best.is_some() {
            let one = |(tags, score): &(Vec<String>, f64)| json!({ "tags": tags, "score": score });
            object["next-best"] = tagged.next.iter().map(one).collect();
        }
        if let Some(most) = explain {
            let one = |reason: Reason| {
                let attributes: Vec<_> = reason.attributes.into_iter().take(most).collect();
                json!({ "transition": reason.transition, "attributes": attributes })
            };
            object["reasons"] = self.explain(block, number, format, room)?.into_iter().map(one).collect();
        }
        Ok(object)
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
