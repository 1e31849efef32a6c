//! What the command line does, for Python: the recipe, comparisons, certificates, traces, pictures.

use crate::error::{Failure, Outcome};
use crate::model::{Given, PyModel};
use crate::work::{Watching, alone};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rosenblatt::compare::{Candidate, TrialFold};
use rosenblatt::data::{ReadOptions, Schema, load_with_schema};
use rosenblatt::split::Ties;
use rosenblatt::{Options, Recipe, Spec, compare::compare as compare_all, trace::trace as trace_rounds};
use rosenblatt_figures::{Canvas, Look, Settings, Subject, Svg, find};
use serde_json::json;

/// Everything that can be asked for, as JSON.
#[pyfunction]
pub(crate) fn catalogue() -> Outcome<String> {
    Ok(serde_json::to_string(&rosenblatt_figures::catalogue())?)
}

/// The place of the first of these values of settings, a JSON list of group, name and value each, that its setting does
/// not take, and what it should be.
#[pyfunction]
pub(crate) fn first_wrong(given: &str) -> Outcome<Option<(usize, String)>> {
    Ok(rosenblatt::catalogue::first_wrong(&serde_json::from_str::<Vec<_>>(given)?))
}

/// From files, or a table in the bytes of one, to a model and a story: the recipe, as JSON says it. The story is shorter
/// without figures about the rows that were learned from.
#[pyfunction]
#[pyo3(signature = (recipe, source, name=None, stages=None, epochs=None, figures=true))]
pub(crate) fn train(
    py: Python<'_>,
    recipe: &str,
    source: Given,
    name: Option<&str>,
    stages: Option<Py<PyAny>>,
    epochs: Option<Py<PyAny>>,
    figures: bool,
) -> PyResult<(PyModel, String)> {
    let source = source.open(name)?;
    alone(py, |signals| {
        let recipe: Recipe = serde_json::from_str(recipe)?;
        let trained = recipe.train(&source, &mut Watching { signals, stages, epochs, figures })?;
        let estimate = match trained.model.held_numbers() {
            Some(numbers) => json!(numbers.estimate),
            None => json!(trained.estimate.as_ref().map(|estimate| &estimate.evaluation)),
        };
        let story = json!({
            "source": trained.data.source,
            "rows": trained.data.rows,
            "features": trained.data.features,
            "classes": trained.data.classes,
            "scaling": trained.data.scaling.to_string(),
            "notes": trained.notes,
            "training": trained.training,
            "estimate": estimate,
            "race": trained.race,
            "mistake_bound": trained.mistake_bound,
        });
        Ok((trained.model.into(), serde_json::to_string(&story)?))
    })
}

/// Several learners on the same folds, as JSON.
#[pyfunction]
#[pyo3(signature = (candidates, options, reading, source, folds, name=None))]
pub(crate) fn compare(
    py: Python<'_>,
    candidates: &str,
    options: &str,
    reading: &str,
    source: Given,
    folds: usize,
    name: Option<&str>,
) -> PyResult<String> {
    let source = source.open(name)?;
    alone(py, |signals| {
        let options: Options = serde_json::from_str(options)?;
        let reading: ReadOptions = serde_json::from_str(reading)?;
        let candidates = Candidate::list(candidates)?;
        let specs = candidates.iter().map(|one| one.spec(&options)).collect::<Result<Vec<_>, _>>()?;
        let (data, _) = load_with_schema(&source, &reading)?;
        let mut watching = Watching { signals, stages: None, epochs: None, figures: true };
        let compared =
            compare_all(&specs, &data, None, (folds, &Ties::default()), options.seed, &mut watching)?;
        let trials = compared.trials.iter().map(|trial| {
            json!({
                "algorithm": trial.rule(),
                "error": trial.error(),
                "deviation": trial.deviation(),
                "errors": trial.folds.iter().map(TrialFold::error).collect::<Vec<_>>(),
            })
        });
        Ok(serde_json::to_string(&trials.collect::<Vec<_>>())?)
    })
}

/// Every round of a run in a window, as JSON.
#[pyfunction]
#[pyo3(signature = (options, reading, source, first, last, name=None))]
pub(crate) fn trace(
    py: Python<'_>,
    options: &str,
    reading: &str,
    source: Given,
    first: u64,
    last: u64,
    name: Option<&str>,
) -> PyResult<String> {
    let source = source.open(name)?;
    alone(py, |_| {
        let spec = Spec::new(serde_json::from_str(options)?)?;
        let reading: ReadOptions = serde_json::from_str(reading)?;
        let (data, _) = load_with_schema(&source, &reading)?;
        let trace = trace_rounds(&spec, &data, first..=last)?;
        Ok(serde_json::to_string(&trace.records().collect::<Vec<_>>())?)
    })
}

/// A picture of what is learned from files.
#[pyfunction]
#[pyo3(signature = (kind, settings, options, reading, source, name=None))]
pub(crate) fn plot(
    py: Python<'_>,
    kind: &str,
    settings: Vec<(String, String)>,
    options: &str,
    reading: &str,
    source: Given,
    name: Option<&str>,
) -> PyResult<Drawing> {
    let source = source.open(name)?;
    alone(py, |_| {
        let spec = Spec::new(serde_json::from_str(options)?)?;
        let reading: ReadOptions = serde_json::from_str(reading)?;
        let loaded: (_, Schema) = load_with_schema(&source, &reading)?;
        let figure = find(kind).map_err(figure_error)?;
        let settings = chosen(settings);
        let subject = Subject::of_data(figure, &settings, source.name(), loaded, spec);
        drawn(kind, &settings, &subject.map_err(figure_error)?)
    })
}

/// A picture, drawn but not yet written.
#[pyclass(module = "rosenblatt._rosenblatt", frozen)]
pub(crate) struct Drawing {
    picture: rosenblatt_figures::Picture,
}

#[pymethods]
impl Drawing {
    /// As SVG.
    fn svg(&self) -> String {
        self.picture.svg(&Svg::default())
    }

    /// As PNG.
    fn png<'py>(&self, py: Python<'py>, scale: f64) -> PyResult<Bound<'py, PyBytes>> {
        let png = alone(py, |_| Ok(self.picture.png(Look::default(), scale)))?;
        Ok(PyBytes::new(py, &png))
    }
}

/// The picture of a subject.
pub(crate) fn drawn(kind: &str, settings: &Settings, subject: &Subject) -> Outcome<Drawing> {
    let picture = rosenblatt_figures::draw(kind, subject, settings, Canvas::default());
    Ok(Drawing { picture: picture.map_err(figure_error)? })
}

pub(crate) fn chosen(settings: Vec<(String, String)>) -> Settings {
    settings.into_iter().fold(Settings::default(), |all, (name, value)| all.with(&name, &value))
}

#[expect(clippy::needless_pass_by_value, reason = "it is passed to `map_err`")]
pub(crate) fn figure_error(error: rosenblatt_figures::FigureError) -> Failure {
    PyValueError::new_err(error.to_string()).into()
}
