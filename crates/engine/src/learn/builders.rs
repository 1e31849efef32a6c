//! A typed builder for every algorithm: the same [`Options`] as by name, with completion and checking by the compiler.
//!
//! A builder only fills in [`Options`]; what they mean is decided by [`Spec`], as for everybody else. Its methods that
//! set parameters are called as the rule's table entry calls them, in lower case. They come from the same
//! line of the core's table of rules as everything else. Nor does it choose a read-out that its name does not say: a
//! [`Perceptron`] ends in the engine's default, the average, and with `.readout(Readout::Last)` in the textbook's last
//! weights, as scikit-learn's `Perceptron` and the one of the Python package do.
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
pub use crate::options::Builder;
use crate::rows::RowSource;
use crate::spec::{ClassWeights, Options, Spec};
use crate::train::train;
use rosenblatt_core::{Algorithm, Average, Readout, rules};
use rosenblatt_layers::Descent;
use std::marker::PhantomData;

/// What a builder begins with.
pub trait Kind {
    /// The update rule.
    const ALGORITHM: &'static str;
    /// Which hypothesis the run ends in, if the name of the builder says so.
    const READOUT: Option<Readout> = None;
}

impl<K: Kind> Default for Builder<K> {
    fn default() -> Self {
        let options =
            Options { algorithm: K::ALGORITHM.to_owned(), readout: K::READOUT, ..Options::default() };
        Self { options, kind: PhantomData }
    }
}

impl<K> From<Builder<K>> for Options {
    fn from(builder: Builder<K>) -> Self {
        builder.options
    }
}

