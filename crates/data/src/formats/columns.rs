//! The one interpreter of tables: what is done with each column, and with each cell.
//!
//! Formats know how cells are stored and hand them over one by one ([`Columns::cell`]), or, as CSV does for runs of
//! plain numbers, put them where this interpreter would have. One column is the label, columns of numbers are
//! features, columns of names become one feature per value, columns of text one per word; missing cells go by the
//! policy; columns are matched by name with what was learned before. In place of columns a table may have one that
//! holds all features: a list of numbers, or pairs of index and number.
//!
//! While the schema is provisional, cells are left as they are for [`crate::encode`] to fit; under a settled one the
//! rows of a block become features as soon as it is full ([`Columns::finish`]).

use super::sense::{Judged, Role, Seen, Sense, for_table, is_missing, judge, list, names_of};
use crate::encode::{ColumnEncoder, TextEncoder, check_width, layout_of};
use crate::error::{DataError, ErrorKind, Mistake, quote};
use crate::hash::hash_slot;
use crate::options::{OnBadRow, ReadOptions, Unknown};
use crate::remedy;
use crate::rows::block::{Block, MISSING, Stored, merge_row, sort_row};
use crate::rows::label_table::{BadLabel, LabelTable, canonical_category};
use crate::rows::schema::{Column, ColumnKind, Layout, Missing, Schema};
use crate::rows::spelling::{Spelling, unmarked};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A column of a file.
#[derive(Debug, Clone)]
pub(super) struct FileColumn {
    pub(super) name: String,
    pub(super) form: Form,
    /// What the first rows say of it; columns of which nothing need be known share it.
    pub(super) seen: Arc<Seen>,
    /// Whether the source has no name for it, though it has for others.
    pub(super) is_unnamed: bool,
    /// Whether the format tells numbers from text.
    pub(super) is_typed: bool,
}

/// What the cells of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Numbers.
    Number,
    /// Text, or anything else that is a name.
    Text,
    /// Days or times, by their type.
    Date,
    /// Lists of this many numbers, all features at once.
    Vector(usize),
    /// Pairs of index and number, all features at once.
    Sparse,
}

/// A cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Cell<'a> {
    Missing,
    Number(f64),
    Text(&'a [u8]),
}

/// What is done with a column.
#[derive(Debug, Clone)]
pub(super) enum Use {
    Label,
    /// The one column that is read, as it is written.
    Written,
    Weight,
    Ignore,
    /// Nothing may stand here: the column after a trailing delimiter.
    Nothing,
    Number {
        slot: usize,
        spelling: Spelling,
    },
    /// The values are those that must be known, if new ones are refused.
    Category {
        slot: usize,
        known: Option<HashSet<String>>,
    },
    Text {
        slot: usize,
    },
    Vector(usize),
    Sparse,
}

/// What is done with the cells of a table, decided once and shared by all threads.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) names: Vec<String>,
    pub(super) uses: Vec<Use>,
    pub(super) schema: Arc<Schema>,
    pub(super) n_numbers: usize,
    n_categories: usize,
    n_texts: usize,
    width: usize,
    max_features: usize,
    /// The smallest index of a sparse row.
    first_index: u64,
    on_bad_row: OnBadRow,
    keep_texts: bool,
    /// Whether a model says what the columns are.
    is_learned: bool,
    /// The column of labels, if there is one.
    label: Option<usize>,
    /// Whether all features stand in one column, so that there is nothing to encode.
    is_whole: bool,
    /// What the cells of the column are that is read in place of the label.
    only: Option<&'static str>,
}

/// The interpreter: the plan, and the row at hand.
#[derive(Debug, Clone)]
pub(super) struct Columns<T> {
    pub(super) plan: Arc<Plan>,
    /// Rows so far, those left out too.
    pub(super) n_rows: u64,
    /// The row in which each column had a cell last, counted from 1.
    last_set: Vec<u64>,
    this_row: u64,
    numbers: Vec<T>,
    codes: Vec<u32>,
    texts: Vec<String>,
    row: Vec<(u32, T)>,
    class: u32,
    weight: Option<f64>,
    dropped: bool,
    unknown: Option<(String, String)>,
    scratch: Vec<(u32, T)>,
    encoder: Option<ColumnEncoder>,
}

fn mistake(kind: ErrorKind, message: impl Into<String>) -> Box<Mistake> {
    Mistake::new(kind, 0..0, message)
}

