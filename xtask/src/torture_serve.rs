//! `cargo xtask torture serve`: the server under load, killed, flooded and kept busy, at full length.
//!
//! - `--kills N` (1,000): at random moments under load from 16 clients, each row sent until it is acknowledged, while another
//!   keeps versions, goes back to them and replaces the model. To every five kills come two ends that are asked for, which must
//!   come in time. In the end every row has one place on top of one version, and every version that was kept, as the one that is served, is that of
//!   `train --online` on the rows of the version before it.
//! - `--mutations N` (10,000): files of a served folder flipped, cut, zeroed, emptied, removed and replaced by devices. Each model
//!   is then served with all that it had learned, or refused with a reason, and some version can be gone back to.
//! - hostile clients: thousands of idle and slow connections, bodies without end, and what the others notice of it.
//! - `--soak SECONDS` (1,200): predictions at 70 % of what the machine can do while the model is replaced every ten seconds.
//!
//! `--program PATH` takes a server that was built before, `--release` builds one with all optimisation.

use crate::http::{Client, Served, number};
use crate::say;
use crate::torture::{Dice, Line, cargo, context};
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

const CLIENTS: usize = 16;
const LEARN: &str = "/v1/models/pets/learn";
const VERSIONS: &str = "/v1/models/pets/versions";
/// Of `ENDS` ends, `KILLS` kill the server, and the others ask it to stop.
const ENDS: usize = 7;
const KILLS: usize = 5;
/// The seconds within which a server ends.
const DRAIN: u64 = 3;
const PREDICT: &str = "/v1/models/pets/predict";
const JSON: &str = "content-type: application/json\r\n";

/// A part of the torture.
type Part<'a> = dyn Fn() -> Result<Line, String> + 'a;

