//! A little fuzzing in every run of the tests. Long runs: `examples/fuzz.rs` and `FUZZING.md`.

mod allocations;
mod fuzzing;

use fuzzing::{TARGETS, Tally, Target, execute};

/// Executions per parser: a few seconds for all of them.
const N_EXECUTIONS: u64 = 2_000;

#[test]
fn no_input_causes_a_panic_a_hang_or_a_flood() {
    let outcomes: Vec<Result<Tally, String>> = std::thread::scope(|scope| {
        let run = |target: &'static Target| {
            move || {
                let corpus = (target.seeds)();
                let mut tally = Tally::default();
                (0..N_EXECUTIONS).try_for_each(|k| execute(target, &corpus, 1, k, &mut tally)).map(|()| tally)
            }
        };
        let threads: Vec<_> = TARGETS.iter().map(|target| scope.spawn(run(target))).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err("the mutator failed".into())))
            .collect()
    });
    for (target, outcome) in TARGETS.iter().zip(outcomes) {
        let tally = outcome.unwrap_or_else(|finding| panic!("{finding}"));
        assert!(tally.accepted > 0 && tally.refused > 0, "{}: {tally:?}", target.name);
    }
}
