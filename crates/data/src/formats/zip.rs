//! The little of ZIP that `.npz` files need: a directory, and entries stored or deflated.
//!
//! The file is held in memory, its entries are not: they are inflated piece by piece as they are read,
//! and their length and checksum are checked at their end. So a small file that claims to be large costs
//! nothing but time. Encrypted entries, other methods of compression and archives in several volumes are
//! refused. Nothing here writes.

use crate::error::{DataError, ErrorKind};
use std::io::{self, Read};
use std::sync::Arc;

/// The signature of an entry, and so of nearly every archive.
pub(super) const MAGIC: &[u8] = b"PK\x03\x04";

const DIRECTORY_ENTRY: u32 = 0x0201_4B50;
const DIRECTORY_END: u32 = 0x0605_4B50;
const DIRECTORY_END_64: u32 = 0x0606_4B50;

/// The end of the directory may be followed by a comment of at most this many bytes.
const MAX_COMMENT: usize = 0xFFFF;

/// An archive in memory.
#[derive(Debug)]
pub(super) struct Archive {
    bytes: Arc<[u8]>,
    entries: Vec<Entry>,
}

/// One file in an archive.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) name: String,
    deflated: bool,
    crc: u32,
    /// Where the compressed bytes are.
    start: usize,
    end: usize,
    /// How many bytes come out.
    pub(super) n_bytes: u64,
}

fn broken(why: &str) -> DataError {
    DataError::new(ErrorKind::Format, format!("the ZIP archive is damaged: {why}"))
        .with_help("the file is cut or damaged; write or get it again")
}

/// The little-endian number of `N` bytes at `at`.
fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<u64> {
    let field = bytes.get(at..at.checked_add(N)?)?;
    Some(field.iter().rev().fold(0, |number, &byte| (number << 8) | u64::from(byte)))
}

impl Archive {
    /// Reads the directory of the archive in `bytes`.
    pub(super) fn open(bytes: Arc<[u8]>) -> Result<Self, DataError> {
        let (start, n_entries) = find_directory(&bytes)
            .ok_or_else(|| broken("its directory is missing, expected one at the end"))?;
        let mut archive = Self { bytes, entries: Vec::new() };
        let mut at = start;
        for _ in 0..n_entries {
            let (entry, next) =
                archive.entry_at(at)?.ok_or_else(|| broken("an entry of its directory leads nowhere"))?;
            if archive.entries.iter().any(|other| other.name == entry.name) {
                return Err(broken("two of its files have the same name"));
            }
            archive.entries.push(entry);
            at = next;
        }
        Ok(archive)
    }

    /// The files in it.
    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The directory's entry at byte `at`, and where the next one begins.
    fn entry_at(&self, at: usize) -> Result<Option<(Entry, usize)>, DataError> {
        let bytes = &self.bytes;
        let parse = || {
            if number::<4>(bytes, at)? != u64::from(DIRECTORY_ENTRY) {
                return None;
            }
            let flags = number::<2>(bytes, at + 8)?;
            let method = number::<2>(bytes, at + 10)?;
            let crc = number::<4>(bytes, at + 16)? as u32;
            let mut n_packed = number::<4>(bytes, at + 20)?;
            let mut n_bytes = number::<4>(bytes, at + 24)?;
            let n_name = number::<2>(bytes, at + 28)? as usize;
            let n_extra = number::<2>(bytes, at + 30)? as usize;
            let n_comment = number::<2>(bytes, at + 32)? as usize;
            let mut local = number::<4>(bytes, at + 42)?;
            let name = bytes.get(at + 46..at + 46 + n_name)?;
            let extra = bytes.get(at + 46 + n_name..at + 46 + n_name + n_extra)?;
            // Fields that are all ones are found in the extra field 1, in this order.
            let mut wide = 0;
            for field in [&mut n_bytes, &mut n_packed, &mut local] {
                if *field == 0xFFFF_FFFF {
                    *field = number::<8>(extra_field(extra, 1)?, wide)?;
                    wide += 8;
                }
            }
            let local = usize::try_from(local).ok()?;
            let n_local = number::<2>(bytes, local.checked_add(26)?)? + number::<2>(bytes, local + 28)?;
            let start = local.checked_add(30 + n_local as usize)?;
            let end = start.checked_add(usize::try_from(n_packed).ok()?)?;
            if !bytes.get(local..)?.starts_with(MAGIC) || end > bytes.len() {
                return None;
            }
            let name = String::from_utf8_lossy(name).into_owned();
            let entry = Entry { name, deflated: method == 8, crc, start, end, n_bytes };
            Some((entry, flags, method, at + 46 + n_name + n_extra + n_comment))
        };
        let Some((entry, flags, method, next)) = parse() else { return Ok(None) };
        let refuse = |what: &str| {
            let message =
                format!("`{}` in the archive is {what}, expected it stored or deflated", entry.name);
            DataError::new(ErrorKind::Format, message)
        };
        if flags & 1 != 0 {
            return Err(refuse("encrypted"));
        }
        if !matches!(method, 0 | 8) {
            return Err(refuse(&format!("compressed by method {method}")));
        }
        if method == 0 && (entry.end - entry.start) as u64 != entry.n_bytes {
            return Ok(None);
        }
        Ok(Some((entry, next)))
    }

