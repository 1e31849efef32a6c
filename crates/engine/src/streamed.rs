//! Training on data that is larger than memory: pass after pass out of a cache, to the same bits.
//!
//! The rows are those of a [`Cached`] source, visited as they stand. One pass in pieces is one pass, so that the
//! model is what [`Training`](crate::Training) makes of the same rows in memory with `order = given`: the same
//! classes, the same rows held back, the same weights to the last bit. What cannot be had so is refused with
//! the reason: other orders, rules that need a whole pass at once, and the pocket's ratchet.

use crate::error::Error;
use crate::evaluate::Evaluation;
use crate::learner::{Learner, Shape};
use crate::model::{Model, Story, Validated};
use crate::spec::Spec;
use crate::split::split_rows;
use crate::train::{build, class_weights, two_classes};
use rosenblatt_core::memory::Kept;
use rosenblatt_core::{Examples, Law, Observer, Order, Readout, Stopped, Totals, Visits};
use rosenblatt_data::{Cached, DataError, View, Visitor};
use std::ops::ControlFlow;

/// Why no model came of it: the wish, or the data.
#[derive(Debug, thiserror::Error)]
pub enum StreamedError {
    /// Nothing can be learned so.
    #[error(transparent)]
    Training(#[from] Error),
    /// The rows cannot be had.
    #[error(transparent)]
    Data(#[from] DataError),
}

/// Trains what `spec` describes on these rows of `data`, all if none are named, watched by `observer`. Row numbers
/// ascend.
pub fn train_streamed(
    spec: &Spec,
    data: &mut Cached,
    rows: Option<&[u32]>,
    observer: &mut dyn Observer,
) -> Result<Model, StreamedError> {
    check_spec(spec)?;
    let all: Vec<u32>;
    let rows = if let Some(rows) = rows {
        rows
    } else {
        all = (0..data.classes().len() as u32).collect();
        &all
    };
    two_classes(data.labels(), data.classes(), rows)?;
    let options = spec.options();
    let held_back = options
        .validation
        .map(|held| (split_rows(data.classes(), rows, held.fraction, options.seed), held.patience));
    let train_rows = held_back.as_ref().map_or(rows, |((train, _), _)| train);
    if train_rows.is_empty() {
        return Err(Error::NoRows.into());
    }
    let weights = class_weights(&options.class_weights, data.labels(), data.classes(), train_rows)?;
    let kernel = spec.kernel().map(|options| options.choice().blind()).transpose().map_err(Error::from)?;
    let shape = Shape { width: data.width(), class_weights: weights, start: None, kernel };
    let mut learner = build(spec, data.labels().len(), shape)?;
    learner.limit_updates(options.max_updates.unwrap_or(u64::MAX));
    let mut best: Option<(u64, u64, Kept)> = None;
    let mut errors_by_pass = Vec::new();
    let stopped = loop {
        if options.max_updates.is_some_and(|most| learner.totals().updates >= most) {
            break Stopped::Updates;
        }
        if learner.totals().epochs >= options.epochs {
            break Stopped::Epochs;
        }
        let before = learner.totals();
        let flow = pass(&mut *learner, data, train_rows, observer)?;
        let (pass, watched) = learner.end_pass(&before, observer);
        let mut watched = watched;
        if let Some(((_, held_rows), patience)) = &held_back
            && let Some(kept) = learner.read(spec.readout())
        {
            let model = model(spec, data, kept.clone(), story(0, Totals::default(), Stopped::Epochs, None));
            let errors = evaluate_streamed(&model, data, held_rows)?.errors;
            errors_by_pass.push(errors);
            if best.as_ref().is_none_or(|(fewest, ..)| errors < *fewest) {
                best = Some((errors, pass.epoch, kept));
            }
            let best_epoch = best.as_ref().map_or(0, |(_, epoch, _)| *epoch);
            if pass.epoch - best_epoch >= *patience {
                watched = ControlFlow::Break(());
            }
        }
        if let ControlFlow::Break(stopped) = flow {
            break stopped;
        }
        if watched.is_break() {
            break Stopped::Observer;
        }
        if options.stop_when_clean && pass.mistakes == 0 && pass.updates == 0 {
            break Stopped::Clean;
        }
    };
    if !learner.is_finite() {
        return Err(Error::Overflow { epoch: learner.totals().epochs }.into());
    }
    let held_rows = held_back.as_ref().map_or(0, |((_, held_rows), _)| held_rows.len());
    let (kept, validation) = match best {
        Some((_, best_epoch, kept)) => {
            (Some(kept), Some(Validated { rows: held_rows, errors: errors_by_pass, best_epoch }))
        }
        None => (learner.read(spec.readout()), None),
    };
    let kept = kept.expect("learners remember what their spec reads out");
    Ok(model(spec, data, kept, story(train_rows.len(), learner.totals(), stopped, validation)))
}

/// The rows of `data` in two parts, as [`split`](crate::split) parts a data set in memory.
pub fn split_streamed(data: &Cached, fraction: f64, seed: u64) -> (Vec<u32>, Vec<u32>) {
    let rows: Vec<u32> = (0..data.classes().len() as u32).collect();
    split_rows(data.classes(), &rows, fraction, seed)
}

/// Compares a model's predictions with the classes of these rows, whose numbers ascend. The area under the curve
/// needs the scores of all rows at once and is left out.
pub fn evaluate_streamed(
    model: &Model,
    data: &mut Cached,
    rows: &[u32],
) -> Result<Evaluation, StreamedError> {
    struct Compare<'a> {
        listed: &'a [u32],
        predictor: &'a mut crate::model::Predictor,
        confusion: &'a mut [Vec<u64>],
    }
    impl Visitor for Compare<'_> {
        type Output = ();
        fn visit<E: Examples>(self, examples: E) {
            let Self { listed, predictor, confusion } = self;
            predictor.each(examples, listed, |row, predicted, _| {
                confusion[examples.class(row as usize) as usize][predicted as usize] += 1;
            });
        }
    }
    let labels = data.labels().clone();
    let mut confusion = vec![vec![0; labels.len()]; labels.len()];
    let mut predictor = model.predictor(data.width());
    let _ = each_block(data, rows, |view, listed| {
        view.visit(Compare { listed, predictor: &mut predictor, confusion: &mut confusion });
        ControlFlow::<()>::Continue(())
    })?;
    let n_right: u64 = (0..labels.len()).map(|class| confusion[class][class]).sum();
    let n_rows = rows.len() as u64;
    let auc = vec![None; labels.len()];
    Ok(Evaluation { rows: n_rows, errors: n_rows - n_right, labels, confusion, auc, sharpness: None })
}

