//! The space of kernel hypotheses, scored block by block: exactly the sequential algorithm, as matrix products.
//!
//! When a block of rows is about to be visited, its kernel values with the support rows come from one product, and
//! the log is added up for all of its rows side by side. When a row moves an output inside the block, its values with
//! the block's other rows correct their scores. While rows stay ([`Space::stays`]) the sum of each is kept, with the
//! place in the log it is good for: in later epochs only what was added since is computed. All of it adds the same
//! numbers in the same order as [`Plain`](crate::Plain), and so gives the same bits.

use crate::expansion::Expansion;
use crate::kernels::Kernel;
use crate::learned::{Entry, Learned, NO_ROW};
use crate::products::{Block, Wanted, available_threads, on_threads, suits_dense};
use crate::rows::Rows;
use crate::simd::PANEL;
use rosenblatt_core::memory::{Ballot, Kept};
use rosenblatt_core::space::{Move, Outcome, Shape, Space};
use rosenblatt_core::state::{Resumable, State, StateError, refuse};
use rosenblatt_core::{Examples, Hypothesis, Readout, Row, Visits};
use std::sync::{Arc, Mutex};
use std::time::Instant;

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
    /// Whether support rows are stored with their zeros; as it suits the first rows if nothing is said. Changes nothing
    /// but the time it takes.
    pub dense: Option<bool>,
}

/// What the kernel values of a run took.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Effort {
    /// Pairs of rows, in blocks.
    pub pairs: u64,
    /// Seconds in which they were computed.
    pub seconds: f64,
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
    /// Room for kernel values.
    values: Vec<f64>,
    effort: Effort,
}

/// The block that is being visited.
#[derive(Debug, Clone, Default)]
struct Ahead {
    block: Block,
    /// By place: the row's number, and its slot in the block.
    places: Vec<(u32, u32)>,
    /// The sums as they stand: panel by panel, output by output, slot by slot.
    sums: Vec<f64>,
    /// By place: where its values with all slots begin in `strips`, if it has moved an output.
    moved: Vec<Option<(u32, usize)>>,
    strips: Vec<f64>,
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
        Self {
            learned: Learned::new(kernel, shape),
            limits,
            seed: 0,
            normalised: false,
            last_use: Vec::new(),
            ahead: Ahead::default(),
            known: None,
            values: Vec::new(),
            effort: Effort::default(),
        }
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
        self.effort
    }

    fn threads(&self) -> usize {
        if self.limits.threads == 0 { available_threads() } else { self.limits.threads }
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

    /// Brings the sums of the packed rows, each good up to `until` (ascending), to the end of the log.
    fn catch_up(&mut self, until: &[usize]) {
        let from = until.first().copied().unwrap_or(0);
        let log = &self.learned.log[from..];
        // Ordered by their last use, so that what a panel needs is the end of the list.
        let last_use = &self.last_use;
        let is_last = |(place, entry): &(usize, &Entry)| {
            entry.row != NO_ROW && last_use[entry.row as usize] == from + place
        };
        let listed: Vec<u32> = log.iter().enumerate().filter(is_last).map(|(_, entry)| entry.row).collect();
        let Some(rows) = self.learned.rows.as_ref().filter(|_| !log.is_empty()) else { return };
        let mut at = vec![u32::MAX; rows.len()];
        for (place, row) in listed.iter().enumerate() {
            at[*row as usize] = place as u32;
        }
        let n_panels = self.ahead.block.n_panels();
        let first_needed: Vec<usize> = (0..n_panels)
            .map(|panel| listed.partition_point(|row| last_use[*row as usize] < until[panel * PANEL]))
            .collect();
        let n_outputs = self.learned.n_outputs;
        let panel_bytes = listed.len().max(1) * PANEL * 8;
        let at_once = (self.limits.memory / 2 / panel_bytes).clamp(1, n_panels.max(1));
        let threads = self.threads();
        let per_panel = n_outputs * PANEL;
        for first in (0..n_panels).step_by(at_once) {
            let panels = first..n_panels.min(first + at_once);
            let start = Instant::now();
            let wanted = Wanted {
                kernel: &*self.learned.kernel,
                supports: rows,
                block: &self.ahead.block,
                listed: &listed,
                panels: panels.clone(),
                from: &first_needed,
                constant: self.learned.bias.spread(),
                threads,
            };
            wanted.fill(&mut self.values);
            self.effort.pairs += wanted.n_pairs();
            self.effort.seconds += start.elapsed().as_secs_f64();
            let sums = &mut self.ahead.sums[panels.start * per_panel..panels.end * per_panel];
            let values = &self.values;
            let tasks: Vec<(usize, &mut [f64])> = panels.clone().zip(sums.chunks_mut(per_panel)).collect();
            let n_threads = if log.len() < 64 { 1 } else { threads.min(tasks.len()) };
            let tasks = Mutex::new(tasks.into_iter());
            on_threads(n_threads, || {
                loop {
                    let task = tasks.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
                    let Some((panel, sums)) = task else { break };
                    let until = &until[panel * PANEL..until.len().min((panel + 1) * PANEL)];
                    let values = &values[(panel - panels.start) * listed.len() * PANEL..];
                    add_up(log, from, &at, until, values, sums);
                }
            });
        }
    }
}

