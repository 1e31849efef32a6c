//! A file a text: a mail or a message by itself, and a folder of them per class.
//!
//! The files of a folder and of the folders in it are of the class that the folder names; see [`Tree`]. A model that
//! learned from whole files labels whole files: one that is named, each of a folder, or what comes through a pipe.
//!
//! What begins with mail headers counts as mail: the words of its `Subject` and of everything below the headers are
//! taken as they stand (attachments and encodings are not unpacked). Texts that are not UTF-8 are read as
//! Windows-1252, of which Latin-1 is a part, and counted; wide encodings and bytes that are no text are refused.

use super::{Rows, Taker, boxed, number_of, schema};
use crate::bytes::source::{Input, Part};
use crate::bytes::tree::Tree;
use crate::bytes::window::wide_encoding;
use crate::error::{DataError, ErrorKind, Mistake};
use crate::formats::{Format, FormatInfo, Head, Reader, Sniff};
use crate::options::{LabelColumn, ReadOptions};
use crate::rows::block::{Block, Stored};
use crate::rows::schema::Schema;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// About how many bytes of files make a block.
const BLOCK_BYTES: usize = 256 << 10;

/// The most files that make a block.
const BLOCK_FILES: usize = 1024;

/// What the bytes 0x80 to 0x9F are in Windows-1252; five are nothing, and stand for themselves as in Latin-1.
const WINDOWS_1252: [char; 32] = [
    '\u{20AC}', '\u{81}', '\u{201A}', '\u{192}', '\u{201E}', '\u{2026}', '\u{2020}', '\u{2021}', '\u{2C6}',
    '\u{2030}', '\u{160}', '\u{2039}', '\u{152}', '\u{8D}', '\u{17D}', '\u{8F}', '\u{90}', '\u{2018}',
    '\u{2019}', '\u{201C}', '\u{201D}', '\u{2022}', '\u{2013}', '\u{2014}', '\u{2DC}', '\u{2122}', '\u{161}',
    '\u{203A}', '\u{153}', '\u{9D}', '\u{17E}', '\u{178}',
];

/// A file that is one text.
#[derive(Debug)]
pub(crate) struct Message;

/// How many folders that are classes are named.
const NAMED_FOLDERS: usize = 8;

/// A folder of files per class.
#[derive(Debug)]
pub(crate) struct TextFolder;

impl Format for Message {
    fn info(&self) -> FormatInfo {
        FormatInfo {
            aliases: &["mail"],
            extensions: &["eml"],
            ..FormatInfo::new("message", "a mail or another text that is one row, to be labelled")
        }
    }

    fn heeds(&self) -> &'static [&'static str] {
        TextFolder.heeds()
    }

    fn sniff(&self, head: &Head<'_>) -> Sniff {
        if is_text(head.bytes) && mail_body(head.bytes).is_some() { Sniff::Likely } else { Sniff::No }
    }

    fn open(&self, input: Input, how: &ReadOptions) -> Result<Box<dyn Reader>, DataError> {
        if how.label != LabelColumn::Absent && how.schema.is_none() {
            let message = "this is a message without a label, expected rows of data";
            return Err(DataError::new(ErrorKind::Format, message).in_source(input.name()).with_help(
                "to learn from messages, put them into a folder per class and name the folder above",
            ));
        }
        let schema = schema(how).map_err(|error| error.in_source(input.name()))?;
        Ok(boxed(how, schema, Rows::Files(vec![File { label: None, from: From::Input(Box::new(input)) }])))
    }

    fn takes_nothing(&self) -> bool {
        // A message may be empty.
        true
    }
}

impl Format for TextFolder {
    fn info(&self) -> FormatInfo {
        FormatInfo {
            aliases: &["mail-folder"],
            takes_folders: true,
            ..FormatInfo::new("text-folder", "a folder of text or mail files per class")
        }
    }

