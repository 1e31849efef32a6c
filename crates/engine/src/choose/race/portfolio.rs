//! The candidates of a race, for the rows at hand.
//!
//! What is in the tables, and in which order, came out of trials on some hundred public data sets of all kinds: pairs of classes
//! and direct multiclass beat one class against the rest nearly everywhere, small passive-aggressive steps are hard to
//! beat for two classes, and no rule is best everywhere, which is why there is a race. Those that did well most often
//! come first, and win every tie. `cargo xtask bench accuracy` says what comes of it beside others.

use crate::defaults;
use crate::error::Error;
use crate::spec::{Classes, Options, Spec};
use rosenblatt_core::{Bias, Examples, Row, Share};
use rosenblatt_data::{Dataset, Shape, Visitor};

/// A rule, and a parameter if it differs from the default.
type Rule = (&'static str, Option<(&'static str, f64)>);

const PERCEPTRON: Rule = ("perceptron", None);
const LOGISTIC: Rule = ("logistic", None);
const PA_SMALL: Rule = ("pa1", Some(("C", 0.001)));
const PA_MIDDLE: Rule = ("pa1", Some(("C", 0.01)));
const PA_LARGE: Rule = ("pa1", Some(("C", 0.1)));
const AROW: Rule = ("arow", Some(("r", 1.0)));
const AROW_BOLD: Rule = ("arow", Some(("r", 0.1)));
const SOLVED_SVM: Rule = ("svm-dual", Some(("C", 1.0)));
const SOLVED_SVM_SOFT: Rule = ("svm-dual", Some(("C", 0.1)));
const SOLVED_LOGISTIC_SOFT: Rule = ("logistic-dual", Some(("C", 0.1)));
const SOLVED_LOGISTIC: Rule = ("logistic-dual", Some(("C", 1.0)));

const REST: Classes = Classes::OneVsRest;
const PAIRS: Classes = Classes::OneVsOne;
const DIRECT: Classes = Classes::Direct(Share::Max);

/// Rules by the way in which they tell classes apart.
type Rules = &'static [(Classes, &'static [Rule])];

/// Up to this many classes, and then who takes part.
const TABLES: &[(usize, Rules)] = &[
    (
        2,
        &[(
            REST,
            &[
                PA_LARGE,
                SOLVED_LOGISTIC,
                SOLVED_SVM_SOFT,
                LOGISTIC,
                PERCEPTRON,
                PA_MIDDLE,
                PA_SMALL,
                AROW,
                SOLVED_SVM,
            ],
        )],
    ),
    (
        16,
        &[
            (PAIRS, &[PA_LARGE, LOGISTIC, PA_MIDDLE, SOLVED_LOGISTIC_SOFT]),
            (DIRECT, &[PA_LARGE, PERCEPTRON]),
            (REST, &[PA_LARGE, LOGISTIC, SOLVED_SVM_SOFT]),
        ],
    ),
    (
        30,
        &[
            (PAIRS, &[PA_LARGE]),
            (DIRECT, &[PA_LARGE, PERCEPTRON, LOGISTIC]),
            (REST, &[PERCEPTRON, PA_LARGE, SOLVED_SVM]),
        ],
    ),
    (
        usize::MAX,
        &[
            (DIRECT, &[PA_LARGE, PERCEPTRON, LOGISTIC, AROW_BOLD]),
            (REST, &[PERCEPTRON, PA_LARGE, LOGISTIC, SOLVED_SVM]),
        ],
    ),
];

/// A bias that moves by 1 cannot keep up with long rows: the coordinate it is given instead is a part of their
/// length, in powers of two, from this on.
const PART_OF_LENGTH: f64 = 0.25;
const LEAST_COORDINATE: f64 = 4.0;
/// With fewer epochs nothing is solved.
const LEAST_TO_SETTLE: u64 = 10;
/// Where the rarer of two classes has fewer rows, luck chooses, and rules that step by a rate do not take part beside
/// those that see to a margin.
const FEW_OF_A_CLASS: usize = 20;
/// The rows that are measured to learn how long rows are.
const ROWS_MEASURED: usize = 1_000;

/// The knots of columns that race beside straight lines: few for few rows, many for many.
const KNOTS: [u16; 2] = [4, 15];
/// The most crosses that race.
const MOST_CROSSES: usize = 64;

/// The shapes that race beside straight lines.
pub(crate) const BENDS: [Shape; 2] = [Shape::bend(KNOTS[0]), Shape::bend(KNOTS[1])];

/// Those with crosses that race beside them, for this number of columns.
pub(crate) fn crossed(n_columns: usize) -> impl Iterator<Item = Shape> {
    let n_pairs = n_columns * n_columns.saturating_sub(1) / 2;
    let crosses = n_columns.min(n_pairs).min(MOST_CROSSES) as u16;
    KNOTS.into_iter().filter(move |_| crosses > 0).map(move |knots| Shape::Bend { knots, crosses })
}

