//! Files of sentences: tokens of cells, one file per format, and one table.
//!
//! A sentence is a row that has no fixed number of features, so sentences have readers of their own. Like the others they
//! see whole sentences through a window, never hold more than a block, and name the file, line and column of what is
//! wrong. What cells mean is for others to say: here they are text, except for the numbers of items.

mod made;

use crate::bytes::source::{Input, Part, Source};
use crate::bytes::window::Window;
use crate::error::{DataError, ErrorKind, Mistake, Position};
use crate::formats::{FormatInfo, choose, formats, shown};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

pub use made::MadeSentences;
pub use plain::tokens;

formats! {
    /// All formats of sentences, in the order in which files are tried. A page, which has to be fetched, reads none of them.
    pub static SENTENCE_FORMATS: SentenceFormat;
    #[cfg(not(target_family = "wasm"))]
    mod conllu::Conllu;
    #[cfg(not(target_family = "wasm"))]
    mod token_lists::TokenLists;
    #[cfg(not(target_family = "wasm"))]
    mod items::Items;
    #[cfg(not(target_family = "wasm"))]
    mod columns::Columns;
    #[cfg(not(target_family = "wasm"))]
    mod plain::Plain;
}

/// The most bytes of one sentence.
const MOST_BYTES: usize = 16 << 20;
/// The most tokens of one sentence: a search holds several numbers for each of them and each label.
const MOST_TOKENS: usize = 100_000;
/// The most cells of one token.
const MOST_CELLS: usize = 100_000;

/// A way to write sentences into bytes, and back.
pub trait SentenceFormat: Sync {
    /// What it is called and what it is.
    fn info(&self) -> FormatInfo;

    /// Whether the beginning of a file looks like it.
    fn is_likely(&self, head: &str) -> bool;

    /// Whether every line is a sentence; an empty line ends one otherwise.
    fn by_line(&self) -> bool {
        false
    }

    /// Where the label of a token stands, of `n_cells`, by default.
    fn label_cell(&self, n_cells: usize) -> usize {
        n_cells.saturating_sub(1)
    }

    /// The cell with the word itself.
    fn word_cell(&self) -> usize {
        0
    }

    /// Whether cells are attributes themselves, and not columns that mean the same in every token.
    fn holds_attributes(&self) -> bool {
        false
    }

    /// The names of columns, if they have some.
    fn column_names(&self) -> &'static [&'static str] {
        &[]
    }

    /// Takes in whole sentences, of which `into` has the text already.
    fn parse(&self, text: &str, into: &mut Sentences) -> Result<(), Box<Mistake>>;

    /// Writes a sentence with these labels in the cell `label_cell`; after all others if there is no such cell.
    fn write(
        &self,
        sentences: &Sentences,
        number: usize,
        labels: &mut dyn Iterator<Item = &str>,
        label_cell: usize,
        out: &mut String,
    );
}

impl fmt::Debug for dyn SentenceFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.info().name)
    }
}

/// Some sentences, in room that is used again.
#[derive(Debug, Clone, Default)]
pub struct Sentences {
    name: Arc<str>,
    first_line: u64,
    first_row: u64,
    /// How long the text is that came from the file; what was unescaped follows it.
    n_raw: usize,
    text: String,
    cells: Vec<(u32, u32)>,
    /// How much each cell counts, in a format of attributes.
    values: Vec<f64>,
    /// Where the cells of each token end.
    tokens: Vec<u32>,
    /// Where the tokens of each sentence end, and its lines.
    ends: Vec<(u32, Range<usize>)>,
    /// Cells of every token, in a format of columns, once that is known.
    width: Option<usize>,
}

impl Sentences {
    /// How many sentences there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// How many tokens there are.
    pub fn n_tokens(&self) -> usize {
        self.tokens.len()
    }

    /// How many cells a token has, where all have as many.
    pub fn width(&self) -> Option<usize> {
        self.width
    }

    /// The tokens of a sentence, by their numbers.
    pub fn tokens(&self, sentence: usize) -> Range<usize> {
        let from = sentence.checked_sub(1).map_or(0, |before| self.ends[before].0);
        from as usize..self.ends[sentence].0 as usize
    }

    /// The lines of a sentence as they stand in the file.
    pub fn lines(&self, sentence: usize) -> &str {
        &self.text[self.ends[sentence].1.clone()]
    }

    fn cells_of(&self, token: usize) -> Range<usize> {
        let from = token.checked_sub(1).map_or(0, |before| self.tokens[before]);
        from as usize..self.tokens[token] as usize
    }

    /// How many cells a token has.
    pub fn n_cells(&self, token: usize) -> usize {
        self.cells_of(token).len()
    }

