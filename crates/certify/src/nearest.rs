//! The nearest points of two hulls, or of one hull and the origin: the dual of the widest margin.
//!
//! Wolfe's method (1976), for one group of points or two: keep a small set of rows whose flat hull has a
//! nearest point inside the set's own hull, add the row that is farthest on the wrong side, drop rows whose
//! weight would turn negative. Every round brings the points strictly closer, and the last set is the set of
//! supporting rows. What comes out is a guess in doubles; whoever asked verifies it.

use crate::rows::Rows;
use std::ops::ControlFlow;

/// How many rows are added before all rows are looked at again.
const AT_ONCE: usize = 10;
/// After so many rounds that bring nothing, doubles have no more to give.
const PATIENCE: usize = 30;

/// Where a search stands.
#[derive(Debug, Clone)]
pub(crate) struct Nearest {
    /// The rows that carry the point, with their weights: those of each group add up to 1.
    pub(crate) support: Vec<usize>,
    pub(crate) shares: Vec<f64>,
    /// `Σ share · y x`.
    pub(crate) point: Vec<f64>,
    /// The length of the point, and the best `min point·z` over all rows (summed over groups), over that length.
    pub(crate) length: f64,
    pub(crate) reach: f64,
    /// The point that had the best reach: the best hyperplane so far.
    pub(crate) best: Vec<f64>,
}

/// Why a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Reach and length agree.
    Sharp,
    /// The point has come so close to zero that it may be zero.
    Zero,
    /// Rounding stands in the way.
    Stalled,
    /// Somebody said stop.
    Stopped,
}

/// The search for the nearest point.
pub(crate) struct Search<'a> {
    rows: &'a Rows,
    /// The group of each row: all 0, or by side.
    groups: Vec<usize>,
    n_groups: usize,
    /// Squared lengths of rows, and the size of the coordinate that tells groups apart.
    norms2: Vec<f64>,
    anchor2: f64,
    factor: Factor,
    state: Nearest,
}

impl<'a> Search<'a> {
    /// Starts from the shortest row of each group; `by_side` if the two sides are groups of their own.
    /// Every group must have rows.
    pub(crate) fn new(rows: &'a Rows, by_side: bool) -> Self {
        let n_groups = if by_side { 2 } else { 1 };
        let groups: Vec<usize> =
            (0..rows.len()).map(|idx| usize::from(by_side && rows.is_positive(idx))).collect();
        let norms2: Vec<f64> =
            (0..rows.len()).map(|idx| rows.entries(idx).map(|(_, x)| x * x).sum()).collect();
        let anchor2 = norms2.iter().sum::<f64>() / norms2.len() as f64;
        let anchor2 = if anchor2 > 0.0 { anchor2 } else { 1.0 };
        let state = Nearest {
            support: Vec::new(),
            shares: Vec::new(),
            point: vec![0.0; rows.width()],
            length: f64::INFINITY,
            reach: f64::NEG_INFINITY,
            best: vec![0.0; rows.width()],
        };
        let mut search = Self { rows, groups, n_groups, norms2, anchor2, factor: Factor::default(), state };
        for group in 0..n_groups {
            let members = (0..rows.len()).filter(|&idx| search.groups[idx] == group);
            let first = members.min_by(|&a, &b| search.norms2[a].total_cmp(&search.norms2[b]));
            let first = first.expect("every group has rows");
            search.append(first);
        }
        search.state.shares = vec![1.0; n_groups];
        search.place();
        search
    }

    /// Searches until the bounds agree to `gap`, the point is shorter than `zero` times the rows that make it
    /// up, or `watch`, which is told the bounds, says stop.
    pub(crate) fn run(
        &mut self,
        gap: f64,
        zero: f64,
        watch: &mut dyn FnMut(f64, f64) -> ControlFlow<()>,
    ) -> Ended {
        let mut scores = vec![0.0; self.rows.len()];
        let (mut idle, mut least) = (0, f64::INFINITY);
        loop {
            let carried: f64 = self
                .state
                .support
                .iter()
                .zip(&self.state.shares)
                .map(|(&idx, share)| share * self.norms2[idx].sqrt())
                .sum();
            if self.state.length <= zero * carried {
                return Ended::Zero;
            }
            let candidates = self.survey(&mut scores);
            if (self.state.length - self.state.reach) <= gap * self.state.length {
                return Ended::Sharp;
            }
            if watch(self.state.reach, self.state.length).is_break() {
                return Ended::Stopped;
            }
            let mut moved = false;
            for idx in candidates {
                moved |= self.enter(idx);
            }
            if moved && self.state.length < least * (1.0 - 1e-14) {
                least = self.state.length;
                idle = 0;
            } else {
                idle += 1;
            }
            if !moved || idle > PATIENCE {
                return Ended::Stalled;
            }
        }
    }

