//! A source that is larger than memory: read once, and from then on pass by pass out of a cache.
//!
//! The first reading parses on a thread of its own while this one writes the [cache](crate::CacheFile) and keeps what
//! must be known before anything is learned: classes in their final order, the width, the class of every row.
//! That makes the rows what [`load_with_schema`](crate::load_with_schema) would give, under the same numbers, while
//! only a few blocks are in memory. A cache that is to be kept is used again if it is whole and was made of
//! the same data in the same way; otherwise it is made anew.

use crate::bytes::source::Source;
use crate::cache::ahead::Ahead;
use crate::cache::file::{CacheFile, CacheReader, fingerprint};
use crate::error::{DataError, ErrorKind};
use crate::load::{blocks, final_labels};
use crate::options::ReadOptions;
use crate::rows::dataset::{LeftOutRows, Matrix, View};
use crate::rows::labels::Labels;
use crate::rows::schema::Schema;
use std::path::Path;

/// The rows of a source, in a cache.
#[derive(Debug)]
pub struct Cached {
    blocks: Ahead,
    schema: Schema,
    labels: Labels,
    /// The final number of each class by its number in the cache.
    numbers: Vec<u32>,
    /// The class of every row.
    classes: Vec<u32>,
    width: usize,
    memory_bytes: u64,
    left_out: LeftOutRows,
    /// Rows of this pass so far.
    n_passed: usize,
}

/// Where the rows are parked meanwhile.
#[derive(Debug, Clone, Copy)]
pub enum Park<'a> {
    /// In a file of the system's temporary folder that has no name and ends with this process.
    Temporary,
    /// In this file, which stays, and is used again if it can be.
    Kept(&'a Path),
}

impl Cached {
    /// Reads all of `source`, or the cache that was kept of it.
    pub fn read(source: &Source, how: &ReadOptions, park: Park<'_>) -> Result<Self, DataError> {
        let mark = fingerprint(source, how);
        let kept = match park {
            Park::Kept(path) => mark.and_then(|mark| CacheReader::open(path, mark).ok()),
            Park::Temporary => None,
        };
        // Which classes there are is known in the end only, and which one is positive, too.
        let growing = ReadOptions { positive: None, grow_classes: how.classes.is_none(), ..how.clone() };
        let mut stream = blocks(source, &growing)?;
        let schema = stream.schema().clone();
        let mark = mark.unwrap_or(0);
        let reader = if let Some(reader) = kept {
            drop(stream);
            reader
        } else {
            let mut cache = match park {
                Park::Kept(path) => CacheFile::create(path, mark)?,
                Park::Temporary => CacheFile::temporary(mark)?,
            };
            while let Some(block) = stream.next()? {
                if !block.is_labelled() {
                    let message = "the rows have no labels, expected rows to learn from";
                    return Err(DataError::new(ErrorKind::Label, message).in_source(&source.name()));
                }
                cache.write(block)?;
            }
            cache.finish(stream.labels())?
        };
        let found = reader.labels().clone();
        let labels = final_labels(found.clone(), how)?;
        let numbers = found.names().iter().filter_map(|name| labels.class(name)).collect();
        let (classes, width) = (Vec::new(), 0);
        let (memory_bytes, n_passed) = (0, 0);
        let mut cached = Self {
            blocks: Ahead::new(reader),
            schema,
            labels,
            numbers,
            classes,
            width,
            memory_bytes,
            left_out: LeftOutRows::default(),
            n_passed,
        };
        cached.look_through()?;
        Ok(cached)
    }

    /// Takes note of what must be known of all rows.
    fn look_through(&mut self) -> Result<(), DataError> {
        let mut classes = Vec::new();
        while let Some(block) = self.blocks.next()? {
            self.width = self.width.max(block.width());
            self.memory_bytes += match block.matrix() {
                Matrix::Dense32(matrix) => 4 * matrix.values.len(),
                Matrix::Dense64(matrix) => 8 * matrix.values.len(),
                Matrix::Sparse32(matrix) => 8 * matrix.values.len() + 8 * matrix.offsets.len(),
                Matrix::Sparse64(matrix) => 12 * matrix.values.len() + 8 * matrix.offsets.len(),
            } as u64;
            let runs = block.gaps.runs().iter();
            runs.for_each(|gap| self.left_out.add(classes.len() + gap.n_before, gap.n_rows));
            classes.extend(block.classes().iter().map(|&class| self.numbers[class as usize]));
        }
        self.memory_bytes += 4 * classes.len() as u64;
        self.width = self.width.max(self.schema.width().unwrap_or(0));
        if self.schema.width().is_none() {
            self.schema.width = Some(self.width);
        }
        self.classes = classes;
        self.rewind()
    }

    /// The rows with two classes, of which `name` is the positive one; see
    /// [`Dataset::with_positive`](crate::Dataset::with_positive).
    pub fn with_positive(mut self, name: &str) -> Option<Self> {
        self.labels = self.labels.positive(name, &mut self.classes)?;
        Some(self)
    }

    /// What prediction must know of the data.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The classes.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// The place of a row in its source, from 0; see [`Dataset::number`](crate::Dataset::number).
    pub fn number(&self, idx: usize) -> usize {
        self.left_out.number(idx)
    }

