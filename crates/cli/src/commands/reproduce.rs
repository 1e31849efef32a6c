//! `rosenblatt reproduce freund-schapire --data DIR`: the voted kernel perceptron of 1999, table for table.
//!
//! The published numbers below are recalled from the literature, not copied from the paper at hand; an independent run
//! agreed with them. What is printed says so.

use crate::args::by_name;
use crate::choices::meaning_of;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::ui;
use clap::{Subcommand, ValueEnum};
use rosenblatt::Dataset;
use rosenblatt::data::Pictures;
use rosenblatt::device::DeviceChoice;
use rosenblatt::reproduce::{FreundSchapire, Measured, freund_schapire};
use rosenblatt_data::{Precision, ReadOptions, Source, load_source};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  rosenblatt reproduce freund-schapire --data mnist --degree 4 --epochs 4
  rosenblatt reproduce freund-schapire --data mnist --permutations 5
  rosenblatt reproduce freund-schapire --data mnist --degree 2,3 --epochs 30")]
pub(crate) struct Args {
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(Subcommand)]
enum Experiment {
    /// Voted, averaged, last and random kernel perceptrons on MNIST (Freund and Schapire 1999)
    FreundSchapire(FreundSchapireArgs),
}

#[derive(clap::Args)]
struct FreundSchapireArgs {
    /// Read the four IDX files of MNIST, compressed or not, from this folder
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Learn with kernels (1 + x.y)^d of these degrees
    #[arg(long, value_name = "D,...", value_delimiter = ',', default_value = "1,2,3,4,5",
        value_parser = clap::value_parser!(u32).range(1..=6))]
    degree: Vec<u32>,
    /// Maximum number of epochs. The error is measured after 0.1, 1, 2, 3, 4, 10 and 30
    #[arg(long, alias = "passes", value_name = "T", default_value = "10")]
    epochs: Most,
    /// Average over N random permutations of the training rows
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1000))]
    permutations: u64,
    /// Seed of every random choice
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Learn from the first N rows only [default: all]
    #[arg(long, value_name = "N")]
    rows: Option<usize>,
    #[arg(long, value_name = "NAME", value_parser = by_name::<DeviceChoice>, default_value = "auto",
        help = format!(
            "{}. Changes nothing but the time; auto takes a card if there is one and the rows are many",
            meaning_of("device")
        ))]
    device: DeviceChoice,
}

#[derive(Clone, Copy, ValueEnum)]
enum Most {
    #[value(name = "0.1")]
    Tenth,
    #[value(name = "1")]
    One,
    #[value(name = "2")]
    Two,
    #[value(name = "3")]
    Three,
    #[value(name = "4")]
    Four,
    #[value(name = "10")]
    Ten,
    #[value(name = "30")]
    Thirty,
}

/// After how many epochs the paper measured.
const EPOCHS: [f64; 7] = [0.1, 1.0, 2.0, 3.0, 4.0, 10.0, 30.0];

/// The rows of the paper's table: what they are called, and where ours are found.
const ROWS: [(&str, Row); 9] = [
    ("vote", Row::Error(2)),
    ("average", Row::Error(3)),
    ("average, normalised", Row::Error(4)),
    ("last", Row::Error(0)),
    ("last, normalised", Row::Error(1)),
    ("random", Row::Error(5)),
    ("random, normalised", Row::Error(6)),
    ("support vectors", Row::Support),
    ("mistakes", Row::Mistakes),
];

#[derive(Clone, Copy)]
enum Row {
    Error(usize),
    Support,
    Mistakes,
}

const UNKNOWN: f64 = f64::NAN;

