//! Files that are written: whole or not at all, and never over anything that is read.
//!
//! Everything the product writes goes through here: models, checkpoints, predictions, converted rows, caches, reports,
//! pictures, certificates. A file is written to a temporary file beside its target, flushed to the disk, renamed over
//! the target, and the folder is flushed too. A reader, at any moment, sees the old file or the new one. A flush that
//! fails is a failure and is never tried again: the old file stays. What is no plain file (a device, a pipe, standard
//! output) is written to and never replaced.
//!
//! One rule holds for all of them: nothing is written over what a command reads ([`Apart`]), through a link, or over a
//! file of another [kind](Kind) than the one that is written.
//!
//! Temporary files are made under unpredictable names, never through a link, and readable by no one who may
//! not read what they become. What a killed process leaves is cleared away by the next one that writes to the same
//! target: living processes hold a lock.

mod apart;
mod claim;
mod disk;
mod draft;
mod kind;
mod text;

pub use apart::Apart;
pub use claim::{Claim, lock_path};
pub use draft::{
    Draft, check_writable, keep_strangers, temporary_file, write_keeping_previous, write_own, write_whole,
};
pub use kind::Kind;
pub use text::read_text;

use crate::error::{DataError, ErrorKind};
use std::collections::hash_map::RandomState;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Why a file could not be written, or may not. The message begins with the path.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The operating system refused.
    #[error("{}: {doing}: {source}", path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// Another process is at work on it.
    #[error("{}: another training, process {owner}, is at work on it; wait for it, or name another model", path.display())]
    Claimed {
        /// Which file.
        path: PathBuf,
        /// Who it is, as far as is known.
        owner: String,
    },
    /// It stands in two places of one command.
    #[error("{}: {output} would be written over {other}; name another file", path.display())]
    Clash {
        /// Which file.
        path: PathBuf,
        /// What would be written there.
        output: &'static str,
        /// What is there, or would be, too.
        other: &'static str,
    },
    /// It leads somewhere else.
    #[error("{}: this is a link to {}, and nothing is written through a link; name the file itself", path.display(), to.display())]
    Link {
        /// Which link.
        path: PathBuf,
        /// Where it leads.
        to: PathBuf,
    },
    /// It is not what would take its place.
    #[error("{}: it holds {found}, and {wished} would take its place; name another file, or move it away", path.display())]
    Stranger {
        /// Which file.
        path: PathBuf,
        /// What is there.
        found: Kind,
        /// What would be written.
        wished: Kind,
    },
    /// A made-up name is taken.
    #[error("{}: it holds something else than what would be written; move it away, or name another folder", path.display())]
    Taken {
        /// Which file.
        path: PathBuf,
    },
}

impl From<FileError> for DataError {
    fn from(error: FileError) -> Self {
        let text = error.to_string();
        let FileError::Io { path, doing, source } = error else { return Self::new(ErrorKind::Io, text) };
        let error = Self::new(ErrorKind::Io, format!("{doing}: {source}"));
        error.in_source(&path.display().to_string()).caused_by(source)
    }
}

fn failed(path: &Path, doing: &'static str, source: io::Error) -> FileError {
    FileError::Io { path: path.to_owned(), doing, source }
}

/// Where the file that was at `path` before goes, if it is kept: `.1` after its name.
pub fn previous_path(path: &Path) -> PathBuf {
    with_suffix(path, ".1")
}

/// `path` with more letters after its name.
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Whether `target` stands for standard output.
pub fn is_stdout(target: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| target == Path::new(name))
}

/// Whether `target` is there and something else than a plain file: it is written to, and never replaced. A name for
/// something that is open already counts as such, whatever it is.
pub fn is_special(target: &Path) -> bool {
    let is_open = ["/dev/stdin", "/dev/stderr"].iter().any(|name| target == Path::new(name))
        || target.starts_with("/dev/fd")
        || (target.starts_with("/proc") && target.parent().is_some_and(|folder| folder.ends_with("fd")));
    is_stdout(target)
        || is_open
        || fs::metadata(target).is_ok_and(|there| !there.is_file() && !there.is_dir())
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// How the hidden files beside `path` begin. Long names are cut, so that there is room for the rest.
fn hidden_prefix(path: &Path) -> String {
    let name = path.file_name().unwrap_or(OsStr::new(""));
    match name.to_str() {
        Some(text) if text.len() <= 100 => format!(".{text}."),
        // What is left of such a name may be that of another, too.
        _ => {
            let begin: String = name.to_string_lossy().chars().take(20).collect();
            format!(".{begin}-{:08x}.", crate::murmur3_32(name.as_encoded_bytes(), 0))
        }
    }
}

/// An unpredictable number.
fn unforeseen() -> u64 {
    RandomState::new().build_hasher().finish()
}

const TEMPORARY: &str = ".tmp";

/// Removes temporary files for `target` that no living process is writing.
fn clear_left_over(target: &Path) {
    let prefix = hidden_prefix(target);
    let Ok(entries) = fs::read_dir(folder_of(target)) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        let is_ours = name.starts_with(prefix.as_bytes())
            && (name.ends_with(TEMPORARY.as_bytes()) || name.ends_with(b".tmpp"))
            && entry.file_type().is_ok_and(|kind| kind.is_file());
        // A process that is writing holds a lock.
        if is_ours && File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Files of this process that are to go when it ends, however that is. The thread that makes one holds this meanwhile,
/// so that none is made and not yet on the list when the process is ended.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished<R>(change: impl FnOnce(&mut Vec<PathBuf>) -> R) -> R {
    change(&mut UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Removes every temporary file and every lock of this process: call it just before ending the process. Other threads
/// that would make one more wait for that end.
pub fn remove_unfinished() {
    remove_all(UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner));
}

/// [`remove_unfinished`], unless a thread is at work on the list: for a signal handler that may have interrupted just
/// that.
pub fn try_remove_unfinished() {
    if let Ok(files) = UNFINISHED.try_lock() {
        remove_all(files);
    }
}

fn remove_all(mut files: MutexGuard<'_, Vec<PathBuf>>) {
    for file in files.drain(..) {
        let _ = fs::remove_file(file);
    }
    // Held to the end of the process.
    std::mem::forget(files);
}