impl Plan {
    /// Decides what each column is for. `has_header` says whether the source names its columns.
    pub(super) fn new(
        columns: Vec<FileColumn>,
        has_header: bool,
        how: &ReadOptions,
        mut notes: Vec<String>,
    ) -> Result<Self, DataError> {
        let names = &names_of(&columns)[..];
        check_names(names)?;
        let how = &*for_table(how, &columns, has_header)?;
        let mut judged = judge(&columns, has_header, how)?;
        notes.append(&mut judged.notes);
        let roles = &judged.roles;
        check_meant(&judged, how)?;
        let features: Vec<usize> = (0..roles.len()).filter(|&place| roles[place] == Role::Feature).collect();
        let whole = find_whole(&columns, &features, how)?;
        if how.schema.is_none() && !whole.is_some_and(|place| columns[place].form == Form::Sparse) {
            check_first_index(how, "its features have names or places, and no indices")?;
        }
        let mut schema = match (&how.schema, whole) {
            (Some(schema), _) => Arc::clone(schema),
            (None, Some(place)) => {
                let (layout, width) = match columns[place].form {
                    Form::Vector(width) => (Layout::Dense, Some(width)),
                    _ => (Layout::Sparse, None),
                };
                let hash_bits = how.hash_bits.filter(|_| width.is_none());
                Arc::new(Schema { layout, width, hash_bits, missing: how.missing, ..Schema::default() })
            }
            (None, None) => Arc::new(fresh_schema(&columns, &judged, has_header, how)?),
        };
        if how.schema.is_none() {
            let of_role = |wanted| (0..roles.len()).filter(move |&place| roles[place] == wanted);
            let schema = Arc::make_mut(&mut schema);
            schema.label = of_role(Role::Label).next().map(|place| names[place].to_owned());
            schema.ignored = of_role(Role::Ignore).map(|place| names[place].to_owned()).collect();
            schema.ignored.sort();
        }
        let matched = match whole {
            Some(_) => vec![None; names.len()],
            None => match_columns(&schema, names, &features, has_header, &mut notes)?,
        };
        if !notes.is_empty() {
            Arc::make_mut(&mut schema).notes.append(&mut notes);
        }
        check_width(&schema, how.limits.features)?;
        let (mut n_numbers, mut n_categories, mut n_texts) = (0, 0, 0);
        let next = |n: &mut usize| {
            *n += 1;
            *n - 1
        };
        let slots: Vec<usize> = schema
            .columns
            .iter()
            .map(|column| match &column.kind {
                ColumnKind::Number { .. } => next(&mut n_numbers),
                ColumnKind::Category { .. } | ColumnKind::Hashed => next(&mut n_categories),
                ColumnKind::Text(_) => next(&mut n_texts),
            })
            .collect();
        let uses = columns.iter().zip(roles).zip(&matched).map(|((file_column, role), column)| {
            match (role, file_column.form, column) {
                (Role::Label, ..) if how.only.as_ref().is_some_and(|only| only.is_written) => Use::Written,
                (Role::Label, ..) => Use::Label,
                (Role::Weight, ..) => Use::Weight,
                (Role::Feature, Form::Vector(width), _) if whole.is_some() => Use::Vector(width),
                (Role::Feature, Form::Sparse, _) if whole.is_some() => Use::Sparse,
                (Role::Ignore, ..) | (Role::Feature, _, None) => Use::Ignore,
                (Role::Feature, _, &Some(column)) => {
                    let slot = slots[column];
                    match &schema.columns[column].kind {
                        &ColumnKind::Number { spelling, .. } => {
                            // Numbers are read as those that were learned from, and units not taken for others. Where
                            // these were plain, a file may still say what its commas mean.
                            let decimal = match spelling {
                                Spelling::PLAIN => file_column.seen.spelling().decimal,
                                _ => spelling.decimal,
                            };
                            Use::Number { slot, spelling: Spelling { decimal, ..spelling } }
                        }
                        ColumnKind::Category { values, .. } => {
                            let is_strict = how.unknown == Unknown::Error && !schema.provisional;
                            Use::Category { slot, known: is_strict.then(|| values.iter().cloned().collect()) }
                        }
                        ColumnKind::Hashed => Use::Category { slot, known: None },
                        ColumnKind::Text(_) => Use::Text { slot },
                    }
                }
            }
        });
        let uses: Vec<Use> = uses.collect();
        let width = schema.straight_width().unwrap_or(0);
        if let Some(&Use::Vector(found)) = uses.iter().find(|use_| matches!(use_, Use::Vector(_)))
            && let Some(expected) = schema.straight_width().filter(|expected| *expected != found)
        {
            let message = format!("the rows have {found} features, expected {expected}");
            return Err(DataError::new(ErrorKind::Shape, message));
        }
        Ok(Self {
            is_learned: how.schema.is_some(),
            label: roles.iter().position(|role| *role == Role::Label),
            names: columns.into_iter().map(|column| column.name).collect(),
            uses,
            n_numbers,
            n_categories,
            n_texts,
            width,
            max_features: how.limits.features,
            first_index: u64::from(!how.zero_based),
            on_bad_row: how.on_bad_row,
            keep_texts: how.keep_texts,
            is_whole: whole.is_some(),
            only: how.only.as_ref().map(|only| only.cells),
            schema,
        })
    }

    /// Whether the cells of a column matter at all.
    pub(super) fn needs(&self, place: usize) -> bool {
        !matches!(self.uses.get(place), None | Some(Use::Ignore | Use::Nothing))
    }

