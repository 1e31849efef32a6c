//! Plain weights: one hyperplane per scorer, in doubles.
//!
//! Why doubles whatever the data is stored in: counts and integer features stay exact up to 2^53, while
//! single precision stops growing at 2^24 (`tests/precision.rs`). After 10^8 steps a weight has drifted by
//! 10^-11 of itself, in single precision by half (`benches/run.rs`). Rows are what costs memory bandwidth,
//! and they stay as narrow as they came.
//!
//! Weights are stored feature by feature, the scorers of one feature side by side, so that a row meets
//! the weights of all its classes in one sweep: compactly in what was learned, and while it is learned in the
//! [`Table`] that registers like best. Rules that shrink the weights do so through one factor per scorer, which keeps
//! a step on a sparse row as cheap as the row is short.

use super::{Hypothesis, LinearSpace, Move, Shape, Space, Table, Visits};
use crate::convention::Bias;
use crate::examples::Examples;
use crate::memory::{Memories, Memory};
use crate::row::{Row, SIDE_BY_SIDE};
use crate::simd::{self, Columns, Lanes, SWEEP};
use crate::state::{Resumable, State, StateError, refuse};

/// Beyond these the factor of a scorer is multiplied into its weights, long before anything overflows.
const SMALLEST_SCALE: f64 = 1e-60;
const LARGEST_SCALE: f64 = 1e60;

/// Hyperplanes that no longer move: what a trained model predicts with.
#[derive(Debug, Clone, PartialEq)]
pub struct Planes {
    width: usize,
    n_scorers: usize,
    /// The weight of feature `j` for scorer `k` is at `j * n_scorers + k`.
    weights: Vec<f64>,
    biases: Vec<f64>,
}

impl Planes {
    /// Hyperplanes through the origin with zero weights.
    pub fn zero(width: usize, n_scorers: usize) -> Self {
        Self { width, n_scorers, weights: vec![0.0; width * n_scorers], biases: vec![0.0; n_scorers] }
    }

    /// Hyperplanes from weights that lie feature by feature, all scorers of a feature side by side.
    pub fn from_parts(weights: Vec<f64>, biases: Vec<f64>) -> Self {
        let n_scorers = biases.len();
        assert!(n_scorers > 0, "at least one hyperplane");
        assert_eq!(weights.len() % n_scorers, 0, "as many weights for every scorer");
        Self { width: weights.len() / n_scorers, n_scorers, weights, biases }
    }

    /// Whether every weight and bias is zero, so that every score is.
    pub fn is_zero(&self) -> bool {
        self.weights.iter().chain(&self.biases).all(|value| *value == 0.0)
    }

    /// How many features there are.
    pub fn width(&self) -> usize {
        self.width
    }

    /// How many hyperplanes there are.
    pub fn n_scorers(&self) -> usize {
        self.n_scorers
    }

    /// The weights of one hyperplane.
    pub fn weights(&self, scorer: usize) -> Vec<f64> {
        self.weights.iter().skip(scorer).step_by(self.n_scorers).copied().collect()
    }

    /// All weights as stored: feature by feature, the scorers side by side.
    pub fn raw_weights(&self) -> &[f64] {
        &self.weights
    }

    /// The biases, by scorer.
    pub fn biases(&self) -> &[f64] {
        &self.biases
    }

    /// The same hyperplanes for rows of at least `width` features; the new weights are zero.
    #[must_use]
    pub fn widened(&self, width: usize) -> Self {
        let mut wide = self.clone();
        if width > wide.width {
            wide.width = width;
            wide.weights.resize(width * wide.n_scorers, 0.0);
        }
        wide
    }

    /// `w·x + b` of every hyperplane. Features beyond the width have no weight and count nothing.
    pub fn scores<R: Row>(&self, row: R, scores: &mut [f64]) {
        if row.width() <= self.width {
            weighted_sums(&self.weights, self.n_scorers, row, scores);
        } else {
            for (scorer, score) in scores.iter_mut().enumerate() {
                let weight = |feature: usize| self.weights.get(feature * self.n_scorers + scorer);
                *score = row.sum(|feature, value| weight(feature).map_or(0.0, |weight| weight * value));
            }
        }
        for (score, bias) in scores.iter_mut().zip(&self.biases) {
            *score += bias;
        }
    }
}

