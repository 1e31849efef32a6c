//! A run that is made a few rounds at a time, and looked at in between.

use super::{Beginning, Ending, ReadOut, Trace, TracedRound, Tracer};
use crate::error::Error;
use crate::learner::Learner;
use crate::model::{Model, training_summary};
use crate::rows::RowSource;
use crate::rows::check_finite;
use crate::spec::Spec;
use crate::start::Start;
use crate::train::{Prepared, hypothesis, prepare, two_classes};
use rosenblatt_core::memory::Kept;
use rosenblatt_core::observer::Snapshot;
use rosenblatt_core::{Hyperplanes, Observer, Readout, Stopped, Totals};
use rosenblatt_data::Dataset;
use rosenblatt_kernel::maps::FeatureMap;
use std::collections::HashMap;
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::Arc;

/// How many numbers are kept to notice that weights repeat: those of a run that a person walks through.
const MOST_REMEMBERED: usize = 1 << 20;

/// A run that you move on by as many rounds as you like, and back again.
///
/// It learns what [`crate::train()`] learns without a validation set, to the bit, and is watched as [`super::trace`]
/// watches: weights that come back end it.
///
/// ```
/// use rosenblatt::trace::Walk;
/// use rosenblatt::{Dataset, Options, Spec};
/// use std::sync::Arc;
///
/// let data = Dataset::from_rows(&[[4.0, 0.0], [1.0, 1.0], [0.0, 1.0], [-2.0, -2.0]], &["+", "-", "-", "+"]);
/// let options = Options { order: Some("given".parse()?), readout: Some("last".parse()?), ..Options::default() };
/// let mut walk = Walk::new(Spec::new(options)?, Arc::new(data), None)?;
/// walk.go_to(2)?;
/// assert_eq!(walk.rounds()[0].row, 1);
/// walk.go_to(1)?;
/// assert_eq!(walk.model().planes().map(|planes| planes.entries().collect()), Some(vec![(0, 0, -4.0)]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Walk {
    spec: Spec,
    data: Arc<Dataset>,
    rows: Vec<u32>,
    beginning: Beginning,
    learner: Box<dyn Learner>,
    map: Option<Arc<dyn FeatureMap>>,
    changed: Option<Dataset>,
    tracer: Tracer,
    /// The hyperplanes before the row that was shown last, where weights are what is learned.
    before: Option<Hyperplanes>,
    ending: Option<Ending>,
}

/// Has a run pause after round `until`, and looks at it before that round.
struct Pacer {
    until: u64,
    left: u64,
    /// Whether weights are what is learned, so that there is something to look at.
    looks: bool,
    before: Option<Kept>,
}

