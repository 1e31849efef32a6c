//! `CoNLL-U`: ten columns with tabs between them, comments, ranges of words and empty nodes.
//!
//! Comments (`# ...`), multiword tokens (`1-2`) and empty nodes (`1.1`) are no tokens to be tagged; they are kept in what
//! is written.

use super::{SentenceFormat, Sentences, lines_of, tabbed};
use crate::error::{ErrorKind, Mistake};
use crate::formats::FormatInfo;
use std::ops::Range;

const COLUMNS: [&str; 10] =
    ["id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc"];
/// The column of the word, and that of its part of speech.
const FORM: usize = 1;
const UPOS: usize = 3;

/// `CoNLL-U`.
#[derive(Debug)]
pub(crate) struct Conllu;

impl SentenceFormat for Conllu {
    fn info(&self) -> FormatInfo {
        FormatInfo {
            aliases: &["conll-u", "ud"],
            extensions: &["conllu", "conllup"],
            ..FormatInfo::new(
                "conllu",
                "Universal Dependencies: ten columns, comments, an empty line after a sentence",
            )
        }
    }

    fn is_likely(&self, head: &str) -> bool {
        let mut lines = head.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
        lines.next().is_some_and(|line| {
            line.split('\t').count() == COLUMNS.len()
                && line.starts_with(|first: char| first.is_ascii_digit())
        })
    }

    fn label_cell(&self, _n_cells: usize) -> usize {
        UPOS
    }

    fn word_cell(&self) -> usize {
        FORM
    }

    fn column_names(&self) -> &'static [&'static str] {
        &COLUMNS
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
        for line in lines_of(lines, 0..lines.len()) {
            let line = &lines[line];
            if line.starts_with('#') || !is_word(line.split('\t').next().unwrap_or_default()) {
                out.push_str(line);
            } else {
                for (number, cell) in line.split('\t').enumerate() {
                    if number > 0 {
                        out.push('\t');
                    }
                    out.push_str(if number == label_cell { labels.next().unwrap_or(cell) } else { cell });
                }
            }
            out.push('\n');
        }
        out.push('\n');
    }
}

fn is_word(id: &str) -> bool {
    id.bytes().all(|byte| byte.is_ascii_digit())
}

fn parse(whole: &str, text: Range<usize>, into: &mut Sentences) -> Result<(), Box<Mistake>> {
    let mut began: Option<usize> = None;
    let mut ended = text.start;
    into.width = Some(COLUMNS.len());
    for line in lines_of(whole, text) {
        let bytes = &whole.as_bytes()[line.clone()];
        if bytes.trim_ascii().is_empty() {
            if let Some(began) = began.take() {
                into.end_sentence(began..ended);
            }
            continue;
        }
        began.get_or_insert(line.start);
        ended = line.end;
        if bytes[0] == b'#' {
            continue;
        }
        let before = into.cells.len();
        for cell in tabbed(whole, line.clone()).take(COLUMNS.len() + 1) {
            into.push_cell(cell);
        }
        let n_cells = into.cells.len() - before;
        if n_cells != COLUMNS.len() {
            let n_cells = bytes.split(|byte| *byte == b'\t').count();
            let message =
                format!("a word of CoNLL-U should have 10 columns with tabs between them, but has {n_cells}");
            return Err(Mistake::new(ErrorKind::Shape, line, message));
        }
        let (from, to) = into.cells[before];
        let id = &whole[from as usize..to as usize];
        if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'.')) {
            let message = "a line of CoNLL-U should begin with the number of a word";
            return Err(Mistake::new(ErrorKind::Syntax, from as usize..to as usize, message));
        }
        if is_word(id) {
            into.end_token(&line)?;
        } else {
            into.cells.truncate(before);
        }
    }
    if let Some(began) = began {
        into.end_sentence(began..ended);
    }
    Ok(())
}
