//! The mean of all hypotheses by scikit-learn's own recurrence, so that its averaged models can be
//! reproduced to the last bit.
//!
//! scikit-learn does not count rounds; it grows two floating-point numbers `a` and `b` that would be
//! the round number if nothing were rounded, and keeps the bias as a running mean. Prefer
//! [`Averaged`](super::Averaged) unless those bits are what you need. Rules that shrink the weights
//! are not supported: the same recurrence then depends on when factors are folded.

use super::Memory;
use crate::hypothesis::{Hyperplanes, Hypothesis, Linear, Move};
use crate::row::Row;
use crate::state::{COUNTED, Layout, Part, SIGNED, State, StateError, wrong_length};

/// The two growing numbers and the bias of every output.
const MEANS: Layout = Layout::SideBySide(&[Part::Alike(0.0), Part::Alike(1.0), Part::Signed]);

/// scikit-learn's running mean.
#[derive(Debug, Clone)]
pub struct Running {
    lag: Vec<f64>,
    outputs: Vec<Clock>,
}

#[derive(Debug, Clone, Copy)]
struct Clock {
    a: f64,
    b: f64,
    bias: f64,
    done: u64,
}

impl Clock {
    /// Goes through the rounds up to `round`, in which the bias stood still at `bias`.
    fn catch_up(&mut self, round: u64, bias: f64) {
        while self.done < round {
            self.done += 1;
            let t = self.done as f64;
            let share = 1.0 / t;
            if self.done > 1 {
                self.b /= 1.0 - share;
            }
            self.a += share * self.b;
            self.bias += (bias - self.bias) / t;
        }
    }
}

impl Running {
    pub(super) fn new(n_outputs: usize) -> Self {
        Self { lag: Vec::new(), outputs: vec![Clock { a: 0.0, b: 1.0, bias: 0.0, done: 0 }; n_outputs] }
    }

    pub(super) fn mean(&self, now: &Linear, rounds: u64) -> Hyperplanes {
        let n_outputs = self.outputs.len();
        let mut outputs = self.outputs.clone();
        for (k, clock) in outputs.iter_mut().enumerate() {
            clock.catch_up(rounds, now.bias(k));
        }
        let weights = now.unscaled().compact();
        let weights = weights.iter().enumerate().map(|(place, weight)| {
            let Clock { a, b, .. } = outputs[place % n_outputs];
            let lag = self.lag.get(place).copied().unwrap_or(0.0);
            (lag + a * weight) * (1.0 / b)
        });
        let weights = weights.collect();
        Hyperplanes::from_parts(weights, outputs.iter().map(|clock| clock.bias).collect())
    }
}

impl Memory for Running {
    fn leaving(&mut self, step: Move, before: &Linear) {
        self.outputs[step.output].catch_up(step.round - 1, before.bias(step.output));
    }

    fn shrinking(&mut self, _step: Move, _before: &Linear) {
        panic!("the running mean is not for rules that shrink their weights");
    }

    fn moved<R: Row>(&mut self, row: R, step: Move, amount: f64, after: &Linear) {
        self.lag.resize(after.unscaled().len(), 0.0);
        let n_outputs = self.outputs.len();
        let a = self.outputs[step.output].a;
        for (feature, value) in row.entries() {
            self.lag[feature * n_outputs + step.output] += a * value * -amount;
        }
    }

    fn save<'a>(&'a self, state: &mut State<'a>) {
        let numbers: Vec<f64> =
            self.outputs.iter().flat_map(|clock| [clock.a, clock.b, clock.bias]).collect();
        state.f64s("running-lag", &self.lag).laid(SIGNED);
        state.f64s("running-means", numbers).laid(MEANS);
        let done: Vec<_> = self.outputs.iter().map(|clock| clock.done).collect();
        state.u64s("running-done", done).laid(COUNTED);
    }

    fn restore(&mut self, state: &mut State<'_>, now: &Linear, rounds: u64) -> Result<(), StateError> {
        let (n_outputs, most) = (self.outputs.len(), now.unscaled().len());
        self.lag = state.take_f64s("running-lag")?;
        if self.lag.len() > most {
            return Err(wrong_length("running-lag", most, self.lag.len()));
        }
        let numbers = state.take_n_f64s("running-means", 3 * n_outputs)?;
        let done = state.take_n_counters("running-done", n_outputs, rounds)?;
        for (k, clock) in self.outputs.iter_mut().enumerate() {
            let [a, b, bias] = [0, 1, 2].map(|part| numbers[3 * k + part]);
            *clock = Clock { a, b, bias, done: done[k] };
        }
        Ok(())
    }
}
