//! CSV, TSV and their relatives: one record a line, cells between delimiters, names perhaps on top.
//!
//! Rules where the format leaves room: the delimiter (`,` tab `;` `|`) and the header are found out from
//! the first records unless given; blanks around unquoted cells do not count; blank lines are skipped; a
//! column is of numbers unless most of its first cells are not, and then a cell that is no number is an
//! error, never a category and never zero; columns of categories become one feature per value (or hashed
//! ones); a last column without name and content (a trailing delimiter) is left out; column names must
//! differ. A first line `n_rows,n_features,class,class` as scikit-learn writes it is recognised.
//! Numbers are stored dense; as soon as there are categories, rows are sparse.
//!
//! Categories and means must be known before rows can be made: without a settled schema a file that needs
//! them is only surveyed (see [`Reader::read`]). Nothing here decides class numbers.

use super::{Format, FormatInfo, Head, Reader, Sniff};
use crate::block::{Block, Stored, merge_row, sort_row};
use crate::error::{DataError, ErrorKind, Mistake, Position, quote};
use crate::number;
use crate::options::{LabelColumn, OnBadRow, ReadOptions, find_column};
use crate::schema::{Column, ColumnKind, Layout, Missing, Precision, Schema, Tally};
use crate::source::Input;
use crate::window::Window;
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

/// What may stand between cells, in the order of preference.
const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];

/// How many records at the head are looked at to find out delimiter, header and kinds of columns.
const SAMPLE_RECORDS: usize = 500;

/// Names that say which column is the label.
const LABEL_NAMES: [&str; 4] = ["label", "class", "target", "y"];

/// Comma-separated values.
#[derive(Debug)]
pub(crate) struct Csv;

impl Format for Csv {
    fn info(&self) -> FormatInfo {
        FormatInfo {
            name: "csv",
            aliases: &["tsv"],
            extensions: &["csv", "tsv", "tab"],
            about: "a table as text, cells between commas, tabs, semicolons or bars",
            takes_folders: false,
        }
    }

    fn sniff(&self, head: &Head<'_>) -> Sniff {
        if head.bytes.contains(&0) || super::libsvm::has_features(head) {
            return Sniff::No;
        }
        let text = whole_lines(head.bytes, head.is_all);
        match sniff_delimiter(text, head.extension) {
            Some((_, true)) => Sniff::Likely,
            Some((_, false)) => Sniff::Maybe,
            None => Sniff::No,
        }
    }

    fn open(&self, input: Input, how: &ReadOptions) -> Result<Box<dyn Reader>, DataError> {
        let extension = input.extension();
        let window = Window::new(input, how.limits.line_bytes)?;
        Ok(match how.precision {
            Precision::Single => Box::new(CsvReader::<f32>::open(window, extension.as_deref(), how)?),
            Precision::Double => Box::new(CsvReader::<f64>::open(window, extension.as_deref(), how)?),
        })
    }
}

fn whole_lines(bytes: &[u8], is_all: bool) -> &[u8] {
    match memchr::memrchr(b'\n', bytes) {
        Some(newline) if !is_all => &bytes[..=newline],
        _ => bytes,
    }
}

/// The delimiter, and whether all records agree on how often it occurs.
fn sniff_delimiter(text: &[u8], extension: Option<&str>) -> Option<(u8, bool)> {
    let mut best: Option<(bool, usize, u8)> = None;
    let preferred = if matches!(extension, Some("tsv" | "tab")) { b'\t' } else { b',' };
    let ordered =
        std::iter::once(preferred).chain(DELIMITERS.into_iter().filter(|&other| other != preferred));
    for delimiter in ordered {
        let mut cells = Vec::new();
        let mut counts = Vec::new();
        let mut at = 0;
        while at < text.len() && counts.len() < 50 {
            let Ok(Record::Whole(n_bytes)) = scan_record(&text[at..], delimiter, &mut cells) else { break };
            if !is_blank(&text[at..], &cells) {
                counts.push(cells.len() - 1);
            }
            at += n_bytes;
        }
        let (Some(&first), Some(&last)) = (counts.first(), counts.last()) else { continue };
        // The first line may be a title or a scikit-learn preamble; what counts is that the rest agree.
        let agree = counts.iter().skip(usize::from(counts.len() > 2)).all(|&count| count == last) && last > 0;
        let n_cells = if agree { last } else { first };
        if n_cells > 0 && best.is_none_or(|(other, n_other, _)| (agree, n_cells) > (other, n_other)) {
            // The preferred delimiter stands if it does the job at all.
            if agree && delimiter == preferred {
                return Some((delimiter, true));
            }
            best = Some((agree, n_cells, delimiter));
        }
    }
    best.map(|(agree, _, delimiter)| (delimiter, agree))
}

/// Where a cell's content is within the text of its record.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Cell {
    at: Range<usize>,
    /// The content stands between quotes.
    quoted: bool,
    /// The content holds doubled quotes, which stand for one.
    doubled: bool,
}

/// The outcome of looking for one record.
#[derive(Debug, PartialEq, Eq)]
enum Record {
    /// The record is this long, with its line end.
    Whole(usize),
    /// The text ends inside the quotes that open here.
    OpenQuote(usize),
}