impl Planes {
    /// [`Planes::scores`] of all visited rows, in their order, each shown with its number. Long rows are read side by
    /// side, which the memory is quicker at; the scores are those of each row alone.
    pub fn each<E: Examples>(&self, examples: E, visits: Visits<'_>, mut show: impl FnMut(usize, &[f64])) {
        let several = self.n_scorers == 1 && examples.has_long_rows() && examples.width() <= self.width;
        let n_several = if several { visits.len() / SIDE_BY_SIDE * SIDE_BY_SIDE } else { 0 };
        for first in (0..n_several).step_by(SIDE_BY_SIDE) {
            let numbers: [usize; SIDE_BY_SIDE] = std::array::from_fn(|place| visits.row(first + place));
            let sums = E::Row::dots(numbers.map(|number| examples.row(number)), &self.weights);
            for (number, sum) in numbers.into_iter().zip(sums) {
                show(number, &[sum + self.biases[0]]);
            }
        }
        let mut scores = vec![0.0; self.n_scorers];
        for place in n_several..visits.len() {
            let number = visits.row(place);
            self.scores(examples.row(number), &mut scores);
            show(number, &scores);
        }
    }
}

/// `Σ_j w_jk x_j` for all scorers `k`, in the same lanes as a single dot product, so that a
/// one-vs-rest scorer and the same binary problem trained alone agree to the bit.
#[inline(always)]
fn weighted_sums<R: Row>(weights: &[f64], n_scorers: usize, row: R, sums: &mut [f64]) {
    if n_scorers == 1 {
        sums[0] = row.dot(weights);
        return;
    }
    many_weighted_sums(weights, n_scorers, row, sums);
}

fn many_weighted_sums<R: Row>(weights: &[f64], n_scorers: usize, row: R, sums: &mut [f64]) {
    let matrix = Columns { weights, width: weights.len() / n_scorers, n_scorers };
    for first in (0..n_scorers).step_by(SWEEP) {
        let n = SWEEP.min(n_scorers - first);
        let mut lanes = Lanes::default();
        row.pieces(|features, values| simd::add_many(&mut lanes, matrix, first..first + n, features, values));
        let [a, b, c, d, e, f, g, h] = &lanes.0;
        for k in 0..n {
            sums[first + k] = ((a[k] + e[k]) + (c[k] + g[k])) + ((b[k] + f[k]) + (d[k] + h[k]));
        }
    }
}

/// Hyperplanes that learn.
#[derive(Debug, Clone)]
pub struct Linear {
    n_scorers: usize,
    bias: Bias,
    bias_gain: f64,
    /// Weights before the factor.
    weights: Table,
    scorers: Vec<Scorer>,
    /// Whether any factor was ever other than 1; most rules never shrink.
    scaled: bool,
    tracks_norm: bool,
    ahead: Ahead,
}

/// What is known of the rows at hand before their turn, as long as the sole hyperplane does not move.
#[derive(Debug, Clone, Copy, Default)]
struct Ahead {
    sums: [f64; SIDE_BY_SIDE],
    n_rows: usize,
    /// The moves there had been.
    moves: u64,
}

/// What is kept once per hyperplane.
#[derive(Debug, Clone, Copy)]
struct Scorer {
    scale: f64,
    bias: f64,
    norm2: f64,
    moves: u64,
}

impl Linear {
    /// Zero weights of the given shape.
    pub fn new(shape: Shape) -> Self {
        let scorer = Scorer { scale: 1.0, bias: 0.0, norm2: 0.0, moves: 0 };
        Self {
            n_scorers: shape.n_scorers,
            bias: shape.bias,
            bias_gain: shape.bias.gain(),
            weights: Table::new(shape.width, shape.n_scorers),
            scorers: vec![scorer; shape.n_scorers],
            scaled: false,
            tracks_norm: false,
            ahead: Ahead::default(),
        }
    }

    /// The hyperplanes as they stand, as a copy that no longer moves.
    pub fn planes(&self) -> Planes {
        let mut weights = self.weights.compact().into_owned();
        for (place, weight) in weights.iter_mut().enumerate() {
            *weight *= self.scorers[place % self.n_scorers].scale;
        }
        Planes {
            width: self.width(),
            n_scorers: self.n_scorers,
            weights,
            biases: self.scorers.iter().map(|scorer| scorer.bias).collect(),
        }
    }

