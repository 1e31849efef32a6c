//! Nothing goes on for ever or takes all there is: rules, crafted models, devices without end, scores beyond numbers, and
//! what a terminal is sent.

use crate::bench::Bench;
use rosenblatt::algorithms::ALGORITHMS;
use rosenblatt::model::model_checksum;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const PREFIX: usize = 64;

/// Rows of three features that are nearly separable.
fn prepared() -> Bench {
    let bench = Bench::new();
    let line =
        |row: usize| format!("{} 1:0.{} 2:0.{} 3:1\n", u8::from(row % 7 < 3), (row * 7) % 13, (row * 5) % 11);
    bench.write("d.svm", (0..120).map(line).collect::<String>());
    bench
}

/// The model at `from` with another header and other arrays, as `to`.
fn craft(bench: &Bench, from: &str, to: &str, change: impl FnOnce(&mut Value, &mut Vec<u8>)) {
    let bytes = fs::read(bench.path(from)).unwrap();
    let length = u64::from_le_bytes(bytes[16..24].try_into().unwrap()) as usize;
    let mut header: Value = serde_json::from_slice(&bytes[PREFIX..PREFIX + length]).unwrap();
    let mut body = bytes[PREFIX + length..].to_vec();
    change(&mut header, &mut body);
    let header = serde_json::to_vec(&header).unwrap();
    let mut crafted = [&bytes[..PREFIX], &header, &body].concat();
    crafted[16..24].copy_from_slice(&(header.len() as u64).to_le_bytes());
    crafted[24..32].copy_from_slice(&(body.len() as u64).to_le_bytes());
    model_checksum(&mut crafted);
    bench.write(to, crafted);
}

#[test]
fn every_rule_comes_to_an_end_whatever_rows_weigh() {
    let bench = Bench::new();
    bench.write("q.svm", "1 1:1 2:2\n0 1:2 2:1\n1 1:2 2:3\n0 1:3 2:1\n");
    for entry in ALGORITHMS.iter() {
        let name = entry.info.name;
        for more in ["--epochs 20 --holdout 0", "--scale none --online"] {
            let done = bench.run(&format!(
                "timeout 60 rosenblatt train q.svm -a {name} --class-weight 0=1e300 --precision f64 {more} --model q.model"
            ));
            assert!(matches!(done.code, Some(0..=2)), "{name} {more}\n{:?} {}", done.code, done.all());
        }
    }
}

#[test]
fn a_signal_ends_a_training_whose_rows_are_met_again_and_again() {
    let bench = Bench::new();
    let line = |row: usize| format!("{} 1:{} 2:{}\n", row % 2, (row * 7) % 13, (row * 5) % 11);
    bench.write("d.svm", (0..4000).map(line).collect::<String>());
    for rule in ["aggressive-romma", "dynamic-margin", "alma"] {
        let start = Instant::now();
        let done = bench.run(&format!(
            "rosenblatt train d.svm -a {rule} --class-weight 0=1e300 --precision f64 --epochs 1000000 --patience 0 \
             --holdout 0 --model x.model & p=$!; while ! test -e .x.model.lock; do sleep 0.02; done; sleep 1; \
             kill -TERM $p; (sleep 20; kill -9 $p) > /dev/null 2>&1 & wait $p"
        ));
        let printed = format!("{rule} after {:?}: {:?} {}", start.elapsed(), done.code, done.all());
        // What was over before the signal came is no failure.
        assert!(matches!(done.code, Some(143 | 0 | 1)), "{printed}");
        assert!(start.elapsed() < Duration::from_secs(20), "{printed}");
        let _ = fs::remove_file(bench.path("x.model"));
    }
}

