//! Labels as they stand in a file, and the classes they mean.
//!
//! [`LabelTable`] numbers the labels of one block in order of appearance. [`Numbering`] puts the true
//! class numbers in their place: those of [`Labels`], sorted. A number is a label by its value, not by
//! its spelling: `+1`, `1` and `1.0` are one class, called `1`.
//!
//! **How a stream and a data set in memory come to the same bits.** Learners break ties by class number
//! and know from the start how many classes there are, so both must learn with the same numbering, fixed
//! before the first row. In memory all labels are known. A stream takes them from the options if they
//! are given there, else from its first block, sorted. Almost always these are all. If a class turns up
//! later, the numbering is not stretched in silence: that is an error of kind
//! [`ErrorKind::LateClass`], upon which a learner asks [`crate::survey`] for all classes and begins again
//! (or, where the source cannot be read twice, tells the user to name them). With
//! [`Growth::Append`] late classes are numbered behind the others instead.

use crate::Block;
use crate::error::{DataError, ErrorKind, Position};
use crate::rows::labels::Labels;
use crate::scan::number;
use std::borrow::Cow;
use std::collections::HashMap;

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
        self.last = self.spellings.len();
        self.by_spelling.insert(token.into(), self.spellings.len() as u32);
        self.spellings.push((token.into(), number));
        Ok(number)
    }

    /// The number of the category spelled `token`, a new one if it is new; `None` if it is not UTF-8. What spells a
    /// number is a category by its value, as labels are.
    pub(crate) fn category(&mut self, token: &[u8]) -> Option<u32> {
        match self.number(token) {
            Ok(number) => Some(number),
            Err(BadLabel::NotUtf8) => None,
            Err(BadLabel::Missing | BadLabel::NotFinite) => {
                Some(self.name_number(std::str::from_utf8(token).ok()?))
            }
        }
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
        // Adding zero turns -0 into 0.
        Ok(number) => Ok(Cow::Owned(format!("{}", number + 0.0))),
        Err(number::BadNumber::NotFinite | number::BadNumber::TooLarge) => Err(BadLabel::NotFinite),
        Err(number::BadNumber::NotANumber) => {
            std::str::from_utf8(token).map(Cow::Borrowed).map_err(|_| BadLabel::NotUtf8)
        }
    }
}

/// What to do with a class that was not among the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Growth {
    /// It is an error.
    #[default]
    Refuse,
    /// It is numbered behind all others.
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
}

impl Numbering {
    /// Numbers as `labels` has them; whatever else turns up is treated by `growth`.
    pub fn new(labels: Labels, growth: Growth, max_classes: usize) -> Self {
        let by_name = labels.names().iter().zip(0..).map(|(name, class)| (name.clone(), class)).collect();
        Self { labels, by_name, growth, max_classes, map: Vec::new() }
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
        for (number, name) in block.names.names().iter().enumerate() {
            if let Some(&class) = self.by_name.get(name.as_str()) {
                self.map.push(class);
                continue;
            }
            // A label that was met only in a row that was then dropped is none.
            let Some(row) = block.classes.iter().position(|&class| class as usize == number) else {
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
        for class in &mut block.classes {
            *class = self.map[*class as usize];
        }
        Ok(())
    }
}

fn late_class(name: &str, known: &Labels) -> DataError {
    let shown: Vec<&str> = known.names().iter().take(5).map(String::as_str).collect();
    let dots = if known.len() > 5 { ", …" } else { "" };
    let message = format!(
        "class {} is new here, expected one of {}{dots}",
        crate::error::quote(name.as_bytes()),
        shown.join(", ")
    );
    DataError::new(ErrorKind::LateClass, message).with_help("name all classes beforehand with {classes}")
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
