//! The whole command line as a target: any command, any options with any values, over small files that may be anything.
//!
//! Line `k` is a function of `k` alone. Options are those that the program's own help lists, so that new ones are tried
//! without being named here. `ROSENBLATT_LINES` says how many, `ROSENBLATT_LINES_FIRST` from which on. Whatever the line,
//! the program ends by itself, in time, with a code that it promises, in little memory, and its data is what it was.

use crate::bench::Bench;
use rosenblatt::learning::Random;
use std::fmt::Write as _;
use std::fs;
use std::time::{Duration, Instant};

/// Lines that are always tried.
const N_LINES: u64 = 120;

const COMMANDS: [&str; 12] = [
    "train",
    "predict",
    "evaluate",
    "inspect",
    "convert",
    "compare",
    "tune",
    "report",
    "plot",
    "certify",
    "trace",
    "catalogue",
];

/// What follows an option: numbers at the edges, names of everything, and files.
const VALUES: [&str; 48] = [
    "0",
    "1",
    "-1",
    "2",
    "3",
    "0.5",
    "1e-320",
    "1e308",
    "1e20",
    "nan",
    "inf",
    "-inf",
    "18446744073709551616",
    "-0",
    "1e400",
    "0x10",
    "''",
    "a",
    "b",
    "yes",
    "label",
    "x",
    "y",
    "perceptron",
    "pa1",
    "arow",
    "voted",
    "averaged",
    "last",
    "poly",
    "rbf",
    "fourier",
    "csv",
    "libsvm",
    "json",
    "auto",
    "none",
    "standard",
    "f64",
    "1KiB",
    "100KiB",
    "10s",
    "one-vs-one",
    "C=1",
    "C=nan",
    "new.out",
    "'\u{1b}[8m'",
    "5%",
];

/// The long options of a command, and whether a value follows.
fn options(bench: &Bench, command: &str) -> Vec<(String, bool)> {
    let help = bench.ok(&format!("rosenblatt {command} --help-all"));
    let mut found = Vec::new();
    for line in help.lines().map(str::trim_start).filter(|line| line.starts_with('-')) {
        let Some(at) = line.find("--") else { continue };
        let rest = &line[at..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(rest.len());
        if !["--help", "--version"].contains(&&rest[..end]) {
            found.push((rest[..end].to_owned(), rest[end..].starts_with(" <")));
        }
    }
    found
}

/// Small files, some of them no good.
fn write_files(bench: &Bench, random: &mut Random) {
    let mut table = "x,z,kind,label\n".to_owned();
    let mut svm = String::new();
    for i in 0..40_u64 {
        let (x, y) = (random.below(100) as f64 / 7.0, random.below(100) as f64 / 3.0);
        let class = if x > y / 2.0 { "a" } else { "b" };
        let _ = writeln!(table, "{x},{y},{},{class}", ["red", "blue"][(i % 2) as usize]);
        let _ = writeln!(svm, "{} 1:{x} 2:{y}", u8::from(class == "a"));
    }
    let mut spoiled = table.clone().into_bytes();
    for _ in 0..=random.below(4) {
        let at = random.below(spoiled.len() as u64) as usize;
        spoiled[at] = random.next() as u8;
    }
    bench.write("t.csv", &table);
    bench.write("d.svm", svm);
    bench.write("bad.csv", spoiled);
    bench.write("s.tsv", "ham\thello there\nspam\tbuy now\nham\tsee you\nspam\tfree money\n");
    bench.write("empty.csv", "");
}

fn line(options: &[Vec<(String, bool)>], random: &mut Random) -> (String, &'static str) {
    let which = random.below(COMMANDS.len() as u64) as usize;
    let data =
        ["t.csv", "d.svm", "bad.csv", "s.tsv", "empty.csv", "m.model", "nowhere"][random.below(7) as usize];
    let mut words = format!("rosenblatt {}", COMMANDS[which]);
    let _ = match COMMANDS[which] {
        "catalogue" => Ok(()),
        "inspect" => write!(words, " m.model"),
        "report" => write!(words, " {data} --model m.model"),
        "plot" => {
            write!(words, " {} {data}", ["boundary", "weights", "roc", "curves"][random.below(4) as usize])
        }
        "convert" => {
            write!(words, " {data} new.{}", ["csv", "svm", "jsonl", "npz"][random.below(4) as usize])
        }
        "predict" | "evaluate" => write!(words, " {data} --model m.model"),
        "train" => write!(words, " {data} --model new.model"),
        _ => write!(words, " {data}"),
    };
    for _ in 0..random.below(5) {
        let all = &options[which];
        if all.is_empty() {
            break;
        }
        let (name, has_value) = &all[random.below(all.len() as u64) as usize];
        let _ = write!(words, " {name}");
        if *has_value {
            let _ = write!(words, " {}", VALUES[random.below(VALUES.len() as u64) as usize]);
        }
    }
    (words, data)
}

#[test]
fn whatever_is_typed_ends_in_order() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let first = number("ROSENBLATT_LINES_FIRST").unwrap_or(0);
    let n_lines = number("ROSENBLATT_LINES").unwrap_or(N_LINES);
    let bench = Bench::new();
    let options: Vec<Vec<(String, bool)>> = COMMANDS.iter().map(|command| options(&bench, command)).collect();
    assert!(options.iter().map(Vec::len).sum::<usize>() > 100, "the help lists its options");
    write_files(&bench, &mut Random::new(0));
    bench.ok("rosenblatt train t.csv --algorithm perceptron --quiet --model m.model");
    let model = fs::read(bench.path("m.model")).unwrap();
    let mut codes = [0_u64; 4];
    for k in first..first + n_lines {
        let mut random = Random::for_purpose(k, "command lines");
        write_files(&bench, &mut random);
        fs::write(bench.path("m.model"), &model).unwrap();
        let (words, data) = line(&options, &mut random);
        let before = fs::read(bench.path(data)).ok();
        let start = Instant::now();
        // Endless runs may be asked for (`--epochs 18446744073709551615`): they are stopped as a person would.
        let done = bench.run(&format!("ulimit -v 4000000; timeout --preserve-status -s INT -k 20 5 {words}"));
        let took = start.elapsed();
        let printed = format!("line {k}: {words}\n{:?} after {took:?}\n{}", done.code, done.all());
        match done.code {
            Some(code @ 0..=3) => codes[code as usize] += 1,
            Some(130) => assert!(took < Duration::from_secs(12), "{printed}"),
            _ => panic!("{printed}"),
        }
        let all = done.all();
        for sign in ["panicked", "this is a bug", "no more memory", "RUST_BACKTRACE"] {
            assert!(!all.contains(sign), "{printed}");
        }
        assert_eq!(fs::read(bench.path(data)).ok(), before, "{printed}");
    }
    println!("lines {first} to {}: codes {codes:?}", first + n_lines);
    assert!(n_lines < N_LINES || (codes[0] > 0 && codes[1] > 0 && codes[2] > 0), "{codes:?}");
}
