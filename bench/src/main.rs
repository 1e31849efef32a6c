//! `cargo xtask bench`: the whole product beside its peers, on the same files, in one run.
//!
//! Data is generated with fixed seeds (`workloads.rs`), peers are installed as far as they can be had, and every line
//! of the table in `tasks.rs` is a process that is measured from outside (`measure.rs`). All take turns, several times
//! over, and minima count. The outcome is a folder below `bench/runs`: what was run where (`README.md`), every
//! measurement (`raw.json`), the tables (`summary.md`), and its section of `bench/README.md`
//! (`readme-section.md`).
//!
//! - `--scale S` takes that share of the rows (1 needs 13 GB of disk below `target/bench-data` and one to two hours on
//!   two quiet cores; 0.02 needs 300 MB and some minutes), `--only WORKLOAD` one data set, `--repeats N` this
//!   many turns (3);
//! - `--no-peers` measures ours alone, `--no-growth` leaves out how cost grows;
//! - `--before FOLDER` puts every line of ours beside the same line of an older build (`before.rs`);
//! - `--readme RUN` puts what a run found into `bench/README.md`, and measures nothing;
//! - `--quick` (`xtask/src/quick.rs`) measures nothing either: at a small scale, every quick path must give what the
//!   plain one gives.
//!
//! `bench accuracy`, `bench data`, `bench certify`, `bench gpu`, `bench kernel`, `bench mlp`, `bench sequence`, `bench
//! serve`, `bench spark` and `bench python [FOLDER] [REPEATS]` are benchmarks of one part each.

mod accuracy;
mod before;
mod certify;
mod data;
mod gpu;
mod growth;
mod kernel;
mod measure;
mod mlp;
mod probes;
mod report;
mod sequence;
mod serve;
mod tasks;
mod verdicts;

use growth::Growth;
use measure::{Outcome, Taken, measured};
use probes::Bandwidth;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use tasks::{Task, tasks};
use tools::{FOLDER, after, context, number};
use workloads::{Files, WORKLOADS, Workload};
use xtask::{http, say, tools, workloads};

/// What is installed with pip.
const PACKAGES: &[&str] = &["scikit-learn", "numpy", "polars", "vowpalwabbit", "mlpack", "river"];
/// What is installed with apt, by root only.
const DEBIAN: &[&str] = &["liblinear-tools", "weka"];
/// What is slower is measured once, and what is much slower not at all.
const SLOW: f64 = 20.0;
const MOST: Duration = Duration::from_secs(900);

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    // An older build is asked as `xtask bench PROBE`, and this one may be asked alike.
    let words = words.strip_prefix(&["bench".to_owned()]).unwrap_or(&words);
    match run(words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            say(&format!("error: {message}"));
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[String]) -> Result<(), String> {
    if cfg!(debug_assertions) {
        return Err("only a release build is worth measuring: `cargo xtask bench` makes one".to_owned());
    }
    let rest = words.get(1..).unwrap_or_default();
    match words.first().map(String::as_str) {
        Some("accuracy") => accuracy::run(rest),
        Some("data") => data::run(rest),
        Some("data-probe") => data::probe(rest),
        Some("certify") => certify::run(rest),
        Some("gpu") => gpu::run(rest),
        Some("kernel") => kernel::run(rest),
        Some("mlp") => mlp::run(rest),
        Some("sequence") => sequence::run(rest),
        Some("serve") => serve::run(rest),
        Some("certify-probe") => certify::probe(rest),
        Some("measure") => measure::run(rest),
        Some("predict-probe") => probes::predict(rest),
        Some("touch-probe") => probes::touch(rest),
        Some("bandwidth-probe") => probes::bandwidth(rest),
        Some("--readme") => report::put_into_readme(after(words, "--readme").ok_or("which run?")?),
        None | Some("--scale" | "--only" | "--repeats" | "--no-peers" | "--no-growth" | "--before") => {
            bench(words)
        }
        Some(other) => Err(format!(
            "`{other}` is none of accuracy, data, certify, gpu, kernel, mlp, sequence, python, serve, spark, --quick, --readme or an option"
        )),
    }
}

/// This program, which is also what measures and what probes.
fn own() -> Result<PathBuf, String> {
    std::env::current_exe().map_err(context("finding this program"))
}

/// All that was found.
struct Run {
    tasks: Vec<Task>,
    samples: Vec<Sample>,
    /// What could not be measured, and why.
    missing: BTreeMap<usize, String>,
    /// Shares of rows held out that were given the right class.
    accuracy: BTreeMap<usize, f64>,
    bandwidth: Bandwidth,
    /// Of every data set: rows, values that a pass reads, and bytes of the text.
    outlines: BTreeMap<&'static str, Outline>,
    growth: Vec<Growth>,
}

