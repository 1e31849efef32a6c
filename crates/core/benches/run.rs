//! How long one example takes, beside loops written by hand for exactly that shape.
//!
//! `cargo bench -p rosenblatt-core` prints the tables, `-- --quick` smaller ones in a few seconds.
//! All contestants of a line take turns and each counts its fastest turn, since on a shared machine
//! only ratios from the same minute mean anything. `same bits` adds in the documented lanes, and its
//! weights are checked against the engine's to the bit; `free order` is the fastest plain Rust loop.

mod data;
mod hand;

use data::{DenseData, SparseData};
use hand::{Free, Lanes, Learned};
use rosenblatt_core::rules::Perceptron;
use rosenblatt_core::{
    Average, Binary, Decision, Examples, Kept, OneVsRest, Random, Readout, Remember, Run, Setup, Snapshot,
    Visits,
};
use std::hint::black_box;
use std::time::{Duration, Instant};

fn main() {
    let quick = std::env::args().any(|arg| arg == "--quick");
    let size = if quick { 1 } else { 4 };
    let turns = if quick { 7 } else { 25 };
    let began = Instant::now();

    // First, while the memory of the process is still all its own.
    let voted = voted(if quick { 20_000 } else { 100_000 });

    println!("perceptron, first epoch from zero weights, f32 rows: ns per example (ratio ours/hand)\n");
    println!(
        "{:<14} {:<9} {:>9} {:>18} {:>18} {:>8}",
        "rows", "memory", "ours", "hand, same bits", "hand, free order", "steps"
    );
    dense::<4>(50_000 * size, turns);
    dense::<28>(20_000 * size, turns);
    let at_784 = dense::<784>(4_000 * size, turns);
    let at_10_000 = dense::<10_000>(2_500 * size, 3 + turns / 4);
    sparse(40_000 * size, 10, turns);
    sparse(10_000 * size, 75, turns);

    println!("\nbandwidth of one core: bytes of rows per second, beside adding up the same bytes");
    println!("{:<14} {:>10} {:>12} {:>12} {:>12}", "rows", "working set", "read", "ours, last", "averaged");
    for line in [at_784, at_10_000] {
        println!("{line}");
    }

    println!("\nten classes, one-vs-rest, dense 784, one pixel in five set: ns per example");
    ten_classes(1_000 * size, turns.min(10));

    println!("\nsingle-precision weights, hand loops in free order: ns per example");
    single_precision(size, turns);
    drift(if quick { 10_000_000 } else { 100_000_000 });

    println!("\n{voted}");
    println!("\n{:.0} s in all", began.elapsed().as_secs_f64());
}

/// Lets all contestants take turns; the fastest turn of each. A contestant times itself, so that
/// preparation does not count.
fn race<const N: usize>(turns: usize, mut contestants: [&mut dyn FnMut() -> Duration; N]) -> [Duration; N] {
    let mut best = [Duration::MAX; N];
    for _ in 0..turns {
        for (contestant, best) in contestants.iter_mut().zip(&mut best) {
            *best = contestant().min(*best);
        }
    }
    best
}

fn timed(work: impl FnOnce()) -> Duration {
    let began = Instant::now();
    work();
    began.elapsed()
}

fn remember(averaged: bool) -> Remember {
    Remember { averaged, ..Remember::default() }
}

/// One epoch of the engine.
fn ours<E: Examples, D: Decision>(
    examples: E,
    decision: D,
    remember: Remember,
) -> (Duration, Run<Perceptron, rosenblatt_core::space::Linear, D>) {
    let setup = Setup { width: examples.width(), remember, ..Setup::default() };
    let mut run = Run::new(Perceptron::default(), decision, setup).unwrap();
    let time = timed(|| {
        let _ = black_box(&mut run).learn(black_box(examples), Visits::all(examples), &mut ());
    });
    (time, run)
}

/// One epoch of a loop written by hand.
fn by_hand(width: usize, averaged: bool, epoch: impl FnOnce(&mut Learned)) -> (Duration, Learned) {
    let mut learned = Learned::zero(width, averaged);
    let time = timed(|| epoch(black_box(&mut learned)));
    (time, learned)
}

