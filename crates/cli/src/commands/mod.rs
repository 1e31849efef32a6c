//! The table of commands: one file each, one line here.

mod algorithms;
mod bounds;
mod catalogue;
mod certify;
mod certify_text;
mod compare;
mod completions;
mod convert;
mod demo;
mod evaluate;
mod inspect;
mod man;
mod plot;
mod predict;
mod report;
mod reproduce;
mod trace;
mod train;
mod train_face;
mod train_report;
mod tune;

use crate::failure::Failure;
use clap::Subcommand;

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Train a spam filter from bundled text messages and look at what it learned
    Demo(demo::Args),
    /// Train a model from files and report how good it is
    Train(Box<train::Args>),
    /// Train with a race that you steer: who takes part, and what they are compared by
    Tune(Box<tune::Args>),
    /// Label rows with a model
    Predict(predict::Args),
    /// Measure a model on rows whose classes are known
    Evaluate(evaluate::Args),
    /// Train several algorithms on the same folds and compare them in one table
    Compare(compare::Args),
    /// Tell whether a hyperplane separates the data, with a proof that can be checked
    Certify(certify::Args),
    /// Say what a model is: how it was trained and what it learned
    Inspect(inspect::Args),
    /// Write one page that tells all there is to tell about a model
    Report(report::Args),
    /// Show a run round by round, as a textbook prints it
    Trace(Box<trace::Args>),
    /// Draw what was learned, and how, as a picture
    Plot(Box<plot::Args>),
    /// Write data in another format, split or shuffled if need be
    Convert(convert::Args),
    /// Run an experiment of the literature again and compare with what was published
    Reproduce(reproduce::Args),
    /// List the algorithms, or explain one
    Algorithms(algorithms::Args),
    /// List everything there is to choose from, with meanings, defaults and ranges
    Catalogue(catalogue::Args),
    /// Print completions for a shell
    Completions(completions::Args),
    /// Print the manual page
    Man(man::Args),
}

pub(crate) fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Demo(args) => demo::run(&args),
        Command::Train(args) => train::run(&args),
        Command::Tune(args) => tune::run(&args),
        Command::Predict(args) => predict::run(&args),
        Command::Evaluate(args) => evaluate::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Certify(args) => certify::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Trace(args) => trace::run(&args),
        Command::Plot(args) => plot::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Reproduce(args) => reproduce::run(&args),
        Command::Algorithms(args) => algorithms::run(&args),
        Command::Catalogue(args) => catalogue::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
    }
}
