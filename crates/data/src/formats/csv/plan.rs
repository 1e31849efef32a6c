//! What is to be done with each column: found out from the first records, the options, or a schema.
//!
//! A plan is made once, when a table is opened, and never looks at the rows again; only a survey adds the
//! categories it meets.

use super::record::{Record, is_blank, is_missing, open_quote, scan_record, sniff_delimiter};
use crate::bytes::window::{WINDOW_BYTES, Window};
use crate::error::{DataError, ErrorKind, Position, quote};
use crate::formats::roles::{Role, for_table, list, roles};
use crate::options::{OnBadRow, ReadOptions, find_column};
use crate::remedy;
use crate::rows::schema::{Column, ColumnKind, Layout, Missing, Schema, Tally};
use crate::scan::number;
use std::collections::HashMap;
use std::ops::Range;

/// How many records at the head are looked at to find out delimiter, header and kinds of columns.
const SAMPLE_RECORDS: usize = 500;

/// What is done with the cells of a table.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) delimiter: u8,
    pub(super) names: Vec<String>,
    pub(super) uses: Vec<Use>,
    pub(super) schema: Schema,
    pub(super) width: usize,
    pub(super) max_categories: usize,
    pub(super) on_bad_row: OnBadRow,
    /// Whether columns stand in the order of their features, so that sparse rows come sorted.
    pub(super) sorted: bool,
    pub(super) labelled: bool,
    /// The columns once more, if all of them are of a kind that can be read quickly; else nothing.
    pub(super) steps: Vec<Step>,
}

/// Columns that can be read quickly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// So many columns of numbers, side by side.
    Numbers(usize),
    Label,
    Ignore,
}

/// What is done with the cells of one column of the file.
#[derive(Debug, Clone)]
pub(super) enum Use {
    Label,
    Weight,
    Ignore,
    /// Nothing may stand here: the column behind a trailing delimiter.
    Nothing,
    Number {
        column: usize,
        feature: u32,
        fill: Option<f64>,
    },
    Category {
        column: usize,
        start: u32,
        values: HashMap<String, u32>,
    },
    Hashed {
        column: usize,
        start: u32,
    },
}

/// The first records, and what they say about the table. The cells lie one behind the other: a memory of its
/// own for each would be most of what a reader needs.
struct Sample {
    contents: Vec<u8>,
    /// Where in the contents each cell ends.
    cell_ends: Vec<u32>,
    /// How many cells there are up to the end of each record.
    record_ends: Vec<u32>,
    /// Bytes and lines up to the end of the first record.
    first_end: (usize, u64),
}

impl Sample {
    fn take(window: &mut Window, delimiter: u8) -> Result<Self, DataError> {
        let (line, name) = (window.line(), window.name().clone());
        let mut contents = window.pool().take_buffer(WINDOW_BYTES);
        contents.clear();
        let text = window.lines()?;
        let (cell_ends, record_ends) = (Vec::new(), Vec::new());
        let mut sample = Self { contents, cell_ends, record_ends, first_end: (0, 0) };
        let mut cells = Vec::new();
        let (mut at, mut n_lines) = (0, 0);
        while at < text.len() && sample.n_records() < SAMPLE_RECORDS {
            match scan_record(&text[at..], delimiter, &mut cells) {
                Ok(Record::Whole(n_bytes)) => {
                    let record = &text[at..at + n_bytes];
                    n_lines += memchr::memchr_iter(b'\n', record).count() as u64;
                    at += n_bytes;
                    if !is_blank(record, &cells) {
                        for cell in &cells {
                            sample.contents.extend_from_slice(&cell.content(record));
                            sample.cell_ends.push(sample.contents.len() as u32);
                        }
                        sample.record_ends.push(sample.cell_ends.len() as u32);
                        if sample.n_records() == 1 {
                            sample.first_end = (at, n_lines);
                        }
                    }
                }
                // Whatever is wrong with a later record shows when it is read.
                Ok(Record::OpenQuote(_)) | Err(_) if sample.n_records() > 0 => break,
                Ok(Record::OpenQuote(open)) => {
                    return Err(open_quote(open).locate(&name, &text[at..], line + n_lines, 1, false));
                }
                Err(mistake) => return Err(mistake.locate(&name, &text[at..], line + n_lines, 1, false)),
            }
        }
        Ok(sample)
    }

    fn n_records(&self) -> usize {
        self.record_ends.len()
    }

    /// The places of a record's cells.
    fn cells_of(&self, record: usize) -> Range<usize> {
        let start = record.checked_sub(1).map_or(0, |before| self.record_ends[before] as usize);
        start..self.record_ends[record] as usize
    }

