//! `cargo xtask release`: everything that people install, built from a clean checkout into `target/dist`.
//!
//! `release PART...` builds parts of it: `programs`, `wheels`, `debian`, `npm`, `r`, `crates`. `--target NAME`: for this
//! platform alone. Every call ends with the sums and the bill of materials of what lies in the folder. `release bits`
//! trains a model of every kind with every program that can run here and compares the files. `release try` installs
//! what was built where there is no Rust. `release again` builds the programs in a second folder and compares.
//! `release sums`: nothing but the end.
//!
//! Two builds of one commit give the same bytes: no path of the machine and no time of day gets in.

mod bill;
mod bits;
mod debian;
mod fresh;

use crate::{install, python, say, tidy};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// What people download.
const DIST: &str = "target/dist";
/// What compilers leave.
const BUILT: &str = "target/release-build";

/// A platform that programs are built for.
struct Platform {
    target: &'static str,
    /// The same, with the oldest system library that will do.
    linked_for: &'static str,
    /// A static program cannot load the driver of a graphics card.
    features: &'static [&'static str],
    /// What wheels for it say they run on.
    wheel: Option<&'static str>,
    /// How its programs are started on x86-64 Linux; nothing where they cannot be.
    runner: Option<&'static [&'static str]>,
    is_shipped: bool,
}

const FULL: &[&str] = &["full"];
const STATIC: &[&str] = &["images", "jpeg", "parquet", "tls", "zstd"];

const PLATFORMS: &[Platform] = &[
    Platform {
        target: "x86_64-unknown-linux-musl",
        linked_for: "x86_64-unknown-linux-musl",
        features: STATIC,
        wheel: Some("musllinux_1_2"),
        runner: Some(&[]),
        is_shipped: true,
    },
    Platform {
        target: "x86_64-unknown-linux-gnu",
        linked_for: "x86_64-unknown-linux-gnu.2.17",
        features: FULL,
        wheel: Some("manylinux2014"),
        runner: Some(&[]),
        is_shipped: true,
    },
    Platform {
        target: "aarch64-unknown-linux-musl",
        linked_for: "aarch64-unknown-linux-musl",
        features: STATIC,
        wheel: Some("musllinux_1_2"),
        runner: Some(&["qemu-aarch64-static"]),
        is_shipped: true,
    },
    Platform {
        target: "aarch64-unknown-linux-gnu",
        linked_for: "aarch64-unknown-linux-gnu.2.17",
        features: FULL,
        wheel: Some("manylinux2014"),
        runner: Some(&["qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu"]),
        is_shipped: true,
    },
    Platform {
        target: "x86_64-pc-windows-gnu",
        linked_for: "x86_64-pc-windows-gnu",
        features: FULL,
        wheel: Some("off"),
        runner: Some(&["wine"]),
        is_shipped: true,
    },
    Platform {
        target: "x86_64-apple-darwin",
        linked_for: "x86_64-apple-darwin",
        features: STATIC,
        wheel: Some("off"),
        runner: None,
        is_shipped: true,
    },
    Platform {
        target: "aarch64-apple-darwin",
        linked_for: "aarch64-apple-darwin",
        features: STATIC,
        wheel: Some("off"),
        runner: None,
        is_shipped: true,
    },
    // Its bytes run the other way round: if models are the same there, they are the same everywhere.
    Platform {
        target: "s390x-unknown-linux-gnu",
        linked_for: "s390x-unknown-linux-gnu",
        features: &["images", "jpeg", "parquet"],
        wheel: None,
        runner: Some(&["qemu-s390x-static", "-L", "/usr/s390x-linux-gnu"]),
        is_shipped: false,
    },
];

/// What cross-builds; these versions, because others may give other bytes.
const BUILDERS: &[&str] = &["maturin==1.16.0", "cargo-zigbuild==0.24.0", "ziglang==0.17.0"];

/// What stands in everything shipped.
const PAPERS: &[&str] = &["README.md", "LICENSE-MIT", "LICENSE-APACHE"];

const SHELLS: &[&str] = &["bash", "elvish", "fish", "powershell", "zsh"];

impl Platform {
    fn is_windows(&self) -> bool {
        self.target.contains("windows")
    }

    fn program(&self) -> PathBuf {
        let name = if self.is_windows() { "rosenblatt.exe" } else { "rosenblatt" };
        Path::new(BUILT).join(self.target).join("release").join(name)
    }

    /// The program as it is started here, if it is there and can be.
    fn start(&self) -> Option<Command> {
        let path = fs::canonicalize(self.program()).ok()?;
        let (mut words, program) = (self.runner?.iter(), path);
        let Some(runner) = words.next() else { return Some(Command::new(program)) };
        let mut command = Command::new(runner);
        command.args(words).arg(program);
        Some(command)
    }
}

