//! The losses at the output: what the scores of a row cost, and in which direction they should go.

use rosenblatt_core::elementary::{exp, ln, ln_1p_of_share, logistic};

/// What the scores of a row cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Loss {
    /// Cross-entropy of the softmax; with one output, of the logistic function.
    #[default]
    Softmax,
    /// `max(0, 1 - margin)`, the margin being the lead over the strongest rival.
    Hinge,
    /// `max(0, -margin)`: the perceptron's own.
    Perceptron,
}

rosenblatt_core::named!(Loss, "output-loss",
    "softmax" or "cross-entropy" or "log" = Self::Softmax, "cross-entropy, which makes scores probabilities";
    "hinge" = Self::Hinge, "max(0, 1 - margin), as support vector machines";
    "perceptron" = Self::Perceptron, "max(0, -margin): learns from mistakes alone";
);

impl Loss {
    /// Whether a row with this margin costs anything, or may.
    #[inline]
    pub fn acts(self, margin: f64) -> bool {
        match self {
            Self::Softmax => true,
            Self::Hinge => margin < 1.0,
            Self::Perceptron => margin <= 0.0,
        }
    }

    /// What these scores of a row of `class` cost. They are replaced by the gradients of the cost. One score is for class 1
    /// if it is positive and for class 0 if not; more are one per class.
    pub fn gradients(self, class: u32, scores: &mut [f64]) -> f64 {
        if let [score] = scores {
            let label = if class == 1 { 1.0 } else { -1.0 };
            let (cost, gradient) = self.of_margin(label * *score);
            *score = label * gradient;
            return cost;
        }
        let truth = class as usize;
        if self == Self::Softmax {
            let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let lead = scores[truth] - highest;
            let mut sum = 0.0;
            for score in scores.iter_mut() {
                *score = exp(*score - highest);
                sum += *score;
            }
            for score in scores.iter_mut() {
                *score /= sum;
            }
            scores[truth] -= 1.0;
            return ln(sum) - lead;
        }
        let rivals = (0..scores.len()).filter(|&rival| rival != truth);
        let rival = rivals.reduce(|best, rival| if scores[rival] > scores[best] { rival } else { best });
        let Some(rival) = rival else { return 0.0 };
        let (cost, gradient) = self.of_margin(scores[truth] - scores[rival]);
        scores.fill(0.0);
        (scores[truth], scores[rival]) = (gradient, -gradient);
        cost
    }

    /// Cost and gradient of a margin.
    fn of_margin(self, margin: f64) -> (f64, f64) {
        match self {
            Self::Softmax => {
                let cost = ln_1p_of_share(exp(-margin.abs())) + (-margin).max(0.0);
                (cost, -logistic(-margin))
            }
            _ if !self.acts(margin) => (0.0, 0.0),
            Self::Hinge => (1.0 - margin, -1.0),
            Self::Perceptron => (-margin, -1.0),
        }
    }
}