/// What was measured once.
struct Sample {
    task: usize,
    repeat: usize,
    taken: Taken,
    /// What is compared: the process's own seconds if it says any, else the wall; with eleven passes if passes are
    /// counted.
    seconds: f64,
    /// The same with one pass.
    one_pass: Option<f64>,
    /// How many passes there were instead of one: eleven, or fewer where nothing was left to learn.
    n_passes: f64,
}

/// What a data set comes to.
struct Outline {
    rows: [usize; 2],
    /// Bytes that a pass over the rows in memory reads.
    pass_bytes: f64,
}

/// Where programs and files are.
struct Context {
    ours: PathBuf,
    bench: PathBuf,
    python: Option<PathBuf>,
    weka: Option<PathBuf>,
}

fn bench(words: &[String]) -> Result<(), String> {
    let has = |word: &str| words.iter().any(|other| other == word);
    let n_repeats: usize = number(words, "--repeats", 3)?;
    let scale: f64 = number(words, "--scale", 1.0)?;
    if !(scale > 0.0 && scale <= 1.0) {
        return Err("--scale should be above 0 and at most 1".to_owned());
    }
    let only = after(words, "--only").filter(|_| has("--only"));
    let chosen: Vec<&Workload> =
        WORKLOADS.iter().filter(|workload| only.is_none_or(|name| name == workload.name)).collect();
    if chosen.is_empty() {
        let known: Vec<&str> = WORKLOADS.iter().map(|workload| workload.name).collect();
        return Err(format!("--only should be one of {}", known.join(", ")));
    }
    tools::build(&["--package", "rosenblatt-cli", "--features", "full"])?;
    let before = after(words, "--before").map(PathBuf::from);
    let with_peers = !has("--no-peers") && before.is_none();
    if with_peers {
        install();
    }
    let context = Context {
        ours: PathBuf::from("target/release/rosenblatt"),
        bench: own()?,
        python: if with_peers { tools::python(PACKAGES) } else { None },
        weka: ["/usr/share/java/weka.jar", "/usr/share/weka/weka.jar"]
            .into_iter()
            .map(PathBuf::from)
            .find(|jar| jar.exists()),
    };
    let mut files = BTreeMap::new();
    let mut outlines = BTreeMap::new();
    for workload in &chosen {
        let made = workloads::make(workload, scale, &PathBuf::from(FOLDER).join("product"))?;
        outlines.insert(workload.name, outline(workload, &made)?);
        files.insert(workload.name, made);
    }
    let tasks: Vec<Task> = tasks()
        .into_iter()
        .filter(|task| {
            files.contains_key(task.workload)
                && (with_peers || task.is_ours() || task.who.starts_with("touch"))
        })
        .collect();
    if let Some(folder) = before {
        return before::run(words, &folder, &tasks, &files);
    }
    let mut run = Run {
        tasks,
        samples: Vec::new(),
        missing: BTreeMap::new(),
        accuracy: BTreeMap::new(),
        bandwidth: Bandwidth::measure()?,
        outlines,
        growth: Vec::new(),
    };
    for repeat in 0..n_repeats {
        for idx in 0..run.tasks.len() {
            let is_slow = |sample: &Sample| sample.task == idx && sample.taken.wall > SLOW;
            if run.missing.contains_key(&idx) || run.samples.iter().any(is_slow) {
                continue;
            }
            let task = &run.tasks[idx];
            match measure_task(&context, task, &files[task.workload], repeat) {
                Ok((taken, seconds, one_pass, n_passes)) => {
                    say(&format!("{repeat} {:<90} {seconds:9.4} s, {} MiB", task.id(), taken.peak_kib >> 10));
                    run.samples.push(Sample { task: idx, repeat, taken, seconds, one_pass, n_passes });
                }
                Err(why) => {
                    say(&format!("missing: {} ({why})", task.id()));
                    run.missing.insert(idx, why);
                    continue;
                }
            }
            if repeat == 0 && !task.judge.is_empty() {
                match judge(&context, task, &files[task.workload]) {
                    Ok(accuracy) => {
                        run.accuracy.insert(idx, accuracy);
                    }
                    Err(why) => say(&format!("not judged: {} ({why})", task.id())),
                }
            }
        }
    }
    // The memory of a shared machine has better and worse moments, of which the better ones are the limit.
    run.bandwidth = run.bandwidth.or_better(Bandwidth::measure()?);
    if !has("--no-growth") && only.is_none() {
        run.growth = growth::measure(&context.ours, scale, n_repeats)?;
    }
    report::write(&run, words, scale, n_repeats)
}

