//! IDX, the format of MNIST: big-endian arrays, pictures in one file and labels in another.
//!
//! The labels of `train-images-idx3-ubyte` are in `train-labels-idx1-ubyte` beside it, unless another
//! file is named; either may be compressed. Bytes are pixels and become 0 to 1 (divided by 255) unless
//! they are asked for as they are; other types of numbers are never scaled. Where most of the first
//! pixels are zero, rows are stored sparse. Every count in a header is held against what the file
//! really has, and nothing is allocated on a header's word. Rows are streamed.

use super::matrix::{self, LabelsAt};
use super::{Format, FormatInfo, Head, Reader, Sniff};
use crate::bytes::source::{Input, Part};
use crate::error::{DataError, ErrorKind, Position};
use crate::options::{OnBadRow, ReadOptions};
use crate::rows::block::{Block, Stored};
use crate::rows::schema::{Layout, Missing, Picture, Precision, Schema};

/// Rows are stored sparse if more than this share of the first values is zero.
const SPARSE_SHARE: f64 = 0.6;

/// More dimensions than this are not read.
const MAX_DIMENSIONS: usize = 8;

/// IDX files.
#[derive(Debug)]
pub(crate) struct Idx;

impl Format for Idx {
    fn info(&self) -> FormatInfo {
        FormatInfo {
            aliases: &["mnist"],
            extensions: &["idx", "idx3-ubyte", "idx3"],
            ..FormatInfo::new("idx", "pictures as MNIST has them, labels in a second file")
        }
    }

    fn heeds(&self) -> &'static [&'static str] {
        &["ignore", "labels", "missing"]
    }

    fn numbers_features(&self) -> bool {
        true
    }

    fn sniff(&self, head: &Head<'_>) -> Sniff {
        if Header::parse(head.bytes).is_ok() {
            return Sniff::Certain;
        }
        let named = matches!(head.part, Part::File(path)
            if path.file_name().is_some_and(|name| name.to_string_lossy().contains("-idx3-")));
        if named { Sniff::Maybe } else { Sniff::No }
    }

    fn open(&self, input: Input, how: &ReadOptions) -> Result<Box<dyn Reader>, DataError> {
        Ok(match how.precision {
            Precision::Single => Box::new(IdxReader::<f32>::open(input, how)?),
            Precision::Double => Box::new(IdxReader::<f64>::open(input, how)?),
        })
    }
}

/// The type of the numbers in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Element {
    U8,
    I8,
    I16,
    I32,
    F32,
    F64,
}

impl Element {
    fn n_bytes(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::I16 => 2,
            Self::I32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    /// The number in `bytes`, which are as many as the type has.
    fn number(self, bytes: &[u8]) -> f64 {
        let mut wide = [0; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        let [a, b, c, d, ..] = wide;
        match self {
            Self::U8 => f64::from(a),
            Self::I8 => f64::from(a.cast_signed()),
            Self::I16 => f64::from(i16::from_be_bytes([a, b])),
            Self::I32 => f64::from(i32::from_be_bytes([a, b, c, d])),
            Self::F32 => f64::from(f32::from_be_bytes([a, b, c, d])),
            Self::F64 => f64::from_be_bytes(wide),
        }
    }
}

/// What the first bytes of a file say.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Header {
    element: Element,
    dimensions: Vec<u32>,
}

impl Header {
    fn parse(head: &[u8]) -> Result<Self, String> {
        let [0, 0, element, n_dimensions, rest @ ..] = head else {
            return Err(
                "the file should begin with two zero bytes, a type and a rank, but does not".to_owned()
            );
        };
        let element = match element {
            0x08 => Element::U8,
            0x09 => Element::I8,
            0x0B => Element::I16,
            0x0C => Element::I32,
            0x0D => Element::F32,
            0x0E => Element::F64,
            other => {
                return Err(format!(
                    "the type in byte 3 should be 0x08, 9, B, C, D or E, but is 0x{other:02X}"
                ));
            }
        };
        let n_dimensions = usize::from(*n_dimensions);
        if !(1..=MAX_DIMENSIONS).contains(&n_dimensions) {
            let message = "the rank in byte 4 should be";
            return Err(format!("{message} 1 to {MAX_DIMENSIONS}, but is {n_dimensions}"));
        }
        let (sizes, _) = rest.as_chunks::<4>();
        let Some(sizes) = sizes.get(..n_dimensions) else {
            return Err(format!("the header ends too early, expected {n_dimensions} sizes of 4 bytes"));
        };
        Ok(Self { element, dimensions: sizes.iter().map(|&size| u32::from_be_bytes(size)).collect() })
    }

    fn n_bytes(&self) -> usize {
        4 + 4 * self.dimensions.len()
    }

    fn n_items(&self) -> u64 {
        self.dimensions.first().map_or(0, |&n_items| u64::from(n_items))
    }

