//! One who computes on a card: support rows and log lie there and grow, blocks of rows come and go.

use crate::card::{
    Card, Pinned, RawEnding, RawEntry, RawLife, RawStage, TENSOR_SHARED, WHOLE_SHARED, launch, trouble,
};
use crate::lists::{Lists, raw};
use crate::rows::{Layout, Room, Store};
use cudarc::driver::{CudaFunction, CudaStream, CudaViewMut, PushKernelArg};
use rosenblatt_core::SparseRows;
use rosenblatt_kernel::{
    Combination, Effort, Ending, Entry, Log, PANEL, Rows, Sum, Supports, Trouble, Worker, used_since,
};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// Rows of a tile, and slots of one: of bytes, and of doubles.
const TILE: usize = 128;
const WHOLE_SLOTS: usize = 128;
const DENSE_SLOTS: usize = 64;
/// Bytes of shared memory that every function may have.
const MOST_SHARED: usize = 48 << 10;
/// A pointer to nothing.
const NOTHING: u64 = 0;

#[derive(Debug)]
pub(crate) struct CardWorker {
    card: Arc<Card>,
    stream: Arc<CudaStream>,
    /// A second queue, for what the block's rows have to do with each other alone.
    beside: Arc<CudaStream>,
    sum: Sum,
    ending: RawEnding,
    needs_norms: bool,
    /// Bytes of the card's memory that may be used.
    memory: usize,
    /// The layout that was asked for.
    asked: Option<Layout>,
    supports: Option<Store>,
    /// Whether support rows come and go, since there is not room for all.
    streams: bool,
    block: Option<Store>,
    /// Rows that stay.
    kept: Option<Store>,
    /// The block feature by feature, for sparse rows.
    across: Room<f64>,
    lists: Lists,
    entries: Room<RawEntry>,
    fresh: Room<RawEntry>,
    values: Room<f64>,
    sums: Room<f64>,
    matrix: Room<f64>,
    strips: Pinned,
    n_slots: usize,
    listed: Room<u32>,
    needed: Room<u32>,
    at: Room<u32>,
    places: Room<u32>,
    starts: Room<u32>,
    ends: Room<u32>,
    groups: Room<u32>,
    numbers: Room<u32>,
    replay: Option<Replay>,
    combined: Option<Combined>,
    effort: Effort,
}

/// A combination of hypotheses, as the card holds it.
#[derive(Debug)]
struct Combined {
    entries: Room<RawEntry>,
    lives: Room<RawLife>,
    starts: Room<u32>,
    ends: Room<u32>,
    sums: Room<f64>,
    biases: Room<f64>,
    n_entries: usize,
    kind: ScoreKind,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum ScoreKind {
    Sums,
    VotesPerOutput { at_zero: f64 },
    JointVotes { names_last: u32 },
}

/// Which support rows are paired with which slots of the block.
struct Pairing<'a> {
    /// Which rows; all if `None`.
    listed: Option<&'a [u32]>,
    n_listed: usize,
    slots: Range<usize>,
    /// By slot of the block, from which place of the list on rows are needed.
    needed: Option<&'a [usize]>,
    /// How long the values of a row are if they are contiguous, and not panel by panel.
    line: usize,
}

impl CardWorker {
    pub(crate) fn new(
        card: Arc<Card>,
        sum: Sum,
        ending: Ending,
        constant: f64,
        memory: usize,
        asked: Option<Layout>,
    ) -> Result<Self, Trouble> {
        let (stream, beside) = (card.stream()?, card.stream()?);
        Ok(Self {
            stream,
            beside,
            card,
            sum,
            ending: RawEnding::new(ending, constant),
            needs_norms: matches!(ending, Ending::Gauss { .. } | Ending::Angle),
            memory,
            asked,
            supports: None,
            streams: false,
            block: None,
            kept: None,
            across: Room::default(),
            lists: Lists::default(),
            entries: Room::default(),
            fresh: Room::default(),
            values: Room::default(),
            sums: Room::default(),
            matrix: Room::default(),
            strips: Pinned::default(),
            n_slots: 0,
            listed: Room::default(),
            needed: Room::default(),
            at: Room::default(),
            places: Room::default(),
            starts: Room::default(),
            ends: Room::default(),
            groups: Room::default(),
            numbers: Room::default(),
            replay: None,
            combined: None,
            effort: Effort::default(),
        })
    }

