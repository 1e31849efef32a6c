//! A typed builder for every algorithm: the same [`Options`] as by name, with completion and checking by the compiler.
//!
//! A builder only fills in [`Options`]; what they mean is decided by [`Spec`], as for everybody else. Its methods that
//! set parameters are called as the rule's table entry calls them, in lower case. A rule of the table without a line
//! here fails a test.
//!
//! ```
//! use rosenblatt::Dataset;
//! use rosenblatt::builders::{PassiveAggressiveOne, VotedPerceptron};
//!
//! let data = Dataset::from_rows(&[[2.0, 0.1], [1.8, 0.3], [0.2, 2.1], [0.1, 1.7]], &["a", "a", "b", "b"]);
//! let voted = VotedPerceptron::new().epochs(10).seed(7).fit(&data)?;
//! assert_eq!(voted.predict(&[1.5, 0.2])?, "a");
//! let capped = PassiveAggressiveOne::new().c(0.1).balanced().spec()?;
//! assert_eq!(capped.options().params["C"], 0.1);
//! # Ok::<(), rosenblatt::Error>(())
//! ```

use crate::error::Error;
use crate::model::Model;
use crate::rows::RowSource;
use crate::spec::{ClassWeights, Classes, KernelOptions, Mapping, Options, Spec, Validation};
use crate::train::train;
use rosenblatt_core::{Average, Bias, Mistake, Order, Readout, Schedule, Zero};

