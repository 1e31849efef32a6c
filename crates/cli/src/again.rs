//! The command that trains a model again: what its description and its schema say, in words a shell takes.

use crate::args::DataArgs;
use rosenblatt::calibration::{Calibration, Method};
use rosenblatt::data::encode::{Scaling, TextOptions, Units};
use rosenblatt::data::{ColumnKind, Layout, Missing, ReadOptions, Schema, Shape, View};
use rosenblatt::learning::{Declared, Readout, Setting};
use rosenblatt::options::{KernelOptions, Mapping, NetworkOptions, Validation};
use rosenblatt::recipe::{TaskChoice, note_on_quantity};
use rosenblatt::settings::Word;
use rosenblatt::{Costs, Dataset, Labels, Model, Options, Task, settings};
use serde_json::json;
use std::ffi::OsString;
use std::fmt::Display;

/// What of reading is taken from the words that were typed, as no model keeps it.
const TYPED: [&str; 8] =
    ["format", "weight", "ignore", "header", "delimiter", "precision", "skip-bad-rows", "labels"];

/// What of a training is not in its model.
pub(crate) struct Given<'a> {
    /// The files.
    pub(crate) files: &'a [OsString],
    /// What they hold; nothing if they are not at hand.
    pub(crate) rows: Option<&'a Dataset>,
    /// How they are read, beyond what the model remembers of it.
    pub(crate) data: &'a DataArgs,
    /// Where the model goes.
    pub(crate) model: &'a str,
}

/// The command.
pub(crate) fn command(model: &Model, given: &Given<'_>) -> String {
    let mut words = Words(vec!["rosenblatt".to_owned(), "train".to_owned()]);
    given.files.iter().for_each(|file| words.0.push(quoted(&file.to_string_lossy())));
    words.flag("model", given.model);
    let summary = model.training_summary();
    let split_by: Vec<&String> = summary.time.iter().chain(&summary.group).collect();
    let asked = if summary.without_crosses { Shape::Curves } else { Shape::Auto };
    let raced_shape = (summary.raced.is_some() && summary.raced_shape).then_some(asked);
    words.reading(given, model.schema().map(AsRef::as_ref), &split_by, raced_shape);
    // A rule of classes is refused for a label that looks like a quantity, unless the task says so.
    if model.task() == Task::Classes && note_on_quantity(model.labels(), summary.rows).is_some() {
        words.flag("task", TaskChoice::Classification);
    }
    words.learning(model, given.rows);
    words.judging(model);
    let command = words.0.join(" ");
    match model.date() {
        Some(date) => format!("SOURCE_DATE_EPOCH={} {command} --date", date.seconds()),
        None => command,
    }
}

