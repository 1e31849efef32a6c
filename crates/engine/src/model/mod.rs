//! A trained model: what it knows, and how it came to know it.

mod checkpoint;
mod date;
mod disk;
mod file;
mod kernels;
mod store;

pub use checkpoint::Checkpoint;
pub(crate) use checkpoint::{Mark, Watched, encode as encode_checkpoint, reading};
pub use date::Date;
pub use file::{FormatError, model_checksum};
pub use store::{
    Claim, StoreError, check_writable, previous_path, with_suffix, write_keeping_previous, write_whole,
};

use crate::calibration::Calibration;
use crate::error::Error;
use crate::mapped::Mapper;
use crate::spec::Spec;
use rosenblatt_core::decision::Problem;
use rosenblatt_core::memory::{Ballot, Kept};
use rosenblatt_core::{
    Binary, Decision, Dense, Examples, Multiclass, Planes, Random, Row, Stopped, Totals, Visits, Zero,
};
use rosenblatt_data::{Labels, Schema};
use rosenblatt_kernel::maps::FeatureMap;
use rosenblatt_kernel::{AT_ONCE, Expansion};
use std::any::Any;
use std::sync::Arc;

/// How a run went.
#[derive(Debug, Clone, PartialEq)]
pub struct Story {
    /// Rows it learned from.
    pub rows: usize,
    /// Rounds, mistakes and steps.
    pub totals: Totals,
    /// Why it ended.
    pub stopped: Stopped,
    /// What the held-back rows said, if any were held back.
    pub validation: Option<Validated>,
    /// The share of the data that was set aside before it learned, by [`crate::split`] with its own seed.
    pub held_out: Option<f64>,
    /// Over how many folds the same training was cross-validated before.
    pub folds: Option<usize>,
}

/// What held-back rows said of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Validated {
    /// How many rows were held back.
    pub rows: usize,
    /// Errors on them after each pass.
    pub errors: Vec<u64>,
    /// The pass the model was taken from, from 1.
    pub best_epoch: u64,
}

/// A classifier that has learned.
#[derive(Debug, Clone)]
pub struct Model {
    pub(crate) spec: Spec,
    pub(crate) labels: Labels,
    pub(crate) feature_names: Option<Vec<String>>,
    pub(crate) schema: Option<Arc<Schema>>,
    /// What rows go through before the hypothesis sees them.
    pub(crate) map: Option<Arc<dyn FeatureMap>>,
    pub(crate) kept: Kept,
    pub(crate) story: Story,
    pub(crate) calibration: Option<Calibration>,
    pub(crate) provenance: Provenance,
}

/// Where a model comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Provenance {
    /// The fingerprint of the data.
    pub(crate) data: Option<String>,
    pub(crate) date: Option<Date>,
}

impl Provenance {
    /// What is known of a model of this data.
    pub(crate) fn of_data(fingerprint: String) -> Self {
        Self { data: Some(fingerprint), date: None }
    }
}

impl Model {
    /// What tells the data it was trained on from other data: 32 hexadecimal digits, a digest of the values,
    /// weights and class names of all rows as they were read, those set aside included. The same rows have the
    /// same one whatever file they come in; see [`fingerprint`](crate::fingerprint). Models of the first version
    /// of the format have none.
    pub fn data_fingerprint(&self) -> Option<&str> {
        self.provenance.data.as_deref()
    }

    /// When it was made, if it was [told](Model::dated).
    pub fn date(&self) -> Option<Date> {
        self.provenance.date
    }

    /// The same model, with a date. Nothing else writes one, so that the same training gives the same bytes.
    #[must_use]
    pub fn dated(mut self, date: Date) -> Self {
        self.provenance.date = Some(date);
        self
    }

    /// The description of the run it came from.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The classes it tells apart.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// What the features are called, if they have names.
    pub fn feature_names(&self) -> Option<&[String]> {
        self.feature_names.as_deref()
    }

    /// What it expects of the data it is shown, if it was trained from a file.
    pub fn schema(&self) -> Option<&Arc<Schema>> {
        self.schema.as_ref()
    }

