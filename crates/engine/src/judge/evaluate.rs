//! How good a model is on rows whose classes are known.

use crate::calibration::{Calibration, Losses, Method, n_curves};
use crate::error::Error;
use crate::keep::held_out;
use crate::model::{Model, class_scores, each_prediction};
use crate::monitor::{Monitor, OrStop, Stage};
use crate::ranking::curve;
use crate::rows::RowSource;
use crate::spec::Spec;
use crate::split::{Part, Ties, parts_of_folds};
use crate::statistics::{Z, interval_of_folds, rows_of_folds};
use crate::task::Task;
use crate::train::Training;
use rosenblatt_data::{Dataset, Labels};
use serde::{Serialize, Serializer};

pub use crate::calibration::ProbabilityScores;
pub use crate::confusion::ConfusionMatrix;

/// What a model got right and wrong.
///
/// Serialised, it has what is computed from these, too: the error with its interval, and precision, recall and F1 of
/// every class.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Evaluation {
    /// Rows looked at.
    pub rows: u64,
    /// Rows that were given the wrong class.
    pub errors: u64,
    /// The classes, those of the model first, then those only the data has.
    pub labels: Labels,
    /// How many rows of each class were given each class.
    pub confusion: ConfusionMatrix,
    /// Area under the ROC curve of each class against the rest; `None` where a side is empty or the
    /// model has no score of its own for the class.
    pub auc: Vec<Option<f64>>,
    /// How good the model's probabilities are, if it has any.
    pub probability_scores: Option<ProbabilityScores>,
    /// How many models judged the rows, each a fold of its own; 1 if one judged all.
    pub folds: usize,
}

