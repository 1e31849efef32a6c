//! What formats share whose rows are cells with names and types: JSON Lines, Parquet, Arrow.
//!
//! The rules are those of CSV, so that the same table gives the same rows whatever file it is in: one
//! column is the label, columns of numbers are features, columns of text become one feature per value,
//! missing cells go by the policy, and columns are matched by name with what was learned before. In
//! place of columns a table may have one that holds all features: a list of numbers, or pairs of index
//! and number. Nothing here knows how cells are stored.

use super::roles::{Role, for_table, list, roles};
use crate::error::{DataError, ErrorKind, Mistake, quote};
use crate::hash::hash_slot;
use crate::options::{OnBadRow, ReadOptions, find_column};
use crate::remedy;
use crate::rows::block::{Block, Stored, merge_row, sort_row};
use crate::rows::label_table::BadLabel;
use crate::rows::schema::{Column, ColumnKind, Layout, Missing, Schema, Tally};
use std::collections::HashMap;

/// A column of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileColumn {
    pub(super) name: String,
    pub(super) form: Form,
}

/// What the cells of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Numbers.
    Number,
    /// Text, or anything else that is a name.
    Text,
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
    Text(&'a str),
}

/// What is done with a column.
#[derive(Debug)]
enum Use {
    Label,
    Weight,
    Ignore,
    Number { column: usize, feature: u32, fill: Option<f64> },
    Category { column: usize, start: u32, values: HashMap<String, u32> },
    Hashed { column: usize, start: u32 },
    Vector(usize),
    Sparse,
}

/// The plan for a table, and the row at hand.
#[derive(Debug)]
pub(super) struct Table<T> {
    names: Vec<String>,
    uses: Vec<Use>,
    pub(super) schema: Schema,
    width: usize,
    max_categories: usize,
    max_features: usize,
    /// The smallest index of a sparse row.
    first_index: u64,
    pub(super) on_bad_row: OnBadRow,
    labelled: bool,
    /// Rows so far, those left out too.
    pub(super) n_rows: u64,
    /// The row in which each column had a cell last, counted from 1.
    last_set: Vec<u64>,
    this_row: u64,
    row: Vec<(u32, T)>,
    class: u32,
    weight: Option<f64>,
    dropped: bool,
    unknown: Option<Box<Mistake>>,
    seen: Vec<(usize, Seen)>,
    scratch: Vec<(u32, T)>,
}

#[derive(Debug)]
enum Seen {
    Number(f64),
    Category(String),
}

/// Whether a text says that its value is not known.
pub(super) fn is_missing(text: &str) -> bool {
    let text = text.trim_ascii();
    text.is_empty()
        || text == "?"
        || ["na", "n/a", "nan", "null"].iter().any(|w| text.eq_ignore_ascii_case(w))
}

fn mistake(kind: ErrorKind, message: impl Into<String>) -> Box<Mistake> {
    Mistake::new(kind, 0..0, message)
}

