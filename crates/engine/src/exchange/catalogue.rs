//! Everything there is to choose from, as one value: what help, documentation, JSON Schema and the signatures of other
//! languages are made of.
//!
//! Nothing is spelled here that is spelled elsewhere. Algorithms, kernels, maps and formats come from their tables,
//! names of choices from [`Choices`], defaults from the options themselves; only what an option means is said here, and
//! a test holds the list against the options.

use crate::algorithms::ALGORITHMS;
use crate::calibration::Method;
use crate::export::Export;
use crate::race::Metric;
use crate::recipe::{Calibrate, MemoryLimit, Racing, Recipe};
use crate::spec::{Classes, KernelOptions, Mapping, NetworkOptions, Options, Validation};
use rosenblatt_core::{Bias, Choices, Loss, Mistake, Named, Order, Param, Readout, Schedule, Zero};
use rosenblatt_data::encode::{Scaling, Units, Weighting};
use rosenblatt_data::write::WRITERS;
use rosenblatt_data::{FORMATS, FormatInfo, Missing, OnBadRow, Precision, ReadOptions, Unknown};
use rosenblatt_kernel::maps::MAPS;
use rosenblatt_kernel::{KERNELS, Removal, Setting};
use rosenblatt_layers::{Activation, Optimiser};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Everything there is to choose from.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Catalogue {
    /// The version of the library.
    pub version: &'static str,
    /// The update rules.
    pub algorithms: Vec<Algorithm>,
    /// The kernels.
    pub kernels: Vec<Kernel>,
    /// The feature maps that stand in for kernels.
    pub maps: Vec<FeatureMap>,
    /// What is chosen by name, list by list.
    pub choices: Vec<ChoiceList>,
    /// The file formats, by what is done with them.
    pub formats: Vec<Format>,
    /// The options, group by group.
    pub options: Vec<OptionGroup>,
    /// The pictures, if the figures are at hand.
    pub figures: Vec<Figure>,
}

/// An update rule.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Algorithm {
    /// What it is called.
    pub name: &'static str,
    /// What else it is called.
    pub aliases: &'static [&'static str],
    /// The idea in one sentence.
    pub summary: &'static str,
    /// When it steps and how.
    pub update: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// When to prefer it.
    pub prefer: &'static str,
    /// Its parameters.
    pub params: Vec<Parameter>,
    /// The learning rate it has unless one is given, and behind a semicolon another where that suits; nothing if it
    /// takes none.
    pub rate: Option<&'static str>,
    /// Whether a bound on its mistakes is known.
    pub bound: bool,
}

/// A kernel.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Kernel {
    /// What it is called.
    pub name: &'static str,
    /// What else it is called.
    pub aliases: &'static [&'static str],
    /// The value of two rows.
    pub formula: &'static str,
    /// When to prefer it.
    pub prefer: &'static str,
    /// Its parameters.
    pub params: Vec<Parameter>,
}

/// A feature map.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct FeatureMap {
    /// What it is called.
    pub name: &'static str,
    /// What else it is called.
    pub aliases: &'static [&'static str],
    /// What comes out.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// The kernels it stands in for, the usual one first; all if none is named.
    pub kernels: &'static [&'static str],
}

/// A number that a rule or a kernel takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Parameter {
    /// What it is called.
    pub name: &'static str,
    /// What it does.
    pub meaning: &'static str,
    /// Its value unless somebody says otherwise: a number, or the way it follows from the rows.
    pub default: Value,
    /// Which values make sense.
    pub range: String,
}

/// What is chosen by name.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ChoiceList {
    /// What is chosen.
    pub name: &'static str,
    /// The choices.
    pub choices: Vec<Choice>,
}

/// One of several.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Choice {
    /// What it is called; in capitals what the user fills in.
    pub name: &'static str,
    /// What else it is called.
    pub aliases: &'static [&'static str],
    /// What it means.
    pub meaning: &'static str,
    /// Something that can be given.
    pub example: &'static str,
}

