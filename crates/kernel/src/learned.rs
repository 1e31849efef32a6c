//! What a kernel run has learned: support rows, and the log of all moves along them, in order.
//!
//! A score is the sum of the log in log order, one move at a time: `f ← keep·f + amount·K(row, x)`. Every way to
//! compute it, ahead or on demand, in pieces or at once, adds the same numbers in the same order, so that the bits do
//! not depend on how. The log also is all that read-outs need: every past hypothesis is a prefix of it.

use crate::device::{Device, Supports, Trouble};
use crate::kernels::Kernel;
use crate::processor::Processor;
use crate::rows::Rows;
use rosenblatt_core::Bias;
use rosenblatt_core::memory::MOST_ROUNDS;
use rosenblatt_core::space::{Move, Shape};
use rosenblatt_core::state::{Layout, Part, State, StateError, refuse};
use std::sync::Arc;

/// What of a move is the same on either side, and what is not.
const ALIKE: Layout = Layout::Moves(&[Part::Alike(0.0)]);
const SIGNED: Layout = Layout::Moves(&[Part::Signed]);

/// The row of a move that only shrinks.
pub const NO_ROW: u32 = u32::MAX;

/// One move: from `round` on, output `output` is `keep` times itself plus `amount` times support row `row`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    /// In which round.
    pub round: u64,
    /// Which output.
    pub output: u32,
    /// Which support row; [`NO_ROW`] where nothing was added.
    pub row: u32,
    /// How far along it.
    pub amount: f64,
    /// How much of the hypothesis stayed.
    pub keep: f64,
    /// The bias beside the hypothesis after the move.
    pub bias: f64,
    /// `‖f‖²` after the move.
    pub norm2: f64,
}

impl Entry {
    /// What becomes of the sums of some rows, given their values with the move's support row.
    #[inline]
    pub(crate) fn apply_at(&self, values: &[f64], sums: &mut [f64]) {
        if self.row == NO_ROW {
            for sum in sums {
                *sum *= self.keep;
            }
            return;
        }
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum = self.keep * *sum + self.amount * value;
        }
    }
}

/// Support rows and the log.
#[derive(Debug, Clone)]
pub struct Learned {
    pub(crate) kernel: Arc<dyn Kernel>,
    pub(crate) n_outputs: usize,
    pub(crate) bias: Bias,
    /// Nothing until the first rows tell how they are best stored.
    pub(crate) rows: Option<Rows>,
    pub(crate) width: usize,
    pub(crate) log: Vec<Entry>,
    outputs: Vec<Output>,
    /// Who computes with it, and why that is no longer so, if the processor has taken over.
    pub(crate) device: Arc<dyn Device>,
    pub(crate) trouble: Option<Trouble>,
}

/// What is kept once per output.
#[derive(Debug, Clone, Copy, Default)]
struct Output {
    bias: f64,
    norm2: f64,
    moves: u64,
}

impl Learned {
    pub(crate) fn new(kernel: Arc<dyn Kernel>, shape: Shape) -> Self {
        let Shape { width, n_outputs, bias } = shape;
        let outputs = vec![Output::default(); n_outputs];
        let device = Arc::new(Processor::default());
        Self { kernel, n_outputs, bias, rows: None, width, log: Vec::new(), outputs, device, trouble: None }
    }

    /// The support rows.
    pub fn rows(&self) -> Option<&Rows> {
        self.rows.as_ref()
    }

    /// All moves, in order.
    pub fn log(&self) -> &[Entry] {
        &self.log
    }

