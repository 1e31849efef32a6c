//! Learning in several places at once: what a driver holds, and what each place does for an epoch.

#![expect(clippy::needless_pass_by_value, reason = "Python hands values over, not references")]

use crate::error::Outcome;
use crate::learn::{labelled, spec};
use crate::model::PyModel;
use crate::work::{Signals, alone};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyIterator};
use rosenblatt::data::Labels;
use rosenblatt::mix::{self, Mixture};
use rosenblatt::{Error, Mixing, Model};
use std::sync::{Mutex, MutexGuard, PoisonError};

fn mixing(name: &str) -> PyResult<Mixing> {
    name.parse().map_err(|error: rosenblatt::core::NameError| PyValueError::new_err(error.to_string()))
}

/// Where a training in several places stands.
#[pyclass(name = "Mixture", module = "rosenblatt._rosenblatt", frozen)]
pub(crate) struct PyMixture {
    mixture: Mutex<Mixture>,
}

impl PyMixture {
    fn lock(&self) -> MutexGuard<'_, Mixture> {
        self.mixture.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl PyMixture {
    #[new]
    #[pyo3(signature = (options, names, counts, width, n_shards, mixing="uniform", fingerprint=None, checkpoint=None))]
    #[expect(clippy::too_many_arguments, reason = "Python gives them by name")]
    fn new(
        options: &str,
        names: Vec<String>,
        counts: Vec<u64>,
        width: usize,
        n_shards: u64,
        mixing: &str,
        fingerprint: Option<String>,
        checkpoint: Option<&[u8]>,
    ) -> PyResult<Self> {
        if names.len() != counts.len() {
            return Err(PyValueError::new_err("there are not as many counts as classes"));
        }
        let (spec, mixing) = (spec(options)?, self::mixing(mixing)?);
        let build = || -> Outcome<Mixture> {
            let labels = Labels::in_order(names);
            let mixture =
                Mixture::new(spec, labels, &counts, width, n_shards, mixing)?.with_fingerprint(fingerprint);
            Ok(match checkpoint {
                Some(checkpoint) => mixture.resume(checkpoint)?,
                None => mixture,
            })
        };
        Ok(Self { mixture: Mutex::new(build()?) })
    }

    /// What every place needs to start its next epoch.
    fn start<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.lock().start())
    }

    /// All that is needed to go on elsewhere.
    fn checkpoint<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.lock().checkpoint())
    }

    /// Mixes what all places hand back after an epoch, in their order. Returns its number, rounds, mistakes, updates,
    /// errors, and the mistakes of each place times its part in the mean.
    fn take(&self, py: Python<'_>, shares: Vec<PyBackedBytes>) -> PyResult<(u64, u64, u64, u64, u64, f64)> {
        alone(py, |_| {
            let epoch = self.lock().take(&shares)?;
            let totals = epoch.totals;
            let (rounds, mistakes, updates, errors) =
                (totals.rounds, totals.mistakes, totals.updates, totals.errors);
            Ok((epoch.number, rounds, mistakes, updates, errors, epoch.weighted_mistakes))
        })
    }

    /// Takes note of what the validation set says of the last epoch.
    fn judged(&self, py: Python<'_>, errors: u64, rows: usize) -> PyResult<()> {
        alone(py, |_| Ok(self.lock().judged(errors, rows)?))
    }

    /// Whether nothing is left to do.
    #[getter]
    fn is_over(&self) -> bool {
        self.lock().is_over()
    }

    /// How many epochs were made.
    #[getter]
    fn n_epochs(&self) -> u64 {
        self.lock().totals().epochs
    }

    /// The model as it stands, whatever a validation set said.
    fn model_so_far(&self) -> Outcome<PyModel> {
        Ok(self.lock().model_so_far()?.into())
    }

    /// The model: of the best epoch, if there was a validation set.
    fn model(&self) -> Outcome<PyModel> {
        Ok(self.lock().model()?.into())
    }
}

/// Packs of rows and of a validation set, counts by class, rows of the validation set, and a fingerprint.
type Packs<'py> = (Vec<Bound<'py, PyBytes>>, Vec<Bound<'py, PyBytes>>, Vec<u64>, usize, String);

/// Packs the rows of one place.
#[pyfunction]
#[pyo3(signature = (options, rows, classes, names, weights, shard, n_shards))]
#[expect(clippy::too_many_arguments, reason = "Python gives them by name")]
pub(crate) fn pack_rows<'py>(
    py: Python<'py>,
    options: &str,
    rows: &Bound<'py, PyAny>,
    classes: &Bound<'py, PyAny>,
    names: Vec<String>,
    weights: Option<&Bound<'py, PyAny>>,
    shard: u64,
    n_shards: u64,
) -> PyResult<Packs<'py>> {
    let spec = spec(options)?;
    let data = labelled(rows, classes, names, weights, None)?;
    let packed = alone(py, |_| Ok(mix::pack(&spec, &data, shard, n_shards)?))?;
    let bytes = |packs: Vec<Vec<u8>>| packs.iter().map(|pack| PyBytes::new(py, pack)).collect();
    Ok((
        bytes(packed.train),
        bytes(packed.validation),
        packed.counts,
        packed.n_validation,
        packed.fingerprint,
    ))
}

/// What Python's iterator gives, one by one. What it raises is what Python shall see.
struct Packed<'a> {
    packs: Py<PyIterator>,
    signals: &'a mut Signals,
}

impl Iterator for Packed<'_> {
    type Item = Result<PyBackedBytes, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = Python::attach(|py| {
            let pack = self.packs.bind(py).clone().next()?;
            Some(pack.and_then(|pack| Ok(pack.extract::<PyBackedBytes>()?)))
        });
        next.map(|pack| {
            pack.map_err(|raised| {
                self.signals.raise(raised);
                Error::Stopped
            })
        })
    }
}

/// One epoch of one place over its packs, from where the mixture stands: what it hands back.
#[pyfunction]
pub(crate) fn shard_epoch<'py>(
    py: Python<'py>,
    start: PyBackedBytes,
    shard: u64,
    packs: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyBytes>> {
    let packs = packs.try_iter()?.unbind();
    let share = alone(py, |signals| Ok(mix::epoch(&start, shard, Packed { packs, signals })?))?;
    Ok(PyBytes::new(py, &share))
}

/// The sum of what several places hand back, in their order.
#[pyfunction]
pub(crate) fn add_shares(py: Python<'_>, shares: Vec<PyBackedBytes>) -> PyResult<Bound<'_, PyBytes>> {
    let sum = alone(py, |_| Ok(mix::add(&shares)?))?;
    Ok(PyBytes::new(py, &sum))
}

/// How many of the packed rows a model names wrongly, and how many there are.
#[pyfunction]
pub(crate) fn count_errors(
    py: Python<'_>,
    model: &Bound<'_, PyModel>,
    packs: &Bound<'_, PyAny>,
) -> PyResult<(u64, usize)> {
    let (model, packs) = (&model.get().model, packs.try_iter()?.unbind());
    alone(py, |signals| Ok(mix::count_errors(model, Packed { packs, signals })?))
}

/// The mean of models.
#[pyfunction(name = "mix")]
pub(crate) fn mix_models(py: Python<'_>, models: Vec<PyRef<'_, PyModel>>, by: &str) -> PyResult<PyModel> {
    let models: Vec<Model> = models.iter().map(|model| model.model.clone()).collect();
    let by = mixing(by)?;
    alone(py, |_| Ok(rosenblatt::mix(&models, by)?.into()))
}
