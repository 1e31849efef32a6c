//! Where bytes come from: files, globs, folders, standard input, memory; compressed or not.
//!
//! A [`Source`] only says where the data is and can be opened any number of times, standard input and
//! pipes excepted ([`Source::can_rewind`]). Opening a part of it gives an [`Input`]: a stream of plain
//! bytes whose head can be looked at before anything is read, and whose errors name the part. Nothing
//! here knows what the bytes mean.

use crate::bytes::compression::Compression;
use crate::bytes::meter::Meter;
use crate::bytes::pool::Pool;
use crate::bytes::window::line_too_long;
use crate::error::{DataError, ErrorKind};
use crate::files::temporary_file;
use crate::slips::closest;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufRead, Cursor, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// How much of the beginning of a stream can be looked at.
pub const HEAD_BYTES: usize = 64 << 10;

/// How much is asked of the operating system at a time.
const READ_BYTES: usize = 256 << 10;

/// A place, or several, from which data can be read.
#[derive(Debug, Clone)]
pub struct Source {
    parts: Vec<Part>,
}

/// One file, folder, stream or piece of memory.
#[derive(Debug, Clone)]
pub enum Part {
    /// A file.
    File(PathBuf),
    /// A folder whose subfolders are classes; only some formats read those.
    Folder(PathBuf),
    /// Standard input.
    Stdin,
    /// Bytes in memory, and what to call them.
    Bytes(Arc<str>, Arc<[u8]>),
    /// A copy of a pipe, in a file without a name, and what to call it.
    Spool(Arc<str>, Arc<Mutex<File>>),
    /// A table in memory that the caller holds, and its name.
    #[cfg(feature = "arrow")]
    Table(Arc<str>, Arc<Table>),
}

/// Record batches of one schema.
#[cfg(feature = "arrow")]
#[derive(Debug)]
pub struct Table {
    /// Names and types of the columns.
    pub schema: arrow_schema::SchemaRef,
    /// The rows.
    pub batches: Vec<arrow_array::RecordBatch>,
}

