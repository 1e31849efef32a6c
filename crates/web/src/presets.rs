//! Rows to begin with: those of the lecture, those that are drawn, and real ones.

use rosenblatt::blackboard::{self, Shape, draw};
use rosenblatt_data::bundled;

/// A table by name; `n_rows`, `noise` and `seed` are for those that are drawn.
pub(crate) fn preset(name: &str, n_rows: usize, noise: f64, seed: u64) -> Option<String> {
    Some(match name {
        "lecture" => blackboard::LECTURE.to_owned(),
        "and" => blackboard::AND.to_owned(),
        "xor" => blackboard::XOR.to_owned(),
        "margin" => blackboard::MARGIN.to_owned(),
        "voted" => blackboard::VOTED.to_owned(),
        "iris" => bundled::IRIS.to_owned(),
        "penguins" => bundled::PENGUINS.to_owned(),
        drawn => draw(drawn.strip_prefix("drawn-")?.parse::<Shape>().ok()?, n_rows, noise, seed),
    })
}