/// What mistakes cost, a row.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct MeanCost {
    /// The mean over the rows.
    pub mean: f64,
    /// Between which costs the true one lies, with 95 % confidence.
    pub interval: (f64, f64),
    /// The class that it costs least to predict of every row, and what that costs.
    pub always: (u32, f64),
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

    /// Between which error rates the true one lies, with 95 % confidence.
    pub fn interval(&self) -> (f64, f64) {
        interval_of_folds(self.errors, self.rows, self.folds)
    }

    /// The area under the ROC curve of two classes, and between which areas the true one lies, with 95 % confidence, as
    /// Hanley derived it in 1982. None if there are more classes, or none of one.
    pub fn area(&self) -> Option<(f64, (f64, f64))> {
        let [_, Some(area)] = self.auc[..] else { return None };
        let share = rows_of_folds(self.rows, self.folds) / self.rows as f64;
        let [ours, theirs] = [1, 0].map(|class| share * self.support(class) as f64);
        let (both_ours, both_theirs) = (area / (2.0 - area), 2.0 * area * area / (1.0 + area));
        let squared = area * area;
        let variance = area * (1.0 - area)
            + (ours - 1.0).max(0.0) * (both_ours - squared)
            + (theirs - 1.0).max(0.0) * (both_theirs - squared);
        let reach = Z * (variance / (ours * theirs)).max(0.0).sqrt();
        Some((area, ((area - reach).max(0.0), (area + reach).min(1.0))))
    }

    /// What mistakes cost where `model` weighs them.
    pub fn cost(&self, model: &Model) -> Option<MeanCost> {
        let costs = model.costs().filter(|_| self.rows > 0)?;
        let n_known = model.labels().len();
        // Of a class that the model does not know, every answer is a mistake that costs as much as any.
        let of = |truth: usize, named: usize| match truth {
            _ if truth == named => 0.0,
            _ if truth < n_known && named < n_known => costs.of(truth as u32, named as u32),
            _ => 1.0,
        };
        let mean = |of_row: &dyn Fn(usize, usize) -> f64| {
            let rows = self.confusion.rows().enumerate();
            let cells = rows.flat_map(|(truth, counts)| {
                counts.into_iter().enumerate().map(move |(named, count)| (truth, named, count as f64))
            });
            cells.map(|(truth, named, count)| count * of_row(truth, named)).sum::<f64>() / self.rows as f64
        };
        let found = mean(&of);
        let variance = mean(&|truth, named| (of(truth, named) - found).powi(2));
        let spread = Z * (variance / rows_of_folds(self.rows, self.folds)).sqrt();
        let of_one = |class: usize| (class as u32, mean(&|truth, _| of(truth, class)));
        let always = (0..n_known).map(of_one).reduce(|best, one| if one.1 < best.1 { one } else { best })?;
        Some(MeanCost { mean: found, interval: ((found - spread).max(0.0), found + spread), always })
    }

    /// How many rows are of `class`.
    pub fn support(&self, class: usize) -> u64 {
        self.confusion.of(class)
    }

    /// Of the rows given `class`, the share that are of it; 0 if none was given it.
    pub fn precision(&self, class: usize) -> f64 {
        share(self.confusion.count(class, class), self.confusion.given(class))
    }

    /// Recall: the share of the rows of `class` that are predicted as it; 0 if there are none.
    pub fn recall(&self, class: usize) -> f64 {
        share(self.confusion.count(class, class), self.support(class))
    }

    /// The harmonic mean of precision and recall; 0 if both are.
    pub fn f1(&self, class: usize) -> f64 {
        f1(self.confusion.count(class, class), self.support(class), self.confusion.given(class))
    }

    /// Several evaluations of the same classes as one: rows are counted together, what probabilities lose is the mean over
    /// rows, and the area that over parts.
    pub fn pooled<'a>(several: impl IntoIterator<Item = &'a Self>) -> Option<Self> {
        let several: Vec<&Self> = several.into_iter().collect();
        let mut whole = (*several.first()?).clone();
        whole.folds = several.len();
        for other in &several[1..] {
            whole.rows += other.rows;
            whole.errors += other.errors;
            whole.confusion.merge(&other.confusion);
        }
        for class in 0..whole.auc.len() {
            let areas: Vec<f64> = several.iter().filter_map(|part| part.auc[class]).collect();
            whole.auc[class] = (!areas.is_empty()).then(|| areas.iter().sum::<f64>() / areas.len() as f64);
        }
        let scores = |of: fn(&ProbabilityScores) -> f64| {
            let parts =
                several.iter().map(|part| Some(of(part.probability_scores.as_ref()?) * part.rows as f64));
            Some(parts.sum::<Option<f64>>()? / whole.rows.max(1) as f64)
        };
        let (brier, log_loss) = (scores(|scores| scores.brier), scores(|scores| scores.log_loss));
        whole.probability_scores =
            brier.zip(log_loss).map(|(brier, log_loss)| ProbabilityScores { brier, log_loss });
        Some(whole)
    }

    /// The same rows, predicted otherwise.
    pub(crate) fn with_predictions(&mut self, classes: &[u32], predicted: &[u32]) {
        self.confusion = ConfusionMatrix::new(self.labels.len());
        self.errors = 0;
        for (&class, &predicted) in classes.iter().zip(predicted) {
            self.confusion.add(class as usize, predicted as usize);
            self.errors += u64::from(class != predicted);
        }
    }

    /// The most common class of these rows, and the error of always naming it. `None` if there are no rows.
    pub fn majority(&self) -> Option<(u32, f64)> {
        let counts = self.confusion.of_each();
        // Of equals, the first.
        let (class, count) =
            counts.into_iter().enumerate().min_by_key(|&(_, count)| std::cmp::Reverse(count))?;
        (count > 0).then(|| (class as u32, 1.0 - count as f64 / self.rows as f64))
    }

    /// The classes that have rows, none of which was given its class.
    pub fn never_recognised(&self) -> Vec<u32> {
        let counts = self.confusion.of_each().into_iter().enumerate();
        let missed = counts.filter(|&(class, count)| count > 0 && self.confusion.count(class, class) == 0);
        missed.map(|(class, _)| class as u32).collect()
    }

    /// The classes that were recognised, but by fewer rows than could tell how well: below five.
    pub fn hardly_judged(&self) -> Vec<u32> {
        let counts = self.confusion.of_each().into_iter().enumerate();
        let few = counts.filter(|&(class, count)| count < 5 && self.confusion.count(class, class) > 0);
        few.map(|(class, _)| class as u32).collect()
    }

    /// The mean of all classes' F1, each class counting once.
    pub fn macro_f1(&self) -> f64 {
        let (of_each, given_each) = (self.confusion.of_each(), self.confusion.given_each());
        let present: Vec<usize> = (0..self.labels.len()).filter(|&class| of_each[class] > 0).collect();
        let f1 = |&class: &usize| f1(self.confusion.count(class, class), of_each[class], given_each[class]);
        present.iter().map(f1).sum::<f64>() / present.len().max(1) as f64
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
        struct Majority<'a> {
            class: &'a str,
            error: f64,
        }
        #[derive(Serialize)]
        #[serde(rename_all = "kebab-case")]
        struct Whole<'a> {
            rows: u64,
            errors: u64,
            error: f64,
            accuracy: f64,
            macro_f1: f64,
            majority: Option<Majority<'a>>,
            interval: (f64, f64),
            confusion: &'a ConfusionMatrix,
            classes: Vec<OfClass<'a>>,
            brier: Option<f64>,
            log_loss: Option<f64>,
        }
        let (of_each, given_each) = (self.confusion.of_each(), self.confusion.given_each());
        let of_class = |(class, name): (usize, _)| {
            let (n_right, n_of, n_given) =
                (self.confusion.count(class, class), of_each[class], given_each[class]);
            OfClass {
                class: name,
                rows: n_of,
                precision: share(n_right, n_given),
                recall: share(n_right, n_of),
                f1: f1(n_right, n_of, n_given),
                auc: self.auc[class],
            }
        };
        let names = self.labels.names().iter().map(String::as_str);
        let whole = Whole {
            rows: self.rows,
            errors: self.errors,
            error: self.error(),
            accuracy: self.accuracy(),
            macro_f1: self.macro_f1(),
            majority: self
                .majority()
                .map(|(class, error)| Majority { class: self.labels.name(class), error }),
            interval: self.interval(),
            confusion: &self.confusion,
            classes: names.enumerate().map(of_class).collect(),
            brier: self.probability_scores.map(|probability_scores| probability_scores.brier),
            log_loss: self.probability_scores.map(|probability_scores| probability_scores.log_loss),
        };
        whole.serialize(serializer)
    }
}