impl Source {
    /// One file, its name taken as it stands.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self { parts: vec![Part::File(path.into())] }
    }

    /// Standard input.
    pub fn stdin() -> Self {
        Self { parts: vec![Part::Stdin] }
    }

    /// Bytes in memory, called `name` in errors; its extension helps to find the format.
    pub fn bytes(name: &str, bytes: impl Into<Arc<[u8]>>) -> Self {
        Self { parts: vec![Part::Bytes(name.into(), bytes.into())] }
    }

    /// A table in memory, called `name` in errors. Rows are made where it is; it is not copied first.
    #[cfg(feature = "arrow")]
    pub fn table(name: &str, table: Table) -> Self {
        Self { parts: vec![Part::Table(name.into(), Arc::new(table))] }
    }

    /// What a user means by `what`: `-` is standard input, an existing file or folder is itself, and
    /// anything else with `*`, `?` or `[…]` is a pattern for file names.
    ///
    /// A folder that holds files stands for those files; one that holds folders stays whole, for the
    /// formats that take a folder per class. Files are sorted by name, byte by byte; hidden ones and
    /// those that begin with `_` (`_SUCCESS`) are left out.
    pub fn find(what: impl AsRef<OsStr>) -> Result<Self, DataError> {
        let what = what.as_ref();
        if what == "-" {
            return Ok(Self::stdin());
        }
        let path = Path::new(what);
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => Self::folder(path),
            Ok(_) => Ok(Self::file(path)),
            Err(error) => match what.to_str().filter(|text| text.contains(['*', '?', '['])) {
                Some(pattern) => Self::glob(pattern),
                None => Err(cannot_open(path, error)),
            },
        }
    }

    /// Everything that is found under each of `several`, one after the other.
    pub fn find_all<S: AsRef<OsStr>>(several: impl IntoIterator<Item = S>) -> Result<Self, DataError> {
        let mut parts = Vec::new();
        for what in several {
            parts.extend(Self::find(what)?.parts);
        }
        if parts.is_empty() {
            return Err(DataError::new(ErrorKind::Options, "no data source is given, expected at least one")
                .with_help("name a file, or `-` for standard input"));
        }
        Ok(Self { parts })
    }

    fn folder(path: &Path) -> Result<Self, DataError> {
        let mut files = Vec::new();
        let (mut has_folders, mut special) = (false, None);
        for entry in sorted_entries(path)? {
            match fs::metadata(&entry) {
                Ok(metadata) if metadata.is_dir() => has_folders = true,
                // A pipe or a socket among files may never end.
                Ok(metadata) if !metadata.is_file() => special = special.or(Some(entry)),
                _ => files.push(entry),
            }
        }
        if has_folders {
            return Ok(Self { parts: vec![Part::Folder(path.to_owned())] });
        }
        if let Some(special) = special {
            let message = "this is a pipe, socket or device, expected files in the folder";
            return Err(DataError::new(ErrorKind::Io, message)
                .in_source(&special.display().to_string())
                .with_help("take it away, or name the files"));
        }
        if files.is_empty() {
            return Err(DataError::new(ErrorKind::Empty, "the folder holds no files, expected some")
                .in_source(&path.display().to_string()));
        }
        Ok(Self { parts: files.into_iter().map(Part::File).collect() })
    }

    fn glob(pattern: &str) -> Result<Self, DataError> {
        let absolute = pattern.starts_with('/');
        let mut found = vec![if absolute { PathBuf::from("/") } else { PathBuf::new() }];
        for component in pattern.split('/').filter(|component| !component.is_empty()) {
            let mut next = Vec::new();
            for base in found {
                if component.contains(['*', '?', '[']) {
                    let folder = if base.as_os_str().is_empty() { Path::new(".") } else { &base };
                    if !folder.is_dir() {
                        continue;
                    }
                    for entry in sorted_entries(folder)? {
                        let name = entry.file_name().unwrap_or_default();
                        if matches(component.as_bytes(), name.as_encoded_bytes()) {
                            next.push(base.join(name));
                        }
                    }
                } else if base.join(component).exists() {
                    next.push(base.join(component));
                }
            }
            found = next;
        }
        found.retain(|path| !path.is_dir());
        found.sort();
        if found.is_empty() {
            return Err(DataError::new(ErrorKind::Io, "no file has a name like that, expected at least one")
                .in_source(pattern));
        }
        Ok(Self { parts: found.into_iter().map(Part::File).collect() })
    }

    /// The parts, in the order in which they are read.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// What to call the whole in a message.
    pub fn name(&self) -> String {
        match self.parts.as_slice() {
            [] => "nothing".to_owned(),
            [only] => only.name(),
            [first, rest @ ..] => format!("{} and {} more", first.name(), rest.len()),
        }
    }

    /// Whether the same bytes can be read a second time.
    pub fn can_rewind(&self) -> bool {
        self.parts.iter().all(Part::can_rewind)
    }

    /// How many bytes all files and pieces of memory have together, as they are stored.
    pub(crate) fn n_bytes(&self) -> u64 {
        let n_bytes = |part: &Part| match part {
            Part::File(path) => fs::metadata(path).map_or(0, |metadata| metadata.len()),
            Part::Bytes(_, bytes) => bytes.len() as u64,
            _ => 0,
        };
        self.parts.iter().map(n_bytes).sum()
    }

    /// The same data, its first part being what was read of it.
    pub(crate) fn with_first(&self, bytes: Vec<u8>) -> Self {
        let mut parts = self.parts.clone();
        if let Some(first) = parts.first_mut() {
            *first = Part::Bytes(first.name().into(), bytes.into());
        }
        Self { parts }
    }

    /// The same data, kept in a file without a name where it could not be read twice. Of each part that is copied, `longest`
    /// says how many bytes a line may have, or refuses it by its head.
    pub(crate) fn spooled(&self, longest: LongestLine<'_>) -> Result<Self, DataError> {
        let spooled = |part: &Part| {
            if part.can_rewind() { Ok(part.clone()) } else { part.spooled(longest) }
        };
        Ok(Self { parts: self.parts.iter().map(spooled).collect::<Result<_, _>>()? })
    }

    /// The same data, held in memory where it could not be read twice. At most `limit` bytes are held.
    pub fn rewindable(&self, limit: u64) -> Result<Self, DataError> {
        self.held(limit, &mut |_| Ok(usize::MAX))
    }

    /// The same, `longest` saying of each part that is held how many bytes a line may have.
    pub(crate) fn held(&self, limit: u64, longest: LongestLine<'_>) -> Result<Self, DataError> {
        let held = |part: &Part| {
            if part.can_rewind() {
                return Ok(part.clone());
            }
            let input = part.open()?;
            let longest = longest(&input)?;
            Ok(Part::Bytes(part.name().into(), input.into_lines(limit, longest)?.into()))
        };
        Ok(Self { parts: self.parts.iter().map(held).collect::<Result<_, DataError>>()? })
    }
}

