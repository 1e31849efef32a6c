//! Models and checkpoints on disk: saved whole or not at all.
//!
//! A file is written to a temporary file beside its target, flushed to the disk, renamed over the target,
//! and the folder is flushed too. Whoever looks, at any moment, sees the old file or the new one. A flush
//! that fails is a failure and is never tried again: the old file stays. What a killed process leaves
//! behind is cleared away by the next one that [claims](Claim) the target.

use super::checkpoint::Checkpoint;
use super::disk::{Disk, Os};
use super::file::{FormatError, decode, encode};
use super::Model;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// Why a file could not be saved or loaded. The message begins with the path.
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
    /// The bytes are not what they should be.
    #[error("{}: {source}", path.display())]
    Format {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        source: FormatError,
    },
    /// Somebody else is at work on it.
    #[error("{}: another training, process {owner}, is at work on it; wait for it, or name another model", path.display())]
    Claimed {
        /// Which file.
        path: PathBuf,
        /// Who it is, as far as is known.
        owner: String,
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

    /// The same, with what is there kept under [another name](previous_path).
    pub fn save_keeping_previous(&self, path: impl AsRef<Path>) -> Result<(), StoreError> {
        write_keeping_previous(path.as_ref(), &self.to_bytes())
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

fn load<T>(
    path: &Path,
    doing: &'static str,
    decode: impl FnOnce(&[u8]) -> Result<T, FormatError>,
) -> Result<T, StoreError> {
    let bytes = fs::read(path).map_err(|source| failed(path, doing, source))?;
    decode(&bytes).map_err(|source| StoreError::Format { path: path.to_owned(), source })
}

/// Where the file that was at `path` before goes, if it is kept: `.1` behind its name.
pub fn previous_path(path: &Path) -> PathBuf {
    with_suffix(path, ".1")
}

/// `path` with more letters behind its name.
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Finds out whether a file could be saved at `path`, before hours are spent on what to save there.
pub fn check_writable(path: &Path) -> Result<(), StoreError> {
    match fs::metadata(path) {
        Ok(there) if there.is_dir() => {
            let source = io::Error::from(io::ErrorKind::IsADirectory);
            return Err(failed(path, "a model is a file; name one in this folder", source));
        }
        // A device or a pipe would be replaced by the file.
        Ok(there) if !there.is_file() => {
            let source = io::Error::from(io::ErrorKind::InvalidInput);
            return Err(failed(path, "a model is a plain file, and this is something else", source));
        }
        _ => {}
    }
    let target = resolve(path);
    let (_, temporary) = create_beside(&Os, &target)?;
    let _ = Os.remove(&temporary);
    Ok(())
}

/// Writes `bytes` to `path` such that the old content or the new one is there at every moment.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    write_on(&Os, &resolve(path), bytes, false)
}

/// [`write_whole`], with the old content kept at [`previous_path`].
pub fn write_keeping_previous(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    write_on(&Os, &resolve(path), bytes, true)
}

/// Where a link points to, so that the file is replaced and not the link.
fn resolve(path: &Path) -> PathBuf {
    if path.is_symlink() { fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()) } else { path.to_owned() }
}

const UNTOUCHED: [&str; 4] = [
    "writing failed; what was there before is untouched",
    "flushing failed; what was there before is untouched",
    "keeping the previous file failed; it is untouched",
    "renaming failed; what was there before is untouched",
];

fn write_on<D: Disk>(disk: &D, path: &Path, bytes: &[u8], keep_previous: bool) -> Result<(), StoreError> {
    let (mut file, temporary) = create_beside(disk, path)?;
    let mut steps = || {
        file.write_all(bytes).map_err(|error| (0, error))?;
        disk.sync(&file).map_err(|error| (1, error))?;
        if keep_previous {
            keep(disk, path, &temporary).map_err(|error| (2, error))?;
        }
        disk.rename(&temporary, path).map_err(|error| (3, error))
    };
    if let Err((step, error)) = steps() {
        // If it cannot be removed, the next one to claim the target will try again.
        let _ = disk.remove(&temporary);
        return Err(failed(path, UNTOUCHED[step], error));
    }
    // The rename itself is only certain once the folder is on the disk.
    disk.sync_folder(folder_of(path)).map_err(|error| {
        failed(path, "the new file is in place, but flushing its folder failed; a power cut may undo it", error)
    })
}

