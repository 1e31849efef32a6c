//! The search for label sequences: exact (Viterbi), in a beam, the best one that is not the true one, and the k best.
//!
//! A score is summed from left to right, so that its bits do not depend on how a sequence was found. Adding a number
//! never turns the order of two others round, so the best sequence by these sums is what the search finds, to the bit.
//! Of sequences that score the same, the one whose labels come first wins, the last token deciding first.
//! The sum over the attributes of a token runs in eight lanes, as every sum over a row does in the core.

use crate::constraints::Constraints;
use crate::corpus::Sentence;
use crate::weights::{Order, QUAD, Quad, Shape, Store, Weights};
use rosenblatt_core::{Work, widest};

const NEVER: f64 = f64::NEG_INFINITY;
/// Lanes of a sum over attributes.
const LANES: usize = 8;
/// How many quads of one row are kept in registers.
const WIDE: usize = 8;

/// How labels are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Search {
    /// Among all sequences.
    #[default]
    Exact,
    /// With this many labels of each token kept.
    Beam(usize),
}

/// What becomes of a true sequence that a beam has lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Violation {
    /// The best complete sequence is compared with the true one.
    #[default]
    Complete,
    /// The first tokens, up to the one at which the true labels fell out of the beam (Collins and Roark 2004).
    Early,
    /// The first tokens, up to the one where a wrong sequence leads by most (Huang, Fayong and Guo 2012).
    Max,
}

rosenblatt_core::named!(Violation, "violation",
    "complete" = Self::Complete, "the best complete sequence is compared with the true one";
    "early" = Self::Early, "the tokens up to where the beam lost the true labels";
    "max-violation" or "max" = Self::Max, "the tokens up to where a wrong sequence leads by most";
);

/// Room for a search, used again and again.
#[derive(Debug, Clone, Default)]
pub struct Lattice {
    /// What each token says for each label.
    pub(crate) emissions: Vec<Quad>,
    /// The best way to a label, without what its own token says.
    reached: Vec<Quad>,
    /// The same with it.
    best: Vec<Quad>,
    /// The score of the true labels up to each token.
    gold: Vec<f64>,
    offsets: Vec<usize>,
    /// The lanes of the sum of a token, where a row says where its quads stand.
    lanes: Vec<Quad>,
    /// What labels add after each other at a token whose attributes have a say in it.
    bridge: Vec<Quad>,
    /// The labels that were found.
    pub(crate) path: Vec<u32>,
}

/// What is searched.
#[derive(Clone, Copy)]
pub(crate) struct Field<'a> {
    pub(crate) weights: &'a Weights,
    /// The weights of pairs, or never where a pair is not allowed.
    pub(crate) steps: &'a [Quad],
    pub(crate) constraints: &'a Constraints,
    pub(crate) search: Search,
}

impl<'a> Field<'a> {
    /// What labels add after each other at a token with these links. `room` is for where they say something.
    #[inline(always)]
    pub(crate) fn steps_at<'r>(self, links: &[u32], room: &'r mut Vec<Quad>) -> &'r [Quad]
    where
        'a: 'r,
    {
        if links.is_empty() || !self.weights.links.speak(links) {
            return self.steps;
        }
        self.bridge(links, room);
        room
    }

    #[inline(never)]
    fn bridge(self, links: &[u32], room: &mut Vec<Quad>) {
        room.clear();
        room.extend_from_slice(self.steps);
        let Weights { links: known, store, .. } = self.weights;
        known.add_to(&store.links, links, store.shape.quads(), room);
    }
}

impl Lattice {
    /// Finds the best labels, which are lent, and their score.
    pub(crate) fn tag(&mut self, field: Field<'_>, sentence: Sentence<'_>) -> f64 {
        widest(Tag { lattice: self, field, sentence })
    }

    /// Finds the best labels that are not the true ones, each wrong one counting `cost` more, leaves them in the path, and says
    /// how far the true labels lead, that cost included.
    pub(crate) fn rival(
        &mut self,
        field: Field<'_>,
        sentence: Sentence<'_>,
        cost: f64,
        violation: Violation,
    ) -> f64 {
        widest(FindRival { lattice: self, field, sentence, cost, violation })
    }

    /// What each token says for each label, the labels of a token side by side with room to full quads.
    pub(crate) fn emit(&mut self, weights: &Weights, sentence: Sentence<'_>) {
        widest(Emit { lattice: self, weights, sentence });
    }

