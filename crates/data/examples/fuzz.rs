//! Fuzzing for as long as one likes, on as many threads as one likes.
//!
//! ```text
//! cargo run --release -p rosenblatt-data --example fuzz -- libsvm --executions 2000000 --seed 7 --threads 2
//! cargo run --release -p rosenblatt-data --example fuzz -- csv --seconds 60
//! cargo run --release -p rosenblatt-data --example fuzz -- zstd --seed 7 --only 12345
//! ```
//!
//! Fails at the first panic, internal error, execution of more than a second, or when more memory is in
//! use than 64 MiB (256 MiB for zstd, whose window may be 128 MiB) per thread.

#[path = "../tests/allocations/mod.rs"]
mod allocations;
#[path = "../tests/fuzzing/mod.rs"]
mod fuzzing;

use fuzzing::{Tally, Target, corpus, execute};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// An execution that takes longer than this never ends.
const HANG: Duration = Duration::from_secs(20);

/// In the place of an execution's number: the thread has no more to do.
const DONE: u64 = u64::MAX - 1;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(finding) => {
            eprintln!("{finding}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let mut arguments = std::env::args().skip(1);
    let names = Target::ALL.map(Target::name).join(", ");
    let named = |name: String| Target::ALL.into_iter().find(|target| target.name() == name);
    let target = arguments.next().and_then(named).ok_or(format!("name one of {names}"))?;
    let (mut n_executions, mut seconds, mut seed, mut n_threads, mut only) = (u64::MAX, u64::MAX, 1, 2, None);
    while let Some(option) = arguments.next() {
        let value =
            arguments.next().and_then(|value| value.parse::<u64>().ok()).ok_or("a number is missing")?;
        match option.as_str() {
            "--executions" => n_executions = value,
            "--seconds" => seconds = value,
            "--seed" => seed = value,
            "--threads" => n_threads = value,
            "--only" => only = Some(value),
            _ => return Err(format!("there is no option {option}")),
        }
    }
    let corpus = corpus(target);
    if let Some(k) = only {
        return execute(target, &corpus, seed, k, &mut Tally::default());
    }
    if n_executions == u64::MAX && seconds == u64::MAX {
        seconds = 60;
    }
    std::panic::set_hook(Box::new(|_| {}));
    let started = Instant::now();
    let is_over = AtomicBool::new(false);
    let progress: Vec<AtomicU64> = (0..n_threads).map(AtomicU64::new).collect();
    let max_bytes = if target == Target::Zstd { 256 << 20 } else { 64 << 20 } * n_threads as usize;
    let outcomes: Vec<Result<Tally, String>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..n_threads)
            .map(|first| {
                let (corpus, progress, is_over) = (&corpus, &progress[first as usize], &is_over);
                scope.spawn(move || {
                    let mut tally = Tally::default();
                    let mut k = first;
                    while k < n_executions && !is_over.load(Ordering::Relaxed) {
                        progress.store(k, Ordering::Relaxed);
                        if let Err(finding) = execute(target, corpus, seed, k, &mut tally) {
                            is_over.store(true, Ordering::Relaxed);
                            return Err(finding);
                        }
                        if k % 1024 < n_threads && started.elapsed().as_secs() >= seconds {
                            break;
                        }
                        k += n_threads;
                    }
                    progress.store(DONE, Ordering::Relaxed);
                    Ok(tally)
                })
            })
            .collect();
        scope.spawn({
            let (progress, is_over) = (&progress, &is_over);
            move || {
                let mut last: Vec<(u64, Instant)> =
                    progress.iter().map(|_| (u64::MAX, Instant::now())).collect();
                while !is_over.load(Ordering::Relaxed) {
                    std::thread::sleep(Duration::from_millis(200));
                    for (thread, last) in progress.iter().zip(&mut last) {
                        let k = thread.load(Ordering::Relaxed);
                        if k != last.0 || k == DONE {
                            *last = (k, Instant::now());
                        } else if last.1.elapsed() > HANG {
                            eprintln!("a hang: target {}, seed {seed}, execution {k}", target.name());
                            std::process::abort();
                        }
                    }
                }
            }
        });
        let outcomes = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err("the mutator failed".into())));
        let outcomes = outcomes.collect();
        is_over.store(true, Ordering::Relaxed);
        outcomes
    });
    let mut all = Tally::default();
    for outcome in outcomes {
        let tally = outcome?;
        all.accepted += tally.accepted;
        all.refused += tally.refused;
        all.contained += tally.contained;
    }
    let peak = allocations::peak();
    println!(
        "{}: {} executions, {} accepted, {} refused ({} panics of a decoder contained), peak {} KiB, {:.0} s",
        target.name(),
        all.accepted + all.refused,
        all.accepted,
        all.refused,
        all.contained,
        peak >> 10,
        started.elapsed().as_secs_f64()
    );
    if peak > max_bytes { Err(format!("{peak} bytes were in use, more than {max_bytes}")) } else { Ok(()) }
}
