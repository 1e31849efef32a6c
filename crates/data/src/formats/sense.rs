//! What the columns of a table are, by their names and their first rows: one judgement for every format.
//!
//! A column is of numbers unless most of its cells are not; columns of prose are text; dates, names of rows and
//! their numbers are left out. The label column is set by the user, by the schema of the model at hand, or
//! by the column's own name; else it is the last if that could be one, or the only one that could. Where several
//! could, the user is asked. A note reports whatever is decided here.

use super::columns::{Cell, FileColumn, Form};
use super::spelling::{Range, Spelled};
use crate::error::{DataError, ErrorKind, quote};
use crate::options::{LabelColumn, ReadOptions, find_column};
use crate::remedy;
use crate::rows::schema::{Missing, Precision, Schema};
use crate::rows::spelling::{Decimal, Spelling};
use crate::scan::number::{self, BadNumber};
use crate::slips::closest;
use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

/// How many rows at the head are looked at.
pub(super) const SAMPLE_ROWS: usize = 500;

/// What a column that is the label is often called.
pub(crate) const LABEL_NAMES: [&str; 4] = ["label", "class", "target", "y"];

/// What a column that numbers the rows is called, beside nothing.
const INDEX_NAMES: [&str; 4] = ["index", "unnamed: 0", "rownames", "row_names"];

/// From how many words on, in the mean, a cell that is different in every row is text and no name.
const TEXT_WORDS: usize = 6;

/// At most this many different values are a short list: names of classes or of steps on a scale, not something
/// measured.
const FEW_VALUES: usize = 20;

/// This many cells that are no numbers are no slips, if they are a fifth of all.
const MANY_NAMES: usize = 10;

/// From how many rows on different whole numbers in a column called `id` are names of the rows.
const ID_ROWS: usize = 20;

/// Whether `name` says that the column is the label: label, class, target or y.
pub fn is_label_name(name: &str) -> bool {
    LABEL_NAMES.iter().any(|label| name.eq_ignore_ascii_case(label))
}

/// What a column of texts is often called.
pub(super) const HEADER_TEXTS: [&str; 7] = ["text", "message", "sms", "sentence", "review", "body", "v2"];

/// Whether `name` stands above texts.
pub(crate) fn is_text_name(name: &str) -> bool {
    HEADER_TEXTS.iter().any(|text| name.eq_ignore_ascii_case(text))
}

/// Whether `name` stands above the labels of texts.
pub(crate) fn is_header_label(name: &str) -> bool {
    is_label_name(name) || matches!(name, "category" | "v1")
}

/// What stands in cells whose value is not known, in small letters or large ones, with spaces around it or none.
pub const MISSING_CELLS: [&str; 6] = ["", "?", "na", "n/a", "nan", "null"];

/// Whether a cell says that its value is not known.
pub(super) fn is_missing(cell: &[u8]) -> bool {
    let cell = cell.trim_ascii();
    MISSING_CELLS.into_iter().any(|word| cell.eq_ignore_ascii_case(word.as_bytes()))
}

/// Below this, doubles have every whole number.
const EXACT: f64 = (1_u64 << 53) as f64;

/// Values that differ.
#[derive(Debug, Clone, Default)]
struct Distinct {
    /// Numbers that doubles tell apart, by their bits.
    numbers: HashSet<u64, BuildHasherDefault<BitsHasher>>,
    spelled: HashSet<Vec<u8>>,
}

/// Spreads the bits of a number. There are at most as many as rows at the head, so that even a list made to collide
/// costs little.
#[derive(Debug, Clone, Default)]
struct BitsHasher(u64);

impl Hasher for BitsHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, bits: u64) {
        // An odd number near the golden ratio's share of 2^64; the high half of the product is spread best.
        self.0 = (self.0 ^ bits).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// What the first rows say of a column.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    n_cells: usize,
    n_missing: usize,
    /// Plain numbers, and those among them that can be had by no means.
    numbers: Range,
    n_beyond: usize,
    /// Cells that are text to their format and spell a number.
    n_spelled: usize,
    n_names: usize,
    n_dates: usize,
    n_words: usize,
    spelled: Spelled,
    /// Cells of nothing but digits, those among them that begin with a 0 before others, and how long the shortest and
    /// the longest are.
    n_digits: usize,
    n_zero_led: usize,
    /// Whole numbers that doubles do not have every one of.
    n_rounded: usize,
    lengths: Option<(usize, usize)>,
    /// Whether the cells are 0, 1, 2, … or 1, 2, 3, … so far.
    is_off_count: bool,
    /// Different values; nothing if a model says what the columns are, so that they need not be counted.
    distinct: Option<Box<Distinct>>,
    /// Cells that are lists or objects, and what the first is.
    pub(super) n_nested: usize,
    pub(super) nested: Option<Form>,
}

impl Seen {
    pub(super) fn new(how: &ReadOptions) -> Self {
        Self { distinct: how.schema.is_none().then(Box::default), ..Self::default() }
    }

