//! Why a command did not do what it was asked: one sentence, a cure where one is known, an exit code.

use crate::again::quoted;
use crate::signals;
use rosenblatt::Error;
use rosenblatt::data::files::FileError;
use rosenblatt::model::StoreError;
use rosenblatt_data::{DataError, Remedy};
use std::io;
use std::process::ExitCode;

/// A command that failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The words made no sense: exit 2.
    Usage(String),
    /// The data, the model or the machine does not allow it: exit 1.
    Work(String),
    /// The question stays open, as printed; perhaps with a word about what was not done for it: exit 3.
    Undecided(Option<String>),
    /// A signal stopped it: exit 128 and the signal. What was done about it is no error.
    Stopped(i32, String),
    /// The reader of our output has gone, which is their right: exit 0, no word.
    NobodyListens,
}

impl Failure {
    /// What the engine complains about, and what to type instead.
    pub(crate) fn words(error: &Error) -> String {
        let help = error.remedy().map_or_else(String::new, |remedy| format!("\nhelp: {}", worded(&remedy)));
        format!("{error}{help}")
    }

    /// The exit code for the shell.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) => ExitCode::from(2),
            Self::Work(_) => ExitCode::FAILURE,
            Self::Undecided(_) => ExitCode::from(3),
            Self::Stopped(signal, _) => {
                u8::try_from(signals::code(*signal)).map_or(ExitCode::FAILURE, ExitCode::from)
            }
            Self::NobodyListens => ExitCode::SUCCESS,
        }
    }
}

/// Advice in the words of a shell, fit to be pasted.
pub(crate) fn worded(remedy: &Remedy) -> String {
    remedy.worded(|option, value| match value {
        Some(value) => format!("--{option} {}", quoted(value)),
        None => format!("--{option}"),
    })
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        let cause = std::error::Error::source(&error).and_then(|cause| cause.downcast_ref::<io::Error>());
        if cause.is_some_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe) {
            return Self::NobodyListens;
        }
        // The report carries its own help and draws the line it complains about.
        Self::Work(error.report_as(worded))
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::File(error) => error.into(),
            error => Self::Work(error.to_string()),
        }
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        match &error {
            FileError::Io { source, .. } if source.kind() == io::ErrorKind::BrokenPipe => Self::NobodyListens,
            FileError::Clash { .. } => Self::Usage(error.to_string()),
            _ => Self::Work(error.to_string()),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match (error, signals::asked()) {
            (Error::Data(error), _) => error.into(),
            // The work may hear of a signal and be over before the thread that answers it ends the program.
            (error @ (Error::Stopped | Error::Interrupted { .. }), Some(signal)) => {
                Self::Stopped(signal, Self::words(&error))
            }
            (error, _) => Self::Work(Self::words(&error)),
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
