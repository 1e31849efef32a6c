//! What failed, in the words of R.

use extendr_api::prelude::*;
use rosenblatt::Error;
use rosenblatt::model::{FormatError, StoreError};
use rosenblatt_data::{DataError, Remedy};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A message for R, or the wish to stop.
pub(crate) enum Failure {
    Message(String),
    Interrupted,
}

/// Does `work`. What fails, or breaks, is a list with `error`; never the end of R.
pub(crate) fn guarded(work: impl FnOnce() -> std::result::Result<Robj, Failure>) -> Robj {
    let failure = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(value)) => return list!(value = value).into(),
        Ok(Err(failure)) => failure,
        Err(cause) => {
            let words = cause.downcast_ref::<String>().map(String::as_str);
            let words = words.or_else(|| cause.downcast_ref::<&str>().copied());
            Failure::Message(format!("the engine broke off: {}", words.unwrap_or("for no reason given")))
        }
    };
    match failure {
        Failure::Message(message) => list!(error = message).into(),
        Failure::Interrupted => list!(interrupt = true).into(),
    }
}

/// Advice as a person would type it in R.
fn worded(remedy: &Remedy) -> String {
    remedy.worded(|option, value| {
        let option = option.replace('-', "_");
        match value {
            Some(value) if value.parse::<f64>().is_ok() => format!("{option} = {value}"),
            Some(value) => format!("{option} = {value:?}"),
            None => option,
        }
    })
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self::Message(message)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Data(error) => error.into(),
            Error::Interrupted { .. } | Error::Stopped => Self::Interrupted,
            error => {
                let help = error.remedy().map_or_else(String::new, |remedy| format!("; {}", worded(&remedy)));
                Self::Message(format!("{error}{help}"))
            }
        }
    }
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        Self::Message(error.report_as(worded))
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Message(error.to_string())
    }
}

impl From<FormatError> for Failure {
    fn from(error: FormatError) -> Self {
        Self::Message(error.to_string())
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::Message(error.to_string())
    }
}
