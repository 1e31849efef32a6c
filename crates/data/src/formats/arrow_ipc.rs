//! Arrow IPC, files (Feather) and streams: record batches, read one at a time.
//!
//! `arrow_table` decides which columns become features, and how. A file holds a stream, so both are
//! read from front to back, from pipes too. Every message is taken in whole, its lengths held against the
//! bytes that are really there, before the decoder sees it; the decoder is foreign code and runs
//! contained. A stream must end with its end mark, a file with its magic bytes: what does not is cut. Files by
//! Polars begin with a schema of unstated length; it ends where the next message begins.
//! Without the cargo feature `arrow` such data is still recognised, and the error says what to do.

use super::{Format, FormatInfo, Head, Reader, Sniff};
use crate::bytes::source::Input;
use crate::error::DataError;
use crate::options::ReadOptions;

/// How a file begins, and how it ends.
const MAGIC: &[u8] = b"ARROW1";

/// How a message begins.
const CONTINUATION: [u8; 4] = [0xFF; 4];

/// Arrow IPC.
#[derive(Debug)]
pub(crate) struct ArrowIpc;

impl Format for ArrowIpc {
    fn info(&self) -> FormatInfo {
        FormatInfo {
            aliases: &["feather", "ipc", "arrows"],
            extensions: &["arrow", "arrows", "feather", "ipc"],
            ..FormatInfo::new("arrow", "Arrow record batches, as a file or a stream")
        }
    }

    fn heeds(&self) -> &'static [&'static str] {
        super::OF_TABLES
    }

    fn sniff(&self, head: &Head<'_>) -> Sniff {
        let named = head.extension.is_some_and(|extension| self.info().extensions.contains(&extension));
        if head.bytes.starts_with(MAGIC) {
            Sniff::Certain
        } else if head.bytes.starts_with(&CONTINUATION) && head.bytes.len() > 8 {
            // Metadata is padded to 8 bytes, prefix included.
            let length = head.bytes.get(4..8).map_or(1, |l| u32::from_le_bytes([l[0], l[1], l[2], l[3]]));
            if length % 8 == 0 && length < 1 << 24 { Sniff::Certain } else { Sniff::Maybe }
        } else if named {
            Sniff::Maybe
        } else {
            Sniff::No
        }
    }

    fn open(&self, input: Input, how: &ReadOptions) -> Result<Box<dyn Reader>, DataError> {
        let name = input.name().clone();
        open(input, how).map_err(|error| error.in_source(&name))
    }
}

#[cfg(not(feature = "arrow"))]
fn open(_: Input, _: &ReadOptions) -> Result<Box<dyn Reader>, DataError> {
    Err(DataError::not_built("Arrow", "arrow", "convert the file to CSV"))
}

#[cfg(feature = "arrow")]
use reading::open;

#[cfg(feature = "arrow")]
mod reading {
    use super::super::arrow_table::{ArrowPlan, ArrowTable, contained, table_reader};
    use super::super::{Reader, matrix};
    use super::{CONTINUATION, MAGIC};
    use crate::bytes::source::{Input, Part};
    use crate::error::{DataError, ErrorKind};
    use crate::options::ReadOptions;
    use crate::rows::block::{Block, Stored};
    use crate::rows::schema::{Precision, Schema};
    use arrow_array::RecordBatch;
    use arrow_ipc::reader::StreamReader;
    use std::collections::VecDeque;
    use std::io::{self, Read};
    use std::sync::{Arc, Mutex, PoisonError};

    /// The longest metadata of a message.
    const MAX_METADATA: usize = 16 << 20;

    /// An inflated buffer may have this many bytes, and more if its packed bytes justify it.
    const INFLATED_AT_LEAST: u64 = 64 << 20;
    const INFLATED_RATIO: u64 = 256;

    pub(super) fn open(input: Input, how: &ReadOptions) -> Result<Box<dyn Reader>, DataError> {
        if let Part::Table(_, table) = input.part() {
            return table_reader(table, how);
        }
        let opened = Opened::open(input, how)?;
        let plan = ArrowPlan::new(&opened.stream.schema(), opened.first.as_ref(), how)?;
        Ok(match plan.precision {
            Precision::Single => Box::new(ArrowReader::<f32>::new(opened, plan)),
            Precision::Double => Box::new(ArrowReader::<f64>::new(opened, plan)),
        })
    }

    fn damaged(why: &str) -> DataError {
        DataError::new(ErrorKind::Format, format!("the Arrow data is damaged: {why}"))
            .with_help("check the file with the tool that wrote it, or get it again")
    }

    /// Whole messages, one after the other.
    struct Messages {
        input: Input,
        /// Bytes that were read to see where the schema ends.
        ahead: VecDeque<u8>,
        is_file: bool,
        message: Vec<u8>,
        at: usize,
        at_end: bool,
        max_body: u64,
        /// What went wrong, for those who hear of it through foreign code.
        failure: Arc<Mutex<Option<DataError>>>,
    }