    fn content(&self, cell: usize) -> &[u8] {
        let start = cell.checked_sub(1).map_or(0, |before| self.cell_ends[before] as usize);
        &self.contents[start..self.cell_ends[cell] as usize]
    }

    /// The cells of a record, which must be there.
    fn record(&self, record: usize) -> Vec<&[u8]> {
        self.cells_of(record).map(|cell| self.content(cell)).collect()
    }

    /// The cell number `place` of every record from `first` on that has as many.
    fn column(&self, first: usize, place: usize) -> impl Iterator<Item = &[u8]> {
        (first..self.n_records()).filter_map(move |record| {
            let cells = self.cells_of(record);
            (place < cells.len()).then(|| self.content(cells.start + place))
        })
    }

    /// Whether the first record is of names: nothing in it is a number, and it differs from what follows.
    fn has_header(&self) -> bool {
        if self.n_records() == 0 {
            return false;
        }
        let first = self.record(0);
        let is_value = |cell: &[u8]| number::parse(cell).is_ok() || is_missing(cell);
        let n_named = first.iter().filter(|cell| !cell.is_empty()).count();
        if first.iter().any(|cell| !cell.is_empty() && is_value(cell)) || n_named == 0 {
            return false;
        }
        if self.n_records() == 1 {
            // Names alone: a header without rows.
            return true;
        }
        let mut rest = first.len()..self.cell_ends.len();
        let any_number = rest.any(|cell| number::parse(self.content(cell)).is_ok());
        let repeated = first
            .iter()
            .enumerate()
            .any(|(place, name)| !name.is_empty() && self.column(1, place).any(|cell| cell == *name));
        let distinct: std::collections::BTreeSet<_> = first.iter().collect();
        any_number || (!repeated && distinct.len() == first.len() && self.n_records() > 2)
    }

    /// Whether the first record is `n_rows,n_features,class,…` and the rest are rows of numbers.
    fn has_preamble(&self) -> bool {
        if self.n_records() < 2 {
            return false;
        }
        let (first, second) = (self.record(0), self.record(1));
        let whole = |cell: &[u8]| std::str::from_utf8(cell).ok().and_then(|text| text.parse::<usize>().ok());
        let [n_rows, n_features, names @ ..] = first.as_slice() else { return false };
        names.len() >= 2
            && whole(n_rows).is_some()
            && whole(n_features).is_some_and(|n_features| n_features + 1 == second.len())
            && names.iter().all(|name| !name.is_empty() && number::parse(name).is_err())
            && second.iter().all(|cell| number::parse(cell).is_ok())
    }

    /// Whether most of the cells of a column that say anything do not say a number. Rows begin at record
    /// `first`.
    fn is_category(&self, first: usize, place: usize) -> bool {
        // A number that is too large or not finite is still a number, and an error.
        let is_number = |cell: &[u8]| !matches!(number::parse(cell), Err(number::BadNumber::NotANumber));
        let (mut numbers, mut others) = (0, 0);
        for cell in self.column(first, place).filter(|cell| !is_missing(cell)) {
            *if is_number(cell) { &mut numbers } else { &mut others } += 1;
        }
        others > numbers
    }

    fn is_empty_column(&self, first: usize, place: usize) -> bool {
        self.column(first, place).all(<[u8]>::is_empty)
    }
}

