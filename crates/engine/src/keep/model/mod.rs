//! A trained model: what it knows, and how it came to know it.

mod bundle;
mod checkpoint;
mod date;
mod file;
mod kernels;
mod networks;
mod numbers;
mod predictor;
mod reading;
mod store;
mod taggers;

pub(crate) use bundle::{bundle, unbundle};
pub use checkpoint::Checkpoint;
pub(crate) use checkpoint::{Mark, Watched, encode as encode_checkpoint, encode_sentences, reading};
pub use date::Date;
pub use file::{FormatError, model_checksum};
pub use predictor::{Predictor, Sample, class_scores, decision_scores};
pub(crate) use predictor::{by_class, each_prediction};
pub use store::StoreError;

pub use crate::fingerprint::fingerprint;
pub use crate::keep::held_out::HeldOut;
pub use crate::keep::numbers::{HeldNumbers, NumberEstimate, Spread};

use crate::calibration::{Calibration, n_curves};
use crate::device::DeviceChoice;
use crate::error::Error;
use crate::importance::{Importance, Variation};
use crate::spec::Spec;
use crate::statistics::ByGroup;
use crate::task::Task;
use rosenblatt_core::memory::Kept;
use rosenblatt_core::{Hyperplanes, Stopped, Totals};
use rosenblatt_data::{ColumnKind, Dataset, Labels, Schema};
use rosenblatt_kernel::maps::FeatureMap;
use rosenblatt_kernel::{Device, Expansion};
use rosenblatt_layers::Network;
use serde::ser::{SerializeStruct, Serializer};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// How a run went.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TrainingSummary {
    /// Rows it learned from.
    pub rows: usize,
    /// Rounds, mistakes and steps.
    pub totals: Totals,
    /// Why it ended.
    pub stopped: Stopped,
    /// The result on the validation set, if there was one.
    pub validation: Option<Validated>,
    /// The share of the data that was held out for the estimate, by [`split`](crate::split::split) with its own seed, if it was not a
    /// race that chose it. Whether it learned from these rows afterwards is in the estimate.
    pub held_out: Option<f64>,
    /// Over how many folds the same training was cross-validated before.
    pub folds: Option<usize>,
    /// The share of the data that was kept out of the race in which it was chosen, if it was the usual race. It learned
    /// from all rows all the same.
    pub raced: Option<f64>,
    /// Whether that race chose how columns bend, too.
    pub raced_shape: bool,
    /// Whether crosses were kept out of that race, as `shape` asked for.
    pub without_crosses: bool,
    /// The estimate of the error, from rows that were not learned from.
    pub estimate: Option<Estimated>,
    /// The column of times that rows were split by for race and estimate.
    pub time: Option<String>,
    /// The column of groups that rows were split by for race and estimate.
    pub group: Option<String>,
}

/// The summary of a run that was neither raced nor judged.
pub(crate) fn training_summary(
    rows: usize,
    totals: Totals,
    stopped: Stopped,
    validation: Option<Validated>,
) -> TrainingSummary {
    TrainingSummary {
        rows,
        totals,
        stopped,
        validation,
        held_out: None,
        folds: None,
        raced: None,
        raced_shape: false,
        without_crosses: false,
        estimate: None,
        time: None,
        group: None,
    }
}

impl TrainingSummary {
    /// Whether a race chose how it learned.
    pub fn is_raced(&self) -> bool {
        let is_refitted = self.estimate.is_some_and(|estimate| estimate.refitted);
        self.raced.is_some() || (is_refitted && self.folds.is_none() && self.held_out.is_none())
    }

    /// What its estimate assumes of the rows to come.
    pub fn assumes(&self) -> &'static str {
        assumes(self.time.is_some(), self.group.is_some())
    }
}

