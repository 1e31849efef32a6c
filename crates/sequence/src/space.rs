//! The space of taggers, which the core's training loop drives as any other: a sentence is an example, its margin is how
//! far the true labels lead over the best other ones, and a step goes along what the two differ in.
//!
//! So every rule of the core that steps along an example works here as it is: the perceptron (Collins 2002),
//! passive-aggressive rules (which are MIRA with one rival), AROW with its variances. What a rule gets as the
//! squared length of an example is that of the difference, attributes that both have left out.
//! The space knows the sentences; the loop knows their numbers.

use crate::constraints::Constraints;
use crate::corpus::Corpus;
use crate::saved::{restore_store, save_store};
use crate::search::{Field, Lattice, Search, Violation};
use crate::votes::{Log, Votes};
use crate::weights::{Order, Place, QUAD, Quad, Shape, Store, Weights, flat};
use rosenblatt_core::decision::Problem;
use rosenblatt_core::memory::{Ballot, Kept, Other};
use rosenblatt_core::space::{Move, Outcome, Space};
use rosenblatt_core::state::{Resumable, State, StateError, refuse};
use rosenblatt_core::{
    Average, Decision, Examples, Hypothesis, Random, Readout, Recall, Row, Rule, Sparse, Visits, Zero,
};
use std::borrow::Cow;
use std::sync::Arc;

/// What a tagger is to be, and how it is to learn.
#[derive(Debug, Clone, Default)]
pub struct Design {
    /// Which labels may follow which, in training as later.
    pub constraints: Constraints,
    /// How labels are looked for.
    pub search: Search,
    /// What becomes of a true sequence that a beam has lost.
    pub violation: Violation,
    /// By how much the true labels should lead for every wrong label of a rival beyond the first (Hamming cost); 0 for
    /// the same lead over all.
    pub cost: f64,
}

/// Taggers that learn.
#[derive(Debug, Clone)]
pub struct TaggerSpace {
    design: Design,
    corpus: Arc<Corpus>,
    weights: Weights,
    /// Weights of pairs, or never where a pair is not allowed.
    steps: Vec<Quad>,
    /// A variance beside every weight, for rules that keep them.
    variances: Option<Store>,
    /// Whether the length of differences is wanted.
    measures: bool,
    norm2: f64,
    moves: u64,
    lattice: Lattice,
    /// Which sentence was looked at last, and how its true labels fared.
    sentence: usize,
    margin: f64,
    plain_margin: f64,
    difference: Vec<(Place, f64)>,
    met: Option<Met>,
}

/// What was found in sentences when they were met for the first time, before they were learned from.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Met {
    /// How many sentences are still to be met.
    left: u64,
    /// The number of a sentence whose true labels did not lead, and the labels that did, one sentence after the other.
    wrong: Vec<u32>,
}

impl Met {
    /// Calls `visit` with the true and the found labels of every sentence of `met`, in the order in which those with a
    /// mistake were met, then the others.
    pub fn each(&self, corpus: &Corpus, met: &[u32], mut visit: impl FnMut(&[u32], &[u32])) {
        let mut is_wrong = vec![false; corpus.len()];
        let mut rest = &self.wrong[..];
        while let [sentence, after @ ..] = rest {
            let gold = corpus.sentence(*sentence as usize).labels;
            let Some((found, after)) = after.split_at_checked(gold.len()) else { break };
            visit(gold, found);
            is_wrong[*sentence as usize] = true;
            rest = after;
        }
        for sentence in met.iter().filter(|sentence| !is_wrong[**sentence as usize]) {
            let gold = corpus.sentence(*sentence as usize).labels;
            visit(gold, gold);
        }
    }
}

/// What is remembered of all hypotheses but the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recalled {
    /// Nothing.
    Last,
    /// Their sum, for the mean.
    Mean,
    /// Every step, for a vote.
    Votes,
}

/// What is remembered: how much of each move is missing from the sum of all hypotheses, or every step.
#[derive(Debug, Clone, Default)]
pub struct Past {
    lag: Option<Store>,
    log: Option<Log>,
}

