//! Which classes are taken for which.

use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// Up to this many classes every pair has a counter; with more, only those that were met.
const FEW: usize = 512;

/// How many rows of each class were given each class. It takes no more room than the rows can fill.
///
/// Serialised, it is a list for each true class, with a number for each given one.
///
/// ```
/// use rosenblatt::evaluate::ConfusionMatrix;
///
/// let mut confusion = ConfusionMatrix::new(3);
/// confusion.add(0, 0);
/// confusion.add(0, 2);
/// assert_eq!(confusion.row(0), [1, 0, 1]);
/// assert_eq!((confusion.of(0), confusion.given(2), confusion.count(0, 2)), (2, 1, 1));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfusionMatrix {
    n_classes: usize,
    /// Row after row, if classes are few.
    all: Vec<u64>,
    /// By true class and given one, if they are many.
    met: BTreeMap<(usize, usize), u64>,
}

impl ConfusionMatrix {
    /// No rows of this many classes.
    pub fn new(n_classes: usize) -> Self {
        let all = if n_classes <= FEW { vec![0; n_classes * n_classes] } else { Vec::new() };
        Self { n_classes, all, met: BTreeMap::new() }
    }

    /// How many classes there are.
    pub fn n_classes(&self) -> usize {
        self.n_classes
    }

    /// One row more of class `truth` that was given class `given`.
    pub fn add(&mut self, truth: usize, given: usize) {
        self.add_many(truth, given, 1);
    }

    fn add_many(&mut self, truth: usize, given: usize, count: u64) {
        if self.n_classes <= FEW {
            self.all[truth * self.n_classes + given] += count;
        } else {
            *self.met.entry((truth, given)).or_default() += count;
        }
    }

    /// The rows of another matrix of the same classes, too.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (truth, given, count) in other.pairs() {
            self.add_many(truth, given, count);
        }
    }

    /// How many rows of class `truth` were given class `given`.
    pub fn count(&self, truth: usize, given: usize) -> u64 {
        if self.n_classes <= FEW {
            self.all[truth * self.n_classes + given]
        } else {
            self.met.get(&(truth, given)).copied().unwrap_or(0)
        }
    }

    /// Every pair of a true class and a given one that was met, ascending, and how often.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize, u64)> {
        let all = self.all.iter().enumerate().filter(|(_, count)| **count > 0);
        let all = all.map(|(place, &count)| (place / self.n_classes, place % self.n_classes, count));
        all.chain(self.met.iter().map(|(&(truth, given), &count)| (truth, given, count)))
    }

    /// The rows of one class: how many were given each class.
    pub fn row(&self, truth: usize) -> Vec<u64> {
        if self.n_classes <= FEW {
            return self.all[truth * self.n_classes..(truth + 1) * self.n_classes].to_vec();
        }
        let mut row = vec![0; self.n_classes];
        for (&(_, given), &count) in self.met.range((truth, 0)..(truth + 1, 0)) {
            row[given] = count;
        }
        row
    }

    /// All rows of the matrix.
    pub fn rows(&self) -> impl Iterator<Item = Vec<u64>> {
        (0..self.n_classes).map(|truth| self.row(truth))
    }

    /// How many rows are of class `truth`.
    pub fn of(&self, truth: usize) -> u64 {
        self.of_each()[truth]
    }

    /// How many rows were given class `given`.
    pub fn given(&self, given: usize) -> u64 {
        self.given_each()[given]
    }

    /// How many rows are of each class.
    pub fn of_each(&self) -> Vec<u64> {
        self.sums(|truth, _| truth)
    }

    /// How many rows were given each class.
    pub fn given_each(&self) -> Vec<u64> {
        self.sums(|_, given| given)
    }

    fn sums(&self, by: impl Fn(usize, usize) -> usize) -> Vec<u64> {
        let mut sums = vec![0; self.n_classes];
        for (truth, given, count) in self.pairs() {
            sums[by(truth, given)] += count;
        }
        sums
    }

    /// How many rows were given their own class.
    pub(crate) fn n_right(&self) -> u64 {
        (0..self.n_classes).map(|class| self.count(class, class)).sum()
    }
}

impl Serialize for ConfusionMatrix {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut rows = serializer.serialize_seq(Some(self.n_classes))?;
        for row in self.rows() {
            rows.serialize_element(&row)?;
        }
        rows.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_classes_are_counted_as_few_are() {
        let met = [(0, 0), (1, 0), (1, 2), (1, 2), (2, 1)];
        let [few, many] = [3, FEW + 1].map(|n_classes| {
            let mut confusion = ConfusionMatrix::new(n_classes);
            for (truth, given) in met {
                confusion.add(truth, given);
            }
            let whole = confusion.clone();
            confusion.merge(&whole);
            confusion
        });
        assert!(many.all.is_empty() && few.met.is_empty());
        assert_eq!(few.pairs().collect::<Vec<_>>(), many.pairs().collect::<Vec<_>>());
        for class in 0..3 {
            assert_eq!(few.row(class), many.row(class)[..3]);
            assert_eq!((few.of(class), few.given(class)), (many.of(class), many.given(class)));
        }
        assert_eq!((few.row(1), few.n_right(), many.n_right()), (vec![2, 0, 4], 2, 2));
        assert_eq!(serde_json::to_string(&few).unwrap(), "[[2,0,0],[2,0,4],[0,2,0]]");
    }
}
