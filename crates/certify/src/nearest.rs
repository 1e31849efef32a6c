//! The nearest points of two hulls, or of one hull and the origin: the dual of the widest margin.
//!
//! Wolfe's method (1976), for one group of points or two: keep a small set of rows whose flat hull has a
//! nearest point inside the set's own hull, add the row that is farthest on the wrong side, drop rows whose
//! weight would turn negative. Every round brings the points strictly closer, and the last set is the set of
//! supporting rows. The result is a guess in doubles; the caller verifies it.

use crate::real::Real;
use crate::rows::Rows;
use crate::watch::Clock;
use std::collections::BTreeSet;

/// How many rows are added before all rows are looked at again.
const AT_ONCE: usize = 10;
/// After this many rounds that bring nothing, these digits have no more to give.
const PATIENCE: usize = 30;
/// How many rows are scored between two looks at the clock.
const BETWEEN: usize = 64;

/// Why a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Reach and length agree.
    Sharp,
    /// The point has come so close to zero that it may be zero.
    Zero,
    /// Rounding stands in the way.
    Stalled,
    /// The clock stopped the search.
    Stopped,
}

/// The search for the nearest point, in numbers of some precision.
pub(crate) struct Search<'a, R> {
    rows: &'a Rows,
    clock: &'a Clock<'a>,
    /// The group of each row: all 0, or by side.
    groups: Vec<usize>,
    n_groups: usize,
    /// Lengths of rows, and the squared size of the coordinate that tells groups apart.
    lengths: Vec<f64>,
    anchor2: R,
    factor: Factor<R>,
    /// The rows that carry the point, with their weights: those of each group add up to 1.
    support: Vec<usize>,
    shares: Vec<R>,
    point: Vec<R>,
    length: R,
    /// The best `min point·z` over all rows (summed over groups), over the length of that point, and the point.
    reach: Option<R>,
    best: Vec<R>,
}

impl<'a, R: Real> Search<'a, R> {
    /// Starts from rows that carried the point of another search, with their weights, or from the shortest row of
    /// each group; `by_side` if the two sides are groups of their own. Every group must have rows.
    pub(crate) fn new(rows: &'a Rows, by_side: bool, start: &[(usize, f64)], clock: &'a Clock<'a>) -> Self {
        let n_groups = if by_side { 2 } else { 1 };
        let groups: Vec<usize> =
            (0..rows.len()).map(|idx| usize::from(by_side && rows.is_positive(idx))).collect();
        let lengths: Vec<f64> = (0..rows.len()).map(|idx| length(rows, idx)).collect();
        let squares = lengths.iter().fold(R::default(), |sum, &length| sum + R::of(length).times(length));
        let anchor2 = squares / R::of(lengths.len() as f64);
        let mut search = Self {
            rows,
            clock,
            groups,
            n_groups,
            lengths,
            anchor2: if anchor2 > R::default() { anchor2 } else { R::of(1.0) },
            factor: Factor { rows: Vec::new() },
            support: Vec::new(),
            shares: Vec::new(),
            point: vec![R::default(); rows.width()],
            length: R::default(),
            reach: None,
            best: vec![R::default(); rows.width()],
        };
        search.begin(start);
        search
    }

    fn begin(&mut self, start: &[(usize, f64)]) {
        for &(idx, share) in start {
            if share > 0.0 && !self.clock.is_over() && self.append(idx) {
                self.shares.push(R::of(share));
            }
        }
        let mut totals = [R::default(); 2];
        for (&idx, &share) in self.support.iter().zip(&self.shares) {
            totals[self.groups[idx]] = totals[self.groups[idx]] + share;
        }
        if totals[..self.n_groups].iter().all(|&total| total > R::default()) {
            for (&idx, share) in self.support.iter().zip(&mut self.shares) {
                *share = *share / totals[self.groups[idx]];
            }
            self.settle();
            return;
        }
        self.support.clear();
        self.factor.rows.clear();
        for group in 0..self.n_groups {
            let members = (0..self.rows.len()).filter(|&idx| self.groups[idx] == group);
            let first = members.min_by(|&a, &b| self.lengths[a].total_cmp(&self.lengths[b]));
            self.append(first.expect("every group has rows"));
        }
        self.shares = vec![R::of(1.0); self.n_groups];
        self.place();
    }

