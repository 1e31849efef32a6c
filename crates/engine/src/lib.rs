//! One engine for the whole perceptron family: what the command line `rosenblatt` does, as a library.
//!
//! # From a file to a model
//!
//! [`Recipe`] finds out what a file holds, scales it, chooses an algorithm, trains, calibrates, and estimates the
//! error on new rows. It is what `rosenblatt train FILE` does, with the same defaults and the same bytes:
//!
//! ```no_run
//! use rosenblatt::data::Source;
//! use rosenblatt::{Model, Recipe};
//!
//! let trained = Recipe::default().train(&Source::file("pets.csv"), &mut ())?; // without a monitor
//! println!("expected error: {:?}", trained.estimate.map(|estimate| estimate.evaluation.error()));
//! trained.model.save("pets.model")?;
//! let model = Model::load("pets.model")?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What the command line takes as options stands in the recipe's fields:
//!
//! ```no_run
//! use rosenblatt::data::{LabelColumn, Missing, ReadOptions, Source};
//! use rosenblatt::{Error, Recipe};
//!
//! let reading =
//!     ReadOptions { label: LabelColumn::Named("species".to_owned()), missing: Missing::Mean, ..ReadOptions::default() };
//! match (Recipe { reading, ..Recipe::default() }).train(&Source::file("penguins.csv"), &mut ()) {
//!     Ok(trained) => trained.model.save("penguins.model")?,
//!     // What is wrong with a file, where, and what to do about it.
//!     Err(Error::Data(error)) => eprintln!("{}", error.report()),
//!     Err(error) => eprintln!("{error}"),
//! }
//! # Ok::<(), Error>(())
//! ```
//!
//! # From rows in memory to a model
//!
//! ```
//! use rosenblatt::builders::AveragedPerceptron;
//! use rosenblatt::{Dataset, evaluate};
//!
//! let rows = [[2.0, 0.1], [1.8, 0.3], [0.2, 2.1], [0.1, 1.7], [-2.0, -1.9], [-1.7, -2.2]];
//! let data = Dataset::from_rows(&rows, &["apple", "apple", "banana", "banana", "orange", "orange"]);
//! let model = AveragedPerceptron::new().epochs(10).fit(&data)?;
//! assert_eq!(model.predict(&[1.5, 0.2])?, "apple");
//! assert_eq!(evaluate(&model, &data)?.errors, 0);
//! # Ok::<(), rosenblatt::Error>(())
//! ```
//!
//! Every algorithm has such a builder in [`builders`]. They fill in [`Options`], which can also be written by name, in
//! code or as JSON, and are checked once by [`Spec`]:
//!
//! ```
//! use rosenblatt::{Options, Spec};
//! use rosenblatt::options::Validation;
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
//! # Features
//!
//! All are off unless you ask for them; certificates, kernels, networks, sequences, gzip and zstd are always there.
//!
//! | feature | what it adds |
//! |---|---|
//! | `arrow`, `parquet` | data sets from Arrow record batches and files; Parquet files |
//! | `images`, `jpeg` | folders of pictures; JPEG among them |
//! | `ndarray` | data sets from views of `ndarray` |
//! | `gpu` | kernels on NVIDIA cards, whose driver is found at run time |
//!
//! # Where to find what
//!
//! | to | use |
//! |---|---|
//! | go from files to a model and an honest estimate | [`Recipe`], [`recipe`] |
//! | see what there is to choose from | [`catalogue()`], [`algorithms`] |
//! | train on rows in memory | [`builders`], [`train()`], [`Training`] with a start, checkpoints and observers |
//! | train on more rows than memory holds | [`Training`] on a [`data::Cached`] |
//! | label the tokens of sentences | [`tagger`], [`Model::tagger`] |
//! | learn one row of numbers at a time | [`Online`], with [checkpoints](Online::checkpoint); its models have no probabilities |
//! | go on learning from a trained model, rows read as its files were | [`recipe::Ongoing`] |
//! | learn with a kernel, or after a feature map | [`KernelOptions`](options::KernelOptions), [`Mapping`](options::Mapping), [`kernel`] |
//! | read files to learn from | [`data::load`], values as they stand; [`data::load_with_schema`] and [`Training::schema`] for what a model must keep |
//! | read files for a model | [`Model::open`], [`Model::to_predict`], [`Model::to_evaluate`]: its columns, words and scale |
//! | predict a row of numbers | [`Model::predict`], [`Model::predict_proba`], [`Model::decision_function`], [`Model::predictor`] |
//! | predict rows of text cells, as a request has them | [`data::load_source`] of [`data::Source::bytes`] with [`Model::to_predict`], then [`Model::predict_all`], [`Model::predict_proba_all`], [`Model::explain_all`] |
//! | evaluate | [`evaluate()`], [`evaluate::cross_validate`], [`split`] |
//! | choose among algorithms | [`compare`], [`race`] |
//! | weigh classes and mistakes | [`ClassWeights`](options::ClassWeights), [`Costs`] |
//! | have probabilities | [`Model::calibrated`], [`calibration`] |
//! | explain | [`Model::explain`], [`insight::top_features`], [`explain`], [`misclassified`], [`vote_count`] |
//! | know whether a hyperplane separates the data | [`certify`], [`separation`] |
//! | save, load, export | [`Model::save`], [`Model::load`], [`model`], [`export()`] |
//! | go on from a model, or make one of several | [`train::Start`], [`mix`] |
//! | follow a long run, and stop it | [`Monitor`], [`monitor`] |
//! | compute kernels on a graphics card | [`device`] |
//! | see every round of a run | [`trace`]; go through it and back, [`trace::Walk`] |
//! | see one step of a network by hand | [`back_propagation`], [`layers`] |
//! | run an experiment of the literature again | [`reproduce`] |
//! | draw what was learned | [`mod@slice`], [`curves`], [`roc`], and the crate `rosenblatt-figures` |
//! | watch a run, write a rule | [`learning`] |

