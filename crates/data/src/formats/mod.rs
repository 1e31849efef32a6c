//! The formats: one file each, one line in [`FORMATS`], and how the right one is found.
//!
//! Content beats name: bytes that can only be one format are that format. Otherwise the extension
//! decides, unless the content is plainly another format's, which is an error that says so rather than a
//! guess. What is plainly no data at all (a web page, a pointer of git-lfs, an image) is named.
//! Registering a format here is all it takes; nothing else in the crate knows any of them.

#[cfg(feature = "arrow")]
mod arrow_table;
mod columns;
mod matrix;
mod sense;
mod spelling;
mod zip;

pub use sense::{MISSING_CELLS, is_label_name};
pub use spelling::spelling_of;

use crate::bytes::source::{Input, Part};
use crate::bytes::window::wide_encoding;
use crate::error::{DataError, ErrorKind};
use crate::options::{LabelColumn, ReadOptions};
use crate::rows::block::Block;
use crate::rows::schema::Schema;
use crate::sentences::{SENTENCE_FORMATS, sentence_format_by_name};

/// A table of formats. `mod` declares the file of an entry; `also` is one more of a file that is declared.
macro_rules! formats {
    (@file mod $file:ident) => { mod $file; };
    (@file also $file:ident) => {};
    (
        $(#[$meta:meta])*
        pub static $table:ident: $what:ident;
        $($(#[$entry_meta:meta])* $kind:ident $file:ident::$entry:ident;)+
    ) => {
        $($crate::formats::formats! { @file $kind $file })+

        $(#[$meta])*
        pub static $table: &[&dyn $what] = &[$($(#[$entry_meta])* &$file::$entry),+];
    };
}
pub(crate) use formats;

formats! {
    /// All formats, in the order in which they are tried. A page, which has to be fetched, reads tables and text.
    pub static FORMATS: Format;
    #[cfg(not(target_family = "wasm"))]
    mod libsvm::Libsvm;
    #[cfg(not(target_family = "wasm"))]
    mod vw::Vw;
    mod text::Message;
    also text::Text;
    mod csv::Csv;
    #[cfg(not(target_family = "wasm"))]
    mod idx::Idx;
    #[cfg(not(target_family = "wasm"))]
    mod numpy::Numpy;
    #[cfg(not(target_family = "wasm"))]
    mod json_lines::JsonLines;
    #[cfg(not(target_family = "wasm"))]
    mod images::Images;
    #[cfg(not(target_family = "wasm"))]
    also images::Lone;
    mod parquet::Parquet;
    mod arrow_ipc::ArrowIpc;
    #[cfg(not(target_family = "wasm"))]
    also text::TextFolder;
}

/// A way to write rows into bytes, and back.
pub trait Format: Sync {
    /// What it is called and what it is.
    fn info(&self) -> FormatInfo;

    /// How much the beginning of a source looks like this format.
    fn sniff(&self, head: &Head<'_>) -> Sniff;

    /// Whether all must have been read before the first row can be made, and rows are not kept meanwhile.
    fn reads_twice(&self, _how: &ReadOptions) -> bool {
        false
    }

    /// A reader for `input`.
    fn open(&self, input: Input, how: &ReadOptions) -> Result<Box<dyn Reader>, DataError>;

    /// Whether features have names in every row, and no numbers.
    fn names_features(&self) -> bool {
        false
    }

    /// Which options of reading mean something here, beside those that mean the same everywhere.
    fn heeds(&self) -> &'static [&'static str];

    /// Whether features have numbers and nothing else, by which they can be left out.
    fn numbers_features(&self) -> bool {
        false
    }

    /// Whether a source without a byte is one of this format.
    fn takes_nothing(&self) -> bool {
        false
    }
}

/// A source of blocks.
pub trait Reader: Send {
    /// What is known of the columns; grows while the schema is provisional.
    fn schema(&self) -> &Schema;

    /// Empties `into` and fills it with the next rows, at least one; `false` at the end.
    ///
    /// Labels are numbered within the block. While the schema is provisional the rows have no features yet: those
    /// of a table have cells to make them of, others are surveyed.
    fn read(&mut self, into: &mut Block) -> Result<bool, DataError>;
}

impl std::fmt::Debug for dyn Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").field("schema", self.schema()).finish_non_exhaustive()
    }
}

/// What a format is called and what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormatInfo {
    /// What it is called.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// File name extensions, in lower case.
    pub extensions: &'static [&'static str],
    /// One line about it.
    pub about: &'static str,
    /// Whether it reads folders of one subfolder per class rather than files.
    pub takes_folders: bool,
    /// Whether a table of one column may look like it.
    pub like_one_column: bool,
}

impl FormatInfo {
    /// A format of files with this name; what else is known is added to it.
    pub const fn new(name: &'static str, about: &'static str) -> Self {
        Self { name, aliases: &[], extensions: &[], about, takes_folders: false, like_one_column: false }
    }

    /// Whether it goes by this name.
    pub fn is_called(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
            || self.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(name))
    }
}

/// The beginning of a source, for sniffing.
#[derive(Debug, Clone, Copy)]
pub struct Head<'a> {
    /// The first bytes, without a byte-order mark.
    pub bytes: &'a [u8],
    /// Whether that is all.
    pub is_all: bool,
    /// The extension of the name, in lower case.
    pub extension: Option<&'a str>,
    /// Where the bytes come from; a folder has none.
    pub part: &'a Part,
}

impl<'a> Head<'a> {
    /// The lines that are whole, without their line ends.
    pub fn lines(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let end = if self.is_all {
            self.bytes.len()
        } else {
            // A line longer than the head is better than none.
            memchr::memrchr(b'\n', self.bytes).map_or(self.bytes.len(), |newline| newline + 1)
        };
        self.bytes[..end]
            .split_inclusive(|&byte| byte == b'\n')
            .map(|line| line.strip_suffix(b"\n").unwrap_or(line))
            .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
    }
}

/// How much something looks like a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sniff {
    /// Not at all.
    No,
    /// It could be, for want of a better guess.
    Maybe,
    /// It very much does.
    Likely,
    /// It cannot be anything else: magic bytes.
    Certain,
}

