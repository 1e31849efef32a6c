//! Arrow record batches as rows of a table: what Parquet and Arrow IPC share.
//!
//! Columns of numbers are numbers; text, dictionaries of text and booleans (`true`, `false`) are names,
//! as they are in CSV. One column of lists of numbers may hold all features, or two such columns that
//! are called `indices` and `values`, whose indices start at 0. Nulls and NaN are missing values. Columns
//! of any other type must be left out, and an error names them. Nothing here reads files.

use super::Reader;
use super::columns::{Cell, Columns, FileColumn, Form, Plan, check_first_index};
use super::sense::{SAMPLE_ROWS, Seen, precision};
use crate::bytes::panics;
use crate::bytes::source::Table;
use crate::error::{DataError, ErrorKind, Mistake, Position, quote};
use crate::options::ReadOptions;
use crate::remedy;
use crate::rows::block::{Block, Stored};
use crate::rows::schema::{Precision, Schema};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, BooleanArray, RecordBatch, StringArray};
use arrow_schema::{DataType, Schema as ArrowSchema};
use std::sync::Arc;

/// Values in a batch, about: the number of rows decoded at a time follows.
const BATCH_VALUES: usize = 1 << 18;

/// Runs foreign code on foreign bytes: a panic there becomes an error.
pub(super) fn contained<R, E: std::fmt::Display>(
    what: &str,
    work: impl FnOnce() -> Result<R, E>,
) -> Result<R, DataError> {
    let damaged = |why: String| {
        DataError::new(ErrorKind::Format, format!("the {what} data is damaged or not read: {why}"))
            .with_help("check the file with the tool that wrote it, or get it again")
    };
    match panics::catch(work) {
        Some(Ok(result)) => Ok(result),
        Some(Err(error)) => Err(damaged(first_line(&error.to_string()))),
        None => Err(damaged("its decoder gave up (a bug worth reporting)".to_owned())),
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(300).collect()
}

/// How many rows to decode at a time from a file of `n_columns` values a row.
pub(super) fn batch_rows(n_columns: usize) -> usize {
    (BATCH_VALUES / n_columns.max(1)).clamp(1, 8192)
}

fn is_number(kind: &DataType) -> bool {
    match kind {
        DataType::Float16 | DataType::Float32 | DataType::Float64 => true,
        // Categories that are numbers are what they would be in a file of text.
        DataType::Dictionary(_, values) => is_number(values),
        _ => kind.is_integer(),
    }
}

fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Boolean => true,
        DataType::Dictionary(_, values) => {
            matches!(**values, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
        }
        _ => false,
    }
}

fn is_date(kind: &DataType) -> bool {
    use DataType::{Date32, Date64, Duration, Time32, Time64, Timestamp};
    matches!(kind, Date32 | Date64 | Duration(_) | Time32(_) | Time64(_) | Timestamp(..))
}

/// The type of the numbers in a list.
fn list_of(kind: &DataType) -> Option<&DataType> {
    match kind {
        DataType::List(field) | DataType::LargeList(field) | DataType::FixedSizeList(field, _) => {
            Some(field.data_type()).filter(|kind| is_number(kind))
        }
        _ => None,
    }
}

/// What is done with the columns of record batches.
#[derive(Debug)]
pub(super) struct ArrowPlan {
    plan: Plan,
    pub(super) precision: Precision,
    /// For each column of the table, its place in the file; a pair has the indices, too.
    places: Vec<(usize, Option<usize>)>,
}

/// Rows of record batches.
#[derive(Debug)]
pub(super) struct ArrowTable<T> {
    pub(super) table: Columns<T>,
    places: Vec<(usize, Option<usize>)>,
}

