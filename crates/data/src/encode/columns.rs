//! From the cells of a table to features: what is fitted of all rows, and how rows are made by it.
//!
//! Readers leave cells as they stand: numbers in a dense matrix, categories under numbers of the block's own,
//! texts as texts. [`Fitted`] takes block after block in, and when all are seen the schema is settled: categories
//! are sorted, gaps get what stands in for them, words their places. [`ColumnEncoder`] then makes the rows, of all
//! that was kept at once, or block by block where the schema was known before. Nothing here reads a file.

use super::tokens::{TextEncoder, TextRows};
use crate::error::{DataError, ErrorKind, quote};
use crate::remedy;
use crate::rows::block::{
    Block, Cells, FoundNames, MISSING, Stored, Texts, empty_matrix, merge_row, sort_row,
};
use crate::rows::chunks::n_threads;
use crate::rows::dataset::{DenseMatrix, Matrix, SparseMatrix};
use crate::rows::label_table::{LabelTable, canonical_category, hashed_category};
use crate::rows::labels::Labels;
use crate::rows::schema::{Column, ColumnKind, Layout, Missing, Precision, Schema};
use crate::words::count;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread::ScopedJoinHandle;

/// Rows are stored dense unless they would have more than this many features per column.
pub(super) const DENSE_RATIO: usize = 4;

/// From how many rows on a column of (almost) only different values is taken for names of the rows.
const FEW_ROWS: u64 = 20;

/// How many columns a note names.
const N_TOLD: usize = 8;

/// The number of entries of text rows that is worth a thread of its own.
const ENTRIES_PER_THREAD: usize = 1 << 16;

/// About this many bytes of text become an entry of a row: a word and the pair with the next are some six.
const BYTES_PER_ENTRY: usize = 3;

/// How many examples of unknown categories are remembered.
const N_EXAMPLES: usize = 3;

/// What is fitted to all rows of a table, however its numbers are stored.
pub(crate) trait Fitting {
    /// Takes the rows of a block in.
    fn add(&mut self, block: &mut Block, schema: &Schema) -> Result<(), DataError>;

    /// Settles `schema` by what was seen. Returns how rows are made by it.
    fn settle(&mut self, schema: &mut Schema, max_features: usize) -> Result<ColumnEncoder, DataError>;

    /// The rows that were kept, as features.
    fn rows(&mut self, encoder: &mut ColumnEncoder) -> Matrix;
}

/// What keeps a fit within bounds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FitBounds {
    /// How values are stored, unless the schema says so.
    pub(crate) precision: Precision,
    /// Threads; 0 stands for one per core.
    pub(crate) threads: usize,
    /// The most values of one categorical column.
    pub(crate) categories: usize,
    /// The most words of one text.
    pub(crate) words: usize,
}

/// Nothing seen yet of a table with the columns of `schema`, which is provisional. Rows are kept if `keeps` says so.
pub(crate) fn fitting(schema: &Schema, bounds: FitBounds, keeps: bool) -> Box<dyn Fitting> {
    match schema.precision.unwrap_or(bounds.precision) {
        Precision::Single => Box::new(Fitted::<f32>::new(schema, bounds, keeps)),
        Precision::Double => Box::new(Fitted::<f64>::new(schema, bounds, keeps)),
    }
}

/// What all rows say of the columns, and the rows themselves if they are to be kept.
#[derive(Debug)]
struct Fitted<T> {
    keeps: bool,
    n_threads: usize,
    missing: Missing,
    max_categories: usize,
    max_words: usize,
    n_rows: u64,
    /// Cells that something stands in for.
    n_filled: u64,
    means: Vec<Mean>,
    categories: Vec<Categories>,
    texts: Vec<(TextEncoder, TextRows)>,
    numbers: DenseMatrix<T>,
    cells: Cells,
}

/// The mean of the numbers of a column so far.
#[derive(Debug, Clone, Copy, Default)]
struct Mean {
    n_numbers: u64,
    mean: f64,
}

