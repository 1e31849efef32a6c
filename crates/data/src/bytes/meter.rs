//! How far reading has come, readable from another thread.

use std::fmt;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts the bytes and rows that were read so far. Clones count together.
#[derive(Clone, Default)]
pub struct Meter {
    bytes: Arc<AtomicU64>,
    rows: Arc<AtomicU64>,
}

/// Options that count are the same options as before: fingerprints are taken of their text.
impl fmt::Debug for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Meter")
    }
}

impl Meter {
    /// Bytes taken from files and pipes, as they are stored: before anything is unpacked.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Rows made of them.
    pub fn rows(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }

    pub(crate) fn add_rows(&self, rows: u64) {
        self.rows.fetch_add(rows, Ordering::Relaxed);
    }

    /// The same bytes, counted.
    pub(crate) fn watch(&self, reader: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
        Box::new(Watched { reader, meter: self.clone() })
    }
}

struct Watched {
    reader: Box<dyn Read + Send>,
    meter: Meter,
}

impl Read for Watched {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n_read = self.reader.read(into)?;
        self.meter.bytes.fetch_add(n_read as u64, Ordering::Relaxed);
        Ok(n_read)
    }
}
