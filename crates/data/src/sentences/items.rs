//! `CRFsuite`'s items: a token a line, its label and then its attributes, with tabs between them.
//!
//! An attribute may have a number after a colon (`pixel:0.5`), which is 1 otherwise; `\:` is a colon and `\\` a
//! backslash of its name.

use super::{SentenceFormat, Sentences, by_gaps, lines_of, tabbed};
use crate::error::{ErrorKind, Mistake, quote};
use crate::formats::FormatInfo;
use std::ops::Range;

/// `CRFsuite`'s items.
#[derive(Debug)]
pub(crate) struct Items;

impl SentenceFormat for Items {
    fn info(&self) -> FormatInfo {
        FormatInfo {
            aliases: &["crfsuite"],
            extensions: &["crfsuite", "items"],
            ..FormatInfo::new("items", "CRFsuite's: a token a line, `B-NP<TAB>w[0]=He<TAB>size:0.5`")
        }
    }

    /// Attributes are many, and their number varies by line; so the format must be named.
    fn is_likely(&self, head: &str) -> bool {
        let mut lines = head.lines().filter(|line| !line.is_empty()).take(20).peekable();
        lines.peek().is_some()
            && lines.all(|line| {
                let mut cells = line.split('\t');
                cells.next().is_some_and(|label| !label.contains(['=', ' ']))
                    && cells.next().is_some_and(|cell| cell.contains('='))
            })
    }

    fn label_cell(&self, _n_cells: usize) -> usize {
        0
    }

    fn holds_attributes(&self) -> bool {
        true
    }

    fn parse(&self, text: &str, into: &mut Sentences) -> Result<(), Box<Mistake>> {
        by_gaps(text, into, |line, into| {
            let mut cells = tabbed(text, line.clone());
            into.push_cell(cells.next().unwrap_or(line.start..line.start));
            into.values.push(1.0);
            for cell in cells.filter(|cell| !cell.is_empty()) {
                attribute(text, cell, into)?;
            }
            into.end_token(&line)
        })
    }

    fn write(
        &self,
        sentences: &Sentences,
        number: usize,
        labels: &mut dyn Iterator<Item = &str>,
        _label_cell: usize,
        out: &mut String,
    ) {
        let lines = sentences.lines(number);
        for line in lines_of(lines) {
            let rest = lines[line].split_once('\t').map_or("", |(_, rest)| rest);
            out.push_str(labels.next().unwrap_or_default());
            out.push('\t');
            out.push_str(rest);
            out.push('\n');
        }
        out.push('\n');
    }
}

fn attribute(whole: &str, cell: Range<usize>, into: &mut Sentences) -> Result<(), Box<Mistake>> {
    let text = &whole[cell.clone()];
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut is_escaped = false;
    while at < bytes.len() && bytes[at] != b':' {
        let step = if bytes[at] == b'\\' && at + 1 < bytes.len() { 2 } else { 1 };
        is_escaped |= step == 2;
        at += step;
    }
    let at = at.min(bytes.len());
    let value = match text.get(at + 1..) {
        None => 1.0,
        Some(number) => match number.parse::<f64>() {
            Ok(value) if value.is_finite() => value,
            _ => {
                let message = format!(
                    "the number of an attribute should be finite, but is {}",
                    quote(number.as_bytes())
                );
                let place = cell.start + at + 1..cell.end.max(cell.start + at + 2);
                return Err(Mistake::new(ErrorKind::Number, place, message)
                    .with_help("write a colon of a name as `\\:`"));
            }
        },
    };
    if is_escaped {
        let mut name = String::with_capacity(at);
        let mut letters = text[..at].chars();
        while let Some(letter) = letters.next() {
            name.push(if letter == '\\' { letters.next().unwrap_or(letter) } else { letter });
        }
        into.push_text(&name);
    } else {
        into.push_cell(cell.start..cell.start + at);
    }
    into.values.push(value);
    Ok(())
}
