//! CSV, TSV and their relatives: one record a line, cells between delimiters, names perhaps on top.
//!
//! Rules where the format leaves room: the delimiter (`,` tab `;` `|`, or single spaces between numbers) and the header are found out from
//! the first records unless given; blanks around unquoted cells do not count; blank lines are skipped; a
//! last column without name and content (a trailing delimiter) is left out. A first line
//! `n_rows,n_features,class,class` as scikit-learn writes it is recognised.
//!
//! What cells mean is the business of the interpreter of tables. The quick parser reads runs of numbers with the
//! wide registers and looks categories up; every row that is not as most are goes to the interpreter cell by cell.
//! Nothing here decides class numbers.

mod plan;
mod record;

use super::columns::{self, Columns};
use super::sense::is_missing;
use super::{Format, FormatInfo, Head, Reader, Sniff};
use crate::bytes::source::Input;
use crate::bytes::window::Window;
use crate::error::{DataError, ErrorKind, Mistake};
use crate::options::ReadOptions;
use crate::rows::block::{Block, MISSING, Stored};
use crate::rows::chunks::{Chunks, Parse, Stopped};
use crate::rows::label_table::LabelTable;
use crate::rows::schema::{Precision, Schema};
use crate::scan::cells::AT_ONCE;
use crate::scan::marks::{Digits, Marks, VIEW, Work, at_full_width, bits_at};
use crate::scan::number;
use plan::{Step, TablePlan};
use record::{Cell, Record, is_blank, open_quote, scan_record, sniff_delimiter, whole_lines};
use std::sync::Arc;

/// How many numbers are parsed before they are stored: few enough to stay in the nearest memory.
const ROOM: usize = 4 << 10;

/// Fewer cells than this are read one by one.
const WORTH_TOGETHER: usize = 3;

/// However often cells could not be read together, that is tried again after two to this power of them.
const MOST_FAILURES: u32 = 8;

/// Comma-separated values.
#[derive(Debug)]
pub(crate) struct Csv;

impl Format for Csv {
    fn info(&self) -> FormatInfo {
        FormatInfo {
            aliases: &["tsv"],
            extensions: &["csv", "tsv", "tab"],
            ..FormatInfo::new("csv", "a table as text, cells between commas, tabs, semicolons or bars")
        }
    }

    fn heeds(&self) -> &'static [&'static str] {
        &[
            "label",
            "weight",
            "ignore",
            "categorical",
            "missing",
            "hash-bits",
            "text",
            "cross",
            "shape",
            "unknown",
            "ngrams",
            "characters",
            "words",
            "header",
            "delimiter",
        ]
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
        let mut window = Window::new(input, how.limits.line_bytes)?;
        let plan = TablePlan::open(&mut window, extension.as_deref(), how)?;
        Ok(match plan.precision {
            Precision::Single => {
                Box::new(CsvReader { chunks: Chunks::new(window, Rows::<f32>::new(plan), how.threads) })
            }
            Precision::Double => {
                Box::new(CsvReader { chunks: Chunks::new(window, Rows::<f64>::new(plan), how.threads) })
            }
        })
    }
}

/// A reader of one table.
struct CsvReader<T: Stored> {
    chunks: Chunks<Rows<T>>,
}

impl<T: Stored> Reader for CsvReader<T> {
    fn schema(&self) -> &Schema {
        &self.chunks.parser().columns.plan.schema
    }

    fn read(&mut self, into: &mut Block) -> Result<bool, DataError> {
        self.chunks.read(into)
    }
}

/// A parser of records.
#[derive(Debug, Clone)]
struct Rows<T> {
    delimiter: u8,
    columns: Columns<T>,
    /// Empty if nothing can be read quickly.
    steps: Arc<[Step]>,
    marks: Marks,
    tail_marks: Marks,
    /// Room for the numbers of some rows.
    values: Vec<T>,
    /// The last rows of a text, and something after them.
    tail: Vec<u8>,
    cells: Vec<Cell>,
}

impl<T: Stored> Parse for Rows<T> {
    fn clear(&self, block: &mut Block) {
        self.columns.plan.clear::<T>(block);
    }

    fn parse(&mut self, text: &[u8], block: &mut Block) -> Result<(usize, u64), Stopped> {
        let is_quick = !self.steps.is_empty();
        let taken = if is_quick { self.parse_quickly(text, block) } else { self.parse_plainly(text, block) };
        taken.inspect(|_| self.columns.encode(block))
    }

