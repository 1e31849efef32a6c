//! `cargo xtask bench build --before FOLDER`: what a first build costs, beside another checkout of this repository.
//!
//! Both trees are built from nothing, with all crates downloaded before, and take turns (`--repeats`, 1); minima count.
//! `--only demo` or `--only full` measures one of the two lines. A build takes minutes, and room below `target`.

use crate::say;
use crate::test::{cargo, processor_seconds};
use crate::tools::{after, cores, load, machine, number};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// What is measured: a name, and the words for cargo.
const LINES: [(&str, &[&str]); 2] =
    [("demo", &["run", "--release", "--", "demo"]), ("full", &["build", "--release", "--features", "full"])];

/// What a build takes.
#[derive(Clone, Copy)]
struct Cost {
    wall: f64,
    processor: f64,
    bytes: u64,
}

impl Cost {
    const NONE: Self = Self { wall: f64::INFINITY, processor: f64::INFINITY, bytes: 0 };

    fn or(self, other: Self) -> Self {
        let (wall, processor) = (self.wall.min(other.wall), self.processor.min(other.processor));
        Self { wall, processor, bytes: other.bytes }
    }
}

pub(crate) fn bench(words: &[String]) -> Result<(), String> {
    let before = after(words, "--before").ok_or("expected --before FOLDER, another checkout")?;
    let trees = [Path::new("."), Path::new(before)];
    let n_repeats: usize = number(words, "--repeats", 1)?;
    let only = after(words, "--only");
    let mut table = format!("{}; load {} before\n\n", machine(), load());
    table.push_str(
        "| from nothing | who | wall, s | processor, s | program, MB |\n|---|---|---:|---:|---:|\n",
    );
    for (name, arguments) in LINES.into_iter().filter(|(name, _)| only.is_none_or(|only| only == name)) {
        let mut costs = [Cost::NONE; 2];
        for turn in 0..2 * n_repeats {
            // Who is first takes turns, too.
            let which = (turn + turn / 2) % 2;
            costs[which] = costs[which].or(build(trees[which], arguments)?);
            say(&format!("{name}, {}: {:.0} s", trees[which].display(), costs[which].processor));
        }
        let [now, then] = costs;
        for (who, Cost { wall, processor, bytes }) in [("now", now), ("before", then)] {
            let megabytes = bytes as f64 / 1e6;
            let _ = writeln!(table, "| {name} | {who} | {wall:.0} | {processor:.0} | {megabytes:.1} |");
        }
        let (wall, processor) = (now.wall / then.wall, now.processor / then.processor);
        let _ = writeln!(table, "| {name} | ratio | {wall:.2} | {processor:.2} | |");
    }
    say(&format!("{table}\n{} cores", cores()));
    Ok(())
}

/// Builds a tree from nothing.
fn build(tree: &Path, arguments: &[&str]) -> Result<Cost, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", tree.display());
    let target = std::env::current_dir().map_err(failed)?.join("target/bench-build");
    if target.exists() {
        fs::remove_dir_all(&target).map_err(failed)?;
    }
    let manifest = fs::read_to_string(tree.join("crates/cli/Cargo.toml")).map_err(failed)?;
    // Once everything was built by default.
    let has_full = manifest.lines().any(|line| line.starts_with("full = "));
    let arguments = if has_full || !arguments.contains(&"full") { arguments } else { &arguments[..2] };
    run(tree, &target, &["fetch", "--locked"])?;
    let (start, before) = (Instant::now(), processor_seconds());
    run(tree, &target, arguments)?;
    let (wall, processor) = (start.elapsed().as_secs_f64(), processor_seconds() - before);
    let program: PathBuf = target.join("release/rosenblatt");
    let bytes = program.metadata().map_err(failed)?.len();
    Ok(Cost { wall, processor, bytes })
}

fn run(tree: &Path, target: &Path, arguments: &[&str]) -> Result<(), String> {
    let mut command = Command::new(cargo());
    command.args(arguments).current_dir(tree).env("CARGO_TARGET_DIR", target);
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if status.is_ok_and(|status| status.success()) {
        Ok(())
    } else {
        Err(format!("in {}, this failed: cargo {}", tree.display(), arguments.join(" ")))
    }
}
