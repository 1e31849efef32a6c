//! A little fuzzing in every run of the tests. Long runs: `examples/fuzz.rs`.

mod allocations;
mod fuzzing;

use fuzzing::{Tally, Target, corpus, execute};

/// Executions per parser: a second or two each.
const N_EXECUTIONS: u64 = 10_000;

/// The most bytes in use at any moment. zstd may ask for a window of 128 MiB, all others are fed 16 KiB.
const MAX_BYTES: usize = 256 << 20;

#[test]
fn no_input_causes_a_panic_a_hang_or_a_flood() {
    std::panic::set_hook(Box::new(|_| {}));
    let outcomes: Vec<Result<Tally, String>> = std::thread::scope(|scope| {
        let run = |target: Target| {
            move || {
                let corpus = corpus(target);
                let mut tally = Tally::default();
                (0..N_EXECUTIONS).try_for_each(|k| execute(target, &corpus, 1, k, &mut tally)).map(|()| tally)
            }
        };
        let threads = Target::ALL.map(|target| scope.spawn(run(target)));
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err("the mutator failed".into())))
            .collect()
    });
    let _ = std::panic::take_hook();
    for (target, outcome) in Target::ALL.into_iter().zip(outcomes) {
        let tally = outcome.unwrap_or_else(|finding| panic!("{finding}"));
        assert!(tally.accepted > 0 && tally.refused > 0, "{}: {tally:?}", target.name());
    }
    assert!(allocations::peak() < MAX_BYTES, "{} bytes at the peak", allocations::peak());
}
