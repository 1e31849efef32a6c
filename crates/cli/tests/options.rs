//! Every option of every command that reads rows, on rows of every task: it changes what comes out, or it is refused.
//! Which options there are is asked of the program, and one that stands in no list here fails the test.
//!
//! `ROSENBLATT_OPTIONS=full` tries every option of every command on every task; else all of `train`, and of the other commands
//! each on one task in turn. How many were tried is written to the file that `ROSENBLATT_OPTIONS_TRIED` names.

use crate::bench::Bench;
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;

/// A value for every option that would matter to rows for which the option means something.
const VALUES: &[(&str, &str)] = &[
    ("activation", "tanh"),
    ("against", "yes"),
    ("algorithm", "pa1"),
    ("algorithms", "pa1"),
    ("beam", "2"),
    ("bias", "none"),
    ("blank", ""),
    ("bounds", ""),
    ("budget", "1ms"),
    ("by", "who"),
    ("calibrate", "isotonic"),
    ("canvas", "300x200"),
    ("categorical", "1"),
    ("characters", ""),
    ("class", "yes"),
    ("class-weight", "yes=7"),
    ("classes", "yes,no,low,N,V,D,P,other"),
    ("colour", ""),
    ("columns", "2,1"),
    ("constraints", "bio"),
    ("cost", "yes=9"),
    ("cross", "1,2"),
    ("degree", "3"),
    ("delimiter", "';'"),
    ("distance", ""),
    ("epochs", "1"),
    ("explain", "2"),
    ("features", "ner"),
    ("folder", "z"),
    ("folds", "4"),
    ("format", "vw"),
    ("frames", "3"),
    ("gamma", "0.3"),
    ("gap", "0.3"),
    ("group", "who"),
    ("grow-classes", ""),
    ("hash-bits", "3"),
    ("header", "no"),
    ("hidden", "3"),
    ("history", "2"),
    ("holdout", "0.45"),
    ("ignore", "1"),
    ("image", "2x2"),
    ("interval", "0.5"),
    ("k-best", "2"),
    ("keep", "who"),
    ("kernel", "rbf"),
    ("label", "2"),
    ("label-cost", "0.9"),
    ("labels", "other"),
    ("loss", "squared"),
    ("map", "fourier"),
    ("map-size", "16"),
    ("max-features", "1"),
    ("max-line", "2"),
    ("max-updates", "3"),
    ("metric", "auc"),
    ("min-count", "5"),
    ("mistake", "lt0"),
    ("monotone", "a=+"),
    ("multiclass", "one-vs-one"),
    ("ngrams", "1-3"),
    ("licences", ""),
    ("no-buttons", ""),
    ("no-held-out-scores", ""),
    ("no-refit", ""),
    ("offset", "2"),
    ("online", ""),
    ("optimiser", "sgd"),
    ("order", "shuffle-once"),
    ("output-loss", "hinge"),
    ("param", "C=0.37"),
    ("patience", "1"),
    ("permutations", "2"),
    ("positive", "no"),
    ("precision", "f64"),
    ("principal", ""),
    ("probabilities", ""),
    ("rate", "0.37"),
    ("ratchet", "no"),
    ("readout", "voted"),
    ("readouts", "voted"),
    ("removal", "random"),
    ("rounds", "3"),
    ("rows", "20"),
    ("scale", "min-max"),
    ("scores", ""),
    ("seed", "9"),
    ("shape", "'bend(knots=3)'"),
    ("shards", "2"),
    ("shuffle", ""),
    ("size", "3x3"),
    ("split", "0.5"),
    ("still", ""),
    ("stratified", "no"),
    ("support", ""),
    ("support-budget", "3"),
    ("task", "regression"),
    ("text", "1"),
    ("theme", "dark"),
    ("threshold", "0.95"),
    ("start", "1"),
    ("time", "day"),
    ("title", "hello"),
    ("to", "jsonl"),
    ("top", "1"),
    ("training-rows", ""),
    ("unit-hypotheses", ""),
    ("unlabelled", ""),
    ("violation", "early"),
    ("votes", ""),
    ("weight", "1"),
    ("weights", ""),
    ("words", "binary"),
    ("zero", "plus"),
    ("zero-based", ""),
];

/// Options that have nothing to change in these rows, and why.
const ELSEWHERE: &[(&str, &[&str])] = &[
    (
        "files, and how they are written; `outputs` tries them",
        &[
            "files",
            "models",
            "data",
            "lesson",
            "input",
            "model",
            "output",
            "export",
            "certificate",
            "check",
            "test-out",
            "start-from",
            "keep-previous",
            "date",
            "json",
            "kind",
            "help-all",
        ],
    ),
    (
        "the time, and no result",
        &["threads", "memory", "cache", "kernel-memory", "device", "checkpoint-every", "resume"],
    ),
    (
        "what these rows do not have: missing values, bad rows, unknown categories",
        &["missing", "skip-bad-rows", "unknown"],
    ),
    ("limits that these rows do not reach", &["max-classes", "max-vocabulary", "max-pixels"]),
    ("numbers of features, which go by name here", &["to-zero-based"]),
    ("a run that ends without a mistake, which none of these does", &["stop-when-clean"]),
];

