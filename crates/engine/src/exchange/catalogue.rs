//! Everything there is to choose from, as one value: what help, documentation, JSON Schema and the signatures of other
//! languages are made of.
//!
//! Nothing is spelled here that is spelled elsewhere. Algorithms, kernels, maps and formats come from their tables,
//! names of choices from [`Choices`], settings with their meanings and defaults from their declarations.

use crate::algorithms::ALGORITHMS;
use crate::calibration::Method;
use crate::export::Export;
use crate::race::Metric;
use crate::recipe::{Calibrate, MemoryLimit, Racing, Recipe};
use crate::settings::{Group, should_be};
use crate::spec::{Classes, KernelOptions, Mapping, NetworkOptions, Options, Validation};
use crate::tagger::{TaggerOptions, Wanted};
use crate::task::{Task, TaskChoice};
use rosenblatt_core::{
    Bias, Choices, Loss, Mistake, Named, Order, Param, Readout, Schedule, Setting, Takes, Zero,
};
use rosenblatt_data::encode::{Scaling, Shape, TextOptions, Units, Weighting};
use rosenblatt_data::write::WRITERS;
use rosenblatt_data::{
    FORMATS, FormatInfo, Limits, Missing, OnBadRow, Pictures, Precision, ReadOptions, Unknown,
};
use rosenblatt_kernel::maps::MAPS;
use rosenblatt_kernel::{KERNELS, Removal, Setting as KernelValue};
use rosenblatt_layers::{Activation, Optimiser};
use rosenblatt_sequence::Violation;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::sync::LazyLock;

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
    /// The pictures, if the crate of figures is linked.
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
    /// The learning rate it has unless one is given, and after a semicolon another where that suits; nothing
    /// if it takes none.
    pub rate: Option<&'static str>,
    /// Whether a bound on its mistakes is known.
    pub bound: bool,
    /// What its models predict.
    pub task: Task,
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
    /// Its default value: a number, or the way it follows from the rows.
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
    /// What it does, in one sentence.
    pub meaning: &'static str,
    /// Further details; may be empty.
    pub details: &'static str,
    /// Its value unless it is set; null if that is left to the data or the rule.
    pub default: Value,
    /// What holds while it is not set, if that is more than its default.
    pub unset: &'static str,
    /// Which values make sense.
    pub takes: Values,
    /// Its flag on the command line, if it has one.
    pub flag: Option<&'static str>,
    /// Its name in Python.
    pub python: String,
    /// Its name on Spark.
    pub spark: String,
    /// Who decides it: reading, learning, judging, or the model once there is one.
    pub decided_by: &'static str,
    /// Which data it is about: tables, sentences or all.
    pub tasks: &'static str,
    /// Whether most people need it.
    pub common: bool,
    /// Whether a race goes on when it is set, as all candidates share it.
    pub shared: bool,
}

/// Which values an option takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Values(pub Takes);

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = match self.0 {
            Takes::Switch => json!("switch"),
            Takes::AtLeast(least) => json!({ "at-least": least }),
            Takes::Run => json!({ "at-least": 1 }),
            Takes::Between(low, high) => json!({ "between": [low, high] }),
            Takes::Positive => json!("positive"),
            Takes::FromZero => json!("from-zero"),
            Takes::Bytes | Takes::Character => json!({ "at-least": 0 }),
            Takes::Text => json!("text"),
            Takes::Texts => json!("texts"),
            Takes::Choice(list) => json!({ "choice": list }),
            Takes::Numbers => json!("numbers"),
            Takes::Group(name) => json!({ "group": name }),
            _ => json!("other"),
        };
        value.serialize(serializer)
    }
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
    /// Its default value.
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
            task: if info.numbers { Task::Numbers } else { Task::Classes },
        }
    };
    ALGORITHMS.iter().map(algorithm).collect()
}

