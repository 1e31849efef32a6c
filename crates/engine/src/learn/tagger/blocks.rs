//! Blocks of sentences worked on by several threads, with outcomes in the order of the blocks.
//!
//! All threads do the same: whoever is free reads the next block and works on it, and the first, who is the caller, hands on
//! what has come to be next. So nobody waits for a slower one, and none but the reading of a block and the handing on is done
//! by one at a time.

use super::Room;
use crate::error::Error;
use rosenblatt_core::threads::available;
use rosenblatt_data::{DataError, SentenceFormat, SentenceStream, Sentences};
use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// So many blocks per thread may be done before the first of them is handed on.
const AHEAD: usize = 4;

/// More threads than this only wait for each other.
const MAX_THREADS: usize = 64;

/// What was read is not what it should be, or could not be worked on.
enum Wrong {
    Data(DataError),
    Work(Error),
}

/// Where the threads stand.
struct Standing<T> {
    /// Outcomes that nobody has handed on yet, by the number of their block.
    done: BTreeMap<usize, Result<T, Wrong>>,
    /// How many blocks were handed on.
    n_handed_on: usize,
    /// How many blocks there are, once that is known.
    n_blocks: Option<usize>,
    /// Whether nothing more is wanted, or one of the threads can do no more.
    is_over: bool,
}

/// Blocks that are still to be read.
struct Unread<'s> {
    stream: &'s mut SentenceStream,
    n_read: usize,
    is_at_end: bool,
}

