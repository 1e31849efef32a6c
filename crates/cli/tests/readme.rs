//! The README's tour, command by command: each must end as it says and print the lines it shows.

use crate::bench::Bench;

#[test]
fn every_command_of_the_tour_does_what_it_shows() {
    let readme = include_str!("../../../README.md");
    let bench = Bench::new();
    let mut n_commands = 0;
    let blocks = readme.split("```console\n").skip(1);
    for block in blocks.map(|block| block.split("```").next().unwrap()) {
        for part in block.split("\n$ ").map(|part| part.trim_start_matches("$ ")) {
            let (line, shown) = part.split_once('\n').unwrap_or((part, ""));
            let (line, remark) = line.split_once("   #").unwrap_or((line, ""));
            let code = remark.trim().strip_prefix("exits with ").map_or(0, |code| code.parse().unwrap());
            let done = bench.run(line);
            assert_eq!(done.code, Some(code), "{line}\n{}", done.all());
            for expected in shown.lines().filter(|line| !line.is_empty()) {
                assert!(done.all().contains(expected), "{line}\nshould print `{expected}`:\n{}", done.all());
            }
            n_commands += 1;
        }
    }
    assert!(n_commands >= 9, "the tour has {n_commands} commands");
}
