//! Several algorithms on the same folds: what each would promise if it were trained.
//!
//! Every candidate is trained as [`Recipe`](crate::Recipe) trains: the same defaults, the same early stopping, the
//! same folds and probabilities as its cross-validation. Nothing is chosen here.

use crate::algorithms;
use crate::error::Error;
use crate::estimate::Calibrate;
use crate::evaluate::Folds;
use crate::insight::smallest_margin;
use crate::monitor::Monitor;
use crate::recipe::CrossValidated;
use crate::spec::{KernelOptions, Options, Spec};
use crate::split::Ties;
use crate::statistics::{Z, deviation, rows_of_folds};
use rosenblatt_core::{Average, Readout};
use rosenblatt_data::{Dataset, Schema};
use rosenblatt_kernel::Setting;
use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;

/// A rule with its settings in one word: `pa1(C=0.1)`, `perceptron:voted`, `perceptron@poly^4`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Candidate {
    /// The rule, by name or alias.
    pub algorithm: String,
    /// Its parameters, by name.
    pub params: BTreeMap<String, f64>,
    /// A kernel, and its degree.
    pub kernel: Option<(String, Option<f64>)>,
    /// What the model is made of.
    pub readout: Option<Readout>,
}

impl Candidate {
    /// Candidates with commas between them.
    ///
    /// ```
    /// use rosenblatt::compare::Candidate;
    ///
    /// let several = Candidate::list("pa1(C=0.1), alma(p=2,alpha=0.9):last, perceptron@poly^4")?;
    /// assert_eq!((several.len(), several[0].params["C"], several[1].params.len()), (3, 0.1, 2));
    /// assert!(Candidate::list("pa1(C)").unwrap_err().to_string().contains("pa1(C=0.1)"));
    /// # Ok::<(), rosenblatt::Error>(())
    /// ```
    pub fn list(words: &str) -> Result<Vec<Self>, Error> {
        let mut depth = 0_i32;
        let parts = words.split(|letter: char| {
            depth += i32::from(letter == '(') - i32::from(letter == ')');
            letter == ',' && depth == 0
        });
        parts.map(str::parse).collect()
    }

    /// Whether each setting in `base` has an effect on one of the candidates at least: those of networks need a network.
    pub fn check_heeded(candidates: &[Self], base: &Options) -> Result<(), Error> {
        let Some(first) = candidates.first().filter(|_| base.network.is_some()) else { return Ok(()) };
        for candidate in candidates {
            if algorithms::find(&candidate.algorithm)?.network {
                return Ok(());
            }
        }
        Spec::new(Options {
            algorithm: first.algorithm.clone(),
            network: base.network.clone(),
            ..Options::default()
        })
        .map(drop)
    }

    /// The description of its run, if all that it does not say is as in `base`.
    pub fn spec(&self, base: &Options) -> Result<Spec, Error> {
        let kernel = self.kernel.as_ref().map(|(name, degree)| KernelOptions {
            name: name.clone(),
            params: degree.iter().map(|degree| ("degree".to_owned(), Setting::Number(*degree))).collect(),
            ..base.kernel.clone().unwrap_or_default()
        });
        // Settings of networks do not apply to the others.
        let is_network = algorithms::find(&self.algorithm)?.network;
        Spec::new(Options {
            algorithm: self.algorithm.clone(),
            network: base.network.clone().filter(|_| is_network),
            params: self.params.clone(),
            readout: self.readout.or(base.readout),
            kernel: kernel.or_else(|| base.kernel.clone()),
            ..base.clone()
        })
    }
}

impl FromStr for Candidate {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self, Error> {
        let word = word.trim();
        let wrong = || {
            Error::range(
                "algorithms",
                "names of algorithms with commas between them, for instance pa1(C=0.1), perceptron:voted or \
                       perceptron@poly^4",
                format!("`{word}`"),
            )
        };
        let (rest, readout) = match word.rsplit_once(':') {
            Some((rest, readout)) => (rest, Some(readout.parse::<Readout>()?)),
            None => (word, None),
        };
        let (rest, kernel) = match rest.split_once('@') {
            Some((rest, kernel)) => {
                let (name, degree) =
                    kernel.split_once('^').map_or((kernel, None), |(name, degree)| (name, Some(degree)));
                let degree = degree.map(str::parse).transpose().map_err(|_| wrong())?;
                (rest, Some((name.to_owned(), degree)))
            }
            None => (rest, None),
        };
        let (algorithm, params) = match rest.split_once('(') {
            Some((algorithm, params)) => (algorithm, params.strip_suffix(')').ok_or_else(wrong)?),
            None => (rest, ""),
        };
        let param = |word: &str| {
            let (name, value) = word.split_once('=')?;
            Some((name.trim().to_owned(), value.trim().parse().ok()?))
        };
        let words = params.split(',').filter(|word| !word.trim().is_empty());
        let params = words.map(|word| param(word).ok_or_else(wrong)).collect::<Result<_, _>>()?;
        if algorithm.is_empty() {
            return Err(wrong());
        }
        Ok(Self { algorithm: algorithm.to_owned(), params, kernel, readout })
    }
}

