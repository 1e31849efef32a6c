//! `cargo xtask bench kernel --data DIR`: kernel training on MNIST beside a plain loop, scikit-learn and Weka.
//!
//! The kernel is `(1 + x.y)^4` on raw pixels, one digit against the rest, ten times. Measured in one run, taking turns:
//! our seconds per epoch and the speed of the products in it, with support rows stored without their zeros (what
//! suits these rows) and with them, beside the machine's own matrix product (that of `NumPy`); the plain reference, one
//! kernel value at a time, which makes the same mistakes; `SVC(kernel='poly')` on the same rows, its seconds to train
//! and its error; Weka's `VotedPerceptron` on one digit, if its jar is there (`--weka PATH`, else where Debian
//! puts it). Options: `--rows 10000,60000`, `--plain-rows 10000` and `--svc-rows 10000` (the most rows for those that
//! take long), `--epochs N`, `--repeats N`, `--no-peers`, `--python PATH`. The outcome is a folder below
//! `bench/runs`.

use super::tools::{context, output_of, python, today};
use crate::say;
use rosenblatt_core::space::{Outcome, Shape};
use rosenblatt_core::{
    Bias, Convention, EachEpoch, Epoch, Examples, OneVsRest, Order, Plan, Row, Run, rules,
};
use rosenblatt_data::{Dataset, Pictures, ReadOptions, Source, Visitor, load_source};
use rosenblatt_kernel::{KernelSpace, Limits, Plain, errors_at, kernels::Polynomial};
use std::fmt::Write as _;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

const FOLDER: &str = "target/bench-data/kernel";
const DEGREE: u32 = 4;

/// The machine's own matrix product: GFLOP/s of that of `NumPy`, on rows like ours.
const PEAK: &str = "
import time
import numpy as np
a = np.random.rand(6000, 784); b = np.random.rand(784, 1920)
best = 1e9
for _ in range(7):
    t = time.perf_counter(); a @ b; best = min(best, time.perf_counter() - t)
print(2 * 6000 * 784 * 1920 / best / 1e9)
";

/// Fits and prints seconds and test error.
const SVC: &str = "
import sys, time
import numpy as np
from sklearn.svm import SVC
x = np.fromfile(sys.argv[1], dtype=np.float32).reshape(-1, 784).astype(float); y = np.fromfile(sys.argv[2], dtype=np.uint32)
xt = np.fromfile(sys.argv[3], dtype=np.float32).reshape(-1, 784).astype(float); yt = np.fromfile(sys.argv[4], dtype=np.uint32)
n = int(sys.argv[5]); s = 1 / 255.0**2
m = SVC(kernel='poly', degree=4, gamma=s, coef0=s, C=1000.0, cache_size=2000)
t = time.perf_counter(); m.fit(x[:n], y[:n]); seconds = time.perf_counter() - t
print(seconds, 1 - m.score(xt, yt))
";

struct Sample {
    who: String,
    rows: usize,
    repeat: usize,
    /// Of an epoch, or of a fit.
    seconds: f64,
    /// Of the products; 0 where they are not measured apart.
    gflops: f64,
    /// On the test rows; not a number where it was not asked.
    error: f64,
    mistakes: u64,
}

