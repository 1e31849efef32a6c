//! The command line of Rosenblatt: typed words in, a checked wish, then work.
//!
//! Results go to stdout, talk goes to stderr. Exit codes: 0 done, 1 the data, the model or the machine
//! do not allow it, 2 the words made no sense, 3 `certify` left it open, 128 plus its number if a signal stopped it.

mod again;
mod args;
mod brief;
mod checkpoints;
mod choices;
mod commands;
mod failure;
mod limits;
mod output;
mod paths;
mod progress;
mod report;
mod signals;
mod ui;

use brief::Help;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, FromArgMatches as _, Parser};
use std::process::ExitCode;

/// One engine for the whole perceptron family.
#[derive(Parser)]
#[command(name = "rosenblatt", version, about = ABOUT, long_about = LONG_ABOUT, after_help = EXAMPLES)]
#[command(subcommand_required = true, arg_required_else_help = true)]
struct Cli {
    /// Print the result alone: no progress, no notes
    ///
    /// Where a file is the result, print no report either.
    #[arg(long, short, global = true, display_order = 900)]
    quiet: bool,
}

const ABOUT: &str = "The perceptron family: train, prove, explain, draw";

const LONG_ABOUT: &str = "One engine for the whole perceptron family: standard, averaged, voted, pocket, \
margin and passive-aggressive perceptrons and their neighbours, from the files you have.";

const EXAMPLES: &str = "Examples:
  rosenblatt demo                                 a spam filter from bundled messages
  rosenblatt train mail.csv --model mail.model    train, with an honest estimate of the error
  rosenblatt predict new.csv --model mail.model   label new rows
  rosenblatt compare mail.csv                     several algorithms on the same folds
  rosenblatt algorithms                           what there is to choose from

Exit codes: 0 success; 1 an error in the data, the model or the machine; 2 wrong usage; 3 `certify` found no \
answer; 128 plus the number of the signal that ended it: 130 for Ctrl-C, 143 for SIGTERM; 0 for `serve`.";

/// How much of the stack the work may use, whatever the shell allows the first thread.
const STACK_BYTES: usize = 8 << 20;

fn main() -> ExitCode {
    limits::tell_of_exhaustion();
    // As a rule the first thread has that much. It is the better place, as a thread's memory grows page by page.
    if limits::has_stack(STACK_BYTES) {
        return work();
    }
    let work = std::thread::Builder::new().name("main".to_owned()).stack_size(STACK_BYTES).spawn(work);
    match work.map(std::thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        // A panic, which has printed its message.
        Ok(Err(_)) => ExitCode::from(101),
        Err(error) => {
            ui::complain(&failure::Failure::Work(format!("the system gives no thread to work in: {error}")));
            ExitCode::FAILURE
        }
    }
}

fn work() -> ExitCode {
    let help = Help::typed(std::env::args_os());
    let typed = commands::add_to(Cli::command(), help, false).try_get_matches();
    let matches = match typed {
        Err(error) if error.kind() == ErrorKind::InvalidUtf8 => {
            let refused = failure::Failure::Usage(unreadable());
            ui::complain(&refused);
            return refused.exit_code();
        }
        Err(error) => {
            let error = plainly(error);
            let is_hostile = |word: std::ffi::OsString| word.to_string_lossy().contains(char::is_control);
            if error.use_stderr() && std::env::args_os().any(is_hostile) {
                // In colours it would bring what was typed to the terminal as it is.
                ui::warn(error.render().to_string().trim_end());
                return ExitCode::from(2);
            }
            error.exit()
        }
        Ok(matches) => matches,
    };
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    if cli.quiet {
        ui::be_quiet();
    }
    if let Err(error) = signals::watch() {
        ui::warn(&format!("signals cannot be answered, and will end the program at once: {error}"));
    }
    match run_typed(&matches) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            ui::complain(&failure);
            failure.exit_code()
        }
    }
}

/// The words that are no text, by name.
fn unreadable() -> String {
    let words = std::env::args_os().filter(|word| word.to_str().is_none());
    let words: Vec<String> = words.map(|word| word.display().to_string()).collect();
    format!("`{}` is not UTF-8, and no option that takes text can be", words.join("`, `"))
}

/// The error of a line of words with the usage of its command, not of an option that only looks alike, and without a
/// likeness that is none.
fn plainly(mut error: clap::Error) -> clap::Error {
    if !error.use_stderr() {
        return error;
    }
    let mut whole = command(Help::All);
    whole.build();
    let name = std::env::args_os().nth(1).unwrap_or_default().to_string_lossy().into_owned();
    if error.get(ContextKind::Usage).is_some()
        && let Some(found) = whole.find_subcommand_mut(&name)
    {
        error.insert(ContextKind::Usage, ContextValue::StyledStr(found.render_usage()));
    }
    let word = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => word.trim_start_matches('-').chars().next(),
        _ => None,
    };
    if word(ContextKind::SuggestedArg) != word(ContextKind::InvalidArg) {
        error.remove(ContextKind::SuggestedArg);
    }
    error
}

/// Does what a line of words says, as if it had been typed.
pub(crate) fn run(line: &str) -> Result<(), failure::Failure> {
    let matches = commands::add_to(Cli::command(), Help::Long, false).try_get_matches_from(line.split(' '));
    run_typed(&matches.map_err(|error| failure::Failure::Usage(error.to_string()))?)
}

fn run_typed(matches: &clap::ArgMatches) -> Result<(), failure::Failure> {
    let (name, matches) = matches.subcommand().unwrap_or(("", matches));
    commands::run(name, matches)
}

/// The whole command, for help pages and completions.
pub(crate) fn command(help: Help) -> clap::Command {
    commands::add_to(Cli::command(), help, true)
}
