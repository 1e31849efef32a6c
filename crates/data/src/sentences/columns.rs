//! `CoNLL` columns: a token a line, its cells apart by blanks or tabs, an empty line after every sentence.
//!
//! A line with a tab is split at tabs, and its cells may hold blanks; any other at runs of blanks. All tokens have as many
//! cells. There are no comments, since `#` is a word like any other.

use super::{SentenceFormat, Sentences, lines_of, tabbed};
use crate::error::{ErrorKind, Mistake};
use crate::formats::FormatInfo;
use std::ops::Range;

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

    fn parse(&self, text: Range<usize>, into: &mut Sentences) -> Result<(), Box<Mistake>> {
        let whole = std::mem::take(&mut into.text);
        let outcome = parse(&whole, text, into);
        into.text = whole;
        outcome
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
        for (line, token) in lines_of(lines, 0..lines.len()).zip(sentences.tokens(number)) {
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

fn parse(whole: &str, text: Range<usize>, into: &mut Sentences) -> Result<(), Box<Mistake>> {
    let bytes = whole.as_bytes();
    let mut began: Option<usize> = None;
    let mut ended = text.start;
    for line in lines_of(whole, text) {
        if bytes[line.clone()].trim_ascii().is_empty() {
            if let Some(began) = began.take() {
                into.end_sentence(began..ended);
            }
            continue;
        }
        began.get_or_insert(line.start);
        ended = line.end;
        let before = into.cells.len();
        if memchr::memchr(b'\t', &bytes[line.clone()]).is_some() {
            for cell in tabbed(whole, line.clone()) {
                into.push_cell(cell);
            }
        } else {
            let mut at = line.start;
            while at < line.end {
                let start =
                    at + bytes[at..line.end].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
                let length =
                    bytes[start..line.end].iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
                if length > 0 {
                    into.push_cell(start..start + length);
                }
                at = start + length;
            }
        }
        let n_cells = into.cells.len() - before;
        let width = *into.width.get_or_insert(n_cells);
        if n_cells != width {
            let message = format!(
                "every token should have {width} cells, as the first has, but this one has {n_cells}"
            );
            return Err(Mistake::new(ErrorKind::Shape, line, message)
                .with_help("put one separator between cells, and an empty line between sentences"));
        }
        into.end_token(&line)?;
    }
    if let Some(began) = began {
        into.end_sentence(began..ended);
    }
    Ok(())
}
