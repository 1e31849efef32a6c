//! Text to be classified: a message a line with its label, a folder of files per class, mail.
//!
//! A line is `label<TAB>text`; the first tab ends the label, later ones are part of the text, and quotes
//! mean nothing. The label stands behind the last tab if the label column is `-1` or `2`, and nowhere if
//! it is said to be absent or if data to be labelled has no tab in its first line. A first line `label`
//! `text` is a header. Blank lines are skipped. A text without words is a row without features. Lines
//! must be UTF-8.
//!
//! A folder is read as one row per file; the name of the subfolder is the label, subfolders of those are
//! not looked at. A file that begins with mail headers counts as mail: the words of its `Subject` and of
//! everything below the headers are taken as they stand (attachments and encodings are not unpacked),
//! and bytes that are not UTF-8 are read as Latin-1. Every other file must be UTF-8.
//!
//! A column of a table (CSV, with or without quotes) is read as text if it is named: every record is a
//! row, and its other cells but the label are left out.
//!
//! How words become features is [`crate::encode`]'s business.

use super::text_table::{Cell, Table, scan_record};
use super::{Format, FormatInfo, Head, Reader, Sniff};
use crate::bytes::chunks::{Chunks, Parse, Stopped};
use crate::bytes::source::{Input, Part, sorted_entries};
use crate::bytes::window::Window;
use crate::encode::{Side, TextEncoder, TextRows};
use crate::error::{DataError, ErrorKind, Mistake, quote};
use crate::options::{LabelColumn, OnBadRow, ReadOptions};
use crate::rows::block::{Block, Stored};
use crate::rows::label_table::{BadLabel, LabelTable};
use crate::rows::schema::{Layout, Precision, Schema};
use crate::scan::number;
use std::borrow::Cow;
use std::fs;
use std::marker::PhantomData;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How many lines at the head are looked at to recognise the format.
const SNIFF_LINES: usize = 50;

/// The longest label of a line that looks like text.
const MAX_LABEL_BYTES: usize = 64;

/// About how many bytes of files make a block.
const BLOCK_BYTES: usize = 256 << 10;

/// The most files that make a block.
const BLOCK_FILES: usize = 1024;

/// First lines that say what the columns are.
pub(super) const HEADER_LABELS: [&str; 6] = ["label", "class", "target", "category", "y", "v1"];
pub(super) const HEADER_TEXTS: [&str; 7] = ["text", "message", "sms", "sentence", "review", "body", "v2"];

/// A message a line.
#[derive(Debug)]
pub(crate) struct Text;

/// A folder of files per class.
#[derive(Debug)]
pub(crate) struct TextFolder;

impl Format for Text {
    fn info(&self) -> FormatInfo {
        FormatInfo {
            name: "text",
            aliases: &["messages", "mail"],
            extensions: &["tsv", "eml"],
            about: "a message a line, `label<TAB>text`; or a mail",
            takes_folders: false,
        }
    }

