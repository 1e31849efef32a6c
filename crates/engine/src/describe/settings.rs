//! Settings as faces see them: which of them were set, all groups in one list, and each value as the words of a command
//! line and back.
//!
//! What a setting is called, means and takes is declared with its struct; see [`settings!`](rosenblatt_core::settings!).

use crate::error::{Error, refuse};
use rosenblatt_core::{Declared, Setting, Takes, Tasks};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::ops::Deref;

/// The settings that differ: the name of each, what it is `then` and what it is `now`.
pub(crate) fn differences<T: Serialize>(then: &T, now: &T) -> Vec<(String, Value, Value)> {
    let [then, mut now] = [then, now].map(|options| serde_json::to_value(options).unwrap_or_default());
    let Value::Object(then) = then else { return Vec::new() };
    let pairs = then.into_iter().map(|(name, was)| {
        let is = now.get_mut(&name).map(Value::take).unwrap_or_default();
        (name, was, is)
    });
    pairs.filter(|(_, was, is)| was != is).collect()
}

/// Options, and which of them were set. What was not set has its default, unless a race or a model decides it; what was
/// set counts, even if it is what the default is.
///
/// ```
/// use rosenblatt::settings::Asked;
/// use rosenblatt::Options;
///
/// let asked: Asked<Options> = serde_json::from_str(r#"{ "epochs": 20 }"#)?;
/// assert!(asked.is_set("epochs") && !asked.is_set("seed"));
/// assert_eq!(asked.epochs, Options::default().epochs);
/// // Options that come whole are meant whole.
/// assert!(Asked::from(Options::default()).is_set("seed"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Asked<T> {
    options: T,
    set: BTreeSet<&'static str>,
}

impl<T: Declared> From<T> for Asked<T> {
    fn from(options: T) -> Self {
        Self { options, set: T::SETTINGS.iter().map(|setting| setting.name).collect() }
    }
}

impl<T> Deref for Asked<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.options
    }
}

impl<T: Declared> Asked<T> {
    /// Options of which only those of these names were set.
    pub fn only(options: T, names: &[&str]) -> Self {
        let known = T::SETTINGS.iter().map(|setting| setting.name);
        Self { options, set: known.filter(|name| names.contains(name)).collect() }
    }

    /// All options, those that were not set among them.
    pub fn options(&self) -> &T {
        &self.options
    }

    /// Whether the option of this name was set.
    pub fn is_set(&self, name: &str) -> bool {
        self.set.contains(name)
    }

    /// Whether nothing was set but what all candidates of a race share.
    pub fn leaves_race_open(&self) -> bool {
        T::SETTINGS.iter().all(|setting| setting.is_shared || !self.is_set(setting.name))
    }

    /// The first option that was set though it is about other data, and its value. Options that come whole name nothing:
    /// there, what is as its default was not set.
    pub(crate) fn set_in_vain(&self, is_other: impl Fn(Tasks) -> bool) -> Option<(&'static str, Value)>
    where
        T: Group + Serialize,
    {
        let (given, defaults) = (json!(self.options), T::defaults());
        let is_whole = self.set.len() == T::SETTINGS.len();
        let is_wrong = |setting: &&Setting| {
            let is_meant = !is_whole || given[setting.name] != defaults[setting.name];
            is_other(setting.tasks) && self.is_set(setting.name) && is_meant
        };
        let setting = T::SETTINGS.iter().find(is_wrong)?;
        Some((setting.flag.unwrap_or(setting.name), given[setting.name].clone()))
    }

    /// Sets one option more.
    pub fn set(&mut self, name: &'static str, change: impl FnOnce(&mut T)) {
        change(&mut self.options);
        self.set.insert(name);
    }

    /// Takes another default for what was not set.
    pub(crate) fn suppose(&mut self, change: impl FnOnce(&mut T)) {
        change(&mut self.options);
    }

    /// What was set here, and what all candidates of a race share; all else as in `base`.
    pub(crate) fn over(&self, mut base: T) -> T {
        for setting in T::SETTINGS.iter().filter(|setting| setting.is_shared || self.is_set(setting.name)) {
            base.take(setting.name, &self.options);
        }
        base
    }
}

/// Only what was set, so that it is known again which that was.
impl<T: Declared + Serialize> Serialize for Asked<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = object(&self.options);
        fields.retain(|name, _| self.is_set(name));
        fields.serialize(serializer)
    }
}

/// A key that is there is set. Nothing in place of a value sets an option only where that means more than its default.
impl<'de, T: Declared + Default + Serialize + DeserializeOwned> Deserialize<'de> for Asked<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = Map::deserialize(deserializer)?;
        let defaults = object(&T::default());
        let is_set = |name: &str| match fields.get(name) {
            Some(Value::Null) => !defaults.get(name).is_none_or(Value::is_null),
            value => value.is_some(),
        };
        let set = T::SETTINGS.iter().map(|setting| setting.name).filter(|name| is_set(name)).collect();
        let options = serde_json::from_value(Value::Object(fields)).map_err(D::Error::custom)?;
        Ok(Self { options, set })
    }
}

