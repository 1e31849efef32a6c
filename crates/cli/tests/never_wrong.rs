//! Never silently wrong: a section for each thing that may be taken wrongly, with what a person sees. What is shown here
//! in one case is held in all formats by the tests of the data crate; messages, skipped rows and pictures are in
//! `predict.rs`, the label and the majority in `recipe.rs`, signals in `safety.rs`.

use crate::bench::{Bench, Done};
use std::fmt::Write as _;

/// Rows `x,k,z,y` of two classes that overlap, without chance.
fn table(n_rows: usize) -> String {
    let mut text = "x,k,z,y\n".to_owned();
    for row in 0..n_rows {
        let is_yes = row % 3 == 0;
        let x = (row * 37 % 101) as f64 / 50.0 + if is_yes { 0.8 } else { 0.0 };
        let (kind, z) = (["a", "b", "c"][row / 3 % 3], (row * 53 % 97) as f64 / 97.0);
        let _ = writeln!(text, "{x:.2},{kind},{z:.3},{}", if is_yes { "yes" } else { "no" });
    }
    text
}

/// The table with one more column.
fn with_column(table: &str, name: &str, cell: impl Fn(usize, &str) -> String) -> String {
    let lines = table.lines().enumerate().map(|(number, line)| {
        let (rest, label) = line.rsplit_once(',').unwrap();
        let cell = if number == 0 { name.to_owned() } else { cell(number - 1, label) };
        format!("{rest},{cell},{label}\n")
    });
    lines.collect()
}

fn says(done: &Done, expected: &str) {
    assert!(done.all().contains(expected), "expected {expected:?} in\n{}", done.all());
}

fn refused(bench: &Bench, line: &str, expected: &str) {
    let done = bench.run(line);
    assert!(matches!(done.code, Some(1 | 2)), "{line}\n{}", done.all());
    says(&done, expected);
}

const TRAIN: &str = "rosenblatt train t.csv --model t.model";

// Say and check what was taken for what.

#[test]
fn a_column_that_alone_decides_the_label_is_named() {
    let bench = Bench::new();
    let plain = table(120);
    let note = "note: the label is decided by column `late` alone";
    for leak in [
        with_column(&plain, "late", |_, label| if label == "yes" { "paid" } else { "due" }.to_owned()),
        with_column(&plain, "late", |row, label| {
            format!("{}", row % 9 + if label == "yes" { 40 } else { 0 })
        }),
    ] {
        bench.write("t.csv", leak);
        says(&bench.run(TRAIN), note);
    }
    bench.write("t.csv", plain);
    assert!(!bench.ok(TRAIN).contains("decided by"));
}

#[test]
fn each_column_is_told_once() {
    let bench = Bench::new();
    let named = with_column(&table(120), "name", |row, _| format!("n{row} q"));
    bench.write("t.csv", with_column(&named, "fixed", |_, _| "same".to_owned()));
    let report = bench.ok(TRAIN);
    // After the first empty line it is about the outcome.
    let of_columns = report.lines().take_while(|line| !line.is_empty());
    let notes: Vec<&str> = of_columns.filter(|line| line.starts_with("note: ")).collect();
    assert_eq!(
        notes,
        [
            "note: read as categories: `k`",
            "note: the same in every row: `fixed`",
            "note: left out, as almost every row has a value of its own: `name` (120 values)",
        ]
    );
}

#[test]
fn a_short_list_in_which_names_return_is_categories_and_a_lone_name_is_a_slip() {
    let bench = Bench::new();
    let doors = |row: usize, _: &str| ["2", "3", "4", "more"][row % 4].to_owned();
    bench.write("t.csv", with_column(&table(120), "doors", doors));
    says(&bench.run(TRAIN), "note: read as categories: `k`, `doors`");
    let slip = |row: usize, _: &str| if row == 7 { "thre".to_owned() } else { (row % 4).to_string() };
    bench.write("t.csv", with_column(&table(120), "doors", slip));
    refused(&bench, TRAIN, "column `doors` should hold finite numbers, but holds `thre`");
}

#[test]
fn large_labels_and_leading_zeros_stay_what_they_are() {
    let bench = Bench::new();
    let rows = |label: &dyn Fn(usize) -> String| {
        let line = |row| format!("{{\"a\":{},\"label\":{}}}", row % 2, label(row));
        (0..40).map(line).collect::<Vec<_>>().join("\n")
    };
    bench.write("big.jsonl", rows(&|row| (9_007_199_254_740_992_u64 + row as u64 % 2).to_string()));
    bench.write("code.jsonl", rows(&|row| if row % 2 == 0 { "\"007\"" } else { "\"7\"" }.to_owned()));
    for (name, classes) in [("big", "9007199254740992 20, 9007199254740993 20"), ("code", "007 20, 7 20")] {
        for format in ["parquet", "arrow", "csv", "svm"] {
            bench.ok(&format!("rosenblatt convert {name}.jsonl {name}.{format}"));
        }
        for format in ["jsonl", "parquet", "arrow", "csv", "svm"] {
            let line = format!("rosenblatt train {name}.{format} -a perceptron --model t.model");
            says(&bench.run(&line), &format!("2 classes ({classes})"));
        }
    }
}