    pub(crate) fn state(&self) -> &Nearest {
        &self.state
    }

    /// Scores all rows; notes how far the point reaches, and gives the rows worth adding, worst first.
    fn survey(&mut self, scores: &mut [f64]) -> Vec<usize> {
        let levels = self.levels();
        let mut least = [f64::INFINITY; 2];
        for (idx, score) in scores.iter_mut().enumerate() {
            *score = self.rows.sign(idx) * dot(self.rows, idx, &self.state.point);
            least[self.groups[idx]] = least[self.groups[idx]].min(*score);
        }
        let reach = least[..self.n_groups].iter().sum::<f64>() / self.state.length;
        if reach > self.state.reach {
            self.state.reach = reach;
            self.state.best.clone_from(&self.state.point);
        }
        let below = |idx: usize| levels[self.groups[idx]] - scores[idx];
        let worst = (0..scores.len()).map(below).fold(0.0, f64::max);
        let mut rows: Vec<usize> = (0..scores.len()).filter(|&idx| below(idx) > 0.5 * worst).collect();
        rows.sort_by(|&a, &b| below(b).total_cmp(&below(a)).then(a.cmp(&b)));
        rows.truncate(AT_ONCE);
        rows
    }

    /// The score that rows of each group have where they carry the point.
    fn levels(&self) -> [f64; 2] {
        let mut levels = [0.0; 2];
        for (&idx, share) in self.state.support.iter().zip(&self.state.shares) {
            levels[self.groups[idx]] += share * self.rows.sign(idx) * dot(self.rows, idx, &self.state.point);
        }
        levels
    }

    /// Adds a row to those that carry the point, if it still lies before it. Whether anything changed.
    fn enter(&mut self, idx: usize) -> bool {
        if self.state.support.contains(&idx) {
            return false;
        }
        let score = self.rows.sign(idx) * dot(self.rows, idx, &self.state.point);
        let level = self.levels()[self.groups[idx]];
        if score >= level - 1e-15 * level.abs() {
            return false;
        }
        if !self.append(idx) {
            return false;
        }
        self.state.shares.push(0.0);
        self.settle();
        true
    }

    /// Moves to the nearest point of the flat hull, dropping rows on the way until it lies inside.
    fn settle(&mut self) {
        loop {
            let wanted = self.solve();
            let shares = &mut self.state.shares;
            let mut part = 1.0;
            let mut leaves = None;
            for (place, (&now, &then)) in shares.iter().zip(&wanted).enumerate() {
                if then <= 0.0 {
                    let ratio = if now > then { now / (now - then) } else { 0.0 };
                    if leaves.is_none() || ratio < part {
                        (part, leaves) = (ratio, Some(place));
                    }
                }
            }
            let Some(leaves) = leaves else {
                *shares = wanted;
                break;
            };
            for (share, then) in shares.iter_mut().zip(&wanted) {
                *share = (*share + part * (then - *share)).max(0.0);
            }
            shares.remove(leaves);
            self.state.support.remove(leaves);
            self.factor.remove(leaves);
            if self.state.support.len() <= self.n_groups {
                let groups = &self.groups;
                let alone = self
                    .state
                    .support
                    .iter()
                    .map(|&idx| groups[idx])
                    .collect::<std::collections::BTreeSet<_>>();
                if alone.len() == self.state.support.len() {
                    self.state.shares.fill(1.0);
                    break;
                }
            }
        }
        self.place();
    }

    /// Computes the point from the shares.
    fn place(&mut self) {
        self.state.point.fill(0.0);
        for (&idx, share) in self.state.support.iter().zip(&self.state.shares) {
            let factor = share * self.rows.sign(idx);
            self.rows.entries(idx).for_each(|(j, x)| self.state.point[j] += factor * x);
        }
        self.state.length = self.state.point.iter().map(|x| x * x).sum::<f64>().sqrt();
    }