    fn stands_alone(&self, text: &[u8]) -> bool {
        // Only quotes keep records together across lines.
        memchr::memchr(b'"', text).is_none()
    }

    fn unfinished(&mut self, text: &[u8]) -> Box<Mistake> {
        open_quote(match scan_record(text, self.delimiter, &mut self.cells) {
            Ok(Record::OpenQuote(at)) => at,
            _ => 0,
        })
    }
}

impl<T: Stored> Rows<T> {
    fn new(table: TablePlan) -> Self {
        let steps = table.steps().into();
        let (values, tail, cells) = (Vec::new(), Vec::new(), Vec::new());
        let (marks, tail_marks) = (Marks::default(), Marks::default());
        let TablePlan { delimiter, plan, .. } = table;
        Self { delimiter, columns: Columns::new(plan), steps, marks, tail_marks, values, tail, cells }
    }

    /// Adds the whole records of `text` to `block`, one after the other and without haste: the law that
    /// [`Self::parse_quickly`] keeps to. Returns how many bytes and line ends they are.
    fn parse_plainly(&mut self, text: &[u8], block: &mut Block) -> Result<(usize, u64), Stopped> {
        let (mut at, mut n_lines) = (0, 0);
        while at < text.len() {
            let next = self.parse_one(&text[at..], (n_lines, at), block);
            match next.map_err(|mistake| Stopped { mistake, line_idx: n_lines, start: at })? {
                Some((n_bytes, n_more)) => {
                    at += n_bytes;
                    n_lines += n_more;
                }
                None => break,
            }
        }
        Ok((at, n_lines))
    }

    /// The same for tables of numbers and categories: rows that are as most rows are do not pass through cells.
    fn parse_quickly(&mut self, text: &[u8], block: &mut Block) -> Result<(usize, u64), Stopped> {
        let (plan, steps) = (Arc::clone(&self.columns.plan), Arc::clone(&self.steps));
        self.values.resize(ROOM.max(plan.n_numbers) + AT_ONCE, T::default());
        // Taken out for the time being, so that odd records can be parsed meanwhile.
        let mut memory = (std::mem::take(&mut self.marks), std::mem::take(&mut self.tail_marks));
        let outcome = self.parse_marked(text, &plan, &steps, &mut memory, block);
        (self.marks, self.tail_marks) = memory;
        outcome
    }

    fn parse_marked(
        &mut self,
        text: &[u8],
        plan: &columns::Plan,
        steps: &[Step],
        (marks, tail_marks): &mut (Marks, Marks),
        block: &mut Block,
    ) -> Result<(usize, u64), Stopped> {
        let n_room = self.values.len() - AT_ONCE;
        let bits = marks.find_bits(text);
        let mut tail_bits: &[u8] = &[];
        let (mut at, mut n_lines) = (0, 0);
        let mut is_tail = false;
        let mut n_failures = 0;
        while at < text.len() {
            let Some(matrix) = T::dense(&mut block.matrix) else { break };
            let mut quick = Quick {
                text: if is_tail { &self.tail } else { text },
                bits: if is_tail { tail_bits } else { bits },
                start: if is_tail { 0 } else { at },
                end: if is_tail { text.len() - at } else { text.len() },
                delimiter: self.delimiter,
                steps,
                plan,
                n_alone: 0,
                n_failures,
                values: &mut self.values,
                width: plan.n_numbers,
                n_values: 0,
                classes: &mut block.classes,
                names: &mut block.names,
                categories: &mut block.cells.categories,
                codes: &mut block.cells.codes,
            };
            n_lines += at_full_width(&mut quick);
            let n_values = quick.n_values;
            n_failures = quick.n_failures;
            at = if is_tail { at + quick.start } else { quick.start };
            matrix.values.extend_from_slice(&self.values[..n_values]);
            if at >= text.len() {
                break;
            }
            if n_values + plan.n_numbers > n_room {
                // There was no room for the row.
                is_tail = false;
                continue;
            }
            let is_last = || {
                let newline = memchr::memchr(b'\n', &text[at..]);
                newline.is_none_or(|newline| at + newline + VIEW >= text.len())
            };
            if !is_tail && is_last() {
                // The quick parser looks farther than the text goes, so that the last rows need one that is
                // longer.
                self.tail.clear();
                self.tail.extend_from_slice(&text[at..]);
                self.tail.extend_from_slice(&[0; VIEW]);
                tail_bits = tail_marks.find_bits(&self.tail);
                is_tail = true;
                continue;
            }
            is_tail = false;
            match self.parse_one(&text[at..], (n_lines, at), block) {
                Ok(Some((n_bytes, n_more))) => {
                    at += n_bytes;
                    n_lines += n_more;
                }
                Ok(None) => break,
                Err(mistake) => return Err(Stopped { mistake, line_idx: n_lines, start: at }),
            }
        }
        Ok((at, n_lines))
    }

