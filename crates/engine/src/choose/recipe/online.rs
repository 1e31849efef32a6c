//! One epoch over a stream, every row predicted before it is learned from.
//!
//! The error of those predictions is an honest estimate that costs no rows. Memory is that of the model and a few
//! blocks, however long the stream.

use super::{LabelFound, Outline, Recipe, Trained, infer, no_class, start};
use crate::algorithms::find;
use crate::error::{Error, NAME_CLASSES, refuse};
use crate::model::{Checkpoint, Model};
use crate::monitor::{Monitor, Pausable};
use crate::online::Online;
use crate::spec::{ClassWeights, Options, Spec};
use rosenblatt_core::{Declared, Law, Order, Setting, Totals};
use rosenblatt_data::{DataError, ErrorKind, ReadOptions, Scaling, Schema, Source, Survey, blocks, survey};
use serde_json::json;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// At most this many rows are learned from before the monitor is asked whether to go on.
const ROWS_AT_ONCE: u64 = 4096;

impl Recipe {
    /// Refuses a setting of learning that changes nothing online, by its name. Options that come whole name nothing: there,
    /// what is as its default was not set.
    pub fn check_online(&self) -> Result<(), Error> {
        let (given, defaults) = (json!(self.learning.options()), json!(Options::default()));
        let is_whole = Options::SETTINGS.iter().all(|setting| self.learning.is_set(setting.name));
        let is_meant =
            |name: &str| self.learning.is_set(name) && !(is_whole && given[name] == defaults[name]);
        let is_idle = |setting: &&Setting| !setting.idle_online.is_empty() && is_meant(setting.name);
        match Options::SETTINGS.iter().find(is_idle) {
            Some(Setting { name, idle_online, .. }) => refuse(name, idle_online, &given[*name]),
            None => Ok(()),
        }
    }
}

/// The wish as far as it makes sense for rows that come and go.
pub(super) fn spec(recipe: &Recipe) -> Result<Spec, Error> {
    // The pocket's ratchet counts errors on all rows, which are not at hand.
    let (epochs, order, validation, ratchet) = (1, Some(Order::Given), None, false);
    let info = find(&recipe.learning.algorithm)?.info;
    if let Some((_, why)) = info.exempt.iter().find(|(law, _)| *law == Law::HalfEpochs) {
        return Err(Error::NotOnline { algorithm: info.name, why });
    }
    let spec =
        Spec::new(Options { ratchet, order, epochs, validation, ..recipe.learning.options().clone() })?;
    if spec.options().class_weights == ClassWeights::Balanced {
        let expected =
            "even or given by class where rows come one by one, as balance needs all of them at hand";
        return refuse("class-weights", expected, "balanced");
    }
    Ok(spec)
}

