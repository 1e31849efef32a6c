//! `cargo xtask tidy`: the promises of ARCHITECTURE.md that can be read off the text.

use crate::additions;
use crate::circles::{self, Rule};
use crate::links;
use crate::workflows;
use rosenblatt_core::Algorithm;
use rosenblatt_core::rules::{self, Visit};
use rosenblatt_kernel::kernels::KERNELS;
use rosenblatt_kernel::maps::MAPS;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What the learning core must never mention, and why.
const NOT_IN_CORE: &[(&str, &str)] = &[
    ("std::fs", "the core does no I/O"),
    ("std::io", "the core does no I/O"),
    ("std::net", "the core does no I/O"),
    ("std::time", "the core reads no clock"),
    ("static mut", "the core holds no global state"),
];

/// What the checker of certificates may use of its crate: what a certificate says, and the rows.
const CHECKER: &str = "crates/certify/src/check.rs";
const MOST_CHECKER_LINES: usize = 150;

/// The libraries; only the command line prints.
const LIBRARIES: &[&str] = &[
    "crates/certify/src",
    "crates/core/src",
    "crates/data/src",
    "crates/engine/src",
    "crates/figures/src",
    "crates/gpu/src",
    "crates/kernel/src",
    "crates/layers/src",
    "crates/plot/src",
    "crates/sequence/src",
    "crates/server/src",
];

/// What is asked of modules: the core has no circles, and nowhere do more than two use each other.
const MODULES: [Rule; 3] = [
    Rule { sources: "crates/core/src", depth: 1, most: 1, order: &[], known: &[] },
    Rule { sources: "crates/data/src", depth: 1, most: 2, order: &[], known: &[] },
    Rule {
        sources: "crates/engine/src",
        depth: 2,
        most: 2,
        order: &["describe", "keep", "learn", "judge", "understand", "choose", "exchange"],
        known: &[],
    },
];

pub(crate) fn run(_words: &[String]) -> Result<(), String> {
    let mut complaints = Vec::new();
    for path in
        ["crates", "xtask", "bench/src"].map(|folder| sources(Path::new(folder))).into_iter().flatten()
    {
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        complaints.extend(complaints_about(&path, &text));
    }
    let manifest = fs::read_to_string("crates/core/Cargo.toml").map_err(|error| error.to_string())?;
    let dependencies = manifest.split("[dependencies]").nth(1).unwrap_or_default();
    let first = dependencies.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    if let Some(line) = first.filter(|line| !line.starts_with('[')) {
        complaints.push(format!("crates/core/Cargo.toml: the core depends on nothing, but has `{line}`"));
    }
    complaints.extend(complaints_about_manifests()?);
    let promises = fs::read_to_string("ARCHITECTURE.md").map_err(|error| error.to_string())?;
    complaints.extend(complaints_about_unsafe(&promises)?);
    complaints.extend(complaints_about_the_path(&promises, |file| Path::new(file).is_file()));
    let contributing = fs::read_to_string("CONTRIBUTING.md").map_err(|error| error.to_string())?;
    complaints.extend(additions::complaints(&contributing, &sources(Path::new("crates")))?);
    for rule in &MODULES {
        complaints.extend(circles::complaints(rule)?);
    }
    complaints.extend(links::complaints()?);
    complaints.extend(complaints_about_words(&count_words(&prose()?)));
    let root = fs::read_to_string("crates/engine/src/lib.rs").map_err(|error| error.to_string())?;
    complaints.extend(complaints_about_the_root(&root));
    complaints.extend(complaints_about_names(&shipped(&sources(Path::new("crates")))?));
    complaints.extend(workflows::check().err());
    if complaints.is_empty() { Ok(()) } else { Err(format!("not tidy:\n  {}", complaints.join("\n  "))) }
}

/// Where names of algorithms, kernels and maps are declared and looked up.
const TABLES: [&str; 3] = ["crates/core/src/rules", "crates/kernel/src/kernels", "crates/kernel/src/maps"];

