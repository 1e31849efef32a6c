//! Learning in several places at once: what a driver holds, and what each place does for an epoch.

#![expect(clippy::needless_pass_by_value, reason = "Python hands values over, not references")]

use crate::error::Outcome;
use crate::learn::{classes_of, labelled, spec, weights_of};
use crate::model::{Given, PyModel, bytes_of};
use crate::work::{Signals, alone};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyIterator};
use rosenblatt::calibration::Method;
use rosenblatt::data::{Dataset, Labels, MatrixRef, ReadOptions, Schema, load_with_schema};
use rosenblatt::learning::NameError;
use rosenblatt::mix::{self, Mixing, Mixture, Packing};
use rosenblatt::rows::check_finite;
use rosenblatt::{Error, Model, Spec};
use rosenblatt_data::{DataError, Lender, Packs};
use std::borrow::Cow;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What has this name.
fn named<T: FromStr<Err = NameError>>(name: &str) -> PyResult<T> {
    name.parse().map_err(|error: NameError| PyValueError::new_err(error.to_string()))
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
        let (spec, mixing) = (spec(options)?, named::<Mixing>(mixing)?);
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

    /// The model as it stands, whatever the validation set showed.
    fn model_so_far(&self) -> Outcome<PyModel> {
        Ok(self.lock().model_so_far()?.into())
    }

    /// The model: of the best epoch, if there was a validation set. It reads rows by this schema, if there is one.
    #[pyo3(signature = (schema=None))]
    fn model(&self, schema: Option<&str>) -> Outcome<PyModel> {
        let model = self.lock().model()?;
        let Some(schema) = schema else { return Ok(model.into()) };
        let schema: Schema = serde_json::from_str(schema)?;
        schema.check()?;
        Ok(model.with_schema(schema.into()).into())
    }
}

/// Packs of rows and of a validation set, counts by class, rows of the validation set, and a fingerprint.
type PackedRows<'py> = (Vec<Bound<'py, PyBytes>>, Vec<Bound<'py, PyBytes>>, Vec<u64>, usize, String);

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
) -> PyResult<PackedRows<'py>> {
    let spec = spec(options)?;
    let data = labelled(crate::rows::looked_at(rows)?, classes, names, weights, None)?;
    let packed = alone(py, |_| Ok(mix::pack(&spec, &data, shard, n_shards)?))?;
    // Each is let go as soon as Python has it.
    let bytes = |packs: Vec<Vec<u8>>| packs.into_iter().map(|pack| PyBytes::new(py, &pack)).collect();
    Ok((
        bytes(packed.train),
        bytes(packed.validation),
        packed.counts,
        packed.n_validation,
        packed.fingerprint,
    ))
}

/// Rows of one place that come in batches: each is kept as compactly as it will travel, so that the place needs no more
/// memory than its packs do.
#[pyclass(module = "rosenblatt._rosenblatt", frozen)]
pub(crate) struct Packer {
    spec: Spec,
    /// The rows so far, and how many there are.
    batches: Mutex<(Packs, usize)>,
}

/// Rows whose classes are not theirs.
#[derive(Debug)]
struct Whole(Dataset);

impl Lender for Whole {
    fn lend(&self) -> MatrixRef<'_> {
        self.0.matrix()
    }
}

#[pymethods]
impl Packer {
    #[new]
    fn new(options: &str) -> PyResult<Self> {
        Ok(Self { spec: spec(options)?, batches: Mutex::default() })
    }

    /// Appends rows. Their classes come at the end.
    fn add(&self, py: Python<'_>, rows: &Bound<'_, PyAny>) -> PyResult<()> {
        let lender = crate::rows::rows(rows)?;
        alone(py, |_| {
            let mut batches = self.batches.lock().unwrap_or_else(PoisonError::into_inner);
            let (packs, n_before) = &mut *batches;
            let n_rows = lender.lend().n_rows();
            let data = Dataset::of_lender(lender, vec![0; n_rows], Labels::in_order(["?"]));
            check_finite(data.view()).map_err(|error| error.behind(*n_before))?;
            let all: Vec<u32> = (0..n_rows as u32).collect();
            packs.push(&data, &all)?;
            *n_before += n_rows;
            Ok(())
        })
    }

    /// All rows, with their classes: packs, which are made one by one.
    #[pyo3(signature = (classes, names, weights, shard, n_shards))]
    fn finish(
        &self,
        py: Python<'_>,
        classes: &Bound<'_, PyAny>,
        names: Vec<String>,
        weights: Option<&Bound<'_, PyAny>>,
        shard: u64,
        n_shards: u64,
    ) -> PyResult<PyPacking> {
        let (mut packs, n_rows) =
            std::mem::take(&mut *self.batches.lock().unwrap_or_else(PoisonError::into_inner));
        let classes = classes_of(classes, n_rows, &names)?;
        let weights = weights.map(|weights| weights_of(weights, n_rows)).transpose()?;
        let (spec, classes, labels) = (&self.spec, Arc::new(classes), Labels::in_order(names));
        let (of_rows, of_labels) = (Arc::clone(&classes), labels.clone());
        let mut n_before = 0;
        let batch = move |rows: Result<Dataset, DataError>| {
            let rows = rows?;
            let part = n_before..n_before + rows.len();
            n_before = part.end;
            let batch =
                Dataset::of_lender(Arc::new(Whole(rows)), of_rows[part.clone()].to_vec(), of_labels.clone());
            Ok(Cow::Owned(match &weights {
                Some(weights) => batch.with_weights(weights[part].to_vec()),
                None => batch,
            }))
        };
        let batches: Batches = Box::new(std::iter::from_fn(move || packs.pop()).map(batch));
        let packing = alone(py, |_| Ok(Packing::new(spec, &classes, &labels, (shard, n_shards), batches)?))?;
        Ok(PyPacking { packing: Mutex::new(packing) })
    }
}

