//! From a source to rows: all at once, block by block, or only to see what is there.
//!
//! [`load`] gives a [`Dataset`] in memory. [`blocks`] gives a [`Stream`] that parses on a thread of its
//! own while the caller learns, through a handful of blocks that go round; what it yields, and in which
//! order, depends on nothing but the source. [`survey`] reads everything once and keeps only what must be
//! known beforehand: classes, categories, means. Several files are read one after the other as if they
//! were one, the first of them setting the schema. Nothing here knows a format.

use crate::bytes::huge_pages::reserve;
use crate::bytes::meter::Meter;
use crate::bytes::panics;
use crate::bytes::pool::Pool;
#[cfg(feature = "arrow")]
use crate::bytes::source::Table;
use crate::bytes::source::{Input, Part, Source};
use crate::bytes::window::WINDOW_BYTES;
use crate::encode::{
    Bends, Crosser, DENSE_SHARE, FEW_NUMBERS, Fit, Numbers, Scaler, Scaling, Shape, bending, check_width,
    fitting, settle, share_of,
};
use crate::error::{DataError, ErrorKind, Position, quote};
use crate::formats::{self, Format, Reader};
use crate::options::{LabelColumn, OneColumn, ReadOptions};
use crate::rows::block::{Block, empty_matrix};
use crate::rows::dataset::{Dataset, LeftOutRows, Matrix, UNLABELLED};
use crate::rows::gaps::{Gap, Gaps, LeftOut};
use crate::rows::label_table::{Growth, Numbering, canonical};
use crate::rows::labels::Labels;
use crate::rows::schema::{Layout, Missing, Precision, Schema};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// How many blocks go round between the parser and the learner: one is filled, one is lent, two wait.
const N_BLOCKS: usize = 4;

/// A spread of fewer steps of single precision than this is worth double precision.
const FINE_STEPS: f64 = 1024.0;

/// The same where a step is larger than 1, so that whole numbers are rounded.
const LARGE_STEPS: f64 = 262_144.0;

/// What a source holds, found out by reading all of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Survey {
    /// The columns, with every category and, if asked for, every mean.
    pub schema: Schema,
    /// The classes, numbered as a dataset in memory has them.
    pub labels: Labels,
    /// How many rows there are.
    pub n_rows: u64,
}

/// Reads what a user calls `what` (a file, `-`, a folder, a pattern) into memory.
///
/// Values are as they stand in the file, unless `how` names a scale or has a schema: see [`load_source`].
///
/// ```no_run
/// use rosenblatt_data::{ReadOptions, load};
/// let iris = load("iris.csv", &ReadOptions::default())?;
/// assert_eq!((iris.len(), iris.width()), (150, 4));
/// # Ok::<(), rosenblatt_data::DataError>(())
/// ```
pub fn load(what: impl AsRef<OsStr>, how: &ReadOptions) -> Result<Dataset, DataError> {
    load_source(&Source::find(what)?, how)
}

/// Reads `source` into memory, each byte of it once; only text and named features of sparse rows are read twice,
/// and held in memory meanwhile where they cannot be.
///
/// If values are scaled, the scaler must be kept for the rows to come. It would be lost here, so that values stay as
/// they are unless `how` names a scale or has a schema; [`load_with_schema`] gives what is to be kept.
pub fn load_source(source: &Source, how: &ReadOptions) -> Result<Dataset, DataError> {
    let is_free = how.schema.is_none() && how.scaling == Scaling::Auto;
    let scaling = if is_free { Scaling::None } else { how.scaling };
    load_with_schema(source, &ReadOptions { scaling, ..how.clone() }).map(|(dataset, _)| dataset)
}

/// The same, with what prediction must know of the data.
pub fn load_with_schema(source: &Source, how: &ReadOptions) -> Result<(Dataset, Schema), DataError> {
    let loaded = load_in(source, how)?;
    let coarse = coarse_features(&loaded.1);
    let may_be_finer = how.schema.is_none() && loaded.1.precision.is_none() && source.can_rewind();
    if coarse.is_empty() || !may_be_finer {
        return Ok(loaded);
    }
    // The first rows did not show how close together values lie far from zero.
    let double = ReadOptions { precision: Precision::Double, scaling: Scaling::None, ..how.clone() };
    let rounded = rounded_features(&load_in(source, &double)?.0, &coarse);
    if rounded.is_empty() {
        return Ok(loaded);
    }
    let (dataset, mut schema) = load_in(source, &ReadOptions { scaling: how.scaling, ..double })?;
    let names = dataset.shared_feature_names();
    let name = |&feature: &usize| match &names {
        Some(names) => quote(names[feature].as_bytes()),
        None => format!("feature {}", feature + 1),
    };
    let shown: Vec<String> = rounded.iter().take(8).map(name).collect();
    let more = if rounded.len() > 8 { " and others" } else { "" };
    schema.notes.push(format!(
        "stored in double precision, as single precision would round too much of {}{more}",
        shown.join(", ")
    ));
    Ok((dataset, schema))
}

fn load_in(source: &Source, how: &ReadOptions) -> Result<(Dataset, Schema), DataError> {
    let mut parts = Parts::open(source, how)?;
    if parts.schema().provisional && !parts.is_table() {
        let source = parts.source.clone();
        let is_first = how.schema.is_none();
        // What it is was found out once.
        let format = parts.how.format.clone();
        let schema = Some(Arc::new(survey_parts(parts, how)?.schema));
        let how = ReadOptions { format, schema, ..how.clone() };
        parts = Parts::open(&source, &how)?;
        parts.is_first = is_first;
    }
    load_parts(parts, how, source.n_bytes())
}

/// Features that were scaled by a spread of few steps of single precision.
fn coarse_features(schema: &Schema) -> Vec<usize> {
    let Some(scaler) = schema.scaler.as_ref().filter(|scaler| scaler.scaling == Scaling::Standard) else {
        return Vec::new();
    };
    let is_coarse = |mean: f64, deviation: f64| {
        let magnitude = mean.abs() as f32;
        let step = f64::from(magnitude.next_up() - magnitude);
        // Whole numbers that are too large for it are rounded to others: time stamps, counts of bytes.
        deviation < step * if step > 1.0 { LARGE_STEPS } else { FINE_STEPS }
    };
    let all = scaler.shift.iter().zip(&scaler.scale).enumerate();
    all.filter(|(_, (mean, deviation))| is_coarse(**mean, **deviation)).map(|(feature, _)| feature).collect()
}

/// Those of `features` that have values which single precision cannot hold.
fn rounded_features(dataset: &Dataset, features: &[usize]) -> Vec<usize> {
    struct Rounded<'a>(&'a [usize]);
    impl crate::Visitor for Rounded<'_> {
        type Output = Vec<usize>;
        fn visit<E: rosenblatt_core::Examples>(self, examples: E) -> Vec<usize> {
            use rosenblatt_core::Row;
            let mut ranges = vec![(f64::INFINITY, f64::NEG_INFINITY, false); self.0.len()];
            for row in 0..examples.len() {
                for (feature, value) in examples.row(row).entries() {
                    if let Ok(place) = self.0.binary_search(&feature) {
                        let (least, largest, is_rounded) = &mut ranges[place];
                        (*least, *largest) = (least.min(value), largest.max(value));
                        *is_rounded |= f64::from(value as f32) != value;
                    }
                }
            }
            let rounded = self.0.iter().zip(ranges);
            let rounded = rounded.filter(|(_, (least, largest, is_rounded))| *is_rounded && least < largest);
            rounded.map(|(feature, _)| *feature).collect()
        }
    }
    dataset.visit(Rounded(features))
}

/// The rows of one record batch.
#[cfg(feature = "arrow")]
pub(crate) fn load_batch(batch: &arrow_array::RecordBatch, how: &ReadOptions) -> Result<Dataset, DataError> {
    let table = Table { schema: batch.schema(), batches: vec![batch.clone()] };
    load_source(&Source::table("record batch", table), how)
}

