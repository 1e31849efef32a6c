//! `rosenblatt compare FILE...`: several algorithms on the same folds, in one table.
//!
//! Every algorithm is trained as `train` would train it, and judged on the folds of `train --folds`: what is promised
//! here is what `train` delivers.

use super::tagger;
use crate::args::{DataArgs, KernelArgs, NetworkArgs, SENTENCES, Spoken};
use crate::choices::{choice, meaning_of};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::report::short_number;
use crate::ui::{self, count, counted, percent};
use rosenblatt::compare::{Candidate, Comparison, Trial, TrialFold, compare};
use rosenblatt::monitor::Stage;
use rosenblatt::options::Classes;
use rosenblatt::recipe::note_on_quantity;
use rosenblatt::{Dataset, Monitor, Options, Recipe, Spec, defaults};
use rosenblatt_data::Source;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  rosenblatt compare mail.csv
  rosenblatt compare mail.csv --algorithms perceptron:last,perceptron:averaged
  rosenblatt compare mail.csv --algorithms 'pa1(C=0.01),pa1(C=0.1),pa1(C=1)'
  rosenblatt compare iris.csv --algorithms perceptron@poly^2,perceptron@rbf:voted
  rosenblatt compare iris.csv --algorithms 'perceptron,mlp(hidden=8)' --activation tanh
  rosenblatt compare a9a --algorithms pa1,arow --folds 10 --epochs 5 --json
  rosenblatt compare news.conllu --history 1,2    taggers of sentences")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) spoken: Spoken,
    /// Files, folders or patterns to read; `-` is stdin
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<OsString>,
    /// Algorithms that compete. Names are those of `rosenblatt algorithms`; a name may have parameters (`pa1(C=0.1)`), a
    /// kernel (`perceptron@rbf`, `perceptron@poly^4`) and a read-out (`perceptron:voted`)
    #[arg(
        long,
        short,
        value_name = "NAME,...",
        default_value = "perceptron:last,perceptron:averaged,perceptron:voted,pa1,arow,logistic-dual,svm-dual"
    )]
    pub(super) algorithms: String,
    /// Estimate the error by cross-validation on N folds
    #[arg(long, alias = "cv", value_name = "N", default_value_t = 5)]
    pub(super) folds: usize,
    #[arg(long, value_name = "COLUMN", help = meaning_of("time"))]
    time: Option<String>,
    #[arg(long, value_name = "COLUMN", help = meaning_of("group"))]
    group: Option<String>,
    /// Maximum number of epochs. Training may stop earlier, as in `train`
    #[arg(long, value_name = "N", default_value_t = defaults::EPOCHS)]
    pub(super) epochs: u64,
    /// Seed of every random choice
    #[arg(long, default_value_t = 0)]
    pub(super) seed: u64,
    #[arg(long, value_name = "NAME", default_value = "one-vs-rest", value_parser = choice::<Classes>(),
        help = meaning_of("multiclass"))]
    multiclass: Classes,
    /// Print the result as JSON
    #[arg(long)]
    pub(super) json: bool,
    /// Attributes of a token, several to compare: ready-made sets (tagging, chunking, ner, letters), auto for the one
    /// that suits, or files with templates of CRF++ [default: auto for files named like sentences]
    #[arg(long, value_name = "SET|FILE,...", help_heading = SENTENCES)]
    pub(super) features: Option<String>,
    /// Number of earlier labels that a label depends on: 1, 2, or both to compare them [default: 1]
    #[arg(long, value_name = "N,...", value_delimiter = ',', help_heading = SENTENCES)]
    pub(super) history: Vec<usize>,
    #[command(flatten)]
    kernel: KernelArgs,
    #[command(flatten)]
    network: NetworkArgs,
    #[command(flatten)]
    pub(super) data: DataArgs,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    if tagger::is_meant(&args.files, args.data.format(), args.features.as_deref()) {
        return tagger::compare(args);
    }
    args.spoken.only_of_tables()?;
    let usage = |error| Failure::Usage(Failure::words(&error));
    let base = Options {
        multiclass: args.multiclass,
        seed: args.seed,
        epochs: args.epochs,
        ..args.kernel.options(&args.network)?
    };
    let candidates = Candidate::list(&args.algorithms).map_err(usage)?;
    Candidate::check_heeded(&candidates, &base).map_err(usage)?;
    let specs = candidates.iter().map(|candidate| candidate.spec(&base));
    let specs = specs.collect::<Result<Vec<Spec>, _>>().map_err(usage)?;
    if args.folds < 2 {
        return Err(Failure::Usage(format!("`--folds` should be at least 2, but is {}", args.folds)));
    }
    let (source, read) = (Source::find_all(&args.files)?, args.data.to_learn()?);
    let progress = Progress::new(true);
    progress.reading(&source, &read.meter, 1);
    let (time, group) = (args.time.clone(), args.group.clone());
    let recipe = Recipe { reading: read, time, group, ..Recipe::default() };
    let (data, schema, ties) = recipe.tied_rows(&source)?;
    if let Some(note) = note_on_quantity(data.labels(), data.len()) {
        ui::warn(&note);
    }
    progress.stage("comparing");
    let mut face = Face::new(progress, specs.iter().map(name).collect());
    let folds = (args.folds, &*ties);
    let compared = compare(&specs, &data, Some(&Arc::new(schema)), folds, args.seed, &mut face)?;
    let report = Report { assumes: recipe.assumes(), source: source.name(), data: &data, compared, face };
    if args.json {
        return ui::print(&format!("{}\n", report.json()));
    }
    ui::print(&report.text())
}

