//! What can be wrong with data, and where.
//!
//! Every error names its source and, as far as they are known, the row, line and column; it owns the
//! offending line so that it can draw a caret below it, and it says the cure where one is known. The
//! wording has one grammar: what was found, what was expected. Nothing here prints: the one-line form
//! is `Display`, the form for people is [`DataError::report`].

use crate::remedy::Remedy;
use std::fmt;
use std::fmt::Write as _;
use std::io;
use std::ops::Range;

/// How many characters of a long line a report shows around the mistake.
const SNIPPET_CHARS: usize = 72;

/// How many characters of a foreign token a message quotes.
const TOKEN_CHARS: usize = 40;

/// An error in foreign data, or in getting at it.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct DataError(Box<Details>);

#[derive(Debug, thiserror::Error)]
#[error("{}{message}", Place(source_name.as_deref(), *position))]
struct Details {
    kind: ErrorKind,
    message: String,
    source_name: Option<String>,
    position: Position,
    snippet: Option<Snippet>,
    help: Option<Remedy>,
    #[source]
    cause: Option<io::Error>,
}

/// What sort of mistake it is; [`ErrorKind::code`] is its stable name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The source cannot be opened or read.
    Io,
    /// A compressed stream is cut, damaged or followed by junk.
    Compression,
    /// The bytes are not of the format they were taken for, or of none that is known.
    Format,
    /// A line or record does not follow the grammar of its format.
    Syntax,
    /// Something should be a number and is not, or is not finite.
    Number,
    /// A feature index is not one.
    Index,
    /// A label is missing or cannot be one.
    Label,
    /// A class turned up after the classes were fixed.
    LateClass,
    /// A value is missing and the policy is to refuse that.
    Missing,
    /// Rows, columns or names do not fit together.
    Shape,
    /// Text is not valid UTF-8, or in an encoding that is not read.
    Encoding,
    /// Something is larger than the stated limit.
    Limit,
    /// There are no rows.
    Empty,
    /// The options contradict each other or the data.
    Options,
    /// A reader failed in a way it never should; the input is foreign, the fault is ours.
    Internal,
}

impl ErrorKind {
    /// All kinds, in the order of the documentation.
    pub const ALL: [Self; 15] = [
        Self::Io,
        Self::Compression,
        Self::Format,
        Self::Syntax,
        Self::Number,
        Self::Index,
        Self::Label,
        Self::LateClass,
        Self::Missing,
        Self::Shape,
        Self::Encoding,
        Self::Limit,
        Self::Empty,
        Self::Options,
        Self::Internal,
    ];

    /// The stable name of this kind, for scripts and tests.
    pub fn code(self) -> &'static str {
        match self {
            Self::Io => "io",
            Self::Compression => "compression",
            Self::Format => "format",
            Self::Syntax => "syntax",
            Self::Number => "number",
            Self::Index => "index",
            Self::Label => "label",
            Self::LateClass => "late-class",
            Self::Missing => "missing",
            Self::Shape => "shape",
            Self::Encoding => "encoding",
            Self::Limit => "limit",
            Self::Empty => "empty",
            Self::Options => "options",
            Self::Internal => "internal",
        }
    }
}

/// A place in a source. All counts start at 1; what is not known is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Position {
    /// The row of data, headers and comments not counted.
    pub row: Option<u64>,
    /// The line of text.
    pub line: Option<u64>,
    /// The character within the line, or the column of a table without lines.
    pub column: Option<u64>,
}

/// The offending line and the part of it that is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Snippet {
    text: String,
    caret_at: usize,
    caret_len: usize,
}

/// Errors that say the same are the same.
impl PartialEq for DataError {
    fn eq(&self, other: &Self) -> bool {
        self.kind() == other.kind() && self.report() == other.report()
    }
}

