//! A setting, declared once: one entry of [`settings!`](crate::settings!) holds its name, type, default, range, meaning and
//! spellings. The struct, its defaults, its builder methods and the table of its settings come from that entry, and
//! every face reads the table.
//!
//! Nothing here reads or checks a value: what a word or a JSON value means is the business of the crates above.

use crate::names::{Choices, NameError, Named};

/// One setting: everything that faces need to show and to take it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Setting {
    /// Its name in JSON, in words joined by dashes.
    pub name: &'static str,
    /// Which values it takes.
    pub takes: Takes,
    /// Names of its values, if it is chosen by name.
    pub choices: &'static [Named],
    /// Refuses what names no value.
    pub check: Option<Check>,
    /// The command line's long flag; none if it has no flag of its own.
    pub flag: Option<&'static str>,
    /// The flag's short form.
    pub short: Option<char>,
    /// What else the flag is called.
    pub aliases: &'static [&'static str],
    /// What help calls the flag's value; what suits its type if empty.
    pub value: &'static str,
    /// The value that the flag stands for, if it takes none.
    pub means: Option<&'static str>,
    /// Its name in Python, if that differs from [`Setting::name`].
    pub python: Option<&'static str>,
    /// Its name on Spark, if that differs from [`Setting::name`].
    pub spark: Option<&'static str>,
    /// What holds while it is not set, if that is more than its default.
    pub unset: &'static str,
    /// Who decides it.
    pub decided: Decided,
    /// Which data it is about.
    pub tasks: Tasks,
    /// Whether short help shows it.
    pub is_common: bool,
    /// Whether a race goes on when it is set: all candidates share it.
    pub is_shared: bool,
    /// What it should be where rows are learned online, where it does nothing: left out, and why. Empty if it does something.
    pub idle_online: &'static str,
    text: &'static str,
}

/// Refuses what names no value.
pub type Check = fn(&str) -> Result<(), NameError>;

/// Who decides a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decided {
    /// Every reading of a source, training or not.
    Reading,
    /// The description of what is learned.
    Learning,
    /// The description of a training as a whole: who races, what is held out, how the error is estimated.
    Judging,
    /// Training: rows that a model is shown later are read as it says.
    Model,
}

impl Decided {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reading => "reading",
            Self::Learning => "learning",
            Self::Judging => "judging",
            Self::Model => "model",
        }
    }
}

/// Which data a setting is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tasks {
    /// Rows of a table.
    Tables,
    /// Rows of a table whose label is a class.
    Classes,
    /// Sentences, whose tokens are tagged.
    Sentences,
    /// Both.
    All,
}

impl Tasks {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tables => "tables",
            Self::Classes => "classes",
            Self::Sentences => "sentences",
            Self::All => "all",
        }
    }

    /// Whether it is about sentences, alone or among others.
    pub const fn has_sentences(self) -> bool {
        matches!(self, Self::Sentences | Self::All)
    }
}

