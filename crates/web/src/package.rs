//! What the package for Node and browsers asks: whole trainings from the bytes of a file, models that are kept side by
//! side, what they predict, and certificates.
//!
//! Settings have the names of the command line's flags, as JavaScript spells names, and become the words of these flags:
//! the engine knows what those mean.

use crate::session::Trouble;
use rosenblatt::certify::{Certificate, Polynomial, Question};
use rosenblatt::data::encode::TextOptions;
use rosenblatt::data::{Limits, Pictures, Precision, ReadOptions, Source, closest, load_source};
use rosenblatt::kernel::KERNELS;
use rosenblatt::learning::{Decided, Declared, Setting, Takes};
use rosenblatt::model::decision_scores;
use rosenblatt::options::{KernelOptions, Mapping, NetworkOptions, Validation};
use rosenblatt::recipe::{Plan, Words};
use rosenblatt::separation::{Sides, study, verify};
use rosenblatt::{Costs, Dataset, Model, Options, Recipe, Task, evaluate};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Settings by name.
type Settings = Map<String, Value>;

/// Flags that are about files, processors and cards, none of which a module has.
const ELSEWHERE: &[&str] = &["blank", "device", "labels", "threads"];

/// What the package may ask for.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Request {
    /// Trains on the bytes that came with the request; the model's file is in [`Package::bytes`].
    Train {
        /// What the file is called.
        name: String,
        /// How it is read, learned from and judged.
        settings: Settings,
    },
    /// Keeps the model whose file came with the request.
    Open,
    /// Forgets a model.
    Close {
        /// Which one.
        model: u32,
    },
    /// What a model is.
    Summary {
        /// Which one.
        model: u32,
        /// How many features of every class at most.
        most: usize,
    },
    /// What a model says of the rows that came with the request; the numbers are in [`Package::numbers`].
    Predict {
        /// Which one.
        model: u32,
        /// What it is to say.
        what: What,
        /// What the file of the rows is called.
        name: String,
        /// How it is read, as far as the model leaves that open.
        settings: Settings,
    },
    /// How good a model is on labelled rows that came with the request.
    Evaluate {
        /// Which one.
        model: u32,
        /// What the file of the rows is called.
        name: String,
        /// How it is read.
        settings: Settings,
    },
    /// Whether hyperplanes separate the classes of the rows that came with the request, with proofs.
    Certify {
        /// What the file of the rows is called.
        name: String,
        /// What is asked, and how the file is read.
        settings: Settings,
    },
    /// Checks a certificate against the rows that came with the request.
    Check {
        /// The certificate.
        certificate: Value,
        /// What the file of the rows is called.
        name: String,
        /// How it is read.
        settings: Settings,
    },
}

/// What a model is asked for.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// The class of each row, by number; the number, of a model that predicts numbers.
    Answers,
    /// The score of each row for two classes, else one for each class.
    Scores,
    /// The probability of each class.
    Probabilities,
}

/// What is asked of rows that are to be separated.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Asked {
    positive: Option<String>,
    against: Option<String>,
    bias: bool,
    gap: f64,
    degree: Option<u32>,
    offset: f64,
    /// How often the search may ask whether to go on. A module has no clock.
    steps: u32,
}

impl Default for Asked {
    fn default() -> Self {
        let Question { bias, gap } = Question::default();
        Self { positive: None, against: None, bias, gap, degree: None, offset: 1.0, steps: 1_000_000 }
    }
}

/// Models that are kept, and what belongs to the last answer.
#[derive(Default)]
pub struct Package {
    models: BTreeMap<u32, Model>,
    n_opened: u32,
    numbers: Vec<f64>,
    bytes: Vec<u8>,
}

impl Package {
    /// Answers a request, whose file is `bytes` if it has one. An answer with `error` says what is wrong.
    pub fn ask(&mut self, request: &[u8], bytes: Vec<u8>) -> String {
        (self.numbers, self.bytes) = (Vec::new(), Vec::new());
        let answer = match serde_json::from_slice(request) {
            Ok(request) => self.answer(request, bytes),
            Err(error) => Err(Trouble(format!("no such request: {error}"))),
        };
        answer.unwrap_or_else(|Trouble(what)| json!({ "error": what })).to_string()
    }