impl DataError {
    /// An error of `kind` that says `message`, so far without a place.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Details {
            kind,
            message: message.into(),
            source_name: None,
            position: Position::default(),
            snippet: None,
            help: None,
            cause: None,
        }))
    }

    /// What a build without some cargo feature answers where it would be needed.
    pub fn not_built(what: &str, feature: &str, instead: &str) -> Self {
        Self::new(ErrorKind::Format, format!("this program was built without {what}")).with_help(format!(
            "build it with the feature `{feature}`, as `cargo install --path crates/cli --features full` does, \
             or {instead}"
        ))
    }

    /// The same error, with the system's message.
    pub(crate) fn caused_by(mut self, cause: io::Error) -> Self {
        self.0.cause = Some(cause);
        self
    }

    /// An error of the operating system while doing `what` ("opening", "reading").
    pub fn io(what: &str, cause: io::Error) -> Self {
        Self::new(ErrorKind::Io, format!("{what} failed: {cause}")).caused_by(cause)
    }

    /// The same error in the source called `name`.
    #[must_use]
    pub fn in_source(mut self, name: &str) -> Self {
        self.0.source_name = Some(name.to_owned());
        self
    }

    /// The same error at `position`.
    #[must_use]
    pub fn at(mut self, position: Position) -> Self {
        self.0.position = position;
        self
    }

    /// The same error with the line it is in; `mistake` are bytes of `line`.
    #[must_use]
    pub fn with_snippet(mut self, line: &[u8], mistake: Range<usize>) -> Self {
        self.0.snippet = Some(Snippet::new(line, mistake));
        self
    }

    /// The same error with advice.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<Remedy>) -> Self {
        self.0.help = Some(help.into());
        self
    }

    /// What sort of mistake it is.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Where it is.
    pub fn position(&self) -> Position {
        self.0.position
    }

    /// The file, or whatever else the data came from.
    pub fn source_name(&self) -> Option<&str> {
        self.0.source_name.as_deref()
    }

    /// What was found and what was expected, without the place.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What to do about it, if that is known.
    pub fn help(&self) -> Option<&Remedy> {
        self.0.help.as_ref()
    }

    /// All of it in the library's words: the error line, the offending text with a caret, the advice.
    pub fn report(&self) -> String {
        self.report_as(Remedy::to_string)
    }

    /// The same, with the advice as a face words it.
    pub fn report_as(&self, word: impl Fn(&Remedy) -> String) -> String {
        let mut report = self.to_string();
        if let Some(snippet) = &self.0.snippet {
            let number = self.0.position.line.map_or(String::new(), |line| line.to_string());
            let gutter = " ".repeat(number.len());
            let indent = " ".repeat(snippet.caret_at);
            let carets = "^".repeat(snippet.caret_len);
            // Writing to a string cannot fail.
            let _ = write!(report, "\n {number} | {}\n {gutter} | {indent}{carets}", snippet.text);
        }
        if let Some(help) = &self.0.help {
            let _ = write!(report, "\nhelp: {}", word(help));
        }
        report
    }
}

impl Snippet {
    /// Cuts a window of characters round the mistake, so that a line of 16 MiB stays readable.
    fn new(line: &[u8], mistake: Range<usize>) -> Self {
        // The end of a line is no part of it, in either of its spellings.
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let start = mistake.start.min(line.len());
        let end = mistake.end.clamp(start, line.len());
        // Only the neighbourhood is decoded: four bytes a character is the most UTF-8 needs.
        let reach = SNIPPET_CHARS / 2;
        let from = floor_char(line, start.saturating_sub(reach * 4));
        let before = printable(&line[from..start]);
        let cut_before = before.chars().count().saturating_sub(reach);
        let mut text: String = if from > 0 || cut_before > 0 { "…".to_owned() } else { String::new() };
        text.extend(before.chars().skip(cut_before));
        let caret_at = text.chars().count();
        let meant = printable(&line[start..end.min(start + TOKEN_CHARS * 4)]);
        let caret_len = meant.chars().count().clamp(1, TOKEN_CHARS);
        let after = printable(&line[start..line.len().min(start + SNIPPET_CHARS * 4)]);
        let room = SNIPPET_CHARS.saturating_sub(caret_at).max(reach);
        text.extend(after.chars().take(room));
        if after.chars().count() > room {
            text.push('…');
        }
        Self { text, caret_at, caret_len }
    }
}

