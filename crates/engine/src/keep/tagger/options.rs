//! What a tagger is to be, by name, and what that means.

use crate::algorithms;
use crate::defaults;
use crate::describe::options::by_name;
use crate::error::{Error, refuse};
use crate::settings::{self, Asked};
use crate::spec::{Options, Spec};
use rosenblatt_core::{Average, Info, Params, Readout, Rule, Setting, settings};
use rosenblatt_data::{LabelColumn, ReadOptions};
use rosenblatt_sequence::template::{self, Template};
use rosenblatt_sequence::{Order, Recalled, Scheme, Search, Violation};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The most labels; in second order, the most whose threes have weights.
const MOST_LABELS: usize = 1000;
const MOST_LABELS_OF_THREE: usize = 100;

/// The most shards: each has weights of its own.
const MOST_SHARDS: usize = 64;

/// The most hypotheses that may vote: each of them looks for its own labels.
pub(crate) const MOST_VOTES: u64 = 5000;

settings! {
    /// The settings of a tagger. Its file holds their JSON.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
    pub struct TaggerOptions: Learning {
        /// Update rule, one that steps along single rows: perceptron, pa1, arow and others.
        algorithm: String = "perceptron".to_owned() => Setting::listed("algorithm").of_sentences();
        /// Parameters of that rule, by name.
        params: BTreeMap<String, f64> = BTreeMap::new() => Setting::numbers().of_sentences();
        /// Whether the average of all weights is kept instead of the last.
        averaged: bool = true => Setting::switch().of_sentences();
        /// Whether the weights after every update are kept and vote, instead of their average. At most 5,000 can vote.
        voted: bool = false => Setting::switch().of_sentences();
        /// Maximum number of epochs.
        epochs: u64 = defaults::TAGGER_EPOCHS => Setting::at_least(1).python("max_iter").of_sentences();
        /// Seed of the order in which sentences are visited.
        seed: u64 = 0 => Setting::at_least(0).python("random_state").of_sentences();
        /// Attributes of a token: a ready-made set (tagging, chunking, ner, letters), or auto for the one that suits. The
        /// flag also takes a file with templates of CRF++; it reads any file as sentences.
        features: String = "auto".to_owned()
            => Setting::text().flag("features").value("SET|FILE").of_sentences()
                .unset("auto for files named like sentences: .conllu, .conll, .iob, .crfsuite");
        /// Templates of CRF++, in place of a ready-made set.
        template: Option<String> = None => Setting::text().of_sentences();
        /// Number of earlier labels that a label depends on, 1 or 2.
        history: usize = 1 => Setting::at_least(1).flag("history").of_sentences();
        /// Number of labels that the search keeps at each token.
        beam: Option<usize> = None => Setting::at_least(1).flag("beam").of_sentences().unset("exact search");
        /// Part of a sentence that is learned from once a beam has lost the true labels.
        #[serde(with = "by_name")]
        violation: Violation = Violation::Max => Setting::choice::<Violation>().flag("violation").of_sentences();
        /// Margin by which the true labels should lead, for every wrong label of a rival beyond the first.
        cost: f64 = 0.0 => Setting::from_zero().flag("label-cost").python("label_cost").of_sentences();
        /// Scheme that decides which labels may follow which.
        #[serde(with = "by_name")]
        constraints: Wanted = Wanted::Auto => Setting::choice::<Wanted>().flag("constraints").of_sentences();
        /// Minimum number of times that an attribute occurs; rarer ones are left out.
        min_count: u32 = 1 => Setting::at_least(0).flag("min-count").of_sentences();
        /// Hash attributes into a table of 2^BITS, without their names.
        hash_bits: Option<u32> = None
            => Setting::at_least(8).of_sentences().unset("no hashing, every attribute has its own weights");
        /// Number of shards that learn in parallel, on all cores; the average of their weights is taken after every epoch.
        shards: usize = 1 => Setting::at_least(1).flag("shards").of_sentences();
        /// Column that holds the label, by name or number. 1 is the first, -1 the last.
        label: Option<String> = None => Setting::text().of_sentences().unset("what the format says, else the last");
    }
}

