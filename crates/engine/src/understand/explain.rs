//! Why a row was given its class: the features that contributed to its score, and those that counted against it.
//!
//! A score is a sum over features, so each feature's contribution is exact; nothing is sampled or fitted. A column of
//! categories, or one that bends, has no zero of its own: where the model knows the average row, the contribution of
//! such a column is what it adds beyond what it adds there, and [`Explainer::base`] has the rest. A
//! vote has no such sum: there, the contributions are those of the mean of the survivors, each counting as long as
//! it lived, which is the average that the same run would have been read out as. A network is explained row by row: what
//! it says of the row beyond what it says of a row of zeros is shared out over the features, exactly.

use crate::error::Error;
use crate::insight::{bias_for, feature_name, weights_for};
use crate::model::{Model, Sample};
use crate::task::Task;
use rosenblatt_core::{Dense, Examples, Row, Sparse};
use rosenblatt_data::{Dataset, visit};
use serde::Serialize;
use std::ops::Range;

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
    /// What its column adds to the score of the average row, if that is taken away.
    pub centre: f64,
}

impl Contribution {
    /// How much it adds to the score of the class: weight times value, or the height of a curve, less what its column adds
    /// to the average row.
    pub fn amount(&self) -> f64 {
        let whole = if self.bends { self.weight } else { self.weight * self.value };
        whole - self.centre
    }

    /// What it is called: the feature, the column that bends, or the category that it lacks if there are two.
    pub fn name(&self, model: &Model) -> String {
        if !self.bends
            && self.value == 0.0
            && let Some((column, other)) = model.schema().and_then(|schema| schema.first_of_two(self.feature))
        {
            return format!("{column}={other}");
        }
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
    /// The score for the class, or the number, of a row of which all contributions are 0: that of the average row where
    /// contributions are measured from it. None if the model has no weights.
    pub base: Option<f64>,
}

impl Explanation {
    /// The same with the names of the features, to be written down.
    pub fn named(&self, model: &Model) -> NamedExplanation {
        let named = |contributions: &[Contribution]| {
            contributions.iter().map(|contribution| contribution.named(model)).collect()
        };
        NamedExplanation { in_favour: named(&self.in_favour), against: named(&self.against), base: self.base }
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
    /// The score for the class, or the number, of a row of which all contributions are 0; with all contributions it adds up
    /// to that of the row. None if the model has no weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<f64>,
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
    /// How much it adds to the score of the class: weight times value, or the height of a curve; of a category or a curve, less
    /// what its column adds to the average row.
    pub contribution: f64,
}

impl Model {
    /// Why a row is given its class: at most `most` features that speak for it, and as many that speak against it. The row
    /// is one as [`Model::predict`] takes it.
    ///
    /// ```
    /// use rosenblatt::{Dataset, Spec, train};
    ///
    /// let data = Dataset::from_rows(&[[2.0, 0.0], [0.0, 2.0]], &["right", "up"]);
    /// let model = train(&Spec::default(), &data)?;
    /// let why = model.explain(&[3.0, 1.0], 1)?;
    /// assert_eq!((why.in_favour[0].feature.as_str(), why.in_favour[0].value), ("feature 1", 3.0));
    /// # Ok::<(), rosenblatt::Error>(())
    /// ```
    pub fn explain<'a>(&self, row: impl Into<Sample<'a>>, most: usize) -> Result<NamedExplanation, Error> {
        self.check_task(Task::Classes)?;
        let seen = self.as_seen(row.into())?;
        let class = self.predictor(0).predict_seen(&seen);
        let mut explainer = Explainer::new(self);
        let explanation = match &seen.features {
            None => explainer.explain(Dense(&seen.values), class, most),
            Some(features) => explainer.explain(Sparse::new(features, &seen.values), class, most),
        };
        Ok(explanation.named(self))
    }

