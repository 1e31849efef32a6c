//! Rows in memory: blocks on their way, data sets that stay, and what is known of their columns and labels.

pub(crate) mod block;
pub(crate) mod chunks;
pub(crate) mod dataset;
pub(crate) mod gaps;
pub(crate) mod label_table;
pub(crate) mod labels;
pub(crate) mod look;
pub(crate) mod schema;
pub(crate) mod spelling;
