//! Class names and their numbers, both ways.
//!
//! Learners count classes `0, 1, 2, …`; people call them `ham` and `spam`. [`Labels`] keeps the two
//! in step. Names are numbered in sorted order (numbers as numbers, everything else as text after
//! them), never in order of appearance, so that the same rows in another order give the same model.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};

/// The classes of a dataset, by number.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Labels {
    names: Vec<String>,
    /// Whether the first of two classes is all that is not the second.
    has_rest: bool,
}

impl Labels {
    /// Numbers `names` as they stand.
    pub fn in_order<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Self {
        Self { names: names.into_iter().map(Into::into).collect(), has_rest: false }
    }

    /// Two labels of which `name` is the second, and the numbers `classes` made theirs. Of two, the other is the
    /// first; of more, all others together are, as `not name`. `None` if there is no such label, or no other.
    pub fn positive(&self, name: &str, classes: &mut [u32]) -> Option<Self> {
        let chosen = self.class(name).filter(|_| self.len() > 1)?;
        for class in classes {
            *class = u32::from(*class == chosen);
        }
        let has_rest = self.len() > 2;
        let other = if has_rest { format!("not {name}") } else { self.names[1 - chosen as usize].clone() };
        Some(Self { names: vec![other, name.to_owned()], has_rest: has_rest || self.has_rest })
    }

    /// These two labels, of which the first is all that is not the second. `None` if there are not two.
    pub fn with_rest(self) -> Option<Self> {
        (self.len() == 2).then_some(Self { has_rest: true, ..self })
    }

    /// The class that is learned against all others taken together, if these labels are of that kind.
    pub fn told_from_rest(&self) -> Option<&str> {
        self.names.get(1).filter(|_| self.has_rest).map(String::as_str)
    }

    /// Numbers the distinct ones of `names` in sorted order: `2` before `10`, numbers before words.
    pub fn sorted<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Self {
        let distinct: BTreeSet<String> = names.into_iter().map(|name| name.as_ref().to_owned()).collect();
        let mut names: Vec<String> = distinct.into_iter().collect();
        names.sort_by(|a, b| compare(a, b));
        Self { names, has_rest: false }
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

    /// Adds a class after all others and returns its number; known classes keep theirs.
    pub fn add(&mut self, name: &str) -> u32 {
        self.class(name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() as u32 - 1
        })
    }

    /// Adds a class that is known to be new after all others.
    pub(crate) fn add_new(&mut self, name: &str) {
        self.names.push(name.to_owned());
    }

    /// The numbers of the classes of these names; those that are none are left out.
    pub(crate) fn classes<'a>(&self, names: impl IntoIterator<Item = &'a String>) -> Vec<u32> {
        let numbers: HashMap<&str, u32> = self.names.iter().map(String::as_str).zip(0..).collect();
        names.into_iter().filter_map(|name| numbers.get(name.as_str()).copied()).collect()
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
