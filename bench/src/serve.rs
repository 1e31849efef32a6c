//! `cargo xtask bench serve`: the server on loopback, beside scikit-learn behind `FastAPI` and uvicorn, and beside Vowpal
//! Wabbit's daemon, on the same machine, rows and load. Client and server share the cores.
//!
//! - predictions of one row a request: requests a second and the times within which half and 99 of 100 are answered;
//! - batches of 1,000 rows as Arrow streams, beside predicting the same rows in memory;
//! - learning with 64 clients, each example flushed to the disk, beside what the disk flushes in a second;
//! - predictions while that goes on, and while a fixed share of it does;
//! - the start with a million examples in the log, and the memory of a server that waits.
//!
//! `--seconds S` (3) is the length of each turn, `--repeats N` (3) how many there are; all take turns, and the best counts.
//! `--rows N` (1,000,000) is the length of the log, `--no-peers` measures ours alone.

use super::tools::{self, Random, after, context, generate, number, python, today, versions};
use crate::http::{Client, Served};
use crate::say;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

const FOLDER: &str = "target/bench-data/serve";
const FEATURES: usize = 28;
/// Connections of the client that asks for predictions.
const CONNECTIONS: usize = 16;
/// Connections of those who ask at a steady pace.
const PACED: u32 = 8;
/// Turns of predictions at a steady pace, alone and beside others, within one turn of all else.
const SHORT_TURNS: usize = 8;
/// Clients that teach.
const TEACHERS: usize = 64;
const PREDICT: &str = "/v1/models/dense/predict";
const LEARN: &str = "/v1/models/dense/learn";
const ARROW: &str = "application/vnd.apache.arrow.stream";
const PEERS: [&str; 6] = ["scikit-learn", "numpy", "pyarrow", "fastapi", "uvicorn[standard]", "vowpalwabbit"];

pub(crate) fn run(words: &[String]) -> Result<(), String> {
    let (seconds, n_repeats) = (number(words, "--seconds", 3.0)?, number(words, "--repeats", 3_usize)?);
    let n_logged: usize = number(words, "--rows", 1_000_000)?;
    tools::build(&[
        "--package",
        "rosenblatt-cli",
        "--features",
        "rosenblatt-cli/full",
        "--bin",
        "rosenblatt",
        "--package",
        "rosenblatt-server",
        "--example",
        "in_memory",
    ])?;
    let python = if words.iter().any(|word| word == "--no-peers") { None } else { python(&PEERS) };
    let python = after(words, "--python").map(PathBuf::from).or(python);
    let bench = Bench::new(python)?;
    let mut found = Findings::default();
    let time = Duration::from_secs_f64(seconds);
    for _ in 0..n_repeats {
        bench.predictions(time, &mut found)?;
        bench.batches(time, &mut found)?;
        bench.lessons(time, &mut found)?;
    }
    bench.start(n_logged, &mut found)?;
    bench.idle(&mut found)?;
    write_run(&found, words)
}

/// What was measured, by name: every turn of it.
#[derive(Default)]
struct Findings(Vec<(String, Vec<Measured>)>);

/// One turn.
#[derive(Clone, Copy, Default)]
struct Measured {
    /// Whatever is counted, a second.
    rate: f64,
    /// The times within which half and 99 of 100 were answered, in seconds.
    half: f64,
    most: f64,
}

impl Findings {
    fn add(&mut self, name: &str, measured: Measured) {
        say(&format!(
            "{name:<58} {:>12.0} a second, half within {:.0} µs, 99 of 100 within {:.0} µs",
            measured.rate,
            measured.half * 1e6,
            measured.most * 1e6
        ));
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, turns)) => turns.push(measured),
            None => self.0.push((name.to_owned(), vec![measured])),
        }
    }

    /// The best of all turns, each number by itself.
    fn best(&self, name: &str) -> Option<Measured> {
        let (_, turns) = self.0.iter().find(|(known, _)| known == name)?;
        let least = |of: fn(&Measured) -> f64| turns.iter().map(of).fold(f64::INFINITY, f64::min);
        let rate = turns.iter().map(|turn| turn.rate).fold(0.0, f64::max);
        Some(Measured { rate, half: least(|turn| turn.half), most: least(|turn| turn.most) })
    }

    /// The time within which 99 of 100 were answered in the middle one of all turns: of tails, the least is luck.
    fn middle_most(&self, name: &str) -> f64 {
        let turns = self.0.iter().find(|(known, _)| known == name).map_or(&[][..], |(_, turns)| turns);
        let mut most: Vec<f64> = turns.iter().map(|turn| turn.most).collect();
        most.sort_by(f64::total_cmp);
        most.get(most.len() / 2).copied().unwrap_or(f64::NAN)
    }
}