    impl Messages {
        /// Takes in the next message.
        fn take(&mut self) -> Result<(), DataError> {
            self.message.clear();
            self.at = 0;
            if self.at_end {
                return Ok(());
            }
            let cut = || damaged("it ends inside a message or without its end mark");
            let mut read = |into: &mut Vec<u8>, n_bytes: usize| {
                if read_up_to(&mut self.ahead, &mut self.input, into, n_bytes)? < n_bytes {
                    Err(cut())
                } else {
                    Ok(())
                }
            };
            let message = &mut self.message;
            read(message, 4)?;
            if message[..] == CONTINUATION {
                read(message, 4)?;
            }
            let prefix = message.len();
            let length = message.last_chunk::<4>().map_or(0, |length| u32::from_le_bytes(*length) as usize);
            if length == 0 {
                self.at_end = true;
                return Ok(());
            }
            if length > MAX_METADATA {
                return Err(damaged(&format!("the metadata of a message has {length} bytes")));
            }
            read(message, length)?;
            let header = arrow_ipc::root_as_message(&message[prefix..])
                .map_err(|error| damaged(&format!("the metadata of a message is wrong, {error}")))?;
            let n_body = u64::try_from(header.bodyLength()).ok().filter(|&length| length <= self.max_body);
            let n_body = n_body
                .ok_or_else(|| damaged(&format!("a message claims {} bytes", header.bodyLength())))?
                as usize;
            let body = message.len();
            read(message, n_body)?;
            let header = arrow_ipc::root_as_message(&message[prefix..body])
                .map_err(|error| damaged(&format!("the metadata of a message is wrong, {error}")))?;
            let dictionary = header.header_as_dictionary_batch().and_then(|batch| batch.data());
            if let Some(batch) = header.header_as_record_batch().or(dictionary) {
                check_buffers(&batch, &message[body..])?;
            }
            Ok(())
        }

        /// Checks what follows the last message.
        fn check_end(&mut self) -> Result<(), DataError> {
            if !self.at_end {
                self.take()?;
                if !self.at_end {
                    return Err(damaged("messages follow the last batch"));
                }
            }
            let mut tail: Vec<u8> = Vec::new();
            let mut more = Vec::new();
            while read_up_to(&mut self.ahead, &mut self.input, &mut more, 64 << 10)? > 0 {
                if !self.is_file {
                    return Err(damaged("bytes follow its end mark"));
                }
                tail.extend_from_slice(&more);
                tail.drain(..tail.len().saturating_sub(MAGIC.len()));
                more.clear();
            }
            if self.is_file && tail != MAGIC {
                return Err(damaged("it does not end with `ARROW1`"));
            }
            Ok(())
        }
    }

    /// Adds up to `n_bytes` to `into`: those `ahead` first, then those of `input`.
    fn read_up_to(
        ahead: &mut VecDeque<u8>,
        input: &mut Input,
        into: &mut Vec<u8>,
        n_bytes: usize,
    ) -> Result<usize, DataError> {
        let n_ahead = ahead.len().min(n_bytes);
        into.extend(ahead.drain(..n_ahead));
        Ok(n_ahead + matrix::read_up_to(input, into, n_bytes - n_ahead)?)
    }

    /// The schema of a file that does not say how long it is, as a message that does; what follows it goes `ahead`.
    fn bare_schema(input: &mut Input, ahead: &mut VecDeque<u8>) -> Result<Vec<u8>, DataError> {
        let is_schema = |bytes: &[u8]| {
            arrow_ipc::root_as_message(bytes).is_ok_and(|message| message.header_as_schema().is_some())
        };
        let mut bytes = Vec::new();
        let mut at = 8;
        while bytes.len() < MAX_METADATA && matrix::read_up_to(input, &mut bytes, 64 << 10)? > 0 {
            while let Some(next) = bytes.get(at..at + 8) {
                let length = u32::from_le_bytes([next[4], next[5], next[6], next[7]]) as usize;
                if next[..4] == CONTINUATION
                    && length.is_multiple_of(8)
                    && length <= MAX_METADATA
                    && is_schema(&bytes[..at])
                {
                    ahead.extend(&bytes[at..]);
                    bytes.truncate(at);
                    return Ok([&CONTINUATION[..], &(at as u32).to_le_bytes(), &bytes].concat());
                }
                at += 8;
            }
        }
        Err(damaged("it has no schema that ends"))
    }

