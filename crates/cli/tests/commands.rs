//! Commands one by one: what they print, where they stop, what they leave alone.

use crate::bench::Bench;
use std::fmt::Write as _;
use std::fs;

const TABLE: &str = "x,z,class\n4,0,dot\n1,1,star\n0,1,star\n-2,-2,dot\n5,-1,dot\n0,3,star\n";

#[test]
fn the_demo_does_the_main_job() {
    let text = Bench::new().ok("rosenblatt demo --model sms.model && rosenblatt inspect sms.model");
    for expected in [
        "5,574 rows",
        "held-out error: 0.",
        "top features for spam, by weight times spread (and share of rows): £",
        "What to try next",
    ] {
        assert!(text.contains(expected), "`{expected}` in\n{text}");
    }
}

#[test]
fn a_run_is_reproducible_to_the_byte() {
    let bench = Bench::new();
    for name in ["a.model", "b.model"] {
        bench.ok(&format!("rosenblatt train crates/data/bundled/sms-spam.tsv --seed 7 --model {name}"));
    }
    assert_eq!(fs::read(bench.path("a.model")).unwrap(), fs::read(bench.path("b.model")).unwrap());
    bench.ok("rosenblatt train crates/data/bundled/sms-spam.tsv --seed 8 --model c.model");
    assert_ne!(fs::read(bench.path("a.model")).unwrap(), fs::read(bench.path("c.model")).unwrap());
}

#[test]
fn the_same_data_in_other_clothes_gives_the_same_model() {
    let bench = Bench::new();
    bench.write("t.csv", "label,a,b\nplus,4,0.5\nminus,1,1.25\nminus,0.5,1\nplus,-2,-2\n");
    bench.write("t.svm", "plus 1:4 2:0.5\nminus 1:1 2:1.25\nminus 1:0.5 2:1\nplus 1:-2 2:-2\n");
    bench.ok("gzip -k t.svm && cat t.svm > t.txt");
    let train = "rosenblatt train --holdout 0 --scale none --quiet --json";
    let training_summary = |line: &str| {
        let report: serde_json::Value = serde_json::from_str(&bench.ok(line)).unwrap();
        report["training-summary"].clone()
    };
    let csv = training_summary(&format!("{train} t.csv --model csv.model"));
    assert_eq!(csv, training_summary(&format!("{train} t.svm --model svm.model")));
    assert_eq!(csv, training_summary(&format!("{train} t.svm.gz --model gz.model")));
    assert_eq!(csv, training_summary(&format!("cat t.svm | {train} - --model stdin.model")));
    let weights = |model: &str| {
        let text = bench.ok(&format!("rosenblatt inspect {model} --weights"));
        text.lines().map(|line| line.split_once(',').unwrap().1.to_owned()).collect::<Vec<_>>()
    };
    let expected = weights("csv.model");
    for model in ["svm.model", "gz.model", "stdin.model"] {
        assert_eq!(weights(model), expected, "{model}");
    }
    let bytes = |model: &str| fs::read(bench.path(model)).unwrap();
    assert_eq!(bytes("svm.model"), bytes("gz.model"));
    assert_eq!(bytes("svm.model"), bytes("stdin.model"));
}

#[test]
fn predictions_come_one_a_line_with_scores_on_request() {
    let bench = Bench::new();
    bench.write("t.csv", TABLE);
    bench.ok("rosenblatt train t.csv --holdout 0 --model t.model");
    bench.write("new.csv", "z,x\n0,6\n4,0\n");
    assert_eq!(bench.ok("rosenblatt predict new.csv --model t.model"), "dot\nstar\n");
    let scores = bench.ok("rosenblatt predict new.csv --model t.model --scores");
    assert!(scores.starts_with("class,score\ndot,-"), "{scores}");
    // Labels that come along are not looked at, whatever they say.
    bench.write("labelled.csv", "class,z,x\nnew,0,6\nother,4,0\n");
    assert_eq!(bench.ok("rosenblatt predict labelled.csv --model t.model"), "dot\nstar\n");
    bench.ok("rosenblatt train crates/data/bundled/banknote.csv --model notes.model");
    let notes = bench.ok("rosenblatt predict crates/data/bundled/banknote.csv --model notes.model");
    assert_eq!(notes.lines().count(), 1372);
    let missing = bench.run("printf 'z\\n1\\n' | rosenblatt predict - --model t.model");
    assert_eq!(missing.code, Some(1), "{}", missing.all());
    assert!(missing.stderr.contains("`x`"), "{}", missing.stderr);
}

