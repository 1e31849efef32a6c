//! JSON Lines: one object a line, keys are columns.
//!
//! Rules where the format leaves room: the columns are the keys of the first records; a key that a row
//! lacks is a missing value, as are `null`, `NaN` and what CSV takes for missing; a key that neither the first
//! records nor the model know is an error, but left out once a model decides what columns there are; `true` and
//! `false` are names, as they are in CSV. One key may hold all features: a list
//! of numbers of one length, or an object `{"index": value}`, whose indices start at 1 unless
//! `zero_based` says otherwise. Other nested values must be left out with `ignore`. Blank lines are
//! skipped. A file that is one JSON array is refused.
//!
//! Values are parsed where they stand, without a tree; nesting is bounded. Nothing here decides what
//! columns mean: that is the table's business.

use super::columns::{Cell, Columns, FileColumn, Form, Plan};
use super::sense::check_order;
use super::sense::{SAMPLE_ROWS, Seen, precision};
use super::{Format, FormatInfo, Head, Reader, Sniff};
use crate::bytes::source::Input;
use crate::bytes::window::Window;
use crate::error::{DataError, ErrorKind, Mistake, quote};
use crate::options::{OnBadRow, ReadOptions};
use crate::rows::block::{Block, Stored};
use crate::rows::schema::{Precision, Schema};
use crate::scan::number::{self, BadNumber};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// How deep values may be nested.
const MAX_DEPTH: usize = 128;

/// Whether `bytes` begin like an object with keys or an array of some, on one line or several.
fn begins_objects(bytes: &[u8]) -> bool {
    let mut parser = Parser { text: bytes, at: 0 };
    let _ = parser.take(b'[');
    parser.take(b'{') && parser.string().is_ok() && parser.take(b':')
}

/// JSON Lines.
#[derive(Debug)]
pub(crate) struct JsonLines;

impl Format for JsonLines {
    fn info(&self) -> FormatInfo {
        FormatInfo {
            aliases: &["ndjson", "json", "json-lines"],
            extensions: &["jsonl", "ndjson", "json"],
            ..FormatInfo::new("jsonl", "one JSON object a line, `{\"width\": 3.5, \"label\": \"cat\"}`")
        }
    }

    fn heeds(&self) -> &'static [&'static str] {
        super::OF_TABLES
    }

    fn sniff(&self, head: &Head<'_>) -> Sniff {
        let Some(line) = head.lines().map(<[u8]>::trim_ascii).find(|line| !line.is_empty()) else {
            return Sniff::No;
        };
        let mut parser = Parser { text: line, at: 0 };
        let begins_like_one = || {
            let mut parser = Parser { text: line, at: 0 };
            parser.expect(b'{').is_ok() && (parser.peek() == Some(b'}') || parser.string().is_ok())
        };
        if line.starts_with(b"{") && parser.skip_value().is_ok() && parser.at_end() {
            Sniff::Certain
        } else if begins_like_one()
            || begins_objects(head.bytes)
            || (line.starts_with(b"[") && matches!(head.extension, Some("json" | "jsonl" | "ndjson")))
        {
            Sniff::Likely
        } else {
            Sniff::No
        }
    }

    fn open(&self, input: Input, how: &ReadOptions) -> Result<Box<dyn Reader>, DataError> {
        let window = Window::new(input, how.limits.line_bytes)?;
        let name = window.name().clone();
        let mut window = window;
        let (columns, mut unmet) = sample(&mut window, how)?;
        // What was learned from may lack in rows to be labelled.
        if let Some(schema) = &how.schema {
            let is_column = |name: &String| schema.columns.iter().any(|column| column.name == *name);
            unmet.retain(|name| !schema.ignored.contains(name) && !is_column(name));
        }
        check_order(&columns, how).map_err(|error| error.in_source(&name))?;
        let (precision, note) = precision(&columns, how);
        let mut plan = Plan::new(columns, true, how, note.iter().cloned().collect())
            .map_err(|error| error.in_source(&name))?;
        if note.is_some() {
            Arc::make_mut(&mut plan.schema).precision = Some(precision);
        }
        let is_law = how.schema.is_some();
        Ok(match precision {
            Precision::Single => Box::new(JsonReader::<f32>::new(window, plan, is_law, unmet)),
            Precision::Double => Box::new(JsonReader::<f64>::new(window, plan, is_law, unmet)),
        })
    }
}

