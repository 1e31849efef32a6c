//! How fast text that is in memory becomes rows: the parsers alone, without disk and without large memory.
//!
//! `cargo bench -p rosenblatt-data`. Every text is some megabytes and read again and again on one thread;
//! the quickest time counts, so that a busy machine does little harm. For whole files beside other programs see
//! `cargo xtask bench data`.

use rosenblatt_data::{ReadOptions, Source, count_marks, load_source, survey};
use std::fmt::Write as _;
use std::time::Instant;

/// How long each text is: longer than what opening a table costs, shorter than the cache.
const BYTES: usize = 8 << 20;

fn main() {
    let mut state = 1958_u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut sparse = String::new();
    while sparse.len() < BYTES {
        sparse += if random(2) == 0 { "+1" } else { "-1" };
        let mut index = 0;
        for _ in 0..75 {
            index += 1 + random(1200);
            let _ = write!(sparse, " {index}:0.{:07}", random(4_000_000));
        }
        sparse.push('\n');
    }
    let mut ones = String::new();
    while ones.len() < BYTES {
        ones += if random(2) == 0 { "+1" } else { "-1" };
        for place in 0..14 {
            let _ = write!(ones, " {}:1", place * 9 + 1 + random(9));
        }
        ones += " \n";
    }
    let mut dense = String::new();
    while dense.len() < BYTES {
        for _ in 0..28 {
            let sign = if random(2) == 0 { "-" } else { "" };
            let _ = write!(dense, "{sign}{}.{:05},", random(3), random(100_000));
        }
        let _ = writeln!(dense, "{}", random(2));
    }
    for (name, text) in [("libsvm.svm", sparse), ("ones.svm", ones), ("table.csv", dense)] {
        let length = text.len() as f64;
        let marks = quickest(|| count_marks(text.as_bytes()));
        let source = Source::bytes(name, text.into_bytes());
        let how = ReadOptions { threads: 1, ..ReadOptions::as_stored() };
        // Every block takes the place of the one before, so that fresh memory costs nothing.
        let parse = quickest(|| survey(&source, &how).map_or(0, |found| found.n_rows as usize));
        let load = quickest(|| load_source(&source, &how).map_or(0, |dataset| dataset.len()));
        say(&format!(
            "{name:<11} separators {:.2} GB/s, parsed {:.2} GB/s, in memory {:.2} GB/s",
            length / marks / 1e9,
            length / parse / 1e9,
            length / load / 1e9
        ));
    }
}

/// The shortest of many times, in seconds.
fn quickest(mut work: impl FnMut() -> usize) -> f64 {
    let times = (0..100).map(|_| {
        let start = Instant::now();
        std::hint::black_box(work());
        start.elapsed().as_secs_f64()
    });
    times.fold(f64::INFINITY, f64::min)
}

#[expect(clippy::print_stdout, reason = "a benchmark says its figures")]
fn say(text: &str) {
    println!("{text}");
}
