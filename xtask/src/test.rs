//! `cargo xtask test`: everything that must hold, in the order in which it is cheapest to fail. `cargo xtask test gpu`:
//! what must hold on a graphics card, where there is one. `cargo xtask test spark`: what must hold on a cluster, alone.
//! `cargo xtask test site`: what must hold in a browser.

use crate::{audit, bench, everything, python, say, site, tidy, torture};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

pub(crate) fn run(words: &[String]) -> Result<(), String> {
    if words.first().is_some_and(|word| word == "gpu") {
        // Those that need a card are left out everywhere else.
        let arguments = ["test", "--package", "rosenblatt-gpu", "--", "--include-ignored"];
        return finish("tests on a card", &arguments, &mut Command::new(cargo()));
    }
    if words.first().is_some_and(|word| word == "spark") {
        return python::spark(&words[1..]);
    }
    if words.first().is_some_and(|word| word == "site") {
        return site::browser();
    }
    let mut steps = Steps::default();
    steps.cargo("formatting", &["fmt", "--all", "--check"])?;
    // Files that a table declares are no modules to `cargo fmt`.
    let declared = ["core/src/rules", "data/src/formats", "data/src/sentences", "data/src/write"]
        .map(|folder| tidy::sources(&Path::new("crates").join(folder)));
    let mut rustfmt = Command::new("rustfmt");
    rustfmt.args(["--check", "--edition", "2024"]).args(declared.into_iter().flatten());
    steps.take("formatting of what tables declare", || match rustfmt.status() {
        Ok(status) if status.success() => Ok(()),
        _ => Err("run rustfmt on the files above".to_owned()),
    })?;
    steps.take("house rules", || tidy::run(&[]))?;
    steps.take("what others wrote", || audit::run(&[]))?;
    let deny = ["--", "-D", "warnings"];
    let lints = [&["clippy", "--workspace", "--all-features", "--all-targets"][..], &deny].concat();
    steps.cargo("lints, of benchmarks too", &lints)?;
    steps.take("the playground's module", || site::check(false))?;
    steps.take("features", features)?;
    steps.cargo_with(
        ("RUSTDOCFLAGS", "-D warnings"),
        "documentation",
        &everything("doc", &["--no-deps", "--quiet"]),
    )?;
    steps.take("oldest Rust", oldest_rust)?;
    // Benchmarks are linted above and measured elsewhere; a test has no time limit and takes no times.
    steps.cargo("building the tests", &everything("test", &["--lib", "--bins", "--tests", "--no-run"]))?;
    steps.cargo("tests", &everything("test", &["--lib", "--bins", "--tests"]))?;
    steps.take("Miri", miri)?;
    steps.cargo("documentation examples", &everything("test", &["--doc"]))?;
    // All parsers together, with the seed that is always used; the test is built already.
    steps.cargo_with(
        ("ROSENBLATT_FUZZ_SECONDS", "30"),
        "fuzzing",
        &everything("test", &["--test", "fuzz"]),
    )?;
    steps.take("examples", run_examples)?;
    steps.take("quick paths beside a plain reference", || bench::run(&["--quick".to_owned()]))?;
    steps.take("torture, in short", || torture::run(&["--short".to_owned()]))?;
    steps.take("exports to ONNX, in its runtime", python::onnx)?;
    steps.take("the Python package", || python::run(&[]))?;
    steps.take("Spark, one test of each kind; all of them: cargo xtask test spark", python::spark_briefly)?;
    say(&steps.table());
    Ok(())
}

/// What was done, and what it took.
#[derive(Default)]
struct Steps(Vec<(String, f64, f64)>);

impl Steps {
    fn take(&mut self, name: &str, step: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
        say(&format!("== {name}"));
        let (start, before) = (Instant::now(), processor_seconds());
        step()?;
        self.0.push((name.to_owned(), start.elapsed().as_secs_f64(), processor_seconds() - before));
        Ok(())
    }

    fn cargo(&mut self, name: &str, arguments: &[&str]) -> Result<(), String> {
        self.take(name, || finish(name, arguments, &mut Command::new(cargo())))
    }

    /// The same with a variable of the environment set.
    fn cargo_with(
        &mut self,
        (variable, value): (&str, &str),
        name: &str,
        arguments: &[&str],
    ) -> Result<(), String> {
        self.take(name, || finish(name, arguments, Command::new(cargo()).env(variable, value)))
    }

