//! The playground: its weights are those of `trace`, bit by bit, and its page comes from the program.

use crate::bench::Bench;
use rosenblatt::data::View;
use rosenblatt::learning::{DenseExamples, Random};
use rosenblatt::{Model, blackboard};
use rosenblatt_web::Session;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

/// Weights and bias of the output that was asked after a round, bit by bit.
type After = (u64, Vec<u64>, u64);

fn ask(session: &mut Session, request: &Value, bytes: &str) -> Value {
    let answer = session.ask(request.to_string().as_bytes(), bytes.as_bytes().to_vec());
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["error"], Value::Null, "{request}");
    answer
}

fn bits(value: &Value) -> u64 {
    value.as_f64().unwrap().to_bits()
}

/// All rounds of a run as a page walks through it, the command that does the same, and why it ended.
fn walked(session: &mut Session, table: &str, options: &Value) -> (Vec<After>, String, Value) {
    ask(session, &json!({ "do": "read", "name": "rows.csv" }), table);
    ask(session, &json!({ "do": "learn", "learners": [options] }), "");
    walked_on(session)
}

/// The same of the learner that is there.
fn walked_on(session: &mut Session) -> (Vec<After>, String, Value) {
    let mut all = Vec::new();
    let mut ending = Value::Null;
    for round in 1.. {
        let learner = ask(session, &json!({ "do": "go", "round": round }), "")["learners"][0].clone();
        if learner["round"] != round {
            ending = learner["ending"].clone();
            break;
        }
        for printed in learner["rounds"].as_array().unwrap() {
            let weights = printed["w"].as_array().unwrap().iter().map(bits).collect();
            all.push((round, weights, bits(&printed["b"])));
        }
    }
    let command = ask(session, &json!({ "do": "command", "learner": 0 }), "")["text"].clone();
    (all, command.as_str().unwrap().to_owned(), ending)
}

/// The same from `trace`.
fn traced(bench: &Bench, command: &str) -> (Vec<After>, String) {
    let text = bench.ok(&format!("{command} --rounds 100000 --json"));
    let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let end = lines.pop().unwrap()["end"].as_str().unwrap().to_owned();
    let after = lines.iter().map(|line| {
        let weights = line["w"].as_array().unwrap().iter().map(bits).collect();
        (line["round"].as_u64().unwrap(), weights, bits(&line["b"]))
    });
    (after.collect(), end)
}

#[test]
fn every_step_has_the_weights_of_trace() {
    let bench = Bench::new();
    let mut session = Session::default();
    let mut random = Random::new(19);
    let mut problems: Vec<(String, Value)> = Vec::new();
    for table in
        [blackboard::LECTURE, blackboard::AND, blackboard::XOR, blackboard::MARGIN, blackboard::VOTED]
    {
        for bias in ["none", "learned"] {
            let options = json!({ "bias": bias, "order": "given", "readout": "last", "epochs": 30 });
            problems.push((table.to_owned(), options));
        }
    }
    for number in 0..100 {
        let n_classes = 2 + u64::from(number % 4 == 3);
        let mut table = "x1,x2,class\n".to_owned();
        for row in 0..6 + random.below(20) {
            let [x, y] = [0, 1].map(|_| 4.0 * random.unit() - 2.0);
            let class = if row < n_classes { row } else { random.below(n_classes) };
            let _ = writeln!(table, "{x},{y},{}", ["a", "b", "c"][class as usize]);
        }
        let options = json!({
            "algorithm": one_of(&mut random, &["perceptron", "perceptron", "pa1", "alma", "arow", "batch", "logistic"]),
            "order": one_of(&mut random, &["given", "shuffle-once", "shuffle-epoch", "draws"]),
            "readout": one_of(&mut random, &["last", "averaged", "voted", "pocket"]),
            "mistake": one_of(&mut random, &["le0", "pred"]),
            "zero": one_of(&mut random, &["plus", "minus", "wrong", "random"]),
            "multiclass": one_of(&mut random, &["one-vs-rest", "direct-max"]),
            "seed": random.below(1000), "epochs": 1 + random.below(6),
        });
        problems.push((table, options));
    }
    for (number, (table, options)) in problems.iter().enumerate() {
        bench.write("rows.csv", table);
        let (here, command, ending) = walked(&mut session, table, options);
        let (there, end) = traced(&bench, &command);
        assert!(!here.is_empty(), "{number}: {command}");
        assert_eq!(here.len(), there.len(), "{number}: {command}");
        for (ours, theirs) in here.iter().zip(&there) {
            assert_eq!(ours, theirs, "{number}: {command}");
        }
        let ending = ending.as_str().unwrap();
        assert!(end.starts_with(ending), "{number}: {ending} / {end}");
    }
}

