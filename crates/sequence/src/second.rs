//! The search where a label depends on the two before it: the same as in first order, over pairs of labels.

use crate::corpus::Sentence;
use crate::search::{Field, Lattice, lane, reached_at};
use crate::weights::{QUAD, Quad, Shape};

const NEVER: f64 = f64::NEG_INFINITY;

/// Ways to all pairs of labels, token by token: without what the last two steps add, and with it.
struct Ways {
    n: usize,
    quads: usize,
    reached: Vec<Quad>,
    best: Vec<Quad>,
    first: Vec<Quad>,
}

impl Ways {
    fn row<'a>(&self, list: &'a [Quad], token: usize, before: u32) -> &'a [Quad] {
        &list[(token * self.n + before as usize) * self.quads..][..self.quads]
    }

    /// Goes over all tokens. With true labels, the way that is none but the true one does not count; its scores are
    /// given.
    fn go(field: Field<'_>, emissions: &[Quad], sentence: Sentence<'_>, gold: &[u32]) -> (Self, Vec<f64>) {
        let n_tokens = sentence.len();
        let Shape { n_labels: n, .. } = field.weights.shape();
        let quads = field.weights.shape().quads();
        let store = &field.weights.store;
        let emitted = |token: usize| &emissions[token * quads..][..quads];
        let mut first = emitted(0).to_vec();
        for label in 0..n as u32 {
            *lane(&mut first, label) = field.constraints.start(label) + reached_at(emitted(0), label);
        }
        let mut truth = Vec::with_capacity(gold.len());
        if let Some(&label) = gold.first() {
            truth.push(reached_at(&first, label));
            *lane(&mut first, label) = NEVER;
        }
        let room = vec![Quad::default(); n_tokens * n * quads];
        let mut ways = Self { n, quads, reached: room.clone(), best: room, first };
        let mut bridge = Vec::new();
        for token in 1..n_tokens {
            let pairs = field.steps_at(sentence.links(token), &mut bridge);
            for before in 0..n as u32 {
                let mut out = vec![Quad([NEVER; QUAD]); quads];
                if token == 1 {
                    out.fill(Quad([reached_at(&ways.first, before); QUAD]));
                } else {
                    for first in 0..n as u32 {
                        let score = reached_at(ways.row(&ways.best, token - 1, first), before);
                        let row = (first as usize * n + before as usize) * quads;
                        better(&mut out, score, &store.triples[row..][..quads]);
                    }
                }
                if let Some(&label) = gold.get(token)
                    && gold[token - 1] == before
                {
                    let kept = reached_at(&out, label);
                    if token == 1 {
                        out.fill(Quad([truth[0]; QUAD]));
                    } else {
                        let row = (gold[token - 2] as usize * n + before as usize) * quads;
                        better(&mut out, truth[token - 1], &store.triples[row..][..quads]);
                    }
                    *lane(&mut out, label) = kept;
                }
                let at = (token * n + before as usize) * quads;
                let steps = &pairs[before as usize * quads..][..quads];
                for quad in 0..quads {
                    for label in 0..QUAD {
                        let way = out[quad].0[label] + steps[quad].0[label];
                        ways.best[at + quad].0[label] = way + emitted(token)[quad].0[label];
                    }
                }
                ways.reached[at..at + quads].copy_from_slice(&out);
            }
            if let Some(&label) = gold.get(token) {
                let before = gold[token - 1];
                let triple = if token == 1 { 0.0 } else { store.triple(gold[token - 2], before, label) };
                let step = reached_at(&pairs[before as usize * quads..][..quads], label);
                let way = if token == 1 { truth[0] } else { truth[token - 1] + triple };
                truth.push(way + step + reached_at(emitted(token), label));
            }
        }
        (ways, truth)
    }

    /// The best last two labels, and their score. Of those that score the same, the last label decides first.
    fn highest(&self, field: Field<'_>, token: usize) -> ((u32, u32), f64) {
        let mut highest = ((0, 0), NEVER);
        for label in 0..self.n as u32 {
            let end = field.constraints.end(label);
            for before in 0..if token == 0 { 1 } else { self.n as u32 } {
                let score = match token {
                    0 => reached_at(&self.first, label),
                    _ => reached_at(self.row(&self.best, token, before), label),
                };
                if score + end > highest.1 {
                    highest = ((before, label), score + end);
                }
            }
        }
        highest
    }

    fn trace_back(
        &self,
        field: Field<'_>,
        token: usize,
        pair: (u32, u32),
        gold: &[u32],
        path: &mut Vec<u32>,
    ) {
        let (mut before, mut label) = pair;
        path.clear();
        path.resize(token + 1, label);
        if token == 0 {
            return;
        }
        path[token - 1] = before;
        for token in (2..=token).rev() {
            let reached = reached_at(self.row(&self.reached, token, before), label);
            let found = (0..self.n as u32).find(|&first| {
                let score = reached_at(self.row(&self.best, token - 1, first), before);
                score != NEVER && score + field.weights.store.triple(first, before, label) == reached
            });
            let Some(first) = found else {
                // Only the true labels lead here.
                if let Some(gold) = gold.get(..token) {
                    path[..token].copy_from_slice(gold);
                }
                return;
            };
            (before, label) = (first, before);
            path[token - 2] = before;
        }
    }
}

/// The better of what is there and of the way along `steps`.
fn better(out: &mut [Quad], score: f64, steps: &[Quad]) {
    for (out, step) in out.iter_mut().zip(steps) {
        for label in 0..QUAD {
            let way = score + step.0[label];
            out.0[label] = if way > out.0[label] { way } else { out.0[label] };
        }
    }
}

pub(crate) fn tag(lattice: &mut Lattice, field: Field<'_>, sentence: Sentence<'_>) -> f64 {
    let n_tokens = sentence.len();
    let (ways, _) = Ways::go(field, &lattice.emissions, sentence, &[]);
    let (pair, score) = ways.highest(field, n_tokens - 1);
    ways.trace_back(field, n_tokens - 1, pair, &[], &mut lattice.path);
    score
}

pub(crate) fn rival(lattice: &mut Lattice, field: Field<'_>, sentence: Sentence<'_>) -> f64 {
    let (gold, n_tokens) = (sentence.labels, sentence.len());
    let (ways, truth) = Ways::go(field, &lattice.emissions, sentence, gold);
    let (pair, score) = ways.highest(field, n_tokens - 1);
    let margin = (truth[n_tokens - 1] + field.constraints.end(gold[n_tokens - 1])) - score;
    if margin < f64::INFINITY {
        ways.trace_back(field, n_tokens - 1, pair, gold, &mut lattice.path);
    }
    margin
}
