//! What a tagger is to be, by name, and what that means.

use super::shards::MOST_SHARDS;
use crate::algorithms;
use crate::defaults;
use crate::error::Error;
use crate::spec::{Options, Spec};
use rosenblatt_core::{Average, Info, Params, Readout, Rule};
use rosenblatt_sequence::template::{self, Template};
use rosenblatt_sequence::{Order, Recalled, Scheme, Search, Violation};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The most labels; in second order, the most whose threes have weights.
pub(super) const MOST_LABELS: usize = 1000;
const MOST_LABELS_OF_THREE: usize = 100;

/// The most hypotheses that may vote: each of them looks for its own labels.
pub(super) const MOST_VOTES: u64 = 5000;

/// What a tagger is to be. Its JSON is in every file of one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct TaggerOptions {
    /// The update rule, one that steps along single rows: perceptron, pa1, arow and others.
    pub algorithm: String,
    /// Its parameters.
    pub params: BTreeMap<String, f64>,
    /// Whether the mean of all hypotheses is kept, or the last one.
    pub averaged: bool,
    /// Whether all hypotheses are kept and vote, in place of their mean. There may be only so many.
    pub voted: bool,
    /// How often all sentences are met.
    pub epochs: u64,
    /// Decides the order in which they are met.
    pub seed: u64,
    /// A ready-made set of templates (tagging, chunking, ner, letters), or `auto` for the one that suits the labels.
    pub features: String,
    /// Templates in the language of CRF++, in place of a ready-made set.
    pub template: Option<String>,
    /// How many labels before it a label depends on: 1 or 2.
    pub history: usize,
    /// Labels that a search keeps at each token; all if nothing is said.
    pub beam: Option<usize>,
    /// What becomes of true labels that a beam has lost: complete, early or max-violation.
    pub violation: String,
    /// By how much true labels should lead for every wrong label of a rival beyond the first.
    pub cost: f64,
    /// Which labels may follow which: auto, none, bio, bioes, bilou or iob1.
    pub constraints: String,
    /// Attributes that turn up less often are left out.
    pub min_count: u32,
    /// Attributes are hashed into a table of two to the power of this, and their names forgotten; not if nothing is said.
    pub hash_bits: Option<u32>,
    /// Shards that learn beside each other, the mean of which is taken after every epoch; 1 is one after the other.
    pub shards: usize,
    /// The column of the label, by name or number (1 is the first, -1 the last).
    pub label: Option<String>,
}

impl Default for TaggerOptions {
    fn default() -> Self {
        Self {
            algorithm: "perceptron".to_owned(),
            params: BTreeMap::new(),
            averaged: true,
            voted: false,
            epochs: defaults::TAGGER_EPOCHS,
            seed: 0,
            features: "auto".to_owned(),
            template: None,
            history: 1,
            beam: None,
            violation: "max-violation".to_owned(),
            cost: 0.0,
            constraints: "auto".to_owned(),
            min_count: 1,
            hash_bits: None,
            shards: 1,
            label: None,
        }
    }
}

/// What options mean.
pub(crate) struct Meaning {
    pub(super) rule: Box<dyn Rule + Send + Sync>,
    pub(super) info: Info,
    pub(super) variances: bool,
    pub(crate) order: Order,
    pub(crate) search: Search,
    pub(super) violation: Violation,
    pub(super) constraints: Wanted,
}

/// Which constraints are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Those of the scheme that the labels keep to.
    Auto,
    None,
    Scheme(Scheme),
}

impl TaggerOptions {
    /// Whether all of it can be had.
    pub fn check(&self) -> Result<(), Error> {
        self.meaning().map(|_| ())?;
        self.given_templates().map(|_| ())
    }

    /// The same, said in one way: hypotheses that vote do so in place of their mean, whether that was wanted or not.
    pub(crate) fn normal(&self) -> Self {
        Self { averaged: self.averaged || self.voted, ..self.clone() }
    }

