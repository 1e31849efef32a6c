//! Nyström's map (Williams and Seeger 2001): a row becomes its kernel values with some rows of the training data,
//! the landmarks, made independent of each other. Exact on what the landmarks span, for any kernel.

use super::cholesky::{Factor, factor};
use super::table::Table;
use super::{FeatureMap, Info, MapError, Request, SparseRows};
use crate::kernels::{GAMMA, Kernel, Sum};
use rosenblatt_core::Row;
use std::sync::Arc;

pub(super) const INFO: Info = Info {
    name: "nystroem",
    aliases: &["nystrom"],
    summary: "kernel values with rows drawn from the training data, made independent",
    source: "Williams and Seeger 2001",
    kernels: &[],
    from_rows: true,
    size: |_| Ok(()),
    bytes: |size, width| size as u128 * (size as u128 + width as u128) * 8,
    build,
};

fn build(request: Request) -> Result<Arc<dyn FeatureMap>, MapError> {
    let Request { kernel, formula, width, landmarks, factor: known, .. } = request;
    let finished = |rows: SparseRows, factor| -> Arc<dyn FeatureMap> {
        let (values, kernel) = (Values::new(&rows), Arc::clone(&kernel));
        Arc::new(Nystroem { kernel, gamma: formula.get(GAMMA.name), width, rows, values, factor })
    };
    if let Some(known) = known {
        let known = Factor::from_columns(known, landmarks.len()).filter(|factor| factor.size() > 0);
        let known = known.ok_or(MapError::Stored("the factor does not fit the landmarks"))?;
        return Ok(finished(landmarks, known));
    }
    let all = Values::new(&landmarks);
    let mut matrix = vec![0.0; landmarks.len() * landmarks.len()];
    all.with(&*kernel, &landmarks, &mut matrix);
    let (factor, order) = factor(&matrix, landmarks.len());
    if order.is_empty() {
        return Err(MapError::NotPositive { kernel: formula.name });
    }
    let mut chosen = SparseRows::default();
    for &row in &order {
        chosen.push(landmarks.row(row), width);
    }
    Ok(finished(chosen, factor))
}

/// What kernel values with the landmarks start from.
#[derive(Debug, Clone)]
struct Values {
    table: Table,
    norms2: Vec<f64>,
    /// Sums of absolute values: the distances to a row of zeros.
    lengths: Vec<f64>,
}

impl Values {
    fn new(rows: &SparseRows) -> Self {
        Self {
            table: Table::of_rows(rows),
            norms2: rows.iter().map(Row::norm2).collect(),
            lengths: rows.iter().map(|row| row.sum(|_, value| value.abs())).collect(),
        }
    }

    /// The values of every row with every landmark.
    fn with(&self, kernel: &dyn Kernel, rows: &SparseRows, out: &mut [f64]) {
        let size = self.norms2.len();
        for out in out.chunks_exact_mut(size) {
            if kernel.sum() == Sum::Distances { out.copy_from_slice(&self.lengths) } else { out.fill(0.0) }
        }
        self.table.add(kernel.sum(), rows, out);
        for (row, out) in rows.iter().zip(out.chunks_exact_mut(size)) {
            kernel.finish(out, row.norm2(), &self.norms2);
        }
    }
}

/// Nyström's map.
#[derive(Debug, Clone)]
struct Nystroem {
    kernel: Arc<dyn Kernel>,
    gamma: Option<f64>,
    width: usize,
    rows: SparseRows,
    values: Values,
    factor: Factor,
}

impl FeatureMap for Nystroem {
    fn size(&self) -> usize {
        self.factor.size()
    }

    fn width(&self) -> usize {
        self.width
    }

    fn gamma(&self) -> Option<f64> {
        self.gamma
    }

    fn landmarks(&self) -> Option<(&SparseRows, &[f64])> {
        Some((&self.rows, self.factor.columns()))
    }

    fn widen(&mut self, width: usize) {
        self.width = self.width.max(width);
    }

    fn copied(&self) -> Arc<dyn FeatureMap> {
        Arc::new(self.clone())
    }

    fn apply(&self, rows: &SparseRows, out: &mut [f32]) {
        let size = self.size();
        let mut values = vec![0.0; rows.len() * size];
        self.values.with(&*self.kernel, rows, &mut values);
        for (values, out) in values.chunks_exact_mut(size).zip(out.chunks_exact_mut(size)) {
            self.factor.solve(values);
            out.iter_mut().zip(values).for_each(|(out, value)| *out = *value as f32);
        }
    }
}