    /// How many features there are.
    pub fn width(&self) -> usize {
        self.weights.width()
    }

    /// Whether every weight and bias is a number. Checked when a run ends; a run that overflowed must
    /// never become a model.
    pub fn is_finite(&self) -> bool {
        self.weights.compact().iter().all(|weight| weight.is_finite())
            && self.scorers.iter().all(|scorer| scorer.bias.is_finite() && scorer.scale.is_finite())
    }

    /// The weights before the scorers' factors.
    pub(crate) fn unscaled(&self) -> &Table {
        &self.weights
    }

    /// Sets a weight of a scorer whose factor is 1.
    pub(crate) fn set_weight(&mut self, feature: usize, scorer: usize, weight: f64) {
        self.weights.set_one(feature, scorer, weight);
    }

    /// The factor of one scorer.
    pub(crate) fn scale(&self, scorer: usize) -> f64 {
        self.scorers[scorer].scale
    }

    #[inline(always)]
    pub(crate) fn score_all<R: Row>(&self, row: R, scores: &mut [f64]) {
        let mut take = |k: usize, sum: f64| {
            let Scorer { scale, bias, .. } = self.scorers[k];
            scores[k] = sum * scale + bias;
        };
        if self.n_scorers == 1 {
            take(0, row.dot(self.weights.sole()));
        } else {
            self.weights.sums(row, take);
        }
    }

    /// `w ← keep·w + amount·row` and `b ← b + bias_amount` for one scorer.
    #[inline(always)]
    pub(crate) fn move_along<R: Row>(&mut self, row: R, step: Move, bias_amount: f64, memory: &mut Memories) {
        if step.keep != 1.0 || self.scaled || self.tracks_norm || memory.has_others() {
            self.move_told(row, step, bias_amount, memory);
            return;
        }
        if self.n_scorers != 1 {
            self.move_some(row, &[step], |_| bias_amount, memory);
            return;
        }
        // The usual step: nothing shrinks, and nobody has to be told but an average.
        let weights = self.weights.sole_mut();
        let scorer = &mut self.scorers[0];
        if let Some(averaged) = memory.averaged() {
            let (lag, missed) = averaged.lag(step, 1.0, weights.len());
            row.add_to_both([step.amount, missed * step.amount], weights, lag.sole_mut());
            averaged.leave_bias(step, scorer.bias);
        } else {
            row.add_to(step.amount, weights);
        }
        scorer.bias += bias_amount;
        scorer.moves += 1;
    }

    /// The usual steps of some scorers among several.
    fn move_some<R: Row>(
        &mut self,
        row: R,
        steps: &[Move],
        bias_amount: impl Fn(&Move) -> f64,
        memory: &mut Memories,
    ) {
        if let Some(averaged) = memory.averaged() {
            averaged.follow(row, steps, &mut self.weights);
        } else {
            self.weights.add(row, steps.iter().map(|step| (step.scorer, step.amount)));
        }
        for step in steps {
            let scorer = &mut self.scorers[step.scorer];
            if let Some(averaged) = memory.averaged() {
                averaged.leave_bias(*step, scorer.bias);
            }
            scorer.bias += bias_amount(step);
            scorer.moves += 1;
        }
    }

    /// [`Linear::move_along`], whatever has to be minded. On its own: the training loop mostly does without.
    #[inline(never)]
    fn move_told<R: Row>(&mut self, row: R, step: Move, bias_amount: f64, memory: &mut Memories) {
        memory.leaving(step, self);
        if step.keep != 1.0 {
            self.shrink(step, memory);
        }
        if self.tracks_norm {
            self.update_norm(row, step);
        }
        let scorer = &mut self.scorers[step.scorer];
        let amount = if self.scaled { step.amount / scorer.scale } else { step.amount };
        scorer.bias += bias_amount;
        scorer.moves += 1;
        self.weights.add(row, [(step.scorer, amount)].into_iter());
        memory.moved(row, step, amount, self);
    }