/// All names of algorithms, kernels and maps, aliases included.
fn table_names() -> Vec<&'static str> {
    struct Collect(Vec<&'static str>);
    impl Visit for Collect {
        fn visit<A: Algorithm>(&mut self) {
            self.0.push(A::INFO.name);
            self.0.extend(A::INFO.aliases);
        }
    }
    let mut names = Collect(Vec::new());
    rules::each(&mut names);
    let kernels = KERNELS.iter().flat_map(|info| info.aliases.iter().chain([&info.name]));
    let maps = MAPS.iter().flat_map(|info| info.aliases.iter().chain([&info.name]));
    names.0.into_iter().chain(kernels.copied()).chain(maps.copied()).collect()
}

/// Comparisons with a name of a table: once a name is resolved, code asks the entry's facts, or an alias would be
/// treated unlike its name. Arms of `match` are left alone: parsers of other names are made of them.
fn compared_names(path: &Path, text: &str) -> Vec<String> {
    let is_shipped = path.starts_with("crates") && path.iter().nth(2).is_some_and(|folder| folder == "src");
    if !is_shipped || TABLES.iter().any(|table| path.starts_with(table)) {
        return Vec::new();
    }
    let names = table_names();
    let shipped = text.split("#[cfg(test)]").next().unwrap_or_default();
    let mut complaints = Vec::new();
    for (number, line) in shipped.lines().enumerate() {
        if line.trim_start().starts_with("//") {
            continue;
        }
        // The odd parts are what stands in quotes.
        let parts: Vec<&str> = line.split('"').collect();
        for place in (1..parts.len()).step_by(2) {
            let before = parts[..place].concat();
            let after = parts.get(place + 1).copied().unwrap_or_default().trim_start();
            let is_compared =
                ["==", "!=", "== Some(", "!= Some("].iter().any(|end| before.trim_end().ends_with(end))
                    || before.contains("matches!(")
                    || ["==", "!=", "].contains("].iter().any(|start| after.starts_with(start));
            if is_compared && names.contains(&parts[place]) {
                complaints.push(format!(
                    "{}:{}: the name `{}` is compared; ask its table entry for a fact instead",
                    path.display(),
                    number + 1,
                    parts[place]
                ));
            }
        }
    }
    complaints
}

fn complaints_about(path: &Path, text: &str) -> Vec<String> {
    let mut complaints = compared_names(path, text);
    if !text.starts_with("//!") {
        complaints
            .push(format!("{}: a file opens with a `//!` line that says what it is for", path.display()));
    }
    let mut forbidden: Vec<(&str, &str)> = Vec::new();
    if path.starts_with("crates/core/src") {
        forbidden.extend(NOT_IN_CORE);
    }
    if path.starts_with("crates/plot/src") {
        forbidden.extend(["std::fs", "std::io", "std::env"].map(|word| (word, "a picture knows no files")));
    }
    if LIBRARIES.iter().any(|library| path.starts_with(library)) {
        forbidden
            .extend([("println!", "only the command line prints"), ("dbg!", "only the command line prints")]);
    }
    if LIBRARIES.iter().any(|library| path.starts_with(library)) {
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        // How to build what was left out is the same for every face.
        let may = |line: &str| line.trim_start().starts_with("//") || line.contains("cargo install --path");
        let says_flag = |line: &str| !may(line) && has_flag(line);
        if let Some(line) = code.lines().position(says_flag) {
            complaints.push(format!(
                "{}:{}: a library names options in a remedy, `{{label}}`, never as a shell's flags",
                path.display(),
                line + 1
            ));
        }
    }
    if path == Path::new(CHECKER) {
        if text.lines().count() >= MOST_CHECKER_LINES {
            complaints.push(format!("{CHECKER}: the checker stays under {MOST_CHECKER_LINES} lines"));
        }
        let is_foreign = |line: &&str| {
            line.contains("crate::")
                && !line.contains("crate::certificate::")
                && !line.contains("crate::rows::")
        };
        if let Some(line) = text.lines().find(is_foreign) {
            complaints.push(format!("{CHECKER}: the checker uses no part of the search, but has `{line}`"));
        }
    }
    for (word, reason) in forbidden {
        let says_so = |line: &str| line.contains(word) && !line.trim_start().starts_with("//");
        if let Some(line) = text.lines().position(says_so) {
            complaints.push(format!("{}:{}: `{word}`, but {reason}", path.display(), line + 1));
        }
    }
    complaints
}

