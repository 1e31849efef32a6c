//! Signals, in one place: the first asks for a clean end, the second ends at once.
//!
//! Work that can stop by itself with something to show for it (training, with a checkpoint) says so with
//! [`be_careful`] and asks [`asked`] now and then; if it does not ask for too long, it is in a part that knows nothing of
//! signals, such as the fit of a feature map, and is ended from here. All other work is ended from here, after its [last
//! will](last_will): output stops between two lines, temporary files are removed, and the exit code is 129,
//! 130 or 143 as shells expect.

use crate::failure::Failure;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{io, thread};

/// The signal that came, or 0.
static ASKED: AtomicI32 = AtomicI32::new(0);
/// Whether the work at hand stops by itself.
static CAREFUL: AtomicBool = AtomicBool::new(false);
/// Whether careful work has heard of the signal, or was ended before it did.
static HEARD: AtomicU8 = AtomicU8::new(UNHEARD);

const UNHEARD: u8 = 0;
const IS_HEARD: u8 = 1;
const ENDED: u8 = 2;
/// What is done before the work is ended from here.
static LAST_WILL: Mutex<Option<Will>> = Mutex::new(None);

type Will = Box<dyn FnOnce(i32) + Send>;

/// How long a line that is being written may take before it is cut off after all.
const PATIENCE: Duration = Duration::from_secs(3);

/// How long careful work may not ask for signals before it is ended.
#[cfg(unix)]
const DEAFNESS: Duration = Duration::from_secs(6);

/// Without signals there is nothing to answer.
#[cfg(not(unix))]
pub(crate) fn watch() -> io::Result<()> {
    Ok(())
}

/// From now on signals are answered.
#[cfg(unix)]
pub(crate) fn watch() -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::flag;
    use signal_hook::iterator::Signals;
    /// A terminal that is closed asks for a clean end, too.
    const ANSWERED: [i32; 3] = [SIGHUP, SIGINT, SIGTERM];
    let second = Arc::new(AtomicBool::new(false));
    for signal in ANSWERED {
        // In the handler itself, so that it works even if all threads are stuck. The order matters: the
        // first signal finds the flag down and raises it.
        flag::register_conditional_shutdown(signal, code(signal), Arc::clone(&second))?;
        flag::register(signal, Arc::clone(&second))?;
    }
    let mut signals = Signals::new(ANSWERED)?;
    let answer = move || {
        for signal in signals.forever() {
            ASKED.store(signal, Ordering::SeqCst);
            if CAREFUL.load(Ordering::SeqCst) {
                give_time();
            }
            if !CAREFUL.load(Ordering::SeqCst) {
                leave(signal);
            }
        }
    };
    thread::Builder::new().name("signals".to_owned()).spawn(answer).map(drop)
}

/// Waits until careful work has heard of the signal, which then ends by itself; else it is careful no longer.
#[cfg(unix)]
fn give_time() {
    let start = Instant::now();
    let is_deaf = || CAREFUL.load(Ordering::SeqCst) && HEARD.load(Ordering::SeqCst) == UNHEARD;
    while is_deaf() && start.elapsed() < DEAFNESS {
        thread::sleep(Duration::from_millis(50));
    }
    if is_deaf() && HEARD.compare_exchange(UNHEARD, ENDED, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
        CAREFUL.store(false, Ordering::SeqCst);
    }
}

/// The signal that asks to stop, if one came.
pub(crate) fn asked() -> Option<i32> {
    let signal = Some(ASKED.load(Ordering::SeqCst)).filter(|&signal| signal != 0)?;
    while HEARD.compare_exchange(UNHEARD, IS_HEARD, Ordering::SeqCst, Ordering::SeqCst) == Err(ENDED) {
        // The program ends at this moment, and nothing is begun beside that.
        thread::park();
    }
    Some(signal)
}

/// The exit code that tells of `signal`.
pub(crate) fn code(signal: i32) -> i32 {
    128 + signal
}

/// From now on the work at hand stops by itself when asked, and [answers](answer) when it has. A will that is being
/// done already is the end of the program: nothing is begun beside it.
pub(crate) fn be_careful() {
    CAREFUL.store(true, Ordering::SeqCst);
    *LAST_WILL.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

/// Ends the careful part, in which `done` was done. A signal that came meanwhile is answered now.
pub(crate) fn answer(done: &str) -> Result<(), Failure> {
    CAREFUL.store(false, Ordering::SeqCst);
    asked().map_or(Ok(()), |signal| Err(Failure::Stopped(signal, done.to_owned())))
}

/// `will` is done before the work is ended from here: for work that waits where it cannot be asked.
pub(crate) fn last_will(will: impl FnOnce(i32) + Send + 'static) {
    *LAST_WILL.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(will));
}

/// Ends the program between two lines of output, unless its work has become careful in the meantime.
fn leave(signal: i32) {
    // Held to the end: who would be careful now waits for it.
    let mut will = LAST_WILL.lock().unwrap_or_else(PoisonError::into_inner);
    if CAREFUL.load(Ordering::SeqCst) {
        return;
    }
    if let Some(will) = will.take() {
        will(signal);
    }
    let end = move || {
        rosenblatt_data::files::remove_unfinished();
        exit(signal);
    };
    let patient = move || {
        // Results are printed in whole lines, each time under this lock.
        let _whole_lines = io::stdout().lock();
        end();
    };
    if thread::Builder::new().spawn(patient).is_ok() {
        thread::sleep(PATIENCE);
    }
    end();
}

#[expect(clippy::exit, reason = "the thread that works knows nothing of signals")]
fn exit(signal: i32) -> ! {
    std::process::exit(code(signal))
}