impl Plan {
    pub(super) fn open(
        window: &mut Window,
        extension: Option<&str>,
        how: &ReadOptions,
    ) -> Result<Self, DataError> {
        let name = window.name().clone();
        let fail = |kind, message: String| DataError::new(kind, message).in_source(&name);
        let delimiter = match how.delimiter {
            Some(delimiter) => delimiter,
            None => sniff_delimiter(window.lines()?, extension).map_or(b',', |(delimiter, _)| delimiter),
        };
        let sample = Sample::take(window, delimiter)?;
        if sample.n_records() == 0 {
            return Err(fail(ErrorKind::Empty, "there are no rows, expected at least one".to_owned()));
        }
        let mut notes = Vec::new();
        let by_schema = how.schema.as_ref().filter(|schema| schema.has_names);
        let preamble = how.header.is_none() && by_schema.is_none() && sample.has_preamble();
        let header = !preamble && how.header.unwrap_or_else(|| by_schema.is_some() || sample.has_header());
        let names: Vec<String> = if header {
            sample.record(0).into_iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect()
        } else {
            vec![String::new(); sample.cells_of(usize::from(preamble)).len()]
        };
        let first_row = usize::from(header || preamble);
        if first_row == 1 {
            let (n_bytes, n_lines) = sample.first_end;
            window.consume(n_bytes, n_lines);
        }
        if preamble {
            notes.push("the first line holds sizes and class names, not columns; it was left out".to_owned());
        } else if !header {
            notes.push(format!("there is no header; columns are called column_1 to column_{}", names.len()));
        }
        let trailing = names.len() > 1
            && names.last().is_some_and(String::is_empty)
            && sample.is_empty_column(first_row, names.len() - 1);
        let n_columns = names.len() - usize::from(trailing);
        if trailing {
            notes.push("each line ends in a delimiter; the empty last column was left out".to_owned());
        }
        let names: Vec<String> = names
            .into_iter()
            .enumerate()
            .take(n_columns)
            .map(|(place, name)| if name.is_empty() { format!("column_{}", place + 1) } else { name })
            .collect();
        let mut known = HashMap::new();
        for (place, column) in names.iter().enumerate() {
            if let Some(earlier) = known.insert(column.as_str(), place) {
                let message = format!(
                    "two columns are called {}, number {} and number {}, expected different names",
                    quote(column.as_bytes()),
                    earlier + 1,
                    place + 1
                );
                let position = Position { row: None, line: Some(1), column: None };
                return Err(fail(ErrorKind::Shape, message).at(position).with_help("rename one of them"));
            }
        }
        let mut plan = Self {
            delimiter,
            names,
            uses: Vec::new(),
            schema: Schema::default(),
            width: 0,
            max_categories: how.limits.categories,
            on_bad_row: how.on_bad_row,
            sorted: true,
            labelled: false,
            steps: Vec::new(),
        };
        plan.settle((&sample, first_row), header, how, notes).map_err(|error| error.in_source(&name))?;
        if trailing {
            plan.uses.push(Use::Nothing);
        }
        plan.find_steps();
        window.pool().give_buffer(sample.contents);
        Ok(plan)
    }

    /// Decides what each column is for.
    fn settle(
        &mut self,
        sample: (&Sample, usize),
        header: bool,
        how: &ReadOptions,
        notes: Vec<String>,
    ) -> Result<(), DataError> {
        let remark = if header {
            ""
        } else {
            " (the table has no header: use numbers, 1 for the first, -1 for the last)"
        };
        let how = &*for_table(how, &self.names);
        let roles = roles(&self.names, how, |_| true, remark)?;
        self.labelled = roles.contains(&Role::Label);
        let schema = match &how.schema {
            Some(schema) => (**schema).clone(),
            None => self.fresh_schema(&roles, sample, header, how, notes)?,
        };
        let columns_of_file = self.match_columns(&schema, &roles, header)?;
        let (starts, table) = schema.starts();
        let mut last = None;
        self.uses = roles
            .iter()
            .zip(&columns_of_file)
            .map(|(role, column)| match (role, column) {
                (Role::Label, _) => Use::Label,
                (Role::Weight, _) => Use::Weight,
                (Role::Ignore, _) | (Role::Feature, None) => Use::Ignore,
                (Role::Feature, &Some(column)) => {
                    self.sorted &= last.is_none_or(|last| last < column);
                    last = Some(column);
                    let start = starts[column] as u32;
                    match &schema.columns[column].kind {
                        ColumnKind::Number { fill } => Use::Number { column, feature: start, fill: *fill },
                        ColumnKind::Category { values } => {
                            let values = values.iter().cloned().zip(0..).collect();
                            Use::Category { column, start, values }
                        }
                        ColumnKind::Hashed => {
                            // Hashed features stand behind all others, in no order.
                            self.sorted = false;
                            Use::Hashed { column, start: table as u32 }
                        }
                    }
                }
            })
            .collect();
        let width = schema.width().unwrap_or(0);
        if width > how.limits.features {
            let message = format!("there are {width} features, more than {}, the limit", how.limits.features);
            return Err(DataError::new(ErrorKind::Limit, message).with_help(
                "hash the categories with {hash-bits=18}, or raise the limit with {max-features}",
            ));
        }
        self.width = width;
        self.schema = schema;
        Ok(())
    }