    /// The layout for these rows beside those that are there.
    fn layout(&self, parts: &[SparseRows], width: usize) -> Layout {
        let before = self.supports.as_ref().filter(|store| store.width == width).map(|store| store.layout);
        let first = || parts.first().map_or(Layout::Doubles, |rows| Layout::of(self.sum, rows, width));
        let layout = before.or(self.asked.filter(|asked| *asked != Layout::Whole)).unwrap_or_else(first);
        parts.iter().fold(layout, Layout::and)
    }

    /// Sees to it that the support rows lie in this layout, and those that are new with them, if there is room.
    fn sync_supports(&mut self, rows: &Rows, layout: Layout) -> Result<(), Trouble> {
        let width = rows.width();
        let fits = |store: &Store| store.layout == layout && store.width == width;
        let mut store = self.supports.take().filter(fits).unwrap_or_else(|| Store::new(layout, width));
        if !self.streams {
            let first = store.n_rows.min(rows.len());
            let fresh: Vec<u32> = (first as u32..rows.len() as u32).collect();
            let gathered = gather(rows, &fresh);
            if layout.and(&gathered) != layout {
                return self.sync_supports(rows, Layout::Doubles);
            }
            let n_entries = if layout == Layout::Sparse { n_entries(rows) } else { 0 };
            // Room that grows is there twice for a moment, and a half more than is needed at once.
            self.streams = 3 * layout.bytes(width, rows.len(), n_entries) > self.memory;
            if self.streams {
                store = Store::new(layout, width);
            } else if !fresh.is_empty() {
                let norms2: Vec<f64> = fresh.iter().map(|row| rows.norm2(*row)).collect();
                store.append(&self.card, &self.stream, &gathered, &norms2, fresh.len())?;
            }
        }
        self.supports = Some(store);
        Ok(())
    }

    /// Computes the values of a pairing: panel by panel of its slots, row by row of its list.
    fn pair_all(&mut self, rows: &Rows, pairing: &Pairing<'_>) -> Result<(), Trouble> {
        let Pairing { listed, n_listed, ref slots, needed, .. } = *pairing;
        let (mut values, supports) = (std::mem::take(&mut self.values), self.supports.take());
        let (mut supports, block) = (supports.ok_or_else(lost)?, self.block.take().ok_or_else(lost)?);
        let n_values = n_listed * slots.len();
        let mut room = values.hold(&self.stream, n_values, 0)?.slice_mut(..n_values);
        self.lay_across(&block, slots)?;
        if let Some(needed) = needed {
            let per_tile = if supports.layout == Layout::Whole { WHOLE_SLOTS } else { DENSE_SLOTS };
            let needed: Vec<u32> =
                needed[slots.clone()].iter().step_by(per_tile).map(|n| *n as u32).collect();
            self.needed.write(&self.stream, 0, &needed)?;
        }
        if self.streams {
            let per_row = supports.layout.bytes(supports.width, 1, n_entries(rows) / rows.len().max(1) + 1);
            let at_once = (self.memory / 4 / per_row.max(1)).max(TILE);
            let all: Vec<u32> = listed.map_or_else(|| (0..rows.len() as u32).collect(), <[u32]>::to_vec);
            for (part, some) in all.chunks(at_once).enumerate() {
                let gathered = gather(rows, some);
                if supports.layout.and(&gathered) != supports.layout {
                    return Err(Trouble::Failed("rows that are no whole numbers came late".to_owned()));
                }
                let norms2: Vec<f64> = some.iter().map(|row| rows.norm2(*row)).collect();
                supports.clear();
                supports.append(&self.card, &self.stream, &gathered, &norms2, some.len())?;
                let here = (some.len(), part * at_once);
                self.tile(&self.stream, (&supports, &block), None, here, pairing, &mut room)?;
            }
        } else {
            if let Some(listed) = listed {
                self.listed.write(&self.stream, 0, listed)?;
            }
            let which = listed.map(|_| &self.listed);
            self.tile(&self.stream, (&supports, &block), which, (n_listed, 0), pairing, &mut room)?;
        }
        (self.values, self.supports, self.block) = (values, Some(supports), Some(block));
        Ok(())
    }