impl Mean {
    /// Takes one more number in, in the order of the rows, so that the bits never vary.
    fn add(&mut self, number: f64) {
        self.n_numbers += 1;
        let n = self.n_numbers as f64;
        // Divided before subtracted: the difference of two large numbers may overflow.
        self.mean += number / n - self.mean / n;
    }
}

/// The values of a column so far, in order of appearance.
#[derive(Debug, Default)]
struct Categories {
    by_name: HashMap<String, u32>,
    names: Vec<String>,
    counts: Vec<u64>,
    /// Values that stand somewhere with spaces around them, each in its first such spelling.
    spaced: BTreeMap<u32, String>,
    /// Per value, whether it stands somewhere without.
    plain: Vec<bool>,
    /// There are too many values, and hardly one occurs twice: no more are kept.
    are_row_names: bool,
}

impl Categories {
    fn n_values(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Whether (almost) every row has a value of its own.
    fn name_rows(&self) -> bool {
        let n_values = self.n_values();
        self.are_row_names || (n_values >= FEW_ROWS && self.names.len() as u64 * 10 >= n_values * 9)
    }

    /// The value that occurs most often, the first in order of those.
    fn most_frequent(&self) -> Option<String> {
        let most = *self.counts.iter().max()?;
        let values = self.values();
        let often = values.iter().zip(&self.counts).filter(|(_, count)| **count == most);
        Labels::sorted(often.map(|(name, _)| name)).names().first().cloned()
    }

    /// Keeps in mind which values stand with spaces around them, and which without.
    fn see_spaces(&mut self, found: &LabelTable, map: &[u32]) {
        self.plain.resize(self.names.len(), false);
        for (spelling, number) in found.spellings() {
            let number = map[number as usize];
            if number == MISSING {
                continue;
            }
            if spelling.len() == self.names[number as usize].len() {
                self.plain[number as usize] = true;
            } else if self.spaced.len() < N_TOLD {
                self.spaced.entry(number).or_insert_with(|| String::from_utf8_lossy(spelling).into_owned());
            }
        }
    }

    /// Values that differ in spaces alone, which are one category.
    fn merged(&self) -> impl Iterator<Item = (&str, &str)> {
        let both = self.spaced.iter().filter(|(number, _)| self.plain[**number as usize]);
        both.map(|(number, spaced)| (&*self.names[*number as usize], &**spaced))
    }

    /// What the values are called: numbers by their value, so that they are the same in every format, unless two that
    /// differ would then be one, such as versions 1.1 and 1.10.
    fn values(&self) -> Vec<String> {
        let named: Vec<String> =
            self.names.iter().map(|name| canonical_category(name).into_owned()).collect();
        let n_different = named.iter().collect::<HashSet<_>>().len();
        if n_different == named.len() { named } else { self.names.clone() }
    }
}

impl<T: Stored> Fitted<T> {
    fn new(schema: &Schema, bounds: FitBounds, keeps: bool) -> Self {
        let n_of = |wanted: fn(&ColumnKind) -> bool| {
            schema.columns.iter().filter(|column| wanted(&column.kind)).count()
        };
        let n_numbers = n_of(|kind| matches!(kind, ColumnKind::Number { .. }));
        let n_categories = n_of(ColumnKind::has_values);
        let texts = schema.columns.iter().filter_map(|column| match &column.kind {
            ColumnKind::Text(encoder) => Some((TextEncoder::clone(encoder), TextRows::default())),
            _ => None,
        });
        Self {
            keeps,
            n_threads: n_threads(bounds.threads),
            missing: schema.missing,
            max_categories: bounds.categories,
            max_words: bounds.words,
            n_rows: 0,
            n_filled: 0,
            means: vec![Mean::default(); n_numbers],
            categories: (0..n_categories).map(|_| Categories::default()).collect(),
            texts: texts.collect(),
            numbers: DenseMatrix { values: Vec::new(), width: n_numbers },
            cells: Cells::default(),
        }
    }
}

impl<T: Stored> Fitting for Fitted<T> {
    fn add(&mut self, block: &mut Block, schema: &Schema) -> Result<(), DataError> {
        let n_rows = block.len();
        self.n_rows += n_rows as u64;
        let Some(numbers) = T::dense(&mut block.matrix) else { return Ok(()) };
        if !matches!(self.missing, Missing::Error | Missing::Drop | Missing::Own) {
            let n_numbers = numbers.values.iter().filter(|value| value.wide().is_nan()).count();
            let n_names = block.cells.codes.iter().filter(|&&code| code == MISSING).count();
            self.n_filled += (n_numbers + n_names) as u64;
        }
        if self.missing == Missing::Mean {
            for row in numbers.values.chunks_exact(self.means.len().max(1)) {
                for (mean, value) in self.means.iter_mut().zip(row) {
                    if !value.wide().is_nan() {
                        mean.add(value.wide());
                    }
                }
            }
        }
        if self.keeps || matches!(self.missing, Missing::Median | Missing::MostFrequent) {
            self.numbers.values.extend_from_slice(&numbers.values);
        }
        let n_columns = self.categories.len();
        let mut maps = Vec::new();
        for (place, (found, column)) in block.cells.categories.iter().zip(&mut self.categories).enumerate() {
            let mut counts = vec![0_u64; found.names().len()];
            for &code in block.cells.codes.iter().skip(place).step_by(n_columns) {
                if code != MISSING {
                    counts[code as usize] += 1;
                }
            }
            let mut map = Vec::with_capacity(counts.len());
            for (name, count) in found.names().iter().zip(counts) {
                // A value that was met only in a row that was then left out is none.
                if count == 0 {
                    map.push(MISSING);
                    continue;
                }
                if let Some(&number) = column.by_name.get(name) {
                    column.counts[number as usize] += count;
                    map.push(number);
                    continue;
                }
                if column.names.len() >= self.max_categories {
                    column.are_row_names |= column.name_rows();
                    if !column.are_row_names {
                        return Err(too_many(schema, place, self.max_categories));
                    }
                    map.push(MISSING);
                    continue;
                }
                let number = column.names.len() as u32;
                column.by_name.insert(name.clone(), number);
                column.names.push(name.clone());
                column.counts.push(count);
                map.push(number);
            }
            column.see_spaces(found, &map);
            maps.push(map);
        }
        if self.keeps {
            for row in block.cells.codes.chunks_exact(n_columns.max(1)) {
                let numbers = row
                    .iter()
                    .zip(&maps)
                    .map(|(&code, map)| if code == MISSING { MISSING } else { map[code as usize] });
                self.cells.codes.extend(numbers);
            }
            self.cells.texts.resize_with(self.texts.len(), Texts::default);
            self.cells.names.resize_with(self.texts.len(), FoundNames::default);
        }
        for (place, (encoder, rows)) in self.texts.iter_mut().enumerate() {
            let texts = &block.cells.texts[place];
            let keeps_names = self.keeps && encoder.finds_few_names();
            for row in 0..texts.len() {
                if rows.fit(texts.get(row), encoder, self.max_words).is_err() {
                    let message =
                        format!("there are more than {} different words, the limit", self.max_words);
                    return Err(DataError::new(ErrorKind::Limit, message).with_help(
                        "hash the words with {hash-bits=20}, or raise the limit with {max-vocabulary}",
                    ));
                }
                if keeps_names {
                    self.cells.names[place].push(rows.names());
                }
            }
            if self.keeps && !keeps_names {
                self.cells.texts[place].append(texts);
            }
        }
        Ok(())
    }

