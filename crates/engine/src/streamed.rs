//! Training on data that is larger than memory: pass after pass out of a cache, to the same bits.
//!
//! The rows are those of a [`Cached`] source, visited as they stand. One pass in pieces is one pass, so that the
//! model is what [`Training`](crate::Training) makes of the same rows in memory with `order = given`: the same
//! classes, the same rows held back, the same weights to the last bit. What cannot be had so is refused with
//! the reason: other orders, rules that need a whole pass at once, and the pocket's ratchet.

use crate::calibration::{Calibration, HeldOut, Method};
use crate::error::Error;
use crate::evaluate::Evaluation;
use crate::fingerprint::Fingerprint;
use crate::learner::{Learner, Shape};
use crate::mapped::Mapper;
use crate::model::{
    Checkpoint, Mark, Model, Provenance, Story, Validated, Watched, encode_checkpoint, reading,
};
use crate::spec::Spec;
use crate::split::split_rows;
use crate::train::{Keeper, Wants, build, class_weights, restore, two_classes};
use rosenblatt_core::memory::Kept;
use rosenblatt_core::{Examples, Law, Observer, Order, Readout, Stopped, Totals, Visits};
use rosenblatt_data::{Cached, DataError, View, Visitor};
use rosenblatt_kernel::kernels::Survey;
use rosenblatt_kernel::maps::{Choice, FeatureMap, Rows};
use std::ops::ControlFlow;
use std::sync::Arc;

/// So many rows are mapped at once.
const MAPPED_AT_ONCE: usize = 1024;

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
    StreamedTraining { rows, ..StreamedTraining::new(spec, data) }.run(observer)
}

/// A training on rows that stay on disk, with everything that may be said about it; see
/// [`Training`](crate::Training).
pub struct StreamedTraining<'a> {
    spec: &'a Spec,
    data: &'a mut Cached,
    rows: Option<&'a [u32]>,
    checkpoint: Option<Checkpoint>,
    keeper: Option<&'a mut dyn Keeper>,
}

impl<'a> StreamedTraining<'a> {
    /// Trains what `spec` describes on `data`.
    pub fn new(spec: &'a Spec, data: &'a mut Cached) -> Self {
        Self { spec, data, rows: None, checkpoint: None, keeper: None }
    }

    /// Learns from these rows only, whose numbers ascend.
    #[must_use]
    pub fn rows(self, rows: &'a [u32]) -> Self {
        Self { rows: Some(rows), ..self }
    }

    /// Goes on from where an earlier run of the same description on the same data stood, on disk or in memory.
    /// The model is then the same, to the bit, as if that run had never stopped.
    #[must_use]
    pub fn resume(self, checkpoint: Checkpoint) -> Self {
        Self { checkpoint: Some(checkpoint), ..self }
    }

    /// Hands checkpoints to `keeper` whenever it wants one.
    #[must_use]
    pub fn keeper(self, keeper: &'a mut dyn Keeper) -> Self {
        Self { keeper: Some(keeper), ..self }
    }

