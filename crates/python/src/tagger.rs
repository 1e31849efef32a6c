//! Taggers of sentences as Python sees them.

use crate::error::{Failure, Outcome};
use crate::model::Given;
use crate::sentences::{Tokens, listed, take_in};
use crate::work::{Signals, Told, alone, unless_stopped};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use rosenblatt::data::{SentenceFormat, SentenceStream, Sentences, find_sentence_format, sentences};
use rosenblatt::sequence::template::SETS;
use rosenblatt::tagger::{self, Judging, Room, agreement_report};
use rosenblatt::{Tagger, TaggerOptions, TaggerTraining};
use serde_json::json;
use std::path::PathBuf;

/// A trained tagger: what the command line writes to a file, and reads from one.
#[pyclass(name = "Tagger", module = "rosenblatt._rosenblatt", frozen)]
pub(crate) struct PyTagger {
    tagger: Tagger,
}

fn open(source: Given, format: Option<&str>, name: Option<&str>) -> Outcome<SentenceStream> {
    let format = format.map(find_sentence_format).transpose()?;
    Ok(sentences(&source.open(name)?, format)?)
}

/// How it is to be judged, as JSON: which sentences are held out, and how leads become probabilities.
fn judging(asked: Option<&str>) -> Outcome<Judging> {
    let Some(asked) = asked else { return Ok(Judging::default()) };
    let (plan, calibrate) = serde_json::from_str(asked)?;
    Ok(Judging { plan, calibrate })
}

fn trained(
    options: &str,
    asked: Option<&str>,
    signals: &mut Signals,
    told: Option<&Py<PyAny>>,
    stream: impl FnOnce() -> Outcome<SentenceStream>,
) -> Outcome<PyTagger> {
    let options: TaggerOptions = serde_json::from_str(options)?;
    options.check()?;
    let judging = judging(asked)?;
    let stream = stream()?;
    let mut told = Told { told, raised: None };
    let outcome =
        TaggerTraining::new(&options).judged(judging).checkpointer(signals).run_on(stream, &mut told);
    if let Some(raised) = told.raised {
        signals.raise(raised);
    }
    Ok(PyTagger { tagger: outcome? })
}

/// Trains on sentences in memory. `tokens` says what tokens are, if that is known: `cells` or `attributes`.
#[pyfunction]
#[pyo3(signature = (options, sentences, labels, tokens=None, told=None, judging=None))]
pub(crate) fn fit_tagger(
    py: Python<'_>,
    options: &str,
    sentences: &Bound<'_, PyAny>,
    labels: &Bound<'_, PyAny>,
    tokens: Option<&str>,
    told: Option<&Bound<'_, PyAny>>,
    judging: Option<&str>,
) -> PyResult<PyTagger> {
    let told = told.map(|told| told.clone().unbind());
    let tokens = match tokens {
        Some("cells") => Some(Tokens::Cells),
        Some(_) => Some(Tokens::Attributes),
        None => None,
    };
    let given = take_in(sentences, Some(labels), tokens)?;
    alone(py, |signals| trained(options, judging, signals, told.as_ref(), || Ok(given.made.stream())))
}

