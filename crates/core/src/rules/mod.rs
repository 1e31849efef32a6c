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
    ($dollar:tt $($module:ident :: $rule:ident as $builder:ident { $($method:ident: $param:literal),* })+) => {
        $(mod $module; pub use $module::$rule;)+

        /// Shows `visitor` every rule of the table, in order.
        pub fn each(visitor: &mut impl Visit) {
            $(visitor.visit::<$rule>();)+
        }

        /// Hands the table to a macro: every rule, what its typed builder is called, and the builder's methods with the
        /// parameters they set.
        #[macro_export]
        macro_rules! for_each_rule {
            ($dollar callback:ident) => {
                $dollar callback! { $($rule as $builder { $($method: $param),* })+ }
            };
        }
    };
}

// Each rule with the name of its typed builder, and the methods there that set its parameters.
rules! {
    $
    perceptron::Perceptron as Perceptron {}
    fixed_margin::FixedMargin as FixedMargin { margin: "margin" }
    half_margin::HalfMargin as HalfMargin { gamma: "gamma" }
    paum::Paum as Paum { plus: "plus", minus: "minus" }
    dynamic_margin::DynamicMargin as DynamicMargin { epsilon: "epsilon" }
    alma::Alma as Alma { alpha: "alpha", b: "B", c: "C" }
    romma::Romma as Romma {}
    aggressive_romma::AggressiveRomma as AggressiveRomma {}
    pa::Pa as PassiveAggressive {}
    pa_one::PaOne as PassiveAggressiveOne { c: "C" }
    pa_two::PaTwo as PassiveAggressiveTwo { c: "C" }
    arow::Arow as Arow { r: "r" }
    batch::Batch as Batch { size: "size", mean: "mean" }
    minover::MinOver as MinOver {}
    logistic::Logistic as Logistic { l2: "l2" }
    hinge::Hinge as Hinge { l2: "l2" }
    pegasos::Pegasos as Pegasos { lambda: "lambda" }
    svm_dual::SvmDual as SvmDual { c: "C", squared: "squared", l1: "l1", tolerance: "tolerance" }
    logistic_dual::LogisticDual as LogisticDual { c: "C", l1: "l1", tolerance: "tolerance" }
    logistic_l1::LogisticL1 as LogisticL1 { c: "C", l1: "l1", tolerance: "tolerance" }
    ridge::Ridge as Ridge { l2: "l2" }
    huber::Huber as Huber { delta: "delta", l2: "l2" }
    quantile::Quantile as Quantile { q: "q", l2: "l2" }
    svr::Svr as SupportVectorRegression { c: "C", epsilon: "epsilon", squared: "squared", tolerance: "tolerance" }
    lms::Lms as Adaline {}
    pa_regression::PaRegression as PassiveAggressiveRegression { c: "C", epsilon: "epsilon", squared: "squared" }
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
