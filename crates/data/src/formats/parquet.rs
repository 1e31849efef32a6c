//! Parquet: columns in row groups, read batch by batch, only those that matter.
//!
//! `arrow_table` decides which columns become features, and how. A file is read where it is; what
//! comes compressed or through a pipe is held in memory, as the format begins at its end. The decoder is
//! foreign code: it runs contained, on metadata that was checked first, and the rows that come out are
//! counted against the number that the file promises. Encrypted files are refused. Without the cargo
//! feature `parquet` such files are still recognised, and the error says what to do.

use super::{Format, FormatInfo, Head, Reader, Sniff};
use crate::bytes::source::Input;
use crate::error::{DataError, ErrorKind};
use crate::options::ReadOptions;

/// Parquet files.
#[derive(Debug)]
pub(crate) struct Parquet;

impl Format for Parquet {
    fn info(&self) -> FormatInfo {
        FormatInfo {
            aliases: &["pq"],
            extensions: &["parquet", "pq"],
            ..FormatInfo::new("parquet", "a table in columns, as data frames and warehouses write it")
        }
    }

    fn heeds(&self) -> &'static [&'static str] {
        super::OF_TABLES
    }

    fn sniff(&self, head: &Head<'_>) -> Sniff {
        let is_parquet = head.bytes.starts_with(b"PAR1") || head.bytes.starts_with(b"PARE");
        if is_parquet { Sniff::Certain } else { Sniff::No }
    }

    fn open(&self, input: Input, how: &ReadOptions) -> Result<Box<dyn Reader>, DataError> {
        let name = input.name().clone();
        if input.head().starts_with(b"PARE") {
            return Err(DataError::new(ErrorKind::Format, "encrypted Parquet is not supported")
                .in_source(&name)
                .with_help("write the file without encryption"));
        }
        if !input.head().starts_with(b"PAR1") {
            let message = "this is no Parquet file: it does not begin with `PAR1`";
            return Err(DataError::new(ErrorKind::Format, message).in_source(&name));
        }
        open(input, how).map_err(|error| error.in_source(&name))
    }
}

#[cfg(not(feature = "parquet"))]
fn open(_: Input, _: &ReadOptions) -> Result<Box<dyn Reader>, DataError> {
    Err(DataError::not_built("Parquet", "parquet", "convert the file to CSV"))
}

#[cfg(feature = "parquet")]
use reading::open;

