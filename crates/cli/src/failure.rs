//! Why a command did not do what it was asked: one sentence, a cure where one is known, an exit code.

use crate::signals;
use rosenblatt::{Error, StoreError};
use rosenblatt_data::{DataError, ErrorKind};
use std::io;
use std::process::ExitCode;

/// A command that failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The words made no sense: exit 2.
    Usage(String),
    /// The data, the model or the machine said no: exit 1.
    Work(String),
    /// A signal said stop: exit 128 and the signal. What was done about it is no error.
    Stopped(i32, String),
    /// Whoever read our output has gone, which is their right: exit 0, no word.
    NobodyListens,
}

const NAME_CLASSES: &str =
    "name all classes beforehand with --classes a,b,c, or read from a file, which is looked through first";

impl Failure {
    /// What the engine complains about, and what to type instead.
    pub(crate) fn words(error: &Error) -> String {
        let help = match error {
            Error::WhichLabel { .. } => "name it with --label",
            Error::NotALabel { .. } => "name the label column with --label, and a column of text with --text",
            Error::OneClassSoFar { .. } => NAME_CLASSES,
            Error::NeedsMemory { .. } => "raise --memory, or leave it out",
            Error::MemoryLimit { calibrating: true, .. } => {
                "raise --memory, leave probabilities out with --calibrate none, or learn in one epoch with --online"
            }
            Error::MemoryLimit { .. } => "raise --memory, or learn in one epoch with --online",
            Error::Range { name: "calibration", .. } => {
                "hold rows out with --holdout, or try --k-fold 5, which learns from all rows"
            }
            Error::Range { expected, .. } if expected.contains("where rows do not stay in memory") => {
                "raise --memory so that the rows fit, or leave the choice out"
            }
            _ => return error.to_string(),
        };
        format!("{error}\nhelp: {help}")
    }

    /// What the shell is told.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) => ExitCode::from(2),
            Self::Work(_) => ExitCode::FAILURE,
            Self::Stopped(signal, _) => {
                u8::try_from(signals::code(*signal)).map_or(ExitCode::FAILURE, ExitCode::from)
            }
            Self::NobodyListens => ExitCode::SUCCESS,
        }
    }
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        let cause = std::error::Error::source(&error).and_then(|cause| cause.downcast_ref::<io::Error>());
        if cause.is_some_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe) {
            return Self::NobodyListens;
        }
        // The report carries its own help and draws the line it complains about.
        Self::Work(error.report())
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Work(error.to_string())
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Data(error) if error.kind() == ErrorKind::LateClass => {
                Self::Work(error.with_help(NAME_CLASSES).report())
            }
            Error::Data(error) => error.into(),
            error => Self::Work(Self::words(&error)),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::NobodyListens,
            _ => Self::Work(format!("writing the result: {error}")),
        }
    }
}
