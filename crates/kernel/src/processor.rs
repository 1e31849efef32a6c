//! The processor as a device: all cores, panel by panel. What every other device must equal.

use crate::device::{Device, Effort, Log, Supports, Trouble, Worker};
use crate::kernels::Kernel;
use crate::learned::{Entry, NO_ROW};
use crate::products::{Block, Wanted, joined};
use crate::simd::PANEL;
use crate::space::Limits;
use rosenblatt_core::SparseRows;
use rosenblatt_core::threads::{self, on_threads};
use std::sync::Mutex;
use std::time::Instant;

/// The processor.
#[derive(Debug, Clone, Copy)]
pub struct Processor {
    memory: usize,
    threads: usize,
}

impl Processor {
    /// The processor, which may use so much.
    pub fn new(limits: &Limits) -> Self {
        Self { memory: limits.memory, threads: limits.threads }
    }

    /// A worker for any kernel.
    pub(crate) fn hired(self) -> Box<dyn Worker> {
        let threads = if self.threads == 0 { threads::available() } else { self.threads };
        Box::new(Cores {
            memory: self.memory,
            threads,
            block: Block::default(),
            constant: 0.0,
            values: Vec::new(),
            strips: Vec::new(),
            met: Vec::new(),
            effort: Effort::default(),
        })
    }
}

impl Default for Processor {
    fn default() -> Self {
        Self::new(&Limits::default())
    }
}

impl Device for Processor {
    fn name(&self) -> String {
        "the processor".to_owned()
    }

    fn at_once(&self) -> usize {
        4 * PANEL
    }

    fn worker(&self, _kernel: &dyn Kernel, _constant: f64) -> Result<Option<Box<dyn Worker>>, Trouble> {
        Ok(Some(self.hired()))
    }
}

/// All cores at work.
#[derive(Debug)]
struct Cores {
    memory: usize,
    threads: usize,
    block: Block,
    constant: f64,
    /// Room for kernel values.
    values: Vec<f64>,
    /// The values of rows that were met with all others, and by slot, where they begin.
    strips: Vec<f64>,
    met: Vec<usize>,
    effort: Effort,
}

impl Worker for Cores {
    fn pack(
        &mut self,
        supports: &Supports<'_>,
        parts: &[SparseRows],
        numbers: &[u32],
    ) -> Result<(), Trouble> {
        let rows = joined(parts);
        self.block = Block::pack(supports.kernel, supports.rows, &rows, numbers);
        self.constant = supports.constant;
        self.strips.clear();
        self.met.clear();
        self.met.resize(rows.len(), 0);
        Ok(())
    }

    fn catch_up(
        &mut self,
        supports: &Supports<'_>,
        log: &Log<'_>,
        until: &[usize],
        sums: &mut [f64],
    ) -> Result<(), Trouble> {
        let from = until.first().copied().unwrap_or(0);
        let (last_use, n_outputs) = (log.last_use, log.n_outputs);
        let log = &log.entries[from..];
        if log.is_empty() {
            return Ok(());
        }
        let listed = used_since(log, from, last_use);
        let mut at = vec![u32::MAX; supports.rows.len()];
        for (place, row) in listed.iter().enumerate() {
            at[*row as usize] = place as u32;
        }
        let n_panels = self.block.n_panels();
        let first_needed: Vec<usize> = (0..n_panels)
            .map(|panel| listed.partition_point(|row| last_use[*row as usize] < until[panel * PANEL]))
            .collect();
        let panel_bytes = listed.len().max(1) * PANEL * 8;
        let at_once = (self.memory / 2 / panel_bytes).clamp(1, n_panels.max(1));
        let per_panel = n_outputs * PANEL;
        for first in (0..n_panels).step_by(at_once) {
            let panels = first..n_panels.min(first + at_once);
            let start = now();
            let wanted = Wanted {
                kernel: supports.kernel,
                supports: supports.rows,
                block: &self.block,
                listed: &listed,
                panels: panels.clone(),
                from: &first_needed,
                constant: supports.constant,
                threads: self.threads,
            };
            wanted.fill(&mut self.values);
            self.effort.pairs += wanted.n_pairs();
            self.effort.seconds += start.map_or(0.0, |start| start.elapsed().as_secs_f64());
            let sums = &mut sums[panels.start * per_panel..panels.end * per_panel];
            let values = &self.values;
            let tasks: Vec<(usize, &mut [f64])> = panels.clone().zip(sums.chunks_mut(per_panel)).collect();
            let n_threads = if log.len() < 64 { 1 } else { self.threads.min(tasks.len()) };
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
        Ok(())
    }

    fn own(&self, slot: usize) -> f64 {
        self.block.own(slot) + self.constant
    }

    fn meet(&mut self, supports: &Supports<'_>, support: u32, slot: usize) {
        let n_panels = self.block.n_panels();
        let wanted = Wanted {
            kernel: supports.kernel,
            supports: supports.rows,
            block: &self.block,
            listed: &[support],
            panels: 0..n_panels,
            from: &vec![0; n_panels],
            constant: supports.constant,
            threads: 1,
        };
        wanted.fill(&mut self.values);
        self.met[slot] = self.strips.len();
        self.strips.extend_from_slice(&self.values);
    }

    fn strip(&self, slot: usize, panel: usize) -> &[f64] {
        &self.strips[self.met[slot] + panel * PANEL..][..PANEL]
    }

    fn values(&mut self, supports: &Supports<'_>, values: &mut Vec<f64>) -> Result<(), Trouble> {
        let n_panels = self.block.n_panels();
        let listed: Vec<u32> = (0..supports.rows.len() as u32).collect();
        let wanted = Wanted {
            kernel: supports.kernel,
            supports: supports.rows,
            block: &self.block,
            listed: &listed,
            panels: 0..n_panels,
            from: &vec![0; n_panels],
            constant: supports.constant,
            threads: self.threads,
        };
        wanted.fill(values);
        Ok(())
    }

    fn effort(&self) -> Effort {
        self.effort
    }
}

/// The support rows of these moves, the first of which has the number `from`. Ordered by their last use, so that what
/// is needed since some moment is the end of the list.
pub fn used_since(log: &[Entry], from: usize, last_use: &[usize]) -> Vec<u32> {
    let is_last = |(place, entry): &(usize, &Entry)| {
        entry.row != NO_ROW && last_use[entry.row as usize] == from + place
    };
    log.iter().enumerate().filter(is_last).map(|(_, entry)| entry.row).collect()
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

/// The time, where there is a clock: a page has none.
fn now() -> Option<Instant> {
    (!cfg!(target_family = "wasm")).then(Instant::now)
}