    fn shrink(&mut self, step: Move, memory: &mut Memories) {
        memory.shrinking(step, self);
        self.scaled = true;
        let scorer = &mut self.scorers[step.scorer];
        scorer.scale *= step.keep;
        if matches!(self.bias, Bias::Augmented(_)) {
            scorer.bias *= step.keep;
        }
        let size = scorer.scale.abs();
        if !(SMALLEST_SCALE..=LARGEST_SCALE).contains(&size) {
            let scale = scorer.scale;
            scorer.scale = 1.0;
            memory.folding(step, scale, self);
            for weight in self.weights.column_mut(step.scorer) {
                *weight *= scale;
            }
        }
    }

    /// `‖keep·w + a·x‖² = keep²‖w‖² + 2·keep·a·w·x + a²‖x‖²`, without touching a weight.
    fn update_norm<R: Row>(&mut self, row: R, step: Move) {
        let spread = row.norm2() + self.bias.spread();
        let scorer = &mut self.scorers[step.scorer];
        let score = match self.bias {
            Bias::Learned => step.score - scorer.bias,
            Bias::None | Bias::Augmented(_) => step.score,
        };
        let Move { keep, amount, .. } = step;
        scorer.norm2 = keep * keep * scorer.norm2 + 2.0 * keep * amount * score + amount * amount * spread;
        if scorer.norm2 < 0.0 {
            scorer.norm2 = 0.0;
        }
    }

    fn exact_norm2(&self, scorer: usize) -> f64 {
        let Scorer { scale, bias, .. } = self.scorers[scorer];
        let weights: f64 = self.weights.column(scorer).map(|weight| weight * weight).sum();
        let constant = match self.bias {
            Bias::Augmented(constant) => bias / constant,
            Bias::None | Bias::Learned => 0.0,
        };
        weights * scale * scale + constant * constant
    }
}

impl Hypothesis for Linear {
    fn n_scorers(&self) -> usize {
        self.n_scorers
    }

    fn weights(&self, scorer: usize) -> Vec<f64> {
        let scale = self.scorers[scorer].scale;
        self.weights.column(scorer).map(|weight| weight * scale).collect()
    }

    fn bias(&self, scorer: usize) -> f64 {
        self.scorers[scorer].bias
    }

    fn norm2(&self, scorer: usize) -> f64 {
        if self.tracks_norm { self.scorers[scorer].norm2 } else { self.exact_norm2(scorer) }
    }

    #[inline(always)]
    fn moves(&self, scorer: usize) -> u64 {
        // Without a panic, so that nothing is left of this where nobody wants the answer.
        self.scorers.get(scorer).map_or(0, |scorer| scorer.moves)
    }
}

impl Space for Linear {
    type Memory = Memories;

    /// Long rows are scored side by side; what a move inside the block makes untrue is found anew.
    fn block<E: Examples>(&self, examples: E) -> usize {
        if self.n_scorers == 1 && examples.has_long_rows() { SIDE_BY_SIDE } else { usize::MAX }
    }

    #[inline]
    fn prepare<E: Examples>(&mut self, examples: E, visits: Visits<'_>) {
        self.ahead.n_rows = 0;
        if self.block(examples) == SIDE_BY_SIDE && visits.len() == SIDE_BY_SIDE {
            let rows = std::array::from_fn(|place| examples.row(visits.row(place)));
            let sums = E::Row::dots(rows, self.weights.sole());
            self.ahead = Ahead { sums, n_rows: SIDE_BY_SIDE, moves: self.scorers[0].moves };
        }
    }

    fn settle(&mut self, _round: u64, _memory: &mut Memories) {
        self.ahead.n_rows = 0;
    }

    #[inline(always)]
    fn scores<R: Row>(&self, place: usize, row: R, scores: &mut [f64]) {
        if let [score] = scores {
            *score = self.sole_scorer()(place, row);
        } else {
            self.score_all(row, scores);
        }
    }

    #[inline(always)]
    fn sole_scorer<R: Row>(&self) -> impl Fn(usize, R) -> f64 {
        let Scorer { scale, bias, moves, .. } = self.scorers[0];
        let (weights, scaled) = (self.weights.sole(), self.scaled);
        let known = if self.ahead.moves == moves { &self.ahead.sums[..self.ahead.n_rows] } else { &[] };
        move |place, row| {
            let sum = known.get(place).copied().unwrap_or_else(|| row.dot(weights));
            if scaled { sum * scale + bias } else { sum + bias }
        }
    }

