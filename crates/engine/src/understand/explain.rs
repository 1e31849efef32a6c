//! Why a row was given its class: the features that contributed to its score, and those that counted against it.
//!
//! A score is a sum over features, so each feature's contribution is exact; nothing is sampled or fitted. A
//! vote has no such sum: there, the contributions are those of the mean of the survivors, each counting as long as
//! it lived, which is the average that the same run would have been read out as. A network is explained row by row: what
//! it says of the row beyond what it says of a row of zeros is shared out over the features, exactly.

use crate::insight::{feature_name, weights_for};
use crate::model::Model;
use rosenblatt_core::Row;
use serde::Serialize;

/// What one feature of a row adds to the score of a class.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contribution {
    /// The feature, from 0; see [`crate::insight::feature_name`].
    pub feature: usize,
    /// Its value in the row, as the model sees it.
    pub value: f64,
    /// Its weight in favour of the class.
    pub weight: f64,
}

impl Contribution {
    /// Weight times value: how much it adds to the score of the class.
    pub fn amount(&self) -> f64 {
        self.weight * self.value
    }
}

/// The largest contributions of a row's features, the largest first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Explanation {
    /// Those in favour of the class.
    pub in_favour: Vec<Contribution>,
    /// Those against it.
    pub against: Vec<Contribution>,
}

impl Explanation {
    /// The same with the names of the features, to be written down.
    pub fn named(&self, model: &Model) -> NamedExplanation {
        let named = |contributions: &[Contribution]| {
            contributions.iter().map(|contribution| contribution.named(model)).collect()
        };
        NamedExplanation { in_favour: named(&self.in_favour), against: named(&self.against) }
    }
}

impl Contribution {
    fn named(&self, model: &Model) -> NamedContribution {
        let &Self { feature, value, weight } = self;
        NamedContribution {
            feature: feature_name(model, feature),
            value,
            weight,
            contribution: self.amount(),
        }
    }
}

/// An [`Explanation`] with the names of features.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NamedExplanation {
    /// Those in favour of the class.
    #[serde(rename = "for")]
    pub in_favour: Vec<NamedContribution>,
    /// Those against it.
    #[serde(rename = "against")]
    pub against: Vec<NamedContribution>,
}

/// An [`Contribution`] with the name of its feature.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NamedContribution {
    /// What the feature is called.
    pub feature: String,
    /// Its value in the row, as the model sees it.
    pub value: f64,
    /// Its weight in favour of the class.
    pub weight: f64,
    /// Weight times value: how much it adds to the score of the class.
    pub contribution: f64,
}

/// Explains the predictions of a model.
///
/// ```
/// use rosenblatt::core::Dense;
/// use rosenblatt::{Dataset, Spec, train};
/// use rosenblatt::explain::Explainer;
///
/// let data = Dataset::from_rows(&[[1.0, 0.0], [0.0, 1.0]], &["spam", "ham"]);
/// let model = train(&Spec::default(), &data)?;
/// let mut explainer = Explainer::new(&model);
/// let explanation = explainer.explain(Dense(&[2.0, 1.0]), 1, 3);
/// assert_eq!(explanation.in_favour[0].feature, 0);
/// assert_eq!(explanation.against[0].feature, 1);
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
        let of_row;
        let weights: &dyn Fn(usize, usize) -> Option<f64> = if let Some(network) = model.network() {
            let entries: Vec<(usize, f64)> = row.entries().collect();
            // One output is for the second of two classes.
            let (output, side) = match (network.n_outputs(), class) {
                (1, 0) => (0, -1.0),
                (1, _) => (0, 1.0),
                _ => (class as usize, 1.0),
            };
            let (_, growth) = network.growth(&entries, output);
            of_row = move |place: usize, _: usize| growth.get(place).map(|weight| side * weight);
            &of_row
        } else {
            let weights = self.by_class[class as usize]
                .get_or_insert_with(|| weights_for(model, class).unwrap_or_default());
            &|_: usize, feature: usize| weights.get(feature).copied()
        };
        let mut explanation = Explanation::default();
        for (place, (feature, value)) in row.entries().enumerate() {
            let contribution =
                Contribution { feature, value, weight: weights(place, feature).unwrap_or(0.0) };
            match contribution.amount() {
                amount if amount > 0.0 => explanation.in_favour.push(contribution),
                amount if amount < 0.0 => explanation.against.push(contribution),
                _ => {}
            }
        }
        for side in [&mut explanation.in_favour, &mut explanation.against] {
            // Equally large ones stay in the order of the features.
            side.sort_by(|a, b| b.amount().abs().total_cmp(&a.amount().abs()));
            side.truncate(most);
        }
        explanation
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Classes;
    use crate::{Dataset, Options, Spec, train};
    use rosenblatt_core::{Dense, Readout};

    #[test]
    fn shares_and_bias_add_up_to_the_score() {
        let rows = [[2.0, 0.1, 1.0], [1.8, 0.3, -1.0], [0.2, 2.1, 0.5], [0.1, 1.7, 1.5]];
        let data = Dataset::from_rows(&rows, &["a", "a", "b", "b"]);
        let model = train(&Spec::default(), &data).unwrap();
        let mut predictor = model.predictor(0);
        for row in &rows {
            let class = predictor.predict(Dense(row));
            let Explanation { in_favour, against } = Explainer::new(&model).explain(Dense(row), class, 9);
            let sum: f64 = in_favour.iter().chain(&against).map(Contribution::amount).sum();
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
                    assert_eq!(explanation.in_favour[0].feature, class, "{multiclass}");
                }
            }
        }
    }
}
