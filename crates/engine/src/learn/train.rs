//! From a description and data to a model.
//!
//! The rows are in memory or on disk ([`RowSource`]). On disk they are visited as they stand, and the model is what
//! the same rows in memory give with `order = given`: the same rows in the validation set, the same weights to the last
//! bit. What cannot be had so is refused with the reason: other orders, rules that need a whole epoch at once, and the
//! pocket's ratchet.

use crate::device::DeviceChoice;
use crate::error::{Error, refuse};
use crate::fingerprint::Finding;
use crate::learner::{self, Learner, Shape};
use crate::mapped::{self, Mapper};
use crate::model::{
    Checkpoint, Mark, Model, Provenance, Watched, each_prediction, encode_checkpoint, expansion, reading,
    training_summary,
};
use crate::monitor::{Monitor, Watch, keep};
use crate::rows::{RowSource, check_finite};
use crate::spec::{ClassWeights, Spec};
use crate::split::split_rows;
use crate::start::MOST_WEIGHT_BYTES;
use crate::targets::Units;
use crate::task::Task;
use rosenblatt_core::memory::Kept;
use rosenblatt_core::observer::{Round, Snapshot};
use rosenblatt_core::{Epoch, Examples, Law, Observer, Order, Plan, Readout, Row, Stopped, Totals, Visits};
use rosenblatt_data::{Dataset, Labels, Schema, visit};
use rosenblatt_kernel::maps::FeatureMap;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread::Scope;

pub use crate::monitor::{CheckpointRequest, Checkpointer};
pub use crate::start::Start;

/// How many epochs make up for a copy of the rows without their zeros.
const WORTH_A_TWIN: u64 = 3;

/// Trains a model on all rows.
///
/// ```
/// use rosenblatt::{Dataset, Spec, train};
///
/// let rows = [[4.0, 0.0], [1.0, 1.0], [0.0, 1.0], [-2.0, -2.0]];
/// let data = Dataset::from_rows(&rows, &["dot", "star", "star", "dot"]);
/// let model = train(&Spec::default(), &data)?;
/// assert_eq!(model.predict(&[3.0, -1.0])?, "dot");
/// # Ok::<(), rosenblatt::Error>(())
/// ```
pub fn train<'a>(spec: &'a Spec, data: impl Into<RowSource<'a>>) -> Result<Model, Error> {
    Training::new(spec, data).run(&mut ())
}

/// A training with all its settings.
pub struct Training<'a> {
    spec: &'a Spec,
    data: RowSource<'a>,
    rows: Option<&'a [u32]>,
    start: Option<Start>,
    schema: Option<Arc<Schema>>,
    checkpoint: Option<Checkpoint>,
    checkpointer: Option<&'a mut dyn Checkpointer>,
    fingerprint: Option<&'a str>,
    epochs: Option<u64>,
}

impl<'a> Training<'a> {
    /// Trains what `spec` describes on `data`, a [`Dataset`] or rows on disk.
    pub fn new(spec: &'a Spec, data: impl Into<RowSource<'a>>) -> Self {
        let data = data.into();
        let (rows, start, schema, checkpoint, checkpointer) = (None, None, None, None, None);
        let (fingerprint, epochs) = (None, None);
        Self { spec, data, rows, start, schema, checkpoint, checkpointer, fingerprint, epochs }
    }