#[test]
fn start_weights_are_those_of_trace() {
    let bench = Bench::new();
    let mut session = Session::default();
    for (table, bias, start) in [
        (blackboard::LECTURE, "none", "1,0"),
        (blackboard::LECTURE, "learned", "-1,0.1,8.5"),
        (blackboard::XOR, "learned", "0.3,-2.5,0.001"),
        (blackboard::VOTED, "learned", "-2,3"),
    ] {
        bench.write("rows.csv", table);
        let options = json!({ "bias": bias, "order": "given", "readout": "last", "epochs": 9 });
        ask(&mut session, &json!({ "do": "read", "name": "rows.csv" }), table);
        let learn = json!({ "do": "learn", "learners": [options], "from": { "start": start } });
        ask(&mut session, &learn, "");
        let (here, command, ending) = walked_on(&mut session);
        assert!(command.ends_with(&format!(" --start {start}")), "{command}");
        let (there, end) = traced(&bench, &command);
        assert_eq!(here, there, "{command}");
        assert!(end.starts_with(ending.as_str().unwrap()), "{ending} / {end}");
        // Back to the start and forth again.
        ask(&mut session, &json!({ "do": "go", "round": 0 }), "");
        assert_eq!(walked_on(&mut session).0, here, "{command}");
    }
}

fn one_of<'a>(random: &mut Random, names: &[&'a str]) -> &'a str {
    names[random.below(names.len() as u64) as usize]
}

/// A table with names that a shell and a CSV file must be careful with, and now and then a cell without a value.
fn any_table(random: &mut Random) -> (String, Vec<String>) {
    let names = ["x1", "petal width", "it's", "a,b", "$HOME", "-x"];
    let n_columns = 2 + random.below(4) as usize;
    let classes = [["a", "b", "c"], ["no", "yes, sir", "it's"], ["-1", "1", "2"]][random.below(3) as usize];
    let n_classes = 2 + random.below(2);
    let has_category = random.below(4) == 0;
    let lacks = random.below(4) == 0;
    let quoted = |word: &str| format!("\"{word}\"");
    let mut table: String = names[..n_columns].iter().map(|name| quoted(name) + ",").collect();
    table.push_str(if has_category { "colour,class\n" } else { "class\n" });
    for row in 0..10 + random.below(20) {
        let class = if row < n_classes { row } else { random.below(n_classes) };
        for column in 0..n_columns {
            if lacks && row > 6 && random.below(12) == 0 {
                table.push(',');
                continue;
            }
            let spread = [1.0, 100.0, 0.01][column % 3];
            let _ = write!(table, "{},", spread * (random.unit() * 4.0 - 2.0 + class as f64));
        }
        if has_category {
            let _ = write!(table, "{},", one_of(random, &["red", "green", "blue"]));
        }
        let _ = writeln!(table, "{}", quoted(classes[class as usize]));
    }
    (table, names[..n_columns].iter().map(|name| (*name).to_owned()).collect())
}

