//! Features brought to one scale, fitted in one pass and applied to every block alike.
//!
//! | scaling | a value becomes | rows that store only what is there |
//! |---|---|---|
//! | [`Scaling::Standard`] | `(x − mean) / deviation` | are divided; only columns of numbers are centred |
//! | [`Scaling::MinMax`] | `(x − min) / (max − min)` | `min` is 0; features below 0 are refused |
//! | [`Scaling::MaxAbs`] | `x / max |x|` | the same |
//! | [`Scaling::UnitNorm`] | `x / ‖row‖` | the same; nothing is fitted |
//!
//! [`Scaling::Auto`] is decided by what the rows are, not by the format that they came in: columns of numbers,
//! arrays and pictures are standardised, and so are rows of numbered features of which at least half are there;
//! what is sparse by nature, and text, is left as it is. So are, but for their largest value, many columns of which
//! nearly all values are zero: marks and counts, which a deviation of nearly nothing would blow up. Features that only say that something is so (categories,
//! words) have no scale of their own and are left alone by all but unit norm.
//!
//! Means and deviations are Welford's, row by row in the order of the source, so the bits depend on
//! nothing else; features that a sparse row lacks are counted as the zeros they are. The deviation is
//! that of the rows themselves (divided by their number). A feature that never changes is left as wide
//! as it is. A feature that fitting never met passes as it is.

use crate::error::{DataError, ErrorKind, Position};
use crate::rows::block::Stored;
use crate::rows::dataset::{Dataset, DenseRef, Matrix, MatrixRef, SparseMatrix, SparseRef};
use crate::rows::schema::{ColumnKind, Layout, Schema};
use rosenblatt_core::{Dense, Row, Sparse};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// How features are brought to one scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scaling {
    /// By what the rows are: see [`Scaling::decide`].
    #[default]
    Auto,
    /// Not at all.
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
    "auto" = Self::Auto, "standard for columns of numbers, arrays and pictures, max-abs if they are many and nine in ten values are zero; none for sparse rows and text";
    "none" = Self::None, "features stay as they are";
    "standard" or "standardise" or "standardize" = Self::Standard, "mean 0 and standard deviation 1";
    "min-max" or "minmax" = Self::MinMax, "from 0 to 1";
    "max-abs" or "maxabs" = Self::MaxAbs, "from -1 to 1, zero staying zero";
    "unit-norm" or "unit" or "l2" = Self::UnitNorm, "rows of length 1";
);

impl Scaling {
    /// What it means for rows of `schema`, and why if that was to be decided. `share` of the features of a row are
    /// there, in the mean. Where that is standard, [`Numbers`] tell whether it is to be max-abs instead.
    pub(crate) fn decided(self, schema: &Schema, share: f64) -> (Self, Option<&'static str>) {
        let has_numbers =
            schema.columns.iter().any(|column| matches!(column.kind, ColumnKind::Number { .. }));
        let (scaling, why) = match self {
            Self::Auto if has_numbers => (Self::Standard, "the table has columns of numbers"),
            Self::Auto if !schema.columns.is_empty() => (Self::None, "the table has no columns of numbers"),
            Self::Auto if schema.texts().next().is_some() => (Self::None, "the rows are words"),
            Self::Auto if schema.picture.is_some() && schema.layout == Layout::Dense => {
                (Self::Standard, "the rows are pictures")
            }
            Self::Auto if schema.layout == Layout::Dense => (Self::Standard, "every row has every feature"),
            Self::Auto if share >= DENSE_SHARE => {
                (Self::Standard, "at least half of all values are not zero")
            }
            Self::Auto => (Self::None, "rows hold few of all features"),
            given => return (given, None),
        };
        (scaling, Some(why))
    }

    /// Whether rows of numbered features are stored in full, so that they can be centred: if so few are missing that
    /// little is added. What was decided and what was asked for mean the same.
    pub(crate) fn centres(self, decided: Self, schema: &Schema, share: f64) -> bool {
        let is_full = self == Self::Auto || share >= DENSE_SHARE;
        decided == Self::Standard && is_full && schema.columns.is_empty() && schema.texts().next().is_none()
    }

