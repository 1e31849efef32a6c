//! What a user asks for: every setting of learning, declared once. The structs, their JSON, their defaults, the builder's
//! methods, the catalogue, the command line's flags and the guide's reference come from these entries.
//!
//! Plain values, any of them wrong: what they mean, and whether they go together, is decided by [`Spec`](crate::Spec).

use crate::costs::Costs;
use crate::defaults::{EPOCHS, FEW_ROWS, PATIENCE, VALIDATION};
use crate::device::DeviceChoice;
use rosenblatt_core::{
    Bias, Binary, Direct, Mistake, Multiclass, OneVsOne, OneVsRest, Order, Readout, Schedule, Setting, Share,
    Zero, settings,
};
use rosenblatt_kernel::{Choice, Limits, Removal, Setting as KernelValue, maps};
use rosenblatt_layers::{Activation, Loss as OutputLoss, Optimiser};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::marker::PhantomData;

/// Options of one algorithm, set one after the other; see [`builders`](crate::builders).
#[derive(Debug, Clone)]
pub struct Builder<K> {
    pub(crate) options: Options,
    pub(crate) kind: PhantomData<K>,
}

/// An option that can be turned off, though it is on unless you say otherwise. A builder takes it whole.
type Perhaps<T> = Option<T>;

/// Why nothing about held-out rows matters where rows are learned online.
pub(crate) const NONE_HELD_OUT: &str = "left out where rows are learned online: none are held out";