/// The kernels.
pub fn kernels() -> Vec<Kernel> {
    let kernel = |info: &rosenblatt_kernel::kernels::Info| {
        let default = |param: &Param| match info.default_of(param) {
            KernelValue::Number(number) => json!(number),
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
        list::<Shape>(),
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
        list::<Violation>(),
        list::<Wanted>(),
        list::<TaskChoice>(),
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

/// What the page of all settings begins with.
const REFERENCE: &str = "# Settings

A test writes this page from the declarations of the settings and fails if it differs; edit those.

You set a setting by its flag, as a keyword in Python, or by its name in JSON, for the library, the server and
`train(learning={...})`. A setting that you set counts, even if you set it to its default:

- `train` holds a race unless you set a setting of learning. A setting that all candidates share does not end the race.
- `--start-from` keeps the model's settings of learning that you do not set, unless you set another `--algorithm`.
- Where no race is held and no model is started from, setting a default changes nothing.
- In JSON, null sets a setting only if its default is something else: `\"validation\": null` turns the validation set off.

A model keeps how its rows were read; settings that it keeps cannot be set when you show it new rows.
";

/// A group: its name, its settings, and an object with their defaults.
type Table = (&'static str, &'static [Setting], Value);

fn group<T: Group>(name: &'static str) -> Table {
    (name, T::SETTINGS, T::defaults())
}

/// All groups.
fn groups() -> Vec<Table> {
    vec![
        group::<Recipe>("recipe"),
        group::<Racing>("race"),
        group::<MemoryLimit>("memory"),
        group::<Options>("learning"),
        group::<Validation>("validation"),
        group::<KernelOptions>("kernel"),
        group::<Mapping>("map"),
        group::<NetworkOptions>("network"),
        group::<TaggerOptions>("tagging"),
        group::<TextOptions>("text"),
        group::<Pictures>("pictures"),
        group::<Limits>("limits"),
        group::<ReadOptions>("reading"),
    ]
}

/// The place of the first invalid one of these values, by group and name of their settings, and what it should be.
pub fn first_wrong(given: &[(String, String, Value)]) -> Option<(usize, String)> {
    static GROUPS: LazyLock<Vec<Table>> = LazyLock::new(groups);
    given.iter().enumerate().find_map(|(place, (group, name, value))| {
        let (_, settings, _) = GROUPS.iter().find(|(known, ..)| known == group)?;
        let setting = settings.iter().find(|setting| setting.name == name)?;
        Some((place, should_be(setting, value)?))
    })
}

/// The setting with this flag, of whichever group it is.
pub fn setting(flag: &str) -> Option<&'static Setting> {
    groups()
        .into_iter()
        .find_map(|(_, settings, _)| settings.iter().find(|setting| setting.flag == Some(flag)))
}

fn options() -> Vec<OptionGroup> {
    groups().into_iter().map(listed).collect()
}

fn listed((name, settings, defaults): Table) -> OptionGroup {
    let option = |setting: &Setting| OptionInfo {
        name: setting.name,
        meaning: setting.meaning(),
        details: setting.details(),
        default: defaults[setting.name].clone(),
        unset: setting.unset,
        takes: Values(setting.takes),
        flag: setting.flag,
        python: setting.python_name(),
        spark: setting.spark_name(),
        decided_by: setting.decided.name(),
        tasks: setting.tasks.name(),
        common: setting.is_common,
        shared: setting.is_shared,
    };
    OptionGroup { name, options: settings.iter().map(option).collect() }
}

/// The settings of a type as options of the group of this name.
pub fn group_of<T: Group>(name: &'static str) -> OptionGroup {
    listed(group::<T>(name))
}

impl Catalogue {
    /// With options more: of the group of that name, or of one that follows the others.
    #[must_use]
    pub fn with(mut self, more: OptionGroup) -> Self {
        match self.options.iter_mut().find(|group| group.name == more.name) {
            Some(group) => group.options.extend(more.options),
            None => self.options.push(more),
        }
        self
    }

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
            let mut schema = self.type_of(option.takes.0);
            let optional =
                option.default.is_null() && !matches!(option.takes.0, Takes::Group(_) | Takes::Other);
            if let (Some(kind), true) = (schema.get("type").cloned(), optional) {
                schema["type"] = json!([kind, "null"]);
            }
            let text = [option.meaning, option.details].join(". ");
            schema["description"] = json!(text.trim_end_matches(". "));
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

    /// The settings as a page of the guide: group by group, what each is called everywhere, its default and its meaning.
    pub fn reference(&self) -> String {
        let mut page = REFERENCE.to_owned();
        let code = |name: &str| format!("`{name}`");
        for group in &self.options {
            let _ = write!(page, "\n## {}\n\n", group.name);
            page.push_str("| setting | flag | Python | default | meaning |\n|---|---|---|---|---|\n");
            for option in &group.options {
                let flag = option.flag.map_or(String::new(), |flag| code(&format!("--{flag}")));
                let default = match &option.default {
                    _ if !option.unset.is_empty() => option.unset.to_owned(),
                    Value::Array(values) if values.is_empty() => String::new(),
                    Value::Object(_) | Value::Null => String::new(),
                    Value::String(name) => name.clone(),
                    value => value.to_string(),
                };
                let text = [option.meaning, option.details].join(". ");
                let shared = if option.shared { ". All candidates of a race share it" } else { "" };
                let model = if option.decided_by == "model" { ". The model keeps it" } else { "" };
                let text = format!("{}{shared}{model}", text.trim_end_matches(". ")).replace('|', "\\|");
                let _ = writeln!(
                    page,
                    "| {} | {flag} | {} | {default} | {text} |",
                    code(option.name),
                    code(&option.python)
                );
            }
        }
        page
    }

    fn type_of(&self, takes: Takes) -> Value {
        match takes {
            Takes::Switch => json!({ "type": "boolean" }),
            Takes::AtLeast(least) => json!({ "type": "integer", "minimum": least }),
            Takes::Run => json!({ "type": "integer", "minimum": 1 }),
            Takes::Bytes | Takes::Character => json!({ "type": "integer", "minimum": 0 }),
            Takes::Between(low, high) => {
                json!({ "type": "number", "exclusiveMinimum": low, "exclusiveMaximum": high })
            }
            Takes::Text => json!({ "type": "string" }),
            Takes::Texts => json!({ "type": "array", "items": { "type": "string" } }),
            Takes::Positive => json!({ "type": "number", "exclusiveMinimum": 0 }),
            Takes::FromZero => json!({ "type": "number", "minimum": 0 }),
            Takes::Choice(what) => json!({ "type": "string", "examples": self.names(what) }),
            Takes::Numbers => json!({ "type": "object", "additionalProperties": { "type": "number" } }),
            Takes::Group(name) => {
                json!({ "anyOf": [{ "type": "null" }, { "$ref": format!("#/$defs/{name}") }] })
            }
            _ => json!({}),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spec;
    use std::collections::BTreeSet;

    #[test]
    fn every_setting_is_a_field_with_a_meaning_in_one_short_sentence() {
        for (group, settings, defaults) in groups() {
            let names: BTreeSet<&str> = settings.iter().map(|setting| setting.name).collect();
            assert_eq!(names.len(), settings.len(), "{group}: a name stands twice");
            let fields: BTreeSet<&str> = defaults.as_object().unwrap().keys().map(String::as_str).collect();
            assert!(fields.is_subset(&names), "{group}: {fields:?}");
            for setting in settings {
                let meaning = setting.meaning();
                assert!(meaning.len() > 5 && meaning.len() < 140, "{group} {}: {meaning}", setting.name);
            }
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
                let Takes::Choice(what) = option.takes.0 else { continue };
                assert!(!catalogue.names(what).is_empty(), "{}: no list `{what}`", option.name);
                if group.name == "learning" && what == option.name {
                    let list = catalogue.choices.iter().filter(|list| list.name == what);
                    for choice in list.flat_map(|list| &list.choices) {
                        set(option.name, json!(choice.example)).unwrap();
                    }
                }
                if group.name == "reading" || group.name == "text" {
                    let list = catalogue.choices.iter().filter(|list| list.name == what);
                    for name in list.flat_map(|list| &list.choices).map(|choice| choice.example) {
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
