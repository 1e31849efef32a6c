//! Python's arrays as rows of the engine, where they are.
//!
//! An array is lent through the buffer protocol: nothing is copied, and Python keeps it alive and unresized for as long
//! as it is lent. Another thread may write to it meanwhile; what is learned then is undefined,
//! but every index that counts is compared with its limit where it is used, so nothing is read or written elsewhere.

use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use rosenblatt::Model;
use rosenblatt::learning::{ByColumns, Value, Work, widest};
use rosenblatt_data::{Dataset, DenseMatrix, DenseRef, Labels, Lender, Look, Matrix, MatrixRef, SparseRef};
use std::ops::Range;
use std::sync::Arc;

/// An array that stays Python's.
struct Shared<T: Element> {
    buffer: PyBuffer<T>,
}

impl<T: Element> Shared<T> {
    /// The array, if it holds values of this type, one after the other.
    fn new(array: &Bound<'_, PyAny>) -> PyResult<Self> {
        let buffer = PyBuffer::<T>::get(array)?;
        if buffer.is_c_contiguous() {
            Ok(Self { buffer })
        } else {
            Err(PyValueError::new_err("values with gaps"))
        }
    }

    /// The array, if it has two axes and lies column by column.
    fn by_columns(array: &Bound<'_, PyAny>) -> Option<Self> {
        let buffer = PyBuffer::<T>::get(array).ok()?;
        (buffer.dimensions() == 2 && buffer.is_fortran_contiguous() && !buffer.is_c_contiguous())
            .then_some(Self { buffer })
    }

    fn values(&self) -> &[T] {
        let n_values = self.buffer.item_count();
        if n_values == 0 {
            return &[];
        }
        #[expect(unsafe_code, reason = "only Python knows where an array is")]
        // SAFETY: the buffer says that this many values of this type lie here, one after the other and
        // aligned, and Python keeps them there until the buffer is released.
        unsafe {
            std::slice::from_raw_parts(self.buffer.buf_ptr().cast::<T>(), n_values)
        }
    }

    /// The lengths of its axes.
    fn shape(&self) -> &[usize] {
        self.buffer.shape()
    }
}

/// Rows that stay Python's.
enum Array {
    Dense32(Shared<f32>, usize),
    Dense64(Shared<f64>, usize),
    Sparse32(Compressed, Shared<f32>),
    Sparse64(Compressed, Shared<f64>),
}

/// Where the entries of sparse rows are.
struct Compressed {
    offsets: Vec<usize>,
    indices: Indices,
    width: usize,
}

/// Indices that stay Python's if they have the right width.
enum Indices {
    Shared(Shared<i32>),
    Copied(Vec<u32>),
}

impl Indices {
    fn values(&self) -> &[u32] {
        match self {
            Self::Shared(shared) => {
                let values = shared.values();
                #[expect(unsafe_code, reason = "signed and unsigned numbers look alike in memory")]
                // SAFETY: both have the same size and alignment, and every pattern of bits is a value of both.
                unsafe {
                    std::slice::from_raw_parts(values.as_ptr().cast::<u32>(), values.len())
                }
            }
            Self::Copied(values) => values,
        }
    }
}

impl std::fmt::Debug for Array {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an array of Python")
    }
}

impl Lender for Array {
    fn lend(&self) -> MatrixRef<'_> {
        fn sparse<'a, T: Element>(rows: &'a Compressed, values: &'a Shared<T>) -> SparseRef<'a, T> {
            let (offsets, indices, values) = (&rows.offsets[..], rows.indices.values(), values.values());
            SparseRef { offsets, indices, values, width: rows.width }
        }
        match self {
            Self::Dense32(values, width) => {
                MatrixRef::Dense32(DenseRef { values: values.values(), width: *width })
            }
            Self::Dense64(values, width) => {
                MatrixRef::Dense64(DenseRef { values: values.values(), width: *width })
            }
            Self::Sparse32(rows, values) => MatrixRef::Sparse32(sparse(rows, values)),
            Self::Sparse64(rows, values) => MatrixRef::Sparse64(sparse(rows, values)),
        }
    }
}

/// Rows as Python gives them: an array of two axes, or `(indptr, indices, data, n_features)`.
pub(crate) fn rows(given: &Bound<'_, PyAny>) -> PyResult<Arc<dyn Lender>> {
    let array = array(given)?;
    array.check(0..array.lend().n_rows())?;
    Ok(Arc::new(array))
}

