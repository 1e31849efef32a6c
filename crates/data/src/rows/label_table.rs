//! Labels as they stand in a file, and the classes they mean.
//!
//! [`LabelTable`] numbers the labels of one block in order of appearance. [`Numbering`] puts the true
//! class numbers in their place: those of [`Labels`], sorted. A number is a label by its exact value, not
//! by its spelling: `+1`, `1` and `1.0` are one class, called `1`, which [`Numbering::notes`] tells. No
//! value is rounded: 2^53 and 2^53 + 1 are two classes. A number with zeros in front is a name: `007` is
//! not `7`.
//!
//! **How a stream and a data set in memory come to the same bits.** Learners break ties by class number
//! and know from the start how many classes there are, so both must learn with the same numbering, fixed
//! before the first row. In memory all labels are known. A stream takes them from the options if they
//! are given there, else from its first block, sorted. Almost always these are all. If a class turns up
//! later, the numbering is not stretched in silence: that is an error of kind
//! [`ErrorKind::LateClass`], upon which a learner asks [`crate::survey`] for all classes and begins again
//! (or, where the source cannot be read twice, tells the user to name them). With
//! [`Growth::Append`] late classes are numbered after the others instead.

use crate::Block;
use crate::error::{DataError, ErrorKind, Position, quote};
use crate::rows::labels::Labels;
use crate::scan::number;
use std::borrow::Cow;
use std::collections::HashMap;

/// How many spellings of classes are reported.
const MAX_MERGED: usize = 8;

/// Up to this many labels are found by looking at each; more by hashing.
const FEW: usize = 8;

/// Labels of one block, numbered in order of appearance.
#[derive(Debug, Clone, Default)]
pub struct LabelTable {
    /// The spellings that were met, and the label each means.
    spellings: Vec<(Box<[u8]>, u32)>,
    by_spelling: HashMap<Box<[u8]>, u32>,
    by_name: HashMap<String, u32>,
    names: Vec<String>,
    /// The spelling that was met last: neighbours often share a label.
    last: usize,
}

/// What is wrong with a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BadLabel {
    Missing,
    NotFinite,
    NotUtf8,
}

impl BadLabel {
    /// The end of the sentence "the label should be …, but …".
    pub(crate) fn message(self, token: &[u8]) -> String {
        match self {
            Self::Missing => "the label is missing, expected a class name or number".to_owned(),
            Self::NotFinite => {
                let found = crate::error::quote(token);
                format!("the label should be a class name or a finite number, but is {found}")
            }
            Self::NotUtf8 => {
                format!("the label should be valid UTF-8, but is {}", crate::error::quote(token))
            }
        }
    }
}

impl LabelTable {
    /// Forgets all labels.
    pub fn clear(&mut self) {
        self.spellings.clear();
        self.by_spelling.clear();
        self.by_name.clear();
        self.names.clear();
        self.last = 0;
    }

    /// The labels, by number.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The number of the label spelled `token`, if that spelling was met before.
    #[inline]
    pub(crate) fn known(&mut self, token: &[u8]) -> Option<u32> {
        if let Some((spelling, number)) = self.spellings.get(self.last)
            && **spelling == *token
        {
            return Some(*number);
        }
        let place = if self.spellings.len() <= FEW {
            self.spellings.iter().position(|(spelling, _)| **spelling == *token)?
        } else {
            *self.by_spelling.get(token)? as usize
        };
        self.last = place;
        Some(self.spellings[place].1)
    }

    /// The number of the label spelled `token`, a new one if it is new.
    pub(crate) fn number(&mut self, token: &[u8]) -> Result<u32, BadLabel> {
        if let Some(number) = self.known(token) {
            return Ok(number);
        }
        let name = canonical(token)?;
        let number = self.name_number(&name);
        self.learn_spelling(token, number);
        Ok(number)
    }

    /// The number of the category spelled `token`, a new one if it is new; `None` if it is not UTF-8. Spaces around it do
    /// not make it another one. Whether spellings of one number are one category shows when all are known.
    pub(crate) fn category(&mut self, token: &[u8]) -> Option<u32> {
        if let Some(number) = self.known(token) {
            return Some(number);
        }
        self.named(token, token.trim_ascii())
    }

    /// The same for a cell that is passed on as it is written.
    pub(crate) fn written(&mut self, token: &[u8]) -> Option<u32> {
        self.known(token).or_else(|| self.named(token, token))
    }

