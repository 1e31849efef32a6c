//! libsvm (svmlight) text: `label index:value index:value # comment`.
//!
//! Rules where the format leaves room: indices start at 1 (`zero_based` says otherwise, and index 0
//! without it is an error); unsorted indices are sorted; an index that occurs twice in a row is an error
//! (when features are hashed, equal slots are added); `qid:n` before the features is accepted and
//! ignored; blank lines and `#` comments are skipped; a label is a finite number or a word. Several
//! labels in a row (`1,2`) are refused. Stored zeros are left out; scores do not depend on them.
//!
//! Parsing is one pure function from whole lines to a block ([`parse_lines`]), without I/O and without
//! state from one block to the next. It comes twice: [`parse_line`] is the plain one and the law; a quick
//! one ([`Quick`]) reads what most lines are and leaves every line it does not like, wrong ones
//! included, to the plain one. Nothing here decides class numbers or the final width.

use super::{Format, FormatInfo, Head, Reader, Sniff};
use crate::bytes::source::Input;
use crate::bytes::window::Window;
use crate::error::{DataError, ErrorKind, Mistake, quote};
use crate::hash::hash_slot;
use crate::options::{OnBadRow, ReadOptions};
use crate::rows::block::{Block, Stored, merge_row, sort_row};
use crate::rows::chunks::{Chunks, Parse, Stopped};
use crate::rows::dataset::SparseMatrix;
use crate::rows::label_table::{BadLabel, LabelTable};
use crate::rows::schema::{Layout, Precision, Schema};
use crate::scan::marks::{Digits, Marks, Shape, VIEW, Way, Work, bits_at};
use crate::scan::number;
use crate::scan::pairs::{AT_ONCE, Pairs};
use crate::scan::tokens::Tokens;

/// How many lines at the head are looked at to recognise the format.
const SNIFF_LINES: usize = 20;

/// How many entries are parsed before they are stored: few enough to stay in the nearest memory.
const ROOM: usize = 2 << 10;

/// How many bytes are marked at once: few enough that the marks stay in a near memory, and that they are little of
/// what a reader needs.
const PIECE: usize = 32 << 10;

/// No entry is shorter than `1:1 `.
const SHORTEST: usize = 4;

/// libsvm text.
#[derive(Debug)]
pub(crate) struct Libsvm;

impl Format for Libsvm {
    fn info(&self) -> FormatInfo {
        FormatInfo {
            aliases: &["svmlight", "svm"],
            extensions: &["libsvm", "svm", "svmlight"],
            like_one_column: true,
            ..FormatInfo::new("libsvm", "sparse rows as text, `label index:value …`")
        }
    }

    fn heeds(&self) -> &'static [&'static str] {
        &["ignore", "zero-based", "hash-bits"]
    }

    fn numbers_features(&self) -> bool {
        true
    }

    fn sniff(&self, head: &Head<'_>) -> Sniff {
        let mut seen = Sniff::No;
        for line in
            head.lines().map(before_comment).filter(|line| !line.trim_ascii().is_empty()).take(SNIFF_LINES)
        {
            let mut tokens = Tokens { line, at: 0 };
            let label_is_plain = tokens.next().is_some_and(|label| {
                let label = &line[label];
                !label.contains(&b':') && label.iter().all(u8::is_ascii_graphic)
            });
            let mut n_features = 0;
            let all_features = tokens.by_ref().all(|token| {
                n_features += 1;
                is_feature(&line[token])
            });
            if label_is_plain && all_features && n_features > 0 {
                return Sniff::Likely;
            }
            if label_is_plain && n_features == 0 && number::parse(line.trim_ascii()).is_ok() {
                seen = Sniff::Maybe;
            }
        }
        seen
    }

    fn open(&self, input: Input, how: &ReadOptions) -> Result<Box<dyn Reader>, DataError> {
        let rules = Rules {
            first_index: u64::from(!how.zero_based),
            hash_bits: how.hash_bits,
            max_features: how.limits.features as u64,
            on_bad_row: how.on_bad_row,
        };
        let window = Window::new(input, how.limits.line_bytes)?;
        let schema = Schema { layout: Layout::Sparse, hash_bits: how.hash_bits, ..Schema::default() };
        Ok(match how.precision {
            Precision::Single => {
                let chunks = Chunks::new(window, Lines::<f32>::new(rules), how.threads);
                Box::new(LibsvmReader { chunks, schema })
            }
            Precision::Double => {
                let chunks = Chunks::new(window, Lines::<f64>::new(rules), how.threads);
                Box::new(LibsvmReader { chunks, schema })
            }
        })
    }
}

/// Whether some line at the head begins like a row of this format, whatever follows: a number and then a
/// feature. What is not sound libsvm may still be nothing else.
pub(super) fn has_features(head: &Head<'_>) -> bool {
    head.lines().take(SNIFF_LINES).any(|line| {
        let mut tokens = Tokens { line, at: 0 };
        tokens.next().is_some_and(|label| number::parse(&line[label]).is_ok())
            && tokens.next().is_some_and(|token| is_feature(&line[token]))
    })
}

/// Whether `token` has the shape of a feature; its value may still be wrong.
fn is_feature(token: &[u8]) -> bool {
    match token.iter().position(|&byte| byte == b':') {
        Some(colon) => {
            colon > 0 && (token[..colon].iter().all(u8::is_ascii_digit) || &token[..colon] == b"qid")
        }
        None => false,
    }
}

/// What is fixed for all lines.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    first_index: u64,
    hash_bits: Option<u32>,
    max_features: u64,
    on_bad_row: OnBadRow,
}

struct LibsvmReader<T: Stored> {
    chunks: Chunks<Lines<T>>,
    schema: Schema,
}

impl<T: Stored> Reader for LibsvmReader<T> {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn read(&mut self, into: &mut Block) -> Result<bool, DataError> {
        self.chunks.read(into)
    }
}

