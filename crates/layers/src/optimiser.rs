//! The table of optimisers: how far each weight goes along its slope.

use rosenblatt_core::Schedule;

/// How weights go along their slopes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Optimiser {
    /// Every weight has a pace of its own, from the mean and the mean square of its slopes.
    #[default]
    Adam,
    /// Along the slope, with a memory of earlier steps.
    Sgd,
}

rosenblatt_core::named!(Optimiser, "optimiser",
    "adam" = Self::Adam, "each weight at its own pace (Kingma and Ba 2015); needs little care";
    "sgd" or "momentum" = Self::Sgd, "stochastic gradient descent with momentum; wants its rate chosen well";
);

/// The numbers that an optimiser goes by.
#[derive(Debug, Clone)]
pub struct Pace {
    /// Which one.
    pub optimiser: Optimiser,
    /// The learning rate of step number `k`.
    pub rate: Schedule,
    /// `sgd`: how much of the last step is made again.
    pub momentum: f64,
    /// `sgd`: whether the slope counts as if that had been done before (Nesterov).
    pub nesterov: bool,
    /// `adam`: how much of the mean of slopes, and of their squares, is kept.
    pub betas: [f64; 2],
    /// `adam`: what is added to the root of the mean square.
    pub epsilon: f64,
    /// How much weights are drawn to zero.
    pub decay: f64,
    /// `sgd`: the rate is divided by this power of the number of rows seen, epoch by epoch; 0 leaves it alone.
    pub power: f64,
    /// `sgd`: the rate is divided by five where lack of progress would have ended the run.
    pub adaptive: bool,
}

/// What an adaptive rate is divided by.
pub(crate) const SLOWER: f64 = 5.0;
/// The rate at which lack of progress ends a run after all.
pub(crate) const SLOWEST: f64 = 1e-6;

impl Pace {
    /// How many numbers are kept beside every weight.
    pub(crate) fn n_memories(&self) -> usize {
        match self.optimiser {
            Optimiser::Adam => 2,
            Optimiser::Sgd => 1,
        }
    }

    /// What step number `step` has in common for all weights, `powers` being those of the betas, which are taken on. Rates
    /// have become `slower` times what they were.
    pub(crate) fn stride(&self, step: u64, slower: f64, powers: &mut [f64; 2]) -> Stride {
        let mut rate = self.rate.rate(step) * slower;
        if self.optimiser == Optimiser::Adam {
            for (power, beta) in powers.iter_mut().zip(self.betas) {
                *power *= beta;
            }
            rate *= (1.0 - powers[1]).sqrt() / (1.0 - powers[0]);
        }
        let Self { optimiser, momentum, nesterov, betas, epsilon, .. } = *self;
        Stride { optimiser, rate, momentum, nesterov, betas, epsilon }
    }
}

/// One step, as all weights make it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stride {
    optimiser: Optimiser,
    rate: f64,
    momentum: f64,
    nesterov: bool,
    betas: [f64; 2],
    epsilon: f64,
}

impl Stride {
    /// Moves weights whose slopes are `(slope + decay * weight) * share`.
    #[inline(always)]
    pub(crate) fn make(
        &self,
        weights: &mut [f64],
        slopes: &[f64],
        memories: [&mut [f64]; 2],
        decay: f64,
        share: f64,
    ) {
        let Self { rate, momentum, nesterov, betas: [keep, keep2], epsilon, .. } = *self;
        let [first, second] = memories;
        let n = weights.len();
        let (slopes, first) = (&slopes[..n], &mut first[..n]);
        match self.optimiser {
            Optimiser::Adam => {
                let second = &mut second[..n];
                for k in 0..n {
                    let slope = (slopes[k] + decay * weights[k]) * share;
                    first[k] = keep * first[k] + (1.0 - keep) * slope;
                    second[k] = keep2 * second[k] + (1.0 - keep2) * (slope * slope);
                    weights[k] -= rate * first[k] / (second[k].sqrt() + epsilon);
                }
            }
            Optimiser::Sgd => {
                for k in 0..n {
                    let slope = rate * ((slopes[k] + decay * weights[k]) * share);
                    first[k] = momentum * first[k] - slope;
                    weights[k] += if nesterov { momentum * first[k] - slope } else { first[k] };
                }
            }
        }
    }
}
