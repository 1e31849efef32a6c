//! Learning from arrays: a whole data set at once, or piece by piece.

use crate::error::{Failure, Outcome};
use crate::model::PyModel;
use crate::rows;
use crate::work::{Watching, alone};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rosenblatt::algorithms;
use rosenblatt::data::{Dataset, Labels, Lender};
use rosenblatt::learning::Hyperplanes;
use rosenblatt::model::Checkpoint;
use rosenblatt::{Error, Online, Options, Recipe, Spec, Task, Training};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Rows with their classes, whose numbers are the places of their names.
pub(crate) fn labelled(
    lender: Arc<dyn Lender>,
    classes: &Bound<'_, PyAny>,
    names: Vec<String>,
    weights: Option<&Bound<'_, PyAny>>,
    features: Option<Vec<String>>,
) -> PyResult<Dataset> {
    let n_rows = lender.lend().n_rows();
    rows::check_room(lender.lend().width(), names.len())?;
    let classes = classes_of(classes, n_rows, &names)?;
    let mut data = Dataset::of_lender(lender, classes, Labels::in_order(names));
    if let Some(weights) = weights {
        data = data.with_weights(weights_of(weights, n_rows)?);
    }
    if let Some(features) = features {
        if features.len() != data.width() {
            return Err(PyValueError::new_err("there are not as many names as features"));
        }
        data = data.with_feature_names(features);
    }
    Ok(data)
}

/// The classes of rows, which are numbers into `names`.
pub(crate) fn classes_of(classes: &Bound<'_, PyAny>, n_rows: usize, names: &[String]) -> PyResult<Vec<u32>> {
    let classes: Vec<u32> = rows::column(classes, n_rows)?;
    if classes.iter().any(|&class| class as usize >= names.len()) {
        return Err(PyValueError::new_err("a row has a class without a name"));
    }
    Ok(classes)
}

/// The weights of rows.
pub(crate) fn weights_of(weights: &Bound<'_, PyAny>, n_rows: usize) -> PyResult<Vec<f64>> {
    let weights: Vec<f64> = rows::column(weights, n_rows)?;
    match weights.iter().find(|weight| !(weight.is_finite() && **weight >= 0.0)) {
        Some(wrong) => {
            Err(PyValueError::new_err(format!("weights should be zero or positive, but one is {wrong}")))
        }
        None => Ok(weights),
    }
}

/// Hyperplanes to start from, output by output side by side.
fn started((weights, biases): (Vec<f64>, Vec<f64>)) -> PyResult<Hyperplanes> {
    if biases.is_empty() || !weights.len().is_multiple_of(biases.len()) {
        return Err(PyValueError::new_err("a start should have as many weights for every bias"));
    }
    Ok(Hyperplanes::from_parts(weights, biases))
}

pub(crate) fn spec(options: &str) -> Outcome<Spec> {
    Ok(Spec::new(serde_json::from_str::<Options>(options)?)?)
}

/// Trains on rows in memory, as they are.
#[pyfunction]
#[pyo3(signature = (options, rows, classes, names, weights=None, features=None, merge=false, start=None, each=None, base=None, numbers=false))]
#[expect(clippy::too_many_arguments, reason = "Python gives them by name")]
pub(crate) fn fit(
    py: Python<'_>,
    options: &str,
    rows: &Bound<'_, PyAny>,
    classes: &Bound<'_, PyAny>,
    names: Vec<String>,
    weights: Option<&Bound<'_, PyAny>>,
    features: Option<Vec<String>>,
    merge: bool,
    start: Option<(Vec<f64>, Vec<f64>)>,
    each: Option<Py<PyAny>>,
    base: Option<&Bound<'_, PyModel>>,
    numbers: bool,
) -> PyResult<PyModel> {
    let spec = spec(options)?;
    let wants = if numbers { Task::Numbers } else { Task::Classes };
    if spec.task() != wants {
        return Err(Failure::from(Error::OtherTask { has: spec.task(), wants }).into());
    }
    let data = labelled(rows::looked_at(rows)?, classes, names, weights, features)?;
    let start = start.map(started).transpose()?;
    let network = base.and_then(|base| base.get().model.network().cloned());
    alone(py, |signals| {
        let data = if merge { data.merged() } else { data };
        let mut training = Training::new(&spec, &data);
        if let Some(network) = network {
            training = training.start(network);
        }
        if let Some(start) = start {
            training = training.start(start);
        }
        Ok(training.run_for(&mut Watching { signals, stages: None, epochs: each, figures: false })?.into())
    })
}