    /// How many numbers an item has; `None` if that is beyond all reason.
    fn width(&self) -> Option<usize> {
        self.dimensions.iter().skip(1).try_fold(1_usize, |width, &size| width.checked_mul(size as usize))
    }

    fn picture(&self) -> Option<Picture> {
        match self.dimensions[..] {
            [_, height, width] => {
                Some(Picture { width: width as usize, height: height as usize, channels: 1, resized: false })
            }
            [_, height, width, channels @ (1 | 3)] => Some(Picture {
                width: width as usize,
                height: height as usize,
                channels: channels as usize,
                resized: false,
            }),
            _ => None,
        }
    }
}

/// The file of labels, item by item.
struct LabelItems {
    input: Input,
    element: Element,
    buffer: Vec<u8>,
}

impl LabelItems {
    fn open(path: std::path::PathBuf, n_images: u64) -> Result<Self, DataError> {
        let mut input = Part::File(path).open()?;
        let name = input.name().clone();
        let fail = |kind, message: String| DataError::new(kind, message).in_source(&name);
        let header = Header::parse(input.head())
            .map_err(|why| fail(ErrorKind::Format, format!("this is no IDX file of labels: {why}")))?;
        if header.dimensions.len() != 1 || matches!(header.element, Element::F32 | Element::F64) {
            let message = format!(
                "the labels should be one list of whole numbers, but have the sizes {:?}",
                header.dimensions
            );
            return Err(fail(ErrorKind::Shape, message));
        }
        if header.n_items() != n_images {
            let message =
                format!("there are {} labels, expected {n_images}, one for each image", header.n_items());
            return Err(
                fail(ErrorKind::Shape, message).with_help("images and labels are of two different sets")
            );
        }
        skip(&mut input, header.n_bytes())?;
        Ok(Self { input, element: header.element, buffer: Vec::new() })
    }

    /// The next `n_items` labels, after `n_before` others.
    fn next(&mut self, n_items: usize, n_before: u64) -> Result<impl Iterator<Item = f64>, DataError> {
        let size = self.element.n_bytes();
        self.buffer.clear();
        let n_read = matrix::read_up_to(&mut self.input, &mut self.buffer, n_items * size)?;
        if n_read < n_items * size {
            let n_there = n_before + (n_read / size) as u64;
            let message = format!("the file ends after {n_there} labels, fewer than its header promises");
            return Err(DataError::new(ErrorKind::Shape, message)
                .in_source(self.input.name())
                .with_help("the file is cut; get it again"));
        }
        Ok(self.buffer.chunks_exact(size).map(|bytes| self.element.number(bytes)))
    }
}

struct IdxReader<T> {
    input: Input,
    labels: Option<LabelItems>,
    header: Header,
    schema: Schema,
    width: usize,
    n_rows: u64,
    /// What each byte becomes, for files of bytes.
    table: Vec<T>,
    on_bad_row: OnBadRow,
    buffer: Vec<u8>,
    row: Vec<T>,
}

impl<T: Stored> IdxReader<T> {
    fn open(mut input: Input, how: &ReadOptions) -> Result<Self, DataError> {
        let name = input.name().clone();
        let fail = |kind, message: String| DataError::new(kind, message).in_source(&name);
        let header = Header::parse(input.head())
            .map_err(|why| fail(ErrorKind::Format, format!("this is no IDX file: {why}")))?;
        if header.dimensions.len() < 2 {
            let message =
                "the file holds one list, expected pictures or rows; it looks like a file of labels";
            return Err(fail(ErrorKind::Shape, message.to_owned())
                .with_help("name the file of images; its labels are found beside it"));
        }
        let Some(width) = header.width() else {
            return Err(fail(ErrorKind::Limit, format!("the sizes {:?} are too large", header.dimensions)));
        };
        let values = &input.head()[header.n_bytes().min(input.head().len())..];
        let n_zeros = memchr::memchr_iter(0, values).count();
        let mostly_zero =
            header.element == Element::U8 && n_zeros as f64 > SPARSE_SHARE * values.len() as f64;
        let layout = if mostly_zero { Layout::Sparse } else { Layout::Dense };
        let schema = matrix::schema_of(width, layout, header.picture(), how)
            .map_err(|error| error.in_source(&name))?;
        let labels = match matrix::find_labels(&input, how, label_names) {
            LabelsAt::File(path) => Some(LabelItems::open(path, header.n_items())?),
            LabelsAt::Nowhere => None,
            LabelsAt::Lost(tried) => {
                let help = "put it there, or say where it is with {labels}";
                return Err(matrix::labels_lost(&tried, help).in_source(&name));
            }
        };
        skip(&mut input, header.n_bytes())?;
        let scale = if how.pictures.unscaled { 1.0 } else { 255.0 };
        let table = (0..=255).filter_map(|byte: u8| T::narrow(f64::from(byte) / scale)).collect();
        Ok(Self {
            input,
            labels,
            header,
            schema,
            width,
            n_rows: 0,
            table,
            on_bad_row: how.on_bad_row,
            buffer: Vec::new(),
            row: Vec::new(),
        })
    }

