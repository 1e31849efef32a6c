//! Weights that stand still for an epoch and then jump to where the normal equations point.
//!
//! An epoch sums `Σ c x xᵀ` and `Σ a x` over the rows, where a rule says how much a row counts (`c`, the step's `extra`) and
//! how far it pulls (`a`, the amount of its move). [`Space::settle`] then solves `(Σ c x xᵀ + l2) d = Σ a x - l2 w`, columns
//! centred by their means if there is a bias, and the weights move by `d`. A rule whose rows count the same in every epoch
//! is solved by the first one; the second corrects what rounding left, and finds nothing to correct if nothing is. Rules
//! whose rows count by their residuals (`reweighs`) come closer with every epoch.
//!
//! Columns that depend on each other leave the equations without a single solution. Then a little is added to the
//! diagonal, [`RIDGE`] of its mean, and the epochs that follow take away what that changed: the outcome is the solution
//! with the smallest weights. Sums run in the order of the rows, so the same visits give the same bits.

use super::{Hyperplanes, Hypothesis, Linear, LinearSpace, Move, Shape, Space};
use crate::convention::Bias;
use crate::memory::Memories;
use crate::row::{Dense, Row};
use crate::state::{Resumable, State, StateError};

/// What is added to the diagonal where columns depend on each other, as a part of its mean.
const RIDGE: f64 = 1e-6;
/// A pivot this much smaller than its diagonal is zero but for rounding.
const PIVOT: f64 = 1e-11;

/// Hyperplanes that are solved for.
#[derive(Debug, Clone)]
pub struct Normal {
    linear: Linear,
    bias: Bias,
    l2: f64,
    /// Whether rows count differently from epoch to epoch.
    reweighs: bool,
    /// A jump this small beside the weights is none.
    tolerance: f64,
    /// `Σ c x xᵀ`, row by row of its lower half.
    products: Vec<f64>,
    /// `Σ c x`, `Σ a x`, and `Σ c` and `Σ a`.
    sums: Vec<f64>,
    pulls: Vec<f64>,
    total: f64,
    pull: f64,
    /// Whether `products`, `sums` and `total` are of all rows already.
    is_counted: bool,
    /// The row at hand, every feature of it.
    row: Vec<f64>,
    /// How far the last jump went, beside the weights.
    jump: f64,
}

impl Normal {
    /// Zero weights, pulled towards zero by `l2`.
    pub fn new(shape: Shape, l2: f64, reweighs: bool, tolerance: f64) -> Self {
        let width = shape.width;
        Self {
            linear: Linear::new(shape),
            bias: shape.bias,
            l2,
            reweighs,
            tolerance,
            products: vec![0.0; width * (width + 1) / 2],
            sums: vec![0.0; width],
            pulls: vec![0.0; width],
            total: 0.0,
            pull: 0.0,
            is_counted: false,
            row: vec![0.0; width],
            jump: f64::INFINITY,
        }
    }

    /// Where the equations point from here, and by how much the bias moves.
    fn solve(&self) -> (Vec<f64>, f64) {
        let width = self.sums.len();
        let weights = self.linear.weights(0);
        let has_bias = self.bias.gain() != 0.0 && self.total > 0.0;
        let mean: Vec<f64> =
            if has_bias { self.sums.iter().map(|sum| sum / self.total).collect() } else { vec![0.0; width] };
        let mut matrix = self.products.clone();
        let mut target = Vec::with_capacity(width);
        let mut start = 0;
        for i in 0..width {
            for j in 0..=i {
                matrix[start + j] -= mean[i] * self.sums[j];
            }
            matrix[start + i] += self.l2;
            target.push(self.pulls[i] - mean[i] * self.pull - self.l2 * weights[i]);
            start += i + 1;
        }
        let mut jump = target.clone();
        let diagonal = |matrix: &[f64], i: usize| matrix[i * (i + 1) / 2 + i];
        let mut factor = matrix.clone();
        if !factorise(&mut factor, width) {
            let trace: f64 = (0..width).map(|i| diagonal(&matrix, i).max(0.0)).sum();
            let ridge = RIDGE * trace / width as f64;
            factor = matrix;
            for i in 0..width {
                // A column of one value has no diagonal of its own, and gets no weight.
                factor[i * (i + 1) / 2 + i] += if ridge > 0.0 { ridge } else { 1.0 };
            }
            if !factorise(&mut factor, width) {
                return (vec![f64::NAN; width], f64::NAN);
            }
        }
        substitute(&factor, &mut jump);
        let bias = if has_bias {
            let taken: f64 = self.sums.iter().zip(&jump).map(|(sum, step)| sum * step).sum();
            (self.pull - taken) / self.total
        } else {
            0.0
        };
        (jump, bias)
    }
}

/// The factor of a symmetric matrix in place, lower half by rows (Cholesky); false if it is not positive definite.
fn factorise(matrix: &mut [f64], width: usize) -> bool {
    for i in 0..width {
        let (above, row) = matrix.split_at_mut(i * (i + 1) / 2);
        let row = &mut row[..=i];
        let before = row[i];
        for j in 0..i {
            let other = &above[j * (j + 1) / 2..][..=j];
            let taken: f64 = other[..j].iter().zip(&row[..j]).map(|(a, b)| a * b).sum();
            row[j] = (row[j] - taken) / other[j];
        }
        let left = before - row[..i].iter().map(|value| value * value).sum::<f64>();
        if left.is_nan() || left <= PIVOT * before {
            return false;
        }
        row[i] = left.sqrt();
    }
    true
}