    #[inline(always)]
    fn emit_all(&mut self, weights: &Weights, sentence: Sentence<'_>) {
        let quads = weights.shape().quads();
        self.emissions.resize((sentence.len() * quads).max(self.emissions.len()), Quad::default());
        for (token, out) in self.emissions.chunks_exact_mut(quads.max(1)).take(sentence.len()).enumerate() {
            let (attributes, values) = sentence.token(token);
            self.offsets.clear();
            let row = |attribute: &u32| weights.rows.get(*attribute as usize).copied().unwrap_or(0) as usize;
            self.offsets.extend(attributes.iter().map(|attribute| row(attribute) * quads));
            let Store { table, index, .. } = &weights.store;
            let offsets = &self.offsets;
            match (weights.shape().is_wide(), values.is_empty()) {
                (false, true) => sum_rows(offsets, out, |at, _| table[at].0),
                (true, true) => sum_wide_rows(offsets, out, index, table, &mut self.lanes),
                (false, false) => {
                    sum_rows(offsets, out, |at, place| table[at].0.map(|weight| weight * values[place]));
                }
                (true, false) => sum_rows(offsets, out, |at, place| {
                    table[index[at] as usize].0.map(|weight| weight * values[place])
                }),
            }
        }
    }
}

/// The sum of rows: `term` gives four numbers of one of them, by their place in the table and that of the attribute in the
/// token.
#[inline(always)]
fn sum_rows(offsets: &[usize], out: &mut [Quad], term: impl Fn(usize, usize) -> [f64; QUAD]) {
    let (groups, rest) = offsets.as_chunks::<LANES>();
    for (quad, out) in out.iter_mut().enumerate() {
        let mut lanes = [[0.0; QUAD]; LANES];
        for (number, group) in groups.iter().enumerate() {
            for lane in 0..LANES {
                let found = term(group[lane] + quad, number * LANES + lane);
                for label in 0..QUAD {
                    lanes[lane][label] += found[label];
                }
            }
        }
        for (lane, offset) in rest.iter().enumerate() {
            let found = term(offset + quad, groups.len() * LANES + lane);
            for label in 0..QUAD {
                lanes[lane][label] += found[label];
            }
        }
        *out = merged(lanes);
    }
}

/// The same sum of rows that say where their quads stand, row by row: the places of a row are read in one go,
/// and the lanes wait in memory.
#[inline(always)]
fn sum_wide_rows(offsets: &[usize], out: &mut [Quad], index: &[u32], table: &[Quad], lanes: &mut Vec<Quad>) {
    let quads = out.len();
    lanes.clear();
    lanes.resize(LANES * quads, Quad::default());
    for group in offsets.chunks(LANES) {
        for (offset, lane) in group.iter().zip(lanes.chunks_exact_mut(quads)) {
            for (place, sum) in index[*offset..][..quads].iter().zip(lane) {
                for (sum, weight) in sum.0.iter_mut().zip(table[*place as usize].0) {
                    *sum += weight;
                }
            }
        }
    }
    for (quad, out) in out.iter_mut().enumerate() {
        *out = merged(std::array::from_fn(|lane| lanes[lane * quads + quad].0));
    }
}

/// The sum of all lanes.
#[inline(always)]
fn merged([a, b, c, d, e, f, g, h]: [[f64; QUAD]; LANES]) -> Quad {
    let mut sum = Quad::default();
    for label in 0..QUAD {
        let even = (a[label] + e[label]) + (c[label] + g[label]);
        sum.0[label] = even + ((b[label] + f[label]) + (d[label] + h[label]));
    }
    sum
}

struct Emit<'a, 's> {
    lattice: &'a mut Lattice,
    weights: &'a Weights,
    sentence: Sentence<'s>,
}

impl Work for Emit<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.lattice.emit_all(self.weights, self.sentence);
    }
}

struct Tag<'a, 's> {
    lattice: &'a mut Lattice,
    field: Field<'a>,
    sentence: Sentence<'s>,
}

impl Work for Tag<'_, '_> {
    type Output = f64;

    #[inline(always)]
    fn run(self) -> f64 {
        let Self { lattice, field, sentence } = self;
        lattice.path.clear();
        if sentence.is_empty() {
            return 0.0;
        }
        lattice.emit_all(field.weights, sentence);
        if field.weights.shape().order == Order::Second {
            return crate::second::tag(lattice, field, sentence);
        }
        lattice.forward(field, sentence, &[]);
        let last = sentence.len() - 1;
        let (label, score) = lattice.highest(field, last, true);
        lattice.trace_back(field, sentence, (last, label), &[]);
        score
    }
}

