//! Made-up rows to learn from: noise around a hidden plane, one label in twenty flipped.

use rosenblatt_core::{DenseExamples, Random, SparseExamples};

/// Rows of `D` features each.
pub(crate) struct DenseData<const D: usize> {
    pub(crate) values: Vec<f32>,
    pub(crate) classes: Vec<u32>,
}

impl<const D: usize> DenseData<D> {
    pub(crate) fn new(n_rows: usize) -> Self {
        let mut random = Random::new(D as u64);
        let plane: Vec<f32> = (0..D).map(|_| random.unit() as f32 - 0.5).collect();
        let mut values = Vec::with_capacity(n_rows * D);
        let mut classes = Vec::with_capacity(n_rows);
        for _ in 0..n_rows {
            let from = values.len();
            values.extend((0..D).map(|_| random.unit() as f32 - 0.5));
            let score: f32 = values[from..].iter().zip(&plane).map(|(value, weight)| value * weight).sum();
            classes.push(noisy(score > 0.0, &mut random));
        }
        Self { values, classes }
    }

    pub(crate) fn examples(&self) -> DenseExamples<'_, f32> {
        DenseExamples::new(&self.values, D, &self.classes)
    }
}

/// Images of ten classes: 784 pixels, one in five set.
pub(crate) fn images(n_rows: usize) -> (Vec<f32>, Vec<u32>) {
    const WIDTH: usize = 784;
    let mut random = Random::new(10);
    let prototypes: Vec<f64> = (0..10 * WIDTH).map(|_| random.unit() * 0.4).collect();
    let (mut values, mut classes) = (Vec::with_capacity(n_rows * WIDTH), Vec::with_capacity(n_rows));
    for _ in 0..n_rows {
        let class = random.below(10) as usize;
        for chance in &prototypes[class * WIDTH..][..WIDTH] {
            values.push(if random.unit() < *chance { random.unit() as f32 } else { 0.0 });
        }
        classes.push(class as u32);
    }
    (values, classes)
}

/// Rows of text: few features of many, the first ones far more often than the last ones.
pub(crate) struct SparseData {
    pub(crate) offsets: Vec<usize>,
    pub(crate) indices: Vec<u32>,
    pub(crate) values: Vec<f32>,
    pub(crate) classes: Vec<u32>,
}

impl SparseData {
    /// As many features as the RCV1 text collection has.
    pub(crate) const WIDTH: usize = 47_236;

    /// Rows of `n_entries` entries each and unit length.
    pub(crate) fn new(n_rows: usize, n_entries: usize) -> Self {
        let mut random = Random::new(n_entries as u64);
        let plane: Vec<f32> = (0..Self::WIDTH).map(|_| random.unit() as f32 - 0.5).collect();
        let mut data =
            Self { offsets: vec![0], indices: Vec::new(), values: Vec::new(), classes: Vec::new() };
        let mut features = Vec::new();
        for _ in 0..n_rows {
            features.clear();
            while features.len() < n_entries {
                while features.len() < n_entries {
                    features.push((Self::WIDTH as f64 * random.unit().powi(3)) as u32);
                }
                features.sort_unstable();
                features.dedup();
            }
            let values: Vec<f32> = features.iter().map(|_| 0.1 + random.unit() as f32).collect();
            let length = values.iter().map(|value| value * value).sum::<f32>().sqrt();
            let score: f32 =
                features.iter().zip(&values).map(|(&feature, value)| plane[feature as usize] * value).sum();
            data.indices.extend(&features);
            data.values.extend(values.iter().map(|value| value / length));
            data.offsets.push(data.indices.len());
            data.classes.push(noisy(score > 0.0, &mut random));
        }
        data
    }

    pub(crate) fn examples(&self) -> SparseExamples<'_, f32> {
        SparseExamples::new(&self.offsets, &self.indices, &self.values, Self::WIDTH, &self.classes)
    }
}

fn noisy(positive: bool, random: &mut Random) -> u32 {
    u32::from(positive != (random.unit() < 0.05))
}