    /// Adds the first record of `text` to `block`. Returns how many bytes and line ends it is, or nothing
    /// if it goes on after the text. It begins `at` a byte of the chunk, after a number of lines.
    fn parse_one(
        &mut self,
        text: &[u8],
        (n_lines, at): (u64, usize),
        block: &mut Block,
    ) -> Result<Option<(usize, u64)>, Box<Mistake>> {
        let (n_bytes, outcome) = match scan_record(text, self.delimiter, &mut self.cells) {
            Ok(Record::OpenQuote(_)) => return Ok(None),
            Ok(Record::Whole(n_bytes)) => {
                let record = &text[..n_bytes];
                let is_row = !is_blank(record, &self.cells);
                (n_bytes, if is_row { self.parse_record(record, block) } else { Ok(()) })
            }
            Err(mistake) => {
                (memchr::memchr(b'\n', text).map_or(text.len(), |newline| newline + 1), Err(mistake))
            }
        };
        if let Err(mistake) = outcome {
            if self.columns.plan.refuses(&mistake) {
                return Err(mistake);
            }
            block.skip_record(mistake, n_lines, at);
        }
        Ok(Some((n_bytes, memchr::memchr_iter(b'\n', &text[..n_bytes]).count() as u64)))
    }

    /// Hands the cells of one record to the interpreter.
    fn parse_record(&mut self, text: &[u8], block: &mut Block) -> Result<(), Box<Mistake>> {
        let (n_found, n_expected) = (self.cells.len(), self.columns.plan.uses.len());
        if n_found != n_expected {
            let at = match self.cells.get(n_expected) {
                Some(extra) => extra.at.clone(),
                None => self.cells.last().map_or(0..0, |last| last.at.end..last.at.end),
            };
            let message = format!("the row has {n_found} cells, expected {n_expected}");
            return Err(Mistake::new(ErrorKind::Shape, at, message));
        }
        self.columns.begin_row();
        for (place, cell) in self.cells.iter().enumerate() {
            let content = cell.content(text);
            self.columns.cell(place, columns::Cell::Text(&content), block).map_err(|mut mistake| {
                mistake.at = cell.at.clone();
                mistake
            })?;
        }
        self.columns.end_row(block)
    }
}

/// The quick parser of rows that are as most rows are: plain numbers without blanks, no quotes.
struct Quick<'a, T> {
    text: &'a [u8],
    /// One bit for each byte of the text, set if it is no digit.
    bits: &'a [u8],
    /// The row at hand.
    start: usize,
    /// Where the last row ends; the text may go on, with anything.
    end: usize,
    delimiter: u8,
    steps: &'a [Step],
    plan: &'a columns::Plan,
    /// How many cells are read one by one before several at once are tried again, and how often that failed.
    n_alone: u32,
    n_failures: u32,
    /// Room for one row at least and as many numbers as are read at once, used again and again.
    values: &'a mut [T],
    width: usize,
    n_values: usize,
    classes: &'a mut Vec<u32>,
    names: &'a mut LabelTable,
    /// The values of each column of categories, and those of the rows so far.
    categories: &'a mut [LabelTable],
    codes: &'a mut Vec<u32>,
}

impl<T: Stored> Work for &mut Quick<'_, T> {
    /// How many rows were read before one that is not as most rows are, or has no room.
    type Output = u64;

    #[inline(always)]
    fn run(self, digits: impl Digits) -> u64 {
        let mut n_lines = 0;
        while self.start < self.end {
            let n_codes = self.codes.len();
            let Some((class, next)) = self.row(digits) else {
                self.codes.truncate(n_codes);
                break;
            };
            self.classes.push(class);
            self.start = next;
            n_lines += 1;
        }
        n_lines
    }
}

