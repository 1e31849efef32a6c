//! Models for other programs: ONNX, JSON and CSV, SQL, C, JavaScript and scorecards.
//!
//! Whether an ONNX runtime agrees is asked where there is one: a Python with `onnxruntime` and `numpy`, named
//! by `ROSENBLATT_PYTHON` or found as `python3`. Elsewhere that test says on stderr that it was skipped. So do those that
//! run `SQLite` (with Python), `DuckDB` (its package), a C compiler (`cc`) and Node.

use crate::bench::Bench;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// Features, labels and scores of the same rows, as CSV, and the model in ONNX: the script compares.
const CASES: [(&str, &str); 19] = [
    ("banknote.csv", ""),
    ("banknote.csv", "--scale unit-norm --zero plus"),
    ("banknote.csv", "--scale min-max --algorithm pa1 --calibrate none"),
    ("iris.csv", ""),
    ("iris.csv", "--multiclass one-vs-one"),
    ("breast_cancer.csv", "--multiclass direct-max --calibrate isotonic"),
    ("iris.csv", "--algorithm mlp --hidden 7,5 --activation tanh"),
    ("banknote.csv", "--algorithm mlp --hidden 9 --scale min-max"),
    ("iris.csv", "--algorithm mlp --hidden 6 --activation logistic --calibrate none"),
    ("banknote.csv", "--shape bend(knots=5)"),
    ("banknote.csv", "--shape bend --algorithm pa1 --calibrate none"),
    ("iris.csv", "--shape bend(knots=9)"),
    ("breast_cancer.csv", "--shape bend(knots=2) --calibrate isotonic"),
    ("iris.csv", "--label petal_length --ignore species"),
    ("iris.csv", "--label petal_length --ignore species --shape bend(knots=5) -a ridge"),
    ("iris.csv", "--label sepal_width --ignore species --scale unit-norm -a huber"),
    ("two.csv", "--ignore kind --missing own --shape bend(knots=4,crosses=2)"),
    ("three.csv", "--ignore kind --missing own --shape bend(knots=10,crosses=2)"),
    ("whole.csv", "--ignore kind --shape bend(knots=4,crosses=1) --multiclass one-vs-one"),
];

/// A Python that can import these. One that is named must: a test that was asked for is not passed over.
fn python(packages: &str) -> Option<String> {
    let named = std::env::var("ROSENBLATT_PYTHON").ok();
    let python = named.clone().unwrap_or_else(|| "python3".to_owned());
    let tried = Command::new(&python).args(["-c", &format!("import {packages}")]).output();
    let able = tried.is_ok_and(|output| output.status.success());
    assert!(able || named.is_none(), "ROSENBLATT_PYTHON names {python}, which cannot import {packages}");
    able.then_some(python)
}

/// A table of all kinds of columns, with holes, odd names and more than odd categories. Of the first 40 rows none lacks
/// anything. The label is a class, or the number that the class is made of.
fn mixed_table(label: &str) -> String {
    let mut text = format!("age,\"net \"\"pay\"\"\",score,double,Stadt,member,constant,{label}\n");
    let cities = ["Köln", "it's", "say \"\"so\"\"", "a\\\\b??/", "Köln", "Rom"];
    for row in 0..240_u32 {
        let number = |value: f64, often: u32| {
            if row >= 40 && row % often == 0 { "NA".to_owned() } else { value.to_string() }
        };
        let age = 18 + (row * 37) % 50;
        let pay = f64::from((row * 7919) % 1000) / 8.0 - 20.0;
        let steps = f64::from(row % 4);
        let city = if row >= 40 && row % 13 == 0 { "" } else { cities[(row * 5 % 6) as usize] };
        let member = if row >= 40 && row % 17 == 0 { "?" } else { ["yes", "no"][(row / 3 % 2) as usize] };
        let wave = (f64::from(age) / 6.0).sin() + pay / 60.0 + steps / 4.0 - 1.0;
        let class = if wave + f64::from(row % 7) / 10.0 > 0.3 {
            "high"
        } else if wave < -0.6 {
            "low"
        } else {
            "mid"
        };
        let label = if label == "class" { class.to_owned() } else { wave.to_string() };
        let _ = writeln!(
            text,
            "{},{},{},{},\"{city}\",{member},1,{label}",
            number(f64::from(age), 19),
            number(pay, 23),
            number(steps, 29),
            f64::from(row % 3) / 3.0,
        );
    }
    text
}

