//! A whole data set in memory: rows, classes, names.
//!
//! Values are kept as they came, `f32` or `f64`, dense or sparse, in flat arrays that the learning
//! core borrows ([`Dataset::visit`]). Nothing here reads files, and nothing here is resampled or
//! split: a part of a dataset is a list of row numbers.

use crate::encode::{Bends, Scaler};
use crate::error::DataError;
use crate::rows::block::Stored;
use crate::rows::labels::Labels;
use crate::rows::look::Look;
use crate::visit;
use rosenblatt_core::{Dense, DenseExamples, Examples, Row, SparseExamples, Value};
use std::cmp::Ordering;
use std::fmt::Debug;
use std::sync::Arc;

/// What stands for the class of rows that came without labels.
pub(crate) const UNLABELLED: &str = "?";

/// The feature values of a dataset.
#[derive(Debug, Clone, PartialEq)]
pub enum Matrix {
    /// Every feature of every row, single precision.
    Dense32(DenseMatrix<f32>),
    /// Every feature of every row, double precision.
    Dense64(DenseMatrix<f64>),
    /// The non-zero features, single precision.
    Sparse32(SparseMatrix<f32>),
    /// The non-zero features, double precision.
    Sparse64(SparseMatrix<f64>),
}

/// Rows of equal width, one after the other.
#[derive(Debug, Clone, PartialEq)]
pub struct DenseMatrix<T> {
    /// Row-major values.
    pub values: Vec<T>,
    /// Features per row.
    pub width: usize,
}

/// Compressed rows: row `i` holds entries `offsets[i]..offsets[i + 1]`, indices strictly ascending.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseMatrix<T> {
    /// Where each row begins, and the end.
    pub offsets: Vec<usize>,
    /// The feature of each entry.
    pub indices: Vec<u32>,
    /// The value of each entry.
    pub values: Vec<T>,
    /// Features per row.
    pub width: usize,
}

/// The rows without their zeros, if that takes half the memory or less.
fn sparse_twin<T: Stored>(dense: &[T], width: usize) -> Option<SparseMatrix<T>> {
    let n_found: usize = dense.iter().map(|value| usize::from(*value != T::default())).sum();
    let bytes = n_found * (size_of::<T>() + size_of::<u32>());
    if width == 0 || bytes > size_of_val(dense) / 2 {
        return None;
    }
    let mut twin = SparseMatrix {
        offsets: Vec::with_capacity(dense.len() / width + 1),
        indices: Vec::with_capacity(n_found),
        values: Vec::with_capacity(n_found),
        width,
    };
    twin.offsets.push(0);
    for row in dense.chunks_exact(width) {
        Dense(row).pieces(|features, values| {
            twin.indices.extend_from_slice(features);
            twin.values.extend(values.iter().map(|value| T::nearest(*value)));
        });
        twin.offsets.push(twin.indices.len());
    }
    Some(twin)
}

/// The feature values of a dataset, borrowed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MatrixRef<'a> {
    /// Every feature of every row, single precision.
    Dense32(DenseRef<'a, f32>),
    /// Every feature of every row, double precision.
    Dense64(DenseRef<'a, f64>),
    /// The non-zero features, single precision.
    Sparse32(SparseRef<'a, f32>),
    /// The non-zero features, double precision.
    Sparse64(SparseRef<'a, f64>),
}

/// A borrowed [`DenseMatrix`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DenseRef<'a, T> {
    /// Row-major values.
    pub values: &'a [T],
    /// Features per row.
    pub width: usize,
}

/// A borrowed [`SparseMatrix`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SparseRef<'a, T> {
    /// Where each row begins, and the end.
    pub offsets: &'a [usize],
    /// The feature of each entry.
    pub indices: &'a [u32],
    /// The value of each entry.
    pub values: &'a [T],
    /// Features per row.
    pub width: usize,
}

/// Someone who keeps rows in memory of their own and lends them, always the same.
pub trait Lender: Debug + Send + Sync {
    /// The rows.
    fn lend(&self) -> MatrixRef<'_>;

    /// What a look at all sparse rows found, if there was one.
    fn look(&self) -> Option<Look> {
        None
    }
}

/// Rows that belong to a dataset, or that it borrows.
#[derive(Debug, Clone)]
enum Held {
    Owned(Matrix),
    Lent(Arc<dyn Lender>),
}

impl Held {
    fn lend(&self) -> MatrixRef<'_> {
        match self {
            Self::Owned(matrix) => matrix.lend(),
            Self::Lent(lender) => lender.lend(),
        }
    }

    /// The rows to change: a copy of what is lent.
    fn to_mut(&mut self) -> &mut Matrix {
        if let Self::Lent(lender) = self {
            *self = Self::Owned(lender.lend().to_matrix());
        }
        match self {
            Self::Owned(matrix) => matrix,
            Self::Lent(_) => unreachable!("it was copied above"),
        }
    }
}

impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        self.lend() == other.lend()
    }
}

/// A labelled data set.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    matrix: Held,
    classes: Vec<u32>,
    labels: Labels,
    weights: Option<Vec<f64>>,
    feature_names: Option<Arc<[String]>>,
    left_out: LeftOutRows,
}

/// Rows of the source that are not in a data set: after how many of its rows, and how many up to there.
#[derive(Debug, Clone, Default)]
pub(crate) struct LeftOutRows(Vec<(usize, usize)>);

impl LeftOutRows {
    /// `n_rows` more are missing after the first `n_before` rows.
    pub(crate) fn add(&mut self, n_before: usize, n_rows: u64) {
        let so_far = self.0.last().map_or(0, |&(_, so_far)| so_far);
        self.0.push((n_before, so_far.saturating_add(n_rows as usize)));
    }

    /// How many are missing.
    pub(crate) fn total(&self) -> usize {
        self.0.last().map_or(0, |&(_, so_far)| so_far)
    }

    /// The place of a row in its source.
    pub(crate) fn number(&self, idx: usize) -> usize {
        let n_behind = self.0.partition_point(|&(n_before, _)| n_before <= idx);
        idx + n_behind.checked_sub(1).map_or(0, |last| self.0[last].1)
    }
}

/// Where its rows stood makes no data set another one.
impl PartialEq for LeftOutRows {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Dataset {
    /// Whether its rows came with labels.
    pub fn is_labelled(&self) -> bool {
        self.labels.names() != [UNLABELLED]
    }

    /// What a look at its rows found, if they are sparse, lent and were looked at.
    pub fn look(&self) -> Option<Look> {
        match &self.matrix {
            Held::Owned(_) => None,
            Held::Lent(lender) => lender.look(),
        }
    }

    /// How many rows its source has, those that were left out included.
    pub fn n_source_rows(&self) -> usize {
        self.len() + self.left_out.total()
    }

    /// The place of a row in its source, from 0, which differs from `idx` where rows before it were left out.
    pub fn number(&self, idx: usize) -> usize {
        self.left_out.number(idx)
    }

    /// The row with this place in its source.
    pub fn find(&self, number: usize) -> Option<usize> {
        let gaps = &self.left_out.0;
        let n_behind = gaps.partition_point(|&(n_before, so_far)| n_before + so_far <= number);
        let idx = number.checked_sub(n_behind.checked_sub(1).map_or(0, |last| gaps[last].1))?;
        (idx < self.len() && self.number(idx) == number).then_some(idx)
    }

    /// Tells where rows of the source are missing.
    pub(crate) fn with_left_out(self, left_out: LeftOutRows) -> Self {
        Self { left_out, ..self }
    }

