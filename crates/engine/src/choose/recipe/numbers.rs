//! A label of numbers: few candidates race by the squared error, and what they predict of rows that they did not learn
//! from is the estimate and stays with the model, where intervals are made of it.
//!
//! Splits, folds, scales and bent columns are those of classes. Where columns are few, least squares is solved at several
//! strengths of its penalty, beside Huber's loss; where they are many, by descent in the dual.

use super::{Calibrate, Choice, FEW, Fitting, Recipe, Trained, stopped};
use crate::algorithms::ALGORITHMS;
use crate::error::{Error, refuse};
use crate::keep::held_out::MOST_ROWS as MOST_HELD_ROWS;
use crate::model::{Checkpoint, HeldNumbers, Model, NumberEstimate};
use crate::monitor::{Monitor, OrStop, Stage};
use crate::race::{BENDS, gather, is_clearly_worse, mean_of, standardised};
use crate::slice::sample;
use crate::spec::{Options, Spec};
use crate::split::Part;
use crate::targets::{middles, targets};
use crate::task::{Task, TaskChoice};
use crate::train::Training;
use crate::understand::shuffling::variations;
use rosenblatt_core::Tasks;
use rosenblatt_data::{Dataset, Scaling, Shape};
use std::sync::{Arc, LazyLock};

/// The rule for numbers where none is named.
const USUAL: &str = "ridge";
/// Up to this many features the normal equations are solved.
const FEW_FEATURES: usize = 1_000;
/// Up to this many rows are raced on in folds; of more, a part is held out.
const FOLDED_ROWS: usize = 3_000;
const FOLDS: usize = 5;
const HELD: f64 = 0.2;
/// Up to this many rows are copied to be brought to another scale.
const COPIED_ROWS: usize = 20_000;
/// The most products that a race may take, all candidates together.
const MOST_PRODUCTS: f64 = 2e11;
/// The most epochs of rules that come closer with each, until they have converged.
const MANY_EPOCHS: u64 = 500;
/// A shape must be better than a simpler one by more than this many standard errors of the difference.
const CLEARLY: f64 = 1.0;
/// This many rows tell how wide rows are that bend.
const FEW_ROWS: usize = 1_000;

/// The rules for numbers, as the table has them.
static RULES: LazyLock<String> = LazyLock::new(|| {
    let numbers = ALGORITHMS.iter().filter(|entry| entry.info.numbers);
    let names: Vec<&str> = numbers.map(|entry| entry.info.name).collect();
    format!("one of {} to predict numbers; for classes, set the task to classification", names.join(", "))
});

/// What came of a training that predicts numbers, beside its model.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct TrainedNumbers {
    /// Its errors on the training rows.
    pub training: Option<NumberEstimate>,
    /// The candidates that raced, and the root mean squared error of each on rows held out of the race; the winner has
    /// the least. Empty if there was no race.
    pub candidates: Vec<(String, f64)>,
}

impl Recipe {
    /// The same recipe for numbers, with a rule for them unless one is named; the error says what is no use for them.
    pub(super) fn for_numbers(&self) -> Result<Self, Error> {
        if let Some((name, found)) = self.learning.set_in_vain(|tasks| tasks == Tasks::Classes) {
            // Its flag is that of a setting in the group.
            let (name, found) = match name {
                "validation" => ("patience", found.get("patience").cloned().unwrap_or(0.into())),
                name => (name, found),
            };
            return refuse(name, "left out for numbers, as it is about classes", found);
        }
        let mut recipe = self.clone();
        if !self.learning.is_set("algorithm") && !self.names_numbers() {
            recipe.learning.suppose(|options| USUAL.clone_into(&mut options.algorithm));
        }
        let spec = Spec::new(recipe.learning.options().clone())?;
        if spec.task() != Task::Numbers {
            return refuse("algorithm", &RULES, spec.entry().info.name);
        }
        if let Some(class) = &self.positive {
            return refuse("positive", "left out for numbers, as there are no classes", class);
        }
        if !matches!(self.calibration, Calibrate::Auto | Calibrate::Off) {
            return refuse("calibrate", "left out for numbers, which have intervals", self.calibration);
        }
        if matches!(self.choice, Choice::Race(_)) || self.start.is_some() {
            return Err(Error::OtherTask { has: Task::Numbers, wants: Task::Classes });
        }
        Ok(recipe)
    }

