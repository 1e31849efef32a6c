//! Weights that stand still for a batch of rows and then move once, along all of them together.
//!
//! The block of the training loop is the batch: inside it every row is scored by the hypothesis the
//! batch began with, and [`Space::settle`] makes the one move at its end. A batch of all rows is the
//! batch perceptron of the textbooks; a short one is the mini-batch.

use super::{Hyperplanes, Hypothesis, Linear, LinearSpace, Move, Shape, Space};
use crate::examples::Examples;
use crate::memory::Memories;
use crate::row::{Dense, Row};
use crate::state::{COUNTED, Layout, Part, Resumable, SIGNED, State, StateError};

/// Hyperplanes that move batch by batch.
#[derive(Debug, Clone)]
pub struct Batch {
    linear: Linear,
    bias_gain: f64,
    size: usize,
    mean: bool,
    pending: Vec<Pending>,
}

/// What the current batch has asked of one output so far.
#[derive(Debug, Clone)]
struct Pending {
    weights: Vec<f64>,
    bias: f64,
    n_rows: u64,
}

impl Batch {
    /// Zero weights. `size` rows make a batch, 0 meaning all; `mean` divides a batch's move by the
    /// number of rows that asked for it.
    pub fn new(shape: Shape, size: usize, mean: bool) -> Self {
        let pending = Pending { weights: vec![0.0; shape.width], bias: 0.0, n_rows: 0 };
        Self {
            linear: Linear::new(shape),
            bias_gain: shape.bias.gain(),
            size,
            mean,
            pending: vec![pending; shape.n_outputs],
        }
    }
}

impl Hypothesis for Batch {
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

impl Space for Batch {
    type Memory = Memories;

    fn block<E: Examples>(&self, _examples: E) -> usize {
        if self.size == 0 { usize::MAX } else { self.size }
    }

    fn scores<R: Row>(&self, _place: usize, row: R, scores: &mut [f64]) {
        self.linear.score_all(row, scores);
    }

    fn spread<R: Row>(&self, place: usize, output: usize, row: R) -> f64 {
        self.linear.spread(place, output, row)
    }

    fn shift<R: Row>(&mut self, _place: usize, row: R, step: Move, _memory: &mut Memories) {
        let pending = &mut self.pending[step.output];
        row.add_to(step.amount, &mut pending.weights);
        pending.bias += step.amount * self.bias_gain;
        pending.n_rows += 1;
    }

    fn settle(&mut self, round: u64, memory: &mut Memories) {
        for (output, pending) in self.pending.iter_mut().enumerate().filter(|(_, pending)| pending.n_rows > 0)
        {
            let amount = if self.mean { 1.0 / pending.n_rows as f64 } else { 1.0 };
            let step = Move { output, amount, keep: 1.0, extra: 0.0, score: 0.0, round };
            self.linear.move_along(Dense(&pending.weights), step, amount * pending.bias, memory);
            pending.weights.fill(0.0);
            pending.bias = 0.0;
            pending.n_rows = 0;
        }
    }

    /// Norms are measured on demand: once per batch is rare enough.
    fn track_norm(&mut self) {}

    fn widen(&mut self, width: usize) {
        self.linear.widen(width);
        for pending in &mut self.pending {
            pending.weights.resize(width.max(pending.weights.len()), 0.0);
        }
    }
}

impl LinearSpace for Batch {
    fn zero(shape: Shape) -> Self {
        Self::new(shape, 0, false)
    }

    fn linear(&self) -> &Linear {
        &self.linear
    }

    fn start_from(&mut self, planes: &Hyperplanes) {
        self.widen(planes.width());
        self.linear.start_from(planes);
    }
}

impl Resumable for Batch {
    fn save<'a>(&'a self, state: &mut State<'a>) {
        self.linear.save(state);
        let weights: Vec<f64> =
            self.pending.iter().flat_map(|pending| pending.weights.iter().copied()).collect();
        state.f64s("pending", weights).laid(Layout::InTurn(Part::Signed));
        let biases: Vec<_> = self.pending.iter().map(|pending| pending.bias).collect();
        state.f64s("pending-biases", biases).laid(SIGNED);
        let n_rows: Vec<_> = self.pending.iter().map(|pending| pending.n_rows).collect();
        state.u64s("pending-rows", n_rows).laid(COUNTED);
    }

    fn restore(&mut self, state: &mut State<'_>) -> Result<(), StateError> {
        self.linear.restore(state)?;
        let (width, n_outputs) = (self.linear.width(), self.n_outputs());
        let weights = state.take_n_f64s("pending", width * n_outputs)?;
        let biases = state.take_n_f64s("pending-biases", n_outputs)?;
        let n_rows = state.take_n_counters("pending-rows", n_outputs, u64::MAX)?;
        for (k, pending) in self.pending.iter_mut().enumerate() {
            let weights = weights[k * width..(k + 1) * width].to_vec();
            *pending = Pending { weights, bias: biases[k], n_rows: n_rows[k] };
        }
        Ok(())
    }
}