/// Finds the cells of the first record of `text`.
fn scan_record(text: &[u8], delimiter: u8, cells: &mut Vec<Cell>) -> Result<Record, Box<Mistake>> {
    cells.clear();
    let mut at = 0;
    loop {
        // Blanks before a quote do not count.
        let start = at + text[at..].iter().take_while(|&&byte| byte == b' ').count();
        let after = if text.get(start) == Some(&b'"') {
            let mut close = start + 1;
            let mut doubled = false;
            loop {
                let Some(quote) = memchr::memchr(b'"', &text[close..]) else {
                    return Ok(Record::OpenQuote(start));
                };
                close += quote;
                if text.get(close + 1) != Some(&b'"') {
                    break;
                }
                doubled = true;
                close += 2;
            }
            cells.push(Cell { at: start + 1..close, quoted: true, doubled });
            close + 1 + text[close + 1..].iter().take_while(|&&byte| byte == b' ').count()
        } else {
            let length = memchr::memchr3(delimiter, b'\n', b'\r', &text[start..]);
            let end = length.map_or(text.len(), |length| start + length);
            let content = text[start..end].trim_ascii_end().len();
            cells.push(Cell { at: start..start + content, quoted: false, doubled: false });
            end
        };
        match text.get(after) {
            None => return Ok(Record::Whole(text.len())),
            Some(b'\n') => return Ok(Record::Whole(after + 1)),
            Some(b'\r') if matches!(text.get(after + 1), Some(b'\n')) => return Ok(Record::Whole(after + 2)),
            Some(b'\r') if after + 1 == text.len() => return Ok(Record::Whole(after + 1)),
            Some(b'\r') => {
                let message = "a carriage return stands inside the line, expected line ends LF or CRLF";
                return Err(Mistake::new(ErrorKind::Syntax, after..after + 1, message)
                    .with_help("convert the line ends, or put the cell in quotes"));
            }
            Some(&byte) if byte == delimiter => at = after + 1,
            Some(_) => {
                let rest = &text[after..];
                let length = memchr::memchr2(delimiter, b'\n', rest).unwrap_or(rest.len());
                let message = format!(
                    "text follows a closing quote: {}, expected a delimiter or the end of the line",
                    quote(&rest[..length])
                );
                return Err(Mistake::new(ErrorKind::Syntax, after..after + length, message)
                    .with_help("a quote inside a quoted cell is written twice"));
            }
        }
    }
}

fn is_blank(text: &[u8], cells: &[Cell]) -> bool {
    matches!(cells, [Cell { at, quoted: false, .. }] if text[at.clone()].is_empty())
}

impl Cell {
    /// The content, as it is meant.
    fn content<'a>(&self, text: &'a [u8]) -> Cow<'a, [u8]> {
        let raw = &text[self.at.clone()];
        if !self.doubled {
            return Cow::Borrowed(raw);
        }
        let mut content = Vec::with_capacity(raw.len());
        let mut rest = raw;
        while let Some(quote) = memchr::memchr(b'"', rest) {
            content.extend_from_slice(&rest[..=quote]);
            rest = rest.get(quote + 2..).unwrap_or_default();
        }
        content.extend_from_slice(rest);
        Cow::Owned(content)
    }
}

/// Whether a cell says that its value is not known.
fn is_missing(cell: &[u8]) -> bool {
    let word = |word: &str| cell.eq_ignore_ascii_case(word.as_bytes());
    cell.is_empty() || cell == b"?" || ["na", "n/a", "nan", "null"].into_iter().any(word)
}

/// What is done with the cells of one column of the file.
#[derive(Debug)]
enum Use {
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

/// A reader of one table.
struct CsvReader<T> {
    window: Window,
    delimiter: u8,
    names: Vec<String>,
    uses: Vec<Use>,
    schema: Schema,
    width: usize,
    max_categories: usize,
    on_bad_row: OnBadRow,
    /// Whether columns stand in the order of their features, so that sparse rows come sorted.
    sorted: bool,
    labelled: bool,
    n_rows: u64,
    cells: Vec<Cell>,
    row: Vec<(u32, T)>,
    /// A survey's findings in one row, taken in only when the row is known to stay.
    seen: Vec<(usize, Seen)>,
}

#[derive(Debug)]
enum Seen {
    Number(f64),
    Category(String),
}

/// What became of a record.
enum Outcome {
    Row { class: u32, weight: Option<f64> },
    Dropped,
}

/// The first records, and what they say about the table.
struct Sample {
    records: Vec<Vec<Vec<u8>>>,
    /// Bytes and lines up to the end of each record.
    ends: Vec<(usize, u64)>,
}

impl Sample {
    fn take(window: &mut Window, delimiter: u8) -> Result<Self, DataError> {
        let (line, name) = (window.line(), window.name().clone());
        let text = window.lines()?;
        let mut sample = Self { records: Vec::new(), ends: Vec::new() };
        let mut cells = Vec::new();
        let (mut at, mut n_lines) = (0, 0);
        while at < text.len() && sample.records.len() < SAMPLE_RECORDS {
            match scan_record(&text[at..], delimiter, &mut cells) {
                Ok(Record::Whole(n_bytes)) => {
                    let record = &text[at..at + n_bytes];
                    n_lines += memchr::memchr_iter(b'\n', record).count() as u64;
                    at += n_bytes;
                    if !is_blank(record, &cells) {
                        let contents = cells.iter().map(|cell| cell.content(record).into_owned());
                        sample.records.push(contents.collect());
                        sample.ends.push((at, n_lines));
                    }
                }
                // Whatever is wrong with a later record shows when it is read.
                Ok(Record::OpenQuote(_)) | Err(_) if !sample.records.is_empty() => break,
                Ok(Record::OpenQuote(open)) => {
                    return Err(open_quote(open).locate(&name, &text[at..], line + n_lines, 1, false));
                }
                Err(mistake) => return Err(mistake.locate(&name, &text[at..], line + n_lines, 1, false)),
            }
        }
        Ok(sample)
    }

