//! A block of rows in memory that is used again and again.
//!
//! Readers fill blocks, learners borrow them ([`Block::visit`]), and then they go back to be filled
//! anew, so that a stream of any length needs the memory of a few blocks. Labels are numbered within the
//! block in order of appearance ([`Block::names`]); that numbering means nothing outside it until a
//! [`crate::Numbering`] has put the true class numbers in their place. So blocks can be parsed in any
//! order, on any thread, without agreeing on anything.

use crate::error::{DataError, Mistake};
use crate::rows::dataset::{DenseMatrix, Matrix, SparseMatrix, View, Visitor};
use crate::rows::gaps::{Gap, Gaps};
use crate::rows::label_table::LabelTable;
use crate::rows::schema::{Layout, Precision};
use crate::scan::number::Nearest;
use rosenblatt_core::Value;

/// Some rows, one after the other.
#[derive(Debug, Clone)]
pub struct Block {
    pub(crate) matrix: Matrix,
    pub(crate) classes: Vec<u32>,
    pub(crate) weights: Option<Vec<f64>>,
    pub(crate) names: LabelTable,
    pub(crate) first_row: u64,
    pub(crate) labelled: bool,
    pub(crate) gaps: Gaps,
    /// The texts of the rows, if they are to be kept and the rows were made of text.
    pub(crate) texts: Vec<String>,
    /// What the cells of a table are besides numbers, until features are made of them.
    pub(crate) cells: Cells,
    /// How many cells hold a category that was not learned from, and some of them as `column=value`.
    pub(crate) n_unknown: u64,
    pub(crate) unknown: Vec<String>,
}

/// What stands in the cells of a table that are no numbers. Those lie in the block's matrix meanwhile, one per
/// column of numbers, a missing one being NaN.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cells {
    /// Per column of categories, its values in order of appearance.
    pub(crate) categories: Vec<LabelTable>,
    /// Per row and column of categories, the number of its value; [`MISSING`] if there is none.
    pub(crate) codes: Vec<u32>,
    /// The texts of each column of text.
    pub(crate) texts: Vec<Texts>,
    /// The same by the names that a survey found in them, for columns whose texts are not kept.
    pub(crate) names: Vec<FoundNames>,
}

/// The number of a category that is missing.
pub(crate) const MISSING: u32 = u32::MAX;

/// Contiguous texts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Texts {
    text: String,
    ends: Vec<usize>,
}

impl Texts {
    pub(crate) fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len());
    }

    pub(crate) fn append(&mut self, more: &Self) {
        let base = self.text.len();
        self.text.push_str(&more.text);
        self.ends.extend(more.ends.iter().map(|end| base + end));
    }

    pub(crate) fn get(&self, row: usize) -> &str {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[row]]
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn n_bytes(&self) -> usize {
        self.text.len()
    }

    fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }
}

/// Where the names of texts lie, text by text.
#[derive(Debug, Clone, Default)]
pub(crate) struct FoundNames {
    names: Vec<u32>,
    ends: Vec<usize>,
}

impl FoundNames {
    pub(crate) fn push(&mut self, names: &[u32]) {
        self.names.extend_from_slice(names);
        self.ends.push(self.names.len());
    }

    pub(crate) fn get(&self, row: usize) -> &[u32] {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.names[start..self.ends[row]]
    }

    pub(crate) fn n_names(&self) -> usize {
        self.names.len()
    }
}

impl Cells {
    /// Empties the cells for rows of this many columns of categories and of text.
    pub(crate) fn clear(&mut self, n_categories: usize, n_texts: usize) {
        self.categories.resize_with(n_categories, LabelTable::default);
        self.categories.iter_mut().for_each(LabelTable::clear);
        self.codes.clear();
        self.texts.resize_with(n_texts, Texts::default);
        self.texts.iter_mut().for_each(Texts::clear);
    }
}

