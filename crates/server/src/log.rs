//! The log: every example that was acknowledged, in order, each under a checksum that no other place in the log has.
//!
//! ```text
//! header: "rblog 1\n"  first u64                    crc u32
//! record: length u32   number u64   crc u32 of both   payload   crc u32 of number and payload
//! ```
//!
//! All numbers are little-endian; records are numbered one by one from `first`. A log alone does not tell whether its end is
//! missing, so a file beside it ([`Acknowledged`]) says how many records it must have. A record beyond those that was cut
//! off by the end of the process or of the power was never acknowledged: it is taken away. Everything else that is not
//! right is damage, which is named and never passed over.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

const MAGIC: &[u8; 8] = b"rblog 1\n";
pub(crate) const HEADER_BYTES: u64 = 20;
const HEAD_BYTES: u64 = 16;
/// The most bytes of one record.
pub(crate) const MOST_BYTES: usize = 1 << 30;

/// What a log is written to, so that tests can make every call fail.
pub(crate) trait Medium: Send {
    /// Adds bytes to the end.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Comes back when all bytes are on the medium.
    fn sync(&mut self) -> io::Result<()>;
    /// Takes away what lies beyond `length`.
    fn cut(&mut self, length: u64) -> io::Result<()>;
}

impl Medium for File {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)?;
        self.sync_data()
    }
}

const SLOT_MAGIC: &[u8; 8] = b"rbackn1\n";
const SLOT_BYTES: usize = 20;
/// Slots lie on pages of their own, so that a write that is torn spares the other.
const SLOT_STEP: usize = 4096;

/// How far records are acknowledged: the number of the one that comes next, in two slots that are written in turn.
///
/// It is written once the log has the records, and is never flushed: one that is too low after a power cut accepts more
/// logs than it could, and one that is too high would refuse a whole log.
pub(crate) struct Acknowledged {
    file: File,
    /// The slot that is written next.
    turn: usize,
}

fn slot(next: u64) -> Vec<u8> {
    let mut bytes = [SLOT_MAGIC.as_slice(), &next.to_le_bytes()].concat();
    let crc = crc32fast::hash(&bytes);
    bytes.extend(crc.to_le_bytes());
    bytes
}

impl Acknowledged {
    /// A file that says `next`.
    pub(crate) fn bytes(next: u64) -> Vec<u8> {
        let mut bytes = slot(next);
        bytes.resize(SLOT_STEP, 0);
        bytes.extend(slot(next));
        bytes
    }

    /// What the file says, if one of its slots is whole.
    pub(crate) fn read(bytes: &[u8]) -> Option<u64> {
        let slots = [0, SLOT_STEP].into_iter().filter_map(|at| bytes.get(at..at + SLOT_BYTES));
        let whole = slots.filter_map(|found| Some(u64_at(found, 8)).filter(|next| slot(*next) == found));
        whole.max()
    }

    /// Goes on with a file of [`Acknowledged::bytes`].
    pub(crate) fn new(file: File) -> Self {
        Self { file, turn: 0 }
    }

    /// Says that all records before `next` are acknowledged.
    pub(crate) fn set(&mut self, next: u64) -> io::Result<()> {
        self.file.seek(SeekFrom::Start((self.turn * SLOT_STEP) as u64))?;
        self.file.write_all(&slot(next))?;
        self.turn = 1 - self.turn;
        Ok(())
    }
}

/// Something in a log that cannot be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Damage {
    /// The byte at which it begins.
    pub(crate) at: u64,
    pub(crate) what: &'static str,
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the log is damaged at byte {}: {}", self.at, self.what)
    }
}

/// The header of a log that begins with record `first`.
pub(crate) fn header(first: u64) -> Vec<u8> {
    let mut bytes = [MAGIC.as_slice(), &first.to_le_bytes()].concat();
    let crc = crc32fast::hash(&bytes);
    bytes.extend(crc.to_le_bytes());
    bytes
}

/// Adds a record to `out`.
pub(crate) fn record(out: &mut Vec<u8>, number: u64, payload: &[u8]) {
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
    let head = [&length.to_le_bytes()[..], &number.to_le_bytes()].concat();
    out.extend(&head);
    out.extend(crc32fast::hash(&head).to_le_bytes());
    out.extend(payload);
    out.extend(payload_crc(number, payload).to_le_bytes());
}

