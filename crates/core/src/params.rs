//! Named numbers: the parameters of a rule, with their ranges and defaults.
//!
//! Every parameter is declared once, in its rule's table entry. Checking, help texts and documentation
//! are derived from that declaration. Errors have one grammar: "`C` should be positive, but is -1".

pub use crate::range::{ParamError, Range};
use crate::schedule::Schedule;

/// A parameter as a rule declares it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Param {
    /// What it is called.
    pub name: &'static str,
    /// What it does, in a few words.
    pub meaning: &'static str,
    /// Its value unless you set it.
    pub default: f64,
    /// Which values make sense.
    pub range: Range,
}

/// Values for some parameters, and the learning rate of the rules that have one.
#[derive(Debug, Clone, Default)]
pub struct Params {
    pub(crate) values: Vec<(String, f64)>,
    pub(crate) rate: Option<Schedule>,
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

    /// The learning rate, 1 throughout unless set.
    pub fn rate(&self) -> Schedule {
        self.rate_or(Schedule::default())
    }

    /// The learning rate, or `default` unless set.
    pub fn rate_or(&self, default: Schedule) -> Schedule {
        self.rate.clone().unwrap_or(default)
    }
}
