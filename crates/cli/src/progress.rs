//! A line on stderr that tells how far long work has come: a bar, what is done, and the time left.
//!
//! Work that is over in a moment shows nothing. A thread draws it ten times a second, so the work itself need not stop
//! to talk. `NO_COLOR` and `TERM=dumb` are obeyed. Where stderr is no terminal, long work prints a line now and then:
//! every command has a [`Progress`] from its first moment, and its parts lay their own over it.

use crate::ui::{self, bytes, count, duration};
use rosenblatt_data::{Meter, Part, Source, harmless};
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write as _};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Work that takes less is not talked about.
const PATIENCE: Duration = Duration::from_millis(300);
/// The time of a stage is shown from here on.
const SPOKEN: Duration = Duration::from_secs(1);
const BETWEEN: Duration = Duration::from_millis(100);
/// Off a terminal the first line is printed after this time, and then one whenever as much again has passed.
const FIRST_LINE: Duration = Duration::from_secs(4);
const NEXT_LINE: Duration = Duration::from_secs(25);
const BAR_CELLS: usize = 20;

/// A part of the work; its line goes away when this is dropped.
pub(crate) struct Progress {
    /// Its number on the board; none if it is quiet.
    number: Option<u64>,
}

/// What is going on, and what stderr shows of it.
static BOARD: Mutex<Board> = Mutex::new(Board::EMPTY);
static WAKE: Condvar = Condvar::new();

struct Board {
    /// The parts that have begun and not ended, the innermost last.
    parts: Vec<Posted>,
    n_posted: u64,
    /// Whether a thread shows them.
    is_watched: bool,
    is_drawn: bool,
}

struct Posted {
    number: u64,
    /// Whether it is drawn on a terminal, too, and not only printed into a log.
    is_drawn: bool,
    /// When it began; a bar waits for a moment.
    begun: Instant,
    task: Task,
}

/// What is going on.
#[derive(Default)]
struct Task {
    /// When this stage began; the time left is judged by it.
    since: Option<Instant>,
    /// The share that is done, if that is known, and since when.
    done: Option<(f64, Instant)>,
    text: String,
    /// What is being read, and its size if that is known.
    reading: Option<(Meter, Option<u64>)>,
}

impl Progress {
    /// A bar on the terminal, if it is to be `shown`; a line now and then where there is none. Nothing if it is to be
    /// quiet.
    pub(crate) fn new(shown: bool) -> Self {
        if ui::is_quiet() {
            return Self { number: None };
        }
        let mut board = Board::lock();
        let number = board.post(shown);
        if !board.is_watched {
            let is_terminal =
                io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
            let watch = if is_terminal { paint } else { print };
            // Without a thread the work is done all the same.
            board.is_watched = thread::Builder::new().name("progress".to_owned()).spawn(watch).is_ok();
        }
        Self { number: Some(number) }
    }

    /// What is printed of a command while none of its parts has a line of its own.
    pub(crate) fn of_command(name: &str) -> Self {
        let progress = Self::new(false);
        progress.stage(name);
        progress
    }

    /// Says what is done, and which share of all there is to do.
    pub(crate) fn show(&self, done: Option<f64>, text: impl FnOnce() -> String) {
        self.change(|task| task.show(done, text()));
    }

    /// Begins a stage of work.
    pub(crate) fn stage(&self, text: &str) {
        self.change(|task| {
            *task = Task { since: Some(Instant::now()), text: text.to_owned(), ..Task::default() }
        });
    }

    /// Begins a stage in which `source` is read, `times` times over.
    pub(crate) fn reading(&self, source: &Source, meter: &Meter, times: u64) {
        let size = size(source).map(|size| size * times);
        self.change(|task| {
            *task = Task {
                since: Some(Instant::now()),
                text: format!("reading {}", source.name()),
                reading: Some((meter.clone(), size)),
                ..Task::default()
            };
        });
    }

    fn change(&self, change: impl FnOnce(&mut Task)) {
        let mut board = Board::lock();
        if let Some(posted) = board.parts.iter_mut().find(|posted| Some(posted.number) == self.number) {
            change(&mut posted.task);
        }
    }

    /// Wipes the bar away: what follows is the result.
    pub(crate) fn end(&mut self) {
        let Some(number) = self.number.take() else { return };
        let mut board = Board::lock();
        board.parts.retain(|posted| posted.number != number);
        board.wipe();
        if board.parts.is_empty() {
            WAKE.notify_all();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.end();
    }
}

impl Board {
    const EMPTY: Self = Self { parts: Vec::new(), n_posted: 0, is_watched: false, is_drawn: false };