impl Recall for Past {}

impl Past {
    /// Remembers what is asked for, and nothing yet.
    pub fn new(shape: Shape, recalled: Recalled) -> Self {
        Self {
            lag: (recalled == Recalled::Mean).then(|| Store::new(shape, 0.0)),
            log: (recalled == Recalled::Votes).then(Log::default),
        }
    }

    /// What is missing from the sum, in the shape of the weights: labels may have turned up since anything moved.
    fn lag(&self, shape: Shape) -> Option<Cow<'_, Store>> {
        let lag = self.lag.as_ref()?;
        if lag.shape == shape {
            return Some(Cow::Borrowed(lag));
        }
        let mut lag = lag.clone();
        lag.reshape(shape);
        Some(Cow::Owned(lag))
    }
}

impl TaggerSpace {
    /// A tagger of zero weights that learns from the sentences of `corpus`. `rule` is who will move it.
    pub fn new(
        design: Design,
        shape: Shape,
        n_attributes: usize,
        corpus: Arc<Corpus>,
        rule: &dyn Rule,
        keeps_variances: bool,
    ) -> Self {
        Self::starting_from(Weights::zero(shape, n_attributes), design, corpus, rule, keeps_variances)
    }

    /// The same from these weights.
    pub fn starting_from(
        weights: Weights,
        design: Design,
        corpus: Arc<Corpus>,
        rule: &dyn Rule,
        keeps_variances: bool,
    ) -> Self {
        let needs = rule.needs();
        let norm2 =
            weights.store.lists().iter().flat_map(|list| flat(list)).map(|weight| weight * weight).sum();
        let mut space = Self {
            steps: Vec::new(),
            variances: keeps_variances.then(|| Store::new(weights.shape(), 1.0)),
            measures: needs.spread || needs.norm2 || keeps_variances,
            norm2,
            moves: 0,
            lattice: Lattice::default(),
            sentence: 0,
            margin: f64::INFINITY,
            plain_margin: f64::INFINITY,
            difference: Vec::new(),
            met: None,
            design,
            corpus,
            weights,
        };
        space.steps = space.design.constraints.steps(&space.weights.store);
        space
    }

    /// Lends other sentences, of `n_attributes` attributes in all, to learn from.
    pub fn lend(&mut self, corpus: Arc<Corpus>, n_attributes: usize) {
        self.corpus = corpus;
        self.weights.widen(n_attributes);
    }

    /// Takes in more labels, with these constraints from now on.
    pub fn take_in_labels(&mut self, n_labels: usize, constraints: Constraints) {
        let shape = Shape { n_labels, ..self.weights.shape() };
        self.weights.store.reshape(shape);
        if let Some(variances) = &mut self.variances {
            variances.reshape(shape);
        }
        self.design.constraints = constraints;
        self.steps = self.design.constraints.steps(&self.weights.store);
    }

    /// Keeps what is found in the next `n_sentences` sentences before they are learned from. A search that stops early, or
    /// that favours wrong labels, finds something else than a tagger would, and keeps nothing.
    pub fn watch_next(&mut self, n_sentences: u64) {
        let Design { search, violation, cost, .. } = self.design;
        let finds_labels = cost == 0.0 && (search == Search::Exact || violation == Violation::Complete);
        self.met = finds_labels.then(|| Met { left: n_sentences, wrong: Vec::new() });
    }

    /// What was found since then; nothing if it was not kept.
    pub fn met(&self) -> Option<&Met> {
        self.met.as_ref().filter(|met| met.left == 0)
    }

    /// What is left of it, without a copy: the mean of all hypotheses after `rounds` rounds if `past` remembers what that needs, else
    /// the last one, and all of them if they are to vote.
    pub fn finish(self, past: Past, rounds: u64) -> (Weights, Option<Votes>) {
        let mut weights = self.weights;
        if let Some(lag) = past.lag(weights.shape()) {
            average(&mut weights.store, &lag, rounds);
        }
        let votes = past.log.map(|log| Votes::new(weights.shape(), log, rounds));
        (weights, votes)
    }

