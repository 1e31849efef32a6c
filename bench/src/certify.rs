//! `cargo xtask bench certify`: proving a margin beside hard-margin machines that only approach it.
//!
//! Every file is a question in libsvm form: one generated here with a fixed seed, and those named by
//! `--file PATH` (may be repeated). `decide` brings the margin to a gap of 1e-6 and proves it; its upper
//! bound is the yardstick. scikit-learn's `SVC` (LIBSVM) and `LinearSVC` (LIBLINEAR) with a large C are
//! fitted with ever smaller tolerances until their margin is within 1e-6 of that bound, or they do not get
//! there. All take turns, several times over; seconds are those of the fit, or of deciding, proving and
//! checking. The outcome is a folder below `bench/runs`. Options: `--repeats N`,
//! `--no-peers`, `--python PATH` (one that has scikit-learn, instead of an environment made here). `--campaign N` and
//! `--lp` are about verdicts: see `verdicts.rs`.

use super::tools::{Random, after, answer, context, cores, generate, load, number, output_of, python, today};
use super::verdicts;
use crate::say;
use rosenblatt_certify::{NotFinite, Question, Rows, Verdict, check, decide};
use rosenblatt_core::Examples;
use rosenblatt_data::{Precision, ReadOptions, Source, Visitor, load_source};
use std::fmt::Write as _;
use std::fs;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

const FOLDER: &str = "target/bench-data/certify";

/// Fits until the margin is sharp. Prints seconds of the last fit, how much is missing, and the tolerance.
const PEER: &str = "
import sys, time, warnings
import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.svm import SVC, LinearSVC
warnings.filterwarnings('ignore')
x, y = load_svmlight_file(sys.argv[1])
x = x.toarray() if x.shape[1] <= 1000 else x
x = x / abs(x).max()
best = float(sys.argv[3]) / float(sys.argv[4])
y = np.where(y > 0, 1, -1)
for tol in [1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9]:
    if sys.argv[2] == 'SVC':
        m = SVC(kernel='linear', C=1e8, tol=tol, cache_size=2000, max_iter=5_000_000)
    else:
        m = LinearSVC(C=1e6, loss='hinge', dual=True, tol=tol, max_iter=20_000, intercept_scaling=10, random_state=0)
    t = time.perf_counter()
    m.fit(x, y)
    seconds = time.perf_counter() - t
    w = m.coef_.ravel()
    s = np.asarray(x @ w).ravel()
    margin = (s[y > 0].min() - s[y < 0].max()) / 2 / np.linalg.norm(w)
    missing = 1 - margin / best
    if missing <= 1e-6 or seconds > 60:
        break
print(seconds, missing, tol)
";

struct Sample {
    file: String,
    who: &'static str,
    repeat: usize,
    seconds: f64,
    missing: f64,
}

pub(super) fn run(words: &[String]) -> Result<(), String> {
    if after(words, "--campaign").is_some() {
        return verdicts::campaign(words);
    }
    if words.iter().any(|word| word == "--lp") {
        return verdicts::beside_a_linear_program(words);
    }
    let n_repeats: usize = number(words, "--repeats", 3)?;
    let with_peers = !words.iter().any(|word| word == "--no-peers");
    fs::create_dir_all(FOLDER).map_err(context("making the folder"))?;
    let generated = PathBuf::from(FOLDER).join("slab.svm");
    generate(&generated, |out| write_slab(out, 5_000, 20))?;
    let named = words.iter().zip(words.iter().skip(1)).filter(|(word, _)| *word == "--file");
    let files: Vec<PathBuf> =
        [generated].into_iter().chain(named.map(|(_, file)| PathBuf::from(file))).collect();
    let python = if with_peers {
        after(words, "--python").map(PathBuf::from).or_else(|| python(&["scikit-learn"]))
    } else {
        None
    };
    let mut samples = Vec::new();
    for repeat in 0..n_repeats {
        for file in &files {
            let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let (seconds, at_most, gap) = ours(file)?;
            let mut note = |who: &'static str, seconds: f64, missing: f64| {
                say(&format!("{repeat} {name:<16} {who:<12} {seconds:9.3} s, {missing:.1e} missing"));
                samples.push(Sample { file: name.clone(), who, repeat, seconds, missing });
            };
            note("ours", seconds, gap);
            let Some(python) = &python else { continue };
            let largest = largest(file)?;
            for who in ["SVC", "LinearSVC"] {
                let mut command = Command::new(python);
                command.args(["-c", PEER]).arg(file).args([who, &at_most.to_string(), &largest.to_string()]);
                match output_of(&mut command).map(|text| numbers(&text)) {
                    Ok(Some((seconds, missing))) => note(who, seconds, missing),
                    Ok(None) => say(&format!("{who} on {name}: no numbers")),
                    Err(why) => say(&format!("missing: {who} on {name} ({why})")),
                }
            }
        }
    }
    write_run(&samples, n_repeats, words)
}

/// Seconds, upper bound and gap of a certified margin, from a process of its own.
fn ours(file: &Path) -> Result<(f64, f64, f64), String> {
    let mut command = Command::new(super::own()?);
    let text = output_of(command.args(["bench", "certify-probe"]).arg(file))?;
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    match numbers.as_slice() {
        [seconds, at_most, gap] => Ok((*seconds, *at_most, *gap)),
        _ => Err(format!("{}: {}", file.display(), text.trim())),
    }
}