#[test]
fn a_late_value_that_would_be_rounded_is_not() {
    let bench = Bench::new();
    // Midnights, which single precision holds, and only then other times.
    let time = |row: usize, label: &str| {
        let day = 1_700_006_400 + 86_400 * (row as u64 % 20);
        format!(
            "{}",
            if row < 600 { day } else { day + row as u64 % 50 + if label == "yes" { 60 } else { 0 } }
        )
    };
    bench.write("t.csv", with_column(&table(900), "t", time));
    let report = bench.ok(&format!("{TRAIN} -a perceptron"));
    assert!(report.contains("single precision would round too much of `t`"), "{report}");
    // The model says so when it predicts, and a row alone has the class it has in a file.
    let all = bench.ok("rosenblatt predict t.csv --model t.model");
    let last = bench.ok("(head -1 t.csv; tail -1 t.csv) | rosenblatt predict - --model t.model");
    assert_eq!(all.lines().last(), last.lines().last());
}

// Honest estimates.

#[test]
fn rows_on_both_sides_of_a_split_are_counted() {
    let bench = Bench::new();
    let plain = table(90);
    let (head, rows) = plain.split_once('\n').unwrap();
    bench.write("t.csv", format!("{head}\n{rows}{rows}"));
    let report = bench.ok(&format!("{TRAIN} --holdout 0.2"));
    assert!(report.contains(" of 36 held-out rows repeat a training row"), "{report}");
    let report = bench.ok(&format!("{TRAIN} --folds 4 -a perceptron"));
    assert!(report.contains(" of 180 rows repeat a row of another fold"), "{report}");
    bench.write("t.csv", table(90));
    assert!(!bench.ok(TRAIN).contains(" repeat a "));
}

#[test]
fn judging_a_model_on_its_own_rows_is_said() {
    let bench = Bench::new();
    bench.write("t.csv", table(120));
    bench.write("other.csv", table(60));
    bench.ok(TRAIN);
    let note = "note: these are the rows it was trained from: expect more errors on new ones";
    says(&bench.run("rosenblatt evaluate t.csv --model t.model"), note);
    assert!(!bench.run("rosenblatt evaluate other.csv --model t.model").all().contains(note));
    bench.ok(&format!("{TRAIN} -a perceptron"));
    bench.ok("rosenblatt report t.csv --model t.model -o t.html");
    let page = std::fs::read_to_string(bench.path("t.html")).unwrap();
    let how = "each half of the rows judged by a fit on the other";
    assert!(page.contains(how), "the page says how its figures came about");
}

// Prediction that cannot be misaligned.

#[test]
fn columns_are_found_by_name_in_every_format_and_what_is_odd_is_told() {
    let bench = Bench::new();
    bench.write("t.csv", table(120));
    bench.ok(TRAIN);
    let expected = bench.ok("rosenblatt predict t.csv --model t.model");
    let columns = |order: &str| bench.ok(&format!("awk -F, -v OFS=, '{{print {order}}}' t.csv"));
    bench.write("turned.csv", columns("$3,$1,$2"));
    bench.write("more.csv", columns("$1,$3,$2,$3,$4").replacen("z,k,z", "extra,k,z", 1));
    bench.write("less.csv", columns("$1,$2"));
    bench.write("new.csv", columns("$1,$2,$3").replacen(",a,", ",q,", 1));
    bench.write("bare.csv", table(120).split_once('\n').unwrap().1);
    for name in ["turned", "more", "less", "new"] {
        let text = std::fs::read_to_string(bench.path(&format!("{name}.csv"))).unwrap();
        bench.write(&format!("{name}.tsv"), text.replace(',', "\t"));
        let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let names = lines.next().unwrap();
        let cell =
            |cell: &str| if cell.parse::<f64>().is_ok() { cell.to_owned() } else { format!("{cell:?}") };
        let object = |cells: Vec<&str>| {
            let pairs: Vec<String> =
                names.iter().zip(cells).map(|(name, value)| format!("{name:?}:{}", cell(value))).collect();
            format!("{{{}}}\n", pairs.join(","))
        };
        bench.write(&format!("{name}.jsonl"), lines.map(object).collect::<String>());
    }
    for format in ["csv", "tsv", "jsonl"] {
        let predict = |name: &str| bench.run(&format!("rosenblatt predict {name}.{format} --model t.model"));
        assert_eq!(predict("turned").stdout, expected, "{format}");
        let more = predict("more");
        assert_eq!(more.stdout, expected, "{format}");
        says(&more, "note: left out, as they were not learned from: `extra`");
        let new = predict("new");
        assert_eq!(new.stdout.lines().count(), 120, "{format}");
        says(&new, "1 cells hold categories that were not learned from, for instance `k=q`");
        refused(
            &bench,
            &format!("rosenblatt predict new.{format} --model t.model --unknown error"),
            "column `k` should hold a category that is known, but holds `q`",
        );
        assert_eq!(predict("less").code, Some(1), "{format}");
        says(&predict("less"), "column `z`");
    }
    assert_eq!(bench.ok("cat turned.csv | rosenblatt predict - --model t.model"), expected);
    refused(&bench, "rosenblatt predict bare.csv --model t.model", "the table has no header");
}

#[test]
fn names_and_numbers_of_features_are_not_taken_for_each_other() {
    let bench = Bench::new();
    bench.write("t.vw", "1 |a x:1 y:2\n-1 |a y:1 |b z:3\n".repeat(20));
    bench.write("t.svm", "1 1:1 2:2\n-1 2:1 3:3\n".repeat(20));
    for name in ["vw", "svm"] {
        bench.ok(&format!("rosenblatt train t.{name} --model {name}.model"));
    }
    let message = "features have no names of their own here, expected names";
    refused(&bench, "rosenblatt predict t.svm --model vw.model", message);
    refused(
        &bench,
        "rosenblatt predict t.vw --model svm.model",
        "features have names here, expected numbers",
    );
    bench.ok("rosenblatt convert t.svm t.npz");
    refused(&bench, "rosenblatt predict t.npz --model vw.model", message);
}

