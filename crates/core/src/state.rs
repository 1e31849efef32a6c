//! What a run carries over, so that it can go on elsewhere as if nothing had happened.
//!
//! A [`State`] is a row of named lists of numbers, put in and taken out in the same order. Whatever
//! changes while a run lasts puts itself in; what the setup decides is not in the state, so a run is
//! restored into a fresh one of the same setup. Lists may come from a file: lengths and
//! counters are checked before they are believed. Nothing here knows how a state is stored.
//!
//! Each list comes with how it belongs to outputs ([`Layout`]), so that a run can also be carried over to one with
//! other outputs, when a new class turns up.

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

/// How the numbers of a list belong to outputs.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Layout {
    /// They do not.
    #[default]
    Whole,
    /// This many numbers of every output, all outputs side by side, once or feature by feature.
    SideBySide(&'static [Part]),
    /// All numbers of one output, then those of the next.
    InTurn(Part),
    /// This many numbers of every move, one of which, here or in another list of moves, is its output.
    Moves(&'static [Part]),
}

/// What becomes of a number where an output is turned round, or new.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Part {
    /// Its sign changes with the side of the output; a new output begins with zero.
    Signed,
    /// It stays; a new output begins with this number.
    Alike(f64),
    /// It is the number of the output.
    Output,
}

/// Where an output comes from: another one, turned round if the factor is -1; nowhere if it is new.
pub type Origin = Option<(usize, f64)>;

/// Weights, biases and what else changes its sign with them, feature by feature or once.
pub const SIGNED: Layout = Layout::SideBySide(&[Part::Signed]);
/// One number per output that begins with zero and has no sign.
pub const COUNTED: Layout = Layout::SideBySide(&[Part::Alike(0.0)]);
/// One factor per output.
pub const FACTORS: Layout = Layout::SideBySide(&[Part::Alike(1.0)]);

#[derive(Debug, Clone, PartialEq)]
struct Entry<'a> {
    name: Cow<'a, str>,
    list: List<'a>,
    layout: Layout,
}