pub(super) fn train(
    recipe: &Recipe,
    source: &Source,
    checkpoint: Option<Checkpoint>,
    monitor: &mut dyn Monitor,
) -> Result<Trained, Error> {
    let mut notes = Vec::new();
    let reading = prepare(recipe, source)?;
    let mut stream = blocks(source, &reading)?;
    if let [only] = stream.labels().names() {
        return Err(Error::OneClassSoFar { class: only.clone() });
    }
    // The class of each of the stream's, for one class against all others.
    let mut numbers: Vec<u32> = (0..stream.labels().len() as u32).collect();
    let grows = reading.grow_classes && recipe.positive.is_none();
    let mut labels = stream.labels().clone();
    if let Some(class) = &recipe.positive {
        let unknown = no_class(&labels, class);
        labels = labels.positive(class, &mut numbers).ok_or(unknown)?;
    }
    let planes = recipe.start_planes();
    if let Some(model) = &recipe.start {
        start::check_classes(model, &labels)?;
        notes.push(start::beginning(model, recipe.blank));
    }
    let mut learner = Online::started(spec(recipe)?, labels, planes)?;
    if let Some(names) = stream.schema().feature_names() {
        learner = learner.with_feature_names(names);
    }
    let mut learner = learner.keeping_track();
    if let Some(checkpoint) = checkpoint {
        learner = learner.resume(checkpoint)?;
    }
    let learner = Arc::new(Mutex::new(learner));
    let pausable: Arc<Mutex<dyn Pausable>> = learner.clone();
    monitor.online(&pausable);
    let at_once = rows_at_once(recipe);
    let mut progress: Vec<Totals> = Vec::new();
    let mut totals = Totals::default();
    // What helps is not what the reader of a whole source would say.
    let explain = |error: DataError| match error.kind() {
        ErrorKind::LateClass => error.with_help(NAME_CLASSES),
        _ => error,
    };
    while let Some((block, known)) = stream.next_labelled().map_err(explain)? {
        let own = |&class: &u32| if grows { class } else { numbers[class as usize] };
        let classes: Vec<u32> = block.classes().iter().map(own).collect();
        let mut from = 0;
        while from < block.len() {
            let until = (totals.rounds + 1).next_power_of_two();
            let to = block.len().min(from + at_once.min(until - totals.rounds) as usize);
            let mut learner = lock(&learner);
            let rows = block.view().with_classes(&classes);
            if grows {
                learner.learn_named(rows, known.names(), from..to)?;
            } else {
                learner.learn_rows(rows, from..to)?;
            }
            from = to;
            totals = learner.totals();
            monitor.learned(&*learner, totals);
            if totals.rounds.is_power_of_two() && progress.last() != Some(&totals) {
                progress.push(totals);
            }
        }
    }
    let learner = lock(&learner);
    if learner.rows_to_skip() > 0 {
        let differences = vec!["the stream is shorter than what it learned from".to_owned()];
        return Err(Error::OtherRun { differences });
    }
    if progress.last().is_none_or(|last| last.rounds < totals.rounds) && totals.rounds > 0 {
        progress.push(totals);
    }
    let model = learner.model()?;
    let mut schema = stream.schema().clone();
    widen(&mut schema, &model);
    notes.extend(schema.notes.iter().cloned());
    if recipe.reading().scaling == Scaling::Auto && !source.can_rewind() && !schema.columns.is_empty() {
        notes.push("columns keep their scale, since a pipe cannot be read twice to find it".to_owned());
    }
    notes.extend(stream.notes());
    let names = model.labels().names().iter().cloned();
    let data = Outline {
        source: source.name(),
        rows: totals.rounds,
        features: model.width(),
        classes: names.map(|name| (name, 0)).collect(),
        label: LabelFound::new(&reading, &schema),
        scaling: schema.scaler.as_ref().map_or(Scaling::None, |scaler| scaler.scaling),
        dropped: stream.n_dropped(),
        skipped: stream.n_skipped(),
    };
    Ok(Trained { progress, ..Trained::new(model.with_schema(Arc::new(schema)), data, notes) })
}

/// How many rows are learned from before the monitor is asked: fewer if each may be met many times in a row.
fn rows_at_once(recipe: &Recipe) -> u64 {
    let heaviest = match &recipe.learning.class_weights {
        ClassWeights::Given(weights) => weights.values().fold(1.0_f64, |most, weight| most.max(*weight)),
        _ => 1.0,
    };
    (ROWS_AT_ONCE / heaviest.clamp(1.0, ROWS_AT_ONCE as f64) as u64).max(1)
}

/// What is numbered in the source is as wide as what was learned from it.
pub(super) fn widen(schema: &mut Schema, model: &Model) {
    let is_numbered = schema.columns.is_empty() && schema.crosses.is_empty() && schema.bends.is_none();
    if schema.width().is_none_or(|width| is_numbered && width < model.width()) {
        schema.width = Some(model.width());
    }
}

fn lock(learner: &Mutex<Online>) -> MutexGuard<'_, Online> {
    learner.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What can be read twice is looked through first, so that classes and scales are known; what cannot is taken as it
/// comes, so that it need not be held in memory.
fn prepare(recipe: &Recipe, source: &Source) -> Result<ReadOptions, Error> {
    let mut reading = recipe.reading();
    if !source.can_rewind() {
        if reading.scaling == Scaling::Auto {
            reading.scaling = Scaling::None;
        }
    } else if reading.classes.is_none() {
        let Survey { schema, labels, n_rows } = survey(source, &reading)?;
        let rows = usize::try_from(n_rows).unwrap_or(usize::MAX);
        if recipe.start.is_none() {
            infer::check_quantity(recipe.task, &schema, rows, &labels)?;
        }
        reading.classes = Some(labels.names().to_vec());
    }
    Ok(reading)
}