// Every file its own writer made can be read.

#[test]
fn what_convert_writes_gives_the_model_of_its_source() {
    let bench = Bench::new();
    let rows: String = (0..60)
        .map(|row| match row % 2 {
            0 => format!("-1 3:{} 7:2.5\n", row % 7 + 1),
            _ => format!("1 1:{} 2:0.5 5:1\n", row % 5 + 1),
        })
        .collect();
    bench.write("t.svm", rows);
    for format in ["jsonl", "parquet", "arrow"] {
        bench.ok(&format!("rosenblatt convert t.svm t.{format}"));
        for online in ["", "--online"] {
            let train = |name: &str| {
                bench.ok(&format!("rosenblatt train t.{name} {online} --model {name}.model"));
                std::fs::read(bench.path(&format!("{name}.model"))).unwrap()
            };
            assert_eq!(train("svm"), train(format), "{format} {online}");
            for (model, data) in [("svm", format), (format, "svm"), (format, format)] {
                let line = format!("rosenblatt evaluate t.{data} --model {model}.model");
                assert!(bench.ok(&line).starts_with("error rate: 0.0 % (0 of 60 rows"), "{line}");
                let line = format!("rosenblatt predict t.{data} --model {model}.model");
                assert_eq!(bench.ok(&line), "-1\n1\n".repeat(30), "{line}");
            }
        }
    }
}

#[test]
fn what_an_export_leaves_to_its_user_is_said() {
    let bench = Bench::new();
    bench.ok("rosenblatt train crates/data/bundled/sms-spam.tsv -a perceptron --model sms.model");
    let done = bench.run("rosenblatt inspect sms.model --export onnx sms.onnx");
    says(
        &done,
        "note: onnx: texts are not in it: its features are the words, weighted as the model file says",
    );
    bench.write("t.csv", table(120));
    let done = bench.run(&format!("{TRAIN} -a perceptron --calibrate isotonic --export onnx t.onnx"));
    says(&done, "note: onnx: categories are not in it");
    says(&done, "note: onnx: isotonic probabilities are not in it");
}

// What runs is what is printed.

#[test]
fn orders_that_cannot_be_followed_are_refused() {
    let bench = Bench::new();
    bench.write("t.csv", table(120));
    refused(&bench, &format!("{TRAIN} --order 'permutation(999)'"), "lists every row to learn from");
    refused(&bench, &format!("{TRAIN} -a minover --order given"), "`order` should be worst, or left out");
    bench.write("p.csv", "x,z,class\n4,0,a\n1,1,b\n0,1,b\n-2,-2,a\n");
    for rule in ["perceptron", "pa", "pa1", "arow", "alma", "romma", "logistic", "pegasos"] {
        let rounds = bench.ok(&format!("rosenblatt trace p.csv -a {rule} --rounds 1-4 --to csv"));
        let visited: Vec<&str> = rounds.lines().skip(1).filter_map(|line| line.split(',').nth(2)).collect();
        assert_eq!(visited, ["1", "2", "3", "4"], "{rule}\n{rounds}");
    }
}

#[test]
fn a_threshold_and_costs_decide_wherever_a_class_is_named() {
    let bench = Bench::new();
    bench.write("t.csv", table(300));
    // From which probability of `yes` on that class is named.
    for (flags, threshold) in [
        ("", 0.5),
        ("--threshold 0.8", 0.8),
        ("--threshold 0.2 -a perceptron", 0.2),
        ("--threshold 0.7 -a perceptron --calibrate isotonic --folds 3", 0.7),
        ("--cost yes=4", 0.2),
        ("--cost no:yes=3 --cost yes=1 -a pa1", 0.75),
        ("--cost balanced --holdout 0.1", 1.0 / 3.0),
    ] {
        bench.ok(&format!("{TRAIN} {flags}"));
        let printed = bench.ok("rosenblatt predict t.csv --model t.model --probabilities");
        for line in printed.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            let share: f64 = cells[2].parse().unwrap();
            let expected = if share > threshold { "yes" } else { "no" };
            assert!(cells[0] == expected || (share - threshold).abs() < 0.01, "{flags}: {line}");
        }
        // What is evaluated is what is predicted.
        let wrong =
            printed.lines().skip(1).zip(table(300).lines().skip(1).map(str::to_owned).collect::<Vec<_>>());
        let n_wrong =
            wrong.filter(|(printed, row)| printed.split(',').next() != row.rsplit(',').next()).count();
        let judged = bench.ok("rosenblatt evaluate t.csv --model t.model");
        assert!(judged.contains(&format!("({n_wrong} of 300 rows")), "{flags}: {n_wrong}\n{judged}");
    }
    for (flags, expected) in [
        ("--threshold 2", "it should be a share from 0 up to 1; did you mean 0.02?"),
        ("--cost maybe=3", "there is no class `maybe`; the classes are `no`, `yes`"),
        ("--threshold 0.6 --calibrate none", "weighed by probabilities, and none are fitted"),
        ("--threshold 0.6 --online", "weighed by probabilities, and none are fitted"),
        ("--threshold 0.6 --holdout 0 -a perceptron", "hold rows out with --holdout 0.2"),
    ] {
        refused(&bench, &format!("{TRAIN} {flags}"), expected);
    }
}

