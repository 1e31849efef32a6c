//! The space of kernel hypotheses, scored block by block: exactly the sequential algorithm, as matrix products.
//!
//! When a block of rows is about to be visited, its kernel values with the support rows come from one product, and
//! the log is added up for all of its rows side by side. When a row moves an output inside the block, its values with
//! the block's other rows correct their scores. While rows stay ([`Space::stays`]) the sum of each is kept, with the
//! place in the log it is good for: in later epochs only what was added since is computed. All of it adds the same
//! numbers in the same order as [`Plain`](crate::Plain), and so gives the same bits.

use crate::device::{Device, Effort, Log, Trouble, Worker};
use crate::expansion::Expansion;
use crate::kernels::Kernel;
use crate::learned::{Learned, NO_ROW};
use crate::processor::Processor;
use crate::products::{Gathered, suits_dense};
use crate::rows::Rows;
use crate::simd::PANEL;
use rosenblatt_core::memory::{Ballot, Kept};
use rosenblatt_core::space::{Move, Outcome, Shape, Space};
use rosenblatt_core::state::{Resumable, State, StateError, refuse};
use rosenblatt_core::{Examples, Hypothesis, Readout, Row, Visits};
use std::sync::Arc;

/// How many rows are handed over at once to a worker that keeps them.
const KEPT_AT_ONCE: usize = 1 << 14;

/// How much a kernel space may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes for sums that are kept and for values that are computed ahead. Support rows are not counted: they are
    /// the hypothesis itself.
    pub memory: usize,
    /// Rows that are scored at once.
    pub block: usize,
    /// Threads; 0 is one per core.
    pub threads: usize,
    /// Whether support rows are stored with their zeros; as it suits the first rows if `None`. Changes nothing
    /// but the time it takes.
    pub dense: Option<bool>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { memory: 1 << 30, block: 4 * PANEL, threads: 0, dense: None }
    }
}

/// Kernel hypotheses that learn.
#[derive(Debug, Clone)]
pub struct KernelSpace {
    learned: Learned,
    limits: Limits,
    seed: u64,
    normalised: bool,
    /// By support row: where in the log it was last stepped along.
    last_use: Vec<usize>,
    ahead: Ahead,
    /// What is known of rows that stay.
    known: Option<Known>,
    /// Whether rows stay and keep their numbers.
    stays: bool,
    /// Room for the rows of a block.
    gathered: Gathered,
    worker: OwnWorker,
    /// What those took who have left.
    effort: Effort,
}

/// The worker that computes, once there is something to compute. A copy finds its own.
#[derive(Debug, Default)]
struct OwnWorker(Option<Box<dyn Worker>>);

impl Clone for OwnWorker {
    fn clone(&self) -> Self {
        Self(None)
    }
}

/// The block that is being visited.
#[derive(Debug, Clone, Default)]
struct Ahead {
    /// By place: the row's number, and its slot in the block.
    places: Vec<(u32, u32)>,
    /// The sums as they stand: panel by panel, output by output, slot by slot.
    sums: Vec<f64>,
    /// By place: which support row it is, if it has moved an output.
    moved: Vec<Option<u32>>,
}

/// The sums of rows that stay.
#[derive(Debug, Clone)]
struct Known {
    /// Row by row, output by output.
    sums: Vec<f64>,
    /// Up to which place in the log they are good.
    until: Vec<usize>,
}

impl KernelSpace {
    /// A space in which nothing is learned yet.
    pub fn new(kernel: Arc<dyn Kernel>, shape: Shape, limits: Limits) -> Self {
        let mut learned = Learned::new(kernel, shape);
        learned.device = Arc::new(Processor::new(&limits));
        Self {
            learned,
            limits,
            seed: 0,
            normalised: false,
            last_use: Vec::new(),
            ahead: Ahead::default(),
            known: None,
            stays: false,
            gathered: Gathered::default(),
            worker: OwnWorker::default(),
            effort: Effort::default(),
        }
    }

    /// Computes on this device as long as it works, and then on the processor, which gives the same bits.
    #[must_use]
    pub fn on(mut self, device: Arc<dyn Device>) -> Self {
        self.learned.device = device;
        self
    }

    /// Why the device does not compute, if it does not: the processor has taken over.
    pub fn trouble(&self) -> Option<&Trouble> {
        self.learned.trouble.as_ref()
    }

    /// Read-outs divide every hypothesis by its length.
    #[must_use]
    pub fn normalised(self, normalised: bool) -> Self {
        Self { normalised, ..self }
    }

