//! Where written bytes go: a file that is whole or not there, or standard output; compressed by its name.
//!
//! A file is written beside its target under another name, synchronised, and only then given the target's
//! name: there is the old file or the whole new one, never half of it. A name that ends in `.gz` or `.zst` is
//! written compressed, as one member or frame with a checksum, since not every reader looks for a second one.
//! What is written to standard output cannot be taken back.

use crate::bytes::panics;
use crate::error::{DataError, ErrorKind};
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, FrameCompressor};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

/// How many bytes are gathered before they are written.
pub(crate) const BUFFER_BYTES: usize = 256 << 10;

/// How many buffers wait for the compressor.
const WAITING: usize = 4;

/// Whether `target` stands for standard output.
pub(crate) fn is_stdout(target: &Path) -> bool {
    target == Path::new("-")
}

/// A path beside `target` that nobody else uses.
pub(crate) fn beside(target: &Path, purpose: &str) -> PathBuf {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    // Names may be as long as the file system allows, so the target's is not made part of it.
    let name = format!(".rosenblatt-{}-{number}.{purpose}.tmp", std::process::id());
    target.with_file_name(name)
}

/// A file that takes its target's name only once it is whole, or standard output.
pub struct NewFile {
    name: String,
    /// Where it is to be and where it is meanwhile; standard output is nowhere.
    paths: Option<(PathBuf, PathBuf)>,
    writer: Option<Output>,
}

enum Output {
    Stdout(io::Stdout),
    Plain(BufWriter<File>),
    Gzip(Box<GzEncoder<BufWriter<File>>>),
    Zstd(Zstd),
}

impl NewFile {
    /// Opens a new file that will stand at `target`; its name says whether it is compressed.
    pub fn create(target: &Path) -> Result<Self, DataError> {
        if is_stdout(target) {
            let writer = Some(Output::Stdout(io::stdout()));
            return Ok(Self { name: "stdout".to_owned(), paths: None, writer });
        }
        let name = target.display().to_string();
        if target.is_dir() {
            let message = "this is a folder, expected a file to write";
            return Err(DataError::new(ErrorKind::Io, message).in_source(&name));
        }
        // Behind a link stands the file that is meant.
        let target = fs::canonicalize(target).unwrap_or_else(|_| target.to_owned());
        let temporary = beside(&target, "new");
        let fail = |error| DataError::io("creating the file", error).in_source(&name);
        let file = File::options().write(true).create_new(true).open(&temporary).map_err(fail)?;
        let plain = BufWriter::with_capacity(BUFFER_BYTES, file);
        let extension = target.extension().unwrap_or_default().to_ascii_lowercase();
        let writer = match extension.to_str() {
            Some("gz") => Ok(Output::Gzip(Box::new(GzEncoder::new(plain, flate2::Compression::default())))),
            Some("zst") => Zstd::start(plain).map(Output::Zstd),
            _ => Ok(Output::Plain(plain)),
        };
        // From here on a failure takes the temporary file away.
        let mut new = Self { name: name.clone(), paths: Some((target, temporary)), writer: None };
        new.writer = Some(writer.map_err(fail)?);
        Ok(new)
    }

    /// What to call it in errors.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Appends to it.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), DataError> {
        let outcome = match &mut self.writer {
            Some(Output::Stdout(writer)) => writer.write_all(bytes),
            Some(Output::Plain(writer)) => writer.write_all(bytes),
            Some(Output::Gzip(writer)) => writer.write_all(bytes),
            Some(Output::Zstd(writer)) => writer.write_all(bytes),
            None => Ok(()),
        };
        outcome.map_err(|error| self.explain(error))
    }

    pub(crate) fn explain(&self, error: io::Error) -> DataError {
        DataError::io("writing", error).in_source(&self.name)
    }

    /// Puts it in its place.
    pub fn finish(mut self) -> Result<(), DataError> {
        let outcome = (|| {
            let plain = match self.writer.take() {
                Some(Output::Stdout(mut writer)) => return writer.flush(),
                Some(Output::Plain(writer)) => writer,
                Some(Output::Gzip(writer)) => writer.finish()?,
                Some(Output::Zstd(writer)) => writer.finish()?,
                None => return Ok(()),
            };
            let Some((target, temporary)) = &self.paths else { return Ok(()) };
            let file = plain.into_inner().map_err(io::IntoInnerError::into_error)?;
            // A failed synchronisation is final: what was written may be lost.
            file.sync_all()?;
            fs::rename(temporary, target)?;
            let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
            // The new name must survive, too; where folders cannot be opened there is nothing to do.
            if let Ok(folder) = File::open(folder.unwrap_or(Path::new("."))) {
                folder.sync_all()?;
            }
            Ok(())
        })();
        outcome.map_err(|error| self.explain(error))
    }
}

impl fmt::Debug for NewFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewFile").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        // The compressor's thread lets go of the file before it is removed.
        drop(self.writer.take());
        if let Some((_, temporary)) = &self.paths {
            // After a rename there is nothing left to remove.
            let _ = fs::remove_file(temporary);
        }
    }
}

/// A zstd frame that is compressed on a thread of its own: the compressor wants to be fed, not called.
struct Zstd {
    feed: Option<SyncSender<Vec<u8>>>,
    thread: Option<JoinHandle<io::Result<BufWriter<File>>>>,
}

impl Zstd {
    fn start(out: BufWriter<File>) -> io::Result<Self> {
        let (feed, fed) = sync_channel(WAITING);
        let thread = thread::Builder::new().name("zstd".to_owned()).spawn(move || {
            let mut drain = Drain { out, failure: None };
            let whole = panics::catch(|| {
                let mut frame = FrameCompressor::new(CompressionLevel::Fastest);
                frame.set_source(Fed { pieces: fed, piece: Vec::new(), at: 0 });
                frame.set_drain(&mut drain);
                frame.compress();
            });
            match (drain.failure, whole) {
                (Some(failure), _) => Err(failure),
                (None, None) => Err(io::Error::other("the zstd compressor gave up")),
                (None, Some(())) => Ok(drain.out),
            }
        })?;
        Ok(Self { feed: Some(feed), thread: Some(thread) })
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let sent = self.feed.as_ref().is_some_and(|feed| feed.send(bytes.to_vec()).is_ok());
        // If nobody takes it, the thread knows why.
        if sent { Ok(()) } else { self.join().map(|_| ()) }
    }

    fn finish(mut self) -> io::Result<BufWriter<File>> {
        self.join()
    }

    fn join(&mut self) -> io::Result<BufWriter<File>> {
        self.feed = None;
        let gone = || io::Error::other("the zstd compressor is gone");
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_else(|| Err(gone()))
    }
}

impl Drop for Zstd {
    fn drop(&mut self) {
        let _ = self.join();
    }
}

/// Pieces that come through a channel, as one stream.
struct Fed {
    pieces: Receiver<Vec<u8>>,
    piece: Vec<u8>,
    at: usize,
}

impl Read for Fed {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.at == self.piece.len() {
            let Ok(next) = self.pieces.recv() else { return Ok(0) };
            (self.piece, self.at) = (next, 0);
        }
        let n_bytes = into.len().min(self.piece.len() - self.at);
        into[..n_bytes].copy_from_slice(&self.piece[self.at..self.at + n_bytes]);
        self.at += n_bytes;
        Ok(n_bytes)
    }
}

/// Keeps the first failure to itself: the compressor panics if it is told of one.
struct Drain {
    out: BufWriter<File>,
    failure: Option<io::Error>,
}

impl Write for Drain {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.failure.is_none() {
            self.failure = self.out.write_all(bytes).err();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
