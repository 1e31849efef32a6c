//! The data of all measurements: made here with fixed seeds, in every format that one of the programs reads,
//! the last tenth held out.

use crate::say;
use crate::tools::{Random, context};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// One data set.
pub struct Workload {
    /// What it is called.
    pub name: &'static str,
    /// What is in it.
    pub about: &'static str,
    /// Rows at full scale, held-out ones included.
    pub rows: usize,
    /// Features.
    pub width: usize,
    /// Classes.
    pub classes: usize,
    /// Bytes of all files at full scale, roughly, in MB.
    pub megabytes: usize,
    /// What it is written as.
    pub formats: &'static [&'static str],
    make: fn() -> Box<dyn Rows>,
}

/// All data sets.
pub const WORKLOADS: &[Workload] = &[
    Workload {
        name: "sparse-rcv1",
        about: "words of unit norm, power-law frequencies, 5 % of the labels flipped",
        rows: 200_000,
        width: N_WORDS,
        classes: 2,
        megabytes: 500,
        formats: &["svm", "vw"],
        make: || Box::new(WordRows::new(1958, 0.05, 0.0)),
    },
    Workload {
        name: "sparse-sep",
        about: "the same, separable with a margin",
        rows: 200_000,
        width: N_WORDS,
        classes: 2,
        megabytes: 500,
        formats: &["svm", "vw"],
        make: || Box::new(WordRows::new(1958, 0.0, 0.8)),
    },
    Workload {
        name: "dense-small-d",
        about: "28 normal features, a hidden plane, noise",
        rows: 2_000_000,
        width: 28,
        classes: 2,
        megabytes: 2_400,
        formats: &["csv", "svm", "vw", "npy"],
        make: || Box::new(TableRows::new(28)),
    },
    Workload {
        name: "dense-wide",
        about: "10,000 normal features, two means",
        rows: 20_000,
        width: 10_000,
        classes: 2,
        megabytes: 7_300,
        formats: &["csv", "svm", "vw", "npy"],
        make: || Box::new(WideRows::new(10_000)),
    },
    Workload {
        name: "multiclass",
        about: "784 features, a fifth of them set, ten classes",
        rows: 100_000,
        width: 784,
        classes: 10,
        megabytes: 1_200,
        formats: &["csv", "svm", "vw", "npy"],
        make: || Box::new(PixelRows::new()),
    },
    Workload {
        name: "text",
        about: "documents of 75 words, 5 % of the labels flipped",
        rows: 100_000,
        width: N_WORDS,
        classes: 2,
        megabytes: 130,
        formats: &["tsv", "vwtext"],
        make: || Box::new(WordRows::new(1959, 0.05, 0.0)),
    },
    Workload {
        name: "kernel-small",
        about: "20 normal features, the sign of a product of two, 2 % flipped",
        rows: 20_000,
        width: 20,
        classes: 2,
        megabytes: 20,
        formats: &["svm", "csv", "arff", "npy"],
        make: || Box::new(ProductRows::new()),
    },
];

/// Rows, one after the other.
trait Rows {
    /// Fills the next row and says its class.
    fn next(&mut self, row: &mut Row) -> usize;
}

/// A row as it is written.
#[derive(Default)]
struct Row {
    /// The features that are not zero, from 1, as text.
    entries: Vec<(usize, String)>,
}

const N_WORDS: usize = 47_236;

/// Rows of words: frequencies fall like 1/rank, values are tf-idf of unit norm, labels are those of a hidden plane.
pub struct WordRows {
    random: Random,
    plane: Vec<f64>,
    flips: f64,
    /// How far from the plane a row must be, in standard deviations.
    margin: f64,
    row: Vec<(usize, f64)>,
}

impl WordRows {
    /// Rows of this seed, with this share of labels flipped, none nearer than the margin.
    pub fn new(seed: u64, flips: f64, margin: f64) -> Self {
        let mut random = Random(seed);
        let plane = (0..N_WORDS).map(|_| random.normal()).collect();
        Self { random, plane, flips, margin, row: Vec::new() }
    }