impl<K: Kind> Builder<K> {
    /// All options at their defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl<K> Builder<K> {
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

/// The perceptron, read out as the average of its hypotheses.
pub type AveragedPerceptron = Builder<AverageOfHypotheses>;
/// The perceptron whose hypotheses vote, each as often as it survived.
pub type VotedPerceptron = Builder<VoteOfHypotheses>;

/// What [`AveragedPerceptron`] begins with.
#[derive(Debug, Clone, Copy)]
pub enum AverageOfHypotheses {}
/// What [`VotedPerceptron`] begins with.
#[derive(Debug, Clone, Copy)]
pub enum VoteOfHypotheses {}

impl Kind for AverageOfHypotheses {
    const ALGORITHM: &'static str = rules::Perceptron::INFO.name;
    const READOUT: Option<Readout> = Some(Readout::Averaged(Average::Post));
}

impl Kind for VoteOfHypotheses {
    const ALGORITHM: &'static str = rules::Perceptron::INFO.name;
    const READOUT: Option<Readout> = Some(Readout::Voted);
}

/// One builder, with a method for every parameter.
macro_rules! builder {
    ($kind:ty as $name:ident($info:expr) { $($method:ident: $param:literal),* }) => {
        #[doc = concat!("Options of [`", stringify!($kind), "`].")]
        pub type $name = Builder<$kind>;

        impl Kind for $kind {
            const ALGORITHM: &'static str = $info.name;
        }

        impl Builder<$kind> {
            $(
                #[doc = concat!("Sets the parameter `", $param, "`.")]
                #[must_use]
                pub fn $method(mut self, value: f64) -> Self {
                    self.options.params.insert($param.to_owned(), value);
                    self
                }
            )*
        }
    };
}

macro_rules! builders {
    ($($rule:ident as $name:ident { $($method:ident: $param:literal),* })+) => {
        $(builder! { rules::$rule as $name(rules::$rule::INFO) { $($method: $param),* } })+

        builder! { Descent as MultiLayerPerceptron(rosenblatt_layers::INFO) {
            hidden: "hidden", layers: "layers", batch: "batch", weight_decay: "weight-decay", momentum: "momentum",
            nesterov: "nesterov", beta1: "beta1", beta2: "beta2", epsilon: "epsilon", tolerance: "tolerance",
            patience: "patience", power: "power", adaptive: "adaptive"
        } }

        /// Every builder: its parameters with the methods that set them, and the options it begins with.
        #[cfg(test)]
        const BUILDERS: &[(&[(&str, fn(f64) -> Options)], fn() -> Options)] =
            &[$((&[$(($param, |value| $name::new().$method(value).into())),*], || $name::new().into())),+,
              (NETWORK, || MultiLayerPerceptron::new().into())];
    };
}

rosenblatt_core::for_each_rule!(builders);

/// A parameter, and the method that sets it.
#[cfg(test)]
type Setter = (&'static str, fn(f64) -> Options);

/// The parameters of a network.
#[cfg(test)]
const NETWORK: &[Setter] = &[
    ("hidden", |value| MultiLayerPerceptron::new().hidden(value).into()),
    ("layers", |value| MultiLayerPerceptron::new().layers(value).into()),
    ("batch", |value| MultiLayerPerceptron::new().batch(value).into()),
    ("weight-decay", |value| MultiLayerPerceptron::new().weight_decay(value).into()),
    ("momentum", |value| MultiLayerPerceptron::new().momentum(value).into()),
    ("nesterov", |value| MultiLayerPerceptron::new().nesterov(value).into()),
    ("beta1", |value| MultiLayerPerceptron::new().beta1(value).into()),
    ("beta2", |value| MultiLayerPerceptron::new().beta2(value).into()),
    ("epsilon", |value| MultiLayerPerceptron::new().epsilon(value).into()),
    ("tolerance", |value| MultiLayerPerceptron::new().tolerance(value).into()),
    ("patience", |value| MultiLayerPerceptron::new().patience(value).into()),
    ("power", |value| MultiLayerPerceptron::new().power(value).into()),
    ("adaptive", |value| MultiLayerPerceptron::new().adaptive(value).into()),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::ALGORITHMS;
    use rosenblatt_core::Order;
    use rosenblatt_data::Dataset;

    #[test]
    fn every_algorithm_has_a_builder_with_its_parameters() {
        assert_eq!(BUILDERS.len(), ALGORITHMS.len());
        for (entry, (params, built)) in ALGORITHMS.iter().zip(BUILDERS) {
            let name = entry.info.name;
            assert_eq!(built().algorithm, name);
            let known = entry.info.params.iter().map(|param| param.name);
            assert!(params.iter().map(|(param, _)| *param).eq(known), "{name}");
            for (param, set) in *params {
                assert_eq!(set(0.25).params, [((*param).to_owned(), 0.25)].into(), "{name}");
            }
        }
    }

    #[test]
    fn a_builder_gives_the_bytes_of_the_options_by_name() {
        let rows: Vec<[f64; 2]> = (0..40).map(|k| [f64::from(k % 7) - 3.0, f64::from(k % 5) - 2.0]).collect();
        let classes: Vec<&str> =
            rows.iter().map(|row| if row[0] + row[1] > 0.5 { "up" } else { "down" }).collect();
        let data = Dataset::from_rows(&rows, &classes);
        let same = |built: Options, text: String| {
            let named: Options = serde_json::from_str(&text).unwrap();
            let [built, named] = [built, named].map(|options| train(&Spec::new(options).unwrap(), &data));
            assert!(built.unwrap().to_bytes() == named.unwrap().to_bytes(), "{text}");
        };
        for (entry, (_, built)) in ALGORITHMS.iter().zip(BUILDERS).filter(|(entry, _)| !entry.info.numbers) {
            same(built(), format!(r#"{{ "algorithm": "{}" }}"#, entry.info.name));
        }
        same(AveragedPerceptron::new().into(), r#"{ "readout": "averaged" }"#.to_owned());
        same(VotedPerceptron::new().epochs(3).into(), r#"{ "readout": "voted", "epochs": 3 }"#.to_owned());
        let all = PassiveAggressiveOne::new().c(0.5).epochs(4).seed(9).order(Order::Given).balanced();
        let text = r#"{ "algorithm": "pa1", "params": { "C": 0.5 }, "epochs": 4, "seed": 9, "order": "given",
                        "class-weights": "balanced" }"#;
        same(all.into(), text.to_owned());
    }
}