pub(crate) fn run(words: &[String]) -> Result<(), String> {
    let value = |name: &str, usual: u64| {
        let place = words.iter().position(|word| word == name);
        place.and_then(|place| words.get(place + 1)?.parse().ok()).unwrap_or(usual)
    };
    let named = words.iter().position(|word| word == "--program").and_then(|place| words.get(place + 1));
    let room = Room::new(match named {
        Some(program) => PathBuf::from(program),
        None => built(words.iter().any(|word| word == "--release"))?,
    })?;
    let (n_kills, seconds) = (value("--kills", 1000), value("--soak", 1200));
    let n_mutations = value("--mutations", 10_000);
    let parts: [(bool, &Part<'_>); 4] = [
        (n_kills > 0, &|| room.kills(n_kills as usize)),
        (n_mutations > 0, &|| room.mutations(n_mutations as usize)),
        (value("--hostile", 1) > 0, &|| room.hostile()),
        (seconds > 0, &|| room.soak(Duration::from_secs(seconds))),
    ];
    let mut lines = Vec::new();
    for (_, part) in parts.iter().filter(|(is_wished, _)| *is_wished) {
        let line = part()?;
        let Line { what, done, lost, remarks } = &line;
        say(&format!("{}. {what}: {done} done, {lost} lost; {remarks}", lines.len() + 1));
        lines.push(line);
    }
    let lost: usize = lines.iter().map(|line| line.lost).sum();
    if lost == 0 { Ok(()) } else { Err(format!("{lost} losses")) }
}

/// The program of these sources.
fn built(is_release: bool) -> Result<PathBuf, String> {
    let mut build = vec!["build", "--quiet", "--workspace", "--bin", "rosenblatt"];
    build.extend(is_release.then_some("--release"));
    cargo(&build, &[])?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    let target = std::env::current_dir().map_err(context("finding the program"))?.join(target);
    Ok(target.join(if is_release { "release" } else { "debug" }).join("rosenblatt"))
}

/// A folder that goes away, and the program.
struct Room {
    folder: PathBuf,
    program: PathBuf,
}

impl Drop for Room {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn row(number: usize) -> String {
    format!("{},{},{}", number % 7, number * 37 % 101, ["cat", "bird", "fish", "ant"][number * 11 % 13 % 4])
}

/// What is shared by the clients of the kills.
#[derive(Default)]
struct Ledger {
    next: usize,
    /// Rows that may or may not have been learned from.
    unknown: Vec<usize>,
    /// Rows by version and place, as they were acknowledged.
    places: Vec<(u64, u64, usize)>,
}

impl Room {
    fn new(program: PathBuf) -> Result<Self, String> {
        let folder = std::env::temp_dir().join(format!("rosenblatt-serve-{}", std::process::id()));
        let room = Self { folder, program };
        fs::create_dir_all(room.models()).map_err(context("making a folder"))?;
        let pets = "legs,weight,label\n4,3.5,cat\n2,0.1,bird\n4,5,cat\n2,0.2,bird\n";
        fs::write(room.folder.join("pets.csv"), pets).map_err(context("writing rows"))?;
        room.train("pets.csv --algorithm perceptron --online --model models/pets.model")?;
        Ok(room)
    }

    fn models(&self) -> PathBuf {
        self.folder.join("models")
    }

    fn train(&self, words: &str) -> Result<(), String> {
        let mut command = Command::new(&self.program);
        command.arg("train").args(words.split(' ')).arg("--quiet").current_dir(&self.folder);
        let status = command.stdout(std::process::Stdio::null()).status().map_err(context("training"))?;
        if status.success() { Ok(()) } else { Err(format!("train {words} failed")) }
    }

    fn kills(&self, n_kills: usize) -> Result<Line, String> {
        let ledger = Arc::new(Mutex::new(Ledger::default()));
        let mut dice = Dice(11);
        let drain = DRAIN.to_string();
        let words =
            ["--snapshot-rows", "500", "--grow-classes", "--max-versions", "1000000", "--drain", &drain];
        let files = [fs::read(self.models().join("pets.model")).map_err(context("reading"))?, self.other()?];
        let (mut late, mut n_stops, mut longest) = (0, 0, Duration::ZERO);
        for end in 0..n_kills * ENDS / KILLS {
            let mut server = Served::start(&self.program, &self.models(), &words)?;
            let is_over = Arc::new(AtomicBool::new(false));
            let mut clients: Vec<_> = (0..CLIENTS)
                .map(|_| {
                    let (ledger, is_over) = (Arc::clone(&ledger), Arc::clone(&is_over));
                    let client = Client::new(&server.address);
                    thread::spawn(move || teach(client, &ledger, &is_over))
                })
                .collect();
            let (changing, over) = (Client::new(&server.address), Arc::clone(&is_over));
            let (seed, files) = (dice.below(1 << 30), files.clone());
            clients.push(thread::spawn(move || change(changing, seed, &files, &over)));
            sleep(Duration::from_millis(dice.below(400)));
            if end % ENDS >= KILLS {
                let took = server.stop();
                n_stops += 1;
                longest = longest.max(took.unwrap_or_default());
                late += usize::from(took.is_none_or(|took| took > Duration::from_secs(DRAIN)));
            }
            server.kill();
            is_over.store(true, Ordering::SeqCst);
            for client in clients {
                client.join().map_err(|_| "a client failed")?;
            }
            if (end + 1) % 100 == 0 {
                say(&format!("   {} ends", end + 1));
            }
        }
        let server = Served::start(&self.program, &self.models(), &words)?;
        let mut client = Client::new(&server.address);
        let mut ledger = ledger.lock().map_err(|_| "a client failed")?;
        for number in std::mem::take(&mut ledger.unknown) {
            let (version, place) = send(&mut client, number).ok_or("a row was refused")?;
            ledger.places.push((version, place, number));
        }
        ledger.places.sort_unstable();
        let (mut astray, mut other_bits, mut n_kept) = (0, 0, 0);
        let (_, list) = client.ask("GET", VERSIONS, "", b"").ok_or("no versions were sent")?;
        let list: serde_json::Value = serde_json::from_slice(&list).map_err(|error| error.to_string())?;
        let versions = list["versions"].as_array().ok_or("no versions were sent")?;
        for entry in versions {
            let version = entry["version"].as_u64().unwrap_or(0);
            let rows = ledger.places.iter().filter(|(of, ..)| *of == version);
            astray += rows.zip(1..).filter(|((_, place, _), expected)| place != expected).count();
        }
        let mut files = |version: &serde_json::Value| {
            let path = format!("{VERSIONS}/{version}/file");
            client.ask("GET", &path, "", b"").map(|(_, bytes)| bytes).ok_or("no file was sent")
        };
        let mut learned = Vec::new();
        for entry in versions {
            let origin = entry["origin"].as_str().unwrap_or_default();
            if let Some(before) = origin.strip_prefix("learned on top of version ") {
                let before = before.parse::<u64>().map_err(|error| error.to_string())?;
                learned.push((before, files(&serde_json::json!(before))?, files(&entry["version"])?));
            }
        }
        let current = list["current"].as_u64().ok_or("no version is served")?;
        let base = files(&list["current"])?;
        let (_, now) = client.ask("GET", "/v1/models/pets/file", "", b"").ok_or("no file was sent")?;
        learned.push((current, base, now));
        for (version, base, learned) in learned {
            let rows: Vec<String> = ledger
                .places
                .iter()
                .filter(|(of, ..)| *of == version)
                .map(|(.., number)| row(*number))
                .collect();
            n_kept += 1;
            if rows.is_empty() {
                other_bits += usize::from(base != learned);
                continue;
            }
            fs::write(self.folder.join("base.model"), base).map_err(context("writing a model"))?;
            fs::write(self.folder.join("all.csv"), format!("legs,weight,label\n{}\n", rows.join("\n")))
                .map_err(context("writing rows"))?;
            self.train("all.csv --online --start-from base.model --grow-classes --model offline.model")?;
            let offline = fs::read(self.folder.join("offline.model")).map_err(context("reading"))?;
            other_bits += usize::from(learned != offline);
        }
        let (n_rows, n_versions) = (ledger.places.len(), versions.len());
        Ok(Line {
            what: "kill -9 and SIGTERM under load from 16 clients and changes of versions".to_owned(),
            done: n_kills * ENDS / KILLS,
            lost: astray + other_bits + late,
            remarks: format!(
                "{n_rows} rows acknowledged on top of {n_versions} versions, {astray} of them astray; {n_kept} kept or served, {other_bits} of them of other bits than offline; {n_stops} asked to stop, {late} late, the longest {longest:?}"
            ),
        })
    }

    /// Teaches, keeps and goes back; gives the folder of a server that was killed, and what it served.
    fn lived(&self) -> Result<(PathBuf, Vec<u8>), String> {
        let folder = self.folder.join("lived");
        fs::create_dir_all(&folder).map_err(context("making a folder"))?;
        fs::copy(self.models().join("pets.model"), folder.join("pets.model")).map_err(context("copying"))?;
        let mut server = Served::start(&self.program, &folder, &["--snapshot-rows", "6", "--grow-classes"])?;
        let mut client = Client::new(&server.address);
        let made = |client: &mut Client, body: &[u8]| client.ask("POST", VERSIONS, JSON, body).map(drop);
        for number in 0..26 {
            match number {
                5 | 9 => made(&mut client, b"").ok_or("no version was made")?,
                14 => made(&mut client, b"{\"of\": 2}").ok_or("no version was made")?,
                _ => {}
            }
            send(&mut client, number).ok_or("a row was refused")?;
        }
        let (_, served) = client.ask("GET", "/v1/models/pets/file", "", b"").ok_or("no file was sent")?;
        server.kill();
        Ok((folder, served))
    }

    fn mutations(&self, n_mutations: usize) -> Result<Line, String> {
        let (lived, whole) = self.lived()?;
        let kept = fs::read_dir(lived.join("pets.serve")).map_err(context("looking around"))?;
        let mut files: Vec<String> =
            kept.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
        files.sort();
        let folder = self.folder.join("mutated");
        let mut dice = Dice(23);
        let (mut done, mut n_whole, mut n_refused, mut bad) = (0, 0, 0, Vec::new());
        while done < n_mutations {
            let _ = fs::remove_dir_all(&folder);
            let mut all = Vec::new();
            for model in 0..50.min(n_mutations - done) {
                let name = format!("m{model}");
                let state = folder.join(format!("{name}.serve"));
                fs::create_dir_all(&state).map_err(context("making a folder"))?;
                let file = folder.join(format!("{name}.model"));
                fs::copy(lived.join("pets.model"), &file).map_err(context("copying"))?;
                for file in &files {
                    fs::copy(lived.join("pets.serve").join(file), state.join(file))
                        .map_err(context("copying"))?;
                }
                let place = dice.below(files.len() as u64 + 1) as usize;
                let (of, path) =
                    files.get(place).map_or(("NAME.model", file), |of| (of.as_str(), state.join(of)));
                let what =
                    mutate(&path, of == "NAME.model", &mut dice).map_err(context("changing a file"))?;
                all.push((name, format!("{of} {what}")));
            }
            done += all.len();
            let mut server = Served::start(&self.program, &folder, &["--grow-classes"])?;
            let mut client = Client::new(&server.address);
            let (_, ready) = client.ask("GET", "/readyz", "", b"").ok_or("the server does not answer")?;
            let ready: serde_json::Value =
                serde_json::from_slice(&ready).map_err(|error| error.to_string())?;
            for (name, what) in all {
                let predict = format!("/v1/models/{name}/predict");
                let (status, answer) =
                    client.ask("POST", &predict, JSON, b"[[4, 4]]").ok_or("the server does not answer")?;
                let path = format!("/v1/models/{name}/file");
                let (_, found) = client.ask("GET", &path, "", b"").ok_or("the server does not answer")?;
                let is_told = ready["not-served"][&name].is_string();
                if status == 200 && !is_told && found == whole {
                    n_whole += 1;
                } else if status == 503 && is_told && goes_back(&mut client, &name) {
                    n_refused += 1;
                } else {
                    bad.push(format!("{what}: {status} {}", String::from_utf8_lossy(&answer)));
                }
            }
            server.kill();
        }
        bad.truncate(5);
        Ok(Line {
            what: "files of a served folder changed".to_owned(),
            done,
            lost: done - n_whole - n_refused,
            remarks: format!(
                "{n_whole} served with all they had learned, {n_refused} refused and gone back from; {}",
                bad.join("; ")
            ),
        })
    }

    fn hostile(&self) -> Result<Line, String> {
        let words = ["--timeout", "5", "--max-connections", "12000"];
        let mut server = Served::start(&self.program, &self.models(), &words)?;
        let mut client = Client::new(&server.address);
        let mut lost = 0;
        let mut remarks = String::new();
        let quiet = p99(&mut client, 2000).ok_or("the server does not answer")?;
        let (memory, _) = server.size();
        let idle: Vec<TcpStream> =
            (0..5000).filter_map(|_| TcpStream::connect(&server.address).ok()).collect();
        let mut slow: Vec<TcpStream> =
            (0..1000).filter_map(|_| TcpStream::connect(&server.address).ok()).collect();
        for stream in &mut slow {
            let _ = stream.write_all(
                b"POST /v1/models/pets/predict HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99\r\n\r\n[",
            );
        }
        // The connection that was kept has been idle for longer than the server waits.
        let mut client = Client::new(&server.address);
        let busy = p99(&mut client, 2000).ok_or("the server does not answer among idle connections")?;
        let (with_idle, open) = server.size();
        let _ = write!(
            remarks,
            "{} idle and {} slow: p99 {quiet:?} before, {busy:?} with; memory {memory} to {with_idle} KiB, {open} descriptors",
            idle.len(),
            slow.len()
        );
        lost += usize::from(idle.len() < 5000 || slow.len() < 1000);
        // Who is slow is gone soon after the server's timeout, who is silent after its idle time of 75 s.
        for (wait, most) in [(12, idle.len() + 100), (78, 100)] {
            sleep(Duration::from_secs(wait));
            let (_, left) = server.size();
            let _ = write!(remarks, ", {left} left {wait} s later");
            lost += usize::from(left > most);
        }
        drop((idle, slow));
        // A body of ten gigabytes, in chunks.
        let mut stream = TcpStream::connect(&server.address).map_err(context("connecting"))?;
        let head =
            format!("POST {PREDICT} HTTP/1.1\r\nhost: localhost\r\n{JSON}transfer-encoding: chunked\r\n\r\n");
        stream.write_all(head.as_bytes()).map_err(context("sending"))?;
        let chunk = [b"100000\r\n".as_slice(), &vec![b' '; 1 << 20], b"\r\n"].concat();
        let n_taken = (0..10_240).take_while(|_| stream.write_all(&chunk).is_ok()).count();
        let (with_body, _) = server.size();
        let _ = write!(remarks, "; of 10 GiB {n_taken} MiB were taken, memory {with_body} KiB");
        lost += usize::from(n_taken > 200);
        // Features and classes without end.
        let features: Vec<String> = (0..1_000_000).map(|feature| format!("\"f{feature}\":1")).collect();
        let classes: Vec<String> = (0..200_000).map(|class| format!("1,1,c{class}")).collect();
        let bodies = [
            (PREDICT, JSON, format!("{{{}}}", features.join(","))),
            (LEARN, "content-type: text/csv\r\n", format!("legs,weight,label\n{}\n", classes.join("\n"))),
            (PREDICT, JSON, "[".repeat(1 << 20)),
        ];
        for (path, kind, body) in bodies {
            let answer = client.ask("POST", path, kind, body.as_bytes());
            let _ = write!(
                remarks,
                "; {} MiB: {}",
                body.len() >> 20,
                answer.as_ref().map_or(0, |(status, _)| *status)
            );
            lost += usize::from(answer.is_some_and(|(status, _)| status >= 500));
        }
        let (after, _) = server.size();
        let _ = write!(remarks, "; memory in the end {after} KiB");
        lost += usize::from(p99(&mut client, 100).is_none());
        server.kill();
        Ok(Line { what: "hostile clients".to_owned(), done: 6005, lost, remarks })
    }

    fn soak(&self, time: Duration) -> Result<Line, String> {
        let server = Served::start(&self.program, &self.models(), &[])?;
        let body = b"[[4, 4]]";
        // What the machine can do, client and server together.
        let count = |seconds: f64, pause: Duration, is_over: &AtomicBool, errors: &AtomicUsize| {
            let total = AtomicU64::new(0);
            thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        let mut client = Client::new(&server.address);
                        let began = Instant::now();
                        while began.elapsed().as_secs_f64() < seconds && !is_over.load(Ordering::Relaxed) {
                            match client.ask("POST", PREDICT, JSON, body) {
                                Some((200, _)) => total.fetch_add(1, Ordering::Relaxed),
                                _ => errors.fetch_add(1, Ordering::Relaxed) as u64,
                            };
                            if !pause.is_zero() {
                                sleep(pause);
                            }
                        }
                    });
                }
            });
            total.load(Ordering::Relaxed)
        };
        let errors = AtomicUsize::new(0);
        let never = AtomicBool::new(false);
        let most = count(5.0, Duration::ZERO, &never, &errors) as f64 / 5.0;
        // So long a client waits that two of them ask for 70 % of that.
        let pause = Duration::from_secs_f64((2.0 / (0.7 * most) - 2.0 / most).max(0.0));
        let is_over = AtomicBool::new(false);
        let sizes = Mutex::new(Vec::new());
        let files = [fs::read(self.models().join("pets.model")).map_err(context("reading"))?, self.other()?];
        let total = thread::scope(|scope| {
            let asking = scope.spawn(|| count(time.as_secs_f64(), pause, &is_over, &errors));
            let began = Instant::now();
            let mut turn = 0;
            while began.elapsed() < time {
                let temporary = self.models().join("pets.new");
                let replaced = fs::write(&temporary, &files[turn % 2])
                    .and_then(|()| fs::rename(&temporary, self.models().join("pets.model")));
                if replaced.is_err() {
                    errors.fetch_add(1, Ordering::Relaxed);
                }
                turn += 1;
                for _ in 0..10 {
                    sleep(Duration::from_secs(1).min(time.saturating_sub(began.elapsed())));
                    if let Ok(mut sizes) = sizes.lock() {
                        sizes.push(server.size());
                    }
                }
            }
            asking.join().unwrap_or(0)
        });
        let sizes = sizes.into_inner().map_err(|_| "sizes were not taken")?;
        let quarter = |from: usize| -> f64 {
            let part = &sizes[sizes.len() * from / 4..(sizes.len() * (from + 1) / 4).max(1)];
            part.iter().map(|(memory, _)| *memory as f64).sum::<f64>() / part.len().max(1) as f64
        };
        let (second, last) = (quarter(1), quarter(3));
        let (least, largest) = (sizes.iter().map(|size| size.1).min(), sizes.iter().map(|size| size.1).max());
        let n_errors = errors.load(Ordering::Relaxed);
        let grows = last > 1.05 * second;
        Ok(Line {
            what: format!("soak of {} s at 70 % of {most:.0} requests a second", time.as_secs()),
            done: total as usize,
            lost: n_errors + usize::from(grows),
            remarks: format!(
                "{n_errors} errors; memory {second:.0} KiB in the second quarter, {last:.0} in the last; descriptors {} to {}",
                least.unwrap_or(0),
                largest.unwrap_or(0)
            ),
        })
    }

    /// Another model of the same columns.
    fn other(&self) -> Result<Vec<u8>, String> {
        self.train("pets.csv --algorithm pa1 --online --model other.model")?;
        fs::read(self.folder.join("other.model")).map_err(context("reading"))
    }
}