fn f1(n_right: u64, n_of: u64, n_given: u64) -> f64 {
    let (precision, recall) = (share(n_right, n_given), share(n_right, n_of));
    if precision + recall == 0.0 { 0.0 } else { 2.0 * precision * recall / (precision + recall) }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Compares a model's predictions with the classes of `data`, which are matched by name. The rows are as the model sees
/// them: what it learned from, or read as [`Model::to_evaluate`] says.
pub fn evaluate(model: &Model, data: &Dataset) -> Result<Evaluation, Error> {
    let rows: Vec<u32> = (0..data.len() as u32).collect();
    evaluate_rows(model, data, &rows)
}

/// [`evaluate`] on some rows only.
pub fn evaluate_rows(model: &Model, data: &Dataset, rows: &[u32]) -> Result<Evaluation, Error> {
    let mut source = data.into();
    let with_scores = keeps_scores(&source, rows.len());
    let judged = Judged::new(model, &mut source, rows, with_scores, &mut || false)?;
    let is_number = |losses: ProbabilityScores| losses.brier.is_finite();
    let all_are = judged.scores.iter().all(|score| score.is_finite());
    let has_losses = judged.evaluation.probability_scores.is_none_or(is_number);
    if all_are && has_losses { Ok(judged.evaluation) } else { Err(Error::Endless) }
}

/// [`evaluate`] on some rows of any source, whose numbers ascend if they are on disk. The area under the curve needs
/// the scores of all rows at once, and is left out of rows on disk and of very many classes. Stops with [`Error::Stopped`] if the monitor
/// wants that.
pub fn evaluate_source<'a>(
    model: &Model,
    source: impl Into<RowSource<'a>>,
    rows: &[u32],
    monitor: &mut dyn Monitor,
) -> Result<Evaluation, Error> {
    let mut source = source.into();
    let with_scores = keeps_scores(&source, rows.len());
    let judged = Judged::new(model, &mut source, rows, with_scores, &mut || monitor.wants_to_stop());
    Ok(judged?.evaluation)
}

/// How many scores may be kept at a time whatever the data are; more, if the data have as many values.
const MOST_SCORES: usize = 1 << 22;

/// Whether the scores of this many rows may be kept at a time. A file of a few bytes a row can name a class in each.
pub(crate) fn keeps_scores(source: &RowSource<'_>, n_rows: usize) -> bool {
    let n_scores = n_rows.saturating_mul(n_curves(source.labels().len()));
    source.dataset().is_some_and(|data| n_scores <= MOST_SCORES.max(data.n_values()))
}

/// A model's predictions beside the classes of the rows.
pub(crate) struct Judged {
    pub(crate) evaluation: Evaluation,
    /// Row by row, the scores that a calibration takes; empty if they were not wanted.
    pub(crate) scores: Vec<f64>,
    /// The logarithms of the probabilities of the same classes, if there are any.
    pub(crate) log_shares: Vec<f32>,
    /// Row by row, the class and the predicted one; empty for rows on disk if no scores were wanted.
    pub(crate) classes: Vec<u32>,
    pub(crate) predicted: Vec<u32>,
}