/// A parser of lines.
#[derive(Debug, Clone)]
pub(crate) struct Lines<T> {
    rules: Rules,
    way: Way,
    scratch: Vec<(u32, T)>,
    marks: Marks,
    pairs: Pairs,
    tail_marks: Marks,
    tail_pairs: Pairs,
    /// Room for the entries of some rows.
    indices: Vec<u32>,
    values: Vec<T>,
    /// The last lines of a text, and something after them.
    tail: Vec<u8>,
}

impl<T: Stored> Lines<T> {
    fn new(rules: Rules) -> Self {
        let (scratch, indices, values, tail) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (marks, tail_marks) = (Marks::default(), Marks::default());
        let (pairs, tail_pairs) = (Pairs::default(), Pairs::default());
        let way = Way::best();
        Self { rules, way, scratch, marks, pairs, tail_marks, tail_pairs, indices, values, tail }
    }
}

impl<T: Stored> Parse for Lines<T> {
    fn clear(&self, block: &mut Block) {
        let width = self.rules.hash_bits.map_or(0, |bits| 1 << bits);
        block.clear(Layout::Sparse, T::PRECISION, width);
    }

    fn parse(&mut self, text: &[u8], block: &mut Block) -> Result<(usize, u64), Stopped> {
        let n_lines = if self.rules.hash_bits.is_some() {
            // Hashed features come in no order, which is the plain parser's business.
            parse_plainly(text, self.rules, block, &mut self.scratch)?
        } else {
            parse_lines(text, PIECE, self, block)?
        };
        Ok((text.len(), n_lines))
    }
}

/// Adds the rows of `text`, which is whole lines, to `block`, as many lines at a time as fit a piece, or one. Returns
/// how many lines end in it.
fn parse_lines<T: Stored>(
    text: &[u8],
    piece_bytes: usize,
    lines: &mut Lines<T>,
    block: &mut Block,
) -> Result<u64, Stopped> {
    let (mut start, mut n_lines) = (0, 0);
    while start < text.len() {
        let rest = &text[start..];
        let piece = &rest[..piece_bytes.min(rest.len())];
        let newline = memchr::memrchr(b'\n', piece).or_else(|| memchr::memchr(b'\n', rest));
        let n_bytes = newline.filter(|_| piece.len() < rest.len()).map_or(rest.len(), |newline| newline + 1);
        // What follows is looked at, too, though not read.
        let piece = &rest[..rest.len().min(n_bytes + 2 * VIEW)];
        n_lines += parse_piece(piece, n_bytes, lines, block).map_err(|stopped| Stopped {
            line_idx: n_lines + stopped.line_idx,
            start: start + stopped.start,
            ..stopped
        })?;
        start += n_bytes;
    }
    Ok(n_lines)
}

/// Adds the rows of the first `n_bytes` of `text`, which are whole lines, to `block`. Returns how many lines end in
/// them.
fn parse_piece<T: Stored>(
    text: &[u8],
    n_bytes: usize,
    lines: &mut Lines<T>,
    block: &mut Block,
) -> Result<u64, Stopped> {
    let Lines { rules, way, scratch, marks, pairs, tail_marks, tail_pairs, indices, values, tail } = lines;
    let Some(matrix) = T::sparse(&mut block.matrix) else { return Ok(0) };
    let mut n_room = ROOM.max(indices.len());
    indices.resize(n_room, 0);
    values.resize(n_room, T::default());
    let (mut start, mut n_lines) = (0, 0);
    let bits = marks.find_bits(text);
    pairs.find(text, bits);
    let mut tail_bits: &[u8] = &[];
    let mut is_tail = false;
    // The first mark of the line at hand, or one before it.
    let (mut mark, mut n_failures) = (0, 0);
    while start < n_bytes {
        // Quick rows, as many as there are.
        let (n_entries, n_rows) = (matrix.n_entries(), matrix.offsets.len() - 1);
        let mut quick = Quick {
            text: if is_tail { tail } else { text },
            bits: if is_tail { tail_bits } else { bits },
            pairs: if is_tail { tail_pairs } else { pairs },
            mark: if is_tail { 0 } else { mark },
            n_alone: 0,
            n_failures,
            start: if is_tail { 0 } else { start },
            end: if is_tail { n_bytes - start } else { n_bytes },
            first_index: rules.first_index,
            limit: rules.max_features.min(u64::from(u32::MAX)),
            indices,
            values,
            n_before: n_entries,
            n_entries: 0,
            offsets: &mut matrix.offsets,
            width: &mut matrix.width,
            classes: &mut block.classes,
            names: &mut block.names,
        };
        let n_quick = way.run(&mut quick);
        let n_found = quick.n_entries;
        n_failures = quick.n_failures;
        mark = if is_tail { mark } else { quick.mark };
        start = if is_tail { start + quick.start } else { quick.start };
        let first_index = rules.first_index as u32;
        matrix.indices.extend(indices[..n_found].iter().map(|index| index - first_index));
        matrix.values.extend_from_slice(&values[..n_found]);
        matrix.leave_out_zeros(n_rows);
        n_lines += n_quick;
        if start >= n_bytes {
            break;
        }
        let newline = memchr::memchr(b'\n', &text[start..n_bytes]);
        let end = newline.map_or(n_bytes, |newline| start + newline);
        let n_needed = (end - start) / SHORTEST + 1;
        if n_found + n_needed > n_room {
            // There may have been no room for the row.
            if n_needed > n_room {
                n_room = n_needed;
                indices.resize(n_room, 0);
                values.resize(n_room, T::default());
            }
            is_tail = false;
            continue;
        }
        if !is_tail && end + VIEW >= text.len() {
            // The quick parser looks farther than the text goes, so that the last rows need one that is
            // longer.
            tail.clear();
            tail.extend_from_slice(&text[start..n_bytes]);
            tail.extend_from_slice(&[0; VIEW]);
            tail_bits = tail_marks.find_bits(tail);
            tail_pairs.find(tail, tail_bits);
            is_tail = true;
            continue;
        }
        is_tail = false;
        // And one that the quick parser did not like.
        let n_entries = matrix.n_entries();
        match parse_line(&text[start..end], *rules, matrix, &mut block.names, scratch) {
            Ok(Some(class)) => {
                matrix.end_row();
                block.classes.push(class);
            }
            Ok(None) => {}
            Err(mistake) => {
                matrix.truncate(n_entries);
                if rules.on_bad_row == OnBadRow::Error {
                    return Err(Stopped { mistake, line_idx: n_lines, start });
                }
                block.gaps.skip_record(block.classes.len(), mistake, n_lines, start);
            }
        }
        n_lines += u64::from(newline.is_some());
        start = end + 1;
    }
    Ok(n_lines)
}

