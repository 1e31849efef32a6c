//! Parsed rows on disk: what later passes over a file larger than memory read instead of the text.
//!
//! A cache is written block by block during the first pass ([`CacheWriter`]) and gives the same blocks, with
//! true class numbers, as often as wanted ([`CacheReader`]). It is a private file of one program version on
//! one machine's data, not a format to exchange: it carries a version and a fingerprint of the data and the
//! options it was made of, and refuses anything else. Every block has a checksum, so have the beginning, the
//! end, and the whole; lengths are compared with the bytes that are there before memory is asked for. A cache
//! that was cut, or whose writing was interrupted, has no end and is refused when it is opened.
//!
//! ```text
//! magic, version, fingerprint, layout, precision, checksum
//! block*:  length, checksum, payload (counts, classes, weights, row lengths, index steps, values)
//! end:     rows, blocks, class names, checksum of all blocks;  length of the end, its checksum, magic
//! ```
//!
//! Indices are stored as steps from one to the next, in 16 bits where all steps of a block allow it;
//! classes in one, two or four bytes. Everything is little-endian. Schemas are not kept here: the writer of
//! the cache has one.

use crate::bytes::source::{Part, Source};
use crate::error::{DataError, ErrorKind};
use crate::files::{Draft, temporary_file};
use crate::options::ReadOptions;
use crate::rows::block::{Block, Stored};
use crate::rows::dataset::{DenseMatrix, Matrix, SparseMatrix};
use crate::rows::gaps::Gaps;
use crate::rows::labels::Labels;
use crate::rows::schema::{Layout, Precision};
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// What a cache begins with.
const MAGIC: [u8; 8] = *b"RBcache\n";

/// What it ends with.
const END_MAGIC: [u8; 8] = *b"RBend  \n";

/// The version that is written and read.
const VERSION: u32 = 2;

/// Bytes before the first block.
const HEADER_BYTES: usize = 32;

/// Bytes after the end section: its length, its checksum, the magic.
const TRAILER_BYTES: usize = 24;

/// Bytes before the payload of a block: its length and its checksum.
const BLOCK_HEAD_BYTES: usize = 16;

const LABELLED: u8 = 1;
const WEIGHTED: u8 = 2;
const WIDE_STEPS: u8 = 4;
const GAPS: u8 = 8;

/// A number that tells one set of data, read in one way, from another; `None` if `source` cannot be read
/// twice. Files are known by name, size, time of change, and their first and last `LOOKED_AT` bytes, not by
/// all of their content.
pub fn fingerprint(source: &Source, how: &ReadOptions) -> Option<u64> {
    use std::fmt::Write as _;
    // The schema is no option that can be written down with the others, but decides how cells are read.
    let options = serde_json::to_string(&ReadOptions { threads: 0, ..how.clone() }).ok()?;
    let mut text = options + &serde_json::to_string(&how.schema.as_deref()).ok()?;
    for part in source.parts() {
        match part {
            Part::File(path) => {
                let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
                let content = ends_of(path, metadata.len()).ok()?;
                let path = checksum(path.as_os_str().as_encoded_bytes(), 0);
                let modified = metadata.modified().ok()?;
                let _ = write!(text, "{path:016x} {} {modified:?} {content:016x}", metadata.len());
            }
            Part::Bytes(name, bytes) => {
                let _ = write!(text, "{name} {} {:016x}", bytes.len(), checksum(bytes, 0));
            }
            _ => return None,
        }
    }
    Some(checksum(text.as_bytes(), u64::from(VERSION)))
}

/// How many bytes at each end of a file tell it from another.
const LOOKED_AT: u64 = 64 << 10;

/// A number for the first and last bytes of a file of `n_bytes`.
fn ends_of(path: &Path, n_bytes: u64) -> io::Result<u64> {
    let mut file = File::open(path)?;
    let mut bytes = Vec::new();
    (&mut file).take(LOOKED_AT).read_to_end(&mut bytes)?;
    if n_bytes > LOOKED_AT {
        file.seek(SeekFrom::Start(n_bytes.saturating_sub(LOOKED_AT).max(LOOKED_AT)))?;
        file.take(LOOKED_AT).read_to_end(&mut bytes)?;
    }
    Ok(checksum(&bytes, 0))
}

/// Writes blocks, one after the other. What is not [finished](Self::finish) is no cache.
#[derive(Debug)]
pub struct CacheWriter<W: Write> {
    out: W,
    kind: Option<(Layout, Precision)>,
    fingerprint: u64,
    n_rows: u64,
    n_blocks: u64,
    whole: u64,
    payload: Vec<u8>,
    name: String,
}

