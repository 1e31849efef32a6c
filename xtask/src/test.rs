//! `cargo xtask test`: everything that must hold, in the order in which it is cheapest to fail. `cargo xtask test gpu`:
//! what must hold on a graphics card, where there is one. `cargo xtask test spark`: what must hold on a cluster, alone.
//! `cargo xtask test site`: what must hold in a browser.

use crate::{audit, bench, python, say, site, tidy, torture};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

pub(crate) fn run(words: &[String]) -> Result<(), String> {
    if words.first().is_some_and(|word| word == "gpu") {
        // Those that need a card are left out everywhere else.
        return step("tests on a card", &["test", "--package", "rosenblatt-gpu", "--", "--include-ignored"]);
    }
    if words.first().is_some_and(|word| word == "spark") {
        return python::spark(&words[1..]);
    }
    if words.first().is_some_and(|word| word == "site") {
        return site::browser();
    }
    let start = Instant::now();
    step("formatting", &["fmt", "--all", "--check"])?;
    say("== house rules");
    tidy::run(&[])?;
    say("== what others wrote");
    audit::run(&[])?;
    step("lints", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])?;
    say("== the playground's module");
    site::check(false)?;
    // What nobody builds by default rots first.
    step("no features", &["check", "--package", "rosenblatt-cli", "--no-default-features"])?;
    step("all features", &["check", "--workspace", "--all-features", "--lib"])?;
    step_with(
        ("RUSTDOCFLAGS", "-D warnings"),
        "documentation",
        &["doc", "--workspace", "--no-deps", "--quiet"],
    )?;
    oldest_rust()?;
    // Benchmarks are linted above and measured elsewhere; a test has no time limit and takes no times.
    step("tests", &["test", "--workspace", "--lib", "--bins", "--tests"])?;
    miri()?;
    step("documentation examples", &["test", "--workspace", "--doc"])?;
    // All parsers together, with the seed that is always used; the test is built already.
    step_with(("ROSENBLATT_FUZZ_SECONDS", "30"), "fuzzing", &["test", "--workspace", "--test", "fuzz"])?;
    // With the features of the tests, so that nothing is built twice.
    step("examples", &["build", "--quiet", "--workspace", "--examples"])?;
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    for example in examples()? {
        let program = Path::new(&target).join("debug/examples").join(&example);
        run_step(&format!("example {example}"), &[], &mut Command::new(program))?;
    }
    say("== quick paths beside a plain reference");
    bench::run(&["--quick".to_owned()])?;
    torture::run(&["--short".to_owned()])?;
    say("== the Python package");
    python::run(&[])?;
    say("== Spark, one test of each kind; all of them: cargo xtask test spark");
    python::spark_briefly()?;
    say(&format!("== all good after {} s", start.elapsed().as_secs()));
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
        say(&format!("== Rust {oldest} is not installed here, so nobody checked that it is enough"));
        return Ok(());
    }
    let toolchain = format!("+{oldest}");
    let target = "target/oldest-rust";
    run_step(
        "oldest Rust",
        &[&toolchain, "check", "--workspace", "--target-dir", target],
        &mut Command::new("cargo"),
    )
}

/// Has Miri watch the `unsafe` of the core that is plain Rust, where a nightly toolchain has it.
fn miri() -> Result<(), String> {
    let found = Command::new("cargo").args(["+nightly", "miri", "--version"]).output();
    if !found.is_ok_and(|output| output.status.success()) {
        say("== Miri is not installed here, so nobody watched the plain part of the `unsafe` code");
        return Ok(());
    }
    let words =
        ["+nightly", "miri", "test", "--package", "rosenblatt-core", "--lib", "--target-dir", "target/miri"];
    run_step(
        "Miri",
        &[&words[..], &["--", "row::", "simd::tests::a_row", "hypothesis::"]].concat(),
        &mut Command::new("cargo"),
    )
}

/// Runs cargo, and complains if cargo does.
fn step(name: &str, arguments: &[&str]) -> Result<(), String> {
    run_step(name, arguments, &mut Command::new(cargo()))
}

/// The same with a variable of the environment set.
fn step_with((variable, value): (&str, &str), name: &str, arguments: &[&str]) -> Result<(), String> {
    run_step(name, arguments, Command::new(cargo()).env(variable, value))
}

fn cargo() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

fn run_step(name: &str, arguments: &[&str], command: &mut Command) -> Result<(), String> {
    say(&format!("== {name}"));
    let status = command.args(arguments).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(format!("{name} failed; to see it alone: cargo {}", arguments.join(" "))),
        Err(error) => Err(format!("cargo could not be started: {error}")),
    }
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