/// What options mean.
pub(crate) struct Meaning {
    pub(crate) rule: Box<dyn Rule + Send + Sync>,
    pub(crate) info: Info,
    pub(crate) variances: bool,
    pub(crate) order: Order,
    pub(crate) search: Search,
    pub(crate) violation: Violation,
}

/// Which constraints are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Those of the scheme that the labels keep to.
    Auto,
    /// None.
    None,
    /// Those of this scheme.
    Scheme(Scheme),
}

rosenblatt_core::named!(Wanted, "constraints",
    "auto" = Self::Auto, "the scheme that all labels keep to, if there is one";
    "none" = Self::None, "any label may follow any";
    "bio" or "iob2" = Self::Scheme(Scheme::Bio), "B-x begins a span, I-x goes on with it";
    "bioes" or "iobes" = Self::Scheme(Scheme::Bioes), "B-x, I-x, E-x for the end and S-x for a single token";
    "bilou" = Self::Scheme(Scheme::Bilou), "the same with L-x for the last and U-x for a unit";
    "iob1" = Self::Scheme(Scheme::Iob1), "I-x is in a span; B-x only where one follows another of its type";
);

impl TaggerOptions {
    /// Checks that the settings go together.
    pub fn check(&self) -> Result<(), Error> {
        self.meaning().map(|_| ())?;
        self.given_templates().map(|_| ())
    }

    /// The same in one form: hypotheses that vote do so in place of their mean, whether that was wanted or not.
    pub(crate) fn normal(&self) -> Self {
        Self { averaged: self.averaged || self.voted, ..self.clone() }
    }

    /// What differs: its name, what it is here and what it is there.
    pub(crate) fn differences(&self, other: &Self) -> Vec<(String, Value, Value)> {
        settings::differences(&self.normal(), &other.normal())
    }

    /// The same with what is set of taggers, of learning and of reading; an error if that is not about sentences.
    pub fn with_set(
        self,
        tagging: &Asked<Self>,
        learning: &Asked<Options>,
        reading: &ReadOptions,
    ) -> Result<Self, Error> {
        if let Some((name, found)) = learning.set_in_vain(|tasks| !tasks.has_sentences()) {
            return refuse(name, "left out for sentences", found);
        }
        let mut options = tagging.over(self);
        if learning.is_set("algorithm") {
            options.algorithm.clone_from(&learning.algorithm);
        }
        // Parameters are those of a rule, and go with it.
        if learning.is_set("algorithm") || learning.is_set("params") {
            options.params.clone_from(&learning.params);
        }
        if learning.is_set("epochs") {
            options.epochs = learning.epochs;
        }
        if learning.is_set("seed") {
            options.seed = learning.seed;
        }
        options.hash_bits = reading.hash_bits.or(options.hash_bits);
        if let LabelColumn::Named(name) = &reading.label {
            options.label = Some(name.clone());
        }
        match learning.readout {
            Some(readout) => options.read_out(readout),
            None => Ok(options),
        }
    }