#[cfg(feature = "parquet")]
mod reading {
    use super::super::Reader;
    use super::super::arrow_table::{ArrowPlan, ArrowTable, batch_rows, contained};
    use super::super::sense::SAMPLE_ROWS;
    use crate::bytes::compression::Compression;
    use crate::bytes::source::{Input, Part};
    use crate::error::{DataError, ErrorKind};
    use crate::options::ReadOptions;
    use crate::rows::block::{Block, Stored};
    use crate::rows::schema::{Precision, Schema};
    use arrow_array::RecordBatch;
    use parquet::arrow::ProjectionMask;
    use parquet::arrow::arrow_reader::{
        ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
    };
    use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData};
    use parquet::file::reader::ChunkReader;
    use std::fs::File;
    use std::sync::Arc;

    /// How deep columns may be nested.
    const MAX_DEPTH: usize = 32;

    pub(super) fn open(input: Input, how: &ReadOptions) -> Result<Box<dyn Reader>, DataError> {
        match (input.part(), input.compression()) {
            (Part::File(path), Compression::None) if path.is_file() => {
                let file = File::open(path).map_err(|error| DataError::io("opening", error))?;
                open_chunks(file, Arc::clone(input.name()), how)
            }
            _ => {
                let name = input.name().clone();
                let bytes = input.into_bytes(how.limits.held_bytes)?;
                open_chunks(bytes::Bytes::from(bytes), name, how)
            }
        }
    }

    fn open_chunks<R: ChunkReader + Handle + 'static>(
        chunks: R,
        name: Arc<str>,
        how: &ReadOptions,
    ) -> Result<Box<dyn Reader>, DataError> {
        let handle = |error| DataError::io("opening", error);
        let n_bytes = chunks.len();
        let metadata = parse_metadata(&chunks)?;
        let n_promised = check_metadata(&metadata, n_bytes)?;
        check_pages(&chunks, &metadata)?;
        let metadata = contained("Parquet", || {
            let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
            ArrowReaderMetadata::try_new(Arc::new(metadata), options)
        })?;
        // The first rows tell what columns are like.
        let first = {
            let chunks = chunks.again().map_err(handle)?;
            let mut reader = contained("Parquet", || {
                ParquetRecordBatchReaderBuilder::new_with_metadata(chunks, metadata.clone())
                    .with_batch_size(SAMPLE_ROWS)
                    .with_limit(SAMPLE_ROWS)
                    .build()
            })?;
            next(&mut reader)?
        };
        let plan = ArrowPlan::new(metadata.schema(), first.as_ref(), how)?;
        let opened = Opened { chunks, name, metadata, n_promised };
        Ok(match plan.precision {
            Precision::Single => Box::new(ParquetReader::<f32>::new(opened, plan)?),
            Precision::Double => Box::new(ParquetReader::<f64>::new(opened, plan)?),
        })
    }

    /// A second handle on the same bytes.
    pub(super) trait Handle: Sized {
        fn again(&self) -> std::io::Result<Self>;
    }

    impl Handle for File {
        fn again(&self) -> std::io::Result<Self> {
            self.try_clone()
        }
    }

    impl Handle for bytes::Bytes {
        fn again(&self) -> std::io::Result<Self> {
            Ok(self.clone())
        }
    }

    /// A file whose metadata is sound.
    struct Opened<R> {
        chunks: R,
        name: Arc<str>,
        metadata: ArrowReaderMetadata,
        n_promised: u64,
    }

    struct ParquetReader<T> {
        name: Arc<str>,
        rows: ArrowTable<T>,
        batches: ParquetRecordBatchReader,
        /// Rows that the file promises, and that came.
        n_promised: u64,
        n_read: u64,
    }

    impl<T: Stored> ParquetReader<T> {
        fn new<R: ChunkReader + 'static>(opened: Opened<R>, plan: ArrowPlan) -> Result<Self, DataError> {
            let Opened { chunks, name, metadata, n_promised } = opened;
            let rows = ArrowTable::new(plan);
            let n_fields = metadata.schema().fields().len();
            let width: usize = rows.table.plan.schema.width().unwrap_or(0).max(n_fields);
            let batches = contained("Parquet", || {
                let mask = ProjectionMask::roots(metadata.parquet_schema(), rows.projection());
                ParquetRecordBatchReaderBuilder::new_with_metadata(chunks, metadata)
                    .with_projection(mask)
                    .with_batch_size(batch_rows(width))
                    .build()
            })?;
            Ok(Self { name, rows, batches, n_promised, n_read: 0 })
        }

        fn fill(&mut self, into: &mut Block) -> Result<bool, DataError> {
            self.rows.table.clear(into);
            while into.is_empty() {
                let Some(batch) = next(&mut self.batches)? else {
                    if self.n_read != self.n_promised {
                        let message = format!(
                            "the file holds {} rows, expected {} as it says itself",
                            self.n_read, self.n_promised
                        );
                        return Err(DataError::new(ErrorKind::Shape, message));
                    }
                    self.rows.table.finish(into);
                    return Ok(false);
                };
                self.n_read += batch.num_rows() as u64;
                if self.n_read > self.n_promised {
                    let message =
                        format!("the file holds more than the {} rows it promises", self.n_promised);
                    return Err(DataError::new(ErrorKind::Shape, message));
                }
                self.rows.add(&batch, into)?;
            }
            self.rows.table.finish(into);
            Ok(true)
        }
    }

    impl<T: Stored> Reader for ParquetReader<T> {
        fn schema(&self) -> &Schema {
            &self.rows.table.plan.schema
        }

        fn read(&mut self, into: &mut Block) -> Result<bool, DataError> {
            self.fill(into).map_err(|error| error.in_source(&self.name))
        }
    }

    fn next(batches: &mut ParquetRecordBatchReader) -> Result<Option<RecordBatch>, DataError> {
        contained("Parquet", || batches.next().transpose())
    }

    /// Parses the metadata, once it is known not to nest: the parser recurses as deep as a file says.
    fn parse_metadata<R: ChunkReader>(chunks: &R) -> Result<ParquetMetaData, DataError> {
        let footer = contained("Parquet", || {
            let n_bytes = chunks.len();
            let tail = chunks.get_bytes(n_bytes.saturating_sub(8), 8)?;
            let length = u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]);
            // A length that is not there is for the parser to complain about.
            let length = u64::from(length).min(n_bytes.saturating_sub(8));
            chunks.get_bytes(n_bytes.saturating_sub(8) - length, length as usize)
        })?;
        let depth = Thrift { bytes: &footer, at: 0 }.schema_depth();
        if depth.ok_or_else(|| damaged("its columns cannot be listed"))? > MAX_DEPTH {
            let message = format!("columns are nested deeper than {MAX_DEPTH}, the limit");
            return Err(DataError::new(ErrorKind::Limit, message));
        }
        contained("Parquet", || ParquetMetaDataReader::new().parse_and_finish(chunks))
    }

    /// Holds the metadata against the file. Returns how many rows it promises.
    fn check_metadata(metadata: &ParquetMetaData, n_bytes: u64) -> Result<u64, DataError> {
        let promised = u64::try_from(metadata.file_metadata().num_rows());
        let promised = promised.map_err(|_| damaged("its number of rows is negative"))?;
        let mut n_rows = 0_u64;
        for group in metadata.row_groups() {
            let in_group = u64::try_from(group.num_rows());
            let in_group = in_group.map_err(|_| damaged("the number of rows of a group is negative"))?;
            n_rows = n_rows.saturating_add(in_group);
            for column in group.columns() {
                let start = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
                let (start, length) = (u64::try_from(start), u64::try_from(column.compressed_size()));
                let (Ok(start), Ok(length)) = (start, length) else {
                    return Err(damaged("a column has a negative place or length"));
                };
                if start.checked_add(length).is_none_or(|end| end > n_bytes) {
                    return Err(damaged("a column lies beyond the end of the file"));
                }
                if column.uncompressed_size() < 0 || column.num_values() < 0 {
                    return Err(damaged("a column has a negative size"));
                }
            }
        }
        if n_rows != promised {
            return Err(damaged("its row groups do not add up to its number of rows"));
        }
        Ok(promised)
    }

    fn damaged(why: &str) -> DataError {
        DataError::new(ErrorKind::Format, format!("the Parquet data is damaged: {why}"))
            .with_help("check the file with the tool that wrote it, or get it again")
    }

    /// An inflated page may have this many bytes, and more if its packed bytes justify it.
    const PAGE_AT_LEAST: i64 = 64 << 20;
    const PAGE_RATIO: i64 = 64;

    /// How many bytes are read to see the header of a page; statistics may make it longer.
    const HEADER_BYTES: u64 = 256;
    const MAX_HEADER_BYTES: u64 = 1 << 20;

    /// Looks at the header of every page: the decoder makes room for a page on its header's word.
    fn check_pages<R: ChunkReader>(chunks: &R, metadata: &ParquetMetaData) -> Result<(), DataError> {
        for column in metadata.row_groups().iter().flat_map(RowGroupMetaData::columns) {
            let offsets = [Some(column.data_page_offset()), column.dictionary_page_offset()];
            let start = offsets.into_iter().flatten().filter(|&at| at > 0).min().unwrap_or(0);
            // Both were found to lie within the file.
            let (mut at, length) = (start.cast_unsigned(), column.compressed_size().cast_unsigned());
            let end = at.saturating_add(length).min(chunks.len());
            while at < end {
                let mut n_look = HEADER_BYTES;
                let header = loop {
                    let n_bytes = n_look.min(end - at);
                    let bytes = contained("Parquet", || chunks.get_bytes(at, n_bytes as usize))?;
                    match PageHeader::parse(&bytes) {
                        Some(header) => break header,
                        None if n_bytes < end - at && n_look < MAX_HEADER_BYTES => n_look *= 8,
                        None => return Err(damaged(&format!("the page at byte {at} has no sound header"))),
                    }
                };
                let PageHeader { inflated, packed, header_len } = header;
                let fits = packed >= 0 && at + header_len + packed.cast_unsigned() <= end;
                if !fits || inflated < 0 || inflated > PAGE_AT_LEAST.max(packed * PAGE_RATIO) {
                    let sizes = format!("{packed} bytes, {inflated} inflated");
                    return Err(damaged(&format!("the page at byte {at} claims {sizes}")));
                }
                at += header_len + packed.cast_unsigned();
            }
        }
        Ok(())
    }

    /// The sizes in the header of a page.
    struct PageHeader {
        inflated: i64,
        packed: i64,
        /// Bytes of the header itself.
        header_len: u64,
    }

    impl PageHeader {
        /// Reads a header in Thrift's compact protocol; `None` if it is not sound or not whole.
        fn parse(bytes: &[u8]) -> Option<Self> {
            let mut thrift = Thrift { bytes, at: 0 };
            let mut sizes = [None; 4];
            thrift.fields(0, &mut |field, number| {
                if let Some(size) = sizes.get_mut(usize::from(field)) {
                    *size = number;
                }
            })?;
            Some(Self { inflated: sizes[2]?, packed: sizes[3]?, header_len: thrift.at as u64 })
        }
    }

    /// A place in a struct of Thrift's compact protocol.
    struct Thrift<'a> {
        bytes: &'a [u8],
        at: usize,
    }

    impl Thrift<'_> {
        fn byte(&mut self) -> Option<u8> {
            let byte = self.bytes.get(self.at).copied();
            self.at += 1;
            byte
        }

        fn varint(&mut self) -> Option<u64> {
            let mut number = 0;
            for shift in (0..64).step_by(7) {
                let byte = self.byte()?;
                number |= u64::from(byte & 0x7F) << shift;
                if byte < 0x80 {
                    return Some(number);
                }
            }
            None
        }

        fn zigzag(&mut self) -> Option<i64> {
            let number = self.varint()?;
            Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
        }

        fn skip(&mut self, n_bytes: u64) -> Option<()> {
            self.at = self.at.checked_add(usize::try_from(n_bytes).ok()?)?;
            (self.at <= self.bytes.len()).then_some(())
        }

        /// Passes over the fields of a struct; `each` gets those that are whole numbers.
        fn fields(&mut self, depth: usize, each: &mut dyn FnMut(u8, Option<i64>)) -> Option<()> {
            let mut field = 0_u8;
            loop {
                let head = self.byte()?;
                if head == 0 {
                    return Some(());
                }
                field = match head >> 4 {
                    0 => u8::try_from(self.zigzag()?).ok()?,
                    more => field.checked_add(more)?,
                };
                let number = self.value(head & 0x0F, depth)?;
                each(field, number);
            }
        }

        /// How deep the columns of a file's metadata are nested; `None` if they cannot be read. Columns are
        /// listed one after the other, each with the number of those that follow as its parts.
        fn schema_depth(&mut self) -> Option<usize> {
            let mut field = 0_u8;
            loop {
                let head = self.byte()?;
                field = match (head, head >> 4) {
                    (0, _) => return None,
                    (_, 0) => u8::try_from(self.zigzag()?).ok()?,
                    (_, more) => field.checked_add(more)?,
                };
                if field == 2 && head & 0x0F == 9 {
                    break;
                }
                self.value(head & 0x0F, 0)?;
            }
            let head = self.byte()?;
            let n_columns = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
            if head & 0x0F != 12 {
                return None;
            }
            let mut deepest = 0;
            // Per open column, how many of its parts are still to come.
            let mut open: Vec<i64> = Vec::new();
            for _ in 0..n_columns {
                let mut n_parts = 0;
                self.fields(0, &mut |field, number| {
                    if field == 5 {
                        n_parts = number.unwrap_or(0);
                    }
                })?;
                while open.last() == Some(&0) {
                    open.pop();
                }
                if let Some(left) = open.last_mut() {
                    *left -= 1;
                }
                if n_parts > 0 {
                    open.push(n_parts);
                }
                deepest = deepest.max(open.len());
                if deepest > MAX_DEPTH {
                    break;
                }
            }
            Some(deepest)
        }

        /// Passes over a value; says which whole number it is, if it is one.
        #[expect(clippy::option_option, reason = "not sound, or sound and no whole number")]
        fn value(&mut self, kind: u8, depth: usize) -> Option<Option<i64>> {
            match kind {
                // Booleans stand in the field's head.
                1 | 2 => {}
                3 => self.skip(1)?,
                4..=6 => return self.zigzag().map(Some),
                7 => self.skip(8)?,
                8 => {
                    let length = self.varint()?;
                    self.skip(length)?;
                }
                9 | 10 if depth < 8 => {
                    let head = self.byte()?;
                    let n_items = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
                    for _ in 0..n_items {
                        // A boolean in a list is a byte.
                        if matches!(head & 0x0F, 1 | 2) {
                            self.skip(1)?;
                        } else {
                            self.value(head & 0x0F, depth + 1)?;
                        }
                    }
                }
                12 if depth < 8 => self.fields(depth + 1, &mut |_, _| {})?,
                _ => return None,
            }
            Some(None)
        }
    }

    #[cfg(test)]
    mod tests {
        use super::PageHeader;

        #[test]
        fn sizes_of_pages_are_seen_before_room_is_made_for_them() {
            // Type 0; 2^31 - 1 bytes inflated; 9 packed; a struct with a string and a list; the end.
            let mut header = vec![0x15, 0, 0x15, 0xFE, 0xFF, 0xFF, 0xFF, 0x0F, 0x15, 18];
            header.extend([0x2C, 0x18, 2, b'a', b'b', 0x19, 0x25, 2, 4, 0, 0]);
            let parsed = PageHeader::parse(&header).unwrap();
            assert_eq!((parsed.inflated, parsed.packed), (0x7FFF_FFFF, 9));
            assert_eq!(parsed.header_len, header.len() as u64);
            for length in 0..header.len() {
                assert!(PageHeader::parse(&header[..length]).is_none(), "cut at {length}");
            }
            assert!(PageHeader::parse(&[0x1C; 1000]).is_none(), "nested without end");
            assert!(
                PageHeader::parse(&[0x18, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]).is_none(),
                "a string of 2^35 bytes"
            );
        }
    }
}