    /// What is trained.
    pub fn spec(&self) -> &'a Spec {
        self.spec
    }

    /// The data set, if the rows are in memory.
    pub fn dataset(&self) -> Option<&'a Dataset> {
        self.data.dataset()
    }

    /// Learns from these rows only, whose numbers ascend if they are on disk.
    #[must_use]
    pub fn rows(self, rows: &'a [u32]) -> Self {
        Self { rows: Some(rows), ..self }
    }

    /// Starts from these hyperplanes, or this network, instead of zero or drawn weights.
    #[must_use]
    pub fn start(self, start: impl Into<Start>) -> Self {
        Self { start: Some(start.into()), ..self }
    }

    /// The model shall expect data of this schema.
    #[must_use]
    pub fn schema(self, schema: Arc<Schema>) -> Self {
        self.schema_if_any(Some(schema))
    }

    pub(crate) fn schema_if_any(self, schema: Option<Arc<Schema>>) -> Self {
        Self { schema, ..self }
    }

    /// Continues an earlier run of the same description on the same data, in memory or on disk. The model is the same,
    /// to the bit, as if that run had never stopped.
    #[must_use]
    pub fn resume(self, checkpoint: impl Into<Option<Checkpoint>>) -> Self {
        Self { checkpoint: checkpoint.into(), ..self }
    }

    /// Hands checkpoints to `checkpointer` whenever it asks for one.
    #[must_use]
    pub fn checkpointer<'k>(self, checkpointer: &'k mut dyn Checkpointer) -> Training<'k>
    where
        'a: 'k,
    {
        let Self { spec, data, rows, start, schema, checkpoint, fingerprint, epochs, .. } = self;
        let checkpointer = Some(checkpointer as &mut dyn Checkpointer);
        Training { spec, data, rows, start, schema, checkpoint, checkpointer, fingerprint, epochs }
    }

    /// Learns from all rows and stops after this many epochs, where a validation set would decide when to stop.
    pub(crate) fn epochs(self, epochs: Option<u64>) -> Self {
        Self { epochs, ..self }
    }

    /// The [`fingerprint`](crate::model::fingerprint()) of the data, if it is known already: it is found by a look at
    /// all rows otherwise.
    #[must_use]
    pub fn fingerprint(self, known: &'a str) -> Self {
        Self { fingerprint: Some(known), ..self }
    }

    /// Trains, watched by `observer`.
    pub fn run(self, observer: &mut dyn Observer) -> Result<Model, Error> {
        std::thread::scope(|scope| self.run_beside(scope, observer))
    }

    /// Trains, watched as `monitor` wants it.
    pub fn run_for(self, monitor: &mut dyn Monitor) -> Result<Model, Error> {
        let Watch { mut checkpointer, mut observer } = monitor.training(self.spec, self.data.dataset())?;
        self.checkpointer(&mut *checkpointer).run(&mut *observer)
    }

    /// The same; what is wanted only in the end is found on a thread of `scope`.
    fn run_beside<'scope>(
        self,
        scope: &'scope Scope<'scope, 'a>,
        observer: &mut dyn Observer,
    ) -> Result<Model, Error> {
        let Self {
            spec,
            mut data,
            rows,
            start,
            schema,
            checkpoint,
            checkpointer,
            fingerprint: known,
            epochs,
        } = self;
        let all: Vec<u32>;
        let rows = if let Some(rows) = rows {
            rows
        } else {
            all = data.all();
            &all
        };
        let units = if spec.task() == Task::Numbers {
            Some(Units::of(&data, rows)?)
        } else {
            two_classes(data.labels(), data.classes(), rows)?;
            None
        };
        if data.dataset().is_none() {
            check_order(spec)?;
        }
        let values = match (known, data.dataset()) {
            (Some(known), _) => Finding::known(known.to_owned()),
            (None, Some(data)) => Finding::begin(scope, data),
            (None, None) => Finding::known(data.fingerprint()?),
        };
        if let Some(data) = data.dataset().filter(|data| !data.look().is_some_and(|look| look.is_finite)) {
            check_finite(data.view())?;
        }
        let options = spec.options();
        let learned = rows.iter().map(|&row| data.classes()[row as usize]);
        let costs = options.costs.counted(data.labels().names(), learned)?;
        let n_rows = data.classes().len();
        let validation = spec.validation(n_rows).filter(|_| epochs.is_none());
        let parted = validation.map(|part| split_rows(data.classes(), rows, part.fraction, options.seed));
        let train_rows = parted.as_ref().map_or(rows, |(train_rows, _)| train_rows);
        if train_rows.is_empty() {
            return Err(Error::NoRows);
        }
        let (width, labels, names) = (data.width(), data.labels().clone(), data.feature_names());
        let of_source = data.schema().cloned();
        let make_mark = || {
            let read_by = schema.as_deref().or(of_source.as_ref());
            let shape = (n_rows, width, &labels);
            Mark::new(shape, values.get(), train_rows, start.as_ref(), reading(read_by, names.as_deref()))
        };
        let mut mark = LazyMark { mark: None, make: &make_mark };
        if let Some(checkpoint) = &checkpoint {
            checkpoint.check(spec, mark.get())?;
        }
        let prepared = prepare(spec, &mut data, train_rows, start.as_ref())?;
        let Prepared { map, changed, shape: same_again, mut learner } = prepared;
        let seen = changed.as_ref().or(data.dataset());
        let order = spec.order();
        let mut plan = spec.plan(&order, Some(train_rows));
        plan.epochs = epochs.map_or(plan.epochs, |epochs| epochs.min(plan.epochs));
        let patience = validation.zip(parted.as_ref()).map(|(validation, (_, rows))| Patience {
            rows,
            limit: validation.patience,
            watched: Watched::default(),
        });
        let source = RefCell::new(seen.map_or_else(|| data.reborrow(), RowSource::Memory));
        let on_the_way = map.clone().filter(|_| seen.is_none());
        let mut mapper = on_the_way.clone().map(Mapper::new);
        let mut watch = Keeping {
            spec,
            source: &source,
            map: on_the_way,
            patience,
            checkpointer,
            mark,
            ended: Ok(false),
        };
        if let Some(checkpoint) = checkpoint {
            let watched = watch.patience.as_mut().map(|patience| &mut patience.watched);
            let visits = match plan.order {
                Order::Permutation(order) => order.len(),
                _ => train_rows.len(),
            };
            restore(&mut *learner, plan.epochs, visits, watched, checkpoint)?;
        }
        let stopped = match seen {
            Some(seen) => learner.fit(seen.view(), &plan, &mut (observer, &mut watch)),
            None => learner.fit_in_blocks(&plan, &mut (observer, &mut watch), &mut |learner, observer| {
                epoch(learner, mapper.as_mut(), &mut source.borrow_mut(), train_rows, observer)
            })?,
        };
        if watch.ended? {
            return Err(Error::Interrupted { epoch: learner.totals().epochs + 1 });
        }
        if !learner.is_finite() {
            let epoch = learner.totals().epochs;
            let place = seen.map(|seen| overflow(spec, seen, &plan, same_again)).transpose()?.flatten();
            let (epoch, row) = place.map_or((epoch, None), |(epoch, row)| (epoch, Some(row)));
            return Err(Error::Overflow { epoch, row });
        }
        let best = watch.patience.and_then(|patience| patience.watched.finish(patience.rows.len()));
        let (kept, validation) = match best {
            Some((kept, validated)) => (kept, Some(validated)),
            None => (learner.kept(spec), None),
        };
        let (kept, labels_kept) = match &units {
            Some(units) => (units.unscaled(kept), Units::label(schema.as_deref())),
            None => (kept, labels.clone()),
        };
        check_device(spec.kernel().map_or(DeviceChoice::Auto, |kernel| kernel.device), &kept)?;
        let support_numbers = support_numbers(&kept, &mut data, train_rows)?;
        let model = Model {
            feature_names: names.clone(),
            training_summary: training_summary(train_rows.len(), learner.totals(), stopped, validation),
            provenance: Provenance { support_numbers, ..Provenance::of_data(values.get().to_owned()) },
            ..hypothesis(&spec.with_costs(costs), &labels_kept, map, kept)
        };
        Ok(match schema.clone() {
            Some(schema) => model.with_schema(schema),
            None => model,
        })
    }
}