#[test]
fn a_start_from_a_model_goes_on_where_it_ended_or_is_refused() {
    let bench = Bench::new();
    bench.write("t.csv", table(120));
    let train = "rosenblatt train t.csv -a perceptron --order given --readout last --holdout 0 --patience 0";
    bench.ok(&format!("{train} --epochs 2 --model two.model"));
    bench.ok(&format!("{train} --epochs 1 --model one.model"));
    let report = bench.ok(&format!("{train} --epochs 1 --start-from one.model --model more.model"));
    assert!(report.contains("note: starts from a model that learned from 120 rows"), "{report}");
    assert!(report.contains("that model learned from these rows"), "{report}");
    let weights = |name: &str| bench.ok(&format!("rosenblatt inspect {name}.model --weights"));
    assert_eq!(weights("two"), weights("more"));
    assert_ne!(weights("one"), weights("more"));
    // A stream goes on, too.
    bench.ok("rosenblatt train t.csv --online --start-from one.model --model stream.model");
    bench.write("other.csv", table(120).replace(",yes", ",perhaps"));
    bench.write("less.csv", bench.ok("cut -d, -f1,2,4 t.csv"));
    bench.ok("rosenblatt train t.csv -a perceptron --readout voted --model voted.model");
    for (data, flags, expected) in [
        ("other", "--start-from one.model", "class `perhaps` is new here, expected one of no, yes"),
        ("less", "--start-from one.model", "column `z` is missing"),
        ("t", "--start-from voted.model", "it is a vote of many hyperplanes"),
        ("t", "--start-from one.model --bias none", "its bias is learned, and here none"),
        ("t", "--start-from one.model --kernel rbf", "plain weights"),
        ("t", "--start-from one.model -a svm-dual", "svm-dual solves for its weights"),
        ("t", "--start-from one.model -a auto", "a race starts from nothing"),
    ] {
        refused(&bench, &format!("rosenblatt train {data}.csv --model x.model {flags}"), expected);
    }
}

#[test]
fn crosses_are_learned_and_made_again_at_prediction() {
    let bench = Bench::new();
    // Neither column tells anything without the other.
    let (mut csv, mut vw) = ("p,q,n,y\n".to_owned(), String::new());
    for row in 0..240 {
        let (p, q, n) = (["a", "b", "c"][row % 3], ["u", "v", "w"][row / 3 % 3], row * 31 % 17);
        let is_up = (p == "a") == (q == "u") && (p == "b") == (q == "v");
        let _ = writeln!(csv, "{p},{q},{n},{}", if is_up { "up" } else { "down" });
        let _ = writeln!(vw, "{} |p {p} |q {q} |n n:{n}", if is_up { 1 } else { -1 });
    }
    bench.write("t.csv", csv);
    bench.write("t.vw", vw);
    for data in ["t.csv", "t.vw"] {
        let train = |flags: &str| {
            bench.ok(&format!("rosenblatt train {data} --model t.model {flags}"));
            bench.ok(&format!("rosenblatt evaluate {data} --model t.model"))
        };
        assert!(!train("").starts_with("error rate: 0.0 %"), "{data}");
        assert!(train("--cross p,q").starts_with("error rate: 0.0 %"), "{data}");
    }
    let top = bench.ok("rosenblatt train t.csv --cross p,q --cross p,n --model t.model");
    assert!(top.contains("p=a*q=u"), "{top}");
    let expected = bench.ok("rosenblatt predict t.csv --model t.model");
    assert_eq!(
        bench.ok(
            "cut -d, -f3 t.csv | paste -d, - t.csv | cut -d, -f1-3 | rosenblatt predict - --model t.model"
        ),
        expected
    );
    refused(&bench, "rosenblatt train t.csv --model x.model --cross p,r", "there is no column `r` to cross");
    refused(
        &bench,
        "rosenblatt train t.vw --model x.model --cross p,r",
        "there is no namespace `r` to cross",
    );
    refused(&bench, "rosenblatt train t.csv --model x.model --cross p", "`--cross` should be two names, A,B");
}

// Values that differ stay different, or a note says that they do not.

#[test]
fn categories_that_spell_one_number_differ_if_both_are_there() {
    let bench = Bench::new();
    let rows = (0..60).map(|row| format!("{},{}\n", ["1.1", "1.10"][row % 2], ["a", "b"][row % 2]));
    bench.write("t.csv", format!("code,label\n{}", rows.collect::<String>()));
    bench.ok(&format!("{TRAIN} --algorithm perceptron --categorical code"));
    let labels = bench.ok("rosenblatt predict t.csv --model t.model");
    assert_eq!(labels, "a\nb\n".repeat(30));
    // Hashed, they stay apart, and whole numbers are the same with a point as without.
    bench.ok(&format!("{TRAIN} --algorithm perceptron --categorical code --hash-bits 10"));
    assert_eq!(bench.ok("rosenblatt predict t.csv --model t.model"), "a\nb\n".repeat(30));
    // Where one spelling stands alone, another of the same number is the same category.
    let rows = (0..60).map(|row| format!("{},{}\n", ["1.0", "2.0"][row % 2], ["a", "b"][row % 2]));
    bench.write("t.csv", format!("code,label\n{}", rows.collect::<String>()));
    bench.ok(&format!("{TRAIN} --algorithm perceptron --categorical code"));
    bench.write("new.csv", "code\n1\n2\n");
    assert_eq!(bench.ok("rosenblatt predict new.csv --model t.model"), "a\nb\n");
}

/// Columns of texts as a Parquet file.
fn parquet(columns: [&str; 2], rows: &[[&str; 2]]) -> Vec<u8> {
    use rosenblatt_data::write::{Cell, CellKind, ParquetTable};
    let columns = columns.map(|name| (name.to_owned(), CellKind::Text));
    let mut table = ParquetTable::new(&columns).unwrap();
    for row in rows {
        table.row(&row.map(|cell| Cell::Text(cell.to_owned()))).unwrap();
    }
    let mut bytes = table.take();
    bytes.extend(table.finish().unwrap());
    bytes
}

