//! `cargo xtask audit`: what others wrote and is built in: licences, sources, duplicates, and known flaws.
//!
//! The rules are those of `deny.toml`, which `cargo deny` reads as well; this needs no program that may not be there and
//! no network. Known flaws are looked up in a copy of the RUSTSEC database: `--database PATH`. `--notices` prints the
//! licence texts that must come along with a program, each once.

use crate::say;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

pub(crate) fn run(words: &[String]) -> Result<(), String> {
    let rules = Rules::of(&read(Path::new("deny.toml"))?);
    let lock = read(Path::new("Cargo.lock"))?;
    let about = output("rustc", &["-vV"])?;
    let host = about.lines().find_map(|line| line.strip_prefix("host: ")).ok_or("rustc names no host")?;
    let packages = built_in(host, &[])?;
    if words.iter().any(|word| word == "--notices") {
        println!("{}", notices(&packages)?);
        return Ok(());
    }
    let mut complaints = rules.sources_of(&lock);
    complaints.extend(rules.licences_of(&packages));
    complaints.extend(rules.duplicates_of(&packages));
    let database = words.iter().skip_while(|word| *word != "--database").nth(1);
    let printed = match database {
        Some(path) => {
            let (n_advisories, found) = rules.flaws_of(&lock, Path::new(path))?;
            complaints.extend(found);
            format!("{n_advisories} advisories looked at")
        }
        None => "no advisory was looked at: name a copy of the database with --database".to_owned(),
    };
    if complaints.is_empty() {
        say(&format!("{} packages of others, {printed}", packages.len()));
        Ok(())
    } else {
        Err(format!("not to be shipped:\n  {}", complaints.join("\n  ")))
    }
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// A package of others, as cargo describes it.
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) licence: String,
    /// What the lock file holds it to.
    pub(crate) sum: String,
    folder: String,
}

fn output(program: &str, arguments: &[&str]) -> Result<String, String> {
    let done = Command::new(program).args(arguments).output().map_err(|error| error.to_string())?;
    let printed = String::from_utf8_lossy(if done.status.success() { &done.stdout } else { &done.stderr });
    if done.status.success() { Ok(printed.into_owned()) } else { Err(printed.into_owned()) }
}

/// The packages of others that are built into these packages of ours on a platform; into any of ours, if none is named.
pub(crate) fn built_in(platform: &str, roots: &[&str]) -> Result<Vec<Package>, String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let words =
        ["metadata", "--locked", "--all-features", "--format-version", "1", "--filter-platform", platform];
    let metadata: Value =
        serde_json::from_str(&output(&cargo, &words)?).map_err(|error| error.to_string())?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let all: Vec<&Value> = metadata["packages"].as_array().into_iter().flatten().collect();
    let reached = reached(&metadata["resolve"], |id| {
        all.iter().any(|one| one["id"] == *id && roots.iter().any(|root| one["name"] == *root))
    });
    let lock = read(Path::new("Cargo.lock"))?;
    let sums: BTreeMap<(&str, &str), &str> =
        locked(&lock).map(|(name, version, sum)| ((name, version), sum)).collect();
    let others = all.iter().filter(|package| package["source"].is_string());
    let others = others.filter(|package| roots.is_empty() || reached.contains(&text(&package["id"])));
    let package = |package: &&Value| {
        let (name, version) = (text(&package["name"]), text(&package["version"]));
        Package {
            licence: text(&package["license"]),
            sum: sums.get(&(name.as_str(), version.as_str())).copied().unwrap_or_default().to_owned(),
            folder: text(&package["manifest_path"]).trim_end_matches("Cargo.toml").to_owned(),
            name,
            version,
        }
    };
    Ok(others.map(package).collect())
}

/// What is linked into these packages: what they need to run, and what that needs.
fn reached(resolve: &Value, is_root: impl Fn(&Value) -> bool) -> BTreeSet<String> {
    let nodes: Vec<&Value> = resolve["nodes"].as_array().into_iter().flatten().collect();
    let mut found = BTreeSet::new();
    let mut open: Vec<&Value> = nodes.iter().copied().filter(|node| is_root(&node["id"])).collect();
    while let Some(node) = open.pop() {
        if !found.insert(node["id"].as_str().unwrap_or_default().to_owned()) {
            continue;
        }
        for need in node["deps"].as_array().into_iter().flatten() {
            let mut kinds = need["dep_kinds"].as_array().into_iter().flatten();
            if kinds.any(|kind| kind["kind"].is_null()) {
                open.extend(nodes.iter().copied().find(|node| node["id"] == need["pkg"]));
            }
        }
    }
    found
}

