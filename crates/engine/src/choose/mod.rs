//! From files to the model that does best, with an estimate of its error.

pub mod compare;
pub mod race;
pub mod recipe;