    /// A cell of a token.
    #[inline]
    pub fn cell(&self, token: usize, cell: usize) -> Option<&str> {
        let (from, to) = self.cells.get(self.cells_of(token)).and_then(|cells| cells.get(cell))?;
        self.text.get(*from as usize..*to as usize)
    }

    /// How much a cell counts.
    pub fn value(&self, token: usize, cell: usize) -> f64 {
        self.values.get(self.cells_of(token).start + cell).copied().unwrap_or(1.0)
    }

    /// An error about a cell of a token.
    pub fn error(&self, token: usize, cell: usize, kind: ErrorKind, message: impl Into<String>) -> DataError {
        let at = self.cells_of(token).start + cell;
        let (from, to) = self.cells.get(at).copied().unwrap_or((0, 0));
        let row = self.first_row + self.ends.partition_point(|(end, _)| (*end as usize) <= token) as u64;
        if self.n_raw == 0 {
            // No file has it, so there is no line to show.
            let at = Position { row: Some(row), line: None, column: None };
            return DataError::new(kind, message).in_source(&self.name).at(at);
        }
        Mistake::new(kind, from as usize..to as usize, message).locate(
            &self.name,
            &self.text.as_bytes()[..self.n_raw],
            self.first_line,
            row,
            false,
        )
    }

    fn clear(&mut self) {
        self.text.clear();
        self.cells.clear();
        self.values.clear();
        self.tokens.clear();
        self.ends.clear();
    }

    fn push_cell(&mut self, at: Range<usize>) {
        self.cells.push((at.start as u32, at.end as u32));
    }

    /// A cell that does not stand in the file as it is meant.
    fn push_text(&mut self, text: &str) {
        let from = self.text.len();
        self.text.push_str(text);
        self.push_cell(from..self.text.len());
    }

    /// Ends a token that should have as many cells as the first one.
    fn end_token_of_width(&mut self, line: &Range<usize>) -> Result<(), Box<Mistake>> {
        let n_cells = self.cells.len() - self.tokens.last().map_or(0, |end| *end as usize);
        let width = *self.width.get_or_insert(n_cells);
        if n_cells != width {
            let message = format!(
                "every token should have {width} cells, as the first has, but this one has {n_cells}"
            );
            return Err(Mistake::new(ErrorKind::Shape, line.clone(), message)
                .with_help("put one separator between cells, and an empty line between sentences"));
        }
        self.end_token(line)
    }

    fn end_token(&mut self, line: &Range<usize>) -> Result<(), Box<Mistake>> {
        let n_cells = self.cells.len() - self.tokens.last().map_or(0, |end| *end as usize);
        let n_tokens = self.tokens.len() - self.ends.last().map_or(0, |(end, _)| *end as usize);
        if n_cells > MOST_CELLS {
            let message = format!("a token should have at most {MOST_CELLS} cells, but has {n_cells}");
            return Err(Mistake::new(ErrorKind::Limit, line.clone(), message));
        }
        if n_tokens >= MOST_TOKENS {
            let message = format!("a sentence should have at most {MOST_TOKENS} tokens, but has more");
            return Err(Mistake::new(ErrorKind::Limit, line.clone(), message)
                .with_help("put an empty line between sentences"));
        }
        self.tokens.push(self.cells.len() as u32);
        Ok(())
    }

    /// Ends a sentence that has tokens.
    fn end_sentence(&mut self, lines: Range<usize>) {
        let n_tokens = self.tokens.len() as u32;
        if self.ends.last().map_or(0, |(end, _)| *end) < n_tokens {
            self.ends.push((n_tokens, lines));
        }
    }
}

/// The lines of a text, without their ends.
fn lines_of(text: &str) -> impl Iterator<Item = Range<usize>> + use<'_> {
    let bytes = text.as_bytes();
    let mut from = 0;
    std::iter::from_fn(move || {
        if from >= bytes.len() {
            return None;
        }
        let end = memchr::memchr(b'\n', &bytes[from..]).map_or(bytes.len(), |at| from + at);
        let line = from..if end > from && bytes[end - 1] == b'\r' { end - 1 } else { end };
        from = end + 1;
        Some(line)
    })
}

/// Has every line that is not empty taken in; where one is, a sentence ends.
fn by_gaps(
    text: &str,
    into: &mut Sentences,
    mut take: impl FnMut(Range<usize>, &mut Sentences) -> Result<(), Box<Mistake>>,
) -> Result<(), Box<Mistake>> {
    let mut sentence: Option<Range<usize>> = None;
    for line in lines_of(text) {
        if is_gap(&text.as_bytes()[line.clone()]) {
            if let Some(lines) = sentence.take() {
                into.end_sentence(lines);
            }
            continue;
        }
        sentence = Some(sentence.map_or(line.start, |lines| lines.start)..line.end);
        take(line, into)?;
    }
    if let Some(lines) = sentence {
        into.end_sentence(lines);
    }
    Ok(())
}

