//! The loops the engine is measured against: each written for one shape of row, one rule and one
//! memory, with nothing to choose at run time.
//!
//! Each comes in two orders of addition. [`Lanes`] is the documented one and must give the engine's
//! weights to the bit. [`Free`] is whatever is fastest in plain Rust, as if equal bits for dense and
//! sparse rows had not been promised.

use crate::data::SparseData;

/// What a loop learned.
#[derive(PartialEq)]
pub(crate) struct Learned {
    pub(crate) weights: Vec<f64>,
    pub(crate) bias: f64,
    /// The sum that averaging subtracts; empty if nothing was averaged.
    lag: Vec<f64>,
    bias_lag: f64,
}

impl Learned {
    pub(crate) fn zero(width: usize, averaged: bool) -> Self {
        let lag = if averaged { vec![0.0; width] } else { Vec::new() };
        Self { weights: vec![0.0; width], bias: 0.0, lag, bias_lag: 0.0 }
    }

    /// The mean of the hypotheses after each of `rounds` rounds.
    pub(crate) fn mean(&self, rounds: usize) -> Vec<f64> {
        let rounds = rounds as f64;
        self.weights.iter().zip(&self.lag).map(|(weight, lag)| (rounds * weight - lag) / rounds).collect()
    }
}

/// An order in which a row's products are added.
pub(crate) trait Sum {
    fn dense<const D: usize>(row: &[f32; D], weights: &[f64; D]) -> f64;
    fn sparse(indices: &[u32], values: &[f32], weights: &[f64]) -> f64;
}

/// Feature `j` in lane `j mod 8`, then one tree.
pub(crate) struct Lanes;

impl Sum for Lanes {
    #[inline(always)]
    fn dense<const D: usize>(row: &[f32; D], weights: &[f64; D]) -> f64 {
        let mut lanes = [0.0; 8];
        let (row_chunks, row_rest) = row.as_chunks::<8>();
        let (weight_chunks, weight_rest) = weights.as_chunks::<8>();
        for (row, weights) in row_chunks.iter().zip(weight_chunks) {
            for lane in 0..8 {
                lanes[lane] += weights[lane] * f64::from(row[lane]);
            }
        }
        for (lane, (value, weight)) in row_rest.iter().zip(weight_rest).enumerate() {
            lanes[lane] += weight * f64::from(*value);
        }
        tree(lanes)
    }

    #[inline(always)]
    fn sparse(indices: &[u32], values: &[f32], weights: &[f64]) -> f64 {
        let mut lanes = [0.0; 8];
        for (&feature, &value) in indices.iter().zip(values) {
            lanes[feature as usize % 8] += weights[feature as usize] * f64::from(value);
        }
        tree(lanes)
    }
}

