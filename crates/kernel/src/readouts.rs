//! The seven read-outs of Freund and Schapire's experiments, at several moments of one run, from its log alone.
//!
//! Every past hypothesis is a prefix of the log, so one walk along it per row gives the last hypothesis, the vote, the
//! averages and the random draw at any number of moments: one kernel value per support row, one addition per mistake.

use crate::device::{Log, Trouble, Worker};
use crate::learned::{Entry, Learned};
use crate::processor::Processor;
use crate::products::Gathered;
use crate::simd::PANEL;
use rosenblatt_core::threads::{self, on_threads};
use rosenblatt_core::{Examples, Visits};
use std::sync::Mutex;

/// The read-outs, in the order of [`errors_at`].
pub const READOUTS: [&str; 7] =
    ["last", "last, normalised", "vote", "average", "average, normalised", "random", "random, normalised"];

/// How many of the examples each read-out gives the wrong class, at each of these moments (rounds, ascending). There is
/// one output per class, and the highest score wins, the first of several. Of a random draw of the moment, the same in
/// every class, it is the expected number. A hypothesis that scores zero has no vote.
pub fn errors_at<E: Examples>(learned: &Learned, examples: E, moments: &[u64]) -> Vec<[f64; 7]> {
    let mut errors = vec![[0.0; 7]; moments.len()];
    let Some(supports) = learned.supports() else { return errors };
    let rows: Vec<u32> = (0..examples.len() as u32).collect();
    let threads = threads::available();
    let (mut values, mut gathered) = (Vec::new(), Gathered::default());
    let found = learned.device.worker(supports.kernel, supports.constant);
    let mut worker = found.ok().flatten().unwrap_or_else(|| Processor::default().hired());
    for rows in rows.chunks(learned.device.at_once().max(threads * PANEL)) {
        let rows_here = gathered.of(examples, Visits::Listed(rows), supports.rows.width());
        let here: Vec<u32> = rows.iter().map(|row| examples.class(*row as usize)).collect();
        let log = Log { entries: &learned.log, last_use: &[], n_outputs: learned.n_outputs };
        let mut compute = |worker: &mut Box<dyn Worker>| {
            worker.pack(&supports, rows_here, rows)?;
            let counted = worker.errors_at(&supports, &log, &here, moments)?;
            if counted.is_none() {
                worker.values(&supports, &mut values)?;
            }
            Ok::<_, Trouble>(counted)
        };
        let counted = compute(&mut worker).unwrap_or_else(|_| {
            // The same values, from one who is never in trouble.
            worker = Processor::default().hired();
            compute(&mut worker).ok().flatten()
        });
        if let Some(counted) = counted {
            add_to(&mut errors, &counted);
            continue;
        }
        let n_panels = rows.len().div_ceil(PANEL);
        let tasks = Mutex::new(here.chunks(PANEL).zip(values.chunks(supports.rows.len().max(1) * PANEL)));
        let found = Mutex::new(&mut errors);
        on_threads(threads.min(n_panels), || {
            loop {
                let task = tasks.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
                let Some((classes, values)) = task else { break };
                let here = Walk::new(learned.n_outputs, classes).along(&learned.log, values, moments);
                // Whole numbers, and shares of one divisor each: sums that do not depend on their order.
                let mut found = found.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                add_to(&mut found, &here);
            }
        });
    }
    for (errors, moment) in errors.iter_mut().zip(moments) {
        for drawn in &mut errors[5..] {
            *drawn /= (moment + 1) as f64;
        }
    }
    errors
}

fn add_to(sums: &mut [[f64; 7]], errors: &[[f64; 7]]) {
    for (sum, errors) in sums.iter_mut().zip(errors) {
        sum.iter_mut().zip(errors).for_each(|(sum, errors)| *sum += errors);
    }
}

/// One walk along the log with the rows of a panel.
struct Walk<'a> {
    classes: &'a [u32],
    n_outputs: usize,
    /// What the hypotheses say now: output by output, row by row. So the three below.
    sums: Vec<f64>,
    votes: Vec<f64>,
    averages: Vec<f64>,
    normalised: Vec<f64>,
    /// By output: since when it has not moved, and 1 by its length.
    since: Vec<u64>,
    shrink: Vec<f64>,
    /// Since when no output has moved, from 0; and by row, how many moments were wrong until then.
    still_since: u64,
    wrong: [Vec<f64>; 2],
}

