//! Which options of which command are files, and what becomes of them: the one table by which no output of any command
//! destroys an input, another output, or a file that is not its own.
//!
//! Every command passes [`keep_apart`] before it begins. A path that is in no line of the table fails a test.

use crate::checkpoints::checkpoint_path;
use crate::failure::Failure;
use clap::{Arg, ArgMatches};
use rosenblatt::data::files::{Apart, Kind, check_writable, is_special, lock_path, previous_path};
use rosenblatt::sequence::template::SETS;
use rosenblatt_data::{Part, Source};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// What a command does with the files that an option names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Reads rows or sentences: files, folders, patterns, or `-`.
    Data,
    /// Reads one file, of which this is the name in a message.
    Reads(&'static str),
    /// Reads files of templates, unless these are names of sets.
    Templates,
    /// Looks into a folder, or makes files there under names of its own.
    Folder,
    /// Writes one file.
    Writes(&'static str),
    /// Writes one file, named after a format.
    Export,
    /// Writes rows that training reads again.
    Cache,
    /// Writes a model, under a lock.
    Model,
    /// Writes a model, and beside it what an interrupted training needs.
    Trained,
}

const ROLES: &[(&[&str], &str, Role)] = &[
    (&[], "files", Role::Data),
    (&[], "labels", Role::Reads("the labels")),
    (&[], "features", Role::Templates),
    (&[], "export", Role::Export),
    (&[], "folder", Role::Folder),
    (&["train", "tune"], "model", Role::Trained),
    (&["train", "tune"], "cache", Role::Cache),
    (&["train", "tune"], "start_from", Role::Reads("the model to start from")),
    (&["demo"], "model", Role::Model),
    (&["mix"], "models", Role::Reads("a model")),
    (&["mix"], "output", Role::Model),
    (&["convert"], "input", Role::Data),
    (&["convert"], "test_out", Role::Writes("the test rows")),
    (&["certify"], "certificate", Role::Writes("the certificate")),
    (&["certify"], "check", Role::Reads("the certificate")),
    (&["report"], "certificate", Role::Reads("the certificate")),
    (&["inspect"], "rows", Role::Reads("the rows")),
    (&["report"], "output", Role::Writes("the report")),
    (&["plot"], "output", Role::Writes("the picture")),
    (&["serve"], "tokens", Role::Reads("the tokens")),
    (&["serve"], "tls_cert", Role::Reads("the certificate")),
    (&["serve"], "tls_key", Role::Reads("the key")),
    (&["reproduce"], "data", Role::Folder),
    (&["playground"], "file", Role::Reads("the table")),
    // What holds for every command comes last.
    (&[], "model", Role::Reads("the model")),
    (&[], "output", Role::Writes("the output")),
];

impl Role {
    /// What `command` does with the files that `option` names, if it names any.
    pub(crate) fn of(command: &str, option: &Arg) -> Option<Self> {
        let is_meant = |commands: &[&str]| commands.is_empty() || commands.contains(&command);
        let id = option.get_id().as_str();
        let line = ROLES.iter().find(|(commands, name, _)| *name == id && is_meant(commands));
        line.filter(|_| option.get_action().takes_values()).map(|(.., role)| *role)
    }

    /// Whether such files are read, or written.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Data | Self::Reads(_) | Self::Templates => "read",
            Self::Folder => "folder",
            Self::Writes(_) | Self::Export | Self::Cache | Self::Model | Self::Trained => "written",
        }
    }
}

/// The model that is trained where none is named: the first file's name with `.model`.
pub(crate) fn default_model(data: &OsStr) -> PathBuf {
    let stem = Path::new(data).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let stem = stem.split('.').find(|part| !part.is_empty()).unwrap_or("rosenblatt");
    PathBuf::from(format!("{stem}.model"))
}

/// The report on a model where no other name is given.
pub(crate) fn default_report(model: &Path) -> PathBuf {
    model.with_extension("html")
}

/// Refuses what would write over a file that the command reads, over another of its outputs, through a link, or where
/// nothing can be written, before anything is done.
pub(crate) fn keep_apart(command: &str, matches: &ArgMatches) -> Result<(), Failure> {
    let mut files = Apart::default();
    let known = crate::command(crate::brief::Help::All);
    let Some(known) = known.find_subcommand(command) else { return Ok(()) };
    for option in known.get_arguments() {
        let Some(role) = Role::of(command, option) else { continue };
        let typed = typed(matches, option.get_id().as_str());
        let typed = if typed.is_empty() { untyped(command, role, matches) } else { typed };
        // A pipe that is asked whether it is a cache may never answer.
        if let Some(path) = typed.iter().map(Path::new).find(|path| role == Role::Cache && is_special(path)) {
            let message = format!("{}: a cache is a plain file, and this is something else", path.display());
            return Err(Failure::Work(message));
        }
        if role == Role::Data {
            check_printed(&typed)?;
        }
        note(&mut files, role, &typed, matches);
    }
    files.check()?;
    for path in files.outputs() {
        check_writable(path)?;
    }
    Ok(())
}

