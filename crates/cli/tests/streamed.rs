//! `rosenblatt train --memory`: rows on disk, and the model that memory would have made.

use crate::bench::Bench;
use std::fmt::Write as _;
use std::fs;

/// Some rows of two classes that are not quite separable.
fn rows(n_rows: u32) -> String {
    let mut text = String::new();
    for row in 0..n_rows {
        let hash = row.wrapping_mul(2_654_435_761) >> 5;
        text += if (hash % 40 + row % 7) > 21 { "+1" } else { "-1" };
        for place in 0..10 {
            let feature = place * 40 + 1 + if place == 0 { hash % 40 } else { (hash >> place) % 40 };
            let _ = write!(text, " {feature}:0.{:04}", (hash ^ place) % 10_000);
        }
        text.push('\n');
    }
    text
}

#[test]
fn the_model_is_that_of_memory_in_the_given_order() {
    let bench = Bench::new();
    bench.write("rows.svm", rows(30_000));
    let words = "rosenblatt train rows.svm --epochs 3";
    let memory = bench.ok(&format!("{words} --order given --model memory.model"));
    let streamed = bench.ok(&format!("{words} --memory 1MiB --model streamed.model"));
    let model = |name: &str| fs::read(bench.path(name)).unwrap();
    // Without the order, which was asked for in one and follows from the other, the files would be the same.
    let asked =
        bench.ok(&format!("{words} --order given --memory 1MiB --cache rows.cache --model asked.model"));
    assert_eq!(model("asked.model"), model("memory.model"));
    assert_eq!(model("streamed.model"), model("memory.model"));
    let line = |text: &str, start: &str| text.lines().find(|line| line.starts_with(start)).map(str::to_owned);
    for start in ["training error: ", "held-out error: "] {
        assert!(line(&memory, start).is_some(), "{memory}");
        assert_eq!(line(&streamed, start), line(&memory, start));
        assert_eq!(line(&asked, start), line(&memory, start));
    }
    assert!(streamed.contains("stay on disk, visited in their order"), "{streamed}");
    // What was kept is used again; what fits is not left on disk.
    let written = fs::metadata(bench.path("rows.cache")).unwrap().modified().unwrap();
    bench.ok(&format!("{words} --memory 1MiB --cache rows.cache --model again.model"));
    assert_eq!(fs::metadata(bench.path("rows.cache")).unwrap().modified().unwrap(), written);
    assert_eq!(model("again.model"), model("memory.model"));
    let fits = bench.ok(&format!("{words} --memory 1GiB --model fits.model"));
    assert!(!fits.contains("stay on disk"), "{fits}");
}

#[test]
fn one_class_against_the_rest_and_probabilities_are_those_of_memory() {
    let bench = Bench::new();
    bench.write("rows.svm", rows(30_000).replace("\n-1 3", "\nx 3"));
    let model = |name: &str| fs::read(bench.path(name)).unwrap();
    let words = "rosenblatt train rows.svm --epochs 4 --calibrate isotonic --positive x --order given";
    bench.ok(&format!("{words} --model memory.model"));
    bench.ok(&format!("{words} --memory 1MiB --checkpoint-every 5000rows --model streamed.model"));
    assert_eq!(model("streamed.model"), model("memory.model"));
    assert!(!bench.path("streamed.model.checkpoint").exists());
    let done =
        bench.run(&format!("{words} --memory 1MiB --model m.model").replace("positive x", "positive z"));
    assert!(done.code == Some(1) && done.stderr.contains("there is no class `z`"), "{}", done.all());
}

#[test]
fn what_cannot_be_had_is_said() {
    let bench = Bench::new();
    bench.write("rows.svm", rows(30_000));
    for (words, expected) in [
        ("--memory 1MiB --order shuffle-epoch", "`order` should be given where rows do not stay in memory"),
        (
            "--memory 500KiB --calibrate platt",
            "leave probabilities out with --calibrate off, or learn in one epoch",
        ),
        ("--memory 100KiB", "raise --memory, or learn in one epoch with --online"),
        ("--memory much", "for instance 512MiB"),
    ] {
        let done = bench.run(&format!("rosenblatt train rows.svm {words} --model m.model"));
        assert!(matches!(done.code, Some(1 | 2)) && done.stderr.contains(expected), "{}", done.all());
    }
    let tight = bench.ok("rosenblatt train rows.svm --memory 500KiB --epochs 2 --model m.model");
    assert!(tight.contains("probabilities are not fitted, as the scores"), "{tight}");
    assert!(
        bench.ok("cat rows.svm | rosenblatt train - --memory 1MiB --model m.model").contains("30,000 rows")
    );
}
