//! Parquet: the columns of `arrow_batches`, packed with Snappy, in row groups of some megabytes.

use super::{RowWriter, Shape, WriteFormat};
use crate::error::DataError;
use crate::formats::FormatInfo;

/// Parquet files.
pub(super) struct Parquet;

impl WriteFormat for Parquet {
    fn info(&self) -> FormatInfo {
        FormatInfo { extensions: &["parquet", "pq"], ..FormatInfo::new("parquet", "an Apache Parquet file") }
    }

    fn start(&self, shape: &Shape) -> Result<Box<dyn RowWriter>, DataError> {
        start(shape)
    }
}

#[cfg(not(feature = "parquet"))]
fn start(_: &Shape) -> Result<Box<dyn RowWriter>, DataError> {
    Err(DataError::not_built("Parquet", "parquet", "write CSV"))
}

#[cfg(feature = "parquet")]
use writing::start;

#[cfg(feature = "parquet")]
mod writing {
    use super::super::arrow_batches::Batches;
    use super::super::{OutRow, RowWriter, Shape};
    use crate::error::{DataError, ErrorKind};
    use arrow_array::RecordBatch;
    use parquet::arrow::ArrowWriter;
    use parquet::basic::Compression;
    use parquet::errors::ParquetError;
    use parquet::file::properties::WriterProperties;

    /// A row group is closed when it holds about this many bytes: it waits in memory until then.
    const GROUP_BYTES: usize = 8 << 20;

    struct Rows {
        batches: Batches,
        pages: ArrowWriter<Vec<u8>>,
    }

    #[expect(clippy::needless_pass_by_value, reason = "handed to `map_err` as it is")]
    fn failed(error: ParquetError) -> DataError {
        DataError::new(ErrorKind::Internal, format!("writing Parquet failed: {error}"))
    }

    pub(super) fn start(shape: &Shape) -> Result<Box<dyn RowWriter>, DataError> {
        let batches = Batches::new(shape)?;
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let schema = batches.schema().clone();
        let pages = ArrowWriter::try_new(Vec::new(), schema, Some(properties)).map_err(failed)?;
        Ok(Box::new(Rows { batches, pages }))
    }

    impl Rows {
        fn write(&mut self, batch: &RecordBatch, into: &mut Vec<u8>) -> Result<(), DataError> {
            self.pages.write(batch).map_err(failed)?;
            if self.pages.in_progress_size() >= GROUP_BYTES {
                self.pages.flush().map_err(failed)?;
            }
            // The writer counts for itself where it is.
            into.append(self.pages.inner_mut());
            Ok(())
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
            self.pages.finish().map_err(failed)?;
            into.append(self.pages.inner_mut());
            Ok(())
        }
    }
}
