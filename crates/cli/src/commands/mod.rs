//! The table of commands: one file each, and here its `mod` and one line of the table.

mod algorithms;
mod bounds;
mod catalogue;
mod certify;
mod certify_text;
mod compare;
mod completions;
mod convert;
mod demo;
mod devices;
mod evaluate;
mod inspect;
mod lessons;
mod man;
mod mix;
mod playground;
mod plot;
mod predict;
mod report;
mod reproduce;
mod serve;
mod tagger;
mod trace;
mod train;
mod train_face;
mod train_report;
mod tune;

use crate::failure::Failure;
use clap::Subcommand;

macro_rules! commands {
    ($($(#[$doc:meta])+ $module:ident :: $name:ident;)+) => {
        #[derive(Subcommand)]
        pub(crate) enum Command {
            $($(#[$doc])+ $name(Box<$module::Args>),)+
        }

        pub(crate) fn run(command: Command) -> Result<(), Failure> {
            match command {
                $(Command::$name(args) => $module::run(&args),)+
            }
        }
    };
}

commands! {
    /// Train a spam filter from bundled text messages, or give a lesson (and, xor, lecture, margin, voted, kernel)
    demo::Demo;
    /// Train a model from files and report how good it is
    train::Train;
    /// Train with a race that you steer: who takes part, and what they are compared by
    tune::Tune;
    /// Label rows with a model
    predict::Predict;
    /// Serve models over HTTP: predictions, and online learning that loses nothing
    serve::Serve;
    /// Measure a model on rows whose classes are known
    evaluate::Evaluate;
    /// Train several algorithms on the same folds and compare them in one table
    compare::Compare;
    /// Tell whether a hyperplane separates the data, with a proof that can be checked
    certify::Certify;
    /// Say what a model is: how it was trained and what it learned
    inspect::Inspect;
    /// Write one page that tells all there is to tell about a model
    report::Report;
    /// Show a run round by round, as a textbook prints it
    trace::Trace;
    /// Watch perceptrons learn on points of your own, in the browser
    playground::Playground;
    /// Draw what was learned, and how, as a picture
    plot::Plot;
    /// Make one model of several that were trained alike: the mean of their weights
    mix::Mix;
    /// Write data in another format, split or shuffled if need be
    convert::Convert;
    /// Run an experiment of the literature again and compare with what was published
    reproduce::Reproduce;
    /// List the algorithms, or explain one
    algorithms::Algorithms;
    /// List the processor and the graphics cards that kernels can be computed on
    devices::Devices;
    /// List everything there is to choose from; as JSON with meanings, defaults and ranges
    catalogue::Catalogue;
    /// Print completions for a shell
    completions::Completions;
    /// Print the manual page
    man::Man;
}
