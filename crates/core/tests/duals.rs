//! Rules that are solved in the dual end at the optimum: the duality gap, which no other hypothesis could beat, closes.

use rosenblatt_core::{
    Algorithm, Bias, Binary, Convention, DenseExamples, Examples as _, Hyperplanes, Order, Params, Plan,
    Random, Row as _, Run, Setup, Stopped, rules,
};

/// A row's loss of the margin, and what its dual variable adds to the dual.
type Loss = fn(c: f64, margin: f64) -> f64;
type Gain = fn(c: f64, dual: f64) -> f64;

fn hinge(c: f64, margin: f64) -> f64 {
    c * (1.0 - margin).max(0.0)
}

fn squared_hinge(c: f64, margin: f64) -> f64 {
    c * (1.0 - margin).max(0.0).powi(2)
}

fn log_loss(c: f64, margin: f64) -> f64 {
    c * ((-margin.abs()).exp().ln_1p() + (-margin).max(0.0))
}

fn entropy(c: f64, dual: f64) -> f64 {
    let part = |share: f64| if share == 0.0 { 0.0 } else { share * share.ln() };
    part(c) - part(dual) - part(c - dual)
}

struct Problem {
    values: Vec<f64>,
    width: usize,
    classes: Vec<u32>,
    weights: Vec<f64>,
}

impl Problem {
    /// Two overlapping clouds; some rows count more than others, and some not at all.
    fn new(seed: u64, n_rows: usize, width: usize) -> Self {
        let mut random = Random::new(seed);
        let classes: Vec<u32> = (0..n_rows).map(|_| random.below(2) as u32).collect();
        let mut values = Vec::new();
        for class in &classes {
            for feature in 0..width {
                let noise = (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
                // Only the first features tell the classes apart.
                let shift = if feature < 3 { f64::from(*class) - 0.5 } else { 0.0 };
                values.push(if random.unit() < 0.3 { 0.0 } else { shift + noise });
            }
        }
        let weights = (0..n_rows).map(|_| [0.0, 0.5, 1.0, 1.0, 2.5][random.below(5) as usize]).collect();
        Self { values, width, classes, weights }
    }

    fn examples(&self) -> DenseExamples<'_, f64> {
        DenseExamples::new(&self.values, self.width, &self.classes).with_weights(&self.weights)
    }
}

/// The objective of these hyperplanes.
fn primal(problem: &Problem, planes: &Hyperplanes, bias: Bias, [c, l1]: [f64; 2], loss: Loss) -> f64 {
    let weights = planes.weights(0);
    let constant = if let Bias::Augmented(constant) = bias { planes.biases()[0] / constant } else { 0.0 };
    let norm2 = weights.iter().map(|w| w * w).sum::<f64>() + constant * constant;
    let examples = problem.examples();
    let losses = (0..examples.len()).map(|row| {
        let mut score = [0.0];
        planes.scores(examples.row(row), &mut score);
        let sign = if examples.class(row) == 1 { 1.0 } else { -1.0 };
        examples.weight(row) * loss(c, sign * score[0])
    });
    0.5 * norm2 + l1 * weights.iter().map(|w| w.abs()).sum::<f64>() + losses.sum::<f64>()
}

fn solved<R: Algorithm<Space = rosenblatt_core::space::Dual>>(
    params: &[(&str, f64)],
    loss: Loss,
    gain: Gain,
) {
    let mut n_sparse = 0;
    for seed in 0..6 {
        let problem = Problem::new(seed, 60, 8);
        let examples = problem.examples();
        for (l1, c) in [(0.0, 0.1), (0.0, 3.0), (2.0, 0.5)] {
            for bias in [Bias::None, Bias::Augmented(1.0), Bias::Augmented(0.5)] {
                let set = [("C", c), ("l1", l1), ("tolerance", 1e-10)];
                let named = params.iter().chain(&set);
                let params = named.fold(Params::new(), |params, (name, value)| params.with(name, *value));
                let setup =
                    Setup { convention: Convention { bias, ..Convention::default() }, ..Setup::default() };
                let mut run = Run::new(R::new(&params).unwrap(), Binary, setup).unwrap();
                let plan = Plan {
                    rows: None,
                    order: &Order::ShuffleEpoch,
                    seed,
                    epochs: 100_000,
                    max_updates: None,
                    stop_when_clean: true,
                };
                let stopped = run.fit(examples, &plan, &mut ());
                let what = format!("{}, seed {seed}, C {c}, l1 {l1}, {bias:?}", R::INFO.name);
                assert_eq!(stopped, Stopped::Converged, "{what}");
                let planes = run.last();
                let primal = primal(&problem, &planes, bias, [c, l1], loss);
                // The conjugate of the penalties is half the square of the pulled sums: of the weights.
                let constant =
                    if let Bias::Augmented(constant) = bias { planes.biases()[0] / constant } else { 0.0 };
                let norm2 = planes.weights(0).iter().map(|w| w * w).sum::<f64>() + constant * constant;
                let gains = (0..examples.len()).map(|row| {
                    let dual = run.space().duals(row)[0];
                    examples.weight(row) * gain(c, dual)
                });
                let dual = gains.sum::<f64>() - 0.5 * norm2;
                let gap = primal - dual;
                assert!(gap.abs() <= 1e-7 * (1.0 + primal), "{what}: {primal} and {dual}");
                // Weights are what the dual variables say.
                let sum = |feature: usize| -> f64 {
                    let part = |row: usize| {
                        let sign = if examples.class(row) == 1 { 1.0 } else { -1.0 };
                        let value =
                            examples.row(row).entries().find(|(j, _)| *j == feature).map_or(0.0, |(_, x)| x);
                        examples.weight(row) * run.space().duals(row)[0] * sign * value
                    };
                    (0..examples.len()).map(part).sum()
                };
                let mut n_zero = 0;
                for (feature, weight) in planes.weights(0).into_iter().enumerate() {
                    let sum = sum(feature);
                    let pulled = if sum.abs() <= l1 { 0.0 } else { sum - l1.copysign(sum) };
                    assert!((weight - pulled).abs() < 1e-9, "{what}: {weight} and {pulled}");
                    n_zero += usize::from(weight == 0.0);
                }
                assert!(l1 > 0.0 || n_zero == 0, "{what}: {n_zero} weights are zero");
                n_sparse += usize::from(n_zero > 0);
            }
        }
    }
    assert!(n_sparse > 0, "a penalty on absolute weights leaves out features");
}

#[test]
fn the_hinge_loss_is_minimised() {
    solved::<rules::SvmDual>(&[("squared", 0.0)], hinge, |_, dual| dual);
}

#[test]
fn the_squared_hinge_loss_is_minimised() {
    solved::<rules::SvmDual>(&[("squared", 1.0)], squared_hinge, |c, dual| dual - dual * dual / (4.0 * c));
}

#[test]
fn the_log_loss_is_minimised() {
    solved::<rules::LogisticDual>(&[], log_loss, entropy);
    solved::<rules::LogisticL1>(&[], log_loss, entropy);
}