    fn settle(&mut self, schema: &mut Schema, max_features: usize) -> Result<ColumnEncoder, DataError> {
        schema.provisional = false;
        let (mut numbers, mut categories, mut texts) = (0.., 0.., 0..);
        let mut slots = Vec::new();
        let mut features = Vec::new();
        let (mut row_names, mut named, mut constant) = (Vec::new(), Vec::new(), Vec::new());
        let mut kept = Vec::new();
        for Column { name, mut kind } in std::mem::take(&mut schema.columns) {
            let slot = match &mut kind {
                ColumnKind::Number { fill, .. } => {
                    let slot = numbers.next().unwrap_or(0);
                    *fill = self.number_fill(slot);
                    slot
                }
                ColumnKind::Category { values, fill } => {
                    let slot = categories.next().unwrap_or(0);
                    let seen = &self.categories[slot];
                    if seen.name_rows() {
                        row_names.push(format!(
                            "{} ({} values)",
                            quote(name.as_bytes()),
                            count(seen.names.len() as u64)
                        ));
                        schema.ignored.push(name);
                        continue;
                    }
                    *values = Labels::sorted(seen.values()).names().to_vec();
                    schema.notes.extend(seen.merged().map(|(plain, spaced)| {
                        let (plain, spaced) = (quote(plain.as_bytes()), quote(spaced.as_bytes()));
                        let name = quote(name.as_bytes());
                        format!("the values {plain} and {spaced} of {name} differ in spaces, and are one category: {plain}")
                    }));
                    let told = if values.len() > 1 { &mut named } else { &mut constant };
                    told.push(quote(name.as_bytes()));
                    if matches!(self.missing, Missing::Mean | Missing::Median | Missing::MostFrequent) {
                        *fill = seen.most_frequent();
                    }
                    slot
                }
                ColumnKind::Hashed => categories.next().unwrap_or(0),
                ColumnKind::Text(encoder) => {
                    let slot = texts.next().unwrap_or(0);
                    std::mem::swap(&mut **encoder, &mut self.texts[slot].0);
                    let settled = encoder.settle();
                    schema.notes.extend(settled.note);
                    features.push((self.keeps && encoder.finds_few_names()).then(|| settled.features.into()));
                    slot
                }
            };
            slots.push(slot);
            kept.push(Column { name, kind });
        }
        schema.columns = kept;
        // Whether they were named or found out, in whatever order, the model has the same bytes.
        schema.ignored.sort();
        for (names, what) in [
            (named, "read as categories"),
            (constant, "the same in every row"),
            (row_names, "left out, as almost every row has a value of its own"),
        ] {
            if !names.is_empty() {
                let n_more = names.len().saturating_sub(N_TOLD);
                let more =
                    if n_more > 0 { format!(" and {} more", count(n_more as u64)) } else { String::new() };
                schema.notes.push(format!("{what}: {}{more}", names[..names.len() - n_more].join(", ")));
            }
        }
        if self.n_filled > 0 {
            let n_cells = self.n_rows * (self.means.len() + self.categories.len()) as u64;
            let (n_filled, n_cells, how) = (count(self.n_filled), count(n_cells), self.missing);
            schema.notes.push(format!("{n_filled} of {n_cells} cells were missing, and filled in: {how}"));
        }
        if schema.columns.is_empty() {
            let message = "no column is left to learn from, expected one whose values occur in several rows";
            return Err(DataError::new(ErrorKind::Shape, message)
                .with_help("if a column's values are words of a text, name it with {text}"));
        }
        schema.layout = layout_of(schema);
        check_width(schema, max_features)?;
        let mut encoder = ColumnEncoder::with_slots(Arc::new(schema.clone()), slots);
        for maker in &mut encoder.makers {
            if let Maker::Text { slot, words, .. } = maker {
                words.features = features[*slot].take();
            }
        }
        Ok(encoder)
    }