    /// Whether the rule that is set is one for numbers.
    pub(super) fn names_numbers(&self) -> bool {
        Spec::new(self.learning.options().clone()).is_ok_and(|spec| spec.task() == Task::Numbers)
    }

    /// Whether numbers are asked for, by the task or the rule.
    pub(super) fn wants_numbers(&self) -> bool {
        self.task == TaskChoice::Regression || self.names_numbers()
    }

    /// Refuses what is not there yet for numbers, before anything is read.
    pub(super) fn check_numbers(&self) -> Result<(), Error> {
        if self.task == TaskChoice::Classification && self.names_numbers() {
            return refuse("task", "regression, or left out, for a rule that learns numbers", self.task);
        }
        if !self.names_numbers() && self.task != TaskChoice::Regression {
            return Ok(());
        }
        if self.online {
            return refuse("online", "left out for numbers, which are learned from rows in memory", true);
        }
        self.for_numbers().map(|_| ())
    }
}

/// What may be trained.
#[derive(Debug, Clone)]
struct Candidate {
    options: Options,
    /// The parameter that is a penalty or the inverse of one, and how strong that is beside each row.
    strength: Option<(&'static str, f64)>,
    shape: Shape,
}

impl Candidate {
    /// What is trained on this many rows.
    fn spec(&self, n_rows: usize) -> Result<Spec, Error> {
        let mut options = self.options.clone();
        if let Some((name, share)) = self.strength {
            let l2 = share * n_rows as f64;
            let value = if name == "C" { 0.5 / l2 } else { l2 };
            options.params.insert(name.to_owned(), value);
        }
        Spec::new(options)
    }

    fn name(&self) -> String {
        let params = self.options.params.iter().map(|(name, value)| format!("{name}={value}"));
        let strength = self.strength.map(|(_, share)| format!("penalty {share} per row"));
        let shape = matches!(self.shape, Shape::Bend { .. }).then(|| self.shape.to_string());
        let parts: Vec<String> = params.chain(strength).chain(shape).collect();
        if parts.is_empty() {
            return self.options.algorithm.clone();
        }
        format!("{} ({})", self.options.algorithm, parts.join(", "))
    }
}

/// How a race ended.
struct Raced {
    winner: Candidate,
    errors: Vec<(String, f64)>,
}

impl Fitting<'_> {
    /// Trains and judges where numbers are predicted.
    pub(super) fn numbers(
        mut self,
        data: &Dataset,
        checkpoint: Option<Checkpoint>,
        monitor: &mut dyn Monitor,
    ) -> Result<Trained, Error> {
        self.outline.classes.clear();
        let by_label = targets(&data.into())?;
        let target = |row: u32| by_label[data.classes()[row as usize] as usize];
        let known = crate::model::fingerprint(data);
        let parts = self.recipe.parts(&data.into())?;
        let all: Vec<u32> = (0..data.len() as u32).collect();
        let mut notes = std::mem::take(&mut self.notes);
        if parts.iter().any(|(learned, _)| learned.len() < FEW) {
            notes.push(format!("fewer than {FEW} rows: the estimate is rough"));
        }
        let mut judged: Vec<(u32, f64)> = Vec::new();
        let (mut means, mut medians) = (Vec::new(), Vec::new());
        let mut first = None;
        for (fold, part) in parts.iter().enumerate() {
            let (learned, held) = part;
            let raced = self.race_numbers(data, learned, &known, monitor)?;
            monitor.stage(Stage::Fold { candidate: 0, fold, n_folds: parts.len() });
            let guesses = self.predicted(&raced.winner, data, part, &known, monitor)?;
            judged.extend(held.iter().copied().zip(guesses));
            let (mean, median) = middles(learned.iter().map(|&row| target(row)).collect());
            means.extend(held.iter().map(|_| mean));
            medians.extend(held.iter().map(|_| median));
            first.get_or_insert(raced);
        }
        let raced = match (first, parts.len()) {
            (Some(raced), 1) => raced,
            _ => self.race_numbers(data, &all, &known, monitor)?,
        };
        let held = (!judged.is_empty()).then(|| {
            let truths: Vec<f64> = judged.iter().map(|(row, _)| target(*row)).collect();
            let guesses: Vec<f64> = judged.iter().map(|(_, guesses)| *guesses).collect();
            let rows: Vec<u32> = judged.iter().map(|(row, _)| *row).collect();
            let groups = self.recipe.ties.groups_of(&rows);
            let estimate = NumberEstimate::new(&truths, &guesses, &means, &medians, groups.as_deref());
            judged.sort_by_key(|(row, _)| *row);
            let most = if self.recipe.keep_held_out { MOST_HELD_ROWS } else { 0 };
            let kept = sample(judged.len(), most, self.recipe.learning.seed);
            let kept: Vec<(u32, f64)> = kept.into_iter().map(|place| judged[place]).collect();
            let rows: Vec<u32> = kept.iter().map(|(row, _)| *row).collect();
            let truths = rows.iter().map(|&row| target(row)).collect();
            HeldNumbers::new(rows, truths, kept.iter().map(|(_, guesses)| *guesses).collect(), estimate)
        });
        let reread = self.read_bent(raced.winner.shape, data, monitor)?;
        let (data, schema) = match &reread {
            Some((bent, schema)) => (bent, Some(schema.clone())),
            None => (data, self.schema.clone()),
        };
        if reread.is_some() {
            (self.outline.scaling, self.outline.features) = (Scaling::None, data.width());
        }
        let known = if reread.is_some() { crate::model::fingerprint(data) } else { known };
        let learned = match parts.as_slice() {
            [(learned, _)] if !self.recipe.refit => learned,
            _ => &all,
        };
        monitor.stage(Stage::Training);
        let spec = raced.winner.spec(learned.len())?;
        let training = Training::new(&spec, data).rows(learned).schema_if_any(schema.map(Arc::new));
        let mut model = training.fingerprint(&known).resume(checkpoint).run_for(monitor)?;
        model.provenance.numbers = held.map(Arc::new);
        // Reasons are measured from the average row, as those of classes are.
        model.provenance.variations = variations(&model, &mut data.into(), self.recipe.learning.seed)?;
        if let super::Plan::Folds(n_folds) = self.recipe.estimate {
            model = model.with_folds(n_folds);
        }
        let mut numbers = TrainedNumbers { candidates: raced.errors, training: None };
        if monitor.wants_figures() {
            monitor.stage(Stage::Judging);
            numbers.training = Some(model.judge_numbers(data, learned)?.estimate);
        }
        Ok(Trained { numbers: Some(numbers), ..Trained::new(model, self.outline, notes) })
    }

