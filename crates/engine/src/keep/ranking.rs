//! Rows in the order of their scores: how well a score tells a class from the rest.

use serde::Serialize;

/// The curve of one class against the rest.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Roc {
    /// The class.
    pub class: u32,
    /// From (0, 0) to (1, 1): the share of others that are taken for it, and the share of its own that are found.
    pub points: Vec<(f64, f64)>,
    /// For each point, the lowest score that is taken for the class there; none is at the first.
    pub thresholds: Vec<f64>,
    /// The area below it.
    pub area: f64,
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
    let (mut points, mut thresholds) = (vec![(0.0, 0.0)], vec![f64::INFINITY]);
    for tied in ranked.chunk_by(|a, b| a.0 == b.0) {
        let members = tied.iter().filter(|(_, member)| *member).count();
        let others = tied.len() - members;
        area += others as f64 * (found as f64 + members as f64 / 2.0);
        found += members;
        taken += others;
        points.push((taken as f64 / n_others as f64, found as f64 / n_members as f64));
        thresholds.push(tied[0].0);
    }
    Some(Roc { class, points, thresholds, area: area / (n_members as f64 * n_others as f64) })
}
