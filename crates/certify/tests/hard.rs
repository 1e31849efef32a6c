//! Problems that are hard on purpose, beside an oracle: thin slabs, points that touch, rows that almost depend on each
//! other, columns of all sizes. Every verdict is right, every one comes within its limit, and margins are closed.
//!
//! The oracle is the simplex method in fractions (phase one, Bland's rule), written without a look at the search.
//! Here are a few hundred small problems; `cargo xtask bench certify --campaign 10000` runs many, and larger ones.

#[path = "common/problems.rs"]
mod problems;

use problems::{Kind, oracle, problem};
use rosenblatt_certify::{Answer, Question, Rows, Verdict, check, decide};
use rosenblatt_core::Random;
use std::cell::Cell;
use std::fmt::Write as _;
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
        let printed = format!("case {case}, {kind:?}, bias {bias}: {points:?} {sides:?}\n{answer:?}");
        match answer.verdict {
            Verdict::Separable(_) => {
                assert!(expected, "{printed}");
                let is_one_sided = bias && !rows.has_both_sides();
                assert!(is_one_sided || answer.gap() <= 1e-6, "{printed}");
            }
            Verdict::Inseparable(_) => assert!(!expected, "{printed}"),
            Verdict::Undecided => panic!("{printed}"),
        }
        counts[usize::from(expected)] += 1;
    }
    assert!(counts.iter().all(|&count| count > 80), "{counts:?}");
}

/// Processor time of this thread, which is what a limit means on a machine that does other things.
fn processor_time() -> f64 {
    let printed = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds: Option<f64> = printed.split_whitespace().next().and_then(|word| word.parse().ok());
    1e-9 * nanoseconds.expect("a Linux system")
}

#[test]
#[ignore = "takes an hour: run by `cargo xtask bench certify --campaign 10000`"]
fn campaign() {
    let number = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |text| text.parse().expect("a whole number"))
    };
    let (n_problems, limit) = (number("CAMPAIGN", 1000), 20.0);
    let mut random = Random::new(number("SEED", 1));
    println!("kind,problems,separable,undecided,wrong,wide,over limit,mean s,largest s");
    for kind in Kind::ALL {
        let (mut separable, mut undecided, mut wrong, mut wide, mut over) = (0, 0, 0, 0, 0);
        let (mut total, mut largest) = (0.0, 0.0_f64);
        let n_kind = n_problems / Kind::ALL.len() as u64;
        for case in 0..n_kind {
            // Mostly small, so that the oracle is quick. Every fiftieth is too large for it: there its own proof,
            // which the checker has to accept, says that the verdict is right.
            let is_large = case % 50 == 49;
            let (rows, width) = if is_large { (150, 25) } else { (21, 10) };
            let (points, sides, bias) = problem(kind, rows, width, &mut random);
            let expected = (!is_large).then(|| oracle(&points, &sides, bias));
            let rows = Rows::from_points(&points, &sides);
            let start = processor_time();
            let spent = || processor_time() - start;
            let asked = Cell::new(0_u32);
            let answer = decide(&rows, Question { bias, ..Question::default() }, &|_| {
                asked.set(asked.get() + 1);
                if asked.get().is_multiple_of(64) && spent() > limit {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            });
            let certificate = answer.certificate(&rows, bias, None, [None, None]);
            let is_valid = certificate.is_none_or(|certificate| check(&certificate, &rows) == Ok(()));
            let spent = spent();
            (total, largest) = (total + spent, largest.max(spent));
            over += u64::from(spent > 1.1 * limit);
            let is_separable = matches!(answer.verdict, Verdict::Separable(_));
            separable += u64::from(is_separable);
            let has_margin = rows.has_both_sides() || !bias;
            if answer.verdict == Verdict::Undecided {
                undecided += 1;
                continue;
            }
            let is_right = is_valid && expected.is_none_or(|expected| expected == is_separable);
            wrong += u64::from(!is_right);
            if is_separable && has_margin && answer.gap() > 1e-6 {
                println!("wide: {kind:?} {case}: {:e} to {:e}", answer.at_least, answer.at_most);
                wide += 1;
            }
        }
        let mean = total / n_kind.max(1) as f64;
        println!("{kind:?},{n_kind},{separable},{undecided},{wrong},{wide},{over},{mean:.4},{largest:.2}");
        assert_eq!(wrong, 0, "{kind:?}");
    }
}

/// Real-valued rows of some width: labels by a hyperplane, of which some are drawn at random, or the surest is wrong.
fn wide(n_rows: usize, width: usize, is_noisy: bool, random: &mut Random) -> (Vec<Vec<f64>>, Vec<bool>) {
    let mut decimal = || (random.below(6_000_001) as f64 - 3e6) / 1e6;
    let points: Vec<Vec<f64>> = (0..n_rows).map(|_| (0..width).map(|_| decimal()).collect()).collect();
    let plane: Vec<f64> = (0..width).map(|_| decimal()).collect();
    let score = |point: &Vec<f64>| point.iter().zip(&plane).map(|(x, w)| x * w).sum::<f64>();
    let scores: Vec<f64> = points.iter().map(score).collect();
    let mut sides: Vec<bool> = scores.iter().map(|&score| score > 0.0).collect();
    if is_noisy {
        for side in &mut sides {
            *side = if random.below(2) == 0 { *side } else { random.below(2) == 0 };
        }
    } else {
        let surest = (0..n_rows).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).expect("there are rows");
        sides[surest] = false;
    }
    (points, sides)
}

#[test]
#[ignore = "takes minutes: run by `cargo xtask bench certify --lp`, which puts an LP solver beside it"]
fn wide_rows() {
    let folder =
        std::env::var_os("FOLDER").map(std::path::PathBuf::from).expect("where the rows are written");
    let most_width = std::env::var("WIDTH").map_or(usize::MAX, |text| text.parse().expect("a whole number"));
    let mut random = Random::new(1972);
    println!("file,verdict,proof rows,bits of a weight,proved s,checked s");
    let sizes =
        [(1000, 40, true), (1000, 80, true), (1500, 120, true), (2000, 240, true), (3000, 300, false)];
    for (n_rows, width, is_noisy) in sizes {
        let (points, sides) = wide(n_rows, width, is_noisy, &mut random);
        if width > most_width {
            continue;
        }
        let name = format!("decimals-{n_rows}-{width}.csv");
        let mut text = String::new();
        for (point, &side) in points.iter().zip(&sides) {
            let values: Vec<String> = point.iter().map(f64::to_string).collect();
            let _ = writeln!(text, "{},{}", values.join(","), i8::from(side) * 2 - 1);
        }
        std::fs::write(folder.join(&name), text).expect("a folder that can be written to");
        let rows = Rows::from_points(&points, &sides);
        let start = processor_time();
        let answer = decide(&rows, Question::default(), &|_| ControlFlow::Continue(()));
        let found = processor_time();
        let certificate = answer.certificate(&rows, true, None, [None, None]).expect("it is decided");
        assert_eq!(check(&certificate, &rows), Ok(()));
        let (found, checked) = (found - start, processor_time() - found);
        match answer.verdict {
            Verdict::Inseparable(weights) => {
                let bits = weights.iter().map(|(_, weight)| weight.bits()).max().unwrap_or(0);
                println!("{name},not separable,{},{bits},{found:.2},{checked:.2}", weights.len());
            }
            _ => println!("{name},separable,{},,{found:.2},{checked:.2}", answer.nearest.len()),
        }
    }
}