/// What an estimate assumes of the rows to come if rows were split by a column of times, or of groups.
pub(crate) fn assumes(time: bool, group: bool) -> &'static str {
    match (time, group) {
        (true, true) => {
            "new rows follow these in time and are of new groups: rows were judged by what earlier ones of other groups \
             taught; neither column is a feature"
        }
        (true, false) => {
            "new rows follow these in time: rows were judged by what earlier ones taught; \
             the column of times is no feature"
        }
        (false, true) => {
            "new rows are of new groups: rows were judged by what other groups taught; \
             the column of groups is no feature"
        }
        (false, false) => {
            "new rows are drawn as these were; if rows come in time or in groups, split by that column"
        }
    }
}

/// The error of a training on rows that it did not learn from, and that had no part in choosing it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Estimated {
    /// How many rows were held out; with folds, every row was once.
    pub rows: u64,
    /// How many of them were given the wrong class.
    pub errors: u64,
    /// Whether the model learned from these rows afterwards: then they were judged by models trained in the same way on
    /// the rest of the rows.
    pub refitted: bool,
    /// What groups of rows say of it, where groups tie them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_group: Option<ByGroup>,
}

impl Serialize for TrainingSummary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("TrainingSummary", 15)?;
        object.serialize_field("rows", &self.rows)?;
        object.serialize_field("epochs", &self.totals.epochs)?;
        object.serialize_field("rounds", &self.totals.rounds)?;
        object.serialize_field("mistakes", &self.totals.mistakes)?;
        object.serialize_field("updates", &self.totals.updates)?;
        object.serialize_field("errors", &self.totals.errors)?;
        object.serialize_field("stopped", self.stopped_by())?;
        object.serialize_field("validation", &self.validation)?;
        object.serialize_field("held-out", &self.held_out)?;
        object.serialize_field("folds", &self.folds)?;
        object.serialize_field("raced", &self.raced)?;
        object.serialize_field("raced-shape", &self.raced_shape)?;
        object.serialize_field("estimate", &self.estimate)?;
        object.serialize_field("time", &self.time)?;
        object.serialize_field("group", &self.group)?;
        object.end()
    }
}

impl TrainingSummary {
    /// Why the run ended, in a word: `clean`, `converged`, `cycle`, `patience`, `updates` or `epochs`.
    pub fn stopped_by(&self) -> &'static str {
        STOPS.iter().find(|(_, stopped)| *stopped == self.stopped).map_or("epochs", |(name, _)| name)
    }
}

/// Why runs end, by name.
pub(crate) const STOPS: [(&str, Stopped); 6] = [
    ("clean", Stopped::Clean),
    ("converged", Stopped::Converged),
    ("cycle", Stopped::Cycle),
    ("updates", Stopped::Updates),
    ("patience", Stopped::Observer),
    ("epochs", Stopped::Epochs),
];

/// The result of a run on the validation set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Validated {
    /// How many rows it had.
    pub rows: usize,
    /// Errors on them after each epoch.
    pub errors: Vec<u64>,
    /// The epoch the model was taken from, from 1.
    pub best_epoch: u64,
}

/// What has learned: for every task, whatever the hypothesis.
#[derive(Debug, Clone)]
pub struct Model {
    pub(crate) spec: Spec,
    pub(crate) labels: Labels,
    pub(crate) feature_names: Option<Arc<[String]>>,
    pub(crate) schema: Option<Arc<Schema>>,
    /// What rows go through before the hypothesis sees them.
    pub(crate) map: Option<Arc<dyn FeatureMap>>,
    pub(crate) kept: Kept,
    pub(crate) training_summary: TrainingSummary,
    pub(crate) calibration: Option<Calibration>,
    pub(crate) provenance: Provenance,
}

/// Where a model comes from.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Provenance {
    /// The fingerprint of the data.
    pub(crate) data: Option<String>,
    pub(crate) date: Option<Date>,
    /// Which rows of the data the support vectors are, from 0; nothing if that is not known.
    pub(crate) support_numbers: Vec<u64>,
    /// What was predicted of rows that were not learned from, if that is kept.
    pub(crate) held_out: Option<Arc<HeldOut>>,
    /// What they say of the columns.
    pub(crate) importance: Option<Arc<Importance>>,
    /// How features vary, by their number: of all, or of those that contribute most.
    pub(crate) variations: Arc<[Variation]>,
    /// The same as `held_out`, where numbers are predicted, and what it comes to.
    pub(crate) numbers: Option<Arc<HeldNumbers>>,
}

