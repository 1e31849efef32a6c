//! From one format to another, in parts and in another order if need be, without holding the data.
//!
//! How rows become bytes is the business of `write/`, and so are files, pipes and compression.
//!
//! **Shuffling** gives every row a random key and writes the rows in the order of their keys. Rows are
//! first spread over temporary files by their key and then sorted one file at a time, so that memory
//! stays bounded; the order depends on the seed and the number of rows alone, not on that bound.
//!
//! **Splitting** is exact: rows are counted first and then drawn one after the other (Knuth's selection
//! sampling), of every class in proportion if asked for.

use crate::bytes::source::Source;
use crate::encode::Scaling;
use crate::error::{DataError, ErrorKind};
use crate::files::{is_special, temporary_file};
use crate::load::{blocks, spooled};
use crate::options::ReadOptions;
use crate::rows::dataset::{Dataset, View};
use crate::rows::schema::{Layout, Precision};
use crate::visit;
use crate::write::file::{BUFFER_BYTES, NewFile};
use crate::write::{OutRow, RowWriter, Shape, find_writer, unfit};
use rosenblatt_core::{Examples, Random, Row};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::Path;
use std::sync::Arc;

/// The most temporary files that a shuffle writes at once.
const MAX_BUCKETS: u64 = 200;

/// How rows are to be written.
#[derive(Debug, Clone)]
pub struct WriteOptions {
    /// The format by name, instead of finding it out from the file name.
    pub format: Option<String>,
    /// Whether features are numbered from 0, where they are numbered.
    pub zero_based: bool,
    /// Shuffle the rows by this seed.
    pub shuffle: Option<u64>,
    /// About how many bytes a shuffle may hold.
    pub memory: u64,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self { format: None, zero_based: false, shuffle: None, memory: 256 << 20 }
    }
}

/// How rows are to be parted in two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parting {
    /// The share of the rows that goes into the second part, between 0 and 1.
    pub fraction: f64,
    /// Decides which rows.
    pub seed: u64,
    /// Whether that share is taken of every class.
    pub stratified: bool,
}

/// Writes the rows of `source` to `target`, `-` being standard output. Returns how many there are.
///
/// ```
/// use rosenblatt_data::{ReadOptions, Source, WriteOptions, convert, load};
/// let folder = tempfile::tempdir().unwrap();
/// let target = folder.path().join("pets.svm");
/// let table = Source::bytes("pets.csv", *b"legs,weight,label\n4,3.5,cat\n2,0.1,bird\n");
/// convert(&table, &ReadOptions::default(), &target, &WriteOptions::default())?;
/// assert_eq!(std::fs::read_to_string(&target).unwrap(), "cat 1:4 2:3.5\nbird 1:2 2:0.1\n");
/// assert_eq!(load(&target, &ReadOptions::default())?.len(), 2);
/// # Ok::<(), rosenblatt_data::DataError>(())
/// ```
pub fn convert(
    source: &Source,
    how: &ReadOptions,
    target: &Path,
    out: &WriteOptions,
) -> Result<Converted, DataError> {
    run(source, how, &[target], None, out)
}

