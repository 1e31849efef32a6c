//! `rosenblatt convert`: the same rows in other clothes.

use crate::bench::Bench;
use std::fs;

#[test]
fn a_table_becomes_libsvm_and_back() {
    let bench = Bench::new();
    bench.write("pets.csv", "legs,weight,label\n4,3.5,cat\n2,0.1,bird\n");
    assert_eq!(bench.ok("rosenblatt convert pets.csv pets.svm"), "pets.svm: 2 rows\n");
    assert_eq!(fs::read_to_string(bench.path("pets.svm")).unwrap(), "cat 1:4 2:3.5\nbird 1:2 2:0.1\n");
    bench.ok("rosenblatt convert pets.csv zero.txt --to libsvm --to-zero-based");
    assert_eq!(fs::read_to_string(bench.path("zero.txt")).unwrap(), "cat 0:4 1:3.5\nbird 0:2 1:0.1\n");
    let json = bench.ok("cat pets.svm | rosenblatt convert - back.csv.gz --format libsvm --json");
    assert_eq!(json, "{\"source\":\"stdin\",\"written\":[{\"path\":\"back.csv.gz\",\"rows\":2}]}\n");
    let back = bench.ok("gzip -dc back.csv.gz");
    assert!(back.contains("cat") && back.contains("3.5"), "{back}");
}

#[test]
fn a_split_takes_its_share_of_every_class_and_a_shuffle_keeps_all_rows() {
    let bench = Bench::new();
    let line = "rosenblatt convert crates/data/bundled/iris.csv train.svm --split 0.2 --test-out test.svm \
                --shuffle --seed 3";
    assert_eq!(bench.ok(line), "train.svm: 120 rows\ntest.svm: 30 rows\n");
    let per_class = bench.ok("cut -d' ' -f1 test.svm | sort | uniq -c | sed 's/^ *//' | cut -d' ' -f1");
    assert_eq!(per_class, "10\n10\n10\n");
    bench.ok("rosenblatt convert crates/data/bundled/iris.csv all.svm");
    assert_eq!(bench.ok("cat train.svm test.svm | sort"), bench.ok("sort all.svm"));
    let first = fs::read(bench.path("train.svm")).unwrap();
    bench.ok(line);
    assert_eq!(fs::read(bench.path("train.svm")).unwrap(), first, "the same seed, the same rows");
    bench.ok(&line.replace("--seed 3", "--seed 4"));
    assert_ne!(fs::read(bench.path("train.svm")).unwrap(), first);
}

#[test]
fn every_format_goes_to_files_and_pipes() {
    let bench = Bench::new();
    bench.write("pets.csv", "legs,weight,label\n4,3.5,cat\n2,0.25,bird\n0,0,fish\n");
    let plain = bench.ok("rosenblatt convert pets.csv - --to csv");
    assert_eq!(plain, "label,legs,weight\ncat,4,3.5\nbird,2,0.25\nfish,0,0\n");
    let json = bench.ok("rosenblatt convert pets.csv - --to jsonl | head -1");
    assert_eq!(json, "{\"label\":\"cat\",\"legs\":4,\"weight\":3.5}\n");
    let vw = bench.ok("rosenblatt convert pets.csv - --to vw");
    assert_eq!(vw, "cat | legs:4 weight:3.5\nbird | legs:2 weight:0.25\nfish | legs:0 weight:0\n");
    for name in ["a.svm", "a.jsonl", "a.vw", "a.npz", "a.parquet", "a.arrow", "a.arrows", "a.csv.zst"] {
        bench.ok(&format!("rosenblatt convert pets.csv {name}"));
        let back = bench.ok(&format!("rosenblatt convert {name} - --to csv"));
        let rows = |text: &str| text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(rows(&back), rows(&plain), "{name}");
    }
    let done = bench.run("rosenblatt convert pets.csv a.npy");
    assert_eq!(done.code, Some(1));
    assert!(done.stderr.contains("write .npz"), "{}", done.stderr);
    let done = bench.run("rosenblatt convert pets.csv - --to parquet | rosenblatt convert - - --to libsvm");
    assert_eq!(done.stdout, "cat 1:4 2:3.5\nbird 1:2 2:0.25\nfish\n", "{}", done.stderr);
}

#[test]
fn what_cannot_be_written_is_said_before_anything_is_read() {
    let bench = Bench::new();
    for (line, expected) in [
        ("missing.csv out.xyz", "the name does not tell the format to write"),
        (
            "missing.csv out.csv --to xls",
            "`--to` should be one of libsvm, csv, tsv, jsonl, vw, npy, npz, parquet",
        ),
        ("missing.csv -", "expected `--to NAME`"),
        ("missing.csv a.csv --split 1.5 --test-out b.csv", "`--split` should be between 0 and 1, but is 1.5"),
        ("missing.csv a.csv --split 0.5 --test-out a.csv", "the test rows would be written over the output"),
        ("missing.csv a.csv --split 0.5", "--test-out"),
    ] {
        let done = bench.run(&format!("rosenblatt convert {line}"));
        assert_eq!(done.code, Some(2), "{line}\n{}", done.all());
        assert!(done.stderr.contains(expected), "{line}\n{}", done.stderr);
    }
    assert_eq!(bench.run("rosenblatt convert missing.csv out.csv").code, Some(1));
}