/// The published table as it is recalled: degree, row, and the value after [`EPOCHS`] epochs; errors in percent.
#[rustfmt::skip]
const PAPER: &[(u32, usize, [f64; 7])] = &[
    (1, 0, [10.7, 8.5, 8.3, 8.2, 8.2, 8.1, UNKNOWN]),
    (1, 1, [10.9, 8.7, 8.5, 8.4, 8.3, 8.3, UNKNOWN]),
    (1, 2, [10.9, 8.5, 8.2, 8.1, 8.1, 8.1, UNKNOWN]),
    (1, 3, [16.0, 14.7, 13.6, 13.9, 13.7, 13.5, UNKNOWN]),
    (1, 4, [15.4, 14.1, 13.1, 13.5, 13.2, 13.0, UNKNOWN]),
    (1, 5, [22.0, 15.7, 14.7, 14.3, 14.1, 13.8, UNKNOWN]),
    (1, 6, [21.5, 15.2, 14.2, 13.8, 13.6, 13.2, UNKNOWN]),
    (1, 7, [2489.0, 19795.0, 24263.0, 26704.0, 28322.0, 32994.0, UNKNOWN]),
    (1, 8, [3342.0, 25461.0, 48431.0, 70915.0, 93090.0, 223_657.0, UNKNOWN]),
    (2, 0, [6.0, 2.8, 2.4, 2.2, 2.1, 1.8, 1.8]),
    (2, 1, [6.0, 2.8, 2.4, 2.2, 2.1, 1.9, 1.8]),
    (2, 2, [6.2, 3.0, 2.5, 2.3, 2.2, 1.9, 1.8]),
    (2, 3, [8.6, 4.0, 3.4, 3.0, 2.7, 2.3, 2.0]),
    (2, 4, [8.4, 3.9, 3.3, 3.0, 2.7, 2.3, 1.9]),
    (2, 5, [13.4, 5.9, 4.7, 4.1, 3.8, 2.9, 2.4]),
    (2, 6, [13.2, 5.9, 4.7, 4.1, 3.8, 2.9, 2.3]),
    (2, 7, [1639.0, 8190.0, 9888.0, 10818.0, 11424.0, 12963.0, 13861.0]),
    (2, 8, [2150.0, 10201.0, 15290.0, 19093.0, 22100.0, 32451.0, 41614.0]),
    (3, 0, [5.4, 2.3, 1.9, 1.8, 1.7, 1.6, 1.6]),
    (3, 1, [5.3, 2.3, 1.9, 1.8, 1.7, 1.6, 1.5]),
    (3, 2, [5.5, 2.5, 2.0, 1.8, 1.8, 1.6, 1.5]),
    (3, 3, [6.9, 3.1, 2.5, 2.2, 2.0, 1.7, 1.6]),
    (3, 4, [6.8, 3.1, 2.5, 2.2, 2.0, 1.7, 1.6]),
    (3, 5, [11.6, 4.9, 3.7, 3.2, 2.9, 2.2, 1.8]),
    (3, 6, [11.5, 4.8, 3.7, 3.2, 2.9, 2.2, 1.8]),
    (3, 7, [1460.0, 6774.0, 8073.0, 8715.0, 9102.0, 9883.0, 10094.0]),
    (3, 8, [1937.0, 8475.0, 11739.0, 13757.0, 15129.0, 18422.0, 19473.0]),
    (4, 7, [1406.0, 6338.0, 7453.0, 7944.0, 8214.0, 8673.0, 8717.0]),
    (4, 8, [1882.0, 7977.0, 10543.0, 11933.0, 12780.0, 14375.0, 14538.0]),
    (5, 7, [1439.0, 6327.0, 7367.0, 7788.0, 7990.0, 8295.0, 8313.0]),
    (5, 8, [1953.0, 8044.0, 10379.0, 11563.0, 12215.0, 13234.0, 13289.0]),
    (6, 7, [1488.0, 6521.0, 7537.0, 7935.0, 8116.0, UNKNOWN, UNKNOWN]),
    (6, 8, [2034.0, 8351.0, 10647.0, 11710.0, 12254.0, UNKNOWN, UNKNOWN]),
];

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let Experiment::FreundSchapire(args) = &args.experiment;
    let progress = Progress::new(true);
    progress.stage("reading MNIST");
    let half = |half: &str| read(&args.data, half, &progress);
    let both = || {
        std::thread::scope(|scope| {
            let test = scope.spawn(|| half("t10k"));
            let train = half("train");
            let test = test.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            Ok::<_, Failure>((train?, test?))
        })
    };
    let (mut train, test) = args.device.meanwhile(both)?;
    if let Some(n_rows) = args.rows {
        train = first_rows(&train, n_rows);
    }
    let epochs = &EPOCHS[..=args.epochs as usize];
    let n_runs = args.degree.len() as f64 * args.permutations as f64;
    let mut text = format!(
        "Freund and Schapire 1999: {} training and {} test rows, {}\n\
         the published numbers are recalled, not read off the paper; a dash where none is known\n",
        ui::count(train.len() as u64),
        ui::count(test.len() as u64),
        ui::counted(args.permutations, "permutation", "permutations"),
    );
    let mut done = 0.0;
    progress.stage("learning");
    for &degree in &args.degree {
        let start = Instant::now();
        let mut runs = Vec::new();
        for permutation in 0..args.permutations {
            let seed = args.seed.wrapping_add(permutation);
            let experiment = FreundSchapire { degree, epochs, seed, largest: 255.0, device: args.device };
            let mut tell = |share: f64| {
                progress.show(Some((done + share) / n_runs), || {
                    format!("degree {degree}, permutation {} of {}", permutation + 1, args.permutations)
                });
            };
            runs.push(freund_schapire(&experiment, &train, &test, &mut tell)?);
            done += 1.0;
        }
        let _ = write!(text, "\n{}", table(degree, &mean(&runs)));
        let _ = writeln!(text, "in {}", ui::duration(start.elapsed()));
    }
    drop(progress);
    ui::print(&text)
}