#[test]
fn wrong_words_exit_with_2_and_bad_data_with_1() {
    let bench = Bench::new();
    bench.write("t.csv", TABLE);
    bench.write("one.csv", "x,class\n1,a\n2,a\n");
    let fails = |line: &str, code: i32, expected: &str| {
        let done = bench.run(line);
        assert_eq!(done.code, Some(code), "{line}\n{}", done.all());
        assert!(done.stderr.contains(expected), "{line}\n{}", done.stderr);
        assert!(done.stdout.is_empty(), "{line} printed {}", done.stdout);
    };
    fails("rosenblatt train t.csv --algorithm percetpron", 2, "did you mean `perceptron`?");
    fails("rosenblatt train t.csv --algorithm pa1 --param C=-1", 2, "`C` should be positive, but is -1");
    fails("rosenblatt train t.csv --mistake lt0", 2, "can never learn");
    fails("rosenblatt train t.csv --holdout 2", 2, "it should be a share from 0 up to 1");
    fails("rosenblatt train t.csv --zero maybe", 2, "one of plus, minus, random, wrong");
    fails("rosenblatt train", 2, "required");
    fails("rosenblatt train missing.csv", 1, "missing.csv: there is no such file");
    fails("rosenblatt train one.csv", 1, "at least two classes");
    bench.write("two.csv", "y,size,class\n1,2,a\n2,3,b\n");
    fails("rosenblatt train two.csv", 1, "`y` and `class` could both be the label");
    fails("rosenblatt train t.csv --model no/such/folder/t.model", 1, "no file can be made");
    fails("rosenblatt predict t.csv --model t.csv", 1, "not a Rosenblatt model");
}

#[test]
fn a_failed_run_leaves_the_old_model_and_no_litter() {
    let bench = Bench::new();
    bench.write("t.csv", TABLE);
    bench.ok("rosenblatt train t.csv --model t.model");
    let before = fs::read(bench.path("t.model")).unwrap();
    bench.write("bad.csv", format!("{TABLE}1,oops,dot\n"));
    let done = bench.run("rosenblatt train bad.csv --model t.model");
    assert_eq!(done.code, Some(1));
    assert!(done.stderr.contains("bad.csv:8:3"), "{}", done.stderr);
    assert_eq!(fs::read(bench.path("t.model")).unwrap(), before);
    let litter = bench.ok("ls -A | grep tmp || true");
    assert_eq!(litter, "");
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let bench = Bench::new();
    bench.ok("rosenblatt train crates/data/bundled/sms-spam.tsv --model sms.model");
    let line =
        "(rosenblatt predict crates/data/bundled/sms-spam.tsv --model sms.model; echo $? >&2) | head -1";
    let done = bench.run(line);
    assert_eq!((done.stdout.trim(), done.stderr.trim()), ("ham", "0"));
}

#[test]
fn help_pages_and_completions_are_there() {
    let bench = Bench::new();
    assert!(bench.ok("rosenblatt --help").contains("rosenblatt demo"));
    for command in ["train", "predict", "evaluate", "compare", "inspect", "convert", "algorithms"] {
        assert!(bench.ok(&format!("rosenblatt {command} --help")).contains("Example"), "{command}");
    }
    assert!(bench.ok("rosenblatt completions bash").contains("rosenblatt"));
    let page = bench.ok("rosenblatt man train");
    assert!(page.contains("rosenblatt-train"));
    // Options that `-h` leaves out are listed as well.
    assert!(page.contains("Make features of runs of words"), "{page}");
    let algorithms: serde_json::Value =
        serde_json::from_str(&bench.ok("rosenblatt algorithms --json")).unwrap();
    assert_eq!(algorithms.as_array().unwrap().len(), rosenblatt::algorithms::ALGORITHMS.len());
}

