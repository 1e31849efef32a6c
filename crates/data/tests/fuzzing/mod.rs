//! A mutator with fixed seeds, and what must hold for whatever it makes.
//!
//! Execution `k` of seed `s` is a function of both alone: a finding is repeated by naming them. Inputs
//! come from the small files in `tests/data` and from rows made up in `targets`, changed a few times in ways
//! that suit text or binary files; options are drawn as well. There is no feedback from coverage.

#![allow(unreachable_pub, dead_code, reason = "shared by a test and an example, of which it is a module")]

mod mend;
mod targets;

use crate::allocations;
use rosenblatt_core::Random;
use rosenblatt_data::encode::Scaling;
use rosenblatt_data::{
    Block, CacheReader, DataError, ErrorKind, Limits, OnBadRow, Precision, ReadOptions, SentenceFormat,
    Sentences, Source, formats, load_source, sentences,
};
use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};
pub use targets::{TARGETS, Target};

/// The longest an execution may take.
pub const MAX_TIME: Duration = Duration::from_secs(1);

/// The largest input that is made.
const MAX_INPUT: usize = 16 << 10;

/// Numbers at which something overflows, wraps or begins.
const EDGES: [u64; 14] = [
    0,
    1,
    2,
    0x7F,
    0x80,
    0xFF,
    0x7FFF,
    0xFFFF,
    1 << 30,
    0x7FFF_FFFF,
    0x8000_0000,
    0xFFFF_FFFF,
    i64::MAX as u64,
    u64::MAX,
];

/// The same in text.
const NUMBERS: [&str; 16] = [
    "0",
    "-0",
    "1",
    "-1",
    "1e308",
    "1e309",
    "5e-324",
    "1e-400",
    "0.1",
    ".5",
    "5.",
    "2147483648",
    "4294967296",
    "18446744073709551616",
    "00000000000000000001",
    "9007199254740993",
];

/// The input and the options of execution `k`.
pub fn make(target: &Target, corpus: &[Vec<u8>], seed: u64, k: u64) -> (Vec<u8>, ReadOptions) {
    let mut random = Random::for_purpose(seed ^ k.wrapping_mul(0x9E37_79B9_7F4A_7C15), target.name);
    let mut bytes = pick(&mut random, corpus).clone();
    for _ in 0..=random.below(6) {
        mutate(&mut bytes, target, corpus, &mut random);
        bytes.truncate(MAX_INPUT);
    }
    if let Some(finish) = target.finish.filter(|_| random.below(2) == 0) {
        finish(&mut bytes, &mut random);
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

fn mutate(bytes: &mut Vec<u8>, target: &Target, corpus: &[Vec<u8>], random: &mut Random) {
    let at = place(random, bytes);
    let length = (random.below(24) as usize).min(bytes.len() - at);
    // Where lengths and offsets count, what moves nothing gets further.
    let kind = if target.is_text {
        random.below(14)
    } else {
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 14, 14, 14][random.below(12) as usize]
    };
    match kind {
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
            let scrap = pick(random, target.scraps);
            let end = (at + scrap.len()).min(bytes.len());
            bytes.splice(at..end, scrap.iter().copied());
        }
        10 => replace_number(bytes, at, random),
        11 => move_line(bytes, at, random),
        14 => {
            let edge = pick(random, &EDGES).to_le_bytes();
            let n_bytes = [1, 2, 4, 8][random.below(4) as usize];
            let mut field = edge[..n_bytes].to_vec();
            if random.below(2) == 0 {
                field.reverse();
            }
            let end = (at + n_bytes).min(bytes.len());
            bytes.splice(at..end, field);
        }
        _ => {
            let scrap = *pick(random, target.scraps);
            bytes.splice(at..at, scrap.iter().copied());
        }
    }
}

/// Puts another number in the place of the first one after `at`.
fn replace_number(bytes: &mut Vec<u8>, at: usize, random: &mut Random) {
    let is_part = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+' | b'e');
    let Some(start) = bytes[at..].iter().position(u8::is_ascii_digit).map(|skipped| at + skipped) else {
        return;
    };
    let end =
        bytes[start..].iter().position(|byte| !is_part(byte)).map_or(bytes.len(), |length| start + length);
    let number = pick(random, &NUMBERS);
    bytes.splice(start..end, number.bytes());
}

