//! A run whose rule was chosen by name: static inside, one virtual call per epoch outside.

use crate::error::{Error, refuse};
use crate::mapped::Mapper;
use crate::spec::{Classes, Spec};
use crate::start::{MOST_WEIGHT_BYTES, Start};
use crate::task::Task;
use rosenblatt_core::memory::Kept;
use rosenblatt_core::observer::Snapshot;
use rosenblatt_core::rules::{self, Visit};
use rosenblatt_core::space::Outcome;
use rosenblatt_core::state::{State, StateError};
use rosenblatt_core::{
    Algorithm, Binary, Convention, Decision, Direct, Examples, Hyperplanes, Info, Multiclass, Numbers,
    Observer, Plan, Rule, Run, Schedule, Setup, Share, Stopped, Totals, Visits,
};
use rosenblatt_data::{View, Visitor};
#[cfg(not(target_family = "wasm"))]
use rosenblatt_kernel::BudgetSpace;
use rosenblatt_kernel::{Kernel, KernelSpace, Removal};
use rosenblatt_layers::{Descent, Design, NetworkSpace, suited_rate};
use std::ops::ControlFlow;
use std::sync::Arc;

/// A run of some rule for some classes.
pub(crate) trait Learner: Snapshot + Send {
    /// Learns from the rows, epoch by epoch, until the plan says stop.
    fn fit(&mut self, rows: View<'_>, plan: &Plan<'_>, observer: &mut dyn Observer) -> Stopped;

    /// Shows these of the rows once, in their order.
    fn learn(
        &mut self,
        rows: View<'_>,
        visits: Visits<'_>,
        observer: &mut dyn Observer,
    ) -> ControlFlow<Stopped>;

    /// The same for rows that are lent block by block; see [`Run::fit_in_blocks`].
    fn fit_in_blocks(
        &mut self,
        plan: &Plan<'_>,
        observer: &mut dyn Observer,
        epoch: &mut Epoch<'_>,
    ) -> Result<Stopped, Error>;

    /// How many visits of an epoch that is made in blocks are over.
    fn place(&self) -> usize;

    /// Says how many visits of such an epoch are over.
    fn set_place(&mut self, place: usize);

    /// The totals so far.
    fn totals(&self) -> Totals;

    /// Goes on from the state of another.
    fn restore(&mut self, state: State<'_>) -> Result<(), StateError>;

    /// Counts on from these totals, where hyperplanes were mixed; see [`Run::stand_at`].
    fn stand_at(&mut self, totals: Totals, moves: &[u64]) -> bool;

    /// Adds a class after all others, in place; see [`Run::add_class`].
    fn add_class(&mut self) -> bool;

    /// What an average has gathered since then; see [`Run::drift`].
    fn drift(&self) -> Option<Hyperplanes>;

    /// How often each output has moved.
    fn moves(&self) -> Vec<u64>;

    /// Whether all weights are numbers.
    fn is_finite(&self) -> bool;
}

/// How many rows are mapped at once.
const MAPPED_AT_ONCE: usize = 1024;

/// What is the same wherever rows are fed to a learner, and what it learned is taken from it.
impl dyn Learner + '_ {
    /// Shows these of the rows once, in their order: as the map makes them, if there is one on the way.
    pub(crate) fn feed(
        &mut self,
        mapper: Option<&mut Mapper>,
        rows: View<'_>,
        visits: Visits<'_>,
        observer: &mut dyn Observer,
    ) -> Result<ControlFlow<Stopped>, Error> {
        let Some(mapper) = mapper else { return Ok(self.learn(rows, visits, observer)) };
        let range: Vec<u32>;
        let listed = match visits {
            Visits::Listed(listed) => listed,
            Visits::Range { first, end } => {
                range = (first as u32..end as u32).collect();
                &range
            }
        };
        for some in listed.chunks(MAPPED_AT_ONCE) {
            let mapped = mapper.block(rows, some)?;
            let flow = self.learn(mapped, Visits::Range { first: 0, end: mapped.len() }, observer);
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Refuses weights that are no numbers any more, in this epoch.
    pub(crate) fn check_finite(&self, epoch: u64, row: Option<usize>) -> Result<(), Error> {
        if self.is_finite() { Ok(()) } else { Err(Error::Overflow { epoch, row }) }
    }

    /// What `spec` reads out.
    pub(crate) fn kept(&self, spec: &Spec) -> Kept {
        self.read(spec.readout()).expect("learners remember what their spec reads out")
    }
}

/// What shows a learner the rest of an epoch, block by block.
pub(crate) type Epoch<'a> =
    dyn FnMut(&mut dyn Learner, &mut dyn Observer) -> Result<ControlFlow<Option<Stopped>>, Error> + 'a;

/// The outline of the data a learner is built for.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    /// Features.
    pub width: usize,
    /// How much each class counts; empty for all alike.
    pub class_weights: Vec<f64>,
    /// Where to start, if not from zero.
    pub start: Option<Start>,
    /// What takes the place of the product of rows, if anything does.
    pub kernel: Option<Arc<dyn Kernel>>,
    /// How many rows there are, if they stay and keep their numbers.
    pub n_rows: Option<usize>,
    /// How many rows an epoch has, if that is known.
    pub n_visits: Option<usize>,
    /// What is to be predicted, by the class that stands for it, where numbers are learned.
    pub targets: Option<Arc<[f64]>>,
}

/// Builds the learner that `spec` describes for `n_classes` classes: the only place where a name becomes a type.
pub(crate) fn build(spec: &Spec, n_classes: usize, shape: Shape) -> Result<Box<dyn Learner>, Error> {
    struct Named<'a> {
        spec: &'a Spec,
        n_classes: usize,
        shape: Option<Shape>,
        built: Option<Result<Box<dyn Learner>, Error>>,
    }
    impl Visit for Named<'_> {
        fn visit<A: Algorithm>(&mut self) {
            if A::INFO.name == self.spec.entry().info.name
                && let Some(shape) = self.shape.take()
            {
                self.built = Some(build_rule::<A>(self.spec, self.n_classes, shape));
            }
        }
    }
    if spec.entry().network {
        return build_network(spec, n_classes, shape);
    }
    let mut named = Named { spec, n_classes, shape: Some(shape), built: None };
    rules::each(&mut named);
    named.built.expect("every entry but the network's is made from the table of rules")
}

