//! `cargo xtask release bits`: a model of every kind, trained by every program that can run here, and by the package for Node
//! if it is built: the same bytes, or it fails.
//!
//! The kinds are those of the program's own catalogue, so that the next rule, read-out or kernel is compared as well.

use super::{DIST, PLATFORMS, Platform, Workshop, digest, fresh, step, write};
use crate::say;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

/// A model: its name, and what comes after `train`.
type Kind = (String, String);
/// The digest of a model, or what was wrong; nothing where there is no such model.
type Sum = Option<Result<String, String>>;

/// The module of the package, as the table calls it.
const MODULE: &str = "wasm32, in Node";

pub(super) fn run(shop: &Workshop, chosen: &[&Platform]) -> Result<(), String> {
    let folder = std::env::temp_dir().join(format!("rosenblatt-bits-{}", std::process::id()));
    let compared = complete_wine(shop).and_then(|()| compare(chosen, &folder));
    let _ = fs::remove_dir_all(&folder);
    compared
}

fn compare(chosen: &[&Platform], folder: &Path) -> Result<(), String> {
    lay_out(folder)?;
    // The first is the one that the others are compared with.
    let first = &PLATFORMS[0];
    let others = chosen.iter().copied().filter(|one| one.target != first.target);
    let kinds = kinds(&catalogue(first)?);
    let mut columns: Vec<(&str, Vec<Sum>)> = Vec::new();
    for platform in std::iter::once(first).chain(others) {
        let Some(runner) = platform.start().and(platform.runner) else {
            say(&format!("{}: no program that runs here", platform.target));
            continue;
        };
        // Before version 8, it multiplies single precision wrongly (MDEBR).
        let version =
            runner.first().and_then(|runner| crate::tools::ask(runner, &["--version"])).unwrap_or_default();
        if platform.target.starts_with("s390x") && major(&version, "version ").is_some_and(|major| major < 8)
        {
            say(&format!("{}: QEMU 8 or later is needed, this is an older one", platform.target));
            continue;
        }
        let by = if runner.is_empty() { "as it is" } else { runner[0] };
        say(&format!("{}, {by}: {} models", platform.target, kinds.len()));
        let sums = kinds.iter().map(|(_, words)| Some(sum(platform, words, folder))).collect();
        columns.push((platform.target, sums));
    }
    if let Some(sums) = in_node(&kinds, folder)? {
        columns.push((MODULE, sums));
    }
    let mut table = String::from("| model | SHA-256 of its file |");
    let mut rule = String::from("\n|---|---|");
    for (target, _) in &columns[1..] {
        let _ = write!(table, " {target} |");
        rule.push_str("---|");
    }
    table.push_str(&rule);
    let mut different = Vec::new();
    for (at, (name, words)) in kinds.iter().enumerate() {
        let expected = &columns[0].1[at];
        let sum = match expected {
            Some(Ok(sum)) => sum,
            Some(Err(error)) => return Err(format!("train {words}: {error}")),
            None => return Err(format!("train {words}: no model")),
        };
        let _ = write!(table, "\n| {name} | `{sum}` |");
        for (target, sums) in &columns[1..] {
            let Some(found) = &sums[at] else {
                table.push_str(" not there |");
                continue;
            };
            let is_same = found.as_ref() == Ok(sum);
            table.push_str(if is_same { " same |" } else { " **differs** |" });
            if !is_same {
                different.push(format!("{target}: train {words}: {found:?}"));
            }
        }
    }
    table.push('\n');
    write(&Path::new(DIST).join("BITS.md"), &table)?;
    say(&table);
    if different.is_empty() {
        say(&format!("{} models, {} programs, the same bytes", kinds.len(), columns.len()));
        return Ok(());
    }
    Err(format!("models differ:\n  {}", different.join("\n  ")))
}

/// The first number of the version that follows a word.
fn major(version: &str, word: &str) -> Option<u32> {
    version.split(word).nth(1)?.split('.').next()?.parse().ok()
}

/// Gives an old Wine the function that it lacks.
fn complete_wine(shop: &Workshop) -> Result<(), String> {
    let version = crate::tools::ask("wine", &["--version"]).unwrap_or_default();
    let major =
        version.trim_start_matches("wine-").split('.').next().and_then(|word| word.parse::<u32>().ok());
    let windows = PLATFORMS.iter().find(|one| one.is_windows() && one.program().exists());
    let (Some(windows), Some(..9)) = (windows, major) else { return Ok(()) };
    let out = windows.program().with_file_name("bcryptprimitives.dll");
    let words =
        ["-m", "ziglang", "cc", "-target", "x86_64-windows-gnu", "-shared", "-O2", "-s", "-ladvapi32", "-o"];
    step(Command::new(&shop.python).args(words).arg(out).arg("xtask/src/release/prng.c"))
}

/// The files that are learned from.
fn lay_out(folder: &Path) -> Result<(), String> {
    for name in ["banknote.csv", "iris.csv", "penguins.csv", "sms-spam.tsv"] {
        super::copy(&Path::new("crates/data/bundled").join(name), &folder.join(name))?;
    }
    // Sentences of a little grammar, in which `saw` is a noun or a verb by what stands before it.
    let sentences = [
        "the D\nsaw N\ncuts V\n",
        "a D\ndog N\nsaw V\nthe D\ncat N\n",
        "cats N\nrun V\n",
        "the D\ncat N\nlikes V\na D\nsaw N\n",
    ];
    let text: Vec<&str> = (0..120).flat_map(|at| [sentences[at * at % 7 % 4], "\n"]).collect();
    write(&folder.join("tags.conll"), &text.concat())
}