    /// The same model, expecting data of this schema, in the form that does not depend on the file it
    /// came from.
    #[must_use]
    pub fn with_schema(mut self, schema: Arc<Schema>) -> Self {
        let schema = Arc::unwrap_or_clone(schema).without_numbered_columns();
        if schema.columns.is_empty() && schema.text.is_none() {
            self.feature_names = None;
        }
        self.schema = Some(Arc::new(schema));
        self
    }

    /// The same model, knowing that this share of the data was set aside before it learned.
    #[must_use]
    pub fn with_held_out(mut self, share: f64) -> Self {
        self.story.held_out = (share > 0.0).then_some(share);
        self
    }

    /// The same model, knowing that the same training was cross-validated over this many folds.
    #[must_use]
    pub fn with_folds(mut self, n_folds: usize) -> Self {
        self.story.folds = Some(n_folds);
        self
    }

    /// The hypothesis, or hypotheses, it predicts with.
    pub fn kept(&self) -> &Kept {
        &self.kept
    }

    /// The support rows it predicts with, if it has a kernel.
    pub fn expansion(&self) -> Option<&Expansion> {
        expansion(&self.kept)
    }

    /// The hyperplanes it predicts with, unless it is a vote or has a kernel.
    pub fn planes(&self) -> Option<&Planes> {
        self.kept.planes()
    }

    /// How the run went.
    pub fn story(&self) -> &Story {
        &self.story
    }

    /// How many features it knows.
    pub fn width(&self) -> usize {
        self.map.as_ref().map_or_else(|| self.kept.width(), |map| map.width())
    }

    /// The feature map that rows go through before its hyperplanes see them, if it has one.
    pub fn map(&self) -> Option<&dyn FeatureMap> {
        self.map.as_deref()
    }

    /// Something that predicts many rows of up to `width` features; what the model does not know
    /// counts nothing.
    pub fn predictor(&self, width: usize) -> Predictor {
        let kept = match &self.kept {
            Kept::Planes(planes) if self.map.is_none() => Kept::Planes(planes.widened(width)),
            kept => kept.clone(),
        };
        let options = self.spec.options();
        let decision = Deciding::new(&self.spec, self.labels.len());
        let n_scorers = decision.n_scorers();
        Predictor {
            mapper: self.map.clone().map(Mapper::new),
            kept,
            decision,
            zero: options.zero,
            random: Random::for_purpose(options.seed, "predict"),
            scores: vec![0.0; n_scorers],
            scratch: Vec::new(),
        }
    }

    /// Something that predicts rows that have been through the map already.
    pub(crate) fn predictor_behind_map(&self) -> Predictor {
        Predictor { mapper: None, ..self.predictor(0) }
    }

    /// The class name of one row. For many rows, [`Model::predictor`] is faster.
    pub fn predict_one(&self, row: &[f64]) -> Result<&str, Error> {
        if row.len() > self.width() {
            return Err(Error::TooWide { found: row.len(), known: self.width() });
        }
        if let Some(feature) = row.iter().position(|value| !value.is_finite()) {
            return Err(Error::NotFinite { row: 0, feature, value: row[feature] });
        }
        let class = self.predictor(0).predict(Dense(row));
        Ok(self.labels.name(class))
    }
}

/// The support rows of a kernel model.
pub(crate) fn expansion(kept: &Kept) -> Option<&Expansion> {
    let Kept::Other(other) = kept else { return None };
    (&**other as &dyn Any).downcast_ref()
}

/// The decision of a model, for any number of classes.
#[derive(Debug, Clone)]
pub(crate) enum Deciding {
    Two(Binary),
    Many(Multiclass),
}

impl Deciding {
    /// How `spec` tells `n_classes` classes apart.
    pub(crate) fn new(spec: &Spec, n_classes: usize) -> Self {
        if n_classes == 2 {
            Self::Two(Binary)
        } else {
            Self::Many(spec.options().multiclass.decision(n_classes))
        }
    }
}

impl Decision for Deciding {
    fn n_classes(&self) -> usize {
        match self {
            Self::Two(decision) => decision.n_classes(),
            Self::Many(decision) => decision.n_classes(),
        }
    }