impl From<&Named> for Choice {
    fn from(&Named { name, aliases, meaning, example }: &Named) -> Self {
        Self { name, aliases, meaning, example }
    }
}

/// A file format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Format {
    /// What it is called.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// How file names end, in lower case.
    pub extensions: &'static [&'static str],
    /// What is done with it.
    pub purpose: Purpose,
}

/// What is done with a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// Rows are read from it.
    Read,
    /// Rows are written to it.
    Written,
    /// Predictions are written to it.
    Predictions,
    /// Models are exported to it.
    Export,
}

/// Options that belong together.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct OptionGroup {
    /// What they are about.
    pub name: &'static str,
    /// The options.
    pub options: Vec<OptionInfo>,
}

/// An option.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct OptionInfo {
    /// What it is called.
    pub name: &'static str,
    /// What it does.
    pub meaning: &'static str,
    /// Its value unless somebody says otherwise; null if that is left to the data or the rule.
    pub default: Value,
    /// Which values make sense.
    pub takes: Takes,
}

/// Which values an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Takes {
    /// Yes or no.
    Switch,
    /// A whole number from here on.
    AtLeast(u64),
    /// A number strictly between two others.
    Between(f64, f64),
    /// Any text.
    Text,
    /// A list of texts.
    Texts,
    /// A number above zero.
    Positive,
    /// One of the choices of this name.
    Choice(&'static str),
    /// Numbers by name.
    Numbers,
    /// An object with the options of the group of this name.
    Group(&'static str),
    /// Something that has a form of its own, told in the meaning.
    Other,
}

/// A kind of picture.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Figure {
    /// What it is called.
    pub name: &'static str,
    /// What it shows.
    pub about: &'static str,
    /// What can be chosen about it: name, meaning, default and which values make sense.
    pub settings: Vec<FigureSetting>,
}

/// Something that can be chosen about a picture.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct FigureSetting {
    /// What it is called.
    pub name: &'static str,
    /// What it does.
    pub meaning: &'static str,
    /// Its value unless somebody says otherwise.
    pub default: Option<&'static str>,
    /// Which values make sense.
    pub takes: String,
}

/// Everything there is to choose from. The figures are added by the crate that draws them.
///
/// ```
/// let catalogue = rosenblatt::catalogue();
/// let pa1 = catalogue.algorithms.iter().find(|algorithm| algorithm.name == "pa1").unwrap();
/// assert_eq!(pa1.params[0].name, "C");
/// assert!(catalogue.choices.iter().any(|list| list.name == "readout" && list.choices.len() > 5));
/// ```
pub fn catalogue() -> Catalogue {
    Catalogue {
        version: env!("CARGO_PKG_VERSION"),
        algorithms: algorithms(),
        kernels: kernels(),
        maps: maps(),
        choices: choices(),
        formats: formats(),
        options: options(),
        figures: Vec::new(),
    }
}

fn parameter(param: &Param, default: Value) -> Parameter {
    Parameter { name: param.name, meaning: param.meaning, default, range: param.range.to_string() }
}

/// The update rules.
pub fn algorithms() -> Vec<Algorithm> {
    let algorithm = |entry: &crate::algorithms::Entry| {
        let info = entry.info;
        let mut params = rosenblatt_core::Params::new();
        for param in info.params {
            params = params.with(param.name, param.default);
        }
        Algorithm {
            name: info.name,
            aliases: info.aliases,
            summary: info.summary,
            update: info.update,
            source: info.source,
            prefer: info.prefer,
            params: info.params.iter().map(|param| parameter(param, json!(param.default))).collect(),
            rate: info.rate,
            bound: (entry.bound)(&params, 1.0, 0.1).is_some(),
        }
    };
    ALGORITHMS.iter().map(algorithm).collect()
}

