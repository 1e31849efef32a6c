//! Class names and their numbers, both ways.
//!
//! Learners count classes `0, 1, 2, …`; people call them `ham` and `spam`. [`Labels`] keeps the two
//! in step. Names are numbered in sorted order (numbers as numbers, everything else as text after
//! them), never in order of appearance, so that the same rows in another order give the same model.

use std::cmp::Ordering;
use std::collections::BTreeSet;

/// The classes of a dataset, by number.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Labels {
    names: Vec<String>,
}

impl Labels {
    /// Numbers `names` as they stand.
    pub fn in_order<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Self {
        Self { names: names.into_iter().map(Into::into).collect() }
    }

    /// Two labels, `not name` and `name`, and the numbers `classes` made theirs. `None` if there is no such label, or
    /// no other.
    pub(crate) fn one_against_rest(&self, name: &str, classes: &mut [u32]) -> Option<Self> {
        let chosen = self.class(name).filter(|_| self.len() > 1)?;
        for class in classes {
            *class = u32::from(*class == chosen);
        }
        Some(Self::in_order([format!("not {name}"), name.to_owned()]))
    }

    /// Numbers the distinct ones of `names` in sorted order: `2` before `10`, numbers before words.
    pub fn sorted<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Self {
        let distinct: BTreeSet<String> = names.into_iter().map(|name| name.as_ref().to_owned()).collect();
        let mut names: Vec<String> = distinct.into_iter().collect();
        names.sort_by(|a, b| compare(a, b));
        Self { names }
    }

    /// Makes `positive` class 1, the class a positive score speaks for. Only for two classes.
    pub fn with_positive(mut self, positive: &str) -> Option<Self> {
        let place = self.names.iter().position(|name| name == positive)?;
        if self.names.len() != 2 {
            return None;
        }
        self.names.swap(place, 1);
        Some(self)
    }

    /// Adds a class behind all others and returns its number; known classes keep theirs.
    pub fn add(&mut self, name: &str) -> u32 {
        self.class(name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() as u32 - 1
        })
    }

    /// Adds a class that is known to be new behind all others.
    pub(crate) fn add_new(&mut self, name: &str) {
        self.names.push(name.to_owned());
    }

    /// The number of the class called `name`.
    pub fn class(&self, name: &str) -> Option<u32> {
        self.names.iter().position(|known| known == name).map(|place| place as u32)
    }

    /// The name of class number `class`. Panics if there is no such class.
    pub fn name(&self, class: u32) -> &str {
        &self.names[class as usize]
    }

    /// All names, by class number.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// How many classes there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is no class at all.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

fn compare(a: &str, b: &str) -> Ordering {
    match (number(a), number(b)) {
        (Some(x), Some(y)) => x.total_cmp(&y).then_with(|| a.cmp(b)),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

fn number(name: &str) -> Option<f64> {
    name.parse().ok().filter(|number: &f64| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_sort_as_numbers_and_before_words() {
        let labels = Labels::sorted(["10", "b", "-1", "2", "a", "2", "+1"]);
        assert_eq!(labels.names(), ["-1", "+1", "2", "10", "a", "b"]);
        assert_eq!(labels.class("10"), Some(3));
        assert_eq!(labels.name(0), "-1");
    }

    #[test]
    fn the_positive_class_is_number_one() {
        let labels = Labels::sorted(["spam", "ham"]).with_positive("ham").unwrap();
        assert_eq!(labels.names(), ["spam", "ham"]);
        assert!(labels.clone().with_positive("eggs").is_none());
        assert!(Labels::sorted(["a", "b", "c"]).with_positive("a").is_none());
    }
}
