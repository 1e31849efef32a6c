//! `rosenblatt train --online`: one epoch, a table at powers of two, and a model at the end.

use crate::bench::Bench;
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;

const SMS: &str = "crates/data/bundled/sms-spam.tsv";

#[test]
fn the_table_doubles_and_the_model_predicts() {
    let bench = Bench::new();
    let text = bench.ok(&format!("rosenblatt train {SMS} --online --model sms.model"));
    let rows: Vec<&str> = text.lines().filter_map(|line| line.split_whitespace().next()).take(15).collect();
    assert_eq!(rows[..5], ["rows", "1", "2", "4", "8"], "{text}");
    assert_eq!(rows[13..], ["4,096", "5,574"], "{text}");
    assert!(text.contains("1 epoch over 5,574 rows") && text.contains("progressive error: "), "{text}");
    assert!(text.contains("top features for spam: "), "{text}");
    let labels = bench.ok(
        "printf 'WIN a FREE prize, txt now\\nsee you at home\\n' | rosenblatt predict - --format text --model sms.model",
    );
    assert_eq!(labels, "spam\nham\n");
    assert!(bench.ok("rosenblatt inspect sms.model").contains("1 epoch over 5,574 rows"));
}

#[test]
fn the_table_adds_up_and_is_that_of_an_epoch_in_the_given_order() {
    let bench = Bench::new();
    let data = "crates/data/bundled/banknote.csv";
    let json = |line: &str| -> Value { serde_json::from_str(&bench.ok(line)).unwrap() };
    let online = json(&format!("rosenblatt train {data} --online --json --model online.model"));
    let whole = json(&format!(
        "rosenblatt train {data} --epochs 1 --patience 0 --order given --holdout 0 --json --model whole.model"
    ));
    for what in ["rows", "rounds", "mistakes", "updates", "errors"] {
        assert_eq!(online["training-summary"][what], whole["training-summary"][what], "{what}");
    }
    let weights = |model: &str| bench.ok(&format!("rosenblatt inspect {model} --weights"));
    assert_eq!(weights("online.model"), weights("whole.model"));
    let (mut errors, mut before) = (0.0, 0.0);
    for line in online["progress"].as_array().unwrap() {
        let rows = line["rows"].as_f64().unwrap();
        errors += line["error-since-last"].as_f64().unwrap() * (rows - before);
        assert!((errors / rows - line["error-so-far"].as_f64().unwrap()).abs() < 1e-9, "{line}");
        before = rows;
    }
    assert_eq!(before, 1372.0);
}

#[test]
fn a_file_is_looked_through_first_and_a_pipe_says_what_to_do() {
    let bench = Bench::new();
    // The second class turns up long after the first block.
    let mut text = String::new();
    for row in 0..300_000 {
        let class = if row < 299_000 { "a" } else { "b" };
        let _ = writeln!(text, "{class} 1:{} 2:1", row % 7);
    }
    text.push_str("c 3:1\n");
    bench.write("late.svm", text);
    // A pipe cannot be read twice to find a scale, so none is asked for.
    let train = "rosenblatt train --online --scale none --quiet --model late.model";
    bench.ok(&format!("{train} late.svm"));
    let from_file = fs::read(bench.path("late.model")).unwrap();
    let one = bench.run(&format!("cat late.svm | {train} - --format libsvm"));
    assert_eq!(one.code, Some(1), "{}", one.all());
    assert!(
        one.stderr.contains("only `a` so far\nhelp: name all classes beforehand with --classes"),
        "{}",
        one.stderr
    );
    let late = bench.run(&format!("cat late.svm | {train} - --format libsvm --classes a,b"));
    assert_eq!(late.code, Some(1), "{}", late.all());
    assert!(
        late.stderr.contains("class `c` is new here") && late.stderr.contains("--classes a,b,c"),
        "{}",
        late.stderr
    );
    bench.ok(&format!("cat late.svm | {train} - --format libsvm --classes a,b,c"));
    assert_eq!(fs::read(bench.path("late.model")).unwrap(), from_file);
}

#[test]
fn what_a_stream_cannot_do_is_a_matter_of_words() {
    let bench = Bench::new();
    for (line, expected) in [
        ("--epochs 3", "cannot be used with"),
        ("--holdout 0.1", "cannot be used with"),
        ("--algorithm minover", "`minover` cannot learn online: it looks at all rows before every step"),
        ("--class-weight balanced", "needs all of them at hand"),
    ] {
        let done = bench.run(&format!("rosenblatt train missing.csv --online {line}"));
        assert_eq!(done.code, Some(2), "{line}\n{}", done.all());
        assert!(done.stderr.contains(expected), "{line}\n{}", done.stderr);
    }
}