    /// Whether the first record is of names: nothing in it is a number, and it differs from what follows.
    fn has_header(&self) -> bool {
        let [first, rest @ ..] = self.records.as_slice() else { return false };
        let is_value = |cell: &Vec<u8>| number::parse(cell).is_ok() || is_missing(cell);
        let n_named = first.iter().filter(|cell| !cell.is_empty()).count();
        if first.iter().any(|cell| !cell.is_empty() && is_value(cell)) || n_named == 0 {
            return false;
        }
        if rest.is_empty() {
            // Names alone: a header without rows.
            return true;
        }
        let any_number = rest.iter().flatten().any(|cell| number::parse(cell).is_ok());
        let repeated = first.iter().enumerate().any(|(place, name)| {
            !name.is_empty() && rest.iter().any(|record| record.get(place) == Some(name))
        });
        let distinct: std::collections::BTreeSet<_> = first.iter().collect();
        any_number || (!repeated && distinct.len() == first.len() && rest.len() > 1)
    }

    /// Whether the first record is `n_rows,n_features,class,…` and the rest are rows of numbers.
    fn has_preamble(&self) -> bool {
        let [first, second, ..] = self.records.as_slice() else { return false };
        let whole = |cell: &[u8]| std::str::from_utf8(cell).ok().and_then(|text| text.parse::<usize>().ok());
        let [n_rows, n_features, names @ ..] = first.as_slice() else { return false };
        names.len() >= 2
            && whole(n_rows).is_some()
            && whole(n_features).is_some_and(|n_features| n_features + 1 == second.len())
            && names.iter().all(|name| !name.is_empty() && number::parse(name).is_err())
            && second.iter().all(|cell| number::parse(cell).is_ok())
    }

    /// Whether most of the cells of a column that say anything do not say a number.
    fn is_category(&self, place: usize) -> bool {
        let said =
            self.records.iter().filter_map(|record| record.get(place)).filter(|cell| !is_missing(cell));
        // A number that is too large or not finite is still a number, and an error.
        let is_number = |cell: &[u8]| !matches!(number::parse(cell), Err(number::BadNumber::NotANumber));
        let (numbers, others) =
            said.fold(
                (0, 0),
                |(numbers, others), cell| {
                    if is_number(cell) { (numbers + 1, others) } else { (numbers, others + 1) }
                },
            );
        others > numbers
    }

    fn is_empty_column(&self, place: usize) -> bool {
        self.records.iter().all(|record| record.get(place).is_none_or(Vec::is_empty))
    }
}

fn open_quote(at: usize) -> Box<Mistake> {
    Mistake::new(ErrorKind::Syntax, at..at + 1, "the quote that opens here is never closed, expected a `\"`")
        .with_help("a quote inside a quoted cell is written twice")
}

impl<T: Stored> CsvReader<T> {
    fn open(mut window: Window, extension: Option<&str>, how: &ReadOptions) -> Result<Self, DataError> {
        let name = window.name().clone();
        let fail = |kind, message: String| DataError::new(kind, message).in_source(&name);
        let delimiter = match how.delimiter {
            Some(delimiter) => delimiter,
            None => sniff_delimiter(window.lines()?, extension).map_or(b',', |(delimiter, _)| delimiter),
        };
        let mut sample = Sample::take(&mut window, delimiter)?;
        let Some(first) = sample.records.first() else {
            return Err(fail(ErrorKind::Empty, "there are no rows, expected at least one".to_owned()));
        };
        let mut notes = Vec::new();
        let by_schema = how.schema.as_ref().filter(|schema| schema.has_names);
        let preamble = how.header.is_none() && by_schema.is_none() && sample.has_preamble();
        let header = !preamble && how.header.unwrap_or_else(|| by_schema.is_some() || sample.has_header());
        let names: Vec<String> = if header {
            first.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect()
        } else {
            let n_columns = sample.records.get(usize::from(preamble)).map_or(0, Vec::len);
            vec![String::new(); n_columns]
        };
        if header || preamble {
            sample.records.remove(0);
            let (n_bytes, n_lines) = sample.ends.remove(0);
            window.consume(n_bytes, n_lines);
        }
        if preamble {
            notes.push("the first line holds sizes and class names, not columns; it was left out".to_owned());
        } else if !header {
            notes.push(format!("there is no header; columns are called column_1 to column_{}", names.len()));
        }
        let trailing = names.len() > 1
            && names.last().is_some_and(String::is_empty)
            && sample.is_empty_column(names.len() - 1);
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
        let mut reader = Self {
            window,
            delimiter,
            names,
            uses: Vec::new(),
            schema: Schema::default(),
            width: 0,
            max_categories: how.limits.categories,
            on_bad_row: how.on_bad_row,
            sorted: true,
            labelled: false,
            n_rows: 0,
            cells: Vec::new(),
            row: Vec::new(),
            seen: Vec::new(),
        };
        reader.plan(&sample, header, how, notes).map_err(|error| error.in_source(&name))?;
        if trailing {
            reader.uses.push(Use::Nothing);
        }
        Ok(reader)
    }

