//! From settings and rows to a model: in memory, on disk, one row at a time, in several places, on sentences.

pub mod builders;
pub(crate) mod learner;
pub mod mix;
pub(crate) mod online;
pub mod tagger;
pub mod train;
