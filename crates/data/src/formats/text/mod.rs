//! Text to be classified: a message a line with its label, a folder of files per class, mail.
//!
//! What is common to them is here: a text becomes a row, or is taken into the survey. How texts stand in their
//! file is the matter of [`lines`] and [`messages`]; how words become features is [`crate::encode`]'s business.

mod lines;
mod messages;

pub(crate) use messages::{Message, TextFolder, is_mail};

use super::sense::{HEADER_TEXTS, is_header_label};
use super::{Format, FormatInfo, Head, Reader, Sniff};
use crate::bytes::source::Input;
use crate::bytes::window::Window;
use crate::encode::{Side, TextEncoder, TextRows};
use crate::error::{DataError, ErrorKind, Mistake};
use crate::options::{OnBadRow, ReadOptions};
use crate::rows::block::{Block, Stored};
use crate::rows::chunks::{Chunks, Parse, Stopped};
use crate::rows::label_table::{BadLabel, LabelTable};
use crate::rows::schema::{Layout, Precision, Schema};
use crate::scan::number;
use messages::{File, FileReader};
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

/// How many lines at the head are looked at to recognise the format.
const SNIFF_LINES: usize = 50;

/// The longest label of a line that looks like text.
const MAX_LABEL_BYTES: usize = 64;

/// A message a line.
#[derive(Debug)]
pub(crate) struct Text;

impl Format for Text {
    fn info(&self) -> FormatInfo {
        FormatInfo {
            aliases: &["messages"],
            extensions: &["tsv"],
            like_one_column: true,
            ..FormatInfo::new("text", "a message a line, `label<TAB>text`")
        }
    }

    fn heeds(&self) -> &'static [&'static str] {
        &["label", "header", "hash-bits", "ngrams", "characters", "words"]
    }

    fn sniff(&self, head: &Head<'_>) -> Sniff {
        if !messages::is_text(head.bytes) || super::libsvm::has_features(head) {
            return Sniff::No;
        }
        let (mut n_lines, mut n_pairs, mut n_texts, mut n_quoted) = (0, 0, 0, 0);
        for line in head.lines().filter(|line| !line.trim_ascii().is_empty()).take(SNIFF_LINES) {
            n_lines += 1;
            let mut cells = line.split(|&byte| byte == b'\t').map(<[u8]>::trim_ascii);
            let (Some(label), Some(text), None) = (cells.next(), cells.next(), cells.next()) else {
                continue;
            };
            if label.is_empty() || label.len() > MAX_LABEL_BYTES {
                continue;
            }
            n_pairs += 1;
            n_quoted += usize::from(text.len() > 1 && text.starts_with(b"\"") && text.ends_with(b"\""));
            n_texts += usize::from(text.contains(&b' ') && number::parse(text).is_err());
        }
        match (n_lines, n_texts) {
            (0, _) | (_, 0) => Sniff::No,
            // A text may hold a tab and a line may lack one, but most lines are pairs.
            _ if n_pairs * 3 < n_lines * 2 => Sniff::No,
            _ if n_quoted == n_pairs => Sniff::Maybe,
            _ if n_texts * 2 >= n_pairs => Sniff::Likely,
            _ => Sniff::Maybe,
        }
    }

    fn reads_twice(&self, how: &ReadOptions) -> bool {
        how.schema.is_none()
    }

    fn open(&self, input: Input, how: &ReadOptions) -> Result<Box<dyn Reader>, DataError> {
        let name = input.name().clone();
        let mut schema = schema(how).map_err(|error| error.in_source(&name))?;
        let (side, window) = lines::open(input, how, &mut schema)?;
        Ok(boxed(how, schema, Rows::Messages(Box::new(window), side)))
    }
}

fn boxed(how: &ReadOptions, schema: Arc<Schema>, rows: Rows) -> Box<dyn Reader> {
    match how.precision {
        Precision::Single => reader::<f32>(how, schema, rows),
        Precision::Double => reader::<f64>(how, schema, rows),
    }
}

