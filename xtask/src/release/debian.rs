//! The package for Debian and its relatives.

use super::{BUILT, DIST, PLATFORMS, Platform, Workshop, copy, step, took, write};
use crate::release::of_workspace;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

pub(super) fn run(shop: &Workshop, chosen: &[&Platform]) -> Result<(), String> {
    let pairs = [("x86_64-unknown-linux-gnu", "amd64"), ("aarch64-unknown-linux-gnu", "arm64")];
    for (target, architecture) in pairs {
        let platform = PLATFORMS.iter().find(|one| one.target == target).ok_or("no such platform")?;
        if chosen.iter().any(|one| one.target == target) {
            pack(shop, platform, architecture)?;
        }
    }
    Ok(())
}

fn pack(shop: &Workshop, platform: &Platform, architecture: &str) -> Result<(), String> {
    let start = Instant::now();
    let root = Path::new(BUILT).join("debian").join(architecture);
    let _ = fs::remove_dir_all(&root);
    copy(&platform.program(), &root.join("usr/bin/rosenblatt"))?;
    let pages = super::pages()?;
    let share = root.join("usr/share");
    for name in super::names(&pages.join("man"))? {
        packed(&pages.join("man").join(&name), &share.join("man/man1").join(format!("{name}.gz")))?;
    }
    for (from, to) in [
        ("rosenblatt.bash", "bash-completion/completions/rosenblatt"),
        ("rosenblatt.fish", "fish/vendor_completions.d/rosenblatt.fish"),
        ("_rosenblatt", "zsh/vendor-completions/_rosenblatt"),
    ] {
        copy(&pages.join("completions").join(from), &share.join(to))?;
    }
    let papers = share.join("doc/rosenblatt");
    let copyright = papers.join("copyright");
    let changes = Path::new(BUILT).join("debian/changelog");
    let maintainer = format!("The authors of Rosenblatt <rosenblatt@{}>", host()?);
    let day =
        crate::tools::output_of(Command::new("date").args(["-R", "-u", "-d", &format!("@{}", shop.date)]))?;
    write(
        &changes,
        &format!(
            "rosenblatt ({}) unstable; urgency=medium\n\n  * This version, as its authors release it.\n\n -- {maintainer}  {}\n",
            shop.version,
            day.trim()
        ),
    )?;
    packed(&changes, &papers.join("changelog.gz"))?;
    write(&copyright, &copyright_text(platform)?)?;
    // In kibibytes, as Debian counts.
    let size = crate::tools::output_of(Command::new("du").args(["-k", "-s", "--apparent-size"]).arg(&root))?;
    let size = size.split_whitespace().next().unwrap_or("0").to_owned();
    let control = format!(
        "Package: rosenblatt\nVersion: {}\nArchitecture: {architecture}\nMaintainer: {maintainer}\n\
         Installed-Size: {size}\nDepends: libc6 (>= 2.17)\nSection: science\nPriority: optional\nHomepage: {}\n\
         Description: perceptron family: train, explain, certify and serve models\n \
         Rosenblatt trains linear, kernel and curved models from the files you have (CSV,\n \
         text, Parquet, libsvm, pictures, sentences), estimates their error on rows not\n \
         learned from, explains each decision, proves whether classes are separable, and\n \
         serves models over HTTP with online learning.\n",
        shop.version,
        of_workspace("homepage").or_else(|_| of_workspace("repository"))?,
    );
    fs::create_dir_all(root.join("DEBIAN")).map_err(|error| error.to_string())?;
    write(&root.join("DEBIAN/control"), &control)?;
    let mut sums = String::new();
    let files = crate::tools::output_of(Command::new("find").args([".", "-type", "f"]).current_dir(&root))?;
    let mut files: Vec<&str> = files.lines().filter(|path| !path.starts_with("./DEBIAN")).collect();
    files.sort_unstable();
    for path in files {
        let line = crate::tools::output_of(Command::new("md5sum").arg(root.join(path)))?;
        let sum = line.split_whitespace().next().unwrap_or_default().to_owned();
        let _ = writeln!(sums, "{sum}  {}", path.trim_start_matches("./"));
    }
    write(&root.join("DEBIAN/md5sums"), &sums)?;
    let name = format!("rosenblatt_{}_{architecture}.deb", shop.version);
    step(Command::new("chmod").args(["-R", "u+rwX,go+rX,go-w"]).arg(&root))?;
    step(
        Command::new("dpkg-deb")
            .args(["--root-owner-group", "-Zxz", "--build"])
            .arg(&root)
            .arg(Path::new(DIST).join(&name))
            .env("SOURCE_DATE_EPOCH", &shop.date),
    )?;
    took(&name, start)
}

fn host() -> Result<String, String> {
    let address = of_workspace("repository")?;
    Ok(address.split("//").nth(1).and_then(|rest| rest.split('/').next()).unwrap_or("localhost").to_owned())
}

fn packed(from: &Path, to: &Path) -> Result<(), String> {
    let bytes = Command::new("gzip").args(["-9", "-n", "-c"]).arg(from).output();
    let bytes = bytes.map_err(|error| format!("gzip: {error}"))?.stdout;
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    fs::write(to, bytes).map_err(|error| format!("{}: {error}", to.display()))
}

/// In Debian's form: our own licence, and the texts of what is inside.
fn copyright_text(platform: &Platform) -> Result<String, String> {
    let mut text = String::from(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: rosenblatt\n\n\
         Files: *\nCopyright: 2026 The authors of Rosenblatt\nLicense: Expat or Apache-2.0\n\n\
         License: Expat\n",
    );
    let indented = |licence: &str| -> String {
        licence
            .lines()
            .map(|line| if line.trim().is_empty() { " .\n".to_owned() } else { format!(" {line}\n") })
            .collect()
    };
    let read = |path: &str| fs::read_to_string(path).map_err(|error| format!("{path}: {error}"));
    text.push_str(&indented(&read("LICENSE-MIT")?));
    text.push_str(
        "\nLicense: Apache-2.0\n On Debian systems, see /usr/share/common-licenses/Apache-2.0.\n\n",
    );
    text.push_str("Comment: The program contains these packages of others, under these licences.\n");
    text.push_str(&indented(&super::bill::notices(platform)?));
    Ok(text)
}