/// Whether rows that come and go, in their order, are enough for what is wished.
pub fn check_spec(spec: &Spec) -> Result<(), Error> {
    let refuse = |name, expected, found: String| Err(Error::Range { name, expected, found });
    if spec.order() != Order::Given {
        let expected = "given where rows do not stay in memory";
        return refuse("order", expected, spec.order().to_string());
    }
    let info = spec.entry().info;
    if info.exempt.iter().any(|(law, _)| *law == Law::HalfPasses) {
        let expected = "one that learns row by row where rows do not stay in memory";
        return refuse("algorithm", expected, info.name.to_owned());
    }
    if let Some(options) = spec.kernel()
        && options.choice().blind()?.by_number()
    {
        let expected = "a function of rows where they do not stay in memory";
        return refuse("kernel", expected, options.name.clone());
    }
    if spec.readout() == Readout::Pocket && spec.options().ratchet {
        let expected = "false where rows do not stay in memory, as it counts errors on all of them";
        return refuse("ratchet", expected, "true".to_owned());
    }
    Ok(())
}

fn pass(
    learner: &mut dyn Learner,
    data: &mut Cached,
    rows: &[u32],
    observer: &mut dyn Observer,
) -> Result<ControlFlow<Stopped>, DataError> {
    each_block(data, rows, |view, listed| {
        if listed.len() == view.len() {
            learner.pass(view, Visits::Range { first: 0, end: view.len() }, observer)
        } else {
            learner.pass(view, Visits::Listed(listed), observer)
        }
    })
}