/// Changes one file, and says how.
fn mutate(path: &Path, is_model: bool, dice: &mut Dice) -> std::io::Result<&'static str> {
    let mut bytes = fs::read(path)?;
    let at = dice.below(bytes.len() as u64) as usize;
    let what = match dice.below(10) {
        0 | 1 => {
            bytes.truncate(at);
            "cut"
        }
        2 => {
            bytes[at..].fill(0);
            "zeroed"
        }
        // To remove the file in the folder is how a model is removed.
        3 if !is_model => {
            fs::remove_file(path)?;
            return Ok("removed");
        }
        4 if cfg!(unix) && !is_model => {
            fs::remove_file(path)?;
            #[cfg(unix)]
            std::os::unix::fs::symlink("/dev/zero", path)?;
            return Ok("linked to a device");
        }
        5 => {
            bytes.clear();
            "emptied"
        }
        _ => {
            bytes[at] ^= 1 << dice.below(8);
            "flipped"
        }
    };
    fs::write(path, bytes)?;
    Ok(what)
}

/// Whether some version of a model can be gone back to.
fn goes_back(client: &mut Client, name: &str) -> bool {
    let path = format!("/v1/models/{name}/versions");
    let list = client
        .ask("GET", &path, "", b"")
        .and_then(|(_, list)| serde_json::from_slice::<serde_json::Value>(&list).ok());
    let numbers = list.and_then(|list| {
        Some(list["versions"].as_array()?.iter().map(|entry| entry["version"].clone()).collect::<Vec<_>>())
    });
    let is_back = numbers.unwrap_or_default().iter().any(|number| {
        let body = format!("{{\"of\": {number}}}");
        client.ask("POST", &path, JSON, body.as_bytes()).is_some_and(|(status, _)| status == 201)
    });
    let predict = format!("/v1/models/{name}/predict");
    is_back && client.ask("POST", &predict, JSON, b"[[4, 4]]").is_some_and(|(status, _)| status == 200)
}

