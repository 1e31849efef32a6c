//! The rows a race is run on: all of them if they are few, else an even sample, copied together.
//!
//! Rows that were brought to standard scale together know each other: what is taken from all of them is missing in
//! none. Where features outnumber rows that is enough to make rows that were not learned from look alike, so every part
//! is brought to the scale of the rows that are learned from.
//!
//! A copy has its own short arrays, so that a training on 10,000 of ten million rows costs what 10,000 rows
//! cost. Rows of many zeros are copied without them once, for all candidates.

use rosenblatt_core::Random;
use rosenblatt_data::{Dataset, DenseMatrix, DenseRef, Matrix, MatrixRef, SparseMatrix, SparseRef};

/// Which features are brought to the scale of the rows that are learned from, in every part of a race.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Rescale {
    /// None: rows are as they are.
    #[default]
    Nothing,
    /// All but indicators, or all by default. For rows that were brought to
    /// standard scale together.
    AllBut(Vec<bool>),
}

/// What varies less, of rows whose features varied by 1 together, does not vary.
const LEAST_VARIANCE: f64 = 1e-9;

/// About `most` of `rows`, every class in its proportion and never without a row; all if they are fewer.
///
/// Each class is cut into stretches of equal length, and one row is drawn from each: one look at every row,
/// whatever order they stand in.
pub(super) fn sample(classes: &[u32], n_classes: usize, rows: &[u32], most: usize, seed: u64) -> Vec<u32> {
    if rows.len() <= most {
        return rows.to_vec();
    }
    let stretch = rows.len().div_ceil(most.max(1)) as u64;
    let mut random = Random::for_purpose(seed, "race sample");
    // Per class: how far into its stretch it is, and which row of the stretch is drawn.
    let mut places: Vec<(u64, u64)> = vec![(0, 0); n_classes];
    let mut drawn = Vec::with_capacity(most + n_classes);
    for &row in rows {
        let (place, pick) = &mut places[classes[row as usize] as usize];
        if *place == 0 {
            *pick = random.below(stretch);
        }
        if place == pick {
            drawn.push(row);
        }
        *place = (*place + 1) % stretch;
    }
    // A class that ended before the row drawn from its first stretch would be lost.
    let mut is_drawn = vec![false; n_classes];
    for &row in &drawn {
        is_drawn[classes[row as usize] as usize] = true;
    }
    for &row in rows {
        let is_drawn = &mut is_drawn[classes[row as usize] as usize];
        if !*is_drawn {
            *is_drawn = true;
            drawn.push(row);
        }
    }
    drawn.sort_unstable();
    drawn
}

/// Dense rows whose features, as far as they have a scale, have a mean of 0 and a deviation of 1 over the rows that are
/// learned from; `None` for sparse rows, which are not centred. Who only says that something is so is left alone, as it
/// was when all rows were brought to scale: what a race is run on must be what its winner will learn from.
pub(crate) fn standardised(data: &Dataset, learned: &[u32], rescaled: &Rescale) -> Option<Dataset> {
    let Rescale::AllBut(indicators) = rescaled else { return None };
    let matrix = match data.matrix() {
        MatrixRef::Dense32(matrix) => {
            let values = standard_values(matrix, learned, indicators, |value| value as f32);
            Matrix::Dense32(DenseMatrix { values, width: matrix.width })
        }
        MatrixRef::Dense64(matrix) => {
            let values = standard_values(matrix, learned, indicators, |value| value);
            Matrix::Dense64(DenseMatrix { values, width: matrix.width })
        }
        MatrixRef::Sparse32(_) | MatrixRef::Sparse64(_) => return None,
    };
    let scaled = Dataset::new(matrix, data.classes().to_vec(), data.labels().clone());
    Some(match data.weights() {
        Some(weights) => scaled.with_weights(weights.to_vec()),
        None => scaled,
    })
}

fn standard_values<T: Copy + Into<f64>>(
    matrix: DenseRef<'_, T>,
    learned: &[u32],
    indicators: &[bool],
    narrow: impl Fn(f64) -> T,
) -> Vec<T> {
    let width = matrix.width;
    let row = |row: &u32| &matrix.values[*row as usize * width..(*row as usize + 1) * width];
    let n_learned = learned.len().max(1) as f64;
    let mut means = vec![0.0; width];
    for values in learned.iter().map(row) {
        means.iter_mut().zip(values).for_each(|(mean, &value)| *mean += value.into() / n_learned);
    }
    let mut scales = vec![0.0; width];
    for values in learned.iter().map(row) {
        for ((scale, mean), &value) in scales.iter_mut().zip(&means).zip(values) {
            *scale += (value.into() - mean).powi(2) / n_learned;
        }
    }
    for scale in &mut scales {
        // A feature that never changes but by rounding is left as it is, but for its mean.
        *scale = if *scale > LEAST_VARIANCE { scale.sqrt() } else { 1.0 };
    }
    let is_indicator = |feature: usize| indicators.get(feature).copied().unwrap_or(!indicators.is_empty());
    for feature in (0..width).filter(|&feature| is_indicator(feature)) {
        (means[feature], scales[feature]) = (0.0, 1.0);
    }
    let of_feature = means.iter().zip(&scales).cycle();
    matrix
        .values
        .iter()
        .zip(of_feature)
        .map(|(&value, (mean, scale))| narrow((value.into() - mean) / scale))
        .collect()
}