/// What `deny.toml` says.
#[derive(Default)]
struct Rules {
    licences: BTreeSet<String>,
    registries: BTreeSet<String>,
    duplicates: BTreeSet<String>,
    ignored: BTreeSet<String>,
}

impl Rules {
    /// Reads the few lists there are: every string in quotes that stands in one of them, reasons left out.
    fn of(text: &str) -> Self {
        let mut rules = Self::default();
        let mut list: Option<&str> = None;
        for line in text.lines().map(|line| line.split('#').next().unwrap_or_default().trim()) {
            if let Some((name, _)) = line.split_once(" = [") {
                list = Some(name);
            }
            let within = line.split("reason").next().unwrap_or_default();
            let strings = within.split('"').skip(1).step_by(2).map(str::to_owned);
            match list {
                Some("allow") => rules.licences.extend(strings),
                Some("allow-registry") => rules.registries.extend(strings),
                Some("skip") => rules.duplicates.extend(strings),
                Some("ignore") => rules.ignored.extend(strings),
                _ => {}
            }
            if line.ends_with(']') {
                list = None;
            }
        }
        rules
    }

    fn sources_of(&self, lock: &str) -> Vec<String> {
        let sources = lock.lines().filter_map(|line| line.strip_prefix("source = "));
        let sources: BTreeSet<&str> = sources.map(|source| source.trim_matches('"')).collect();
        let is_known = |source: &&str| {
            source.strip_prefix("registry+").is_some_and(|registry| self.registries.contains(registry))
        };
        let unknown = sources.into_iter().filter(|source| !is_known(source));
        unknown.map(|source| format!("a package comes from {source}")).collect()
    }

    fn licences_of(&self, packages: &[Package]) -> Vec<String> {
        let refused = packages.iter().filter(|package| !self.allows(&package.licence));
        refused
            .map(|Package { name, version, licence, .. }| {
                format!("{name} {version}: its licence `{licence}` is not allowed")
            })
            .collect()
    }

    /// Whether a licence, or one that may be chosen, is allowed. `/` is an old `OR`.
    fn allows(&self, expression: &str) -> bool {
        let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
        let mut words = spaced.split_whitespace().peekable();
        let allowed = self.any_of(&mut words);
        allowed && words.next().is_none()
    }

    fn any_of<'w>(&self, words: &mut std::iter::Peekable<impl Iterator<Item = &'w str>>) -> bool {
        let mut allowed = self.all_of(words);
        while words.next_if(|word| *word == "OR").is_some() {
            allowed |= self.all_of(words);
        }
        allowed
    }

    fn all_of<'w>(&self, words: &mut std::iter::Peekable<impl Iterator<Item = &'w str>>) -> bool {
        let mut allowed = self.one(words);
        while words.next_if(|word| *word == "AND").is_some() {
            allowed &= self.one(words);
        }
        allowed
    }

    fn one<'w>(&self, words: &mut std::iter::Peekable<impl Iterator<Item = &'w str>>) -> bool {
        match words.next() {
            // Boxed, since what is within may nest.
            Some("(") => {
                let words: &mut std::iter::Peekable<_> = words;
                let within: Vec<&str> = inside(words);
                self.allows(&within.join(" "))
            }
            Some(name) => {
                let mut name = name.to_owned();
                if words.next_if(|word| *word == "WITH").is_some() {
                    name = format!("{name} WITH {}", words.next().unwrap_or_default());
                }
                self.licences.contains(&name)
            }
            None => false,
        }
    }

    fn duplicates_of(&self, packages: &[Package]) -> Vec<String> {
        let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for Package { name, version, .. } in packages {
            versions.entry(name).or_default().insert(version);
        }
        let several = versions
            .iter()
            .filter(|(name, versions)| versions.len() > 1 && !self.duplicates.contains(**name));
        several
            .map(|(name, versions)| {
                format!(
                    "{name} is built in more than once: {}",
                    versions.iter().copied().collect::<Vec<_>>().join(", ")
                )
            })
            .collect()
    }

    /// How many advisories are about packages of the lock file, and those that apply.
    fn flaws_of(&self, lock: &str, database: &Path) -> Result<(usize, Vec<String>), String> {
        let folder = database.join("crates");
        if !folder.is_dir() {
            return Err(format!(
                "{}: there is no folder `crates`, so this is no advisory database",
                database.display()
            ));
        }
        let (mut n_advisories, mut found) = (0, Vec::new());
        for (name, version, _) in locked(lock) {
            let advisories = fs::read_dir(folder.join(name)).into_iter().flatten().flatten();
            let mut paths: Vec<_> = advisories.map(|entry| entry.path()).collect();
            paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
            paths.sort();
            for path in paths {
                n_advisories += 1;
                let advisory = read(&path)?;
                let id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                if !self.ignored.contains(&id) && applies(&advisory, version) {
                    let title = advisory.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or_default();
                    found.push(format!("{name} {version}: {id}: {title}"));
                }
            }
        }
        Ok((n_advisories, found))
    }
}