    fn table(&self) -> String {
        let mut table = format!("== all good\n{:<72} {:>8} {:>10}\n", "", "wall, s", "processor");
        let sum = |of: fn(&(String, f64, f64)) -> f64| self.0.iter().map(of).sum();
        let all = ("all".to_owned(), sum(|step| step.1), sum(|step| step.2));
        for (name, wall, processor) in self.0.iter().chain([&all]) {
            let _ = writeln!(table, "{name:<72} {wall:>8.0} {processor:>10.0}");
        }
        table
    }
}

/// The processor seconds of all children that have ended, where the system tells them.
pub(crate) fn processor_seconds() -> f64 {
    let printed = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // After the name, which is in brackets and may hold anything, ticks of a hundredth: fields 16 and 17 of
    // all.
    let fields = printed.rsplit(')').next().unwrap_or_default().split_whitespace().skip(13).take(2);
    fields.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// Checks that the command line compiles with its default features and without any, and the crates that features
/// reach into with each of theirs alone. With all of them everything else here is built.
fn features() -> Result<(), String> {
    let check = |words: &[&str]| {
        finish("features", &[&["check", "--quiet"], words].concat(), &mut Command::new(cargo()))
    };
    check(&["--package", "rosenblatt-cli"])?;
    check(&["--package", "rosenblatt-cli", "--no-default-features"])?;
    for (package, features) in [
        ("rosenblatt-data", &["arrow", "bundled", "images", "jpeg", "ndarray", "parquet"][..]),
        ("rosenblatt-server", &["arrow", "tls", "zstd"]),
        ("rosenblatt", &["gpu"]),
    ] {
        for feature in features {
            check(&["--package", package, "--features", feature])?;
        }
    }
    Ok(())
}

/// Builds with the oldest Rust that the manifest promises, where that toolchain is installed.
fn oldest_rust() -> Result<(), String> {
    let manifest = std::fs::read_to_string("Cargo.toml").map_err(|error| error.to_string())?;
    let oldest = manifest.lines().find_map(|line| line.strip_prefix("rust-version = "));
    let oldest = oldest.ok_or("Cargo.toml promises no rust-version")?.trim_matches('"');
    let installed = Command::new("rustup").args(["toolchain", "list"]).output();
    let is_installed = installed.is_ok_and(|output| {
        String::from_utf8_lossy(&output.stdout).lines().any(|line| line.starts_with(oldest))
    });
    if !is_installed {
        say(&format!("Rust {oldest} is not installed here, so it was not checked that it is enough"));
        return Ok(());
    }
    let toolchain = format!("+{oldest}");
    let target = "target/oldest-rust";
    finish(
        "oldest Rust",
        &[&toolchain, "check", "--workspace", "--target-dir", target],
        &mut Command::new("cargo"),
    )
}

/// Has Miri watch the `unsafe` of the core that is plain Rust, where a nightly toolchain has it.
fn miri() -> Result<(), String> {
    let found = Command::new("cargo").args(["+nightly", "miri", "--version"]).output();
    if !found.is_ok_and(|output| output.status.success()) {
        say("Miri is not installed here, so the plain part of the `unsafe` code was not checked");
        return Ok(());
    }
    let words =
        ["+nightly", "miri", "test", "--package", "rosenblatt-core", "--lib", "--target-dir", "target/miri"];
    finish(
        "Miri",
        &[&words[..], &["--", "row::", "simd::tests::a_row", "hypothesis::"]].concat(),
        &mut Command::new("cargo"),
    )
}

pub(crate) fn cargo() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

fn finish(name: &str, arguments: &[&str], command: &mut Command) -> Result<(), String> {
    let status = command.args(arguments).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(format!("{name} failed; to see it alone: cargo {}", arguments.join(" "))),
        Err(error) => Err(format!("cargo could not be started: {error}")),
    }
}

/// Runs the engine's examples.
fn run_examples() -> Result<(), String> {
    finish("examples", &everything("build", &["--quiet", "--examples"]), &mut Command::new(cargo()))?;
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    for example in examples()? {
        let program = Path::new(&target).join("debug/examples").join(&example);
        finish(&format!("example {example}"), &[], &mut Command::new(program))?;
    }
    Ok(())
}

/// The engine's examples, by name. Each checks its own result.
fn examples() -> Result<Vec<String>, String> {
    let folder = Path::new("crates/engine/examples");
    let entries = folder.read_dir().map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.ok()?.path().file_stem()?.to_str().map(str::to_owned)).collect();
    names.sort();
    Ok(names)
}