    /// Trains, watched by `observer`.
    pub fn run(self, observer: &mut dyn Observer) -> Result<Model, StreamedError> {
        let Self { spec, data, rows, checkpoint, mut keeper } = self;
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
        let values = fingerprint(data)?;
        let shape = (data.classes().len(), data.width(), data.labels());
        let reading = reading(Some(data.schema()), data.schema().feature_names().as_deref());
        let mark = Mark::new(shape, &values, train_rows, None, reading);
        let weights = class_weights(&options.class_weights, data.labels(), data.classes(), train_rows)?;
        let map = spec.map().map(|choice| fit(&choice, data, train_rows)).transpose()?;
        let mut mapper = map.clone().map(Mapper::new);
        let width = map.as_ref().map_or(data.width(), |map| map.size());
        let kernel =
            spec.kernel().map(|options| options.choice().blind()).transpose().map_err(Error::from)?;
        let shape = Shape { width, class_weights: weights, start: None, kernel };
        let mut learner = build(spec, data.labels().len(), shape)?;
        learner.limit_updates(options.max_updates.unwrap_or(u64::MAX));
        let mut watched = held_back.as_ref().map(|_| Watched::default());
        if let Some(checkpoint) = checkpoint {
            checkpoint.check(spec, &mark)?;
            let n_visits = train_rows.len();
            restore(&mut *learner, options.epochs, n_visits, watched.as_mut(), checkpoint)?;
        }
        let stopped = loop {
            if options.max_updates.is_some_and(|most| learner.totals().updates >= most) {
                break Stopped::Updates;
            }
            if learner.totals().epochs >= options.epochs {
                break Stopped::Epochs;
            }
            let (_, before) = learner.place();
            let mut keep = |learner: &dyn Learner| {
                let Some(keeper) = &mut keeper else { return ControlFlow::Continue(()) };
                let wants = keeper.wants(&learner.totals());
                if wants != Wants::Nothing {
                    keeper.keep(&encode_checkpoint(spec, &mark, &learner.state(), watched.as_ref()));
                }
                if wants == Wants::Stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let flow = match pass(&mut *learner, mapper.as_mut(), data, train_rows, observer, &mut keep)? {
                ControlFlow::Continue(()) => None,
                ControlFlow::Break(Some(stopped)) => Some(stopped),
                ControlFlow::Break(None) => {
                    return Err(Error::Interrupted { epoch: learner.totals().epochs + 1 }.into());
                }
            };
            learner.set_place(0);
            let (pass, mut flow_of_observer) = learner.end_pass(&before, observer);
            if !learner.is_finite() {
                return Err(Error::Overflow { epoch: pass.epoch, row: None }.into());
            }
            if let Some(((_, held_rows), patience)) = &held_back
                && let Some(watched) = &mut watched
                && let Some(kept) = learner.read(spec.readout())
            {
                let story = story(0, Totals::default(), Stopped::Epochs, None);
                let model = model(spec, data, map.clone(), kept.clone(), story);
                let errors = evaluate_streamed(&model, data, held_rows)?.errors;
                if watched.note(pass.epoch, errors, kept) >= *patience {
                    flow_of_observer = ControlFlow::Break(());
                }
            }
            if let Some(stopped) = flow {
                break stopped;
            }
            if flow_of_observer.is_break() {
                break Stopped::Observer;
            }
            if options.stop_when_clean && pass.mistakes == 0 && pass.updates == 0 {
                break Stopped::Clean;
            }
        };
        let held_rows = held_back.as_ref().map_or(0, |((_, held_rows), _)| held_rows.len());
        let (kept, validation) = match watched.and_then(|watched| watched.finish(held_rows)) {
            Some((kept, validated)) => (Some(kept), Some(validated)),
            None => (learner.read(spec.readout()), None),
        };
        let kept = kept.expect("learners remember what their spec reads out");
        let story = story(train_rows.len(), learner.totals(), stopped, validation);
        Ok(Model { provenance: Provenance::of_data(values), ..model(spec, data, map, kept, story) })
    }
}

/// The same model, with probabilities fitted on these rows of `data`, which it should not have learned from and whose
/// numbers ascend: as [`Model::calibrated`] does it in memory. The scores of those rows are held in memory.
pub fn calibrate_streamed(
    model: Model,
    method: Method,
    data: &mut Cached,
    rows: &[u32],
) -> Result<Model, StreamedError> {
    let mut held_out = HeldOut::new(&model, data.width());
    let _ = each_block(data, rows, |view, listed| {
        held_out.add(view, listed);
        ControlFlow::<()>::Continue(())
    })?;
    let fitted = Calibration::fit(method, model.labels().len(), &held_out.scores, &held_out.classes)?;
    Ok(model.with_calibration(Some(fitted)))
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
    struct Compare<'a, 'm> {
        listed: &'a [u32],
        predictor: &'a mut crate::model::Predictor<'m>,
        confusion: &'a mut [Vec<u64>],
    }
    impl Visitor for Compare<'_, '_> {
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

/// The rest of a pass: what is behind the place that the learner has come to. `keep` is asked before every block, and
/// may break it off, with nothing.
fn pass(
    learner: &mut dyn Learner,
    mut mapper: Option<&mut Mapper>,
    data: &mut Cached,
    rows: &[u32],
    observer: &mut dyn Observer,
    keep: &mut dyn FnMut(&dyn Learner) -> ControlFlow<()>,
) -> Result<ControlFlow<Option<Stopped>>, StreamedError> {
    let (mut place, _) = learner.place();
    let flow = each_block(data, rows.get(place..).unwrap_or_default(), |view, listed| {
        if listed.is_empty() {
            return ControlFlow::Continue(());
        }
        keep(learner).map_break(|()| Ok(None))?;
        place += listed.len();
        learner.set_place(place);
        let stopped = |stopped| Ok(Some(stopped));
        let Some(mapper) = &mut mapper else {
            let visits = if listed.len() == view.len() {
                Visits::Range { first: 0, end: view.len() }
            } else {
                Visits::Listed(listed)
            };
            return learner.pass(view, visits, observer).map_break(stopped);
        };
        for some in listed.chunks(MAPPED_AT_ONCE) {
            let mapped = match mapper.block(view, some) {
                Ok(mapped) => mapped,
                Err(error) => return ControlFlow::Break(Err(error)),
            };
            let whole = Visits::Range { first: 0, end: mapped.len() };
            learner.pass(mapped, whole, observer).map_break(stopped)?;
        }
        ControlFlow::Continue(())
    })?;
    Ok(match flow {
        ControlFlow::Continue(()) => ControlFlow::Continue(()),
        ControlFlow::Break(why) => ControlFlow::Break(why?),
    })
}

/// The fingerprint of all rows.
fn fingerprint(data: &mut Cached) -> Result<String, DataError> {
    let mut digest = Fingerprint::of(data.labels());
    data.rewind()?;
    while let Some((_, view)) = data.next()? {
        digest.add_rows(view, 0..view.len());
    }
    Ok(digest.digest())
}

/// The map that `choice` describes, fitted to these rows as if they were in memory: two passes, as a variance
/// needs the mean.
fn fit(choice: &Choice, data: &mut Cached, rows: &[u32]) -> Result<Arc<dyn FeatureMap>, StreamedError> {
    struct Look<'a>(&'a mut Survey, &'a [u32], usize);
    impl Visitor for Look<'_> {
        type Output = ();
        fn visit<E: Examples>(self, examples: E) {
            self.0.look(examples, self.1, self.2);
        }
    }
    struct LookAgain<'a> {
        survey: &'a mut Survey,
        listed: &'a [u32],
        /// The places of landmarks in the list.
        chosen: &'a [usize],
        landmarks: &'a mut Rows,
        width: usize,
    }
    impl Visitor for LookAgain<'_> {
        type Output = ();
        fn visit<E: Examples>(self, examples: E) {
            self.survey.look_again(examples, self.listed);
            for &place in self.chosen {
                self.landmarks.push(examples.row(self.listed[place] as usize), self.width);
            }
        }
    }
    let (width, n_rows) = (data.width(), data.classes().len());
    let (mut survey, mut first) = (Survey::default(), 0);
    let _ = each_block(data, rows, |view, listed| {
        view.visit(Look(&mut survey, listed, first));
        first += view.len();
        ControlFlow::<()>::Continue(())
    })?;
    survey.measure(width);
    let wanted = choice.landmarks(rows.len()).map_err(Error::from)?;
    let (mut landmarks, mut rest, mut passed) = (Rows::default(), wanted.as_slice(), 0);
    let _ = each_block(data, rows, |view, listed| {
        let n_here = rest.partition_point(|&place| place < passed + listed.len());
        let (here, behind) = rest.split_at(n_here);
        rest = behind;
        let chosen: Vec<usize> = here.iter().map(|place| place - passed).collect();
        passed += listed.len();
        let (survey, landmarks) = (&mut survey, &mut landmarks);
        view.visit(LookAgain { survey, listed, chosen: &chosen, landmarks, width });
        ControlFlow::<()>::Continue(())
    })?;
    Ok(choice.fit(&survey.outline(n_rows), landmarks).map_err(Error::from)?)
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
    Story { rows, totals, stopped, validation, held_out: None, folds: None }
}