    fn heeds(&self) -> &'static [&'static str] {
        &["hash-bits", "ngrams", "characters", "words"]
    }

    fn sniff(&self, head: &Head<'_>) -> Sniff {
        let Part::Folder(path) = head.part else { return Sniff::No };
        // What cannot be looked at is complained about when it is read.
        let Ok(Tree { files, .. }) = Tree::look(path, "texts", |_| true) else { return Sniff::Maybe };
        let Some((first, _)) = files.into_iter().next() else { return Sniff::No };
        let Ok(input) = Part::File(first).open() else { return Sniff::No };
        let bytes = input.head();
        if is_text(bytes) && crate::formats::refuse(bytes).is_none() { Sniff::Likely } else { Sniff::No }
    }

    fn open(&self, input: Input, how: &ReadOptions) -> Result<Box<dyn Reader>, DataError> {
        let Part::Folder(path) = input.part() else {
            let message = "this is a file, expected a folder of one folder per class";
            return Err(DataError::new(ErrorKind::Format, message).in_source(input.name()));
        };
        let mut schema = schema(how).map_err(|error| error.in_source(input.name()))?;
        let Tree { files, classes, notes, .. } = Tree::look(path, "texts", |_| true)?;
        if files.is_empty() {
            let message = "the folders hold no files, expected one folder of files per class";
            return Err(DataError::new(ErrorKind::Empty, message).in_source(input.name()));
        }
        let labelled = how.label != LabelColumn::Absent;
        let files = files.into_iter().map(|(path, class)| File {
            label: labelled.then(|| classes[class].clone()),
            from: From::Part(Part::File(path)),
        });
        let files = files.collect();
        let known = schema.notes.len();
        let mut told = notes;
        if labelled {
            let first: Vec<String> =
                classes.iter().take(NAMED_FOLDERS).map(|class| format!("`{class}`")).collect();
            let dots = if classes.len() > NAMED_FOLDERS { ", …" } else { "" };
            told.push(format!("every folder is taken for a class: {}{dots}", first.join(", ")));
        }
        let new: Vec<String> = told.into_iter().filter(|note| !schema.notes.contains(note)).collect();
        let is_told = schema.text.as_ref().is_some_and(|text| text.whole_files);
        if known + new.len() > known || !is_told {
            let schema = Arc::make_mut(&mut schema);
            schema.notes.extend(new);
            if let Some(text) = &mut schema.text {
                text.whole_files = true;
            }
        }
        Ok(boxed(how, schema, Rows::Files(files)))
    }
}

/// A file that is one row.
pub(super) struct File {
    label: Option<String>,
    from: From,
}

/// Where the bytes of a file are.
enum From {
    Part(Part),
    /// What was opened to look at it may not open again: a pipe.
    Input(Box<Input>),
}

/// Whether a byte stands in no text, so that it is taken as a space.
fn is_odd(byte: u8) -> bool {
    matches!(byte, 0..=8 | 0x0E..=0x1A | 0x7F)
}

/// Whether bytes may be text: hardly any control characters but those that texts have. A few are slips of the author of
/// it; one in eight, or many of them, are no text.
pub(super) fn is_text(bytes: &[u8]) -> bool {
    let n_odd = bytes.iter().filter(|byte| is_odd(**byte)).count();
    let bytes_per_slip = if n_odd <= 4 { 8 } else { 32 };
    n_odd * bytes_per_slip <= bytes.len().max(8)
}

/// Whether `input` is one mail.
pub(crate) fn is_mail(input: &Input) -> bool {
    input.extension().as_deref() == Some("eml") || mail_body(input.head()).is_some()
}

/// Where the body of a mail begins; nothing if the bytes do not begin with mail headers.
pub(super) fn mail_body(bytes: &[u8]) -> Option<(Range<usize>, usize)> {
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
        } else if at == 0 && line.starts_with(b"From ") {
            // So begins every mail of an mbox.
            n_telling += 1;
        } else {
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

/// Bytes of unknown encoding: UTF-8 if they are that, else Windows-1252, and whether they are.
fn utf8_or_windows(bytes: &[u8]) -> (Cow<'_, str>, bool) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return (Cow::Borrowed(text), false);
    }
    let letter = |&byte: &u8| match byte {
        0x80..=0x9F => WINDOWS_1252[usize::from(byte - 0x80)],
        _ => char::from(byte),
    };
    (Cow::Owned(bytes.iter().map(letter).collect()), true)
}

/// Makes a row of every file.
pub(super) struct FileReader<T> {
    files: std::vec::IntoIter<File>,
    taker: Taker<T>,
    max_bytes: u64,
    n_rows: u64,
}

