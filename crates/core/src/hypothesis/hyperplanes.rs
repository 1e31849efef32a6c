//! Hyperplanes that no longer move: what a trained model predicts with.

use super::Visits;
use crate::examples::Examples;
use crate::row::{Dense, Row, SIDE_BY_SIDE};
use crate::simd::{self, ByColumns, Columns, DISTRUSTED, Lanes, SWEEP, Value};
use std::ops::Range;
use std::sync::OnceLock;

/// The sums of this many rows are made before the first is looked at.
const AT_ONCE: usize = 128;

/// Below this many rows it does not pay to lay the weights of several hyperplanes out anew.
const LEAST_STRETCH: usize = 64;

/// Hyperplanes that no longer move: what a trained model predicts with.
#[derive(Debug, Clone)]
pub struct Hyperplanes {
    width: usize,
    n_outputs: usize,
    /// The weight of feature `j` for output `k` is at `j * n_outputs + k`. Empty for weights that came as a few places,
    /// until they are first asked for as a whole.
    weights: OnceLock<Vec<f64>>,
    few: Option<Few>,
    biases: Vec<f64>,
}

/// The weights that are not zero, by ascending place.
#[derive(Debug, Clone)]
struct Few {
    places: Vec<u32>,
    values: Vec<f64>,
}

impl PartialEq for Hyperplanes {
    fn eq(&self, other: &Self) -> bool {
        (self.width, self.n_outputs, &self.biases) == (other.width, other.n_outputs, &other.biases)
            && self.raw_weights() == other.raw_weights()
    }
}

impl Hyperplanes {
    /// Hyperplanes through the origin with zero weights.
    pub fn zero(width: usize, n_outputs: usize) -> Self {
        Self::from_parts(vec![0.0; width * n_outputs], vec![0.0; n_outputs])
    }

    /// Hyperplanes from weights that lie feature by feature, all outputs of a feature side by side.
    pub fn from_parts(weights: Vec<f64>, biases: Vec<f64>) -> Self {
        let n_outputs = biases.len();
        assert!(n_outputs > 0, "at least one hyperplane");
        assert_eq!(weights.len() % n_outputs, 0, "as many weights for every output");
        Self { width: weights.len() / n_outputs, n_outputs, weights: weights.into(), few: None, biases }
    }

    /// Hyperplanes for rows of `width` features whose weights are zero but for those at these places, which ascend
    /// and count feature by feature, all outputs of a feature side by side. Room for all weights is taken when they are
    /// first asked for.
    pub fn from_few(width: usize, places: Vec<u32>, values: Vec<f64>, biases: Vec<f64>) -> Self {
        let n_outputs = biases.len();
        assert!(n_outputs > 0, "at least one hyperplane");
        assert_eq!(places.len(), values.len(), "as many weights as places");
        assert!(places.is_sorted_by(|a, b| a < b), "places ascend");
        assert!(places.last().is_none_or(|&last| (last as usize) < width * n_outputs), "places are within");
        Self { width, n_outputs, weights: OnceLock::new(), few: Some(Few { places, values }), biases }
    }

    /// The weights that are not zero, in the order of their features: feature, output, weight.
    pub fn entries(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        let n_outputs = self.n_outputs;
        let few = self.few.iter().flat_map(|few| few.places.iter().map(|&p| p as usize).zip(&few.values));
        let all = if self.few.is_none() { self.raw_weights() } else { &[] };
        let entries = few.chain(all.iter().enumerate()).filter(|(_, weight)| **weight != 0.0);
        entries.map(move |(place, &weight)| (place / n_outputs, place % n_outputs, weight))
    }

    /// Whether every weight and bias is zero, so that every score is.
    pub fn is_zero(&self) -> bool {
        self.entries().next().is_none() && self.biases.iter().all(|bias| *bias == 0.0)
    }

    /// How many features there are.
    pub fn width(&self) -> usize {
        self.width
    }

    /// How many hyperplanes there are.
    pub fn n_outputs(&self) -> usize {
        self.n_outputs
    }

    /// The weights of one hyperplane.
    pub fn weights(&self, output: usize) -> Vec<f64> {
        if self.n_outputs == 1 {
            return self.raw_weights().to_vec();
        }
        self.raw_weights().iter().skip(output).step_by(self.n_outputs).copied().collect()
    }