/// The candidates for rows of `data`, of which `n_rows` are learned from, those that do well most often first. All of
/// them are hyperplanes, so that any winner can be explained, certified and drawn. What `base` says beside rule,
/// parameters and multiclass scheme holds for all of them; those that it does not suit are left out. Its epochs count
/// only if they are not the usual ones.
pub fn portfolio(data: &Dataset, n_rows: usize, base: &Options) -> Result<Vec<Spec>, Error> {
    let n_classes = data.labels().len();
    let table = TABLES.iter().find(|(most, _)| n_classes <= *most).map_or(&[][..], |(_, table)| table);
    let rules = table.iter().flat_map(|(multiclass, rules)| rules.iter().map(|rule| (*multiclass, rule)));
    let bias = bias_for(data);
    let epochs = if base.epochs == defaults::EPOCHS { epochs(n_rows) } else { base.epochs };
    let options = |(multiclass, (algorithm, param)): (Classes, &Rule)| Options {
        algorithm: (*algorithm).to_owned(),
        params: param.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
        multiclass,
        epochs,
        bias: base.bias.or(bias),
        ..base.clone()
    };
    let (mut fitting, mut refused) = (Vec::new(), None);
    for candidate in rules.map(options) {
        match Spec::new(candidate) {
            // What is solved settles sooner than an average does.
            Ok(spec) if spec.entry().info.settles && base.epochs == defaults::EPOCHS => {
                let epochs = (epochs / 2).max(LEAST_TO_SETTLE).min(epochs);
                fitting.push(Spec::new(Options { epochs, ..spec.options().clone() })?);
            }
            Ok(spec) => fitting.push(spec),
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    let by_rate = |spec: &Spec| spec.entry().info.rate.is_some();
    let is_rare = n_classes == 2 && rows_of_rarest(data, n_rows) < FEW_OF_A_CLASS;
    if is_rare && !fitting.iter().all(by_rate) {
        fitting.retain(|spec| !by_rate(spec));
    }
    match refused {
        Some(error) if fitting.is_empty() => Err(error),
        _ => Ok(fitting),
    }
}

/// How many of `n_rows` rows are of the class that has the fewest.
fn rows_of_rarest(data: &Dataset, n_rows: usize) -> usize {
    let mut counts = vec![0; data.labels().len()];
    for &class in data.classes() {
        counts[class as usize] += 1;
    }
    counts.into_iter().min().unwrap_or(0) * n_rows / data.len().max(1)
}

/// A coordinate for the bias that suits the length of the rows; `None` if they are short, and any rule's own way does.
fn bias_for(data: &Dataset) -> Option<Bias> {
    struct Length;
    impl Visitor for Length {
        type Output = f64;
        fn visit<E: Examples>(self, examples: E) -> f64 {
            let step = examples.len().div_ceil(ROWS_MEASURED).max(1);
            let rows = (0..examples.len()).step_by(step);
            let n_rows = rows.len().max(1) as f64;
            rows.map(|row| examples.row(row).norm2() / n_rows).sum::<f64>().sqrt()
        }
    }
    let coordinate = (data.visit(Length) * PART_OF_LENGTH).log2().floor().exp2();
    (coordinate >= LEAST_COORDINATE && coordinate.is_finite()).then_some(Bias::Augmented(coordinate))
}

/// Enough epochs to settle; many rows settle in fewer.
fn epochs(n_rows: usize) -> u64 {
    match n_rows {
        0..=1_000 => 40,
        1_001..=8_000 => 20,
        8_001..=200_000 => 10,
        _ => 5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_classes_has_candidates() {
        for n_classes in [2, 3, 16, 17, 30, 31, 200] {
            let names: Vec<String> = (0..n_classes).map(|class| class.to_string()).collect();
            let data = Dataset::from_rows(&vec![[1.0]; n_classes], &names);
            let candidates = portfolio(&data, n_classes, &Options::default()).unwrap();
            assert!(candidates.len() >= 7, "{n_classes}");
            let epochs = |spec: &Spec| if spec.entry().info.settles { 20 } else { 40 };
            assert!(candidates.iter().all(|spec| spec.options().epochs == epochs(spec)));
            assert!(candidates.iter().all(|spec| spec.options().map.is_none()));
        }
    }

    #[test]
    fn few_rows_of_a_class_are_left_to_rules_with_a_margin() {
        let names = |n_rare: usize| -> Vec<&str> {
            (0..100).map(|row| if row < n_rare { "rare" } else { "usual" }).collect()
        };
        for (n_rare, n_rows, has_perceptron) in
            [(50, 100, true), (20, 100, true), (19, 100, false), (24, 80, false)]
        {
            let data = Dataset::from_rows(&vec![[1.0]; 100], &names(n_rare));
            let candidates = portfolio(&data, n_rows, &Options::default()).unwrap();
            let has = candidates.iter().any(|spec| spec.options().algorithm == "perceptron");
            assert_eq!(has, has_perceptron, "{n_rare} of 100, {n_rows} learned from");
        }
    }

    #[test]
    fn long_rows_have_a_bias_that_keeps_up_with_them() {
        let long = Dataset::from_rows(&[[64.0, 0.0], [0.0, 64.0]], &["a", "b"]);
        assert_eq!(bias_for(&long), Some(Bias::Augmented(16.0)));
        let short = Dataset::from_rows(&[[8.0, 0.0], [0.0, 8.0]], &["a", "b"]);
        assert_eq!(bias_for(&short), None);
        assert_eq!(bias_for(&Dataset::from_rows(&[[0.0], [0.0]], &["a", "b"])), None);
    }

    #[test]
    fn what_is_said_holds_for_all() {
        let data = Dataset::from_rows(&[[1.0], [2.0]], &["a", "b"]);
        let base = Options { epochs: 7, rate: Some("0.5".parse().unwrap()), ..Options::default() };
        let candidates = portfolio(&data, 2, &base).unwrap();
        // Most rules set their own step and take no rate.
        assert!(candidates.iter().all(|spec| spec.options().epochs == 7 && spec.entry().info.rate.is_some()));
        assert_eq!(candidates.len(), 2);
    }
}
