//! What can be chosen about a picture: every kind lists its own settings, and a face passes them on by name.

use crate::Figure;
use crate::error::FigureError;
use rosenblatt::learning::{Choices as _, Loss, Readout};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Something that can be chosen about a kind of picture.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Setting {
    /// What it is called.
    pub name: &'static str,
    /// What it does.
    pub meaning: &'static str,
    /// Its default; empty if that depends.
    pub default: &'static str,
    /// What it is where it is named without a value; empty if it needs one.
    pub bare: &'static str,
    /// Which values make sense.
    pub takes: Takes,
}

impl Setting {
    /// One that is off unless it is named.
    pub(crate) const fn switch(name: &'static str, meaning: &'static str) -> Self {
        Self { name, meaning, default: "false", bare: "true", takes: Takes::Switch }
    }

    /// One that has a value, with this default.
    pub(crate) const fn new(
        name: &'static str,
        meaning: &'static str,
        default: &'static str,
        takes: Takes,
    ) -> Self {
        Self { name, meaning, default, bare: "", takes }
    }
}

/// Which values make sense for a setting.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Takes {
    /// On if it is there.
    Switch,
    /// A whole number, this or more.
    AtLeast(u64),
    /// A share: at least 0 and below 1.
    Share,
    /// Pixels each way: `28x28`.
    Size,
    /// The names or numbers of two columns.
    TwoColumns,
    /// The name of a class.
    Class,
    /// A loss by its name.
    Loss,
    /// Read-outs by their names, one or several.
    Readouts,
}

impl fmt::Display for Takes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Switch => f.write_str("true or false"),
            Self::AtLeast(least) => write!(f, "a whole number, {least} or more"),
            Self::Share => f.write_str("at least 0 and below 1"),
            Self::Size => f.write_str("WIDTHxHEIGHT, for instance 64x64"),
            Self::TwoColumns => f.write_str("two columns, for instance 1,2"),
            Self::Class => f.write_str("the name of a class"),
            Self::Loss => {
                let names: Vec<&str> = Loss::ALL.iter().map(|named| named.name).collect();
                write!(f, "one of {}", names.join(", "))
            }
            Self::Readouts => f.write_str("names of read-outs, for instance last,averaged"),
        }
    }
}

impl Takes {
    /// Whether a value makes sense, as far as is clear without the data.
    pub fn holds(self, text: &str) -> bool {
        match self {
            Self::Switch => text.parse::<bool>().is_ok(),
            Self::AtLeast(least) => text.parse().is_ok_and(|number: u64| number >= least),
            Self::Share => text.parse().is_ok_and(|share: f64| (0.0..1.0).contains(&share)),
            Self::Size => size(text).is_some(),
            Self::TwoColumns => text.split(',').count() == 2,
            Self::Class => true,
            Self::Loss => text.parse::<Loss>().is_ok(),
            Self::Readouts => text.split(',').all(|name| name.trim().parse::<Readout>().is_ok()),
        }
    }
}

/// The settings of a picture, by name; what is not set has its default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings(BTreeMap<String, String>);

impl Settings {
    /// The same with one more.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.0.insert(name.to_owned(), value.to_owned());
        self
    }

    /// What was set, if anything was.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Whether the kind has these settings, and they make sense.
    pub fn check(&self, figure: &Figure) -> Result<(), FigureError> {
        for (name, found) in self.0.iter().filter(|(name, _)| *name != "title") {
            let Some(setting) = figure.settings.iter().find(|setting| setting.name == name) else {
                let known = figure.settings.iter().map(|setting| setting.name).collect();
                return Err(FigureError::NoSuchSetting { figure: figure.name, name: name.clone(), known });
            };
            if !setting.takes.holds(found) {
                let (name, found) = (name.clone(), found.clone());
                return Err(FigureError::BadSetting { name, takes: setting.takes, found });
            }
        }
        Ok(())
    }

    /// The title, or the kind's own.
    pub(crate) fn title(&self, own: impl FnOnce() -> String) -> String {
        self.get("title").map_or_else(own, str::to_owned)
    }

    pub(crate) fn switch(&self, setting: &Setting) -> Result<bool, FigureError> {
        Ok(self.number::<bool>(setting)?.unwrap_or(false))
    }

    /// What was set, or the default, if it has one.
    pub(crate) fn number<T: FromStr>(&self, setting: &Setting) -> Result<Option<T>, FigureError> {
        self.parsed(setting, |text| text.parse().ok())
    }

    pub(crate) fn parsed<T>(
        &self,
        setting: &Setting,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, FigureError> {
        let default = (!setting.default.is_empty()).then_some(setting.default);
        let Some(text) = self.get(setting.name).or(default) else { return Ok(None) };
        let wrong = || FigureError::BadSetting {
            name: setting.name.to_owned(),
            takes: setting.takes,
            found: text.to_owned(),
        };
        parse(text).map(Some).ok_or_else(wrong)
    }
}

/// `28x28` as a width and a height.
pub(crate) fn size(text: &str) -> Option<(usize, usize)> {
    let (width, height) = text.split_once('x')?;
    let size = (width.parse().ok()?, height.parse().ok()?);
    (size.0 > 0 && size.1 > 0).then_some(size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FIGURES;

    #[test]
    fn every_default_makes_sense_and_nonsense_is_refused() {
        for figure in FIGURES {
            for setting in figure.settings {
                for value in [setting.default, setting.bare].into_iter().filter(|value| !value.is_empty()) {
                    assert!(setting.takes.holds(value), "{} {} {value}", figure.name, setting.name);
                }
                let nonsense = Settings::default().with(setting.name, "1,2,3 no");
                assert!(setting.takes == Takes::Class || nonsense.check(figure).is_err(), "{}", setting.name);
            }
            let other = Settings::default().with("sound", "loud").check(figure);
            assert!(matches!(other, Err(FigureError::NoSuchSetting { .. })));
        }
    }
}