    /// The sentences, to be visited by the core's loop.
    pub fn examples(&self) -> Numbers {
        Numbers(self.corpus.len())
    }

    /// The weights as they stand.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// The labels that the true ones of the last sentence were compared with.
    pub fn rival(&self) -> &[u32] {
        &self.lattice.path
    }

    /// Calls `visit` with all weights that a step touches, and in which direction.
    #[inline(always)]
    fn each_difference(
        corpus: &Corpus,
        sentence: usize,
        rival: &[u32],
        order: Order,
        mut visit: impl FnMut(Touched, f64),
    ) {
        let sentence = corpus.sentence(sentence);
        let gold = sentence.labels;
        for (token, (&truth, &other)) in gold.iter().zip(rival).enumerate() {
            if truth != other {
                let (attributes, values) = sentence.token(token);
                for (place, &attribute) in attributes.iter().enumerate() {
                    let value = values.get(place).copied().unwrap_or(1.0);
                    visit(Touched::Attribute(attribute, truth, other), value);
                }
            }
            if token >= 1 && (truth, gold[token - 1]) != (other, rival[token - 1]) {
                visit(Touched::Place(Place::Pair(gold[token - 1], truth)), 1.0);
                visit(Touched::Place(Place::Pair(rival[token - 1], other)), -1.0);
                for &attribute in sentence.links(token) {
                    visit(Touched::Link(attribute, gold[token - 1], truth), 1.0);
                    visit(Touched::Link(attribute, rival[token - 1], other), -1.0);
                }
            }
            if order == Order::Second && token >= 2 && gold[token - 2..=token] != rival[token - 2..=token] {
                visit(Touched::Place(Place::Triple(gold[token - 2], gold[token - 1], truth)), 1.0);
                visit(Touched::Place(Place::Triple(rival[token - 2], rival[token - 1], other)), -1.0);
            }
        }
    }

    /// Adds up what the true labels and their rival differ in, weight by weight.
    fn measure(&mut self) {
        let Self { corpus, weights, lattice, difference, .. } = self;
        difference.clear();
        let order = weights.shape().order;
        Self::each_difference(corpus, self.sentence, &lattice.path, order, |touched, value| match touched {
            Touched::Attribute(attribute, truth, other) => {
                let row = weights.row(attribute);
                difference.push((Place::Attribute { label: truth, attribute, row }, value));
                difference.push((Place::Attribute { label: other, attribute, row }, -value));
            }
            Touched::Place(place) => difference.push((place, value)),
            Touched::Link(attribute, before, label) => {
                let number = weights.link(attribute, before, label / QUAD as u32);
                difference.push((Place::Link { before, label, attribute, number }, value));
            }
        });
        // Stable, so that what is added to one weight is added in the order of the sentence.
        difference.sort_by_key(|(place, _)| *place);
        difference.dedup_by(|(place, value), (kept, sum)| {
            let same = place == kept;
            if same {
                *sum += *value;
            }
            same
        });
        difference.retain(|(_, value)| *value != 0.0);
        let (n_rows, n_links) = (self.weights.store.n_rows(), self.weights.links.len());
        if let Some(variances) = &mut self.variances {
            variances.grow(n_rows);
            variances.grow_links(n_links);
        }
    }

    /// The squared length of the difference, by the variances.
    fn length2(&self) -> f64 {
        let mut variances = self.variances.as_ref().map(Reader);
        let mut total = 0.0;
        let (mut features, mut values) = (Vec::new(), Vec::new());
        let group = |place: &Place| match place {
            Place::Attribute { label, .. } => Some(*label),
            _ => None,
        };
        for run in self.difference.chunk_by(|(one, _), (other, _)| group(one) == group(other)) {
            features.clear();
            values.clear();
            features.extend(0..run.len() as u32);
            values.extend(run.iter().map(|(_, value)| *value));
            let row = Sparse::new(&features, &values);
            total += match &mut variances {
                None => row.norm2(),
                Some(variances) => {
                    let scales: Vec<f64> = run.iter().map(|(place, _)| variances.get(*place)).collect();
                    row.sum(|feature, value| scales[feature] * value * value)
                }
            };
        }
        total
    }
}