/// Whether a line ends a sentence.
fn is_gap(line: &[u8]) -> bool {
    line.trim_ascii().is_empty()
}

/// Where the tab-separated cells of a line are.
fn tabbed(text: &str, line: Range<usize>) -> impl Iterator<Item = Range<usize>> + use<'_> {
    let mut from = Some(line.start);
    std::iter::from_fn(move || {
        let start = from?;
        let end = memchr::memchr(b'\t', &text.as_bytes()[start..line.end]).map(|at| start + at);
        from = end.map(|end| end + 1);
        Some(start..end.unwrap_or(line.end))
    })
}

/// Sentences of a source, block by block.
#[derive(Debug)]
pub struct SentenceStream {
    parts: std::vec::IntoIter<Part>,
    /// Blocks that no part holds.
    made: std::vec::IntoIter<Sentences>,
    wanted: Option<&'static dyn SentenceFormat>,
    format: &'static dyn SentenceFormat,
    window: Option<Window>,
    width: Option<usize>,
    n_sentences: u64,
}

/// The format of sentences called `name`.
pub fn find_sentence_format(name: &str) -> Result<&'static dyn SentenceFormat, DataError> {
    SENTENCE_FORMATS.iter().find(|format| format.info().is_called(name)).copied().ok_or_else(|| {
        let names: Vec<&str> = SENTENCE_FORMATS.iter().map(|format| format.info().name).collect();
        let message =
            format!("there is no format of sentences `{}`; there are {}", shown(name), names.join(", "));
        DataError::new(ErrorKind::Options, message)
    })
}

/// Whether a file holds tokens line by line, with empty lines between sentences, and is no table.
pub fn looks_like_sentences(path: &str) -> bool {
    let path = std::path::Path::new(path);
    let Some(input) = path.is_file().then(|| Part::File(path.to_owned()).open().ok()).flatten() else {
        return false;
    };
    let bytes = input.head();
    let whole = memchr::memrchr(b'\n', bytes).map_or(0, |end| end + 1);
    let Ok(head) = std::str::from_utf8(&bytes[..whole]) else { return false };
    let n_gaps = head.trim().replace('\r', "").matches("\n\n").count();
    let is_likely =
        SENTENCE_FORMATS.iter().filter(|format| !format.by_line()).any(|format| format.is_likely(head));
    // A table may be parted by tabs, but not again and again by empty lines.
    let is_none = |name: &str| name != "csv" && name != "text";
    is_likely
        && match choose(&input) {
            Ok(format) => n_gaps > 1 && !is_none(format.info().name),
            Err(error) => n_gaps > 0 && error.kind() == ErrorKind::Format,
        }
}

/// The format that a file's name says it has, if it says so.
pub fn sentence_format_by_name(path: &str) -> Option<&'static dyn SentenceFormat> {
    let name = path.to_ascii_lowercase();
    let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
    let extension = name.rsplit_once('.')?.1;
    SENTENCE_FORMATS.iter().find(|format| format.info().extensions.contains(&extension)).copied()
}

/// The sentences of a source, in the format that is named, or else in the one that they seem to have.
pub fn sentences(
    source: &Source,
    format: Option<&'static dyn SentenceFormat>,
) -> Result<SentenceStream, DataError> {
    let parts: Vec<Part> = source.parts().to_vec();
    let mut stream = SentenceStream {
        parts: parts.into_iter(),
        made: Vec::new().into_iter(),
        wanted: format,
        format: format.unwrap_or(&columns::Columns),
        window: None,
        width: None,
        n_sentences: 0,
    };
    stream.next_part()?;
    Ok(stream)
}

