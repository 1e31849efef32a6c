//! What is to be done with each column: found out from the first records, the options, or a schema.
//!
//! A plan is made once, when a table is opened, and never looks at the rows again; only a survey adds the
//! categories it meets.

use super::record::{Record, is_blank, is_missing, open_quote, scan_record, sniff_delimiter};
use crate::error::{DataError, ErrorKind, Position, quote};
use crate::formats::roles::{Role, for_table, list, roles};
use crate::number;
use crate::options::{OnBadRow, ReadOptions, find_column};
use crate::schema::{Column, ColumnKind, Layout, Missing, Schema, Tally};
use crate::window::Window;
use std::collections::HashMap;

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

/// A column that can be read quickly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Number,
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
        let mut sample = Sample::take(window, delimiter)?;
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
        plan.settle(&sample, header, how, notes).map_err(|error| error.in_source(&name))?;
        if trailing {
            plan.uses.push(Use::Nothing);
        }
        plan.find_steps();
        Ok(plan)
    }

    /// Decides what each column is for.
    fn settle(
        &mut self,
        sample: &Sample,
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
                "hash the categories with --hash-bits 18, or raise the limit with --max-features",
            ));
        }
        self.width = width;
        self.schema = schema;
        Ok(())
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

    /// Finds out whether rows are dense, in the order of the columns, and of numbers.
    fn find_steps(&mut self) {
        let mut n_numbers = 0;
        let step = |use_: &Use| match use_ {
            Use::Number { .. } => {
                n_numbers += 1;
                Some(Step::Number)
            }
            Use::Label => Some(Step::Label),
            Use::Ignore => Some(Step::Ignore),
            Use::Weight | Use::Nothing | Use::Category { .. } | Use::Hashed { .. } => None,
        };
        let steps: Option<Vec<Step>> = self.uses.iter().map(step).collect();
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
