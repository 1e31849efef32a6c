//! Who computes kernel values and adds up logs: the processor, or a device beside it.
//!
//! A [`Worker`] takes a block of rows, brings their sums to the end of the log, and knows their values with each other.
//! The loop that decides row by row stays where it is and knows nothing of it. Every worker gives the bits of the
//! processor's ([`Processor`](crate::Processor)), so that one may take over from another at any block.

use crate::expansion::Combination;
use crate::kernels::Kernel;
use crate::learned::Entry;
use crate::rows::Rows;
use rosenblatt_core::SparseRows;
use std::fmt;

/// Something that can compute for kernel hypotheses.
pub trait Device: fmt::Debug + Send + Sync {
    /// What a person calls it.
    fn name(&self) -> String;

    /// How many rows it is best given at once while learning, for this number of support rows; `None` if it does not
    /// matter to it.
    fn block(&self, _n_supports: usize) -> Option<usize> {
        None
    }

    /// How many rows it is best given at once while predicting.
    fn at_once(&self) -> usize;

    /// From how many products of single features on a call is worth its while.
    fn least_work(&self) -> u128 {
        0
    }

    /// Whether a worker holds a copy of the support rows, which is worth keeping between calls.
    fn keeps_rows(&self) -> bool {
        false
    }

    /// A worker for this kernel, to whose values `constant` is added. `None` if the device lacks the kernel.
    fn worker(&self, kernel: &dyn Kernel, constant: f64) -> Result<Option<Box<dyn Worker>>, Trouble>;
}

/// Computes with one kernel for one set of support rows, which only ever grows.
pub trait Worker: fmt::Debug + Send + Sync {
    /// Takes up a block of rows, which come in parts that follow each other; row `k` has the number `numbers[k]` and is
    /// from now on called slot `k`.
    fn pack(&mut self, supports: &Supports<'_>, parts: &[SparseRows], numbers: &[u32])
    -> Result<(), Trouble>;

    /// Whether it would keep this many rows that are met again and again, by their numbers, until it is let go.
    fn would_keep(&self, _supports: &Supports<'_>, _n_rows: usize) -> bool {
        false
    }

    /// Takes the next of those rows, of which there are `n_rows`. Says whether it wants the others.
    fn keep(
        &mut self,
        _supports: &Supports<'_>,
        _parts: &[SparseRows],
        _n_rows: usize,
    ) -> Result<bool, Trouble> {
        Ok(false)
    }

    /// Takes up a block of rows that it keeps, by their numbers. Says whether it keeps any.
    fn pack_kept(&mut self, _supports: &Supports<'_>, _numbers: &[u32]) -> Result<bool, Trouble> {
        Ok(false)
    }

    /// Brings the sums of the block's rows, each good up to `until` (ascending), to the end of the log; from now on
    /// the values of the rows with each other can be had. Sums lie panel by panel ([`PANEL`](crate::PANEL)), output
    /// by output, and are left as they are if there is trouble.
    fn catch_up(
        &mut self,
        supports: &Supports<'_>,
        log: &Log<'_>,
        until: &[usize],
        sums: &mut [f64],
    ) -> Result<(), Trouble>;

    /// The value of a row of the block with itself, constant included.
    fn own(&self, slot: usize) -> f64;

    /// The row of `slot` has become support row `support`, and its values with all rows will be asked for.
    fn meet(&mut self, _supports: &Supports<'_>, _support: u32, _slot: usize) {}

    /// The values of the row of `slot`, which was met, with the rows of a panel.
    fn strip(&self, slot: usize, panel: usize) -> &[f64];

    /// The values of all support rows with the block's: panel by panel, support row by support row.
    fn values(&mut self, supports: &Supports<'_>, values: &mut Vec<f64>) -> Result<(), Trouble>;

    /// What the support rows say of the block's: panel by panel, output by output.
    fn speak(
        &mut self,
        supports: &Supports<'_>,
        combination: &Combination,
        n_outputs: usize,
    ) -> Result<Vec<f64>, Trouble> {
        let mut values = Vec::new();
        self.values(supports, &mut values)?;
        let per_panel = (supports.rows.len() * crate::PANEL).max(1);
        Ok(values.chunks(per_panel).flat_map(|values| combination.speak(n_outputs, values)).collect())
    }

    /// How many of the block's rows, which are of these classes, each read-out of a run gives the wrong class at each of
    /// these moments, as [`errors_at`](crate::errors_at) has it; nothing if it leaves that to the processor.
    fn errors_at(
        &mut self,
        _supports: &Supports<'_>,
        _log: &Log<'_>,
        _classes: &[u32],
        _moments: &[u64],
    ) -> Result<Option<Vec<[f64; 7]>>, Trouble> {
        Ok(None)
    }

    /// What it took so far.
    fn effort(&self) -> Effort;
}

/// The support rows as they stand.
#[derive(Clone, Copy)]
pub struct Supports<'a> {
    /// The kernel.
    pub kernel: &'a dyn Kernel,
    /// What is added to every value.
    pub constant: f64,
    /// The rows; a worker has seen all but the last ones.
    pub rows: &'a Rows,
}

/// The log as it stands.
#[derive(Clone, Copy)]
pub struct Log<'a> {
    /// All moves in order; a worker has seen all but the last ones.
    pub entries: &'a [Entry],
    /// By support row: where in the log it was last stepped along.
    pub last_use: &'a [usize],
    /// How many outputs there are.
    pub n_outputs: usize,
}

/// What kernel values took.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Effort {
    /// Pairs of rows, in blocks.
    pub pairs: u64,
    /// Seconds in which they were computed.
    pub seconds: f64,
}