    /// The values of rows of a store, `n_here` of which are met here, the first at place `first` of the list, with slots
    /// of the block.
    fn tile(
        &self,
        stream: &Arc<CudaStream>,
        (store, block): (&Store, &Store),
        listed: Option<&Room<u32>>,
        (n_here, first): (usize, usize),
        pairing: &Pairing<'_>,
        out: &mut CudaViewMut<'_, f64>,
    ) -> Result<(), Trouble> {
        let does = &self.card.does;
        let slots = pairing.slots.clone();
        let (n_here_, first, n_listed) = (n_here as u32, first as u32, pairing.n_listed as u32);
        let line = pairing.line as u32;
        let (n_slots, stride) = (slots.len() as u32, store.stride as u32);
        let block_norms2 = block.norms2.get()?.slice(slots.start..slots.end);
        let of_sum = |products, distances, minima| -> &CudaFunction {
            match self.sum {
                Sum::Products | Sum::Rows => products,
                Sum::Distances => distances,
                Sum::Minima => minima,
            }
        };
        let (function, rows_per_tile, slots_per_tile, threads, shared) = match store.layout {
            Layout::Whole => (&does.whole_products, TILE, WHOLE_SLOTS, 128, WHOLE_SHARED),
            Layout::Doubles => match &does.tensor_products {
                Some(function) if self.sum == Sum::Products => {
                    (function, TILE, DENSE_SLOTS, 128, TENSOR_SHARED)
                }
                _ => {
                    let function = of_sum(&does.dense_products, &does.dense_distances, &does.dense_minima);
                    (function, TILE, DENSE_SLOTS, 128, 0)
                }
            },
            Layout::Sparse => {
                let function = of_sum(&does.sparse_products, &does.sparse_distances, &does.sparse_minima);
                (function, if self.sum == Sum::Distances { 1 } else { 4 }, 64, 64, 0)
            }
        };
        let (by_rows, by_slots) = (n_here.div_ceil(rows_per_tile), slots.len().div_ceil(slots_per_tile));
        // Tiles that run at the same time share rows, which are many more than slots.
        let grid = if store.layout == Layout::Sparse { (by_rows, by_slots) } else { (by_slots, by_rows) };
        let from = slots.start * store.stride..slots.end * store.stride;
        let bytes =
            if store.layout == Layout::Whole { Some(block.bytes.get()?.slice(from.clone())) } else { None };
        let doubles =
            if store.layout == Layout::Doubles { Some(block.doubles.get()?.slice(from)) } else { None };
        let slot_offsets = if store.layout == Layout::Sparse {
            Some(block.offsets.get()?.slice(slots.start..=slots.end))
        } else {
            None
        };
        let mut args = stream.launch_builder(function);
        match store.layout {
            Layout::Whole => args.arg(store.bytes.get()?),
            Layout::Doubles => args.arg(store.doubles.get()?),
            Layout::Sparse => {
                args.arg(store.offsets.get()?).arg(store.features.get()?).arg(store.entries.get()?)
            }
        };
        if let Some(listed) = listed {
            args.arg(listed.get()?);
        } else {
            args.arg(&NOTHING);
        }
        args.arg(&n_here_).arg(&first).arg(&n_listed).arg(&line);
        if let Some(bytes) = &bytes {
            args.arg(bytes);
        } else if let Some(doubles) = &doubles {
            args.arg(doubles);
        } else if let (Sum::Distances, Some(offsets)) = (self.sum, &slot_offsets) {
            args.arg(offsets).arg(block.features.get()?).arg(block.entries.get()?);
        } else {
            args.arg(self.across.get()?);
        }
        args.arg(&n_slots);
        if store.layout != Layout::Sparse {
            args.arg(&stride);
        }
        args.arg(store.norms2.get()?).arg(&block_norms2);
        if store.layout != Layout::Sparse {
            if pairing.needed.is_some() {
                args.arg(self.needed.get()?);
            } else {
                args.arg(&NOTHING);
            }
        }
        args.arg(&self.ending).arg(out);
        launch(args, grid, threads, shared)
    }

    /// The block feature by feature, as the tiles of sparse rows want it, for some of its slots.
    fn lay_across(&mut self, block: &Store, slots: &Range<usize>) -> Result<(), Trouble> {
        if block.layout != Layout::Sparse || self.sum == Sum::Distances {
            return Ok(());
        }
        let n = block.width * slots.len();
        let mut across = self.across.hold(&self.stream, n.max(1), 0)?.slice_mut(..n.max(1));
        self.stream.memset_zeros(&mut across).map_err(trouble)?;
        let offsets = block.offsets.get()?.slice(slots.start..=slots.end);
        let (n_rows, feature_stride) = (slots.len() as u32, slots.len() as u64);
        let mut args = self.stream.launch_builder(&self.card.does.spread_doubles);
        args.arg(&offsets).arg(block.features.get()?).arg(block.entries.get()?);
        args.arg(&n_rows).arg(&1_u64).arg(&feature_stride).arg(&mut across);
        launch(args, (slots.len().div_ceil(8), 1), 256, 0)
    }

