//! The part of `cargo xtask torture` about slips of the hand and a machine that says no: outputs over inputs, planted
//! links, limits, crafted models, signals in every phase.
//!
//! Every case is the real program in a folder of its own. Whatever it says, afterwards the files that were there are
//! there, to the byte; it ended in time, by itself, with a code that it promises; and no other file was left.

use crate::say;
use crate::torture::{Dice, Line, context};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How often everything is done.
pub(crate) struct Often {
    pub(crate) tables: bool,
    pub(crate) links: usize,
    pub(crate) limits: usize,
    pub(crate) crafted: usize,
    pub(crate) signals: usize,
}

/// A signal is answered within a second; this is the program as tests build it, on a machine that may be busy.
const MOST_WAIT: Duration = Duration::from_secs(3);

/// What runs in every phase: reading, learning, scoring, drawing, proving, writing.
const COMMANDS: [&str; 14] = [
    "train d.svm --epochs 30 --patience 0 --model m.model",
    "train d.svm --algorithm pa1 --readout voted --epochs 6 --model m.model",
    "train d.svm --memory 100KiB --cache c.cache --epochs 5 --model m.model",
    "train d.svm --online --model m.model",
    "train d.svm --model m.model",
    "train d.svm --kernel poly --degree 2 --epochs 3 --model m.model",
    "tune d.svm --algorithms perceptron,pa1 --param C=0.1,1 --model m.model",
    "compare d.svm --algorithms perceptron,pa1",
    "predict d.svm --model m.model --to csv --output out.csv",
    "evaluate d.svm --model m.model",
    "convert d.svm out.csv",
    "report d.svm --model m.model -o out.html",
    "plot boundary d.svm -o out.svg",
    "certify d.svm --time 3 --certificate out.json",
];

/// What is done with a model that may say anything, of rows or of sentences.
const WITH_A_MODEL: [&str; 24] = [
    "inspect {m}",
    "inspect {m} --json",
    "inspect {m} --weights",
    "inspect {m} --export json out.json",
    "inspect {m} --export onnx out.onnx",
    "inspect {m} --export sql out.sql",
    "inspect {m} --export scorecard out.csv",
    "certify {m} --monotone",
    "certify few.svm --model {m}",
    "train few.svm --start-from {m} --holdout 0 --model out.model",
    "train few.svm --start-from {m} --online --model out.model",
    "predict few.svm --model {m}",
    "predict few.svm --model {m} --explain 2",
    "predict few.svm --model {m} --probabilities",
    "evaluate few.svm --model {m}",
    "report few.svm --model {m} -o out.html",
    "plot boundary few.svm --model {m} -o out.svg",
    "plot margins few.svm --model {m} -o out.svg",
    "plot weights --model {m} -o out.svg",
    "plot transitions --model {m} -o out.svg",
    "predict s.conll --model {m}",
    "evaluate s.conll --model {m}",
    "train s.conll --start-from {m} --model out.model",
    "mix {m} {m} -o out.model",
];

pub(crate) fn all(program: &Path, often: &Often) -> Result<Vec<Line>, String> {
    let room = Room::new(program)?;
    Ok(vec![
        room.table("outputs by inputs by links", "OUTPUTS", &["outputs::"], often.tables)?,
        room.table(
            "options by formats by commands",
            "OPTIONS",
            &["options::every", "reading_options::"],
            often.tables,
        )?,
        room.faces()?,
        room.links(often.links)?,
        room.limits(often.limits)?,
        room.crafted(often.crafted)?,
        room.signals(often.signals)?,
    ])
}

struct Room {
    folder: PathBuf,
    program: PathBuf,
    /// The files that are there before every case, by name.
    files: BTreeMap<String, Vec<u8>>,
}

impl Room {
    fn new(program: &Path) -> Result<Self, String> {
        let folder = std::env::temp_dir().join(format!("rosenblatt-slips-{}", std::process::id()));
        fs::create_dir_all(&folder).map_err(context("making a folder"))?;
        let mut room = Self { folder, program: program.to_owned(), files: BTreeMap::new() };
        let mut dice = Dice(11);
        let mut text = String::new();
        for _ in 0..4000 {
            let values: Vec<u64> = (0..5).map(|_| dice.below(1000)).collect();
            let class = (values[0] + values[1] / 2 > 700) != (dice.below(8) == 0);
            let _ = write!(text, "{}", u8::from(class));
            for (feature, value) in values.iter().enumerate() {
                let _ = write!(text, " {}:0.{value:03}", feature + 1);
            }
            text.push('\n');
        }
        fs::write(room.folder.join("d.svm"), text).map_err(context("writing data"))?;
        let made = room.run("train d.svm --algorithm perceptron --epochs 2 --quiet --model m.model")?;
        if !made.status.success() {
            return Err(String::from_utf8_lossy(&made.stderr).into_owned());
        }
        room.files = room.found()?;
        Ok(room)
    }

