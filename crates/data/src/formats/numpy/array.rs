//! One array: its header, its type, and its elements as they come.

use super::super::zip::EntryReader;
use crate::bytes::source::Input;
use crate::error::{DataError, ErrorKind, quote};

pub(super) const MAGIC: &[u8] = b"\x93NUMPY";
/// The longest header that is read; `NumPy` itself stops at 10,000.
pub(super) const MAX_HEADER: usize = 1 << 20;

/// Where the bytes of an array come from.
pub(super) enum Feed {
    Input(Input),
    Entry(EntryReader, u64),
}

impl Feed {
    pub(super) fn read_some(&mut self, into: &mut [u8]) -> Result<usize, DataError> {
        match self {
            Self::Input(input) => input.read_some(into),
            Self::Entry(entry, _) => entry.read_some(into),
        }
    }

    /// Adds up to `n_bytes` to `into`, which grows only as bytes come.
    pub(super) fn read_up_to(&mut self, into: &mut Vec<u8>, n_bytes: usize) -> Result<usize, DataError> {
        let start = into.len();
        let end = start.saturating_add(n_bytes);
        while into.len() < end {
            let from = into.len();
            into.resize(from + (end - from).min(64 << 10), 0);
            let n_read = self.read_some(&mut into[from..])?;
            into.truncate(from + n_read);
            if n_read == 0 {
                break;
            }
        }
        Ok(into.len() - start)
    }
}

/// The type of the elements of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dtype {
    pub(super) kind: Kind,
    pub(super) size: usize,
    pub(super) big_endian: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    Signed,
    Unsigned,
    Float,
    /// Bytes of text, padded with zeros.
    Bytes,
    /// Code points of 4 bytes, padded with zeros.
    Unicode,
}

impl Dtype {
    pub(super) fn parse(descr: &str) -> Result<Self, String> {
        let (order, rest) = descr.split_at_checked(1).ok_or("the type is empty")?;
        let (order, rest) = if "<>|=".contains(order) { (order, rest) } else { ("=", descr) };
        let (kind, size) = rest.split_at_checked(1).ok_or("the type is empty")?;
        let size: usize = if size.is_empty() { 0 } else { size.parse().map_err(|_| "the type is odd")? };
        let kind = match (kind, size) {
            ("b", 1) => Kind::Bool,
            ("i", 1 | 2 | 4 | 8) => Kind::Signed,
            ("u", 1 | 2 | 4 | 8) => Kind::Unsigned,
            ("f", 2 | 4 | 8) => Kind::Float,
            ("S" | "a", 1..=65_536) => Kind::Bytes,
            ("U", 1..=65_536) => Kind::Unicode,
            ("O", _) => return Err("it holds Python objects, and opening those runs code".to_owned()),
            _ => return Err(format!("its type {} is not read", quote(descr.as_bytes()))),
        };
        let size = if kind == Kind::Unicode { size * 4 } else { size };
        Ok(Self { kind, size, big_endian: order == ">" || (order == "=" && cfg!(target_endian = "big")) })
    }

    pub(super) fn is_text(self) -> bool {
        matches!(self.kind, Kind::Bytes | Kind::Unicode)
    }

    /// The bits of one element of at most 8 bytes.
    pub(super) fn bits(self, bytes: &[u8]) -> u64 {
        let push = |bits: u64, byte: &u8| (bits << 8) | u64::from(*byte);
        if self.big_endian { bytes.iter().fold(0, push) } else { bytes.iter().rev().fold(0, push) }
    }

    pub(super) fn signed(self, bytes: &[u8]) -> i64 {
        let shift = 64 - 8 * self.size as u32;
        (self.bits(bytes) << shift).cast_signed() >> shift
    }

