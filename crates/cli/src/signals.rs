//! Signals, in one place: the first asks for a clean end, the second ends at once.
//!
//! Work that can stop by itself with something to show for it (training, with a checkpoint) says so with
//! [`be_careful`] and asks [`asked`] now and then. All other work is ended from here, after its [last
//! will](last_will): output stops between two lines, temporary files are removed, and the exit code is 130
//! or 143 as shells expect.

use crate::failure::Failure;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::{fs, io, thread};

/// The signal that came, or 0.
static ASKED: AtomicI32 = AtomicI32::new(0);
/// Whether the work at hand stops by itself.
static CAREFUL: AtomicBool = AtomicBool::new(false);
/// What is removed if the work is ended from here.
static LITTER: Mutex<Litter> = Mutex::new(Litter { files: Vec::new(), folders: Vec::new() });

/// What is done before the work is ended from here.
static LAST_WILL: Mutex<Option<Will>> = Mutex::new(None);

type Will = Box<dyn FnOnce(i32) + Send>;

struct Litter {
    files: Vec<PathBuf>,
    /// Where temporary files of this process may be.
    folders: Vec<PathBuf>,
}

/// How long a line that is being written may take before it is cut off after all.
const PATIENCE: Duration = Duration::from_secs(3);

/// Without signals there is nothing to answer.
#[cfg(not(unix))]
pub(crate) fn watch() -> io::Result<()> {
    Ok(())
}

/// From now on signals are answered.
#[cfg(unix)]
pub(crate) fn watch() -> io::Result<()> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::flag;
    use signal_hook::iterator::Signals;
    let second = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // In the handler itself, so that it works even if all threads are stuck. The order matters: the
        // first signal finds the flag down and raises it.
        flag::register_conditional_shutdown(signal, code(signal), Arc::clone(&second))?;
        flag::register(signal, Arc::clone(&second))?;
    }
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    thread::spawn(move || {
        for signal in signals.forever() {
            ASKED.store(signal, Ordering::SeqCst);
            if !CAREFUL.load(Ordering::SeqCst) {
                leave(signal);
            }
        }
    });
    Ok(())
}

/// The signal that asks to stop, if one came.
pub(crate) fn asked() -> Option<i32> {
    Some(ASKED.load(Ordering::SeqCst)).filter(|&signal| signal != 0)
}

/// The exit code that tells of `signal`.
pub(crate) fn code(signal: i32) -> i32 {
    128 + signal
}

/// From now on the work at hand stops by itself when asked, and [answers](answer) when it has.
pub(crate) fn be_careful() {
    CAREFUL.store(true, Ordering::SeqCst);
}

/// Ends the careful part, in which `done` was done. A signal that came meanwhile is answered now.
pub(crate) fn answer(done: &str) -> Result<(), Failure> {
    CAREFUL.store(false, Ordering::SeqCst);
    asked().map_or(Ok(()), |signal| Err(Failure::Stopped(signal, done.to_owned())))
}

/// `path` is removed if the work is ended from here.
pub(crate) fn remove_at_exit(path: &Path) {
    litter(|litter| litter.files.push(path.to_owned()));
}

/// Temporary files of this process beside `path` are removed if the work is ended from here.
pub(crate) fn sweep_at_exit(path: &Path) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    litter(|litter| litter.folders.push(folder.to_owned()));
}

/// `will` is done before the work is ended from here: for work that waits where it cannot be asked.
pub(crate) fn last_will(will: impl FnOnce(i32) + Send + 'static) {
    *LAST_WILL.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(will));
}

fn litter(tell: impl FnOnce(&mut Litter)) {
    tell(&mut LITTER.lock().unwrap_or_else(PoisonError::into_inner));
}

/// Ends the program between two lines of output.
fn leave(signal: i32) {
    let will = LAST_WILL.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(will) = will {
        will(signal);
    }
    let end = move || {
        litter(Litter::clear);
        exit(signal);
    };
    let patient = thread::spawn(move || {
        // Results are printed in whole lines, each time under this lock.
        let _whole_lines = io::stdout().lock();
        end();
    });
    thread::sleep(PATIENCE);
    drop(patient);
    end();
}

#[expect(clippy::exit, reason = "the thread that works knows nothing of signals")]
fn exit(signal: i32) -> ! {
    std::process::exit(code(signal))
}

impl Litter {
    fn clear(&mut self) {
        for file in self.files.drain(..) {
            let _ = fs::remove_file(file);
        }
        let marks = [format!(".{}-", std::process::id()), format!("-{}-", std::process::id())];
        for entry in self.folders.drain(..).filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten()
        {
            let name = entry.file_name().to_string_lossy().into_owned();
            let ours = name.starts_with('.')
                && entry.path().extension().is_some_and(|extension| extension == "tmp")
                && marks.iter().any(|mark| name.contains(mark.as_str()));
            if ours {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}