/// What a page may ask about such a table, and a learner.
fn any_state(random: &mut Random, columns: &[String]) -> (Value, Value) {
    let seed = random.below(1000);
    let test = [0.0, 0.0, 0.2, 0.5][random.below(4) as usize];
    let mut read = json!({ "do": "read", "name": one_of(random, &["rows.csv", "my rows.csv"]), "test": test, "seed": seed });
    if random.below(3) == 0 {
        read["label"] = json!("class");
    }
    if random.below(2) == 0 {
        let first = random.below(columns.len() as u64) as usize;
        let second = (first + 1 + random.below(columns.len() as u64 - 1) as usize) % columns.len();
        read["columns"] = json!([columns[first], columns[second]]);
    }
    if random.below(2) == 0 {
        read["scaling"] = json!(one_of(random, &["standard", "standard", "min-max", "unit-norm"]));
    }
    let mut learner = json!({
        "algorithm": one_of(random, &["perceptron", "perceptron", "perceptron", "pa1", "alma", "arow", "logistic", "minover"]),
        "order": one_of(random, &["given", "shuffle-once", "shuffle-epoch", "draws"]),
        "readout": one_of(random, &["last", "averaged", "voted", "pocket"]),
        "mistake": one_of(random, &["le0", "lt0", "pred"]),
        "zero": one_of(random, &["plus", "minus", "wrong", "random"]),
        "multiclass": one_of(random, &["one-vs-rest", "one-vs-one", "direct-max"]),
        "bias": one_of(random, &["learned", "none", "augmented(2)"]),
        "seed": seed, "epochs": 1 + random.below(3), "params": {},
    });
    match random.below(8) {
        0 => {
            learner["kernel"] = json!({ "name": one_of(random, &["rbf", "polynomial"]), "params": {} });
            learner["bias"] = json!("none");
            if learner["kernel"]["name"] == "rbf" {
                learner["kernel"]["params"]["gamma"] = json!(random.unit());
            }
        }
        1 => {
            learner["map"] =
                json!({ "name": one_of(random, &["fourier", "nystroem"]), "size": 8, "params": {} });
        }
        2 => {
            learner = json!({ "algorithm": "mlp", "params": { "hidden": 1 + random.below(4) }, "rate": "0.1",
                "network": { "activation": one_of(random, &["tanh", "relu"]) },
                "order": learner["order"], "seed": seed, "epochs": learner["epochs"] });
        }
        3 => learner["rate"] = json!(one_of(random, &["0.1", "2", "1/sqrt(k)"])),
        _ => {}
    }
    (read, learner)
}

/// Whatever a page shows, the command that it offers does the same: the rounds of `trace` to the bit, or, where there are
/// no weights to trace, a model with the same totals and scores.
#[test]
fn every_state_has_a_command_that_does_the_same() {
    const CELLS: usize = 4;
    let bench = Bench::new();
    let mut random = Random::new(41);
    let (mut n_traced, mut n_trained) = (0, 0);
    for number in 0.. {
        if n_traced + n_trained == 500 {
            break;
        }
        assert!(number < 1500, "most states make sense: {n_traced} and {n_trained} of {number}");
        let (table, columns) = any_table(&mut random);
        let (read, learner) = any_state(&mut random, &columns);
        let mut session = Session::default();
        let mut fine = true;
        for request in [&read, &json!({ "do": "learn", "learners": [learner] })] {
            let answer = session.ask(request.to_string().as_bytes(), table.clone().into_bytes());
            fine &= !answer.starts_with("{\"error\"");
        }
        // Not every rule goes with every option.
        if !fine {
            continue;
        }
        let name = read["name"].as_str().unwrap();
        bench.write(name, &table);
        let (here, command, _) = walked_on(&mut session);
        if command.starts_with("rosenblatt trace") {
            let (there, _) = traced(&bench, &command);
            assert_eq!(here, there, "{number}: {command}\n{table}");
            n_traced += 1;
            continue;
        }
        bench.ok(&command);
        let model = Model::load(bench.path(&name.replace(".csv", ".model"))).unwrap();
        let last = ask(&mut session, &json!({ "do": "go", "round": u64::MAX }), "")["learners"][0].clone();
        let totals = model.training_summary().totals;
        let counts = [totals.rounds, totals.mistakes, totals.updates].map(Value::from);
        assert_eq!(
            counts,
            ["round", "mistakes", "updates"].map(|name| last[name].clone()),
            "{number}: {command}"
        );
        if read["columns"].is_array() {
            let frame = [-2.0, 2.0, -2.0, 2.0];
            ask(&mut session, &json!({ "do": "heat", "learner": 0, "cells": CELLS, "frame": frame }), "");
            let at = |cell: usize| (cell as f64 + 0.5) / CELLS as f64;
            let place = |row: usize| [-2.0 + 4.0 * at(row % CELLS), 2.0 + -4.0 * at(row / CELLS)];
            let is_turned = columns.iter().position(|name| read["columns"][0] == **name)
                > columns.iter().position(|name| read["columns"][1] == **name);
            let turned = |[x, y]: [f64; 2]| if is_turned { [y, x] } else { [x, y] };
            let values: Vec<f64> = (0..CELLS * CELLS).flat_map(|row| turned(place(row))).collect();
            let grid = DenseExamples::new(&values, 2, &[0; CELLS * CELLS]);
            let printed = |row: u32, class: u32, scores: &[f64]| {
                let here = &session.numbers()[2 * row as usize..][..2];
                assert_eq!(f64::from(class), here[0], "{number}: {command}");
                if let [score] = scores {
                    assert_eq!(score.to_bits(), here[1].to_bits(), "{number}: {command}");
                }
            };
            model.each_row(View::Dense64(grid), printed).unwrap();
        }
        n_trained += 1;
    }
    assert!(n_traced > 200 && n_trained > 60, "{n_traced} and {n_trained}");
}

