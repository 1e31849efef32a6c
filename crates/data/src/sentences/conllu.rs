//! `CoNLL-U`: ten columns with tabs between them, comments, ranges of words and empty nodes.
//!
//! Comments (`# ...`), multiword tokens (`1-2`) and empty nodes (`1.1`) are no tokens to be tagged; they are kept in what
//! is written.

use super::{SentenceFormat, Sentences, by_gaps, lines_of, tabbed};
use crate::error::{ErrorKind, Mistake};
use crate::formats::FormatInfo;

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

    fn parse(&self, text: &str, into: &mut Sentences) -> Result<(), Box<Mistake>> {
        into.width = Some(COLUMNS.len());
        by_gaps(text, into, |line, into| {
            if text[line.clone()].starts_with('#') {
                return Ok(());
            }
            let before = into.cells.len();
            tabbed(text, line.clone()).take(COLUMNS.len() + 1).for_each(|cell| into.push_cell(cell));
            if into.cells.len() - before != COLUMNS.len() {
                let n_cells = text[line.clone()].split('\t').count();
                let message = format!(
                    "a word of CoNLL-U should have 10 columns with tabs between them, but has {n_cells}"
                );
                return Err(Mistake::new(ErrorKind::Shape, line, message));
            }
            let (from, to) = into.cells[before];
            let id = from as usize..to as usize;
            let is_part = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
            if id.is_empty() || !text[id.clone()].bytes().all(is_part) {
                let message = "a line of CoNLL-U should begin with the number of a word";
                return Err(Mistake::new(ErrorKind::Syntax, id, message));
            }
            if is_word(&text[id]) {
                return into.end_token(&line);
            }
            into.cells.truncate(before);
            Ok(())
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
        for line in lines_of(lines) {
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