/// A cache that is being written to a file beside its final place.
#[derive(Debug)]
pub struct CacheFile {
    writer: CacheWriter<BufWriter<Place>>,
    /// Where it will be, if it is to have a name.
    path: Option<PathBuf>,
}

/// Where a cache is written.
#[derive(Debug)]
enum Place {
    Draft(Draft),
    /// A file without a name.
    Nameless(File),
}

impl Write for Place {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Draft(draft) => draft.write(bytes),
            Self::Nameless(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Draft(draft) => draft.flush(),
            Self::Nameless(file) => file.flush(),
        }
    }
}

impl CacheFile {
    /// Begins the cache at `path` for data of this fingerprint. The file appears there when it is finished.
    pub fn create(path: impl Into<PathBuf>, fingerprint: u64) -> Result<Self, DataError> {
        let path = path.into();
        if fs::metadata(&path).is_ok_and(|there| there.len() > 0) && !is_cache(&path) {
            let message = "this is no cache, expected one, or no file";
            let error = DataError::new(ErrorKind::Format, message).in_source(&path.display().to_string());
            return Err(error.with_help("name another file"));
        }
        let name = path.display().to_string();
        Ok(Self::new(Place::Draft(Draft::create_private(&path)?), fingerprint, &name, Some(path)))
    }

    /// Begins a cache without a name, which ends with this process.
    pub fn temporary(fingerprint: u64) -> Result<Self, DataError> {
        let file = temporary_file(&std::env::temp_dir(), "rosenblatt-cache")?;
        Ok(Self::new(Place::Nameless(file), fingerprint, "the temporary cache", None))
    }

    fn new(place: Place, fingerprint: u64, name: &str, path: Option<PathBuf>) -> Self {
        let out = BufWriter::with_capacity(256 << 10, place);
        Self { writer: CacheWriter::new(out, fingerprint, name), path }
    }

    /// Adds a block with true class numbers.
    pub fn write(&mut self, block: &Block) -> Result<(), DataError> {
        self.writer.write(block)
    }

    /// Writes the end, puts the file in its place, and reads it.
    pub fn finish(mut self, labels: &Labels) -> Result<CacheReader<File>, DataError> {
        self.writer.write_end(labels)?;
        let CacheWriter { out, name, fingerprint, .. } = self.writer;
        let place = out.into_inner().map_err(|error| failed("writing", error.into_error(), &name))?;
        match (place, self.path) {
            // A cache that a power cut spoils is noticed, and made again.
            (Place::Draft(draft), Some(path)) => {
                draft.place_soon()?;
                CacheReader::open(path, fingerprint)
            }
            (Place::Nameless(file), _) => CacheReader::new(file, fingerprint, &name),
            (Place::Draft(_), None) => Err(DataError::new(ErrorKind::Internal, "a cache lost its name")),
        }
    }
}

/// Whether the file at `path` begins like a cache.
fn is_cache(path: &Path) -> bool {
    let mut begin = [0; MAGIC.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut begin)).is_ok_and(|()| begin == MAGIC)
}

fn failed(what: &str, error: io::Error, name: &str) -> DataError {
    DataError::io(&format!("{what} the cache"), error).in_source(name)
}

impl<W: Write> CacheWriter<W> {
    /// Begins a cache called `name` in errors.
    pub fn new(out: W, fingerprint: u64, name: &str) -> Self {
        let (kind, payload, name) = (None, Vec::new(), name.to_owned());
        Self { out, kind, fingerprint, n_rows: 0, n_blocks: 0, whole: 0, payload, name }
    }

    /// Adds a block with true class numbers. All blocks must be of one kind.
    pub fn write(&mut self, block: &Block) -> Result<(), DataError> {
        let kind = kind_of(&block.matrix);
        match self.kind {
            None => self.write_header(kind)?,
            Some(other) if other == kind => {}
            Some(_) => {
                let message = "the blocks of a cache should be of one kind, but differ";
                return Err(DataError::new(ErrorKind::Internal, message).in_source(&self.name));
            }
        }
        self.payload.clear();
        encode(block, &mut self.payload);
        let sum = checksum(&self.payload, self.n_blocks);
        let mut head = [0; BLOCK_HEAD_BYTES];
        head[..8].copy_from_slice(&(self.payload.len() as u64).to_le_bytes());
        head[8..].copy_from_slice(&sum.to_le_bytes());
        self.whole = mix(self.whole, sum);
        self.n_rows += block.len() as u64;
        self.n_blocks += 1;
        let written = self.out.write_all(&head).and_then(|()| self.out.write_all(&self.payload));
        written.map_err(|error| failed("writing", error, &self.name))
    }