impl ArrowPlan {
    /// Decides what each column is for. The rows of `first`, which has all columns, tell what they are like.
    pub(super) fn new(
        schema: &ArrowSchema,
        first: Option<&RecordBatch>,
        how: &ReadOptions,
    ) -> Result<Self, DataError> {
        let fields = schema.fields();
        let lists: Vec<usize> =
            (0..fields.len()).filter(|&place| list_of(fields[place].data_type()).is_some()).collect();
        let is_indices = |place: usize| {
            let name = fields[place].name().to_ascii_lowercase();
            list_of(fields[place].data_type()).is_some_and(DataType::is_integer)
                && (name.contains("indices") || name.contains("index"))
        };
        let pair = match lists[..] {
            [a, b] if is_indices(a) => Some((b, a)),
            [a, b] if is_indices(b) => Some((a, b)),
            _ => None,
        };
        let mut columns = Vec::new();
        let mut places = Vec::new();
        let mut odd: Vec<(String, String)> = Vec::new();
        for (place, field) in fields.iter().enumerate() {
            if pair.is_some_and(|(_, indices)| indices == place) {
                continue;
            }
            let kind = field.data_type();
            let array = first.and_then(|batch| batch.columns().get(place));
            let seen = array.map(|array| seen(array.as_ref(), how)).unwrap_or_default();
            let form = if pair.is_some_and(|(values, _)| values == place) {
                Form::Sparse
            } else if is_number(kind) {
                Form::Number
            } else if is_text(kind) {
                // Text may spell numbers; without any, it is what it says it is.
                if seen.is_empty() { Form::Text } else { seen.form() }
            } else if is_date(kind) {
                Form::Date
            } else if list_of(kind).is_some() {
                Form::Vector(list_length(kind, array))
            } else {
                odd.push((field.name().clone(), kind.to_string()));
                Form::Text
            };
            columns.push(FileColumn {
                name: field.name().clone(),
                form,
                seen: seen.into(),
                is_unnamed: field.name().starts_with("__index_level_"),
                is_typed: true,
            });
            places.push((place, pair.filter(|(values, _)| *values == place).map(|(_, indices)| indices)));
        }
        let (precision, note) = precision(&columns, how);
        let forms: Vec<Form> = columns.iter().map(|column| column.form).collect();
        if how.schema.is_none() {
            check_first_index(how, "indices of sparse rows start at 0 there in any case")?;
        }
        let mut plan = Plan::new(columns, true, how, note.iter().cloned().collect())?;
        if note.is_some() {
            Arc::make_mut(&mut plan.schema).precision = Some(precision);
        }
        plan.count_from_zero();
        for place in (0..forms.len()).filter(|&place| plan.needs(place)) {
            let called = &plan.names[place];
            let is_odd = odd.iter().find(|(name, _)| name == called);
            let date = ("time or date".to_owned(), String::new());
            let date = (forms[place] == Form::Date).then_some(&date);
            if let Some((name, kind)) = is_odd.or(date) {
                let kind = if kind.is_empty() { name } else { kind };
                let message = format!(
                    "column {} is of type {}, expected numbers, text, booleans or lists of numbers",
                    quote(called.as_bytes()),
                    first_line(kind)
                );
                return Err(DataError::new(ErrorKind::Shape, message)
                    .with_help(format!("leave it out with {}", remedy::set("ignore", called))));
            }
        }
        Ok(Self { plan, precision, places })
    }
}

/// What the first rows of a column are like.
fn seen(array: &dyn Array, how: &ReadOptions) -> Seen {
    let mut seen = Seen::new(how);
    // What a column of numbers is like is of no interest to a model that knows it.
    if how.schema.is_some() && is_number(array.data_type()) {
        return seen;
    }
    let cells = Cells::new(array);
    for row in 0..array.len().min(SAMPLE_ROWS) {
        match &cells {
            Cells::Numbers(numbers) => seen.see(Cell::Number(numbers[row])),
            Cells::Texts(texts) => {
                seen.see(texts.get(row).map_or(Cell::Missing, |text| Cell::Text(text.as_bytes())));
            }
            Cells::Lists(_) | Cells::Other => {}
        }
    }
    seen
}

impl<T: Stored> ArrowTable<T> {
    pub(super) fn new(plan: ArrowPlan) -> Self {
        Self { table: Columns::new(plan.plan), places: plan.places }
    }

