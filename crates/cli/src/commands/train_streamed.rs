//! `rosenblatt train --memory SIZE`: many passes over data that is larger than that.
//!
//! The rows are parsed once and parked in a cache on disk. If they turn out to fit, they are read into memory and
//! trained on as ever; otherwise every pass reads the cache. The report is that of any training but for the
//! figures that need all rows at once: the area under the curve, the sharpness of probabilities and the bound on
//! mistakes. Checkpoints are those of any training, and one of them may be gone on from in memory, too.

use super::estimate::Estimate;
use super::train::{Args, Trained, Watch, no_class, outline};
use crate::args::decide_scale;
use crate::checkpoints::Checkpoints;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::signals;
use crate::ui;
use rosenblatt::core::{Order, Readout};
use rosenblatt::{
    Checkpoint, Error, Method, Options, Spec, StreamedError, StreamedTraining, calibrate_streamed,
    check_spec, evaluate_streamed, split_streamed,
};
use rosenblatt_data::{Cached, Park, ReadOptions, Source};
use std::sync::Arc;
use std::time::Instant;

/// What must be in memory of every row: its class, and its number in lists of rows.
const BYTES_A_ROW: u64 = 12;
/// What must be in memory of every row that probabilities are fitted on: its scores, its class, and what the fit
/// makes of one of them.
const BYTES_A_SCORE: u64 = 8;
const BYTES_A_FIT: u64 = 36;

/// Trains, unless the rows fit `limit` and can be read again, into memory.
pub(super) fn train(
    args: &Args,
    source: &Source,
    read: &ReadOptions,
    limit: u64,
    calibrate: Option<Method>,
    (checkpoints, checkpoint): (&mut Checkpoints, Option<&Checkpoint>),
) -> Result<Option<Trained>, Failure> {
    let start = Instant::now();
    // What cannot be read twice is not held in memory to find its scale.
    let (source, read) = if source.can_rewind() {
        decide_scale(&args.data, source, read.clone())?
    } else {
        (source.clone(), read.clone())
    };
    let progress = Progress::new(args.quiet);
    progress.reading(&source, &read.meter, 1);
    let temporary = std::env::temp_dir().join(format!("rosenblatt-{}.cache", std::process::id()));
    signals::remove_at_exit(&temporary);
    let park = args.cache.as_deref().map_or(Park::Temporary(&temporary), Park::Kept);
    let mut data = Cached::read(&source, &read, park)?;
    if data.memory_bytes() <= limit && source.can_rewind() {
        return Ok(None);
    }
    refuse_what_needs_memory(args)?;
    if let Some(class) = &args.one_against_rest {
        let unknown = no_class(data.labels(), class);
        data = data.one_against_rest(class).ok_or(unknown)?;
    }
    let n_rows = data.classes().len();
    let n_scores = if data.labels().len() == 2 { 1 } else { data.labels().len() };
    let to_fit = (n_rows as f64 * args.holdout) as u64 * (BYTES_A_SCORE * n_scores as u64 + BYTES_A_FIT);
    let to_know = BYTES_A_ROW * n_rows as u64;
    // Probabilities that nobody asked for are done without, if need be.
    let calibrate = calibrate.filter(|_| args.calibrate.is_some() || to_know + to_fit <= limit);
    let (needed, and_fit, or_not) = match calibrate {
        Some(_) => (to_know + to_fit, " and to fit probabilities", "leave those out with --calibrate none, "),
        None => (to_know, "", ""),
    };
    if needed > limit {
        return Err(Failure::Work(format!(
            "{} rows need {} of memory to know each by its class{and_fit}, but `--memory` allows {}\nhelp: raise it, {or_not}or learn in one pass with --online",
            ui::count(n_rows as u64),
            ui::bytes(needed),
            ui::bytes(limit),
        )));
    }
    let (spec, mut notes) = spec(args, n_rows)?;
    notes.extend(data.schema().notes.iter().cloned());
    notes.push(format!(
        "the rows would take {} of memory and stay on disk, visited as they stand",
        ui::bytes(data.memory_bytes())
    ));
    if calibrate.is_none() && args.calibrate.is_none() && args.holdout > 0.0 {
        notes.push(format!(
            "probabilities are not fitted, as the scores of the rows set aside would take {} more",
            ui::bytes(to_fit)
        ));
    }
    let read_time = start.elapsed();
    let (train_rows, held_rows) = if args.holdout > 0.0 {
        split_streamed(&data, args.holdout, spec.options().seed)
    } else {
        ((0..n_rows as u32).collect(), Vec::new())
    };
    let start = Instant::now();
    progress.stage("first pass");
    let mut watch = Watch { progress: &progress, epochs: spec.options().epochs, mistakes: 0, last: None };
    signals::be_careful();
    let training = StreamedTraining::new(&spec, &mut data).rows(&train_rows).keeper(checkpoints);
    let training = if let Some(from) = checkpoint { training.resume(from.clone()) } else { training };
    let model = match (training.run(&mut watch), signals::asked()) {
        (Err(StreamedError::Training(Error::Interrupted { .. })), Some(signal)) => {
            return Err(checkpoints.stopped(signal));
        }
        (trained, _) => trained?,
    };
    let train_time = start.elapsed();
    let mut model = model.with_schema(Arc::new(data.schema().clone())).with_held_out(args.holdout);
    if let Some(method) = calibrate.filter(|_| !held_rows.is_empty()) {
        progress.stage("calibration");
        model = calibrate_streamed(model, method, &mut data, &held_rows)?;
    }
    progress.stage("measuring");
    let estimate = if held_rows.is_empty() {
        None
    } else {
        let evaluation = evaluate_streamed(&model, &mut data, &held_rows)?;
        Some(Estimate { evaluation, fold_errors: Vec::new() })
    };
    Ok(Some(Trained {
        training: evaluate_streamed(&model, &mut data, &train_rows)?,
        estimate,
        source: source.name(),
        data: outline(data.width(), data.classes(), data.labels()),
        bound: None,
        bounds: None,
        model,
        read_time,
        train_time,
        notes,
    }))
}

/// Options that are for rows in memory only.
fn refuse_what_needs_memory(args: &Args) -> Result<(), Failure> {
    let wishes = [(args.k_fold.is_some(), "--k-fold"), (args.bounds, "--bounds")];
    match wishes.iter().find(|(wished, _)| *wished) {
        Some((_, name)) => Err(Failure::Work(format!(
            "`{name}` needs all rows in memory, and they do not fit\nhelp: raise --memory, or leave it out"
        ))),
        None => Ok(()),
    }
}

/// The wish as far as it can be had for rows on disk, and what was changed of it.
fn spec(args: &Args, n_rows: usize) -> Result<(Spec, Vec<String>), Failure> {
    let wish = args.wished_spec(n_rows)?.options().clone();
    let order = wish.order.clone().or(Some(Order::Given));
    let mut notes = Vec::new();
    let ratchet = wish.ratchet && wish.readout != Some(Readout::Pocket);
    if wish.readout == Some(Readout::Pocket) {
        notes.push("the pocket keeps what survived longest, without counting errors on all rows".to_owned());
    }
    let spec = Spec::new(Options { order, ratchet, ..wish });
    let spec = spec.map_err(|error| Failure::Usage(error.to_string()))?;
    check_spec(&spec).map_err(|error| {
        Failure::Work(format!("{error}\nhelp: raise --memory so that the rows fit, or leave the choice out"))
    })?;
    Ok((spec, notes))
}