struct FindRival<'a, 's> {
    lattice: &'a mut Lattice,
    field: Field<'a>,
    sentence: Sentence<'s>,
    cost: f64,
    violation: Violation,
}

impl Work for FindRival<'_, '_> {
    type Output = f64;

    #[inline(always)]
    fn run(self) -> f64 {
        let Self { lattice, field, sentence, cost, violation } = self;
        let gold = sentence.labels;
        let n_tokens = sentence.len();
        lattice.path.clear();
        if n_tokens == 0 {
            return f64::INFINITY;
        }
        lattice.emit_all(field.weights, sentence);
        if cost != 0.0 {
            lattice.charge(field.weights.shape(), gold, cost);
        }
        if field.weights.shape().order == Order::Second {
            return crate::second::rival(lattice, field, sentence);
        }
        let lost = lattice.forward(field, sentence, gold);
        let margin = |lattice: &Lattice, token: usize, is_end: bool| {
            let end = if is_end { field.constraints.end(gold[token]) } else { 0.0 };
            (lattice.gold[token] + end) - lattice.highest(field, token, is_end).1
        };
        let (token, is_end) = match (violation, lost) {
            (Violation::Early, Some(token)) => (token, false),
            (Violation::Max, _) => {
                let worse = |worst: (usize, f64), token: usize| {
                    let here = margin(lattice, token, token == n_tokens - 1);
                    if here < worst.1 { (token, here) } else { worst }
                };
                let token = (0..n_tokens).fold((0, f64::INFINITY), worse).0;
                (token, token == n_tokens - 1)
            }
            _ => (n_tokens - 1, true),
        };
        let margin = margin(lattice, token, is_end);
        if margin != f64::INFINITY {
            let (label, _) = lattice.highest(field, token, is_end);
            lattice.trace_back(field, sentence, (token, label), gold);
        }
        margin
    }
}

impl Lattice {
    /// Makes every wrong label stronger by `cost`.
    pub(crate) fn charge(&mut self, shape: Shape, gold: &[u32], cost: f64) {
        for (row, gold) in self.emissions.chunks_exact_mut(shape.quads().max(1)).zip(gold) {
            for (place, score) in row.iter_mut().flat_map(|quad| &mut quad.0).enumerate() {
                if place != *gold as usize {
                    *score += cost;
                }
            }
        }
    }

    /// The best ways to all labels of all tokens. With true labels, ways that are none but the true one do not count, and
    /// it returns the token at which those fell out of the beam.
    #[inline(always)]
    fn forward(&mut self, field: Field<'_>, sentence: Sentence<'_>, gold: &[u32]) -> Option<usize> {
        match field.weights.shape().quads() {
            1 => self.forward_by::<1>(field, sentence, gold),
            2 => self.forward_by::<2>(field, sentence, gold),
            3 => self.forward_by::<3>(field, sentence, gold),
            4 => self.forward_by::<4>(field, sentence, gold),
            5 => self.forward_by::<5>(field, sentence, gold),
            6 => self.forward_by::<6>(field, sentence, gold),
            7 => self.forward_by::<7>(field, sentence, gold),
            8 => self.forward_by::<8>(field, sentence, gold),
            _ => self.forward_by::<0>(field, sentence, gold),
        }
    }