/// How many bytes a line of an input may have, judging by its head; an error if it is no data at all.
pub(crate) type LongestLine<'a> = &'a mut dyn FnMut(&Input) -> Result<usize, DataError>;

impl Part {
    /// The extension of its name in lower case, without that of a compressed file.
    pub(crate) fn extension(&self) -> Option<String> {
        let name = match self {
            Self::File(path) | Self::Folder(path) => path.file_name()?.to_string_lossy().to_lowercase(),
            Self::Bytes(name, _) | Self::Spool(name, _) => name.to_lowercase(),
            Self::Stdin => return None,
            #[cfg(feature = "arrow")]
            Self::Table(..) => return None,
        };
        let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
        Some(name.rsplit_once('.')?.1.to_owned())
    }

    /// What to call this part in a message.
    pub fn name(&self) -> String {
        match self {
            Self::File(path) | Self::Folder(path) => path.display().to_string(),
            Self::Stdin => "stdin".to_owned(),
            Self::Bytes(name, _) | Self::Spool(name, _) => name.to_string(),
            #[cfg(feature = "arrow")]
            Self::Table(name, _) => name.to_string(),
        }
    }

    /// Whether the same bytes can be read a second time.
    pub(crate) fn can_rewind(&self) -> bool {
        match self {
            Self::File(path) => fs::metadata(path).is_ok_and(|metadata| metadata.is_file()),
            Self::Stdin => false,
            _ => true,
        }
    }

    /// The bytes of a pipe, unpacked, in a file that ends with this process.
    fn spooled(&self, longest: LongestLine<'_>) -> Result<Self, DataError> {
        let name = self.name();
        let mut input = self.open()?;
        let mut lines = Lines::of_at_most(longest(&input)?);
        let mut file = temporary_file(&std::env::temp_dir(), "rosenblatt-rows")?;
        let mut buffer = vec![0; READ_BYTES];
        loop {
            let n_bytes = input.read_some(&mut buffer)?;
            if n_bytes == 0 {
                return Ok(Self::Spool(name.into(), Arc::new(Mutex::new(file))));
            }
            lines.pass(&buffer[..n_bytes]).map_err(|error| error.in_source(&name))?;
            let written = file.write_all(&buffer[..n_bytes]);
            written.map_err(|error| {
                DataError::io("keeping a copy for the second pass", error).in_source(&name)
            })?;
        }
    }

    /// Opens the part, uncovers its compression, and reads its head.
    pub fn open(&self) -> Result<Input, DataError> {
        self.open_with(&Arc::new(Pool::default()), &Meter::default())
    }