fn object(options: &impl Serialize) -> Map<String, Value> {
    match json!(options) {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// A group of settings: a struct whose fields they are, with their defaults.
pub trait Group: Declared + Default + Serialize {
    /// Its defaults, by name.
    fn defaults() -> Value {
        json!(Self::default())
    }
}

impl<T: Declared + Default + Serialize> Group for T {}

/// Refuses values that are out of their ranges.
pub(crate) fn check<T: Group>(options: &T) -> Result<(), Error> {
    let fields = object(options);
    for setting in T::SETTINGS {
        let number = fields.get(setting.name).and_then(Value::as_f64);
        let (holds, expected) = match setting.takes {
            Takes::AtLeast(1) => (number.is_none_or(|number| number >= 1.0), "at least 1"),
            // JSON has no word for a share that is no number.
            Takes::Between(..) => {
                (number.is_some_and(|number| 0.0 < number && number < 1.0), "between 0 and 1")
            }
            _ => continue,
        };
        if !holds {
            let found = number.unwrap_or(f64::NAN).to_string();
            return refuse(setting.name, expected, found);
        }
    }
    Ok(())
}

/// What a value of this setting should be, if this one is invalid. Names of a table, such as algorithms, are known
/// there.
pub fn should_be(setting: &Setting, value: &Value) -> Option<String> {
    let number = value.as_f64();
    let is = |holds: bool, expected: &str| (!holds).then(|| expected.to_owned());
    match (setting.takes, setting.check, value) {
        (Takes::Switch, ..) => is(value.is_boolean(), "true or false"),
        (Takes::AtLeast(least), ..) => {
            let expected = format!("a whole number, {least} or more");
            is(value.as_u64().is_some_and(|number| number >= least), &expected)
        }
        (Takes::Between(low, high), ..) => {
            let expected = format!("a number between {low} and {high}");
            is(number.is_some_and(|number| low < number && number < high), &expected)
        }
        (Takes::Positive, ..) => is(number.is_some_and(|number| number > 0.0), "a number above 0"),
        (Takes::Choice(_), Some(check), Value::String(name)) => {
            check(name).err().map(|error| error.known.to_owned())
        }
        (Takes::Choice(_), Some(check), _) => check("").err().map(|error| error.known.to_owned()),
        (Takes::Choice(_) | Takes::Text, ..) => is(value.is_string(), "a text"),
        (Takes::Numbers, _, Value::Object(fields)) => {
            is(fields.values().all(Value::is_number), "numbers by name")
        }
        (Takes::Numbers, ..) => is(false, "numbers by name"),
        _ => None,
    }
}

/// A flag of the command line, and the value that follows if one does.
pub type Word = (String, Option<String>);

/// The words by which a command line sets this value; none if it has no flag, or nothing is to be set.
pub fn words(setting: &Setting, value: &Value) -> Vec<Word> {
    let Some(flag) = setting.flag else { return Vec::new() };
    let word = |word: String| (flag.to_owned(), Some(word));
    let pairs = |fields: &Map<String, Value>| {
        fields.iter().map(|(name, value)| word(format!("{name}={}", plain(value)))).collect()
    };
    match (setting.takes, value) {
        (Takes::Group(_) | Takes::Other, _) | (_, Value::Null) => Vec::new(),
        _ if setting.means.is_some_and(|means| plain(value) == means) => vec![(flag.to_owned(), None)],
        _ if setting.means.is_some() => Vec::new(),
        (Takes::Switch, Value::Bool(is_on)) if !setting.value.is_empty() => {
            vec![word(if *is_on { "yes" } else { "no" }.to_owned())]
        }
        (Takes::Switch, Value::Bool(is_on)) => is_on.then_some((flag.to_owned(), None)).into_iter().collect(),
        (Takes::Numbers, Value::Object(fields)) => pairs(fields),
        (Takes::ByClass, Value::String(name)) if name == "even" => Vec::new(),
        (Takes::ByClass, Value::Object(fields)) => match fields.iter().next() {
            Some((_, Value::Object(by_class))) => pairs(by_class),
            Some((name, share)) => vec![(name.clone(), Some(plain(share)))],
            None => Vec::new(),
        },
        (Takes::Texts, Value::Array(texts)) => texts.iter().map(|text| word(plain(text))).collect(),
        (Takes::Pairs, Value::Array(pairs)) => pairs.iter().map(|pair| word(joined(pair, ","))).collect(),
        (Takes::Counts, counts) => vec![word(joined(counts, ","))],
        (Takes::Size, size) => vec![word(joined(size, "x"))],
        (Takes::Column, Value::Object(fields)) => fields.values().map(|name| word(plain(name))).collect(),
        (Takes::Character, value) => match value.as_u64().and_then(|byte| u8::try_from(byte).ok()) {
            Some(b'\t') => vec![word("tab".to_owned())],
            byte => byte.map(|byte| word(char::from(byte).to_string())).into_iter().collect(),
        },
        (_, value) => vec![word(plain(value))],
    }
}

/// The words that set what differs from the defaults of a group, but for the settings of these names.
pub fn differing<T: Group>(given: &Value, left_out: &[&str]) -> Vec<Word> {
    let defaults = T::defaults();
    let differs = |setting: &&Setting| {
        !left_out.contains(&setting.name) && given[setting.name] != defaults[setting.name]
    };
    T::SETTINGS.iter().filter(differs).flat_map(|setting| words(setting, &given[setting.name])).collect()
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) if !number.is_u64() => number.as_f64().unwrap_or_default().to_string(),
        value => value.to_string(),
    }
}

