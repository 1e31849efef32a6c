//! The table of commands: one file each, and here its `mod` and one line of the table, which may name what suits
//! options that are shared with other commands to this one.

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

use crate::brief::{self, Help};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::{args, paths};
use clap::{ArgMatches, Args as _, Command, FromArgMatches as _};

/// Commands that go on until they are stopped, and print what they do by themselves.
const ENDLESS: [&str; 2] = ["serve", "playground"];

macro_rules! commands {
    ($($(#[doc = $about:literal])+ $module:ident $(with $suited:path)?;)+) => {
        /// `program` with every command. Its options are added at once, or when the command is typed: most of
        /// what starting costs is options of other commands.
        pub(crate) fn add_to(program: Command, help: Help, at_once: bool) -> Command {
            program$(.subcommand({
                const ABOUT: &str = concat!($($about),+).trim_ascii();
                fn fill(help: Help, command: Command) -> Command {
                    let command = $module::Args::augment_args(command).about(ABOUT).long_about(None);
                    $(let command = $suited(command);)?
                    brief::shown(command, help)
                }
                let command = Command::new(stringify!($module)).about(ABOUT);
                if at_once {
                    fill(help, command)
                } else {
                    // What is deferred is a plain function, which remembers nothing.
                    command.defer(match help {
                        Help::Short => |command| fill(Help::Short, command),
                        Help::Long => |command| fill(Help::Long, command),
                        Help::All => |command| fill(Help::All, command),
                    })
                }
            }))+
        }

        pub(crate) fn run(name: &str, matches: &ArgMatches) -> Result<(), Failure> {
            let usage = |error: clap::Error| Failure::Usage(error.to_string());
            args::check_needs(name, matches)?;
            paths::keep_apart(name, matches)?;
            let _progress = (!ENDLESS.contains(&name)).then(|| Progress::of_command(name));
            match name {
                $(stringify!($module) => $module::run(&$module::Args::from_arg_matches(matches).map_err(usage)?),)+
                _ => Err(Failure::Usage(format!("there is no command `{name}`"))),
            }
        }
    };
}

commands! {
    /// Train a spam filter, or give a lesson (`demo --help` lists them)
    demo;
    /// Train a model from files and report how good it is
    train;
    /// Train with a race that you steer: choose the candidates and the metric
    tune with tune::suited;
    /// Label rows with a model
    predict with args::leave_to_the_model;
    /// Serve models over HTTP: predictions, and online learning that loses nothing
    serve;
    /// Measure a model on rows whose classes are known
    evaluate with args::leave_to_the_model;
    /// Train several algorithms on the same folds and compare them in one table
    compare;
    /// Decide whether a hyperplane separates the classes, with a proof you can check
    certify;
    /// Show how a model was trained and what it learned
    inspect;
    /// Write an HTML page with everything about a model
    report with args::leave_to_the_model;
    /// Show a run round by round, as a textbook does
    trace with trace::suited;
    /// Watch perceptrons learn on your own points, in the browser
    playground;
    /// Draw a picture of a model, its errors or its training
    plot;
    /// Average the weights of several models that were trained alike
    mix;
    /// Write data in another format; split or shuffle it
    convert;
    /// Repeat a published experiment and compare the results
    reproduce;
    /// List the algorithms, or explain one
    algorithms;
    /// List the processors and graphics cards that can compute kernels
    devices;
    /// List every choice; as JSON with meanings, defaults and ranges
    catalogue;
    /// Print completions for a shell
    completions;
    /// Print the manual page
    man;
}
