//! What a table says of itself at its head: delimiter, header, names, and its columns by the first records.
//!
//! What the columns mean is decided by the interpreter of tables; here is found out which of them can be read
//! quickly, in runs.

use super::record::{Record, is_blank, open_quote, scan_record, sniff_delimiter};
use crate::bytes::window::Window;
use crate::error::{DataError, ErrorKind, Position};
use crate::formats::columns::{Cell, FileColumn, Form, Plan, Use};
use crate::formats::sense::{LABEL_NAMES, SAMPLE_ROWS, Seen, is_missing, is_text_name, precision};
use crate::options::{LabelColumn, ReadOptions};
use crate::rows::schema::Precision;
use crate::rows::spelling::{Decimal, Spelling};
use crate::scan::number;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// What is done with the cells of a table, and how they are parted.
#[derive(Debug)]
pub(super) struct TablePlan {
    pub(super) delimiter: u8,
    pub(super) plan: Plan,
    pub(super) precision: Precision,
}

/// Columns that can be read quickly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// This many columns of numbers, side by side.
    Numbers(usize),
    Label,
    Ignore,
    /// A column of categories: its place in the file, and among such columns.
    Category {
        place: usize,
        slot: usize,
    },
}

/// The first records, and what they say about the table. The cells are contiguous: a memory of its
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
        let mut contents = window.pool().take_buffer(window.n_bytes());
        contents.clear();
        let text = window.lines()?;
        let (cell_ends, record_ends) = (Vec::new(), Vec::new());
        let mut sample = Self { contents, cell_ends, record_ends, first_end: (0, 0) };
        let mut cells = Vec::new();
        let (mut at, mut n_lines) = (0, 0);
        while at < text.len() && sample.n_records() < SAMPLE_ROWS {
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

    /// Whether the first record is of names: nothing in it is a number, and it differs from what follows. Or one of its
    /// cells is what labels are called, and none below it is: names of features may be numbers, years for instance.
    fn has_header(&self) -> bool {
        if self.n_records() == 0 {
            return false;
        }
        let first = self.record(0);
        // A lone `y` may be a yes.
        let is_label = |cell: &[u8]| cell.len() > 1 && LABEL_NAMES.iter().any(|name| name.as_bytes() == cell);
        let label = first.iter().position(|cell| is_label(cell));
        if label.is_some_and(|place| self.n_records() > 1 && !self.column(1, place).any(is_label)) {
            return true;
        }
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
        if rest.any(|cell| number::parse(self.content(cell)).is_ok()) {
            return true;
        }
        let mut named = first.iter().enumerate().filter(|(_, name)| !name.is_empty());
        let is_repeated = named.any(|(place, name)| self.column(1, place).any(|cell| cell == *name));
        let distinct: HashSet<_> = first.iter().collect();
        !is_repeated && distinct.len() == first.len() && self.n_records() > 2
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

    /// Whether the first record has a name of a column that was learned from, or that the options speak of.
    fn names_columns(&self, how: &ReadOptions) -> bool {
        let learned = how.schema.iter().filter(|schema| schema.has_names);
        let learned = learned.flat_map(|schema| schema.columns.iter().map(|column| &column.name));
        let label = if let LabelColumn::Named(label) = &how.label { Some(label) } else { None };
        let asked = how.text_columns.iter().chain(&how.ignore).chain(&how.categorical).chain(&how.weight);
        let is_name = |name: &&String| name.parse::<f64>().is_err();
        let names: HashSet<&[u8]> =
            learned.chain(asked.chain(label).filter(is_name)).map(String::as_bytes).collect();
        // Texts without columns have no names, but above a table of texts stands one that says so.
        let is_text = how.schema.as_ref().is_some_and(|schema| schema.text.is_some());
        let says_text = |cell: &[u8]| is_text && std::str::from_utf8(cell).is_ok_and(is_text_name);
        self.record(0).into_iter().any(|cell| names.contains(cell) || says_text(cell))
    }

    /// Whether there is one column, of texts for a model that learned from texts without columns.
    fn is_only_text(&self, how: &ReadOptions) -> bool {
        how.schema.as_ref().is_some_and(|schema| schema.text.is_some()) && self.record(0).len() == 1
    }

    fn is_empty_column(&self, first: usize, place: usize) -> bool {
        self.column(first, place).all(<[u8]>::is_empty)
    }

    /// What the records from `first` on say of a column.
    fn seen(&self, first: usize, place: usize, how: &ReadOptions) -> Seen {
        let mut seen = Seen::new(how);
        self.column(first, place).for_each(|cell| seen.see(Cell::Text(cell)));
        seen
    }

    /// Of each of this many columns, whether the records from `first` on have nothing there but digits, points and signs.
    fn are_plain(&self, first: usize, n_columns: usize) -> Vec<bool> {
        let is_plain = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+');
        let mut are_plain = vec![true; n_columns];
        for record in first..self.n_records() {
            for (cell, is_so) in self.cells_of(record).zip(&mut are_plain) {
                *is_so &= self.content(cell).iter().all(is_plain);
            }
        }
        are_plain
    }
}

impl TablePlan {
    pub(super) fn open(
        window: &mut Window,
        extension: Option<&str>,
        how: &ReadOptions,
    ) -> Result<Self, DataError> {
        let name = window.name().clone();
        let delimiter = match how.delimiter {
            Some(delimiter) => delimiter,
            None => sniff_delimiter(window.lines()?, extension).map_or(b',', |(delimiter, _)| delimiter),
        };
        let sample = Sample::take(window, delimiter)?;
        if sample.n_records() == 0 {
            let message = "there are no rows, expected at least one";
            return Err(DataError::new(ErrorKind::Empty, message).in_source(&name));
        }
        let mut notes = Vec::new();
        let names_columns = sample.names_columns(how);
        let preamble = how.header.is_none() && !names_columns && sample.has_preamble();
        let header = !preamble && how.header.unwrap_or_else(|| names_columns || sample.has_header());
        if header && !names_columns && how.header.is_none() && sample.is_only_text(how) {
            let message = "the first line may be the name of the column or a message, expected to know which";
            return Err(DataError::new(ErrorKind::Format, message)
                .at(Position { row: None, line: Some(1), column: None })
                .in_source(&name)
                .with_help("say {header=yes} if it is a name, or {header=no} if it is a message"));
        }
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
        if how.schema.is_none() && preamble {
            notes.push("the first line holds sizes and class names, not columns; it was left out".to_owned());
        } else if how.schema.is_none() && !header {
            notes.push(format!("there is no header; columns are called column_1 to column_{}", names.len()));
        }
        let trailing = names.len() > 1
            && names.last().is_some_and(String::is_empty)
            && sample.is_empty_column(first_row, names.len() - 1);
        let n_columns = names.len() - usize::from(trailing);
        if trailing && how.schema.is_none() {
            notes.push("each line ends in a delimiter; the empty last column was left out".to_owned());
        }
        // A model says what its columns are, and a file at most how their numbers are written.
        let is_known = match how.schema {
            Some(_) => sample.are_plain(first_row, n_columns),
            None => vec![false; n_columns],
        };
        let nothing = Arc::new(Seen::new(how));
        let columns = names.into_iter().enumerate().take(n_columns).map(|(place, name)| {
            let seen = if is_known[place] {
                Arc::clone(&nothing)
            } else {
                sample.seen(first_row, place, how).into()
            };
            let is_unnamed = name.is_empty();
            let name = if is_unnamed { format!("column_{}", place + 1) } else { name };
            // A pair of digits in quotes may be anything, unless a sign says that it is money or a share.
            let Spelling { decimal, mark } = seen.spelling();
            let has_comma = matches!(decimal, Decimal::Comma | Decimal::CommaAfterPoints);
            let form =
                if delimiter == b',' && has_comma && mark.is_none() { Form::Text } else { seen.form() };
            FileColumn { name, form, seen, is_unnamed, is_typed: false }
        });
        let columns: Vec<FileColumn> = columns.collect();
        let (precision, note) = precision(&columns, how);
        notes.extend(note.clone());
        let position = Position { row: None, line: header.then_some(1), column: None };
        let mut plan = Plan::new(columns, header, how, notes)
            .map_err(|error| if error.kind() == ErrorKind::Options { error } else { error.at(position) })
            .map_err(|error| error.in_source(&name))?;
        if note.is_some() {
            Arc::make_mut(&mut plan.schema).precision = Some(precision);
        }
        if trailing {
            plan.uses.push(Use::Nothing);
        }
        window.pool().give_buffer(sample.contents);
        Ok(Self { delimiter, plan, precision })
    }

    /// The columns once more, if all of them are of a kind that can be read quickly; else nothing.
    pub(super) fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        // Columns may stand in another order than they were learned in; then there are no runs.
        let (mut n_numbers, mut n_categories) = (0, 0);
        for (place, use_) in self.plan.uses.iter().enumerate() {
            match *use_ {
                Use::Number { slot, spelling: Spelling::PLAIN } if slot == n_numbers => {
                    n_numbers += 1;
                    match steps.last_mut() {
                        Some(Step::Numbers(n_columns)) => *n_columns += 1,
                        _ => steps.push(Step::Numbers(1)),
                    }
                }
                Use::Category { slot, .. } if slot == n_categories => {
                    n_categories += 1;
                    steps.push(Step::Category { place, slot });
                }
                Use::Label => steps.push(Step::Label),
                Use::Ignore => steps.push(Step::Ignore),
                _ => return Vec::new(),
            }
        }
        let is_apart = !matches!(
            self.delimiter,
            b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E' | b'"' | b' ' | b'\n' | b'\r'
        );
        if is_apart && n_numbers == self.plan.n_numbers { steps } else { Vec::new() }
    }
}
