//! `cargo xtask torture`: what must never lose a model, done to the real program at full length.
//!
//! Kills at random moments, two trainers at once, disks that fill up, files that were cut, flipped or made
//! up; slips of the hand, limits and signals (`slips.rs`). Every part counts what it did and what it found;
//! anything found is a failure. `cargo xtask test` runs the short form. Nothing here looks into a model: it is
//! whole if its bytes are those of an undisturbed run.

use crate::slips::{self, Often};
use crate::{everything, say};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How much of everything is done.
struct Length {
    kills: usize,
    races: usize,
    disks: usize,
    slips: Often,
    full: bool,
}

const FULL: Length = Length {
    kills: 500,
    races: 60,
    disks: 40,
    slips: Often { tables: true, links: 100, limits: 300, crafted: 10_000, signals: 420 },
    full: true,
};
const SHORT: Length = Length {
    kills: 24,
    races: 4,
    disks: 6,
    slips: Often { tables: false, links: 6, limits: 14, crafted: 40, signals: 14 },
    full: false,
};

/// One line of the table: what was done, and how often it went wrong.
pub(crate) struct Line {
    pub(crate) what: String,
    pub(crate) done: usize,
    pub(crate) lost: usize,
    pub(crate) remarks: String,
}

pub(crate) fn run(words: &[String]) -> Result<(), String> {
    if words.first().is_some_and(|word| word == "serve") {
        return crate::torture_serve::run(words);
    }
    let length = if words.iter().any(|word| word == "--short") { &SHORT } else { &FULL };
    // In the way the tests are built, program included, so that nothing is compiled twice.
    cargo(&everything("test", &["--quiet", "--no-run", "--test", "main", "--test", "hostile"]), &[])?;
    let room = Room::new()?;
    let mut lines = vec![room.kills(length)?, room.saves(length)?, room.races(length)?];
    lines.extend(room.full_disks(length)?);
    lines.extend(slips::all(&room.program, &length.slips)?);
    drop(room);
    // Cut, flipped and made-up files are tried within one process, where time and memory can be measured.
    say("== files that were cut, changed or made up");
    let mode = if length.full { "full" } else { "short" };
    cargo(
        &everything("test", &["--quiet", "--test", "hostile", "--", "--nocapture"]),
        &[("ROSENBLATT_TORTURE", mode)],
    )?;
    let mut table = format!("{:<52} {:>6} {:>6}  remarks\n", "torture", "done", "lost");
    for Line { what, done, lost, remarks } in &lines {
        let _ = writeln!(table, "{what:<52} {done:>6} {lost:>6}  {remarks}");
    }
    say(&table);
    let lost: usize = lines.iter().map(|line| line.lost).sum();
    if lost == 0 { Ok(()) } else { Err(format!("{lost} losses")) }
}

pub(crate) fn cargo(words: &[&str], environment: &[(&str, &str)]) -> Result<(), String> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(program).args(words).envs(environment.iter().copied()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(format!("cargo {} failed", words.join(" "))),
        Err(error) => Err(format!("cargo could not be started: {error}")),
    }
}

/// A small generator of its own: moments to kill at need no more.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound.max(1)
    }
}

/// A folder that goes away, the program, and models of undisturbed runs.
struct Room {
    folder: PathBuf,
    program: PathBuf,
    old: Vec<u8>,
    new: Vec<u8>,
    /// How long the run that makes the new model takes.
    time: Duration,
}

const DATA: &str = "data.svm";
const MODEL: &str = "m.model";
/// Non-separable data, a read-out that remembers much, a validation set: much state to carry over.
const NEW: &str = "--seed 2 --epochs 12 --patience 10 --readout voted --quiet";
const OLD: &str = "--seed 1 --epochs 2 --patience 0 --quiet";

pub(crate) fn context(what: &str) -> impl Fn(std::io::Error) -> String + '_ {
    move |error| format!("{what}: {error}")
}

