//! Blocks of rows, packed side by side, and their kernel values with many support rows at once, on several threads.

use crate::kernels::{Kernel, Sum};
use crate::rows::{Rows, Stored, is_dense, norm2_of};
use crate::simd::{self, ABSENT, PANEL, SWEEP};
use rosenblatt_core::threads::{self, on_threads};
use rosenblatt_core::{Examples, Row, SparseRows, Visits};
use std::borrow::Cow;
use std::sync::Mutex;

/// Up to this many features, a table says where a panel has each; a file of a few kilobytes may claim any number. A
/// browser's page makes its own models, and stays small.
const MOST_PLACES: usize = if cfg!(target_arch = "wasm32") { usize::MAX } else { 1 << 22 };

/// How many support rows a thread takes at a time.
const CHUNK: usize = 8 * SWEEP;
/// Below this many multiplications another thread would cost more than it gains.
const WORTH_A_THREAD: usize = 1 << 21;

/// Rows side by side, in panels of [`PANEL`].
#[derive(Debug, Clone, Default)]
pub(crate) struct Block {
    panels: Vec<Panel>,
    /// `‖x‖²` by slot; zero where a panel is not full.
    norms2: Vec<f64>,
    /// The value of every row with itself, by slot.
    own: Vec<f64>,
}

#[derive(Debug, Clone)]
struct Panel {
    /// The features that any of its rows has, ascending; all if `None`.
    features: Option<Vec<u32>>,
    /// Feature by feature, the rows side by side.
    values: Vec<f64>,
    /// The rows one after the other, for kernels that want to see them.
    rows: Vec<f64>,
}

impl Block {
    /// Packs rows for values with rows stored like `supports`; row `k` has the number `numbers[k]`.
    pub(crate) fn pack(kernel: &dyn Kernel, supports: &Rows, rows: &SparseRows, numbers: &[u32]) -> Self {
        let n_slots = rows.len().div_ceil(PANEL) * PANEL;
        let mut block = Self {
            panels: Vec::with_capacity(n_slots / PANEL),
            norms2: vec![0.0; n_slots],
            own: vec![0.0; n_slots],
        };
        let width = supports.width();
        for (slot, &number) in numbers.iter().enumerate() {
            let entries = || rows.entries(slot);
            block.norms2[slot] = norm2_of(entries().map(|(_, value)| value));
            let sum = match kernel.sum() {
                _ if kernel.by_number() => {
                    entries().find(|(j, _)| *j == number as usize).map_or(0.0, |(_, x)| x)
                }
                Sum::Products => block.norms2[slot],
                Sum::Distances => 0.0,
                Sum::Minima => entries().map(|(_, value)| value).fold(0.0, |sum, value| sum + value),
                Sum::Rows => {
                    let mut all = vec![0.0; width];
                    entries().for_each(|(feature, value)| all[feature] = value);
                    kernel.of_rows(&all, &all)
                }
            };
            let mut own = [sum];
            kernel.finish(&mut own, block.norms2[slot], &[block.norms2[slot]]);
            block.own[slot] = own[0];
        }
        for first in (0..rows.len()).step_by(PANEL) {
            let here = || (first..rows.len().min(first + PANEL)).map(|row| rows.entries(row));
            let features = (!supports.is_dense()).then(|| {
                let mut features: Vec<u32> = here().flatten().map(|(j, _)| j as u32).collect();
                features.sort_unstable();
                features.dedup();
                features
            });
            let n_features = features.as_ref().map_or(width, Vec::len);
            let mut values = vec![0.0; n_features * PANEL];
            for (place, entries) in here().enumerate() {
                let mut from = 0;
                for (feature, value) in entries {
                    let at = features.as_ref().map_or(feature, |features| {
                        from += features[from..].partition_point(|other| (*other as usize) < feature);
                        from
                    });
                    values[at * PANEL + place] = value;
                }
            }
            let mut plain = Vec::new();
            if kernel.sum() == Sum::Rows {
                plain.resize(PANEL * width, 0.0);
                for (place, entries) in here().enumerate() {
                    entries.for_each(|(feature, value)| plain[place * width + feature] = value);
                }
            }
            block.panels.push(Panel { features, values, rows: plain });
        }
        block
    }

