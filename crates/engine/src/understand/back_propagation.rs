//! Back-propagation row by row, as a textbook prints it.
//!
//! [`back_propagation`] makes the run that a spec describes with batches of one row, in the given order, and writes down
//! what all units say, how the loss grows with each of their sums, and where every weight goes. The numbers are those of
//! the run itself: weights after a round are the ones that the next begins with.

use crate::error::{Error, refuse};
use crate::learner::Shape;
use crate::model::network;
use crate::rows::check_finite;
use crate::spec::{Options, Spec};
use crate::train::{build, two_classes};
use rosenblatt_core::{Examples, Order, Readout, Row, Visits};
use rosenblatt_data::{Dataset, visit};
use rosenblatt_layers::{Activation, Loss, Network, Optimiser};
use serde::Serialize;
use std::ops::RangeInclusive;

/// A round: one row, there and back.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Propagation {
    /// Number of the round, from 1.
    pub round: u64,
    /// Which row was shown, from 1.
    pub row: usize,
    /// Its class.
    pub class: String,
    /// Its features.
    pub x: Vec<f64>,
    /// The layers, hidden ones first.
    pub layers: Vec<LayerPass>,
    /// What the scores cost.
    pub loss: f64,
}

/// A layer in a round: all lists are by unit, weights by unit and input.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct LayerPass {
    /// The sums.
    pub sums: Vec<f64>,
    /// What units make of them; the scores of the last layer.
    pub said: Vec<f64>,
    /// How much the loss grows with the sums.
    pub slopes: Vec<f64>,
    /// The weights before the step.
    pub weights: Vec<Vec<f64>>,
    /// The biases before the step.
    pub biases: Vec<f64>,
    /// How much the loss grows with the weights.
    pub weight_slopes: Vec<Vec<f64>>,
    /// The weights after the step.
    pub weights_after: Vec<Vec<f64>>,
    /// The biases after the step.
    pub biases_after: Vec<f64>,
}

/// What all rounds have in common.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct BackPropagation {
    /// The rounds that were asked for.
    pub rounds: Vec<Propagation>,
    /// What hidden units make of their sums.
    pub activation: Activation,
    /// What the scores cost.
    pub loss: Loss,
    /// How weights move.
    pub optimiser: Optimiser,
    /// What the features are called.
    pub features: Vec<String>,
    /// What the outputs are called.
    pub outputs: Vec<String>,
    /// How many rows the network names wrongly after the last of these rounds.
    pub wrong: usize,
}