/// [`rows`] to learn from again and again: all that is asked of sparse ones first is found in one look.
pub(crate) fn looked_at(given: &Bound<'_, PyAny>) -> PyResult<Arc<dyn Lender>> {
    let array = array(given)?;
    let n_rows = array.lend().n_rows();
    if matches!(array, Array::Dense32(..) | Array::Dense64(..)) {
        return Ok(Arc::new(array));
    }
    let mut look = Look::default();
    look.add(array.lend(), 0..n_rows);
    if !look.is_sound {
        array.check(0..n_rows)?;
    }
    Ok(Arc::new(LookedAt { array, look }))
}

/// Sparse rows that were looked at.
#[derive(Debug)]
struct LookedAt {
    array: Array,
    look: Look,
}

impl Lender for LookedAt {
    fn lend(&self) -> MatrixRef<'_> {
        self.array.lend()
    }

    fn look(&self) -> Option<Look> {
        Some(self.look)
    }
}

/// An array that lies column by column.
struct Columns<T: Element> {
    values: Shared<T>,
    n_rows: usize,
    width: usize,
}

/// How many sparse rows are checked and then predicted.
const SPARSE_ROWS: usize = 2048;

/// How many rows that lie column by column are predicted before anything else is looked at.
const COLUMN_ROWS: usize = 8192;

/// How many rows are turned at once: what is written stays in the nearest cache, and what is read fills its lines.
const TILE: usize = 64;

impl<T: Element + Default + Value> Columns<T> {
    fn new(given: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        let Some(values) = Shared::<T>::by_columns(given) else { return Ok(None) };
        let width = dense_width(values.shape())?;
        Ok(Some(Self { n_rows: values.shape()[0], values, width }))
    }

    fn lent(&self) -> ByColumns<'_, T> {
        ByColumns::new(self.values.values(), self.n_rows, self.width)
    }

    /// Some of the rows, row by row.
    fn turned(&self, rows: Range<usize>) -> DenseMatrix<T> {
        let mut turned = vec![T::default(); rows.len() * self.width];
        for (first, tile) in rows.step_by(TILE).zip(turned.chunks_mut(TILE * self.width)) {
            self.lent().turn(first, tile);
        }
        DenseMatrix { values: turned, width: self.width }
    }
}

/// Rows as they came: indices of sparse ones are not checked, since a single reading does so as it goes, and columns stay
/// columns, but for models that need rows: for those they are turned.
pub(crate) struct Unchecked(Stored);

enum Stored {
    Rows(Arc<Array>),
    Columns32(Columns<f32>),
    Columns64(Columns<f64>),
}

impl Unchecked {
    pub(crate) fn n_rows(&self) -> usize {
        match &self.0 {
            Stored::Rows(rows) => rows.lend().n_rows(),
            Stored::Columns32(columns) => columns.n_rows,
            Stored::Columns64(columns) => columns.n_rows,
        }
    }

    pub(crate) fn width(&self) -> usize {
        match &self.0 {
            Stored::Rows(rows) => rows.lend().width(),
            Stored::Columns32(columns) => columns.width,
            Stored::Columns64(columns) => columns.width,
        }
    }

    /// How many rows to ask about at once, if it is better done piece by piece: what is checked stays in the cache.
    pub(crate) fn rows_at_once(&self) -> Option<usize> {
        match &self.0 {
            Stored::Columns32(_) | Stored::Columns64(_) => Some(COLUMN_ROWS),
            Stored::Rows(rows) => {
                matches!(**rows, Array::Sparse32(..) | Array::Sparse64(..)).then_some(SPARSE_ROWS)
            }
        }
    }

    /// Shows class and scores of some of the rows as they came. False, after some may have been shown, if they must be
    /// looked at or turned first.
    pub(crate) fn each(&self, model: &Model, rows: Range<usize>, show: impl FnMut(u32, &[f64])) -> bool {
        let whole = match &self.0 {
            Stored::Rows(whole) => whole.lend(),
            Stored::Columns32(all) => return model.each_by_columns(all.lent(), rows, show),
            Stored::Columns64(all) => return model.each_by_columns(all.lent(), rows, show),
        };
        let some = match whole {
            MatrixRef::Sparse32(all) => {
                MatrixRef::Sparse32(SparseRef { offsets: &all.offsets[rows.start..=rows.end], ..all })
            }
            MatrixRef::Sparse64(all) => {
                MatrixRef::Sparse64(SparseRef { offsets: &all.offsets[rows.start..=rows.end], ..all })
            }
            MatrixRef::Dense32(_) | MatrixRef::Dense64(_) => return false,
        };
        model.each_unseen(some, show)
    }

