//! The same hypotheses, one row and one kernel value at a time: what [`KernelSpace`](crate::KernelSpace) must equal.

use crate::expansion::Expansion;
use crate::kernels::{Kernel, Sum};
use crate::learned::{Learned, NO_ROW};
use crate::rows::{Stored, norm2_of};
use crate::simd;
use rosenblatt_core::memory::{Ballot, Kept};
use rosenblatt_core::space::{Move, Outcome, Shape, Space};
use rosenblatt_core::state::{Resumable, State, StateError};
use rosenblatt_core::{Examples, Hypothesis, Readout, Row, Visits};
use std::sync::Arc;

/// Kernel hypotheses that learn, in plain words.
#[derive(Debug, Clone)]
pub struct Plain {
    learned: Learned,
    /// The numbers of the rows that are being visited.
    numbers: Vec<usize>,
}

impl Plain {
    /// A space in which nothing is learned yet.
    pub fn new(kernel: Arc<dyn Kernel>, shape: Shape) -> Self {
        Self { learned: Learned::new(kernel, shape), numbers: Vec::new() }
    }

    /// What is learned so far.
    pub fn learned(&self) -> &Learned {
        &self.learned
    }

    fn dense<R: Row>(&self, row: R) -> Vec<f64> {
        let mut values = vec![0.0; self.learned.width];
        row.entries().for_each(|(feature, value)| values[feature] = value);
        values
    }

    /// The value of two rows with all their features, given their squared lengths.
    fn value(&self, one: &[f64], norm2: f64, other: &[f64], other_norm2: f64) -> f64 {
        let kernel = &*self.learned.kernel;
        let mut value = match kernel.sum() {
            Sum::Rows => return kernel.of_rows(one, other) + self.learned.bias.spread(),
            sum => [simd::plain(sum, one, other)],
        };
        kernel.finish(&mut value, norm2, &[other_norm2]);
        value[0] + self.learned.bias.spread()
    }
}

impl Hypothesis for Plain {
    fn n_outputs(&self) -> usize {
        self.learned.n_outputs
    }

    fn weights(&self, _output: usize) -> Vec<f64> {
        Vec::new()
    }

    fn bias(&self, output: usize) -> f64 {
        self.learned.bias_of(output)
    }

    fn norm2(&self, output: usize) -> f64 {
        self.learned.norm2(output)
    }

    fn moves(&self, output: usize) -> u64 {
        self.learned.moves(output)
    }
}

impl Space for Plain {
    type Memory = ();

    fn prepare<E: Examples>(&mut self, _examples: E, visits: Visits<'_>) {
        self.numbers = (0..visits.len()).map(|place| visits.row(place)).collect();
    }

    fn scores<R: Row>(&self, _place: usize, row: R, scores: &mut [f64]) {
        let row = self.dense(row);
        let norm2 = norm2_of(row.iter().copied());
        let mut sums = vec![0.0; self.learned.n_outputs];
        let rows = self.learned.rows.as_ref();
        let mut values = vec![None; rows.map_or(0, crate::Rows::len)];
        for entry in &self.learned.log {
            let sum = &mut sums[entry.output as usize];
            let Some(rows) = rows.filter(|_| entry.row != NO_ROW) else {
                *sum *= entry.keep;
                continue;
            };
            // One kernel value per support row, however often it was stepped along.
            let value = *values[entry.row as usize].get_or_insert_with(|| match rows.stored(entry.row) {
                Stored::Dense(support) => self.value(support, rows.norm2(entry.row), &row, norm2),
                Stored::Sparse(indices, _) => row[indices[0] as usize] + self.learned.bias.spread(),
            });
            *sum = entry.keep * *sum + entry.amount * value;
        }
        for (output, (score, sum)) in scores.iter_mut().zip(sums).enumerate() {
            *score = sum + self.learned.bias_of(output);
        }
    }

    fn spread<R: Row>(&self, place: usize, _output: usize, row: R) -> f64 {
        let row = self.dense(row);
        if self.learned.kernel.by_number() {
            return row[self.numbers[place]] + self.learned.bias.spread();
        }
        let norm2 = norm2_of(row.iter().copied());
        self.value(&row, norm2, &row, norm2)
    }

    fn is_still<R: Row>(&self, row: R) -> bool {
        self.learned.kernel.ignores_zeros() && row.is_zero()
    }

    fn shift<R: Row>(&mut self, place: usize, row: R, step: Move, _memory: &mut ()) {
        let own = self.spread(place, step.output, row);
        let mut support = NO_ROW;
        if step.amount != 0.0 {
            let entries: Vec<(usize, f64)> = row.entries().collect();
            support = self.learned.support(entries.into_iter(), self.numbers[place]);
        }
        self.learned.note(support, step, own);
    }

    fn track_norm(&mut self) {}

    fn widen(&mut self, width: usize) {
        self.learned.widen(width);
    }
}

impl Resumable for Plain {
    fn save<'a>(&'a self, state: &mut State<'a>) {
        self.learned.save(state);
    }

    fn restore(&mut self, state: &mut State<'_>) -> Result<(), StateError> {
        self.learned.restore(state)
    }
}

impl Outcome for Plain {
    fn read(&self, _memory: &(), readout: Readout, ballot: Ballot, rounds: u64) -> Option<Kept> {
        let read = Expansion::read(&self.learned, readout, ballot, rounds, false, 0)?;
        Some(Kept::Other(Arc::new(read)))
    }

    fn is_finite(&self) -> bool {
        self.learned.is_finite()
    }
}
