//! Several taggers on the same folds of sentences: what each would promise if it were trained.

use super::estimate::{Verdict, train_part};
use super::train::Material;
use crate::error::Error;
use crate::keep::tagger::TaggerOptions;
use crate::monitor::{Monitor, Stage};
use crate::split::{Ties, parts_of_folds};
use crate::statistics::deviation;
use rosenblatt_data::{SentenceFormat, Source};
use rosenblatt_sequence::spans::Agreement;

/// One candidate on all folds.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TaggerTrial {
    /// Its place among the candidates.
    pub candidate: usize,
    /// What was trained, with the set of attributes that was found to suit.
    pub options: TaggerOptions,
    /// Fold by fold, what was found in sentences that were not learned from.
    pub folds: Vec<Agreement>,
    /// Mistakes while learning, fold by fold.
    pub mistakes: Vec<u64>,
    /// Attributes that the templates made.
    pub attributes: usize,
}

impl TaggerTrial {
    /// All folds together.
    pub fn whole(&self) -> Agreement {
        let mut whole = Agreement::default();
        self.folds.iter().for_each(|fold| whole.join(fold));
        whole
    }

    /// What it is ranked by: the F1 of spans if labels tell spans, else the share of right tokens.
    pub fn worth(agreement: &Agreement) -> f64 {
        if agreement.has_spans() { agreement.all_spans().f1() } else { agreement.accuracy() }
    }

    /// The standard deviation of that from fold to fold.
    pub fn deviation(&self) -> f64 {
        deviation(&self.folds.iter().map(Self::worth).collect::<Vec<_>>())
    }
}

/// All candidates on the same folds.
#[derive(Debug)]
#[non_exhaustive]
pub struct TaggerComparison {
    /// Best first; of equals, those named first.
    pub trials: Vec<TaggerTrial>,
    /// Candidates that could not take part, and why.
    pub failed: Vec<(TaggerOptions, Error)>,
    /// Sentences, tokens and labels.
    pub sentences: usize,
    /// All tokens.
    pub tokens: usize,
    /// All labels.
    pub labels: Vec<String>,
    /// How many folds there were.
    pub n_folds: usize,
}

/// Cross-validates every candidate on the same folds of sentences. Fails if none of them can be trained. The source is read
/// once for each way in which candidates make attributes of it.
pub fn compare(
    candidates: &[TaggerOptions],
    source: &Source,
    format: Option<&'static dyn SentenceFormat>,
    n_folds: usize,
    seed: u64,
    monitor: &mut dyn Monitor,
) -> Result<TaggerComparison, Error> {
    let (mut trials, mut failed) = (Vec::new(), Vec::new());
    let mut read: Option<(&TaggerOptions, Material)> = None;
    for (candidate, options) in candidates.iter().enumerate() {
        let is_read_alike = |(other, _): &(&TaggerOptions, Material)| {
            (&options.features, &options.template, options.min_count, options.constraints)
                == (&other.features, &other.template, other.min_count, other.constraints)
        };
        let outcome = (|| {
            let material = match read.take().filter(is_read_alike) {
                Some((_, material)) => material,
                None => Material::read(source, format, options, None)?,
            };
            let mut trial = TaggerTrial {
                candidate,
                options: TaggerOptions { features: material.set.clone(), ..options.clone() },
                folds: Vec::new(),
                mistakes: Vec::new(),
                attributes: material.lexicon.len(),
            };
            let parts = parts_of_folds(&vec![0; material.corpus.len()], &Ties::default(), n_folds, seed)?;
            for (fold, (learned, held)) in parts.iter().enumerate() {
                monitor.stage(Stage::Fold { candidate, fold, n_folds });
                let (tagging, totals) = train_part(&material, options, learned, || monitor.wants_to_stop())?;
                monitor.stage(Stage::Judging);
                trial.folds.push(Verdict::new(&tagging, &material, held, false).agreement);
                trial.mistakes.push(totals.mistakes);
            }
            read = Some((options, material));
            Ok(trial)
        })();
        match outcome {
            Ok(trial) => trials.push(trial),
            Err(Error::Stopped) => return Err(Error::Stopped),
            Err(error) => failed.push((options.clone(), error)),
        }
    }
    let Some((_, material)) = read else {
        // What all of them trip over is the data's fault, so one note reports it.
        return Err(failed.into_iter().next().map_or(Error::NoRows, |(_, error)| error));
    };
    let worth = |trial: &TaggerTrial| TaggerTrial::worth(&trial.whole());
    trials.sort_by(|one, other| worth(other).total_cmp(&worth(one)));
    Ok(TaggerComparison {
        trials,
        failed,
        sentences: material.corpus.len(),
        tokens: material.corpus.n_tokens(),
        labels: material.labels,
        n_folds,
    })
}