    /// Takes a cell in.
    pub(super) fn see(&mut self, cell: Cell<'_>) {
        let is_gap = match cell {
            Cell::Missing => true,
            Cell::Number(number) => number.is_nan(),
            Cell::Text(text) => is_missing(text),
        };
        if is_gap {
            self.n_missing += 1;
            return;
        }
        let (text, number) = match cell {
            Cell::Missing => return,
            Cell::Number(number) => (&b""[..], Ok(number)),
            Cell::Text(text) => {
                let text = text.trim_ascii();
                self.n_spelled += 1;
                (text, number::parse(text))
            }
        };
        let apart = number.as_ref().ok().copied();
        let apart = apart.filter(|number| text.is_empty() || number.abs() < EXACT);
        match number {
            Ok(number) => self.see_number(number, text),
            // A number that is too large or not finite is still a number, and an error.
            Err(BadNumber::NotFinite | BadNumber::TooLarge) => {
                self.n_beyond += 1;
                self.spelled.see_plain(text);
            }
            Err(BadNumber::NotANumber) => self.see_name(text),
        }
        self.n_cells += 1;
        let is_full = self.n_distinct() > SAMPLE_ROWS;
        if let Some(distinct) = self.distinct.as_mut().filter(|_| !is_full) {
            match apart {
                Some(number) => distinct.numbers.insert(number.to_bits()),
                None => distinct.spelled.insert(text.to_vec()),
            };
        }
    }

    fn see_number(&mut self, number: f64, text: &[u8]) {
        let (first, second) = (self.n_cells as f64, self.n_cells as f64 + 1.0);
        let from = if self.numbers.n_numbers == 0 { number } else { self.numbers.least };
        self.is_off_count |= !(from == 0.0 && number == first || from == 1.0 && number == second);
        self.numbers.see(number);
        let is_spelled_whole = text.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'+'));
        self.n_rounded += usize::from(number.abs() > EXACT && number.fract() == 0.0 && is_spelled_whole);
        self.spelled.see_plain(text);
        if !text.is_empty() && text.iter().all(u8::is_ascii_digit) {
            self.n_digits += 1;
            self.n_zero_led += usize::from(text.len() > 1 && text[0] == b'0');
            let (shortest, longest) = self.lengths.unwrap_or((text.len(), text.len()));
            self.lengths = Some((shortest.min(text.len()), longest.max(text.len())));
        }
    }

    /// Whether digits name something and count nothing, as postal codes do: all are as long, and some begin with a 0 that
    /// a number would lose. Names among them, such as `136A`, are codes as well.
    fn are_codes(&self) -> bool {
        let are_as_long = self.lengths.is_some_and(|(shortest, longest)| shortest == longest);
        self.n_zero_led > 0 && self.n_digits + self.n_names == self.n_cells && are_as_long
    }

    fn n_numbers(&self) -> usize {
        self.numbers.n_numbers + self.n_beyond
    }

    fn see_name(&mut self, text: &[u8]) {
        self.n_names += 1;
        self.n_words += text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count();
        self.n_dates += usize::from(is_date(text));
        self.spelled.see(text);
    }

    fn n_distinct(&self) -> usize {
        self.distinct.as_ref().map_or(0, |distinct| distinct.numbers.len() + distinct.spelled.len())
    }

    fn n_distinct_names(&self) -> usize {
        let spelled = self.distinct.iter().flat_map(|distinct| &distinct.spelled);
        spelled.filter(|text| number::parse(text).is_err()).count()
    }

    /// Whether all cells are empty.
    #[cfg(feature = "arrow")]
    pub(super) fn is_empty(&self) -> bool {
        self.n_cells == 0
    }

    /// What the cells are, by most of them.
    pub(super) fn form(&self) -> Form {
        match self.nested {
            Some(form) if self.n_nested > self.n_cells => form,
            _ if !self.spelling().is_plain() => Form::Number,
            _ if self.n_names > self.n_numbers() || self.is_scale_with_names() || self.are_codes() => {
                Form::Text
            }
            _ => Form::Number,
        }
    }

    /// Whether some values of a short list are names that return, as in `2, 3, 4, more`, or few numbers stand among many
    /// names, as in `1`, `4, 6`, `3bis`. A name that stands alone among numbers is a slip, and an error.
    fn is_scale_with_names(&self) -> bool {
        let n_distinct_names = self.n_distinct_names();
        let return_in_list = self.n_names * 10 >= self.n_cells
            && self.n_distinct() <= FEW_VALUES
            && self.n_names >= 2 * n_distinct_names;
        let are_many = self.n_names * 5 >= self.n_cells
            && self.n_names >= MANY_NAMES
            && self.n_distinct() - n_distinct_names <= FEW_VALUES;
        self.n_names > 0 && (return_in_list || are_many)
    }

    /// How numbers are written.
    pub(super) fn spelling(&self) -> Spelling {
        self.spelled.spelling(self.n_cells).unwrap_or(Spelling::PLAIN)
    }

    fn is_prose(&self) -> bool {
        let mostly_different = self.n_distinct() * 5 >= self.n_cells * 4;
        self.n_names > self.n_numbers()
            && mostly_different
            && self.n_words >= TEXT_WORDS * self.n_cells.max(1)
    }

    fn is_dates(&self) -> bool {
        self.n_dates > 0 && self.n_dates * 10 >= self.n_cells * 9
    }

    fn is_mostly_empty(&self) -> bool {
        self.n_missing > self.n_cells
    }

    fn could_be_label(&self) -> bool {
        let has_few_values = self.n_distinct() <= FEW_VALUES || self.n_distinct() * 2 <= self.n_cells;
        has_few_values && !(self.is_mostly_empty() || self.is_prose() || self.is_dates())
    }

    /// Whether the cells are numbers of many values, some of them between whole ones.
    fn is_quantity(&self) -> bool {
        self.n_distinct() > FEW_VALUES
            && self.n_numbers() == self.n_cells
            && self.numbers.n_whole < self.numbers.n_numbers
    }

    fn is_count(&self) -> bool {
        self.n_cells > 1 && self.n_numbers() == self.n_cells && !self.is_off_count
    }

    fn are_ids(&self) -> bool {
        self.n_cells >= ID_ROWS && self.numbers.n_whole == self.n_cells && self.n_distinct() == self.n_cells
    }

    /// Whether values differ by so little that single precision would round the difference away.
    fn needs_double(&self) -> bool {
        let spelling = self.spelling();
        let all =
            if spelling.is_plain() { self.numbers } else { self.numbers.with(&self.spelled.range(spelling)) };
        let magnitude = all.least.abs().max(all.largest.abs()) as f32;
        let step = f64::from(magnitude.next_up() - magnitude);
        let steps = if all.n_whole == all.n_numbers { 1 << 20 } else { 1 << 12 };
        // What single precision has as zero cannot be distinguished at all.
        let is_tiny = magnitude < f32::MIN_POSITIVE && all.largest > all.least;
        if is_tiny {
            return true;
        }
        // Of a very wide table only a few rows are seen, which say nothing about how far values lie apart.
        all.n_numbers >= FEWEST_SEEN
            && all.is_inexact
            && step.is_finite()
            && (all.largest - all.least) < step * f64::from(steps)
            && all.largest > all.least
    }
}

