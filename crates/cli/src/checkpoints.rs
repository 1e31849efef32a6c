//! Checkpoints beside the model: when they are made, where they are, and when they go away.

use crate::failure::Failure;
use crate::signals;
use crate::ui;
use rosenblatt::data::files::{FileError, Kind, previous_path, with_suffix, write_keeping_previous};
use rosenblatt::learning::Totals;
use rosenblatt::model::Checkpoint;
use rosenblatt::model::StoreError;
use rosenblatt::train::{CheckpointRequest, Checkpointer};
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, Instant};

/// How often a checkpoint is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Every {
    Epochs(u64),
    Rows(u64),
    Time(Duration),
}

impl FromStr for Every {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, unit) = text.split_at(digits);
        let number = number.parse::<u64>().ok().filter(|&number| number > 0);
        let seconds =
            |factor| number.and_then(|n| n.checked_mul(factor)).map(|n| Self::Time(Duration::from_secs(n)));
        let every = match unit.trim() {
            "" => number.map(Self::Epochs),
            "rows" => number.map(Self::Rows),
            "s" => seconds(1),
            "m" => seconds(60),
            "h" => seconds(3600),
            _ => None,
        };
        every.ok_or_else(|| {
            "it should be a number of epochs, or for instance 30s, 10m, 2h or 100000rows".to_owned()
        })
    }
}

/// Where the checkpoints of the training of the model at `model` are.
pub(crate) fn checkpoint_path(model: &Path) -> PathBuf {
    with_suffix(model, ".checkpoint")
}

/// When the checkpoints of one training are due, and where they go.
pub(crate) struct Checkpoints {
    path: PathBuf,
    every: Option<Every>,
    resumed: bool,
    saved: bool,
    /// Whether the last one could not be saved.
    failed: bool,
    /// When the last one was made, and how far the run had come.
    last: Option<(Instant, Totals)>,
}

impl Checkpoints {
    /// Checkpoints of the training of the model at `model`.
    pub(crate) fn new(model: &Path, every: Option<Every>) -> Self {
        let path = checkpoint_path(model);
        Self { path, every, resumed: false, saved: false, failed: false, last: None }
    }

    /// The checkpoint to go on from, if `resume` asks for one and there is one. A spoiled one makes way for
    /// the one before it.
    pub(crate) fn load(&mut self, resume: bool) -> Result<Option<Checkpoint>, Failure> {
        let before = previous_path(&self.path);
        if !resume {
            if self.path.exists() {
                ui::note(&format!(
                    "{}: a checkpoint of an unfinished run; --resume goes on from it",
                    self.path.display()
                ));
            }
            return Ok(None);
        }
        let is_missing = |error: &StoreError| matches!(error, StoreError::File(FileError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound);
        let loaded = match Checkpoint::load(&self.path) {
            Ok(checkpoint) => checkpoint,
            Err(error) => match Checkpoint::load(&before) {
                Ok(checkpoint) => {
                    ui::warn(&format!("{error}\ngoing on from the one before it, {}", before.display()));
                    checkpoint
                }
                Err(_) if is_missing(&error) => {
                    ui::note(&format!(
                        "{}: there is no checkpoint; starting from the beginning",
                        self.path.display()
                    ));
                    return Ok(None);
                }
                Err(_) => return Err(error.into()),
            },
        };
        self.resumed = true;
        Ok(Some(loaded))
    }

    /// The run is finished: what was kept for it goes away.
    pub(crate) fn clear(&self) {
        if self.resumed || self.saved {
            let own = [self.path.clone(), previous_path(&self.path)];
            for path in own.iter().filter(|path| Kind::Checkpoint.is_at(path)) {
                // What cannot be removed is refused or found equal by the next run.
                let _ = std::fs::remove_file(path);
            }
        }
    }

    /// What a run that was stopped says.
    pub(crate) fn stopped(&self, signal: i32) -> Failure {
        let text = if self.saved || self.resumed {
            format!("stopped; a checkpoint is in {}\nto go on: {}", self.path.display(), again())
        } else if self.failed {
            "stopped without a checkpoint".to_owned()
        } else {
            "stopped before there was anything to keep".to_owned()
        };
        Failure::Stopped(signal, text)
    }
}

impl Checkpointer for Checkpoints {
    fn request(&mut self, so_far: &Totals) -> CheckpointRequest {
        if signals::asked().is_some() {
            return CheckpointRequest::SaveAndStop;
        }
        let Some(every) = self.every else { return CheckpointRequest::Continue };
        let (since, before) = *self.last.get_or_insert_with(|| (Instant::now(), *so_far));
        let due = match every {
            Every::Epochs(epochs) => so_far.epochs - before.epochs >= epochs,
            Every::Rows(rows) => so_far.rounds - before.rounds >= rows,
            Every::Time(time) => since.elapsed() >= time,
        };
        if !due {
            return CheckpointRequest::Continue;
        }
        self.last = Some((Instant::now(), *so_far));
        CheckpointRequest::Save
    }

    fn save(&mut self, checkpoint: &[u8]) {
        match write_keeping_previous(&self.path, checkpoint) {
            Ok(()) => (self.saved, self.failed) = (true, false),
            // The model may still come out well, so training goes on; it prints this once, not every time.
            Err(error) => {
                if !self.failed {
                    ui::warn(&format!("{error}\nthis checkpoint was not kept"));
                }
                self.failed = true;
            }
        }
    }
}

/// The command that goes on, as it would be typed.
fn again() -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=,:+%@".contains(c);
    let word = |word: String| match word {
        word if !word.is_empty() && word.chars().all(plain) => word,
        word => format!("'{}'", word.replace('\'', "'\\''")),
    };
    let mut words: Vec<String> =
        std::env::args_os().map(|typed| word(typed.to_string_lossy().into_owned())).collect();
    if !words.iter().any(|word| word == "--resume") {
        words.push("--resume".to_owned());
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_epochs_rows_or_time() {
        let every = |text: &str| text.parse::<Every>();
        assert_eq!(every("3"), Ok(Every::Epochs(3)));
        assert_eq!(every("1000rows"), Ok(Every::Rows(1000)));
        assert_eq!(every("90s"), Ok(Every::Time(Duration::from_secs(90))));
        assert_eq!(every("2h"), Ok(Every::Time(Duration::from_secs(7200))));
        for wrong in ["", "0", "x", "3 weeks", "-1", "99999999999999999999", "18446744073709551615h"] {
            assert!(every(wrong).unwrap_err().contains("number of epochs"), "{wrong}");
        }
    }
}