impl Spec {
    /// The rule with its parameters and its kernel, as a [`Candidate`] says it.
    pub fn rule(&self) -> String {
        let params = self.options().params.iter().map(|(name, value)| format!("{name}={value}"));
        let params = params.collect::<Vec<_>>().join(",");
        let params = if params.is_empty() { params } else { format!("({params})") };
        let kernel = self.kernel().map_or_else(String::new, |kernel| {
            let degree = kernel.params.get("degree");
            let degree = degree.map_or_else(String::new, |degree| format!("^{degree}"));
            format!("@{}{degree}", kernel.name)
        });
        format!("{}{params}{kernel}", self.entry().info.name)
    }
}

/// One candidate on all folds.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Trial {
    /// Its place among the candidates.
    pub candidate: usize,
    /// What was trained.
    pub spec: Spec,
    /// Fold by fold.
    pub folds: Vec<TrialFold>,
}

/// One training, judged on the fold it never saw.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TrialFold {
    /// Of each row of the fold, whether it was given the wrong class.
    pub wrong: Vec<bool>,
    /// Mistakes while learning.
    pub mistakes: u64,
    /// The smallest signed distance of a row that was learned from; a vote has none.
    pub margin: Option<f64>,
    /// The size of the model file.
    pub bytes: u64,
}

impl TrialFold {
    /// The share of the fold's rows that were given the wrong class.
    pub fn error(&self) -> f64 {
        self.wrong.iter().filter(|wrong| **wrong).count() as f64 / self.wrong.len() as f64
    }
}

impl Trial {
    /// The rule with its parameters and kernel, as a [`Candidate`] spells it.
    pub fn rule(&self) -> String {
        self.spec.rule()
    }

    /// The mean of something over the folds.
    pub fn mean(&self, of: impl Fn(&TrialFold) -> f64) -> f64 {
        self.folds.iter().map(of).sum::<f64>() / self.folds.len() as f64
    }

    /// The mean error of the folds.
    pub fn error(&self) -> f64 {
        self.mean(TrialFold::error)
    }

    /// The standard deviation of the error from fold to fold.
    pub fn deviation(&self) -> f64 {
        deviation(&self.folds.iter().map(TrialFold::error).collect::<Vec<_>>())
    }

    /// The mean of the margins; `None` if they are votes, which have none.
    pub fn margin(&self) -> Option<f64> {
        let margins: Option<Vec<f64>> = self.folds.iter().map(|fold| fold.margin).collect();
        margins.map(|margins| margins.iter().sum::<f64>() / margins.len() as f64)
    }

    /// By how much its error is larger than `best`'s on the same rows, and between which differences the true one lies, with
    /// 95 % confidence. Rows are paired, and folds widen the interval as they do that of an error.
    pub fn beside(&self, best: &Self) -> (f64, (f64, f64)) {
        let n_rows = self.folds.iter().map(|fold| fold.wrong.len()).sum::<usize>();
        let (ours, theirs) = self.saved_and_spoilt_by(best);
        let n = n_rows as f64;
        let difference = (ours as f64 - theirs as f64) / n;
        let variance = ((ours + theirs) as f64 / n - difference * difference).max(0.0);
        let reach = Z * (variance / rows_of_folds(n_rows as u64, self.folds.len())).sqrt();
        (difference, (difference - reach, difference + reach))
    }

