//! A message is a row, however it comes: lines, files, folders, mbox, CSV, JSON Lines, Parquet; and the same label.

use crate::bench::Bench;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

const NEW: [&str; 4] =
    ["WIN a FREE prize, txt now", "see you\nat home, mum", "free \"cash\" now; win", "home at six, see you"];

fn is_spam(row: usize) -> bool {
    row.is_multiple_of(2)
}

fn words(row: usize) -> String {
    let of = |all: [&'static str; 4], step: usize| all[row / 2 * step % 4];
    if is_spam(row) {
        let (first, second) =
            (of(["win", "free", "prize", "cash"], 1), of(["txt", "now", "prize", "free"], 3));
        format!("{first} a {second} today {first} for all of you now n{row}")
    } else {
        let (first, second) = (of(["see", "home", "mum", "six"], 1), of(["you", "at", "home", "dinner"], 3));
        format!("{first} the {second} today {first} with all of you later n{row}")
    }
}

fn label(row: usize) -> &'static str {
    if is_spam(row) { "spam" } else { "ham" }
}

fn cell(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// Three models of the same messages: of lines, of files, and of a column.
fn bench() -> Bench {
    let bench = Bench::new();
    let (mut lines, mut table) = (String::new(), "label,text\n".to_owned());
    for row in 0..60 {
        let _ = writeln!(lines, "{}\t{}", label(row), words(row));
        let _ = writeln!(table, "{},{}", label(row), cell(&words(row)));
        fs::create_dir_all(bench.path(&format!("all/{}", label(row)))).unwrap();
        bench.write(&format!("all/{}/{row:02}", label(row)), words(row));
    }
    bench.write("t.tsv", lines);
    bench.write("t.csv", table);
    for (data, model) in [("t.tsv", "lines"), ("all", "files"), ("t.csv", "column")] {
        bench.ok(&format!("rosenblatt train {data} --algorithm perceptron --model {model}.model"));
    }
    // The same messages in every form; a line has no line breaks.
    bench.write("new.txt", NEW.map(|text| text.replace('\n', " ") + "\n").concat());
    let mut csv = "id,text\n".to_owned();
    let (mut one, mut json, mut mbox) = ("text\n".to_owned(), String::new(), String::new());
    fs::create_dir_all(bench.path("new")).unwrap();
    for (row, text) in NEW.into_iter().enumerate() {
        let _ = writeln!(csv, "{row},{}", cell(text));
        let _ = writeln!(one, "{}", cell(text));
        let _ = writeln!(json, "{}", serde_json::json!({ "id": row, "text": text }));
        let _ = writeln!(mbox, "From a@b Mon Jan  1\nTo: b\n\n{text}\n");
        bench.write(&format!("new/{row}.eml"), format!("From: a\nTo: b\n\n{text}\n"));
    }
    bench.write("new.csv", csv);
    bench.write("one.csv", one);
    bench.write("new.jsonl", json);
    bench.write("new.mbox", mbox);
    // Another program wrote these.
    for name in ["messages.parquet", "messages.arrow"] {
        let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/tests/data");
        fs::copy(samples.join(name), bench.path(name)).unwrap();
    }
    bench
}

#[test]
fn the_label_is_the_same_whichever_way_a_message_came() {
    let bench = bench();
    for model in ["lines", "files", "column"] {
        let predict = |file: &str| bench.ok(&format!("rosenblatt predict {file} --model {model}.model"));
        let expected = "spam\nham\nspam\nham\n";
        for file in [
            "new.csv",
            "new.jsonl",
            "new.mbox",
            "new",
            "new/0.eml new/1.eml new/2.eml new/3.eml",
            "one.csv",
            "messages.parquet",
            "messages.arrow",
            "new.txt --format text",
            "- --format csv < new.csv",
            "- < new.jsonl",
            "- < new.csv",
        ] {
            assert_eq!(predict(file), expected, "{model}: {file}");
        }
        if model != "files" {
            assert_eq!(predict("new.txt"), expected, "{model}: lines");
        }
    }
}

#[test]
fn labelled_tables_are_evaluated() {
    let bench = bench();
    for model in ["lines", "files", "column"] {
        for data in ["t.csv", "t.tsv", "all"] {
            let printed = bench.ok(&format!("rosenblatt evaluate {data} --model {model}.model --json"));
            let printed: serde_json::Value = serde_json::from_str(&printed).unwrap();
            assert_eq!(printed["accuracy"].as_f64(), Some(1.0), "{model}, {data}: {printed}");
        }
    }
}

#[test]
fn what_may_be_several_things_is_refused_with_the_cure() {
    let bench = bench();
    bench.write("two.csv", "first,second\n\"a b, c\",d e\n\"f g\",h i\n");
    bench.write("bare.csv", "some words here\nand others there\nat last these\n");
    bench.write("text", "text\nwin a prize\n");
    for (line, cure) in [
        ("two.csv --model lines.model", "--text"),
        ("bare.csv --model lines.model", "--header"),
        ("text --model lines.model", "--format csv"),
        ("bare.csv --model files.model", "--format message"),
    ] {
        let done = bench.run(&format!("rosenblatt predict {line}"));
        assert!(done.code == Some(1) && done.stderr.contains(cure), "{line}\n{}", done.all());
    }
    assert_eq!(bench.ok("rosenblatt predict two.csv --model lines.model --text second").lines().count(), 2);
    assert_eq!(bench.ok("rosenblatt predict bare.csv --model lines.model --header no").lines().count(), 3);
    assert_eq!(
        bench.ok("rosenblatt predict bare.csv --model files.model --format message").lines().count(),
        1
    );
}

#[test]
fn odd_bytes_are_spaces_and_counted() {
    let bench = bench();
    bench.write("n.eml", "Subject: x\n\nfree \0 cash win\u{1}now\n");
    for model in ["lines", "files", "column"] {
        let done = bench.run(&format!("rosenblatt predict n.eml --model {model}.model"));
        assert_eq!((done.code, done.stdout.as_str()), (Some(0), "spam\n"), "{}", done.all());
        assert!(
            done.stderr.contains("2 control character(s) in 1 text(s) were read as spaces"),
            "{}",
            done.all()
        );
    }
    bench.write("all/ham/00", "see you\0at home, and dinner at six with all of you later n{row}");
    let done = bench.run("rosenblatt train all --algorithm perceptron --model z.model");
    assert_eq!(done.code, Some(0), "{}", done.all());
    assert!(done.all().contains("1 control character(s) in 1 text(s) were read as spaces"), "{}", done.all());
}

#[test]
fn two_columns_are_a_table_where_one_holds_texts_and_none_labels() {
    let bench = bench();
    bench.write("one.tsv", "id\ttext\n1\twin a free prize\n2\tsee you at home\n");
    bench.write("two.tsv", "text\tid\nwin a free prize\t1\nsee you at home\t2\n");
    bench.ok("cp one.tsv one.txt; cp two.tsv two.csv");
    for model in ["lines", "files", "column"] {
        for file in ["one.tsv", "two.tsv", "one.txt", "two.csv"] {
            let predicted = bench.ok(&format!("rosenblatt predict {file} --model {model}.model"));
            assert_eq!(predicted, "spam\nham\n", "{model}: {file}");
        }
    }
}

#[test]
fn files_of_several_formats_are_refused_before_the_first_label() {
    let bench = bench();
    bench.write("plain.txt", "win a free prize\nsee you at home\n");
    for (files, model) in [
        ("new/0.eml new.csv", "lines"),
        ("new/0.eml new.csv", "column"),
        ("new/0.eml new.csv", "files"),
        ("plain.txt new.csv", "lines"),
        ("plain.txt new/0.eml", "lines"),
        ("new.csv new/0.eml", "lines"),
        ("new/0.eml new.jsonl", "lines"),
    ] {
        let done = bench.run(&format!("rosenblatt predict {files} --model {model}.model"));
        let printed = format!("{files}, {model}\n{}", done.all());
        assert!(done.code == Some(1) && done.stdout.is_empty(), "{printed}");
        assert!(
            done.stderr.contains("as in the first file") && done.stderr.contains("--format"),
            "{printed}"
        );
    }
    let both = bench.ok("rosenblatt predict plain.txt new.txt --model lines.model");
    assert_eq!(both.lines().count(), 6);
    let named = bench.ok("rosenblatt predict new/0.eml plain.txt --format message --model lines.model");
    assert_eq!(named.lines().count(), 2);
}

#[test]
fn what_is_no_message_a_line_is_refused() {
    let bench = bench();
    let objects = "[{\"text\": \"free cash\"}, {\"text\": \"see you\"}]\n";
    let pretty = "[\n  {\n    \"text\": \"free cash\"\n  },\n  {\n    \"text\": \"see you\"\n  }\n]\n";
    for (file, text) in [
        ("a.json", objects),
        ("a.txt", objects),
        ("b.json", pretty),
        ("b.txt", pretty),
        ("c.txt", "{\n  \"text\": \"free cash\"\n}\n"),
        ("d.mbox", "From a@b Mon Jan  1\n\nfree cash\n\nFrom a@b Mon Jan  1\n\nsee you\n"),
        ("e.txt", "1 3:1 11:1\n-1 5:1 7:1\n"),
        ("f.txt", "1 | free cash\n-1 | see you\n"),
        ("g.conll", "the D\ncat N\n"),
    ] {
        bench.write(file, text);
        let done = bench.run(&format!("rosenblatt predict {file} --model lines.model"));
        let printed = format!("{file}\n{}", done.all());
        assert!(done.code == Some(1) && done.stdout.is_empty(), "{printed}");
        assert!(done.stderr.contains("--format text"), "{printed}");
    }
    // One message may look like a row, or begin as JSON does.
    for (file, text) in [
        ("h.txt", "7 12:30\nsee you at home\n"),
        ("i.txt", "[song] free cash\nsee you\n"),
        ("j.txt", "{free} cash\nsee | you\n"),
        ("k.txt", "meet 12:30\nsee you\n"),
        ("a.json --format text", objects),
    ] {
        if !file.contains(' ') {
            bench.write(file, text);
        }
        let lines = bench.ok(&format!("rosenblatt predict {file} --model lines.model"));
        assert_eq!(lines.lines().count(), text.lines().count(), "{file}");
    }
}