fn reader<T: Stored>(how: &ReadOptions, schema: Arc<Schema>, rows: Rows) -> Box<dyn Reader> {
    let (max_names, keep_texts) = (how.limits.vocabulary, how.keep_texts);
    let stored = PhantomData::<T>;
    let text_rows = TextRows::default();
    let taker = Taker { schema, text_rows, max_names, keep_texts, on_bad_row: how.on_bad_row, stored };
    match rows {
        Rows::Messages(window, side) => {
            let messages = Messages { taker, side };
            Box::new(MessageReader { chunks: Chunks::new(*window, messages, how.threads) })
        }
        Rows::Files(files) => Box::new(FileReader::new(files, taker, how.limits.line_bytes)),
    }
}

/// The schema that `how` brings, or one that is still to be fitted.
fn schema(how: &ReadOptions) -> Result<Arc<Schema>, DataError> {
    if let Some(schema) = &how.schema {
        if schema.text.is_some() {
            return Ok(Arc::clone(schema));
        }
        return schema.for_messages().map(Arc::new).ok_or_else(|| {
            let message = "this is text, expected the columns that were learned from";
            DataError::new(ErrorKind::Shape, message)
                .with_help("write the messages into a table with these columns")
        });
    }
    if let Some(complaint) = TextEncoder::complaint(&how.text) {
        return Err(DataError::new(ErrorKind::Options, complaint));
    }
    let encoder = TextEncoder::new(how.text.clone(), how.hash_bits);
    Ok(Arc::new(Schema {
        layout: Layout::Sparse,
        hash_bits: how.hash_bits,
        provisional: !encoder.is_fitted(),
        text: Some(encoder),
        ..Schema::default()
    }))
}

/// Where rows come from.
enum Rows {
    Messages(Box<Window>, Side),
    Files(Vec<File>),
}

/// What is done with each text: taken into the survey, or made into a row.
#[derive(Clone)]
pub(super) struct Taker<T> {
    schema: Arc<Schema>,
    text_rows: TextRows,
    max_names: usize,
    keep_texts: bool,
    on_bad_row: OnBadRow,
    stored: PhantomData<T>,
}

impl<T: Stored> Taker<T> {
    fn clear(&self, block: &mut Block) {
        let width = if self.schema.provisional { 0 } else { self.schema.width().unwrap_or(0) };
        block.clear(Layout::Sparse, T::PRECISION, width);
    }

    pub(super) fn take(&mut self, text: &str, block: &mut Block) -> Result<(), Box<Mistake>> {
        let Some(matrix) = T::sparse(&mut block.matrix) else { return Ok(()) };
        if !self.schema.provisional {
            let Some(encoder) = &self.schema.text else { return Ok(()) };
            self.text_rows.encode(text, encoder, matrix);
        } else if let Some(encoder) = &mut Arc::make_mut(&mut self.schema).text
            && self.text_rows.fit(text, encoder, self.max_names).is_err()
        {
            let message = format!("there are more than {} different words, the limit", self.max_names);
            return Err(Mistake::new(ErrorKind::Limit, 0..0, message)
                .with_help("hash the words with {hash-bits=20}, or raise the limit with {max-vocabulary}"));
        }
        matrix.end_row();
        if self.keep_texts {
            block.texts.push(text.to_owned());
        }
        Ok(())
    }

    /// Whether a row that is wrong ends it all, and is not just left out.
    fn refuses(&self, kind: ErrorKind) -> bool {
        self.on_bad_row == OnBadRow::Error || kind == ErrorKind::Limit
    }
}

/// Turns lines into rows.
#[derive(Clone)]
struct Messages<T> {
    taker: Taker<T>,
    side: Side,
}

struct MessageReader<T: Stored> {
    chunks: Chunks<Messages<T>>,
}

impl<T: Stored> Reader for MessageReader<T> {
    fn schema(&self) -> &Schema {
        &self.chunks.parser().taker.schema
    }

    fn read(&mut self, into: &mut Block) -> Result<bool, DataError> {
        self.chunks.read(into)
    }
}

impl<T: Stored> Parse for Messages<T> {
    fn clear(&self, block: &mut Block) {
        self.taker.clear(block);
        block.labelled = self.side != Side::None;
    }