    /// What a worker must know of the support rows, if there are any yet.
    pub(crate) fn supports(&self) -> Option<Supports<'_>> {
        let rows = self.rows.as_ref()?;
        Some(Supports { kernel: &*self.kernel, constant: self.bias.spread(), rows })
    }

    /// The bias of an output as it stands.
    pub(crate) fn bias_of(&self, output: usize) -> f64 {
        self.outputs[output].bias
    }

    pub(crate) fn norm2(&self, output: usize) -> f64 {
        self.outputs[output].norm2
    }

    pub(crate) fn moves(&self, output: usize) -> u64 {
        self.outputs.get(output).map_or(0, |output| output.moves)
    }

    pub(crate) fn widen(&mut self, width: usize) {
        self.width = self.width.max(width);
        if let Some(rows) = &mut self.rows {
            rows.widen(width);
        }
    }

    /// The support rows, made when they are first needed.
    pub(crate) fn rows_or(&mut self, dense: impl FnOnce() -> bool) -> &mut Rows {
        self.rows.get_or_insert_with(|| Rows::new(self.width, dense()))
    }

    /// The number of the support row of these entries; those of row `number` of the data.
    pub(crate) fn support(
        &mut self,
        entries: impl Iterator<Item = (usize, f64)> + Clone,
        number: usize,
    ) -> u32 {
        let by_number = self.kernel.by_number();
        let rows = self.rows_or(|| !by_number);
        if by_number { rows.intern(std::iter::once((number, 1.0))) } else { rows.intern(entries) }
    }

    /// Notes a move along support row `row` ([`NO_ROW`] if it only shrinks), whose value with itself is `own`, constant included.
    pub(crate) fn note(&mut self, row: u32, step: Move, own: f64) -> Entry {
        let Move { output, amount, keep, score, round, .. } = step;
        let state = &mut self.outputs[output];
        let score = score - state.bias;
        // A kernel that is not positive definite may take it below nothing.
        state.norm2 =
            (keep * keep * state.norm2 + 2.0 * keep * amount * score + amount * amount * own).max(0.0);
        if self.bias == Bias::Learned {
            state.bias += amount;
        }
        state.moves += 1;
        let (bias, norm2) = (state.bias, state.norm2);
        let entry = Entry { round, output: output as u32, row, amount, keep, bias, norm2 };
        self.log.push(entry);
        entry
    }

    pub(crate) fn is_finite(&self) -> bool {
        let finite = |entry: &Entry| {
            [entry.amount, entry.keep, entry.bias, entry.norm2].iter().all(|value| value.is_finite())
        };
        self.log.iter().all(finite)
    }

    pub(crate) fn save<'a>(&'a self, state: &mut State<'a>) {
        let (offsets, indices, values) =
            self.rows.as_ref().map_or((vec![0], Vec::new(), Vec::new()), Rows::compressed);
        state.u64s("support-width", vec![self.width as u64]);
        state.u64s("support-offsets", offsets);
        state.u32s("support-indices", indices);
        state.f64s("support-values", values);
        let each = |part: fn(&Entry) -> f64| self.log.iter().map(part).collect::<Vec<f64>>();
        let whole = |part: fn(&Entry) -> u32| self.log.iter().map(part).collect::<Vec<u32>>();
        let rounds: Vec<_> = self.log.iter().map(|entry| entry.round).collect();
        state.u64s("step-rounds", rounds).laid(ALIKE);
        state.u32s("step-outputs", whole(|entry| entry.output)).laid(Layout::Moves(&[Part::Output]));
        state.u32s("step-rows", whole(|entry| entry.row)).laid(ALIKE);
        state.f64s("step-amounts", each(|entry| entry.amount)).laid(SIGNED);
        state.f64s("step-keeps", each(|entry| entry.keep)).laid(ALIKE);
        state.f64s("step-biases", each(|entry| entry.bias)).laid(SIGNED);
        state.f64s("step-norms", each(|entry| entry.norm2)).laid(ALIKE);
    }

    pub(crate) fn restore(&mut self, state: &mut State<'_>) -> Result<(), StateError> {
        let [width] = state.take_counters("support-width")?;
        let offsets = state.take_u64s("support-offsets")?;
        let (indices, values) = (state.take_u32s("support-indices")?, state.take_f64s("support-values")?);
        if (width as usize) < self.width || width > u64::from(u32::MAX) {
            return Err(refuse("the support rows are of another width"));
        }
        let rows = Rows::from_compressed(width as usize, &offsets, &indices, &values).map_err(refuse)?;
        let rounds = state.take_u64s("step-rounds")?;
        let outputs = state.take_u32s("step-outputs")?;
        let step_rows = state.take_u32s("step-rows")?;
        let n = rounds.len();
        let [amounts, keeps, biases, norms] = [
            state.take_n_f64s("step-amounts", n)?,
            state.take_n_f64s("step-keeps", n)?,
            state.take_n_f64s("step-biases", n)?,
            state.take_n_f64s("step-norms", n)?,
        ];
        if outputs.len() != n || step_rows.len() != n {
            return Err(refuse("the lists of steps differ in length"));
        }
        let log: Vec<Entry> = (0..n)
            .map(|k| Entry {
                round: rounds[k],
                output: outputs[k],
                row: step_rows[k],
                amount: amounts[k],
                keep: keeps[k],
                bias: biases[k],
                norm2: norms[k],
            })
            .collect();
        check_log(&log, rows.len(), self.n_outputs, MOST_ROUNDS).map_err(refuse)?;
        self.outputs.fill(Output::default());
        for entry in &log {
            let output = &mut self.outputs[entry.output as usize];
            *output = Output { bias: entry.bias, norm2: entry.norm2, moves: output.moves + 1 };
        }
        self.width = width as usize;
        // Fresh rows decide again how support rows are stored, unless there are some.
        self.rows = (!rows.is_empty()).then_some(rows);
        self.log = log;
        Ok(())
    }
}

/// Whether a log, which may come from anywhere, fits this many rows and outputs and ends by round `rounds`.
pub(crate) fn check_log(
    log: &[Entry],
    n_rows: usize,
    n_outputs: usize,
    rounds: u64,
) -> Result<(), &'static str> {
    if rounds > MOST_ROUNDS {
        return Err("there were more rounds than are possible");
    }
    let mut before = 1;
    for entry in log {
        let Entry { round, output, row, amount, keep, bias, norm2 } = *entry;
        if round < before || round > rounds {
            return Err("the rounds of the moves do not ascend");
        }
        if output as usize >= n_outputs || (row != NO_ROW && row as usize >= n_rows) {
            return Err("a move names an output or a row that is not there");
        }
        if ![amount, keep, bias, norm2].iter().all(|value| value.is_finite()) || norm2 < 0.0 {
            return Err("a move is not a finite number");
        }
        before = round;
    }
    Ok(())
}