/// One line of the table: the engine against the two loops. Gives the engine's time per example.
fn compare<E: Examples>(
    name: &str,
    examples: E,
    averaged: bool,
    turns: usize,
    same_bits: impl Fn(&mut Learned),
    free_order: impl Fn(&mut Learned),
) -> f64 {
    let width = examples.width();
    let n_rows = examples.len();
    let (_, run) = ours(examples, Binary, remember(averaged));
    let (_, learned) = by_hand(width, averaged, &same_bits);
    let last = run.last();
    assert_eq!(last.raw_weights(), learned.weights, "same bits");
    assert_eq!(last.biases(), [learned.bias], "same bits");
    if averaged {
        let mean = run.averaged(Average::Post).unwrap();
        assert_eq!(mean.raw_weights(), learned.mean(n_rows), "same bits");
    }
    let share = run.totals().updates as f64 / n_rows as f64;
    let times = race(
        turns,
        [
            &mut || self::ours(examples, Binary, remember(averaged)).0,
            &mut || by_hand(width, averaged, &same_bits).0,
            &mut || by_hand(width, averaged, &free_order).0,
        ],
    );
    let times = times.map(|time| time.as_secs_f64() * 1e9 / n_rows as f64);
    println!(
        "{name:<14} {:<9} {:>9.1} {:>10.1} ({:.2}x) {:>10.1} ({:.2}x) {:>7.0}%",
        if averaged { "averaged" } else { "last" },
        times[0],
        times[1],
        times[0] / times[1],
        times[2],
        times[0] / times[2],
        share * 100.0,
    );
    times[0]
}

/// The lines of rows with `D` features. Gives the line on bandwidth.
fn dense<const D: usize>(n_rows: usize, turns: usize) -> String {
    let data = DenseData::<D>::new(n_rows);
    let (values, classes) = (&data.values[..], &data.classes[..]);
    let name = format!("dense {D}");
    let last = compare(
        &name,
        data.examples(),
        false,
        turns,
        |learned| hand::dense_last::<Lanes, D>(values, classes, learned),
        |learned| hand::dense_last::<Free, D>(values, classes, learned),
    );
    let averaged = compare(
        &name,
        data.examples(),
        true,
        turns,
        |learned| hand::dense_averaged::<Lanes, D>(values, classes, learned),
        |learned| hand::dense_averaged::<Free, D>(values, classes, learned),
    );
    let [read] = race(
        turns,
        [&mut || {
            timed(|| {
                black_box(read_all(values));
            })
        }],
    );
    let bytes = size_of_val(values) as f64;
    let read = bytes / read.as_secs_f64() / 1e9;
    let rate = |nanos: f64| (size_of::<f32>() * D) as f64 / nanos;
    let shown = |nanos: f64| format!("{:.1} ({:.0}%)", rate(nanos), rate(nanos) / read * 100.0);
    format!("{name:<14} {:>7.0} MB {read:>7.1} GB/s {:>12} {:>12}", bytes / 1e6, shown(last), shown(averaged))
}

/// Adds up everything, as fast as it can be read.
#[inline(never)]
fn read_all(values: &[f32]) -> u32 {
    let mut sums = [0_u32; 32];
    for chunk in values.as_chunks::<32>().0 {
        for (sum, value) in sums.iter_mut().zip(chunk) {
            *sum = sum.wrapping_add(value.to_bits());
        }
    }
    sums.iter().fold(0, |total, sum| total.wrapping_add(*sum))
}

fn sparse(n_rows: usize, n_entries: usize, turns: usize) {
    let data = SparseData::new(n_rows, n_entries);
    let name = format!("sparse {n_entries}");
    compare(
        &name,
        data.examples(),
        false,
        turns,
        |learned| hand::sparse_last::<Lanes>(&data, learned),
        |learned| hand::sparse_last::<Free>(&data, learned),
    );
    compare(
        &name,
        data.examples(),
        true,
        turns,
        |learned| hand::sparse_averaged::<Lanes>(&data, learned),
        |learned| hand::sparse_averaged::<Free>(&data, learned),
    );
}

fn ten_classes(n_rows: usize, turns: usize) {
    let (values, classes) = data::images(n_rows);
    let examples = rosenblatt_core::DenseExamples::new(&values, 784, &classes);
    let [last, averaged, by_hand] = race(
        turns,
        [
            &mut || ours(examples, OneVsRest::new(10), remember(false)).0,
            &mut || ours(examples, OneVsRest::new(10), remember(true)).0,
            &mut || {
                let mut weights = vec![[0.0; 10]; 784];
                timed(|| {
                    black_box(hand::ten_classes::<784>(&values, &classes, black_box(&mut weights)));
                })
            },
        ],
    )
    .map(|time| time.as_secs_f64() * 1e9 / n_rows as f64);
    println!(
        "ours, last {last:.0} ({:.2}x) · averaged {averaged:.0} · hand, free order, last {by_hand:.0}",
        last / by_hand
    );
}