    /// Decides which hypothesis a random read-out draws.
    #[must_use]
    pub fn seeded(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// What is learned so far.
    pub fn learned(&self) -> &Learned {
        &self.learned
    }

    /// What the kernel values of blocks with support rows took so far.
    pub fn effort(&self) -> Effort {
        let now = self.worker.0.as_ref().map_or(Effort::default(), |worker| worker.effort());
        Effort { pairs: self.effort.pairs + now.pairs, seconds: self.effort.seconds + now.seconds }
    }

    /// Lets the worker go, with all that it kept of rows.
    fn let_go(&mut self) {
        self.effort = self.effort();
        self.worker = OwnWorker::default();
        self.stays = false;
    }

    /// Keeps the sums of the block's rows, which are all good up to the end of the log.
    fn retire(&mut self) {
        let n_outputs = self.learned.n_outputs;
        if let Some(known) = &mut self.known {
            for &(row, slot) in &self.ahead.places {
                let kept = &mut known.sums[row as usize * n_outputs..][..n_outputs];
                for (output, sum) in kept.iter_mut().enumerate() {
                    *sum = self.ahead.sums[sum_at(n_outputs, slot as usize, output)];
                }
                known.until[row as usize] = self.learned.log.len();
            }
        }
        self.ahead.places.clear();
    }

    /// Has the worker take up the rows of these numbers and bring their sums, each good up to `until` (ascending), to
    /// the end of the log.
    fn take_up<E: Examples>(&mut self, examples: E, numbers: &[u32], until: &[usize]) {
        let Self { learned, last_use, ahead, worker: own, limits, gathered, stays, .. } = self;
        let Some(supports) = learned.supports() else { return };
        let log = Log { entries: &learned.log, last_use, n_outputs: learned.n_outputs };
        let width = supports.rows.width();
        let keep_all = |worker: &mut Box<dyn Worker>, gathered: &mut Gathered| {
            if !*stays || !worker.would_keep(&supports, examples.len()) {
                return Ok(());
            }
            let rows: Vec<u32> = (0..examples.len() as u32).collect();
            gathered.in_turn(examples, &rows, width, KEPT_AT_ONCE, |parts, _| {
                worker.keep(&supports, parts, examples.len())
            })
        };
        let found = match own.0.take() {
            Some(worker) => Ok(Some(worker)),
            None if learned.trouble.is_some() => Ok(None),
            None => learned.device.worker(supports.kernel, supports.constant).and_then(|found| {
                let Some(mut worker) = found else { return Ok(None) };
                keep_all(&mut worker, gathered).map(|()| Some(worker))
            }),
        };
        let mut work = |worker: &mut Box<dyn Worker>| {
            if !(*stays && worker.pack_kept(&supports, numbers)?) {
                let rows = gathered.of(examples, Visits::Listed(numbers), width);
                worker.pack(&supports, rows, numbers)?;
            }
            worker.catch_up(&supports, &log, until, &mut ahead.sums)
        };
        let done = found.and_then(|found| match found {
            Some(mut worker) => work(&mut worker).map(|()| Some(worker)),
            None => Ok(None),
        });
        let (worker, trouble) = match done {
            Ok(Some(worker)) => (worker, None),
            other => {
                let mut worker = Processor::new(limits).hired();
                // The processor is never in trouble.
                let _ = work(&mut worker);
                (worker, other.err())
            }
        };
        own.0 = Some(worker);
        learned.trouble = learned.trouble.take().or(trouble);
    }
}

/// Where the sum of a slot for an output stands.
#[inline(always)]
fn sum_at(n_outputs: usize, slot: usize, output: usize) -> usize {
    (slot / PANEL * n_outputs + output) * PANEL + slot % PANEL
}

impl Hypothesis for KernelSpace {
    fn n_outputs(&self) -> usize {
        self.learned.n_outputs
    }

    fn weights(&self, _output: usize) -> Vec<f64> {
        Vec::new()
    }

    fn bias(&self, output: usize) -> f64 {
        self.learned.bias_of(output)
    }

    fn norm2(&self, output: usize) -> f64 {
        self.learned.norm2(output)
    }

    fn moves(&self, output: usize) -> u64 {
        self.learned.moves(output)
    }
}

impl Space for KernelSpace {
    type Memory = ();

    fn block<E: Examples>(&self, _examples: E) -> usize {
        let n_supports = self.learned.rows().map_or(0, Rows::len);
        self.learned.device.block(n_supports).unwrap_or(self.limits.block)
    }

    fn prepare<E: Examples>(&mut self, examples: E, visits: Visits<'_>) {
        self.retire();
        let n_rows = visits.len();
        let rows: Vec<u32> = (0..n_rows).map(|place| visits.row(place) as u32).collect();
        let good_until = |row: u32| self.known.as_ref().map_or(0, |known| known.until[row as usize]);
        let mut slots: Vec<u32> = (0..n_rows as u32).collect();
        slots.sort_by_key(|place| good_until(rows[*place as usize]));
        let packed: Vec<u32> = slots.iter().map(|place| rows[*place as usize]).collect();
        let until: Vec<usize> = packed.iter().map(|row| good_until(*row)).collect();
        let kernel = Arc::clone(&self.learned.kernel);
        let chosen = self.limits.dense;
        self.learned.rows_or(|| chosen.unwrap_or_else(|| suits_dense(&*kernel, examples, &rows)));
        self.ahead.places = rows.iter().map(|row| (*row, 0)).collect();
        let n_outputs = self.learned.n_outputs;
        self.ahead.sums.clear();
        self.ahead.sums.resize(n_rows.next_multiple_of(PANEL) * n_outputs, 0.0);
        for (slot, place) in slots.iter().enumerate() {
            let place = &mut self.ahead.places[*place as usize];
            place.1 = slot as u32;
            if let Some(known) = &self.known {
                for output in 0..n_outputs {
                    self.ahead.sums[sum_at(n_outputs, slot, output)] =
                        known.sums[place.0 as usize * n_outputs + output];
                }
            }
        }
        self.ahead.moved.clear();
        self.ahead.moved.resize(n_rows, None);
        self.take_up(examples, &packed, &until);
    }

