//! The README's tour and the guide, command by command: each must end as it says and print the lines it shows.

use crate::bench::Bench;
use std::fs;
use std::path::Path;

/// Runs every command of a page, in a folder of its own; how many there were.
fn follow(page: &str, text: &str) -> usize {
    let bench = Bench::new();
    let mut n_commands = 0;
    let blocks = text.split("```console\n").skip(1);
    for block in blocks.map(|block| block.split("```").next().unwrap()) {
        for part in block.split("\n$ ").map(|part| part.trim_start_matches("$ ")) {
            let (line, shown) = part.split_once('\n').unwrap_or((part, ""));
            let (line, remark) = line.split_once("   #").unwrap_or((line, ""));
            let code = remark.trim().strip_prefix("exits with ").map_or(0, |code| code.parse().unwrap());
            let done = bench.run(line);
            assert_eq!(done.code, Some(code), "{page}: {line}\n{}", done.all());
            for expected in shown.lines().filter(|line| !line.is_empty()) {
                let all = done.all();
                assert!(all.contains(expected), "{page}: {line}\nshould print `{expected}`:\n{all}");
            }
            n_commands += 1;
        }
    }
    n_commands
}

#[test]
fn every_command_of_the_tour_does_what_it_shows() {
    assert!(follow("README.md", include_str!("../../../README.md")) >= 9);
}

#[test]
fn every_command_of_the_guide_does_what_it_shows() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide");
    let mut pages: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.sort();
    let index = fs::read_to_string(folder.join("README.md")).unwrap();
    let mut n_commands = 0;
    for page in pages {
        let name = page.file_name().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&page).unwrap();
        assert!(name == "README.md" || index.contains(&format!("({name})")), "{name} is not in the index");
        n_commands += follow(&name, &text);
    }
    assert!(n_commands >= 40, "the guide has {n_commands} commands");
}