    /// [`Part::open`] with the threads and buffers of `pool`, the bytes counted by `meter`.
    pub(crate) fn open_with(&self, pool: &Arc<Pool>, meter: &Meter) -> Result<Input, DataError> {
        let name: Arc<str> = self.name().into();
        let raw: Box<dyn Read + Send> = match self {
            Self::File(path) => {
                let file = File::open(path).map_err(|error| cannot_open(path, error))?;
                let is_folder = file.metadata().is_ok_and(|metadata| metadata.is_dir());
                if is_folder {
                    return Err(
                        DataError::new(ErrorKind::Io, "this is a folder, expected a file").in_source(&name)
                    );
                }
                // What is no file has no length that could be relied on.
                let metadata = file.metadata().ok().filter(fs::Metadata::is_file);
                match metadata.map(|metadata| metadata.len()) {
                    Some(n_bytes) if n_bytes > 0 => Box::new(Whole { file, n_left: n_bytes }),
                    _ => Box::new(file),
                }
            }
            Self::Folder(_) => return Ok(Input::folder(name, self.clone())),
            #[cfg(feature = "arrow")]
            Self::Table(..) => return Ok(Input::folder(name, self.clone())),
            Self::Stdin => Box::new(io::stdin()),
            Self::Bytes(_, bytes) => Box::new(Cursor::new(Arc::clone(bytes))),
            Self::Spool(_, file) => Box::new(Spooled { file: Arc::clone(file), at: 0 }),
        };
        let mut input = Input {
            name,
            part: self.clone(),
            compression: Compression::None,
            head: Vec::new(),
            n_head_read: 0,
            head_is_all: false,
            reader: meter.watch(raw),
            pool: Arc::clone(pool),
        };
        // What lies in memory needs no more room than it takes.
        let most = if let Self::Bytes(_, bytes) = self { bytes.len() + 1 } else { HEAD_BYTES };
        input.read_head(most.min(HEAD_BYTES))?;
        input.compression = Compression::sniff(&input.head);
        if input.compression != Compression::None {
            // What was looked at is put back in front of the rest, and the decoder begins at the start.
            let head = std::mem::take(&mut input.head);
            let rest = std::mem::replace(&mut input.reader, Box::new(io::empty()));
            let n_packed = Arc::new(AtomicU64::new(head.len() as u64));
            let counted = Counted { reader: rest, n_read: Arc::clone(&n_packed) };
            let whole = Buffered::new(Box::new(counted), &head, pool);
            pool.give_buffer(head);
            let reader = input.compression.decode(Box::new(whole));
            input.reader = Box::new(Unpacked { reader, n_packed, n_out: 0 });
            input.read_head(HEAD_BYTES)?;
            if Compression::sniff(&input.head) != Compression::None {
                return Err(DataError::new(
                    ErrorKind::Compression,
                    "the data is compressed twice, expected plain data inside",
                )
                .in_source(&input.name)
                .with_help("unpack it once"));
            }
        }
        Ok(input)
    }
}

/// Lines as they go by, none of which may be too long.
struct Lines {
    longest: usize,
    /// The number of the line at hand, from 1, and how many of its bytes went by.
    line: u64,
    n_bytes: usize,
}

impl Lines {
    fn of_at_most(longest: usize) -> Self {
        Self { longest, line: 1, n_bytes: 0 }
    }

    fn pass(&mut self, bytes: &[u8]) -> Result<(), DataError> {
        if self.longest == usize::MAX {
            return Ok(());
        }
        match memchr::memrchr(b'\n', bytes) {
            Some(newline) => {
                self.line += memchr::memchr_iter(b'\n', bytes).count() as u64;
                self.n_bytes = bytes.len() - newline - 1;
            }
            None => self.n_bytes += bytes.len(),
        }
        if self.n_bytes > self.longest { Err(line_too_long(self.longest, self.line)) } else { Ok(()) }
    }
}

/// A file without a name, read from its beginning each time it is opened.
struct Spooled {
    file: Arc<Mutex<File>>,
    at: u64,
}

impl Read for Spooled {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(self.at))?;
        let n_read = file.read(into)?;
        self.at += n_read as u64;
        Ok(n_read)
    }
}

/// Bytes that are counted as they go by.
struct Counted {
    reader: Box<dyn Read + Send>,
    n_read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n_read = self.reader.read(into)?;
        self.n_read.fetch_add(n_read as u64, Ordering::Relaxed);
        Ok(n_read)
    }
}

/// Packed data may always unfold to this many bytes.
const UNPACKED_AT_LEAST: u64 = 64 << 20;
/// And beyond that to this many times its packed size: rows of real data pack to a fiftieth, hardly to a hundredth.
const UNPACKED_RATIO: u64 = 250;