    /// All weights as stored: feature by feature, the outputs side by side.
    #[inline]
    pub fn raw_weights(&self) -> &[f64] {
        self.weights.get_or_init(|| self.scattered())
    }

    #[cold]
    fn scattered(&self) -> Vec<f64> {
        let mut weights = vec![0.0; self.width * self.n_outputs];
        if let Some(Few { places, values }) = &self.few {
            for (&place, &value) in places.iter().zip(values) {
                weights[place as usize] = value;
            }
        }
        weights
    }

    /// The biases, by output.
    pub fn biases(&self) -> &[f64] {
        &self.biases
    }

    /// The same hyperplanes for rows of at least `width` features; the new weights are zero.
    #[must_use]
    pub fn widened(&self, width: usize) -> Self {
        let mut wide = self.clone();
        if width > wide.width {
            wide.width = width;
            if let Some(weights) = wide.weights.get_mut() {
                weights.resize(width * wide.n_outputs, 0.0);
            }
        }
        wide
    }

    /// `w·x + b` of every hyperplane. Features beyond the width have no weight and count nothing.
    pub fn scores<R: Row>(&self, row: R, scores: &mut [f64]) {
        if row.width() <= self.width {
            weighted_sums(self.raw_weights(), self.n_outputs, row, scores);
        } else {
            let weights = self.raw_weights();
            for (output, score) in scores.iter_mut().enumerate() {
                let weight = |feature: usize| weights.get(feature * self.n_outputs + output);
                *score = row.sum(|feature, value| weight(feature).map_or(0.0, |weight| weight * value));
            }
        }
        for (score, bias) in scores.iter_mut().zip(&self.biases) {
            *score += bias;
        }
    }
}

impl Hyperplanes {
    /// [`Hyperplanes::scores`] of all visited rows, in their order, each shown with its number. Rows are read side by side,
    /// which memory and processor are quicker at; the scores are those of each row alone.
    pub fn each<E: Examples>(&self, examples: E, visits: Visits<'_>, mut show: impl FnMut(usize, &[f64])) {
        let several = self.n_outputs == 1 && examples.width() <= self.width;
        if let (true, Visits::Range { first, end }) = (several && !examples.has_long_rows(), visits) {
            return self.each_of_stretch(examples, first..end, |row, score| show(row, &[score]));
        }
        let n_several = if several { visits.len() / SIDE_BY_SIDE * SIDE_BY_SIDE } else { 0 };
        for first in (0..n_several).step_by(SIDE_BY_SIDE) {
            let numbers: [usize; SIDE_BY_SIDE] = std::array::from_fn(|place| visits.row(first + place));
            let sums = E::Row::dots(numbers.map(|number| examples.row(number)), self.raw_weights());
            for (number, sum) in numbers.into_iter().zip(sums) {
                show(number, &[sum + self.biases[0]]);
            }
        }
        let mut scores = vec![0.0; self.n_outputs];
        let n_several = match visits {
            Visits::Range { first, end }
                if self.n_outputs > 1 && self.width > 0 && examples.width() == self.width =>
            {
                self.many_of_stretch(examples, first..end, &mut scores, &mut show)
            }
            _ => n_several,
        };
        for place in n_several..visits.len() {
            let number = visits.row(place);
            self.scores(examples.row(number), &mut scores);
            show(number, &scores);
        }
    }

    /// The scores of the rows of a stretch for several hyperplanes, eight rows at a time, except the last few, which may
    /// be none: how many have been shown.
    fn many_of_stretch<E: Examples>(
        &self,
        examples: E,
        rows: Range<usize>,
        scores: &mut [f64],
        mut show: impl FnMut(usize, &[f64]),
    ) -> usize {
        if rows.len() < LEAST_STRETCH {
            return 0;
        }
        let weights: Vec<f64> = (0..self.n_outputs).flat_map(|output| self.weights(output)).collect();
        let mut sums = vec![[0.0; 8]; self.n_outputs];
        let n_together = rows.len() / 8 * 8;
        let mut n_distrusted = 0;
        for first in (rows.start..rows.start + n_together).step_by(8) {
            let found = n_distrusted == 0 && examples.products_of_eight(first, &weights, &mut sums);
            if !found {
                n_distrusted = if n_distrusted == 0 { DISTRUSTED } else { n_distrusted - 1 };
            }
            for place in 0..8 {
                if found {
                    for ((score, sums), bias) in scores.iter_mut().zip(&sums).zip(&self.biases) {
                        *score = sums[place] + bias;
                    }
                } else {
                    self.scores(examples.row(first + place), scores);
                }
                show(first + place, scores);
            }
        }
        n_together
    }

