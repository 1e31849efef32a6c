//! One record of a table: where its cells are, and what stands between them.
//!
//! Records may span lines, inside quotes. Whether a cell makes sense in its column is not known here.

use crate::error::{ErrorKind, Mistake, quote};
use std::borrow::Cow;
use std::ops::Range;

/// What may stand between cells, in the order of preference.
const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];

pub(super) fn whole_lines(bytes: &[u8], is_all: bool) -> &[u8] {
    match memchr::memrchr(b'\n', bytes) {
        Some(newline) if !is_all => &bytes[..=newline],
        _ => bytes,
    }
}

/// The delimiter, and whether all records agree on how often it occurs. A space only where nothing else is found.
pub(super) fn sniff_delimiter(text: &[u8], extension: Option<&str>) -> Option<(u8, bool)> {
    let mut best: Option<((bool, bool, usize), u8)> = None;
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
        // `sum;label` above `$1,000,000;yes` is parted by what both lines have.
        let rank = (agree, first == last, n_cells);
        if n_cells > 0 && best.is_none_or(|(other, _)| rank > other) {
            // The preferred delimiter stands if it does the job at all, and not only below the names.
            if agree && delimiter == preferred && first > 0 {
                return Some((delimiter, true));
            }
            best = Some((rank, delimiter));
        }
    }
    best.map(|((agree, ..), delimiter)| (delimiter, agree))
        .or_else(|| is_spaced(text).then_some((b' ', true)))
}

/// Whether single spaces stand between cells. They stand between words as well, so every line must have the same number of
/// cells, and at least half of those below the names must be numbers.
fn is_spaced(text: &[u8]) -> bool {
    let is_number = |cell: &&[u8]| std::str::from_utf8(cell).is_ok_and(|cell| cell.parse::<f64>().is_ok());
    let lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end).filter(|line| !line.is_empty());
    let mut counts = lines.take(50).map(|line| {
        let cells = line.split(|&byte| byte == b' ');
        let is_whole = cells.clone().all(|cell| !cell.is_empty());
        (cells.clone().count(), is_whole, 2 * cells.clone().filter(is_number).count() >= cells.count())
    });
    let Some((width, is_first_whole, has_numbers)) = counts.next() else { return false };
    let (mut n_more, mut agree) = (0, width > 1 && is_first_whole);
    for (count, is_whole, is_mostly_numbers) in counts {
        n_more += 1;
        agree &= count == width && is_whole && is_mostly_numbers;
    }
    agree && (n_more > 0 || has_numbers)
}

/// Where a cell's content is within the text of its record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) at: Range<usize>,
    /// The content stands between quotes.
    pub(super) quoted: bool,
    /// The content holds doubled quotes, which stand for one.
    pub(super) doubled: bool,
}

/// The outcome of looking for one record.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Record {
    /// The record is this long, with its line end.
    Whole(usize),
    /// The text ends inside the quotes that open here.
    OpenQuote(usize),
}

/// Finds the cells of the first record of `text`.
pub(super) fn scan_record(text: &[u8], delimiter: u8, cells: &mut Vec<Cell>) -> Result<Record, Box<Mistake>> {
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

pub(super) fn is_blank(text: &[u8], cells: &[Cell]) -> bool {
    matches!(cells, [Cell { at, quoted: false, .. }] if text[at.clone()].is_empty())
}

impl Cell {
    /// The content, as it is meant.
    pub(super) fn content<'a>(&self, text: &'a [u8]) -> Cow<'a, [u8]> {
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

pub(super) fn open_quote(at: usize) -> Box<Mistake> {
    Mistake::new(ErrorKind::Syntax, at..at + 1, "the quote that opens here is never closed, expected a `\"`")
        .with_help("a quote inside a quoted cell is written twice")
}
