//! The engine of the Python package `rosenblatt`.
//!
//! A face adds no logic: arrays are lent ([`rows`]), descriptions are the engine's JSON, results are bytes and JSON that
//! the package turns into arrays and dictionaries.

mod arrow;
mod error;
mod learn;
mod mixing;
mod model;
mod product;
mod proof;
mod rows;
mod sentences;
mod tagger;
mod work;

use pyo3::prelude::*;

/// The engine.
#[pymodule]
mod _rosenblatt {
    #[pymodule_export]
    use crate::learn::{Learner, fit, fit_by_recipe, learns_online, picks_worst};
    #[pymodule_export]
    use crate::mixing::{
        Packer, PyMixture, PyPacking, add_shares, count_errors, mix_models, pack_rows, read_rows,
        shard_epoch, validation_scores, with_probabilities,
    };
    #[pymodule_export]
    use crate::model::PyModel;
    #[pymodule_export]
    use crate::product::{Drawing, catalogue, compare, first_wrong, plot, trace, train};
    #[pymodule_export]
    use crate::proof::{certify, check_certificate, plot_certificate};
    #[pymodule_export]
    use crate::tagger::{are_sentences, feature_sets, fit_tagger};

    #[pymodule_init]
    fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        use pyo3::types::PyModuleMethods;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