fn load_parts(mut parts: Parts, how: &ReadOptions, n_bytes: u64) -> Result<(Dataset, Schema), DataError> {
    // A table is fitted and made into features when all of it is in memory.
    let is_open = parts.schema().provisional;
    let mut table = is_open.then(|| fitting(parts.schema(), how.fit_bounds(), true));
    let growth = if how.classes.is_some() { Growth::Refuse } else { Growth::Append };
    let mut numbering = Numbering::new(given_classes(how)?, growth, how.limits.classes);
    let mut matrix: Option<Matrix> = None;
    let mut classes = Vec::new();
    let mut weights: Option<Vec<f64>> = None;
    let mut labelled = true;
    let mut unknown = Unknown::to(parts.schema());
    let mut block = Block::default();
    let mut left_out = LeftOut::default();
    let mut missing = LeftOutRows::default();
    while parts.read(&mut block)? {
        left_out.add(&block.gaps);
        block.gaps.runs().iter().for_each(|gap| missing.add(classes.len() + gap.n_before, gap.n_rows));
        numbering.apply(&mut block, &parts.name)?;
        if let Some(table) = &mut table {
            table.add(&mut block, parts.reader.schema()).map_err(|error| error.in_source(&parts.name))?;
        } else {
            let matrix = matrix.get_or_insert_with(|| {
                let mut matrix = empty_matrix_like(block.matrix());
                make_room(&mut matrix, &mut classes, &block, n_bytes);
                matrix
            });
            append(matrix, block.matrix());
        }
        unknown.add(&block);
        labelled &= block.is_labelled();
        if let Some(more) = block.weights() {
            weights.get_or_insert_with(|| vec![1.0; classes.len()]).extend_from_slice(more);
        } else if let Some(weights) = &mut weights {
            weights.resize(classes.len() + block.len(), 1.0);
        }
        classes.extend_from_slice(block.classes());
    }
    if classes.is_empty() {
        return Err(no_rows(&block).in_source(&parts.name));
    }
    left_out.add(&block.gaps);
    block.gaps.runs().iter().for_each(|gap| missing.add(classes.len(), gap.n_rows));
    let labels = if labelled {
        let found = numbering.labels();
        let labels = final_labels(found.clone(), how)?;
        let map = labels.classes(found.names());
        for class in &mut classes {
            *class = map[*class as usize];
        }
        labels
    } else {
        // Rows to be labelled: their class means nothing and has no name.
        classes.fill(0);
        Labels::in_order([UNLABELLED])
    };
    let name = std::mem::take(&mut parts.name);
    let mut schema = parts.finished_schema();
    schema.notes.extend(left_out.notes());
    if labelled && how.schema.is_none() {
        schema.notes.extend(numbering.notes());
    }
    if let Some(mut table) = table {
        let settled = table.settle(&mut schema, how.limits.features);
        let mut encoder = settled.map_err(|error| error.in_source(&name))?;
        matrix = Some(table.rows(&mut encoder));
    }
    schema.notes.extend(unknown.notes());
    let mut matrix = matrix.unwrap_or_else(|| empty_matrix(schema.layout, how.precision));
    if how.schema.is_none() && matches!(how.shape, Shape::Bend { .. }) {
        set_width(&mut matrix, schema.straight_width());
        let bends = bending(how.shape, &schema, matrix.width()).and_then(|fit| {
            let Some(mut fit) = fit else { return Ok(()) };
            fit.add(matrix.lend(), &classes, 0..matrix.n_rows());
            schema.width = schema.width.or(schema.columns.is_empty().then_some(matrix.width()));
            settle(fit, &labels, &mut schema, how.limits.features)
        });
        bends.map_err(|error| error.in_source(&name))?;
        if let Some(bends) = &schema.bends {
            matrix = bends.apply(matrix.lend());
        }
    }
    let is_crossed = parts.crosser.is_some();
    let crosser = if is_crossed { Ok(None) } else { Crosser::new(&schema, how.limits.features) };
    let crosser = crosser.map_err(|error| error.in_source(&name))?;
    set_width(&mut matrix, if is_crossed { schema.width() } else { schema.base_width() });
    if schema.width().is_none() {
        let known = how.schema.as_ref().and_then(|schema| schema.width());
        set_width(&mut matrix, known);
        schema.width = Some(matrix.width());
    }
    // Rows without a feature could be neither distinguished nor counted.
    let is_dense = matches!(matrix, Matrix::Dense32(_) | Matrix::Dense64(_));
    if is_dense && matrix.width() == 0 && !classes.is_empty() {
        let message = "no column of features holds a value, expected one at least";
        return Err(DataError::new(ErrorKind::Shape, message).in_source(&name));
    }
    let names = if is_crossed { schema.feature_names() } else { schema.base_names() };
    let mut dataset = Dataset::assemble(matrix, classes, labels, weights, names).with_left_out(missing);
    // What was learned from has scaled the rows already.
    if how.schema.is_none() && schema.bends.is_none() {
        let (scaling, why) = how.scaling.decide(&mut dataset, &mut schema);
        let scaler = Scaler::fit(scaling, &dataset, 0..dataset.len(), &schema);
        let scaler = scaler.map_err(|error| error.in_source(&name))?;
        if let Some(scaler) = &scaler {
            dataset.scale(scaler).map_err(|error| error.in_source(&name))?;
        }
        schema.scaler = scaler;
        note_scale(&mut schema, why);
    }
    if let Some(crosser) = crosser {
        let too_large = |row| products_too_large(row as u64).in_source(&name);
        dataset.cross(|matrix| crosser.apply(matrix).map_err(too_large), schema.feature_names())?;
        schema.layout = crosser.layout();
    }
    Ok((dataset, schema))
}

/// Categories that were not learned from.
#[derive(Debug, Default)]
struct Unknown {
    n_cells: u64,
    examples: Vec<String>,
    /// How many numbered features a model knows, how many the rows have, and the number of the first.
    known: Option<usize>,
    widest: usize,
    first: usize,
}

impl Unknown {
    fn to(schema: &Schema) -> Self {
        Self { known: schema.known, first: usize::from(!schema.zero_based), ..Self::default() }
    }

    fn add(&mut self, block: &Block) {
        self.widest = self.widest.max(block.width());
        self.n_cells += block.n_unknown;
        if self.examples.is_empty() {
            self.examples.clone_from(&block.unknown);
        }
    }

    fn notes(&self) -> impl Iterator<Item = String> {
        self.cells().into_iter().chain(self.features())
    }

    fn features(&self) -> Option<String> {
        let known = self.known.filter(|known| self.widest > *known)?;
        let (last, greatest) = ((known + self.first).saturating_sub(1), self.widest + self.first - 1);
        Some(format!(
            "features beyond number {last}, the last that was learned from, are left out: the rows have some up to {greatest}"
        ))
    }

    fn cells(&self) -> Option<String> {
        let examples = self.examples.iter().map(|example| quote(example.as_bytes())).collect::<Vec<_>>();
        let examples = examples.join(", ");
        (self.n_cells > 0).then(|| {
            format!(
                "{} cells hold categories that were not learned from, for instance {examples}",
                self.n_cells
            )
        })
    }
}

/// Reads `source` block by block, parsing on another thread.
///
/// The classes are those of the options, else those of the first block, sorted; see [`Numbering`] for
/// why, and for what happens when another one turns up.
pub fn blocks(source: &Source, how: &ReadOptions) -> Result<Stream, DataError> {
    Stream::start(source.clone(), how.clone())
}

/// `source`, kept in a file without a name where it could not be read twice. What is no data is refused by its head.
pub fn spooled(source: &Source, how: &ReadOptions) -> Result<Source, DataError> {
    source.spooled(&mut longest_line(source, how))
}

/// `source`, held in memory where it could not be read twice, up to the limit of `how`. What is no data is refused by its head.
pub fn rewindable(source: &Source, how: &ReadOptions) -> Result<Source, DataError> {
    source.held(how.limits.held_bytes, &mut longest_line(source, how))
}

/// How long a line may be in each input that is copied: what is made of lines must have some before the copy fills the
/// memory or the disk. Later parts are of the first one's format, which is not found out again.
fn longest_line<'a>(
    source: &Source,
    how: &'a ReadOptions,
) -> impl FnMut(&Input) -> Result<usize, DataError> + use<'a> {
    let mut is_first = source.parts().first().is_some_and(|first| !first.can_rewind());
    move |input| {
        if std::mem::take(&mut is_first) {
            formats::find(input, how)?;
        }
        Ok(if formats::is_certain(input) { usize::MAX } else { how.limits.line_bytes })
    }
}

/// The format of the first part of a source; nothing if it has none.
fn format_of(source: &Source, how: &ReadOptions) -> Result<Option<&'static dyn formats::Format>, DataError> {
    source.parts().first().map(|first| formats::find(&first.open()?, how)).transpose()
}

