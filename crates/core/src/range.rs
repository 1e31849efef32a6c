//! Which values of a parameter make sense, and the error for those that do not.

use std::fmt;

/// Which values make sense for a parameter. All must be finite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Range {
    /// Greater than zero.
    Positive,
    /// Zero or greater.
    NonNegative,
    /// Any finite number.
    Any,
    /// Strictly between two numbers.
    Between(f64, f64),
    /// Greater than the first number and at most the second.
    UpTo(f64, f64),
    /// A whole number, zero or greater.
    Count,
    /// A whole number from the first to the second.
    Whole(u32, u32),
    /// 0 for no, 1 for yes.
    Flag,
}

impl Range {
    /// Whether `value` makes sense.
    pub fn holds(self, value: f64) -> bool {
        value.is_finite()
            && match self {
                Self::Positive => value > 0.0,
                Self::NonNegative => value >= 0.0,
                Self::Any => true,
                Self::Between(low, high) => low < value && value < high,
                Self::UpTo(low, high) => low < value && value <= high,
                Self::Count => value >= 0.0 && value.fract() == 0.0,
                Self::Whole(low, high) => {
                    f64::from(low) <= value && value <= f64::from(high) && value.fract() == 0.0
                }
                Self::Flag => value == 0.0 || value == 1.0,
            }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Positive => f.write_str("positive"),
            Self::NonNegative => f.write_str("zero or positive"),
            Self::Any => f.write_str("a finite number"),
            // Just below zero, so that zero itself is allowed.
            Self::Between(low, high) if *low < 0.0 && low.abs() < 1e-100 => {
                write!(f, "at least 0 and below {high}")
            }
            Self::Between(low, high) => write!(f, "between {low} and {high}"),
            Self::UpTo(low, high) => write!(f, "above {low} and at most {high}"),
            Self::Count => f.write_str("a whole number, 0 or more"),
            Self::Whole(low, high) => write!(f, "a whole number from {low} to {high}"),
            Self::Flag => f.write_str("0 or 1"),
        }
    }
}

/// A parameter that is wrong, and how.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ParamError {
    /// No parameter has this name.
    Unknown {
        /// The algorithm that was asked for.
        algorithm: &'static str,
        /// The unknown name.
        name: String,
        /// The names that would have been understood.
        known: Vec<&'static str>,
    },
    /// The value is outside its range.
    OutOfRange {
        /// Which parameter.
        name: &'static str,
        /// What it should be.
        range: Range,
        /// What it is.
        value: f64,
    },
    /// A schedule was given to a rule that has no rate.
    NoRate {
        /// The algorithm that was asked for.
        algorithm: &'static str,
    },
}

impl fmt::Display for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { algorithm, name, known } if known.is_empty() => {
                write!(f, "`{algorithm}` has no parameters, but `{name}` was given")
            }
            Self::Unknown { algorithm, name, known } => {
                write!(f, "`{algorithm}` has no parameter `{name}`; it has {}", known.join(", "))
            }
            Self::OutOfRange { name, range, value } => {
                write!(f, "`{name}` should be {range}, but is {value}")
            }
            Self::NoRate { algorithm } => {
                write!(f, "`{algorithm}` sets its own step and takes no learning rate; leave the rate out")
            }
        }
    }
}

impl std::error::Error for ParamError {}