/// The kernels.
pub fn kernels() -> Vec<Kernel> {
    let kernel = |info: &rosenblatt_kernel::kernels::Info| {
        let default = |param: &Param| match info.default_of(param) {
            Setting::Number(number) => json!(number),
            setting => json!(setting.to_string()),
        };
        Kernel {
            name: info.name,
            aliases: info.aliases,
            formula: info.formula,
            prefer: info.prefer,
            params: info.params.iter().map(|param| parameter(param, default(param))).collect(),
        }
    };
    KERNELS.iter().map(kernel).collect()
}

/// The feature maps that stand in for kernels.
pub fn maps() -> Vec<FeatureMap> {
    let map = |info: &rosenblatt_kernel::maps::Info| FeatureMap {
        name: info.name,
        aliases: info.aliases,
        summary: info.summary,
        source: info.source,
        kernels: info.kernels,
    };
    MAPS.iter().map(map).collect()
}

fn list<T: Choices>() -> ChoiceList {
    ChoiceList { name: T::WHAT, choices: T::ALL.iter().map(Choice::from).collect() }
}

/// What is chosen by name, list by list.
pub fn choices() -> Vec<ChoiceList> {
    vec![
        list::<Readout>(),
        list::<Classes>(),
        list::<Loss>(),
        list::<Schedule>(),
        list::<Order>(),
        list::<Zero>(),
        list::<Mistake>(),
        list::<Bias>(),
        list::<Method>(),
        list::<Removal>(),
        list::<Scaling>(),
        list::<Weighting>(),
        list::<Units>(),
        list::<Missing>(),
        list::<Unknown>(),
        list::<Precision>(),
        list::<OnBadRow>(),
        list::<Metric>(),
        list::<Calibrate>(),
        list::<Activation>(),
        list::<Optimiser>(),
        list::<rosenblatt_layers::Loss>(),
    ]
}

fn formats() -> Vec<Format> {
    let read = FORMATS.iter().map(|format| (format.info(), Purpose::Read));
    let written = WRITERS.iter().map(|format| (format.info(), Purpose::Written));
    let predictions = PREDICTION_FORMATS.iter().map(|format| (*format, Purpose::Predictions));
    let exports = Export::ALL.iter().map(|export| (export.info(), Purpose::Export));
    let all = read.chain(written).chain(predictions).chain(exports);
    all.map(|(info, purpose)| Format {
        name: info.name,
        about: info.about,
        extensions: info.extensions,
        purpose,
    })
    .collect()
}

/// The forms that predictions are written in.
pub const PREDICTION_FORMATS: &[FormatInfo] = &[
    FormatInfo { extensions: &["txt"], ..FormatInfo::new("lines", "a class a line, and nothing else") },
    FormatInfo { extensions: &["csv"], ..FormatInfo::new("csv", "columns below a header") },
    FormatInfo {
        aliases: &["json-lines", "ndjson"],
        extensions: &["jsonl", "ndjson", "json"],
        ..FormatInfo::new("jsonl", "an object a line")
    },
    FormatInfo {
        extensions: &["parquet", "pq"],
        ..FormatInfo::new("parquet", "columns of an Apache Parquet file")
    },
];

/// What options mean. Their names and defaults are those of the options themselves.
type Meanings = &'static [(&'static str, &'static str, Takes)];

const RECIPE: Meanings = &[
    ("reading", "how the data is read", Takes::Group("reading")),
    ("learning", "what is learned; in a race, what all candidates have in common", Takes::Group("learning")),
    (
        "choice",
        "who decides what is learned: auto (a race, if nothing else is said about learning), given (the options), or \
         {\"race\": race options}",
        Takes::Other,
    ),
    (
        "estimate",
        "how the error on new rows is estimated: {\"hold-out\": share of the rows, from 0 to 1} or {\"folds\": number, \
         from 2}",
        Takes::Other,
    ),
    ("calibration", "how scores become probabilities", Takes::Choice("calibrate")),
    ("positive", "the positive class; told from all others together if there are more than two", Takes::Text),
    ("memory", "a limit on the memory that rows take; none if not given", Takes::Group("memory")),
    ("online", "learn in one epoch, in the memory of a few blocks", Takes::Switch),
    ("blank", "of the model to start from, take all but the weights", Takes::Switch),
];

