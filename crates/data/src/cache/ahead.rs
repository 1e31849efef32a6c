//! The blocks of a cache, read and checked on a thread of their own while the one before is learned from.
//!
//! A learner visits rows one after the other, so that a second core can only help by having the next ones ready. The
//! thread is started by the first block of a pass and ends with the last one.

use crate::cache::file::CacheReader;
use crate::error::{DataError, ErrorKind};
use crate::rows::block::Block;
use std::fs::File;
use std::mem;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

/// How many blocks go round: one is learned from, one is ready, one is read.
const N_BLOCKS: usize = 3;

type Reader = CacheReader<File>;

/// A cache that is read ahead.
#[derive(Debug)]
pub(crate) struct Ahead {
    pass: Pass,
    /// What was lent last.
    lent: Option<Block>,
    /// Unused blocks.
    spare: Vec<Block>,
}

#[derive(Debug)]
enum Pass {
    /// None of its blocks was asked for yet.
    Ready(Box<Reader>),
    Begun {
        filled: Receiver<Result<Option<Block>, DataError>>,
        used: Sender<Block>,
        thread: JoinHandle<Box<Reader>>,
    },
    Over(Box<Reader>),
    /// The thread could not be started, or ended otherwise than it should.
    Lost,
}

impl Ahead {
    pub(crate) fn new(reader: Reader) -> Self {
        let spare = (0..N_BLOCKS).map(|_| Block::default()).collect();
        Self { pass: Pass::Ready(Box::new(reader)), lent: None, spare }
    }

    /// The next block of this pass; `None` at its end. An error is the end, too.
    pub(crate) fn next(&mut self) -> Result<Option<&Block>, DataError> {
        if let Pass::Ready(_) = self.pass {
            self.begin()?;
        }
        let Pass::Begun { filled, used, .. } = &self.pass else { return Ok(None) };
        if let Some(block) = self.lent.take() {
            // The thread may have come to the end; then the block waits for the next pass.
            if let Err(unsent) = used.send(block) {
                self.spare.push(unsent.0);
            }
        }
        match filled.recv() {
            Ok(Ok(Some(block))) => Ok(Some(self.lent.insert(block))),
            Ok(Ok(None)) => self.end().map(|()| None),
            Ok(Err(error)) => self.end().and(Err(error)),
            Err(_) => self.end().and(Err(gone())),
        }
    }

    /// Begins another pass.
    pub(crate) fn rewind(&mut self) -> Result<(), DataError> {
        self.end()?;
        match mem::replace(&mut self.pass, Pass::Lost) {
            Pass::Ready(mut reader) | Pass::Over(mut reader) => {
                let rewound = reader.rewind();
                self.pass = Pass::Ready(reader);
                rewound
            }
            Pass::Begun { .. } | Pass::Lost => Err(gone()),
        }
    }

    fn begin(&mut self) -> Result<(), DataError> {
        let Pass::Ready(mut reader) = mem::replace(&mut self.pass, Pass::Lost) else { return Err(gone()) };
        let (filled_in, filled) = channel();
        let (used, used_out) = channel::<Block>();
        self.spare.extend(self.lent.take());
        for block in self.spare.drain(..) {
            let _ = used.send(block);
        }
        let work = move || {
            while let Ok(mut block) = used_out.recv() {
                let read = reader.next(&mut block).map(|more| more.then_some(block));
                let more = matches!(read, Ok(Some(_)));
                if filled_in.send(read).is_err() || !more {
                    break;
                }
            }
            reader
        };
        let thread = thread::Builder::new().name("cache".to_owned()).spawn(work);
        let thread = thread.map_err(|error| DataError::io("starting a thread", error))?;
        self.pass = Pass::Begun { filled, used, thread };
        Ok(())
    }

    /// Ends the pass, wherever it is.
    fn end(&mut self) -> Result<(), DataError> {
        self.pass = match mem::replace(&mut self.pass, Pass::Lost) {
            Pass::Begun { filled, used, thread } => {
                drop(used);
                // What was read ahead is used again, and the thread learns that no more is wanted.
                self.spare.extend(filled.try_iter().filter_map(|read| read.ok().flatten()));
                drop(filled);
                Pass::Over(thread.join().map_err(|_| gone())?)
            }
            other => other,
        };
        self.spare.extend(self.lent.take());
        self.spare.resize_with(N_BLOCKS, Block::default);
        Ok(())
    }
}

#[cold]
fn gone() -> DataError {
    DataError::new(ErrorKind::Internal, "the thread that reads the cache is gone, expected more rows")
}