fn tree([a, b, c, d, e, f, g, h]: [f64; 8]) -> f64 {
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// As many independent sums as the row is long enough for.
pub(crate) struct Free;

impl Sum for Free {
    #[inline(always)]
    fn dense<const D: usize>(row: &[f32; D], weights: &[f64; D]) -> f64 {
        match D {
            ..16 => strided::<D, 2>(row, weights),
            16..64 => strided::<D, 4>(row, weights),
            64.. => strided::<D, 16>(row, weights),
        }
    }

    #[inline(always)]
    fn sparse(indices: &[u32], values: &[f32], weights: &[f64]) -> f64 {
        let product = |feature: u32, value: f32| weights[feature as usize] * f64::from(value);
        if indices.len() < 32 {
            return indices.iter().zip(values).map(|(&feature, &value)| product(feature, value)).sum();
        }
        let mut sums = [0.0; 4];
        let (indices, last_indices) = indices.as_chunks::<4>();
        let (values, last_values) = values.as_chunks::<4>();
        for (indices, values) in indices.iter().zip(values) {
            for k in 0..4 {
                sums[k] += product(indices[k], values[k]);
            }
        }
        for (&feature, &value) in last_indices.iter().zip(last_values) {
            sums[0] += product(feature, value);
        }
        (sums[0] + sums[1]) + (sums[2] + sums[3])
    }
}

#[inline(always)]
fn strided<const D: usize, const SUMS: usize>(row: &[f32; D], weights: &[f64; D]) -> f64 {
    let mut sums = [0.0; SUMS];
    let (row_chunks, row_rest) = row.as_chunks::<SUMS>();
    let (weight_chunks, weight_rest) = weights.as_chunks::<SUMS>();
    for (row, weights) in row_chunks.iter().zip(weight_chunks) {
        for k in 0..SUMS {
            sums[k] += weights[k] * f64::from(row[k]);
        }
    }
    for (k, (value, weight)) in row_rest.iter().zip(weight_rest).enumerate() {
        sums[k] += weight * f64::from(*value);
    }
    sums.iter().sum()
}

/// Without a branch, which would be guessed wrong for every second row.
#[inline(always)]
fn label(class: u32) -> f64 {
    f64::from_bits(1.0_f64.to_bits() | u64::from(class != 1) << 63)
}

/// The perceptron with a bias on rows of `D` features.
#[inline(never)]
pub(crate) fn dense_last<S: Sum, const D: usize>(values: &[f32], classes: &[u32], learned: &mut Learned) {
    let weights: &mut [f64; D] = learned.weights.as_mut_slice().try_into().unwrap();
    let bias = &mut learned.bias;
    for (row, &class) in values.as_chunks::<D>().0.iter().zip(classes) {
        let label = label(class);
        if label * (S::dense(row, weights) + *bias) <= 0.0 {
            for (weight, value) in weights.iter_mut().zip(row) {
                *weight += label * f64::from(*value);
            }
            *bias += label;
        }
    }
}

/// The same, averaged.
#[inline(never)]
pub(crate) fn dense_averaged<S: Sum, const D: usize>(values: &[f32], classes: &[u32], learned: &mut Learned) {
    let Learned { weights, bias, lag, bias_lag } = learned;
    let weights: &mut [f64; D] = weights.as_mut_slice().try_into().unwrap();
    let lag: &mut [f64; D] = lag.as_mut_slice().try_into().unwrap();
    for (round, (row, &class)) in values.as_chunks::<D>().0.iter().zip(classes).enumerate() {
        let label = label(class);
        if label * (S::dense(row, weights) + *bias) <= 0.0 {
            let missed = label * round as f64;
            for ((weight, lag), value) in weights.iter_mut().zip(lag.iter_mut()).zip(row) {
                *weight += label * f64::from(*value);
                *lag += missed * f64::from(*value);
            }
            *bias += label;
            *bias_lag += missed;
        }
    }
}

/// The perceptron with a bias on sparse rows.
#[inline(never)]
pub(crate) fn sparse_last<S: Sum>(data: &SparseData, learned: &mut Learned) {
    let Learned { weights, bias, .. } = learned;
    for (ends, &class) in data.offsets.windows(2).zip(&data.classes) {
        let (indices, values) = (&data.indices[ends[0]..ends[1]], &data.values[ends[0]..ends[1]]);
        let label = label(class);
        if label * (S::sparse(indices, values, weights) + *bias) <= 0.0 {
            for (&feature, &value) in indices.iter().zip(values) {
                weights[feature as usize] += label * f64::from(value);
            }
            *bias += label;
        }
    }
}

/// The same, averaged.
#[inline(never)]
pub(crate) fn sparse_averaged<S: Sum>(data: &SparseData, learned: &mut Learned) {
    let Learned { weights, bias, lag, bias_lag } = learned;
    let lag = &mut lag[..weights.len()];
    for (round, (ends, &class)) in data.offsets.windows(2).zip(&data.classes).enumerate() {
        let (indices, values) = (&data.indices[ends[0]..ends[1]], &data.values[ends[0]..ends[1]]);
        let label = label(class);
        if label * (S::sparse(indices, values, weights) + *bias) <= 0.0 {
            let missed = label * round as f64;
            for (&feature, &value) in indices.iter().zip(values) {
                weights[feature as usize] += label * f64::from(value);
                lag[feature as usize] += missed * f64::from(value);
            }
            *bias += label;
            *bias_lag += missed;
        }
    }
}

/// [`dense_last`] with single-precision weights and sums.
#[inline(never)]
pub(crate) fn dense_single<const D: usize>(values: &[f32], classes: &[u32], weights: &mut [f32; D]) -> f32 {
    let mut bias = 0.0;
    for (row, &class) in values.as_chunks::<D>().0.iter().zip(classes) {
        let label = label(class) as f32;
        let mut sums = [0.0; 16];
        for (row, weights) in row.as_chunks::<16>().0.iter().zip(weights.as_chunks::<16>().0) {
            for k in 0..16 {
                sums[k] += weights[k] * row[k];
            }
        }
        if label * (sums.iter().sum::<f32>() + bias) <= 0.0 {
            for (weight, value) in weights.iter_mut().zip(row) {
                *weight += label * value;
            }
            bias += label;
        }
    }
    bias
}

/// [`sparse_last`] with single-precision weights and sums.
#[inline(never)]
pub(crate) fn sparse_single(data: &SparseData, weights: &mut [f32]) -> f32 {
    let mut bias = 0.0;
    for (ends, &class) in data.offsets.windows(2).zip(&data.classes) {
        let (indices, values) = (&data.indices[ends[0]..ends[1]], &data.values[ends[0]..ends[1]]);
        let label = label(class) as f32;
        let mut sums = [0.0; 4];
        let (index_chunks, last_indices) = indices.as_chunks::<4>();
        let (value_chunks, last_values) = values.as_chunks::<4>();
        for (indices, values) in index_chunks.iter().zip(value_chunks) {
            for k in 0..4 {
                sums[k] += weights[indices[k] as usize] * values[k];
            }
        }
        for (&feature, &value) in last_indices.iter().zip(last_values) {
            sums[0] += weights[feature as usize] * value;
        }
        if label * (sums.iter().sum::<f32>() + bias) <= 0.0 {
            for (&feature, &value) in indices.iter().zip(values) {
                weights[feature as usize] += label * value;
            }
            bias += label;
        }
    }
    bias
}

/// One-vs-rest perceptrons for ten classes on dense rows, the weights of a feature side by side.
#[inline(never)]
pub(crate) fn ten_classes<const D: usize>(
    values: &[f32],
    classes: &[u32],
    weights: &mut [[f64; 10]],
) -> [f64; 10] {
    let mut biases = [0.0; 10];
    for (row, &class) in values.as_chunks::<D>().0.iter().zip(classes) {
        let mut scores = biases;
        for (value, weights) in row.iter().zip(weights.iter()) {
            if *value != 0.0 {
                for k in 0..10 {
                    scores[k] += weights[k] * f64::from(*value);
                }
            }
        }
        for k in 0..10 {
            let label = if k == class as usize { 1.0 } else { -1.0 };
            if label * scores[k] <= 0.0 {
                for (value, weights) in row.iter().zip(weights.iter_mut()) {
                    weights[k] += label * f64::from(*value);
                }
                biases[k] += label;
            }
        }
    }
    biases
}