/// The command that was typed, as a shell takes it.
pub(crate) fn typed() -> String {
    let words = std::env::args_os().skip(1).map(|word| quoted(&word.to_string_lossy()));
    std::iter::once("rosenblatt".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

struct Words(Vec<String>);

impl Words {
    fn flag(&mut self, name: &str, value: impl Display) {
        self.0.push(format!("--{name}"));
        self.0.push(quoted(&value.to_string()));
    }

    fn flags<T: Display>(&mut self, name: &str, values: impl IntoIterator<Item = T>) {
        for value in values {
            self.flag(name, value);
        }
    }

    fn flag_unless<T: Display + PartialEq>(&mut self, name: &str, value: T, default: &T) {
        if value != *default {
            self.flag(name, value);
        }
    }

    fn switch(&mut self, name: &str, is_on: bool) {
        if is_on {
            self.0.push(format!("--{name}"));
        }
    }

    fn settings(&mut self, words: Vec<Word>) {
        for (flag, word) in words {
            self.0.push(format!("--{flag}"));
            self.0.extend(word.map(|word| quoted(&word)));
        }
    }

    fn reading(
        &mut self,
        &Given { data, rows, .. }: &Given<'_>,
        schema: Option<&Schema>,
        split_by: &[&String],
        raced_shape: Option<Shape>,
    ) {
        for setting in ReadOptions::SETTINGS {
            let words = setting.flag.filter(|flag| TYPED.contains(flag)).and_then(|flag| data.0.words(flag));
            let value = words.and_then(|words| settings::value(setting, words).ok());
            self.settings(value.map(|value| settings::words(setting, &value)).unwrap_or_default());
        }
        let Some(schema) = schema else { return };
        // Without a header, names are only numbers in disguise.
        let named = schema.label.as_ref().filter(|_| schema.has_names);
        if let Some(label) = named.map(String::as_str).or(data.0.word("label")) {
            self.flag("label", label);
        }
        self.flag_unless("missing", schema.missing, &Missing::default());
        self.switch("zero-based", schema.zero_based);
        let hash_bits = schema.hash_bits.or_else(|| schema.texts().find_map(|(_, text)| text.hash_bits));
        self.flags("hash-bits", hash_bits);
        for column in &schema.columns {
            if let ColumnKind::Category { values, .. } = &column.kind
                && values.iter().all(|value| value.parse::<f64>().is_ok())
            {
                self.flag("categorical", &column.name);
            }
        }
        let scaling = schema.scaler.as_ref().map_or(Scaling::None, |scaler| scaler.scaling);
        // What the default leaves out need not be named. Of a numbered table the model does not know that it was one.
        let is_dense = |data: &Dataset| matches!(data.view(), View::Dense32(_) | View::Dense64(_));
        let is_table =
            !schema.columns.is_empty() || schema.layout == Layout::Dense || rows.is_some_and(is_dense);
        match (&schema.bends, raced_shape) {
            // The same race finds shape and scale again.
            (_, Some(Shape::Auto)) => {}
            (_, Some(_)) => self.flag("shape", Shape::Curves),
            (Some(bends), None) => self.flag("shape", bends.shape),
            (None, None) if is_table || scaling != Scaling::None || data.0.has("scale") => {
                self.flag("scale", scaling);
            }
            (None, None) => {}
        }
        self.flags("cross", schema.crosses.iter().map(|pair| pair.join(",")));
        for name in schema.ignored.iter().filter(|name| !split_by.contains(name)) {
            self.flag("ignore", name);
        }
        if !data.0.has("ignore") {
            self.flags(
                "ignore",
                schema.dropped.iter().map(|feature| feature + u32::from(!schema.zero_based)),
            );
        }
        if let Some(picture) = schema.picture {
            if picture.resized {
                self.flag("size", format!("{}x{}", picture.width, picture.height));
            }
            self.switch("colour", picture.channels == 3);
        }
        for (column, _) in schema.texts() {
            self.flags("text", column);
        }
        if let Some((_, text)) = schema.texts().next() {
            self.text(&text.options);
        }
    }

    fn text(&mut self, options: &TextOptions) {
        let default = TextOptions::default();
        if (options.shortest, options.longest) != (default.shortest, default.longest) {
            self.flag("ngrams", format!("{}-{}", options.shortest, options.longest));
        }
        self.switch("characters", options.units == Units::Characters);
        self.flag_unless("words", options.weighting, &default.weighting);
    }

    fn learning(&mut self, model: &Model, rows: Option<&Dataset>) {
        let options = model.spec().options();
        let names = model.labels().names();
        match (model.labels().told_from_rest(), names) {
            (Some(class), _) => self.flag("positive", class),
            (None, [_, positive]) if Labels::sorted(names).names() != names => {
                self.flag("positive", positive);
            }
            // Classes in an order of their own, or of which these rows have none.
            _ if rows.is_some_and(|data| data.labels().names() != names) => {
                self.flag("classes", names.join(","));
            }
            _ => {}
        }
        let (given, is_shared) = (json!(options), |setting: &&Setting| setting.is_shared);
        if model.training_summary().raced.is_some() {
            self.flag("algorithm", "auto");
            let own: Vec<&str> = Options::SETTINGS
                .iter()
                .filter(|setting| !is_shared(setting))
                .map(|setting| setting.name)
                .collect();
            self.settings(settings::differing::<Options>(&given, &own));
            return;
        }
        self.flag("algorithm", &options.algorithm);
        let is_pocket = model.spec().readout() == Readout::Pocket;
        self.settings(settings::differing::<Options>(
            &given,
            if is_pocket { &["algorithm"] } else { &["algorithm", "ratchet"] },
        ));
        if options.validation != Some(Validation::default()) {
            self.flag("patience", options.validation.map_or(0, |validation| validation.patience));
        }
        if let Some(map) = &options.map {
            let fields = json!(map);
            let word = |setting: &Setting| settings::words(setting, &fields[setting.name]);
            self.settings(Mapping::SETTINGS.iter().flat_map(word).collect());
            self.flags("kernel", &map.kernel);
            map.params.iter().for_each(|(name, setting)| self.flag(name, setting));
        }
        if let Some(kernel) = &options.kernel {
            self.flag("kernel", &kernel.name);
            kernel.params.iter().for_each(|(name, setting)| self.flag(name, setting));
            let removes = if kernel.budget.is_some() { "" } else { "removal" };
            self.settings(settings::differing::<KernelOptions>(&json!(kernel), &["name", removes]));
        }
        if let Some(network) = &options.network {
            self.settings(settings::differing::<NetworkOptions>(&json!(network), &[]));
        }
    }

    fn judging(&mut self, model: &Model) {
        let summary = model.training_summary();
        let share = summary.held_out.or(summary.raced);
        // Costs are weighed by probabilities, which are fitted on held-out rows.
        let weighs_costs = model.spec().options().costs != Costs::Even;
        let n_folds = summary.folds.or((share.is_none() && weighs_costs).then_some(5));
        match n_folds {
            Some(n_folds) => self.flag("folds", n_folds),
            None => self.flag("holdout", share.unwrap_or(0.0)),
        }
        self.flags("time", &summary.time);
        self.flags("group", &summary.group);
        let estimate = summary.estimate;
        let is_kept_out = share.is_some() && estimate.is_some_and(|estimate| !estimate.refitted);
        self.switch("no-refit", is_kept_out);
        self.switch("no-held-out-scores", estimate.is_some() && model.held_out().is_none());
        // Probabilities are fitted on held-out rows: without any, no method can be asked for.
        if n_folds.is_none() && share.is_none() {
            return;
        }
        match model.calibration().map(Calibration::method) {
            Some(Method::Platt | Method::Softmax) => {}
            Some(method) => self.flag("calibrate", method),
            None => self.flag("calibrate", "none"),
        }
    }
}

/// A word as a shell takes it.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "_-./=:,+@%".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rosenblatt::kernel::KERNELS;

    /// Flags of `train` that are not spelled, and why.
    const LEFT_OUT: &[(&str, &[&str])] = &[
        ("the model is the same without it", &["threads", "device", "cache", "memory", "keep-previous"]),
        ("the model is the same without a stop", &["checkpoint-every", "resume"]),
        ("it is no part of the model", &["export", "bounds", "json", "help-all"]),
        ("it refuses data, and this data was taken", &["max-classes", "max-features", "max-line"]),
        ("it refuses data, and this data was taken", &["max-pixels", "max-vocabulary"]),
        ("it counts for rows that come later", &["unknown"]),
        ("one epoch in the given order is spelled so", &["online", "grow-classes"]),
        ("no model knows which one it began from", &["start-from", "blank"]),
        ("taggers have their own command", &["features", "history", "beam", "violation", "label-cost"]),
        ("it is a form of `--cost`, and spelled where that is", &["threshold"]),
        ("taggers have their own command", &["constraints", "min-count", "shards"]),
    ];

    /// An option that is new is spelled here, or stands in the list above with a reason.
    #[test]
    fn every_flag_of_train_is_spelled_or_left_out_for_a_reason() {
        let source = include_str!("again.rs").split("#[cfg(test)]").next().unwrap_or_default();
        // Parameters of kernels are spelled as their table names them.
        let params = KERNELS.iter().flat_map(|kernel| kernel.params).map(|param| param.name);
        let params: Vec<&str> = params.collect();
        // Those of learning are spelled as they are declared.
        let learning =
            [Options::SETTINGS, Mapping::SETTINGS, KernelOptions::SETTINGS, NetworkOptions::SETTINGS];
        let declared = learning.into_iter().flatten().filter_map(|setting| setting.flag);
        let declared: Vec<&str> = declared.filter(|flag| *flag != "device").collect();
        let left_out: Vec<&str> = LEFT_OUT.iter().flat_map(|(_, names)| *names).copied().collect();
        let whole = crate::command(crate::brief::Help::All);
        let train = whole.find_subcommand("train").unwrap();
        let flags: Vec<&str> = train.get_arguments().filter_map(clap::Arg::get_long).collect();
        assert!(flags.len() > 60, "{}", flags.len());
        for name in &flags {
            let is_spelled =
                source.contains(&format!("\"{name}\"")) || source.contains(&format!("--{name}\""));
            let is_spelled = is_spelled || declared.contains(name);
            let ways = [is_spelled, params.contains(name), left_out.contains(name)];
            assert_eq!(ways.iter().filter(|way| **way).count(), 1, "--{name}");
        }
        for name in left_out {
            assert!(flags.contains(&name), "there is no --{name}");
        }
    }

    #[test]
    fn words_survive_a_shell() {
        assert_eq!(quoted("data/iris.csv"), "data/iris.csv");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted("$(rm -rf)"), "'$(rm -rf)'");
        assert_eq!(quoted(""), "''");
    }
}