/// Its number is part of what is summed, so that a record in another's place is noticed.
fn payload_crc(number: u64, payload: &[u8]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(&number.to_le_bytes());
    crc.update(payload);
    crc.finalize()
}

/// What was found in a log.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// The number of its first record.
    pub(crate) first: u64,
    /// The number that the next record will have.
    pub(crate) next: u64,
    /// Bytes that are whole records.
    pub(crate) length: u64,
    /// Bytes after them, of a record that was cut off.
    pub(crate) torn: u64,
}

/// Why a log could not be read.
#[derive(Debug)]
pub(crate) enum LogError {
    Io(io::Error),
    Damage(Damage),
}

impl From<io::Error> for LogError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl std::fmt::Display for LogError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Io(error) => write!(f, "the log cannot be read: {error}"),
            Self::Damage(damage) => damage.fmt(f),
        }
    }
}

/// The number of the first record of the log at `path`.
pub(crate) fn first_of(path: &Path) -> io::Result<u64> {
    let mut head = [0; HEADER_BYTES as usize];
    File::open(path)?.read_exact(&mut head)?;
    Ok(u64_at(&head, 8))
}

/// Reads the log in `file`, showing each record.
pub(crate) fn read_file(
    file: File,
    show: impl FnMut(u64, &[u8]) -> Result<(), &'static str>,
) -> Result<Found, LogError> {
    let length = file.metadata()?.len();
    read(BufReader::with_capacity(1 << 18, file), length, show)
}

/// Reads a log of `length` bytes, showing each record. What `show` refuses is damage.
pub(crate) fn read(
    mut from: impl Read,
    length: u64,
    mut show: impl FnMut(u64, &[u8]) -> Result<(), &'static str>,
) -> Result<Found, LogError> {
    let damage = |at, what| LogError::Damage(Damage { at, what });
    let mut head = [0; HEADER_BYTES as usize];
    if length < HEADER_BYTES {
        return Err(damage(0, "it has no header"));
    }
    from.read_exact(&mut head)?;
    let (fields, crc) = head.split_at(16);
    if !fields.starts_with(MAGIC) || crc != crc32fast::hash(fields).to_le_bytes() {
        let is_whole = crc == crc32fast::hash(fields).to_le_bytes();
        let what = if is_whole { "another build wrote it" } else { "its header is not one" };
        return Err(damage(0, what));
    }
    let first = u64_at(fields, 8);
    let (mut at, mut next) = (HEADER_BYTES, first);
    let mut payload = Vec::new();
    loop {
        let left = length - at;
        let torn = |torn| Ok(Found { first, next, length: at, torn });
        if left < HEAD_BYTES {
            return torn(left);
        }
        let mut head = [0; HEAD_BYTES as usize];
        from.read_exact(&mut head)?;
        let (fields, crc) = head.split_at(12);
        if head == [0; HEAD_BYTES as usize] && only_zeros(&mut from)? {
            // Room that was made and never filled.
            return torn(left);
        }
        if crc != crc32fast::hash(fields).to_le_bytes() {
            return Err(damage(at, "the head of a record does not match its checksum"));
        }
        if u64_at(fields, 4) != next {
            return Err(damage(at, "a record has another number than its place says"));
        }
        let size = u64::from(u32::from_le_bytes([fields[0], fields[1], fields[2], fields[3]]));
        if size > MOST_BYTES as u64 {
            return Err(damage(at, "a record is longer than any can be"));
        }
        if left < HEAD_BYTES + size + 4 {
            return torn(left);
        }
        payload.clear();
        (&mut from).take(size + 4).read_to_end(&mut payload)?;
        if payload.len() as u64 != size + 4 {
            return Err(LogError::Io(io::ErrorKind::UnexpectedEof.into()));
        }
        let (payload, crc) = payload.split_at(size as usize);
        if crc != payload_crc(next, payload).to_le_bytes() {
            // A length that the file system knew of before the bytes: they are zeros to the end.
            if left == HEAD_BYTES + size + 4 && crc == [0; 4] {
                return torn(left);
            }
            return Err(damage(at, "a record does not match its checksum"));
        }
        show(next, payload).map_err(|what| damage(at, what))?;
        next += 1;
        at += HEAD_BYTES + size + 4;
    }
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut number = [0; 8];
    number.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(number)
}