    /// Searches until the bounds agree to `gap`, the point is shorter than `2^zero` times the rows that make it
    /// up, or the clock says stop. Reports the bounds to `tell`.
    pub(crate) fn run(&mut self, gap: f64, zero: Option<i32>, tell: &dyn Fn(f64, f64)) -> Ended {
        let (mut idle, mut least) = (0, None);
        // Less than this is no progress.
        let still = R::of(1.0) - R::doubt().times(45.0);
        loop {
            let carriers = self.support.iter().zip(&self.shares);
            let carried =
                carriers.fold(R::default(), |sum, (&idx, &share)| sum + share.times(self.lengths[idx]));
            let is_zero = |zero: i32| self.length <= carried.shifted(zero);
            if self.length <= R::default() || zero.is_some_and(is_zero) {
                return Ended::Zero;
            }
            let Some(candidates) = self.survey() else { return Ended::Stopped };
            if self.reach.is_some_and(|reach| self.length - reach <= self.length.times(gap)) {
                return Ended::Sharp;
            }
            tell(self.reach.map_or(0.0, Real::near), self.length.near());
            let mut moved = false;
            for idx in candidates {
                moved |= self.enter(idx);
                if self.clock.is_over() {
                    return Ended::Stopped;
                }
            }
            if moved && least.is_none_or(|least: R| self.length < least * still) {
                least = Some(self.length);
                idle = 0;
            } else {
                idle += 1;
            }
            if !moved || idle > PATIENCE {
                return Ended::Stalled;
            }
        }
    }

    /// The rows that carry the point, with their weights: those of each group add up to about 1.
    pub(crate) fn carriers(&self) -> impl Iterator<Item = (usize, R)> {
        self.support.iter().copied().zip(self.shares.iter().copied())
    }

    /// The point that had every row the farthest on its side, if it had them there at all.
    pub(crate) fn best(&self) -> Option<&[R]> {
        self.reach.filter(|&reach| reach > R::default()).map(|_| self.best.as_slice())
    }

    /// `y x · vector`.
    fn score(&self, idx: usize, vector: &[R]) -> R {
        let [mut even, mut odd] = [R::default(); 2];
        let mut entries = self.rows.entries(idx);
        while let Some((j, x)) = entries.next() {
            even = even + vector[j].times(x);
            if let Some((j, x)) = entries.next() {
                odd = odd + vector[j].times(x);
            }
        }
        for &(j, x) in self.rows.tails(idx) {
            odd = odd + vector[j].times(x);
        }
        (even + odd).times(self.rows.sign(idx))
    }

    /// `Σ share · y x`.
    fn sum(&self, shares: &[R]) -> Vec<R> {
        let mut point = vec![R::default(); self.rows.width()];
        for (&idx, &share) in self.support.iter().zip(shares) {
            let factor = share.times(self.rows.sign(idx));
            self.rows.entries(idx).for_each(|(j, x)| point[j] = point[j] + factor.times(x));
            self.rows.tails(idx).iter().for_each(|&(j, x)| point[j] = point[j] + factor.times(x));
        }
        point
    }

    /// Scores all rows; notes how far the point reaches, and gives the rows worth adding, worst first. `None` if the
    /// clock says stop.
    fn survey(&mut self) -> Option<Vec<usize>> {
        let levels = self.levels();
        let mut least: [Option<R>; 2] = [None; 2];
        let mut below = Vec::with_capacity(self.rows.len());
        for idx in 0..self.rows.len() {
            if idx % BETWEEN == 0 && self.clock.is_over() {
                return None;
            }
            let score = self.score(idx, &self.point);
            let group = self.groups[idx];
            least[group] = Some(least[group].filter(|&least| least <= score).unwrap_or(score));
            below.push(levels[group] - score);
        }
        let reach = least.iter().flatten().fold(R::default(), |sum, &least| sum + least) / self.length;
        if self.reach.is_none_or(|best| reach > best) {
            self.reach = Some(reach);
            self.best.clone_from(&self.point);
        }
        let worst = below
            .iter()
            .copied()
            .fold(R::default(), |worst, value| if value > worst { value } else { worst });
        let half = worst.times(0.5);
        let mut rows: Vec<usize> = (0..below.len()).filter(|&idx| below[idx] > half).collect();
        rows.sort_by(|&a, &b| {
            below[b].partial_cmp(&below[a]).unwrap_or(std::cmp::Ordering::Equal).then(a.cmp(&b))
        });
        rows.truncate(AT_ONCE);
        Some(rows)
    }

