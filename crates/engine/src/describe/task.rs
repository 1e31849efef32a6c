//! What models are asked for.

use serde::Serialize;
use std::fmt;

/// What a model is asked for. A model that predicts numbers would be a third.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Task {
    /// The class of a row.
    Classes,
    /// The tags of the tokens of a sentence.
    Tags,
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Classes => "classifies rows of a table",
            Self::Tags => "labels the tokens of sentences",
        })
    }
}