/// Gives the file at `path` a second name, so that it stays when its first name is taken over.
fn keep<D: Disk>(disk: &D, path: &Path, temporary: &Path) -> io::Result<()> {
    let waiting = with_suffix(temporary, "p");
    let linked = match disk.link(path, &waiting) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Ok(()) => Ok(()),
        // Not every file system knows second names; a copy serves as well.
        Err(_) => disk.read(path).and_then(|bytes| {
            let mut copy = disk.create_new(&waiting)?;
            copy.write_all(&bytes)?;
            disk.sync(&copy)
        }),
    };
    let kept = linked.and_then(|()| disk.rename(&waiting, &previous_path(path)));
    // Renaming onto another name of the same file leaves both.
    let _ = disk.remove(&waiting);
    kept
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// How the hidden files beside `path` begin. Long names are cut, so that there is room for the rest.
fn hidden_prefix(path: &Path) -> String {
    let name = path.file_name().unwrap_or(OsStr::new("")).to_string_lossy();
    let name: String = name.chars().take(50).collect();
    format!(".{name}.")
}

const TEMPORARY: &str = ".tmp";

/// Creates an empty file beside `path`, under a name nobody else uses.
fn create_beside<D: Disk>(disk: &D, path: &Path) -> Result<(D::File, PathBuf), StoreError> {
    let prefix = hidden_prefix(path);
    for attempt in 0..100 {
        let name = format!("{prefix}{}-{attempt}{TEMPORARY}", std::process::id());
        let temporary = folder_of(path).join(name);
        match disk.create_new(&temporary) {
            Ok(file) => return Ok((file, temporary)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(source) => return Err(failed(path, "no file can be made in its folder", source)),
        }
    }
    let source = io::Error::from(io::ErrorKind::AlreadyExists);
    Err(failed(path, "left-over temporary files stand in the way; remove them", source))
}

fn failed(path: &Path, doing: &'static str, source: io::Error) -> StoreError {
    StoreError::Io { path: path.to_owned(), doing, source }
}

/// The right to train the model at a path, held by one process at a time.
///
/// A lock of the operating system on a hidden file beside the model: it ends with the process, however
/// that ends, so nothing that is left behind ever blocks.
#[derive(Debug)]
pub struct Claim {
    path: PathBuf,
    _file: File,
}

impl Claim {
    /// Claims `target`, once it is certain that a file could be saved there, and clears away what killed
    /// processes left beside it.
    pub fn take(target: &Path) -> Result<Self, StoreError> {
        check_writable(target)?;
        let target = resolve(target);
        let path = folder_of(&target).join(format!("{}lock", hidden_prefix(&target)));
        loop {
            let opened = File::options().read(true).write(true).create(true).truncate(false).open(&path);
            let mut file =
                opened.map_err(|source| failed(&target, "no file can be made in its folder", source))?;
            if let Err(TryLockError::WouldBlock) = file.try_lock() {
                let mut owner = String::new();
                let _ = file.read_to_string(&mut owner);
                let owner = if owner.is_empty() { "unknown".to_owned() } else { owner };
                return Err(StoreError::Claimed { path: target, owner });
            }
            // Its owner may have removed it between our opening and our locking it.
            if !is_still(&file, &path) {
                continue;
            }
            let written = file.set_len(0).and_then(|()| file.rewind());
            let _ = written.and_then(|()| write!(file, "{}", std::process::id()));
            clear_left_over(&target);
            return Ok(Self { path, _file: file });
        }
    }

    /// The hidden file. Who ends the process in a hurry should remove it.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // Removed while it is still locked, so that nobody else's is.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(unix)]
fn is_still(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let same = |a: fs::Metadata, b: fs::Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
    file.metadata().ok().zip(fs::metadata(path).ok()).is_some_and(|(open, there)| same(open, there))
}

#[cfg(not(unix))]
fn is_still(_file: &File, path: &Path) -> bool {
    // A file that is open cannot be removed here.
    path.exists()
}

/// Removes temporary files for `target` that no living process is writing.
fn clear_left_over(target: &Path) {
    let prefix = OsString::from(hidden_prefix(target));
    let Ok(entries) = fs::read_dir(folder_of(target)) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let (name, prefix) = (name.as_encoded_bytes(), prefix.as_encoded_bytes());
        let ours = name.starts_with(prefix)
            && (name.ends_with(TEMPORARY.as_bytes()) || name.ends_with(b".tmpp"))
            && entry.file_type().is_ok_and(|kind| kind.is_file());
        // Whoever is writing holds a lock.
        if ours && File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}
