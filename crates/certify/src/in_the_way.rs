//! The fewest rows without which the others are separable, as far as a search can tell: finding the fewest is NP-hard.
//!
//! Perceptrons run over the rows as they are and over rows in which features are alike, since one large feature would
//! drown the others. What each keeps in its pocket, its average and its last weights are hyperplanes whose mistakes
//! are counted exactly. Of the fewest, one row after the other is tried to be put back.

use crate::decide::{Question, Verdict, decide_by, mistakes};
use crate::findings::size;
use crate::perceptron::candidates;
use crate::rows::Rows;
use crate::watch::Clock;

/// How many values a search for the fewest mistakes may look at.
const POCKET_WORK: usize = 100_000_000;
/// Up to how many values times rows it is tried to put rows back.
const RETURN_WORK: usize = 2_000_000;
/// How often the pocket is filled from a new seed.
const POCKETS: u64 = 2;
/// From which share of values that are not zero on features are moved to their means.
const DENSE: f64 = 0.5;

pub(crate) fn in_the_way(rows: &Rows, bias: bool, clock: &Clock<'_>) -> Vec<usize> {
    clock.begin("looking for the rows in the way");
    let epochs = (POCKET_WORK / size(rows)).clamp(4, 1000) as u64 / (2 * POCKETS) + 1;
    // Without a hyperplane, the smaller side goes.
    let n_positive = (0..rows.len()).filter(|&idx| rows.is_positive(idx)).count();
    let smaller = 2 * n_positive < rows.len();
    let mut removed: Vec<usize> = if bias {
        (0..rows.len()).filter(|&idx| rows.is_positive(idx) == smaller).collect()
    } else {
        (0..rows.len()).collect()
    };
    let alike = Alike::of(rows, bias);
    for seed in 0..POCKETS {
        for alike in [Some(&alike), None] {
            let trained = alike.map_or(rows, |alike| &alike.rows);
            for (weights, intercept) in candidates(trained, bias, epochs, seed, clock) {
                let (weights, intercept) =
                    alike.map_or((weights.clone(), intercept), |alike| alike.back(&weights, intercept));
                if !weights.iter().all(|weight| weight.is_finite()) {
                    continue;
                }
                let moved = if bias { best_intercept(rows, &weights) } else { 0.0 };
                for intercept in [intercept, moved].into_iter().filter(|intercept| intercept.is_finite()) {
                    let wrong = mistakes(rows, &weights, intercept);
                    if wrong.len() < removed.len() {
                        removed = wrong;
                    }
                }
            }
            if clock.is_over() {
                return removed;
            }
        }
    }
    if removed.len().saturating_mul(size(rows)) > RETURN_WORK {
        return removed;
    }
    // One row after the other comes back, as long as the others stay separable.
    let mut gone = removed.clone();
    for idx in removed {
        let without: Vec<usize> = gone.iter().copied().filter(|&other| other != idx).collect();
        let rest: Vec<usize> = (0..rows.len()).filter(|other| !without.contains(other)).collect();
        if clock.is_over() {
            break;
        }
        let answer = decide_by(&rows.only(&rest), Question { bias, gap: 0.5 }, clock);
        if let Verdict::Separable(_) = answer.verdict {
            gone = without;
        }
    }
    gone
}

/// Rows whose features are of the same size, and around zero if few values are zero anyway.
struct Alike {
    rows: Rows,
    means: Vec<f64>,
    sizes: Vec<f64>,
}