/// The rule and its read-out.
fn name(spec: &Spec) -> String {
    format!("{} {}", spec.rule(), spec.readout())
}

/// Shows how far it is, and takes the times.
pub(super) struct Face {
    progress: Progress,
    names: Vec<String>,
    /// How long each training took, by candidate.
    times: Vec<(usize, Duration)>,
    begun: Option<(usize, Instant)>,
}

impl Face {
    pub(super) fn new(progress: Progress, names: Vec<String>) -> Self {
        Self { progress, names, times: Vec::new(), begun: None }
    }

    /// The mean time of a training of this candidate, in seconds.
    pub(super) fn seconds(&self, candidate: usize, n_folds: usize) -> f64 {
        let times = self.times.iter().filter(|(number, _)| *number == candidate);
        times.map(|(_, time)| time.as_secs_f64()).sum::<f64>() / n_folds as f64
    }
}

impl Monitor for Face {
    fn stage(&mut self, stage: Stage<'_>) {
        if let Some((candidate, begun)) = self.begun.take() {
            self.times.push((candidate, begun.elapsed()));
        }
        if let Stage::Fold { candidate, fold, n_folds } = stage {
            let n_candidates = self.names.len();
            let done = (candidate * n_folds + fold) as f64 / (n_candidates * n_folds) as f64;
            self.progress.show(Some(done), || {
                let name = &self.names[candidate];
                format!(
                    "{name}: algorithm {} of {n_candidates}, fold {} of {n_folds}",
                    candidate + 1,
                    fold + 1
                )
            });
            self.begun = Some((candidate, Instant::now()));
        }
    }
}

/// All there is to say.
struct Report<'a> {
    assumes: &'static str,
    source: String,
    data: &'a Dataset,
    compared: Comparison,
    face: Face,
}