    /// Whether the cells of a column are names, digit by digit, even if they are numbers.
    pub(super) fn is_name(&self, place: usize) -> bool {
        matches!(
            self.uses.get(place),
            Some(Use::Label | Use::Written | Use::Category { .. } | Use::Text { .. })
        )
    }

    /// The slot of a column of numbers that may come without a sign.
    #[cfg(feature = "arrow")]
    pub(super) fn number_slot(&self, place: usize) -> Option<usize> {
        match self.uses.get(place) {
            Some(&Use::Number { slot, spelling }) if spelling.takes_plain() => Some(slot),
            _ => None,
        }
    }

    #[cfg(feature = "arrow")]
    /// Indices of sparse rows start at 0, whatever the options say.
    pub(super) fn count_from_zero(&mut self) {
        self.first_index = 0;
    }

    /// Whether something stands in for missing cells.
    pub(super) fn fills(&self) -> bool {
        !matches!(self.schema.missing, Missing::Error | Missing::Drop)
    }

    /// Whether a mistake ends it all, and its row is not just left out.
    pub(super) fn refuses(&self, mistake: &Mistake) -> bool {
        self.on_bad_row == OnBadRow::Error || mistake.kind == ErrorKind::Limit
    }

    /// Empties a block for rows of this table.
    pub(super) fn clear<T: Stored>(&self, block: &mut Block) {
        if self.is_whole {
            block.clear(self.schema.layout, T::PRECISION, self.width);
        } else {
            block.clear(Layout::Dense, T::PRECISION, self.n_numbers);
            block.cells.clear(self.n_categories, self.n_texts);
        }
        block.labelled = self.label.is_some();
    }

    /// The number of a category that was not met in this block; nothing if it is not as it should be.
    pub(super) fn new_category(&self, place: usize, cell: &[u8], values: &mut LabelTable) -> Option<u32> {
        let Use::Category { known, .. } = &self.uses[place] else { return None };
        // What is not known must not be found in the block later on.
        if let Some(known) = known
            && !is_among(known, std::str::from_utf8(cell.trim_ascii()).ok()?)
        {
            return None;
        }
        values.category(cell)
    }
}

impl<T: Stored> Columns<T> {
    pub(super) fn new(plan: Plan) -> Self {
        let is_encoded = !plan.schema.provisional && !plan.is_whole;
        Self {
            encoder: is_encoded.then(|| ColumnEncoder::new(Arc::clone(&plan.schema))),
            last_set: vec![0; plan.names.len()],
            n_rows: 0,
            this_row: 0,
            numbers: Vec::new(),
            codes: Vec::new(),
            texts: vec![String::new(); plan.n_texts],
            row: Vec::new(),
            class: 0,
            weight: None,
            dropped: false,
            unknown: None,
            scratch: Vec::new(),
            plan: Arc::new(plan),
        }
    }

    /// Empties a block for rows of this table.
    pub(super) fn clear(&self, block: &mut Block) {
        self.plan.clear::<T>(block);
        block.first_row = self.n_rows;
    }

    /// Begins a row.
    pub(super) fn begin_row(&mut self) {
        self.this_row += 1;
        self.numbers.clear();
        self.numbers.resize(self.plan.n_numbers, T::nearest(f64::NAN));
        self.codes.clear();
        self.codes.resize(self.plan.n_categories, MISSING);
        self.texts.iter_mut().for_each(String::clear);
        self.row.clear();
        self.class = 0;
        self.weight = None;
        self.dropped = false;
        self.unknown = None;
    }

    /// Marks a column as having a cell in this row; an error if it has one already.
    fn mark(&mut self, place: usize) -> Result<(), Box<Mistake>> {
        if self.last_set[place] == self.this_row {
            let name = quote(self.plan.names[place].as_bytes());
            return Err(mistake(
                ErrorKind::Shape,
                format!("column {name} occurs twice, expected it once a row"),
            ));
        }
        self.last_set[place] = self.this_row;
        Ok(())
    }

