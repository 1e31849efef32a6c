//! Rows seen through a feature map: the stage between the rows as they were read and the learner.
//!
//! Every row is mapped by itself, so neither threads nor blocks change a bit of it.

use crate::error::Error;
use crate::rows::RowSource;
use rosenblatt_core::{Dense, DenseExamples, Examples, Row, SparseRows, threads};
use rosenblatt_data::{Dataset, DenseMatrix, Matrix, View, visit};
use rosenblatt_kernel::kernels::{Outline, Survey};
use rosenblatt_kernel::maps::{Choice, FeatureMap};
use std::ops::ControlFlow;
use std::sync::Arc;

/// How many rows go through a map at once: enough to use again what is in the cache, few enough to be spread
/// over threads.
const ROWS_AT_ONCE: usize = 64;
/// The most bytes that mapped rows may take in memory.
const MOST_BYTES: u128 = 8 << 30;

/// The map that `choice` describes, fitted to these rows.
pub(crate) fn fit(
    choice: &Choice,
    data: &mut RowSource<'_>,
    rows: &[u32],
) -> Result<Arc<dyn FeatureMap>, Error> {
    let (outline, landmarks) = outline(data, rows, &choice.landmarks(rows.len())?)?;
    Ok(choice.fit(&outline, landmarks)?)
}

/// What maps and kernels must know of these rows, and those of them that stand at the places `wanted`, which ascend.
/// Reads the rows twice, as a variance needs the mean.
pub(crate) fn outline(
    data: &mut RowSource<'_>,
    rows: &[u32],
    wanted: &[usize],
) -> Result<(Outline, SparseRows), Error> {
    let (width, n_rows) = (data.width(), data.classes().len());
    let mut survey = Survey::default();
    let _ = data.each_block(rows, |first, view, listed| {
        visit!(view, examples => survey.look(examples, listed, first));
        ControlFlow::<()>::Continue(())
    })?;
    survey.measure(width);
    let (mut landmarks, mut rest, mut passed) = (SparseRows::default(), wanted, 0);
    let _ = data.each_block(rows, |_, view, listed| {
        let (chosen, after) = rest.split_at(rest.partition_point(|&place| place < passed + listed.len()));
        visit!(view, examples => {
            survey.look_again(examples, listed);
            for &place in chosen {
                landmarks.push(examples.row(listed[place - passed] as usize), width);
            }
        });
        (rest, passed) = (after, passed + listed.len());
        ControlFlow::<()>::Continue(())
    })?;
    Ok((survey.outline(n_rows), landmarks))
}

/// A map at work, with the room it needs.
#[derive(Debug, Clone)]
pub(crate) struct Mapper {
    map: Arc<dyn FeatureMap>,
    rows: SparseRows,
    out: Vec<f32>,
    classes: Vec<u32>,
    weights: Vec<f64>,
}

impl Mapper {
    pub(crate) fn new(map: Arc<dyn FeatureMap>) -> Self {
        let (rows, out) = (SparseRows::default(), Vec::new());
        Self { map, rows, out, classes: Vec::new(), weights: Vec::new() }
    }

    pub(crate) fn map(&self) -> &Arc<dyn FeatureMap> {
        &self.map
    }

    /// Makes room for rows of this many features.
    pub(crate) fn widen(&mut self, width: usize) {
        if width <= self.map.width() {
            return;
        }
        // Models that were taken before keep the map as it was.
        if Arc::get_mut(&mut self.map).is_none() {
            self.map = self.map.copied();
        }
        if let Some(map) = Arc::get_mut(&mut self.map) {
            map.widen(width);
        }
    }

    /// One row, mapped. What the map does not know of it counts nothing.
    pub(crate) fn row<R: Row>(&mut self, row: R) -> Dense<'_, f32> {
        self.rows.clear();
        self.rows.push(row, self.map.width());
        self.out.resize(self.map.size(), 0.0);
        self.map.apply(&self.rows, &mut self.out);
        Dense(&self.out)
    }

    /// The rows that are listed, mapped, with their classes and weights.
    pub(crate) fn block(&mut self, view: View<'_>, listed: &[u32]) -> Result<View<'_>, Error> {
        self.classes.clear();
        self.weights.clear();
        visit!(view, examples => {
            self.classes.extend(listed.iter().map(|&row| examples.class(row as usize)));
            self.weights.extend(listed.iter().map(|&row| examples.weight(row as usize)));
        });
        self.out.resize(listed.len() * self.map.size(), 0.0);
        map_rows(&*self.map, view, listed, &mut self.out)?;
        let examples = DenseExamples::new(&self.out, self.map.size(), &self.classes);
        // Rows that all count 1 are learned from the quicker way.
        let is_weighted = self.weights.iter().any(|weight| *weight != 1.0);
        Ok(View::Dense32(if is_weighted { examples.with_weights(&self.weights) } else { examples }))
    }
}

/// All rows of the data, mapped.
pub(crate) fn map_dataset(map: &dyn FeatureMap, data: &Dataset) -> Result<Dataset, Error> {
    let all: Vec<u32> = (0..data.len() as u32).collect();
    let values = map_some(map, data.view(), &all)?;
    let matrix = Matrix::Dense32(DenseMatrix { values, width: map.size() });
    let mapped = Dataset::new(matrix, data.classes().to_vec(), data.labels().clone());
    Ok(match data.weights() {
        Some(weights) => mapped.with_weights(weights.to_vec()),
        None => mapped,
    })
}

/// Some rows, mapped.
pub(crate) fn map_some(map: &dyn FeatureMap, view: View<'_>, rows: &[u32]) -> Result<Vec<f32>, Error> {
    let needed = rows.len() as u128 * map.size() as u128 * 4;
    if needed > MOST_BYTES {
        return Err(Error::MappedTooLarge { rows: rows.len(), size: map.size(), needed });
    }
    let mut values = vec![0.0; rows.len() * map.size()];
    map_rows(map, view, rows, &mut values)?;
    Ok(values)
}

/// Maps the rows that are listed, on all cores; refuses those that a map cannot hold.
fn map_rows(map: &dyn FeatureMap, view: View<'_>, listed: &[u32], out: &mut [f32]) -> Result<(), Error> {
    let part = |listed: &[u32], out: &mut [f32]| {
        let mut rows = SparseRows::default();
        for (some, out) in listed.chunks(ROWS_AT_ONCE).zip(out.chunks_mut(ROWS_AT_ONCE * map.size())) {
            rows.clear();
            visit!(view, examples => {
                for &row in some {
                    rows.push(examples.row(row as usize), map.width());
                }
            });
            map.apply(&rows, out);
            if let Some(place) = out.iter().position(|value| !value.is_finite()) {
                return Err(Error::BeyondMap { row: some[place / map.size()] as usize });
            }
        }
        Ok(())
    };
    let n_threads = threads::available();
    let share = listed.len().div_ceil(n_threads).next_multiple_of(ROWS_AT_ONCE).max(1);
    if share >= listed.len() {
        return part(listed, out);
    }
    std::thread::scope(|scope| {
        let parts = listed.chunks(share).zip(out.chunks_mut(share * map.size()));
        let part = &part;
        let parts = parts.map(|(listed, out)| scope.spawn(move || part(listed, out)));
        let parts: Vec<_> = parts.collect();
        // The first complaint in the order of the rows, whichever thread was first.
        let done: Vec<_> = parts.into_iter().map(|part| part.join().expect("a map does not panic")).collect();
        done.into_iter().collect()
    })
}
