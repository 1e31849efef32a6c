//! A file a text: a folder of files per class, and mail.
//!
//! A folder is read as one row per file; the name of the subfolder is the label, subfolders of those are
//! not looked at. A file that begins with mail headers counts as mail: the words of its `Subject` and of
//! everything below the headers are taken as they stand (attachments and encodings are not unpacked),
//! and bytes that are not UTF-8 are read as Latin-1. Every other file must be UTF-8.

use super::{Rows, Taker, boxed, number_of, schema, utf8};
use crate::bytes::source::{Input, Part, sorted_entries};
use crate::error::{DataError, ErrorKind, Mistake, quote};
use crate::formats::{Format, FormatInfo, Head, Reader, Sniff};
use crate::options::{LabelColumn, ReadOptions};
use crate::rows::block::{Block, Stored};
use crate::rows::schema::Schema;
use std::borrow::Cow;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// About how many bytes of files make a block.
const BLOCK_BYTES: usize = 256 << 10;

/// The most files that make a block.
const BLOCK_FILES: usize = 1024;

/// A folder of files per class.
#[derive(Debug)]
pub(crate) struct TextFolder;

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
        if bytes.contains(&0) || crate::formats::refuse(bytes).is_some() {
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

/// A file that is one row.
#[derive(Debug)]
pub(super) struct File {
    pub(super) label: Option<String>,
    pub(super) part: Part,
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
    use super::super::tests::counts;
    use super::*;
    use crate::bytes::source::Source;
    use crate::load::{load_source, load_with_schema, read_rows};

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
        let how = ReadOptions::as_stored().with_schema(Arc::new(schema));
        let mail = Source::bytes("a.eml", *b"Subject: win\nFrom: x\n\nsee\n");
        assert_eq!(read_rows(&mail, &how).unwrap()[0].1, [(5, 1.0), (7, 1.0)]);
    }
}
