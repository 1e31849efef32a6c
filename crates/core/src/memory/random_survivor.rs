//! One hypothesis drawn at random, each with a chance proportional to how long it survived.
//!
//! Picking a random moment of training and using the hypothesis alive then is what the mistake bounds
//! speak of after one epoch: its expected error is at most the expected number of mistakes per row.
//! The draw needs no list of survivors: each hypothesis that dies replaces the chosen one with the
//! right probability. All outputs are taken from the same moment.

use super::Memory;
use crate::hypothesis::{Hyperplanes, Hypothesis, Linear, Move};
use crate::random::Random;
use crate::state::{State, StateError, at_most};

const CHOSEN: [&str; 2] = ["chosen-weights", "chosen-biases"];

/// A reservoir for one hypothesis.
#[derive(Debug, Clone)]
pub struct RandomSurvivor {
    random: Random,
    born: u64,
    chosen: Option<Hyperplanes>,
}

impl RandomSurvivor {
    pub(super) fn new(seed: u64) -> Self {
        Self { random: Random::for_purpose(seed, "random survivor"), born: 1, chosen: None }
    }

    /// The chosen hypothesis after `rounds` rounds, the current one having its chance too.
    pub(super) fn chosen(&self, now: &Linear, rounds: u64) -> Hyperplanes {
        let mut settled = self.clone();
        settled.replace(rounds + 1, now);
        settled.chosen.unwrap_or_else(|| now.planes())
    }

    /// `now` was alive from round `born` to the one before `round`.
    fn replace(&mut self, round: u64, now: &Linear) {
        let survived = round - self.born;
        if survived > 0 && self.random.below(round - 1) < survived {
            self.chosen = Some(now.planes());
        }
        self.born = round;
    }
}

impl Memory for RandomSurvivor {
    fn leaving(&mut self, step: Move, before: &Linear) {
        if step.round > self.born || (step.round == 1 && self.chosen.is_none()) {
            self.replace(step.round, before);
        }
    }

    fn save<'a>(&'a self, state: &mut State<'a>) {
        state.u64s("chosen", vec![self.random.state(), self.born]);
        state.planes(CHOSEN, self.chosen.as_ref());
    }

    fn restore(&mut self, state: &mut State<'_>, now: &Linear, rounds: u64) -> Result<(), StateError> {
        let [random, born] = state.take_counters("chosen")?;
        at_most("chosen", born, rounds.saturating_add(1))?;
        (self.random, self.born) = (Random::new(random), born);
        self.chosen = state.take_planes(CHOSEN, now.n_outputs(), now.unscaled().len())?;
        Ok(())
    }
}
