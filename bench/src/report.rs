//! What a run found, in words: every measurement as JSON, tables, and the section of `bench/README.md`.

use super::growth;
use super::probes::Bandwidth;
use super::tasks::{Group, TARGETS, Task};
use super::tools::{context, load, machine, today, versions};
use super::workloads::{WORKLOADS, Workload};
use super::{DEBIAN, PACKAGES, Run};
use crate::say;
use serde_json::json;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Where what the newest run found is shown.
const SCORES: &str = "bench/README.md";
const BEGIN: &str = "<!-- performance: begin, written by `cargo xtask bench --readme RUN` -->\n";
const END: &str = "<!-- performance: end -->";

/// The most memory a stream may take besides its weights.
const STREAM_MIB: f64 = 32.0;

/// The least of all turns of a task.
#[derive(Clone, Copy)]
struct Least {
    seconds: f64,
    cpu: f64,
    peak_mib: f64,
}

impl Run {
    fn least(&self, idx: usize) -> Option<Least> {
        let of_task = || self.samples.iter().filter(move |sample| sample.task == idx);
        let least = |of: &dyn Fn(&super::Sample) -> f64| of_task().map(of).min_by(f64::total_cmp);
        let seconds = least(&|sample| sample.seconds)?;
        // A steady pass is the difference of two minima, each of which is close to what it takes undisturbed.
        let n_more = of_task().map(|sample| sample.n_passes - 1.0).fold(0.0, f64::max);
        let steady = of_task().filter_map(|sample| sample.one_pass).min_by(f64::total_cmp);
        // Of too few rows the difference is noise, and says nothing.
        let seconds =
            steady.map_or(Some(seconds), |one| (seconds > one).then(|| (seconds - one) / n_more))?;
        Some(Least {
            seconds,
            cpu: least(&|sample| sample.taken.cpu)?,
            peak_mib: least(&|sample| sample.taken.peak_kib as f64 / 1024.0)?,
        })
    }

    /// The quickest of these tasks.
    fn quickest(&self, wanted: impl Fn(&Task) -> bool) -> Option<(usize, Least)> {
        let tasks = (0..self.tasks.len()).filter(|&idx| wanted(&self.tasks[idx]));
        let measured = tasks.filter_map(|idx| Some((idx, self.least(idx)?)));
        measured.min_by(|a, b| a.1.seconds.total_cmp(&b.1.seconds))
    }

    fn fastest_peer(&self, workload: &str, group: Group) -> Option<f64> {
        let is_peer = |task: &Task| {
            let is_whole = !task.who.contains("the first 5,000 rows");
            task.workload == workload && task.group == group && !task.is_ours() && is_whole
        };
        self.quickest(is_peer).map(|(_, least)| least.seconds)
    }

    /// Which share of its seconds the limit would take: every byte of the file touched once, or every byte of the
    /// rows in memory read once, as fast as one core can.
    fn share_of_limit(&self, task: &Task, seconds: f64) -> Option<f64> {
        let touched = |which: &str| {
            let is_limit = |other: &Task| {
                other.workload == task.workload && other.group == Group::Limit && other.who.ends_with(which)
            };
            self.quickest(is_limit).map(|(_, least)| least.seconds / seconds)
        };
        match task.group {
            Group::FileToModel | Group::Accuracy => touched("text"),
            Group::FromArray => touched("array"),
            Group::Epoch | Group::AveragedEpoch => {
                let limit = self.bandwidth.one_core.max(self.bandwidth.four_places);
                self.share_of(limit, task, seconds)
            }
            _ => None,
        }
    }

    /// Which share of its seconds a pass would take at this many GB/s.
    fn share_of(&self, bandwidth: f64, task: &Task, seconds: f64) -> Option<f64> {
        Some(self.outlines.get(task.workload)?.pass_bytes / (bandwidth * 1e9) / seconds)
    }
}

