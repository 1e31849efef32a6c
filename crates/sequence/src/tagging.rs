//! Weights at work: the best labels of a sentence, the next best, and how sure each token is.

use crate::constraints::Constraints;
use crate::corpus::Sentence;
use crate::search::{Field, Lattice, Search, reached_at};
use crate::votes::Votes;
use crate::weights::{Order, Quad, Shape, Weights};

const NEVER: f64 = f64::NEG_INFINITY;

/// Weights that tag.
#[derive(Debug, Clone)]
pub struct Tagging {
    weights: Weights,
    constraints: Constraints,
    search: Search,
    steps: Vec<Quad>,
    /// Who decides in place of the weights.
    votes: Option<Votes>,
}

/// A label sequence and its score.
#[derive(Debug, Clone, PartialEq)]
pub struct Tagged {
    /// One label per token.
    pub labels: Vec<u32>,
    /// The sum of all weights that speak for them.
    pub score: f64,
}

impl Tagging {
    /// These weights, under these constraints.
    pub fn new(weights: Weights, constraints: Constraints, search: Search) -> Self {
        let steps = constraints.steps(&weights.store);
        Self { weights, constraints, search, steps, votes: None }
    }

    /// The same where all hypotheses vote, if any are kept; the weights are those of the last.
    #[must_use]
    pub fn voted(self, votes: Option<Votes>) -> Self {
        Self { votes, ..self }
    }

    /// The hypotheses that vote, if they do.
    pub fn votes(&self) -> Option<&Votes> {
        self.votes.as_ref()
    }

    /// The weights.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// Which labels may follow which.
    pub fn constraints(&self) -> &Constraints {
        &self.constraints
    }