/// The words up to the parenthesis that ends.
fn inside<'w>(words: &mut std::iter::Peekable<impl Iterator<Item = &'w str>>) -> Vec<&'w str> {
    let mut depth = 1;
    let mut within = Vec::new();
    for word in words.by_ref() {
        match word {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
        within.push(word);
    }
    within
}

/// Names, versions and sums of a lock file.
fn locked(lock: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    lock.split("[[package]]").skip(1).filter_map(|entry| {
        let value = |name: &str| {
            let line = entry.lines().find_map(|line| line.strip_prefix(name))?;
            Some(line.trim_start_matches([' ', '=']).trim_matches('"'))
        };
        // Without a source it is our own.
        value("source").and(Some((value("name")?, value("version")?, value("checksum").unwrap_or_default())))
    })
}

/// Whether a version has a flaw: it is not withdrawn, and the version is in no range that is patched or unaffected.
fn applies(advisory: &str, version: &str) -> bool {
    let front = advisory.split("```").nth(1).unwrap_or_default();
    let ranges = |name: &str| -> Vec<String> {
        let start = front.match_indices(name).map(|(at, _)| &front[at + name.len()..]).next();
        let list = start.and_then(|rest| rest.split(']').next()).unwrap_or_default();
        list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
    };
    let is_withdrawn = front.lines().any(|line| line.starts_with("withdrawn"));
    let is_safe =
        ranges("\npatched").iter().chain(&ranges("\nunaffected")).any(|range| matches(range, version));
    !is_withdrawn && !is_safe
}

/// Whether a version is in a range such as `>= 0.6.6, < 0.7.0`. What cannot be read does not match: better once too
/// often.
fn matches(range: &str, version: &str) -> bool {
    let numbers = |text: &str| -> Option<Vec<u64>> {
        text.split(['-', '+']).next()?.split('.').map(|part| part.parse().ok()).collect()
    };
    let Some(version) = numbers(version) else { return false };
    range.split(',').all(|part| {
        let part = part.trim();
        let sign: String = part.chars().take_while(|letter| "<>=^~".contains(*letter)).collect();
        let Some(bound) = numbers(part[sign.len()..].trim()) else { return false };
        let mut padded = bound.clone();
        padded.resize(3, 0);
        // The first number that is not zero, or with a tilde the second, must not grow.
        let fixed = match sign.as_str() {
            "~" => bound.len().min(2),
            _ => padded.iter().position(|&number| number > 0).unwrap_or(2) + 1,
        };
        match sign.as_str() {
            ">=" => version >= padded,
            ">" => version > padded,
            "<=" => version <= padded,
            "<" => version < padded,
            "=" => version == padded,
            _ => version >= padded && version[..fixed] == padded[..fixed],
        }
    })
}

