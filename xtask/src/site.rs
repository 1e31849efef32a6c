//! `cargo xtask site`: the playground's engine for the browser, built where a WebAssembly target is found and kept in
//! `crates/server/site/` with its checksum, so that other machines need none. `cargo xtask test site` builds
//! it again, compares, and drives a real browser through the page.

use crate::say;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) const TARGET: &str = "wasm32-unknown-unknown";
pub(crate) const MODULE: &str = "crates/server/site/rosenblatt.wasm.gz";
const RECORD: &str = "crates/server/site/rosenblatt.json";
/// The most bytes of the packed module.
const MOST_BYTES: usize = 785_000;
/// The crates that go into the module.
const CRATES: &[&str] = &["core", "certify", "kernel", "layers", "data", "sequence", "engine", "web"];

pub(crate) fn run(_words: &[String]) -> Result<(), String> {
    let how = Toolchain::expect()?;
    let module = how.build(&[])?;
    let packed = pack(&module)?;
    let record = record(&packed, &module, &how.version)?;
    fs::write(MODULE, &packed).map_err(|error| format!("{MODULE}: {error}"))?;
    let text = serde_json::to_string_pretty(&record).map_err(|error| error.to_string())?;
    fs::write(RECORD, text + "\n").map_err(|error| format!("{RECORD}: {error}"))?;
    say(&format!("{MODULE}: {} bytes", packed.len()));
    if packed.len() > MOST_BYTES {
        return Err(format!("the module has more than {MOST_BYTES} bytes"));
    }
    Ok(())
}

/// Holds the module that is kept to its checksum, and to the sources where they have changed since it was built and the
/// toolchain that built it is there; always, if `anyway`.
pub(crate) fn check(anyway: bool) -> Result<(), String> {
    let kept = fs::read(MODULE).map_err(|error| format!("{MODULE}: {error}"))?;
    let text = fs::read_to_string(RECORD).map_err(|error| format!("{RECORD}: {error}"))?;
    let printed: Value = serde_json::from_str(&text).map_err(|error| format!("{RECORD}: {error}"))?;
    if printed["sha256"] != digest(&kept) {
        return Err(format!(
            "{MODULE} is not the file that {RECORD} tells of; `cargo xtask site` builds both"
        ));
    }
    if printed["sources"] == sources()? && !anyway {
        return Ok(());
    }
    let Some(how) = Toolchain::find()?.filter(|how| printed["rustc"] == *how.version) else {
        say(&format!(
            "== {} for {TARGET} is not installed here, so {MODULE} was not built again",
            printed["rustc"]
        ));
        return Ok(());
    };
    // What it is packed by may change.
    if printed["module"] == digest(&how.build(&[])?) {
        return Ok(());
    }
    Err(format!("{MODULE} is not what the sources give; `cargo xtask site` builds it"))
}

/// Drives a real browser through the page.
pub(crate) fn browser() -> Result<(), String> {
    check(true)?;
    let folder = Path::new("target/site-tests");
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    fs::copy("crates/web/tests/browser.mjs", folder.join("browser.mjs"))
        .map_err(|error| error.to_string())?;
    fs::write(folder.join("package.json"), "{\"private\": true}\n").map_err(|error| error.to_string())?;
    step(
        Command::new("npm")
            .args(["install", "--no-save", "playwright-core@1.65.0", "axe-core@4.14.0"])
            .current_dir(folder),
    )?;
    step(Command::new(cargo()).args(["build", "--workspace", "--bin", "rosenblatt"]))?;
    let root = std::env::current_dir().map_err(|error| error.to_string())?;
    step(Command::new("node").arg("browser.mjs").arg(root).current_dir(folder))
}

fn record(packed: &[u8], module: &[u8], rustc: &str) -> Result<Value, String> {
    let (bytes, sources) = (packed.len(), sources()?);
    Ok(
        json!({ "sha256": digest(packed), "bytes": bytes, "module": digest(module), "rustc": rustc, "sources": sources }),
    )
}

/// Packed once, read by everybody: it may take its time.
pub(crate) fn pack(module: &[u8]) -> Result<Vec<u8>, String> {
    let mut packed = Vec::new();
    let how = zopfli::Options::default();
    zopfli::compress(how, zopfli::Format::Gzip, module, &mut packed).map_err(|error| error.to_string())?;
    Ok(packed)
}

fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A digest of everything the module is made of.
fn sources() -> Result<String, String> {
    let mut files = vec![PathBuf::from("Cargo.lock")];
    for name in CRATES {
        let folder = Path::new("crates").join(name);
        files.push(folder.join("Cargo.toml"));
        add_files(&folder.join("src"), &mut files)?;
    }
    files.sort();
    let mut all = Sha256::new();
    for path in files {
        let bytes = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        all.update(path.to_string_lossy().as_bytes());
        all.update(digest(&bytes).as_bytes());
    }
    let manifest = fs::read_to_string("Cargo.toml").map_err(|error| error.to_string())?;
    let profile: String = manifest.lines().skip_while(|line| *line != "[profile.web]").collect();
    all.update(profile.as_bytes());
    Ok(hex(&all.finalize()))
}

fn add_files(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries = folder.read_dir().map_err(|error| format!("{}: {error}", folder.display()))?;
    for entry in entries {
        let path = entry.map_err(|error| error.to_string())?.path();
        if path.is_dir() { add_files(&path, files)? } else { files.push(path) }
    }
    Ok(())
}

/// What builds for the browser.
pub(crate) struct Toolchain {
    version: String,
}

impl Toolchain {
    /// The compiler in use, if the standard library for the target lies beside it.
    fn find() -> Result<Option<Self>, String> {
        let printed = |argument: &[&str]| {
            let output = Command::new("rustc").args(argument).output().map_err(|error| error.to_string())?;
            Ok::<_, String>(String::from_utf8_lossy(&output.stdout).trim().to_owned())
        };
        let library = Path::new(&printed(&["--print", "sysroot"])?).join("lib/rustlib").join(TARGET);
        let version = printed(&["--version"])?;
        Ok(library.is_dir().then_some(Self { version }))
    }

    /// The same; an error if it does not.
    pub(crate) fn expect() -> Result<Self, String> {
        let missing = || format!("no way to build for {TARGET} was found; try `rustup target add {TARGET}`");
        Self::find()?.ok_or_else(missing)
    }

    /// The module, with these features of its crate.
    pub(crate) fn build(&self, features: &[&str]) -> Result<Vec<u8>, String> {
        say(&format!("== the module for {TARGET}, by {}", self.version));
        let mut command = Command::new(cargo());
        command.args(["build", "--package", "rosenblatt-web", "--profile", "web", "--target", TARGET]);
        command.args(["--features", &features.join(",")]);
        // Paths of this machine, which panics would name, and what is printed for those who look for bugs.
        command.env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", "-Zlocation-detail=none -Zfmt-debug=none");
        command.args(["--target-dir", "target/site"]);
        step(&mut command)?;
        let path = Path::new("target/site").join(TARGET).join("web/rosenblatt_web.wasm");
        fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))
    }
}

pub(crate) fn cargo() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

pub(crate) fn step(command: &mut Command) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(format!("this failed: {command:?}")),
        Err(error) => Err(format!("{command:?}: {error}")),
    }
}