/// Teaches for a while.
type Teacher<'a> = dyn Fn() -> Result<Measured, String> + Sync + 'a;

/// A peer that is ended with its owner, and with it all that it started.
struct Peer(Child);

impl Drop for Peer {
    fn drop(&mut self) {
        let group = format!("-{}", self.0.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
        let _ = self.0.wait();
    }
}

struct Bench {
    program: PathBuf,
    /// Predicts without a server.
    in_memory: PathBuf,
    python: Option<PathBuf>,
    /// One row as a JSON document, and as Vowpal Wabbit reads it.
    row: String,
    line: String,
    /// A thousand rows as an Arrow stream.
    batch: Vec<u8>,
}

impl Bench {
    fn new(python: Option<PathBuf>) -> Result<Self, String> {
        fs::create_dir_all(format!("{FOLDER}/models")).map_err(context("making a folder"))?;
        let here = std::env::current_dir().map_err(context("finding the program"))?;
        let program = here.join("target/release/rosenblatt");
        let train = Path::new(FOLDER).join("train.csv");
        generate(&train, |out| write_rows(out, 20_000))?;
        generate(&Path::new(FOLDER).join("batch.csv"), |out| write_rows(out, 1000))?;
        let ours = |words: &[&str]| {
            let done = Command::new(&program).args(words).arg("--quiet").current_dir(FOLDER).output();
            done.map_err(context("training")).and_then(|done| {
                if done.status.success() {
                    Ok(())
                } else {
                    Err(String::from_utf8_lossy(&done.stderr).into_owned())
                }
            })
        };
        ours(&["train", "train.csv", "--algorithm", "perceptron", "--model", "dense.model"])?;
        ours(&["convert", "batch.csv", "batch.arrow"])?;
        let batch = fs::read(Path::new(FOLDER).join("batch.arrow")).map_err(context("reading the batch"))?;
        let text = fs::read_to_string(&train).map_err(context("reading rows"))?;
        let cells: Vec<&str> = text.lines().nth(1).unwrap_or_default().split(',').take(FEATURES).collect();
        let named: Vec<String> =
            cells.iter().enumerate().map(|(place, cell)| format!("f{place}:{cell}")).collect();
        let python = python.map(|python| here.join(python));
        let script = Path::new(FOLDER).join("serve_peers.py");
        fs::write(&script, include_str!("serve.py")).map_err(context("writing the peers' script"))?;
        if let Some(python) = &python {
            tools::output_of(
                Command::new(python).args(["serve_peers.py", "train", "."]).current_dir(FOLDER),
            )?;
        }
        Ok(Self {
            program,
            in_memory: here.join("target/release/examples/in_memory"),
            python,
            row: format!("[[{}]]", cells.join(",")),
            line: format!("| {}\n", named.join(" ")),
            batch,
        })
    }

    /// A server of a folder that has learned nothing.
    fn server(&self, words: &[&str]) -> Result<Served, String> {
        let models = Path::new(FOLDER).join("models");
        let _ = fs::remove_dir_all(&models);
        fs::create_dir_all(&models).map_err(context("making a folder"))?;
        fs::copy(Path::new(FOLDER).join("dense.model"), models.join("dense.model"))
            .map_err(context("copying the model"))?;
        self.again(words)
    }

    /// A server of the folder as it is.
    fn again(&self, words: &[&str]) -> Result<Served, String> {
        Served::start(&self.program, &Path::new(FOLDER).join("models"), words)
    }

