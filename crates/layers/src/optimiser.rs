//! The table of optimisers: how far each weight goes against its gradient.

use rosenblatt_core::Schedule;

/// How weights follow their gradients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Optimiser {
    /// Every weight has a pace of its own, from the mean and the mean square of its gradients.
    #[default]
    Adam,
    /// Along the gradient, with a memory of earlier steps.
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
    /// `sgd`: whether the gradient counts as if that had been done before (Nesterov).
    pub nesterov: bool,
    /// `adam`: how much of the mean of gradients, and of their squares, is kept.
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
pub(crate) const RATE_DIVISOR: f64 = 5.0;
/// The rate at which lack of progress ends a run after all.
pub(crate) const LOWEST_RATE: f64 = 1e-6;

impl Pace {
    /// How many moments are kept of every weight.
    pub(crate) fn n_moments(&self) -> usize {
        match self.optimiser {
            Optimiser::Adam => 2,
            Optimiser::Sgd => 1,
        }
    }

    /// What step number `step` has in common for all weights, `beta_powers` being those of the betas, which are taken on. Rates
    /// are multiplied by `rate_decay`.
    pub(crate) fn stride(&self, step: u64, rate_decay: f64, beta_powers: &mut [f64; 2]) -> Stride {
        let mut rate = self.rate.rate(step) * rate_decay;
        if self.optimiser == Optimiser::Adam {
            for (power, beta) in beta_powers.iter_mut().zip(self.betas) {
                *power *= beta;
            }
            rate *= (1.0 - beta_powers[1]).sqrt() / (1.0 - beta_powers[0]);
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
    /// Moves weights whose gradients are `(gradient + decay * weight) * share`.
    #[inline(always)]
    pub(crate) fn make(
        &self,
        weights: &mut [f64],
        gradients: &[f64],
        moments: [&mut [f64]; 2],
        decay: f64,
        share: f64,
    ) {
        let Self { rate, momentum, nesterov, betas: [keep, keep2], epsilon, .. } = *self;
        let [first, second] = moments;
        let n = weights.len();
        let (gradients, first) = (&gradients[..n], &mut first[..n]);
        match self.optimiser {
            Optimiser::Adam => {
                let second = &mut second[..n];
                for k in 0..n {
                    let gradient = (gradients[k] + decay * weights[k]) * share;
                    first[k] = keep * first[k] + (1.0 - keep) * gradient;
                    second[k] = keep2 * second[k] + (1.0 - keep2) * (gradient * gradient);
                    weights[k] -= rate * first[k] / (second[k].sqrt() + epsilon);
                }
            }
            Optimiser::Sgd => {
                for k in 0..n {
                    let gradient = rate * ((gradients[k] + decay * weights[k]) * share);
                    first[k] = momentum * first[k] - gradient;
                    weights[k] += if nesterov { momentum * first[k] - gradient } else { first[k] };
                }
            }
        }
    }
}