    /// Whether no feature tells one row from another. Ends at the first that does.
    pub fn rows_are_alike(&self) -> bool {
        visit!(self.view(), examples => {
            let entries = |idx| examples.row(idx).entries().filter(|(_, value)| *value != 0.0);
            (1..examples.len()).all(|idx| entries(idx).eq(entries(0)))
        })
    }
}

impl<T: Copy> DenseMatrix<T> {
    /// Adds the rows of another.
    pub(crate) fn append(&mut self, more: &Self) {
        self.width = more.width;
        self.values.extend_from_slice(&more.values);
    }
}

impl<T: Copy> SparseMatrix<T> {
    /// Adds the rows of another.
    pub(crate) fn append(&mut self, more: &Self) {
        let base = self.indices.len();
        self.width = self.width.max(more.width);
        self.offsets.extend(more.offsets[1..].iter().map(|offset| base + offset));
        self.indices.extend_from_slice(&more.indices);
        self.values.extend_from_slice(&more.values);
    }
}

/// Something that can be done with the rows of a dataset, however they are stored.
pub trait Visitor {
    /// What comes of it.
    type Output;

    /// Called once, with the dataset's own kind of rows.
    fn visit<E: Examples>(self, examples: E) -> Self::Output;
}

impl Dataset {
    /// A dataset from its parts. `classes` are numbers into `labels`, one per row. Zeros that a sparse matrix stores are
    /// left out.
    ///
    /// # Panics
    /// If the parts do not fit together; a reader of foreign data checks that on entry.
    pub fn new(mut matrix: Matrix, classes: Vec<u32>, labels: Labels) -> Self {
        check_parts(matrix.lend(), &classes, &labels);
        match &mut matrix {
            Matrix::Sparse32(matrix) => matrix.leave_out_zeros(0),
            Matrix::Sparse64(matrix) => matrix.leave_out_zeros(0),
            Matrix::Dense32(_) | Matrix::Dense64(_) => {}
        }
        let left_out = LeftOutRows::default();
        Self { matrix: Held::Owned(matrix), classes, labels, weights: None, feature_names: None, left_out }
    }

    /// A dataset of rows that stay where they are. Where a sparse row stores zeros, all of them are copied, to leave
    /// the zeros out.
    ///
    /// If you lend foreign data, check on entry that the indices of sparse rows ascend below the width; it is not
    /// looked at again but where a debugger would.
    ///
    /// # Panics
    /// If there is not one class per row, or a class has no name.
    pub fn of_lender(lender: Arc<dyn Lender>, classes: Vec<u32>, labels: Labels) -> Self {
        let lent = lender.lend();
        if lender.look().map_or_else(|| lent.stores_zeros(), |look| look.stores_zeros) {
            return Self::new(lent.to_matrix(), classes, labels);
        }
        check_classes(lent, &classes, &labels);
        if cfg!(debug_assertions) {
            check_indices(lent);
        }
        let left_out = LeftOutRows::default();
        Self { matrix: Held::Lent(lender), classes, labels, weights: None, feature_names: None, left_out }
    }

    /// The same rows without their zeros, if they are dense and that takes half the memory or less.
    /// Whatever is learned from one is learned from the other, to the bit.
    pub fn sparse_twin(&self) -> Option<Self> {
        let matrix = match self.matrix.lend() {
            MatrixRef::Dense32(DenseRef { values, width }) => Matrix::Sparse32(sparse_twin(values, width)?),
            MatrixRef::Dense64(DenseRef { values, width }) => Matrix::Sparse64(sparse_twin(values, width)?),
            MatrixRef::Sparse32(_) | MatrixRef::Sparse64(_) => return None,
        };
        let (labels, weights) = (self.labels.clone(), self.weights.clone());
        let twin = Self::assemble(matrix, self.classes.clone(), labels, weights, self.feature_names.clone());
        Some(twin.with_left_out(self.left_out.clone()))
    }

