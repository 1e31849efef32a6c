//! Weights with a variance for every feature: the home of second-order rules.
//!
//! A step goes along `Σx` instead of `x`, and afterwards the variances of the features it touched
//! shrink: what was seen often moves little. `Σ` is kept as its diagonal, one number per weight.

use super::{Hyperplanes, Hypothesis, Linear, LinearSpace, Move, Shape, Space};
use crate::convention::Bias;
use crate::memory::Memories;
use crate::row::{Row, Stretched};
use crate::state::{FACTORS, Layout, Part, Resumable, State, StateError};

/// Hyperplanes with a variance per weight.
#[derive(Debug, Clone)]
pub struct Diagonal {
    linear: Linear,
    bias: Bias,
    /// Per output: the variance of every feature.
    variances: Vec<Vec<f64>>,
    /// Per output: the variance of the bias.
    bias_variances: Vec<f64>,
}

impl Diagonal {
    /// Zero weights, and variance 1 throughout.
    pub fn new(shape: Shape) -> Self {
        Self {
            linear: Linear::new(shape),
            bias: shape.bias,
            variances: vec![vec![1.0; shape.width]; shape.n_outputs],
            bias_variances: vec![1.0; shape.n_outputs],
        }
    }

    /// The variance of every feature for one output.
    pub fn variances(&self, output: usize) -> &[f64] {
        &self.variances[output]
    }
}

impl Hypothesis for Diagonal {
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

impl Space for Diagonal {
    type Memory = Memories;

    fn scores<R: Row>(&self, _place: usize, row: R, scores: &mut [f64]) {
        self.linear.score_all(row, scores);
    }

    /// The bias is a feature like any other here: it has a variance and adds to the spread.
    fn spread<R: Row>(&self, _place: usize, output: usize, row: R) -> f64 {
        let variances = &self.variances[output];
        let features = row.sum(|feature, value| variances[feature] * value * value);
        features + self.bias_variances[output] * self.bias.gain()
    }

    fn shift<R: Row>(&mut self, _place: usize, row: R, step: Move, memory: &mut Memories) {
        let variances = &mut self.variances[step.output];
        let bias_variance = &mut self.bias_variances[step.output];
        let gain = self.bias.gain();
        let along = Stretched { row, metric: variances };
        // The linear part's norm would need w·Σx, which is not tracked: it is measured on demand.
        self.linear.move_along(along, step, step.amount * *bias_variance * gain, memory);
        if step.extra != 0.0 {
            for (feature, value) in row.entries() {
                let variance = variances[feature];
                variances[feature] = variance - step.extra * (variance * value) * (variance * value);
            }
            *bias_variance -= step.extra * *bias_variance * *bias_variance * gain;
        }
    }

    fn track_norm(&mut self) {}

    fn widen(&mut self, width: usize) {
        self.linear.widen(width);
        for variances in &mut self.variances {
            variances.resize(width.max(variances.len()), 1.0);
        }
    }
}

impl LinearSpace for Diagonal {
    fn zero(shape: Shape) -> Self {
        Self::new(shape)
    }

    fn linear(&self) -> &Linear {
        &self.linear
    }

    fn start_from(&mut self, planes: &Hyperplanes) {
        self.widen(planes.width());
        self.linear.start_from(planes);
    }
}

impl Resumable for Diagonal {
    fn save<'a>(&'a self, state: &mut State<'a>) {
        self.linear.save(state);
        state.f64s("variances", self.variances.concat()).laid(Layout::InTurn(Part::Alike(1.0)));
        state.f64s("bias-variances", &self.bias_variances).laid(FACTORS);
    }

    fn restore(&mut self, state: &mut State<'_>) -> Result<(), StateError> {
        self.linear.restore(state)?;
        let (width, n_outputs) = (self.linear.width(), self.n_outputs());
        let variances = state.take_n_f64s("variances", width * n_outputs)?;
        for (output, part) in self.variances.iter_mut().enumerate() {
            *part = variances[output * width..(output + 1) * width].to_vec();
        }
        self.bias_variances = state.take_n_f64s("bias-variances", n_outputs)?;
        Ok(())
    }
}
