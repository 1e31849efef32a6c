//! `rosenblatt tune FILE...`: `train` with a race that you steer: who takes part, and what they are compared by.

use super::{tagger, train};
use crate::args::{SENTENCES, Spoken, seconds};
use crate::choices::choice;
use crate::failure::Failure;
use crate::ui;
use clap::Command;
use rosenblatt::Options;
use rosenblatt::algorithms::find;
use rosenblatt::compare::Candidate;
use rosenblatt::race::Metric;
use rosenblatt::recipe::{Choice, Racing};
use std::collections::BTreeMap;
use std::time::Duration;

const EXAMPLES: &str = "Examples:
  rosenblatt tune mail.csv --algorithms pa1,arow --param C=0.01,0.1 --param r=0.1,1
  rosenblatt tune mail.csv --algorithms 'pa1(C=0.1),perceptron:voted' --metric f1
  rosenblatt tune mail.csv --algorithms logistic-dual --param C=0.01,0.1,1 \\
    --metric logloss --budget 60s";

/// The rules that compete where none are named.
const USUAL: &str = "perceptron,pa1,arow,logistic,svm-dual,logistic-dual,mlp";

/// The same of sentences.
const USUAL_OF_SENTENCES: &str = "perceptron,pa1,arow";

/// Options of `train` that have no meaning in a race, and are not shown.
const NOT_IN_A_RACE: [&str; 5] = ["online", "grow_classes", "start_from", "blank", "bounds"];

#[derive(clap::Args)]
#[group(id = "Tune")]
pub(crate) struct Args {
    #[command(flatten)]
    spoken: Spoken,
    /// Algorithms that compete. A name may have parameters, a kernel and a read-out, as in `compare`. Name the
    /// simplest first: it wins a tie
    #[arg(long, value_name = "NAME,...")]
    algorithms: Option<String>,
    /// Metric that candidates are compared by. Their errors are on rows they did not learn from
    #[arg(long, value_name = "NAME", default_value = "error", value_parser = choice::<Metric>())]
    metric: Metric,
    /// Time after which no part of the race is begun. It is 60s, 10m or 2h; with it, the outcome depends on the
    /// machine [default: no limit]
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    budget: Option<Duration>,
    #[command(flatten)]
    train: train::Args,
}

/// Shared options as they are meant here: rules are named by `--algorithms`, and rows are read more than once.
pub(super) fn suited(command: Command) -> Command {
    // Without this the examples of what is flattened into it last would be shown.
    let command = command.after_help(EXAMPLES).after_long_help(EXAMPLES);
    command
        .mut_arg("algorithm", |arg| arg.short(None).hide(true))
        .mut_arg("algorithms", |arg| {
            let text = arg.get_help().map(ToString::to_string).unwrap_or_default();
            let help = format!("{text} [default: {USUAL}, except those that other options exclude]");
            arg.short('a').help(help)
        })
        .mut_arg("param", |arg| {
            arg.value_name("NAME=VALUE,...")
                .help("Values of a parameter to try, with every rule that has it (may be repeated)")
        })
        .mut_args(|arg| {
            let is_of_train =
                NOT_IN_A_RACE.contains(&arg.get_id().as_str()) || arg.get_help_heading() == Some(SENTENCES);
            if is_of_train { arg.hide(true) } else { arg }
        })
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let usage = |error: rosenblatt::Error| Failure::Usage(Failure::words(&error));
    let are_sentences = args.train.is_of_sentences();
    if are_sentences {
        args.spoken.only_of_sentences(tagger::TRAINING)?;
    } else {
        args.spoken.only_of_tables()?;
    }
    if args.train.is_online() {
        let message = "`--online` makes one epoch over a stream, but a race needs all rows; use `train --online --algorithm NAME`";
        return Err(Failure::Usage(message.to_owned()));
    }
    if args.train.spec.has("algorithm") {
        let message =
            "`--algorithm` trains one rule without a race; name those that compete with `--algorithms`";
        return Err(Failure::Usage(message.to_owned()));
    }
    let (base, values) = args.train.spec.asked_and_values()?;
    let usual = if are_sentences { USUAL_OF_SENTENCES } else { USUAL };
    let names = args.algorithms.as_deref().unwrap_or(usual);
    let mut named = Candidate::list(names).map_err(usage)?;
    if are_sentences && named.iter().any(|candidate| candidate.kernel.is_some()) {
        return Err(Failure::Usage("taggers have no kernel".to_owned()));
    }
    if args.algorithms.is_none() {
        leave_out(&mut named, &base).map_err(usage)?;
    }
    Candidate::check_heeded(&named, &base).map_err(usage)?;
    let mut candidates = Vec::new();
    let mut is_used = vec![false; values.len()];
    for candidate in &named {
        let info = find(&candidate.algorithm).map_err(usage)?.info;
        let mut grid = vec![candidate.params.clone()];
        for (used, (name, values)) in is_used.iter_mut().zip(&values) {
            if info.params.iter().any(|param| param.name == name) && !candidate.params.contains_key(name) {
                *used = true;
                grid = spread(&grid, name, values);
            }
        }
        for params in grid {
            let candidate = Candidate { params, ..candidate.clone() };
            candidates.push(Options::from(candidate.spec(&base).map_err(usage)?));
        }
    }
    if let Some((name, _)) = values.iter().zip(&is_used).find_map(|(value, used)| (!used).then_some(value)) {
        let message = format!("`--param {name}` is a parameter of none of `{names}`");
        return Err(Failure::Usage(message));
    }
    let budget = args.budget.map(|budget| budget.as_secs_f64());
    train::follow(&args.train, Choice::Race(Racing { candidates, metric: args.metric, budget }))
}

/// Leaves out those of the usual rules that do not go with the options at hand, such as a kernel.
fn leave_out(named: &mut Vec<Candidate>, base: &Options) -> Result<(), rosenblatt::Error> {
    let goes = |candidate: &Candidate| candidate.spec(base).map(drop);
    if !named.iter().any(|candidate| goes(candidate).is_ok()) {
        return named.first().map_or(Ok(()), goes);
    }
    let (in_race, left_out): (Vec<_>, Vec<_>) =
        named.drain(..).partition(|candidate| goes(candidate).is_ok());
    *named = in_race;
    if !left_out.is_empty() {
        let names: Vec<&str> = left_out.iter().map(|candidate| candidate.algorithm.as_str()).collect();
        ui::note(&format!("not in the race, as these options exclude them: {}", names.join(", ")));
    }
    Ok(())
}

/// Every set of parameters with every value of one more.
fn spread(grid: &[BTreeMap<String, f64>], name: &str, values: &[f64]) -> Vec<BTreeMap<String, f64>> {
    let with = |params: &BTreeMap<String, f64>, value: &f64| {
        let mut params = params.clone();
        params.insert(name.to_owned(), *value);
        params
    };
    grid.iter().flat_map(|params| values.iter().map(move |value| with(params, value))).collect()
}