    /// Into which parts the block is cut, so that its values with this many rows fit the memory.
    fn parts(&self, n_listed: usize) -> Vec<Range<usize>> {
        let across = |block: &Store| if block.layout == Layout::Sparse { block.width } else { 0 };
        let per_panel = (n_listed + self.block.as_ref().map_or(0, across)).max(1) * PANEL * 8;
        let at_once = (self.memory / 4 / per_panel).max(1) * PANEL;
        (0..self.n_slots).step_by(at_once).map(|first| first..self.n_slots.min(first + at_once)).collect()
    }

    /// Asks for the values of the block's rows with each other.
    fn meet_each_other(&mut self) -> Result<(), Trouble> {
        let n = self.n_slots;
        let (mut matrix, block) = (std::mem::take(&mut self.matrix), self.block.take().ok_or_else(lost)?);
        let room = matrix.hold(&self.stream, n * n, 0)?;
        // Sparse rows are laid out anew for every pairing, so these meet one after the other.
        let stream = Arc::clone(if block.layout == Layout::Sparse { &self.stream } else { &self.beside });
        if block.layout != Layout::Sparse {
            stream.join(&self.stream).map_err(trouble)?;
        }
        self.block = Some(block);
        for slots in self.parts(n) {
            let block = self.block.take().ok_or_else(lost)?;
            self.lay_across(&block, &slots)?;
            let mut room = room.slice_mut(slots.start..n * n);
            let pairing = Pairing { listed: None, n_listed: n, slots, needed: None, line: n };
            self.tile(&stream, (&block, &block), None, (n, 0), &pairing, &mut room)?;
            self.block = Some(block);
        }
        self.matrix = matrix;
        self.strips.fetch(&self.card, &stream, self.matrix.get()?, n * n)
    }

    /// Squared lengths, where a kernel needs them.
    fn norms2_of(&self, rows: &SparseRows) -> Vec<f64> {
        let norm2 = |row| rows.entries(row).fold(0.0, |sum: f64, (_, value)| value.mul_add(value, sum));
        if self.needs_norms { (0..rows.len()).map(norm2).collect() } else { Vec::new() }
    }

    /// Files what is new in the log.
    fn sync_log(&mut self, log: &[Entry], n_outputs: usize) -> Result<(), Trouble> {
        let filing = self.lists.file(log, n_outputs);
        if filing.entries.is_empty() {
            return Ok(());
        }
        self.fresh.write(&self.stream, 0, &filing.entries)?;
        self.places.write(&self.stream, 0, &filing.places)?;
        let n_fresh = filing.entries.len() as u32;
        let room = self.entries.hold(&self.stream, self.lists.room(), 0)?;
        let mut args = self.stream.launch_builder(&self.card.does.file_entries);
        args.arg(self.fresh.get()?).arg(self.places.get()?).arg(&n_fresh).arg(room);
        launch(args, (filing.entries.len().div_ceil(128), 1), 128, 0)
    }
}

impl Drop for CardWorker {
    fn drop(&mut self) {
        // Nothing may be on its way to memory that is given back.
        let _ = self.beside.synchronize();
        self.strips.give_back(&self.card);
    }
}

impl Worker for CardWorker {
    fn pack(
        &mut self,
        supports: &Supports<'_>,
        parts: &[SparseRows],
        _numbers: &[u32],
    ) -> Result<(), Trouble> {
        let width = supports.rows.width();
        let layout = self.layout(parts, width);
        self.sync_supports(supports.rows, layout)?;
        // The support rows may have needed a wider layout than these.
        let layout = self.supports.as_ref().map_or(layout, |store| store.layout);
        let fits = |store: &Store| store.layout == layout && store.width == width;
        let mut block = self.block.take().filter(fits).unwrap_or_else(|| Store::new(layout, width));
        block.clear();
        let n_rows: usize = parts.iter().map(SparseRows::len).sum();
        self.n_slots = n_rows.next_multiple_of(PANEL);
        for (part, rows) in parts.iter().enumerate() {
            let norms2 = self.norms2_of(rows);
            let is_last = part + 1 == parts.len();
            let n_new = if is_last { rows.len() + self.n_slots - n_rows } else { rows.len() };
            if part == 0 {
                block.make_room(&self.stream, self.n_slots)?;
            }
            block.append(&self.card, &self.stream, rows, &norms2, n_new)?;
        }
        self.block = Some(block);
        Ok(())
    }

    fn would_keep(&self, supports: &Supports<'_>, n_rows: usize) -> bool {
        // How much they take is known when the first of them come; bytes are the least.
        self.asked != Some(Layout::Sparse)
            && Layout::Whole.bytes(supports.rows.width(), n_rows, 0) <= self.memory / 2
            && self.kept.is_none()
    }

