//! A model that goes on learning for as long as rows come: what `train` does online from a saved model, without an end.
//!
//! The rows may come in any number of pieces, and the learner may be left and taken up again in between: the model is
//! that of one run over the whole sequence, to the bit. Nothing here reads, writes or knows a clock.

use super::{Recipe, online, start};
use crate::error::Error;
use crate::model::{Checkpoint, Model};
use crate::online::Online;
use rosenblatt_core::{Readout, Totals};
use rosenblatt_data::{Dataset, Labels, ReadOptions, Schema};
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

/// A model that continues to learn.
pub struct Ongoing {
    learner: Online,
    base: Arc<Model>,
}

impl Ongoing {
    /// Continues from `base` by `recipe`: from its weights, or [`blank`](Recipe::blank); by its own rule, unless the
    /// recipe names another.
    ///
    /// ```
    /// use rosenblatt::builders::AveragedPerceptron;
    /// use rosenblatt::recipe::Ongoing;
    /// use rosenblatt::{Dataset, Recipe};
    /// use std::sync::Arc;
    ///
    /// let fruit = Dataset::from_rows(&[[2.0, 0.1], [0.2, 2.1]], &["apple", "banana"]);
    /// let base = Arc::new(AveragedPerceptron::new().fit(&fruit)?);
    /// let mut ongoing = Ongoing::begin(&Recipe::default(), base)?;
    /// for _ in 0..5 {
    ///     ongoing.learn(&Dataset::from_rows(&[[-2.0, -2.0]], &["orange"]))?;
    /// }
    /// assert_eq!(ongoing.model()?.predict(&[-1.0, -1.5])?, "orange");
    /// assert_eq!(ongoing.totals().rounds, 5);
    /// # Ok::<(), rosenblatt::Error>(())
    /// ```
    pub fn begin(recipe: &Recipe, base: Arc<Model>) -> Result<Self, Error> {
        let recipe = Recipe { online: true, start: Some(Arc::clone(&base)), ..recipe.clone() };
        let recipe = start::from_model(&recipe)?;
        let learner = Online::started(online::spec(&recipe)?, base.labels().clone(), recipe.start_planes())?;
        Ok(Self { learner: named(learner, &base).keeping_track(), base })
    }

    /// Continues from a [snapshot](Ongoing::snapshot), with the same recipe and base.
    pub fn restore(recipe: &Recipe, base: Arc<Model>, snapshot: &[u8]) -> Result<Self, Error> {
        let checkpoint = Checkpoint::from_bytes(snapshot)
            .map_err(|error| Error::BadCheckpoint { what: error.to_string() })?;
        let fresh = Self::begin(recipe, base)?;
        let (mut learner, base) = (fresh.learner, fresh.base);
        if learner.labels().names() != checkpoint.mark.classes {
            learner.take_in(checkpoint.mark.classes.clone())?;
        }
        Ok(Self { learner: learner.go_on(checkpoint)?, base })
    }

    /// The state with which to continue elsewhere.
    pub fn snapshot(&self) -> Option<Vec<u8>> {
        self.learner.checkpoint()
    }

    /// How to read rows with classes.
    #[must_use]
    pub fn reading(base: &Model, how: ReadOptions) -> ReadOptions {
        ReadOptions { grow_classes: true, ..base.to_evaluate(how) }
    }

    /// Learns from every row of `data` once, as they stand, or from none of them if there is an error. Classes are matched by name, and those that are new are
    /// taken in; features that are new, too, where the source numbers them.
    pub fn learn(&mut self, data: &Dataset) -> Result<(), Error> {
        self.learner.learn_named(data.view(), data.labels().names(), 0..data.len())
    }

    /// Why nothing could be learned from `data`, if that is so; otherwise [`Ongoing::learn`] learns from every row.
    pub fn check(&self, data: &Dataset) -> Result<(), Error> {
        self.learner.check_named(data.view(), &self.new_classes(data))
    }

    /// The classes of `data` that it has never seen. One class against all others: none is new.
    pub fn new_classes(&self, data: &Dataset) -> Vec<String> {
        let known = self.learner.labels();
        if known.told_from_rest().is_some() {
            return Vec::new();
        }
        let known: HashSet<&String> = known.names().iter().collect();
        let names = data.labels().names();
        let used: BTreeSet<u32> = data.classes().iter().copied().collect();
        let used = used.into_iter().map(|class| &names[class as usize]);
        used.filter(|name| !known.contains(name)).cloned().collect()
    }

    /// The classes known so far.
    pub fn labels(&self) -> &Labels {
        self.learner.labels()
    }

    /// The totals so far; `errors` of `rounds` is the progressive error.
    pub fn totals(&self) -> Totals {
        self.learner.totals()
    }

    /// Whether the model grows with every update: hypotheses that vote are all kept, and so are the support vectors of
    /// a kernel without a budget.
    pub fn keeps_every_update(&self) -> bool {
        let spec = self.learner.spec();
        let kernel = spec.options().kernel.as_ref();
        spec.readout() == Readout::Voted || kernel.is_some_and(|kernel| kernel.budget.is_none())
    }

    /// A model of what has been learned so far.
    pub fn model(&self) -> Result<Model, Error> {
        let model = self.learner.model()?;
        let Some(schema) = self.base.schema() else { return Ok(model) };
        let mut schema = Schema::clone(schema);
        online::widen(&mut schema, &model);
        Ok(model.with_schema(Arc::new(schema)))
    }
}

/// The learner with names for its features, if the base has some.
fn named(learner: Online, base: &Model) -> Online {
    let names = match base.schema() {
        Some(schema) => schema.feature_names(),
        None => base.feature_names.clone(),
    };
    match names {
        Some(names) => learner.with_feature_names(names),
        None => learner,
    }
}