/// A place in a line.
struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

/// A value that is not nested.
#[derive(Debug, PartialEq)]
enum Scalar<'a> {
    Null,
    Bool(bool),
    Number(f64),
    Text(Cow<'a, str>),
}

impl<'a> Parser<'a> {
    fn skip_blanks(&mut self) {
        while matches!(self.text.get(self.at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn peek(&mut self) -> Option<u8> {
        self.skip_blanks();
        self.text.get(self.at).copied()
    }

    fn at_end(&mut self) -> bool {
        self.peek().is_none()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) -> Result<(), Box<Mistake>> {
        if self.take(byte) { Ok(()) } else { Err(self.unexpected(&format!("`{}`", byte as char))) }
    }

    /// The error for what stands here.
    fn unexpected(&mut self, expected: &str) -> Box<Mistake> {
        let token = self.token();
        if token.is_empty() {
            let message = format!("the record ends too early, expected {expected}");
            return Mistake::new(ErrorKind::Syntax, self.at..self.at, message)
                .with_help("a record is one line; write each object without line breaks");
        }
        let message = format!("found {}, expected {expected}", quote(&self.text[token.clone()]));
        Mistake::new(ErrorKind::Syntax, token, message)
    }

    /// The bytes from here to the next one that separates values, at least one if there is any.
    fn token(&mut self) -> Range<usize> {
        self.skip_blanks();
        let rest = &self.text[self.at..];
        let ends = |byte: &u8| {
            matches!(byte, b',' | b':' | b'{' | b'}' | b'[' | b']' | b'"' | b' ' | b'\t' | b'\n' | b'\r')
        };
        let length = rest.iter().position(ends).unwrap_or(rest.len()).max(usize::from(!rest.is_empty()));
        self.at..self.at + length
    }

    /// A string; this is where its opening quote should be.
    fn string(&mut self) -> Result<Cow<'a, str>, Box<Mistake>> {
        self.expect(b'"')?;
        let start = self.at;
        let Some(length) = memchr::memchr2(b'"', b'\\', &self.text[start..]) else {
            return Err(Self::unclosed(start));
        };
        if self.text[start + length] == b'"' {
            self.at = start + length + 1;
            return Ok(Cow::Borrowed(self.check_text(start..start + length)?));
        }
        let mut content = self.check_text(start..start + length)?.to_owned();
        self.at = start + length;
        loop {
            match self.text.get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Cow::Owned(content));
                }
                Some(b'\\') => {
                    let c = self.escape()?;
                    content.push(c);
                }
                Some(_) => {
                    let from = self.at;
                    let length = memchr::memchr2(b'"', b'\\', &self.text[from..]);
                    let to = from + length.ok_or_else(|| Self::unclosed(start))?;
                    content.push_str(self.check_text(from..to)?);
                    self.at = to;
                }
                None => return Err(Self::unclosed(start)),
            }
        }
    }

    fn unclosed(start: usize) -> Box<Mistake> {
        let message = "the string that opens here is never closed, expected a `\"`";
        Mistake::new(ErrorKind::Syntax, start - 1..start, message)
    }

    fn check_text(&self, at: Range<usize>) -> Result<&'a str, Box<Mistake>> {
        let bytes = &self.text[at.clone()];
        if let Some(control) = bytes.iter().position(u8::is_ascii_control) {
            let place = at.start + control;
            let message =
                format!("a string holds the control byte 0x{:02X}, expected an escape", bytes[control]);
            return Err(Mistake::new(ErrorKind::Syntax, place..place + 1, message));
        }
        std::str::from_utf8(bytes).map_err(|error| {
            let place = at.start + error.valid_up_to();
            Mistake::new(ErrorKind::Encoding, place..place + 1, "a string should be valid UTF-8, but is not")
        })
    }

    /// A character after a backslash, which is here.
    fn escape(&mut self) -> Result<char, Box<Mistake>> {
        let start = self.at;
        let bad = |end: usize| {
            let message = "a backslash should be followed by one of \"\\/bfnrtu, or uXXXX, but is not";
            Mistake::new(ErrorKind::Syntax, start..end, message)
        };
        let c = match self.text.get(start + 1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{C}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let unit = |at: usize| {
                    let digits = self.text.get(at..at + 4)?;
                    let digits = std::str::from_utf8(digits).ok()?;
                    if digits.starts_with('+') { None } else { u32::from_str_radix(digits, 16).ok() }
                };
                let first = unit(start + 2).ok_or_else(|| bad(start + 2))?;
                self.at = start + 6;
                if !(0xD800..0xDC00).contains(&first) {
                    return char::from_u32(first).ok_or_else(|| bad(start + 6));
                }
                let second = if self.text[self.at..].starts_with(b"\\u") { unit(start + 8) } else { None };
                let second = second.filter(|second| (0xDC00..0xE000).contains(second));
                let second = second.ok_or_else(|| bad(start + 6))?;
                self.at = start + 12;
                let point = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
                return char::from_u32(point).ok_or_else(|| bad(start + 12));
            }
            _ => return Err(bad(start + 1)),
        };
        self.at = start + 2;
        Ok(c)
    }

    /// A value that is not nested. `NaN`, as Python writes it, is a missing value.
    fn scalar(&mut self) -> Result<Scalar<'a>, Box<Mistake>> {
        if self.peek() == Some(b'"') {
            return self.string().map(Scalar::Text);
        }
        let token = self.token();
        let text = &self.text[token.clone()];
        let scalar = match text {
            b"null" | b"NaN" => Scalar::Null,
            b"true" => Scalar::Bool(true),
            b"false" => Scalar::Bool(false),
            _ => match number::parse(text) {
                Ok(number) => Scalar::Number(number),
                Err(bad @ (BadNumber::NotFinite | BadNumber::TooLarge)) => {
                    let message = format!("the number should be finite, but is {}{}", quote(text), bad.why());
                    return Err(Mistake::new(ErrorKind::Number, token, message));
                }
                Err(BadNumber::NotANumber) => return Err(self.unexpected("a value")),
            },
        };
        self.at = token.end;
        Ok(scalar)
    }

    /// A number in a list or a pair; a missing one is NaN.
    fn number(&mut self) -> Result<f64, Box<Mistake>> {
        let token = self.token();
        match self.scalar()? {
            Scalar::Number(number) => Ok(number),
            Scalar::Null => Ok(f64::NAN),
            Scalar::Bool(_) | Scalar::Text(_) => {
                let message = format!("found {}, expected a number", quote(&self.text[token.clone()]));
                Err(Mistake::new(ErrorKind::Number, token, message))
            }
        }
    }

    /// Calls `each` with every key of the object that begins here, the parser standing at its value.
    fn object(
        &mut self,
        mut each: impl FnMut(&mut Self, Cow<'a, str>, usize) -> Result<(), Box<Mistake>>,
    ) -> Result<(), Box<Mistake>> {
        self.expect(b'{')?;
        if self.take(b'}') {
            return Ok(());
        }
        loop {
            self.skip_blanks();
            let key_at = self.at;
            let key = self.string()?;
            self.expect(b':')?;
            each(self, key, key_at)?;
            if self.take(b'}') {
                return Ok(());
            }
            if !self.take(b',') {
                return Err(self.unexpected("`,` or `}`"));
            }
        }
    }

    /// The numbers of the list that begins here.
    fn numbers(&mut self, into: &mut Vec<f64>) -> Result<(), Box<Mistake>> {
        into.clear();
        self.expect(b'[')?;
        if self.take(b']') {
            return Ok(());
        }
        loop {
            into.push(self.number()?);
            if self.take(b']') {
                return Ok(());
            }
            if !self.take(b',') {
                return Err(self.unexpected("`,` or `]`"));
            }
        }
    }

    /// Passes over a value of any kind, and checks it on the way.
    fn skip_value(&mut self) -> Result<(), Box<Mistake>> {
        // The brackets that are open, so that hostile nesting costs no stack.
        let mut open: Vec<u8> = Vec::new();
        loop {
            match self.peek() {
                Some(bracket @ (b'{' | b'[')) => {
                    if open.len() >= MAX_DEPTH {
                        let message = format!("values are nested deeper than {MAX_DEPTH}, the limit");
                        return Err(Mistake::new(ErrorKind::Limit, self.at..self.at + 1, message));
                    }
                    self.at += 1;
                    let close = if bracket == b'{' { b'}' } else { b']' };
                    if !self.take(close) {
                        if bracket == b'{' {
                            self.string()?;
                            self.expect(b':')?;
                        }
                        open.push(close);
                        continue;
                    }
                }
                _ => {
                    self.scalar()?;
                }
            }
            // A value has ended: close what ends with it.
            loop {
                let Some(&close) = open.last() else { return Ok(()) };
                if self.take(close) {
                    open.pop();
                } else if self.take(b',') {
                    if close == b'}' {
                        self.string()?;
                        self.expect(b':')?;
                    }
                    break;
                } else {
                    return Err(self.unexpected(&format!("`,` or `{}`", close as char)));
                }
            }
        }
    }
}

