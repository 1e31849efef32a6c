//! Sentences: models of tags are trained here, and asked.

use crate::error::{Failure, Outcome};
use crate::model::{Given, PyModel};
use crate::sentences::{Tokens, listed, take_in};
use crate::work::{Signals, Watching, alone, unless_stopped};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};
use rosenblatt::data::{SentenceFormat, SentenceStream, Sentences, find_sentence_format, sentences};
use rosenblatt::sequence::template::SETS;
use rosenblatt::tagger::{self, Room, Tagger, agreement_report};
use rosenblatt::{Model, Recipe};
use serde_json::json;
use std::path::PathBuf;

pub(crate) fn open(source: Given, format: Option<&str>, name: Option<&str>) -> Outcome<SentenceStream> {
    let format = format.map(find_sentence_format).transpose()?;
    Ok(sentences(&source.open(name)?, format)?)
}

/// Trains on sentences in memory by a recipe. `tokens` says what tokens are, if that is known: `cells` or `attributes`.
#[pyfunction]
#[pyo3(signature = (recipe, sentences, labels, tokens=None, each=None))]
pub(crate) fn fit_tagger(
    py: Python<'_>,
    recipe: &str,
    sentences: &Bound<'_, PyAny>,
    labels: &Bound<'_, PyAny>,
    tokens: Option<&str>,
    each: Option<Py<PyAny>>,
) -> PyResult<PyModel> {
    let tokens = match tokens {
        Some("cells") => Some(Tokens::Cells),
        Some(_) => Some(Tokens::Attributes),
        None => None,
    };
    let given = take_in(sentences, Some(labels), tokens)?;
    alone(py, |signals| {
        let recipe: Recipe = serde_json::from_str(recipe)?;
        let mut watching = Watching { signals, stages: None, epochs: each, figures: false };
        Ok(recipe.train_sentences(given.made.stream(), &mut watching)?.model.into())
    })
}

/// Whether files are sentences, by the format that is named or by how they are called.
#[pyfunction]
#[pyo3(signature = (files, format=None))]
pub(crate) fn are_sentences(files: &Bound<'_, PyList>, format: Option<&str>) -> PyResult<bool> {
    let files: Vec<PathBuf> = files.extract()?;
    let names: Vec<_> = files.iter().map(|file| file.to_string_lossy()).collect();
    Ok(tagger::are_sentences(format, names.iter().map(AsRef::as_ref)))
}

/// The names of ready-made sets of attributes.
#[pyfunction]
pub(crate) fn feature_sets() -> Vec<&'static str> {
    SETS.iter().map(|(name, _)| *name).collect()
}

/// What tokens are to a model.
pub(crate) fn tokens(model: &Model) -> Outcome<Tokens> {
    let holds_attributes = model.to_tag()?.format().is_some_and(SentenceFormat::holds_attributes);
    Ok(if holds_attributes { Tokens::Attributes } else { Tokens::Cells })
}

/// What a model says of sentences: `tags`, the sentences with them as `text`, how well they agree with what is known
/// (`agreement`, as JSON), or `reasons`, as JSON with at most this many attributes of a token.
pub(crate) fn answer<'py>(
    py: Python<'py>,
    model: &Model,
    (what, most): (&str, usize),
    lengths: Option<&[usize]>,
    stream: impl FnOnce() -> Outcome<SentenceStream> + Send,
) -> PyResult<Bound<'py, PyAny>> {
    if what == "tags" {
        let found = alone(py, |signals| {
            let go_on = || -> Result<(), Failure> { unless_stopped(signals) };
            model.to_tag()?.tag_all(&mut stream()?, 0, go_on)
        })?;
        return Ok(listed(py, model.labels().names(), found, lengths)?.into_any());
    }
    let text = alone(py, |signals| {
        let (tagger, mut stream) = (model.to_tag()?, stream()?);
        match what {
            "text" => {
                let mut text = String::new();
                tagger.write_all(&mut stream, 0, |written| -> Outcome<()> {
                    text.push_str(written);
                    unless_stopped(signals)
                })?;
                Ok(text)
            }
            "agreement" => Ok(serde_json::to_string(&agreement_report(&tagger.evaluate_all(stream)?))?),
            _ => explained(tagger, &mut stream, most, signals),
        }
    })?;
    Ok(PyString::new(py, &text).into_any())
}

fn explained(
    tagger: Tagger<'_>,
    stream: &mut SentenceStream,
    most: usize,
    signals: &mut Signals,
) -> Outcome<String> {
    let (mut block, mut room, mut all) = (Sentences::default(), Room::default(), Vec::new());
    while stream.next(&mut block)? {
        for number in 0..block.len() {
            let reasons = tagger.explain(&block, number, stream.format(), &mut room)?;
            let probabilities = match tagger.calibration() {
                Some(_) => tagger.tell(&block, number, stream.format(), 0, &mut room)?.probabilities,
                None => None,
            };
            let each = reasons.into_iter().enumerate().map(|(token, mut reason)| {
                reason.attributes.truncate(most);
                let mut reason = json!({"label": reason.label, "lead": reason.lead,
                    "transition": reason.transition, "attributes": reason.attributes});
                if let Some(probability) = probabilities.as_ref().and_then(|all| all.get(token)) {
                    reason["probability"] = json!(probability);
                }
                reason
            });
            all.push(each.collect::<Vec<_>>());
        }
        unless_stopped(signals)?;
    }
    Ok(serde_json::to_string(&all)?)
}

/// A weight: its attribute, or the label before, and its label.
type Weight = (String, String, f64);

/// Every weight of attributes, and of labels that follow each other, that is not zero.
pub(crate) fn weights(model: &Model) -> Outcome<(Vec<Weight>, Vec<Weight>)> {
    let tagger = model.to_tag()?;
    let (weights, labels) = (tagger.weights()?, tagger.labels());
    let mut states = Vec::new();
    for attribute in 0..weights.n_attributes() as u32 {
        let row = weights.of_attribute(attribute).unwrap_or_default();
        for (label, weight) in row.into_iter().enumerate().filter(|(_, weight)| *weight != 0.0) {
            states.push((tagger.lexicon().name(attribute), labels[label].clone(), weight));
        }
    }
    let mut steps = Vec::new();
    for (before, first) in labels.iter().enumerate() {
        for (label, second) in labels.iter().enumerate() {
            let weight = weights.of_pair(before as u32, label as u32);
            if weight != 0.0 {
                steps.push((first.clone(), second.clone(), weight));
            }
        }
    }
    Ok((states, steps))
}
