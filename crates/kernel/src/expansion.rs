//! What a kernel run is read out as: one hypothesis per output as a weighted sum of support rows, or all survivors,
//! voting. Rows are scored in blocks, each with one kernel value per support row.

use crate::device::{Device, Supports, Trouble, Worker};
use crate::kernels::Kernel;
use crate::learned::{Entry, Learned, NO_ROW, check_log};
use crate::processor::Processor;
use crate::products::Gathered;
use crate::rows::Rows;
use crate::simd::PANEL;
use rosenblatt_core::memory::{Ballot, Other};
use rosenblatt_core::{Average, Examples, Random, Readout, SparseExamples, SparseRows};
use std::sync::{Arc, Mutex};

/// Hypotheses made of support rows, ready to predict.
#[derive(Debug, Clone)]
pub struct Expansion {
    kernel: Arc<dyn Kernel>,
    /// What is added to every kernel value: the square of an augmented bias.
    constant: f64,
    rows: Rows,
    n_outputs: usize,
    combination: Combination,
    device: Arc<dyn Device>,
    trouble: Option<Trouble>,
    /// Who computes, and room for rows, where it is worth keeping: copies share it.
    desk: Arc<Mutex<Desk>>,
}

#[derive(Debug, Default)]
struct Desk {
    worker: Option<Box<dyn Worker>>,
    gathered: Gathered,
}

/// How support rows speak.
#[derive(Debug, Clone, PartialEq)]
pub enum Combination {
    /// One hypothesis per output.
    Sums {
        /// Support row by support row, one weight per output.
        weights: Vec<f64>,
        /// By output.
        biases: Vec<f64>,
    },
    /// All survivors of a run.
    Votes {
        /// The moves between them.
        log: Vec<Entry>,
        /// Rounds of the run.
        rounds: u64,
        /// How they vote.
        ballot: Ballot,
    },
}