impl SentenceStream {
    /// How the sentences are written.
    pub fn format(&self) -> &'static dyn SentenceFormat {
        self.format
    }

    fn next_part(&mut self) -> Result<bool, DataError> {
        let Some(part) = self.parts.next() else { return Ok(false) };
        let input = part.open()?;
        let is_first = self.window.is_none() && self.n_sentences == 0;
        let format = self.wanted.map_or_else(|| guess(&input), Ok)?;
        if !is_first && format.info().name != self.format.info().name {
            let message = format!(
                "all files should be of one format, but this one looks like {} and others like {}",
                format.info().name,
                self.format.info().name
            );
            return Err(DataError::new(ErrorKind::Format, message).in_source(input.name()));
        }
        self.format = format;
        self.window = Some(Window::new(input, MOST_BYTES)?);
        Ok(true)
    }

    /// Empties `into` and fills it with the next sentences, at least one; `false` at the end.
    pub fn next(&mut self, into: &mut Sentences) -> Result<bool, DataError> {
        if let Some(block) = self.made.next() {
            *into = block;
            return Ok(true);
        }
        loop {
            let Some(window) = &mut self.window else { return Ok(false) };
            if read(window, self.format, self.width, self.n_sentences, into)? {
                self.width = into.width;
                self.n_sentences += into.len() as u64;
                if !into.is_empty() {
                    return Ok(true);
                }
            } else if !self.next_part()? {
                self.window = None;
                return Ok(false);
            }
        }
    }
}

/// Takes in what the window holds of whole sentences; `false` at the end.
fn read(
    window: &mut Window,
    format: &dyn SentenceFormat,
    width: Option<usize>,
    n_before: u64,
    into: &mut Sentences,
) -> Result<bool, DataError> {
    into.clear();
    let mut seen = 0;
    let n_bytes = loop {
        let lines = window.lines()?;
        if lines.is_empty() {
            return Ok(false);
        }
        if let Some(end) = if format.by_line() { Some(lines.len()) } else { last_gap(lines, seen) } {
            break end;
        }
        seen = lines.len();
        if !window.more_lines().map_err(without_end)? {
            break seen;
        }
    };
    let (name, first_line) = (Arc::clone(window.name()), window.line());
    let bytes = &window.lines()?[..n_bytes];
    let wrong = |mistake: Box<Mistake>, row: u64| mistake.locate(&name, bytes, first_line, row, false);
    (into.name, into.first_line, into.first_row, into.width) =
        (Arc::clone(&name), first_line, n_before + 1, width);
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let at = error.valid_up_to();
            let message = "this should be text in UTF-8, but has a byte that is not";
            let mistake = Mistake::new(ErrorKind::Encoding, at..at + 1, message);
            return Err(wrong(mistake.with_help("convert the file to UTF-8"), n_before + 1));
        }
    };
    if let Some(at) = memchr::memchr(0, bytes) {
        let mistake =
            Mistake::new(ErrorKind::Encoding, at..at + 1, "this should be text, but has a byte that is zero");
        return Err(wrong(mistake, n_before + 1));
    }
    into.text.push_str(text);
    into.n_raw = n_bytes;
    format.parse(text, into).map_err(|mistake| wrong(mistake, n_before + 1 + into.ends.len() as u64))?;
    let n_lines = memchr::memchr_iter(b'\n', bytes).count() as u64;
    window.consume(n_bytes, n_lines);
    Ok(true)
}

/// The error for a sentence that does not fit the window.
fn without_end(error: DataError) -> DataError {
    if error.kind() != ErrorKind::Limit {
        return error;
    }
    let message = format!("a sentence should take at most {MOST_BYTES} bytes, but this one has no end");
    DataError::new(ErrorKind::Limit, message)
        .in_source(error.source_name().unwrap_or("sentences"))
        .at(error.position())
        .with_help("put an empty line between sentences")
}

/// The end of the last empty line that is not before `from`.
fn last_gap(lines: &[u8], from: usize) -> Option<usize> {
    let mut end = lines.len();
    while end > from {
        let start = memchr::memrchr(b'\n', &lines[..end - 1]).map_or(0, |at| at + 1);
        if is_gap(&lines[start..end]) {
            return Some(end);
        }
        end = start;
    }
    None
}