/// Whether a line of code holds a flag as a shell takes it: two dashes before a letter, within a string.
fn has_flag(line: &str) -> bool {
    let is_flag = |(at, _): (usize, &str)| {
        let before = line[..at].chars().next_back();
        let after = line[at + 2..].chars().next();
        after.is_some_and(|letter| letter.is_ascii_lowercase())
            && before.is_none_or(|before| " `\"('=".contains(before))
    };
    line.contains('"') && line.match_indices("--").any(is_flag)
}

/// What every manifest of a crate says, so that registries and documentation show it well.
const IN_MANIFESTS: [&str; 9] = [
    "description = ",
    "\nlicense",
    "\nreadme",
    "repository.workspace",
    "homepage.workspace",
    "documentation.workspace",
    "keywords.workspace",
    "categories.workspace",
    "[package.metadata.docs.rs]",
];

/// What a manifest gives a name at the start of a line, without its quotes.
pub(crate) fn value_of<'a>(manifest: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = manifest.lines();
    lines.find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(" = ")?.trim_matches('"')))
}

/// The address of the project is one: the home page and the documentation lie below the repository.
fn complaints_about_the_address(manifest: &str) -> Vec<String> {
    let Some(address) = value_of(manifest, "repository") else {
        return vec!["Cargo.toml: `repository` is missing".to_owned()];
    };
    let strays = ["homepage", "documentation"]
        .into_iter()
        .filter(|name| value_of(manifest, name).is_none_or(|value| !value.starts_with(address)));
    strays
        .map(|name| format!("Cargo.toml: `{name}` should begin with `{address}`, as `repository`"))
        .collect()
}

fn complaints_about_manifests() -> Result<Vec<String>, String> {
    let read = |path: &str| fs::read_to_string(path).map_err(|error| format!("{path}: {error}"));
    let overview = read("crates/README.md")?;
    let mut complaints = Vec::new();
    let folders = fs::read_dir("crates").map_err(|error| error.to_string())?.flatten();
    for folder in folders.filter(|folder| folder.path().is_dir()) {
        let path = folder.path().join("Cargo.toml");
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let missing = IN_MANIFESTS.iter().filter(|line| !text.contains(**line));
        complaints.extend(missing.map(|line| format!("{}: `{line}` is missing", path.display())));
        let value = |name| value_of(&text, name).unwrap_or_default();
        let row = format!("| `{}` | {} |\n", value("name"), value("description"));
        if value("publish") != "false" && !overview.contains(&row) {
            complaints.push(format!("crates/README.md: this line is missing: {row}"));
        }
    }
    complaints.extend(complaints_about_the_address(&read("Cargo.toml")?));
    complaints.sort();
    Ok(complaints)
}

/// The most files that a stranger has to open between `train FILE` and the loop.
const MOST_ON_THE_PATH: usize = 25;

/// The files that ARCHITECTURE.md lists from `train FILE` to the loop exist, and are few.
fn complaints_about_the_path(text: &str, is_file: impl Fn(&str) -> bool) -> Vec<String> {
    let section = text.split("## From `train FILE` to the loop").nth(1).unwrap_or_default();
    let section = section.split("\n## ").next().unwrap_or_default();
    let is_numbered = |line: &&str| line.starts_with(|letter: char| letter.is_ascii_digit());
    let files: Vec<&str> =
        section.lines().filter(is_numbered).filter_map(|line| line.split('`').nth(1)).collect();
    let missing = files.iter().filter(|file| !is_file(file));
    let mut complaints: Vec<String> = missing
        .map(|file| format!("ARCHITECTURE.md: there is no file `{file}` on the path to the loop"))
        .collect();
    if files.is_empty() || files.len() > MOST_ON_THE_PATH {
        let n_files = files.len();
        complaints
            .push(format!("ARCHITECTURE.md: {n_files} files to the loop, expected 1 to {MOST_ON_THE_PATH}"));
    }
    complaints
}