/// A table in which two columns count together, and two others, too; `tide` is a third value of the class, or what the class
/// is made of. Of the first 40 rows none lacks anything.
fn crossed_table(n_classes: usize, has_holes: bool) -> String {
    let mut text = "\"net \"\"pay\"\"\",it's,kind,wind */,depth,class\n".to_owned();
    for row in 0..900_usize {
        let part = |times: usize, of: usize| (row * times % of) as f64 / of as f64 - 0.5;
        let cells = [part(389, 900), part(7, 31) * 80.0, part(487, 900) * 1e4, part(5, 13) + 3.0];
        let kind = ["plain", "odd"][row / 7 % 2];
        let noise = part(613, 900) * 0.1;
        let tide = cells[0] * cells[1] / 10.0 + cells[2] * (cells[3] - 3.0) / 1.5e3 + noise;
        let class = match n_classes {
            2 => ["low", "high"][usize::from(tide > 0.0)].to_owned(),
            3 if tide.abs() < 0.5 => "mid".to_owned(),
            3 => ["low", "high"][usize::from(tide > 0.0)].to_owned(),
            _ => tide.to_string(),
        };
        let lacks = |place: usize| has_holes && row >= 40 && (row + 3 * place).is_multiple_of(11 + 2 * place);
        let cell = |place: usize| if lacks(place) { "NaN".to_owned() } else { cells[place].to_string() };
        let _ = writeln!(text, "{},{},{kind},{},{},{class}", cell(0), cell(1), cell(2), cell(3));
    }
    text
}

/// Of two classes, of three with holes and without, and of numbers.
fn write_crossed(bench: &Bench) {
    bench.write("two.csv", crossed_table(2, true));
    bench.write("three.csv", crossed_table(3, true));
    bench.write("whole.csv", crossed_table(3, false));
    bench.write("tide.csv", crossed_table(0, true));
}

/// A table whose names, categories and classes are code, comments, keywords and marks in one language or another.
fn hostile_table() -> String {
    let names = [
        "a */ b",
        "c /* d",
        "e ??/",
        "f\u{202e}g",
        "h\nj",
        "k\u{1b}]0;x",
        "unix",
        "linux",
        "__proto__",
        "constructor",
        "t",
        "l\"\"m",
        "n'o",
        "p`q${x}",
        "r\u{2028}s",
        "</script>",
        "]]>",
        "-- u",
        "class",
        "x;DROP TABLE y;--",
        "score",
        "%s%n",
        "\\",
        "double",
        "Ä",
        "score yes */ '\"\"",
        "step_1",
        "row",
        "toString",
    ];
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    let mut text = format!("{},kind,<img src=x>\n", quoted.join(","));
    let kinds = ["*/ int x;", "'; DROP TABLE y; --", "</script>", "say \"\"so\"\"", "${x}`", "a\\"];
    let classes = ["yes */ '\"\"", "no\n-- x`${}", "may \u{202e}\u{2028} </script>"];
    for row in 0..180_usize {
        let cells: Vec<f64> = (0..names.len())
            .map(|place| ((row * 37 + place * 101 + row * place) % 89) as f64 / 8.0)
            .collect();
        let lacks = |place: usize| row >= 40 && (row + place).is_multiple_of(31);
        for (place, cell) in cells.iter().enumerate() {
            let cell = if lacks(place) { ["NA", "?", ""][row % 3].to_owned() } else { cell.to_string() };
            let _ = write!(text, "{cell},");
        }
        let kind = row * 7 % 6;
        let score = cells[0] + cells[3] - cells[5] + kind as f64;
        let class = if score > 12.0 { 0 } else { 1 + usize::from(score > 6.0) };
        let _ = writeln!(text, "\"{}\",\"{}\"", if lacks(50) { "N/A" } else { kinds[kind] }, classes[class]);
    }
    text
}

