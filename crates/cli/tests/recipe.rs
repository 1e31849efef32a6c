//! One product in every face: the library's recipe gives the bytes of the command line's `train`, and what
//! `compare` promises `train` delivers.

use crate::bench::Bench;
use rosenblatt::compare::{Candidate, compare};
use rosenblatt::data::{Missing, ReadOptions, Source, load_with_schema};
use rosenblatt::recipe::{Calibrate, Plan};
use rosenblatt::{Options, Recipe};
use serde_json::Value;
use std::fs;
use std::path::Path;

#[test]
fn the_library_gives_the_bytes_of_the_command_line() {
    let bench = Bench::new();
    let bundled = "crates/data/bundled";
    bench.ok(&format!("rosenblatt convert {bundled}/banknote.csv notes.parquet"));
    for name in
        ["notes.svm", "notes.jsonl", "notes.tsv", "notes.arrow", "notes.csv.gz", "notes.npz", "notes.vw"]
    {
        bench.ok(&format!("rosenblatt convert notes.parquet {name}"));
    }
    let files = ["iris.csv", "banknote.csv", "breast_cancer.csv", "sms-spam.tsv"];
    let files = files.iter().map(|name| format!("{bundled}/{name}"));
    let others = [
        "notes.parquet",
        "notes.svm",
        "notes.jsonl",
        "notes.tsv",
        "notes.arrow",
        "notes.csv.gz",
        "notes.npz",
        "notes.vw",
    ];
    for file in files.chain(others.map(str::to_owned)) {
        bench.ok(&format!("rosenblatt train {file} --model m.model"));
        let source = Source::find(bench.path(&file)).unwrap();
        let trained = Recipe::default().train(&source, &mut ()).unwrap();
        assert!(trained.model.to_bytes() == fs::read(bench.path("m.model")).unwrap(), "{file}");
        let evaluation = trained.estimate.unwrap().evaluation;
        assert!(
            evaluation.probability_scores.is_some() && evaluation.error() < 0.2,
            "{file}: {}",
            evaluation.error()
        );
    }
}

/// Files that pandas, polars, pyarrow and `NumPy` wrote of one table, and one of numbers alone.
#[test]
fn one_table_gives_one_model_in_every_format_without_a_flag() {
    let bench = Bench::new();
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/tests/data/mixed");
    for entry in samples.read_dir().unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, bench.path(path.file_name().unwrap().to_str().unwrap())).unwrap();
    }
    let mut tables =
        vec!["table.csv", "table.tsv", "semicolons.csv", "table.csv.gz", "table.csv.zst", "table.jsonl"];
    tables.extend(["pandas.csv", "polars.ndjson"]);
    tables.extend([
        "pandas.parquet",
        "polars.parquet",
        "polars.arrow",
        "categories.feather",
        "stream.arrows",
    ]);
    let gaps = vec!["gaps.csv", "gaps.jsonl", "gaps.parquet", "gaps.arrow"];
    // What is missing cannot be known: it is asked for.
    assert_eq!(bench.run("rosenblatt train gaps.csv").code, Some(1));
    for (files, flags, missing) in [(tables, "", Missing::Error), (gaps, "--missing mean", Missing::Mean)] {
        let train = |words: &str| {
            bench.ok(&format!("rosenblatt train {words} {flags} --model t.model"));
            fs::read(bench.path("t.model")).unwrap()
        };
        let expected = train(files[0]);
        for file in &files {
            assert!(train(file) == expected, "{file}");
            let source = Source::find(bench.path(file)).unwrap();
            let reading = ReadOptions { missing, ..ReadOptions::default() };
            let trained = Recipe { reading, ..Recipe::default() }.train(&source, &mut ()).unwrap();
            assert!(trained.model.to_bytes() == expected, "the library with {file}");
            // A pipe has no name.
            assert!(train(&format!("- < {file}")) == expected, "{file} through a pipe");
        }
    }
    // Arrays know no names; all else is the same.
    let model = |words: &str| {
        bench.ok(&format!("rosenblatt train {words} --model t.model"));
        let facts: Value = serde_json::from_str(&bench.ok("rosenblatt inspect t.model --json")).unwrap();
        ["hyperplanes", "calibration", "data-fingerprint", "spec"].map(|name| facts[name].clone())
    };
    let expected = model("numbers.csv");
    for array in ["numbers.npy --label -1", "fortran.npy --label -1", "numbers.npz", "- < numbers.npz"] {
        assert_eq!(model(array), expected, "{array}");
    }
    // Columns of an array bend as well, and the model knows new rows by what they were before.
    bench.ok("rosenblatt train numbers.npy --label -1 --shape 'bend(knots=4)' --model bent.model");
    let judged = bench.ok("rosenblatt evaluate numbers.npy --label -1 --model bent.model");
    assert!(judged.contains("error rate: "), "{judged}");
}