    /// Writes the end: without it, it is no cache.
    pub fn finish(mut self, labels: &Labels) -> Result<W, DataError> {
        self.write_end(labels)?;
        self.out.flush().map_err(|error| failed("writing", error, &self.name))?;
        Ok(self.out)
    }

    fn write_header(&mut self, (layout, precision): (Layout, Precision)) -> Result<(), DataError> {
        let mut header = Vec::with_capacity(HEADER_BYTES);
        header.extend_from_slice(&MAGIC);
        header.extend_from_slice(&VERSION.to_le_bytes());
        header.extend_from_slice(&[
            u8::from(layout == Layout::Dense),
            u8::from(precision == Precision::Double),
            0,
            0,
        ]);
        header.extend_from_slice(&self.fingerprint.to_le_bytes());
        header.extend_from_slice(&checksum(&header, 0).to_le_bytes());
        self.kind = Some((layout, precision));
        self.out.write_all(&header).map_err(|error| failed("writing", error, &self.name))
    }

    fn write_end(&mut self, labels: &Labels) -> Result<(), DataError> {
        if self.kind.is_none() {
            self.write_header((Layout::Sparse, Precision::Single))?;
        }
        let mut end = Vec::new();
        for number in [self.n_rows, self.n_blocks, self.whole, labels.len() as u64] {
            end.extend_from_slice(&number.to_le_bytes());
        }
        for name in labels.names() {
            end.extend_from_slice(&(name.len() as u64).to_le_bytes());
            end.extend_from_slice(name.as_bytes());
        }
        let (length, sum) = (end.len() as u64, checksum(&end, u64::MAX));
        end.extend_from_slice(&length.to_le_bytes());
        end.extend_from_slice(&sum.to_le_bytes());
        end.extend_from_slice(&END_MAGIC);
        self.out.write_all(&end).map_err(|error| failed("writing", error, &self.name))
    }
}

/// Reads the blocks of a cache, as often as wanted.
#[derive(Debug)]
pub struct CacheReader<R: Read + Seek> {
    input: R,
    name: String,
    kind: (Layout, Precision),
    labels: Labels,
    n_rows: u64,
    n_blocks: u64,
    whole: u64,
    /// Bytes of all blocks together.
    n_block_bytes: u64,
    /// Where this pass is.
    n_read: u64,
    n_bytes_left: u64,
    so_far: u64,
    payload: Vec<u8>,
    has_failed: bool,
}

impl CacheReader<File> {
    /// Opens the cache at `path` if it is whole and was made of data of this fingerprint.
    pub fn open(path: impl AsRef<Path>, fingerprint: u64) -> Result<Self, DataError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let file = File::open(path).map_err(|error| failed("opening", error, &name))?;
        // Blocks are read whole, so that a buffer between would be one copy more.
        CacheReader::new(file, fingerprint, &name)
    }
}