/// Writes the folder of the run.
pub(super) fn write(run: &Run, words: &[String], scale: f64, n_repeats: usize) -> Result<(), String> {
    let date = today();
    let mut name = format!("{date}-{}", slug(&machine()));
    if !words.is_empty() {
        name = format!("{name}-{}", slug(&words.join(" ")));
    }
    let folder = PathBuf::from("bench/runs").join(name);
    super::folder(&folder)?;
    let packages = versions(PACKAGES, DEBIAN);
    let facts = format!(
        "- Command: `cargo xtask bench{}{}`, {date}\n- Machine: {}; memory is read at {:.1} GB/s on one core, {:.1} \
         on two, and {:.1} on one from four places at once; load at the end {}\n- Versions: {packages}\n",
        if words.is_empty() { "" } else { " " },
        words.join(" "),
        machine(),
        run.bandwidth.one_core,
        run.bandwidth.two_cores,
        run.bandwidth.four_places,
        load(),
    );
    let about = format!(
        "# The whole product beside its peers, {date}\n\n{facts}- Scale {scale} of the rows below, {n_repeats} turns, \
         minima; what takes more than 20 s has one turn. Files lie in the page cache.\n- Seconds are those of the whole \
         process, start of interpreters included, except where rows are in memory or passes are counted: there the \
         process says them itself. Steady passes are eleven minus one, by \
         ten, or by as many as there were where nothing was left to learn.\n- The machine may be shared, so that \
         only ratios within this run count.\n- `raw.json` holds every measurement, `summary.md` the tables, \
         `growth.svg` how cost grows.\n\n## Data\n\n{}",
        data_table(run)
    );
    let summary = summary(run);
    let targets = targets(run);
    let section = format!("{facts}\n{targets}\nAll tables: `{}/summary.md`.\n", folder.display());
    let summary = format!("## Targets\n\n{targets}\n{summary}");
    let raw = serde_json::to_string_pretty(&raw(run)).map_err(|error| error.to_string())? + "\n";
    let mut texts = vec![
        ("README.md", &about),
        ("summary.md", &summary),
        ("raw.json", &raw),
        ("readme-section.md", &section),
    ];
    let picture = growth::picture(&run.growth);
    if !run.growth.is_empty() {
        texts.push(("growth.svg", &picture));
    }
    for (name, text) in texts {
        fs::write(folder.join(name), text).map_err(context("writing the run"))?;
    }
    say(&format!("{summary}\nwritten to {}", folder.display()));
    Ok(())
}

/// Letters and digits, the rest as single dashes.
fn slug(text: &str) -> String {
    let words = text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '.'));
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-").to_lowercase()
}

fn data_table(run: &Run) -> String {
    let mut text =
        "| data | what | rows | held out | features | classes |\n|---|---|---|---|---|---|\n".to_owned();
    for Workload { name, about, width, classes, .. } in WORKLOADS {
        let Some(outline) = run.outlines.get(name) else { continue };
        let [rows, held] = outline.rows;
        let _ = writeln!(text, "| {name} | {about} | {rows} | {held} | {width} | {classes} |");
    }
    text
}