/// A reader of one file.
struct JsonReader<T> {
    window: Window,
    table: Columns<T>,
    /// Whether a schema says which columns there are, so that others are left out.
    is_law: bool,
    places: HashMap<String, usize>,
    /// Where the last key was looked for: keys mostly come in one order.
    guess: usize,
    order: Vec<String>,
    numbers: Vec<f64>,
    /// Keys to be left out that no record had so far.
    unmet: Vec<String>,
}

impl<T: Stored> JsonReader<T> {
    fn new(window: Window, plan: Plan, is_law: bool, unmet: Vec<String>) -> Self {
        let order = plan.names.clone();
        let places = order.iter().cloned().zip(0..).collect();
        let (table, numbers) = (Columns::new(plan), Vec::new());
        Self { window, table, is_law, places, guess: 0, order, numbers, unmet }
    }

    /// Reads the record in `line` into the table's row and stores it.
    fn parse_line(&mut self, line: &[u8], block: &mut Block) -> Result<(), Box<Mistake>> {
        let mut parser = Parser { text: line, at: 0 };
        let Self { table, places, guess, order, numbers, is_law, unmet, .. } = self;
        table.begin_row();
        *guess = 0;
        parser.object(|parser, key, key_at| {
            let place = if order.get(*guess).is_some_and(|name| *name == key) {
                Some(*guess)
            } else {
                places.get(key.as_ref()).copied()
            };
            let Some(place) = place else {
                if *is_law {
                    return parser.skip_value();
                }
                let message = format!(
                    "column {} is new here, expected only those of the first records or of the model",
                    quote(key.as_bytes())
                );
                return Err(Mistake::new(ErrorKind::Shape, key_at..parser.at, message)
                    .with_help(format!("leave it out with {}", crate::remedy::set("ignore", &key))));
            };
            *guess = place + 1;
            if !table.plan.needs(place) {
                unmet.retain(|name| *name != key);
                return parser.skip_value();
            }
            parser.skip_blanks();
            let start = parser.at;
            let placed = |mut mistake: Box<Mistake>, end: usize| {
                mistake.at = start..end;
                mistake
            };
            match parser.peek() {
                Some(b'[') => {
                    parser.numbers(numbers)?;
                    table.vector(place, numbers.iter().copied()).map_err(|mistake| placed(mistake, parser.at))
                }
                Some(b'{') => {
                    table.begin_pairs(place).map_err(|mistake| placed(mistake, start + 1))?;
                    parser.object(|parser, key, key_at| {
                        let number = parser.number()?;
                        table.pair(place, &key, number).map_err(|mut mistake| {
                            mistake.at = key_at..parser.at;
                            mistake
                        })
                    })
                }
                _ => {
                    let scalar = parser.scalar()?;
                    let cell = match &scalar {
                        Scalar::Null => Cell::Missing,
                        Scalar::Bool(true) => Cell::Text(b"true"),
                        Scalar::Bool(false) => Cell::Text(b"false"),
                        Scalar::Number(_)
                            if table.plan.is_name(place) && is_whole(&line[start..parser.at]) =>
                        {
                            Cell::Text(&line[start..parser.at])
                        }
                        Scalar::Number(number) => Cell::Number(*number),
                        Scalar::Text(text) => Cell::Text(text.as_bytes()),
                    };
                    table.cell(place, cell, block).map_err(|mistake| placed(mistake, parser.at))
                }
            }
        })?;
        if !parser.at_end() {
            return Err(parser.unexpected("the end of the line"));
        }
        table.end_row(block)
    }

