//! `rosenblatt compare FILE...`: several algorithms on the same folds, in one table.
//!
//! Every algorithm sees the same rows the same number of times. Nothing is stopped early, since what
//! stopping adds to one read-out and not to another is not what is to be compared here.

use crate::args::{DataArgs, KernelArgs, by_name, decide_scale};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::report::short_number;
use crate::ui::{self, count, counted, percent};
use rosenblatt::core::{Average, Examples, Readout};
use rosenblatt::data::Schema;
use rosenblatt::{
    Classes, Dataset, Error, KernelOptions, Model, Options, Spec, Training, fingerprint, folds,
    smallest_margin,
};
use rosenblatt_data::{Source, Visitor, load_with_schema};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  rosenblatt compare mail.csv
  rosenblatt compare mail.csv --algorithms perceptron:last,perceptron:averaged,perceptron:pocket
  rosenblatt compare iris.csv --algorithms perceptron,perceptron@poly^2,perceptron@rbf:voted
  rosenblatt compare a9a --algorithms pa1,arow,logistic --folds 10 --epochs 5 --json")]
pub(crate) struct Args {
    /// Files, folders or patterns; `-` is stdin
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// What to compare: names of `rosenblatt algorithms`, each with a kernel behind an `@` (`perceptron@rbf`,
    /// `perceptron@poly^4`) and a read-out behind a colon if you like
    #[arg(
        long,
        short,
        value_name = "NAME[@KERNEL][:READOUT],...",
        value_delimiter = ',',
        default_value = "perceptron:last,perceptron:averaged,perceptron:voted,pa1,arow,logistic,pegasos"
    )]
    algorithms: Vec<String>,
    /// Into how many parts the rows are split; each is predicted by models that never saw it
    #[arg(long, value_name = "N", default_value_t = 5)]
    folds: usize,
    /// Passes over the rows of each training
    #[arg(long, default_value_t = 10)]
    epochs: u64,
    /// Decides every random choice, the folds among them
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// More than two classes: one-vs-rest, one-vs-one, direct-max, direct-uniform, direct-proportional
    #[arg(long, value_name = "NAME", default_value = "one-vs-rest", value_parser = by_name::<Classes>)]
    multiclass: Classes,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Say nothing but the result
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    kernel: KernelArgs,
    #[command(flatten)]
    data: DataArgs,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let specs = args.algorithms.iter().map(|word| spec(args, word)).collect::<Result<Vec<_>, _>>()?;
    if args.folds < 2 {
        return Err(Failure::Usage(format!("`--folds` should be at least 2, but is {}", args.folds)));
    }
    let read = args.data.options()?;
    let (source, read) = decide_scale(&args.data, &Source::find_all(&args.files)?, read)?;
    let progress = Progress::new(args.quiet);
    progress.reading(&source, &read.meter, 1);
    let (data, schema) = load_with_schema(&source, &read)?;
    if args.folds > data.len() {
        let rows = counted(data.len() as u64, "row", "rows");
        return Err(Failure::Work(format!(
            "{} folds need at least as many rows; there are {rows}",
            args.folds
        )));
    }
    let parts = Parts::new(&data, Arc::new(schema), args.folds, args.seed);
    let (mut results, mut failed) = (Vec::new(), Vec::new());
    progress.stage("comparing");
    for (done, spec) in specs.into_iter().enumerate() {
        let name = name(&spec);
        let outcome = parts.judge(&spec, |fold| {
            let n_algorithms = args.algorithms.len();
            let trained = done * args.folds + fold - 1;
            progress.show(Some(trained as f64 / (n_algorithms * args.folds) as f64), || {
                format!("{name}: algorithm {} of {n_algorithms}, fold {fold} of {}", done + 1, args.folds)
            });
        });
        match outcome {
            Ok(result) => results.push(result),
            Err(error) => failed.push((name, error)),
        }
    }
    drop(progress);
    if results.is_empty() {
        // What all of them trip over is the data's fault, and said once.
        return Err(failed.into_iter().next().map_or(Failure::Usage(nothing()), |(_, error)| error.into()));
    }
    // Of equals, those named first stay first.
    results.sort_by(|a, b| a.error().total_cmp(&b.error()));
    let comparison = Comparison {
        source: source.name(),
        folds: args.folds,
        data: &data,
        results,
        failed,
        majority: majority(&data),
    };
    if args.json {
        return ui::print(&format!("{}\n", comparison.json()));
    }
    ui::print(&comparison.text())
}