/// The source and position as they open a message: `train.csv:3:7: `.
struct Place<'a>(Option<&'a str>, Position);

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(source, position) = self;
        match (source, position.line, position.row) {
            (None, None, None) => return Ok(()),
            (None, None, Some(row)) => return write!(f, "row {row}: "),
            (None, Some(_), _) => f.write_str("data")?,
            (Some(source), _, _) => f.write_str(source)?,
        }
        match (position.line, position.row, position.column) {
            (Some(line), _, Some(column)) => write!(f, ":{line}:{column}: "),
            (Some(line), _, None) => write!(f, ":{line}: "),
            (None, Some(row), Some(column)) => write!(f, ": row {row}, column {column}: "),
            (None, Some(row), None) => write!(f, ": row {row}: "),
            (None, None, _) => f.write_str(": "),
        }
    }
}

/// Counts characters, not bytes, up to byte `at` of `line`; 1 for the first.
pub(crate) fn column_of(line: &[u8], at: usize) -> u64 {
    // A character begins at every byte that does not continue one.
    line[..at.min(line.len())].iter().filter(|&&byte| byte & 0xC0 != 0x80).count() as u64 + 1
}

/// A foreign token as a message quotes it: short, in backquotes, its odd characters named.
pub(crate) fn quote(token: &[u8]) -> String {
    let head = &token[..token.len().min(TOKEN_CHARS * 4)];
    let text = printable(head);
    let mut shown: String = text.chars().take(TOKEN_CHARS).collect();
    if shown.len() < text.len() || head.len() < token.len() {
        shown.push('…');
    }
    let mut quoted = format!("`{shown}`");
    if let Some(byte) = token.iter().find(|byte| byte.is_ascii_control() && **byte != b'\t') {
        let _ = write!(quoted, " (holds byte 0x{byte:02X})");
    } else if let Some(odd) = String::from_utf8_lossy(head).chars().find(|c| !c.is_ascii()) {
        if odd == char::REPLACEMENT_CHARACTER {
            quoted.push_str(" (not valid UTF-8)");
        } else {
            let _ = write!(quoted, " (holds U+{:04X})", odd as u32);
        }
    }
    quoted
}

/// Text that cannot disturb a terminal or a caret: one visible column per character.
fn printable(bytes: &[u8]) -> String {
    let shown = |c| if matches!(c, '\t' | '\u{A0}') { ' ' } else { shown(c) };
    String::from_utf8_lossy(bytes).chars().map(shown).collect()
}

/// Text of several lines that cannot disturb a terminal: what would move the cursor, colour, hide or reorder is shown as
/// a sign of its own. The program names things in messages whose names it did not choose.
pub fn harmless(text: &str) -> std::borrow::Cow<'_, str> {
    let is_plain = |c: char| matches!(c, '\n' | '\t') || shown(c) == c;
    if text.chars().all(is_plain) {
        return text.into();
    }
    text.chars().map(|c| if is_plain(c) { c } else { shown(c) }).collect::<String>().into()
}

/// A character that can be seen.
fn shown(c: char) -> char {
    match c {
        // The pictures that stand for control characters, in their order; later ones have none.
        '\0'..='\u{1F}' => char::from_u32(0x2400 + c as u32).unwrap_or(char::REPLACEMENT_CHARACTER),
        '\u{7F}' => '␡',
        c if c.is_control() => char::REPLACEMENT_CHARACTER,
        // Marks that reorder or hide text: bidirectional overrides, zero-width characters.
        '\u{061C}'
        | '\u{200B}'..='\u{200F}'
        | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{2069}'
        | '\u{FEFF}' => '\u{FFFD}',
        c => c,
    }
}

/// The last start of a character at or before `at`.
fn floor_char(bytes: &[u8], at: usize) -> usize {
    (0..=at).rev().take(4).find(|&i| bytes.get(i).is_none_or(|byte| byte & 0xC0 != 0x80)).unwrap_or(at)
}

/// A mistake inside a stretch of text, before its reader says in which file and line that was.
#[derive(Debug, Clone)]
pub struct Mistake {
    pub(crate) kind: ErrorKind,
    pub(crate) message: String,
    pub(crate) help: Option<Remedy>,
    /// Bytes of the stretch that is being parsed.
    pub(crate) at: Range<usize>,
}