/// A feature value as blocks store it: `f32` or `f64`.
pub trait Stored: Value + Nearest + Default + PartialEq + std::fmt::Debug {
    /// Which of the two this is.
    const PRECISION: Precision;

    /// The nearest value of this type; `None` if it would be infinite.
    fn narrow(number: f64) -> Option<Self>;

    /// Adds values as bytes, little-endian.
    fn put(values: &[Self], out: &mut Vec<u8>);

    /// Adds what such bytes stand for.
    fn get(bytes: &[u8], into: &mut Vec<Self>);

    /// The dense matrix of this type inside `matrix`, if that is what it holds.
    fn dense(matrix: &mut Matrix) -> Option<&mut DenseMatrix<Self>>;

    /// The sparse matrix of this type inside `matrix`, if that is what it holds.
    fn sparse(matrix: &mut Matrix) -> Option<&mut SparseMatrix<Self>>;

    /// A dense matrix of this type as one of any type.
    fn wrap_dense(matrix: DenseMatrix<Self>) -> Matrix;

    /// A sparse matrix of this type as one of any type.
    fn wrap_sparse(matrix: SparseMatrix<Self>) -> Matrix;
}

impl Stored for f32 {
    const PRECISION: Precision = Precision::Single;

    #[inline(always)]
    fn narrow(number: f64) -> Option<Self> {
        let narrow = number as Self;
        narrow.is_finite().then_some(narrow)
    }

    fn put(values: &[Self], out: &mut Vec<u8>) {
        out.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    }

    fn get(bytes: &[u8], into: &mut Vec<Self>) {
        into.extend(bytes.as_chunks::<4>().0.iter().map(|bytes| Self::from_le_bytes(*bytes)));
    }

    fn dense(matrix: &mut Matrix) -> Option<&mut DenseMatrix<Self>> {
        if let Matrix::Dense32(matrix) = matrix { Some(matrix) } else { None }
    }

    fn sparse(matrix: &mut Matrix) -> Option<&mut SparseMatrix<Self>> {
        if let Matrix::Sparse32(matrix) = matrix { Some(matrix) } else { None }
    }

    fn wrap_dense(matrix: DenseMatrix<Self>) -> Matrix {
        Matrix::Dense32(matrix)
    }

    fn wrap_sparse(matrix: SparseMatrix<Self>) -> Matrix {
        Matrix::Sparse32(matrix)
    }
}

impl Stored for f64 {
    const PRECISION: Precision = Precision::Double;

    #[inline(always)]
    fn narrow(number: f64) -> Option<Self> {
        number.is_finite().then_some(number)
    }

    fn put(values: &[Self], out: &mut Vec<u8>) {
        out.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    }

    fn get(bytes: &[u8], into: &mut Vec<Self>) {
        into.extend(bytes.as_chunks::<8>().0.iter().map(|bytes| Self::from_le_bytes(*bytes)));
    }

    fn dense(matrix: &mut Matrix) -> Option<&mut DenseMatrix<Self>> {
        if let Matrix::Dense64(matrix) = matrix { Some(matrix) } else { None }
    }

    fn sparse(matrix: &mut Matrix) -> Option<&mut SparseMatrix<Self>> {
        if let Matrix::Sparse64(matrix) = matrix { Some(matrix) } else { None }
    }

    fn wrap_dense(matrix: DenseMatrix<Self>) -> Matrix {
        Matrix::Dense64(matrix)
    }

    fn wrap_sparse(matrix: SparseMatrix<Self>) -> Matrix {
        Matrix::Sparse64(matrix)
    }
}

impl Default for Block {
    fn default() -> Self {
        Self {
            matrix: empty_matrix(Layout::Sparse, Precision::Single),
            classes: Vec::new(),
            weights: None,
            names: LabelTable::default(),
            first_row: 0,
            labelled: true,
            gaps: Gaps::default(),
            texts: Vec::new(),
            cells: Cells::default(),
            n_unknown: 0,
            unknown: Vec::new(),
        }
    }
}