    /// Checks that buffers lie within the body and that packed ones do not claim to be huge.
    fn check_buffers(batch: &arrow_ipc::RecordBatch<'_>, body: &[u8]) -> Result<(), DataError> {
        for buffer in batch.buffers().iter().flatten() {
            let range = usize::try_from(buffer.offset()).ok().zip(usize::try_from(buffer.length()).ok());
            let bytes = range.and_then(|(start, length)| body.get(start..start.checked_add(length)?));
            let bytes = bytes.ok_or_else(|| damaged("a buffer lies outside its message"))?;
            if batch.compression().is_some()
                && let Some(length) = bytes.first_chunk::<8>()
            {
                let length = i64::from_le_bytes(*length);
                let limit = INFLATED_AT_LEAST.max((bytes.len() as u64).saturating_mul(INFLATED_RATIO));
                // -1 says that the buffer is not packed after all.
                if length != -1 && u64::try_from(length).map_or(true, |length| length > limit) {
                    return Err(damaged(&format!("a buffer claims {length} bytes")));
                }
            }
        }
        if batch.length() < 0 {
            return Err(damaged("a batch has a negative number of rows"));
        }
        Ok(())
    }

    impl Read for Messages {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            if self.at == self.message.len()
                && let Err(error) = self.take()
            {
                self.message.clear();
                self.at = 0;
                self.at_end = true;
                let message = error.to_string();
                *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                return Err(io::Error::other(message));
            }
            let waiting = &self.message[self.at..];
            let n_bytes = waiting.len().min(into.len());
            into[..n_bytes].copy_from_slice(&waiting[..n_bytes]);
            self.at += n_bytes;
            Ok(n_bytes)
        }
    }

    /// A stream, and the first batch of it.
    struct Opened {
        name: Arc<str>,
        stream: StreamReader<Messages>,
        first: Option<RecordBatch>,
        failure: Arc<Mutex<Option<DataError>>>,
    }

    struct ArrowReader<T> {
        opened: Opened,
        rows: ArrowTable<T>,
        projection: Vec<usize>,
    }

    /// The failure below, if there was one, else the one that was heard of.
    fn better(error: DataError, failure: &Mutex<Option<DataError>>) -> DataError {
        failure.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or(error)
    }

    impl Opened {
        fn open(mut input: Input, how: &ReadOptions) -> Result<Self, DataError> {
            let name = input.name().clone();
            let is_file = input.head().starts_with(MAGIC);
            let mut is_bare = false;
            if is_file {
                // The magic bytes are padded with zeros to eight, or to as much as the writer aligns to.
                let padded = input.head().iter().skip(MAGIC.len()).position(|&byte| byte != 0);
                let n_skip = padded.map_or(8, |length| (MAGIC.len() + length) / 8 * 8).max(8);
                // No metadata is so short: what stands in the place of its length is the schema itself.
                let length = input.head().get(n_skip..n_skip + 4).and_then(|length| length.try_into().ok());
                is_bare = length.map(u32::from_le_bytes).is_some_and(|length| (1..16).contains(&length));
                matrix::read_up_to(&mut input, &mut Vec::new(), n_skip)?;
            }
            let failure = Arc::new(Mutex::new(None));
            let (mut message, mut ahead) = (Vec::new(), VecDeque::new());
            if is_bare {
                message = bare_schema(&mut input, &mut ahead)?;
            }
            let messages = Messages {
                input,
                ahead,
                is_file,
                message,
                at: 0,
                at_end: false,
                max_body: how.limits.held_bytes,
                failure: Arc::clone(&failure),
            };
            let mut stream = contained("Arrow", || StreamReader::try_new(messages, None))
                .map_err(|error| better(error, &failure))?;
            let first = next(&mut stream, &failure)?;
            Ok(Self { name, stream, first, failure })
        }
    }

    impl<T: Stored> ArrowReader<T> {
        fn new(opened: Opened, plan: ArrowPlan) -> Self {
            let rows = ArrowTable::new(plan);
            Self { opened, projection: rows.projection(), rows }
        }

        fn fill(&mut self, into: &mut Block) -> Result<bool, DataError> {
            self.rows.table.clear(into);
            while into.is_empty() {
                let batch = match self.opened.first.take() {
                    Some(first) => Some(first),
                    None => next(&mut self.opened.stream, &self.opened.failure)?,
                };
                let Some(batch) = batch else {
                    self.opened.stream.get_mut().check_end()?;
                    self.rows.table.finish(into);
                    return Ok(false);
                };
                let batch = contained("Arrow", || batch.project(&self.projection))?;
                contained("Arrow", || Ok::<_, DataError>(self.rows.add(&batch, into)))??;
            }
            self.rows.table.finish(into);
            Ok(true)
        }
    }

    fn next(
        stream: &mut StreamReader<Messages>,
        failure: &Mutex<Option<DataError>>,
    ) -> Result<Option<RecordBatch>, DataError> {
        contained("Arrow", || stream.next().transpose()).map_err(|error| better(error, failure))
    }

    impl<T: Stored> Reader for ArrowReader<T> {
        fn schema(&self) -> &Schema {
            &self.rows.table.plan.schema
        }

        fn read(&mut self, into: &mut Block) -> Result<bool, DataError> {
            self.fill(into).map_err(|error| error.in_source(&self.opened.name))
        }
    }
}
