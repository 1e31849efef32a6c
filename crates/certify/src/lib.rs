//! Whether a hyperplane separates the data, and how widely, with proofs that you can check.
//!
//! Exactly one of two things is true (Gordan 1873): some hyperplane has every row strictly on its side, or
//! some rows contradict each other: with non-negative weights, their signed sum is zero. [`decide`] finds
//! which, and proves it; the largest margin comes with a lower and an upper bound. A [`Certificate`] says it
//! in JSON, and [`check()`] verifies certificates in exact arithmetic without any part of the search.
//!
//! | to | use |
//! |---|---|
//! | ask | [`Rows`], [`Question`], [`decide`] |
//! | ask everything at once | [`investigate`] |
//! | prove to others | [`Answer::certificate`], [`check()`] |
//! | count a hyperplane's mistakes beyond doubt | [`mistakes`] |
//! | find the rows that prevent separation | [`opposites`], [`pocket`] |
//! | watch the perceptron | [`perceptron()`], [`cycle`] |
//! | ask in the space of a polynomial kernel | [`investigate_in`], [`lift`] |
//!
//! ```text
//! rows ── opposites ── perceptron ── nearest ──┬── prove ──────── hyperplane ──┐
//!         (hashing)    (quick yes)   (doubles, └── dependency ── contradiction ┴── certificate ── check
//!                                     then more digits)
//! ```
//!
//! //! Nothing here reads files, reads a clock or prints. A [`Watch`] follows the progress and may stop the work.

#![allow(clippy::cast_possible_wrap, reason = "exponents, digits and mantissas are far below their limits")]

mod certificate;
mod check;
mod decide;
mod dependency;
mod exact;
mod findings;
mod in_the_way;
mod integers;
mod kernel_margin;
mod lift;
mod nearest;
mod perceptron;
mod prove;
mod real;
mod rows;
mod watch;
mod wide;

pub use certificate::{About, Certificate, Claim, FORMAT, Margin, Number, Polynomial, Share, VERSION};
pub use check::check;
pub use decide::{Answer, Plane, Question, Verdict, decide, mistakes, opposites};
pub use findings::{Difficulty, Findings, MOST_PAIRS, investigate, investigate_in};
pub use lift::lift;
pub use num_bigint::BigInt;
pub use perceptron::{Cycle, PerceptronRun, cycle, perceptron, pocket};
pub use rows::{NotFinite, Rows};
pub use watch::{Part, Progress, Watch};