    #[inline]
    fn scores<R: Row>(&self, place: usize, _row: R, scores: &mut [f64]) {
        let slot = self.ahead.places[place].1 as usize;
        for (output, score) in scores.iter_mut().enumerate() {
            let sum = self.ahead.sums[sum_at(self.learned.n_outputs, slot, output)];
            *score = sum + self.learned.bias_of(output);
        }
    }

    fn spread<R: Row>(&self, place: usize, _output: usize, _row: R) -> f64 {
        self.worker.0.as_ref().map_or(0.0, |worker| worker.own(self.ahead.places[place].1 as usize))
    }

    fn is_still<R: Row>(&self, row: R) -> bool {
        self.learned.kernel.ignores_zeros() && row.is_zero()
    }

    fn shift<R: Row>(&mut self, place: usize, row: R, step: Move, _memory: &mut ()) {
        let (number, slot) = self.ahead.places[place];
        let Some(worker) = &mut self.worker.0 else { return };
        let support = if step.amount == 0.0 {
            NO_ROW
        } else if let Some(moved) = self.ahead.moved[place] {
            moved
        } else {
            // Looked at several times from here on.
            let entries: Vec<(usize, f64)> = row.entries().filter(|(_, value)| *value != 0.0).collect();
            let support = self.learned.support(entries.into_iter(), number as usize);
            if let Some(supports) = self.learned.supports() {
                worker.meet(&supports, support, slot as usize);
            }
            self.ahead.moved[place] = Some(support);
            support
        };
        let entry = self.learned.note(support, step, worker.own(slot as usize));
        if entry.row != NO_ROW {
            self.last_use.resize(self.learned.rows.as_ref().map_or(0, Rows::len), 0);
            self.last_use[support as usize] = self.learned.log.len() - 1;
        }
        let per_panel = self.learned.n_outputs * PANEL;
        for (panel, sums) in self.ahead.sums.chunks_exact_mut(per_panel).enumerate() {
            let values = if entry.row == NO_ROW { &[] } else { worker.strip(slot as usize, panel) };
            entry.apply_at(values, &mut sums[step.output * PANEL..][..PANEL]);
        }
    }

    fn stays<E: Examples>(&mut self, examples: E) {
        self.let_go();
        self.stays = true;
        let n_rows = examples.len();
        let bytes = n_rows.saturating_mul(8 * (self.learned.n_outputs + 1));
        self.known = (bytes <= self.limits.memory / 2)
            .then(|| Known { sums: vec![0.0; n_rows * self.learned.n_outputs], until: vec![0; n_rows] });
        self.ahead.places.clear();
    }

    fn leaves(&mut self) {
        self.known = None;
        self.ahead = Ahead::default();
        self.let_go();
    }

    // Lengths cost nothing here: they are always known.
    fn track_norm(&mut self) {}

    fn widen(&mut self, width: usize) {
        self.learned.widen(width);
    }
}

impl Resumable for KernelSpace {
    fn save<'a>(&'a self, state: &mut State<'a>) {
        self.learned.save(state);
    }

    fn restore(&mut self, state: &mut State<'_>) -> Result<(), StateError> {
        self.learned.restore(state)?;
        self.last_use = vec![0; self.learned.rows.as_ref().map_or(0, Rows::len)];
        for (place, entry) in self.learned.log.iter().enumerate() {
            if entry.row != NO_ROW {
                self.last_use[entry.row as usize] = place;
            }
        }
        Ok(())
    }
}

impl Outcome for KernelSpace {
    fn read(&self, _memory: &(), readout: Readout, ballot: Ballot, rounds: u64) -> Option<Kept> {
        let read = Expansion::read(&self.learned, readout, ballot, rounds, self.normalised, self.seed)?;
        Some(Kept::Other(Arc::new(read)))
    }

    fn restore_memory(
        &self,
        _memory: &mut (),
        _state: &mut State<'_>,
        rounds: u64,
    ) -> Result<(), StateError> {
        // What is remembered is the log itself, which must not be ahead of the run.
        match self.learned.log.last() {
            Some(last) if last.round > rounds => Err(refuse("the moves go beyond the rounds of the run")),
            _ => Ok(()),
        }
    }

    fn is_finite(&self) -> bool {
        self.learned.is_finite()
    }
}
