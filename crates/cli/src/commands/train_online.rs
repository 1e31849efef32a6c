//! `rosenblatt train --online`: one pass over a stream, every row predicted before it is learned from.
//!
//! The error of those predictions is an honest estimate that costs no rows, and the table of how it
//! falls is printed as it comes. Memory is that of the model and a few blocks, however long the stream.

use super::train::Args;
use crate::args::decide_scale;
use crate::checkpoints::Checkpoints;
use crate::failure::{Failure, worded};
use crate::report;
use crate::signals;
use crate::ui::{self, count, counted, percent};
use rosenblatt::core::{Law, Order, Totals};
use rosenblatt::{Checkpoint, ClassWeights, Error, Keeper as _, Model, Online, Options, Spec, Wants};
use rosenblatt_data::{DataError, ErrorKind, ReadOptions, Source, Stream, View, blocks, survey};
use serde_json::json;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const NAME_CLASSES: &str =
    "name all classes beforehand with --classes a,b,c, or read from a file, which is looked through first";

/// At most so many rows are learned from before a signal is looked for.
const ROWS_AT_ONCE: u64 = 4096;

pub(super) fn run(
    args: &Args,
    read: ReadOptions,
    path: &Path,
    checkpoints: Checkpoints,
    checkpoint: Option<Checkpoint>,
) -> Result<(), Failure> {
    let spec = spec(args)?;
    let date = args.date()?;
    let source = Source::find_all(&args.files)?;
    let start = Instant::now();
    let (source, read) = prepare(args, &source, read)?;
    let mut stream = blocks(&source, &read)?;
    let mut learner = learner(spec, &stream)?.keeping_track();
    if let Some(checkpoint) = checkpoint {
        learner = learner.resume(checkpoint)?;
    }
    let kept = Arc::new(Mutex::new(Kept { learner, checkpoints }));
    let heir = Arc::clone(&kept);
    // A stream may have nothing to say for hours, so signals are not waited for here: whoever gets one
    // makes the checkpoint.
    signals::last_will(move |signal| ui::complain(&lock(&heir).stop(signal)));
    let mut table = Table::new(args.json || args.quiet);
    while let Some(block) = stream.next().map_err(explain)? {
        let mut from = 0;
        while from < block.len() {
            let to = block.len().min(from + ROWS_AT_ONCE.min(table.next - table.now.rounds) as usize);
            let totals = lock(&kept).learn(block.view(), from..to)?;
            from = to;
            table.look(totals)?;
        }
    }
    signals::be_careful();
    let Kept { learner, checkpoints } = &*lock(&kept);
    if learner.rows_to_pass_over() > 0 {
        let differences = vec!["the stream is shorter than what it learned from".to_owned()];
        return Err(Error::OtherRun { differences }.into());
    }
    table.finish()?;
    let model = learner.model()?;
    let model = if let Some(date) = date { model.dated(date) } else { model };
    let mut schema = stream.schema().clone();
    if schema.width().is_none() {
        schema.width = Some(model.width());
    }
    let mut notes = schema.notes.clone();
    if args.data.scale == "auto" && !source.can_rewind() && !schema.columns.is_empty() {
        notes.push("columns keep their scale, since a pipe cannot be read twice to find it".to_owned());
    }
    let trained = Trained {
        source: source.name(),
        left_out: [stream.n_dropped(), stream.n_skipped()],
        notes,
        model: model.with_schema(Arc::new(schema)),
        lines: table.lines,
        time: start.elapsed(),
    };
    args.save(&trained.model, path)?;
    checkpoints.clear();
    signals::answer("stopped after the model was saved")?;
    let size = std::fs::metadata(path).map_or(0, |data| data.len());
    ui::print(&if args.json { trained.json(path, size) } else { trained.text(path, size) })
}

/// A learner, and what is kept of it.
struct Kept {
    learner: Online,
    checkpoints: Checkpoints,
}

