//! Every convention by its name, both ways.
//!
//! One spelling for each choice, used by the command line, by model files and in errors alike. What is
//! printed can be read back.

use crate::convention::{Bias, Mistake, Zero};
use crate::decision::Share;
use crate::memory::{Average, Readout};
use crate::order::Order;
use crate::schedule::Schedule;
use std::fmt;
use std::str::FromStr;

/// An unknown name, and the names that are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameError {
    /// What was to be named.
    pub what: &'static str,
    /// The name that was given.
    pub given: String,
    /// The names that would have been understood.
    pub known: &'static str,
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` should be {}, but is `{}`", self.what, self.known, self.given)
    }
}

impl std::error::Error for NameError {}

fn unknown(what: &'static str, known: &'static str, given: &str) -> NameError {
    NameError { what, given: given.to_owned(), known }
}

/// A choice that has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Named {
    /// What it is called; in capitals what the user fills in.
    pub name: &'static str,
    /// What else it is called.
    pub aliases: &'static [&'static str],
    /// What it means.
    pub meaning: &'static str,
    /// Something that can be typed: the name itself unless there is something to fill in.
    pub example: &'static str,
}

/// Choices that are made by name: what is printed can be read back, and all of them can be listed.
pub trait Choices: FromStr<Err = NameError> + fmt::Display {
    /// What is chosen.
    const WHAT: &'static str;
    /// All there are.
    const ALL: &'static [Named];
}

/// Implements [`Choices`] for a plain enumeration: the one place where its names are spelled.
#[macro_export]
macro_rules! named {
    ($type:ty, $what:literal,
        $first:literal $(or $first_alias:literal)* = $first_value:expr, $first_meaning:literal;
        $($name:literal $(or $alias:literal)* = $value:expr, $meaning:literal;)*) => {
        impl ::std::fmt::Display for $type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                let known = [($first_value, $first), $(($value, $name)),*];
                f.write_str(known.iter().find(|(value, _)| value == self).map_or("", |(_, name)| name))
            }
        }

        impl ::std::str::FromStr for $type {
            type Err = $crate::NameError;

            fn from_str(name: &str) -> Result<Self, $crate::NameError> {
                match name {
                    $first $(| $first_alias)* => Ok($first_value),
                    $($name $(| $alias)* => Ok($value),)*
                    _ => Err($crate::NameError {
                        what: $what,
                        given: name.to_owned(),
                        known: concat!("one of ", $first $(, ", ", $name)*),
                    }),
                }
            }
        }

        impl $crate::Choices for $type {
            const WHAT: &'static str = $what;
            const ALL: &'static [$crate::Named] = &[
                $crate::Named {
                    name: $first, aliases: &[$($first_alias),*], meaning: $first_meaning, example: $first,
                },
                $($crate::Named { name: $name, aliases: &[$($alias),*], meaning: $meaning, example: $name },)*
            ];
        }
    };
}

/// A choice whose name is all there is to say.
const fn plain(name: &'static str, meaning: &'static str) -> Named {
    Named { name, aliases: &[], meaning, example: name }
}

/// A choice with something to fill in.
const fn filled(name: &'static str, example: &'static str, meaning: &'static str) -> Named {
    Named { name, aliases: &[], meaning, example }
}

named!(Zero, "zero",
    "plus" = Self::Plus, "the second of two classes; of several, the last with the highest score";
    "minus" = Self::Minus, "the first of two classes; of several, the first with the highest score";
    "random" = Self::Random, "one of those that are level, by lot";
    "wrong" = Self::Wrong, "none: it counts as a mistake";
);

named!(Mistake, "mistake",
    "le0" = Self::Le0, "a margin of zero or less";
    "lt0" = Self::Lt0, "a margin below zero";
    "pred" = Self::Pred, "a prediction that is not the class";
);

named!(Share, "share",
    "max" = Self::Max, "the strongest rival takes the whole step down";
    "uniform" = Self::Uniform, "all rivals that are ahead share it evenly";
    "proportional" = Self::Proportional, "rivals share it by how far they are ahead";
);

const READOUTS: &str = "one of last, averaged, averaged-pre, averaged-both, averaged-running, averaged-from(EPOCH), \
                        voted, pocket, random";

impl Choices for Readout {
    const WHAT: &'static str = "readout";
    const ALL: &'static [Named] = &[
        plain("last", "the hypothesis as the run left it"),
        Named { aliases: &["average"], ..plain("averaged", "the mean over all rounds, each after its step") },
        plain("averaged-pre", "the mean over all rounds, each before its step"),
        plain("averaged-both", "the mean over all hypotheses, the first and the last included"),
        plain(
            "averaged-running",
            "the mean over all rounds by the recurrence of scikit-learn, its rounding included",
        ),
        filled("averaged-from(EPOCH)", "averaged-from(3)", "the mean over all rounds from that epoch on"),
        Named { aliases: &["vote"], ..plain("voted", "all survivors vote, each as often as it survived") },
        plain(
            "pocket",
            "the weights with the longest run of right answers that also make the fewest training errors",
        ),
        plain("random", "a survivor by lot, each as likely as it survived long"),
    ];
}

impl fmt::Display for Readout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Last => "last",
            Self::Averaged(Average::Post) => "averaged",
            Self::Averaged(Average::Pre) => "averaged-pre",
            Self::Averaged(Average::Both) => "averaged-both",
            Self::Averaged(Average::Running) => "averaged-running",
            Self::Averaged(Average::From(epoch)) => return write!(f, "averaged-from({epoch})"),
            Self::Voted => "voted",
            Self::Pocket => "pocket",
            Self::Random => "random",
        })
    }
}

impl FromStr for Readout {
    type Err = NameError;

    fn from_str(name: &str) -> Result<Self, NameError> {
        let from = |epoch: &str| epoch.parse().ok().filter(|&epoch: &u64| epoch > 0);
        Ok(match name {
            "last" => Self::Last,
            "averaged" | "average" => Self::Averaged(Average::Post),
            "averaged-pre" => Self::Averaged(Average::Pre),
            "averaged-both" => Self::Averaged(Average::Both),
            "averaged-running" => Self::Averaged(Average::Running),
            "voted" | "vote" => Self::Voted,
            "pocket" => Self::Pocket,
            "random" => Self::Random,
            _ => {
                let epoch = argument(name, "averaged-from").and_then(from);
                Self::Averaged(Average::From(epoch.ok_or_else(|| unknown("readout", READOUTS, name))?))
            }
        })
    }
}

impl Choices for Bias {
    const WHAT: &'static str = "bias";
    const ALL: &'static [Named] = &[
        plain("none", "the hyperplane goes through the origin"),
        plain("learned", "a bias that moves by every step"),
        filled("augmented(B)", "augmented(2)", "a feature that is always B, whose weight is learned"),
    ];
}

impl Choices for Order {
    const WHAT: &'static str = "order";
    const ALL: &'static [Named] = &[
        plain("given", "as the rows came"),
        plain("shuffle-once", "shuffled before the first epoch"),
        plain("shuffle-epoch", "shuffled before every epoch"),
        plain("draws", "drawn with replacement"),
        plain("worst", "the row of smallest margin, chosen anew in each round"),
        filled("permutation(ROWS)", "permutation(1,0)", "in the order that is listed, from 0"),
    ];
}

impl Choices for Schedule {
    const WHAT: &'static str = "rate";
    const ALL: &'static [Named] = &[
        filled("R", "0.5", "always R"),
        filled("R/k", "0.5/k", "R divided by k, the number of the update"),
        filled("R/sqrt(k)", "1/sqrt(k)", "R divided by the square root of k"),
        filled("R/k^P", "1/k^0.25", "R divided by k to the power P"),
    ];
}

impl fmt::Display for Bias {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Learned => f.write_str("learned"),
            Self::Augmented(constant) => write!(f, "augmented({constant})"),
        }
    }
}

impl FromStr for Bias {
    type Err = NameError;

    fn from_str(name: &str) -> Result<Self, NameError> {
        match name {
            "none" => Ok(Self::None),
            "learned" => Ok(Self::Learned),
            "augmented" => Ok(Self::Augmented(1.0)),
            _ => argument(name, "augmented")
                .and_then(|constant| constant.parse().ok())
                .map(Self::Augmented)
                .ok_or_else(|| unknown("bias", "none, learned or augmented(B)", name)),
        }
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Given => f.write_str("given"),
            Self::ShuffleOnce => f.write_str("shuffle-once"),
            Self::ShuffleEpoch => f.write_str("shuffle-epoch"),
            Self::Draws => f.write_str("draws"),
            Self::Worst => f.write_str("worst"),
            Self::Permutation(rows) => {
                let rows: Vec<String> = rows.iter().map(u32::to_string).collect();
                write!(f, "permutation({})", rows.join(","))
            }
        }
    }
}

impl FromStr for Order {
    type Err = NameError;

    fn from_str(name: &str) -> Result<Self, NameError> {
        let permutation = |rows: &str| rows.split(',').map(|row| row.trim().parse().ok()).collect();
        match name {
            "given" => Ok(Self::Given),
            "shuffle-once" => Ok(Self::ShuffleOnce),
            "shuffle-epoch" => Ok(Self::ShuffleEpoch),
            "draws" => Ok(Self::Draws),
            "worst" => Ok(Self::Worst),
            _ => {
                argument(name, "permutation").and_then(permutation).map(Self::Permutation).ok_or_else(|| {
                    unknown(
                        "order",
                        "given, shuffle-once, shuffle-epoch, draws, worst or permutation(3,1,2,…)",
                        name,
                    )
                })
            }
        }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl FromStr for Schedule {
    type Err = NameError;

    fn from_str(name: &str) -> Result<Self, NameError> {
        let error = || unknown("rate", "a number r, r/k, r/sqrt(k) or r/k^p", name);
        let (rate, fall) = name.split_once('/').map_or((name, None), |(rate, fall)| (rate, Some(fall)));
        let rate: f64 = rate.trim().parse().map_err(|_| error())?;
        match fall.map(str::trim) {
            None => Ok(Self::Constant(rate)),
            Some("k") => Ok(Self::Inverse(rate)),
            Some("sqrt(k)") => Ok(Self::InverseSqrt(rate)),
            Some(power) => {
                let power =
                    power.strip_prefix("k^").and_then(|power| power.parse().ok()).ok_or_else(error)?;
                Ok(Self::InverseScaling { rate, power })
            }
        }
    }
}

/// What stands in the brackets of `name(…)`.
fn argument<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every name reads back as itself, aliases are understood, and nothing else is.
    fn reads_back<T: Choices + fmt::Debug>() {
        for named in T::ALL {
            let read: T = named.example.parse().unwrap();
            assert_eq!(read.to_string(), named.example);
            assert!(!named.meaning.is_empty());
            for alias in named.aliases {
                assert_eq!(alias.parse::<T>().unwrap().to_string(), named.name);
            }
        }
        let error = "nonsense".parse::<T>().unwrap_err().to_string();
        assert!(error.contains("nonsense") && error.contains("should be"), "{error}");
    }

    #[test]
    fn every_name_reads_back_as_itself() {
        reads_back::<Zero>();
        reads_back::<Mistake>();
        reads_back::<Bias>();
        reads_back::<Share>();
        reads_back::<Order>();
        reads_back::<Schedule>();
        reads_back::<Readout>();
        assert_eq!("augmented".parse::<Bias>().unwrap(), Bias::Augmented(1.0));
        assert!("averaged-from(0)".parse::<Readout>().is_err());
    }
}