    fn rows(&mut self, encoder: &mut ColumnEncoder) -> Matrix {
        let numbers = std::mem::take(&mut self.numbers.values);
        let names: Vec<&[String]> = self.categories.iter().map(|column| &column.names[..]).collect();
        let numbers = DenseMatrix { values: numbers, width: self.means.len() };
        encoder.rows(numbers, &self.cells, &names, self.n_rows as usize, self.n_threads).0
    }
}

impl<T: Stored> Fitted<T> {
    /// What stands in for a missing number of a column.
    fn number_fill(&self, slot: usize) -> Option<f64> {
        let sorted = || {
            let column = self.numbers.values.iter().skip(slot).step_by(self.numbers.width.max(1));
            let mut column: Vec<f64> =
                column.map(|value| value.wide()).filter(|value| !value.is_nan()).collect();
            column.sort_by(f64::total_cmp);
            column
        };
        match self.missing {
            Missing::Error | Missing::Drop | Missing::Own => None,
            Missing::Zero => Some(0.0),
            Missing::Mean => Some(self.means[slot].mean),
            Missing::Median => {
                let sorted = sorted();
                let middle = sorted.len() / 2;
                Some(match sorted.len() {
                    0 => 0.0,
                    n if n % 2 == 1 => sorted[middle],
                    _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
                })
            }
            Missing::MostFrequent => {
                let sorted = sorted();
                let runs = sorted.chunk_by(|a, b| a == b);
                // Of equally frequent ones the least.
                let most = runs.rev().max_by_key(|run| run.len());
                Some(most.map_or(0.0, |run| run[0]))
            }
        }
    }
}

fn too_many(schema: &Schema, place: usize, limit: usize) -> DataError {
    let mut columns = schema.columns.iter().filter(|column| column.kind.has_values());
    let name = columns.nth(place).map_or("", |column| column.name.as_str());
    let message =
        format!("column {} has more than {limit} different values, the limit", quote(name.as_bytes()));
    DataError::new(ErrorKind::Limit, message).with_help(format!(
        "hash the categories with {{hash-bits=18}}, or leave the column out with {}",
        remedy::set("ignore", name)
    ))
}

/// How rows of such columns are stored.
pub(crate) fn layout_of(schema: &Schema) -> Layout {
    let is_wide = |column: &Column| matches!(column.kind, ColumnKind::Hashed | ColumnKind::Text(_));
    let width: usize = schema.columns.iter().map(Column::n_features).sum();
    if schema.columns.iter().any(is_wide) || width > DENSE_RATIO * schema.columns.len() {
        Layout::Sparse
    } else {
        Layout::Dense
    }
}

/// Whether there are not too many features.
pub(crate) fn check_width(schema: &Schema, limit: usize) -> Result<(), DataError> {
    let width = schema.width().unwrap_or(0);
    if width <= limit {
        return Ok(());
    }
    let message = format!("there are {width} features, more than {limit}, the limit");
    Err(DataError::new(ErrorKind::Limit, message)
        .with_help("hash categories and words with {hash-bits=18}, or raise the limit with {max-features}"))
}

/// Makes rows of cells by a settled schema.
#[derive(Debug, Clone)]
pub(crate) struct ColumnEncoder {
    schema: Arc<Schema>,
    width: usize,
    makers: Vec<Maker>,
    /// Every column is a number and a feature, so that there is nothing to do but to fill gaps.
    only_numbers: bool,
    is_sorted: bool,
}

/// How the cells of one column become features. There may be very many columns of numbers, so none takes much room.
#[derive(Debug, Clone)]
enum Maker {
    Number { slot: usize, feature: u32, fill: Option<f64> },
    Category { slot: usize, start: u32, values: HashMap<String, u32>, fill: Option<u32> },
    Hashed { slot: usize, start: u32 },
    Text { slot: usize, start: u32, words: Box<Words> },
}

/// How the texts of one column become features.
#[derive(Debug, Clone, Default)]
struct Words {
    rows: TextRows,
    /// What every name is that was found while fitting, if names were kept in place of texts.
    features: Option<Arc<[u32]>>,
}

/// What a category is in the row: the feature it sets, and to what.
#[derive(Debug, Clone, Copy)]
struct Set {
    feature: u32,
    value: f32,
}

impl ColumnEncoder {
    /// How rows are made by `schema`, the cells of each kind lying in the order of its columns.
    pub(crate) fn new(schema: Arc<Schema>) -> Self {
        let (mut numbers, mut categories, mut texts) = (0.., 0.., 0..);
        let slots = schema.columns.iter().filter_map(|column| match &column.kind {
            ColumnKind::Number { .. } => numbers.next(),
            ColumnKind::Category { .. } | ColumnKind::Hashed => categories.next(),
            ColumnKind::Text(_) => texts.next(),
        });
        let slots = slots.collect();
        Self::with_slots(schema, slots)
    }

