//! `cargo xtask python`: the Python package, tested; `cargo xtask wheel`: built, and tried in a clean environment.
//!
//! Both make environments of their own below `target` and install nothing elsewhere. Where there is no Python of 3.11 or
//! later, or packages cannot be had, it says so and tests nothing.

use crate::{everything, say};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const FOLDER: &str = "target/python";
const PACKAGES: &[&str] = &[
    "numpy",
    "scipy",
    "scikit-learn",
    "pandas",
    "pyarrow",
    "polars",
    "matplotlib",
    "pytest",
    "pytest-xdist",
    "mypy",
    "nbclient",
    "ipykernel",
];

/// What Spark needs beside it. Java is the system's.
const SPARK_PACKAGES: &[&str] = &["pyspark>=4,<5", "numpy", "pandas<3", "pyarrow", "scikit-learn", "pytest"];

/// What else can do the same, and a client of Spark that has no JVM.
const BESIDE_SPARK: &[&str] = &["pyspark[connect]>=4,<5", "dask", "distributed", "ray"];

/// Tests the package on a cluster of this machine: a standalone master and two workers on loopback.
pub(crate) fn spark(words: &[String]) -> Result<(), String> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    test_spark(&[SPARK_PACKAGES, BESIDE_SPARK].concat(), &words)
}

/// What of it is part of all tests: one of each kind. The rest takes minutes.
pub(crate) fn spark_briefly() -> Result<(), String> {
    test_spark(SPARK_PACKAGES, &["-k", "byte and settings0 or killed and executor or poisoned or tree"])
}

fn test_spark(packages: &[&str], words: &[&str]) -> Result<(), String> {
    let Some(tried) = on_spark(false, packages)? else { return Ok(()) };
    let tests = ["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--durations=8", "python/spark"];
    tried.run(&[&tests, words].concat())
}

/// Measures it beside Spark's own classifiers, on the same cluster, rows and executors.
pub(crate) fn bench_spark(words: &[String]) -> Result<(), String> {
    let Some(tried) = on_spark(true, SPARK_PACKAGES)? else { return Ok(()) };
    let mut arguments = vec!["python/spark/bench.py"];
    arguments.extend(words.iter().map(String::as_str));
    tried.run(&arguments)
}

/// The package and a Python with Spark; nothing, and a word of it, without Java 17 or later.
fn on_spark(release: bool, packages: &[&str]) -> Result<Option<Tried>, String> {
    let printed = Command::new("java").arg("-version").output();
    let printed =
        printed.map(|output| String::from_utf8_lossy(&output.stderr).into_owned()).unwrap_or_default();
    let version =
        printed.split('"').nth(1).and_then(|version| version.split('.').next()?.parse::<u32>().ok());
    if version.is_none_or(|version| version < 17) {
        say("there is no Java of 17 or later here, so Spark was not tested");
        return Ok(None);
    }
    Tried::new(release, "spark", packages)
}

/// Tests the package as the tree has it, unoptimised: nothing is built that the other tests do not need.
pub(crate) fn run(words: &[String]) -> Result<(), String> {
    let Some(tried) = Tried::new(false, "tests", PACKAGES)? else { return Ok(()) };
    tried.run(&["-P", "python/generate.py", "--check"])?;
    // What stubs say is what the module has, and the package keeps to them.
    tried.run(&["-m", "mypy.stubtest", "--ignore-missing-stub", "rosenblatt._rosenblatt"])?;
    tried.run(&["-m", "mypy", "--package", "rosenblatt"])?;
    let package = tried.path.join("rosenblatt");
    let package = package.to_str().ok_or("the folder's name is no text")?;
    // It imports Spark, which is not here.
    let spark = format!("--ignore={package}/spark.py");
    // Each process learns with one thread: there are as many of them as cores.
    let mut tests =
        vec!["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-n", "auto", "--doctest-modules"];
    tests.extend([&spark, package, "python/tests"]);
    tests.extend(words.iter().map(String::as_str));
    tried.run(&tests)
}

