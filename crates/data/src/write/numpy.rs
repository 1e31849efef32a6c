//! `NumPy`: `.npy`, one array of rows, and `.npz`, the rows as `X` and their classes as `y`.
//!
//! All values are written, zeros too. An `.npy` has its labels in the last column, which takes classes that
//! are numbers; an `.npz` holds any. Neither has a place for weights, nor for the names of features. The
//! classes of an `.npz` wait in memory until the rows are written, one to four bytes each.

use super::{OutRow, RowWriter, Shape, WriteFormat, unfit};
use crate::error::{DataError, ErrorKind};
use crate::formats::FormatInfo;
use crate::rows::schema::Precision;

/// The most numbers a row may have: sparse data of more has better formats.
const MAX_COLUMNS: usize = 1 << 17;

/// An entry of an archive has fewer bytes than this.
const MAX_ENTRY: u64 = u32::MAX as u64;

/// One array.
pub(super) struct Npy;

/// Two arrays in an archive.
pub(super) struct Npz;

fn check(shape: &Shape) -> Result<(), DataError> {
    if shape.weighted {
        let message = "NumPy's arrays have no place for the weights of rows";
        return Err(unfit(message, "write CSV or Parquet, or leave the weights out"));
    }
    shape.check_columns(MAX_COLUMNS)
}

impl WriteFormat for Npy {
    fn info(&self) -> FormatInfo {
        FormatInfo { extensions: &["npy"], ..FormatInfo::new("npy", "a NumPy array, labels beside it") }
    }

    fn start(&self, shape: &Shape) -> Result<Box<dyn RowWriter>, DataError> {
        check(shape)?;
        let labels = if shape.labelled {
            let message =
                "an array of numbers cannot hold classes that are names, or numbers beyond its precision";
            shape
                .number_labels()
                .ok_or_else(|| unfit(message, "write .npz, which has a second array for them"))?
        } else {
            Vec::new()
        };
        Ok(Box::new(Array { shape: shape.clone(), labels }))
    }
}

impl WriteFormat for Npz {
    fn info(&self) -> FormatInfo {
        FormatInfo {
            extensions: &["npz"],
            ..FormatInfo::new("npz", "a SciPy matrix of sparse rows, with its labels")
        }
    }

    fn start(&self, shape: &Shape) -> Result<Box<dyn RowWriter>, DataError> {
        check(shape)?;
        let n_label =
            shape.labels.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(1) as u64 * 4;
        let n_value = value_bytes(shape.precision) as u64 * shape.width as u64;
        if shape.n_rows.saturating_mul(n_value.max(n_label)) >= MAX_ENTRY - 256 {
            let message = format!(
                "an array in an .npz should have less than 4 GiB, but there are {} rows",
                shape.n_rows
            );
            return Err(unfit(message, "write .npy or Parquet"));
        }
        Ok(Box::new(Archive { shape: shape.clone(), classes: Vec::new(), zip: Zip::default() }))
    }
}

fn value_bytes(precision: Precision) -> usize {
    match precision {
        Precision::Single => 4,
        Precision::Double => 8,
    }
}

fn float(precision: Precision) -> &'static str {
    match precision {
        Precision::Single => "<f4",
        Precision::Double => "<f8",
    }
}

/// The beginning of an array: version 1, a dictionary padded to a multiple of 64 bytes.
fn header(descr: &str, sizes: &[u64]) -> Vec<u8> {
    let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
    let trail = if sizes.len() == 1 { "," } else { "" };
    let mut text =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({}{trail}), }}", sizes.join(", "));
    let n_blanks = 63 - (10 + text.len()) % 64;
    text.extend(std::iter::repeat_n(' ', n_blanks));
    text.push('\n');
    [b"\x93NUMPY\x01\x00", &(text.len() as u16).to_le_bytes()[..], text.as_bytes()].concat()
}

fn push_value(into: &mut Vec<u8>, value: f64, precision: Precision) {
    match precision {
        Precision::Single => into.extend_from_slice(&(value as f32).to_le_bytes()),
        Precision::Double => into.extend_from_slice(&value.to_le_bytes()),
    }
}

fn push_row(into: &mut Vec<u8>, row: &OutRow<'_>, shape: &Shape) {
    let mut entries = row.entries.iter().peekable();
    for feature in 0..shape.width as u32 {
        let value = entries.next_if(|(stored, _)| *stored == feature).map_or(0.0, |&(_, value)| value);
        push_value(into, value, shape.precision);
    }
}

struct Array {
    shape: Shape,
    /// The number of each class; none if rows have no labels.
    labels: Vec<f64>,
}

impl RowWriter for Array {
    fn head(&mut self, into: &mut Vec<u8>) -> Result<(), DataError> {
        let n_columns = self.shape.width + usize::from(self.shape.labelled);
        into.extend(header(float(self.shape.precision), &[self.shape.n_rows, n_columns as u64]));
        Ok(())
    }

    fn row(&mut self, row: &OutRow<'_>, into: &mut Vec<u8>) -> Result<(), DataError> {
        push_row(into, row, &self.shape);
        if self.shape.labelled {
            push_value(
                into,
                self.labels.get(row.class as usize).copied().unwrap_or(0.0),
                self.shape.precision,
            );
        }
        Ok(())
    }
}

struct Archive {
    shape: Shape,
    classes: Vec<u8>,
    zip: Zip,
}