fn summary(run: &Run) -> String {
    let mut text = String::new();
    for workload in WORKLOADS {
        for group in Group::ALL {
            let of_group: Vec<usize> = (0..run.tasks.len())
                .filter(|&idx| run.tasks[idx].workload == workload.name && run.tasks[idx].group == group)
                .collect();
            if of_group.is_empty() {
                continue;
            }
            let peer = run.fastest_peer(workload.name, group);
            let _ = writeln!(text, "## {}: {}\n", workload.name, group.title());
            text.push_str("| who | s | CPU s | peak MiB | accuracy | times as fast as the fastest peer | share of the limit |\n|---|---|---|---|---|---|---|\n");
            for idx in of_group {
                let task = &run.tasks[idx];
                let Some(Least { seconds, cpu, peak_mib }) = run.least(idx) else {
                    let too_few = "eleven passes took no longer than one: too few rows to tell";
                    let why = run.missing.get(&idx).map_or(too_few, String::as_str);
                    let _ = writeln!(text, "| {} | missing: {} | | | | | |", task.who, why.replace('|', "/"));
                    continue;
                };
                let cell = |value: Option<String>| value.unwrap_or_default();
                let _ = writeln!(
                    text,
                    "| {} | {seconds:.4} | {cpu:.2} | {peak_mib:.1} | {} | {} | {} |",
                    task.who,
                    cell(run.accuracy.get(&idx).map(|accuracy| format!("{accuracy:.4}"))),
                    cell(
                        peer.filter(|_| task.group != Group::Limit)
                            .map(|peer| format!("{:.2}", peer / seconds))
                    ),
                    cell(run.share_of_limit(task, seconds).map(|share| format!("{:.0} %", 100.0 * share))),
                );
            }
            text.push('\n');
        }
    }
    if !run.growth.is_empty() {
        let _ = writeln!(
            text,
            "## How cost grows: a table of 28 features, streamed, one pass\n\n{}",
            growth::table(&run.growth)
        );
    }
    text
}

/// What was hoped for, what was reached, and whether that is enough.
fn targets(run: &Run) -> String {
    let mut text = "| data | what | target | reached | |\n|---|---|---|---|---|\n".to_owned();
    let mut line = |data: &str, what: &str, target: String, reached: Option<(String, bool)>| {
        let (reached, met) = match reached {
            Some((reached, met)) => (reached, if met { "met" } else { "**not met**" }),
            None => ("not measured".to_owned(), ""),
        };
        let _ = writeln!(text, "| {data} | {what} | {target} | {reached} | {met} |");
    };
    for target in TARGETS.iter().filter(|target| run.outlines.contains_key(target.workload)) {
        let of = |ours: bool, start: &'static str| {
            move |task: &Task| {
                task.workload == target.workload
                    && task.group == target.group
                    && task.is_ours() == ours
                    && task.who.starts_with(start)
                    && !task.who.contains("the first 5,000 rows")
            }
        };
        let pair = run.quickest(of(true, target.ours)).zip(run.quickest(of(false, target.peer)));
        let reached = pair.map(|((idx, ours), (_, peer))| {
            let ratio = peer.seconds / ours.seconds;
            (format!("{ratio:.1}x ({})", run.tasks[idx].who), ratio >= target.ratio)
        });
        let peer = if target.peer.is_empty() { "every peer" } else { target.peer };
        line(target.workload, target.group.title(), format!("{}x {peer}", target.ratio), reached);
    }
    let quickest = |workload: &str, group: Group, start: &str| {
        run.quickest(|task| task.workload == workload && task.group == group && task.who.starts_with(start))
    };
    for workload in ["sparse-rcv1", "sparse-sep"].into_iter().filter(|name| run.outlines.contains_key(name)) {
        let warm = quickest(workload, Group::LaterPass, "VW --sgd hinge, warm cache, whole");
        let reached =
            quickest(workload, Group::FileToModel, "ours").zip(warm).map(|((_, ours), (_, warm))| {
                let ratio = warm.seconds / ours.seconds;
                (format!("{ratio:.1}x"), ratio >= 2.0)
            });
        line(workload, "from text, beside VW from its warm cache", "2x".to_owned(), reached);
    }
    for (workload, share) in [("sparse-rcv1", 0.6), ("sparse-sep", 0.6), ("dense-wide", 0.75)] {
        if let Some((idx, ours)) = quickest(workload, Group::Epoch, "ours") {
            let reached = run.share_of(run.bandwidth.one_core, &run.tasks[idx], ours.seconds);
            let reached = reached.map(|reached| (format!("{:.0} %", 100.0 * reached), reached >= share));
            line(
                workload,
                "steady pass: share of the bandwidth of plain reading",
                format!("{:.0} %", 100.0 * share),
                reached,
            );
        }
    }
    for workload in WORKLOADS {
        // Like beside like: rows that are stored in the same way, the worst of them.
        let ratio = |who: &str| {
            let of = |group: Group| {
                run.quickest(|task| task.workload == workload.name && task.group == group && task.who == who)
            };
            Some(of(Group::AveragedEpoch)?.1.seconds / of(Group::Epoch)?.1.seconds)
        };
        let ratios = ["ours", "ours, sparse rows"].into_iter().filter_map(ratio);
        if let Some(ratio) = ratios.max_by(f64::total_cmp) {
            line(
                workload.name,
                "averaged beside plain, steady",
                "at most 1.4x".to_owned(),
                Some((format!("{ratio:.2}x"), ratio <= 1.4)),
            );
        }
    }
    for workload in WORKLOADS {
        if let Some(reached) = accuracy_in_time(run, workload.name) {
            line(
                workload.name,
                "accuracy in time",
                "0.3 points below the best linear peer at most, 5x faster".to_owned(),
                Some(reached),
            );
        }
    }
    if let Some(reached) = beside_weka(run) {
        let target = "10x Weka's VotedPerceptron at no lower accuracy".to_owned();
        line("kernel-small", "file to model", target, Some(reached));
    }
    for workload in WORKLOADS {
        let streamed = (0..run.tasks.len()).filter(|&idx| {
            let task = &run.tasks[idx];
            task.workload == workload.name
                && task.is_ours()
                && task.command.contains("--online")
                && !task.command.contains("&&")
        });
        let most =
            streamed.filter_map(|idx| run.least(idx)).map(|least| least.peak_mib).max_by(f64::total_cmp);
        if let Some(most) = most {
            // The hypothesis, its average, and second moments of rules that have them.
            let outputs = if workload.classes == 2 { 1 } else { workload.classes };
            let weights = workload.width as f64 * outputs as f64 * 8.0 * 3.0 / f64::from(1 << 20);
            let allowed = STREAM_MIB + weights;
            line(
                workload.name,
                "peak memory of a stream",
                format!("{allowed:.0} MiB with weights"),
                Some((format!("{most:.1} MiB"), most <= allowed)),
            );
        }
    }
    text
}