    /// Adds the rows of `text`, which is whole lines, to `block`. Returns how many lines end in it.
    fn parse_text(&mut self, text: &[u8], block: &mut Block) -> Result<u64, Stopped> {
        let (mut start, mut n_lines) = (0, 0);
        while start < text.len() {
            let newline = memchr::memchr(b'\n', &text[start..]);
            let end = newline.map_or(text.len(), |newline| start + newline);
            let line = &text[start..end];
            if !line.trim_ascii().is_empty()
                && let Err(mistake) = self.parse_line(line, block)
            {
                if self.table.plan.refuses(&mistake) {
                    return Err(Stopped { mistake, line_idx: n_lines, start });
                }
                block.skip_record(mistake, n_lines, start);
            }
            n_lines += u64::from(newline.is_some());
            start = end + 1;
        }
        Ok(n_lines)
    }
}

/// Whether a number is written as a whole one, whose digits may be more than a double holds.
fn is_whole(number: &[u8]) -> bool {
    number.strip_prefix(b"-").unwrap_or(number).iter().all(u8::is_ascii_digit)
}

/// Where parsing stopped, and why.
struct Stopped {
    mistake: Box<Mistake>,
    line_idx: u64,
    start: usize,
}

impl<T: Stored> Reader for JsonReader<T> {
    fn schema(&self) -> &Schema {
        &self.table.plan.schema
    }

