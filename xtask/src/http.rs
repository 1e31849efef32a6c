//! A client of a few lines, for chores that speak to `rosenblatt serve`: connections that are kept, and a server that
//! ends with its owner.

use crate::torture::context;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The program at work.
pub struct Served {
    /// Its process.
    pub child: Child,
    /// Where it listens.
    pub address: String,
}

impl Served {
    /// Starts it on a free port.
    pub fn start(program: &Path, folder: &Path, words: &[&str]) -> Result<Self, String> {
        let mut child = Command::new(program)
            .arg("serve")
            .arg(folder)
            .args(["--address", "127.0.0.1:0"])
            .args(words)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(context("starting the server"))?;
        let mut line = String::new();
        if let Some(stdout) = child.stdout.as_mut() {
            BufReader::new(stdout).read_line(&mut line).map_err(context("listening to the server"))?;
        }
        let address = line.split("http://").nth(1).and_then(|rest| rest.split(',').next());
        let address = address.ok_or_else(|| format!("the server did not start: {line}"))?.to_owned();
        Ok(Self { child, address })
    }

    /// Ends it as a power cut would.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Asks it to stop, and gives the time it took if it ended well.
    pub fn stop(&mut self) -> Option<Duration> {
        let began = Instant::now();
        let id = self.child.id().to_string();
        Command::new("kill").args(["-TERM", &id]).status().ok()?;
        while began.elapsed() < Duration::from_secs(60) {
            if let Ok(Some(status)) = self.child.try_wait() {
                return status.success().then(|| began.elapsed());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        None
    }

    /// Kibibytes of memory it has, and descriptors.
    pub fn size(&self) -> (u64, usize) {
        let id = self.child.id();
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let memory =
            memory.and_then(|text| text.trim().trim_end_matches(" kB").trim().parse().ok()).unwrap_or(0);
        let open = std::fs::read_dir(format!("/proc/{id}/fd")).map_or(0, Iterator::count);
        (memory, open)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A connection that is kept.
pub struct Client {
    address: String,
    stream: Option<BufReader<TcpStream>>,
}

impl Client {
    /// A client of this address.
    pub fn new(address: &str) -> Self {
        Self { address: address.to_owned(), stream: None }
    }

    /// Sends a request and reads the whole answer; nothing if the server went away meanwhile.
    pub fn ask(&mut self, method: &str, path: &str, headers: &str, body: &[u8]) -> Option<(u16, Vec<u8>)> {
        let answer = self.try_ask(method, path, headers, body);
        if answer.is_none() {
            self.stream = None;
        }
        answer
    }

    fn try_ask(&mut self, method: &str, path: &str, headers: &str, body: &[u8]) -> Option<(u16, Vec<u8>)> {
        if self.stream.is_none() {
            let stream = TcpStream::connect(&self.address).ok()?;
            stream.set_nodelay(true).ok()?;
            stream.set_read_timeout(Some(Duration::from_secs(60))).ok()?;
            self.stream = Some(BufReader::new(stream));
        }
        let stream = self.stream.as_mut()?;
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n{headers}\r\n"
        );
        stream.get_mut().write_all(&[head.as_bytes(), body].concat()).ok()?;
        let (mut status, mut length, mut closes, mut line) = (0, None, false, String::new());
        loop {
            line.clear();
            if stream.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if line == "\r\n" {
                break;
            }
            if status == 0 {
                status = line.split(' ').nth(1)?.parse().ok()?;
            }
            let (name, value) = line.split_once(':').unwrap_or((&line, ""));
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse::<usize>().ok();
            }
            closes |= name.eq_ignore_ascii_case("connection") && value.trim().eq_ignore_ascii_case("close");
        }
        let mut body = vec![0; length?];
        stream.read_exact(&mut body).ok()?;
        // A request that was refused before its body was read ends the connection.
        if closes {
            self.stream = None;
        }
        Some((status, body))
    }
}

/// A number of a JSON answer.
pub fn number(body: &[u8], name: &str) -> Option<u64> {
    serde_json::from_slice::<serde_json::Value>(body).ok()?[name].as_u64()
}
