//! From a description and data to a model.

use crate::error::Error;
use crate::evaluate::count_wrong;
use crate::fingerprint::fingerprint;
use crate::learner::{Learner, Shape};
use crate::mapped;
use crate::model::{
    Checkpoint, Mark, Model, Provenance, Story, Validated, Watched, encode_checkpoint, reading,
};
use crate::spec::{ClassWeights, Spec};
use crate::split::split_rows;
use rosenblatt_core::memory::Kept;
use rosenblatt_core::observer::{Round, Snapshot};
use rosenblatt_core::{Examples, Observer, Order, Pass, Plan, Planes, Row, Stopped, Totals};
use rosenblatt_data::{Dataset, Labels, Schema, View, Visitor};
use rosenblatt_kernel::{Kernel, Outline};
use std::cell::OnceCell;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The most bytes the weights of one hypothesis may take. Feature numbers come from files, and a
/// single large one must not be able to exhaust the machine.
pub(crate) const MOST_WEIGHT_BYTES: u128 = 2 << 30;

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
pub fn train(spec: &Spec, data: &Dataset) -> Result<Model, Error> {
    Training::new(spec, data).run(&mut ())
}

/// A training with everything that may be said about it.
pub struct Training<'a> {
    spec: &'a Spec,
    data: &'a Dataset,
    rows: Option<&'a [u32]>,
    start: Option<Planes>,
    schema: Option<Arc<Schema>>,
    checkpoint: Option<Checkpoint>,
    keeper: Option<&'a mut dyn Keeper>,
    fingerprint: Option<&'a str>,
}

/// Someone who keeps checkpoints of a training, and may stop it.
pub trait Keeper {
    /// What is wanted now. Asked before every pass and again and again during it.
    fn wants(&mut self, so_far: &Totals) -> Wants;

    /// The checkpoint that was wanted, to be kept somewhere.
    fn keep(&mut self, checkpoint: &[u8]);
}

/// What a [`Keeper`] wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wants {
    /// That training goes on.
    Nothing,
    /// A checkpoint.
    Checkpoint,
    /// A checkpoint, and that training stops.
    Stop,
}

impl<'a> Training<'a> {
    /// Trains what `spec` describes on `data`.
    pub fn new(spec: &'a Spec, data: &'a Dataset) -> Self {
        let (rows, start, schema, checkpoint, keeper, fingerprint) = (None, None, None, None, None, None);
        Self { spec, data, rows, start, schema, checkpoint, keeper, fingerprint }
    }

    /// Learns from these rows only.
    #[must_use]
    pub fn rows(self, rows: &'a [u32]) -> Self {
        Self { rows: Some(rows), ..self }
    }

    /// Starts from these hyperplanes instead of zero.
    #[must_use]
    pub fn start(self, planes: Planes) -> Self {
        Self { start: Some(planes), ..self }
    }

    /// The model shall expect data of this schema.
    #[must_use]
    pub fn schema(self, schema: Arc<Schema>) -> Self {
        Self { schema: Some(schema), ..self }
    }

    /// Goes on from where an earlier run of the same description on the same data stood. The model is
    /// then the same, to the bit, as if that run had never stopped.
    #[must_use]
    pub fn resume(self, checkpoint: Checkpoint) -> Self {
        Self { checkpoint: Some(checkpoint), ..self }
    }

    /// Hands checkpoints to `keeper` whenever it wants one.
    #[must_use]
    pub fn keeper(self, keeper: &'a mut dyn Keeper) -> Self {
        Self { keeper: Some(keeper), ..self }
    }

    /// The [`fingerprint`](crate::fingerprint()) of the data, if it is known already: it is found by a look at
    /// all rows otherwise.
    #[must_use]
    pub fn fingerprint(self, known: &'a str) -> Self {
        Self { fingerprint: Some(known), ..self }
    }