/// What single-precision weights would gain.
fn single_precision(size: usize, turns: usize) {
    let wide = DenseData::<784>::new(4_000 * size);
    let text = SparseData::new(10_000 * size, 75);
    let per_example = |time: Duration, n_rows: usize| time.as_secs_f64() * 1e9 / n_rows as f64;
    let [double, single] = race(
        turns,
        [
            &mut || by_hand(784, false, |l| hand::dense_last::<Free, 784>(&wide.values, &wide.classes, l)).0,
            &mut || {
                let mut weights = [0.0; 784];
                timed(|| {
                    black_box(hand::dense_single(&wide.values, &wide.classes, black_box(&mut weights)));
                })
            },
        ],
    )
    .map(|time| per_example(time, wide.classes.len()));
    println!("dense 784   f64 {double:.1}, f32 {single:.1} ({:.2}x)", single / double);
    let [double, single] = race(
        turns,
        [&mut || by_hand(SparseData::WIDTH, false, |l| hand::sparse_last::<Free>(&text, l)).0, &mut || {
            let mut weights = vec![0.0; SparseData::WIDTH];
            timed(|| {
                black_box(hand::sparse_single(&text, black_box(&mut weights)));
            })
        }],
    )
    .map(|time| per_example(time, text.classes.len()));
    println!("sparse 75   f64 {double:.1}, f32 {single:.1} ({:.2}x)", single / double);
}

/// How far a weight is from where exact arithmetic would have it after many steps.
fn drift(n_steps: u64) {
    let mut random = Random::new(1);
    let (mut single, mut double) = (0.0_f32, 0.0_f64);
    // The exact sum, as a double and what it lacks.
    let (mut sum, mut rest) = (0.0_f64, 0.0_f64);
    for _ in 0..n_steps {
        let value = random.unit() as f32 * 0.1;
        single += value;
        let value = f64::from(value);
        double += value;
        let next = sum + value;
        rest += value - (next - sum);
        sum = next;
    }
    let exact = sum + rest;
    println!(
        "drift of one weight after {n_steps} steps of 0 to 0.1: f32 {:.1e}, f64 {:.1e} of the weight",
        (f64::from(single) - exact).abs() / exact,
        (double - exact).abs() / exact,
    );
}

/// A vote of many survivors: what it takes to keep them, and to ask them.
fn voted(n_survivors: usize) -> String {
    let mut data = SparseData::new(2 * n_survivors + 2_000, 75);
    // Labels that cannot be learned, so that about every second row makes a new survivor of its own.
    let mut random = Random::new(5);
    data.classes.iter_mut().for_each(|class| *class = random.below(2) as u32);
    let remember = Remember { survivors: true, ..Remember::default() };
    let before = resident();
    let (_, run) = ours(data.examples(), Binary, remember);
    let logged = resident();
    let Some(Kept::Votes(votes)) = run.read(Readout::Voted) else {
        unreachable!("survivors were remembered")
    };
    let ready = resident();
    let (mut scores, mut scratch) = ([0.0], Vec::new());
    let mut best = Duration::MAX;
    for idx in 0..200 {
        let row = data.examples().row(idx);
        best = best.min(timed(|| votes.scores(black_box(row), &mut scores, &mut scratch)));
    }
    let megabytes = |from: Option<usize>, to: Option<usize>| match (from, to) {
        (Some(from), Some(to)) => format!("{:.0} MB", to.saturating_sub(from) as f64 / 1e6),
        _ => "?".to_string(),
    };
    format!(
        "voted: {} survivors of {} features from {} distinct rows of 75 entries\n\
         log {} · ready to vote {} more · as weights it would be {:.0} MB · {:.0} us a vote",
        votes.n_moves() + 1,
        SparseData::WIDTH,
        votes.n_rows(),
        megabytes(before, logged),
        megabytes(logged, ready),
        votes.n_moves() as f64 * SparseData::WIDTH as f64 * 8e-6,
        best.as_secs_f64() * 1e6,
    )
}

/// The memory of this process in bytes, where the system tells.
fn resident() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse::<usize>().ok().map(|kilobytes| kilobytes * 1024)
}