/// Adds the entries of the log, the first of which has the number `from`, to the sums of one panel whose rows are
/// good up to `until`.
fn add_up(log: &[Entry], from: usize, at: &[u32], until: &[usize], values: &[f64], sums: &mut [f64]) {
    let mut n_rows = 0;
    for (place, entry) in log.iter().enumerate() {
        while until.get(n_rows).is_some_and(|until| *until <= from + place) {
            n_rows += 1;
        }
        let sums = &mut sums[entry.output as usize * PANEL..][..n_rows];
        let from = at.get(entry.row as usize).map_or(0, |at| *at as usize * PANEL);
        entry.apply_at(&values[from..], sums);
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
        self.limits.block
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
        let said = self.limits.dense;
        let supports =
            self.learned.rows_or(|| said.unwrap_or_else(|| suits_dense(&*kernel, examples, &rows)));
        self.ahead.block = Block::pack(&*kernel, supports, examples, &packed);
        self.ahead.places = rows.iter().map(|row| (*row, 0)).collect();
        let n_outputs = self.learned.n_outputs;
        self.ahead.sums.clear();
        self.ahead.sums.resize(self.ahead.block.n_panels() * PANEL * n_outputs, 0.0);
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
        self.ahead.strips.clear();
        self.catch_up(&until);
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
        self.ahead.block.own(self.ahead.places[place].1 as usize) + self.learned.bias.spread()
    }

    fn is_still<R: Row>(&self, row: R) -> bool {
        self.learned.kernel.ignores_zeros() && row.is_zero()
    }

    fn shift<R: Row>(&mut self, place: usize, row: R, step: Move, _memory: &mut ()) {
        let (number, slot) = self.ahead.places[place];
        let (support, strip) = if step.amount == 0.0 {
            (NO_ROW, 0)
        } else if let Some(moved) = self.ahead.moved[place] {
            moved
        } else {
            let entries: Vec<(usize, f64)> = row.entries().collect();
            let support = self.learned.support(entries.into_iter(), number as usize);
            let n_panels = self.ahead.block.n_panels();
            if let Some(supports) = &self.learned.rows {
                let wanted = Wanted {
                    kernel: &*self.learned.kernel,
                    supports,
                    block: &self.ahead.block,
                    listed: &[support],
                    panels: 0..n_panels,
                    from: &vec![0; n_panels],
                    constant: self.learned.bias.spread(),
                    threads: 1,
                };
                wanted.fill(&mut self.values);
            }
            let strip = self.ahead.strips.len();
            self.ahead.strips.extend_from_slice(&self.values);
            self.ahead.moved[place] = Some((support, strip));
            (support, strip)
        };
        let own = self.ahead.block.own(slot as usize) + self.learned.bias.spread();
        let entry = self.learned.note(support, step, own);
        if entry.row != NO_ROW {
            self.last_use.resize(self.learned.rows.as_ref().map_or(0, Rows::len), 0);
            self.last_use[support as usize] = self.learned.log.len() - 1;
        }
        let Ahead { block, sums, strips, .. } = &mut self.ahead;
        for panel in 0..block.n_panels() {
            let sums = &mut sums[sum_at(self.learned.n_outputs, panel * PANEL, step.output)..][..PANEL];
            entry.apply_at(strips.get(strip + panel * PANEL..).unwrap_or_default(), sums);
        }
    }

    fn stays<E: Examples>(&mut self, examples: E) {
        let n_rows = examples.len();
        let bytes = n_rows.saturating_mul(8 * (self.learned.n_outputs + 1));
        self.known = (bytes <= self.limits.memory / 2)
            .then(|| Known { sums: vec![0.0; n_rows * self.learned.n_outputs], until: vec![0; n_rows] });
        self.ahead.places.clear();
    }

    fn leaves(&mut self) {
        self.known = None;
        self.ahead = Ahead::default();
        self.values = Vec::new();
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
