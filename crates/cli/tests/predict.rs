//! `rosenblatt predict`: distances, votes and reasons, as CSV and as JSON Lines.

use crate::bench::Bench;
use serde_json::Value;

const TABLE: &str = "x,z,class\n4,0,dot\n1,1,star\n0,1,star\n-2,-2,dot\n5,-1,dot\n0,3,star\n";

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("t.csv", TABLE);
    bench.write("new.csv", "x,z\n6,0\n0,4\n");
    bench.ok("rosenblatt train t.csv --holdout 0 --scale none --model t.model");
    bench.ok("rosenblatt train t.csv --holdout 0 --scale none --readout voted --model voted.model");
    bench
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn distance_is_the_score_over_the_length_of_the_weights() {
    let bench = bench();
    let weights = bench.ok("rosenblatt inspect t.model --weights");
    let number = |line: &str| -> f64 { line.rsplit_once(',').unwrap().1.parse().unwrap() };
    let numbers: Vec<f64> = weights.lines().skip(1).map(number).collect();
    let norm = (numbers[1] * numbers[1] + numbers[2] * numbers[2]).sqrt();
    let rows = lines(&bench.ok("rosenblatt predict new.csv --model t.model --scores --distance --json"));
    for (row, values) in rows.iter().zip([[6.0, 0.0], [0.0, 4.0]]) {
        let score = numbers[1] * values[0] + numbers[2] * values[1] + numbers[0];
        assert!((row["scores"][0].as_f64().unwrap() - score).abs() < 1e-9, "{row}");
        assert!((row["distance"].as_f64().unwrap() - score / norm).abs() < 1e-9, "{row}");
    }
    let table = bench.ok("rosenblatt predict new.csv --model t.model --distance");
    assert!(table.starts_with("class,distance\ndot,-"), "{table}");
}

#[test]
fn columns_of_the_rows_are_kept_beside_the_classes() {
    let bench = bench();
    bench.ok("rosenblatt train t.csv --holdout 0 --scale none --missing drop --model t.model");
    bench.write("ids.csv", "id,x,note,z\n007,6,\"a, b\",0\n1.10,,late,4\n007,0,,4\n");
    let plain = bench.ok("rosenblatt predict ids.csv --model t.model");
    let classes: Vec<&str> = plain.lines().collect();
    assert_eq!(classes, ["dot", "", "star"]);
    let kept = bench.ok("rosenblatt predict ids.csv --model t.model --keep id --keep note");
    assert_eq!(kept, "id,note,class\n007,\"a, b\",dot\n1.10,late,\n007,,star\n");
    assert_eq!(bench.ok("cat ids.csv | rosenblatt predict - --model t.model --keep id --keep note"), kept);
    let objects = lines(&bench.ok("rosenblatt predict ids.csv --model t.model --keep id --json"));
    assert_eq!(objects[0]["kept"]["id"], "007");
    assert_eq!(objects[1]["kept"]["id"], "1.10");
    assert_eq!(objects[1]["left-out"], "missing");
    assert_eq!(objects[2]["class"], "star");
    // As it is written, whatever is a number there.
    bench.write("odd.csv", "id,x,z\n1.0,6,0\n1,6,0\nNaN,6,0\n1e2,6,0\n9007199254740993,6,0\n");
    assert_eq!(
        bench.ok("rosenblatt predict odd.csv --model t.model --keep id"),
        "id,class\n1.0,dot\n1,dot\nNaN,dot\n1e2,dot\n9007199254740993,dot\n"
    );
    bench.write(
        "odd.jsonl",
        "{\"x\":6,\"z\":0,\"id\":9007199254740993}\n{\"x\":6,\"z\":0,\"id\":null}\n{\"x\":6,\"z\":0,\"id\":\" a\"}\n",
    );
    assert_eq!(
        bench.ok("rosenblatt predict odd.jsonl --model t.model --keep id"),
        "id,class\n9007199254740993,dot\n,dot\n\" a\",dot\n"
    );
    // By number, and what there is not.
    let by_number = bench.ok("rosenblatt predict ids.csv --model t.model --keep 1");
    assert!(by_number.starts_with("1,class\n007,dot\n"), "{by_number}");
    let done = bench.run("rosenblatt predict ids.csv --model t.model --keep customer");
    assert_eq!(done.code, Some(1), "{}", done.stderr);
    assert!(done.stderr.contains("`customer`"), "{}", done.stderr);
    bench.write("class.csv", "class,x,z\nfirst,6,0\n");
    let done = bench.run("rosenblatt predict class.csv --model t.model --keep class");
    assert_eq!(done.code, Some(2), "{}", done.stderr);
    assert!(done.stderr.contains("two columns called `class`"), "{}", done.stderr);
}

