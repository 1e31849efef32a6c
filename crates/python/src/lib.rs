//! The engine behind the Python package `rosenblatt`.
//!
//! A face adds no logic: arrays are lent ([`rows`]), descriptions are the engine's JSON, results are bytes and JSON that
//! the package turns into arrays and dictionaries.

mod error;
mod learn;
mod model;
mod product;
mod rows;
mod work;

use pyo3::prelude::*;

/// The engine.
#[pymodule]
mod _rosenblatt {
    #[pymodule_export]
    use crate::learn::{Learner, fit, fit_by_recipe, learns_online};
    #[pymodule_export]
    use crate::model::PyModel;
    #[pymodule_export]
    use crate::product::{catalogue, compare, plot, trace, train};

    #[pymodule_init]
    fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        use pyo3::types::PyModuleMethods;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