/// The same rows of two texts as CSV, JSON Lines and Parquet, called `t`.
fn write_texts(bench: &Bench, columns: [&str; 2], rows: &[[&str; 2]]) {
    let quoted = |cell: &str| format!("\"{}\"", cell.replace('"', "\"\""));
    let line = |row: &[&str; 2]| format!("{},{}\n", quoted(row[0]), quoted(row[1]));
    bench.write("t.csv", line(&columns) + &rows.iter().map(line).collect::<String>());
    let object =
        |row: &[&str; 2]| format!("{{{:?}:{:?},{:?}:{:?}}}\n", columns[0], row[0], columns[1], row[1]);
    bench.write("t.jsonl", rows.iter().map(object).collect::<String>());
    bench.write("t.parquet", parquet(columns, rows));
}

/// Two ways to write one number are two categories where both are there, in every format, hashed or not.
#[test]
fn texts_that_spell_one_number_are_kept_apart_in_every_format() {
    for [one, other] in [
        ["1e2", "100"],
        ["1.1", "1.10"],
        ["007", "7"],
        ["+5", "5"],
        ["0x10", "16"],
        ["1_000", "1000"],
        ["-0", "0"],
    ] {
        let bench = Bench::new();
        let rows: Vec<[&str; 2]> = (0..60).map(|row| [[one, "a"], [other, "b"]][row % 2]).collect();
        write_texts(&bench, ["code", "label"], &rows);
        for format in ["csv", "jsonl", "parquet"] {
            for how in ["", "--hash-bits 10"] {
                let line = format!(
                    "train t.{format} --label label --categorical code -a perceptron --holdout 0 {how}"
                );
                bench.ok(&format!("rosenblatt {line} --quiet --model t.model"));
                let labels = bench.ok(&format!("rosenblatt predict t.{format} --model t.model"));
                assert_eq!(labels, "a\nb\n".repeat(30), "{one} and {other}: {line}");
            }
        }
    }
}

#[test]
fn labels_that_differ_in_spaces_are_one_class_and_told() {
    let bench = Bench::new();
    let rows = (0..40).map(|row| format!("{row},{}\n", ["\"yes\"", "no", "\" yes\"", "no"][row % 4]));
    bench.write("t.csv", format!("x,label\n{}", rows.collect::<String>()));
    says(
        &bench.run(&format!("{TRAIN} --algorithm perceptron")),
        "differ in spaces, and are one class: `yes`",
    );
}

#[test]
fn numbers_that_doubles_cannot_hold_are_named() {
    let bench = Bench::new();
    let rows =
        (0..40).map(|row| format!("{},{row},{}\n", (1_u64 << 60) + row % 3, ["a", "b"][row as usize % 2]));
    bench.write("t.csv", format!("big,x,label\n{}", rows.collect::<String>()));
    says(
        &bench.run(&format!("{TRAIN} --algorithm perceptron")),
        "whole numbers beyond 2^53 lose their last digits (if they are names, take them as categories): `big`",
    );
    let rows = (0..40).map(|row| format!("{}e-170,{}\n", row % 2 * 3 + 1, ["a", "b"][row % 2]));
    bench.write("t.csv", format!("x,label\n{}", rows.collect::<String>()));
    refused(&bench, &format!("{TRAIN} --algorithm perceptron"), "`x` are too small to be scaled");
    bench.ok(&format!("{TRAIN} --algorithm perceptron --scale max-abs"));
    assert_eq!(bench.ok("rosenblatt predict t.csv --model t.model"), "a\nb\n".repeat(20));
}

#[test]
fn sentences_are_known_by_what_they_hold_and_spreadsheets_named() {
    let bench = Bench::new();
    let sentence = "The DT B-NP\ndog NN I-NP\nbarks VBZ B-VP\n. . O\n\n";
    bench.write("train.txt", sentence.repeat(12));
    says(&bench.run("rosenblatt train train.txt --threads 1 --model tag.model"), "12 sentences");
    bench.write("items.txt", "B\tw=The\tp=DT\nI\tw=dog\tp=NN\n\n".repeat(12));
    says(&bench.run("rosenblatt train items.txt --model tag.model"), "12 sentences");
    bench.write("noise", "\u{1}\u{2}\u{3}");
    refused(&bench, "rosenblatt train noise --model t.model", "of sentences: conllu");
    says(&bench.run("rosenblatt train --help"), "conllu");
    bench.write("book.xlsx", b"PK\x03\x04\x14\0\x06\0\x08\0\0\0!\0[Content_Types].xml xl/workbook.xml");
    refused(&bench, "rosenblatt train book.xlsx --model t.model", "save the sheet as CSV");
    assert!(!bench.ok("rosenblatt algorithms mlp").contains("0000000000000000"));
}