impl<T> FileReader<T> {
    /// A reader of `files`, each of at most `max_bytes`.
    pub(super) fn new(files: Vec<File>, taker: Taker<T>, max_bytes: usize) -> Self {
        Self { files: files.into_iter(), taker, max_bytes: max_bytes as u64, n_rows: 0 }
    }
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
            match take_file(file, into, &mut self.taker, self.max_bytes, self.n_rows) {
                Ok(length) => n_bytes += length,
                Err(error) if self.taker.refuses(error.kind()) => return Err(error),
                Err(error) => into.skip_row(&error),
            }
        }
        self.n_rows += into.n_rows_seen();
        Ok(!into.is_empty())
    }
}

fn take_file<T: Stored>(
    file: File,
    into: &mut Block,
    taker: &mut Taker<T>,
    max_bytes: u64,
    n_rows: u64,
) -> Result<usize, DataError> {
    let input = match file.from {
        From::Part(part) => part.open()?,
        From::Input(input) => *input,
    };
    let name = Arc::clone(input.name());
    let mut bytes = input.into_bytes(max_bytes)?;
    if let Some(error) = wide_encoding(&bytes) {
        return Err(error.in_source(&name));
    }
    if !is_text(&bytes) {
        let odd = bytes.iter().position(|byte| is_odd(*byte)).unwrap_or(0);
        let message =
            format!("the file holds byte 0x{:02X} and others of that kind, expected text", bytes[odd]);
        let row = n_rows + into.n_rows_seen() + 1;
        return Err(Mistake::new(ErrorKind::Encoding, odd..odd + 1, message)
            .with_help("take it out of the folder")
            .locate(&name, &bytes, 1, row, false));
    }
    let mut n_odd = 0;
    for byte in bytes.iter_mut().filter(|byte| is_odd(**byte)) {
        (*byte, n_odd) = (b' ', n_odd + 1);
    }
    let plain = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
    let class = match &file.label {
        Some(label) => number_of(label.as_bytes(), &mut into.names).map_err(|bad| {
            DataError::new(ErrorKind::Label, bad.message(label.as_bytes())).in_source(&name)
        })?,
        None => 0,
    };
    let mut is_windows = false;
    for mail in mails(plain) {
        let (text, is_recoded) = match mail_body(mail) {
            Some((subject, body)) => {
                let (subject, first) = utf8_or_windows(&mail[subject]);
                let (body, second) = utf8_or_windows(&mail[body..]);
                (Cow::Owned(format!("{}\n{body}", subject.trim())), first || second)
            }
            None => utf8_or_windows(mail),
        };
        is_windows |= is_recoded;
        let row = n_rows + into.n_rows_seen() + 1;
        taker.take(&text, into).map_err(|mistake| mistake.locate(&name, &bytes, 1, row, false))?;
        into.classes.push(class);
    }
    if is_windows {
        into.gaps.recoded(&name);
    }
    if n_odd > 0 {
        into.gaps.blanked(n_odd, &name);
    }
    Ok(bytes.len())
}

