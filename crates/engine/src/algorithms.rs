//! The table of algorithms: the only place where a name becomes a type.
//!
//! Built from the core's table of rules, so a rule that is there is here, and from here in the command
//! line, in the documentation and in every model file. Networks come last.

use crate::error::Error;
use crate::learner::{self, Learner, Shape};
use crate::spec::Spec;
use rosenblatt_core::rules::{self, Visit};
use rosenblatt_core::{Algorithm, Info, Params};
use std::fmt;
use std::sync::LazyLock;

/// The rule's bound on mistakes for these parameters, radius and margin, if it has one.
type Bound = fn(&Params, f64, f64) -> Option<f64>;
type Build = fn(&Spec, usize, Shape) -> Result<Box<dyn Learner>, Error>;

/// One line of the table.
#[derive(Clone, Copy)]
pub struct Entry {
    /// What the outside needs to know of the rule.
    pub info: Info,
    /// Whether it is a network, for which alone [`NetworkOptions`](crate::NetworkOptions) are.
    pub network: bool,
    pub(crate) build: Build,
    pub(crate) bound: Bound,
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.info.name)
    }
}

/// All algorithms, in the order of the core's table, and the network.
pub static ALGORITHMS: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    struct Collect(Vec<Entry>);
    impl Visit for Collect {
        fn visit<A: Algorithm>(&mut self) {
            let bound: Bound = |params, radius, margin| A::new(params).ok()?.bound(radius, margin);
            self.0.push(Entry { info: A::INFO, network: false, build: learner::build::<A>, bound });
        }
    }
    let mut collect = Collect(Vec::new());
    rules::each(&mut collect);
    let (info, build) = (rosenblatt_layers::INFO, learner::build_network);
    collect.0.push(Entry { info, network: true, build, bound: |_, _, _| None });
    collect.0
});

/// The algorithm called `name`, by name or alias.
pub fn find(name: &str) -> Result<Entry, Error> {
    let known = |entry: &&Entry| entry.info.name == name || entry.info.aliases.contains(&name);
    ALGORITHMS.iter().find(known).copied().ok_or_else(|| Error::UnknownAlgorithm {
        name: name.to_owned(),
        suggestion: closest(name).map(str::to_owned),
    })
}

/// The known name that takes the fewest edits to reach, if it is near enough to be a slip.
fn closest(name: &str) -> Option<&'static str> {
    let names = ALGORITHMS.iter().flat_map(|entry| entry.info.aliases.iter().chain([&entry.info.name]));
    let nearest = names.map(|known| (edits(name, known), *known)).min()?;
    (nearest.0 <= name.len().div_ceil(3)).then_some(nearest.1)
}

/// How many letters must be added, dropped or changed to get from `a` to `b`.
fn edits(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, to) in b.chars().enumerate() {
            let change = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_aliases_find_the_same_algorithm() {
        assert_eq!(find("svm").unwrap().info.name, "svm-dual");
        assert_eq!(find("pegasos").unwrap().info.name, "pegasos");
        let refused = find("xyzzy-of-mine").unwrap_err().to_string();
        assert_eq!(refused, "there is no algorithm `xyzzy-of-mine`; see `algorithms`");
        assert_eq!(edits("kitten", "sitting"), 3);
    }
}