/// Pictures and labels of one half of MNIST, pixels as they are.
fn read(folder: &Path, half: &str, progress: &Progress) -> Result<Dataset, Failure> {
    let names = ["images-idx3-ubyte", "labels-idx1-ubyte"].map(|kind| format!("{half}-{kind}"));
    let [images, labels] = names.map(|name| {
        let plain = folder.join(&name);
        if plain.exists() { plain } else { folder.join(format!("{name}.gz")) }
    });
    for path in [&images, &labels] {
        if !path.exists() {
            let message = format!("there is no {}", path.display());
            let help = "`--data` should be a folder with the four files of MNIST in IDX format, .gz or not";
            return Err(Failure::Work(format!("{message}\nhelp: {help}")));
        }
    }
    let read = ReadOptions {
        labels_file: Some(labels),
        pictures: Pictures { unscaled: true, ..Pictures::default() },
        precision: Precision::Single,
        ..ReadOptions::default()
    };
    let source = Source::file(&images);
    progress.reading(&source, &read.meter, 1);
    Ok(load_source(&source, &read)?)
}

/// The first rows of `data`, or all if there are no more.
fn first_rows(data: &Dataset, n_rows: usize) -> Dataset {
    use rosenblatt_data::{DenseMatrix, DenseRef, Matrix, MatrixRef};
    let n_rows = n_rows.min(data.len());
    let MatrixRef::Dense32(DenseRef { values, width }) = data.matrix() else { return data.clone() };
    let matrix = DenseMatrix { values: values[..n_rows * width].to_vec(), width };
    Dataset::new(Matrix::Dense32(matrix), data.classes()[..n_rows].to_vec(), data.labels().clone())
}

/// By row of the table, by moment: the mean of all runs; errors in percent.
fn mean(runs: &[Vec<Measured>]) -> Vec<Vec<f64>> {
    let value = |measured: &Measured, row: Row| match row {
        Row::Error(readout) => measured.errors[readout] * 100.0,
        Row::Support => measured.support as f64,
        Row::Mistakes => measured.mistakes as f64,
    };
    let n_moments = runs.first().map_or(0, Vec::len);
    let of_row = |(_, row): &(&str, Row)| {
        let at =
            |moment: usize| runs.iter().map(|run| value(&run[moment], *row)).sum::<f64>() / runs.len() as f64;
        (0..n_moments).map(at).collect()
    };
    ROWS.iter().map(of_row).collect()
}

/// Ours, the published number and the difference, in points for errors and in percent for counts.
fn table(degree: u32, ours: &[Vec<f64>]) -> String {
    let n_moments = ours.first().map_or(0, Vec::len);
    let mut head = vec![format!("degree {degree}, epochs")];
    head.extend(EPOCHS[..n_moments].iter().map(f64::to_string));
    let mut lines = vec![head];
    for (place, (name, row)) in ROWS.iter().enumerate() {
        let published = PAPER.iter().find(|(of, row, _)| (*of, *row) == (degree, place));
        let published = published.map_or([UNKNOWN; 7], |(.., values)| *values);
        let (digits, unit) = if matches!(row, Row::Error(_)) { (2, " %") } else { (0, "") };
        let mut line = vec![format!("{name}{unit}")];
        line.extend(ours[place].iter().map(|value| format!("{value:.digits$}")));
        let mut paper = vec!["  published".to_owned()];
        let mut difference = vec!["  difference".to_owned()];
        for (value, published) in ours[place].iter().zip(published) {
            let known = !published.is_nan();
            let shown = match row {
                Row::Error(_) => format!("{published:.1}"),
                _ => format!("{published:.0}"),
            };
            let apart = match row {
                Row::Error(_) => format!("{:+.2}", value - published),
                _ => format!("{:+.1} %", (value / published - 1.0) * 100.0),
            };
            paper.push(if known { shown } else { "-".to_owned() });
            difference.push(if known { apart } else { "-".to_owned() });
        }
        let any_known = published[..n_moments].iter().any(|value| !value.is_nan());
        lines.push(line);
        if any_known {
            lines.extend([paper, difference]);
        }
    }
    ui::table(&lines)
}