    /// Nothing may follow the last image.
    fn check_end(&mut self) -> Result<(), DataError> {
        let mut files = vec![&mut self.input];
        files.extend(self.labels.as_mut().map(|labels| &mut labels.input));
        for input in files {
            if input.read_some(&mut [0])? > 0 {
                let message = format!(
                    "bytes follow the last of the {} items that the header promises",
                    self.header.n_items()
                );
                return Err(DataError::new(ErrorKind::Shape, message).in_source(input.name()));
            }
        }
        Ok(())
    }
}

impl<T: Stored> Reader for IdxReader<T> {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn read(&mut self, into: &mut Block) -> Result<bool, DataError> {
        into.clear(self.schema.layout, T::PRECISION, self.width);
        into.labelled = self.labels.is_some();
        into.first_row = self.n_rows;
        let size = self.header.element.n_bytes();
        while into.is_empty() {
            let n_left = self.header.n_items() - self.n_rows;
            let n_items = (matrix::rows_per_block(self.width) as u64).min(n_left) as usize;
            if n_items == 0 {
                self.check_end()?;
                return Ok(false);
            }
            // The limit on features keeps this far below overflow.
            let row_bytes = self.width * size;
            self.buffer.clear();
            let n_read = matrix::read_up_to(&mut self.input, &mut self.buffer, n_items * row_bytes)?;
            if n_read < n_items * row_bytes {
                let n_whole = self.n_rows + (n_read / row_bytes) as u64;
                let at = self.header.n_bytes() as u64 + self.n_rows * row_bytes as u64 + n_read as u64;
                let message = format!(
                    "the file ends at byte {at} after {n_whole} images, expected {} as its header says",
                    self.header.n_items()
                );
                return Err(DataError::new(ErrorKind::Shape, message)
                    .in_source(self.input.name())
                    .with_help("the file is cut, or its header lies; get it again"));
            }
            let mut labels = match &mut self.labels {
                Some(labels) => Some(labels.next(n_items, self.n_rows)?),
                None => None,
            };
            for bytes in self.buffer.chunks_exact(row_bytes) {
                self.n_rows += 1;
                let label = labels.as_mut().and_then(Iterator::next);
                self.row.clear();
                if self.header.element == Element::U8 {
                    self.row.extend(bytes.iter().filter_map(|&byte| self.table.get(usize::from(byte))));
                } else {
                    let numbers = bytes.chunks_exact(size).map(|bytes| self.header.element.number(bytes));
                    self.row.extend(numbers.map_while(T::narrow));
                }
                if self.row.len() < self.width {
                    let column = self.row.len();
                    let bad = self.header.element.number(&bytes[column * size..][..size]);
                    if self.schema.missing == Missing::Drop && bad.is_nan() {
                        into.drop_row();
                        continue;
                    }
                    let message = format!("the value should be a finite number, but is {bad}");
                    let position =
                        Position { row: Some(self.n_rows), line: None, column: Some(column as u64 + 1) };
                    let error =
                        DataError::new(ErrorKind::Number, message).in_source(self.input.name()).at(position);
                    if self.on_bad_row == OnBadRow::Error {
                        return Err(error);
                    }
                    into.skip_row(&error);
                    continue;
                }
                matrix::push_row(&mut into.matrix, &self.row);
                let class = label.map_or(0, |label| into.names.name_number(&label.to_string()));
                into.classes.push(class);
            }
        }
        Ok(true)
    }
}

fn skip(input: &mut Input, n_bytes: usize) -> Result<(), DataError> {
    matrix::read_up_to(input, &mut Vec::new(), n_bytes).map(|_| ())
}

/// Names of a file of labels beside one of images.
fn label_names(name: &str) -> Vec<String> {
    if !name.contains("images") {
        return Vec::new();
    }
    let labels = name.replace("images", "labels");
    let mut names: Vec<String> = (2..=4)
        .map(|rank| format!("idx{rank}"))
        .filter(|rank| labels.contains(rank.as_str()))
        .map(|rank| labels.replace(&rank, "idx1"))
        .collect();
    names.push(labels);
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::source::Source;
    use crate::load::{load, load_source, read_rows};
    use crate::options::{LabelColumn, Pictures};
    use std::fs;

    fn images() -> Vec<u8> {
        let mut file = vec![0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3];
        file.extend([0, 255, 51, 7, 0, 0]);
        file
    }

    const LABELS: [u8; 10] = [0, 0, 8, 1, 0, 0, 0, 2, 9, 4];

    fn pair(images: &[u8], labels: &[u8]) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t-images-idx3-ubyte");
        fs::write(&path, images).unwrap();
        fs::write(folder.path().join("t-labels-idx1-ubyte"), labels).unwrap();
        (folder, path)
    }