/// What tables heed, whatever they are stored in.
const OF_TABLES: &[&str] = &[
    "label",
    "weight",
    "ignore",
    "categorical",
    "missing",
    "hash-bits",
    "text",
    "cross",
    "shape",
    "unknown",
    "ngrams",
    "characters",
    "words",
    "zero-based",
];

/// An option in `how` that `format` could not heed is an error: none is passed over in silence.
pub(crate) fn check_options(format: &dyn Format, how: &ReadOptions) -> Result<(), DataError> {
    let heeded = format.heeds();
    if how.schema.as_ref().is_some_and(|schema| !schema.columns.is_empty() && !schema.zero_based) {
        columns::check_first_index(how, "the model knows its features by name")?;
    }
    let Some((option, why)) = how.said().into_iter().find(|(option, _)| !heeded.contains(option)) else {
        return Ok(());
    };
    let message = format!("`{option}` means nothing in {}: {why}", shown(format.info().name));
    Err(DataError::new(ErrorKind::Options, message).with_help(format!("leave {{{option}}} out")))
}

/// The format called `name`.
pub fn find_format(name: &str) -> Result<&'static dyn Format, DataError> {
    let wanted = |format: &&&dyn Format| {
        let info = format.info();
        info.name.eq_ignore_ascii_case(name)
            || info.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(name))
    };
    FORMATS.iter().find(wanted).copied().ok_or_else(|| {
        let message = format!("the format should be one of {}, but is `{name}`", format_names());
        DataError::new(ErrorKind::Options, message)
    })
}

