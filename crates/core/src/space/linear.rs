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

use super::{LinearSpace, Space};
use crate::convention::Bias;
use crate::examples::Examples;
use crate::hypothesis::{Ahead, Hyperplanes, Linear, Move, Output, Shape, Table, Visits};
use crate::memory::{Memories, Memory};
use crate::row::{Row, SIDE_BY_SIDE};
use crate::state::{COUNTED, FACTORS, Resumable, SIGNED, State, StateError, refuse};

/// Beyond these the factor of an output is multiplied into its weights, long before anything overflows.
const SMALLEST_SCALE: f64 = 1e-60;
const LARGEST_SCALE: f64 = 1e60;

impl Linear {
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
        // The usual step: nothing shrinks, and only an average needs to know.
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

    fn whole_mut(&mut self) -> Option<&mut Linear> {
        Some(self)
    }

    fn set_moves(&mut self, moves: &[u64]) {
        for (output, moves) in self.outputs.iter_mut().zip(moves) {
            output.moves = *moves;
        }
    }

    fn start_from(&mut self, planes: &Hyperplanes) {
        assert_eq!(planes.n_outputs(), self.n_outputs, "as many starting planes as outputs");
        self.widen(planes.width());
        self.weights.set(planes.raw_weights());
        for (output, bias) in self.outputs.iter_mut().zip(planes.biases()) {
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
        state.f64s("weights", self.weights.compact()).laid(SIGNED);
        state.f64s("scales", each(|output| output.scale)).laid(FACTORS);
        state.f64s("biases", each(|output| output.bias)).laid(SIGNED);
        state.f64s("norms", each(|output| output.norm2)).laid(COUNTED);
        state.u64s("moves", self.outputs.iter().map(|output| output.moves).collect::<Vec<_>>()).laid(COUNTED);
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
    use crate::hypothesis::Hypothesis as _;
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
        let n_rows = 11;
        for width in [2100, 28] {
            rows_of_width_score_as_each_alone(width, n_rows);
        }
    }

    fn rows_of_width_score_as_each_alone(width: usize, n_rows: usize) {
        let values: Vec<f32> = (0..width * n_rows).map(|k| (k % 1013) as f32 / 7.0 - 50.1).collect();
        let classes = vec![0; n_rows];
        let examples = crate::examples::DenseExamples::new(&values, width, &classes);
        assert_eq!(examples.has_long_rows(), width > 2000);
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
