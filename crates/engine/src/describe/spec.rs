//! The description of a run: everything that decides what is learned, and nothing else.
//!
//! [`Options`] is what a user asks for: plain fields, by name, any of them wrong. [`Spec`] is what it
//! means: checked once, on construction, so that nothing downstream has to doubt it. Both forms are
//! the same JSON, and that JSON is stored in every model.

use crate::algorithms::{self, Entry};
use crate::costs::Costs;
use crate::device::DeviceChoice;
use crate::error::{Error, refuse};
use crate::estimate::{Calibrate, Method};
pub(crate) use crate::options::Classes;
pub(crate) use crate::options::{ClassWeights, KernelOptions, Mapping, NetworkOptions, Options, Validation};
use crate::settings;
use crate::task::Task;
use rosenblatt_core::rules::{self, Visit};
use rosenblatt_core::space::LinearSpace as _;
use rosenblatt_core::{
    Algorithm, Average, Bias, Convention, Hyperplanes, MOST_VISITS, Multiclass, Numbers, Order, Params, Plan,
    Ratchet, Readout, Remember, Setup, Weighs,
};
use rosenblatt_kernel::{Outline, Removal, kernels, maps};
use rosenblatt_layers::{Design, Loss, MOST_LAYERS, MOST_UNITS};
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// The largest budget for which a matrix of all support vectors with each other is kept: 800 MB.
const MOST_WITH_MATRIX: usize = 10_000;

/// The kernels that the forgetron's bound speaks of, as the table has them.
static FOR_FORGETRON: LazyLock<String> = LazyLock::new(|| {
    let names: Vec<&str> =
        kernels::KERNELS.iter().filter(|kernel| kernel.at_most_one).map(|kernel| kernel.name).collect();
    format!("one of {} for the forgetron, whose values are at most 1", names.join(", "))
});

/// A checked description of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Options", into = "Options")]
pub struct Spec {
    options: Options,
    entry: Entry,
    kernel: Option<&'static kernels::Info>,
    map: Option<&'static maps::Info>,
}

impl Spec {
    /// Checks `options`; the error names the first one that is wrong, and the cure.
    pub fn new(options: Options) -> Result<Self, Error> {
        Self::starting_from(options, true)
    }

    /// The same for a run that starts from weights, all of them zero or not.
    pub(crate) fn starting_from(options: Options, is_zero: bool) -> Result<Self, Error> {
        settings::check(&options)?;
        if let Some(validation) = &options.validation {
            settings::check(validation)?;
        }
        if let (Some(map), Some(_)) = (&options.map, &options.kernel) {
            let expected = "none beside a kernel that is learned with as it is; a map names its own";
            return refuse("map", expected, &map.name);
        }
        if let ClassWeights::Given(weights) = &options.class_weights {
            let wrong = weights.values().find(|weight| !(weight.is_finite() && **weight >= 0.0));
            if let Some(found) = wrong.map(f64::to_string) {
                return refuse("class-weights", "zero or positive", found);
            }
        }
        options.costs.check()?;
        let entry = algorithms::find(&options.algorithm)?;
        let kernel = options.kernel.as_ref().map(|kernel| kernel.choice().check()).transpose()?;
        let map = options.map.as_ref().map(|map| map.choice(options.seed).check()).transpose()?;
        let spec = Self { options, entry, kernel, map };
        if entry.info.picks_worst && spec.order() != Order::Worst {
            let expected = "worst, or left out, for a rule that picks the row of smallest margin itself";
            return refuse("order", expected, spec.order());
        }
        spec.check_network()?;
        if spec.entry.network {
            // Its units alone may take more room than a file that names them justifies, so nothing is built here.
            spec.design()?;
            return Ok(spec);
        }
        if let Some(options) = spec.kernel() {
            let one_row = Outline { n_rows: 1, width: 1, variance: 1.0, norm2: 0.0, negative: None };
            options.choice().kernel(&one_row)?;
            spec.check_kernel(options)?;
            spec.check_budget(options)?;
        }
        spec.check_rule(is_zero)?;
        if spec.entry.info.numbers {
            spec.check_numbers()?;
        }
        Ok(spec)
    }

