//! `rosenblatt serve` as its own process: what the README shows, what `predict` says, and kills at any moment.

use crate::bench::Bench;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A server that ends with the test.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(bench: &Bench, words: &[&str]) -> Self {
        Self::spawn(bench, &[&["models"], words].concat())
    }

    /// As a new user starts it: with the model that comes along.
    fn without_folder(bench: &Bench) -> Self {
        Self::spawn(bench, &[])
    }

    fn spawn(bench: &Bench, words: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_rosenblatt"))
            .args(["serve", "--address", "127.0.0.1:0"])
            .args(words)
            .current_dir(bench.path(""))
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address =
            line.split("http://").nth(1).and_then(|rest| rest.split(',').next()).unwrap_or_default();
        assert!(!address.is_empty(), "{line}");
        let address = address.to_owned();
        Self { child, address }
    }

    /// Sends a request; nothing comes back from a server that was killed meanwhile.
    fn ask(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> Option<(u16, Vec<u8>)> {
        ask(&self.address, method, path, headers, body)
    }
}

fn ask(address: &str, method: &str, path: &str, headers: &str, body: &[u8]) -> Option<(u16, Vec<u8>)> {
    let mut stream = TcpStream::connect(address).ok()?;
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n"
    );
    stream.write_all(&[head.as_bytes(), body].concat()).ok()?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).ok()?;
    let split = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&bytes[..split]).to_lowercase();
    let length = head.split("content-length: ").nth(1)?.split('\r').next()?.parse::<usize>().ok()?;
    let body = bytes.split_off(split + 4);
    (body.len() == length).then_some((head.split(' ').nth(1)?.parse().ok()?, body))
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_same_bytes_get_the_same_classes_as_from_predict() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("models")).unwrap();
    bench.ok("rosenblatt train crates/data/bundled/penguins.csv --label species --missing mean --model models/penguins.model");
    bench.ok("rosenblatt train crates/data/bundled/penguins.csv --label species --missing own --shape bend --model models/bent.model");
    bench.ok(
        "rosenblatt train crates/data/bundled/sms-spam.tsv --algorithm perceptron --model models/sms.model",
    );
    bench.ok("head -200 crates/data/bundled/penguins.csv > part.csv; cut -f 2 crates/data/bundled/sms-spam.tsv | head -300 > part.txt");
    let server = Server::start(&bench, &["--read-only"]);
    for (name, file, kind, words) in [
        ("penguins", "part.csv", "text/csv", "--label species"),
        ("bent", "part.csv", "text/csv", "--label species"),
        ("sms", "part.txt", "text/plain", "--format text"),
    ] {
        let body = std::fs::read(bench.path(file)).unwrap();
        let headers = format!("content-type: {kind}\r\naccept: application/x-ndjson\r\n");
        let path = format!("/v1/models/{name}/predict?scores&probabilities");
        let (status, answer) = server.ask("POST", &path, &headers, &body).unwrap();
        assert_eq!(status, 200, "{}", String::from_utf8_lossy(&answer));
        let printed = bench.ok(&format!(
            "rosenblatt predict {file} {words} --model models/{name}.model --scores --probabilities --json"
        ));
        let parse = |text: &str| -> Vec<serde_json::Value> {
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
        };
        assert!(parse(std::str::from_utf8(&answer).unwrap()) == parse(&printed), "{name}");
    }
}

/// Rows of a lesson that takes longer than a server has to end.
#[cfg(unix)]
const N_LONG: u64 = 3000;

/// What one client did: the key and the row, with the place that it got if it got one.
type Sent = (usize, Option<u64>);

fn row(number: usize) -> String {
    format!("{},{},{}", number % 7, number * 37 % 101, ["cat", "bird", "fish"][number * 11 % 7 % 3])
}