/// Which values a setting takes.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Takes {
    /// Yes or no.
    Switch,
    /// A whole number from here on.
    AtLeast(u64),
    /// A number strictly between two others.
    Between(f64, f64),
    /// A number above zero.
    Positive,
    /// Zero, or a number above it.
    FromZero,
    /// A number of bytes, which may be written with a unit.
    Bytes,
    /// Any text.
    Text,
    /// A list of texts.
    Texts,
    /// A list of whole numbers.
    Counts,
    /// A list of pairs of texts.
    Pairs,
    /// One of the choices of this name.
    Choice(&'static str),
    /// Numbers by name.
    Numbers,
    /// Numbers by class, or the word `balanced`.
    ByClass,
    /// An object with the settings of the group of this name.
    Group(&'static str),
    /// A column, by name or number.
    Column,
    /// One character.
    Character,
    /// A width and a height.
    Size,
    /// A whole number, or a range of them.
    Run,
    /// Something with a form of its own, which its meaning describes.
    Other,
}

impl Setting {
    const fn new(takes: Takes) -> Self {
        Self {
            name: "",
            takes,
            choices: &[],
            check: None,
            flag: None,
            short: None,
            aliases: &[],
            value: "",
            means: None,
            python: None,
            spark: None,
            unset: "",
            decided: Decided::Learning,
            tasks: Tasks::Tables,
            is_common: false,
            is_shared: false,
            idle_online: "",
            text: "",
        }
    }

    /// Yes or no.
    pub const fn switch() -> Self {
        Self::new(Takes::Switch)
    }

    /// Yes or no, given by one of these words, because its default is not off.
    pub const fn yes_or_no() -> Self {
        Self::new(Takes::Switch).value("YES|NO")
    }

    /// A whole number from `least` on.
    pub const fn at_least(least: u64) -> Self {
        Self::new(Takes::AtLeast(least)).value("N")
    }

    /// A number strictly between two others.
    pub const fn between(low: f64, high: f64) -> Self {
        Self::new(Takes::Between(low, high)).value("SHARE")
    }

    /// A number above zero.
    pub const fn positive() -> Self {
        Self::new(Takes::Positive).value("NUMBER")
    }

    /// Zero, or a number above it.
    pub const fn from_zero() -> Self {
        Self::new(Takes::FromZero).value("NUMBER")
    }

    /// A number of bytes.
    pub const fn bytes() -> Self {
        Self::new(Takes::Bytes).value("SIZE")
    }

    /// Any text.
    pub const fn text() -> Self {
        Self::new(Takes::Text).value("TEXT")
    }

    /// A list of texts.
    pub const fn texts() -> Self {
        Self::new(Takes::Texts).value("TEXT")
    }

    /// Columns, by name or number.
    pub const fn columns() -> Self {
        Self::new(Takes::Texts).value("COLUMN")
    }

    /// A list of whole numbers.
    pub const fn counts() -> Self {
        Self::new(Takes::Counts).value("N,...")
    }

    /// A list of pairs of texts.
    pub const fn pairs() -> Self {
        Self::new(Takes::Pairs).value("A,B")
    }

    /// A choice by name.
    pub const fn choice<T: Choices>() -> Self {
        let chosen = Self::new(Takes::Choice(T::WHAT)).checked::<T>().value("NAME");
        Self { choices: T::ALL, ..chosen }
    }

    /// One of the entries of a table: algorithms, kernels, maps, formats.
    pub const fn listed(table: &'static str) -> Self {
        Self::new(Takes::Choice(table)).value("NAME")
    }

    /// Numbers by name.
    pub const fn numbers() -> Self {
        Self::new(Takes::Numbers).value("NAME=VALUE")
    }

    /// Numbers by class.
    pub const fn by_class(value: &'static str) -> Self {
        Self::new(Takes::ByClass).value(value)
    }

    /// The settings of a group.
    pub const fn group(name: &'static str) -> Self {
        Self::new(Takes::Group(name))
    }

    /// A column, by name or number.
    pub const fn column() -> Self {
        Self::new(Takes::Column).value("COLUMN")
    }

    /// One character.
    pub const fn character() -> Self {
        Self::new(Takes::Character).value("CHAR")
    }

    /// A width and a height.
    pub const fn size() -> Self {
        Self::new(Takes::Size).value("WxH")
    }

    /// A whole number, or a range of them.
    pub const fn run() -> Self {
        Self::new(Takes::Run).value("N|A-B")
    }

    /// Something with a form of its own.
    pub const fn other() -> Self {
        Self::new(Takes::Other)
    }

    /// Gives it a long flag.
    #[must_use]
    pub const fn flag(self, flag: &'static str) -> Self {
        Self { flag: Some(flag), ..self }
    }

    /// Gives it a long flag that takes no value, and stands for this one.
    #[must_use]
    pub const fn flag_for(self, flag: &'static str, means: &'static str) -> Self {
        Self { flag: Some(flag), means: Some(means), ..self }
    }

    /// Gives its flag a short form.
    #[must_use]
    pub const fn short(self, short: char) -> Self {
        Self { short: Some(short), ..self }
    }

    /// Gives its flag other names.
    #[must_use]
    pub const fn aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    /// Says what help calls its value.
    #[must_use]
    pub const fn value(self, value: &'static str) -> Self {
        Self { value, ..self }
    }

    /// Has words checked by what reads them.
    #[must_use]
    pub const fn checked<T: std::str::FromStr<Err = NameError>>(self) -> Self {
        Self { check: Some(|name| T::from_str(name).map(drop)), ..self }
    }

    /// Says what it is called in Python.
    #[must_use]
    pub const fn python(self, name: &'static str) -> Self {
        Self { python: Some(name), ..self }
    }

    /// Says what it is called on Spark.
    #[must_use]
    pub const fn spark(self, name: &'static str) -> Self {
        Self { spark: Some(name), ..self }
    }

    /// Says what holds while it is not set.
    #[must_use]
    pub const fn unset(self, unset: &'static str) -> Self {
        Self { unset, ..self }
    }

    /// Leaves it to the model, once there is one.
    #[must_use]
    pub const fn kept_by_model(self) -> Self {
        Self { decided: Decided::Model, ..self }
    }

    /// Says that it is about classes, and means nothing where numbers are predicted.
    #[must_use]
    pub const fn of_classes(self) -> Self {
        Self { tasks: Tasks::Classes, ..self }
    }

    /// Says that it is about sentences.
    #[must_use]
    pub const fn of_sentences(self) -> Self {
        Self { tasks: Tasks::Sentences, ..self }
    }

    /// Says that it is about sentences as well as about rows of a table.
    #[must_use]
    pub const fn of_all(self) -> Self {
        Self { tasks: Tasks::All, ..self }
    }

    /// Shows it in short help.
    #[must_use]
    pub const fn common(self) -> Self {
        Self { is_common: true, ..self }
    }

    /// Shares it among the candidates of a race, which goes on when it is set.
    #[must_use]
    pub const fn shared(self) -> Self {
        Self { is_shared: true, ..self }
    }

    /// Says that it should be left out where rows are learned online, and why.
    #[must_use]
    pub const fn idle_online(self, expected: &'static str) -> Self {
        Self { idle_online: expected, ..self }
    }

    /// What [`settings!`](crate::settings!) adds: the field's name and documentation, and who decides the group.
    #[doc(hidden)]
    #[must_use]
    pub const fn declared(self, name: &'static str, text: &'static str, decided: Decided) -> Self {
        let decided = match self.decided {
            Decided::Model => Decided::Model,
            _ => decided,
        };
        Self { name, text: text.trim_ascii(), decided, ..self }
    }

    /// What it means, in one sentence without its full stop.
    pub fn meaning(&self) -> &'static str {
        self.sentences().0
    }

    /// What else there is to know; empty if that is all.
    pub fn details(&self) -> &'static str {
        self.sentences().1
    }

    fn sentences(&self) -> (&'static str, &'static str) {
        let (meaning, details) = self.text.split_once(". ").unwrap_or((self.text, ""));
        (meaning.trim_end_matches('.'), details.trim_end_matches('.'))
    }

    /// Its name in Python.
    pub fn python_name(&self) -> String {
        self.python.map_or_else(|| self.name.replace('-', "_"), str::to_owned)
    }

    /// Its name on Spark.
    pub fn spark_name(&self) -> String {
        let mut after_dash = false;
        let mut letter = |letter: char| {
            let upper = std::mem::replace(&mut after_dash, letter == '-');
            (letter != '-').then_some(if upper { letter.to_ascii_uppercase() } else { letter })
        };
        self.spark.map_or_else(|| self.name.chars().filter_map(&mut letter).collect(), str::to_owned)
    }
}

