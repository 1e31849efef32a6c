//! Kernel hypotheses with a stated maximum of support rows, for streams that never end.
//!
//! When a row is to be added to a full set, another is removed at random (Cavallanti, Cesa-Bianchi and Gentile), or the
//! oldest is forgotten after all were shrunk (the Forgetron of Dekel, Shalev-Shwartz and Singer), or the new row is
//! not added but replaced by what comes nearest to it among those that are there (the Projectron of Orabona, Keshet
//! and Caputo). Only the last hypothesis is known. A score is a sum over the rows in the order of their places, so that
//! it does not depend on the size of the blocks in which rows are scored ahead.

use crate::expansion::{Combination, Expansion};
use crate::kernels::Kernel;
use crate::products::{Block, Gathered, Wanted, joined, suits_dense};
use crate::rows::Rows;
use crate::simd::PANEL;
use rosenblatt_core::memory::{Ballot, Kept};
use rosenblatt_core::space::{Move, Outcome, Shape, Space};
use rosenblatt_core::state::{COUNTED, Layout, Part, Resumable, SIGNED, State, StateError, refuse};
use rosenblatt_core::{Bias, Examples, Hypothesis, Random, Readout, Row, Visits, threads};
use std::sync::Arc;

/// What gives way when there is no more room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Removal {
    /// A row drawn at random.
    Random,
    /// The oldest, after all were shrunk as far as its loss demands: the self-tuned Forgetron.
    Forgetron,
    /// The new row: what comes nearest to it among the others takes its place.
    #[default]
    Projectron,
}

rosenblatt_core::named!(Removal, "removal",
    "random" = Self::Random, "one by lot is forgotten";
    "forgetron" = Self::Forgetron, "the oldest is forgotten after all were shrunk";
    "projectron" = Self::Projectron, "none: the new row is projected on the others";
);

/// A row whose squared distance from those that are there is less than this part of its squared length is no new
/// direction: what it would add to the inverse is rounding.
const NOTHING_NEW: f64 = 1e-9;

/// Kernel hypotheses of at most this many support rows.
#[derive(Debug, Clone)]
pub struct BudgetSpace {
    kernel: Arc<dyn Kernel>,
    bias: Bias,
    width: usize,
    budget: usize,
    removal: Removal,
    block_rows: usize,
    random: Random,
    rows: Option<Rows>,
    /// Output by output, one weight per support row.
    weights: Vec<Vec<f64>>,
    biases: Vec<f64>,
    moves: Vec<u64>,
    /// By support row: which number it came as.
    born: Vec<u64>,
    n_born: u64,
    /// The kernel values of support rows with each other, or their inverse, as the removal needs it.
    matrix: Matrix,
    /// How much of its allowance for forgetting the Forgetron has used.
    used: f64,
    ahead: Ahead,
}

/// A square matrix that grows, for as many rows as the budget allows.
#[derive(Debug, Clone, Default)]
struct Matrix {
    n: usize,
    values: Vec<f64>,
}

impl Matrix {
    fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.n..][..self.n]
    }

    /// One more row and column, zero.
    fn grow(&mut self) {
        let n = self.n + 1;
        let mut values = vec![0.0; n * n];
        for row in 0..self.n {
            values[row * n..][..self.n].copy_from_slice(self.row(row));
        }
        *self = Self { n, values };
    }

    fn times(&self, vector: &[f64]) -> Vec<f64> {
        let product = |row: usize| self.row(row).iter().zip(vector).map(|(x, y)| x * y).sum();
        (0..self.n).map(product).collect()
    }
}

/// The block that is being visited.
#[derive(Debug, Clone, Default)]
struct Ahead {
    block: Block,
    numbers: Vec<u32>,
    /// By row of the block: its kernel values with all support rows, constant included.
    values: Vec<Vec<f64>>,
}

impl BudgetSpace {
    /// A space in which nothing is learned yet.
    pub fn new(kernel: Arc<dyn Kernel>, shape: Shape, budget: usize, removal: Removal, seed: u64) -> Self {
        Self {
            kernel,
            bias: shape.bias,
            width: shape.width,
            budget: budget.max(1),
            removal,
            block_rows: PANEL,
            random: Random::for_purpose(seed, "budget"),
            rows: None,
            weights: vec![Vec::new(); shape.n_outputs],
            biases: vec![0.0; shape.n_outputs],
            moves: vec![0; shape.n_outputs],
            born: Vec::new(),
            n_born: 0,
            matrix: Matrix::default(),
            used: 0.0,
            ahead: Ahead::default(),
        }
    }

