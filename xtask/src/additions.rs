//! CONTRIBUTING's table of how many files it takes to add something, counted on what was added before.
//!
//! For most rows there is a file that was added in that way: how many lines outside of it name its module is what the row
//! should say. Settings, which are entries of a declaration and no files, are counted by the tests of the command line.

use crate::tidy::files;
use std::fs;
use std::path::{Path, PathBuf};

/// What a row of the table begins with, and a file that was added in that way.
const ADDED: [(&str, &str); 8] = [
    ("an update rule", "crates/core/src/rules/half_margin.rs"),
    ("a kernel", "crates/kernel/src/kernels/cosine.rs"),
    ("a feature map", "crates/kernel/src/maps/sketch.rs"),
    ("a format that is read", "crates/data/src/formats/idx.rs"),
    ("a format of sentences", "crates/data/src/sentences/conllu.rs"),
    ("a format that is written", "crates/data/src/write/vw.rs"),
    ("a figure", "crates/figures/src/margins.rs"),
    ("a command", "crates/cli/src/commands/demo.rs"),
];

/// An attribute of Python's estimators that was added alone.
const ATTRIBUTE: &str = "race_";

/// The files of the Python package, and of its module in Rust, that name an attribute; and complaints about attributes that
/// are declared in one file and documented elsewhere, if at all.
fn attributes() -> Result<(usize, Vec<String>), String> {
    let folders = [("python/rosenblatt", "py"), ("python/rosenblatt", "pyi"), ("crates/python/src", "rs")];
    let paths = folders.into_iter().flat_map(|(folder, ending)| files(Path::new(folder), &[ending]));
    let (mut n_files, mut complaints) = (0, Vec::new());
    for path in paths {
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        n_files += usize::from(has_word(&text, ATTRIBUTE));
        let missing = undocumented(&text).into_iter();
        complaints.extend(
            missing.map(|name| format!("{}: `{name}` is not described under Attributes", path.display())),
        );
    }
    Ok((n_files, complaints))
}

/// The attributes that classes of a file with a section of them declare, and do not describe there.
fn undocumented(text: &str) -> Vec<&str> {
    let sections: Vec<&str> = text
        .split("    Attributes\n    ----------\n")
        .skip(1)
        .filter_map(|section| section.split("\"\"\"").next())
        .collect();
    let declared = text.lines().filter_map(|line| line.strip_prefix("    ")?.split_once(": "));
    let is_attribute = |name: &&str| {
        let is_letter =
            |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
        name.ends_with('_')
            && name.starts_with(|first: char| first.is_ascii_lowercase())
            && name.chars().all(is_letter)
    };
    let names = declared.map(|(name, _)| name).filter(is_attribute);
    let is_described = |name: &str| sections.iter().any(|section| has_word(section, name));
    names.filter(|name| !sections.is_empty() && !is_described(name)).collect()
}

/// Whether a name stands in a text, and not as a part of another.
fn has_word(text: &str, name: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.match_indices(name)
        .any(|(at, _)| !text[..at].ends_with(is_part) && !text[at + name.len()..].starts_with(is_part))
}

/// What the table says and the sources do not, given all files of the crates.
pub(crate) fn complaints(contributing: &str, sources: &[PathBuf]) -> Result<Vec<String>, String> {
    let (n_files, mut complaints) = attributes()?;
    let attribute = format!("| an estimator attribute | 0 | {n_files}: ");
    if !contributing.contains(&attribute) {
        complaints.push(format!("CONTRIBUTING.md has no row `{attribute}`, as `{ATTRIBUTE}` took {n_files}"));
    }
    for (what, added) in ADDED {
        let row = contributing.lines().find(|line| line.starts_with(&format!("| {what} |")));
        let row = row.ok_or_else(|| format!("CONTRIBUTING.md has no row for {what}"))?;
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let number =
            |cell: usize| cells.get(cell).and_then(|cell| cell.split([',', ':', ' ']).next()?.parse().ok());
        let counted = count(Path::new(added), sources)?;
        if number(2) != Some(1) || number(3) != Some(counted) {
            complaints.push(format!(
                "CONTRIBUTING.md: {what} takes 1 new file and {counted} lines elsewhere, as {added} did, and the table says \
                 {} and {}",
                cells.get(2).unwrap_or(&""),
                cells.get(3).unwrap_or(&"")
            ));
        }
    }
    Ok(complaints)
}

