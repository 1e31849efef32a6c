//! From the words of flags to what they mean: the same on every command line, and wherever settings are known by its flags.

use super::{Choice, MemoryLimit, Racing, Recipe};
use crate::settings::{self, Asked};
use crate::spec::{KernelOptions, Mapping, NetworkOptions, Options, Validation};
use rosenblatt_core::{Declared, Setting};
use rosenblatt_data::encode::TextOptions;
use rosenblatt_data::{Limits, Pictures, ReadOptions};
use rosenblatt_kernel::{KERNELS, Setting as KernelValue};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The word for a race of algorithms, and for a scale that follows from the rows.
pub const AUTO: &str = "auto";

/// The words of every flag that was typed, by flag; none follow a flag that takes no value. Settings define their meaning;
/// an error quotes the words.
///
/// ```
/// use rosenblatt::recipe::Words;
///
/// let words: Words = [("epochs".to_owned(), vec!["7".to_owned()])].into_iter().collect();
/// assert_eq!(words.learning()?.epochs, 7);
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Words(BTreeMap<String, Vec<String>>);

impl FromIterator<(String, Vec<String>)> for Words {
    fn from_iter<I: IntoIterator<Item = (String, Vec<String>)>>(words: I) -> Self {
        Self(words.into_iter().collect())
    }
}

impl Words {
    /// All words of several.
    pub fn joined(parts: &[&Self]) -> Self {
        parts.iter().flat_map(|part| part.0.clone()).collect()
    }

    /// The last word of a flag.
    pub fn word(&self, flag: &str) -> Option<&str> {
        self.0.get(flag)?.last().map(String::as_str)
    }

    /// All words of a flag.
    pub fn words(&self, flag: &str) -> Option<&[String]> {
        self.0.get(flag).map(Vec::as_slice)
    }

    /// Whether a flag was typed.
    pub fn has(&self, flag: &str) -> bool {
        self.0.contains_key(flag)
    }

    /// The first of the flags that were typed, by name.
    pub fn first(&self) -> Option<&str> {
        self.0.keys().next().map(String::as_str)
    }

    /// Whether none was.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Types `word`, unless something else was typed already.
    pub fn add(&mut self, flag: &str, word: &str) {
        self.0.entry(flag.to_owned()).or_insert_with(|| vec![word.to_owned()]);
    }

    /// Types these words in place of others.
    pub fn set(&mut self, flag: &str, words: Vec<String>) {
        self.0.insert(flag.to_owned(), words);
    }

    /// Takes the words of a flag away.
    pub fn remove(&mut self, flag: &str) -> Vec<String> {
        self.0.remove(flag).unwrap_or_default()
    }

    /// The values of a group's settings that were typed, by name.
    pub fn values<T: Declared>(&self) -> Result<Map<String, Value>, String> {
        let typed = T::SETTINGS.iter().filter_map(|setting| Some((setting, self.0.get(setting.flag?)?)));
        let value = |(setting, words): (&Setting, &Vec<String>)| {
            Ok((setting.name.to_owned(), settings::value(setting, words)?))
        };
        typed.map(value).collect()
    }

    /// How rows are read to learn from them: the scale is decided by what they are, unless it is named.
    pub fn reading(&self) -> Result<ReadOptions, String> {
        let mut reading = self.values::<ReadOptions>()?;
        let mut text = self.values::<TextOptions>()?;
        // One word says the fewest and the most.
        if let Some(Value::Array(run)) = text.get("longest").cloned() {
            text.insert("shortest".to_owned(), run[0].clone());
            text.insert("longest".to_owned(), run[1].clone());
        }
        reading.insert("text".to_owned(), Value::Object(text));
        reading.insert("pictures".to_owned(), Value::Object(self.values::<Pictures>()?));
        reading.insert("limits".to_owned(), Value::Object(self.values::<Limits>()?));
        meant(reading)
    }

