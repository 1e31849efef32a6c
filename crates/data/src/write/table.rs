//! A table of named columns as Parquet, row by row: what predictions are written as.
//!
//! Rows are gathered and handed to the encoder a batch at a time; finished row groups are given out as
//! bytes, so that memory stays that of one group. Without the cargo feature `parquet` the error says what
//! to do.

#[cfg(not(feature = "parquet"))]
use crate::error::DataError;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellKind {
    /// Text.
    Text,
    /// Real numbers.
    Number,
    /// Whole numbers from zero.
    Count,
}

/// One value.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Text.
    Text(String),
    /// A real number.
    Number(f64),
    /// A whole number from zero.
    Count(u64),
    /// Nothing, in a column of any kind.
    Empty,
}

#[cfg(feature = "parquet")]
pub use writing::ParquetTable;

/// Stands in for the writer in builds without Parquet.
#[cfg(not(feature = "parquet"))]
#[derive(Debug)]
pub enum ParquetTable {}

#[cfg(not(feature = "parquet"))]
impl ParquetTable {
    /// Refuses.
    pub fn new(_: &[(String, CellKind)]) -> Result<Self, DataError> {
        Err(DataError::not_built("Parquet", "parquet", "write CSV"))
    }

    /// Cannot be called.
    pub fn row(&mut self, _: &[Cell]) -> Result<(), DataError> {
        match *self {}
    }

    /// Cannot be called.
    pub fn take(&mut self) -> Vec<u8> {
        match *self {}
    }

    /// Cannot be called.
    pub fn finish(self) -> Result<Vec<u8>, DataError> {
        match self {}
    }
}

#[cfg(feature = "parquet")]
mod writing {
    use super::{Cell, CellKind};
    use crate::error::{DataError, ErrorKind};
    use arrow_array::builder::{Float64Builder, StringBuilder, UInt64Builder};
    use arrow_array::{ArrayRef, RecordBatch};
    use arrow_schema::{DataType, Field, Schema};
    use parquet::arrow::ArrowWriter;
    use std::io::{self, Write};
    use std::sync::{Arc, Mutex, PoisonError};

    /// Rows handed to the encoder at once.
    const BATCH_ROWS: usize = 1 << 13;
    /// Rows of a group, after which its bytes are given out.
    const GROUP_ROWS: usize = 1 << 17;

    /// A table being written.
    pub struct ParquetTable {
        schema: Arc<Schema>,
        columns: Vec<Column>,
        n_waiting: usize,
        writer: ArrowWriter<Pipe>,
        pipe: Pipe,
    }

    enum Column {
        Text(StringBuilder),
        Number(Float64Builder),
        Count(UInt64Builder),
    }

    /// Where the encoder writes to, and we take from.
    #[derive(Clone, Default)]
    struct Pipe(Arc<Mutex<Vec<u8>>>);

    impl Write for Pipe {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn failed(error: impl std::fmt::Display) -> DataError {
        DataError::new(ErrorKind::Format, format!("writing Parquet: {error}"))
    }

    impl ParquetTable {
        /// A table of these columns.
        pub fn new(columns: &[(String, CellKind)]) -> Result<Self, DataError> {
            let fields: Vec<Field> = columns
                .iter()
                .map(|(name, kind)| {
                    let kind = match kind {
                        CellKind::Text => DataType::Utf8,
                        CellKind::Number => DataType::Float64,
                        CellKind::Count => DataType::UInt64,
                    };
                    Field::new(name, kind, true)
                })
                .collect();
            let schema = Arc::new(Schema::new(fields));
            let pipe = Pipe::default();
            let writer = ArrowWriter::try_new(pipe.clone(), Arc::clone(&schema), None).map_err(failed)?;
            let columns = columns.iter().map(|(_, kind)| match kind {
                CellKind::Text => Column::Text(StringBuilder::new()),
                CellKind::Number => Column::Number(Float64Builder::new()),
                CellKind::Count => Column::Count(UInt64Builder::new()),
            });
            Ok(Self { schema, columns: columns.collect(), n_waiting: 0, writer, pipe })
        }

