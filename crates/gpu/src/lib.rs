//! Kernel perceptrons on NVIDIA cards: kernel values and sums of the log, with the bits of the processor.
//!
//! Nothing of CUDA is needed to build this, and nothing but a driver to run it: the driver is found at run time, and the
//! code for the card (`kernels.ptx` and `tensors.ptx`, compiled from `kernels.cu` by `compile.py`) is part of the program. Where there is no
//! driver, no card or no memory, a [`Trouble`] says so. What is decided row by row stays on the processor, which is given
//! all values that it may need for a block of rows: measured on an H200, that takes as long as sending them, and serves
//! every rule, while one block of threads per class would serve one.

mod card;
mod lists;
mod rows;
mod worker;

pub use card::cards;
pub use rows::Layout;

use card::Card;
use rosenblatt_kernel::{Device, Kernel, PANEL, Sum, Trouble, Worker};
use std::sync::Arc;

/// From how many support rows on blocks are twice as large.
const MANY_SUPPORTS: usize = 1 << 14;

/// A card that computes.
#[derive(Debug, Clone)]
pub struct Gpu {
    card: Arc<Card>,
    block: usize,
    memory: usize,
    layout: Option<Layout>,
    least_work: u128,
}

impl Gpu {
    /// Card number `number`, counted from 0.
    pub fn new(number: usize) -> Result<Self, Trouble> {
        let card = Card::shared(number)?;
        // The rest is for others, and for what the driver needs itself.
        let memory = card.memory / 10 * 8;
        Ok(Self { card, block: 24 * PANEL, memory, layout: None, least_work: 1 << 26 })
    }

    /// Uses at most this many bytes of the card's memory, nearly.
    #[must_use]
    pub fn with_memory(self, bytes: usize) -> Self {
        Self { memory: bytes, ..self }
    }

    /// Learns in blocks of this many rows.
    #[must_use]
    pub fn in_blocks_of(self, rows: usize) -> Self {
        Self { block: rows, ..self }
    }

    /// Lays rows out in this way, however they are, and takes up any work, however small.
    #[must_use]
    pub fn laid_out(self, layout: Layout) -> Self {
        Self { layout: Some(layout), least_work: 0, ..self }
    }
}

impl Device for Gpu {
    fn name(&self) -> String {
        self.card.name().to_owned()
    }

    fn block(&self, n_supports: usize) -> Option<usize> {
        // The values of a block's rows with each other are many, and are only on their way unseen while those with support
        // rows are computed, which take longer the more there are.
        Some(if n_supports < MANY_SUPPORTS { self.block } else { 2 * self.block })
    }

    fn at_once(&self) -> usize {
        70 * PANEL
    }

    fn least_work(&self) -> u128 {
        self.least_work
    }

    fn keeps_rows(&self) -> bool {
        true
    }

    fn worker(&self, kernel: &dyn Kernel, constant: f64) -> Result<Option<Box<dyn Worker>>, Trouble> {
        let Some(ending) = kernel.ending().filter(|_| kernel.sum() != Sum::Rows) else { return Ok(None) };
        let worker = worker::CardWorker::new(
            Arc::clone(&self.card),
            kernel.sum(),
            ending,
            constant,
            self.memory,
            self.layout,
        )?;
        Ok(Some(Box::new(worker)))
    }
}