/// Whether a run was computed where it was asked to be: a card that was only taken since it was there may give out.
fn check_device(choice: DeviceChoice, kept: &Kept) -> Result<(), Error> {
    match expansion(kept).and_then(|expansion| expansion.trouble()) {
        Some(trouble) if matches!(choice, DeviceChoice::Gpu(_)) => Err(trouble.clone().into()),
        _ => Ok(()),
    }
}

/// What a training begins with.
pub(crate) struct Prepared {
    /// The map that rows go through, fitted to them.
    pub(crate) map: Option<Arc<dyn FeatureMap>>,
    /// What is learned from in place of the data set, if rows are changed once for all epochs.
    pub(crate) changed: Option<Dataset>,
    /// What the learner was built for.
    pub(crate) shape: Shape,
    pub(crate) learner: Box<dyn Learner>,
}

/// Fits what is fitted to the rows, and builds the learner that `spec` describes for them.
pub(crate) fn prepare(
    spec: &Spec,
    data: &mut RowSource<'_>,
    rows: &[u32],
    start: Option<&Start>,
) -> Result<Prepared, Error> {
    let options = spec.options();
    let (width, labels) = (data.width(), data.labels().clone());
    let class_weights = class_weights(&options.class_weights, &labels, data.classes(), rows)?;
    let map = spec.map().map(|choice| mapped::fit(&choice, data, rows)).transpose()?;
    let kernel = match spec.kernel() {
        Some(kernel) => {
            let (outline, _) = mapped::outline(data, rows, &[])?;
            Some(kernel.choice().kernel(&outline)?)
        }
        None => None,
    };
    if kernel.is_some() && start.is_some() {
        return Err(Error::StartBesideKernel);
    }
    // What is in memory is mapped, or freed of its zeros, once for all epochs.
    let changed = match (data.dataset(), &map) {
        (Some(data), Some(map)) => Some(mapped::map_dataset(&**map, data)?),
        (Some(data), None) if kernel.is_none() && options.epochs >= WORTH_A_TWIN => data.sparse_twin(),
        _ => None,
    };
    let seen = changed.as_ref().or(data.dataset());
    let shape = Shape {
        width: map.as_ref().map_or(width, |map| map.size()),
        class_weights,
        start: start.cloned(),
        kernel,
        n_rows: seen.map(Dataset::len),
        n_visits: Some(rows.len()),
        targets: match spec.task() {
            Task::Numbers => Some(Units::of(data, rows)?.scaled),
            _ => None,
        },
    };
    let learner = build(spec, labels.len(), shape.clone())?;
    check_permutation(&spec.order(), data.classes().len(), rows)?;
    Ok(Prepared { map, changed, shape, learner })
}