/// Rows of each task: the file, the rule for it, and options that have nothing to change in these rows.
const TASKS: [(&str, &str, &[&str]); 5] = [
    ("classes.csv", "perceptron", &[]),
    ("two.csv", "perceptron", &["multiclass"]),
    ("numbers.csv --label price", "ridge", &["order", "readout", "seed", "task"]),
    ("s.conll", "perceptron", &["calibrate", "constraints", "epochs", "label"]),
    ("t.tsv", "perceptron", &["multiclass", "header", "epochs"]),
];

/// Commands with what they print or leave in a file called `out`, and options that have nothing to change there.
const COMMANDS: [(&str, &str, &[&str]); 20] = [
    ("train", "FILE -a RULE --epochs 3 --holdout 0.3 --model out --json", &[]),
    ("predict", "FILE --model base --scores", &["scores", "precision"]),
    ("evaluate", "FILE --model base --json", &["precision"]),
    ("convert", "FILE out --to csv", &["precision"]),
    ("trace", "FILE --rounds 12", &["precision", "order", "seed", "zero", "readout"]),
    ("compare", "FILE --algorithms RULE --epochs 3 --json", &[]),
    ("tune", "FILE --algorithms RULE --epochs 3 --model out --json", &[]),
    ("certify", "FILE --positive yes --time 1 --json", CERTAIN),
    ("report", "FILE --model base -o out --json", &[]),
    ("inspect", "base --json", &[]),
    ("mix", "base other -o out --json", &[]),
    ("plot", "boundary NUMBERS -a RULE --epochs 3 -o out --to svg", DRAWN),
    ("plot", "boundary NUMBERS -a RULE --epochs 3 --frames -o out --to svg", DRAWN),
    ("plot", "curves FILE -a RULE --epochs 3 -o out --to svg", DRAWN),
    ("plot", "mistakes FILE -a RULE --epochs 3 -o out --to svg", DRAWN),
    ("plot", "confusion FILE --model base -o out --to svg", DRAWN),
    ("plot", "weights --model base -o out --to svg", DRAWN),
    ("plot", "fit FILE --model base -o out --to svg", DRAWN),
    ("demo", "list", &[]),
    ("reproduce", "freund-schapire --data mnist --degree 1 --epochs 0.1", &[]),
];

/// These rows are decided at once, and exactly.
const CERTAIN: &[&str] = &["gap", "precision"];

/// Parts of a drawing are too small to show these.
const DRAWN: &[&str] = &["precision", "rate", "zero"];

fn prepared() -> Bench {
    let bench = Bench::new();
    let (mut classes, mut two, mut numbers) = ("kind".to_owned(), "kind".to_owned(), "price".to_owned());
    for table in [&mut classes, &mut two, &mut numbers] {
        table.insert_str(0, "a,b,city,who,day,");
    }
    for row in 0..90 {
        let (a, b) = (f64::from(row * 37 % 89) / 10.0, f64::from(row * 53 % 97) / 10.0);
        let sum = a - b + f64::from(row % 3) + f64::from(row * 17 % 7) / 3.0;
        let cells = format!("\n{a},{b},{},p{},{row},", ["x", "y", "z"][row as usize % 3], row % 9);
        let _ = write!(
            classes,
            "{cells}{}",
            if sum < -1.0 {
                "no"
            } else if sum < 4.0 {
                "low"
            } else {
                "yes"
            }
        );
        let _ = write!(two, "{cells}{}", if sum < 2.0 { "no" } else { "yes" });
        let _ = write!(numbers, "{cells}{sum:.2}");
    }
    bench.write("classes.csv", classes + "\n");
    bench.write("two.csv", two + "\n");
    bench.write("numbers.csv", numbers + "\n");
    bench.write(
        "s.conll",
        "the D\ncat N\nruns V\n\na D\nrun N\n\nshe P\nran V\nhome N\n\nruns N\nend V\n\n".repeat(6),
    );
    let line = |row: usize| {
        let word = ["cash prize", "win now", "see you", "at home"][(row * 7 + row / 5) % 4];
        format!("{}\t{word} one{} two{}\n", if row % 4 < 2 { "yes" } else { "no" }, row % 3, row % 11)
    };
    bench.write("t.tsv", (0..60).map(line).collect::<String>());
    // Pictures of 4 by 4 pixels, and their labels, as the experiment's are.
    fs::create_dir(bench.path("mnist")).unwrap();
    for (half, n_rows) in [("train", 60_u8), ("t10k", 30)] {
        let pixels = (0..u32::from(n_rows) * 16).map(|pixel| (pixel * 37 % 251) as u8);
        let images = [0, 0, 8, 3, 0, 0, 0, n_rows, 0, 0, 0, 4, 0, 0, 0, 4].into_iter().chain(pixels);
        bench.write(&format!("mnist/{half}-images-idx3-ubyte"), images.collect::<Vec<u8>>());
        let labels = [0, 0, 8, 1, 0, 0, 0, n_rows].into_iter().chain((0..n_rows).map(|row| row % 10));
        bench.write(&format!("mnist/{half}-labels-idx1-ubyte"), labels.collect::<Vec<u8>>());
    }
    bench
}