/// The files of what is shipped that hold `unsafe` are those that ARCHITECTURE.md lists, and no others.
fn complaints_about_unsafe(promises: &str) -> Result<Vec<String>, String> {
    let listed = promises.split("- `unsafe` is denied").nth(1).and_then(|rest| rest.split("\n- ").next());
    let listed = listed.ok_or("ARCHITECTURE.md lists no files with `unsafe`")?;
    let mut complaints = Vec::new();
    for path in sources(Path::new("crates")) {
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let name = path.strip_prefix("crates").unwrap_or(&path).display().to_string();
        let has_unsafe = name.contains("/src/")
            && !path.ends_with("tests.rs")
            && text.lines().any(|line| !line.trim_start().starts_with("//") && line.contains("unsafe {"));
        if has_unsafe != listed.contains(&format!("`{name}`")) {
            let what = if has_unsafe { "holds `unsafe` and is not" } else { "holds no `unsafe` and is" };
            complaints.push(format!("crates/{name}: it {what} in ARCHITECTURE.md's list"));
        }
    }
    Ok(complaints)
}

/// Words that make a text read like a translation, and how often each may stand in this tree. CONTRIBUTING.md has what to
/// write instead. Lower a number when you have rewritten some; never raise one.
const ODD_WORDS: [(&str, usize); 9] = [
    ("told", 52),
    ("said", 55),
    ("whoever", 2),
    ("nobody", 4),
    ("somebody", 0),
    ("anybody", 0),
    ("so many", 0),
    ("come by", 1),
    ("behind", 43),
];

/// Everything in this tree that a person reads: sources, documents, the playground and the Python package.
fn prose() -> Result<String, String> {
    let folders = ["crates", "xtask", "bench/src", "docs", "python"].map(Path::new);
    let mut paths: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| files(folder, &["rs", "md", "py", "pyi", "js", "mjs", "html"]))
        .collect();
    paths.extend(
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "RELEASING.md", "SECURITY.md"].map(PathBuf::from),
    );
    // This file lists the words, and CONTRIBUTING.md shows them.
    let texts = paths.iter().filter(|path| !path.ends_with("tidy.rs"));
    texts
        .map(|path| fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display())))
        .collect::<Result<Vec<_>, _>>()
        .map(|texts| texts.join("\n"))
}

/// How often each odd word stands in `text` as a word of its own.
fn count_words(text: &str) -> Vec<usize> {
    let text = text.to_lowercase();
    let is_letter =
        |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let count = |word: &str| {
        let is_whole = |(at, _): &(usize, &str)| {
            let bytes = text.as_bytes();
            !is_letter(at.checked_sub(1).and_then(|before| bytes.get(before)))
                && !is_letter(bytes.get(at + word.len()))
        };
        text.match_indices(word).filter(is_whole).count()
    };
    ODD_WORDS.iter().map(|(word, _)| count(word)).collect()
}

fn complaints_about_words(counts: &[usize]) -> Vec<String> {
    let more = ODD_WORDS.iter().zip(counts).filter(|((_, most), count)| *count > most);
    more.map(|((word, most), count)| {
        format!("`{word}` stands {count} times, and {most} are allowed: see \"Voice\" in CONTRIBUTING.md")
    })
    .collect()
}

/// The most names at the engine's root besides its modules: what nearly everyone needs. The rest is in the modules.
const MOST_ROOT_NAMES: usize = 25;