    #[inline(always)]
    fn forward_by<const Q: usize>(
        &mut self,
        field: Field<'_>,
        sentence: Sentence<'_>,
        gold: &[u32],
    ) -> Option<usize> {
        let n_tokens = sentence.len();
        let Shape { n_labels, .. } = field.weights.shape();
        let quads = if Q == 0 { field.weights.shape().quads() } else { Q };
        let Self { emissions, reached, best, gold: gold_scores, bridge, .. } = self;
        let room = (n_tokens * quads).max(best.len());
        reached.resize(room, Quad::default());
        best.resize(room, Quad::default());
        gold_scores.clear();
        let mut lost = None;
        for token in 0..n_tokens {
            let emitted = &emissions[token * quads..][..quads];
            let (before, after) = best.split_at_mut(token * quads);
            let (here, reached) = (&mut after[..quads], &mut reached[token * quads..][..quads]);
            let steps = if token == 0 { field.steps } else { field.steps_at(sentence.links(token), bridge) };
            if token == 0 {
                for (place, out) in reached.iter_mut().flat_map(|quad| &mut quad.0).enumerate() {
                    *out = field.constraints.start(place as u32);
                }
            } else {
                let before = &before[(token - 1) * quads..];
                if Q == 0 {
                    step_wide(before, n_labels, steps, reached);
                } else {
                    step::<Q>(before, n_labels, steps, reached);
                }
            }
            let truth = gold.get(token).copied();
            if let Some(truth) = truth {
                let score = if token == 0 {
                    let way = reached_at(reached, truth);
                    *lane(reached, truth) = NEVER;
                    way
                } else {
                    let (previous, was) = (gold[token - 1], gold_scores[token - 1]);
                    let steps = &steps[previous as usize * quads..][..quads];
                    let kept = reached_at(reached, truth);
                    let way = was + reached_at(steps, truth);
                    for (out, step) in reached.iter_mut().zip(steps) {
                        for label in 0..QUAD {
                            let other = was + step.0[label];
                            out.0[label] = if other > out.0[label] { other } else { out.0[label] };
                        }
                    }
                    *lane(reached, truth) = kept;
                    way
                };
                gold_scores.push(score + reached_at(emitted, truth));
            }
            for (quad, out) in here.iter_mut().enumerate() {
                for label in 0..QUAD {
                    out.0[label] = reached[quad].0[label] + emitted[quad].0[label];
                }
            }
            if let Search::Beam(width) = field.search
                && width < n_labels
            {
                let standing = truth.map(|truth| (truth, gold_scores[token]));
                if prune(here, n_labels, width, standing) {
                    lost = lost.or(Some(token));
                }
            }
        }
        lost
    }

    /// The best label of a token and its score, the first if several have it.
    #[inline(always)]
    fn highest(&self, field: Field<'_>, token: usize, is_end: bool) -> (u32, f64) {
        let Shape { n_labels, .. } = field.weights.shape();
        let quads = field.weights.shape().quads();
        let row = &self.best[token * quads..][..quads];
        let mut highest = (0, NEVER);
        for label in 0..n_labels as u32 {
            let end = if is_end { field.constraints.end(label) } else { 0.0 };
            let score = reached_at(row, label) + end;
            if score > highest.1 {
                highest = (label, score);
            }
        }
        highest
    }

    /// Leaves the way to a label in the path.
    #[inline(always)]
    fn trace_back(
        &mut self,
        field: Field<'_>,
        sentence: Sentence<'_>,
        (token, label): (usize, u32),
        gold: &[u32],
    ) {
        let Shape { n_labels, .. } = field.weights.shape();
        let quads = field.weights.shape().quads();
        self.path.clear();
        self.path.resize(token + 1, label);
        let mut label = label;
        for token in (1..=token).rev() {
            let reached = reached_at(&self.reached[token * quads..][..quads], label);
            let before = &self.best[(token - 1) * quads..][..quads];
            let steps = field.steps_at(sentence.links(token), &mut self.bridge);
            let step = |from: u32| reached_at(&steps[from as usize * quads..][..quads], label);
            let found = (0..n_labels as u32).find(|&from| {
                let score = reached_at(before, from);
                score != NEVER && score + step(from) == reached
            });
            let Some(from) = found else {
                // Only the true labels lead here.
                if let Some(gold) = gold.get(..token) {
                    self.path[..token].copy_from_slice(gold);
                }
                return;
            };
            label = from;
            self.path[token - 1] = label;
        }
    }
}

/// Cuts a row down to the `width` best labels, the true one among them as far as it stands. Says whether it was cut.
fn prune(row: &mut [Quad], n_labels: usize, width: usize, truth: Option<(u32, f64)>) -> bool {
    let score = |row: &[Quad], label: u32| {
        let score = reached_at(row, label);
        truth.map_or(score, |(truth, stands)| if truth == label { score.max(stands) } else { score })
    };
    let mut ranked: Vec<(f64, u32)> = (0..n_labels as u32).map(|label| (score(row, label), label)).collect();
    ranked.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    let mut is_cut = false;
    for &(_, label) in &ranked[width.max(1)..] {
        *lane(row, label) = NEVER;
        is_cut |= truth.is_some_and(|(truth, _)| truth == label);
    }
    is_cut
}

#[inline(always)]
pub(crate) fn reached_at(row: &[Quad], label: u32) -> f64 {
    row[label as usize / QUAD].0[label as usize % QUAD]
}

#[inline(always)]
pub(crate) fn lane(row: &mut [Quad], label: u32) -> &mut f64 {
    &mut row[label as usize / QUAD].0[label as usize % QUAD]
}

/// The better of what is there and of the way along `steps`.
#[inline(always)]
fn better(best: &mut [f64; QUAD], score: f64, steps: [f64; QUAD]) {
    for (best, step) in best.iter_mut().zip(steps) {
        let way = score + step;
        *best = if way > *best { way } else { *best };
    }
}