    /// Equal rows of a class as one, with the sum of their weights; rows of weight zero left out; in an order of classes
    /// and values. What is learned from that depends on which rows there are, not on how they came: a row of weight 2
    /// is two rows.
    ///
    /// ```
    /// use rosenblatt_data::Dataset;
    ///
    /// let data = Dataset::from_rows(&[[3.0], [1.0], [3.0], [2.0]], &["a", "b", "a", "a"]);
    /// let merged = data.with_weights(vec![1.0, 1.0, 0.5, 0.0]).merged();
    /// assert_eq!((merged.classes(), merged.weights()), (&[0, 1][..], Some(&[1.5, 1.0][..])));
    /// ```
    #[must_use]
    pub fn merged(&self) -> Self {
        /// Class, entries and weight.
        type Entries = (u32, Vec<(usize, f64)>, f64);
        let mut rows: Vec<Entries> = visit!(self.view(), examples => {
            let all = (0..examples.len()).filter(|&row| examples.weight(row) > 0.0).map(|row| {
                let entries = examples.row(row).entries().filter(|(_, value)| *value != 0.0);
                (examples.class(row), entries.collect(), examples.weight(row))
            });
            all.collect()
        });
        rows.sort_by(|(class, row, weight), (other_class, other, other_weight)| {
            let by_value = || {
                let both = row.iter().zip(other).map(|((feature, value), (other, other_value))| {
                    feature.cmp(other).then(value.total_cmp(other_value))
                });
                both.fold(Ordering::Equal, Ordering::then).then(row.len().cmp(&other.len()))
            };
            // Sums of weights are rounded, so that their order matters, too.
            class.cmp(other_class).then_with(by_value).then(weight.total_cmp(other_weight))
        });
        let (mut classes, mut weights): (Vec<u32>, Vec<f64>) = (Vec::new(), Vec::new());
        let mut sparse =
            SparseMatrix { offsets: vec![0], indices: Vec::new(), values: Vec::new(), width: self.width() };
        let mut last: Option<&Entries> = None;
        for row in &rows {
            if last.is_some_and(|last| (last.0, &last.1) == (row.0, &row.1)) {
                *weights.last_mut().unwrap_or(&mut 0.0) += row.2;
                continue;
            }
            last = Some(row);
            classes.push(row.0);
            weights.push(row.2);
            sparse.indices.extend(row.1.iter().map(|(feature, _)| *feature as u32));
            sparse.values.extend(row.1.iter().map(|(_, value)| *value));
            sparse.offsets.push(sparse.indices.len());
        }
        let (labels, names) = (self.labels.clone(), self.feature_names.clone());
        Self::assemble(Matrix::Sparse64(sparse), classes, labels, Some(weights), names)
    }

    /// A dataset from parts that a reader has checked, row by row, as it made them.
    pub(crate) fn assemble(
        matrix: Matrix,
        classes: Vec<u32>,
        labels: Labels,
        weights: Option<Vec<f64>>,
        feature_names: Option<Arc<[String]>>,
    ) -> Self {
        if cfg!(debug_assertions) {
            return Self { weights, feature_names, ..Self::new(matrix, classes, labels) };
        }
        let left_out = LeftOutRows::default();
        Self { matrix: Held::Owned(matrix), classes, labels, weights, feature_names, left_out }
    }

    /// The rows themselves; a copy of what is lent.
    pub(crate) fn into_matrix(mut self) -> Matrix {
        self.matrix.to_mut();
        match self.matrix {
            Held::Owned(matrix) => matrix,
            Held::Lent(lender) => lender.lend().to_matrix(),
        }
    }

    /// Changes the features of all rows, which are then called `names`.
    pub(crate) fn cross<E>(
        &mut self,
        change: impl FnOnce(&mut Matrix) -> Result<(), E>,
        names: Option<Arc<[String]>>,
    ) -> Result<(), E> {
        change(self.matrix.to_mut())?;
        self.feature_names = names;
        Ok(())
    }

    /// A dense dataset from rows and their class names, the shortest way from `Vec`s to a model.
    ///
    /// # Panics
    /// If the rows differ in width or their number differs from that of the names.
    pub fn from_rows<R: AsRef<[f64]>, S: AsRef<str>>(rows: &[R], names: &[S]) -> Self {
        assert_eq!(rows.len(), names.len(), "one class name per row");
        let width = rows.first().map_or(0, |row| row.as_ref().len());
        assert!(rows.iter().all(|row| row.as_ref().len() == width), "rows are equally wide");
        let values = rows.iter().flat_map(|row| row.as_ref().iter().copied()).collect();
        let labels = Labels::sorted(names);
        let classes = names.iter().filter_map(|name| labels.class(name.as_ref())).collect();
        Self::new(Matrix::Dense64(DenseMatrix { values, width }), classes, labels)
    }