impl Judged {
    /// Asks `model` about these rows, and `stop` now and then whether to give up.
    pub(crate) fn new(
        model: &Model,
        source: &mut RowSource<'_>,
        rows: &[u32],
        with_scores: bool,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Self, Error> {
        if let Some(data) = source.dataset() {
            model.check_width(data.view())?;
        }
        let (labels, numbers) = matched_labels(model.labels(), source.labels());
        let mut confusion = ConfusionMatrix::new(labels.len());
        let (mut scores, mut classes, mut guesses) = (Vec::new(), Vec::new(), Vec::new());
        let mut of_row = Vec::new();
        let (mut log_shares, mut shares) = (Vec::new(), Vec::new());
        let mut losses = model.calibration().map(|calibration| (calibration, Losses::default()));
        let in_memory = source.dataset().is_some();
        each_prediction(model, source, rows, stop, |class, predicted, answers| {
            let truth = numbers[class as usize];
            confusion.add(truth as usize, predicted as usize);
            if with_scores || losses.is_some() {
                class_scores(model, answers, &mut of_row);
            }
            if let Some((calibration, losses)) = &mut losses {
                calibration.probabilities(&of_row, &mut shares);
                losses.add(&shares, truth);
                log_shares.extend(held_out::log_shares(&shares).filter(|_| with_scores));
            }
            if with_scores {
                scores.extend(&of_row);
            }
            if with_scores || in_memory {
                classes.push(truth);
                guesses.push(predicted);
            }
        })?;
        let n_rows = rows.len() as u64;
        let n_right = confusion.n_right();
        let auc = areas(&scores, &classes, labels.len(), stop)?;
        let probability_scores = losses.and_then(|(_, losses)| Losses::together(&[losses]));
        let errors = n_rows - n_right;
        let evaluation =
            Evaluation { rows: n_rows, errors, labels, confusion, auc, probability_scores, folds: 1 };
        Ok(Self { evaluation, scores, log_shares, classes, predicted: guesses })
    }
}

/// The area under the ROC curve of each of this many classes, given the scores of rows, and their classes.
pub(crate) fn areas(
    scores: &[f64],
    classes: &[u32],
    n_classes: usize,
    stop: &mut dyn FnMut() -> bool,
) -> Result<Vec<Option<f64>>, Error> {
    let n_scores = scores.len() / classes.len().max(1);
    let mut auc = vec![None; n_classes];
    for column in 0..n_scores {
        if stop() {
            return Err(Error::Stopped);
        }
        let class = if n_scores == 1 { 1 } else { column as u32 };
        let of_class = scores[column..].iter().step_by(n_scores).zip(classes);
        let ranked = of_class.map(|(&score, &truth)| (score, truth == class)).collect();
        auc[class as usize] = curve(class, ranked).map(|curve| curve.area);
    }
    if n_scores == 1 {
        auc[0] = auc[1];
    }
    Ok(auc)
}

/// The scores of many rows as [`Calibration::fit`] takes them, and their classes.
pub fn held_out_scores(model: &Model, data: &Dataset, rows: &[u32]) -> (Vec<f64>, Vec<u32>) {
    let (mut of_row, mut scores, mut classes) = (Vec::new(), Vec::new(), Vec::new());
    let done = each_prediction(model, &mut data.into(), rows, &mut || false, |class, _, answers| {
        class_scores(model, answers, &mut of_row);
        scores.extend(&of_row);
        classes.push(class);
    });
    // Rows in memory are at hand, but some models know no rows.
    drop(done);
    (scores, classes)
}

impl Model {
    /// The same model, with probabilities fitted on these rows, which it should not have learned from.
    pub fn calibrated(mut self, method: Method, data: &Dataset, rows: &[u32]) -> Result<Self, Error> {
        self.check_task(Task::Classes)?;
        let (scores, classes) = held_out_scores(&self, data, rows);
        self.calibration = Some(Calibration::fit(method, self.labels.len(), &scores, &classes)?);
        Ok(self)
    }
}

/// The classes of a model, then those only the data has; and the number among them of each class of the data.
pub fn matched(model: &Model, data: &Dataset) -> (Labels, Vec<u32>) {
    matched_labels(model.labels(), data.labels())
}

fn matched_labels(of_model: &Labels, of_data: &Labels) -> (Labels, Vec<u32>) {
    let mut labels = of_model.clone();
    let rest = labels.told_from_rest().map(|_| 0);
    let number = |name: &String| match (labels.class(name), rest) {
        (None, Some(rest)) => rest,
        _ => labels.add(name),
    };
    let numbers = of_data.names().iter().map(number).collect();
    (labels, numbers)
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
    let mut folds = Vec::new();
    Folds::new(data, &Ties::default(), n_folds, seed)?.judge(
        spec,
        data,
        0,
        &mut (),
        |model, _, judged| {
            folds.push(Fold { model, evaluation: judged.evaluation });
            Ok(())
        },
    )?;
    Ok(folds)
}

/// The rows of a data set, parted once for all that is cross-validated on them.
pub(crate) struct Folds {
    /// Rows to learn from and rows to be judged on.
    parts: Vec<Part>,
    fingerprint: String,
    with_scores: bool,
}

impl Folds {
    pub(crate) fn new(data: &Dataset, ties: &Ties, n_folds: usize, seed: u64) -> Result<Self, Error> {
        let parts = parts_of_folds(data.classes(), ties, n_folds, seed)?;
        let with_scores = keeps_scores(&data.into(), data.len());
        Ok(Self { parts, fingerprint: crate::model::fingerprint(data), with_scores })
    }