/// Named lists, in order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct State<'a> {
    lists: std::collections::VecDeque<Entry<'a>>,
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
    pub fn push(&mut self, name: impl Into<Cow<'a, str>>, list: List<'a>) -> &mut Self {
        self.lists.push_back(Entry { name: name.into(), list, layout: Layout::Whole });
        self
    }

    /// Says how the list that was added last belongs to outputs.
    pub fn laid(&mut self, layout: Layout) {
        if let Some(last) = self.lists.back_mut() {
            last.layout = layout;
        }
    }

    /// The same state, which borrows nothing.
    #[must_use]
    pub fn into_owned(self) -> State<'static> {
        let lists = self.lists.into_iter().map(|Entry { name, list, layout }| {
            let list = match list {
                List::U32(values) => List::U32(values.into_owned().into()),
                List::U64(values) => List::U64(values.into_owned().into()),
                List::F64(values) => List::F64(values.into_owned().into()),
            };
            Entry { name: name.into_owned().into(), list, layout }
        });
        State { lists: lists.collect() }
    }

    /// The same state for other outputs, one for each origin among the `n_outputs` there were.
    #[must_use]
    pub fn for_outputs(&self, n_outputs: usize, origins: &[Origin]) -> State<'static> {
        let moves = self.moves(origins);
        let lists = self.lists.iter().map(|Entry { name, list, layout }| {
            let len = match list {
                List::U32(values) => values.len(),
                List::U64(values) => values.len(),
                List::F64(values) => values.len(),
            };
            let picks = layout.picks(len, n_outputs, origins, &moves);
            let list = match list {
                List::U32(values) => List::U32(picks.iter().map(|pick| pick.counter(values)).collect()),
                List::U64(values) => List::U64(picks.iter().map(|pick| pick.counter(values)).collect()),
                List::F64(values) => List::F64(picks.iter().map(|pick| pick.number(values)).collect()),
            };
            Entry { name: name.clone().into_owned().into(), list, layout: *layout }
        });
        State { lists: lists.collect() }
    }

    /// Every move that is logged, once for each output that comes from its own: its place, that output and the factor.
    fn moves(&self, origins: &[Origin]) -> Vec<(usize, usize, f64)> {
        let outputs = self.lists.iter().find_map(|entry| match (&entry.list, entry.layout) {
            (List::U32(values), Layout::Moves(parts)) => {
                let part = parts.iter().position(|part| *part == Part::Output)?;
                Some(
                    values
                        .chunks_exact(parts.len())
                        .map(|of_move| of_move[part] as usize)
                        .collect::<Vec<_>>(),
                )
            }
            _ => None,
        });
        let n_outputs = origins.iter().flatten().map(|(from, _)| from + 1).max().unwrap_or(0);
        let mut heirs = vec![Vec::new(); n_outputs];
        for (output, (from, factor)) in
            origins.iter().enumerate().filter_map(|(output, origin)| Some((output, (*origin)?)))
        {
            heirs[from].push((output, factor));
        }
        let mut moves = Vec::new();
        for (place, was) in outputs.unwrap_or_default().into_iter().enumerate() {
            let heirs = heirs.get(was).into_iter().flatten();
            moves.extend(heirs.map(|&(output, factor)| (place, output, factor)));
        }
        moves
    }

    /// All lists, in their order.
    pub fn lists(&self) -> impl Iterator<Item = (&str, &List<'a>)> {
        self.lists.iter().map(|entry| (entry.name.as_ref(), &entry.list))
    }

    /// Complains of lists that were not taken.
    pub fn finish(self) -> Result<(), StateError> {
        self.lists.front().map_or(Ok(()), |entry| Err(StateError(format!("`{}` is unknown", entry.name))))
    }

    /// Adds small counters.
    pub fn u32s(&mut self, name: &'static str, values: impl Into<Cow<'a, [u32]>>) -> &mut Self {
        self.push(name, List::U32(values.into()))
    }

    /// Adds counters.
    pub fn u64s(&mut self, name: &'static str, values: impl Into<Cow<'a, [u64]>>) -> &mut Self {
        self.push(name, List::U64(values.into()))
    }

    /// Adds real numbers.
    pub fn f64s(&mut self, name: &'static str, values: impl Into<Cow<'a, [f64]>>) -> &mut Self {
        self.push(name, List::F64(values.into()))
    }

    /// Hyperplanes that may not be there: no biases, no planes.
    pub(crate) fn planes(&mut self, names: [&'static str; 2], planes: Option<&'a Hyperplanes>) {
        self.f64s(names[0], planes.map_or(&[][..], Hyperplanes::raw_weights)).laid(SIGNED);
        self.f64s(names[1], planes.map_or(&[][..], Hyperplanes::biases)).laid(SIGNED);
    }

    fn take(&mut self, name: &str) -> Result<List<'a>, StateError> {
        match self.lists.pop_front() {
            Some(Entry { name: found, list, .. }) if found == name => Ok(list),
            Some(Entry { name: found, .. }) => {
                Err(StateError(format!("where `{name}` should be there is `{found}`")))
            }
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

/// Where a number of the new state comes from.
enum Pick {
    Kept(usize),
    Turned(usize),
    New(f64),
    Output(usize),
}

impl Pick {
    fn number(&self, values: &[f64]) -> f64 {
        match *self {
            Self::Kept(place) => values[place],
            // Not with a minus sign: zero stays as it is.
            Self::Turned(place) => 0.0 - values[place],
            Self::New(value) => value,
            Self::Output(output) => output as f64,
        }
    }

    fn counter<T: Copy + TryFrom<u64> + Default>(&self, values: &[T]) -> T {
        let of = |value: u64| T::try_from(value).unwrap_or_default();
        match *self {
            Self::Kept(place) | Self::Turned(place) => values[place],
            Self::New(value) => of(value as u64),
            Self::Output(output) => of(output as u64),
        }
    }
}

impl Part {
    /// This part of the output number `output`, which was at `place`, and is there again with this factor.
    fn pick(self, output: usize, was: Option<(usize, f64)>) -> Pick {
        match (self, was) {
            (Self::Output, _) => Pick::Output(output),
            (Self::Signed, Some((place, factor))) if factor < 0.0 => Pick::Turned(place),
            (_, Some((place, _))) => Pick::Kept(place),
            (Self::Signed, None) => Pick::New(0.0),
            (Self::Alike(first), None) => Pick::New(first),
        }
    }
}

impl Layout {
    /// What a list of `len` numbers becomes.
    fn picks(
        self,
        len: usize,
        n_outputs: usize,
        origins: &[Origin],
        moves: &[(usize, usize, f64)],
    ) -> Vec<Pick> {
        let origins = || origins.iter().enumerate();
        match self {
            Self::Whole => (0..len).map(Pick::Kept).collect(),
            Self::SideBySide(parts) => {
                let each = parts.len();
                let groups = (0..len / (n_outputs * each)).map(|group| group * n_outputs * each);
                let of_group = |first: usize| {
                    origins().flat_map(move |(output, origin)| {
                        let was =
                            move |part| origin.map(|(from, factor)| (first + from * each + part, factor));
                        parts.iter().enumerate().map(move |(idx, part)| part.pick(output, was(idx)))
                    })
                };
                groups.flat_map(of_group).collect()
            }
            Self::InTurn(part) => {
                let width = len / n_outputs;
                let of_output = |(output, origin): (usize, &Origin)| {
                    let origin = *origin;
                    (0..width).map(move |idx| {
                        part.pick(output, origin.map(|(from, factor)| (from * width + idx, factor)))
                    })
                };
                origins().flat_map(of_output).collect()
            }
            Self::Moves(parts) => {
                let of_move = |&(place, output, factor): &(usize, usize, f64)| {
                    let was = move |idx| Some((place * parts.len() + idx, factor));
                    parts.iter().enumerate().map(move |(idx, part)| part.pick(output, was(idx)))
                };
                moves.iter().flat_map(of_move).collect()
            }
        }
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
