//! Why a row was given its class: the features that spoke for it, and those that spoke against it.
//!
//! A score is a sum over features, so each feature's share of it is exact; nothing is sampled or fitted. A
//! vote has no such sum: there, the shares are those of the mean of the survivors, each counting as long as
//! it lived, which is the average that the same run would have been read out as.

use crate::insight::{feature_name, weights_for};
use crate::model::Model;
use rosenblatt_core::Row;
use serde::Serialize;

/// What one feature of a row said.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Argument {
    /// The feature, from 0; see [`crate::feature_name`].
    pub feature: usize,
    /// Its value in the row, as the model sees it.
    pub value: f64,
    /// Its weight in favour of the class.
    pub weight: f64,
}

impl Argument {
    /// How much it adds to the score of the class.
    pub fn share(&self) -> f64 {
        self.weight * self.value
    }
}

/// The loudest features of a row, loudest first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Explanation {
    /// Those that spoke for the class.
    pub speak_for: Vec<Argument>,
    /// Those that spoke against it.
    pub speak_against: Vec<Argument>,
}

impl Explanation {
    /// The same with the names of the features, to be written down.
    pub fn named(&self, model: &Model) -> NamedExplanation {
        let named = |arguments: &[Argument]| arguments.iter().map(|argument| argument.named(model)).collect();
        NamedExplanation { speak_for: named(&self.speak_for), speak_against: named(&self.speak_against) }
    }
}

impl Argument {
    fn named(&self, model: &Model) -> NamedArgument {
        let &Self { feature, value, weight } = self;
        NamedArgument { feature: feature_name(model, feature), value, weight, share: self.share() }
    }
}

/// An [`Explanation`] with the names of features.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NamedExplanation {
    /// Those that spoke for the class.
    #[serde(rename = "for")]
    pub speak_for: Vec<NamedArgument>,
    /// Those that spoke against it.
    #[serde(rename = "against")]
    pub speak_against: Vec<NamedArgument>,
}

/// An [`Argument`] with the name of its feature.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NamedArgument {
    /// What the feature is called.
    pub feature: String,
    /// Its value in the row, as the model sees it.
    pub value: f64,
    /// Its weight in favour of the class.
    pub weight: f64,
    /// How much it adds to the score of the class.
    pub share: f64,
}

/// Explains the predictions of a model.
///
/// ```
/// use rosenblatt::core::Dense;
/// use rosenblatt::{Dataset, Explainer, Spec, train};
///
/// let data = Dataset::from_rows(&[[1.0, 0.0], [0.0, 1.0]], &["spam", "ham"]);
/// let model = train(&Spec::default(), &data)?;
/// let mut explainer = Explainer::new(&model);
/// let explanation = explainer.explain(Dense(&[2.0, 1.0]), 1, 3);
/// assert_eq!(explanation.speak_for[0].feature, 0);
/// assert_eq!(explanation.speak_against[0].feature, 1);
/// # Ok::<(), rosenblatt::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Explainer<'m> {
    model: &'m Model,
    /// The weights in favour of each class that was asked for.
    by_class: Vec<Option<Vec<f64>>>,
}

impl<'m> Explainer<'m> {
    /// An explainer of `model`.
    pub fn new(model: &'m Model) -> Self {
        Self { model, by_class: vec![None; model.labels().len()] }
    }

    /// At most `most` features of `row` that speak for `class`, and as many that speak against it.
    pub fn explain<R: Row>(&mut self, row: R, class: u32, most: usize) -> Explanation {
        let model = self.model;
        let weights = self.by_class[class as usize]
            .get_or_insert_with(|| weights_for(model, class).unwrap_or_default());
        let mut explanation = Explanation::default();
        for (feature, value) in row.entries() {
            let argument = Argument { feature, value, weight: weights.get(feature).copied().unwrap_or(0.0) };
            match argument.share() {
                share if share > 0.0 => explanation.speak_for.push(argument),
                share if share < 0.0 => explanation.speak_against.push(argument),
                _ => {}
            }
        }
        for side in [&mut explanation.speak_for, &mut explanation.speak_against] {
            // Equally loud ones stay in the order of the features.
            side.sort_by(|a, b| b.share().abs().total_cmp(&a.share().abs()));
            side.truncate(most);
        }
        explanation
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Classes, Dataset, Options, Spec, train};
    use rosenblatt_core::{Dense, Readout};

    #[test]
    fn shares_and_bias_add_up_to_the_score() {
        let rows = [[2.0, 0.1, 1.0], [1.8, 0.3, -1.0], [0.2, 2.1, 0.5], [0.1, 1.7, 1.5]];
        let data = Dataset::from_rows(&rows, &["a", "a", "b", "b"]);
        let model = train(&Spec::default(), &data).unwrap();
        let mut predictor = model.predictor(0);
        for row in &rows {
            let class = predictor.predict(Dense(row));
            let Explanation { speak_for, speak_against } =
                Explainer::new(&model).explain(Dense(row), class, 9);
            let sum: f64 = speak_for.iter().chain(&speak_against).map(Argument::share).sum();
            let side = if class == 1 { 1.0 } else { -1.0 };
            let bias = model.planes().unwrap().biases()[0];
            assert!((sum + side * bias - side * predictor.scores()[0]).abs() < 1e-12);
        }
    }

    #[test]
    fn every_way_to_tell_classes_apart_is_explained_and_votes_too() {
        let rows = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let data = Dataset::from_rows(&rows, &["a", "b", "c"]);
        for multiclass in [Classes::OneVsRest, Classes::OneVsOne, "direct-max".parse().unwrap()] {
            for readout in [None, Some(Readout::Voted)] {
                let spec = Spec::new(Options { readout, multiclass, ..Options::default() }).unwrap();
                let model = train(&spec, &data).unwrap();
                let mut explainer = Explainer::new(&model);
                for (class, row) in rows.iter().enumerate() {
                    let explanation = explainer.explain(Dense(row), class as u32, 1);
                    assert_eq!(explanation.speak_for[0].feature, class, "{multiclass}");
                }
            }
        }
    }
}
