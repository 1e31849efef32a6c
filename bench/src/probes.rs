//! Processes that are measured from inside: what the machine allows, and prediction of rows in memory.

use super::tools::{Random, answer, context};
use rosenblatt_core::{Examples, Hyperplanes, Visits};
use rosenblatt_data::{Dataset, LabelColumn, ReadOptions, Source, Visitor, load_source};
use std::fs::File;
use std::hint::black_box;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

/// How much memory is read to find the bandwidth: far more than any cache holds.
const BANDWIDTH_BYTES: usize = 1 << 30;

/// `touch-probe FILE`: reads every byte once.
pub(super) fn touch(words: &[String]) -> Result<(), String> {
    let [file] = words else { return Err("expected a file".to_owned()) };
    let start = Instant::now();
    let mut sum = 0_u64;
    in_pieces(Path::new(file), |piece| sum = sum.wrapping_add(touched(piece)))?;
    black_box(sum);
    answer(&format!("{{\"seconds\": {}}}", start.elapsed().as_secs_f64()));
    Ok(())
}

/// What all bytes of a piece come to, so that each is looked at.
pub(super) fn touched(piece: &[u8]) -> u64 {
    let (words, _) = piece.as_chunks::<8>();
    words.iter().fold(0, |sum, word| sum.wrapping_add(u64::from_le_bytes(*word)))
}

/// How often a byte stands in a file.
pub(super) fn count(file: &Path, wanted: u8) -> Result<u64, String> {
    let mut found = 0;
    in_pieces(file, |piece| found += piece.iter().map(|byte| u64::from(*byte == wanted)).sum::<u64>())?;
    Ok(found)
}

/// Reads a file the way the reader does, piece by piece.
pub(super) fn in_pieces(file: &Path, mut work: impl FnMut(&[u8])) -> Result<(), String> {
    let mut input = File::open(file).map_err(context("opening"))?;
    let mut buffer = vec![0; 256 << 10];
    loop {
        match input.read(&mut buffer).map_err(context("reading"))? {
            0 => return Ok(()),
            n_bytes => work(&buffer[..n_bytes]),
        }
    }
}

/// `bandwidth-probe THREADS PLACES`: how fast memory is read, in GB/s, from one place on or from four at once.
pub(super) fn bandwidth(words: &[String]) -> Result<(), String> {
    let [threads, places] = words else { return Err("expected threads and places".to_owned()) };
    let threads: usize = threads.parse().map_err(|_| "threads")?;
    let read = if places == "4" { read::<4> } else { read::<1> };
    let memory = vec![1_u64; BANDWIDTH_BYTES / 8];
    let mut best = f64::INFINITY;
    for _ in 0..7 {
        let start = Instant::now();
        std::thread::scope(|scope| {
            for part in memory.chunks(memory.len().div_ceil(threads.max(1))) {
                scope.spawn(move || read(part));
            }
        });
        best = best.min(start.elapsed().as_secs_f64());
    }
    answer(&format!("{}", BANDWIDTH_BYTES as f64 / best / 1e9));
    Ok(())
}

/// Adds everything up, from several places on at once.
fn read<const PLACES: usize>(part: &[u64]) {
    // Several sums for each, so that no addition waits for the one before it.
    let mut sums = [[0_u64; 16]; PLACES];
    let mut shares = part.chunks(part.len().div_ceil(PLACES).max(1)).map(|share| share.as_chunks::<16>().0);
    let shares: [&[[u64; 16]]; PLACES] = std::array::from_fn(|_| shares.next().unwrap_or(&[]));
    for place in 0..shares[0].len() {
        for (sums, share) in sums.iter_mut().zip(shares) {
            let Some(values) = share.get(place) else { continue };
            for (sum, value) in sums.iter_mut().zip(values) {
                *sum = sum.wrapping_add(*value);
            }
        }
    }
    black_box(sums);
}

