//! What the program prints, whole: help pages, reports and errors, each compared with a file in `snapshots/`.
//!
//! After a change that is meant, `UPDATE_SNAPSHOTS=1 cargo test -p rosenblatt-cli snapshots` writes the files
//! anew; read the difference before it is committed. Times and speeds are different every time and stand there
//! as `<time>` and `<speed>`.

use crate::bench::Bench;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Name of the file, and the lines of shell whose output it holds.
const SNAPSHOTS: &[(&str, &[&str])] = &[
    ("help", &["rosenblatt --help"]),
    ("help-train", &["rosenblatt train --help"]),
    ("help-predict", &["rosenblatt predict --help"]),
    ("help-evaluate", &["rosenblatt evaluate --help"]),
    ("help-compare", &["rosenblatt compare --help"]),
    ("help-certify", &["rosenblatt certify --help"]),
    ("help-inspect", &["rosenblatt inspect --help"]),
    ("help-report", &["rosenblatt report --help"]),
    ("help-trace", &["rosenblatt trace --help"]),
    ("help-plot", &["rosenblatt plot --help"]),
    ("help-algorithms", &["rosenblatt algorithms --help"]),
    ("algorithms", &["rosenblatt algorithms", "rosenblatt algorithms pa1"]),
    (
        "table",
        &[
            "rosenblatt train penguins.csv --label species --missing mean",
            "rosenblatt inspect penguins.model",
            "rosenblatt evaluate penguins.csv --model penguins.model",
            "head -3 penguins.csv | rosenblatt predict - --model penguins.model --probabilities --explain 2",
        ],
    ),
    ("text", &["rosenblatt train sms-spam.tsv", "rosenblatt inspect sms-spam.model"]),
    (
        "voted",
        &[
            "rosenblatt train banknote.csv --readout voted --folds 5 --model voted.model",
            "rosenblatt inspect voted.model",
        ],
    ),
    ("positive", &["rosenblatt train penguins.csv --label species --missing mean --positive Gentoo"]),
    ("compare", &["rosenblatt compare banknote.csv --folds 4"]),
    ("certify", &["rosenblatt certify iris.csv", "rosenblatt certify banknote.csv"]),
    (
        "trace",
        &[
            "printf 'x,y,class\\n1,1,same\\n1,-1,other\\n-1,1,other\\n-1,-1,same\\n' > xor.csv",
            "rosenblatt trace xor.csv --label class",
            "rosenblatt trace iris.csv --rounds 6",
        ],
    ),
    (
        "plot",
        &[
            "printf 'x,y,class\\n4,0,plus\\n1,1,minus\\n0,1,minus\\n-2,-2,plus\\n' > points.csv",
            "rosenblatt plot boundary points.csv --label class --bias none --scale none",
            "rosenblatt plot norms points.csv --label class --bias none",
            "rosenblatt plot weights sms-spam.tsv --top 8",
            "rosenblatt plot confusion penguins.csv --label species --missing mean",
        ],
    ),
    (
        "errors",
        &[
            "rosenblatt train",
            "rosenblatt train missing.csv",
            "rosenblatt train penguins.csv",
            "rosenblatt train penguins.csv --label kind --missing mean",
            "rosenblatt train banknote.csv --algorithm percetpron",
            "rosenblatt train banknote.csv --holdout 1.5",
            "rosenblatt train banknote.csv --folds 1",
            "rosenblatt train penguins.csv --label species --missing mean --positive Emperor",
            "rosenblatt predict banknote.csv --model penguins.csv",
            "rosenblatt predict banknote.csv --model missing.model",
            "rosenblatt inspect penguins.csv --export pmml out.pmml",
            "rosenblatt plot boundary",
            "rosenblatt plot border banknote.csv",
            "rosenblatt plot boundary banknote.csv -o picture.gif",
            "rosenblatt plot boundary banknote.csv --columns 1",
            "rosenblatt plot boundary banknote.csv --columns 1,wing",
            "rosenblatt plot curves banknote.csv --model penguins.model",
        ],
    ),
];

/// Takes out what is different every time: a number before a unit of time, and speeds.
fn steady(text: &str) -> String {
    let mut steady = String::new();
    for line in text.lines() {
        if let Some((_, rest)) = line.split_once(" rows a second, ") {
            let after = rest.split_once(" in all").map_or("", |(_, after)| after);
            let _ = writeln!(steady, "<speed> rows a second, <time> in all{after}");
            continue;
        }
        let words: Vec<&str> = line.split(' ').collect();
        let mut kept: Vec<&str> = Vec::new();
        let mut skip = false;
        for (place, word) in words.iter().enumerate() {
            if std::mem::take(&mut skip) {
                continue;
            }
            let is_time = word.parse::<f64>().is_ok()
                && words.get(place + 1).is_some_and(|unit| ["us", "ms", "s"].contains(unit));
            if is_time {
                // Columns are padded to the width of what was taken out.
                while kept.last() == Some(&"") {
                    kept.pop();
                }
                kept.push("<time>");
                skip = true;
            } else {
                if *word == "time" && kept.iter().any(|word| !word.is_empty()) {
                    // So is the head of such a column.
                    while kept.last() == Some(&"") {
                        kept.pop();
                    }
                }
                kept.push(word);
            }
        }
        steady.push_str(&kept.join(" "));
        steady.push('\n');
    }
    steady
}