impl<R: Read + Seek> CacheReader<R> {
    /// A cache called `name` in errors.
    pub fn new(mut input: R, fingerprint: u64, name: &str) -> Result<Self, DataError> {
        let bad = |what: &str| bad_cache(what).in_source(name);
        let io = |error: io::Error| match error.kind() {
            io::ErrorKind::UnexpectedEof => bad("is cut"),
            _ => failed("reading", error, name),
        };
        let length = input.seek(SeekFrom::End(0)).map_err(io)?;
        let mut header = [0; HEADER_BYTES];
        input.seek(SeekFrom::Start(0)).map_err(io)?;
        input.read_exact(&mut header).map_err(io)?;
        let mut fields = Bytes(&header);
        if fields.take(8) != Some(&MAGIC) {
            return Err(bad("does not begin like one"));
        }
        let version = fields.u32().unwrap_or(0);
        if version != VERSION {
            let message = format!("the cache is of version {version}, expected {VERSION}");
            return Err(DataError::new(ErrorKind::Format, message).in_source(name).with_help("remove it"));
        }
        if checksum(&header[..HEADER_BYTES - 8], 0).to_le_bytes() != header[HEADER_BYTES - 8..] {
            return Err(bad("has a damaged beginning"));
        }
        let kind = match fields.take(4) {
            Some([layout @ 0..=1, precision @ 0..=1, 0, 0]) => (
                if *layout == 1 { Layout::Dense } else { Layout::Sparse },
                if *precision == 1 { Precision::Double } else { Precision::Single },
            ),
            _ => return Err(bad("has rows of an unknown kind")),
        };
        if fields.u64() != Some(fingerprint) {
            let message = "the cache was made from other data or with other options, expected the same ones";
            return Err(DataError::new(ErrorKind::Format, message).in_source(name).with_help("remove it"));
        }
        if length < (HEADER_BYTES + TRAILER_BYTES) as u64 {
            return Err(bad("is cut"));
        }
        let mut trailer = [0; TRAILER_BYTES];
        input.seek(SeekFrom::Start(length - TRAILER_BYTES as u64)).map_err(io)?;
        input.read_exact(&mut trailer).map_err(io)?;
        let mut fields = Bytes(&trailer);
        let (end_bytes, sum) = (fields.u64().unwrap_or(0), fields.u64().unwrap_or(0));
        if fields.0 != END_MAGIC {
            return Err(bad("has no end; it was cut, or its writing interrupted"));
        }
        let rest = (length - (HEADER_BYTES + TRAILER_BYTES) as u64).checked_sub(end_bytes);
        let Some(n_block_bytes) = rest else { return Err(bad("has a damaged end")) };
        let mut end = vec![0; end_bytes as usize];
        input.seek(SeekFrom::Start(HEADER_BYTES as u64 + n_block_bytes)).map_err(io)?;
        input.read_exact(&mut end).map_err(io)?;
        if checksum(&end, u64::MAX) != sum {
            return Err(bad("has a damaged end"));
        }
        let mut fields = Bytes(&end);
        let read_end = |fields: &mut Bytes<'_>| {
            let (n_rows, n_blocks, whole) = (fields.u64()?, fields.u64()?, fields.u64()?);
            let n_labels = fields.u64()?;
            let mut names = Vec::new();
            for _ in 0..n_labels {
                let length = usize::try_from(fields.u64()?).ok()?;
                names.push(std::str::from_utf8(fields.take(length)?).ok()?);
            }
            fields.0.is_empty().then(|| (n_rows, n_blocks, whole, Labels::in_order(names)))
        };
        let Some((n_rows, n_blocks, whole, labels)) = read_end(&mut fields) else {
            return Err(bad("has a damaged end"));
        };
        let mut reader = Self {
            input,
            name: name.to_owned(),
            kind,
            labels,
            n_rows,
            n_blocks,
            whole,
            n_block_bytes,
            n_read: 0,
            n_bytes_left: 0,
            so_far: 0,
            payload: Vec::new(),
            has_failed: false,
        };
        reader.rewind()?;
        Ok(reader)
    }

    /// The classes.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// How many rows there are.
    pub fn n_rows(&self) -> u64 {
        self.n_rows
    }

    /// Begins another pass.
    pub fn rewind(&mut self) -> Result<(), DataError> {
        let start = SeekFrom::Start(HEADER_BYTES as u64);
        self.input.seek(start).map_err(|error| failed("reading", error, &self.name))?;
        (self.n_read, self.so_far, self.n_bytes_left) = (0, 0, self.n_block_bytes);
        self.has_failed = false;
        Ok(())
    }

    /// Puts the next block of this pass into `block`; false at its end. An error is the end, too.
    pub fn next(&mut self, block: &mut Block) -> Result<bool, DataError> {
        if self.has_failed {
            return Ok(false);
        }
        let read = self.read(block);
        self.has_failed = read.is_err();
        read
    }

    fn read(&mut self, block: &mut Block) -> Result<bool, DataError> {
        let name = &self.name;
        let bad = |what: &str| bad_cache(what).in_source(name);
        let io = |error: io::Error| match error.kind() {
            io::ErrorKind::UnexpectedEof => bad("is cut"),
            _ => failed("reading", error, name),
        };
        if self.n_read == self.n_blocks {
            if self.n_bytes_left != 0 || self.so_far != self.whole {
                return Err(bad("is damaged: its parts do not make the whole"));
            }
            return Ok(false);
        }
        let Some(n_left) = self.n_bytes_left.checked_sub(BLOCK_HEAD_BYTES as u64) else {
            return Err(bad("lacks a block"));
        };
        let mut head = [0; BLOCK_HEAD_BYTES];
        self.input.read_exact(&mut head).map_err(io)?;
        let mut fields = Bytes(&head);
        let (length, sum) = (fields.u64().unwrap_or(0), fields.u64().unwrap_or(0));
        // No more is asked for than is there.
        let Some(n_left) = n_left.checked_sub(length) else {
            return Err(bad("has a damaged block"));
        };
        self.payload.resize(length as usize, 0);
        self.input.read_exact(&mut self.payload).map_err(io)?;
        if checksum(&self.payload, self.n_read) != sum {
            return Err(bad(&format!("has a damaged block, number {}", self.n_read + 1)));
        }
        self.n_bytes_left = n_left;
        self.so_far = mix(self.so_far, sum);
        self.n_read += 1;
        let n_classes = self.labels.len();
        let decoded = match self.kind.1 {
            Precision::Single => decode::<f32>(&self.payload, self.kind.0, n_classes, block),
            Precision::Double => decode::<f64>(&self.payload, self.kind.0, n_classes, block),
        };
        decoded.ok_or_else(|| bad(&format!("holds nonsense in block {}", self.n_read)))?;
        Ok(true)
    }
}

