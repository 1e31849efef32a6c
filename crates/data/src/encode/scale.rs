//! Features brought to one scale, fitted in one pass and applied to every block alike.
//!
//! | scaling | a value becomes | rows that store only what is there |
//! |---|---|---|
//! | [`Scaling::Standard`] | `(x − mean) / deviation` | are divided; only columns of numbers, which every row has, are centred |
//! | [`Scaling::MinMax`] | `(x − min) / (max − min)` | `min` is 0; features below 0 are refused |
//! | [`Scaling::MaxAbs`] | `x / max |x|` | the same |
//! | [`Scaling::UnitNorm`] | `x / ‖row‖` | the same; nothing is fitted |
//!
//! Means and deviations are Welford's, row by row in the order of the source, so the bits depend on
//! nothing else; features that a sparse row lacks are counted as the zeros they are. The deviation is
//! that of the rows themselves (divided by their number). A feature that never changes is left as wide
//! as it is. A feature that fitting never met passes as it is.

use crate::error::{DataError, ErrorKind, Position};
use crate::rows::block::{Block, Stored};
use crate::rows::dataset::{Matrix, SparseMatrix};
use rosenblatt_core::{Dense, Row, Sparse};
use serde::{Deserialize, Serialize};

/// How features are brought to one scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scaling {
    /// Not at all.
    #[default]
    None,
    /// Mean 0 and deviation 1.
    Standard,
    /// From 0 to 1.
    MinMax,
    /// From -1 to 1, zero staying zero.
    MaxAbs,
    /// Rows of length 1.
    UnitNorm,
}

rosenblatt_core::named!(Scaling, "scaling",
    "none" = Self::None, "features stay as they are";
    "standard" or "standardise" or "standardize" = Self::Standard, "mean 0 and standard deviation 1";
    "min-max" or "minmax" = Self::MinMax, "from 0 to 1";
    "max-abs" or "maxabs" = Self::MaxAbs, "from -1 to 1, zero staying zero";
    "unit-norm" or "unit" or "l2" = Self::UnitNorm, "rows of length 1";
);

/// How features are brought to one scale, once that is fitted: `(x − shift) / scale`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Scaler {
    /// As it was asked for.
    pub scaling: Scaling,
    /// Per feature, what is taken away; empty if nothing is.
    pub shift: Vec<f64>,
    /// Per feature, what is divided by; empty if nothing is.
    pub scale: Vec<f64>,
}

/// What fitting has seen.
#[derive(Debug, Default)]
pub(crate) struct Fit {
    scaling: Scaling,
    n_rows: u64,
    sparse: bool,
    /// Per feature, how many values were stored (standard).
    counts: Vec<u64>,
    /// Mean, least or largest magnitude.
    firsts: Vec<f64>,
    /// Sum of squared deviations, or largest.
    seconds: Vec<f64>,
}

impl Fit {
    /// A fit without rows; `None` if there is nothing to fit.
    pub(crate) fn new(scaling: Scaling) -> Option<Self> {
        match scaling {
            Scaling::None | Scaling::UnitNorm => None,
            _ => Some(Self { scaling, ..Self::default() }),
        }
    }

    /// Takes the rows of a block in.
    pub(crate) fn add(&mut self, block: &Block) {
        match &block.matrix {
            Matrix::Dense32(matrix) => self.add_dense(&matrix.values, matrix.width),
            Matrix::Dense64(matrix) => self.add_dense(&matrix.values, matrix.width),
            Matrix::Sparse32(matrix) => self.add_sparse(matrix),
            Matrix::Sparse64(matrix) => self.add_sparse(matrix),
        }
        self.n_rows += block.len() as u64;
    }

    fn add_dense<T: Stored>(&mut self, values: &[T], width: usize) {
        self.grow(width);
        for row in values.chunks_exact(width.max(1)) {
            for (feature, value) in row.iter().enumerate() {
                self.add_value(feature, value.wide());
            }
        }
    }

