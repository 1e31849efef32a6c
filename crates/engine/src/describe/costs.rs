//! What mistakes cost, and the decision that costs least.
//!
//! A model with probabilities names the most probable class. Where one mistake is worse than another, or a class is
//! only to be named if it is nearly certain, it names the class of least expected cost instead. A threshold is such a
//! cost: the second class is named from probability `t` on exactly if missing it costs `1 - t` and naming it wrongly
//! costs `t`. The costs stand in the description of a run, and so in every model: whatever predicts,
//! evaluates or exports follows it.

use crate::error::{Error, refuse};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What mistakes cost.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Costs {
    /// All the same: the most probable class is named.
    #[default]
    Even,
    /// The second of two classes, which is the positive one, is named from this probability on.
    Threshold(f64),
    /// A mistake costs more the rarer the class of its row is, in inverse proportion.
    Balanced,
    /// By class, what it costs to name another for one of its rows; or by `TRUE:NAMED`, what it costs to name one class
    /// for a row of another. 1 for what is not here.
    Given(BTreeMap<String, f64>),
}

impl Costs {
    /// Checks what can be checked before the classes are known.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self {
            Self::Threshold(share) if !(*share > 0.0 && *share < 1.0) => {
                refuse("threshold", "between 0 and 1", share)
            }
            Self::Given(costs) => match costs.values().find(|cost| !cost.is_finite() || **cost < 0.0) {
                Some(cost) => refuse("cost", "zero or positive", cost),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// The same for rows of these classes: what is to be counted is counted.
    pub(crate) fn counted(
        &self,
        names: &[String],
        classes: impl IntoIterator<Item = u32>,
    ) -> Result<Self, Error> {
        if *self != Self::Balanced {
            return self.matrix(names).map(|_| self.clone());
        }
        let mut counts = vec![0_u64; names.len()];
        classes.into_iter().for_each(|class| counts[class as usize] += 1);
        let n_rows = counts.iter().sum::<u64>() as f64;
        let cost = |count: u64| n_rows / (names.len() as f64 * count.max(1) as f64);
        Ok(Self::Given(names.iter().cloned().zip(counts.into_iter().map(cost)).collect()))
    }

    /// What each mistake costs; nothing if all cost the same.
    pub(crate) fn matrix(&self, names: &[String]) -> Result<Option<CostMatrix>, Error> {
        // Numbers count as classes by the hundred thousand here: a table of pairs is made only where one is asked for.
        if matches!(self, Self::Even | Self::Balanced) {
            return Ok(None);
        }
        let n_classes = names.len();
        let mut costs = vec![1.0; n_classes * n_classes];
        match self {
            Self::Even | Self::Balanced => {}
            Self::Threshold(_) if n_classes != 2 => {
                let expected = "left out for more than two classes, or one of them named as the positive one";
                let found = format!("given for {n_classes}");
                return refuse("threshold", expected, found);
            }
            Self::Threshold(share) => (costs[1], costs[2]) = (*share, 1.0 - share),
            Self::Given(given) => {
                let place = |name: &str| names.iter().position(|other| other == name);
                let pair = |key: &str| {
                    let mut parts = key.match_indices(':');
                    parts.find_map(|(at, _)| Some((place(&key[..at])?, place(&key[at + 1..])?)))
                };
                // A cost for two classes overrides a cost for one.
                for (key, cost) in given {
                    match (place(key), pair(key)) {
                        (Some(class), _) => costs[class * n_classes..][..n_classes].fill(*cost),
                        (None, Some(_)) => {}
                        (None, None) => {
                            return Err(Error::UnknownClass { name: key.clone(), known: names.to_vec() });
                        }
                    }
                }
                for (key, cost) in given.iter().filter(|(key, _)| place(key).is_none()) {
                    if let Some((truth, named)) = pair(key) {
                        costs[truth * n_classes + named] = *cost;
                    }
                }
            }
        }
        (0..n_classes).for_each(|class| costs[class * n_classes + class] = 0.0);
        Ok(Some(CostMatrix { n_classes, costs }))
    }
}

/// What each mistake costs, by the true class and the one that is named.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CostMatrix {
    n_classes: usize,
    /// A row per true class.
    costs: Vec<f64>,
}