#[test]
fn a_recipe_says_all_that_flags_can() {
    let bench = Bench::new();
    let file = "crates/data/bundled/iris.csv";
    let folds =
        Recipe { estimate: Plan::Folds(4), positive: Some("versicolor".to_owned()), ..Recipe::default() };
    let learning = Options { algorithm: "pa1".to_owned(), seed: 7, ..Options::default() };
    let plain = Recipe { learning: learning.into(), calibration: Calibrate::Off, ..Recipe::default() };
    let online = Recipe { online: true, positive: Some("virginica".to_owned()), ..Recipe::default() };
    for (flags, recipe) in [
        ("--folds 4 --positive versicolor", folds),
        ("-a pa1 --seed 7 --calibrate none", plain),
        ("--online --positive virginica", online),
    ] {
        bench.ok(&format!("rosenblatt train {file} {flags} --model m.model"));
        // It survives being written down.
        let json = serde_json::to_string(&recipe).unwrap();
        let recipe: Recipe = serde_json::from_str(&json).unwrap();
        let trained = recipe.train(&Source::find(bench.path(file)).unwrap(), &mut ()).unwrap();
        assert!(trained.model.to_bytes() == fs::read(bench.path("m.model")).unwrap(), "{flags}\n{json}");
    }
}

#[test]
fn compare_promises_what_train_delivers() {
    let bench = Bench::new();
    let json = |line: &str| -> Value { serde_json::from_str(&bench.ok(line)).unwrap() };
    let file = "crates/data/bundled/banknote.csv";
    let compared = json(&format!("rosenblatt compare {file} -a 'pa1(C=0.1),perceptron:last' --json"));
    let algorithms = compared["algorithms"].as_array().unwrap();
    let errors = |name: &str| &algorithms.iter().find(|row| row["algorithm"] == name).unwrap()["errors"];
    let trained = json(&format!("rosenblatt train {file} -a pa1 -p C=0.1 --folds 5 --json --model m.model"));
    assert_eq!(errors("pa1(C=0.1)"), &trained["fold-errors"]);
    // The library says the same, given the same rows.
    let source = Source::find(bench.path(file)).unwrap();
    let reading = ReadOptions::default();
    let (data, _) = load_with_schema(&source, &reading).unwrap();
    let candidates = Candidate::list("pa1(C=0.1),perceptron:last").unwrap();
    let specs: Vec<_> = candidates.iter().map(|one| one.spec(&Options::default()).unwrap()).collect();
    let again = compare(&specs, &data, None, (5, &rosenblatt::split::Ties::default()), 0, &mut ()).unwrap();
    for trial in &again.trials {
        let found: Vec<f64> = trial.folds.iter().map(rosenblatt::compare::TrialFold::error).collect();
        assert_eq!(&serde_json::json!(found), errors(&trial.rule()), "{}", trial.rule());
    }
}

#[test]
fn a_report_says_what_was_taken_for_what_and_what_a_model_is_worth() {
    let bench = Bench::new();
    // The class does not hang on anything, and one of three is rare.
    let rows = (0..300).map(|row| {
        let class = ["a", "a", "a", "a", "b", "b", "b", "b", "b", "c"][row * 7919 % 10];
        format!("{},{},{class}\n", row * 31 % 17, row * 13 % 11)
    });
    bench.write("noise.csv", "x1,x2,kind\n".to_owned() + &rows.collect::<String>());
    let text = bench.ok("rosenblatt train noise.csv");
    for expected in [
        "label: column `kind` (a guess, as it is the last; choose with --label)",
        "scale: standard",
        "always predicting `b` would be wrong for 50.0 %",
        "warning: no row was recognised of",
        "macro-F1",
        "next: rosenblatt predict",
    ] {
        assert!(text.contains(expected), "`{expected}` in\n{text}");
    }
    bench.write("other.csv", "x1,x2,kind\n1,2,yes\n2,3,no\n");
    let done = bench.run("rosenblatt evaluate other.csv --model noise.model");
    assert_eq!(done.code, Some(1), "{}", done.all());
    assert!(
        done.stderr.contains("no row has a label that the model knows: it knows `a`, `b`, `c`"),
        "{}",
        done.stderr
    );
}

#[test]
fn a_class_that_few_held_out_rows_speak_for_is_warned_of() {
    let bench = Bench::new();
    // Six rows of one class far from all others: one of them is held out, and recognised.
    let rows = (0..100).map(|row| {
        let (shift, class) = if row % 17 == 0 { (50, "person 7") } else { (0, "others") };
        format!("{},{},{class}\n", row * 31 % 17 + shift, row * 13 % 11 + shift)
    });
    bench.write("faces.csv", "x1,x2,who\n".to_owned() + &rows.collect::<String>());
    let text = bench.ok("rosenblatt train faces.csv --holdout 0.2");
    assert!(
        text.contains("warning: fewer than five rows tell how well it recognises `person 7`\n"),
        "{text}"
    );
}