/// Whether rows of this source may have columns of numbers that bend. Those of libsvm have none, dense or not.
pub fn can_bend(source: &Source, how: &ReadOptions) -> Result<bool, DataError> {
    Ok(format_of(source, how)?.is_some_and(|format| format.heeds().contains(&"shape")))
}

/// What a column of a table holds: for every row of `source` by its place there the number of its value, `None`
/// if the row cannot be read, and the values in their order, numbers by value before texts by the alphabet.
///
/// The source must be one that can be read twice.
pub fn column(
    source: &Source,
    how: &ReadOptions,
    only: OneColumn,
) -> Result<(Vec<Option<u32>>, Labels), DataError> {
    let (what, cells) = (only.what.clone(), only.cells);
    let how = ReadOptions { only: Some(only), schema: None, meter: Meter::default(), ..how.clone() };
    let format = format_of(source, &how)?;
    if let Some(format) = format.filter(|format| !format.heeds().contains(&"weight")) {
        let message = format!(
            "there is no column {} of {cells}: {} has no columns",
            quote(what.as_bytes()),
            format.info().name
        );
        return Err(DataError::new(ErrorKind::Options, message)
            .in_source(&source.name())
            .with_help("bring the rows into a table with such a column, as CSV for instance"));
    }
    let mut parts = Parts::open(source, &how)?;
    // Every row may have a value of its own.
    let mut numbering = Numbering::new(Labels::default(), Growth::Append, usize::MAX);
    let (mut block, mut found) = (Block::default(), Vec::new());
    while parts.read(&mut block)? {
        numbering.apply(&mut block, &parts.name)?;
        let mut gaps = block.gaps.runs().iter().peekable();
        for (row, &class) in block.classes().iter().enumerate() {
            while let Some(gap) = gaps.next_if(|gap| gap.n_before <= row) {
                found.resize(found.len() + gap.n_rows as usize, None);
            }
            found.push(Some(class));
        }
        gaps.for_each(|gap| found.resize(found.len() + gap.n_rows as usize, None));
    }
    let values = Labels::sorted(numbering.labels().names());
    let map = values.classes(numbering.labels().names());
    found.iter_mut().flatten().for_each(|value| *value = map[*value as usize]);
    Ok((found, values))
}

/// The texts that these rows of `source` are made of, in the order of `rows`; `None` if rows are not made of text.
pub fn texts(source: &Source, how: &ReadOptions, rows: &[u32]) -> Result<Option<Vec<String>>, DataError> {
    let how = ReadOptions { keep_texts: true, grow_classes: true, ..how.clone() };
    let mut stream = blocks(source, &how)?;
    let mut wanted: Vec<usize> = (0..rows.len()).collect();
    wanted.sort_by_key(|&place| rows[place]);
    let mut wanted = wanted.into_iter().peekable();
    let mut found = vec![String::new(); rows.len()];
    let mut first = 0;
    while let Some(block) = stream.next()? {
        if block.texts.len() != block.len() {
            return Ok(None);
        }
        let end = first + block.len();
        while let Some(place) = wanted.next_if(|&place| (rows[place] as usize) < end) {
            found[place].clone_from(&block.texts[rows[place] as usize - first]);
        }
        first = end;
    }
    Ok(Some(found))
}

/// What the parsing thread of a stream begins with.
fn open_numbered(source: &Source, how: &ReadOptions) -> Result<(Parts, Schema, Numbering), DataError> {
    let (mut parts, schema) = open_settled(source, how)?;
    let mut first = Block::default();
    if !parts.read(&mut first)? {
        return Err(no_rows(&first).in_source(&source.name()));
    }
    let labels = if how.classes.is_some() {
        given_classes(how)?
    } else {
        let used = first.names().names().iter().zip(first.first_rows()).filter(|(_, row)| row.is_some());
        Labels::sorted(used.map(|(name, _)| name))
    };
    let labels = match &how.positive {
        // With one class so far, the other one is late in any case.
        Some(_) if first.is_labelled() && labels.len() > 1 => choose_positive(labels, how)?,
        _ => labels,
    };
    let growth = if how.grow_classes { Growth::Append } else { Growth::Refuse };
    let numbering = Numbering::new(labels, growth, how.limits.classes);
    parts.put_back(first);
    Ok((parts, schema, numbering))
}

/// Reads all of `source` once, to know its classes, categories and what stands in for missing values.
pub fn survey(source: &Source, how: &ReadOptions) -> Result<Survey, DataError> {
    survey_parts(Parts::open(source, how)?, how)
}

fn survey_parts(mut parts: Parts, how: &ReadOptions) -> Result<Survey, DataError> {
    let mut table = (parts.schema().provisional && parts.is_table())
        .then(|| fitting(parts.schema(), how.fit_bounds(), false));
    let mut numbering = Numbering::new(given_classes(how)?, Growth::Append, how.limits.classes);
    let mut block = Block::default();
    let mut n_rows = 0;
    while parts.read(&mut block)? {
        numbering.apply(&mut block, &parts.name)?;
        if let Some(table) = &mut table {
            table.add(&mut block, parts.reader.schema()).map_err(|error| error.in_source(&parts.name))?;
        }
        n_rows += block.len() as u64;
    }
    let name = parts.source.name();
    if n_rows == 0 {
        return Err(no_rows(&block).in_source(&name));
    }
    let mut schema = Schema { dropped: parts.dropped.clone(), ..parts.schema().clone() };
    // What was counted is not copied when it has one owner.
    drop(parts);
    if let Some(mut table) = table {
        table.settle(&mut schema, how.limits.features).map_err(|error| error.in_source(&name))?;
    } else {
        schema.settle();
        check_width(&schema, how.limits.features).map_err(|error| error.in_source(&name))?;
    }
    drop_names(&mut schema, how).map_err(|error| error.in_source(&name))?;
    let labels = final_labels(numbering.labels().clone(), how)?;
    Ok(Survey { schema, labels, n_rows })
}

/// Opens `source` with a schema under which rows can be made block by block, reading it first if need be: for
/// categories, words and what stands in for missing values, and for the scale.
fn open_settled(source: &Source, how: &ReadOptions) -> Result<(Parts, Schema), DataError> {
    let mut parts = Parts::open(source, how)?;
    let source = parts.source.clone();
    let again = source.can_rewind();
    let mut how = how.clone();
    if parts.schema().provisional {
        if !again {
            let message = "categories, words and means must be known before the first row, but the source cannot be read twice";
            return Err(DataError::new(ErrorKind::Options, message)
                .in_source(&source.name())
                .with_help("read from a file, or hash the categories with {hash-bits=18}"));
        }
        let is_first = how.schema.is_none();
        how.format.clone_from(&parts.how.format);
        let survey = survey_parts(parts, &how)?;
        how = how.with_schema(Arc::new(survey.schema));
        parts = Parts::open(&source, &how)?;
        parts.is_first = is_first;
    }
    if !parts.is_first {
        let schema = parts.finished_schema();
        return Ok((parts, schema));
    }
    parts.fit_bends(&how, again).map_err(|error| error.in_source(&source.name()))?;
    let (scaling, mut why) = match parts.bends {
        Some(_) => (Scaling::None, None),
        None => parts.decide_scaling(how.scaling, again)?,
    };
    if let (Some(fit), false) = (Fit::new(scaling), again) {
        drop(fit);
        if how.scaling != Scaling::Auto {
            let message = "the scale must be known before the first row, but the source cannot be read twice";
            return Err(DataError::new(ErrorKind::Options, message)
                .in_source(&source.name())
                .with_help("read from a file, or scale rows with {scale=unit-norm}"));
        }
        why = Some("the source cannot be read twice");
    } else if Fit::new(scaling).is_some() {
        let open =
            || Parts::open(&source, &how).map(|again| Parts { dense_width: parts.dense_width, ..again });
        let (mut scaler, are_few) = fit_scale(scaling, open()?)?;
        if how.scaling == Scaling::Auto && are_few {
            why = FEW_NUMBERS.1;
            (scaler, _) = fit_scale(FEW_NUMBERS.0, open()?)?;
        }
        if let Some(first) = &mut parts.again {
            scaler.apply(&mut first.matrix, 0).map_err(|error| error.in_source(&source.name()))?;
        }
        parts.scaler = Some(Arc::new(scaler));
    } else {
        parts.scaler = Scaler::unfitted(scaling).map(Arc::new);
    }
    let mut schema = parts.finished_schema();
    note_scale(&mut schema, why);
    let crosser = Crosser::new(&schema, how.limits.features);
    parts.crosser = crosser.map_err(|error| error.in_source(&source.name()))?.map(Arc::new);
    if let Some(crosser) = &parts.crosser {
        schema.layout = crosser.layout();
    }
    if let Some(mut first) = parts.again.take() {
        parts.cross(&mut first)?;
        parts.put_back(first);
    }
    Ok((parts, schema))
}