impl CostMatrix {
    /// The class of least expected cost; of equals `preferred`, then the first.
    pub(crate) fn least(&self, shares: &[f64], preferred: u32) -> u32 {
        let mut best = (self.expected(shares, preferred as usize), preferred);
        for class in 0..self.n_classes {
            let cost = self.expected(shares, class);
            if cost < best.0 {
                best = (cost, class as u32);
            }
        }
        best.1
    }

    /// By how much `class` is expected to cost less than the next; negative if another costs less.
    pub(crate) fn margin(&self, shares: &[f64], class: u32) -> f64 {
        let others = (0..self.n_classes).filter(|other| *other != class as usize);
        let next = others.map(|other| self.expected(shares, other)).fold(f64::INFINITY, f64::min);
        next - self.expected(shares, class as usize)
    }

    /// What it costs to name a class for a row of another.
    pub(crate) fn of(&self, truth: u32, named: u32) -> f64 {
        self.costs[truth as usize * self.n_classes + named as usize]
    }

    /// What naming a class is expected to cost.
    pub(crate) fn expected(&self, shares: &[f64], named: usize) -> f64 {
        shares.iter().zip(self.costs[named..].iter().step_by(self.n_classes)).map(|(p, cost)| p * cost).sum()
    }

    /// From which probability on the second of two classes is named.
    pub(crate) fn threshold(&self) -> f64 {
        let (wrongly, missed) = (self.costs[1], self.costs[2]);
        if wrongly + missed > 0.0 { wrongly / (wrongly + missed) } else { 0.5 }
    }

    /// All costs, a row per true class.
    pub(crate) fn rows(&self) -> &[f64] {
        &self.costs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn a_threshold_is_where_the_second_class_begins() {
        let two = names(&["ham", "spam"]);
        let costs = Costs::Threshold(0.9).matrix(&two).unwrap().unwrap();
        for (share, class) in [(0.1, 0), (0.89, 0), (0.91, 1), (1.0, 1)] {
            assert_eq!(costs.least(&[1.0 - share, share], 0), class, "{share}");
            assert!(costs.margin(&[1.0 - share, share], class) > 0.0, "{share}");
        }
        assert!(Costs::Threshold(0.9).matrix(&names(&["a", "b", "c"])).is_err());
        assert!(Costs::Threshold(1.0).check().is_err());
        assert!(Costs::Given([("a".to_owned(), -1.0)].into()).check().is_err());
    }

    #[test]
    fn costs_are_found_by_class_and_by_pair() {
        let three = names(&["a", "b", "x:y"]);
        let given = |pairs: &[(&str, f64)]| {
            Costs::Given(pairs.iter().map(|&(key, cost)| (key.to_owned(), cost)).collect())
        };
        let costs = given(&[("a", 5.0), ("a:b", 2.0), ("b:x:y", 7.0), ("x:y", 0.5)]).matrix(&three);
        assert_eq!(costs.unwrap().unwrap().rows(), [0.0, 2.0, 5.0, 1.0, 0.0, 7.0, 0.5, 0.5, 0.0]);
        assert!(matches!(given(&[("q", 1.0)]).matrix(&three), Err(Error::UnknownClass { .. })));
        assert!(matches!(given(&[("a:q", 1.0)]).matrix(&three), Err(Error::UnknownClass { .. })));
        assert_eq!(Costs::Even.matrix(&three), Ok(None));
    }

    #[test]
    fn balance_is_counted() {
        let two = names(&["rare", "usual"]);
        let costs = Costs::Balanced.counted(&two, [1, 1, 1, 0]).unwrap();
        assert_eq!(costs, Costs::Given([("rare".to_owned(), 2.0), ("usual".to_owned(), 4.0 / 6.0)].into()));
        // The prior is what is even then.
        let matrix = costs.matrix(&two).unwrap().unwrap();
        assert_eq!(matrix.least(&[0.26, 0.74], 1), 0);
        assert_eq!(matrix.least(&[0.24, 0.76], 0), 1);
    }
}