    fn keep(
        &mut self,
        supports: &Supports<'_>,
        parts: &[SparseRows],
        n_rows: usize,
    ) -> Result<bool, Trouble> {
        let width = supports.rows.width();
        if self.kept.is_none() {
            let layout = self.layout(parts, width);
            let bytes = layout.bytes(width, n_rows, 0);
            if layout == Layout::Sparse || bytes > self.memory / 2 {
                return Ok(false);
            }
            let mut store = Store::new(layout, width);
            store.reserve(&self.stream, n_rows)?;
            self.memory -= bytes;
            self.kept = Some(store);
        }
        for rows in parts {
            // One that is no whole number among many that are: each block for itself, then.
            let Some(mut store) = self.kept.take().filter(|store| store.layout.and(rows) == store.layout)
            else {
                return Ok(false);
            };
            let norms2 = self.norms2_of(rows);
            store.append(&self.card, &self.stream, rows, &norms2, rows.len())?;
            self.kept = Some(store);
        }
        Ok(true)
    }

    fn pack_kept(&mut self, supports: &Supports<'_>, numbers: &[u32]) -> Result<bool, Trouble> {
        let width = supports.rows.width();
        let Some(kept) = self.kept.take().filter(|store| store.width == width) else { return Ok(false) };
        self.sync_supports(supports.rows, kept.layout)?;
        let fits = |store: &Store| store.layout == kept.layout && store.width == width;
        if !self.supports.as_ref().is_some_and(fits) {
            return Ok(false);
        }
        self.n_slots = numbers.len().next_multiple_of(PANEL);
        let mut block = self.block.take().filter(fits).unwrap_or_else(|| Store::new(kept.layout, width));
        self.numbers.write(&self.stream, 0, numbers)?;
        let both = (numbers.len(), self.n_slots);
        block.pick(&self.card, &self.stream, &kept, self.numbers.get()?, both)?;
        (self.block, self.kept) = (Some(block), Some(kept));
        Ok(true)
    }

    fn catch_up(
        &mut self,
        supports: &Supports<'_>,
        log: &Log<'_>,
        until: &[usize],
        sums: &mut [f64],
    ) -> Result<(), Trouble> {
        let start = Instant::now();
        let (from, to) = (until.first().copied().unwrap_or(0), until.last().copied().unwrap_or(0));
        let n_outputs = log.n_outputs;
        let moves = &log.entries[from..];
        // On their way to the processor while the rest is computed.
        self.meet_each_other()?;
        if !moves.is_empty() {
            self.sync_log(log.entries, n_outputs)?;
            // All rows for all slots need no list.
            let is_all = to == 0;
            let listed = if is_all { Vec::new() } else { used_since(moves, from, log.last_use) };
            let n_listed = if is_all { supports.rows.len() } else { listed.len() };
            let mut needed = Vec::new();
            if !is_all {
                let mut at = vec![u32::MAX; supports.rows.len()];
                for (place, row) in listed.iter().enumerate() {
                    at[*row as usize] = place as u32;
                }
                self.at.write(&self.stream, 0, &at)?;
                let first_of =
                    |until: &usize| listed.partition_point(|row| log.last_use[*row as usize] < *until);
                needed = until.iter().map(first_of).collect();
                needed.resize(self.n_slots, listed.len());
            }
            // Slots that are good up to the same moment are a group.
            let mut moments = until.to_vec();
            moments.dedup();
            let mut group = 0;
            let mut groups: Vec<u32> = Vec::with_capacity(self.n_slots);
            for moment in until {
                group += usize::from(moments[group] != *moment);
                groups.push(group as u32);
            }
            groups.resize(self.n_slots, group as u32);
            let starts: Vec<u32> = moments.iter().flat_map(|moment| self.lists.starts(*moment)).collect();
            let ends: Vec<u32> = self.lists.ends().collect();
            self.starts.write(&self.stream, 0, &starts)?;
            self.ends.write(&self.stream, 0, &ends)?;
            self.groups.write(&self.stream, 0, &groups)?;
            self.sums.write(&self.stream, 0, sums)?;
            for slots in self.parts(n_listed) {
                let pairing = Pairing {
                    listed: (!is_all).then_some(&listed),
                    n_listed,
                    slots: slots.clone(),
                    needed: (from != to).then_some(&needed[..]),
                    line: 0,
                };
                self.pair_all(supports.rows, &pairing)?;
                let groups = self.groups.get()?.slice(slots.start..slots.end);
                let mut sums = self.sums.there()?.slice_mut(slots.start * n_outputs..slots.end * n_outputs);
                let (n_listed, n_slots, outputs) = (n_listed as u32, slots.len() as u32, n_outputs as u32);
                let mut args = self.stream.launch_builder(&self.card.does.add_up);
                args.arg(self.entries.get()?).arg(self.ends.get()?).arg(self.starts.get()?).arg(&groups);
                if is_all {
                    args.arg(&NOTHING);
                } else {
                    args.arg(self.at.get()?);
                }
                args.arg(self.values.get()?).arg(&n_listed).arg(&n_slots).arg(&outputs).arg(&mut sums);
                launch(args, (slots.len().div_ceil(32), n_outputs), 32, 0)?;
            }
            self.effort.pairs += (n_listed * self.n_slots) as u64;
            let there = self.sums.get()?.slice(..sums.len());
            self.stream.memcpy_dtoh(&there, sums).map_err(trouble)?;
        }
        self.stream.synchronize().map_err(trouble)?;
        self.beside.synchronize().map_err(trouble)?;
        self.effort.seconds += start.elapsed().as_secs_f64();
        Ok(())
    }