/// Keeps why rows are scaled as they are, and says it where it is not what tables usually are.
fn note_scale(schema: &mut Schema, why: Option<&'static str>) {
    schema.scaled_because = why;
    if why == FEW_NUMBERS.1 {
        let note =
            "nine in ten values are zero: columns are divided by their largest value, not standardised";
        schema.notes.push(note.to_owned());
    }
}

/// The scale of all rows that follow, and whether few of their numbers are not zero.
fn fit_scale(scaling: Scaling, mut parts: Parts) -> Result<(Scaler, bool), DataError> {
    let Some(mut fit) = Fit::new(scaling) else { return Ok((Scaler::default(), false)) };
    let (mut numbers, mut block, mut n_rows) = (Numbers::of(parts.schema()), Block::default(), 0);
    while parts.read(&mut block)? {
        fit.add(block.matrix());
        numbers.add(block.matrix().lend(), 0..block.len());
        n_rows += block.len();
    }
    let scaler = fit.finish(parts.schema()).map_err(|error| error.in_source(&parts.source.name()))?;
    Ok((scaler, numbers.are_few_of(n_rows)))
}

/// The parts of a source, read one after the other as if they were one.
struct Parts {
    /// Where they come from, held in memory if they must be read twice and could not be.
    source: Source,
    waiting: std::vec::IntoIter<Part>,
    reader: Box<dyn Reader>,
    how: ReadOptions,
    /// What the part at hand is called.
    name: String,
    /// Rows in the parts before.
    n_rows: u64,
    /// Rows of this part so far.
    n_part_rows: u64,
    /// Whether rows have labels: as the first have, so have all.
    labelled: Option<bool>,
    /// A block that was looked at and is to be read again.
    again: Option<Block>,
    /// How rows are scaled.
    scaler: Option<Arc<Scaler>>,
    /// How columns bend.
    bends: Option<Arc<Bends>>,
    /// How features are crossed, once they are scaled or bent.
    crosser: Option<Arc<Crosser>>,
    /// Numbered features that are left out, ascending.
    dropped: Vec<u32>,
    /// The most features of a row so far.
    widest: usize,
    /// Rows are stored dense, with this many features, though their format has them sparse.
    dense_width: Option<usize>,
    /// Whether nothing was learned before that decides how rows are made.
    is_first: bool,
    /// Rows left out since the last block.
    left_out: Gaps,
    /// How the format of each part is found, where messages come in several and none is named.
    unnamed: Option<Box<ReadOptions>>,
    /// What one part leaves to the next.
    pool: Arc<Pool>,
}

impl Parts {
    fn open(source: &Source, how: &ReadOptions) -> Result<Self, DataError> {
        if how.hash_bits.is_some_and(|bits| bits > ReadOptions::MAX_HASH_BITS) {
            let message = format!("the hash bits should be at most {}", ReadOptions::MAX_HASH_BITS);
            return Err(DataError::new(ErrorKind::Options, message));
        }
        let asked = how;
        check_shape(how)?;
        let mut how = how.clone();
        if let Some(schema) = &how.schema {
            // What was learned from decides how features are numbered and stored.
            how.hash_bits = how.hash_bits.or(schema.hash_bits);
            how.zero_based |= schema.zero_based;
            how.precision = schema.precision.unwrap_or(how.precision);
        }
        let pool = Arc::new(Pool::default());
        let Some(first) = source.parts().first() else {
            return Err(DataError::new(ErrorKind::Options, "no data source is given, expected at least one"));
        };
        let mut source = source.clone();
        let mut input = first.open_with(&pool, &how.meter)?;
        let format = formats::find(&input, &how)?;
        formats::check_options(format, asked)?;
        let dropped = dropped_features(format, asked)?;
        if !source.can_rewind() && format.reads_twice(&how) {
            // Formats that are read twice are made of lines.
            let bytes = input.into_lines(how.limits.held_bytes, how.limits.line_bytes)?;
            let limits = &how.limits;
            source = source.with_first(bytes).held(limits.held_bytes, &mut |_| Ok(limits.line_bytes))?;
            input = source.parts()[0].open_with(&pool, &Meter::default())?;
        }
        let name = source.parts()[0].name();
        let reader = open_reader(format, &name, input, &how)?;
        let unnamed = how.format.is_none().then(|| Box::new(how.clone()));
        // Later parts are of the first one's format and keep to its schema.
        let how = ReadOptions { format: Some(format.info().name.to_owned()), ..how };
        let crosser = match &how.schema {
            Some(schema) if !schema.provisional => Crosser::new(schema, how.limits.features)?,
            _ => None,
        };
        let around = Self::around(reader, source, name, how);
        let parts = Self { pool, crosser: crosser.map(Arc::new), dropped, unnamed, ..around };
        parts.check_formats()?;
        Ok(parts)
    }

    /// What `reader` reads, and the parts of `source` after the first.
    fn around(reader: Box<dyn Reader>, source: Source, name: String, how: ReadOptions) -> Self {
        let known = how.schema.as_deref();
        let is_full = |schema: &&Schema| schema.layout == Layout::Dense && schema.columns.is_empty();
        Self {
            waiting: source.parts().get(1..).unwrap_or_default().to_vec().into_iter(),
            source,
            reader,
            name,
            n_rows: 0,
            n_part_rows: 0,
            again: None,
            labelled: None,
            scaler: known.and_then(|schema| schema.scaler.clone()).map(Arc::new),
            bends: known.and_then(|schema| schema.bends.clone()).map(Arc::new),
            crosser: None,
            dropped: known.map_or_else(Vec::new, |schema| schema.dropped.clone()),
            widest: 0,
            dense_width: known.filter(is_full).and_then(Schema::shown_width),
            is_first: known.is_none(),
            left_out: Gaps::default(),
            unnamed: None,
            pool: Arc::new(Pool::default()),
            how,
        }
    }

    /// Whether each part that can be looked at beforehand is of the format of the first.
    fn check_formats(&self) -> Result<(), DataError> {
        let later = self.source.parts().iter().skip(1);
        let looked_at = later.filter(|part| part.can_rewind() && self.may_differ(part.extension()));
        looked_at.into_iter().try_for_each(|part| self.check_format(&part.open()?))
    }

    /// Whether a part may be of another format than the first: a model of messages reads whatever holds some, and would take
    /// a table among mails for one message. Elsewhere the name of the file says so.
    fn may_differ(&self, extension: Option<String>) -> bool {
        let (Some(unnamed), Some(first)) = (&self.unnamed, &self.how.format) else { return false };
        let is_of_messages = |schema: &Arc<Schema>| schema.message_encoder().is_some();
        unnamed.schema.as_ref().is_some_and(is_of_messages)
            || extension.is_some_and(|extension| formats::names_another(&extension, first))
    }

    /// Whether `input` is of the format of the first part.
    fn check_format(&self, input: &Input) -> Result<(), DataError> {
        let (Some(unnamed), Some(first)) = (&self.unnamed, &self.how.format) else { return Ok(()) };
        if input.head().is_empty() || !self.may_differ(input.extension()) {
            return Ok(());
        }
        let found = formats::find(input, unnamed)?.info().name;
        if found == first {
            return Ok(());
        }
        let (shown, expected) = (formats::shown(found), formats::shown(first));
        let message = format!("this looks like {shown}, expected {expected} as in the first file");
        Err(DataError::new(ErrorKind::Format, message).in_source(input.name()).with_help(format!(
            "read files of one format at a time, by a pattern such as *.csv, or name the format of all: {{format={first}}}"
        )))
    }

    fn schema(&self) -> &Schema {
        self.reader.schema()
    }

    /// Whether rows have cells that become features in memory.
    fn is_table(&self) -> bool {
        !self.schema().columns.is_empty()
    }