    fn with_slots(schema: Arc<Schema>, slots: Vec<usize>) -> Self {
        let (starts, table) = schema.starts();
        let columns = schema.columns.iter().zip(slots).zip(starts);
        let makers = columns.map(|((column, slot), start)| {
            let start = start as u32;
            match &column.kind {
                ColumnKind::Number { fill, .. } => Maker::Number { slot, feature: start, fill: *fill },
                ColumnKind::Category { values, fill } => {
                    let values: HashMap<String, u32> = values.iter().cloned().zip(0..).collect();
                    let fill = fill.as_ref().and_then(|fill| values.get(fill).copied());
                    Maker::Category { slot, start, values, fill }
                }
                ColumnKind::Hashed => Maker::Hashed { slot, start: table as u32 },
                ColumnKind::Text(_) => Maker::Text { slot, start, words: Box::default() },
            }
        });
        let makers: Vec<Maker> = makers.collect();
        Self {
            width: schema.straight_width().unwrap_or(0),
            only_numbers: makers.iter().all(|maker| matches!(maker, Maker::Number { .. })),
            is_sorted: !makers.iter().any(|maker| matches!(maker, Maker::Hashed { .. })),
            makers,
            schema,
        }
    }

    /// Makes rows of the cells of a block.
    pub(crate) fn encode<T: Stored>(&mut self, block: &mut Block, keep_texts: bool) {
        let n_rows = block.len();
        let taken = std::mem::replace(&mut block.matrix, empty_matrix(Layout::Sparse, T::PRECISION));
        let mut taken = taken;
        let Some(numbers) = T::dense(&mut taken) else {
            block.matrix = taken;
            return;
        };
        let numbers = std::mem::replace(numbers, DenseMatrix { values: Vec::new(), width: 0 });
        let cells = std::mem::take(&mut block.cells);
        if keep_texts && !cells.texts.is_empty() {
            let texts = |row| cells.texts.iter().map(|texts| texts.get(row)).collect::<Vec<_>>().join("\n");
            block.texts.extend((0..n_rows).map(texts));
        }
        let names: Vec<&[String]> =
            cells.categories.iter().map(crate::rows::label_table::LabelTable::names).collect();
        let (matrix, unknown) = self.rows(numbers, &cells, &names, n_rows, 1);
        block.matrix = matrix;
        block.cells = cells;
        block.n_unknown = unknown.n_cells;
        block.unknown = unknown.examples;
    }

