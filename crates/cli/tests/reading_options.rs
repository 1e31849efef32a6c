//! Every option of reading has an effect or is refused: all of them, on every format, in every command that reads.
//! An option that a format cannot heed must be named in the refusal; one that it heeds must change what comes out.

use crate::bench::Bench;
use std::fmt::Write as _;
use std::fs;

/// Options with a value that would matter where they mean something, and names that no source has.
const OPTIONS: [&str; 22] = [
    "--ignore 1",
    "--ignore nosuch",
    "--weight 1",
    "--weight nosuch",
    "--label 2",
    "--label nosuch",
    "--categorical 1",
    "--categorical nosuch",
    "--missing zero",
    "--header yes",
    "--delimiter ;",
    "--zero-based",
    "--hash-bits 4",
    "--text 1",
    "--cross 1,2",
    "--unknown error",
    "--labels other",
    "--size 3x3",
    "--colour",
    "--ngrams 1-3",
    "--characters",
    "--words binary",
];

/// What the commands write, on stdout or in a file called `out`.
const COMMANDS: [&str; 6] = [
    "train FILE --algorithm perceptron --epochs 3 --holdout 0 --calibrate none --model out --json",
    "predict FILE --model base.model --scores",
    "evaluate FILE --model base.model --json",
    "certify FILE",
    "convert FILE out.csv",
    "trace FILE --rounds 3",
];

/// Tries all of it on a file; `means_nothing` lists what happens to change nothing in these rows though it is heeded.
fn holds(bench: &Bench, file: &str, means_nothing: &[&str]) {
    bench.ok(&format!(
        "rosenblatt train {file} --algorithm perceptron --epochs 3 --holdout 0 --calibrate none --model base.model"
    ));
    let mut silent = String::new();
    for command in COMMANDS {
        let line = format!("rosenblatt {}", command.replace("FILE", file));
        let outcome = |line: &str| {
            for name in ["out", "out.csv"] {
                let _ = fs::remove_file(bench.path(name));
            }
            let done = bench.run(line);
            let left = ["out", "out.csv"].map(|name| fs::read(bench.path(name)).unwrap_or_default());
            (done, left)
        };
        let (plain, plain_left) = outcome(&line);
        if plain.code == Some(2) {
            // A command that does not take such rows at all.
            continue;
        }
        for option in OPTIONS.iter().filter(|option| !means_nothing.contains(option)) {
            let name = option.trim_start_matches("--").split(' ').next().unwrap_or_default();
            let (done, left) = outcome(&format!("{line} {}", option.replace(';', "';'")));
            let is_refused = matches!(done.code, Some(1 | 2))
                && (done.stderr.contains(name) || done.stderr.contains("nosuch"));
            let is_heeded = done.code == Some(0)
                && !option.ends_with("nosuch")
                && (done.stdout != plain.stdout || left != plain_left || plain.code != Some(0));
            if !is_refused && !is_heeded {
                let _ = writeln!(silent, "{line} {option}: {:?} {}", done.code, done.stderr.trim());
            }
        }
    }
    assert!(silent.is_empty(), "neither heeded nor refused:\n{silent}");
}

fn numbers() -> String {
    let mut text = "a,b,label\n".to_owned();
    for row in 0..24 {
        let (a, b) = (row * 7 % 11, row * 5 % 13);
        let _ = writeln!(text, "{a},{}.5,{}", b + 1, if a + b > 11 { "yes" } else { "no" });
    }
    text
}

#[test]
fn on_libsvm() {
    let bench = Bench::new();
    bench.write("t.csv", numbers().replace("a,b,", "f1,f2,"));
    bench.ok("rosenblatt convert t.csv t.svm");
    holds(&bench, "t.svm", &[]);
}

#[test]
fn on_vw() {
    let bench = Bench::new();
    let rows = (0..24).map(|row| {
        let (a, b) = (row * 7 % 11, row * 5 % 13);
        format!("{} |x 1:{a} 2:{b}.5 |y z:{a}\n", if a + b > 11 { 1 } else { -1 })
    });
    bench.write("t.vw", rows.collect::<String>());
    holds(&bench, "t.vw", &[]);
    // Features go by name there.
    let model = "rosenblatt train t.vw --algorithm perceptron --ignore 'x^2' --model v.model";
    bench.ok(model);
    assert!(!bench.ok("rosenblatt inspect v.model --weights").contains("x^2"));
}

#[test]
fn on_arrays() {
    let bench = Bench::new();
    bench.write("t.csv", numbers());
    bench.ok("rosenblatt convert t.csv t.npz");
    // No value is missing in these rows.
    holds(&bench, "t.npz", &["--missing zero", "--labels other"]);
}