    /// What is read out of a training: averaged, last or voted.
    pub fn readout(&self) -> &'static str {
        match self.recalled() {
            Recalled::Votes => "voted",
            Recalled::Mean => "averaged",
            Recalled::Last => "last",
        }
    }

    /// The same with this read-out; an error if sentences have none such.
    pub fn read_out(self, readout: Readout) -> Result<Self, Error> {
        let (averaged, voted) = match readout {
            Readout::Averaged(Average::Post) => (true, false),
            Readout::Last => (false, false),
            Readout::Voted => (true, true),
            other => {
                let expected = "averaged, last or voted for sentences";
                return refuse("readout", expected, other);
            }
        };
        Ok(Self { averaged, voted, ..self })
    }

    /// The same, learning by the rule of a candidate.
    pub(crate) fn learning_as(&self, candidate: &Options) -> Result<Self, Error> {
        let (algorithm, params) = (candidate.algorithm.clone(), candidate.params.clone());
        if candidate.kernel.is_some() {
            let found = format!("{algorithm} with one");
            return refuse("kernel", "left out for sentences", found);
        }
        let same = Self { algorithm, params, ..self.clone() };
        match candidate.readout {
            Some(readout) => same.read_out(readout),
            None => Ok(same),
        }
    }

    /// The rule with its parameters, and its read-out.
    pub fn rule(&self) -> String {
        let params: Vec<String> = self.params.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let params = if params.is_empty() { String::new() } else { format!("({})", params.join(",")) };
        format!("{}{params} {}", self.algorithm, self.readout())
    }

    /// The rule, its parameters, its read-out, epochs and seed, as models of rows have them.
    pub(crate) fn spec(&self) -> Spec {
        let readout = match self.recalled() {
            Recalled::Votes => Readout::Voted,
            Recalled::Mean => Readout::Averaged(Average::Post),
            Recalled::Last => Readout::Last,
        };
        let Self { algorithm, params, epochs, seed, .. } = self.clone();
        let learning = Options { algorithm, params, epochs, seed, validation: None, ..Options::default() };
        // Rows have other read-outs for some rules than sentences.
        let said = Spec::new(Options { readout: Some(readout), ..learning.clone() });
        said.or_else(|_| Spec::new(learning)).unwrap_or_default()
    }

    pub(crate) fn recalled(&self) -> Recalled {
        match (self.voted, self.averaged) {
            (true, _) => Recalled::Votes,
            (false, true) => Recalled::Mean,
            (false, false) => Recalled::Last,
        }
    }

    pub(crate) fn meaning(&self) -> Result<Meaning, Error> {
        let order = match self.history {
            1 => Order::First,
            2 => Order::Second,
            other => return refuse("history", "1 or 2", other),
        };
        let search = match self.beam {
            None => Search::Exact,
            Some(0) => return refuse("beam", "at least 1", "0"),
            Some(_) if order == Order::Second => {
                return refuse("beam", "left out where history is 2", "given");
            }
            Some(width) => Search::Beam(width),
        };
        // An exact search loses nothing.
        let violation = if self.beam.is_some() { self.violation } else { Violation::Complete };
        if !(self.cost >= 0.0 && self.cost.is_finite()) {
            return refuse("cost", "zero or a positive number", self.cost);
        }
        if self.epochs == 0 {
            return refuse("epochs", "at least 1", "0");
        }
        let is_set = self.features == "auto" || template::SETS.iter().any(|(name, _)| *name == self.features);
        if !is_set {
            return refuse(
                "features",
                "auto, tagging, chunking, ner, letters or a file of templates",
                &self.features,
            );
        }
        let entry = algorithms::find(&self.algorithm)?;
        let mut params = Params::new();
        for (name, value) in &self.params {
            params = params.with(name, *value);
        }
        let Some((rule, variances)) = entry.for_sequences(&params)? else {
            return refuse(
                "algorithm",
                "a rule that steps along single rows (perceptron, pa1, arow …)",
                &self.algorithm,
            );
        };
        if let Some(bits) = self.hash_bits.filter(|bits| !(8..=26).contains(bits)) {
            return refuse("hash-bits", "8 to 26", bits);
        }
        if self.shards == 0 || self.shards > MOST_SHARDS {
            return refuse("shards", "1 to 64", self.shards);
        }
        if self.shards > 1 && self.voted {
            return refuse("shards", "1 where hypotheses vote", self.shards);
        }
        if self.shards > 1 && variances {
            return refuse("shards", "1 for a rule that keeps variances", self.shards);
        }
        Ok(Meaning { rule, info: entry.info, variances, order, search, violation })
    }

    /// The templates that were given, if they were.
    pub(crate) fn given_templates(&self) -> Result<Option<Vec<Template>>, Error> {
        let parse = |text: &String| {
            template::parse(text).map_err(|error| Error::Template { what: error.to_string() })
        };
        self.template.as_ref().map(parse).transpose()
    }
}

/// Refuses more labels than there is room for.
pub(crate) fn check_labels(n_labels: usize, order: Order) -> Result<(), Error> {
    let most = if order == Order::Second { MOST_LABELS_OF_THREE } else { MOST_LABELS };
    if n_labels > most {
        return Err(Error::TooManyLabels { found: n_labels, most });
    }
    Ok(())
}