fn nothing() -> String {
    "`--algorithms` should name at least one algorithm".to_owned()
}

/// The checked wish behind `name`, `name:readout`, `name@kernel` or `name@kernel^degree:readout`.
fn spec(args: &Args, word: &str) -> Result<Spec, Failure> {
    let usage = |message: String| Failure::Usage(message);
    let (name, readout) = match word.trim().split_once(':') {
        Some((name, readout)) => {
            (name, Some(readout.parse::<Readout>().map_err(|error| usage(error.to_string()))?))
        }
        None => (word.trim(), None),
    };
    let (name, kernel) = match name.split_once('@') {
        Some((name, kernel)) => (name, Some(kernel_options(kernel)?)),
        None => (name, None),
    };
    if name.is_empty() {
        return Err(usage(nothing()));
    }
    let options = Options {
        algorithm: name.to_owned(),
        readout,
        multiclass: args.multiclass,
        seed: args.seed,
        epochs: args.epochs,
        map: args.kernel.mapping(),
        kernel: kernel.or(args.kernel.options()?),
        ..Options::default()
    };
    Spec::new(options).map_err(|error| usage(error.to_string()))
}

/// `poly` or `poly^4` as a kernel.
fn kernel_options(word: &str) -> Result<KernelOptions, Failure> {
    let (name, degree) = match word.split_once('^') {
        Some((name, degree)) => {
            let degree = degree.parse().map_err(|_| {
                Failure::Usage(format!("the degree of a kernel should be a number, but is `{degree}`"))
            })?;
            (name, Some(degree))
        }
        None => (word, None),
    };
    Ok(KernelOptions { name: name.to_owned(), degree, ..KernelOptions::default() })
}

fn name(spec: &Spec) -> String {
    format!("{} {}", rule(spec), spec.readout())
}

/// The rule, with its kernel if it has one.
fn rule(spec: &Spec) -> String {
    let name = spec.entry().info.name;
    spec.kernel().map_or_else(
        || name.to_owned(),
        |kernel| {
            let degree = kernel.degree.map_or_else(String::new, |degree| format!("^{degree}"));
            format!("{name}@{}{degree}", kernel.name)
        },
    )
}

/// The most common class, and the error of a model that always names it.
fn majority(data: &Dataset) -> (String, f64) {
    let mut counts = vec![0_usize; data.labels().len()];
    for &class in data.classes() {
        counts[class as usize] += 1;
    }
    let most = (0..counts.len()).rev().max_by_key(|&class| counts[class]).unwrap_or(0);
    (data.labels().name(most as u32).to_owned(), 1.0 - counts[most] as f64 / data.len() as f64)
}

/// The data, parted once for all algorithms.
struct Parts<'a> {
    data: &'a Dataset,
    schema: Arc<Schema>,
    /// Rows to learn from and rows to be judged on.
    folds: Vec<(Vec<u32>, Vec<u32>)>,
    fingerprint: String,
}

impl<'a> Parts<'a> {
    fn new(data: &'a Dataset, schema: Arc<Schema>, n_folds: usize, seed: u64) -> Self {
        let held = folds(data, n_folds, seed);
        let mut part = vec![0; data.len()];
        for (number, rows) in held.iter().enumerate() {
            for &row in rows {
                part[row as usize] = number;
            }
        }
        let others =
            |number: usize| (0..data.len() as u32).filter(|&row| part[row as usize] != number).collect();
        let folds = held.iter().enumerate().map(|(number, rows)| (others(number), rows.clone())).collect();
        Self { data, schema, folds, fingerprint: fingerprint(data) }
    }