    fn field(&self) -> Field<'_> {
        let Self { weights, constraints, search, steps, votes: _ } = self;
        Field { weights, steps, constraints, search: *search }
    }

    /// The best labels of a sentence, in room that is used again.
    pub fn tag<'l>(&self, sentence: Sentence<'_>, lattice: &'l mut Lattice) -> &'l [u32] {
        match &self.votes {
            Some(votes) => lattice.path = votes.tag(sentence, &self.constraints, self.search),
            None => {
                let _ = lattice.tag(self.field(), sentence);
            }
        }
        &lattice.path
    }

    /// The best labels by the weights, without votes, with their score.
    pub fn best(&self, sentence: Sentence<'_>) -> Tagged {
        let mut lattice = Lattice::default();
        let score = lattice.tag(self.field(), sentence);
        Tagged { labels: lattice.path, score }
    }

    /// What each token says for each label, token by token, all labels side by side.
    pub fn emissions(&self, sentence: Sentence<'_>) -> Vec<Vec<f64>> {
        let mut lattice = Lattice::default();
        lattice.emit(&self.weights, sentence);
        let shape = self.weights.shape();
        let rows = lattice.emissions.chunks_exact(shape.quads().max(1)).take(sentence.len());
        rows.map(|row| (0..shape.n_labels as u32).map(|label| reached_at(row, label)).collect()).collect()
    }

    /// What a label adds after those before it: the weight of the pair and, in second order, of the three. What attributes
    /// say of it comes on top.
    pub fn step(&self, before: &[u32], label: u32) -> f64 {
        match *before {
            [] => self.constraints.start(label),
            [.., first, last] if self.weights.shape().order == Order::Second => {
                self.weights.of_triple(first, last, label) + self.pair(&self.steps, last, label)
            }
            [.., last] => self.pair(&self.steps, last, label),
        }
    }

    fn pair(&self, steps: &[Quad], before: u32, label: u32) -> f64 {
        let quads = self.weights.shape().quads();
        reached_at(&steps[before as usize * quads..][..quads], label)
    }

    /// The score of given labels, summed from left to right.
    pub fn score(&self, sentence: Sentence<'_>, labels: &[u32]) -> f64 {
        let emissions = self.emissions(sentence);
        let (mut score, mut room) = (0.0, Vec::new());
        for (token, (emitted, &label)) in emissions.iter().zip(labels).enumerate() {
            let steps = self.field().steps_at(sentence.links(token), &mut room);
            let way = match *labels[..token].as_ref() {
                [] => self.constraints.start(label),
                [.., first, last] if self.weights.shape().order == Order::Second => {
                    (score + self.weights.of_triple(first, last, label)) + self.pair(steps, last, label)
                }
                [.., last] => score + self.pair(steps, last, label),
            };
            score = way + emitted[label as usize];
        }
        score + labels.last().map_or(0.0, |last| self.constraints.end(*last))
    }

    /// The `k` best label sequences, the best first; in first order, of all sequences. Of those that score the same,
    /// the first found comes first.
    pub fn k_best(&self, sentence: Sentence<'_>, k: usize) -> Vec<Tagged> {
        #[derive(Clone, Copy)]
        struct Way {
            score: f64,
            from: (usize, usize),
        }
        let n = self.weights.shape().n_labels;
        let second = self.weights.shape().order == Order::Second;
        // A state is a label, or in second order a label and the one before it.
        let n_states = if second { n * n } else { n };
        let emissions = self.emissions(sentence);
        let mut lists: Vec<Vec<Vec<Way>>> = Vec::with_capacity(emissions.len());
        let mut room = Vec::new();
        for (token, emitted) in emissions.iter().enumerate() {
            let steps = self.field().steps_at(sentence.links(token), &mut room);
            let mut here = vec![Vec::new(); n_states];
            for (state, ways) in here.iter_mut().enumerate() {
                let (before, label) = (state / n, state % n);
                let mut found: Vec<Way> = Vec::new();
                if token == 0 {
                    if before == 0 {
                        found.push(Way { score: self.constraints.start(label as u32), from: (0, 0) });
                    }
                } else {
                    let froms: Vec<usize> = match (second, token) {
                        (false, _) => (0..n).collect(),
                        (true, 1) => vec![before],
                        (true, _) => (0..n).map(|first| first * n + before).collect(),
                    };
                    for from in froms {
                        let last = from % n;
                        let pair = self.pair(steps, last as u32, label as u32);
                        for (rank, way) in lists[token - 1][from].iter().enumerate() {
                            let triple = second && token > 1;
                            let lead = if triple {
                                way.score
                                    + self.weights.of_triple((from / n) as u32, last as u32, label as u32)
                            } else {
                                way.score
                            };
                            found.push(Way { score: lead + pair, from: (from, rank) });
                        }
                    }
                }
                for way in &mut found {
                    way.score += emitted[label];
                    if token + 1 == emissions.len() {
                        way.score += self.constraints.end(label as u32);
                    }
                }
                found.retain(|way| way.score > f64::NEG_INFINITY);
                found.sort_by(|one, other| other.score.total_cmp(&one.score));
                found.truncate(k);
                *ways = found;
            }
            lists.push(here);
        }
        let Some(last) = lists.last() else { return Vec::new() };
        let mut ends: Vec<(f64, usize, usize)> = Vec::new();
        for (state, ways) in last.iter().enumerate() {
            ends.extend(ways.iter().enumerate().map(|(rank, way)| (way.score, state, rank)));
        }
        ends.sort_by(|one, other| other.0.total_cmp(&one.0));
        ends.truncate(k);
        let trace = |&(score, mut state, mut rank): &(f64, usize, usize)| {
            let mut labels = vec![0; lists.len()];
            for token in (0..lists.len()).rev() {
                labels[token] = (state % n) as u32;
                (state, rank) = lists[token][state][rank].from;
            }
            Tagged { labels, score }
        };
        ends.iter().map(trace).collect()
    }

    /// What a label adds after a state: a label, or in second order a label and the one before it.
    fn after_state(&self, steps: &[Quad], token: usize, from: usize, label: usize) -> f64 {
        let Shape { n_labels: n, order } = self.weights.shape();
        let (before, last) = ((from / n) as u32, (from % n) as u32);
        let is_triple = order == Order::Second && token > 1;
        let triple = if is_triple { self.weights.of_triple(before, last, label as u32) } else { 0.0 };
        triple + self.pair(steps, last, label as u32)
    }

    /// The score of the best way to every state of every token.
    fn ahead(&self, sentence: Sentence<'_>, emissions: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let Shape { n_labels: n, order } = self.weights.shape();
        let second = order == Order::Second;
        let n_states = if second { n * n } else { n };
        let mut ahead = vec![vec![NEVER; n_states]; emissions.len()];
        let mut room = Vec::new();
        for (token, emitted) in emissions.iter().enumerate() {
            if token == 0 {
                for label in 0..n {
                    ahead[0][label] = self.constraints.start(label as u32) + emitted[label];
                }
                continue;
            }
            let steps = self.field().steps_at(sentence.links(token), &mut room);
            let (before, here) = ahead.split_at_mut(token);
            for (from, score) in before[token - 1].iter().enumerate().filter(|(_, score)| **score > NEVER) {
                for label in 0..n {
                    let best = &mut here[0][if second { from % n * n + label } else { label }];
                    *best = best.max(score + self.after_state(steps, token, from, label) + emitted[label]);
                }
            }
        }
        ahead
    }

    /// The score of the best way to every label of every token, up to and with what the token says.
    pub fn lattice(&self, sentence: Sentence<'_>) -> Vec<Vec<f64>> {
        let n = self.weights.shape().n_labels;
        let best = |states: Vec<f64>| {
            let mut best = vec![NEVER; n];
            for (state, score) in states.into_iter().enumerate() {
                best[state % n] = best[state % n].max(score);
            }
            best
        };
        self.ahead(sentence, &self.emissions(sentence)).into_iter().map(best).collect()
    }

    /// How far the label of each token leads over the best sequence in which that token has another one. Infinite where
    /// there is no other.
    pub fn leads(&self, sentence: Sentence<'_>, labels: &[u32]) -> Vec<f64> {
        let n = self.weights.shape().n_labels;
        let second = self.weights.shape().order == Order::Second;
        // A state is a label, or in second order a label and the one before it.
        let n_states = if second { n * n } else { n };
        let emissions = self.emissions(sentence);
        let n_tokens = emissions.len();
        let next = |from: usize, label: usize| if second { from % n * n + label } else { label };
        let ahead = self.ahead(sentence, &emissions);
        let mut room = Vec::new();
        let mut after = vec![vec![NEVER; n_states]; n_tokens];
        for token in (0..n_tokens).rev() {
            let links: &[u32] = if token + 1 == n_tokens { &[] } else { sentence.links(token + 1) };
            let steps = self.field().steps_at(links, &mut room);
            for state in 0..n_states {
                after[token][state] = if token + 1 == n_tokens {
                    self.constraints.end((state % n) as u32)
                } else {
                    let way = |label: usize| {
                        let on = emissions[token + 1][label] + after[token + 1][next(state, label)];
                        self.after_state(steps, token + 1, state, label) + on
                    };
                    (0..n).map(way).fold(NEVER, f64::max)
                };
            }
        }
        let lead = |token: usize| {
            let mut best = vec![NEVER; n];
            for state in 0..n_states {
                let total = ahead[token][state] + after[token][state];
                best[state % n] = best[state % n].max(total);
            }
            let label = labels[token] as usize;
            let others = best.iter().enumerate().filter(|(other, _)| *other != label);
            best[label] - others.map(|(_, total)| *total).fold(NEVER, f64::max)
        };
        (0..n_tokens).map(lead).collect()
    }
}