    fn read(&mut self, into: &mut Block) -> Result<bool, DataError> {
        self.table.clear(into);
        while into.is_empty() {
            let n_bytes = self.window.lines()?.len();
            if n_bytes == 0 {
                self.table.finish(into);
                if let Some(unmet) = self.unmet.first() {
                    let message = format!("there is no column {} to ignore", quote(unmet.as_bytes()));
                    return Err(DataError::new(ErrorKind::Options, message)
                        .in_source(self.window.name())
                        .with_help("name a column of the table"));
                }
                return Ok(false);
            }
            let taken = self.window.take_lines();
            let outcome = self.parse_text(taken.text(), into);
            let name = self.window.name().clone();
            into.gaps.place(&name, taken.text(), self.window.line(), self.table.n_rows);
            self.window.put_back(taken);
            match outcome {
                Ok(n_lines) => self.window.consume(n_bytes, n_lines),
                Err(Stopped { mistake, line_idx, start }) => {
                    let row = self.table.row_number(into);
                    let (line, ends_inside) = (self.window.line() + line_idx, self.window.ends_inside_line());
                    let name = self.window.name().clone();
                    let text = self.window.lines()?;
                    let line_end =
                        memchr::memchr(b'\n', &text[start..]).map_or(text.len(), |end| start + end);
                    let cut = ends_inside && line_end == text.len();
                    return Err(mistake.locate(&name, &text[start..line_end], line, row, cut));
                }
            }
        }
        self.table.finish(into);
        Ok(true)
    }
}

