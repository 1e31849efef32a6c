//! The learning core of Rosenblatt.

pub mod convention;
pub mod decision;
mod examples;
pub mod memory;
pub mod observer;
mod order;
mod params;
mod random;
mod row;
mod rule;
pub mod rules;
mod run;
mod schedule;
mod simd;
pub mod space;

pub use convention::{Bias, Convention, ConventionError, Mistake, Zero};
pub use decision::{Binary, Decision, Direct, Multiclass, OneVsOne, OneVsRest, Share};
pub use examples::{DenseExamples, Examples, SparseExamples};
pub use memory::{Average, Kept, Ratchet, Readout, Remember};
pub use observer::{EachPass, EachRound, Observer, Pass, Round, Snapshot};
pub use order::Order;
pub use params::{Param, ParamError, Params, Range};
pub use random::Random;
pub use row::{Dense, Row, Sparse, Stretched, Value};
pub use rule::{Algorithm, Info, Law, Needs, Rule, Seen, Step};
pub use run::{Plan, Recall, Run, Setup, SetupError, Stopped, Totals, count_errors};
pub use schedule::Schedule;
pub use space::{Hypothesis, Planes, Shape, Visits};