    fn predictions(&self, time: Duration, found: &mut Findings) -> Result<(), String> {
        let request = post(PREDICT, "application/json", self.row.as_bytes());
        {
            let server = self.server(&[])?;
            found
                .add("one row a request, ours", load(&server.address, &request, CONNECTIONS, time, of_http)?);
            found.add("one row, one connection, ours", load(&server.address, &request, 1, time, of_http)?);
        }
        let Some(python) = &self.python else { return Ok(()) };
        let request = post("/predict", "application/json", self.row.as_bytes());
        for workers in ["1", "2"] {
            let address = free()?;
            let port = address.rsplit(':').next().unwrap_or_default();
            let words = ["-m", "uvicorn", "serve_peers:app", "--no-access-log", "--log-level", "error"];
            let mut command = Command::new(python);
            command.args(words).args(["--workers", workers, "--port", port]).env("BENCH_FOLDER", ".");
            let _peer = started(&mut command, &address)?;
            let name = format!("one row a request, uvicorn with {workers} workers");
            found.add(&name, load(&address, &request, CONNECTIONS, time, of_http)?);
            let name = format!("one row, one connection, uvicorn with {workers} workers");
            found.add(&name, load(&address, &request, 1, time, of_http)?);
        }
        let address = free()?;
        let mut command = Command::new(python);
        command.args(["serve_peers.py", "vw", ".", address.rsplit(':').next().unwrap_or_default()]);
        // It serves one connection after the other, so no other client may connect before the load does.
        let _peer = started(&mut command, "")?;
        sleep(Duration::from_secs(3));
        let measured = load(&address, self.line.as_bytes(), 1, time, of_lines)?;
        found.add("one row, one connection, VW's daemon", measured);
        Ok(())
    }

    fn batches(&self, time: Duration, found: &mut Findings) -> Result<(), String> {
        let server = self.server(&[])?;
        for (name, kind, body) in
            [("Arrow", ARROW, self.batch.clone()), ("JSON", "application/json", json()?)]
        {
            let head = format!("content-type: {kind}\r\naccept: {kind}\r\n");
            let request = message(PREDICT, &head, &body);
            let measured = load(&server.address, &request, 4, time, of_http)?;
            found.add(
                &format!("rows in batches of 1,000, {name}"),
                Measured { rate: measured.rate * 1000.0, ..measured },
            );
        }
        // The same rows by the library alone.
        let seconds = time.mul_f64(0.3).as_secs_f64().to_string();
        let mut command = Command::new(&self.in_memory);
        let printed =
            tools::output_of(command.args(["dense.model", "batch.arrow", &seconds]).current_dir(FOLDER))?;
        for line in printed.lines() {
            let Some((name, rate)) = line.split_once('\t') else { continue };
            let rate = rate.parse().map_err(|_| format!("`{rate}` is no rate"))?;
            found.add(&format!("{name} in memory"), Measured { rate, ..Measured::default() });
        }
        Ok(())
    }