    /// Refuses what is of no use, or not there yet, where numbers are learned.
    fn check_numbers(&self) -> Result<(), Error> {
        let options = &self.options;
        if let Some(kernel) = &options.kernel {
            return refuse("kernel", "none for numbers; a map bends features as well", &kernel.name);
        }
        let expected = "left out for numbers, as it is about classes";
        if self.weighs_mistakes() {
            let name = if options.costs == Costs::Even { "class-weight" } else { "cost" };
            return refuse(name, expected, "set");
        }
        if options.multiclass != Classes::OneVsRest {
            return refuse("multiclass", expected, options.multiclass);
        }
        if self.order() == Order::Worst {
            return refuse("order", "another one for numbers, whose rows have no margin", self.order());
        }
        match self.readout() {
            Readout::Last => Ok(()),
            Readout::Averaged(_) if !self.entry.info.settles => Ok(()),
            readout => {
                refuse("readout", "last for numbers, or averaged for a rule that learns row by row", readout)
            }
        }
    }

    /// What a model of it predicts.
    pub fn task(&self) -> Task {
        if self.entry.info.numbers { Task::Numbers } else { Task::Classes }
    }

    /// Refuses numbers where classes are needed.
    pub(crate) fn check_classes(&self) -> Result<(), Error> {
        match self.task() {
            Task::Classes => Ok(()),
            has => Err(Error::OtherTask { has, wants: Task::Classes }),
        }
    }

    /// How scores become `n_classes` classes; numbers have no targets here.
    pub(crate) fn decision(&self, n_classes: usize) -> Multiclass {
        match self.task() {
            Task::Numbers => Multiclass::Numbers(Numbers::default()),
            _ => self.options.multiclass.decision(n_classes),
        }
    }