settings! {
    built by Builder;
    /// What a user asks for. Every field has a default: together, an averaged perceptron in shuffled order that stops
    /// early.
    #[derive(Debug, Clone, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
    pub struct Options: Learning {
        /// Update rule, or `auto`: a race of several. The table of algorithms lists all, each with its formula, its source and its parameters.
        algorithm: String = "perceptron".to_owned()
            => Setting::listed("algorithm").flag("algorithm").short('a').common().of_all()
                .unset("auto, a race of several rules, where a model is trained with all other options of learning \
                        left out; else perceptron");
        /// Parameters of the update rule, by name. Parameters that are left out have their defaults.
        params: BTreeMap<String, f64> = BTreeMap::new() => Setting::numbers().flag("param").short('p').common().of_all();
        /// Learning rate: a number, or a schedule such as 0.5/k, 1/sqrt(k) or 1/k^0.25.
        #[serde(with = "by_name::optional")]
        rate: Option<Schedule> = None => Setting::choice::<Schedule>().flag("rate").value("RATE").unset("the rule's own");
        /// Which weights the model keeps: the last ones, their average, all of them to vote, or the best.
        #[serde(with = "by_name::optional")]
        readout: Option<Readout> = None
            => Setting::choice::<Readout>().flag("readout").common().of_all().unset("averaged; last for rules that settle on one");
        /// Whether the pocket counts errors on all training rows before it replaces its weights. Without that, the
        /// weights with the longest run of correct predictions win (readout pocket).
        ratchet: bool = true => Setting::yes_or_no().flag("ratchet").of_classes()
            .idle_online("left out where rows are learned online: the pocket would count errors on all rows at once");
        /// How more than two classes are separated. A race also tries one-vs-one.
        #[serde(with = "by_name")]
        multiclass: Classes = Classes::OneVsRest => Setting::choice::<Classes>().flag("multiclass").of_classes();
        /// What a score of zero predicts.
        #[serde(with = "by_name")]
        zero: Zero = Zero::default() => Setting::choice::<Zero>().flag("zero").of_classes();
        /// What counts as a mistake: a margin of at most 0 (le0), below 0 (lt0), or a wrong prediction (pred).
        #[serde(with = "by_name")]
        mistake: Mistake = Mistake::default() => Setting::choice::<Mistake>().flag("mistake").of_classes();
        /// How the bias is learned.
        #[serde(with = "by_name::optional")]
        bias: Option<Bias> = None => Setting::choice::<Bias>().flag("bias").unset("the rule's own way");
        /// Order in which rows are visited.
        #[serde(with = "by_name::optional")]
        order: Option<Order> = None => Setting::choice::<Order>().flag("order").unset("shuffle-epoch, or the rule's own")
            .idle_online("left out where rows are learned online: they are learned in the order in which they come");
        /// Seed of every random choice.
        seed: u64 = 0
            => Setting::at_least(0).flag("seed").aliases(&["random-state"]).python("random_state").shared().of_all();
        /// Maximum number of epochs. Each visits every training row. Candidates of a race have numbers of their own.
        epochs: u64 = EPOCHS
            => Setting::at_least(1).flag("epochs").aliases(&["max-iter"]).python("max_iter").spark("maxIter").common().of_all()
                .unset("20; 15 for sentences").idle_online("left out where rows are learned online: a stream is one epoch");
        /// Maximum number of updates.
        max_updates: Option<u64> = None => Setting::at_least(1).flag("max-updates").unset("no limit")
            .idle_online("left out where rows are learned online: learning goes on for as long as rows come");
        /// Whether training stops when nothing is left to learn. That is after an epoch without a mistake or an update,
        /// when the rule has converged, or when the weights of an earlier epoch return under an order that repeats.
        stop_when_clean: bool = true => Setting::yes_or_no().flag("stop-when-clean")
            .idle_online("left out where rows are learned online: learning goes on for as long as rows come");
        /// Validation set that decides when to stop; with none, all epochs are made.
        validation: Perhaps<Validation> = Some(Validation::default()) => Setting::group("validation").of_classes()
            .idle_online(NONE_HELD_OUT);
        /// Weight of each class: even, balanced (rare classes weigh more), or a number by class.
        class_weights: ClassWeights = ClassWeights::Even
            => Setting::by_class("CLASS=WEIGHT").flag("class-weight").python("class_weight").spark("classWeight")
                .shared().of_classes().unset("1 for every class");
        /// Cost of mistakes, by which a model with probabilities names the class of least expected cost. Even, balanced
        /// (inversely proportional to class frequency), a threshold for the positive class, or a number by class or by
        /// TRUE:NAMED: with yes=5, missing a row of class yes costs 5.
        #[serde(skip_serializing_if = "is_even")]
        costs: Costs = Costs::Even => Setting::by_class("CLASS=COST").flag("cost").shared().of_classes().unset("1 for every mistake")
            .idle_online("left out where rows are learned online: a cost weighs probabilities, which are not fitted online");
        /// Feature map that rows go through before they are learned from, in place of a kernel.
        #[serde(skip_serializing_if = "Option::is_none")]
        map: Option<Mapping> = None => Setting::group("map");
        /// Kernel that takes the place of the product of two rows.
        #[serde(skip_serializing_if = "Option::is_none")]
        kernel: Option<KernelOptions> = None => Setting::group("kernel");
        /// Network of the algorithm mlp.
        #[serde(skip_serializing_if = "Option::is_none")]
        network: Option<NetworkOptions> = None => Setting::group("network");
    }
}

fn is_even(costs: &Costs) -> bool {
    *costs == Costs::Even
}

settings! {
    /// A feature map, and the kernel it stands in for.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
    pub struct Mapping: Learning {
        /// Feature map that stands in for a kernel, at the speed of a hyperplane.
        name: String = "fourier".to_owned() => Setting::listed("map").flag("map").python("feature_map").unset("no map");
        /// Maximum number of features that the map makes.
        size: usize = 1024 => Setting::at_least(1).flag("map-size").python("map_size");
        /// Kernel that the map stands in for.
        kernel: Option<String> = None => Setting::listed("kernel").unset("the one that suits the map");
        /// Parameters of that kernel, by name.
        #[serde(with = "settings")]
        params: BTreeMap<String, KernelValue> = BTreeMap::new() => Setting::other();
    }
}