fn catalogue(platform: &Platform) -> Result<Value, String> {
    let mut command =
        platform.start().ok_or("the first program is not built: `release programs` builds it")?;
    let text = crate::tools::output_of(command.args(["catalogue", "--json"]))?;
    serde_json::from_str(&text).map_err(|error| error.to_string())
}

fn kinds(catalogue: &Value) -> Vec<Kind> {
    let list = |name: &str| catalogue[name].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let choices = |name: &str| -> Vec<String> {
        let lists = list("choices");
        let found = lists.iter().find(|one| one["name"] == name);
        let values = found.and_then(|one| one["choices"].as_array().cloned()).unwrap_or_default();
        values.iter().map(|one| one.as_str().map_or_else(|| text(&one["name"]), str::to_owned)).collect()
    };
    let mut kinds: Vec<Kind> = Vec::new();
    for rule in list("algorithms") {
        let name = text(&rule["name"]);
        let words = match rule["task"].as_str() {
            Some("numbers") => format!("iris.csv --label petal_width --task regression -a {name}"),
            _ => format!("banknote.csv -a {name}"),
        };
        kinds.push((format!("rule {name}"), words));
    }
    for name in choices("readout") {
        let words = format!("banknote.csv -a perceptron --readout {}", name.replace("EPOCH", "2"));
        kinds.push((format!("read-out {name}"), words));
    }
    for name in choices("multiclass") {
        kinds.push((format!("classes {name}"), format!("iris.csv -a perceptron --multiclass {name}")));
    }
    // A matrix of kernel values is another kind of file.
    for kernel in list("kernels").iter().filter(|kernel| kernel["name"] != "precomputed") {
        let name = text(&kernel["name"]);
        let scale = if name == "intersection" { " --scale none" } else { "" };
        kinds.push((format!("kernel {name}"), format!("iris.csv -a perceptron --kernel {name}{scale}")));
    }
    for map in list("maps") {
        let (name, kernel) = (text(&map["name"]), map["kernels"][0].as_str().unwrap_or("rbf").to_owned());
        kinds.push((format!("map {name}"), format!("iris.csv -a perceptron --map {name} --kernel {kernel}")));
    }
    for name in choices("activation") {
        kinds.push((format!("network {name}"), format!("iris.csv -a mlp --activation {name}")));
    }
    let more = [
        ("curves", "banknote.csv -a logistic --shape bend"),
        ("text", "sms-spam.tsv -a perceptron"),
        ("tagger", "tags.conll"),
        ("tagger, second order", "tags.conll --history 2"),
        ("race of rules, missing values, categories", "penguins.csv --label species --missing mean"),
        ("race for numbers", "iris.csv --label petal_width --task regression"),
    ];
    kinds.extend(more.map(|(name, words)| (name.to_owned(), words.to_owned())));
    let names: BTreeSet<&String> = kinds.iter().map(|(name, _)| name).collect();
    debug_assert_eq!(names.len(), kinds.len(), "a kind is compared twice");
    kinds
}

/// The digests of what the package for Node makes of it; nothing without Node or the package.
fn in_node(kinds: &[Kind], folder: &Path) -> Result<Option<Vec<Sum>>, String> {
    let Some(package) = fresh::find(Path::new(DIST), "rosenblatt-", ".tgz")? else {
        say(&format!("{MODULE}: `release npm` builds the package"));
        return Ok(None);
    };
    if !fresh::is_there("npm") || !fresh::is_there("node") {
        say(&format!("{MODULE}: there is no Node here"));
        return Ok(None);
    }
    say(&format!("{MODULE}: {} models", kinds.len()));
    let package = package.canonicalize().map_err(|error| format!("{}: {error}", package.display()))?;
    write(&folder.join("package.json"), "{ \"private\": true, \"type\": \"module\" }\n")?;
    let words = ["install", "--silent", "--offline", "--no-audit", "--no-fund"];
    step(Command::new("npm").args(words).arg(package).current_dir(folder))?;
    write(&folder.join("bits.mjs"), include_str!("bits.mjs"))?;
    write(&folder.join("kinds.json"), &serde_json::json!(kinds).to_string())?;
    let mut node = Command::new("node");
    let printed = crate::tools::output_of(node.args(["bits.mjs", "kinds.json"]).current_dir(folder))?;
    let sums: Vec<Sum> = printed
        .lines()
        .map(|line| match line {
            "" => None,
            sum if sum.len() == 64 && !sum.contains(' ') => Some(Ok(sum.to_owned())),
            wrong => Some(Err(wrong.to_owned())),
        })
        .collect();
    if sums.len() != kinds.len() {
        return Err(format!("{MODULE}: {} models were asked for, {} came", kinds.len(), sums.len()));
    }
    Ok(Some(sums))
}

/// The digest of the model, or what the program complained of.
fn sum(platform: &Platform, words: &str, folder: &Path) -> Result<String, String> {
    let model = folder.join("m.model");
    let _ = fs::remove_file(&model);
    let mut command: Command = platform.start().ok_or("the program is gone")?;
    command.current_dir(folder).args(["--quiet", "train"]).args(words.split(' '));
    command.args(["--model", "m.model"]).env("WINEDEBUG", "-all");
    crate::tools::output_of(&mut command)?;
    digest(&model)
}
