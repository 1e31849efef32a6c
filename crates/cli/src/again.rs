//! The command that trains a model again: what its description and its schema say, in words a shell takes.

use crate::args::DataArgs;
use rosenblatt::calibration::Method;
use rosenblatt::data::encode::{Scaling, TextOptions, Units};
use rosenblatt::data::{ColumnKind, Layout, Missing, Schema};
use rosenblatt::{
    Calibration, ClassWeights, Classes, Costs, Dataset, KernelOptions, Labels, Model, NetworkOptions,
    Options, Validation, defaults,
};
use std::fmt::Display;

/// What of a training is not in its model.
pub(crate) struct Told<'a> {
    /// The files.
    pub(crate) files: &'a [String],
    /// What they hold; nothing if they are not at hand.
    pub(crate) rows: Option<&'a Dataset>,
    /// How they are read, beyond what the model remembers of it.
    pub(crate) data: &'a DataArgs,
    /// Where the model goes.
    pub(crate) model: &'a str,
}

/// The command.
pub(crate) fn command(model: &Model, told: &Told<'_>) -> String {
    let mut words = Words(vec!["rosenblatt".to_owned(), "train".to_owned()]);
    told.files.iter().for_each(|file| words.0.push(quoted(file)));
    words.flag("model", told.model);
    words.reading(told.data, model.schema().map(AsRef::as_ref));
    words.learning(model, told.rows);
    words.judging(model);
    let command = words.0.join(" ");
    match model.date() {
        Some(date) => format!("SOURCE_DATE_EPOCH={} {command} --date", date.seconds()),
        None => command,
    }
}

