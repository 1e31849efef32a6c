//! Every hypothesis and how long it survived, kept as the moves between them.
//!
//! A survivor is the one before it plus one row, so the log holds rows and amounts, never weights: a
//! hundred thousand survivors of text data take as much room as the rows that made them. Rows that are
//! mistaken again and again are stored once. A vote then needs one dot product per stored row and one
//! addition per move: the scores of all survivors are prefix sums of one list.

use super::Memory;
use crate::convention::Zero;
use crate::hypothesis::{Hyperplanes, Hypothesis, Linear, Move};
use crate::row::Row;
use crate::sparse_rows::SparseRows;
use crate::state::{Layout, Part, State, StateError, refuse};
use std::collections::HashMap;
use std::sync::OnceLock;

/// The most rounds that are believed: sums and differences of this many do not overflow.
pub const MOST_ROUNDS: u64 = 1 << 60;

/// How survivors vote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ballot {
    /// Whether each survivor names the class with the highest score (direct multiclass). Otherwise each output holds its
    /// own vote on its own sign: two classes, one-vs-rest, one-vs-one.
    pub joint: bool,
    /// How a survivor votes whose score is zero, or whose highest score several classes share.
    pub zero: Zero,
}

impl Ballot {
    /// The vote on an output whose score is zero. A coin favours neither side, and a tie that counts as wrong names none:
    /// then it abstains.
    pub fn vote_at_zero(self) -> f64 {
        match self.zero {
            Zero::Plus => 1.0,
            Zero::Minus => -1.0,
            Zero::Random | Zero::Wrong => 0.0,
        }
    }

    /// Whether the last of the classes that share the highest score gets the vote, and not the first.
    pub fn names_last(self) -> bool {
        self.zero == Zero::Plus
    }
}

/// The log of a run.
#[derive(Debug, Clone)]
pub struct Survivors {
    rows: Rows,
    log: Vec<Entry>,
    n_outputs: usize,
}

/// What of a move is the same on either side.
const ALIKE: Part = Part::Alike(0.0);

/// The row of a move that only shrinks.
const NO_ROW: u32 = u32::MAX;

/// One move: from `round` on, output `output` is `keep` times itself plus `amount` times row `row`.
/// Moves that only shrink are logged too: beside a learned bias, which does not shrink, they turn votes.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Entry {
    round: u64,
    output: u32,
    row: u32,
    amount: f64,
    keep: f64,
    bias: f64,
}

impl Entry {
    /// What becomes of the score `activation`, bias apart, if the stored rows have these products.
    fn apply(&self, activation: f64, dots: &[f64]) -> f64 {
        let kept = self.keep * activation;
        if self.row == NO_ROW { kept } else { kept + self.amount * dots[self.row as usize] }
    }
}

/// Distinct rows.
#[derive(Debug, Clone, Default, PartialEq)]
struct Rows {
    stored: SparseRows,
    /// Rows by a hash of their entries. Only ever looked up, never walked.
    by_hash: HashMap<u64, Vec<u32>>,
}

impl Rows {
    fn entries(&self, row: u32) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.stored.entries(row as usize)
    }

    fn len(&self) -> usize {
        self.stored.len()
    }

    /// The number of `row`, which is stored if it is new.
    fn intern<R: Row>(&mut self, row: R) -> u32 {
        let entries = || row.entries().filter(|(_, value)| *value != 0.0);
        let hash = SparseRows::hash_of(entries());
        let known = self.by_hash.get(&hash).map_or(&[][..], Vec::as_slice);
        if let Some(&same) = known.iter().find(|&&other| self.entries(other).eq(entries())) {
            return same;
        }
        let number = self.len() as u32;
        self.stored.push_entries(entries());
        self.by_hash.entry(hash).or_default().push(number);
        number
    }
}

impl Survivors {
    pub(super) fn new(n_outputs: usize) -> Self {
        Self { rows: Rows::default(), log: Vec::new(), n_outputs }
    }

    pub(super) fn votes(
        &self,
        ballot: Ballot,
        start: Option<Hyperplanes>,
        width: usize,
        rounds: u64,
    ) -> Votes {
        Votes::new(ballot, start, width, self.n_outputs, rounds, self.rows.clone(), self.log.clone())
    }
}