#[test]
fn every_cure_names_a_flag_that_exists() {
    // The data crate's errors say which option helps; one that has no flag would be no help.
    let bench = Bench::new();
    let known =
        ["train", "convert"].map(|command| bench.ok(&format!("rosenblatt {command} --help-all"))).concat();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/src");
    let mut waiting = vec![folder];
    let mut n_flags = 0;
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            waiting.extend(path.read_dir().unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        // A remedy names an option in braces, as in `{missing=mean}`; a name of Rust has no dashes.
        for line in text.lines().filter(|line| line.contains('"') && !line.trim_start().starts_with("//")) {
            for (place, _) in line.match_indices('{') {
                let rest = &line[place + 1..];
                let end = rest.find(|c: char| !(c.is_ascii_lowercase() || c == '-')).unwrap_or(rest.len());
                let (name, after) = rest.split_at(end);
                if !name.is_empty()
                    && (after.starts_with('=') || (after.starts_with('}') && name.contains('-')))
                {
                    assert!(known.contains(&format!("--{name}")), "{} names {name}", path.display());
                    n_flags += 1;
                }
            }
        }
    }
    assert!(n_flags > 20, "{n_flags}");
}

#[test]
fn a_column_of_text_is_found_and_what_is_no_label_is_not_taken_for_one() {
    let bench = Bench::new();
    let mut mail = "kind,message\n".to_owned();
    for row in 0..40 {
        let (kind, words) =
            if row % 2 == 0 { ("spam", "win a free prize now") } else { ("ham", "see you at home") };
        let _ = writeln!(mail, "{kind},\"{words}, it is number {row} of all\"");
    }
    bench.write("mail.csv", &mail);
    let done = bench.run("rosenblatt train mail.csv");
    assert_eq!(done.code, Some(0), "{}", done.all());
    assert!(done.stdout.contains("read as text: `message`"), "{}", done.stdout);
    assert!(done.stdout.contains("2 classes (ham 20, spam 20)"), "{}", done.stdout);
    assert!(done.stdout.contains("cross-validated error: 0.0 %"), "{}", done.stdout);
    bench.write("new.csv", "message\nfree prize\nat home\n");
    assert_eq!(bench.ok("rosenblatt predict new.csv --model mail.model"), "spam\nham\n");
    // Two columns could be the label, and neither says so.
    let two = mail.replace("kind,", "kind,sender,").replace("spam,", "spam,x,").replace("ham,", "ham,z,");
    bench.write("two.csv", two);
    let done = bench.run("rosenblatt train two.csv");
    assert_eq!(done.code, Some(1), "{}", done.all());
    assert!(
        done.stderr.contains("which column is the label?") && done.stderr.contains("`kind`, `sender`"),
        "{}",
        done.stderr
    );
    // Names are different in every row, but no text.
    let names: Vec<String> = (0..40).map(|row| format!("{},{row}0,name{row}\n", row % 2)).collect();
    bench.write("names.csv", format!("a,b,name\n{}", names.concat()));
    let done = bench.run("rosenblatt train names.csv");
    assert_eq!(done.code, Some(0), "{}", done.all());
    assert!(
        done.stdout.contains("label: column `a` (a guess, the only one that could be; choose with --label)"),
        "{}",
        done.stdout
    );
    assert!(done.stdout.contains("left out, as almost every row has a value of its own: `name`"));
    // Where every row has a value of its own in every column, none can be the label.
    let numbers: Vec<String> = (0..40).map(|row| format!("{row}.5,{row}0.25\n")).collect();
    bench.write("numbers.csv", format!("a,b\n{}", numbers.concat()));
    let done = bench.run("rosenblatt train numbers.csv");
    assert_eq!(done.code, Some(1), "{}", done.all());
    assert!(done.stderr.contains("label"), "{}", done.stderr);
}