/// The best of ours that is five times as fast as the best linear peer, and how far it is below.
fn accuracy_in_time(run: &Run, workload: &str) -> Option<(String, bool)> {
    let judged = |ours: bool| {
        (0..run.tasks.len()).filter_map(move |idx| {
            let task = &run.tasks[idx];
            let is_wanted = task.workload == workload && task.is_ours() == ours;
            let is_group = matches!(task.group, Group::Accuracy | Group::FileToModel);
            let accuracy = run.accuracy.get(&idx).filter(|_| is_wanted && is_group)?;
            Some((*accuracy, run.least(idx)?.seconds, task.who))
        })
    };
    if !run.tasks.iter().any(|task| task.workload == workload && task.group == Group::Accuracy) {
        return None;
    }
    let linear = judged(false).filter(|(.., who)| who.starts_with("VW") || who.starts_with("LIBLINEAR"));
    let (best, seconds, peer) = linear.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let quick = judged(true).filter(|(_, ours, _)| ours * 5.0 <= seconds);
    let Some((accuracy, ours, who)) = quick.max_by(|a, b| a.0.total_cmp(&b.0)) else {
        return Some((format!("none of ours is 5x faster than {peer}"), false));
    };
    let below = 100.0 * (best - accuracy);
    let ratio = seconds / ours;
    Some((format!("{below:+.2} points below {peer}, {ratio:.0}x faster ({who})"), below <= 0.3))
}