#[test]
fn the_threshold_can_be_moved_when_classes_are_predicted() {
    let bench = Bench::new();
    bench.write("t.csv", table(240));
    bench.ok(&format!("{TRAIN} --algorithm perceptron --class-weight yes=1"));
    bench.ok(&format!("{TRAIN} --algorithm perceptron"));
    let n_yes = |how: &str| {
        let printed = bench.ok(&format!("rosenblatt predict t.csv --model t.model {how}"));
        printed.lines().filter(|line| *line == "yes").count()
    };
    let (low, plain, high) = (n_yes("--threshold 0.05"), n_yes(""), n_yes("--threshold 0.95"));
    assert!(low > plain && plain > high, "{low}, {plain}, {high}");
    assert!(n_yes("--cost yes=20") > plain);
    // What is judged is what is named.
    for how in ["", "--threshold 0.05", "--cost yes=20"] {
        let judged = bench.ok(&format!("rosenblatt evaluate t.csv --model t.model --json {how}"));
        let judged: serde_json::Value = serde_json::from_str(&judged).unwrap();
        let named = judged["confusion"].as_array().unwrap().iter().map(|row| row[1].as_u64().unwrap());
        assert_eq!(named.sum::<u64>() as usize, n_yes(how), "{how}: {judged}");
    }
    refused(&bench, "rosenblatt predict t.csv --model t.model --cost balanced", "no classes to count");
    bench.ok(&format!("{TRAIN} --algorithm perceptron --calibrate none"));
    refused(&bench, "rosenblatt predict t.csv --model t.model --threshold 0.3", "probabilities");
}

// Split rows by what ties them.

fn error_of(bench: &Bench, line: &str) -> f64 {
    let report: serde_json::Value = serde_json::from_str(&bench.ok(&format!("{line} --json"))).unwrap();
    report["held-out"]["error"].as_f64().unwrap()
}

/// Rows of which the last fifth in time has its classes swapped, in no order, with the day and a date.
fn in_time(n_rows: usize) -> String {
    let mut text = "x,day,date,z,y\n".to_owned();
    for row in 0..n_rows {
        let day = row * 7919 % n_rows;
        let (x, is_late) = ((row * 37 % 101) as f64 / 50.0, day * 5 >= n_rows * 4);
        let is_yes = (x > 1.0) != is_late;
        let date = format!("20{:02}-{:02}-{:02}", 10 + day / 336, day % 336 / 28 + 1, day % 28 + 1);
        let z = (row * 53 % 97) as f64 / 97.0;
        let _ = writeln!(text, "{x:.2},{day},{date},{z:.3},{}", if is_yes { "yes" } else { "no" });
    }
    text
}

#[test]
fn later_rows_judge_what_earlier_ones_taught() {
    let bench = Bench::new();
    for (n_rows, how) in [(700, ""), (4000, ""), (700, "--holdout 0.2"), (700, "--algorithm arow")] {
        bench.write("t.csv", in_time(n_rows));
        bench.ok("rosenblatt convert t.csv t.parquet");
        let at_random = error_of(&bench, &format!("{TRAIN} --ignore day --ignore date {how}"));
        assert!(at_random < 0.3, "{n_rows} {how}: {at_random}");
        let by_day = error_of(&bench, &format!("{TRAIN} --time day --ignore date {how}"));
        assert!(by_day > at_random + 0.15, "{n_rows} {how}: {by_day} {at_random}");
        let model = bench.ok("rosenblatt inspect t.model");
        assert!(model.contains("follow these in time") && !model.contains("day"), "{model}");
        // Dates stand in the same order, and other formats hold the same times.
        let by_date = error_of(&bench, &format!("{TRAIN} --time date --ignore day {how}"));
        assert_eq!(by_date, by_day, "{n_rows} {how}");
        let line = format!("rosenblatt train t.parquet --model p.model --time day {how}");
        assert_eq!(error_of(&bench, &line), by_day, "{n_rows} {how}");
    }
    // The same on disk, where rows are visited as they stand.
    let given = format!("{TRAIN} --algorithm arow --order given --holdout 0.2 --time day --ignore date");
    assert_eq!(error_of(&bench, &format!("{given} --memory 20KiB")), error_of(&bench, &given));
    // What rows are split by is no feature of new ones, either.
    bench.write("new.csv", "x,z\n0.1,0.2\n1.9,0.3\n");
    assert_eq!(bench.ok("rosenblatt predict new.csv --model t.model").lines().count(), 2);
}

#[test]
fn a_group_is_not_learned_from_and_judged() {
    let bench = Bench::new();
    let mut text = "who,x,y\n".to_owned();
    for row in 0..600 {
        let who = row * 7 % 60;
        let _ = writeln!(text, "p{who},k{who},{}", if who * 37 % 61 % 2 == 0 { "yes" } else { "no" });
    }
    bench.write("t.csv", text);
    for how in ["", "--holdout 0.25", "--algorithm perceptron --folds 4"] {
        let at_random = error_of(&bench, &format!("{TRAIN} --ignore who {how}"));
        let by_group = error_of(&bench, &format!("{TRAIN} --group who {how}"));
        assert!(at_random < 0.05 && by_group > 0.3, "{how}: {at_random} {by_group}");
    }
    // Of two groups and of three, what is learned from may hold one only: that is split like any rows.
    for n_groups in [2, 3] {
        bench.write("few.csv", with_column(&table(180), "who", |row, _| format!("g{}", row / 7 % n_groups)));
        for how in ["", "--holdout 0.2", "--folds 2", "--algorithm pa1 --patience 3"] {
            let line = format!("rosenblatt train few.csv --model f.model --group who {how}");
            assert!(error_of(&bench, &line) < 0.5, "{n_groups} {how}");
        }
    }
    says(&bench.run(&format!("{TRAIN} --group who")), "this assumes that new rows are of new groups");
    says(&bench.run(&format!("{TRAIN} --ignore who")), "this assumes that new rows are drawn as these were");
    bench.ok(&format!("{TRAIN} --group who --algorithm arow"));
    says(&bench.run("rosenblatt inspect t.model"), "for new ones of 60 groups");
    bench.ok("rosenblatt report t.csv --model t.model --output t.html");
    let page = std::fs::read_to_string(bench.path("t.html")).unwrap();
    assert!(page.contains("--group who") && !page.contains("--ignore who"), "{page}");
}