    /// Trains, watched by `observer`.
    pub fn run(self, observer: &mut dyn Observer) -> Result<Model, Error> {
        let Self { spec, data, rows, start, schema, checkpoint, keeper, fingerprint: known } = self;
        let all: Vec<u32>;
        let rows = if let Some(rows) = rows {
            rows
        } else {
            all = (0..data.len() as u32).collect();
            &all
        };
        check(data, rows)?;
        let options = spec.options();
        let held_back = options.validation.map(|held| {
            let (train, held_rows) = split_rows(data.classes(), rows, held.fraction, options.seed);
            (train, held_rows, held.patience)
        });
        let train_rows = held_back.as_ref().map_or(rows, |(train, ..)| train);
        if train_rows.is_empty() {
            return Err(Error::NoRows);
        }
        let values = OnceCell::new();
        let values = || values.get_or_init(|| known.map_or_else(|| fingerprint(data), str::to_owned));
        let mark = || {
            let shape = (data.len(), data.width(), data.labels());
            let reading = reading(schema.as_deref(), data.feature_names());
            Mark::new(shape, values(), train_rows, start.as_ref(), reading)
        };
        let mut mark = LazyMark { mark: None, make: &mark };
        if let Some(checkpoint) = &checkpoint {
            checkpoint.check(spec, mark.get())?;
        }
        let map = spec.map().map(|choice| mapped::fit(&choice, data.view(), train_rows)).transpose()?;
        let mapped = map.as_deref().map(|map| mapped::map_dataset(map, data)).transpose()?;
        let is_worth = mapped.is_none() && spec.kernel().is_none() && options.epochs >= WORTH_A_TWIN;
        let twin = if is_worth { data.sparse_twin() } else { None };
        let seen = mapped.as_ref().or(twin.as_ref()).unwrap_or(data);
        let shape = Shape {
            width: seen.width(),
            class_weights: class_weights(&options.class_weights, data.labels(), data.classes(), train_rows)?,
            start: start.clone(),
            kernel: kernel_for(spec, data, train_rows)?,
        };
        if shape.kernel.is_some() && start.is_some() {
            return Err(Error::StartBesideKernel);
        }
        let same_again = shape.clone();
        let mut learner = build(spec, data.labels().len(), shape)?;
        let order = spec.order();
        let plan = Plan {
            rows: Some(train_rows),
            order: &order,
            seed: options.seed,
            epochs: options.epochs,
            max_updates: options.max_updates,
            stop_when_clean: options.stop_when_clean,
        };
        let mut patience = held_back.as_ref().map(|(_, held_rows, limit)| Patience {
            spec,
            data: seen,
            held_rows,
            limit: *limit,
            watched: Watched::default(),
        });
        if let Some(checkpoint) = checkpoint {
            let watched = patience.as_mut().map(|patience| &mut patience.watched);
            let visits = match plan.order {
                Order::Permutation(order) => order.len(),
                _ => train_rows.len(),
            };
            restore(&mut *learner, plan.epochs, visits, watched, checkpoint)?;
        }
        let mut watch = Keeping { spec, patience, keeper, mark, has_stopped: false };
        let stopped = learner.fit(seen.view(), &plan, &mut (observer, &mut watch));
        if watch.has_stopped {
            return Err(Error::Interrupted { epoch: learner.totals().epochs + 1 });
        }
        if !learner.is_finite() {
            return Err(overflow(spec, seen, &plan, same_again, learner.totals().epochs)?);
        }
        let best = watch.patience.and_then(Patience::finish);
        let model = finish(spec, data, train_rows.len(), &*learner, stopped, best);
        let model = Model { provenance: Provenance::of_data(values().clone()), map, ..model };
        Ok(match schema {
            Some(schema) => model.with_schema(schema),
            None => model,
        })
    }
}

/// Brings a fresh learner, which is to make so many passes of so many visits, to where the checkpoint stood.
pub(crate) fn restore(
    learner: &mut dyn Learner,
    n_epochs: u64,
    visits: usize,
    watching: Option<&mut Watched>,
    checkpoint: Checkpoint,
) -> Result<(), Error> {
    let refuse = |what: String| Err(Error::BadCheckpoint { what });
    if let Err(error) = learner.restore(checkpoint.state) {
        return refuse(error.to_string());
    }
    let Totals { epochs, rounds, .. } = learner.totals();
    // Whole, but made up: nobody can have seen more rows than there were.
    if epochs > n_epochs || u128::from(rounds) > (u128::from(epochs) + 1) * visits as u128 {
        return refuse(format!("{rounds} rounds cannot have been made in {epochs} passes"));
    }
    let watched = checkpoint.watched;
    if watched.as_ref().map_or(0, |watched| watched.errors.len() as u64)
        != watching.as_ref().map_or(0, |_| epochs)
    {
        return refuse("the rows held back were not asked after every pass".to_owned());
    }
    if let (Some(watching), Some(watched)) = (watching, watched) {
        *watching = watched;
    }
    Ok(())
}