fn model(spec: &Spec, data: &Cached, map: Option<Arc<dyn FeatureMap>>, kept: Kept, story: Story) -> Model {
    Model {
        spec: spec.clone(),
        labels: data.labels().clone(),
        feature_names: data.schema().feature_names(),
        schema: None,
        map,
        kept,
        story,
        calibration: None,
        provenance: Provenance::default(),
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

    /// Stops at every `every`-th question.
    struct Stopper {
        every: u64,
        asked: u64,
        kept: Option<Vec<u8>>,
    }

    impl Keeper for Stopper {
        fn wants(&mut self, _so_far: &Totals) -> Wants {
            self.asked += 1;
            if self.asked.is_multiple_of(self.every) { Wants::Stop } else { Wants::Nothing }
        }

        fn keep(&mut self, checkpoint: &[u8]) {
            self.kept = Some(checkpoint.to_vec());
        }
    }

    #[test]
    fn a_run_that_is_stopped_again_and_again_ends_in_the_same_bits() {
        let folder = tempfile::tempdir().unwrap();
        let validation = Some(Validation { fraction: 0.1, patience: 1 });
        for (n_classes, algorithm, readout, validation, max_updates, every) in [
            (2, "perceptron", None, None, None, 2),
            (2, "pa1", Some(Readout::Voted), validation, None, 3),
            (3, "arow", Some(Readout::Random), validation, None, 2),
            (2, "perceptron", Some(Readout::Pocket), None, None, 5),
            (3, "alma", None, None, Some(9000), 2),
        ] {
            let source = Source::bytes("t.svm", text(9_000, n_classes).into_bytes());
            let options = Options {
                algorithm: algorithm.to_owned(),
                order: Some(Order::Given),
                epochs: 3,
                readout,
                ratchet: false,
                validation,
                max_updates,
                ..Options::default()
            };
            let spec = Spec::new(options).unwrap();
            let how = ReadOptions::default();
            let mut cached = Cached::read(&source, &how, Park::Temporary(&folder.path().join("c"))).unwrap();
            let (rows, _) = split_streamed(&cached, 0.2, 7);
            let whole = train_streamed(&spec, &mut cached, Some(&rows), &mut ()).unwrap();
            let (dataset, schema) = load_with_schema(&source, &how).unwrap();
            let mut checkpoint: Option<Vec<u8>> = None;
            let mut n_pieces = 0;
            let pieced = loop {
                n_pieces += 1;
                let mut stopper = Stopper { every, asked: 0, kept: None };
                let from = checkpoint.as_ref().map(|bytes| Checkpoint::from_bytes(bytes).unwrap());
                // Now and then it goes on in memory.
                let outcome = if n_pieces % 4 == 3 {
                    let training = Training::new(&spec, &dataset).rows(&rows).schema(schema.clone().into());
                    let training = training.keeper(&mut stopper);
                    let training = if let Some(from) = from { training.resume(from) } else { training };
                    training.run(&mut ()).map_err(StreamedError::from)
                } else {
                    let training = StreamedTraining::new(&spec, &mut cached).rows(&rows).keeper(&mut stopper);
                    let training = if let Some(from) = from { training.resume(from) } else { training };
                    training.run(&mut ())
                };
                match outcome {
                    Err(StreamedError::Training(Error::Interrupted { .. })) => checkpoint = stopper.kept,
                    done => break done.unwrap(),
                }
            };
            assert!(n_pieces > 3, "{algorithm}: {n_pieces}");
            let schema = std::sync::Arc::new(schema);
            let [pieced, whole] = [pieced, whole].map(|model| model.with_schema(schema.clone()).to_bytes());
            assert!(pieced == whole, "{algorithm} in {n_pieces} pieces");
            // Another choice of rows is another run.
            let from = Checkpoint::from_bytes(checkpoint.as_ref().unwrap()).unwrap();
            let other = StreamedTraining::new(&spec, &mut cached).resume(from).run(&mut ());
            assert!(matches!(other, Err(StreamedError::Training(Error::OtherRun { .. }))));
        }
    }

    #[test]
    fn probabilities_and_one_class_against_the_rest_are_those_of_memory() {
        let folder = tempfile::tempdir().unwrap();
        let source = Source::bytes("t.svm", text(9_000, 4).into_bytes());
        let how = ReadOptions::default();
        let options = Options { order: Some(Order::Given), epochs: 2, ..Options::default() };
        let spec = Spec::new(options).unwrap();
        for (class, method) in [(None, Method::Platt), (Some("2"), Method::Isotonic)] {
            let mut cached = Cached::read(&source, &how, Park::Temporary(&folder.path().join("c"))).unwrap();
            let (mut dataset, _) = load_with_schema(&source, &how).unwrap();
            if let Some(class) = class {
                cached = cached.one_against_rest(class).unwrap();
                dataset = dataset.one_against_rest(class).unwrap();
            }
            let (rows, held) = split(&dataset, 0.2, 7);
            let expected = Training::new(&spec, &dataset).rows(&rows).run(&mut ()).unwrap();
            let expected = expected.calibrated(method, &dataset, &held).unwrap();
            let found = train_streamed(&spec, &mut cached, Some(&rows), &mut ()).unwrap();
            let found = calibrate_streamed(found, method, &mut cached, &held).unwrap();
            assert!(found.to_bytes() == expected.to_bytes());
            assert!(cached.one_against_rest("7").is_none());
        }
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