    /// Asks the rule, and the core, whether they can work with what is set.
    fn check_rule(&self, starts_from_zero: bool) -> Result<(), Error> {
        struct Ask<'a> {
            spec: &'a Spec,
            starts_from_zero: bool,
            answer: Result<(), Error>,
        }
        impl Visit for Ask<'_> {
            fn visit<A: Algorithm>(&mut self) {
                if A::INFO.name == self.spec.entry.info.name {
                    self.answer = self.spec.suits::<A>(self.starts_from_zero);
                }
            }
        }
        let mut ask = Ask { spec: self, starts_from_zero, answer: Ok(()) };
        rules::each(&mut ask);
        ask.answer
    }

    fn suits<A: Algorithm>(&self, starts_from_zero: bool) -> Result<(), Error> {
        let rule = A::new(&self.params())?;
        let refuse = |expected| refuse("algorithm", expected, A::INFO.name);
        if self.kernel().is_some() && !A::Space::SUITS_KERNELS {
            return refuse("one that can learn with a kernel, as perceptron and pa1 can");
        }
        // Any weights that are not zero stand for those of the run.
        let start = (!starts_from_zero).then(|| Hyperplanes::from_parts(vec![1.0], vec![0.0]));
        self.setup(1, start, Vec::new()).check(&A::INFO)?;
        if self.kernel().is_some_and(|options| options.budget.is_some()) && rule.needs().norm2 {
            return refuse("one that does not ask how long its hypothesis is, with a budget");
        }
        Ok(())
    }

    /// What a run of weights for this many features begins with.
    pub(crate) fn setup(&self, width: usize, start: Option<Hyperplanes>, class_weights: Vec<f64>) -> Setup {
        let seed = self.options.seed;
        let remember = Remember::for_readout(self.readout(), self.ratchet(), seed);
        Setup { width, convention: self.convention(), remember, start, class_weights, seed }
    }

    /// The same run, with other costs of mistakes.
    pub(crate) fn with_costs(&self, costs: Costs) -> Self {
        Self { options: Options { costs, ..self.options.clone() }, ..self.clone() }
    }

    fn check_network(&self) -> Result<(), Error> {
        let options = &self.options;
        if !self.entry.network {
            return match options.network {
                Some(_) => {
                    let expected =
                        "a network, as mlp is, where hidden units, activation, optimiser or loss are named";
                    refuse("algorithm", expected, self.entry.info.name)
                }
                None => Ok(()),
            };
        }
        if let Some(kernel) = &options.kernel {
            return refuse("kernel", "none for a network, which has units of its own", kernel.name.clone());
        }
        if let Some(map) = &options.map {
            return refuse("map", "none for a network, which has units of its own", map.name.clone());
        }
        if self.readout() != Readout::Last {
            let expected = "last for a network, whose hypotheses cannot be averaged";
            return refuse("readout", expected, self.readout());
        }
        if options.multiclass == Classes::OneVsOne {
            let expected = "one-vs-rest or direct-max for a network, which has an output per class";
            return refuse("multiclass", expected, options.multiclass);
        }
        if let Some(bias) = options.bias.filter(|bias| *bias != Bias::Learned) {
            let expected = "learned, or left out, for a network, whose units have one each";
            return refuse("bias", expected, bias);
        }
        if self.order() == Order::Worst {
            let expected = "one that visits all rows, for a network";
            return refuse("order", expected, self.order());
        }
        let sizes = options.network.as_ref().and_then(|network| network.sizes.as_ref());
        if let Some(sizes) = sizes {
            let found = || sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
            if sizes.len() > MOST_LAYERS || sizes.iter().any(|units| !(1..=MOST_UNITS).contains(units)) {
                return refuse("hidden", "at most 8 layers of 1 to 65536 units", found());
            }
            if ["hidden", "layers"].iter().any(|name| options.params.contains_key(*name)) {
                let expected = "given once, as a list or as parameters";
                return refuse("hidden", expected, found());
            }
        }
        Ok(())
    }

    /// The network that was asked for.
    pub(crate) fn design(&self) -> Result<Design, Error> {
        let NetworkOptions { sizes, activation, loss, optimiser } =
            self.options.network.clone().unwrap_or_default();
        Ok(Design::new(sizes.as_deref(), activation, loss, optimiser, &self.params())?)
    }

    fn check_kernel(&self, options: &KernelOptions) -> Result<(), Error> {
        let readout = self.readout();
        if matches!(readout, Readout::Pocket | Readout::Averaged(Average::Running | Average::From(_))) {
            let expected = "last, averaged, averaged-pre, averaged-both, voted or random with a kernel";
            return refuse("readout", expected, readout);
        }
        if options.normalised && readout == Readout::Voted {
            let expected = "one whose hypotheses have a length that counts, which votes do not";
            return refuse("readout", expected, readout);
        }
        Ok(())
    }

    fn check_budget(&self, options: &KernelOptions) -> Result<(), Error> {
        let (Some(budget), Some(kernel)) = (options.budget, self.kernel) else { return Ok(()) };
        if let DeviceChoice::Gpu(_) = options.device {
            let expected =
                "auto or cpu with a budget: few rows that come and go are met faster by the processor";
            return refuse("device", expected, options.device);
        }
        if budget == 0 {
            return refuse("budget", "at least 1", budget);
        }
        if options.removal != Removal::Random && budget > MOST_WITH_MATRIX {
            let expected = "at most 10000 unless rows are removed at random, as a square of numbers is kept";
            return refuse("budget", expected, budget);
        }
        if self.readout() != Readout::Last || options.normalised {
            let expected = "last with a budget, and not normalised, as what was removed is gone";
            return refuse("readout", expected, self.readout());
        }
        if options.removal == Removal::Forgetron {
            // Its bound speaks of the perceptron and of values of at most 1.
            if !self.entry.info.fixed_increment {
                return refuse("algorithm", "perceptron for the forgetron", self.entry.info.name);
            }
            if !kernel.at_most_one {
                return refuse("kernel", &FOR_FORGETRON, kernel.name);
            }
        }
        if options.removal == Removal::Projectron && !kernel.positive_definite {
            return refuse("kernel", "positive definite for the projectron", kernel.name);
        }
        Ok(())
    }

    /// The kernel that was asked for, if any.
    pub fn kernel(&self) -> Option<&KernelOptions> {
        self.options.kernel.as_ref()
    }

    /// The kernel's entry in the table, if one was asked for without a map.
    pub fn kernel_info(&self) -> Option<&'static kernels::Info> {
        self.kernel
    }

    /// The map's entry in the table, if one was asked for.
    pub fn map_info(&self) -> Option<&'static maps::Info> {
        self.map
    }

    /// What was asked for.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Whether some mistakes count more than others, in learning or in deciding.
    pub fn weighs_mistakes(&self) -> bool {
        self.options.class_weights != ClassWeights::Even || self.options.costs != Costs::Even
    }

    /// Whether a row's weight is a number of visits to it, of which there are at most this many.
    pub(crate) fn most_weight(&self) -> Option<u64> {
        struct Ask<'a>(&'a Spec, bool);
        impl Visit for Ask<'_> {
            fn visit<R: Algorithm>(&mut self) {
                if R::INFO.name == self.0.entry.info.name
                    && let Ok(rule) = R::new(&self.0.params())
                {
                    self.1 = rule.needs().weighs == Weighs::Visits;
                }
            }
        }
        let mut ask = Ask(self, false);
        rules::each(&mut ask);
        ask.1.then_some(MOST_VISITS)
    }

    /// Whether its scores are learned as logarithms of odds, so that they stand for probabilities.
    pub fn has_log_odds(&self) -> bool {
        let is_softmax = |network: &NetworkOptions| network.loss == Loss::Softmax;
        self.entry.network && self.options.network.as_ref().is_none_or(is_softmax)
    }

    /// How its scores become probabilities: by default, if they are logarithms of odds, these are tried
    /// first. A logistic rule learns the odds of one class against one other, and of more classes each by itself.
    pub(crate) fn calibration(&self, wish: Calibrate, n_classes: usize) -> Option<Method> {
        let has_odds = self.has_log_odds() || self.entry.info.log_odds && n_classes == 2;
        match wish {
            Calibrate::Auto if has_odds => Some(Method::Softmax),
            wish => wish.method(),
        }
    }

    /// The algorithm's entry in the table.
    pub fn entry(&self) -> Entry {
        self.entry
    }

    /// The bias: the one asked for, or the one that suits the rule.
    pub fn bias(&self) -> Bias {
        let suited = match self.entry.info.whole_vector {
            // A kernel has its own constant, or needs none.
            _ if self.options.kernel.is_some() => Bias::None,
            true => Bias::Augmented(1.0),
            false => Bias::Learned,
        };
        self.options.bias.unwrap_or(suited)
    }

    /// The read-out: the one asked for, or the one that suits the rule.
    pub fn readout(&self) -> Readout {
        let has_budget = self.kernel().is_some_and(|options| options.budget.is_some());
        let suited = if self.entry.info.settles || has_budget {
            Readout::Last
        } else {
            Readout::Averaged(Average::Post)
        };
        self.options.readout.unwrap_or(suited)
    }

    /// The order: the one asked for, or the one that suits the rule.
    pub fn order(&self) -> Order {
        let suited = match self.entry.info {
            info if info.picks_worst => Order::Worst,
            info if info.per_pair => Order::Given,
            _ => Order::ShuffleEpoch,
        };
        self.options.order.clone().unwrap_or(suited)
    }

    /// What decides when to stop on data of this many rows, if anything does.
    pub(crate) fn validation(&self, n_rows: usize) -> Option<Validation> {
        let is_used = |part: &Validation| self.task() == Task::Classes && n_rows >= part.min_rows;
        self.options.validation.filter(is_used)
    }

    /// How long a run over these rows, or all, goes on in this [order](Spec::order).
    pub(crate) fn plan<'a>(&self, order: &'a Order, rows: Option<&'a [u32]>) -> Plan<'a> {
        let Options { epochs, seed, max_updates, stop_when_clean, .. } = self.options;
        Plan { rows, max_updates, stop_when_clean, ..Plan::new(order, epochs, seed) }
    }

    /// The feature map that rows go through, if there is one.
    pub(crate) fn map(&self) -> Option<maps::Choice> {
        self.options.map.as_ref().map(|map| map.choice(self.options.seed))
    }

    /// How many outputs `n_classes` classes need.
    pub(crate) fn n_outputs(&self, n_classes: usize) -> usize {
        match (n_classes, self.options.multiclass) {
            _ if self.entry.info.numbers => 1,
            (2, _) => 1,
            // Without a list of all pairs: how many classes there are, a file may say.
            (_, Classes::OneVsOne) => n_classes.saturating_mul(n_classes.saturating_sub(1)) / 2,
            _ => n_classes,
        }
    }

    pub(crate) fn params(&self) -> Params {
        let named = self.options.params.iter();
        let params = named.fold(Params::new(), |params, (name, value)| params.with(name, *value));
        match &self.options.rate {
            Some(rate) => params.with_rate(rate.clone()),
            None => params,
        }
    }

    pub(crate) fn convention(&self) -> Convention {
        Convention { zero: self.options.zero, mistake: self.options.mistake, bias: self.bias() }
    }

    pub(crate) fn ratchet(&self) -> Ratchet {
        if self.options.ratchet { Ratchet::On } else { Ratchet::Off }
    }
}