/// Writes the rows of `source` to two files.
pub fn convert_parted(
    source: &Source,
    how: &ReadOptions,
    targets: [&Path; 2],
    parting: Parting,
    out: &WriteOptions,
) -> Result<Converted, DataError> {
    if !(parting.fraction > 0.0 && parting.fraction < 1.0) {
        let message = format!("the fraction should be between 0 and 1, but is {}", parting.fraction);
        return Err(DataError::new(ErrorKind::Options, message));
    }
    run(source, how, &targets, Some(parting), out)
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Converted {
    /// How many rows each file got.
    pub rows: Vec<u64>,
    /// What a person may want to know about how the source was understood, and about what was written.
    pub notes: Vec<String>,
}

/// Writes a data set in memory to `target`.
pub fn write_dataset(data: &Dataset, target: &Path, out: &WriteOptions) -> Result<(), DataError> {
    let precision = match data.view() {
        View::Dense32(_) | View::Sparse32(_) => Precision::Single,
        View::Dense64(_) | View::Sparse64(_) => Precision::Double,
    };
    let shape = Shape {
        width: data.width(),
        names: data.shared_feature_names(),
        labelled: true,
        weighted: data.weights().is_some(),
        precision,
        zero_based: out.zero_based,
        layout: match data.view() {
            View::Dense32(_) | View::Dense64(_) => Layout::Dense,
            View::Sparse32(_) | View::Sparse64(_) => Layout::Sparse,
        },
        n_rows: data.len() as u64,
        labels: data.labels().names().to_vec(),
    };
    let n_entries = count_entries(data.view());
    let totals = Totals { by_class: vec![data.len() as u64], n_entries };
    let mut sink = Sink::open(target, shape, &totals, out, 0)?;
    each_row(data.view(), |class, weight, entries| sink.push(class, weight, entries))?;
    sink.finish()
}

/// What is known of the rows before they are written.
#[derive(Debug, Default)]
struct Totals {
    by_class: Vec<u64>,
    n_entries: u64,
}

impl Totals {
    fn n_rows(&self) -> u64 {
        self.by_class.iter().sum()
    }

    /// About how many bytes the rows take in a temporary file.
    fn n_bytes(&self) -> u64 {
        self.n_rows() * RECORD_BYTES as u64 + self.n_entries * ENTRY_BYTES as u64
    }
}

fn run(
    source: &Source,
    how: &ReadOptions,
    targets: &[&Path],
    parting: Option<Parting>,
    out: &WriteOptions,
) -> Result<Converted, DataError> {
    let source = spooled(source, how)?;
    for target in targets {
        find_writer(out.format.as_deref(), target)?;
    }
    // A first pass counts: rows of each class, the width, entries.
    // What is written is what stands there, unless a scale is asked for.
    let scaling = if how.scaling == Scaling::Auto { Scaling::None } else { how.scaling };
    let mut how = ReadOptions { grow_classes: true, scaling, ..how.clone() };
    let mut totals = Totals::default();
    let (mut weighted, mut labelled) = (false, false);
    let mut stream = blocks(&source, &how)?;
    how = how.with_schema(Arc::new(stream.schema().clone()));
    let names = stream.schema().feature_names();
    let mut width = stream.schema().width().unwrap_or(0);
    while let Some(block) = stream.next()? {
        width = width.max(block.width());
        weighted |= block.weights().is_some();
        labelled = block.is_labelled();
        totals.n_entries += count_entries(block.view());
        for &class in block.classes() {
            let class = class as usize;
            totals.by_class.resize(totals.by_class.len().max(class + 1), 0);
            totals.by_class[class] += 1;
        }
    }
    let shape = Shape {
        width,
        names,
        labelled,
        weighted,
        precision: stream.schema().precision.unwrap_or(how.precision),
        zero_based: out.zero_based,
        layout: stream.schema().layout,
        n_rows: totals.n_rows(),
        labels: if labelled { stream.labels().names().to_vec() } else { Vec::new() },
    };
    let mut notes = stream.schema().notes.clone();
    notes.extend(stream.notes());
    for target in targets {
        let format = find_writer(out.format.as_deref(), target)?;
        if out.zero_based && !format.numbers_features(&shape) {
            let name = format.info().name;
            let message = format!("features have no numbers in {name}, so that none can begin at 0");
            return Err(unfit(message, "ask for numbers from 0 in libsvm alone"));
        }
        let note = format.note(&shape);
        notes.extend(note.filter(|note| !notes.contains(note)));
    }
    // The second pass numbers the classes as the first one did.
    how.classes = labelled.then(|| shape.labels.clone());
    let mut chooser = parting.map(|parting| Chooser::new(parting, &totals));
    if parting.is_some_and(|parting| parting.stratified)
        && chooser.as_ref().is_some_and(|chooser| !chooser.stratified)
    {
        notes.push(
            "the parts are drawn from all rows alike, as most values of the label occur once".to_owned(),
        );
    }
    let n_chosen = chooser.as_ref().map_or(0, Chooser::n_wanted);
    let mut sinks = Vec::new();
    for (target, place) in targets.iter().zip(0..) {
        let n_rows = if place == 0 { totals.n_rows() - n_chosen } else { n_chosen };
        sinks.push(Sink::open(target, Shape { n_rows, ..shape.clone() }, &totals, out, place)?);
    }
    let mut counts = vec![0; targets.len()];
    let mut stream = blocks(&source, &how)?;
    while let Some(block) = stream.next()? {
        each_row(block.view(), |class, weight, entries| {
            let which = chooser.as_mut().map_or(0, |chooser| chooser.next(class));
            counts[which] += 1;
            sinks[which].push(class, weight, entries)
        })?;
    }
    for sink in sinks {
        sink.finish()?;
    }
    Ok(Converted { rows: counts, notes })
}

/// How many entries are stored.
fn count_entries(rows: View<'_>) -> u64 {
    visit!(rows, examples => (0..examples.len()).map(|idx| examples.row(idx).entries().count() as u64).sum())
}

/// Hands over class, weight and entries of every row.
fn each_row(
    rows: View<'_>,
    mut show: impl FnMut(u32, f64, &[(u32, f64)]) -> Result<(), DataError>,
) -> Result<(), DataError> {
    let mut entries = Vec::new();
    visit!(rows, examples => {
        for idx in 0..examples.len() {
            entries.clear();
            entries.extend(examples.row(idx).entries().map(|(feature, value)| (feature as u32, value)));
            show(examples.class(idx), examples.weight(idx), &entries)?;
        }
    });
    Ok(())
}

/// Decides for one row after the other to which part it goes.
struct Chooser {
    random: Random,
    stratified: bool,
    /// Per class, or for all, how many rows are still to come and how many of them are wanted.
    left: Vec<(u64, u64)>,
}

/// From how many rows of a class on its share is rounded for itself.
const FEW_WANTED: f64 = 5.0;

impl Chooser {
    fn new(parting: Parting, totals: &Totals) -> Self {
        // At least one row stays in the first part, or it could not be learned.
        let wanted = |n_rows: u64| {
            let n_wanted = (n_rows as f64 * parting.fraction).round() as u64;
            (n_rows, n_wanted.min(n_rows.saturating_sub(1)))
        };
        // Where most rows are alone in their class, it is a number or a name, which tells nothing of how to part them.
        let n_alone = totals.by_class.iter().filter(|&&n_rows| n_rows == 1).count() as u64;
        let stratified = parting.stratified && 2 * n_alone < totals.n_rows();
        let left = if stratified {
            // What small classes cannot give in whole rows is owed by the next ones.
            let mut owed = 0.0;
            let of_class = |&n_rows: &u64| {
                let share = n_rows as f64 * parting.fraction;
                if share >= FEW_WANTED {
                    return wanted(n_rows);
                }
                owed += share;
                let n_wanted = (owed.round() as u64).min(n_rows.saturating_sub(1));
                owed -= n_wanted as f64;
                (n_rows, n_wanted)
            };
            totals.by_class.iter().map(of_class).collect()
        } else {
            vec![wanted(totals.n_rows())]
        };
        let random = Random::for_purpose(parting.seed, "part");
        Self { random, stratified, left }
    }

    /// How many rows the second part will have.
    fn n_wanted(&self) -> u64 {
        self.left.iter().map(|(_, n_wanted)| n_wanted).sum()
    }

    fn next(&mut self, class: u32) -> usize {
        let place = if self.stratified { class as usize } else { 0 };
        // A source that grew since it was counted has nothing more to give.
        let Some((n_left, n_wanted)) = self.left.get_mut(place).filter(|(n_left, _)| *n_left > 0) else {
            return 0;
        };
        let chosen = self.random.below(*n_left) < *n_wanted;
        *n_left -= 1;
        *n_wanted -= u64::from(chosen);
        usize::from(chosen)
    }
}

/// Where rows go: a file, by way of a shuffle perhaps.
struct Sink {
    writer: Box<dyn RowWriter>,
    file: NewFile,
    buffer: Vec<u8>,
    shape: Shape,
    n_rows: u64,
    shuffle: Option<Shuffle>,
}

impl Sink {
    fn open(
        target: &Path,
        shape: Shape,
        totals: &Totals,
        out: &WriteOptions,
        place: u64,
    ) -> Result<Self, DataError> {
        let format = find_writer(out.format.as_deref(), target)?;
        let writer = format.start(&shape).map_err(|error| error.in_source(&target.display().to_string()))?;
        let file = NewFile::create(target)?;
        let shuffle = match out.shuffle {
            // Each part is shuffled in its own way.
            Some(seed) => Some(Shuffle::new(target, seed.wrapping_add(place), totals.n_bytes(), out.memory)?),
            None => None,
        };
        let mut sink = Self { writer, file, buffer: Vec::new(), shape, n_rows: 0, shuffle };
        sink.writer.head(&mut sink.buffer).map_err(|error| error.in_source(sink.file.name()))?;
        Ok(sink)
    }

    fn push(&mut self, class: u32, weight: f64, entries: &[(u32, f64)]) -> Result<(), DataError> {
        match &mut self.shuffle {
            Some(shuffle) => shuffle.push(class, weight, entries).map_err(|error| self.file.explain(error)),
            None => self.write(class, weight, entries),
        }
    }

    fn write(&mut self, class: u32, weight: f64, entries: &[(u32, f64)]) -> Result<(), DataError> {
        let label = self.shape.labels.get(class as usize).map(String::as_str).filter(|_| self.shape.labelled);
        let row = OutRow { label, class, weight, entries };
        self.n_rows += 1;
        self.writer.row(&row, &mut self.buffer).map_err(|error| error.in_source(self.file.name()))?;
        if self.buffer.len() >= BUFFER_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), DataError> {
        self.file.write(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    fn finish(mut self) -> Result<(), DataError> {
        if let Some(mut shuffle) = self.shuffle.take() {
            for bucket in 0..shuffle.buckets.len() {
                let records = shuffle.sorted(bucket).map_err(|error| self.file.explain(error))?;
                for Record { class, weight, entries, .. } in records {
                    self.write(class, weight, &entries)?;
                }
            }
        }
        if self.n_rows != self.shape.n_rows {
            let message = format!(
                "the source had {} rows when it was counted and {} when it was copied, expected it to keep still",
                self.shape.n_rows, self.n_rows
            );
            return Err(DataError::new(ErrorKind::Io, message).in_source(self.file.name()));
        }
        self.writer.end(&mut self.buffer).map_err(|error| error.in_source(self.file.name()))?;
        self.flush()?;
        self.file.finish()
    }
}

/// Bytes of a record in a temporary file, and of each of its entries.
const RECORD_BYTES: usize = 24;
const ENTRY_BYTES: usize = 12;

/// Rows spread over temporary files by a random key.
struct Shuffle {
    random: Random,
    /// Files without names.
    buckets: Vec<BufWriter<File>>,
    record: Vec<u8>,
}

struct Record {
    key: u64,
    class: u32,
    weight: f64,
    entries: Vec<(u32, f64)>,
}

impl Shuffle {
    fn new(target: &Path, seed: u64, n_bytes: u64, memory: u64) -> Result<Self, DataError> {
        // In memory a record takes about twice its size in a file.
        let n_buckets = (n_bytes * 2).div_ceil(memory.max(1 << 16)).clamp(1, MAX_BUCKETS);
        let mut buckets = Vec::new();
        // Beside a file there is room for it; beside a pipe there is nothing.
        let elsewhere = std::env::temp_dir();
        let beside = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = if is_special(target) { &elsewhere } else { beside.unwrap_or(Path::new(".")) };
        for _ in 0..n_buckets {
            buckets.push(BufWriter::new(temporary_file(folder, "rosenblatt-rows")?));
        }
        Ok(Self { random: Random::for_purpose(seed, "shuffle"), buckets, record: Vec::new() })
    }

    fn push(&mut self, class: u32, weight: f64, entries: &[(u32, f64)]) -> io::Result<()> {
        let key = self.random.next();
        // Buckets are ranges of keys, so that one sorted after the other they are all sorted.
        let place = ((u128::from(key) * self.buckets.len() as u128) >> 64) as usize;
        self.record.clear();
        self.record.extend(key.to_le_bytes());
        self.record.extend(class.to_le_bytes());
        self.record.extend(weight.to_le_bytes());
        self.record.extend((entries.len() as u32).to_le_bytes());
        for (feature, value) in entries {
            self.record.extend(feature.to_le_bytes());
            self.record.extend(value.to_le_bytes());
        }
        self.buckets[place].write_all(&self.record)
    }

    /// The records of one bucket, by key; those of equal keys as they came.
    fn sorted(&mut self, place: usize) -> io::Result<Vec<Record>> {
        let bucket = &mut self.buckets[place];
        bucket.rewind()?;
        let mut reader = BufReader::with_capacity(BUFFER_BYTES, bucket.get_ref());
        let mut records = Vec::new();
        let mut head = [0; RECORD_BYTES];
        let mut entry = [0; ENTRY_BYTES];
        while !io::BufRead::fill_buf(&mut reader)?.is_empty() {
            reader.read_exact(&mut head)?;
            let n_entries = u32::from_le_bytes(array(&head[20..]));
            let mut entries = Vec::new();
            for _ in 0..n_entries {
                reader.read_exact(&mut entry)?;
                entries.push((u32::from_le_bytes(array(&entry)), f64::from_le_bytes(array(&entry[4..]))));
            }
            records.push(Record {
                key: u64::from_le_bytes(array(&head)),
                class: u32::from_le_bytes(array(&head[8..])),
                weight: f64::from_le_bytes(array(&head[12..])),
                entries,
            });
        }
        records.sort_by_key(|record| record.key);
        Ok(records)
    }
}

/// The first bytes of a slice that is long enough.
fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[..N]);
    array
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{LabelledRow, load, load_source, read_rows};
    use std::fs;

    /// Rows without their zeros, which formats may leave out.
    fn rows(source: &Source, how: &ReadOptions) -> Vec<LabelledRow> {
        let mut rows = read_rows(source, how).unwrap();
        for (_, row) in &mut rows {
            row.retain(|(_, value)| *value != 0.0);
        }
        rows
    }

    fn sample() -> Source {
        let line = |i: u32| format!("c{} {}:{} 50:{}\n", i % 3, i % 40 + 1, f64::from(i) / 7.0, i % 2);
        Source::bytes("t.svm", (0..997).map(line).collect::<Vec<_>>().concat().into_bytes())
    }

    #[test]
    fn every_format_reads_back_to_the_same_rows() {
        let folder = tempfile::tempdir().unwrap();
        let tricky =
            Source::bytes("t.csv", *b"a,\"b,\"\"c\"\"\",label\n0.1,-1e-30,x y\n3e20,0,\"p,q\"\n1,2,x y\n");
        let messages = Source::bytes("t.tsv", *b"ham\tsee you soon\nspam\twin \xC2\xA3 now\n");
        for precision in [Precision::Single, Precision::Double] {
            let how = ReadOptions { precision, ..ReadOptions::as_stored() };
            for (source, names) in [
                (sample(), &["a.svm", "a.csv", "a.tsv", "a.svm.gz", "a.csv.gz"][..]),
                (tricky.clone(), &["a.csv", "a.tsv"]),
                (messages.clone(), &["a.svm", "a.csv", "a.tsv"]),
            ] {
                let expected = rows(&source, &how);
                for name in names {
                    let target = folder.path().join(name);
                    let done = convert(&source, &how, &target, &WriteOptions::default()).unwrap();
                    assert_eq!(done.rows, [expected.len() as u64]);
                    let written = Source::file(&target);
                    assert_eq!(rows(&written, &how), expected, "{name}");
                    let data = load_source(&source, &how).unwrap();
                    write_dataset(&data, &target, &WriteOptions::default()).unwrap();
                    assert_eq!(rows(&written, &how), expected, "{name}");
                }
            }
        }
        let left: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left.len(), 5, "{left:?}");
    }

    #[test]
    fn weights_and_zero_based_indices() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("w.csv");
        let table = Source::bytes("t.csv", *b"x,w,label\n1,0.5,a\n2,3,b\n");
        let how = ReadOptions { weight: Some("w".into()), ..ReadOptions::as_stored() };
        convert(&table, &how, &target, &WriteOptions::default()).unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "label,weight,x\na,0.5,1\nb,3,2\n");
        let again = ReadOptions { weight: Some("weight".into()), ..ReadOptions::as_stored() };
        assert_eq!(load(&target, &again).unwrap().weights(), Some(&[0.5, 3.0][..]));
        let svm = folder.path().join("w.svm");
        let error = convert(&table, &how, &svm, &WriteOptions::default()).unwrap_err();
        assert!(error.message().contains("weights"), "{error}");
        let out = WriteOptions { zero_based: true, ..WriteOptions::default() };
        convert(&sample(), &ReadOptions::as_stored(), &svm, &out).unwrap();
        let how = ReadOptions { zero_based: true, ..ReadOptions::as_stored() };
        assert_eq!(rows(&Source::file(&svm), &how), rows(&sample(), &ReadOptions::as_stored()));
        // Where features have names, there is no number to begin at 0.
        let how = ReadOptions { weight: None, ..ReadOptions::as_stored() };
        for name in ["z.csv", "z.jsonl", "z.vw", "z.arrow", "z.npy"] {
            let target = folder.path().join(name);
            let error = convert(&table, &how, &target, &out).unwrap_err();
            assert!(error.message().contains("begin at 0"), "{name}: {error}");
            assert!(!target.exists(), "{name}");
        }
        convert(&table, &how, &folder.path().join("z.svm"), &out).unwrap();
        convert(&sample(), &ReadOptions::as_stored(), &folder.path().join("s.vw"), &out).unwrap();
    }

    #[test]
    fn a_shuffle_depends_on_its_seed_alone() {
        let folder = tempfile::tempdir().unwrap();
        let how = ReadOptions::as_stored();
        let shuffled = |seed, memory| {
            let target = folder.path().join("s.svm");
            let out = WriteOptions { shuffle: Some(seed), memory, ..WriteOptions::default() };
            convert(&sample(), &how, &target, &out).unwrap();
            fs::read_to_string(&target).unwrap()
        };
        let once = shuffled(1, 256 << 20);
        assert_eq!(shuffled(1, 1), once);
        assert_ne!(shuffled(2, 1), once);
        let sorted = |text: &str| {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        convert(&sample(), &how, &folder.path().join("p.svm"), &WriteOptions::default()).unwrap();
        let plain = fs::read_to_string(folder.path().join("p.svm")).unwrap();
        assert_eq!(sorted(&once), sorted(&plain));
        assert_ne!(once, plain);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn parts_are_exact_and_keep_the_classes_in_proportion() {
        let folder = tempfile::tempdir().unwrap();
        let [train, test] = ["train.svm", "test.svm"].map(|name| folder.path().join(name));
        let how = ReadOptions::as_stored();
        for stratified in [false, true] {
            let parting = Parting { fraction: 0.2, seed: 5, stratified };
            let targets = [train.as_path(), test.as_path()];
            let done = convert_parted(&sample(), &how, targets, parting, &WriteOptions::default()).unwrap();
            let counts = done.rows;
            assert_eq!(counts[0] + counts[1], 997);
            assert!((198..=200).contains(&counts[1]), "{counts:?}");
            let mut both = [rows(&Source::file(&train), &how), rows(&Source::file(&test), &how)].concat();
            if stratified {
                let of_first = rows(&Source::file(&test), &how).iter().filter(|row| row.0 == "c0").count();
                assert_eq!(of_first, 67);
            }
            let mut all = rows(&sample(), &how);
            let order = |a: &LabelledRow, b: &LabelledRow| a.partial_cmp(b).unwrap();
            both.sort_by(order);
            all.sort_by(order);
            assert_eq!(both, all);
        }
    }

    #[test]
    fn a_failure_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a.svm");
        fs::write(&target, "old").unwrap();
        let broken = Source::bytes("t.svm", *b"1 1:1\n1 2:x\n");
        let how = ReadOptions::as_stored();
        assert!(convert(&broken, &how, &target, &WriteOptions::default()).is_err());
        let unfit = Source::bytes("t.csv", *b"x,label\n1,p q\n2,r\n");
        let error = convert(&unfit, &how, &target, &WriteOptions::default()).unwrap_err();
        assert!(error.message().contains("`p q`"), "{error}");
        assert_eq!(fs::read_to_string(&target).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let nowhere = folder.path().join("missing/a.svm");
        assert_eq!(
            convert(&unfit, &how, &nowhere, &WriteOptions::default()).unwrap_err().kind(),
            ErrorKind::Io
        );
    }
}
