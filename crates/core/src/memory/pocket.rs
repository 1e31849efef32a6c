//! The pocket: the hypothesis with the longest run of right answers, kept while the run goes on.
//!
//! For data that no hyperplane separates (Gallant 1990). With the ratchet a hypothesis enters the
//! pocket only if it also makes fewer errors on all training rows; that version reaches a hyperplane
//! with the fewest possible errors in finitely many steps when rows are drawn at random (Muselli
//! 1997). The number of steps is unknown: finding that hyperplane is NP-hard.

use super::{Memory, Ratchet};
use crate::hypothesis::{Hyperplanes, Hypothesis, Linear, Move};
use crate::state::{State, StateError, at_most};

const BEST: [&str; 2] = ["pocket-weights", "pocket-biases"];
const CANDIDATE: [&str; 2] = ["candidate-weights", "candidate-biases"];

/// The best hypothesis so far.
#[derive(Debug, Clone)]
pub struct Pocket {
    ratchet: Ratchet,
    /// The round in which the current hypothesis was made; 0 for the first.
    born: u64,
    best: Option<Hyperplanes>,
    best_run: u64,
    best_errors: f64,
    candidate: Option<(Hyperplanes, u64)>,
}

impl Pocket {
    pub(super) fn new(ratchet: Ratchet) -> Self {
        Self { ratchet, born: 0, best: None, best_run: 0, best_errors: f64::INFINITY, candidate: None }
    }

    /// The hypothesis in the pocket; the current one if none ever got a row right.
    pub(super) fn best(&self, now: &Linear, rounds: u64) -> Hyperplanes {
        let without_ratchet = self.ratchet == Ratchet::Off && rounds - self.born > self.best_run;
        match &self.best {
            Some(best) if !without_ratchet => best.clone(),
            _ => now.planes(),
        }
    }

    /// The hypothesis `now` did well up to the round before `round`: is it better than the pocket's?
    pub(super) fn consider(&mut self, round: u64, now: &Linear) {
        let run = (round - 1).saturating_sub(self.born);
        // The ratchet starts from the first hypothesis, so that no later pocket is worse than any before.
        let first = self.ratchet == Ratchet::On && self.best.is_none();
        if run <= self.best_run && !first {
            return;
        }
        match self.ratchet {
            Ratchet::Off => (self.best, self.best_run) = (Some(now.planes()), run),
            Ratchet::On => self.candidate = Some((now.planes(), run)),
        }
    }

    pub(super) fn has_ratchet(&self) -> bool {
        self.ratchet == Ratchet::On
    }

    pub(super) fn candidate(&self) -> Option<&Hyperplanes> {
        self.candidate.as_ref().map(|(planes, _)| planes)
    }

    pub(super) fn judge(&mut self, errors: f64) {
        if let Some((planes, run)) = self.candidate.take()
            && errors < self.best_errors
        {
            self.best = Some(planes);
            self.best_run = run;
            self.best_errors = errors;
        }
    }
}

impl Memory for Pocket {
    fn leaving(&mut self, step: Move, before: &Linear) {
        // Several outputs may move in one round; the hypothesis as a whole dies once.
        if step.round > self.born {
            self.consider(step.round, before);
            self.born = step.round;
        }
    }

    fn save<'a>(&'a self, state: &mut State<'a>) {
        // A batch that has just settled may leave a candidate that is judged at the next move.
        let waiting = self.candidate.as_ref();
        let waited = waiting.map_or(0, |(_, run)| *run);
        state.u64s("pocket-counts", vec![self.born, self.best_run, self.best_errors.to_bits(), waited]);
        state.planes(BEST, self.best.as_ref());
        state.planes(CANDIDATE, waiting.map(|(planes, _)| planes));
    }

    fn restore(&mut self, state: &mut State<'_>, now: &Linear, rounds: u64) -> Result<(), StateError> {
        let (waited, errors);
        [self.born, self.best_run, errors, waited] = state.take_counters("pocket-counts")?;
        self.best_errors = f64::from_bits(errors);
        at_most("pocket-counts", self.born, rounds)?;
        let (n_outputs, most) = (now.n_outputs(), now.unscaled().len());
        self.best = state.take_planes(BEST, n_outputs, most)?;
        self.candidate = state.take_planes(CANDIDATE, n_outputs, most)?.map(|planes| (planes, waited));
        Ok(())
    }
}