/// Every command that works for long, and each at several moments: while it reads, keeps rows on disk, races, learns, judges,
/// proves, draws and writes. A second is the promise, and six for parts that know nothing of signals; a busy machine gets more.
#[test]
fn a_signal_ends_every_phase() {
    let bench = Bench::new();
    let mut random = rosenblatt::learning::Random::new(5);
    let mut table = "a,b,c,d,e,f,kind,price\n".to_owned();
    for _ in 0..30_000 {
        let values: Vec<f64> = (0..6).map(|_| random.below(2000) as f64 / 1000.0 - 1.0).collect();
        let sum = values[0] * 3.0 + values[1] * values[2] - values[3] + random.below(100) as f64 / 60.0;
        let cells: Vec<String> = values.iter().map(ToString::to_string).collect();
        let _ = writeln!(table, "{},k{},{sum:.4}", cells.join(","), (sum * 2.0).rem_euclid(6.0) as u32);
    }
    bench.write("t.csv", table);
    bench.ok("rosenblatt train t.csv --label kind --ignore price -a perceptron --epochs 1 --holdout 0 --quiet --model m.model");
    bench.ok("head -4000 t.csv > s.csv; rosenblatt train s.csv --label kind --ignore price --kernel rbf --epochs 1 --holdout 0 --quiet --model k.model");
    let rows = "t.csv --label kind --ignore price";
    let commands = [
        format!("train {rows} --model x.model"),
        format!("train {rows} --folds 8 --algorithm pa1 --epochs 400 --patience 0 --model x.model"),
        format!("train {rows} --memory 1MiB --cache c.cache --epochs 3000 --patience 0 --model x.model"),
        format!("train {rows} --memory 1MiB --holdout 0.5 --epochs 1 --calibrate isotonic --model x.model"),
        format!("train {rows} --kernel rbf --epochs 50 --model x.model"),
        format!("train {rows} --kernel rbf --support-budget 3000 --model x.model"),
        format!("train {rows} --map fourier --map-size 4096 --model x.model"),
        format!("train {rows} --map nystroem --map-size 2500 --model x.model"),
        format!("train {rows} --algorithm mlp --hidden 300,300 --epochs 900 --model x.model"),
        format!("train {rows} --shape 'bend(knots=60)' --algorithm logistic-dual --model x.model"),
        format!(
            "train {rows} --algorithm perceptron --readout voted --epochs 900 --patience 0 --model x.model"
        ),
        format!(
            "train {rows} --algorithm perceptron --readout pocket --epochs 900 --patience 0 --model x.model"
        ),
        "train t.csv --label price --ignore kind --model x.model".to_owned(),
        "train t.csv --label price --ignore kind --map fourier --map-size 2000 --model x.model".to_owned(),
        "train t.csv --label price --ignore kind --algorithm quantile --model x.model".to_owned(),
        format!("tune {rows} --algorithms perceptron,pa1@rbf --folds 9 --model x.model"),
        format!("compare {rows} --algorithms logistic-dual,perceptron@rbf"),
        format!("certify {rows}"),
        format!("certify {rows} --kernel polynomial --degree 4"),
        "predict t.csv --model k.model --output out.csv".to_owned(),
        "evaluate t.csv --model k.model --by kind".to_owned(),
        "report t.csv --model k.model -o out.html".to_owned(),
        format!("plot curves {rows} --epochs 4000 -o out.svg"),
        "plot margins t.csv --model k.model -o out.svg".to_owned(),
    ];
    let mut late = String::new();
    let mut n_ended = 0;
    for (number, command) in commands.iter().enumerate() {
        for (moment, signal) in [("0.3", "TERM"), ("1.6", "INT")] {
            let done = bench.run(&format!(
                "rosenblatt {command} --quiet > out.txt 2> err.txt & p=$!; sleep {moment}; \
                 if kill -{signal} $p 2> /dev/null; then date +%s%N; (sleep 30; kill -9 $p) > /dev/null 2>&1 & k=$!; \
                 wait $p; echo $?; date +%s%N; kill $k; else echo over; fi"
            ));
            let numbers: Vec<u64> = done.stdout.lines().filter_map(|line| line.trim().parse().ok()).collect();
            let &[sent, code, ended] = numbers.as_slice() else {
                assert!(done.stdout.contains("over"), "{command}: {}", done.all());
                break;
            };
            n_ended += u64::from(code >= 128);
            let waited = Duration::from_nanos(ended - sent);
            // What was over before the signal came is no failure; what was refused is one of this test.
            if waited > Duration::from_secs(12) || !matches!(code, 0 | 130 | 143) {
                let errors = fs::read_to_string(bench.path("err.txt")).unwrap_or_default();
                let _ = writeln!(
                    late,
                    "{number}: {command}, {signal} after {moment} s: {code}, {waited:?} {errors}"
                );
            }
            for left in ["x.model", "x.model.checkpoint", "c.cache"] {
                let _ = fs::remove_file(bench.path(left));
            }
        }
    }
    assert!(late.is_empty(), "{late}");
    assert!(n_ended > 25, "the signals came too late for all but {n_ended}");
}

