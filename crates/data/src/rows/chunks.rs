//! Text parsed chunk by chunk, on one thread or several, with the same outcome.
//!
//! A chunk is as many whole lines as a [`Window`] holds. Its parser sees nothing else, so that chunks can be
//! parsed on any thread in any order; they are put back in order before they are handed out, and rows and
//! lines are counted only then. Where one chunk ends and the next begins depends on the text alone: one
//! thread and ten give the same blocks. There are a few more buffers than threads, and they go round: a
//! reader whose blocks are not taken stops by itself. Threads and buffers are lent by a [`Pool`], to which they
//! go back. A chunk that cannot be understood without what follows
//! it (a quoted cell may run on) ends the parallel part: from there on, one thread reads.

use crate::bytes::pool::Pool;
use crate::bytes::window::{Chunk, Taken, WINDOW_BYTES, Window};
use crate::error::{DataError, ErrorKind, Mistake, Position};
use crate::rows::block::Block;
use crate::rows::gaps::Gaps;
use rosenblatt_core::threads;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

/// Chunks beyond one per thread: what waits for its turn.
const SPARE_CHUNKS: usize = 2;

/// More threads than this are of no use.
const MAX_THREADS: usize = 64;

/// What turns lines into rows. Every thread has a clone of its own.
pub(crate) trait Parse: Clone + Send + 'static {
    /// Empties `block` for rows of this parser's kind.
    fn clear(&self, block: &mut Block);

    /// Adds the rows of `text`, which is whole lines, to `block`. Returns how many bytes it took, and how
    /// many lines end in them; no bytes if a record goes on after the text.
    fn parse(&mut self, text: &[u8], block: &mut Block) -> Result<(usize, u64), Stopped>;

    /// Whether all records that begin in `text` end in it.
    fn stands_alone(&self, _text: &[u8]) -> bool {
        true
    }

    /// Whether rows depend on the rows before, so that one thread must read them all.
    fn has_memory(&self) -> bool {
        false
    }

    /// What is wrong with a record that goes on after the end of everything.
    fn unfinished(&mut self, _text: &[u8]) -> Box<Mistake> {
        Mistake::new(ErrorKind::Syntax, 0..0, "the last record never ends, expected it to")
    }
}

/// Where parsing stopped, and why.
#[derive(Debug, Clone)]
pub(crate) struct Stopped {
    pub(crate) mistake: Box<Mistake>,
    /// Lines that ended before the record.
    pub(crate) line_idx: u64,
    /// Where the record begins; the mistake's place is counted from there.
    pub(crate) start: usize,
}

/// How many threads are meant by `wanted`: 0 stands for one per core.
pub(crate) fn n_threads(wanted: usize) -> usize {
    let n_threads = match wanted {
        0 => threads::available(),
        n_threads => n_threads,
    };
    n_threads.min(MAX_THREADS)
}

/// The blocks of a text, one per chunk.
pub(crate) struct Chunks<P: Parse> {
    parser: P,
    state: State,
    n_rows: u64,
}

enum State {
    Alone(Box<Window>),
    Together(Crew),
    Over,
}

impl<P: Parse> Chunks<P> {
    /// The blocks that `parser` makes of what is left in `window`, on `threads` threads.
    pub(crate) fn new(window: Window, parser: P, threads: usize) -> Self {
        Self::with_threads(window, parser, if threads == 1 { 1 } else { n_threads(threads) })
    }

    fn with_threads(window: Window, parser: P, n_threads: usize) -> Self {
        // A page has one thread.
        let is_alone = cfg!(target_family = "wasm") || n_threads < 2;
        let state = if is_alone || window.is_short() || parser.has_memory() {
            State::Alone(Box::new(window))
        } else {
            State::Together(Crew::start(window, &parser, n_threads))
        };
        Self { parser, state, n_rows: 0 }
    }

    /// The parser, with whatever it has learned so far.
    pub(crate) fn parser(&self) -> &P {
        &self.parser
    }

