//! Kernel perceptrons: exactly the sequential algorithm, at the speed of blocked matrix products.

pub mod kernels;
pub mod maps;

pub use kernels::{Choice, Formula, FromRows, Gamma, KERNELS, Kernel, KernelError, Outline, Sum};