/// Which rows of the source the support vectors of a kernel are: the first that equals each. Nothing without a kernel.
fn support_numbers(kept: &Kept, data: &mut RowSource<'_>, train_rows: &[u32]) -> Result<Vec<u64>, Error> {
    /// The values that are not zero.
    type Key = Vec<(usize, u64)>;
    fn key(entries: impl Iterator<Item = (usize, f64)>) -> Key {
        entries
            .filter(|(_, value)| *value != 0.0)
            .map(|(feature, value)| (feature, value.to_bits()))
            .collect()
    }
    let Some(expansion) = expansion(kept) else { return Ok(Vec::new()) };
    let rows = expansion.rows();
    let supports = 0..rows.len() as u32;
    let mut found = Vec::new();
    if expansion.kernel().by_number() {
        let number = |row: u32| rows.entries(row).find(|(_, one)| *one != 0.0).map(|(number, _)| number);
        found.extend(supports.filter_map(|row| Some((row as usize, number(row)?))));
    } else {
        let mut wanted: HashMap<Key, usize> =
            supports.map(|row| (key(rows.entries(row)), row as usize)).collect();
        let flow = data.each_block(train_rows, |first, view, places| {
            visit!(view, examples => {
                let support = |place: usize| wanted.remove(&key(examples.row(place).entries()));
                let mut support = support;
                let here = places.iter().map(|&place| place as usize);
                found.extend(here.filter_map(|place| Some((support(place)?, first + place))));
            });
            ControlFlow::<()>::Continue(())
        })?;
        debug_assert!(flow.is_continue(), "nothing stops it");
    }
    let mut numbers = vec![None; rows.len()];
    for (support, row) in found {
        numbers[support] = Some(data.number(row) as u64);
    }
    Ok(numbers.into_iter().collect::<Option<_>>().unwrap_or_default())
}