pub(crate) fn run(words: &[String]) -> Result<(), String> {
    let after = |word: &str| words.iter().skip_while(|other| *other != word).nth(1);
    let number = |word: &str, default: usize| {
        after(word).map_or(Ok(default), |text| text.parse()).map_err(|_| format!("{word} N"))
    };
    let folder = after("--data").ok_or("--data DIR: the folder with the four IDX files of MNIST")?;
    let (n_repeats, n_epochs) = (number("--repeats", 3)?, number("--epochs", 1)? as u64);
    let (plain_rows, svc_rows) = (number("--plain-rows", 10_000)?, number("--svc-rows", 10_000)?);
    let sizes = after("--rows").map_or("10000,60000", String::as_str).split(',');
    let sizes: Vec<usize> =
        sizes.map(str::parse).collect::<Result<_, _>>().map_err(|_| "--rows N,N".to_owned())?;
    let with_peers = !words.iter().any(|word| word == "--no-peers");
    let (train, test) = (read(folder, "train", true)?, read(folder, "t10k", true)?);
    let python = if with_peers {
        after("--python").map(PathBuf::from).or_else(|| python(&["scikit-learn", "numpy"]))
    } else {
        None
    };
    let files = write_arrays(FOLDER, &train, &test)?;
    let mut samples = Vec::new();
    let mut note = |sample: Sample| {
        let Sample { who, rows, repeat, seconds, gflops, error, mistakes } = &sample;
        say(&format!(
            "{repeat} {who:<22} {rows:>6} rows {seconds:9.3} s, {gflops:6.1} GFLOP/s, {mistakes} mistakes, error {error:.4}"
        ));
        samples.push(sample);
    };
    for repeat in 0..n_repeats {
        if let Some(python) = &python {
            match output_of(Command::new(python).args(["-c", PEAK])).map(|text| text.trim().parse::<f64>()) {
                Ok(Ok(gflops)) => note(peer("matrix product (NumPy)", 0, repeat, 0.0, gflops, f64::NAN)),
                other => say(&format!("missing: NumPy's matrix product ({other:?})")),
            }
        }
        for &rows in &sizes {
            for (who, dense) in [("ours", None), ("ours, dense", Some(true))] {
                note(ours(&train, &test, who, rows, repeat, n_epochs, dense));
            }
            if rows <= plain_rows && repeat == 0 {
                note(plain(&train, rows, repeat));
            }
            if let Some(python) = python.as_ref().filter(|_| rows <= svc_rows && repeat == 0) {
                let mut command = Command::new(python);
                command.args(["-c", SVC]).args(&files).arg(rows.to_string());
                match output_of(&mut command).map(|text| two_numbers(&text)) {
                    Ok(Some((seconds, error))) => {
                        note(peer("SVC(kernel='poly')", rows, repeat, seconds, 0.0, error));
                    }
                    other => say(&format!("missing: scikit-learn's SVC ({other:?})")),
                }
            }
        }
    }
    if with_peers {
        let jar = after("--weka").map_or("/usr/share/java/weka.jar", String::as_str);
        for &rows in sizes.iter().filter(|rows| **rows <= svc_rows) {
            match weka(&train, &test, rows, jar) {
                Ok((seconds, error)) => note(peer("Weka, one digit", rows, 0, seconds, 0.0, error)),
                Err(why) => say(&format!("missing: Weka's VotedPerceptron ({why})")),
            }
        }
    }
    write_run(&samples, n_repeats, n_epochs, words)
}

fn peer(who: &str, rows: usize, repeat: usize, seconds: f64, gflops: f64, error: f64) -> Sample {
    Sample { who: who.to_owned(), rows, repeat, seconds, gflops, error, mistakes: 0 }
}

/// One half of MNIST, with pixels from 0 to 255 or from 0 to 1.
pub(super) fn read(folder: &str, half: &str, unscaled: bool) -> Result<Dataset, String> {
    let path = |kind: &str| {
        let plain = Path::new(folder).join(format!("{half}-{kind}"));
        if plain.exists() { plain } else { Path::new(folder).join(format!("{half}-{kind}.gz")) }
    };
    let read = ReadOptions {
        labels_file: Some(path("labels-idx1-ubyte")),
        pictures: Pictures { unscaled, ..Pictures::default() },
        ..ReadOptions::default()
    };
    load_source(&Source::file(path("images-idx3-ubyte")), &read).map_err(|error| error.report())
}

fn kernel() -> Arc<Polynomial> {
    let scale = 1.0 / (255.0 * 255.0);
    Arc::new(Polynomial { gamma: scale, offset: scale, degree: DEGREE })
}

const SHAPE: Shape = Shape { width: 784, n_outputs: 10, bias: Bias::None };

/// Learns from the first rows in a random order that stays. The seconds of an epoch.
struct Learn<S> {
    space: S,
    rows: usize,
    epochs: u64,
}

impl<S: Outcome<Memory = ()>> Visitor for Learn<S> {
    type Output = (f64, u64, Run<rules::Perceptron, S, OneVsRest>);

    fn visit<E: Examples>(self, examples: E) -> Self::Output {
        let convention = Convention { bias: Bias::None, ..Convention::default() };
        let (rule, decision) = (rules::Perceptron::default(), OneVsRest::new(10));
        let mut run = Run::from_parts(rule, self.space, (), decision, convention, Vec::new(), 0);
        let rows: Vec<u32> = (0..self.rows.min(examples.len()) as u32).collect();
        let order = Order::ShuffleOnce;
        let plan = Plan {
            rows: Some(&rows),
            order: &order,
            seed: 0,
            epochs: self.epochs,
            max_updates: None,
            stop_when_clean: true,
        };
        let mut mistakes = 0;
        let mut observer = EachEpoch(|epoch: &Epoch| {
            mistakes += epoch.mistakes;
            ControlFlow::Continue(())
        });
        let start = Instant::now();
        run.fit(examples, &plan, &mut observer);
        (start.elapsed().as_secs_f64() / self.epochs as f64, mistakes, run)
    }
}