    /// Numbers that belong to the last answer.
    pub fn numbers(&self) -> &[f64] {
        &self.numbers
    }

    /// The file that belongs to the last answer.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn answer(&mut self, request: Request, bytes: Vec<u8>) -> Result<Value, Trouble> {
        match request {
            Request::Train { name, settings } => {
                let trained = recipe(settings)?.train(&Source::bytes(&name, bytes), &mut ())?;
                self.bytes = trained.model.to_bytes();
                Ok(json!({ "report": trained.report(), "bytes": self.bytes.len() }))
            }
            Request::Open => {
                let model = Model::from_bytes(&bytes).map_err(|error| Trouble(error.to_string()))?;
                self.n_opened += 1;
                let summary = json!({
                    "model": self.n_opened, "task": model.task(), "classes": model.labels().names(),
                    "features": model.feature_names(), "width": model.width(),
                    "has-probabilities": model.has_probabilities(),
                });
                self.models.insert(self.n_opened, model);
                Ok(summary)
            }
            Request::Close { model } => {
                self.models.remove(&model);
                Ok(json!({}))
            }
            Request::Summary { model, most } => Ok(self.model(model)?.describe(most)),
            Request::Predict { model, what, name, settings } => {
                let model = self.model(model)?;
                let reading =
                    reading(settings, Some(model))?.reading_as_stored().map_err(|what| in_words(&what))?;
                let data = load_source(&Source::bytes(&name, bytes), &model.to_predict(reading))?;
                let (numbers, width) = answers(model, what, &data)?;
                self.numbers = spread(&data, &numbers, width);
                Ok(json!({ "rows": data.n_source_rows(), "width": width }))
            }
            Request::Evaluate { model, name, settings } => {
                let model = self.model(model)?;
                let reading = reading(settings, Some(model))?.reading().map_err(|what| in_words(&what))?;
                let data = load_source(&Source::bytes(&name, bytes), &model.to_evaluate(reading))?;
                Ok(match model.task() {
                    Task::Numbers => json!(model.evaluate_numbers(&data)?),
                    _ => json!(evaluate(model, &data)?),
                })
            }
            Request::Certify { name, settings } => certify(&name, bytes, settings),
            Request::Check { certificate, name, settings } => {
                let certificate: Certificate = serde_json::from_value(certificate)
                    .map_err(|error| Trouble(format!("not a certificate: {error}")))?;
                let sides = verify(&certificate, &as_it_stands(&name, bytes, settings)?)?;
                Ok(json!({ "positive": sides.positive, "negative": sides.negative }))
            }
        }
    }

    fn model(&self, number: u32) -> Result<&Model, Trouble> {
        self.models.get(&number).ok_or_else(|| Trouble("the model was freed".to_owned()))
    }
}

/// What a model says of each row, and how many numbers that is.
fn answers(model: &Model, what: What, data: &Dataset) -> Result<(Vec<f64>, usize), Trouble> {
    let n_classes = model.labels().len();
    Ok(match (what, model.task()) {
        (What::Answers, Task::Numbers) => (model.predict_numbers(data.view())?, 1),
        (What::Answers, _) => {
            model.check_task(Task::Classes)?;
            (model.predict_all(data)?.into_iter().map(f64::from).collect(), 1)
        }
        (What::Scores, _) => {
            model.check_task(Task::Classes)?;
            let (mut all, mut of_row) = (Vec::new(), Vec::new());
            model.each_row(data.view(), |_, _, scores| {
                decision_scores(model, scores, &mut of_row);
                all.extend(&of_row);
            })?;
            (all, if n_classes == 2 { 1 } else { n_classes })
        }
        (What::Probabilities, _) => {
            model.check_task(Task::Classes)?;
            (model.predict_proba_all(data)?, n_classes)
        }
    })
}

/// The numbers of each row at its place in its source; rows that were left out have none.
fn spread(data: &Dataset, numbers: &[f64], width: usize) -> Vec<f64> {
    let mut all = vec![f64::NAN; data.n_source_rows() * width];
    for (idx, of_row) in numbers.chunks_exact(width).enumerate() {
        let from = data.number(idx) * width;
        all[from..from + width].copy_from_slice(of_row);
    }
    all
}