    /// The places in the file of the columns that matter, ascending.
    pub(super) fn projection(&self) -> Vec<usize> {
        let needed = self.places.iter().enumerate().filter(|&(column, _)| self.table.plan.needs(column));
        let mut places: Vec<usize> =
            needed.flat_map(|(_, &(place, indices))| [Some(place), indices]).flatten().collect();
        places.sort_unstable();
        places
    }

    /// Adds the rows of `batch`, which has the projected columns, to `block`.
    pub(super) fn add(&mut self, batch: &RecordBatch, block: &mut Block) -> Result<(), DataError> {
        let projection = self.projection();
        let column_at = |place: usize| {
            let column = projection.binary_search(&place).ok().and_then(|column| batch.columns().get(column));
            column.ok_or_else(|| DataError::new(ErrorKind::Internal, "a projected column is gone"))
        };
        let mut cells: Vec<(usize, Cells<'_>, Option<Cells<'_>>)> = Vec::new();
        for (column, &(place, indices)) in self.places.iter().enumerate() {
            if !self.table.plan.needs(column) {
                continue;
            }
            let array = column_at(place)?.as_ref();
            let spelled = if self.table.plan.is_name(column) { spelled(array) } else { None };
            let values = spelled.map_or_else(|| Cells::new(array), Cells::Texts);
            let indices = match indices {
                Some(indices) => Some(Cells::new(column_at(indices)?.as_ref())),
                None => None,
            };
            cells.push((column, values, indices));
        }
        let columns: Option<Vec<(usize, &[f64])>> = cells
            .iter()
            .map(|(column, values, _)| match values {
                Cells::Numbers(numbers) => Some((self.table.plan.number_slot(*column)?, numbers.as_slice())),
                _ => None,
            })
            .collect();
        if columns.is_some_and(|columns| self.table.add_numbers(&columns, batch.num_rows(), block)) {
            return Ok(());
        }
        for row in 0..batch.num_rows() {
            self.table.begin_row();
            let outcome = cells
                .iter()
                .try_for_each(|(column, values, indices)| {
                    give(&mut self.table, *column, values, indices.as_ref(), row, block)
                })
                .and_then(|()| self.table.end_row(block));
            if let Err(mistake) = outcome {
                let is_skipped = !self.table.plan.refuses(&mistake);
                let position = Position { row: Some(self.table.row_number(block)), line: None, column: None };
                let error = DataError::new(mistake.kind, mistake.message).at(position);
                if is_skipped {
                    block.skip_row(&error);
                    continue;
                }
                return Err(match mistake.help {
                    Some(help) => error.with_help(help),
                    None => error,
                });
            }
        }
        Ok(())
    }
}

/// The rows of a table in memory.
struct TableReader<T> {
    rows: ArrowTable<T>,
    table: Arc<Table>,
    projection: Vec<usize>,
    /// How many rows are made at a time.
    step: usize,
    /// The next row: its batch, and its place there.
    at: (usize, usize),
}

/// A reader of a table in memory.
pub(super) fn table_reader(table: &Arc<Table>, how: &ReadOptions) -> Result<Box<dyn Reader>, DataError> {
    fn boxed<T: Stored>(plan: ArrowPlan, table: &Arc<Table>) -> Box<dyn Reader> {
        let rows = ArrowTable::<T>::new(plan);
        let projection = rows.projection();
        // The numbers of a list are looked at all at once, however few of its rows are wanted.
        let has_lists = table.schema.fields().iter().any(|field| list_of(field.data_type()).is_some());
        let step = if has_lists { usize::MAX } else { batch_rows(projection.len()) };
        Box::new(TableReader { rows, table: Arc::clone(table), projection, step, at: (0, 0) })
    }
    let first = table.batches.iter().find(|batch| batch.num_rows() > 0);
    let plan = ArrowPlan::new(&table.schema, first, how)?;
    Ok(match plan.precision {
        Precision::Single => boxed::<f32>(plan, table),
        Precision::Double => boxed::<f64>(plan, table),
    })
}

impl<T: Stored> Reader for TableReader<T> {
    fn schema(&self) -> &Schema {
        &self.rows.table.plan.schema
    }