impl Expansion {
    /// An expansion from its parts, which may come from anywhere; the error says what does not fit.
    pub fn from_parts(
        kernel: Arc<dyn Kernel>,
        constant: f64,
        rows: Rows,
        n_outputs: usize,
        combination: Combination,
    ) -> Result<Self, &'static str> {
        if n_outputs == 0 || !constant.is_finite() {
            return Err("there are no outputs, or the bias is no number");
        }
        match &combination {
            Combination::Sums { weights, biases } => {
                if Some(weights.len()) != rows.len().checked_mul(n_outputs) || biases.len() != n_outputs {
                    return Err("there are not as many weights as support rows");
                }
                if !weights.iter().chain(biases).all(|value| value.is_finite()) {
                    return Err("a weight is not a finite number");
                }
            }
            Combination::Votes { log, rounds, .. } => check_log(log, rows.len(), n_outputs, *rounds)?,
        }
        let device = Arc::new(Processor::default());
        Ok(Self {
            kernel,
            constant,
            rows,
            n_outputs,
            combination,
            device,
            trouble: None,
            desk: Arc::default(),
        })
    }

    /// What `readout` makes of a run after `rounds` rounds; `None` if it cannot be had of a log.
    pub(crate) fn read(
        learned: &Learned,
        readout: Readout,
        ballot: Ballot,
        rounds: u64,
        normalised: bool,
        seed: u64,
    ) -> Option<Self> {
        let log = &learned.log[..];
        let rows = learned.rows.clone().unwrap_or_else(|| Rows::new(learned.width, false));
        let sums = |share: &dyn Fn(&Entry, Option<u64>) -> f64| {
            sums_of(log, rows.len(), learned.n_outputs, |entry, next| {
                let share = share(entry, next);
                let norm = if normalised && share != 0.0 { entry.norm2.sqrt() } else { 1.0 };
                if norm > 0.0 { share / norm } else { 0.0 }
            })
        };
        let last = |entry: &Entry, next: Option<u64>, until: u64| {
            let is_last = entry.round <= until && next.is_none_or(|next| next > until);
            f64::from(u8::from(is_last))
        };
        let combination = match readout {
            Readout::Last => sums(&|entry, next| last(entry, next, rounds)),
            Readout::Random => {
                let moment = Random::for_purpose(seed, "random survivor").below(rounds + 1);
                sums(&|entry, next| last(entry, next, moment))
            }
            Readout::Averaged(Average::Running | Average::From(_)) | Readout::Pocket => return None,
            Readout::Averaged(kind) => {
                let (end, divisor) = match kind {
                    Average::Pre => (rounds, rounds),
                    Average::Both => (rounds + 1, rounds + 1),
                    Average::Post | Average::Running | Average::From(_) => (rounds + 1, rounds),
                };
                let alive =
                    |entry: &Entry, next: Option<u64>| next.unwrap_or(end).min(end) - entry.round.min(end);
                sums(&|entry, next| alive(entry, next) as f64 / divisor.max(1) as f64)
            }
            Readout::Voted => Combination::Votes { log: log.to_vec(), rounds, ballot },
        };
        let (kernel, constant) = (Arc::clone(&learned.kernel), learned.bias.spread());
        let (n_outputs, trouble) = (learned.n_outputs, learned.trouble.clone());
        // Who was in trouble once is not asked again.
        let device = match trouble {
            None => Arc::clone(&learned.device),
            Some(_) => Arc::new(Processor::default()),
        };
        Some(Self { kernel, constant, rows, n_outputs, combination, device, trouble, desk: Arc::default() })
    }

    /// The same, computed on this device as long as it works, and then on the processor.
    #[must_use]
    pub fn on(&self, device: Arc<dyn Device>) -> Self {
        Self { device, desk: Arc::default(), ..self.clone() }
    }

    /// Who computes.
    pub fn device(&self) -> &dyn Device {
        &*self.device
    }

    /// Why the processor has taken over while it was learned, if it has.
    pub fn trouble(&self) -> Option<&Trouble> {
        self.trouble.as_ref()
    }

    /// How many rows are best scored at once.
    pub fn at_once(&self) -> usize {
        self.device.at_once()
    }

    /// The kernel.
    pub fn kernel(&self) -> &Arc<dyn Kernel> {
        &self.kernel
    }

    /// What is added to every kernel value.
    pub fn constant(&self) -> f64 {
        self.constant
    }

    /// The support rows.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// How many scores a row gets.
    pub fn n_outputs(&self) -> usize {
        self.n_outputs
    }

    /// How they speak.
    pub fn combination(&self) -> &Combination {
        &self.combination
    }

    /// How much each support row counts, output by output: its weight, or the sum of the steps along it.
    pub fn weights(&self) -> Vec<f64> {
        match &self.combination {
            Combination::Sums { weights, .. } => weights.clone(),
            Combination::Votes { log, .. } => {
                let mut weights = vec![0.0; self.rows.len() * self.n_outputs];
                for entry in log.iter().filter(|entry| entry.row != NO_ROW) {
                    weights[entry.row as usize * self.n_outputs + entry.output as usize] += entry.amount;
                }
                weights
            }
        }
    }

    /// The scores of these rows of `examples`: row by row, output by output. Features that no support row knows count
    /// nothing. A row's scores do not depend on the others.
    pub fn scores<E: Examples>(&self, examples: E, rows: &[u32], scores: &mut Vec<f64>) {
        scores.clear();
        scores.resize(rows.len() * self.n_outputs, 0.0);
        let supports = Supports { kernel: &*self.kernel, constant: self.constant, rows: &self.rows };
        let work = rows.len() as u128 * self.rows.len() as u128 * self.rows.width() as u128;
        // Without a device that is worth the way, the processor.
        let mut desk = Desk { worker: Some(Processor::default().hired()), ..Desk::default() };
        let mut kept = None;
        if self.device.keeps_rows() && work >= self.device.least_work() {
            kept = Some(self.desk.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
        }
        let at_once = if kept.is_some() { self.at_once() } else { Processor::default().at_once() };
        let desk = kept.as_deref_mut().unwrap_or(&mut desk);
        let mut left = &mut scores[..];
        let mut hear = |spoken: &[f64], n_rows: usize| {
            let (here, rest) = std::mem::take(&mut left).split_at_mut(n_rows * self.n_outputs);
            left = rest;
            for (slot, scores) in here.chunks_exact_mut(self.n_outputs).enumerate() {
                for (output, score) in scores.iter_mut().enumerate() {
                    *score = spoken[(slot / PANEL * self.n_outputs + output) * PANEL + slot % PANEL];
                }
            }
        };
        if self.rows.is_empty() {
            let spoken = self.combination.speak(self.n_outputs, &[]).repeat(rows.len().div_ceil(PANEL));
            hear(&spoken, rows.len());
            return;
        }
        let Desk { worker, gathered } = desk;
        let all = gathered.in_turn(examples, rows, self.rows.width(), at_once, |parts, rows| {
            hear(&self.spoken(&supports, parts, rows, worker), rows.len());
            Ok::<bool, std::convert::Infallible>(true)
        });
        let Ok(()) = all;
    }

    /// What the support rows say of these, in the words of `worker`, of another one if there is none, or of the processor
    /// if it is in trouble: panel by panel, output by output.
    fn spoken(
        &self,
        supports: &Supports<'_>,
        parts: &[SparseRows],
        numbers: &[u32],
        worker: &mut Option<Box<dyn Worker>>,
    ) -> Vec<f64> {
        let speak = |worker: &mut Box<dyn Worker>| {
            worker.pack(supports, parts, numbers)?;
            worker.speak(supports, &self.combination, self.n_outputs)
        };
        let found = match worker.take() {
            Some(worker) => Ok(Some(worker)),
            None => self.device.worker(supports.kernel, supports.constant),
        };
        // A device in trouble is asked again next time.
        let spoken = found.ok().flatten().and_then(|mut found| {
            let spoken = speak(&mut found).ok()?;
            *worker = Some(found);
            Some(spoken)
        });
        spoken.unwrap_or_else(|| speak(&mut Processor::default().hired()).unwrap_or_default())
    }
}