/// A model that knows nothing of where it comes from.
pub(crate) fn hypothesis(
    spec: &Spec,
    labels: &Labels,
    map: Option<Arc<dyn FeatureMap>>,
    kept: Kept,
) -> Model {
    Model {
        spec: spec.clone(),
        labels: labels.clone(),
        feature_names: None,
        schema: None,
        map,
        kept,
        training_summary: training_summary(0, Totals::default(), Stopped::Epochs, None),
        calibration: None,
        provenance: Provenance::default(),
    }
}

/// The rest of an epoch over rows on disk: what follows the place that the learner has come to.
fn epoch(
    learner: &mut dyn Learner,
    mut mapper: Option<&mut Mapper>,
    data: &mut RowSource<'_>,
    rows: &[u32],
    observer: &mut dyn Observer,
) -> Result<ControlFlow<Option<Stopped>>, Error> {
    let mut place = learner.place();
    let flow = data.each_block(rows.get(place..).unwrap_or_default(), |_, view, listed| {
        if listed.is_empty() {
            return ControlFlow::Continue(());
        }
        observer.pause(&learner.totals(), &*learner).map_break(|()| Ok(None))?;
        place += listed.len();
        learner.set_place(place);
        let visits = if listed.len() == view.len() {
            Visits::Range { first: 0, end: view.len() }
        } else {
            Visits::Listed(listed)
        };
        match learner.feed(mapper.as_deref_mut(), view, visits, observer) {
            Ok(flow) => flow.map_break(|stopped| Ok(Some(stopped))),
            Err(error) => ControlFlow::Break(Err(error)),
        }
    })?;
    learner.check_finite(learner.totals().epochs + 1, None)?;
    Ok(match flow {
        ControlFlow::Continue(()) => ControlFlow::Continue(()),
        ControlFlow::Break(why) => ControlFlow::Break(why?),
    })
}

/// Whether rows that come and go, in their order, are enough for what is wished.
pub fn check_order(spec: &Spec) -> Result<(), Error> {
    let refuse = |name, expected, found: String| Err(Error::NotOnDisk { name, expected, found });
    if spec.order() != Order::Given {
        return refuse("order", "given", spec.order().to_string());
    }
    let info = spec.entry().info;
    if info.exempt.iter().any(|(law, _)| *law == Law::HalfEpochs) {
        let expected = "one that learns row by row";
        return refuse("algorithm", expected, info.name.to_owned());
    }
    if let Some(info) = spec.kernel_info().filter(|info| info.by_number) {
        return refuse("kernel", "a function of rows", info.name.to_owned());
    }
    if spec.readout() == Readout::Pocket && spec.options().ratchet {
        return refuse("ratchet", "false, as it counts errors on all rows,", "true".to_owned());
    }
    Ok(())
}

/// Brings a fresh learner, which is to make `n_epochs` epochs of this many visits, to where the checkpoint
/// stood.
fn restore(
    learner: &mut dyn Learner,
    n_epochs: u64,
    visits: usize,
    watching: Option<&mut Watched>,
    checkpoint: Checkpoint,
) -> Result<(), Error> {
    let refuse = |what: String| Err(Error::BadCheckpoint { what });
    learner.restore(checkpoint.state)?;
    let Totals { epochs, rounds, .. } = learner.totals();
    // Whole, but made up: a run cannot have seen more rows than there were.
    if epochs > n_epochs || u128::from(rounds) > (u128::from(epochs) + 1) * visits as u128 {
        return refuse(format!("{rounds} rounds cannot have been made in {epochs} epochs"));
    }
    let watched = checkpoint.watched;
    if watched.as_ref().map_or(0, |watched| watched.errors.len() as u64)
        != watching.as_ref().map_or(0, |_| epochs)
    {
        return refuse("the validation set was not asked after every epoch".to_owned());
    }
    if let (Some(watching), Some(watched)) = (watching, watched) {
        *watching = watched;
    }
    Ok(())
}