    fn command(&self, words: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.args(words.split_whitespace()).current_dir(&self.folder).env("TMPDIR", &self.folder);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command
    }

    fn run(&self, words: &str) -> Result<Output, String> {
        self.command(words).output().map_err(context("running the program"))
    }

    /// All files, hidden ones too; a link counts as what it says.
    fn found(&self) -> Result<BTreeMap<String, Vec<u8>>, String> {
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(&self.folder).map_err(context("looking around"))?.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            let bytes = if is_link {
                fs::read_link(entry.path()).map(|to| to.into_os_string().into_encoded_bytes())
            } else {
                fs::read(entry.path())
            };
            files.insert(name, bytes.unwrap_or_default());
        }
        Ok(files)
    }

    /// Puts everything back as it was.
    fn reset(&self) -> Result<(), String> {
        for name in self.found()?.into_keys() {
            let _ = fs::remove_file(self.folder.join(name));
        }
        for (name, bytes) in &self.files {
            fs::write(self.folder.join(name), bytes).map_err(context("putting a file back"))?;
        }
        Ok(())
    }

    /// What is not as it was, apart from files that were asked for.
    fn spoiled(&self, asked: &[&str]) -> Result<Option<String>, String> {
        let mut found = self.found()?;
        found.retain(|name, _| !asked.contains(&name.as_str()));
        let mut before = self.files.clone();
        before.retain(|name, _| !asked.contains(&name.as_str()));
        let changed = before.iter().find(|(name, bytes)| found.get(*name) != Some(bytes));
        let left = found.keys().find(|name| !before.contains_key(*name));
        Ok(changed
            .map(|(name, _)| format!("{name} was changed"))
            .or(left.map(|name| format!("{name} was left"))))
    }

    /// A table that tests of the program go through, with options that they ask the program for: every option that writes
    /// against every file that the same command reads, links and devices; every option of reading and learning, which must
    /// have an effect or be refused. A name that finds no test is a failure: what it stood for is not tried.
    fn table(&self, what: &str, name: &str, tests: &[&str], is_full: bool) -> Result<Line, String> {
        say(&format!("== {what}"));
        let counted_in = self.folder.join("table");
        let (how, counted) = (format!("ROSENBLATT_{name}"), format!("ROSENBLATT_{name}_TRIED"));
        let mode = if is_full { "full" } else { "short" };
        for filter in tests {
            if n_found("main", filter)? == 0 {
                return Err(format!("{what}: there is no test called `{filter}`"));
            }
        }
        let words = [&["--quiet", "--test", "main", "--"], tests].concat();
        let tried = crate::torture::cargo(
            &crate::everything("test", &words),
            &[(&how, mode), (&counted, &counted_in.display().to_string())],
        );
        let done = fs::read_to_string(&counted_in).ok().and_then(|text| text.parse().ok()).unwrap_or(0);
        let _ = fs::remove_file(counted_in);
        let remarks = tried.as_ref().err().cloned().unwrap_or_default();
        if tried.is_ok() && done == 0 {
            return Err(format!("{what}: nothing was tried"));
        }
        Ok(Line { what: what.to_owned(), done, lost: usize::from(tried.is_err()), remarks })
    }

    /// Every setting through every face of the Python package: it changes the model, or is refused by its name.
    fn faces(&self) -> Result<Line, String> {
        say("== settings by faces");
        let counted_in = self.folder.join("faces");
        let tried = crate::python::settings(&counted_in);
        let done: usize =
            fs::read_to_string(&counted_in).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0);
        let _ = fs::remove_file(counted_in);
        let is_there = *tried.as_ref().unwrap_or(&true);
        if is_there && tried.is_ok() && done == 0 {
            return Err("settings by faces: nothing was counted".to_owned());
        }
        let without = if is_there { String::new() } else { "no Python to try them with".to_owned() };
        let remarks = tried.as_ref().err().cloned().unwrap_or(without);
        Ok(Line { what: "settings by faces".to_owned(), done, lost: usize::from(tried.is_err()), remarks })
    }

    /// Links in the place of what the program writes beside its outputs.
    fn links(&self, often: usize) -> Result<Line, String> {
        say("== planted links");
        let mut dice = Dice(37);
        let (mut lost, mut refused) = (0, 0);
        for _ in 0..often {
            self.reset()?;
            fs::write(self.folder.join("victim"), "precious").map_err(context("writing"))?;
            let words = COMMANDS[dice.below(5) as usize];
            let names = [".m.model.lock", "m.model.checkpoint", "m.model.checkpoint.1", ".c.cache.lock"];
            let planted = names[dice.below(4) as usize];
            symlink("victim", self.folder.join(planted)).map_err(context("linking"))?;
            let done = self.run(words)?;
            refused += usize::from(!done.status.success());
            let victim = fs::read(self.folder.join("victim")).unwrap_or_default();
            let printed = String::from_utf8_lossy(&done.stderr);
            if victim != b"precious"
                || !matches!(done.status.code(), Some(0 | 1))
                || printed.contains("panicked")
            {
                say(&format!("{planted}, {words}: {}, {printed}", done.status));
                lost += 1;
            }
        }
        let remarks = format!("{refused} refused to go on");
        Ok(Line { what: "links planted in its way".to_owned(), done: often, lost, remarks })
    }

    /// A machine that gives no more memory, room, files or stack.
    fn limits(&self, often: usize) -> Result<Line, String> {
        say("== limits");
        let mut dice = Dice(41);
        let (mut lost, mut refused) = (0, 0);
        for _ in 0..often {
            self.reset()?;
            let words = COMMANDS[dice.below(COMMANDS.len() as u64) as usize];
            let limit = match dice.below(5) {
                0 => format!("ulimit -f {}", dice.below(8)),
                1 => format!("ulimit -n {}", 5 + dice.below(12)),
                2 => "ulimit -s 64".to_owned(),
                // Below this the program itself does not start, which is the system's to say.
                _ => format!("ulimit -v {}", 80_000 + dice.below(300_000)),
            };
            let line = format!("{limit}; exec {} {words}", self.program.display());
            let mut command = Command::new("sh");
            command.args(["-c", &line]).current_dir(&self.folder).env("TMPDIR", &self.folder);
            command.stdin(Stdio::null()).stdout(Stdio::null());
            let done = command.output().map_err(context("starting a shell"))?;
            let printed = String::from_utf8_lossy(&done.stderr);
            let asked = ["m.model", "c.cache", "out.csv", "out.html", "out.svg", "out.json"];
            let spoiled = self.spoiled(&asked)?;
            let model = fs::read(self.folder.join("m.model")).unwrap_or_default();
            let kept =
                done.status.success() || !words.contains("--model m.model") || model == self.files["m.model"];
            refused += usize::from(!done.status.success());
            let is_told = printed.contains("error: ") || done.status.code() != Some(1);
            let in_order = matches!(done.status.code(), Some(0 | 1 | 3)) && is_told;
            if !in_order || !kept || spoiled.is_some() || printed.contains("panicked") {
                say(&format!("{limit}; {words}: {} {spoiled:?}\n{printed}", done.status));
                lost += 1;
            }
        }
        let remarks = format!("{refused} ended with an error, the old model in its place");
        Ok(Line { what: "limits of memory, files, stack".to_owned(), done: often, lost, remarks })
    }

    /// Models that say anything, with right checksums, as the `hostile` test makes them.
    fn crafted(&self, often: usize) -> Result<Line, String> {
        say("== crafted models");
        let folder = self.folder.join("crafted");
        fs::create_dir_all(&folder).map_err(context("making a folder"))?;
        if n_found("hostile", "right_checksum")? == 0 {
            return Err("crafted models: there is no test called `right_checksum`".to_owned());
        }
        let made = crate::torture::cargo(
            &crate::everything("test", &["--quiet", "--test", "hostile", "--", "right_checksum"]),
            &[
                ("ROSENBLATT_CRAFTED", &often.to_string()),
                ("ROSENBLATT_CRAFTED_FOLDER", &folder.display().to_string()),
            ],
        );
        made?;
        let mut few = String::new();
        for row in 0..40 {
            let _ = writeln!(few, "{} 1:0.{row} 2:1 3:0.5", row % 2);
        }
        fs::write(self.folder.join("few.svm"), few).map_err(context("writing data"))?;
        let sentences = "the D\ncat N\n\nruns V\n\n".repeat(12);
        fs::write(self.folder.join("s.conll"), sentences).map_err(context("writing data"))?;
        let mut dice = Dice(43);
        let (mut lost, mut believed, mut largest) = (0, 0, 0);
        let mut paths: Vec<PathBuf> = fs::read_dir(&folder)
            .map_err(context("looking around"))?
            .flatten()
            .map(|entry| entry.path())
            .collect();
        paths.sort();
        let done = paths.len();
        if done == 0 {
            return Err("crafted models: none was made".to_owned());
        }
        for path in paths {
            let name = path.display();
            let words = WITH_A_MODEL[dice.below(WITH_A_MODEL.len() as u64) as usize];
            let words = words.replace("{m}", &name.to_string());
            let start = Instant::now();
            // A second and 64 MiB are for the program as people use it; `inspect` must keep near them here, too.
            let line = format!("ulimit -v 1000000; ulimit -t 6; exec {} {words}", self.program.display());
            let mut command = Command::new("sh");
            command.args(["-c", &line]).current_dir(&self.folder).stdout(Stdio::null()).stdin(Stdio::null());
            let end = command.output().map_err(context("starting a shell"))?;
            let printed = String::from_utf8_lossy(&end.stderr);
            believed += usize::from(end.status.success());
            let took = start.elapsed();
            largest = largest.max(took.as_millis());
            let no_room = printed.contains("no more memory") && words.starts_with("inspect");
            if !matches!(end.status.code(), Some(0 | 1)) || no_room || took > Duration::from_secs(10) {
                say(&format!("{words}: {} after {took:?}\n{printed}", end.status));
                lost += 1;
            }
        }
        let _ = fs::remove_dir_all(&folder);
        let remarks = format!("{believed} believed, the slowest took {largest} ms");
        Ok(Line { what: "crafted models, checksum right".to_owned(), done, lost, remarks })
    }

    /// Signals at random moments of every command.
    fn signals(&self, often: usize) -> Result<Line, String> {
        say("== signals in every phase");
        let mut dice = Dice(47);
        let (mut lost, mut slowest, mut done, mut met) = (0, Duration::ZERO, 0, 0);
        // How long each takes when it is left alone.
        let mut times = Vec::new();
        for words in COMMANDS {
            self.reset()?;
            let start = Instant::now();
            let _ = self.run(words)?;
            times.push(start.elapsed());
        }
        while done < often {
            self.reset()?;
            let which = done % COMMANDS.len();
            let words = COMMANDS[which];
            let (signal, code) = [("HUP", 129), ("INT", 130), ("TERM", 143)][dice.below(3) as usize];
            let mut child = self.command(words).spawn().map_err(context("starting the program"))?;
            wait_until_it_listens(child.id());
            sleep(Duration::from_micros(dice.below(times[which].as_micros() as u64 + 1)));
            let over = child.try_wait().map_err(context("looking at the program"))?.is_some();
            let start = Instant::now();
            if !over {
                let _ = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status();
            }
            while child.try_wait().map_err(context("looking at the program"))?.is_none() {
                if start.elapsed() > Duration::from_secs(20) {
                    let _ = child.kill();
                    break;
                }
                sleep(Duration::from_millis(2));
            }
            let took = start.elapsed();
            let end = child.wait_with_output().map_err(context("waiting for the program"))?;
            done += 1;
            met += usize::from(!over && !end.status.success());
            slowest = slowest.max(took);
            let printed = String::from_utf8_lossy(&end.stderr);
            let in_order = end.status.signal().is_none()
                && (end.status.code() == Some(code) || end.status.success() || end.status.code() == Some(3));
            let asked =
                ["m.model", "m.model.checkpoint", "c.cache", "out.csv", "out.html", "out.svg", "out.json"];
            let spoiled = self.spoiled(&asked)?;
            let model = fs::read(self.folder.join("m.model")).unwrap_or_default();
            let whole =
                words.starts_with("train") || words.starts_with("tune") || model == self.files["m.model"];
            if !in_order || took > MOST_WAIT || spoiled.is_some() || !whole || printed.contains("panicked") {
                say(&format!("{signal} to {words}: {} after {took:?}, {spoiled:?}\n{printed}", end.status));
                lost += 1;
            }
        }
        let remarks = format!("{met} met it at work, the slowest answer took {} ms", slowest.as_millis());
        Ok(Line { what: "signals in every phase".to_owned(), done, lost, remarks })
    }
}

/// How many tests of a test program a filter finds.
fn n_found(program: &str, filter: &str) -> Result<usize, String> {
    let words = crate::everything("test", &["--quiet", "--test", program, "--", "--list", filter]);
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let listed = Command::new(cargo).args(words).output().map_err(context("starting cargo"))?;
    if !listed.status.success() {
        return Err(String::from_utf8_lossy(&listed.stderr).into_owned());
    }
    Ok(String::from_utf8_lossy(&listed.stdout).lines().filter(|line| line.ends_with(": test")).count())
}

/// Waits until a process that was started has a handler for SIGTERM, the last that the program gets, or is over. Before
/// that nothing is at work, and a signal ends it as it ends any program.
fn wait_until_it_listens(process: u32) {
    const SIGTERM: u64 = 1 << 14;
    let path = format!("/proc/{process}/status");
    for _ in 0..5_000 {
        let Ok(status) = fs::read_to_string(&path) else { return };
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        if status.contains("State:\tZ") {
            return;
        }
        if caught.is_none_or(|mask| mask & SIGTERM != 0) {
            // The thread that answers starts right after.
            return sleep(Duration::from_millis(10));
        }
        sleep(Duration::from_millis(1));
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // A folder left in the temporary folder does no harm.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
