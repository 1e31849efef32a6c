//! `cargo xtask bench data`: how fast text becomes rows, beside the peers and the machine's own limits.
//!
//! Two files are generated with fixed seeds (`target/bench-data`): one like RCV1 in libsvm text, one table of
//! numbers in CSV. Every measurement is a process of its own that says its seconds and its peak memory; all
//! of them take turns, several times over, and the minimum of each counts. Peers run in a Python
//! environment that is made here with pip; those that cannot be had are named as missing. The outcome is a
//! folder below `bench/runs`. Options: `--repeats N`, `--no-peers`, `--small` (a tenth of the rows).

use super::probes::{in_pieces, touched};
use super::tools::{
    FOLDER, Random, answer, context, generate, load, machine, number, output_of, python, today, versions,
};
use super::workloads::{WordRows, digits};
use crate::say;
use rosenblatt_data::{ReadOptions, Source, blocks, count_marks, load_source};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

const PACKAGES: &[&str] = &["scikit-learn", "polars", "xgboost-cpu"];

/// One thing that is measured.
struct Case {
    file: &'static str,
    name: &'static str,
    how: How,
}

enum How {
    /// This program, in its own process: the probe and the number of threads.
    Probe(&'static str, usize),
    /// A Python script that prints its seconds.
    Python(&'static str),
    /// A program, timed from outside: name and arguments before and after the file.
    Program(&'static str, &'static [&'static str], &'static [&'static str]),
}

const SKLEARN: &str = "
import sys, time
from sklearn.datasets import load_svmlight_file
t, c = time.perf_counter(), time.process_time(); x, y = load_svmlight_file(sys.argv[1]); print(time.perf_counter() - t, time.process_time() - c)
";

const XGBOOST: &str = "
import sys, time
import xgboost
t, c = time.perf_counter(), time.process_time(); d = xgboost.DMatrix(sys.argv[1] + '?format=libsvm'); print(time.perf_counter() - t, time.process_time() - c)
";

const POLARS: &str = "
import sys, time
import polars
t, c = time.perf_counter(), time.process_time(); d = polars.read_csv(sys.argv[1]); print(time.perf_counter() - t, time.process_time() - c)
";

const SVM: &str = "rcv1-like.svm";
const CSV: &str = "table.csv";

const CASES: &[Case] = &[
    Case { file: SVM, name: "touch every byte", how: How::Probe("touch", 1) },
    Case { file: SVM, name: "find the separators", how: How::Probe("marks", 1) },
    Case { file: SVM, name: "ours, to CSR, 1 thread", how: How::Probe("load", 1) },
    Case { file: SVM, name: "ours, to CSR, 2 threads", how: How::Probe("load", 2) },
    Case { file: SVM, name: "ours, streamed, 1 thread", how: How::Probe("stream", 1) },
    Case { file: SVM, name: "ours, streamed, 2 threads", how: How::Probe("stream", 2) },
    Case { file: SVM, name: "scikit-learn load_svmlight_file", how: How::Python(SKLEARN) },
    Case {
        file: SVM,
        name: "LIBLINEAR's reader (-s 2 -e 1e30)",
        how: How::Program("liblinear-train", &["-s", "2", "-e", "1e30", "-q"], &["/dev/null"]),
    },
    Case { file: SVM, name: "XGBoost DMatrix, all threads", how: How::Python(XGBOOST) },
    Case { file: CSV, name: "touch every byte", how: How::Probe("touch", 1) },
    Case { file: CSV, name: "find the separators", how: How::Probe("marks", 1) },
    Case { file: CSV, name: "ours, to rows, 1 thread", how: How::Probe("load", 1) },
    Case { file: CSV, name: "ours, to rows, 2 threads", how: How::Probe("load", 2) },
    Case { file: CSV, name: "ours, streamed, 1 thread", how: How::Probe("stream", 1) },
    Case { file: CSV, name: "ours, streamed, 2 threads", how: How::Probe("stream", 2) },
    Case { file: CSV, name: "Polars read_csv, all threads", how: How::Python(POLARS) },
];

/// What was measured once.
struct Sample {
    case: usize,
    repeat: usize,
    seconds: f64,
    cpu_seconds: f64,
    peak_kib: u64,
}

/// The peak memory of a stream.
struct Streamed {
    file: String,
    length: &'static str,
    threads: usize,
    seconds: f64,
    peak_kib: u64,
}

/// How many times longer the long streams are.
const MANY: usize = 20;

/// How long a stream is.
#[derive(Clone, Copy)]
enum Length {
    Once,
    /// The same file many times.
    Files,
    /// One stream, on standard input, that is many times as long.
    Stream,
}

impl Length {
    fn name(self) -> &'static str {
        match self {
            Self::Once => "the file",
            Self::Files => "20 such files",
            Self::Stream => "one stream 20 times as long",
        }
    }
}

/// What one process says: wall seconds, processor seconds of all its threads, peak memory.
type Numbers = (f64, f64, u64);

pub(super) fn run(words: &[String]) -> Result<(), String> {
    let has = |word: &str| words.iter().any(|other| other == word);
    let n_repeats: usize = number(words, "--repeats", 5)?;
    let scale = if has("--small") { 10 } else { 1 };
    let folder = PathBuf::from(FOLDER).join(if scale == 1 { "full" } else { "small" });
    fs::create_dir_all(&folder).map_err(context("making the folder"))?;
    generate(&folder.join(SVM), |out| write_svm(out, 200_000 / scale))?;
    generate(&folder.join(CSV), |out| write_csv(out, 2_000_000 / scale))?;
    let python = if has("--no-peers") { None } else { python(PACKAGES) };
    let mut missing = Vec::new();
    let mut samples = Vec::new();
    for repeat in 0..n_repeats {
        for (case_idx, case) in CASES.iter().enumerate() {
            let is_peer = !matches!(case.how, How::Probe(..));
            if (is_peer && has("--no-peers")) || missing.iter().any(|(other, _)| *other == case_idx) {
                continue;
            }
            match measure(case, &folder.join(case.file), python.as_deref()) {
                Ok((seconds, cpu_seconds, peak_kib)) => {
                    let Case { file, name, .. } = case;
                    say(&format!(
                        "{repeat} {file:<14} {name:<34} {seconds:8.3} s, {cpu_seconds:8.3} s of CPU"
                    ));
                    samples.push(Sample { case: case_idx, repeat, seconds, cpu_seconds, peak_kib });
                }
                Err(why) if is_peer => {
                    say(&format!("missing: {} ({why})", case.name));
                    missing.push((case_idx, why));
                }
                Err(why) => return Err(format!("{}: {why}", case.name)),
            }
        }
    }
    let mut memory = Vec::new();
    // A tenth of the rows is enough to fill every buffer many times over.
    let folder_of_streams = PathBuf::from(FOLDER).join("small");
    fs::create_dir_all(&folder_of_streams).map_err(context("making the folder"))?;
    generate(&folder_of_streams.join(SVM), |out| write_svm(out, 20_000))?;
    generate(&folder_of_streams.join(CSV), |out| write_csv(out, 200_000))?;
    for (file, compressed) in [(SVM, false), (CSV, false), (SVM, true), (CSV, true)] {
        let mut path = folder_of_streams.join(file);
        if compressed {
            path = match gzip(&path) {
                Ok(path) => path,
                Err(why) => {
                    say(&format!("missing: streams of gzip ({why})"));
                    continue;
                }
            };
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for threads in [1, 2] {
            for length in [Length::Once, Length::Files, Length::Stream] {
                if matches!(length, Length::Stream) && compressed && file == CSV {
                    // Its header would stand in the middle.
                    continue;
                }
                let (seconds, _, peak_kib) = match length {
                    Length::Once => run_probe("stream", threads, &path, 1)?,
                    Length::Files => run_probe("stream", threads, &path, MANY)?,
                    Length::Stream => run_piped(threads, &path, file == CSV)?,
                };
                let length = length.name();
                say(&format!("{name} {length}, {threads} thread(s): {peak_kib} KiB, {seconds:.2} s"));
                memory.push(Streamed { file: name.clone(), length, threads, seconds, peak_kib });
            }
        }
    }
    write_run(&folder, n_repeats, &samples, &missing, &memory, words)
}

/// Rows of words in libsvm text, one label in twenty flipped.
fn write_svm(out: &mut impl Write, n_rows: usize) -> std::io::Result<()> {
    let mut rows = WordRows::new(1958, 0.05, 0.0);
    for _ in 0..n_rows {
        let (is_positive, row) = rows.draw();
        out.write_all(if is_positive { b"+1" } else { b"-1" })?;
        for &(feature, value) in row {
            let n_digits = digits(value);
            write!(out, " {}:{value:.n_digits$}", feature + 1)?;
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// A header, 28 columns of normal numbers with five decimals, and a label.
fn write_csv(out: &mut impl Write, n_rows: usize) -> std::io::Result<()> {
    let mut random = Random(1962);
    for column in 1..=28 {
        write!(out, "x{column},")?;
    }
    out.write_all(b"label\n")?;
    for _ in 0..n_rows {
        let mut score = 0.0;
        for column in 0..28 {
            let value = random.normal();
            score += value * if column % 3 == 0 { 1.0 } else { -0.5 };
            write!(out, "{value:.5},")?;
        }
        writeln!(out, "{}", u8::from(score > 0.0))?;
    }
    Ok(())
}

/// Measures one case once.
fn measure(case: &Case, file: &Path, python: Option<&Path>) -> Result<Numbers, String> {
    match case.how {
        How::Probe(probe, threads) => run_probe(probe, threads, file, 1),
        How::Python(script) => {
            let mut command = Command::new(python.ok_or("no python3 with venv and pip")?);
            numbers_of(command.arg("-c").arg(script).arg(file))
        }
        How::Program(program, before, after) => {
            // The shell says what its child took, as `0m1.234s 0m0.567s` in the last line.
            let mut command = Command::new("sh");
            command.args(["-c", "\"$@\" > /dev/null 2>&1 || exit 1; times", "sh", program]);
            command.args(before).arg(file).args(after);
            let start = Instant::now();
            let text = output_of(&mut command)?;
            let seconds = start.elapsed().as_secs_f64();
            let times = text.lines().last().unwrap_or_default().split_whitespace();
            let cpu_seconds = times
                .filter_map(|time| time.trim_end_matches('s').split_once('m'))
                .filter_map(|(minutes, seconds)| {
                    Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?)
                })
                .sum();
            Ok((seconds, cpu_seconds, 0))
        }
    }
}

/// Runs to the end; the numbers it printed last.
fn numbers_of(command: &mut Command) -> Result<Numbers, String> {
    numbers_in(&output_of(command)?)
}

fn numbers_in(text: &str) -> Result<Numbers, String> {
    let last = text.lines().last().unwrap_or_default();
    let mut numbers = last.split_whitespace().map(|text| text.parse::<f64>().ok());
    let (seconds, cpu_seconds) = (numbers.next().flatten(), numbers.next().flatten());
    let peak_kib = numbers.next().flatten().unwrap_or(0.0) as u64;
    let (seconds, cpu_seconds) = seconds.zip(cpu_seconds).ok_or_else(|| format!("it printed {last}"))?;
    Ok((seconds, cpu_seconds, peak_kib))
}

fn run_probe(probe: &str, threads: usize, file: &Path, n_times: usize) -> Result<Numbers, String> {
    let mut command = Command::new(super::own()?);
    command.args(["bench", "data-probe", probe, &threads.to_string(), &n_times.to_string()]).arg(file);
    numbers_of(&mut command)
}

/// Has a process stream what one file of many times the length would hold.
fn run_piped(threads: usize, file: &Path, has_header: bool) -> Result<Numbers, String> {
    let mut command = Command::new(super::own()?);
    command.args(["bench", "data-probe", "stream", &threads.to_string(), "1", "-"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(context("starting the probe"))?;
    let mut pipe = child.stdin.take().ok_or("no pipe")?;
    for time in 0..MANY {
        let mut input = BufReader::with_capacity(1 << 20, File::open(file).map_err(context("opening"))?);
        if has_header && time > 0 {
            input.skip_until(b'\n').map_err(context("reading"))?;
        }
        std::io::copy(&mut input, &mut pipe).map_err(context("feeding the probe"))?;
    }
    drop(pipe);
    let output = child.wait_with_output().map_err(context("waiting for the probe"))?;
    numbers_in(&String::from_utf8_lossy(&output.stdout))
}

/// The file compressed, beside it.
fn gzip(file: &Path) -> Result<PathBuf, String> {
    let mut name = file.as_os_str().to_owned();
    name.push(".gz");
    let path = PathBuf::from(name);
    if !path.exists() {
        output_of(Command::new("gzip").args(["-1", "--keep"]).arg(file))?;
    }
    Ok(path)
}

/// Processor seconds of this process, in steps of a hundredth.
fn cpu_seconds() -> f64 {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // After the name, which may hold blanks; fields 14 and 15 are ticks of user and system.
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// The measuring process: does one thing once, prints seconds, peak memory in KiB, and what it found.
pub(super) fn probe(words: &[String]) -> Result<(), String> {
    let [what, threads, n_times, file] = words else { return Err("expected a probe".to_owned()) };
    let threads = threads.parse().map_err(|_| "threads")?;
    let n_times: usize = n_times.parse().map_err(|_| "times")?;
    let how = ReadOptions { threads, ..ReadOptions::default() };
    let (start, cpu_before) = (Instant::now(), cpu_seconds());
    let found: usize = match what.as_str() {
        "touch" => in_all(file, |piece| touched(piece) as usize)?,
        "marks" => in_all(file, count_marks)?,
        "load" => load_source(&Source::file(file), &how).map_err(|error| error.report())?.len(),
        "stream" => {
            let source = Source::find_all(std::iter::repeat_n(file, n_times)).map_err(|e| e.report())?;
            let mut stream = blocks(&source, &how).map_err(|error| error.report())?;
            let mut n_rows = 0;
            while let Some(block) = stream.next().map_err(|error| error.report())? {
                n_rows += block.len();
            }
            n_rows
        }
        _ => return Err("no such probe".to_owned()),
    };
    let (seconds, on_cpu) = (start.elapsed().as_secs_f64(), cpu_seconds() - cpu_before);
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0");
    let peak_kib = peak.split_whitespace().next().unwrap_or("0");
    answer(&format!("{seconds} {on_cpu:.3} {peak_kib} {found}"));
    Ok(())
}

/// The sum of what is found in all pieces of a file.
fn in_all(file: &str, work: impl Fn(&[u8]) -> usize) -> Result<usize, String> {
    let mut sum = 0_usize;
    in_pieces(Path::new(file), |piece| sum = sum.wrapping_add(work(piece)))?;
    Ok(sum)
}

fn write_run(
    files: &Path,
    n_repeats: usize,
    samples: &[Sample],
    missing: &[(usize, String)],
    memory: &[Streamed],
    words: &[String],
) -> Result<(), String> {
    let date = today();
    let folder = PathBuf::from(format!("bench/runs/{date}-data"));
    fs::create_dir_all(&folder).map_err(context("making the folder of the run"))?;
    let bytes = |file: &str| fs::metadata(files.join(file)).map_or(0, |metadata| metadata.len());
    let mut raw = "file,case,repeat,seconds,cpu_seconds,peak_kib\n".to_owned();
    for Sample { case, repeat, seconds, cpu_seconds, peak_kib } in samples {
        let Case { file, name, .. } = CASES[*case];
        let _ = writeln!(raw, "{file},\"{name}\",{repeat},{seconds},{cpu_seconds},{peak_kib}");
    }
    for Streamed { file, length, threads, seconds, peak_kib } in memory {
        let _ = writeln!(raw, "{file},\"streamed: {length}, {threads} threads\",0,{seconds},,{peak_kib}");
    }
    let mut summary = String::new();
    for (file, ours) in [(SVM, "ours, to CSR, 1 thread"), (CSV, "ours, to rows, 2 threads")] {
        let least = |case_idx: usize| {
            let of_case = || samples.iter().filter(move |sample| sample.case == case_idx);
            let seconds = of_case().map(|sample| sample.seconds).min_by(f64::total_cmp)?;
            Some((seconds, of_case().map(|sample| sample.cpu_seconds).min_by(f64::total_cmp)?))
        };
        let size = bytes(file);
        let _ = writeln!(summary, "## {file}, {:.1} MB\n", size as f64 / 1e6);
        let _ = writeln!(summary, "Minima of {n_repeats}; ratios to \"{ours}\".\n");
        let _ = writeln!(summary, "| reader | wall s | MB/s | ratio | CPU s | MB/s of CPU | ratio |");
        let _ = writeln!(summary, "|---|---|---|---|---|---|---|");
        let reference = CASES.iter().position(|case| case.file == file && case.name == ours).and_then(least);
        for (case_idx, case) in CASES.iter().enumerate().filter(|(_, case)| case.file == file) {
            let Some((seconds, cpu)) = least(case_idx) else { continue };
            let (our_seconds, our_cpu) = reference.unwrap_or((seconds, cpu));
            let mb = size as f64 / 1e6;
            let _ = writeln!(
                summary,
                "| {} | {seconds:.3} | {:.0} | {:.1} | {cpu:.2} | {:.0} | {:.1} |",
                case.name,
                mb / seconds,
                seconds / our_seconds,
                mb / cpu,
                cpu / our_cpu
            );
        }
        summary.push('\n');
    }
    summary.push_str(
        "## Streaming: peak memory\n\nFiles of a tenth of the rows.\n\n| file | length | threads | s | peak MiB |\n|---|---|---|---|---|\n",
    );
    for Streamed { file, length, threads, seconds, peak_kib } in memory {
        let mib = *peak_kib as f64 / 1024.0;
        let _ = writeln!(summary, "| {file} | {length} | {threads} | {seconds:.2} | {mib:.1} |");
    }
    for (case_idx, why) in missing {
        let _ = writeln!(summary, "\nMissing: {} ({why})", CASES[*case_idx].name);
    }
    let mut readme = format!(
        "# Reading data, {date}\n\n- Command: `cargo xtask bench data {}`\n- Machine: {}; load at the end {}\n",
        words.join(" "),
        machine(),
        load()
    );
    readme.push_str("- Files lie in the page cache. Every measurement is a process of its own, all take turns, and minima\n  are compared; the machine is shared, so that only ratios within this run count. CPU seconds (all threads\n  of the process together) suffer less from a busy machine than wall seconds do.\n- Seconds are taken inside the process (LIBLINEAR: the whole process, whose solver stops at once).\n- Versions: ");
    readme.push_str(&versions(&[PACKAGES, &["numpy"]].concat(), &["liblinear-tools"]));
    readme.push_str("\n- `raw.csv` holds every measurement, `summary.md` the minima.\n");
    for (name, text) in [("README.md", &readme), ("raw.csv", &raw), ("summary.md", &summary)] {
        fs::write(folder.join(name), text).map_err(context("writing the run"))?;
    }
    say(&format!("{summary}\nwritten to {}", folder.display()));
    Ok(())
}