#[test]
fn one_picture_alone_is_labelled() {
    let bench = Bench::new();
    let picture = |name: &str, pixels: [u8; 4]| {
        let path = bench.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, [&b"P5\n2 2\n255\n"[..], &pixels].concat()).unwrap();
    };
    for i in 0..4 {
        picture(&format!("faces/left/{i}.pgm"), [200 + i, 0, 200, i]);
        picture(&format!("faces/right/{i}.pgm"), [i, 200, 0, 200 + i]);
    }
    bench.ok("rosenblatt train faces --holdout 0 --model faces.model");
    picture("new/one.pgm", [240, 10, 230, 5]);
    picture("new/two.pgm", [1, 240, 10, 230]);
    assert_eq!(bench.ok("rosenblatt predict new/one.pgm --model faces.model"), "left\n");
    assert_eq!(bench.ok("rosenblatt predict new --model faces.model"), "left\nright\n");
    assert_eq!(bench.ok("cat new/two.pgm | rosenblatt predict - --model faces.model"), "right\n");
    std::fs::write(bench.path("wide.pgm"), b"P5\n3 1\n255\nabc").unwrap();
    let done = bench.run("rosenblatt predict wide.pgm --model faces.model");
    assert_eq!(done.code, Some(1));
    assert!(done.stderr.contains("3x1 pixels, expected 2x2"), "{}", done.stderr);
    let done = bench.run("rosenblatt train new/one.pgm");
    assert!(done.stderr.contains("folder per class"), "{}", done.stderr);
}

#[test]
fn votes_are_counted_on_both_sides() {
    let bench = bench();
    let table = bench.ok("rosenblatt predict new.csv --model voted.model --votes");
    assert!(table.starts_with("class,votes for,votes against\ndot,"), "{table}");
    for row in lines(&bench.ok("rosenblatt predict new.csv --model voted.model --votes --scores --json")) {
        let votes = |side: &str| row["votes"][side].as_i64().unwrap();
        assert!(votes("for") > votes("against"), "{row}");
        let lead = row["scores"][0].as_f64().unwrap().abs() as i64;
        assert_eq!(votes("for") - votes("against"), lead, "{row}");
    }
}

#[test]
fn reasons_add_up_to_the_score() {
    let bench = bench();
    let rows = lines(&bench.ok("rosenblatt predict new.csv --model t.model --explain 9 --scores --json"));
    let weights = bench.ok("rosenblatt inspect t.model --weights");
    let bias: f64 = weights.lines().nth(1).unwrap().rsplit_once(',').unwrap().1.parse().unwrap();
    for row in &rows {
        let shares = ["for", "against"].into_iter().flat_map(|side| row[side].as_array().unwrap());
        let sum: f64 = shares.map(|share| share["contribution"].as_f64().unwrap()).sum();
        let side = if row["class"] == "star" { 1.0 } else { -1.0 };
        let score = row["scores"][0].as_f64().unwrap();
        assert!((sum + side * bias - side * score).abs() < 1e-9, "{row}");
        assert!((sum + row["base"].as_f64().unwrap() - side * score).abs() < 1e-9, "{row}");
    }
    assert_eq!(rows[0]["for"][0]["feature"], "x");
    assert_eq!(rows[1]["for"][0]["feature"], "z");
    let table = bench.ok("rosenblatt predict new.csv --model t.model --explain 1");
    assert!(table.starts_with("class,contributions for,contributions against\ndot,x +"), "{table}");
    bench.write("odd.csv", "\"a,b\",class\n1,\"yes, sir\"\n-1,no\n2,\"yes, sir\"\n");
    bench.ok("rosenblatt train odd.csv --holdout 0 --scale none --model odd.model");
    let odd = bench.ok("printf '\"a,b\"\\n3\\n' | rosenblatt predict - --model odd.model --explain 1");
    assert!(odd.contains("\n\"yes, sir\",\"a,b +"), "{odd}");
}

#[test]
fn json_alone_is_a_class_per_line() {
    assert_eq!(
        bench().ok("rosenblatt predict new.csv --model t.model --json"),
        "{\"class\":\"dot\"}\n{\"class\":\"star\"}\n"
    );
}

