//! A source of sentences: holding out, probabilities, starts and streams, as the recipe has them, for tokens.

use super::{Choice, Outline, Plan, Recipe, Trained};
use crate::defaults;
use crate::error::{Error, refuse};
use crate::model::{Checkpoint, Model};
use crate::monitor::{Monitor, Stage};
use crate::spec::Options;
use crate::tagger::{self, Judging, TaggerOptions, TaggerTraining, TaggerTrial, are_sentences};
use rosenblatt_data::{
    Part, Scaling, SentenceFormat, SentenceStream, Source, find_sentence_format, sentences,
};

/// With more labels than these a race tries no second order.
const MOST_LABELS_TRIED: usize = 50;

/// Whether the source holds sentences: because the recipe says so, or because of how files are called.
pub(super) fn are_meant(recipe: &Recipe, source: &Source) -> bool {
    let names: Vec<String> = source.parts().iter().map(Part::name).collect();
    recipe.tagging.is_some()
        || are_sentences(recipe.reading.format.as_deref(), names.iter().map(String::as_str))
}

/// What is learned: what the recipe sets, else what the model to start from has.
pub(super) fn merged(recipe: &Recipe) -> Result<TaggerOptions, Error> {
    let start = recipe.start.as_deref().map(Model::to_tag).transpose()?;
    let options = start.map_or_else(TaggerOptions::default, |tagger| tagger.options().clone());
    if start.is_some() && !recipe.online && !recipe.learning.is_set("epochs") {
        super::start::check_epochs(options.epochs)?;
    }
    options.with_set(&recipe.tagging.clone().unwrap_or_default(), &recipe.learning, &recipe.reading)
}

/// Checks what can be checked before anything is read.
pub(super) fn check(recipe: &Recipe, options: &TaggerOptions) -> Result<(), Error> {
    options.check()?;
    super::ties::check_sentences(recipe)?;
    judging(recipe).check(options, recipe.start.is_some())
}

fn judging(recipe: &Recipe) -> Judging {
    Judging { plan: recipe.estimate, calibrate: recipe.calibration }
}

pub(super) fn train(
    recipe: &Recipe,
    source: &Source,
    checkpoint: Option<Checkpoint>,
    monitor: &mut dyn Monitor,
) -> Result<Trained, Error> {
    let options = merged(recipe)?;
    check(recipe, &options)?;
    let format = recipe.reading.format.as_deref().map(find_sentence_format).transpose()?;
    let source = match recipe.choice {
        Choice::Race(_) => source.rewindable(recipe.reading.limits.held_bytes)?,
        Choice::Auto | Choice::Given => source.clone(),
    };
    let (options, notes) = chosen(recipe, options, &source, format, monitor)?;
    fit(recipe, &options, notes, source.name(), sentences(&source, format)?, checkpoint, monitor)
}

/// The same of sentences in memory, which no race reads again.
pub(super) fn train_in_memory(
    recipe: &Recipe,
    stream: SentenceStream,
    monitor: &mut dyn Monitor,
) -> Result<Trained, Error> {
    let options = merged(recipe)?;
    check(recipe, &options)?;
    if matches!(recipe.choice, Choice::Race(_)) {
        return refuse("choice", "left out for sentences in memory", "a race");
    }
    fit(recipe, &options, Vec::new(), "sentences in memory".to_owned(), stream, None, monitor)
}

fn fit(
    recipe: &Recipe,
    options: &TaggerOptions,
    mut notes: Vec<String>,
    source: String,
    stream: SentenceStream,
    checkpoint: Option<Checkpoint>,
    monitor: &mut dyn Monitor,
) -> Result<Trained, Error> {
    monitor.stage(Stage::Training);
    let training = TaggerTraining::new(options)
        .start_from(recipe.start.as_deref().map(Model::to_tag).transpose()?)
        .resume(checkpoint)
        .judged(judging(recipe))
        .online(recipe.online);
    let spec = options.spec();
    let mut watch = monitor.training(&spec, None)?;
    let model = training.checkpointer(&mut *watch.checkpointer).run_on(stream, &mut *watch.observer)?;
    drop(watch);
    let tagger = model.to_tag()?;
    let is_raced = matches!(recipe.choice, Choice::Race(_));
    if !is_raced && leaves_history_open(recipe) && tagger.options().features == "letters" {
        notes.push(
            "the labels of letters often depend on two earlier ones: history 2 takes longer and may be much better; tune \
             compares both"
                .to_owned(),
        );
    }
    let data = Outline {
        source,
        rows: model.training_summary.rows as u64,
        features: tagger.lexicon().len(),
        classes: model.labels.names().iter().map(|label| (label.clone(), 0)).collect(),
        label: None,
        scaling: Scaling::None,
        dropped: 0,
        skipped: 0,
    };
    Ok(Trained::new(model, data, notes))
}

