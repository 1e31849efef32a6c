//! The sum of all hypotheses, at the cost of one extra addition per touched weight.
//!
//! Write the weights after round `t` as `s_t·v_t`, the factor apart, and `C_t = s_1 + … + s_t` (just
//! `t` for rules that never shrink). A change `Δv` made in round `t` is missing from the first `t-1`
//! terms of the sum, so `Σ s_t v_t = C_n·v_n − Σ C_{t-1}·Δv`. Only the second sum is kept, here called
//! the lag. With integer features and no shrinking everything is exact up to 2^53.

use super::{Average, Memory};
use crate::hypothesis::{Hyperplanes, Hypothesis, Linear, Move, Table};
use crate::row::Row;
use crate::state::{COUNTED, SIGNED, State, StateError, wrong_length};

/// The running sum behind an averaged perceptron.
#[derive(Debug, Clone)]
pub struct Averaged {
    /// `Σ C_{t-1}·Δv`, laid out like the weights; without a feature until there is a step.
    lag: Table,
    /// Sums that were closed when a factor was folded into the weights, feature by feature, all outputs side by side;
    /// empty until that happens.
    closed: Vec<f64>,
    outputs: Vec<Clock>,
    /// The epoch with which the sum begins anew.
    from: Option<u64>,
    /// The rounds before those that count.
    skipped: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Clock {
    /// The sum of factors up to and including round `since`.
    scales: f64,
    since: u64,
    /// The sum of biases up to and including round `bias_since`.
    biases: f64,
    bias_since: u64,
}

impl Clock {
    #[inline(always)]
    fn scales_until(&self, round: u64, scale: f64) -> f64 {
        self.scales + scale * rounds(round - self.since)
    }
}

/// A number of rounds as a double. Signed on the way, which is one instruction instead of six; no run
/// reaches 2^63 rounds.
#[inline(always)]
#[expect(clippy::cast_possible_wrap, reason = "rounds are counted one by one")]
fn rounds(n: u64) -> f64 {
    n as i64 as f64
}

impl Averaged {
    /// A sum of all hypotheses, or of those from the epoch `from` on.
    pub(super) fn new(n_outputs: usize, from: Option<u64>) -> Self {
        let (lag, outputs) = (Table::new(0, n_outputs), vec![Clock::default(); n_outputs]);
        Self { lag, closed: Vec::new(), outputs, from, skipped: 0 }
    }

    /// Adds an output after all others, whose hypotheses were zero so far. False if sums were closed, which lie side by side.
    pub(super) fn add_output(&mut self) -> bool {
        let fits = self.closed.is_empty();
        if fits {
            self.lag.add_output();
            self.outputs.push(Clock::default());
        }
        fits
    }

    /// The epoch number `epoch` begins after `rounds` rounds. If it is the first that counts, the sum begins anew: no
    /// change that was made so far is missing from any of its terms.
    pub(super) fn epoch_begins(&mut self, epoch: u64, rounds: u64) {
        if self.from == Some(epoch) {
            self.begin_anew(rounds);
        }
    }

    /// The sum begins anew after `rounds` rounds.
    pub(super) fn begin_anew(&mut self, rounds: u64) {
        let clock = Clock { since: rounds, bias_since: rounds, ..Clock::default() };
        self.outputs.fill(clock);
        self.lag = Table::new(0, self.outputs.len());
        self.closed.clear();
        self.skipped = rounds;
    }

