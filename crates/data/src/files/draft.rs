//! A file on its way: written beside its target, then put in its place.

use super::disk::{Disk, Os};
use super::kind::{LOOKED_AT, refuse_link};
use super::{FileError, Kind as FileKind, TEMPORARY, clear_left_over, failed, folder_of, hidden_prefix};
use super::{is_special, is_stdout, previous_path, unfinished, unforeseen, with_suffix};
use std::fs::{self, File};
use std::io::{self, IsTerminal as _, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// A file that is being written, and takes its target's name once it is whole; or, where the target is a device, a
/// pipe or standard output, that itself. Dropped before it is [placed](Self::place), it leaves nothing.
#[derive(Debug)]
pub struct Draft(Kind);

#[derive(Debug)]
enum Kind {
    /// With the first bytes that were written.
    Beside(Writing<Os>, Vec<u8>),
    /// What is written there cannot be taken back.
    Special(File),
    Stdout,
}

impl Draft {
    /// Begins the file that is to be at `target`.
    pub fn create(target: &Path) -> Result<Self, FileError> {
        if is_stdout(target) {
            return Ok(Self(Kind::Stdout));
        }
        if is_special(target) {
            refuse_disk(target)?;
            let opened = File::options().append(true).open(target);
            let file = opened.map_err(|source| failed(target, "it cannot be opened for writing", source))?;
            return Ok(Self(Kind::Special(file)));
        }
        Ok(Self(Kind::Beside(begin(target, false)?, Vec::new())))
    }

    /// The same, for what others are not to read unless they may read what is there.
    pub fn create_private(target: &Path) -> Result<Self, FileError> {
        Ok(Self(Kind::Beside(begin(target, true)?, Vec::new())))
    }

    /// Puts the file in its place, once its bytes are on the disk.
    pub fn place(self) -> Result<(), FileError> {
        self.place_when(true)
    }

    /// Puts the file in its place without waiting for the disk: for what can be made again.
    pub fn place_soon(self) -> Result<(), FileError> {
        self.place_when(false)
    }

    fn place_when(self, sync: bool) -> Result<(), FileError> {
        match self.0 {
            Kind::Beside(writing, begin) => {
                may_replace(&writing.target, &begin)?;
                writing.place(sync, false)
            }
            Kind::Special(_) | Kind::Stdout => Ok(()),
        }
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Kind::Beside(writing, begin) => {
                let n_missing = LOOKED_AT.saturating_sub(begin.len());
                begin.extend(bytes.iter().take(n_missing));
                writing.file.write(bytes)
            }
            Kind::Special(file) => file.write(bytes),
            Kind::Stdout if io::stdout().is_terminal() => {
                // A terminal obeys what it is sent.
                let text = String::from_utf8_lossy(bytes);
                io::stdout().write_all(crate::error::harmless(&text).as_bytes()).map(|()| bytes.len())
            }
            Kind::Stdout => io::stdout().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Kind::Beside(..) => Ok(()),
            Kind::Special(file) => file.flush(),
            Kind::Stdout => io::stdout().flush(),
        }
    }
}

/// A private file without a name in `folder`, to write and read: gone when it is closed, even if this process is killed.
/// What was killed before it had lost its name, which begins with `purpose`, is cleared away.
pub fn temporary_file(folder: &Path, purpose: &str) -> Result<File, FileError> {
    let target = folder.join(purpose);
    clear_left_over(&target);
    let writing = Writing::begin(Os, &target, true)?;
    // Dropped, what is written loses its name.
    writing.file.try_clone().map_err(|source| failed(&target, "it cannot be opened twice", source))
}

/// Finds out whether a file could be written at `path`, before hours are spent on what to write there.
pub fn check_writable(path: &Path) -> Result<(), FileError> {
    if is_special(path) {
        // To open a pipe and close it again would end its reader.
        return refuse_disk(path);
    }
    begin(path, true).map(drop)
}

/// Begins a plain file, and clears away what killed processes left of it.
fn begin(target: &Path, is_private: bool) -> Result<Writing<Os>, FileError> {
    check_name(target)?;
    clear_left_over(target);
    Writing::begin(Os, target, is_private)
}

/// Refuses a device that holds files.
fn refuse_disk(path: &Path) -> Result<(), FileError> {
    #[cfg(unix)]
    if fs::metadata(path)
        .is_ok_and(|there| std::os::unix::fs::FileTypeExt::is_block_device(&there.file_type()))
    {
        let source = io::Error::from(io::ErrorKind::InvalidInput);
        return Err(failed(path, "this is a disk, and nothing is written over what it holds", source));
    }
    let _ = path;
    Ok(())
}

