//! From a description and data to a model.

use crate::error::Error;
use crate::evaluate::count_wrong;
use crate::learner::{Learner, Shape};
use crate::model::{Model, Story, Validated};
use crate::spec::{ClassWeights, Spec};
use crate::split::split_rows;
use rosenblatt_core::memory::Kept;
use rosenblatt_core::observer::Snapshot;
use rosenblatt_core::{Examples, Observer, Pass, Plan, Planes, Row, Stopped};
use rosenblatt_data::{Dataset, Labels, View, Visitor};
use std::ops::ControlFlow;

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
/// assert_eq!(model.predict_one(&[3.0, -1.0])?, "dot");
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
}

impl<'a> Training<'a> {
    /// Trains what `spec` describes on `data`.
    pub fn new(spec: &'a Spec, data: &'a Dataset) -> Self {
        Self { spec, data, rows: None, start: None }
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

    /// Trains, watched by `observer`.
    pub fn run(self, observer: &mut dyn Observer) -> Result<Model, Error> {
        let Self { spec, data, rows, start } = self;
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
        let shape = Shape {
            width: data.width(),
            class_weights: class_weights(&options.class_weights, data.labels(), data.classes(), train_rows)?,
            start,
        };
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
        let (stopped, best) = match &held_back {
            None => (learner.fit(data.view(), &plan, observer), None),
            Some((_, held_rows, patience)) => {
                let mut patience =
                    Patience { spec, data, held_rows, limit: *patience, errors: Vec::new(), best: None };
                let stopped = learner.fit(data.view(), &plan, &mut (observer, &mut patience));
                (stopped, patience.finish())
            }
        };
        finish(spec, data, train_rows.len(), &*learner, stopped, best)
    }
}

fn finish(
    spec: &Spec,
    data: &Dataset,
    rows: usize,
    learner: &dyn Learner,
    stopped: Stopped,
    best: Option<(Kept, Validated)>,
) -> Result<Model, Error> {
    if !learner.is_finite() {
        return Err(Error::Overflow { epoch: learner.totals().epochs });
    }
    let (kept, validation) = match best {
        Some((kept, validated)) => (Some(kept), Some(validated)),
        None => (learner.read(spec.readout()), None),
    };
    Ok(Model {
        spec: spec.clone(),
        labels: data.labels().clone(),
        feature_names: data.feature_names().map(<[String]>::to_vec),
        schema: None,
        kept: kept.expect("learners remember what their spec reads out"),
        story: Story { rows, totals: learner.totals(), stopped, validation },
    })
}

/// Builds the learner, unless its weights alone would be too large.
pub(crate) fn build(spec: &Spec, n_classes: usize, shape: Shape) -> Result<Box<dyn Learner>, Error> {
    let scorers = match n_classes {
        2 => 1,
        _ => rosenblatt_core::Decision::n_scorers(&spec.options().multiclass.decision(n_classes)),
    };
    let needed = shape.width as u128 * scorers as u128 * 8;
    if needed > MOST_WEIGHT_BYTES {
        return Err(Error::TooLarge { features: shape.width, scorers, needed });
    }
    (spec.entry().build)(spec, n_classes, shape)
}

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
            for row in 0..examples.len() {
                // A product with zero is zero unless the other factor is no number; only then look closer.
                if examples.row(row).sum(|_, value| value * 0.0) == 0.0 {
                    continue;
                }
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
    errors: Vec<u64>,
    best: Option<(u64, u64, Kept)>,
}

impl Patience<'_> {
    fn finish(self) -> Option<(Kept, Validated)> {
        let (_, best_epoch, kept) = self.best?;
        Some((kept, Validated { rows: self.held_rows.len(), errors: self.errors, best_epoch }))
    }
}

impl Observer for Patience<'_> {
    fn pass(&mut self, pass: &Pass, run: &dyn Snapshot) -> ControlFlow<()> {
        let Some(kept) = run.read(self.spec.readout()) else { return ControlFlow::Continue(()) };
        let errors = count_wrong(self.spec, &kept, self.data, self.held_rows);
        self.errors.push(errors);
        if self.best.as_ref().is_none_or(|(fewest, ..)| errors < *fewest) {
            self.best = Some((errors, pass.epoch, kept));
        }
        let best_epoch = self.best.as_ref().map_or(0, |(_, epoch, _)| *epoch);
        if pass.epoch - best_epoch >= self.limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
