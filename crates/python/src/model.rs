//! A trained model as Python sees it.

use crate::arrow;
use crate::error::{Failure, Outcome};
use crate::product::{Drawing, chosen, drawn};
use crate::rows::{self, Unchecked};
use crate::sentences::take_in;
use crate::tagger;
use crate::work::{alone, unless_stopped};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rosenblatt::data::{Dataset, ReadOptions, Source, load_source};
use rosenblatt::explain::Explainer;
use rosenblatt::export::Export;
use rosenblatt::insight::top_features;
use rosenblatt::learning::Zero;
use rosenblatt::model::decision_scores;
use rosenblatt::rows::check_finite;
use rosenblatt::{Error, Model, Task, evaluate, export};
use rosenblatt_data::{View, Visitor};
use rosenblatt_figures::{Subject, report};
use std::ops::Range;
use std::path::PathBuf;

/// A trained model: what the command line writes to a file, and reads from one.
#[pyclass(name = "Model", module = "rosenblatt._rosenblatt", frozen)]
pub(crate) struct PyModel {
    pub(crate) model: Model,
}

impl From<Model> for PyModel {
    fn from(model: Model) -> Self {
        Self { model }
    }
}

/// Rows without classes.
enum Rows<'a> {
    /// Some of those that came, as they came.
    Unseen(&'a Unchecked, Range<usize>),
    /// Those whose indices are in order.
    Seen(View<'a>),
}

impl Rows<'_> {
    /// Shows class and scores of each; false if they must be checked first.
    fn each(self, model: &Model, mut show: impl FnMut(u32, &[f64])) -> Result<bool, Error> {
        match self {
            Self::Unseen(all, rows) => Ok(all.each(model, rows, show)),
            Self::Seen(rows) => {
                model.each_row(rows, |_, class, scores| show(class, scores))?;
                Ok(true)
            }
        }
    }
}

impl PyModel {
    /// All answers about the rows of an array. `answer` is asked again if it says that it wants rows looked at, and what
    /// it had added is forgotten.
    fn of_rows<T: Send>(
        &self,
        given: &Bound<'_, PyAny>,
        mut answer: impl FnMut(&Model, Rows<'_>, &mut Vec<T>) -> Result<bool, Error> + Send,
    ) -> PyResult<Vec<T>> {
        let (rows, model) = (rows::unchecked(given)?, &self.model);
        let n_rows = rows.n_rows();
        rows::check_room(rows.width(), 1)?;
        let is_plain = model.planes().is_some() && model.map().is_none();
        // Coins are thrown row after row, so that all rows must come at once.
        let goes_in_parts = is_plain && model.spec().options().zero != Zero::Random;
        let at_once = rows.rows_at_once().filter(|_| goes_in_parts).unwrap_or(n_rows.max(1));
        alone(given.py(), |signals| {
            let mut all = Vec::with_capacity(n_rows);
            for first in (0..n_rows).step_by(at_once) {
                let end = n_rows.min(first + at_once);
                let n_before = all.len();
                let is_answered = goes_in_parts && answer(model, Rows::Unseen(&rows, first..end), &mut all)?;
                if !is_answered {
                    all.truncate(n_before);
                    let part = rows.part(first..end)?;
                    answer(model, Rows::Seen(part.view()), &mut all).map_err(|error| error.behind(first))?;
                }
                unless_stopped(signals)?;
            }
            Ok(all)
        })
    }
}

pub(crate) fn bytes_of<'py, T: Copy, const N: usize>(
    py: Python<'py>,
    values: &[T],
    bytes: impl Fn(T) -> [u8; N],
) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, values.len() * N, |room| {
        for (place, value) in room.chunks_exact_mut(N).zip(values) {
            place.copy_from_slice(&bytes(*value));
        }
        Ok(())
    })
}

pub(crate) fn numbers<'py>(py: Python<'py>, values: &[f64]) -> PyResult<Bound<'py, PyBytes>> {
    bytes_of(py, values, f64::to_ne_bytes)
}