/// The licence texts of all packages, each text once.
pub(crate) fn notices(packages: &[Package]) -> Result<String, String> {
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for Package { name, version, licence, folder, .. } in packages {
        let who = format!("{name} {version} ({licence})");
        let entries = fs::read_dir(folder).map_err(|error| format!("{folder}: {error}"))?.flatten();
        let mut paths: Vec<_> = entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
        paths.sort();
        for path in paths {
            let file = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
            if ["LICENSE", "LICENCE", "COPYING", "NOTICE", "COPYRIGHT"]
                .iter()
                .any(|word| file.starts_with(word))
            {
                texts.entry(read(&path)?.trim().to_owned()).or_default().push(who.clone());
            }
        }
    }
    let sections = texts.iter().map(|(text, who)| format!("{}\n\n{text}\n\n----\n", who.join("\n")));
    Ok(sections.collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_within_a_range_or_not() {
        for (range, version, expected) in [
            (">= 0.6.6, < 0.7.0", "0.6.6", true),
            (">= 0.6.6, < 0.7.0", "0.7.0", false),
            (">= 0.7.31", "0.8.63", true),
            ("< 0.2.2", "0.2.2", false),
            ("^1.2", "1.9.0", true),
            ("^1.2", "2.0.0", false),
            ("^0.3.2", "0.3.9", true),
            ("^0.3.2", "0.4.0", false),
            ("~1.2.3", "1.2.9", true),
            ("~1.2.3", "1.3.0", false),
            ("= 1.0.0", "1.0.0", true),
            (">= 1.0.0-alpha", "1.0.0", true),
            ("whatever", "1.0.0", false),
            (">= 2.0.0", "2.1.2+zstd.1.5.7", true),
        ] {
            assert_eq!(matches(range, version), expected, "{range} {version}");
        }
    }

    #[test]
    fn an_advisory_applies_unless_it_is_patched_unaffected_or_withdrawn() {
        let advisory = |versions: &str, more: &str| {
            format!("```toml\n[advisory]\nid = \"X\"\n{more}\n[versions]\n{versions}\n```\n\n# A flaw\n")
        };
        assert!(applies(&advisory("patched = []", "informational = \"unmaintained\""), "1.0.0"));
        assert!(applies(&advisory("patched = [\">= 1.0.1\"]", ""), "1.0.0"));
        assert!(!applies(&advisory("patched = [\">= 1.0.1\"]", ""), "1.2.0"));
        assert!(!applies(&advisory("patched = []\nunaffected = [\"< 1.1\"]", ""), "1.0.0"));
        assert!(!applies(&advisory("patched = []", "withdrawn = \"2026-01-01\""), "1.0.0"));
    }

    #[test]
    fn licences_are_read_as_they_are_meant() {
        let rules = Rules::of(
            "[licenses]\nallow = [\n  \"MIT\", # yes\n  \"Zlib\",\n  \"Apache-2.0 WITH LLVM-exception\",\n]\n",
        );
        for (licence, expected) in [
            ("MIT", true),
            ("GPL-3.0 OR MIT", true),
            ("GPL-3.0 AND MIT", false),
            ("BSD-3-Clause/MIT", true),
            ("(MIT OR Apache-2.0) AND Zlib", true),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", false),
            ("Apache-2.0 WITH LLVM-exception", true),
            ("Apache-2.0", false),
            ("", false),
        ] {
            assert_eq!(rules.allows(licence), expected, "{licence}");
        }
    }

    #[test]
    fn sources_duplicates_and_flaws_are_found() {
        let rules = Rules::of(
            "[advisories]\nignore = [\n]\n[bans]\nskip = [\n  { crate = \"syn\", reason = \"macros\" },\n]\n\
             [sources]\nallow-registry = [\"https://here\"]\n",
        );
        let lock = "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nsource = \"registry+https://here\"\n\n\
                    [[package]]\nname = \"b\"\nversion = \"1.0.0\"\nsource = \"git+https://elsewhere\"\n\n\
                    [[package]]\nname = \"ours\"\nversion = \"0.1.0\"\n";
        assert_eq!(rules.sources_of(lock), ["a package comes from git+https://elsewhere"]);
        assert_eq!(locked(lock).collect::<Vec<_>>(), [("a", "1.0.0", ""), ("b", "1.0.0", "")]);
        let package = |name: &str, version: &str| Package {
            name: name.to_owned(),
            version: version.to_owned(),
            licence: String::new(),
            sum: String::new(),
            folder: String::new(),
        };
        let packages = [package("syn", "2"), package("syn", "3"), package("x", "1"), package("x", "2")];
        assert_eq!(rules.duplicates_of(&packages), ["x is built in more than once: 1, 2"]);
        let folder = std::env::temp_dir().join(format!("rosenblatt-audit-{}", std::process::id()));
        fs::create_dir_all(folder.join("crates/a")).unwrap();
        let advisory =
            "```toml\n[advisory]\nid = \"R\"\n\n[versions]\npatched = [\">= 1.0.1\"]\n```\n\n# Flawed\n";
        fs::write(folder.join("crates/a/RUSTSEC-2026-0001.md"), advisory).unwrap();
        let flaws = rules.flaws_of(lock, &folder).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(flaws, (1, vec!["a 1.0.0: RUSTSEC-2026-0001: Flawed".to_owned()]));
        assert!(rules.flaws_of(lock, Path::new("nowhere")).is_err());
    }
}