/// What commands do with a model of rows, and with a tagger.
const OF_ROWS: [&str; 21] = [
    "inspect {m}",
    "inspect {m} --json",
    "inspect {m} --weights",
    "inspect {m} --export json out",
    "inspect {m} --export onnx out",
    "inspect {m} --export sql out",
    "inspect {m} --export c out",
    "inspect {m} --export javascript out",
    "inspect {m} --export scorecard out",
    "certify {m} --monotone",
    "train d.svm -a perceptron --start-from {m} --model new.model",
    "train d.svm -a perceptron --online --start-from {m} --model new.model",
    "report d.svm --model {m} -o out.html",
    "predict d.svm --model {m}",
    "predict d.svm --model {m} --explain 2",
    "evaluate d.svm --model {m}",
    "plot boundary d.svm --model {m} -o out.svg",
    "plot margins d.svm --model {m} -o out.svg",
    "plot weights --model {m} -o out.svg",
    "certify d.svm --model {m}",
    "mix {m} {m} -o new.model",
];
const OF_SENTENCES: [&str; 8] = [
    "inspect {m}",
    "inspect {m} --export csv out",
    "predict s.conll --model {m}",
    "evaluate s.conll --model {m}",
    "report s.conll --model {m} -o out.html",
    "train s.conll --start-from {m} --model new.model",
    "mix {m} {m} -o new.model",
    "plot transitions --model {m} -o out.svg",
];

/// The most memory that a line takes, in MiB, as it is seen every few milliseconds. It is killed after six seconds of
/// processor.
fn peak(bench: &Bench, line: &str) -> (Option<i32>, u64, String) {
    let program = Path::new(env!("CARGO_BIN_EXE_rosenblatt"));
    let errors = fs::File::create(bench.path("errors")).unwrap();
    let mut child = Command::new("sh")
        .args(["-c", &format!("ulimit -t 6; exec {} {line}", program.display())])
        .current_dir(bench.path(""))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(errors)
        .spawn()
        .unwrap();
    let (mut most, status) = (0, format!("/proc/{}/status", child.id()));
    let ended = loop {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let seen = text.lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next());
        most = most.max(seen.and_then(|kibibytes| kibibytes.parse::<u64>().ok()).unwrap_or(0) / 1024);
        if let Some(ended) = child.try_wait().unwrap() {
            break ended;
        }
        sleep(Duration::from_millis(3));
    };
    (ended.code(), most, fs::read_to_string(bench.path("errors")).unwrap())
}

/// Each line with that model is done or refused in a little memory and time.
fn costs_little(bench: &Bench, model: &str, lines: &[&str]) {
    for line in lines {
        let line = line.replace("{m}", model);
        let (code, most, errors) = peak(bench, &line);
        let printed = format!("{line}: {code:?}, {most} MiB\n{errors}");
        assert!(matches!(code, Some(0 | 1)) && !errors.contains("no more memory"), "{printed}");
        assert!(most <= 256, "{printed}");
        for made in ["out", "out.html", "out.svg", "new.model"] {
            let _ = fs::remove_file(bench.path(made));
        }
    }
}

/// Says that rows have this many features, and that nothing is known of any.
fn claim(header: &mut Value, width: u64) {
    let schema = header["schema"].as_object_mut().unwrap();
    if schema.get("width").is_some_and(Value::is_number) {
        schema.insert("width".to_owned(), json!(width));
        schema.remove("scaler");
    }
}