    /// The next row, features from 0, and whether it is positive.
    pub fn draw(&mut self) -> (bool, &[(usize, f64)]) {
        let Self { random, plane, row, .. } = self;
        loop {
            row.clear();
            let n_words = 30 + (random.bits() % 91) as usize;
            while row.len() < n_words {
                let rank = (N_WORDS as f64).powf(random.uniform());
                // Words are numbered by the alphabet, not by frequency.
                let feature = (rank as usize * 30_011 + 7) % N_WORDS;
                if row.iter().all(|&(other, _)| other != feature) {
                    let times = 1.0 + (-random.uniform().ln()).floor();
                    row.push((feature, (1.0 + times.ln()) * (1.5 + rank.ln())));
                }
            }
            row.sort_by_key(|&(feature, _)| feature);
            let norm = row.iter().map(|(_, value)| value * value).sum::<f64>().sqrt();
            let score: f64 = row.iter().map(|&(feature, value)| plane[feature] * value).sum();
            let is_flipped = random.uniform() < self.flips;
            for (_, value) in row.iter_mut() {
                *value /= norm;
            }
            if (score / norm).abs() >= self.margin {
                return ((score > 0.0) != is_flipped, &self.row);
            }
        }
    }
}

/// Seven significant digits.
pub fn digits(value: f64) -> usize {
    7 + usize::from(value < 0.1) + usize::from(value < 0.01)
}

impl Rows for WordRows {
    fn next(&mut self, row: &mut Row) -> usize {
        let (positive, entries) = self.draw();
        let text = |&(feature, value): &(usize, f64)| (feature + 1, format!("{value:.0$}", digits(value)));
        row.entries.extend(entries.iter().map(text));
        usize::from(positive)
    }
}

/// A number with four decimals; one that is zero stays away.
fn push(row: &mut Row, feature: usize, value: f64) {
    let text = format!("{value:.4}");
    if text != "0.0000" && text != "-0.0000" {
        row.entries.push((feature + 1, text));
    }
}

/// Normal features and a noisy hidden plane that one row in five is on the wrong side of.
pub struct TableRows {
    random: Random,
    width: usize,
}

impl TableRows {
    /// Rows of this many features.
    pub fn new(width: usize) -> Self {
        Self { random: Random(1962), width }
    }
}

impl Rows for TableRows {
    fn next(&mut self, row: &mut Row) -> usize {
        let (mut score, mut norm2) = (0.0, 0.0_f64);
        for column in 0..self.width {
            let value = self.random.normal();
            let weight = if column % 3 == 0 { 1.0 } else { -0.5 };
            score += value * weight;
            norm2 += weight * weight;
            push(row, column, value);
        }
        usize::from(score + 0.68 * norm2.sqrt() * self.random.normal() > 0.0)
    }
}

/// Two normal clouds, far enough apart in all features together.
struct WideRows {
    random: Random,
    shift: Vec<f64>,
}

impl WideRows {
    fn new(width: usize) -> Self {
        let mut random = Random(1969);
        let shift = (0..width).map(|_| 2.7 / (width as f64).sqrt() * random.normal()).collect();
        Self { random, shift }
    }
}

impl Rows for WideRows {
    fn next(&mut self, row: &mut Row) -> usize {
        let class = (self.random.bits() >> 63) as usize;
        let side = if class == 1 { 1.0 } else { -1.0 };
        for (column, shift) in self.shift.iter().enumerate() {
            // Three uniforms are normal enough for this many.
            let noise = 2.0 * (self.random.uniform() + self.random.uniform() + self.random.uniform()) - 3.0;
            push(row, column, noise + side * shift);
        }
        class
    }
}

/// Pictures of a kind: every class sets its pixels a little more or less often.
struct PixelRows {
    random: Random,
    often: Vec<[f64; 10]>,
}

impl PixelRows {
    fn new() -> Self {
        let mut random = Random(1986);
        let often = (0..784).map(|_| std::array::from_fn(|_| 0.2 + 0.03 * random.normal())).collect();
        Self { random, often }
    }
}

impl Rows for PixelRows {
    fn next(&mut self, row: &mut Row) -> usize {
        let class = (self.random.bits() % 10) as usize;
        for (pixel, often) in self.often.iter().enumerate() {
            if self.random.uniform() < often[class] {
                push(row, pixel, 0.05 + 0.95 * self.random.uniform());
            }
        }
        class
    }
}