#[test]
fn a_server_that_is_killed_loses_nothing_and_learns_nothing_twice() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("models")).unwrap();
    bench.write("pets.csv", "legs,weight,label\n4,3.5,cat\n2,0.1,bird\n4,5,cat\n2,0.2,bird\n");
    bench.ok("rosenblatt train pets.csv --algorithm perceptron --online --model models/pets.model");
    let next = Arc::new(Mutex::new(0));
    let mut unknown: Vec<usize> = Vec::new();
    let mut places: Vec<(u64, usize)> = Vec::new();
    for kill in 0..6 {
        let mut server = Server::start(&bench, &["--snapshot-rows", "50", "--grow-classes"]);
        let deadline = Instant::now() + Duration::from_millis(150 + 70 * kill);
        let again = std::mem::take(&mut unknown);
        let clients: Vec<_> = (0..4)
            .map(|client| {
                let (address, next) = (server.address.clone(), Arc::clone(&next));
                // Rows of unknown fate are sent again, with the same key.
                let mut again: Vec<usize> =
                    again.iter().copied().filter(|number| number % 4 == client).collect();
                std::thread::spawn(move || {
                    let mut sent: Vec<Sent> = Vec::new();
                    while Instant::now() < deadline + Duration::from_secs(2) {
                        let number = again.pop().unwrap_or_else(|| {
                            let mut next = next.lock().unwrap();
                            *next += 4;
                            *next - 4 + client
                        });
                        let body = format!("legs,weight,label\n{}\n", row(number));
                        let headers = format!("content-type: text/csv\r\nidempotency-key: row-{number}\r\n");
                        let answer =
                            ask(&address, "POST", "/v1/models/pets/learn", &headers, body.as_bytes());
                        let place = answer.filter(|(status, _)| *status == 200).map(|(_, body)| {
                            serde_json::from_slice::<serde_json::Value>(&body).unwrap()["learned"]
                                .as_u64()
                                .unwrap()
                        });
                        sent.push((number, place));
                        if place.is_none() {
                            break;
                        }
                    }
                    sent.extend(again.into_iter().map(|number| (number, None)));
                    sent
                })
            })
            .collect();
        std::thread::sleep(deadline.saturating_duration_since(Instant::now()));
        server.child.kill().unwrap();
        for (number, place) in clients.into_iter().flat_map(|client| client.join().unwrap()) {
            match place {
                Some(place) => places.push((place, number)),
                None => unknown.push(number),
            }
        }
    }
    let server = Server::start(&bench, &["--grow-classes"]);
    for number in unknown {
        let body = format!("legs,weight,label\n{}\n", row(number));
        let headers = format!("content-type: text/csv\r\nidempotency-key: row-{number}\r\n");
        let (_, answer) = server.ask("POST", "/v1/models/pets/learn", &headers, body.as_bytes()).unwrap();
        let answer: serde_json::Value = serde_json::from_slice(&answer).unwrap();
        places.push((answer["learned"].as_u64().unwrap(), number));
    }
    places.sort_unstable();
    let found: Vec<u64> = places.iter().map(|(place, _)| *place).collect();
    assert_eq!(found, (1..=places.len() as u64).collect::<Vec<_>>(), "each row has a place of its own");
    assert!(places.len() > 20, "{} rows", places.len());
    let (_, learned) = server.ask("GET", "/v1/models/pets/file", "", b"").unwrap();
    let rows: Vec<String> = places.iter().map(|(_, number)| row(*number)).collect();
    bench.write("all.csv", format!("legs,weight,label\n{}\n", rows.join("\n")));
    bench.ok("rosenblatt train all.csv --online --start-from models/pets.model --grow-classes --model offline.model");
    assert!(learned == std::fs::read(bench.path("offline.model")).unwrap(), "the same bits as offline");
}

#[cfg(unix)]
#[test]
fn a_server_that_is_asked_to_stop_saves_and_says_so() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("models")).unwrap();
    bench.write("pets.csv", "legs,weight,label\n4,3.5,cat\n2,0.1,bird\n4,5,cat\n2,0.2,bird\n");
    bench.ok("rosenblatt train pets.csv --algorithm perceptron --online --model models/pets.model");
    let mut server = Server::start(&bench, &[]);
    let (status, _) = server
        .ask("POST", "/v1/models/pets/learn", "content-type: text/csv\r\n", b"legs,weight,label\n1,1,cat\n")
        .unwrap();
    assert_eq!(status, 200);
    let done = bench.run(&format!("kill -TERM {}", server.child.id()));
    assert_eq!(done.code, Some(0));
    let ended = server.child.wait().unwrap();
    assert_eq!(ended.code(), Some(0), "a clean end, as an operator counts it");
    assert!(bench.path("models/pets.serve/1.snapshot").exists());
    // A port that is taken is named.
    let server = Server::start(&bench, &["--read-only"]);
    let taken = bench.run(&format!("rosenblatt serve models --read-only --address {}", server.address));
    assert_eq!(taken.code, Some(1));
    assert!(taken.stderr.contains(&server.address), "{}", taken.stderr);
}

