//! Long work prints lines in a log, whatever the command: the first within 5 seconds, and then one every 30 seconds or sooner.

use crate::bench::Bench;
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;

/// When each line of progress came, in seconds after the beginning.
fn times(bench: &Bench, log: &str, begun: f64) -> Vec<(f64, String)> {
    let text = fs::read_to_string(bench.path(log)).unwrap();
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    let of_progress = lines.filter(|(_, line)| line.starts_with("progress: "));
    of_progress.map(|(time, line)| (time.parse::<f64>().unwrap() / 1e9 - begun, line.to_owned())).collect()
}

/// A shell line that runs `line` on what `rows` prints after a silence of `seconds`, and its log with times to the file.
fn logged(rows: &str, seconds: f64, line: &str, log: &str) -> String {
    format!(
        "(cat {rows}; sleep {seconds}) | (rosenblatt {line} 2>&1 > /dev/null; echo code $?) \
         | while IFS= read -r line; do echo \"$(date +%s%N) $line\"; done > {log} &\n"
    )
}

fn prepared() -> Bench {
    let bench = Bench::new();
    let row = |row: usize| {
        format!(
            "{},{}.5,g{},{}\n",
            row * 7 % 13,
            row * 5 % 11,
            row % 9,
            ["x", "y"][usize::from(row * 7 % 13 > row * 5 % 11)]
        )
    };
    bench.write("t.csv", "a,b,who,class\n".to_owned() + &(0..90).map(row).collect::<String>());
    bench.write("s.conll", "the D\ncat N\nruns V\n\na D\ndog N\n\n".repeat(9));
    bench.ok("rosenblatt train t.csv --label class -a perceptron --quiet --model t.model");
    bench.ok("rosenblatt train s.conll --quiet --model s.model");
    bench
}

#[test]
fn every_command_that_reads_rows_prints_a_line_while_it_waits_for_them() {
    let bench = prepared();
    let table = "--format csv --label class";
    let lines = [
        ("t.csv", format!("train - {table} -a perceptron --model a.model"), "reading"),
        (
            "t.csv",
            format!("train - {table} -a perceptron --hash-bits 10 --online --model b.model"),
            "reading",
        ),
        ("t.csv", format!("tune - {table} --algorithms perceptron --model c.model"), "reading"),
        ("t.csv", format!("compare - {table} --algorithms perceptron --epochs 2"), "reading"),
        ("t.csv", format!("certify - {table}"), "certify"),
        ("t.csv", format!("certify - {table} --model t.model"), "certify"),
        ("t.csv", format!("trace - {table} --rounds 2"), "trace"),
        ("t.csv", format!("plot boundary - {table} -o a.svg"), "reading"),
        ("t.csv", "plot margins - --format csv --model t.model -o b.svg".to_owned(), "reading"),
        ("t.csv", "report - --format csv --model t.model -o a.html".to_owned(), "report"),
        ("t.csv", "predict - --format csv --model t.model".to_owned(), "predict"),
        ("t.csv", "predict - --format csv --model t.model --keep who --output a.csv".to_owned(), "predict"),
        ("t.csv", "evaluate - --format csv --model t.model".to_owned(), "reading"),
        ("t.csv", format!("convert - b.csv {table}"), "reading"),
        ("t.csv", format!("convert - d.csv {table} --split 0.5 --test-out e.csv --shuffle"), "reading"),
        ("s.conll", "train - --format columns --model d.model".to_owned(), "train"),
        ("s.conll", "predict - --format columns --model s.model".to_owned(), "predicting"),
        ("s.conll", "predict - --format columns --model s.model --json".to_owned(), "predicting"),
        ("s.conll", "evaluate - --format columns --model s.model".to_owned(), "predicting"),
        ("s.conll", "report - --format columns --model s.model -o b.html".to_owned(), "report"),
        ("s.conll", "trace - --format columns --rounds 1".to_owned(), "trace"),
        ("s.conll", "compare - --format columns --algorithms perceptron --folds 2".to_owned(), ""),
    ];
    let catalogue: Value = serde_json::from_str(&bench.ok("rosenblatt catalogue --json")).unwrap();
    for command in catalogue["commands"].as_array().unwrap() {
        let name = command["name"].as_str().unwrap();
        let reads = command["options"].as_array().unwrap().iter().any(|option| {
            option["files"] == "read" && ["files", "input"].contains(&option["name"].as_str().unwrap())
        });
        let is_tried = lines.iter().any(|(_, line, _)| line.split(' ').next() == Some(name));
        assert!(!reads || is_tried, "`{name}` reads rows and is not tried");
    }
    let mut script = "date +%s%N\n".to_owned();
    for (number, (rows, line, _)) in lines.iter().enumerate() {
        // One of them waits until a second line is due.
        let seconds = if line.starts_with("evaluate") && *rows == "s.conll" { 33.0 } else { 7.0 };
        script += &logged(rows, seconds, line, &format!("{number}.log"));
    }
    let begun: f64 = bench.ok(&(script + "wait")).trim().parse().unwrap();
    let mut found = String::new();
    for (number, (rows, line, word)) in lines.iter().enumerate() {
        let log = format!("{number}.log");
        let printed = times(&bench, &log, begun / 1e9);
        let is_long = line.starts_with("evaluate") && *rows == "s.conll";
        // All of them start at once, on as many cores as there are.
        let is_soon = printed.first().is_some_and(|(time, line)| *time < 7.0 && line.contains(word));
        let is_often = !is_long || printed.len() >= 2 && printed[1].0 - printed[0].0 < 30.0;
        let text = fs::read_to_string(bench.path(&log)).unwrap();
        if !is_soon || !is_often || !text.contains("code 0") {
            let _ = writeln!(found, "{line}: {printed:?}\n{text}");
        }
    }
    assert!(found.is_empty(), "{found}");
}

#[test]
fn quiet_work_prints_no_line() {
    let bench = prepared();
    let line = "(cat t.csv; sleep 5) | rosenblatt convert - a.csv --format csv --label class --quiet";
    let done = bench.run(line);
    assert!(done.code == Some(0) && done.progress.is_empty() && done.stderr.is_empty(), "{}", done.progress);
}