/// Refuses data that standard output goes to: what is printed would be read as rows, and the rows be lost or mixed with it.
fn check_printed(data: &[OsString]) -> Result<(), Failure> {
    let Some(printed) = inode(Path::new("/dev/stdout")) else { return Ok(()) };
    for source in data.iter().filter_map(|data| Source::find(data).ok()) {
        for part in source.parts() {
            let path = match part {
                Part::File(path) => path.as_path(),
                Part::Stdin => Path::new("/dev/stdin"),
                _ => continue,
            };
            if inode(path) == Some(printed) {
                let message = format!(
                    "{}: the output goes to the file that the data is read from; send it to another file",
                    part.name()
                );
                return Err(Failure::Work(message));
            }
        }
    }
    Ok(())
}

/// The plain file that a path leads to, whatever its name.
#[cfg(unix)]
fn inode(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    let there = std::fs::metadata(path).ok()?;
    there.is_file().then(|| (there.dev(), there.ino()))
}

/// Elsewhere an output that is printed has no path.
#[cfg(not(unix))]
fn inode(_path: &Path) -> Option<(u64, u64)> {
    None
}

/// The values of an option as they were typed.
fn typed(matches: &ArgMatches, option: &str) -> Vec<OsString> {
    let values = matches.try_get_raw(option).ok().flatten();
    values.map_or_else(Vec::new, |values| values.map(OsStr::to_owned).collect())
}

/// What an option names where it is left out.
fn untyped(command: &str, role: Role, matches: &ArgMatches) -> Vec<OsString> {
    let first = |option| typed(matches, option).into_iter().next();
    let path = match role {
        Role::Trained => first("files").filter(|data| data != "-").map(|data| default_model(&data)),
        Role::Writes(_) if command == "report" => first("model").map(|model| default_report(model.as_ref())),
        _ => None,
    };
    path.into_iter().map(PathBuf::into_os_string).collect()
}

fn note(files: &mut Apart, role: Role, typed: &[OsString], matches: &ArgMatches) {
    match role {
        Role::Folder => {}
        Role::Data => {
            // What cannot be found is complained about where it is read.
            for source in typed.iter().filter_map(|data| Source::find(data).ok()) {
                files.reads_source("the data", &source);
            }
        }
        Role::Reads(what) => typed.iter().for_each(|path| files.reads(what, path)),
        Role::Templates => {
            let names = typed.iter().flat_map(|names| names.to_str().unwrap_or_default().split(','));
            for name in names.filter(|name| *name != "auto" && SETS.iter().all(|(set, _)| set != name)) {
                files.reads("the templates", name);
            }
        }
        Role::Writes(what) => typed.iter().for_each(|path| files.writes(what, path)),
        Role::Export => typed.iter().skip(1).for_each(|path| files.writes("the export", path)),
        Role::Cache => typed.iter().for_each(|path| files.writes_kind("the cache", path, Kind::Cache)),
        Role::Model | Role::Trained => {
            for path in typed.iter().map(Path::new) {
                files.writes_kind("the model", path, Kind::Model);
                if matches.try_get_one("keep_previous").ok().flatten() == Some(&true) {
                    files.keeps_previous("the previous model", previous_path(path), Kind::Model);
                }
                files.writes_kind("the lock", lock_path(path), Kind::Lock);
                if role == Role::Trained {
                    let checkpoint = checkpoint_path(path);
                    files.writes_kind("a checkpoint", &checkpoint, Kind::Checkpoint);
                    files.keeps_previous("a checkpoint", previous_path(&checkpoint), Kind::Checkpoint);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::any::TypeId;

    /// Whether the value of an option is, or may be, the name of a file.
    fn is_path(option: &Arg) -> bool {
        let words = option.get_value_names().unwrap_or_default();
        let is_word = |word: &str| {
            let word = word.trim_end_matches(",...");
            word.split('|')
                .any(|word| ["FILE", "PATH", "MODEL", "IN", "OUT", "FOLDER", "DIR"].contains(&word))
        };
        option.get_value_parser().type_id() == TypeId::of::<PathBuf>()
            || option.get_value_parser().type_id() == TypeId::of::<OsString>()
            || words.iter().any(|word| is_word(word))
    }

    #[test]
    fn every_file_of_every_command_is_in_the_table() {
        let whole = crate::command(crate::brief::Help::All);
        let mut n_written = 0;
        for command in whole.get_subcommands() {
            let name = command.get_name();
            let own = command
                .get_arguments()
                .chain(command.get_subcommands().flat_map(clap::Command::get_arguments));
            for option in own.filter(|option| option.get_action().takes_values()) {
                let role = Role::of(name, option);
                assert_eq!(role.is_some(), is_path(option), "{name} {}: {role:?}", option.get_id());
                n_written += usize::from(role.is_some_and(|role| role.word() == "written"));
            }
        }
        assert!(n_written >= 14, "{n_written}");
    }
}
