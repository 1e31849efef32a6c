//! `cargo xtask npm`: the engine as a package for Node and browsers: built, packed twice to the same bytes, installed in a fresh
//! folder and tried there beside the program. ROSENBLATT names a program to compare with; the debug build otherwise.

use crate::release::of_workspace;
use crate::site::{self, Toolchain, cargo, step};
use crate::tools::context;
use crate::{audit, everything, say};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCES: &str = "npm";
const FOLDER: &str = "target/npm";
/// The most bytes of the packed package.
const MOST_BYTES: u64 = 1_000_000;
/// The compiler that reads the types.
const TYPESCRIPT: &str = "typescript@5.9.3";

pub(crate) fn run(_words: &[String]) -> Result<(), String> {
    try_out(&pack(Path::new(FOLDER))?)
}

/// Builds and packs the package into a folder.
pub(crate) fn pack(out: &Path) -> Result<PathBuf, String> {
    let module = Toolchain::expect()?.build(&["package"])?;
    let staged = Path::new(FOLDER).join("package");
    let _ = fs::remove_dir_all(&staged);
    fs::create_dir_all(&staged).map_err(context("the package's folder"))?;
    fs::create_dir_all(out).map_err(context("the folder of packages"))?;
    let manifest = manifest()?;
    let built_here = ["rosenblatt.wasm.gz", "THIRD-PARTY.txt"];
    let beside = [
        ("engine.js", "crates/server/site/engine.js"),
        ("LICENSE-MIT", "LICENSE-MIT"),
        ("LICENSE-APACHE", "LICENSE-APACHE"),
    ];
    let files = manifest["files"].as_array().ok_or("package.json lists no files")?;
    for file in
        files.iter().filter_map(Value::as_str).chain(["README.md"]).filter(|file| !built_here.contains(file))
    {
        let from = beside.iter().find(|(name, _)| *name == file).map(|(_, from)| PathBuf::from(from));
        let from = from.unwrap_or_else(|| Path::new(SOURCES).join(file));
        fs::copy(&from, staged.join(file)).map_err(context(&from.to_string_lossy()))?;
    }
    let write = |name: &str, bytes: &[u8]| fs::write(staged.join(name), bytes).map_err(context(name));
    write("package.json", format!("{manifest:#}\n").as_bytes())?;
    write("rosenblatt.wasm.gz", &site::pack(&module)?)?;
    let inside = audit::built_in(site::TARGET, &["rosenblatt-web"])?;
    write("THIRD-PARTY.txt", audit::notices(&inside)?.as_bytes())?;
    let name = format!("rosenblatt-{}.tgz", env!("CARGO_PKG_VERSION"));
    let again = Path::new(FOLDER).join("again");
    let _ = fs::remove_dir_all(&again);
    fs::create_dir_all(&again).map_err(context("a second folder"))?;
    let mut packed = Vec::new();
    for folder in [out, &again] {
        let folder = folder.canonicalize().map_err(context("the folder of packages"))?;
        let mut npm = Command::new("npm");
        step(npm.args(["pack", "--silent", "--pack-destination"]).arg(&folder).current_dir(&staged))?;
        packed.push(fs::read(folder.join(&name)).map_err(context(&name))?);
    }
    if packed[0] != packed[1] {
        return Err(format!("{name} has other bytes each time it is packed"));
    }
    let n_bytes = packed[0].len() as u64;
    say(&format!("{name}: {n_bytes} bytes"));
    if n_bytes > MOST_BYTES {
        return Err(format!("{name} has more than {MOST_BYTES} bytes"));
    }
    Ok(out.join(name))
}

/// The package's manifest, with what the workspace says of version and address.
fn manifest() -> Result<Value, String> {
    let path = Path::new(SOURCES).join("package.json");
    let text = fs::read_to_string(&path).map_err(context("npm/package.json"))?;
    let mut manifest: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    manifest["version"] = json!(env!("CARGO_PKG_VERSION"));
    let address = of_workspace("repository")?;
    manifest["repository"] = json!({ "type": "git", "url": format!("git+{address}.git") });
    manifest["homepage"] = json!(address);
    Ok(manifest)
}

/// Installs the package in a fresh folder and tries it there: model files beside the program's, the examples of its README, and
/// its types.
pub(crate) fn try_out(package: &Path) -> Result<(), String> {
    let package = package.canonicalize().map_err(context(&package.to_string_lossy()))?;
    let here = std::env::current_dir().map_err(context("the working folder"))?;
    let program = if let Some(program) = std::env::var_os("ROSENBLATT") {
        PathBuf::from(program)
    } else {
        step(Command::new(cargo()).args(everything("build", &["--bin", "rosenblatt"])))?;
        let target =
            std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
        here.join(target).join("debug/rosenblatt")
    };
    let folder = std::env::temp_dir().join(format!("rosenblatt-npm-{}", std::process::id()));
    fs::create_dir_all(&folder).map_err(context("a fresh folder"))?;
    let tried = try_in(&folder, &package, &program, &here);
    let _ = fs::remove_dir_all(&folder);
    tried
}

fn try_in(folder: &Path, package: &Path, program: &Path, here: &Path) -> Result<(), String> {
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).map_err(context(name));
    write("package.json", "{ \"private\": true, \"type\": \"module\" }\n")?;
    let run =
        |program: &str, arguments: &[&OsStr]| step(Command::new(program).args(arguments).current_dir(folder));
    let install = |what: &OsStr| {
        run(
            "npm",
            &["install".as_ref(), "--silent".as_ref(), "--no-audit".as_ref(), "--no-fund".as_ref(), what],
        )
    };
    install(package.as_os_str())?;
    let sources = here.join(SOURCES);
    fs::copy(sources.join("try.mjs"), folder.join("try.mjs")).map_err(context("try.mjs"))?;
    let data = here.join("crates/data/bundled");
    run("node", &["--expose-gc".as_ref(), "try.mjs".as_ref(), program.as_os_str(), data.as_os_str()])?;
    let readme = fs::read_to_string(sources.join("README.md")).map_err(context("README.md"))?;
    let examples = readme.split("```js\n").skip(1).filter_map(|rest| rest.split_once("```"));
    for (number, (example, _)) in examples.enumerate() {
        let name = format!("example-{number}.mjs");
        write(&name, example)?;
        run("node", &[name.as_ref()])?;
    }
    install(TYPESCRIPT.as_ref())?;
    fs::copy(sources.join("types.ts"), folder.join("types.ts")).map_err(context("types.ts"))?;
    let words = "tsc --strict --noEmit --target es2022 --module nodenext --lib es2022,dom types.ts";
    let words: Vec<&OsStr> = words.split(' ').map(OsStr::new).collect();
    run("npx", &words)?;
    say("the package trains, predicts, proves and has the types it says");
    Ok(())
}
