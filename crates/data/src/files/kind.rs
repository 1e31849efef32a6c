//! What a file holds, as far as its first bytes tell: an output takes the place of nothing but its own kind.

use super::{FileError, failed};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// How many bytes tell.
pub(super) const LOOKED_AT: usize = 512;
/// Where the text of a model file begins, which says what the file is.
const PREFIX: usize = 64;

/// A kind of file that is written here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A model, of rows or of sentences.
    Model,
    /// An unfinished training.
    Checkpoint,
    /// Rows in the form that training reads fastest.
    Cache,
    /// The number of the process that trains a model.
    Lock,
    /// A picture of lines.
    Svg,
    /// A picture of pixels.
    Png,
    /// A page for a browser.
    Page,
    /// An object or a list.
    Json,
    /// Any other text, such as rows.
    Text,
    /// Anything else, such as rows in columns.
    Binary,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Model => "a model",
            Self::Checkpoint => "a checkpoint",
            Self::Cache => "a cache",
            Self::Lock => "a lock",
            Self::Svg => "an SVG picture",
            Self::Png => "a PNG picture",
            Self::Page => "a page",
            Self::Json => "JSON",
            Self::Text => "text",
            Self::Binary => "binary data",
        })
    }
}

impl Kind {
    /// What begins with these bytes; nothing tells what an empty file is.
    pub(super) fn of(begin: &[u8]) -> Option<Self> {
        let text = begin.trim_ascii_start();
        let begins =
            |with: &[u8]| text.get(..with.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(with));
        Some(match begin {
            [] => return None,
            _ if begin.starts_with(b"RBLATT\r\n") => {
                let format = begin.get(PREFIX..).unwrap_or_default().split(|&byte| byte == b'"').nth(3);
                let is_checkpoint = format.is_some_and(|format| format.ends_with(b"checkpoint"));
                if is_checkpoint { Self::Checkpoint } else { Self::Model }
            }
            _ if begin.starts_with(b"RBcache\n") => Self::Cache,
            _ if begin.starts_with(b"\x89PNG") => Self::Png,
            _ if begins(b"<svg") => Self::Svg,
            _ if begins(b"<!doctype html") => Self::Page,
            _ if begins(b"{") || begins(b"[") => Self::Json,
            _ if begin.len() <= 20 && begin.iter().all(u8::is_ascii_digit) => Self::Lock,
            _ if is_text(begin) => Self::Text,
            _ => Self::Binary,
        })
    }

    /// What the plain file at `path` holds.
    fn at(path: &Path) -> io::Result<Option<Self>> {
        if !fs::symlink_metadata(path)?.is_file() {
            return Ok(None);
        }
        let mut begin = Vec::new();
        File::open(path)?.take(LOOKED_AT as u64).read_to_end(&mut begin)?;
        Ok(Self::of(&begin))
    }

    /// Whether a plain file of this kind is at `path`.
    pub fn is_at(self, path: &Path) -> bool {
        Self::at(path).is_ok_and(|found| found == Some(self))
    }

    /// Refuses to put this kind in the place of another, or of a link.
    pub fn may_replace(self, path: &Path) -> Result<(), FileError> {
        refuse_link(path)?;
        match Self::at(path) {
            Ok(Some(found)) if found != self => {
                Err(FileError::Stranger { path: path.to_owned(), found, wished: self })
            }
            // What is not there, or cannot be looked for, is an error when writing.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                Err(failed(path, "what is there cannot be read, and is not replaced", error))
            }
            _ => Ok(()),
        }
    }
}

/// Whether no byte of it is out of place in a text, the last character perhaps cut.
fn is_text(begin: &[u8]) -> bool {
    let is_cut = |error: std::str::Utf8Error| begin.len() == LOOKED_AT && error.error_len().is_none();
    !begin.contains(&0) && std::str::from_utf8(begin).map_or_else(is_cut, |_| true)
}

/// Refuses a link: what it leads to is not what was named. One to a device holds nothing that could be lost.
pub(super) fn refuse_link(path: &Path) -> Result<(), FileError> {
    match fs::read_link(path) {
        Ok(to) if !super::is_special(path) => Err(FileError::Link { path: path.to_owned(), to }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_bytes_tell_the_kind() {
        let container = |format: &str| {
            let mut bytes = b"RBLATT\r\n".to_vec();
            bytes.resize(PREFIX, 0);
            bytes.extend(format!("{{\"format\":\"{format}\",\"writer\":\"1\"}}").bytes());
            Kind::of(&bytes)
        };
        assert_eq!(container("rosenblatt model"), Some(Kind::Model));
        assert_eq!(container("rosenblatt tagger"), Some(Kind::Model));
        assert_eq!(container("rosenblatt tagger checkpoint"), Some(Kind::Checkpoint));
        let kinds: [(&[u8], Option<Kind>); 9] = [
            (b"", None),
            (b"RBcache\n1", Some(Kind::Cache)),
            (b"\x89PNG\r\n", Some(Kind::Png)),
            (b"\n<svg xmlns=", Some(Kind::Svg)),
            (b"<!DOCTYPE html>", Some(Kind::Page)),
            (b" {\"a\": 1}", Some(Kind::Json)),
            ("x,y\n1,\u{e9}\n".as_bytes(), Some(Kind::Text)),
            (b"4711", Some(Kind::Lock)),
            (b"PAR1\0\0", Some(Kind::Binary)),
        ];
        for (bytes, kind) in kinds {
            assert_eq!(Kind::of(bytes), kind, "{bytes:?}");
        }
    }
}