impl Mapping {
    /// The kernel crate's choice, its random draws decided by `seed`.
    pub(crate) fn choice(&self, seed: u64) -> maps::Choice {
        let kernel = self.kernel.as_deref().unwrap_or_else(|| maps::usual_kernel(&self.name));
        let kernel = Choice { name: kernel.to_owned(), params: self.params.clone() };
        maps::Choice { name: self.name.clone(), size: self.size, kernel, seed }
    }
}

settings! {
    /// A validation set, which decides when to stop.
    #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
    pub struct Validation: Learning {
        /// Share of the training rows in the validation set, the same of every class.
        fraction: f64 = VALIDATION => Setting::between(0.0, 1.0).python("validation_fraction").spark("validationFraction");
        /// Number of epochs without progress on the validation set after which training stops.
        patience: u64 = PATIENCE
            => Setting::at_least(1).flag("patience").value("EPOCHS").python("n_iter_no_change")
                .unset("5; 0, which makes all epochs, for fewer than 1,000 rows").idle_online(NONE_HELD_OUT);
        /// Number of rows below which there is no validation set.
        min_rows: usize = FEW_ROWS => Setting::at_least(0);
    }
}

settings! {
    /// The kernel a user asks for, and how much it may use.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
    pub struct KernelOptions: Learning {
        /// Kernel to learn with.
        name: String = "polynomial".to_owned() => Setting::listed("kernel").flag("kernel").common().python("kernel").unset("no kernel");
        /// Parameters of the kernel, by name: numbers, or scale and auto for a factor that follows from the rows.
        #[serde(with = "settings")]
        params: BTreeMap<String, KernelValue> = BTreeMap::new() => Setting::other().python("kernel_params");
        /// Whether every hypothesis is divided by its length before the model is made of it.
        normalised: bool = false => Setting::switch().flag("unit-hypotheses");
        /// Memory for kernel values that are kept or computed ahead. Changes nothing but the time.
        memory: u64 = Limits::default().memory as u64 => Setting::bytes().flag("kernel-memory").unset("1GiB");
        /// Where kernel values are computed: cpu, gpu or gpu:1. Changes nothing but
        /// the time, and is no part of a model.
        #[serde(skip_serializing)]
        device: DeviceChoice = DeviceChoice::Auto
            => Setting::text().flag("device").value("NAME").checked::<DeviceChoice>()
                .unset("auto, a card if there is one and the rows are many");
        /// Maximum number of support vectors.
        #[serde(skip_serializing_if = "Option::is_none")]
        budget: Option<usize> = None
            => Setting::at_least(1).flag("support-budget").python("support_budget").unset("no limit");
        /// Which support vector makes room at that limit. projectron: the new row, projected on the others; forgetron: the
        /// oldest, after all were shrunk; random: any.
        #[serde(with = "by_name")]
        removal: Removal = Removal::default() => Setting::choice::<Removal>().flag("removal");
    }
}

impl KernelOptions {
    /// The kernel, before the data is known.
    pub(crate) fn choice(&self) -> Choice {
        Choice { name: self.name.clone(), params: self.params.clone() }
    }

    pub(crate) fn limits(&self) -> Limits {
        Limits { memory: usize::try_from(self.memory).unwrap_or(usize::MAX), ..Limits::default() }
    }
}

settings! {
    /// What a network is made of, beside the parameters of its algorithm.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
    pub struct NetworkOptions: Learning {
        /// Units of every hidden layer (mlp): 64 for one layer, 64,32 for two.
        #[serde(skip_serializing_if = "Option::is_none")]
        sizes: Option<Vec<usize>> = None
            => Setting::counts().flag("hidden").value("UNITS,...").unset("64, or what the parameters hidden and layers say");
        /// Activation function of hidden units (mlp).
        #[serde(with = "by_name")]
        activation: Activation = Activation::default() => Setting::choice::<Activation>().flag("activation");
        /// Loss of the scores (mlp).
        #[serde(with = "by_name")]
        loss: OutputLoss = OutputLoss::default() => Setting::choice::<OutputLoss>().flag("output-loss");
        /// Optimiser that descends the gradient (mlp).
        #[serde(with = "by_name")]
        optimiser: Optimiser = Optimiser::default()
            => Setting::choice::<Optimiser>().flag("optimiser").aliases(&["solver"]);
    }
}