/// Tries every setting through every face of the package, and writes how many that were to a file; false if there is no
/// Python to try them with.
pub(crate) fn settings(counted_in: &Path) -> Result<bool, String> {
    let Some(tried) = Tried::new(false, "tests", PACKAGES)? else { return Ok(false) };
    let tests = ["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "python/tests/test_settings.py"];
    tried.run_with(&tests, &[("ROSENBLATT_SETTINGS_TRIED", counted_in)])?;
    Ok(true)
}

/// Has the runtime that others use predict with models exported to ONNX. The tests are built already.
pub(crate) fn onnx() -> Result<(), String> {
    let Some(python) = environment("onnx", &["onnxruntime", "numpy"])? else { return Ok(()) };
    let python = python.to_str().ok_or("the folder's name is no text")?;
    let tests = everything(
        "test",
        &["--quiet", "--test", "main", "--", "export::an_onnx_runtime", "export::onnx_names"],
    );
    crate::torture::cargo(&tests, &[("ROSENBLATT_PYTHON", python)])
}

/// Measures the package beside scikit-learn.
pub(crate) fn bench(words: &[String]) -> Result<(), String> {
    let Some(tried) = Tried::new(true, "tests", PACKAGES)? else { return Ok(()) };
    let folder = words.first().map_or("target/python/bench", String::as_str);
    let repeats = words.get(1).map_or("5", String::as_str);
    tried.run(&["-P", "python/bench.py", folder, repeats])
}

/// Has other projects' clients speak to the server.
pub(crate) fn serve_clients(_words: &[String]) -> Result<(), String> {
    let packages = ["numpy", "tritonclient[http]", "prometheus_client", "openapi-spec-validator"];
    let Some(python) = environment("clients", &packages)? else { return Ok(()) };
    crate::torture::cargo(&everything("test", &["--quiet", "--no-run", "--test", "main"]), &[])?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    let here = std::env::current_dir().map_err(|error| error.to_string())?;
    let program = here.join(target).join("debug/rosenblatt");
    command(Command::new(&python).args(["-P", "python/check_serve.py"]).env("ROSENBLATT", program))
}

/// The package as it was built just now, and a Python that can import it.
struct Tried {
    python: PathBuf,
    path: PathBuf,
    program: PathBuf,
}

impl Tried {
    /// Builds it; nothing if there is no Python to try it with.
    fn new(release: bool, name: &str, packages: &[&str]) -> Result<Option<Self>, String> {
        let Some(python) = environment(name, packages)? else { return Ok(None) };
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut build = Command::new(cargo);
        command(if release {
            let packages = ["--package", "rosenblatt-python", "--package", "rosenblatt-cli"];
            build.args(["build", "--release", "--features", "rosenblatt-cli/full"]).args(packages)
        } else {
            // Examples need what only tests need; so it is just what the tests were built of.
            build.args(everything("build", &["--lib", "--bin", "rosenblatt", "--examples"]))
        })?;
        let package = Path::new(FOLDER).join("package/rosenblatt");
        fs::create_dir_all(&package).map_err(|error| error.to_string())?;
        for entry in fs::read_dir("python/rosenblatt").map_err(|error| error.to_string())?.flatten() {
            if entry.path().is_file() {
                fs::copy(entry.path(), package.join(entry.file_name())).map_err(|error| error.to_string())?;
            }
        }
        let target =
            std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
        let target = target.join(if release { "release" } else { "debug" });
        let built = target.join("lib_rosenblatt.so");
        fs::copy(&built, package.join("_rosenblatt.abi3.so"))
            .map_err(|error| format!("{}: {error}", built.display()))?;
        let here = std::env::current_dir().map_err(|error| error.to_string())?;
        Ok(Some(Self {
            python,
            path: here.join(FOLDER).join("package"),
            program: here.join(target).join("rosenblatt"),
        }))
    }

    fn run(&self, arguments: &[&str]) -> Result<(), String> {
        self.run_with(arguments, &[])
    }

    /// The same with variables of the environment set.
    fn run_with(&self, arguments: &[&str], environment: &[(&str, &Path)]) -> Result<(), String> {
        let mut python = Command::new(&self.python);
        python.args(arguments).envs(environment.iter().copied());
        python.env("PYTHONPATH", &self.path).env("ROSENBLATT", &self.program);
        // Workers of Spark use the same one.
        python.env("PYSPARK_PYTHON", &self.python);
        command(python.env("PYTHONDONTWRITEBYTECODE", "1"))
    }
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
pub(crate) fn environment(name: &str, packages: &[&str]) -> Result<Option<PathBuf>, String> {
    let is_new = "import sys; sys.exit(sys.version_info < (3, 11))";
    let found = Command::new("python3").args(["-c", is_new]).status();
    if !found.is_ok_and(|status| status.success()) {
        say("there is no Python of 3.11 or later here, so the Python package was not tested");
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
            "{} cannot be installed here, so the Python package was not tested",
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
