//! How good a model is on rows whose classes are known.

use crate::calibration::class_scores;
use crate::error::Error;
use crate::fingerprint::fingerprint;
use crate::insight::interval;
use crate::model::{Model, Predictor};
use crate::roc::curve;
use crate::spec::Spec;
use crate::train::Training;
use rosenblatt_core::Examples;
use rosenblatt_core::memory::Kept;
use rosenblatt_data::{Dataset, Labels, Visitor};
use serde::{Serialize, Serializer};

/// What a model got right and wrong.
///
/// Serialised, it has what is computed from these, too: the error with its interval, and precision, recall and F1 of
/// every class.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// Rows looked at.
    pub rows: u64,
    /// Rows that were given the wrong class.
    pub errors: u64,
    /// The classes, those of the model first, then those only the data has.
    pub labels: Labels,
    /// `confusion[true][predicted]`: how many rows.
    pub confusion: Vec<Vec<u64>>,
    /// Area under the ROC curve of each class against the rest; `None` where a side is empty or the
    /// model has no score of its own for the class.
    pub auc: Vec<Option<f64>>,
    /// How good the model's probabilities are, if it has any.
    pub sharpness: Option<Sharpness>,
}

/// How good probabilities are: both are 0 if every row's class was certain, and smaller is better.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sharpness {
    /// The mean squared difference from the truth: of the second class's probability for two classes, of
    /// all classes' probabilities together for more.
    pub brier: f64,
    /// The mean of `-ln` of the probability that the true class was given, which is taken as at least
    /// `f64::EPSILON`.
    pub log_loss: f64,
}

impl Evaluation {
    /// The share of rows that were given the right class.
    pub fn accuracy(&self) -> f64 {
        1.0 - self.error()
    }

    /// The share of rows that were given the wrong class.
    pub fn error(&self) -> f64 {
        if self.rows == 0 { 0.0 } else { self.errors as f64 / self.rows as f64 }
    }

    /// How many rows are of `class`.
    pub fn support(&self, class: usize) -> u64 {
        self.confusion[class].iter().sum()
    }

    /// Of the rows given `class`, the share that are of it; 0 if none was given it.
    pub fn precision(&self, class: usize) -> f64 {
        share(self.confusion[class][class], self.confusion.iter().map(|row| row[class]).sum())
    }

    /// Of the rows of `class`, the share that were given it; 0 if there are none.
    pub fn recall(&self, class: usize) -> f64 {
        share(self.confusion[class][class], self.support(class))
    }

    /// The harmonic mean of precision and recall; 0 if both are.
    pub fn f1(&self, class: usize) -> f64 {
        let (precision, recall) = (self.precision(class), self.recall(class));
        if precision + recall == 0.0 { 0.0 } else { 2.0 * precision * recall / (precision + recall) }
    }

    /// Several evaluations of the same classes as one: rows are counted together, the area is the mean.
    pub fn pooled<'a>(several: impl IntoIterator<Item = &'a Self>) -> Option<Self> {
        let several: Vec<&Self> = several.into_iter().collect();
        let mut whole = (*several.first()?).clone();
        for other in &several[1..] {
            whole.rows += other.rows;
            whole.errors += other.errors;
            for (row, counts) in whole.confusion.iter_mut().zip(&other.confusion) {
                row.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            }
        }
        for class in 0..whole.auc.len() {
            let areas: Vec<f64> = several.iter().filter_map(|part| part.auc[class]).collect();
            whole.auc[class] = (!areas.is_empty()).then(|| areas.iter().sum::<f64>() / areas.len() as f64);
        }
        whole.sharpness = None;
        Some(whole)
    }

    /// The mean of all classes' F1, each class counting once.
    pub fn macro_f1(&self) -> f64 {
        let present: Vec<usize> = (0..self.labels.len()).filter(|&class| self.support(class) > 0).collect();
        present.iter().map(|&class| self.f1(class)).sum::<f64>() / present.len().max(1) as f64
    }
}

impl Serialize for Evaluation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "kebab-case")]
        struct OfClass<'a> {
            class: &'a str,
            rows: u64,
            precision: f64,
            recall: f64,
            f1: f64,
            auc: Option<f64>,
        }
        #[derive(Serialize)]
        #[serde(rename_all = "kebab-case")]
        struct Whole<'a> {
            rows: u64,
            errors: u64,
            error: f64,
            interval: (f64, f64),
            confusion: &'a [Vec<u64>],
            classes: Vec<OfClass<'a>>,
            brier: Option<f64>,
            log_loss: Option<f64>,
        }
        let of_class = |(class, name)| OfClass {
            class: name,
            rows: self.support(class),
            precision: self.precision(class),
            recall: self.recall(class),
            f1: self.f1(class),
            auc: self.auc[class],
        };
        let names = self.labels.names().iter().map(String::as_str);
        let whole = Whole {
            rows: self.rows,
            errors: self.errors,
            error: self.error(),
            interval: interval(self.errors, self.rows),
            confusion: &self.confusion,
            classes: names.enumerate().map(of_class).collect(),
            brier: self.sharpness.map(|sharpness| sharpness.brier),
            log_loss: self.sharpness.map(|sharpness| sharpness.log_loss),
        };
        whole.serialize(serializer)
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Compares a model's predictions with the classes of `data`, which are matched by name.
pub fn evaluate(model: &Model, data: &Dataset) -> Evaluation {
    let rows: Vec<u32> = (0..data.len() as u32).collect();
    evaluate_rows(model, data, &rows)
}

