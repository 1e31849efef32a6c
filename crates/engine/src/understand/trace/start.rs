//! Where a traced run starts: at zero, or at weights that a textbook names.
//!
//! A run that goes on from the weights of a model starts elsewhere: see [`Training::start`](crate::Training::start).

use crate::error::{Error, refuse};
use crate::spec::{Options, Spec};
use rosenblatt_core::{Bias, Hyperplanes, NameError, Setting, settings};
use rosenblatt_data::Dataset;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

settings! {
    /// Where a traced run starts.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
    pub struct Beginning: Learning {
        /// Start weights of the one hyperplane: a number for each feature, and the bias if there is one number more.
        start: Option<StartWeights> = None
            => Setting::text().flag("start").value("W,...").checked::<StartWeights>().of_classes().unset("0 for all");
    }
}

/// Weights, one for each feature, then perhaps the bias.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct StartWeights(Vec<f64>);

impl fmt::Display for StartWeights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.0.iter().map(f64::to_string).collect();
        f.write_str(&numbers.join(","))
    }
}

impl FromStr for StartWeights {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let number = |word: &str| word.trim().parse().ok().filter(|number: &f64| number.is_finite());
        let numbers: Option<Vec<f64>> = text.split(',').map(number).collect();
        let known = "numbers, one for each feature and perhaps one more for the bias, as in 1,0 or 1,0,-0.5";
        numbers.map(Self).ok_or_else(|| NameError { what: "start", given: text.to_owned(), known })
    }
}

impl From<StartWeights> for String {
    fn from(start: StartWeights) -> Self {
        start.to_string()
    }
}

impl TryFrom<String> for StartWeights {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        text.parse()
    }
}

impl Beginning {
    /// Whether all weights are zero.
    pub fn is_zero(&self) -> bool {
        self.start.as_ref().is_none_or(|StartWeights(numbers)| numbers.iter().all(|number| *number == 0.0))
    }

    /// Checks `options` as [`Spec::new`] does, for a run that starts here: a convention by which zero weights never
    /// learn is fine for others.
    pub fn spec(&self, options: Options) -> Result<Spec, Error> {
        Spec::starting_from(options, self.is_zero())
    }

    /// The hyperplane, for a run of `spec` over these rows; none where it is left to the run.
    pub(super) fn plane(&self, spec: &Spec, data: &Dataset) -> Result<Option<Hyperplanes>, Error> {
        let Some(start) = &self.start else { return Ok(None) };
        super::check(spec)?;
        if data.labels().len() > 2 {
            let expected = "left out for more than two classes, which have a hyperplane each";
            return refuse("start", expected, start);
        }
        if spec.entry().info.per_row {
            let expected = "left out for a rule that solves for its weights from a number for each row";
            return refuse("start", expected, start);
        }
        let mut weights = start.0.clone();
        let bias = if weights.len() == data.width() + 1 { weights.pop() } else { None };
        if weights.len() != data.width() {
            let found = format!("{} numbers for {} features", start.0.len(), data.width());
            return refuse("start", "one number for each feature, and perhaps one more for the bias", found);
        }
        if spec.bias() == Bias::None && bias.is_some_and(|bias| bias != 0.0) {
            let expected = "one number for each feature where `bias = none`";
            return refuse("start", expected, start);
        }
        Ok(Some(Hyperplanes::from_parts(weights, vec![bias.unwrap_or(0.0)])))
    }
}