/// What comes out of a decoder, unless it is out of all proportion to what went in.
struct Unpacked {
    reader: Box<dyn Read + Send>,
    n_packed: Arc<AtomicU64>,
    n_out: u64,
}

impl Read for Unpacked {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n_read = self.reader.read(into)?;
        self.n_out += n_read as u64;
        let n_packed = self.n_packed.load(Ordering::Relaxed);
        if self.n_out > UNPACKED_AT_LEAST.max(n_packed.saturating_mul(UNPACKED_RATIO)) {
            let message =
                format!("{n_packed} packed bytes unfold to more than {UNPACKED_RATIO} times as many");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        Ok(n_read)
    }
}

/// One part of a source, opened: plain bytes, whose beginning can be looked at.
pub struct Input {
    name: Arc<str>,
    part: Part,
    compression: Compression,
    head: Vec<u8>,
    n_head_read: usize,
    head_is_all: bool,
    reader: Box<dyn Read + Send>,
    pool: Arc<Pool>,
}

impl Input {
    /// Something that is no stream of bytes.
    fn folder(name: Arc<str>, part: Part) -> Self {
        let compression = Compression::None;
        let (reader, pool) = (Box::new(io::empty()), Arc::default());
        Self { name, part, compression, head: Vec::new(), n_head_read: 0, head_is_all: true, reader, pool }
    }

    /// What to call this input in errors.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Where it was opened from, for formats that need a file or folder rather than a stream.
    pub fn part(&self) -> &Part {
        &self.part
    }

    /// Threads and buffers to read this.
    pub(crate) fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }

    /// How the bytes were compressed.
    pub fn compression(&self) -> Compression {
        self.compression
    }

    /// The first bytes, up to [`HEAD_BYTES`], decompressed. Looking does not take them away.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// Whether the head is all there is.
    pub fn head_is_all(&self) -> bool {
        self.head_is_all
    }

    /// How many bytes are left, if that is known.
    pub(crate) fn n_left(&self) -> Option<usize> {
        self.head_is_all.then(|| self.head.len() - self.n_head_read)
    }

    /// The name's extension in lower case, that of a compression left out: `svm` for `a.SVM.gz`.
    pub fn extension(&self) -> Option<String> {
        self.part.extension()
    }

    /// Reads some bytes, as `Read` does, with the errors of this crate; 0 only at the end.
    pub fn read_some(&mut self, into: &mut [u8]) -> Result<usize, DataError> {
        let waiting = &self.head[self.n_head_read..];
        if !waiting.is_empty() {
            let n_bytes = waiting.len().min(into.len());
            into[..n_bytes].copy_from_slice(&waiting[..n_bytes]);
            self.n_head_read += n_bytes;
            return Ok(n_bytes);
        }
        if self.head_is_all {
            return Ok(0);
        }
        self.read_raw(into)
    }

    /// Everything that is left, if that is no more than `limit` bytes.
    pub fn into_bytes(self, limit: u64) -> Result<Vec<u8>, DataError> {
        self.into_lines(limit, usize::MAX)
    }

    /// The same of text whose lines have at most `longest` bytes: a longer one is an error before it is held.
    pub(crate) fn into_lines(mut self, limit: u64, longest: usize) -> Result<Vec<u8>, DataError> {
        let mut bytes = Vec::new();
        let mut buffer = vec![0; READ_BYTES];
        let mut lines = Lines::of_at_most(longest);
        loop {
            let n_bytes = self.read_some(&mut buffer)?;
            if n_bytes == 0 {
                return Ok(bytes);
            }
            lines.pass(&buffer[..n_bytes]).map_err(|error| error.in_source(&self.name))?;
            if bytes.len() as u64 + n_bytes as u64 > limit {
                return Err(DataError::new(
                    ErrorKind::Limit,
                    format!("the data is longer than {limit} bytes, the limit for what is held in memory"),
                )
                .in_source(&self.name));
            }
            bytes.extend_from_slice(&buffer[..n_bytes]);
        }
    }

    fn read_head(&mut self, most: usize) -> Result<(), DataError> {
        let mut head = self.pool.take_buffer(most);
        let mut n_bytes = 0;
        while n_bytes < head.len() {
            match self.read_raw(&mut head[n_bytes..])? {
                0 => break,
                n_more => n_bytes += n_more,
            }
        }
        self.head_is_all = n_bytes < head.len();
        head.truncate(n_bytes);
        self.head = head;
        Ok(())
    }

    fn read_raw(&mut self, into: &mut [u8]) -> Result<usize, DataError> {
        loop {
            return match self.reader.read(into) {
                Ok(n_bytes) => Ok(n_bytes),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => Err(self.explain(error)),
            };
        }
    }

    fn explain(&self, error: io::Error) -> DataError {
        let compressed = self.compression != Compression::None;
        match error.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput
                if compressed =>
            {
                let name = self.compression.name();
                let how = if error.kind() == io::ErrorKind::UnexpectedEof {
                    "ends too early".to_owned()
                } else {
                    format!("is damaged: {error}")
                };
                DataError::new(
                    ErrorKind::Compression,
                    format!("the {name} stream {how}, expected it to be whole"),
                )
                .with_help(format!("test the file with `{name} -t`, and get it again"))
            }
            io::ErrorKind::FileTooLarge if compressed => {
                let message = format!("{error}, expected less, as of rows of data");
                DataError::new(ErrorKind::Limit, message)
                    .with_help("if that is as it should be, unpack it first")
            }
            _ => DataError::io("reading", error),
        }
        .in_source(&self.name)
    }
}

