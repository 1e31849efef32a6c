//! The table of algorithms, by name.
//!
//! Built from the core's table of rules, so a rule that is there is here, and from here in the command
//! line, in the documentation and in every model file. Networks come last.

use crate::error::Error;
use rosenblatt_core::rules::{self, Visit};
use rosenblatt_core::space::{Diagonal, Linear};
use rosenblatt_core::{Algorithm, Info, ParamError, Params, Rule};
use std::any::TypeId;
use std::fmt;
use std::sync::LazyLock;

/// The rule's bound on mistakes for these parameters, radius and margin, if it has one.
type Bound = fn(&Params, f64, f64) -> Option<f64>;
/// A rule by itself, for other spaces than its own.
type MakeRule = fn(&Params) -> Result<AnyRule, ParamError>;
pub(crate) type AnyRule = Box<dyn Rule + Send + Sync>;

/// Where the hypotheses of a rule live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Home {
    Weights,
    Variances,
    Elsewhere,
}

/// One line of the table.
#[derive(Clone, Copy)]
pub struct Entry {
    /// What the outside needs to know of the rule.
    pub info: Info,
    /// Whether it is a network, for which alone [`NetworkOptions`](crate::options::NetworkOptions) are.
    pub network: bool,
    rule: MakeRule,
    home: Home,
    pub(crate) bound: Bound,
}

impl Entry {
    /// The rule for whole sequences, and whether it keeps variances; nothing if it does not step along one row at a time.
    pub(crate) fn for_sequences(&self, params: &Params) -> Result<Option<(AnyRule, bool)>, ParamError> {
        let Info { shrinks, picks_worst, per_row, .. } = self.info;
        if self.home == Home::Elsewhere || shrinks || picks_worst || per_row {
            return Ok(None);
        }
        Ok(Some(((self.rule)(params)?, self.home == Home::Variances)))
    }
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
            let rule: MakeRule = |params| Ok(Box::new(A::new(params)?));
            let space = TypeId::of::<A::Space>();
            let home = if space == TypeId::of::<Linear>() {
                Home::Weights
            } else if space == TypeId::of::<Diagonal>() {
                Home::Variances
            } else {
                Home::Elsewhere
            };
            self.0.push(Entry { info: A::INFO, network: false, bound, rule, home });
        }
    }
    let mut collect = Collect(Vec::new());
    rules::each(&mut collect);
    let info = rosenblatt_layers::INFO;
    let rule: MakeRule = |_| Ok(Box::new(rules::Perceptron::default()));
    let home = Home::Elsewhere;
    collect.0.push(Entry { info, network: true, bound: |_, _, _| None, rule, home });
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
    rosenblatt_data::closest(name, names.copied())
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
        let voted = find("voted").unwrap_err().to_string();
        assert!(voted.contains("`voted` is a readout, which goes with an algorithm"), "{voted}");
    }
}