/// From this many cells on, their range says how finely a column is to be stored.
const FEWEST_SEEN: usize = 8;

/// Whether a cell is a day, perhaps with a time: `2024-01-31`, `31.01.2024`, `1/31/2024 12:00`.
fn is_date(text: &[u8]) -> bool {
    let day = text.split(|byte| matches!(byte, b' ' | b'T')).next().unwrap_or_default();
    let Some(&mark) = day.iter().find(|byte| !byte.is_ascii_digit()) else { return false };
    let parts: Vec<&[u8]> = day.split(|byte| *byte == mark).collect();
    let [first, second, third] = parts[..] else { return false };
    let is_number =
        |part: &[u8], lengths: &[usize]| lengths.contains(&part.len()) && part.iter().all(u8::is_ascii_digit);
    matches!(mark, b'-' | b'.' | b'/')
        && is_number(second, &[1, 2])
        && (is_number(first, &[4]) && is_number(third, &[1, 2])
            || is_number(first, &[1, 2]) && is_number(third, &[4]))
}

/// What a column is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Feature,
    Label,
    Weight,
    Ignore,
}

/// What becomes of the cells of a column of features.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sense {
    Number,
    Category,
    Text,
    /// All features at once.
    Whole,
}

/// What every column of a table is for and, of those that become features, what they are.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) roles: Vec<Role>,
    pub(super) senses: Vec<Sense>,
    pub(super) notes: Vec<String>,
}