/// Lends every block of one pass to `work`, with the places of those `rows` that are in it.
fn each_block<B>(
    data: &mut Cached,
    rows: &[u32],
    mut work: impl FnMut(View<'_>, &[u32]) -> ControlFlow<B>,
) -> Result<ControlFlow<B>, DataError> {
    data.rewind()?;
    let mut rest = rows;
    let mut listed = Vec::new();
    while let Some((first, view)) = data.next()? {
        let n_here = rest.partition_point(|&row| (row as usize) < first + view.len());
        let (here, behind) = rest.split_at(n_here);
        rest = behind;
        listed.clear();
        listed.extend(here.iter().map(|&row| row - first as u32));
        if let ControlFlow::Break(why) = work(view, &listed) {
            return Ok(ControlFlow::Break(why));
        }
    }
    Ok(ControlFlow::Continue(()))
}

fn story(rows: usize, totals: Totals, stopped: Stopped, validation: Option<Validated>) -> Story {
    Story { rows, totals, stopped, validation }
}

fn model(spec: &Spec, data: &Cached, kept: Kept, story: Story) -> Model {
    Model {
        spec: spec.clone(),
        labels: data.labels().clone(),
        feature_names: data.schema().feature_names(),
        schema: None,
        kept,
        story,
        calibration: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KernelOptions, Options, Training, Validation, evaluate_rows, split};
    use rosenblatt_core::Readout;
    use rosenblatt_data::{Park, ReadOptions, Source, load_with_schema};
    use std::fmt::Write as _;

    fn text(n_rows: u32, n_classes: u32) -> String {
        let mut text = String::new();
        for row in 0..n_rows {
            let hash = row.wrapping_mul(2_654_435_761) >> 7;
            let _ = write!(text, "{}", (hash % 97 + row % 3) % n_classes);
            for place in 0..12 {
                let _ = write!(
                    text,
                    " {}:0.{:04}",
                    place * 40 + 1 + (hash >> place) % 40,
                    (hash ^ place) % 10_000
                );
            }
            text.push('\n');
        }
        text
    }

    /// The bytes of a model file.
    fn bytes(model: &Model) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        model.save(folder.path().join("m")).unwrap();
        std::fs::read(folder.path().join("m")).unwrap()
    }

    #[test]
    fn the_model_is_that_of_memory_to_the_last_bit() {
        let folder = tempfile::tempdir().unwrap();
        let validation = Some(Validation { fraction: 0.1, patience: 2 });
        for (n_classes, algorithm, readout, validation, max_updates) in [
            (2, "perceptron", None, None, None),
            (3, "kernel perceptron", Some(Readout::Voted), None, Some(400)),
            (2, "perceptron", Some(Readout::Voted), validation, None),
            (2, "arow", None, validation, Some(3000)),
            (5, "pa1", None, validation, None),
            (3, "perceptron", Some(Readout::Last), None, Some(20_000)),
        ] {
            let source = Source::bytes("t.svm", text(12_000, n_classes).into_bytes());
            let how = ReadOptions::default();
            let kernel = algorithm.strip_prefix("kernel ").map(|_| KernelOptions::default());
            let options = Options {
                algorithm: algorithm.trim_start_matches("kernel ").to_owned(),
                kernel,
                order: Some(Order::Given),
                epochs: 4,
                readout,
                validation,
                max_updates,
                ..Options::default()
            };
            let spec = Spec::new(options).unwrap();
            let (dataset, _) = load_with_schema(&source, &how).unwrap();
            let (train_rows, held_rows) = split(&dataset, 0.2, 7);
            let expected = Training::new(&spec, &dataset).rows(&train_rows).run(&mut ()).unwrap();
            let mut cached = Cached::read(&source, &how, Park::Temporary(&folder.path().join("c"))).unwrap();
            assert_eq!(split_streamed(&cached, 0.2, 7), (train_rows.clone(), held_rows.clone()));
            let found = train_streamed(&spec, &mut cached, Some(&train_rows), &mut ()).unwrap();
            assert_eq!(bytes(&found), bytes(&expected), "{algorithm} {n_classes}");
            let judged = evaluate_streamed(&found, &mut cached, &held_rows).unwrap();
            let in_memory = evaluate_rows(&expected, &dataset, &held_rows);
            assert_eq!((judged.errors, &judged.confusion), (in_memory.errors, &in_memory.confusion));
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_needs_all_rows_is_refused() {
        for options in [
            Options::default(),
            Options {
                algorithm: "perceptron".to_owned(),
                order: Some(Order::Given),
                readout: Some(Readout::Pocket),
                ratchet: true,
                ..Options::default()
            },
        ] {
            let error = check_spec(&Spec::new(options).unwrap()).unwrap_err();
            assert!(error.to_string().contains("where rows do not stay in memory"), "{error}");
        }
    }
}