/// A kernel of the table as a value: what it makes of a [sum](crate::Sum) over the features of two rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ending {
    /// The sum itself.
    Sum,
    /// `(gamma sum + offset)^degree`.
    Power {
        /// The factor of the sum.
        gamma: f64,
        /// What is added to it.
        offset: f64,
        /// The power.
        degree: u32,
    },
    /// `exp(-gamma (‖x‖² + ‖y‖² - 2 sum))`.
    Gauss {
        /// How quickly it fades.
        gamma: f64,
    },
    /// `tanh(gamma sum + offset)`.
    Tanh {
        /// The factor of the sum.
        gamma: f64,
        /// What is added to it.
        offset: f64,
    },
    /// `exp(-gamma sum)`.
    Decay {
        /// How quickly it fades.
        gamma: f64,
    },
    /// `sum / (‖x‖ ‖y‖)`.
    Angle,
}

/// A card that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its number.
    pub number: usize,
    /// What it is called.
    pub name: String,
    /// Its memory in bytes.
    pub memory: usize,
    /// What it can do, as its maker counts.
    pub capability: (i32, i32),
}

/// Why a device does not compute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// There is no driver.
    NoDriver,
    /// The driver is older than what it is to run: the versions of CUDA that it knows and that it should know.
    OldDriver {
        /// What it knows.
        found: String,
        /// What it should know.
        needed: &'static str,
    },
    /// There is no such card.
    NoCard {
        /// Which was asked for.
        asked: usize,
        /// How many there are.
        there: usize,
    },
    /// The card is older than what it is to run.
    OldCard {
        /// What it is called.
        name: String,
        /// What it can do.
        found: String,
        /// What it should be able to do.
        needed: &'static str,
    },
    /// It has no more memory.
    Memory,
    /// It failed, in the words of its driver.
    Failed(String),
    /// This program was built without devices.
    NotBuilt,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDriver => f.write_str(
                "there is no driver for NVIDIA cards; install one that knows CUDA 12.0 (525 or newer), \
                 or compute on the processor",
            ),
            Self::OldDriver { found, needed } => write!(
                f,
                "the driver knows CUDA {found}, but should know CUDA {needed}; install a newer one, \
                 or compute on the processor"
            ),
            Self::NoCard { there: 0, .. } => {
                f.write_str("there is a driver, but no NVIDIA card; compute on the processor")
            }
            Self::NoCard { asked, there } => {
                write!(f, "there is no card number {asked}; there are {there}, counted from 0")
            }
            Self::OldCard { name, found, needed } => write!(
                f,
                "{name} has compute capability {found}, but should have {needed}, as cards since 2020 do; \
                 compute on the processor"
            ),
            Self::Memory => f.write_str(
                "the card has no more memory; end other programs that use it, or compute on the processor",
            ),
            Self::Failed(why) => write!(f, "the card failed: {why}; compute on the processor"),
            Self::NotBuilt => f.write_str(
                "this program was built without graphics cards; build it with the feature `gpu`, as \
                 `cargo install --path crates/cli --features full` does, or compute on the processor",
            ),
        }
    }
}

impl std::error::Error for Trouble {}
