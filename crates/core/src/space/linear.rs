//! Plain weights: one hyperplane per output, in doubles.
//!
//! Why doubles whatever the data is stored in: counts and integer features stay exact up to 2^53, while
//! single precision stops growing at 2^24 (`tests/precision.rs`). After 10^8 steps a weight has drifted by
//! 10^-11 of itself, in single precision by half (`benches/run.rs`). Rows are what costs memory bandwidth,
//! and they stay as narrow as they came.
//!
//! Weights are stored feature by feature, the outputs of one feature side by side, so that a row meets
//! the weights of all its classes in one sweep: compactly in what was learned, and while it is learned in the
//! [`Table`] that registers like best. Rules that shrink the weights do so through one factor per output, which keeps
//! a step on a sparse row as cheap as the row is short.

use super::{Hypothesis, LinearSpace, Move, Shape, Space, Table, Visits};
use crate::convention::Bias;
use crate::examples::Examples;
use crate::memory::{Memories, Memory};
use crate::row::{Row, SIDE_BY_SIDE};
use crate::simd::{self, Columns, Lanes, SWEEP};
use crate::state::{Resumable, State, StateError, refuse};

/// Beyond these the factor of an output is multiplied into its weights, long before anything overflows.
const SMALLEST_SCALE: f64 = 1e-60;
const LARGEST_SCALE: f64 = 1e60;

/// Hyperplanes that no longer move: what a trained model predicts with.
#[derive(Debug, Clone, PartialEq)]
pub struct Hyperplanes {
    width: usize,
    n_outputs: usize,
    /// The weight of feature `j` for output `k` is at `j * n_outputs + k`.
    weights: Vec<f64>,
    biases: Vec<f64>,
}

impl Hyperplanes {
    /// Hyperplanes through the origin with zero weights.
    pub fn zero(width: usize, n_outputs: usize) -> Self {
        Self { width, n_outputs, weights: vec![0.0; width * n_outputs], biases: vec![0.0; n_outputs] }
    }

    /// Hyperplanes from weights that lie feature by feature, all outputs of a feature side by side.
    pub fn from_parts(weights: Vec<f64>, biases: Vec<f64>) -> Self {
        let n_outputs = biases.len();
        assert!(n_outputs > 0, "at least one hyperplane");
        assert_eq!(weights.len() % n_outputs, 0, "as many weights for every output");
        Self { width: weights.len() / n_outputs, n_outputs, weights, biases }
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
    pub fn n_outputs(&self) -> usize {
        self.n_outputs
    }

    /// The weights of one hyperplane.
    pub fn weights(&self, output: usize) -> Vec<f64> {
        self.weights.iter().skip(output).step_by(self.n_outputs).copied().collect()
    }

    /// All weights as stored: feature by feature, the outputs side by side.
    pub fn raw_weights(&self) -> &[f64] {
        &self.weights
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
            wide.weights.resize(width * wide.n_outputs, 0.0);
        }
        wide
    }

    /// `w·x + b` of every hyperplane. Features beyond the width have no weight and count nothing.
    pub fn scores<R: Row>(&self, row: R, scores: &mut [f64]) {
        if row.width() <= self.width {
            weighted_sums(&self.weights, self.n_outputs, row, scores);
        } else {
            for (output, score) in scores.iter_mut().enumerate() {
                let weight = |feature: usize| self.weights.get(feature * self.n_outputs + output);
                *score = row.sum(|feature, value| weight(feature).map_or(0.0, |weight| weight * value));
            }
        }
        for (score, bias) in scores.iter_mut().zip(&self.biases) {
            *score += bias;
        }
    }
}