fn bad_cache(what: &str) -> DataError {
    DataError::new(ErrorKind::Format, format!("the cache {what}, expected a whole one"))
        .with_help("remove it; it will be made again")
}

fn kind_of(matrix: &Matrix) -> (Layout, Precision) {
    match matrix {
        Matrix::Dense32(_) => (Layout::Dense, Precision::Single),
        Matrix::Dense64(_) => (Layout::Dense, Precision::Double),
        Matrix::Sparse32(_) => (Layout::Sparse, Precision::Single),
        Matrix::Sparse64(_) => (Layout::Sparse, Precision::Double),
    }
}

fn encode(block: &Block, out: &mut Vec<u8>) {
    let n_class_bytes = match block.classes.iter().max().copied().unwrap_or(0) {
        0..=0xFF => 1_u8,
        0x100..=0xFFFF => 2,
        _ => 4,
    };
    let steps_are_wide = match &block.matrix {
        Matrix::Sparse32(SparseMatrix { indices, offsets, .. })
        | Matrix::Sparse64(SparseMatrix { indices, offsets, .. }) => {
            steps(indices, offsets).any(|step| step > 0xFFFF)
        }
        Matrix::Dense32(_) | Matrix::Dense64(_) => false,
    };
    let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
    let flags = flag(block.labelled, LABELLED)
        | flag(block.weights.is_some(), WEIGHTED)
        | flag(steps_are_wide, WIDE_STEPS)
        | flag(!block.gaps.runs().is_empty(), GAPS);
    for number in [
        block.len() as u64,
        block.first_row,
        block.n_dropped(),
        block.n_skipped(),
        block.matrix.width() as u64,
        u64::from_le_bytes([flags, n_class_bytes, 0, 0, 0, 0, 0, 0]),
    ] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    if flags & GAPS != 0 {
        out.extend((block.gaps.runs().len() as u64).to_le_bytes());
        for gap in block.gaps.runs() {
            out.extend((gap.n_before as u64).to_le_bytes());
            out.extend(gap.n_rows.to_le_bytes());
        }
    }
    for class in &block.classes {
        out.extend_from_slice(&class.to_le_bytes()[..n_class_bytes as usize]);
    }
    for weight in block.weights.iter().flatten() {
        out.extend_from_slice(&weight.to_le_bytes());
    }
    match &block.matrix {
        Matrix::Dense32(matrix) => f32::put(&matrix.values, out),
        Matrix::Dense64(matrix) => f64::put(&matrix.values, out),
        Matrix::Sparse32(matrix) => encode_sparse(matrix, steps_are_wide, out),
        Matrix::Sparse64(matrix) => encode_sparse(matrix, steps_are_wide, out),
    }
}

/// The steps from one index to the next, less the one that is always taken; in a row's first entry, the
/// index itself.
fn steps<'a>(indices: &'a [u32], offsets: &'a [usize]) -> impl Iterator<Item = u32> + 'a {
    offsets.windows(2).flat_map(|bounds| {
        let mut least = 0;
        indices[bounds[0]..bounds[1]].iter().map(move |&index| {
            let step = index - least;
            least = index.wrapping_add(1);
            step
        })
    })
}

fn encode_sparse<T: Stored>(matrix: &SparseMatrix<T>, steps_are_wide: bool, out: &mut Vec<u8>) {
    for bounds in matrix.offsets.windows(2) {
        out.extend_from_slice(&((bounds[1] - bounds[0]) as u32).to_le_bytes());
    }
    let steps = steps(&matrix.indices, &matrix.offsets);
    if steps_are_wide {
        out.extend(steps.flat_map(u32::to_le_bytes));
    } else {
        out.extend(steps.flat_map(|step| (step as u16).to_le_bytes()));
    }
    T::put(&matrix.values, out);
}