    fn own(&self, slot: usize) -> f64 {
        self.strips.numbers()[slot * self.n_slots + slot]
    }

    fn strip(&self, slot: usize, panel: usize) -> &[f64] {
        &self.strips.numbers()[slot * self.n_slots + panel * PANEL..][..PANEL]
    }

    fn values(&mut self, supports: &Supports<'_>, values: &mut Vec<f64>) -> Result<(), Trouble> {
        let n_listed = supports.rows.len();
        values.resize(n_listed * self.n_slots, 0.0);
        if values.is_empty() {
            return Ok(());
        }
        for slots in self.parts(n_listed) {
            let out = &mut values[slots.start * n_listed..slots.end * n_listed];
            self.pair_all(supports.rows, &Pairing { listed: None, n_listed, slots, needed: None, line: 0 })?;
            self.stream.memcpy_dtoh(&self.values.get()?.slice(..out.len()), out).map_err(trouble)?;
        }
        self.stream.synchronize().map_err(trouble)
    }

    fn speak(
        &mut self,
        supports: &Supports<'_>,
        combination: &Combination,
        n_outputs: usize,
    ) -> Result<Vec<f64>, Trouble> {
        let mut totals = vec![0.0; self.n_slots * n_outputs];
        let n_listed = supports.rows.len();
        if n_listed > 0 && !totals.is_empty() {
            if self.combined.is_none() {
                self.combined = Some(Combined::new(&self.stream, combination, n_outputs)?);
            }
            self.sums.write(&self.stream, 0, &totals)?;
            for slots in self.parts(n_listed) {
                self.pair_all(
                    supports.rows,
                    &Pairing { listed: None, n_listed, slots: slots.clone(), needed: None, line: 0 },
                )?;
                self.hear(&slots, n_listed, n_outputs)?;
            }
            self.stream.memcpy_dtoh(&self.sums.get()?.slice(..totals.len()), &mut totals).map_err(trouble)?;
            self.stream.synchronize().map_err(trouble)?;
        }
        if let Combination::Sums { biases, .. } = combination {
            for (sums, bias) in totals.chunks_exact_mut(PANEL).zip(biases.iter().cycle()) {
                for sum in sums {
                    *sum += bias;
                }
            }
        }
        Ok(totals)
    }

    fn errors_at(
        &mut self,
        supports: &Supports<'_>,
        log: &Log<'_>,
        classes: &[u32],
        moments: &[u64],
    ) -> Result<Option<Vec<[f64; 7]>>, Trouble> {
        let (n_listed, n_outputs) = (supports.rows.len(), log.n_outputs);
        let shared = (4 * 32 + 1) * n_outputs * 8;
        if n_listed == 0 || classes.is_empty() || shared > MOST_SHARED {
            return Ok(None);
        }
        if self.replay.is_none() {
            self.replay = Some(Replay::new(&self.stream, log, moments)?);
        }
        let mut counted = vec![0_u64; 7 * moments.len()];
        let mut errors = self.stream.clone_htod(&counted).map_err(trouble)?;
        let all_classes = self.stream.clone_htod(classes).map_err(trouble)?;
        for slots in self.parts(n_listed) {
            let pairing = Pairing { listed: None, n_listed, slots: slots.clone(), needed: None, line: 0 };
            self.pair_all(supports.rows, &pairing)?;
            let here = slots.start.min(classes.len())..slots.end.min(classes.len());
            if here.is_empty() {
                continue;
            }
            let replay = self.replay.as_ref().ok_or_else(lost)?;
            let (n_entries, n_looks) = (log.entries.len() as u32, moments.len() as u32);
            let (n_rows, n_listed, n_outputs) = (here.len() as u32, n_listed as u32, n_outputs as u32);
            let n_blocks = here.len().div_ceil(32);
            let classes = all_classes.slice(here);
            let mut args = self.stream.launch_builder(&self.card.does.walk);
            args.arg(replay.entries.get()?).arg(replay.stages.get()?).arg(&n_entries);
            args.arg(replay.looks.get()?).arg(replay.ends.get()?).arg(&n_looks);
            args.arg(&classes).arg(&n_rows).arg(self.values.get()?).arg(&n_listed).arg(&n_outputs);
            args.arg(&mut errors);
            launch(args, (n_blocks, 1), 32, shared as u32)?;
        }
        self.stream.memcpy_dtoh(&errors, &mut counted).map_err(trouble)?;
        self.stream.synchronize().map_err(trouble)?;
        let counts = counted.chunks_exact(7).map(|counts| std::array::from_fn(|k| counts[k] as f64));
        Ok(Some(counts.collect()))
    }