    fn read(&mut self, into: &mut Block) -> Result<bool, DataError> {
        self.rows.table.clear(into);
        while into.is_empty()
            && let Some(batch) = self.table.batches.get(self.at.0)
        {
            let n_rows = (batch.num_rows() - self.at.1).min(self.step);
            if n_rows == 0 {
                self.at = (self.at.0 + 1, 0);
                continue;
            }
            let batch = contained("Arrow", || batch.slice(self.at.1, n_rows).project(&self.projection))?;
            self.at.1 += n_rows;
            contained("Arrow", || Ok::<_, DataError>(self.rows.add(&batch, into)))??;
        }
        self.rows.table.finish(into);
        Ok(!into.is_empty())
    }
}

/// Gives the table one cell.
fn give<T: Stored>(
    table: &mut Columns<T>,
    column: usize,
    values: &Cells<'_>,
    indices: Option<&Cells<'_>>,
    row: usize,
    block: &mut Block,
) -> Result<(), Box<Mistake>> {
    match (values, indices) {
        (Cells::Numbers(numbers), _) => {
            table.cell(column, numbers.get(row).map_or(Cell::Missing, |&number| Cell::Number(number)), block)
        }
        (Cells::Texts(texts), _) => table.cell(
            column,
            texts.get(row).map_or(Cell::Missing, |text| Cell::Text(text.as_bytes())),
            block,
        ),
        (Cells::Lists(lists), None) => match lists.get(row) {
            Some(list) => table.vector(column, list.iter().copied()),
            None => table.cell(column, Cell::Missing, block),
        },
        (Cells::Lists(lists), Some(Cells::Lists(indices))) => {
            let (Some(values), Some(indices)) = (lists.get(row), indices.get(row)) else {
                return table.cell(column, Cell::Missing, block);
            };
            if values.len() != indices.len() {
                let message = format!(
                    "the row has {} indices and {} values, expected as many of both",
                    indices.len(),
                    values.len()
                );
                return Err(Mistake::new(ErrorKind::Shape, 0..0, message));
            }
            table.begin_pairs(column)?;
            for (&index, &value) in indices.iter().zip(values) {
                if !(0.0..9e15).contains(&index) {
                    let message = format!("a feature index should be a whole number, but is `{index}`");
                    return Err(Mistake::new(ErrorKind::Index, 0..0, message));
                }
                table.index_pair(column, index as u64, value)?;
            }
            Ok(())
        }
        _ => Err(Mistake::new(ErrorKind::Internal, 0..0, "a column changed its type between batches")),
    }
}

/// The length of the lists of a column, by its type or by its first list.
fn list_length(kind: &DataType, column: Option<&arrow_array::ArrayRef>) -> usize {
    if let DataType::FixedSizeList(_, length) = kind {
        return usize::try_from(*length).unwrap_or(0);
    }
    let Some(column) = column else { return 0 };
    let Cells::Lists(lists) = Cells::new(column.as_ref()) else { return 0 };
    (0..column.len()).find_map(|row| lists.get(row)).map_or(0, <[f64]>::len)
}

/// The cells of a column of one batch, in a form that is quick to look at.
enum Cells<'a> {
    /// Nulls are NaN.
    Numbers(Vec<f64>),
    Texts(Texts<'a>),
    Lists(Lists),
    /// A type that is not read.
    Other,
}

