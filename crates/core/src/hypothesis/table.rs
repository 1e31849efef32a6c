//! The weights of all outputs, laid out for registers: what a hypothesis is stored in while it learns.
//!
//! Outputs are taken eight by eight. A block holds the weights of its outputs feature by feature, so that a row meets
//! eight outputs with one load that never straddles two lines of the cache. The outputs that are left over have a
//! narrower block of their own: two, four or eight places per feature, those without an output being zero. A block
//! grows at its end, so a new feature moves nothing.
//!
//! From outside you see [`Table::compact`]: feature by feature, all outputs side by side.

use crate::row::Row;
use crate::simd::{self, BLOCK, Block, Cells, Change, Sums};
use std::borrow::Cow;

/// A number for every feature and output.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    n_outputs: usize,
    width: usize,
    blocks: Vec<Block>,
    /// What is being added to each block; nothing between two calls.
    changes: Vec<Change>,
}

impl Table {
    /// All zero.
    pub(crate) fn new(width: usize, n_outputs: usize) -> Self {
        let mut blocks = Vec::with_capacity(n_outputs.div_ceil(BLOCK));
        for first in (0..n_outputs).step_by(BLOCK) {
            blocks.push(Block { stride: stride(n_outputs, first), cells: Cells::default() });
        }
        let changes = vec![Change::default(); blocks.len()];
        let mut table = Self { n_outputs, width: 0, blocks, changes };
        table.widen(width);
        table
    }

    /// From numbers that lie feature by feature, all outputs side by side.
    pub(crate) fn from_compact(numbers: &[f64], n_outputs: usize) -> Self {
        let mut table = Self::new(numbers.len() / n_outputs, n_outputs);
        table.set(numbers);
        table
    }

    /// Sets the numbers of the first features. They lie feature by feature, all outputs side by side.
    pub(crate) fn set(&mut self, numbers: &[f64]) {
        for (feature, numbers) in numbers.chunks_exact(self.n_outputs).enumerate() {
            for (block, numbers) in self.blocks.iter_mut().zip(numbers.chunks(BLOCK)) {
                block.cells[feature * block.stride..][..numbers.len()].copy_from_slice(numbers);
            }
        }
    }

    /// Sets one number.
    pub(crate) fn set_one(&mut self, feature: usize, output: usize, number: f64) {
        let block = &mut self.blocks[output / BLOCK];
        block.cells[feature * block.stride + output % BLOCK] = number;
    }