    /// Scores blocks of this many rows ahead.
    #[must_use]
    pub fn blocks_of(self, block_rows: usize) -> Self {
        Self { block_rows, ..self }
    }

    /// How many support rows there are.
    pub fn n_rows(&self) -> usize {
        self.born.len()
    }

    /// The support row with this content, if it is there.
    fn find(&self, entries: &[(usize, f64)]) -> Option<u32> {
        self.rows.as_ref()?.find(&entries.iter().copied())
    }

    /// Puts the row at `place` of the block into the set, where there may be no room. Says where it is.
    fn insert(&mut self, place: usize, entries: &[(usize, f64)], own: f64) -> usize {
        let mut values = self.ahead.values[place].clone();
        let slot = if self.n_rows() < self.budget {
            let dense = !self.kernel.by_number();
            let rows = self.rows.get_or_insert_with(|| Rows::new(self.width, dense));
            rows.intern(entries.iter().copied());
            self.weights.iter_mut().for_each(|weights| weights.push(0.0));
            self.born.push(0);
            values.push(own);
            self.born.len() - 1
        } else {
            let slot = match self.removal {
                Removal::Random => self.random.below(self.budget as u64) as usize,
                Removal::Forgetron | Removal::Projectron => self.oldest(),
            };
            if let Some(rows) = &mut self.rows {
                rows.replace(slot as u32, entries.iter().copied());
            }
            self.weights.iter_mut().for_each(|weights| weights[slot] = 0.0);
            values[slot] = own;
            slot
        };
        self.n_born += 1;
        self.born[slot] = self.n_born;
        if self.removal == Removal::Forgetron {
            if slot == self.matrix.n {
                self.matrix.grow();
            }
            let n = self.matrix.n;
            for (other, value) in values.iter().enumerate() {
                self.matrix.values[slot * n + other] = *value;
                self.matrix.values[other * n + slot] = *value;
            }
        }
        self.tell_block(slot);
        slot
    }

    /// The values of all rows of the block with the support row that is now at `slot`.
    fn tell_block(&mut self, slot: usize) {
        let Some(supports) = &self.rows else { return };
        let n_panels = self.ahead.block.n_panels();
        let mut strip = Vec::new();
        Wanted {
            kernel: &*self.kernel,
            supports,
            block: &self.ahead.block,
            listed: &[slot as u32],
            panels: 0..n_panels,
            from: &vec![0; n_panels],
            constant: self.bias.spread(),
            threads: 1,
        }
        .fill(&mut strip);
        for (values, value) in self.ahead.values.iter_mut().zip(strip) {
            if slot == values.len() {
                values.push(value);
            } else {
                values[slot] = value;
            }
        }
    }

    /// The support row that came first.
    fn oldest(&self) -> usize {
        (0..self.n_rows()).min_by_key(|row| self.born[*row]).unwrap_or(0)
    }

    /// Before the oldest row is forgotten: shrinks all as far as the Forgetron's bound demands, and says how far.
    /// `value` is the new row's with the oldest, `amount` how far the step goes along the new row.
    fn shrink(&mut self, output: usize, value: f64, amount: f64) -> f64 {
        let oldest = self.oldest();
        let weights = &self.weights[output];
        let (size, side) = (weights[oldest].abs(), weights[oldest].signum());
        let score: f64 =
            weights.iter().zip(self.matrix.row(oldest)).map(|(weight, value)| weight * value).sum();
        let margin = side * (score + amount * value);
        let allowed = 15.0 / 32.0 * (self.moves[output] + 1) as f64;
        // The loss of forgetting after shrinking by phi is a phi^2 + b phi; the largest phi that is allowed.
        let (a, b, c) = (size * size - 2.0 * size * margin, 2.0 * size, self.used - allowed);
        let mut phi = 1.0;
        if a + b + c > 0.0 {
            let root = (b * b - 4.0 * a * c).max(0.0).sqrt();
            phi = if a.abs() > f64::EPSILON { (root - b) / (2.0 * a) } else { -c / b };
            phi = phi.clamp(0.0, 1.0);
        }
        self.used += a * phi * phi + b * phi;
        for weight in &mut self.weights[output] {
            *weight *= phi;
        }
        phi
    }