/// What a run printed and left, without times and without what only repeats the options.
fn outcome(bench: &Bench, line: &str) -> (Option<i32>, String, Vec<u8>, String) {
    let _ = fs::remove_file(bench.path("out"));
    let done = bench.run(&format!("timeout 100 rosenblatt {line}"));
    let untimed_text = |text: &str| -> String {
        text.split_inclusive('\n').filter(|line| !line.starts_with("in ")).collect()
    };
    let printed = serde_json::from_str(&done.stdout)
        .map_or_else(|_| untimed_text(&done.stdout), |report| untimed(report).to_string());
    let mut left = fs::read(bench.path("out")).unwrap_or_default();
    if printed.starts_with('{') && left.starts_with(b"RBLATT") {
        // The header of a model holds the options, too.
        let length = u64::from_le_bytes(left[16..24].try_into().unwrap()) as usize;
        left.drain(..64 + length);
    }
    (done.code, printed, left, done.stderr)
}

fn untimed(report: Value) -> Value {
    match report {
        Value::Object(fields) => {
            // How far the perceptron of a proof came in its time.
            let timed = ["spec", "model", "model-bytes", "perceptron"];
            let is_kept = |name: &str| !name.contains("second") && !timed.contains(&name);
            fields
                .into_iter()
                .filter(|(name, _)| is_kept(name))
                .map(|(name, value)| (name, untimed(value)))
                .collect()
        }
        Value::Array(values) => values.into_iter().map(untimed).collect(),
        value => value,
    }
}

#[test]
fn every_option_changes_what_comes_out_or_is_refused() {
    let bench = prepared();
    let catalogue: Value = serde_json::from_str(&bench.ok("rosenblatt catalogue --json")).unwrap();
    let is_full = std::env::var("ROSENBLATT_OPTIONS").is_ok_and(|mode| mode == "full");
    let (mut silent, mut n_tried) = (String::new(), 0);
    for (task, (file, rule, of_task)) in TASKS.into_iter().enumerate() {
        bench.ok(&format!("rosenblatt train {file} -a {rule} --epochs 3 --quiet --model base"));
        bench.ok(&format!("rosenblatt train {file} -a {rule} --epochs 3 --seed 5 --quiet --model other"));
        let numbers = if file.contains("csv") { format!("{file} --columns a,b") } else { file.to_owned() };
        for (place, (command, words, of_command)) in COMMANDS.iter().enumerate() {
            let line = format!("{command} {words}").replace("FILE", file).replace("RULE", rule);
            let line = line.replace("NUMBERS", &numbers);
            let plain = outcome(&bench, &line);
            assert_eq!(plain, outcome(&bench, &line), "{line}: twice the same");
            assert!(matches!(plain.0, Some(0..=3)), "{line}: {}", plain.3);
            let known = catalogue["commands"]
                .as_array()
                .unwrap()
                .iter()
                .find(|known| known["name"] == *command)
                .unwrap();
            let names =
                known["options"].as_array().unwrap().iter().map(|option| option["name"].as_str().unwrap());
            for (number, name) in names.enumerate() {
                let is_elsewhere = ELSEWHERE.iter().any(|(_, names)| names.contains(&name));
                if is_elsewhere || of_task.contains(&name) || of_command.contains(&name) {
                    continue;
                }
                // The words of a model are as many as they are.
                if name == "max-features" && file == "t.tsv" && words.contains("--model base") {
                    continue;
                }
                let value = VALUES.iter().find(|(known, _)| *known == name);
                let (_, value) = value.unwrap_or_else(|| panic!("say what `--{name}` of `{command}` may be"));
                // All of `train`, and of the others each option on one of the tasks; of the pictures every third.
                let is_its_turn = number % TASKS.len() == (task + place) % TASKS.len()
                    && (*command != "plot" || number % 3 == place % 3);
                if plain.0 == Some(2) || !is_full && *command != "train" && !is_its_turn {
                    continue;
                }
                n_tried += 1;
                // It takes the place of what the line says.
                let mut given: Vec<&str> = line.split(' ').collect();
                let short = if name == "algorithm" { "-a".to_owned() } else { format!("--{name}") };
                if let Some(at) = given.iter().position(|word| *word == short) {
                    given.drain(at..at + 2);
                }
                let asked = format!("{} --{name} {value}", given.join(" "));
                let (code, printed, left, stderr) = outcome(&bench, &asked);
                let is_refused = matches!(code, Some(1 | 2)) && stderr.contains("error: ");
                // A proof that is open is an answer, too.
                let is_heeded = matches!(code, Some(0 | 3))
                    && (plain.0 != Some(0) || printed != plain.1 || left != plain.2);
                if !is_refused && !is_heeded {
                    let _ = writeln!(silent, "{asked}: {code:?} {}", stderr.trim());
                }
            }
        }
    }
    assert!(silent.is_empty(), "neither heeded nor refused:\n{silent}");
    if let Some(path) = std::env::var_os("ROSENBLATT_OPTIONS_TRIED") {
        fs::write(path, n_tried.to_string()).unwrap();
    }
}