/// A matrix without rows.
pub(crate) fn empty_matrix(layout: Layout, precision: Precision) -> Matrix {
    match (layout, precision) {
        (Layout::Dense, Precision::Single) => Matrix::Dense32(DenseMatrix { values: Vec::new(), width: 0 }),
        (Layout::Dense, Precision::Double) => Matrix::Dense64(DenseMatrix { values: Vec::new(), width: 0 }),
        (Layout::Sparse, Precision::Single) => Matrix::Sparse32(SparseMatrix::empty()),
        (Layout::Sparse, Precision::Double) => Matrix::Sparse64(SparseMatrix::empty()),
    }
}

impl<T> SparseMatrix<T> {
    /// A sparse matrix without rows.
    pub(crate) fn empty() -> Self {
        Self::with_room(0)
    }

    /// The same, with room for `n_entries`.
    pub(crate) fn with_room(n_entries: usize) -> Self {
        let (indices, values) = (Vec::with_capacity(n_entries), Vec::with_capacity(n_entries));
        Self { offsets: vec![0], indices, values, width: 0 }
    }
}

impl Block {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.classes.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// The number of the block's first row in its stream, counted from 0. Dropped and skipped rows are
    /// counted too, so that it can be found again.
    pub fn first_row(&self) -> u64 {
        self.first_row
    }

    /// One more than the largest feature so far in a sparse block, the width of a dense one.
    pub fn width(&self) -> usize {
        self.matrix.width()
    }

    /// The feature values.
    pub fn matrix(&self) -> &Matrix {
        &self.matrix
    }

    /// The class of every row: numbers into [`Block::names`] as a reader leaves the block, true class
    /// numbers once a [`crate::Numbering`] has been at it.
    pub fn classes(&self) -> &[u32] {
        &self.classes
    }

    /// The labels of this block in order of appearance.
    pub fn names(&self) -> &LabelTable {
        &self.names
    }

    /// The weight of every row, if they have any.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// Whether the rows had labels; if not, their classes are all 0 and mean nothing.
    pub fn is_labelled(&self) -> bool {
        self.labelled
    }

    /// How many rows were dropped for a missing value, by policy.
    pub fn n_dropped(&self) -> u64 {
        self.gaps.n_dropped()
    }

    /// How many cells hold a category that was not learned from.
    pub fn n_unknown(&self) -> u64 {
        self.n_unknown
    }

    /// How many rows were skipped because they could not be read, by policy.
    pub fn n_skipped(&self) -> u64 {
        self.gaps.n_skipped()
    }

    /// Where rows were left out, in order.
    pub fn gaps(&self) -> &[Gap] {
        self.gaps.runs()
    }

    /// How many rows the source had in this stretch, those that were left out too.
    pub(crate) fn n_rows_seen(&self) -> u64 {
        self.classes.len() as u64 + self.n_dropped() + self.n_skipped()
    }

    /// For each of the block's own labels, the first row that has it.
    pub(crate) fn first_rows(&self) -> Vec<Option<usize>> {
        let mut rows = vec![None; self.names.names().len()];
        for (row, &class) in self.classes.iter().enumerate() {
            // Rows without labels have a class that has no name.
            if let Some(first) = rows.get_mut(class as usize) {
                first.get_or_insert(row);
            }
        }
        rows
    }

    /// Leaves out the row at hand, for it lacks a value.
    pub(crate) fn drop_row(&mut self) {
        self.gaps.leave_out(self.classes.len(), None);
    }

    /// Leaves out the row at hand, which cannot be read.
    pub(crate) fn skip_row(&mut self, error: &DataError) {
        self.gaps.show(error);
        self.gaps.leave_out(self.classes.len(), Some(error.kind()));
    }

    /// Leaves out the record that begins at byte `start` of a chunk, `line_idx` lines below its first.
    pub(crate) fn skip_record(&mut self, mistake: Box<Mistake>, line_idx: u64, start: usize) {
        self.gaps.skip_record(self.classes.len(), mistake, line_idx, start);
    }