/// What a step touches.
enum Touched {
    /// An attribute, for the true label and, the other way round, for its rival.
    Attribute(u32, u32, u32),
    /// An attribute, for a label after another one.
    Link(u32, u32, u32),
    Place(Place),
}

/// Reads a store place by place.
struct Reader<'a>(&'a Store);

impl Reader<'_> {
    fn get(&self, place: Place) -> f64 {
        match place {
            Place::Attribute { label, row, .. } => {
                let (quad, lane) = (label as usize / QUAD, label as usize % QUAD);
                self.0.quad(row as usize, quad).0[lane]
            }
            Place::Pair(before, label) => self.0.pair(before, label),
            Place::Triple(first, before, label) => self.0.triple(first, before, label),
            Place::Link { label, number, .. } => self.0.links[number].0[label as usize % QUAD],
        }
    }
}

impl Hypothesis for TaggerSpace {
    fn n_outputs(&self) -> usize {
        1
    }

    fn weights(&self, _output: usize) -> Vec<f64> {
        Vec::new()
    }

    fn bias(&self, _output: usize) -> f64 {
        0.0
    }

    fn norm2(&self, _output: usize) -> f64 {
        self.norm2
    }

    fn moves(&self, _output: usize) -> u64 {
        self.moves
    }
}

impl Space for TaggerSpace {
    type Memory = Past;

    fn block<E: Examples>(&self, _examples: E) -> usize {
        1
    }

    fn prepare<E: Examples>(&mut self, _examples: E, visits: Visits<'_>) {
        if visits.is_empty() {
            return;
        }
        self.sentence = visits.row(0);
        let Self { design, corpus, weights, steps, lattice, .. } = self;
        let Design { constraints, search, violation, cost } = design;
        let field = Field { weights, steps, constraints, search: *search };
        let sentence = corpus.sentence(self.sentence);
        let lead = lattice.rival(field, sentence, *cost, *violation);
        (self.margin, self.plain_margin) = (lead, lead);
        if *cost != 0.0 {
            let wrong = lattice.path.iter().zip(sentence.labels).filter(|(one, other)| one != other).count();
            self.margin = lead + *cost;
            self.plain_margin = lead + *cost * wrong as f64;
        }
        if let Some(met) = self.met.as_mut().filter(|met| met.left > 0) {
            met.left -= 1;
            if lead <= 0.0 {
                met.wrong.push(self.sentence as u32);
                met.wrong.extend(&lattice.path);
            }
        }
        if self.measures && self.margin < f64::INFINITY {
            self.measure();
        }
    }

    fn scores<R: Row>(&self, _place: usize, _row: R, scores: &mut [f64]) {
        scores.fill(self.margin);
    }

    fn spread<R: Row>(&self, _place: usize, _output: usize, _row: R) -> f64 {
        self.length2()
    }

    fn is_still<R: Row>(&self, _row: R) -> bool {
        false
    }