macro_rules! setters {
    ($($(#[$doc:meta])+ $field:ident: $kind:ty = $value:expr;)+) => {$(
        $(#[$doc])+
        #[must_use]
        pub fn $field(mut self, $field: $kind) -> Self {
            self.options.$field = $value;
            self
        }
    )+};
}

macro_rules! builders {
    ($($(#[$doc:meta])+ $name:ident = $algorithm:literal $([$readout:expr])? {
        $($method:ident: $param:literal),*
    })+) => {
        $(
            $(#[$doc])+
            #[derive(Debug, Clone)]
            pub struct $name {
                options: Options,
            }

            impl Default for $name {
                fn default() -> Self {
                    #[allow(unused_mut, reason = "not every builder names a read-out")]
                    let mut options = Options { algorithm: $algorithm.to_owned(), ..Options::default() };
                    $(options.readout = Some($readout);)?
                    Self { options }
                }
            }

            impl From<$name> for Options {
                fn from(builder: $name) -> Self {
                    builder.options
                }
            }

            impl $name {
                /// All options at their defaults.
                #[must_use]
                pub fn new() -> Self {
                    Self::default()
                }

                $(
                    #[doc = concat!("Sets the parameter `", $param, "` of [`ALGORITHMS`](crate::ALGORITHMS)' `", $algorithm, "`.")]
                    #[must_use]
                    pub fn $method(mut self, value: f64) -> Self {
                        self.options.params.insert($param.to_owned(), value);
                        self
                    }
                )*

                setters! {
                    /// Sets the most epochs.
                    epochs: u64 = epochs;
                    /// Sets the most updates.
                    max_updates: u64 = Some(max_updates);
                    /// Sets what decides every random choice.
                    seed: u64 = seed;
                    /// Sets the learning rate of a rule that takes one.
                    rate: Schedule = Some(rate);
                    /// Sets which hypothesis the run ends in.
                    readout: Readout = Some(readout);
                    /// Sets how more than two classes are told apart.
                    multiclass: Classes = multiclass;
                    /// Sets what a score of zero predicts.
                    zero: Zero = zero;
                    /// Sets what counts as a mistake.
                    mistake: Mistake = mistake;
                    /// Sets how the bias is learned.
                    bias: Bias = Some(bias);
                    /// Sets the order in which rows are visited.
                    order: Order = Some(order);
                    /// Sets the validation set that decides when to stop; `None` to make all epochs.
                    validation: Option<Validation> = validation;
                    /// Sets how much each class counts.
                    class_weights: ClassWeights = class_weights;
                    /// Learns with a kernel.
                    kernel: KernelOptions = Some(kernel);
                    /// Learns behind a feature map.
                    map: Mapping = Some(map);
                }

                /// Has classes count in inverse proportion to their number of rows.
                #[must_use]
                pub fn balanced(self) -> Self {
                    self.class_weights(ClassWeights::Balanced)
                }

                /// The checked description, for [`Training`](crate::Training), [`Online`](crate::Online) and others.
                pub fn spec(self) -> Result<Spec, Error> {
                    Spec::new(self.options)
                }

                /// Trains on all rows.
                pub fn fit<'a>(self, data: impl Into<RowSource<'a>>) -> Result<Model, Error> {
                    let (spec, data): (Spec, RowSource<'_>) = (self.spec()?, data.into());
                    train(&spec, data)
                }
            }
        )+

        /// Every builder: the algorithm, its parameters with the methods that set them, and the options it begins with.
        #[cfg(test)]
        const BUILDERS: &[(&str, &[(&str, fn(f64) -> Options)], fn() -> Options)] =
            &[$(($algorithm, &[$(($param, |value| $name::new().$method(value).into())),*], || $name::new().into())),+];
    };
}

builders! {
    /// Rosenblatt's perceptron, read out as its average unless something else is said.
    Perceptron = "perceptron" {}
    /// The perceptron, read out as the average of its hypotheses.
    AveragedPerceptron = "perceptron" [Readout::Averaged(Average::Post)] {}
    /// The perceptron whose hypotheses vote, each as often as it survived.
    VotedPerceptron = "perceptron" [Readout::Voted] {}
    /// Steps until every example clears a fixed margin.
    FixedMargin = "fixed-margin" { margin: "margin" }
    /// Reaches half of a margin that is known to be possible.
    HalfMargin = "half-margin" { gamma: "gamma" }
    /// One margin for positive and another for negative examples.
    Paum = "paum" { plus: "plus", minus: "minus" }
    /// Demands a margin that it estimates on the way.
    DynamicMargin = "dynamic-margin" { epsilon: "epsilon" }
    /// ALMA: falling demand, falling step, weights in the unit ball.
    Alma = "alma" { alpha: "alpha", b: "B", c: "C" }
    /// The relaxed online maximum-margin algorithm.
    Romma = "romma" {}
    /// ROMMA's step on every example whose margin is below 1.
    AggressiveRomma = "aggressive-romma" {}
    /// The smallest change that gives the example margin 1.
    PassiveAggressive = "pa" {}
    /// The passive-aggressive step, capped at `C` (PA-I).
    PassiveAggressiveOne = "pa1" { c: "C" }
    /// The passive-aggressive step, softened by `C` (PA-II).
    PassiveAggressiveTwo = "pa2" { c: "C" }
    /// AROW: features that were seen often move little.
    Arow = "arow" { r: "r" }
    /// Adds up the mistakes of a batch and moves once.
    Batch = "batch" { size: "size", mean: "mean" }
    /// Always steps on the example with the smallest margin.
    MinOver = "minover" {}
    /// Logistic regression by stochastic gradient.
    Logistic = "logistic" { l2: "l2" }
    /// A linear support vector machine by stochastic gradient on the hinge loss.
    Hinge = "hinge" { l2: "l2" }
    /// A linear support vector machine by stochastic sub-gradient.
    Pegasos = "pegasos" { lambda: "lambda" }
    /// The linear support vector machine, solved to a tolerance.
    SvmDual = "svm-dual" { c: "C", squared: "squared", l1: "l1", tolerance: "tolerance" }
    /// Logistic regression with a penalty, solved to a tolerance.
    LogisticDual = "logistic-dual" { c: "C", l1: "l1", tolerance: "tolerance" }
    /// Logistic regression that leaves features out, solved to a tolerance.
    LogisticL1 = "logistic-l1" { c: "C", l1: "l1", tolerance: "tolerance" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::ALGORITHMS;
    use rosenblatt_data::Dataset;

    #[test]
    fn every_algorithm_has_a_builder_with_its_parameters() {
        for entry in ALGORITHMS.iter() {
            let name = entry.info.name;
            let (_, params, _) = BUILDERS.iter().find(|(algorithm, ..)| *algorithm == name).expect(name);
            let known = entry.info.params.iter().map(|param| param.name);
            assert!(params.iter().map(|(param, _)| *param).eq(known), "{name}");
            for (param, set) in *params {
                assert_eq!(set(0.25).params, [((*param).to_owned(), 0.25)].into(), "{name}");
            }
        }
        assert!(BUILDERS.iter().all(|(name, ..)| ALGORITHMS.iter().any(|entry| entry.info.name == *name)));
    }

    #[test]
    fn a_builder_gives_the_bytes_of_the_options_by_name() {
        let rows: Vec<[f64; 2]> = (0..40).map(|k| [f64::from(k % 7) - 3.0, f64::from(k % 5) - 2.0]).collect();
        let classes: Vec<&str> =
            rows.iter().map(|row| if row[0] + row[1] > 0.5 { "up" } else { "down" }).collect();
        let data = Dataset::from_rows(&rows, &classes);
        for (algorithm, _, built) in BUILDERS {
            let built = Options { epochs: 3, ..built() };
            let named = Options {
                algorithm: (*algorithm).to_owned(),
                readout: built.readout,
                epochs: 3,
                ..Options::default()
            };
            let bytes = |options: Options| train(&Spec::new(options).unwrap(), &data).unwrap().to_bytes();
            assert!(bytes(built) == bytes(named), "{algorithm}");
        }
        let by_builder =
            PassiveAggressiveOne::new().c(0.5).epochs(4).seed(9).order(Order::Given).fit(&data).unwrap();
        let by_name =
            r#"{ "algorithm": "pa-i", "params": { "C": 0.5 }, "epochs": 4, "seed": 9, "order": "given" }"#;
        let by_name = Spec::new(serde_json::from_str(by_name).unwrap()).unwrap();
        assert_eq!(by_builder.predict_all(&data), train(&by_name, &data).unwrap().predict_all(&data));
    }
}