        /// Adds a row: a cell per column, each of its column's kind.
        pub fn row(&mut self, cells: &[Cell]) -> Result<(), DataError> {
            if cells.len() != self.columns.len() {
                return Err(failed(format!(
                    "a row of {} cells, expected {}",
                    cells.len(),
                    self.columns.len()
                )));
            }
            for (column, cell) in self.columns.iter_mut().zip(cells) {
                match (column, cell) {
                    (Column::Text(column), Cell::Text(text)) => column.append_value(text),
                    (Column::Number(column), Cell::Number(number)) => column.append_value(*number),
                    (Column::Count(column), Cell::Count(count)) => column.append_value(*count),
                    (Column::Text(column), Cell::Empty) => column.append_null(),
                    (Column::Number(column), Cell::Empty) => column.append_null(),
                    (Column::Count(column), Cell::Empty) => column.append_null(),
                    _ => return Err(failed("a cell is not of its column's kind")),
                }
            }
            self.n_waiting += 1;
            if self.n_waiting == BATCH_ROWS {
                self.write()?;
                if self.writer.in_progress_rows() >= GROUP_ROWS {
                    self.writer.flush().map_err(failed)?;
                }
            }
            Ok(())
        }

        fn write(&mut self) -> Result<(), DataError> {
            let arrays: Vec<ArrayRef> = self
                .columns
                .iter_mut()
                .map(|column| -> ArrayRef {
                    match column {
                        Column::Text(column) => Arc::new(column.finish()),
                        Column::Number(column) => Arc::new(column.finish()),
                        Column::Count(column) => Arc::new(column.finish()),
                    }
                })
                .collect();
            self.n_waiting = 0;
            let batch = RecordBatch::try_new(Arc::clone(&self.schema), arrays).map_err(failed)?;
            self.writer.write(&batch).map_err(failed)
        }

        /// The bytes that are ready.
        pub fn take(&mut self) -> Vec<u8> {
            std::mem::take(&mut *self.pipe.0.lock().unwrap_or_else(PoisonError::into_inner))
        }

        /// The rest of the bytes.
        pub fn finish(mut self) -> Result<Vec<u8>, DataError> {
            if self.n_waiting > 0 {
                self.write()?;
            }
            self.writer.finish().map_err(failed)?;
            Ok(self.take())
        }
    }

    impl std::fmt::Debug for ParquetTable {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.debug_struct("ParquetTable").field("schema", &self.schema).finish_non_exhaustive()
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::{LabelColumn, ReadOptions, Source, load_source};

        #[test]
        fn what_is_written_reads_back() {
            let columns = [
                ("class".to_owned(), CellKind::Text),
                ("score".to_owned(), CellKind::Number),
                ("votes".to_owned(), CellKind::Count),
            ];
            let mut table = ParquetTable::new(&columns).unwrap();
            let mut bytes = Vec::new();
            for row in 0..20_000_u64 {
                let class = if row % 3 == 0 { "spam, or so" } else { "ham" };
                let cells = [Cell::Text(class.to_owned()), Cell::Number(row as f64 / 8.0), Cell::Count(row)];
                table.row(&cells).unwrap();
                bytes.extend(table.take());
            }
            assert!(table.row(&[Cell::Count(1)]).is_err());
            bytes.extend(table.finish().unwrap());
            let how = ReadOptions {
                label: LabelColumn::Named("class".to_owned()),
                precision: crate::Precision::Double,
                ..ReadOptions::as_stored()
            };
            let data = load_source(&Source::bytes("t.parquet", bytes), &how).unwrap();
            assert_eq!((data.len(), data.width()), (20_000, 2));
            assert_eq!(data.labels().names(), ["ham", "spam, or so"]);
            assert_eq!(data.feature_names().unwrap(), ["score", "votes"]);
        }
    }
}
