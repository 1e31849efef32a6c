//! How good a tagger will be: sentences that were not learned from say so, and how far a label must lead to be believed.

use super::train::{Material, TaggerRun, Trained};
use crate::calibration::{Calibration, Method};
use crate::error::{Error, refuse};
use crate::estimate::{Calibrate, Plan};
use crate::keep::tagger::{TaggerEstimate, TaggerOptions};
use crate::monitor::Unless;
use crate::split::{Part, Ties, parts_of_folds, split_rows};
use rosenblatt_core::{Stopped, Totals, threads};
use rosenblatt_sequence::spans::Agreement;
use rosenblatt_sequence::{Lattice, Tagging};
use std::sync::atomic::{AtomicBool, Ordering};

/// How a tagger is judged beside its training.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judging {
    /// Which sentences are held out.
    pub plan: Plan,
    /// How leads become probabilities.
    pub calibrate: Calibrate,
}

impl Default for Judging {
    /// No sentence is held out.
    fn default() -> Self {
        Self { plan: Plan::HoldOut(0.0), calibrate: Calibrate::Auto }
    }
}

impl Judging {
    pub(crate) fn check(self, options: &TaggerOptions, starts: bool) -> Result<(), Error> {
        if options.voted && matches!(self.calibrate, Calibrate::Platt | Calibrate::Isotonic) {
            let expected =
                "auto or off where hypotheses vote, as a vote has no lead to make a probability of";
            return refuse("calibrate", expected, self.calibrate);
        }
        match self.plan {
            Plan::HoldOut(share) if !(0.0..1.0).contains(&share) => {
                refuse("holdout", "a share from 0 to less than 1", share)
            }
            Plan::Folds(n_folds) if n_folds < 2 => refuse("folds", "at least 2", n_folds),
            Plan::Auto | Plan::HoldOut(0.0) => Ok(()),
            _ if starts => Err(Error::BadStart {
                what: "it may have learned from the sentences that would be held out".to_owned(),
            }),
            _ => Ok(()),
        }
    }

    /// Which sentences are learned from and which are judged on, for each of the trainings.
    pub(super) fn parts(self, n_sentences: usize, seed: u64) -> Result<Vec<Part>, Error> {
        let all: Vec<u32> = (0..n_sentences as u32).collect();
        let alike = vec![0; n_sentences];
        match self.plan {
            Plan::Auto | Plan::HoldOut(0.0) => Ok(Vec::new()),
            Plan::HoldOut(share) => Ok(vec![split_rows(&alike, &all, share, seed)]),
            Plan::Folds(n_folds) => parts_of_folds(&alike, &Ties::default(), n_folds, seed),
        }
    }
}

/// What was found in sentences that were not learned from.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    pub(super) agreement: Agreement,
    /// How far each label led, and whether it was the right one.
    leads: Vec<(f64, bool)>,
}

impl Verdict {
    pub(super) fn new(tagging: &Tagging, material: &Material, held: &[u32], with_leads: bool) -> Self {
        let mut verdict = Self::default();
        let mut lattice = Lattice::default();
        let named = |labels: &[u32]| -> Vec<&str> {
            labels.iter().map(|label| material.labels[*label as usize].as_str()).collect()
        };
        for &number in held {
            let sentence = material.corpus.sentence(number as usize);
            let found = tagging.tag(sentence, &mut lattice);
            verdict.agreement.add(&named(sentence.labels), &named(found), |_| false);
            verdict.agreement.invalid += u64::from(!tagging.constraints().allow(found));
            if with_leads {
                let leads = tagging.leads(sentence, found).into_iter();
                let right = found.iter().zip(sentence.labels).map(|(found, gold)| found == gold);
                verdict.leads.extend(leads.zip(right));
            }
        }
        verdict
    }
}

/// A training on some of the sentences, given up as soon as it is to `stop`.
pub(super) fn train_part(
    material: &Material,
    options: &TaggerOptions,
    learned: &[u32],
    stop: impl FnMut() -> bool,
) -> Result<(Tagging, Totals), Error> {
    let mut run: TaggerRun = material.begin(options, None)?;
    let stopped = material.fit(&mut run, options, Some(learned), &mut Unless(stop));
    if stopped == Stopped::Observer {
        return Err(Error::Stopped);
    }
    let totals = run.totals();
    let Trained { weights, votes, .. } = material.read_out(run, stopped, learned.len())?;
    let tagging = Tagging::new(weights, material.constraints(), options.meaning()?.search);
    Ok((tagging.voted(votes), totals))
}

/// Trains on every part and judges on the rest of it.
pub(super) fn judge(
    material: &Material,
    options: &TaggerOptions,
    parts: &[Part],
    calibrate: Option<Method>,
    is_over: &AtomicBool,
) -> Result<(Option<TaggerEstimate>, Option<Calibration>), Error> {
    // A vote has no lead to calibrate, and you did not ask for it.
    let calibrate = calibrate.filter(|_| !options.voted);
    let judge_one = |(learned, held): &Part| {
        let (tagging, _) = train_part(material, options, learned, || is_over.load(Ordering::Relaxed))?;
        Ok::<_, Error>(Verdict::new(&tagging, material, held, calibrate.is_some()))
    };
    let verdicts = threads::each(threads::available(), parts, judge_one)?;
    let mut agreement = Agreement::default();
    let mut leads = Vec::new();
    for verdict in verdicts {
        agreement.join(&verdict.agreement);
        leads.extend(verdict.leads);
    }
    // Where there is no other label, nothing is to be found out.
    leads.retain(|(lead, _)| lead.is_finite());
    let right = leads.iter().filter(|(_, right)| *right).count();
    let calibration = match calibrate {
        // A curve has two ends.
        Some(method) if 0 < right && right < leads.len() => {
            let (scores, classes): (Vec<f64>, Vec<u32>) =
                leads.iter().map(|(lead, right)| (*lead, u32::from(*right))).unzip();
            Some(Calibration::fit(method, 2, &scores, &classes)?)
        }
        _ => None,
    };
    let estimate = (agreement.tokens > 0).then(|| TaggerEstimate::of(&agreement, parts.len()));
    Ok((estimate, calibration))
}