/// Rows as they were measured, in files sorted by class: the page's own settings learn them.
#[test]
fn measured_tables_are_learned_once_they_are_scaled_and_shuffled() {
    for (name, label, columns, most) in [
        ("iris", "species", ["petal_length", "petal_width"], 0.10),
        ("penguins", "species", ["bill_length_mm", "flipper_length_mm"], 0.08),
    ] {
        let mut session = Session::default();
        let table = ask(&mut session, &json!({ "do": "preset", "name": name }), "")["text"].clone();
        let read = json!({ "do": "read", "name": "rows.csv", "label": label, "columns": columns, "scaling": "standard" });
        ask(&mut session, &read, table.as_str().unwrap());
        let learner = json!({ "order": "shuffle-epoch", "readout": "last", "epochs": 100 });
        ask(&mut session, &json!({ "do": "learn", "learners": [learner] }), "");
        let rows = ask(&mut session, &json!({ "do": "go", "round": 1 }), "")["learners"][0]["rows"]
            .as_u64()
            .unwrap();
        ask(&mut session, &json!({ "do": "go", "round": 30 * rows }), "");
        let error =
            ask(&mut session, &json!({ "do": "look", "learner": 0 }), "")["errors"][0].as_f64().unwrap();
        assert!(error < most, "{name}: {error}");
    }
}

/// Rows of more than two features stand on the side of the class that they are given.
#[test]
fn wide_rows_are_seen_on_their_true_side() {
    for (name, readout, view) in
        [("drawn", "last", "distance"), ("drawn", "voted", "score"), ("three", "last", "rival")]
    {
        let mut session = Session::default();
        let mut random = Random::new(7);
        let mut table = "a,b,c,d,class\n".to_owned();
        for row in 0..60 {
            let class = row % if name == "three" { 3 } else { 2 };
            let values = [0; 4].map(|_| (random.unit() + f64::from(class) * 0.3).to_string());
            let _ = writeln!(table, "{},{}", values.join(","), ["x", "y", "z"][class as usize]);
        }
        ask(&mut session, &json!({ "do": "read", "name": "rows.csv" }), &table);
        let learner = json!({ "readout": readout, "order": "shuffle-epoch", "epochs": 9 });
        ask(&mut session, &json!({ "do": "learn", "learners": [learner] }), "");
        ask(&mut session, &json!({ "do": "go", "round": 150 }), "");
        assert_eq!(ask(&mut session, &json!({ "do": "look", "learner": 0 }), "")["view"], view);
        let (classes, places) = session.numbers().split_at(60);
        for (row, (class, place)) in classes.iter().zip(places.chunks(2)).enumerate() {
            let is_right =
                if view == "rival" { place[0] > place[1] } else { (place[0] > 0.0) == (row % 2 == 1) };
            assert_eq!(
                is_right,
                *class as usize == row % if name == "three" { 3 } else { 2 },
                "{view}: row {row}"
            );
        }
    }
}