impl Read for Input {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.read_some(into).map_err(io::Error::other)
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        self.pool.give_buffer(std::mem::take(&mut self.head));
    }
}

/// A file that must have at least the bytes it had when it was opened.
struct Whole {
    file: File,
    n_left: u64,
}

impl Read for Whole {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n_read = self.file.read(into)?;
        if n_read == 0 && self.n_left > 0 && !into.is_empty() {
            let message = format!("the file was cut while it was being read: {} bytes are gone", self.n_left);
            return Err(io::Error::other(message));
        }
        self.n_left = self.n_left.saturating_sub(n_read as u64);
        Ok(n_read)
    }
}

/// A stream through a buffer of the pool.
struct Buffered {
    reader: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    /// The unread bytes are `buffer[start..end]`.
    start: usize,
    end: usize,
    pool: Arc<Pool>,
}

impl Buffered {
    /// Reads `head`, no longer than a buffer, and then what `reader` has.
    fn new(reader: Box<dyn Read + Send>, head: &[u8], pool: &Arc<Pool>) -> Self {
        let mut buffer = pool.take_buffer(READ_BYTES);
        buffer[..head.len()].copy_from_slice(head);
        Self { reader, buffer, start: 0, end: head.len(), pool: Arc::clone(pool) }
    }
}

impl BufRead for Buffered {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.start == self.end {
            (self.start, self.end) = (0, self.reader.read(&mut self.buffer)?);
        }
        Ok(&self.buffer[self.start..self.end])
    }

    fn consume(&mut self, n_bytes: usize) {
        self.start = (self.start + n_bytes).min(self.end);
    }
}

impl Read for Buffered {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n_bytes = self.fill_buf()?.read(into)?;
        self.consume(n_bytes);
        Ok(n_bytes)
    }
}

impl Drop for Buffered {
    fn drop(&mut self) {
        self.pool.give_buffer(std::mem::take(&mut self.buffer));
    }
}

impl std::fmt::Debug for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Input")
            .field("name", &self.name)
            .field("compression", &self.compression)
            .finish_non_exhaustive()
    }
}

fn cannot_open(path: &Path, error: io::Error) -> DataError {
    let name = path.display().to_string();
    if error.kind() == io::ErrorKind::NotFound {
        let missing = DataError::new(ErrorKind::Io, "there is no such file").in_source(&name);
        return match meant(path) {
            Some(help) => missing.with_help(help),
            None => missing,
        };
    }
    DataError::io("opening", error).in_source(&name)
}

/// Of this many files of a folder one may have been meant.
const MOST_NEIGHBOURS: usize = 10_000;

