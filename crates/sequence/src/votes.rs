//! All hypotheses of a short training, ready to vote.
//!
//! Every hypothesis finds its own best labels, and they have as many votes as the rounds it survived. Of all sequences that
//! are allowed, the one whose labels gather the most votes, token by token, is elected; of equals, the one that a search
//! finds. Steps are kept, not hypotheses: of each, a sentence needs only what moved the weights of its own attributes, and where
//! nothing of that did, the vote is that of the hypothesis before.

use crate::constraints::Constraints;
use crate::corpus::{Corpus, Sentence};
use crate::search::{Field, Lattice, Search};
use crate::tagging::Tagging;
use crate::weights::{Order, Place, QUAD, Quad, Shape, Weights};
use rosenblatt_core::memory::Other;
use rosenblatt_core::state::{State, StateError, refuse};

/// What is not there.
const NONE: u32 = u32::MAX;

/// How far a step moved one weight.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Change {
    step: u32,
    /// The weight: an attribute, the labels before it and the label, as far as they have a part in it.
    attribute: u32,
    first: u32,
    before: u32,
    label: u32,
    amount: f64,
}

/// The steps of a training, in their order.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Log {
    /// The round of each.
    rounds: Vec<u64>,
    changes: Vec<Change>,
}

impl Log {
    /// A step in this round, whose changes follow.
    pub(crate) fn step(&mut self, round: u64) {
        self.rounds.push(round);
    }

    pub(crate) fn change(&mut self, place: Place, amount: f64) {
        let (attribute, first, before, label) = match place {
            Place::Attribute { label, attribute, .. } => (attribute, NONE, NONE, label),
            Place::Pair(before, label) => (NONE, NONE, before, label),
            Place::Triple(first, before, label) => (NONE, first, before, label),
            Place::Link { before, label, attribute, .. } => (attribute, NONE, before, label),
        };
        let step = self.rounds.len() as u32 - 1;
        self.changes.push(Change { step, attribute, first, before, label, amount });
    }

    pub(crate) fn save(&self, state: &mut State<'_>) {
        let (rounds, places, amounts) = self.lists();
        state.u64s("vote-rounds", rounds);
        state.u32s("vote-places", places);
        state.f64s("vote-amounts", amounts);
    }

    pub(crate) fn restore(state: &mut State<'_>, shape: Shape, n_rounds: u64) -> Result<Self, StateError> {
        let (rounds, places) = (state.take_u64s("vote-rounds")?, state.take_u32s("vote-places")?);
        let log = Self::of_lists(rounds, &places, &state.take_f64s("vote-amounts")?, shape, n_rounds);
        log.ok_or_else(|| refuse("the steps of those that vote do not fit"))
    }

    fn lists(&self) -> (Vec<u64>, Vec<u32>, Vec<f64>) {
        let place = |c: &Change| [c.step, c.attribute, c.first, c.before, c.label];
        let places = self.changes.iter().flat_map(place).collect();
        (self.rounds.clone(), places, self.changes.iter().map(|change| change.amount).collect())
    }

    /// The same the other way round, of a training that has come so far. Nothing if it does not fit.
    fn of_lists(
        rounds: Vec<u64>,
        places: &[u32],
        amounts: &[f64],
        shape: Shape,
        n_rounds: u64,
    ) -> Option<Self> {
        let (places, rest) = places.as_chunks::<5>();
        let change = |(&[step, attribute, first, before, label], &amount): (&[u32; 5], &f64)| Change {
            step,
            attribute,
            first,
            before,
            label,
            amount,
        };
        let changes: Vec<Change> = places.iter().zip(amounts).map(change).collect();
        let is_label = |label: u32| (label as usize) < shape.n_labels;
        let is_place = |change: &Change| {
            let Change { step, attribute, first, before, label, amount } = *change;
            let has_weight = match (attribute, first, before) {
                (NONE, NONE, before) => is_label(before),
                (NONE, first, before) => shape.has_triples() && is_label(first) && is_label(before),
                (_, NONE, before) => before == NONE || is_label(before),
                _ => false,
            };
            has_weight && is_label(label) && (step as usize) < rounds.len() && amount.is_finite()
        };
        let fits = rest.is_empty()
            && places.len() == amounts.len()
            && rounds.first().is_none_or(|first| *first > 0)
            && rounds.last().is_none_or(|last| *last <= n_rounds)
            && rounds.is_sorted_by(|one, other| one < other)
            && changes.is_sorted_by_key(|change| change.step)
            && changes.iter().all(is_place);
        fits.then_some(Self { rounds, changes })
    }
}

