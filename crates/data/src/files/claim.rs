//! The right to train the model at a path, held by one process at a time.

use super::{FileError, Kind, check_writable, failed, folder_of, hidden_prefix, is_special, unfinished};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// A lock of the operating system on a hidden file beside the model: it ends with the process, however
/// that ends, so a leftover never blocks.
#[derive(Debug)]
pub struct Claim {
    path: PathBuf,
    _file: File,
}

/// Where the lock of the model at `target` is.
pub fn lock_path(target: &Path) -> PathBuf {
    folder_of(target).join(format!("{}lock", hidden_prefix(target)))
}

impl Claim {
    /// Claims `target`, once it is certain that a model could be saved there, and clears away what killed
    /// processes left beside it.
    pub fn take(target: &Path) -> Result<Self, FileError> {
        if is_special(target) {
            let source = io::Error::from(io::ErrorKind::InvalidInput);
            return Err(failed(target, "a model is a plain file, and this is something else", source));
        }
        check_writable(target)?;
        Kind::Model.may_replace(target)?;
        let path = lock_path(target);
        loop {
            Kind::Lock.may_replace(&path)?;
            let opened = unfinished(|files| {
                let file = open(&path)?;
                let is_owned = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
                // Its owner may have removed it between our opening and our locking it.
                let is_ours = !is_owned && is_still(&file, &path);
                if is_ours {
                    files.push(path.clone());
                }
                Ok((file, is_owned, is_ours))
            });
            let (mut file, is_owned, is_ours) =
                opened.map_err(|source| failed(target, "its lock cannot be taken", source))?;
            if is_owned {
                let mut owner = String::new();
                let _ = (&mut file).take(100).read_to_string(&mut owner);
                let owner = if owner.is_empty() { "unknown".to_owned() } else { owner };
                return Err(FileError::Claimed { path: target.to_owned(), owner });
            }
            if !is_ours {
                continue;
            }
            let written = file.set_len(0).and_then(|()| file.rewind());
            let _ = written.and_then(|()| write!(file, "{}", std::process::id()));
            return Ok(Self { path, _file: file });
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // Removed while it is still locked, so that it is not another's.
        let _ = fs::remove_file(&self.path);
        unfinished(|files| files.retain(|path| *path != self.path));
    }
}

/// Opens the lock, which is made if it is not there. A link is not followed: it may lead anywhere.
fn open(path: &Path) -> io::Result<File> {
    let mut fresh = File::options();
    fresh.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut fresh, 0o600);
    match fresh.open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        opened => return opened,
    }
    match fs::symlink_metadata(path) {
        Ok(there) if !there.is_file() || has_other_names(&there) => {
            let name = path.display();
            Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{name} is no plain file; remove it")))
        }
        _ => match File::options().read(true).write(true).open(path) {
            // Removed meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => fresh.open(path),
            opened => opened,
        },
    }
}

/// Whether a file is known by other names, too, and so is more than a lock.
#[cfg(unix)]
fn has_other_names(there: &fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(there) > 1
}

#[cfg(not(unix))]
fn has_other_names(_there: &fs::Metadata) -> bool {
    false
}

/// Whether what was opened is what stands there, and no link to it.
#[cfg(unix)]
fn is_still(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let same = |a: fs::Metadata, b: fs::Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
    let there = fs::symlink_metadata(path).ok();
    file.metadata().ok().zip(there).is_some_and(|(open, there)| same(open, there))
}

#[cfg(not(unix))]
fn is_still(_file: &File, path: &Path) -> bool {
    // A file that is open cannot be removed here.
    path.exists()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    #[test]
    fn a_lock_is_private_held_by_one_and_never_taken_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (model, lock) = (folder.path().join("m"), folder.path().join(".m.lock"));
        let claim = Claim::take(&model).unwrap();
        assert_eq!(fs::metadata(&lock).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(matches!(Claim::take(&model), Err(FileError::Claimed { .. })));
        drop(claim);
        assert!(!lock.exists());
        // A file of that name that is no lock, or has another name, is left alone.
        let victim = folder.path().join("victim");
        for content in ["1 1:1 2:2\n", "4711"] {
            fs::write(&victim, content).unwrap();
            fs::hard_link(&victim, &lock).unwrap();
            assert!(Claim::take(&model).is_err());
            assert_eq!(fs::read(&victim).unwrap(), content.as_bytes());
            fs::remove_file(&lock).unwrap();
        }
        // A planted link: whatever it names is neither changed nor made.
        for there in [true, false] {
            if there {
                fs::write(&victim, "precious").unwrap();
            } else {
                fs::remove_file(&victim).unwrap();
            }
            symlink(&victim, &lock).unwrap();
            assert!(Claim::take(&model).is_err());
            assert_eq!(fs::read(&victim).ok().as_deref(), there.then_some(&b"precious"[..]));
            fs::remove_file(&lock).unwrap();
        }
    }
}
