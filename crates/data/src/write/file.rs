//! Where written bytes go: a [draft](crate::files), compressed by the name it will have.
//!
//! A name that ends in `.gz` or `.zst` is written compressed, as one member or frame with a checksum, since not every
//! reader looks for a second one.

use crate::bytes::panics;
use crate::error::DataError;
use crate::files::{Draft, is_stdout};
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, FrameCompressor};
use std::fmt;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

/// How many bytes are gathered before they are written.
pub(crate) const BUFFER_BYTES: usize = 256 << 10;

/// How many buffers wait for the compressor.
const WAITING: usize = 4;

/// A file that takes its target's name only once it is whole.
pub struct NewFile {
    name: String,
    writer: Option<Output>,
}

enum Output {
    Plain(BufWriter<Draft>),
    Gzip(Box<GzEncoder<BufWriter<Draft>>>),
    Zstd(Zstd),
}

impl NewFile {
    /// Opens a new file that will stand at `target`; its name says whether it is compressed.
    pub fn create(target: &Path) -> Result<Self, DataError> {
        let name = if is_stdout(target) { "stdout".to_owned() } else { target.display().to_string() };
        let fail = |error| DataError::io("creating the file", error).in_source(&name);
        let plain = BufWriter::with_capacity(BUFFER_BYTES, Draft::create(target)?);
        let extension = target.extension().unwrap_or_default().to_ascii_lowercase();
        let writer = match extension.to_str() {
            Some("gz") => Output::Gzip(Box::new(GzEncoder::new(plain, flate2::Compression::default()))),
            Some("zst") => Output::Zstd(Zstd::start(plain).map_err(fail)?),
            _ => Output::Plain(plain),
        };
        Ok(Self { name, writer: Some(writer) })
    }

    /// What to call it in errors.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Appends to it.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), DataError> {
        let outcome = match &mut self.writer {
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
        let plain = match self.writer.take() {
            Some(Output::Plain(writer)) => Ok(writer),
            Some(Output::Gzip(writer)) => writer.finish(),
            Some(Output::Zstd(writer)) => writer.finish(),
            None => return Ok(()),
        };
        let draft = plain.and_then(|plain| plain.into_inner().map_err(io::IntoInnerError::into_error));
        let whole = draft.and_then(|mut draft| draft.flush().map(|()| draft));
        whole.map_err(|error| self.explain(error))?.place().map_err(DataError::from)
    }
}

impl fmt::Debug for NewFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewFile").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A zstd frame that is compressed on a thread of its own: the compressor wants to be fed, not called.
struct Zstd {
    feed: Option<SyncSender<Vec<u8>>>,
    thread: Option<JoinHandle<io::Result<BufWriter<Draft>>>>,
}

impl Zstd {
    fn start(out: BufWriter<Draft>) -> io::Result<Self> {
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
        // If it is not taken, the thread knows why.
        if sent { Ok(()) } else { self.join().map(|_| ()) }
    }

    fn finish(mut self) -> io::Result<BufWriter<Draft>> {
        self.join()
    }

    fn join(&mut self) -> io::Result<BufWriter<Draft>> {
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

/// Keeps the first failure to itself: the compressor panics if it gets one.
struct Drain {
    out: BufWriter<Draft>,
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