/// All hypotheses of a training that began at zero.
#[derive(Debug, Clone, PartialEq)]
pub struct Votes {
    shape: Shape,
    /// All rounds.
    n_rounds: u64,
    log: Log,
    /// Places in the log, by attribute and then as they stand there; what belongs to no attribute comes after
    /// all others.
    order: Vec<u32>,
}

impl Votes {
    pub(crate) fn new(shape: Shape, log: Log, n_rounds: u64) -> Self {
        let mut order: Vec<u32> = (0..log.changes.len() as u32).collect();
        order.sort_by_key(|place| log.changes[*place as usize].attribute);
        Self { shape, n_rounds, log, order }
    }

    /// As many as there were steps, and one.
    pub fn len(&self) -> usize {
        self.log.rounds.len() + 1
    }

    /// Whether there are none, which never is.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Everything as lists: rounds; five numbers for every change of a weight; and how far it moved.
    pub fn lists(&self) -> (Vec<u64>, Vec<u32>, Vec<f64>) {
        self.log.lists()
    }

    /// The same the other way round. Nothing if it does not fit.
    pub fn of_lists(
        shape: Shape,
        n_rounds: u64,
        rounds: Vec<u64>,
        places: &[u32],
        amounts: &[f64],
    ) -> Option<Self> {
        let log = Log::of_lists(rounds, places, amounts, shape, n_rounds)?;
        Some(Self::new(shape, log, n_rounds))
    }

    /// Whether weights of an attribute ever moved.
    pub fn moved(&self, attribute: u32) -> bool {
        !self.of(attribute).is_empty()
    }

    /// The same steps where attributes have other numbers.
    #[must_use]
    pub fn renumbered(&self, number: impl Fn(u32) -> u32) -> Self {
        let mut log = self.log.clone();
        for change in log.changes.iter_mut().filter(|change| change.attribute != NONE) {
            change.attribute = number(change.attribute);
        }
        Self::new(self.shape, log, self.n_rounds)
    }

    /// The largest number of an attribute.
    pub fn last_attribute(&self) -> Option<u32> {
        let attributes = self.log.changes.iter().map(|change| change.attribute);
        attributes.filter(|attribute| *attribute != NONE).max()
    }

    /// Which steps moved weights of an attribute.
    fn of(&self, attribute: u32) -> &[u32] {
        let of = |place: &u32| self.log.changes[*place as usize].attribute;
        let from = self.order.partition_point(|place| of(place) < attribute);
        let to = self.order.partition_point(|place| of(place) <= attribute);
        &self.order[from..to]
    }