/// What may have been meant by the name of a file that is not there.
fn meant(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    if path.to_str().is_some_and(|whole| whole.contains("://")) {
        return Some(
            "this is an address, and nothing is fetched: download it first, or pipe it in as `-`".to_owned(),
        );
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = fs::read_dir(folder).ok()?.flatten().take(MOST_NEIGHBOURS);
    let names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let meant = closest(name, names.iter().map(String::as_str))?;
    Some(format!(
        "did you mean `{}`?",
        crate::error::harmless(&path.with_file_name(meant).display().to_string())
    ))
}

/// What is in a folder, by name, hidden and `_` entries left out.
pub(crate) fn sorted_entries(folder: &Path) -> Result<Vec<PathBuf>, DataError> {
    let fail = |error| DataError::io("listing", error).in_source(&folder.display().to_string());
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        if !matches!(entry.file_name().as_encoded_bytes(), [b'.' | b'_', ..]) {
            entries.push(entry.path());
        }
    }
    entries.sort();
    Ok(entries)
}

/// Whether `name` is like `pattern`: `*` any bytes, `?` one, `[ab-d]` one of these.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    // The place of the last star and of what it stands for so far: enough to try again, in linear space.
    let mut star: Option<(usize, usize)> = None;
    let (mut p, mut n) = (0, 0);
    while n < name.len() {
        let step = match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, n));
                p += 1;
                continue;
            }
            Some(b'?') => Some(1),
            Some(b'[') => one_of(&pattern[p..], name[n]),
            Some(&byte) => (byte == name[n]).then_some(1),
            None => None,
        };
        if let Some(width) = step {
            p += width;
            n += 1;
        } else if let Some((star_at, taken)) = star {
            star = Some((star_at, taken + 1));
            p = star_at + 1;
            n = taken + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|&byte| byte == b'*')
}

