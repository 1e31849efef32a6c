//! Reports progress to the caller, and asks whether to go on.
//!
//! Nothing in this crate reads a clock. A limit on time is a [`Watch`] that says stop when its time is up, and it is
//! asked often: in every part, by every loop that could take long, a few thousand times a second at least.

use std::cell::Cell;
use std::ops::ControlFlow;

/// What time is spent on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The verdict, and the margin.
    Verdict,
    /// Findings beyond the verdict. To get them although the verdict takes long, stop the verdict earlier.
    Rest,
}

/// How far a decision has come.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// What time is spent on.
    pub part: Part,
    /// What is being done.
    pub doing: &'a str,
    /// What the margin lies between, as far as doubles can tell; the lower bound may be negative.
    pub margin: Option<(f64, f64)>,
}

/// Receives the progress of a decision, and answers whether it should go on.
pub type Watch<'a> = dyn Fn(Progress<'_>) -> ControlFlow<()> + 'a;

/// A watch, with the progress to report. Once it has answered stop, it is not asked again.
pub(crate) struct Clock<'a> {
    watch: &'a Watch<'a>,
    part: Part,
    doing: Cell<&'static str>,
    margin: Cell<Option<(f64, f64)>>,
    over: Cell<bool>,
}

impl<'a> Clock<'a> {
    pub(crate) fn new(watch: &'a Watch<'a>) -> Self {
        Self::of_part(watch, Part::Verdict)
    }

    pub(crate) fn of_part(watch: &'a Watch<'a>, part: Part) -> Self {
        Self { watch, part, doing: Cell::new("starting"), margin: Cell::new(None), over: Cell::new(false) }
    }

    /// What is being done from now on.
    pub(crate) fn begin(&self, doing: &'static str) {
        self.doing.set(doing);
    }

    /// What the margin lies between from now on.
    pub(crate) fn note(&self, margin: Option<(f64, f64)>) {
        self.margin.set(margin);
    }

    /// Whether to stop.
    pub(crate) fn is_over(&self) -> bool {
        if !self.over.get() {
            let progress = Progress { part: self.part, doing: self.doing.get(), margin: self.margin.get() };
            self.over.set((self.watch)(progress).is_break());
        }
        self.over.get()
    }

    /// Whether the watch has stopped the work, without asking again.
    pub(crate) fn has_said_stop(&self) -> bool {
        self.over.get()
    }
}