    /// What the readers know of the rows, and what they do not.
    fn finished_schema(&self) -> Schema {
        let mut schema = self.schema().clone();
        if let Some(text) = &mut schema.text {
            text.side = None;
        }
        if self.dense_width.is_some() {
            (schema.layout, schema.width) = (Layout::Dense, self.dense_width);
        }
        if self.is_first {
            schema.crosses.clone_from(&self.how.crosses);
        }
        if self.is_first && schema.precision.unwrap_or(self.how.precision) == Precision::Double {
            schema.precision = Some(Precision::Double);
        }
        let (zero_based, dropped) = (self.how.zero_based, self.dropped.clone());
        let (scaler, bends) = (self.scaler.as_deref().cloned(), self.bends.as_deref().cloned());
        Schema { dropped, zero_based, scaler, bends, ..schema }
    }

    /// Finds where columns bend, if they are to, by reading all rows.
    fn fit_bends(&mut self, how: &ReadOptions, again: bool) -> Result<(), DataError> {
        if !matches!(how.shape, Shape::Bend { .. }) {
            return Ok(());
        }
        if !again {
            let message = "knots must be known before the first row, but the source cannot be read twice";
            return Err(DataError::new(ErrorKind::Options, message)
                .with_help("read from a file, or leave {shape} out"));
        }
        let mut parts = Self::open(&self.source, how)?;
        let mut block = Block::default();
        let mut numbering = Numbering::new(given_classes(how)?, Growth::Append, how.limits.classes);
        let (mut fit, mut width) = (None, 0);
        while parts.read(&mut block)? {
            numbering.apply(&mut block, &parts.name)?;
            width = width.max(block.width());
            if fit.is_none() {
                fit = bending(how.shape, parts.schema(), block.width())?;
            }
            if let Some(fit) = &mut fit {
                fit.add(block.matrix().lend(), block.classes(), 0..block.len());
            }
        }
        let Some(fit) = fit else { return Err(no_rows(&block)) };
        let mut schema = self.schema().clone();
        schema.width = schema.width.or(schema.columns.is_empty().then_some(width));
        settle(fit, numbering.labels(), &mut schema, how.limits.features)?;
        self.bends = schema.bends.map(Arc::new);
        if let Some(mut first) = self.again.take() {
            self.bend(&mut first);
            self.again = Some(first);
        }
        Ok(())
    }

    fn bend(&self, block: &mut Block) {
        if let Some(bends) = self.bends.as_ref().filter(|_| !self.reader.schema().provisional) {
            block.matrix = bends.apply(block.matrix.lend());
        }
    }

    /// What `scaling` means for these rows, and why if that is to be decided. Sparse rows that look full are read
    /// through to see whether they are, if they can be read again.
    fn decide_scaling(
        &mut self,
        scaling: Scaling,
        again: bool,
    ) -> Result<(Scaling, Option<&'static str>), DataError> {
        let is_open = |(scaling, _): &(Scaling, _)| *scaling == Scaling::None;
        let decided = scaling.decided(self.schema(), 0.0);
        let could_be_full = self.schema().columns.is_empty() && self.schema().texts().next().is_none();
        let is_asked = scaling == Scaling::Auto && is_open(&decided) || scaling == Scaling::Standard;
        if !is_asked || !could_be_full || !again || self.schema().layout == Layout::Dense {
            return Ok(decided);
        }
        let mut first = Block::default();
        if !self.read(&mut first)? {
            return Err(no_rows(&first).in_source(&self.name));
        }
        let looks_full = share_of(first.matrix().lend()) >= DENSE_SHARE / 2.0;
        self.put_back(first);
        if !looks_full {
            return Ok(decided);
        }
        let (mut n_stored, mut n_rows, mut width) = (0.0, 0.0, self.schema().width().unwrap_or(0));
        let mut parts = Self::open(&self.source, &self.how)?;
        let mut block = Block::default();
        while parts.read(&mut block)? {
            n_stored += share_of(block.matrix().lend()) * (block.len() * block.width()) as f64;
            n_rows += block.len() as f64;
            width = width.max(block.width());
        }
        let share = n_stored / (n_rows * width as f64).max(1.0);
        let decided = scaling.decided(self.schema(), share);
        if scaling.centres(decided.0, self.schema(), share) {
            self.dense_width = Some(width);
            if let Some(first) = &mut self.again {
                first.matrix.make_dense(width);
            }
        }
        Ok(decided)
    }

    /// Whether there is what was to be left out, once all rows were seen.
    fn check_dropped(&self) -> Result<(), DataError> {
        let width = self.widest.max(self.schema().width().unwrap_or(0));
        let lost = self.dropped.iter().find(|feature| **feature as usize >= width);
        let Some(lost) = lost.filter(|_| self.is_first) else { return Ok(()) };
        let number = u64::from(*lost) + u64::from(!self.how.zero_based);
        let message = format!("there is no feature {number} to ignore, expected one of {width}");
        Err(DataError::new(ErrorKind::Options, message)
            .in_source(&self.source.name())
            .with_help("leave {ignore} out, or name a feature that is there"))
    }

    fn cross(&self, block: &mut Block) -> Result<(), DataError> {
        let Some(crosser) = &self.crosser else { return Ok(()) };
        let too_large = |row| products_too_large(block.first_row + row as u64).in_source(&self.name);
        crosser.apply(&mut block.matrix).map_err(too_large)
    }

    fn put_back(&mut self, block: Block) {
        self.again = Some(block);
    }

    fn read(&mut self, into: &mut Block) -> Result<bool, DataError> {
        if let Some(mut block) = self.again.take() {
            std::mem::swap(into, &mut block);
            return Ok(true);
        }
        loop {
            let reader = &mut self.reader;
            let more = guarded(&self.name, || reader.read(into))?;
            self.n_part_rows += into.n_rows_seen();
            into.gaps.put_before(std::mem::take(&mut self.left_out));
            if more {
                self.how.meter.add_rows(into.len() as u64);
                into.first_row += self.n_rows;
                if *self.labelled.get_or_insert(into.labelled) != into.labelled {
                    let row = Some(into.first_row + 1);
                    let message = "rows with and without labels are mixed, expected all of one kind";
                    return Err(DataError::new(ErrorKind::Label, message)
                        .in_source(&self.name)
                        .at(Position { row, line: None, column: None }));
                }
                self.widest = self.widest.max(into.width());
                if let Some(width) = self.dense_width {
                    into.matrix.make_dense(width);
                }
                if !self.dropped.is_empty() {
                    into.matrix.drop_features(&self.dropped);
                }
                if let Some(scaler) = self.scaler.as_ref().filter(|_| !self.reader.schema().provisional) {
                    let outcome = scaler.apply(&mut into.matrix, into.first_row);
                    outcome.map_err(|error| error.in_source(&self.name))?;
                }
                self.bend(into);
                self.cross(into)?;
                return Ok(true);
            }
            let Some(next) = self.waiting.next() else { return self.check_dropped().map(|()| false) };
            // What was left out after the last row of a part stands before the first row of the next.
            self.left_out = std::mem::take(&mut into.gaps);
            self.n_rows += self.n_part_rows;
            self.n_part_rows = 0;
            self.name = next.name();
            let schema = self.reader.schema().clone();
            let how = self.how.with_schema(Arc::new(schema.clone()));
            // The buffers of one part are given back before the next one wants some.
            self.reader = Box::new(Between(schema));
            let input = next.open_with(&self.pool, &self.how.meter)?;
            self.check_format(&input)?;
            let format = formats::find(&input, &how)?;
            self.reader = open_reader(format, &self.name, input, &how)?;
        }
    }
}

/// Whether the options about shapes fit together.
fn check_shape(how: &ReadOptions) -> Result<(), DataError> {
    let refuse =
        |message: &str, help: &'static str| Err(DataError::new(ErrorKind::Options, message).with_help(help));
    let bends = matches!(how.shape, Shape::Bend { .. });
    if how.schema.is_some() {
        return Ok(());
    }
    if bends && !matches!(how.scaling, Scaling::Auto | Scaling::None) {
        return refuse("columns that bend are of one scale already", "leave {scale} or {shape} out");
    }
    if how.missing == Missing::Own && how.shape.is_line() {
        let message = "a missing number has a weight of its own only where columns bend";
        return refuse(message, "leave {shape} out, say {shape=bend}, or {missing=mean}");
    }
    if how.missing == Missing::Own && !matches!(how.scaling, Scaling::Auto | Scaling::None) {
        let message = "a missing number has a weight of its own only where columns bend, which are of one scale already";
        return refuse(message, "leave {scale} out, or say {missing=mean}");
    }
    Ok(())
}

