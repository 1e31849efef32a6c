//! `cargo xtask bench --quick`: no times, but every quick path on every data set, at a small scale, against a plain
//! reference: text split at blanks, numbers by the standard library, the perceptron of the textbook one row after the
//! other. Weights must agree in every bit, whatever the format, the threads and the way to the rows, and so must
//! the classes of rows held out.

use crate::tools::{FOLDER, context, output_of};
use crate::torture::cargo;
use crate::workloads::{self, Files, WORKLOADS, Workload};
use crate::{everything, say};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The smallest scale: some hundred rows of each data set.
const SCALE: f64 = 0.000_001;

pub(crate) fn run() -> Result<(), String> {
    // The program of the tests, so that nothing is built twice.
    cargo(&everything("test", &["--quiet", "--no-run", "--test", "main"]), &[])?;
    let ours = PathBuf::from("target/debug/rosenblatt");
    for workload in WORKLOADS {
        let files = workloads::make(workload, SCALE, &PathBuf::from(FOLDER).join("quick"))?;
        let n_paths = if workload.formats.contains(&"svm") {
            against_reference(&ours, workload, &files)?
        } else {
            among_each_other(&ours, &files)?
        };
        say(&format!("{}: {n_paths} ways to the same bits", workload.name));
    }
    Ok(())
}

/// One weight per feature and class, then the biases.
type Weights = Vec<Vec<u64>>;

fn against_reference(ours: &Path, workload: &Workload, files: &Files) -> Result<usize, String> {
    let n_outputs = if workload.classes == 2 { 1 } else { workload.classes };
    let learned = parse(&files.path("train", "svm"), workload)?;
    let held = parse(&files.path("test", "svm"), workload)?;
    let mut reference = Reference::new(workload.width, n_outputs);
    for (class, row) in &learned {
        reference.learn(*class, row);
    }
    let expected = reference.bits();
    let signs = class_names(workload, true);
    let numbers = class_names(workload, false);
    let svm = files.path("train", "svm").display().to_string();
    let given = "--order given --epochs 1 --patience 0 --holdout 0 --calibrate none";
    let memory = files.rows[0] * 13 + 1;
    let mut lines = vec![
        format!("{svm} --online --threads 1 --classes={signs}"),
        format!("{svm} --online --threads 2 --classes={signs}"),
        format!("{svm} --online"),
        format!("{svm} {given} --threads 1"),
        format!("{svm} {given} --threads 2"),
        format!("{svm} {given} --memory {memory}"),
    ];
    if workload.formats.contains(&"csv") {
        let csv = files.path("train", "csv").display().to_string();
        lines.push(format!("{csv} --label label --online --classes={numbers}"));
        lines.push(format!("{csv} --label label {given} --threads 2"));
    }
    if workload.formats.contains(&"vw") {
        lines.push(format!("{} --format vw --online --classes={signs}", files.path("train", "vw").display()));
    }
    if workload.formats.contains(&"npy") {
        let (array, labels) = (files.path("train", "npy"), files.path("train", "labels.npy"));
        lines.push(format!("{} --labels {} {given}", array.display(), labels.display()));
    }
    let model = files.folder().join("quick.model");
    for line in &lines {
        let mut train = Command::new(ours);
        train
            .arg("train")
            .args(line.split_whitespace())
            .args(["--scale", "none", "--readout", "last", "-q", "--model"])
            .arg(&model);
        output_of(&mut train).map_err(|error| format!("train {line}: {error}"))?;
        let found = exported(ours, &model, workload, line.contains("--format vw"))?;
        if found != expected {
            let differing = (0..expected.len()).find(|&output| found.get(output) != expected.get(output));
            return Err(format!("train {line}: other weights than the reference's, output {differing:?}"));
        }
    }
    // The last model but for arrays and VW text is one of columns; classes are read from libsvm by the first.
    let mut train = Command::new(ours);
    train
        .arg("train")
        .args(lines[0].split_whitespace())
        .args(["--scale", "none", "--readout", "last", "-q", "--model"])
        .arg(&model);
    output_of(&mut train)?;
    let test = files.path("test", "svm");
    let printed =
        output_of(Command::new(ours).arg("predict").arg(&test).arg("--model").arg(&model).arg("-q"))?;
    let names: Vec<&str> = signs.split(',').collect();
    let expected: Vec<&str> = held.iter().map(|(_, row)| names[reference.class(row)]).collect();
    if printed.lines().collect::<Vec<_>>() != expected {
        return Err(format!("{}: other predictions than the reference's", workload.name));
    }
    Ok(lines.len() + 1)
}

/// Where the features are words, threads and memory must make no difference.
fn among_each_other(ours: &Path, files: &Files) -> Result<usize, String> {
    let file = files.path("train", "tsv").display().to_string();
    let mut models = Vec::new();
    let ways =
        ["--threads 1".to_owned(), "--threads 2".to_owned(), format!("--memory {}", files.rows[0] * 13)];
    for way in &ways {
        let model = files.folder().join("quick.model");
        // On disk the error is estimated on a hold-out, as the guide says; few rows in memory have folds.
        let line = format!(
            "train {file} --label label --text text --order given --epochs 3 --calibrate none --holdout 0.2 -q {way}"
        );
        output_of(Command::new(ours).args(line.split_whitespace()).arg("--model").arg(&model))?;
        models.push(fs::read(&model).map_err(context("reading a model"))?);
    }
    if models.windows(2).any(|pair| pair[0] != pair[1]) {
        return Err(format!("{file}: models differ with the way to the rows"));
    }
    Ok(ways.len())
}