    fn lessons(&self, time: Duration, found: &mut Findings) -> Result<(), String> {
        found.add("flushes of the disk", flushes(time)?);
        let cells = self.row.trim_matches(['[', ']']);
        let names: Vec<String> = (0..FEATURES).map(|feature| format!("f{feature}")).collect();
        let body = format!("{},label\n{cells},yes\n", names.join(","));
        let request = post(LEARN, "text/csv", body.as_bytes());
        let asking = post(PREDICT, "application/json", self.row.as_bytes());
        let server = self.server(&[])?;
        let measured = load(&server.address, &request, TEACHERS, time, of_http)?;
        found.add("examples learned, 64 clients, fsync", measured);
        let metric = |name: &str| -> f64 {
            let page = Client::new(&server.address).ask("GET", "/metrics", "", b"");
            let page = page.map(|(_, page)| String::from_utf8_lossy(&page).into_owned()).unwrap_or_default();
            let line = page.lines().find_map(|line| line.strip_prefix(&format!("rosenblatt_{name} ")));
            line.and_then(|line| line.parse().ok()).unwrap_or(f64::NAN)
        };
        let group = metric("log_requests_total") / metric("log_groups_total");
        found.add("examples a flush", Measured { rate: group, ..Measured::default() });
        // Predictions at a steady pace, alone, beside a steady stream of examples, and beside as many as can be learned.
        // One of a hundred is soon late where a neighbour takes the processor away, so that turns are short and many.
        let short = time.div_f64(SHORT_TURNS as f64 / 2.0);
        let paced = || pace(&server.address, &asking, Duration::from_millis(1), short);
        let teachers: [(&str, &Teacher<'_>); 2] = [
            ("1,000 examples a second", &|| pace(&server.address, &request, Duration::from_millis(1), short)),
            ("all that can be learned", &|| load(&server.address, &request, TEACHERS, short, of_http)),
        ];
        for _ in 0..SHORT_TURNS {
            found.add("1,000 predictions a second, alone", paced()?);
            for (name, teach) in teachers {
                let (asked, taught) = scope(|scope| {
                    let taught = scope.spawn(teach);
                    (paced(), taught.join().unwrap_or_else(|_| Err("the teacher ended early".to_owned())))
                });
                found.add(&format!("1,000 predictions a second, beside {name}"), asked?);
                found.add(&format!("examples learned beside predictions, {name}"), taught?);
            }
        }
        Ok(())
    }

    fn start(&self, n_rows: usize, found: &mut Findings) -> Result<(), String> {
        let words = ["--snapshot-rows", "1000000000", "--snapshot-log", "100GiB", "--max-disk", "100GiB"];
        let words = [words.as_slice(), &["--durability", "none"]].concat();
        let text =
            fs::read_to_string(Path::new(FOLDER).join("train.csv")).map_err(context("reading rows"))?;
        {
            let mut server = self.server(&words)?;
            let mut client = Client::new(&server.address);
            for _ in 0..n_rows.div_ceil(20_000) {
                let answer = client.ask("POST", LEARN, "content-type: text/csv\r\n", text.as_bytes());
                if !matches!(answer, Some((200, _))) {
                    return Err("a lesson was refused".to_owned());
                }
            }
            server.kill();
        }
        for _ in 0..2 {
            let began = Instant::now();
            let mut server = self.again(&words)?;
            let answer = Client::new(&server.address).ask("GET", "/v1/models/dense/evaluate", "", b"");
            let took = began.elapsed().as_secs_f64();
            let learned = answer.and_then(|(_, body)| crate::http::number(&body, "learned"));
            if learned != Some(n_rows.div_ceil(20_000) as u64 * 20_000) {
                return Err(format!("the log came back with {learned:?} examples"));
            }
            found.add(
                "examples of the log at the start",
                Measured { rate: n_rows as f64 / took, half: took, most: took },
            );
            server.kill();
        }
        Ok(())
    }

    fn idle(&self, found: &mut Findings) -> Result<(), String> {
        let server = self.server(&[])?;
        sleep(Duration::from_secs(2));
        let (kibibytes, _) = server.size();
        found.add("KiB of a server that waits", Measured { rate: kibibytes as f64, ..Measured::default() });
        Ok(())
    }
}

/// The batch as a JSON document.
fn json() -> Result<Vec<u8>, String> {
    let text = fs::read_to_string(Path::new(FOLDER).join("batch.csv")).map_err(context("reading rows"))?;
    let row = |line: &str| format!("[{}]", line.rsplit_once(',').map_or(line, |(cells, _)| cells));
    let rows: Vec<String> = text.lines().skip(1).map(row).collect();
    Ok(format!("[{}]", rows.join(",")).into_bytes())
}

/// Rows of numbers that a plane tells apart, but for some.
fn write_rows(out: &mut impl Write, n_rows: usize) -> std::io::Result<()> {
    let mut random = Random(n_rows as u64);
    let names: Vec<String> = (0..FEATURES).map(|feature| format!("f{feature}")).collect();
    writeln!(out, "{},label", names.join(","))?;
    for _ in 0..n_rows {
        let values: Vec<f64> = (0..FEATURES).map(|_| random.normal()).collect();
        let score = values.iter().step_by(2).sum::<f64>() + random.normal();
        for value in &values {
            write!(out, "{value:.4},")?;
        }
        writeln!(out, "{}", if score > 0.0 { "yes" } else { "no" })?;
    }
    Ok(())
}

fn message(path: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head =
        format!("POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n{headers}\r\n");
    [head.as_bytes(), body].concat()
}

fn post(path: &str, kind: &str, body: &[u8]) -> Vec<u8> {
    message(path, &format!("content-type: {kind}\r\n"), body)
}

/// A free address.
fn free() -> Result<String, String> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").map_err(context("finding a port"))?;
    Ok(listener.local_addr().map_err(context("finding a port"))?.to_string())
}

/// Starts a peer, and waits until it answers.
fn started(command: &mut Command, address: &str) -> Result<Peer, String> {
    let child =
        command.process_group(0).current_dir(FOLDER).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let peer = Peer(child.map_err(context("starting a peer"))?);
    let began = Instant::now();
    while !address.is_empty() && TcpStream::connect(address).is_err() {
        if began.elapsed() > Duration::from_secs(30) {
            return Err("a peer did not start".to_owned());
        }
        sleep(Duration::from_millis(50));
    }
    // A second worker may still be on its way.
    sleep(Duration::from_secs(u64::from(!address.is_empty()) * 2));
    Ok(peer)
}

/// How many bytes an answer takes that is whole, and whether it is a good one.
type Complete = fn(&[u8]) -> Option<(usize, bool)>;

fn of_http(bytes: &[u8]) -> Option<(usize, bool)> {
    let head = bytes.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let text = std::str::from_utf8(&bytes[..head]).ok()?;
    let length = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    })?;
    (bytes.len() >= head + length).then_some((head + length, text.starts_with("HTTP/1.1 200")))
}