    /// Makes `n_rows` rows. `names` are the values that the numbers of the categories stand for. Texts are split by
    /// several threads; a row is made of its own cells alone, so that their number changes nothing.
    fn rows<T: Stored>(
        &mut self,
        mut numbers: DenseMatrix<T>,
        cells: &Cells,
        names: &[&[String]],
        n_rows: usize,
        n_threads: usize,
    ) -> (Matrix, UnknownCells) {
        let mut unknown = UnknownCells::default();
        if self.only_numbers && self.schema.layout == Layout::Dense {
            self.fill_gaps(&mut numbers);
            return (T::wrap_dense(numbers), unknown);
        }
        // What each value sets, by its number, and what none sets.
        let sets: Vec<(Vec<Set>, Set)> = self.sets(names, cells, &mut unknown);
        if self.schema.layout == Layout::Dense {
            let mut values = vec![T::default(); n_rows * self.width];
            for (row, out) in values.chunks_exact_mut(self.width.max(1)).enumerate() {
                let (found, codes) =
                    (row_of(&numbers.values, numbers.width, row), row_of(&cells.codes, names.len(), row));
                for (maker, (sets, none)) in self.makers.iter().zip(&sets) {
                    match maker {
                        Maker::Number { slot, feature, fill } => {
                            out[*feature as usize] = filled(found[*slot], *fill);
                        }
                        Maker::Category { slot, .. } | Maker::Hashed { slot, .. } => {
                            let set = sets.get(codes[*slot] as usize).unwrap_or(none);
                            if set.value != 0.0 {
                                out[set.feature as usize] = T::nearest(f64::from(set.value));
                            }
                        }
                        Maker::Text { .. } => {}
                    }
                }
            }
            return (T::wrap_dense(DenseMatrix { values, width: self.width }), unknown);
        }
        let n_bytes: usize = cells.texts.iter().map(Texts::n_bytes).sum();
        let n_names: usize = cells.names.iter().map(FoundNames::n_names).sum();
        let n_entries = n_names + n_bytes / BYTES_PER_ENTRY;
        let n_threads = n_threads.min(n_entries / ENTRIES_PER_THREAD).max(1);
        if n_threads == 1 {
            let matrix =
                self.sparse_rows(&numbers, cells, &sets, names.len(), 0..n_rows, SparseMatrix::empty());
            return (T::wrap_sparse(matrix), unknown);
        }
        let matrix = std::thread::scope(|scope| {
            let (numbers, sets) = (&numbers, &sets);
            let rows_of = |part| n_rows * part / n_threads..n_rows * (part + 1) / n_threads;
            let others: Vec<_> = (1..n_threads)
                .map(|part| {
                    let (mut encoder, room) = (self.clone(), n_entries / n_threads);
                    let work = move || {
                        let matrix = SparseMatrix::with_room(room);
                        encoder.sparse_rows(numbers, cells, sets, names.len(), rows_of(part), matrix)
                    };
                    (std::thread::Builder::new().spawn_scoped(scope, work), rows_of(part))
                })
                .collect();
            // The first rows are made here, with room for the others, so that they need not move.
            let room = SparseMatrix::with_room(n_entries);
            let mut matrix = self.sparse_rows(numbers, cells, sets, names.len(), rows_of(0), room);
            for (thread, rows) in others {
                match thread.map(ScopedJoinHandle::join) {
                    Ok(part) => {
                        matrix.append(&part.unwrap_or_else(|panic| resume_unwind(panic)));
                    }
                    // A thread that cannot be had is done without.
                    Err(_) => matrix = self.sparse_rows(numbers, cells, sets, names.len(), rows, matrix),
                }
            }
            matrix
        });
        (T::wrap_sparse(matrix), unknown)
    }

