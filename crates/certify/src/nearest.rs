//! The nearest points of two hulls, or of one hull and the origin: the dual of the widest margin.
//!
//! Wolfe's method (1976), for one group of points or two: keep a small set of rows whose flat hull has a
//! nearest point inside the set's own hull, add the row that is farthest on the wrong side, drop rows whose
//! weight would turn negative. Every round brings the points strictly closer, and the last set is the set of
//! supporting rows. What comes out is a guess in doubles; whoever asked verifies it.

use crate::real::Real;
use crate::rows::Rows;
use std::collections::BTreeSet;
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

/// The search for the nearest point, in numbers of some precision.
pub(crate) struct Search<'a, R> {
    rows: &'a Rows,
    /// The group of each row: all 0, or by side.
    groups: Vec<usize>,
    n_groups: usize,
    /// Lengths of rows, and the squared size of the coordinate that tells groups apart.
    lengths: Vec<f64>,
    anchor2: R,
    factor: Factor<R>,
    /// Shares and point with all their digits.
    shares: Vec<R>,
    point: Vec<R>,
    state: Nearest,
}

impl<'a, R: Real> Search<'a, R> {
    /// Starts from the shortest row of each group; `by_side` if the two sides are groups of their own.
    /// Every group must have rows.
    pub(crate) fn new(rows: &'a Rows, by_side: bool) -> Self {
        let n_groups = if by_side { 2 } else { 1 };
        let groups: Vec<usize> =
            (0..rows.len()).map(|idx| usize::from(by_side && rows.is_positive(idx))).collect();
        let norms2 = (0..rows.len()).map(|idx| rows.entries(idx).map(|(_, x)| x * x).sum::<f64>());
        let lengths: Vec<f64> = norms2.map(f64::sqrt).collect();
        let anchor2 = lengths.iter().map(|length| length * length).sum::<f64>() / lengths.len() as f64;
        let state = Nearest {
            support: Vec::new(),
            shares: Vec::new(),
            length: f64::INFINITY,
            reach: f64::NEG_INFINITY,
            best: vec![0.0; rows.width()],
        };
        let mut search = Self {
            rows,
            groups,
            n_groups,
            lengths,
            anchor2: R::of(if anchor2 > 0.0 { anchor2 } else { 1.0 }),
            factor: Factor { rows: Vec::new() },
            shares: Vec::new(),
            point: vec![R::default(); rows.width()],
            state,
        };
        for group in 0..n_groups {
            let members = (0..rows.len()).filter(|&idx| search.groups[idx] == group);
            let first = members.min_by(|&a, &b| search.lengths[a].total_cmp(&search.lengths[b]));
            search.append(first.expect("every group has rows"));
        }
        search.shares = vec![R::of(1.0); n_groups];
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
        let (mut idle, mut least) = (0, f64::INFINITY);
        loop {
            let carriers = self.state.support.iter().zip(&self.state.shares);
            let carried: f64 = carriers.map(|(&idx, share)| share * self.lengths[idx]).sum();
            if self.state.length <= zero * carried {
                return Ended::Zero;
            }
            let candidates = self.survey();
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

    /// `y x · vector`.
    fn score(&self, idx: usize, vector: &[R]) -> R {
        let [mut even, mut odd] = [R::default(); 2];
        let mut entries = self.rows.entries(idx);
        while let Some((j, x)) = entries.next() {
            even = even + vector[j] * R::of(x);
            if let Some((j, x)) = entries.next() {
                odd = odd + vector[j] * R::of(x);
            }
        }
        R::of(self.rows.sign(idx)) * (even + odd)
    }

    /// `Σ share · y x`.
    fn sum(&self, shares: &[R]) -> Vec<R> {
        let mut point = vec![R::default(); self.rows.width()];
        for (&idx, &share) in self.state.support.iter().zip(shares) {
            let factor = share * R::of(self.rows.sign(idx));
            self.rows.entries(idx).for_each(|(j, x)| point[j] = point[j] + factor * R::of(x));
        }
        point
    }

    /// Scores all rows; notes how far the point reaches, and gives the rows worth adding, worst first.
    fn survey(&mut self) -> Vec<usize> {
        let levels = self.levels();
        let mut least = [f64::INFINITY; 2];
        let mut below = Vec::with_capacity(self.rows.len());
        for idx in 0..self.rows.len() {
            let score = self.score(idx, &self.point);
            let group = self.groups[idx];
            least[group] = least[group].min(score.near());
            below.push((levels[group] - score).near());
        }
        let reach = least[..self.n_groups].iter().sum::<f64>() / self.state.length;
        if reach > self.state.reach {
            self.state.reach = reach;
            self.state.best = self.point.iter().map(|part| part.near()).collect();
        }
        let worst = below.iter().copied().fold(0.0, f64::max);
        let mut rows: Vec<usize> = (0..below.len()).filter(|&idx| below[idx] > 0.5 * worst).collect();
        rows.sort_by(|&a, &b| below[b].total_cmp(&below[a]).then(a.cmp(&b)));
        rows.truncate(AT_ONCE);
        rows
    }

    /// The score that rows of each group have where they carry the point.
    fn levels(&self) -> [R; 2] {
        let mut levels = [R::default(); 2];
        for (&idx, &share) in self.state.support.iter().zip(&self.shares) {
            let group = self.groups[idx];
            levels[group] = levels[group] + share * self.score(idx, &self.point);
        }
        levels
    }

    /// Adds a row to those that carry the point, if it still lies before it. Whether anything changed.
    fn enter(&mut self, idx: usize) -> bool {
        if self.state.support.contains(&idx) {
            return false;
        }
        let level = self.levels()[self.groups[idx]];
        let before = (level - self.score(idx, &self.point)).near();
        if before <= 4.0 * R::DOUBT * level.near().abs() || !self.append(idx) {
            return false;
        }
        self.shares.push(R::default());
        self.settle();
        true
    }

    /// Moves to the nearest point of the flat hull, dropping rows on the way until it lies inside.
    fn settle(&mut self) {
        loop {
            let wanted = self.solve();
            let mut part = 1.0;
            let mut leaves = None;
            for (place, (now, then)) in self.shares.iter().zip(&wanted).enumerate() {
                let (now, then) = (now.near(), then.near());
                if then <= 0.0 {
                    let ratio = if now > then { now / (now - then) } else { 0.0 };
                    if leaves.is_none() || ratio < part {
                        (part, leaves) = (ratio, Some(place));
                    }
                }
            }
            let Some(leaves) = leaves else {
                self.shares = wanted;
                break;
            };
            for (share, &then) in self.shares.iter_mut().zip(&wanted) {
                let moved = *share + R::of(part) * (then - *share);
                *share = if moved.near() > 0.0 { moved } else { R::default() };
            }
            self.shares.remove(leaves);
            self.state.support.remove(leaves);
            self.factor.remove(leaves);
            let groups: BTreeSet<usize> = self.state.support.iter().map(|&idx| self.groups[idx]).collect();
            if groups.len() == self.state.support.len() {
                // One row is left per group, and carries it alone.
                self.shares.fill(R::of(1.0));
                break;
            }
        }
        self.place();
    }

    /// Computes the point from the shares.
    fn place(&mut self) {
        self.point = self.sum(&self.shares);
        self.state.shares = self.shares.iter().map(|share| share.near()).collect();
        self.state.length = R::product(&self.point, &self.point).root().near();
    }

    /// The shares of the nearest point of the flat hull, refined once against what they give.
    fn solve(&self) -> Vec<R> {
        let support = &self.state.support;
        let ones: Vec<Vec<R>> = (0..self.n_groups)
            .map(|group| {
                let member = |&idx: &usize| R::of(f64::from(u8::from(self.groups[idx] == group)));
                self.factor.forward(support.iter().map(member).collect())
            })
            .collect();
        let mut shares = vec![R::default(); support.len()];
        let mut levels = [R::default(); 2];
        for _ in 0..2 {
            let point = self.sum(&shares);
            let mut totals = [R::default(); 2];
            for (&idx, &share) in support.iter().zip(&shares) {
                totals[self.groups[idx]] = totals[self.groups[idx]] + share;
            }
            let residual = support.iter().map(|&idx| {
                let group = self.groups[idx];
                levels[group] - self.score(idx, &point) - self.anchor2 * totals[group]
            });
            let mut step = self.factor.forward(residual.collect());
            let missing: Vec<R> = (0..self.n_groups)
                .map(|group| R::of(1.0) - totals[group] - R::product(&ones[group], &step))
                .collect();
            let change = match ones.as_slice() {
                [one] => vec![missing[0] / R::product(one, one)],
                [one, two] => {
                    let (a, b, c) = (R::product(one, one), R::product(one, two), R::product(two, two));
                    let det = a * c - b * b;
                    vec![(c * missing[0] - b * missing[1]) / det, (a * missing[1] - b * missing[0]) / det]
                }
                _ => unreachable!("one group or two"),
            };
            for (ones, &change) in ones.iter().zip(&change) {
                step.iter_mut().zip(ones).for_each(|(step, &one)| *step = *step + change * one);
            }
            let step = self.factor.backward(step);
            shares.iter_mut().zip(step).for_each(|(share, step)| *share = *share + step);
            levels.iter_mut().zip(change).for_each(|(level, change)| *level = *level + change);
        }
        shares
    }

    /// Adds a row to the factor; not if it lies in the flat hull already, as far as the digits can tell.
    fn append(&mut self, idx: usize) -> bool {
        let mut dense = vec![R::default(); self.rows.width()];
        let sign = R::of(self.rows.sign(idx));
        self.rows.entries(idx).for_each(|(j, x)| dense[j] = sign * R::of(x));
        let column = self.state.support.iter().map(|&other| {
            let product = self.score(other, &dense);
            if self.groups[idx] == self.groups[other] { product + self.anchor2 } else { product }
        });
        let (column, diagonal) = (column.collect(), R::product(&dense, &dense) + self.anchor2);
        let is_new = self.factor.append(column, diagonal);
        if is_new {
            self.state.support.push(idx);
        }
        is_new
    }
}

/// The Cholesky factor of a Gram matrix that grows and shrinks: lower rows, each as long as its number.
struct Factor<R> {
    rows: Vec<Vec<R>>,
}

impl<R: Real> Factor<R> {
    /// Adds a row and column to the matrix, `column` its products with the others; whether it could.
    fn append(&mut self, column: Vec<R>, diagonal: R) -> bool {
        let mut row = self.forward(column);
        let rest = diagonal - R::product(&row, &row);
        if rest.near() <= 450.0 * R::DOUBT * diagonal.near() {
            return false;
        }
        row.push(rest.root());
        self.rows.push(row);
        true
    }

    /// Removes a row and column: the rows below are rotated back into shape.
    fn remove(&mut self, place: usize) {
        self.rows.remove(place);
        let mut turns: Vec<(R, R)> = Vec::new();
        for row in &mut self.rows[place..] {
            for (k, &(c, s)) in turns.iter().enumerate() {
                let (a, b) = (row[place + k], row[place + k + 1]);
                (row[place + k], row[place + k + 1]) = (c * a + s * b, c * b - s * a);
            }
            let last = row.len() - 2;
            let (a, b) = (row[last], row[last + 1]);
            let length = (a * a + b * b).root();
            row.truncate(last);
            row.push(length);
            turns.push((a / length, b / length));
        }
    }

    /// Solves with the lower factor.
    fn forward(&self, mut right: Vec<R>) -> Vec<R> {
        for (place, row) in self.rows.iter().enumerate() {
            right[place] = (right[place] - R::product(&row[..place], &right[..place])) / row[place];
        }
        right
    }

    /// Solves with the transposed factor.
    fn backward(&self, mut right: Vec<R>) -> Vec<R> {
        for (place, row) in self.rows.iter().enumerate().rev() {
            let known = right[place] / row[place];
            right[place] = known;
            right[..place].iter_mut().zip(row).for_each(|(above, &factor)| *above = *above - known * factor);
        }
        right
    }
}