fn joined(list: &Value, between: &str) -> String {
    list.as_array().map(|list| list.iter().map(plain).collect::<Vec<_>>().join(between)).unwrap_or_default()
}

/// The value that words of a command line set, one word for each time that the flag stands there; the error says what
/// they should be.
pub fn value(setting: &Setting, words: &[String]) -> Result<Value, String> {
    let last = words.last().map(String::as_str).unwrap_or_default();
    let flag = setting.flag.unwrap_or(setting.name);
    let should = |what: &str, word: &str| format!("`--{flag}` should be {what}, but is `{word}`");
    let number = |word: &str| word.parse::<f64>().map_err(|_| should("a number", word));
    let pairs = || {
        let pair = |word: &String| {
            let parts =
                word.rsplit_once('=').and_then(|(name, value)| Some((name, value.parse::<f64>().ok()?)));
            let (name, value) = parts.ok_or_else(|| should("NAME=NUMBER", word))?;
            // JSON has no word for what is not finite, and so cannot pass on what is then refused.
            if value.is_finite() { Ok((name.to_owned(), json!(value))) } else { Err(should("finite", word)) }
        };
        let mut all = Map::new();
        for word in words {
            let (name, value) = pair(word)?;
            if all.insert(name.clone(), value).is_some() {
                return Err(format!("`--{flag}` gives `{name}` twice; leave one out"));
            }
        }
        Ok(Value::Object(all))
    };
    match setting.takes {
        Takes::Switch if setting.means.is_some() => Ok(json!(setting.means == Some("true"))),
        _ if setting.means.is_some() => Ok(json!(setting.means)),
        Takes::Switch => Ok(json!(setting.value.is_empty() || last == "yes")),
        Takes::AtLeast(least) => {
            let expected = || should(&format!("a whole number, {least} or more"), last);
            last.parse::<u64>().map(Value::from).map_err(|_| expected())
        }
        Takes::Between(..) | Takes::Positive | Takes::FromZero => number(last).map(Value::from),
        Takes::Bytes => bytes(last).map(Value::from),
        Takes::Numbers => pairs(),
        Takes::ByClass if words == ["balanced"] => Ok(json!("balanced")),
        Takes::ByClass => Ok(json!({ "given": pairs()? })),
        Takes::Texts => Ok(json!(words)),
        Takes::Counts => {
            let counts = last.split(',').map(|count| count.trim().parse().map_err(|_| should("N,...", last)));
            Ok(json!(counts.collect::<Result<Vec<u64>, _>>()?))
        }
        Takes::Pairs => {
            let pair = |word: &String| match word.split_once(',').filter(|(_, right)| !right.contains(',')) {
                Some((left, right)) => Ok([left.trim().to_owned(), right.trim().to_owned()]),
                None => Err(should("two names, A,B,", word)),
            };
            Ok(json!(words.iter().map(pair).collect::<Result<Vec<_>, _>>()?))
        }
        Takes::Size => size(last).map(|size| json!(size)),
        Takes::Run => run(last).map(|run| json!(run)),
        Takes::Column => Ok(json!({ "named": last })),
        Takes::Character => match last {
            "tab" | "\\t" => Ok(json!(b'\t')),
            last if last.len() == 1 => Ok(json!(last.as_bytes()[0])),
            last => Err(should("one character or `tab`", last)),
        },
        _ => Ok(json!(last)),
    }
}

/// `28x28` as a width and a height.
pub fn size(text: &str) -> Result<(u32, u32), String> {
    let parts =
        text.split_once('x').and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    parts
        .filter(|&(width, height)| width > 0 && height > 0)
        .ok_or_else(|| "it should be WIDTHxHEIGHT, for instance 64x64".to_owned())
}

/// `2` or `1-2` as the fewest and the most.
fn run(text: &str) -> Result<(u64, u64), String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let parts = first.parse().ok().zip(last.parse().ok());
    parts.filter(|&(first, last): &(u64, u64)| 0 < first && first <= last && last <= 10).ok_or_else(|| {
        "it should be a number or a range of numbers from 1 to 10, for instance 1-2".to_owned()
    })
}

/// `512MiB`, `2G` or `1000000` as bytes.
pub fn bytes(text: &str) -> Result<u64, String> {
    let n_digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let unit: u64 = match text[n_digits..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        _ => 0,
    };
    let bytes = text[..n_digits].parse().ok().and_then(|number: u64| number.checked_mul(unit));
    bytes
        .filter(|&bytes| bytes > 0)
        .ok_or_else(|| "it should be a number of bytes, KiB, MiB or GiB, for instance 512MiB".to_owned())
}
