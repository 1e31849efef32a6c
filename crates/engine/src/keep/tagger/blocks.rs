//! Blocks of sentences worked on by several threads, with outcomes in the order of the blocks.

use super::Room;
use crate::error::Error;
use rosenblatt_core::threads::{available, in_order};
use rosenblatt_data::{DataError, SentenceFormat, SentenceStream, Sentences};

/// More threads than this only wait for each other.
const MAX_THREADS: usize = 64;

/// Has every block of a stream worked on by `threads` threads, one per core if 0, and lends the outcomes in the order of
/// the blocks.
pub(crate) fn each_block<T: Send, X: From<Error> + From<DataError>>(
    stream: &mut SentenceStream,
    threads: usize,
    work: impl Fn(&Sentences, &dyn SentenceFormat, &mut Room) -> Result<T, Error> + Sync,
    mut lend: impl FnMut(T) -> Result<(), X>,
) -> Result<(), X> {
    type Read = Result<&'static dyn SentenceFormat, DataError>;
    let threads = if threads == 0 { available() } else { threads.min(MAX_THREADS) };
    let new = || (Sentences::default(), None::<Read>);
    // What is wrong with a block comes in its place.
    let fill = |(block, read): &mut (Sentences, Option<Read>)| {
        *read = stream.next(block).map(|is_there| is_there.then(|| stream.format())).transpose();
        read.is_some()
    };
    let worker = || {
        let (mut room, work) = (Room::default(), &work);
        move |(block, read): &mut (Sentences, Option<Read>)| {
            read.take().map(|read| read.map(|format| work(block, format, &mut room)))
        }
    };
    in_order(threads, new, fill, worker, |done| match done {
        Some(done) => lend(done??),
        None => Ok(()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rosenblatt_data::{ErrorKind, Source, sentences};
    use std::fmt::Write as _;

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
}