/// Installs Debian's packages if that is allowed.
fn install() {
    let is_root = tools::ask("id", &["-u"]).is_some_and(|id| id == "0");
    for package in DEBIAN {
        let state = tools::ask("dpkg-query", &["-W", "-f", "${db:Status-Status}", package]);
        if is_root && state.as_deref() != Some("installed") {
            say(&format!("installing {package}"));
            let arguments = ["install", "-y", "-q", "--no-install-recommends", package];
            let _ = std::process::Command::new("apt-get").args(arguments).output();
        }
    }
}

fn outline(workload: &Workload, files: &Files) -> Result<Outline, String> {
    let pass_bytes = if workload.formats.contains(&"npy") {
        files.rows[0] as f64 * workload.width as f64 * 4.0
    } else if workload.formats.contains(&"svm") {
        // An index and a value each.
        probes::count(&files.path("train", "svm"), b':')? as f64 * 8.0
    } else {
        0.0
    };
    Ok(Outline { rows: files.rows, pass_bytes })
}

/// Runs a task once; what the process took, its seconds, those of one pass if passes are counted, and how many there
/// were.
fn measure_task(
    context: &Context,
    task: &Task,
    files: &Files,
    repeat: usize,
) -> Result<(Taken, f64, Option<f64>, f64), String> {
    let steps: Vec<&str> = task.command.split(" && ").collect();
    let (last, before) = steps.split_last().ok_or("no command")?;
    let words = |line: &str, passes: u32| words_of(context, task, files, line, passes);
    if repeat == 0 {
        for line in before {
            measured(&words(line, 1)?, files.folder(), None, MOST)?;
        }
    }
    if !task.steady {
        let Outcome { taken, stdout } = measured(&words(last, 1)?, files.folder(), None, MOST)?;
        return Ok((taken, own_seconds(&stdout).unwrap_or(taken.wall), None, 1.0));
    }
    if repeat == 0 {
        // Whatever is parked for later passes is there from now on.
        measured(&words(last, 1)?, files.folder(), None, MOST)?;
    }
    let seconds = |passes: u32| {
        let Outcome { taken, stdout } = measured(&words(last, passes)?, files.folder(), None, MOST)?;
        let n_passes = own_passes(&stdout).unwrap_or_else(|| passes.into());
        Ok::<_, String>((taken, own_seconds(&stdout).unwrap_or(taken.wall), n_passes))
    };
    // The best of three, as peers that count their passes themselves do it.
    let ((_, mut one, _), (mut taken, mut eleven, n_passes)) = (seconds(1)?, seconds(11)?);
    for _ in 0..2 {
        one = one.min(seconds(1)?.1);
        let (again, more, _) = seconds(11)?;
        if more < eleven {
            (taken, eleven) = (again, more);
        }
    }
    Ok((taken, eleven, Some(one), n_passes))
}

/// The seconds that a process says of itself, in JSON on its last line.
fn own_seconds(stdout: &str) -> Option<f64> {
    let printed: serde_json::Value = serde_json::from_str(stdout.lines().last()?).ok()?;
    printed["seconds"].as_f64().or_else(|| printed["seconds"]["train"].as_f64())
}

/// How many passes it made, by the same line.
fn own_passes(stdout: &str) -> Option<f64> {
    let printed: serde_json::Value = serde_json::from_str(stdout.lines().last()?).ok()?;
    printed["training-summary"]["epochs"].as_f64()
}

fn judge(context: &Context, task: &Task, files: &Files) -> Result<f64, String> {
    let mut stdout = String::new();
    for line in task.judge.split(" && ") {
        stdout = measured(&words_of(context, task, files, line, 1)?, files.folder(), None, MOST)?.stdout;
    }
    accuracy_in(&stdout).ok_or_else(|| format!("it printed {}", stdout.lines().last().unwrap_or_default()))
}

/// The accuracy, as each tool has it.
fn accuracy_in(stdout: &str) -> Option<f64> {
    let percent =
        |text: &str| text.trim().trim_end_matches('%').trim().parse::<f64>().ok().map(|p| p / 100.0);
    if let Ok(printed) = serde_json::from_str::<serde_json::Value>(stdout.lines().last()?) {
        return printed["accuracy"].as_f64().or_else(|| printed["error"].as_f64().map(|error| 1.0 - error));
    }
    if let Some(line) = stdout.lines().find_map(|line| line.strip_prefix("Accuracy = ")) {
        return percent(line.split('(').next()?);
    }
    // Weka's table of the rows held out is the last one it prints.
    let line = stdout.lines().rev().find(|line| line.starts_with("Correctly Classified Instances"))?;
    percent(line.split_whitespace().rev().nth(1)?)
}