/// Where a run whose weights overflow does so, epoch and row: it is made once more, and watched.
fn overflow(
    spec: &Spec,
    data: &Dataset,
    plan: &Plan<'_>,
    shape: Shape,
) -> Result<Option<(u64, usize)>, Error> {
    struct Watch(Option<(u64, usize)>);
    impl Observer for Watch {
        fn wants_rounds(&self) -> bool {
            true
        }
        fn round(&mut self, round: &Round<'_>) -> ControlFlow<()> {
            // The square of the norm overflows before the weights do, and is at hand.
            if round.step.is_none() || round.norm2.is_finite() {
                return ControlFlow::Continue(());
            }
            let is_finite = (0..round.hypothesis.n_outputs()).all(|output| {
                let weights = round.hypothesis.weights(output);
                weights.iter().chain([&round.hypothesis.bias(output)]).all(|weight| weight.is_finite())
            });
            if is_finite {
                return ControlFlow::Continue(());
            }
            self.0 = Some((round.epoch, round.row));
            ControlFlow::Break(())
        }
    }
    let mut watch = Watch(None);
    let _ = build(spec, data.labels().len(), shape)?.fit(data.view(), plan, &mut watch);
    Ok(watch.0)
}

/// Builds the learner, unless its weights alone would be too large.
pub(crate) fn build(spec: &Spec, n_classes: usize, shape: Shape) -> Result<Box<dyn Learner>, Error> {
    if shape.kernel.is_none() {
        check_room(spec, n_classes, shape.width)?;
    }
    learner::build(spec, n_classes, shape)
}

/// Refuses weights that would be too large.
pub(crate) fn check_room(spec: &Spec, n_classes: usize, width: usize) -> Result<(), Error> {
    let outputs = spec.n_outputs(n_classes);
    let needed = width as u128 * outputs as u128 * 8;
    if needed > MOST_WEIGHT_BYTES {
        return Err(Error::TooLarge { features: width, outputs, needed });
    }
    Ok(())
}

/// Refuses a permutation of other rows than these.
fn check_permutation(order: &Order, n_rows: usize, rows: &[u32]) -> Result<(), Error> {
    if let Order::Permutation(listed) = order
        && (listed.iter().any(|&row| row as usize >= n_rows) || !order.covers(rows))
    {
        let expected =
            "a permutation that lists every row to learn from by its number, from 0 on, and no other";
        let found = format!("a list of {} for rows 0 to {}", listed.len(), n_rows.saturating_sub(1));
        return refuse("order", expected, found);
    }
    Ok(())
}

/// Refuses rows of a single class, or none.
pub(crate) fn two_classes(labels: &Labels, classes: &[u32], rows: &[u32]) -> Result<(), Error> {
    let Some(&first) = rows.first() else { return Err(Error::NoRows) };
    let class = classes[first as usize];
    if labels.len() < 2 || rows.iter().all(|&row| classes[row as usize] == class) {
        return Err(Error::OneClass { found: Some(labels.name(class).to_owned()) });
    }
    Ok(())
}

fn class_weights(
    asked: &ClassWeights,
    labels: &Labels,
    classes: &[u32],
    rows: &[u32],
) -> Result<Vec<f64>, Error> {
    let mut counts = vec![0_u64; labels.len()];
    if *asked == ClassWeights::Balanced {
        for &row in rows {
            counts[classes[row as usize] as usize] += 1;
        }
    }
    weights_by_counts(asked, labels, &counts)
}

/// How much each class counts where it has this many rows; nothing if all count alike.
pub(crate) fn weights_by_counts(
    asked: &ClassWeights,
    labels: &Labels,
    counts: &[u64],
) -> Result<Vec<f64>, Error> {
    match asked {
        ClassWeights::Even => Ok(Vec::new()),
        ClassWeights::Balanced => {
            let share = counts.iter().sum::<u64>() as f64 / labels.len() as f64;
            let weight = |&count: &u64| if count == 0 { 1.0 } else { share / count as f64 };
            Ok(counts.iter().map(weight).collect())
        }
        ClassWeights::Given(weights) => {
            let mut by_class = vec![1.0; labels.len()];
            for (name, weight) in weights {
                let class = labels.class(name).ok_or_else(|| Error::UnknownClass {
                    name: name.clone(),
                    known: labels.names().to_vec(),
                })?;
                by_class[class as usize] = *weight;
            }
            Ok(by_class)
        }
    }
}

