//! placeholder
mod algorithms;
mod error;
mod evaluate;
mod insight;
mod learner;
mod model;
mod online;
mod spec;
mod split;
mod train;

pub use algorithms::{ALGORITHMS, Entry, find};
pub use error::Error;
pub use evaluate::{Evaluation, Fold, cross_validate, evaluate, evaluate_rows, predict};
pub use insight::{Voice, feature_name, interval, mistake_bound, strongest};
pub use model::{FormatError, Model, Predictor, StoreError, Story, Validated, check_writable, write_whole};
pub use online::Online;
pub use rosenblatt_core as core;
pub use rosenblatt_data as data;
pub use rosenblatt_data::{Dataset, Labels};
pub use spec::{ClassWeights, Classes, Options, Spec, Validation};
pub use split::{folds, split};
pub use train::{Training, train};