/// [`evaluate`] on some rows only.
pub fn evaluate_rows(model: &Model, data: &Dataset, rows: &[u32]) -> Evaluation {
    let (labels, numbers) = matched(model, data);
    let n_known = model.labels().len();
    let mut confusion = vec![vec![0; labels.len()]; labels.len()];
    let (mut errors, mut brier, mut log_loss) = (0, 0.0, 0.0);
    let (mut of_row, mut shares) = (Vec::new(), Vec::new());
    // One list of (score, is of the class) per class that has a score of its own.
    let mut ranked: Vec<Vec<(f64, bool)>> = vec![Vec::new(); n_known];
    model.each_of(data.view(), rows, |row, predicted, scores| {
        let truth = numbers[data.classes()[row as usize] as usize] as usize;
        let predicted = predicted as usize;
        confusion[truth][predicted] += 1;
        errors += u64::from(truth != predicted);
        if let Some(calibration) = model.calibration() {
            class_scores(model, scores, &mut of_row);
            calibration.probabilities(&of_row, &mut shares);
            brier += squared_difference(&shares, truth);
            // A class the model does not know was given no chance.
            log_loss -= shares.get(truth).copied().unwrap_or(0.0).max(f64::EPSILON).ln();
        }
        match scores {
            [score] if n_known == 2 => ranked[1].push((*score, truth == 1)),
            scores if scores.len() == n_known && n_known > 2 => {
                for (class, score) in scores.iter().enumerate() {
                    ranked[class].push((*score, truth == class));
                }
            }
            _ => {}
        }
    });
    let mut auc: Vec<Option<f64>> =
        ranked.into_iter().map(|ranked| curve(0, ranked).map(|curve| curve.area)).collect();
    if n_known == 2 {
        auc[0] = auc[1];
    }
    auc.resize(labels.len(), None);
    let n_rows = rows.len() as f64;
    let sharpness = model.calibration().filter(|_| n_rows > 0.0);
    let sharpness = sharpness.map(|_| Sharpness { brier: brier / n_rows, log_loss: log_loss / n_rows });
    Evaluation { rows: rows.len() as u64, errors, labels, confusion, auc, sharpness }
}

/// The classes of a model, then those only the data has; and the number among them of each class of the data.
pub fn matched(model: &Model, data: &Dataset) -> (Labels, Vec<u32>) {
    let mut labels = model.labels().clone();
    let rest = everything_else(&labels);
    let numbers = data.labels().names().iter();
    let numbers = numbers
        .map(|name| match (labels.class(name), rest) {
            (None, Some(rest)) => rest,
            _ => labels.add(name),
        })
        .collect();
    (labels, numbers)
}

/// The class of all that is not the one class a model knows by name: `not bob` beside `bob`.
fn everything_else(labels: &Labels) -> Option<u32> {
    let [first, second] = labels.names() else { return None };
    (first.strip_prefix("not ") == Some(second)).then_some(0)
}

/// Brier's score of one row.
fn squared_difference(shares: &[f64], truth: usize) -> f64 {
    let difference = |class: usize| (shares[class] - f64::from(u8::from(class == truth))).powi(2);
    match shares.len() {
        2 if truth < 2 => difference(1),
        n_classes => (0..n_classes).map(difference).sum::<f64>() + f64::from(u8::from(truth >= n_classes)),
    }
}

/// How many of `rows` are given the wrong class by `kept`, read out of a run of `spec` on `data`.
pub(crate) fn count_wrong(spec: &Spec, kept: &Kept, data: &Dataset, rows: &[u32]) -> u64 {
    struct Count<'a>(Predictor<'a>, &'a [u32]);
    impl Visitor for Count<'_> {
        type Output = u64;
        fn visit<E: Examples>(mut self, examples: E) -> u64 {
            let mut n_wrong = 0;
            let count = |row, class, _: &[f64]| n_wrong += u64::from(class != examples.class(row as usize));
            self.0.each(examples, self.1, count);
            n_wrong
        }
    }
    data.visit(Count(Predictor::of(spec, kept, data.labels().len(), data.width()), rows))
}

/// One part of a cross-validation: trained on all other parts, judged on this one.
#[derive(Debug, Clone)]
pub struct Fold {
    /// The model that never saw this part.
    pub model: Model,
    /// How good it is on this part.
    pub evaluation: Evaluation,
}

/// Trains `n_folds` models, each on all folds but one, and judges each on the fold it did not see.
pub fn cross_validate(spec: &Spec, data: &Dataset, n_folds: usize, seed: u64) -> Result<Vec<Fold>, Error> {
    if n_folds < 2 || n_folds > data.len() {
        return Err(Error::Range {
            name: "folds",
            expected: "at least 2 and at most the number of rows",
            found: n_folds.to_string(),
        });
    }
    let folds = crate::split::folds(data, n_folds, seed);
    let known = fingerprint(data);
    let judge = |held: &Vec<u32>| {
        let mut rows: Vec<u32> = folds.iter().filter(|fold| *fold != held).flatten().copied().collect();
        rows.sort_unstable();
        let model = Training::new(spec, data).rows(&rows).fingerprint(&known).run(&mut ())?;
        let evaluation = evaluate_rows(&model, data, held);
        Ok(Fold { model, evaluation })
    };
    folds.iter().map(judge).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_of_one_against_the_rest_is_judged_on_all_classes() {
        let data = Dataset::from_rows(&[[1.0], [-1.0], [-2.0]], &["bob", "ann", "eve"]);
        let bob = data.clone().one_against_rest("bob").unwrap();
        let model = crate::train(&Spec::default(), &bob).unwrap();
        let evaluation = evaluate(&model, &data);
        assert_eq!((evaluation.errors, evaluation.labels.len()), (0, 2));
        assert_eq!(evaluation.support(0), 2);
    }
}