/// The length of the `[…]` at the start of `pattern`, if it admits `byte`.
fn one_of(pattern: &[u8], byte: u8) -> Option<usize> {
    let close = pattern.iter().skip(2).position(|&b| b == b']')? + 2;
    let mut set = &pattern[1..close];
    while let [first, rest @ ..] = set {
        if let [b'-', last, tail @ ..] = rest {
            if (*first..=*last).contains(&byte) {
                return Some(close + 1);
            }
            set = tail;
        } else {
            if *first == byte {
                return Some(close + 1);
            }
            set = rest;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, name, expected) in [
            ("*.csv", "a.csv", true),
            ("*.csv", "a.csv.gz", false),
            ("part-?", "part-7", true),
            ("part-?", "part-", false),
            ("a*b*c", "a__b_b_c", true),
            ("a*b*c", "a__b_b_", false),
            ("x[0-2b]", "x1", true),
            ("x[0-2b]", "xb", true),
            ("x[0-2b]", "x3", false),
            ("[", "a", false),
            ("*", "", true),
        ] {
            assert_eq!(matches(pattern.as_bytes(), name.as_bytes()), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn folders_and_globs_come_sorted_and_without_hidden_files() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.csv", "a.csv", ".hidden.csv", "_SUCCESS", "c.txt"] {
            fs::write(folder.path().join(name), name).unwrap();
        }
        let names = |source: Source| -> Vec<String> {
            let short = |part: &Part| part.name().rsplit('/').next().unwrap_or_default().to_owned();
            source.parts().iter().map(short).collect()
        };
        assert_eq!(names(Source::find(folder.path()).unwrap()), ["a.csv", "b.csv", "c.txt"]);
        assert_eq!(names(Source::find(folder.path().join("*.csv")).unwrap()), ["a.csv", "b.csv"]);
        assert_eq!(Source::find(folder.path().join("*.json")).unwrap_err().kind(), ErrorKind::Io);
        assert_eq!(Source::find(folder.path().join("none")).unwrap_err().kind(), ErrorKind::Io);
        fs::create_dir(folder.path().join("class")).unwrap();
        let whole = Source::find(folder.path()).unwrap();
        assert!(matches!(whole.parts(), [Part::Folder(_)]));
    }

    #[test]
    fn the_head_is_seen_and_read_all_the_same() {
        let plain: Vec<u8> = (0..200_000_u32).map(|i| b'a' + (i % 26) as u8).collect();
        let mut input = Source::bytes("x.SVM.gz", plain.clone()).parts()[0].open().unwrap();
        assert_eq!(input.extension().as_deref(), Some("svm"));
        assert_eq!(input.head(), &plain[..HEAD_BYTES]);
        assert!(!input.head_is_all());
        let mut all = Vec::new();
        input.read_to_end(&mut all).unwrap();
        assert_eq!(all, plain);
        let short = Source::bytes("x", *b"abc").parts()[0].open().unwrap();
        assert!(short.head_is_all());
        assert_eq!(short.into_bytes(2).unwrap_err().kind(), ErrorKind::Limit);
    }

    #[test]
    fn a_file_that_is_cut_while_it_is_read_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        fs::write(&path, vec![b'7'; 300_000]).unwrap();
        let mut input = Source::file(&path).parts()[0].open().unwrap();
        File::options().write(true).open(&path).unwrap().set_len(100_000).unwrap();
        let error = input.read_to_end(&mut Vec::new()).unwrap_err();
        assert!(error.to_string().contains("cut while it was being read: 200000 bytes are gone"), "{error}");
        // One that grows is read as far as it goes.
        fs::write(&path, vec![b'7'; 300_000]).unwrap();
        let mut input = Source::file(&path).parts()[0].open().unwrap();
        File::options().write(true).open(&path).unwrap().set_len(400_000).unwrap();
        assert_eq!(input.read_to_end(&mut Vec::new()).unwrap(), 400_000);
    }

    #[test]
    fn a_cut_stream_is_an_error_with_its_name() {
        use std::io::Write;
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(&[b'7'; 1000]).unwrap();
        let mut gz = encoder.finish().unwrap();
        gz.pop();
        let outcome = Source::bytes("train.csv.gz", gz.clone()).parts()[0].open();
        let error = outcome.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Compression);
        assert!(error.to_string().starts_with("train.csv.gz: the gzip stream"), "{error}");
    }

    /// A frame of `n_blocks` blocks that each repeat `byte` as often as a block may.
    fn flood(byte: u8, n_blocks: usize) -> Vec<u8> {
        let mut bytes = b"\x28\xB5\x2F\xFD\x00\x38".to_vec();
        for block in 1..=n_blocks {
            let header = (128_u32 << 10) << 3 | 1 << 1 | u32::from(block == n_blocks);
            bytes.extend_from_slice(&header.to_le_bytes()[..3]);
            bytes.push(byte);
        }
        bytes
    }

    #[test]
    fn few_packed_bytes_do_not_unfold_to_any_number() {
        // 4 GB in 128 kB, were they believed.
        let source = Source::bytes("flood.svm.zst", flood(b'\n', 32_000));
        let mut input = source.parts()[0].open().unwrap();
        let mut buffer = vec![0; 1 << 20];
        let mut n_bytes = 0;
        let error = loop {
            match input.read_some(&mut buffer) {
                Ok(n_read) => n_bytes += n_read,
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
        assert!(n_bytes as u64 <= UNPACKED_AT_LEAST + (2 << 20), "{n_bytes}");
        // As much as any small file may hold.
        let mut input = Source::bytes("t.svm.zst", flood(b'\n', 500)).parts()[0].open().unwrap();
        assert_eq!(input.read_to_end(&mut Vec::new()).unwrap(), 500 * (128 << 10));
    }

    #[test]
    fn a_line_is_too_long_before_it_is_held() {
        let text = [&b"a\nb\n"[..], &vec![b'x'; 3 << 20]].concat();
        let input = || Source::bytes("t.tsv", text.clone()).parts()[0].open().unwrap();
        let error = input().into_lines(1 << 30, 1 << 20).unwrap_err();
        assert_eq!((error.kind(), error.position().line), (ErrorKind::Limit, Some(3)), "{error}");
        assert_eq!(input().into_lines(1 << 30, 4 << 20).unwrap(), text);
    }
}