/// The messages of a file: one, or the mails of an mbox, each of which begins with a line `From ` and headers.
fn mails(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    const BEGIN: &[u8] = b"From ";
    let is_mbox = bytes.starts_with(BEGIN) && mail_body(bytes).is_some();
    let mut rest = Some(bytes);
    std::iter::from_fn(move || {
        let bytes = rest.take()?;
        let is_begin = |&end: &usize| {
            let before = bytes[..end].strip_suffix(b"\n").unwrap_or(&bytes[..end]);
            let before = before.strip_suffix(b"\r").unwrap_or(before);
            let is_behind_blank = before.is_empty() || before.ends_with(b"\n");
            is_behind_blank && bytes[end..].starts_with(BEGIN) && mail_body(&bytes[end..]).is_some()
        };
        let mut ends = memchr::memchr_iter(b'\n', bytes).map(|newline| newline + 1);
        match ends.find(is_begin).filter(|_| is_mbox) {
            Some(end) => {
                rest = Some(&bytes[end..]);
                Some(&bytes[..end])
            }
            None => Some(bytes),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::counts;
    use super::*;
    use crate::bytes::source::Source;
    use crate::load::{load_source, load_with_schema, read_rows};
    use std::fs;

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
        write("spam/deep/x", b"win");
        write("README", b"stray");
        fs::create_dir(folder.path().join("eggs")).unwrap();
        let pipe = std::process::Command::new("mkfifo").arg(folder.path().join("ham/pipe")).status();
        let n_strays = 1 + usize::from(pipe.is_ok_and(|status| status.success()));
        let source = Source::find(folder.path()).unwrap();
        let (data, schema) = load_with_schema(&source, &counts()).unwrap();
        assert_eq!(data.labels().names(), ["ham", "spam"]);
        assert_eq!(data.classes(), [0, 0, 1, 1]);
        let names = ["bodé", "cash", "friends", "from", "old", "see", "soon", "win", "you"];
        assert_eq!(data.feature_names().unwrap(), names);
        let notes = schema.notes.join("\n");
        assert!(notes.contains("the folder `eggs` holds no texts; it is no class"), "{notes}");
        assert!(notes.contains(&format!("{n_strays} file(s) are no texts and were left out")), "{notes}");
        assert!(notes.contains("1 text(s) are not UTF-8 and were read as Windows-1252"), "{notes}");
        write("spam/2.txt", b"win\0cash");
        let (data, schema) = load_with_schema(&source, &counts()).unwrap();
        assert_eq!((data.len(), data.width()), (5, 9));
        let notes = schema.notes.join("\n");
        assert!(notes.contains("1 control character(s) in 1 text(s) were read as spaces"), "{notes}");
        write("spam/2.txt", b"ok\nbad \x00\x01\x02");
        let error = load_source(&source, &counts()).unwrap_err();
        assert!(error.to_string().contains("2.txt:2:5: "), "{error}");
        write("spam/2.txt", b"\xFF\xFEo\0k\0");
        let error = load_source(&source, &counts()).unwrap_err();
        assert!(error.to_string().contains("UTF-16"), "{error}");
        // A mail alone is a row to be labelled.
        let how = ReadOptions::as_stored().with_schema(Arc::new(schema));
        let mail = Source::bytes("a.eml", *b"Subject: win\nFrom: x\n\nsee\n");
        assert_eq!(read_rows(&mail, &how).unwrap()[0].1, [(5, 1.0), (7, 1.0)]);
        // So is what was learned from as a whole file: a text of two lines, an empty one, those of a flat folder.
        let to_label = ReadOptions { label: LabelColumn::Absent, ..how.clone() };
        let note = Source::bytes("note", *b"see you\nsoon\n");
        assert_eq!(read_rows(&note, &to_label).unwrap()[0].1, [(5, 1.0), (6, 1.0), (8, 1.0)]);
        assert_eq!(read_rows(&note, &to_label).unwrap().len(), 1);
        assert_eq!(read_rows(&Source::bytes("none", *b""), &to_label).unwrap()[0].1, []);
        write("new/1", b"see\nyou\n");
        write("new/2", b"Subject: win\nFrom: x\n\ncash\nnow\n");
        write("new/3", b"");
        let flat = Source::find(folder.path().join("new")).unwrap();
        assert_eq!(read_rows(&flat, &to_label).unwrap().len(), 3);
        // Lines with labels are lines all the same, and a file whose format is set to lines is.
        assert_eq!(
            read_rows(&Source::bytes("t", *b"ham\tsee you\nspam\twin a lot\n"), &how).unwrap().len(),
            2
        );
        let lines = ReadOptions { format: Some("text".into()), ..to_label };
        assert_eq!(read_rows(&note, &lines).unwrap().len(), 2);
        let error = load_source(&mail, &counts()).unwrap_err();
        assert!(error.message().contains("without a label"), "{error}");
    }

    #[test]
    fn a_tree_one_level_deeper_is_found() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in
            [("a/ham/1", "see you"), ("a/ham/x/2", "see"), ("a/spam/1", "win"), ("a/spam/2", "win")]
        {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let (data, schema) = load_with_schema(&Source::find(folder.path()).unwrap(), &counts()).unwrap();
        assert_eq!((data.labels().names(), data.len()), (&["ham".to_owned(), "spam".to_owned()][..], 4));
        assert!(schema.notes[0].starts_with("the classes are the folders of `"), "{:?}", schema.notes);
    }
}