/// The columns of a file by its first records, those of the model and of the options among them.
///
/// Beside them stand keys to be left out that these records do not have.
fn sample(window: &mut Window, how: &ReadOptions) -> Result<(Vec<FileColumn>, Vec<String>), DataError> {
    let (line, name) = (window.line(), window.name().clone());
    let text = window.lines()?;
    let mut order: Vec<String> = Vec::new();
    let mut sampled: HashMap<String, Seen> = HashMap::new();
    let mut n_records = 0;
    let mut start = 0;
    let mut line_idx = 0;
    while start < text.len() && n_records < SAMPLE_ROWS {
        let end = memchr::memchr(b'\n', &text[start..]).map_or(text.len(), |newline| start + newline);
        let record = &text[start..end];
        if !record.trim_ascii().is_empty() {
            match sample_record(record, &mut order, &mut sampled, how) {
                Ok(()) => n_records += 1,
                // Whatever is wrong with a later record shows when it is read.
                Err(_) if n_records > 0 || how.on_bad_row == OnBadRow::Skip => {}
                Err(mistake) => return Err(mistake.locate(&name, record, line + line_idx, 1, false)),
            }
        }
        start = end + 1;
        line_idx += 1;
    }
    if n_records == 0 {
        let message = "there are no rows, expected at least one";
        return Err(DataError::new(ErrorKind::Empty, message).in_source(&name));
    }
    let known = how.schema.as_ref().filter(|schema| schema.has_names);
    let named = known.iter().flat_map(|schema| schema.columns.iter().map(|column| &column.name));
    let mut unmet = Vec::new();
    for (name, is_ignored) in
        named.map(|name| (name, false)).chain(how.ignore.iter().map(|name| (name, true)))
    {
        if !sampled.contains_key(name) && name.parse::<i64>().is_err() {
            if is_ignored {
                unmet.push(name.clone());
            }
            order.push(name.clone());
            sampled.insert(name.clone(), Seen::default());
        }
    }
    let columns = order.into_iter().map(|name| {
        let seen = sampled.remove(&name).unwrap_or_default();
        FileColumn { name, form: seen.form(), seen: seen.into(), is_unnamed: false, is_typed: true }
    });
    Ok((columns.collect(), unmet))
}