/// The rows of `data` that are named, as data of their own, in their order.
pub(crate) fn gather(data: &Dataset, rows: &[u32]) -> Dataset {
    let matrix = match data.matrix() {
        MatrixRef::Dense32(matrix) => Matrix::Dense32(dense(matrix, rows)),
        MatrixRef::Dense64(matrix) => Matrix::Dense64(dense(matrix, rows)),
        MatrixRef::Sparse32(matrix) => Matrix::Sparse32(sparse(matrix, rows)),
        MatrixRef::Sparse64(matrix) => Matrix::Sparse64(sparse(matrix, rows)),
    };
    let classes = rows.iter().map(|&row| data.classes()[row as usize]).collect();
    let gathered = Dataset::new(matrix, classes, data.labels().clone());
    let gathered = match data.weights() {
        Some(weights) => gathered.with_weights(rows.iter().map(|&row| weights[row as usize]).collect()),
        None => gathered,
    };
    gathered.sparse_twin().unwrap_or(gathered)
}

fn dense<T: Copy>(matrix: DenseRef<'_, T>, rows: &[u32]) -> DenseMatrix<T> {
    let width = matrix.width;
    let mut values = Vec::with_capacity(rows.len() * width);
    for &row in rows {
        let first = row as usize * width;
        values.extend_from_slice(&matrix.values[first..first + width]);
    }
    DenseMatrix { values, width }
}

fn sparse<T: Copy>(matrix: SparseRef<'_, T>, rows: &[u32]) -> SparseMatrix<T> {
    let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for &row in rows {
        let entries = matrix.offsets[row as usize]..matrix.offsets[row as usize + 1];
        indices.extend_from_slice(&matrix.indices[entries.clone()]);
        values.extend_from_slice(&matrix.values[entries]);
        offsets.push(indices.len());
    }
    SparseMatrix { offsets, indices, values, width: matrix.width }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_even_over_classes_and_places_and_loses_no_class() {
        let classes: Vec<u32> =
            (0..10_000).map(|row| if row == 7 { 2 } else { u32::from(row % 4 == 0) }).collect();
        let rows: Vec<u32> = (0..10_000).collect();
        let drawn = sample(&classes, 3, &rows, 1000, 3);
        assert!((995..=1005).contains(&drawn.len()), "{}", drawn.len());
        let of = |class: u32| drawn.iter().filter(|&&row| classes[row as usize] == class).count();
        assert!((248..=252).contains(&of(1)) && of(2) == 1, "{} {}", of(1), of(2));
        for part in 0..10 {
            let n_drawn = drawn.iter().filter(|&&row| row / 1000 == part).count();
            assert!((80..=120).contains(&n_drawn), "{n_drawn} of part {part}");
        }
        assert_eq!(drawn, sample(&classes, 3, &rows, 1000, 3));
        assert_ne!(drawn, sample(&classes, 3, &rows, 1000, 4));
        assert_eq!(sample(&classes, 3, &rows[..900], 1000, 3), &rows[..900]);
    }

    #[test]
    fn rows_are_brought_to_the_scale_of_those_that_are_learned_from() {
        let data =
            Dataset::from_rows(&[[1.0, 0.1], [3.0, 0.1], [2.0, 0.1], [9.0, 1.1]], &["a", "b", "a", "b"]);
        let scaled = |rescale: Rescale| match standardised(&data, &[0, 1, 2], &rescale)?.matrix().to_matrix()
        {
            Matrix::Dense64(scaled) => Some(scaled.values),
            _ => panic!("dense rows stay dense"),
        };
        let deviation = (2.0_f64 / 3.0).sqrt();
        let expected = [-1.0 / deviation, 0.0, 1.0 / deviation, 0.0, 0.0, 0.0, 7.0 / deviation, 1.0];
        for (value, expected) in scaled(Rescale::AllBut(Vec::new())).unwrap().into_iter().zip(expected) {
            // A tenth is rounded, and so is the mean of three of them.
            assert!((value - expected).abs() < 1e-12, "{value} {expected}");
        }
        // An indicator has no scale, and the columns after the last are indicators.
        assert_eq!(scaled(Rescale::Nothing), None);
        let values = scaled(Rescale::AllBut(vec![true, false])).unwrap();
        assert_eq!((values[0], values[6]), (1.0, 9.0));
        assert_eq!(values[3], 0.0);
        let values = scaled(Rescale::AllBut(vec![false])).unwrap();
        assert_eq!((values[2], values[7]), (1.0 / deviation, 1.1));
    }

    #[test]
    fn gathered_rows_are_the_rows() {
        let rows: Vec<[f64; 3]> = (0..9).map(|row| [f64::from(row), 1.0, 2.0]).collect();
        let names: Vec<String> = (0..9).map(|row| (row % 2).to_string()).collect();
        let data = Dataset::from_rows(&rows, &names).with_weights((0..9).map(f64::from).collect());
        let part = gather(&data, &[8, 1]);
        assert_eq!(part.classes(), [0, 1]);
        assert_eq!(part.weights().unwrap(), [8.0, 1.0]);
        let MatrixRef::Dense64(matrix) = part.matrix() else { panic!("dense rows stay dense") };
        assert_eq!(matrix.values, [8.0, 1.0, 2.0, 1.0, 1.0, 2.0]);
    }
}
