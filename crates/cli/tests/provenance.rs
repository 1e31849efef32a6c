//! Where a model comes from: the fingerprint of its data, and a date if one is asked for.

use crate::bench::Bench;
use std::fs;

const ROWS: &str = "0,1,2\n1,0.5,0\n0,1,-2.5\n1,0.25,8\n0,3,0\n1,0,0.125\n";
const AS_LIBSVM: &str = "0 1:1 2:2\n1 1:0.5\n0 1:1 2:-2.5\n1 2:8.0 1:0.25\n0 1:3\n1 2:0.125 1:0\n";

fn fingerprint(bench: &Bench, model: &str) -> String {
    let printed: serde_json::Value =
        serde_json::from_str(&bench.ok(&format!("rosenblatt inspect {model} --json"))).unwrap();
    let fingerprint = printed["data-fingerprint"].as_str().unwrap().to_owned();
    let text = bench.ok(&format!("rosenblatt inspect {model}"));
    assert!(text.contains(&format!("trained on data with the fingerprint {fingerprint}\n")), "{text}");
    assert!(printed["date"].is_null() && !text.contains("date: "), "{text}");
    fingerprint
}

#[test]
fn the_same_rows_have_the_same_fingerprint_however_they_are_learned_from() {
    let bench = Bench::new();
    bench.write("rows.csv", ROWS.repeat(40));
    bench.write("rows.svm", AS_LIBSVM.repeat(40));
    let csv = "--label 1 --scale none";
    let mut seen = Vec::new();
    for words in [
        format!("rows.csv {csv}"),
        format!("rows.csv {csv} --holdout 0 --algorithm pa1"),
        format!("rows.csv {csv} --folds 3 --readout voted"),
        format!("rows.csv {csv} --online"),
        format!("rows.csv {csv} --positive 0"),
        "rows.svm --scale none".to_owned(),
        "rows.svm --scale none --threads 2 --seed 7".to_owned(),
        "rows.svm --scale none --online".to_owned(),
        "rows.svm --scale none --memory 8KiB".to_owned(),
        "rows.svm --scale none --online --checkpoint-every 30rows".to_owned(),
    ] {
        bench.ok(&format!("rosenblatt train {words} --model m.model"));
        seen.push((words, fingerprint(&bench, "m.model")));
    }
    bench.ok("cat rows.svm | rosenblatt train - --online --classes 0,1 --model m.model");
    seen.push(("stdin".to_owned(), fingerprint(&bench, "m.model")));
    assert!(seen.iter().all(|(_, found)| *found == seen[0].1), "{seen:#?}");
    for other in [AS_LIBSVM.repeat(41), AS_LIBSVM.repeat(40).replace("0.125", "0.126")] {
        bench.write("other.svm", other);
        bench.ok("rosenblatt train other.svm --scale none --model m.model");
        assert_ne!(fingerprint(&bench, "m.model"), seen[0].1);
    }
}

#[test]
fn a_date_is_written_only_if_asked_for() {
    let bench = Bench::new();
    bench.write("rows.svm", AS_LIBSVM.repeat(40));
    let bytes = |name: &str| fs::read(bench.path(name)).unwrap();
    bench.ok("rosenblatt train rows.svm --model plain.model");
    bench.ok("SOURCE_DATE_EPOCH=1 rosenblatt train rows.svm --model again.model");
    assert_eq!(bytes("plain.model"), bytes("again.model"));
    for how in ["", "--online"] {
        let dated = format!("rosenblatt train rows.svm {how} --date --model dated.model");
        bench.ok(&format!("SOURCE_DATE_EPOCH=1794738030 {dated}"));
        assert!(bench.ok("rosenblatt inspect dated.model").contains("\ndate: 2026-11-15T10:20:30Z\n"));
        assert!(
            bench.ok("rosenblatt inspect dated.model --json").contains(r#""date":"2026-11-15T10:20:30Z""#)
        );
        // Now, which is later than when this was written.
        bench.ok(&format!("unset SOURCE_DATE_EPOCH; {dated}"));
        let text = bench.ok("rosenblatt inspect dated.model");
        let date = text.lines().find_map(|line| line.strip_prefix("date: ")).unwrap();
        assert!(date > "2024-01-01T00:00:00Z" && date.len() == 20, "{date}");
        for wrong in ["", "soon", "-1", "99999999999999999999", "999999999999"] {
            let done = bench.run(&format!("SOURCE_DATE_EPOCH='{wrong}' {dated}"));
            assert_eq!(done.code, Some(2), "{}", done.all());
            assert!(
                done.stderr.contains("SOURCE_DATE_EPOCH should be a number of seconds"),
                "{}",
                done.all()
            );
        }
    }
}