impl<'a> Cells<'a> {
    fn new(array: &'a dyn Array) -> Self {
        if let Some(numbers) = numbers(array) {
            return Self::Numbers(numbers);
        }
        let lists = |offsets: Vec<usize>, values: &dyn Array| match numbers(values) {
            Some(numbers) => {
                let nulls = (0..array.len()).map(|row| array.is_null(row)).collect();
                Self::Lists(Lists { offsets, numbers, nulls })
            }
            None => Self::Other,
        };
        match array.data_type() {
            DataType::Utf8 => Self::Texts(Texts::Short(array.as_string())),
            DataType::LargeUtf8 => Self::Texts(Texts::Long(array.as_string())),
            DataType::Utf8View => Self::Texts(Texts::View(array.as_string_view())),
            DataType::Boolean => Self::Texts(Texts::Bool(array.as_boolean())),
            DataType::Dictionary(..) => dictionary(array).map_or(Self::Other, Self::Texts),
            DataType::List(_) => {
                let list = array.as_list::<i32>();
                lists(list.value_offsets().iter().map(|&at| at as usize).collect(), list.values().as_ref())
            }
            DataType::LargeList(_) => {
                let list = array.as_list::<i64>();
                lists(list.value_offsets().iter().map(|&at| at as usize).collect(), list.values().as_ref())
            }
            DataType::FixedSizeList(_, length) => {
                let length = usize::try_from(*length).unwrap_or(0);
                let offsets = (0..=array.len()).map(|row| row * length).collect();
                lists(offsets, array.as_fixed_size_list().values().as_ref())
            }
            _ => Self::Other,
        }
    }
}

/// All numbers of an array as they are stored, nulls as NaN; `None` if it holds no numbers.
fn numbers(array: &dyn Array) -> Option<Vec<f64>> {
    macro_rules! each {
        ($kind:ty, $convert:expr) => {{
            let array = array.as_primitive::<$kind>();
            let mut numbers: Vec<f64> = array.values().iter().map($convert).collect();
            if array.null_count() > 0 {
                for (row, number) in numbers.iter_mut().enumerate() {
                    if array.is_null(row) {
                        *number = f64::NAN;
                    }
                }
            }
            Some(numbers)
        }};
    }
    match array.data_type() {
        DataType::Int8 => each!(Int8Type, |&n| f64::from(n)),
        DataType::Int16 => each!(Int16Type, |&n| f64::from(n)),
        DataType::Int32 => each!(Int32Type, |&n| f64::from(n)),
        DataType::Int64 => each!(Int64Type, |&n| n as f64),
        DataType::UInt8 => each!(UInt8Type, |&n| f64::from(n)),
        DataType::UInt16 => each!(UInt16Type, |&n| f64::from(n)),
        DataType::UInt32 => each!(UInt32Type, |&n| f64::from(n)),
        DataType::UInt64 => each!(UInt64Type, |&n| n as f64),
        DataType::Float16 => each!(Float16Type, |n| n.to_f64()),
        DataType::Float32 => each!(Float32Type, |&n| f64::from(n)),
        DataType::Float64 => each!(Float64Type, |&n| n),
        DataType::Dictionary(_, kind) if is_number(kind) => {
            let values = numbers(array.as_any_dictionary_opt()?.values().as_ref())?;
            let value = |key: Option<usize>| key.and_then(|key| values.get(key).copied()).unwrap_or(f64::NAN);
            Some(keys(array)?.into_iter().map(value).collect())
        }
        _ => None,
    }
}

/// Whole numbers of more digits than a double holds, as they are written.
fn spelled(array: &dyn Array) -> Option<Texts<'_>> {
    macro_rules! each {
        ($kind:ty) => {{
            let array = array.as_primitive::<$kind>();
            Some(Texts::Spelled(array.iter().map(|number| number.map(|number| number.to_string())).collect()))
        }};
    }
    match array.data_type() {
        DataType::Int64 => each!(Int64Type),
        DataType::UInt64 => each!(UInt64Type),
        _ => None,
    }
}