    /// The new row as far as it can be had from those that are there, and the squared distance that is left.
    fn project(&self, place: usize, own: f64) -> (Vec<f64>, f64) {
        let values = &self.ahead.values[place];
        let shares = self.matrix.times(values);
        let reached: f64 = shares.iter().zip(values).map(|(share, value)| share * value).sum();
        (shares, own - reached)
    }

    /// Adds a row to the inverse, given what it has in common with the others and how far it is from them.
    fn extend_inverse(&mut self, shares: &[f64], distance2: f64) {
        let n = self.matrix.n;
        self.matrix.grow();
        let extended: Vec<f64> = shares.iter().copied().chain([-1.0]).collect();
        for row in 0..=n {
            for column in 0..=n {
                self.matrix.values[row * (n + 1) + column] += extended[row] * extended[column] / distance2;
            }
        }
    }
}

impl Hypothesis for BudgetSpace {
    fn n_outputs(&self) -> usize {
        self.weights.len()
    }

    fn weights(&self, _output: usize) -> Vec<f64> {
        Vec::new()
    }

    fn bias(&self, output: usize) -> f64 {
        self.biases[output]
    }

    /// Not known: a row that is removed takes part of the length with it. Rules that need it are refused beforehand.
    fn norm2(&self, _output: usize) -> f64 {
        f64::NAN
    }

    fn moves(&self, output: usize) -> u64 {
        self.moves.get(output).copied().unwrap_or(0)
    }
}

impl Space for BudgetSpace {
    type Memory = ();

    fn block<E: Examples>(&self, _examples: E) -> usize {
        self.block_rows
    }

    fn prepare<E: Examples>(&mut self, examples: E, visits: Visits<'_>) {
        let numbers: Vec<u32> = (0..visits.len()).map(|place| visits.row(place) as u32).collect();
        let (kernel, width) = (&*self.kernel, self.width);
        let supports =
            self.rows.get_or_insert_with(|| Rows::new(width, suits_dense(kernel, examples, &numbers)));
        let mut gathered = Gathered::default();
        let rows = joined(gathered.of(examples, visits, width));
        let block = Block::pack(kernel, supports, &rows, &numbers);
        let listed: Vec<u32> = (0..supports.len() as u32).collect();
        let n_panels = block.n_panels();
        let mut values = Vec::new();
        Wanted {
            kernel,
            supports,
            block: &block,
            listed: &listed,
            panels: 0..n_panels,
            from: &vec![0; n_panels],
            constant: self.bias.spread(),
            threads: threads::available(),
        }
        .fill(&mut values);
        let of_row = |row: usize| {
            let from = row / PANEL * listed.len();
            (0..listed.len()).map(|support| values[(from + support) * PANEL + row % PANEL]).collect()
        };
        let values = (0..numbers.len()).map(of_row).collect();
        self.ahead = Ahead { block, numbers, values };
    }

    fn scores<R: Row>(&self, place: usize, _row: R, scores: &mut [f64]) {
        let values = &self.ahead.values[place];
        for ((score, weights), bias) in scores.iter_mut().zip(&self.weights).zip(&self.biases) {
            let sum: f64 = weights.iter().zip(values).map(|(weight, value)| weight * value).sum();
            *score = sum + bias;
        }
    }

    fn spread<R: Row>(&self, place: usize, _output: usize, _row: R) -> f64 {
        self.ahead.block.own(place) + self.bias.spread()
    }

    fn is_still<R: Row>(&self, row: R) -> bool {
        self.kernel.ignores_zeros() && row.is_zero()
    }

    fn shift<R: Row>(&mut self, place: usize, row: R, step: Move, _memory: &mut ()) {
        let Move { output, amount, keep, .. } = step;
        if keep != 1.0 {
            for weight in &mut self.weights[output] {
                *weight *= keep;
            }
        }
        if amount != 0.0 {
            let own = self.ahead.block.own(place) + self.bias.spread();
            let entries: Vec<(usize, f64)> = if self.kernel.by_number() {
                vec![(self.ahead.numbers[place] as usize, 1.0)]
            } else {
                row.entries().filter(|(_, value)| *value != 0.0).collect()
            };
            if let Some(known) = self.find(&entries) {
                self.weights[output][known as usize] += amount;
            } else if self.removal == Removal::Projectron {
                let (shares, distance2) = self.project(place, own);
                if self.n_rows() == self.budget || distance2 <= NOTHING_NEW * own {
                    self.weights[output]
                        .iter_mut()
                        .zip(&shares)
                        .for_each(|(weight, share)| *weight += amount * share);
                } else {
                    self.extend_inverse(&shares, distance2);
                    let slot = self.insert(place, &entries, own);
                    self.weights[output][slot] = amount;
                }
            } else {
                // The new row is shrunk with the others.
                let phi = if self.removal == Removal::Forgetron && self.n_rows() == self.budget {
                    self.shrink(output, self.ahead.values[place][self.oldest()], amount)
                } else {
                    1.0
                };
                let slot = self.insert(place, &entries, own);
                self.weights[output][slot] = amount * phi;
            }
            if self.bias == Bias::Learned {
                self.biases[output] += amount;
            }
        }
        self.moves[output] += 1;
    }