/// The features that `how` leaves out by their numbers, ascending, or those that were left out when the model learned.
fn dropped_features(format: &dyn Format, how: &ReadOptions) -> Result<Vec<u32>, DataError> {
    let known = how.schema.as_ref().map(|schema| schema.dropped.clone());
    let refuse = |message: String, help: &'static str| {
        Err(DataError::new(ErrorKind::Options, message).with_help(help))
    };
    let is_decided = "which features are left out was decided when the model was trained";
    let was_ignored = |schema: &Arc<Schema>| how.ignore.iter().all(|name| schema.ignored.contains(name));
    if format.names_features() && !how.ignore.is_empty() && !how.schema.as_ref().is_none_or(was_ignored) {
        return refuse(is_decided.to_owned(), "leave {ignore} out here");
    }
    if !format.numbers_features() || how.ignore.is_empty() {
        return Ok(known.unwrap_or_default());
    }
    if how.hash_bits.is_some() {
        let message =
            "hashed features have no numbers of their own, so none of them can be left out".to_owned();
        return refuse(message, "leave out {ignore} or {hash-bits}");
    }
    // The column of labels is no feature, and those after it are numbered without it.
    let label = match &how.label {
        LabelColumn::Named(label) => label.parse::<u32>().ok(),
        LabelColumn::Guess | LabelColumn::Absent => None,
    };
    let mut dropped = Vec::new();
    for what in &how.ignore {
        let number = what.parse::<u32>().ok().filter(|number| *number > 0 || how.zero_based);
        let Some(number) = number.filter(|_| Some(what) != label.map(|label| label.to_string()).as_ref())
        else {
            let message = format!(
                "there is no feature {} to ignore, expected a number: features have no names here",
                quote(what.as_bytes())
            );
            return refuse(message, "name it by its number with {ignore}");
        };
        let after_label = label.is_some_and(|label| label < number);
        dropped.push(number - u32::from(!how.zero_based) - u32::from(after_label));
    }
    dropped.sort_unstable();
    dropped.dedup();
    match known {
        Some(known) if known != dropped => refuse(is_decided.to_owned(), "leave {ignore} out here"),
        _ => Ok(dropped),
    }
}

/// Leaves names out of those that were gathered; an error if one of them was not met.
fn drop_names(schema: &mut Schema, how: &ReadOptions) -> Result<(), DataError> {
    let Some(names) = schema.names.as_mut().filter(|_| how.schema.is_none()) else { return Ok(()) };
    for what in &how.ignore {
        if schema.ignored.contains(what) {
            continue;
        }
        let Some(place) = names.iter().position(|name| name == what) else {
            let shown: Vec<String> = names.iter().take(8).map(|name| quote(name.as_bytes())).collect();
            let message = format!(
                "there is no feature {} to ignore, expected one of {}",
                quote(what.as_bytes()),
                shown.join(", ")
            );
            return Err(DataError::new(ErrorKind::Options, message).with_help(
                "name a feature with {ignore} as `space^feature`, or without the space if it has no name",
            ));
        };
        names.remove(place);
        schema.ignored.push(what.clone());
    }
    Ok(())
}

/// Stands between two parts and has no rows.
struct Between(Schema);

impl Reader for Between {
    fn schema(&self) -> &Schema {
        &self.0
    }

    fn read(&mut self, _into: &mut Block) -> Result<bool, DataError> {
        Ok(false)
    }
}

/// A reader of `input`. A model that learned from names finds nothing under numbers.
fn open_reader(
    format: &dyn Format,
    name: &str,
    input: Input,
    how: &ReadOptions,
) -> Result<Box<dyn Reader>, DataError> {
    if how.schema.as_ref().is_some_and(|schema| schema.names.is_some()) && !format.names_features() {
        let message =
            "features have no names of their own here, expected names as in the data that was learned from";
        return Err(DataError::new(ErrorKind::Shape, message)
            .in_source(name)
            .with_help("bring the data into the format that was learned from"));
    }
    guarded(name, || format.open(input, how))
}

fn products_too_large(row: u64) -> DataError {
    let position = Position { row: Some(row + 1), line: None, column: None };
    DataError::new(ErrorKind::Number, "the product of two features should be finite, but is too large")
        .at(position)
        .with_help("scale the features, or store double precision with {precision=f64}")
}

/// Runs a reader on foreign bytes. A panic there is our fault, but must not take the caller down.
fn guarded<T>(name: &str, work: impl FnOnce() -> Result<T, DataError>) -> Result<T, DataError> {
    panics::catch(work).unwrap_or_else(|| {
        Err(DataError::new(
            ErrorKind::Internal,
            "the reader gave up on this input, expected an error or rows",
        )
        .in_source(name)
        .with_help("this is a bug; please report it with the file"))
    })
}

/// Blocks of rows, parsed on another thread, in the order of the source.
#[derive(Debug)]
pub struct Stream {
    schema: Schema,
    labels: Labels,
    filled: Receiver<Result<Filled, DataError>>,
    used: Sender<Block>,
    lent: Option<Block>,
    is_over: bool,
    n_rows: u64,
    left_out: LeftOut,
    unknown: Unknown,
    /// What was left out after the last row.
    at_end: Gaps,
    label_notes: Vec<String>,
}

#[derive(Debug)]
struct Filled {
    block: Block,
    /// Classes that this block added.
    new_classes: Vec<String>,
    /// What is known of the classes in the end.
    notes: Vec<String>,
    is_last: bool,
}

impl Stream {
    fn start(source: Source, how: ReadOptions) -> Result<Self, DataError> {
        let (opened_in, opened) = channel();
        let (filled_in, filled) = channel();
        let (used, used_out) = channel();
        for _ in 0..N_BLOCKS {
            let _ = used.send(Block::default());
        }
        let name = source.name();
        // The source is opened where it is read: the thread that allocates the memory of the first part has it for
        // those that follow.
        let work = move || match open_numbered(&source, &how) {
            Ok((parts, schema, numbering)) => {
                let labels = numbering.labels().clone();
                if opened_in.send(Ok((schema, labels))).is_ok() {
                    parse(parts, numbering, &filled_in, &used_out);
                }
            }
            Err(error) => drop(opened_in.send(Err(error))),
        };
        thread::Builder::new()
            .name("parser".to_owned())
            .spawn(work)
            .map_err(|error| DataError::io("starting a thread", error).in_source(&name))?;
        let (schema, labels) = opened.recv().unwrap_or_else(|_| Err(gone()))?;
        let (left_out, at_end) = (LeftOut::default(), Gaps::default());
        let unknown = Unknown::to(&schema);
        Ok(Self {
            schema,
            labels,
            filled,
            used,
            lent: None,
            is_over: false,
            n_rows: 0,
            left_out,
            unknown,
            at_end,
            label_notes: Vec::new(),
        })
    }

    /// What the rows are made of.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The classes. Grows only if the options let it.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// Rows lent so far.
    pub fn n_rows(&self) -> u64 {
        self.n_rows
    }

    /// Rows left out so far for a missing value.
    pub fn n_dropped(&self) -> u64 {
        self.left_out.n_dropped()
    }

    /// Rows left out so far because they could not be read.
    pub fn n_skipped(&self) -> u64 {
        self.left_out.n_skipped()
    }

    /// What was left out so far, and why.
    pub fn left_out(&self) -> &LeftOut {
        &self.left_out
    }

    /// What a person should know of rows that were left out, of categories that were not learned from, and of the
    /// classes: once the stream is at its end.
    pub fn notes(&self) -> Vec<String> {
        let notes = self.left_out.notes().into_iter().chain(self.unknown.notes());
        notes.chain(self.label_notes.iter().cloned()).collect()
    }

    /// Rows that were left out after the last one, once the stream is at its end.
    pub fn gaps_at_end(&self) -> &[Gap] {
        self.at_end.runs()
    }