/// Takes the line after `at` away and puts it somewhere else, or nowhere.
fn move_line(bytes: &mut Vec<u8>, at: usize, random: &mut Random) {
    let end_of_line = |from: usize| memchr::memchr(b'\n', &bytes[from..]).map(|length| from + length + 1);
    let Some(start) = end_of_line(at) else { return };
    let end = end_of_line(start).unwrap_or(bytes.len());
    let line: Vec<u8> = bytes.drain(start..end).collect();
    if random.below(2) == 0 {
        let to = place(random, bytes);
        let to = memchr::memrchr(b'\n', &bytes[..to]).map_or(0, |newline| newline + 1);
        bytes.splice(to..to, line);
    }
}

fn options(target: &Target, random: &mut Random) -> ReadOptions {
    let limits = Limits { features: 1 << 16, line_bytes: 4 << 10, classes: 50, ..Limits::default() };
    let mut how = ReadOptions { limits, threads: 1, ..ReadOptions::as_stored() };
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
    let unnamed = rarely();
    (target.options)(&mut how, random);
    if !unnamed {
        how.format = target.format.map(str::to_owned);
    }
    how
}

/// Reads as the crate does, but on this thread and without its guard, so that a panic is seen.
fn read(target: &Target, bytes: &[u8], how: &ReadOptions) -> Result<u64, DataError> {
    let mut n_rows = 0;
    if target.name == "cache" {
        let mut reader = CacheReader::new(Cursor::new(bytes), targets::FINGERPRINT, "fuzz")?;
        let mut block = Block::default();
        while reader.next(&mut block)? {
            n_rows += block.len() as u64;
            check(&block, true);
        }
        return Ok(n_rows);
    }
    let source = Source::bytes(target.file, bytes.to_vec());
    if let Some(format) = target.sentences() {
        return read_sentences(&source, how.format.is_some().then_some(format));
    }
    let block = &mut Block::default();
    let open = |how: &ReadOptions| {
        let input = source.parts()[0].open()?;
        formats::find(&input, how)?.open(input, how)
    };
    let mut reader = open(how)?;
    while reader.read(block)? {
        n_rows += block.len() as u64;
        // Until its columns are fitted, a table's cells are not yet values.
        if reader.schema().provisional { check_labels(block, false) } else { check(block, false) }
    }
    if reader.schema().provisional {
        let data = rosenblatt_data::load_source(&source, how);
        let is_ours = |error: &DataError| error.kind() == ErrorKind::Internal;
        assert!(!data.as_ref().is_err_and(is_ours), "a panic was caught");
        check_values(data?.matrix());
    }
    Ok(n_rows)
}

/// Reads sentences, and writes them with other labels: what is read of that has the same words, and these labels.
fn read_sentences(source: &Source, format: Option<&'static dyn SentenceFormat>) -> Result<u64, DataError> {
    let mut stream = sentences(source, format)?;
    let mut block = Sentences::default();
    let (mut n_sentences, mut words, mut written) = (0, Vec::new(), String::new());
    let mut format = stream.format();
    let mut label = None;
    while stream.next(&mut block)? {
        format = stream.format();
        for number in 0..block.len() {
            let tokens = block.tokens(number);
            assert!(!tokens.is_empty(), "a sentence has tokens");
            for token in tokens.clone() {
                for cell in 0..block.n_cells(token) {
                    assert!(block.cell(token, cell).is_some(), "a cell is text");
                    assert!(block.value(token, cell).is_finite(), "values are finite");
                }
            }
            let word = |token: usize| block.cell(token, format.word_cell()).map(str::to_owned);
            words.extend(tokens.clone().map(word));
            let cell = *label.get_or_insert_with(|| {
                format.label_cell(block.n_cells(tokens.start)).max(format.word_cell() + 1)
            });
            format.write(&block, number, &mut std::iter::repeat_n("X", tokens.len()), cell, &mut written);
        }
        n_sentences += block.len() as u64;
    }
    // Plain text is written as columns; attributes begin with the label, which is another one now.
    if format.info().name != "plain" && !format.holds_attributes() && n_sentences > 0 {
        // A word may begin as only a file may: with the mark of its encoding.
        let gap = if format.by_line() { "" } else { "\n" };
        let again = Source::bytes("again", format!("{gap}{written}").into_bytes());
        let (mut stream, mut n_again) = (sentences(&again, Some(format))?, 0);
        let mut words = words.into_iter();
        while stream.next(&mut block)? {
            n_again += block.len() as u64;
            for token in 0..block.n_tokens() {
                assert_eq!(Some(block.cell(token, format.word_cell()).map(str::to_owned)), words.next());
            }
        }
        assert_eq!((n_again, words.next()), (n_sentences, None), "what was written is read again");
    }
    Ok(n_sentences)
}