    pub(crate) fn n_panels(&self) -> usize {
        self.panels.len()
    }

    /// The value of the row in `slot` with itself.
    pub(crate) fn own(&self, slot: usize) -> f64 {
        self.own[slot]
    }
}

/// From how many rows on several threads gather them, and how many a thread takes at least.
const MANY: usize = 2048;
const SHARE: usize = 256;

/// Room for rows of a data set in one form, whatever form they have there; used again and again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Gathered {
    parts: Vec<SparseRows>,
    /// Those that come after them.
    next: Vec<SparseRows>,
}

impl Gathered {
    /// These rows of `examples`, as far as there are features, in parts that follow each other.
    pub(crate) fn of<E: Examples>(&mut self, examples: E, visits: Visits<'_>, width: usize) -> &[SparseRows] {
        let n_parts = gather(&mut self.parts, examples, visits, width);
        &self.parts[..n_parts]
    }

    /// Hands these rows over, a number at once; if they are many, the next are gathered meanwhile. Ends with the last,
    /// or when `take` wants no more.
    pub(crate) fn in_turn<E: Examples, F>(
        &mut self,
        examples: E,
        rows: &[u32],
        width: usize,
        at_once: usize,
        mut take: impl FnMut(&[SparseRows], &[u32]) -> Result<bool, F>,
    ) -> Result<(), F> {
        let Self { parts, next } = self;
        let gather = |room: &mut Vec<SparseRows>, rows| gather(room, examples, Visits::Listed(rows), width);
        let mut chunks = rows.chunks(at_once).peekable();
        let mut n_parts = chunks.peek().map_or(0, |rows| gather(parts, rows));
        while let Some(rows) = chunks.next() {
            let (here, after) = (&parts[..n_parts], chunks.peek().copied().unwrap_or(&[]));
            let (wants_more, n_next) = if after.len() < MANY || threads::available() == 1 {
                (take(here, rows)?, gather(next, after))
            } else {
                std::thread::scope(|scope| {
                    let gathering = scope.spawn(|| gather(next, after));
                    let wants_more = take(here, rows)?;
                    Ok((wants_more, gathering.join().unwrap_or(0)))
                })?
            };
            if !wants_more {
                break;
            }
            std::mem::swap(parts, next);
            n_parts = n_next;
        }
        Ok(())
    }
}

/// Gathers rows in parts, and says in how many. If they are many, each part is gathered by a thread.
fn gather<E: Examples>(parts: &mut Vec<SparseRows>, examples: E, visits: Visits<'_>, width: usize) -> usize {
    let share = visits.len().div_ceil(threads::available()).max(SHARE);
    let share = if visits.len() < MANY { MANY } else { share };
    let n_parts = visits.len().div_ceil(share);
    if parts.len() < n_parts {
        parts.resize_with(n_parts, SparseRows::default);
    }
    let tasks = Mutex::new(parts[..n_parts].iter_mut().enumerate());
    on_threads(n_parts, || {
        loop {
            let task = tasks.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
            let Some((part, rows)) = task else { break };
            rows.clear();
            for place in part * share..visits.len().min((part + 1) * share) {
                rows.push(examples.row(visits.row(place)), width);
            }
        }
    });
    n_parts
}

/// Rows that were gathered in parts, in one piece.
pub(crate) fn joined(parts: &[SparseRows]) -> Cow<'_, SparseRows> {
    if let [rows] = parts {
        return Cow::Borrowed(rows);
    }
    let mut rows = SparseRows::default();
    for part in parts {
        rows.append(part);
    }
    Cow::Owned(rows)
}