// The order of the flow, in which no folder uses a later one: describe, keep, learn, judge, understand, choose, exchange.
mod choose;
mod describe;
mod exchange;
mod judge;
mod keep;
mod learn;
mod understand;

pub use choose::{compare, race, recipe};
pub use describe::{algorithms, defaults, device, monitor, options, rows, settings, split};
use describe::{costs, error, estimate, fingerprint, spec, start, statistics, targets, task};
pub use exchange::{catalogue, export};
use judge::confusion;
pub use judge::{by_group, evaluate, roc, separation};
pub use keep::{calibration, importance, model};
use keep::{mapped, ranking};
pub use learn::{builders, mix, tagger, train};
use learn::{learner, online};
pub use understand::{
    back_propagation, blackboard, curves, explain, insight, misclassified, monotone, reproduce, slice,
    summary, trace, vote_count,
};

pub use catalogue::catalogue;
pub use costs::Costs;
pub use error::Error;
pub use evaluate::{Evaluation, evaluate};
pub use export::export;
pub use model::{Model, Predictor};
pub use monitor::Monitor;
pub use online::Online;
pub use options::Options;
pub use recipe::{Recipe, Trained};
pub use rosenblatt_certify as certify;
pub use rosenblatt_core as learning;
pub use rosenblatt_data as data;
pub use rosenblatt_data::{Dataset, Labels};
pub use rosenblatt_kernel as kernel;
pub use rosenblatt_layers as layers;
pub use rosenblatt_sequence as sequence;
pub use spec::Spec;
pub use task::Task;
pub use train::{Training, train};

/// The README's and the contributor's guide's code, compiled and run.
#[cfg(doctest)]
mod guides {
    #[doc = include_str!("../../../CONTRIBUTING.md")]
    struct Contributing;
    #[doc = include_str!("../../../README.md")]
    struct Readme;
}
