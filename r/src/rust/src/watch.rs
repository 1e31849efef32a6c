//! Ctrl-C while the engine works.

use crate::failure::Failure;
use rosenblatt::learning::Totals;
use rosenblatt::monitor::{CheckpointRequest, Checkpointer, Watch};
use rosenblatt::{Dataset, Error, Monitor, Spec};
use std::cell::Cell;
use std::ffi::c_void;
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// How often R is asked whether the user wants to stop.
const EVERY: Duration = Duration::from_millis(100);

unsafe extern "C" {
    fn R_CheckUserInterrupt();
    fn R_ToplevelExec(function: extern "C" fn(*mut c_void), data: *mut c_void) -> i32;
}

extern "C" fn check(_: *mut c_void) {
    // SAFETY: this runs below `R_ToplevelExec`, which catches the jump, and there is no Rust frame to be jumped over that
    // owns anything.
    unsafe { R_CheckUserInterrupt() }
}

/// Stops the engine where R's user wants to stop.
pub(crate) struct Watching {
    asked: Cell<Instant>,
    is_stopped: Cell<bool>,
    /// R may be asked from its own thread alone.
    home: ThreadId,
}

impl Default for Watching {
    fn default() -> Self {
        Self { asked: Cell::new(Instant::now()), is_stopped: Cell::new(false), home: thread::current().id() }
    }
}

impl Watching {
    fn stop(&self) -> bool {
        if !self.is_stopped.get()
            && self.asked.get().elapsed() >= EVERY
            && thread::current().id() == self.home
        {
            self.asked.set(Instant::now());
            // SAFETY: this is the thread that R called us on, and `check` has the form that R expects.
            let went_well = unsafe { R_ToplevelExec(check, std::ptr::null_mut()) };
            self.is_stopped.set(went_well == 0);
        }
        self.is_stopped.get()
    }

    pub(crate) fn unless_stopped(&self) -> Result<(), Failure> {
        if self.stop() { Err(Failure::Interrupted) } else { Ok(()) }
    }

    /// The same for work that asks by a plain function.
    pub(crate) fn wants_to_stop(&self) -> bool {
        self.stop()
    }
}

impl Monitor for Watching {
    fn wants_to_stop(&mut self) -> bool {
        self.stop()
    }

    fn training<'a>(&'a mut self, _: &'a Spec, _: Option<&'a Dataset>) -> Result<Watch<'a>, Error> {
        Ok(Watch { checkpointer: Box::new(Asked(self)), observer: Box::new(()) })
    }
}

/// Asks R while a model is trained.
struct Asked<'a>(&'a Watching);

impl Checkpointer for Asked<'_> {
    fn request(&mut self, _so_far: &Totals) -> CheckpointRequest {
        if self.0.stop() { CheckpointRequest::SaveAndStop } else { CheckpointRequest::Continue }
    }

    fn save(&mut self, _checkpoint: &[u8]) {}
}