    fn shift<R: Row>(&mut self, _place: usize, _row: R, step: Move, memory: &mut Past) {
        if self.margin == f64::INFINITY {
            return;
        }
        self.moves += 1;
        if let Some(lag) = &mut memory.lag {
            lag.reshape(self.weights.shape());
            lag.reserve(self.weights.n_attributes() + 1);
        }
        if let Some(log) = &mut memory.log {
            log.step(step.round);
        }
        let missed = (step.round - 1) as f64;
        let late = missed * step.amount;
        if self.measures {
            if self.variances.is_none() {
                self.norm2 +=
                    2.0 * step.amount * self.plain_margin + step.amount * step.amount * self.length2();
            }
            let (n_rows, n_links) = (self.weights.store.n_rows(), self.weights.links.len());
            if let Some(lag) = &mut memory.lag {
                lag.grow(n_rows);
                lag.grow_links(n_links);
            }
            for idx in 0..self.difference.len() {
                let (place, value) = self.difference[idx];
                let along = match &self.variances {
                    Some(variances) => value * Reader(variances).get(place),
                    None => value,
                };
                *self.weights.store.at(place) += step.amount * along;
                if let Some(lag) = &mut memory.lag {
                    *lag.at(place) += late * along;
                }
                if let Some(log) = &mut memory.log {
                    log.change(place, step.amount * along);
                }
                if let Some(variances) = &mut self.variances
                    && step.extra != 0.0
                {
                    let variance = variances.at(place);
                    *variance -= step.extra * (*variance * value) * (*variance * value);
                }
                if let Place::Pair(before, label) = place {
                    self.design.constraints.mend(&mut self.steps, &self.weights.store, before, label);
                }
            }
            return;
        }
        let Self { corpus, weights, lattice, design, steps, .. } = self;
        let order = weights.shape().order;
        Self::each_difference(corpus, self.sentence, &lattice.path, order, |touched, value| match touched {
            Touched::Attribute(attribute, truth, other) => {
                let row = weights.row(attribute);
                *weights.store.of_row(row, truth) += step.amount * value;
                *weights.store.of_row(row, other) -= step.amount * value;
                if let Some(lag) = &mut memory.lag {
                    lag.grow(row as usize + 1);
                    *lag.of_row(row, truth) += late * value;
                    *lag.of_row(row, other) -= late * value;
                }
                if let Some(log) = &mut memory.log {
                    log.change(Place::Attribute { label: truth, attribute, row }, step.amount * value);
                    log.change(Place::Attribute { label: other, attribute, row }, -(step.amount * value));
                }
            }
            Touched::Link(attribute, before, label) => {
                let number = weights.link(attribute, before, label / QUAD as u32);
                let place = Place::Link { before, label, attribute, number };
                *weights.store.at(place) += step.amount * value;
                if let Some(lag) = &mut memory.lag {
                    lag.grow_links(number + 1);
                    *lag.at(place) += late * value;
                }
                if let Some(log) = &mut memory.log {
                    log.change(place, step.amount * value);
                }
            }
            Touched::Place(place) => {
                *weights.store.at(place) += step.amount * value;
                if let Some(lag) = &mut memory.lag {
                    *lag.at(place) += late * value;
                }
                if let Some(log) = &mut memory.log {
                    log.change(place, step.amount * value);
                }
                if let Place::Pair(before, label) = place {
                    design.constraints.mend(steps, &weights.store, before, label);
                }
            }
        });
    }

    fn track_norm(&mut self) {
        self.measures = true;
    }

    fn widen(&mut self, _width: usize) {}
}

impl Resumable for TaggerSpace {
    fn save<'a>(&'a self, state: &mut State<'a>) {
        let (left, wrong) = self.met.as_ref().map_or((u64::MAX, &[][..]), |met| (met.left, &met.wrong));
        state.u64s("moves", vec![self.moves, self.norm2.to_bits(), left]);
        state.u32s("met", wrong);
        self.weights.save("weights", state);
        if let Some(variances) = &self.variances {
            save_store(variances, "variances", state);
        }
    }

    fn restore(&mut self, state: &mut State<'_>) -> Result<(), StateError> {
        let [moves, norm2, left] = state.take_counters("moves")?;
        (self.moves, self.norm2) = (moves, f64::from_bits(norm2));
        let wrong = state.take_u32s("met")?;
        let mut rest = &wrong[..];
        while let [sentence, after @ ..] = rest {
            let n_tokens = self.corpus.len().checked_sub(*sentence as usize + 1);
            let n_tokens = n_tokens.map(|_| self.corpus.sentence(*sentence as usize).len());
            let found = n_tokens.and_then(|n_tokens| after.split_at_checked(n_tokens));
            let n_labels = self.weights.shape().n_labels;
            let Some((_, after)) =
                found.filter(|(labels, _)| labels.iter().all(|l| (*l as usize) < n_labels))
            else {
                return Err(refuse("what was found at first does not fit the sentences"));
            };
            rest = after;
        }
        self.met = (left != u64::MAX).then_some(Met { left, wrong });
        let (shape, n_attributes) = (self.weights.shape(), self.weights.n_attributes());
        self.weights = Weights::restore(shape, n_attributes, "weights", state)?;
        if let Some(variances) = &mut self.variances {
            *variances = restore_store(variances.shape, 1.0, "variances", state)?;
            variances.grow(self.weights.store.n_rows());
            variances.grow_links(self.weights.links.len());
        }
        self.steps = self.design.constraints.steps(&self.weights.store);
        Ok(())
    }
}

