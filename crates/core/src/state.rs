//! What a run carries over, so that it can go on elsewhere as if nothing had happened.
//!
//! A [`State`] is a row of named lists of numbers, put in and taken out in the same order. Whatever
//! changes while a run lasts puts itself in; what the setup decides is not in the state, so a run is
//! restored into a fresh one of the same setup. Lists may come from a file: lengths and
//! counters are checked before they are believed. Nothing here knows how a state is stored.

use crate::hypothesis::Hyperplanes;
use std::borrow::Cow;
use std::fmt;

/// A list of numbers.
#[derive(Debug, Clone, PartialEq)]
pub enum List<'a> {
    /// Small counters.
    U32(Cow<'a, [u32]>),
    /// Counters, and yes or no.
    U64(Cow<'a, [u64]>),
    /// Weights and sums, any bits.
    F64(Cow<'a, [f64]>),
}

/// Named lists, in order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct State<'a> {
    lists: std::collections::VecDeque<(Cow<'a, str>, List<'a>)>,
}

/// Why a state does not belong to this run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateError(String);

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for StateError {}

/// A hypothesis that can be carried over.
pub trait Resumable {
    /// Adds what has changed to `state`.
    fn save<'a>(&'a self, state: &mut State<'a>);

    /// Takes the same out again. After an error the run is of no use.
    fn restore(&mut self, state: &mut State<'_>) -> Result<(), StateError>;
}

impl<'a> State<'a> {
    /// Adds a list.
    pub fn push(&mut self, name: impl Into<Cow<'a, str>>, list: List<'a>) {
        self.lists.push_back((name.into(), list));
    }

    /// All lists, in their order.
    pub fn lists(&self) -> impl Iterator<Item = (&str, &List<'a>)> {
        self.lists.iter().map(|(name, list)| (name.as_ref(), list))
    }

    /// Complains of lists that nobody took.
    pub fn finish(self) -> Result<(), StateError> {
        self.lists.front().map_or(Ok(()), |(name, _)| Err(StateError(format!("nobody knows `{name}`"))))
    }

    /// Adds small counters.
    pub fn u32s(&mut self, name: &'static str, values: impl Into<Cow<'a, [u32]>>) {
        self.push(name, List::U32(values.into()));
    }

    /// Adds counters.
    pub fn u64s(&mut self, name: &'static str, values: impl Into<Cow<'a, [u64]>>) {
        self.push(name, List::U64(values.into()));
    }

    /// Adds real numbers.
    pub fn f64s(&mut self, name: &'static str, values: impl Into<Cow<'a, [f64]>>) {
        self.push(name, List::F64(values.into()));
    }

    /// Hyperplanes that may not be there: no biases, no planes.
    pub(crate) fn planes(&mut self, names: [&'static str; 2], planes: Option<&'a Hyperplanes>) {
        self.f64s(names[0], planes.map_or(&[][..], Hyperplanes::raw_weights));
        self.f64s(names[1], planes.map_or(&[][..], Hyperplanes::biases));
    }

    fn take(&mut self, name: &str) -> Result<List<'a>, StateError> {
        match self.lists.pop_front() {
            Some((found, list)) if found == name => Ok(list),
            Some((found, _)) => Err(StateError(format!("where `{name}` should be there is `{found}`"))),
            None => Err(StateError(format!("`{name}` is missing"))),
        }
    }

    /// A list of small counters of any length.
    pub fn take_u32s(&mut self, name: &str) -> Result<Vec<u32>, StateError> {
        match self.take(name)? {
            List::U32(values) => Ok(values.into_owned()),
            _ => Err(StateError(format!("`{name}` should hold small counters"))),
        }
    }

    /// A list of counters of any length.
    pub fn take_u64s(&mut self, name: &str) -> Result<Vec<u64>, StateError> {
        match self.take(name)? {
            List::U64(values) => Ok(values.into_owned()),
            _ => Err(StateError(format!("`{name}` should hold counters"))),
        }
    }

    /// A list of real numbers of any length.
    pub fn take_f64s(&mut self, name: &str) -> Result<Vec<f64>, StateError> {
        match self.take(name)? {
            List::F64(values) => Ok(values.into_owned()),
            _ => Err(StateError(format!("`{name}` should hold real numbers"))),
        }
    }

    /// A list of exactly `N` counters.
    pub fn take_counters<const N: usize>(&mut self, name: &str) -> Result<[u64; N], StateError> {
        let values = self.take_u64s(name)?;
        let found = values.len();
        values.try_into().map_err(|_| wrong_length(name, N, found))
    }

    /// A list of exactly `n` real numbers.
    pub fn take_n_f64s(&mut self, name: &str, n: usize) -> Result<Vec<f64>, StateError> {
        let values = self.take_f64s(name)?;
        if values.len() == n { Ok(values) } else { Err(wrong_length(name, n, values.len())) }
    }

    /// A list of exactly `n` counters, none of them above `most`.
    pub fn take_n_counters(&mut self, name: &str, n: usize, most: u64) -> Result<Vec<u64>, StateError> {
        let values = self.take_u64s(name)?;
        if values.len() != n {
            return Err(wrong_length(name, n, values.len()));
        }
        values.iter().try_for_each(|&value| at_most(name, value, most))?;
        Ok(values)
    }

    /// Hyperplanes of `n_outputs` outputs with at most `most` weights, if they were there.
    pub(crate) fn take_planes(
        &mut self,
        names: [&'static str; 2],
        n_outputs: usize,
        most: usize,
    ) -> Result<Option<Hyperplanes>, StateError> {
        let (weights, biases) = (self.take_f64s(names[0])?, self.take_f64s(names[1])?);
        if biases.is_empty() && weights.is_empty() {
            return Ok(None);
        }
        if biases.len() != n_outputs {
            return Err(wrong_length(names[1], n_outputs, biases.len()));
        }
        if weights.len() > most || !weights.len().is_multiple_of(n_outputs) {
            return Err(wrong_length(names[0], most, weights.len()));
        }
        Ok(Some(Hyperplanes::from_parts(weights, biases)))
    }
}

pub(crate) fn wrong_length(name: &str, expected: usize, found: usize) -> StateError {
    StateError(format!("`{name}` should hold {expected} numbers, but holds {found}"))
}

/// Refuses counters that would be ahead of the run they belong to.
pub(crate) fn at_most(name: &str, value: u64, most: u64) -> Result<(), StateError> {
    if value <= most {
        Ok(())
    } else {
        Err(StateError(format!("`{name}` should be at most {most}, but is {value}")))
    }
}

/// A state that says what cannot be.
pub fn refuse(what: &str) -> StateError {
    StateError(what.to_owned())
}