#[test]
fn a_small_file_that_claims_a_great_width_costs_little() {
    let bench = prepared();
    for (name, more) in
        [("plain", ""), ("hash", "--hash-bits 10"), ("voted", "--readout voted"), ("kernel", "--kernel rbf")]
    {
        bench.ok(&format!("rosenblatt train d.svm -a perceptron {more} --model {name} --quiet"));
        craft(&bench, name, &format!("{name}.model"), |header, body| {
            // A number of 32 bits for each feature of these would be too much alone.
            let width = if name == "kernel" { 250_000_000 } else { 30_000_000 };
            claim(header, width);
            let hypothesis = header["hypothesis"].as_object_mut().unwrap();
            let (kind, text) = hypothesis.iter_mut().next().unwrap();
            text["width"] = json!(width);
            if kind == "hyperplanes" {
                text["sparse"] = json!(true);
                *body = [&1_u32.to_le_bytes()[..], &1.5_f64.to_le_bytes(), &[0; 8]].concat();
                header["arrays"] = json!([
                    { "name": "places", "type": "u32", "count": 1 },
                    { "name": "weights", "type": "f64", "count": 1 },
                    { "name": "biases", "type": "f64", "count": 1 },
                ]);
                header.as_object_mut().unwrap().remove("calibration");
            }
        });
        costs_little(&bench, &format!("{name}.model"), &OF_ROWS);
    }
}

#[test]
fn a_small_file_with_a_map_or_a_tagger_that_claims_much_costs_little() {
    let bench = prepared();
    // Features beyond what the file shows of landmarks, and few of them.
    bench.write("beyond.svm", "1 1:0.5 9:1\n0 2:0.3 12:0.5\n");
    for (name, more, width) in [
        ("nystroem", "--map nystroem --map-size 8", 20_000_000),
        ("fourier", "--map fourier --map-size 16", 8_000_000),
        ("sketch", "--map sketch --map-size 16", 2_000_000),
    ] {
        bench.ok(&format!("rosenblatt train d.svm -a perceptron {more} --model {name} --quiet"));
        let model = format!("{name}.model");
        craft(&bench, name, &model, |header, _| {
            claim(header, width);
            header["map"]["width"] = json!(width);
        });
        let known = bench.ok(&format!("rosenblatt predict d.svm --model {name}"));
        assert_eq!(known.lines().count(), 120, "{name}");
        costs_little(&bench, &model, &OF_ROWS);
        costs_little(&bench, &model, &["predict beyond.svm --model {m}"]);
        bench.ok(&format!("rosenblatt predict beyond.svm --model {model}"));
    }
    bench.write("s.conll", "the D\ncat N\n\nruns V\n\n".repeat(12));
    bench.ok("rosenblatt train s.conll -a perceptron --hash-bits 10 --model tagger --quiet");
    craft(&bench, "tagger", "tagger.model", |header, _| header["options"]["hash-bits"] = json!(26));
    costs_little(&bench, "tagger.model", &OF_SENTENCES);
}

#[test]
fn a_model_that_claims_epochs_without_end_trains_as_long_as_you_say() {
    let bench = prepared();
    bench.write("one.svm", "1 1:1 2:2 3:1\n0 1:2 2:1 3:1\n1 1:1 2:2 3:1\n0 1:1 2:2 3:1\n");
    bench.write("s.conll", "the D\ncat N\n\nruns V\n\nruns D\n\n".repeat(6));
    for (data, more, options) in [
        ("one.svm", "--holdout 0", "spec"),
        ("one.svm", "--holdout 0 --blank", "spec"),
        ("s.conll", "--holdout 0", "options"),
    ] {
        bench.ok(&format!("rosenblatt train {data} -a perceptron --holdout 0 --model small --quiet"));
        craft(&bench, "small", "long.model", |header, _| header[options]["epochs"] = json!(u32::MAX));
        let line = format!("train {data} --start-from long.model {more} --model new.model");
        let (code, _, errors) = peak(&bench, &line);
        assert!(matches!(code, Some(1 | 2)) && errors.contains("set `epochs`"), "{line}: {code:?}\n{errors}");
        bench.ok(&format!("rosenblatt {line} --epochs 3"));
    }
    // Nor does a page draw as many, with a kernel either.
    bench.ok("rosenblatt train d.svm -a perceptron --kernel rbf --holdout 0 --model small --quiet");
    craft(&bench, "small", "kernel.model", |header, _| header["spec"]["epochs"] = json!(u32::MAX));
    costs_little(&bench, "kernel.model", &["report d.svm --model {m} -o out.html"]);
    // Those are the models that it is for, and nothing that was trained in earnest.
    bench.ok(
        "rosenblatt train one.svm -a perceptron --holdout 0 --epochs 9000 --patience 0 --model long --quiet",
    );
    bench.ok("rosenblatt train one.svm --start-from long --holdout 0 --model new.model");
}