/// Says where a run whose weights overflowed within so many passes did so: it is made once more, and watched.
fn overflow(
    spec: &Spec,
    data: &Dataset,
    plan: &Plan<'_>,
    shape: Shape,
    n_epochs: u64,
) -> Result<Error, Error> {
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
            let is_finite = (0..round.hypothesis.n_scorers()).all(|scorer| {
                let weights = round.hypothesis.weights(scorer);
                weights.iter().chain([&round.hypothesis.bias(scorer)]).all(|weight| weight.is_finite())
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
    let (epoch, row) = watch.0.map_or((n_epochs, None), |(epoch, row)| (epoch, Some(row)));
    Ok(Error::Overflow { epoch, row })
}

fn finish(
    spec: &Spec,
    data: &Dataset,
    rows: usize,
    learner: &dyn Learner,
    stopped: Stopped,
    best: Option<(Kept, Validated)>,
) -> Model {
    let (kept, validation) = match best {
        Some((kept, validated)) => (Some(kept), Some(validated)),
        None => (learner.read(spec.readout()), None),
    };
    Model {
        spec: spec.clone(),
        labels: data.labels().clone(),
        feature_names: data.feature_names().map(<[String]>::to_vec),
        schema: None,
        map: None,
        kept: kept.expect("learners remember what their spec reads out"),
        story: Story { rows, totals: learner.totals(), stopped, validation, held_out: None, folds: None },
        calibration: None,
        provenance: Provenance::default(),
    }
}

/// Builds the learner, unless its weights alone would be too large.
pub(crate) fn build(spec: &Spec, n_classes: usize, shape: Shape) -> Result<Box<dyn Learner>, Error> {
    let scorers = spec.n_scorers(n_classes);
    let needed = shape.width as u128 * scorers as u128 * 8;
    if needed > MOST_WEIGHT_BYTES && shape.kernel.is_none() {
        return Err(Error::TooLarge { features: shape.width, scorers, needed });
    }
    (spec.entry().build)(spec, n_classes, shape)
}

/// The kernel that `spec` asks for, as it suits these rows.
fn kernel_for(spec: &Spec, data: &Dataset, rows: &[u32]) -> Result<Option<Arc<dyn Kernel>>, Error> {
    struct Look<'a>(&'a [u32]);
    impl Visitor for Look<'_> {
        type Output = Outline;
        fn visit<E: Examples>(self, examples: E) -> Outline {
            Outline::of(examples, self.0)
        }
    }
    let Some(options) = spec.kernel() else { return Ok(None) };
    Ok(Some(options.choice().kernel(&data.visit(Look(rows)))?))
}

/// So many passes make up for a copy of the rows without their zeros.
const WORTH_A_TWIN: u64 = 3;

