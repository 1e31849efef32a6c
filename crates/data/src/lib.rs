//! From any file to examples: sources, formats, encoders, and data sets in memory.
//!
//! Data flows one way: bytes, blocks, examples. This crate knows file formats and nothing about
//! learning; the learning core borrows what is read here.
//!
//! ```text
//! Source ── Part::open ──> Input ── Format::open ──> Reader ── read ──> Block ──> Stream or Dataset
//! where     uncompressed   head     the table        schema             labels     true class numbers
//! ```
//!
//! | room | what it is for |
//! |---|---|
//! | [`Source`] | where bytes are; gzip and zstd by content; every error gets its name |
//! | [`FORMATS`] | one file per format; found by content and name |
//! | [`Window`] | whole lines of text in a buffer that is used again |
//! | [`Block`] | some rows, used again; labels numbered within the block |
//! | [`Numbering`] | true class numbers, and why a stream and memory agree on them |
//! | [`Schema`] | columns, categories, fills: what a model keeps of its data |
//! | [`mod@encode`] | words, scales: what is fitted first and stored with the schema |
//! | [`load()`], [`blocks`], [`survey`] | everything, piece by piece, or just a look |
//! | [`Cached`] | a source larger than memory: parsed once, then passed over on disk |
//! | [`convert()`], [`mod@write`] | from one format to another, parted and shuffled |
//! | [`DataError`] | file, line, column, what was found, what was expected, the cure |
//!
//! # Promises
//! - The same rows in the same order from every format, compressed or not, whatever the number of
//!   threads. Text is rounded to the nearest `f64` and then to the precision that is stored
//!   ([`Precision`], single by default), so the bits agree, too.
//! - Foreign bytes cause errors, never panics, and no allocation beyond what the input justifies and
//!   [`Limits`] allows.
//! - Whether rows are stored dense or sparse is the format's choice ([`Layout`]) and changes no score.
//!
//! ```
//! use rosenblatt_data::{ReadOptions, Source, load_source};
//! let table = Source::bytes("pets.csv", *b"legs,weight,label\n4,3.5,cat\n2,0.1,bird\n");
//! let pets = load_source(&table, &ReadOptions::default())?;
//! assert_eq!((pets.len(), pets.width()), (2, 2));
//! assert_eq!(pets.labels().names(), ["bird", "cat"]);
//!
//! let broken = Source::bytes("pets.csv", *b"legs,weight,label\n4,3.5,cat\n2,x,bird\n4,3,cat\n");
//! let error = load_source(&broken, &ReadOptions::default()).unwrap_err();
//! assert_eq!(error.position().line, Some(3));
//! assert!(error.to_string().starts_with("pets.csv:3:3: column `weight` should hold finite numbers"));
//! # Ok::<(), rosenblatt_data::DataError>(())
//! ```

#![allow(
    clippy::unnecessary_box_returns,
    clippy::boxed_local,
    reason = "mistakes are boxed where they are made, so that the results of hot functions stay small"
)]
#![allow(clippy::inline_always, reason = "conversions of one instruction, called for every value")]

#[cfg(feature = "bundled")]
pub mod bundled;
mod bytes;
mod cache;
mod convert;
pub mod encode;
mod error;
pub mod files;
pub mod formats;
mod hash;
mod interop;
mod load;
mod options;
pub mod remedy;
mod rows;
mod scan;
mod sentences;
mod slips;
pub mod words;
pub mod write;

pub use bytes::compression::{Compression, MAX_ZSTD_WINDOW};
pub use bytes::meter::Meter;
#[cfg(feature = "arrow")]
pub use bytes::source::Table;
pub use bytes::source::{HEAD_BYTES, Input, Part, Source};
pub use bytes::window::{WINDOW_BYTES, Window};
pub use cache::cached::{Cached, Park};
#[doc(hidden)]
pub use cache::file::mend as mend_cache;
pub use cache::file::{CacheFile, CacheReader, CacheWriter, fingerprint};
pub use cache::packed::{Packs, pack, unpack};
pub use convert::{Converted, Parting, WriteOptions, convert, convert_parted, write_dataset};
pub use encode::{Bend, Bends, Scaler, Scaling, Shape, Surface, TextEncoder, TextOptions};
pub use error::{DataError, ErrorKind, Position, harmless};
pub use formats::{FORMATS, Format, FormatInfo, MISSING_CELLS, Reader};
pub use hash::{hash_slot, murmur3_32};
pub use load::{
    Stream, Survey, blocks, can_bend, column, load, load_source, load_with_schema, rewindable, spooled,
    survey, texts,
};
pub use options::{LabelColumn, Limits, OnBadRow, OneColumn, Pictures, ReadOptions, Unknown};
pub use remedy::Remedy;
pub use rows::block::{Block, Stored};
pub use rows::dataset::{
    Dataset, DenseMatrix, DenseRef, Lender, Matrix, MatrixRef, SparseMatrix, SparseRef, View, Visitor,
};
pub use rows::gaps::{Gap, LeftOut};
pub use rows::label_table::{Growth, LabelTable, Numbering};
pub use rows::labels::Labels;
pub use rows::look::{EntryDigest, Look};
pub use rows::schema::{Column, ColumnKind, Layout, Missing, Picture, Precision, Schema};
pub use rows::spelling::{Decimal, Mark, Spelling};
#[doc(hidden)]
pub use scan::marks::count_marks;
pub use sentences::{
    MadeSentences, SENTENCE_FORMATS, SentenceFormat, SentenceStream, Sentences, find_sentence_format,
    looks_like_sentences, sentence_format_by_name, sentences, tokens,
};
pub use slips::closest;
