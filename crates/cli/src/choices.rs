//! Choices by name as clap sees them: parsed by the library, listed from its tables.

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command, Error};
use rosenblatt::catalogue;
use rosenblatt::learning::{Choices, NameError};
use std::ffi::OsStr;
use std::marker::PhantomData;
use std::str::FromStr;

/// A parser of choices whose names appear in the help.
#[derive(Clone)]
pub(crate) struct Choice<T>(PhantomData<T>);

/// A choice of `T`, by name.
pub(crate) fn choice<T>() -> Choice<T> {
    Choice(PhantomData)
}

impl<T: Choices + Clone + Send + Sync + 'static> TypedValueParser for Choice<T> {
    type Value = T;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<T, Error> {
        let by_name = |name: &str| <T as FromStr>::from_str(name);
        let by_name: fn(&str) -> Result<T, NameError> = by_name;
        TypedValueParser::parse_ref(&by_name, command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(T::ALL.iter().map(|named| PossibleValue::new(named.name).help(named.meaning))))
    }
}

/// Names that a table lists, as possible values; what is given is checked where it is used.
#[derive(Clone)]
pub(crate) struct Listed(fn() -> Vec<&'static str>);

/// One of the names that `list` gives, or one of their aliases.
pub(crate) fn listed(list: fn() -> Vec<&'static str>) -> Listed {
    Listed(list)
}

impl TypedValueParser for Listed {
    type Value = String;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<String, Error> {
        clap::builder::StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.0)().into_iter().map(PossibleValue::new)))
    }
}

/// What an option says that exports models; `how` begins the sentence.
pub(crate) fn export_help(how: &str) -> String {
    let names = catalogue().names("export").join(", ");
    format!("{how} the model for other programs. Formats are {names}; `-` is stdout (models with weights)")
}

/// What the declaration of the setting with this flag says, for commands that have the flag without the whole declaration.
pub(crate) fn meaning_of(flag: &str) -> &'static str {
    let catalogue = catalogue();
    let mut options = catalogue.options.iter().flat_map(|group| &group.options);
    options.find(|option| option.flag == Some(flag)).map_or("", |option| option.meaning)
}