    /// The class of every row.
    pub fn classes(&self) -> &[u32] {
        &self.classes
    }

    /// How many features a row has.
    pub fn width(&self) -> usize {
        self.width
    }

    /// How many bytes the rows would take in memory.
    pub fn memory_bytes(&self) -> u64 {
        self.memory_bytes
    }

    /// Begins another pass.
    pub fn rewind(&mut self) -> Result<(), DataError> {
        self.n_passed = 0;
        self.blocks.rewind()
    }

    /// The next rows of this pass, and the number of the first of them; `None` at the end.
    #[expect(clippy::should_implement_trait, reason = "the rows are lent, which an iterator cannot do")]
    pub fn next(&mut self) -> Result<Option<(usize, View<'_>)>, DataError> {
        let Some(block) = self.blocks.next()? else { return Ok(None) };
        let first = self.n_passed;
        let Some(classes) = self.classes.get(first..first + block.len()) else {
            let message = "the cache has more rows than it had, expected it to stay as it is";
            return Err(DataError::new(ErrorKind::Format, message));
        };
        self.n_passed += block.len();
        Ok(Some((first, block.view().with_classes(classes))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::load_with_schema;
    use std::fs;

    /// Rows as their classes and entries.
    fn rows(view: View<'_>) -> Vec<(u32, Vec<(usize, f64)>)> {
        struct Rows;
        impl crate::Visitor for Rows {
            type Output = Vec<(u32, Vec<(usize, f64)>)>;
            fn visit<E: rosenblatt_core::Examples>(self, examples: E) -> Self::Output {
                use rosenblatt_core::Row;
                (0..examples.len())
                    .map(|row| (examples.class(row), examples.row(row).entries().collect()))
                    .collect()
            }
        }
        view.visit(Rows)
    }

    #[test]
    fn the_rows_are_those_of_memory_and_a_kept_cache_is_used_again() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("t.svm");
        let line =
            |row: usize| format!("{} {}:{} 900:0.1\n", ["c", "b", "a"][row * row % 3], row % 800 + 1, row);
        // A class of its own stands last, where the first block cannot know it.
        let text = (0..40_000).map(line).collect::<Vec<_>>().concat() + "0 1:1\n";
        fs::write(&data, &text).unwrap();
        let how = ReadOptions::as_stored();
        let (source, path) = (Source::file(&data), folder.path().join("rows.cache"));
        let (dataset, schema) = load_with_schema(&source, &how).unwrap();
        let check = |mut cached: Cached| {
            assert_eq!((cached.labels(), cached.classes()), (dataset.labels(), dataset.classes()));
            assert_eq!((cached.width(), cached.schema()), (dataset.width(), &schema));
            for _ in 0..2 {
                let mut found = Vec::new();
                while let Some((first, view)) = cached.next().unwrap() {
                    assert_eq!(first, found.len());
                    found.extend(rows(view));
                }
                assert_eq!(found, rows(dataset.view()));
                cached.rewind().unwrap();
            }
        };
        check(Cached::read(&source, &how, Park::Temporary).unwrap());
        check(Cached::read(&source, &how, Park::Kept(&path)).unwrap());
        let written = fs::metadata(&path).unwrap().modified().unwrap();
        check(Cached::read(&source, &how, Park::Kept(&path)).unwrap());
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), written);
        // A damaged one is made again.
        let mut bytes = fs::read(&path).unwrap();
        bytes.truncate(bytes.len() - 3);
        fs::write(&path, bytes).unwrap();
        check(Cached::read(&source, &how, Park::Kept(&path)).unwrap());
        fs::write(&data, text + "0 1:1\n").unwrap();
        assert_eq!(Cached::read(&source, &how, Park::Kept(&path)).unwrap().classes().len(), 40_002);
    }

    #[test]
    fn a_cache_that_is_damaged_between_passes_ends_the_pass_with_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("t.svm");
        let line = |row: usize| format!("{} {}:{}\n", row % 2, row % 800 + 1, row + 1);
        fs::write(&data, (0..60_000).map(line).collect::<Vec<_>>().concat()).unwrap();
        let (source, path) = (Source::file(&data), folder.path().join("rows.cache"));
        let mut cached = Cached::read(&source, &ReadOptions::as_stored(), Park::Kept(&path)).unwrap();
        let pass = |cached: &mut Cached| {
            cached.rewind()?;
            let mut n_rows = 0;
            while let Some((_, view)) = cached.next()? {
                n_rows += view.len();
            }
            Ok::<_, DataError>(n_rows)
        };
        assert_eq!(pass(&mut cached).unwrap(), 60_000);
        let whole = fs::read(&path).unwrap();
        let mut damaged = whole.clone();
        let middle = damaged.len() / 2;
        damaged[middle] ^= 1;
        fs::write(&path, damaged).unwrap();
        let error = pass(&mut cached).unwrap_err();
        assert!(error.message().contains("damaged block"), "{error}");
        assert!(cached.next().unwrap().is_none());
        fs::write(&path, whole).unwrap();
        // What was begun and left is begun again.
        cached.rewind().unwrap();
        cached.next().unwrap();
        assert_eq!(pass(&mut cached).unwrap(), 60_000);
    }
}
