//! CONTRIBUTING's table of how many files it takes to add something, counted on what was added before.
//!
//! For most rows there is a file that was added in that way: how many lines outside of it name its module is what the row
//! should say. Settings, which are entries of a declaration and no files, are counted by the tests of the command line.

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

/// What the table says and the sources do not, given all files of the crates.
pub(crate) fn complaints(contributing: &str, sources: &[PathBuf]) -> Result<Vec<String>, String> {
    let mut complaints = Vec::new();
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
    fn a_table_that_is_wrong_is_named_with_what_is_right() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let table = |n: usize| {
            let rows = ADDED.map(|(what, _)| format!("| {what} | 1, in `x/` | {n} in one file |"));
            rows.join("\n")
        };
        assert!(complaints("| a kernel | 1 | 1 |", &[]).unwrap_err().contains("an update rule"));
        // Without a source, nothing is named anywhere.
        assert_eq!(complaints(&table(0), &[]).unwrap(), Vec::<String>::new());
        let wrong = complaints(&table(7), &[]).unwrap();
        assert_eq!(wrong.len(), ADDED.len());
        assert!(wrong[0].contains("an update rule takes 1 new file and 0 lines elsewhere"), "{}", wrong[0]);
        assert!(ADDED.iter().all(|(_, added)| root.join(added).is_file()));
    }
}
