//! Problems that are hard on purpose, beside an oracle: thin slabs, points that touch, rows that almost depend on each
//! other, columns of all sizes. Every verdict is right, every one comes within its limit, and margins are closed.
//!
//! The oracle is the simplex method in fractions (phase one, Bland's rule), written without a look at the search.
//! `cargo xtask bench certify` runs ten thousand of these problems; here are a few hundred small ones.

#[path = "common/problems.rs"]
mod problems;

use problems::{Kind, oracle, problem};
use rosenblatt_certify::{Answer, Question, Rows, Verdict, check, decide};
use rosenblatt_core::Random;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

fn ask(rows: &Rows, bias: bool, seconds: u64) -> Answer {
    let start = Instant::now();
    let limit = Duration::from_secs(seconds);
    let answer = decide(rows, Question { bias, ..Question::default() }, &|_| {
        if start.elapsed() > limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    if let Some(certificate) = answer.certificate(rows, bias, None, [None, None]) {
        assert_eq!(check(&certificate, rows), Ok(()));
    }
    answer
}

#[test]
fn hard_kinds_are_decided_rightly_and_their_margins_closed() {
    let mut random = Random::new(1969);
    let mut counts = [0; 2];
    for case in 0..400 {
        let kind = Kind::ALL[case % Kind::ALL.len()];
        let (points, sides, bias) = problem(kind, 14, 5, &mut random);
        let expected = oracle(&points, &sides, bias);
        let rows = Rows::from_points(&points, &sides);
        let answer = ask(&rows, bias, 20);
        let told = format!("case {case}, {kind:?}, bias {bias}: {points:?} {sides:?}\n{answer:?}");
        match answer.verdict {
            Verdict::Separable(_) => {
                assert!(expected, "{told}");
                let is_one_sided = bias && !rows.has_both_sides();
                assert!(is_one_sided || answer.gap() <= 1e-6, "{told}");
            }
            Verdict::Inseparable(_) => assert!(!expected, "{told}"),
            Verdict::Undecided => panic!("{told}"),
        }
        counts[usize::from(expected)] += 1;
    }
    assert!(counts.iter().all(|&count| count > 80), "{counts:?}");
}