    /// The score of each row of a stretch for the sole hyperplane, shown with its number. No row is wider.
    pub fn each_of_stretch<E: Examples>(
        &self,
        examples: E,
        rows: Range<usize>,
        mut show: impl FnMut(usize, f64),
    ) {
        assert!(self.n_outputs == 1 && examples.width() <= self.width, "one hyperplane with all weights");
        let (weights, bias) = (self.raw_weights(), self.biases[0]);
        let mut sums = [0.0; AT_ONCE];
        for first in rows.clone().step_by(AT_ONCE) {
            let sums = &mut sums[..AT_ONCE.min(rows.end - first)];
            examples.dots(first, weights, sums);
            for (row, sum) in (first..).zip(sums) {
                show(row, *sum + bias);
            }
        }
    }

    /// The scores of the rows of a stretch that lie column by column, shown in their order; false at once if rows have
    /// not a value for each weight.
    #[must_use]
    pub fn each_by_columns<T: Value + Default>(
        &self,
        columns: ByColumns<'_, T>,
        rows: Range<usize>,
        mut show: impl FnMut(&[f64]),
    ) -> bool {
        if columns.width() != self.width || self.width == 0 {
            return false;
        }
        let weights: Vec<f64> = (0..self.n_outputs).flat_map(|output| self.weights(output)).collect();
        let mut sums = vec![[0.0; 8]; self.n_outputs];
        let (mut scores, mut turned) = (vec![0.0; self.n_outputs], vec![T::default(); 8 * self.width]);
        let mut n_distrusted = 0;
        for first in rows.clone().step_by(8) {
            let n = 8.min(rows.end - first);
            let found =
                n == 8 && n_distrusted == 0 && simd::column_products(columns, first, &weights, &mut sums);
            if !found {
                n_distrusted = if n_distrusted == 0 { DISTRUSTED } else { n_distrusted - 1 };
                columns.turn(first, &mut turned[..n * self.width]);
            }
            if let (true, [sums], [bias]) = (found, &sums[..], &self.biases[..]) {
                for sum in sums {
                    show(&[sum + bias]);
                }
                continue;
            }
            for place in 0..n {
                if found {
                    for ((score, sums), bias) in scores.iter_mut().zip(&sums).zip(&self.biases) {
                        *score = sums[place] + bias;
                    }
                } else {
                    self.scores(Dense(&turned[place * self.width..][..self.width]), &mut scores);
                }
                show(&scores);
            }
        }
        true
    }

    /// The score of each of these sparse rows, features and values, for the sole hyperplane, shown in their order. The
    /// rows are unchecked, and are checked on the way: at the first whose features do not ascend below `width`, or that
    /// stores a zero, it ends and returns false. So it does at once if there are several hyperplanes, or fewer weights.
    #[must_use]
    pub fn each_unseen<'a, T: Value>(
        &self,
        width: usize,
        rows: impl Iterator<Item = (&'a [u32], &'a [T])>,
        mut show: impl FnMut(f64),
    ) -> bool {
        if self.n_outputs > 1 || width > self.width {
            return false;
        }
        let weights = &self.raw_weights()[..width];
        for (features, values) in rows {
            let Some(sum) = simd::unseen_dot(features, values, weights) else { return false };
            show(sum + self.biases[0]);
        }
        true
    }
}

/// `Σ_j w_jk x_j` for all outputs `k`, in the same lanes as a single dot product, so that a
/// one-vs-rest output and the same binary problem trained alone agree to the bit.
#[inline(always)]
fn weighted_sums<R: Row>(weights: &[f64], n_outputs: usize, row: R, sums: &mut [f64]) {
    if n_outputs == 1 {
        sums[0] = row.dot(weights);
        return;
    }
    many_weighted_sums(weights, n_outputs, row, sums);
}