impl<T: Stored> Quick<'_, T> {
    /// Adds the numbers of the row at hand. Returns its label's number and the place after the line end; or
    /// nothing, and then it reports nothing and adds nothing.
    #[inline(always)]
    fn row<D: Digits>(&mut self, digits: D) -> Option<(u32, usize)> {
        let (text, delimiter) = (self.text, self.delimiter);
        let (mut at, mut class) = (self.start, 0);
        let mut new_label = None;
        if self.n_values + self.width + AT_ONCE > self.values.len() {
            return None;
        }
        let mut n_values = self.n_values;
        let mut end_byte = delimiter;
        for (step_idx, &step) in self.steps.iter().enumerate() {
            let Step::Numbers(n_numbers) = step else {
                // Only the last cell ends otherwise.
                if end_byte != delimiter {
                    return None;
                }
                let end = cell_end(text, at, delimiter)?;
                match step {
                    Step::Label => match self.names.known(&text[at..end]) {
                        Some(known) => class = known,
                        None => new_label = Some(at..end),
                    },
                    Step::Category { place, slot } => {
                        let values = &mut self.categories[slot];
                        let known = values.known(&text[at..end]);
                        let cell = &text[at..end];
                        let code = known.or_else(|| number_category(self.plan, place, cell, values))?;
                        self.codes.push(code);
                    }
                    Step::Ignore | Step::Numbers(_) => {}
                }
                end_byte = text[end];
                at = end + 1;
                continue;
            };
            let behind_last = n_values + n_numbers;
            // What ends a row is not looked for among many cells.
            let behind_delimited = behind_last - usize::from(step_idx + 1 == self.steps.len());
            while n_values < behind_last {
                if end_byte != delimiter {
                    return None;
                }
                if D::READS_EIGHT && n_values + WORTH_TOGETHER <= behind_delimited {
                    if self.n_alone == 0 {
                        let slots = &mut self.values[n_values..behind_delimited + AT_ONCE];
                        let n_read = digits.cells(text, &mut at, delimiter, slots);
                        n_values += n_read;
                        if n_values == behind_last {
                            break;
                        }
                        // Whatever keeps them from being read at once may well go on; the longer it does, the less
                        // often is it tried.
                        self.n_failures =
                            if n_read > 0 { 0 } else { (self.n_failures + 1).min(MOST_FAILURES) };
                        self.n_alone = 1 << self.n_failures;
                    }
                    self.n_alone -= 1;
                }
                let (number, end) = self.number(at, digits)?;
                *self.values.get_mut(n_values)? = number;
                n_values += 1;
                end_byte = text[end];
                at = end + 1;
            }
        }
        let next = match end_byte {
            b'\n' => at,
            b'\r' if text.get(at) == Some(&b'\n') => at + 1,
            _ => return None,
        };
        if let Some(label) = new_label {
            class = number_new(&text[label], self.names)?;
        }
        self.n_values = n_values;
        Some((class, next))
    }

    /// The number of the cell at `at`, and where it ends.
    #[inline(always)]
    fn number(&self, at: usize, digits: impl Digits) -> Option<(T, usize)> {
        let (text, delimiter) = (self.text, self.delimiter);
        let view: &[u8; VIEW] = text.get(at..)?.first_chunk()?;
        // As many numbers are negative as not: no branch could be foreseen.
        let is_negative = u32::from(view[0] == b'-');
        let first = is_negative as usize;
        let marks = bits_at(self.bits, at)? & !u64::from(is_negative);
        let point = marks.trailing_zeros() as usize;
        let second = (marks & marks.wrapping_sub(1)).trailing_zeros() as usize;
        let (n_whole, n_parts) = (point.wrapping_sub(first), second.wrapping_sub(point + 1));
        // An empty side wraps round and is too long, too.
        let is_short = n_whole.wrapping_sub(1) < 8;
        // Whole numbers have no negative zero.
        let sign = u64::from(is_negative) << 63;
        let signed = |magnitude: f64| f64::from_bits(magnitude.to_bits() | sign);
        Some(
            if is_short
                && view[point & 31] == b'.'
                && n_parts.wrapping_sub(1) < 8
                && is_end(view[second & 31], delimiter)
                && let [whole, parts] = digits.two_numbers(
                    number::to_end(number::eight_of(view, first), n_whole),
                    number::to_end(number::eight_of(view, point + 1), n_parts),
                )
                && let Some(magnitude) = number::with_parts(whole, parts, n_parts)
            {
                // By far the most numbers: `0.1234567`. None with so few digits is too large.
                (T::nearest(signed(magnitude)), at + second)
            } else if is_short && is_end(view[point & 31], delimiter) {
                // Counts: `17`.
                let whole = number::to_end(number::eight_of(view, first), n_whole);
                (T::nearest(signed(f64::from(digits.two_numbers(whole, 0)[0]))), at + point)
            } else if is_end(view[0], delimiter) && self.plan.fills() {
                (T::nearest(f64::NAN), at)
            } else {
                let end = cell_end(text, at, delimiter)?;
                let (magnitude, end) = odd_number(text, at + first, end)?;
                (T::narrow(signed(magnitude))?, end)
            },
        )
    }
}