/// Watches the error on the validation set, keeps the best read-out, and stops when it no longer gets better.
struct Patience<'a> {
    rows: &'a [u32],
    /// How many epochs without progress are endured.
    limit: u64,
    watched: Watched,
}

/// A mark that costs a look at how rows are read, taken when it is wanted.
struct LazyMark<'a> {
    mark: Option<Mark>,
    make: &'a dyn Fn() -> Mark,
}

impl LazyMark<'_> {
    fn get(&mut self) -> &Mark {
        self.mark.get_or_insert_with(self.make)
    }
}

/// Asks the validation set after every epoch, and the checkpointer all the time.
struct Keeping<'a, 's, 'k, 'm> {
    spec: &'a Spec,
    /// The rows as the learner sees them, unless they go through the map on their way.
    source: &'a RefCell<RowSource<'s>>,
    map: Option<Arc<dyn FeatureMap>>,
    patience: Option<Patience<'a>>,
    checkpointer: Option<&'k mut dyn Checkpointer>,
    mark: LazyMark<'m>,
    /// Whether the checkpointer asked to stop, or why the validation set could not be asked.
    ended: Result<bool, Error>,
}

impl Observer for Keeping<'_, '_, '_, '_> {
    fn pause(&mut self, so_far: &Totals, run: &dyn Snapshot) -> ControlFlow<()> {
        let watched = self.patience.as_ref().map(|patience| &patience.watched);
        let encode = || encode_checkpoint(self.spec, self.mark.get(), &run.state(), watched);
        if !keep(&mut self.checkpointer, so_far, encode) {
            return ControlFlow::Continue(());
        }
        self.ended = Ok(true);
        ControlFlow::Break(())
    }