/// Whether this process replaces no file that holds anything else than what it writes.
static KEEPS_STRANGERS: AtomicBool = AtomicBool::new(false);

/// From now on a file is replaced only by what it holds already: for writers that make up file names.
pub fn keep_strangers() {
    KEEPS_STRANGERS.store(true, Ordering::Relaxed);
}

/// Refuses to put `bytes`, or what begins with them, in the place of something of another kind.
fn may_replace(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let kind = FileKind::of(&bytes[..bytes.len().min(LOOKED_AT)]).unwrap_or(FileKind::Text);
    kind.may_replace(path)?;
    let is_other = || fs::read(path).is_ok_and(|there| there != bytes);
    if KEEPS_STRANGERS.load(Ordering::Relaxed) && is_other() {
        return Err(FileError::Taken { path: path.to_owned() });
    }
    Ok(())
}

/// Whether the path is that of a file at all.
fn check_name(path: &Path) -> Result<(), FileError> {
    let is_folder = path.as_os_str().as_encoded_bytes().last().is_some_and(|&last| last == b'/');
    if is_folder || path.is_dir() {
        let source = io::Error::from(io::ErrorKind::IsADirectory);
        return Err(failed(path, "expected a file to write; name one in this folder", source));
    }
    refuse_link(path)
}

/// Writes `bytes` to `path` such that the old content or the new one is there at every moment.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    if is_special(path) {
        let mut draft = Draft::create(path)?;
        let written = draft.write_all(bytes).and_then(|()| draft.flush());
        return written.map_err(|source| failed(path, "writing failed", source));
    }
    write_plain(path, bytes, false)
}

/// [`write_whole`], with the old content kept at [`previous_path`].
pub fn write_keeping_previous(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    may_replace(&previous_path(path), bytes)?;
    write_plain(path, bytes, true)
}

fn write_plain(path: &Path, bytes: &[u8], keep_previous: bool) -> Result<(), FileError> {
    check_name(path)?;
    may_replace(path, bytes)?;
    clear_left_over(path);
    write_on(Os, path, bytes, keep_previous)
}

/// [`write_whole`] under a name that only this program uses, whatever is there: what was damaged is no kind of file.
pub fn write_own(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    check_name(path)?;
    clear_left_over(path);
    write_on(Os, path, bytes, false)
}

const UNTOUCHED: [&str; 4] = [
    "writing failed; what was there before is untouched",
    "flushing failed; what was there before is untouched",
    "keeping the previous file failed; it is untouched",
    "renaming failed; what was there before is untouched",
];

fn write_on<D: Disk>(disk: D, path: &Path, bytes: &[u8], keep_previous: bool) -> Result<(), FileError> {
    let mut writing = Writing::begin(disk, path, false)?;
    writing.file.write_all(bytes).map_err(|error| failed(path, UNTOUCHED[0], error))?;
    writing.place(true, keep_previous)
}

/// A file that is being written beside its target.
#[derive(Debug)]
struct Writing<D: Disk> {
    disk: D,
    file: D::File,
    target: PathBuf,
    temporary: PathBuf,
    is_private: bool,
    is_placed: bool,
}