    #[inline]
    fn spread<R: Row>(&self, _place: usize, _scorer: usize, row: R) -> f64 {
        row.norm2() + self.bias.spread()
    }

    #[inline(always)]
    fn shift<R: Row>(&mut self, _place: usize, row: R, step: Move, memory: &mut Memories) {
        self.move_along(row, step, step.amount * self.bias_gain, memory);
    }

    const MOVES_TOGETHER: bool = true;

    fn shift_together<R: Row>(&mut self, place: usize, row: R, steps: &[Move], memory: &mut Memories) {
        let untold = !self.scaled && !self.tracks_norm && !memory.has_others() && self.n_scorers != 1;
        if untold && steps.iter().all(|step| step.keep == 1.0) {
            let gain = self.bias_gain;
            self.move_some(row, steps, |step| step.amount * gain, memory);
        } else {
            for &step in steps {
                self.shift(place, row, step, memory);
            }
        }
    }

    fn track_norm(&mut self) {
        if !self.tracks_norm {
            for scorer in 0..self.n_scorers {
                self.scorers[scorer].norm2 = self.exact_norm2(scorer);
            }
            self.tracks_norm = true;
        }
    }

    fn widen(&mut self, width: usize) {
        self.weights.widen(width);
    }
}

impl LinearSpace for Linear {
    const SUITS_KERNELS: bool = true;

    fn zero(shape: Shape) -> Self {
        Self::new(shape)
    }

    fn linear(&self) -> &Linear {
        self
    }

    fn start_from(&mut self, planes: &Planes) {
        assert_eq!(planes.n_scorers, self.n_scorers, "as many starting planes as scorers");
        self.widen(planes.width);
        self.weights.set(&planes.weights);
        for (scorer, bias) in self.scorers.iter_mut().zip(&planes.biases) {
            scorer.bias = *bias;
        }
        for scorer in 0..self.n_scorers {
            self.scorers[scorer].norm2 = self.exact_norm2(scorer);
        }
    }
}

