//! Fuzzing for as long as one likes, on as many threads as one likes.
//!
//! ```text
//! cargo run --release -p rosenblatt-data --features images,parquet --example fuzz -- csv --seconds 60
//! cargo run --release -p rosenblatt-data --features images,parquet --example fuzz -- json --executions 2000000 --seed 7 --threads 2
//! cargo run --release -p rosenblatt-data --features images,parquet --example fuzz -- zstd --seed 7 --only 12345
//! cargo run --release -p rosenblatt-data --features images,parquet --example fuzz -- all --seconds 30
//! ```
//!
//! Fails at the first panic, internal error, execution of more than a second or of more memory than its
//! target's input justifies (`tests/fuzzing/targets.rs`). An execution that never ends is named and ends all.

#[path = "../tests/allocations/mod.rs"]
mod allocations;
#[path = "../tests/fuzzing/mod.rs"]
mod fuzzing;

use fuzzing::{TARGETS, Tally, Target, execute};
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

/// How long to go on, and from which seed.
#[derive(Clone, Copy)]
struct Plan {
    n_executions: u64,
    time: Duration,
    seed: u64,
    n_threads: u64,
}

fn run() -> Result<(), String> {
    let mut arguments = std::env::args().skip(1);
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    let missing = || format!("name one of {}, or all", names.join(", "));
    let name = arguments.next().ok_or_else(missing)?;
    let (mut seconds, mut only) = (None, None);
    let mut plan = Plan { n_executions: u64::MAX, time: Duration::MAX, seed: 1, n_threads: 2 };
    while let Some(option) = arguments.next() {
        let value =
            arguments.next().and_then(|value| value.parse::<u64>().ok()).ok_or("a number is missing")?;
        match option.as_str() {
            "--executions" => plan.n_executions = value,
            "--seconds" => seconds = Some(value),
            "--seed" => plan.seed = value,
            "--threads" => plan.n_threads = value,
            "--only" => only = Some(value),
            _ => return Err(format!("there is no option {option}")),
        }
    }
    let targets: Vec<&Target> =
        TARGETS.iter().filter(|target| name == "all" || target.name == name).collect();
    if targets.is_empty() {
        return Err(missing());
    }
    if let Some(k) = only {
        return targets
            .iter()
            .try_for_each(|target| execute(target, &(target.seeds)(), plan.seed, k, &mut Tally::default()));
    }
    if plan.n_executions == u64::MAX || seconds.is_some() {
        // The time is shared by all targets.
        plan.time = Duration::from_secs(seconds.unwrap_or(60)) / targets.len() as u32;
    }
    targets.iter().try_for_each(|target| fuzz(target, plan))
}

fn fuzz(target: &Target, plan: Plan) -> Result<(), String> {
    let corpus = (target.seeds)();
    let started = Instant::now();
    let is_over = AtomicBool::new(false);
    let progress: Vec<AtomicU64> = (0..plan.n_threads).map(AtomicU64::new).collect();
    let outcomes: Vec<Result<Tally, String>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..plan.n_threads)
            .map(|first| {
                let (corpus, progress, is_over) = (&corpus, &progress[first as usize], &is_over);
                scope.spawn(move || {
                    let mut tally = Tally::default();
                    let mut k = first;
                    while k < plan.n_executions && !is_over.load(Ordering::Relaxed) {
                        progress.store(k, Ordering::Relaxed);
                        if let Err(finding) = execute(target, corpus, plan.seed, k, &mut tally) {
                            is_over.store(true, Ordering::Relaxed);
                            return Err(finding);
                        }
                        if k % 256 < plan.n_threads && started.elapsed() >= plan.time {
                            break;
                        }
                        k += plan.n_threads;
                    }
                    progress.store(DONE, Ordering::Relaxed);
                    Ok(tally)
                })
            })
            .collect();
        scope.spawn(|| watch(target, plan.seed, &progress, &is_over));
        let outcomes = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err("the mutator failed".into())));
        let outcomes = outcomes.collect();
        is_over.store(true, Ordering::Relaxed);
        outcomes
    });
    let mut all = Tally::default();
    for outcome in outcomes {
        all.add(outcome?);
    }
    println!(
        "{}: {} executions, {} accepted, {} refused ({} panics of a decoder contained), {} KiB at most, {:.0} s",
        target.name,
        all.accepted + all.refused,
        all.accepted,
        all.refused,
        all.contained,
        all.peak >> 10,
        started.elapsed().as_secs_f64()
    );
    Ok(())
}

/// Ends everything if an execution never ends.
fn watch(target: &Target, seed: u64, progress: &[AtomicU64], is_over: &AtomicBool) {
    let mut last: Vec<(u64, Instant)> = progress.iter().map(|_| (u64::MAX, Instant::now())).collect();
    while !is_over.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(100));
        for (thread, last) in progress.iter().zip(&mut last) {
            let k = thread.load(Ordering::Relaxed);
            if k != last.0 || k == DONE {
                *last = (k, Instant::now());
            } else if last.1.elapsed() > HANG {
                eprintln!("a hang: target {}, seed {seed}, execution {k}", target.name);
                std::process::abort();
            }
        }
    }
}
