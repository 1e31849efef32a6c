//! The update rule of a network, as the table of algorithms knows it.

use crate::activation::Activation;
use crate::loss::Loss;
use crate::network::{MOST_LAYERS, MOST_UNITS};
use crate::optimiser::{Optimiser, Pace};
use crate::space::Design;
use rosenblatt_core::{Info, Needs, Param, ParamError, Params, Range, Rule, Schedule, Seen, Step, Weighs};

/// What the outside needs to know.
pub const INFO: Info = Info {
    aliases: &["multi-layer-perceptron", "network"],
    summary: "layers of units between features and scores, learned by back-propagation",
    update: "h = act(W1 x + b1), f = W2 h + b2:  W -= rate * d loss / d W, batch by batch",
    source: "Rumelhart, Hinton and Williams 1986; Kingma and Ba 2015",
    prefer: "for what no hyperplane tells apart, where rows are many and a smooth boundary helps",
    params: &[
        Param {
            name: "hidden",
            meaning: "units of every hidden layer",
            default: 64.0,
            range: Range::Whole(1, MOST_UNITS as u32),
        },
        Param {
            name: "layers",
            meaning: "hidden layers; 0 leaves a plain linear model",
            default: 1.0,
            range: Range::Whole(0, MOST_LAYERS as u32),
        },
        Param {
            name: "batch",
            meaning: "rows per step; 0 takes all rows of an epoch",
            default: 64.0,
            range: Range::Count,
        },
        Param {
            name: "weight-decay",
            meaning: "how much weights are drawn to zero",
            default: 1e-4,
            range: Range::NonNegative,
        },
        Param {
            name: "momentum",
            meaning: "sgd: how much of the last step is made again",
            default: 0.9,
            range: Range::Between(-1e-300, 1.0),
        },
        Param { name: "nesterov", meaning: "sgd: Nesterov's momentum", default: 1.0, range: Range::Flag },
        Param {
            name: "beta1",
            meaning: "adam: how much of the mean of gradients is kept",
            default: 0.9,
            range: Range::Between(-1e-300, 1.0),
        },
        Param {
            name: "beta2",
            meaning: "adam: how much of the mean of their squares is kept",
            default: 0.999,
            range: Range::Between(-1e-300, 1.0),
        },
        Param {
            name: "epsilon",
            meaning: "adam: what is added to the root of that mean",
            default: 1e-8,
            range: Range::Positive,
        },
        Param {
            name: "tolerance",
            meaning: "the least progress of the loss that counts; 0 never stops for lack of it",
            default: 0.0,
            range: Range::NonNegative,
        },
        Param {
            name: "patience",
            meaning: "with a tolerance: epochs without progress before training ends",
            default: 10.0,
            range: Range::Count,
        },
        Param {
            name: "power",
            meaning: "sgd: after every epoch the rate is divided by this power of the rows seen so far",
            default: 0.0,
            range: Range::NonNegative,
        },
        Param {
            name: "adaptive",
            meaning: "sgd: divide the rate by 5 where lack of progress would end training, down to 1e-6",
            default: 0.0,
            range: Range::Flag,
        },
    ],
    rate: Some("0.001; up to 0.02 in a short run"),
    settles: true,
    ..Info::named("mlp")
};

/// The default rate of a long run.
pub const RATE: f64 = 0.001;
/// Fewer steps than this make a run short.
const MANY_STEPS: f64 = 3_000.0;
/// The longest steps of a short run.
const MOST_RATE: f64 = 0.02;

/// The rate that suits a run of this many steps: a short one makes longer steps, within reason.
pub fn suited_rate(n_steps: u64) -> f64 {
    (RATE * MANY_STEPS / n_steps.max(1) as f64).clamp(RATE, MOST_RATE)
}

/// Rows count as long as they cost something; how far weights go is the network's own affair.
#[derive(Debug, Clone, Copy)]
pub struct Descent(pub Loss);

impl Rule for Descent {
    fn needs(&self) -> Needs {
        // The network weighs whole batches, since it shares a step out over them.
        Needs { weighs: Weighs::Rule, ..Needs::default() }
    }

    fn acts(&self, seen: &Seen) -> bool {
        self.0.acts(seen.margin)
    }

    fn step(&self, seen: &Seen) -> Option<Step> {
        self.acts(seen).then_some(Step::of(1.0))
    }
}

impl Design {
    /// The design that these parameters ask for. `hidden`, if it is there, are the units of every hidden layer instead
    /// of what they say.
    pub fn new(
        hidden: Option<&[usize]>,
        activation: Activation,
        loss: Loss,
        optimiser: Optimiser,
        params: &Params,
    ) -> Result<Self, ParamError> {
        params.check(&INFO)?;
        let get = |name| params.get(&INFO, name);
        let pace = Pace {
            optimiser,
            rate: params.rate_or(Schedule::Constant(RATE)),
            momentum: get("momentum"),
            nesterov: get("nesterov") == 1.0,
            betas: [get("beta1"), get("beta2")],
            epsilon: get("epsilon"),
            decay: get("weight-decay"),
            power: get("power"),
            adaptive: get("adaptive") == 1.0,
        };
        let tolerance = get("tolerance");
        Ok(Self {
            hidden: hidden
                .map_or_else(|| vec![get("hidden") as usize; get("layers") as usize], <[usize]>::to_vec),
            activation,
            loss,
            pace,
            batch: get("batch") as usize,
            patience: (tolerance > 0.0).then(|| (tolerance, get("patience") as u64)),
            class_weights: Vec::new(),
            seed: 0,
            threads: 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_that_is_told_is_the_one_it_has() {
        assert_eq!(INFO.rate, Some(format!("{RATE}; up to {MOST_RATE} in a short run").as_str()));
    }
}