    fn sniff(&self, head: &Head<'_>) -> Sniff {
        if head.bytes.contains(&0) || super::libsvm::has_features(head) {
            return Sniff::No;
        }
        if mail_body(head.bytes).is_some() {
            return Sniff::Likely;
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

    fn open(&self, input: Input, how: &ReadOptions) -> Result<Box<dyn Reader>, DataError> {
        let name = input.name().clone();
        let mut schema = schema(how).map_err(|error| error.in_source(&name))?;
        let head = input.head();
        let is_mail = input.extension().as_deref() == Some("eml") || mail_body(head).is_some();
        let column =
            how.text_column.clone().or_else(|| schema.text.as_ref().and_then(|text| text.column.clone()));
        if let Some(column) = column.filter(|_| !is_mail) {
            let (table, window) = Table::open(input, how, &column, schema.label.as_deref())?;
            // What is so already is not copied to be changed.
            if schema.text.as_ref().is_some_and(|text| text.column.as_ref() != Some(&column))
                && let Some(text) = &mut Arc::make_mut(&mut schema).text
            {
                text.column = Some(column);
            }
            if table.label_name.is_some() && schema.label != table.label_name {
                Arc::make_mut(&mut schema).label.clone_from(&table.label_name);
            }
            return Ok(boxed(how, schema, Rows::Messages(Box::new(window), Form::Table(table))));
        }
        if is_mail {
            let files = vec![File { label: None, part: input.part().clone() }];
            return Ok(boxed(how, schema, Rows::Files(files)));
        }
        let first = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
        let first = first.split(|&byte| byte == b'\n').find(|line| !line.trim_ascii().is_empty());
        let names = first.and_then(header_names);
        let header = how.header.unwrap_or(names.is_some());
        let second = names.as_ref().map(|(_, second)| second.as_str());
        let known = schema.text.as_ref().and_then(|text| text.side);
        let label = match &how.label {
            LabelColumn::Absent => Side::None,
            LabelColumn::Guess => match first {
                _ if known.is_some() => known.unwrap_or(Side::First),
                Some(line) if how.schema.is_some() && !line.contains(&b'\t') => Side::None,
                _ if second.is_some_and(|name| HEADER_LABELS.contains(&name)) => Side::Last,
                _ => Side::First,
            },
            LabelColumn::Named(place) if matches!(place.as_str(), "-1" | "2") => Side::Last,
            LabelColumn::Named(name) if second.is_some_and(|second| name.eq_ignore_ascii_case(second)) => {
                Side::Last
            }
            LabelColumn::Named(_) => Side::First,
        };
        if known != Some(label)
            && let Some(text) = &mut Arc::make_mut(&mut schema).text
        {
            text.side = Some(label);
        }
        let mut window = Window::new(input, how.limits.line_bytes)?;
        if header {
            skip_line(&mut window)?;
        }
        Ok(boxed(how, schema, Rows::Messages(Box::new(window), Form::Lines(label))))
    }
}

impl Format for TextFolder {
    fn info(&self) -> FormatInfo {
        FormatInfo {
            name: "text-folder",
            aliases: &["mail-folder"],
            extensions: &[],
            about: "a folder of text or mail files per class",
            takes_folders: true,
        }
    }

    fn sniff(&self, head: &Head<'_>) -> Sniff {
        let Part::Folder(path) = head.part else { return Sniff::No };
        let Ok((files, _)) = list_folder(path) else { return Sniff::No };
        let Some(first) = files.first() else { return Sniff::No };
        let Ok(input) = first.part.open() else { return Sniff::No };
        let bytes = input.head();
        if bytes.contains(&0) || super::refuse(bytes).is_some() {
            return Sniff::No;
        }
        let is_text = match std::str::from_utf8(bytes) {
            Ok(_) => true,
            // The head may end inside a character.
            Err(error) => error.error_len().is_none() || mail_body(bytes).is_some(),
        };
        if is_text { Sniff::Likely } else { Sniff::No }
    }

    fn open(&self, input: Input, how: &ReadOptions) -> Result<Box<dyn Reader>, DataError> {
        let Part::Folder(path) = input.part() else {
            let message = "this is a file, expected a folder of one folder per class";
            return Err(DataError::new(ErrorKind::Format, message).in_source(input.name()));
        };
        let mut schema = schema(how).map_err(|error| error.in_source(input.name()))?;
        let (mut files, notes) = list_folder(path)?;
        if files.is_empty() {
            let message = "the folders hold no files, expected one folder of files per class";
            return Err(DataError::new(ErrorKind::Empty, message).in_source(input.name()));
        }
        if how.label == LabelColumn::Absent {
            for file in &mut files {
                file.label = None;
            }
        }
        for note in notes {
            if !schema.notes.contains(&note) {
                Arc::make_mut(&mut schema).notes.push(note);
            }
        }
        Ok(boxed(how, schema, Rows::Files(files)))
    }
}

/// The names of the two columns, if `line` says them.
fn header_names(line: &[u8]) -> Option<(String, String)> {
    let line = String::from_utf8_lossy(line).trim().to_lowercase();
    let (first, second) = line.split_once('\t')?;
    let pair = |label, text| HEADER_LABELS.contains(&label) && HEADER_TEXTS.contains(&text);
    (pair(first, second) || pair(second, first)).then(|| (first.to_owned(), second.to_owned()))
}

/// Takes the first line that is not blank out of the window, and the blank ones before it.
fn skip_line(window: &mut Window) -> Result<(), DataError> {
    loop {
        let lines = window.lines()?;
        let (mut n_bytes, mut n_lines, mut is_blank) = (0, 0, true);
        for line in lines.split_inclusive(|&byte| byte == b'\n') {
            n_bytes += line.len();
            n_lines += u64::from(line.ends_with(b"\n"));
            is_blank = line.trim_ascii().is_empty();
            if !is_blank {
                break;
            }
        }
        window.consume(n_bytes, n_lines);
        if n_bytes == 0 || !is_blank {
            return Ok(());
        }
    }
}

fn boxed(how: &ReadOptions, schema: Arc<Schema>, rows: Rows) -> Box<dyn Reader> {
    match how.precision {
        Precision::Single => reader::<f32>(how, schema, rows),
        Precision::Double => reader::<f64>(how, schema, rows),
    }
}

fn reader<T: Stored>(how: &ReadOptions, schema: Arc<Schema>, rows: Rows) -> Box<dyn Reader> {
    let text_rows = schema.text.as_ref().map(TextRows::new).unwrap_or_default();
    let (max_names, keep_texts) = (how.limits.vocabulary, how.keep_texts);
    let stored = PhantomData::<T>;
    let taker = Taker { schema, text_rows, max_names, keep_texts, on_bad_row: how.on_bad_row, stored };
    match rows {
        Rows::Messages(window, form) => {
            let messages = Messages { taker, form, cells: Vec::new() };
            Box::new(MessageReader { chunks: Chunks::new(*window, messages, how.threads) })
        }
        Rows::Files(files) => {
            let max_bytes = how.limits.line_bytes as u64;
            Box::new(FileReader { files: files.into_iter(), taker, max_bytes, n_rows: 0 })
        }
    }
}

/// The schema that `how` brings, or one that is still to be fitted.
fn schema(how: &ReadOptions) -> Result<Arc<Schema>, DataError> {
    if let Some(schema) = &how.schema {
        if schema.text.is_none() {
            let message = "this is text, expected the columns that were learned from";
            return Err(DataError::new(ErrorKind::Shape, message));
        }
        return Ok(Arc::clone(schema));
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

/// A file that is one row.
#[derive(Debug)]
struct File {
    label: Option<String>,
    part: Part,
}

/// The files of each class, and what is odd about the folder.
fn list_folder(path: &Path) -> Result<(Vec<File>, Vec<String>), DataError> {
    let is_folder = |path: &PathBuf| fs::metadata(path).is_ok_and(|metadata| metadata.is_dir());
    let (mut files, mut notes) = (Vec::new(), Vec::new());
    let (mut n_stray, mut n_deep) = (0, 0);
    for class in sorted_entries(path)? {
        if !is_folder(&class) {
            n_stray += 1;
            continue;
        }
        let label = class.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let n_before = files.len();
        for entry in sorted_entries(&class)? {
            if is_folder(&entry) {
                n_deep += 1;
            } else {
                files.push(File { label: Some(label.clone()), part: Part::File(entry) });
            }
        }
        if files.len() == n_before {
            notes.push(format!("folder {} holds no files; it is no class", quote(label.as_bytes())));
        }
    }
    if n_stray > 0 {
        notes.push(format!("{n_stray} file(s) beside the folders of the classes were left out"));
    }
    if n_deep > 0 {
        notes.push(format!("{n_deep} folder(s) inside the folders of the classes were left out"));
    }
    Ok((files, notes))
}

/// Where the body of a mail begins; nothing if the bytes do not begin with mail headers.
fn mail_body(bytes: &[u8]) -> Option<(Range<usize>, usize)> {
    const TELLING: [&[u8]; 7] =
        [b"from", b"to", b"subject", b"received", b"return-path", b"message-id", b"date"];
    let (mut at, mut n_telling) = (0, 0);
    let mut subject: Option<Range<usize>> = None;
    let mut in_subject = false;
    while at < bytes.len() {
        let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |newline| at + newline + 1);
        let line = &bytes[at..end];
        if line.trim_ascii().is_empty() {
            return (n_telling >= 2).then(|| (subject.unwrap_or(0..0), end));
        }
        if matches!(line[0], b' ' | b'\t') && at > 0 {
            if let (true, Some(subject)) = (in_subject, &mut subject) {
                subject.end = end;
            }
        } else if !(at == 0 && line.starts_with(b"From ")) {
            let colon = memchr::memchr(b':', line)?;
            let name = &line[..colon];
            if name.is_empty() || !name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-') {
                return None;
            }
            n_telling += usize::from(TELLING.iter().any(|known| name.eq_ignore_ascii_case(known)));
            in_subject = name.eq_ignore_ascii_case(b"subject");
            if in_subject {
                subject = Some(at + colon + 1..end);
            }
        }
        at = end;
    }
    // Headers only, or headers that go on beyond what is seen.
    (n_telling >= 2).then(|| (subject.unwrap_or(0..0), bytes.len()))
}

/// Bytes of unknown encoding: UTF-8 if they are that, else Latin-1.
fn utf8_or_latin1(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(bytes.iter().map(|&byte| char::from(byte)).collect()),
    }
}

/// Where rows come from.
enum Rows {
    Messages(Box<Window>, Form),
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

/// How texts stand in a file.
#[derive(Debug, Clone)]
enum Form {
    /// One a line.
    Lines(Side),
    /// In the cells of a column.
    Table(Table),
}

/// Turns lines and records into rows.
#[derive(Clone)]
struct Messages<T> {
    taker: Taker<T>,
    form: Form,
    cells: Vec<Cell>,
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
        block.labelled = match &self.form {
            Form::Lines(side) => *side != Side::None,
            Form::Table(table) => table.label_at.is_some(),
        };
    }

