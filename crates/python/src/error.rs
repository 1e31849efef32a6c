//! The engine's errors in Python's words.

use pyo3::PyErr;
use pyo3::exceptions::{PyFileNotFoundError, PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError};
use rosenblatt::Error;
use rosenblatt::model::{FormatError, StoreError};
use rosenblatt_data::{DataError, ErrorKind, Remedy};
use std::any::Any;
use std::io;

/// An error on its way to Python.
pub(crate) struct Failure(PyErr);

pub(crate) type Outcome<T> = Result<T, Failure>;

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        failure.0
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self(error)
    }
}

/// Advice as a person would type it in Python.
fn worded(remedy: &Remedy) -> String {
    remedy.worded(|option, value| {
        let option = option.replace('-', "_");
        match value {
            Some(value) if value.parse::<f64>().is_ok() => format!("{option}={value}"),
            Some(value) => format!("{option}={value:?}"),
            None => option,
        }
    })
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Data(error) => error.into(),
            Error::Interrupted { .. } | Error::Stopped => Self(PyKeyboardInterrupt::new_err(())),
            error => {
                let help = error.remedy().map_or_else(String::new, |remedy| format!("; {}", worded(&remedy)));
                Self(PyValueError::new_err(format!("{error}{help}")))
            }
        }
    }
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        let cause = std::error::Error::source(&error).and_then(|cause| cause.downcast_ref::<io::Error>());
        let words = error.report_as(worded);
        Self(match (error.kind(), cause.map(io::Error::kind)) {
            (ErrorKind::Io, None | Some(io::ErrorKind::NotFound)) => PyFileNotFoundError::new_err(words),
            (ErrorKind::Io, Some(_)) => PyOSError::new_err(words),
            _ => PyValueError::new_err(words),
        })
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self(PyOSError::new_err(error.to_string()))
    }
}

impl From<FormatError> for Failure {
    fn from(error: FormatError) -> Self {
        Self(PyValueError::new_err(error.to_string()))
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self(PyValueError::new_err(error.to_string()))
    }
}

/// What broke in the engine, which should not happen: arrays that change while they are read can do it.
pub(crate) fn broken(cause: &(dyn Any + Send)) -> PyErr {
    let words = cause.downcast_ref::<String>().map(String::as_str);
    let words = words.or_else(|| cause.downcast_ref::<&str>().copied()).unwrap_or("for no reason given");
    PyRuntimeError::new_err(format!("the engine broke off: {words}; did an array change while it was read?"))
}
