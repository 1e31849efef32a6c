//! Rows as bytes that travel: a cache of one block, in memory.
//!
//! Whoever sends rows to another process, or leaves them with somebody who keeps bytes, packs them here and gets the same
//! rows back, to the bit. Values that single precision holds exactly are stored so. What arrives is believed no more than
//! a file is.

use super::file::{CacheReader, CacheWriter};
use crate::error::DataError;
use crate::load::append;
use crate::rows::block::Block;
use crate::rows::dataset::{Dataset, DenseMatrix, DenseRef, Matrix, MatrixRef, SparseMatrix, SparseRef};
use crate::rows::labels::Labels;
use std::io::Cursor;

/// What a pack is called in errors.
const NAME: &str = "packed rows";

/// The rows of these numbers, in this order, as bytes.
///
/// ```
/// use rosenblatt_data::{Dataset, pack, unpack};
///
/// let data = Dataset::from_rows(&[[1.0, 0.5], [0.1, 2.0]], &["a", "b"]);
/// let some = unpack(&pack(&data, &[1])?)?;
/// assert_eq!((some.len(), some.classes(), some.labels()), (1, &[1][..], data.labels()));
/// # Ok::<(), rosenblatt_data::DataError>(())
/// ```
///
/// # Panics
/// If there is no row of such a number.
pub fn pack(data: &Dataset, rows: &[u32]) -> Result<Vec<u8>, DataError> {
    let picked = match data.matrix() {
        MatrixRef::Dense32(all) => Matrix::Dense32(pick_dense(all, rows)),
        MatrixRef::Sparse32(all) => Matrix::Sparse32(pick_sparse(all, rows)),
        MatrixRef::Dense64(all) => narrowed(Matrix::Dense64(pick_dense(all, rows))),
        MatrixRef::Sparse64(all) => narrowed(Matrix::Sparse64(pick_sparse(all, rows))),
    };
    let weight = |weights: &[f64]| rows.iter().map(|&row| weights[row as usize]).collect();
    let block = Block {
        matrix: picked,
        classes: rows.iter().map(|&row| data.classes()[row as usize]).collect(),
        weights: data.weights().map(weight),
        ..Block::default()
    };
    let mut writer = CacheWriter::new(Vec::new(), 0, NAME);
    writer.write(&block)?;
    writer.finish(data.labels())
}

/// The rows that were packed into these bytes.
pub fn unpack(bytes: &[u8]) -> Result<Dataset, DataError> {
    let mut reader = CacheReader::new(Cursor::new(bytes), 0, NAME)?;
    let mut parts = Vec::new();
    loop {
        let mut block = Block::default();
        if !reader.next(&mut block)? {
            break;
        }
        parts.push((block.matrix, block.classes, block.weights));
    }
    Ok(join(parts, reader.labels().clone()))
}

impl Dataset {
    /// The rows of all parts, one behind the other. Their classes are numbers into `labels`, which stand for what the
    /// parts' own say.
    ///
    /// # Panics
    /// If `labels` lacks a class that a row of a part has.
    pub fn joined(parts: Vec<Self>, labels: Labels) -> Self {
        let renamed = |part: Self| {
            let numbers: Vec<Option<u32>> =
                part.labels().names().iter().map(|name| labels.class(name)).collect();
            let number = |&class: &u32| numbers[class as usize].expect("a class among those of all parts");
            let classes = part.classes().iter().map(number).collect();
            let weights = part.weights().map(<[f64]>::to_vec);
            (part.into_matrix(), classes, weights)
        };
        let parts = parts.into_iter().map(renamed).collect();
        join(parts, labels)
    }
}

type Part = (Matrix, Vec<u32>, Option<Vec<f64>>);

fn join(parts: Vec<Part>, labels: Labels) -> Dataset {
    let is_single = |matrix: &Matrix| matches!(matrix, Matrix::Dense32(_) | Matrix::Sparse32(_));
    let all_single = parts.iter().all(|(matrix, _, _)| is_single(matrix));
    let all_dense =
        parts.iter().all(|(matrix, _, _)| matches!(matrix, Matrix::Dense32(_) | Matrix::Dense64(_)));
    let mut whole: Option<Matrix> = None;
    let (mut classes, mut weights) = (Vec::new(), None);
    for (matrix, more, weighed) in parts {
        if let Some(weighed) = weighed {
            let weights: &mut Vec<f64> = weights.get_or_insert_with(|| vec![1.0; classes.len()]);
            weights.extend(weighed);
        } else if let Some(weights) = &mut weights {
            weights.resize(classes.len() + more.len(), 1.0);
        }
        classes.extend(more);
        let matrix = if all_single { matrix } else { doubled(matrix) };
        let matrix = if all_dense { matrix } else { thinned(matrix) };
        match &mut whole {
            Some(whole) => append(whole, &matrix),
            None => whole = Some(matrix),
        }
    }
    let matrix = whole.unwrap_or_else(|| Matrix::Sparse32(SparseMatrix::empty()));
    Dataset::assemble(matrix, classes, labels, weights, None)
}

