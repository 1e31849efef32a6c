//! Hyperplanes that learn: weights, biases and what is kept beside them. For how they move, see
//! [`crate::space`].

use super::{Hyperplanes, Hypothesis, Shape, Table};
use crate::convention::Bias;
use crate::row::{Row, SIDE_BY_SIDE};

/// Hyperplanes that learn.
#[derive(Debug, Clone)]
pub struct Linear {
    pub(crate) n_outputs: usize,
    pub(crate) bias: Bias,
    pub(crate) bias_gain: f64,
    /// Weights before the factor.
    pub(crate) weights: Table,
    pub(crate) outputs: Vec<Output>,
    /// Whether any factor was ever other than 1; most rules never shrink.
    pub(crate) scaled: bool,
    pub(crate) tracks_norm: bool,
    pub(crate) ahead: Ahead,
}

/// What is known of the rows at hand before their turn, as long as the sole hyperplane does not move.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Ahead {
    pub(crate) sums: [f64; SIDE_BY_SIDE],
    pub(crate) n_rows: usize,
    /// The moves there had been.
    pub(crate) moves: u64,
}

/// What is kept once per hyperplane.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    pub(crate) scale: f64,
    pub(crate) bias: f64,
    pub(crate) norm2: f64,
    pub(crate) moves: u64,
}

impl Output {
    const NEW: Self = Self { scale: 1.0, bias: 0.0, norm2: 0.0, moves: 0 };
}

impl Linear {
    /// Zero weights of the given shape.
    pub fn new(shape: Shape) -> Self {
        Self {
            n_outputs: shape.n_outputs,
            bias: shape.bias,
            bias_gain: shape.bias.gain(),
            weights: Table::new(shape.width, shape.n_outputs),
            outputs: vec![Output::NEW; shape.n_outputs],
            scaled: false,
            tracks_norm: false,
            ahead: Ahead::default(),
        }
    }

    /// Adds a hyperplane of zeros after all others.
    pub(crate) fn add_output(&mut self) {
        self.weights.add_output();
        self.n_outputs += 1;
        self.outputs.push(Output::NEW);
    }

    /// The hyperplanes as they stand, as a copy that no longer moves.
    pub fn planes(&self) -> Hyperplanes {
        let mut weights = self.weights.compact().into_owned();
        for weights in weights.chunks_exact_mut(self.n_outputs).filter(|_| self.scaled) {
            for (weight, output) in weights.iter_mut().zip(&self.outputs) {
                *weight *= output.scale;
            }
        }
        Hyperplanes::from_parts(weights, self.outputs.iter().map(|output| output.bias).collect())
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

    pub(crate) fn exact_norm2(&self, output: usize) -> f64 {
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
        // Without a panic, so that the compiler drops this where the answer is unused.
        self.outputs.get(output).map_or(0, |output| output.moves)
    }
}