fn complaints_about_the_root(lib: &str) -> Option<String> {
    let names = root_names(lib);
    (names.len() > MOST_ROOT_NAMES).then(|| {
        format!(
            "crates/engine/src/lib.rs: {} names at the root, and {MOST_ROOT_NAMES} may be: {}",
            names.len(),
            names.join(", ")
        )
    })
}

/// The names that a library's root lends, those of modules in its own folders left out.
fn root_names(lib: &str) -> Vec<&str> {
    let is_module = |path: &str| {
        let folder = path.split("::").next().unwrap_or_default();
        MODULES.iter().any(|rule| rule.order.contains(&folder))
    };
    let code = lib.split("\npub use ").skip(1).filter_map(|rest| rest.split(';').next());
    let names = code.filter(|path| !is_module(path)).flat_map(|path| {
        let list = path.rsplit_once('{').map_or(path, |(_, list)| list.trim_end_matches('}'));
        list.split(',').map(str::trim).filter(|name| !name.is_empty())
    });
    names.map(|name| name.rsplit([':', ' ']).next().unwrap_or(name)).collect()
}

/// How many more types there are than names of types: a name with two meanings has to be told from the other at every use. It may only fall.
const MOST_SHARED_NAMES: usize = 368;

/// What these files ship, without their tests.
fn shipped(files: &[PathBuf]) -> Result<String, String> {
    let is_shipped = |path: &&PathBuf| path.iter().any(|part| part == "src") && !path.ends_with("tests.rs");
    let texts = files.iter().filter(is_shipped).map(|path| {
        let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(text.split("#[cfg(test)]\nmod").next().unwrap_or_default().to_owned())
    });
    texts.collect::<Result<Vec<_>, String>>().map(|texts| texts.concat())
}

/// How often each name is that of a type which a module defines, local ones of a function left out.
fn types_by_name(text: &str) -> BTreeMap<&str, usize> {
    let mut found = BTreeMap::new();
    for line in text.lines() {
        let line = line.strip_prefix("pub").map_or(line, |rest| {
            rest.strip_prefix('(')
                .and_then(|rest| rest.split_once(')'))
                .map_or(rest, |(_, rest)| rest)
                .trim_start()
        });
        let kinds = ["struct ", "enum ", "trait ", "type "];
        let Some(rest) = kinds.iter().find_map(|kind| line.strip_prefix(kind)) else { continue };
        let end = rest.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(rest.len());
        *found.entry(&rest[..end]).or_default() += 1;
    }
    found
}

fn complaints_about_names(text: &str) -> Option<String> {
    let types = types_by_name(text);
    let n_shared = types.values().sum::<usize>() - types.len();
    let mut worst: Vec<(&&str, &usize)> = types.iter().filter(|(_, times)| **times > 3).collect();
    worst.sort_by_key(|(name, times)| (std::cmp::Reverse(**times), **name));
    let worst: Vec<String> = worst.iter().map(|(name, times)| format!("{name} ({times})")).collect();
    (n_shared > MOST_SHARED_NAMES).then(|| {
        format!(
            "{n_shared} types have the name of another, and {MOST_SHARED_NAMES} may; most often {}",
            worst.join(", ")
        )
    })
}

/// All Rust files below `folder`, sorted.
pub(crate) fn sources(folder: &Path) -> Vec<PathBuf> {
    files(folder, &["rs"])
}