    /// The numbers in `bytes`, added to `into`.
    pub(super) fn numbers(self, bytes: &[u8], into: &mut Vec<f64>) {
        let elements = bytes.chunks_exact(self.size);
        match (self.kind, self.size) {
            (Kind::Float, 4) => {
                into.extend(elements.map(|bytes| f64::from(f32::from_bits(self.bits(bytes) as u32))));
            }
            (Kind::Float, 8) => into.extend(elements.map(|bytes| f64::from_bits(self.bits(bytes)))),
            (Kind::Float, _) => into.extend(elements.map(|bytes| half(self.bits(bytes) as u16))),
            (Kind::Signed, _) => into.extend(elements.map(|bytes| self.signed(bytes) as f64)),
            (Kind::Bool, _) => into.extend(elements.map(|bytes| f64::from(u8::from(bytes != [0])))),
            _ => into.extend(elements.map(|bytes| self.bits(bytes) as f64)),
        }
    }

    /// One element as the text of a label; a code point that is no character is the error.
    pub(super) fn text(self, bytes: &[u8]) -> Result<Vec<u8>, u64> {
        Ok(match self.kind {
            Kind::Bytes => {
                let end = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
                bytes[..end].to_vec()
            }
            Kind::Unicode => {
                let points = bytes.chunks_exact(4).map(|point| {
                    let point = self.bits(point);
                    u32::try_from(point).ok().and_then(char::from_u32).ok_or(point)
                });
                points.collect::<Result<String, _>>()?.trim_end_matches('\0').as_bytes().to_vec()
            }
            Kind::Signed => self.signed(bytes).to_string().into_bytes(),
            Kind::Bool => if bytes == [0] { "false" } else { "true" }.into(),
            Kind::Unsigned => self.bits(bytes).to_string().into_bytes(),
            Kind::Float => {
                let mut number = Vec::new();
                self.numbers(bytes, &mut number);
                number.first().map_or_else(Vec::new, |number| number.to_string().into_bytes())
            }
        })
    }
}

/// The value of a number of 16 bits, IEEE 754.
pub(super) fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1F), f64::from(bits & 0x3FF));
    sign * match exponent {
        0 => fraction * 2.0_f64.powi(-24),
        0x1F if fraction == 0.0 => f64::INFINITY,
        0x1F => f64::NAN,
        _ => (1024.0 + fraction) * 2.0_f64.powi(exponent - 25),
    }
}

/// What stands before the elements of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) dtype: Dtype,
    pub(super) fortran: bool,
    pub(super) shape: Vec<u64>,
}

impl Header {
    /// The header whose text is `text`, a Python dictionary of three entries.
    pub(super) fn parse(text: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(text).map_err(|_| "its header is not UTF-8")?;
        let value = |key: &str| {
            let after = text.split_once(&format!("'{key}':"))?.1;
            Some(after.trim_start())
        };
        let missing = |key: &str| format!("its header has no {key}");
        let descr = value("descr").ok_or_else(|| missing("descr"))?;
        let Some(descr) = descr.strip_prefix('\'').and_then(|rest| Some(rest.split_once('\'')?.0)) else {
            return Err("it is an array of records, expected one of numbers".to_owned());
        };
        let fortran = value("fortran_order").ok_or_else(|| missing("fortran_order"))?;
        let shape = value("shape").ok_or_else(|| missing("shape"))?;
        let sizes = shape.strip_prefix('(').and_then(|rest| Some(rest.split_once(')')?.0));
        let sizes = sizes.ok_or("its shape is odd")?;
        let sizes =
            sizes.split(',').map(|size| size.trim().trim_end_matches('L')).filter(|size| !size.is_empty());
        let shape: Vec<u64> =
            sizes.map(|size| size.parse().map_err(|_| "its shape is odd")).collect::<Result<_, _>>()?;
        if shape.len() > 32 {
            return Err("it has more than 32 dimensions".to_owned());
        }
        Ok(Self { dtype: Dtype::parse(descr)?, fortran: fortran.starts_with("True"), shape })
    }

    pub(super) fn n_rows(&self) -> u64 {
        self.shape.first().copied().unwrap_or(1)
    }

