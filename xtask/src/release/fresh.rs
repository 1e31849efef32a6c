//! `cargo xtask release try`: what was built, installed on a system without Rust, as a person would; and the checks of
//! each ecosystem. Needs root, because a system in a folder does; what is missing here is named and left out.

use super::{BUILT, Workshop, names, names_ending, step};
use crate::say;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// What the system in the folder has: Python, R and no compiler.
const PACKAGES: &str = "python3,python3-venv,r-base-core,libatomic1,man-db";

/// The first rows after an install.
const PYTHON: &str = "
import numpy as np, rosenblatt
X = np.array([[2.0, 0.1], [1.8, 0.3], [0.2, 2.1], [0.1, 1.7]])
model = rosenblatt.AveragedPerceptron().fit(X, ['apple', 'apple', 'banana', 'banana'])
assert model.predict([[1.5, 0.2]]).tolist() == ['apple']
";

pub(super) fn run(shop: &Workshop, dist: &Path) -> Result<(), String> {
    checks(shop, dist)?;
    crate::install::try_out(dist)?;
    if let Some(package) = find(dist, "rosenblatt-", ".tgz")? {
        crate::npm::try_out(&package)?;
    }
    if let Some(package) = find(dist, "rosenblatt_", ".tar.gz")? {
        crate::r::try_out(&package)?;
    }
    let Some(root) = root()? else { return Ok(()) };
    let tried = in_root(shop, dist, &root);
    let _ = fs::remove_dir_all(&root);
    tried
}

/// What each ecosystem says of its file.
fn checks(shop: &Workshop, dist: &Path) -> Result<(), String> {
    step(Command::new("sha256sum").args(["--quiet", "--check", "SHA256SUMS"]).current_dir(dist))?;
    let packages = ["twine", "cyclonedx-python-lib[json-validation]"];
    if let Some(python) = crate::python::environment("checkers", &packages)? {
        let wheels = names_ending(dist, ".whl")?;
        let source = format!("rosenblatt-{}.tar.gz", shop.version);
        let files = wheels.into_iter().chain([source]).map(|name| dist.join(name));
        step(Command::new(&python).args(["-m", "twine", "check", "--strict"]).args(files))?;
        let script = "
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
error = JsonStrictValidator(SchemaVersion.V1_5).validate_str(open(sys.argv[1]).read())
sys.exit(str(error) if error else 0)";
        let bill = dist.join(format!("rosenblatt-{}.cdx.json", shop.version));
        step(Command::new(&python).args(["-c", script]).arg(bill))?;
    }
    if is_there("lintian") {
        for name in names_ending(dist, ".deb")? {
            let words = ["--allow-root", "--fail-on", "error,warning", "--tag-display-limit", "0"];
            step(Command::new("lintian").args(words).arg(dist.join(name)))?;
        }
    } else {
        say("there is no lintian here, so the Debian packages were not checked");
    }
    Ok(())
}