/// Judges the columns of a table. `has_header` says whether they were named in the source.
pub(super) fn judge(
    columns: &[FileColumn],
    has_header: bool,
    how: &ReadOptions,
) -> Result<Judged, DataError> {
    let names = &names_of(columns)[..];
    let remark = if has_header {
        ""
    } else {
        " (the table has no header: use numbers, 1 for the first, -1 for the last)"
    };
    let unknown = |what: &str, why: &str| {
        let message =
            format!("there is no column {} {why}, expected one of {}", quote(what.as_bytes()), list(names));
        let help = match closest(what, names.iter().copied()) {
            Some(meant) => format!("did you mean {}?", quote(meant.as_bytes())),
            None => format!("name a column of the table{remark}"),
        };
        DataError::new(ErrorKind::Options, message).with_help(help)
    };
    let find = |what: &String, why: &str| find_column(what, names).ok_or_else(|| unknown(what, why));
    if let Some(only) = &how.only {
        let mut roles = vec![Role::Ignore; names.len()];
        roles[find(&only.what, &format!("of {}", only.cells))?] = Role::Label;
        return Ok(Judged { roles, senses: columns.iter().map(sense).collect(), notes: Vec::new() });
    }
    let mut roles = vec![Role::Feature; names.len()];
    let mut notes = Vec::new();
    // A list of names is one name only if a column has it.
    let ignored = how.ignore.iter().flat_map(|what| match find_column(what, names) {
        Some(_) => vec![what.clone()],
        None => what.split(',').map(|part| part.trim().to_owned()).collect(),
    });
    for what in &ignored.collect::<Vec<String>>() {
        match find(what, "to ignore") {
            Ok(place) => roles[place] = Role::Ignore,
            // Other files of the same source may have it.
            Err(_) if how.schema.as_ref().is_some_and(|schema| was_ignored(schema, what)) => {}
            Err(error) => return Err(error),
        }
    }
    for name in how.schema.iter().flat_map(|schema| &schema.ignored) {
        if let Some(place) = names.iter().position(|other| other == name) {
            roles[place] = Role::Ignore;
        }
    }
    if let Some(what) = &how.weight {
        let place = find(what, "of weights")?;
        if roles[place] == Role::Ignore && how.schema.is_none() {
            let message =
                format!("column {} is left out, expected another one of weights", quote(what.as_bytes()));
            return Err(
                DataError::new(ErrorKind::Options, message).with_help("leave {ignore} or {weight} out")
            );
        }
        roles[place] = Role::Weight;
    }
    let mut senses: Vec<Sense> = columns.iter().map(sense).collect();
    for what in how.categorical.iter().chain(&how.text_columns).filter(|_| how.schema.is_none()) {
        if find_column(what, names).is_some_and(|place| roles[place] == Role::Ignore) {
            let message = format!(
                "column {} is left out, or rows are split by it, expected one that is learned from",
                quote(what.as_bytes())
            );
            let help = "leave {categorical} or {text} out for it, or learn from it";
            return Err(DataError::new(ErrorKind::Options, message).with_help(help));
        }
    }
    for what in &how.categorical {
        senses[find(what, "of categories")?] = Sense::Category;
    }
    for what in &how.text_columns {
        let place = find(what, "of text")?;
        let is_learned = |schema: &Arc<Schema>| schema.texts().any(|(name, _)| name == Some(names[place]));
        if !how.schema.as_ref().is_none_or(is_learned) {
            let message = format!(
                "column {} was not learned from as text, expected what was decided when the model was trained",
                quote(what.as_bytes())
            );
            return Err(DataError::new(ErrorKind::Options, message).with_help("leave {text} out here"));
        }
        senses[place] = Sense::Text;
    }
    let label = match (&how.label, &how.schema) {
        (LabelColumn::Absent, None) => None,
        (LabelColumn::Named(what), None) => Some(find(what, "of labels")?),
        // Rows to be labelled may lack what was the label.
        (LabelColumn::Named(what), Some(schema)) => match find(what, "of labels") {
            Err(error) if schema.label.as_ref() != Some(what) => return Err(error),
            found => found.ok(),
        },
        (LabelColumn::Guess | LabelColumn::Absent, Some(schema)) => {
            learned_label(schema, names).or_else(|| beside_features(schema, &senses, names))
        }
        (LabelColumn::Guess, None) => guess_label(columns, &roles, &senses, &mut notes)?,
    };
    let is_named = how.schema.is_some() || matches!(how.label, LabelColumn::Named(_));
    let is_ignored = |place: usize| {
        // What a model left out stays out; to say so of its label means nothing.
        how.schema.as_ref().is_none_or(|schema| schema.label.as_deref() == Some(names[place]))
            && roles[place] == Role::Ignore
    };
    if let Some(place) = label.filter(|&place| is_named && is_ignored(place)) {
        let message = format!(
            "column {} is the label, expected another one to be left out or to split the rows by",
            quote(names[place].as_bytes())
        );
        return Err(DataError::new(ErrorKind::Options, message)
            .with_help("choose another label with {label}, or another column"));
    }
    let is_label = |what: &String| label.is_some() && find_column(what, names) == label;
    if let Some(what) = how.weight.iter().chain(&how.categorical).find(|what| is_label(what)) {
        let found = quote(what.as_bytes());
        let message = format!("column {found} is the label, expected another one for weights or categories");
        return Err(DataError::new(ErrorKind::Options, message)
            .with_help("leave {weight} or {categorical} out for it, or choose another label with {label}"));
    }
    if let Some(place) = label {
        // An unwanted label is no feature either.
        roles[place] = if how.label == LabelColumn::Absent { Role::Ignore } else { Role::Label };
    }
    if label.is_some_and(|place| how.text_columns.iter().any(|what| find_column(what, names) == Some(place)))
    {
        let message = "the text and the label should be different columns, but are one";
        return Err(DataError::new(ErrorKind::Options, message));
    }
    if how.schema.is_none() {
        leave_out(columns, &mut roles, &senses, how, has_header, &mut notes);
    }
    if !roles.contains(&Role::Feature) {
        let message =
            format!("the table has {} column(s), expected a label and at least one feature", names.len());
        let help = match how.delimiter {
            Some(_) => "cells seem to be separated by something else: leave {delimiter} out, and it is found",
            None => "if cells are separated by something unusual, say so with {delimiter}",
        };
        return Err(DataError::new(ErrorKind::Shape, message).with_help(help));
    }
    if label.is_none() && how.label != LabelColumn::Absent && how.schema.is_none() {
        let message = format!("there is no column of labels, expected one of {}", list(names));
        return Err(DataError::new(ErrorKind::Label, message).with_help("name it with {label}"));
    }
    if how.schema.is_none() {
        say(columns, &roles, &senses, how, &mut notes);
    }
    Ok(Judged { roles, senses, notes })
}