/// The sign of the product of the first two features.
struct ProductRows {
    random: Random,
}

impl ProductRows {
    fn new() -> Self {
        Self { random: Random(1999) }
    }
}

impl Rows for ProductRows {
    fn next(&mut self, row: &mut Row) -> usize {
        let values: [f64; 20] = std::array::from_fn(|_| self.random.normal());
        for (feature, value) in values.iter().enumerate() {
            push(row, feature, *value);
        }
        usize::from((values[0] * values[1] > 0.0) != (self.random.uniform() < 0.02))
    }
}

/// The files of a data set at some scale.
pub struct Files {
    folder: PathBuf,
    name: &'static str,
    /// Rows to learn from, and rows held out.
    pub rows: [usize; 2],
}

impl Files {
    /// A file by part (`train`, `test`) and extension.
    pub fn path(&self, part: &str, extension: &str) -> PathBuf {
        self.folder.join(format!("{}.{part}.{extension}", self.name))
    }

    /// The folder they are in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

/// Makes all files of a data set unless they are there.
pub fn make(workload: &Workload, scale: f64, folder: &Path) -> Result<Files, String> {
    let folder = folder.join(format!("scale-{scale}"));
    fs::create_dir_all(&folder).map_err(context("making the folder"))?;
    // Enough to be held out from and to be parsed in several blocks, and no more megabytes than that takes.
    let fewest = if workload.rows < 50_000 { 120 } else { 400 };
    let rows = ((workload.rows as f64 * scale) as usize).max(fewest);
    let files = Files { folder, name: workload.name, rows: [rows - rows / 10, rows / 10] };
    let done = files.folder.join(format!("{}.done", workload.name));
    if done.exists() {
        return Ok(files);
    }
    say(&format!(
        "generating {}: {rows} rows, about {:.0} MB in {}",
        workload.name,
        workload.megabytes as f64 * rows as f64 / workload.rows as f64,
        files.folder.display()
    ));
    let mut source = (workload.make)();
    for (part, n_rows) in ["train", "test"].into_iter().zip(files.rows) {
        let mut writers = Vec::new();
        for format in workload.formats {
            writers.push(Writer::new(&files, part, format, n_rows, workload)?);
        }
        let mut row = Row::default();
        for _ in 0..n_rows {
            row.entries.clear();
            let class = source.next(&mut row);
            for writer in &mut writers {
                writer.row(&row, class).map_err(context("generating"))?;
            }
        }
        for mut writer in writers {
            writer.out.flush().map_err(context("generating"))?;
            if let Some(labels) = &mut writer.labels {
                labels.flush().map_err(context("generating"))?;
            }
        }
    }
    fs::write(done, "").map_err(context("generating"))?;
    Ok(files)
}

/// Makes a table of this shape, in CSV, for measuring how cost grows.
pub fn make_table(path: &Path, n_rows: usize, width: usize) -> Result<(), String> {
    crate::tools::generate(path, |out| {
        let mut source = TableRows::new(width);
        let mut row = Row::default();
        write_header(out, width)?;
        let mut text = String::new();
        for _ in 0..n_rows {
            row.entries.clear();
            let class = source.next(&mut row);
            text.clear();
            write_cells(&mut text, &row, width);
            let _ = writeln!(text, "{class}");
            out.write_all(text.as_bytes())?;
        }
        Ok(())
    })
}

fn write_header(out: &mut impl Write, width: usize) -> std::io::Result<()> {
    for column in 1..=width {
        write!(out, "x{column},")?;
    }
    out.write_all(b"label\n")
}

/// All cells of a row, each followed by a comma.
fn write_cells(text: &mut String, row: &Row, width: usize) {
    let mut entries = row.entries.iter().peekable();
    for feature in 1..=width {
        match entries.next_if(|(known, _)| *known == feature) {
            Some((_, value)) => text.push_str(value),
            None => text.push('0'),
        }
        text.push(',');
    }
}

/// One file in the making.
struct Writer {
    format: &'static str,
    out: BufWriter<File>,
    /// The labels of a format that keeps them apart.
    labels: Option<BufWriter<File>>,
    width: usize,
    classes: usize,
    text: String,
}

impl Writer {
    fn new(
        files: &Files,
        part: &str,
        format: &'static str,
        n_rows: usize,
        workload: &Workload,
    ) -> Result<Self, String> {
        let create = |extension: &str| {
            let file = File::create(files.path(part, extension)).map_err(context("generating"))?;
            Ok::<_, String>(BufWriter::with_capacity(1 << 20, file))
        };
        let &Workload { width, classes, .. } = workload;
        let mut out = create(format)?;
        let labels = if format == "npy" { Some(create("labels.npy")?) } else { None };
        let mut writer = Self { format, out, labels, width, classes, text: String::new() };
        out = writer.out;
        let begun = match format {
            "csv" => write_header(&mut out, width),
            "tsv" => out.write_all(b"label\ttext\n"),
            "arff" => {
                let names: String = (1..=width).fold("@relation bench\n".to_owned(), |mut text, column| {
                    let _ = writeln!(text, "@attribute x{column} numeric");
                    text
                });
                out.write_all(format!("{names}@attribute label {{0,1}}\n@data\n").as_bytes())
            }
            "npy" => out.write_all(&npy_header("<f4", &format!("({n_rows}, {width})"))),
            _ => Ok(()),
        };
        begun.map_err(context("generating"))?;
        writer.out = out;
        if let Some(labels) = &mut writer.labels {
            let header = npy_header("<i8", &format!("({n_rows},)"));
            labels.write_all(&header).map_err(context("generating"))?;
        }
        Ok(writer)
    }