    fn add_sparse<T: Stored>(&mut self, matrix: &SparseMatrix<T>) {
        self.sparse = true;
        self.grow(matrix.width);
        for (&feature, value) in matrix.indices.iter().zip(&matrix.values) {
            self.add_value(feature as usize, value.wide());
        }
    }

    fn grow(&mut self, width: usize) {
        let width = width.max(self.firsts.len());
        match self.scaling {
            Scaling::Standard => {
                self.counts.resize(width, 0);
                self.firsts.resize(width, 0.0);
                self.seconds.resize(width, 0.0);
            }
            Scaling::MinMax => {
                self.firsts.resize(width, f64::INFINITY);
                self.seconds.resize(width, f64::NEG_INFINITY);
            }
            _ => self.firsts.resize(width, 0.0),
        }
    }

    fn add_value(&mut self, feature: usize, value: f64) {
        let first = &mut self.firsts[feature];
        match self.scaling {
            Scaling::Standard => {
                self.counts[feature] += 1;
                let away = value - *first;
                *first += away / self.counts[feature] as f64;
                self.seconds[feature] += away * (value - *first);
            }
            Scaling::MinMax => {
                *first = first.min(value);
                self.seconds[feature] = self.seconds[feature].max(value);
            }
            _ => *first = first.max(value.abs()),
        }
    }

    /// The fitted scaler.
    pub(crate) fn finish(self, names: Option<&[String]>) -> Result<Scaler, DataError> {
        let name = |feature: usize| {
            let name = names.and_then(|names| names.get(feature));
            name.map_or_else(|| format!("number {}", feature + 1), |name| format!("`{name}`"))
        };
        let mut scaler = Scaler { scaling: self.scaling, ..Scaler::default() };
        for feature in 0..self.firsts.len() {
            let first = self.firsts[feature];
            let (shift, scale) = match self.scaling {
                Scaling::Standard => {
                    let (n_stored, n_rows) = (self.counts[feature] as f64, self.n_rows as f64);
                    // The zeros that are not stored come in as one group (Chan, Golub and LeVeque).
                    let n_zeros = n_rows - n_stored;
                    let squares = self.seconds[feature] + first * first * (n_stored * n_zeros / n_rows);
                    // A column of numbers stands in every row, so centring it fills nothing. Features
                    // without columns may be lacking in later rows even if they never were so far.
                    let always_there = !self.sparse || (names.is_some() && n_zeros == 0.0);
                    (if always_there { first } else { 0.0 }, (squares / n_rows).sqrt())
                }
                Scaling::MinMax if self.sparse => {
                    if first < 0.0 {
                        let message = format!(
                            "min-max scaling needs features of at least 0 where zeros are not stored, but feature {} goes down to {first}",
                            name(feature)
                        );
                        return Err(DataError::new(ErrorKind::Options, message)
                            .with_help("scale with max-abs, which leaves zeros alone"));
                    }
                    (0.0, self.seconds[feature].max(0.0))
                }
                Scaling::MinMax if first > self.seconds[feature] => (0.0, 0.0),
                Scaling::MinMax => (first, self.seconds[feature] - first),
                _ => (0.0, first),
            };
            if !shift.is_finite() || !scale.is_finite() {
                let message = format!(
                    "the values of feature {} are too large to be scaled, expected a finite spread",
                    name(feature)
                );
                return Err(DataError::new(ErrorKind::Number, message)
                    .with_help("divide them by a constant first, or scale rows with unit-norm"));
            }
            scaler.shift.push(shift);
            scaler.scale.push(if scale > 0.0 { scale } else { 1.0 });
        }
        if scaler.shift.iter().all(|shift| *shift == 0.0) {
            scaler.shift = Vec::new();
        }
        Ok(scaler)
    }
}

impl Scaler {
    /// A scaler that needs no fitting, if `scaling` is such a one.
    pub(crate) fn unfitted(scaling: Scaling) -> Option<Self> {
        (scaling == Scaling::UnitNorm).then(|| Self { scaling, ..Self::default() })
    }

