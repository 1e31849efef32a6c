//! A little fuzzing in every run of the tests. Long runs: `examples/fuzz.rs` and `FUZZING.md`.
//!
//! `ROSENBLATT_FUZZ_SECONDS` says for how long, all parsers together; otherwise it is a fixed number of
//! executions. Inputs are those of seed 1 from the first on, in either case.

mod allocations;
mod fuzzing;

use fuzzing::{TARGETS, Tally, Target, execute};
use std::time::{Duration, Instant};

/// Executions per parser: a few seconds for all of them.
const N_EXECUTIONS: u64 = 2_000;

/// More would keep each other waiting, and a wait looks like a hang.
const N_THREADS: usize = 2;

fn fuzz(target: &Target, time: Option<Duration>) -> Result<Tally, String> {
    let corpus = (target.seeds)();
    let mut tally = Tally::default();
    let started = Instant::now();
    for k in 0_u64.. {
        let is_over = time.is_some_and(|time| k.is_multiple_of(64) && started.elapsed() >= time);
        if k >= N_EXECUTIONS && (time.is_none() || is_over) {
            break;
        }
        execute(target, &corpus, 1, k, &mut tally)?;
    }
    if tally.accepted == 0 || tally.refused == 0 {
        return Err(format!("{}: nothing was accepted, or nothing refused: {tally:?}", target.name));
    }
    if time.is_some() {
        eprintln!("{}: {} executions", target.name, tally.accepted + tally.refused);
    }
    Ok(tally)
}

#[test]
fn no_input_causes_a_panic_a_hang_or_a_flood() {
    let seconds = std::env::var("ROSENBLATT_FUZZ_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    let share = TARGETS.len().div_ceil(N_THREADS) as u32;
    let time = seconds.map(|seconds| Duration::from_secs(seconds) / share);
    let outcome: Result<Vec<()>, String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..N_THREADS)
            .map(|thread| {
                let mine = TARGETS.iter().skip(thread).step_by(N_THREADS);
                scope.spawn(move || mine.map(|target| fuzz(target, time).map(|_| ())).collect())
            })
            .collect();
        let joined = threads.into_iter().map(|thread| {
            thread.join().unwrap_or_else(|_| Err("the mutator failed".into())).map(|_: Vec<()>| ())
        });
        joined.collect()
    });
    outcome.unwrap_or_else(|finding| panic!("{finding}"));
}