const RACE: Meanings = &[
    (
        "candidates",
        "the learning options that compete, the simplest first; the usual ones if empty",
        Takes::Other,
    ),
    ("metric", "what candidates are compared by", Takes::Choice("metric")),
    ("budget", "seconds after which no part of the race is begun; none if not given", Takes::Positive),
];

const MEMORY: Meanings = &[
    ("bytes", "bytes that rows may take before they are kept in a cache on disk", Takes::AtLeast(0)),
    (
        "cache",
        "the file in which the cache is kept, to be used again; a nameless one if not given",
        Takes::Text,
    ),
];

const LEARNING: Meanings = &[
    ("algorithm", "the update rule", Takes::Choice("algorithm")),
    ("params", "parameters of the rule, by name; the rule lists them", Takes::Numbers),
    ("rate", "the learning rate; the rule's own if not given", Takes::Choice("rate")),
    ("readout", "what the model is made of; what suits the rule if not given", Takes::Choice("readout")),
    ("ratchet", "the pocket compares training errors before it changes its mind", Takes::Switch),
    ("multiclass", "how more than two classes are told apart", Takes::Choice("multiclass")),
    ("zero", "what a score of zero predicts", Takes::Choice("zero")),
    ("mistake", "what counts as a mistake", Takes::Choice("mistake")),
    (
        "bias",
        "how the hyperplane gets off the origin; the rule's own way if not given",
        Takes::Choice("bias"),
    ),
    ("order", "in which order rows are visited; the rule's own if not given", Takes::Choice("order")),
    ("seed", "decides every random choice", Takes::AtLeast(0)),
    ("epochs", "the most epochs: times that every training row is met", Takes::AtLeast(1)),
    ("max-updates", "the most steps", Takes::AtLeast(1)),
    ("stop-when-clean", "stop after an epoch in which nothing was left to learn", Takes::Switch),
    ("validation", "a validation set that decides when to stop", Takes::Group("validation")),
    (
        "class-weights",
        "how much each class counts: even, balanced, or {\"given\": weights by class}",
        Takes::Other,
    ),
    (
        "costs",
        "what mistakes cost, which decides the class: even, balanced, {\"threshold\": share}, or {\"given\": costs by \
         class or TRUE:NAMED}",
        Takes::Other,
    ),
    ("map", "a feature map that stands in for a kernel", Takes::Group("map")),
    ("kernel", "what takes the place of the product of two rows", Takes::Group("kernel")),
    ("network", "what a network is made of, for the algorithm mlp", Takes::Group("network")),
];

const NETWORK: Meanings = &[
    (
        "sizes",
        "a list: units of every hidden layer; what the parameters hidden and layers say if not given",
        Takes::Other,
    ),
    ("activation", "what hidden units make of their sums", Takes::Choice("activation")),
    ("loss", "what the scores of a row cost", Takes::Choice("output-loss")),
    ("optimiser", "how weights go along their slopes", Takes::Choice("optimiser")),
];

const VALIDATION: Meanings = &[
    ("fraction", "the share of the training rows in the validation set", Takes::Between(0.0, 1.0)),
    ("patience", "epochs without progress before training stops", Takes::AtLeast(1)),
    ("min-rows", "there is no validation set if the data has fewer rows than this", Takes::AtLeast(0)),
];

const KERNEL: Meanings = &[
    ("name", "which kernel", Takes::Choice("kernel")),
    ("params", "its parameters by name; what is not given has its default", Takes::Other),
    ("normalised", "divide every hypothesis by its length before it is read out", Takes::Switch),
    (
        "memory",
        "bytes for values that are kept or computed ahead; changes nothing but the time",
        Takes::AtLeast(0),
    ),
    (
        "device",
        "where values are computed, which changes nothing but the time: auto (a card, if there is one and the rows are \
         many), cpu, gpu or gpu:N",
        Takes::Other,
    ),
    ("budget", "the most support vectors; all if not given", Takes::AtLeast(1)),
    ("removal", "what gives way when the budget is spent", Takes::Choice("removal")),
];