/// The best way to each label over all labels before it.
#[inline(always)]
fn step<const Q: usize>(before: &[Quad], n_labels: usize, steps: &[Quad], out: &mut [Quad]) {
    let mut best = [[NEVER; QUAD]; Q];
    for (from, row) in steps.chunks_exact(Q).take(n_labels).enumerate() {
        let score = before[from / QUAD].0[from % QUAD];
        for quad in 0..Q {
            better(&mut best[quad], score, row[quad].0);
        }
    }
    for (out, best) in out.iter_mut().zip(best) {
        *out = Quad(best);
    }
}

/// The same for many labels.
#[inline(always)]
pub(crate) fn step_wide(before: &[Quad], n_labels: usize, steps: &[Quad], out: &mut [Quad]) {
    let quads = out.len();
    for (number, out) in out.chunks_mut(WIDE).enumerate() {
        let part = (number * WIDE, quads);
        match out.len() {
            1 => step_part::<1>(before, n_labels, steps, part, out),
            2 => step_part::<2>(before, n_labels, steps, part, out),
            3 => step_part::<3>(before, n_labels, steps, part, out),
            4 => step_part::<4>(before, n_labels, steps, part, out),
            5 => step_part::<5>(before, n_labels, steps, part, out),
            6 => step_part::<6>(before, n_labels, steps, part, out),
            7 => step_part::<7>(before, n_labels, steps, part, out),
            _ => step_part::<WIDE>(before, n_labels, steps, part, out),
        }
    }
}

/// The same for the `P` quads of each row that begin at a place in it.
#[inline(always)]
fn step_part<const P: usize>(
    before: &[Quad],
    n_labels: usize,
    steps: &[Quad],
    (begin, quads): (usize, usize),
    out: &mut [Quad],
) {
    let mut best = [[NEVER; QUAD]; P];
    for (from, row) in steps.chunks_exact(quads).take(n_labels).enumerate() {
        let score = before[from / QUAD].0[from % QUAD];
        let row = &row[begin..][..P];
        for part in 0..P {
            better(&mut best[part], score, row[part].0);
        }
    }
    for (out, best) in out.iter_mut().zip(best) {
        *out = Quad(best);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rosenblatt_core::Random;

    fn numbers(random: &mut Random, n: usize) -> Vec<Quad> {
        let number = |random: &mut Random| {
            [0.0, -0.0, random.unit() - 0.5, 1e9 * random.unit()][random.below(4) as usize]
        };
        (0..n).map(|_| Quad(std::array::from_fn(|_| number(random)))).collect()
    }

    fn bits(quads: &[Quad]) -> Vec<u64> {
        quads.iter().flat_map(|quad| quad.0).map(f64::to_bits).collect()
    }

    #[test]
    fn rows_that_say_where_their_quads_stand_have_the_sum_of_others_to_the_bit() {
        let mut random = Random::new(3);
        for problem in 0..200 {
            let (quads, n_rows) = (8 + problem % 20, problem % 37);
            let table = numbers(&mut random, 50);
            let index: Vec<u32> = (0..quads * 12).map(|_| random.below(50) as u32).collect();
            let offsets: Vec<usize> = (0..n_rows).map(|_| quads * random.below(12) as usize).collect();
            let (mut one, mut other) = (vec![Quad::default(); quads], vec![Quad::default(); quads]);
            sum_rows(&offsets, &mut one, |at, _| table[index[at] as usize].0);
            // The room is what another token left.
            let mut room = numbers(&mut random, 7);
            sum_wide_rows(&offsets, &mut other, &index, &table, &mut room);
            assert_eq!(bits(&one), bits(&other), "problem {problem}");
        }
    }

    #[test]
    fn the_best_way_to_many_labels_is_the_best_one_by_one() {
        let mut random = Random::new(5);
        for n_labels in 1..100_usize {
            let quads = n_labels.div_ceil(QUAD);
            let before = numbers(&mut random, quads);
            let steps = numbers(&mut random, quads * n_labels);
            let mut plain = vec![Quad([NEVER; QUAD]); quads];
            for from in 0..n_labels {
                for (out, step) in plain.iter_mut().zip(&steps[from * quads..]) {
                    better(&mut out.0, reached_at(&before, from as u32), step.0);
                }
            }
            let mut found = vec![Quad::default(); quads];
            step_wide(&before, n_labels, &steps, &mut found);
            assert_eq!(bits(&found), bits(&plain), "{n_labels} labels");
        }
    }
}