/// All files below `folder` with one of these extensions, sorted.
pub(crate) fn files(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            found.extend(files(&path, extensions));
        } else if path.extension().is_some_and(|extension| extensions.iter().any(|known| extension == *known))
        {
            found.push(path);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_compared_is_noticed() {
        let complaints = |path: &str, line: &str| {
            complaints_about(Path::new(path), &format!("//! A file.\nfn f() {{ {line} }}\n")).len()
        };
        let engine = "crates/engine/src/describe/spec.rs";
        for line in [
            r#"if options.name == "sigmoid" {}"#,
            r#"if "tanh" != name {}"#,
            r#"if kernel == Some("precomputed") {}"#,
            r#"matches!(name, "pa1" | "arow")"#,
            r#"["mistakes", "rbf"].contains(&name)"#,
        ] {
            assert!(complaints(engine, line) > 0, "{line}");
        }
        for line in [
            r#"find("perceptron")"#,
            r#"let name = "polynomial".to_owned();"#,
            r#"if form == "csv" {}"#,
            r#"Some("rbf")"#,
        ] {
            assert_eq!(complaints(engine, line), 0, "{line}");
        }
        assert_eq!(complaints("crates/kernel/src/kernels/mod.rs", r#"if name == "rbf" {}"#), 0);
        assert_eq!(complaints("crates/cli/tests/kernel.rs", r#"if name == "rbf" {}"#), 0);
    }

    #[test]
    fn a_path_that_is_gone_or_long_is_noticed() {
        let path = |n_files: usize| {
            let files: Vec<String> = (1..=n_files).map(|n| format!("{n}. `f{n}`: does.")).collect();
            let files = files.join("\n");
            format!("# A\n## From `train FILE` to the loop\n\n{files}\n\n## Next\n1. `g`\n")
        };
        assert!(complaints_about_the_path(&path(25), |_| true).is_empty());
        assert_eq!(complaints_about_the_path(&path(26), |_| true).len(), 1);
        assert_eq!(complaints_about_the_path(&path(3), |file| file != "f2").len(), 1);
        assert_eq!(complaints_about_the_path("# A\n", |_| true).len(), 1);
    }

    #[test]
    fn an_odd_word_more_is_noticed() {
        let text = "What is told. TOLD! retold, told_off; so many words";
        let counts = count_words(text);
        assert_eq!(counts[0], 2);
        assert_eq!(counts[6], 1);
        let most: Vec<usize> = ODD_WORDS.iter().map(|(_, most)| *most).collect();
        assert!(complaints_about_words(&most).is_empty());
        let mut more = most;
        more[0] += 1;
        assert_eq!(complaints_about_words(&more).len(), 1);
    }

    #[test]
    fn a_name_more_at_the_root_is_noticed() {
        let lib = "//! Docs.\n\nmod keep;\npub use keep::{model, names};\npub use a::b as c;\npub use d::{E, f as G,\n    H};\n";
        assert_eq!(root_names(lib), ["c", "E", "G", "H"]);
        assert_eq!(complaints_about_the_root(lib), None);
        let many: Vec<String> = (0..=MOST_ROOT_NAMES).map(|n| format!("\npub use x::N{n};")).collect();
        assert!(complaints_about_the_root(&many.concat()).unwrap().contains("names at the root"));
    }

    #[test]
    fn a_name_of_two_types_is_noticed() {
        let text = "pub struct Rows<'a> {\n    struct Inner;\npub(crate) enum Rows {\ntrait Row: Sync {\ntype Rows = u8;\n";
        let types = types_by_name(text);
        assert_eq!(types.into_iter().collect::<Vec<_>>(), [("Row", 1), ("Rows", 3)]);
        assert_eq!(complaints_about_names("struct A;\nstruct B;\n"), None);
        let twice = "struct A;\n".repeat(MOST_SHARED_NAMES + 2);
        assert!(complaints_about_names(&twice).unwrap().contains("types have the name of another"));
    }

    #[test]
    fn a_printing_core_is_noticed() {
        let complaints = complaints_about(Path::new("crates/core/src/x.rs"), "fn f() { println!(); }");
        assert_eq!(complaints.len(), 2, "{complaints:?}");
        let checker = complaints_about(Path::new(CHECKER), "//! Checks.\nuse crate::simplex::simplex;\n");
        assert_eq!(checker.len(), 1, "{checker:?}");
        let flag =
            complaints_about(Path::new("crates/data/src/x.rs"), "//! Reads.\nlet help = \"use --label\";\n");
        assert_eq!(flag.len(), 1, "{flag:?}");
        assert!(
            complaints_about(Path::new("crates/cli/src/x.rs"), "//! Talks.\nfn f() { println!(); }")
                .is_empty()
        );
    }
}
