//! Weights as a sum over rows, each with a dual variable per output: the home of dual coordinate descent.
//!
//! `v = Σ c_i b_i y_i x_i`, where `c_i` is the weight of a row and `b_i` its dual variable, which a rule sets to the
//! best value there is while all others stay. The weight vector is `v`, or `v` pulled towards zero by `l1` feature
//! by feature (`soft`), which is what a penalty on absolute weights means in the dual: weights are then exactly zero
//! until enough rows ask for them.
//!
//! Rows are known by their numbers, so this is for rows that stay. A run has converged when no visit of a whole epoch
//! changed the margin of its row by more than a tolerance.

use super::{Hyperplanes, Hypothesis, Linear, LinearSpace, Move, Shape, Space, Visits};
use crate::convention::Bias;
use crate::examples::Examples;
use crate::memory::Memories;
use crate::row::{Row, Sparse};
use crate::state::{Resumable, State, StateError, wrong_length};

/// Hyperplanes with a dual variable per row and output.
#[derive(Debug, Clone)]
pub struct Dual {
    /// The weight vectors.
    linear: Linear,
    bias: Bias,
    /// How far weights are pulled towards zero.
    l1: f64,
    /// `v`, feature by feature and the outputs side by side; empty where nothing is pulled, as it is the weights.
    sums: Vec<f64>,
    /// The dual variables, row by row and the outputs side by side.
    duals: Vec<f64>,
    /// The squared norm of every row that was visited, bias coordinate included; not a number for the others.
    norms: Vec<f64>,
    /// The rows of the block at hand.
    rows: Vec<u32>,
    /// The largest change that a row's own margin took since the epoch began.
    largest: f64,
    tolerance: f64,
}

/// A value pulled towards zero by `by`, and zero if it is no farther away.
#[inline(always)]
fn soft(value: f64, by: f64) -> f64 {
    // No sign is left on a zero.
    if value.abs() <= by { 0.0 } else { value - by.copysign(value) }
}

impl Dual {
    /// Zero weights and variables. Weights are pulled towards zero by `l1`; a change of a margin by `tolerance` is
    /// none.
    pub fn new(shape: Shape, l1: f64, tolerance: f64) -> Self {
        Self {
            linear: Linear::new(shape),
            bias: shape.bias,
            l1,
            sums: Vec::new(),
            duals: Vec::new(),
            norms: Vec::new(),
            rows: Vec::new(),
            largest: 0.0,
            tolerance,
        }
    }

    /// The dual variables of one row, by output; none if it was never visited.
    pub fn duals(&self, row: usize) -> &[f64] {
        let n = self.n_outputs();
        self.duals.get(row * n..(row + 1) * n).unwrap_or_default()
    }

    /// Moves `v` along the row, and the weights to where it then points.
    fn move_pulled<R: Row>(&mut self, row: R, step: Move, bias_amount: f64, memory: &mut Memories) {
        let n_outputs = self.n_outputs();
        self.sums.resize(self.linear.width() * n_outputs, 0.0);
        let (mut features, mut changes) = (Vec::new(), Vec::new());
        for (feature, value) in row.entries() {
            let sum = &mut self.sums[feature * n_outputs + step.output];
            let before = soft(*sum, self.l1);
            *sum += step.amount * value;
            let change = soft(*sum, self.l1) - before;
            if change != 0.0 {
                features.push(feature as u32);
                changes.push(change);
            }
        }
        let along = Move { amount: 1.0, ..step };
        self.linear.move_along(Sparse::new(&features, &changes), along, bias_amount, memory);
        for &feature in &features {
            let pulled = soft(self.sums[feature as usize * n_outputs + step.output], self.l1);
            // Adding a difference may miss by a rounding; what is zero must be zero.
            self.linear.set_weight(feature as usize, step.output, pulled);
        }
    }
}

impl Hypothesis for Dual {
    fn n_outputs(&self) -> usize {
        self.linear.n_outputs()
    }

    fn weights(&self, output: usize) -> Vec<f64> {
        self.linear.weights(output)
    }

    fn bias(&self, output: usize) -> f64 {
        self.linear.bias(output)
    }

    fn norm2(&self, output: usize) -> f64 {
        self.linear.norm2(output)
    }

    fn moves(&self, output: usize) -> u64 {
        self.linear.moves(output)
    }
}

impl Space for Dual {
    type Memory = Memories;