const MAP: Meanings = &[
    ("name", "which map", Takes::Choice("map")),
    ("size", "how many features come out, at most", Takes::AtLeast(1)),
    (
        "kernel",
        "the kernel it stands in for; the one that suits the map if not given",
        Takes::Choice("kernel"),
    ),
    ("params", "the kernel's parameters by name; what is not given has its default", Takes::Other),
];

const READING: Meanings = &[
    ("format", "the format, instead of finding it out from content and name", Takes::Choice("format")),
    ("label", "the label column: guess, absent, or {\"named\": name or number}", Takes::Other),
    ("weight", "a column that weighs the rows, by name or number", Takes::Text),
    ("ignore", "columns to leave out, by name or number", Takes::Texts),
    ("categorical", "columns whose numbers are names, by name or number", Takes::Texts),
    ("header", "whether the first line holds column names; found out if not given", Takes::Switch),
    ("delimiter", "the byte between cells; found out if not given", Takes::AtLeast(0)),
    ("positive", "the class of two that a positive score speaks for", Takes::Text),
    ("classes", "all classes in their order, instead of those found, sorted", Takes::Texts),
    ("grow-classes", "a stream may meet classes that are not among the first", Takes::Switch),
    ("missing", "what becomes of missing values", Takes::Choice("missing")),
    ("zero-based", "feature numbers start at 0, in formats that number features", Takes::Switch),
    ("precision", "how values are stored", Takes::Choice("precision")),
    ("hash-bits", "hash features into a table of two to this power", Takes::AtLeast(1)),
    ("scaling", "how features are brought to one scale", Takes::Choice("scaling")),
    ("text-columns", "columns of text in a table; found if none is named", Takes::Texts),
    (
        "crosses",
        "pairs of columns, or namespaces, whose features are multiplied with each other's",
        Takes::Other,
    ),
    ("unknown", "what becomes of a category that was not learned from", Takes::Choice("unknown")),
    ("text", "how text becomes features", Takes::Group("text")),
    ("keep-texts", "blocks keep the texts that their rows were made of", Takes::Switch),
    ("on-bad-row", "what becomes of a row that cannot be read", Takes::Choice("on-bad-row")),
    ("labels-file", "the file of labels that belongs to a file of pictures or arrays", Takes::Text),
    ("pictures", "what becomes of pictures", Takes::Group("pictures")),
    (
        "threads",
        "threads that parse text, 0 for one per core; changes nothing but the time",
        Takes::AtLeast(0),
    ),
    ("limits", "what is too much", Takes::Group("limits")),
];

const TEXT: Meanings = &[
    ("units", "what text is made of", Takes::Choice("units")),
    ("shortest", "the fewest units that make a feature together", Takes::AtLeast(1)),
    ("longest", "the most units that make a feature together", Takes::AtLeast(1)),
    ("weighting", "what a feature is worth in a text", Takes::Choice("weighting")),
    ("unit-length", "every text has length 1, however long it is", Takes::Switch),
    (
        "min-count",
        "in how many texts a feature must occur; 1 of few texts, 3 of many, if not given",
        Takes::AtLeast(1),
    ),
    (
        "keep-names",
        "names of hashed features are remembered, for which the data is read once more",
        Takes::Switch,
    ),
];

const PICTURES: Meanings = &[
    (
        "size",
        "width and height that every picture is resized to; that of the first if not given",
        Takes::Other,
    ),
    ("colour", "red, green and blue instead of grey", Takes::Switch),
    ("unscaled", "pixels from 0 to 255 instead of 0 to 1", Takes::Switch),
];