fn many_weighted_sums<R: Row>(weights: &[f64], n_outputs: usize, row: R, sums: &mut [f64]) {
    let matrix = Columns { weights, width: weights.len() / n_outputs, n_outputs };
    for first in (0..n_outputs).step_by(SWEEP) {
        let n = SWEEP.min(n_outputs - first);
        let mut lanes = Lanes::default();
        row.pieces(|features, values| simd::add_many(&mut lanes, matrix, first..first + n, features, values));
        let [a, b, c, d, e, f, g, h] = &lanes.0;
        for k in 0..n {
            sums[first + k] = ((a[k] + e[k]) + (c[k] + g[k])) + ((b[k] + f[k]) + (d[k] + h[k]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::DenseExamples;

    #[test]
    fn rows_scored_together_have_the_scores_of_each_alone() {
        let number = |place: usize| ((place * 7919 + 13) % 1009) as f64 / 97.0 - 5.0;
        for (width, n_outputs, n_rows) in
            [(0, 3, 80), (1, 2, 64), (7, 3, 65), (8, 10, 200), (17, 5, 129), (100, 2, 71)]
        {
            // Without zeros rows are taken eight at a time; with some now and then they are not, for a while.
            for zeros in [usize::MAX, 777] {
                let value =
                    |place: usize| if place % zeros == zeros - 1 { 0.0 } else { number(place) + 1e-3 };
                let values: Vec<f64> = (0..n_rows * width).map(value).collect();
                let narrow: Vec<f32> = values.iter().map(|value| *value as f32).collect();
                let classes = vec![0; n_rows];
                let biases = (0..n_outputs).map(number).collect();
                let planes = Hyperplanes::from_parts((0..n_outputs * width).map(number).collect(), biases);
                let rows = Visits::Range { first: 3, end: n_rows };
                let mut n_seen = 0;
                let mut alone = vec![0.0; n_outputs];
                planes.each(DenseExamples::new(&values, width, &classes), rows, |row, scores| {
                    planes.scores(Dense(&values[row * width..][..width]), &mut alone);
                    assert_eq!(scores, alone, "{width} {n_outputs} {row}");
                    n_seen += 1;
                });
                planes.each(DenseExamples::new(&narrow, width, &classes), rows, |row, scores| {
                    planes.scores(Dense(&narrow[row * width..][..width]), &mut alone);
                    assert_eq!(scores, alone, "{width} {n_outputs} {row}");
                    n_seen += 1;
                });
                assert_eq!(n_seen, 2 * (n_rows - 3));
                if width > 0 {
                    let by_columns = |row: usize, column: usize| values[row * width + column];
                    let columns: Vec<f64> =
                        (0..width * n_rows).map(|place| by_columns(place % n_rows, place / n_rows)).collect();
                    let columns = ByColumns::new(&columns, n_rows, width);
                    let mut row = 3;
                    let is_shown = planes.each_by_columns(columns, row..n_rows, |scores| {
                        planes.scores(Dense(&values[row * width..][..width]), &mut alone);
                        assert_eq!(scores, alone, "{width} {n_outputs} {row}");
                        row += 1;
                    });
                    assert!(is_shown && row == n_rows);
                }
            }
        }
    }

    #[test]
    fn a_few_weights_are_all_of_them_with_zeros_between() {
        let few = Hyperplanes::from_few(3, vec![1, 4], vec![2.0, -3.0], vec![0.5, 0.0]);
        let all = Hyperplanes::from_parts(vec![0.0, 2.0, 0.0, 0.0, -3.0, 0.0], vec![0.5, 0.0]);
        let entries = [(0, 1, 2.0), (2, 0, -3.0)];
        assert_eq!(few.entries().collect::<Vec<_>>(), entries);
        assert_eq!(all.entries().collect::<Vec<_>>(), entries);
        let wide = few.widened(5);
        assert_eq!((wide.width(), wide.raw_weights().len()), (5, 10));
        let mut scores = [0.0; 2];
        few.scores(Dense(&[1.0, 1.0, 1.0]), &mut scores);
        assert_eq!((scores, few.weights(1)), ([-2.5, 2.0], vec![2.0, 0.0, 0.0]));
        assert_eq!(few, all);
        assert_eq!(few.widened(5), wide);
        assert!(!few.is_zero() && Hyperplanes::from_few(9, vec![], vec![], vec![0.0]).is_zero());
    }
}