impl Combination {
    /// The scores of a panel, output by output, of its values with all support rows.
    pub(crate) fn speak(&self, n_outputs: usize, values: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; n_outputs * PANEL];
        match self {
            Combination::Sums { weights, biases } => {
                for (weights, values) in weights.chunks_exact(n_outputs).zip(values.chunks_exact(PANEL)) {
                    for (weight, sums) in weights.iter().zip(sums.chunks_exact_mut(PANEL)) {
                        if *weight != 0.0 {
                            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += weight * value);
                        }
                    }
                }
                for (bias, sums) in biases.iter().zip(sums.chunks_exact_mut(PANEL)) {
                    for sum in sums {
                        *sum += bias;
                    }
                }
                sums
            }
            Combination::Votes { log, rounds, ballot } => {
                let mut votes = vec![0.0; n_outputs * PANEL];
                let mut biases = vec![0.0; n_outputs];
                let mut since = vec![1; n_outputs];
                let mut round = 1;
                for entry in log {
                    let output = entry.output as usize;
                    if !ballot.joint {
                        let lived = entry.round - since[output];
                        vote(&sums, &mut votes, &biases, output, (lived, ballot.vote_at_zero()));
                        since[output] = entry.round;
                    } else if entry.round > round {
                        vote_jointly(&sums, &mut votes, &biases, entry.round - round, ballot.names_last());
                        round = entry.round;
                    }
                    let from = if entry.row == NO_ROW { 0 } else { entry.row as usize * PANEL };
                    entry.apply_at(&values[from..], &mut sums[output * PANEL..][..PANEL]);
                    biases[output] = entry.bias;
                }
                if ballot.joint {
                    vote_jointly(&sums, &mut votes, &biases, rounds + 1 - round, ballot.names_last());
                } else {
                    for (output, since) in since.iter().enumerate() {
                        let lived = rounds + 1 - since;
                        vote(&sums, &mut votes, &biases, output, (lived, ballot.vote_at_zero()));
                    }
                }
                votes
            }
        }
    }
}

/// Each row's vote on the sign of an output that lived so long, and the vote where its score is zero.
fn vote(sums: &[f64], votes: &mut [f64], biases: &[f64], output: usize, (lived, at_zero): (u64, f64)) {
    let (lived, bias) = (lived as f64, biases[output]);
    let (sums, votes) = (&sums[output * PANEL..][..PANEL], &mut votes[output * PANEL..][..PANEL]);
    for (sum, votes) in sums.iter().zip(votes) {
        let score = sum + bias;
        let vote = if score == 0.0 { at_zero } else { score };
        *votes += if vote > 0.0 { lived } else { 0.0 } - if vote < 0.0 { lived } else { 0.0 };
    }
}

/// Each row's vote for the class with the highest score, the first or the last of them if several have it.
fn vote_jointly(sums: &[f64], votes: &mut [f64], biases: &[f64], lived: u64, names_last: bool) {
    for slot in 0..PANEL {
        let score = |class: usize| sums[class * PANEL + slot] + biases[class];
        let beats = |class: usize, best: usize| {
            score(class) > score(best) || names_last && score(class) == score(best)
        };
        let best = (1..biases.len()).fold(0, |best, class| if beats(class, best) { class } else { best });
        votes[best * PANEL + slot] += lived as f64;
    }
}

/// The sum of all hypotheses, each as often as `share` says, given the move that made it and the round in which its
/// output moved again.
fn sums_of(
    log: &[Entry],
    n_rows: usize,
    n_outputs: usize,
    share: impl Fn(&Entry, Option<u64>) -> f64,
) -> Combination {
    let mut weights = vec![0.0; n_rows * n_outputs];
    let mut biases = vec![0.0; n_outputs];
    // Backwards: what a move adds counts in its own hypothesis and in all that came of it.
    let mut carried = vec![0.0; n_outputs];
    let mut next = vec![None; n_outputs];
    for entry in log.iter().rev() {
        let output = entry.output as usize;
        let own = share(entry, next[output]);
        let counts = own + carried[output];
        if entry.row != NO_ROW {
            weights[entry.row as usize * n_outputs + output] += entry.amount * counts;
        }
        biases[output] += entry.bias * own;
        carried[output] = entry.keep * counts;
        next[output] = Some(entry.round);
    }
    Combination::Sums { weights, biases }
}

impl PartialEq for Expansion {
    fn eq(&self, other: &Self) -> bool {
        self.kernel.formula() == other.kernel.formula()
            && self.constant == other.constant
            && self.rows == other.rows
            && self.combination == other.combination
    }
}

impl Other for Expansion {
    fn width(&self) -> usize {
        self.rows.width()
    }

    fn scores(&self, row: &mut dyn Iterator<Item = (usize, f64)>, scores: &mut [f64]) {
        let (indices, values): (Vec<u32>, Vec<f64>) =
            row.map(|(feature, value)| (feature as u32, value)).unzip();
        let width = indices.last().map_or(0, |last| *last as usize + 1);
        let offsets = [0, indices.len()];
        let example = SparseExamples::new(&offsets, &indices, &values, width, &[0]);
        let mut all = Vec::new();
        Expansion::scores(self, example, &[0], &mut all);
        scores.copy_from_slice(&all);
    }
}