    /// The rows in their own kind, without a copy.
    pub fn view(&self) -> View<'_> {
        View::new(self.matrix.lend(), &self.classes, self.weights.as_deref())
    }

    /// Lends the rows to `visitor` in their own kind, without a copy.
    pub fn visit<V: Visitor>(&self, visitor: V) -> V::Output {
        self.view().visit(visitor)
    }

    /// Empties the block for rows of another kind; memory is kept where the kind stays the same.
    pub fn clear(&mut self, layout: Layout, precision: Precision, width: usize) {
        self.classes.clear();
        self.weights = None;
        self.names.clear();
        self.first_row = 0;
        self.labelled = true;
        self.gaps.clear();
        self.texts.clear();
        self.cells.clear(0, 0);
        self.n_unknown = 0;
        self.unknown.clear();
        match (&mut self.matrix, layout, precision) {
            (Matrix::Dense32(matrix), Layout::Dense, Precision::Single) => matrix.clear(width),
            (Matrix::Dense64(matrix), Layout::Dense, Precision::Double) => matrix.clear(width),
            (Matrix::Sparse32(matrix), Layout::Sparse, Precision::Single) => matrix.clear(width),
            (Matrix::Sparse64(matrix), Layout::Sparse, Precision::Double) => matrix.clear(width),
            _ => {
                self.matrix = empty_matrix(layout, precision);
                match &mut self.matrix {
                    Matrix::Dense32(matrix) => matrix.width = width,
                    Matrix::Dense64(matrix) => matrix.width = width,
                    Matrix::Sparse32(matrix) => matrix.width = width,
                    Matrix::Sparse64(matrix) => matrix.width = width,
                }
            }
        }
    }

    /// Gives the row that was just stored a weight; rows before the first weighted one weigh 1.
    pub(crate) fn push_weight(&mut self, weight: f64) {
        let n_before = self.classes.len().saturating_sub(1);
        let weights = self.weights.get_or_insert_with(|| vec![1.0; n_before]);
        weights.resize(n_before, 1.0);
        weights.push(weight);
    }

    /// Fills up the weights once the last row is stored: unweighted rows weigh 1.
    pub(crate) fn finish_weights(&mut self) {
        if let Some(weights) = &mut self.weights {
            weights.resize(self.classes.len(), 1.0);
        }
    }
}

impl<T> DenseMatrix<T> {
    fn clear(&mut self, width: usize) {
        self.values.clear();
        self.width = width;
    }
}

impl<T> SparseMatrix<T> {
    fn clear(&mut self, width: usize) {
        self.offsets.truncate(1);
        self.indices.clear();
        self.values.clear();
        self.width = width;
    }

    /// How many entries are stored.
    pub(crate) fn n_entries(&self) -> usize {
        self.indices.len()
    }

    /// Forgets the entries from `n_entries` on: a row that is not to be.
    pub(crate) fn truncate(&mut self, n_entries: usize) {
        self.indices.truncate(n_entries);
        self.values.truncate(n_entries);
    }
}

impl<T: Stored> SparseMatrix<T> {
    /// Ends the row whose entries were just stored; they must ascend. Zeros are left out, so that a row is the same
    /// whether they were written or not.
    pub(crate) fn end_row(&mut self) {
        let start = self.offsets.last().copied().unwrap_or(0);
        if self.indices.len() > start
            && let Some(&last) = self.indices.last()
        {
            self.width = self.width.max(last as usize + 1);
        }
        self.offsets.push(self.indices.len());
        self.leave_out_zeros(self.offsets.len() - 2);
    }

    /// Leaves out what is zero in the rows from `first_row` on.
    pub(crate) fn leave_out_zeros(&mut self, first_row: usize) {
        let start = self.offsets[first_row];
        if T::any_zero(&self.values[start..]) {
            self.leave_out_those_zeros(first_row);
        }
    }