fn of_lines(bytes: &[u8]) -> Option<(usize, bool)> {
    bytes.iter().position(|byte| *byte == b'\n').map(|place| (place + 1, true))
}

struct Asker {
    stream: TcpStream,
    came: Vec<u8>,
    sent: Instant,
    /// How much of the request is on its way.
    n_sent: usize,
}

/// Waits until one of these can be read from or written to.
#[expect(unsafe_code, reason = "the standard library cannot wait for several streams")]
fn wait(polled: &mut [libc::pollfd]) -> i32 {
    // SAFETY: the array has the given length, and lives through the call.
    unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, 5000) }
}

/// One thread asks on this many connections, on each for the next as soon as the last is answered.
fn load(
    address: &str,
    request: &[u8],
    n_connections: usize,
    time: Duration,
    complete: Complete,
) -> Result<Measured, String> {
    let connect = |_| {
        let stream = TcpStream::connect(address).map_err(context("connecting"))?;
        stream
            .set_nodelay(true)
            .and_then(|()| stream.set_nonblocking(true))
            .map_err(context("connecting"))?;
        Ok(Asker { stream, came: Vec::new(), sent: Instant::now(), n_sent: 0 })
    };
    let mut askers: Vec<Asker> = (0..n_connections).map(connect).collect::<Result<_, String>>()?;
    let mut polled: Vec<libc::pollfd> = askers
        .iter()
        .map(|asker| libc::pollfd { fd: asker.stream.as_raw_fd(), events: libc::POLLOUT, revents: 0 })
        .collect();
    let mut times = Vec::new();
    let mut some = vec![0; 64 << 10];
    // What is answered in the first tenth warms everything up.
    let (began, mut counted) = (Instant::now(), None);
    while began.elapsed() < time.mul_f64(1.1) {
        if counted.is_none() && began.elapsed() >= time.mul_f64(0.1) {
            counted = Some(Instant::now());
            times.clear();
        }
        if wait(&mut polled) <= 0 {
            return Err("nothing was answered for five seconds".to_owned());
        }
        for (asker, poll) in askers.iter_mut().zip(&mut polled).filter(|(_, poll)| poll.revents != 0) {
            if asker.n_sent < request.len() {
                if asker.n_sent == 0 {
                    asker.sent = Instant::now();
                }
                match asker.stream.write(&request[asker.n_sent..]) {
                    Ok(n_bytes) => asker.n_sent += n_bytes,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                    Err(error) => return Err(format!("sending: {error}")),
                }
            } else {
                match asker.stream.read(&mut some) {
                    Ok(0) => return Err("the server hung up".to_owned()),
                    Ok(n_bytes) => asker.came.extend_from_slice(&some[..n_bytes]),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                    Err(error) => return Err(format!("reading: {error}")),
                }
                if let Some((length, is_good)) = complete(&asker.came) {
                    if !is_good {
                        return Err(String::from_utf8_lossy(&asker.came).into_owned());
                    }
                    times.push(asker.sent.elapsed().as_secs_f64());
                    asker.came.drain(..length);
                    asker.sent = Instant::now();
                    asker.n_sent = match asker.stream.write(request) {
                        Ok(n_bytes) => n_bytes,
                        Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
                        Err(error) => return Err(format!("sending: {error}")),
                    };
                }
            }
            poll.events = if asker.n_sent < request.len() { libc::POLLOUT } else { libc::POLLIN };
        }
    }
    let took = counted.unwrap_or(began).elapsed().as_secs_f64();
    summed(times, took)
}