    /// Some of the rows, sparse, after those of `matrix`. Beside each maker stands what its values set; `n_names`
    /// columns have such values.
    fn sparse_rows<T: Stored>(
        &mut self,
        numbers: &DenseMatrix<T>,
        cells: &Cells,
        sets: &[(Vec<Set>, Set)],
        n_names: usize,
        rows: Range<usize>,
        mut matrix: SparseMatrix<T>,
    ) -> SparseMatrix<T> {
        matrix.width = self.width;
        let mut scratch = Vec::new();
        for row in rows {
            let (found, codes) =
                (row_of(&numbers.values, numbers.width, row), row_of(&cells.codes, n_names, row));
            let begin = matrix.n_entries();
            for (column, (maker, (sets, none))) in self.makers.iter_mut().zip(sets).enumerate() {
                match maker {
                    Maker::Number { slot, feature, fill } => {
                        let value = filled(found[*slot], *fill);
                        if value != T::default() {
                            matrix.indices.push(*feature);
                            matrix.values.push(value);
                        }
                    }
                    Maker::Category { slot, .. } | Maker::Hashed { slot, .. } => {
                        let set = sets.get(codes[*slot] as usize).unwrap_or(none);
                        if set.value != 0.0 {
                            matrix.indices.push(set.feature);
                            matrix.values.push(T::nearest(f64::from(set.value)));
                        }
                    }
                    Maker::Text { slot, start, words } => {
                        let Words { rows, features } = &mut **words;
                        let ColumnKind::Text(encoder) = &self.schema.columns[column].kind else { continue };
                        let first = matrix.n_entries();
                        if let Some(features) = features {
                            let names = cells.names[*slot].get(row);
                            rows.encode_names(names, features, encoder, &mut matrix);
                        } else {
                            rows.encode(cells.texts[*slot].get(row), encoder, &mut matrix);
                        }
                        matrix.indices[first..].iter_mut().for_each(|index| *index += *start);
                    }
                }
            }
            if !self.is_sorted {
                let (indices, values) = (&mut matrix.indices[begin..], &mut matrix.values[begin..]);
                // Only hashed features can meet, ones all of them, so their sum is finite.
                if sort_row(indices, values, &mut scratch).is_some() {
                    let _ = merge_row(&mut matrix, begin);
                }
            }
            matrix.end_row();
        }
        matrix
    }

