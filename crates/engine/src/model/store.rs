//! Models and checkpoints on disk: saved whole or not at all.
//!
//! A file is written to a temporary file beside its target, flushed to the disk, renamed over the target,
//! and the folder is flushed too. Whoever looks, at any moment, sees the old file or the new one. A flush
//! that fails is a failure and is never tried again: the old file stays. What a killed process leaves
//! behind is cleared away by the next one that [claims](Claim) the target.

use super::Model;
use super::checkpoint::Checkpoint;
use super::disk::{Disk, Os};
use super::file::{FormatError, decode, encode};
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
    if path.is_symlink() {
        fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
    } else {
        path.to_owned()
    }
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
        failed(
            path,
            "the new file is in place, but flushing its folder failed; a power cut may undo it",
            error,
        )
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
    let name = path.file_name().unwrap_or(OsStr::new(""));
    match name.to_str() {
        Some(text) if text.len() <= 100 => format!(".{text}."),
        // What is left of such a name may be that of another, too.
        _ => {
            let begin: String = name.to_string_lossy().chars().take(20).collect();
            format!(".{begin}-{:08x}.", rosenblatt_data::murmur3_32(name.as_encoded_bytes(), 0))
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::collections::BTreeMap;
    use std::rc::Rc;

    /// What a call is made to do instead of its work.
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Fault {
        /// This call fails, and the others work.
        Once(io::ErrorKind),
        /// The power goes: this call and all after it do nothing.
        PowerCut,
    }

    #[derive(Default)]
    struct State {
        /// The bytes of every file, and those of them that are on the medium.
        files: Vec<(Vec<u8>, Vec<u8>)>,
        names: BTreeMap<PathBuf, usize>,
        /// The names that are on the medium.
        kept_names: BTreeMap<PathBuf, usize>,
        n_calls: usize,
        fault: Option<(usize, Fault)>,
        has_links: bool,
    }

    impl State {
        fn call(&mut self) -> io::Result<()> {
            self.n_calls += 1;
            match self.fault {
                Some((at, Fault::Once(kind))) if at == self.n_calls => Err(kind.into()),
                Some((at, Fault::PowerCut)) if at <= self.n_calls => Err(io::Error::other("no power")),
                _ => Ok(()),
            }
        }
    }

    /// A disk in memory that fails when it is told to.
    #[derive(Clone, Default)]
    struct Faulty(Rc<RefCell<State>>);

    struct FaultyFile {
        disk: Faulty,
        number: usize,
    }

    impl Write for FaultyFile {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let mut state = self.disk.0.borrow_mut();
            let called = state.call();
            // What fails has written something, unless it was only interrupted.
            let interrupted = called.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::Interrupted);
            let n_bytes = if interrupted { 0 } else { bytes.len().div_ceil(2) };
            state.files[self.number].0.extend(&bytes[..n_bytes]);
            called.map(|()| n_bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Disk for Faulty {
        type File = FaultyFile;

        fn create_new(&self, path: &Path) -> io::Result<FaultyFile> {
            let mut state = self.0.borrow_mut();
            state.call()?;
            if state.names.contains_key(path) {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            state.files.push(Default::default());
            let number = state.files.len() - 1;
            state.names.insert(path.to_owned(), number);
            Ok(FaultyFile { disk: self.clone(), number })
        }

        fn sync(&self, file: &FaultyFile) -> io::Result<()> {
            let mut state = self.0.borrow_mut();
            state.call()?;
            let (bytes, kept) = &mut state.files[file.number];
            kept.clone_from(bytes);
            Ok(())
        }

        fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
            let mut state = self.0.borrow_mut();
            state.call()?;
            let number = state.names.remove(from).ok_or(io::ErrorKind::NotFound)?;
            state.names.insert(to.to_owned(), number);
            Ok(())
        }

        fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
            let mut state = self.0.borrow_mut();
            state.call()?;
            if !state.has_links {
                return Err(io::ErrorKind::Unsupported.into());
            }
            let number = *state.names.get(from).ok_or(io::ErrorKind::NotFound)?;
            state.names.insert(to.to_owned(), number);
            Ok(())
        }

        fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
            let mut state = self.0.borrow_mut();
            state.call()?;
            let number = *state.names.get(path).ok_or(io::ErrorKind::NotFound)?;
            Ok(state.files[number].0.clone())
        }

        fn remove(&self, path: &Path) -> io::Result<()> {
            let mut state = self.0.borrow_mut();
            state.call()?;
            state.names.remove(path).map(|_| ()).ok_or(io::ErrorKind::NotFound.into())
        }

        fn sync_folder(&self, _folder: &Path) -> io::Result<()> {
            let mut state = self.0.borrow_mut();
            state.call()?;
            state.kept_names = state.names.clone();
            Ok(())
        }
    }

    const OLD: &[u8] = b"the old model";
    const NEW: &[u8] = b"the new model, longer";

    fn disk(has_links: bool) -> Faulty {
        let names = BTreeMap::from([(PathBuf::from("m"), 0)]);
        let files = vec![(OLD.to_vec(), OLD.to_vec())];
        Faulty(Rc::new(RefCell::new(State {
            files,
            names: names.clone(),
            kept_names: names,
            has_links,
            ..State::default()
        })))
    }

    /// The content of `name` as a reader sees it, with these names and bytes.
    fn content(state: &State, names: &BTreeMap<PathBuf, usize>, name: &str, kept: bool) -> Option<Vec<u8>> {
        let (bytes, on_medium) = &state.files[*names.get(Path::new(name))?];
        Some(if kept { on_medium.clone() } else { bytes.clone() })
    }

    #[test]
    fn whichever_call_fails_the_old_file_or_the_whole_new_one_is_there() {
        use io::ErrorKind::{Interrupted, Other, PermissionDenied, StorageFull};
        let mut n_faults = 0;
        for (has_links, keep_previous) in [(true, false), (true, true), (false, true)] {
            let calls = disk(has_links);
            write_on(&calls, Path::new("m"), NEW, keep_previous).unwrap();
            let n_calls = calls.0.borrow().n_calls;
            for at in 1..=n_calls {
                for kind in [StorageFull, Other, PermissionDenied, Interrupted] {
                    let disk = disk(has_links);
                    disk.0.borrow_mut().fault = Some((at, Fault::Once(kind)));
                    let saved = write_on(&disk, Path::new("m"), NEW, keep_previous);
                    let state = disk.0.borrow();
                    let told = format!("call {at} of {n_calls}, {kind:?}: {saved:?}");
                    let there = content(&state, &state.names, "m", false).unwrap();
                    assert!(there == OLD || there == NEW, "{told}");
                    assert!(saved.is_err() || there == NEW, "{told}");
                    let said = saved.err().map(|error| error.to_string()).unwrap_or_default();
                    assert!(!said.contains("untouched") || there == OLD, "{told}");
                    if let Some(previous) = content(&state, &state.names, "m.1", false) {
                        assert_eq!(previous, OLD, "{told}");
                    }
                    // Only a removal that fails leaves something behind.
                    let litter = state.names.keys().filter(|name| name.to_string_lossy().contains("tmp"));
                    assert!(litter.count() <= usize::from(at > 3), "{told}");
                    n_faults += 1;
                }
            }
        }
        assert!(n_faults > 80, "{n_faults}");
    }

    #[test]
    fn a_power_cut_at_any_call_leaves_the_old_file_or_the_whole_new_one_on_the_medium() {
        for (has_links, keep_previous) in [(true, false), (true, true), (false, true)] {
            for at in 1..20 {
                let disk = disk(has_links);
                disk.0.borrow_mut().fault = Some((at, Fault::PowerCut));
                let saved = write_on(&disk, Path::new("m"), NEW, keep_previous);
                let state = disk.0.borrow();
                // Names may or may not have reached the medium by themselves; bytes that were not flushed
                // are gone.
                for names in [&state.names, &state.kept_names] {
                    let there = content(&state, names, "m", true).unwrap();
                    assert!(there == OLD || there == NEW, "call {at}: {saved:?}");
                    if let Some(previous) = content(&state, names, "m.1", true) {
                        assert_eq!(previous, OLD, "call {at}");
                    }
                }
                if saved.is_ok() {
                    assert_eq!(content(&state, &state.kept_names, "m", true).unwrap(), NEW);
                }
            }
        }
    }

    #[test]
    fn a_failing_fsync_keeps_the_old_file_and_is_not_tried_again() {
        let disk = disk(true);
        let flush = 1 + NEW.len().ilog2() as usize + 2;
        let mut at_flush = None;
        for at in 1..=flush + 3 {
            let disk = super::tests::disk(true);
            disk.0.borrow_mut().fault = Some((at, Fault::Once(io::ErrorKind::Other)));
            let said = write_on(&disk, Path::new("m"), NEW, false).map_err(|error| error.to_string());
            if said.is_err_and(|said| said.contains("flushing failed; what was there before is untouched")) {
                assert_eq!(content(&disk.0.borrow(), &disk.0.borrow().names, "m", false).unwrap(), OLD);
                at_flush = Some(disk.0.borrow().n_calls - at);
            }
        }
        // After it, the temporary file is removed and nothing else is done.
        assert_eq!(at_flush, Some(1));
        write_on(&disk, Path::new("m"), NEW, false).unwrap();
    }
}