    /// The same data with a weight for every row.
    #[must_use]
    pub fn with_weights(mut self, weights: Vec<f64>) -> Self {
        assert_eq!(weights.len(), self.len(), "one weight per row");
        self.weights = Some(weights);
        self
    }

    /// The same data with a name for every feature.
    #[must_use]
    pub fn with_feature_names(mut self, names: impl Into<Arc<[String]>>) -> Self {
        let names = names.into();
        assert_eq!(names.len(), self.width(), "one name per feature");
        self.feature_names = Some(names);
        self
    }

    /// The same rows with two classes, of which `name` is the second, the positive one. Of two classes the other is
    /// the first; of more, all others become one. `None` if there is no such class, or no other.
    ///
    /// ```
    /// use rosenblatt_data::Dataset;
    ///
    /// let data = Dataset::from_rows(&[[1.0], [2.0], [3.0]], &["ann", "bob", "eve"]);
    /// let bob = data.with_positive("bob").unwrap();
    /// assert_eq!(bob.labels().names(), ["not bob", "bob"]);
    /// assert_eq!(bob.labels().told_from_rest(), Some("bob"));
    /// assert_eq!(bob.classes(), [0, 1, 0]);
    /// ```
    pub fn with_positive(mut self, name: &str) -> Option<Self> {
        self.labels = self.labels.positive(name, &mut self.classes)?;
        Some(self)
    }

    /// The same rows, scaled.
    pub fn scaled(&self, scaler: &Scaler) -> Result<Self, DataError> {
        let mut scaled = self.clone();
        scaled.scale(scaler)?;
        Ok(scaled)
    }

    /// Scales the rows where they are.
    pub fn scale(&mut self, scaler: &Scaler) -> Result<(), DataError> {
        scaler.apply(self.matrix.to_mut(), 0)
    }

    /// The same rows, bent. Their features have no names then.
    #[must_use]
    pub fn bent(&self, bends: &Bends) -> Self {
        let (matrix, labels) = (bends.apply(self.matrix.lend()), self.labels.clone());
        let bent = Self::assemble(matrix, self.classes.clone(), labels, self.weights.clone(), None);
        bent.with_left_out(self.left_out.clone())
    }

    /// Stores every feature of every row.
    pub(crate) fn make_dense(&mut self) {
        let width = self.width();
        self.matrix.to_mut().make_dense(width);
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.classes.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// How many features a row has.
    pub fn width(&self) -> usize {
        self.matrix.lend().width()
    }

    /// How many values the rows hold: those of all features, or those that are not zero.
    pub fn n_values(&self) -> usize {
        match self.matrix.lend() {
            MatrixRef::Dense32(rows) => rows.values.len(),
            MatrixRef::Dense64(rows) => rows.values.len(),
            MatrixRef::Sparse32(rows) => rows.values.len(),
            MatrixRef::Sparse64(rows) => rows.values.len(),
        }
    }

    /// The feature values, where they are.
    pub fn matrix(&self) -> MatrixRef<'_> {
        self.matrix.lend()
    }

    /// The class of every row.
    pub fn classes(&self) -> &[u32] {
        &self.classes
    }

    /// What the classes are called.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// The weight of every row, if they have any.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// What the features are called, if they have names.
    pub fn feature_names(&self) -> Option<&[String]> {
        self.feature_names.as_deref()
    }

    /// The same, to be had by others too: names of many words are large.
    pub fn shared_feature_names(&self) -> Option<Arc<[String]>> {
        self.feature_names.clone()
    }

    /// The rows in their own kind, without a copy.
    pub fn view(&self) -> View<'_> {
        View::new(self.matrix.lend(), &self.classes, self.weights.as_deref())
    }

    /// Lends the rows to `visitor` in their own kind, without a copy.
    pub fn visit<V: Visitor>(&self, visitor: V) -> V::Output {
        self.view().visit(visitor)
    }
}