/// Trains on files of sentences, or the bytes of one.
#[pyfunction]
#[pyo3(signature = (options, source, format=None, name=None, told=None, judging=None))]
pub(crate) fn train_tagger(
    py: Python<'_>,
    options: &str,
    source: Given,
    format: Option<&str>,
    name: Option<&str>,
    told: Option<&Bound<'_, PyAny>>,
    judging: Option<&str>,
) -> PyResult<PyTagger> {
    let told = told.map(|told| told.clone().unbind());
    alone(py, |signals| trained(options, judging, signals, told.as_ref(), || open(source, format, name)))
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

impl PyTagger {
    fn tokens(&self) -> Tokens {
        let holds_attributes = self.tagger.format().is_some_and(SentenceFormat::holds_attributes);
        if holds_attributes { Tokens::Attributes } else { Tokens::Cells }
    }

    fn explained(&self, stream: &mut SentenceStream, most: usize, signals: &mut Signals) -> Outcome<String> {
        let (mut block, mut room, mut all) = (Sentences::default(), Room::default(), Vec::new());
        while stream.next(&mut block)? {
            for number in 0..block.len() {
                let reasons = self.tagger.explain(&block, number, stream.format(), &mut room)?;
                let probabilities = match self.tagger.calibration() {
                    Some(_) => self.tagger.tell(&block, number, stream.format(), 0, &mut room)?.probabilities,
                    None => None,
                };
                let each = reasons.into_iter().enumerate().map(|(token, mut reason)| {
                    reason.attributes.truncate(most);
                    let mut told = json!({"label": reason.label, "lead": reason.lead,
                        "transition": reason.transition, "attributes": reason.attributes});
                    if let Some(probability) = probabilities.as_ref().and_then(|all| all.get(token)) {
                        told["probability"] = json!(probability);
                    }
                    told
                });
                all.push(each.collect::<Vec<_>>());
            }
            unless_stopped(signals)?;
        }
        Ok(serde_json::to_string(&all)?)
    }
}

#[pymethods]
impl PyTagger {
    /// The tagger in these bytes.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        alone(py, |_| Ok(Self { tagger: Tagger::from_bytes(data)? }))
    }

    /// The tagger in this file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        alone(py, |_| Ok(Self { tagger: Tagger::load(path)? }))
    }

    /// Whether the file says that it is a tagger.
    #[staticmethod]
    fn is_at(path: PathBuf) -> bool {
        Tagger::is_at(path)
    }

    /// The bytes of the tagger's file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.tagger.to_bytes())
    }

    /// Writes the tagger to a file, whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        alone(py, |_| Ok(self.tagger.save(path)?))
    }

    /// What the labels are called.
    #[getter]
    fn labels(&self) -> Vec<String> {
        self.tagger.labels().to_vec()
    }

    /// How many epochs it took.
    #[getter]
    fn n_epochs(&self) -> u64 {
        self.tagger.training_summary().totals.epochs
    }

    /// What the tagger is, as JSON.
    fn summary(&self, most: usize) -> Outcome<String> {
        Ok(serde_json::to_string(&self.tagger.insight(most))?)
    }

    /// The labels of sentences in memory.
    fn predict<'py>(&self, py: Python<'py>, sentences: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let given = take_in(sentences, None, Some(self.tokens()))?;
        let found = self.tagged(py, || Ok(given.made.stream()))?;
        listed(py, self.tagger.labels(), found, Some(&given.lengths))
    }

    /// The labels of the sentences of files, or of the bytes of one.
    #[pyo3(signature = (source, format=None, name=None))]
    fn predict_source<'py>(
        &self,
        py: Python<'py>,
        source: Given,
        format: Option<&str>,
        name: Option<&str>,
    ) -> PyResult<Bound<'py, PyList>> {
        let found = self.tagged(py, || open(source, format, name))?;
        listed(py, self.tagger.labels(), found, None)
    }

    /// The sentences of files with their labels, as the command line writes them.
    #[pyo3(signature = (source, format=None, name=None))]
    fn write_source(
        &self,
        py: Python<'_>,
        source: Given,
        format: Option<&str>,
        name: Option<&str>,
    ) -> PyResult<String> {
        alone(py, |signals| {
            let mut text = String::new();
            let lend = |written: &str| -> Outcome<()> {
                text.push_str(written);
                unless_stopped(signals)
            };
            self.tagger.write_all(&mut open(source, format, name)?, 0, lend)?;
            Ok(text)
        })
    }

    /// How well it does on sentences in memory whose labels are known, as JSON.
    fn evaluate(
        &self,
        py: Python<'_>,
        sentences: &Bound<'_, PyAny>,
        labels: &Bound<'_, PyAny>,
    ) -> PyResult<String> {
        let given = take_in(sentences, Some(labels), Some(self.tokens()))?;
        self.judged(py, || Ok(given.made.stream()))
    }

    /// The same of files with labels.
    #[pyo3(signature = (source, format=None, name=None))]
    fn evaluate_source(
        &self,
        py: Python<'_>,
        source: Given,
        format: Option<&str>,
        name: Option<&str>,
    ) -> PyResult<String> {
        self.judged(py, || open(source, format, name))
    }

    /// Why the tokens of sentences in memory got their labels, as JSON.
    fn explain(&self, py: Python<'_>, sentences: &Bound<'_, PyAny>, most: usize) -> PyResult<String> {
        let given = take_in(sentences, None, Some(self.tokens()))?;
        alone(py, |signals| self.explained(&mut given.made.stream(), most, signals))
    }

    /// The same of files.
    #[pyo3(signature = (source, most, format=None, name=None))]
    fn explain_source(
        &self,
        py: Python<'_>,
        source: Given,
        most: usize,
        format: Option<&str>,
        name: Option<&str>,
    ) -> PyResult<String> {
        alone(py, |signals| self.explained(&mut open(source, format, name)?, most, signals))
    }

    /// Every weight that is not zero: its attribute, or the label before, and its label.
    #[expect(clippy::type_complexity, reason = "two lists of the same kind")]
    fn weights(&self) -> Outcome<(Vec<(String, String, f64)>, Vec<(String, String, f64)>)> {
        let (weights, labels) = (self.tagger.weights()?, self.tagger.labels());
        let mut states = Vec::new();
        for attribute in 0..weights.n_attributes() as u32 {
            let row = weights.of_attribute(attribute).unwrap_or_default();
            for (label, weight) in row.into_iter().enumerate().filter(|(_, weight)| *weight != 0.0) {
                states.push((self.tagger.lexicon().name(attribute), labels[label].clone(), weight));
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
}

impl PyTagger {
    fn tagged(
        &self,
        py: Python<'_>,
        stream: impl FnOnce() -> Outcome<SentenceStream> + Send,
    ) -> PyResult<Vec<Vec<u32>>> {
        alone(py, |signals| {
            self.tagger.tag_all(&mut stream()?, 0, || -> Result<(), Failure> { unless_stopped(signals) })
        })
    }

    fn judged(
        &self,
        py: Python<'_>,
        stream: impl FnOnce() -> Outcome<SentenceStream> + Send,
    ) -> PyResult<String> {
        alone(py, |_| {
            let agreement = self.tagger.evaluate_all(stream()?)?;
            Ok(serde_json::to_string(&agreement_report(&agreement))?)
        })
    }
}
