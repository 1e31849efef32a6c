//! Rows as bytes that travel: a cache of one block, in memory.
//!
//! To send rows to another process, or to store them as bytes, pack them here: you get the same rows back, to the bit.
//! Values that single precision holds exactly are stored so. What arrives is checked like a file.

use super::file::{CacheReader, CacheWriter};
use crate::error::DataError;
use crate::load::append;
use crate::rows::block::Block;
use crate::rows::dataset::{Dataset, DenseMatrix, DenseRef, Matrix, MatrixRef, SparseMatrix, SparseRef};
use crate::rows::labels::Labels;
use std::collections::VecDeque;
use std::io::Cursor;

/// What a pack is called in errors.
const NAME: &str = "packed rows";

/// Packs lie in pieces of memory of this many bytes, or of their own size.
const PIECE_BYTES: usize = 8 << 20;
/// Lists of fewer bytes are short: those that are long are moved by the system, without a copy.
const SHORT_BYTES: usize = 8 << 20;

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
    let mut whole = Joined::default();
    loop {
        let mut block = Block::default();
        if !reader.next(&mut block)? {
            break;
        }
        whole.add(block.matrix, block.classes, block.weights);
    }
    Ok(whole.into_dataset(reader.labels().clone()))
}

/// Packs to be read once, in their order. They lie in few large pieces of memory: between thousands of small ones, what is
/// needed to make each would leave a hole.
#[derive(Debug, Default)]
pub struct Packs {
    pieces: VecDeque<Piece>,
}

#[derive(Debug, Default)]
struct Piece {
    bytes: Vec<u8>,
    /// Where packs end that were not read, and where the first of them begins.
    ends: VecDeque<usize>,
    begin: usize,
}

impl Packs {
    /// Packs the rows of these numbers, after those that are there. Fails as [`pack`] does.
    pub fn push(&mut self, data: &Dataset, rows: &[u32]) -> Result<(), DataError> {
        let pack = pack(data, rows)?;
        let room = |piece: &Piece| piece.bytes.capacity() - piece.bytes.len();
        if self.pieces.back().is_none_or(|last| room(last) < pack.len()) {
            let bytes = Vec::with_capacity(pack.len().max(PIECE_BYTES));
            self.pieces.push_back(Piece { bytes, ..Piece::default() });
        }
        if let Some(last) = self.pieces.back_mut() {
            last.bytes.extend_from_slice(&pack);
            last.ends.push_back(last.bytes.len());
        }
        Ok(())
    }

    /// Reads the first pack, and lets go of it.
    pub fn pop(&mut self) -> Option<Result<Dataset, DataError>> {
        let piece = self.pieces.front_mut()?;
        let end = piece.ends.pop_front()?;
        let rows = unpack(&piece.bytes[piece.begin..end]);
        piece.begin = end;
        if piece.ends.is_empty() {
            self.pieces.pop_front();
        }
        Some(rows)
    }
}

impl Dataset {
    /// The rows of all parts in order; each part is let go of before the next is asked for. Their classes are
    /// numbers into `labels`, which stand for what the parts' own say.
    ///
    /// # Errors
    /// The first that a part is.
    ///
    /// # Panics
    /// If `labels` lacks a class that a row of a part has.
    pub fn joined<E>(parts: impl IntoIterator<Item = Result<Self, E>>, labels: Labels) -> Result<Self, E> {
        let mut whole = Joined::default();
        for part in parts {
            let part = part?;
            let numbers: Vec<Option<u32>> =
                part.labels().names().iter().map(|name| labels.class(name)).collect();
            let number = |&class: &u32| numbers[class as usize].expect("a class among those of all parts");
            let classes = part.classes().iter().map(number).collect();
            let weights = part.weights().map(<[f64]>::to_vec);
            whole.add(part.into_matrix(), classes, weights);
        }
        Ok(whole.into_dataset(labels))
    }
}

/// Rows of all parts so far: sparse if a part is, and in double precision if a part is.
#[derive(Default)]
struct Joined {
    matrix: Option<Matrix>,
    classes: Vec<u32>,
    weights: Option<Vec<f64>>,
}

impl Joined {
    fn add(&mut self, mut more: Matrix, classes: Vec<u32>, weights: Option<Vec<f64>>) {
        if let Some(weighed) = weights {
            self.weights.get_or_insert_with(|| vec![1.0; self.classes.len()]).extend(weighed);
        } else if let Some(weights) = &mut self.weights {
            weights.resize(self.classes.len() + classes.len(), 1.0);
        }
        self.classes.extend(classes);
        if let Some(mut whole) = self.matrix.take() {
            let is_single = |matrix: &Matrix| matches!(matrix, Matrix::Dense32(_) | Matrix::Sparse32(_));
            if is_single(&whole) != is_single(&more) {
                (whole, more) = (doubled(whole), doubled(more));
            }
            let is_dense = |matrix: &Matrix| matches!(matrix, Matrix::Dense32(_) | Matrix::Dense64(_));
            if is_dense(&whole) != is_dense(&more) {
                (whole, more) = (thinned(whole), thinned(more));
            }
            make_room(&mut whole, &more);
            append(&mut whole, &more);
            more = whole;
        }
        self.matrix = Some(more);
    }

