//! `cargo xtask lines [--of REV]`: lines of Rust code of every crate, without tests, comments and blank lines.
//!
//! Tests are files under `tests/` and `benches/`, and modules below `#[cfg(test)]`. Lines are counted as they stand in a
//! commit, `HEAD` unless another is named.

use crate::say;
use std::collections::BTreeMap;
use std::process::Command;

/// Counts, and prints a line for every crate.
pub(crate) fn run(words: &[String]) -> Result<(), String> {
    let revision = match words {
        [] => "HEAD",
        [option, revision] if option == "--of" => revision,
        _ => return Err("the only option is --of REV".to_owned()),
    };
    let counts = count(revision).ok_or_else(|| format!("there is no commit `{revision}` here"))?;
    for (name, lines) in &counts {
        say(&format!("{name:<12} {lines:>7}"));
    }
    say(&format!("{:<12} {:>7}", "all", counts.values().sum::<usize>()));
    Ok(())
}

fn git(words: &[&str]) -> Option<String> {
    let done = Command::new("git").args(words).output().ok()?;
    done.status.success().then(|| String::from_utf8_lossy(&done.stdout).into_owned())
}

/// The lines of code by crate.
fn count(revision: &str) -> Option<BTreeMap<String, usize>> {
    let mut counts = BTreeMap::new();
    for path in git(&["ls-tree", "-r", "--name-only", revision])?.lines() {
        let Some(name) = crate_of(path) else { continue };
        let text = git(&["show", &format!("{revision}:{path}")])?;
        *counts.entry(name.to_owned()).or_default() += code(&text);
    }
    Some(counts)
}

/// The crate whose code is in this file, if it is code.
fn crate_of(path: &str) -> Option<&str> {
    let is_rust = std::path::Path::new(path).extension().is_some_and(|ending| ending == "rs");
    let is_code = is_rust && !path.split('/').any(|part| part == "tests" || part == "benches");
    let name = path.strip_prefix("crates/").unwrap_or(path).split('/').next()?;
    is_code.then_some(name)
}

/// Lines that hold code. Formatting is taken for granted: a module for tests ends at the brace in its own column.
fn code(text: &str) -> usize {
    let (mut lines, mut n_lines, mut is_comment) = (text.lines(), 0, false);
    while let Some(line) = lines.next() {
        let bare = line.trim();
        if bare == "#[cfg(test)]" {
            let indent = line.len() - line.trim_start().len();
            let has_body = lines.find(|line| !line.trim().starts_with("#[")).is_none_or(|item| {
                let is_whole = item.ends_with(';') || item.ends_with('}');
                item.ends_with('{')
                    || !is_whole
                        && lines
                            .find(|line| line.ends_with(['{', ';']))
                            .is_some_and(|line| line.ends_with('{'))
            });
            if has_body {
                let _ = lines.find(|line| {
                    line.trim_start().starts_with('}') && line.len() - line.trim_start().len() == indent
                });
            }
            continue;
        }
        is_comment |= bare.starts_with("/*");
        if !bare.is_empty() && !bare.starts_with("//") && !is_comment {
            n_lines += 1;
        }
        is_comment &= !bare.contains("*/");
    }
    n_lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_comments_and_blank_lines_do_not_count() {
        let text = "//! What.\n\nuse a::b;\n#[cfg(test)]\nconst X: u8 =\n    1;\nfn f() {\n    // Why.\n    g();\n}\n\n#[cfg(test)]\nmod tests {\n    fn t() {}\n}\n";
        assert_eq!(code(text), 4);
        assert_eq!(crate_of("crates/cli/src/main.rs"), Some("cli"));
        assert_eq!(crate_of("xtask/src/lines.rs"), Some("xtask"));
        assert_eq!(crate_of("crates/cli/tests/tagger.rs"), None);
    }
}
