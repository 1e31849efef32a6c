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
    /// Its value in the row, as the model sees it. Of a column that bends, the value in the row, as far as its knots tell:
    /// what lies beyond them is at the last; `NaN` if it is missing.
    pub value: f64,
    /// Its weight in favour of the class; of a column that bends, the height of its curve.
    pub weight: f64,
    /// Whether it is a column that bends, called by its first feature.
    pub bends: bool,
}

impl Contribution {
    /// How much it adds to the score of the class: weight times value, or the height of a curve.
    pub fn amount(&self) -> f64 {
        if self.bends { self.weight } else { self.weight * self.value }
    }

    /// What it is called: the feature, or the column that bends.
    pub fn name(&self, model: &Model) -> String {
        let column =
            model.schema().filter(|_| self.bends).and_then(|schema| schema.bent_column(self.feature));
        column.map_or_else(|| feature_name(model, self.feature), |(name, _)| name)
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
        let &Self { value, weight, .. } = self;
        NamedContribution { feature: self.name(model), value, weight, contribution: self.amount() }
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
    /// How much it adds to the score of the class: weight times value, or the height of a curve.
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
        let weighed = row.entries().enumerate().map(|(place, (feature, value))| Contribution {
            feature,
            value,
            weight: weights(place, feature).unwrap_or(0.0),
            bends: false,
        });
        let weighed: Vec<Contribution> = weighed.collect();
        for contribution in by_column(model, weighed) {
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

/// What the parts of each column that bends contribute, as one; all else as it is.
fn by_column(model: &Model, weighed: Vec<Contribution>) -> Vec<Contribution> {
    let Some(bends) = model.schema().and_then(|schema| schema.bends.as_ref()) else { return weighed };
    let mut whole = Vec::with_capacity(weighed.len());
    let mut rest = &weighed[..];
    for bend in &bends.columns {
        let run = bends.place(bend.feature as usize);
        let (before, others) = rest.split_at(rest.partition_point(|part| part.feature < run.start));
        let (parts, after) = others.split_at(others.partition_point(|part| part.feature < run.end));
        whole.extend(before);
        rest = after;
        if !parts.is_empty() {
            let hats = parts.iter().map(|part| (part.feature - run.start, part.value));
            whole.push(Contribution {
                feature: run.start,
                value: bend.value_of(hats).unwrap_or(f64::NAN),
                weight: parts.iter().map(Contribution::amount).sum(),
                bends: true,
            });
        }
    }
    whole.extend(rest);
    whole
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
