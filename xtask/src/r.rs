//! `cargo xtask r`: the R package, packed as people install it, checked by `R CMD check` and tried; `cargo xtask r pack` only
//! packs it.
//!
//! The package that is published holds the sources of the engine and of every crate it is built of, in one archive, so that it
//! builds without a network. It needs R, GNU tar and xz; where there is no R, nothing is done.

use crate::release::of_workspace;
use crate::{everything, say};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the package is put together and tried.
const FOLDER: &str = "target/r";

/// The crates that the engine is made of, without graphics cards.
const CRATES: &[&str] = &["core", "certify", "kernel", "layers", "data", "sequence", "engine"];

/// What of other people's crates no library needs.
const LEFT_OUT: &[&str] =
    &["tests", "benches", "examples", "ci", ".github", "test-data", "CHANGELOG.md", "Cargo.lock"];

/// Packs it, checks it, tries it.
pub(crate) fn run(words: &[String]) -> Result<(), String> {
    if !is_there() {
        return Ok(());
    }
    let package = pack(Path::new(FOLDER))?;
    if words.iter().any(|word| word == "pack") { Ok(()) } else { try_out(&package) }
}

/// Whether there is an R; says so if there is none.
pub(crate) fn is_there() -> bool {
    let is_there = Command::new("R").arg("--version").output().is_ok_and(|output| output.status.success());
    if !is_there {
        say("there is no R here: the R package is neither built nor tested");
    }
    is_there
}

/// The source package `rosenblatt_VERSION.tar.gz` in the folder `out`.
pub(crate) fn pack(out: &Path) -> Result<PathBuf, String> {
    if !is_there() {
        return Err("the R package is packed by R, which is not here".to_owned());
    }
    let manifest = read(Path::new("Cargo.toml"))?;
    let version = of_workspace("version")?;
    let staged = absolute(Path::new(FOLDER))?.join("staged");
    remove(&staged)?;
    let package = staged.join("rosenblatt");
    copy(Path::new("r"), &package, &["target", "vendor", "cargo-home"])?;
    describe(&package, &version, &of_workspace("repository")?)?;
    let rust = package.join("src/rust");
    let face = read(&rust.join("Cargo.toml"))?.replace("../../../crates/", "engine/crates/");
    write(&rust.join("Cargo.toml"), &face)?;
    copy_engine(&manifest, &rust.join("engine"))?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let vendor = Command::new(cargo).args(["vendor", "--quiet"]).current_dir(&rust).output();
    let vendor = vendor.map_err(|error| format!("cargo vendor: {error}"))?;
    if !vendor.status.success() {
        return Err(format!("cargo vendor: {}", String::from_utf8_lossy(&vendor.stderr)));
    }
    create(&package.join("inst"))?;
    write(&package.join("inst/COPYRIGHTS"), &slim(&rust.join("vendor"))?)?;
    archive(&rust, &["engine", "vendor"], "xz -9 --threads=1", &rust.join("vendor.tar.xz"))?;
    remove(&rust.join("engine"))?;
    remove(&rust.join("vendor"))?;
    command(Command::new("R").args(["CMD", "build", "--no-manual", "rosenblatt"]).current_dir(&staged))?;
    let name = format!("rosenblatt_{version}.tar.gz");
    create(out)?;
    let packed = out.join(&name);
    pack_anew(&staged, &name, &packed)?;
    let size = at(&packed, fs::metadata(&packed))?.len();
    say(&format!("{}: {:.2} MB", packed.display(), size as f64 / 1e6));
    Ok(packed)
}

/// Checks a package as CRAN does, with two jobs; then has the package that was installed for it make a first prediction. One of
/// the package's tests holds models to the bytes of the native program.
pub(crate) fn try_out(package: &Path) -> Result<(), String> {
    let program = if let Some(program) = std::env::var_os("ROSENBLATT") {
        PathBuf::from(program)
    } else {
        crate::torture::cargo(&everything("build", &["--quiet", "--bin", "rosenblatt"]), &[])?;
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
        target.join("debug/rosenblatt")
    };
    let (package, program) = (absolute(package)?, absolute(&program)?);
    let folder = absolute(Path::new(FOLDER))?.join("tried");
    create(&folder)?;
    let mut check = Command::new("R");
    check.args(["CMD", "check", "--as-cran", "--no-manual"]).arg(&package).current_dir(&folder);
    // What CRAN looks up on the network is not looked up here.
    for name in ["_R_CHECK_CRAN_INCOMING_", "_R_CHECK_CRAN_INCOMING_REMOTE_", "_R_CHECK_SYSTEM_CLOCK_"] {
        check.env(name, "FALSE");
    }
    // Without the tool that looks for bashisms in shell scripts, R warns that it is not there.
    if Command::new("checkbashisms").arg("--version").output().is_err() {
        check.env("_R_CHECK_BASHISMS_", "FALSE");
    }
    command(check.env("ROSENBLATT", program))?;
    let log = read(&folder.join("rosenblatt.Rcheck/00check.log"))?;
    let status =
        log.lines().rev().find(|line| line.starts_with("Status: ")).ok_or("the check has no status")?;
    if status.contains("ERROR") || status.contains("WARNING") {
        return Err(format!("R CMD check: {status}"));
    }
    let lines = "
suppressWarnings(library(rosenblatt, lib.loc = 'rosenblatt.Rcheck'))
model <- perceptron(Species ~ ., iris)
stopifnot(predict(model, iris[1, ]) == 'setosa')
";
    command(Command::new("Rscript").args(["--vanilla", "-e", lines]).current_dir(&folder))?;
    say(&format!("{} works: {status}", package.display()));
    Ok(())
}