/// Nothing if the payload makes no sense, whatever its checksum says.
fn decode<T: Stored>(payload: &[u8], layout: Layout, n_classes: usize, block: &mut Block) -> Option<()> {
    let mut bytes = Bytes(payload);
    let n_rows = usize::try_from(bytes.u64()?).ok()?;
    let (first_row, n_dropped, n_skipped) = (bytes.u64()?, bytes.u64()?, bytes.u64()?);
    let width = usize::try_from(bytes.u64()?).ok()?;
    let [flags, n_class_bytes, rest @ ..] = bytes.u64()?.to_le_bytes();
    if flags & !(LABELLED | WEIGHTED | WIDE_STEPS | GAPS) != 0 || rest != [0; 6] {
        return None;
    }
    block.clear(layout, T::PRECISION, width);
    block.first_row = first_row;
    let mut places = Vec::new();
    let n_places = if flags & GAPS != 0 { bytes.u64()? } else { 0 };
    for _ in 0..n_places {
        let (n_before, n_left_out) = (usize::try_from(bytes.u64()?).ok()?, bytes.u64()?);
        if n_before > n_rows || n_left_out > n_dropped.checked_add(n_skipped)? {
            return None;
        }
        places.push((n_before, n_left_out));
    }
    block.gaps = Gaps::counted(n_dropped, n_skipped, places);
    block.labelled = flags & LABELLED != 0;
    let classes = bytes.take(n_rows.checked_mul(n_class_bytes as usize)?)?;
    match n_class_bytes {
        1 => block.classes.extend(classes.iter().map(|&class| u32::from(class))),
        2 => block
            .classes
            .extend(classes.as_chunks::<2>().0.iter().map(|class| u32::from(u16::from_le_bytes(*class)))),
        4 => block.classes.extend(classes.as_chunks::<4>().0.iter().map(|class| u32::from_le_bytes(*class))),
        _ => return None,
    }
    if block.labelled && block.classes.iter().any(|&class| class as usize >= n_classes) {
        return None;
    }
    if flags & WEIGHTED != 0 {
        let mut weights = Vec::new();
        f64::get(bytes.take(n_rows.checked_mul(8)?)?, &mut weights);
        block.weights = weights.iter().all(|weight| *weight >= 0.0 && weight.is_finite()).then_some(weights);
        block.weights.as_ref()?;
    }
    let values: &[T] = match layout {
        Layout::Dense => {
            let DenseMatrix { values, .. } = T::dense(&mut block.matrix)?;
            T::get(bytes.take(n_rows.checked_mul(width)?.checked_mul(size_of::<T>())?)?, values);
            values
        }
        Layout::Sparse => {
            let matrix = T::sparse(&mut block.matrix)?;
            decode_sparse(&mut bytes, n_rows, flags & WIDE_STEPS != 0, matrix)?;
            &matrix.values
        }
    };
    (bytes.0.is_empty() && T::all_finite(values)).then_some(())
}

fn decode_sparse<T: Stored>(
    bytes: &mut Bytes<'_>,
    n_rows: usize,
    steps_are_wide: bool,
    matrix: &mut SparseMatrix<T>,
) -> Option<()> {
    let lengths = bytes.take(n_rows.checked_mul(4)?)?;
    let mut n_entries = 0_usize;
    for length in lengths.as_chunks::<4>().0 {
        n_entries = n_entries.checked_add(u32::from_le_bytes(*length) as usize)?;
        matrix.offsets.push(n_entries);
    }
    let n_step_bytes = if steps_are_wide { 4 } else { 2 };
    let steps = bytes.take(n_entries.checked_mul(n_step_bytes)?)?;
    if steps_are_wide {
        matrix.indices.extend(steps.as_chunks::<4>().0.iter().map(|step| u32::from_le_bytes(*step)));
    } else {
        matrix
            .indices
            .extend(steps.as_chunks::<2>().0.iter().map(|step| u32::from(u16::from_le_bytes(*step))));
    }
    // Indices ascend whatever the steps are, so that only the last of a row must be looked at.
    let most = (matrix.width as u64).min(1 << 32);
    for bounds in matrix.offsets.windows(2) {
        let mut next = 0_u64;
        for index in &mut matrix.indices[bounds[0]..bounds[1]] {
            next += u64::from(*index) + 1;
            *index = (next - 1) as u32;
        }
        if next > most {
            return None;
        }
    }
    T::get(bytes.take(n_entries.checked_mul(size_of::<T>())?)?, &mut matrix.values);
    Some(())
}

/// Bytes that are taken from the front.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take(8)?.try_into().ok().map(u64::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_le_bytes)
    }
}

/// One step of a checksum: a different `word` or a different `sum` gives a different result.
#[inline(always)]
fn mix(sum: u64, word: u64) -> u64 {
    (sum.rotate_left(23) ^ word).wrapping_mul(0x9E37_79B1_85EB_CA87)
}

