//! The candidates of a race, for the rows at hand.
//!
//! What is in the tables came out ahead in trials on 95 public data sets of all kinds (`cargo xtask bench accuracy`):
//! pairs of classes and direct multiclass beat one class against the rest nearly everywhere, small passive-aggressive
//! steps are hard to beat for two classes, and no rule is best everywhere, which is why there is a race. The plain
//! perceptron comes first: it wins every tie.

use crate::defaults;
use crate::error::Error;
use crate::spec::{Classes, Options, Spec};
use rosenblatt_core::Share;
use rosenblatt_data::Dataset;

/// A rule, and a parameter if it is not as it comes.
type Rule = (&'static str, Option<(&'static str, f64)>);

const PERCEPTRON: Rule = ("perceptron", None);
const LOGISTIC: Rule = ("logistic", None);
const PA_SMALL: Rule = ("pa1", Some(("C", 0.001)));
const PA_MIDDLE: Rule = ("pa1", Some(("C", 0.01)));
const PA_LARGE: Rule = ("pa1", Some(("C", 0.1)));
const SOLVED_LOGISTIC: Rule = ("logistic-dual", Some(("C", 1.0)));
const SOLVED_SVM: Rule = ("svm-dual", Some(("C", 1.0)));
const SOLVED_SVM_SOFT: Rule = ("svm-dual", Some(("C", 0.1)));
const AROW: Rule = ("arow", Some(("r", 1.0)));
const AROW_BOLD: Rule = ("arow", Some(("r", 0.1)));

const REST: Classes = Classes::OneVsRest;
const PAIRS: Classes = Classes::OneVsOne;
const DIRECT: Classes = Classes::Direct(Share::Max);

/// Simplest first.
const TWO_CLASSES: &[(Classes, &[Rule])] = &[(
    REST,
    &[
        PERCEPTRON,
        PA_MIDDLE,
        PA_LARGE,
        PA_SMALL,
        LOGISTIC,
        AROW,
        SOLVED_LOGISTIC,
        SOLVED_SVM,
        SOLVED_SVM_SOFT,
    ],
)];
const SOME_CLASSES: &[(Classes, &[Rule])] = &[
    (REST, &[PERCEPTRON, PA_LARGE, LOGISTIC, SOLVED_SVM]),
    (DIRECT, &[PERCEPTRON, PA_LARGE]),
    (PAIRS, &[PA_LARGE, PA_MIDDLE, LOGISTIC, AROW_BOLD, SOLVED_LOGISTIC]),
];
const MANY_CLASSES: &[(Classes, &[Rule])] = &[
    (REST, &[PERCEPTRON, PA_LARGE, LOGISTIC, SOLVED_SVM]),
    (DIRECT, &[PERCEPTRON, PA_LARGE, LOGISTIC, AROW_BOLD]),
];

/// Above so many classes their pairs are too many to be told apart one by one.
const MOST_FOR_PAIRS: usize = 16;

/// The candidates for rows of `data`, of which `n_rows` are learned from, the simplest first. What `base` says beside
/// rule, parameters and multiclass scheme holds for all of them; those that it does not suit are left out. Its epochs
/// count only if they are not the usual ones.
pub fn portfolio(data: &Dataset, n_rows: usize, base: &Options) -> Result<Vec<Spec>, Error> {
    let table = match data.labels().len() {
        0..=2 => TWO_CLASSES,
        3..=MOST_FOR_PAIRS => SOME_CLASSES,
        _ => MANY_CLASSES,
    };
    let candidates =
        table.iter().flat_map(|(multiclass, rules)| rules.iter().map(move |rule| (multiclass, rule)));
    let spec = |(multiclass, (algorithm, param)): (&Classes, &Rule)| {
        Spec::new(Options {
            algorithm: (*algorithm).to_owned(),
            params: param.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
            multiclass: *multiclass,
            epochs: if base.epochs == defaults::EPOCHS { epochs(n_rows) } else { base.epochs },
            ..base.clone()
        })
    };
    let (mut fitting, mut refused) = (Vec::new(), None);
    for candidate in candidates.map(spec) {
        match candidate {
            Ok(spec) => fitting.push(spec),
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    match refused {
        Some(error) if fitting.is_empty() => Err(error),
        _ => Ok(fitting),
    }
}

/// Enough epochs to settle; many rows settle in fewer.
fn epochs(n_rows: usize) -> u64 {
    match n_rows {
        0..=2_000 => 40,
        2_001..=100_000 => 20,
        100_001..=1_000_000 => 10,
        _ => 5,
    }
}