/// The package as it was built for this system, for those who have no Rust; nothing without R.
pub(crate) fn binary(package: &Path) -> Result<Option<PathBuf>, String> {
    if !is_there() {
        return Ok(None);
    }
    let folder = absolute(Path::new(FOLDER))?.join("binary");
    remove(&folder)?;
    create(&folder)?;
    let library = folder.join("library");
    create(&library)?;
    let mut install = Command::new("R");
    install.args(["CMD", "INSTALL", "--build", "--library"]).arg(&library).arg(absolute(package)?);
    command(install.current_dir(&folder))?;
    Ok(entries(&folder)?.into_iter().find(|path| path.extension().is_some_and(|end| end == "gz")))
}

/// States the version and the address.
fn describe(package: &Path, version: &str, address: &str) -> Result<(), String> {
    let description = package.join("DESCRIPTION");
    let stated = format!("Version: {version}");
    let mut text = read(&description)?.replace("Version: 0.0.0", &stated);
    if !text.contains(&stated) {
        return Err("DESCRIPTION should state the version 0.0.0, which is filled in here".to_owned());
    }
    text = text.replace("Encoding:", &format!("URL: {address}\nEncoding:"));
    write(&description, &text)?;
    let news = package.join("NEWS.md");
    write(&news, &read(&news)?.replace("(development version)", version))
}

/// The engine's crates as a workspace that holds nothing else: their libraries, without tests and benchmarks.
fn copy_engine(manifest: &str, to: &Path) -> Result<(), String> {
    let members: Vec<String> = CRATES.iter().map(|name| format!("\"crates/{name}\"")).collect();
    let shared = sections(manifest, |name| name.starts_with("[workspace."));
    let text = format!("[workspace]\nresolver = \"3\"\nmembers = [{}]\n\n{shared}", members.join(", "));
    create(to)?;
    write(&to.join("Cargo.toml"), &text)?;
    for name in CRATES {
        let (from, to) = (Path::new("crates").join(name), to.join("crates").join(name));
        copy(&from.join("src"), &to.join("src"), &[])?;
        let kept = |section: &str| {
            !["[[bench]]", "[[test]]", "[[example]]", "[dev-dependencies]"].contains(&section)
        };
        write(&to.join("Cargo.toml"), &sections(&read(&from.join("Cargo.toml"))?, kept))?;
        // What the documentation of a crate is made of.
        for entry in at(&from, fs::read_dir(&from))?.flatten() {
            if entry.path().extension().is_some_and(|extension| extension == "md") {
                at(&from, fs::copy(entry.path(), to.join(entry.file_name())))?;
            }
        }
    }
    Ok(())
}