    /// Elements per row; `None` if that is beyond all reason.
    pub(super) fn width(&self) -> Option<usize> {
        self.shape
            .iter()
            .skip(1)
            .try_fold(1_usize, |width, &size| width.checked_mul(usize::try_from(size).ok()?))
            .filter(|width| width.checked_mul(self.dtype.size).is_some())
    }
}

/// An array, its elements yet to be read.
pub(super) struct Array {
    pub(super) header: Header,
    pub(super) feed: Feed,
    /// What it is called in messages.
    pub(super) name: String,
    pub(super) n_read: u64,
}

impl Array {
    pub(super) fn open(mut feed: Feed, name: &str) -> Result<Self, DataError> {
        let fail = |why: String| {
            DataError::new(ErrorKind::Format, format!("the array `{name}` cannot be read: {why}"))
        };
        let cut = || fail("its header ends too early".to_owned());
        let mut start = Vec::new();
        if feed.read_up_to(&mut start, 8)? < 8 {
            return Err(cut());
        }
        if !start.starts_with(MAGIC) {
            return Err(fail("it does not begin like one".to_owned()));
        }
        let n_length = match start.get(6) {
            Some(1) => 2,
            Some(2 | 3) => 4,
            _ => return Err(fail("its version is none of 1, 2, 3".to_owned())),
        };
        let mut length = Vec::new();
        if feed.read_up_to(&mut length, n_length)? < n_length {
            return Err(cut());
        }
        let length = length.iter().rev().fold(0_usize, |length, &byte| (length << 8) | usize::from(byte));
        if length > MAX_HEADER {
            return Err(fail(format!("its header has {length} bytes, more than {MAX_HEADER}, the limit")));
        }
        let mut text = Vec::new();
        if feed.read_up_to(&mut text, length)? < length {
            return Err(cut());
        }
        let header = Header::parse(&text).map_err(|why| {
            let is_pickle = why.contains("objects");
            let error = fail(why);
            if is_pickle {
                error.with_help("save numbers: numpy.save(FILE, array.astype(float))")
            } else {
                error
            }
        })?;
        Ok(Self { header, feed, name: name.to_owned(), n_read: 0 })
    }

    /// Reads `n_elements` more elements as bytes.
    pub(super) fn read(&mut self, n_elements: usize, into: &mut Vec<u8>) -> Result<(), DataError> {
        into.clear();
        let n_bytes = n_elements.saturating_mul(self.header.dtype.size);
        let n_read = self.feed.read_up_to(into, n_bytes)?;
        let n_before = self.n_read;
        self.n_read += (n_read / self.header.dtype.size) as u64;
        if n_read < n_bytes {
            let message = format!(
                "the array `{}` ends after {} numbers, expected more: its shape is {:?}",
                self.name,
                n_before + (n_read / self.header.dtype.size) as u64,
                self.header.shape
            );
            return Err(DataError::new(ErrorKind::Shape, message).with_help("the file is cut; get it again"));
        }
        Ok(())
    }

    /// All of a small array of whole numbers.
    pub(super) fn small(mut self) -> Result<Vec<i64>, DataError> {
        let n_elements = self.header.shape.iter().try_fold(1_u64, |n, &size| n.checked_mul(size));
        match n_elements {
            Some(n_elements @ ..=16) if matches!(self.header.dtype.kind, Kind::Signed | Kind::Unsigned) => {
                let mut bytes = Vec::new();
                self.read(n_elements as usize, &mut bytes)?;
                let elements = bytes.chunks_exact(self.header.dtype.size);
                Ok(elements.map(|bytes| self.header.dtype.signed(bytes)).collect())
            }
            _ => {
                let message = format!("the array `{}` should be a few whole numbers, but is not", self.name);
                Err(DataError::new(ErrorKind::Shape, message))
            }
        }
    }

    /// Nothing may follow the last element.
    pub(super) fn check_end(&mut self) -> Result<(), DataError> {
        if self.feed.read_some(&mut [0])? == 0 {
            return Ok(());
        }
        let message =
            format!("bytes follow the array `{}`, whose shape is {:?}", self.name, self.header.shape);
        Err(DataError::new(ErrorKind::Shape, message))
    }
}
