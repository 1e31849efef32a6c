//! What scores and probabilities are worth: ROC curves, precision against recall, and whether probabilities come true.

use crate::calibration::n_curves;
use crate::error::Error;
use crate::evaluate::{held_out_scores, matched};
use crate::model::Model;
use crate::ranking::curve;
use rosenblatt_data::Dataset;
use serde::Serialize;

pub use crate::ranking::Roc;

/// Precision at each recall: how many rows predicted as a class belong to it, as more of its rows are found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PrecisionRecall {
    /// The class.
    pub class: u32,
    /// The share of its rows that are found, and the share of those taken for it that are its own.
    pub points: Vec<(f64, f64)>,
    /// For each point, the lowest score that is taken for the class there.
    pub thresholds: Vec<f64>,
    /// Precision, averaged over the class's rows as they are found.
    pub average: f64,
    /// The share of the class among all rows: the precision of guessing.
    pub share: f64,
}

/// The calibration curve: how often predictions of a probability come true.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reliability {
    /// Rows of about the same probability together, the improbable first.
    pub bins: Vec<ReliabilityBin>,
    /// By how much probabilities are off, in the mean over rows (the expected calibration error).
    pub error: f64,
    /// The class whose probability it is, of two; none if it is that of the class each row is given.
    pub class: Option<u32>,
}

/// Rows of about the same probability.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ReliabilityBin {
    /// Their mean probability.
    pub said: f64,
    /// The share for which it came true.
    pub came_true: f64,
    /// How many there are.
    pub rows: u64,
}

/// How many bins there are at most, and how many rows are in one at least, unless there are fewer.
const MOST_BINS: usize = 10;
const FEWEST_ROWS: usize = 10;

/// The curves of all classes that have rows, and others; of two classes, of the second.
///
/// ```
/// use rosenblatt::{Dataset, Spec, train};
/// use rosenblatt::roc::roc;
///
/// let data = Dataset::from_rows(&[[2.0], [1.0], [-1.0], [-2.0]], &["b", "b", "a", "a"]);
/// let model = train(&Spec::default(), &data)?;
/// let curves = roc(&model, &data, &[0, 1, 2, 3]);
/// assert_eq!((curves.len(), curves[0].area), (1, 1.0));
/// # Ok::<(), rosenblatt::Error>(())
/// ```
pub fn roc(model: &Model, data: &Dataset, rows: &[u32]) -> Vec<Roc> {
    of_model(model, data, rows, curve)
}

/// Precision against recall for all classes that have rows, and others; of two classes, for the second.
///
/// ```
/// use rosenblatt::{Dataset, Spec, train};
/// use rosenblatt::roc::precision_recall;
///
/// let data = Dataset::from_rows(&[[2.0], [1.0], [-1.0], [-2.0]], &["b", "b", "a", "a"]);
/// let model = train(&Spec::default(), &data)?;
/// let curves = precision_recall(&model, &data, &[0, 1, 2, 3]);
/// assert_eq!((curves[0].average, curves[0].share), (1.0, 0.5));
/// # Ok::<(), rosenblatt::Error>(())
/// ```
pub fn precision_recall(model: &Model, data: &Dataset, rows: &[u32]) -> Vec<PrecisionRecall> {
    of_model(model, data, rows, precision_curve)
}

/// Whether the probabilities of a model come true: for two classes those of the second, else those of the class that
/// each row is given. An error if the model has no probabilities.
pub fn reliability(model: &Model, data: &Dataset, rows: &[u32]) -> Result<Reliability, Error> {
    let calibration = model.calibration().ok_or(Error::NotCalibrated)?;
    let (_, numbers) = matched(model, data);
    let (scores, classes) = held_out_scores(model, data, rows);
    let n_classes = model.labels().len();
    let rows = scores.chunks(n_curves(n_classes)).zip(&classes).map(|(scores, &of_data)| {
        let mut shares = Vec::new();
        calibration.probabilities(scores, &mut shares);
        (shares, numbers[of_data as usize])
    });
    Ok(reliability_of(n_classes, rows))
}

/// The same of rows with the probability of each of this many classes, and their class.
pub(crate) fn reliability_of(n_classes: usize, rows: impl Iterator<Item = (Vec<f64>, u32)>) -> Reliability {
    let is_binary = n_classes == 2;
    let said = rows.map(|(shares, truth)| {
        let mut best = 1;
        for class in (0..shares.len()).filter(|_| !is_binary) {
            best = if shares[class] > shares[best] { class } else { best };
        }
        (shares[best], truth == best as u32)
    });
    let (bins, error) = binned(said.collect());
    Reliability { bins, error, class: is_binary.then_some(1) }
}