    /// Gives the row its cell of column `place`.
    pub(super) fn cell(
        &mut self,
        place: usize,
        cell: Cell<'_>,
        block: &mut Block,
    ) -> Result<(), Box<Mistake>> {
        // Most cells of most tables are numbers and nothing else.
        if let (Cell::Number(number), Some(&Use::Number { slot, spelling })) =
            (cell, self.plan.uses.get(place))
            && spelling.takes_plain()
            && let Some(value) = T::narrow(number)
        {
            self.mark(place)?;
            self.numbers[slot] = value;
            return Ok(());
        }
        let plan = Arc::clone(&self.plan);
        let Some(use_) = plan.uses.get(place) else { return Ok(()) };
        if let Use::Nothing = use_ {
            let is_empty = matches!(cell, Cell::Text(text) if text.trim_ascii().is_empty());
            let (n_found, n_expected) = (plan.uses.len(), plan.uses.len() - 1);
            let message = format!("the row has {n_found} cells, expected {n_expected}");
            return if is_empty { Ok(()) } else { Err(mistake(ErrorKind::Shape, message)) };
        }
        self.mark(place)?;
        let name = || quote(plan.names[place].as_bytes());
        let is_known = match cell {
            Cell::Missing => false,
            Cell::Number(number) => !number.is_nan(),
            Cell::Text(text) => {
                !is_missing(text) || (text.trim_ascii() == b"?" && matches!(use_, Use::Label))
            }
        };
        let spelled;
        let text = match cell {
            Cell::Missing => &b""[..],
            Cell::Number(number)
                if matches!(use_, Use::Label | Use::Written | Use::Category { .. } | Use::Text { .. }) =>
            {
                spelled = number.to_string();
                spelled.as_bytes()
            }
            Cell::Number(_) => b"",
            Cell::Text(text) => text.trim_ascii(),
        };
        match use_ {
            Use::Ignore | Use::Nothing => {}
            Use::Written => {
                let whole = if let Cell::Text(whole) = cell { whole } else { text };
                self.class = block.names.written(whole).ok_or_else(|| not_utf8(&name(), whole))?;
            }
            Use::Label => {
                // With the spaces around it, so that a note reports that `yes` and ` yes` are one class.
                let whole = if let Cell::Text(whole) = cell { whole } else { text };
                let outcome = if is_known { block.names.number(whole) } else { Err(BadLabel::Missing) };
                self.class = outcome.map_err(|bad| {
                    if let Some(cells) = plan.only {
                        let found = if text.is_empty() { "nothing".to_owned() } else { quote(text) };
                        let message = format!("column {} of {cells} holds {found}, expected a value", name());
                        return mistake(ErrorKind::Label, message)
                            .with_help("give every row a value there, or name another column");
                    }
                    mistake(ErrorKind::Label, bad.message(text)).with_help(format!(
                        "the label column is {}; choose another with {{label}}, or leave such rows out with {{skip-bad-rows}}",
                        remedy::plain(&name())
                    ))
                })?;
            }
            Use::Weight => {
                let number = match cell {
                    Cell::Number(number) => Some(number),
                    _ => Spelling::PLAIN.parse(text).ok(),
                };
                let number = number.filter(|number| *number >= 0.0 && number.is_finite());
                self.weight = Some(number.ok_or_else(|| {
                    let message =
                        format!("the weight should be a number of at least 0, but is {}", shown(cell));
                    mistake(ErrorKind::Number, message)
                })?);
            }
            Use::Text { slot } => match std::str::from_utf8(text) {
                Ok(_) if cell == Cell::Missing && plan.schema.missing == Missing::Drop => self.dropped = true,
                Ok(text) => self.texts[*slot].push_str(text),
                Err(_) => return Err(not_utf8(&name(), text)),
            },
            Use::Number { .. } | Use::Category { .. } | Use::Vector(_) | Use::Sparse if !is_known => {
                match plan.schema.missing {
                    Missing::Drop => self.dropped = true,
                    Missing::Error => return Err(missing(&name(), text)),
                    _ if matches!(use_, Use::Vector(_) | Use::Sparse) => return Err(missing(&name(), text)),
                    _ => {}
                }
            }
            Use::Number { slot, spelling } => {
                let number = match cell {
                    Cell::Number(number) if spelling.takes_plain() => number,
                    Cell::Number(number) => {
                        let message =
                            format!("column {} should hold {}, but holds {number}", name(), spelling.words());
                        return Err(mistake(ErrorKind::Number, message)
                            .with_help(format!("write `{number} %` if it is one")));
                    }
                    _ => spelling.parse(text).map_err(|bad| {
                        let (name, kind, found) = (name(), spelling.words(), quote(text));
                        let message =
                            format!("column {name} should hold {kind}, but holds {found}{}", bad.why());
                        let wrong = mistake(ErrorKind::Number, message);
                        if plan.is_learned {
                            // What a column is was settled when the model learned.
                            wrong
                        } else if spelling.mark.is_some() && unmarked(text).is_some() {
                            wrong.with_help("write all its values in one unit, with one sign")
                        } else if !text.iter().any(u8::is_ascii_alphanumeric) {
                            wrong.with_help("if it stands for a value that is missing, leave the cell empty, or write `NA`")
                        } else {
                            wrong.with_help(format!(
                                "if its values are names, say {}",
                                remedy::set("categorical", &plan.names[place])
                            ))
                        }
                    })?,
                };
                self.numbers[*slot] = T::narrow(number).ok_or_else(|| too_large(&name(), number, cell))?;
            }
            Use::Category { slot, known } => {
                let values = &mut block.cells.categories[*slot];
                // With the spaces around it, so that a note reports that `yes` and ` yes` are one category.
                let whole = if let Cell::Text(whole) = cell { whole } else { text };
                let value = std::str::from_utf8(text).map_err(|_| not_utf8(&name(), text))?;
                if known.as_ref().is_some_and(|known| !is_among(known, value)) {
                    // A row that is dropped in the end may hold what no other row does. The block must not know it, or
                    // it would be taken for a value of the model's.
                    if self.unknown.is_none() {
                        self.unknown = Some((plan.names[place].clone(), value.to_owned()));
                    }
                    self.codes[*slot] = MISSING;
                } else {
                    self.codes[*slot] = values.category(whole).ok_or_else(|| not_utf8(&name(), text))?;
                }
            }
            Use::Vector(_) | Use::Sparse => {
                let message = format!("column {} should hold lists, but holds {}", name(), shown(cell));
                return Err(mistake(ErrorKind::Shape, message));
            }
        }
        Ok(())
    }

