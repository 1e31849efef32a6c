//! Text through a window: whole lines in a buffer that is used again and again.
//!
//! Readers of text see as many whole lines as the window holds and take as many as they like; what they
//! leave stands at the front the next time. The window grows only for a record that does not fit, and
//! never beyond the stated limit, so memory stays flat however long the source is. A byte-order mark of
//! UTF-8 is taken away; text in UTF-16 is refused. What the lines mean is the readers' business.

use crate::bytes::pool::Pool;
use crate::bytes::source::Input;
use crate::error::{DataError, ErrorKind, Position};
use std::sync::Arc;

/// How many bytes a window holds, unless a single record is longer.
pub const WINDOW_BYTES: usize = 256 << 10;

/// A moving view of a stream of text.
#[derive(Debug)]
pub struct Window {
    input: Input,
    buffer: Vec<u8>,
    /// The unread bytes are `buffer[start..end]`.
    start: usize,
    end: usize,
    /// Up to here the unread bytes are whole lines.
    whole: usize,
    at_end: bool,
    /// The number of the line at `start`, counted from 1.
    line: u64,
    max_record: usize,
}

impl Window {
    /// A window at the beginning of `input`, for records of at most `max_record` bytes.
    pub fn new(input: Input, max_record: usize) -> Result<Self, DataError> {
        // One byte more than there is shows the end.
        let needed = input.n_left().map_or(WINDOW_BYTES, |n_bytes| n_bytes + 1);
        let buffer = input.pool().take_buffer(needed.min(WINDOW_BYTES).min(max_record).max(4));
        let mut window =
            Self { input, buffer, start: 0, end: 0, whole: 0, at_end: false, line: 1, max_record };
        window.fill()?;
        match &window.buffer[..window.end] {
            [0xEF, 0xBB, 0xBF, ..] => window.start = 3,
            head => {
                if let Some(error) = wide_encoding(head) {
                    return Err(error.in_source(window.input.name()));
                }
            }
        }
        Ok(window)
    }

    /// Threads and buffers to read this.
    pub(crate) fn pool(&self) -> &Arc<Pool> {
        self.input.pool()
    }

    /// How many bytes it has room for.
    pub(crate) fn n_bytes(&self) -> usize {
        self.buffer.len()
    }

    /// What the source is called.
    pub fn name(&self) -> &Arc<str> {
        self.input.name()
    }

    /// The number of the first line in the window, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// The unread whole lines, at least one; nothing at the end of the stream. The last line of a stream
    /// counts as whole even if its line end is missing.
    pub fn lines(&mut self) -> Result<&[u8], DataError> {
        while self.whole <= self.start && !self.at_end {
            self.make_room()?;
            self.fill()?;
        }
        Ok(&self.buffer[self.start..self.whole.max(self.start)])
    }