impl<T: Stored> Table<T> {
    /// Decides what each column is for.
    pub(super) fn plan(
        columns: &[FileColumn],
        how: &ReadOptions,
        mut notes: Vec<String>,
    ) -> Result<Self, DataError> {
        let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
        check_names(&names)?;
        let may_be_label = |place: usize| matches!(columns[place].form, Form::Number | Form::Text);
        let how = &*for_table(how, &names);
        let roles = roles(&names, how, may_be_label, "")?;
        let features: Vec<usize> = (0..roles.len()).filter(|&place| roles[place] == Role::Feature).collect();
        let whole =
            features.iter().copied().find(|&p| matches!(columns[p].form, Form::Vector(_) | Form::Sparse));
        if let Some(place) = whole
            && features.len() > 1
        {
            let others: Vec<String> =
                features.iter().filter(|&&other| other != place).map(|&other| names[other].clone()).collect();
            let message = format!(
                "column {} holds all features, but there are others: {}",
                quote(names[place].as_bytes()),
                list(&others)
            );
            return Err(DataError::new(ErrorKind::Shape, message).with_help(
                "say which column is the label with {label}, and leave others out with {ignore}",
            ));
        }
        if let Some(place) = whole
            && columns[place].form == Form::Vector(0)
        {
            let name = quote(names[place].as_bytes());
            let message = format!("column {name} holds lists, but none of numbers, expected features");
            return Err(DataError::new(ErrorKind::Shape, message)
                .with_help(format!("leave it out with {}", remedy::set("ignore", &names[place]))));
        }
        let schema = match (&how.schema, whole) {
            (Some(schema), _) => (**schema).clone(),
            (None, Some(place)) => {
                let (layout, width) = match columns[place].form {
                    Form::Vector(width) => (Layout::Dense, Some(width)),
                    _ => (Layout::Sparse, None),
                };
                let hash_bits = how.hash_bits.filter(|_| width.is_none());
                Schema { layout, width, hash_bits, missing: how.missing, notes, ..Schema::default() }
            }
            (None, None) => fresh_schema(columns, &roles, how, &mut notes)?,
        };
        let matched = match whole {
            Some(_) => vec![None; names.len()],
            None => match_columns(&schema, &names, &features)?,
        };
        let (starts, table) = schema.starts();
        let uses = columns.iter().zip(&roles).zip(&matched).map(|((file_column, role), column)| {
            match (role, file_column.form, column) {
                (Role::Label, ..) => Use::Label,
                (Role::Weight, ..) => Use::Weight,
                (Role::Feature, Form::Vector(width), _) => Use::Vector(width),
                (Role::Feature, Form::Sparse, _) => Use::Sparse,
                (Role::Ignore, ..) | (Role::Feature, _, None) => Use::Ignore,
                (Role::Feature, _, &Some(column)) => {
                    let start = starts[column] as u32;
                    match &schema.columns[column].kind {
                        ColumnKind::Number { fill } => Use::Number { column, feature: start, fill: *fill },
                        ColumnKind::Category { values } => {
                            Use::Category { column, start, values: values.iter().cloned().zip(0..).collect() }
                        }
                        ColumnKind::Hashed => Use::Hashed { column, start: table as u32 },
                    }
                }
            }
        });
        let uses: Vec<Use> = uses.collect();
        let width = schema.width().unwrap_or(0);
        if width > how.limits.features {
            let message = format!("there are {width} features, more than {}, the limit", how.limits.features);
            return Err(DataError::new(ErrorKind::Limit, message).with_help(
                "hash the categories with {hash-bits=18}, or raise the limit with {max-features}",
            ));
        }
        if let Some(&Use::Vector(found)) = uses.iter().find(|use_| matches!(use_, Use::Vector(_)))
            && schema.width().is_some_and(|expected| expected != found)
        {
            let message = format!("the rows have {found} features, expected {width}");
            return Err(DataError::new(ErrorKind::Shape, message));
        }
        Ok(Self {
            labelled: roles.contains(&Role::Label),
            last_set: vec![0; names.len()],
            names,
            uses,
            schema,
            width,
            max_categories: how.limits.categories,
            max_features: how.limits.features,
            first_index: u64::from(!how.zero_based),
            on_bad_row: how.on_bad_row,
            n_rows: 0,
            this_row: 0,
            row: Vec::new(),
            class: 0,
            weight: None,
            dropped: false,
            unknown: None,
            seen: Vec::new(),
            scratch: Vec::new(),
        })
    }

    /// Whether the cells of a column matter at all.
    pub(super) fn needs(&self, place: usize) -> bool {
        !matches!(self.uses.get(place), None | Some(Use::Ignore))
    }

    /// The places of the file's columns by name.
    pub(super) fn places(&self) -> HashMap<String, usize> {
        self.names.iter().cloned().zip(0..).collect()
    }

    #[cfg(feature = "arrow")]
    /// Indices of sparse rows start at 0, whatever the options say.
    pub(super) fn count_from_zero(&mut self) {
        self.first_index = 0;
    }

    /// Empties a block for rows of this table.
    pub(super) fn clear(&self, block: &mut Block) {
        let layout = if self.schema.provisional { Layout::Sparse } else { self.schema.layout };
        block.clear(layout, T::PRECISION, self.width);
        block.labelled = self.labelled;
        block.first_row = self.n_rows;
    }

    /// Begins a row.
    pub(super) fn begin_row(&mut self) {
        self.this_row += 1;
        self.row.clear();
        self.seen.clear();
        self.class = 0;
        self.weight = None;
        self.dropped = false;
        self.unknown = None;
    }

