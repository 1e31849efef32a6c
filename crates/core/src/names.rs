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

/// A name nobody knows, and the names that would have been understood.
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

/// Implements the names of a plain enumeration.
macro_rules! named {
    ($type:ty, $what:literal, $known:literal,
        $($variant:pat => $name:literal $(or $alias:literal)? = $value:expr),+ $(,)?) => {
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $($variant => $name),+ })
            }
        }

        impl FromStr for $type {
            type Err = NameError;

            fn from_str(name: &str) -> Result<Self, NameError> {
                match name {
                    $($name $(| $alias)? => Ok($value),)+
                    _ => Err(unknown($what, $known, name)),
                }
            }
        }
    };
}

named!(Zero, "zero", "plus, minus, random or wrong",
    Self::Plus => "plus" = Self::Plus,
    Self::Minus => "minus" = Self::Minus,
    Self::Random => "random" = Self::Random,
    Self::Wrong => "wrong" = Self::Wrong,
);

named!(Mistake, "mistake", "le0, lt0 or pred",
    Self::Le0 => "le0" = Self::Le0,
    Self::Lt0 => "lt0" = Self::Lt0,
    Self::Pred => "pred" = Self::Pred,
);

named!(Share, "share", "max, uniform or proportional",
    Self::Max => "max" = Self::Max,
    Self::Uniform => "uniform" = Self::Uniform,
    Self::Proportional => "proportional" = Self::Proportional,
);

const READOUTS: &str = "last, averaged, averaged-pre, averaged-both, averaged-running, averaged-from(EPOCH), voted, \
                       pocket or random";

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
            "averaged" => Self::Averaged(Average::Post),
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

    fn reads_back<T: FromStr<Err = NameError> + fmt::Display + fmt::Debug>(names: &[&str]) {
        for name in names {
            assert_eq!(name.parse::<T>().unwrap().to_string(), *name);
        }
        let error = "nonsense".parse::<T>().unwrap_err().to_string();
        assert!(error.contains("nonsense") && error.contains("should be"), "{error}");
    }

    #[test]
    fn every_name_reads_back_as_itself() {
        reads_back::<Zero>(&["plus", "minus", "random", "wrong"]);
        reads_back::<Mistake>(&["le0", "lt0", "pred"]);
        reads_back::<Bias>(&["none", "learned", "augmented(1)", "augmented(0.5)"]);
        reads_back::<Share>(&["max", "uniform", "proportional"]);
        reads_back::<Order>(&[
            "given",
            "shuffle-once",
            "shuffle-epoch",
            "draws",
            "worst",
            "permutation(2,0,1)",
        ]);
        reads_back::<Schedule>(&["1", "0.5/k", "1/sqrt(k)", "2/k^0.25"]);
        reads_back::<Readout>(&["last", "averaged", "averaged-pre", "averaged-both", "averaged-running"]);
        reads_back::<Readout>(&["averaged-from(3)", "voted", "pocket", "random"]);
        assert!("averaged-from(0)".parse::<Readout>().is_err());
    }
}