fn ours(
    train: &Dataset,
    test: &Dataset,
    who: &str,
    rows: usize,
    repeat: usize,
    epochs: u64,
    dense: Option<bool>,
) -> Sample {
    struct Errors<'a>(&'a rosenblatt_kernel::Learned, u64);
    impl Visitor for Errors<'_> {
        type Output = f64;
        fn visit<E: Examples>(self, examples: E) -> f64 {
            errors_at(self.0, examples, &[self.1])[0][2] / examples.len() as f64
        }
    }
    let space = KernelSpace::new(kernel(), SHAPE, Limits { dense, ..Limits::default() });
    let (seconds, mistakes, run) = train.visit(Learn { space, rows, epochs });
    let effort = run.space().effort();
    let gflops = effort.pairs as f64 * 784.0 * 2.0 / effort.seconds / 1e9;
    let error = test.visit(Errors(run.space().learned(), run.totals().rounds));
    Sample { who: who.to_owned(), rows, repeat, seconds, gflops, error, mistakes }
}

fn plain(train: &Dataset, rows: usize, repeat: usize) -> Sample {
    let space = Plain::new(kernel(), SHAPE);
    let (seconds, mistakes, _) = train.visit(Learn { space, rows, epochs: 1 });
    Sample {
        who: "plain reference".to_owned(),
        rows,
        repeat,
        seconds,
        gflops: 0.0,
        error: f64::NAN,
        mistakes,
    }
}

/// All pixels of a row, zeros too.
fn pixels<R: Row>(row: R) -> [f64; 784] {
    let mut pixels = [0.0; 784];
    row.entries().for_each(|(pixel, value)| pixels[pixel] = value);
    pixels
}

/// The rows as bare arrays, for `NumPy`.
pub(super) fn write_arrays(folder: &str, train: &Dataset, test: &Dataset) -> Result<Vec<PathBuf>, String> {
    struct Values;
    impl Visitor for Values {
        type Output = Vec<u8>;
        fn visit<E: Examples>(self, examples: E) -> Vec<u8> {
            let rows = (0..examples.len()).map(|row| pixels(examples.row(row)));
            rows.flat_map(|row| row.map(|value| (value as f32).to_le_bytes()).concat()).collect()
        }
    }
    fs::create_dir_all(folder).map_err(context("making the folder"))?;
    let mut paths = Vec::new();
    for (name, data) in [("train", train), ("test", test)] {
        let classes: Vec<u8> = data.classes().iter().flat_map(|class| class.to_le_bytes()).collect();
        for (kind, bytes) in [("rows", data.visit(Values)), ("classes", classes)] {
            let path = PathBuf::from(folder).join(format!("{name}-{kind}.bin"));
            fs::write(&path, bytes).map_err(context("writing rows for the peers"))?;
            paths.push(path);
        }
    }
    Ok(paths)
}

/// Weka on the digit 0 against the rest: seconds of the whole process, and the test error.
fn weka(train: &Dataset, test: &Dataset, rows: usize, jar: &str) -> Result<(f64, f64), String> {
    if !Path::new(jar).exists() {
        return Err(format!("there is no {jar}; install it, or say `--weka PATH`"));
    }
    let mut paths = Vec::new();
    for (name, data, n_rows) in [("train", train, rows), ("test", test, test.len())] {
        let path = PathBuf::from(FOLDER).join(format!("{name}-{n_rows}.arff"));
        fs::write(&path, data.visit(Arff(n_rows))).map_err(context("writing ARFF"))?;
        paths.push(path);
    }
    let start = Instant::now();
    let mut command = Command::new("java");
    command.args(["-Xmx4g", "-cp", jar, "weka.classifiers.functions.VotedPerceptron"]);
    command
        .args(["-I", "1", "-E", "4.0", "-M", "1000000", "-o", "-t"])
        .arg(&paths[0])
        .arg("-T")
        .arg(&paths[1]);
    let text = output_of(&mut command)?;
    let seconds = start.elapsed().as_secs_f64();
    let line = text.lines().rfind(|line| line.starts_with("Incorrectly Classified")).ok_or("no result")?;
    let percent = line.split_whitespace().rev().nth(1).and_then(|word| word.parse::<f64>().ok());
    Ok((seconds, percent.ok_or("no result")? / 100.0))
}

/// The first rows as Weka reads them, pixels from 0 to 1.
struct Arff(usize);

impl Visitor for Arff {
    type Output = String;