    /// The shares of the nearest point of the flat hull, refined once against what they give.
    fn solve(&self) -> Vec<f64> {
        let n = self.state.support.len();
        let mut shares = vec![0.0; n];
        let mut levels = [0.0; 2];
        for _ in 0..2 {
            let mut point = vec![0.0; self.rows.width()];
            let mut totals = [0.0; 2];
            for (&idx, share) in self.state.support.iter().zip(&shares) {
                let factor = share * self.rows.sign(idx);
                self.rows.entries(idx).for_each(|(j, x)| point[j] += factor * x);
                totals[self.groups[idx]] += share;
            }
            let residual = self.state.support.iter().map(|&idx| {
                let group = self.groups[idx];
                levels[group]
                    - self.rows.sign(idx) * dot(self.rows, idx, &point)
                    - self.anchor2 * totals[group]
            });
            let first = self.factor.forward(residual.collect());
            let ones: Vec<Vec<f64>> = (0..self.n_groups)
                .map(|group| {
                    let members =
                        self.state.support.iter().map(|&idx| f64::from(u8::from(self.groups[idx] == group)));
                    self.factor.forward(members.collect())
                })
                .collect();
            let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            let missing: Vec<f64> =
                (0..self.n_groups).map(|group| 1.0 - totals[group] - product(&ones[group], &first)).collect();
            let change = match ones.as_slice() {
                [one] => vec![missing[0] / product(one, one)],
                [one, two] => {
                    let (a, b, c) = (product(one, one), product(one, two), product(two, two));
                    let det = a * c - b * b;
                    vec![(c * missing[0] - b * missing[1]) / det, (a * missing[1] - b * missing[0]) / det]
                }
                _ => unreachable!("one group or two"),
            };
            let mut step = first;
            for (ones, change) in ones.iter().zip(&change) {
                step.iter_mut().zip(ones).for_each(|(step, one)| *step += change * one);
            }
            let step = self.factor.backward(step);
            shares.iter_mut().zip(step).for_each(|(share, step)| *share += step);
            levels.iter_mut().zip(change).for_each(|(level, change)| *level += change);
        }
        shares
    }

    /// Adds a row to the factor; not if it lies in the flat hull already, as far as doubles can tell.
    fn append(&mut self, idx: usize) -> bool {
        let mut dense = vec![0.0; self.rows.width()];
        self.rows.entries(idx).for_each(|(j, x)| dense[j] = x);
        let column = self.state.support.iter().map(|&other| {
            let sign = self.rows.sign(idx) * self.rows.sign(other);
            let anchor = if self.groups[idx] == self.groups[other] { self.anchor2 } else { 0.0 };
            sign * dot(self.rows, other, &dense) + anchor
        });
        let column = column.collect();
        let is_new = self.factor.append(column, self.norms2[idx] + self.anchor2);
        if is_new {
            self.state.support.push(idx);
        }
        is_new
    }
}

fn dot(rows: &Rows, idx: usize, weights: &[f64]) -> f64 {
    let [mut even, mut odd] = [0.0; 2];
    let mut entries = rows.entries(idx);
    while let Some((j, x)) = entries.next() {
        even += weights[j] * x;
        if let Some((j, x)) = entries.next() {
            odd += weights[j] * x;
        }
    }
    even + odd
}

/// The Cholesky factor of a Gram matrix that grows and shrinks: lower rows, each as long as its number.
#[derive(Debug, Clone, Default)]
struct Factor {
    rows: Vec<Vec<f64>>,
}

impl Factor {
    /// Adds a row and column to the matrix, `column` its products with the others; whether it could.
    fn append(&mut self, column: Vec<f64>, diagonal: f64) -> bool {
        let mut row = self.forward(column);
        let rest = diagonal - row.iter().map(|x| x * x).sum::<f64>();
        if rest <= 1e-13 * diagonal {
            return false;
        }
        row.push(rest.sqrt());
        self.rows.push(row);
        true
    }

    /// Removes a row and column: the rows below are rotated back into shape.
    fn remove(&mut self, place: usize) {
        self.rows.remove(place);
        let mut turns: Vec<(f64, f64)> = Vec::new();
        for row in &mut self.rows[place..] {
            for (k, &(c, s)) in turns.iter().enumerate() {
                let (a, b) = (row[place + k], row[place + k + 1]);
                (row[place + k], row[place + k + 1]) = (c * a + s * b, c * b - s * a);
            }
            let last = row.len() - 2;
            let (a, b) = (row[last], row[last + 1]);
            let length = a.hypot(b);
            let (c, s) = (a / length, b / length);
            row.truncate(last);
            row.push(length);
            turns.push((c, s));
        }
    }

    /// Solves with the lower factor.
    fn forward(&self, mut right: Vec<f64>) -> Vec<f64> {
        for (place, row) in self.rows.iter().enumerate() {
            let known = lanes(&row[..place], &right[..place]);
            right[place] = (right[place] - known) / row[place];
        }
        right
    }

    /// Solves with the transposed factor.
    fn backward(&self, mut right: Vec<f64>) -> Vec<f64> {
        for (place, row) in self.rows.iter().enumerate().rev() {
            right[place] /= row[place];
            let (above, value) = (&mut right[..=place], row[place]);
            debug_assert!(value > 0.0);
            let known = above[place];
            above[..place].iter_mut().zip(row).for_each(|(above, factor)| *above -= known * factor);
        }
        right
    }
}

/// A dot product in four lanes, so that it can use wide registers.
fn lanes(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..8 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + rest
}
