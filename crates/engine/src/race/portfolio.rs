//! The candidates of a race, for the rows at hand.

use crate::spec::{Classes, Options, Spec};
use rosenblatt_core::Share;
use rosenblatt_data::Dataset;

/// Above so many classes their pairs are too many to be told apart one by one.
const MOST_FOR_PAIRS: usize = 40;

/// The candidates for `n_rows` rows of `data`, the simplest first.
pub fn portfolio(data: &Dataset, n_rows: usize, seed: u64) -> Vec<Spec> {
    let n_classes = data.labels().len();
    let schemes: Vec<Classes> = match n_classes {
        0..=2 => vec![Classes::OneVsRest],
        3..=MOST_FOR_PAIRS => vec![Classes::OneVsRest, Classes::OneVsOne, Classes::Direct(Share::Max)],
        _ => vec![Classes::OneVsRest, Classes::Direct(Share::Max)],
    };
    let mut candidates = Vec::new();
    for (algorithm, parameter, values) in RULES {
        for multiclass in &schemes {
            for value in *values {
                let params = parameter.map(|name| (name.to_owned(), *value)).into_iter().collect();
                let (algorithm, multiclass) = ((*algorithm).to_owned(), *multiclass);
                let options = Options {
                    algorithm,
                    params,
                    multiclass,
                    seed,
                    epochs: epochs(n_rows),
                    ..Options::default()
                };
                candidates.extend(Spec::new(options));
            }
        }
    }
    candidates
}

const RULES: &[(&str, Option<&str>, &[f64])] = &[
    ("perceptron", None, &[0.0]),
    ("pa1", Some("C"), &[0.001, 0.01, 0.1]),
    ("logistic", Some("l2"), &[0.0]),
    ("arow", Some("r"), &[0.1, 1.0, 10.0]),
];

/// Enough epochs to settle; many rows settle in fewer.
fn epochs(n_rows: usize) -> u64 {
    match n_rows {
        0..=2_000 => 40,
        2_001..=100_000 => 20,
        100_001..=1_000_000 => 10,
        _ => 5,
    }
}
