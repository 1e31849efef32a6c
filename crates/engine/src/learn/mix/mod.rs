//! Learning in several places at once, by iterative parameter mixing (`McDonald`, Hall and Mann 2010).
//!
//! Rows lie in several places, here called shards. In every epoch each shard starts from the same weights, learns from its
//! own rows once, and hands back what moved; the mean of that is where the next epoch starts. On separable data the
//! mistakes of all epochs, each shard's counted with its part in the mean, are at most `(R/γ)²`, as for one perceptron;
//! tests hold it to that. Mixing once, after separate runs, has no such bound, but it is what [`mix`] does to models, and
//! calling it once an epoch gives the same algorithm over ssh.
//!
//! ```text
//! driver: Mixture ── start (bytes) ──> every shard: epoch ── Share (bytes) ──> Mixture::take, in the order of shards
//! ```
//!
//! Nothing depends on who is ready first: sums run in the order of shards. One shard is not mixed at all. It hands its
//! whole state back, so that it ends in the bits of [`crate::train()`]. Which process runs where, and what happens if one
//! dies, is up to the caller.

mod mixture;
mod models;
mod probabilities;
mod shard;
mod share;
mod taggers;

pub use mixture::{EpochMixed, Mixture};
pub use models::mix;
pub use probabilities::{scores, with_probabilities};
pub use shard::{Pack, Packed, Packing, count_errors, epoch, pack};
pub use share::add;

use rosenblatt_core::Totals;

/// How much each part counts in a mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mixing {
    /// All alike.
    #[default]
    Uniform,
    /// By how often it moved.
    Errors,
    /// By how many rows it met.
    Rows,
}

rosenblatt_core::named!(Mixing, "mixing",
    "uniform" = Self::Uniform, "all parts alike";
    "errors" = Self::Errors, "by how many updates a part made: parts with more mistakes weigh more";
    "rows" = Self::Rows, "by how many rows a part learned from";
);

impl Mixing {
    /// What a part counts that came to this.
    fn part(self, totals: &Totals) -> u64 {
        match self {
            Self::Uniform => 1,
            Self::Errors => totals.updates,
            Self::Rows => totals.rounds,
        }
    }
}
