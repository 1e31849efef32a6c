//! Rows that can be read again and again: all in memory, or on disk and lent block by block.
//!
//! Whatever looks at many rows (training, evaluation, calibration, the fit of a map) asks for them here, so that it is
//! written once. Other code need not know where rows are, except that only rows in memory can be visited in
//! any order.

use crate::error::Error;
use crate::fingerprint::{Fingerprint, fingerprint};
use rosenblatt_core::{Examples, Row};
use rosenblatt_data::{Cached, Dataset, Labels, Schema, View, visit};
use std::ops::ControlFlow;
use std::sync::Arc;

/// At most this many rows in memory are lent at once, so that the work on them is asked now and then whether
/// to go on.
const AT_ONCE: usize = 4096;

/// Rows and their classes.
#[derive(Debug)]
pub enum RowSource<'a> {
    /// In memory.
    Memory(&'a Dataset),
    /// On disk, visited as they stand.
    Disk(&'a mut Cached),
}

impl<'a> From<&'a Dataset> for RowSource<'a> {
    fn from(data: &'a Dataset) -> Self {
        Self::Memory(data)
    }
}

impl<'a> From<&'a mut Cached> for RowSource<'a> {
    fn from(data: &'a mut Cached) -> Self {
        Self::Disk(data)
    }
}

impl<'a> RowSource<'a> {
    /// The same rows, lent for a while.
    pub fn reborrow(&mut self) -> RowSource<'_> {
        match self {
            Self::Memory(data) => RowSource::Memory(data),
            Self::Disk(data) => RowSource::Disk(data),
        }
    }

    /// The data set, if it is in memory.
    pub fn dataset(&self) -> Option<&'a Dataset> {
        match self {
            Self::Memory(data) => Some(data),
            Self::Disk(_) => None,
        }
    }

    /// The classes.
    pub fn labels(&self) -> &Labels {
        match self {
            Self::Memory(data) => data.labels(),
            Self::Disk(data) => data.labels(),
        }
    }

    /// The class of every row.
    pub fn classes(&self) -> &[u32] {
        match self {
            Self::Memory(data) => data.classes(),
            Self::Disk(data) => data.classes(),
        }
    }

    /// The place of a row in its source, from 0, rows that were left out counted.
    pub(crate) fn number(&self, row: usize) -> usize {
        match self {
            Self::Memory(data) => data.number(row),
            Self::Disk(data) => data.number(row),
        }
    }

    /// How many features a row has.
    pub fn width(&self) -> usize {
        match self {
            Self::Memory(data) => data.width(),
            Self::Disk(data) => data.width(),
        }
    }

    /// The number of every row.
    pub(crate) fn all(&self) -> Vec<u32> {
        (0..self.classes().len() as u32).collect()
    }

    /// What the features are called, if they have names.
    pub(crate) fn feature_names(&self) -> Option<Arc<[String]>> {
        match self {
            Self::Memory(data) => data.shared_feature_names(),
            Self::Disk(data) => data.schema().feature_names(),
        }
    }

    /// The schema, of rows that know it.
    pub(crate) fn schema(&self) -> Option<&Schema> {
        match self {
            Self::Memory(_) => None,
            Self::Disk(data) => Some(data.schema()),
        }
    }

    /// The fingerprint of all rows.
    pub(crate) fn fingerprint(&mut self) -> Result<String, Error> {
        let data = match self {
            Self::Memory(data) => return Ok(fingerprint(data)),
            Self::Disk(data) => data,
        };
        let mut digest = Fingerprint::of(data.labels());
        data.rewind()?;
        while let Some((_, view)) = data.next()? {
            digest.add_rows(view, 0..view.len());
        }
        Ok(digest.digest())
    }

    /// Lends these rows, whose numbers ascend if they are on disk, piece by piece: the number of the block's first row,
    /// the block, and the places in it of those rows.
    pub(crate) fn each_block<B>(
        &mut self,
        rows: &[u32],
        mut work: impl FnMut(usize, View<'_>, &[u32]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, Error> {
        let data = match self {
            Self::Memory(data) => {
                let mut pieces = rows.chunks(AT_ONCE);
                return Ok(pieces.try_for_each(|rows| work(0, data.view(), rows)));
            }
            Self::Disk(data) => data,
        };
        data.rewind()?;
        let mut rest = rows;
        let mut listed = Vec::new();
        while let Some((first, view)) = data.next()? {
            let n_here = rest.partition_point(|&row| (row as usize) < first + view.len());
            let (here, after) = rest.split_at(n_here);
            rest = after;
            listed.clear();
            listed.extend(here.iter().map(|&row| row - first as u32));
            if let ControlFlow::Break(why) = work(first, view, &listed) {
                return Ok(ControlFlow::Break(why));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// Refuses values that are not finite numbers, naming the first.
pub fn check_finite(rows: View<'_>) -> Result<(), Error> {
    visit!(rows, examples => {
        if examples.all_finite() {
            return Ok(());
        }
        for row in 0..examples.len() {
            let culprit = examples.row(row).entries().find(|(_, value)| !value.is_finite());
            if let Some((feature, value)) = culprit {
                return Err(Error::NotFinite { row, feature, value });
            }
        }
    });
    Ok(())
}