fn lock(kept: &Mutex<Kept>) -> MutexGuard<'_, Kept> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Kept {
    /// Learns, and makes a checkpoint if one is due.
    fn learn(&mut self, rows: View<'_>, part: Range<usize>) -> Result<Totals, Error> {
        self.learner.learn_rows(rows, part)?;
        let totals = self.learner.totals();
        if self.checkpoints.wants(&totals) == Wants::Checkpoint {
            self.keep();
        }
        Ok(totals)
    }

    fn keep(&mut self) {
        if let Some(checkpoint) = self.learner.checkpoint() {
            self.checkpoints.keep(&checkpoint);
        }
    }

    fn stop(&mut self, signal: i32) -> Failure {
        self.keep();
        self.checkpoints.stopped(signal)
    }
}

/// The wish as far as it makes sense for rows that come and go.
fn spec(args: &Args) -> Result<Spec, Failure> {
    let options = args.spec.spec(0)?.options().clone();
    if options.class_weights == ClassWeights::Balanced {
        let message = "`--class-weight balanced` needs all rows at hand; with `--online`, give CLASS=WEIGHT";
        return Err(Failure::Usage(message.to_owned()));
    }
    // The pocket's ratchet counts errors on all rows, which are not at hand.
    let options =
        Options { epochs: 1, order: Some(Order::Given), validation: None, ratchet: false, ..options };
    let spec = Spec::new(options).map_err(|error| Failure::Usage(error.to_string()))?;
    let info = spec.entry().info;
    if let Some((_, why)) = info.exempt.iter().find(|(law, _)| *law == Law::HalfPasses) {
        let message = format!("`{}` cannot learn `--online`: {why}", info.name);
        return Err(Failure::Usage(message));
    }
    Ok(spec)
}

/// What can be read twice is looked through first, so that classes and scales are known; what cannot is
/// taken as it comes, so that it need not be held in memory.
fn prepare(args: &Args, source: &Source, read: ReadOptions) -> Result<(Source, ReadOptions), Failure> {
    if !source.can_rewind() {
        return Ok((source.clone(), read));
    }
    let (source, mut read) = decide_scale(&args.data, source, read)?;
    if read.classes.is_none() {
        let survey = survey(&source, &read)?;
        read.classes = Some(survey.labels.names().to_vec());
        read = read.with_schema(Arc::new(survey.schema));
    }
    Ok((source, read))
}

fn learner(spec: Spec, stream: &Stream) -> Result<Online, Failure> {
    let classes = stream.labels().names();
    if let [only] = classes {
        let message = format!("training needs at least two classes, but there is only `{only}` so far");
        return Err(Failure::Work(format!("{message}\nhelp: {NAME_CLASSES}")));
    }
    let learner = Online::new(spec, classes)?;
    Ok(match stream.schema().feature_names() {
        Some(names) => learner.with_feature_names(names),
        None => learner,
    })
}

/// Says of a class that came too late what helps here.
fn explain(error: DataError) -> Failure {
    match error.kind() {
        ErrorKind::LateClass => Failure::Work(error.with_help(NAME_CLASSES).report_as(worded)),
        _ => error.into(),
    }
}

/// A line at every power of two, and one at the end.
struct Table {
    silent: bool,
    /// As of the last line.
    seen: Totals,
    now: Totals,
    /// At how many rows the next line is due.
    next: u64,
    lines: Vec<Line>,
}

struct Line {
    totals: Totals,
    since_last: f64,
}

impl Line {
    fn so_far(&self) -> f64 {
        self.totals.errors as f64 / self.totals.rounds.max(1) as f64
    }
}

impl Table {
    fn new(silent: bool) -> Self {
        Self { silent, seen: Totals::default(), now: Totals::default(), next: 1, lines: Vec::new() }
    }

    /// Takes note of where the run is; prints a line if one is due.
    fn look(&mut self, now: Totals) -> Result<(), Failure> {
        self.now = now;
        if now.rounds >= self.next { self.print() } else { Ok(()) }
    }

