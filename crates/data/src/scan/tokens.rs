//! The tokens of a line: what stands between blanks and tabs.

use std::ops::Range;

/// Where the tokens of `line` are, from byte `at` on.
pub(crate) struct Tokens<'a> {
    pub(crate) line: &'a [u8],
    pub(crate) at: usize,
}

impl Iterator for Tokens<'_> {
    type Item = Range<usize>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
        let start = self.at + self.line[self.at..].iter().position(|byte| !blank(byte))?;
        let end = self.line[start..].iter().position(blank).map_or(self.line.len(), |length| start + length);
        self.at = end;
        Some(start..end)
    }
}