impl Memory for Survivors {
    fn moved<R: Row>(&mut self, row: R, step: Move, _amount: f64, after: &Linear) {
        let number = if step.amount == 0.0 { NO_ROW } else { self.rows.intern(row) };
        self.log.push(Entry {
            round: step.round,
            output: step.output as u32,
            row: number,
            amount: step.amount,
            keep: step.keep,
            bias: after.bias(step.output),
        });
    }

    fn save<'a>(&'a self, state: &mut State<'a>) {
        let (offsets, indices, values) = self.rows.stored.parts();
        state.u64s("row-offsets", offsets.iter().map(|&offset| offset as u64).collect::<Vec<_>>());
        state.u32s("row-indices", indices);
        state.f64s("row-values", values);
        let rounds: Vec<_> = self.log.iter().map(|entry| entry.round).collect();
        state.u64s("move-rounds", rounds).laid(Layout::Moves(&[ALIKE]));
        let places = self.log.iter().flat_map(|entry| [entry.output, entry.row]);
        state.u32s("move-places", places.collect::<Vec<_>>()).laid(Layout::Moves(&[Part::Output, ALIKE]));
        let steps = self.log.iter().flat_map(|entry| [entry.amount, entry.keep, entry.bias]);
        let parts = Layout::Moves(&[Part::Signed, ALIKE, Part::Signed]);
        state.f64s("move-steps", steps.collect::<Vec<_>>()).laid(parts);
    }

    fn restore(&mut self, state: &mut State<'_>, now: &Linear, rounds: u64) -> Result<(), StateError> {
        let row_offsets = state.take_u64s("row-offsets")?;
        let (row_indices, row_values) = (state.take_u32s("row-indices")?, state.take_f64s("row-values")?);
        let move_rounds = state.take_u64s("move-rounds")?;
        let (places, steps) = (state.take_u32s("move-places")?, state.take_f64s("move-steps")?);
        let (places, steps) = (places.as_chunks::<2>().0, steps.as_chunks::<3>().0);
        if places.len() != move_rounds.len() {
            return Err(refuse("the lists of moves differ in length"));
        }
        let moves = move_rounds.into_iter().zip(places).map(|(round, &[output, row])| (round, output, row));
        let log = Log {
            ballot: Ballot { joint: false, zero: Zero::Random },
            start: None,
            width: now.width(),
            n_outputs: self.n_outputs,
            rounds,
            row_offsets,
            row_indices,
            row_values,
            moves: moves.collect(),
            steps: steps.to_vec(),
        };
        // A log that could vote is one that can be added to.
        let Votes { mut rows, log, .. } = Votes::from_log(log).map_err(refuse)?;
        for row in 0..rows.len() as u32 {
            let hash = SparseRows::hash_of(rows.entries(row));
            rows.by_hash.entry(hash).or_default().push(row);
        }
        (self.rows, self.log) = (rows, log);
        Ok(())
    }
}

/// All survivors of a run, ready to vote.
#[derive(Debug, Clone)]
pub struct Votes {
    ballot: Ballot,
    start: Option<Hyperplanes>,
    width: usize,
    n_outputs: usize,
    rounds: u64,
    rows: Rows,
    log: Vec<Entry>,
    /// The stored rows by feature: which rows have the feature, and with what value. Made for the first row that is asked
    /// about: a vote may be as wide as its file says, and looked at without one.
    columns: OnceLock<Columns>,
}

impl PartialEq for Votes {
    fn eq(&self, other: &Self) -> bool {
        (self.ballot, &self.start, self.rounds, &self.log)
            == (other.ballot, &other.start, other.rounds, &other.log)
            && self.rows == other.rows
    }
}

#[derive(Debug, Clone, Default)]
struct Columns {
    /// The features that occur, ascending, where there may be far more; else a feature is its own place.
    few: Option<Vec<u32>>,
    offsets: Vec<usize>,
    rows: Vec<u32>,
    values: Vec<f64>,
}

/// Uses the list of features that occur when fewer than one in this many do.
const FEW: usize = 64;