    fn parse(&mut self, text: &[u8], block: &mut Block) -> Result<(usize, u64), Stopped> {
        let (mut at, mut n_lines) = (0, 0);
        while at < text.len() {
            let rest = &text[at..];
            let n_bytes = memchr::memchr(b'\n', rest).map_or(rest.len(), |newline| newline + 1);
            let bare = rest[..n_bytes].strip_suffix(b"\n").unwrap_or(rest);
            let bare = bare.strip_suffix(b"\r").unwrap_or(bare);
            let is_blank = bare.trim_ascii().is_empty();
            let taker = &mut self.taker;
            let outcome = if is_blank { Ok(()) } else { lines::take_line(bare, self.side, block, taker) };
            if let Err(mistake) = outcome {
                if self.taker.refuses(mistake.kind) {
                    return Err(Stopped { mistake, line_idx: n_lines, start: at });
                }
                block.skip_record(mistake, n_lines, at);
            }
            n_lines += memchr::memchr_iter(b'\n', &rest[..n_bytes]).count() as u64;
            at += n_bytes;
        }
        Ok((at, n_lines))
    }

    fn has_memory(&self) -> bool {
        self.taker.schema.provisional
    }
}

pub(super) fn number_of(label: &[u8], names: &mut LabelTable) -> Result<u32, BadLabel> {
    names.number(label)
}