/// Whether a column was left out of what was learned from, as far as a number can tell.
fn was_ignored(schema: &Schema, what: &str) -> bool {
    schema.ignored.iter().any(|name| name == what)
        || !schema.ignored.is_empty() && what.parse::<i64>().is_ok()
}

/// What the columns are called. There may be very many, so they are lent and not copied.
pub(super) fn names_of(columns: &[FileColumn]) -> Vec<&str> {
    columns.iter().map(|column| column.name.as_str()).collect()
}

fn sense(column: &FileColumn) -> Sense {
    match column.form {
        Form::Number => Sense::Number,
        Form::Text if column.seen.is_prose() => Sense::Text,
        Form::Text | Form::Date => Sense::Category,
        Form::Vector(_) | Form::Sparse => Sense::Whole,
    }
}

/// The column that was the label when `schema` was made. Rows to be labelled may lack it.
fn learned_label(schema: &Schema, names: &[&str]) -> Option<usize> {
    let may_have_one = schema.has_names || schema.columns.is_empty() || names.len() > schema.columns.len();
    let label = schema.label.as_ref().filter(|_| may_have_one)?;
    names.iter().position(|name| name == label)
}

/// The label beside the columns, or the one column, that hold all features, for a model that knows no label.
fn beside_features(schema: &Schema, senses: &[Sense], names: &[&str]) -> Option<usize> {
    let known: HashSet<&str> = schema.columns.iter().map(|column| column.name.as_str()).collect();
    let is_feature = |place: usize| {
        if known.is_empty() { senses[place] == Sense::Whole } else { known.contains(names[place]) }
    };
    let is_asked = schema.label.is_none() && (0..names.len()).any(is_feature);
    let mut others = (0..names.len()).filter(|&place| is_asked && !is_feature(place));
    others.clone().find(|&place| is_label_name(names[place])).or_else(|| {
        let only = others.next()?;
        others.next().is_none().then_some(only)
    })
}