    /// Gives the row all its features at once, a missing one being NaN.
    pub(super) fn vector(
        &mut self,
        place: usize,
        numbers: impl ExactSizeIterator<Item = f64>,
    ) -> Result<(), Box<Mistake>> {
        self.mark(place)?;
        let plan = Arc::clone(&self.plan);
        let name = || quote(plan.names[place].as_bytes());
        let Use::Vector(width) = plan.uses[place] else {
            if matches!(plan.uses[place], Use::Ignore) {
                return Ok(());
            }
            let message = format!("column {} holds a list, expected a single value as in other rows", name());
            return Err(mistake(ErrorKind::Shape, message));
        };
        let found = numbers.len();
        if found != width {
            let message = format!("column {} holds a list of {found} numbers, expected {width}", name());
            return Err(mistake(ErrorKind::Shape, message));
        }
        for (feature, number) in (0..).zip(numbers) {
            if let Some(number) = self.admit(number, place)? {
                self.row.push((feature, number));
            }
        }
        Ok(())
    }

    /// Begins a row of pairs.
    pub(super) fn begin_pairs(&mut self, place: usize) -> Result<(), Box<Mistake>> {
        self.mark(place)?;
        if matches!(self.plan.uses[place], Use::Sparse | Use::Ignore) {
            return Ok(());
        }
        let name = quote(self.plan.names[place].as_bytes());
        let message = format!("column {name} holds pairs of index and value, expected what other rows have");
        Err(mistake(ErrorKind::Shape, message))
    }

    /// Gives the row one of its pairs; `key` is the index, or its name where features are hashed.
    pub(super) fn pair(&mut self, place: usize, key: &str, number: f64) -> Result<(), Box<Mistake>> {
        let Use::Sparse = self.plan.uses[place] else { return Ok(()) };
        if let Some(bits) = self.plan.schema.hash_bits {
            if let Some(value) = self.admit(number, place)? {
                self.row.push((hash_slot(key.as_bytes(), bits), value));
            }
            return Ok(());
        }
        let index = if key.bytes().all(|byte| byte.is_ascii_digit()) { key.parse().ok() } else { None };
        let Some(index) = index else {
            let message =
                format!("a feature index should be a whole number, but is {}", quote(key.as_bytes()));
            return Err(mistake(ErrorKind::Index, message)
                .with_help("if the features have names, hash them with {hash-bits=18}"));
        };
        self.index_pair(place, index, number)
    }

    /// Gives the row one of its pairs by index.
    pub(super) fn index_pair(&mut self, place: usize, index: u64, number: f64) -> Result<(), Box<Mistake>> {
        let Some(feature) = index.checked_sub(self.plan.first_index) else {
            return Err(mistake(ErrorKind::Index, "feature indices should start at 1, but one is 0")
                .with_help("if they start at 0, say so with {zero-based}"));
        };
        let limit = self.plan.schema.width.unwrap_or(self.plan.max_features);
        if feature >= limit as u64 {
            let message = format!("the feature index {index} is larger than {limit}, the limit");
            return Err(mistake(ErrorKind::Index, message)
                .with_help("hash the features with {hash-bits=18}, or raise the limit with {max-features}"));
        }
        if let Some(value) = self.admit(number, place)? {
            self.row.push((feature as u32, value));
        }
        Ok(())
    }

    /// A feature's value by the policy for missing ones; nothing if its row is dropped.
    fn admit(&mut self, number: f64, place: usize) -> Result<Option<T>, Box<Mistake>> {
        if let Some(value) = T::narrow(number) {
            return Ok(Some(value));
        }
        let name = quote(self.plan.names[place].as_bytes());
        match self.plan.schema.missing {
            _ if !number.is_nan() => Err(too_large(&name, number, Cell::Number(number))),
            Missing::Zero => Ok(Some(T::default())),
            Missing::Drop => {
                self.dropped = true;
                Ok(None)
            }
            Missing::Mean | Missing::Median | Missing::MostFrequent => Err(missing(&name, b"")
                .with_help("what is usual is known only of columns; use {missing=zero} or {missing=drop}")),
            Missing::Own => Ok(Some(T::nearest(f64::NAN))),
            Missing::Error => Err(missing(&name, b"")),
        }
    }