    /// Empties `into` and fills it with the next rows, at least one; `false` at the end.
    pub(crate) fn read(&mut self, into: &mut Block) -> Result<bool, DataError> {
        self.parser.clear(into);
        into.first_row = self.n_rows;
        while into.is_empty() {
            // What was left out in chunks without a row is not forgotten.
            let n_left_out = into.n_dropped() + into.n_skipped();
            let more = match &mut self.state {
                State::Over => false,
                State::Alone(window) => read_alone(window, &mut self.parser, into, self.n_rows)?,
                State::Together(crew) => match crew.next(into, self.n_rows + n_left_out)? {
                    Next::Rows(earlier) => {
                        into.first_row = self.n_rows;
                        into.gaps.put_before(earlier);
                        true
                    }
                    Next::End => {
                        self.state = State::Over;
                        false
                    }
                    Next::Rest(window) => {
                        self.state = State::Alone(window);
                        true
                    }
                },
            };
            if !more {
                self.n_rows += into.n_rows_seen();
                return Ok(false);
            }
        }
        into.finish_weights();
        self.n_rows += into.n_rows_seen();
        Ok(true)
    }
}

/// What the parser makes of a chunk. One without a letter has no rows, in any format of lines: a few packed bytes may
/// unfold to millions of line ends, which no parser should look at one by one.
fn parse<P: Parse>(parser: &mut P, text: &[u8], block: &mut Block) -> Result<(usize, u64), Stopped> {
    if text.first() == Some(&b'\n') && text.iter().all(|&byte| byte == b'\n') {
        return Ok((text.len(), text.len() as u64));
    }
    parser.parse(text, block)
}

/// One chunk, here and now. `false` if there is none.
fn read_alone<P: Parse>(
    window: &mut Window,
    parser: &mut P,
    into: &mut Block,
    first_row: u64,
) -> Result<bool, DataError> {
    if window.lines()?.is_empty() {
        return Ok(false);
    }
    let row = |block: &Block| first_row + block.n_rows_seen() + 1;
    match parse(parser, window.lines()?, into) {
        Ok((0, _)) => {
            if !window.more_lines()? {
                let (line, name) = (window.line(), window.name().clone());
                let text = window.lines()?;
                return Err(parser.unfinished(text).locate(&name, text, line, row(into), false));
            }
        }
        Ok((n_bytes, n_lines)) => {
            let (line, name) = (window.line(), window.name().clone());
            into.gaps.place(&name, window.lines()?, line, first_row);
            window.consume(n_bytes, n_lines);
        }
        Err(Stopped { mistake, line_idx, start }) => {
            let (line, ends_inside) = (window.line() + line_idx, window.ends_inside_line());
            let name = window.name().clone();
            let text = window.lines()?;
            return Err(mistake.locate(&name, &text[start..], line, row(into), ends_inside));
        }
    }
    Ok(true)
}

/// Threads that parse, and what they have to say.
struct Crew {
    feed: Arc<Mutex<Feed>>,
    done: Receiver<Done>,
    free: Sender<Job>,
    /// What came before its turn.
    early: Vec<Done>,
    next: u64,
    line: u64,
    name: Arc<str>,
    pool: Arc<Pool>,
}

/// Where the threads get their work.
struct Feed {
    window: Option<Box<Window>>,
    free: Receiver<Job>,
    n_given: u64,
}

/// The buffers of one chunk.
struct Job {
    chunk: Chunk,
    block: Block,
}

impl Job {
    fn take(pool: &Pool) -> Self {
        Self { chunk: Chunk::new(pool.take_buffer(WINDOW_BYTES)), block: pool.take_spare() }
    }

    fn give(self, pool: &Pool) {
        pool.give_buffer(self.chunk.into_buffer());
        pool.give_spare(self.block);
    }
}

struct Done {
    number: u64,
    job: Job,
    outcome: Outcome,
}

enum Outcome {
    Parsed(u64),
    Stopped(Stopped),
    Failed(DataError),
    Panicked,
    End,
    /// The next chunk does not stand alone; the window still has it.
    Rest(Box<Window>),
}

enum Next {
    /// And what the block had left out before.
    Rows(Gaps),
    End,
    Rest(Box<Window>),
}

impl Crew {
    fn start<P: Parse>(window: Window, parser: &P, n_threads: usize) -> Self {
        let (done_in, done) = channel();
        let (free, free_out) = channel();
        let pool = Arc::clone(window.pool());
        for _ in 0..n_threads + SPARE_CHUNKS {
            let _ = free.send(Job::take(&pool));
        }
        let (line, name) = (window.line(), window.name().clone());
        let feed = Arc::new(Mutex::new(Feed { window: Some(Box::new(window)), free: free_out, n_given: 0 }));
        for number in 0..n_threads {
            let (feed, done, parser) = (Arc::clone(&feed), done_in.clone(), parser.clone());
            // With fewer threads than wished for it takes longer; without any, the channel says so.
            pool.run(number, move || work(&feed, &done, parser));
        }
        Self { feed, done, free, early: Vec::new(), next: 0, line, name, pool }
    }

