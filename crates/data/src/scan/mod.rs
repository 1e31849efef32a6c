//! From bytes to numbers: finding separators and reading digits, many at a time where the processor can.

pub(crate) mod cells;
pub(crate) mod marks;
pub(crate) mod number;
pub(crate) mod pairs;
pub(crate) mod tokens;
