//! What `-h` shows: the options most people need. `--help` shows all of them.

use clap::Command;
use rosenblatt::catalogue;

/// Options that matter to most people, of whichever command they are, besides the settings that are declared common.
const NEEDED: &[&str] = &[
    "address",
    "algorithms",
    "budget",
    "certificate",
    "check",
    "columns",
    "durability",
    "explain",
    "folds",
    "form",
    "frames",
    "holdout",
    "json",
    "metric",
    "model",
    "online",
    "output",
    "positive",
    "probabilities",
    "quiet",
    "read_only",
    "rounds",
    "scores",
    "shuffle",
    "split",
    "test_out",
    "theme",
    "to",
    "tokens",
];

/// Commands with fewer options than this show all of them.
const FEW: usize = 12;

/// `command`, which leaves out in `-h` what few people need.
pub(crate) fn shorten(command: Command) -> Command {
    if command.get_opts().count() < FEW {
        return command;
    }
    command.mut_args(|arg| {
        let is_needed = arg.is_positional()
            || NEEDED.contains(&arg.get_id().as_str())
            || catalogue::setting(arg.get_id().as_str()).is_some_and(|setting| setting.is_common);
        let arg = arg.hide_short_help(!is_needed);
        // The first sentence says what it is for, the others what else to know.
        let whole = arg.get_help().map(ToString::to_string).unwrap_or_default();
        match whole.split_once(". ") {
            Some((first, _)) => arg.help(first.to_owned()).long_help(whole.clone()),
            None => arg,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_help_of_every_command_fits_a_screen_and_names_what_is_needed() {
        let mut seen = Vec::new();
        let mut whole = crate::command();
        whole.build();
        for command in whole.get_subcommands_mut().filter(|command| command.get_name() != "help") {
            seen.extend(command.get_arguments().map(|arg| arg.get_id().to_string()));
            let short = command.render_help().to_string();
            let options = short.lines().take_while(|line| !line.starts_with("Example"));
            let n_lines = options.count();
            assert!(n_lines <= 64, "{} {n_lines}\n{short}", command.get_name());
            assert!(short.contains("Example"), "{}", command.get_name());
        }
        for name in NEEDED {
            assert!(seen.iter().any(|id| id == name), "no command has `{name}`");
        }
    }
}