impl Resumable for Linear {
    fn save<'a>(&'a self, state: &mut State<'a>) {
        let each = |part: fn(&Scorer) -> f64| self.scorers.iter().map(part).collect::<Vec<_>>();
        state.f64s("weights", self.weights.compact());
        state.f64s("scales", each(|scorer| scorer.scale));
        state.f64s("biases", each(|scorer| scorer.bias));
        state.f64s("norms", each(|scorer| scorer.norm2));
        state.u64s("moves", self.scorers.iter().map(|scorer| scorer.moves).collect::<Vec<_>>());
        state.u64s("traits", vec![u64::from(self.scaled), u64::from(self.tracks_norm)]);
    }

    fn restore(&mut self, state: &mut State<'_>) -> Result<(), StateError> {
        let n_scorers = self.n_scorers;
        let weights = state.take_f64s("weights")?;
        if weights.len() < self.weights.len() || !weights.len().is_multiple_of(n_scorers) {
            return Err(refuse("the weights are of another width"));
        }
        self.weights = Table::from_compact(&weights, n_scorers);
        let scales = state.take_n_f64s("scales", n_scorers)?;
        let biases = state.take_n_f64s("biases", n_scorers)?;
        let norms = state.take_n_f64s("norms", n_scorers)?;
        let moves = state.take_n_counters("moves", n_scorers, u64::MAX)?;
        for (k, scorer) in self.scorers.iter_mut().enumerate() {
            *scorer = Scorer { scale: scales[k], bias: biases[k], norm2: norms[k], moves: moves[k] };
        }
        let [scaled, tracks_norm] = state.take_counters("traits")?;
        (self.scaled, self.tracks_norm) = (scaled != 0, tracks_norm != 0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::{Dense, Sparse};

    fn step(scorer: usize, amount: f64, keep: f64, score: f64) -> Move {
        Move { scorer, amount, keep, extra: 0.0, score, round: 1 }
    }

    #[test]
    fn norms_follow_the_weights_through_steps_and_shrinking() {
        for bias in [Bias::None, Bias::Learned, Bias::Augmented(2.0)] {
            let mut linear = Linear::new(Shape { width: 3, n_scorers: 2, bias });
            linear.track_norm();
            let mut memory = Memories::default();
            for k in 1..50_i32 {
                let row = [f64::from(k % 5) - 2.0, f64::from(k % 3), 0.5];
                let mut scores = [0.0; 2];
                linear.score_all(Dense(&row), &mut scores);
                let scorer = (k % 2) as usize;
                let keep = if k % 4 == 0 { 0.9 } else { 1.0 };
                linear.shift(0, Dense(&row), step(scorer, 0.7, keep, scores[scorer]), &mut memory);
                assert!((linear.norm2(scorer) - linear.exact_norm2(scorer)).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn a_factor_of_zero_forgets_everything() {
        let mut linear = Linear::new(Shape { width: 2, n_scorers: 1, bias: Bias::None });
        let mut memory = Memories::default();
        linear.shift(0, Dense(&[1.0, 2.0]), step(0, 1.0, 1.0, 0.0), &mut memory);
        linear.shift(0, Dense(&[0.0, 1.0]), step(0, 1.0, 0.0, 2.0), &mut memory);
        assert_eq!(linear.weights(0), [0.0, 1.0]);
    }

    #[test]
    fn unknown_features_count_nothing() {
        for n_scorers in [1, 2] {
            let planes = Planes::from_parts(vec![2.0; 2 * n_scorers], vec![0.5; n_scorers]);
            let mut scores = vec![0.0; n_scorers];
            planes.scores(Dense(&[1.0, 1.0, 9.0, 9.0]), &mut scores);
            assert_eq!(scores, vec![4.5; n_scorers]);
            planes.scores(Sparse::new(&[1, 7], &[1.0, 9.0]), &mut scores);
            assert_eq!(scores, vec![2.5; n_scorers]);
        }
    }

    #[test]
    fn rows_side_by_side_score_as_each_alone() {
        let (width, n_rows) = (2100, 11);
        let values: Vec<f32> = (0..width * n_rows).map(|k| (k % 1013) as f32 / 7.0 - 50.1).collect();
        let classes = vec![0; n_rows];
        let examples = crate::examples::DenseExamples::new(&values, width, &classes);
        assert!(examples.has_long_rows());
        for known in [width, width - 1] {
            let weights = (0..known).map(|k| ((k * 7919) % 1009) as f64 / 17.0 - 29.0).collect();
            let planes = Planes::from_parts(weights, vec![0.25]);
            for visits in [Visits::all(examples), Visits::Listed(&[9, 1, 1, 5, 0, 7])] {
                let mut seen = Vec::new();
                planes.each(examples, visits, |number, scores| seen.push((number, scores[0].to_bits())));
                let alone = (0..visits.len()).map(|place| {
                    let mut score = [0.0];
                    planes.scores(examples.row(visits.row(place)), &mut score);
                    (visits.row(place), score[0].to_bits())
                });
                assert_eq!(seen, alone.collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn many_scorers_score_as_each_alone() {
        let n_scorers = 21;
        let width = 37;
        let weights: Vec<f64> =
            (0..width * n_scorers).map(|k| ((k * 7919) % 1009) as f64 / 17.0 - 29.0).collect();
        let planes = Planes::from_parts(weights, vec![0.25; n_scorers]);
        let row: Vec<f32> = (0..width).map(|j| if j % 3 == 0 { 0.0 } else { j as f32 / 7.0 }).collect();
        let indices: Vec<u32> = (0..width as u32).filter(|j| j % 3 != 0).collect();
        let values: Vec<f32> = indices.iter().map(|&j| row[j as usize]).collect();
        let (mut dense, mut sparse) = (vec![0.0; n_scorers], vec![0.0; n_scorers]);
        planes.scores(Dense(&row), &mut dense);
        planes.scores(Sparse::new(&indices, &values), &mut sparse);
        for scorer in 0..n_scorers {
            let alone = Dense(&row).dot(&planes.weights(scorer)) + 0.25;
            assert_eq!(dense[scorer].to_bits(), alone.to_bits());
            assert_eq!(sparse[scorer].to_bits(), alone.to_bits());
        }
    }
}