/// The number of a label that was not met before. In a block of a few wide rows, most labels are such.
#[inline(never)]
fn number_new(label: &[u8], names: &mut LabelTable) -> Option<u32> {
    let is_plain = label.trim_ascii().len() == label.len() && !is_missing(label);
    if is_plain { names.number(label).ok() } else { None }
}

/// The number of a category that was not met before in its block.
#[inline(never)]
fn number_category(plan: &columns::Plan, place: usize, cell: &[u8], values: &mut LabelTable) -> Option<u32> {
    if is_missing(cell) {
        return plan.fills().then_some(MISSING);
    }
    if cell.trim_ascii().len() == cell.len() { plan.new_category(place, cell, values) } else { None }
}

/// Whether a cell may end before `byte`.
#[inline(always)]
fn is_end(byte: u8, delimiter: u8) -> bool {
    byte == delimiter || byte == b'\n' || byte == b'\r'
}

/// Where the cell ends that begins at `at`; nothing if there are quotes in it.
#[inline(always)]
fn cell_end(text: &[u8], at: usize, delimiter: u8) -> Option<usize> {
    let length = text.get(at..)?.iter().position(|&byte| is_end(byte, delimiter) || byte == b'"')?;
    (text[at + length] != b'"').then_some(at + length)
}

/// The number of a cell that is not simply digits, a point and digits, and where it ends. It has no sign, or
/// none any more.
#[inline(never)]
fn odd_number(text: &[u8], first: usize, end: usize) -> Option<(f64, usize)> {
    let is_signed = matches!(text[first], b'-' | b'+');
    number::quick(text, first, end).filter(|_| !is_signed).map(|magnitude| (magnitude, end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::source::Source;
    use crate::load::{LabelledRow, load_source, load_with_schema, read_rows};
    use crate::options::{LabelColumn, OnBadRow, Unknown};
    use crate::rows::schema::Missing;
    use rosenblatt_core::Random;

    fn source(text: &str) -> Source {
        Source::bytes("t.csv", text.as_bytes().to_vec())
    }

    fn rows(text: &str, how: &ReadOptions) -> Result<Vec<LabelledRow>, DataError> {
        read_rows(&source(text), how)
    }

    fn plain(text: &str) -> Vec<(String, Vec<f64>)> {
        let rows = rows(text, &ReadOptions::as_stored()).unwrap();
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
            let error = rows(text, &ReadOptions::as_stored()).unwrap_err();
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
            let how = ReadOptions { format: Some("csv".into()), ..ReadOptions::as_stored() };
            let error = rows(text, &how).unwrap_err();
            assert_eq!(error.kind(), kind, "{text}: {error}");
            assert!(error.message().contains(words), "{text}: {error}");
        }
    }

    const PENGUINS: &str = "species,island,mass,sex\nA,T,10,m\nA,T,NA,f\nG,B,30,\nG,B,20,m\n";

    fn penguins(missing: Missing) -> ReadOptions {
        ReadOptions { label: LabelColumn::Named("species".into()), missing, ..ReadOptions::as_stored() }
    }

    #[test]
    fn categories_that_differ_in_spaces_are_one_and_said_to_be() {
        let how = ReadOptions { label: LabelColumn::Named("y".into()), ..ReadOptions::as_stored() };
        let spaced = |text: &str| load_with_schema(&source(text), &how).unwrap();
        let (data, schema) = spaced("c,y\nred,1\n\" red\",1\n\"blue \",0\nblue,0\n red,1\n");
        assert_eq!(data.feature_names().unwrap(), ["c=red"]);
        let noted = |schema: &crate::Schema| schema.notes.join("\n").matches("differ in spaces").count();
        assert_eq!(noted(&schema), 2, "{:?}", schema.notes);
        assert!(
            schema.notes.iter().any(|note| note.contains("`red` and ` red` of `c`")),
            "{:?}",
            schema.notes
        );
        // Where every cell has a space in front, nothing is merged, and nothing is to be known.
        assert_eq!(noted(&spaced("c, y\n red, 1\n blue, 0\n red, 1\n").1), 0);
    }

    #[test]
    fn categories_and_missing_values() {
        let error = rows(PENGUINS, &penguins(Missing::Error)).unwrap_err();
        assert_eq!((error.kind(), error.position().line), (ErrorKind::Missing, Some(3)));
        let mean = load_source(&source(PENGUINS), &penguins(Missing::Mean)).unwrap();
        // One feature separates two values; a missing one is the most frequent.
        assert_eq!(mean.feature_names().unwrap(), ["island=T", "mass", "sex=m"]);
        let entries = |label: &str, row: &[f64]| {
            let stored = row.iter().copied().enumerate().filter(|(_, value)| *value != 0.0);
            (label.to_owned(), stored.collect::<Vec<_>>())
        };
        let stored = |missing| {
            let rows = rows(PENGUINS, &penguins(missing)).unwrap().into_iter();
            let stored =
                |row: Vec<(usize, f64)>| row.into_iter().filter(|(_, value)| *value != 0.0).collect();
            rows.map(|(label, row)| (label, stored(row))).collect::<Vec<(String, Vec<(usize, f64)>)>>()
        };
        assert_eq!(
            stored(Missing::Mean),
            [
                entries("A", &[1.0, 10.0, 1.0]),
                entries("A", &[1.0, 20.0, 0.0]),
                entries("G", &[0.0, 30.0, 1.0]),
                entries("G", &[0.0, 20.0, 1.0]),
            ]
        );
        assert_eq!(stored(Missing::Median), stored(Missing::Mean));
        let notes = |missing| load_with_schema(&source(PENGUINS), &penguins(missing)).unwrap().1.notes;
        let note = "2 of 12 cells were missing, and filled in: median".to_owned();
        assert!(notes(Missing::Median).contains(&note), "{:?}", notes(Missing::Median));
        assert!(!notes(Missing::Drop).iter().any(|note| note.contains("filled in")));
        assert_eq!(stored(Missing::MostFrequent)[1], entries("A", &[1.0, 10.0, 0.0]));
        // Neither of two values is half of both.
        assert_eq!(stored(Missing::Zero)[1], entries("A", &[1.0, 0.0, 0.0]));
        assert_eq!(stored(Missing::Zero)[2], entries("G", &[0.0, 30.0, 0.5]));
        // Dropped rows leave no categories: sex=f occurs only in one of them.
        let dropped = load_source(&source(PENGUINS), &penguins(Missing::Drop)).unwrap();
        assert_eq!(dropped.feature_names().unwrap(), ["island=T", "mass", "sex=m"]);
        assert_eq!(stored(Missing::Drop), [entries("A", &[1.0, 10.0, 1.0]), entries("G", &[0.0, 20.0, 1.0])]);
        let hashed = ReadOptions { hash_bits: Some(6), ..penguins(Missing::Zero) };
        let dataset = load_source(&source(PENGUINS), &hashed).unwrap();
        assert_eq!(dataset.width(), 1 + 64);
    }

    #[test]
    fn a_schema_is_kept_to_by_name() {
        let trained = "a,b,c,label\n1,u,3,x\n4,v,6,y\n";
        let schema = crate::load::survey(&source(trained), &ReadOptions::as_stored()).unwrap().schema;
        let how = ReadOptions::as_stored().with_schema(Arc::new(schema));
        let first = rows(trained, &how).unwrap();
        assert_eq!(rows("label,c,b,a\nx,3,u,1\ny,6,v,4\n", &how).unwrap(), first);
        let unlabelled = rows("c,b,a\n3,u,1\n6,v,4\n", &how).unwrap();
        assert_eq!(unlabelled[1].1, first[1].1);
        let strict = ReadOptions { unknown: Unknown::Error, ..how.clone() };
        for (text, words) in [
            ("a,b,label\n1,u,x\n", "column `c` is missing"),
            ("a,b,c,label\n1,w,3,x\n", "category that is known, but holds `w`"),
            ("1,u,3\n4,v,6\n", "the table has no header, expected a first line with the names"),
        ] {
            let error = rows(text, &strict).unwrap_err();
            assert!(error.message().contains(words), "{error}");
        }
        // What is new is left out and reported.
        let new = "a,b,c,d,label\n1,w,3,4,x\n4,v,6,5,y\n";
        let (data, schema) = crate::load::load_with_schema(&source(new), &how).unwrap();
        assert_eq!(data.len(), 2);
        let notes = schema.notes.join("; ");
        assert!(notes.contains("left out, as they were not learned from: `d`"), "{notes}");
        assert!(
            notes.contains("1 cells hold categories that were not learned from, for instance `b=w`"),
            "{notes}"
        );
        assert_eq!(rows(new, &how).unwrap()[0].1, [(0, 1.0), (1, 0.5), (2, 3.0)]);
    }

    /// Parses a table in both ways, which must agree in everything; whether it could be read.
    fn both_ways(text: &[u8], round: u32) -> Option<bool> {
        let on_bad_row = if round % 8 < 4 { OnBadRow::Error } else { OnBadRow::Skip };
        let missing = [Missing::Error, Missing::Zero, Missing::Drop, Missing::Mean][round as usize % 4];
        let how = ReadOptions { missing, on_bad_row, ..ReadOptions::as_stored() };
        let shown = String::from_utf8_lossy(text).into_owned();
        let input = Source::bytes("t.csv", text).parts()[0].open().unwrap();
        let mut window = Window::new(input, 1 << 20).unwrap();
        let plan = TablePlan::open(&mut window, None, &how)
            .ok()
            .filter(|plan| plan.precision == Precision::Single)?;
        let mut rows = Rows::<f32>::new(plan);
        let (mut quick, mut plain) = (Block::default(), Block::default());
        rows.clear(&mut quick);
        rows.clear(&mut plain);
        let text = window.lines().unwrap();
        let outcome_of =
            |outcome: Result<(usize, u64), Stopped>| outcome.map_err(|stopped| format!("{stopped:?}"));
        let expected = outcome_of(rows.parse_plainly(text, &mut plain));
        if rows.steps.is_empty() {
            return None;
        }
        assert_eq!(outcome_of(rows.parse_quickly(text, &mut quick)), expected, "{shown}");
        // Zeros have signs, too, which only their words tell.
        assert_eq!(format!("{:?}", quick.matrix), format!("{:?}", plain.matrix), "{shown}");
        assert_eq!(quick.classes, plain.classes, "{shown}");
        assert_eq!(quick.gaps(), plain.gaps(), "{shown}");
        assert_eq!(quick.names.names(), plain.names.names(), "{shown}");
        assert_eq!(spelled(&quick), spelled(&plain), "{shown}");
        Some(expected.is_ok())
    }

    /// The categories of all rows by name: their numbers mean nothing.
    fn spelled(block: &Block) -> Vec<Option<&str>> {
        let columns = block.cells.categories.iter().cycle();
        let cells = block.cells.codes.iter().zip(columns);
        cells.map(|(&code, column)| column.names().get(code as usize).map(String::as_str)).collect()
    }

    /// Wide tables of numbers that are alike, but for a few, so that many are read at once.
    #[test]
    fn many_cells_at_once_are_what_they_are_one_by_one() {
        let mut random = Random::for_purpose(9, "cells");
        let mut n_good = 0;
        for round in 0..4_000_u32 {
            let (n_columns, n_digits) = (2 + random.below(30), random.below(10) as usize);
            let names: Vec<String> = (0..n_columns).map(|column| format!("c{column}")).collect();
            let mut text = format!("{},label\n", names.join(","));
            for _ in 0..=random.below(4) {
                for _ in 0..n_columns {
                    let size = 10_f64.powi(random.below(9) as i32);
                    let number = (random.below(2_000_000) as f64 / 1e6 - 1.0) * size;
                    let cell = match random.below(60) {
                        0 => format!("{number:e}"),
                        1 => "NA".to_owned(),
                        2 => format!("{number:.15}"),
                        3 => format!("{number:.0}"),
                        4 => [" 1.5", "-", "-.5", "5.", "--1.5", "1.5.5", "+2.5", "\"2.5\"", "-0.0", "1-2.5"]
                            [random.below(10) as usize]
                            .to_owned(),
                        _ => format!("{number:.n_digits$}"),
                    };
                    text.push_str(&cell);
                    text.push(',');
                }
                text.push_str(["a\n", "b\n", "-1\n", "a\r\n"][random.below(4) as usize]);
            }
            n_good += u32::from(both_ways(text.as_bytes(), round) == Some(true));
        }
        assert!(n_good > 1000, "{n_good}");
    }

    #[test]
    fn the_quick_parser_is_the_plain_one_and_threads_change_nothing() {
        let mut state = 5_u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 20) % below.max(1)
        };
        let mut n_good = 0;
        for round in 0..40_000_u32 {
            let mut text = b"a,b,label,k,c\n1,2,x,u,3\n".to_vec();
            for _ in 0..random(6) {
                for column in 0..5 {
                    let number = random(100_000) as f64 / 1000.0 - 50.0;
                    let cell = match random(14) {
                        _ if column == 3 => ["u", "v", "w w", "1.0", " u", "\"v\"", "1", "", "?"]
                            [random(if round % 3 == 0 { 9 } else { 7 }) as usize]
                            .to_owned(),
                        _ if column == 2 => ["x", "y", "1", "", "\"x\"", "NA"]
                            [random(5) as usize + usize::from(round % 50 == 0)]
                        .to_owned(),
                        0 => format!("{}", random(1000)),
                        1 => format!("{number:e}"),
                        2 => format!("{:.17}", number / 7.0),
                        3 => format!("{:.12}", number / 7.0),
                        4 if round % 3 == 0 => {
                            ["", "NA", "\"5\"", " 7 ", "+3", "--3", "-+3", "-", "1e39", "1e400", "\"5\n\""]
                                [random(11) as usize]
                                .to_owned()
                        }
                        5 => format!("-{}", random(20)),
                        _ => format!("{number}"),
                    };
                    text.extend_from_slice(cell.as_bytes());
                    text.extend_from_slice(
                        [",", ",", ",", ",", ["\n", "\n", "\r\n", "\n\n"][random(4) as usize]][column]
                            .as_bytes(),
                    );
                }
            }
            if random(4) == 0 {
                let at = 24 + random(text.len() as u64 - 23) as usize;
                match random(3) {
                    0 => text.truncate(at),
                    1 if at < text.len() => text[at] = random(256) as u8,
                    _ => text.insert(at, b" ,.-+e\t\r\n09;\"x"[random(14) as usize]),
                }
            }
            n_good += u32::from(both_ways(&text, round) == Some(true));
        }
        assert!(n_good > 10_000, "{n_good}");

        let line =
            |row: u32| format!("{},-{}.5,{}\n", row as f32 / 7.0, row, ["x", "y", "z"][row as usize % 3]);
        let text = "a,b,label\n".to_owned() + &(0..80_000).map(line).collect::<Vec<_>>().concat();
        let quoted = text.replace("\n60000", "\n\"60000\"") + "5,\"6\n\",z\n";
        let wrong = quoted.clone() + "7,8\n";
        let how = |threads| ReadOptions { threads, ..ReadOptions::as_stored() };
        for text in [&text, &quoted] {
            let expected = load_source(&source(text), &how(1)).unwrap();
            for threads in [0, 2, 4] {
                assert_eq!(load_source(&source(text), &how(threads)).unwrap(), expected);
            }
        }
        let expected = load_source(&source(&wrong), &how(1)).unwrap_err();
        assert_eq!((expected.position().line, expected.position().row), (Some(80_004), Some(80_002)));
        assert_eq!(load_source(&source(&wrong), &how(2)).unwrap_err().report(), expected.report());
    }

    #[test]
    fn weights_ignored_columns_labels_by_number_and_long_quotes() {
        let how = ReadOptions {
            weight: Some("w".into()),
            ignore: vec!["id".into()],
            label: LabelColumn::Named("2".into()),
            ..ReadOptions::as_stored()
        };
        let dataset = load_source(&source("id,kind,w,a\n7,x,0.5,1\n8,y,2,3\n"), &how).unwrap();
        assert_eq!((dataset.width(), dataset.weights()), (1, Some(&[0.5, 2.0][..])));
        assert_eq!(dataset.labels().names(), ["x", "y"]);
        let long = "q\n".repeat(400_000);
        let text = format!("a,note,label\n1,\"{long}\",x\n2,\"b\",y\n");
        let how = ReadOptions { ignore: vec!["note".into()], ..ReadOptions::as_stored() };
        assert_eq!(load_source(&source(&text), &how).unwrap().len(), 2);
        let error =
            load_source(&source("a,l\n1,x\n"), &ReadOptions { label: LabelColumn::Named("z".into()), ..how });
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Options);
    }
}
