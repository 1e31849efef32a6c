//! How good a model is on rows it did not learn from, and whether a better one can exist.

pub mod by_group;
pub(crate) mod confusion;
pub mod evaluate;
mod held_out;
pub mod roc;
pub mod separation;