type Part = fn(&Workshop, &[&Platform]) -> Result<(), String>;

pub(crate) fn run(words: &[String]) -> Result<(), String> {
    let target = crate::tools::after(words, "--target");
    let parts: Vec<&str> = words.iter().map(String::as_str).take_while(|word| *word != "--target").collect();
    let chosen: Vec<&Platform> =
        PLATFORMS.iter().filter(|one| target.is_none_or(|target| one.target == target)).collect();
    if chosen.is_empty() {
        let all: Vec<&str> = PLATFORMS.iter().map(|one| one.target).collect();
        return Err(format!("no such target; there are {}", all.join(", ")));
    }
    let shop = Workshop::open()?;
    let all: &[(&str, Part)] = &[
        ("programs", programs),
        ("wheels", wheels),
        ("debian", debian::run),
        ("npm", |_, _| crate::npm::pack(Path::new(DIST)).map(drop)),
        ("r", |_, _| crate::r::pack(Path::new(DIST)).map(drop)),
        ("crates", |shop, _| crates(shop)),
    ];
    let others: &[(&str, Part)] = &[
        // What every call ends with.
        ("sums", |_, _| Ok(())),
        ("bits", bits::run),
        ("try", |shop, _| fresh::run(shop, Path::new(DIST))),
        ("again", again),
    ];
    for name in &parts {
        if !all.iter().chain(others).any(|(part, _)| part == name) {
            let known: Vec<&str> = all.iter().chain(others).map(|(part, _)| *part).collect();
            return Err(format!("there is no part `{name}` of a release; there are {}", known.join(", ")));
        }
    }
    for (name, part) in all.iter().chain(others) {
        let is_default = parts.is_empty() && all.iter().any(|(other, _)| other == name);
        if is_default || parts.contains(name) {
            say(&format!("== release: {name}"));
            part(&shop, &chosen)?;
        }
    }
    bill::write_all(&shop)?;
    install::fill(Path::new(DIST))?;
    sums()?;
    say(&table()?);
    Ok(())
}

/// What a release is built with.
struct Workshop {
    python: PathBuf,
    version: String,
    /// The date of the commit, in seconds: the only date that gets in.
    date: String,
    root: PathBuf,
}

impl Workshop {
    fn open() -> Result<Self, String> {
        let python = python::environment("builder", BUILDERS)?.ok_or(
            "a release needs Python 3.11 or later and its packages maturin, cargo-zigbuild and ziglang",
        )?;
        fs::create_dir_all(DIST).map_err(|error| format!("{DIST}: {error}"))?;
        let date = crate::tools::output_of(Command::new("git").args(["log", "-1", "--format=%ct"]))?;
        let root = std::env::current_dir().map_err(|error| error.to_string())?;
        Ok(Self { python, version: of_workspace("version")?, date: date.trim().to_owned(), root })
    }

    /// A command that builds for a platform: the tools first on the path, and nothing of this machine in what it makes.
    fn building(&self, program: &str, platform: Option<&Platform>) -> Result<Command, String> {
        let tools = self.python.parent().unwrap_or(Path::new("")).to_path_buf();
        let mut path = vec![tools.clone()];
        path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
        let home = std::env::var_os("CARGO_HOME")
            .map(PathBuf::from)
            .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
        let home = home.unwrap_or_default();
        let mut flags = format!(
            "--remap-path-prefix={}=/rosenblatt --remap-path-prefix={}=/cargo",
            self.root.display(),
            home.display()
        );
        if platform.is_some_and(|one| one.target.ends_with("darwin")) {
            let frameworks = self.root.join(BUILT).join("frameworks");
            let stub = frameworks.join("CoreFoundation.framework/CoreFoundation.tbd");
            copy(Path::new("xtask/src/release/CoreFoundation.tbd"), &stub)?;
            let _ = write!(flags, " -C link-arg=-F{}", frameworks.display());
        }
        let inside = tools.join(program);
        let mut command = if inside.exists() { Command::new(inside) } else { Command::new(program) };
        command
            .env("PATH", std::env::join_paths(path).unwrap_or_default())
            .env("SOURCE_DATE_EPOCH", &self.date)
            .env("RUSTFLAGS", flags)
            .env("CARGO_TARGET_DIR", self.root.join(BUILT))
            .env("CARGO_INCREMENTAL", "0");
        Ok(command)
    }

    /// The date of the commit, as standards write it.
    fn day(&self) -> Result<String, String> {
        let words = ["-u", "-d", &format!("@{}", self.date), "+%Y-%m-%dT%H:%M:%SZ"];
        Ok(crate::tools::output_of(Command::new("date").args(words))?.trim().to_owned())
    }

    /// Packs a folder, the same bytes each time.
    fn archive(&self, folder: &Path, out: &Path) -> Result<(), String> {
        let script = "xtask/src/release/archive.py";
        step(Command::new(&self.python).arg(script).arg(folder).arg(out).arg(&self.date))
    }
}