/// The same with rule `A`.
fn build_rule<A: Algorithm>(spec: &Spec, n_classes: usize, shape: Shape) -> Result<Box<dyn Learner>, Error> {
    let rule = A::new(&spec.params())?;
    let options = spec.options();
    if A::INFO.picks_worst && n_classes > 2 && !matches!(options.multiclass, Classes::Direct(_)) {
        return refuse(
            "multiclass",
            "direct-max, direct-uniform or direct-proportional for a rule that picks its own rows",
            options.multiclass,
        );
    }
    if A::INFO.numbers {
        return build_for_numbers(rule, spec, shape);
    }
    if A::INFO.per_row {
        check_per_row(spec, A::INFO.name, n_classes, shape.n_rows)?;
    }
    let kernel = shape.kernel;
    let start = match shape.start {
        Some(Start::Network(_)) => return Err(Error::OtherStart),
        Some(Start::Planes(planes)) => Some(planes),
        None => None,
    };
    let setup = spec.setup(shape.width, start, shape.class_weights);
    if let Some(kernel) = kernel {
        let forgets =
            spec.kernel().filter(|options| options.budget.is_some() && options.removal == Removal::Forgetron);
        if let Some(options) = forgets.filter(|_| n_classes > 2) {
            return refuse(
                "removal",
                "random or projectron for more than two classes, as the forgetron forgets for one output",
                options.removal,
            );
        }
        return with_kernel(Box::new(rule), kernel, spec, n_classes, setup, shape.n_rows);
    }
    one_of_its_kind(rule, spec, n_classes, setup)
}

/// The learner of a rule for numbers.
fn build_for_numbers<A: Algorithm>(rule: A, spec: &Spec, shape: Shape) -> Result<Box<dyn Learner>, Error> {
    let (has, wants) = (spec.task(), Task::Classes);
    let targets = shape.targets.ok_or(Error::OtherTask { has, wants })?;
    if A::INFO.per_row {
        check_per_row(spec, A::INFO.name, 1, shape.n_rows)?;
    }
    if A::INFO.per_pair && shape.width > Info::MOST_PAIRED {
        let expected =
            "svr or lms with more than 4096 features, as this one has a number for every pair of them";
        return refuse("algorithm", expected, A::INFO.name);
    }
    let start = match shape.start {
        Some(Start::Network(_)) => return Err(Error::OtherStart),
        Some(Start::Planes(planes)) => Some(planes),
        None => None,
    };
    let setup = spec.setup(shape.width, start, Vec::new());
    Ok(Box::new(Run::erased(rule, Multiclass::Numbers(Numbers::new(targets)), setup)?))
}

