//! What help shows: `-h` a line for each option most people need, `--help` the same and a few more in full,
//! `--help-all` everything.

use clap::{Arg, ArgAction, Command};
use rosenblatt::catalogue;
use std::ffi::OsString;

/// Options that matter to most people, of whichever command they are, besides the settings that are declared common:
/// `--help` shows them, and `-h` those that are not in [`SECOND`].
const NEEDED: &[&str] = &[
    "address",
    "algorithms",
    "budget",
    "by",
    "certificate",
    "check",
    "columns",
    "durability",
    "explain",
    "export",
    "folds",
    "form",
    "frames",
    "group",
    "holdout",
    "ignore",
    "interval",
    "json",
    "metric",
    "model",
    "monotone",
    "online",
    "output",
    "positive",
    "probabilities",
    "quiet",
    "read_only",
    "resume",
    "rounds",
    "scale",
    "scores",
    "seed",
    "shape",
    "shuffle",
    "split",
    "start_from",
    "task",
    "test_out",
    "theme",
    "threads",
    "time",
    "to",
    "tokens",
];

/// What `-h` leaves to `--help`.
const SECOND: &[&str] =
    &["export", "ignore", "param", "readout", "resume", "scale", "seed", "start_from", "threads", "time"];

/// Commands with fewer options than this show all of them.
const FEW: usize = 12;

/// The longest line of `-h`.
const WIDTH: usize = 80;

/// Which help was typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Help {
    /// `-h`: one line for each option most people need.
    Short,
    /// `--help`: what most people need, in full.
    Long,
    /// `--help-all`, manual pages and completions: everything.
    All,
}

impl Help {
    /// The help these words ask for, if they ask for any.
    pub(crate) fn typed(words: impl Iterator<Item = OsString>) -> Self {
        let mut found = Self::Long;
        for word in words {
            match word.to_str() {
                Some("--help-all") => return Self::All,
                Some("-h") => found = Self::Short,
                _ => {}
            }
        }
        found
    }
}

/// `command` with the options that this help shows.
pub(crate) fn shown(command: Command, help: Help) -> Command {
    let is_long = command.get_opts().count() >= FEW;
    let command = command.arg(help_all().hide(!is_long));
    let is_shown = |arg: &Arg| {
        let id = arg.get_id().as_str();
        let is_common = || catalogue::setting(id).is_some_and(|setting| setting.is_common);
        !is_long
            || arg.is_positional()
            || id == "help-all"
            || (NEEDED.contains(&id) || is_common()) && (help == Help::Long || !SECOND.contains(&id))
    };
    match help {
        Help::All => command,
        Help::Long => command.mut_args(|arg| {
            let is_hidden = arg.is_hide_long_help_set() || !is_shown(&arg);
            arg.hide_long_help(is_hidden)
        }),
        Help::Short => {
            let column = command.get_arguments().filter(|arg| is_shown(arg)).map(width).max().unwrap_or(0);
            let command = command.mut_args(|arg| {
                let is_hidden = arg.is_hide_short_help_set() || !is_shown(&arg) || arg.get_id() == "help-all";
                let words = arg.get_help().map(ToString::to_string).unwrap_or_default();
                let line = line(&words, WIDTH.saturating_sub(column));
                let arg = if arg.is_positional() { arg } else { arg.help_heading(None::<&str>) };
                let takes_values = arg.get_action().takes_values();
                let arg = arg.help(line).hide_short_help(is_hidden);
                arg.hide_possible_values(takes_values).hide_default_value(takes_values)
            });
            command.help_template(SHORT)
        }
    }
}

/// Arguments and options in one list.
const SHORT: &str = "{about-with-newline}
{usage-heading} {usage}

{positionals}
{options}{after-help}
";

/// The flag that shows everything.
fn help_all() -> Arg {
    let flag = Arg::new("help-all").long("help-all").action(ArgAction::HelpLong).display_order(1000);
    flag.help_heading(None::<&str>).help("Print help with every option")
}

/// The columns that an option takes before its words.
fn width(arg: &Arg) -> usize {
    let values = arg.get_value_names().unwrap_or_default().iter().map(|name| name.len() + 3).sum::<usize>();
    let takes_values = arg.get_action().takes_values();
    match arg.get_long() {
        // `  -a, --algorithm <NAME>  `
        Some(long) => 6 + 2 + long.len() + if takes_values { values } else { 0 } + 2,
        None => 0,
    }
}

/// The first sentence, and the default where there is room for both.
fn line(words: &str, room: usize) -> String {
    let (words, default) = words.split_once(" [default").unwrap_or((words, ""));
    let first = words.split_once(". ").map_or(words, |(first, _)| first);
    let default = default.split_inclusive(']').next().unwrap_or_default();
    let whole = format!("{first} [default{default}");
    if default.is_empty() || whole.len() > room { first.to_owned() } else { whole }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_help_of_every_command_fits_a_screen_and_names_what_is_needed() {
        let mut seen = Vec::new();
        let mut whole = crate::command(Help::Short).term_width(100);
        whole.build();
        let mut long = Vec::new();
        for command in whole.get_subcommands_mut().filter(|command| command.get_name() != "help") {
            let name = command.get_name().to_owned();
            seen.extend(command.get_arguments().map(|arg| arg.get_id().to_string()));
            let short = command.render_help().to_string();
            let most = if name == "train" { 30 } else { 48 };
            let n_lines = short.lines().count();
            assert!(n_lines <= most, "{name} {n_lines}\n{short}");
            assert!(short.contains("Example"), "{name}");
            let options = short.lines().take_while(|line| !line.starts_with("Example"));
            long.extend(
                options
                    .filter(|line| line.starts_with("  "))
                    .filter(|line| line.len() > WIDTH || line.starts_with("          "))
                    .map(|line| format!("{name}: {line}")),
            );
        }
        assert!(long.is_empty(), "{}", long.join("\n"));
        for name in NEEDED {
            assert!(seen.iter().any(|id| id == name), "no command has `{name}`");
        }
    }

    #[test]
    fn every_option_is_in_the_whole_help_and_few_are_in_the_usual_one() {
        let (usual, all) = (crate::command(Help::Long), crate::command(Help::All));
        for (usual, all) in usual.get_subcommands().zip(all.get_subcommands()) {
            let name = usual.get_name();
            let n_shown = |command: &Command| {
                let is_shown = |arg: &&Arg| !arg.is_hide_set() && !arg.is_hide_long_help_set();
                command.get_opts().filter(is_shown).count()
            };
            assert!(n_shown(usual) <= 30, "{name} shows {}", n_shown(usual));
            let n_hidden = all.get_opts().filter(|arg| arg.is_hide_long_help_set()).count();
            assert_eq!(n_hidden, 0, "{name}");
        }
    }
}