const LIMITS: Meanings = &[
    ("line-bytes", "bytes in a line", Takes::AtLeast(1)),
    ("features", "features of a row", Takes::AtLeast(1)),
    ("classes", "different labels", Takes::AtLeast(1)),
    ("categories", "different values of a column of categories", Takes::AtLeast(1)),
    ("vocabulary", "different words, or runs of words, of a text", Takes::AtLeast(1)),
    ("pixels", "pixels of one picture", Takes::AtLeast(1)),
    ("held-bytes", "bytes of one source held in memory, where that is necessary", Takes::AtLeast(1)),
];

/// The groups: what they mean, and an object with the defaults.
fn groups() -> Vec<(&'static str, Meanings, Value)> {
    let reading = ReadOptions::default();
    vec![
        ("recipe", RECIPE, json!(Recipe::default())),
        ("race", RACE, json!(Racing::default())),
        ("memory", MEMORY, json!(MemoryLimit { bytes: 0, cache: None })),
        ("learning", LEARNING, json!(Options::default())),
        ("validation", VALIDATION, json!(Validation::default())),
        ("kernel", KERNEL, json!(KernelOptions::default())),
        ("map", MAP, json!(Mapping::default())),
        ("network", NETWORK, json!(NetworkOptions::default())),
        ("text", TEXT, json!(reading.text)),
        ("pictures", PICTURES, json!(reading.pictures)),
        ("limits", LIMITS, json!(reading.limits)),
        ("reading", READING, json!(reading)),
    ]
}

fn options() -> Vec<OptionGroup> {
    let option = |defaults: &Value, &(name, meaning, takes): &(&'static str, &'static str, Takes)| {
        OptionInfo { name, meaning, default: defaults[name].clone(), takes }
    };
    let group = |(name, meanings, defaults): (&'static str, Meanings, Value)| OptionGroup {
        name,
        options: meanings.iter().map(|meaning| option(&defaults, meaning)).collect(),
    };
    groups().into_iter().map(group).collect()
}