    fn effort(&self) -> Effort {
        self.effort
    }
}

/// A log to be replayed row by row, as the card holds it.
#[derive(Debug)]
struct Replay {
    entries: Room<RawEntry>,
    stages: Room<RawStage>,
    looks: Room<u32>,
    ends: Room<f64>,
}

impl Replay {
    /// What does not depend on the row is found out beforehand.
    fn new(stream: &Arc<CudaStream>, log: &Log<'_>, moments: &[u64]) -> Result<Self, Trouble> {
        let n_outputs = log.n_outputs;
        let (mut since, mut shrink, mut still_since) = (vec![1_u64; n_outputs], vec![0.0; n_outputs], 0);
        let (mut looks, mut ends, mut stages) = (Vec::new(), Vec::new(), Vec::new());
        let mut look =
            |moment: u64, place: usize, since: &mut [u64], shrink: &[f64], still_since: &mut u64| {
                looks.push(place as u32);
                ends.push((moment + 1 - *still_since) as f64);
                ends.extend(since.iter().map(|since| (moment + 1 - since) as f64));
                ends.extend(shrink);
                since.fill(moment + 1);
                *still_since = moment + 1;
            };
        let mut left = moments.iter().copied().peekable();
        for (place, entry) in log.entries.iter().enumerate() {
            while let Some(moment) = left.next_if(|moment| *moment < entry.round) {
                look(moment, place, &mut since, &shrink, &mut still_since);
            }
            let output = entry.output as usize;
            let lived = (entry.round - since[output]) as f64;
            let length = if entry.norm2 > 0.0 { 1.0 / entry.norm2.sqrt() } else { 0.0 };
            let stood = (entry.round - still_since) as f64;
            stages.push(RawStage { stood, lived, weight: lived * shrink[output], shrink: length });
            (since[output], shrink[output], still_since) = (entry.round, length, entry.round);
        }
        for moment in left {
            look(moment, log.entries.len(), &mut since, &shrink, &mut still_since);
        }
        let entries: Vec<RawEntry> = log.entries.iter().map(raw).collect();
        let mut replay = Self {
            entries: Room::default(),
            stages: Room::default(),
            looks: Room::default(),
            ends: Room::default(),
        };
        replay.entries.write(stream, 0, &entries)?;
        replay.stages.write(stream, 0, &stages)?;
        replay.looks.write(stream, 0, &looks)?;
        replay.ends.write(stream, 0, &ends)?;
        Ok(replay)
    }
}