/// Rows with their probability, and whether it came true, in bins of about the same number of rows.
fn binned(mut said: Vec<(f64, bool)>) -> (Vec<ReliabilityBin>, f64) {
    said.sort_by(|a, b| a.0.total_cmp(&b.0));
    let n_bins = (said.len() / FEWEST_ROWS).clamp(1, MOST_BINS);
    let size = said.len().div_ceil(n_bins);
    let (mut bins, mut off) = (Vec::new(), 0.0);
    let mut rest = said.as_slice();
    while !rest.is_empty() {
        // Equal probabilities stay together.
        let mut end = size.min(rest.len());
        while end < rest.len() && rest[end].0 == rest[end - 1].0 {
            end += 1;
        }
        let (bin, others) = rest.split_at(end);
        rest = others;
        let n_rows = bin.len() as f64;
        let mean = bin.iter().map(|(probability, _)| probability).sum::<f64>() / n_rows;
        let came_true = bin.iter().filter(|(_, is_true)| *is_true).count() as f64 / n_rows;
        off += n_rows * (mean - came_true).abs();
        bins.push(ReliabilityBin { said: mean, came_true, rows: bin.len() as u64 });
    }
    (bins, off / said.len().max(1) as f64)
}

/// What is made of the scores of a model.
fn of_model<T>(
    model: &Model,
    data: &Dataset,
    rows: &[u32],
    make: impl Fn(u32, Vec<(f64, bool)>) -> Option<T>,
) -> Vec<T> {
    let (_, numbers) = matched(model, data);
    let (scores, classes) = held_out_scores(model, data, rows);
    let classes: Vec<u32> = classes.into_iter().map(|class| numbers[class as usize]).collect();
    each_class(model.labels().len(), &scores, &classes, make)
}

/// What is made of the scores of each class against the rest; of two classes, of the second.
pub(crate) fn each_class<T>(
    n_classes: usize,
    scores: &[f64],
    classes: &[u32],
    make: impl Fn(u32, Vec<(f64, bool)>) -> Option<T>,
) -> Vec<T> {
    let n_scores = n_curves(n_classes);
    let curve = |column: usize| {
        let class = if n_classes == 2 { 1 } else { column as u32 };
        let of_class = scores.iter().skip(column).step_by(n_scores).zip(classes);
        make(class, of_class.map(|(&score, &truth)| (score, truth == class)).collect())
    };
    (0..n_scores).filter_map(curve).collect()
}

/// Precision against recall of rows with their scores, and whether they are of the class.
pub(crate) fn precision_curve(class: u32, ranked: Vec<(f64, bool)>) -> Option<PrecisionRecall> {
    let n_rows = ranked.len() as f64;
    let n_members = ranked.iter().filter(|(_, member)| *member).count() as f64;
    let Roc { points, thresholds, .. } = curve(class, ranked)?;
    let (mut average, mut before) = (0.0, 0.0);
    let precise = |(taken, recall): (f64, f64)| {
        let (found, others) = (recall * n_members, taken * (n_rows - n_members));
        let precision = found / (found + others);
        average += precision * (recall - before);
        before = recall;
        (recall, precision)
    };
    let points = points.into_iter().skip(1).map(precise).collect();
    let thresholds = thresholds.into_iter().skip(1).collect();
    Some(PrecisionRecall { class, points, thresholds, average, share: n_members / n_rows })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_steps_up_for_members_and_right_for_others() {
        let ranked = vec![(0.1, false), (0.4, true), (0.4, false), (0.8, true)];
        let Roc { points, thresholds, area, .. } = curve(1, ranked.clone()).unwrap();
        assert_eq!(thresholds, [f64::INFINITY, 0.8, 0.4, 0.1]);
        let precise = precision_curve(1, ranked).unwrap();
        assert_eq!(precise.points, [(0.5, 1.0), (1.0, 2.0 / 3.0), (1.0, 0.5)]);
        assert_eq!((precise.average, precise.share), (0.5 + 1.0 / 3.0, 0.5));
        assert_eq!(precise.thresholds, [0.8, 0.4, 0.1]);
        assert_eq!(points, [(0.0, 0.0), (0.0, 0.5), (0.5, 1.0), (1.0, 1.0)]);
        assert_eq!(area, 0.875);
        assert_eq!(curve(1, vec![(1.0, true)]), None);
    }

    #[test]
    fn probabilities_that_come_true_are_not_off() {
        // Ten rows of each tenth, as many of them true as it says.
        let said = (0..100_u32).map(|k| (f64::from(k / 10) / 10.0 + 0.05, k % 10 < k / 10)).collect();
        let (bins, error) = binned(said);
        assert_eq!(bins.len(), 10);
        assert!((error - 0.05).abs() < 1e-12, "{error}");
        assert!(bins.iter().all(|bin| bin.rows == 10 && (bin.said - bin.came_true - 0.05).abs() < 1e-12));
        let (bins, error) = binned(vec![(0.9, true), (0.9, false)]);
        assert_eq!((bins.len(), bins[0].rows, bins[0].came_true), (1, 2, 0.5));
        assert!((error - 0.4).abs() < 1e-12);
    }

    #[test]
    fn areas_are_those_of_an_evaluation() {
        let rows = [[1.0, 0.2], [-0.9, 0.4], [0.3, -1.0], [-0.2, 0.8], [0.7, 0.9], [-0.8, -0.3]];
        let data = Dataset::from_rows(&rows, &["a", "b", "c", "b", "a", "c"]);
        let model = crate::train(&crate::Spec::default(), &data).unwrap();
        let evaluation = crate::evaluate(&model, &data).unwrap();
        for curve in roc(&model, &data, &[0, 1, 2, 3, 4, 5]) {
            assert_eq!(Some(curve.area), evaluation.auc[curve.class as usize]);
        }
    }
}