/// A line of the table as a program and its arguments.
fn words_of(
    context: &Context,
    task: &Task,
    files: &Files,
    line: &str,
    passes: u32,
) -> Result<Vec<String>, String> {
    let python = || {
        let python = context.python.as_ref().ok_or("no python3 with venv and pip")?;
        Ok::<_, String>(python.display().to_string())
    };
    let (id, mut model) = (task.id(), String::new());
    for letter in id.chars() {
        model.push(if letter.is_ascii_alphanumeric() { letter } else { '-' });
    }
    let model = files.folder().join(model).display().to_string();
    let workload = WORKLOADS.iter().find(|workload| workload.name == task.workload).ok_or("no such data")?;
    let classes = match workload.classes {
        2 if line.contains(".csv}") || line.contains(".npy}") || line.contains(".tsv}") => "0,1".to_owned(),
        2 => "-1,1".to_owned(),
        n => (1..=n).map(|class| class.to_string()).collect::<Vec<_>>().join(","),
    };
    let line = line.replace("{passes-options}", tasks::passes_options());
    let mut words = Vec::new();
    for word in line.split_whitespace() {
        match word {
            "{py}" => words.push(python()?),
            "{vw}" => words.extend([python()?, "-m".to_owned(), "vowpalwabbit".to_owned()]),
            "{ours}" => words.push(context.ours.display().to_string()),
            "{bench}" => words.push(context.bench.display().to_string()),
            "{peers}" => words.push("bench/src/peers.py".to_owned()),
            "{weka}" => {
                let jar = context.weka.as_ref().ok_or("no Debian package `weka`")?;
                words.extend(["java".to_owned(), "-cp".to_owned(), jar.display().to_string()]);
            }
            "{passes}" => words.push(passes.to_string()),
            "{classes-count}" => words.push(workload.classes.to_string()),
            // Enough to know every row by its class, and less than all of them take.
            "{memory}" => words.push((files.rows[0] * 13 + (64 << 10)).to_string()),
            _ => words.push(file_names(word, files, &model).replace("{classes}", &classes)),
        }
    }
    Ok(words)
}

/// A word with the names of files put in.
fn file_names(word: &str, files: &Files, model: &str) -> String {
    let word = word.replace("{model}", model);
    let Some((before, rest)) = word.split_once('{') else { return word };
    let Some((name, after)) = rest.split_once('}') else { return word };
    match name.split_once('.') {
        Some((part @ ("train" | "test"), extension)) => {
            format!("{before}{}{after}", files.path(part, extension).display())
        }
        _ => word,
    }
}

/// A folder, made if need be.
fn folder(path: &Path) -> Result<(), String> {
    std::fs::create_dir_all(path).map_err(context("making the folder"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accuracy_is_read_as_each_tool_says_it() {
        assert_eq!(accuracy_in("{\"accuracy\": 0.75}\n"), Some(0.75));
        assert_eq!(accuracy_in("{\"error\":0.25,\"rows\":4}"), Some(0.75));
        assert_eq!(accuracy_in("Accuracy = 84.5% (169/200)\n"), Some(0.845));
        let weka = "=== Error on test data ===\n\nCorrectly Classified Instances        1824               91.2    %\nKappa 1\n";
        assert!((accuracy_in(weka).unwrap() - 0.912).abs() < 1e-12);
        assert_eq!(accuracy_in("what?"), None);
    }

    #[test]
    fn seconds_are_a_process_own_if_it_says_any() {
        assert_eq!(own_seconds("talk\n{\"seconds\": 0.5}"), Some(0.5));
        assert_eq!(own_seconds("{\"seconds\":{\"read\":1.0,\"train\":0.25}}"), Some(0.25));
        assert_eq!(own_seconds("0.5"), None);
    }

    #[test]
    fn every_task_names_a_data_set_and_files_it_has() {
        for task in tasks() {
            let workload = WORKLOADS.iter().find(|workload| workload.name == task.workload);
            let workload = workload.unwrap_or_else(|| panic!("{}", task.id()));
            for line in [task.command, task.judge] {
                for name in line.split('{').skip(1).filter_map(|rest| rest.split('}').next()) {
                    let Some((_, extension)) = name.split_once('.') else { continue };
                    let extension = extension.trim_start_matches("labels.");
                    assert!(workload.formats.contains(&extension), "{}: {name}", task.id());
                }
            }
            assert_eq!(task.steady, task.command.contains("{passes"), "{}", task.id());
        }
    }

    #[test]
    fn every_target_is_about_tasks_there_are() {
        let tasks = tasks();
        for target in tasks::TARGETS {
            let has = |start: &str, ours: bool| {
                tasks.iter().any(|task| {
                    task.workload == target.workload
                        && task.group == target.group
                        && task.is_ours() == ours
                        && task.who.starts_with(start)
                })
            };
            assert!(
                has(target.ours, true) && has(target.peer, false),
                "{} {:?}",
                target.workload,
                target.group
            );
        }
    }
}