    fn track_norm(&mut self) {}

    fn widen(&mut self, width: usize) {
        self.width = self.width.max(width);
        if let Some(rows) = &mut self.rows {
            rows.widen(width);
        }
    }
}

impl Resumable for BudgetSpace {
    fn save<'a>(&'a self, state: &mut State<'a>) {
        let (offsets, indices, values) =
            self.rows.as_ref().map_or((vec![0], Vec::new(), Vec::new()), Rows::compressed);
        state.u64s("budget", vec![self.width as u64, self.n_born, self.random.state()]);
        state.u64s("support-offsets", offsets);
        state.u32s("support-indices", indices);
        state.f64s("support-values", values);
        state.u64s("support-born", &self.born);
        state.f64s("support-weights", self.weights.concat()).laid(Layout::InTurn(Part::Signed));
        state.f64s("support-matrix", &self.matrix.values);
        state.f64s("biases", &self.biases).laid(SIGNED);
        state.f64s("used", vec![self.used]);
        state.u64s("moves", &self.moves).laid(COUNTED);
    }

    fn restore(&mut self, state: &mut State<'_>) -> Result<(), StateError> {
        let [width, n_born, random] = state.take_counters("budget")?;
        let offsets = state.take_u64s("support-offsets")?;
        let (indices, values) = (state.take_u32s("support-indices")?, state.take_f64s("support-values")?);
        if (width as usize) < self.width || width > u64::from(u32::MAX) {
            return Err(refuse("the support rows are of another width"));
        }
        let rows = Rows::from_compressed(width as usize, &offsets, &indices, &values).map_err(refuse)?;
        let (n_rows, n_outputs) = (rows.len(), self.weights.len());
        if n_rows > self.budget {
            return Err(refuse("there are more support rows than the budget allows"));
        }
        self.born = state.take_n_counters("support-born", n_rows, n_born)?;
        let weights = state.take_n_f64s("support-weights", n_rows * n_outputs)?;
        let n_matrix = if self.removal == Removal::Random { 0 } else { n_rows };
        self.matrix =
            Matrix { n: n_matrix, values: state.take_n_f64s("support-matrix", n_matrix * n_matrix)? };
        let biases = state.take_n_f64s("biases", n_outputs)?;
        self.used = state.take_n_f64s("used", 1)?[0];
        self.moves = state.take_n_counters("moves", n_outputs, u64::MAX)?;
        (self.biases, self.n_born, self.random) = (biases, n_born, Random::new(random));
        self.weights = (0..n_outputs).map(|output| weights[output * n_rows..][..n_rows].to_vec()).collect();
        self.width = width as usize;
        self.rows = (n_rows > 0).then_some(rows);
        Ok(())
    }
}

impl Outcome for BudgetSpace {
    fn read(&self, _memory: &(), readout: Readout, _ballot: Ballot, _rounds: u64) -> Option<Kept> {
        if readout != Readout::Last {
            return None;
        }
        let rows = self.rows.clone().unwrap_or_else(|| Rows::new(self.width, false));
        let (n_rows, n_outputs) = (self.n_rows(), self.weights.len());
        let weights = (0..n_rows * n_outputs).map(|k| self.weights[k % n_outputs][k / n_outputs]).collect();
        let combination = Combination::Sums { weights, biases: self.biases.clone() };
        let (kernel, constant) = (Arc::clone(&self.kernel), self.bias.spread());
        Expansion::from_parts(kernel, constant, rows, n_outputs, combination)
            .ok()
            .map(|expansion| Kept::Other(Arc::new(expansion)))
    }

    fn is_finite(&self) -> bool {
        self.weights.iter().flatten().chain(&self.biases).all(|value| value.is_finite())
    }
}
