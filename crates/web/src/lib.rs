//! The engine for a page: requests and answers in JSON, numbers in bulk beside them.
//!
//! A face adds no logic. Rows are read by the data crate, learners are the engine's walks
//! ([`Walk`](rosenblatt::trace::Walk)), proofs are certify's. The page draws, and asks: [`Session::ask`] takes one of
//! the [`Request`]s and answers with JSON; what would be long as text, [`Session::numbers`] holds until the next request.

pub mod abi;
mod command;
#[cfg(feature = "package")]
pub mod package;
mod presets;
mod proof;
mod session;

pub use session::{Request, Session};