impl Archive {
    /// How many bytes a class number takes.
    fn class_bytes(&self) -> usize {
        match self.shape.labels.len() {
            0..=0x100 => 1,
            0x101..=0x1_0000 => 2,
            _ => 4,
        }
    }
}

impl RowWriter for Archive {
    fn head(&mut self, into: &mut Vec<u8>) -> Result<(), DataError> {
        self.zip.begin("X.npy", into);
        let header = header(float(self.shape.precision), &[self.shape.n_rows, self.shape.width as u64]);
        self.zip.add(&header, into);
        Ok(())
    }

    fn row(&mut self, row: &OutRow<'_>, into: &mut Vec<u8>) -> Result<(), DataError> {
        let start = into.len();
        push_row(into, row, &self.shape);
        self.zip.note(&into[start..]);
        if self.shape.labelled {
            let n_bytes = self.class_bytes();
            self.classes.extend_from_slice(&row.class.to_le_bytes()[..n_bytes]);
        }
        Ok(())
    }

    fn end(&mut self, into: &mut Vec<u8>) -> Result<(), DataError> {
        self.zip.end_entry(into);
        if self.shape.labelled {
            self.zip.begin("y.npy", into);
            let whole = self.shape.whole_labels();
            let n_chars = self.shape.labels.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(1);
            let descr = if whole.is_some() { "<i8".to_owned() } else { format!("<U{n_chars}") };
            let header = header(&descr, &[self.shape.n_rows]);
            self.zip.add(&header, into);
            // Each class as it stands in the array.
            let elements: Vec<Vec<u8>> = if let Some(numbers) = whole {
                numbers.iter().map(|number| number.to_le_bytes().to_vec()).collect()
            } else {
                let points = |name: &String| {
                    let mut bytes: Vec<u8> = name.chars().flat_map(|c| (c as u32).to_le_bytes()).collect();
                    bytes.resize(n_chars * 4, 0);
                    bytes
                };
                self.shape.labels.iter().map(points).collect()
            };
            for class in self.classes.chunks_exact(self.class_bytes()) {
                let class =
                    class.iter().rev().fold(0_usize, |number, &byte| (number << 8) | usize::from(byte));
                let element = elements.get(class).ok_or_else(|| {
                    DataError::new(ErrorKind::Internal, "a class has no name, expected all to have one")
                })?;
                self.zip.add(element, into);
            }
            self.zip.end_entry(into);
        }
        self.zip.directory(into);
        Ok(())
    }
}

/// An archive of entries that are stored as they are. Their checksums follow them.
#[derive(Default)]
struct Zip {
    /// Bytes written so far.
    at: u64,
    entries: Vec<ZipEntry>,
}

struct ZipEntry {
    name: &'static str,
    start: u64,
    n_bytes: u64,
    crc: flate2::Crc,
}

impl Zip {
    fn push(&mut self, bytes: &[u8], into: &mut Vec<u8>) {
        into.extend_from_slice(bytes);
        self.at += bytes.len() as u64;
    }

    fn begin(&mut self, name: &'static str, into: &mut Vec<u8>) {
        self.entries.push(ZipEntry { name, start: self.at, n_bytes: 0, crc: flate2::Crc::new() });
        // Version 2.0; sizes and checksum follow the content; stored; the first day there is, in 1980.
        self.push(b"PK\x03\x04\x14\0\x08\0\0\0\0\0\x21\0\0\0\0\0\0\0\0\0\0\0\0\0", into);
        self.push(&(name.len() as u16).to_le_bytes(), into);
        self.push(&[0, 0], into);
        self.push(name.as_bytes(), into);
    }

    /// Adds content to the entry at hand.
    fn add(&mut self, bytes: &[u8], into: &mut Vec<u8>) {
        into.extend_from_slice(bytes);
        self.note(bytes);
    }

    /// Takes note of content that was written already.
    fn note(&mut self, bytes: &[u8]) {
        self.at += bytes.len() as u64;
        if let Some(entry) = self.entries.last_mut() {
            entry.n_bytes += bytes.len() as u64;
            entry.crc.update(bytes);
        }
    }

    fn end_entry(&mut self, into: &mut Vec<u8>) {
        let Some(entry) = self.entries.last() else { return };
        let (crc, n_bytes) = (entry.crc.sum().to_le_bytes(), (entry.n_bytes as u32).to_le_bytes());
        self.push(&[&b"PK\x07\x08"[..], &crc, &n_bytes, &n_bytes].concat(), into);
    }

    fn directory(&mut self, into: &mut Vec<u8>) {
        let start = self.at;
        for entry in std::mem::take(&mut self.entries) {
            let n_bytes = (entry.n_bytes as u32).to_le_bytes();
            let record = [
                &b"PK\x01\x02\x14\0\x14\0\x08\0\0\0\0\0\x21\0"[..],
                &entry.crc.sum().to_le_bytes(),
                &n_bytes,
                &n_bytes,
                &(entry.name.len() as u16).to_le_bytes(),
                &[0; 12],
                &(entry.start as u32).to_le_bytes(),
                entry.name.as_bytes(),
            ];
            self.push(&record.concat(), into);
            self.entries.push(entry);
        }
        let n_entries = (self.entries.len() as u16).to_le_bytes();
        let length = ((self.at - start) as u32).to_le_bytes();
        let end = [
            &b"PK\x05\x06\0\0\0\0"[..],
            &n_entries,
            &n_entries,
            &length,
            &(start as u32).to_le_bytes(),
            &[0, 0],
        ];
        self.push(&end.concat(), into);
    }
}