/// The column whose name says that it is the label, else the last if it could be, else the only one that could.
fn guess_label(
    columns: &[FileColumn],
    roles: &[Role],
    senses: &[Sense],
    notes: &mut Vec<String>,
) -> Result<Option<usize>, DataError> {
    let shown = |place: usize| quote(columns[place].name.as_bytes());
    let free: Vec<usize> = (0..columns.len()).filter(|&place| roles[place] == Role::Feature).collect();
    // Beside an `x`, a `y` that is not the last is a coordinate.
    let has_x = columns.iter().any(|column| column.name.eq_ignore_ascii_case("x"));
    let is_coordinate =
        |place: usize| has_x && columns[place].name.eq_ignore_ascii_case("y") && free.last() != Some(&place);
    let named: Vec<usize> = free
        .iter()
        .copied()
        .filter(|&place| is_label_name(&columns[place].name) && !is_coordinate(place))
        .collect();
    if let [first, .., last] = named[..] {
        let message = format!(
            "columns {} and {} could both be the label, expected one such name",
            shown(first),
            shown(last)
        );
        return Err(DataError::new(ErrorKind::Options, message).with_help(format!(
            "say which one it is, for instance {}",
            remedy::set("label", &columns[last].name)
        )));
    }
    if let [named] = named[..] {
        return Ok(Some(named));
    }
    let could_be = |place: &usize| {
        matches!(senses[*place], Sense::Number | Sense::Category)
            && columns[*place].form != Form::Date
            && columns[*place].seen.could_be_label()
    };
    if free.len() < 2 {
        return Ok(free.last().copied());
    }
    let last = free.last().copied().filter(could_be);
    if let Some(last) = last {
        notes.push(format!("the label is column {}, as it is the last", shown(last)));
        return Ok(Some(last));
    }
    let whole: Vec<usize> = free.iter().copied().filter(|&place| senses[place] == Sense::Whole).collect();
    let able: Vec<usize> = free.iter().copied().filter(could_be).collect();
    let names: Vec<usize> = able.iter().copied().filter(|&place| senses[place] == Sense::Category).collect();
    // A number in the middle is hardly a class beside a last column that is a quantity.
    let is_quantity = |place: usize| columns[place].seen.is_quantity() && senses[place] == Sense::Number;
    let place = free[free.len() - 1];
    let is_first_alone = able.len() == 1 && able.first() == free.first();
    if is_quantity(place) && names.is_empty() && !is_first_alone {
        let seen = &columns[place].seen;
        let message = format!(
            "column {}, the last, looks like a quantity: {} values in the first {} rows; expected classes, or a label that you name",
            shown(place),
            seen.n_distinct(),
            seen.n_cells
        );
        return Err(DataError::new(ErrorKind::Label, message)
            .with_help("name it with {label} to predict it as a number, or name a column of classes"));
    }
    match (&able[..], &names[..]) {
        ([only], _) => {
            notes.push(format!("the label is column {}, the only one that could be", shown(*only)));
            Ok(Some(*only))
        }
        (_, [only]) => {
            notes.push(format!("the label is column {}, the only one of few names", shown(*only)));
            Ok(Some(*only))
        }
        _ if !whole.is_empty() => Ok(able.last().copied()),
        _ => {
            let able: Vec<&str> = able.iter().map(|&place| columns[place].name.as_str()).collect();
            let last = &columns[free[free.len() - 1]];
            let (n_values, n_rows) = (last.seen.n_distinct(), last.seen.n_cells);
            let message = format!(
                "which column is the label? The last, {}, has {n_values} values in the first {n_rows} rows; expected {}",
                quote(last.name.as_bytes()),
                if able.is_empty() {
                    "one of few values".to_owned()
                } else {
                    format!("one of {}", list(&able))
                }
            );
            Err(DataError::new(ErrorKind::Options, message).with_help("name it with {label}"))
        }
    }
}

/// Leaves out columns that say which row it is and not what it is like.
fn leave_out(
    columns: &[FileColumn],
    roles: &mut [Role],
    senses: &[Sense],
    how: &ReadOptions,
    has_header: bool,
    notes: &mut Vec<String>,
) {
    let names = names_of(columns);
    let asked: Vec<usize> = how
        .categorical
        .iter()
        .chain(&how.text_columns)
        .filter_map(|what| find_column(what, &names))
        .collect();
    let (mut dates, mut ids, mut empty) = (Vec::new(), Vec::new(), Vec::new());
    for (place, column) in columns.iter().enumerate() {
        if roles[place] != Role::Feature || asked.contains(&place) || senses[place] == Sense::Whole {
            continue;
        }
        let name = column.name.to_ascii_lowercase();
        let is_unnamed = column.is_unnamed || INDEX_NAMES.contains(&name.as_str());
        if place == 0 && has_header && is_unnamed && column.seen.is_count() {
            notes.push(format!("left out, as it only counts the rows: {}", quote(column.name.as_bytes())));
        } else if column.form == Form::Date || (column.form == Form::Text && column.seen.is_dates()) {
            dates.push(column.name.as_str());
        } else if column.form == Form::Number && says_id(&column.name) && column.seen.are_ids() {
            ids.push(column.name.as_str());
        } else if column.seen.is_mostly_empty() && how.missing == Missing::Error {
            empty.push(column.name.as_str());
        } else {
            continue;
        }
        roles[place] = Role::Ignore;
    }
    if !dates.is_empty() {
        notes.push(format!("left out, as dates are no features by themselves: {}", list(&dates)));
    }
    if !empty.is_empty() {
        notes.push(format!("left out, as they are mostly empty: {}", list(&empty)));
    }
    if !ids.is_empty() {
        notes.push(format!("left out, as every row has a number of its own there: {}", list(&ids)));
    }
}

/// Whether a column's name says that its values are names: `id`, `customer_id`, `userId`, `Customer ID`.
fn says_id(name: &str) -> bool {
    let stem = name.strip_suffix("ID").or_else(|| name.strip_suffix("Id")).or_else(|| {
        let stem = name.strip_suffix("id")?;
        stem.ends_with(|last: char| !last.is_ascii_alphanumeric()).then_some(stem)
    });
    name.eq_ignore_ascii_case("id") || stem.is_some()
}