    /// What is wrong with it, if anything is.
    pub(crate) fn complaint(&self) -> Option<&'static str> {
        let sound = |scale: &f64| scale.is_finite() && *scale > 0.0;
        if !self.scale.iter().all(sound) || !self.shift.iter().all(|shift| shift.is_finite()) {
            return Some("its scales should be positive and finite");
        }
        let fits = self.shift.is_empty() || self.shift.len() == self.scale.len();
        (!fits).then_some("it should have as many shifts as scales")
    }

    /// Scales one row in place: the values of these features, or of all. What overflows is no longer finite.
    pub fn scale_row(&self, features: Option<&[u32]>, values: &mut [f64]) {
        if self.scaling == Scaling::UnitNorm {
            // Zeros change nothing, so the row may be taken for a dense one.
            let norm = Dense(&*values).norm2().sqrt();
            if norm > 0.0 {
                values.iter_mut().for_each(|value| *value /= norm);
            }
            return;
        }
        for (place, value) in values.iter_mut().enumerate() {
            let feature = features.map_or(place, |features| features[place] as usize);
            let shift = self.shift.get(feature).copied().unwrap_or(0.0);
            let scale = self.scale.get(feature).copied().unwrap_or(1.0);
            *value = (*value - shift) / scale;
        }
    }

    /// Scales the rows of `block`.
    pub(crate) fn apply(&self, block: &mut Block) -> Result<(), DataError> {
        let outcome = match &mut block.matrix {
            Matrix::Dense32(matrix) => self.apply_dense(&mut matrix.values, matrix.width),
            Matrix::Dense64(matrix) => self.apply_dense(&mut matrix.values, matrix.width),
            Matrix::Sparse32(matrix) => self.apply_sparse(matrix),
            Matrix::Sparse64(matrix) => self.apply_sparse(matrix),
        };
        outcome.map_err(|row| {
            let position = Position { row: Some(block.first_row + row as u64 + 1), ..Position::default() };
            let message = "a scaled value should be finite, but overflows";
            DataError::new(ErrorKind::Number, message).at(position)
        })
    }

    fn apply_dense<T: Stored>(&self, values: &mut [T], width: usize) -> Result<(), usize> {
        for (row_idx, row) in values.chunks_exact_mut(width.max(1)).enumerate() {
            if self.scaling == Scaling::UnitNorm {
                let norm = Dense(&*row).norm2().sqrt();
                scale_row(row, norm).ok_or(row_idx)?;
                continue;
            }
            for (feature, value) in row.iter_mut().enumerate() {
                let shift = self.shift.get(feature).copied().unwrap_or(0.0);
                let scale = self.scale.get(feature).copied().unwrap_or(1.0);
                *value = T::narrow((value.wide() - shift) / scale).ok_or(row_idx)?;
            }
        }
        Ok(())
    }

    fn apply_sparse<T: Stored>(&self, matrix: &mut SparseMatrix<T>) -> Result<(), usize> {
        for (row_idx, bounds) in matrix.offsets.windows(2).enumerate() {
            let entries = bounds[0]..bounds[1];
            let (indices, values) = (&matrix.indices[entries.clone()], &mut matrix.values[entries]);
            if self.scaling == Scaling::UnitNorm {
                let norm = Sparse::new(indices, &*values).norm2().sqrt();
                scale_row(values, norm).ok_or(row_idx)?;
                continue;
            }
            for (&feature, value) in indices.iter().zip(values) {
                let shift = self.shift.get(feature as usize).copied().unwrap_or(0.0);
                let scale = self.scale.get(feature as usize).copied().unwrap_or(1.0);
                *value = T::narrow((value.wide() - shift) / scale).ok_or(row_idx)?;
            }
        }
        Ok(())
    }
}