/// What is learned: the candidate of a race that does best on folds of the sentences, or what you named.
fn chosen(
    recipe: &Recipe,
    options: TaggerOptions,
    source: &Source,
    format: Option<&'static dyn SentenceFormat>,
    monitor: &mut dyn Monitor,
) -> Result<(TaggerOptions, Vec<String>), Error> {
    let Choice::Race(racing) = &recipe.choice else { return Ok((options, Vec::new())) };
    if recipe.start.is_some() {
        return Err(Error::BadStart { what: "a race starts from nothing".to_owned() });
    }
    let n_folds = match recipe.estimate {
        Plan::Folds(n_folds) => n_folds,
        Plan::Auto | Plan::HoldOut(_) => defaults::RACE_FOLDS,
    };
    let usual = ["perceptron", "pa1", "arow"]
        .map(|name| Options { algorithm: name.to_owned(), ..Options::default() });
    let rules = if racing.candidates.is_empty() { &usual[..] } else { &racing.candidates };
    let candidates = rules.iter().map(|candidate| options.learning_as(candidate));
    let candidates = candidates.collect::<Result<Vec<_>, _>>()?;
    let compared = tagger::compare(&candidates, source, format, n_folds, options.seed, monitor)?;
    let told = |trial: &TaggerTrial| {
        let whole = trial.whole();
        let what = if whole.has_spans() { "F1 of spans" } else { "of the tokens right" };
        format!("{}: {:.2} % {what}", trial.options.rule(), 100.0 * TaggerTrial::worth(&whole))
    };
    let mut notes =
        vec![format!("race on {n_folds} folds of {} sentences, the best first:", compared.sentences)];
    notes.extend(compared.trials.iter().map(told));
    notes.extend(
        compared.failed.iter().map(|(options, error)| format!("left out: {}: {error}", options.rule())),
    );
    let best = compared.trials.first();
    let winner = candidates.into_iter().nth(best.map_or(0, |trial| trial.candidate)).unwrap_or(options);
    if !leaves_history_open(recipe) || winner.history > 1 {
        return Ok((winner, notes));
    }
    // It takes longer by as much as there are labels, so that nothing but the winner is tried with it.
    let second = TaggerOptions { history: 2, ..winner.clone() };
    if compared.labels.len() > MOST_LABELS_TRIED {
        notes.push(format!("history 2 was not tried, as there are more than {MOST_LABELS_TRIED} labels"));
        return Ok((winner, notes));
    }
    match tagger::compare(std::slice::from_ref(&second), source, format, n_folds, winner.seed, monitor) {
        Ok(tried) => {
            let worth =
                |trial: Option<&TaggerTrial>| trial.map_or(0.0, |trial| TaggerTrial::worth(&trial.whole()));
            notes.extend(tried.trials.iter().map(|trial| format!("with history 2, {}", told(trial))));
            let is_better = worth(tried.trials.first()) > worth(best);
            Ok((if is_better { second } else { winner }, notes))
        }
        Err(Error::Stopped) => Err(Error::Stopped),
        Err(error) => {
            notes.push(format!("left out: history 2: {error}"));
            Ok((winner, notes))
        }
    }
}

/// Whether it is left open on how many earlier labels a label depends.
fn leaves_history_open(recipe: &Recipe) -> bool {
    recipe.start.is_none() && !recipe.tagging.as_ref().is_some_and(|tagging| tagging.is_set("history"))
}