/// Says how columns are read, where that is not plain to see.
fn say(columns: &[FileColumn], roles: &[Role], senses: &[Sense], how: &ReadOptions, notes: &mut Vec<String>) {
    let features = |wanted: &dyn Fn(usize) -> bool| -> Vec<&str> {
        let places = (0..columns.len()).filter(|&place| roles[place] == Role::Feature && wanted(place));
        places.map(|place| columns[place].name.as_str()).collect()
    };
    let seen = |place: usize| &columns[place].seen;
    let spelling = |place: usize| seen(place).spelling();
    for (places, what) in [
        // Without a table of hashes, the categories are known once all rows are seen.
        (
            features(&|place| senses[place] == Sense::Category && how.hash_bits.is_some()),
            "read as categories",
        ),
        (
            features(&|place| senses[place] == Sense::Category && seen(place).are_codes()),
            "read as names, not as numbers, as their digits begin with 0",
        ),
        (features(&|place| senses[place] == Sense::Text && how.text_columns.is_empty()), "read as text"),
        (
            features(&|place| {
                let has_comma = matches!(spelling(place).decimal, Decimal::Comma | Decimal::CommaAfterPoints);
                senses[place] == Sense::Number && has_comma
            }),
            "read as numbers with a decimal comma",
        ),
        (
            features(&|place| {
                let parts_thousands = spelling(place).decimal == Decimal::PointAfterCommas
                    && seen(place).spelled.has_commas(spelling(place));
                senses[place] == Sense::Number && parts_thousands
            }),
            "read as numbers whose commas part thousands",
        ),
        (
            features(&|place| {
                let is_unclear = seen(place).spelled.spelling(seen(place).n_cells).is_none();
                is_unclear && senses[place] != Sense::Number
            }),
            "not read as numbers, as a comma or point may part thousands there as well as decimals",
        ),
        (
            features(&|place| senses[place] == Sense::Number && spelling(place).mark.is_some()),
            "read as numbers without the sign of money or percent beside them",
        ),
        (
            features(&|place| {
                let is_typed = columns[place].is_typed && seen(place).n_spelled > 0;
                senses[place] == Sense::Number && is_typed && spelling(place).is_plain()
            }),
            "read as numbers, though written as text",
        ),
        (
            features(&|place| senses[place] == Sense::Number && seen(place).n_rounded > 0),
            "whole numbers beyond 2^53 lose their last digits (if they are names, take them as categories)",
        ),
        (
            features(&|place| {
                let is_constant = seen(place).n_cells >= ID_ROWS && seen(place).n_distinct() == 1;
                is_constant && senses[place] != Sense::Category
            }),
            "kept, though the same in each of the first rows",
        ),
    ] {
        if !places.is_empty() {
            notes.push(format!("{what}: {}", list(&places)));
        }
    }
}

/// How values must be stored, and why if not as was asked for.
pub(super) fn precision(columns: &[FileColumn], how: &ReadOptions) -> (Precision, Option<String>) {
    let known = how.schema.as_ref().and_then(|schema| schema.precision);
    if how.precision == Precision::Double || known.is_some() || how.schema.is_some() {
        return (known.unwrap_or(how.precision), None);
    }
    let names = names_of(columns);
    let ignored: Vec<usize> = how.ignore.iter().filter_map(|what| find_column(what, &names)).collect();
    let fine: Vec<&str> = columns
        .iter()
        .enumerate()
        .filter(|(place, column)| {
            let is_id = says_id(&column.name) && column.seen.are_ids();
            column.form == Form::Number && !is_id && column.seen.needs_double() && !ignored.contains(place)
        })
        .map(|(_, column)| column.name.as_str())
        .collect();
    if fine.is_empty() {
        return (Precision::Single, None);
    }
    let note =
        format!("stored in double precision, as single precision would round too much of {}", list(&fine));
    (Precision::Double, Some(note))
}

/// The options for a table of these columns. A schema of numbered features is looked for among them, and so is one of
/// texts; a column beside them is then the label, whether or not it is used.
pub(super) fn for_table<'a>(
    how: &'a ReadOptions,
    columns: &[FileColumn],
    has_header: bool,
) -> Result<Cow<'a, ReadOptions>, DataError> {
    let Some(schema) = how.schema.as_ref().filter(|schema| schema.columns.is_empty() && how.only.is_none())
    else {
        return Ok(Cow::Borrowed(how));
    };
    let schema = match &schema.text {
        Some(_) => Schema { has_names: has_header, ..text_table(schema, columns, how)? },
        None => match schema.for_table(&names_of(columns)) {
            found if found.columns.is_empty() => in_their_order(found, columns, has_header, how)?,
            found => found,
        },
    };
    let text_columns = Vec::new();
    Ok(Cow::Owned(ReadOptions { schema: Some(Arc::new(schema)), text_columns, ..how.clone() }))
}

/// A model of features without names is not shown keys of objects, which have no order.
pub(super) fn check_order(columns: &[FileColumn], how: &ReadOptions) -> Result<(), DataError> {
    let Some(schema) = how.schema.as_ref().filter(|schema| schema.columns.is_empty() && how.only.is_none())
    else {
        return Ok(());
    };
    let are_places = takes_places(schema, columns).is_some();
    if !are_places || !schema.for_table(&names_of(columns)).columns.is_empty() {
        return Ok(());
    }
    let message = "the model knows its features by number, and the keys of an object have no order";
    Err(DataError::new(ErrorKind::Shape, message)
        .with_help("call the keys 1, 2, and so on, or give an array of numbers"))
}