/// Asks once every so often, on several connections in turn, so that no request waits for another's answer; a
/// request counts from when it was due.
fn pace(address: &str, request: &[u8], every: Duration, time: Duration) -> Result<Measured, String> {
    let began = Instant::now();
    let times = scope(|scope| {
        let ask = |place: u32| {
            let due = began + every * place;
            scope.spawn(move || pace_one(address, request, every * PACED, due, began + time))
        };
        let asked: Vec<_> = (0..PACED).map(ask).collect();
        let times =
            asked.into_iter().map(|one| one.join().unwrap_or_else(|_| Err("a client broke".to_owned())));
        times.collect::<Result<Vec<_>, String>>()
    })?;
    summed(times.concat(), began.elapsed().as_secs_f64())
}

/// One of those who ask in turn: how long each answer took.
fn pace_one(
    address: &str,
    request: &[u8],
    every: Duration,
    mut due: Instant,
    end: Instant,
) -> Result<Vec<f64>, String> {
    let mut stream = TcpStream::connect(address).map_err(context("connecting"))?;
    stream.set_nodelay(true).map_err(context("connecting"))?;
    let mut times = Vec::new();
    let mut some = vec![0; 64 << 10];
    while due < end {
        sleep(due.saturating_duration_since(Instant::now()));
        stream.write_all(request).map_err(context("sending"))?;
        let mut came = Vec::new();
        while of_http(&came).is_none() {
            let n_bytes = stream.read(&mut some).map_err(context("reading"))?;
            if n_bytes == 0 {
                return Err("the server hung up".to_owned());
            }
            came.extend_from_slice(&some[..n_bytes]);
        }
        times.push(due.elapsed().as_secs_f64());
        due += every;
    }
    Ok(times)
}

fn summed(mut times: Vec<f64>, took: f64) -> Result<Measured, String> {
    times.sort_by(f64::total_cmp);
    let at = |share: usize| times.get(times.len() * share / 100).copied();
    let (half, most) = at(50).zip(at(99)).ok_or("nothing was answered")?;
    Ok(Measured { rate: times.len() as f64 / took, half, most })
}

/// How often the disk flushes a record of the log's size, one after the other.
fn flushes(time: Duration) -> Result<Measured, String> {
    let path = Path::new(FOLDER).join("flushed");
    let mut file = File::create(&path).map_err(context("making a file"))?;
    let began = Instant::now();
    let mut times = Vec::new();
    while began.elapsed() < time {
        let start = Instant::now();
        file.write_all(&[7; 8192]).and_then(|()| file.sync_data()).map_err(context("flushing"))?;
        times.push(start.elapsed().as_secs_f64());
    }
    let _ = fs::remove_file(&path);
    summed(times, began.elapsed().as_secs_f64())
}