    fn parse(&mut self, text: &[u8], block: &mut Block) -> Result<(usize, u64), Stopped> {
        let (mut at, mut n_lines) = (0, 0);
        while at < text.len() {
            let rest = &text[at..];
            let (n_bytes, outcome) = match &self.form {
                Form::Lines(side) => {
                    let n_bytes = memchr::memchr(b'\n', rest).map_or(rest.len(), |newline| newline + 1);
                    let bare = rest[..n_bytes].strip_suffix(b"\n").unwrap_or(rest);
                    let bare = bare.strip_suffix(b"\r").unwrap_or(bare);
                    let is_blank = bare.trim_ascii().is_empty();
                    (n_bytes, if is_blank { Ok(()) } else { take_line(bare, *side, block, &mut self.taker) })
                }
                Form::Table(table) => match scan_record(rest, table.delimiter, &mut self.cells) {
                    Ok(None) => break,
                    Ok(Some(n_bytes)) => {
                        let record = &rest[..n_bytes];
                        if record.trim_ascii().is_empty() {
                            (n_bytes, Ok(()))
                        } else {
                            (n_bytes, table.take(record, &self.cells, block, &mut self.taker))
                        }
                    }
                    Err(mistake) => {
                        (memchr::memchr(b'\n', rest).map_or(rest.len(), |newline| newline + 1), Err(mistake))
                    }
                },
            };
            if let Err(mistake) = outcome {
                if self.taker.refuses(mistake.kind) {
                    return Err(Stopped { mistake, line_idx: n_lines, start: at });
                }
                block.n_skipped += 1;
            }
            n_lines += memchr::memchr_iter(b'\n', &rest[..n_bytes]).count() as u64;
            at += n_bytes;
        }
        Ok((at, n_lines))
    }