/// The entries of a row that are not zero, as far as there are features.
fn within<R: Row>(row: R, width: usize) -> impl Iterator<Item = (usize, f64)> {
    row.entries().filter(move |(feature, value)| *value != 0.0 && *feature < width)
}

/// Whether these rows are better met by support rows that store their zeros.
pub(crate) fn suits_dense<E: Examples>(kernel: &dyn Kernel, examples: E, rows: &[u32]) -> bool {
    if kernel.by_number() {
        return false;
    }
    let n_entries: usize =
        rows.iter().map(|&row| within(examples.row(row as usize), usize::MAX).count()).sum();
    kernel.sum() == Sum::Rows || is_dense(n_entries, rows.len(), examples.width())
}

/// The kernel values of support rows with some panels of a block.
pub(crate) struct Wanted<'a> {
    pub(crate) kernel: &'a dyn Kernel,
    pub(crate) supports: &'a Rows,
    pub(crate) block: &'a Block,
    /// Which support rows, in the order of the results.
    pub(crate) listed: &'a [u32],
    /// Which panels.
    pub(crate) panels: std::ops::Range<usize>,
    /// From which of the listed rows on values are wanted, panel by panel of the block.
    pub(crate) from: &'a [usize],
    /// What is added to every value.
    pub(crate) constant: f64,
    /// The most threads.
    pub(crate) threads: usize,
}