impl Room {
    fn new() -> Result<Self, String> {
        let folder = std::env::temp_dir().join(format!("rosenblatt-torture-{}", std::process::id()));
        fs::create_dir_all(&folder).map_err(context("making a folder"))?;
        let program = std::env::current_dir().map_err(context("finding the program"))?;
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
        let program = program.join(target).join("debug/rosenblatt");
        let mut room = Self { folder, program, old: Vec::new(), new: Vec::new(), time: Duration::ZERO };
        let mut dice = Dice(5);
        let mut text = String::new();
        for _ in 0..1500 {
            let values: Vec<u64> = (0..6).map(|_| dice.below(1000)).collect();
            let class = (values[0] + values[1] / 2 > 700) != (dice.below(8) == 0);
            let _ = write!(text, "{}", u8::from(class));
            for (feature, value) in values.iter().enumerate() {
                let _ = write!(text, " {}:0.{value:03}", feature + 1);
            }
            text.push('\n');
        }
        fs::write(room.path(DATA), text).map_err(context("writing data"))?;
        room.old = room.undisturbed(OLD)?;
        let start = Instant::now();
        room.new = room.undisturbed(&format!("{NEW} --checkpoint-every 500rows"))?;
        room.time = start.elapsed();
        Ok(room)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn command(&self, words: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.args(words.split_whitespace()).current_dir(&self.folder);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command
    }

    fn start(&self, words: &str) -> Result<Child, String> {
        self.command(words).spawn().map_err(context("starting the program"))
    }

    fn finish(&self, words: &str) -> Result<Output, String> {
        self.command(words).output().map_err(context("running the program"))
    }

    fn undisturbed(&self, options: &str) -> Result<Vec<u8>, String> {
        let done = self.finish(&format!("train {DATA} {options} --model {MODEL}"))?;
        if !done.status.success() {
            return Err(String::from_utf8_lossy(&done.stderr).into_owned());
        }
        fs::read(self.path(MODEL)).map_err(context("reading the model"))
    }

    /// Begins again from the old model and nothing else.
    fn reset(&self, model: &Path) -> Result<(), String> {
        let folder = model.parent().unwrap_or(&self.folder);
        for entry in fs::read_dir(folder).map_err(context("looking around"))?.flatten() {
            if entry.file_name() != DATA && entry.path().is_file() {
                let _ = fs::remove_file(entry.path());
            }
        }
        fs::write(model, &self.old).map_err(context("putting the old model back"))
    }

    fn is_whole(&self, model: &Path) -> bool {
        fs::read(model).is_ok_and(|bytes| bytes == self.old || bytes == self.new)
    }

    /// Whether there is a file whose name ends like this.
    fn has(&self, suffix: &str) -> bool {
        let mut entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        entries.any(|entry| entry.file_name().to_string_lossy().ends_with(suffix))
    }

    /// Files that the commands did not ask for.
    fn litter(&self) -> usize {
        let known = BTreeSet::from([DATA, MODEL].map(std::ffi::OsString::from));
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        entries.filter(|entry| !known.contains(&entry.file_name()) && entry.path().is_file()).count()
    }

    /// Kills training at random moments until it is through, each time resuming.
    fn kills(&self, length: &Length) -> Result<Line, String> {
        say("== kills at random moments of training and saving");
        let model = self.path(MODEL);
        let words = format!("train {DATA} {NEW} --checkpoint-every 500rows --resume --model {MODEL}");
        let mut dice = Dice(17);
        let (mut kills, mut lost, mut finished, mut with_checkpoint) = (0, 0, 0, 0);
        self.reset(&model)?;
        while kills < length.kills {
            let mut child = self.start(&words)?;
            // Up to somewhat beyond the end, so that the save and what follows it are met too.
            let most = self.time.as_micros() as u64 * if dice.below(3) == 0 { 13 } else { 4 } / 10;
            sleep(Duration::from_micros(dice.below(most)));
            let over = child.try_wait().map_err(context("looking at the program"))?.is_some();
            let _ = child.kill();
            let status = child.wait().map_err(context("waiting for the program"))?;
            kills += usize::from(!over);
            if !over && kills.is_multiple_of(50) {
                say(&format!("{kills} kills, {lost} lost"));
            }
            if over && !status.success() {
                say(&format!("a run that was not killed failed: {status}"));
                lost += 1;
            }
            if !self.is_whole(&model) {
                say("the model is neither the old one nor the new one");
                lost += 1;
                self.reset(&model)?;
            }
            let checkpoint = self.path(&format!("{MODEL}.checkpoint"));
            with_checkpoint += usize::from(!over && checkpoint.exists());
            let is_done = fs::read(&model).is_ok_and(|bytes| bytes == self.new);
            if is_done || over {
                lost += usize::from(!is_done);
                // What a kill after the save left must be in no one's way.
                let last = self.finish(&words)?;
                let good = last.status.success() && fs::read(&model).is_ok_and(|bytes| bytes == self.new);
                let litter = self.litter();
                if !good || litter > 0 {
                    let printed = String::from_utf8_lossy(&last.stderr).into_owned();
                    say(&format!("after a kill at the end: {litter} files left, {printed}"));
                    lost += 1;
                }
                finished += 1;
                self.reset(&model)?;
            }
        }
        // The run in progress must still come to its end.
        let last = self.finish(&words)?;
        lost += usize::from(!last.status.success() || fs::read(&model).ok().as_ref() != Some(&self.new));
        let remarks = format!(
            "{} runs resumed to the same bits, {with_checkpoint} kills left a checkpoint",
            finished + 1
        );
        Ok(Line { what: "kill -9 in training, resumed".to_owned(), done: kills, lost, remarks })
    }

    /// Kills just as a save begins: the moment its temporary file is there.
    fn saves(&self, length: &Length) -> Result<Line, String> {
        say("== kills as a save begins");
        let model = self.path(MODEL);
        let words = format!("train {DATA} {OLD} --model {MODEL}");
        let mut dice = Dice(23);
        let (mut done, mut lost, mut amid) = (0, 0, 0);
        // The old and the new change places here: this run makes the old one.
        while done < length.kills / 4 {
            self.reset(&model)?;
            fs::write(&model, &self.new).map_err(context("putting a model there"))?;
            let mut child = self.start(&words)?;
            let start = Instant::now();
            // The lock is taken first, so whatever is temporary beside it is the save.
            while !(self.has(".lock") && self.has(".tmp"))
                && child.try_wait().map_err(context("looking at the program"))?.is_none()
                && start.elapsed() < Duration::from_secs(20)
            {}
            for _ in 0..dice.below(2000) {
                std::hint::spin_loop();
            }
            let _ = child.kill();
            let _ = child.wait();
            amid += usize::from(self.has(".tmp"));
            done += 1;
            if !self.is_whole(&model) {
                say("the model is neither the old one nor the new one");
                lost += 1;
            }
            let after = self.finish(&words)?;
            let right = fs::read(&model).is_ok_and(|bytes| bytes == self.old);
            if !after.status.success() || !right || self.litter() > 0 {
                say(&format!("the next run: {}", String::from_utf8_lossy(&after.stderr)));
                lost += 1;
            }
        }
        let remarks = format!("{amid} between the first byte and the rename; the next run cleared up");
        Ok(Line { what: "kill -9 as a save begins".to_owned(), done, lost, remarks })
    }

    /// Two trainers of one model at the same time.
    fn races(&self, length: &Length) -> Result<Line, String> {
        say("== two trainers on one model");
        let model = self.path(MODEL);
        let (mut lost, mut refused, mut looks) = (0, 0, 0);
        for _ in 0..length.races {
            self.reset(&model)?;
            let mut rivals =
                [NEW, OLD].map(|options| self.start(&format!("train {DATA} {options} --model {MODEL}")));
            loop {
                looks += 1;
                if !self.is_whole(&model) {
                    say("a model in the making was seen");
                    lost += 1;
                }
                let mut running = false;
                for rival in rivals.iter_mut().flatten() {
                    running |= rival.try_wait().map_err(context("looking at the program"))?.is_none();
                }
                if !running {
                    break;
                }
                sleep(Duration::from_micros(300));
            }
            let mut done = 0;
            for rival in rivals {
                let rival = rival?.wait_with_output().map_err(context("waiting for the program"))?;
                let printed = String::from_utf8_lossy(&rival.stderr).into_owned();
                if rival.status.success() {
                    done += 1;
                } else if printed.contains("another training, process") {
                    refused += 1;
                } else {
                    say(&printed);
                    lost += 1;
                }
            }
            lost += usize::from(done == 0) + usize::from(self.litter() > 0);
        }
        let remarks = format!("{refused} were refused because of the other; looked at {looks} times");
        Ok(Line { what: "two trainers at once".to_owned(), done: length.races, lost, remarks })
    }

    /// Disks that are full after this many bytes: a limit on file sizes, and a real one where that is allowed.
    fn full_disks(&self, length: &Length) -> Result<Vec<Line>, String> {
        say("== full disks");
        let model = self.path(MODEL);
        let (mut lost, mut failed) = (0, 0);
        for limit in 0..length.disks {
            self.reset(&model)?;
            let train = format!("{} train {DATA} {NEW} --model {MODEL}", self.program.display());
            // In blocks of 512 or 1024 bytes, as the shell has it.
            let line = format!("trap '' XFSZ; ulimit -f {}; exec {train}", limit * self.new.len() / 20_000);
            let done = Command::new("sh")
                .args(["-c", &line])
                .current_dir(&self.folder)
                .output()
                .map_err(context("starting a shell"))?;
            lost += usize::from(!self.is_whole(&model)) + usize::from(self.litter() > 0);
            let right = fs::read(&model).is_ok_and(|bytes| bytes == self.new) == done.status.success();
            lost += usize::from(!right);
            failed += usize::from(!done.status.success());
        }
        let remarks = format!("{failed} saves failed with an error");
        let what = "saves under a limit on file sizes".to_owned();
        let mut lines = vec![Line { what, done: length.disks, lost, remarks }];
        lines.push(self.tmpfs(length)?);
        Ok(lines)
    }

    fn tmpfs(&self, length: &Length) -> Result<Line, String> {
        let what = "saves on a full tmpfs of 1 MiB".to_owned();
        let small = self.path("small");
        fs::create_dir_all(&small).map_err(context("making a folder"))?;
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"])
            .arg(&small)
            .stderr(Stdio::null())
            .status();
        if !mounted.is_ok_and(|status| status.success()) {
            let remarks = "SKIPPED: mounting a tmpfs is not allowed here".to_owned();
            return Ok(Line { what, done: 0, lost: 0, remarks });
        }
        let (mut lost, mut failed) = (0, 0);
        for turn in 0..length.disks {
            let model = small.join(MODEL);
            self.reset(&model)?;
            // Everything but from nothing to a little more than one more model is taken.
            let left = self.new.len() * turn * 3 / (2 * length.disks);
            let taken = (1 << 20_usize) - self.old.len().next_multiple_of(4096) - left.min(900_000);
            fs::write(small.join("ballast"), vec![7; taken]).map_err(context("filling the disk"))?;
            let done =
                self.finish(&format!("train {DATA} {NEW} --checkpoint-every 5 --model small/{MODEL}"))?;
            let bytes = fs::read(&model).unwrap_or_default();
            let whole = bytes == self.old || bytes == self.new;
            lost += usize::from(!whole) + usize::from((bytes == self.new) != done.status.success());
            failed += usize::from(!done.status.success());
            let names = fs::read_dir(&small).into_iter().flatten().flatten();
            lost += names.filter(|entry| entry.file_name().to_string_lossy().contains(".tmp")).count();
        }
        let _ = Command::new("umount").arg(&small).status();
        Ok(Line { what, done: length.disks, lost, remarks: format!("{failed} saves failed with an error") })
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.path("small")).stderr(Stdio::null()).status();
        // A folder left in the temporary folder does no harm.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