impl Alike {
    fn of(rows: &Rows, bias: bool) -> Self {
        let (n, width) = (rows.len() as f64, rows.width());
        let n_values: usize = (0..rows.len()).map(|idx| rows.entries(idx).len()).sum();
        let is_centred = bias && n_values as f64 >= DENSE * n * width as f64;
        // By the largest first, so that nothing overflows.
        let (mut largest, mut means) = (vec![0.0_f64; width], vec![0.0; width]);
        let mut squares = vec![0.0; width];
        for idx in 0..rows.len() {
            rows.entries(idx).for_each(|(j, x)| largest[j] = largest[j].max(x.abs()));
        }
        for idx in 0..rows.len() {
            for (j, x) in rows.entries(idx) {
                means[j] += x / largest[j] / n;
                squares[j] += (x / largest[j]).powi(2) / n;
            }
        }
        let mut sizes = vec![1.0; width];
        for j in (0..width).filter(|&j| largest[j] > 0.0) {
            if !is_centred {
                means[j] = 0.0;
            }
            let spread = (squares[j] - means[j] * means[j]).max(0.0).sqrt();
            // A constant feature has only its mean.
            sizes[j] = if spread > 1e-12 { spread * largest[j] } else { largest[j] };
            means[j] *= largest[j];
        }
        let made = rows.map(width, |entries, alike, _| {
            if is_centred {
                let mut values = vec![0.0; width];
                for &(j, x) in entries {
                    values[j] = x;
                }
                alike.extend((0..width).map(|j| (j, (values[j] - means[j]) / sizes[j])));
            } else {
                alike.extend(entries.iter().map(|&(j, x)| (j, x / sizes[j])));
            }
            alike.iter().all(|(_, value)| value.is_finite()).then_some(())
        });
        match made {
            Some(made) => Self { rows: made, means, sizes },
            None => Self { rows: rows.clone(), means: vec![0.0; width], sizes: vec![1.0; width] },
        }
    }

    /// A hyperplane of these rows as one of the rows that they were made from.
    fn back(&self, weights: &[f64], intercept: f64) -> (Vec<f64>, f64) {
        let weights: Vec<f64> = weights.iter().zip(&self.sizes).map(|(weight, size)| weight / size).collect();
        let moved: f64 = weights.iter().zip(&self.means).map(|(weight, mean)| weight * mean).sum();
        (weights, intercept - moved)
    }
}

/// The intercept with the fewest mistakes for these weights: between two neighbouring scores, or beyond all.
fn best_intercept(rows: &Rows, weights: &[f64]) -> f64 {
    let score = |idx: usize| rows.entries(idx).map(|(j, value)| weights[j] * value).sum::<f64>();
    let mut scores: Vec<(f64, bool)> =
        (0..rows.len()).map(|idx| (score(idx), rows.is_positive(idx))).collect();
    scores.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (Some(&(first, _)), Some(&(last, _))) = (scores.first(), scores.last()) else { return 0.0 };
    // Below all scores everything counts as positive; every score that is passed counts as negative.
    let mut wrong = scores.iter().filter(|(_, positive)| !positive).count();
    let mut best = (wrong, 1.0 + first.abs() - first);
    for (place, &(score, positive)) in scores.iter().enumerate() {
        wrong = if positive { wrong + 1 } else { wrong - 1 };
        let next = scores.get(place + 1).map_or(last + 1.0 + last.abs(), |next| next.0);
        if next > score && wrong < best.0 {
            best = (wrong, -(0.5 * score + 0.5 * next));
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use rosenblatt_core::Random;
    use std::ops::ControlFlow;

    fn found(rows: &Rows) -> Vec<usize> {
        in_the_way(rows, true, &Clock::new(&|_| ControlFlow::Continue(())))
    }

    #[test]
    fn the_rows_in_the_way_are_few_and_the_rest_is_separable() {
        let corners = [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]];
        let xor = Rows::from_points(&corners, &[true, false, false, true]);
        assert_eq!(found(&xor).len(), 1, "one corner is enough");
        // On a line, one of five is on the wrong side.
        let line = [[0.0], [1.0], [2.0], [3.0], [0.5]];
        let rows = Rows::from_points(&line, &[false, false, true, true, true]);
        assert_eq!(found(&rows).len(), 1);
        assert_eq!(mistakes(&rows, &[1.0], best_intercept(&rows, &[1.0])).len(), 1);
    }

    #[test]
    fn features_of_very_different_size_hide_nothing() {
        // The small feature tells the sides apart, but for three rows; the large one is far from zero, and noise.
        let mut random = Random::new(8);
        let points: Vec<[f64; 2]> =
            (0..300).map(|_| [2e6 + 1e5 * random.unit(), 1e-4 * (random.unit() - 0.5)]).collect();
        let sides: Vec<bool> =
            points.iter().enumerate().map(|(idx, point)| (point[1] > 0.0) != (idx < 3)).collect();
        let gone = found(&Rows::from_points(&points, &sides));
        assert!(gone.len() <= 3, "{gone:?}");
    }
}