impl<D: Disk> Writing<D> {
    /// Creates an empty file beside `target`, under an unused name.
    fn begin(disk: D, target: &Path, is_private: bool) -> Result<Self, FileError> {
        let prefix = hidden_prefix(target);
        // What replaces a file stays private until it does.
        let hides = is_private || target.exists();
        for _ in 0..100 {
            let temporary = folder_of(target).join(format!("{prefix}{:016x}{TEMPORARY}", unforeseen()));
            let made = unfinished(|files| {
                disk.create_new(&temporary, hides).inspect(|_| files.push(temporary.clone()))
            });
            match made {
                Ok(file) => {
                    let target = target.to_owned();
                    return Ok(Self { disk, file, target, temporary, is_private, is_placed: false });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(source) => return Err(failed(target, "no file can be made in its folder", source)),
            }
        }
        let source = io::Error::from(io::ErrorKind::AlreadyExists);
        Err(failed(target, "left-over temporary files stand in the way; remove them", source))
    }

    fn place(mut self, sync: bool, keep_previous: bool) -> Result<(), FileError> {
        let steps = || {
            if !self.is_private {
                self.disk.share_like(&self.file, &self.target);
            }
            if sync {
                self.disk.sync(&self.file).map_err(|error| (1, error))?;
            }
            if keep_previous {
                self.keep().map_err(|error| (2, error))?;
            }
            if is_special(&self.target) {
                // It was not when this began.
                return Err((3, io::Error::other("something that is no plain file has taken its place")));
            }
            self.disk.rename(&self.temporary, &self.target).map_err(|error| (3, error))
        };
        steps().map_err(|(step, error)| failed(&self.target, UNTOUCHED[step], error))?;
        self.is_placed = true;
        if !sync {
            return Ok(());
        }
        // The rename itself is only certain once the folder is on the disk.
        self.disk.sync_folder(folder_of(&self.target)).map_err(|error| {
            failed(
                &self.target,
                "the new file is in place, but flushing its folder failed; a power cut may undo it",
                error,
            )
        })
    }

    /// Gives the file at the target a second name, so that it stays when its first name is taken over.
    fn keep(&self) -> io::Result<()> {
        let (disk, path) = (&self.disk, &self.target);
        let waiting = with_suffix(&self.temporary, "p");
        let on_list = |files: &mut Vec<PathBuf>| files.push(waiting.clone());
        let linked = match unfinished(|files| disk.link(path, &waiting).inspect(|()| on_list(files))) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Ok(()) => Ok(()),
            // Not every file system knows second names; a copy serves as well.
            Err(_) => disk.read(path).and_then(|bytes| {
                let made = |files: &mut _| disk.create_new(&waiting, true).inspect(|_| on_list(files));
                let mut copy = unfinished(made)?;
                disk.share_like(&copy, path);
                copy.write_all(&bytes)?;
                disk.sync(&copy)
            }),
        };
        let kept = linked.and_then(|()| disk.rename(&waiting, &previous_path(path)));
        // Renaming onto another name of the same file leaves both.
        let _ = disk.remove(&waiting);
        unfinished(|files| files.retain(|path| *path != waiting));
        kept
    }
}