fn pick_dense<T: Copy>(all: DenseRef<'_, T>, rows: &[u32]) -> DenseMatrix<T> {
    let width = all.width;
    let mut values = Vec::with_capacity(rows.len() * width);
    for &row in rows {
        values.extend_from_slice(&all.values[row as usize * width..(row as usize + 1) * width]);
    }
    DenseMatrix { values, width }
}

fn pick_sparse<T: Copy>(all: SparseRef<'_, T>, rows: &[u32]) -> SparseMatrix<T> {
    let mut picked = SparseMatrix::empty();
    picked.width = all.width;
    for &row in rows {
        let (from, to) = (all.offsets[row as usize], all.offsets[row as usize + 1]);
        picked.indices.extend_from_slice(&all.indices[from..to]);
        picked.values.extend_from_slice(&all.values[from..to]);
        picked.offsets.push(picked.indices.len());
    }
    picked
}

/// The same rows in single precision, if that holds every value exactly.
fn narrowed(matrix: Matrix) -> Matrix {
    let singles = |values: &[f64]| -> Option<Vec<f32>> {
        let single = |&value: &f64| {
            let single = value as f32;
            (f64::from(single).to_bits() == value.to_bits()).then_some(single)
        };
        values.iter().map(single).collect()
    };
    match matrix {
        Matrix::Dense64(matrix) => match singles(&matrix.values) {
            Some(values) => Matrix::Dense32(DenseMatrix { values, width: matrix.width }),
            None => Matrix::Dense64(matrix),
        },
        Matrix::Sparse64(matrix) => match singles(&matrix.values) {
            Some(values) => {
                let SparseMatrix { offsets, indices, width, .. } = matrix;
                Matrix::Sparse32(SparseMatrix { offsets, indices, values, width })
            }
            None => Matrix::Sparse64(matrix),
        },
        already => already,
    }
}

fn doubled(matrix: Matrix) -> Matrix {
    let doubles = |values: Vec<f32>| values.into_iter().map(f64::from).collect();
    match matrix {
        Matrix::Dense32(DenseMatrix { values, width }) => {
            Matrix::Dense64(DenseMatrix { values: doubles(values), width })
        }
        Matrix::Sparse32(SparseMatrix { offsets, indices, values, width }) => {
            Matrix::Sparse64(SparseMatrix { offsets, indices, values: doubles(values), width })
        }
        already => already,
    }
}

/// The same rows without their zeros.
fn thinned(matrix: Matrix) -> Matrix {
    fn thin<T: Copy + Into<f64>>(matrix: &DenseMatrix<T>) -> SparseMatrix<T> {
        let mut thin = SparseMatrix::empty();
        thin.width = matrix.width;
        for row in matrix.values.chunks_exact(matrix.width.max(1)) {
            for (feature, &value) in row.iter().enumerate().filter(|(_, value)| (**value).into() != 0.0) {
                thin.indices.push(feature as u32);
                thin.values.push(value);
            }
            thin.offsets.push(thin.indices.len());
        }
        thin
    }
    match matrix {
        Matrix::Dense32(matrix) => Matrix::Sparse32(thin(&matrix)),
        Matrix::Dense64(matrix) => Matrix::Sparse64(thin(&matrix)),
        already => already,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_packed_comes_back_to_the_bit_however_it_was_parted() {
        let rows = [[1.0, 0.0, -2.5], [0.1, 3.0, 0.0], [0.0, 0.0, 0.0], [7.0, 1e-300, 1.0]];
        let dense = Dataset::from_rows(&rows, &["a", "b", "a", "c"]).with_weights(vec![1.0, 0.5, 2.0, 1.0]);
        let sparse = Dataset::new(
            thinned(dense.clone().into_matrix()),
            dense.classes().to_vec(),
            dense.labels().clone(),
        );
        let sparse = sparse.with_weights(vec![1.0, 0.5, 2.0, 1.0]);
        for data in [&dense, &sparse] {
            let parts = [&[0][..], &[1, 2], &[], &[3]];
            let parts = parts.map(|rows| unpack(&pack(data, rows).unwrap()).unwrap());
            let single = matches!(parts[0].matrix(), MatrixRef::Dense32(_) | MatrixRef::Sparse32(_));
            assert!(single, "single precision holds these values exactly");
            let whole = Dataset::joined(parts.to_vec(), data.labels().clone());
            assert_eq!((whole.classes(), whole.weights()), (data.classes(), data.weights()));
            assert_eq!(unpack(&pack(&whole, &[0, 1, 2, 3]).unwrap()).unwrap().matrix(), data.matrix());
        }
        let thin = unpack(&pack(&Dataset::from_rows(&[[5.0, 0.0]], &["c"]), &[0]).unwrap()).unwrap();
        assert_eq!(Dataset::joined(vec![thin], dense.labels().clone()).classes(), [2]);
    }

    #[test]
    fn spoiled_bytes_are_refused() {
        let data = Dataset::from_rows(&[[1.0, 0.5], [0.1, 2.0]], &["a", "b"]);
        let whole = pack(&data, &[0, 1]).unwrap();
        for cut in 0..whole.len() {
            assert!(unpack(&whole[..cut]).is_err());
            let mut spoiled = whole.clone();
            spoiled[cut] ^= 1;
            assert!(unpack(&spoiled).is_err(), "byte {cut}");
        }
    }
}