    /// Decides what each column is for.
    fn plan(
        &mut self,
        sample: &Sample,
        header: bool,
        how: &ReadOptions,
        notes: Vec<String>,
    ) -> Result<(), DataError> {
        let roles = self.roles(how, header)?;
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
                "hash the categories with --hash-bits 18, or raise the limit with --max-features",
            ));
        }
        self.width = width;
        self.schema = schema;
        Ok(())
    }

    fn roles(&self, how: &ReadOptions, header: bool) -> Result<Vec<Role>, DataError> {
        let names = &self.names;
        let unknown = |what: &str, why: &str| {
            let message = format!(
                "there is no column {} {why}, expected one of {}",
                quote(what.as_bytes()),
                list(names)
            );
            let help = if header {
                ""
            } else {
                " (the table has no header: use numbers, 1 for the first, -1 for the last)"
            };
            DataError::new(ErrorKind::Options, message).with_help(format!("name a column of the table{help}"))
        };
        let mut roles = vec![Role::Feature; names.len()];
        for what in &how.ignore {
            roles[find_column(what, names).ok_or_else(|| unknown(what, "to ignore"))?] = Role::Ignore;
        }
        if let Some(what) = &how.weight {
            roles[find_column(what, names).ok_or_else(|| unknown(what, "of weights"))?] = Role::Weight;
        }
        let label = match (&how.label, &how.schema) {
            (LabelColumn::Absent, _) => None,
            (LabelColumn::Named(what), None) => {
                Some(find_column(what, names).ok_or_else(|| unknown(what, "of labels"))?)
            }
            (LabelColumn::Named(what), Some(_)) => find_column(what, names),
            // A table that must keep to a schema may come without labels: it is to be labelled.
            (LabelColumn::Guess, Some(schema)) if schema.has_names => {
                schema.label.as_ref().and_then(|label| names.iter().position(|name| name == label))
            }
            (LabelColumn::Guess, Some(schema)) => {
                let as_trained = |label: &String| names.iter().position(|name| name == label);
                let has_room = names.len() > schema.columns.len();
                schema.label.as_ref().filter(|_| has_room).and_then(as_trained)
            }
            (LabelColumn::Guess, None) => {
                let says_so =
                    |name: &String| LABEL_NAMES.iter().any(|label| name.eq_ignore_ascii_case(label));
                names
                    .iter()
                    .position(says_so)
                    .or_else(|| roles.iter().rposition(|role| *role == Role::Feature))
            }
        };
        if let Some(place) = label {
            roles[place] = Role::Label;
        }
        if !roles.contains(&Role::Feature) {
            let message =
                format!("the table has {} column(s), expected a label and at least one feature", names.len());
            return Err(DataError::new(ErrorKind::Shape, message)
                .with_help("if cells are separated by something unusual, say so with --delimiter"));
        }
        Ok(roles)
    }

    fn fresh_schema(
        &self,
        roles: &[Role],
        sample: &Sample,
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
            let kind = if categorical.contains(&place) || sample.is_category(place) {
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
            width: None,
            picture: None,
            missing: how.missing,
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
            for &place in &features {
                let name = &self.names[place];
                let Some(&column) = by_name.get(name.as_str()) else {
                    let message = format!(
                        "column {} is new, expected only the columns that were learned from",
                        quote(name.as_bytes())
                    );
                    return Err(DataError::new(ErrorKind::Shape, message)
                        .at(position)
                        .with_help(format!("leave it out with --ignore {name}")));
                };
                matched[place] = Some(column);
            }
            if let Some(lost) = (0..schema.columns.len()).find(|&column| !matched.contains(&Some(column))) {
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

    /// Reads one record into `self.row` or, while surveying, `self.seen`.
    fn parse_record(&mut self, text: &[u8], block: &mut Block) -> Result<Outcome, Box<Mistake>> {
        self.row.clear();
        self.seen.clear();
        let (n_found, n_expected) = (self.cells.len(), self.uses.len());
        if n_found != n_expected {
            let at = match self.cells.get(n_expected) {
                Some(extra) => extra.at.clone(),
                None => self.cells.last().map_or(0..0, |last| last.at.end..last.at.end),
            };
            let message = format!("the row has {n_found} cells, expected {n_expected}");
            return Err(Mistake::new(ErrorKind::Shape, at, message));
        }
        let mut class = 0;
        let mut weight = None;
        let mut dropped = false;
        // A row that is dropped in the end may hold what no other row does.
        let mut unknown = None;
        for (place, (cell, use_)) in self.cells.iter().zip(&self.uses).enumerate() {
            let content = cell.content(text);
            let content = content.trim_ascii();
            let name = || quote(self.names.get(place).map_or(&b""[..], |name| name.as_bytes()));
            match use_ {
                Use::Ignore => {}
                Use::Nothing => {
                    if !content.is_empty() {
                        let message = format!("the row has {n_found} cells, expected {}", n_expected - 1);
                        return Err(Mistake::new(ErrorKind::Shape, cell.at.clone(), message));
                    }
                }
                Use::Label => {
                    let outcome = if is_missing(content) && content != b"?" {
                        Err(crate::label_table::BadLabel::Missing)
                    } else {
                        block.names.number(content)
                    };
                    class = outcome.map_err(|bad| {
                        Mistake::new(ErrorKind::Label, cell.at.clone(), bad.message(content))
                            .with_help(format!("the label column is {}; choose another with --label", name()))
                    })?;
                }
                Use::Weight => match number::parse(content) {
                    Ok(number) if number >= 0.0 => weight = Some(number),
                    _ => {
                        let message =
                            format!("the weight should be a number of at least 0, but is {}", quote(content));
                        return Err(Mistake::new(ErrorKind::Number, cell.at.clone(), message));
                    }
                },
                Use::Number { column, feature, fill } => {
                    let number = match number::parse(content) {
                        Ok(number) => number,
                        Err(_) if is_missing(content) => match (self.schema.missing, fill) {
                            (Missing::Drop, _) => {
                                dropped = true;
                                continue;
                            }
                            (_, &Some(fill)) => fill,
                            (Missing::Mean, None) => continue,
                            _ => return Err(missing(cell, content, &name())),
                        },
                        Err(bad) => {
                            let message = format!(
                                "column {} should hold finite numbers, but holds {}{}",
                                name(),
                                quote(content),
                                bad.why()
                            );
                            return Err(Mistake::new(ErrorKind::Number, cell.at.clone(), message).with_help(
                                format!("if its values are names, say --categorical {}", self.names[place]),
                            ));
                        }
                    };
                    let Some(value) = T::narrow(number) else {
                        let message =
                            format!("the value should fit single precision, but is {}", quote(content));
                        return Err(Mistake::new(ErrorKind::Number, cell.at.clone(), message)
                            .with_help("store double precision with --precision f64"));
                    };
                    if self.schema.provisional {
                        self.seen.push((*column, Seen::Number(number)));
                    } else {
                        self.row.push((*feature, value));
                    }
                }
                Use::Category { .. } | Use::Hashed { .. } if is_missing(content) => match self.schema.missing
                {
                    Missing::Drop => dropped = true,
                    Missing::Error => return Err(missing(cell, content, &name())),
                    Missing::Mean | Missing::Zero => {}
                },
                Use::Category { column, start, values } => {
                    let value = category(cell, content, &name())?;
                    if self.schema.provisional {
                        if !values.contains_key(value) {
                            self.seen.push((*column, Seen::Category(value.to_owned())));
                        }
                    } else if let Some(&known) = values.get(value) {
                        self.row.push((start + known, one()));
                    } else {
                        let message = format!(
                            "column {} should hold a category that is known, but holds {}",
                            name(),
                            quote(content)
                        );
                        unknown = unknown.or_else(|| {
                            let mistake = Mistake::new(ErrorKind::Shape, cell.at.clone(), message);
                            Some(
                                mistake
                                    .with_help("hash the categories with --hash-bits 18 to admit new ones"),
                            )
                        });
                    }
                }
                Use::Hashed { column, start } => {
                    let value = category(cell, content, &name())?;
                    let slot = self.schema.hashed_feature(&self.schema.columns[*column].name, value);
                    self.row.push((start + slot, one()));
                }
            }
        }
        match unknown {
            _ if dropped => Ok(Outcome::Dropped),
            Some(mistake) => Err(mistake),
            None => Ok(Outcome::Row { class, weight }),
        }
    }

    /// Moves the row that was just read into the block.
    fn store(&mut self, block: &mut Block) -> Result<(), Box<Mistake>> {
        if self.schema.provisional {
            if let Some(matrix) = T::sparse(&mut block.matrix) {
                matrix.end_row();
            }
            return self.take_in();
        }
        if let Some(matrix) = T::dense(&mut block.matrix) {
            if self.sorted && self.row.len() == self.width {
                matrix.values.extend(self.row.iter().map(|&(_, value)| value));
            } else {
                let start = matrix.values.len();
                matrix.values.resize(start + self.width, T::default());
                for &(feature, value) in &self.row {
                    matrix.values[start + feature as usize] = value;
                }
            }
        } else if let Some(matrix) = T::sparse(&mut block.matrix) {
            let start = matrix.n_entries();
            for &(feature, value) in self.row.iter().filter(|(_, value)| *value != T::default()) {
                matrix.indices.push(feature);
                matrix.values.push(value);
            }
            if !self.sorted {
                let (indices, values) = (&mut matrix.indices[start..], &mut matrix.values[start..]);
                // Only hashed features can meet, ones all of them, so their sum is finite.
                if sort_row(indices, values, &mut self.row).is_some() {
                    let _ = merge_row(matrix, start);
                }
            }
            matrix.end_row();
        }
        Ok(())
    }

    /// Takes in what a survey found in one row.
    fn take_in(&mut self) -> Result<(), Box<Mistake>> {
        for (column, seen) in self.seen.drain(..) {
            match (seen, &mut self.schema.columns[column].kind) {
                (Seen::Number(number), _) => {
                    if let Some(tally) = self.schema.tallies.get_mut(column) {
                        tally.add(number);
                    }
                }
                (Seen::Category(value), ColumnKind::Category { values }) => {
                    if values.len() >= self.max_categories {
                        let message = format!(
                            "column {} has more than {} different values, the limit",
                            quote(self.schema.columns[column].name.as_bytes()),
                            self.max_categories
                        );
                        return Err(Mistake::new(ErrorKind::Limit, 0..0, message).with_help(
                            "hash the categories with --hash-bits 18, or leave the column out with --ignore",
                        ));
                    }
                    let known = self.uses.iter_mut().find_map(|use_| match use_ {
                        Use::Category { column: other, values, .. } if *other == column => Some(values),
                        _ => None,
                    });
                    if let Some(known) = known {
                        known.insert(value.clone(), values.len() as u32);
                    }
                    values.push(value);
                }
                (Seen::Category(_), _) => {}
            }
        }
        Ok(())
    }
}

/// What a column of the file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Feature,
    Label,
    Weight,
    Ignore,
}

fn one<T: Stored>() -> T {
    T::narrow(1.0).unwrap_or_default()
}

fn category<'a>(cell: &Cell, content: &'a [u8], name: &str) -> Result<&'a str, Box<Mistake>> {
    std::str::from_utf8(content).map_err(|_| {
        let message = format!("column {name} should hold valid UTF-8, but holds {}", quote(content));
        Mistake::new(ErrorKind::Encoding, cell.at.clone(), message)
    })
}