#[test]
fn what_cannot_split_rows_is_refused() {
    let bench = Bench::new();
    bench.write("t.csv", with_column(&in_time(200), "one", |_, _| "1".to_owned()));
    bench.ok("rosenblatt convert t.csv t.svm --ignore date");
    bench.write("t.tsv", "ham\tsee you\nspam\twin now\n".repeat(20));
    for (line, expected) in [
        ("train t.csv --time nosuch", "no column `nosuch` of times"),
        ("train t.csv --group nosuch", "no column `nosuch` of groups"),
        ("train t.csv --time y", "holds `no`"),
        ("train t.csv --label y --group y", "is the label"),
        ("train t.csv --group y", "is the label by its name"),
        ("train t.csv --group one", "two groups at least"),
        ("train t.csv --time one", "two times at least"),
        ("train t.svm --time 1", "libsvm has no columns"),
        ("train t.tsv --group 1", "has no columns"),
        ("train t.csv --online --time day", "online"),
        ("train t.csv --group day --folds 300", "folds"),
        ("tune t.csv --group nosuch --algorithms arow", "no column `nosuch` of groups"),
    ] {
        refused(&bench, &format!("rosenblatt {line} --model t.model"), expected);
    }
    bench.write("gap.csv", "x,when,y\n1,1,a\n2,,b\n1,3,a\n2,4,b\n");
    refused(
        &bench,
        "rosenblatt train gap.csv --time when --model t.model",
        "column `when` of times holds nothing",
    );
    // A stream that is read once is held to be read twice.
    bench.ok("rosenblatt train - --time day --model t.model < t.csv");
}

#[test]
fn rows_that_change_along_the_file_are_told() {
    let bench = Bench::new();
    let sorted: String = {
        let all = table(300);
        let (head, rows) = all.split_once('\n').unwrap();
        let mut rows: Vec<&str> = rows.lines().collect();
        rows.sort_by_key(|row| row.rsplit(',').next().map(str::to_owned));
        format!("{head}\n{}\n", rows.join("\n"))
    };
    let note = "note: the order of the rows predicts their class";
    bench.write("t.csv", sorted);
    says(&bench.run(TRAIN), note);
    bench.write("t.csv", table(300));
    assert!(!bench.ok(TRAIN).contains("the order of the rows"));
    // Classes stay alike, and what tells them is lost in the last third.
    let mut text = "x,y\n".to_owned();
    for row in 0..900 {
        let is_yes = row % 2 == 0;
        let printed = if row < 600 { is_yes } else { row * 7919 % 13 < 6 };
        let _ = writeln!(text, "{},{}", u8::from(printed), if is_yes { "yes" } else { "no" });
    }
    bench.write("t.csv", text);
    says(&bench.run(TRAIN), "note: the error changes along the file");
}

/// What a fold says of the model that is kept: of errors on many fresh rows, at least 93 in 100 lie in its interval.
#[test]
fn intervals_of_folds_keep_their_word() {
    use rosenblatt::insight::interval;
    use rosenblatt::recipe::{Choice, Plan};
    use rosenblatt::{Dataset, Options, Recipe, evaluate, settings::Asked};
    let mut state = 3_u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1_u32 << 31)
    };
    let mut rows = |n_rows: usize| {
        let rows: Vec<[f64; 6]> =
            (0..n_rows).map(|_| std::array::from_fn(|_| random() + random() - 1.0)).collect();
        let names: Vec<&str> = rows
            .iter()
            .map(|row| if row[0] + row[1] + (random() + random() - 1.0) > 0.0 { "yes" } else { "no" })
            .collect();
        Dataset::from_rows(&rows, &names)
    };
    let (mut n_held, mut n_narrow) = (0, 0);
    for seed in 0..200 {
        let learning = Options { algorithm: "pa1".to_owned(), seed, ..Options::default() };
        let recipe = Recipe {
            learning: Asked::from(learning),
            choice: Choice::Given,
            estimate: Plan::Folds(5),
            ..Recipe::default()
        };
        let trained = recipe.train_rows(rows(150), &mut ()).unwrap();
        let fresh = evaluate(&trained.model, &rows(300)).unwrap().error();
        let printed = trained.estimate.unwrap().evaluation;
        let holds = |(low, high): (f64, f64)| u32::from(low <= fresh && fresh <= high);
        n_held += holds(printed.interval());
        n_narrow += holds(interval(printed.errors, printed.rows));
    }
    assert!(n_held >= 186 && n_narrow < 186, "{n_held} {n_narrow} of 200");
}