    /// All numbers, feature by feature, all outputs side by side.
    pub(crate) fn compact(&self) -> Cow<'_, [f64]> {
        if self.n_outputs == 1 {
            return Cow::Borrowed(self.sole());
        }
        let mut numbers = Vec::with_capacity(self.len());
        for feature in 0..self.width {
            for (number, block) in self.blocks.iter().enumerate() {
                let n = BLOCK.min(self.n_outputs - number * BLOCK);
                numbers.extend_from_slice(&block.cells[feature * block.stride..][..n]);
            }
        }
        Cow::Owned(numbers)
    }

    /// How many numbers there are.
    pub(crate) fn len(&self) -> usize {
        self.width * self.n_outputs
    }

    /// How many features there are.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Makes room for `width` features; new numbers are zero.
    pub(crate) fn widen(&mut self, width: usize) {
        if width > self.width {
            self.width = width;
            for block in &mut self.blocks {
                block.cells.grow(width * block.stride);
            }
        }
    }

    /// Adds an output after all others; its numbers are zero. Nothing moves but the last, narrower block.
    pub(crate) fn add_output(&mut self) {
        let first = self.n_outputs / BLOCK * BLOCK;
        self.n_outputs += 1;
        let stride = stride(self.n_outputs, first);
        if first / BLOCK == self.blocks.len() {
            self.blocks.push(Block { stride, cells: Cells::default() });
            self.changes.push(Change::default());
        }
        let last = &mut self.blocks[first / BLOCK];
        if last.stride != stride || last.cells.is_empty() {
            let narrow = std::mem::replace(last, Block { stride, cells: Cells::default() });
            last.cells.grow(self.width * stride);
            let moved = last.cells.chunks_exact_mut(stride).zip(narrow.cells.chunks_exact(narrow.stride));
            moved.for_each(|(wide, narrow)| wide[..narrow.len()].copy_from_slice(narrow));
        }
        self.column_mut(self.n_outputs - 1).for_each(|number| *number = 0.0);
    }

    #[cfg(test)]
    pub(crate) fn blocks(&mut self) -> &mut [Block] {
        &mut self.blocks
    }

    /// The numbers of the sole output.
    #[inline(always)]
    pub(crate) fn sole(&self) -> &[f64] {
        &self.blocks[0].cells
    }

    /// The numbers of the sole output.
    #[inline(always)]
    pub(crate) fn sole_mut(&mut self) -> &mut [f64] {
        &mut self.blocks[0].cells
    }

    /// The numbers of one output, by feature.
    pub(crate) fn column(&self, output: usize) -> impl Iterator<Item = &f64> {
        let block = &self.blocks[output / BLOCK];
        block.cells.iter().skip(output % BLOCK).step_by(block.stride)
    }

    /// The numbers of one output, by feature.
    pub(crate) fn column_mut(&mut self, output: usize) -> impl Iterator<Item = &mut f64> {
        let block = &mut self.blocks[output / BLOCK];
        block.cells.iter_mut().skip(output % BLOCK).step_by(block.stride)
    }

    /// Tells `Σ_j w_jk x_j` for all outputs `k`, in the same lanes as a single dot product, so that a one-vs-rest output and
    /// the same binary problem trained alone agree to the bit.
    #[inline(always)]
    pub(crate) fn sums<R: Row>(&self, row: R, mut tell: impl FnMut(usize, f64)) {
        if self.n_outputs == 1 {
            tell(0, row.dot(self.sole()));
        } else {
            self.many_sums(row, tell);
        }
    }

    #[inline(never)]
    fn many_sums<R: Row>(&self, row: R, mut tell: impl FnMut(usize, f64)) {
        for (number, blocks) in self.blocks.chunks(2).enumerate() {
            let mut lanes = Sums::new();
            row.pieces(|features, values| simd::add_blocks(&mut lanes, blocks, self.width, features, values));
            let outputs = number * 2 * BLOCK..self.n_outputs;
            for (output, total) in outputs.zip(lanes.totals()) {
                tell(output, *total);
            }
        }
    }

    /// Adds a row to some outputs, to each by its amount.
    pub(crate) fn add<R: Row>(&mut self, row: R, amounts: impl Iterator<Item = (usize, f64)>) {
        Self::add_to_all([self], row, amounts.map(|(output, amount)| (output, [amount])));
    }

    /// Adds a row to the same outputs of several tables, equally wide, in one sweep.
    pub(crate) fn add_to_all<R: Row, const N: usize>(
        mut tables: [&mut Self; N],
        row: R,
        amounts: impl Iterator<Item = (usize, [f64; N])>,
    ) {
        for (output, amounts) in amounts {
            let (block, place) = (output / BLOCK, output % BLOCK);
            if tables.iter().any(|table| table.changes[block].outputs & 1 << place != 0) {
                // Twice the same output: one after the other, each sum being rounded.
                Self::make_changes(&mut tables, row);
            }
            for (table, amount) in tables.iter_mut().zip(amounts) {
                table.changes[block].amounts[place] = amount;
                table.changes[block].outputs |= 1 << place;
            }
        }
        Self::make_changes(&mut tables, row);
    }

    /// On its own: it is long, and its caller is short.
    #[inline(never)]
    fn make_changes<R: Row, const N: usize>(tables: &mut [&mut Self; N], row: R) {
        if tables.iter().all(|table| table.n_outputs == 1) {
            for table in tables {
                row.add_to(table.changes[0].amounts[0], table.sole_mut());
                table.changes[0].outputs = 0;
            }
            return;
        }
        row.pieces(|features, values| {
            for Self { width, blocks, changes, .. } in tables.iter_mut().map(|table| &mut **table) {
                simd::change_blocks(blocks, changes, *width, features, values);
            }
        });
        for change in tables.iter_mut().flat_map(|table| &mut table.changes) {
            change.outputs = 0;
        }
    }
}