/// The learner of a rule that learns weights: in its own loop if it has one, else in the one of its space.
#[cfg(not(target_family = "wasm"))]
fn one_of_its_kind<A: Algorithm>(
    rule: A,
    spec: &Spec,
    n_classes: usize,
    setup: Setup,
) -> Result<Box<dyn Learner>, Error> {
    if n_classes > 2 {
        Ok(Box::new(Run::erased(rule, spec.options().multiclass.decision(n_classes), setup)?))
    } else if const { A::INFO.own_loop } {
        // Other rules have a virtual call per row, a few nanoseconds, and spare every build from source a minute.
        Ok(Box::new(Run::new(rule, Binary, setup)?))
    } else {
        Ok(Box::new(Run::erased(rule, Binary, setup)?))
    }
}

/// The same for a page, which has to be fetched: one loop per space, whatever the rule and the number of classes.
#[cfg(target_family = "wasm")]
fn one_of_its_kind<A: Algorithm>(
    rule: A,
    spec: &Spec,
    n_classes: usize,
    setup: Setup,
) -> Result<Box<dyn Learner>, Error> {
    Ok(Box::new(Run::erased(rule, spec.options().multiclass.decision(n_classes), setup)?))
}

/// Builds the network that `spec` describes.
fn build_network(spec: &Spec, n_classes: usize, shape: Shape) -> Result<Box<dyn Learner>, Error> {
    let options = spec.options();
    let n_outputs = spec.n_outputs(n_classes);
    let mut design = spec.design()?;
    if let (None, Some(n_visits)) = (&options.rate, shape.n_visits) {
        let per_epoch = n_visits.div_ceil(if design.batch == 0 { usize::MAX } else { design.batch });
        let rate = suited_rate(options.epochs.saturating_mul(per_epoch as u64));
        design.pace.rate = Schedule::Constant(rate);
    }
    let sizes = [&[shape.width], &design.hidden[..], &[n_outputs]].concat();
    // Two numbers beside every weight, and a slope.
    let needed = sizes.windows(2).map(|pair| pair[0] as u128 * pair[1] as u128 * 32).sum();
    if needed > MOST_WEIGHT_BYTES {
        return Err(Error::TooLarge { features: shape.width, outputs: sizes[1], needed });
    }
    let rule: Box<dyn Rule + Send + Sync> = Box::new(Descent(design.loss));
    let class_weights = shape.class_weights.clone();
    let design = Design { class_weights: shape.class_weights, seed: options.seed, ..design };
    let space = match shape.start {
        None => NetworkSpace::new(design, shape.width, n_outputs),
        Some(Start::Network(network)) if network.sizes() == sizes => {
            NetworkSpace::starting_from(network.with_activation(design.activation), design)
        }
        Some(_) => return Err(Error::OtherStart),
    };
    // All classes are learned together, each with its own output.
    let decision = match n_classes {
        2 => Multiclass::Binary(Binary),
        _ => Multiclass::Direct(Direct::new(n_classes, Share::Max)),
    };
    let convention = spec.convention();
    Ok(Box::new(Run::from_parts(rule, space, (), decision, convention, class_weights, options.seed)))
}

/// The most bytes that numbers for every row and output may take.
const MOST_BYTES_PER_ROW: u128 = 4 << 30;

/// Refuses what a rule that keeps a number for every row and output cannot do.
fn check_per_row(
    spec: &Spec,
    name: &'static str,
    n_classes: usize,
    n_rows: Option<usize>,
) -> Result<(), Error> {
    let multiclass = spec.options().multiclass;
    if n_classes > 2 && matches!(multiclass, Classes::Direct(_)) {
        let expected = "one-vs-rest or one-vs-one for a rule that solves one problem per output";
        return refuse("multiclass", expected, multiclass);
    }
    let Some(n_rows) = n_rows else {
        let expected =
            "one that keeps nothing of single rows where they come and go, as this one has a number for each";
        return refuse("algorithm", expected, name);
    };
    let n_numbers = n_rows as u128 * spec.n_outputs(n_classes) as u128;
    if n_numbers * 8 > MOST_BYTES_PER_ROW {
        let expected =
            "one that keeps nothing of single rows, as a number for each row and output would not fit";
        return refuse("algorithm", expected, name);
    }
    Ok(())
}