/// Borrowed rows of any kind: what learners that do not care are handed.
#[derive(Debug, Clone, Copy)]
pub enum View<'a> {
    /// Dense rows, single precision.
    Dense32(DenseExamples<'a, f32>),
    /// Dense rows, double precision.
    Dense64(DenseExamples<'a, f64>),
    /// Sparse rows, single precision.
    Sparse32(SparseExamples<'a, f32>),
    /// Sparse rows, double precision.
    Sparse64(SparseExamples<'a, f64>),
}

/// Does something with borrowed rows in their own kind: `visit!(view, examples => ...)`. What is done is compiled for
/// every kind of rows, as with a [`Visitor`].
#[cfg(not(target_family = "wasm"))]
#[macro_export]
macro_rules! visit {
    ($view:expr, $examples:ident => $body:expr) => {
        match $view {
            $crate::View::Dense32($examples) => $body,
            $crate::View::Dense64($examples) => $body,
            $crate::View::Sparse32($examples) => $body,
            $crate::View::Sparse64($examples) => $body,
        }
    };
}

/// The same, single precision widened: a page has to be fetched, and every kind of rows is one more copy of every loop.
#[cfg(target_family = "wasm")]
#[macro_export]
macro_rules! visit {
    ($view:expr, $examples:ident => $body:expr) => {{
        let (mut dense, mut sparse) = (Vec::new(), Vec::new());
        let view = match $view {
            $crate::View::Dense32(examples) => $crate::View::Dense64(examples.widened(&mut dense)),
            $crate::View::Sparse32(examples) => $crate::View::Sparse64(examples.widened(&mut sparse)),
            view => view,
        };
        match view {
            $crate::View::Dense64($examples) => $body,
            $crate::View::Sparse64($examples) => $body,
            $crate::View::Dense32(_) | $crate::View::Sparse32(_) => unreachable!("they are widened"),
        }
    }};
}

impl<'a> View<'a> {
    /// Borrows rows with their classes and, if they have any, their weights.
    pub(crate) fn new(rows: MatrixRef<'a>, classes: &'a [u32], weights: Option<&'a [f64]>) -> Self {
        fn dense<'a, T: Copy>(
            DenseRef { values, width }: DenseRef<'a, T>,
            classes: &'a [u32],
            weights: Option<&'a [f64]>,
        ) -> DenseExamples<'a, T> {
            let examples = DenseExamples::new(values, width, classes);
            weights.map_or(examples, |weights| examples.with_weights(weights))
        }
        fn sparse<'a, T: Copy>(
            SparseRef { offsets, indices, values, width }: SparseRef<'a, T>,
            classes: &'a [u32],
            weights: Option<&'a [f64]>,
        ) -> SparseExamples<'a, T> {
            let examples = SparseExamples::new(offsets, indices, values, width, classes);
            weights.map_or(examples, |weights| examples.with_weights(weights))
        }
        match rows {
            MatrixRef::Dense32(rows) => Self::Dense32(dense(rows, classes, weights)),
            MatrixRef::Dense64(rows) => Self::Dense64(dense(rows, classes, weights)),
            MatrixRef::Sparse32(rows) => Self::Sparse32(sparse(rows, classes, weights)),
            MatrixRef::Sparse64(rows) => Self::Sparse64(sparse(rows, classes, weights)),
        }
    }

    /// The same rows with other classes, for instance under another numbering.
    #[must_use]
    pub fn with_classes(self, classes: &'a [u32]) -> Self {
        match self {
            Self::Dense32(examples) => Self::Dense32(examples.with_classes(classes)),
            Self::Dense64(examples) => Self::Dense64(examples.with_classes(classes)),
            Self::Sparse32(examples) => Self::Sparse32(examples.with_classes(classes)),
            Self::Sparse64(examples) => Self::Sparse64(examples.with_classes(classes)),
        }
    }

    /// Hands the rows to `visitor` in their own kind.
    pub fn visit<V: Visitor>(self, visitor: V) -> V::Output {
        visit!(self, examples => visitor.visit(examples))
    }

    /// How many rows there are.
    pub fn len(self) -> usize {
        visit!(self, examples => examples.len())
    }

    /// How many features there are; no row is wider.
    pub fn width(self) -> usize {
        visit!(self, examples => examples.width())
    }

    /// Whether there are no rows.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