impl Default for Spec {
    fn default() -> Self {
        Self::new(Options::default()).expect("the defaults are right")
    }
}

impl TryFrom<Options> for Spec {
    type Error = Error;

    fn try_from(options: Options) -> Result<Self, Error> {
        Self::new(options)
    }
}

impl From<Spec> for Options {
    fn from(spec: Spec) -> Self {
        spec.options
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rosenblatt_core::{Mistake, Share};
    use rosenblatt_kernel::Setting;
    use std::collections::BTreeMap;

    #[test]
    fn a_spec_reads_back_as_itself() {
        let options = Options {
            algorithm: "pa1".to_owned(),
            params: BTreeMap::from([("C".to_owned(), 0.5)]),
            bias: Some(Bias::Augmented(2.0)),
            order: Some(Order::Permutation(vec![1, 0])),
            multiclass: Classes::Direct(Share::Uniform),
            validation: Some(Validation::default()),
            class_weights: ClassWeights::Given(BTreeMap::from([("spam".to_owned(), 2.0)])),
            ..Options::default()
        };
        let json = serde_json::to_string(&Spec::new(options).unwrap()).unwrap();
        let again: Spec = serde_json::from_str(&json).unwrap();
        assert_eq!(serde_json::to_string(&again).unwrap(), json);
        assert!(json.contains("\"direct-uniform\"") && json.contains("\"augmented(2)\""), "{json}");
    }

    fn params(name: &str, setting: Setting) -> BTreeMap<String, Setting> {
        BTreeMap::from([(name.to_owned(), setting)])
    }

    #[test]
    fn an_alias_is_the_same_as_the_name() {
        let refused = |options: Options| Spec::new(options).unwrap_err().to_string();
        let projected = |name: &str| KernelOptions {
            name: name.to_owned(),
            budget: Some(2),
            removal: Removal::Projectron,
            ..KernelOptions::default()
        };
        for name in ["sigmoid", "tanh"] {
            let options = Options { kernel: Some(projected(name)), ..Options::default() };
            let message = refused(options);
            assert_eq!(message, "`kernel` should be positive definite for the projectron, but is sigmoid");
        }
        for name in ["perceptron", "standard", "rosenblatt"] {
            let forgetron = KernelOptions { removal: Removal::Forgetron, ..projected("gaussian") };
            let algorithm = name.to_owned();
            let options = Options { algorithm, kernel: Some(forgetron), ..Options::default() };
            assert!(Spec::new(options).unwrap().entry().info.fixed_increment, "{name}");
        }
        // The refusal names the kernels that are taken, and no others.
        for kernel in kernels::KERNELS {
            let forgetron = KernelOptions { removal: Removal::Forgetron, ..projected(kernel.name) };
            let spec = Spec::new(Options { kernel: Some(forgetron), ..Options::default() });
            let is_named = FOR_FORGETRON.split([' ', ',']).any(|word| word == kernel.name);
            assert_eq!(spec.is_ok(), is_named, "{}: {}", kernel.name, *FOR_FORGETRON);
        }
        let order = Some(Order::Given);
        let message = refused(Options { algorithm: "min-over".to_owned(), order, ..Options::default() });
        assert!(
            message.contains("a rule that picks the row of smallest margin itself, but is given"),
            "{message}"
        );
    }

    #[test]
    fn a_kernel_is_refused_what_it_cannot_do() {
        let kernel = |change: fn(&mut KernelOptions)| {
            let mut options = KernelOptions::default();
            change(&mut options);
            Options { kernel: Some(options), ..Options::default() }
        };
        let refused = |options: Options| Spec::new(options).unwrap_err().to_string();
        let plain = || kernel(|_| ());
        assert!(Spec::new(plain()).is_ok());
        assert_eq!(Spec::new(plain()).unwrap().bias(), Bias::None);
        assert_eq!(
            refused(kernel(|kernel| kernel.params = params("degree", Setting::Number(0.0)))),
            "`degree` should be a whole number from 1 to 64, but is 0"
        );
        let negative = refused(kernel(|kernel| kernel.params = params("gamma", Setting::Number(-1.0))));
        assert_eq!(negative, "`gamma` should be scale, auto or a positive number, but is -1");
        for algorithm in ["arow", "batch"] {
            let message = refused(Options { algorithm: algorithm.to_owned(), ..plain() });
            assert!(message.contains("one that can learn with a kernel"), "{message}");
        }
        for readout in
            [Readout::Pocket, Readout::Averaged(Average::Running), Readout::Averaged(Average::From(2))]
        {
            let message = refused(Options { readout: Some(readout), ..plain() });
            assert!(message.contains("with a kernel"), "{message}");
        }
        for (change, expected) in [
            ((|kernel| kernel.budget = Some(0)) as fn(&mut KernelOptions), "at least 1"),
            (|kernel| kernel.budget = Some(20_000), "at most 10000"),
            (
                |kernel| (kernel.budget, kernel.removal) = (Some(9), Removal::Forgetron),
                "values are at most 1",
            ),
            (|kernel| (kernel.budget, kernel.normalised) = (Some(9), true), "what was removed is gone"),
        ] {
            let message = refused(kernel(change));
            assert!(message.contains(expected), "{message}");
        }
        let budget = Spec::new(kernel(|kernel| kernel.budget = Some(9))).unwrap();
        assert_eq!(budget.readout(), Readout::Last);
        let lengths = Options { readout: Some(Readout::Voted), ..kernel(|kernel| kernel.normalised = true) };
        assert!(refused(lengths).contains("which votes do not"));
        let settings = BTreeMap::from([
            ("degree".to_owned(), Setting::Number(2.0)),
            ("gamma".to_owned(), Setting::Scale),
        ]);
        let kernel = Some(KernelOptions { params: settings, ..KernelOptions::default() });
        let json = serde_json::to_string(&Spec::new(Options { kernel, ..plain() }).unwrap()).unwrap();
        assert!(json.contains(r#""params":{"degree":2.0,"gamma":"scale"}"#), "{json}");
        let again: Spec = serde_json::from_str(&json).unwrap();
        assert_eq!(serde_json::to_string(&again).unwrap(), json);
        assert!(!serde_json::to_string(&Spec::default()).unwrap().contains("kernel"));
    }

    #[test]
    fn wrong_options_are_named_with_the_cure() {
        let refused = |options: Options| Spec::new(options).unwrap_err().to_string();
        let algorithm = |name: &str| Options { algorithm: name.to_owned(), ..Options::default() };
        assert_eq!(
            refused(algorithm("percetpron")),
            "there is no algorithm `percetpron`; did you mean `perceptron`?"
        );
        let negative = Options { params: BTreeMap::from([("C".to_owned(), -1.0)]), ..algorithm("pa1") };
        assert_eq!(refused(negative), "`C` should be positive, but is -1");
        let strict = Options { mistake: Mistake::Lt0, ..Options::default() };
        assert!(refused(strict).contains("can never learn"));
        let beside = Options { bias: Some(Bias::Learned), ..algorithm("romma") };
        assert!(refused(beside).contains("augmented(1)"));
        let none = Options { epochs: 0, ..Options::default() };
        assert_eq!(refused(none), "`epochs` should be at least 1, but is 0");
        let json = serde_json::from_str::<Spec>(r#"{"zero": "maybe"}"#).unwrap_err().to_string();
        assert!(
            json.contains("`zero` should be one of plus, minus, random, wrong, but is `maybe`"),
            "{json}"
        );
    }
}