fn missing(cell: &Cell, content: &[u8], name: &str) -> Box<Mistake> {
    let found = if content.is_empty() { "an empty cell".to_owned() } else { quote(content) };
    let message = format!("a value of column {name} is missing: found {found}, expected a value");
    Mistake::new(ErrorKind::Missing, cell.at.clone(), message)
        .with_help("say what to do about it with --missing mean, zero or drop")
}

fn list(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(8).map(|name| quote(name.as_bytes())).collect();
    let more = if names.len() > 8 { format!(" and {} more", names.len() - 8) } else { String::new() };
    shown.join(", ") + &more
}

impl<T: Stored> Reader for CsvReader<T> {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn read(&mut self, into: &mut Block) -> Result<bool, DataError> {
        let layout = if self.schema.provisional { Layout::Sparse } else { self.schema.layout };
        into.clear(layout, T::PRECISION, self.width);
        into.labelled = self.labelled;
        into.first_row = self.n_rows;
        while into.is_empty() {
            let text = self.window.lines()?;
            if text.is_empty() {
                // Rows that were dropped at the very end are still counted.
                self.n_rows += into.n_dropped + into.n_skipped;
                return Ok(false);
            }
            // The text is borrowed from the window while rows are parsed into `self`: it is taken out for
            // that time and put back, which moves a pointer.
            let taken = self.window.take_lines();
            let outcome = self.parse_text(taken.text(), into);
            self.window.put_back(taken);
            match outcome {
                Ok((0, _)) => {
                    // A quoted cell runs on beyond the window.
                    if !self.window.more_lines()? {
                        return Err(self.unclosed(into)?);
                    }
                }
                Ok((n_bytes, n_lines)) => self.window.consume(n_bytes, n_lines),
                Err(Stopped { mistake, line_idx, start }) => {
                    let row = self.n_rows + into.len() as u64 + into.n_dropped + into.n_skipped + 1;
                    let (line, ends_inside) = (self.window.line() + line_idx, self.window.ends_inside_line());
                    let name = self.window.name().clone();
                    let text = self.window.lines()?;
                    return Err(mistake.locate(&name, &text[start..], line, row, ends_inside));
                }
            }
        }
        into.finish_weights();
        self.n_rows += into.len() as u64 + into.n_dropped + into.n_skipped;
        Ok(true)
    }
}

