//! Whether a hyperplane separates rows, with a certificate that you can check.

use crate::error::{Failure, Outcome};
use crate::learn::labelled;
use crate::model::Given;
use crate::product::{Drawing, chosen, drawn, figure_error};
use crate::work::{Signals, alone};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rosenblatt::certify::{Certificate, Polynomial, Question};
use rosenblatt::data::{Dataset, Pictures, Precision, ReadOptions, Source, load_source};
use rosenblatt::separation::{Sides, study, verify};
use rosenblatt_figures::Subject;
use serde::Deserialize;
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// What is asked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Asked {
    positive: Option<String>,
    against: Option<String>,
    bias: bool,
    gap: f64,
    seconds: f64,
    kernel: Option<Polynomial>,
}

/// Rows with their classes: arrays, or files and tables with how they are read.
#[derive(FromPyObject)]
pub(crate) enum Rows<'py> {
    #[pyo3(transparent)]
    Arrays((Bound<'py, PyAny>, Bound<'py, PyAny>, Vec<String>, Option<Vec<String>>)),
    #[pyo3(transparent)]
    Source((Given, String, Option<String>)),
}

/// Rows that may be read without Python's lock.
enum Opened {
    Ready(Dataset),
    Source(Source, Box<ReadOptions>),
}

impl Rows<'_> {
    fn open(self) -> PyResult<Opened> {
        Ok(match self {
            Self::Arrays((rows, classes, names, features)) => {
                Opened::Ready(labelled(crate::rows::rows(&rows)?, &classes, names, None, features)?)
            }
            Self::Source((given, reading, name)) => {
                let reading: ReadOptions = serde_json::from_str(&reading).map_err(Failure::from)?;
                // As they stand, so that what is proved of them is proved of the file.
                let pictures = Pictures { unscaled: true, ..reading.pictures };
                let reading = ReadOptions { precision: Precision::Double, pictures, ..reading };
                Opened::Source(given.open(name.as_deref())?, Box::new(reading))
            }
        })
    }
}

impl Opened {
    fn load(self) -> Outcome<Dataset> {
        match self {
            Self::Ready(data) => Ok(data),
            Self::Source(source, reading) => Ok(load_source(&source, &reading)?),
        }
    }
}

/// Looks for a proof: for each question its findings and its certificate, as JSON.
#[pyfunction]
pub(crate) fn certify(
    py: Python<'_>,
    asked: &str,
    rows: Rows<'_>,
) -> PyResult<Vec<(String, Option<String>)>> {
    let asked: Asked = serde_json::from_str(asked).map_err(Failure::from)?;
    let seconds = Duration::try_from_secs_f64(asked.seconds);
    let limit = seconds.map_err(|_| PyValueError::new_err("seconds should be positive"))?;
    if !(asked.gap > 0.0 && asked.gap < 1.0) {
        return Err(PyValueError::new_err(format!(
            "gap should be above 0 and below 1, but is {}",
            asked.gap
        )));
    }
    let opened = rows.open()?;
    alone(py, |signals| {
        let data = opened.load()?;
        let signals: RefCell<&mut Signals> = RefCell::new(signals);
        let question = Question { bias: asked.bias, gap: asked.gap };
        let mut studies = Vec::new();
        for sides in Sides::chosen(&data, asked.positive.as_deref(), asked.against.as_deref())? {
            let start = Instant::now();
            let watch = |_: rosenblatt::certify::Progress<'_>| {
                let is_over = start.elapsed() > limit || signals.borrow_mut().stop();
                if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let study = study(&data, sides, question, asked.kernel, &watch)?;
            let certificate = study.certificate.as_ref().map(serde_json::to_string).transpose()?;
            studies.push((serde_json::to_string(&study.summary(&data))?, certificate));
        }
        Ok(studies)
    })
}

/// Checks a certificate against the rows it is about.
#[pyfunction]
pub(crate) fn check_certificate(py: Python<'_>, certificate: &str, rows: Rows<'_>) -> PyResult<()> {
    let opened = rows.open()?;
    alone(py, |_| {
        verify(&parsed(certificate)?, &opened.load()?)?;
        Ok(())
    })
}

/// A picture of a certificate and the rows it is about.
#[pyfunction]
pub(crate) fn plot_certificate(
    py: Python<'_>,
    certificate: &str,
    rows: Rows<'_>,
    settings: Vec<(String, String)>,
) -> PyResult<Drawing> {
    let opened = rows.open()?;
    alone(py, |_| {
        let subject = Subject::of_certificate("certificate", opened.load()?, &parsed(certificate)?);
        drawn("boundary", &chosen(settings), &subject.map_err(figure_error)?)
    })
}

fn parsed(certificate: &str) -> Outcome<Certificate> {
    let wrong = |error| PyValueError::new_err(format!("not a certificate: {error}"));
    Ok(serde_json::from_str(certificate).map_err(wrong)?)
}