/// Keeps versions, goes back and replaces the model, until the server goes away.
fn change(mut client: Client, seed: u64, files: &[Vec<u8>; 2], is_over: &AtomicBool) {
    let mut dice = Dice(seed);
    let mut newest = 1;
    while !is_over.load(Ordering::SeqCst) {
        sleep(Duration::from_millis(dice.below(120)));
        let answer = match dice.below(5) {
            0 => client.ask("PUT", "/v1/models/pets", "", &files[dice.below(2) as usize]),
            1 => {
                let body = format!("{{\"of\": {}}}", 1 + dice.below(newest));
                client.ask("POST", VERSIONS, JSON, body.as_bytes())
            }
            _ => client.ask("POST", VERSIONS, JSON, b""),
        };
        let Some((_, answer)) = answer else { return };
        newest = number(&answer, "version").unwrap_or(newest);
    }
}

/// Sends one row until it is acknowledged, and gives the version that learned it and its place there.
fn send(client: &mut Client, number: usize) -> Option<(u64, u64)> {
    let headers = format!("content-type: text/csv\r\nidempotency-key: row-{number}\r\n");
    let body = format!("legs,weight,label\n{}\n", row(number));
    let (status, answer) = client.ask("POST", LEARN, &headers, body.as_bytes())?;
    if status == 200 { self::number(&answer, "version").zip(self::number(&answer, "learned")) } else { None }
}

/// A client of the kills: rows of which nothing is known first, then new ones.
fn teach(mut client: Client, ledger: &Mutex<Ledger>, is_over: &AtomicBool) {
    while !is_over.load(Ordering::SeqCst) {
        let Ok(number) = ledger.lock().map(|mut ledger| {
            ledger.unknown.pop().unwrap_or_else(|| {
                ledger.next += 1;
                ledger.next - 1
            })
        }) else {
            return;
        };
        let sent = send(&mut client, number);
        let Ok(mut ledger) = ledger.lock() else { return };
        let Some((version, place)) = sent else {
            ledger.unknown.push(number);
            return;
        };
        ledger.places.push((version, place, number));
    }
}

/// The time within which 99 of 100 predictions are answered.
fn p99(client: &mut Client, n_requests: usize) -> Option<Duration> {
    let mut times = Vec::new();
    for _ in 0..n_requests {
        let began = Instant::now();
        let (status, _) = client.ask("POST", PREDICT, JSON, b"[[4, 4]]")?;
        if status != 200 {
            return None;
        }
        times.push(began.elapsed());
    }
    times.sort_unstable();
    times.get(n_requests * 99 / 100).copied()
}
