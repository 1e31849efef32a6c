//! A mutator with fixed seeds, and what must hold for whatever it makes.
//!
//! Execution `k` of seed `s` is a function of both alone: a finding is repeated by naming them. Inputs
//! come from the small files in `tests/data`, changed a few times; options are drawn as well. There is no
//! feedback from coverage.

#![allow(unreachable_pub, reason = "shared by a test and an example, of which it is a module")]

use rosenblatt_core::Random;
use rosenblatt_data::encode::{Scaling, TextOptions, Units, Weighting};
use rosenblatt_data::{
    Block, DataError, ErrorKind, LabelColumn, Limits, Missing, OnBadRow, Precision, ReadOptions, Source,
    formats, load_source,
};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The longest an execution may take.
pub const MAX_TIME: Duration = Duration::from_secs(1);

/// The largest input that is made.
const MAX_INPUT: usize = 16 << 10;

/// What is fuzzed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    Libsvm,
    Csv,
    Text,
    Gzip,
    Zstd,
}

impl Target {
    pub const ALL: [Self; 5] = [Self::Libsvm, Self::Csv, Self::Text, Self::Gzip, Self::Zstd];

    pub fn name(self) -> &'static str {
        match self {
            Self::Libsvm => "libsvm",
            Self::Csv => "csv",
            Self::Text => "text",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }

    /// Scraps that mean something to the parser.
    fn scraps(self) -> &'static [&'static [u8]] {
        match self {
            Self::Libsvm => &[
                b":",
                b" ",
                b"\n",
                b"#",
                b"qid:",
                b"1:1",
                b"0:",
                b"nan",
                b"inf",
                b"1e400",
                b"-",
                b"+",
                b".",
                b"e",
                b"4294967296:1",
                b"99999999999999999999",
                b"\r",
                b"\xC2\xA0",
                b"\0",
                b",",
                b"1e-400",
                b"-0.0",
                b"00000000",
                b"123456789",
                b"3.4028236e38",
                b"\xEF\xBB\xBF",
            ],
            Self::Csv => &[
                b",",
                b";",
                b"\t",
                b"|",
                b"\"",
                b"\"\"",
                b"\n",
                b"\r\n",
                b"\r",
                b"NA",
                b"?",
                b"nan",
                b"label",
                b"1e400",
                b"0x1",
                b"1_000",
                b"\xC2\xA0",
                b"\0",
                b"\xFF",
                b"0.1",
                b"-",
                b"\"\n\"",
                b" ",
                b"\xEF\xBB\xBF",
                b"3e38",
            ],
            Self::Text => &[
                b"\t",
                b"\n",
                b"\r\n",
                b" ",
                b"\"",
                b"label\ttext\n",
                b"From: a\nTo: b\n\n",
                b"Subject: ",
                b"\xFF",
                b"\0",
                b"'",
                b"\xE2\x80\x99",
                b"1.5",
                b"\xC2\xA3",
                b"\xE2\x80\x8B",
                b"\xCC\x81",
                b"\xF0\x9F\x91\x8D",
                b"\xE6\x88\x91",
                b"\xC4\xB0",
                b"_",
                b"nan",
                b"\xEF\xBB\xBF",
                b"\xE1\xBA\x9E",
            ],
            Self::Gzip => &[b"\x1F\x8B\x08", b"\0\0\0\0", b"\xFF\xFF\xFF\xFF", b"\x1F", b"\x03\0"],
            Self::Zstd => &[
                b"\x28\xB5\x2F\xFD",
                b"\x50\x2A\x4D\x18",
                b"\xFF\xFF\xFF\xFF",
                b"\0\0\0",
                b"\x20",
                b"\xF8",
                b"\x01\0\0",
            ],
        }
    }
}

/// The inputs that everything begins with.
pub fn corpus(target: Target) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let files = |name: &str| {
        let mut paths: Vec<_> =
            std::fs::read_dir(folder.join(name)).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths.into_iter().map(|path| std::fs::read(path).unwrap()).collect::<Vec<_>>()
    };
    let plain = || {
        let mut plain = [files("libsvm"), files("csv")].concat();
        plain.push(
            (0..200)
                .map(|i| format!("{} {}:{}\n", i % 3, i % 17 + 1, i * i))
                .collect::<Vec<_>>()
                .concat()
                .into(),
        );
        plain
    };
    match target {
        Target::Gzip => plain().iter().map(|plain| gzip(plain)).collect(),
        Target::Zstd => {
            let level = ruzstd::encoding::CompressionLevel::Fastest;
            let mut all: Vec<_> =
                plain().iter().map(|plain| ruzstd::encoding::compress_to_vec(&plain[..], level)).collect();
            // What other tools write: a raw block, a repeated byte, a frame to be skipped, a checksum.
            all.push(b"\x28\xB5\x2F\xFD\x20\x09\x49\0\x001 1:1\n0\n\n".to_vec());
            all.push(b"\x28\xB5\x2F\xFD\x20\x20\x03\x01\x001".to_vec());
            all.push(b"\x50\x2A\x4D\x18\x03\0\0\0abc\x28\xB5\x2F\xFD\x20\x05\x29\0\x001 1:1".to_vec());
            all.push(b"\x28\xB5\x2F\xFD\x04\x58\x45\0\x001 1:1\n0\n\x12\x34\x56\x78".to_vec());
            all
        }
        _ => files(target.name()),
    }
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