    /// The score that rows of each group have where they carry the point.
    fn levels(&self) -> [R; 2] {
        let mut levels = [R::default(); 2];
        for (&idx, &share) in self.support.iter().zip(&self.shares) {
            let group = self.groups[idx];
            levels[group] = levels[group] + share * self.score(idx, &self.point);
        }
        levels
    }

    /// Adds a row to those that carry the point, if it still lies before it. Whether anything changed.
    fn enter(&mut self, idx: usize) -> bool {
        if self.support.contains(&idx) {
            return false;
        }
        let level = self.levels()[self.groups[idx]];
        let before = level - self.score(idx, &self.point);
        let size = if level < R::default() { R::default() - level } else { level };
        if before <= (size * R::doubt()).times(4.0) || !self.append(idx) {
            return false;
        }
        self.shares.push(R::default());
        self.settle();
        true
    }

    /// Moves to the nearest point of the flat hull, dropping rows on the way until it lies inside.
    fn settle(&mut self) {
        let zero = R::default();
        while let Some(wanted) = self.solve() {
            let mut part = R::of(1.0);
            let mut leaves = None;
            for (place, (&now, &then)) in self.shares.iter().zip(&wanted).enumerate() {
                if then <= zero {
                    let ratio = if now > then { now / (now - then) } else { zero };
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
                let moved = *share + part * (then - *share);
                *share = if moved > zero { moved } else { zero };
            }
            self.shares.remove(leaves);
            self.support.remove(leaves);
            self.factor.remove(leaves);
            let groups: BTreeSet<usize> = self.support.iter().map(|&idx| self.groups[idx]).collect();
            if groups.len() == self.support.len() {
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
        self.length = R::product(&self.point, &self.point).root();
    }

    /// The shares of the nearest point of the flat hull, refined against what they give. `None` if the clock
    /// says stop.
    fn solve(&self) -> Option<Vec<R>> {
        let support = &self.support;
        let ones: Vec<Vec<R>> = (0..self.n_groups)
            .map(|group| {
                let member = |&idx: &usize| R::of(f64::from(u8::from(self.groups[idx] == group)));
                self.factor.forward(support.iter().map(member).collect())
            })
            .collect();
        let mut shares = vec![R::default(); support.len()];
        let mut levels = [R::default(); 2];
        for _ in 0..R::SOLVES {
            if self.clock.is_over() {
                return None;
            }
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
        Some(shares)
    }

    /// Adds a row to the factor; not if it lies in the flat hull already, as far as the digits can tell.
    fn append(&mut self, idx: usize) -> bool {
        let mut dense = vec![R::default(); self.rows.width()];
        let sign = self.rows.sign(idx);
        self.rows.entries(idx).for_each(|(j, x)| dense[j] = R::of(sign * x));
        self.rows.tails(idx).iter().for_each(|&(j, x)| dense[j] = dense[j] + R::of(sign * x));
        let column = self.support.iter().map(|&other| {
            let product = self.score(other, &dense);
            if self.groups[idx] == self.groups[other] { product + self.anchor2 } else { product }
        });
        let (column, diagonal) = (column.collect(), R::product(&dense, &dense) + self.anchor2);
        let is_new = self.factor.append(column, diagonal);
        if is_new {
            self.support.push(idx);
        }
        is_new
    }
}

/// The length of a row, without an overflow on the way.
fn length(rows: &Rows, idx: usize) -> f64 {
    let largest = rows.entries(idx).fold(0.0_f64, |largest, (_, x)| largest.max(x.abs()));
    if largest == 0.0 {
        return 0.0;
    }
    let squares = rows.entries(idx).map(|(_, x)| (x / largest) * (x / largest)).sum::<f64>();
    (largest * squares.sqrt()).min(f64::MAX)
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
        if rest <= (diagonal * R::doubt()).times(450.0) {
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