/// The quick parser of lines that are as most lines are: ascending indices, plain numbers, single blanks.
struct Quick<'a, T> {
    text: &'a [u8],
    /// One bit for each byte of the text, set if it is no digit.
    bits: &'a [u8],
    /// The same marks as a list, if the machine can make use of that, and the number of one that stands in the
    /// line at hand or before it.
    pairs: &'a Pairs,
    mark: usize,
    /// How many entries are read one by one before several at once are tried again, and how often that failed.
    n_alone: u32,
    n_failures: u32,
    /// The line at hand.
    start: usize,
    /// Where the last line ends; the text may go on, with anything.
    end: usize,
    first_index: u64,
    limit: u64,
    /// Room for entries, used again and again; indices are as the text has them. A row for which it is too
    /// small is given up.
    indices: &'a mut [u32],
    values: &'a mut [T],
    /// Entries that were there before, and those that were added.
    n_before: usize,
    n_entries: usize,
    offsets: &'a mut Vec<usize>,
    width: &'a mut usize,
    classes: &'a mut Vec<u32>,
    names: &'a mut LabelTable,
}

impl<T: Stored> Work for &mut Quick<'_, T> {
    /// How many lines were read before one that is not as most lines are.
    type Output = u64;

    #[inline(always)]
    fn run(self, digits: impl Digits) -> u64 {
        let mut n_lines = 0;
        while self.start < self.end {
            let n_before = self.n_entries;
            let Some((class, next)) = self.line(digits) else { break };
            if let Some(&last) = self.indices[n_before..self.n_entries].last() {
                *self.width = (*self.width).max(last as usize + 1 - self.first_index as usize);
            }
            self.offsets.push(self.n_before + self.n_entries);
            self.classes.push(class);
            self.start = next;
            n_lines += 1;
        }
        n_lines
    }
}

/// If no more than this are read at once, it might as well have been none.
const FEW: usize = 2;

/// At most two to this power entries are read one by one before several at once are tried again.
const MOST_FAILURES: u32 = 6;

/// What an entry turned out to be that is not as most entries are.
enum Odd {
    /// Its index, its value and where it ends.
    Entry(u32, f64, usize),
    /// A second blank.
    Blank,
    /// A blank before the line end, and what comes after that.
    LineEnd(usize),
}

impl<T: Stored> Quick<'_, T> {
    /// Adds the entries of the line at hand. Returns its label's number and the place after the line end; or
    /// nothing, and then it reports nothing and adds nothing.
    #[inline(always)]
    fn line<D: Digits>(&mut self, digits: D) -> Option<(u32, usize)> {
        let (text, bits) = (self.text, self.bits);
        let label = &text[self.start..];
        let n_label =
            label.iter().position(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t' | b'#' | b':'));
        let n_label = n_label.filter(|&length| label[length] == b' ')?;
        let class = match self.names.known(&label[..n_label]) {
            Some(class) => class,
            None => new_label(label, n_label, self.names)?,
        };
        // The blank before what comes next, its number, and the least index that it may have.
        let (mut at, mut least) = (self.start + n_label, self.first_index as u32);
        let mut mark = self.mark;
        let mut n_entries = self.n_entries;
        let next = 'entries: loop {
            // Many at once, as long as they are alike.
            if D::READS_EIGHT && self.n_alone == 0 {
                mark = self.pairs.behind(mark, at);
            }
            while D::READS_EIGHT
                && self.n_alone == 0
                && let Some(indices) = self.indices[n_entries..].first_chunk_mut()
                && let Some(values) = self.values[n_entries..].first_chunk_mut()
                && let Some(found) = digits.eight(text, self.pairs, mark, least.cast_signed() - 1)
            {
                // With few of them at a time, more were lost than gained.
                self.n_failures = if found.n_pairs > FEW { 0 } else { self.n_failures };
                *indices = found.indices;
                *values = found.values.map(T::nearest);
                n_entries += found.n_pairs;
                mark += found.n_marks;
                least = found.last + 1;
                at = self.pairs.place(mark)?;
                match text[at] {
                    b' ' => {}
                    b'\n' => break 'entries at + 1,
                    b'\r' if text.get(at + 1) == Some(&b'\n') => break 'entries at + 2,
                    _ => return None,
                }
                if found.n_pairs < AT_ONCE {
                    // It is known already that the next one is odd.
                    self.n_alone = u32::from(found.n_pairs > FEW);
                    break;
                }
            }
            if D::READS_EIGHT {
                // Whatever keeps them from being read at once may well go on; the longer it does, the less often is
                // it tried.
                if self.n_alone == 0 {
                    self.n_failures = (self.n_failures + 1).min(MOST_FAILURES);
                    self.n_alone = 1 << self.n_failures;
                }
                self.n_alone -= 1;
            }
            let (Some(index_slot), Some(value_slot)) =
                (self.indices.get_mut(n_entries), self.values.get_mut(n_entries))
            else {
                return None;
            };
            let view: &[u8; VIEW] = text.get(at..)?.first_chunk()?;
            // All marks after the blank; those of `123:0.4567 ` are the colon, the point and the end.
            let marks = bits_at(bits, at)? >> 1;
            let n_index = marks.trailing_zeros() as usize;
            let behind_colon = marks & marks.wrapping_sub(1);
            let length = (behind_colon & behind_colon.wrapping_sub(1)).trailing_zeros() as usize;
            let (index, end) = if let Some((shape, n_parts)) = Shape::of(n_index, length)
                && view[(n_index & 15) + 1..].starts_with(b":0.")
                && view[(length + 1) & 31] == b' '
            {
                // By far the most entries.
                let [index, parts] = digits.two_runs(view, shape);
                *value_slot = T::nearest(number::quotient(parts, n_parts));
                (index, at + 1 + length)
            } else {
                match odd_entry(text, view, at, marks, digits)? {
                    Odd::Entry(index, value, end) => {
                        *value_slot = T::narrow(value)?;
                        (index, end)
                    }
                    Odd::Blank => {
                        at += 1;
                        continue;
                    }
                    Odd::LineEnd(after) => break after,
                }
            };
            if index < least {
                return None;
            }
            least = index + 1;
            *index_slot = index;
            n_entries += 1;
            match text[end] {
                b' ' => at = end,
                b'\n' => break end + 1,
                // What ends a value otherwise is a line end of two bytes.
                _ => break end + 2,
            }
        };
        // Indices ascend, so that the last one says whether all are within the limit.
        if u64::from(least) > self.limit + self.first_index {
            return None;
        }
        self.n_entries = n_entries;
        self.mark = mark;
        Some((class, next))
    }
}