#[test]
fn a_score_that_is_no_number_is_an_error() {
    let bench = prepared();
    bench.ok("rosenblatt train d.svm -a perceptron --scale none --calibrate platt --model d.model --quiet");
    craft(&bench, "d.model", "huge.model", |header, body| {
        let n_weights = header["arrays"][0]["count"].as_u64().unwrap() as usize;
        for (place, weight) in body.chunks_exact_mut(8).take(n_weights).enumerate() {
            let sign = if place == 0 { -1.0 } else { 1.0 };
            weight.copy_from_slice(&(sign * 1.7e308_f64).to_le_bytes());
        }
    });
    bench.write("wide.svm", "1 1:1000 2:1000 3:1000\n0 1:0.5 2:0.1 3:1\n");
    for line in [
        "predict wide.svm --model huge.model --probabilities",
        "predict wide.svm --model huge.model --scores",
        "predict wide.svm --model huge.model",
        "evaluate wide.svm --model huge.model",
    ] {
        let done = bench.run(&format!("rosenblatt {line}"));
        assert_eq!(done.code, Some(1), "{line}\n{}", done.all());
        assert!(
            done.stderr.contains("no finite number") && !done.stdout.contains("NaN"),
            "{line}\n{}",
            done.all()
        );
    }
}

#[test]
fn a_device_without_end_is_given_up() {
    let bench = prepared();
    bench.ok("rosenblatt train d.svm -a perceptron --model m.model --quiet");
    bench.write("s.conll", "the D\ncat N\n\n".repeat(6));
    fs::create_dir(bench.path("models")).unwrap();
    let mut lines = Vec::new();
    for device in ["/dev/zero", "/dev/urandom"] {
        lines.push(format!("train s.conll --features {device} --model x.model"));
        lines.push(format!("certify d.svm --check {device}"));
        lines.push(format!("report d.svm --model m.model --certificate {device} -o out.html"));
        lines.push(format!("serve models --address 127.0.0.1:0 --tokens {device}"));
        lines.push(format!("serve models --address 127.0.0.1:0 --tls-cert {device} --tls-key {device}"));
        lines.push(format!("predict d.svm --model {device}"));
        lines.push(format!("inspect m.model --export scorecard out --rows {device}"));
        lines.push(format!("certify {device} --monotone"));
        lines.push(format!("mix m.model {device} -o x.model"));
        lines.push(format!("playground --port 0 --no-open {device}"));
        lines.push(format!("train d.svm --start-from {device} --model x.model"));
        lines.push(format!("train d.svm --labels {device} --format libsvm --model x.model"));
    }
    for format in ["", "--format csv", "--format libsvm"] {
        lines.push(format!("train /dev/zero {format} --model x.model"));
        lines.push(format!("train /dev/zero --group g {format} --model x.model"));
        lines.push(format!("convert /dev/zero o.csv {format}"));
        lines.push(format!("report /dev/zero --model m.model {format} -o out.html"));
    }
    lines.push("train d.svm -a perceptron --memory 1KiB --cache /dev/zero --model x.model".to_owned());
    bench.ok("mkfifo pipe");
    lines.push("train d.svm -a perceptron --memory 1KiB --cache pipe --model x.model".to_owned());
    for line in lines {
        let done = bench.run(&format!("ulimit -v 1000000; timeout 60 rosenblatt {line}"));
        let printed = format!("{line}\n{:?} {}", done.code, done.all());
        assert!(matches!(done.code, Some(0..=2)) && !done.stderr.contains("no more memory"), "{printed}");
    }
}