/// What every block promises. The classes of a cached block have their names elsewhere.
fn check(block: &Block, cached: bool) {
    assert_eq!(block.matrix().n_rows(), block.len(), "as many rows as classes");
    check_labels(block, cached);
    check_values(block.matrix().lend());
}

/// What a matrix of finished rows promises.
fn check_values(matrix: rosenblatt_data::MatrixRef<'_>) {
    use rosenblatt_data::MatrixRef;
    fn sparse<T: Copy>(matrix: rosenblatt_data::SparseRef<'_, T>, finite: impl Fn(&T) -> bool) {
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
    match matrix {
        MatrixRef::Dense32(matrix) => assert!(matrix.values.iter().all(|value| value.is_finite())),
        MatrixRef::Dense64(matrix) => assert!(matrix.values.iter().all(|value| value.is_finite())),
        MatrixRef::Sparse32(matrix) => sparse(matrix, |value| value.is_finite()),
        MatrixRef::Sparse64(matrix) => sparse(matrix, |value| value.is_finite()),
    }
}

fn check_labels(block: &Block, cached: bool) {
    if block.is_labelled() && !cached {
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
    /// The most bytes that one execution had in use.
    pub peak: usize,
}

impl Tally {
    /// Adds what another thread counted.
    pub fn add(&mut self, other: Self) {
        self.accepted += other.accepted;
        self.refused += other.refused;
        self.contained += other.contained;
        self.peak = self.peak.max(other.peak);
    }
}

/// Runs execution `k`; the error tells what went wrong and how to repeat it.
pub fn execute(
    target: &Target,
    corpus: &[Vec<u8>],
    seed: u64,
    k: u64,
    tally: &mut Tally,
) -> Result<(), String> {
    let (bytes, how) = make(target, corpus, seed, k);
    let run = || {
        let started = Instant::now();
        let (outcome, peak) = allocations::peak_of(|| {
            catch_unwind(AssertUnwindSafe(|| {
                if k.is_multiple_of(64) && target.name != "cache" && target.sentences().is_none() {
                    // The whole way, threads and all.
                    let source = Source::bytes(target.file, bytes.clone());
                    let how = ReadOptions { threads: 3, ..how.clone() };
                    return load_source(&source, &how).map(|data| data.len() as u64);
                }
                read(target, &bytes, &how)
            }))
        });
        (outcome, peak, started.elapsed())
    };
    let (mut outcome, mut peak, mut took) = run();
    // On a busy machine any execution may be kept waiting; one that is slow is slow three times.
    for _ in 0..2 {
        if took > MAX_TIME {
            (outcome, peak, took) = run();
        }
    }
    tally.peak = tally.peak.max(peak);
    let may_use = target.memory.at_least + target.memory.per_byte * bytes.len();
    let finding = match outcome {
        Err(_) => "a panic".to_owned(),
        Ok(Err(error)) if error.kind() == ErrorKind::Internal => format!("an internal error: {error}"),
        Ok(Err(error)) if error.report().len() > 4000 => "a report that is too long".to_owned(),
        _ if took > MAX_TIME => format!("took {took:?}"),
        _ if peak > may_use => format!("used {peak} bytes, more than {may_use}"),
        Ok(Err(error)) => {
            tally.refused += 1;
            // A decoder of others panicked inside its guard: contained, but counted.
            tally.contained += u64::from(error.to_string().contains("bug worth reporting"));
            return Ok(());
        }
        Ok(Ok(_)) => {
            tally.accepted += 1;
            return Ok(());
        }
    };
    let shown = bytes.escape_ascii().to_string();
    let shown = &shown[..shown.len().min(2000)];
    Err(format!(
        "{finding}: target {}, seed {seed}, execution {k}, input {shown}, options {how:?}",
        target.name
    ))
}
