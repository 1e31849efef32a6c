//! The command line that does what the page shows.

use rosenblatt::data::{LabelColumn, Missing, ReadOptions, Scaling};
use rosenblatt::learning::{Mistake, Zero};
use rosenblatt::options::Classes;
use rosenblatt::settings::differing;
use rosenblatt::trace::{Beginning, Walk};
use rosenblatt::{Options, Spec, algorithms};
use serde_json::json;
use std::fmt::Write as _;

/// `rosenblatt trace FILE …`, or `train` where there are no weights to trace.
pub(crate) fn command(file: &str, reading: &ReadOptions, held_out: f64, walk: &Walk) -> String {
    let (spec, options) = (walk.spec(), walk.spec().options());
    let has_weights = has_weights(options);
    let command = if has_weights { "trace" } else { "train" };
    let mut line = format!("rosenblatt {command} {}", quoted(file));
    let mut say = |flag: &str, value: &str| {
        let _ = write!(line, " --{flag} {}", quoted(value));
    };
    if let LabelColumn::Named(label) = &reading.label {
        say("label", label);
    }
    for column in &reading.ignore {
        say("ignore", column);
    }
    if reading.missing != Missing::default() {
        say("missing", &reading.missing.to_string());
    }
    // `train` scales, holds rows out and fits probabilities unless it is asked not to.
    if reading.scaling != Scaling::None || !has_weights {
        say("scale", &reading.scaling.to_string());
    }
    if held_out > 0.0 || !has_weights {
        say("holdout", &held_out.to_string());
    }
    for (flag, value) in words(options, spec) {
        say(&flag, &value);
    }
    for (flag, value) in differing::<Beginning>(&json!(walk.beginning()), &[]) {
        say(&flag, &value.unwrap_or_default());
    }
    if !has_weights {
        say("precision", &reading.precision.to_string());
        line.push_str(if held_out > 0.0 { " --no-refit" } else { "" });
        line.push_str(" --patience 0 --calibrate off");
    }
    line
}

/// Whether weights of the rows' own features are learned.
pub(crate) fn has_weights(options: &Options) -> bool {
    let is_network = algorithms::find(&options.algorithm).is_ok_and(|entry| entry.network);
    options.kernel.is_none() && options.map.is_none() && !is_network
}

fn words(options: &Options, spec: &Spec) -> Vec<(String, String)> {
    let mut words = vec![
        ("algorithm".to_owned(), options.algorithm.clone()),
        ("readout".to_owned(), spec.readout().to_string()),
        ("order".to_owned(), spec.order().to_string()),
        ("bias".to_owned(), spec.bias().to_string()),
        ("epochs".to_owned(), options.epochs.to_string()),
    ];
    let mut say = |is_said: bool, flag: &str, value: String| {
        if is_said {
            words.push((flag.to_owned(), value));
        }
    };
    say(options.seed != 0, "seed", options.seed.to_string());
    say(options.zero != Zero::default(), "zero", options.zero.to_string());
    say(options.mistake != Mistake::default(), "mistake", options.mistake.to_string());
    say(options.multiclass != Classes::OneVsRest, "multiclass", options.multiclass.to_string());
    if let Some(rate) = &options.rate {
        say(true, "rate", rate.to_string());
    }
    for (name, value) in &options.params {
        say(true, "param", format!("{name}={value}"));
    }
    if let Some(kernel) = &options.kernel {
        say(true, "kernel", kernel.name.clone());
        for (name, value) in &kernel.params {
            say(true, name, value.to_string());
        }
    }
    if let Some(map) = &options.map {
        say(true, "map", map.name.clone());
        say(true, "map-size", map.size.to_string());
        if let Some(kernel) = &map.kernel {
            say(true, "kernel", kernel.clone());
        }
        for (name, value) in &map.params {
            say(true, name, value.to_string());
        }
    }
    if let Some(network) = &options.network {
        say(true, "activation", network.activation.to_string());
        say(true, "output-loss", network.loss.to_string());
        say(true, "optimiser", network.optimiser.to_string());
    }
    words
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=,+:".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