fn only_zeros(from: &mut impl Read) -> io::Result<bool> {
    let mut some = [0; 4096];
    loop {
        match from.read(&mut some)? {
            0 => return Ok(true),
            n if some[..n].iter().any(|byte| *byte != 0) => return Ok(false),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> (Vec<u8>, Vec<u64>) {
        let mut bytes = header(5);
        let mut ends = vec![bytes.len() as u64];
        for number in 5..9_u64 {
            record(&mut bytes, number, format!("example {number}").repeat(number as usize).as_bytes());
            ends.push(bytes.len() as u64);
        }
        (bytes, ends)
    }

    fn read_all(bytes: &[u8]) -> Result<(Found, Vec<u64>), LogError> {
        let mut seen = Vec::new();
        let found = read(bytes, bytes.len() as u64, |number, _| {
            seen.push(number);
            Ok(())
        })?;
        Ok((found, seen))
    }

    #[test]
    fn a_record_that_was_cut_off_is_taken_away_wherever_the_cut_is() {
        let (bytes, ends) = sample();
        for cut in HEADER_BYTES as usize..=bytes.len() {
            let (found, seen) = read_all(&bytes[..cut]).unwrap();
            let whole = ends.iter().filter(|end| **end <= cut as u64).count() - 1;
            assert_eq!((seen.len(), found.length), (whole, ends[whole]), "cut at {cut}");
            assert_eq!((found.next, found.torn), (5 + whole as u64, cut as u64 - ends[whole]));
            // A length that was known before the bytes.
            let padded = [&bytes[..cut], &vec![0; 5000]].concat();
            if ends.contains(&(cut as u64)) {
                assert_eq!(read_all(&padded).unwrap().0.length, cut as u64);
            }
        }
    }

    #[test]
    fn every_flipped_bit_is_found_and_named() {
        let (bytes, ends) = sample();
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut flipped = bytes.clone();
                flipped[at] ^= 1 << bit;
                let Err(LogError::Damage(damage)) = read_all(&flipped) else {
                    panic!("bit {bit} of byte {at} is passed over");
                };
                let begins = ends.iter().rev().find(|end| **end <= at as u64).copied().unwrap_or(0);
                assert_eq!(damage.at, begins, "{damage}");
            }
        }
    }

    #[test]
    fn a_torn_slot_leaves_the_number_before_and_two_leave_none() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&Acknowledged::bytes(5)).unwrap();
        let mut acknowledged = Acknowledged::new(file.try_clone().unwrap());
        let mut before = Acknowledged::bytes(5);
        for next in [6, 7, 300, 301] {
            acknowledged.set(next).unwrap();
            let mut after = Vec::new();
            file.seek(SeekFrom::Start(0)).unwrap();
            file.read_to_end(&mut after).unwrap();
            assert_eq!(Acknowledged::read(&after), Some(next));
            let last = Acknowledged::read(&before).unwrap();
            // As many of its bytes were written as were, and any other is no number at all.
            for n_written in 0..after.len() {
                let torn = [&after[..n_written], &before[n_written..]].concat();
                assert!([last, next].contains(&Acknowledged::read(&torn).unwrap()), "{n_written} bytes");
            }
            for at in (0..SLOT_BYTES).flat_map(|at| [at, SLOT_STEP + at]) {
                let mut flipped = after.clone();
                flipped[at] ^= 1;
                assert!([last, next].contains(&Acknowledged::read(&flipped).unwrap()), "byte {at}");
                flipped[(at + SLOT_STEP) % (2 * SLOT_STEP)] ^= 1;
                assert_eq!(Acknowledged::read(&flipped), None, "byte {at}");
            }
            before = after;
        }
        assert_eq!(Acknowledged::read(b""), None);
    }

    #[test]
    fn records_keep_their_places() {
        let (bytes, ends) = sample();
        let part = |n: usize| &bytes[ends[n] as usize..ends[n + 1] as usize];
        let head = &bytes[..HEADER_BYTES as usize];
        for order in [vec![1, 0, 2, 3], vec![0, 2, 3], vec![0, 1, 1, 2, 3]] {
            let moved: Vec<&[u8]> = std::iter::once(head).chain(order.iter().map(|&n| part(n))).collect();
            assert!(matches!(read_all(&moved.concat()), Err(LogError::Damage(_))), "{order:?}");
        }
    }
}
