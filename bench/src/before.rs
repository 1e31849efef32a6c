//! `cargo xtask bench --before FOLDER`: every line of the table beside the same line of an older build.
//!
//! `FOLDER` holds the release programs of another commit (`rosenblatt` and `rosenblatt-bench`, once `xtask`, usually `target/release` of its
//! checkout). Both builds take turns on the same files and minima count, so that the ratio is a property of the code
//! and not of the hour. A line beyond the allowance (`--allow PERCENT`, 3) takes more turns (`--again N`, 10), as a
//! disturbance only ever adds to a minimum; if it stays there it is named, and the command fails.

use super::measure::Taken;
use super::tasks::Task;
use super::tools::{context, cores, load, number, today};
use super::workloads::Files;
use super::{Context, measure_task};
use crate::say;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The best that was seen of one line.
#[derive(Clone, Copy)]
struct Best {
    seconds: f64,
    peak_kib: u64,
}

impl Best {
    const NONE: Self = Self { seconds: f64::INFINITY, peak_kib: u64::MAX };

    fn take(&mut self, seconds: f64, taken: Taken) {
        self.seconds = self.seconds.min(seconds);
        self.peak_kib = self.peak_kib.min(taken.peak_kib);
    }
}

/// One line of both builds.
struct Line<'a> {
    task: &'a Task,
    now: Best,
    before: Best,
    /// Why there is no ratio.
    missing: Option<String>,
}

impl Line<'_> {
    fn ratio(&self) -> f64 {
        self.now.seconds / self.before.seconds
    }
}

pub(super) fn run(
    words: &[String],
    folder: &Path,
    tasks: &[Task],
    files: &BTreeMap<&'static str, Files>,
) -> Result<(), String> {
    let n_repeats: usize = number(words, "--repeats", 3)?;
    let n_again: usize = number(words, "--again", 10)?;
    let allowed: f64 = number(words, "--allow", 3.0)?;
    let is_slower = |line: &Line<'_>| line.missing.is_none() && line.ratio() > 1.0 + allowed / 100.0;
    let builds = [Path::new("target/release"), folder].map(|folder| {
        let named = ["rosenblatt-bench", "xtask"].map(|name| folder.join(name));
        let bench = named.iter().find(|program| program.exists()).unwrap_or(&named[0]).clone();
        Context { ours: folder.join("rosenblatt"), bench, python: None, weka: None }
    });
    for program in builds.iter().flat_map(|build| [&build.ours, &build.bench]) {
        if !program.exists() {
            return Err(format!(
                "{} is not there: build `rosenblatt-cli` with `--features full` and `rosenblatt-bench` for release",
                program.display()
            ));
        }
    }
    let mut lines: Vec<Line<'_>> = tasks
        .iter()
        .filter(|task| task.is_ours())
        .map(|task| Line { task, now: Best::NONE, before: Best::NONE, missing: None })
        .collect();
    for repeat in 0..n_repeats + n_again {
        for line in lines.iter_mut().filter(|line| repeat < n_repeats || is_slower(line)) {
            // Who is first takes turns, too: the second finds warmer caches.
            for turn in 0..2 {
                let which = (turn + repeat) % 2;
                if line.missing.is_some() {
                    continue;
                }
                match measure_task(&builds[which], line.task, &files[line.task.workload], repeat) {
                    Ok((taken, seconds, ..)) => {
                        if which == 0 { &mut line.now } else { &mut line.before }.take(seconds, taken);
                    }
                    Err(why) => line.missing = Some(why),
                }
            }
            say(&format!("{repeat} {:<90} {}", line.task.id(), told_of(line)));
        }
    }
    write(words, &lines, allowed)?;
    match lines.iter().filter(|line| is_slower(line)).count() {
        0 => Ok(()),
        n_slower => Err(format!("{n_slower} lines are more than {allowed} % slower than before")),
    }
}

fn told_of(line: &Line<'_>) -> String {
    match &line.missing {
        Some(why) => format!("missing: {why}"),
        None => format!("{:.3} of before ({:.4} s)", line.ratio(), line.now.seconds),
    }
}

fn write(words: &[String], lines: &[Line<'_>], allowed: f64) -> Result<(), String> {
    let folder = PathBuf::from(format!("bench/runs/{}-before", today()));
    std::fs::create_dir_all(&folder).map_err(context("making the folder of the run"))?;
    let words: Vec<&str> = words.iter().map(|word| word.rsplit('/').next().unwrap_or(word)).collect();
    let mut text = format!("# Every line beside an older build, {}\n\n", today());
    let _ = writeln!(text, "- Command: `cargo xtask bench {}`", words.join(" "));
    let _ = writeln!(text, "- Machine: {} cores; load at the end {}", cores(), load());
    let _ = writeln!(
        text,
        "- Both builds take turns on the same files; minima. A ratio below 1 is faster than before; {allowed} % are allowed, \
         and who is beyond takes more turns.\n"
    );
    text.push_str("| data | what | who | now, s | before, s | ratio | now, MiB | before, MiB |\n");
    text.push_str("|---|---|---|---:|---:|---:|---:|---:|\n");
    for line in lines {
        let Task { workload, group, who, .. } = line.task;
        let _ = match &line.missing {
            Some(why) => writeln!(text, "| {workload} | {} | {who} | {why} | | | | |", group.title()),
            None => writeln!(
                text,
                "| {workload} | {} | {who} | {:.4} | {:.4} | {:.3} | {} | {} |",
                group.title(),
                line.now.seconds,
                line.before.seconds,
                line.ratio(),
                line.now.peak_kib >> 10,
                line.before.peak_kib >> 10
            ),
        };
    }
    std::fs::write(folder.join("README.md"), &text).map_err(context("writing the run"))?;
    say(&format!("{text}\nwritten to {}", folder.display()));
    Ok(())
}