    /// Marks a column as having a cell in this row; an error if it has one already.
    fn mark(&mut self, place: usize) -> Result<(), Box<Mistake>> {
        if self.last_set[place] == self.this_row {
            let name = quote(self.names[place].as_bytes());
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
        self.mark(place)?;
        let name = || quote(self.names[place].as_bytes());
        let cell = match cell {
            Cell::Number(number) if number.is_nan() => Cell::Missing,
            Cell::Text(text)
                if is_missing(text) && !(text == "?" && matches!(self.uses[place], Use::Label)) =>
            {
                Cell::Missing
            }
            cell => cell,
        };
        match &self.uses[place] {
            Use::Ignore => {}
            Use::Label => {
                let outcome = match cell {
                    Cell::Missing => Err((BadLabel::Missing, String::new())),
                    Cell::Number(number) => {
                        let text = number.to_string();
                        block.names.number(text.as_bytes()).map_err(|bad| (bad, text))
                    }
                    Cell::Text(text) => {
                        block.names.number(text.as_bytes()).map_err(|bad| (bad, text.to_owned()))
                    }
                };
                self.class = outcome.map_err(|(bad, text)| {
                    mistake(ErrorKind::Label, bad.message(text.as_bytes())).with_help(format!(
                        "the label column is {}; choose another with {{label}}",
                        remedy::plain(&name())
                    ))
                })?;
            }
            Use::Weight => match cell {
                Cell::Number(number) if number >= 0.0 && number.is_finite() => self.weight = Some(number),
                other => {
                    let message =
                        format!("the weight should be a number of at least 0, but is {}", shown(other));
                    return Err(mistake(ErrorKind::Number, message));
                }
            },
            Use::Number { column, feature, fill } => {
                let number = match (cell, self.schema.missing, fill) {
                    (Cell::Number(number), ..) => number,
                    (Cell::Missing, Missing::Drop, _) => {
                        self.dropped = true;
                        return Ok(());
                    }
                    (Cell::Missing, _, &Some(fill)) => fill,
                    (Cell::Missing, Missing::Mean, None) => return Ok(()),
                    (Cell::Missing, ..) => return Err(missing(&name())),
                    (Cell::Text(_), ..) => {
                        let message = format!(
                            "column {} should hold finite numbers, but holds {}",
                            name(),
                            shown(cell)
                        );
                        return Err(mistake(ErrorKind::Number, message).with_help(format!(
                            "if its values are names, say {}",
                            remedy::set("categorical", &self.names[place])
                        )));
                    }
                };
                let value = T::narrow(number).ok_or_else(|| too_large(&name(), number))?;
                if self.schema.provisional {
                    self.seen.push((*column, Seen::Number(number)));
                } else {
                    self.row.push((*feature, value));
                }
            }
            Use::Category { .. } | Use::Hashed { .. } if cell == Cell::Missing => match self.schema.missing {
                Missing::Drop => self.dropped = true,
                Missing::Error => return Err(missing(&name())),
                Missing::Mean | Missing::Zero => {}
            },
            Use::Category { column, start, values } => {
                let spelled;
                let value = match cell {
                    Cell::Text(text) => text.trim_ascii(),
                    Cell::Number(number) => {
                        spelled = number.to_string();
                        &spelled
                    }
                    Cell::Missing => "",
                };
                if self.schema.provisional {
                    if !values.contains_key(value) {
                        self.seen.push((*column, Seen::Category(value.to_owned())));
                    }
                } else if let Some(&known) = values.get(value) {
                    self.row.push((start + known, T::narrow(1.0).unwrap_or_default()));
                } else if self.unknown.is_none() {
                    let message = format!(
                        "column {} should hold a category that is known, but holds {}",
                        name(),
                        shown(cell)
                    );
                    // A row that is dropped in the end may hold what no other row does.
                    self.unknown = Some(
                        mistake(ErrorKind::Shape, message)
                            .with_help("hash the categories with {hash-bits=18} to admit new ones"),
                    );
                }
            }
            Use::Hashed { column, start } => {
                let spelled;
                let value = match cell {
                    Cell::Text(text) => text.trim_ascii(),
                    Cell::Number(number) => {
                        spelled = number.to_string();
                        &spelled
                    }
                    Cell::Missing => "",
                };
                let slot = self.schema.hashed_feature(&self.schema.columns[*column].name, value);
                self.row.push((start + slot, T::narrow(1.0).unwrap_or_default()));
            }
            Use::Vector(_) | Use::Sparse => match (cell, self.schema.missing) {
                (Cell::Missing, Missing::Drop) => self.dropped = true,
                (Cell::Missing, _) => return Err(missing(&name())),
                _ => {
                    let message = format!("column {} should hold lists, but holds {}", name(), shown(cell));
                    return Err(mistake(ErrorKind::Shape, message));
                }
            },
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
        let name = || quote(self.names[place].as_bytes());
        let Use::Vector(width) = self.uses[place] else {
            if matches!(self.uses[place], Use::Ignore) {
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
        if matches!(self.uses[place], Use::Sparse | Use::Ignore) {
            return Ok(());
        }
        let name = quote(self.names[place].as_bytes());
        let message = format!("column {name} holds pairs of index and value, expected what other rows have");
        Err(mistake(ErrorKind::Shape, message))
    }

    /// Gives the row one of its pairs; `key` is the index, or its name where features are hashed.
    pub(super) fn pair(&mut self, place: usize, key: &str, number: f64) -> Result<(), Box<Mistake>> {
        let Use::Sparse = self.uses[place] else { return Ok(()) };
        if let Some(bits) = self.schema.hash_bits {
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
        let Some(feature) = index.checked_sub(self.first_index) else {
            return Err(mistake(ErrorKind::Index, "feature indices should start at 1, but one is 0")
                .with_help("if they start at 0, say so with {zero-based}"));
        };
        let limit = self.schema.width.unwrap_or(self.max_features);
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
        let name = quote(self.names[place].as_bytes());
        match self.schema.missing {
            _ if !number.is_nan() => Err(too_large(&name, number)),
            Missing::Zero => Ok(Some(T::default())),
            Missing::Drop => {
                self.dropped = true;
                Ok(None)
            }
            Missing::Mean => Err(missing(&name)
                .with_help("means are known only of columns; use {missing=zero} or {missing=drop}")),
            Missing::Error => Err(missing(&name)),
        }
    }

    /// Ends the row and stores it, unless it is to be dropped.
    pub(super) fn end_row(&mut self, block: &mut Block) -> Result<(), Box<Mistake>> {
        for place in 0..self.uses.len() {
            if self.last_set[place] != self.this_row && self.needs(place) {
                self.cell(place, Cell::Missing, block)?;
            }
        }
        if self.dropped {
            block.n_dropped += 1;
            return Ok(());
        }
        if let Some(unknown) = self.unknown.take() {
            return Err(unknown);
        }
        if self.schema.provisional {
            self.take_in()?;
            if let Some(matrix) = T::sparse(&mut block.matrix) {
                matrix.end_row();
            }
        } else if let Some(matrix) = T::dense(&mut block.matrix) {
            let start = matrix.values.len();
            matrix.values.resize(start + self.width, T::default());
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
                if self.schema.hash_bits.is_none() {
                    matrix.truncate(start);
                    let index = u64::from(twice) + self.first_index;
                    let message = format!("the feature index {index} occurs twice, expected it once a row");
                    return Err(mistake(ErrorKind::Index, message));
                }
                if merge_row(matrix, start).is_none() {
                    matrix.truncate(start);
                    let message = "the sum of features that share a slot should be finite, but is not";
                    return Err(mistake(ErrorKind::Number, message));
                }
            }
            matrix.end_row();
        }
        block.classes.push(self.class);
        if let Some(weight) = self.weight {
            block.push_weight(weight);
        }
        Ok(())
    }

    /// Ends a block.
    pub(super) fn finish(&mut self, block: &mut Block) {
        block.finish_weights();
        self.n_rows += block.len() as u64 + block.n_dropped + block.n_skipped;
    }

    /// The number of the row at hand, counted from 1.
    pub(super) fn row_number(&self, block: &Block) -> u64 {
        self.n_rows + block.len() as u64 + block.n_dropped + block.n_skipped + 1
    }

    /// Takes in what a survey found in one row.
    fn take_in(&mut self) -> Result<(), Box<Mistake>> {
        for (column, seen) in self.seen.drain(..) {
            match (seen, &mut self.schema.columns[column].kind) {
                (Seen::Number(number), _) => {
                    if let Some(tally) = self.schema.tallies.get_mut(column) {
                        tally.add(number);
                    }
                }
                (Seen::Category(value), ColumnKind::Category { values }) => {
                    if values.len() >= self.max_categories {
                        let message = format!(
                            "column {} has more than {} different values, the limit",
                            quote(self.schema.columns[column].name.as_bytes()),
                            self.max_categories
                        );
                        return Err(mistake(ErrorKind::Limit, message).with_help(
                            "hash the categories with {hash-bits=18}, or leave the column out with {ignore}",
                        ));
                    }
                    let known = self.uses.iter_mut().find_map(|use_| match use_ {
                        Use::Category { column: other, values, .. } if *other == column => Some(values),
                        _ => None,
                    });
                    if let Some(known) = known {
                        known.insert(value.clone(), values.len() as u32);
                    }
                    values.push(value);
                }
                (Seen::Category(_), _) => {}
            }
        }
        Ok(())
    }
}

fn check_names(names: &[String]) -> Result<(), DataError> {
    let mut known = HashMap::new();
    for (place, column) in names.iter().enumerate() {
        if let Some(earlier) = known.insert(column.as_str(), place) {
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

fn fresh_schema(
    columns: &[FileColumn],
    roles: &[Role],
    how: &ReadOptions,
    notes: &mut Vec<String>,
) -> Result<Schema, DataError> {
    let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
    let mut categorical = Vec::new();
    for what in &how.categorical {
        categorical.push(find_column(what, &names).ok_or_else(|| {
            let what = quote(what.as_bytes());
            let message =
                format!("there is no column {what} of categories, expected one of {}", list(&names));
            DataError::new(ErrorKind::Options, message)
        })?);
    }
    let fill = if how.missing == Missing::Zero { Some(0.0) } else { None };
    let features = (0..columns.len()).filter(|&place| roles[place] == Role::Feature);
    let columns_kept: Vec<Column> = features
        .map(|place| {
            let is_category = categorical.contains(&place) || columns[place].form == Form::Text;
            let kind = match (is_category, how.hash_bits) {
                (true, Some(_)) => ColumnKind::Hashed,
                (true, None) => ColumnKind::Category { values: Vec::new() },
                (false, _) => ColumnKind::Number { fill },
            };
            Column { name: names[place].clone(), kind }
        })
        .collect();
    let of_categories: Vec<String> = columns_kept
        .iter()
        .filter(|column| !matches!(column.kind, ColumnKind::Number { .. }))
        .map(|column| column.name.clone())
        .collect();
    if !of_categories.is_empty() {
        notes.push(format!("read as categories: {}", list(&of_categories)));
    }
    let has_categories = columns_kept.iter().any(|column| matches!(column.kind, ColumnKind::Category { .. }));
    let label = roles.iter().position(|role| *role == Role::Label);
    Ok(Schema {
        tallies: vec![Tally::default(); columns_kept.len()],
        label: label.map(|place| names[place].clone()),
        has_names: true,
        layout: if of_categories.is_empty() { Layout::Dense } else { Layout::Sparse },
        hash_bits: how.hash_bits,
        missing: how.missing,
        provisional: has_categories || how.missing == Missing::Mean,
        notes: std::mem::take(notes),
        columns: columns_kept,
        ..Schema::default()
    })
}

/// For each column of the file, which column of the schema it is.
fn match_columns(
    schema: &Schema,
    names: &[String],
    features: &[usize],
) -> Result<Vec<Option<usize>>, DataError> {
    let mut matched = vec![None; names.len()];
    if !schema.has_names {
        if features.len() != schema.columns.len() {
            let (found, expected) = (features.len(), schema.width().unwrap_or(0));
            let message = format!("there are {found} columns of features, expected {expected} features");
            return Err(DataError::new(ErrorKind::Shape, message));
        }
        for (column, &place) in features.iter().enumerate() {
            matched[place] = Some(column);
        }
        return Ok(matched);
    }
    let by_name: HashMap<&str, usize> =
        schema.columns.iter().zip(0..).map(|(column, place)| (column.name.as_str(), place)).collect();
    let mut found = vec![false; schema.columns.len()];
    for &place in features {
        let name = &names[place];
        let Some(&column) = by_name.get(name.as_str()) else { return Err(new_column(name)) };
        matched[place] = Some(column);
        found[column] = true;
    }
    if let Some(lost) = found.iter().position(|found| !found) {
        let name = quote(schema.columns[lost].name.as_bytes());
        let message = format!("column {name} is missing, expected every column that was learned from");
        return Err(DataError::new(ErrorKind::Shape, message));
    }
    Ok(matched)
}

fn new_column(name: &str) -> DataError {
    let message =
        format!("column {} is new, expected only the columns that were learned from", quote(name.as_bytes()));
    DataError::new(ErrorKind::Shape, message)
        .with_help(format!("leave it out with {}", remedy::set("ignore", name)))
}

fn shown(cell: Cell<'_>) -> String {
    match cell {
        Cell::Missing => "nothing".to_owned(),
        Cell::Number(number) => format!("`{number}`"),
        Cell::Text(text) => quote(text.as_bytes()),
    }
}

fn missing(name: &str) -> Box<Mistake> {
    mistake(ErrorKind::Missing, format!("a value of column {name} is missing, expected one"))
        .with_help("say what to do about it with {missing=mean}, zero or drop")
}

fn too_large(name: &str, number: f64) -> Box<Mistake> {
    if number.is_finite() {
        mistake(ErrorKind::Number, format!("the value should fit single precision, but is `{number}`"))
            .with_help("store double precision with {precision=f64}")
    } else {
        mistake(ErrorKind::Number, format!("column {name} should hold finite numbers, but holds `{number}`"))
    }
}