    #[test]
    fn images_find_their_labels_and_are_scaled() {
        let (_folder, path) = pair(&images(), &LABELS);
        let how = ReadOptions { precision: Precision::Double, ..ReadOptions::as_stored() };
        let rows = read_rows(&Source::file(&path), &how).unwrap();
        assert_eq!(rows[0], ("9".to_owned(), vec![(0, 0.0), (1, 1.0), (2, 0.2)]));
        let how = ReadOptions { pictures: Pictures { unscaled: true, ..Pictures::default() }, ..how };
        let rows = read_rows(&Source::file(&path), &how).unwrap();
        assert_eq!(rows[1], ("4".to_owned(), vec![(0, 7.0), (1, 0.0), (2, 0.0)]));
    }

    #[test]
    fn empty_pixels_make_sparse_rows_that_remember_their_form() {
        let mut file = vec![0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 3];
        file.extend([0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 0, 51]);
        let (_folder, path) = pair(&file, &LABELS);
        let stream = crate::blocks(&Source::file(&path), &ReadOptions::as_stored()).unwrap();
        assert_eq!(stream.schema().layout, Layout::Sparse);
        assert_eq!(
            stream.schema().picture,
            Some(Picture { width: 3, height: 2, channels: 1, resized: false })
        );
        let rows = read_rows(&Source::file(&path), &ReadOptions::as_stored()).unwrap();
        assert_eq!(rows[0].1, [(3, 1.0)]);
        assert_eq!(load(&path, &ReadOptions::as_stored()).unwrap().width(), 6);
    }

    #[test]
    fn every_lie_is_an_error() {
        let edit = |at: usize, byte: u8| {
            let mut file = images();
            file[at] = byte;
            file
        };
        for (file, labels, expected) in [
            (edit(2, 7), LABELS.to_vec(), "0x07"),
            (edit(3, 99), LABELS.to_vec(), "rank"),
            (edit(0, 1), LABELS.to_vec(), "two zero bytes"),
            (edit(7, 3), LABELS.to_vec(), "expected 3"),
            (edit(4, 255), LABELS.to_vec(), "expected 42781"),
            (edit(8, 255), LABELS.to_vec(), "the limit"),
            (edit(7, 1), LABELS.to_vec(), "there are 2 labels, expected 1"),
            (edit(15, 0), LABELS.to_vec(), "no values"),
            (images()[..20].to_vec(), LABELS.to_vec(), "ends at byte 20"),
            (images()[..9].to_vec(), LABELS.to_vec(), "ends too early"),
            ([images(), vec![0]].concat(), LABELS.to_vec(), "bytes follow"),
            (images(), LABELS[..9].to_vec(), "after 1 labels"),
            (images(), [LABELS.to_vec(), vec![1]].concat(), "bytes follow"),
            (images(), images(), "one list"),
            (images(), b"junk".to_vec(), "two zero bytes"),
            (LABELS.to_vec(), LABELS.to_vec(), "file of labels"),
        ] {
            let (_folder, path) = pair(&file, &labels);
            let error = load(&path, &ReadOptions::as_stored()).unwrap_err();
            assert!(error.to_string().contains(expected), "{expected}: {error}");
            assert!(error.source_name().unwrap().contains("-idx"), "{error}");
        }
    }

    #[test]
    fn labels_may_be_absent_only_where_nobody_needs_them() {
        let source = Source::bytes("t", images());
        let error = load_source(&source, &ReadOptions::as_stored()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Label);
        let how = ReadOptions { label: LabelColumn::Absent, ..ReadOptions::as_stored() };
        assert_eq!(load_source(&source, &how).unwrap().len(), 2);
        assert_eq!(
            label_names("a-images-idx3-ubyte.gz"),
            ["a-labels-idx1-ubyte.gz", "a-labels-idx3-ubyte.gz"]
        );
    }

    #[test]
    fn other_types_of_numbers_are_read_and_checked() {
        let mut file = vec![0, 0, 0x0D, 2, 0, 0, 0, 2, 0, 0, 0, 1];
        file.extend(1.5_f32.to_be_bytes());
        file.extend(f32::NAN.to_be_bytes());
        let how = ReadOptions { label: LabelColumn::Absent, ..ReadOptions::as_stored() };
        let error = load_source(&Source::bytes("t", file.clone()), &how).unwrap_err();
        assert_eq!(error.position().row, Some(2));
        let how = ReadOptions { missing: Missing::Drop, ..how };
        assert_eq!(load_source(&Source::bytes("t", file), &how).unwrap().len(), 1);
    }
}