    /// The same for every row of a data set that [`Model::open`] read, as [`Model::predict_all`] has their classes.
    pub fn explain_all(&self, data: &Dataset, most: usize) -> Result<Vec<NamedExplanation>, Error> {
        let classes = self.predict_all(data)?;
        let mut explainer = Explainer::new(self);
        Ok(visit!(data.view(), examples => {
            let rows = classes.into_iter().enumerate();
            rows.map(|(row, class)| explainer.explain(examples.row(row), class, most).named(self)).collect()
        }))
    }
}

/// Explains the predictions of a model. Rows are as the model sees them, of a [`Dataset`](crate::Dataset) that it learned from
/// or that [`Model::open`] read; [`Model::explain`] takes a row as a table has it.
///
/// ```
/// use rosenblatt::learning::Dense;
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
    /// The weights in favour of each class that was asked for, and what columns add to the average row.
    by_class: Vec<Option<Weighed>>,
}

/// What speaks for a class.
#[derive(Debug, Clone, Default)]
struct Weighed {
    weights: Vec<f64>,
    centres: Vec<(Range<usize>, f64)>,
}

impl Weighed {
    fn of(model: &Model, class: u32) -> Self {
        let weights = weights_for(model, class).unwrap_or_default();
        let centre = |run: Range<usize>| Some((run.clone(), model.mean_of(run, &weights)?));
        let centres = model.columns_without_zero().into_iter().filter_map(centre).collect();
        Self { weights, centres }
    }

    /// Contributions of a row, each beside that of the average row. A column that has none is missing from it, or is the first
    /// of two categories, which has no feature.
    fn centred(&self, mut row: Vec<Contribution>) -> Vec<Contribution> {
        for (run, centre) in &self.centres {
            // A dense row has the zeros of all other categories as well.
            let is_own =
                |one: &&mut Contribution| run.contains(&one.feature) && (one.bends || one.value != 0.0);
            if let Some(own) = row.iter_mut().find(is_own) {
                own.centre = *centre;
            } else {
                row.retain(|one| one.feature != run.start);
                let (feature, weight) = (run.start, self.weights.get(run.start).copied().unwrap_or(0.0));
                row.push(Contribution { feature, value: 0.0, weight, bends: false, centre: *centre });
            }
        }
        row.sort_by_key(|one| one.feature);
        row
    }
}

impl<'m> Explainer<'m> {
    /// An explainer of `model`.
    pub fn new(model: &'m Model) -> Self {
        Self { model, by_class: vec![None; model.labels().len()] }
    }

    /// The score for `class`, or the number, of a row of which all contributions are 0: that of the average row where
    /// contributions are measured from it. `None` if the model has no weights.
    pub fn base(&mut self, class: u32) -> Option<f64> {
        let bias = self.model.planes().and_then(|_| bias_for(self.model, class))?;
        let weighed = self.by_class[class as usize].get_or_insert_with(|| Weighed::of(self.model, class));
        Some(bias + weighed.centres.iter().map(|(_, centre)| centre).sum::<f64>())
    }

    /// At most `most` features of `row` that speak for `class`, and as many that speak against it.
    pub fn explain<R: Row>(&mut self, row: R, class: u32, most: usize) -> Explanation {
        let (model, base) = (self.model, self.base(class));
        let of_row;
        let weighed: &Weighed;
        let nothing = Weighed::default();
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
            weighed = &nothing;
            &of_row
        } else {
            weighed = self.by_class[class as usize].get_or_insert_with(|| Weighed::of(model, class));
            &|_: usize, feature: usize| weighed.weights.get(feature).copied()
        };
        let mut explanation = Explanation { base, ..Explanation::default() };
        let of_features = row.entries().enumerate().map(|(place, (feature, value))| Contribution {
            feature,
            value,
            weight: weights(place, feature).unwrap_or(0.0),
            bends: false,
            centre: 0.0,
        });
        let of_features: Vec<Contribution> = of_features.collect();
        for contribution in weighed.centred(by_column(model, of_features)) {
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
                centre: 0.0,
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
    use rosenblatt_core::Readout;

    #[test]
    fn shares_and_bias_add_up_to_the_score() {
        let rows = [[2.0, 0.1, 1.0], [1.8, 0.3, -1.0], [0.2, 2.1, 0.5], [0.1, 1.7, 1.5]];
        let data = Dataset::from_rows(&rows, &["a", "a", "b", "b"]);
        let model = train(&Spec::default(), &data).unwrap();
        let mut predictor = model.predictor(0);
        for row in &rows {
            let class = predictor.predict(Dense(row));
            let Explanation { in_favour, against, .. } = Explainer::new(&model).explain(Dense(row), class, 9);
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