fn in_root(shop: &Workshop, dist: &Path, root: &Path) -> Result<(), String> {
    let inside = root.join("dist");
    for name in names(dist)? {
        super::copy(&dist.join(&name), &inside.join(&name))?;
    }
    super::copy(Path::new("crates/data/bundled/penguins.csv"), &root.join("root/penguins.csv"))?;
    for tool in ["cargo", "rustc", "gcc", "cc"] {
        if sh(root, &format!("command -v {tool} > /dev/null")).is_ok() {
            return Err(format!("{tool} is in {}: this is not a system without it", root.display()));
        }
    }
    let version = &shop.version;
    let train = "rosenblatt --quiet train penguins.csv --label species --missing mean --model p.model > /dev/null && \
                 rosenblatt predict penguins.csv --model p.model | sort | uniq -c";

    let start = Instant::now();
    sh(
        root,
        &format!(
            "ROSENBLATT_DOWNLOAD=/dist sh /dist/install.sh && export PATH=$HOME/.local/bin:$PATH && {train}"
        ),
    )?;
    done("install.sh, static program", start);
    sh(root, "sh /dist/install.sh --uninstall && ! test -e $HOME/.local/bin/rosenblatt")?;

    let start = Instant::now();
    sh(root, &format!("dpkg --install /dist/rosenblatt_{version}_amd64.deb && {train}"))?;
    done("Debian package", start);
    sh(root, "man -w rosenblatt-train && dpkg --remove rosenblatt && ! command -v rosenblatt")?;
    sh(
        root,
        "! find / -xdev -path /proc -prune -o -path /dist -prune -o -name '*rosenblatt*' -print | grep -v '^/var\\|^/tmp' | grep .",
    )?;

    // What the package needs of others, which a registry would deliver.
    let numpy = inside.join("others");
    let downloaded = Command::new(&shop.python)
        .args(["-m", "pip", "download", "--quiet", "--only-binary", ":all:"])
        .args(["--python-version", "3.11", "--dest"])
        .arg(&numpy)
        .arg("numpy")
        .status();
    if downloaded.is_ok_and(|status| status.success()) {
        write_script(root, "first.py", PYTHON)?;
        sh(root, "python3 -m venv v")?;
        let start = Instant::now();
        sh(
            root,
            "v/bin/pip install --quiet --no-index --find-links /dist --find-links /dist/others rosenblatt && v/bin/python first.py",
        )?;
        done("pip install, first prediction", start);
    }
    let sources = find(dist, "rosenblatt_", ".tar.gz")?;
    if let Some(package) = sources.map_or(Ok(None), |sources| crate::r::binary(&sources))? {
        super::copy(&package, &inside.join("r.tar.gz"))?;
        write_script(
            root,
            "first.R",
            "library(rosenblatt)\nm <- perceptron(Species ~ ., iris)\nstopifnot(mean(predict(m, iris) == iris$Species) > 0.9)\n",
        )?;
        let start = Instant::now();
        sh(root, "R CMD INSTALL /dist/r.tar.gz && Rscript first.R")?;
        done("R package, first prediction", start);
    }
    if let Some(package) = find(dist, "rosenblatt-", ".tgz")? {
        let name = package.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let node =
            crate::tools::output_of(Command::new("sh").args(["-c", "readlink -f $(command -v node)"]))?;
        super::copy(Path::new(node.trim()), &root.join("usr/local/bin/node"))?;
        let modules = crate::tools::output_of(Command::new("npm").args(["root", "--global"]))?;
        step(
            Command::new("cp")
                .arg("-rL")
                .arg(Path::new(modules.trim()).join("npm"))
                .arg(root.join("usr/local/lib/npm")),
        )?;
        let start = Instant::now();
        sh(root, &format!("mkdir n && cd n && node /usr/local/lib/npm/bin/npm-cli.js install --offline --silent /dist/{name} && cp ../penguins.csv . && node --input-type=module -e \"
import {{ train }} from 'rosenblatt'; import {{ readFileSync }} from 'node:fs';
const model = await train(readFileSync('penguins.csv'), {{ label: 'species', missing: 'mean' }});
console.log(model.predict(readFileSync('penguins.csv')).slice(0, 3));\""))?;
        done("npm install, first prediction", start);
    }
    Ok(())
}

fn write_script(root: &Path, name: &str, text: &str) -> Result<(), String> {
    super::write(&root.join("root").join(name), text)
}

fn done(what: &str, start: Instant) {
    say(&format!("{what}: {:.1} s from nothing", start.elapsed().as_secs_f64()));
}

/// Runs in the folder's system.
fn sh(root: &Path, line: &str) -> Result<(), String> {
    let mut command = Command::new("chroot");
    command.arg(root).args(["/usr/bin/env", "-i", "HOME=/root", "LANG=C.UTF-8"]);
    command.args([
        "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
        "sh",
        "-ec",
        &format!("cd /root; {line}"),
    ]);
    step(&mut command)
}

/// A system of its own in a folder, as Debian begins; nothing where that cannot be made.
fn root() -> Result<Option<PathBuf>, String> {
    if !is_there("debootstrap") {
        say("there is no debootstrap here, so nothing was tried on a system without Rust");
        return Ok(None);
    }
    let kept = Path::new(BUILT).join("bare-system");
    if !kept.join("usr/bin/Rscript").exists() {
        let _ = fs::remove_dir_all(&kept);
        let mut command = Command::new("debootstrap");
        command.args(["--variant=minbase", &format!("--include={PACKAGES}"), "bookworm"]).arg(&kept);
        // The mirror that this system itself uses.
        if let Some(mirror) = mirror() {
            command.arg(mirror);
        }
        step(&mut command)?;
    }
    let root = std::env::temp_dir().join(format!("rosenblatt-root-{}", std::process::id()));
    step(Command::new("cp").arg("-a").arg(&kept).arg(&root))?;
    Ok(Some(root))
}

fn mirror() -> Option<String> {
    let files = ["/etc/apt/sources.list.d/debian.sources", "/etc/apt/sources.list"];
    files.iter().filter_map(|path| fs::read_to_string(path).ok()).find_map(|text| {
        text.lines().find_map(|line| line.strip_prefix("URIs: ").map(|word| word.trim().to_owned()))
    })
}

pub(super) fn is_there(program: &str) -> bool {
    Command::new("sh")
        .args(["-c", &format!("command -v {program}")])
        .output()
        .is_ok_and(|done| done.status.success())
}

pub(super) fn find(dist: &Path, start: &str, end: &str) -> Result<Option<PathBuf>, String> {
    Ok(names(dist)?
        .into_iter()
        .find(|name| name.starts_with(start) && name.ends_with(end))
        .map(|name| dist.join(name)))
}