    fn lock() -> MutexGuard<'static, Self> {
        BOARD.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a part, and gives its number.
    fn post(&mut self, is_drawn: bool) -> u64 {
        self.n_posted += 1;
        let number = self.n_posted;
        self.parts.push(Posted { number, is_drawn, begun: Instant::now(), task: Task::default() });
        number
    }

    /// The innermost part that has something to show.
    fn top(&self, is_drawn: bool) -> Option<&Posted> {
        let has_words = |task: &Task| !task.text.is_empty() || task.reading.is_some();
        let mut parts = self.parts.iter().rev();
        parts.find(|posted| (posted.is_drawn || !is_drawn) && has_words(&posted.task))
    }

    fn wipe(&mut self) {
        if std::mem::take(&mut self.is_drawn) {
            let _ = write!(io::stderr(), "\r\x1b[2K");
            let _ = io::stderr().flush();
        }
    }
}

/// How many bytes there are to read; `None` for pipes and folders.
fn size(source: &Source) -> Option<u64> {
    let size = |part: &Part| match part {
        Part::File(path) => {
            std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file).map(|file| file.len())
        }
        Part::Bytes(_, bytes) => Some(bytes.len() as u64),
        _ => None,
    };
    source.parts().iter().map(size).sum()
}

fn paint() {
    let colour = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let mut board = Board::lock();
    while !board.parts.is_empty() {
        if let Some(posted) = board.top(true).filter(|posted| posted.begun.elapsed() >= PATIENCE) {
            let width =
                terminal_size::terminal_size_of(io::stderr()).map_or(80, |(width, _)| width.0 as usize);
            let line = posted.task.line(width.saturating_sub(1), colour);
            // If it cannot be written, the work goes on.
            let _ = write!(io::stderr(), "\r\x1b[2K{line}");
            let _ = io::stderr().flush();
            board.is_drawn = true;
        }
        board = wait(board);
    }
    board.is_watched = false;
}

/// Lines now and then, for a log.
fn print() {
    let mut board = Board::lock();
    let (begun, mut next) = (Instant::now(), FIRST_LINE);
    while !board.parts.is_empty() {
        if let Some(posted) = board.top(false).filter(|_| begun.elapsed() >= next) {
            let line = posted.task.line(usize::MAX, false);
            let line = line.trim_start_matches(['━', '─', ' ']);
            let _ = writeln!(io::stderr(), "progress: {line}");
            next = begun.elapsed() + NEXT_LINE;
        }
        board = wait(board);
    }
    board.is_watched = false;
}

