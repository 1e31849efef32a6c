//! What ties the rows of a table together: the columns of times and of groups, by which they are split.

use super::{Choice, Recipe};
use crate::error::Error;
use crate::rows::RowSource;
use crate::split::Ties;
use rosenblatt_data::formats::is_label_name;
use rosenblatt_data::{
    Dataset, LabelColumn, OneColumn, Schema, Shape, Source, column, load_with_schema, rewindable, spooled,
};
use std::sync::Arc;

impl Recipe {
    /// The source, which must be read once more to know what ties its rows, or where a race finds that columns bend: a pipe
    /// gives the same model as a file.
    pub(super) fn read_twice(&self, source: &Source) -> Result<Source, Error> {
        let is_split = self.time.is_some() || self.group.is_some();
        let is_raced = match &self.choice {
            Choice::Auto => self.learning.leaves_race_open(),
            Choice::Race(racing) => racing.candidates.is_empty(),
            Choice::Given => false,
        };
        let may_bend = is_raced
            && !self.online
            && self.memory.is_none()
            && matches!(self.reading().shape, Shape::Auto | Shape::Curves);
        if is_split {
            return Ok(rewindable(source, &self.reading())?);
        }
        if may_bend { Ok(spooled(source, &self.reading())?) } else { Ok(source.clone()) }
    }

    /// What rows are split by is no label. Where its name says that it is one, another column would silently be the label.
    fn check_label(&self) -> Result<(), Error> {
        if self.reading.label != LabelColumn::Guess || self.reading.schema.is_some() {
            return Ok(());
        }
        for (name, column) in [("time", &self.time), ("group", &self.group)] {
            if let Some(column) = column.as_ref().filter(|column| is_label_name(column)) {
                let found = format!("`{column}`, which is the label by its name");
                let expected = "a column beside the label; if another one is the label, name that";
                return Err(Error::Range { name, expected, found });
            }
        }
        Ok(())
    }

    /// What stands in the columns that rows are split by.
    pub(super) fn cells(&self, source: &Source) -> Result<Cells, Error> {
        let read = |what: &String, cells| column(source, &self.reading(), OneColumn::of_values(what, cells));
        let times = self.time.as_ref().map(|what| read(what, "times")).transpose()?;
        let groups = self.group.as_ref().map(|what| read(what, "groups")).transpose()?;
        if let Some((_, values)) = &times {
            check_times(values.names())?;
        }
        self.check_label()?;
        Ok(Cells { times: times.map(|(cells, _)| cells), groups: groups.map(|(cells, _)| cells) })
    }

    /// What an estimate assumes of the rows to come, as rows are split.
    pub fn assumes(&self) -> &'static str {
        crate::model::assumes(self.time.is_some(), self.group.is_some())
    }

    /// The rows of a table, how they were read, and what ties them.
    pub fn tied_rows(&self, source: &Source) -> Result<(Dataset, Schema, Arc<Ties>), Error> {
        let source = self.read_twice(source)?;
        let cells = self.cells(&source)?;
        let (data, schema) = load_with_schema(&source, &super::bent_if_own(self.reading()))?;
        let tied = self.tied(&cells, &(&data).into())?;
        Ok((data, schema, tied.ties))
    }

    /// The same recipe, knowing what ties these rows.
    pub(super) fn tied(&self, cells: &Cells, rows: &RowSource<'_>) -> Result<Self, Error> {
        let of_rows = |name: &'static str, cells: &Vec<Option<u32>>| -> Result<Vec<u32>, Error> {
            let of_row = |row: usize| {
                let place = rows.number(row);
                cells.get(place).copied().flatten().ok_or_else(|| Error::Range {
                    name,
                    expected: "a column with a value in every row",
                    found: format!("one without a value in row {}", place + 1),
                })
            };
            (0..rows.classes().len()).map(of_row).collect()
        };
        let mut ties = Ties::default();
        if let Some(times) = &cells.times {
            ties = ties.in_time(of_rows("time", times)?);
        }
        if let Some(groups) = &cells.groups {
            let groups = of_rows("group", groups)?;
            if groups.windows(2).all(|pair| pair[0] == pair[1]) {
                let column = self.group.as_deref().unwrap_or_default();
                let found = format!("`{column}`, whose rows all belong to one group");
                return Err(Error::Range {
                    name: "group",
                    expected: "a column of two groups at least",
                    found,
                });
            }
            ties = ties.in_groups(groups);
        }
        Ok(Self { ties: Arc::new(ties), ..self.clone() })
    }
}

/// The columns that rows are split by: for every row of the source, the place of its cell among all values.
pub(super) struct Cells {
    times: Option<Vec<Option<u32>>>,
    groups: Option<Vec<Option<u32>>>,
}

/// Times are numbers, or texts that stand in the alphabet as they do in time.
fn check_times(values: &[String]) -> Result<(), Error> {
    if values.iter().all(|value| value.parse::<f64>().is_ok()) {
        return Ok(());
    }
    let shape = |value: &String| -> Vec<char> {
        value.chars().map(|letter| if letter.is_ascii_digit() { '0' } else { letter }).collect()
    };
    let first = values.first().map(shape).unwrap_or_default();
    let is_dated = |value: &String| {
        let shape = shape(value);
        shape.starts_with(&['0'; 4]) && !shape.contains(&'+') && shape == first
    };
    match values.iter().find(|value| !is_dated(value)) {
        Some(odd) => Err(Error::Range {
            name: "time",
            expected: "a column of numbers, or of dates and times that are all written as 2024-05-31 is",
            found: format!("one that holds `{odd}`"),
        }),
        None => Ok(()),
    }
}

/// A stream is judged in its own order, row by row.
pub(super) fn check_stream(recipe: &Recipe) -> Result<(), Error> {
    refuse(recipe, "left out where rows are learned online: each is judged before it is learned from")
}

/// Sentences have no columns that could be looked into.
pub(super) fn check_sentences(recipe: &Recipe) -> Result<(), Error> {
    refuse(recipe, "left out for sentences, which are split as they stand")
}

/// Rows in memory have no columns to look into.
pub(super) fn check_rows(recipe: &Recipe) -> Result<(), Error> {
    refuse(recipe, "left out for rows in memory, whose columns have no names")
}

fn refuse(recipe: &Recipe, expected: &'static str) -> Result<(), Error> {
    let (name, set) = match (&recipe.time, &recipe.group) {
        (Some(column), _) => ("time", column),
        (None, Some(column)) => ("group", column),
        (None, None) => return Ok(()),
    };
    Err(Error::Range { name, expected, found: format!("`{set}`") })
}
