//! The table of update rules: one file each, one line here.
//!
//! Everything that lists algorithms (the engine, the command line, the laws, the documentation) walks
//! this table through [`each`], so a rule that is in the table is everywhere.

/// Something that is done with every rule of the table.
pub trait Visit {
    /// Called once per rule.
    fn visit<A: Algorithm>(&mut self);
}

macro_rules! rules {
    ($($module:ident :: $rule:ident),+ $(,)?) => {
        $(mod $module; pub use $module::$rule;)+

        /// Shows `visitor` every rule of the table, in order.
        pub fn each(visitor: &mut impl Visit) {
            $(visitor.visit::<$rule>();)+
        }
    };
}

rules! {
    perceptron::Perceptron,
    fixed_margin::FixedMargin,
    half_margin::HalfMargin,
    paum::Paum,
    dynamic_margin::DynamicMargin,
    alma::Alma,
    romma::Romma,
    aggressive_romma::AggressiveRomma,
    pa::Pa,
    pa_one::PaOne,
    pa_two::PaTwo,
    arow::Arow,
    batch::Batch,
    minover::MinOver,
    logistic::Logistic,
    hinge::Hinge,
    pegasos::Pegasos,
    svm_dual::SvmDual,
    logistic_dual::LogisticDual,
    logistic_l1::LogisticL1,
}

use crate::rule::Algorithm;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::{Info, Seen};
    use std::collections::BTreeSet;

    /// A round with this margin, on a unit row, before any update: what rule tests start from.
    pub(super) fn seen(margin: f64) -> Seen {
        let mistaken = margin <= 0.0;
        Seen { margin, mistaken, label: 1.0, spread: 1.0, weight: 1.0, round: 1, ..Seen::default() }
    }

    struct Infos(Vec<Info>);

    impl Visit for Infos {
        fn visit<A: Algorithm>(&mut self) {
            self.0.push(A::INFO);
        }
    }

    #[test]
    fn every_entry_is_complete_and_every_name_is_its_own() {
        let mut infos = Infos(Vec::new());
        each(&mut infos);
        let mut names = BTreeSet::new();
        for info in &infos.0 {
            for name in info.aliases.iter().chain([&info.name]) {
                assert!(names.insert(*name), "`{name}` is used twice");
            }
            for text in [info.summary, info.update, info.source, info.prefer] {
                assert!(!text.is_empty(), "`{}` has an empty text", info.name);
            }
            for param in info.params {
                assert!(param.range.holds(param.default), "default of `{}` of `{}`", param.name, info.name);
            }
        }
    }
}