    fn prepare<E: Examples>(&mut self, examples: E, visits: Visits<'_>) {
        self.rows.clear();
        self.rows.extend((0..visits.len()).map(|place| visits.row(place) as u32));
        let n_rows = self.rows.iter().max().map_or(0, |&last| last as usize + 1);
        if n_rows > self.norms.len() {
            self.norms.resize(n_rows, f64::NAN);
        }
        let n_duals = self.norms.len() * self.n_outputs();
        if n_duals > self.duals.len() {
            self.duals.resize(n_duals, 0.0);
        }
        for &row in &self.rows {
            let norm2 = &mut self.norms[row as usize];
            if norm2.is_nan() {
                *norm2 = examples.row(row as usize).norm2() + self.bias.spread();
            }
        }
    }

    fn scores<R: Row>(&self, _place: usize, row: R, scores: &mut [f64]) {
        self.linear.score_all(row, scores);
    }

    fn spread<R: Row>(&self, place: usize, _output: usize, _row: R) -> f64 {
        self.norms[self.rows[place] as usize]
    }

    fn dual(&self, place: usize, output: usize) -> f64 {
        self.duals[self.rows[place] as usize * self.n_outputs() + output]
    }

    fn shift<R: Row>(&mut self, place: usize, row: R, step: Move, memory: &mut Memories) {
        let number = self.rows[place] as usize;
        let n_outputs = self.n_outputs();
        self.duals[number * n_outputs + step.output] = step.extra;
        self.largest = self.largest.max(step.amount.abs() * self.norms[number]);
        let bias_amount = step.amount * self.bias.gain();
        if self.l1 > 0.0 {
            self.move_pulled(row, step, bias_amount, memory);
        } else {
            self.linear.move_along(row, step, bias_amount, memory);
        }
    }

    fn end_epoch(&mut self) -> bool {
        std::mem::take(&mut self.largest) <= self.tolerance
    }

    fn leaves(&mut self) {
        self.norms.clear();
    }

    fn track_norm(&mut self) {
        // Pulled weights do not move along the row, so that their norm is measured on demand.
        if self.l1 == 0.0 {
            self.linear.track_norm();
        }
    }

    fn widen(&mut self, width: usize) {
        self.linear.widen(width);
    }
}

impl LinearSpace for Dual {
    fn zero(shape: Shape) -> Self {
        Self::new(shape, 0.0, 0.0)
    }

    fn linear(&self) -> &Linear {
        &self.linear
    }

    /// The penalty is then on the distance from these hyperplanes.
    fn start_from(&mut self, planes: &Hyperplanes) {
        self.linear.start_from(planes);
        if self.l1 > 0.0 {
            // The point that is pulled to where the start lies.
            self.sums = planes.raw_weights().iter().map(|weight| pushed(*weight, self.l1)).collect();
        }
    }
}

/// What [`soft`] pulls to `weight`.
fn pushed(weight: f64, by: f64) -> f64 {
    if weight == 0.0 { 0.0 } else { weight + by.copysign(weight) }
}

impl Resumable for Dual {
    fn save<'a>(&'a self, state: &mut State<'a>) {
        self.linear.save(state);
        state.f64s("sums", &self.sums);
        state.f64s("duals", &self.duals);
        state.f64s("largest-change", vec![self.largest]);
    }

    fn restore(&mut self, state: &mut State<'_>) -> Result<(), StateError> {
        self.linear.restore(state)?;
        let n_outputs = self.n_outputs();
        let most = self.linear.width() * n_outputs;
        self.sums = state.take_f64s("sums")?;
        if self.sums.len() > most {
            return Err(wrong_length("sums", most, self.sums.len()));
        }
        self.duals = state.take_f64s("duals")?;
        if !self.duals.len().is_multiple_of(n_outputs) {
            return Err(wrong_length("duals", self.duals.len() / n_outputs * n_outputs, self.duals.len()));
        }
        self.largest = state.take_n_f64s("largest-change", 1)?[0];
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_near_zero_is_pulled_onto_it() {
        for (value, pulled) in [(0.5, 0.0), (-1.0, 0.0), (1.5, 0.5), (-3.0, -2.0), (-0.0, 0.0)] {
            assert_eq!(soft(value, 1.0).to_bits(), f64::to_bits(pulled));
            assert_eq!(soft(pushed(pulled, 1.0), 1.0), pulled);
        }
    }
}
