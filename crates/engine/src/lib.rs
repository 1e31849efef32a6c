//! One engine for the whole perceptron family.
//!
//! Five lines train an averaged one-vs-rest perceptron:
//!
//! ```
//! use rosenblatt::{Dataset, Spec, evaluate, train};
//!
//! let rows = [[2.0, 0.1], [1.8, 0.3], [0.2, 2.1], [0.1, 1.7], [-2.0, -1.9], [-1.7, -2.2]];
//! let data = Dataset::from_rows(&rows, &["apple", "apple", "banana", "banana", "orange", "orange"]);
//! let model = train(&Spec::default(), &data)?;
//! assert_eq!(model.predict(&[1.5, 0.2])?, "apple");
//! assert_eq!(evaluate(&model, &data).errors, 0);
//! # Ok::<(), rosenblatt::Error>(())
//! ```
//!
//! What is learned is described by [`Options`], by name, and checked once by [`Spec`]:
//!
//! ```
//! use rosenblatt::{Options, Spec, Validation};
//!
//! let spec = Spec::new(Options {
//!     algorithm: "pa1".to_owned(),
//!     params: [("C".to_owned(), 0.1)].into(),
//!     validation: Some(Validation { patience: 3, ..Validation::default() }),
//!     ..Options::default()
//! })?;
//! let wrong = Spec::new(Options { algorithm: "percetpron".to_owned(), ..Options::default() });
//! assert_eq!(wrong.unwrap_err().to_string(), "there is no algorithm `percetpron`; did you mean `perceptron`?");
//! # Ok::<(), rosenblatt::Error>(())
//! ```
//!
//! | to | use |
//! |---|---|
//! | train from a data set | [`train`], or [`Training`] with rows, a start and observers |
//! | go from files to a model and an honest estimate, as the command line does | [`Recipe`] |
//! | train from more than memory holds | [`Training`] on a [`data::Cached`] |
//! | learn one example at a time | [`Online`] |
//! | learn behind a map that stands in for a kernel | [`Mapping`] in [`Options`], [`kernel`] |
//! | read files | [`data::load`] |
//! | predict | [`Model::predict`], [`Model::predict_proba`], [`Model::decision_function`], [`Model::predictor`] |
//! | judge | [`evaluate`], [`cross_validate`], [`split`] |
//! | choose among algorithms | [`compare()`] |
//! | have probabilities | [`Model::calibrated`], [`Calibration`] |
//! | learn with a kernel | [`Options::kernel`], [`KernelOptions`], [`kernel::KERNELS`] |
//! | ask why | [`top_features`], [`Explainer`], [`misclassified`], [`VoteCounter`] |
//! | know whether a hyperplane separates the data | [`certify`] |
//! | keep | [`Model::save`], [`Model::load`], [`export`] for other programs |
//! | see every round of a run | [`trace`] |
//! | draw what was learned | [`Slice`], [`learning_curve`], [`growth`], [`roc`] |
//! | see what there is | [`ALGORITHMS`] |
//! | watch a run, write a rule | [`core`] |

mod algorithms;
mod calibration;
pub mod catalogue;
mod compare;
mod curves;
pub mod defaults;
mod error;
mod evaluate;
mod explain;
mod export;
mod fingerprint;
mod insight;
mod learner;
mod mapped;
mod misclassified;
mod model;
mod monitor;
mod online;
mod race;
pub mod recipe;
mod reproduce;
mod roc;
mod rows;
mod separation;
mod slice;
mod spec;
mod split;
mod trace;
mod train;
mod vote_count;

pub use algorithms::{ALGORITHMS, Entry, find};
pub use calibration::{Calibration, Curve, Method, class_scores, held_out_scores};
pub use catalogue::{Catalogue, catalogue};
pub use compare::{Candidate, Comparison, Trial, TrialFold, compare};
pub use curves::{EpochPoint, Growth, GrowthPoint, growth, learning_curve};
pub use error::Error;
pub use evaluate::{
    Evaluation, Fold, ProbabilityScores, cross_validate, evaluate, evaluate_rows, evaluate_source, matched,
};
pub use explain::{Contribution, Explainer, Explanation, NamedContribution, NamedExplanation};
pub use export::{Export, export};
pub use fingerprint::fingerprint;
pub use insight::{
    TopFeature, feature_name, interval, margins, mistake_bound, smallest_margin, top_features, weights_for,
};
pub use misclassified::{Misclassified, misclassified};
pub use model::{
    Checkpoint, Claim, Date, FormatError, Hyperplane, KernelSummary, Model, Predictor, Sample, StoreError,
    Summary, TopFeatures, TrainingSummary, Validated, VoteSummary, check_writable, model_checksum,
    previous_path, with_suffix, write_keeping_previous, write_whole,
};
pub use monitor::{Monitor, Stage};
pub use online::Online;
pub use race::{Entrant, Metric, Progress, Race, RaceOptions, Spectator, portfolio, race};
pub use recipe::{Recipe, Trained};
pub use reproduce::{FreundSchapire, Measured, freund_schapire};
pub use roc::{Roc, roc};
pub use rosenblatt_certify as certify;
pub use rosenblatt_core as core;
pub use rosenblatt_data as data;
pub use rosenblatt_data::{Dataset, Labels, Remedy};
pub use rosenblatt_kernel as kernel;
pub use rows::RowSource;
pub use separation::{certified_margin, decide_within, with_bias};
pub use slice::{Slice, SliceKind, sample};
pub use spec::{ClassWeights, Classes, KernelOptions, Mapping, Options, Spec, Validation};
pub use split::{folds, split};
pub use trace::{Ending, RoundRecord, Trace, TracedRound, TracedStep, trace};
pub use train::{CheckpointRequest, Checkpointer, Training, check_order, train};
pub use vote_count::{VoteCount, VoteCounter};

/// The README's and the contributor's guide's code, compiled and run.
#[cfg(doctest)]
mod guides {
    #[doc = include_str!("../../../CONTRIBUTING.md")]
    struct Contributing;
    #[doc = include_str!("../../../README.md")]
    struct Readme;
}
