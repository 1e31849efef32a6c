//! Data that other crates hold in memory: Arrow record batches and `ndarray` views.
//!
//! Needs the cargo features `arrow` and `ndarray`. The values are copied once, checked on the way, and
//! stored as files of the same content would be. Nothing here changes what a row is.

#[cfg(any(feature = "arrow", feature = "ndarray"))]
use crate::error::DataError;
#[cfg(feature = "ndarray")]
use crate::error::ErrorKind;
#[cfg(any(feature = "arrow", feature = "ndarray"))]
use crate::rows::dataset::Dataset;

#[cfg(feature = "arrow")]
impl Dataset {
    /// A dataset from the rows of `batch`, by the rules for Parquet and Arrow files.
    ///
    /// ```
    /// use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
    /// use rosenblatt_data::{Dataset, ReadOptions};
    /// use std::sync::Arc;
    ///
    /// let batch = RecordBatch::try_from_iter([
    ///     ("weight", Arc::new(Float64Array::from(vec![3.5, 0.1])) as ArrayRef),
    ///     ("label", Arc::new(StringArray::from(vec!["cat", "bird"]))),
    /// ])?;
    /// let pets = Dataset::from_record_batch(&batch, &ReadOptions::default())?;
    /// assert_eq!((pets.len(), pets.width()), (2, 1));
    /// assert_eq!(pets.labels().names(), ["bird", "cat"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_record_batch(
        batch: &arrow_array::RecordBatch,
        how: &crate::ReadOptions,
    ) -> Result<Self, DataError> {
        crate::load::load_batch(batch, how)
    }
}

#[cfg(feature = "ndarray")]
impl Dataset {
    /// A dataset from the rows of `view` and their class names. The order in memory does not matter.
    ///
    /// ```
    /// use ndarray::array;
    /// use rosenblatt_data::Dataset;
    ///
    /// let rows = array![[4.0_f32, 3.5], [2.0, 0.1]];
    /// let pets = Dataset::from_ndarray(&rows.view(), &["cat", "bird"])?;
    /// assert_eq!((pets.len(), pets.width()), (2, 2));
    ///
    /// let error = Dataset::from_ndarray(&array![[f64::NAN]].view(), &["cat"]).unwrap_err();
    /// assert_eq!((error.position().row, error.position().column), (Some(1), Some(1)));
    /// # Ok::<(), rosenblatt_data::DataError>(())
    /// ```
    pub fn from_ndarray<T: crate::Stored, S: AsRef<str>>(
        view: &ndarray::ArrayView2<'_, T>,
        names: &[S],
    ) -> Result<Self, DataError> {
        let (n_rows, width) = view.dim();
        if n_rows != names.len() || n_rows == 0 || width == 0 {
            let message = format!(
                "the array has the shape {n_rows}x{width} and there are {} labels, expected one for each of \
                 at least one row",
                names.len()
            );
            return Err(DataError::new(ErrorKind::Shape, message));
        }
        let mut matrix = crate::rows::block::empty_matrix(crate::Layout::Dense, T::PRECISION);
        if let Some(dense) = T::dense(&mut matrix) {
            dense.width = width;
            dense.values.reserve(view.len());
            for ((row, column), &value) in view.indexed_iter() {
                if !value.wide().is_finite() {
                    let position = crate::Position {
                        row: Some(row as u64 + 1),
                        line: None,
                        column: Some(column as u64 + 1),
                    };
                    let message = format!("the value should be a finite number, but is {}", value.wide());
                    return Err(DataError::new(ErrorKind::Number, message).at(position));
                }
                dense.values.push(value);
            }
        }
        let labels = crate::Labels::sorted(names);
        let classes = names.iter().filter_map(|name| labels.class(name.as_ref())).collect();
        Ok(Self::new(matrix, classes, labels))
    }
}
