//! From a name to bytes: where sources are, how they are unpacked, and how text is cut into pieces that
//! many threads may parse.

pub(crate) mod compression;
pub(crate) mod huge_pages;
pub(crate) mod meter;
pub(crate) mod panics;
pub(crate) mod pool;
pub(crate) mod source;
pub(crate) mod tree;
pub(crate) mod window;