/// The number of the label that `line` begins with, which was not met before; nothing if it is none.
#[cold]
fn new_label(line: &[u8], n_label: usize, names: &mut LabelTable) -> Option<u32> {
    parse_label(line, 0..n_label, names).ok()
}

/// What follows the blank at `at`, if it is not as most entries are; see there.
#[inline(never)]
fn odd_entry(text: &[u8], view: &[u8; VIEW], at: usize, marks: u64, digits: impl Digits) -> Option<Odd> {
    let n_index = marks.trailing_zeros() as usize;
    // One to eight digits and a colon.
    if n_index.wrapping_sub(1) >= 8 || view[n_index + 1] != b':' {
        // Blanks may stand before the line end, and twice.
        return match view[1] {
            b' ' => Some(Odd::Blank),
            b'\n' => Some(Odd::LineEnd(at + 2)),
            b'\r' if view[2] == b'\n' => Some(Odd::LineEnd(at + 3)),
            _ => None,
        };
    }
    let colon = n_index + 1;
    let index_digits = number::to_end(number::eight_of(view, 1), n_index);
    // As many numbers are negative as not: no branch could be foreseen.
    let is_negative = view[(colon + 1) & 31] == b'-';
    let first = colon + 1 + usize::from(is_negative);
    let signed = |magnitude: f64| f64::from_bits(magnitude.to_bits() | (u64::from(is_negative) << 63));
    // Places in the view, as that of the colon.
    let marks = ((marks & marks.wrapping_sub(1)) << 1) & !(u64::from(is_negative) << (colon + 1));
    let second = marks.trailing_zeros() as usize;
    let third = (marks & marks.wrapping_sub(1)).trailing_zeros() as usize;
    let n_whole = second.wrapping_sub(first);
    let is_end = |place: usize| matches!(view[place & 31], b' ' | b'\n');
    if n_whole.wrapping_sub(1) < 8 && is_end(second) {
        // Counts: `1`.
        let whole = number::to_end(number::eight_of(view, first), n_whole);
        let [index, whole] = digits.two_numbers(index_digits, whole);
        return Some(Odd::Entry(index, signed(f64::from(whole.cast_signed())), at + second));
    }
    let n_parts = third.wrapping_sub(second + 1);
    if n_whole == 1 && view[second & 31] == b'.' && n_parts.wrapping_sub(1) < 8 && is_end(third) {
        // Other decimals, and the last ones in their lines: `1.25`.
        let parts = number::to_end(number::eight_of(view, second + 1), n_parts);
        let [index, parts] = digits.two_numbers(index_digits, parts);
        let whole = u32::from(view[first & 31] & 0x0F);
        return Some(Odd::Entry(index, signed(number::with_parts(whole, parts, n_parts)?), at + third));
    }
    if view[second & 31] == b'.' && matches!(text.get(at + third), Some(b' ' | b'\n')) {
        // Many digits, as programs write who write all they know: `0.30000000000000004`.
        if let Some(magnitude) = number::decimal(text, at + first, at + second, at + third) {
            return Some(Odd::Entry(digits.two_numbers(index_digits, 0)[0], signed(magnitude), at + third));
        }
    }
    let (end, value) = odd_value(text, at + colon)?;
    Some(Odd::Entry(digits.two_numbers(index_digits, 0)[0], value, end))
}