    /// Some of the rows, looked at. Of dense rows that lie row by row it is all of them.
    pub(crate) fn part(&self, rows: Range<usize>) -> PyResult<Dataset> {
        let (labels, classes) = (Labels::in_order(["?"]), vec![0; rows.len()]);
        let whole = match &self.0 {
            Stored::Rows(whole) => whole,
            Stored::Columns32(all) => {
                return Ok(Dataset::new(Matrix::Dense32(all.turned(rows)), classes, labels));
            }
            Stored::Columns64(all) => {
                return Ok(Dataset::new(Matrix::Dense64(all.turned(rows)), classes, labels));
            }
        };
        whole.check(rows.clone())?;
        let lender: Arc<dyn Lender> = match &**whole {
            Array::Dense32(..) | Array::Dense64(..) => Arc::clone(whole) as _,
            Array::Sparse32(all, _) | Array::Sparse64(all, _) => {
                let bounds = &all.offsets[rows.start..=rows.end];
                let entries = bounds[0]..bounds[bounds.len() - 1];
                let offsets = bounds.iter().map(|offset| offset - entries.start).collect();
                Arc::new(Part { whole: Arc::clone(whole), offsets, entries })
            }
        };
        Ok(Dataset::of_lender(lender, classes, labels))
    }
}

/// Some rows of a sparse array.
#[derive(Debug)]
struct Part {
    whole: Arc<Array>,
    offsets: Vec<usize>,
    entries: Range<usize>,
}

impl Lender for Part {
    fn lend(&self) -> MatrixRef<'_> {
        fn of<'a, T>(part: &'a Part, whole: &SparseRef<'a, T>) -> SparseRef<'a, T> {
            let entries = part.entries.clone();
            let (indices, values) = (&whole.indices[entries.clone()], &whole.values[entries]);
            SparseRef { offsets: &part.offsets, indices, values, width: whole.width }
        }
        match self.whole.lend() {
            MatrixRef::Sparse32(whole) => MatrixRef::Sparse32(of(self, &whole)),
            MatrixRef::Sparse64(whole) => MatrixRef::Sparse64(of(self, &whole)),
            dense => dense,
        }
    }
}

fn broken(what: &str) -> PyErr {
    PyValueError::new_err(format!("the sparse matrix is broken: {what}"))
}

/// Whether indices ascend.
struct Ascend<'a>(&'a [u32]);

impl Work for Ascend<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        // Nothing leaves the loop early, so that many indices are compared at once.
        let pairs = self.0.iter().zip(self.0.iter().skip(1));
        pairs.fold(0, |any, (one, next)| any | u32::from(one >= next)) == 0
    }
}

impl Array {
    /// Looks whether the indices of these rows ascend below the number of features.
    fn check(&self, rows: Range<usize>) -> PyResult<()> {
        let (Self::Sparse32(all, _) | Self::Sparse64(all, _)) = self else { return Ok(()) };
        let indices = all.indices.values();
        for bounds in all.offsets[rows.start..=rows.end].windows(2) {
            let row = &indices[bounds[0]..bounds[1]];
            if !widest(Ascend(row)) {
                return Err(broken("the indices of a row do not ascend"));
            }
            if row.last().is_some_and(|&last| last as usize >= all.width) {
                return Err(broken("an index is negative, or beyond the number of features"));
            }
        }
        Ok(())
    }
}

/// [`rows`], sparse ones not looked at yet, and columns too.
pub(crate) fn unchecked(given: &Bound<'_, PyAny>) -> PyResult<Unchecked> {
    if let Some(columns) = Columns::new(given)? {
        return Ok(Unchecked(Stored::Columns64(columns)));
    }
    if let Some(columns) = Columns::new(given)? {
        return Ok(Unchecked(Stored::Columns32(columns)));
    }
    Ok(Unchecked(Stored::Rows(Arc::new(array(given)?))))
}