fn wait(board: MutexGuard<'static, Board>) -> MutexGuard<'static, Board> {
    WAKE.wait_timeout(board, BETWEEN).unwrap_or_else(PoisonError::into_inner).0
}

impl Task {
    fn show(&mut self, done: Option<f64>, text: String) {
        self.since.get_or_insert_with(Instant::now);
        self.done = done.map(|done| (done, Instant::now()));
        self.text = text;
    }

    /// As much of it as fits: the bar, the share, the time left, the text.
    fn line(&self, width: usize, colour: bool) -> String {
        let elapsed = self.since.map_or(Duration::ZERO, |since| since.elapsed());
        let seconds = elapsed.as_secs_f64().max(1e-3);
        // A name of a file or a class may hold anything, and this is one line.
        let mut text = harmless(&self.text).replace(['\n', '\t'], " ");
        let mut done = self.done;
        if let Some((meter, size)) = &self.reading {
            let (read, rows) = (meter.bytes(), meter.rows());
            let part = size.filter(|size| *size > 0).map(|size| read as f64 / size as f64);
            done = done.or(part.map(|part| (part, Instant::now())));
            let _ = write!(text, ": {}", bytes(read));
            if rows > 0 {
                let per_second = count((rows as f64 / seconds) as u64);
                let _ = write!(text, ", {} rows, {per_second} rows/s", count(rows));
            }
        }
        let (mut bar, mut share, mut left) = (0, String::new(), String::new());
        if let Some((done, as_of)) = done {
            // Nothing of nothing may be a zero below zero.
            let done = done.clamp(0.0, 1.0) + 0.0;
            bar = (done * BAR_CELLS as f64).round() as usize;
            share = format!("{:>3.0} %", (100.0 * done).floor());
            // A guess made too early is worse than none.
            if done > 0.02 && done < 1.0 && seconds > 0.5 {
                // What took so long until then takes as long again; since then the clock has gone on.
                let waited = as_of.elapsed().as_secs_f64();
                let seconds = ((seconds - waited) * (1.0 - done) / done - waited).max(1.0).round();
                left = match seconds {
                    seconds if seconds < 100.0 => format!("{seconds} s left"),
                    seconds => format!("{} min {} s left", (seconds / 60.0).floor(), seconds % 60.0),
                };
            }
        } else if elapsed >= SPOKEN {
            left = duration(elapsed);
        }
        let cells = "━".repeat(bar) + &"─".repeat(if share.is_empty() { 0 } else { BAR_CELLS - bar });
        let drawn = if cells.is_empty() { String::new() } else { format!("{cells} {share}") };
        let mut line = fitting([&drawn, &left, &text], width).unwrap_or_else(|| {
            bar = 0;
            [share.trim_start(), &text]
                .into_iter()
                .find(|part| !part.is_empty())
                .unwrap_or("")
                .chars()
                .take(width)
                .collect()
        });
        if colour && bar > 0 {
            let end = line.char_indices().nth(bar).map_or(line.len(), |(place, _)| place);
            line.insert_str(end, "\x1b[0m");
            line.insert_str(0, "\x1b[36m");
        }
        line
    }
}

/// The parts on one line, without as many of the last words as it takes, from comma to comma, and then without whole parts;
/// nothing if not even the first one fits.
fn fitting([drawn, left, text]: [&str; 3], width: usize) -> Option<String> {
    let commas = text.match_indices(", ").map(|(place, _)| place);
    let colon = text.rfind(": ");
    let mut ends: Vec<usize> = commas.chain(colon).chain([text.len()]).collect();
    ends.sort_unstable();
    let whole = ends.into_iter().rev().map(|end| vec![drawn, left, &text[..end]]);
    let ways = whole.chain([vec![drawn, left], vec![drawn]]);
    let lines = ways.map(|parts| {
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join("  ")
    });
    lines.into_iter().find(|line| !line.is_empty() && line.chars().count() <= width)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(done: Option<f64>, seconds: u64) -> Task {
        let since = Instant::now().checked_sub(Duration::from_secs(seconds));
        let done = done.map(|done| (done, Instant::now()));
        Task { since, done, text: "epoch 2 of at most 8".to_owned(), ..Task::default() }
    }

    #[test]
    fn the_line_tells_share_and_time_left_and_fits() {
        let line = task(Some(0.25), 3).line(80, false);
        assert_eq!(line, "━━━━━───────────────  25 %  9 s left  epoch 2 of at most 8");
        assert!(task(Some(0.25), 3).line(80, true).starts_with("\x1b[36m━━━━━\x1b[0m─"));
        // Where it is narrow, parts are left out, from the end; no word is cut.
        let text = "reading mail.csv: 12.3 MB, 1,234 rows, 411 rows/s".to_owned();
        let wide = Task { text, ..task(Some(0.25), 3) };
        for (width, end) in [
            (90, ": 12.3 MB, 1,234 rows, 411 rows/s"),
            (80, ": 12.3 MB, 1,234 rows"),
            (70, ": 12.3 MB"),
            (60, ""),
        ] {
            let expected = format!("━━━━━───────────────  25 %  9 s left  reading mail.csv{end}");
            assert_eq!(wide.line(width, false), expected, "{width}");
        }
        assert_eq!(wide.line(40, false), "━━━━━───────────────  25 %  9 s left");
        assert_eq!(wide.line(30, false), "━━━━━───────────────  25 %");
        assert_eq!(wide.line(10, true), "25 %");
        assert_eq!(Task { done: None, ..wide }.line(20, false), "3.0 s");
        assert_eq!(task(None, 3).line(80, false), "3.0 s  epoch 2 of at most 8");
        assert_eq!(task(None, 0).line(80, false), "epoch 2 of at most 8");
        let mut begun = Task::default();
        begun.show(None, "searching".to_owned());
        let since = begun.since;
        assert!(since.is_some(), "work without stages has a beginning, too");
    }

    #[test]
    fn a_name_in_the_line_commands_no_terminal_and_is_on_one_line() {
        let text = "reading a\u{1b}]0;x\u{7}\nb\u{202e}.csv".to_owned();
        let line = Task { text, ..task(None, 0) }.line(80, false);
        assert_eq!(line, "reading a␛]0;x␇ b\u{fffd}.csv");
    }

    #[test]
    fn the_innermost_part_that_has_words_is_shown() {
        let mut board = Board::EMPTY;
        for (is_drawn, text) in [(false, "train"), (true, "reading"), (true, "")] {
            board.post(is_drawn);
            board.parts.last_mut().unwrap().task.text = text.to_owned();
        }
        let shown = |board: &Board, is_drawn| board.top(is_drawn).map(|posted| posted.task.text.clone());
        assert_eq!(shown(&board, true).as_deref(), Some("reading"));
        board.parts.remove(1);
        assert_eq!((shown(&board, true), shown(&board, false).as_deref()), (None, Some("train")));
    }
}