#[test]
fn the_page_opens_a_table_and_finds_a_free_port() {
    let bench = Bench::new();
    bench.write("my rows.csv", "x1,x2,class\n1,2,a\n3,4,b\n");
    let program = env!("CARGO_BIN_EXE_rosenblatt");
    let serve = |arguments: &[&str]| {
        let mut child = Command::new(program)
            .arg("playground")
            .args(arguments)
            .current_dir(bench.path("."))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        (child, line.trim().strip_prefix("the playground is at http://").unwrap().to_owned())
    };
    let (mut first, address) = serve(&["my rows.csv", "--port", "0"]);
    let (host, state) = address.split_once('/').unwrap();
    assert_eq!(state, "#table=my%20rows.csv");
    let mut stream = TcpStream::connect(host).unwrap();
    write!(stream, "GET /table HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with("x1,x2,class\n1,2,a\n3,4,b\n"), "{answer}");
    let port = host.split_once(':').unwrap().1;
    let taken = bench.run(&format!("rosenblatt playground --port {port}"));
    assert!(
        taken.code == Some(1) && taken.all().contains("`--port 0` takes any port that is free"),
        "{}",
        taken.all()
    );
    // The usual port may be taken: the next free one is served on.
    let (mut second, one) = serve(&["my rows.csv", "--settings", "order=given&scaled="]);
    assert!(one.ends_with("/#table=my%20rows.csv&order=given&scaled="), "{one}");
    let (mut third, other) = serve(&[]);
    assert_ne!(one, other);
    for child in [&mut first, &mut second, &mut third] {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let missing = bench.run("rosenblatt playground nothing.csv --port 0");
    assert!(missing.code == Some(1) && missing.all().contains("nothing.csv"), "{}", missing.all());
}

#[test]
fn the_page_comes_from_the_program() {
    let program = env!("CARGO_BIN_EXE_rosenblatt");
    let mut child =
        Command::new(program).args(["playground", "--port", "0"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("the playground is at http://").unwrap().trim_end_matches('/');
    let get = |path: &str| {
        let mut stream = TcpStream::connect(address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let head = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        (String::from_utf8_lossy(&answer[..head]).to_lowercase(), answer[head + 4..].to_vec())
    };
    let (head, page) = get("/");
    assert!(head.starts_with("http/1.1 200") && head.contains("text/html"), "{head}");
    assert!(String::from_utf8_lossy(&page).contains("<title>Rosenblatt"));
    let (head, module) = get("/rosenblatt.wasm.gz");
    assert!(head.contains("octet-stream") && head.contains("nosniff"), "{head}");
    assert!(module == include_bytes!("../../server/site/rosenblatt.wasm.gz"), "{} bytes", module.len());
    assert!(get("/../Cargo.toml").0.starts_with("http/1.1 404"));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn hostile_tables_are_refused_in_the_engines_words() {
    let mut session = Session::default();
    let read = |session: &mut Session, bytes: &[u8]| -> Value {
        let request = json!({ "do": "read", "name": "bad.csv" }).to_string();
        serde_json::from_str(&session.ask(request.as_bytes(), bytes.to_vec())).unwrap()
    };
    for (bytes, words) in [
        (&b""[..], "there are no rows"),
        (b"\x00\x01\xff\xfe\x00", "column"),
        (b"x1,x2,class\n1,inf,a\n2,3,b\n", "inf"),
        (b"x1,x2,class\n1,2,a\n3,b\n", "bad.csv:3"),
    ] {
        let answer = read(&mut session, bytes);
        assert!(answer["error"].as_str().is_some_and(|error| error.contains(words)), "{answer}");
    }
    let answer = read(&mut session, b"x1,x2,class\n1,2,<script>alert(1)</script>\n3,4,b\n");
    assert_eq!(answer["classes"][0], "<script>alert(1)</script>");
    let large = session.ask(br#"{"do":"fits","bytes":1000000000}"#, Vec::new());
    assert!(large.contains("1000000000 bytes"), "{large}");
    // Requests that make no sense are answered, too.
    for request in [&b"{}"[..], b"[", br#"{"do":"go","round":5}"#, br#"{"do":"look","learner":9}"#] {
        let answer: Value = serde_json::from_str(&session.ask(request, Vec::new())).unwrap();
        assert!(answer["error"].is_string() || answer["learners"].is_array(), "{answer}");
    }
}