#[test]
fn on_lines_of_text() {
    let bench = Bench::new();
    let lines = (0..24).map(|row| {
        let word = ["cash prize", "win now", "see you", "at home"][row % 4];
        format!("{}\t{word} {word} one{} two\n", if row % 4 < 2 { "spam" } else { "ham" }, row % 3)
    });
    bench.write("t.tsv", lines.collect::<String>());
    holds(&bench, "t.tsv", &[]);
}

#[test]
fn on_folders_of_text_and_of_pictures() {
    let bench = Bench::new();
    for row in 0..16 {
        let class = if row % 2 == 0 { "ham" } else { "spam" };
        for folder in ["mail", "pics"] {
            fs::create_dir_all(bench.path(&format!("{folder}/{class}"))).unwrap();
        }
        bench.write(&format!("mail/{class}/{row}"), format!("{class} {class} x{row} and more"));
        let pixels: Vec<String> = (0..16).map(|pixel| ((row * 31 + pixel * 17) % 200).to_string()).collect();
        bench.write(&format!("pics/{class}/{row}.pgm"), format!("P2\n4 4\n255\n{}\n", pixels.join(" ")));
    }
    holds(&bench, "mail", &[]);
    holds(&bench, "pics", &[]);
}

#[test]
fn on_tables() {
    let bench = Bench::new();
    bench.write("t.csv", numbers());
    bench.ok("rosenblatt convert t.csv t.jsonl");
    // What speaks of columns is heeded by tables, and by columns that are there.
    let of_columns =
        ["--ignore 1", "--weight 1", "--label 2", "--categorical 1", "--missing zero", "--text 1"];
    let heeded: Vec<&str> = of_columns
        .into_iter()
        .chain(["--header yes", "--delimiter ;", "--cross 1,2", "--hash-bits 4"])
        .collect();
    holds(&bench, "t.csv", &heeded);
    holds(&bench, "t.jsonl", &heeded);
}

#[test]
fn a_feature_that_is_left_out_is_left_out() {
    let bench = Bench::new();
    bench.write("t.csv", numbers().replace("a,b,", "f1,f2,"));
    for name in ["t.svm", "t.npz"] {
        bench.ok(&format!("rosenblatt convert t.csv {name}"));
        let train =
            format!("rosenblatt train {name} --algorithm perceptron --scale standard --model i.model");
        bench.ok(&format!("{train} --ignore 1"));
        let json = bench.ok("rosenblatt inspect i.model --export json -");
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let weights = json["hyperplanes"][0]["weights"].to_string();
        assert!(weights.starts_with("[0.0,") || weights.starts_with("[0,"), "{name}: {weights}");
        assert!(bench.run(&format!("{train} --ignore 3")).stderr.contains("no feature 3"), "{name}");
        // The model knows, and what comes in another form is left out as well.
        let plain = bench.ok("rosenblatt predict t.csv --model i.model --scores");
        assert_eq!(plain, bench.ok(&format!("rosenblatt predict {name} --model i.model --scores")));
        bench.write("u.csv", bench_without(&bench));
        assert_eq!(plain, bench.ok("rosenblatt predict u.csv --model i.model --scores"));
    }
}

/// The table with other values in the column that is left out.
fn bench_without(bench: &Bench) -> String {
    let text = fs::read_to_string(bench.path("t.csv")).unwrap();
    let mut lines = text.lines();
    let head = lines.next().unwrap_or_default().to_owned();
    lines.fold(head, |text, line| format!("{text}\n99,{}", line.split_once(',').unwrap().1)) + "\n"
}

#[test]
fn options_that_contradict_each_other_or_mean_nothing_are_refused() {
    let bench = Bench::new();
    bench.write("t.csv", numbers().replace("label", "kind"));
    let train = "rosenblatt train t.csv --label kind -a perceptron --model m.model";
    bench.ok(train);
    for (options, expected) in [
        ("--ignore a --categorical a", "column `a` is left out"),
        ("--group a --categorical a", "column `a` is left out"),
        ("--time a --text a", "column `a` is left out"),
        ("--ratchet no", "`ratchet` should be left out unless the readout is pocket"),
        ("--ratchet no --readout last", "`ratchet` should be left out unless the readout is pocket"),
        ("--readout 'averaged-from(99)'", "`readout` should be an average from one of the epochs on"),
    ] {
        let done = bench.run(&format!("{train} {options}"));
        assert!(
            matches!(done.code, Some(1 | 2)) && done.stderr.contains(expected),
            "{options}: {}",
            done.all()
        );
    }
    bench.ok(&format!("{train} --ratchet no --readout pocket"));
    bench.ok(&format!("{train} --readout 'averaged-from(20)'"));
}