impl Columns {
    fn of(rows: &Rows, width: usize) -> Self {
        let (_, indices, _) = rows.stored.parts();
        let few = (width / FEW > indices.len()).then(|| {
            let mut few = indices.to_vec();
            few.sort_unstable();
            few.dedup();
            few
        });
        let n_places = few.as_ref().map_or(width, Vec::len);
        let mut columns = Self { few, ..Self::default() };
        let mut offsets = vec![0; n_places + 1];
        let places = indices.iter().filter_map(|&feature| columns.place(feature as usize));
        places.for_each(|place| offsets[place + 1] += 1);
        for place in 0..n_places {
            offsets[place + 1] += offsets[place];
        }
        let mut next = offsets.clone();
        let (mut stored, mut values) = (vec![0; indices.len()], vec![0.0; indices.len()]);
        for row in 0..rows.len() as u32 {
            for (feature, value) in rows.entries(row) {
                let Some(place) = columns.place(feature) else { continue };
                stored[next[place]] = row;
                values[next[place]] = value;
                next[place] += 1;
            }
        }
        (columns.offsets, columns.rows, columns.values) = (offsets, stored, values);
        columns
    }

    #[inline]
    fn place(&self, feature: usize) -> Option<usize> {
        match &self.few {
            None => Some(feature),
            Some(few) => few.binary_search(&(feature as u32)).ok(),
        }
    }
}

impl Votes {
    fn new(
        ballot: Ballot,
        start: Option<Hyperplanes>,
        width: usize,
        n_outputs: usize,
        rounds: u64,
        rows: Rows,
        log: Vec<Entry>,
    ) -> Self {
        Self { ballot, start, width, n_outputs, rounds, rows, log, columns: OnceLock::new() }
    }

    /// How many features the survivors know.
    pub fn width(&self) -> usize {
        self.width
    }

    /// How many moves there were: one less than the number of survivors of a binary run.
    pub fn n_moves(&self) -> usize {
        self.log.len()
    }

    /// How many distinct rows made them.
    pub fn n_rows(&self) -> usize {
        self.rows.len()
    }

    /// The votes for a row: per output the votes for minus those against, or per class the votes for
    /// it, as the ballot says. `scratch` is room to work in.
    pub fn scores<R: Row>(&self, row: R, votes: &mut [f64], scratch: &mut Vec<f64>) {
        votes.fill(0.0);
        if self.ballot.joint {
            let (mut activations, mut biases) = self.first_scores(row);
            let dots = self.dots(row, scratch);
            self.vote_jointly(dots, &mut activations, &mut biases, votes);
        } else {
            let at_zero = self.ballot.vote_at_zero();
            self.each_vote(row, scratch, |output, score, rounds| {
                votes[output] += (if score == 0.0 { at_zero } else { score.signum() }) * rounds as f64;
            });
        }
    }

    /// The votes for a row, both sides counted: per output for and against it, or per class for it and for
    /// all others, as the ballot says. A survivor that abstains is on neither side.
    pub fn counts<R: Row>(&self, row: R, counts: &mut [[u64; 2]], scratch: &mut Vec<f64>) {
        counts.fill([0; 2]);
        if self.ballot.joint {
            let mut votes = vec![0.0; self.n_outputs];
            self.scores(row, &mut votes, scratch);
            for (vote_count, votes) in counts.iter_mut().zip(votes) {
                *vote_count = [votes as u64, self.rounds - votes as u64];
            }
        } else {
            let at_zero = self.ballot.vote_at_zero();
            self.each_vote(row, scratch, |output, score, rounds| {
                let vote = if score == 0.0 { at_zero } else { score };
                match vote {
                    _ if vote > 0.0 => counts[output][0] += rounds,
                    _ if vote < 0.0 => counts[output][1] += rounds,
                    _ => {}
                }
            });
        }
    }