/// A column of names.
enum Texts<'a> {
    Short(&'a StringArray),
    Long(&'a arrow_array::LargeStringArray),
    View(&'a arrow_array::StringViewArray),
    Bool(&'a BooleanArray),
    Dictionary(Vec<Option<&'a str>>),
    Spelled(Vec<Option<String>>),
}

impl Texts<'_> {
    fn get(&self, row: usize) -> Option<&str> {
        match self {
            Self::Short(texts) => (!texts.is_null(row)).then(|| texts.value(row)),
            Self::Long(texts) => (!texts.is_null(row)).then(|| texts.value(row)),
            Self::View(texts) => (!texts.is_null(row)).then(|| texts.value(row)),
            Self::Bool(flags) => {
                (!flags.is_null(row)).then(|| if flags.value(row) { "true" } else { "false" })
            }
            Self::Dictionary(texts) => texts.get(row).copied().flatten(),
            Self::Spelled(texts) => texts.get(row)?.as_deref(),
        }
    }
}

/// Where the values of a dictionary's rows are.
fn keys(array: &dyn Array) -> Option<Vec<Option<usize>>> {
    let DataType::Dictionary(key, _) = array.data_type() else { return None };
    macro_rules! each {
        ($($name:ident $kind:ty),*) => {
            match **key {
                $(DataType::$name => {
                    let array = array.as_dictionary_opt::<$kind>()?;
                    Some((0..array.len()).map(|row| array.key(row)).collect())
                })*
                _ => None,
            }
        };
    }
    each!(
        Int8 Int8Type, Int16 Int16Type, Int32 Int32Type, Int64 Int64Type,
        UInt8 UInt8Type, UInt16 UInt16Type, UInt32 UInt32Type, UInt64 UInt64Type
    )
}

fn dictionary(array: &dyn Array) -> Option<Texts<'_>> {
    let values = array.as_any_dictionary_opt()?.values();
    let value = |key: usize| {
        if key >= values.len() || values.is_null(key) {
            return None;
        }
        match values.data_type() {
            DataType::Utf8 => Some(values.as_string::<i32>().value(key)),
            DataType::LargeUtf8 => Some(values.as_string::<i64>().value(key)),
            DataType::Utf8View => Some(values.as_string_view().value(key)),
            _ => None,
        }
    };
    Some(Texts::Dictionary(keys(array)?.into_iter().map(|key| key.and_then(value)).collect()))
}

/// A column of lists of numbers.
struct Lists {
    offsets: Vec<usize>,
    numbers: Vec<f64>,
    nulls: Vec<bool>,
}

impl Lists {
    fn get(&self, row: usize) -> Option<&[f64]> {
        if self.nulls.get(row).copied().unwrap_or(true) {
            return None;
        }
        self.numbers.get(*self.offsets.get(row)?..*self.offsets.get(row + 1)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::source::Source;
    use crate::load::{load_source, load_with_schema};
    use crate::options::LabelColumn;
    use arrow_array::{Float64Array, Int32Array};

    /// Columns of numbers in another order than they were learned in.
    fn table(b: Vec<Option<f64>>, a: Vec<i32>) -> Source {
        let columns: [(&str, arrow_array::ArrayRef); 2] =
            [("b", Arc::new(Float64Array::from(b))), ("a", Arc::new(Int32Array::from(a)))];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        Source::table("numbers", Table { schema: batch.schema(), batches: vec![batch] })
    }

    #[test]
    fn rows_of_numbers_are_added_at_once_as_they_would_be_one_by_one() {
        let learned = Source::bytes("learned.csv", &b"a,b,label\n1,2,x\n3,4,y\n"[..]);
        let how = ReadOptions { missing: crate::Missing::Zero, ..ReadOptions::default() };
        let (_, schema) = load_with_schema(&learned, &how).unwrap();
        let how = ReadOptions { label: LabelColumn::Absent, ..how }.with_schema(Arc::new(schema));
        let text = |text: &'static [u8]| load_source(&Source::bytes("rows.csv", text), &how).unwrap();
        let plain = load_source(&table(vec![Some(0.5), Some(-2.0), Some(7.0)], vec![1, 2, 3]), &how).unwrap();
        assert_eq!(plain.matrix(), text(b"a,b\n1,0.5\n2,-2\n3,7\n").matrix());
        // A gap anywhere, and cells are looked at one by one.
        let gap = load_source(&table(vec![Some(0.5), None, Some(7.0)], vec![1, 2, 3]), &how).unwrap();
        assert_eq!(gap.matrix(), text(b"a,b\n1,0.5\n2,\n3,7\n").matrix());
        let error = load_source(&table(vec![Some(0.5), Some(1e300)], vec![1, 2]), &how).unwrap_err();
        assert!(error.report().contains("row 2"), "{}", error.report());
    }
}