/// A struct whose fields are settings.
pub trait Declared {
    /// Its settings, in their order.
    const SETTINGS: &'static [Setting];

    /// Takes the setting of this name from another.
    fn take(&mut self, name: &str, from: &Self);
}

/// The name of a field with dashes in place of underscores.
#[doc(hidden)]
pub const fn kebab<const N: usize>(field: &str) -> [u8; N] {
    let bytes = field.as_bytes();
    let mut name = [0; N];
    let mut at = 0;
    while at < N {
        name[at] = if bytes[at] == b'_' { b'-' } else { bytes[at] };
        at += 1;
    }
    name
}

/// Declares a struct of settings, each once: documentation, name, type, default, and what faces need to know of it.
/// The documentation's first sentence is the setting's meaning everywhere: in help, in the catalogue and in Python.
///
/// ```
/// use rosenblatt_core::{Declared as _, Setting, settings};
///
/// settings! {
///     /// How long to train.
///     #[derive(Debug)]
///     pub struct Patience: Learning {
///         /// Maximum number of epochs. Training may stop earlier.
///         most_epochs: u64 = 20 => Setting::at_least(1).flag("epochs").python("max_iter");
///     }
/// }
///
/// assert_eq!(Patience::default().most_epochs, 20);
/// let setting = Patience::SETTINGS[0];
/// assert_eq!((setting.name, setting.meaning()), ("most-epochs", "Maximum number of epochs"));
/// assert_eq!((setting.python_name().as_str(), setting.spark_name().as_str()), ("max_iter", "mostEpochs"));
/// ```
///
/// With `built by Builder;` in front, `Builder<K>`, a struct with a field `options`, gets a method for every setting.
/// Fields that are no settings follow the struct, `with { ... }`.
#[macro_export]
macro_rules! settings {
    (built by $builder:ident; $($struct:tt)+) => {
        $crate::settings! { $($struct)+ }
        $crate::settings! { @setters $builder $($struct)+ }
    };
    (@setters $builder:ident
        $(#[$meta:meta])*
        $visibility:vis struct $name:ident: $decided:ident {
            $(
                $(#[doc = $doc:literal])+
                $(#[serde $serde:tt])*
                $field:ident: $outer:ident $(<$($inner:ty),+>)? = $default:expr => $setting:expr;
            )+
        }
    ) => {
        $($crate::settings! { @setter $builder $field [$($doc)+] $outer $(<$($inner),+>)? })+
    };
    (@setter $builder:ident $field:ident [$($doc:literal)+] Option<$inner:ty>) => {
        impl<K> $builder<K> {
            $(#[doc = $doc])+
            #[must_use]
            pub fn $field(mut self, $field: $inner) -> Self {
                self.options.$field = Some($field);
                self
            }
        }
    };
    (@setter $builder:ident $field:ident [$($doc:literal)+] $type:ty) => {
        impl<K> $builder<K> {
            $(#[doc = $doc])+
            #[must_use]
            pub fn $field(mut self, $field: $type) -> Self {
                self.options.$field = $field;
                self
            }
        }
    };
    (
        $(#[$meta:meta])*
        $visibility:vis struct $name:ident: $decided:ident {
            $(
                $(#[doc = $doc:literal])+
                $(#[serde $serde:tt])*
                $field:ident: $type:ty = $default:expr => $setting:expr;
            )+
        }
        $(with {
            $($(#[$other_meta:meta])+ $other:ident: $other_type:ty,)+
        })?
    ) => {
        $(#[$meta])*
        $visibility struct $name {
            $($(#[doc = $doc])+ $(#[serde $serde])* pub $field: $type,)+
            $($($(#[$other_meta])+ pub $other: $other_type,)+)?
        }

        impl ::std::default::Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)+ $($($other: ::std::default::Default::default(),)+)? }
            }
        }

        impl $crate::Declared for $name {
            const SETTINGS: &'static [$crate::Setting] = &[$({
                const NAME: [u8; stringify!($field).len()] = $crate::kebab(stringify!($field));
                let name = match ::std::str::from_utf8(&NAME) {
                    Ok(name) => name,
                    Err(_) => stringify!($field),
                };
                $setting.declared(name, concat!($($doc),+), $crate::Decided::$decided)
            }),+];

            fn take(&mut self, name: &str, from: &Self) {
                match name.replace('-', "_").as_str() {
                    $(stringify!($field) => self.$field = from.$field.clone(),)+
                    _ => {}
                }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_sentences_come_from_the_field_and_its_documentation() {
        let setting =
            Setting::text().declared("min-rows", " Fewest rows. Below it, none. Never.", Decided::Reading);
        assert_eq!((setting.meaning(), setting.details()), ("Fewest rows", "Below it, none. Never"));
        assert_eq!((setting.python_name().as_str(), setting.spark_name().as_str()), ("min_rows", "minRows"));
        let kept = Setting::text().kept_by_model().declared("x", "One.", Decided::Reading);
        assert_eq!((kept.decided, kept.details(), kept.meaning()), (Decided::Model, "", "One"));
    }
}
