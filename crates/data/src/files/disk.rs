//! The few things that writing asks of a file system, so that tests can make each of them fail.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::Path;

/// A file system, as far as writing needs one.
pub(super) trait Disk {
    /// A file that is being written.
    type File: Write;

    /// Makes a file that was not there, for this process alone if it `is_private`, and locks it so that it is not taken
    /// for left over.
    fn create_new(&self, path: &Path, is_private: bool) -> io::Result<Self::File>;

    /// Lets those use the file who may use the one at `path`, as far as that can be.
    fn share_like(&self, file: &Self::File, path: &Path);

    /// Comes back when the file's bytes are on the medium.
    fn sync(&self, file: &Self::File) -> io::Result<()>;

    /// Gives a file another name, in place of whatever had it.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Gives a file a second name.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// All bytes of a file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Takes a name away.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Comes back when the names in a folder are on the medium.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
}

/// The one of the operating system.
#[derive(Debug, Clone, Copy)]
pub(super) struct Os;

impl Disk for Os {
    type File = File;

    fn create_new(&self, path: &Path, is_private: bool) -> io::Result<File> {
        let mut options = File::options();
        // With `create_new` a link is never followed. Who writes may read again what was written.
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        if is_private {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        let file = options.open(path)?;
        // Not every file system has locks. Without them a file in use may be taken for left over, which
        // spoils the saving but never the model.
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            // Another process that clears up was quicker, and is about to remove it.
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        Ok(file)
    }

    fn share_like(&self, file: &File, path: &Path) {
        let Ok(there) = fs::metadata(path) else { return };
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            // Only the system's administrator may give files away; for others it is their own anyway.
            let _ = std::os::unix::fs::fchown(file, Some(there.uid()), Some(there.gid()));
        }
        let _ = file.set_permissions(there.permissions());
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::hard_link(from, to)
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        fs::read(path)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        // Not every file system lets a folder be opened or flushed; those that do not, do it themselves.
        let Ok(folder) = File::open(folder) else { return Ok(()) };
        match folder.sync_all().map_err(|error| (error.kind(), error)) {
            Err((io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported, _)) => Ok(()),
            flushed => flushed.map_err(|(_, error)| error),
        }
    }
}