    /// More lines after those in the window, for a record that does not end within it; `false` if there
    /// are none.
    pub fn more_lines(&mut self) -> Result<bool, DataError> {
        let before = self.whole - self.start;
        while !self.at_end {
            self.make_room()?;
            self.fill()?;
            if self.whole - self.start > before {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Moves the whole lines of the window into `chunk`, whose memory the window takes in exchange, if
    /// `admit` has nothing against them. Lines taken so are not counted.
    pub(crate) fn take_chunk(
        &mut self,
        chunk: &mut Chunk,
        admit: impl FnOnce(&[u8]) -> bool,
    ) -> Result<Taken, DataError> {
        let text = self.lines()?;
        if text.is_empty() {
            return Ok(Taken::Nothing);
        }
        if !admit(text) {
            return Ok(Taken::Refused);
        }
        chunk.lines = self.start..self.whole;
        chunk.ends_inside = self.ends_inside_line();
        // As large as the window has become: chunks end where they would without the exchange.
        chunk.buffer.resize(self.buffer.len(), 0);
        let n_left = self.end - self.whole;
        chunk.buffer[..n_left].copy_from_slice(&self.buffer[self.whole..self.end]);
        std::mem::swap(&mut self.buffer, &mut chunk.buffer);
        (self.start, self.whole, self.end) = (0, 0, n_left);
        if self.at_end {
            self.whole = self.end;
        }
        Ok(Taken::Chunk)
    }

    /// Says which line the first one is, after chunks were taken.
    pub(crate) fn set_line(&mut self, line: u64) {
        self.line = line;
    }

    /// Whether the window holds everything there is.
    pub(crate) fn is_short(&self) -> bool {
        self.at_end
    }

    /// Takes the buffer out, so that its lines can be read while the window's owner is changed. The window
    /// is not to be used until it is [put back](Self::put_back).
    pub(crate) fn take_lines(&mut self) -> Lines {
        Lines { buffer: std::mem::take(&mut self.buffer), lines: self.start..self.whole.max(self.start) }
    }

    /// Undoes [`Self::take_lines`].
    pub(crate) fn put_back(&mut self, lines: Lines) {
        self.buffer = lines.buffer;
    }

    /// Whether the window ends with the stream, and the stream without a line end.
    pub fn ends_inside_line(&self) -> bool {
        self.at_end && self.end > self.start && self.buffer[self.end - 1] != b'\n'
    }

    /// Takes the first `n_bytes`, in which `n_lines` lines end, out of the window.
    pub fn consume(&mut self, n_bytes: usize, n_lines: u64) {
        debug_assert!(self.start + n_bytes <= self.whole, "only lines that were lent can be taken");
        self.start = (self.start + n_bytes).min(self.whole);
        self.line += n_lines;
    }

    fn make_room(&mut self) -> Result<(), DataError> {
        if self.end < self.buffer.len() {
            return Ok(());
        }
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.whole -= self.start;
            self.end -= self.start;
            self.start = 0;
            return Ok(());
        }
        if self.buffer.len() >= self.max_record {
            return Err(line_too_long(self.max_record, self.line).in_source(self.input.name()));
        }
        let length = (self.buffer.len() * 2).min(self.max_record);
        self.buffer.resize(length, 0);
        Ok(())
    }

    /// Fills the free end of the buffer, if there is any.
    fn fill(&mut self) -> Result<(), DataError> {
        while self.end < self.buffer.len() {
            let n_bytes = self.input.read_some(&mut self.buffer[self.end..])?;
            if n_bytes == 0 {
                self.at_end = true;
                self.whole = self.end;
                return Ok(());
            }
            let fresh = &self.buffer[self.end..self.end + n_bytes];
            if let Some(newline) = memchr::memrchr(b'\n', fresh) {
                self.whole = self.end + newline + 1;
            }
            self.end += n_bytes;
        }
        Ok(())
    }
}

/// The error for a line of more than `longest` bytes.
pub(crate) fn line_too_long(longest: usize, line: u64) -> DataError {
    DataError::new(ErrorKind::Limit, format!("the line is longer than {longest} bytes, the limit"))
        .at(Position { row: None, line: Some(line), column: Some(1) })
        .with_help("if that is as it should be, raise the limit with {max-line}")
}

/// The error for text whose characters have two or four bytes each, recognised by its byte-order mark.
pub(crate) fn wide_encoding(head: &[u8]) -> Option<DataError> {
    let name = match head {
        [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..] => "UTF-32",
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => "UTF-16",
        _ => return None,
    };
    let error = DataError::new(ErrorKind::Encoding, format!("the text is in {name}, expected UTF-8"));
    Some(error.with_help(format!("convert it: iconv -f {name} -t UTF-8 IN > OUT")))
}

impl Drop for Window {
    fn drop(&mut self) {
        let buffer = std::mem::take(&mut self.buffer);
        self.pool().give_buffer(buffer);
    }
}

/// Whole lines that were taken out of a window.
#[derive(Debug)]
pub(crate) struct Chunk {
    buffer: Vec<u8>,
    lines: std::ops::Range<usize>,
    ends_inside: bool,
}

impl Chunk {
    /// A chunk that holds nothing yet, with the memory of `buffer`.
    pub(crate) fn new(buffer: Vec<u8>) -> Self {
        Self { buffer, lines: 0..0, ends_inside: false }
    }

    /// The memory.
    pub(crate) fn into_buffer(self) -> Vec<u8> {
        self.buffer
    }

    /// The lines.
    pub(crate) fn text(&self) -> &[u8] {
        &self.buffer[self.lines.clone()]
    }

    /// Whether the text ends with its stream, and the stream without a line end.
    pub(crate) fn ends_inside_line(&self) -> bool {
        self.ends_inside
    }
}

/// What came of asking for a chunk.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    Chunk,
    /// The stream is at its end.
    Nothing,
    /// The lines were not wanted and are still in the window.
    Refused,
}

/// The buffer of a window, lent out whole.
pub(crate) struct Lines {
    buffer: Vec<u8>,
    lines: std::ops::Range<usize>,
}

impl Lines {
    /// The lines.
    pub(crate) fn text(&self) -> &[u8] {
        &self.buffer[self.lines.clone()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::source::Source;

    fn window(text: impl Into<Arc<[u8]>>, max_record: usize) -> Window {
        Window::new(Source::bytes("t", text).parts()[0].open().unwrap(), max_record).unwrap()
    }

    #[test]
    fn lines_of_any_length_come_whole_and_in_order() {
        let text: Vec<u8> = (0..2000_usize)
            .flat_map(|i| [vec![b'a' + (i % 26) as u8; (i * 37) % 1500], vec![b'\n']].concat())
            .collect();
        let mut window = window(text.clone(), 1 << 20);
        let mut seen = Vec::new();
        loop {
            let lines = window.lines().unwrap();
            let Some(newline) = memchr::memrchr(b'\n', lines) else { break };
            // Leaving some lines is allowed.
            let taken = memchr::memchr(b'\n', &lines[newline / 2..]).map_or(newline, |n| newline / 2 + n);
            seen.extend_from_slice(&lines[..=taken]);
            let n_lines = memchr::memchr_iter(b'\n', &lines[..=taken]).count() as u64;
            window.consume(taken + 1, n_lines);
        }
        assert_eq!(seen, text);
        assert_eq!(window.line(), 2001);
    }

    #[test]
    fn a_mark_is_dropped_a_missing_line_end_noticed_and_utf16_refused() {
        let mut marked = window(*b"\xEF\xBB\xBFab", 100);
        assert_eq!(marked.lines().unwrap(), b"ab");
        assert!(marked.ends_inside_line());
        marked.consume(2, 0);
        assert!(marked.lines().unwrap().is_empty());
        let wide = Source::bytes("t", *b"\xFF\xFEa\0").parts()[0].open().unwrap();
        assert_eq!(Window::new(wide, 100).unwrap_err().kind(), ErrorKind::Encoding);
        for (bytes, name) in
            [(&b"\xFF\xFEa\0"[..], "UTF-16"), (b"\xFF\xFE\0\0a\0\0\0", "UTF-32"), (b"\0\0\xFE\xFF", "UTF-32")]
        {
            assert!(wide_encoding(bytes).unwrap().message().contains(name));
        }
    }

    #[test]
    fn an_endless_line_ends_at_the_limit() {
        let mut endless = window(vec![0; 3 << 20], 1 << 20);
        let error = endless.lines().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit);
        assert!(endless.buffer.len() <= 1 << 20);
    }
}