/// The input and the options of execution `k`.
pub fn make(target: Target, corpus: &[Vec<u8>], seed: u64, k: u64) -> (Vec<u8>, ReadOptions) {
    let mut random = Random::for_purpose(seed ^ k.wrapping_mul(0x9E37_79B9_7F4A_7C15), target.name());
    let mut bytes = pick(&mut random, corpus).clone();
    for _ in 0..=random.below(6) {
        mutate(&mut bytes, target, corpus, &mut random);
        bytes.truncate(MAX_INPUT);
    }
    let how = options(target, &mut random);
    (bytes, how)
}

fn pick<'a, T>(random: &mut Random, from: &'a [T]) -> &'a T {
    &from[random.below(from.len() as u64) as usize]
}

fn place(random: &mut Random, bytes: &[u8]) -> usize {
    random.below(bytes.len() as u64 + 1) as usize
}

fn mutate(bytes: &mut Vec<u8>, target: Target, corpus: &[Vec<u8>], random: &mut Random) {
    let at = place(random, bytes);
    let length = (random.below(24) as usize).min(bytes.len() - at);
    match random.below(10) {
        0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
        1 if at < bytes.len() => bytes[at] = random.next() as u8,
        2 => drop(bytes.drain(at..at + length)),
        3 => {
            let copy = bytes[at..at + length].to_vec();
            let to = place(random, bytes);
            bytes.splice(to..to, copy);
        }
        4 => bytes.truncate(at),
        5 => {
            let other = pick(random, corpus);
            let from = place(random, other);
            bytes.truncate(at);
            bytes.extend_from_slice(&other[from..]);
        }
        6 => {
            let times = 1 + random.below(64) as usize;
            let copy = bytes[at..at + length].repeat(times);
            bytes.splice(at..at, copy);
        }
        7 => {
            let scrap = pick(random, target.scraps());
            let end = (at + scrap.len()).min(bytes.len());
            bytes.splice(at..end, scrap.iter().copied());
        }
        _ => {
            let scrap = *pick(random, target.scraps());
            bytes.splice(at..at, scrap.iter().copied());
        }
    }
}

fn options(target: Target, random: &mut Random) -> ReadOptions {
    let mut how = ReadOptions {
        limits: Limits { features: 1 << 16, line_bytes: 4 << 10, classes: 50, ..Limits::default() },
        ..ReadOptions::default()
    };
    let mut rarely = || random.below(4) == 0;
    if rarely() {
        how.on_bad_row = OnBadRow::Skip;
    }
    if rarely() {
        how.precision = Precision::Double;
    }
    if rarely() {
        how.hash_bits = Some(6);
    }
    if rarely() {
        how.zero_based = true;
    }
    if rarely() {
        how.scaling = Scaling::MaxAbs;
    }
    let named = rarely();
    match target {
        Target::Csv => {
            how.header = [None, None, Some(true), Some(false)][random.below(4) as usize];
            how.missing =
                [Missing::Error, Missing::Mean, Missing::Zero, Missing::Drop][random.below(4) as usize];
            how.label =
                [LabelColumn::Guess, LabelColumn::Guess, LabelColumn::Absent, LabelColumn::Named("1".into())]
                    [random.below(4) as usize]
                    .clone();
        }
        Target::Text => {
            how.label = [LabelColumn::Guess, LabelColumn::Absent, LabelColumn::Named("-1".into())]
                [random.below(3) as usize]
                .clone();
            how.text_column =
                [None, None, Some("1"), Some("text")][random.below(4) as usize].map(str::to_owned);
            how.text = TextOptions {
                units: [Units::Words, Units::Characters][random.below(2) as usize],
                shortest: 1 + random.below(2) as usize,
                longest: 2 + random.below(3) as usize,
                weighting: [Weighting::Count, Weighting::Binary, Weighting::Frequency, Weighting::TfIdf]
                    [random.below(4) as usize],
                unit_length: random.below(2) == 0,
                min_count: None,
                keep_names: random.below(2) == 0,
            };
        }
        _ => {}
    }
    if !named && matches!(target, Target::Libsvm | Target::Csv | Target::Text) {
        how.format = Some(target.name().to_owned());
    }
    how
}