fn scale_row<T: Stored>(values: &mut [T], norm: f64) -> Option<()> {
    if norm == 0.0 {
        return Some(());
    }
    for value in values {
        // A norm beyond the largest number is no number to divide by.
        *value = if norm.is_finite() { T::narrow(value.wide() / norm)? } else { return None };
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::source::Source;
    use crate::load::{load_source, load_with_schema, read_rows};
    use crate::options::ReadOptions;
    use crate::rows::schema::Precision;
    use std::sync::Arc;

    fn how(scaling: Scaling) -> ReadOptions {
        ReadOptions { scaling, precision: Precision::Double, ..ReadOptions::default() }
    }

    fn values(source: &Source, how: &ReadOptions) -> Vec<Vec<f64>> {
        let rows = read_rows(source, how).unwrap();
        rows.into_iter().map(|(_, row)| row.into_iter().map(|(_, value)| value).collect()).collect()
    }

    #[test]
    fn dense_tables_are_scaled_as_the_textbook_says() {
        let table = Source::bytes("t.csv", *b"1,-2,5,a\n3,0,5,b\n5,2,5,a\n7,4,5,b\n");
        let deviation = 5.0_f64.sqrt();
        let standard = values(&table, &how(Scaling::Standard));
        assert_eq!(standard[0], [-3.0 / deviation, -3.0 / deviation, 0.0]);
        assert_eq!(standard[3], [3.0 / deviation, 3.0 / deviation, 0.0]);
        let min_max = values(&table, &how(Scaling::MinMax));
        assert_eq!(min_max[1], [1.0 / 3.0, 1.0 / 3.0, 0.0]);
        assert_eq!(min_max[3], [1.0, 1.0, 0.0]);
        assert_eq!(values(&table, &how(Scaling::MaxAbs))[0], [1.0 / 7.0, -0.5, 1.0]);
        let unit = values(&table, &how(Scaling::UnitNorm));
        assert_eq!(unit[1], [3.0 / 34.0_f64.sqrt(), 0.0, 5.0 / 34.0_f64.sqrt()]);
    }

    #[test]
    fn sparse_rows_keep_their_zeros() {
        let svm = Source::bytes("t.svm", *b"1 1:2 3:-4\n-1 2:1\n1 1:4\n-1\n");
        // Feature 1 is 2, 0, 4, 0: mean 1.5, deviation sqrt(2.75).
        let standard = values(&svm, &how(Scaling::Standard));
        assert!((standard[0][0] - 2.0 / 2.75_f64.sqrt()).abs() < 1e-15, "{standard:?}");
        assert_eq!(standard[3], [0.0; 0]);
        assert_eq!(values(&svm, &how(Scaling::MaxAbs)), [vec![0.5, -1.0], vec![1.0], vec![1.0], vec![]]);
        let error = load_source(&svm, &how(Scaling::MinMax)).unwrap_err();
        assert!(error.message().contains("number 3 goes down to -4"), "{error}");
        let unit = values(&svm, &how(Scaling::UnitNorm));
        assert_eq!(unit[0], [2.0 / 20.0_f64.sqrt(), -4.0 / 20.0_f64.sqrt()]);
    }

    #[test]
    fn prediction_is_scaled_as_training_was() {
        let table = Source::bytes("t.csv", *b"x,k,label\n1,u,a\n3,v,b\n");
        let (data, schema) = load_with_schema(&table, &how(Scaling::MaxAbs)).unwrap();
        assert_eq!(data.feature_names().unwrap(), ["x", "k=u", "k=v"]);
        let predict = ReadOptions { precision: Precision::Double, ..ReadOptions::default() };
        let predict = predict.with_schema(Arc::new(schema));
        let new = Source::bytes("n.csv", *b"k,x\nu,6\n");
        assert_eq!(values(&new, &predict), [vec![2.0, 1.0]]);
        let mut stream = crate::load::blocks(&table, &how(Scaling::MaxAbs)).unwrap();
        let block = stream.next().unwrap().unwrap();
        let Matrix::Sparse64(matrix) = block.matrix() else { panic!("categories make rows sparse") };
        assert_eq!(matrix.values, [1.0 / 3.0, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn what_cannot_be_scaled_is_refused() {
        let table = Source::bytes("t.csv", *b"1e308,a\n-1e308,b\n");
        let error = load_source(&table, &how(Scaling::Standard)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Number);
        let error = load_source(&table, &how(Scaling::UnitNorm)).unwrap_err();
        assert_eq!((error.kind(), error.position().row), (ErrorKind::Number, Some(1)));
    }
}