/// Those sections of a manifest whose headings are wanted.
fn sections(manifest: &str, is_wanted: impl Fn(&str) -> bool) -> String {
    let (mut kept, mut wanted) = (String::new(), false);
    for line in manifest.lines() {
        if line.starts_with('[') {
            wanted = is_wanted(line.trim());
        }
        if wanted {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// Takes what no build needs out of the vendored crates; says who wrote them, and under which licences.
fn slim(vendor: &Path) -> Result<String, String> {
    let mut rights =
        "The archive src/rust/vendor.tar.xz holds these crates of others, each with its licence:\n"
            .to_owned();
    for folder in entries(vendor)? {
        for name in LEFT_OUT {
            remove(&folder.join(name))?;
        }
        // Cargo looks for all files that are listed, and there is no need to list any.
        let sums = folder.join(".cargo-checksum.json");
        let known: Value = serde_json::from_str(&read(&sums)?).map_err(|error| error.to_string())?;
        write(&sums, &json!({ "files": {}, "package": known["package"] }).to_string())?;
        let manifest = read(&folder.join("Cargo.toml"))?;
        let package = sections(&manifest, |name| name == "[package]");
        let stated = |name: &str| {
            let line = package.split_once(&format!("\n{name} = ")).map_or("", |(_, rest)| rest);
            let value = if line.starts_with('[') { line.split(']').next() } else { line.lines().next() };
            let strings: Vec<&str> = value.unwrap_or_default().split('"').skip(1).step_by(2).collect();
            strings.join(", ")
        };
        let authors = match stated("authors") {
            none if none.is_empty() => format!("the authors of {}", stated("name")),
            authors => authors,
        };
        let licence = match stated("license") {
            none if none.is_empty() => format!("see {}", stated("license-file")),
            licence => licence,
        };
        let (name, version) = (stated("name"), stated("version"));
        // Writing to a string cannot fail.
        let _ = write!(rights, "\n{name} {version}\n  Copyright: {authors}\n  License: {licence}\n");
    }
    Ok(rights)
}

/// Packs the package once more, so that the same sources give the same bytes: `R CMD build` writes the time and the user.
fn pack_anew(staged: &Path, name: &str, packed: &Path) -> Result<(), String> {
    let folder = staged.join("anew");
    create(&folder)?;
    command(Command::new("tar").arg("-xzf").arg(staged.join(name)).arg("-C").arg(&folder))?;
    let description = folder.join("rosenblatt/DESCRIPTION");
    let text = read(&description)?;
    let line =
        text.lines().find(|line| line.starts_with("Packaged: ")).ok_or("R did not date the package")?;
    let date = format!("Packaged: {} UTC; rosenblatt", packed_at()?);
    write(&description, &text.replace(line, &date))?;
    archive(&folder, &["rosenblatt"], "gzip -9n", &absolute(packed)?)
}

/// The time that the package is dated: `SOURCE_DATE_EPOCH`, or else that of the last commit.
fn packed_at() -> Result<String, String> {
    let seconds = match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(seconds) => seconds,
        Err(_) => crate::tools::output_of(Command::new("git").args(["log", "-1", "--format=%ct"]))?,
    };
    let day = format!("@{}", seconds.trim());
    let date = crate::tools::output_of(Command::new("date").args(["-u", "-d", &day, "+%Y-%m-%d %H:%M:%S"]))?;
    Ok(date.trim().to_owned())
}

/// An archive of folders whose bytes depend on nothing but names and contents.
fn archive(folder: &Path, what: &[&str], packer: &str, to: &Path) -> Result<(), String> {
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--mtime=2000-01-01 00:00:00Z", "--owner=0", "--group=0", "--numeric-owner"]);
    tar.args(["--format=ustar", "--mode=u=rwX,go=rX", "-I", packer, "-cf"])
        .arg(to)
        .arg("-C")
        .arg(folder)
        .args(what);
    command(&mut tar)
}

/// What is in a folder, by name.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut entries: Vec<PathBuf> =
        at(folder, fs::read_dir(folder))?.flatten().map(|entry| entry.path()).collect();
    entries.sort();
    Ok(entries)
}

/// Copies a folder, but for what has one of these names or was compiled.
fn copy(from: &Path, to: &Path, left_out: &[&str]) -> Result<(), String> {
    create(to)?;
    for path in entries(from)? {
        let name = path.file_name().unwrap_or_default();
        let is_compiled =
            path.extension().is_some_and(|end| ["o", "so", "a"].iter().any(|known| end == *known));
        if is_compiled || left_out.iter().any(|known| name == *known) {
            continue;
        }
        if path.is_dir() {
            copy(&path, &to.join(name), left_out)?;
        } else {
            at(&path, fs::copy(&path, to.join(name)))?;
        }
    }
    Ok(())
}

fn remove(path: &Path) -> Result<(), String> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        removed => at(path, removed),
    }
}

fn create(folder: &Path) -> Result<(), String> {
    at(folder, fs::create_dir_all(folder))
}

fn absolute(path: &Path) -> Result<PathBuf, String> {
    at(path, std::path::absolute(path))
}

fn read(path: &Path) -> Result<String, String> {
    at(path, fs::read_to_string(path))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    at(path, fs::write(path, text))
}

/// Says where the system refused.
fn at<T>(path: &Path, outcome: std::io::Result<T>) -> Result<T, String> {
    outcome.map_err(|error| format!("{}: {error}", path.display()))
}

fn command(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("this failed: {command:?}")) }
}
