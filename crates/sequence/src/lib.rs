//! Structured perceptrons: taggers that label whole sequences, for the perceptron's own training loop.
//!
//! ```text
//! cells of tokens ── Template ── Lexicon ── Corpus ── TaggerSpace ── the core's loop ── Weights ── Tagging
//! ```
//!
//! A sentence is one example (`space.rs`), found labels come from an exact search (`search.rs`, `second.rs`), attributes
//! from templates (`template.rs`) whose cells are numbered before they are combined (`lexicon.rs`), and correct spans are
//! counted as `conlleval` counts them (`spans.rs`). The data crate reads files.

mod constraints;
mod corpus;
mod forks;
mod lexicon;
mod links;
mod saved;
mod search;
mod second;
mod space;
pub mod spans;
mod tagging;
pub mod template;
mod votes;
mod weights;

pub use constraints::{Constraints, Scheme};
pub use corpus::{Corpus, Sentence};
pub use lexicon::{Lexicon, Scratch, Stored};
pub use search::{Lattice, Search, Violation};
pub use space::{Design, Lead, Met, Numbers, Past, Recalled, TaggerSpace};
pub use tagging::{Tagged, Tagging};
pub use votes::Votes;
pub use weights::{Order, Shape, Weights};
