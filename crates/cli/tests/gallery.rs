//! The pictures in `docs/gallery` say what today's program says when it draws them.
//!
//! Their words are compared, without numbers: another machine may round differently. `cargo xtask docs` draws them again.

use crate::bench::Bench;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// What a picture says: its texts, with numbers left out.
fn words(svg: &str) -> BTreeSet<String> {
    let texts = ["<text ", "<title", "<desc"].into_iter().flat_map(|tag| {
        svg.split(tag).skip(1).filter_map(|rest| Some(rest.split_once('>')?.1.split('<').next()?.to_owned()))
    });
    let is_number = |word: &str| word.contains(|letter: char| letter.is_ascii_digit());
    let without =
        |text: String| text.split(' ').filter(|word| !is_number(word)).collect::<Vec<_>>().join(" ");
    texts.map(without).collect()
}

#[test]
fn pictures_of_the_gallery_say_what_the_program_draws() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let page = fs::read_to_string(docs.join("gallery.md")).unwrap();
    let bench = Bench::new();
    let block = |text: &str, kind: &str| -> Option<String> {
        let (_, block) = text.split_once(&format!("```{kind}\n"))?;
        Some(block.split("```").next()?.to_owned())
    };
    let files: Vec<&str> = page.split("`:\n\n```csv\n").collect();
    for pair in files.windows(2) {
        let (name, rows) = (pair[0].rsplit('`').next().unwrap(), pair[1].split("```").next().unwrap());
        bench.write(name, rows);
    }
    bench.ok("cp crates/data/bundled/* .");
    let mut n_drawn = 0;
    for part in page.split("\n## ").skip(1) {
        let commands = block(part, "sh").unwrap_or_else(|| panic!("commands in {part}"));
        if commands.contains("mnist") {
            continue;
        }
        for command in commands.lines() {
            bench.ok(command);
        }
        let name = commands.trim_end().rsplit(' ').next().unwrap();
        let kept = fs::read_to_string(docs.join("gallery").join(name)).unwrap();
        let drawn = fs::read_to_string(bench.path(name)).unwrap();
        assert_eq!(words(&kept), words(&drawn), "{name}: run `cargo xtask docs`");
        n_drawn += 1;
    }
    assert!(n_drawn >= 12, "{n_drawn} pictures");
}