    fn fresh_schema(
        &self,
        roles: &[Role],
        (sample, first_row): (&Sample, usize),
        header: bool,
        how: &ReadOptions,
        mut notes: Vec<String>,
    ) -> Result<Schema, DataError> {
        let mut categorical = Vec::new();
        for what in &how.categorical {
            let place = find_column(what, &self.names).ok_or_else(|| {
                let message = format!(
                    "there is no column {} of categories, expected one of {}",
                    quote(what.as_bytes()),
                    list(&self.names)
                );
                DataError::new(ErrorKind::Options, message)
            })?;
            categorical.push(place);
        }
        let fill = if how.missing == Missing::Zero { Some(0.0) } else { None };
        let mut columns = Vec::new();
        for (place, role) in roles.iter().enumerate().filter(|(_, role)| **role == Role::Feature) {
            debug_assert_eq!(*role, Role::Feature);
            let kind = if categorical.contains(&place) || sample.is_category(first_row, place) {
                match how.hash_bits {
                    Some(_) => ColumnKind::Hashed,
                    None => ColumnKind::Category { values: Vec::new() },
                }
            } else {
                ColumnKind::Number { fill }
            };
            columns.push(Column { name: self.names[place].clone(), kind });
        }
        let of_categories: Vec<String> = columns
            .iter()
            .filter(|column| !matches!(column.kind, ColumnKind::Number { .. }))
            .map(|column| column.name.clone())
            .collect();
        if !of_categories.is_empty() {
            notes.push(format!("read as categories: {}", list(&of_categories)));
        }
        let has_categories = columns.iter().any(|column| matches!(column.kind, ColumnKind::Category { .. }));
        let label = roles.iter().position(|role| *role == Role::Label);
        Ok(Schema {
            tallies: vec![Tally::default(); columns.len()],
            label: label.map(|place| self.names[place].clone()),
            has_names: header,
            layout: if of_categories.is_empty() { Layout::Dense } else { Layout::Sparse },
            hash_bits: how.hash_bits,
            names: None,
            width: None,
            picture: None,
            missing: how.missing,
            zero_based: false,
            text: None,
            scaler: None,
            provisional: has_categories || how.missing == Missing::Mean,
            notes,
            columns,
        })
    }

    /// For each column of the file, which column of the schema it is.
    fn match_columns(
        &self,
        schema: &Schema,
        roles: &[Role],
        header: bool,
    ) -> Result<Vec<Option<usize>>, DataError> {
        let features: Vec<usize> = (0..roles.len()).filter(|&place| roles[place] == Role::Feature).collect();
        let mut matched = vec![None; roles.len()];
        let position = Position { row: None, line: header.then_some(1), column: None };
        if schema.has_names && header {
            let by_name: HashMap<&str, usize> =
                schema.columns.iter().zip(0..).map(|(column, place)| (column.name.as_str(), place)).collect();
            let mut found = vec![false; schema.columns.len()];
            for &place in &features {
                let name = &self.names[place];
                let Some(&column) = by_name.get(name.as_str()) else {
                    let message = format!(
                        "column {} is new, expected only the columns that were learned from",
                        quote(name.as_bytes())
                    );
                    return Err(DataError::new(ErrorKind::Shape, message)
                        .at(position)
                        .with_help(format!("leave it out with {}", remedy::set("ignore", name))));
                };
                matched[place] = Some(column);
                found[column] = true;
            }
            if let Some(lost) = found.iter().position(|found| !found) {
                let name = quote(schema.columns[lost].name.as_bytes());
                let message =
                    format!("column {name} is missing, expected every column that was learned from");
                return Err(DataError::new(ErrorKind::Shape, message).at(position));
            }
        } else {
            if features.len() != schema.columns.len() {
                let message = format!(
                    "there are {} columns of features, expected {}",
                    features.len(),
                    schema.columns.len()
                );
                return Err(DataError::new(ErrorKind::Shape, message).at(position));
            }
            for (column, &place) in features.iter().enumerate() {
                matched[place] = Some(column);
            }
        }
        Ok(matched)
    }

    /// Finds out whether rows are dense, in the order of the columns, and of numbers.
    fn find_steps(&mut self) {
        let mut n_numbers = 0;
        let mut steps = Some(Vec::new());
        for use_ in &self.uses {
            let step = match use_ {
                Use::Number { .. } => Step::Numbers(1),
                Use::Label => Step::Label,
                Use::Ignore => Step::Ignore,
                Use::Weight | Use::Nothing | Use::Category { .. } | Use::Hashed { .. } => {
                    steps = None;
                    break;
                }
            };
            n_numbers += usize::from(step == Step::Numbers(1));
            match (steps.as_mut().and_then(|steps| steps.last_mut()), step) {
                (Some(Step::Numbers(n_columns)), Step::Numbers(n_more)) => *n_columns += n_more,
                _ => steps.get_or_insert_default().push(step),
            }
        }
        let is_dense = !self.schema.provisional && self.schema.layout == Layout::Dense && self.sorted;
        let is_apart = !matches!(
            self.delimiter,
            b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E' | b'"' | b' ' | b'\n' | b'\r'
        );
        self.steps = match steps {
            Some(steps) if is_dense && is_apart && n_numbers == self.width => steps,
            _ => Vec::new(),
        };
    }
}