    /// Ends the row and stores it, unless it is to be dropped.
    pub(super) fn end_row(&mut self, block: &mut Block) -> Result<(), Box<Mistake>> {
        for place in 0..self.last_set.len() {
            if self.last_set[place] != self.this_row && self.plan.needs(place) {
                self.cell(place, Cell::Missing, block)?;
            }
        }
        if self.dropped {
            block.drop_row();
            return Ok(());
        }
        if let Some((column, value)) = self.unknown.take() {
            let message = format!(
                "column {} should hold a category that is known, but holds {}",
                quote(column.as_bytes()),
                quote(value.as_bytes())
            );
            return Err(mistake(ErrorKind::Shape, message).with_help(
                "admit new ones with {unknown=ignore}, or hash the categories with {hash-bits=18}",
            ));
        }
        if self.plan.is_whole {
            self.store_whole(block)?;
        } else if let Some(matrix) = T::dense(&mut block.matrix) {
            matrix.values.extend_from_slice(&self.numbers);
            block.cells.codes.extend_from_slice(&self.codes);
            for (texts, text) in block.cells.texts.iter_mut().zip(&self.texts) {
                texts.push(text);
            }
        }
        block.classes.push(self.class);
        if let Some(weight) = self.weight {
            block.push_weight(weight);
        }
        Ok(())
    }

    /// Adds rows of nothing but numbers at once, column by column with the slot of each. If one of them is missing or too
    /// large, nothing is added, and the rows are to be given cell by cell.
    #[cfg(feature = "arrow")]
    pub(super) fn add_numbers(&self, columns: &[(usize, &[f64])], n_rows: usize, block: &mut Block) -> bool {
        let width = self.plan.n_numbers;
        if self.plan.is_whole || columns.len() != width || self.plan.n_categories + self.plan.n_texts > 0 {
            return false;
        }
        let Some(matrix) = T::dense(&mut block.matrix) else { return false };
        let start = matrix.values.len();
        matrix.values.resize(start + n_rows * width, T::default());
        for &(slot, numbers) in columns {
            let places = matrix.values[start..].iter_mut().skip(slot).step_by(width);
            let all_fit = places.zip(numbers).all(|(place, &number)| {
                let narrow = T::narrow(number);
                *place = narrow.unwrap_or_default();
                narrow.is_some()
            });
            if !all_fit {
                matrix.values.truncate(start);
                return false;
            }
        }
        block.classes.resize(block.classes.len() + n_rows, 0);
        true
    }

    fn store_whole(&mut self, block: &mut Block) -> Result<(), Box<Mistake>> {
        if let Some(matrix) = T::dense(&mut block.matrix) {
            let start = matrix.values.len();
            matrix.values.resize(start + self.plan.width, T::default());
            if !self.row.is_sorted_by(|one, next| one.0 < next.0) {
                self.scratch.clone_from(&self.row);
                self.scratch.sort_unstable_by_key(|(feature, _)| *feature);
                if let Some(pair) = self.scratch.windows(2).find(|pair| pair[0].0 == pair[1].0) {
                    matrix.values.truncate(start);
                    let feature = pair[0].0;
                    return Err(self.twice(feature));
                }
            }
            for &(feature, value) in &self.row {
                if let Some(place) = matrix.values[start..].get_mut(feature as usize) {
                    *place = value;
                }
            }
        } else if let Some(matrix) = T::sparse(&mut block.matrix) {
            let start = matrix.n_entries();
            for &(feature, value) in self.row.iter().filter(|(_, value)| *value != T::default()) {
                matrix.indices.push(feature);
                matrix.values.push(value);
            }
            let (indices, values) = (&mut matrix.indices[start..], &mut matrix.values[start..]);
            if !indices.windows(2).all(|pair| pair[0] < pair[1])
                && let Some(twice) = sort_row(indices, values, &mut self.scratch)
            {
                if self.plan.schema.hash_bits.is_none() {
                    matrix.truncate(start);
                    return Err(self.twice(twice));
                }
                if merge_row(matrix, start).is_none() {
                    matrix.truncate(start);
                    let message = "the sum of features that share a slot should be finite, but is not";
                    return Err(mistake(ErrorKind::Number, message));
                }
            }
            matrix.end_row();
        }
        Ok(())
    }

    fn twice(&self, feature: u32) -> Box<Mistake> {
        let index = u64::from(feature) + self.plan.first_index;
        mistake(ErrorKind::Index, format!("the feature index {index} occurs twice, expected it once a row"))
    }

    /// Makes features of the block's cells, if the schema is settled.
    pub(super) fn encode(&mut self, block: &mut Block) {
        if let Some(encoder) = self.encoder.as_mut().filter(|_| !block.is_empty()) {
            encoder.encode::<T>(block, self.plan.keep_texts);
        }
    }

