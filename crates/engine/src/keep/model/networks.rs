//! The part of a model file that holds a network: the units of its layers, weights and biases.

use super::file::{Arrays, Body, FormatError, Hypothesis, content};
use rosenblatt_core::memory::Kept;
use rosenblatt_layers::{Activation, Network};
use std::sync::Arc;

pub(super) fn encode(network: &Network, body: &mut Body) -> Hypothesis {
    body.f64s("weights", &network.raw_weights());
    body.f64s("biases", &network.raw_biases());
    let sizes = network.sizes();
    let (width, outputs) = (sizes[0], network.n_outputs());
    let hidden = sizes[1..sizes.len() - 1].to_vec();
    Hypothesis::Network { width, outputs, hidden, activation: network.activation().to_string() }
}

pub(super) fn decode(hypothesis: &Hypothesis, arrays: &mut Arrays<'_>) -> Result<Kept, FormatError> {
    let Hypothesis::Network { width, outputs, hidden, activation } = hypothesis else {
        return Err(content("it has no network"));
    };
    let activation: Activation =
        activation.parse().map_err(|error: rosenblatt_core::NameError| content(error.to_string()))?;
    let sizes = [&[*width], &hidden[..], &[*outputs]].concat();
    let (weights, biases) = (arrays.f64s("weights")?, arrays.f64s("biases")?);
    // As many numbers as the sizes say, so that nothing larger is made of them than the file is long.
    let network = Network::from_parts(&sizes, activation, &weights, &biases).map_err(content)?;
    Ok(Kept::Other(Arc::new(network)))
}