impl Report<'_> {
    /// The mean time of a training, in seconds.
    fn seconds(&self, trial: &Trial) -> f64 {
        self.face.seconds(trial.candidate, trial.folds.len())
    }

    fn text(&self) -> String {
        let rows = self.data.len() as u64;
        let mut text = format!(
            "{}: {}, {}, {}; error on {} folds of rows that were not learned from\n",
            self.source,
            counted(rows, "row", "rows"),
            counted(self.data.width() as u64, "feature", "features"),
            counted(self.data.labels().len() as u64, "class", "classes"),
            self.compared.n_folds
        );
        let (class, error) = &self.compared.majority;
        let _ = writeln!(text, "always predicting `{class}` would be wrong for {}\n", percent(*error));
        let head = ["algorithm", "error", "spread", "beside the best", "mistakes", "margin", "time", "model"];
        let mut table = vec![head.map(str::to_owned).to_vec()];
        for result in &self.compared.trials {
            table.push(vec![
                name(&result.spec),
                percent(result.error()),
                format!("+- {}", percent(result.deviation())),
                self.beside_the_best(result),
                count(result.mean(|fold| fold.mistakes as f64).round() as u64),
                result.margin().map_or_else(|| "-".to_owned(), short_number),
                ui::duration(Duration::from_secs_f64(self.seconds(result))),
                ui::bytes(result.mean(|fold| fold.bytes as f64).round() as u64),
            ]);
        }
        text.push_str(&ui::table(&table));
        let _ = writeln!(text, "\nthis assumes that {}", self.assumes);
        text.push_str(
            "spread: standard deviation from fold to fold; beside the best: percentage points more on the same rows, with the \
             95 % confidence interval\n\
             mistakes while learning, margin, time and model size are means per fold\n\
             margin is the signed distance of the worst row that was learned from: above zero, all are right\n",
        );
        for (spec, error) in &self.compared.failed {
            let _ = writeln!(text, "left out: {}: {error}", name(spec));
        }
        if let Some(line) = self.why_averaging() {
            let _ = writeln!(text, "{line}");
        }
        text
    }

    /// By how many percentage points more a candidate errs than the best one.
    fn beside_the_best(&self, trial: &Trial) -> String {
        let best = &self.compared.trials[0];
        if std::ptr::eq(best, trial) {
            return "-".to_owned();
        }
        let (difference, (low, high)) = trial.beside(best);
        let [difference, low, high] = [difference, low, high].map(|share| format!("{:+.2}", 100.0 * share));
        format!("{difference} ({low} to {high})")
    }

    /// Why averaging matters, if the rows show it.
    fn why_averaging(&self) -> Option<String> {
        let (last, averaged, saved, spoilt) = self.compared.averaging_matters()?;
        Some(format!(
            "averaging matters: {} errs on {} with its last weights and on {} with their average, which sets {} right \
             and {} wrong, because it depends less on the last rows seen",
            last.rule(),
            percent(last.error()),
            percent(averaged.error()),
            counted(saved, "row", "rows"),
            count(spoilt),
        ))
    }

    fn json(&self) -> Value {
        let algorithms: Vec<Value> = self
            .compared
            .trials
            .iter()
            .map(|result| {
                let errors: Vec<f64> = result.folds.iter().map(TrialFold::error).collect();
                let (difference, interval) = result.beside(&self.compared.trials[0]);
                json!({
                    "algorithm": result.rule(),
                    "readout": result.spec.readout().to_string(),
                    "error": result.error(), "spread": result.deviation(), "errors": errors,
                    "difference": difference, "difference-interval": interval,
                    "mistakes": result.mean(|fold| fold.mistakes as f64), "margin": result.margin(),
                    "seconds": self.seconds(result),
                    "model-bytes": result.mean(|fold| fold.bytes as f64),
                })
            })
            .collect();
        let failed: Vec<Value> = self
            .compared
            .failed
            .iter()
            .map(|(spec, error)| json!({ "algorithm": name(spec), "reason": error.to_string() }))
            .collect();
        let (class, error) = &self.compared.majority;
        json!({
            "data": {
                "source": self.source, "rows": self.data.len(), "features": self.data.width(),
                "classes": self.data.labels().names(),
            },
            "folds": self.compared.n_folds,
            "majority": { "class": class, "error": error },
            "algorithms": algorithms,
            "left-out": failed,
        })
    }
}