    /// Trains on all folds but one and judges on that one, for each; `tell` hears which is at hand.
    fn judge(&self, spec: &Spec, mut tell: impl FnMut(usize)) -> Result<Judged, Error> {
        let mut judged = Judged { spec: spec.clone(), folds: Vec::new() };
        for (number, (learned, held)) in self.folds.iter().enumerate() {
            tell(number + 1);
            let start = Instant::now();
            let training = Training::new(spec, self.data).rows(learned).fingerprint(&self.fingerprint);
            let model = training.run(&mut ())?;
            let time = start.elapsed();
            let wrong = self.data.visit(Wrong { model: &model, rows: held });
            let mistakes = model.story().totals.mistakes;
            let margin = smallest_margin(&model, self.data, learned);
            // As it would be stored: what it must know to read new data is a part of a model.
            let bytes = model.with_schema(Arc::clone(&self.schema)).to_bytes().len() as u64;
            judged.folds.push(Fold { wrong, mistakes, margin, time, bytes });
        }
        Ok(judged)
    }
}

/// One training, judged on the fold it never saw.
struct Fold {
    /// Of each row of the fold, whether it was given the wrong class.
    wrong: Vec<bool>,
    mistakes: u64,
    /// The smallest signed distance of a row that was learned from.
    margin: Option<f64>,
    time: Duration,
    bytes: u64,
}

impl Fold {
    fn error(&self) -> f64 {
        self.wrong.iter().filter(|wrong| **wrong).count() as f64 / self.wrong.len() as f64
    }
}

/// Finds the rows that a model gives the wrong class. It must have learned from the same data.
struct Wrong<'a> {
    model: &'a Model,
    rows: &'a [u32],
}

impl Visitor for Wrong<'_> {
    type Output = Vec<bool>;

    fn visit<E: Examples>(self, examples: E) -> Vec<bool> {
        let mut predictor = self.model.predictor(examples.width());
        let mut wrong = Vec::with_capacity(self.rows.len());
        predictor
            .each(examples, self.rows, |row, class, _| wrong.push(class != examples.class(row as usize)));
        wrong
    }
}

/// One algorithm on all folds.
struct Judged {
    spec: Spec,
    folds: Vec<Fold>,
}

impl Judged {
    fn mean(&self, of: impl Fn(&Fold) -> f64) -> f64 {
        self.folds.iter().map(of).sum::<f64>() / self.folds.len() as f64
    }

    fn error(&self) -> f64 {
        self.mean(Fold::error)
    }

    /// The standard deviation of the error from fold to fold.
    fn spread(&self) -> f64 {
        let mean = self.error();
        let squares: f64 = self.folds.iter().map(|fold| (fold.error() - mean).powi(2)).sum();
        (squares / (self.folds.len() - 1) as f64).sqrt()
    }

    /// How many rows `other` gets right that this one gets wrong, and the reverse.
    fn saved_and_spoilt_by(&self, other: &Self) -> (u64, u64) {
        let ours = self.folds.iter().flat_map(|fold| &fold.wrong);
        let theirs = other.folds.iter().flat_map(|fold| &fold.wrong);
        ours.zip(theirs).fold((0, 0), |(saved, spoilt), (&ours, &theirs)| {
            (saved + u64::from(ours && !theirs), spoilt + u64::from(theirs && !ours))
        })
    }

    /// The mean of the margins; `None` if they are votes, which have none.
    fn margin(&self) -> Option<f64> {
        let margins: Option<Vec<f64>> = self.folds.iter().map(|fold| fold.margin).collect();
        margins.map(|margins| margins.iter().sum::<f64>() / margins.len() as f64)
    }

    fn seconds(&self) -> f64 {
        self.mean(|fold| fold.time.as_secs_f64())
    }
}

/// All there is to say.
struct Comparison<'a> {
    source: String,
    folds: usize,
    data: &'a Dataset,
    /// Best first.
    results: Vec<Judged>,
    failed: Vec<(String, Error)>,
    majority: (String, f64),
}

