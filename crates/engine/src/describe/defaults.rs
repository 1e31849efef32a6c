//! The defaults: one set for the library and every face of it.

use crate::estimate::Method;

/// The most epochs.
pub const EPOCHS: u64 = 20;

/// The default epochs of a tagger.
pub const TAGGER_EPOCHS: u64 = 15;
/// On how many folds of sentences candidates race by default.
pub const RACE_FOLDS: usize = 5;
/// The share of the training rows in the validation set, which decides when to stop.
pub const VALIDATION: f64 = 0.1;
/// Epochs without progress on the validation set before training stops.
pub const PATIENCE: u64 = 5;
/// Below this many rows none can be spared for a validation set.
pub const FEW_ROWS: usize = 1000;
/// The share of all rows that is held out for the estimate.
pub const HOLD_OUT: f64 = 0.2;
/// Up to this many rows, of this many values that are not zero, are parted in folds for the estimate instead, of which one of
/// a fifth of the rows would say little.
pub const FOLDED_ROWS: usize = 3_000;
/// See [`FOLDED_ROWS`].
pub const FOLDED_VALUES: usize = 1 << 18;
/// The folds of so few rows.
pub const FOLDS: usize = 5;
/// Unless two classes have this many rows, there is no race: its folds could not judge.
pub const ROWS_TO_RACE_BY: usize = 5;
/// How scores become probabilities.
pub const CALIBRATION: Method = Method::Platt;