    /// Ends a block.
    pub(super) fn finish(&mut self, block: &mut Block) {
        block.finish_weights();
        self.n_rows += block.n_rows_seen();
        self.encode(block);
    }

    /// The number of the row at hand, counted from 1.
    pub(super) fn row_number(&self, block: &Block) -> u64 {
        self.n_rows + block.n_rows_seen() + 1
    }
}

/// Whether the options about texts, and about what a model learned before, mean anything in this table.
fn check_meant(judged: &Judged, how: &ReadOptions) -> Result<(), DataError> {
    let knows_categories = |schema: &Arc<Schema>| {
        schema.columns.iter().any(|column| matches!(column.kind, ColumnKind::Category { .. }))
    };
    let is_new = how.schema.is_none();
    if how.only.is_some() {
        return Ok(());
    }
    let has = |sense| judged.roles.iter().zip(&judged.senses).any(|of| of == (&Role::Feature, &sense));
    let said = how.said();
    let meant = |option: &str| match option {
        "ngrams" | "characters" | "words" => !is_new || has(Sense::Text),
        "hash-bits" => !is_new || has(Sense::Text) || has(Sense::Category) || has(Sense::Whole),
        "unknown" => how.schema.as_ref().is_some_and(knows_categories),
        _ => true,
    };
    let Some((option, _)) = said.into_iter().find(|(option, _)| !meant(option)) else { return Ok(()) };
    let why = match option {
        "unknown" => "no model has learned categories yet, so none is unknown",
        "hash-bits" => "it has neither categories nor text",
        _ => "none of its columns is text",
    };
    let message = format!("`{option}` means nothing in this table: {why}");
    Err(DataError::new(ErrorKind::Options, message).with_help(format!("leave {{{option}}} out")))
}

/// Whether a category is one of those that are known, by its spelling or by the number that it spells.
fn is_among(known: &HashSet<String>, value: &str) -> bool {
    known.contains(value) || known.contains(&*canonical_category(value))
}

fn check_names(names: &[&str]) -> Result<(), DataError> {
    let mut known = HashMap::new();
    for (place, column) in names.iter().enumerate() {
        if let Some(earlier) = known.insert(*column, place) {
            let message = format!(
                "two columns are called {}, number {} and number {}, expected different names",
                quote(column.as_bytes()),
                earlier + 1,
                place + 1
            );
            return Err(DataError::new(ErrorKind::Shape, message).with_help("rename one of them"));
        }
    }
    Ok(())
}

/// The column that holds all features, if there is one.
fn find_whole(
    columns: &[FileColumn],
    features: &[usize],
    how: &ReadOptions,
) -> Result<Option<usize>, DataError> {
    let is_whole = |&place: &usize| matches!(columns[place].form, Form::Vector(_) | Form::Sparse);
    let Some(place) = features.iter().copied().find(is_whole) else { return Ok(None) };
    let name = quote(columns[place].name.as_bytes());
    // A model that knows columns by name does not look at others.
    if how.schema.as_ref().is_some_and(|schema| !schema.columns.is_empty()) {
        return Ok(None);
    }
    let others: Vec<&str> =
        features.iter().filter(|&&other| other != place).map(|&other| columns[other].name.as_str()).collect();
    if !others.is_empty() && how.schema.is_none() {
        let message = format!("column {name} holds all features, but there are others: {}", list(&others));
        return Err(DataError::new(ErrorKind::Shape, message)
            .with_help("say which column is the label with {label}, and leave others out with {ignore}"));
    }
    if columns[place].form == Form::Vector(0) {
        let message = format!("column {name} holds lists, but none of numbers, expected features");
        return Err(DataError::new(ErrorKind::Shape, message)
            .with_help(format!("leave it out with {}", remedy::set("ignore", &columns[place].name))));
    }
    Ok(Some(place))
}

/// The first index is not to be named where it has no meaning.
pub(super) fn check_first_index(how: &ReadOptions, why: &str) -> Result<(), DataError> {
    if !how.zero_based {
        return Ok(());
    }
    let message = format!("`zero-based` means nothing here: {why}");
    Err(DataError::new(ErrorKind::Options, message).with_help("leave {zero-based} out"))
}