/// The measuring process: decides one file, checks the certificate, prints seconds, upper bound and gap.
pub(super) fn probe(words: &[String]) -> Result<(), String> {
    struct Collect;
    impl Visitor for Collect {
        type Output = Result<Rows, NotFinite>;
        fn visit<E: Examples>(self, examples: E) -> Self::Output {
            Rows::new(examples, |class| Some(class == 1))
        }
    }
    let [file] = words else { return Err("expected a file".to_owned()) };
    let read = ReadOptions {
        precision: Precision::Double,
        format: Some("libsvm".to_owned()),
        ..ReadOptions::default()
    };
    let data = load_source(&Source::file(file), &read).map_err(|error| error.report())?;
    let rows = data.visit(Collect).map_err(|error| error.to_string())?;
    let start = Instant::now();
    let decided = decide(&rows, Question::default(), &|_| ControlFlow::Continue(()));
    let certificate = decided.certificate(&rows, true, None, [None, None]).ok_or("undecided")?;
    check(&certificate, &rows)?;
    if !matches!(decided.verdict, Verdict::Separable(_)) {
        return Err("not separable, so that there is no margin to compare".to_owned());
    }
    answer(&format!("{} {} {}", start.elapsed().as_secs_f64(), decided.at_most, decided.gap()));
    Ok(())
}

/// The largest value of a libsvm file, by which the peers' rows are divided: they are slow without.
fn largest(file: &Path) -> Result<f64, String> {
    let text = fs::read_to_string(file).map_err(context("reading"))?;
    let values = text.split_whitespace().filter_map(|word| word.split_once(':')?.1.parse::<f64>().ok());
    Ok(values.map(f64::abs).fold(0.0, f64::max))
}

fn numbers(text: &str) -> Option<(f64, f64)> {
    let mut numbers = text.lines().last()?.split_whitespace().map(|word| word.parse::<f64>().ok());
    Some((numbers.next()??, numbers.next()??))
}

/// Normal points, and between the sides a slab around a random plane in which there are none.
fn write_slab(out: &mut impl Write, n_rows: usize, width: usize) -> std::io::Result<()> {
    let mut random = Random(1957);
    let plane: Vec<f64> = (0..width).map(|_| random.normal()).collect();
    let norm = plane.iter().map(|x| x * x).sum::<f64>().sqrt();
    let mut n_written = 0;
    while n_written < n_rows {
        let row: Vec<f64> = (0..width).map(|_| random.normal()).collect();
        let distance = row.iter().zip(&plane).map(|(x, w)| x * w).sum::<f64>() / norm - 0.5;
        if distance.abs() < 0.05 {
            continue;
        }
        write!(out, "{}", if distance > 0.0 { "+1" } else { "-1" })?;
        for (feature, value) in row.iter().enumerate() {
            write!(out, " {}:{value:.5}", feature + 1)?;
        }
        writeln!(out)?;
        n_written += 1;
    }
    Ok(())
}

fn write_run(samples: &[Sample], n_repeats: usize, words: &[String]) -> Result<(), String> {
    let date = today();
    let folder = PathBuf::from(format!("bench/runs/{date}-certify"));
    fs::create_dir_all(&folder).map_err(context("making the folder of the run"))?;
    let mut raw = "file,who,repeat,seconds,missing\n".to_owned();
    for Sample { file, who, repeat, seconds, missing } in samples {
        let _ = writeln!(raw, "{file},{who},{repeat},{seconds},{missing:e}");
    }
    let mut summary = format!(
        "Minima of {n_repeats}. Missing: by how much the margin falls short of the certified upper bound.\n\n\
         | question | who | s | ratio to ours | missing |\n|---|---|---|---|---|\n"
    );
    let mut files: Vec<&str> = samples.iter().map(|sample| sample.file.as_str()).collect();
    files.sort_unstable();
    files.dedup();
    for file in files {
        let least = |who: &str| {
            let of_who = samples.iter().filter(|sample| sample.file == file && sample.who == who);
            of_who.min_by(|a, b| a.seconds.total_cmp(&b.seconds))
        };
        let Some(ours) = least("ours") else { continue };
        for sample in ["ours", "SVC", "LinearSVC"].into_iter().filter_map(least) {
            let Sample { who, seconds, missing, .. } = sample;
            let ratio = seconds / ours.seconds;
            let _ = writeln!(summary, "| {file} | {who} | {seconds:.4} | {ratio:.1} | {missing:.0e} |");
        }
    }
    let words: Vec<&str> = words.iter().map(|word| word.rsplit('/').next().unwrap_or(word)).collect();
    let readme = format!(
        "# Certified margins beside hard-margin machines, {date}\n\n- Command: `cargo xtask bench certify {}`\n\
         - Machine: {} cores; load at the end {}\n- Ours: deciding, the margin to 1e-6, and checking the \
         certificate exactly.\n\
         - Peers: the fit alone, rows divided by the largest value, at the loosest of eight tolerances that brings \
         the margin within 1e-6 of the certified bound, or the last one tried.\n- The machine is shared, so that \
         only ratios within this run count.\n",
        words.join(" "),
        cores(),
        load()
    );
    for (name, text) in [("README.md", &readme), ("raw.csv", &raw), ("summary.md", &summary)] {
        fs::write(folder.join(name), text).map_err(context("writing the run"))?;
    }
    say(&format!("{summary}\nwritten to {}", folder.display()));
    Ok(())
}