    fn stands_alone(&self, text: &[u8]) -> bool {
        // Only quotes keep records together across lines.
        matches!(self.form, Form::Lines(_)) || memchr::memchr(b'"', text).is_none()
    }

    fn has_memory(&self) -> bool {
        self.taker.schema.provisional
    }

    fn unfinished(&mut self, _text: &[u8]) -> Box<Mistake> {
        let open = self.cells.last().map_or(0, |cell| cell.at.start);
        let message = "the quote that opens here is never closed, expected a `\"`";
        Mistake::new(ErrorKind::Syntax, open..open + 1, message)
    }
}

/// Makes a row of every file.
struct FileReader<T> {
    files: std::vec::IntoIter<File>,
    taker: Taker<T>,
    max_bytes: u64,
    n_rows: u64,
}

impl<T: Stored> Reader for FileReader<T> {
    fn schema(&self) -> &Schema {
        &self.taker.schema
    }

    fn read(&mut self, into: &mut Block) -> Result<bool, DataError> {
        self.taker.clear(into);
        into.first_row = self.n_rows;
        let mut n_bytes = 0;
        // A block is labelled or not as a whole.
        into.labelled = self.files.as_slice().first().is_some_and(|file| file.label.is_some());
        while n_bytes < BLOCK_BYTES && into.len() < BLOCK_FILES {
            let Some(file) = self.files.next() else { break };
            match take_file(&file, into, &mut self.taker, self.max_bytes, self.n_rows) {
                Ok(length) => n_bytes += length,
                Err(error) if self.taker.refuses(error.kind()) => return Err(error),
                Err(_) => into.n_skipped += 1,
            }
        }
        self.n_rows += into.len() as u64 + into.n_skipped;
        Ok(!into.is_empty())
    }
}

fn take_line<T: Stored>(
    line: &[u8],
    side: Side,
    block: &mut Block,
    taker: &mut Taker<T>,
) -> Result<(), Box<Mistake>> {
    let tab = match side {
        Side::First => memchr::memchr(b'\t', line),
        Side::Last => memchr::memrchr(b'\t', line),
        Side::None => Some(0),
    };
    let Some(tab) = tab else {
        let message = "the line has no tab, expected the label, a tab, and the text";
        return Err(Mistake::new(ErrorKind::Syntax, line.len()..line.len(), message)
            .with_help("if there are no labels, say {label=none}"));
    };
    let (label, text) = match side {
        Side::First => (0..tab, tab + 1..line.len()),
        Side::Last => (tab + 1..line.len(), 0..tab),
        Side::None => (0..0, 0..line.len()),
    };
    let text = utf8(line, text)?;
    let class = match side {
        Side::None => 0,
        _ => number_of(&line[label.clone()], &mut block.names)
            .map_err(|bad| Mistake::new(ErrorKind::Label, label.clone(), bad.message(&line[label])))?,
    };
    taker.take(text, block)?;
    block.classes.push(class);
    Ok(())
}

pub(super) fn number_of(label: &[u8], names: &mut LabelTable) -> Result<u32, BadLabel> {
    names.number(label.trim_ascii())
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

fn take_file<T: Stored>(
    file: &File,
    into: &mut Block,
    taker: &mut Taker<T>,
    max_bytes: u64,
    n_rows: u64,
) -> Result<usize, DataError> {
    let name = file.part.name();
    let bytes = file.part.open()?.into_bytes(max_bytes)?;
    let row = n_rows + into.len() as u64 + into.n_skipped + 1;
    let place = |mistake: Box<Mistake>| mistake.locate(&name, &bytes, 1, row, false);
    let plain = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
    let text = if let Some((subject, body)) = mail_body(plain) {
        let subject = utf8_or_latin1(&plain[subject]);
        Cow::Owned(format!("{}\n{}", subject.trim(), utf8_or_latin1(&plain[body..])))
    } else {
        let start = bytes.len() - plain.len();
        Cow::Borrowed(utf8(&bytes, start..bytes.len()).map_err(place)?)
    };
    let class = match &file.label {
        Some(label) => number_of(label.as_bytes(), &mut into.names).map_err(|bad| {
            DataError::new(ErrorKind::Label, bad.message(label.as_bytes())).in_source(&name)
        })?,
        None => 0,
    };
    taker.take(&text, into).map_err(place)?;
    into.classes.push(class);
    Ok(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::source::Source;
    use crate::encode::{TextOptions, Weighting};
    use crate::load::{load_source, load_with_schema, read_rows, texts};

    fn source(text: &str) -> Source {
        Source::bytes("t.tsv", text.as_bytes().to_vec())
    }

    fn counts() -> ReadOptions {
        let text = TextOptions {
            longest: 1,
            min_count: Some(1),
            weighting: Weighting::Count,
            unit_length: false,
            ..TextOptions::default()
        };
        ReadOptions { text, ..ReadOptions::default() }
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
        let how = ReadOptions::default().with_schema(Arc::new(schema));
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
        assert_eq!(texts(&table, &ReadOptions::default(), &[0]).unwrap(), None);
        let column = ReadOptions { text_column: Some("v2".into()), ..counts() };
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
        let how = ReadOptions { text_column: Some("v2".into()), ..counts() };
        let messages =
            table("v1,v2,more\nham,\"See you, \"\"soon\"\"\nOK?\",\nspam,WIN cash,x\r\n\nham,see cash,\n");
        let (data, schema) = load_with_schema(&messages, &how).unwrap();
        assert_eq!(data.feature_names().unwrap(), ["cash", "ok", "see", "soon", "win", "you"]);
        assert_eq!((data.len(), data.labels().names()), (3, &["ham".to_owned(), "spam".to_owned()][..]));
        assert_eq!(schema.label.as_deref(), Some("v1"));
        let later = ReadOptions::default().with_schema(Arc::new(schema));
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
        let by_number = ReadOptions { text_column: Some("-1".into()), ..counts() };
        assert_eq!(load_source(&table("a;x y\nb;z\n"), &by_number).unwrap().len(), 2);
        assert!(load_source(&table("a,b\n1,2\n"), &how).is_err());
    }

    #[test]
    fn folders_of_files_and_mail() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, content: &[u8]| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        };
        write("ham/1.txt", b"see you\nsoon");
        write("ham/2", b"From a Mon\nFrom: a\nSubject: old\n friends\nTo: b\n\nfrom bod\xE9\n");
        write("spam/1.txt", b"win cash");
        write("spam/deep/x", b"x");
        write("README", b"stray");
        fs::create_dir(folder.path().join("eggs")).unwrap();
        let source = Source::find(folder.path()).unwrap();
        let (data, schema) = load_with_schema(&source, &counts()).unwrap();
        assert_eq!(data.labels().names(), ["ham", "spam"]);
        assert_eq!(data.classes(), [0, 0, 1]);
        let names = ["bodé", "cash", "friends", "from", "old", "see", "soon", "win", "you"];
        assert_eq!(data.feature_names().unwrap(), names);
        assert_eq!(schema.notes.len(), 3, "{:?}", schema.notes);
        write("spam/2.txt", b"ok\nbad \xFF");
        let error = load_source(&source, &counts()).unwrap_err();
        assert!(error.to_string().contains("2.txt:2:5: "), "{error}");
        // A mail alone is a row to be labelled.
        let how = ReadOptions::default().with_schema(Arc::new(schema));
        let mail = Source::bytes("a.eml", *b"Subject: win\nFrom: x\n\nsee\n");
        assert_eq!(read_rows(&mail, &how).unwrap()[0].1, [(5, 1.0), (7, 1.0)]);
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
            text_column: text_column.map(str::to_owned),
            ..ReadOptions::default()
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