    /// Shows the score of every survivor of every output, and for how many rounds it lived.
    fn each_vote<R: Row>(&self, row: R, scratch: &mut Vec<f64>, mut vote: impl FnMut(usize, f64, u64)) {
        let (mut activations, mut biases) = self.first_scores(row);
        let dots = self.dots(row, scratch);
        let mut since = vec![1_u64; self.n_outputs];
        for entry in &self.log {
            let k = entry.output as usize;
            vote(k, activations[k] + biases[k], entry.round - since[k]);
            since[k] = entry.round;
            activations[k] = entry.apply(activations[k], dots);
            biases[k] = entry.bias;
        }
        for k in 0..self.n_outputs {
            vote(k, activations[k] + biases[k], self.rounds + 1 - since[k]);
        }
    }

    /// What the hypothesis that the run began with says of a row, and its biases.
    fn first_scores<R: Row>(&self, row: R) -> (Vec<f64>, Vec<f64>) {
        let mut activations = vec![0.0; self.n_outputs];
        let mut biases = vec![0.0; self.n_outputs];
        if let Some(start) = &self.start {
            start.scores(row, &mut activations);
            biases.copy_from_slice(start.biases());
            for (activation, bias) in activations.iter_mut().zip(&biases) {
                *activation -= bias;
            }
        }
        (activations, biases)
    }

    /// The dot product of `row` with every stored row.
    fn dots<'s, R: Row>(&self, row: R, scratch: &'s mut Vec<f64>) -> &'s [f64] {
        scratch.clear();
        scratch.resize(self.rows.len(), 0.0);
        let columns = self.columns.get_or_init(|| Columns::of(&self.rows, self.width));
        let Columns { offsets, rows, values, .. } = columns;
        for (feature, value) in
            row.entries().filter(|(feature, value)| *feature < self.width && *value != 0.0)
        {
            let Some(place) = columns.place(feature) else { continue };
            let column = offsets[place]..offsets[place + 1];
            for (&stored, &stored_value) in rows[column.clone()].iter().zip(&values[column]) {
                scratch[stored as usize] += stored_value * value;
            }
        }
        scratch
    }

    fn vote_jointly(&self, dots: &[f64], activations: &mut [f64], biases: &mut [f64], votes: &mut [f64]) {
        let mut since = 1;
        let names_last = self.ballot.names_last();
        let mut cast = |until: u64, activations: &[f64], biases: &[f64]| {
            let mut best: Option<(usize, f64)> = None;
            for (class, score) in activations.iter().zip(biases).map(|(a, b)| a + b).enumerate() {
                if best.is_none_or(|(_, highest)| score > highest || names_last && score == highest) {
                    best = Some((class, score));
                }
            }
            if let Some((class, _)) = best {
                votes[class] += (until - since) as f64;
            }
            since = until;
        };
        let mut round = 1;
        for entry in &self.log {
            if entry.round > round {
                cast(entry.round, activations, biases);
                round = entry.round;
            }
            let k = entry.output as usize;
            activations[k] = entry.apply(activations[k], dots);
            biases[k] = entry.bias;
        }
        cast(self.rounds + 1, activations, biases);
    }

    /// Shows every survivor with the number of rounds it was the current hypothesis, oldest first.
    /// Rebuilds the weights on the way, so it is for looking, not for predicting.
    pub fn replay(&self, mut show: impl FnMut(&Hyperplanes, u64)) {
        let mut planes = self.start.clone().unwrap_or_else(|| Hyperplanes::zero(self.width, self.n_outputs));
        let mut since = 1;
        for same_round in self.log.chunk_by(|a, b| a.round == b.round) {
            let round = same_round[0].round;
            if round > since {
                show(&planes, round - since);
            }
            since = round;
            let mut weights = planes.raw_weights().to_vec();
            weights.resize(self.width * self.n_outputs, 0.0);
            let mut biases = planes.biases().to_vec();
            for entry in same_round {
                let k = entry.output as usize;
                if entry.keep != 1.0 {
                    weights
                        .iter_mut()
                        .skip(k)
                        .step_by(self.n_outputs)
                        .for_each(|weight| *weight *= entry.keep);
                }
                if entry.row != NO_ROW {
                    for (feature, value) in self.rows.entries(entry.row) {
                        weights[feature * self.n_outputs + k] += entry.amount * value;
                    }
                }
                biases[k] = entry.bias;
            }
            planes = Hyperplanes::from_parts(weights, biases);
        }
        if self.rounds + 1 > since {
            show(&planes, self.rounds + 1 - since);
        }
    }
}