fn write_run(found: &Findings, words: &[String]) -> Result<(), String> {
    let date = today();
    let folder = PathBuf::from(format!("bench/runs/{date}-serve"));
    fs::create_dir_all(&folder).map_err(context("making the folder of the run"))?;
    let mut raw = "what,rate,half,most\n".to_owned();
    let mut summary = "The best of all turns: whatever is counted, a second, and the times within which half and 99 of \
                       100 were answered.\n\n| what | a second | half, µs | 99 of 100, µs |\n|---|---|---|---|\n"
        .to_owned();
    for (name, turns) in &found.0 {
        for Measured { rate, half, most } in turns {
            let _ = writeln!(raw, "\"{name}\",{rate},{half},{most}");
        }
        let Some(Measured { rate, half, most }) = found.best(name) else { continue };
        let _ = writeln!(summary, "| {name} | {rate:.0} | {:.0} | {:.0} |", half * 1e6, most * 1e6);
    }
    let best = |name: &str| found.best(name).unwrap_or_default();
    let ratio =
        |one: f64, other: f64| if other > 0.0 { format!("{:.2}", one / other) } else { "-".to_owned() };
    let ours = best("one row a request, ours");
    let peer = ["1", "2"].map(|workers| best(&format!("one row a request, uvicorn with {workers} workers")));
    let peer_rate = peer[0].rate.max(peer[1].rate);
    let peer_most =
        peer.iter().map(|peer| peer.most).filter(|most| *most > 0.0).fold(f64::INFINITY, f64::min);
    let alone = found.middle_most("1,000 predictions a second, alone");
    let arrow = best("rows in batches of 1,000, Arrow").rate;
    let lines = [
        ("requests a second, of uvicorn's", ratio(ours.rate, peer_rate), "at least 8"),
        ("99 of 100 within, of uvicorn's", ratio(ours.most, peer_most), "below 1"),
        (
            "rows of Arrow batches, of an Arrow stream read and predicted in memory",
            ratio(arrow, best("an Arrow stream, read and predicted in memory").rate),
            "at least 0.5",
        ),
        (
            "rows of Arrow batches, of rows that were read before, predicted in memory",
            ratio(arrow, best("rows that were read, predicted in memory").rate),
            "-",
        ),
        (
            "examples learned a second, 64 clients",
            format!("{:.0}", best("examples learned, 64 clients, fsync").rate),
            "at least 20,000, or what the disk flushes",
        ),
        (
            "the same, of flushes a second times examples a flush",
            ratio(
                best("examples learned, 64 clients, fsync").rate,
                best("flushes of the disk").rate * best("examples a flush").rate,
            ),
            "-",
        ),
        (
            "99 of 100 predictions beside 1,000 examples a second, of alone",
            ratio(found.middle_most("1,000 predictions a second, beside 1,000 examples a second"), alone),
            "at most 2",
        ),
        (
            "99 of 100 predictions beside all that can be learned, of alone",
            ratio(found.middle_most("1,000 predictions a second, beside all that can be learned"), alone),
            "at most 2",
        ),
        (
            "seconds to start with the log",
            format!("{:.2}", best("examples of the log at the start").half),
            "at most 10",
        ),
        (
            "MiB of a server that waits",
            format!("{:.1}", best("KiB of a server that waits").rate / 1024.0),
            "at most 20",
        ),
    ];
    summary.push_str("\n| line | measured | goal |\n|---|---|---|\n");
    for (name, value, goal) in lines {
        let _ = writeln!(summary, "| {name} | {value} | {goal} |");
    }
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let words: Vec<&str> = words.iter().map(|word| word.rsplit('/').next().unwrap_or(word)).collect();
    let readme = format!(
        "# The server on loopback, {date}\n\n- Command: `cargo xtask bench serve {}`\n- Machine: {cores} cores for client and \
         server together; load at the end {}\n- A perceptron on {FEATURES} numbers, two classes; scikit-learn's `Perceptron` behind \
         FastAPI and uvicorn (uvloop, httptools), Vowpal Wabbit's daemon (one connection at a time).\n- {CONNECTIONS} connections \
         that are kept, one thread asks on all of them.\n- {}\n",
        words.join(" "),
        load.trim(),
        versions(&PEERS, &[])
    );
    for (name, text) in [("README.md", &readme), ("raw.csv", &raw), ("summary.md", &summary)] {
        fs::write(folder.join(name), text).map_err(context("writing the run"))?;
    }
    say(&format!("{summary}\nwritten to {}", folder.display()));
    Ok(())
}