    /// The next chunk in order; its rows take the place of those of `into`.
    fn next(&mut self, into: &mut Block, n_rows: u64) -> Result<Next, DataError> {
        let Done { mut job, outcome, .. } = loop {
            if let Some(place) = self.early.iter().position(|done| done.number == self.next) {
                break self.early.swap_remove(place);
            }
            match self.done.recv() {
                Ok(done) => self.early.push(done),
                Err(_) => return Err(self.gone()),
            }
        };
        self.next += 1;
        match outcome {
            Outcome::Parsed(n_lines) => {
                job.block.gaps.place(&self.name, job.chunk.text(), self.line, n_rows);
                self.line += n_lines;
                std::mem::swap(into, &mut job.block);
                let earlier = std::mem::take(&mut job.block.gaps);
                // The threads may have ended; then the buffers are not needed.
                let _ = self.free.send(job);
                Ok(Next::Rows(earlier))
            }
            Outcome::Stopped(Stopped { mistake, line_idx, start }) => {
                let row = n_rows + job.block.n_rows_seen() + 1;
                let text = &job.chunk.text()[start..];
                let line = self.line + line_idx;
                Err(mistake.locate(&self.name, text, line, row, job.chunk.ends_inside_line()))
            }
            // Windows do not count lines that others parse.
            Outcome::Failed(error) if error.position().line.is_some() => {
                Err(error.at(Position { row: None, line: Some(self.line), column: Some(1) }))
            }
            Outcome::Failed(error) => Err(error),
            Outcome::Panicked => Err(DataError::new(
                ErrorKind::Internal,
                "the reader gave up on this input, expected an error or rows",
            )
            .in_source(&self.name)
            .with_help("this is a bug; please report it with the file")),
            Outcome::End => {
                self.give_back(job);
                Ok(Next::End)
            }
            Outcome::Rest(mut window) => {
                self.give_back(job);
                window.set_line(self.line);
                Ok(Next::Rest(window))
            }
        }
    }

    /// Gives all buffers back to the pool, once the last chunk was parsed: no thread waits for them then.
    fn give_back(&self, last: Job) {
        last.give(&self.pool);
        let Ok(feed) = self.feed.lock() else { return };
        while let Ok(job) = feed.free.try_recv() {
            job.give(&self.pool);
        }
    }

    #[cold]
    fn gone(&self) -> DataError {
        // No thread could be started, or all were ended from outside.
        let left = self.feed.lock().is_ok_and(|feed| feed.window.is_some());
        let message =
            if left { "no thread could be started to parse with" } else { "the parsing threads are gone" };
        DataError::new(ErrorKind::Internal, format!("{message}, expected more rows"))
            .in_source(&self.name)
            .with_help("read with one thread: {threads=1}")
    }
}

/// What a parsing thread does.
fn work<P: Parse>(feed: &Mutex<Feed>, done: &Sender<Done>, mut parser: P) {
    loop {
        let (number, mut job, outcome) = {
            let Ok(mut feed) = feed.lock() else { return };
            let Some(mut window) = feed.window.take() else { return };
            // The thread that waits here holds the place in the queue: numbers are given in the order of the text.
            let Ok(mut job) = feed.free.recv() else { return };
            let number = feed.n_given;
            feed.n_given += 1;
            let taken = catch_unwind(AssertUnwindSafe(|| {
                window.take_chunk(&mut job.chunk, |text| parser.stands_alone(text))
            }));
            let outcome = match taken {
                Ok(Ok(Taken::Chunk)) => {
                    feed.window = Some(window);
                    None
                }
                Ok(Ok(Taken::Nothing)) => Some(Outcome::End),
                Ok(Ok(Taken::Refused)) => Some(Outcome::Rest(window)),
                Ok(Err(error)) => Some(Outcome::Failed(error)),
                Err(_) => Some(Outcome::Panicked),
            };
            (number, job, outcome)
        };
        let is_over = outcome.is_some();
        let outcome = outcome.unwrap_or_else(|| {
            let Job { chunk, block } = &mut job;
            parser.clear(block);
            match catch_unwind(AssertUnwindSafe(|| parse(&mut parser, chunk.text(), block))) {
                Ok(Ok((_, n_lines))) => Outcome::Parsed(n_lines),
                Ok(Err(stopped)) => Outcome::Stopped(stopped),
                Err(_) => Outcome::Panicked,
            }
        });
        if done.send(Done { number, job, outcome }).is_err() || is_over {
            return;
        }
    }
}