    fn named(&mut self, token: &[u8], name: &[u8]) -> Option<u32> {
        let number = self.name_number(std::str::from_utf8(name).ok()?);
        self.learn_spelling(token, number);
        Some(number)
    }

    /// The spellings that stand with spaces around them or not, each with its number.
    pub(crate) fn spellings(&self) -> impl Iterator<Item = (&[u8], u32)> {
        self.spellings.iter().map(|(spelling, number)| (&**spelling, *number))
    }

    /// Keeps in mind which label a spelling means.
    fn learn_spelling(&mut self, token: &[u8], number: u32) {
        self.last = self.spellings.len();
        self.by_spelling.insert(token.into(), self.spellings.len() as u32);
        self.spellings.push((token.into(), number));
    }

    /// The number of a label given by its own name, as formats that store typed labels do.
    pub(crate) fn name_number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.by_name.get(name) {
            return number;
        }
        let number = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.by_name.insert(name.to_owned(), number);
        number
    }
}

/// The class that a label spelled `token` means.
pub(crate) fn canonical(token: &[u8]) -> Result<Cow<'_, str>, BadLabel> {
    let token = token.trim_ascii();
    if token.is_empty() {
        return Err(BadLabel::Missing);
    }
    match number::parse(token) {
        // A token that is a number is ASCII.
        Ok(_) => std::str::from_utf8(token).map(number_name).map_err(|_| BadLabel::NotUtf8),
        Err(number::BadNumber::NotFinite | number::BadNumber::TooLarge) => Err(BadLabel::NotFinite),
        Err(number::BadNumber::NotANumber) => {
            std::str::from_utf8(token).map(Cow::Borrowed).map_err(|_| BadLabel::NotUtf8)
        }
    }
}

/// The one name of all spellings of a category: of a number its digits, as labels have them.
pub(crate) fn canonical_category(name: &str) -> Cow<'_, str> {
    canonical(name.as_bytes()).unwrap_or(Cow::Borrowed(name))
}

/// The name by which a category is hashed, which must not hang on what else there is: `1.1` and `1.10` may be two versions,
/// but whole numbers are the same with a point as without.
pub(crate) fn hashed_category(name: &str) -> &str {
    match name.split_once('.') {
        Some((whole, part)) if !part.is_empty() && part.bytes().all(|digit| digit == b'0') => {
            if number::parse(whole.as_bytes()).is_ok() {
                whole
            } else {
                name
            }
        }
        _ => name,
    }
}

/// Up to this many zeros are written to say a number without an exponent.
const MAX_ZEROS: i64 = 40;

/// The one name of all spellings of the number that `token` is: its digits, exactly, without a plus sign, zeros
/// that say nothing, or (unless it is very long so) an exponent. What has zeros in front is its own name.
fn number_name(token: &str) -> Cow<'_, str> {
    let (sign, rest) = match token.as_bytes() {
        [b'-', ..] => ("-", &token[1..]),
        [b'+', ..] => ("", &token[1..]),
        _ => ("", token),
    };
    let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let Ok(exponent) = exponent.parse::<i32>() else { return Cow::Borrowed(token) };
    if whole.len() > 1 && whole.starts_with('0') {
        return Cow::Borrowed(token);
    }
    let all = format!("{whole}{part}");
    let digits = all.trim_end_matches('0');
    let length = |text: &str| i64::try_from(text.len()).unwrap_or(i64::MAX);
    let n_zeros = length(&all) - length(digits);
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return Cow::Borrowed("0");
    }
    // The number is `digits` times ten to the power `scale`; the point follows this many digits.
    let scale = i64::from(exponent) - length(part) + n_zeros;
    let point = length(digits) + scale;
    Cow::Owned(match (scale, point) {
        (0..=MAX_ZEROS, _) => format!("{sign}{digits}{}", "0".repeat(scale as usize)),
        (..0, 1..) => format!("{sign}{}.{}", &digits[..point as usize], &digits[point as usize..]),
        (..0, _) if point >= -MAX_ZEROS => format!("{sign}0.{}{digits}", "0".repeat(-point as usize)),
        _ => {
            let (first, rest) = digits.split_at(1);
            format!("{sign}{first}{}{rest}e{}", if rest.is_empty() { "" } else { "." }, point - 1)
        }
    })
}

/// What to do with a class that was not among the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Growth {
    /// It is an error.
    #[default]
    Refuse,
    /// It is numbered after all others.
    Append,
}