/// How many lines of code outside a file name its module.
fn count(added: &Path, sources: &[PathBuf]) -> Result<usize, String> {
    let module = added.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let mut n_lines = 0;
    for path in sources {
        // Of two modules with the same name, each has its own neighbours.
        let own = path.with_file_name(format!("{module}.rs"));
        let is_other = own != added && own.is_file();
        if path == added || is_other || !path.components().any(|part| part.as_os_str() == "src") {
            continue;
        }
        let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let shipped = text.split("#[cfg(test)]\nmod").next().unwrap_or_default();
        n_lines += shipped.lines().filter(|line| names(line, module)).count();
    }
    Ok(n_lines)
}

/// Whether a line of code names a module: as one that is there, as an entry of a table, or on the way to what is in it.
fn names(line: &str, module: &str) -> bool {
    let line = line.trim_start();
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    !line.starts_with("//")
        && line.match_indices(module).any(|(at, _)| {
            let (before, after) = (&line[..at], &line[at + module.len()..]);
            let is_declared = after == ";" && (before.is_empty() || before.ends_with("mod "));
            is_declared || after.starts_with("::") && !before.ends_with(is_part)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_a_module_by_its_whole_name() {
        for line in ["mod idx;", "    idx;", "    &idx::Idx,", "pub use crate::formats::idx::Idx;"] {
            assert!(names(line, "idx"), "{line}");
        }
        for line in [
            "// mod idx;",
            "mod row_idx;",
            "let idx = 3",
            "idx_of::<T>()",
            "let x = idx;",
            "/// See idx::Idx.",
        ] {
            assert!(!names(line, "idx"), "{line}");
        }
    }

    #[test]
    fn an_attribute_is_described_where_it_is_declared() {
        let class = |doc: &str| {
            format!(
                "    \"\"\"A class.\n\n    Attributes\n    ----------\n{doc}    \"\"\"\n\n    n_iter_: int\n    _own_: int\n"
            )
        };
        assert_eq!(undocumented(&class("    n_iter_ : int\n        Epochs.\n")), Vec::<&str>::new());
        assert_eq!(undocumented(&class("    n_iter_2 : int\n")), ["n_iter_"]);
        assert_eq!(undocumented("    n_iter_: int\n"), Vec::<&str>::new());
    }

    #[test]
    fn a_table_that_is_wrong_is_named_with_what_is_right() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let table = |n: usize| {
            let rows = ADDED.map(|(what, _)| format!("| {what} | 1, in `x/` | {n} in one file |"));
            rows.join("\n")
        };
        assert!(complaints("| a kernel | 1 | 1 |", &[]).unwrap_err().contains("an update rule"));
        // Without a source, nothing is named anywhere. The package of Python lies elsewhere for a test.
        let attribute = "| an estimator attribute | 0 | 0: ";
        assert_eq!(complaints(&format!("{}\n{attribute}", table(0)), &[]).unwrap(), Vec::<String>::new());
        let wrong = complaints(&table(7), &[]).unwrap();
        assert_eq!(wrong.len(), ADDED.len() + 1);
        assert!(wrong[0].contains("an estimator attribute"), "{}", wrong[0]);
        assert!(wrong[1].contains("an update rule takes 1 new file and 0 lines elsewhere"), "{}", wrong[1]);
        assert!(ADDED.iter().all(|(_, added)| root.join(added).is_file()));
    }
}
