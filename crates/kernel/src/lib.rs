//! Kernel perceptrons: exactly the sequential algorithm, at the speed of blocked matrix products.

mod budget;
mod device;
mod expansion;
pub mod kernels;
mod learned;
pub mod maps;
mod plain;
mod processor;
mod products;
mod readouts;
mod rows;
mod simd;
mod space;

pub use budget::{BudgetSpace, Removal};
pub use device::{Device, Effort, Ending, Found, Log, Supports, Trouble, Worker};
pub use expansion::{Combination, Expansion};

pub use kernels::{Choice, Formula, FromRows, KERNELS, Kernel, KernelError, Outline, Setting, Sum};
pub use learned::{Entry, Learned, NO_ROW};
pub use plain::Plain;
pub use processor::{Processor, used_since};
pub use readouts::{READOUTS, errors_at};
pub use rows::Rows;
pub use simd::PANEL;
pub use space::{KernelSpace, Limits};