impl Wanted<'_> {
    /// How many pairs of rows that is, rows that fill up panels included.
    pub(crate) fn n_pairs(&self) -> u64 {
        let wanted =
            self.panels.clone().map(|panel| self.listed.len().saturating_sub(self.from[panel]) as u64);
        wanted.sum::<u64>() * PANEL as u64
    }

    /// The values: panel by panel, listed row by listed row, [`PANEL`] of them each. What is not wanted is left as
    /// it is.
    pub(crate) fn fill(&self, out: &mut Vec<f64>) {
        let n_listed = self.listed.len();
        out.resize(self.panels.len() * n_listed * PANEL, 0.0);
        if n_listed == 0 {
            return;
        }
        let mut parts: Vec<_> =
            out.chunks_mut(n_listed * PANEL).map(|panel| panel.chunks_mut(CHUNK * PANEL)).collect();
        let n_chunks = n_listed.div_ceil(CHUNK);
        let tasks: Vec<(usize, Vec<&mut [f64]>)> = (0..n_chunks)
            .map(|chunk| (chunk * CHUNK, parts.iter_mut().filter_map(Iterator::next).collect()))
            .collect();
        let work = self.n_pairs() as usize * self.supports.width();
        let n_threads = if work < WORTH_A_THREAD { 1 } else { self.threads };
        let tasks = Mutex::new(tasks.into_iter());
        on_threads(n_threads.min(n_chunks), || {
            let mut places = Vec::new();
            loop {
                // The lock is let go before the work begins.
                let task = tasks.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
                let Some((first, parts)) = task else { break };
                self.fill_chunk(first, parts, &mut places);
            }
        });
    }

    fn fill_chunk(&self, first: usize, parts: Vec<&mut [f64]>, places: &mut Vec<u32>) {
        for (panel, part) in self.panels.clone().zip(parts) {
            let n_here = part.len() / PANEL;
            let skipped = self.from[panel].saturating_sub(first).min(n_here);
            let listed = &self.listed[first + skipped..first + n_here];
            let part = &mut part[skipped * PANEL..];
            self.sums(listed, &self.block.panels[panel], part, places);
            let norms2 = &self.block.norms2[panel * PANEL..][..PANEL];
            for (&row, values) in listed.iter().zip(part.chunks_exact_mut(PANEL)) {
                if self.kernel.sum() != Sum::Rows {
                    self.kernel.finish(values, self.supports.norm2(row), norms2);
                }
                if self.constant != 0.0 {
                    for value in values {
                        *value += self.constant;
                    }
                }
            }
        }
    }

    fn sums(&self, listed: &[u32], panel: &Panel, out: &mut [f64], places: &mut Vec<u32>) {
        let sum = self.kernel.sum();
        let width = self.supports.width();
        if sum == Sum::Rows {
            for (&row, out) in listed.iter().zip(out.chunks_exact_mut(PANEL)) {
                let Stored::Dense(one) = self.supports.stored(row) else { continue };
                for (other, value) in panel.rows.chunks_exact(width.max(1)).zip(out) {
                    *value = self.kernel.of_rows(one, other);
                }
            }
            return;
        }
        if self.supports.is_dense() {
            for (rows, out) in listed.chunks(SWEEP).zip(out.chunks_mut(SWEEP * PANEL)) {
                let mut dense: [&[f64]; SWEEP] = [&[]; SWEEP];
                for (row, dense) in rows.iter().zip(&mut dense) {
                    if let Stored::Dense(values) = self.supports.stored(*row) {
                        *dense = values;
                    }
                }
                simd::dense(sum, &dense[..rows.len()], &panel.values, out);
            }
            return;
        }
        let features = panel.features.as_deref().unwrap_or_default();
        let all_features = features.len() == width;
        let by_table = width <= MOST_PLACES;
        if sum != Sum::Distances && !all_features && by_table {
            places.resize(width, ABSENT);
            for (place, feature) in features.iter().enumerate() {
                places[*feature as usize] = place as u32;
            }
        }
        let sparse = listed.iter().filter_map(|row| match self.supports.stored(*row) {
            Stored::Sparse(indices, values) => Some((indices, values)),
            Stored::Dense(_) => None,
        });
        let sparse: Vec<simd::Entries<'_>> = sparse.collect();
        if sum == Sum::Distances {
            for ((indices, values), out) in sparse.iter().zip(out.chunks_exact_mut(PANEL)) {
                distances(indices, values, features, &panel.values, out);
            }
        } else if all_features || by_table {
            let places = (!all_features).then_some(&places[..]);
            simd::sparse(sum, &sparse, places, &panel.values, out);
        } else {
            let found = sparse.iter().map(|(indices, values)| placed(indices, values, features));
            let found: Vec<_> = found.collect();
            let placed: Vec<simd::Entries<'_>> =
                found.iter().map(|(at, values)| (&at[..], &values[..])).collect();
            simd::sparse(sum, &placed, None, &panel.values, out);
        }
        if !places.is_empty() {
            for feature in features {
                places[*feature as usize] = ABSENT;
            }
        }
    }
}

/// The entries of a sparse row whose features a panel has, by their places there: what a table of places finds, without
/// room for every feature.
fn placed(indices: &[u32], values: &[f64], features: &[u32]) -> (Vec<u32>, Vec<f64>) {
    let place = |(feature, value): (&u32, &f64)| Some((features.binary_search(feature).ok()? as u32, *value));
    indices.iter().zip(values).filter_map(place).unzip()
}

/// `Σ |x_j - y_j|` of a sparse row with the rows of a panel: features count that only one side has.
fn distances(indices: &[u32], values: &[f64], features: &[u32], panel: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    let (mut ours, mut theirs) = (0, 0);
    loop {
        let (one, other) = (indices.get(ours), features.get(theirs));
        let feature = match (one, other) {
            (Some(one), Some(other)) => *one.min(other),
            (Some(only), None) | (None, Some(only)) => *only,
            (None, None) => break,
        };
        let x = if one == Some(&feature) { values[ours] } else { 0.0 };
        if other == Some(&feature) {
            let row = &panel[theirs * PANEL..][..PANEL];
            out.iter_mut().zip(row).for_each(|(sum, y)| *sum += (x - y).abs());
            theirs += 1;
        } else {
            for sum in &mut *out {
                *sum += x.abs();
            }
        }
        ours += usize::from(one == Some(&feature));
    }
}
