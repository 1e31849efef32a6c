//! Kernel perceptrons: exactly the sequential algorithm, at the speed of blocked matrix products.

mod budget;
mod expansion;
pub mod kernels;
mod learned;
pub mod maps;
mod plain;
mod products;
mod readouts;
mod rows;
mod simd;
mod space;

pub use budget::{BudgetSpace, Removal};
pub use expansion::{AT_ONCE, Combination, Expansion};

pub use kernels::{Choice, Formula, FromRows, KERNELS, Kernel, KernelError, Outline, Setting, Sum};
pub use learned::{Entry, Learned, NO_ROW};
pub use plain::Plain;
pub use readouts::{READOUTS, errors_at};
pub use rows::Rows;
pub use space::{Effort, KernelSpace, Limits};
