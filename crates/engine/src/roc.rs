//! ROC curves: how many rows of a class are found, at the price of how many others.

use crate::calibration::held_out_scores;
use crate::evaluate::matched;
use crate::model::Model;
use rosenblatt_data::Dataset;
use serde::Serialize;

/// The curve of one class against the rest.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Roc {
    /// The class.
    pub class: u32,
    /// From (0, 0) to (1, 1): the share of others that are taken for it, and the share of its own that are found.
    pub points: Vec<(f64, f64)>,
    /// The area below it.
    pub area: f64,
}

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
    let (_, numbers) = matched(model, data);
    let (scores, classes) = held_out_scores(model, data, rows);
    let n_scores = scores.len() / rows.len().max(1);
    let judged: Vec<(u32, usize)> =
        if model.labels().len() == 2 { vec![(1, 0)] } else { (0..n_scores).map(|k| (k as u32, k)).collect() };
    let curve = |(class, column): (u32, usize)| {
        let ranked = classes
            .iter()
            .enumerate()
            .map(|(row, &of_data)| (scores[row * n_scores + column], numbers[of_data as usize] == class));
        curve(class, ranked.collect())
    };
    judged.into_iter().filter_map(curve).collect()
}

/// The curve of rows with their scores, and whether they are of the class; ties count half. `None` if all are, or
/// none.
pub(crate) fn curve(class: u32, mut ranked: Vec<(f64, bool)>) -> Option<Roc> {
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let n_members = ranked.iter().filter(|(_, member)| *member).count();
    let n_others = ranked.len() - n_members;
    if n_members == 0 || n_others == 0 {
        return None;
    }
    let (mut found, mut taken, mut area) = (0, 0, 0.0);
    let mut points = vec![(0.0, 0.0)];
    for tied in ranked.chunk_by(|a, b| a.0 == b.0) {
        let members = tied.iter().filter(|(_, member)| *member).count();
        let others = tied.len() - members;
        area += others as f64 * (found as f64 + members as f64 / 2.0);
        found += members;
        taken += others;
        points.push((taken as f64 / n_others as f64, found as f64 / n_members as f64));
    }
    Some(Roc { class, points, area: area / (n_members as f64 * n_others as f64) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_steps_up_for_members_and_right_for_others() {
        let ranked = vec![(0.1, false), (0.4, true), (0.4, false), (0.8, true)];
        let Roc { points, area, .. } = curve(1, ranked).unwrap();
        assert_eq!(points, [(0.0, 0.0), (0.0, 0.5), (0.5, 1.0), (1.0, 1.0)]);
        assert_eq!(area, 0.875);
        assert_eq!(curve(1, vec![(1.0, true)]), None);
    }

    #[test]
    fn areas_are_those_of_an_evaluation() {
        let rows = [[1.0, 0.2], [-0.9, 0.4], [0.3, -1.0], [-0.2, 0.8], [0.7, 0.9], [-0.8, -0.3]];
        let data = Dataset::from_rows(&rows, &["a", "b", "c", "b", "a", "c"]);
        let model = crate::train(&crate::Spec::default(), &data).unwrap();
        let evaluation = crate::evaluate(&model, &data);
        for curve in roc(&model, &data, &[0, 1, 2, 3, 4, 5]) {
            assert_eq!(Some(curve.area), evaluation.auc[curve.class as usize]);
        }
    }
}
