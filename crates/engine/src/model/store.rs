//! Models on disk: saved whole or not at all.
//!
//! A model is written to a temporary file beside its target, flushed to the disk, renamed over the
//! target, and the folder is flushed too. Whoever looks, at any moment, sees the old model or the new
//! one. A flush that fails is a failure: the old model stays.

use super::Model;
use super::file::{FormatError, decode, encode};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Why a model could not be saved or loaded. The message begins with the path.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The operating system said no.
    #[error("{}: {doing}: {source}", path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The bytes are not a model.
    #[error("{}: {source}", path.display())]
    Format {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        source: FormatError,
    },
}

impl Model {
    /// The bytes of this model's file. The same model always gives the same bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        encode(self)
    }

    /// The model in `bytes`.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        decode(bytes)
    }

    /// Saves the model at `path`, replacing what is there in one step.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), StoreError> {
        write_whole(path.as_ref(), &self.to_bytes())
    }

    /// Loads the model at `path`.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let path = path.as_ref();
        let bytes = fs::read(path).map_err(|source| failed(path, "the model could not be read", source))?;
        Self::from_bytes(&bytes).map_err(|source| StoreError::Format { path: path.to_owned(), source })
    }
}

/// Finds out whether a file could be saved at `path`, before hours are spent on what to save there.
pub fn check_writable(path: &Path) -> Result<(), StoreError> {
    if path.is_dir() {
        let source = io::Error::from(io::ErrorKind::IsADirectory);
        return Err(failed(path, "a model is a file; name one in this folder", source));
    }
    let (_, temporary) = create_beside(path)?;
    remove(&temporary);
    Ok(())
}

/// Writes `bytes` to `path` such that the old content or the new one is there at every moment.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let (mut file, temporary) = create_beside(path)?;
    let written = file
        .write_all(bytes)
        .map_err(|source| failed(path, "writing failed; what was there before is untouched", source))
        .and_then(|()| {
            let flushed = file.sync_all();
            flushed
                .map_err(|source| failed(path, "flushing failed; what was there before is untouched", source))
        })
        .and_then(|()| {
            let renamed = fs::rename(&temporary, path);
            renamed
                .map_err(|source| failed(path, "renaming failed; what was there before is untouched", source))
        });
    if let Err(error) = written {
        remove(&temporary);
        return Err(error);
    }
    // The rename itself is only certain once the folder is on the disk. Not every file system lets a
    // folder be flushed; those that do not, do it themselves.
    if let Ok(folder) = File::open(folder_of(path)) {
        let _ = folder.sync_all();
    }
    Ok(())
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Creates an empty file beside `path`, under a name nobody else uses.
fn create_beside(path: &Path) -> Result<(File, PathBuf), StoreError> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    for attempt in 0..100 {
        let temporary = folder_of(path).join(format!(".{name}.{}-{attempt}.tmp", std::process::id()));
        match File::options().write(true).create_new(true).open(&temporary) {
            Ok(file) => return Ok((file, temporary)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(source) => return Err(failed(path, "no file can be made in its folder", source)),
        }
    }
    let source = io::Error::from(io::ErrorKind::AlreadyExists);
    Err(failed(path, "left-over temporary files stand in the way; remove them", source))
}

fn remove(temporary: &Path) {
    // If it cannot be removed it is in nobody's way but a tidy person's.
    let _ = fs::remove_file(temporary);
}

fn failed(path: &Path, doing: &'static str, source: io::Error) -> StoreError {
    StoreError::Io { path: path.to_owned(), doing, source }
}