/// The format that `how` names, or that `input` is found to have.
pub fn find(input: &Input, how: &ReadOptions) -> Result<&'static dyn Format, DataError> {
    #[cfg(feature = "arrow")]
    if let Part::Table(..) = input.part() {
        return Ok(&arrow_ipc::ArrowIpc);
    }
    let is_folder = matches!(input.part(), Part::Folder(_));
    if let (None, Some(learned), false) = (&how.format, &how.schema, is_folder)
        && let Some(format) = find_for_messages(input, learned, how)?
    {
        return Ok(format);
    }
    let Some(name) = &how.format else {
        let chosen = choose(input).map_err(|error| error.in_source(input.name()))?;
        // A table of one column looks like text, or like labels alone; a model that learned from columns, or an option
        // that names one, expects columns.
        let learned_from_columns = how.schema.as_ref().is_some_and(|schema| !schema.columns.is_empty());
        let has_numbers = || {
            let name = chosen.info().name;
            name != "text" && chosen.sniff(&head_of(input, None)) >= Sniff::Likely
        };
        let is_table = learned_from_columns || !how.text_columns.is_empty() && !has_numbers();
        let mistaken = is_table && chosen.info().like_one_column;
        return Ok(if mistaken { &csv::Csv } else { chosen });
    };
    let format = find_format(name)?;
    if input.head().is_empty() && !is_folder && !format.takes_nothing() {
        return Err(no_bytes().in_source(input.name()));
    }
    Ok(format)
}

/// The format of messages for a model that learned from messages, if it is not to be found out as that of other data.
/// Whatever they come in, a message is a row.
fn find_for_messages(
    input: &Input,
    learned: &Schema,
    how: &ReadOptions,
) -> Result<Option<&'static dyn Format>, DataError> {
    let Some(text) = learned.message_encoder() else { return Ok(None) };
    let extension = input.extension();
    let head = head_of(input, extension.as_deref());
    if let Some(format) = certain(&head) {
        return Ok(Some(format));
    }
    if text::is_mail(input) {
        return Ok(Some(&text::Message));
    }
    let cells = first_cells(&head);
    if let [column] = &learned.columns[..] {
        // Columns are what was learned from. Lines that are none of a table are messages.
        let is_named = cells.contains(&column.name.to_lowercase());
        let are_pairs = || !is_named && text::Text.sniff(&head) == Sniff::Likely;
        let may_be_table = head.extension.is_some_and(names_table) || csv::Csv.sniff(&head) == Sniff::Likely;
        let is_table = head.bytes.is_empty()
            || how.delimiter.is_some()
            || how.header.is_some()
            || !learned.has_names
            || is_named
            || may_be_table && !are_pairs();
        if is_table {
            return Ok(None);
        }
    }
    let is_lone_file = text.whole_files
        && (how.label == LabelColumn::Absent || text::Text.sniff(&head_of(input, None)) == Sniff::No);
    let n_texts = cells.iter().filter(|cell| sense::is_text_name(cell)).count();
    // Lines `label<TAB>text` have a reader of their own, whatever the name says of tables. A column of texts beside one that
    // holds no labels is none of them.
    let is_named_pair = n_texts == 0
        || how.label != LabelColumn::Absent
        || cells.iter().any(|cell| sense::is_header_label(cell));
    let is_pair = cells.len() == 2
        && is_named_pair
        && head.bytes.split(|&byte| byte == b'\n').next().is_some_and(|line| line.contains(&b'\t'));
    let says_table = head.extension.is_some_and(names_table) && !is_pair && head.extension != Some("tsv");
    let speaks_of_table = n_texts == 1 && cells.len() > 1 && !is_pair;
    if how.delimiter.is_some() && !is_pair || speaks_of_table || says_table && (n_texts > 0 || !is_lone_file)
    {
        return Ok(Some(&csv::Csv));
    }
    if says_table {
        let message = "this may be a table of messages or one message, expected to know which";
        return Err(DataError::new(ErrorKind::Format, message)
            .in_source(input.name())
            .with_help("say {format=csv} for a message a row, or {format=message} for one message"));
    }
    if is_lone_file {
        return Ok(Some(&text::Message));
    }
    if n_texts == 1 && cells.len() == 1 && how.header.is_none() {
        let message = format!("the first line is `{}`: a message, or the name of a column", cells[0]);
        return Err(DataError::new(ErrorKind::Format, message)
            .in_source(input.name())
            .with_help("say {format=csv} if it is a name, or {format=text} if each line is a message"));
    }
    if input.head().is_empty() {
        return Ok(None);
    }
    match other_than_lines(&head, input) {
        Some(what) => Err(DataError::new(ErrorKind::Format, format!("{what}, expected a message a line"))
            .in_source(input.name())
            .with_help("bring the messages into one of the formats they may have, or say {format=text} if each line is one")),
        None => Ok(Some(&text::Text)),
    }
}

