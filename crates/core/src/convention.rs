//! The points on which textbooks disagree, by name.
//!
//! What does a score of zero predict? Does a tie count as a mistake? How does a bias enter? Each
//! textbook answers differently, and its tables come out only with its own answers. [`Convention`]
//! holds one answer to each, and refuses the combination that can never learn.

use std::fmt;

/// What a score of zero predicts; with several classes, who wins a tie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Zero {
    /// The positive class; with several, the last of the tied ones.
    Plus,
    /// The negative class; with several, the first of the tied ones. As in scikit-learn.
    #[default]
    Minus,
    /// A coin decides.
    Random,
    /// No class wins: the prediction counts as wrong. Where a class must be named, the first tied one is.
    Wrong,
}

/// What counts as a mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mistake {
    /// `y·f(x) ≤ 0`: a tie is a mistake.
    #[default]
    Le0,
    /// `y·f(x) < 0`: a tie is not.
    Lt0,
    /// The predicted class, ties resolved by [`Zero`], differs from the true one.
    Pred,
}

/// How the hyperplane gets off the origin.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Bias {
    /// It does not: `f(x) = w·x`.
    None,
    /// `f(x) = w·x + b` with `b += y` beside `w += y·x`; norms and decay leave `b` out.
    #[default]
    Learned,
    /// Every row gets one more feature that is always `B`. Norms and decay include it.
    /// `Augmented(R)` with the data's radius `R` is PAUM's bias step `b += y·R²`.
    Augmented(f64),
}

impl Bias {
    /// How much a step of length 1 moves the bias: the square of the constant feature.
    pub fn gain(self) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Learned => 1.0,
            Self::Augmented(constant) => constant * constant,
        }
    }

    /// How much the constant feature adds to `‖x‖²`.
    pub fn spread(self) -> f64 {
        match self {
            Self::None | Self::Learned => 0.0,
            Self::Augmented(constant) => constant * constant,
        }
    }
}

/// One answer to each question on which textbooks disagree.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Convention {
    /// What a score of zero predicts.
    pub zero: Zero,
    /// What counts as a mistake.
    pub mistake: Mistake,
    /// How the bias enters.
    pub bias: Bias,
}

/// A convention that cannot work, and why.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ConventionError {
    /// Strict mistakes from zero weights: every margin is 0, so nothing is ever learned.
    NeverLearns,
    /// The constant feature is zero, infinite or not a number.
    BadConstant(f64),
}

impl fmt::Display for ConventionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NeverLearns => f.write_str(
                "`mistake = lt0` from zero weights can never learn: every margin is 0 and 0 < 0 is false; \
                 use `le0`, or `pred`, by which a wrong prediction is a mistake",
            ),
            Self::BadConstant(constant) => {
                write!(f, "`bias = augmented(B)` needs a finite B other than 0, but B is {constant}")
            }
        }
    }
}

impl std::error::Error for ConventionError {}

impl Convention {
    /// Refuses what cannot work. `from_zero` says whether training starts from zero weights, and
    /// `mistake_driven` whether the rule moves on mistakes only.
    pub fn check(&self, from_zero: bool, mistake_driven: bool) -> Result<(), ConventionError> {
        if let Bias::Augmented(constant) = self.bias
            && (!constant.is_finite() || constant == 0.0)
        {
            return Err(ConventionError::BadConstant(constant));
        }
        if self.mistake == Mistake::Lt0 && from_zero && mistake_driven {
            return Err(ConventionError::NeverLearns);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strict_mistakes_from_zero_are_refused_with_the_reason() {
        let strict = Convention { mistake: Mistake::Lt0, ..Convention::default() };
        let refusal = strict.check(true, true).unwrap_err();
        assert!(refusal.to_string().contains("can never learn"), "{refusal}");
        assert_eq!(strict.check(false, true), Ok(()));
        assert_eq!(strict.check(true, false), Ok(()));
    }

    #[test]
    fn a_constant_feature_of_zero_is_no_bias() {
        let zero = Convention { bias: Bias::Augmented(0.0), ..Convention::default() };
        assert!(zero.check(true, true).is_err());
    }
}