    /// How rows are read without scaling, unless a scale is named.
    pub fn reading_as_stored(&self) -> Result<ReadOptions, String> {
        let reading = self.reading()?;
        let is_named = self.word("scale").is_some_and(|name| name != AUTO);
        let as_stored = ReadOptions::as_stored().scaling;
        Ok(ReadOptions { scaling: if is_named { reading.scaling } else { as_stored }, ..reading })
    }

    /// The parameters of kernels, whose flags are their names.
    fn kernel_params(&self) -> Result<Map<String, Value>, String> {
        let names = KERNELS.iter().flat_map(|info| info.params).map(|param| param.name);
        let typed = names.filter_map(|name| Some((name, self.word(name)?)));
        let value = |(name, word): (&str, &str)| {
            let value = match word.parse::<KernelValue>() {
                Ok(KernelValue::Number(number)) => json!(number),
                Ok(word) => json!(word.to_string()),
                Err(error) => return Err(format!("`--{name}`: {error}")),
            };
            Ok((name.to_owned(), value))
        };
        typed.map(value).collect()
    }

    /// The map or the kernel that is wished, by the name of its option; parameters of no kernel are an error.
    pub fn kernel(&self) -> Result<Option<(&'static str, Value)>, String> {
        let (kernel, params) = (self.word("kernel"), self.kernel_params()?);
        if self.has("map") {
            let mut map = self.values::<Mapping>()?;
            map.insert("kernel".to_owned(), json!(kernel));
            map.insert("params".to_owned(), json!(params));
            return Ok(Some(("map", Value::Object(map))));
        }
        if let (None, Some(name)) = (kernel, params.keys().next()) {
            return Err(format!("`{name}` is about a kernel; name one with `kernel`, or a map with `map`"));
        }
        let mut options = self.values::<KernelOptions>()?;
        options.insert("params".to_owned(), json!(params));
        Ok(kernel.map(|_| ("kernel", Value::Object(options))))
    }

    /// What is wished of a network, if anything is.
    pub fn network(&self) -> Result<Option<Value>, String> {
        let values = self.values::<NetworkOptions>()?;
        Ok((!values.is_empty()).then_some(Value::Object(values)))
    }

    /// What is learned, not checked yet, with what was typed known from what was not.
    pub fn learning(&self) -> Result<Asked<Options>, String> {
        let mut learning = self.values::<Options>()?;
        if learning.get("algorithm").is_some_and(|name| name == AUTO) {
            learning.remove("algorithm");
        }
        let validation = match self.values::<Validation>()?.remove("patience") {
            None => None,
            Some(patience) if patience == 0 => Some(Value::Null),
            // A patience that you name needs a validation set, however few the rows.
            Some(patience) => Some(json!({ "patience": patience, "min-rows": 0 })),
        };
        learning.extend(validation.map(|value| ("validation".to_owned(), value)));
        learning.extend(self.kernel()?.map(|(name, value)| (name.to_owned(), value)));
        learning.extend(self.network()?.map(|value| ("network".to_owned(), value)));
        meant(learning)
    }

    /// Who decides what is learned.
    pub fn choice(&self) -> Choice {
        match self.word("algorithm") {
            None => Choice::Auto,
            Some(AUTO) => Choice::Race(Racing::default()),
            Some(_) => Choice::Given,
        }
    }

    /// A recipe of which only how a training goes, and how its outcome is judged, is set.
    pub fn judging(&self) -> Result<Recipe, String> {
        let (mut values, memory) = (self.values::<Recipe>()?, self.values::<MemoryLimit>()?);
        if !memory.is_empty() {
            values.insert("memory".to_owned(), Value::Object(memory));
        }
        meant(values)
    }
}

fn meant<T: DeserializeOwned>(values: Map<String, Value>) -> Result<T, String> {
    serde_json::from_value(Value::Object(values)).map_err(|error| error.to_string())
}