impl Provenance {
    /// What is known of a model of this data.
    pub(crate) fn of_data(fingerprint: String) -> Self {
        Self { data: Some(fingerprint), ..Self::default() }
    }
}

impl Model {
    /// The same model with this calibration, or without one.
    #[must_use]
    pub fn with_calibration(mut self, calibration: Option<Calibration>) -> Self {
        self.calibration = calibration.filter(|fitted| fitted.curves.len() == n_curves(self.labels.len()));
        self
    }

    /// What turns its scores into probabilities, if that was fitted.
    pub fn calibration(&self) -> Option<&Calibration> {
        self.calibration.as_ref()
    }

    /// What tells the data it was trained on from other data: 32 hexadecimal digits, a digest of the values,
    /// weights and class names of all rows as they were read, those held out included. The same rows have the
    /// same one whatever file they come in; see [`fingerprint`]. Models of the first version
    /// of the format have none.
    pub fn data_fingerprint(&self) -> Option<&str> {
        self.provenance.data.as_deref()
    }

    /// Whether it was trained from exactly these rows, those that were held out included.
    pub fn is_of(&self, data: &Dataset) -> bool {
        self.data_fingerprint() == Some(crate::fingerprint::fingerprint(data).as_str())
    }

    /// What it predicts.
    pub fn task(&self) -> Task {
        if self.tagger().is_some() { Task::Tags } else { self.spec.task() }
    }

    /// Refuses what another task is needed for.
    pub fn check_task(&self, wants: Task) -> Result<(), Error> {
        let has = self.task();
        if has == wants { Ok(()) } else { Err(Error::OtherTask { has, wants }) }
    }

    /// Refuses a model that knows nothing of rows of features.
    pub(crate) fn check_rows(&self) -> Result<(), Error> {
        if self.task() == Task::Tags { self.check_task(Task::Classes) } else { Ok(()) }
    }

    /// What was predicted of the rows that its estimate is made of, by a training that did not learn from them.
    pub fn held_out(&self) -> Option<&Arc<HeldOut>> {
        self.provenance.held_out.as_ref()
    }

    /// Which columns matter, by what is lost without them on rows that were not learned from.
    pub fn importance(&self) -> Option<&Importance> {
        self.provenance.importance.as_deref()
    }

    /// How features vary from row to row, by their number: of all features, or of those that contribute most where
    /// they are many; nothing if that is not known.
    pub fn variations(&self) -> &[Variation] {
        &self.provenance.variations
    }

