//! `rosenblatt train --memory SIZE`: many passes over data that is larger than that.
//!
//! The rows are parsed once and parked in a cache on disk. If they turn out to fit, they are read into memory and
//! trained on as ever; otherwise every pass reads the cache. The report is that of any training but for the
//! figures that need all rows at once: the area under the curve and the bound on mistakes.

use super::estimate::Estimate;
use super::train::{Args, Trained, Watch, outline};
use crate::args::decide_scale;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::signals;
use crate::ui;
use rosenblatt::core::{Order, Readout};
use rosenblatt::{Options, Spec, check_spec, evaluate_streamed, split_streamed, train_streamed};
use rosenblatt_data::{Cached, Park, ReadOptions, Source};
use std::sync::Arc;
use std::time::Instant;

/// What must be in memory of every row: its class, and its number in lists of rows.
const BYTES_A_ROW: u64 = 12;

/// Trains, unless the rows fit `limit` and can be read again, into memory.
pub(super) fn train(
    args: &Args,
    source: &Source,
    read: &ReadOptions,
    limit: u64,
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
    let n_rows = data.classes().len();
    let needed = BYTES_A_ROW * n_rows as u64;
    if needed > limit {
        return Err(Failure::Work(format!(
            "{} rows need {} of memory to know each by its class, but `--memory` allows {}\nhelp: raise it, or learn in one pass with --online",
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
    let read_time = start.elapsed();
    let (train_rows, held_rows) = if args.holdout > 0.0 {
        split_streamed(&data, args.holdout, spec.options().seed)
    } else {
        ((0..n_rows as u32).collect(), Vec::new())
    };
    let start = Instant::now();
    progress.stage("first pass");
    let mut watch = Watch { progress: &progress, epochs: spec.options().epochs, mistakes: 0, last: None };
    let model = train_streamed(&spec, &mut data, Some(&train_rows), &mut watch)?;
    progress.stage("measuring");
    let train_time = start.elapsed();
    let model = model.with_schema(Arc::new(data.schema().clone()));
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
    let wishes = [
        (args.k_fold.is_some(), "--k-fold"),
        (args.calibrate.as_deref().is_some_and(|method| method != "none"), "--calibrate"),
        (args.one_against_rest.is_some(), "--one-against-rest"),
        (args.bounds, "--bounds"),
        (args.checkpoint_every.is_some(), "--checkpoint-every"),
        (args.resume, "--resume"),
    ];
    match wishes.iter().find(|(wished, _)| *wished) {
        Some((_, name)) => Err(Failure::Work(format!(
            "`{name}` needs all rows in memory, and they do not fit\nhelp: raise --memory, or leave it out"
        ))),
        None => Ok(()),
    }
}

/// The wish as far as it can be had for rows on disk, and what was changed of it.
fn spec(args: &Args, n_rows: usize) -> Result<(Spec, Vec<String>), Failure> {
    let wish = args.spec.spec(n_rows)?.options().clone();
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