    /// By how much the sum is more than that of as many copies of `start`, which it began from. Exactly zero where nothing
    /// was touched, so that it is as sparse as the steps were.
    pub(super) fn drift(&self, start: Option<&Hyperplanes>, now: &Linear, rounds: u64) -> Hyperplanes {
        let n_outputs = self.outputs.len();
        let at = |values: &[f64], place: usize| values.get(place).copied().unwrap_or(0.0);
        let n = (rounds - self.skipped) as f64;
        let scales: Vec<f64> =
            (0..n_outputs).map(|k| self.outputs[k].scales_until(rounds, now.scale(k))).collect();
        let (weights, lag) = (now.unscaled().compact(), self.lag.compact());
        let weights = weights.iter().enumerate().map(|(place, weight)| {
            let started = start.map_or(0.0, |planes| at(planes.raw_weights(), place));
            (scales[place % n_outputs] * weight - n * started) - at(&lag, place) + at(&self.closed, place)
        });
        let biases = self.outputs.iter().enumerate().map(|(k, clock)| {
            let started = start.map_or(0.0, |planes| planes.biases()[k]);
            clock.biases + now.bias(k) * (rounds - clock.bias_since) as f64 - n * started
        });
        Hyperplanes::from_parts(weights.collect(), biases.collect())
    }

    /// The lag, with room for `width` features, and by how many times the amount of `step` it moves.
    #[inline(always)]
    pub(crate) fn lag(&mut self, step: Move, scale: f64, width: usize) -> (&mut Table, f64) {
        if self.lag.width() < width {
            self.widen(width);
        }
        (&mut self.lag, self.outputs[step.output].scales_until(step.round - 1, scale))
    }

    /// Some outputs among several, whose factors are 1, step along `row`, and the lag with them.
    pub(crate) fn follow<R: Row>(&mut self, row: R, steps: &[Move], weights: &mut Table) {
        let Self { lag, outputs, .. } = self;
        lag.widen(weights.width());
        let amounts = steps.iter().map(|step| {
            let missed = outputs[step.output].scales_until(step.round - 1, 1.0);
            (step.output, [step.amount, missed * step.amount])
        });
        Table::add_to_all([weights, lag], row, amounts);
    }

    /// The bias of the step's output was `bias` in all rounds before the one of `step`.
    #[inline(always)]
    pub(crate) fn leave_bias(&mut self, step: Move, bias: f64) {
        let clock = &mut self.outputs[step.output];
        clock.biases += bias * rounds(step.round - 1 - clock.bias_since);
        clock.bias_since = step.round - 1;
    }

    #[cold]
    fn widen(&mut self, width: usize) {
        self.lag.widen(width);
    }

    /// The mean of the hypotheses that `kind` counts, after `rounds` rounds. `None` if others were summed.
    pub(super) fn mean(
        &self,
        kind: Average,
        start: Option<&Hyperplanes>,
        now: &Linear,
        rounds: u64,
    ) -> Option<Hyperplanes> {
        if self.from != if let Average::From(epoch) = kind { Some(epoch) } else { None } {
            return None;
        }
        let n_outputs = self.outputs.len();
        let last = now.planes();
        if rounds == self.skipped {
            return Some(last);
        }
        let at = |values: &[f64], place: usize| values.get(place).copied().unwrap_or(0.0);
        let scales: Vec<f64> =
            (0..n_outputs).map(|k| self.outputs[k].scales_until(rounds, now.scale(k))).collect();
        let (start_share, last_share, divisor) = match kind {
            Average::Post | Average::Running | Average::From(_) => (0.0, 0.0, (rounds - self.skipped) as f64),
            Average::Pre => (1.0, -1.0, rounds as f64),
            Average::Both => (1.0, 0.0, (rounds + 1) as f64),
        };
        let started = |place: usize| start.map_or(0.0, |planes| at(planes.raw_weights(), place));
        let (weights, lag) = (now.unscaled().compact(), self.lag.compact());
        let weights = weights.iter().enumerate().map(|(place, weight)| {
            let sum = scales[place % n_outputs] * weight - at(&lag, place) + at(&self.closed, place);
            (sum + last_share * last.raw_weights()[place] + start_share * started(place)) / divisor
        });
        let weights = weights.collect();
        let biases = self.outputs.iter().enumerate().map(|(k, clock)| {
            let sum = clock.biases + last.biases()[k] * (rounds - clock.bias_since) as f64;
            let started = start.map_or(0.0, |planes| planes.biases()[k]);
            (sum + last_share * last.biases()[k] + start_share * started) / divisor
        });
        let biases = biases.collect();
        Some(Hyperplanes::from_parts(weights, biases))
    }
}

impl Memory for Averaged {
    fn leaving(&mut self, step: Move, before: &Linear) {
        self.leave_bias(step, before.bias(step.output));
    }