/// What `input` plainly is, if not a message a line. One message may look like a row; where rows are, all lines do.
fn other_than_lines(head: &Head<'_>, input: &Input) -> Option<String> {
    let looks_like = |name: &str| Some(format!("this looks like {}", shown(name)));
    #[cfg(not(target_family = "wasm"))]
    {
        let lines = || head.lines().filter(|line| !line.trim_ascii().is_empty()).take(SNIFF_LINES);
        let is_row = |format: &dyn Format, line| {
            format.sniff(&Head { bytes: line, is_all: true, ..*head }) == Sniff::Likely
        };
        if json_lines::JsonLines.sniff(head) >= Sniff::Likely {
            return looks_like("JSON");
        }
        if libsvm::has_features(head) && lines().all(|line| is_row(&libsvm::Libsvm, line)) {
            return looks_like("libsvm");
        }
        if lines().all(|line| is_row(&vw::Vw, line)) {
            return looks_like("vw");
        }
    }
    if head.extension == Some("mbox") {
        return Some("the first mail of this mailbox has no headers".to_owned());
    }
    let by_name = sentence_format_by_name(input.name())?;
    Some(format!("by its name this holds sentences ({})", by_name.info().name))
}

/// How many lines at the head are looked at to see that they are no messages.
#[cfg(not(target_family = "wasm"))]
const SNIFF_LINES: usize = 50;

/// Whether an extension is that of other formats than this one.
pub(crate) fn names_another(extension: &str, format: &str) -> bool {
    let has = |info: &FormatInfo| info.extensions.contains(&extension);
    FORMATS.iter().any(|other| has(&other.info()))
        && FORMATS.iter().any(|other| other.info().name == format && !has(&other.info()))
}

/// What files of rows with this extension are, unless it is that of text.
pub(crate) fn called(extension: &str) -> Option<String> {
    let infos = FORMATS.iter().map(|format| format.info());
    let found = infos.filter(|info| info.extensions.contains(&extension)).map(|info| info.name).next()?;
    (found != text::Text.info().name).then(|| shown(found))
}

/// Whether an extension says that a file is a table of text.
fn names_table(extension: &str) -> bool {
    csv::Csv.info().extensions.contains(&extension)
}

/// The cells of the first line, if it could hold the names of columns: in lower case, without quotes.
fn first_cells(head: &Head<'_>) -> Vec<String> {
    let Some(line) = head.lines().find(|line| !line.trim_ascii().is_empty()) else { return Vec::new() };
    let line = String::from_utf8_lossy(line);
    let part = |delimiter: char| -> Vec<String> {
        line.split(delimiter).map(|cell| cell.trim().trim_matches('"').to_lowercase()).collect()
    };
    let parted = [',', '\t', ';', '|'].map(part);
    parted
        .into_iter()
        .max_by_key(|cells| (cells.iter().any(|cell| sense::is_text_name(cell)), cells.len()))
        .unwrap_or_default()
}

/// Whether the bytes of `input` can only be of one format, which then need not have lines.
pub(crate) fn is_certain(input: &Input) -> bool {
    certain(&head_of(input, None)).is_some()
}