/// Ten rows of each patient, who is of one class. If rows of a patient judged a sigmoid that others of the same patient had
/// fitted, the estimate would be some ten points too low.
#[test]
fn rows_of_one_group_do_not_flatter_the_estimate() {
    use rosenblatt::recipe::{Choice, Plan};
    use rosenblatt::{Options, Recipe, evaluate, settings::Asked};
    use rosenblatt_data::{Source, load_with_schema};
    const TABLES: u32 = 40;
    let mut state = 5_u64;
    let mut random = move || {
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / f64::from(1_u32 << 31) - 0.5
        };
        // Nearly normal, with a deviation of 1.
        (0..12).map(|_| draw()).sum::<f64>()
    };
    let mut patients = |n_patients: usize| {
        let mut text = "patient,a,b,c,d,e,sick\n".to_owned();
        for patient in 0..n_patients {
            let sick = if patient % 2 == 0 { 1.0 } else { -1.0 };
            let own: Vec<f64> = (0..5).map(|j| random() + if j == 0 { 0.4 * sick } else { 0.0 }).collect();
            for _ in 0..10 {
                let _ = write!(text, "{patient}");
                for mean in &own {
                    let _ = write!(text, ",{:.3}", mean + 0.3 * random());
                }
                let _ = writeln!(text, ",{}", if sick > 0.0 { "yes" } else { "no" });
            }
        }
        Source::bytes("patients.csv", text.as_bytes())
    };
    let fresh = patients(400);
    let (mut estimated, mut true_error) = (0.0, 0.0);
    for seed in 0..u64::from(TABLES) {
        let learning = Options { algorithm: "logistic-dual".to_owned(), seed, ..Options::default() };
        let recipe = Recipe {
            learning: Asked::from(learning),
            choice: Choice::Given,
            estimate: Plan::Folds(5),
            group: Some("patient".to_owned()),
            ..Recipe::default()
        };
        let trained = recipe.train(&patients(20), &mut ()).unwrap();
        estimated += trained.estimate.unwrap().evaluation.error() / f64::from(TABLES);
        let read = trained.model.to_evaluate(rosenblatt_data::ReadOptions::default());
        let (rows, _) = load_with_schema(&fresh, &read).unwrap();
        true_error += evaluate(&trained.model, &rows).unwrap().error() / f64::from(TABLES);
    }
    assert!((estimated - true_error).abs() < 0.05, "estimated {estimated:.3}, true {true_error:.3}");
}

#[test]
fn long_work_says_what_it_does_where_nobody_watches() {
    let bench = Bench::new();
    bench.write("t.csv", table(3000));
    let line = "timeout 9 rosenblatt train t.csv --algorithm perceptron --epochs 100000000 --patience 0 --model t.model";
    let done = bench.run(&format!("{line}; true"));
    assert!(done.progress.contains(" of 100000000: error "), "{}", done.all());
}

// What is asked of a picture is drawn, and what no line can show is not written.

#[test]
fn switches_of_pictures_that_would_change_nothing_are_refused() {
    let bench = Bench::new();
    let rows = table(120).lines().map(|line| line.replacen(",a,", ",", 1)).collect::<Vec<_>>();
    let numbers = rows.iter().map(|line| {
        let cells: Vec<&str> = line.split(',').collect();
        format!("{},{},{}\n", cells[0], cells[cells.len() - 2], cells[cells.len() - 1])
    });
    bench.write("t.csv", numbers.collect::<String>());
    bench.write("other.csv", "x,z,y\n0.1,0.2,yes\n0.9,0.4,no\n1.4,0.1,yes\n");
    bench.ok(&format!("{TRAIN} --algorithm perceptron"));
    let plot = "rosenblatt plot boundary t.csv --algorithm perceptron --output t.svg";
    refused(&bench, &format!("{plot} --still"), "`--still` does nothing without `--frames`");
    refused(&bench, &format!("{plot} --frames=3 --support"), "`frames` and `support` exclude each other");
    bench.ok(&format!("{plot} --frames=3 --still"));
    let others = "these are not the rows that the model learned from";
    for line in [
        "rosenblatt plot confusion other.csv --model t.model --training-rows --output t.svg",
        "rosenblatt plot weights --model t.model --training-rows --output t.svg",
        "rosenblatt report other.csv --model t.model --training-rows --output t.html",
    ] {
        refused(&bench, line, others);
        bench.ok(&line.replace(" --training-rows", ""));
    }
    bench.ok("rosenblatt report t.csv --model t.model --training-rows --output t.html");
    let huge = "rosenblatt plot weights --model t.model --image 5000000000x5000000000 --output t.svg";
    refused(&bench, huge, "25000000000000000000 pixels, but the model has 2 features");
}

#[test]
fn rows_that_were_set_aside_are_no_training_rows() {
    let bench = Bench::new();
    bench.write("t.csv", table(200));
    bench.ok(&format!("{TRAIN} --algorithm perceptron --holdout 0.25 --no-refit"));
    let rows = |more: &str| {
        let text = bench.ok(&format!("rosenblatt report t.csv --model t.model --json {more}"));
        serde_json::from_str::<serde_json::Value>(&text).unwrap()["evaluation"]["rows"].clone()
    };
    assert_eq!((rows(""), rows("--training-rows")), (50.into(), 150.into()));
}

#[test]
fn a_class_of_several_lines_is_not_written_as_lines() {
    let bench = Bench::new();
    let mut text = String::new();
    for row in 0..40 {
        let _ = writeln!(text, r#"{{"x": {row}, "y": "{}"}}"#, if row < 20 { r"a\nb" } else { "c" });
    }
    bench.write("t.jsonl", text);
    bench.ok("rosenblatt train t.jsonl --model t.model --algorithm perceptron");
    let predict = "rosenblatt predict t.jsonl --model t.model";
    refused(&bench, predict, r"the class `a\nb` has several lines");
    assert_eq!(bench.ok(&format!("{predict} --to jsonl")).lines().count(), 40);
}

#[test]
fn a_race_that_is_not_run_says_why() {
    let bench = Bench::new();
    let rows = (0..60).map(|row| format!("{},{}\n", row % 7, if row < 56 { "usual" } else { "rare" }));
    bench.write("t.csv", format!("x,y\n{}", rows.collect::<String>()));
    says(&bench.run(TRAIN), "fewer than two classes have 5 rows");
}
