//! What models are asked for.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What a model predicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Task {
    /// The class of a row.
    Classes,
    /// The tags of the tokens of a sentence.
    Tags,
    /// A number of a row.
    Numbers,
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Classes => "classifies rows of a table",
            Self::Tags => "labels the tokens of sentences",
            Self::Numbers => "predicts numbers",
        })
    }
}

/// What is learned of the label of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TaskChoice {
    /// What the label looks like decides.
    #[default]
    Auto,
    /// Its values are classes.
    Classification,
    /// Its values are numbers.
    Regression,
}

rosenblatt_core::named!(TaskChoice, "task",
    "auto" = Self::Auto, "regression, if the label is a quantity: many different numbers, not codes; else classification";
    "classification" or "classify" = Self::Classification, "every value of the label is a class";
    "regression" or "regress" = Self::Regression, "the label is a number to predict";
);