/// The format of files that `head` can only be of.
fn certain(head: &Head<'_>) -> Option<&'static dyn Format> {
    let is_certain =
        |format: &&&dyn Format| !format.info().takes_folders && format.sniff(head) == Sniff::Certain;
    FORMATS.iter().find(is_certain).copied()
}

fn head_of<'a>(input: &'a Input, extension: Option<&'a str>) -> Head<'a> {
    let bytes = input.head();
    Head {
        bytes: bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes),
        is_all: input.head_is_all(),
        extension,
        part: input.part(),
    }
}

/// Finds out the format of `input`.
pub fn choose(input: &Input) -> Result<&'static dyn Format, DataError> {
    #[cfg(feature = "arrow")]
    if let Part::Table(..) = input.part() {
        return Ok(&arrow_ipc::ArrowIpc);
    }
    let is_folder = matches!(input.part(), Part::Folder(_));
    let bytes = input.head();
    let extension = input.extension();
    let head = head_of(input, extension.as_deref());
    if bytes.is_empty() && !is_folder {
        return Err(no_bytes());
    }
    let mut best: Option<(Sniff, &'static dyn Format)> = None;
    let mut named: Option<(Sniff, &'static dyn Format)> = None;
    for &format in FORMATS {
        let info = format.info();
        if info.takes_folders != is_folder {
            continue;
        }
        let sniff = format.sniff(&head);
        if best.is_none_or(|(other, _)| sniff > other) {
            best = Some((sniff, format));
        }
        if head.extension.is_some_and(|extension| info.extensions.contains(&extension))
            && named.is_none_or(|(other, _)| sniff > other)
        {
            named = Some((sniff, format));
        }
    }
    if let Some((Sniff::Certain, format)) = best {
        return Ok(format);
    }
    if let Some(refusal) = refuse(head.bytes) {
        return Err(refusal);
    }
    match (named, best) {
        (Some((Sniff::No, named)), Some((Sniff::Likely, other))) => {
            let (named, other) = (named.info().name, other.info().name);
            let message = format!("this looks like {}, expected {named} by the file's name", shown(other));
            Err(DataError::new(ErrorKind::Format, message).with_help(format!("use {{format={other}}}")))
        }
        (Some((_, named)), _) => Ok(named),
        (None, Some((sniff, best))) if sniff > Sniff::No => Ok(best),
        _ => {
            let what = if is_folder { "folder" } else { "data" };
            let of_sentences = if is_folder { String::new() } else { sentence_format_names() };
            let message =
                format!("the {what} looks like no known format, expected {}{of_sentences}", format_names());
            let error = DataError::new(ErrorKind::Format, message);
            Err(match sentence_format_by_name(input.name()) {
                Some(sentences) => error.with_help(format!(
                    "by its name it holds sentences ({}), which are for training and using taggers alone",
                    sentences.info().name
                )),
                None => error.with_help("name the format with {format}"),
            })
        }
    }
}

/// The formats of sentences, as they follow those of rows in a message.
fn sentence_format_names() -> String {
    let names = SENTENCE_FORMATS.iter().map(|format| format.info().name).collect::<Vec<_>>();
    if names.is_empty() { String::new() } else { format!(", or of sentences: {}", names.join(", ")) }
}

fn format_names() -> String {
    FORMATS.iter().map(|format| format.info().name).collect::<Vec<_>>().join(", ")
}

/// A format's name in running text: one of three letters is an abbreviation.
pub(crate) fn shown(name: &str) -> String {
    if name.len() <= 3 { name.to_uppercase() } else { name.to_owned() }
}

fn no_bytes() -> DataError {
    DataError::new(ErrorKind::Empty, "there are no rows, expected at least one: the source is empty")
}

/// What is plainly no data, and what it is instead.
fn refuse(head: &[u8]) -> Option<DataError> {
    let text: Vec<u8> = head.trim_ascii_start().iter().take(64).map(u8::to_ascii_lowercase).collect();
    let error = |message: &str| DataError::new(ErrorKind::Format, format!("{message}, expected data"));
    if text.starts_with(b"<!doctype html") || text.starts_with(b"<html") {
        return Some(error("this is an HTML page").with_help("the download went wrong; get the file itself"));
    }
    if text.starts_with(b"<?xml") || text.starts_with(b"<svg") {
        return Some(error("this is an XML or SVG document").with_help("write it as PNG, or as a table"));
    }
    if head.starts_with(b"version https://git-lfs.") {
        let help = "fetch the file itself with `git lfs pull`";
        return Some(error("this is a pointer of git-lfs").with_help(help));
    }
    if let Some(error) = wide_encoding(head) {
        return Some(error);
    }
    if head.starts_with(zip::MAGIC) {
        let is_book = memchr::memmem::find(head, b"xl/").is_some()
            || memchr::memmem::find(head, b"[Content_Types].xml").is_some()
            || memchr::memmem::find(head, b"opendocument.spreadsheet").is_some();
        return Some(if is_book {
            error("this is a spreadsheet (.xlsx or .ods)")
                .with_help("open it and save the sheet as CSV (in Excel: File, Save As, CSV UTF-8)")
        } else {
            error("this is a ZIP archive").with_help("unpack it, and name the file inside")
        });
    }
    let known: &[(&[u8], &str)] = &[
        (b"%PDF-", "this is a PDF document"),
        (b"BZh", "this is compressed with bzip2"),
        (b"\xFD7zXZ\0", "this is compressed with xz"),
        (b"SQLite format 3\0", "this is an SQLite database"),
    ];
    known.iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, what)| error(what))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::source::Source;

    fn chosen(name: &str, text: &[u8]) -> Result<&'static str, DataError> {
        let input = Source::bytes(name, text.to_vec()).parts()[0].open().unwrap();
        choose(&input).map(|format| format.info().name)
    }

    #[test]
    fn formats_are_told_by_content_and_name() {
        for (name, text, expected) in [
            ("a9a", "-1 3:1 11:1 \n-1 5:1 7:1\n", "libsvm"),
            ("x.train", "# note\n\n1 qid:3 1:0.5\n", "libsvm"),
            ("x.svm", "1\n-1\n", "libsvm"),
            ("x", "a,b,label\n1,2,x\n", "csv"),
            ("x.csv", "1;2;3\n4;5;6\n", "csv"),
            ("x", "ham\thello\nspam\tbuy, now\n", "text"),
            ("x.tsv", "1\t0.5\n2\t1.5\n", "csv"),
            ("x.tsv", "ham\t\"hello, you\nspam\tbuy now\n", "text"),
            ("x", "From: a\nTo: b\n\nhello\n", "message"),
            ("x.libsvm", "1 3:1 4:abc\n", "libsvm"),
            ("x.csv", "P2\n1 1\n255\n7\n", "picture"),
            ("x.libsvm", "1 3:1 4,5\n", "libsvm"),
        ] {
            assert_eq!(chosen(name, text.as_bytes()).unwrap(), expected, "{name}: {text}");
        }
    }

    #[test]
    fn what_is_no_data_is_named() {
        for (name, text, expected) in [
            ("x.libsvm", &b"1,2,3\n4,5,6\n"[..], "this looks like CSV"),
            ("x.csv", b"<!DOCTYPE html><html>", "this is an HTML page"),
            ("x.csv", b"version https://git-lfs.github.com/spec/v1\noid", "pointer of git-lfs"),
            ("x.csv", b"\xFF\xFEa\0,\0", "UTF-16"),
            ("x.csv", b"", "no rows"),
            ("x", b"\x01\x02\x03\x04", "no known format"),
        ] {
            let error = chosen(name, text).unwrap_err();
            assert!(error.message().contains(expected), "{expected}: {error}");
        }
        assert_eq!(find_format("SVMlight").unwrap().info().name, "libsvm");
        assert_eq!(find_format("xls").err().unwrap().kind(), ErrorKind::Options);
    }
}