/// Rows, two classes, and nothing but numbers.
fn check(data: &Dataset, rows: &[u32]) -> Result<(), Error> {
    two_classes(data.labels(), data.classes(), rows)?;
    check_finite(data.view())
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

/// Refuses values that are not finite numbers, naming the first.
pub(crate) fn check_finite(rows: View<'_>) -> Result<(), Error> {
    struct Finite;
    impl Visitor for Finite {
        type Output = Result<(), Error>;
        fn visit<E: Examples>(self, examples: E) -> Result<(), Error> {
            if examples.all_finite() {
                return Ok(());
            }
            for row in 0..examples.len() {
                let culprit = examples.row(row).entries().find(|(_, value)| !value.is_finite());
                if let Some((feature, value)) = culprit {
                    return Err(Error::NotFinite { row, feature, value });
                }
            }
            Ok(())
        }
    }
    rows.visit(Finite)
}

pub(crate) fn class_weights(
    asked: &ClassWeights,
    labels: &Labels,
    classes: &[u32],
    rows: &[u32],
) -> Result<Vec<f64>, Error> {
    match asked {
        ClassWeights::Even => Ok(Vec::new()),
        ClassWeights::Balanced => {
            let mut counts = vec![0_u64; labels.len()];
            for &row in rows {
                counts[classes[row as usize] as usize] += 1;
            }
            let share = rows.len() as f64 / labels.len() as f64;
            Ok(counts.into_iter().map(|count| if count == 0 { 1.0 } else { share / count as f64 }).collect())
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

/// Watches the error on rows held back, keeps the best read-out, and stops when it no longer gets better.
struct Patience<'a> {
    spec: &'a Spec,
    data: &'a Dataset,
    held_rows: &'a [u32],
    /// How many passes without progress are endured.
    limit: u64,
    watched: Watched,
}

impl Patience<'_> {
    fn finish(self) -> Option<(Kept, Validated)> {
        self.watched.finish(self.held_rows.len())
    }

    fn pass(&mut self, pass: &Pass, run: &dyn Snapshot) -> ControlFlow<()> {
        let Some(kept) = run.read(self.spec.readout()) else { return ControlFlow::Continue(()) };
        let errors = count_wrong(self.spec, &kept, self.data, self.held_rows);
        let n_without_progress = self.watched.note(pass.epoch, errors, kept);
        if n_without_progress >= self.limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// A mark that costs a look at all rows, taken when somebody wants it.
struct LazyMark<'a> {
    mark: Option<Mark>,
    make: &'a dyn Fn() -> Mark,
}

impl LazyMark<'_> {
    fn get(&mut self) -> &Mark {
        self.mark.get_or_insert_with(self.make)
    }
}

/// Asks the rows held back after every pass, and the keeper of checkpoints all the time.
struct Keeping<'a, 'k, 'm> {
    spec: &'a Spec,
    patience: Option<Patience<'a>>,
    keeper: Option<&'k mut dyn Keeper>,
    mark: LazyMark<'m>,
    has_stopped: bool,
}

impl Observer for Keeping<'_, '_, '_> {
    fn pause(&mut self, so_far: &Totals, run: &dyn Snapshot) -> ControlFlow<()> {
        let Some(keeper) = &mut self.keeper else { return ControlFlow::Continue(()) };
        let wants = keeper.wants(so_far);
        if wants == Wants::Nothing {
            return ControlFlow::Continue(());
        }
        let watched = self.patience.as_ref().map(|patience| &patience.watched);
        keeper.keep(&encode_checkpoint(self.spec, self.mark.get(), &run.state(), watched));
        self.has_stopped = wants == Wants::Stop;
        if self.has_stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn pass(&mut self, pass: &Pass, run: &dyn Snapshot) -> ControlFlow<()> {
        self.patience.as_mut().map_or(ControlFlow::Continue(()), |patience| patience.pass(pass, run))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KernelOptions, Online, Options, evaluate};
    use rosenblatt_core::Readout;

    fn with_kernel(name: &str, readout: Readout) -> Spec {
        let kernel = Some(KernelOptions { name: name.to_owned(), degree: None, ..KernelOptions::default() });
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
                let error = evaluate(&model, &data).error();
                // The last hypothesis hangs on the rows that came last.
                let most = if readout == Readout::Last { 0.2 } else { 0.1 };
                assert!(error < most, "{name} {readout}: {error}");
                let one = model.predict(&rows[0]).unwrap();
                assert_eq!(one, model.labels().name(model.predict_all(&data)[0]), "alone as in company");
            }
        }
        let linear = train(&Spec::default(), &data).unwrap();
        assert!(evaluate(&linear, &data).error() > 0.2);
        // One example at a time, in their order, is one pass over them.
        let given = Options {
            order: Some(Order::Given),
            epochs: 1,
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
    fn kernels_that_do_not_suit_the_data_are_refused() {
        let data = Dataset::from_rows(&[[1.0, -1.0], [2.0, 1.0], [0.5, 3.0]], &["a", "b", "a"]);
        let refused = |name: &str| train(&with_kernel(name, Readout::Last), &data).unwrap_err().to_string();
        assert!(refused("precomputed").contains("3 rows of 2 columns"));
        assert!(refused("intersection").contains("feature 1 of row 0 is -1"));
        let start =
            Training::new(&with_kernel("rbf", Readout::Last), &data).start(Planes::zero(2, 1)).run(&mut ());
        assert_eq!(start.unwrap_err(), Error::StartBesideKernel);
        let long = Dataset::from_rows(&[[1e200, 1.0], [1.0, 2.0]], &["a", "b"]);
        let said = train(&with_kernel("poly", Readout::Last), &long).unwrap_err().to_string();
        assert!(said.contains("overflow") && said.contains("unit-norm"), "{said}");
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
                assert!(dense == sparse, "{n_classes} classes, {epochs} passes");
            }
        }
    }
}