#[test]
fn every_lesson_prints_its_trace_and_leaves_its_film() {
    let bench = Bench::new();
    let lessons = ["and", "xor", "lecture", "margin", "voted", "kernel", "order", "rate", "scaling"];
    for lesson in lessons {
        let text = bench.ok(&format!("rosenblatt demo {lesson} --folder class 2>&1"));
        assert!(text.contains("round  epoch  row"), "{text}");
        assert!(
            text.contains(&format!("Open class/{lesson}.svg"))
                && text.contains(&format!(
                    "in a browser; `rosenblatt playground class/{lesson}.csv --settings \"order="
                )),
            "{text}"
        );
        let film = fs::read_to_string(bench.path(&format!("class/{lesson}.svg"))).unwrap();
        assert!(film.starts_with("<?xml") && film.contains("@keyframes"), "{lesson}");
    }
    // What is to be seen comes before what is printed.
    let text = bench.ok("rosenblatt demo rate --folder class");
    assert!(text.find("a tenth of the first").unwrap() < text.find("round  epoch  row").unwrap(), "{text}");
    // Lessons show what they claim.
    let text = bench.ok("rosenblatt demo scaling --folder class");
    assert!(text.contains("not converged after") && text.contains("converged in epoch 2"), "{text}");
    let text = bench.ok("rosenblatt demo multiclass --folder class");
    let claims = [
        "apple against the rest   not separable",
        "the weights are what they were after",
        "converged in epoch",
    ];
    assert!(claims.iter().all(|claim| text.contains(claim)), "{text}");
    // Of many rows the first are printed, and how many follow.
    let text = bench.ok("rosenblatt demo voted --folder class");
    let head = "$ head -n 6 voted.csv\nx1,x2,class\n1.9,-0.8,plus\n";
    assert!(text.contains(head) && text.contains("… and 55 more lines in voted.csv\n"), "{text}");
    let text = bench.ok("rosenblatt demo overfitting --folder class");
    let places = [
        "Of 31 held-out rows",
        "held-out error: 9.68 %",
        "training error: 10.0 %",
        "held-out error: 16.1 %",
        "training error: 0.0 %",
    ];
    let mut rest = text.as_str();
    for place in places {
        rest = rest.split_once(place).unwrap_or_else(|| panic!("{place} in order in {text}")).1;
    }
    assert!(
        text.contains("Open class/overfitting-curves.svg and class/overfitting.svg in a browser"),
        "{text}"
    );
    let listed = bench.ok("rosenblatt demo list");
    assert!(lessons.iter().chain(&["approximation"]).all(|lesson| listed.contains(&format!("  {lesson} "))));
    assert!(!listed.contains("can tell"), "{listed}");
    let help = bench.ok("rosenblatt demo --help");
    assert!(lessons.iter().all(|lesson| help.contains(&format!("- {lesson}:"))), "{help}");
    // A second visit finds the rows as they were; a changed file is left alone.
    bench.ok("rosenblatt demo xor --folder class");
    bench.write("class/xor.csv", "x1,x2,class\n0,0,mine\n");
    let refused = bench.run("rosenblatt demo xor --folder class");
    assert!(
        refused.code == Some(1) && refused.stderr.contains("xor.csv: it holds something else"),
        "{}",
        refused.all()
    );
    assert_eq!(fs::read_to_string(bench.path("class/xor.csv")).unwrap(), "x1,x2,class\n0,0,mine\n");
}

#[test]
fn quiet_leaves_the_result_alone() {
    let bench = Bench::new();
    bench.write("t.csv", TABLE);
    let done = bench.run("rosenblatt train t.csv -q --model t.model --keep-previous");
    assert_eq!((done.code, done.all().as_str()), (Some(0), ""));
    let printed = bench.run("rosenblatt train t.csv --quiet --json --model t.model");
    assert!(printed.stdout.starts_with('{') && printed.stderr.is_empty(), "{}", printed.all());
    let labels = bench.run("rosenblatt --quiet predict t.csv --model t.model");
    assert_eq!((labels.stdout.lines().count(), labels.stderr.as_str()), (6, ""));
    for line in
        ["report t.csv --model t.model -o t.html", "plot boundary t.csv -o t.svg", "convert t.csv t.svm"]
    {
        let done = bench.run(&format!("rosenblatt {line} --quiet"));
        assert_eq!((done.code, done.all().as_str()), (Some(0), ""), "{line}");
    }
    let refused = bench.run("rosenblatt train nothing.csv --quiet");
    assert!(refused.code == Some(1) && refused.stderr.contains("nothing.csv"), "{}", refused.all());
}

#[test]
fn what_would_be_ignored_is_refused() {
    let bench = Bench::new();
    bench.write("t.csv", TABLE);
    bench.ok("rosenblatt train t.csv --holdout 0 --model t.model");
    bench.write("new.csv", "x,z\n1,2\n3,4\n");
    for (line, code, expected) in [
        ("tune t.csv --algorithm pa1", 2, "`--algorithms`"),
        ("tune t.csv --online", 2, "a race needs all rows"),
        ("predict t.csv --model t.model --missing mean", 2, "`--missing` is decided when a model is trained"),
        ("evaluate t.csv --model t.model --scale none", 2, "`--scale` is decided when a model is trained"),
        ("report t.csv --model t.model --hash-bits 9", 2, "`--hash-bits` is decided when a model is trained"),
        ("evaluate new.csv --model t.model", 1, "help"),
        ("report new.csv --model t.model", 1, "help"),
    ] {
        let done = bench.run(&format!("rosenblatt {line}"));
        assert!(done.code == Some(code) && done.stderr.contains(expected), "{line}\n{}", done.all());
    }
    // Names that people bring along from elsewhere.
    bench.ok(
        "rosenblatt train t.csv --target class --test-size 0 --max-iter 3 --random-state 1 --model u.model",
    );
}