    fn visit<E: Examples>(self, examples: E) -> String {
        let mut text = "@relation mnist\n".to_owned();
        for pixel in 0..784 {
            let _ = writeln!(text, "@attribute p{pixel} numeric");
        }
        text.push_str("@attribute class {rest,zero}\n@data\n");
        for row in 0..self.0.min(examples.len()) {
            for value in pixels(examples.row(row)) {
                let _ = write!(text, "{},", value / 255.0);
            }
            text.push_str(if examples.class(row) == 0 { "zero\n" } else { "rest\n" });
        }
        text
    }
}

fn two_numbers(text: &str) -> Option<(f64, f64)> {
    let mut numbers = text.lines().last()?.split_whitespace().map(|word| word.parse::<f64>().ok());
    Some((numbers.next()??, numbers.next()??))
}

/// A share in percent; a dash where it is not known.
fn percent(share: f64, digits: usize) -> String {
    if share.is_nan() { "-".to_owned() } else { format!("{:.digits$} %", share * 100.0) }
}

fn write_run(samples: &[Sample], n_repeats: usize, n_epochs: u64, words: &[String]) -> Result<(), String> {
    let date = today();
    let folder = PathBuf::from(format!("bench/runs/{date}-kernel"));
    fs::create_dir_all(&folder).map_err(context("making the folder of the run"))?;
    let mut raw = "who,rows,repeat,seconds,gflops,error,mistakes\n".to_owned();
    for Sample { who, rows, repeat, seconds, gflops, error, mistakes } in samples {
        let _ = writeln!(raw, "\"{who}\",{rows},{repeat},{seconds},{gflops},{error},{mistakes}");
    }
    let peak = samples.iter().filter(|sample| sample.who.starts_with("matrix")).map(|sample| sample.gflops);
    let peak = peak.fold(f64::NAN, f64::max);
    let mut sizes: Vec<usize> = samples.iter().map(|sample| sample.rows).filter(|rows| *rows > 0).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let mut summary = format!(
        "Least seconds of {n_repeats}: of ours and the plain reference per epoch, of the peers to train. The machine's own \
         matrix product reaches {peak:.1} GFLOP/s. GFLOP/s of ours count every pixel, also the zeros that are \
         passed over.\n\n| rows | who | s | ratio to ours | GFLOP/s of the products | of the peak | test error | mistakes |\n\
         |---|---|---|---|---|---|---|---|\n"
    );
    for rows in sizes {
        let least = |who: &str| {
            let of_who = samples.iter().filter(|sample| sample.rows == rows && sample.who == who);
            of_who.min_by(|a, b| a.seconds.total_cmp(&b.seconds))
        };
        let Some(ours) = least("ours") else { continue };
        let all = ["ours", "ours, dense", "plain reference", "SVC(kernel='poly')", "Weka, one digit"];
        for sample in all.into_iter().filter_map(least) {
            let Sample { who, seconds, gflops, error, mistakes, .. } = sample;
            let speed = if *gflops > 0.0 { format!("{gflops:.1}") } else { "-".to_owned() };
            let share = percent(if *gflops > 0.0 { gflops / peak } else { f64::NAN }, 0);
            let error = percent(*error, 2);
            let mistakes = if *mistakes > 0 { mistakes.to_string() } else { "-".to_owned() };
            let ratio = seconds / ours.seconds;
            let _ = writeln!(
                summary,
                "| {rows} | {who} | {seconds:.3} | {ratio:.1} | {speed} | {share} | {error} | {mistakes} |"
            );
        }
    }
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let words: Vec<&str> = words.iter().map(|word| word.rsplit('/').next().unwrap_or(word)).collect();
    let readme = format!(
        "# Kernel perceptrons on MNIST, {date}\n\n- Command: `cargo xtask bench kernel {}`\n\
         - Machine: {cores} cores; load at the end {}\n- Kernel (1 + x.y)^4 on raw pixels, one digit against the rest, \
         {n_epochs} epochs in one random order; the error is that of the vote.\n- Plain reference: the same \
         algorithm, one kernel value at a time, with the same mistakes.\n- Peers: the fit alone; Weka the whole \
         process, one digit of ten. A peer that is not in the table could not be had.\n- The machine is shared, so \
         that only ratios within this run count.\n",
        words.join(" "),
        load.trim()
    );
    for (name, text) in [("README.md", &readme), ("raw.csv", &raw), ("summary.md", &summary)] {
        fs::write(folder.join(name), text).map_err(context("writing the run"))?;
    }
    say(&format!("{summary}\nwritten to {}", folder.display()));
    Ok(())
}