fn array(given: &Bound<'_, PyAny>) -> PyResult<Array> {
    Ok(
        if let Ok((indptr, indices, data, width)) =
            given.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>, Bound<'_, PyAny>, usize)>()
        {
            let rows = compressed(&indptr, &indices, &data, width)?;
            if let Ok(values) = Shared::<f64>::new(&data) {
                Array::Sparse64(rows, values)
            } else {
                Array::Sparse32(rows, Shared::new(&data).map_err(|_| wrong_values())?)
            }
        } else if let Ok(values) = Shared::<f64>::new(given) {
            let width = dense_width(values.shape())?;
            Array::Dense64(values, width)
        } else {
            let values = Shared::<f32>::new(given).map_err(|_| wrong_values())?;
            let width = dense_width(values.shape())?;
            Array::Dense32(values, width)
        },
    )
}

fn wrong_values() -> PyErr {
    PyTypeError::new_err("values should be a C-contiguous array of float32 or float64")
}

fn dense_width(shape: &[usize]) -> PyResult<usize> {
    let [n_rows, width] = *shape else {
        return Err(PyValueError::new_err(format!("Expected 2D array, got {}D array instead", shape.len())));
    };
    check_count(n_rows)?;
    if width == 0 { Err(PyValueError::new_err("there are no features")) } else { Ok(width) }
}

/// Whether there is room for the weights of this many outputs. There is no later error: without memory a
/// process ends.
pub(crate) fn check_room(width: usize, n_outputs: usize) -> PyResult<()> {
    // The weights, a sum of them, and what they are read out to.
    let n_values = width.saturating_mul(n_outputs.max(1)).saturating_mul(4);
    let mut room: Vec<f64> = Vec::new();
    room.try_reserve_exact(n_values).map_err(|_| {
        PyMemoryError::new_err(format!(
            "the weights of {width} features do not fit into memory; hash them to fewer, or leave empty columns out"
        ))
    })
}

/// Rows are known by numbers of 32 bits.
fn check_count(n_rows: usize) -> PyResult<()> {
    if u32::try_from(n_rows).is_ok() {
        return Ok(());
    }
    Err(PyValueError::new_err(format!("{n_rows} rows are more than {}, the most there may be", u32::MAX)))
}

/// The offsets and indices of sparse rows, compared with the number of values.
fn compressed(
    indptr: &Bound<'_, PyAny>,
    indices: &Bound<'_, PyAny>,
    data: &Bound<'_, PyAny>,
    width: usize,
) -> PyResult<Compressed> {
    let wrong = |what: &str| Err(broken(what));
    let Some(offsets) = whole_numbers::<usize>(indptr)? else { return wrong("`indptr` is negative") };
    let n_entries = data.len()?;
    check_count(offsets.len())?;
    if offsets.first() != Some(&0) || offsets.last() != Some(&n_entries) {
        return wrong("`indptr` does not run from 0 to the number of values");
    }
    if offsets.windows(2).any(|pair| pair[0] > pair[1]) {
        return wrong("`indptr` goes back");
    }
    let indices = if let Ok(shared) = Shared::<i32>::new(indices) {
        Indices::Shared(shared)
    } else {
        match whole_numbers(indices)? {
            Some(narrow) => Indices::Copied(narrow),
            None => return wrong("an index is negative, or beyond 32 bits"),
        }
    };
    if indices.values().len() != n_entries {
        return wrong("there are not as many indices as values");
    }
    Ok(Compressed { offsets, indices, width })
}

/// A copy of whole numbers of 32 or 64 bits; nothing if one of them does not fit.
fn whole_numbers<T: TryFrom<i64> + TryFrom<i32>>(array: &Bound<'_, PyAny>) -> PyResult<Option<Vec<T>>> {
    fn copied<F: Copy, T: TryFrom<F>>(numbers: &[F]) -> Option<Vec<T>> {
        numbers.iter().map(|&number| T::try_from(number).ok()).collect()
    }
    if let Ok(shared) = Shared::<i64>::new(array) {
        return Ok(copied(shared.values()));
    }
    let wrong = |_| PyTypeError::new_err("indices should be arrays of int32 or int64");
    Ok(copied(Shared::<i32>::new(array).map_err(wrong)?.values()))
}

/// A column of numbers, one for each row.
pub(crate) fn column<T: Element>(array: &Bound<'_, PyAny>, n_rows: usize) -> PyResult<Vec<T>> {
    let shared = Shared::<T>::new(array)?;
    let values = shared.values();
    if values.len() != n_rows {
        let wrong = format!("{} values were given for {n_rows} rows", values.len());
        return Err(PyValueError::new_err(wrong));
    }
    Ok(values.to_vec())
}