/// How many places a feature has in the block that begins with output `first` of `n_outputs`.
fn stride(n_outputs: usize, first: usize) -> usize {
    match n_outputs - first {
        1 if n_outputs == 1 => 1,
        n => n.clamp(2, BLOCK).next_power_of_two(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::row::{Dense, Sparse};
    use crate::simd::LINE;

    #[test]
    fn tables_hold_what_was_put_in_and_grow_by_zeros() {
        for n_outputs in (1..20).chain([45, 64]) {
            let numbers: Vec<f64> = (1..=7 * n_outputs).map(|number| number as f64).collect();
            let mut table = Table::from_compact(&numbers, n_outputs);
            assert_eq!(table.compact(), numbers);
            for width in [8, 9, 200] {
                table.widen(width);
                assert_eq!((table.width(), table.len()), (width, width * n_outputs));
                let copy = table.clone();
                for cells in table.blocks.iter().chain(&copy.blocks).map(|block| &block.cells) {
                    assert_eq!(cells.as_ptr().align_offset(LINE), 0, "{n_outputs} outputs");
                }
                for compact in [table.compact(), copy.compact()] {
                    assert_eq!(compact[..numbers.len()], numbers);
                    assert!(compact[numbers.len()..].iter().all(|number| *number == 0.0));
                }
            }
            for output in 0..n_outputs {
                let column: Vec<f64> = numbers.iter().skip(output).step_by(n_outputs).copied().collect();
                assert!(table.column(output).take(7).eq(&column));
                assert!(table.column_mut(output).take(7).eq(&column));
            }
        }
    }

    #[test]
    fn an_output_more_moves_nothing_but_the_last_block() {
        for width in [1, 7] {
            let mut table = Table::from_compact(&vec![0.5; width], 1);
            for n_outputs in 2..40 {
                let full: Vec<_> = table.blocks.iter().map(|block| block.cells.as_ptr()).collect();
                table.add_output();
                let full = &full[..(n_outputs - 1) / BLOCK];
                assert!(table.blocks.iter().zip(full).all(|(block, place)| block.cells.as_ptr() == *place));
                table.column(n_outputs - 1).for_each(|number| assert_eq!(number.to_bits(), 0));
                let mark = n_outputs as f64;
                table.column_mut(n_outputs - 1).for_each(|number| *number = mark);
                let expected: Vec<f64> =
                    (1..=n_outputs).map(|k| if k == 1 { 0.5 } else { k as f64 }).collect();
                assert_eq!(table.compact(), expected.repeat(width));
                let made = Table::from_compact(&expected.repeat(width), n_outputs);
                let strides =
                    |table: &Table| table.blocks.iter().map(|block| block.stride).collect::<Vec<_>>();
                assert_eq!((strides(&table), table.changes.len()), (strides(&made), made.changes.len()));
            }
        }
    }

    #[test]
    fn many_outputs_score_and_step_as_each_alone_to_the_bit() {
        let mut random = Random::new(5);
        let shapes =
            [(1, 2), (5, 3), (40, 4), (40, 7), (40, 8), (300, 9), (70, 10), (900, 12), (33, 17), (20, 45)];
        for (width, n_outputs) in shapes {
            // Zeros of both signs: an output that does not step keeps its sign.
            let mut number = |_| if random.unit() < 0.1 { -0.0 } else { random.unit() - 0.5 };
            let numbers: Vec<f64> = (0..width * n_outputs).map(&mut number).collect();
            let mut table = Table::from_compact(&numbers, n_outputs);
            let mut alone: Vec<Vec<f64>> =
                (0..n_outputs).map(|output| table.column(output).copied().collect()).collect();
            for round in 0..40 {
                let dense: Vec<f32> = (0..width)
                    .map(|_| if random.unit() < 0.3 { 0.0 } else { (random.unit() - 0.5) as f32 })
                    .collect();
                let indices: Vec<u32> = (0..width as u32).filter(|&j| dense[j as usize] != 0.0).collect();
                let values: Vec<f32> = indices.iter().map(|&j| dense[j as usize]).collect();
                let sparse = Sparse::new(&indices, &values);
                let mut amounts: Vec<(usize, f64)> =
                    (0..n_outputs).map(|output| (output, random.unit() - 0.5)).collect();
                amounts.retain(|_| random.unit() < 0.4);
                if round % 5 == 0 {
                    amounts.push((n_outputs - 1, 0.3));
                    amounts.push((n_outputs - 1, 0.7));
                }
                if round % 2 == 0 {
                    table.add(sparse, amounts.iter().copied());
                } else {
                    table.add(Dense(&dense), amounts.iter().copied());
                }
                for (output, amount) in amounts {
                    sparse.add_to(amount, &mut alone[output]);
                }
                let (mut by_sparse, mut by_dense) = (vec![1.0; n_outputs], vec![1.0; n_outputs]);
                table.sums(sparse, |output, sum| by_sparse[output] = sum);
                table.sums(Dense(&dense), |output, sum| by_dense[output] = sum);
                for (output, alone) in alone.iter().enumerate() {
                    let expected = sparse.dot(alone).to_bits();
                    assert_eq!(by_sparse[output].to_bits(), expected, "{width} by {n_outputs}");
                    assert_eq!(by_dense[output].to_bits(), expected, "{width} by {n_outputs}");
                    assert!(table.column(output).map(|w| w.to_bits()).eq(alone.iter().map(|w| w.to_bits())));
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "wider than the weights")]
    fn a_row_that_is_too_wide_is_refused_before_anything_is_read() {
        Table::new(9, 10).sums(Sparse::new(&[0, 1, 2, 3, 4, 5, 6, 7, 9], &[1.0; 9]), |_, _| {});
    }

    #[test]
    #[should_panic(expected = "wider than the weights")]
    fn a_row_that_is_too_wide_is_refused_before_anything_is_written() {
        Table::new(9, 10).add(Sparse::new(&[0, 9], &[1.0; 2]), [(9, 1.0)].into_iter());
    }
}