    /// How many rows `other` gets right that this one gets wrong, and the reverse.
    pub fn saved_and_spoilt_by(&self, other: &Self) -> (u64, u64) {
        let ours = self.folds.iter().flat_map(|fold| &fold.wrong);
        let theirs = other.folds.iter().flat_map(|fold| &fold.wrong);
        ours.zip(theirs).fold((0, 0), |(saved, spoilt), (&ours, &theirs)| {
            (saved + u64::from(ours && !theirs), spoilt + u64::from(theirs && !ours))
        })
    }
}

/// All candidates on the same folds.
#[derive(Debug)]
#[non_exhaustive]
pub struct Comparison {
    /// Best first; of equals, those named first.
    pub trials: Vec<Trial>,
    /// Candidates that could not take part, and why.
    pub failed: Vec<(Spec, Error)>,
    /// The most common class, and the error of always naming it.
    pub majority: (String, f64),
    /// How many folds there were.
    pub n_folds: usize,
}

impl Comparison {
    /// A rule whose last hypothesis does worse than the average of all, by more than chance explains (a sign test on
    /// the rows where they differ, 95 %): the trial of each, and how many rows averaging sets right and wrong.
    pub fn averaging_matters(&self) -> Option<(&Trial, &Trial, u64, u64)> {
        let is_last = |trial: &&Trial| trial.spec.readout() == Readout::Last;
        self.trials.iter().filter(is_last).find_map(|last| {
            let averaged = self.trials.iter().find(|trial| {
                matches!(trial.spec.readout(), Readout::Averaged(Average::Post))
                    && trial.rule() == last.rule()
            })?;
            let (saved, spoilt) = last.saved_and_spoilt_by(averaged);
            // Only rows on which they differ tell anything; by chance, half of them go either way.
            let (saved_f, spoilt_f) = (saved as f64, spoilt as f64);
            (saved_f - spoilt_f - 1.0 > 1.96 * (saved_f + spoilt_f).sqrt())
                .then_some((last, averaged, saved, spoilt))
        })
    }
}

/// Cross-validates every candidate on the same folds, which keep together what `ties` do. Fails if none of them can be
/// trained.
pub fn compare(
    candidates: &[Spec],
    data: &Dataset,
    schema: Option<&Arc<Schema>>,
    (n_folds, ties): (usize, &Ties),
    seed: u64,
    monitor: &mut dyn Monitor,
) -> Result<Comparison, Error> {
    let folds = Folds::new(data, ties, n_folds, seed)?;
    let (mut trials, mut failed) = (Vec::new(), Vec::new());
    for (candidate, spec) in candidates.iter().enumerate() {
        let mut trial = Trial { candidate, spec: spec.clone(), folds: Vec::new() };
        let mut judged_folds = Vec::new();
        let outcome = folds.judge(spec, data, candidate, monitor, |model, learned, judged| {
            let mistakes = model.training_summary().totals.mistakes;
            let margin = smallest_margin(&model, data, learned);
            // As it would be stored: what it must know to read new data is a part of a model.
            let model = if let Some(schema) = schema { model.with_schema(Arc::clone(schema)) } else { model };
            let bytes = model.to_bytes().len() as u64;
            trial.folds.push(TrialFold { wrong: Vec::new(), mistakes, margin, bytes });
            judged_folds.push(judged);
            Ok(())
        });
        match outcome {
            Ok(()) => {
                // The class that is named is the most probable one, as it is of a model that is trained.
                let whole = CrossValidated::new(
                    spec,
                    spec.calibration(Calibrate::Auto, data.labels().len()),
                    &judged_folds,
                    None,
                    monitor,
                )?;
                for (fold, wrong) in trial.folds.iter_mut().zip(whole.wrong) {
                    fold.wrong = wrong;
                }
                trials.push(trial);
            }
            Err(Error::Stopped) => return Err(Error::Stopped),
            Err(error) => failed.push((spec.clone(), error)),
        }
    }
    if trials.is_empty() {
        // What all of them trip over is the data's fault, and reported once.
        return Err(failed.into_iter().next().map_or(Error::NoRows, |(_, error)| error));
    }
    trials.sort_by(|a, b| a.error().total_cmp(&b.error()));
    let mut counts = vec![0_usize; data.labels().len()];
    data.classes().iter().for_each(|&class| counts[class as usize] += 1);
    let most = (0..counts.len()).rev().max_by_key(|&class| counts[class]).unwrap_or(0);
    let majority =
        (data.labels().name(most as u32).to_owned(), 1.0 - counts[most] as f64 / data.len() as f64);
    Ok(Comparison { trials, failed, majority, n_folds })
}
