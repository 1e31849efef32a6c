//! Named numbers: the parameters of a rule, with their ranges and defaults.
//!
//! Every parameter is declared once, in its rule's table entry. Checking, help texts and documentation
//! are derived from that declaration. Errors have one grammar: "`C` should be positive, but is -1".

use crate::schedule::Schedule;
use std::fmt;

/// A parameter as a rule declares it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Param {
    /// What it is called.
    pub name: &'static str,
    /// What it does, in a few words.
    pub meaning: &'static str,
    /// Its value when nobody says otherwise.
    pub default: f64,
    /// Which values make sense.
    pub range: Range,
}

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
        /// The name nobody knows.
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

/// Values for some parameters, and the learning rate of the rules that have one.
#[derive(Debug, Clone, Default)]
pub struct Params {
    values: Vec<(String, f64)>,
    rate: Option<Schedule>,
}

impl Params {
    /// No values: every parameter has its default.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets one parameter. Nothing is checked until a rule is made of it.
    ///
    /// ```
    /// use rosenblatt_core::{rules::PaOne, Algorithm, Params};
    ///
    /// let refused = PaOne::new(&Params::new().with("C", -1.0)).unwrap_err();
    /// assert_eq!(refused.to_string(), "`C` should be positive, but is -1");
    /// ```
    #[must_use]
    pub fn with(mut self, name: &str, value: f64) -> Self {
        self.values.retain(|(known, _)| known != name);
        self.values.push((name.to_owned(), value));
        self
    }

    /// Sets the learning rate.
    #[must_use]
    pub fn with_rate(mut self, rate: Schedule) -> Self {
        self.rate = Some(rate);
        self
    }

    /// Checks every value against what `info` declares.
    pub fn check(&self, info: &crate::rule::Info) -> Result<(), ParamError> {
        for (name, value) in &self.values {
            let Some(param) = info.params.iter().find(|param| param.name == name) else {
                return Err(ParamError::Unknown {
                    algorithm: info.name,
                    name: name.clone(),
                    known: info.params.iter().map(|param| param.name).collect(),
                });
            };
            if !param.range.holds(*value) {
                return Err(ParamError::OutOfRange { name: param.name, range: param.range, value: *value });
            }
        }
        match &self.rate {
            Some(_) if !info.rate => Err(ParamError::NoRate { algorithm: info.name }),
            Some(rate) => rate.check(),
            None => Ok(()),
        }
    }

    /// The value of `name`, or the default that `info` declares. Panics if it declares none.
    pub fn get(&self, info: &crate::rule::Info, name: &str) -> f64 {
        let given = self.values.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
        given.unwrap_or_else(|| {
            let declared = info.params.iter().find(|param| param.name == name);
            declared.expect("rules ask only for parameters they declare").default
        })
    }

    /// The learning rate, 1 throughout unless set.
    pub fn rate(&self) -> Schedule {
        self.rate_or(Schedule::default())
    }

    /// The learning rate, or `default` unless set.
    pub fn rate_or(&self, default: Schedule) -> Schedule {
        self.rate.clone().unwrap_or(default)
    }
}