impl CardWorker {
    /// Adds up the sums of some slots.
    fn hear(&mut self, slots: &Range<usize>, n_listed: usize, n_outputs: usize) -> Result<(), Trouble> {
        let combined = self.combined.as_mut().ok_or_else(lost)?;
        let mut out = self.sums.there()?.slice_mut(slots.start * n_outputs..slots.end * n_outputs);
        let (n_listed, n_slots, outputs) = (n_listed as u32, slots.len() as u32, n_outputs as u32);
        let values = self.values.get()?;
        match combined.kind {
            ScoreKind::Sums => {
                // One group of slots, all of which begin with nothing.
                self.groups.write(&self.stream, 0, &vec![0; slots.len()])?;
                let mut args = self.stream.launch_builder(&self.card.does.add_up);
                args.arg(combined.entries.get()?).arg(combined.ends.get()?).arg(combined.starts.get()?);
                args.arg(self.groups.get()?).arg(&NOTHING).arg(values);
                args.arg(&n_listed).arg(&n_slots).arg(&outputs).arg(&mut out);
                launch(args, (slots.len().div_ceil(32), n_outputs), 32, 0)
            }
            ScoreKind::VotesPerOutput { at_zero } => {
                let mut args = self.stream.launch_builder(&self.card.does.vote_per_output);
                args.arg(combined.entries.get()?).arg(combined.lives.get()?).arg(combined.starts.get()?);
                args.arg(combined.ends.get()?).arg(values);
                args.arg(&n_listed).arg(&n_slots).arg(&outputs).arg(&at_zero).arg(&mut out);
                launch(args, (slots.len().div_ceil(64), n_outputs), 64, 0)
            }
            ScoreKind::JointVotes { names_last } => {
                let zeros = vec![0.0; slots.len() * n_outputs];
                combined.sums.write(&self.stream, 0, &zeros)?;
                combined.biases.write(&self.stream, 0, &zeros)?;
                let n_entries = combined.n_entries as u32;
                let mut args = self.stream.launch_builder(&self.card.does.vote_jointly);
                args.arg(combined.entries.get()?).arg(combined.lives.get()?).arg(&n_entries).arg(values);
                args.arg(&n_listed).arg(&n_slots).arg(&outputs).arg(&names_last);
                args.arg(combined.sums.there()?).arg(combined.biases.there()?).arg(&mut out);
                launch(args, (slots.len().div_ceil(64), 1), 64, 0)
            }
        }
    }
}

impl Combined {
    fn new(stream: &Arc<CudaStream>, combination: &Combination, n_outputs: usize) -> Result<Self, Trouble> {
        let (mut entries, mut lives): (Vec<RawEntry>, Vec<RawLife>) = (Vec::new(), Vec::new());
        let (mut starts, mut ends): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
        let kind = match combination {
            Combination::Sums { weights, .. } => {
                for output in 0..n_outputs {
                    starts.push(entries.len() as u32);
                    let weights = weights.iter().skip(output).step_by(n_outputs).enumerate();
                    entries.extend(weights.filter(|(_, weight)| **weight != 0.0).map(|(row, &amount)| {
                        RawEntry { amount, keep: 1.0, row: row as u32, output: output as u32 }
                    }));
                    ends.push(entries.len() as u32);
                }
                ScoreKind::Sums
            }
            Combination::Votes { log, rounds, ballot } if !ballot.joint => {
                for output in 0..n_outputs {
                    starts.push(entries.len() as u32);
                    let (mut since, mut bias) = (1, 0.0);
                    for entry in log.iter().filter(|entry| entry.output as usize == output) {
                        entries.push(raw(entry));
                        lives.push(RawLife { lived: (entry.round - since) as f64, bias });
                        (since, bias) = (entry.round, entry.bias);
                    }
                    ends.push(entries.len() as u32);
                    // After the last move, the hypothesis that was left.
                    entries.push(RawEntry::default());
                    lives.push(RawLife { lived: (rounds + 1 - since) as f64, bias });
                }
                ScoreKind::VotesPerOutput { at_zero: ballot.vote_at_zero() }
            }
            Combination::Votes { log, rounds, ballot } => {
                let mut round = 1;
                for entry in log {
                    lives.push(RawLife { lived: (entry.round - round) as f64, bias: entry.bias });
                    round = entry.round;
                    entries.push(raw(entry));
                }
                lives.push(RawLife { lived: (rounds + 1 - round) as f64, bias: 0.0 });
                ScoreKind::JointVotes { names_last: u32::from(ballot.names_last()) }
            }
        };
        let n_entries = entries.len();
        let mut combined = Self {
            entries: Room::default(),
            lives: Room::default(),
            starts: Room::default(),
            ends: Room::default(),
            sums: Room::default(),
            biases: Room::default(),
            n_entries,
            kind,
        };
        combined.entries.write(stream, 0, &entries)?;
        combined.lives.write(stream, 0, &lives)?;
        combined.starts.write(stream, 0, &starts)?;
        combined.ends.write(stream, 0, &ends)?;
        Ok(combined)
    }
}

/// These rows, contiguous.
fn gather(rows: &Rows, listed: &[u32]) -> SparseRows {
    let mut gathered = SparseRows::default();
    for &row in listed {
        gathered.push_entries(rows.entries(row));
    }
    gathered
}

fn n_entries(rows: &Rows) -> usize {
    (0..rows.len() as u32).map(|row| rows.entries(row).count()).sum()
}

fn lost() -> Trouble {
    Trouble::Failed("the rows are lost after an earlier failure".to_owned())
}