/// What `[workspace.package]` says: the one place where version and address are written.
pub(crate) fn of_workspace(name: &str) -> Result<String, String> {
    let manifest = fs::read_to_string("Cargo.toml").map_err(|error| format!("Cargo.toml: {error}"))?;
    let value = tidy::value_of(&manifest, name).ok_or_else(|| format!("Cargo.toml: no `{name}`"))?;
    Ok(value.to_owned())
}

/// The programs, each in an archive with its papers, manual pages and completions.
fn programs(shop: &Workshop, chosen: &[&Platform]) -> Result<(), String> {
    let targets = chosen.iter().map(|one| one.target);
    step(Command::new("rustup").args(["target", "add"]).args(targets))?;
    for platform in chosen {
        let start = Instant::now();
        step(
            shop.building(&cargo(), Some(platform))?
                .args([
                    "zigbuild",
                    "--locked",
                    "--release",
                    "--package",
                    "rosenblatt-cli",
                    "--no-default-features",
                ])
                .args(["--features", &platform.features.join(","), "--target", platform.linked_for]),
        )?;
        took(platform.program().display().to_string().as_str(), start)?;
        if platform.is_shipped {
            let pages = pages()?;
            let name = format!("rosenblatt-{}-{}", shop.version, platform.target);
            let folder = Path::new(BUILT).join("archives").join(&name);
            let _ = fs::remove_dir_all(&folder);
            copy_folder(&pages, &folder)?;
            for paper in PAPERS {
                copy(Path::new(paper), &folder.join(paper))?;
            }
            write(&folder.join("THIRD-PARTY.txt"), &bill::notices(platform)?)?;
            let program = platform.program();
            copy(&program, &folder.join(program.file_name().unwrap_or_default()))?;
            let name = install::archive(&shop.version, platform.target);
            shop.archive(&folder, &Path::new(DIST).join(&name))?;
            took(&name, start)?;
        }
    }
    Ok(())
}