impl Mistake {
    pub(crate) fn new(kind: ErrorKind, at: Range<usize>, message: impl Into<String>) -> Box<Self> {
        Box::new(Self { kind, message: message.into(), help: None, at })
    }

    pub(crate) fn with_help(mut self: Box<Self>, help: impl Into<Remedy>) -> Box<Self> {
        self.help = Some(help.into());
        self
    }

    /// Places the mistake. `text` is the stretch that was parsed and begins on `first_line`;
    /// `ends_inside` says that the file ends in the middle of the stretch's last line.
    pub(crate) fn locate(
        self: Box<Self>,
        source: &str,
        text: &[u8],
        first_line: u64,
        row: u64,
        ends_inside: bool,
    ) -> DataError {
        let at = self.at.start.min(text.len());
        let line_start = text[..at].iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
        let rest = text[at..].iter().position(|&byte| byte == b'\n');
        let line_end = rest.map_or(text.len(), |newline| at + newline);
        let line = first_line + memchr::memchr_iter(b'\n', &text[..line_start]).count() as u64;
        let line_text = &text[line_start..line_end];
        let mistake = at - line_start..self.at.end.clamp(at, line_end.max(at)) - line_start;
        let position =
            Position { row: Some(row), line: Some(line), column: Some(column_of(line_text, mistake.start)) };
        // Only what reaches the end can be wrong for want of more.
        let cut = (ends_inside && rest.is_none() && self.at.end >= text.trim_ascii_end().len())
            .then(|| Remedy::from(format!("the file ends inside line {line}; is it complete?")));
        let error = DataError::new(self.kind, self.message)
            .in_source(source)
            .at(position)
            .with_snippet(line_text, mistake);
        match cut.or(self.help) {
            Some(help) => error.with_help(help),
            None => error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_names_the_place_draws_a_caret_and_says_the_cure() {
        let text = b"1 1:2\n-1 3:abc 4:1\n";
        let mistake = Mistake::new(ErrorKind::Number, 11..14, "value should be a number, but is `abc`")
            .with_help("remove it");
        let error = mistake.locate("train.svm", text, 7, 8, false);
        assert_eq!(error.to_string(), "train.svm:8:6: value should be a number, but is `abc`");
        assert_eq!(error.position(), Position { row: Some(8), line: Some(8), column: Some(6) });
        assert_eq!(
            error.report(),
            "train.svm:8:6: value should be a number, but is `abc`\n 8 | -1 3:abc 4:1\n   |      ^^^\nhelp: remove it"
        );
    }

    #[test]
    fn long_and_odd_lines_stay_readable() {
        let mut line = vec![b'x'; 1 << 20];
        line.extend_from_slice("\u{A0}5 ".as_bytes());
        let at = 1 << 20;
        let error = DataError::new(ErrorKind::Syntax, "bad").with_snippet(&line, at..at + 3);
        let report = error.report();
        assert!(report.len() < 400, "{report}");
        assert!(report.contains("^^"), "{report}");
        assert_eq!(quote("5\u{A0}".as_bytes()), "`5 ` (holds U+00A0)");
        assert_eq!(quote(b"a\0b"), "`a␀b` (holds byte 0x00)");
        assert_eq!(quote(b"a\x1Bb\x7F"), "`a␛b␡` (holds byte 0x1B)");
        let mistake = Mistake::new(ErrorKind::Number, 2..3, "bad");
        let report = mistake.locate("t.csv", b"1,x\r\n2,3\r\n", 1, 1, false).report();
        assert_eq!(report, "t.csv:1:3: bad\n 1 | 1,x\n   |   ^");
        assert_eq!(quote(b"a\xFF"), "`a\u{FFFD}` (not valid UTF-8)");
        assert!(quote(&[b'7'; 500]).ends_with("…`"));
    }

    #[test]
    fn codes_are_distinct() {
        let codes: std::collections::BTreeSet<_> = ErrorKind::ALL.iter().map(|kind| kind.code()).collect();
        assert_eq!(codes.len(), ErrorKind::ALL.len());
    }
}