/// Where parsing stopped, and why.
struct Stopped {
    mistake: Box<Mistake>,
    line_idx: u64,
    start: usize,
}

impl<T: Stored> CsvReader<T> {
    /// Adds the whole records of `text` to `block`. Returns how many bytes and line ends they are.
    fn parse_text(&mut self, text: &[u8], block: &mut Block) -> Result<(usize, u64), Stopped> {
        let (mut at, mut n_lines) = (0, 0);
        while at < text.len() {
            let rest = &text[at..];
            let n_bytes = match scan_record(rest, self.delimiter, &mut self.cells) {
                Ok(Record::Whole(n_bytes)) => n_bytes,
                Ok(Record::OpenQuote(_)) => break,
                Err(mistake) => {
                    if self.on_bad_row == OnBadRow::Error {
                        return Err(Stopped { mistake, line_idx: n_lines, start: at });
                    }
                    block.n_skipped += 1;
                    let n_bytes = memchr::memchr(b'\n', rest).map_or(rest.len(), |newline| newline + 1);
                    n_lines += u64::from(rest[n_bytes - 1] == b'\n');
                    at += n_bytes;
                    continue;
                }
            };
            let record = &rest[..n_bytes];
            if !is_blank(record, &self.cells) {
                let outcome = self.parse_record(record, block).and_then(|outcome| match outcome {
                    Outcome::Row { class, weight } => {
                        self.store(block)?;
                        block.classes.push(class);
                        if let Some(weight) = weight {
                            block.push_weight(weight);
                        }
                        Ok(())
                    }
                    Outcome::Dropped => {
                        block.n_dropped += 1;
                        Ok(())
                    }
                });
                if let Err(mistake) = outcome {
                    if self.on_bad_row == OnBadRow::Error || mistake.kind == ErrorKind::Limit {
                        return Err(Stopped { mistake, line_idx: n_lines, start: at });
                    }
                    block.n_skipped += 1;
                }
            }
            n_lines += memchr::memchr_iter(b'\n', record).count() as u64;
            at += n_bytes;
        }
        Ok((at, n_lines))
    }