/// A checksum in four lanes. Every step can be undone, so that a change within one word always shows.
fn checksum(bytes: &[u8], seed: u64) -> u64 {
    let mut lanes = [seed, !seed, seed.rotate_left(16), !seed.rotate_left(32)];
    let (blocks, rest) = bytes.as_chunks::<32>();
    for block in blocks {
        for (lane, word) in lanes.iter_mut().zip(block.as_chunks::<8>().0) {
            *lane = mix(*lane, u64::from_le_bytes(*word));
        }
    }
    let mut sum = lanes.iter().fold(bytes.len() as u64, |sum, &lane| mix(sum, lane));
    for piece in rest.chunks(8) {
        let mut word = [0; 8];
        word[..piece.len()].copy_from_slice(piece);
        sum = mix(sum, u64::from_le_bytes(word));
    }
    sum ^= sum >> 32;
    sum = sum.wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
    sum ^ (sum >> 29)
}

/// Puts every checksum of a cache right, as far as its lengths allow: for tests that damage what is below.
pub fn mend(bytes: &mut [u8]) {
    let word = |bytes: &[u8], at: usize| -> Option<u64> { Bytes(bytes.get(at..at.checked_add(8)?)?).u64() };
    let put = |bytes: &mut [u8], at: usize, word: u64| {
        if let Some(place) = bytes.get_mut(at..at + 8) {
            place.copy_from_slice(&word.to_le_bytes());
        }
    };
    let Some(end_at) = bytes.len().checked_sub(TRAILER_BYTES) else { return };
    let n_end = word(bytes, end_at).and_then(|n_end| usize::try_from(n_end).ok());
    let Some(blocks_end) = n_end.and_then(|n_end| end_at.checked_sub(n_end)) else { return };
    let header = checksum(&bytes[..(HEADER_BYTES - 8).min(end_at)], 0);
    put(bytes, HEADER_BYTES - 8, header);
    let (mut at, mut number, mut whole) = (HEADER_BYTES, 0, 0);
    while let Some(length) = word(bytes, at).and_then(|length| usize::try_from(length).ok()) {
        let start = at + BLOCK_HEAD_BYTES;
        let end = start.saturating_add(length);
        if end > blocks_end {
            break;
        }
        let sum = checksum(&bytes[start..end], number);
        put(bytes, at + 8, sum);
        whole = mix(whole, sum);
        number += 1;
        at = end;
    }
    put(bytes, blocks_end + 16, whole);
    let end = checksum(&bytes[blocks_end..end_at], u64::MAX);
    put(bytes, end_at + 8, end);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::blocks;
    use std::io::Cursor;

    fn cached(source: &Source, how: &ReadOptions) -> (Vec<u8>, Vec<Block>, Labels) {
        let mut writer = CacheWriter::new(Vec::new(), 7, "c");
        let mut stream = blocks(source, how).unwrap();
        let mut seen = Vec::new();
        while let Some(block) = stream.next().unwrap() {
            writer.write(block).unwrap();
            seen.push(block.clone());
        }
        let labels = stream.labels().clone();
        (writer.finish(&labels).unwrap(), seen, labels)
    }

    fn read_all(bytes: &[u8]) -> Result<Vec<Block>, DataError> {
        let mut reader = CacheReader::new(Cursor::new(bytes), 7, "c")?;
        let (mut seen, mut block) = (Vec::new(), Block::default());
        while reader.next(&mut block)? {
            seen.push(block.clone());
        }
        Ok(seen)
    }

    fn assert_same(found: &[Block], expected: &[Block]) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert_eq!(found.matrix, expected.matrix);
            assert_eq!((&found.classes, &found.weights), (&expected.classes, &expected.weights));
            assert_eq!((found.first_row, found.labelled), (expected.first_row, expected.labelled));
            assert_eq!((found.n_dropped(), found.n_skipped()), (expected.n_dropped(), expected.n_skipped()));
        }
    }

    #[test]
    fn every_kind_of_block_comes_back() {
        let line = |i: u32| format!("c{} {}:{} 70000:1\n", i % 300, i % 900 + 1, i as f32 / 3.0);
        let svm = (0..40_000).map(line).collect::<Vec<_>>().concat();
        let far = "a 1:1 30000000:2\nb\na 5:1\n".to_owned();
        let line = |i: u32| format!("{},{},c{}\n", i, i as f32 / 7.0, i % 2);
        let csv = (0..30_000).map(line).collect::<Vec<_>>().concat();
        let weighted = "1 2 |a b:3\n-1 | c\n".to_owned();
        for (name, text) in [("t.svm", svm), ("t.svm", far), ("t.csv", csv), ("t.vw", weighted)] {
            for precision in [Precision::Single, Precision::Double] {
                let how = ReadOptions { precision, ..ReadOptions::as_stored() };
                let (bytes, expected, labels) = cached(&Source::bytes(name, text.clone().into_bytes()), &how);
                assert_same(&read_all(&bytes).unwrap(), &expected);
                let mut reader = CacheReader::new(Cursor::new(&bytes), 7, "c").unwrap();
                assert_eq!(reader.labels(), &labels);
                assert_eq!(reader.n_rows(), expected.iter().map(|block| block.len() as u64).sum::<u64>());
                let mut block = Block::default();
                reader.next(&mut block).unwrap();
                reader.rewind().unwrap();
                assert!(reader.next(&mut block).unwrap());
                assert_same(&[block], &expected[..1]);
            }
        }
    }

    #[test]
    fn every_cut_and_every_flipped_bit_is_refused() {
        let text = "1 2:0.5 9:1\n-1 1:1\n1 3:-2 4:0.25\n";
        let (bytes, expected, _) =
            cached(&Source::bytes("t.svm", text.as_bytes().to_vec()), &ReadOptions::as_stored());
        assert_same(&read_all(&bytes).unwrap(), &expected);
        for length in 0..bytes.len() {
            assert!(read_all(&bytes[..length]).is_err(), "cut at {length} of {}", bytes.len());
        }
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut flipped = bytes.clone();
                flipped[at] ^= 1 << bit;
                assert!(read_all(&flipped).is_err(), "bit {bit} of byte {at}");
            }
        }
        assert!(read_all(&[&bytes[..], b"junk"].concat()).is_err());
        assert!(read_all(&[&bytes[..], &bytes[..]].concat()).is_err());
        for at in (0..bytes.len() - 8).step_by(4) {
            for hostile in [u64::MAX, 1 << 62, 1 << 31, 0] {
                let mut changed = bytes.clone();
                changed[at..at + 8].copy_from_slice(&hostile.to_le_bytes());
                assert!(changed == bytes || read_all(&changed).is_err(), "{hostile} at {at}");
            }
        }
    }

    #[test]
    fn nonsense_with_a_right_checksum_is_refused() {
        let text = "1 2:0.5 9:1\n-1 1:1\n";
        let (_, expected, _) =
            cached(&Source::bytes("t.svm", text.as_bytes().to_vec()), &ReadOptions::as_stored());
        let mut payload = Vec::new();
        encode(&expected[0], &mut payload);
        let mut block = Block::default();
        assert!(decode::<f32>(&payload, Layout::Sparse, 2, &mut block).is_some());
        for (n_classes, layout) in [(1, Layout::Sparse), (2, Layout::Dense)] {
            assert!(decode::<f32>(&payload, layout, n_classes, &mut block).is_none());
        }
        let mut random = 1_u64;
        for _ in 0..100_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let mut wild = payload.clone();
            let at = (random >> 40) as usize % wild.len();
            wild[at] = (random >> 32) as u8;
            // Whatever comes of it, no panic, and never an index beyond the width.
            if decode::<f32>(&wild, Layout::Sparse, 2, &mut block).is_some() {
                assert!(block.view().len() == block.len());
            }
        }
    }

    #[test]
    fn other_data_versions_and_unfinished_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.cache");
        let data = folder.path().join("t.svm");
        fs::write(&data, "1 2:0.5 9:1\n-1 1:1\n").unwrap();
        let (source, how) = (Source::file(&data), ReadOptions::as_stored());
        let mark = fingerprint(&source, &how).unwrap();
        let mut stream = blocks(&source, &how).unwrap();
        let mut cache = CacheFile::create(&path, mark).unwrap();
        cache.write(stream.next().unwrap().unwrap()).unwrap();
        assert!(!path.exists());
        cache.finish(stream.labels()).unwrap();
        assert_eq!(CacheReader::open(&path, mark).unwrap().n_rows(), 2);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
        let threads = ReadOptions { threads: 3, ..how.clone() };
        assert_eq!(fingerprint(&source, &threads), Some(mark));
        let double = ReadOptions { precision: Precision::Double, ..how.clone() };
        assert_ne!(fingerprint(&source, &double), Some(mark));
        fs::write(&data, "1 2:0.5 9:1\n-1 1:1\n1 1:1\n").unwrap();
        let changed = fingerprint(&source, &how).unwrap();
        let error = CacheReader::open(&path, changed).unwrap_err();
        assert!(error.message().contains("other data"), "{error}");
        let mut bytes = fs::read(&path).unwrap();
        bytes[8] = 9;
        let error = CacheReader::new(Cursor::new(bytes), mark, "c").unwrap_err();
        assert!(error.message().contains("version 9, expected 2"), "{error}");
        drop(CacheFile::create(folder.path().join("other"), mark).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
        assert_eq!(fingerprint(&Source::stdin(), &how), None);
    }
}
