//! A folder of models, a server on a free port, and a client of a few lines.

use rosenblatt::data::{ReadOptions, Source};
use rosenblatt::recipe::Choice;
use rosenblatt::{Options, Recipe};
use rosenblatt_server::{Config, Server};
use serde_json::Value;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

pub(crate) fn bundled(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/bundled").join(name)
}

/// The bytes of a model of a bundled data set, by one epoch.
pub(crate) fn model_of(name: &str, options: Options) -> Vec<u8> {
    model_of_source(&Source::file(bundled(name)), options)
}

pub(crate) fn model_of_source(source: &Source, learning: Options) -> Vec<u8> {
    // Of texts and sparse rows none can be missing.
    let has_columns = [".csv", ".parquet", ".jsonl"].iter().any(|end| source.name().ends_with(end));
    let missing = if has_columns { "mean" } else { "error" }.parse().unwrap();
    let reading = ReadOptions { missing, ..ReadOptions::default() };
    let recipe = Recipe {
        online: true,
        learning: learning.into(),
        reading,
        choice: Choice::Given,
        ..Recipe::default()
    };
    recipe.train(source, &mut ()).unwrap().model.to_bytes()
}

pub(crate) fn perceptron() -> Options {
    Options { algorithm: "perceptron".to_owned(), ..Options::default() }
}

/// Pets: a table of two numbers, two classes.
pub(crate) const PETS: &str =
    "legs,weight,label\n4,3.5,cat\n2,0.1,bird\n4,5,cat\n2,0.2,bird\n4,4,cat\n2,0.3,bird\n";

pub(crate) fn pets() -> Vec<u8> {
    model_of_source(&Source::bytes("pets.csv", PETS.as_bytes()), perceptron())
}

/// A server at work.
pub(crate) struct Bench {
    pub(crate) folder: PathBuf,
    /// Goes away with the bench.
    pub(crate) whole: Option<tempfile::TempDir>,
    pub(crate) address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Bench {
    pub(crate) fn new(models: &[(&str, Vec<u8>)]) -> Self {
        Self::with(models, |_| {})
    }

    pub(crate) fn with(models: &[(&str, Vec<u8>)], change: impl FnOnce(&mut Config)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in models {
            std::fs::write(folder.path().join(format!("{name}.model")), bytes).unwrap();
        }
        let path = folder.path().to_owned();
        let mut bench = Self::at(&path, change);
        bench.whole = Some(folder);
        bench
    }

    /// A server of a folder that is there already.
    pub(crate) fn at(folder: &Path, change: impl FnOnce(&mut Config)) -> Self {
        let mut config = Config {
            folder: folder.to_owned(),
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            reload: Duration::from_millis(50),
            threads: 2,
            grow_classes: true,
            ..Config::default()
        };
        change(&mut config);
        let server = Server::open(config).unwrap();
        let address = server.address().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        let thread = std::thread::spawn(move || server.run(|| asked.load(Ordering::SeqCst)));
        Self { folder: folder.to_owned(), whole: None, address, stop, thread: Some(thread) }
    }

    pub(crate) fn stop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        ask(self.address, "GET", path, &[], b"")
    }

    pub(crate) fn post(&self, path: &str, kind: &str, body: impl AsRef<[u8]>) -> Answer {
        ask(self.address, "POST", path, &[("content-type", kind)], body.as_ref())
    }

    pub(crate) fn json(&self, path: &str, body: &str) -> Answer {
        self.post(path, "application/json", body)
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        drop(self.whole.take());
    }
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn value(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {} {}", self.head, self.text()))
    }

    /// The same, if all went well.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert!((200..300).contains(&self.status), "{}\n{}", self.head, self.text());
        self
    }

    /// The code of the problem.
    pub(crate) fn code(&self) -> String {
        self.value()["code"].as_str().unwrap_or_default().to_owned()
    }
}

/// Sends one request on a connection of its own.
pub(crate) fn ask(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Answer {
    let mut head =
        format!("{method} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
    let host = address.to_string();
    let has_host = headers.iter().any(|(name, _)| *name == "host");
    let host = [("host", host.as_str())];
    for (name, value) in host.iter().filter(|_| !has_host).chain(headers) {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    // A server that has seen enough may hang up before all was sent.
    let _ = stream.write_all(format!("{head}\r\n").as_bytes());
    let _ = stream.write_all(body);
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    answer(&bytes)
}

/// Takes an answer apart.
pub(crate) fn answer(bytes: &[u8]) -> Answer {
    let split = bytes.windows(4).position(|four| four == b"\r\n\r\n");
    let (head, body) = match split {
        Some(at) => (String::from_utf8_lossy(&bytes[..at]).to_lowercase(), bytes[at + 4..].to_vec()),
        None => (String::from_utf8_lossy(bytes).into_owned(), Vec::new()),
    };
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
    let body = if head.contains("transfer-encoding: chunked") { unchunked(&body) } else { body };
    Answer { status, head, body }
}

fn unchunked(mut bytes: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(end) = bytes.windows(2).position(|two| two == b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&bytes[..end]).unwrap(), 16).unwrap();
        if size == 0 {
            break;
        }
        whole.extend(&bytes[end + 2..end + 2 + size]);
        bytes = &bytes[end + 2 + size + 2..];
    }
    whole
}