#[test]
fn what_a_model_cannot_tell_is_said_before_anything_is_read() {
    let bench = bench();
    bench.ok("rosenblatt train crates/data/bundled/iris.csv --holdout 0 --model iris.model");
    bench.ok("rosenblatt train crates/data/bundled/banknote.csv --calibrate none --model plain.model");
    for (line, expected) in [
        ("--model voted.model --distance", "`--distance` needs one hyperplane"),
        ("--model t.model --votes", "`--votes` needs a model that votes, but this one is read out averaged"),
        ("--model iris.model --distance", "needs a model of two classes, but this one has 3"),
        (
            "--model plain.model --probabilities",
            "needs a calibrated model, but this one has no calibration\nhelp: train",
        ),
    ] {
        let done = bench.run(&format!("rosenblatt predict missing.csv {line}"));
        assert_eq!(done.code, Some(1), "{line}\n{}", done.all());
        assert!(done.stderr.contains(expected), "{line}\n{}", done.stderr);
        assert_eq!(done.stdout, "", "{line}");
    }
}

#[test]
fn probabilities_come_from_calibration_and_add_up() {
    let bench = Bench::new();
    let banknote = "crates/data/bundled/banknote.csv";
    for (flags, method) in [("", "platt"), ("--calibrate isotonic", "isotonic"), ("--folds 4", "platt")] {
        let report = bench.ok(&format!("rosenblatt train {banknote} --model b.model {flags}"));
        assert!(report.contains(&format!("probabilities: {method}, fitted on ")), "{report}");
        let rows = lines(
            &bench.ok(&format!("rosenblatt predict {banknote} --model b.model --probabilities --json")),
        );
        for row in &rows {
            let share = |class: &str| row["probabilities"][class].as_f64().unwrap();
            assert!((share("0") + share("1") - 1.0).abs() < 1e-9, "{row}");
        }
        let judged = bench.ok(&format!("rosenblatt evaluate {banknote} --model b.model"));
        assert!(judged.contains("probabilities: Brier score 0.0"), "{judged}");
    }
    bench.ok("rosenblatt train crates/data/bundled/iris.csv --model iris.model");
    let table =
        bench.ok("rosenblatt predict crates/data/bundled/iris.csv --model iris.model --probabilities");
    assert!(
        table.starts_with("class,probability setosa,probability versicolor,probability virginica\nsetosa,"),
        "{table}"
    );
    let none = bench.run("rosenblatt train crates/data/bundled/iris.csv --holdout 0 --calibrate platt");
    assert_eq!(none.code, Some(2), "{}", none.all());
    assert!(none.stderr.contains("--folds 5"), "{}", none.stderr);
}

#[test]
fn several_classes_are_voted_on_and_votes_are_explained() {
    let bench = Bench::new();
    let iris = "crates/data/bundled/iris.csv";
    for (multiclass, heads) in [
        ("one-vs-rest", "votes setosa,votes versicolor,votes virginica"),
        ("direct-max", "votes setosa,votes versicolor,votes virginica"),
        (
            "one-vs-one",
            "votes setosa against versicolor,votes setosa against virginica,votes versicolor against virginica",
        ),
    ] {
        bench.ok(&format!(
            "rosenblatt train {iris} --readout voted --multiclass {multiclass} --model v.model"
        ));
        let table = bench.ok(&format!("rosenblatt predict {iris} --model v.model --votes --explain 1"));
        assert!(
            table.starts_with(&format!("class,{heads},contributions for,contributions against\n")),
            "{table}"
        );
        assert_eq!(table.lines().count(), 151);
        let line = table.lines().nth(1).unwrap();
        assert!(line.contains("petal_"), "{line}");
    }
}

#[test]
fn predictions_are_written_in_every_form_and_read_back_alike() {
    let bench = Bench::new();
    let iris = "crates/data/bundled/iris.csv";
    bench.ok(&format!("rosenblatt train {iris} --model iris.model"));
    let predict = format!("rosenblatt predict {iris} --model iris.model --probabilities --scores");
    let csv = bench.ok(&predict);
    for name in ["out.csv", "out.jsonl", "out.parquet", "out.csv.gz"] {
        assert_eq!(bench.ok(&format!("{predict} --output {name}")), "", "{name}");
    }
    assert_eq!(bench.ok("cat out.csv"), csv);
    assert_eq!(bench.ok("gunzip -c out.csv.gz"), csv);
    assert_eq!(bench.ok("wc -l < out.jsonl").trim(), "150");
    assert_eq!(bench.ok(&format!("{predict} --to csv --output -")), csv);
    assert_eq!(bench.ok(&format!("cat {iris} | {}", predict.replace(iris, "-"))), csv);
    // The labels that were predicted, learned from the scores, in both formats.
    for name in ["out.csv", "out.parquet"] {
        bench.ok(&format!("rosenblatt train {name} --label class --model {name}.model --precision f64"));
    }
    let weights = |name: &str| bench.ok(&format!("rosenblatt inspect {name}.model --weights"));
    assert_eq!(weights("out.csv").lines().count(), weights("out.parquet").lines().count());
    for (line, expected) in [
        ("--output out.xyz", "does not tell how to write"),
        ("--to xml", "`--to` should be one of lines, csv, jsonl, parquet"),
        ("--scores --to lines", "a line holds a class and nothing else"),
    ] {
        let done = bench.run(&format!("rosenblatt predict {iris} --model iris.model {line}"));
        assert_eq!(done.code, Some(2), "{}", done.all());
        assert!(done.stderr.contains(expected), "{}", done.stderr);
    }
    assert_eq!(bench.ok("ls -A | grep tmp || true"), "");
}

