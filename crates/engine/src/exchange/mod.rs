//! What other programs are given: models in their formats, and a list of all that can be chosen.

pub mod catalogue;
pub mod export;
