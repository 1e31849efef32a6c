//! Many epochs over data that is larger than memory.
//!
//! The rows are parsed once and parked in a cache on disk. If they turn out to fit, they are read into memory and
//! trained on as ever; otherwise every epoch reads the cache. All is as in memory but for the figures that need all rows
//! at once: the area under the curve and the bound on mistakes.

use super::ties::Cells;
use super::{Calibrate, Fitting, MemoryLimit, Recipe, Trained, infer, no_class, outline};
use crate::calibration::n_curves;
use crate::error::Error;
use crate::model::Checkpoint;
use crate::monitor::Monitor;
use crate::rows::RowSource;
use crate::spec::{Options, Spec};
use crate::train::check_order;
use rosenblatt_core::{Order, Readout};
use rosenblatt_data::words::count;
use rosenblatt_data::{Cached, Park, Source};

/// What must be in memory of every row: its class, and its number in lists of rows.
const BYTES_A_ROW: u64 = 12;
/// What must be in memory of every row that probabilities are fitted on: its scores, those of half the rows once
/// more, its class, and what the fit makes of one of them.
const BYTES_A_SCORE: u64 = 12;
const BYTES_A_FIT: u64 = 42;

/// Trains, unless the rows fit the limit and can be read again, into memory.
pub(super) fn train(
    recipe: &Recipe,
    source: &Source,
    cells: &Cells,
    limit: &MemoryLimit,
    checkpoint: Option<&Checkpoint>,
    monitor: &mut dyn Monitor,
) -> Result<Option<Trained>, Error> {
    let mut notes = Vec::new();
    let park = limit.cache.as_deref().map_or(Park::Temporary, Park::Kept);
    let (reading, mut data) = recipe.with_labels(source, |reading| {
        let data = Cached::read(source, reading, park)?;
        let is_quantity = infer::is_for_numbers(recipe, data.labels(), data.classes().len());
        Ok((data, is_quantity))
    })?;
    if data.memory_bytes() <= limit.bytes && source.can_rewind() {
        return Ok(None);
    }
    if recipe.wants_numbers() {
        return Err(Error::NeedsMemory { what: "learning numbers" });
    }
    let recipe = &recipe.tied(cells, &RowSource::Disk(&mut data))?;
    let schema = data.schema().clone();
    infer::check_label(recipe.task, &reading, &schema, data.classes().len(), data.labels())?;
    let Some(share) = recipe.estimate.share() else {
        return Err(Error::NeedsMemory { what: "cross-validation" });
    };
    if let Some(class) = &recipe.positive {
        let unknown = no_class(data.labels(), class);
        data = data.with_positive(class).ok_or(unknown)?;
    }
    let rows = data.classes().len();
    let n_scores = n_curves(data.labels().len()) as u64;
    let to_fit = (rows as f64 * share) as u64 * (BYTES_A_SCORE * n_scores + BYTES_A_FIT);
    let to_know = BYTES_A_ROW * rows as u64;
    // Probabilities that you did not ask for are left out if they cannot be had.
    let is_asked =
        recipe.calibration != Calibrate::Auto || recipe.learning.costs != crate::costs::Costs::Even;
    let calibrate = recipe.calibration.method().filter(|_| is_asked || to_know + to_fit <= limit.bytes);
    let needed = if calibrate.is_some() { to_know + to_fit } else { to_know };
    if needed > limit.bytes {
        let calibrating = calibrate.is_some();
        return Err(Error::MemoryLimit { rows, needed, limit: limit.bytes, calibrating });
    }
    let wish = recipe.spec(&RowSource::Disk(&mut data))?.options().clone();
    let order = wish.order.clone().or(Some(Order::Given));
    let ratchet = wish.ratchet && wish.readout != Some(Readout::Pocket);
    if wish.readout == Some(Readout::Pocket) {
        notes.push("the pocket keeps what survived longest, without counting errors on all rows".to_owned());
    }
    let spec = Spec::new(Options { ratchet, order, ..wish })?;
    check_order(&spec)?;
    notes.extend(schema.notes.iter().cloned());
    let bytes = count(data.memory_bytes());
    notes.push(format!(
        "the rows would take {bytes} bytes of memory and stay on disk, visited in their order"
    ));
    if calibrate.is_none() && !is_asked && share > 0.0 {
        notes.push(format!(
            "probabilities are not fitted, as the scores of the held-out rows would take {} bytes more",
            count(to_fit)
        ));
    }
    let outline = outline(source.name(), &RowSource::Disk(&mut data), Some((&reading, &schema)));
    let fitting = Fitting { recipe, spec, schema: Some(schema), calibrate, outline, notes, again: None };
    fitting.run(&mut RowSource::Disk(&mut data), checkpoint.cloned(), monitor).map(Some)
}