/// The quickest of ours that is no less accurate than Weka's voted perceptron.
fn beside_weka(run: &Run) -> Option<(String, bool)> {
    let judged = |start: &str| -> Vec<(f64, f64, &'static str)> {
        let of = |idx: usize| {
            let task = &run.tasks[idx];
            let is_wanted = task.workload == "kernel-small" && task.who.starts_with(start);
            let accuracy = run.accuracy.get(&idx).filter(|_| is_wanted)?;
            Some((*accuracy, run.least(idx)?.seconds, task.who))
        };
        (0..run.tasks.len()).filter_map(of).collect()
    };
    let (theirs, seconds, _) = *judged("Weka").first()?;
    let as_good = judged("ours").into_iter().filter(|(accuracy, ..)| *accuracy >= theirs);
    let Some((accuracy, ours, who)) = as_good.min_by(|a, b| a.1.total_cmp(&b.1)) else {
        return Some((format!("none of ours reaches {theirs:.4}"), false));
    };
    let ratio = seconds / ours;
    Some((format!("{ratio:.1}x, {accuracy:.4} beside {theirs:.4} ({who})"), ratio >= 10.0))
}

fn raw(run: &Run) -> serde_json::Value {
    let tasks: Vec<_> = run
        .tasks
        .iter()
        .enumerate()
        .map(|(idx, task)| {
            let samples: Vec<_> = run
                .samples
                .iter()
                .filter(|sample| sample.task == idx)
                .map(|sample| {
                    json!({
                        "turn": sample.repeat, "seconds": sample.seconds, "one-pass": sample.one_pass, "passes": sample.n_passes,
                        "wall": sample.taken.wall,
                        "cpu": sample.taken.cpu, "peak-kib": sample.taken.peak_kib,
                    })
                })
                .collect();
            json!({
                "data": task.workload, "what": task.group.title(), "who": task.who, "command": task.command,
                "samples": samples, "accuracy": run.accuracy.get(&idx), "missing": run.missing.get(&idx),
            })
        })
        .collect();
    let growth: Vec<_> = run
        .growth
        .iter()
        .map(|point| {
            json!({
                "multiplied": point.what, "by": point.factor, "cores": point.cores, "wall": point.taken.wall,
                "cpu": point.taken.cpu, "peak-kib": point.taken.peak_kib,
            })
        })
        .collect();
    let Bandwidth { one_core, two_cores, four_places } = run.bandwidth;
    let bandwidth =
        json!({ "one-core": one_core, "two-cores": two_cores, "one-core-from-four-places": four_places });
    json!({ "bandwidth-gb-per-s": bandwidth, "tasks": tasks, "growth": growth })
}

/// Puts what a run found between the marks of `bench/README.md`, and its picture, drawn anew, into the
/// documentation.
pub(super) fn put_into_readme(run: &str) -> Result<(), String> {
    let run = Path::new(run);
    let section = fs::read_to_string(run.join("readme-section.md")).map_err(context("reading the run"))?;
    let readme = fs::read_to_string(SCORES).map_err(context("reading bench/README.md"))?;
    let (before, rest) =
        readme.split_once(BEGIN).ok_or("bench/README.md has no mark where the section begins")?;
    let (_, after) = rest.split_once(END).ok_or("bench/README.md has no mark where the section ends")?;
    let mut inside = section;
    let raw = fs::read_to_string(run.join("raw.json")).map_err(context("reading the run"))?;
    let raw: serde_json::Value = serde_json::from_str(&raw).map_err(|error| format!("raw.json: {error}"))?;
    let growth = growth::from_raw(&raw);
    if !growth.is_empty() {
        let picture = growth::picture(&growth);
        for place in [run.join("growth.svg"), PathBuf::from("docs/growth.svg")] {
            fs::write(place, &picture).map_err(context("writing the picture"))?;
        }
        inside.push_str("\n![How cost grows with rows and features](../docs/growth.svg)\n");
    }
    fs::write(SCORES, format!("{before}{BEGIN}\n{inside}\n{END}{after}"))
        .map_err(context("writing bench/README.md"))
}
