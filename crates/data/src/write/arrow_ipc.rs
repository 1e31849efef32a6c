//! Arrow IPC: files (`.arrow`, `.feather`) and streams (`.arrows`). The columns are those of `arrow_batches`.

use super::{RowWriter, Shape, WriteFormat};
use crate::error::DataError;
use crate::formats::FormatInfo;

/// An Arrow IPC file.
pub(super) struct ArrowFile;

/// An Arrow IPC stream.
pub(super) struct ArrowStream;

impl WriteFormat for ArrowFile {
    fn info(&self) -> FormatInfo {
        FormatInfo {
            extensions: &["arrow", "feather", "ipc"],
            ..FormatInfo::new("arrow", "an Arrow IPC file")
        }
    }

    fn start(&self, shape: &Shape) -> Result<Box<dyn RowWriter>, DataError> {
        start(shape, false)
    }
}

impl WriteFormat for ArrowStream {
    fn info(&self) -> FormatInfo {
        FormatInfo { extensions: &["arrows"], ..FormatInfo::new("arrows", "an Arrow IPC stream") }
    }

    fn start(&self, shape: &Shape) -> Result<Box<dyn RowWriter>, DataError> {
        start(shape, true)
    }
}

#[cfg(not(feature = "arrow"))]
fn start(_: &Shape, _: bool) -> Result<Box<dyn RowWriter>, DataError> {
    Err(DataError::not_built("Arrow", "arrow", "write CSV"))
}

#[cfg(feature = "arrow")]
use writing::start;

#[cfg(feature = "arrow")]
mod writing {
    use super::super::arrow_batches::Batches;
    use super::super::{OutRow, RowWriter, Shape};
    use crate::error::{DataError, ErrorKind};
    use arrow_array::RecordBatch;
    use arrow_ipc::writer::{FileWriter, StreamWriter};
    use arrow_schema::ArrowError;

    enum Messages {
        File(Box<FileWriter<Vec<u8>>>),
        Stream(Box<StreamWriter<Vec<u8>>>),
    }

    struct Rows {
        batches: Batches,
        messages: Messages,
    }

    #[expect(clippy::needless_pass_by_value, reason = "handed to `map_err` as it is")]
    fn failed(error: ArrowError) -> DataError {
        DataError::new(ErrorKind::Internal, format!("writing Arrow failed: {error}"))
    }

    pub(super) fn start(shape: &Shape, as_stream: bool) -> Result<Box<dyn RowWriter>, DataError> {
        let batches = Batches::new(shape)?;
        let messages = if as_stream {
            Messages::Stream(Box::new(StreamWriter::try_new(Vec::new(), batches.schema()).map_err(failed)?))
        } else {
            Messages::File(Box::new(FileWriter::try_new(Vec::new(), batches.schema()).map_err(failed)?))
        };
        Ok(Box::new(Rows { batches, messages }))
    }

    impl Rows {
        fn write(&mut self, batch: &RecordBatch, into: &mut Vec<u8>) -> Result<(), DataError> {
            match &mut self.messages {
                Messages::File(file) => file.write(batch),
                Messages::Stream(stream) => stream.write(batch),
            }
            .map_err(failed)?;
            self.drain(into);
            Ok(())
        }

        /// Hands over what was written so far; the writer counts for itself where it is.
        fn drain(&mut self, into: &mut Vec<u8>) {
            into.append(match &mut self.messages {
                Messages::File(file) => file.get_mut(),
                Messages::Stream(stream) => stream.get_mut(),
            });
        }
    }

    impl RowWriter for Rows {
        fn row(&mut self, row: &OutRow<'_>, into: &mut Vec<u8>) -> Result<(), DataError> {
            match self.batches.add(row)? {
                Some(batch) => self.write(&batch, into),
                None => Ok(()),
            }
        }

        fn end(&mut self, into: &mut Vec<u8>) -> Result<(), DataError> {
            if let Some(batch) = self.batches.rest()? {
                self.write(&batch, into)?;
            }
            match &mut self.messages {
                Messages::File(file) => file.finish(),
                Messages::Stream(stream) => stream.finish(),
            }
            .map_err(failed)?;
            self.drain(into);
            Ok(())
        }
    }
}