/// A signal in the middle of a lesson that takes longer than `--drain`: the process ends in time, and what it acknowledged
/// is there after a restart.
#[cfg(unix)]
#[test]
fn a_server_that_is_asked_to_stop_ends_within_drain_with_all_that_it_acknowledged() {
    const DRAIN: Duration = Duration::from_secs(1);
    let bench = Bench::new();
    std::fs::create_dir(bench.path("models")).unwrap();
    bench.write("pets.csv", "legs,weight,label\n4,3.5,cat\n2,0.1,bird\n4,5,cat\n2,0.2,bird\n");
    bench.ok("rosenblatt train pets.csv --algorithm perceptron --online --model models/pets.model");
    let words = ["--drain", "1", "--grow-classes", "--max-classes", "100000"];
    let mut server = Server::start(&bench, &words);
    let learn = |server: &Server, number: usize| {
        let body = format!("legs,weight,label\n{}\n", row(number));
        let headers = format!("content-type: text/csv\r\nidempotency-key: row-{number}\r\n");
        let (status, body) = server.ask("POST", "/v1/models/pets/learn", &headers, body.as_bytes()).unwrap();
        assert_eq!(status, 200, "{}", String::from_utf8_lossy(&body));
        serde_json::from_slice::<serde_json::Value>(&body).unwrap()
    };
    for number in 0..20 {
        assert_eq!(learn(&server, number)["learned"], number + 1);
    }
    // Every row has a class of its own, which costs more the more there are.
    let long: Vec<String> = (0..N_LONG).map(|row| format!("{},{row},class number {row}", row % 5)).collect();
    let long = format!("legs,weight,label\n{}\n", long.join("\n"));
    let log = bench.path("models/pets.serve/1.log");
    let length = std::fs::metadata(&log).unwrap().len();
    let address = server.address.clone();
    let client = std::thread::spawn(move || {
        ask(&address, "POST", "/v1/models/pets/learn", "content-type: text/csv\r\n", long.as_bytes())
    });
    let began = Instant::now();
    while std::fs::metadata(&log).unwrap().len() == length {
        assert!(began.elapsed() < Duration::from_secs(60), "it is not in the log");
        std::thread::sleep(Duration::from_millis(5));
    }
    let began = Instant::now();
    assert_eq!(bench.run(&format!("kill -TERM {}", server.child.id())).code, Some(0));
    let ended = loop {
        assert!(began.elapsed() < DRAIN * 10, "it does not end");
        if let Some(ended) = server.child.try_wait().unwrap() {
            break ended;
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    let took = began.elapsed();
    assert_eq!(ended.code(), Some(0), "a clean end, as an operator counts it");
    // A busy machine has some time more.
    assert!(took < DRAIN + Duration::from_secs(2), "{took:?}");
    let is_acknowledged = client.join().unwrap().is_some_and(|(status, _)| status == 200);
    let server = Server::start(&bench, &words);
    // Rows that were not acknowledged may have been learned, as a whole or not at all.
    let (_, answer) = server.ask("GET", "/v1/models/pets/evaluate", "", b"").unwrap();
    let answer: serde_json::Value = serde_json::from_slice(&answer).unwrap();
    let learned = answer["learned"].as_u64().unwrap();
    assert!(learned == 20 + N_LONG || learned == 20 && !is_acknowledged, "{learned}");
    for number in 0..20 {
        let again = learn(&server, number);
        assert_eq!((&again["repeated"], again["learned"].as_u64()), (&true.into(), Some(number as u64 + 1)));
    }
}

#[test]
fn a_port_that_is_named_is_listened_on_and_reached_as_localhost() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("models")).unwrap();
    // The system names one that is free; another program may take it before the server does.
    let (mut server, port) = (0..5)
        .find_map(|_| {
            let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let mut child = Command::new(env!("CARGO_BIN_EXE_rosenblatt"))
                .args(["serve", "models", "--port", &free.to_string()])
                .current_dir(bench.path(""))
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let mut line = String::new();
            BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
            let server = Server { child, address: format!("127.0.0.1:{free}") };
            (!line.is_empty()).then(|| {
                assert!(line.contains(&format!("http://127.0.0.1:{free},")), "{line}");
                (server, free)
            })
        })
        .unwrap();
    for (host, status) in [
        (format!("localhost:{port}"), "200"),
        ("localhost".to_owned(), "200"),
        (format!("127.0.0.1:{port}"), "200"),
        (format!("evil.example:{port}"), "403"),
    ] {
        // As a client does that is given the name.
        let mut stream = TcpStream::connect(format!("localhost:{port}")).unwrap();
        let head = format!("GET /v1/models HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert_eq!(answer.split(' ').nth(1), Some(status), "{host}: {answer}");
    }
    server.child.kill().unwrap();
}

#[test]
fn a_model_that_is_not_served_is_named_once_and_in_quiet_too() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("models")).unwrap();
    bench.write("models/x.model", "no model");
    for is_quiet in [true, false] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rosenblatt"));
        command.args(["serve", "models", "--address", "127.0.0.1:0"]).args(is_quiet.then_some("--quiet"));
        command.current_dir(bench.path("")).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut complaints = BufReader::new(child.stderr.take().unwrap());
        let (mut messages, mut printed) = (String::new(), String::new());
        complaints.read_line(&mut messages).unwrap();
        if !is_quiet {
            BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut printed).unwrap();
            let address = printed.strip_prefix("serving no models at http://").unwrap();
            let (status, _) = ask(address.split(',').next().unwrap(), "GET", "/readyz", "", b"").unwrap();
            assert_eq!(status, 503);
        }
        child.kill().unwrap();
        child.wait().unwrap();
        complaints.read_to_string(&mut messages).unwrap();
        assert!(messages.starts_with("warning: model x: it is not served: "), "{messages}");
        assert_eq!(messages.lines().count(), 1, "{messages}");
    }
}