impl Matrix {
    /// Stores `width` features of every row; what lies beyond is left out.
    pub(crate) fn make_dense(&mut self, width: usize) {
        fn dense<T: Stored>(sparse: &SparseMatrix<T>, width: usize) -> DenseMatrix<T> {
            let mut values = vec![T::default(); (sparse.offsets.len() - 1) * width];
            for (row, bounds) in values.chunks_exact_mut(width.max(1)).zip(sparse.offsets.windows(2)) {
                for entry in bounds[0]..bounds[1] {
                    if let Some(place) = row.get_mut(sparse.indices[entry] as usize) {
                        *place = sparse.values[entry];
                    }
                }
            }
            DenseMatrix { values, width }
        }
        match self {
            Self::Sparse32(matrix) => *self = Self::Dense32(dense(matrix, width)),
            Self::Sparse64(matrix) => *self = Self::Dense64(dense(matrix, width)),
            Self::Dense32(_) | Self::Dense64(_) => {}
        }
    }

    /// Makes these features, in ascending order, zero in every row.
    pub(crate) fn drop_features(&mut self, features: &[u32]) {
        fn dense<T: Stored>(matrix: &mut DenseMatrix<T>, features: &[u32]) {
            let width = matrix.width.max(1);
            for row in matrix.values.chunks_exact_mut(width) {
                for &feature in features.iter().filter(|feature| (**feature as usize) < width) {
                    row[feature as usize] = T::default();
                }
            }
        }
        fn sparse<T: Stored>(matrix: &mut SparseMatrix<T>, features: &[u32]) {
            let (mut kept, mut start) = (0, 0);
            for end in &mut matrix.offsets[1..] {
                for entry in start..*end {
                    if features.binary_search(&matrix.indices[entry]).is_err() {
                        (matrix.indices[kept], matrix.values[kept]) =
                            (matrix.indices[entry], matrix.values[entry]);
                        kept += 1;
                    }
                }
                start = std::mem::replace(end, kept);
            }
            matrix.indices.truncate(kept);
            matrix.values.truncate(kept);
        }
        match self {
            Self::Dense32(matrix) => dense(matrix, features),
            Self::Dense64(matrix) => dense(matrix, features),
            Self::Sparse32(matrix) => sparse(matrix, features),
            Self::Sparse64(matrix) => sparse(matrix, features),
        }
    }

    /// The rows, borrowed.
    pub fn lend(&self) -> MatrixRef<'_> {
        fn dense<T>(matrix: &DenseMatrix<T>) -> DenseRef<'_, T> {
            DenseRef { values: &matrix.values, width: matrix.width }
        }
        fn sparse<T>(SparseMatrix { offsets, indices, values, width }: &SparseMatrix<T>) -> SparseRef<'_, T> {
            SparseRef { offsets, indices, values, width: *width }
        }
        match self {
            Self::Dense32(matrix) => MatrixRef::Dense32(dense(matrix)),
            Self::Dense64(matrix) => MatrixRef::Dense64(dense(matrix)),
            Self::Sparse32(matrix) => MatrixRef::Sparse32(sparse(matrix)),
            Self::Sparse64(matrix) => MatrixRef::Sparse64(sparse(matrix)),
        }
    }

    /// How many rows there are.
    pub fn n_rows(&self) -> usize {
        self.lend().n_rows()
    }

    /// How many features a row has.
    pub fn width(&self) -> usize {
        self.lend().width()
    }
}