/// Numbers of classes, as wide as `NumPy` wants places to be.
fn places<'py>(py: Python<'py>, classes: &[u32]) -> PyResult<Bound<'py, PyBytes>> {
    bytes_of(py, classes, |class| (class as usize).to_ne_bytes())
}

/// Adds scores of each class; one for two classes.
fn scores(model: &Model, rows: Rows<'_>, all: &mut Vec<f64>) -> Result<bool, Error> {
    let mut of_row = Vec::new();
    rows.each(model, |_, scores| {
        decision_scores(model, scores, &mut of_row);
        all.extend(&of_row);
    })
}

/// Sizes, weights and biases of layers.
type Layers<'py> = (Vec<usize>, Bound<'py, PyBytes>, Bound<'py, PyBytes>);

#[pymethods]
impl PyModel {
    /// The model in these bytes.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        alone(py, |_| Ok(Model::from_bytes(data)?.into()))
    }

    /// The model in this file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        alone(py, |_| Ok(Model::load(path)?.into()))
    }

    /// The bytes of the model's file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.model.to_bytes())
    }

    /// Writes the model to a file, whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        alone(py, |_| Ok(self.model.save(path)?))
    }

    /// What the classes are called.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.model.labels().names().to_vec()
    }

    /// How many features a row has.
    #[getter]
    fn n_features(&self) -> usize {
        self.model.width()
    }

    /// What the features are called, if they have names.
    #[getter]
    fn feature_names(&self) -> Option<Vec<String>> {
        self.model.feature_names().map(<[String]>::to_vec)
    }

    /// Whether its file says how rows are read; otherwise it learned from rows in memory, as they were.
    #[getter]
    fn has_schema(&self) -> bool {
        self.model.schema().is_some()
    }

    /// Whether it knows how likely each class is.
    #[getter]
    fn is_calibrated(&self) -> bool {
        self.model.has_probabilities()
    }

    /// How far from its prediction the number of a new row lies with this probability, at most.
    fn reach(&self, share: f64) -> PyResult<f64> {
        Ok(self.model.reach(share).map_err(Failure::from)?)
    }

    /// How many epochs it took.
    #[getter]
    fn n_epochs(&self) -> u64 {
        self.model.training_summary().totals.epochs
    }

    /// What the model is, as JSON.
    fn summary(&self, most: usize) -> Outcome<String> {
        Ok(serde_json::to_string(&self.model.describe(most))?)
    }

    /// What it is asked for: `classes` of rows, or `tags` of sentences.
    #[getter]
    fn task(&self) -> Outcome<String> {
        Ok(serde_json::from_value(serde_json::to_value(self.model.task())?)?)
    }

    /// What a model of tags says of sentences in memory: `tags`, `agreement` with these labels, or `reasons`.
    #[pyo3(signature = (what, sentences, labels=None, most=0))]
    fn answer<'py>(
        &self,
        py: Python<'py>,
        what: &str,
        sentences: &Bound<'py, PyAny>,
        labels: Option<&Bound<'py, PyAny>>,
        most: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let given = take_in(sentences, labels, Some(tagger::tokens(&self.model)?))?;
        let lengths = given.lengths;
        tagger::answer(py, &self.model, (what, most), Some(&lengths), || Ok(given.made.stream()))
    }

    /// The same of files, or of the bytes of one; `text` is the sentences as the command line writes them.
    #[pyo3(signature = (what, source, format=None, name=None, most=0))]
    fn answer_source<'py>(
        &self,
        py: Python<'py>,
        what: &str,
        source: Given,
        format: Option<&str>,
        name: Option<&str>,
        most: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        tagger::answer(py, &self.model, (what, most), None, || tagger::open(source, format, name))
    }

    /// Every weight of a model of tags that is not zero: its attribute, or the label before, and its label.
    #[expect(clippy::type_complexity, reason = "two lists of the same kind")]
    fn weights(&self) -> Outcome<(Vec<(String, String, f64)>, Vec<(String, String, f64)>)> {
        tagger::weights(&self.model)
    }

    /// The weights and biases of its hyperplanes, one after the other; none of votes and kernels.
    fn planes<'py>(&self, py: Python<'py>) -> PyResult<Option<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)>> {
        let Some(planes) = self.model.planes() else { return Ok(None) };
        let weights: Vec<f64> = (0..planes.biases().len()).flat_map(|plane| planes.weights(plane)).collect();
        Ok(Some((numbers(py, &weights)?, numbers(py, planes.biases())?)))
    }

    /// The sizes of the layers of a network, and its weights and biases, layer by layer; none of other models.
    fn network<'py>(&self, py: Python<'py>) -> PyResult<Option<Layers<'py>>> {
        let Some(network) = self.model.network() else { return Ok(None) };
        let (weights, biases) = (network.raw_weights(), network.raw_biases());
        Ok(Some((network.sizes(), numbers(py, &weights)?, numbers(py, &biases)?)))
    }

    /// The class of each row, by number.
    fn predict<'py>(&self, py: Python<'py>, rows: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        self.model.check_task(Task::Classes).map_err(Failure::from)?;
        let classes =
            self.of_rows(rows, |model, rows, classes| rows.each(model, |class, _| classes.push(class)))?;
        places(py, &classes)
    }

    /// The scores of each row: one for two classes, else one per class.
    fn decision_function<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        numbers(py, &self.of_rows(rows, scores)?)
    }

    /// The probability of each class of each row.
    fn predict_proba<'py>(&self, py: Python<'py>, rows: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let all = self.of_rows(rows, |model, rows, all| {
            let Rows::Seen(rows) = rows else { return Ok(false) };
            check_finite(rows)?;
            all.extend(model.predict_proba_view(rows)?);
            Ok(true)
        })?;
        numbers(py, &all)
    }

    /// The same of files, or of a table in the bytes of one: `what` is `classes`, `scores` or `probabilities`.
    #[pyo3(signature = (source, what, name=None))]
    fn predict_source<'py>(
        &self,
        py: Python<'py>,
        source: Given,
        what: &str,
        name: Option<&str>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let source = source.open(name)?;
        let model = &self.model;
        let (mut classes, mut all) = (Vec::new(), Vec::new());
        let mut answer = |rows: View<'_>| -> Outcome<()> {
            match what {
                "classes" => classes.extend(model.predict_view(rows)?),
                "scores" => drop(scores(model, Rows::Seen(rows), &mut all)?),
                _ => all.extend(model.predict_proba_view(rows)?),
            }
            Ok(())
        };
        alone(py, |signals| {
            // Coins are thrown row after row, so that all rows must come at once.
            if model.spec().options().zero == Zero::Random {
                let data = load_source(&source, &model.to_predict(ReadOptions::default()))?;
                return answer(data.view());
            }
            let mut rows = model.open(&source)?;
            while let Some(block) = rows.next()? {
                answer(block.view())?;
                unless_stopped(signals)?;
            }
            Ok(())
        })?;
        if what == "classes" { places(py, &classes) } else { numbers(py, &all) }
    }

    /// How good it is on files with labels, as JSON.
    #[pyo3(signature = (source, reading, name=None))]
    fn evaluate_source(
        &self,
        py: Python<'_>,
        source: Given,
        reading: &str,
        name: Option<&str>,
    ) -> PyResult<String> {
        let source = source.open(name)?;
        alone(py, |_| {
            let data = self.labelled(&source, reading)?;
            if !data.is_labelled() {
                let label = self.model.schema().and_then(|schema| schema.label.clone());
                let label = label.unwrap_or_else(|| "label".to_owned());
                return Err(Failure::from(Error::Unlabelled { label }));
            }
            Ok(match self.model.task() {
                Task::Numbers => serde_json::to_string(&self.model.evaluate_numbers(&data)?)?,
                _ => serde_json::to_string(&evaluate(&self.model, &data)?)?,
            })
        })
    }

    /// What spoke for and against the class of each row, as a JSON list.
    #[pyo3(signature = (source, most, name=None))]
    fn explain_source(
        &self,
        py: Python<'_>,
        source: Given,
        most: usize,
        name: Option<&str>,
    ) -> PyResult<String> {
        struct Explain<'m>(&'m Model, usize);
        impl Visitor for Explain<'_> {
            type Output = Result<Vec<serde_json::Value>, serde_json::Error>;
            fn visit<E: rosenblatt::learning::Examples>(self, examples: E) -> Self::Output {
                let Self(model, most) = self;
                let mut explainer = Explainer::new(model);
                let mut predictor = model.predictor(examples.width());
                let each = (0..examples.len()).map(|row| {
                    let class = predictor.predict(examples.row(row));
                    let mut reasons =
                        serde_json::to_value(explainer.explain(examples.row(row), class, most).named(model))?;
                    match model.task() {
                        Task::Numbers => reasons["prediction"] = predictor.scores()[0].into(),
                        _ => reasons["class"] = model.labels().name(class).into(),
                    }
                    Ok(reasons)
                });
                each.collect()
            }
        }
        let source = source.open(name)?;
        alone(py, |signals| {
            // After a map no feature has a weight of its own, and so it is with most kernels.
            if self.model.map().is_some()
                || self.model.planes().is_none() && top_features(&self.model, 0, 1).is_empty()
            {
                return Err(Failure::from(rosenblatt::Error::NotLinear));
            }
            let (mut rows, mut reasons) = (self.model.open(&source)?, Vec::new());
            while let Some(block) = rows.next()? {
                reasons.extend(block.view().visit(Explain(&self.model, most))?);
                unless_stopped(signals)?;
            }
            Ok(serde_json::to_string(&reasons)?)
        })
    }

    /// The model in a format of other programs.
    fn export<'py>(&self, py: Python<'py>, format: &str) -> PyResult<Bound<'py, PyBytes>> {
        let written = alone(py, |_| {
            let format: Export =
                format.parse().map_err(|error| Failure::from(rosenblatt::Error::Name(error)))?;
            Ok(export(&self.model, format)?)
        })?;
        Ok(PyBytes::new(py, &written))
    }

    /// A picture of the model and rows.
    #[pyo3(signature = (kind, settings, source, reading, name=None))]
    fn plot(
        &self,
        py: Python<'_>,
        kind: &str,
        settings: Vec<(String, String)>,
        source: Given,
        reading: &str,
        name: Option<&str>,
    ) -> PyResult<Drawing> {
        let source = source.open(name)?;
        alone(py, |_| {
            let data = self.labelled(&source, reading)?;
            let subject = Subject::of_model(source.name(), data, self.model.clone());
            drawn(kind, &chosen(settings), &subject)
        })
    }

    /// The report on the model and rows, as a page of HTML.
    #[pyo3(signature = (source, reading, name=None))]
    fn report(&self, py: Python<'_>, source: Given, reading: &str, name: Option<&str>) -> PyResult<String> {
        let source = source.open(name)?;
        alone(py, |_| {
            let data = self.labelled(&source, reading)?;
            Ok(report("model", &self.model, &source.name(), data)?)
        })
    }
}

impl PyModel {
    /// Rows with their classes, read as the model wants them.
    fn labelled(&self, source: &Source, reading: &str) -> Outcome<Dataset> {
        let reading: ReadOptions = serde_json::from_str(reading)?;
        Ok(load_source(source, &self.model.to_evaluate(reading))?)
    }
}

/// Files by their names, the bytes of one, or a table that another package holds.
#[derive(FromPyObject)]
pub(crate) enum Given {
    Bytes(Vec<u8>),
    Files(Vec<PathBuf>),
    Table(Py<PyAny>),
}

impl Given {
    pub(crate) fn open(self, name: Option<&str>) -> Outcome<Source> {
        let name = name.unwrap_or("table");
        Ok(match self {
            Self::Bytes(bytes) => Source::bytes(name, bytes),
            Self::Files(files) => Source::find_all(files)?,
            Self::Table(table) => Source::table(name, Python::attach(|py| arrow::table(table.bind(py)))?),
        })
    }
}