/// A learner in the space of a kernel. Rule and decision are chosen at run time: kernel values cost far more than
/// that, and the loop is compiled once per space.
fn with_kernel(
    rule: Box<dyn Rule + Send + Sync>,
    kernel: Arc<dyn Kernel>,
    spec: &Spec,
    n_classes: usize,
    setup: Setup,
    n_rows: Option<usize>,
) -> Result<Box<dyn Learner>, Error> {
    let Setup { width, convention, class_weights, seed, .. } = setup;
    let options = spec.kernel().cloned().unwrap_or_default();
    let shape = rosenblatt_core::Shape { width, n_outputs: spec.n_outputs(n_classes), bias: convention.bias };
    match options.budget {
        None => {
            let space = KernelSpace::new(kernel, shape, options.limits());
            let mut space = space.normalised(options.normalised).seeded(seed);
            if let Some(device) = options.device.to_learn(n_rows, width)? {
                space = space.on(device);
            }
            Ok(in_space(space, rule, spec, n_classes, convention, class_weights))
        }
        // A page, which has to be fetched, goes without.
        #[cfg(target_family = "wasm")]
        Some(budget) => {
            let (name, expected) = ("budget", "none in a page");
            refuse(name, expected, budget)
        }
        #[cfg(not(target_family = "wasm"))]
        Some(budget) => {
            let space = BudgetSpace::new(kernel, shape, budget, options.removal, seed);
            Ok(in_space(space, rule, spec, n_classes, convention, class_weights))
        }
    }
}

fn in_space<S: Outcome<Memory = ()> + Send + 'static>(
    space: S,
    rule: Box<dyn Rule + Send + Sync>,
    spec: &Spec,
    n_classes: usize,
    convention: Convention,
    class_weights: Vec<f64>,
) -> Box<dyn Learner> {
    let (decision, seed) = (spec.options().multiclass.decision(n_classes), spec.options().seed);
    Box::new(Run::from_parts(rule, space, (), decision, convention, class_weights, seed))
}

impl<R, S, D> Learner for Run<R, S, D>
where
    R: Rule + Send,
    S: Outcome<Memory: Send> + Send,
    D: Decision + Send,
{
    fn fit(&mut self, rows: View<'_>, plan: &Plan<'_>, observer: &mut dyn Observer) -> Stopped {
        struct Fit<'a, 'p, R, S: Outcome, D> {
            run: &'a mut Run<R, S, D>,
            plan: &'a Plan<'p>,
            observer: &'a mut dyn Observer,
        }
        impl<R: Rule, S: Outcome, D: Decision> Visitor for Fit<'_, '_, R, S, D> {
            type Output = Stopped;
            fn visit<E: Examples>(self, examples: E) -> Stopped {
                self.run.fit(examples, self.plan, self.observer)
            }
        }
        rows.visit(Fit { run: self, plan, observer })
    }

    fn learn(
        &mut self,
        rows: View<'_>,
        visits: Visits<'_>,
        observer: &mut dyn Observer,
    ) -> ControlFlow<Stopped> {
        struct Learn<'a, 'v, R, S: Outcome, D> {
            run: &'a mut Run<R, S, D>,
            visits: Visits<'v>,
            observer: &'a mut dyn Observer,
        }
        impl<R: Rule, S: Outcome, D: Decision> Visitor for Learn<'_, '_, R, S, D> {
            type Output = ControlFlow<Stopped>;
            fn visit<E: Examples>(self, examples: E) -> ControlFlow<Stopped> {
                self.run.learn(examples, self.visits, self.observer)
            }
        }
        rows.visit(Learn { run: self, visits, observer })
    }

    fn fit_in_blocks(
        &mut self,
        plan: &Plan<'_>,
        observer: &mut dyn Observer,
        epoch: &mut Epoch<'_>,
    ) -> Result<Stopped, Error> {
        Run::fit_in_blocks(self, plan, observer, |run, observer| epoch(run, observer))
    }

    fn place(&self) -> usize {
        Run::place(self)
    }

    fn set_place(&mut self, place: usize) {
        Run::set_place(self, place);
    }

    fn totals(&self) -> Totals {
        Run::totals(self)
    }

    fn restore(&mut self, state: State<'_>) -> Result<(), StateError> {
        Run::restore(self, state)
    }

    fn stand_at(&mut self, totals: Totals, moves: &[u64]) -> bool {
        Run::stand_at(self, totals, moves)
    }

    fn add_class(&mut self) -> bool {
        Run::add_class(self)
    }

    fn drift(&self) -> Option<Hyperplanes> {
        Run::drift(self)
    }

    fn moves(&self) -> Vec<u64> {
        Run::moves(self)
    }

    fn is_finite(&self) -> bool {
        self.space().is_finite()
    }
}