    /// The parts: rows to learn from and rows to be judged on.
    pub(crate) fn into_parts(self) -> Vec<Part> {
        self.parts
    }

    /// Trains on all folds but one and judges on that one, for each: `each` is given the model, the rows it learned
    /// from and what it got right and wrong.
    pub(crate) fn judge(
        &self,
        spec: &Spec,
        data: &Dataset,
        candidate: usize,
        monitor: &mut dyn Monitor,
        mut each: impl FnMut(Model, &[u32], Judged) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for (fold, (learned, held)) in self.parts.iter().enumerate() {
            monitor.stage(Stage::Fold { candidate, fold, n_folds: self.parts.len() });
            let training = Training::new(spec, data).rows(learned).fingerprint(&self.fingerprint);
            let model = training.checkpointer(&mut OrStop(monitor)).run(&mut ());
            let model = model.map_err(|error| match error {
                Error::Interrupted { .. } => Error::Stopped,
                error => error,
            })?;
            monitor.stage(Stage::Judging);
            let stop = &mut || monitor.wants_to_stop();
            let judged = Judged::new(&model, &mut data.into(), held, self.with_scores, stop)?;
            each(model, learned, judged)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_of_one_class_against_the_rest_is_judged_on_all_classes() {
        let data = Dataset::from_rows(&[[1.0], [-1.0], [-2.0]], &["bob", "ann", "eve"]);
        let bob = data.clone().with_positive("bob").unwrap();
        let model = crate::train(&Spec::default(), &bob).unwrap();
        let evaluation = evaluate(&model, &data).unwrap();
        assert_eq!((evaluation.errors, evaluation.labels.len()), (0, 2));
        assert_eq!(evaluation.support(0), 2);
        // A class that is only called so is a class like any other.
        let named = Dataset::from_rows(&[[1.0], [-1.0]], &["bob", "not bob"]).with_positive("bob").unwrap();
        let model = crate::train(&Spec::default(), &named).unwrap();
        assert_eq!(evaluate(&model, &data).unwrap().labels.len(), 4);
    }

    #[test]
    fn the_majority_and_classes_that_are_never_recognised_are_told() {
        let data = Dataset::from_rows(&[[1.0], [1.0], [1.0], [1.0]], &["a", "b", "b", "c"]);
        let model = crate::train(&Spec::default(), &data).unwrap();
        let evaluation = evaluate(&model, &data).unwrap();
        assert_eq!(evaluation.majority(), Some((1, 0.5)));
        assert_eq!(evaluation.never_recognised().len(), 2);
        // One of the three is predicted for all rows, and a handful of rows tells how well.
        assert_eq!(evaluation.hardly_judged().len(), 1);
        let many = Dataset::from_rows(&[[1.0]; 9], &["a", "a", "a", "a", "a", "b", "b", "b", "b"]);
        let evaluation = evaluate(&crate::train(&Spec::default(), &many).unwrap(), &many).unwrap();
        let few = if evaluation.never_recognised() == [0] { vec![1] } else { vec![] };
        assert_eq!(evaluation.hardly_judged(), few);
    }
}
