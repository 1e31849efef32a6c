//! What learning leaves: models, their probabilities, and the files they are kept in.

pub mod calibration;
pub(crate) mod held_out;
pub mod importance;
pub(crate) mod mapped;
pub mod model;
pub(crate) mod numbers;
pub(crate) mod ranking;
pub(crate) mod tagger;