/// The parser's own rule is silent where what an option needs goes with none of the others.
#[test]
fn an_option_that_needs_another_is_refused_without_it_whatever_else_is_there() {
    let bench = prepared();
    for (line, needed) in [
        ("train two.csv --model m --folds 3 --blank", "--start-from"),
        ("train two.csv --model m --epochs 3 --grow-classes", "--online"),
        ("train two.csv --model m --online --cache c", "--memory"),
        ("certify two.csv --check no.json --against yes", "--positive"),
        ("certify two.csv --model m --degree 3", "--kernel"),
        ("certify two.csv --monotone --offset 3", "--kernel"),
        ("convert two.csv out.csv --seed 3", "--shuffle"),
    ] {
        let done = bench.run(&format!("rosenblatt {line}"));
        assert!(done.code == Some(2) && done.stderr.contains(needed), "{line}\n{}", done.all());
    }
    bench.ok("rosenblatt train two.csv -a perceptron --model m");
    for option in ["gap 0.1", "time 3s"] {
        let done = bench.run(&format!("rosenblatt certify m --monotone --{option}"));
        assert!(
            done.code == Some(2) && done.stderr.contains("cannot be used with"),
            "{option}\n{}",
            done.all()
        );
    }
}

/// What was accepted once though nothing came of it; each is refused by its name.
#[test]
fn an_option_that_changes_nothing_is_refused_by_its_name() {
    let bench = prepared();
    bench.ok("rosenblatt train two.csv -a perceptron --epochs 3 --quiet --model base");
    for (line, named) in [
        ("tune two.csv --algorithms perceptron,pa1 --patience 3 --model m", "--patience"),
        ("train two.csv --algorithm auto --patience 3 --model m", "--patience"),
        ("plot curves two.csv -a perceptron --patience 3 -o o.svg", "--patience"),
        ("plot mistakes two.csv -a perceptron --patience 3 -o o.svg", "--patience"),
        ("plot curves two.csv -a perceptron --readout voted -o o.svg", "--readout"),
        ("plot boundary two.csv -a perceptron --columns a,b --ratchet no -o o.svg", "--ratchet"),
        ("plot confusion two.csv -a perceptron --ratchet no -o o.svg", "--ratchet"),
        ("plot weights two.csv --model base --training-rows -o o.svg", "--training-rows"),
        ("demo --licences --json", "--licences"),
        ("demo --licences --model m", "--licences"),
        ("demo list --folder z", "--folder"),
        ("train t.tsv -a perceptron --max-features 1 --model m", "--max-features"),
    ] {
        let done = bench.run(&format!("rosenblatt {line}"));
        let is_named = done.stderr.contains("error: ") && done.stderr.contains(named);
        assert!(matches!(done.code, Some(1 | 2)) && is_named, "{line}\n{:?} {}", done.code, done.all());
        assert!(!bench.path("m").exists() && !bench.path("o.svg").exists(), "{line}");
    }
    bench.ok("rosenblatt plot curves two.csv -a perceptron --readouts last,pocket --ratchet no -o o.svg");
    bench.ok(
        "rosenblatt plot boundary two.csv -a perceptron --columns a,b --readout pocket --ratchet no -o o.svg",
    );
    let catalogue: Value = serde_json::from_str(&bench.ok("rosenblatt catalogue --json")).unwrap();
    let commands = catalogue["commands"].as_array().unwrap();
    let of = commands.iter().find(|command| command["name"] == "reproduce").unwrap();
    assert!(of["options"].as_array().unwrap().iter().any(|option| option["name"] == "permutations"));
}