    /// The next rows, at least one, with true class numbers; `None` at the end. An error is the end, too.
    #[expect(clippy::should_implement_trait, reason = "the block is lent, which an iterator cannot do")]
    pub fn next(&mut self) -> Result<Option<&Block>, DataError> {
        if let Some(block) = self.lent.take() {
            // The parser may have ended; then the block is not needed.
            let _ = self.used.send(block);
        }
        if self.is_over {
            return Ok(None);
        }
        let filled = match self.filled.recv() {
            Ok(Ok(filled)) => filled,
            Ok(Err(error)) => {
                self.is_over = true;
                return Err(error);
            }
            Err(_) => {
                self.is_over = true;
                return Err(gone());
            }
        };
        for name in &filled.new_classes {
            self.labels.add_new(name);
        }
        self.n_rows += filled.block.len() as u64;
        self.left_out.add(&filled.block.gaps);
        self.unknown.add(&filled.block);
        if filled.is_last {
            self.is_over = true;
            self.label_notes = filled.notes;
            self.at_end = filled.block.gaps;
            return Ok(None);
        }
        Ok(Some(self.lent.insert(filled.block)))
    }

    /// The same, with the classes as they are known by then.
    pub fn next_labelled(&mut self) -> Result<Option<(&Block, &Labels)>, DataError> {
        self.next()?;
        Ok(self.lent.as_ref().map(|block| (block, &self.labels)))
    }
}

/// The parsing thread: fills blocks until the source, or the interest in it, ends.
fn parse(
    mut parts: Parts,
    mut numbering: Numbering,
    filled: &Sender<Result<Filled, DataError>>,
    used: &Receiver<Block>,
) {
    let mut n_rows = 0;
    // All blocks take their turn, so that the memory of a stream does not depend on who is quicker.
    while let Ok(mut block) = used.recv() {
        let n_classes = numbering.labels().len();
        let outcome = parts.read(&mut block).and_then(|more| {
            if more {
                numbering.apply(&mut block, &parts.name)?;
                n_rows += block.len();
            } else if n_rows == 0 {
                return Err(no_rows(&block).in_source(&parts.name));
            }
            let new_classes = numbering.labels().names()[n_classes..].to_vec();
            let notes = if more { Vec::new() } else { numbering.notes() };
            Ok(Filled { block, new_classes, notes, is_last: !more })
        });
        let is_over = outcome.as_ref().map_or(true, |filled| filled.is_last);
        if filled.send(outcome).is_err() || is_over {
            return;
        }
    }
}

#[cold]
fn gone() -> DataError {
    DataError::new(ErrorKind::Internal, "the parsing thread is gone, expected more rows")
}

fn no_rows(block: &Block) -> DataError {
    let (n_dropped, n_skipped) = (block.n_dropped(), block.n_skipped());
    let message = if n_dropped + n_skipped > 0 {
        format!(
            "no rows are left, expected at least one: {n_dropped} lack a value, {n_skipped} cannot be read"
        )
    } else {
        "there are no rows, expected at least one".to_owned()
    };
    DataError::new(ErrorKind::Empty, message)
}

/// The classes that the options name, by the names they have inside.
fn given_classes(how: &ReadOptions) -> Result<Labels, DataError> {
    let (mut names, mut known) = (Vec::new(), HashSet::new());
    for class in how.classes.iter().flatten() {
        let name = canonical(class.as_bytes())
            .map_err(|bad| DataError::new(ErrorKind::Options, bad.message(class.as_bytes())))?;
        if !known.insert(name.clone().into_owned()) {
            let message = format!("class `{name}` is named twice, expected different classes");
            return Err(DataError::new(ErrorKind::Options, message));
        }
        names.push(name.into_owned());
    }
    Ok(Labels::in_order(names))
}

/// The classes in their final order: as given, else sorted, the positive one of two last.
pub(crate) fn final_labels(found: Labels, how: &ReadOptions) -> Result<Labels, DataError> {
    let labels = if how.classes.is_some() { found } else { Labels::sorted(found.names()) };
    choose_positive(labels, how)
}

fn choose_positive(labels: Labels, how: &ReadOptions) -> Result<Labels, DataError> {
    let Some(positive) = &how.positive else { return Ok(labels) };
    let name = canonical(positive.as_bytes())
        .map_err(|bad| DataError::new(ErrorKind::Options, bad.message(positive.as_bytes())))?;
    let known = labels.names().iter().take(8).map(String::as_str).collect::<Vec<_>>().join(", ");
    let n_classes = labels.len();
    labels.with_positive(&name).ok_or_else(|| {
        let message = if n_classes == 2 {
            format!("the positive class should be one of {known}, but is `{name}`")
        } else {
            format!("a positive class needs two classes, but there are {n_classes}: {known}")
        };
        DataError::new(ErrorKind::Options, message)
    })
}

/// Makes room for all of a source of `n_bytes`, judging by its first block: text comes in blocks of as many bytes
/// as a window has. Never more is asked for than twice the bytes there are, and if it turns out to be too little,
/// lists grow.
fn make_room(matrix: &mut Matrix, classes: &mut Vec<u32>, first: &Block, n_bytes: u64) {
    let n_blocks = 1.02 * n_bytes as f64 / WINDOW_BYTES as f64 + 1.0;
    let n_items = |in_first: usize, size: usize| {
        (in_first as f64 * n_blocks).min(2.0 * n_bytes as f64 / size as f64) as usize
    };
    reserve(classes, n_items(first.len(), size_of::<u32>()));
    match (matrix, first.matrix()) {
        (Matrix::Dense32(matrix), Matrix::Dense32(first)) => {
            reserve(&mut matrix.values, n_items(first.values.len(), 4));
        }
        (Matrix::Dense64(matrix), Matrix::Dense64(first)) => {
            reserve(&mut matrix.values, n_items(first.values.len(), 8));
        }
        (Matrix::Sparse32(matrix), Matrix::Sparse32(first)) => {
            reserve(&mut matrix.offsets, n_items(first.offsets.len(), 8));
            reserve(&mut matrix.indices, n_items(first.n_entries(), 8));
            reserve(&mut matrix.values, n_items(first.n_entries(), 8));
        }
        (Matrix::Sparse64(matrix), Matrix::Sparse64(first)) => {
            reserve(&mut matrix.offsets, n_items(first.offsets.len(), 8));
            reserve(&mut matrix.indices, n_items(first.n_entries(), 12));
            reserve(&mut matrix.values, n_items(first.n_entries(), 12));
        }
        _ => {}
    }
}

/// A matrix without rows of the kind of `matrix`.
fn empty_matrix_like(matrix: &Matrix) -> Matrix {
    let (layout, precision) = match matrix {
        Matrix::Dense32(_) => (Layout::Dense, Precision::Single),
        Matrix::Dense64(_) => (Layout::Dense, Precision::Double),
        Matrix::Sparse32(_) => (Layout::Sparse, Precision::Single),
        Matrix::Sparse64(_) => (Layout::Sparse, Precision::Double),
    };
    empty_matrix(layout, precision)
}

pub(crate) fn append(matrix: &mut Matrix, more: &Matrix) {
    match (matrix, more) {
        (Matrix::Dense32(matrix), Matrix::Dense32(more)) => matrix.append(more),
        (Matrix::Dense64(matrix), Matrix::Dense64(more)) => matrix.append(more),
        (Matrix::Sparse32(matrix), Matrix::Sparse32(more)) => matrix.append(more),
        (Matrix::Sparse64(matrix), Matrix::Sparse64(more)) => matrix.append(more),
        // Every reader keeps to the layout of its schema and the precision of the options.
        _ => unreachable!("all blocks of a source are of one kind"),
    }
}

/// A schema may know of features that no row has.
fn set_width(matrix: &mut Matrix, known: Option<usize>) {
    let known = known.unwrap_or(0);
    match matrix {
        Matrix::Sparse32(matrix) => matrix.width = matrix.width.max(known),
        Matrix::Sparse64(matrix) => matrix.width = matrix.width.max(known),
        Matrix::Dense32(_) | Matrix::Dense64(_) => {}
    }
}

/// A label and the stored entries of a row, for tests that compare formats.
#[cfg(test)]
pub(crate) type LabelledRow = (String, Vec<(usize, f64)>);

/// All rows of a source.
#[cfg(test)]
pub(crate) fn read_rows(source: &Source, how: &ReadOptions) -> Result<Vec<LabelledRow>, DataError> {
    struct Rows<'a>(&'a Labels);

    impl crate::Visitor for Rows<'_> {
        type Output = Vec<LabelledRow>;

        fn visit<E: rosenblatt_core::Examples>(self, examples: E) -> Self::Output {
            use rosenblatt_core::Row;
            let row = |idx| {
                let label = self.0.name(examples.class(idx)).to_owned();
                (label, examples.row(idx).entries().collect())
            };
            (0..examples.len()).map(row).collect()
        }
    }

    let dataset = load_source(source, how)?;
    Ok(dataset.visit(Rows(dataset.labels())))
}