impl Hyperplanes {
    /// [`Hyperplanes::scores`] of all visited rows, in their order, each shown with its number. Long rows are read side by
    /// side, which the memory is quicker at; the scores are those of each row alone.
    pub fn each<E: Examples>(&self, examples: E, visits: Visits<'_>, mut show: impl FnMut(usize, &[f64])) {
        let several = self.n_outputs == 1 && examples.has_long_rows() && examples.width() <= self.width;
        let n_several = if several { visits.len() / SIDE_BY_SIDE * SIDE_BY_SIDE } else { 0 };
        for first in (0..n_several).step_by(SIDE_BY_SIDE) {
            let numbers: [usize; SIDE_BY_SIDE] = std::array::from_fn(|place| visits.row(first + place));
            let sums = E::Row::dots(numbers.map(|number| examples.row(number)), &self.weights);
            for (number, sum) in numbers.into_iter().zip(sums) {
                show(number, &[sum + self.biases[0]]);
            }
        }
        let mut scores = vec![0.0; self.n_outputs];
        for place in n_several..visits.len() {
            let number = visits.row(place);
            self.scores(examples.row(number), &mut scores);
            show(number, &scores);
        }
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

/// Hyperplanes that learn.
#[derive(Debug, Clone)]
pub struct Linear {
    n_outputs: usize,
    bias: Bias,
    bias_gain: f64,
    /// Weights before the factor.
    weights: Table,
    outputs: Vec<Output>,
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
struct Output {
    scale: f64,
    bias: f64,
    norm2: f64,
    moves: u64,
}

impl Linear {
    /// Zero weights of the given shape.
    pub fn new(shape: Shape) -> Self {
        let output = Output { scale: 1.0, bias: 0.0, norm2: 0.0, moves: 0 };
        Self {
            n_outputs: shape.n_outputs,
            bias: shape.bias,
            bias_gain: shape.bias.gain(),
            weights: Table::new(shape.width, shape.n_outputs),
            outputs: vec![output; shape.n_outputs],
            scaled: false,
            tracks_norm: false,
            ahead: Ahead::default(),
        }
    }

    /// The hyperplanes as they stand, as a copy that no longer moves.
    pub fn planes(&self) -> Hyperplanes {
        let mut weights = self.weights.compact().into_owned();
        for (place, weight) in weights.iter_mut().enumerate() {
            *weight *= self.outputs[place % self.n_outputs].scale;
        }
        Hyperplanes {
            width: self.width(),
            n_outputs: self.n_outputs,
            weights,
            biases: self.outputs.iter().map(|output| output.bias).collect(),
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
            && self.outputs.iter().all(|output| output.bias.is_finite() && output.scale.is_finite())
    }

    /// The weights before the outputs' factors.
    pub(crate) fn unscaled(&self) -> &Table {
        &self.weights
    }

    /// Sets a weight of an output whose factor is 1.
    pub(crate) fn set_weight(&mut self, feature: usize, output: usize, weight: f64) {
        self.weights.set_one(feature, output, weight);
    }

    /// The factor of one output.
    pub(crate) fn scale(&self, output: usize) -> f64 {
        self.outputs[output].scale
    }

    #[inline(always)]
    pub(crate) fn score_all<R: Row>(&self, row: R, scores: &mut [f64]) {
        let mut take = |k: usize, sum: f64| {
            let Output { scale, bias, .. } = self.outputs[k];
            scores[k] = sum * scale + bias;
        };
        if self.n_outputs == 1 {
            take(0, row.dot(self.weights.sole()));
        } else {
            self.weights.sums(row, take);
        }
    }

    /// `w ← keep·w + amount·row` and `b ← b + bias_amount` for one output.
    #[inline(always)]
    pub(crate) fn move_along<R: Row>(&mut self, row: R, step: Move, bias_amount: f64, memory: &mut Memories) {
        if step.keep != 1.0 || self.scaled || self.tracks_norm || memory.has_others() {
            self.move_told(row, step, bias_amount, memory);
            return;
        }
        if self.n_outputs != 1 {
            self.move_some(row, &[step], |_| bias_amount, memory);
            return;
        }
        // The usual step: nothing shrinks, and nobody has to be told but an average.
        let weights = self.weights.sole_mut();
        let output = &mut self.outputs[0];
        if let Some(averaged) = memory.averaged() {
            let (lag, missed) = averaged.lag(step, 1.0, weights.len());
            row.add_to_both([step.amount, missed * step.amount], weights, lag.sole_mut());
            averaged.leave_bias(step, output.bias);
        } else {
            row.add_to(step.amount, weights);
        }
        output.bias += bias_amount;
        output.moves += 1;
    }

    /// The usual steps of some outputs among several.
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
            self.weights.add(row, steps.iter().map(|step| (step.output, step.amount)));
        }
        for step in steps {
            let output = &mut self.outputs[step.output];
            if let Some(averaged) = memory.averaged() {
                averaged.leave_bias(*step, output.bias);
            }
            output.bias += bias_amount(step);
            output.moves += 1;
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
        let output = &mut self.outputs[step.output];
        let amount = if self.scaled { step.amount / output.scale } else { step.amount };
        output.bias += bias_amount;
        output.moves += 1;
        self.weights.add(row, [(step.output, amount)].into_iter());
        memory.moved(row, step, amount, self);
    }

    fn shrink(&mut self, step: Move, memory: &mut Memories) {
        memory.shrinking(step, self);
        self.scaled = true;
        let output = &mut self.outputs[step.output];
        output.scale *= step.keep;
        if matches!(self.bias, Bias::Augmented(_)) {
            output.bias *= step.keep;
        }
        let size = output.scale.abs();
        if !(SMALLEST_SCALE..=LARGEST_SCALE).contains(&size) {
            let scale = output.scale;
            output.scale = 1.0;
            memory.folding(step, scale, self);
            for weight in self.weights.column_mut(step.output) {
                *weight *= scale;
            }
        }
    }

    /// `‖keep·w + a·x‖² = keep²‖w‖² + 2·keep·a·w·x + a²‖x‖²`, without touching a weight.
    fn update_norm<R: Row>(&mut self, row: R, step: Move) {
        let spread = row.norm2() + self.bias.spread();
        let output = &mut self.outputs[step.output];
        let score = match self.bias {
            Bias::Learned => step.score - output.bias,
            Bias::None | Bias::Augmented(_) => step.score,
        };
        let Move { keep, amount, .. } = step;
        output.norm2 = keep * keep * output.norm2 + 2.0 * keep * amount * score + amount * amount * spread;
        if output.norm2 < 0.0 {
            output.norm2 = 0.0;
        }
    }

    fn exact_norm2(&self, output: usize) -> f64 {
        let Output { scale, bias, .. } = self.outputs[output];
        let weights: f64 = self.weights.column(output).map(|weight| weight * weight).sum();
        let constant = match self.bias {
            Bias::Augmented(constant) => bias / constant,
            Bias::None | Bias::Learned => 0.0,
        };
        weights * scale * scale + constant * constant
    }
}

impl Hypothesis for Linear {
    fn n_outputs(&self) -> usize {
        self.n_outputs
    }

    fn weights(&self, output: usize) -> Vec<f64> {
        let scale = self.outputs[output].scale;
        self.weights.column(output).map(|weight| weight * scale).collect()
    }

    fn bias(&self, output: usize) -> f64 {
        self.outputs[output].bias
    }

    fn norm2(&self, output: usize) -> f64 {
        if self.tracks_norm { self.outputs[output].norm2 } else { self.exact_norm2(output) }
    }

    #[inline(always)]
    fn moves(&self, output: usize) -> u64 {
        // Without a panic, so that nothing is left of this where nobody wants the answer.
        self.outputs.get(output).map_or(0, |output| output.moves)
    }
}

impl Space for Linear {
    type Memory = Memories;

    /// Long rows are scored side by side; what a move inside the block makes untrue is found anew.
    fn block<E: Examples>(&self, examples: E) -> usize {
        if self.n_outputs == 1 && examples.has_long_rows() { SIDE_BY_SIDE } else { usize::MAX }
    }

    #[inline]
    fn prepare<E: Examples>(&mut self, examples: E, visits: Visits<'_>) {
        self.ahead.n_rows = 0;
        if self.block(examples) == SIDE_BY_SIDE && visits.len() == SIDE_BY_SIDE {
            let rows = std::array::from_fn(|place| examples.row(visits.row(place)));
            let sums = E::Row::dots(rows, self.weights.sole());
            self.ahead = Ahead { sums, n_rows: SIDE_BY_SIDE, moves: self.outputs[0].moves };
        }
    }

    fn settle(&mut self, _round: u64, _memory: &mut Memories) {
        self.ahead.n_rows = 0;
    }

    #[inline(always)]
    fn scores<R: Row>(&self, place: usize, row: R, scores: &mut [f64]) {
        if let [score] = scores {
            *score = self.sole_output()(place, row);
        } else {
            self.score_all(row, scores);
        }
    }

    #[inline(always)]
    fn sole_output<R: Row>(&self) -> impl Fn(usize, R) -> f64 {
        let Output { scale, bias, moves, .. } = self.outputs[0];
        let (weights, scaled) = (self.weights.sole(), self.scaled);
        let known = if self.ahead.moves == moves { &self.ahead.sums[..self.ahead.n_rows] } else { &[] };
        move |place, row| {
            let sum = known.get(place).copied().unwrap_or_else(|| row.dot(weights));
            if scaled { sum * scale + bias } else { sum + bias }
        }
    }

    #[inline]
    fn spread<R: Row>(&self, _place: usize, _output: usize, row: R) -> f64 {
        row.norm2() + self.bias.spread()
    }

    #[inline(always)]
    fn shift<R: Row>(&mut self, _place: usize, row: R, step: Move, memory: &mut Memories) {
        self.move_along(row, step, step.amount * self.bias_gain, memory);
    }

    const MOVES_TOGETHER: bool = true;

    fn shift_together<R: Row>(&mut self, place: usize, row: R, steps: &[Move], memory: &mut Memories) {
        let untold = !self.scaled && !self.tracks_norm && !memory.has_others() && self.n_outputs != 1;
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
            for output in 0..self.n_outputs {
                self.outputs[output].norm2 = self.exact_norm2(output);
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

    fn start_from(&mut self, planes: &Hyperplanes) {
        assert_eq!(planes.n_outputs, self.n_outputs, "as many starting planes as outputs");
        self.widen(planes.width);
        self.weights.set(&planes.weights);
        for (output, bias) in self.outputs.iter_mut().zip(&planes.biases) {
            output.bias = *bias;
        }
        for output in 0..self.n_outputs {
            self.outputs[output].norm2 = self.exact_norm2(output);
        }
    }
}

impl Resumable for Linear {
    fn save<'a>(&'a self, state: &mut State<'a>) {
        let each = |part: fn(&Output) -> f64| self.outputs.iter().map(part).collect::<Vec<_>>();
        state.f64s("weights", self.weights.compact());
        state.f64s("scales", each(|output| output.scale));
        state.f64s("biases", each(|output| output.bias));
        state.f64s("norms", each(|output| output.norm2));
        state.u64s("moves", self.outputs.iter().map(|output| output.moves).collect::<Vec<_>>());
        state.u64s("traits", vec![u64::from(self.scaled), u64::from(self.tracks_norm)]);
    }

    fn restore(&mut self, state: &mut State<'_>) -> Result<(), StateError> {
        let n_outputs = self.n_outputs;
        let weights = state.take_f64s("weights")?;
        if weights.len() < self.weights.len() || !weights.len().is_multiple_of(n_outputs) {
            return Err(refuse("the weights are of another width"));
        }
        self.weights = Table::from_compact(&weights, n_outputs);
        let scales = state.take_n_f64s("scales", n_outputs)?;
        let biases = state.take_n_f64s("biases", n_outputs)?;
        let norms = state.take_n_f64s("norms", n_outputs)?;
        let moves = state.take_n_counters("moves", n_outputs, u64::MAX)?;
        for (k, output) in self.outputs.iter_mut().enumerate() {
            *output = Output { scale: scales[k], bias: biases[k], norm2: norms[k], moves: moves[k] };
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

    fn step(output: usize, amount: f64, keep: f64, score: f64) -> Move {
        Move { output, amount, keep, extra: 0.0, score, round: 1 }
    }

    #[test]
    fn norms_follow_the_weights_through_steps_and_shrinking() {
        for bias in [Bias::None, Bias::Learned, Bias::Augmented(2.0)] {
            let mut linear = Linear::new(Shape { width: 3, n_outputs: 2, bias });
            linear.track_norm();
            let mut memory = Memories::default();
            for k in 1..50_i32 {
                let row = [f64::from(k % 5) - 2.0, f64::from(k % 3), 0.5];
                let mut scores = [0.0; 2];
                linear.score_all(Dense(&row), &mut scores);
                let output = (k % 2) as usize;
                let keep = if k % 4 == 0 { 0.9 } else { 1.0 };
                linear.shift(0, Dense(&row), step(output, 0.7, keep, scores[output]), &mut memory);
                assert!((linear.norm2(output) - linear.exact_norm2(output)).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn a_factor_of_zero_forgets_everything() {
        let mut linear = Linear::new(Shape { width: 2, n_outputs: 1, bias: Bias::None });
        let mut memory = Memories::default();
        linear.shift(0, Dense(&[1.0, 2.0]), step(0, 1.0, 1.0, 0.0), &mut memory);
        linear.shift(0, Dense(&[0.0, 1.0]), step(0, 1.0, 0.0, 2.0), &mut memory);
        assert_eq!(linear.weights(0), [0.0, 1.0]);
    }

    #[test]
    fn unknown_features_count_nothing() {
        for n_outputs in [1, 2] {
            let planes = Hyperplanes::from_parts(vec![2.0; 2 * n_outputs], vec![0.5; n_outputs]);
            let mut scores = vec![0.0; n_outputs];
            planes.scores(Dense(&[1.0, 1.0, 9.0, 9.0]), &mut scores);
            assert_eq!(scores, vec![4.5; n_outputs]);
            planes.scores(Sparse::new(&[1, 7], &[1.0, 9.0]), &mut scores);
            assert_eq!(scores, vec![2.5; n_outputs]);
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
            let planes = Hyperplanes::from_parts(weights, vec![0.25]);
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
    fn many_outputs_score_as_each_alone() {
        let n_outputs = 21;
        let width = 37;
        let weights: Vec<f64> =
            (0..width * n_outputs).map(|k| ((k * 7919) % 1009) as f64 / 17.0 - 29.0).collect();
        let planes = Hyperplanes::from_parts(weights, vec![0.25; n_outputs]);
        let row: Vec<f32> = (0..width).map(|j| if j % 3 == 0 { 0.0 } else { j as f32 / 7.0 }).collect();
        let indices: Vec<u32> = (0..width as u32).filter(|j| j % 3 != 0).collect();
        let values: Vec<f32> = indices.iter().map(|&j| row[j as usize]).collect();
        let (mut dense, mut sparse) = (vec![0.0; n_outputs], vec![0.0; n_outputs]);
        planes.scores(Dense(&row), &mut dense);
        planes.scores(Sparse::new(&indices, &values), &mut sparse);
        for output in 0..n_outputs {
            let alone = Dense(&row).dot(&planes.weights(output)) + 0.25;
            assert_eq!(dense[output].to_bits(), alone.to_bits());
            assert_eq!(sparse[output].to_bits(), alone.to_bits());
        }
    }
}
