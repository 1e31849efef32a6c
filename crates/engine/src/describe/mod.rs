//! What a run is given: settings and rows, checked and named, and who watches it.

pub mod algorithms;
pub(crate) mod costs;
pub mod defaults;
pub mod device;
pub(crate) mod error;
pub(crate) mod estimate;
pub(crate) mod fingerprint;
pub mod monitor;
pub mod options;
pub mod rows;
pub mod settings;
pub(crate) mod spec;
pub mod split;
pub(crate) mod start;
pub(crate) mod statistics;
pub(crate) mod targets;
pub(crate) mod task;