    /// The bytes of `entry`.
    pub(super) fn read(&self, entry: &Entry) -> EntryReader {
        let packed = Packed { bytes: Arc::clone(&self.bytes), at: entry.start, end: entry.end };
        let inflate: Box<dyn Read + Send> = if entry.deflated {
            Box::new(flate2::read::DeflateDecoder::new(packed))
        } else {
            Box::new(packed)
        };
        EntryReader { inflate, crc: flate2::Crc::new(), expected_crc: entry.crc, n_left: entry.n_bytes }
    }
}

impl Entry {
    /// How many bytes it has in the archive.
    pub(super) fn n_packed(&self) -> u64 {
        (self.end - self.start) as u64
    }
}

/// Where the directory begins, and how many entries it has.
fn find_directory(bytes: &[u8]) -> Option<(usize, u64)> {
    let last = bytes.len().checked_sub(22)?;
    let is_end = |&at: &usize| number::<4>(bytes, at) == Some(u64::from(DIRECTORY_END));
    let end = (last.saturating_sub(MAX_COMMENT)..=last).rev().find(is_end)?;
    let (n_entries, start) = (number::<2>(bytes, end + 10)?, number::<4>(bytes, end + 16)?);
    if n_entries != 0xFFFF && start != 0xFFFF_FFFF {
        return Some((start as usize, n_entries));
    }
    // A large archive: a locator of 20 bytes stands before the end and says where the true one is.
    let wide = number::<8>(bytes, end.checked_sub(20)?.checked_add(8)?)?;
    let wide = usize::try_from(wide).ok()?;
    if number::<4>(bytes, wide)? != u64::from(DIRECTORY_END_64) {
        return None;
    }
    let n_entries = number::<8>(bytes, wide.checked_add(32)?)?;
    Some((usize::try_from(number::<8>(bytes, wide.checked_add(48)?)?).ok()?, n_entries))
}

fn extra_field(mut extra: &[u8], wanted: u64) -> Option<&[u8]> {
    loop {
        let (id, length) = (number::<2>(extra, 0)?, number::<2>(extra, 2)? as usize);
        let field = extra.get(4..4 + length)?;
        if id == wanted {
            return Some(field);
        }
        extra = &extra[4 + length..];
    }
}

/// A part of an archive, as it is stored.
struct Packed {
    bytes: Arc<[u8]>,
    at: usize,
    end: usize,
}

impl Read for Packed {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n_bytes = into.len().min(self.end - self.at);
        into[..n_bytes].copy_from_slice(&self.bytes[self.at..self.at + n_bytes]);
        self.at += n_bytes;
        Ok(n_bytes)
    }
}

/// The plain bytes of an entry, and a check at their end.
pub(super) struct EntryReader {
    inflate: Box<dyn Read + Send>,
    crc: flate2::Crc,
    expected_crc: u32,
    n_left: u64,
}

impl EntryReader {
    /// Reads some bytes; 0 only at the end, which is checked.
    pub(super) fn read_some(&mut self, into: &mut [u8]) -> Result<usize, DataError> {
        let wanted = into.len().min(usize::try_from(self.n_left).unwrap_or(usize::MAX));
        if wanted == 0 {
            if self.n_left == 0 && self.crc.sum() != self.expected_crc {
                return Err(broken("the checksum of an entry is wrong"));
            }
            return Ok(0);
        }
        let n_read = self
            .inflate
            .read(&mut into[..wanted])
            .map_err(|error| broken(&format!("an entry cannot be inflated, {error}")))?;
        if n_read == 0 {
            return Err(broken("an entry ends too early"));
        }
        self.crc.update(&into[..n_read]);
        self.n_left -= n_read as u64;
        Ok(n_read)
    }
}