/// A command as a shell takes it.
pub(crate) fn words(program: &str, rest: &[String]) -> String {
    std::iter::once(program.to_owned())
        .chain(rest.iter().map(|word| quoted(word)))
        .collect::<Vec<_>>()
        .join(" ")
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

    fn reading(&mut self, data: &DataArgs, schema: Option<&Schema>) {
        for (name, value) in [
            ("format", data.format.as_ref()),
            ("weight", data.weight.as_ref()),
            ("header", data.header.as_ref()),
            ("delimiter", data.delimiter.as_ref()),
        ] {
            self.flags(name, value);
        }
        self.flags("precision", data.precision);
        self.flags("ignore", &data.ignore);
        if let Some(path) = &data.labels {
            self.flag("labels", path.display());
        }
        self.switch("skip-bad-rows", data.skip_bad_rows);
        let Some(schema) = schema else { return };
        // Without a header, names are only numbers in disguise.
        let named = schema.label.as_ref().filter(|_| schema.has_names);
        if let Some(label) = named.or(data.label.as_ref()) {
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
        // What is left alone by itself need not be said.
        if !schema.columns.is_empty() || schema.layout == Layout::Dense || scaling != Scaling::None {
            self.flag("scale", scaling);
        }
        self.flags("cross", schema.crosses.iter().map(|pair| pair.join(",")));
        for name in &schema.ignored {
            self.flag("ignore", name);
        }
        if data.ignore.is_empty() {
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
        let (options, default) = (model.spec().options(), Options::default());
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
        if model.training_summary().raced.is_some() {
            self.flag("algorithm", "auto");
            self.flag_unless("seed", options.seed, &default.seed);
            self.class_weights(&options.class_weights);
            self.costs(&options.costs);
            return;
        }
        self.flag("algorithm", &options.algorithm);
        self.flags("param", options.params.iter().map(|(name, value)| format!("{name}={value}")));
        self.flags("rate", &options.rate);
        self.flags("readout", options.readout);
        self.flag_unless("multiclass", options.multiclass, &Classes::OneVsRest);
        self.flag_unless("zero", options.zero.to_string(), &default.zero.to_string());
        self.flag_unless("mistake", options.mistake.to_string(), &default.mistake.to_string());
        self.flags("bias", options.bias);
        self.flags("order", &options.order);
        self.flag_unless("seed", options.seed, &default.seed);
        self.flag_unless("epochs", options.epochs, &defaults::EPOCHS);
        self.flags("max-updates", options.max_updates);
        if let Some(map) = &options.map {
            self.flag("map", &map.name);
            self.flag("map-size", map.size);
            self.flags("kernel", &map.kernel);
            map.params.iter().for_each(|(name, setting)| self.flag(name, setting));
        }
        if let Some(kernel) = &options.kernel {
            let default = KernelOptions::default();
            self.flag("kernel", &kernel.name);
            kernel.params.iter().for_each(|(name, setting)| self.flag(name, setting));
            self.switch("unit-hypotheses", kernel.normalised);
            self.flag_unless("kernel-memory", kernel.memory, &default.memory);
            self.flags("support-budget", kernel.budget);
            if kernel.budget.is_some() {
                self.flag_unless("removal", kernel.removal.to_string(), &default.removal.to_string());
            }
        }
        if let Some(network) = &options.network {
            let default = NetworkOptions::default();
            let sizes = |sizes: &Vec<usize>| sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
            self.flags("hidden", network.sizes.as_ref().map(sizes));
            self.flag_unless("activation", network.activation, &default.activation);
            self.flag_unless("optimiser", network.optimiser, &default.optimiser);
            self.flag_unless("output-loss", network.loss, &default.loss);
        }
        self.class_weights(&options.class_weights);
        self.costs(&options.costs);
        if options.validation != Some(Validation::default()) {
            self.flag("patience", options.validation.map_or(0, |validation| validation.patience));
        }
    }

    fn class_weights(&mut self, weights: &ClassWeights) {
        match weights {
            ClassWeights::Even => {}
            ClassWeights::Balanced => self.flag("class-weight", "balanced"),
            ClassWeights::Given(weights) => {
                self.flags("class-weight", weights.iter().map(|(class, weight)| format!("{class}={weight}")));
            }
        }
    }

    fn costs(&mut self, costs: &Costs) {
        match costs {
            Costs::Even => {}
            Costs::Threshold(share) => self.flag("threshold", share),
            Costs::Balanced => self.flag("cost", "balanced"),
            Costs::Given(costs) => {
                self.flags("cost", costs.iter().map(|(key, cost)| format!("{key}={cost}")));
            }
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
            None => self.flag_unless("holdout", share.unwrap_or(0.0), &defaults::HOLD_OUT),
        }
        // Probabilities are fitted on held-out rows: without any, no method can be asked for.
        if n_folds.is_none() && share.is_none() {
            return;
        }
        match model.calibration().map(Calibration::method) {
            Some(Method::Platt) => {}
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
        ("it is no part of the model", &["export", "bounds", "json"]),
        ("it refuses data, and this data was taken", &["max-classes", "max-features", "max-line"]),
        ("it refuses data, and this data was taken", &["max-pixels", "max-vocabulary"]),
        ("it counts for rows that come later", &["unknown"]),
        ("one epoch in the given order is spelled so", &["online", "grow-classes"]),
        ("no model knows which one it began from", &["start-from", "blank"]),
        ("taggers are told of elsewhere", &["features", "history", "beam", "violation", "label-cost"]),
        ("taggers are told of elsewhere", &["constraints", "min-count", "shards"]),
    ];

    /// An option that is new is spelled here, or stands in the list above with a reason.
    #[test]
    fn every_flag_of_train_is_spelled_or_left_out_for_a_reason() {
        let source = include_str!("again.rs").split("#[cfg(test)]").next().unwrap_or_default();
        // Parameters of kernels are spelled as their table names them.
        let params = KERNELS.iter().flat_map(|kernel| kernel.params).map(|param| param.name);
        let params: Vec<&str> = params.collect();
        let left_out: Vec<&str> = LEFT_OUT.iter().flat_map(|(_, names)| *names).copied().collect();
        let whole = crate::command();
        let train = whole.find_subcommand("train").unwrap();
        let flags: Vec<&str> = train.get_arguments().filter_map(clap::Arg::get_long).collect();
        assert!(flags.len() > 60, "{}", flags.len());
        for name in &flags {
            let is_spelled =
                source.contains(&format!("\"{name}\"")) || source.contains(&format!("--{name}\""));
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