/// What memory does on this machine, in GB/s.
#[derive(Clone, Copy)]
pub(super) struct Bandwidth {
    /// Read plainly, from the first byte to the last.
    pub(super) one_core: f64,
    pub(super) two_cores: f64,
    /// Read by one core from four places at once: memory answers several askers sooner than one.
    pub(super) four_places: f64,
}

impl Bandwidth {
    pub(super) fn measure() -> Result<Self, String> {
        let (one_core, two_cores) = (bandwidth_of(1, 1)?, bandwidth_of(2, 1)?);
        Ok(Self { one_core, two_cores, four_places: bandwidth_of(1, 4)? })
    }

    /// The better of two moments.
    pub(super) fn or_better(self, other: Self) -> Self {
        Self {
            one_core: self.one_core.max(other.one_core),
            two_cores: self.two_cores.max(other.two_cores),
            four_places: self.four_places.max(other.four_places),
        }
    }
}

/// The bandwidth on this many threads, from a process of its own.
fn bandwidth_of(threads: usize, places: usize) -> Result<f64, String> {
    let mut command = std::process::Command::new(super::own()?);
    let printed = super::tools::output_of(command.args([
        "bench",
        "bandwidth-probe",
        &threads.to_string(),
        &places.to_string(),
    ]))?;
    printed.trim().parse().map_err(|_| format!("the bandwidth is {printed}"))
}

/// `predict-probe THREADS CLASSES FILE [LABELS]`: scores all rows in memory, again and again; the least seconds.
pub(super) fn predict(words: &[String]) -> Result<(), String> {
    let [threads, classes, file, labels @ ..] = words else { return Err("expected a probe".to_owned()) };
    let threads: usize = threads.parse().map_err(|_| "threads")?;
    let classes: usize = classes.parse().map_err(|_| "classes")?;
    let label = if labels.is_empty() { LabelColumn::Guess } else { LabelColumn::Absent };
    let how = ReadOptions { label, ..ReadOptions::default() };
    let data = load_source(&Source::file(file), &how).map_err(|error| error.report())?;
    let n_outputs = if classes == 2 { 1 } else { classes };
    let mut random = Random(7);
    let weights = (0..data.width() * n_outputs).map(|_| random.normal()).collect();
    let planes = Hyperplanes::from_parts(weights, vec![0.0; n_outputs]);
    let (begun, mut best) = (Instant::now(), f64::INFINITY);
    while begun.elapsed() < Duration::from_secs(1) {
        let start = Instant::now();
        sweep(&data, &planes, threads);
        best = best.min(start.elapsed().as_secs_f64());
    }
    answer(&format!("{{\"seconds\": {best}}}"));
    Ok(())
}

/// The class of every row, on some threads.
pub(super) fn sweep(data: &Dataset, planes: &Hyperplanes, threads: usize) {
    struct Part<'a>(&'a Hyperplanes, usize, usize);
    impl Visitor for Part<'_> {
        type Output = Vec<u32>;
        fn visit<E: Examples>(self, examples: E) -> Vec<u32> {
            let Self(planes, first, end) = self;
            let visits = Visits::Range { first, end: end.min(examples.len()) };
            let mut classes = Vec::with_capacity(visits.len());
            planes.each(examples, visits, |_, scores| {
                classes.push(match scores {
                    [score] => u32::from(*score > 0.0),
                    scores => {
                        let best = (0..scores.len()).max_by(|&a, &b| scores[a].total_cmp(&scores[b]));
                        best.unwrap_or(0) as u32
                    }
                });
            });
            classes
        }
    }
    let share = data.len().div_ceil(threads.max(1)).max(1);
    if threads == 1 {
        black_box(data.visit(Part(planes, 0, data.len())));
        return;
    }
    std::thread::scope(|scope| {
        for first in (0..data.len()).step_by(share) {
            scope.spawn(move || black_box(data.visit(Part(planes, first, first + share))));
        }
    });
}