impl<'a> Walk<'a> {
    fn new(n_outputs: usize, classes: &'a [u32]) -> Self {
        let zeros = || vec![0.0; n_outputs * PANEL];
        Self {
            classes,
            n_outputs,
            sums: zeros(),
            votes: zeros(),
            averages: zeros(),
            normalised: zeros(),
            since: vec![1; n_outputs],
            shrink: vec![0.0; n_outputs],
            still_since: 0,
            wrong: [vec![0.0; PANEL], vec![0.0; PANEL]],
        }
    }

    fn along(mut self, log: &[Entry], values: &[f64], moments: &[u64]) -> Vec<[f64; 7]> {
        let mut errors = Vec::with_capacity(moments.len());
        let mut moments = moments.iter().copied().peekable();
        for entry in log {
            while let Some(moment) = moments.next_if(|moment| *moment < entry.round) {
                errors.push(self.look(moment));
            }
            self.stand_until(entry.round);
            self.count_until(entry.output as usize, entry.round);
            let output = entry.output as usize;
            let from =
                (entry.row as usize).checked_mul(PANEL).filter(|from| *from < values.len()).unwrap_or(0);
            entry.apply_at(&values[from..], &mut self.sums[output * PANEL..][..PANEL]);
            self.shrink[output] = if entry.norm2 > 0.0 { 1.0 / entry.norm2.sqrt() } else { 0.0 };
        }
        errors.extend(moments.map(|moment| self.look(moment)));
        errors
    }

    /// All hypotheses stood still until the round before `round`.
    fn stand_until(&mut self, round: u64) {
        if round == self.still_since {
            return;
        }
        let lived = (round - self.still_since) as f64;
        for (normalised, wrong) in [(false, 0), (true, 1)] {
            let best =
                self.best(|walk, output| (&walk.sums, if normalised { walk.shrink[output] } else { 1.0 }));
            for ((wrong, best), class) in self.wrong[wrong].iter_mut().zip(best).zip(self.classes) {
                *wrong += if best == f64::from(*class) { 0.0 } else { lived };
            }
        }
        self.still_since = round;
    }

    /// The hypothesis of an output lived until the round before `round`.
    fn count_until(&mut self, output: usize, round: u64) {
        let lived = (round - self.since[output]) as f64;
        let weight = lived * self.shrink[output];
        let range = output * PANEL..(output + 1) * PANEL;
        let parts = self.votes[range.clone()].iter_mut().zip(&mut self.averages[range.clone()]);
        let parts = parts.zip(&mut self.normalised[range.clone()]).zip(&self.sums[range]);
        for (((votes, average), normalised), sum) in parts {
            *votes += if *sum > 0.0 { lived } else { 0.0 } - if *sum < 0.0 { lived } else { 0.0 };
            *average += lived * sum;
            *normalised += weight * sum;
        }
        self.since[output] = round;
    }

    /// The errors if the run had ended with round `moment`.
    fn look(&mut self, moment: u64) -> [f64; 7] {
        self.stand_until(moment + 1);
        for output in 0..self.n_outputs {
            self.count_until(output, moment + 1);
        }
        let errors = |best: [f64; PANEL]| {
            let wrong = best.iter().zip(self.classes).filter(|(best, class)| **best != f64::from(**class));
            wrong.count() as f64
        };
        let drawn = |wrong: &[f64]| wrong[..self.classes.len()].iter().sum();
        [
            errors(self.best(|walk, _| (&walk.sums, 1.0))),
            errors(self.best(|walk, output| (&walk.sums, walk.shrink[output]))),
            errors(self.best(|walk, _| (&walk.votes, 1.0))),
            errors(self.best(|walk, _| (&walk.averages, 1.0))),
            errors(self.best(|walk, _| (&walk.normalised, 1.0))),
            drawn(&self.wrong[0]),
            drawn(&self.wrong[1]),
        ]
    }

    /// By row, the class with the highest score, as a number.
    fn best(&self, scores: impl Fn(&Self, usize) -> (&Vec<f64>, f64)) -> [f64; PANEL] {
        let (mut highest, mut best) = ([f64::NEG_INFINITY; PANEL], [0.0; PANEL]);
        for output in 0..self.n_outputs {
            let (scores, factor) = scores(self, output);
            let scores = &scores[output * PANEL..][..PANEL];
            for ((highest, best), score) in highest.iter_mut().zip(&mut best).zip(scores) {
                let score = score * factor;
                *best = if score > *highest { output as f64 } else { *best };
                *highest = if score > *highest { score } else { *highest };
            }
        }
        best
    }
}