    fn into_dataset(self, labels: Labels) -> Dataset {
        let matrix = self.matrix.unwrap_or_else(|| Matrix::Sparse32(SparseMatrix::empty()));
        Dataset::assemble(matrix, self.classes, labels, self.weights, None)
    }
}

/// Makes room for more rows. Short lists grow far at once: each place they move away from leaves a hole, and
/// memory that nothing was written to costs nothing.
fn make_room(whole: &mut Matrix, more: &Matrix) {
    fn room<T>(list: &mut Vec<T>, more: &[T]) {
        let is_short = size_of_val(list.as_slice()) < SHORT_BYTES;
        if is_short && list.capacity() - list.len() < more.len() {
            list.reserve(more.len().max(15 * list.len()));
        }
    }
    fn sparse<T>(whole: &mut SparseMatrix<T>, more: &SparseMatrix<T>) {
        room(&mut whole.indices, &more.indices);
        room(&mut whole.values, &more.values);
    }
    match (whole, more) {
        (Matrix::Dense32(whole), Matrix::Dense32(more)) => room(&mut whole.values, &more.values),
        (Matrix::Dense64(whole), Matrix::Dense64(more)) => room(&mut whole.values, &more.values),
        (Matrix::Sparse32(whole), Matrix::Sparse32(more)) => sparse(whole, more),
        (Matrix::Sparse64(whole), Matrix::Sparse64(more)) => sparse(whole, more),
        _ => {}
    }
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
    use std::convert::Infallible;

    fn joined(parts: Vec<Dataset>, like: &Dataset) -> Dataset {
        let parts = parts.into_iter().map(Ok::<_, Infallible>);
        Dataset::joined(parts, like.labels().clone()).unwrap_or_else(|none| match none {})
    }

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
            let whole = joined(parts.to_vec(), data);
            assert_eq!((whole.classes(), whole.weights()), (data.classes(), data.weights()));
            assert_eq!(unpack(&pack(&whole, &[0, 1, 2, 3]).unwrap()).unwrap().matrix(), data.matrix());
        }
        let thin = unpack(&pack(&Dataset::from_rows(&[[5.0, 0.0]], &["c"]), &[0]).unwrap()).unwrap();
        assert_eq!(joined(vec![thin], &dense).classes(), [2]);
    }

    #[test]
    fn packs_are_read_in_their_order_and_between_reads_more_may_come() {
        let data = Dataset::from_rows(&[[1.0, 0.5], [0.1, 2.0], [3.0, 0.0]], &["a", "b", "a"]);
        let long = Dataset::from_rows(&vec![[0.1; 64]; 20_000], &vec!["a"; 20_000]);
        let all: Vec<u32> = (0..20_000).collect();
        let mut packs = Packs::default();
        packs.push(&data, &[2, 0]).unwrap();
        packs.push(&data, &[1]).unwrap();
        assert_eq!(
            packs.pop().unwrap().unwrap().matrix(),
            unpack(&pack(&data, &[2, 0]).unwrap()).unwrap().matrix()
        );
        packs.push(&long, &all).unwrap();
        packs.push(&data, &[0]).unwrap();
        assert_eq!(packs.pieces.len(), 3, "one that is longer than a piece has its own");
        for expected in [1, 20_000, 1] {
            assert_eq!(packs.pop().unwrap().unwrap().len(), expected);
        }
        assert!(packs.pop().is_none() && packs.pieces.is_empty());
    }

    #[test]
    fn parts_of_several_kinds_become_one_of_the_kind_that_holds_them_all() {
        let rows = [[1.0, 0.0], [0.0, 2.0], [0.1, 0.0], [0.0, 3.0]];
        let dense = Dataset::from_rows(&rows, &["a", "b", "b", "a"]);
        let sparse = Dataset::new(
            thinned(dense.clone().into_matrix()),
            dense.classes().to_vec(),
            dense.labels().clone(),
        );
        let part = |data: &Dataset, rows: &[u32]| unpack(&pack(data, rows).unwrap()).unwrap();
        // In single precision, in double precision, and sparse.
        let parts = [(0, part(&dense, &[0, 1])), (2, part(&dense, &[2])), (3, part(&sparse, &[3]))];
        for turn in 0..3 {
            let mut turned = parts.to_vec();
            turned.rotate_left(turn);
            let first = turned[0].0;
            let whole = joined(turned.into_iter().map(|(_, part)| part).collect(), &dense);
            let order: Vec<u32> = (first..4).chain(0..first).collect();
            let MatrixRef::Sparse64(all) = sparse.matrix() else { panic!("double precision") };
            let expected =
                Dataset::new(Matrix::Sparse64(pick_sparse(all, &order)), vec![0; 4], Labels::in_order(["a"]));
            assert_eq!(whole.matrix(), expected.matrix(), "turn {turn}");
        }
        let whole = joined(vec![parts[0].1.clone(), parts[1].1.clone()], &dense);
        assert_eq!(whole.matrix(), Dataset::from_rows(&rows[..3], &["a", "b", "b"]).matrix());
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
