//! `rosenblatt compare`: one table, the same folds for all, best first.

use crate::bench::Bench;
use serde_json::Value;
use std::fmt::Write as _;

/// A hyperplane in five dimensions; one label in eight is wrong.
fn noisy_table() -> String {
    let mut state = 1_u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let mut text = "a,b,c,d,e,class\n".to_owned();
    for _ in 0..2000 {
        let x: [f64; 5] = std::array::from_fn(|_| (random() % 2001) as f64 / 1000.0 - 1.0);
        let side = x[0] + 0.5 * x[1] - 0.7 * x[2] > 0.0;
        let class = if side ^ random().is_multiple_of(8) { "up" } else { "down" };
        let _ = writeln!(text, "{},{},{},{},{},{class}", x[0], x[1], x[2], x[3], x[4]);
    }
    text
}

#[test]
fn averaging_is_said_to_matter_only_where_the_rows_show_it() {
    let bench = Bench::new();
    bench.write("noisy.csv", noisy_table());
    for seed in 0..3 {
        let text = bench.ok(&format!("rosenblatt compare noisy.csv --seed {seed}"));
        let place = |what: &str| text.find(what).unwrap_or_else(|| panic!("`{what}` in\n{text}"));
        assert!(place("perceptron averaged") < place("perceptron last"), "{text}");
        assert!(text.contains("averaging matters: perceptron errs on"), "{text}");
    }
    // Text messages are nearly separable, and there the last weights do as well.
    let messages = bench.ok("rosenblatt compare crates/data/bundled/sms-spam.tsv");
    assert!(messages.contains("always predicting `ham` would be wrong for 13.4 %"), "{messages}");
    assert!(!messages.contains("averaging matters"), "{messages}");
}

#[test]
fn every_default_algorithm_is_compared_and_folds_are_the_same_for_all() {
    let bench = Bench::new();
    let line = "rosenblatt compare crates/data/bundled/iris.csv --epochs 5 --json --quiet";
    let report: Value = serde_json::from_str(&bench.ok(line)).unwrap();
    let rows = report["algorithms"].as_array().unwrap();
    assert_eq!(rows.len(), 7, "{report}");
    assert_eq!(report["folds"], 5);
    let errors: Vec<f64> = rows.iter().map(|row| row["error"].as_f64().unwrap()).collect();
    assert!(errors.is_sorted(), "{errors:?}");
    for row in rows {
        let by_fold: Vec<f64> =
            row["errors"].as_array().unwrap().iter().map(|error| error.as_f64().unwrap()).collect();
        let mean = by_fold.iter().sum::<f64>() / 5.0;
        assert!((mean - row["error"].as_f64().unwrap()).abs() < 1e-12, "{row}");
        assert!(
            row["model-bytes"].as_f64().unwrap() > 0.0 && row["mistakes"].as_f64().unwrap() > 0.0,
            "{row}"
        );
        // Folds of iris are equally large, so the mean over folds is the mean over rows.
        let difference = row["difference"].as_f64().unwrap();
        assert!((difference - (mean - errors[0])).abs() < 1e-12, "{row}");
        let bounds = |place: usize| row["difference-interval"][place].as_f64().unwrap();
        assert!(bounds(0) <= difference && difference <= bounds(1), "{row}");
    }
    assert_eq!(rows[0]["difference-interval"], serde_json::json!([0.0, 0.0]), "the best beside itself");
    let again: Value = serde_json::from_str(&bench.ok(line)).unwrap();
    for (first, second) in rows.iter().zip(again["algorithms"].as_array().unwrap()) {
        assert_eq!((&first["algorithm"], &first["errors"]), (&second["algorithm"], &second["errors"]));
    }
}

#[test]
fn what_cannot_be_compared_is_said() {
    let bench = Bench::new();
    bench.write("t.csv", "x,class\n1,a\n2,b\n3,a\n");
    for (line, code, expected) in [
        ("t.csv --algorithms percetpron", 2, "did you mean `perceptron`?"),
        ("t.csv --algorithms perceptron:best", 2, "best"),
        ("t.csv --algorithms pa1,", 2, "names of algorithms with commas"),
        ("t.csv --folds 1", 2, "`--folds` should be at least 2"),
        ("t.csv --folds 9", 1, "9 folds need at least as many rows; there are 3"),
        ("t.csv --folds 3 --algorithms pa1", 1, "at least two classes"),
    ] {
        let done = bench.run(&format!("rosenblatt compare {line}"));
        assert_eq!(done.code, Some(code), "{line}\n{}", done.all());
        assert!(done.stderr.contains(expected), "{line}\n{}", done.stderr);
    }
    // One that cannot take part does not spoil the table of the others.
    let text =
        bench.ok("rosenblatt compare crates/data/bundled/iris.csv -a minover,pa1 --epochs 2 --folds 2");
    assert!(text.contains("left out: minover"), "{text}");
    assert!(text.contains("pa1 averaged"), "{text}");
}