    /// What differs: its name, what it is here and what it is there.
    pub(crate) fn differences(&self, other: &Self) -> Vec<(String, Value, Value)> {
        let fields = |options: &Self| match serde_json::to_value(options.normal()) {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        };
        let mut others = fields(other);
        let pair = |(name, one): (String, Value)| {
            let other = others.remove(&name).unwrap_or_default();
            (one != other).then_some((name, one, other))
        };
        fields(self).into_iter().filter_map(pair).collect()
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
                return Err(Error::Range { name: "readout", expected, found: other.to_string() });
            }
        };
        Ok(Self { averaged, voted, ..self })
    }

    /// The same, learning by the rule of a candidate.
    pub(crate) fn learning_as(&self, candidate: &Options) -> Result<Self, Error> {
        let (algorithm, params) = (candidate.algorithm.clone(), candidate.params.clone());
        if candidate.kernel.is_some() {
            let found = format!("{algorithm} with one");
            return Err(Error::Range { name: "kernel", expected: "left out for sentences", found });
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

    pub(super) fn recalled(&self) -> Recalled {
        match (self.voted, self.averaged) {
            (true, _) => Recalled::Votes,
            (false, true) => Recalled::Mean,
            (false, false) => Recalled::Last,
        }
    }

    pub(crate) fn meaning(&self) -> Result<Meaning, Error> {
        let wrong =
            |name, expected, found: &str| Err(Error::Range { name, expected, found: found.to_owned() });
        let order = match self.history {
            1 => Order::First,
            2 => Order::Second,
            other => return wrong("history", "1 or 2", &other.to_string()),
        };
        let search = match self.beam {
            None => Search::Exact,
            Some(0) => return wrong("beam", "at least 1", "0"),
            Some(_) if order == Order::Second => {
                return wrong("beam", "left out where history is 2", "given");
            }
            Some(width) => Search::Beam(width),
        };
        let violation = match self.violation.as_str() {
            // An exact search loses nothing.
            "complete" | "early" | "max-violation" | "max" if self.beam.is_none() => Violation::Complete,
            "complete" => Violation::Complete,
            "early" => Violation::Early,
            "max-violation" | "max" => Violation::Max,
            other => return wrong("violation", "complete, early or max-violation", other),
        };
        let constraints = match self.constraints.as_str() {
            "auto" => Wanted::Auto,
            "none" => Wanted::None,
            name => match Scheme::find(name) {
                Some(scheme) => Wanted::Scheme(scheme),
                None => return wrong("constraints", "auto, none, bio, bioes, bilou or iob1", name),
            },
        };
        if !(self.cost >= 0.0 && self.cost.is_finite()) {
            return wrong("cost", "zero or a positive number", &self.cost.to_string());
        }
        if self.epochs == 0 {
            return wrong("epochs", "at least 1", "0");
        }
        let is_set = self.features == "auto" || template::SETS.iter().any(|(name, _)| *name == self.features);
        if !is_set {
            return wrong(
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
            return wrong(
                "algorithm",
                "a rule that steps along single rows (perceptron, pa1, arow …)",
                &self.algorithm,
            );
        };
        if let Some(bits) = self.hash_bits.filter(|bits| !(8..=26).contains(bits)) {
            return wrong("hash-bits", "8 to 26", &bits.to_string());
        }
        if self.shards == 0 || self.shards > MOST_SHARDS {
            return wrong("shards", "1 to 64", &self.shards.to_string());
        }
        if self.shards > 1 && self.voted {
            return wrong("shards", "1 where hypotheses vote", &self.shards.to_string());
        }
        if self.shards > 1 && variances {
            return wrong("shards", "1 for a rule that keeps variances", &self.shards.to_string());
        }
        Ok(Meaning { rule, info: entry.info, variances, order, search, violation, constraints })
    }

    /// The templates that were given, if they were.
    pub(super) fn given_templates(&self) -> Result<Option<Vec<Template>>, Error> {
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