    #[cold]
    fn leave_out_those_zeros(&mut self, first_row: usize) {
        let mut kept = self.offsets[first_row];
        for row in first_row..self.offsets.len() - 1 {
            let entries = self.offsets[row]..self.offsets[row + 1];
            self.offsets[row] = kept;
            for entry in entries {
                (self.indices[kept], self.values[kept]) = (self.indices[entry], self.values[entry]);
                kept += usize::from(self.values[kept] != T::default());
            }
        }
        if let Some(end) = self.offsets.last_mut() {
            *end = kept;
        }
        self.truncate(kept);
    }
}

/// Sorts the entries of one row by index. Returns the first index that occurs twice, if any does.
pub(crate) fn sort_row<T: Copy>(
    indices: &mut [u32],
    values: &mut [T],
    scratch: &mut Vec<(u32, T)>,
) -> Option<u32> {
    scratch.clear();
    scratch.extend(indices.iter().copied().zip(values.iter().copied()));
    // Stable, so that equal indices keep the order in which they stood.
    scratch.sort_by_key(|&(index, _)| index);
    for (place, &(index, value)) in scratch.iter().enumerate() {
        indices[place] = index;
        values[place] = value;
    }
    indices.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

/// Adds up equal indices of the sorted row that begins at entry `start`, for hashed features.
pub(crate) fn merge_row<T: Stored>(matrix: &mut SparseMatrix<T>, start: usize) -> Option<()> {
    let mut kept = start;
    for place in start..matrix.indices.len() {
        let (index, value) = (matrix.indices[place], matrix.values[place]);
        if kept > start && matrix.indices[kept - 1] == index {
            matrix.values[kept - 1] = T::narrow(matrix.values[kept - 1].wide() + value.wide())?;
        } else {
            matrix.indices[kept] = index;
            matrix.values[kept] = value;
            kept += 1;
        }
    }
    matrix.truncate(kept);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_and_hashed_twins_added() {
        let mut matrix = SparseMatrix::<f32>::empty();
        matrix.indices = vec![9, 7, 2, 7];
        matrix.values = vec![9.0, 1.0, 3.0, 0.5];
        let mut scratch = Vec::new();
        assert_eq!(sort_row(&mut matrix.indices, &mut matrix.values, &mut scratch), Some(7));
        assert_eq!(merge_row(&mut matrix, 0), Some(()));
        matrix.end_row();
        assert_eq!((&matrix.indices[..], &matrix.values[..]), (&[2, 7, 9][..], &[3.0, 1.5, 9.0][..]));
        assert_eq!(matrix.width, 10);
        matrix.indices.extend([1, 4, 11]);
        matrix.values.extend([0.0, 2.0, -0.0]);
        matrix.end_row();
        assert_eq!(
            (&matrix.indices[3..], &matrix.values[3..], &matrix.offsets[..]),
            (&[4][..], &[2.0][..], &[0, 3, 4][..])
        );
        assert_eq!(matrix.width, 12);
    }

    #[test]
    fn clearing_keeps_memory_and_changes_kind() {
        let mut block = Block::default();
        let Some(matrix) = f32::sparse(&mut block.matrix) else { panic!("blocks begin sparse") };
        matrix.indices.reserve(1000);
        block.clear(Layout::Sparse, Precision::Single, 0);
        let Some(matrix) = f32::sparse(&mut block.matrix) else { panic!("still sparse") };
        assert!(matrix.indices.capacity() >= 1000);
        block.clear(Layout::Dense, Precision::Double, 3);
        assert_eq!(block.width(), 3);
        assert!(f64::dense(&mut block.matrix).is_some());
    }

    #[test]
    fn weights_begin_at_one() {
        let mut block = Block { classes: vec![0, 0], ..Block::default() };
        block.push_weight(2.0);
        block.classes.push(0);
        block.finish_weights();
        assert_eq!(block.weights(), Some(&[1.0, 2.0, 1.0][..]));
    }
}