    fn row(&mut self, row: &Row, class: usize) -> std::io::Result<()> {
        let Self { format, out, labels, width, classes, text } = self;
        // Two classes have a sign, several count from 1; columns that are numbers hold 0 and 1 for two.
        let sign = match (*classes, class) {
            (2, 0) => "-1".to_owned(),
            (2, _) => "1".to_owned(),
            (_, class) => (class + 1).to_string(),
        };
        let number = if *classes == 2 { class } else { class + 1 };
        text.clear();
        match *format {
            "svm" | "vw" => {
                text.push_str(&sign);
                text.push_str(if *format == "vw" { " |" } else { "" });
                for (feature, value) in &row.entries {
                    let _ = write!(text, " {feature}:{value}");
                }
                text.push('\n');
            }
            "csv" | "arff" => {
                write_cells(text, row, *width);
                let _ = writeln!(text, "{number}");
            }
            "tsv" | "vwtext" => {
                let _ = if *format == "tsv" { write!(text, "{number}\t") } else { write!(text, "{sign} |") };
                let words: Vec<String> = row.entries.iter().map(|(feature, _)| word(*feature)).collect();
                text.push_str(if *format == "tsv" { "" } else { " " });
                text.push_str(&words.join(" "));
                text.push('\n');
            }
            _ => {
                let mut values = vec![0_u8; *width * 4];
                for (feature, value) in &row.entries {
                    let value: f32 = value.parse().unwrap_or(0.0);
                    values[(feature - 1) * 4..feature * 4].copy_from_slice(&value.to_le_bytes());
                }
                out.write_all(&values)?;
                if let Some(labels) = labels {
                    labels.write_all(&(number as u64).to_le_bytes())?;
                }
            }
        }
        out.write_all(text.as_bytes())
    }
}

/// A word for a number: syllables of a consonant and a vowel.
fn word(number: usize) -> String {
    let (consonants, vowels) = (b"bdfgklmnprstvz", b"aeiou");
    let (mut text, mut rest) = (String::new(), number + 70);
    while rest > 0 {
        let syllable = rest % 70;
        text.push(char::from(consonants[syllable / 5]));
        text.push(char::from(vowels[syllable % 5]));
        rest /= 70;
    }
    text
}

/// The first bytes of a `.npy` file, version 1.
fn npy_header(kind: &str, shape: &str) -> Vec<u8> {
    let mut text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
    while (text.len() + 11) % 64 != 0 {
        text.push(' ');
    }
    text.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes
}