/// The value after `colon` if it is not simply digits, a point and digits, and where it ends.
#[inline(never)]
fn odd_value(text: &[u8], colon: usize) -> Option<(usize, f64)> {
    let token = &text[colon + 1..];
    let n_bytes = token.iter().position(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t' | b'#' | b':'))?;
    match token[n_bytes] {
        b' ' | b'\n' => {}
        b'\r' if token.get(n_bytes + 1) == Some(&b'\n') => {}
        _ => return None,
    }
    let end = colon + 1 + n_bytes;
    Some((end, number::quick(text, colon + 1, end)?))
}

/// What [`parse_lines`] does, line by line and without haste: the law that it keeps to.
fn parse_plainly<T: Stored>(
    text: &[u8],
    rules: Rules,
    block: &mut Block,
    scratch: &mut Vec<(u32, T)>,
) -> Result<u64, Stopped> {
    let Some(matrix) = T::sparse(&mut block.matrix) else { return Ok(0) };
    let mut n_lines = 0;
    let mut line_start = 0;
    while line_start < text.len() {
        let newline = memchr::memchr(b'\n', &text[line_start..]);
        let line_end = newline.map_or(text.len(), |newline| line_start + newline);
        let line = &text[line_start..line_end];
        let n_entries = matrix.n_entries();
        match parse_line(line, rules, matrix, &mut block.names, scratch) {
            Ok(Some(class)) => {
                matrix.end_row();
                block.classes.push(class);
            }
            Ok(None) => {}
            Err(mistake) => {
                matrix.truncate(n_entries);
                if rules.on_bad_row == OnBadRow::Error {
                    return Err(Stopped { mistake, line_idx: n_lines, start: line_start });
                }
                block.gaps.skip_record(block.classes.len(), mistake, n_lines, line_start);
            }
        }
        n_lines += u64::from(newline.is_some());
        line_start = line_end + 1;
    }
    Ok(n_lines)
}

/// Adds the entries of one line to `matrix`, sorted. Returns the number of its label, or nothing for a
/// line without a row. After an error the caller takes the entries back.
fn parse_line<T: Stored>(
    line: &[u8],
    rules: Rules,
    matrix: &mut SparseMatrix<T>,
    names: &mut LabelTable,
    scratch: &mut Vec<(u32, T)>,
) -> Result<Option<u32>, Box<Mistake>> {
    let text = before_comment(line);
    let text = text.strip_suffix(b"\r").unwrap_or(text);
    let mut tokens = Tokens { line: text, at: 0 };
    let Some(label) = tokens.next() else { return Ok(None) };
    let class = parse_label(text, label, names)?;
    let start = matrix.n_entries();
    let mut last: Option<u32> = None;
    let mut ascending = true;
    for (place, token) in tokens.enumerate() {
        let bytes = &text[token.clone()];
        let Some(colon) = memchr::memchr(b':', bytes) else {
            return Err(no_feature(text, token));
        };
        let (index_text, value_text) = (&bytes[..colon], &bytes[colon + 1..]);
        if place == 0 && index_text == b"qid" {
            if value_text.is_empty() || !value_text.iter().all(u8::is_ascii_digit) {
                let message = format!("`qid` should be a whole number, but is {}", quote(value_text));
                return Err(Mistake::new(ErrorKind::Number, token, message));
            }
            continue;
        }
        let index_at = token.start..token.start + colon;
        let value_at = token.start + colon + 1..token.end;
        let index = parse_index(index_text, index_at, rules)?;
        let value = parse_value::<T>(value_text, value_at)?;
        ascending &= last.is_none_or(|last| last < index);
        last = Some(index);
        matrix.indices.push(index);
        matrix.values.push(value);
    }
    if !ascending {
        let twice = sort_row(&mut matrix.indices[start..], &mut matrix.values[start..], scratch);
        if let Some(index) = twice {
            if rules.hash_bits.is_none() {
                return Err(index_twice(text, index, rules));
            }
            if merge_row(matrix, start).is_none() {
                let message = "values that share a hashed feature should have a finite sum, but have none";
                return Err(Mistake::new(ErrorKind::Number, 0..text.len(), message));
            }
        }
    }
    Ok(Some(class))
}

fn parse_label(line: &[u8], at: std::ops::Range<usize>, names: &mut LabelTable) -> Result<u32, Box<Mistake>> {
    let token = &line[at.clone()];
    // Nearly always the label was met before, and then it was found to be one.
    if let Some(number) = names.known(token) {
        return Ok(number);
    }
    if token.contains(&b':') {
        let message =
            format!("the label is missing: the line begins with {}, expected a class", quote(token));
        return Err(Mistake::new(ErrorKind::Label, at, message));
    }
    if token.contains(&b',') {
        return Err(if line.contains(&b':') {
            let message = format!("the row has several labels, {}, expected one", quote(token));
            Mistake::new(ErrorKind::Label, at, message)
        } else {
            Mistake::new(ErrorKind::Format, at, "this looks like CSV, expected libsvm: `label index:value …`")
                .with_help("use {format=csv}")
        });
    }
    let looks_like_number = matches!(token, [b'0'..=b'9' | b'+' | b'-' | b'.', ..]);
    // Look-alikes of digits, blanks and signs are not letters, and would make an accidental class.
    let odd = std::str::from_utf8(token)
        .is_ok_and(|text| text.chars().any(|c| c.is_control() || (!c.is_ascii() && !c.is_alphabetic())));
    if (looks_like_number && number::parse(token).is_err()) || odd {
        let message = format!("the label should be a finite number or a word, but is {}", quote(token));
        return Err(with_carriage_return_help(Mistake::new(ErrorKind::Label, at, message), line));
    }
    names.number(token).map_err(|bad: BadLabel| Mistake::new(ErrorKind::Label, at, bad.message(token)))
}

fn parse_index(token: &[u8], at: std::ops::Range<usize>, rules: Rules) -> Result<u32, Box<Mistake>> {
    let digits = token.iter().all(u8::is_ascii_digit) && !token.is_empty();
    if !digits {
        let message = format!("the feature index should be a whole number, but is {}", quote(token));
        return Err(Mistake::new(ErrorKind::Index, at, message));
    }
    let index = token
        .iter()
        .try_fold(0_u64, |index, &digit| index.checked_mul(10)?.checked_add(u64::from(digit - b'0')));
    let Some(index) = index else {
        let message = format!("the feature index should be below 2^64, but is {}", quote(token));
        return Err(Mistake::new(ErrorKind::Index, at, message));
    };
    if index < rules.first_index {
        let message = "the feature index should be 1 or more, but is 0";
        return Err(
            Mistake::new(ErrorKind::Index, at, message).with_help("if indices start at 0, say {zero-based}")
        );
    }
    if let Some(bits) = rules.hash_bits {
        // The name of a feature is its number without leading zeros.
        let zeros = token.iter().take_while(|&&digit| digit == b'0').count().min(token.len() - 1);
        return Ok(hash_slot(&token[zeros..], bits));
    }
    let feature = index - rules.first_index;
    if feature >= rules.max_features.min(u64::from(u32::MAX)) {
        let limit = rules.max_features.min(u64::from(u32::MAX)) - 1 + rules.first_index;
        let message = format!("the feature index should be at most {limit}, the limit, but is {index}");
        return Err(Mistake::new(ErrorKind::Index, at, message)
            .with_help("hash the features with {hash-bits=20}, or raise the limit with {max-features}"));
    }
    Ok(feature as u32)
}

fn parse_value<T: Stored>(token: &[u8], at: std::ops::Range<usize>) -> Result<T, Box<Mistake>> {
    match number::parse(token) {
        Ok(number) => T::narrow(number).ok_or_else(|| {
            let message = format!("the value should fit single precision, but is {}", quote(token));
            Mistake::new(ErrorKind::Number, at, message)
                .with_help("store double precision with {precision=f64}")
        }),
        Err(bad) => {
            let found = if token.is_empty() { "missing".to_owned() } else { quote(token) };
            let message = format!("the value should be a finite number, but is {found}{}", bad.why());
            Err(with_carriage_return_help(Mistake::new(ErrorKind::Number, at, message), token))
        }
    }
}

#[cold]
fn no_feature(line: &[u8], at: std::ops::Range<usize>) -> Box<Mistake> {
    let token = &line[at.clone()];
    let message = format!("a feature should read `index:value`, but is {}", quote(token));
    let mistake = Mistake::new(ErrorKind::Syntax, at, message);
    if !line.contains(&b':') && line.contains(&b',') {
        return mistake.with_help("this looks like CSV; use {format=csv}");
    }
    with_carriage_return_help(mistake, line)
}

#[cold]
fn with_carriage_return_help(mistake: Box<Mistake>, text: &[u8]) -> Box<Mistake> {
    if text.contains(&b'\r') {
        return mistake.with_help("lines should end in LF or CRLF; convert lone carriage returns");
    }
    mistake
}

/// Finds the second place of an index that occurs twice.
#[cold]
fn index_twice(line: &[u8], feature: u32, rules: Rules) -> Box<Mistake> {
    let mut seen = false;
    for token in (Tokens { line, at: 0 }).skip(1) {
        let bytes = &line[token.clone()];
        let colon = bytes.iter().position(|&byte| byte == b':').unwrap_or(0);
        if parse_index(&bytes[..colon], token.clone(), rules).is_ok_and(|index| index == feature) {
            if seen {
                let message = format!(
                    "feature {} occurs twice in the row, expected each once",
                    u64::from(feature) + rules.first_index
                );
                return Mistake::new(ErrorKind::Index, token, message);
            }
            seen = true;
        }
    }
    Mistake::new(ErrorKind::Index, 0..line.len(), "a feature occurs twice in the row, expected each once")
}

fn before_comment(line: &[u8]) -> &[u8] {
    memchr::memchr(b'#', line).map_or(line, |comment| &line[..comment])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::source::Source;
    use crate::load::{LabelledRow, load_source, read_rows};

    fn rows(text: &str, how: &ReadOptions) -> Result<Vec<LabelledRow>, DataError> {
        read_rows(&Source::bytes("t.svm", text.as_bytes().to_vec()), how)
    }

    #[test]
    fn good_lines() {
        let text =
            "+1 1:0.5 3:-2 # a comment\r\n\n# only a comment\n-1\t7:1e0  9:+.5 \n1 qid:4 3:1 1:2\ncat\n1 2:0";
        let expected = vec![
            ("1".to_owned(), vec![(0, 0.5), (2, -2.0)]),
            ("-1".to_owned(), vec![(6, 1.0), (8, 0.5)]),
            ("1".to_owned(), vec![(0, 2.0), (2, 1.0)]),
            ("cat".to_owned(), vec![]),
            // A zero is not kept, as no other format would keep it.
            ("1".to_owned(), vec![]),
        ];
        assert_eq!(rows(text, &ReadOptions::as_stored()).unwrap(), expected);
        let zero_based = ReadOptions { zero_based: true, ..ReadOptions::as_stored() };
        assert_eq!(rows("1 0:5 3:1\n", &zero_based).unwrap(), [("1".to_owned(), vec![(0, 5.0), (3, 1.0)])]);
    }

    #[test]
    fn bad_lines_are_named_by_line_and_column() {
        for (line, column, kind, words) in [
            ("1 11", 3, ErrorKind::Syntax, "index:value"),
            ("1 11:", 6, ErrorKind::Number, "missing"),
            ("1 :1", 3, ErrorKind::Index, "whole number"),
            ("1 11:abc", 6, ErrorKind::Number, "`abc`"),
            ("1 11:1:2", 6, ErrorKind::Number, "`1:2`"),
            ("1 11=1", 3, ErrorKind::Syntax, "`11=1`"),
            ("1:0.5 2:1", 1, ErrorKind::Label, "label is missing"),
            ("nan 1:1", 1, ErrorKind::Label, "finite"),
            ("inf 1:1", 1, ErrorKind::Label, "finite"),
            ("1e400 1:1", 1, ErrorKind::Label, "finite"),
            ("+1x 1:1", 1, ErrorKind::Label, "finite"),
            ("1,2 3:1", 1, ErrorKind::Label, "several labels"),
            ("1 0:1", 3, ErrorKind::Index, "1 or more"),
            ("1 -3:1", 3, ErrorKind::Index, "whole number"),
            ("1 1.5:1", 3, ErrorKind::Index, "whole number"),
            ("1 1e3:1", 3, ErrorKind::Index, "whole number"),
            ("1 3:1 3:1", 7, ErrorKind::Index, "twice"),
            ("1 3:1 4:2 3:7", 11, ErrorKind::Index, "twice"),
            ("1 3:\u{A0}1", 5, ErrorKind::Number, "U+00A0"),
            ("１ 3:1", 1, ErrorKind::Label, "U+FF11"),
            ("1 3:\u{2212}1", 5, ErrorKind::Number, "U+2212"),
            ("1 3:nan", 5, ErrorKind::Number, "not finite"),
            ("1 3:1e400", 5, ErrorKind::Number, "too large"),
            ("1 3:1e39", 5, ErrorKind::Number, "single precision"),
            ("1 4294967307:1", 3, ErrorKind::Index, "limit"),
            ("1 2147483648:1", 3, ErrorKind::Index, "limit"),
            ("1 18446744073709551616:1", 3, ErrorKind::Index, "2^64"),
            ("1 3:1\0", 5, ErrorKind::Number, "0x00"),
            ("1,2,3", 1, ErrorKind::Format, "CSV"),
            ("1 3:1\r4:1", 5, ErrorKind::Number, "0x0D"),
        ] {
            let text = format!("1 1:1\n-1 2:1\n{line}\n1 1:1\n");
            let error = rows(&text, &ReadOptions::as_stored()).unwrap_err();
            let position = error.position();
            assert_eq!((position.line, position.column), (Some(3), Some(column)), "{line}: {error}");
            assert_eq!((error.kind(), position.row), (kind, Some(3)), "{line}: {error}");
            assert!(error.message().contains(words), "{line}: {error}");
            assert!(error.to_string().starts_with("t.svm:3:"), "{error}");
        }
    }

    #[test]
    fn cut_files_skipped_rows_and_hashed_features() {
        let error = rows("1 1:1\n1 2:1 3", &ReadOptions::as_stored()).unwrap_err();
        assert_eq!(error.help(), Some(&"the file ends inside line 2; is it complete?".into()));
        let skip = ReadOptions { on_bad_row: OnBadRow::Skip, ..ReadOptions::as_stored() };
        assert_eq!(rows("1 1:1\nbad 1:1:1\n1 2:1\n", &skip).unwrap().len(), 2);
        let hashed = ReadOptions { hash_bits: Some(2), ..ReadOptions::as_stored() };
        let many = "1 1:1 2:1 3:1 4:1 5:1 18446744073709551615:1\n";
        let total: f64 = rows(many, &hashed).unwrap()[0].1.iter().map(|(_, value)| value).sum();
        assert_eq!(total, 6.0);
        let twice = rows("1 007:1\n1 7:1\n", &hashed).unwrap();
        assert_eq!(twice[0], twice[1]);
    }

    #[test]
    fn precision_is_as_asked_and_an_error_far_down_is_found() {
        let double = ReadOptions { precision: Precision::Double, ..ReadOptions::as_stored() };
        assert_eq!(rows("1 1:0.1\n", &double).unwrap()[0].1, [(0, 0.1)]);
        assert_eq!(rows("1 1:0.1\n", &ReadOptions::as_stored()).unwrap()[0].1, [(0, f64::from(0.1_f32))]);
        let mut text = "1 1:1 2:0.25 77:3\n-1 5:1\n".repeat(20_000);
        text.push_str("1 3:x\n");
        let error = rows(&text, &ReadOptions::as_stored()).unwrap_err();
        assert_eq!(error.position().line, Some(40_001));
        assert_eq!(error.position().row, Some(40_001));
    }

    /// Lines that are mostly sound, and then mutated.
    fn wild_text(random: &mut impl FnMut(u64) -> u64) -> Vec<u8> {
        let mut text = Vec::new();
        for _ in 0..=random(6) {
            text.extend_from_slice(["1", "-1", "+1", "cat", "2.5", "nan", ""][random(7) as usize].as_bytes());
            let mut index = 0;
            for _ in 0..random(9) {
                let step = if random(4) == 0 { 100_000_000 } else { 30 };
                index += 1 + random(step);
                let number = random(100_000) as f64 / 1000.0 - 20.0;
                let value = match random(12) {
                    0 => format!("{}", random(1000)),
                    1 => format!("{number:e}"),
                    2 => format!("{:.17}", number / 7.0),
                    3 => format!("{:.12}", number / 7.0),
                    4 => format!("{}", random(u64::MAX)),
                    5 => ["1e39", "nan", ".5", "5.", "1e400", "+3", "00.5", "", "-", "1.5.2"]
                        [random(10) as usize]
                        .to_owned(),
                    _ => format!("{number}"),
                };
                let gap = if random(20) == 0 { "  " } else { " " };
                text.extend_from_slice(format!("{gap}{index}:{value}").as_bytes());
            }
            text.extend_from_slice(
                ["\n", "\n", "\n", " \n", "\r\n", " # x\n", "\n\n"][random(7) as usize].as_bytes(),
            );
        }
        mutate(text, random)
    }

    /// Sometimes changes a few bytes.
    fn mutate(mut text: Vec<u8>, random: &mut impl FnMut(u64) -> u64) -> Vec<u8> {
        if random(3) == 0 {
            for _ in 0..=random(3) {
                let at = random(text.len() as u64) as usize;
                match random(4) {
                    0 => text.truncate(at),
                    1 => text[at] = random(256) as u8,
                    2 => text[at] = b" :.-+e\t\r\n#09,q"[random(14) as usize],
                    _ => text.insert(at, b" :.-+e\t\r\n#09,q"[random(14) as usize]),
                }
                if text.is_empty() {
                    return text;
                }
            }
        }
        text
    }

    /// Lines of pairs that are alike, but for a few, so that many are read at once.
    fn even_text(random: &mut impl FnMut(u64) -> u64) -> Vec<u8> {
        let mut text = Vec::new();
        for _ in 0..=random(5) {
            text.extend_from_slice(["1", "-1", "cat"][random(3) as usize].as_bytes());
            let (mut index, is_whole, n_steps) = (0, random(3) == 0, 1 + random(9) as u32);
            for _ in 0..random(50) {
                index += 1 + random(10_u64.pow(n_steps.min(7)));
                let n_digits = 1 + random(9) as usize;
                let digits = random(10_u64.pow(n_digits as u32));
                let value = match random(60) {
                    0 => format!("-0.{digits}"),
                    1 => format!("1.{digits}"),
                    2 => format!("00.{digits}"),
                    3 => format!(".{digits}"),
                    4 => format!("0.{digits}e1"),
                    5 => format!("{digits}"),
                    6 => format!("0.{digits:0n_digits$}"),
                    _ if is_whole => format!("{}", digits % 100_000_000),
                    _ => format!("0.{:0n_digits$}", digits % 100_000_000),
                };
                // Now and then they do not ascend.
                let index = if random(200) == 0 { random(index) } else { index };
                text.extend_from_slice(format!(" {index}:{value}").as_bytes());
            }
            text.extend_from_slice(["\n", "\n", "\n", " \n", "\r\n", "\t\n"][random(6) as usize].as_bytes());
        }
        mutate(text, random)
    }

    /// Compares the two parsers, in every way the machine has; whether the text is sound.
    fn compare<T: Stored>(text: &[u8], rules: Rules) -> bool {
        let goods = Way::all().into_iter().map(|way| compare_in::<T>(text, rules, way));
        goods.fold(true, |all, is_good| all & is_good)
    }

    fn compare_in<T: Stored>(text: &[u8], rules: Rules, way: Way) -> bool {
        let (mut quick, mut plain) = (Block::default(), Block::default());
        let mut lines = Lines::<T> { way, ..Lines::new(rules) };
        lines.clear(&mut quick);
        lines.clear(&mut plain);
        let piece_bytes = [1, 100, PIECE][text.len() % 3];
        let found = parse_lines(text, piece_bytes, &mut lines, &mut quick);
        let expected = parse_plainly(text, rules, &mut plain, &mut lines.scratch);
        let shown = String::from_utf8_lossy(text);
        let named = |outcome: Result<u64, Stopped>| outcome.map_err(|stopped| format!("{stopped:?}"));
        let is_good = expected.is_ok();
        assert_eq!(named(found), named(expected), "{shown}");
        assert_eq!(quick.matrix, plain.matrix, "{shown}");
        assert_eq!((&quick.classes, quick.gaps()), (&plain.classes, plain.gaps()), "{shown}");
        assert_eq!(quick.names.names(), plain.names.names(), "{shown}");
        is_good
    }

    #[test]
    fn the_quick_parser_is_the_plain_one() {
        let mut state = 11_u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 20) % below.max(1)
        };
        let mut n_good = 0;
        for round in 0..30_000 {
            let text = if round % 4 < 3 { wild_text(&mut random) } else { even_text(&mut random) };
            let on_bad_row = if round % 3 == 0 { OnBadRow::Error } else { OnBadRow::Skip };
            let rules = Rules { first_index: round % 2, hash_bits: None, max_features: 1 << 28, on_bad_row };
            n_good += u32::from(compare::<f32>(&text, rules));
            compare::<f64>(&text, rules);
        }
        assert!(n_good > 10_000, "{n_good}");
    }

    #[test]
    fn threads_change_nothing() {
        let line = |row: u32| {
            let label = ["a", "b", "c"][row.wrapping_mul(2_654_435_761) as usize % 3];
            format!("{label} {}:{} {}:0.125\n", row % 90 + 1, row as f32 / 7.0, row % 90 + 100)
        };
        let text = (0..60_000).map(line).collect::<Vec<_>>().concat();
        let source = |text: &str| Source::bytes("t.svm", text.as_bytes().to_vec());
        let how = |threads| ReadOptions { threads, ..ReadOptions::as_stored() };
        let expected = load_source(&source(&text), &how(1)).unwrap();
        let bad = text.replace("\na 59911:", "\na x:") + "b 4:z\n";
        let error = load_source(&source(&bad), &how(1)).unwrap_err();
        let long = text.clone() + &"7".repeat(17 << 20);
        let too_long = load_source(&source(&long), &how(1)).unwrap_err();
        assert_eq!(too_long.position().line, Some(60_001));
        for threads in [0, 2, 3, 4, 8] {
            assert_eq!(load_source(&source(&text), &how(threads)).unwrap(), expected);
            let found = load_source(&source(&bad), &how(threads)).unwrap_err();
            assert_eq!((found.report(), found.position()), (error.report(), error.position()));
            let found = load_source(&source(&long), &how(threads)).unwrap_err();
            assert_eq!((found.report(), found.position()), (too_long.report(), too_long.position()));
            let mut stream = crate::load::blocks(&source(&text), &how(threads)).unwrap();
            let mut sizes = Vec::new();
            while let Some(block) = stream.next().unwrap() {
                sizes.push((block.first_row(), block.len()));
            }
            assert_eq!(sizes.iter().map(|&(_, length)| length).sum::<usize>(), 60_000);
            assert!(sizes.windows(2).all(|pair| pair[0].0 + pair[0].1 as u64 == pair[1].0), "{sizes:?}");
        }
        // A stream that is dropped half way leaves no thread waiting.
        let mut stream = crate::load::blocks(&source(&text), &how(2)).unwrap();
        stream.next().unwrap();
        drop(stream);
    }

    #[test]
    fn a_long_row_is_read() {
        let features: Vec<String> = (1..=300_000).map(|index| format!("{index}:1")).collect();
        let text = format!("1 {}\n-1 1:1\n", features.join(" "));
        let dataset =
            load_source(&Source::bytes("t.svm", text.into_bytes()), &ReadOptions::as_stored()).unwrap();
        assert_eq!((dataset.len(), dataset.width()), (2, 300_000));
    }
}
