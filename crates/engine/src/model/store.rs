//! Models and checkpoints on disk: saved whole or not at all, by the writer that everything is written with
//! ([`rosenblatt_data::files`]), and read without believing how long they say they are.

use super::Model;
use super::checkpoint::Checkpoint;
use super::file::{FormatError, decode, encode};
use rosenblatt_data::files::{FileError, write_keeping_previous, write_whole};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The most bytes of a model or checkpoint. A device has no end.
const MOST_BYTES: u64 = 1 << 40;

/// Why a file could not be saved or loaded. The message begins with the path.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The bytes are not what they should be.
    #[error("{}: {source}", path.display())]
    Format {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        source: FormatError,
    },
    /// What would be saved could not be loaded again.
    #[error("{}: the model is not saved, since it could not be read again: {source}; what was there before is untouched", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// What is wrong with the model.
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
        Ok(write_whole(path.as_ref(), &self.readable_bytes(path.as_ref())?)?)
    }

    /// The same, with what is there kept under [another name](rosenblatt_data::files::previous_path).
    pub fn save_keeping_previous(&self, path: impl AsRef<Path>) -> Result<(), StoreError> {
        Ok(write_keeping_previous(path.as_ref(), &self.readable_bytes(path.as_ref())?)?)
    }

    /// The bytes of its file, once it is certain that they are a model.
    fn readable_bytes(&self, path: &Path) -> Result<Vec<u8>, StoreError> {
        let bytes = self.to_bytes();
        decode(&bytes).map_err(|source| StoreError::Unreadable { path: path.to_owned(), source })?;
        Ok(bytes)
    }

    /// Loads the model at `path`.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        load(path.as_ref(), "the model could not be read", Self::from_bytes)
    }
}

impl Checkpoint {
    /// Loads the checkpoint at `path`.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        load(path.as_ref(), "the checkpoint could not be read", Self::from_bytes)
    }
}

/// Whether the file at `path` says in its header that it is of this kind.
pub(super) fn is_kind(path: &Path, kind: &str) -> bool {
    let look = || -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(path)?.take(super::file::PREFIX as u64 + 256).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let wanted = format!("{{\"format\":\"{kind}\"");
    look().is_ok_and(|bytes| {
        super::file::said_length(bytes.get(..super::file::PREFIX).unwrap_or_default()).is_some()
            && bytes[super::file::PREFIX..].starts_with(wanted.as_bytes())
    })
}

/// Saves bytes that are a whole file.
pub(super) fn save(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    Ok(write_whole(path, bytes)?)
}

pub(super) fn load<T>(
    path: &Path,
    doing: &'static str,
    decode: impl FnOnce(&[u8]) -> Result<T, FormatError>,
) -> Result<T, StoreError> {
    let bytes = read(path).map_err(|source| FileError::Io { path: path.to_owned(), doing, source })?;
    decode(&bytes).map_err(|source| StoreError::Format { path: path.to_owned(), source })
}

/// All bytes of a file; of what does not begin like one of ours, the first few.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let mut bytes = Vec::new();
    (&mut file).take(super::file::PREFIX as u64).read_to_end(&mut bytes)?;
    if let Some(length) = super::file::said_length(&bytes) {
        // One byte more shows that there is more.
        file.take(length.min(MOST_BYTES).saturating_sub(bytes.len() as u64).saturating_add(1))
            .read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}