    /// What it means for `data`, which `schema` describes, and why if that was to be decided. Rows of numbered
    /// features that turn out to be full are stored as such, so that they can be centred.
    pub fn decide(self, data: &mut Dataset, schema: &mut Schema) -> (Self, Option<&'static str>) {
        let share = share_of(data.matrix());
        let (scaling, why) = self.decided(schema, share);
        if self.centres(scaling, schema, share) {
            data.make_dense();
            (schema.layout, schema.width) = (Layout::Dense, Some(data.width()));
        }
        if self == Self::Auto && scaling == Self::Standard && !data.is_empty() {
            let mut numbers = Numbers::of(schema);
            let n_rows = data.len();
            // Whether they are few shows early where they are not.
            for first in (0..n_rows).step_by(ROWS_COUNTED) {
                numbers.add(data.matrix(), first..n_rows.min(first + ROWS_COUNTED));
                if !numbers.are_few_of(n_rows) {
                    return (scaling, why);
                }
            }
            return FEW_NUMBERS;
        }
        (scaling, why)
    }
}

/// What [`Scaling::Auto`] means for many columns of few numbers, and why.
pub(crate) const FEW_NUMBERS: (Scaling, Option<&'static str>) =
    (Scaling::MaxAbs, Some("nine in ten values of many columns are zero"));

/// Numbers in the columns of a table, or in an array, counted to see how many are not zero.
#[derive(Debug)]
pub(crate) struct Numbers {
    indicators: Vec<bool>,
    /// Features that are numbers.
    n_columns: usize,
    n_set: u64,
}

/// Fewer columns are not sparse, whatever they hold.
const MANY_COLUMNS: usize = 32;
/// Below this share of numbers that are not zero, they are few.
const FEW_SHARE: f64 = 0.1;
/// How many rows are counted at once.
const ROWS_COUNTED: usize = 4_096;

impl Numbers {
    /// Of rows that `schema` describes; none seen yet.
    pub(crate) fn of(schema: &Schema) -> Self {
        Self { indicators: schema.indicators(), n_columns: 0, n_set: 0 }
    }

    /// Takes the rows of these numbers in.
    pub(crate) fn add(&mut self, matrix: MatrixRef<'_>, rows: Range<usize>) {
        match matrix {
            MatrixRef::Dense32(matrix) => self.add_dense(matrix, rows),
            MatrixRef::Dense64(matrix) => self.add_dense(matrix, rows),
            MatrixRef::Sparse32(matrix) => self.add_sparse(matrix, rows),
            MatrixRef::Sparse64(matrix) => self.add_sparse(matrix, rows),
        }
    }

    fn add_dense<T: Stored>(&mut self, matrix: DenseRef<'_, T>, rows: Range<usize>) {
        let width = matrix.width;
        self.count_columns(width);
        let values = &matrix.values[rows.start * width..rows.end * width];
        let is_set = |value: &T| value.wide() != 0.0;
        self.n_set += if self.indicators.is_empty() {
            values.iter().filter(|value| is_set(value)).count()
        } else {
            let rows = values.chunks_exact(width.max(1));
            let of_row = |row: &[T]| {
                row.iter().zip(&self.indicators).filter(|(value, mark)| !**mark && is_set(value)).count()
            };
            rows.map(of_row).sum()
        } as u64;
    }

    fn add_sparse<T: Stored>(&mut self, matrix: SparseRef<'_, T>, rows: Range<usize>) {
        self.count_columns(matrix.width);
        let entries = matrix.offsets[rows.start]..matrix.offsets[rows.end];
        let is_number = |feature: u32| {
            !self.indicators.get(feature as usize).copied().unwrap_or(!self.indicators.is_empty())
        };
        let set =
            entries.filter(|&entry| is_number(matrix.indices[entry]) && matrix.values[entry].wide() != 0.0);
        self.n_set += set.count() as u64;
    }

    fn count_columns(&mut self, width: usize) {
        let n_named = self.indicators.iter().filter(|mark| !**mark).count();
        self.n_columns = if self.indicators.is_empty() { width } else { n_named };
    }

    /// Whether there are many columns, and few numbers are not zero that were seen in `n_rows` rows.
    pub(crate) fn are_few_of(&self, n_rows: usize) -> bool {
        self.n_columns >= MANY_COLUMNS
            && (self.n_set as f64) < FEW_SHARE * n_rows as f64 * self.n_columns as f64
    }
}

/// From which share of values that are not zero on, rows are dense though their format is not.
pub(crate) const DENSE_SHARE: f64 = 0.5;

/// Which share of all values is stored.
pub(crate) fn share_of(matrix: MatrixRef<'_>) -> f64 {
    let n_stored = match matrix {
        MatrixRef::Sparse32(matrix) => matrix.indices.len(),
        MatrixRef::Sparse64(matrix) => matrix.indices.len(),
        MatrixRef::Dense32(_) | MatrixRef::Dense64(_) => return 1.0,
    };
    n_stored as f64 / (matrix.n_rows() as f64 * matrix.width() as f64).max(1.0)
}

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

/// Numbers whose squares are hardly numbers any more.
const TINY: f64 = 1e-145;

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
            Scaling::Auto | Scaling::None | Scaling::UnitNorm => None,
            _ => Some(Self { scaling, ..Self::default() }),
        }
    }

    /// Takes rows in, in their order.
    pub(crate) fn add(&mut self, matrix: &Matrix) {
        self.add_some(matrix.lend(), 0..matrix.n_rows());
    }

    /// Takes the rows of these numbers in.
    fn add_some(&mut self, matrix: MatrixRef<'_>, rows: impl Iterator<Item = usize>) {
        match matrix {
            MatrixRef::Dense32(matrix) => self.add_dense(matrix, rows),
            MatrixRef::Dense64(matrix) => self.add_dense(matrix, rows),
            MatrixRef::Sparse32(matrix) => self.add_sparse(matrix, rows),
            MatrixRef::Sparse64(matrix) => self.add_sparse(matrix, rows),
        }
    }

    fn add_dense<T: Stored>(&mut self, matrix: DenseRef<'_, T>, rows: impl Iterator<Item = usize>) {
        let width = matrix.width;
        self.grow(width);
        for row in rows {
            self.n_rows += 1;
            let row = &matrix.values[row * width..(row + 1) * width];
            if self.scaling == Scaling::Standard {
                // Every feature has as many values: what they are divided by is one number.
                let n_rows = self.n_rows as f64;
                for ((mean, squares), value) in self.firsts.iter_mut().zip(&mut self.seconds).zip(row) {
                    let away = value.wide() - *mean;
                    *mean += away / n_rows;
                    *squares += away * (value.wide() - *mean);
                }
            } else {
                for (feature, value) in row.iter().enumerate() {
                    self.add_value(feature, value.wide());
                }
            }
        }
        if self.scaling == Scaling::Standard {
            self.counts.fill(self.n_rows);
        }
    }

    fn add_sparse<T: Stored>(&mut self, matrix: SparseRef<'_, T>, rows: impl Iterator<Item = usize>) {
        self.sparse = true;
        self.grow(matrix.width);
        for row in rows {
            self.n_rows += 1;
            for entry in matrix.offsets[row]..matrix.offsets[row + 1] {
                self.add_value(matrix.indices[entry] as usize, matrix.values[entry].wide());
            }
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

    /// The fitted scaler of rows that `schema` describes.
    pub(crate) fn finish(self, schema: &Schema) -> Result<Scaler, DataError> {
        let names = schema.feature_names();
        let indicators = schema.indicators();
        let name = |feature: usize| {
            let name = names.as_ref().and_then(|names| names.get(feature));
            name.map_or_else(|| format!("number {}", feature + 1), |name| format!("`{name}`"))
        };
        let mut scaler = Scaler { scaling: self.scaling, ..Scaler::default() };
        for feature in 0..self.firsts.len() {
            if indicators.get(feature).copied().unwrap_or(!indicators.is_empty()) {
                scaler.shift.push(0.0);
                scaler.scale.push(1.0);
                continue;
            }
            let first = self.firsts[feature];
            let (shift, scale) = match self.scaling {
                Scaling::Standard => {
                    let (n_stored, n_rows) = (self.counts[feature] as f64, self.n_rows as f64);
                    // The zeros that are not stored come in as one group (Chan, Golub and LeVeque).
                    let n_zeros = n_rows - n_stored;
                    let squares = self.seconds[feature] + first * first * (n_stored * n_zeros / n_rows);
                    // A column of numbers stands in every row, so centring it fills little.
                    let always_there = !self.sparse || !indicators.is_empty();
                    let mean = if self.sparse { first * (n_stored / n_rows) } else { first };
                    (if always_there { mean } else { 0.0 }, (squares / n_rows).sqrt())
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
            // Squares of what is so small are zero, and with them the spread.
            if self.scaling == Scaling::Standard && first != 0.0 && first.abs() < TINY && scale < TINY {
                let message = format!(
                    "the values of feature {} are too small to be scaled, expected some above {TINY:e}",
                    name(feature)
                );
                return Err(DataError::new(ErrorKind::Number, message)
                    .with_help("multiply them by a constant first, or use {scale=max-abs}"));
            }
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
        // Trailing features that are not scaled need not be stored.
        let is_changed = |(shift, scale): (&f64, &f64)| *shift != 0.0 || *scale != 1.0;
        let n_kept = scaler.shift.iter().zip(&scaler.scale).rposition(is_changed).map_or(0, |last| last + 1);
        scaler.shift.truncate(n_kept);
        scaler.scale.truncate(n_kept);
        if scaler.shift.iter().all(|shift| *shift == 0.0) {
            scaler.shift = Vec::new();
        }
        Ok(scaler)
    }
}

impl Scaler {
    /// Fits `scaling` to some rows of `data`, which `schema` describes: those to be learned from. `None` if nothing
    /// is to be scaled; what [`Scaling::Auto`] means is to be decided before ([`Scaling::decide`]).
    ///
    /// ```
    /// use rosenblatt_data::{ReadOptions, Scaler, Scaling, Source, load_with_schema};
    /// let table = Source::bytes("t.csv", *b"x,label\n1,a\n3,b\n100,a\n");
    /// let (mut data, mut schema) = load_with_schema(&table, &ReadOptions::as_stored())?;
    /// let (scaling, why) = Scaling::Auto.decide(&mut data, &mut schema);
    /// assert_eq!((scaling, why), (Scaling::Standard, Some("the table has columns of numbers")));
    /// let scaler = Scaler::fit(scaling, &data, [0, 1], &schema)?.unwrap();
    /// assert_eq!((&scaler.shift[..], &scaler.scale[..]), (&[2.0][..], &[1.0][..]));
    /// let scaled = data.scaled(&scaler)?;
    /// schema.scaler = Some(scaler);
    /// # assert_eq!(scaled.len(), 3);
    /// # Ok::<(), rosenblatt_data::DataError>(())
    /// ```
    pub fn fit(
        scaling: Scaling,
        data: &Dataset,
        rows: impl IntoIterator<Item = usize>,
        schema: &Schema,
    ) -> Result<Option<Self>, DataError> {
        let Some(mut fit) = Fit::new(scaling) else { return Ok(Self::unfitted(scaling)) };
        fit.add_some(data.matrix(), rows.into_iter());
        fit.finish(schema).map(Some)
    }

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
                for value in values.iter_mut() {
                    *value /= norm;
                }
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

    /// Scales the rows of `matrix`, of which the first has the number `first_row`.
    pub(crate) fn apply(&self, matrix: &mut Matrix, first_row: u64) -> Result<(), DataError> {
        let outcome = match matrix {
            Matrix::Dense32(matrix) => self.apply_dense(&mut matrix.values, matrix.width),
            Matrix::Dense64(matrix) => self.apply_dense(&mut matrix.values, matrix.width),
            Matrix::Sparse32(matrix) => self.apply_sparse(matrix),
            Matrix::Sparse64(matrix) => self.apply_sparse(matrix),
        };
        outcome.map_err(|row| {
            let position = Position { row: Some(first_row + row as u64 + 1), ..Position::default() };
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
            // What comes after the last scale, as the many features of categories do, stays as it is.
            let (shifts, scales) = (&self.shift, &self.scale);
            if shifts.len() == scales.len() {
                for ((value, shift), scale) in row.iter_mut().zip(shifts).zip(scales) {
                    *value = T::narrow((value.wide() - shift) / scale).ok_or(row_idx)?;
                }
                continue;
            }
            for (feature, value) in row.iter_mut().enumerate().take(scales.len().max(shifts.len())) {
                *value = self.scaled(feature, value.wide()).ok_or(row_idx)?;
            }
        }
        Ok(())
    }

    /// A value of a feature, scaled; nothing if that overflows.
    fn scaled<T: Stored>(&self, feature: usize, value: f64) -> Option<T> {
        let shift = self.shift.get(feature).copied().unwrap_or(0.0);
        let scale = self.scale.get(feature).copied().unwrap_or(1.0);
        T::narrow((value - shift) / scale)
    }

    fn apply_sparse<T: Stored>(&self, matrix: &mut SparseMatrix<T>) -> Result<(), usize> {
        if self.scaling == Scaling::UnitNorm {
            for (row_idx, bounds) in matrix.offsets.windows(2).enumerate() {
                let entries = bounds[0]..bounds[1];
                let (indices, values) = (&matrix.indices[entries.clone()], &mut matrix.values[entries]);
                let norm = Sparse::new(indices, &*values).norm2().sqrt();
                scale_row(values, norm).ok_or(row_idx)?;
            }
            return Ok(());
        }
        // Zeros that are not stored are values, too, where the scale moves them.
        let moved: Vec<u32> =
            (0..).zip(&self.shift).filter(|(_, shift)| **shift != 0.0).map(|(feature, _)| feature).collect();
        if moved.is_empty() {
            for row_idx in 0..matrix.offsets.len() - 1 {
                for entry in matrix.offsets[row_idx]..matrix.offsets[row_idx + 1] {
                    let (feature, value) = (matrix.indices[entry] as usize, matrix.values[entry].wide());
                    matrix.values[entry] = self.scaled(feature, value).ok_or(row_idx)?;
                }
            }
            return Ok(());
        }
        let mut scaled = SparseMatrix::<T>::empty();
        scaled.width = matrix.width.max(self.shift.len());
        for row_idx in 0..matrix.offsets.len() - 1 {
            let mut waiting = moved.iter().copied().peekable();
            let mut push = |feature: u32, value: f64| -> Result<(), usize> {
                scaled.indices.push(feature);
                scaled.values.push(self.scaled(feature as usize, value).ok_or(row_idx)?);
                Ok(())
            };
            for entry in matrix.offsets[row_idx]..matrix.offsets[row_idx + 1] {
                let feature = matrix.indices[entry];
                while let Some(lacking) = waiting.next_if(|&other| other < feature) {
                    push(lacking, 0.0)?;
                }
                waiting.next_if_eq(&feature);
                push(feature, matrix.values[entry].wide())?;
            }
            for lacking in waiting {
                push(lacking, 0.0)?;
            }
            scaled.end_row();
        }
        *matrix = scaled;
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
        ReadOptions { scaling, precision: Precision::Double, ..ReadOptions::as_stored() }
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
        assert_eq!(data.feature_names().unwrap(), ["x", "k=v"]);
        let predict = ReadOptions { precision: Precision::Double, ..ReadOptions::as_stored() };
        let predict = predict.with_schema(Arc::new(schema));
        let new = Source::bytes("n.csv", *b"k,x\nv,6\n");
        assert_eq!(values(&new, &predict), [vec![2.0, 1.0]]);
        let mut stream = crate::load::blocks(&table, &how(Scaling::MaxAbs)).unwrap();
        let block = stream.next().unwrap().unwrap();
        let Matrix::Dense64(matrix) = block.matrix() else { panic!("few categories leave rows dense") };
        assert_eq!(matrix.values, [1.0 / 3.0, 0.0, 1.0, 1.0]);
    }

    /// Numbers are centred and categories are not, however the rows are stored: a zero is moved, too.
    #[test]
    fn zeros_of_sparse_tables_are_moved() {
        let line = |row: usize| format!("{},c{},{}\n", row % 3, row, row % 2);
        let text = "x,k,label\n".to_owned() + &(0..18).map(line).collect::<String>();
        let table = Source::bytes("t.csv", text.into_bytes());
        let (data, schema) = load_with_schema(&table, &how(Scaling::Standard)).unwrap();
        assert!(matches!(data.matrix(), MatrixRef::Sparse64(_)));
        let scaler = schema.scaler.clone().unwrap();
        let deviation = (2.0_f64 / 3.0).sqrt();
        assert_eq!((scaler.shift.len(), scaler.shift[0]), (1, 1.0));
        assert!((scaler.scale[0] - deviation).abs() < 1e-15);
        let rows = read_rows(&table, &how(Scaling::Standard)).unwrap();
        assert_eq!(rows[0].1, [(0, -1.0 / scaler.scale[0]), (1, 1.0)]);
        assert_eq!(rows[1].1, [(2, 1.0)]);
        // A stream reads the same.
        let mut stream = crate::load::blocks(&table, &how(Scaling::Standard)).unwrap();
        assert_eq!(stream.next().unwrap().unwrap().matrix().lend(), data.matrix());
    }

    #[test]
    fn auto_goes_by_what_the_rows_are() {
        let auto = ReadOptions::default();
        let found = |name: &str, text: &str| {
            let (data, schema) =
                load_with_schema(&Source::bytes(name, text.as_bytes().to_vec()), &auto).unwrap();
            let scaling = schema.scaler.map(|scaler| scaler.scaling);
            (data, scaling, schema.scaled_because.unwrap())
        };
        let (table, scaling, why) = found("t.csv", "1,0,a\n3,2,b\n5,4,a\n");
        assert_eq!((scaling, why), (Some(Scaling::Standard), "the table has columns of numbers"));
        let (full, scaling, why) = found("t.svm", "a 1:1\nb 1:3 2:2\na 1:5 2:4\n");
        assert_eq!((scaling, why), (Some(Scaling::Standard), "at least half of all values are not zero"));
        assert_eq!(full.matrix(), table.matrix());
        let (_, scaling, why) = found("t.svm", "a 1:1\nb 9:3 7:2\n");
        assert_eq!((scaling, why), (None, "rows hold few of all features"));
        let (_, scaling, why) = found("t.tsv", "a\tgood day\nb\tbad day to you\n");
        assert_eq!((scaling, why), (None, "the rows are words"));
        let svm = Source::bytes("t.svm", *b"a 1:1\nb 1:3 2:2\na 1:5 2:4\n");
        let mut stream = crate::load::blocks(&svm, &auto).unwrap();
        assert_eq!(stream.next().unwrap().unwrap().matrix().lend(), full.matrix());
        let schema = load_with_schema(&svm, &auto).unwrap().1;
        let again = load_source(&svm, &auto.with_schema(Arc::new(schema))).unwrap();
        assert_eq!(again.matrix(), full.matrix());
    }

    #[test]
    fn many_columns_of_zeros_are_divided_by_their_largest_value() {
        // Each row has a 4 and some 2 among zeros, and a name, which is no number.
        let table = |n_columns: usize, per_row: usize| {
            let cell = |row: usize, column: usize| match (column + 7 * row) % n_columns {
                0 => "4",
                place if place < per_row => "2",
                _ => "0",
            };
            let row = |row: usize| {
                let cells: Vec<&str> = (0..n_columns).map(|column| cell(row, column)).collect();
                format!("{},{},{}\n", cells.join(","), ["red", "blue", "green"][row % 3], ["a", "b"][row % 2])
            };
            Source::bytes("t.csv", (0..90).map(row).collect::<String>().into_bytes())
        };
        let auto = ReadOptions::default();
        let scaling = |source: &Source| {
            let (data, schema) = load_with_schema(source, &auto).unwrap();
            let mut stream = crate::load::blocks(source, &auto).unwrap();
            assert_eq!(
                stream.next().unwrap().unwrap().matrix().lend(),
                data.matrix(),
                "a stream reads the same"
            );
            let is_told = schema.notes.iter().any(|note| note.starts_with("nine in ten"));
            assert_eq!(is_told, schema.scaled_because == FEW_NUMBERS.1);
            let again = load_source(source, &auto.with_schema(Arc::new(schema.clone()))).unwrap();
            assert_eq!(again.matrix(), data.matrix());
            schema.scaler.unwrap()
        };
        let few = scaling(&table(40, 3));
        assert_eq!((few.scaling, few.shift.len(), &few.scale[..2]), (Scaling::MaxAbs, 0, &[4.0, 4.0][..]));
        // Four of forty are a tenth, and no longer few; 31 columns are not many.
        assert_eq!(scaling(&table(40, 4)).scaling, Scaling::Standard);
        assert_eq!(scaling(&table(31, 1)).scaling, Scaling::Standard);
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