#[test]
fn rows_from_a_pipe_are_converted_without_being_held() {
    let bench = Bench::new();
    let line = |row: usize| format!("{} 1:{} 2:{}\n", row % 2, row % 13, row % 11);
    bench.write("d.svm", (0..3000).map(line).collect::<String>());
    bench.ok("rosenblatt convert d.svm direct.csv --quiet");
    bench.ok("cat d.svm | rosenblatt convert - piped.csv --format libsvm --quiet");
    assert!(fs::read(bench.path("direct.csv")).unwrap() == fs::read(bench.path("piped.csv")).unwrap());
    // A line that is longer than all memory is refused for its length.
    let done = bench.run(
        "ulimit -v 400000; head -c 400000000 /dev/zero | tr '\\0' 1 | timeout 100 rosenblatt convert - x.csv --format libsvm",
    );
    assert!(done.code == Some(1) && done.stderr.contains("longer than"), "{:?} {}", done.code, done.all());
}

#[test]
fn a_server_without_threads_says_so() {
    let bench = prepared();
    fs::create_dir(bench.path("models")).unwrap();
    // The system's administrator has as many as there are.
    bench.ok("chmod 755 . models && cp $(command -v rosenblatt) ./program");
    let as_nobody = "setpriv --reuid 65534 --regid 65534 --clear-groups";
    if bench.run(&format!("{as_nobody} true")).code != Some(0) {
        return;
    }
    for command in ["serve models --read-only --address 127.0.0.1:0", "playground --port 0"] {
        let done =
            bench.run(&format!("{as_nobody} sh -c 'ulimit -u 2; exec timeout 20 ./program {command}'"));
        let printed = format!("{command}\n{:?} {}", done.code, done.all());
        assert!(!done.all().contains("panicked") && done.code != Some(101), "{printed}");
    }
}

#[test]
fn no_result_commands_a_terminal() {
    let bench = Bench::new();
    bench.write("t.csv", "a\u{1b}]0;title\u{7},b\u{202e},class\n1,2,x\n2,1,y\n3,1,y\n0,2,x\n");
    bench.ok("rosenblatt train t.csv --label class --holdout 0 -a perceptron --quiet --model t.model");
    if bench.run("script --version").code != Some(0) {
        return;
    }
    for line in [
        "inspect t.model",
        "inspect t.model --weights",
        "inspect t.model --json",
        "inspect t.model --export csv -",
        "inspect t.model --export json -",
        "inspect t.model --export sql -",
        "inspect t.model --export c -",
        "inspect t.model --export javascript -",
        "inspect t.model --export scorecard - --rows t.csv",
        "plot weights --model t.model",
        "plot shapes t.csv --model t.model",
        "plot boundary t.csv --label class",
        "plot margins t.csv --model t.model",
        "plot confusion t.csv --model t.model",
        "plot curves t.csv --label class",
        "plot mistakes t.csv --label class",
        "plot norms t.csv --label class",
        "plot roc t.csv --model t.model",
        "trace t.csv --label class",
        "trace t.csv --label class --json",
        "convert t.csv - --to csv --label class",
        "convert t.csv - --to jsonl --label class",
        "convert t.csv - --to vw --label class",
        "predict t.csv --model t.model",
        "predict t.csv --model t.model --explain 2",
        "predict t.csv --model t.model --scores",
        "predict t.csv --model t.model --to jsonl",
        "evaluate t.csv --model t.model",
        "evaluate t.csv --model t.model --json",
        "report t.csv --model t.model -o t.html",
        "compare t.csv --label class --algorithms perceptron",
        "tune t.csv --label class --algorithms perceptron,pa1 --model u.model",
        "train t.csv --label class -a perceptron --model v.model",
        "train t.csv --label nothing --model v.model",
        "certify t.csv --label class",
        "certify t.model --monotone",
        "mix t.model t.model -o u.model",
        "predict missing.csv --model t.model",
    ] {
        let shown = bench.run(&format!("script -qec 'rosenblatt {line}' /dev/null"));
        let is_raw = shown.stdout.contains("\u{1b}]0") || shown.stdout.contains(['\u{202e}', '\u{7}']);
        assert!(!is_raw, "{line}\n{:?}", shown.stdout);
    }
}