/// What a report says of the rows learned from, of epochs, bounds and probabilities is so.
#[test]
fn reports_say_what_is_so() {
    let bench = Bench::new();
    let train = "rosenblatt train crates/data/bundled/banknote.csv --model m.model";
    let has = |text: &str, expected: &str| assert!(text.contains(expected), "`{expected}` in\n{text}");
    // A rule that stops early does so where it is judged, and learns for as long from all rows.
    let text = bench.ok(&format!("{train} --folds 5 --algorithm perceptron"));
    has(&text, "the model itself learned from all rows\n");
    has(&text, "epochs over 1,372 rows");
    has(&text, "stopped early: after as many epochs as the trainings that were judged");
    has(&bench.ok("rosenblatt inspect m.model"), "the model itself learned from all rows\n");
    // Where nothing else tells how long, rows of its own decide. So its training error is of both, and the page agrees.
    let both = "1,372 rows: 1,235 learned from, 137 that decided when to stop";
    for flags in ["--holdout 0", "--holdout 0 --epochs 9"] {
        let text = bench.ok(&format!("{train} {flags} --algorithm perceptron"));
        has(&text, &format!("of {both})"));
        has(&text, "of 9 epochs tried, epoch 9 is kept");
        bench.ok("rosenblatt report crates/data/bundled/banknote.csv --model m.model -o m.html");
        let page = bench.ok("cat m.html");
        has(&page, "<strong>1,235</strong> <span>rows learned from");
        has(&page, "9 epochs over 1,235 rows");
    }
    let text = bench.ok(&format!("{train} --folds 5 --algorithm perceptron --patience 0"));
    has(&text, "the model itself learned from all rows\n");
    has(&text, "of 1,372 rows that it learned from)");
    // The probabilities of a race are not of held-out rows.
    let text = bench.ok(train);
    assert!(!text.contains("may be the more probable"), "{text}");
    has(&bench.ok("rosenblatt inspect m.model"), "fitted on the winner's held-out scores of 1,372 rows");
    let text = bench.ok(&format!("{train} --class-weight balanced --algorithm perceptron"));
    has(&text, "another class than the one named may be the more probable");
    has(&bench.ok("rosenblatt inspect m.model"), "fitted on 1,372 held-out rows");
    // One run has one bound, and each rule its own.
    bench.write("t.csv", "x,z,class\n4,0,dot\n1,1,star\n0,1,star\n-2,-2,dot\n");
    let plain = "rosenblatt train t.csv --bias none --scale none --order given --holdout 0 --model t.model";
    let text = bench.ok(&format!("{plain} --bounds"));
    has(&text, "largest margin: at least 0.784464541, at most 0.784464541");
    assert!(!text.contains("by the bound"), "{text}");
    let text = bench.ok(&format!("{plain} --algorithm perceptron"));
    has(&text, "by the bound (R/margin)^2 with the margin of these weights");
    let text = bench.ok(&format!("{plain} --algorithm pa1"));
    has(&text, "by the bound max(R^2, 1/C) / margin^2 with the margin of these weights");
}

/// What is advised can help: no likeness that is none, no rare classes where none is, no word on an estimate not made.
#[test]
fn advice_is_about_what_is_there() {
    let bench = Bench::new();
    bench.write("xor.csv", "x1,x2,class\n1,1,same\n1,-1,other\n-1,1,other\n-1,-1,same\n");
    let text = bench.ok("rosenblatt train xor.csv --holdout 0 --algorithm perceptron --model x.model");
    assert!(text.contains("no row was recognised of") && !text.contains("help: `--cost"), "{text}");
    assert!(!text.contains("the estimate is rough"), "{text}");
    let refused = bench.run("rosenblatt compare xor.csv --class-weight balanced");
    assert_eq!(refused.code, Some(2));
    assert!(!refused.stderr.contains("--scale"), "{}", refused.stderr);
    assert!(refused.stderr.contains("Usage: rosenblatt compare [OPTIONS] <FILE>..."), "{}", refused.stderr);
    let refused = bench.run("rosenblatt train xor.csv --class-wieght balanced");
    assert!(refused.stderr.contains("'--class-weight'"), "{}", refused.stderr);
}
