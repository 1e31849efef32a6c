//! From any file to examples: sources, formats, encoders, and data sets in memory.
//!
//! Data flows one way: bytes, blocks, examples. This crate knows file formats and nothing about
//! learning; the learning core borrows what is read here.

mod dataset;
mod labels;

pub use dataset::{Dataset, DenseMatrix, Matrix, SparseMatrix, View, Visitor};
pub use labels::Labels;