    /// When it was made, if it was [given](Model::dated).
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
        // A schema with text stays as it is, and its vocabulary may be large.
        let has_text = schema.columns.iter().any(|column| matches!(column.kind, ColumnKind::Text(_)));
        let schema =
            if has_text { schema } else { Arc::new(Arc::unwrap_or_clone(schema).without_numbered_columns()) };
        if schema.columns.is_empty() && schema.text.is_none() {
            self.feature_names = None;
        }
        self.schema = Some(schema);
        self
    }

    /// The same model, knowing that this share of the data was held out for its estimate.
    #[must_use]
    pub fn with_held_out(mut self, share: f64) -> Self {
        self.training_summary.held_out = (share > 0.0).then_some(share);
        self
    }

    /// The same model, knowing that it was chosen in a race that this share of the data was kept out of; `None` forgets
    /// it.
    #[must_use]
    pub fn with_race(mut self, share: Option<f64>) -> Self {
        self.training_summary.raced = share;
        self
    }

    /// The same model, with the estimate of its error from rows that were not learned from.
    #[must_use]
    pub fn with_estimate(mut self, estimate: Option<Estimated>) -> Self {
        self.training_summary.estimate = estimate;
        self
    }

    /// The same model, knowing that the same training was cross-validated over this many folds.
    #[must_use]
    pub fn with_folds(mut self, n_folds: usize) -> Self {
        self.training_summary.folds = Some(n_folds);
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

    /// The same model, predicting on a device if it has a kernel.
    #[must_use]
    pub fn on(mut self, device: &Arc<dyn Device>) -> Self {
        if let Some(moved) = expansion(&self.kept).map(|expansion| expansion.on(Arc::clone(device))) {
            self.kept = Kept::Other(Arc::new(moved));
        }
        self
    }

    /// The same model, predicting on the card that `choice` asks for, if it asks for one.
    pub fn on_device(self, choice: DeviceChoice) -> Result<Self, Error> {
        Ok(match choice.to_predict()? {
            Some(device) => self.on(&device),
            None => self,
        })
    }

    /// Where its kernel values were computed, if that was not the processor from beginning to end.
    pub(crate) fn device_note(&self) -> Option<String> {
        let expansion = self.expansion()?;
        match expansion.trouble() {
            Some(trouble) => Some(format!("the processor has taken over: {trouble}")),
            None if expansion.device().keeps_rows() => {
                Some(format!("kernel values were computed on {}", expansion.device().name()))
            }
            None => None,
        }
    }

    /// The number of a support vector in the data it was trained on, from 0, left-out rows counted; of equal rows the
    /// first. `None` where that is not known: without a kernel, and for rows that were on disk.
    pub fn support_number(&self, support: usize) -> Option<u64> {
        self.provenance.support_numbers.get(support).copied()
    }

    /// The network it predicts with, if it is one.
    pub fn network(&self) -> Option<&Network> {
        network(&self.kept)
    }

    /// The hyperplanes it predicts with, unless it is a vote, a network or has a kernel.
    pub fn planes(&self) -> Option<&Hyperplanes> {
        self.kept.planes()
    }

    /// How the run went.
    pub fn training_summary(&self) -> &TrainingSummary {
        &self.training_summary
    }

    /// Refuses work that lays out `n_bytes` for every weight where nearly all are zero: a file of a few kilobytes may
    /// claim any number of features.
    pub fn check_room(&self, what: &'static str, n_bytes: usize) -> Result<(), Error> {
        /// So much is given to any model.
        const GIVEN: usize = 64 << 20;
        /// And to one with this many times fewer weights than places for them.
        const SPARSE: usize = 1 << 10;
        let (n_weights, n_stored) = match (self.map(), &self.kept) {
            (Some(map), _) => {
                (map.width(), map.landmarks().map_or(map.size(), |(rows, _)| rows.parts().2.len()))
            }
            (None, Kept::Hyperplanes(planes)) => {
                (planes.width() * planes.n_outputs(), planes.entries().count())
            }
            (None, Kept::Votes(votes)) => {
                let log = votes.log();
                (log.width * log.n_outputs, log.row_values.len())
            }
            (None, Kept::Other(_)) => match (expansion(&self.kept), self.tagger()) {
                (Some(expansion), _) => (expansion.rows().width(), expansion.rows().n_entries()),
                (None, Some(tagger)) => {
                    let weights = tagger.tagging().weights();
                    (weights.n_attributes(), weights.n_stored())
                }
                (None, None) => return Ok(()),
            },
        };
        if n_weights.saturating_mul(n_bytes) <= GIVEN || n_weights / SPARSE <= n_stored {
            return Ok(());
        }
        Err(Error::Thin { what, n_weights, n_stored })
    }

    /// How many features it knows.
    pub fn width(&self) -> usize {
        self.map.as_ref().map_or_else(|| self.kept.width(), |map| map.width())
    }

    /// The feature map that rows go through before its hyperplanes see them, if it has one.
    pub fn map(&self) -> Option<&dyn FeatureMap> {
        self.map.as_deref()
    }
}

/// The network of a model that is one.
pub(crate) fn network(kept: &Kept) -> Option<&Network> {
    Network::of(kept)
}

/// The support rows of a kernel model.
pub(crate) fn expansion(kept: &Kept) -> Option<&Expansion> {
    kept.other()
}