impl<D: Disk> Drop for Writing<D> {
    fn drop(&mut self) {
        if !self.is_placed {
            // If it cannot be removed, the next one to write there will try again.
            let _ = self.disk.remove(&self.temporary);
        }
        unfinished(|files| files.retain(|path| *path != self.temporary));
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

    /// A disk in memory that fails on command.
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

        fn create_new(&self, path: &Path, _is_private: bool) -> io::Result<FaultyFile> {
            assert!(super::super::UNFINISHED.try_lock().is_err(), "made while the process may be ended");
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

        fn share_like(&self, _file: &FaultyFile, _path: &Path) {}

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
            write_on(calls.clone(), Path::new("m"), NEW, keep_previous).unwrap();
            let n_calls = calls.0.borrow().n_calls;
            for at in 1..=n_calls {
                for kind in [StorageFull, Other, PermissionDenied, Interrupted] {
                    let disk = disk(has_links);
                    disk.0.borrow_mut().fault = Some((at, Fault::Once(kind)));
                    let saved = write_on(disk.clone(), Path::new("m"), NEW, keep_previous);
                    let state = disk.0.borrow();
                    let case = format!("call {at} of {n_calls}, {kind:?}: {saved:?}");
                    let there = content(&state, &state.names, "m", false).unwrap();
                    assert!(there == OLD || there == NEW, "{case}");
                    assert!(saved.is_err() || there == NEW, "{case}");
                    let message = saved.err().map(|error| error.to_string()).unwrap_or_default();
                    assert!(!message.contains("untouched") || there == OLD, "{case}");
                    if let Some(previous) = content(&state, &state.names, "m.1", false) {
                        assert_eq!(previous, OLD, "{case}");
                    }
                    // Only a removal that fails leaves a file.
                    let litter = state.names.keys().filter(|name| name.to_string_lossy().contains("tmp"));
                    assert!(litter.count() <= usize::from(at > 3), "{case}");
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
                let saved = write_on(disk.clone(), Path::new("m"), NEW, keep_previous);
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
            let message =
                write_on(disk.clone(), Path::new("m"), NEW, false).map_err(|error| error.to_string());
            if message
                .is_err_and(|message| message.contains("flushing failed; what was there before is untouched"))
            {
                assert_eq!(content(&disk.0.borrow(), &disk.0.borrow().names, "m", false).unwrap(), OLD);
                at_flush = Some(disk.0.borrow().n_calls - at);
            }
        }
        // After it, the temporary file is removed and nothing else is done.
        assert_eq!(at_flush, Some(1));
        write_on(disk.clone(), Path::new("m"), NEW, false).unwrap();
    }

    #[cfg(unix)]
    mod on_a_disk {
        use super::*;
        use std::fs;
        use std::io::{Read as _, Seek as _};
        use std::os::unix::fs::{PermissionsExt as _, symlink};

        fn mode(path: &Path) -> u32 {
            fs::metadata(path).unwrap().permissions().mode() & 0o777
        }

        fn entries(folder: &Path) -> Vec<String> {
            let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
            let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
            names.sort();
            names
        }

        #[test]
        fn the_old_mode_is_kept_and_nobody_reads_what_is_on_its_way() {
            let folder = tempfile::tempdir().unwrap();
            let target = folder.path().join("m");
            fs::write(&target, OLD).unwrap();
            for wanted in [0o600, 0o640, 0o604] {
                fs::set_permissions(&target, fs::Permissions::from_mode(wanted)).unwrap();
                let draft = Draft::create(&target).unwrap();
                let Draft(Kind::Beside(writing, _)) = &draft else { panic!("a plain file") };
                assert_eq!(mode(&writing.temporary), 0o600);
                draft.place().unwrap();
                assert_eq!(mode(&target), wanted);
                write_keeping_previous(&target, NEW).unwrap();
                assert_eq!((mode(&target), mode(&previous_path(&target))), (wanted, wanted));
            }
            assert_eq!(entries(folder.path()), ["m", "m.1"]);
        }

        #[test]
        fn what_was_left_behind_is_cleared_and_what_is_in_use_is_not() {
            let folder = tempfile::tempdir().unwrap();
            let target = folder.path().join("rows.csv");
            let in_use = Draft::create(&target).unwrap();
            fs::write(folder.path().join(".rows.csv.0123456789abcdef.tmp"), "left over").unwrap();
            fs::write(folder.path().join(".other.csv.0123456789abcdef.tmp"), "another's").unwrap();
            let mut draft = Draft::create(&target).unwrap();
            draft.write_all(NEW).unwrap();
            assert_eq!(entries(folder.path()).len(), 3, "two drafts, and another's");
            draft.place().unwrap();
            drop(in_use);
            assert_eq!(entries(folder.path()), [".other.csv.0123456789abcdef.tmp", "rows.csv"]);
            assert_eq!(fs::read(&target).unwrap(), NEW);
        }

        #[test]
        fn links_and_other_kinds_are_left_alone_and_devices_are_written_to() {
            let folder = tempfile::tempdir().unwrap();
            let (target, link) = (folder.path().join("m"), folder.path().join("link"));
            fs::write(&target, OLD).unwrap();
            symlink(&target, &link).unwrap();
            for refused in [
                write_whole(&link, NEW),
                write_keeping_previous(&link, NEW),
                check_writable(&link),
                Draft::create(&link).map(drop),
                write_whole(&target, b"RBLATT\r\n"),
                write_keeping_previous(&target, b"\x89PNG"),
                Draft::create(&target).and_then(|mut draft| {
                    draft.write_all(b"{}").unwrap();
                    draft.place()
                }),
            ] {
                refused.unwrap_err();
            }
            assert!(link.is_symlink() && fs::read(&target).unwrap() == OLD);
            write_whole(Path::new("/dev/null"), NEW).unwrap();
            assert!(!fs::metadata("/dev/null").unwrap().is_file());
            check_writable(Path::new("/dev/null")).unwrap();
            for folder_name in [folder.path().to_owned(), folder.path().join("new/")] {
                assert!(write_whole(&folder_name, NEW).is_err());
                assert!(check_writable(&folder_name).is_err());
            }
            assert!(check_writable(&folder.path().join("none/m")).is_err());
            assert_eq!(entries(folder.path()), ["link", "m"]);
        }

        #[test]
        fn a_temporary_file_is_private_and_has_no_name() {
            let folder = tempfile::tempdir().unwrap();
            let mut file = temporary_file(folder.path(), "rows").unwrap();
            file.write_all(NEW).unwrap();
            assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
            assert_eq!(entries(folder.path()), [""; 0]);
            file.rewind().unwrap();
            let mut read = Vec::new();
            file.read_to_end(&mut read).unwrap();
            assert_eq!(read, NEW);
        }
    }
}