/// What the threads share. Who needs both takes what is unread first.
struct Shared<'s, T> {
    threads: usize,
    unread: Mutex<Unread<'s>>,
    standing: Mutex<Standing<T>>,
    /// Something has changed there.
    news: Condvar,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T> Shared<'_, T> {
    /// Reads the next block and works on it; `false` if there is none.
    fn work_on_next(
        &self,
        work: &impl Fn(&Sentences, &dyn SentenceFormat, &mut Room) -> Result<T, Error>,
        block: &mut Sentences,
        room: &mut Room,
    ) -> bool {
        let (number, format) = {
            let mut unread = lock(&self.unread);
            if unread.is_at_end {
                return false;
            }
            let number = unread.n_read;
            let read = unread.stream.next(block);
            unread.is_at_end = !matches!(read, Ok(true));
            // What is wrong with a block comes in its place.
            unread.n_read += usize::from(!matches!(read, Ok(false)));
            if unread.is_at_end {
                lock(&self.standing).n_blocks = Some(unread.n_read);
                self.news.notify_all();
            }
            match read {
                Ok(true) => (number, Ok(unread.stream.format())),
                Ok(false) => return false,
                Err(error) => (number, Err(Wrong::Data(error))),
            }
        };
        let outcome = format.and_then(|format| work(block, format, room).map_err(Wrong::Work));
        let mut standing = lock(&self.standing);
        standing.done.insert(number, outcome);
        self.news.notify_all();
        !standing.is_over
    }

    /// The outcome that is next, if it is there. Waits for it if asked to, or if enough others are there; then there is none
    /// only if there will be none.
    fn next_done(&self, waits: bool) -> Option<Result<T, Wrong>> {
        let mut standing = lock(&self.standing);
        loop {
            let next = standing.n_handed_on;
            if let Some(outcome) = standing.done.remove(&next) {
                standing.n_handed_on += 1;
                self.news.notify_all();
                return Some(outcome);
            }
            let has_more = !standing.is_over && standing.n_blocks != Some(next);
            if !has_more || !waits && standing.done.len() < AHEAD * self.threads {
                return None;
            }
            standing = self.news.wait(standing).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until more outcomes may be made; `false` if none are wanted.
    fn has_room(&self) -> bool {
        let mut standing = lock(&self.standing);
        while !standing.is_over && standing.done.len() >= AHEAD * self.threads {
            standing = self.news.wait(standing).unwrap_or_else(PoisonError::into_inner);
        }
        !standing.is_over
    }
}

/// Ends the work of all when the first thread leaves, or another one by a panic.
struct Leaving<'a, 's, T> {
    shared: &'a Shared<'s, T>,
    is_first: bool,
}

impl<T> Drop for Leaving<'_, '_, T> {
    fn drop(&mut self) {
        if self.is_first || std::thread::panicking() {
            lock(&self.shared.standing).is_over = true;
            self.shared.news.notify_all();
        }
    }
}

/// Has every block of a stream worked on by `threads` threads, one per core if 0, and lends the outcomes in the order of
/// the blocks.
pub(super) fn each_block<T: Send, X: From<Error> + From<DataError>>(
    stream: &mut SentenceStream,
    threads: usize,
    work: impl Fn(&Sentences, &dyn SentenceFormat, &mut Room) -> Result<T, Error> + Sync,
    mut lend: impl FnMut(T) -> Result<(), X>,
) -> Result<(), X> {
    let threads = if threads == 0 { available() } else { threads.min(MAX_THREADS) };
    let (mut block, mut room) = (Sentences::default(), Room::default());
    if threads == 1 {
        while stream.next(&mut block)? {
            lend(work(&block, stream.format(), &mut room)?)?;
        }
        return Ok(());
    }
    let shared = &Shared {
        threads,
        unread: Mutex::new(Unread { stream, n_read: 0, is_at_end: false }),
        standing: Mutex::new(Standing {
            done: BTreeMap::new(),
            n_handed_on: 0,
            n_blocks: None,
            is_over: false,
        }),
        news: Condvar::new(),
    };
    let work = &work;
    std::thread::scope(|scope| {
        let _leaving = Leaving { shared, is_first: true };
        for _ in 1..threads {
            let work = move || {
                let _leaving = Leaving { shared, is_first: false };
                let (mut block, mut room) = (Sentences::default(), Room::default());
                while shared.has_room() && shared.work_on_next(work, &mut block, &mut room) {}
            };
            // A thread that cannot be had is done without.
            if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        let mut is_at_end = false;
        loop {
            while let Some(outcome) = shared.next_done(is_at_end) {
                let outcome = outcome.map_err(|wrong| match wrong {
                    Wrong::Data(error) => X::from(error),
                    Wrong::Work(error) => X::from(error),
                });
                lend(outcome?)?;
            }
            if is_at_end {
                return Ok(());
            }
            is_at_end = !shared.work_on_next(work, &mut block, &mut room);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rosenblatt_data::{ErrorKind, Source, sentences};
    use std::fmt::Write as _;
    use std::time::Duration;

    /// The first word of every block that was handed on, and the error that ended it.
    fn run(
        text: &str,
        threads: usize,
        work: impl Fn(&str) -> Result<(), Error> + Sync,
    ) -> (Vec<String>, Option<String>) {
        let mut stream = sentences(&Source::bytes("a.conll", text.as_bytes()), None).unwrap();
        let mut all = Vec::new();
        let first = |block: &Sentences, _: &dyn SentenceFormat, _: &mut Room| {
            let word = block.cell(0, 0).unwrap_or_default().to_owned();
            work(&word).map(|()| word)
        };
        let outcome = each_block(&mut stream, threads, first, |word| {
            all.push(word);
            Ok::<(), Error>(())
        });
        (all, outcome.err().map(|error| error.to_string()))
    }

    fn text(n: usize) -> String {
        let mut text = String::new();
        for sentence in 0..n {
            let _ = write!(text, "w{sentence} {} N\nthe end N\n\n", "x".repeat(1000));
        }
        text
    }

    #[test]
    fn outcomes_come_in_order_whoever_is_slow() {
        let text = text(10_000);
        let (plain, none) = run(&text, 1, |_| Ok(()));
        assert!(plain.len() > 30 && none.is_none());
        for threads in [2, 3, 8] {
            let slow = |word: &str| {
                let place = plain.iter().position(|other| other == word).unwrap();
                std::thread::sleep(Duration::from_millis(if place % 13 == 1 { 30 } else { 0 }));
                Ok(())
            };
            assert_eq!(run(&text, threads, slow), (plain.clone(), None), "{threads} threads");
        }
    }

    #[test]
    fn what_is_wrong_comes_in_its_place_and_ends_all() {
        let good = text(3000);
        let bad = format!("{good}too few\n\n{good}");
        let (plain, wrong) = run(&bad, 1, |_| Ok(()));
        assert!(plain.len() > 5 && wrong.as_ref().unwrap().contains("should have 3 cells"));
        let refuse = |word: &str| {
            let refused = DataError::new(ErrorKind::Label, "refused");
            if word == plain[4] { Err(refused.into()) } else { Ok(()) }
        };
        for threads in [1, 2, 5] {
            assert_eq!(run(&bad, threads, |_| Ok(())), (plain.clone(), wrong.clone()));
            assert_eq!(run(&bad, threads, refuse), (plain[..4].to_vec(), Some("refused".to_owned())));
        }
    }

    #[test]
    fn a_panic_is_handed_on_and_nobody_waits_for_ever() {
        let text = text(10_000);
        let (plain, _) = run(&text, 1, |_| Ok(()));
        for place in [0, 1, 7] {
            let panics = || {
                run(&text, 3, |word| {
                    assert_ne!(word, plain[place], "as it should here");
                    Ok(())
                })
            };
            assert!(std::panic::catch_unwind(panics).is_err());
        }
    }
}
