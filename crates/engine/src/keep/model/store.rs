//! Models and checkpoints on disk: saved whole or not at all, by the writer that everything is written with
//! ([`rosenblatt_data::files`]), and read without believing how long they say they are.

use super::Model;
use super::checkpoint::Checkpoint;
use super::file::{FormatError, decode, decode_own, encode};
use crate::error::Error;
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

/// So that `?` carries it to a caller who trains and saves.
impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        Self::Store(error.to_string())
    }
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
        readable(path, &bytes, decode_own)?;
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

/// Refuses bytes that could not be read again.
fn readable<T>(
    path: &Path,
    bytes: &[u8],
    decode: impl FnOnce(&[u8]) -> Result<T, FormatError>,
) -> Result<(), StoreError> {
    let unreadable = |source| StoreError::Unreadable { path: path.to_owned(), source };
    decode(bytes).map(drop).map_err(unreadable)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dataset, Spec, train};
    use std::fs;

    fn save(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
        readable(path, bytes, decode_own)?;
        Ok(write_whole(path, bytes)?)
    }

    #[test]
    fn what_could_not_be_read_again_is_not_written_and_leaves_what_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.model");
        fs::write(&path, "what was there").unwrap();
        let refused = save(&path, b"no model at all").unwrap_err();
        assert!(
            matches!(refused, StoreError::Unreadable { source: FormatError::NotAModel, .. }),
            "{refused}"
        );
        let data = Dataset::from_rows(&[[1.0], [-1.0]], &["a", "b"]);
        let mut bytes = train(&Spec::default(), &data).unwrap().to_bytes();
        // The last number of the file is a bias or a number of a curve, all of which must be finite.
        let end = bytes.len();
        bytes[end - 8..].copy_from_slice(&f64::INFINITY.to_le_bytes());
        assert!(matches!(save(&path, &bytes), Err(StoreError::Unreadable { .. })));
        assert_eq!(fs::read(&path).unwrap(), b"what was there");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