fn fresh_schema(
    columns: &[FileColumn],
    judged: &Judged,
    has_header: bool,
    how: &ReadOptions,
) -> Result<Schema, DataError> {
    if let Some(complaint) = TextEncoder::complaint(&how.text) {
        return Err(DataError::new(ErrorKind::Options, complaint));
    }
    let fill = (how.missing == Missing::Zero).then_some(0.0);
    let features = (0..columns.len()).filter(|&place| judged.roles[place] == Role::Feature);
    let kept: Vec<Column> = features
        .map(|place| {
            let kind = match (judged.senses[place], how.hash_bits) {
                (Sense::Text, bits) => ColumnKind::Text(Box::new(TextEncoder::new(how.text.clone(), bits))),
                (Sense::Category, Some(_)) => ColumnKind::Hashed,
                (Sense::Category, None) => ColumnKind::Category { values: Vec::new(), fill: None },
                (Sense::Number | Sense::Whole, _) => {
                    ColumnKind::Number { fill, spelling: columns[place].seen.spelling() }
                }
            };
            Column { name: columns[place].name.clone(), kind }
        })
        .collect();
    let is_open = |column: &Column| match &column.kind {
        ColumnKind::Category { .. } => true,
        ColumnKind::Text(encoder) => !encoder.is_fitted(),
        ColumnKind::Number { .. } | ColumnKind::Hashed => false,
    };
    let is_usual = matches!(how.missing, Missing::Mean | Missing::Median | Missing::MostFrequent);
    let mut schema = Schema {
        has_names: has_header,
        hash_bits: how.hash_bits,
        missing: how.missing,
        provisional: is_usual || kept.iter().any(is_open),
        columns: kept,
        ..Schema::default()
    };
    schema.layout = layout_of(&schema);
    Ok(schema)
}

/// For each column of the file, which column of the schema it is.
fn match_columns(
    schema: &Schema,
    names: &[&str],
    features: &[usize],
    has_header: bool,
    notes: &mut Vec<String>,
) -> Result<Vec<Option<usize>>, DataError> {
    let mut matched = vec![None; names.len()];
    let mut match_in_order = || {
        for (column, &place) in features.iter().enumerate() {
            matched[place] = Some(column);
        }
        std::mem::take(&mut matched)
    };
    // As a rule all are there in their order.
    let are_in_order =
        || features.iter().zip(&schema.columns).all(|(&place, column)| names[place] == column.name);
    if schema.has_names == has_header && features.len() == schema.columns.len() && are_in_order() {
        return Ok(match_in_order());
    }
    let by_name: HashMap<&str, usize> =
        schema.columns.iter().zip(0..).map(|(column, place)| (column.name.as_str(), place)).collect();
    if schema.has_names && !has_header {
        let known: Vec<&str> = schema.columns.iter().map(|column| column.name.as_str()).collect();
        let message = format!(
            "the table has no header, expected a first line with the names that were learned from: {}",
            list(&known)
        );
        return Err(DataError::new(ErrorKind::Shape, message)
            .with_help("write the names of the columns into the first line; if it holds them and they look like values, say so with {header=yes}"));
    }
    let all_are_there = || {
        let found = features.iter().filter(|&&place| by_name.contains_key(names[place]));
        found.count() == schema.columns.len()
    };
    if !schema.has_names && !all_are_there() {
        if features.len() != schema.columns.len() {
            let (found, expected) = (features.len(), schema.columns.len());
            let message = format!("there are {found} columns of features, expected {expected}");
            return Err(DataError::new(ErrorKind::Shape, message)
                .with_help("the table must have the columns that were learned from, in their order"));
        }
        return Ok(match_in_order());
    }
    let mut found = vec![false; schema.columns.len()];
    let mut others = Vec::new();
    for &place in features {
        match by_name.get(names[place]) {
            Some(&column) => {
                matched[place] = Some(column);
                found[column] = true;
            }
            None => others.push(names[place]),
        }
    }
    if let Some(lost) = found.iter().position(|found| !found) {
        let name = quote(schema.columns[lost].name.as_bytes());
        let message = format!("column {name} is missing, expected every column that was learned from");
        return Err(DataError::new(ErrorKind::Shape, message));
    }
    if !others.is_empty() {
        notes.push(format!("left out, as they were not learned from: {}", list(&others)));
    }
    Ok(matched)
}

fn shown(cell: Cell<'_>) -> String {
    match cell {
        Cell::Missing => "nothing".to_owned(),
        Cell::Number(number) => format!("`{number}`"),
        Cell::Text(text) => quote(text.trim_ascii()),
    }
}

fn missing(name: &str, found: &[u8]) -> Box<Mistake> {
    let found = if found.is_empty() { "an empty cell".to_owned() } else { quote(found) };
    mistake(
        ErrorKind::Missing,
        format!("a value of column {name} is missing: found {found}, expected a value"),
    )
    .with_help("say what to do about it with {missing=mean}, median, most-frequent, zero, drop or own")
}

fn not_utf8(name: &str, found: &[u8]) -> Box<Mistake> {
    let message = format!("column {name} should hold valid UTF-8, but holds {}", quote(found));
    mistake(ErrorKind::Encoding, message)
        .with_help("convert it, for instance: iconv -f LATIN1 -t UTF-8 IN > OUT")
}

fn too_large(name: &str, number: f64, cell: Cell<'_>) -> Box<Mistake> {
    if number.is_finite() {
        mistake(ErrorKind::Number, format!("the value should fit single precision, but is {}", shown(cell)))
            .with_help("store double precision with {precision=f64}")
    } else {
        mistake(ErrorKind::Number, format!("column {name} should hold finite numbers, but holds `{number}`"))
    }
}