/// A folder with the bundled data in it, by short names.
fn bench() -> Bench {
    let bench = Bench::new();
    bench.ok("cp crates/data/bundled/* .");
    bench
}

#[test]
fn everything_printed_is_as_it_was() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots");
    let update = std::env::var_os("UPDATE_SNAPSHOTS").is_some();
    let mut changed = Vec::new();
    for (name, lines) in SNAPSHOTS {
        let bench = bench();
        let mut found = String::new();
        for line in *lines {
            let done = bench.run(&format!("COLUMNS=100 {line}"));
            let code = match done.code {
                Some(0) => String::new(),
                code => format!("   # exits with {}", code.unwrap()),
            };
            let _ = write!(found, "$ {line}{code}\n{}\n", steady(&done.all()));
        }
        let path = folder.join(format!("{name}.txt"));
        if update {
            fs::write(&path, &found).unwrap();
        } else if fs::read_to_string(&path).unwrap_or_default() != found {
            changed.push(format!("{name} is now\n{found}"));
        }
    }
    assert!(
        changed.is_empty(),
        "{}\nUPDATE_SNAPSHOTS=1 cargo test -p rosenblatt-cli snapshots writes them anew",
        changed.join("\n")
    );
}

#[test]
fn times_are_taken_out_with_their_padding() {
    assert_eq!(steady("a   12 ms  3 kB\nx in 1.5 s"), "a <time>  3 kB\nx in <time>\n");
    assert_eq!(steady("margin     time  model"), steady("margin  time  model"));
    assert_eq!(steady("1,000 rows a second, 2 ms in all"), "<speed> rows a second, <time> in all\n");
}

#[test]
fn every_example_of_every_help_page_works() {
    let bench = bench();
    // The files that the examples speak of; what is in them matters little.
    bench.ok("rosenblatt convert iris.csv data.svm && rosenblatt convert banknote.csv a9a --to libsvm");
    bench.ok("cp penguins.csv data.csv && cp data.svm huge.svm && cp data.svm big.svm");
    bench.ok("for name in mail new test people houses; do cp banknote.csv $name.csv; done");
    bench.write("faces.svm", "ann 1:1 2:0.5\nbob 1:-1\neve 2:-1\nann 1:0.9\nbob 1:-0.8\neve 2:-0.9\n");
    bench.ok(
        "rosenblatt train mail.csv --shape line --quiet --model mail.model && rosenblatt demo --model sms.model --json",
    );
    bench.ok("rosenblatt train people.csv --shape bend --quiet --model people.model");
    bench.ok("rosenblatt train banknote.csv --label 1 --quiet --model houses.model");
    bench.write("digits.csv", "a,b,digit\n1,1,3\n2,1,3\n-1,0,8\n-2,1,8\n0,5,1\n");
    bench.write("points.csv", "x,y,class\n4,0,a\n1,1,b\n0,1,b\n-2,-2,a\n");
    bench.write("xor.csv", "x1,x2,class\n1,1,same\n1,-1,other\n-1,1,other\n-1,-1,same\n");
    bench.write(
        "news.conllu",
        "# text = Ada runs\n1\tAda\tAda\tPROPN\tNNP\t_\t2\tnsubj\t_\t_\n2\truns\trun\tVERB\tVBZ\t_\t0\troot\t_\t_\n\n"
            .repeat(6),
    );
    bench.write("train.txt", "Ada NNP B-NP\nruns VBZ B-VP\n\n");
    bench.write("template.txt", "U00:%x[0,0]\nU01:%x[0,1]\nB\n");
    bench.ok("rosenblatt predict mail.csv --model mail.model --scores --output mail.parquet");
    let mut n_examples = 0;
    for command in [
        "",
        "demo",
        "train",
        "predict",
        "evaluate",
        "compare",
        "certify",
        "inspect",
        "trace",
        "plot",
        "convert",
        "algorithms",
        "completions",
        "man",
    ] {
        let help = bench.ok(&format!("COLUMNS=200 rosenblatt {command} --help"));
        let (_, examples) =
            help.split_once("Example").unwrap_or_else(|| panic!("{command} shows no example"));
        for line in examples.lines().filter(|line| line.starts_with("  ")) {
            // The purpose of the example follows two blanks.
            let line = line.trim_start().split("  ").next().unwrap();
            let line = line.replace("~/.local/share/bash-completion/completions/", "");
            let line = line.replace("| man -l -", "> page").replace("--label spam", "--label class");
            let line = line
                .replace("points.csv", "points.csv --label class")
                .replace("xor.csv", "xor.csv --label class");
            // Of two classes, so that there is one proof.
            let line = if command == "certify" {
                line.replace("data.csv", "banknote.csv").replace("data.model", "mail.model")
            } else {
                line
            };
            // One table serves several examples, of which one names its label.
            let labelled = "data.csv --label species --missing mean";
            let line = if line.contains(labelled) { line } else { line.replace("data.csv", labelled) };
            let done = bench.run(&line);
            assert_eq!(done.code, Some(0), "{line}\n{}", done.all());
            n_examples += 1;
        }
    }
    assert!(n_examples >= 30, "{n_examples}");
}