/// The same rows by `predict` and by engines that know nothing of it: the script compares.
#[test]
fn other_engines_say_the_same() {
    let cases = [
        ("crates/data/bundled/banknote.csv", ""),
        ("crates/data/bundled/banknote.csv", "--shape bend(knots=6)"),
        ("crates/data/bundled/banknote.csv", "--shape bend --calibrate isotonic"),
        ("crates/data/bundled/banknote.csv", "--scale min-max --algorithm pa1 --calibrate none --zero plus"),
        ("crates/data/bundled/iris.csv", ""),
        ("crates/data/bundled/iris.csv", "--multiclass one-vs-one --shape bend(knots=4)"),
        ("crates/data/bundled/iris.csv", "--multiclass direct-max --calibrate isotonic"),
        ("mixed.csv", "--label class --missing own --shape bend(knots=4)"),
        ("mixed.csv", "--label class --missing own --shape bend(knots=10) --calibrate isotonic"),
        ("mixed.csv", "--label class --missing mean --algorithm logistic"),
        ("mixed.csv", "--label class --missing median --multiclass one-vs-one --calibrate none"),
        ("mixed.csv", "--label class --missing zero --shape bend(knots=3) --cost high=9 --cost low=2"),
        ("mixed.csv", "--label class --missing most-frequent --positive high --cost high=3"),
        ("hostile.csv", "--label=-1 --missing own --shape bend(knots=3)"),
        ("hostile.csv", "--label=-1 --missing mean --multiclass one-vs-one"),
        ("crates/data/bundled/iris.csv", "--label petal_length"),
        ("crates/data/bundled/iris.csv", "--label petal_length --scale min-max -a quantile --param q=0.9"),
        ("numbers.csv", "--label wave --missing own --shape bend(knots=4) -a ridge"),
        ("numbers.csv", "--label wave --missing own --shape bend(knots=10) -a huber"),
        ("numbers.csv", "--label wave --missing mean"),
        ("numbers.csv", "--label wave --missing zero -a svr"),
        ("two.csv", "--missing own --shape bend(knots=4,crosses=2)"),
        ("two.csv", "--missing mean --shape bend(knots=10,crosses=2) --calibrate isotonic"),
        ("whole.csv", "--shape bend(knots=4,crosses=1) --multiclass one-vs-one"),
        ("three.csv", "--missing own --shape bend(knots=10,crosses=2)"),
        ("three.csv", "--missing zero --shape bend(knots=4,crosses=2) --cost high=3"),
        ("tide.csv", "--missing own --shape bend(knots=4,crosses=2) -a ridge"),
    ];
    let Some(plain) = python("sqlite3") else {
        eprintln!("skipped: no Python with sqlite3; name one with ROSENBLATT_PYTHON");
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/check_exports.py");
    let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
    let engines = [
        ("sqlite", "sql", true),
        ("duckdb", "sql", python("duckdb").is_some()),
        ("c", "c", has("cc")),
        ("node", "javascript", has("node")),
    ];
    for (engine, ..) in engines.iter().filter(|(.., is_here)| !is_here) {
        eprintln!("skipped: no {engine} here");
    }
    let bench = Bench::new();
    bench.write("mixed.csv", mixed_table("class"));
    bench.write("numbers.csv", mixed_table("wave"));
    bench.write("hostile.csv", hostile_table());
    write_crossed(&bench);
    for (file, flags) in cases {
        let predicted =
            bench.run(&format!("rosenblatt train {file} --precision f64 --model m.model {}", shell(flags)));
        assert_eq!(predicted.code, Some(0), "{file} {flags}: {}", predicted.all());
        let is_crossed = predicted.all().contains("pay\"*it's");
        assert_eq!(flags.contains("crosses="), is_crossed, "{}", predicted.all());
        ask(&bench, file);
        for (engine, format, _) in engines.iter().filter(|(.., is_here)| *is_here) {
            let name = if *engine == "node" { "m.mjs" } else { &format!("m.{format}") };
            bench.ok(&format!("rosenblatt inspect m.model --export {format} {name}"));
            let done = bench.run(&format!("{plain} {} {engine} {name} {file} out.jsonl", script.display()));
            assert!(done.stdout.contains("agree"), "{file} {flags}: {}", done.all());
        }
    }
}

/// Writes what `predict` has to say of a table, as much as the model can; whether there are probabilities.
fn ask(bench: &Bench, file: &str) -> bool {
    let ask =
        format!("rosenblatt predict {file} --precision f64 --model m.model --to jsonl --output out.jsonl");
    let can = |more: &str| bench.run(&format!("{ask} {more}")).code == Some(0);
    if can("--scores --probabilities") {
        return true;
    }
    if !can("--scores") {
        // A model that predicts a number.
        bench.ok(&ask);
    }
    false
}

/// Brackets mean something to a shell.
fn shell(flags: &str) -> String {
    let quoted = |word: &str| if word.contains('(') { format!("'{word}'") } else { word.to_owned() };
    flags.split_whitespace().map(quoted).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_row_that_lacks_what_the_model_needs_has_no_class() {
    let Some(python) = python("sqlite3") else {
        eprintln!("skipped: no Python with sqlite3; name one with ROSENBLATT_PYTHON");
        return;
    };
    let bench = Bench::new();
    bench.ok("rosenblatt train crates/data/bundled/iris.csv --shape 'bend(knots=3)' --model m.model --export sql m.sql");
    bench.write(
        "ask.py",
        "import sqlite3\nc = sqlite3.connect(':memory:')\n\
         c.execute('CREATE TABLE your_table (sepal_length, sepal_width, petal_length, petal_width)')\n\
         c.execute('INSERT INTO your_table VALUES (5, 3, NULL, 1)')\n\
         print([value for value in c.execute(open('m.sql').read()).fetchone()[4:] if value is not None])\n",
    );
    assert_eq!(bench.ok(&format!("{python} ask.py")), "[]\n");
    // SQLite takes a name that is not there for text, unless it is named with its table.
    bench.write(
        "ask.py",
        "import sqlite3\nc = sqlite3.connect(':memory:')\nc.execute('CREATE TABLE your_table (sepal_length)')\n\
         c.execute(open('m.sql').read())\n",
    );
    let done = bench.run(&format!("{python} ask.py"));
    assert!(done.stderr.contains("no such column"), "{}", done.all());
}

#[test]
fn a_scorecard_states_what_it_loses() {
    let bench = Bench::new();
    let file = "crates/data/bundled/banknote.csv";
    bench.ok(&format!(
        "rosenblatt train {file} --shape 'bend(knots=5)' --model m.model --export scorecard m.md"
    ));
    bench.ok(&format!("rosenblatt inspect m.model --export scorecard n.md --rows {file}"));
    let card = bench.ok("cat m.md");
    assert_eq!(card, bench.ok("cat n.md"));
    let stated = |what: &str| -> f64 {
        let rest = card.split(what).nth(1).unwrap_or_else(|| panic!("{what} in {card}"));
        rest.trim_start().split([',', ' ', '\n']).next().unwrap().parse().unwrap()
    };
    assert!((0.9..=1.0).contains(&stated("(Spearman)")), "{card}");
    let (whole, exact) = (stated("ROC curve"), stated("in place of"));
    assert!(whole > 0.95 && (exact - whole).abs() < 0.02, "{card}");
    // Added up by hand, the points name the classes that the model names.
    let from: i64 = stated("\" from") as i64;
    let lines: Vec<Vec<&str>> =
        card.lines().filter(|line| line.starts_with("| ")).map(|line| line.split(" | ").collect()).collect();
    let table = std::fs::read_to_string(bench.path(file)).unwrap();
    let points = |cells: &[&str]| -> i64 {
        let mut sum = 0;
        for line in &lines[1..] {
            let (column, value) = (line[0].trim_start_matches("| "), line[1]);
            let points: i64 = line[2].trim_end_matches(" |").parse().unwrap();
            if column == "(base)" {
                sum += points;
                continue;
            }
            let place: usize = column.strip_prefix("column_").unwrap().parse().unwrap();
            let cell: f64 = cells[place - 1].parse().unwrap();
            let number = |text: &str| text.parse::<f64>().unwrap();
            let applies = match value.split(' ').collect::<Vec<_>>()[..] {
                ["any"] => true,
                ["below", to] => cell < number(to),
                [from, "to", to] => number(from) <= cell && cell < number(to),
                [from, "and", "above"] => number(from) <= cell,
                _ => panic!("{value}"),
            };
            sum += if applies { points } else { 0 };
        }
        sum
    };
    bench.ok(&format!("rosenblatt predict {file} --model m.model --to jsonl --output out.jsonl"));
    let predicted = bench.ok("cat out.jsonl");
    let second = card.split("The class is \"").nth(1).unwrap().split('"').next().unwrap();
    let mut n_same = 0;
    let all: Vec<(&str, &str)> = table.lines().zip(predicted.lines()).collect();
    for (row, predicted) in &all {
        let cells: Vec<&str> = row.split(',').collect();
        let predicted: serde_json::Value = serde_json::from_str(predicted).unwrap();
        n_same += usize::from((predicted["class"] == second) == (points(&cells) >= from));
    }
    assert!(n_same * 100 >= all.len() * 97, "{n_same} of {}", all.len());
    let none = bench.ok("rosenblatt inspect m.model --export scorecard -");
    assert!(none.contains("was not measured"), "{none}");
    let wrong = bench.run(&format!("rosenblatt inspect m.model --export sql x.sql --rows {file}"));
    assert_eq!(wrong.code, Some(2), "{}", wrong.all());
}

#[test]
fn what_is_no_sum_over_columns_is_refused_with_a_cure() {
    let bench = Bench::new();
    let cases = [
        ("sms-spam.tsv", "", "this model reads words", "export to onnx, json or csv"),
        ("iris.csv", "--scale unit-norm", "divides each row by its length", "--scale standard"),
        ("iris.csv", "--cross petal_length,petal_width", "crosses columns", "train without --cross"),
        ("iris.csv", "--kernel rbf", "has no weights of its own", "without a kernel"),
    ];
    for (file, flags, why, cure) in cases {
        let file = format!("crates/data/bundled/{file}");
        bench.ok(&format!("rosenblatt train {file} -a perceptron --model m.model {flags}"));
        for format in ["sql", "c", "javascript", "scorecard"] {
            let done = bench.run(&format!("rosenblatt inspect m.model --export {format} out"));
            assert_eq!(done.code, Some(1), "{flags} {format}: {}", done.all());
            assert!(
                done.stderr.contains(why) && done.stderr.contains(cure),
                "{flags} {format}: {}",
                done.stderr
            );
        }
    }
    let train = "rosenblatt train crates/data/bundled/iris.csv -a perceptron --model m.model";
    bench.ok(&format!("{train} --scale none"));
    let done = bench.run("rosenblatt inspect m.model --export scorecard out");
    assert!(done.stderr.contains("--shape bend"), "{}", done.all());
    bench.write("two.csv", crossed_table(2, true));
    bench.ok("rosenblatt train two.csv --missing own --shape 'bend(knots=4,crosses=2)' --model x.model");
    let done = bench.run("rosenblatt inspect x.model --export scorecard out");
    assert_eq!(done.code, Some(1), "{}", done.all());
    assert!(
        done.stderr.contains("crosses columns") && done.stderr.contains("--shape curves"),
        "{}",
        done.all()
    );
    bench.ok(&format!("{train} --shape 'bend(knots=3)' --cross petal_length,petal_width"));
    let done = bench.run("rosenblatt inspect m.model --export onnx out");
    assert!(done.stderr.contains("train without --cross"), "{}", done.all());
}

#[test]
fn an_onnx_runtime_says_the_same() {
    let Some(python) = python("onnxruntime, numpy") else {
        eprintln!("skipped: no Python with onnxruntime; name one with ROSENBLATT_PYTHON");
        return;
    };
    let bench = Bench::new();
    write_crossed(&bench);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/check_onnx.py");
    for (name, flags) in CASES {
        let file =
            if bench.path(name).exists() { name.to_owned() } else { format!("crates/data/bundled/{name}") };
        let trained = bench.ok(&format!(
            "rosenblatt train {file} --precision f64 --model m.model --export onnx m.onnx {}",
            shell(flags)
        ));
        assert_eq!(flags.contains("crosses="), trained.contains("pay\"*it's"), "{trained}");
        let probable = ask(&bench, &file);
        let printed = bench.ok(&format!("{python} {} m.onnx {file} out.jsonl", script.display()));
        assert!(printed.contains("agree"), "{name} {flags}: {printed}");
        let both = probable && !flags.contains("isotonic");
        assert_eq!(printed.contains("probabilities"), both, "{name} {flags}: {printed}");
    }
}

/// Rules, probabilities and decisions, each with each, some rows on the boundary: an export is refused, or names the classes
/// that `predict` names.
#[test]
fn onnx_names_our_classes_or_is_refused() {
    let Some(python) = python("onnxruntime, numpy") else {
        eprintln!("skipped: no Python with onnxruntime; name one with ROSENBLATT_PYTHON");
        return;
    };
    let bench = Bench::new();
    // Whole numbers and doubled rows: many scores, and many probabilities, are level.
    for (name, n_classes) in [("two.csv", 2), ("three.csv", 3)] {
        let mut text = "a,b,label\n".to_owned();
        for row in 0..180_i32 {
            let (a, b) = (row * 7 % 9 - 4, row * 5 % 7 - 3);
            let class = (a + b + (row % 11) / 9 * 5).rem_euclid(9) / (9 / n_classes);
            let _ = writeln!(text, "{a},{b},c{}", class.min(n_classes - 1));
        }
        bench.write(name, text);
    }
    let (mut asked, mut n_refused) = (Vec::new(), 0);
    for file in ["two.csv", "three.csv"] {
        for rule in [
            "perceptron --scale none",
            "perceptron --scale none --bias none --epochs 2",
            "pa1 --multiclass one-vs-one",
            "logistic --multiclass direct-max",
            "logistic-dual",
            "mlp --hidden 4",
        ] {
            for calibrate in ["platt", "isotonic", "off"] {
                for decides in
                    ["", "--zero plus", "--zero random", "--threshold 0.3", "--cost c0=4", "--cost c0:c1=7"]
                {
                    let weighs = decides.starts_with("--t") || decides.starts_with("--c");
                    let no_use = (weighs && calibrate == "off")
                        || (decides.starts_with("--t") && file == "three.csv")
                        || (rule.contains("mlp") && decides.starts_with("--z"));
                    if no_use {
                        continue;
                    }
                    let (model, number) = ("m.model", asked.len());
                    let flags = format!("-a {rule} --calibrate {calibrate} {decides}");
                    let done = bench.run(&format!(
                        "rosenblatt train {file} --precision f64 {flags} --seed 1 --model {model}"
                    ));
                    assert_eq!(done.code, Some(0), "{flags}: {}", done.all());
                    let done = bench.run(&format!("rosenblatt inspect {model} --export onnx {number}.onnx"));
                    if done.code != Some(0) {
                        assert!(done.stderr.contains("error: "), "{flags}: {}", done.all());
                        n_refused += 1;
                        continue;
                    }
                    let ask = format!(
                        "rosenblatt predict {file} --precision f64 --model {model} --scores --to jsonl --output {number}.jsonl"
                    );
                    bench.ok(&ask);
                    asked.push((format!("{number}.onnx {file} {number}.jsonl"), format!("{file} {flags}")));
                }
            }
        }
    }
    assert!(asked.len() > 60, "{} exported, {n_refused} refused", asked.len());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/check_onnx.py");
    let words: Vec<&str> = asked.iter().map(|(words, _)| words.as_str()).collect();
    let done = bench.run(&format!("{python} {} {}", script.display(), words.join(" ")));
    let n_agree = done.stdout.lines().filter(|line| line.contains("agree")).count();
    let flags = asked.get(n_agree).map(|(_, flags)| flags);
    assert_eq!((done.code, n_agree), (Some(0), asked.len()), "{flags:?}\n{}", done.stderr);
}

#[test]
fn weights_are_exported_by_name() {
    let bench = Bench::new();
    bench.ok("rosenblatt train crates/data/bundled/iris.csv -a perceptron --model iris.model");
    let csv = bench.ok("rosenblatt inspect iris.model --export csv -");
    assert!(csv.starts_with("feature,setosa,versicolor,virginica\n(bias),"), "{csv}");
    assert_eq!(csv, bench.ok("rosenblatt inspect iris.model --weights"));
    bench.ok("rosenblatt inspect iris.model --export json iris.json");
    let json: serde_json::Value = serde_json::from_str(&bench.ok("cat iris.json")).unwrap();
    assert_eq!(json["hyperplanes"].as_array().unwrap().len(), 3);
    assert_eq!(json["scaler"]["scaling"], "standard");
    assert_eq!(json["calibration"]["method"], "platt");
    let name = json["features"][0].as_str().unwrap();
    assert!(csv.contains(&format!("\n{name},{}", json["hyperplanes"][0]["weights"][0])), "{csv}");
}

#[test]
fn what_cannot_be_exported_is_said() {
    let bench = Bench::new();
    bench.ok("rosenblatt train crates/data/bundled/iris.csv --readout voted --model v.model");
    let voted = bench.run("rosenblatt inspect v.model --export onnx v.onnx");
    assert_eq!(voted.code, Some(1), "{}", voted.all());
    assert!(voted.stderr.contains("train with --readout averaged"), "{}", voted.stderr);
    let unknown = bench.run("rosenblatt inspect v.model --export pmml v.pmml");
    assert_eq!(unknown.code, Some(2), "{}", unknown.all());
    assert!(
        unknown.stderr.contains("one of onnx, json, csv, sql, c, javascript, scorecard, but is `pmml`"),
        "{}",
        unknown.stderr
    );
}

/// An export that is piped into a file is that file and nothing else.
#[test]
fn an_export_to_stdout_stands_there_alone() {
    let bench = Bench::new();
    let train = "rosenblatt train crates/data/bundled/iris.csv --algorithm perceptron --model iris.model";
    for format in ["onnx", "json", "csv", "sql", "c", "javascript", "scorecard"] {
        bench.ok(&format!("{train} --export {format} in-file.{format}"));
        let done = bench.run(&format!("{train} --export {format} - > piped"));
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        assert!(
            std::fs::read(bench.path("piped")).unwrap()
                == std::fs::read(bench.path(&format!("in-file.{format}"))).unwrap()
        );
        assert!(done.stderr.contains("model: iris.model"), "the report is on stderr: {}", done.stderr);
    }
    let both = bench.run(&format!("{train} --export json - --json"));
    assert_eq!((both.code, both.stdout.as_str()), (Some(2), ""));
    assert!(both.stderr.contains("export to a file, or leave `--json` out"), "{}", both.stderr);
}