#[cfg(test)]
mod tests {
    use super::*;
    fn svm(rows: std::ops::Range<usize>, n_classes: usize) -> String {
        let line = |i| format!("c{} {}:{} {}:0.1\n", i % n_classes, i % 50 + 1, i, i % 50 + 60);
        rows.map(line).collect::<Vec<_>>().concat()
    }

    fn streamed(source: &Source, how: &ReadOptions) -> Result<(Vec<u32>, u64, Labels), DataError> {
        let mut stream = blocks(source, how)?;
        let mut classes = Vec::new();
        while let Some(block) = stream.next()? {
            assert_eq!(block.first_row(), classes.len() as u64);
            classes.extend_from_slice(block.classes());
        }
        assert!(stream.next()?.is_none());
        Ok((classes, stream.n_rows(), stream.labels().clone()))
    }

    #[test]
    fn rows_without_a_value_are_refused() {
        let how = ReadOptions {
            format: Some("csv".to_owned()),
            label: crate::LabelColumn::Named("1".to_owned()),
            header: Some(false),
            missing: crate::Missing::Mean,
            on_bad_row: crate::OnBadRow::Skip,
            ..ReadOptions::default()
        };
        let text = &b"1\t\n3\t1e400?\tv\n2)nanu\n3\t?|\tv\n"[..];
        let error = load_source(&Source::bytes("rows.tsv", text), &how).unwrap_err();
        assert!(error.report().contains("no column of features holds a value"), "{}", error.report());
    }

    #[test]
    fn a_stream_and_memory_agree() {
        let source = Source::bytes("t.svm", svm(0..100_000, 3).into_bytes());
        let how = ReadOptions::as_stored();
        let dataset = load_source(&source, &how).unwrap();
        let (classes, n_rows, labels) = streamed(&source, &how).unwrap();
        assert_eq!((dataset.classes(), dataset.labels()), (&classes[..], &labels));
        assert_eq!(n_rows, 100_000);
        assert_eq!(labels.names(), ["c0", "c1", "c2"]);
    }

    #[test]
    fn texts_are_the_same_rows_whoever_splits_them() {
        let line =
            |row: usize| format!("{},word{} and word{} of {}\n", row % 2, row % 97, row % 89, row * row);
        let text: String = "label,text\n".to_owned() + &(0..40_000).map(line).collect::<String>();
        assert!(text.len() > 1 << 20, "worth several threads");
        let rows = |threads| {
            let how = ReadOptions { threads, text_columns: vec!["text".into()], ..ReadOptions::as_stored() };
            read_rows(&Source::bytes("t.csv", text.as_bytes().to_vec()), &how).unwrap()
        };
        let alone = rows(1);
        assert_eq!(alone.len(), 40_000);
        assert_eq!(alone, rows(3));
    }

    #[test]
    fn several_files_are_one() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("2.svm"), svm(60_000..100_000, 3)).unwrap();
        std::fs::write(folder.path().join("1.svm"), svm(0..60_000, 3)).unwrap();
        let parts = Source::find(folder.path()).unwrap();
        let whole = Source::bytes("t.svm", svm(0..100_000, 3).into_bytes());
        let how = ReadOptions { precision: Precision::Double, ..ReadOptions::as_stored() };
        assert_eq!(load_source(&parts, &how).unwrap(), load_source(&whole, &how).unwrap());
        assert_eq!(streamed(&parts, &how).unwrap(), streamed(&whole, &how).unwrap());

        let tables = tempfile::tempdir().unwrap();
        std::fs::write(tables.path().join("a.csv"), "x,k,label\n1,u,p\n2,v,q\n").unwrap();
        std::fs::write(tables.path().join("b.csv"), "k,label,x\nw,q,3\n").unwrap();
        let dataset = load(tables.path(), &ReadOptions::as_stored()).unwrap();
        assert_eq!(dataset.feature_names().unwrap(), ["x", "k=u", "k=v", "k=w"]);
        assert_eq!(dataset.classes(), [0, 1, 1]);
        std::fs::write(tables.path().join("c.csv"), "k,label,x\nw,q,3\nw,q,z\n").unwrap();
        let error = load(tables.path(), &ReadOptions::as_stored()).unwrap_err();
        assert!(error.source_name().is_some_and(|name| name.ends_with("c.csv")), "{error}");
        assert_eq!(error.position().line, Some(3));
    }

    #[test]
    fn a_late_class_is_found_by_a_survey() {
        let text = svm(0..50_000, 2) + "b 1:1\n";
        let source = Source::bytes("t.svm", text.into_bytes());
        let mut how = ReadOptions::as_stored();
        let error = streamed(&source, &how).unwrap_err();
        assert_eq!((error.kind(), error.position().row), (ErrorKind::LateClass, Some(50_001)));
        let found = survey(&source, &how).unwrap();
        assert_eq!(found.labels.names(), ["b", "c0", "c1"]);
        assert_eq!(found.n_rows, 50_001);
        how.classes = Some(found.labels.names().to_vec());
        let (classes, _, _) = streamed(&source, &how).unwrap();
        assert_eq!(classes, load_source(&source, &ReadOptions::as_stored()).unwrap().classes());
        let grown = ReadOptions { grow_classes: true, ..ReadOptions::as_stored() };
        assert_eq!(streamed(&source, &grown).unwrap().2.names(), ["c0", "c1", "b"]);
    }

    #[test]
    fn compressed_and_plain_give_the_same() {
        use std::io::Write;
        let text = svm(0..20_000, 4).into_bytes();
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(&text).unwrap();
        let zst = ruzstd::encoding::compress_to_vec(&text[..], ruzstd::encoding::CompressionLevel::Fastest);
        let how = ReadOptions::as_stored();
        let plain = load_source(&Source::bytes("a.svm", text), &how).unwrap();
        let gz = gz.finish().unwrap();
        assert_eq!(load_source(&Source::bytes("a.svm.gz", gz.clone()), &how).unwrap(), plain);
        assert_eq!(load_source(&Source::bytes("a", zst), &how).unwrap(), plain);
        let cut = &gz[..gz.len() - 1];
        let error = load_source(&Source::bytes("a.svm.gz", cut.to_vec()), &how).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Compression);
    }

    #[test]
    fn csv_and_libsvm_give_the_same_rows() {
        let csv = Source::bytes("a.csv", *b"1,0.1,-7.25e3,+1\n3,1e-3,9,-1\n");
        let svm = Source::bytes("a.svm", *b"1.0 1:1 2:0.1 3:-7250\n-1 2:.001 1:3 3:9\n");
        for precision in [Precision::Single, Precision::Double] {
            let how = ReadOptions { precision, ..ReadOptions::as_stored() };
            assert_eq!(read_rows(&csv, &how).unwrap(), read_rows(&svm, &how).unwrap());
        }
    }

    #[test]
    fn classes_positive_and_too_many_labels() {
        let source = Source::bytes("a.svm", *b"ham 1:1\nspam 2:1\n");
        let how =
            |positive: &str| ReadOptions { positive: Some(positive.into()), ..ReadOptions::as_stored() };
        assert_eq!(load_source(&source, &how("ham")).unwrap().labels().names(), ["spam", "ham"]);
        assert_eq!(streamed(&source, &how("ham")).unwrap().2.names(), ["spam", "ham"]);
        assert_eq!(load_source(&source, &how("eggs")).unwrap_err().kind(), ErrorKind::Options);
        let fixed = ReadOptions { classes: Some(vec!["spam".into()]), ..ReadOptions::as_stored() };
        assert_eq!(load_source(&source, &fixed).unwrap_err().kind(), ErrorKind::LateClass);
        let many = Source::bytes("a.svm", svm(0..20_000, 20_000).into_bytes());
        let error = load_source(&many, &ReadOptions::as_stored()).unwrap_err();
        assert!(error.message().contains("regression"), "{error}");
        let empty = Source::bytes("a.svm", *b"# nothing\n\n");
        assert_eq!(load_source(&empty, &ReadOptions::as_stored()).unwrap_err().kind(), ErrorKind::Empty);
        assert_eq!(blocks(&empty, &ReadOptions::as_stored()).unwrap_err().kind(), ErrorKind::Empty);
    }
}