/// Manual pages and completions, printed by the program that runs here.
fn pages() -> Result<PathBuf, String> {
    let folder = Path::new(BUILT).join("pages");
    let native = PLATFORMS.iter().find(|one| one.program().exists() && one.start().is_some());
    let native = native.ok_or("no program was built that runs here: `release programs` builds them")?;
    let print = |words: &[&str]| {
        let mut command = native.start().ok_or("the program is gone")?;
        crate::tools::output_of(command.args(words))
    };
    let _ = fs::remove_dir_all(&folder);
    let (man, completions) = (folder.join("man"), folder.join("completions"));
    for folder in [&man, &completions] {
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let catalogue: serde_json::Value =
        serde_json::from_str(&print(&["catalogue", "--json"])?).map_err(|error| error.to_string())?;
    write(&man.join("rosenblatt.1"), &print(&["man"])?)?;
    for command in catalogue["commands"].as_array().into_iter().flatten() {
        let name = command["name"].as_str().unwrap_or_default();
        write(&man.join(format!("rosenblatt-{name}.1")), &print(&["man", name])?)?;
    }
    for shell in SHELLS {
        let name = match *shell {
            "bash" => "rosenblatt.bash".to_owned(),
            "zsh" => "_rosenblatt".to_owned(),
            "fish" => "rosenblatt.fish".to_owned(),
            "powershell" => "_rosenblatt.ps1".to_owned(),
            other => format!("rosenblatt.{other}"),
        };
        write(&completions.join(name), &print(&["completions", shell])?)?;
    }
    Ok(folder)
}

/// The Python package for every platform, and its sources.
fn wheels(shop: &Workshop, chosen: &[&Platform]) -> Result<(), String> {
    let dist = Path::new(DIST);
    for platform in chosen {
        let Some(compatibility) = platform.wheel else { continue };
        let start = Instant::now();
        let mut command = shop.building("maturin", Some(platform))?;
        command.args(["build", "--release", "--locked", "--zig", "--target", platform.target, "--out", DIST]);
        if compatibility != "off" {
            command.args(["--compatibility", compatibility]);
        }
        let before = names(dist)?;
        step(&mut command)?;
        for name in names(dist)?.iter().filter(|name| !before.contains(name)) {
            took(name, start)?;
        }
    }
    step(shop.building("maturin", None)?.args(["sdist", "--out", DIST]))
}

/// Every crate that is published, packed, and built from what was packed, in order.
fn crates(shop: &Workshop) -> Result<(), String> {
    let start = Instant::now();
    let built = Path::new(BUILT).join("crates");
    let all = ["--workspace", "--locked", "--allow-dirty"];
    let mut publish = Command::new(cargo());
    step(publish.args(["publish", "--dry-run"]).args(all).env("CARGO_TARGET_DIR", &built))?;
    // What was published is not kept; what is packed is.
    let mut pack = Command::new(cargo());
    pack.args(["package", "--no-verify", "--quiet"]).args(all).env("CARGO_TARGET_DIR", &built);
    let (published, kept) = members()?;
    step(pack.args(kept.iter().flat_map(|name| ["--exclude", name])))?;
    for name in published {
        let name = format!("{name}-{}.crate", shop.version);
        copy(&built.join("package").join(&name), &Path::new(DIST).join(&name))?;
        took(&name, start)?;
    }
    Ok(())
}

/// The crates of the workspace that are published, and those that are not.
fn members() -> Result<(Vec<String>, Vec<String>), String> {
    let words = ["metadata", "--locked", "--no-deps", "--format-version", "1"];
    let text = crate::tools::output_of(Command::new(cargo()).args(words))?;
    let about: serde_json::Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let packages = about["packages"].as_array().ok_or("cargo metadata lists no packages")?;
    let (published, kept): (Vec<_>, Vec<_>) = packages
        .iter()
        .partition(|package| package["publish"].as_array().is_none_or(|list| !list.is_empty()));
    let names = |packages: Vec<&serde_json::Value>| {
        packages.iter().filter_map(|package| package["name"].as_str().map(str::to_owned)).collect()
    };
    Ok((names(published), names(kept)))
}

/// Builds the programs in another folder and compares them to the byte.
fn again(shop: &Workshop, chosen: &[&Platform]) -> Result<(), String> {
    let folder = std::env::temp_dir().join(format!("rosenblatt-again-{}", std::process::id()));
    step(Command::new("git").args(["clone", "--quiet", "."]).arg(&folder))?;
    let mut differ = Vec::new();
    for platform in chosen.iter().filter(|one| one.is_shipped && one.program().exists()) {
        let words = ["xtask", "release", "programs", "--target", platform.target];
        step(Command::new(cargo()).args(words).current_dir(&folder))?;
        let name = install::archive(&shop.version, platform.target);
        let same = digest(&Path::new(DIST).join(&name))? == digest(&folder.join(DIST).join(&name))?;
        say(&format!("{name}: {}", if same { "the same bytes" } else { "DIFFERENT" }));
        if !same {
            differ.push(name);
        }
    }
    let _ = fs::remove_dir_all(&folder);
    if differ.is_empty() { Ok(()) } else { Err(format!("two builds differ: {}", differ.join(", "))) }
}

/// The sums of everything in the folder, as `sha256sum --check` reads them.
fn sums() -> Result<(), String> {
    let mut text = String::new();
    for name in names(Path::new(DIST))? {
        if name != "SHA256SUMS" {
            let _ = writeln!(text, "{}  {name}", digest(&Path::new(DIST).join(&name))?);
        }
    }
    write(&Path::new(DIST).join("SHA256SUMS"), &text)
}

/// How large everything is, and how long it took.
fn table() -> Result<String, String> {
    let times = fs::read_to_string(Path::new(BUILT).join("times")).unwrap_or_default();
    let mut text = String::from("| file | bytes | built in, s |\n|---|--:|--:|\n");
    for name in names(Path::new(DIST))? {
        let bytes = fs::metadata(Path::new(DIST).join(&name)).map_or(0, |about| about.len());
        let took = times.lines().rev().find_map(|line| line.strip_prefix(&name)?.strip_prefix('\t'));
        let _ = writeln!(text, "| {name} | {bytes} | {} |", took.unwrap_or("-"));
    }
    Ok(text)
}

/// Writes down what something took.
fn took(name: &str, start: Instant) -> Result<(), String> {
    let path = Path::new(BUILT).join("times");
    let mut text = fs::read_to_string(&path).unwrap_or_default();
    let _ = writeln!(text, "{name}\t{:.0}", start.elapsed().as_secs_f64());
    write(&path, &text)
}

fn names(folder: &Path) -> Result<Vec<String>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let files = entries.flatten().filter(|entry| entry.path().is_file());
    let mut names: Vec<String> =
        files.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

/// Those that end so.
fn names_ending(folder: &Path, ending: &str) -> Result<Vec<String>, String> {
    Ok(names(folder)?.into_iter().filter(|name| name.ends_with(ending)).collect())
}

/// The SHA-256 of a file.
pub(crate) fn digest(path: &Path) -> Result<String, String> {
    let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    fs::copy(from, to).map(drop).map_err(|error| format!("{}: {error}", from.display()))
}

fn copy_folder(from: &Path, to: &Path) -> Result<(), String> {
    let entries = fs::read_dir(from).map_err(|error| format!("{}: {error}", from.display()))?;
    for entry in entries.flatten() {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() { copy_folder(&path, &to)? } else { copy(&path, &to)? }
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

fn cargo() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned())
}

fn step(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("this failed: {command:?}")) }
}