/// Batches of rows that are let go one by one.
type Batches = Box<dyn Iterator<Item = Result<Cow<'static, Dataset>, Error>> + Send>;

/// The packs of one place: an iterator over which part each is of, its number there, and its bytes.
#[pyclass(name = "Packing", module = "rosenblatt._rosenblatt", frozen)]
pub(crate) struct PyPacking {
    packing: Mutex<Packing<'static, Batches>>,
}

impl PyPacking {
    fn lock(&self) -> MutexGuard<'_, Packing<'static, Batches>> {
        self.packing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl PyPacking {
    /// How many rows of each class are learned from.
    #[getter]
    fn counts(&self) -> Vec<u64> {
        self.lock().counts.clone()
    }

    /// How many rows the validation set has.
    #[getter]
    fn n_validation(&self) -> usize {
        self.lock().n_validation()
    }

    /// The fingerprint of all rows, once all packs were taken.
    #[getter]
    fn fingerprint(&self) -> String {
        self.lock().fingerprint()
    }

    /// One epoch of this place, from where the mixture stands, over rows that need not be packed as they are
    /// not used again: what it hands back. It takes all rows, as if their packs had been taken.
    fn epoch<'py>(&self, py: Python<'py>, start: PyBackedBytes, shard: u64) -> PyResult<Bound<'py, PyBytes>> {
        let share = alone(py, |_| Ok(self.lock().epoch(&start, shard)?))?;
        Ok(PyBytes::new(py, &share))
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<(&'static str, usize, Bound<'py, PyBytes>)>> {
        let pack = alone(py, |_| Ok(self.lock().next().transpose()?))?;
        let part = |is_held| if is_held { "validation" } else { "train" };
        Ok(pack.map(|pack| (part(pack.is_held), pack.number, PyBytes::new(py, &pack.bytes))))
    }
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

/// What a model says of the packed rows of one place's validation set, for `with_probabilities`.
#[pyfunction]
pub(crate) fn validation_scores<'py>(
    py: Python<'py>,
    model: &Bound<'py, PyModel>,
    packs: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyBytes>> {
    let (model, packs) = (&model.get().model, packs.try_iter()?.unbind());
    let scores = alone(py, |signals| Ok(mix::scores(model, Packed { packs, signals })?))?;
    Ok(PyBytes::new(py, &scores))
}

/// The same model with probabilities, fitted by `method` to the scores of all validation sets.
#[pyfunction]
pub(crate) fn with_probabilities(
    py: Python<'_>,
    model: &Bound<'_, PyModel>,
    method: &str,
    scores: Vec<PyBackedBytes>,
) -> PyResult<PyModel> {
    let method: Method = named(method)?;
    let model = model.get().model.clone();
    alone(py, |_| Ok(mix::with_probabilities(model, method, &scores)?.into()))
}

/// Offsets, indices and values of sparse rows, how many features they have, and a schema as JSON.
type Read<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>, usize, String);

/// The rows of a table as numbers, read in this way, and what a model must know to read others alike.
#[pyfunction]
pub(crate) fn read_rows<'py>(py: Python<'py>, reading: &str, table: Given) -> PyResult<Read<'py>> {
    let source = table.open(None)?;
    let (data, schema) = alone(py, |_| {
        let reading: ReadOptions = serde_json::from_str(reading)?;
        let (data, schema) = load_with_schema(&source, &reading)?;
        Ok((data, serde_json::to_string(&schema)?))
    })?;
    let MatrixRef::Sparse32(rows) = data.matrix() else {
        return Err(PyValueError::new_err("rows should be text that is hashed"));
    };
    let offsets: Vec<u64> = rows.offsets.iter().map(|&offset| offset as u64).collect();
    Ok((
        bytes_of(py, &offsets, u64::to_ne_bytes)?,
        bytes_of(py, rows.indices, u32::to_ne_bytes)?,
        bytes_of(py, rows.values, f32::to_ne_bytes)?,
        rows.width,
        schema,
    ))
}

/// The mean of models.
#[pyfunction(name = "mix")]
pub(crate) fn mix_models(py: Python<'_>, models: Vec<PyRef<'_, PyModel>>, by: &str) -> PyResult<PyModel> {
    let models: Vec<Model> = models.iter().map(|model| model.model.clone()).collect();
    let by: Mixing = named(by)?;
    alone(py, |_| Ok(rosenblatt::mix::mix(&models, by)?.into()))
}