/// True class numbers for the labels of blocks.
#[derive(Debug, Clone)]
pub struct Numbering {
    labels: Labels,
    by_name: HashMap<String, u32>,
    growth: Growth,
    max_classes: usize,
    map: Vec<u32>,
    /// Per class, the spelling that was met first.
    spelled: Vec<Option<Box<[u8]>>>,
    /// Other spellings of a class.
    merged: Vec<(u32, Box<[u8]>)>,
}

impl Numbering {
    /// Numbers as `labels` has them; whatever else turns up is treated by `growth`.
    pub fn new(labels: Labels, growth: Growth, max_classes: usize) -> Self {
        let by_name = labels.names().iter().zip(0..).map(|(name, class)| (name.clone(), class)).collect();
        let (map, spelled, merged) = (Vec::new(), Vec::new(), Vec::new());
        Self { labels, by_name, growth, max_classes, map, spelled, merged }
    }

    /// The classes so far.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// Puts true class numbers in the place of the block's own, in the stream called `source`.
    pub fn apply(&mut self, block: &mut Block, source: &str) -> Result<(), DataError> {
        if !block.labelled {
            return Ok(());
        }
        self.map.clear();
        let mut first_rows: Option<Vec<Option<usize>>> = None;
        for (number, name) in block.names.names().iter().enumerate() {
            if let Some(&class) = self.by_name.get(name.as_str()) {
                self.map.push(class);
                continue;
            }
            // A label that was met only in a row that was then dropped is none.
            let first_rows = first_rows.get_or_insert_with(|| block.first_rows());
            let Some(row) = first_rows[number] else {
                self.map.push(u32::MAX);
                continue;
            };
            if self.growth == Growth::Refuse {
                let row = block.first_row + row as u64 + 1;
                return Err(late_class(name, &self.labels).in_source(source).at(Position {
                    row: Some(row),
                    line: None,
                    column: None,
                }));
            }
            if self.labels.len() >= self.max_classes {
                return Err(too_many_classes(self.max_classes).in_source(source));
            }
            let class = self.labels.len() as u32;
            self.labels.add_new(name);
            self.by_name.insert(name.clone(), class);
            self.map.push(class);
        }
        for (spelling, number) in &block.names.spellings {
            self.note_spelling(self.map[*number as usize], spelling);
        }
        for class in &mut block.classes {
            *class = self.map[*class as usize];
        }
        Ok(())
    }

    /// Keeps in mind how a class was spelled, if that was never so before.
    fn note_spelling(&mut self, class: u32, spelling: &[u8]) {
        let Some(place) = usize::try_from(class).ok().filter(|&place| place < self.labels.len()) else {
            return;
        };
        if self.spelled.len() <= place {
            self.spelled.resize(place + 1, None);
        }
        match &self.spelled[place] {
            None => self.spelled[place] = Some(spelling.into()),
            Some(first) if **first == *spelling => {}
            Some(_) if self.merged.len() >= MAX_MERGED => {}
            Some(_) if self.merged.iter().any(|(_, known)| **known == *spelling) => {}
            Some(_) => self.merged.push((class, spelling.into())),
        }
    }

    /// What a person should know of the classes: spellings that were taken for one, and names that are nearly so.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let mut seen: Vec<u32> = Vec::new();
        for (class, _) in &self.merged {
            if seen.contains(class) {
                continue;
            }
            seen.push(*class);
            let first = self.spelled[*class as usize].iter().map(|first| quote(first));
            let others = self.merged.iter().filter(|(other, _)| other == class);
            let all: Vec<String> = first.chain(others.map(|(_, spelling)| quote(spelling))).collect();
            let name = quote(self.labels.name(*class).as_bytes());
            let is_number = number::parse(self.labels.name(*class).as_bytes()).is_ok();
            let why = if is_number {
                "are one number, and one class"
            } else {
                "differ in spaces, and are one class"
            };
            notes.push(format!("the labels {} {why}: {name}", all.join(", ")));
        }
        let mut by_lower: HashMap<String, &str> = HashMap::new();
        for name in self.labels.names() {
            if let Some(other) = by_lower.insert(name.to_lowercase(), name)
                && notes.len() < MAX_MERGED
            {
                let (first, second) = (quote(other.as_bytes()), quote(name.as_bytes()));
                notes.push(format!(
                    "the classes {first} and {second} differ only in case and are counted apart"
                ));
            }
        }
        notes
    }
}