#[test]
fn read_only_makes_no_folder() {
    let bench = Bench::new();
    let before = std::fs::read_dir(bench.path("")).unwrap().count();
    let done = bench.run("rosenblatt serve --read-only --address 127.0.0.1:0");
    assert_eq!((done.code, done.stdout.as_str()), (Some(1), ""));
    assert!(done.stderr.contains("name a folder of models"), "{}", done.stderr);
    assert_eq!(std::fs::read_dir(bench.path("")).unwrap().count(), before, "nothing was written");
}

#[test]
fn addresses_and_folders_are_taken_as_they_are_written_or_refused_with_a_cure() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("models")).unwrap();
    for words in [
        ["--address", "localhost:0"],
        ["--address", ":0"],
        ["--address", "0"],
        ["--address", "[::1]:0"],
        ["--address", "127.0.0.1:0"],
        ["--port", "0"],
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rosenblatt"));
        command.args(["serve", "models", "--read-only"]).args(words).current_dir(bench.path(""));
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let is_here = line.contains("http://127.0.0.1:") || line.contains("http://[::1]:");
        assert!(is_here, "{words:?}: {line}");
    }
    bench.write("models/x.model", "no model");
    let server = Server::start(&bench, &[]);
    for (words, expected) in [
        ("nosuchfolder", "mkdir nosuchfolder"),
        ("models/x.model", "`rosenblatt serve models`"),
        ("models --port 0", "another server, process "),
        ("models --address nowhere:x", "localhost:8080"),
        ("models --address :0 --port 0", "cannot be used with"),
    ] {
        let done = bench.run(&format!("rosenblatt serve {words}"));
        assert_ne!(done.code, Some(0), "{words}");
        assert!(done.stderr.contains(expected), "{words}: {}", done.stderr);
    }
    // What cannot be served is named, in the output and to those who ask.
    let (status, answer) = server.ask("GET", "/readyz", "", b"").unwrap();
    assert_eq!(status, 503, "{}", String::from_utf8_lossy(&answer));
    let (status, _) = server.ask("POST", "/v1/models/x/predict", "", b"[[1]]").unwrap();
    assert_eq!(status, 503);
}

/// The lines of the README below its `serve`, and those of the server's own page, with a port that is free.
#[test]
fn the_lines_of_documents_do_what_they_show() {
    let readme = include_str!("../../../README.md");
    let block =
        readme.split("```sh\nrosenblatt serve").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let page = include_str!("../../../docs/serve.md");
    for (text, n_expected) in [(block, 2), (page, 14)] {
        let bench = Bench::new();
        let server = Server::without_folder(&bench);
        let mut n_lines = 0;
        for line in text.lines().filter(|line| line.starts_with("printf ")) {
            bench.ok(line);
        }
        for line in text.lines().filter(|line| line.starts_with("curl ")) {
            let (line, shown) = line.split_once("   # ").unwrap();
            let line = line.replace("localhost:8080", &server.address);
            let printed = bench.ok(&line.replace("curl ", "curl -s -S "));
            assert!(printed.contains(shown.trim()), "{line}\nshould say {shown}, but says {printed}");
            n_lines += 1;
        }
        assert_eq!(n_lines, n_expected);
    }
}
