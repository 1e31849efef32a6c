//! Multi-layer perceptrons for the core's training loop: small networks, trained batch by batch.
//!
//! [`NetworkSpace`] is a space in the core's sense, so the core does orders, epochs, early stopping, checkpoints, rows on
//! disk and observers; this crate adds back-propagation. [`Network`] is the trained network.
//! Everything is computed in doubles, in a fixed order, with exponentials of our own: the same seed gives the same bits,
//! whatever the threads, the registers and the storage of rows.
//!
//! It is not a framework: layers weigh all their inputs, and there is one activation for all hidden units.

mod activation;
mod loss;
mod network;
mod optimiser;
mod products;
mod rule;
mod space;
mod wide;

pub use activation::Activation;
pub use loss::Loss;
pub use network::{MOST_LAYERS, MOST_UNITS, Network, Propagated, Unfolded};
pub use optimiser::{Optimiser, Pace};
pub use rule::{Descent, INFO, RATE, suited_rate};
pub use space::{Design, NetworkSpace};