    /// What is raced, the preferred first; one if a rule is named.
    fn candidates(&self, data: &Dataset, n_rows: usize) -> Vec<Candidate> {
        let options = Options { validation: None, ..self.spec.options().clone() };
        let plain = |algorithm: &str, strength, shape| {
            let (algorithm, params) = (algorithm.to_owned(), options.params.clone());
            let epochs = if self.recipe.learning.is_set("epochs") { options.epochs } else { MANY_EPOCHS };
            Candidate { options: Options { algorithm, params, epochs, ..options.clone() }, strength, shape }
        };
        if !self.recipe.learning.leaves_race_open() || !matches!(self.recipe.choice, Choice::Auto) {
            // Who settles on one solution is done when it is found.
            let is_open = self.spec.entry().info.settles && !self.recipe.learning.is_set("epochs");
            let epochs = if is_open { MANY_EPOCHS } else { options.epochs };
            let options = Options { epochs, ..options.clone() };
            return vec![Candidate { options, strength: None, shape: Shape::Line }];
        }
        // Least squares by descent.
        let descent = |share: f64, shape: Shape| {
            let mut candidate = plain("svr", Some(("C", share)), shape);
            candidate.options.params.insert("epsilon".to_owned(), 0.0);
            candidate
        };
        let width = data.width();
        let mut all = Vec::new();
        let lacks = self.lacks(data);
        if width > FEW_FEATURES && !lacks {
            all.extend([1e-3, 1e-2, 1e-1].map(|share| descent(share, Shape::Line)));
            return all;
        }
        let strengths = [1e-3, 1e-6, 1e-2, 1e-1];
        all.extend(strengths.map(|share| plain(USUAL, Some(("l2", share)), Shape::Line)));
        all.push(plain("huber", Some(("l2", 1e-3)), Shape::Line));
        let products = |width: usize| (n_rows * width * width) as f64 / 2.0;
        let n_folds = if n_rows <= FOLDED_ROWS { FOLDS } else { 1 };
        let most = MOST_PRODUCTS / n_folds as f64 / products(width).max(1.0);
        all.truncate(if lacks { 0 } else { (most as usize).max(1) });
        let few: Vec<u32> = (0..data.len() as u32).step_by(data.len().div_ceil(FEW_ROWS).max(1)).collect();
        for shape in BENDS {
            // Of few rows it is seen how wide they are once they bend.
            let Some(bends) = self.bends(shape, data, &few) else { continue };
            let bent = gather(data, &few[..1]).bent(&bends).width();
            if bent > FEW_FEATURES || products(bent) > MOST_PRODUCTS / 10.0 {
                if lacks && all.is_empty() {
                    all.push(descent(1e-3, shape));
                }
                continue;
            }
            all.extend([1e-3, 1e-2].map(|share| plain(USUAL, Some(("l2", share)), shape)));
        }
        all
    }