/// How much each class counts.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClassWeights {
    /// Every row counts once.
    #[default]
    Even,
    /// Classes count in inverse proportion to their number of rows.
    Balanced,
    /// By class name; 1 for those not named.
    Given(BTreeMap<String, f64>),
}

/// How several classes are separated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Classes {
    /// Each class against all others.
    OneVsRest,
    /// Each pair of classes.
    OneVsOne,
    /// All together, rivals sharing the step down.
    Direct(Share),
}

impl Classes {
    /// The core's decision for `n_classes` classes; two have one output, whatever the choice for more.
    pub fn decision(self, n_classes: usize) -> Multiclass {
        match self {
            _ if n_classes == 2 => Multiclass::Binary(Binary),
            Self::OneVsRest => Multiclass::OneVsRest(OneVsRest::new(n_classes)),
            Self::OneVsOne => Multiclass::OneVsOne(OneVsOne::new(n_classes)),
            Self::Direct(share) => Multiclass::Direct(Direct::new(n_classes, share)),
        }
    }
}

rosenblatt_core::named!(Classes, "multiclass",
    "one-vs-rest" or "ovr" or "one-vs-all" = Self::OneVsRest, "each class against all others";
    "one-vs-one" or "ovo" = Self::OneVsOne, "each pair of classes; most wins win";
    "direct-max" or "direct" = Self::Direct(Share::Max), "all together; the strongest rival takes the step down";
    "direct-uniform" = Self::Direct(Share::Uniform), "all together; rivals that are ahead share it evenly";
    "direct-proportional" = Self::Direct(Share::Proportional), "all together; rivals share it by their lead";
);

/// Serialises the parameters of a kernel as numbers and words.
mod settings {
    use rosenblatt_kernel::Setting;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
    use std::collections::BTreeMap;

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Text {
        Number(f64),
        Word(String),
    }

    pub(super) fn serialize<S: Serializer>(
        settings: &BTreeMap<String, Setting>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_map(settings.iter().map(|(name, setting)| {
            let text = match setting {
                Setting::Number(number) => Text::Number(*number),
                word => Text::Word(word.to_string()),
            };
            (name, text)
        }))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<String, Setting>, D::Error> {
        let texts = BTreeMap::<String, Text>::deserialize(deserializer)?;
        let setting = |text| match text {
            Text::Number(number) => Ok(Setting::Number(number)),
            Text::Word(word) => word.parse().map_err(D::Error::custom),
        };
        texts.into_iter().map(|(name, text)| Ok((name, setting(text)?))).collect()
    }
}

/// Serialises a choice as its name.
pub(crate) mod by_name {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use std::fmt::Display;
    use std::str::FromStr;

    pub(crate) fn serialize<T: Display, S: Serializer>(choice: &T, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(choice)
    }

    pub(crate) fn deserialize<'de, T: FromStr<Err: Display>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<T, D::Error> {
        let name = String::deserialize(deserializer)?;
        name.parse().map_err(D::Error::custom)
    }

    /// The same for choices that may be left to the rule.
    pub(crate) mod optional {
        use super::{Deserialize, Deserializer, Display, Error, FromStr, Serializer};

        #[expect(clippy::ref_option, reason = "the form that serde calls")]
        pub(crate) fn serialize<T: Display, S: Serializer>(
            choice: &Option<T>,
            serializer: S,
        ) -> Result<S::Ok, S::Error> {
            match choice {
                Some(choice) => serializer.collect_str(choice),
                None => serializer.serialize_none(),
            }
        }

        pub(crate) fn deserialize<'de, T: FromStr<Err: Display>, D: Deserializer<'de>>(
            deserializer: D,
        ) -> Result<Option<T>, D::Error> {
            let name = Option::<String>::deserialize(deserializer)?;
            name.map(|name| name.parse().map_err(D::Error::custom)).transpose()
        }
    }
}