/// Trains on rows in memory by a recipe: with probabilities, or after a race.
#[pyfunction]
#[pyo3(signature = (recipe, rows, classes, names, weights=None, features=None, merge=false, each=None))]
#[expect(clippy::too_many_arguments, reason = "Python gives them by name")]
pub(crate) fn fit_by_recipe(
    py: Python<'_>,
    recipe: &str,
    rows: &Bound<'_, PyAny>,
    classes: &Bound<'_, PyAny>,
    names: Vec<String>,
    weights: Option<&Bound<'_, PyAny>>,
    features: Option<Vec<String>>,
    merge: bool,
    each: Option<Py<PyAny>>,
) -> PyResult<PyModel> {
    let data = labelled(rows::looked_at(rows)?, classes, names, weights, features)?;
    alone(py, |signals| {
        let data = if merge { data.merged() } else { data };
        let recipe: Recipe = serde_json::from_str(recipe)?;
        let trained =
            recipe.train_rows(data, &mut Watching { signals, stages: None, epochs: each, figures: false })?;
        Ok(trained.model.into())
    })
}

fn online_spec(options: &str) -> Outcome<Spec> {
    let learning = serde_json::from_str(options)?;
    Ok(Recipe { learning, ..Recipe::default() }.online_spec()?)
}

/// Whether what is described can be learned piece by piece. Other mistakes show when you try it.
#[pyfunction]
pub(crate) fn learns_online(options: &str) -> bool {
    let two = ["a", "b"];
    spec(options).is_err() || online_spec(options).is_ok_and(|spec| Online::new(spec, two).is_ok())
}

/// Whether a rule picks its own rows, the worst ones.
#[pyfunction]
pub(crate) fn picks_worst(algorithm: &str) -> bool {
    algorithms::find(algorithm).is_ok_and(|entry| entry.info.picks_worst)
}

/// A learner that is shown rows whenever there are some.
#[pyclass(module = "rosenblatt._rosenblatt", frozen)]
pub(crate) struct Learner {
    online: Mutex<Online>,
}

#[pymethods]
impl Learner {
    #[new]
    #[pyo3(signature = (options, names, features=None, checkpoint=None, start=None))]
    fn new(
        options: &str,
        names: Vec<String>,
        features: Option<Vec<String>>,
        checkpoint: Option<&[u8]>,
        start: Option<(Vec<f64>, Vec<f64>)>,
    ) -> Outcome<Self> {
        let start = start.map(started).transpose()?;
        let online = Online::started(online_spec(options)?, Labels::in_order(names), start)?;
        let mut online = online.keeping_track();
        if let Some(features) = features {
            online = online.with_feature_names(features);
        }
        if let Some(checkpoint) = checkpoint {
            online = online.go_on(Checkpoint::from_bytes(checkpoint)?)?;
        }
        Ok(Self { online: Mutex::new(online) })
    }

    /// All that is needed to go on elsewhere.
    fn checkpoint<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.lock().checkpoint().map(|bytes| PyBytes::new(py, &bytes))
    }

    /// Learns from each row once, in their order.
    #[pyo3(signature = (rows, classes, names, weights=None, features=None))]
    fn learn(
        &self,
        py: Python<'_>,
        rows: &Bound<'_, PyAny>,
        classes: &Bound<'_, PyAny>,
        names: Vec<String>,
        weights: Option<&Bound<'_, PyAny>>,
        features: Option<Vec<String>>,
    ) -> PyResult<()> {
        let data = labelled(rows::rows(rows)?, classes, names, weights, features)?;
        alone(py, |_| Ok(self.lock().partial_train(&data)?))
    }

    /// Goes on with these classes, those known so far among them.
    fn take_in(&self, py: Python<'_>, names: Vec<String>) -> PyResult<()> {
        alone(py, |_| Ok(self.lock().take_in(names)?))
    }

    /// What has been learned so far.
    fn model(&self) -> Outcome<PyModel> {
        Ok(self.lock().model()?.into())
    }
}

impl Learner {
    fn lock(&self) -> MutexGuard<'_, Online> {
        self.online.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
