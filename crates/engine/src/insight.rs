//! What a model has learned, in words: its strongest features, and how sure an error rate is.

use crate::model::Model;
use rosenblatt_core::{Bias, Decision, Examples, Multiclass, Planes, Row};
use rosenblatt_data::{Dataset, Visitor};

/// A feature that speaks for a class, and how loudly.
#[derive(Debug, Clone, PartialEq)]
pub struct Voice {
    /// What the feature is called.
    pub name: String,
    /// Its weight in favour of the class.
    pub weight: f64,
}

/// The features that speak most strongly for `class`, strongest first; none if the model is a vote.
pub fn strongest(model: &Model, class: u32, most: usize) -> Vec<Voice> {
    let Some(weights) = weights_for(model, class) else { return Vec::new() };
    let mut features: Vec<usize> = (0..weights.len()).filter(|&feature| weights[feature] > 0.0).collect();
    features.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]).then(a.cmp(&b)));
    features.truncate(most);
    features
        .into_iter()
        .map(|feature| Voice { name: feature_name(model, feature), weight: weights[feature] })
        .collect()
}

/// The weight of every feature in favour of `class`; `None` if the model is a vote, or has none for it.
pub(crate) fn weights_for(model: &Model, class: u32) -> Option<Vec<f64>> {
    let planes = model.planes()?;
    Some(match (model.labels().len(), class) {
        (2, 1) => planes.weights(0),
        (2, _) => planes.weights(0).iter().map(|weight| -weight).collect(),
        (n_classes, _) => match model.spec().options().multiclass.decision(n_classes) {
            Multiclass::OneVsOne(decision) => {
                let mut sum = vec![0.0; planes.width()];
                for (scorer, &(a, b)) in decision.pairs().iter().enumerate() {
                    let side = if a == class { 1.0 } else { -1.0 };
                    if a == class || b == class {
                        sum.iter_mut()
                            .zip(planes.weights(scorer))
                            .for_each(|(sum, weight)| *sum += side * weight);
                    }
                }
                sum
            }
            decision if (class as usize) < decision.n_scorers() => planes.weights(class as usize),
            _ => return None,
        },
    })
}

/// What a feature is called: its name, or its number from 1.
pub fn feature_name(model: &Model, feature: usize) -> String {
    let named = model.feature_names().and_then(|names| names.get(feature));
    named.cloned().unwrap_or_else(|| format!("feature {}", feature + 1))
}

/// The most mistakes the rule can make on these rows, ever: its bound, with the margin of the model
/// itself standing in for the largest one. `None` if the model does not separate the rows, if there
/// are more than two classes, or if no bound is known for the rule.
pub fn mistake_bound(model: &Model, data: &Dataset, rows: &[u32]) -> Option<f64> {
    struct Reach<'a> {
        planes: &'a Planes,
        rows: &'a [u32],
    }
    impl Visitor for Reach<'_> {
        /// The largest squared length of a row, and the smallest score in favour of its class.
        type Output = (f64, f64);
        fn visit<E: Examples>(self, examples: E) -> (f64, f64) {
            let mut score = [0.0];
            self.rows.iter().fold((0.0_f64, f64::INFINITY), |(longest, nearest), &row| {
                let features = examples.row(row as usize);
                self.planes.scores(features, &mut score);
                let side = if examples.class(row as usize) == 1 { score[0] } else { -score[0] };
                (longest.max(features.norm2()), nearest.min(side))
            })
        }
    }
    let planes = model.planes().filter(|planes| planes.n_scorers() == 1 && planes.width() >= data.width())?;
    let (longest, nearest) = data.visit(Reach { planes, rows });
    // A learned bias is a coordinate that is always 1, as far as the bound is concerned.
    let constant = match model.spec().bias() {
        Bias::None => 0.0,
        Bias::Learned => 1.0,
        Bias::Augmented(constant) => constant,
    };
    let bias = if constant == 0.0 { 0.0 } else { planes.biases()[0] / constant };
    let norm = (planes.weights(0).iter().map(|weight| weight * weight).sum::<f64>() + bias * bias).sqrt();
    if nearest <= 0.0 || norm == 0.0 {
        return None;
    }
    let radius = (longest + constant * constant).sqrt();
    (model.spec().entry().bound)(&model.spec().params(), radius, nearest / norm)
}

/// Between which error rates the true one lies, with 95 % confidence, after `errors` in `rows`
/// (Wilson's interval, which is honest for small numbers too).
pub fn interval(errors: u64, rows: u64) -> (f64, f64) {
    if rows == 0 {
        return (0.0, 1.0);
    }
    let z = 1.959_963_984_540_054_f64;
    let (n, share) = (rows as f64, errors as f64 / rows as f64);
    let middle = share + z * z / (2.0 * n);
    let spread = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    let whole = 1.0 + z * z / n;
    // With no errors, or nothing but errors, the end of the interval is exact; rounding must not blur it.
    let low = if errors == 0 { 0.0 } else { ((middle - spread) / whole).max(0.0) };
    let high = if errors == rows { 1.0 } else { ((middle + spread) / whole).min(1.0) };
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, Spec, train};
    use rosenblatt_core::Readout;

    #[test]
    fn the_interval_is_the_textbooks() {
        let (low, high) = interval(10, 100);
        assert!((low - 0.0552).abs() < 1e-4 && (high - 0.1744).abs() < 1e-4, "{low} {high}");
        assert_eq!(interval(0, 50).0, 0.0);
        assert!(interval(0, 50).1 > 0.05);
    }

    #[test]
    fn a_separating_model_bounds_the_mistakes_of_its_own_training() {
        let rows = [[4.0, 0.0], [1.0, 1.0], [0.0, 1.0], [-2.0, -2.0]];
        let data = Dataset::from_rows(&rows, &["b", "a", "a", "b"]);
        // The last hypothesis of a run that ended with a clean pass separates the rows.
        let last = Spec::new(Options { readout: Some(Readout::Last), ..Options::default() }).unwrap();
        let model = train(&last, &data).unwrap();
        let bound = mistake_bound(&model, &data, &[0, 1, 2, 3]).unwrap();
        assert!(model.story().totals.mistakes as f64 <= bound, "{bound}");
        assert!(bound >= 187.0 / 9.0, "no hyperplane has a larger margin than the best: {bound}");
        let xor =
            Dataset::from_rows(&[[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]], &["b", "a", "a", "b"]);
        let model = train(&Spec::default(), &xor).unwrap();
        assert_eq!(mistake_bound(&model, &xor, &[0, 1, 2, 3]), None);
    }

    #[test]
    fn the_telling_feature_is_found_and_named() {
        let rows = [[1.0, 0.0, 0.5], [0.9, 0.1, 0.5], [0.0, 1.0, 0.5], [0.1, 0.9, 0.5]];
        let data = Dataset::from_rows(&rows, &["spam", "spam", "ham", "ham"])
            .with_feature_names(["free", "lunch", "the"].map(str::to_owned).to_vec());
        let model = train(&Spec::default(), &data).unwrap();
        assert_eq!(strongest(&model, 1, 1)[0].name, "free");
        assert_eq!(strongest(&model, 0, 1)[0].name, "lunch");
    }
}