#[test]
fn rows_that_are_skipped_or_dropped_keep_their_lines() {
    let bench = bench();
    bench.write("bad.csv", "x,z\n?!,1\n6,0\n,2\n1,b\n0,4\n7\n");
    let done = bench.run("rosenblatt predict bad.csv --model t.model --skip-bad-rows");
    assert_eq!((done.code, done.stdout.as_str()), (Some(0), "\ndot\n\n\nstar\n\n"), "{}", done.stderr);
    assert!(done.stderr.contains("4 row(s) cannot be read and were skipped ("), "{}", done.stderr);
    assert!(done.stderr.contains("first: bad.csv:2:1: "), "{}", done.stderr);
    let table = bench.ok("rosenblatt predict bad.csv --model t.model --skip-bad-rows --scores");
    let cells: Vec<&str> = table.lines().map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(cells, ["class", "", "dot", "", "", "star", ""]);
    let objects = lines(&bench.ok("rosenblatt predict bad.csv --model t.model --skip-bad-rows --json"));
    assert_eq!(objects.len(), 6);
    assert_eq!((&objects[0]["class"], &objects[1]["class"]), (&Value::Null, &Value::from("dot")));
    assert_eq!(objects[0]["left-out"], "number");
    bench.ok("rosenblatt predict bad.csv --model t.model --skip-bad-rows --output out.parquet");
    bench.write("labelled.csv", "x,z,class\n?!,1,dot\n6,0,dot\n0,4,star\n");
    let done = bench.run("rosenblatt evaluate labelled.csv --model t.model --skip-bad-rows");
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert!(done.stderr.contains("1 row(s) cannot be read and were skipped (number 1)"), "{}", done.stderr);
    let (head, rows) = TABLE.split_once('\n').unwrap();
    bench.write("train.csv", format!("{head}\n{}1,1\n", rows.repeat(20)));
    let report = bench.ok("rosenblatt train train.csv --skip-bad-rows --model s.model");
    assert!(
        report.contains("note: 1 row(s) cannot be read and were skipped (shape 1); first: train.csv:122:"),
        "{report}"
    );
}

#[test]
fn a_message_has_one_label_through_file_folder_and_pipe() {
    let bench = Bench::new();
    let write = |name: &str, text: &[u8]| {
        let path = bench.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let mail =
        |words: &str| format!("From: a@b\nSubject: {words}\nTo: c@d\n\n{words}\nregards\n\nx\n").into_bytes();
    for row in 0..12 {
        write(&format!("all/mail/spam/{row}"), &mail("win free cash prize"));
        write(&format!("all/mail/ham/2024/{row}"), &mail("see you at lunch"));
    }
    write("all/mail/ham/latin", b"see you at caf\xE9, lunch is on me\nbye\n");
    let report = bench.ok("rosenblatt train all --holdout 0 --model mail.model");
    assert!(report.contains("note: the classes are the folders of `all/mail`"), "{report}");
    assert!(report.contains("note: 1 text(s) are not UTF-8 and were read as Windows-1252"), "{report}");
    write("new/1", &mail("free cash"));
    write("new/2", b"see you\nat lunch\n");
    write("new/3", b"a prize\nto win\n\nfree\n");
    assert_eq!(bench.ok("rosenblatt predict new --model mail.model"), "spam\nham\nspam\n");
    for (name, label) in [("1", "spam\n"), ("2", "ham\n"), ("3", "spam\n")] {
        assert_eq!(bench.ok(&format!("rosenblatt predict new/{name} --model mail.model")), label);
        assert_eq!(bench.ok(&format!("cat new/{name} | rosenblatt predict - --model mail.model")), label);
    }
    // A model of lines labels lines, and a mail as a whole, through a pipe too.
    write("lines.tsv", "spam\twin free cash\nham\tsee you at lunch\n".repeat(10).as_bytes());
    bench.ok("rosenblatt train lines.tsv --holdout 0 --model lines.model");
    assert_eq!(bench.ok("cat new/2 | rosenblatt predict - --model lines.model"), "ham\nham\n");
    assert_eq!(bench.ok("cat new/1 | rosenblatt predict - --model lines.model"), "spam\n");
    assert_eq!(bench.ok("rosenblatt predict new/3 --format message --model lines.model"), "spam\n");
}
