//! Rows on disk: parsed once into a checksummed file, then passed over as often as need be.

pub(crate) mod ahead;
pub(crate) mod cached;
pub(crate) mod file;
pub(crate) mod packed;