/// Reads as the crate does, but on this thread and without its guard, so that a panic is seen.
fn read(bytes: &[u8], how: &ReadOptions, block: &mut Block) -> Result<u64, DataError> {
    let source = Source::bytes("fuzz", bytes.to_vec());
    let open = |how: &ReadOptions| {
        let input = source.parts()[0].open()?;
        formats::find(&input, how)?.open(input, how)
    };
    let mut reader = open(how)?;
    let mut n_rows = 0;
    while reader.read(block)? {
        n_rows += block.len() as u64;
        check(block);
    }
    if reader.schema().provisional {
        let mut schema = reader.schema().clone();
        schema.settle();
        schema.check()?;
        let mut reader = open(&how.with_schema(Arc::new(schema)))?;
        let mut n_again = 0;
        while reader.read(block)? {
            n_again += block.len() as u64;
            check(block);
        }
        assert_eq!(n_again, n_rows, "a second reading finds the same rows");
    }
    Ok(n_rows)
}

/// What every block promises.
fn check(block: &Block) {
    use rosenblatt_data::Matrix;
    fn sparse<T>(matrix: &rosenblatt_data::SparseMatrix<T>, finite: impl Fn(&T) -> bool) {
        for bounds in matrix.offsets.windows(2) {
            let row = &matrix.indices[bounds[0]..bounds[1]];
            assert!(row.is_sorted_by(|a, b| a < b), "indices ascend strictly");
            assert!(
                row.last().is_none_or(|&last| (last as usize) < matrix.width),
                "indices are below the width"
            );
        }
        assert!(matrix.values.iter().all(finite), "values are finite");
    }
    assert_eq!(block.matrix().n_rows(), block.len(), "as many rows as classes");
    match block.matrix() {
        Matrix::Dense32(matrix) => assert!(matrix.values.iter().all(|value| value.is_finite())),
        Matrix::Dense64(matrix) => assert!(matrix.values.iter().all(|value| value.is_finite())),
        Matrix::Sparse32(matrix) => sparse(matrix, |value| value.is_finite()),
        Matrix::Sparse64(matrix) => sparse(matrix, |value| value.is_finite()),
    }
    if block.is_labelled() {
        let n_names = block.names().names().len();
        assert!(block.classes().iter().all(|&class| (class as usize) < n_names), "every class has a name");
    }
}

/// How often what came of it.
#[derive(Debug, Default, Clone, Copy)]
pub struct Tally {
    pub accepted: u64,
    pub refused: u64,
    /// Of those, how often a foreign decoder panicked inside its guard.
    pub contained: u64,
}

/// Runs execution `k`; the error tells what went wrong and how to repeat it.
pub fn execute(
    target: Target,
    corpus: &[Vec<u8>],
    seed: u64,
    k: u64,
    tally: &mut Tally,
) -> Result<(), String> {
    let (bytes, how) = make(target, corpus, seed, k);
    let run = || {
        let started = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            if k.is_multiple_of(64) {
                // The whole way, threads and all.
                return load_source(&Source::bytes("fuzz", bytes.clone()), &how)
                    .map(|data| data.len() as u64);
            }
            read(&bytes, &how, &mut Block::default())
        }));
        (outcome, started.elapsed())
    };
    let (mut outcome, mut took) = run();
    // On a busy machine any execution may be kept waiting; one that is slow is slow three times.
    for _ in 0..2 {
        if took > MAX_TIME {
            (outcome, took) = run();
        }
    }
    let finding = match outcome {
        Err(_) => "a panic".to_owned(),
        Ok(Err(error)) if error.kind() == ErrorKind::Internal => format!("an internal error: {error}"),
        Ok(Err(error)) if error.report().len() > 4000 => "a report that is too long".to_owned(),
        Ok(Err(error)) if error.to_string().contains("bug worth reporting") => {
            // The decoder of zstd panicked inside its guard: contained, but counted.
            tally.refused += 1;
            tally.contained += 1;
            return Ok(());
        }
        _ if took > MAX_TIME => format!("took {took:?}"),
        Ok(Ok(_)) => {
            tally.accepted += 1;
            return Ok(());
        }
        Ok(Err(_)) => {
            tally.refused += 1;
            return Ok(());
        }
    };
    let shown = bytes.escape_ascii().to_string();
    let shown = &shown[..shown.len().min(2000)];
    Err(format!(
        "{finding}: target {}, seed {seed}, execution {k}, input {shown}, options {how:?}",
        target.name()
    ))
}