/// The survivors of a run as plain arrays: what a model file holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Log {
    /// How they vote.
    pub ballot: Ballot,
    /// Where the run started, if not from zero.
    pub start: Option<Hyperplanes>,
    /// Features.
    pub width: usize,
    /// Outputs.
    pub n_outputs: usize,
    /// Rounds of the whole run.
    pub rounds: u64,
    /// Where each stored row begins, and the end.
    pub row_offsets: Vec<u64>,
    /// The features of the stored rows.
    pub row_indices: Vec<u32>,
    /// The values of the stored rows.
    pub row_values: Vec<f64>,
    /// Per move: the round, the output and the stored row; [`u32::MAX`] where nothing was added.
    pub moves: Vec<(u64, u32, u32)>,
    /// Per move: how far along the row, how much of the old weights stayed, and the bias after it.
    pub steps: Vec<[f64; 3]>,
}

impl Votes {
    /// The survivors as plain arrays.
    pub fn log(&self) -> Log {
        let (offsets, indices, values) = self.rows.stored.parts();
        Log {
            ballot: self.ballot,
            start: self.start.clone(),
            width: self.width,
            n_outputs: self.n_outputs,
            rounds: self.rounds,
            row_offsets: offsets.iter().map(|&offset| offset as u64).collect(),
            row_indices: indices.to_vec(),
            row_values: values.to_vec(),
            moves: self.log.iter().map(|entry| (entry.round, entry.output, entry.row)).collect(),
            steps: self.log.iter().map(|entry| [entry.amount, entry.keep, entry.bias]).collect(),
        }
    }

    /// Votes from plain arrays, which may come from anywhere; the error says what does not fit.
    pub fn from_log(log: Log) -> Result<Self, &'static str> {
        let Log { ballot, start, width, n_outputs, rounds, row_offsets, row_indices, row_values, .. } = log;
        if n_outputs == 0 {
            return Err("there are no outputs");
        }
        if rounds > MOST_ROUNDS {
            return Err("there were more rounds than are possible");
        }
        if start.as_ref().is_some_and(|start| start.n_outputs() != n_outputs || start.width() > width) {
            return Err("the starting hyperplanes have another shape");
        }
        if log.moves.len() != log.steps.len() {
            return Err("two arrays that belong together differ in length");
        }
        if !row_values.iter().all(|value| value.is_finite()) {
            return Err("a stored row has a value that is not a finite number");
        }
        let offsets = row_offsets.iter().map(|&offset| offset as usize).collect();
        let stored = SparseRows::from_parts(offsets, row_indices, row_values, width)?;
        let n_rows = stored.len();
        let mut before = 1;
        let mut entries = Vec::with_capacity(log.moves.len());
        for (&(round, output, row), &[amount, keep, bias]) in log.moves.iter().zip(&log.steps) {
            if round < before || round > rounds {
                return Err("the rounds of the moves do not ascend");
            }
            if output as usize >= n_outputs || (row != NO_ROW && row as usize >= n_rows) {
                return Err("a move names an output or a row that is not there");
            }
            if ![amount, keep, bias].iter().all(|value| value.is_finite()) {
                return Err("a move is not a finite number");
            }
            before = round;
            entries.push(Entry { round, output, row, amount, keep, bias });
        }
        let rows = Rows { stored, by_hash: HashMap::new() };
        Ok(Self::new(ballot, start, width, n_outputs, rounds, rows, entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::{Dense, Sparse};

    #[test]
    fn a_row_is_stored_once_however_it_comes() {
        let mut rows = Rows::default();
        let first = rows.intern(Dense(&[1.0_f32, 0.0, 2.0]));
        let other = rows.intern(Dense(&[1.0_f32, 0.0, 3.0]));
        let again = rows.intern(Sparse::new(&[0, 2], &[1.0_f64, 2.0]));
        assert_eq!((first, other, again), (0, 1, 0));
        assert_eq!(rows.entries(1).collect::<Vec<_>>(), [(0, 1.0), (2, 3.0)]);
    }
}
