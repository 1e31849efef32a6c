//! `cargo xtask python`: the Python package, tested; `cargo xtask wheel`: built, and tried in a clean environment.
//!
//! Both make environments of their own below `target` and install nothing elsewhere. Where there is no Python of 3.11 or
//! later, or packages cannot be had, that is said and nothing is tested.

use crate::say;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const FOLDER: &str = "target/python";
const PACKAGES: &[&str] = &["numpy", "scipy", "scikit-learn", "pandas", "pyarrow", "polars", "pytest"];

/// Tests the package as the tree has it, unoptimised: nothing is built that the other tests do not need.
pub(crate) fn run(words: &[String]) -> Result<(), String> {
    let Some(python) = environment("tests", PACKAGES)? else { return Ok(()) };
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    command(Command::new(cargo).args([
        "build",
        "--quiet",
        "--package",
        "rosenblatt-python",
        "--package",
        "rosenblatt-cli",
    ]))?;
    let package = Path::new(FOLDER).join("package/rosenblatt");
    fs::create_dir_all(&package).map_err(|error| error.to_string())?;
    for entry in fs::read_dir("python/rosenblatt").map_err(|error| error.to_string())?.flatten() {
        if entry.path().is_file() {
            fs::copy(entry.path(), package.join(entry.file_name())).map_err(|error| error.to_string())?;
        }
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    let built = target.join("debug/lib_rosenblatt.so");
    fs::copy(&built, package.join("_rosenblatt.abi3.so"))
        .map_err(|error| format!("{}: {error}", built.display()))?;
    let here = std::env::current_dir().map_err(|error| error.to_string())?;
    let path = here.join(FOLDER).join("package");
    let run = |arguments: &[&str]| {
        let program = target.join("debug/rosenblatt");
        let program = if program.is_absolute() { program } else { here.join(program) };
        command(Command::new(&python).args(arguments).env("PYTHONPATH", &path).env("ROSENBLATT", program))
    };
    run(&["-P", "python/generate.py", "--check"])?;
    let doctests = path.join("rosenblatt");
    let doctests = doctests.to_str().ok_or("the folder's name is no text")?;
    run(&["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--doctest-modules", doctests])?;
    let mut tests = vec!["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "python/tests"];
    tests.extend(words.iter().map(String::as_str));
    run(&tests)
}

/// Builds the package as people install it, and tries five lines of it where nothing but `numpy` is.
pub(crate) fn wheel(_words: &[String]) -> Result<(), String> {
    let Some(builder) = environment("builder", &["maturin"])? else { return Ok(()) };
    let wheels = Path::new(FOLDER).join("wheels");
    let _ = fs::remove_dir_all(&wheels);
    command(Command::new(&builder).args(["-m", "maturin", "build", "--release", "--out"]).arg(&wheels))?;
    let built = fs::read_dir(&wheels).map_err(|error| error.to_string())?.flatten().next();
    let built = built.ok_or("no wheel was built")?.path();
    let _ = fs::remove_dir_all(Path::new(FOLDER).join("clean"));
    let Some(clean) = environment("clean", &[])? else { return Ok(()) };
    command(Command::new(&clean).args(["-m", "pip", "install", "--quiet"]).arg(&built))?;
    let lines = "
import numpy as np, rosenblatt
X = np.array([[2.0, 0.1], [1.8, 0.3], [0.2, 2.1], [0.1, 1.7]])
model = rosenblatt.AveragedPerceptron().fit(X, ['apple', 'apple', 'banana', 'banana'])
assert model.predict([[1.5, 0.2]]).tolist() == ['apple']
";
    command(Command::new(&clean).args(["-c", lines]))?;
    say(&format!("{} works", built.display()));
    Ok(())
}

/// An environment of this name with these packages; none if there is no Python that is new enough, or no package.
fn environment(name: &str, packages: &[&str]) -> Result<Option<PathBuf>, String> {
    let is_new = "import sys; sys.exit(sys.version_info < (3, 11))";
    let found = Command::new("python3").args(["-c", is_new]).status();
    if !found.is_ok_and(|status| status.success()) {
        say("there is no Python of 3.11 or later here, so nobody tested the Python package");
        return Ok(None);
    }
    let folder = Path::new(FOLDER).join(name);
    let python = std::env::current_dir().map_err(|error| error.to_string())?.join(&folder).join("bin/python");
    if !python.exists() {
        command(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
    }
    let installed = Command::new(&python)
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
        .args(packages)
        .status();
    if !packages.is_empty() && !installed.is_ok_and(|status| status.success()) {
        say(&format!(
            "{} cannot be installed here, so nobody tested the Python package",
            packages.join(", ")
        ));
        return Ok(None);
    }
    Ok(Some(python))
}

fn command(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("this failed: {command:?}")) }
}