/// Solves `L Lᵀ x = b`, where `x` holds `b` at first.
fn substitute(factor: &[f64], x: &mut [f64]) {
    let row = |i: usize| &factor[i * (i + 1) / 2..][..=i];
    for i in 0..x.len() {
        let taken: f64 = row(i)[..i].iter().zip(&x[..i]).map(|(a, b)| a * b).sum();
        x[i] = (x[i] - taken) / row(i)[i];
    }
    for i in (0..x.len()).rev() {
        x[i] /= row(i)[i];
        let solved = x[i];
        for (value, factor) in x[..i].iter_mut().zip(row(i)) {
            *value -= solved * factor;
        }
    }
}

impl Hypothesis for Normal {
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

impl Space for Normal {
    type Memory = Memories;

    fn scores<R: Row>(&self, _place: usize, row: R, scores: &mut [f64]) {
        self.linear.score_all(row, scores);
    }

    fn spread<R: Row>(&self, place: usize, output: usize, row: R) -> f64 {
        self.linear.spread(place, output, row)
    }

    /// A row of zeros counts: it moves the means.
    fn is_still<R: Row>(&self, _row: R) -> bool {
        false
    }

    fn shift<R: Row>(&mut self, _place: usize, row: R, step: Move, _memory: &mut Memories) {
        let (amount, counts) = (step.amount, step.extra);
        row.add_to(amount, &mut self.pulls);
        self.pull += amount;
        if self.is_counted {
            return;
        }
        self.total += counts;
        row.add_to(counts, &mut self.sums);
        for (feature, value) in row.entries() {
            self.row[feature] = value;
        }
        for (feature, value) in row.entries().filter(|(_, value)| *value != 0.0) {
            let counted = counts * value;
            let products = &mut self.products[feature * (feature + 1) / 2..][..=feature];
            for (product, other) in products.iter_mut().zip(&self.row) {
                *product += counted * other;
            }
        }
        for (feature, _) in row.entries() {
            self.row[feature] = 0.0;
        }
    }

    fn settle(&mut self, round: u64, memory: &mut Memories) {
        if self.total == 0.0 {
            return;
        }
        let (jump, bias) = self.solve();
        let step = Move { output: 0, amount: 1.0, keep: 1.0, extra: 0.0, score: 0.0, round };
        self.linear.move_along(Dense(&jump), step, bias, memory);
        let largest = |values: &[f64]| values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        let weights = largest(&self.linear.weights(0)).max(self.linear.bias(0).abs());
        self.jump = largest(&jump).max(bias.abs()) / weights.max(f64::MIN_POSITIVE);
        self.pulls.fill(0.0);
        self.pull = 0.0;
        self.is_counted = !self.reweighs;
        if self.reweighs {
            self.products.fill(0.0);
            self.sums.fill(0.0);
            self.total = 0.0;
        }
    }

    fn end_epoch(&mut self) -> bool {
        self.jump <= self.tolerance
    }

    /// Norms are measured on demand: once per epoch is rare enough.
    fn track_norm(&mut self) {}

    fn widen(&mut self, width: usize) {
        self.linear.widen(width);
        if width > self.sums.len() {
            self.products.resize(width * (width + 1) / 2, 0.0);
            for list in [&mut self.sums, &mut self.pulls, &mut self.row] {
                list.resize(width, 0.0);
            }
        }
    }
}

impl LinearSpace for Normal {
    fn zero(shape: Shape) -> Self {
        Self::new(shape, 0.0, false, 0.0)
    }

    fn linear(&self) -> &Linear {
        &self.linear
    }

    fn start_from(&mut self, planes: &Hyperplanes) {
        self.widen(planes.width());
        self.linear.start_from(planes);
    }
}

impl Resumable for Normal {
    fn save<'a>(&'a self, state: &mut State<'a>) {
        self.linear.save(state);
        state.f64s("products", &self.products);
        state.f64s("column-sums", &self.sums);
        state.f64s("pulls", &self.pulls);
        let counted = f64::from(u8::from(self.is_counted));
        state.f64s("normal", vec![self.total, self.pull, counted, self.jump.min(f64::MAX)]);
    }

    fn restore(&mut self, state: &mut State<'_>) -> Result<(), StateError> {
        self.linear.restore(state)?;
        let width = self.linear.width();
        self.products = state.take_n_f64s("products", width * (width + 1) / 2)?;
        self.sums = state.take_n_f64s("column-sums", width)?;
        self.pulls = state.take_n_f64s("pulls", width)?;
        self.row = vec![0.0; width];
        let numbers = state.take_n_f64s("normal", 4)?;
        (self.total, self.pull, self.is_counted, self.jump) =
            (numbers[0], numbers[1], numbers[2] == 1.0, numbers[3]);
        Ok(())
    }
}