    fn finish(&mut self) -> Result<(), Failure> {
        if self.now.rounds > self.seen.rounds { self.print() } else { Ok(()) }
    }

    fn print(&mut self) -> Result<(), Failure> {
        let since = self.now.rounds - self.seen.rounds;
        let since_last = (self.now.errors - self.seen.errors) as f64 / since as f64;
        let line = Line { totals: self.now, since_last };
        if !self.silent {
            let head = if self.lines.is_empty() {
                format!(
                    "{:>13}  {:>16}  {:>12}  {:>13}\n",
                    "rows", "error since last", "error so far", "updates"
                )
            } else {
                String::new()
            };
            ui::print(&format!(
                "{head}{:>13}  {:>16}  {:>12}  {:>13}\n",
                count(self.now.rounds),
                percent(since_last),
                percent(line.so_far()),
                count(self.now.updates)
            ))?;
        }
        self.lines.push(line);
        self.seen = self.now;
        self.next = self.next.max(self.now.rounds + 1).next_power_of_two();
        Ok(())
    }
}

/// A model with all there is to say about it.
struct Trained {
    model: Model,
    source: String,
    /// Rows that lacked a value, and rows that could not be read.
    left_out: [u64; 2],
    notes: Vec<String>,
    lines: Vec<Line>,
    time: Duration,
}

impl Trained {
    fn text(&self, path: &Path, size: u64) -> String {
        let totals = self.model.story().totals;
        let spec = self.model.spec();
        let mut text = format!(
            "\n{}: {}, {}, {}\n",
            self.source,
            counted(totals.rounds, "row", "rows"),
            counted(self.model.width() as u64, "feature", "features"),
            counted(self.model.labels().len() as u64, "class", "classes"),
        );
        for note in &self.notes {
            let _ = writeln!(text, "note: {note}");
        }
        for (&rows, why) in self.left_out.iter().zip(["that lack a value", "that cannot be read"]) {
            if rows > 0 {
                let _ = writeln!(text, "note: {} {why} left out", counted(rows, "row", "rows"));
            }
        }
        let _ = writeln!(
            text,
            "{} read out {}: one pass, {}, {} in all",
            spec.entry().info.name,
            spec.readout(),
            counted(totals.mistakes, "mistake", "mistakes"),
            ui::duration(self.time)
        );
        let _ = writeln!(
            text,
            "progressive error: {} ({} of {}, each predicted before it was learned from)\n",
            percent(totals.errors as f64 / totals.rounds.max(1) as f64),
            count(totals.errors),
            counted(totals.rounds, "row", "rows"),
        );
        let voices = report::voices(&self.model);
        if !voices.is_empty() {
            let _ = writeln!(text, "{voices}");
        }
        let _ = writeln!(text, "model: {} ({})", path.display(), ui::bytes(size));
        text
    }

    fn json(&self, path: &Path, size: u64) -> String {
        let totals = self.model.story().totals;
        let lines: Vec<_> = self
            .lines
            .iter()
            .map(|line| {
                json!({
                    "rows": line.totals.rounds, "error-since-last": line.since_last,
                    "error-so-far": line.so_far(), "updates": line.totals.updates,
                })
            })
            .collect();
        let report = json!({
            "data": {
                "source": self.source, "rows": totals.rounds, "features": self.model.width(),
                "classes": self.model.labels().names(), "notes": self.notes,
                "dropped": self.left_out[0], "skipped": self.left_out[1],
            },
            "spec": self.model.spec().options(),
            "story": self.model.story(),
            "progress": lines,
            "progressive-error": totals.errors as f64 / totals.rounds.max(1) as f64,
            "seconds": self.time.as_secs_f64(),
            "model": path.display().to_string(),
            "model-bytes": size,
        });
        format!("{report}\n")
    }
}