/// How many features a table must have for a model that knows them by place alone.
fn takes_places(schema: &Schema, columns: &[FileColumn]) -> Option<usize> {
    let is_whole = |column: &FileColumn| matches!(column.form, Form::Vector(_) | Form::Sparse);
    let has_places = schema.hash_bits.is_none() && schema.names.is_none() && schema.text.is_none();
    schema.width.filter(|_| has_places && !columns.iter().any(is_whole))
}

/// What a model of features without names learned, for a table whose columns have names: they come in their order.
fn in_their_order(
    mut schema: Schema,
    columns: &[FileColumn],
    has_header: bool,
    how: &ReadOptions,
) -> Result<Schema, DataError> {
    let Some(width) = takes_places(&schema, columns) else { return Ok(schema) };
    let names = names_of(columns);
    let left_out = [&how.ignore[..], how.weight.as_slice(), &schema.ignored[..]].concat();
    let is_free = |place: &usize| !left_out.iter().any(|what| find_column(what, &names) == Some(*place));
    let mut places: Vec<usize> = (0..names.len()).filter(is_free).collect();
    let label = match &how.label {
        LabelColumn::Named(what) => find_column(what, &names),
        _ if places.len() != width + 1 => None,
        _ => places.iter().copied().find(|&place| is_label_name(names[place])).or(places.last().copied()),
    };
    places.retain(|place| Some(*place) != label);
    if places.len() != width {
        let message = format!("there are {} columns of features, expected {width}", places.len());
        return Err(DataError::new(ErrorKind::Shape, message).with_help(
            "give the columns that were learned from, in their order; name the label with {label}, and leave others out \
             with {ignore}",
        ));
    }
    if has_header && let (Some(&first), Some(&last)) = (places.first(), places.last()) {
        let shown = |place: usize| quote(names[place].as_bytes());
        let label = label.map_or_else(String::new, |place| format!(", and {} is the label", shown(place)));
        schema.notes.push(format!(
            "the model knows its features by number, so columns are taken in their order: {} is feature 1, {} is feature \
             {width}{label}",
            shown(first),
            shown(last)
        ));
    }
    let label = label.map(|place| names[place].to_owned());
    Ok(schema.with_columns(places.into_iter().map(|place| names[place]), label))
}

/// What a model of texts learned, for a table in which one column holds them.
fn text_table(schema: &Schema, columns: &[FileColumn], how: &ReadOptions) -> Result<Schema, DataError> {
    let names = names_of(columns);
    let is_label = |name: &str| is_header_label(&name.to_lowercase());
    let able: Vec<usize> = (0..columns.len())
        .filter(|&place| columns[place].form == Form::Text && !is_label(names[place]))
        .filter(|&place| !how.ignore.iter().any(|what| find_column(what, &names) == Some(place)))
        .filter(|&place| match &how.label {
            LabelColumn::Named(what) => find_column(what, &names) != Some(place),
            _ => true,
        })
        .collect();
    let called: Vec<usize> = (0..columns.len()).filter(|&place| is_text_name(names[place])).collect();
    let asked = match &how.text_columns[..] {
        [] => None,
        [what] => Some(find_column(what, &names).ok_or_else(|| {
            let message = format!(
                "there is no column {} of text, expected one of {}",
                quote(what.as_bytes()),
                list(&names)
            );
            DataError::new(ErrorKind::Options, message).with_help("name a column of the table")
        })?),
        _ => {
            let message = "the model learned from one text a row, but several columns of text are named";
            return Err(DataError::new(ErrorKind::Options, message).with_help("name one column with {text}"));
        }
    };
    let text = match (asked, &called[..], &able[..], columns.len()) {
        (Some(asked), ..) => asked,
        (None, [called], ..) => *called,
        (None, [], [only], _) => *only,
        (None, _, _, 1) => 0,
        _ => {
            let message = format!("which column holds the messages? expected one of {}", list(&names));
            return Err(DataError::new(ErrorKind::Options, message).with_help("name it with {text}"));
        }
    };
    let others = || (0..columns.len()).filter(|&place| place != text);
    let mut labels = others().filter(|&place| is_label(names[place]));
    let label = labels.next().or_else(|| others().next().filter(|_| columns.len() == 2));
    let named = |place: usize| names[place].to_owned();
    let left_out = others().filter(|place| Some(*place) != label).map(named).collect();
    Ok(schema.for_text_column(names[text], left_out, label.map(named)))
}

/// Some of the names, as a message lists them.
pub(super) fn list(names: &[impl AsRef<str>]) -> String {
    let shown: Vec<String> = names.iter().take(8).map(|name| quote(name.as_ref().as_bytes())).collect();
    let more = if names.len() > 8 { format!(" and {} more", names.len() - 8) } else { String::new() };
    shown.join(", ") + &more
}