    /// Races on these rows, by the squared error of those held out in turn.
    fn race_numbers(
        &self,
        data: &Dataset,
        rows: &[u32],
        known: &str,
        monitor: &mut dyn Monitor,
    ) -> Result<Raced, Error> {
        let mut candidates = self.candidates(data, rows.len());
        if candidates.len() < 2 || rows.len() < 2 * FOLDS {
            return Ok(Raced { winner: candidates.swap_remove(0), errors: Vec::new() });
        }
        let seed = self.recipe.learning.seed;
        let ties = self.recipe.ties.of(rows);
        let (places, flat): (Vec<u32>, Vec<u32>) = (0..rows.len() as u32).map(|place| (place, 0)).unzip();
        let parts = if rows.len() <= FOLDED_ROWS {
            ties.parts(&flat, &places, ties.most_folds().map_or(FOLDS, |most| most.min(FOLDS)), seed)?
        } else {
            vec![ties.split(&flat, &places, HELD, seed)?]
        };
        let by_label = targets(&data.into())?;
        let mut squares = vec![Vec::new(); candidates.len()];
        for (learned, held) in parts {
            let of =
                |places: Vec<u32>| places.into_iter().map(|place| rows[place as usize]).collect::<Vec<_>>();
            let part = (of(learned), of(held));
            for (candidate, squares) in candidates.iter().zip(&mut squares) {
                if monitor.wants_to_stop() {
                    return Err(Error::Stopped);
                }
                let guesses = self.predicted(candidate, data, &part, known, monitor)?;
                let residual =
                    |(row, guesses): (&u32, f64)| by_label[data.classes()[*row as usize] as usize] - guesses;
                squares.extend(part.1.iter().zip(guesses).map(residual).map(|residual| residual * residual));
            }
        }
        let means: Vec<f64> = squares.iter().map(|squares| mean_of(squares)).collect();
        let errors = candidates.iter().zip(&means).map(|(candidate, mean)| (candidate.name(), mean.sqrt()));
        let errors = errors.collect();
        // Straight columns stand first: each shape must be clearly better than what won among the simpler ones.
        let places: Vec<usize> = (0..candidates.len()).collect();
        let mut winner = 0;
        for group in places.chunk_by(|&one, &other| candidates[one].shape == candidates[other].shape) {
            let best = group.iter().copied().min_by(|&a, &b| means[a].total_cmp(&means[b])).unwrap_or(winner);
            let is_first = group[0] == 0;
            if is_first || is_clearly_worse(&squares[winner], &squares[best], CLEARLY) {
                winner = best;
            }
        }
        Ok(Raced { winner: candidates.swap_remove(winner), errors })
    }

    /// What a candidate predicts of the rows held out, trained on the others.
    fn predicted(
        &self,
        candidate: &Candidate,
        data: &Dataset,
        (learned, held): &Part,
        known: &str,
        monitor: &mut dyn Monitor,
    ) -> Result<Vec<f64>, Error> {
        let is_copied = data.len() <= COPIED_ROWS || data.len() < data.width();
        let changed = match self.bends(candidate.shape, data, learned) {
            Some(bends) => Some(data.bent(&bends)),
            None if is_copied => standardised(data, learned, &self.rescale()),
            None => None,
        };
        let seen = changed.as_ref().unwrap_or(data);
        let spec = candidate.spec(learned.len())?;
        let training = Training::new(&spec, seen).rows(learned).fingerprint(known);
        let model: Model = training.checkpointer(&mut OrStop(monitor)).run(&mut ()).map_err(stopped)?;
        model.predict_some(seen.view(), held)
    }
}