// Sentences are no rows: see `Tagging`.
impl Other for Weights {}

/// Makes the mean of all hypotheses of the last one and of what it is ahead.
fn average(store: &mut Store, lag: &Store, rounds: u64) {
    if rounds == 0 {
        return;
    }
    store.with(lag, |quad, lag| {
        for (weight, lag) in quad.0.iter_mut().zip(lag.0) {
            *weight = (rounds as f64 * *weight - lag) / rounds as f64;
        }
    });
}

impl Outcome for TaggerSpace {
    fn read(&self, memory: &Past, readout: Readout, _ballot: Ballot, rounds: u64) -> Option<Kept> {
        if readout == Readout::Voted {
            let votes = Votes::new(self.weights.shape(), memory.log.clone()?, rounds);
            return Some(Kept::Other(Arc::new(votes)));
        }
        let mut weights = self.weights.clone();
        match readout {
            Readout::Last => {}
            Readout::Averaged(Average::Post) => {
                let lag = memory.lag(weights.shape())?;
                average(&mut weights.store, &lag, rounds);
            }
            _ => return None,
        }
        Some(Kept::Other(Arc::new(weights)))
    }

    fn save_memory<'a>(&self, memory: &'a Past, state: &mut State<'a>) {
        if let Some(log) = &memory.log {
            log.save(state);
        }
        if let Some(lag) = memory.lag(self.weights.shape()) {
            save_store(&lag, "lag", state);
        }
    }

    fn restore_memory(
        &self,
        memory: &mut Past,
        state: &mut State<'_>,
        rounds: u64,
    ) -> Result<(), StateError> {
        if let Some(log) = &mut memory.log {
            *log = Log::restore(state, self.weights.shape(), rounds)?;
        }
        if let Some(lag) = &mut memory.lag {
            *lag = restore_store(lag.shape, 0.0, "lag", state)?;
        }
        Ok(())
    }

    fn is_finite(&self) -> bool {
        self.weights.is_finite()
    }
}

/// Sentences by their numbers: the loop knows how many there are, and the space knows the rest.
#[derive(Debug, Clone, Copy)]
pub struct Numbers(pub usize);

impl Examples for Numbers {
    type Row = Sparse<'static, f64>;

    fn len(self) -> usize {
        self.0
    }

    fn width(self) -> usize {
        0
    }

    fn row(self, _idx: usize) -> Self::Row {
        Sparse::new(&[], &[])
    }

    fn class(self, _idx: usize) -> u32 {
        0
    }

    fn weight(self, _idx: usize) -> f64 {
        1.0
    }

    fn is_unweighted(self) -> bool {
        true
    }
}

/// Whether the true labels lead: the one question that a sentence poses.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lead;

impl Decision for Lead {
    fn n_classes(&self) -> usize {
        1
    }

    fn n_outputs(&self) -> usize {
        1
    }

    fn problems(&mut self, _class: u32, scores: &[f64], mut visit: impl FnMut(Problem<'_>)) {
        visit(Problem { margin: scores[0], label: 1.0, directions: &[(0, 1.0)], joint: true });
    }

    fn margin(&self, _class: u32, scores: &[f64]) -> f64 {
        scores[0]
    }

    fn decide(&self, scores: &[f64], _zero: Zero, _random: &mut Random) -> Option<u32> {
        (scores[0] > 0.0).then_some(0)
    }
}