    fn fill_gaps<T: Stored>(&self, numbers: &mut DenseMatrix<T>) {
        let fills: Option<Vec<f64>> = self
            .makers
            .iter()
            .map(|maker| if let Maker::Number { fill, .. } = maker { *fill } else { None })
            .collect();
        let Some(fills) = fills else { return };
        for row in numbers.values.chunks_exact_mut(fills.len().max(1)) {
            for (value, fill) in row.iter_mut().zip(&fills) {
                *value = filled(*value, Some(*fill));
            }
        }
    }

    /// Per column, what each of its values sets, and what a missing one does.
    fn sets(&self, names: &[&[String]], cells: &Cells, unknown: &mut UnknownCells) -> Vec<(Vec<Set>, Set)> {
        let nothing = Set { feature: 0, value: 0.0 };
        let columns = self.makers.iter().zip(&self.schema.columns).map(|(maker, column)| match maker {
            Maker::Number { .. } | Maker::Text { .. } => (Vec::new(), nothing),
            Maker::Hashed { slot, start } => {
                let set = |name: &String| {
                    let feature = start + self.schema.hashed_feature(&column.name, hashed_category(name));
                    Set { feature, value: 1.0 }
                };
                (names[*slot].iter().map(set).collect(), nothing)
            }
            Maker::Category { slot, start, values, fill } => {
                // Two values are one feature, 1 for the second; neither is between them.
                let is_one = values.len() == 2;
                let none = Set { feature: *start, value: if is_one { 0.5 } else { 0.0 } };
                let set = |value: u32| {
                    if is_one {
                        Set { feature: *start, value: value as f32 }
                    } else {
                        Set { feature: start + value, value: 1.0 }
                    }
                };
                let mut sets = Vec::new();
                for (number, name) in names[*slot].iter().enumerate() {
                    let value = values.get(name).or_else(|| values.get(&*canonical_category(name)));
                    sets.push(value.map_or(none, |value| set(*value)));
                    if value.is_none() {
                        let codes = cells.codes.iter().skip(*slot).step_by(names.len());
                        let n_cells = codes.filter(|code| **code as usize == number).count();
                        unknown.add(&column.name, name, n_cells);
                    }
                }
                (sets, fill.map_or(none, set))
            }
        });
        columns.collect()
    }
}

/// Categories that were not learned from.
#[derive(Debug, Default)]
struct UnknownCells {
    n_cells: u64,
    examples: Vec<String>,
}

impl UnknownCells {
    fn add(&mut self, column: &str, value: &str, n_cells: usize) {
        self.n_cells += n_cells as u64;
        if n_cells > 0 && self.examples.len() < N_EXAMPLES {
            self.examples.push(format!("{column}={value}"));
        }
    }
}

fn row_of<V>(values: &[V], width: usize, row: usize) -> &[V] {
    &values[row * width..(row + 1) * width]
}

#[inline(always)]
fn filled<T: Stored>(value: T, fill: Option<f64>) -> T {
    match fill {
        Some(fill) if value.wide().is_nan() => T::narrow(fill).unwrap_or_default(),
        _ => value,
    }
}
