//! `CoNLL` columns: a token a line, its cells apart by blanks or tabs, an empty line after every sentence.
//!
//! A line with a tab is split at tabs, and its cells may hold blanks; any other at runs of blanks. All tokens have as many
//! cells. There are no comments, since `#` is a word like any other.

use super::{SentenceFormat, Sentences, by_gaps, lines_of, tabbed};
use crate::error::Mistake;
use crate::formats::FormatInfo;

/// `CoNLL` columns.
#[derive(Debug)]
pub(crate) struct Columns;

impl SentenceFormat for Columns {
    fn info(&self) -> FormatInfo {
        FormatInfo {
            aliases: &["conll", "iob", "crf++"],
            extensions: &["conll", "iob", "iob2", "bio", "col", "cols"],
            ..FormatInfo::new("columns", "a token a line, `He PRP B-NP`, an empty line after a sentence")
        }
    }

    fn is_likely(&self, head: &str) -> bool {
        let mut widths =
            head.lines().take(200).map(|line| line.split_whitespace().count()).filter(|width| *width > 0);
        let first = widths.next().unwrap_or(0);
        // The last line may be cut.
        let n_same = widths.by_ref().take_while(|width| *width == first).count();
        (2..=20).contains(&first) && widths.next().is_none() && (n_same > 0 || first <= 4)
    }

    fn parse(&self, text: &str, into: &mut Sentences) -> Result<(), Box<Mistake>> {
        by_gaps(text, into, |line, into| {
            if text[line.clone()].contains('\t') {
                tabbed(text, line.clone()).for_each(|cell| into.push_cell(cell));
            } else {
                let (bytes, mut at) = (text.as_bytes(), line.start);
                while at < line.end {
                    let rest = &bytes[at..line.end];
                    let start = at + rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
                    let rest = &bytes[start..line.end];
                    at = start + rest.iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
                    if at > start {
                        into.push_cell(start..at);
                    }
                }
            }
            into.end_token_of_width(&line)
        })
    }

    fn write(
        &self,
        sentences: &Sentences,
        number: usize,
        labels: &mut dyn Iterator<Item = &str>,
        label_cell: usize,
        out: &mut String,
    ) {
        let lines = sentences.lines(number);
        for (line, token) in lines_of(lines).zip(sentences.tokens(number)) {
            let line = &lines[line];
            let gap = if line.contains('\t') { "\t" } else { " " };
            let n_cells = sentences.n_cells(token);
            for cell in 0..n_cells.max(label_cell + 1) {
                if cell > 0 {
                    out.push_str(gap);
                }
                if cell == label_cell {
                    out.push_str(labels.next().unwrap_or_default());
                } else {
                    out.push_str(sentences.cell(token, cell).unwrap_or_default());
                }
            }
            out.push('\n');
        }
        out.push('\n');
    }
}