impl Catalogue {
    /// The names that a choice has, aliases left out: of a list of choices, of algorithms, kernels, maps or formats
    /// that are read (`format`), written (`written-format`), hold predictions (`prediction-format`) or models (`export`).
    pub fn names(&self, what: &str) -> Vec<&'static str> {
        match what {
            "algorithm" => self.algorithms.iter().map(|algorithm| algorithm.name).collect(),
            "kernel" => self.kernels.iter().map(|kernel| kernel.name).collect(),
            "map" => self.maps.iter().map(|map| map.name).collect(),
            "format" => self.format_names(Purpose::Read),
            "written-format" => self.format_names(Purpose::Written),
            "prediction-format" => self.format_names(Purpose::Predictions),
            "export" => self.format_names(Purpose::Export),
            _ => {
                let list = self.choices.iter().filter(|list| list.name == what);
                list.flat_map(|list| list.choices.iter().map(|choice| choice.name)).collect()
            }
        }
    }

    fn format_names(&self, purpose: Purpose) -> Vec<&'static str> {
        self.formats.iter().filter(|format| format.purpose == purpose).map(|format| format.name).collect()
    }

    /// A JSON Schema of the options: an object for every group, which learning and reading refer to.
    pub fn schema(&self) -> Value {
        let property = |option: &OptionInfo| {
            let mut schema = self.type_of(option.takes);
            let optional =
                option.default.is_null() && !matches!(option.takes, Takes::Group(_) | Takes::Other);
            if let (Some(kind), true) = (schema.get("type").cloned(), optional) {
                schema["type"] = json!([kind, "null"]);
            }
            schema["description"] = json!(option.meaning);
            if !option.default.is_null() {
                schema["default"] = option.default.clone();
            }
            (option.name.to_owned(), schema)
        };
        let group = |group: &OptionGroup| {
            let properties: Map<String, Value> = group.options.iter().map(property).collect();
            let object = json!({ "type": "object", "additionalProperties": false, "properties": properties });
            (group.name.to_owned(), object)
        };
        let definitions: Map<String, Value> = self.options.iter().map(group).collect();
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Options of Rosenblatt",
            "$defs": definitions,
        })
    }

    fn type_of(&self, takes: Takes) -> Value {
        match takes {
            Takes::Switch => json!({ "type": "boolean" }),
            Takes::AtLeast(least) => json!({ "type": "integer", "minimum": least }),
            Takes::Between(low, high) => {
                json!({ "type": "number", "exclusiveMinimum": low, "exclusiveMaximum": high })
            }
            Takes::Text => json!({ "type": "string" }),
            Takes::Texts => json!({ "type": "array", "items": { "type": "string" } }),
            Takes::Positive => json!({ "type": "number", "exclusiveMinimum": 0 }),
            Takes::Choice(what) => json!({ "type": "string", "examples": self.names(what) }),
            Takes::Numbers => json!({ "type": "object", "additionalProperties": { "type": "number" } }),
            Takes::Group(name) => {
                json!({ "anyOf": [{ "type": "null" }, { "$ref": format!("#/$defs/{name}") }] })
            }
            Takes::Other => json!({}),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spec;
    use std::collections::BTreeSet;

    #[test]
    fn every_option_has_a_meaning_and_every_meaning_an_option() {
        for (group, meanings, defaults) in groups() {
            let told: BTreeSet<&str> = meanings.iter().map(|(name, ..)| *name).collect();
            let there: BTreeSet<&str> = defaults.as_object().unwrap().keys().map(String::as_str).collect();
            // What is nothing unless it is given may be left out of the defaults, and what is no option of a user.
            let hidden =
                ["map", "costs", "kernel", "network", "sizes", "budget", "device", "schema", "meter"];
            let differ: Vec<&&str> =
                told.symmetric_difference(&there).filter(|name| !hidden.contains(name)).collect();
            assert!(differ.is_empty(), "{group}: {differ:?}");
            assert_eq!(told.len(), meanings.len(), "{group}: a name stands twice");
        }
    }

    #[test]
    fn every_choice_that_an_option_takes_is_listed_and_accepted() {
        let catalogue = catalogue();
        let set = |name: &str, value: Value| {
            let options = json!({ name: value });
            serde_json::from_value::<Options>(options).map_err(|error| error.to_string())
        };
        for group in &catalogue.options {
            for option in &group.options {
                let Takes::Choice(what) = option.takes else { continue };
                assert!(!catalogue.names(what).is_empty(), "{}: no list `{what}`", option.name);
                if group.name == "learning" && what == option.name {
                    let list = catalogue.choices.iter().filter(|list| list.name == what);
                    for choice in list.flat_map(|list| &list.choices) {
                        set(option.name, json!(choice.example)).unwrap();
                    }
                }
                if group.name == "reading" || group.name == "text" {
                    for name in catalogue.names(what) {
                        let value = json!({ option.name: name });
                        let read = if group.name == "text" { json!({ "text": value }) } else { value };
                        serde_json::from_value::<ReadOptions>(read).unwrap_or_else(|e| panic!("{name}: {e}"));
                    }
                }
            }
        }
        for name in catalogue.names("algorithm") {
            Spec::new(Options { algorithm: name.to_owned(), ..Options::default() }).unwrap();
        }
        for kernel in &catalogue.kernels {
            for name in kernel.aliases.iter().chain([&kernel.name]) {
                assert!(rosenblatt_kernel::kernels::find(name).is_ok());
            }
            assert!(kernel.params.iter().all(|param| !param.meaning.is_empty() && !param.range.is_empty()));
        }
        assert!(catalogue.formats.iter().all(|format| !format.about.is_empty()));
    }

    #[test]
    fn the_schema_names_what_it_refers_to() {
        let schema = catalogue().schema();
        let text = schema.to_string();
        for (place, _) in text.match_indices("#/$defs/") {
            let name: String = text[place + 8..].chars().take_while(|letter| *letter != '"').collect();
            assert!(schema["$defs"][&name].is_object(), "{name}");
        }
        assert_eq!(schema["$defs"]["learning"]["properties"]["algorithm"]["default"], "perceptron");
    }
}
