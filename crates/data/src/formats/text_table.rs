//! A table of which one column is text: every record is a row, its other cells but the label are left out.

use super::text::{HEADER_LABELS, HEADER_TEXTS, Taker, number_of, utf8};
use crate::bytes::source::Input;
use crate::bytes::window::Window;
use crate::error::{DataError, ErrorKind, Mistake, quote};
use crate::options::{LabelColumn, ReadOptions, find_column};
use crate::rows::block::{Block, Stored};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// A table of which one column is text.
#[derive(Debug, Clone)]
pub(super) struct Table {
    pub(super) delimiter: u8,
    n_columns: usize,
    text_at: usize,
    pub(super) label_at: Option<usize>,
    pub(super) label_name: Option<String>,
}

/// Where a cell's content is, and whether it stands between quotes.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    pub(super) at: Range<usize>,
    quoted: bool,
}

impl Cell {
    fn content<'a>(&self, record: &'a [u8]) -> Result<Cow<'a, str>, Box<Mistake>> {
        let text = utf8(record, self.at.clone())?;
        Ok(if self.quoted && text.contains("\"\"") {
            Cow::Owned(text.replace("\"\"", "\""))
        } else {
            text.into()
        })
    }
}

/// Finds the cells of the first record. Returns its length with its line end, or nothing if it is not
/// whole: then the last cell begins inside the quotes that are open.
pub(super) fn scan_record(
    text: &[u8],
    delimiter: u8,
    cells: &mut Vec<Cell>,
) -> Result<Option<usize>, Box<Mistake>> {
    cells.clear();
    let mut at = 0;
    loop {
        let end = if text.get(at) == Some(&b'"') {
            let mut close = at + 1;
            loop {
                let Some(quote) = memchr::memchr(b'"', &text[close..]) else {
                    cells.push(Cell { at: at..text.len(), quoted: true });
                    return Ok(None);
                };
                close += quote;
                if text.get(close + 1) != Some(&b'"') {
                    break;
                }
                close += 2;
            }
            cells.push(Cell { at: at + 1..close, quoted: true });
            let rest = &text[close + 1..];
            close + 1 + usize::from(rest.starts_with(b"\r\n") || rest == b"\r")
        } else {
            let length = memchr::memchr2(delimiter, b'\n', &text[at..]).unwrap_or(text.len() - at);
            let cell = &text[at..at + length];
            let bare = if text.get(at + length) == Some(&delimiter) { cell } else { cell.trim_ascii_end() };
            cells.push(Cell { at: at..at + bare.len(), quoted: false });
            at + length
        };
        match text.get(end) {
            None => return Ok(Some(text.len())),
            Some(b'\n') => return Ok(Some(end + 1)),
            Some(&byte) if byte == delimiter => at = end + 1,
            Some(_) => {
                let message = "text follows a closing quote, expected a delimiter or the end of the line";
                return Err(Mistake::new(ErrorKind::Syntax, end..end + 1, message)
                    .with_help("a quote inside a quoted cell is written twice"));
            }
        }
    }
}

impl Table {
    /// What the first line says, and a window on the records.
    pub(super) fn open(
        input: Input,
        how: &ReadOptions,
        column: &str,
        label: Option<&str>,
    ) -> Result<(Self, Window), DataError> {
        let name = Arc::clone(input.name());
        let fail = |message: String| DataError::new(ErrorKind::Options, message).in_source(&name);
        let mut window = Window::new(input, how.limits.line_bytes)?;
        let first = window.lines()?;
        let line = first.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let count = |delimiter: &u8| memchr::memchr_iter(*delimiter, line).count();
        // Of equally frequent ones the last is taken: the comma.
        let usual = [b'|', b'\t', b';', b','].into_iter().max_by_key(count).unwrap_or(b',');
        let delimiter = how.delimiter.unwrap_or(usual);
        let mut cells = Vec::new();
        let n_bytes = scan_record(first, delimiter, &mut cells)
            .map_err(|mistake| mistake.locate(&name, first, 1, 1, false))?
            .ok_or_else(|| {
                fail("the first line opens a quote that is not closed, expected names".to_owned())
            })?;
        let names: Vec<String> = cells
            .iter()
            .map(|cell| String::from_utf8_lossy(&first[cell.at.clone()]).trim().to_owned())
            .collect();
        let n_lines = memchr::memchr_iter(b'\n', &first[..n_bytes]).count() as u64;
        let known = |name: &String| {
            let name = name.to_lowercase();
            HEADER_LABELS.contains(&name.as_str()) || HEADER_TEXTS.contains(&name.as_str())
        };
        let header = how.header.unwrap_or_else(|| names.iter().any(|name| name == column || known(name)));
        let names = if header { names } else { (1..=names.len()).map(|n| format!("column_{n}")).collect() };
        let find = |what: &str| {
            find_column(what, &names).ok_or_else(|| {
                let shown =
                    names.iter().take(8).map(|name| quote(name.as_bytes())).collect::<Vec<_>>().join(", ");
                fail(format!("there is no column {}, expected one of {shown}", quote(what.as_bytes())))
            })
        };
        let text_at = find(column)?;
        let label_at = match (&how.label, label) {
            (LabelColumn::Absent, _) => None,
            (LabelColumn::Named(what), None) => Some(find(what)?),
            (LabelColumn::Named(what), Some(_)) => find_column(what, &names),
            // Data to be labelled need not have the column.
            (LabelColumn::Guess, Some(label)) => names.iter().position(|name| name == label),
            (LabelColumn::Guess, None) => {
                let says_so = |name: &String| HEADER_LABELS.contains(&name.to_lowercase().as_str());
                let named = names.iter().position(says_so).filter(|place| *place != text_at);
                named.or_else(|| (0..names.len()).find(|place| *place != text_at))
            }
        };
        if label_at == Some(text_at) {
            return Err(fail("the text and the label should be different columns, but are one".to_owned()));
        }
        if label_at.is_none() && label.is_none() && how.label != LabelColumn::Absent {
            return Err(fail("the table has one column, expected a label and the text".to_owned()));
        }
        let label_name = label_at.map(|place| names[place].clone());
        if header {
            window.consume(n_bytes, n_lines);
        }
        Ok((Self { delimiter, n_columns: names.len(), text_at, label_at, label_name }, window))
    }

    pub(super) fn take<T: Stored>(
        &self,
        record: &[u8],
        cells: &[Cell],
        into: &mut Block,
        taker: &mut Taker<T>,
    ) -> Result<(), Box<Mistake>> {
        let n_cells = cells.len();
        if n_cells != self.n_columns {
            let message = format!("the row has {n_cells} cells, expected {}", self.n_columns);
            let at = cells.last().map_or(0..0, |cell| cell.at.clone());
            return Err(Mistake::new(ErrorKind::Shape, at, message));
        }
        let text = cells[self.text_at].content(record)?;
        let class = match self.label_at {
            Some(place) => {
                let label = cells[place].content(record)?;
                number_of(label.as_bytes(), &mut into.names).map_err(|bad| {
                    let at = cells[place].at.clone();
                    Mistake::new(ErrorKind::Label, at, bad.message(label.as_bytes()))
                })?
            }
            None => 0,
        };
        taker.take(&text, into)?;
        into.classes.push(class);
        Ok(())
    }
}