fn certify(name: &str, bytes: Vec<u8>, mut settings: Settings) -> Result<Value, Trouble> {
    let asked = ["positive", "against", "bias", "gap", "degree", "offset", "steps"];
    let asked: Map<String, Value> = asked
        .iter()
        .filter_map(|name| settings.remove_entry(*name))
        .filter(|(_, value)| !value.is_null())
        .collect();
    let asked: Asked =
        serde_json::from_value(Value::Object(asked)).map_err(|error| Trouble(error.to_string()))?;
    if !(asked.gap > 0.0 && asked.gap < 1.0) {
        return Err(Trouble(format!("`gap` should be above 0 and below 1, but is {}", asked.gap)));
    }
    if !(asked.offset >= 0.0 && asked.offset.is_finite()) {
        return Err(Trouble(format!("`offset` should be at least 0, but is {}", asked.offset)));
    }
    let kernel = asked.degree.map(|degree| Polynomial { degree, offset: asked.offset });
    let question = Question { bias: asked.bias, gap: asked.gap };
    let data = as_it_stands(name, bytes, settings)?;
    let mut studies = Vec::new();
    for sides in Sides::chosen(&data, asked.positive.as_deref(), asked.against.as_deref())? {
        let n_asked = Cell::new(0);
        let watch = |_: rosenblatt::certify::Progress<'_>| {
            n_asked.set(n_asked.get() + 1);
            if n_asked.get() > asked.steps { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let studied = study(&data, sides, question, kernel, &watch)?;
        studies.push(json!({ "findings": studied.summary(&data), "certificate": studied.certificate }));
    }
    Ok(json!({ "studies": studies }))
}

/// The rows of a file as they stand, so that what is proved of them is proved of the file.
fn as_it_stands(name: &str, bytes: Vec<u8>, settings: Settings) -> Result<Dataset, Trouble> {
    let words = reading(settings, None)?;
    let mut how = words.reading_as_stored().map_err(|what| in_words(&what))?;
    if !words.has("precision") {
        how.precision = Precision::Double;
    }
    how.pictures = Pictures { unscaled: true, ..how.pictures };
    Ok(load_source(&Source::bytes(name, bytes), &how)?)
}

/// What is trained, by these settings: those with flags, and those that describe the estimate, the classes and the costs.
fn recipe(mut settings: Settings) -> Result<Recipe, Trouble> {
    fn own<T: serde::de::DeserializeOwned>(
        settings: &mut Settings,
        name: &str,
    ) -> Result<Option<T>, Trouble> {
        let value = settings.remove(name).unwrap_or_default();
        serde_json::from_value(value).map_err(|error| Trouble(format!("`{name}`: {error}")))
    }
    let classes: Option<Vec<String>> = own(&mut settings, "classes")?;
    let threshold: Option<f64> = own(&mut settings, "threshold")?;
    let estimate = match (own(&mut settings, "folds")?, own(&mut settings, "holdout")?) {
        (None, None) => Plan::Auto,
        (Some(n_folds), None) => Plan::Folds(n_folds),
        (None, Some(share)) => Plan::HoldOut(share),
        (Some(_), Some(_)) => return Err(Trouble("`folds` and `holdout` are two ways: set one".to_owned())),
    };
    let words = words(settings, &training())?;
    let mut learning = words.learning().map_err(|what| in_words(&what))?;
    if let Some(share) = threshold {
        learning.set("costs", |options| options.costs = Costs::Threshold(share));
    }
    let reading = ReadOptions { classes, ..words.reading().map_err(|what| in_words(&what))? };
    let choice = words.choice();
    Ok(Recipe { reading, learning, choice, estimate, ..words.judging().map_err(|what| in_words(&what))? })
}

/// How a file is read, as far as the model leaves that open.
fn reading(settings: Settings, model: Option<&Model>) -> Result<Words, Trouble> {
    let mut known = reads();
    known.retain(|setting| model.is_none() || setting.decided != Decided::Model);
    words(settings, &known)
}

/// Every setting of reading.
pub fn reads() -> Vec<&'static Setting> {
    here(&[ReadOptions::SETTINGS, TextOptions::SETTINGS, Limits::SETTINGS])
}

