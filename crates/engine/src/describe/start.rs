//! Where a run starts, and how large its weights may be.

use rosenblatt_core::Hyperplanes;
use rosenblatt_layers::Network;

/// The most bytes the weights of one hypothesis may take. Feature numbers come from files, and a
/// single large one must not be able to exhaust the machine.
pub(crate) const MOST_WEIGHT_BYTES: u128 = 2 << 30;

/// Where a run starts.
#[derive(Debug, Clone)]
pub enum Start {
    /// From these hyperplanes.
    Planes(Hyperplanes),
    /// From the weights of this network.
    Network(Network),
}

impl Start {
    /// All its weights and biases.
    pub(crate) fn numbers(&self) -> Vec<f64> {
        match self {
            Self::Planes(planes) => [planes.raw_weights(), planes.biases()].concat(),
            Self::Network(network) => [network.raw_weights(), network.raw_biases()].concat(),
        }
    }
}

impl From<Hyperplanes> for Start {
    fn from(planes: Hyperplanes) -> Self {
        Self::Planes(planes)
    }
}

impl From<Network> for Start {
    fn from(network: Network) -> Self {
        Self::Network(network)
    }
}