pub(super) fn utf8(line: &[u8], at: Range<usize>) -> Result<&str, Box<Mistake>> {
    std::str::from_utf8(&line[at.clone()]).map_err(|error| {
        let start = at.start + error.valid_up_to();
        let length = error.error_len().unwrap_or(at.end - start);
        let message = format!("the text should be valid UTF-8, but holds byte 0x{:02X}", line[start]);
        Mistake::new(ErrorKind::Encoding, start..start + length, message)
            .with_help("convert it, for instance: iconv -f LATIN1 -t UTF-8 IN > OUT")
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::LabelColumn;
    use crate::bytes::source::Source;
    use crate::encode::{TextOptions, Weighting};
    use crate::load::{load_source, load_with_schema, read_rows, texts};

    fn source(text: &str) -> Source {
        Source::bytes("t.tsv", text.as_bytes().to_vec())
    }

    pub(super) fn counts() -> ReadOptions {
        let text = TextOptions {
            longest: 1,
            min_count: Some(1),
            weighting: Weighting::Count,
            unit_length: false,
            ..TextOptions::default()
        };
        ReadOptions { text, ..ReadOptions::as_stored() }
    }

    const SMALL: &str = "ham\tSee you \"soon\nspam\tWIN cash, win now\t!\n\nham\tsee cash\r\n";

    #[test]
    fn lines_become_rows_of_words() {
        let data = load_source(&source(SMALL), &counts()).unwrap();
        assert_eq!(data.feature_names().unwrap(), ["cash", "now", "see", "soon", "win", "you"]);
        let rows = read_rows(&source(SMALL), &counts()).unwrap();
        assert_eq!(rows[0], ("ham".into(), vec![(2, 1.0), (3, 1.0), (5, 1.0)]));
        assert_eq!(rows[1], ("spam".into(), vec![(0, 1.0), (1, 1.0), (4, 2.0)]));
        let with_header = format!("Label\tText\n{SMALL}");
        assert_eq!(read_rows(&source(&with_header), &counts()).unwrap(), rows);
        let last =
            ReadOptions { label: LabelColumn::Named("-1".into()), format: Some("text".into()), ..counts() };
        let turned = "See you soon\tham\nWIN cash, win now\tspam\nsee cash\tham\n";
        assert_eq!(read_rows(&source(turned), &last).unwrap(), rows);
    }

    #[test]
    fn prediction_sees_what_training_saw() {
        let (_, schema) = load_with_schema(&source(SMALL), &counts()).unwrap();
        let how = ReadOptions::as_stored().with_schema(Arc::new(schema));
        let new = source("win a new CAR, you see\nnothing known\n");
        let (data, again) = load_with_schema(&new, &how).unwrap();
        assert_eq!((data.len(), data.width()), (2, 6));
        assert_eq!(Some(&again), how.schema.as_deref());
        let rows = read_rows(&new, &how).unwrap();
        assert_eq!(rows[0].1, [(2, 1.0), (4, 1.0), (5, 1.0)]);
        assert_eq!(rows[1].1, []);
        let labelled = read_rows(&source("eggs\twin\n"), &how).unwrap();
        assert_eq!(labelled, [("eggs".to_owned(), vec![(4, 1.0)])]);
    }

    #[test]
    fn mistakes_are_placed() {
        for (text, line, column, expected) in [
            ("ham\ta b\nno tab here\n", 2, 12, "the line has no tab"),
            ("ham\ta b\n\n\tempty label\n", 3, 1, "the label is missing"),
            ("nan\ta b\n", 1, 1, "finite"),
        ] {
            let how = ReadOptions { format: Some("text".into()), ..counts() };
            let error = load_source(&source(text), &how).unwrap_err();
            assert!(error.message().contains(expected), "{error}");
            assert_eq!((error.position().line, error.position().column), (Some(line), Some(column)));
        }
        let broken = Source::bytes("t.tsv", *b"ham\ta b\nham\tgr\xFC\xDF e\n");
        let error = load_source(&broken, &counts()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Encoding);
        assert_eq!((error.position().line, error.position().column), (Some(2), Some(7)));
        let skip = ReadOptions { on_bad_row: OnBadRow::Skip, ..counts() };
        assert_eq!(load_source(&broken, &skip).unwrap().len(), 1);
        let short = ReadOptions { limits: crate::Limits { vocabulary: 2, ..Default::default() }, ..counts() };
        assert_eq!(load_source(&source(SMALL), &short).unwrap_err().kind(), ErrorKind::Limit);
    }

    #[test]
    fn the_texts_of_rows_can_be_had_again() {
        let text = "ham\tsee you at six\n\nspam\tFREE: call now\nham\tok\n";
        let found = texts(&source(text), &counts(), &[2, 0]).unwrap().unwrap();
        assert_eq!(found, ["ok", "see you at six"]);
        let table = Source::bytes("table.csv", *b"a,y\n1,x\n2,z\n");
        assert_eq!(texts(&table, &ReadOptions::as_stored(), &[0]).unwrap(), None);
        let column = ReadOptions { text_columns: vec!["v2".into()], ..counts() };
        let table = Source::bytes("table.csv", *b"v1,v2\nham,\"one, two\"\nspam,three\n");
        assert_eq!(texts(&table, &column, &[0, 1]).unwrap().unwrap(), ["one, two", "three"]);
    }

    #[test]
    fn texts_without_words_are_noted() {
        let text = "ham\ta b\nspam\t\nspam\t...\nham\tc d\n";
        let how = ReadOptions { format: Some("text".into()), ..counts() };
        let (data, schema) = load_with_schema(&source(text), &how).unwrap();
        assert_eq!(data.len(), 4);
        assert_eq!(schema.notes, ["2 of 4 texts hold no words"]);
    }

    #[test]
    fn hashing_needs_no_first_pass() {
        let mut how = counts();
        how.hash_bits = Some(10);
        let mut stream = crate::load::blocks(&source(SMALL), &how).unwrap();
        assert!(!stream.schema().provisional);
        assert_eq!(stream.next().unwrap().unwrap().len(), 3);
        how.text.keep_names = true;
        let (data, schema) = load_with_schema(&source(SMALL), &how).unwrap();
        let place = crate::hash_slot(b"cash", 10) as usize;
        assert_eq!(data.feature_names().unwrap()[place], "cash");
        assert_eq!(schema.text.unwrap().n_collisions(), Some(0));
    }

    #[test]
    fn a_column_of_a_table_is_text() {
        let table = |text: &str| Source::bytes("t.csv", text.as_bytes().to_vec());
        let how = ReadOptions { text_columns: vec!["v2".into()], ..counts() };
        let messages =
            table("v1,v2,more\nham,\"See you, \"\"soon\"\"\nOK?\",\nspam,WIN cash,x\r\n\nham,see cash,\n");
        let (data, schema) = load_with_schema(&messages, &how).unwrap();
        assert_eq!(data.feature_names().unwrap(), ["cash", "ok", "see", "soon", "win", "you"]);
        assert_eq!((data.len(), data.labels().names()), (3, &["ham".to_owned(), "spam".to_owned()][..]));
        assert_eq!(schema.label.as_deref(), Some("v1"));
        assert!(schema.notes.iter().any(|note| note.contains("mostly empty: `more`")), "{:?}", schema.notes);
        let later = ReadOptions::as_stored().with_schema(Arc::new(schema));
        let rows = read_rows(&table("id,v2\n7,win you\n"), &later).unwrap();
        assert_eq!(rows[0].1, [(4, 1.0), (5, 1.0)]);
        for (text, line, column, expected) in [
            ("v1,v2\na,b\na,b,c\n", 3, 5, "3 cells, expected 2"),
            ("v1,v2\na,b\na,\"b\nc\n", 3, 3, "never closed"),
            ("v1,v2\na,b\na,\"b\"x\n", 3, 6, "closing quote"),
            ("v1,v2\na,b\n,b\n", 3, 1, "label is missing"),
        ] {
            let error = load_source(&table(text), &how).unwrap_err();
            assert!(error.message().contains(expected), "{error}");
            assert_eq!(
                (error.position().line, error.position().column),
                (Some(line), Some(column)),
                "{error}"
            );
        }
        let by_number = ReadOptions { text_columns: vec!["-1".into()], ..counts() };
        assert_eq!(load_source(&table("a;x y\nb;z\n"), &by_number).unwrap().len(), 2);
        assert!(load_source(&table("a,b\n1,2\n"), &how).is_err());
    }

    #[test]
    fn one_thread_and_three_read_alike() {
        let line = |i: usize| format!("{}\tword{} and word{} then\n", i % 3, i % 97, i % 89);
        let lines = (0..40_000).map(line).collect::<String>();
        let table = lines.replace('\t', ",");
        let record = |line: &str| match line.strip_suffix("word88 then") {
            Some(line) => line.replace(',', ",\"two\nlines, ") + "and a \"\"quote\"\"\"\n",
            None => format!("{line}\n"),
        };
        let quoted = table.lines().map(record).collect::<String>();
        let how = |threads, text_column: Option<&str>, on_bad_row| ReadOptions {
            threads,
            on_bad_row,
            text_columns: text_column.into_iter().map(str::to_owned).collect(),
            ..ReadOptions::as_stored()
        };
        for (name, head, rows, column, wrong) in [
            ("t.tsv", "\n\nlabel\ttext\n", &lines, None, "no tab\n"),
            ("t.csv", "label,text\n", &table, Some("text"), "one cell\n"),
            ("t.csv", "label,text\n", &quoted, Some("text"), "one cell\n"),
        ] {
            let whole = Source::bytes(name, (head.to_owned() + rows).into_bytes());
            let one = load_with_schema(&whole, &how(1, column, OnBadRow::Error)).unwrap();
            assert_eq!(one.0.len(), 40_000);
            assert_eq!(one, load_with_schema(&whole, &how(3, column, OnBadRow::Error)).unwrap());
            let broken = Source::bytes(name, [head, rows, wrong, rows].concat().into_bytes());
            // The vocabulary is known, so that threads come upon the mistake.
            let skipped = load_with_schema(&broken, &how(1, column, OnBadRow::Skip)).unwrap();
            assert_eq!(skipped, load_with_schema(&broken, &how(3, column, OnBadRow::Skip)).unwrap());
            let error = |threads| {
                let how = how(threads, column, OnBadRow::Error).with_schema(Arc::new(skipped.1.clone()));
                load_source(&broken, &how).unwrap_err()
            };
            assert_eq!(error(1).to_string(), error(3).to_string());
            assert_eq!(error(1).position(), error(3).position());
        }
    }
}