fn late_class(name: &str, known: &Labels) -> DataError {
    let shown: Vec<String> = known.names().iter().take(5).map(|name| shorten(name)).collect();
    let dots = if known.len() > 5 { ", …" } else { "" };
    let message =
        format!("class {} is new here, expected one of {}{dots}", quote(name.as_bytes()), shown.join(", "));
    DataError::new(ErrorKind::LateClass, message).with_help("name all classes beforehand with {classes}")
}

/// The beginning of a name that is long.
fn shorten(name: &str) -> String {
    match name.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

/// The error for data with more classes than is sensible.
pub(crate) fn too_many_classes(limit: usize) -> DataError {
    let message =
        format!("there are more than {limit} different labels, the limit; this looks like regression");
    DataError::new(ErrorKind::Limit, message)
        .with_help("choose another label column with {label}, or raise the limit with {max-classes}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_labels_by_value() {
        let mut table = LabelTable::default();
        let numbers: Vec<_> = ["+1", "-1", "1", "1.0", "-1", "cat", "1e0", "-0", "0"]
            .iter()
            .map(|token| table.number(token.as_bytes()))
            .collect();
        assert_eq!(numbers, [0, 1, 0, 0, 1, 2, 0, 3, 3].map(Ok));
        assert_eq!(table.names(), ["1", "-1", "cat", "0"]);
        for bad in ["nan", "inf", "1e999"] {
            assert_eq!(table.number(bad.as_bytes()), Err(BadLabel::NotFinite));
        }
        assert_eq!(table.number(b" "), Err(BadLabel::Missing));
        for (spelling, name) in [
            ("9007199254740993", "9007199254740993"),
            ("+9007199254740992.0", "9007199254740992"),
            ("007", "007"),
            ("-00.5", "-00.5"),
            ("7", "7"),
            ("0.50", "0.5"),
            (".5e1", "5"),
            ("5.", "5"),
            ("-0.0", "0"),
            ("12.34e-3", "0.01234"),
            ("1200e-1", "120"),
            ("1e300", "1e300"),
            ("-1.25e-99", "-1.25e-99"),
            ("0.1000000000000000055", "0.1000000000000000055"),
            ("1e-99999999999999999999", "1e-99999999999999999999"),
        ] {
            assert_eq!(canonical(spelling.as_bytes()).unwrap(), name, "{spelling}");
        }
        assert_eq!(table.number(b"\xFF"), Err(BadLabel::NotUtf8));
    }

    #[test]
    fn many_labels_are_still_one_per_value() {
        let mut table = LabelTable::default();
        for round in 0..3 {
            for label in 0..100 {
                let spelling = if round == 1 { format!("{label}.0") } else { label.to_string() };
                assert_eq!(table.number(spelling.as_bytes()), Ok(label));
            }
        }
        assert_eq!(table.names().len(), 100);
    }

    #[test]
    fn what_is_merged_or_nearly_so_is_told() {
        let mut numbering = Numbering::new(Labels::default(), Growth::Append, 100);
        for labels in [["1", "+1", "TRUE"], ["1.0", "1", "true"]] {
            let mut block = Block::default();
            for label in labels {
                let number = block.names.number(label.as_bytes()).unwrap();
                block.classes.push(number);
            }
            numbering.apply(&mut block, "x").unwrap();
        }
        let notes = numbering.notes();
        assert_eq!(
            notes,
            [
                "the labels `1`, `+1`, `1.0` are one number, and one class: `1`",
                "the classes `TRUE` and `true` differ only in case and are counted apart"
            ]
        );
    }

    #[test]
    fn late_classes_are_refused_or_appended() {
        let block = || {
            let mut block = Block { first_row: 10, ..Block::default() };
            for label in ["b", "a", "c"] {
                let number = block.names.number(label.as_bytes()).unwrap();
                block.classes.push(number);
            }
            block
        };
        let known = Labels::sorted(["a", "b"]);
        let mut strict = Numbering::new(known.clone(), Growth::Refuse, 100);
        let error = strict.apply(&mut block(), "x").unwrap_err();
        assert_eq!(error.to_string(), "x: row 13: class `c` is new here, expected one of a, b");
        let mut open = Numbering::new(known.clone(), Growth::Append, 100);
        let mut numbered = block();
        open.apply(&mut numbered, "x").unwrap();
        assert_eq!(numbered.classes(), [1, 0, 2]);
        let mut narrow = Numbering::new(known, Growth::Append, 2);
        assert_eq!(narrow.apply(&mut block(), "x").unwrap_err().kind(), ErrorKind::Limit);
    }
}