/// Every setting of a training that has a flag; parameters of kernels come beside them.
pub fn training() -> Vec<&'static Setting> {
    let learning = here(&[
        Recipe::SETTINGS,
        Options::SETTINGS,
        Validation::SETTINGS,
        KernelOptions::SETTINGS,
        Mapping::SETTINGS,
        NetworkOptions::SETTINGS,
    ]);
    reads().into_iter().chain(learning).collect()
}

fn here(groups: &[&'static [Setting]]) -> Vec<&'static Setting> {
    let is_here = |setting: &&Setting| setting.flag.is_some_and(|flag| !ELSEWHERE.contains(&flag));
    groups.iter().copied().flatten().filter(is_here).collect()
}

/// A setting's name in JavaScript.
pub fn name(flag: &str) -> String {
    let mut after_dash = false;
    let letter = |letter: char| {
        let upper = std::mem::replace(&mut after_dash, letter == '-');
        (letter != '-').then_some(if upper { letter.to_ascii_uppercase() } else { letter })
    };
    flag.chars().filter_map(letter).collect()
}

/// The words of the flags of these settings.
fn words(settings: Settings, known: &[&'static Setting]) -> Result<Words, Trouble> {
    let params: Vec<&str> = KERNELS.iter().flat_map(|info| info.params).map(|param| param.name).collect();
    let has_params = known.iter().any(|setting| setting.flag == Some("kernel"));
    let mut words = Words::default();
    for (given, value) in settings {
        if value.is_null() {
            continue;
        }
        let setting = known.iter().find(|setting| setting.flag.is_some_and(|flag| name(flag) == given));
        let (flag, typed) = match setting {
            Some(setting) => (setting.flag.unwrap_or_default(), typed(setting, &value)?),
            None if has_params && params.contains(&given.as_str()) => {
                (given.as_str(), Some(vec![plain(&value)]))
            }
            None => {
                let names: Vec<String> = known.iter().filter_map(|setting| setting.flag).map(name).collect();
                let hint = closest(&given, names.iter().map(String::as_str));
                let hint = hint.map_or_else(String::new, |name| format!("; did you mean `{name}`?"));
                return Err(Trouble(format!("there is no setting `{given}` here{hint}")));
            }
        };
        if let Some(typed) = typed {
            words.set(flag, typed);
        }
    }
    Ok(words)
}

/// The words that give a flag this value; none if that is to leave the flag out.
fn typed(setting: &Setting, value: &Value) -> Result<Option<Vec<String>>, Trouble> {
    let flag = name(setting.flag.unwrap_or_default());
    let cannot = || Trouble(format!("`{flag}` cannot be {value}"));
    let is_bare = setting.means.is_some() || (setting.takes == Takes::Switch && setting.value.is_empty());
    let joined = |list: &[Value], between: &str| list.iter().map(plain).collect::<Vec<_>>().join(between);
    Ok(match (setting.takes, value) {
        (_, Value::Bool(is_on)) if is_bare => is_on.then(Vec::new),
        _ if is_bare => return Err(cannot()),
        (Takes::Switch, Value::Bool(is_on)) => Some(vec![if *is_on { "yes" } else { "no" }.to_owned()]),
        (Takes::Switch, _) | (_, Value::Bool(_)) => return Err(cannot()),
        (Takes::Texts, Value::Array(list)) => Some(list.iter().map(plain).collect()),
        (Takes::Pairs, Value::Array(list)) => {
            let pairs = list.iter().map(|pair| pair.as_array().map(|pair| joined(pair, ",")));
            Some(pairs.collect::<Option<_>>().ok_or_else(cannot)?)
        }
        (Takes::Counts, Value::Array(list)) => Some(vec![joined(list, ",")]),
        (Takes::Size, Value::Array(list)) => Some(vec![joined(list, "x")]),
        (Takes::Run, Value::Array(list)) => Some(vec![joined(list, "-")]),
        (Takes::Numbers | Takes::ByClass, Value::Object(fields)) => {
            Some(fields.iter().map(|(name, value)| format!("{name}={}", plain(value))).collect())
        }
        (_, Value::Array(_) | Value::Object(_)) => return Err(cannot()),
        (_, value) => Some(vec![plain(value)]),
    })
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// What is wrong with words, whose flags are settings here.
fn in_words(what: &str) -> Trouble {
    Trouble(what.replace("`--", "`"))
}