    /// The elected labels of a sentence.
    pub fn tag(&self, sentence: Sentence<'_>, constraints: &Constraints, search: Search) -> Vec<u32> {
        let n_tokens = sentence.len();
        let attributes =
            (0..n_tokens).flat_map(|token| sentence.token(token).0.iter().chain(sentence.links(token)));
        let mut known: Vec<u32> = attributes.copied().collect();
        known.sort_unstable();
        known.dedup();
        let number = |attribute: u32| known.partition_point(|other| *other < attribute) as u32;
        let mut own = Corpus::default();
        for token in 0..n_tokens {
            let (attributes, values) = sentence.token(token);
            for (place, attribute) in attributes.iter().enumerate() {
                own.push_attribute(number(*attribute), values.get(place).copied().unwrap_or(1.0));
            }
            sentence.links(token).iter().for_each(|attribute| own.push_link(number(*attribute)));
            own.end_token();
        }
        own.end_sentence();
        let mut places: Vec<u32> = known.iter().flat_map(|attribute| self.of(*attribute)).copied().collect();
        places.extend(self.of(NONE));
        places.sort_unstable();
        let changes = places.iter().map(|place| &self.log.changes[*place as usize]);
        let changes: Vec<&Change> = changes.collect();
        let mut weights = Weights::zero(self.shape, known.len());
        let mut steps = constraints.steps(&weights.store);
        let mut lattice = Lattice::default();
        let mut votes = vec![vec![0.0; self.shape.n_labels]; n_tokens];
        let mut cast = |weights: &Weights, steps: &[Quad], n_votes: u64| {
            if n_votes == 0 {
                return;
            }
            let field = Field { weights, steps, constraints, search };
            let _ = lattice.tag(field, own.sentence(0));
            for (votes, label) in votes.iter_mut().zip(&lattice.path) {
                votes[*label as usize] += n_votes as f64;
            }
        };
        let mut since = 1;
        for step in changes.chunk_by(|one, other| one.step == other.step) {
            let round = self.log.rounds[step[0].step as usize];
            cast(&weights, &steps, round - since);
            since = round;
            for change in step {
                let Change { attribute, first, before, label, amount, .. } = **change;
                let place = match (attribute, first, before) {
                    (NONE, NONE, before) => Place::Pair(before, label),
                    (NONE, first, before) => Place::Triple(first, before, label),
                    (attribute, _, NONE) => {
                        let attribute = number(attribute);
                        Place::Attribute { label, attribute, row: weights.row(attribute) }
                    }
                    (attribute, _, before) => {
                        let attribute = number(attribute);
                        let number = weights.link(attribute, before, label / QUAD as u32);
                        Place::Link { before, label, attribute, number }
                    }
                };
                *weights.store.at(place) += amount;
                if let Place::Pair(before, label) = place {
                    constraints.mend(&mut steps, &weights.store, before, label);
                }
            }
        }
        cast(&weights, &steps, self.n_rounds - (since - 1));
        elect(&votes, self.shape, constraints)
    }
}

/// The allowed labels that gather the most votes: a search in which votes are all that a token says.
fn elect(votes: &[Vec<f64>], shape: Shape, constraints: &Constraints) -> Vec<u32> {
    let mut weights = Weights::zero(Shape { order: Order::First, ..shape }, votes.len());
    let mut ballot = Corpus::default();
    for (token, votes) in (0..).zip(votes) {
        ballot.push_attribute(token, 1.0);
        ballot.end_token();
        for (label, votes) in (0..).zip(votes) {
            weights.set_attribute(token, label, *votes);
        }
    }
    ballot.end_sentence();
    Tagging::new(weights, constraints.clone(), Search::Exact).best(ballot.sentence(0)).labels
}

// Sentences are no rows: see `Votes::tag`.
impl Other for Votes {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_that_are_not_of_the_training_are_refused_and_the_last_round_is_counted() {
        let shape = Shape { n_labels: 2, order: Order::First };
        let places: Vec<u32> = (0..2).flat_map(|step| [step, 0, NONE, NONE, 1 - step]).collect();
        let of = |rounds: &[u64], n_rounds| {
            Votes::of_lists(shape, n_rounds, rounds.to_vec(), &places, &[1.0, 2.0])
        };
        for (rounds, n_rounds) in [([2, 5], 4), ([0, 1], 4), ([3, 2], 4), ([3, 3], 4), ([1, u64::MAX], 4)] {
            assert_eq!(of(&rounds, n_rounds), None, "{rounds:?} of {n_rounds}");
            let mut state = State::default();
            state.u64s("vote-rounds", rounds.to_vec());
            state.u32s("vote-places", places.clone());
            state.f64s("vote-amounts", vec![1.0, 2.0]);
            assert!(Log::restore(&mut state, shape, n_rounds).is_err(), "{rounds:?} of {n_rounds}");
        }
        let mut corpus = Corpus::default();
        corpus.push_attribute(0, 1.0);
        corpus.end_token();
        corpus.end_sentence();
        let tag = |rounds: &[u64], n_rounds| {
            of(rounds, n_rounds).unwrap().tag(corpus.sentence(0), &Constraints::default(), Search::Exact)
        };
        // The second label from the first step on, the first one from the second on.
        assert_eq!((tag(&[1, 4], 4), tag(&[1, 3], 6)), (vec![1], vec![0]));
        assert_eq!((tag(&[1, 2], u64::MAX), tag(&[1, u64::MAX], u64::MAX)), (vec![0], vec![1]));
    }
}