    fn epoch(&mut self, epoch: &Epoch, run: &dyn Snapshot) -> ControlFlow<()> {
        let Some(patience) = &mut self.patience else { return ControlFlow::Continue(()) };
        let Some(kept) = run.read(self.spec.readout()) else { return ControlFlow::Continue(()) };
        let mut source = self.source.borrow_mut();
        let model = hypothesis(self.spec, source.labels(), self.map.clone(), kept);
        let mut errors = 0;
        let count = |truth, predicted, _: &[f64]| errors += u64::from(truth != predicted);
        if let Err(error) = each_prediction(&model, &mut source, patience.rows, &mut || false, count) {
            self.ended = Err(error);
            return ControlFlow::Break(());
        }
        let n_without_progress = patience.watched.note(epoch.number, errors, model.kept);
        if n_without_progress >= patience.limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::KernelOptions;
    use crate::{Online, Options, evaluate};
    use rosenblatt_core::Readout;
    use rosenblatt_kernel::Setting;
    use std::collections::BTreeMap;

    fn with_kernel(name: &str, readout: Readout) -> Spec {
        let kernel = Some(KernelOptions { name: name.to_owned(), ..KernelOptions::default() });
        Spec::new(Options { kernel, readout: Some(readout), ..Options::default() }).unwrap()
    }

    #[test]
    fn every_kernel_learns_what_no_hyperplane_can() {
        let mut random = rosenblatt_core::Random::new(2);
        let rows: Vec<[f64; 2]> = (0..200).map(|_| [random.unit() * 2.0, random.unit() * 2.0]).collect();
        let names: Vec<&str> =
            rows.iter().map(|[x, y]| if (*x > 1.0) == (*y > 1.0) { "same" } else { "other" }).collect();
        let data = Dataset::from_rows(&rows, &names);
        for name in ["poly", "rbf", "laplacian"] {
            for readout in [Readout::Last, Readout::Averaged(rosenblatt_core::Average::Post), Readout::Voted]
            {
                let model = train(&with_kernel(name, readout), &data).unwrap();
                let error = evaluate(&model, &data).unwrap().error();
                // The last hypothesis hangs on the rows that came last.
                let most = if readout == Readout::Last { 0.2 } else { 0.1 };
                assert!(error < most, "{name} {readout}: {error}");
                let one = model.predict(&rows[0]).unwrap();
                assert_eq!(
                    one,
                    model.labels().name(model.predict_all(&data).unwrap()[0]),
                    "alone as in company"
                );
            }
        }
        let linear = train(&Spec::default(), &data).unwrap();
        assert!(evaluate(&linear, &data).unwrap().error() > 0.2);
        // One example at a time, in their order, is one epoch, if nothing follows from all rows.
        let params = BTreeMap::from([("gamma".to_owned(), Setting::Number(1.0))]);
        let given = Options {
            order: Some(Order::Given),
            epochs: 1,
            kernel: Some(KernelOptions { params, ..KernelOptions::default() }),
            ..with_kernel("poly", Readout::Last).options().clone()
        };
        let spec = Spec::new(given).unwrap();
        let whole = train(&spec, &data).unwrap();
        let mut online = Online::new(spec, data.labels().names()).unwrap();
        for (row, name) in rows.iter().zip(&names) {
            online.learn(row, name).unwrap();
        }
        assert_eq!(online.model().unwrap().kept(), whole.kept());
    }

    #[test]
    fn an_order_that_does_not_fit_the_rows_is_refused() {
        let data = Dataset::from_rows(&[[1.0, -1.0], [2.0, 1.0], [0.5, 3.0]], &["a", "b", "a"]);
        let fitted = |rows: &[u32]| {
            let order = Some(Order::Permutation(rows.to_vec()));
            train(&Spec::new(Options { order, ..Options::default() }).unwrap(), &data)
        };
        assert!(fitted(&[2, 0, 1]).is_ok());
        for rows in [&[7, 8, 9][..], &[0, 1], &[0, 1, 2, 3], &[]] {
            let message = fitted(rows).unwrap_err().to_string();
            assert!(message.contains("lists every row") && message.contains("for rows 0 to 2"), "{message}");
        }
    }

    #[test]
    fn kernels_that_do_not_suit_the_data_are_refused() {
        let data = Dataset::from_rows(&[[1.0, -1.0], [2.0, 1.0], [0.5, 3.0]], &["a", "b", "a"]);
        let refused = |name: &str| train(&with_kernel(name, Readout::Last), &data).unwrap_err().to_string();
        assert!(refused("precomputed").contains("3 rows of 2 columns"));
        assert!(refused("intersection").contains("feature 1 of row 0 is -1"));
        let start = Training::new(&with_kernel("rbf", Readout::Last), &data)
            .start(rosenblatt_core::Hyperplanes::zero(2, 1))
            .run(&mut ());
        assert_eq!(start.unwrap_err(), Error::StartBesideKernel);
        let long = Dataset::from_rows(&[[1e200, 1.0], [1.0, 2.0]], &["a", "b"]);
        let message = train(&with_kernel("poly", Readout::Last), &long).unwrap_err().to_string();
        assert!(message.contains("overflow") && message.contains("unit norm"), "{message}");
        let online = Online::new(with_kernel("rbf", Readout::Last), ["a", "b"]);
        assert!(online.err().unwrap().to_string().contains("a number where the rows are not known"));
    }

    #[test]
    fn rows_of_many_zeros_are_learned_from_as_if_they_had_been_sparse() {
        let mut random = rosenblatt_core::Random::new(5);
        let rows: Vec<Vec<f64>> = (0..300)
            .map(|_| (0..40).map(|_| if random.below(8) == 0 { random.unit() - 0.3 } else { 0.0 }).collect())
            .collect();
        for n_classes in [2, 4] {
            let names: Vec<String> = (0..300).map(|_| random.below(n_classes).to_string()).collect();
            let dense = Dataset::from_rows(&rows, &names);
            let sparse = dense.sparse_twin().expect("seven of eight values are zero");
            for (algorithm, epochs) in [("perceptron", 2), ("perceptron", 5), ("pa1", 5), ("arow", 4)] {
                let algorithm = algorithm.to_owned();
                let spec = Spec::new(Options { algorithm, epochs, ..Options::default() }).unwrap();
                let [dense, sparse] = [&dense, &sparse].map(|data| train(&spec, data).unwrap().to_bytes());
                assert!(dense == sparse, "{n_classes} classes, {epochs} epochs");
            }
        }
    }
}