impl Comparison<'_> {
    fn text(&self) -> String {
        let rows = self.data.len() as u64;
        let mut text = format!(
            "{}: {}, {}, {}; error on {} folds of rows that were not learned from\n",
            self.source,
            counted(rows, "row", "rows"),
            counted(self.data.width() as u64, "feature", "features"),
            counted(self.data.labels().len() as u64, "class", "classes"),
            self.folds
        );
        let (class, error) = &self.majority;
        let _ = writeln!(text, "always saying `{class}` would be wrong for {}\n", percent(*error));
        let head = ["algorithm", "error", "spread", "mistakes", "margin", "time", "model"];
        let mut table = vec![head.map(str::to_owned).to_vec()];
        for result in &self.results {
            table.push(vec![
                name(&result.spec),
                percent(result.error()),
                format!("+- {}", percent(result.spread())),
                count(result.mean(|fold| fold.mistakes as f64).round() as u64),
                result.margin().map_or_else(|| "-".to_owned(), short_number),
                ui::duration(Duration::from_secs_f64(result.seconds())),
                ui::bytes(result.mean(|fold| fold.bytes as f64).round() as u64),
            ]);
        }
        text.push_str(&ui::table(&table));
        text.push_str(
            "\nspread is from fold to fold; mistakes while learning, margin, time and model size are means per fold\n\
             margin is the signed distance of the worst row that was learned from: above zero, all are right\n",
        );
        for (name, error) in &self.failed {
            let _ = writeln!(text, "left out: {name}: {error}");
        }
        if let Some(line) = self.why_averaging() {
            let _ = writeln!(text, "{line}");
        }
        text
    }

    /// Why averaging matters, if the rows show it: the same rule, read out in both ways, is right more
    /// often averaged, by more than chance explains (a sign test on the rows where they differ, 95 %).
    fn why_averaging(&self) -> Option<String> {
        let is_last = |result: &&Judged| result.spec.readout() == Readout::Last;
        self.results.iter().filter(is_last).find_map(|last| {
            let rule = rule(&last.spec);
            let averaged = self.results.iter().find(|result| {
                self::rule(&result.spec) == rule
                    && matches!(result.spec.readout(), Readout::Averaged(Average::Post))
            })?;
            let (saved, spoilt) = last.saved_and_spoilt_by(averaged);
            // Only rows on which they differ tell anything; by chance, half of them go either way.
            let (saved_f, spoilt_f) = (saved as f64, spoilt as f64);
            (saved_f - spoilt_f - 1.0 > 1.96 * (saved_f + spoilt_f).sqrt()).then(|| {
                format!(
                    "averaging matters: {rule} errs on {} with its last weights and on {} with their average, \
                     which sets {} right and {} wrong, as it does not hang on the rows that came last",
                    percent(last.error()),
                    percent(averaged.error()),
                    counted(saved, "row", "rows"),
                    count(spoilt),
                )
            })
        })
    }

    fn json(&self) -> Value {
        let algorithms: Vec<Value> = self
            .results
            .iter()
            .map(|result| {
                let errors: Vec<f64> = result.folds.iter().map(Fold::error).collect();
                json!({
                    "algorithm": rule(&result.spec),
                    "readout": result.spec.readout().to_string(),
                    "error": result.error(), "spread": result.spread(), "errors": errors,
                    "mistakes": result.mean(|fold| fold.mistakes as f64), "margin": result.margin(),
                    "seconds": result.seconds(),
                    "model-bytes": result.mean(|fold| fold.bytes as f64),
                })
            })
            .collect();
        let failed: Vec<Value> = self
            .failed
            .iter()
            .map(|(name, error)| json!({ "algorithm": name, "reason": error.to_string() }))
            .collect();
        let (class, error) = &self.majority;
        json!({
            "data": {
                "source": self.source, "rows": self.data.len(), "features": self.data.width(),
                "classes": self.data.labels().names(),
            },
            "folds": self.folds,
            "majority": { "class": class, "error": error },
            "algorithms": algorithms,
            "left-out": failed,
        })
    }
}
