//! What a model learned, and how: weights, contributions, mistakes and single steps.

pub mod back_propagation;
pub mod blackboard;
pub mod curves;
pub mod explain;
pub mod insight;
pub mod misclassified;
pub mod monotone;
pub mod reproduce;
pub(crate) mod shuffling;
pub mod slice;
pub mod summary;
pub mod trace;
pub mod vote_count;