    fn unclosed(&mut self, block: &Block) -> Result<DataError, DataError> {
        let row = self.n_rows + block.len() as u64 + block.n_dropped + block.n_skipped + 1;
        let (line, name) = (self.window.line(), self.window.name().clone());
        let delimiter = self.delimiter;
        let text = self.window.lines()?;
        let at = match scan_record(text, delimiter, &mut self.cells) {
            Ok(Record::OpenQuote(at)) => at,
            _ => 0,
        };
        Ok(open_quote(at).locate(&name, text, line, row, false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{LabelledRow, load_source, read_rows};
    use crate::source::Source;
    use std::sync::Arc;

    fn source(text: &str) -> Source {
        Source::bytes("t.csv", text.as_bytes().to_vec())
    }

    fn rows(text: &str, how: &ReadOptions) -> Result<Vec<LabelledRow>, DataError> {
        read_rows(&source(text), how)
    }

    fn plain(text: &str) -> Vec<(String, Vec<f64>)> {
        let rows = rows(text, &ReadOptions::default()).unwrap();
        rows.into_iter()
            .map(|(label, row)| (label, row.into_iter().map(|(_, value)| value).collect()))
            .collect()
    }

    fn row(label: &str, values: &[f64]) -> (String, Vec<f64>) {
        (label.to_owned(), values.to_vec())
    }

    #[test]
    fn tables_of_many_shapes_are_one_table() {
        let expected = [row("x", &[1.0, 2.5]), row("y", &[3.0, -4.0])];
        for text in [
            "a,b,label\n1,2.5,x\n3,-4,y\n",
            "\u{FEFF}a,b,label\r\n1,2.5,x\r\n3,-4,y",
            "a;b;label\n1;2.5;x\n3;-4;y\n\n\n",
            "a\tb\tlabel\n1\t2.5\tx\n3\t-4\ty\n",
            "a|b|c\n1|2.5|x\n\n3|-4|y\n",
            "1,2.5,x\n3,-4,y\n",
            "\"a\",\"b\",\"label\"\n\"1\",\"2.5\",\"x\"\n3 , -4 , \"y\" \n",
            "label,a,b\nx,1,2.5\ny,3,-4\n",
            "a,b,label,\n1,2.5,x,\n3,-4,y,\n",
            "2,2,one,two\n1,2.5,x\n3,-4,y\n".replace(",x", ",0").replace(",y", ",1").as_str(),
        ] {
            let found = plain(text);
            if text.starts_with("2,2") {
                assert_eq!(found, [row("0", &[1.0, 2.5]), row("1", &[3.0, -4.0])], "{text}");
            } else {
                assert_eq!(found, expected, "{text}");
            }
        }
    }

    #[test]
    fn mistakes_are_named_by_line_and_column() {
        for (text, line, column, kind, words) in [
            ("a,b,l\n1,2,x\n1,x\n", 3, 4, ErrorKind::Shape, "2 cells, expected 3"),
            ("a,b,l\n1,2,x\n1,2,x,9\n", 3, 7, ErrorKind::Shape, "4 cells, expected 3"),
            ("a,b,l\n1,2,x\n1,\"2,x\n1,2,y\n", 3, 3, ErrorKind::Syntax, "never closed"),
            ("a,b,l\n1,2,x\n1,\"2\"3,x\n", 3, 6, ErrorKind::Syntax, "closing quote"),
            ("a,b,l\n1,2,x\nabc,2,y\n1,2,y\n", 3, 1, ErrorKind::Number, "`abc`"),
            ("a,b,l\n1,2,x\n1,,y\n", 3, 3, ErrorKind::Missing, "empty cell"),
            ("a,b,l\n1,2,x\nNA,2,y\n", 3, 1, ErrorKind::Missing, "`NA`"),
            ("a,b,l\n1,2,x\n1,2,\n", 3, 5, ErrorKind::Label, "label is missing"),
            ("a,b,l\n1,2,x\n1,2,NaN\n", 3, 5, ErrorKind::Label, "label is missing"),
            ("a,b,l\n1,2,x\n1,inf,y\n", 3, 3, ErrorKind::Number, "not finite"),
            ("a,b,l\n1,2,x\n1,1e400,y\n", 3, 3, ErrorKind::Number, "too large"),
            ("a,b,l\n1,2,x\n1,1e39,y\n", 3, 3, ErrorKind::Number, "single precision"),
            ("a,b,l\n1,2,x\n\"1,000\",2,y\n1,2,y\n", 3, 2, ErrorKind::Number, "`1,000`"),
            ("a,b,l\n1,2,x\n1,$5,y\n1,2,y\n", 3, 3, ErrorKind::Number, "`$5`"),
            ("a,b,l\n1,2,\"x\ny\"\n1,z,y\n1,2,y\n", 4, 3, ErrorKind::Number, "`z`"),
            ("a,b,l\n1,2,x\n1\r,2,y\n", 3, 2, ErrorKind::Syntax, "carriage return"),
            ("a,b,l\n1,2,x\n1,2\0,y\n1,2,y\n", 3, 3, ErrorKind::Number, "0x00"),
        ] {
            let error = rows(text, &ReadOptions::default()).unwrap_err();
            let position = error.position();
            assert_eq!(
                (position.line, position.column),
                (Some(line), Some(column)),
                "{text}: {}",
                error.report()
            );
            assert_eq!(error.kind(), kind, "{text}: {error}");
            assert!(error.message().contains(words), "{text}: {error}");
        }
        for (text, kind, words) in [
            ("a,b,l\n", ErrorKind::Empty, "no rows"),
            ("\n\n", ErrorKind::Empty, "no rows"),
            ("a\n1\n2\n", ErrorKind::Shape, "1 column"),
            ("a,a,l\n1,2,x\n", ErrorKind::Shape, "two columns are called `a`"),
        ] {
            let how = ReadOptions { format: Some("csv".into()), ..ReadOptions::default() };
            let error = rows(text, &how).unwrap_err();
            assert_eq!(error.kind(), kind, "{text}: {error}");
            assert!(error.message().contains(words), "{text}: {error}");
        }
    }

    const PENGUINS: &str = "species,island,mass,sex\nA,T,10,m\nA,T,NA,f\nG,B,30,\nG,B,20,m\n";

    fn penguins(missing: Missing) -> ReadOptions {
        ReadOptions { label: LabelColumn::Named("species".into()), missing, ..ReadOptions::default() }
    }

    #[test]
    fn categories_and_missing_values() {
        let error = rows(PENGUINS, &penguins(Missing::Error)).unwrap_err();
        assert_eq!((error.kind(), error.position().line), (ErrorKind::Missing, Some(3)));
        let mean = load_source(&source(PENGUINS), &penguins(Missing::Mean)).unwrap();
        assert_eq!(mean.feature_names().unwrap(), ["island=B", "island=T", "mass", "sex=f", "sex=m"]);
        let entries = |label: &str, row: &[(usize, f64)]| (label.to_owned(), row.to_vec());
        assert_eq!(
            rows(PENGUINS, &penguins(Missing::Mean)).unwrap(),
            [
                entries("A", &[(1, 1.0), (2, 10.0), (4, 1.0)]),
                entries("A", &[(1, 1.0), (2, 20.0), (3, 1.0)]),
                entries("G", &[(0, 1.0), (2, 30.0)]),
                entries("G", &[(0, 1.0), (2, 20.0), (4, 1.0)]),
            ]
        );
        assert_eq!(rows(PENGUINS, &penguins(Missing::Zero)).unwrap()[1], entries("A", &[(1, 1.0), (3, 1.0)]));
        // Dropped rows leave no categories behind: sex=f occurs only in one of them.
        assert_eq!(
            rows(PENGUINS, &penguins(Missing::Drop)).unwrap(),
            [entries("A", &[(1, 1.0), (2, 10.0), (3, 1.0)]), entries("G", &[(0, 1.0), (2, 20.0), (3, 1.0)])]
        );
        let hashed = ReadOptions { hash_bits: Some(6), ..penguins(Missing::Zero) };
        let dataset = load_source(&source(PENGUINS), &hashed).unwrap();
        assert_eq!(dataset.width(), 1 + 64);
    }

    #[test]
    fn a_schema_is_kept_to_by_name() {
        let trained = "a,b,c,label\n1,u,3,x\n4,v,6,y\n";
        let schema = crate::load::survey(&source(trained), &ReadOptions::default()).unwrap().schema;
        let how = ReadOptions::default().with_schema(Arc::new(schema));
        let first = rows(trained, &how).unwrap();
        assert_eq!(rows("label,c,b,a\nx,3,u,1\ny,6,v,4\n", &how).unwrap(), first);
        let unlabelled = rows("c,b,a\n3,u,1\n6,v,4\n", &how).unwrap();
        assert_eq!(unlabelled[1].1, first[1].1);
        for (text, words) in [
            ("a,b,label\n1,u,x\n", "column `c` is missing"),
            ("a,b,c,d,label\n1,u,3,4,x\n", "column `d` is new"),
            ("a,b,c,label\n1,w,3,x\n", "category that is known, but holds `w`"),
        ] {
            let error = rows(text, &how).unwrap_err();
            assert!(error.message().contains(words), "{error}");
        }
    }

    #[test]
    fn weights_ignored_columns_labels_by_number_and_long_quotes() {
        let how = ReadOptions {
            weight: Some("w".into()),
            ignore: vec!["id".into()],
            label: LabelColumn::Named("2".into()),
            ..ReadOptions::default()
        };
        let dataset = load_source(&source("id,kind,w,a\n7,x,0.5,1\n8,y,2,3\n"), &how).unwrap();
        assert_eq!((dataset.width(), dataset.weights()), (1, Some(&[0.5, 2.0][..])));
        assert_eq!(dataset.labels().names(), ["x", "y"]);
        let long = "q\n".repeat(400_000);
        let text = format!("a,note,label\n1,\"{long}\",x\n2,\"b\",y\n");
        let how = ReadOptions { ignore: vec!["note".into()], ..ReadOptions::default() };
        assert_eq!(load_source(&source(&text), &how).unwrap().len(), 2);
        let error =
            load_source(&source("a,l\n1,x\n"), &ReadOptions { label: LabelColumn::Named("z".into()), ..how });
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Options);
    }
}