impl Observer for Pacer {
    fn pause(&mut self, so_far: &Totals, run: &dyn Snapshot) -> ControlFlow<()> {
        self.left = self.until.saturating_sub(so_far.rounds);
        match self.left {
            0 => return ControlFlow::Break(()),
            1 if self.looks => self.before = run.read(Readout::Last),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn stride(&self) -> usize {
        usize::try_from(self.left.saturating_sub(1).max(1)).unwrap_or(usize::MAX)
    }
}

impl Walk {
    /// A run that has not begun, over `rows` of the data, or over all.
    pub fn new(spec: Spec, data: Arc<Dataset>, rows: Option<Vec<u32>>) -> Result<Self, Error> {
        Self::starting_at(Beginning::default(), spec, data, rows)
    }

    /// The same from other weights than zero.
    pub fn starting_at(
        beginning: Beginning,
        spec: Spec,
        data: Arc<Dataset>,
        rows: Option<Vec<u32>>,
    ) -> Result<Self, Error> {
        spec.check_classes()?;
        let rows = rows.unwrap_or_else(|| (0..data.len() as u32).collect());
        two_classes(data.labels(), data.classes(), &rows)?;
        check_finite(data.view())?;
        let mut source = RowSource::from(&*data);
        let plane = beginning.plane(&spec, &data)?;
        let start = plane.clone().map(Start::from);
        let Prepared { map, changed, learner, shape } = prepare(&spec, &mut source, &rows, start.as_ref())?;
        let (n_classes, outline) = (data.labels().len(), (rows.len(), shape.width));
        let mut tracer = Tracer::new(0..=u64::MAX, &spec, outline, n_classes, plane.as_ref());
        (tracer.only_last, tracer.room) = (true, MOST_REMEMBERED);
        let (before, ending) = (None, None);
        let mut walk = Self { spec, data, rows, beginning, learner, map, changed, tracer, before, ending };
        if !walk.is_plain() {
            // Kernels and networks have no weights that could be compared, and maps too many.
            (walk.tracer.room, walk.tracer.seen) = (0, HashMap::new());
        }
        Ok(walk)
    }

    /// The same run over these rows, at its start.
    fn anew(&self, rows: Vec<u32>) -> Result<Self, Error> {
        Self::starting_at(self.beginning.clone(), self.spec.clone(), Arc::clone(&self.data), Some(rows))
    }

    /// Where it starts.
    pub fn beginning(&self) -> &Beginning {
        &self.beginning
    }

    /// Whether what is learned are weights of the rows' own features.
    fn is_plain(&self) -> bool {
        self.spec.kernel().is_none() && self.map.is_none() && !self.spec.entry().network
    }

    /// What is learned.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The totals so far, as [`super::Trace::totals`] has them in the end.
    pub fn totals(&self) -> Totals {
        if self.tracer.repeats.is_some() { self.tracer.totals } else { self.learner.totals() }
    }

    /// How many rows of the current epoch were shown, and how many it has.
    pub fn place(&self) -> (usize, usize) {
        (self.learner.place(), self.rows.len())
    }

    /// The rounds of the row that was shown last, one for each output that was asked; their features are left out.
    pub fn rounds(&self) -> &[TracedRound] {
        &self.tracer.rounds
    }

    /// The hyperplanes as they were before that row, where weights are what is learned and no map is before them.
    pub fn before(&self) -> Option<&Hyperplanes> {
        self.before.as_ref()
    }

    /// Why the run is over, if it is.
    pub fn ending(&self) -> Option<Ending> {
        self.ending
    }

    /// Goes to the end of round `round`, forwards or backwards; no further than the run goes.
    pub fn go_to(&mut self, round: u64) -> Result<(), Error> {
        if round < self.totals().rounds {
            let rows = std::mem::take(&mut self.rows);
            *self = self.anew(rows)?;
        }
        if self.ending.is_some() || round == self.totals().rounds {
            return Ok(());
        }
        self.fit_to(round)
    }

    /// The whole run from its start, with the rounds in `window`: what [`super::trace`] gives without a validation set.
    pub fn trace(&self, window: RangeInclusive<u64>) -> Result<Trace, Error> {
        super::check(&self.spec)?;
        let mut walk = self.anew(self.rows.clone())?;
        (walk.tracer.window, walk.tracer.only_last) = (window, false);
        walk.fit_to(u64::MAX)?;
        let ending = walk.ending.unwrap_or(Ending::Over(Stopped::Epochs));
        let (totals, read_out) = (walk.totals(), ReadOut::of(&walk.model()));
        Ok(Trace { read_out, ..Trace::new(&walk.spec, &walk.data, walk.tracer.rounds, totals, ending) })
    }

    fn fit_to(&mut self, round: u64) -> Result<(), Error> {
        let order = self.spec.order();
        let plan = self.spec.plan(&order, Some(&self.rows));
        let seen = self.changed.as_ref().unwrap_or(&self.data);
        let mut pacer = Pacer { until: round, left: 1, looks: self.is_plain(), before: None };
        let stopped = self.learner.fit(seen.view(), &plan, &mut (&mut self.tracer, &mut pacer));
        // A run that ended earlier was not looked at.
        self.before = match pacer.before {
            Some(Kept::Hyperplanes(planes)) => Some(planes),
            _ => None,
        };
        let row = self.tracer.rounds.last().map(|round| round.row);
        self.learner.check_finite(self.totals().epochs + 1, row)?;
        let is_over = stopped != Stopped::Observer || self.tracer.repeats.is_some();
        self.ending = is_over.then(|| self.tracer.ending(&self.spec, &self.data, stopped));
        Ok(())
    }

    /// The model that the run would end in now.
    pub fn model(&self) -> Model {
        Model {
            feature_names: self.data.shared_feature_names(),
            training_summary: training_summary(self.rows.len(), self.totals(), Stopped::Observer, None),
            ..hypothesis(&self.spec, self.data.labels(), self.map.clone(), self.learner.kept(&self.spec))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blackboard::{Shape, draw};
    use crate::spec::{KernelOptions, Mapping, Options};
    use crate::trace::trace;
    use crate::train;
    use rosenblatt_data::{Precision, ReadOptions, Source, load_source};

    fn rows(shape: Shape) -> Arc<Dataset> {
        let table = draw(shape, 40, 0.3, 3);
        let how = ReadOptions { precision: Precision::Double, ..ReadOptions::default() };
        Arc::new(load_source(&Source::bytes("rows.csv", table.into_bytes()), &how).unwrap())
    }

    fn options(algorithm: &str) -> Options {
        let (algorithm, order) = (algorithm.to_owned(), "shuffle-epoch".parse().ok());
        Options { algorithm, order, epochs: 4, validation: None, ..Options::default() }
    }

    /// Every kind of learner, among them those that move once per batch and those that score blocks of rows.
    fn specs() -> Vec<Spec> {
        let kernel = Some(KernelOptions { name: "rbf".to_owned(), ..KernelOptions::default() });
        let map = Some(Mapping { size: 16, ..Mapping::default() });
        let in_batches = |name: &str| {
            let mut options = options(name);
            options.params.insert(if name == "mlp" { "batch" } else { "size" }.to_owned(), 7.0);
            options
        };
        let all = [
            options("perceptron"),
            Options { readout: "voted".parse().ok(), ..options("perceptron") },
            Options { readout: "pocket".parse().ok(), ..options("perceptron") },
            Options { kernel, ..options("perceptron") },
            Options { map, ..options("pa1") },
            options("arow"),
            options("svm-dual"),
            Options { order: None, ..options("minover") },
            in_batches("mlp"),
            options("batch"),
        ];
        all.into_iter().map(|options| Spec::new(options).unwrap()).collect()
    }

    #[test]
    fn row_by_row_is_what_training_gives_to_the_bit() {
        for data in [rows(Shape::Noisy), rows(Shape::Three)] {
            for spec in specs() {
                let name = spec.entry().info.name;
                // Rules that pick or solve take several classes in one way each.
                let Ok(trained) = train(&spec, &*data) else { continue };
                for stride in [1, 7, 1000] {
                    let mut walk = Walk::new(spec.clone(), Arc::clone(&data), None).unwrap();
                    while walk.ending().is_none() {
                        walk.go_to(walk.totals().rounds + stride).unwrap();
                    }
                    if matches!(walk.ending(), Some(Ending::Repeats { .. })) {
                        continue;
                    }
                    assert_eq!(walk.totals(), trained.training_summary().totals, "{name} by {stride}");
                    let bits = |model: &Model| -> Vec<u64> {
                        model
                            .decision_function_all(&data)
                            .unwrap()
                            .iter()
                            .map(|score| score.to_bits())
                            .collect()
                    };
                    assert_eq!(bits(&walk.model()), bits(&trained), "{name} by {stride}");
                }
            }
        }
    }

    #[test]
    fn there_and_back_again() {
        let data = rows(Shape::Noisy);
        for spec in specs() {
            let mut walk = Walk::new(spec, Arc::clone(&data), None).unwrap();
            walk.go_to(23).unwrap();
            let (there, scores) =
                (walk.rounds().to_vec(), walk.model().decision_function_all(&data).unwrap());
            walk.go_to(61).unwrap();
            walk.go_to(23).unwrap();
            assert_eq!(walk.rounds(), there);
            assert_eq!(walk.model().decision_function_all(&data).unwrap(), scores);
            walk.go_to(0).unwrap();
            assert!(walk.rounds().is_empty() && walk.totals() == Totals::default());
        }
    }

    #[test]
    fn its_trace_is_the_trace() {
        let data = rows(Shape::Three);
        let spec = Spec::new(options("perceptron")).unwrap();
        let walk = Walk::new(spec.clone(), Arc::clone(&data), None).unwrap();
        assert_eq!(walk.trace(3..=90).unwrap(), trace(&spec, &data, 3..=90).unwrap());
    }
}
