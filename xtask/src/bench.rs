//! `cargo xtask bench`: the benchmarks are a crate of their own (`bench/`), which is built for release when it is asked for
//! and by no test. What measures nothing, or measures with Python alone, runs here.

use crate::{builds, python, quick};
use std::process::Command;

pub(crate) fn run(words: &[String]) -> Result<(), String> {
    let rest = words.get(1..).unwrap_or_default();
    match words.first().map(String::as_str) {
        Some("--quick") => return quick::run(),
        Some("build") => return builds::bench(rest),
        Some("python") => return python::bench(rest),
        Some("spark") => return python::bench_spark(rest),
        _ => {}
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let run = ["run", "--quiet", "--release", "--package", "rosenblatt-bench", "--"];
    let status = Command::new(cargo).args(run).args(words).status();
    if status.is_ok_and(|status| status.success()) { Ok(()) } else { Err("the benchmark failed".to_owned()) }
}