    fn n_scorers(&self) -> usize {
        match self {
            Self::Two(decision) => decision.n_scorers(),
            Self::Many(decision) => decision.n_scorers(),
        }
    }

    fn ballot(&self) -> Ballot {
        match self {
            Self::Two(decision) => decision.ballot(),
            Self::Many(decision) => decision.ballot(),
        }
    }

    fn problems(&mut self, class: u32, scores: &[f64], visit: impl FnMut(Problem<'_>)) {
        match self {
            Self::Two(decision) => decision.problems(class, scores, visit),
            Self::Many(decision) => decision.problems(class, scores, visit),
        }
    }

    fn lead(&self, class: u32, scores: &[f64]) -> f64 {
        match self {
            Self::Two(decision) => decision.lead(class, scores),
            Self::Many(decision) => decision.lead(class, scores),
        }
    }

    fn decide(&self, scores: &[f64], zero: Zero, random: &mut Random) -> Option<u32> {
        match self {
            Self::Two(decision) => decision.decide(scores, zero, random),
            Self::Many(decision) => decision.decide(scores, zero, random),
        }
    }
}

/// A model at work.
#[derive(Debug, Clone)]
pub struct Predictor {
    mapper: Option<Mapper>,
    kept: Kept,
    decision: Deciding,
    zero: Zero,
    random: Random,
    scores: Vec<f64>,
    scratch: Vec<f64>,
}

impl Predictor {
    /// The class of a row. For many rows, [`Predictor::each`] may be much faster.
    #[inline]
    pub fn predict<R: Row>(&mut self, row: R) -> u32 {
        match &mut self.mapper {
            None => self.kept.scores(row, &mut self.scores, &mut self.scratch),
            Some(mapper) => self.kept.scores(mapper.row(row), &mut self.scores, &mut self.scratch),
        }
        self.decide()
    }

    /// The class of a row, and by how much it leads: 0 is a tie.
    pub fn verdict<R: Row>(&mut self, row: R) -> (u32, f64) {
        let class = self.predict(row);
        (class, self.lead(class).max(0.0))
    }

    /// By how much `class` led in the last prediction; negative if another did.
    pub fn lead(&self, class: u32) -> f64 {
        match &self.decision {
            Deciding::Two(decision) => decision.lead(class, &self.scores),
            Deciding::Many(decision) => decision.lead(class, &self.scores),
        }
    }

    /// Shows the class and the scores of each of these rows, in their order. Long rows are read side by side, and
    /// kernel values computed for many rows at once; the scores are those of each row alone.
    pub fn each<E: Examples>(&mut self, examples: E, rows: &[u32], mut show: impl FnMut(u32, u32, &[f64])) {
        if let (Kept::Planes(planes), None) = (&self.kept, &self.mapper) {
            let Self { decision, zero, random, scores: last, .. } = self;
            planes.each(examples, Visits::Listed(rows), |row, scores| {
                last.copy_from_slice(scores);
                show(row as u32, decision.name(scores, *zero, random), scores);
            });
            return;
        }
        let Kept::Other(kept) = &self.kept else {
            for &row in rows {
                let class = self.predict(examples.row(row as usize));
                show(row, class, &self.scores);
            }
            return;
        };
        let kept = Kept::Other(Arc::clone(kept));
        let Some(expansion) = expansion(&kept) else { return };
        let mut scores = Vec::new();
        for rows in rows.chunks(AT_ONCE) {
            expansion.scores(examples, rows, &mut scores);
            for (row, scores) in rows.iter().zip(scores.chunks(self.scores.len())) {
                self.scores.copy_from_slice(scores);
                let class = self.decide();
                show(*row, class, scores);
            }
        }
    }

    #[inline]
    fn decide(&mut self) -> u32 {
        self.decision.name(&self.scores, self.zero, &mut self.random)
    }

    /// The scores behind the last prediction: one for two classes, else one per class or pair.
    pub fn scores(&self) -> &[f64] {
        &self.scores
    }
}