fn guess(input: &Input) -> Result<&'static dyn SentenceFormat, DataError> {
    if let Some(format) = sentence_format_by_name(input.name()) {
        return Ok(format);
    }
    let head = input.head();
    let valid = std::str::from_utf8(head).map_or_else(|error| error.valid_up_to(), |_| head.len());
    let head = std::str::from_utf8(&head[..valid]).unwrap_or_default();
    let found = SENTENCE_FORMATS.iter().find(|format| format.is_likely(head)).copied();
    // Any lines could be tokens; those of a file that is called a table hardly are. Columns of tokens are a table of a kind.
    let called = input.extension().and_then(|extension| crate::formats::called(&extension));
    if let (Some(format), Some(called)) = (found, called)
        && (format.info().name == "plain" || format.info().name == "columns" && called != "CSV")
    {
        let message = format!("by its name this is {called}, expected sentences, a token a line");
        return Err(DataError::new(ErrorKind::Format, message)
            .in_source(input.name())
            .with_help("if its lines are tokens, name the format: {format=plain}"));
    }
    found.ok_or_else(|| {
        DataError::new(
            ErrorKind::Format,
            "these do not look like sentences: tokens are lines, and empty lines end sentences",
        )
        .in_source(input.name())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(name: &str, text: &str) -> Result<Vec<Vec<Vec<String>>>, DataError> {
        let mut stream = sentences(&Source::bytes(name, text.as_bytes()), None)?;
        let mut block = Sentences::default();
        let mut all = Vec::new();
        while stream.next(&mut block)? {
            for number in 0..block.len() {
                let token = |token| {
                    (0..block.n_cells(token))
                        .filter_map(|cell| block.cell(token, cell))
                        .map(str::to_owned)
                        .collect()
                };
                all.push(block.tokens(number).map(token).collect());
            }
        }
        Ok(all)
    }

    fn one(cells: &[&[&str]]) -> Vec<Vec<String>> {
        cells.iter().map(|token| token.iter().map(ToString::to_string).collect()).collect()
    }

    #[test]
    fn every_format_gives_the_same_cells() {
        let expected = vec![one(&[&["He", "PRP"], &["runs", "VBZ"]]), one(&[&["Stop", "VB"]])];
        assert_eq!(cells("a.conll", "He PRP\nruns VBZ\n\n\nStop VB").unwrap(), expected);
        assert_eq!(cells("a.conll", "He\tPRP\r\nruns\tVBZ\r\n\r\nStop\tVB\r\n").unwrap(), expected);
        let lists = "{\"tokens\": [\"He\", \"runs\"], \"tags\": [\"PRP\", \"VBZ\"]}\n{\"tokens\":[\"Stop\"],\"tags\":[\"VB\"]}\n";
        assert_eq!(cells("a.jsonl", lists).unwrap(), expected);
        assert_eq!(cells("a.unknown", lists).unwrap(), expected);
        let items = cells("a.crfsuite", "N\tw=a\\:b:0.5\tcap\n\nV\tw=\\\\\n").unwrap();
        assert_eq!(items, vec![one(&[&["N", "w=a:b", "cap"]]), one(&[&["V", "w=\\"]])]);
    }

    #[test]
    fn conllu_leaves_out_ranges_and_empty_nodes_and_keeps_them_in_what_is_written() {
        let text = "# sent_id = 1\n1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_\n1\tdo\tdo\tAUX\t_\t_\t_\t_\t_\t_\n2\tn't\tnot\tPART\t_\t_\t_\t_\t_\t_\n2.1\tx\tx\tX\t_\t_\t_\t_\t_\t_\n\n";
        let source = Source::bytes("a.conllu", text.as_bytes());
        let mut stream = sentences(&source, None).unwrap();
        let mut block = Sentences::default();
        assert!(stream.next(&mut block).unwrap());
        assert_eq!(block.tokens(0), 0..2);
        assert_eq!(block.cell(1, 1), Some("n't"));
        let mut out = String::new();
        stream.format().write(&block, 0, &mut ["AUX", "PART"].into_iter(), 3, &mut out);
        assert_eq!(out, text);
    }

    #[test]
    fn what_is_wrong_is_said_where_it_is() {
        let wrong = |name: &str, text: &str| cells(name, text).unwrap_err().to_string();
        assert_eq!(
            wrong("a.conll", "a b N\n\nc d\n"),
            "a.conll:3:1: every token should have 3 cells, as the first has, but this one has 2"
        );
        assert_eq!(
            wrong("a.conllu", "1\tx\t_\n"),
            "a.conllu:1:1: a word of CoNLL-U should have 10 columns with tabs between them, but has 3"
        );
        assert!(wrong("a.crfsuite", "N\tw:x\n").starts_with("a.crfsuite:1:5: the number of an attribute"));
        assert!(
            wrong("a.jsonl", "{\"tokens\": [\"a\"], \"tags\": []}\n").contains("has 1 tokens and 0 tags")
        );
        let long = "a N\n".repeat(MOST_TOKENS + 1);
        assert!(wrong("a.conll", &long).contains("at most 100000 tokens"));
        let broken = Source::bytes("a.conll", *b"ok N\nb\xFFd N\n");
        let error = sentences(&broken, None).unwrap().next(&mut Sentences::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a.conll:2:2: this should be text in UTF-8, but has a byte that is not"
        );
        assert!(wrong("a.conll", "a\0 N\n").contains("a byte that is zero"));
    }

    #[test]
    fn blocks_end_where_sentences_do_however_long_the_file_is() {
        let text = "the DT\ndog NN\n\n".repeat(100_000);
        assert_eq!(cells("a.conll", &text).unwrap().len(), 100_000);
    }
}
