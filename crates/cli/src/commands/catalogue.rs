//! `rosenblatt catalogue`: everything there is to choose from, for people, programs and other languages.

use crate::failure::Failure;
use crate::paths::Role;
use crate::ui;
use clap::{Arg, Command};
use rosenblatt::catalogue::{Catalogue, Format, Purpose};
use serde_json::{Value, json};
use std::fmt::Write as _;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  rosenblatt catalogue                    what there is to choose from, list by list
  rosenblatt catalogue --json             with meanings, defaults and ranges, and every option of every command
  rosenblatt catalogue --schema           a JSON Schema of the options")]
pub(crate) struct Args {
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// Print a JSON Schema of the options
    #[arg(long, conflicts_with = "json")]
    schema: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let catalogue = rosenblatt_figures::catalogue();
    if args.schema {
        return ui::print(&format!("{:#}\n", catalogue.schema()));
    }
    if args.json {
        let mut whole = json!(catalogue);
        whole["commands"] = commands();
        return ui::print(&format!("{whole}\n"));
    }
    ui::print(&text(&catalogue))
}

/// Every command with its options, as the parser knows them.
fn commands() -> Value {
    let whole = crate::command(crate::brief::Help::All);
    let all = whole.get_subcommands().map(|command| {
        let deeper = command.get_subcommands().flat_map(Command::get_arguments);
        let options = command.get_arguments().chain(deeper).filter(|arg| !arg.is_hide_set());
        let name = command.get_name();
        let about = command.get_about().map(ToString::to_string);
        json!({ "name": name, "about": about, "options": options.map(|arg| option(name, arg)).collect::<Vec<_>>() })
    });
    all.collect()
}

fn option(command: &str, arg: &Arg) -> Value {
    let values: Vec<String> =
        arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    let defaults: Vec<String> =
        arg.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    let takes = arg.get_action().takes_values();
    json!({
        "name": arg.get_long().map_or_else(|| arg.get_id().to_string(), str::to_owned),
        "short": arg.get_short(),
        "meaning": arg.get_long_help().or(arg.get_help()).map(ToString::to_string),
        // What is off, or left to the data or the rule, by default.
        "default": if takes { json!(defaults.first()) } else { json!(false) },
        "takes": if takes { arg.get_value_names().and_then(|names| names.first()).map(ToString::to_string) } else { None },
        "choices": if takes { values } else { Vec::new() },
        "required": arg.is_required_set(),
        // Whether it names files, and what becomes of them.
        "files": Role::of(command, arg).map(Role::word),
    })
}

fn text(catalogue: &Catalogue) -> String {
    let mut text = String::new();
    let mut say = |what: &str, names: Vec<&str>| {
        let _ = writeln!(text, "{what}: {}", names.join(", "));
    };
    for what in ["algorithm", "kernel", "map"] {
        say(what, catalogue.names(what));
    }
    for list in &catalogue.choices {
        say(list.name, catalogue.names(list.name));
    }
    for (what, purpose) in [
        ("format read", Purpose::Read),
        ("format written", Purpose::Written),
        ("predictions", Purpose::Predictions),
        ("export", Purpose::Export),
    ] {
        let of_purpose = |format: &&Format| format.purpose == purpose;
        say(what, catalogue.formats.iter().filter(of_purpose).map(|format| format.name).collect());
    }
    say("figure", catalogue.figures.iter().map(|figure| figure.name).collect());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_of_every_command_has_a_meaning_and_stands_under_its_own_heading() {
        for command in commands().as_array().unwrap() {
            for option in command["options"].as_array().unwrap() {
                let meaning = option["meaning"].as_str().unwrap_or_default();
                assert!(!meaning.is_empty(), "{} {}", command["name"], option["name"]);
                assert!(option.get("default").is_some());
            }
        }
        let whole = crate::command(crate::brief::Help::All);
        for command in whole.get_subcommands() {
            for arg in command.get_arguments().filter(|arg| {
                ["json", "quiet", "from", "to", "form", "output", "model"].contains(&arg.get_id().as_str())
            }) {
                assert_eq!(arg.get_help_heading(), None, "{} {}", command.get_name(), arg.get_id());
            }
        }
    }
}