fn sample_record(
    record: &[u8],
    order: &mut Vec<String>,
    sampled: &mut HashMap<String, Seen>,
    how: &ReadOptions,
) -> Result<(), Box<Mistake>> {
    let mut parser = Parser { text: record, at: 0 };
    if parser.peek() == Some(b'[') {
        let message = "this is a JSON array, expected one object a line";
        return Err(Mistake::new(ErrorKind::Format, parser.at..parser.at + 1, message)
            .with_help("convert it: jq -c '.[]' IN > OUT.jsonl"));
    }
    let max_columns = how.limits.features;
    let mut numbers = Vec::new();
    parser.object(|parser, key, key_at| {
        if !sampled.contains_key(key.as_ref()) {
            if order.len() >= max_columns {
                let message = format!("there are more than {max_columns} keys, the limit");
                return Err(Mistake::new(ErrorKind::Limit, key_at..parser.at, message));
            }
            order.push(key.to_string());
            sampled.insert(key.to_string(), Seen::new(how));
        }
        let Some(seen) = sampled.get_mut(key.as_ref()) else { return Ok(()) };
        seen.n_nested += usize::from(matches!(parser.peek(), Some(b'[' | b'{')));
        match parser.peek() {
            Some(b'[') => {
                let start = parser.at;
                if parser.numbers(&mut numbers).is_ok() {
                    seen.nested.get_or_insert(Form::Vector(numbers.len()));
                    return Ok(());
                }
                seen.nested.get_or_insert(Form::Vector(0));
                parser.at = start;
                parser.skip_value()
            }
            Some(b'{') => {
                seen.nested.get_or_insert(Form::Sparse);
                parser.skip_value()
            }
            _ => {
                match parser.scalar()? {
                    Scalar::Number(number) => seen.see(Cell::Number(number)),
                    Scalar::Null => seen.see(Cell::Missing),
                    Scalar::Text(text) => seen.see(Cell::Text(text.as_bytes())),
                    Scalar::Bool(flag) => seen.see(Cell::Text(if flag { b"true" } else { b"false" })),
                }
                Ok(())
            }
        }
    })?;
    if parser.at_end() { Ok(()) } else { Err(parser.unexpected("the end of the line")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::source::Source;
    use crate::load::{LabelledRow, load_source, read_rows};
    use crate::options::LabelColumn;
    use crate::rows::schema::Missing;
    use std::sync::Arc;

    fn rows_by(text: &str, how: &ReadOptions) -> Result<Vec<LabelledRow>, DataError> {
        read_rows(&Source::bytes("pets.jsonl", text.as_bytes().to_vec()), how)
    }

    fn rows(text: &str) -> Result<Vec<LabelledRow>, DataError> {
        rows_by(text, &ReadOptions { precision: Precision::Double, ..ReadOptions::as_stored() })
    }

    #[test]
    fn objects_are_rows_as_in_csv() {
        let json = "{\"legs\": 4, \"sex\": \"f\", \"label\": \"cat\"}\n\n\
                    {\"label\":\"b\\u00efrd\\ud83d\\udc26\",\"sex\":\"m\",\"legs\":2e0}\r\n";
        let csv = "legs,sex,label\n4,f,cat\n2,m,bïrd🐦\n";
        let how = ReadOptions::as_stored();
        let expected = read_rows(&Source::bytes("pets.csv", csv.as_bytes().to_vec()), &how).unwrap();
        assert_eq!(rows_by(json, &how).unwrap(), expected);
        let dataset = load_source(&Source::bytes("x", json.as_bytes().to_vec()), &how).unwrap();
        assert_eq!(dataset.feature_names().unwrap(), ["legs", "sex=m"]);
    }

    #[test]
    fn lists_and_pairs_hold_all_features() {
        let expected =
            vec![("a".to_owned(), vec![(0, 1.0), (1, 2.5)]), ("b".to_owned(), vec![(0, 0.0), (1, 3.0)])];
        let lists = "{\"features\": [1, 2.5], \"label\": \"a\"}\n{\"features\":[0,3],\"label\":\"b\"}";
        assert_eq!(rows(lists).unwrap(), expected);
        let pairs =
            "{\"label\": \"a\", \"x\": {\"2\": 2.5, \"1\": 1}}\n{\"label\": \"b\", \"x\": {\"2\": 3}}\n";
        assert_eq!(rows(pairs).unwrap()[0], expected[0]);
        assert_eq!(rows(pairs).unwrap()[1].1, [(1, 3.0)]);
        let words = pairs.replace("\"2\"", "\"two\"");
        let how = ReadOptions { hash_bits: Some(10), ..ReadOptions::as_stored() };
        assert_eq!(rows_by(&words, &how).unwrap()[0].1.len(), 2);
    }

    #[test]
    fn mistakes_have_a_line_and_a_column() {
        let good = "{\"a\": 1, \"y\": 0}\n";
        for (line, column, kind) in [
            ("{\"a\": 1x, \"y\": 0}", 7, "syntax"),
            ("{\"a\": 1, \"y\": 0", 16, "syntax"),
            ("{\"a\": 1 \"y\": 0}", 9, "syntax"),
            ("{\"a\": 1, \"y\": 0} {", 18, "syntax"),
            ("{\"a\": 1, \"a\": 2, \"y\": 0}", 15, "shape"),
            ("{\"a\": \"q\", \"y\": 0}", 7, "number"),
            ("{\"a\": 1e999, \"y\": 0}", 7, "number"),
            ("{\"a\": -Infinity, \"y\": 0}", 7, "number"),
            ("{\"a\": 1e300, \"y\": 0}", 7, "number"),
            ("{\"a\": null, \"y\": 0}", 7, "missing"),
            ("{\"a\": NaN, \"y\": 0}", 7, "missing"),
            ("{\"y\": 0}", 1, "missing"),
            ("{\"a\": 1, \"y\": null}", 15, "label"),
            ("{\"a\": [1], \"y\": 0}", 7, "shape"),
            ("{\"a\": {\"1\": 1}, \"y\": 0}", 7, "shape"),
            ("{\"a\": 1, \"y\": \"\\x\"}", 16, "syntax"),
            ("{\"a\": 1, \"y\": \"\\ud800\"}", 16, "syntax"),
            ("{\"a\": 1, \"y\": \"open}", 15, "syntax"),
            ("[1, 0]", 1, "syntax"),
            ("{a: 1}", 2, "syntax"),
            ("nonsense", 1, "syntax"),
        ] {
            let error =
                rows_by(&format!("{good}{good}{line}\n{good}"), &ReadOptions::as_stored()).unwrap_err();
            let position = error.position();
            assert_eq!((position.line, position.column), (Some(3), Some(column)), "{line}: {error}");
            assert_eq!(error.kind().code(), kind, "{line}: {error}");
        }
        let error = rows("[{\"a\": 1}]").unwrap_err();
        assert!(error.help().unwrap().to_string().contains("jq"), "{error}");
        assert!(
            rows("{\"features\": [1], \"id\": 7, \"label\": 1}").unwrap_err().to_string().contains("`id`")
        );
        assert!(rows("{\"a\": \"\u{7f}\"}").is_err());
        let skip = ReadOptions { on_bad_row: OnBadRow::Skip, ..ReadOptions::as_stored() };
        assert_eq!(rows_by(&format!("{good}nonsense\n{good}"), &skip).unwrap().len(), 2);
    }

    #[test]
    fn hostile_nesting_is_bounded() {
        let deep = format!("{{\"a\": 1, \"z\": {}, \"y\": 0}}", "[".repeat(100_000));
        let how = ReadOptions { ignore: vec!["z".into()], ..ReadOptions::as_stored() };
        assert_eq!(rows_by(&deep, &how).unwrap_err().kind(), ErrorKind::Limit);
        let flat = format!("{{\"a\": 1, \"z\": {}{}, \"y\": 0}}", "[".repeat(100), "]".repeat(100));
        assert_eq!(rows_by(&flat, &how).unwrap().len(), 1);
    }

    #[test]
    fn missing_values_and_models_go_by_the_rules_of_tables() {
        let text = "{\"a\": 1, \"b\": 2, \"y\": 0}\n{\"a\": null, \"b\": 4, \"y\": 1}\n{\"b\": \"NA\", \"a\": 3, \"y\": 1}\n";
        let mean = ReadOptions { missing: Missing::Mean, ..ReadOptions::as_stored() };
        assert_eq!(rows_by(text, &mean).unwrap()[1].1, [(0, 2.0), (1, 4.0)]);
        let drop = ReadOptions { missing: Missing::Drop, ..ReadOptions::as_stored() };
        assert_eq!(rows_by(text, &drop).unwrap().len(), 1);
        let source = Source::bytes("t.jsonl", text.as_bytes().to_vec());
        let schema = Arc::new(crate::survey(&source, &mean).unwrap().schema);
        let how = ReadOptions { schema: Some(schema), label: LabelColumn::Guess, ..ReadOptions::as_stored() };
        assert_eq!(rows_by("{\"b\": 7}\n", &how).unwrap()[0].1, [(0, 2.0), (1, 7.0)]);
        // What was not learned from is left out.
        assert_eq!(rows_by("{\"b\": 7, \"c\": 1}\n", &how).unwrap()[0].1, [(0, 2.0), (1, 7.0)]);
    }
}
