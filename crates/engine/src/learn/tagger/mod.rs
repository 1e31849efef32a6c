//! Models whose task is tags: they label the tokens of sentences together.
//!
//! [`Tagger`] is such a model at work; here are its training, its estimate and its trace. What is learned is the sequence
//! crate's; the training loop is the core's.

mod compare;
mod estimate;
mod online;
mod shards;
mod trace;
mod train;

pub use crate::keep::tagger::{
    Mistaken, Reason, Room, TaggedSentence, Tagger, TaggerEstimate, TaggerOptions, Telling, Wanted,
    agreement_report, are_sentences, estimate_report,
};
pub use compare::{TaggerComparison, TaggerTrial, compare};
pub use estimate::Judging;
pub use trace::{MovedWeight, TaggerTrace, TracedSentence, trace};
pub use train::TaggerTraining;