/// What classes are called, in their order.
fn class_names(workload: &Workload, signed: bool) -> String {
    match workload.classes {
        2 if signed => "-1,1".to_owned(),
        2 => "0,1".to_owned(),
        n => (1..=n).map(|class| class.to_string()).collect::<Vec<_>>().join(","),
    }
}

/// A class and the features that are not zero.
type Example = (usize, Vec<(usize, f64)>);

fn parse(path: &Path, workload: &Workload) -> Result<Vec<Example>, String> {
    let text = fs::read_to_string(path).map_err(context("reading"))?;
    let example = |line: &str| {
        let mut words = line.split(' ');
        let label: i64 = words.next()?.parse().ok()?;
        let class = if workload.classes == 2 { usize::from(label > 0) } else { label as usize - 1 };
        let entry = |word: &str| {
            let (feature, value) = word.split_once(':')?;
            Some((feature.parse::<usize>().ok()? - 1, f64::from(value.parse::<f32>().ok()?)))
        };
        Some((class, words.map(entry).collect::<Option<Vec<_>>>()?))
    };
    text.lines().map(example).collect::<Option<_>>().ok_or_else(|| format!("{}: what?", path.display()))
}

/// The textbook's perceptron, one per output.
struct Reference {
    weights: Vec<Vec<f64>>,
    biases: Vec<f64>,
}

impl Reference {
    fn new(width: usize, n_outputs: usize) -> Self {
        Self { weights: vec![vec![0.0; width]; n_outputs], biases: vec![0.0; n_outputs] }
    }

    /// Eight sums, feature `j` in sum `j mod 8`, added in one tree: the order of addition that is promised.
    fn score(&self, output: usize, row: &[(usize, f64)]) -> f64 {
        let mut sums = [0.0; 8];
        for &(feature, value) in row {
            sums[feature % 8] += self.weights[output][feature] * value;
        }
        let [a, b, c, d, e, f, g, h] = sums;
        (((a + e) + (c + g)) + ((b + f) + (d + h))) + self.biases[output]
    }

    fn learn(&mut self, class: usize, row: &[(usize, f64)]) {
        let n_outputs = self.weights.len();
        for output in 0..n_outputs {
            let is_positive = if n_outputs == 1 { class == 1 } else { class == output };
            let side = if is_positive { 1.0 } else { -1.0 };
            if side * self.score(output, row) <= 0.0 {
                for &(feature, value) in row {
                    self.weights[output][feature] += side * value;
                }
                self.biases[output] += side;
            }
        }
    }

    fn class(&self, row: &[(usize, f64)]) -> usize {
        let scores: Vec<f64> = (0..self.weights.len()).map(|output| self.score(output, row)).collect();
        match scores.as_slice() {
            [score] => usize::from(*score > 0.0),
            // The first of equals.
            scores => (0..scores.len()).rev().max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap_or(0),
        }
    }

    fn bits(&self) -> Weights {
        let bits = |(weights, bias): (&Vec<f64>, &f64)| -> Vec<u64> {
            // Zeros of either sign are the same weight.
            weights.iter().chain([bias]).map(|weight| (weight + 0.0).to_bits()).collect()
        };
        self.weights.iter().zip(&self.biases).map(bits).collect()
    }
}

/// The weights of a model, feature by feature; features that no row had are zero. VW's features have names.
fn exported(ours: &Path, model: &Path, workload: &Workload, by_name: bool) -> Result<Weights, String> {
    let printed = output_of(Command::new(ours).arg("inspect").arg(model).args(["--export", "json", "-"]))?;
    let printed: serde_json::Value =
        serde_json::from_str(&printed).map_err(|error| format!("an export that is no JSON: {error}"))?;
    let numbers = |value: &serde_json::Value| -> Vec<f64> {
        value.as_array().into_iter().flatten().filter_map(serde_json::Value::as_f64).collect()
    };
    let names: Vec<usize> = printed["features"]
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
        .map(|(place, name)| match name.as_str().and_then(|name| name.parse::<usize>().ok()) {
            Some(number) if by_name => number - 1,
            _ => place,
        })
        .collect();
    let planes = printed["hyperplanes"].as_array().ok_or("an export without hyperplanes")?;
    let weights = planes.iter().map(|plane| {
        let mut bits = vec![0; workload.width];
        for (&feature, weight) in names.iter().zip(numbers(&plane["weights"])) {
            bits[feature] = (weight + 0.0).to_bits();
        }
        bits.push((plane["bias"].as_f64().unwrap_or(f64::NAN) + 0.0).to_bits());
        bits
    });
    Ok(weights.collect())
}