/// Trains row by row and writes down the rounds in `window`.
pub fn back_propagation(
    spec: &Spec,
    data: &Dataset,
    window: RangeInclusive<u64>,
) -> Result<BackPropagation, Error> {
    if spec.order() != Order::Given {
        let expected = "given, as back-propagation is shown row by row";
        return refuse("order", expected, spec.order());
    }
    let all: Vec<u32> = (0..data.len() as u32).collect();
    two_classes(data.labels(), data.classes(), &all)?;
    check_finite(data.view())?;
    let mut options: Options = spec.options().clone();
    options.params.insert("batch".to_owned(), 1.0);
    let spec = Spec::new(options)?;
    let design = spec.design()?;
    let names = data.labels().names();
    let shape = Shape {
        width: data.width(),
        class_weights: Vec::new(),
        start: None,
        kernel: None,
        n_rows: Some(data.len()),
        n_visits: None,
        targets: None,
    };
    let mut learner = build(&spec, names.len(), shape)?;
    let mut rounds = Vec::new();
    let mut now = || -> Result<(), Error> {
        for round in 1..=*window.end() {
            let row = ((round - 1) % data.len() as u64) as usize;
            let before = learner.read(Readout::Last);
            let _ = learner.learn(data.view(), Visits::Listed(&[row as u32]), &mut ());
            let after = learner.read(Readout::Last);
            let (Some(before), Some(after)) =
                (before.as_ref().and_then(network), after.as_ref().and_then(network))
            else {
                continue;
            };
            if !after.is_finite() {
                return Err(Error::Overflow { epoch: 1 + round / data.len() as u64, row: Some(row) });
            }
            if window.contains(&round) {
                let entries: Vec<(usize, f64)> =
                    visit!(data.view(), examples => examples.row(row).entries().collect());
                let class = data.classes()[row];
                let seen = before.propagate(entries.iter().copied(), class, design.loss);
                let mut x = vec![0.0; data.width()];
                for (feature, value) in &entries {
                    x[*feature] = *value;
                }
                let mut inputs = x.clone();
                let mut layers = Vec::new();
                for (number, (unfolded, slopes)) in seen.layers.into_iter().zip(seen.gradients).enumerate() {
                    let of_unit = |slope: &f64| inputs.iter().map(|input| slope * input).collect();
                    let weight_slopes = slopes.iter().map(of_unit).collect();
                    inputs.clone_from(&unfolded.activations);
                    layers.push(LayerPass {
                        sums: unfolded.sums,
                        said: unfolded.activations,
                        slopes,
                        weights: by_unit(before, number),
                        biases: before.biases(number).to_vec(),
                        weight_slopes,
                        weights_after: by_unit(after, number),
                        biases_after: after.biases(number).to_vec(),
                    });
                }
                let class = data.labels().name(class).to_owned();
                rounds.push(Propagation { round, row: row + 1, class, x, layers, loss: seen.cost });
            }
        }
        Ok(())
    };
    now()?;
    let kept = learner.read(Readout::Last);
    let names_rightly = |row: u32| {
        let entries: Vec<(usize, f64)> =
            visit!(data.view(), examples => examples.row(row as usize).entries().collect());
        let class = data.classes()[row as usize];
        let seen = kept.as_ref().and_then(network)?.propagate(entries.into_iter(), class, design.loss);
        let scores = &seen.layers.last()?.activations;
        let named = match scores.as_slice() {
            [score] => u32::from(*score > 0.0),
            several => {
                let highest = several.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                several.iter().position(|score| *score == highest)? as u32
            }
        };
        (named == class).then_some(())
    };
    let wrong = all.iter().filter(|row| names_rightly(**row).is_none()).count();
    let feature = |feature: usize| {
        let named = data.feature_names().and_then(|names| names.get(feature));
        named.cloned().unwrap_or_else(|| format!("x{}", feature + 1))
    };
    Ok(BackPropagation {
        rounds,
        activation: design.activation,
        loss: design.loss,
        optimiser: design.pace.optimiser,
        features: (0..data.width()).map(feature).collect(),
        outputs: if names.len() == 2 { vec![names[1].clone()] } else { names.to_vec() },
        wrong,
    })
}

fn by_unit(network: &Network, layer: usize) -> Vec<Vec<f64>> {
    let sizes = network.sizes();
    let of_unit = |unit| (0..sizes[layer]).map(|input| network.weight(layer, input, unit)).collect();
    (0..sizes[layer + 1]).map(of_unit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_descent_goes_down_the_slopes_that_are_shown() {
        let data = Dataset::from_rows(&[[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]], &["a", "b", "a"]);
        let text = r#"{ "algorithm": "mlp", "rate": "0.5", "order": "given", "validation": null, "seed": 3,
            "params": { "momentum": 0, "nesterov": 0, "weight-decay": 0 },
            "network": { "sizes": [3], "activation": "tanh", "optimiser": "sgd" } }"#;
        let spec: Spec = serde_json::from_str(text).unwrap();
        let traced = back_propagation(&spec, &data, 2..=5).unwrap();
        assert_eq!(
            traced.rounds.iter().map(|round| (round.round, round.row)).collect::<Vec<_>>(),
            [(2, 2), (3, 3), (4, 1), (5, 2)]
        );
        for pair in traced.rounds.windows(2) {
            for (layer, next) in pair[0].layers.iter().zip(&pair[1].layers) {
                assert_eq!((&layer.weights_after, &layer.biases_after), (&next.weights, &next.biases));
            }
        }
        for layer in traced.rounds.iter().flat_map(|round| &round.layers) {
            for (unit, slope) in layer.slopes.iter().enumerate() {
                assert!((layer.biases[unit] - 0.5 * slope - layer.biases_after[unit]).abs() < 1e-15);
                for (input, slope) in layer.weight_slopes[unit].iter().enumerate() {
                    let expected = layer.weights[unit][input] - 0.5 * slope;
                    assert!((expected - layer.weights_after[unit][input]).abs() < 1e-15);
                }
            }
        }
        assert!(crate::trace::trace(&spec, &data, 1..=3).is_err());
    }
}