impl MatrixRef<'_> {
    /// How many rows there are.
    pub fn n_rows(self) -> usize {
        fn dense<T: Copy>(rows: DenseRef<'_, T>) -> usize {
            rows.values.len().checked_div(rows.width).unwrap_or(0)
        }
        match self {
            Self::Dense32(rows) => dense(rows),
            Self::Dense64(rows) => dense(rows),
            Self::Sparse32(rows) => rows.offsets.len() - 1,
            Self::Sparse64(rows) => rows.offsets.len() - 1,
        }
    }

    /// How many features a row has.
    pub fn width(self) -> usize {
        match self {
            Self::Dense32(rows) => rows.width,
            Self::Dense64(rows) => rows.width,
            Self::Sparse32(rows) => rows.width,
            Self::Sparse64(rows) => rows.width,
        }
    }

    /// A copy.
    pub fn to_matrix(self) -> Matrix {
        fn dense<T: Copy>(DenseRef { values, width }: DenseRef<'_, T>) -> DenseMatrix<T> {
            DenseMatrix { values: values.to_vec(), width }
        }
        fn sparse<T: Copy>(rows: SparseRef<'_, T>) -> SparseMatrix<T> {
            let SparseRef { offsets, indices, values, width } = rows;
            SparseMatrix {
                offsets: offsets.to_vec(),
                indices: indices.to_vec(),
                values: values.to_vec(),
                width,
            }
        }
        match self {
            Self::Dense32(rows) => Matrix::Dense32(dense(rows)),
            Self::Dense64(rows) => Matrix::Dense64(dense(rows)),
            Self::Sparse32(rows) => Matrix::Sparse32(sparse(rows)),
            Self::Sparse64(rows) => Matrix::Sparse64(sparse(rows)),
        }
    }

    /// Whether a sparse row stores a zero.
    fn stores_zeros(self) -> bool {
        match self {
            Self::Dense32(_) | Self::Dense64(_) => false,
            Self::Sparse32(rows) => f32::any_zero(rows.values),
            Self::Sparse64(rows) => f64::any_zero(rows.values),
        }
    }
}

/// Panics if the parts of a dataset do not fit together.
fn check_parts(rows: MatrixRef<'_>, classes: &[u32], labels: &Labels) {
    check_classes(rows, classes, labels);
    check_indices(rows);
}

fn check_classes(rows: MatrixRef<'_>, classes: &[u32], labels: &Labels) {
    assert_eq!(rows.n_rows(), classes.len(), "one class per row");
    assert!(classes.iter().all(|&class| (class as usize) < labels.len()), "every class has a name");
}

fn check_indices(rows: MatrixRef<'_>) {
    if let MatrixRef::Sparse32(SparseRef { offsets, indices, width, .. })
    | MatrixRef::Sparse64(SparseRef { offsets, indices, width, .. }) = rows
    {
        for bounds in offsets.windows(2) {
            let row = &indices[bounds[0]..bounds[1]];
            assert!(row.windows(2).all(|pair| pair[0] < pair[1]), "indices ascend strictly");
            assert!(row.last().is_none_or(|&last| (last as usize) < width), "indices stay below the width");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_are_left_out_and_a_twin_has_none() {
        let labels = Labels::sorted(["a", "b"]);
        let (offsets, indices) = (vec![0, 2, 2, 5], vec![1, 3, 0, 2, 4]);
        let stored = SparseMatrix { offsets, indices, values: vec![0.0, 2.0, 1.0, 0.0, -0.0], width: 5 };
        let data = Dataset::new(Matrix::Sparse32(stored), vec![0, 1, 0], labels.clone());
        let (offsets, indices) = (vec![0, 1, 1, 2], vec![3, 0]);
        let sparse = Matrix::Sparse32(SparseMatrix { offsets, indices, values: vec![2.0, 1.0], width: 5 });
        assert_eq!(data.matrix(), sparse.lend());
        let mut values = vec![0.0; 15];
        (values[3], values[10]) = (2.0, 1.0);
        let dense = |values| {
            Dataset::new(Matrix::Dense32(DenseMatrix { values, width: 5 }), vec![0, 1, 0], labels.clone())
        };
        assert_eq!(dense(values.clone()).sparse_twin().unwrap(), data);
        values[..4].fill(1.0);
        assert_eq!(dense(values).sparse_twin(), None);
        assert_eq!(data.sparse_twin(), None);
    }
}
