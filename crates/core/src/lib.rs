//! The learning core of Rosenblatt: every linear perceptron of the textbooks, in one loop.
//!
//! A training run has six parts, independent of each other:
//!
//! | part | decides | where |
//! |---|---|---|
//! | [`Examples`] | what is shown: borrowed rows, dense or sparse, `f32` or `f64` | [`DenseExamples`], [`SparseExamples`] |
//! | [`Rule`] | how far to step, given a margin | [`rules`], one file each |
//! | [`space::Space`] | where hypotheses live and how they move | [`space`] |
//! | [`memory::Memory`] | what is kept of past hypotheses: averages, votes, a pocket | [`memory`] |
//! | [`Decision`] | how scores become classes | [`decision`] |
//! | [`Observer`] | what watches the run, and may stop it | [`observer`], [`invariants`], [`OnlineLoss`] |
//!
//! [`Run`] is the one loop over them. [`Convention`] names the points on which textbooks disagree, and
//! [`margin`] and [`loss`] measure what came out.
//!
//! The core reads no files and no clock, holds no global state and never prints. The same build, rows
//! and seed give the same bits, and a dense row and its sparse twin do so too. Names of classes, model
//! files and choosing a rule by its name are the business of the crates above.
//!
//! # The four points of a lecture
//!
//! The perceptron on `((4,0),+)`, `((1,1),-)`, `((0,1),-)`, `((-2,-2),+)`, round by round:
//!
//! ```
//! use rosenblatt_core::{
//!     Average, Bias, Binary, Convention, DenseExamples, EachRound, Order, Plan, Remember, Round, Run, Setup,
//!     Stopped, rules,
//! };
//! use std::ops::ControlFlow;
//!
//! let values = [4.0, 0.0, 1.0, 1.0, 0.0, 1.0, -2.0, -2.0];
//! let examples = DenseExamples::new(&values, 2, &[1, 0, 0, 1]);
//!
//! let convention = Convention { bias: Bias::None, ..Convention::default() };
//! let remember = Remember { averaged: true, ..Remember::default() };
//! let setup = Setup { convention, remember, ..Setup::default() };
//! let mut run = Run::new(rules::Perceptron::default(), Binary, setup)?;
//!
//! let mut rounds = EachRound(|round: &Round<'_>| {
//!     println!("round {}: margin {}, w = {:?}", round.round, round.margin, round.hypothesis.weights(0));
//!     ControlFlow::Continue(())
//! });
//! let order = Order::Given;
//! assert_eq!(run.fit(examples, &Plan::new(&order, 100, 0), &mut rounds), Stopped::Clean);
//!
//! println!("weights {:?} after {} updates", run.last().weights(0), run.totals().updates);
//! assert_eq!(run.last().weights(0), [1.0, -3.0]);
//! assert_eq!(run.averaged(Average::Post).unwrap().weights(0), [15.0 / 8.0, -17.0 / 8.0]);
//! # Ok::<(), rosenblatt_core::SetupError>(())
//! ```
//!
//! # Several classes, one example at a time
//!
//! ```
//! use rosenblatt_core::{Decision, Dense, DenseExamples, OneVsRest, Params, Random, Run, Setup, Visits, Zero};
//! use rosenblatt_core::{Algorithm, rules};
//!
//! let rule = rules::PaOne::new(&Params::new().with("C", 0.5)).unwrap();
//! let mut run = Run::new(rule, OneVsRest::new(3), Setup::default())?;
//! let stream = [([0.0, 3.0], 0), ([3.0, 0.0], 1), ([-3.0, -3.0], 2)];
//! for (row, class) in stream.iter().cycle().take(30) {
//!     let class = [*class];
//!     let example = DenseExamples::new(row, 2, &class);
//!     let _ = run.learn(example, Visits::all(example), &mut ());
//! }
//! let mut scores = [0.0; 3];
//! run.last().scores(Dense(&[2.0, 0.5]), &mut scores);
//! assert_eq!(run.decision().decide(&scores, Zero::Minus, &mut Random::new(0)), Some(1));
//! # Ok::<(), rosenblatt_core::SetupError>(())
//! ```

#![expect(
    clippy::inline_always,
    reason = "the loop is generic; the hot path is only fast when it is one function"
)]

pub mod convention;
pub mod decision;
pub mod elementary;
mod examples;
mod hypothesis;
pub mod invariants;
pub mod loss;
pub mod margin;
pub mod memory;
mod names;
pub mod observer;
mod order;
mod params;
mod random;
mod range;
mod row;
mod rule;
pub mod rules;
mod run;
mod schedule;
mod settings;
mod simd;
pub mod space;
mod sparse_rows;
pub mod state;
pub mod threads;

pub use convention::{Bias, Convention, ConventionError, Mistake, Zero};
pub use decision::{Binary, Decision, Direct, Multiclass, Numbers, OneVsOne, OneVsRest, Share};
pub use examples::{DenseExamples, Examples, SparseExamples};
pub use loss::{Loss, OnlineLoss};
pub use memory::{Average, Kept, Ratchet, Readout, Recall, Remember};
pub use names::{Choices, NameError, Named};
pub use observer::{EachEpoch, EachRound, Epoch, Observer, Round, Snapshot, Totals};
pub use order::Order;
pub use params::{Param, ParamError, Params, Range};
pub use random::Random;
pub use row::{Dense, Row, SIDE_BY_SIDE, Sparse, Stretched, Value};
pub use rule::{Algorithm, Info, Law, Needs, Rule, Seen, Step, Weighs};
pub use run::{MOST_VISITS, Plan, Run, Setup, SetupError, Stopped, count_errors};
pub use schedule::Schedule;
#[doc(hidden)]
pub use settings::kebab;
pub use settings::{Check, Decided, Declared, Setting, Takes, Tasks};
pub use simd::{ByColumns, Work, announce, widest};
pub use space::{Hyperplanes, Hypothesis, Shape, Visits};
pub use sparse_rows::SparseRows;
