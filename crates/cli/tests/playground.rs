//! The playground: its weights are those of `trace`, bit by bit, and its page comes from the program.

use crate::bench::Bench;
use rosenblatt::blackboard;
use rosenblatt::core::Random;
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
    let mut all = Vec::new();
    let mut ending = Value::Null;
    for round in 1.. {
        let learner = ask(session, &json!({ "do": "go", "round": round }), "")["learners"][0].clone();
        if learner["round"] != round {
            ending = learner["ending"].clone();
            break;
        }
        for told in learner["rounds"].as_array().unwrap() {
            let weights = told["w"].as_array().unwrap().iter().map(bits).collect();
            all.push((round, weights, bits(&told["b"])));
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
        let one_of =
            |random: &mut Random, names: &[&str]| names[random.below(names.len() as u64) as usize].to_owned();
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
    assert!(module.len() <= 700_000, "{} bytes", module.len());
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