    fn shrinking(&mut self, step: Move, before: &Linear) {
        let clock = &mut self.outputs[step.output];
        clock.scales = clock.scales_until(step.round - 1, before.scale(step.output));
        clock.since = step.round - 1;
    }

    fn folding(&mut self, step: Move, _scale: f64, before: &Linear) {
        let n_outputs = self.outputs.len();
        let weights = before.unscaled();
        self.closed.resize(weights.len(), 0.0);
        self.lag.widen(weights.width());
        let clock = &mut self.outputs[step.output];
        let closed = self.closed.iter_mut().skip(step.output).step_by(n_outputs);
        let columns = weights.column(step.output).zip(self.lag.column_mut(step.output));
        for (closed, (weight, lag)) in closed.zip(columns) {
            *closed += clock.scales * weight - *lag;
            *lag = 0.0;
        }
        clock.scales = 0.0;
    }

    fn moved<R: Row>(&mut self, row: R, step: Move, amount: f64, after: &Linear) {
        let (lag, missed) = self.lag(step, after.scale(step.output), after.width());
        lag.add(row, [(step.output, missed * amount)].into_iter());
    }

    fn save<'a>(&'a self, state: &mut State<'a>) {
        let sums = |part: fn(&Clock) -> f64| self.outputs.iter().map(part).collect::<Vec<_>>();
        let since = |part: fn(&Clock) -> u64| self.outputs.iter().map(part).collect::<Vec<_>>();
        state.f64s("averaged-lag", self.lag.compact()).laid(SIGNED);
        state.f64s("averaged-closed", &self.closed).laid(SIGNED);
        state.f64s("averaged-scales", sums(|clock| clock.scales)).laid(COUNTED);
        state.u64s("averaged-since", since(|clock| clock.since)).laid(COUNTED);
        state.f64s("averaged-biases", sums(|clock| clock.biases)).laid(SIGNED);
        state.u64s("averaged-bias-since", since(|clock| clock.bias_since)).laid(COUNTED);
        state.u64s("averaged-skipped", vec![self.skipped]);
    }

    fn restore(&mut self, state: &mut State<'_>, now: &Linear, rounds: u64) -> Result<(), StateError> {
        let (n_outputs, most) = (self.outputs.len(), now.unscaled().len());
        let mut sums = |name: &'static str| {
            let sums = state.take_f64s(name)?;
            let fits = sums.len() <= most && sums.len().is_multiple_of(n_outputs);
            if fits { Ok(sums) } else { Err(wrong_length(name, most, sums.len())) }
        };
        self.lag = Table::from_compact(&sums("averaged-lag")?, n_outputs);
        self.closed = sums("averaged-closed")?;
        let scales = state.take_n_f64s("averaged-scales", n_outputs)?;
        let since = state.take_n_counters("averaged-since", n_outputs, rounds)?;
        let biases = state.take_n_f64s("averaged-biases", n_outputs)?;
        let bias_since = state.take_n_counters("averaged-bias-since", n_outputs, rounds)?;
        for (k, clock) in self.outputs.iter_mut().enumerate() {
            let (scales, since, biases, bias_since) = (scales[k], since[k], biases[k], bias_since[k]);
            *clock = Clock { scales, since, biases, bias_since };
        }
        self.skipped = state.take_n_counters("averaged-skipped", 1, rounds)?[0];
        Ok(())
    }
}
