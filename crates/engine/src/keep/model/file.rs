//! The model file, byte by byte: encoding and decoding, without touching a disk.
//!
//! The format is described in `FORMAT.md` beside this crate. A file is data and nothing else. It is
//! believed only after its length and its checksum hold, and even then every number is checked before
//! it is used: a file may be whole and still be wrong.

use super::{
    Date, Estimated, Model, Provenance, STOPS, TrainingSummary, Validated, expansion, kernels, network,
    networks, taggers,
};
use crate::calibration::{Calibration, Curve, Method, n_curves};
use crate::describe::options::by_name;
use crate::importance::{Importance, Variation};
use crate::keep::held_out::HeldOut;
use crate::keep::numbers::{HeldNumbers, NumberEstimate};
use crate::spec::{Options, Spec};
use crate::task::Task;
use rosenblatt_core::SparseRows;
use rosenblatt_core::memory::{Kept, Log, Votes};
use rosenblatt_core::state::{List, State};
use rosenblatt_core::{Hyperplanes, Stopped, Totals, Zero};
use rosenblatt_data::{Labels, Schema};
use rosenblatt_kernel::maps::FeatureMap;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// The first bytes of every model file. The line ends are there to be spoiled by a transfer that
/// treats the file as text.
const MAGIC: [u8; 8] = *b"RBLATT\r\n";
/// The version this program writes, and the last one it reads. The first knew nothing of where a model comes from.
const VERSION: u32 = 2;
/// What the header of a model says it is.
const MODEL: &str = "rosenblatt model";
/// Which rows of the training data support vectors are: an array that a file may lack.
const SUPPORT_NUMBERS: &str = "support-numbers";
/// What was predicted of rows that were not learned from: arrays that a file may lack.
const HELD_ROWS: &str = "held-out-rows";
const HELD_CLASSES: &str = "held-out-classes";
const HELD_PREDICTED: &str = "held-out-predicted";
const HELD_SCORES: &str = "held-out-scores";
const HELD_TARGETS: &str = "held-out-targets";
const HELD_NUMBERS: &str = "held-out-numbers";
const HELD_PROBABILITIES: &str = "held-out-log-probabilities";
/// Magic, version, reserved, two lengths, checksum.
pub(super) const PREFIX: usize = 64;
/// What the prefix says, if the file is as long as that.
struct Prefix {
    version: u32,
    reserved: u32,
    header_len: usize,
}

/// Where the checksum stands in the prefix; everything else is under it.
const CHECKSUM: std::ops::Range<usize> = 32..64;

/// Why bytes are not a model, or not a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The file is something else.
    #[error(
        "this is not a Rosenblatt model: it does not begin with the model signature; `rosenblatt train` makes models of tables and texts"
    )]
    NotAModel,
    /// The file was written by a later program.
    #[error("it is of format version {found}, but this program reads up to {known}; update the program")]
    Newer {
        /// The version in the file.
        found: u32,
        /// The last version this program knows.
        known: u32,
    },
    /// The file is not as long as it says.
    #[error("it should be {expected} bytes long, but is {found}; it was cut or added to, copy it again")]
    Length {
        /// What its header says.
        expected: u64,
        /// What there is.
        found: u64,
    },
    /// Some bytes were changed.
    #[error("its checksum is wrong: some of its bytes were changed, copy it again")]
    Checksum,
    /// The bytes are whole, but what they say cannot be.
    #[error("it is whole but wrong: {0}")]
    Content(String),
    /// A whole file of the other kind.
    #[error("this is a {found}, but a {expected} is wanted here")]
    Kind {
        /// What its header says.
        found: String,
        /// What it should say.
        expected: &'static str,
    },
}

pub(super) fn content(what: impl Into<String>) -> FormatError {
    FormatError::Content(what.into())
}

/// The part of a model that is text.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Header {
    format: String,
    writer: String,
    spec: Options,
    labels: Vec<String>,
    /// Whether the first class is all that is not the second.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    against_rest: bool,
    feature_names: Option<Arc<[String]>>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    schema: Option<Schema>,
    #[serde(alias = "story")]
    training_summary: SummaryText,
    hypothesis: Hypothesis,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    calibration: Option<CalibrationText>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    data_fingerprint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    date: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    map: Option<MapText>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    importance: Option<Importance>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    variations: Vec<Variation>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    numbers: Option<NumberEstimate>,
    arrays: Vec<Array>,
}

/// What a feature map took from the data; landmarks are arrays, and random draws follow from the seed.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct MapText {
    width: usize,
    gamma: Option<f64>,
    landmarks: bool,
}

/// How scores become probabilities; the curves are arrays.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct CalibrationText {
    method: String,
    rows: u64,
}

/// Which arrays follow, and what they are.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Hypothesis {
    /// `weights` (all, or those that are not zero at `places`) and `biases`.
    #[serde(alias = "planes")]
    Hyperplanes {
        width: usize,
        #[serde(alias = "scorers")]
        outputs: usize,
        sparse: bool,
    },
    /// The log of all survivors.
    Votes {
        width: usize,
        #[serde(alias = "scorers")]
        outputs: usize,
        rounds: u64,
        joint: bool,
        #[serde(with = "by_name::optional", default, skip_serializing_if = "Option::is_none")]
        zero: Option<Zero>,
        start: bool,
    },
    /// Support rows of a kernel, and how they speak.
    Kernel {
        width: usize,
        #[serde(alias = "scorers")]
        outputs: usize,
        kernel: kernels::Text,
        constant: f64,
        votes: Option<kernels::Ballots>,
    },
    /// A network: `weights` and `biases`, layer by layer.
    Network { width: usize, outputs: usize, hidden: Vec<usize>, activation: String },
}

#[derive(Serialize, Deserialize, PartialEq, Eq, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct Array {
    name: String,
    #[serde(rename = "type")]
    kind: Kind,
    count: u64,
}

#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    U8,
    U32,
    U64,
    F32,
    F64,
}

impl Kind {
    fn bytes(self) -> u64 {
        match self {
            Self::U8 => 1,
            Self::U32 | Self::F32 => 4,
            Self::U64 | Self::F64 => 8,
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct SummaryText {
    rows: usize,
    epochs: u64,
    rounds: u64,
    mistakes: u64,
    updates: u64,
    errors: u64,
    stopped: String,
    validation: Option<Validated>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    held_out: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    folds: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    raced: Option<f64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    raced_shape: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    without_crosses: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    estimate: Option<Estimated>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    time: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    group: Option<String>,
}

/// What files call it that a validation set ended a run.
const PATIENCE: &str = "observer";

impl From<&TrainingSummary> for SummaryText {
    fn from(training_summary: &TrainingSummary) -> Self {
        let Totals { epochs, rounds, mistakes, updates, errors } = training_summary.totals;
        let TrainingSummary { rows, validation, held_out, folds, raced, estimate, .. } =
            training_summary.clone();
        let stopped = match training_summary.stopped {
            Stopped::Observer => PATIENCE,
            _ => training_summary.stopped_by(),
        };
        let stopped = stopped.to_owned();
        Self {
            rows,
            epochs,
            rounds,
            mistakes,
            updates,
            errors,
            stopped,
            validation,
            held_out,
            folds,
            raced,
            raced_shape: training_summary.raced_shape,
            without_crosses: training_summary.without_crosses,
            estimate,
            time: training_summary.time.clone(),
            group: training_summary.group.clone(),
        }
    }
}

impl TryFrom<SummaryText> for TrainingSummary {
    type Error = FormatError;

    fn try_from(text: SummaryText) -> Result<Self, FormatError> {
        let SummaryText {
            rows,
            epochs,
            rounds,
            mistakes,
            updates,
            errors,
            stopped,
            validation,
            held_out,
            folds,
            raced,
            raced_shape,
            without_crosses,
            estimate,
            time,
            group,
        } = text;
        let of_name = |(name, why): &(&str, Stopped)| match *why {
            Stopped::Observer => stopped == PATIENCE,
            _ => stopped == *name,
        };
        let (_, stopped) = STOPS
            .iter()
            .find(|stop| of_name(stop))
            .ok_or_else(|| content(format!("training ended by `{stopped}`, which is unknown")))?;
        let totals = Totals { epochs, rounds, mistakes, updates, errors };
        if held_out.or(raced).is_some_and(|share| !(0.0..1.0).contains(&share)) {
            return Err(content("the share of rows held out should be from 0 to 1".to_owned()));
        }
        if estimate.is_some_and(|estimate| estimate.errors > estimate.rows) {
            return Err(content("more rows were wrong than were held out".to_owned()));
        }
        let stopped = *stopped;
        Ok(Self {
            rows,
            totals,
            stopped,
            validation,
            held_out,
            folds,
            raced,
            raced_shape,
            without_crosses,
            estimate,
            time,
            group,
        })
    }
}

/// Arrays on their way into a file.
#[derive(Default)]
pub(super) struct Body {
    pub(super) arrays: Vec<Array>,
    bytes: Vec<u8>,
}

impl Body {
    fn push<const N: usize>(
        &mut self,
        name: &str,
        kind: Kind,
        values: impl ExactSizeIterator<Item = [u8; N]>,
    ) {
        self.arrays.push(Array { name: name.to_owned(), kind, count: values.len() as u64 });
        self.bytes.extend(values.flatten());
    }

    pub(super) fn u8s(&mut self, name: &str, values: &[u8]) {
        self.push(name, Kind::U8, values.iter().map(|value| [*value]));
    }

    pub(super) fn f64s(&mut self, name: &str, values: &[f64]) {
        self.push(name, Kind::F64, values.iter().map(|value| value.to_le_bytes()));
    }

    fn f32s(&mut self, name: &str, values: &[f32]) {
        self.push(name, Kind::F32, values.iter().map(|value| value.to_le_bytes()));
    }

    pub(super) fn u32s(&mut self, name: &str, values: impl ExactSizeIterator<Item = u32>) {
        self.push(name, Kind::U32, values.map(u32::to_le_bytes));
    }

    pub(super) fn u64s(&mut self, name: &str, values: impl ExactSizeIterator<Item = u64>) {
        self.push(name, Kind::U64, values.map(u64::to_le_bytes));
    }
}

impl Body {
    /// All lists of a state.
    pub(super) fn state(&mut self, state: &State<'_>) {
        for (name, list) in state.lists() {
            self.list(name, list);
        }
    }

    pub(super) fn list(&mut self, name: &str, list: &List<'_>) {
        match list {
            List::U32(values) => self.u32s(name, values.iter().copied()),
            List::U64(values) => self.u64s(name, values.iter().copied()),
            List::F64(values) => self.f64s(name, values),
        }
    }
}

/// The bytes of a model file.
pub(crate) fn encode(model: &Model) -> Vec<u8> {
    if let Some(tagger) = model.tagger() {
        return taggers::encode(tagger);
    }
    let mut body = Body::default();
    let hypothesis = encode_kept(&model.kept, &mut body);
    let calibration = model.calibration.as_ref().map(|fitted| encode_calibration(fitted, &mut body));
    let map = model.map().map(|map| encode_map(map, &mut body));
    if !model.provenance.support_numbers.is_empty() {
        body.u64s(SUPPORT_NUMBERS, model.provenance.support_numbers.iter().copied());
    }
    if let Some(held_out) = model.held_out() {
        encode_held_out(held_out, &mut body);
    }
    if let Some(numbers) = model.held_numbers() {
        body.u32s(HELD_ROWS, numbers.rows.iter().copied());
        body.f64s(HELD_TARGETS, &numbers.targets);
        body.f64s(HELD_NUMBERS, &numbers.predicted);
    }
    let header = Header {
        format: MODEL.to_owned(),
        writer: env!("CARGO_PKG_VERSION").to_owned(),
        spec: model.spec.options().clone(),
        labels: model.labels.names().to_vec(),
        against_rest: model.labels.told_from_rest().is_some(),
        // A schema knows the names of its features.
        feature_names: if model.schema.is_some() { None } else { model.feature_names.clone() },
        schema: model.schema.as_deref().cloned(),
        training_summary: SummaryText::from(&model.training_summary),
        hypothesis,
        calibration,
        data_fingerprint: model.provenance.data.clone(),
        date: model.provenance.date.as_ref().map(Date::to_string),
        map,
        importance: model.importance().cloned(),
        variations: model.provenance.variations.to_vec(),
        numbers: model.held_numbers().map(|numbers| numbers.estimate),
        arrays: std::mem::take(&mut body.arrays),
    };
    pack(&header, &body)
}

pub(super) fn encode_kept(kept: &Kept, body: &mut Body) -> Hypothesis {
    match kept {
        Kept::Hyperplanes(planes) => encode_planes(planes, body),
        Kept::Votes(votes) => encode_votes(&votes.log(), body),
        Kept::Other(_) => match network(kept) {
            Some(network) => networks::encode(network, body),
            None => kernels::encode(expansion(kept).expect("there are no others"), body),
        },
    }
}

/// A whole file: prefix, header, arrays, checksum.
pub(super) fn pack(header: &impl Serialize, body: &Body) -> Vec<u8> {
    let header = serde_json::to_vec(header).expect("a header is plain data");
    let mut bytes = Vec::with_capacity(PREFIX + header.len() + body.bytes.len());
    bytes.extend(MAGIC);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(0_u32.to_le_bytes());
    bytes.extend((header.len() as u64).to_le_bytes());
    bytes.extend((body.bytes.len() as u64).to_le_bytes());
    bytes.extend([0; 32]);
    bytes.extend(header);
    bytes.extend(&body.bytes);
    let checksum = checksum(&bytes);
    bytes[CHECKSUM].copy_from_slice(&checksum);
    bytes
}

fn encode_planes(planes: &Hyperplanes, body: &mut Body) -> Hypothesis {
    let (width, outputs) = (planes.width(), planes.n_outputs());
    // A weight that is not zero takes 12 bytes with its place, and 8 without.
    let sparse = planes.entries().count() * 12 < width * outputs * 8;
    if sparse {
        let entries = planes.entries();
        let (places, values): (Vec<u32>, Vec<f64>) =
            entries.map(|(feature, output, value)| ((feature * outputs + output) as u32, value)).unzip();
        body.u32s("places", places.iter().copied());
        body.f64s("weights", &values);
    } else {
        body.f64s("weights", planes.raw_weights());
    }
    body.f64s("biases", planes.biases());
    Hypothesis::Hyperplanes { width, outputs, sparse }
}

fn encode_votes(log: &Log, body: &mut Body) -> Hypothesis {
    body.u64s("row-offsets", log.row_offsets.iter().copied());
    body.u32s("row-indices", log.row_indices.iter().copied());
    body.f64s("row-values", &log.row_values);
    body.u64s("move-rounds", log.moves.iter().map(|(round, ..)| *round));
    body.u32s("move-outputs", log.moves.iter().map(|(_, output, _)| *output));
    body.u32s("move-rows", log.moves.iter().map(|(.., row)| *row));
    for (place, name) in ["move-amounts", "move-keeps", "move-biases"].into_iter().enumerate() {
        let values: Vec<f64> = log.steps.iter().map(|step| step[place]).collect();
        body.f64s(name, &values);
    }
    if let Some(start) = &log.start {
        body.f64s("start-weights", start.widened(log.width).raw_weights());
        body.f64s("start-biases", start.biases());
    }
    Hypothesis::Votes {
        width: log.width,
        outputs: log.n_outputs,
        rounds: log.rounds,
        joint: log.ballot.joint,
        zero: kernels::zero_in_file(log.ballot),
        start: log.start.is_some(),
    }
}

pub(super) fn encode_calibration(calibration: &Calibration, body: &mut Body) -> CalibrationText {
    let (mut counts, mut firsts, mut seconds) = (Vec::new(), Vec::new(), Vec::new());
    for curve in calibration.curves() {
        match curve {
            Curve::Platt { slope, offset } => {
                firsts.push(*slope);
                seconds.push(*offset);
            }
            Curve::Isotonic { scores, shares } => {
                counts.push(scores.len() as u64);
                firsts.extend(scores);
                seconds.extend(shares);
            }
            Curve::Softmax => {}
        }
    }
    let method = calibration.method();
    match method {
        Method::Platt => {
            body.f64s("platt-slopes", &firsts);
            body.f64s("platt-offsets", &seconds);
        }
        Method::Isotonic => {
            body.u64s("isotonic-counts", counts.into_iter());
            body.f64s("isotonic-scores", &firsts);
            body.f64s("isotonic-shares", &seconds);
        }
        Method::Softmax => {}
    }
    CalibrationText { method: method.to_string(), rows: calibration.rows() }
}

fn encode_map(map: &dyn FeatureMap, body: &mut Body) -> MapText {
    if let Some((rows, factor)) = map.landmarks() {
        let (offsets, indices, values) = rows.parts();
        body.u64s("landmark-offsets", offsets.iter().map(|&offset| offset as u64));
        body.u32s("landmark-indices", indices.iter().copied());
        body.f64s("landmark-values", values);
        body.f64s("landmark-factor", factor);
    }
    MapText { width: map.width(), gamma: map.gamma(), landmarks: map.landmarks().is_some() }
}

fn encode_held_out(held_out: &HeldOut, body: &mut Body) {
    body.u32s(HELD_ROWS, held_out.rows.iter().copied());
    body.u32s(HELD_CLASSES, held_out.classes.iter().copied());
    body.u32s(HELD_PREDICTED, held_out.predicted.iter().copied());
    let name = if held_out.has_probabilities { HELD_PROBABILITIES } else { HELD_SCORES };
    body.f32s(name, &held_out.values);
}

/// The checksum of a file, its own place taken as zeros.
fn checksum(bytes: &[u8]) -> [u8; 32] {
    let mut digest = Sha256::new();
    digest.update(&bytes[..CHECKSUM.start]);
    digest.update([0; 32]);
    digest.update(&bytes[CHECKSUM.end..]);
    digest.finalize().into()
}

/// Makes the checksum of a model file right, whatever the file says. For tools and tests that write or
/// change model files by other means than [`Model::save`].
pub fn model_checksum(bytes: &mut [u8]) {
    if bytes.len() >= PREFIX {
        let right = checksum(bytes);
        bytes[CHECKSUM].copy_from_slice(&right);
    }
}

/// Arrays on their way out of a file.
pub(super) struct Arrays<'a> {
    arrays: std::vec::IntoIter<Array>,
    bytes: &'a [u8],
}

impl<'a> Arrays<'a> {
    pub(super) fn new(arrays: Vec<Array>, bytes: &'a [u8]) -> Self {
        Self { arrays: arrays.into_iter(), bytes }
    }

    /// The next array whatever it is called. Its real numbers are finite, but for squared lengths, which may have
    /// overflowed where weights did not.
    pub(super) fn next_list(&mut self) -> Result<(String, List<'static>), FormatError> {
        let next = self.arrays.as_slice().first();
        let (name, kind) = next
            .map(|array| (array.name.clone(), array.kind))
            .ok_or_else(|| content("an array is missing"))?;
        let list = match kind {
            Kind::U8 | Kind::F32 => {
                return Err(content(format!("the array `{name}` holds bytes, or single precision")));
            }
            Kind::U32 => List::U32(self.u32s(&name)?.into()),
            Kind::U64 => List::U64(self.u64s(&name)?.into()),
            Kind::F64 if name.ends_with("norms") => {
                let values = self.any_f64s(&name)?;
                if values.iter().any(|value| value.is_nan()) {
                    return Err(content(format!("the array `{name}` holds NaN")));
                }
                List::F64(values.into())
            }
            Kind::F64 => List::F64(self.f64s(&name)?.into()),
        };
        Ok((name, list))
    }

    /// The bytes of the next array, which must be called `name`.
    fn next(&mut self, name: &str, kind: Kind) -> Result<&'a [u8], FormatError> {
        let array = self.arrays.next().ok_or_else(|| content(format!("the array `{name}` is missing")))?;
        // Outputs were called scorers when the first files were written.
        let is_named = array.name == name || array.name == name.replace("outputs", "scorers");
        if !is_named || array.kind != kind {
            return Err(content(format!("where the array `{name}` should be there is `{}`", array.name)));
        }
        let n_bytes =
            array.count.checked_mul(kind.bytes()).filter(|&n_bytes| n_bytes <= self.bytes.len() as u64);
        let n_bytes =
            n_bytes.ok_or_else(|| content(format!("the array `{name}` is longer than the file")))?;
        let (taken, rest) = self.bytes.split_at(n_bytes as usize);
        self.bytes = rest;
        Ok(taken)
    }

    fn any_f64s(&mut self, name: &str) -> Result<Vec<f64>, FormatError> {
        Ok(self.next(name, Kind::F64)?.as_chunks().0.iter().map(|&bytes| f64::from_le_bytes(bytes)).collect())
    }

    pub(super) fn f64s(&mut self, name: &str) -> Result<Vec<f64>, FormatError> {
        let values = self.any_f64s(name)?;
        match values.iter().find(|value| !value.is_finite()) {
            Some(value) => Err(content(format!("the array `{name}` holds {value}"))),
            None => Ok(values),
        }
    }

    pub(super) fn u8s(&mut self, name: &str) -> Result<&'a [u8], FormatError> {
        self.next(name, Kind::U8)
    }

    pub(super) fn u32s(&mut self, name: &str) -> Result<Vec<u32>, FormatError> {
        Ok(self.next(name, Kind::U32)?.as_chunks().0.iter().map(|&bytes| u32::from_le_bytes(bytes)).collect())
    }

    pub(super) fn u64s(&mut self, name: &str) -> Result<Vec<u64>, FormatError> {
        Ok(self.next(name, Kind::U64)?.as_chunks().0.iter().map(|&bytes| u64::from_le_bytes(bytes)).collect())
    }

    fn f32s(&mut self, name: &str) -> Result<Vec<f32>, FormatError> {
        Ok(self.next(name, Kind::F32)?.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect())
    }

    fn is_next(&self, name: &str) -> bool {
        self.arrays.as_slice().first().is_some_and(|array| array.name == name)
    }

    pub(super) fn finish(mut self) -> Result<(), FormatError> {
        match self.arrays.next() {
            Some(array) => Err(content(format!("the array `{}` is unknown", array.name))),
            None if !self.bytes.is_empty() => Err(content("there are bytes after the last array")),
            None => Ok(()),
        }
    }
}

/// The model in `bytes`.
pub(crate) fn decode(bytes: &[u8]) -> Result<Model, FormatError> {
    of_task(unpack(bytes, &KINDS)?)
}

/// The same of bytes that were packed a moment ago, so that their checksum cannot tell anything new.
pub(crate) fn decode_own(bytes: &[u8]) -> Result<Model, FormatError> {
    of_task(parts(bytes, &KINDS)?)
}

/// What the headers of models say they are.
const KINDS: [&str; 2] = [MODEL, taggers::TAGGER];

fn of_task((kind, header, body): Parts<'_>) -> Result<Model, FormatError> {
    if kind == MODEL { decode_parts(header, body) } else { taggers::decode(header, body) }
}

/// The kind of a file, its header and its arrays.
type Parts<'a> = (&'static str, &'a [u8], &'a [u8]);

/// The parts of a file that is whole, unchanged and of one of these kinds.
pub(super) fn unpack<'a>(bytes: &'a [u8], kinds: &[&'static str]) -> Result<Parts<'a>, FormatError> {
    whole_prefix(bytes)?;
    if bytes[CHECKSUM] != checksum(bytes) {
        return Err(FormatError::Checksum);
    }
    parts(bytes, kinds)
}

/// The prefix of a file that is as long as it says.
fn whole_prefix(bytes: &[u8]) -> Result<Prefix, FormatError> {
    let Some((prefix, _)) = bytes.split_at_checked(PREFIX) else {
        let known = bytes.len().min(MAGIC.len());
        return Err(if !bytes.is_empty() && bytes[..known] == MAGIC[..known] {
            FormatError::Length { expected: PREFIX as u64, found: bytes.len() as u64 }
        } else {
            FormatError::NotAModel
        });
    };
    if prefix[..8] != MAGIC {
        return Err(FormatError::NotAModel);
    }
    let u32_at = |place: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| prefix[place + byte]));
    let u64_at = |place: usize| u64::from_le_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|byte| prefix[place + byte]));
    if u32_at(8) > VERSION {
        return Err(FormatError::Newer { found: u32_at(8), known: VERSION });
    }
    let (header_len, body_len) = (u64_at(16), u64_at(24));
    let expected = (PREFIX as u64).checked_add(header_len).and_then(|length| length.checked_add(body_len));
    if expected != Some(bytes.len() as u64) {
        return Err(FormatError::Length {
            expected: expected.unwrap_or(u64::MAX),
            found: bytes.len() as u64,
        });
    }
    Ok(Prefix { version: u32_at(8), reserved: u32_at(12), header_len: header_len as usize })
}

/// The parts of a file that is whole and of one of these kinds, whatever its checksum says.
fn parts<'a>(bytes: &'a [u8], kinds: &[&'static str]) -> Result<Parts<'a>, FormatError> {
    #[derive(Deserialize)]
    struct Named {
        format: String,
    }
    let Prefix { version, reserved, header_len } = whole_prefix(bytes)?;
    if version == 0 || reserved != 0 {
        return Err(content("the version is 0, or reserved bytes are in use"));
    }
    let (header, body) = bytes[PREFIX..].split_at(header_len);
    // What is written here begins with its kind; of other headers the kind is looked for, which takes as long as reading them.
    let begins_with = |kind: &str| {
        let rest = header.strip_prefix(b"{\"format\":\"")?.strip_prefix(kind.as_bytes())?;
        rest.first().filter(|quote| **quote == b'"')
    };
    if let Some(kind) = kinds.iter().find(|kind| begins_with(kind).is_some()) {
        return Ok((*kind, header, body));
    }
    let Named { format } = serde_json::from_slice(header).map_err(|error| header_error(&error))?;
    match kinds.iter().find(|kind| **kind == format) {
        Some(kind) => Ok((*kind, header, body)),
        None => Err(FormatError::Kind { found: format, expected: kinds[0] }),
    }
}

/// How long a file with these first bytes says it is, if it says that it is one of ours.
pub(super) fn said_length(prefix: &[u8]) -> Option<u64> {
    let prefix: &[u8; PREFIX] = prefix.first_chunk().filter(|prefix| prefix[..8] == MAGIC)?;
    let u64_at = |place: usize| u64::from_le_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|byte| prefix[place + byte]));
    (PREFIX as u64).checked_add(u64_at(16))?.checked_add(u64_at(24))
}

pub(super) fn header_error(error: &serde_json::Error) -> FormatError {
    content(format!("its header: {error}"))
}

fn decode_parts(header: &[u8], body: &[u8]) -> Result<Model, FormatError> {
    let header: Header = serde_json::from_slice(header).map_err(|error| header_error(&error))?;
    let spec = Spec::new(header.spec).map_err(|error| content(format!("its spec: {error}")))?;
    let mut labels = Labels::in_order(header.labels);
    if header.against_rest {
        labels = labels.with_rest().ok_or_else(|| content("a class and the rest should be two classes"))?;
    }
    let n_classes = labels.len();
    if spec.task() == Task::Numbers && n_classes != 1 {
        return Err(content("it should name what it predicts, and nothing else"));
    }
    if spec.task() != Task::Numbers && n_classes < 2 || Labels::sorted(labels.names()).len() != n_classes {
        return Err(content("it should name at least two different classes"));
    }
    let outputs = spec.n_outputs(n_classes);
    // Each has at least a bias, or a step of its own.
    if outputs > body.len() {
        return Err(content(format!("these classes need {outputs} outputs, which it has no room for")));
    }
    if let Some(schema) = &header.schema {
        schema.check().map_err(|error| content(error.to_string()))?;
    }
    let mut arrays = Arrays::new(header.arrays, body);
    let kept = decode_hypothesis(&header.hypothesis, outputs, &mut arrays)?;
    if spec.entry().network != network(&kept).is_some() {
        return Err(content("its spec and its hypothesis should both be of a network, or neither"));
    }
    let calibration = match &header.calibration {
        Some(text) => Some(decode_calibration(text, n_curves(n_classes), &mut arrays)?),
        None => None,
    };
    let map = match (&header.map, spec.map()) {
        (None, None) => None,
        (Some(text), Some(choice)) => {
            // Random maps are as wide as was asked for: nothing larger is drawn than the hypothesis shows.
            if !text.landmarks && choice.size != kept.width() {
                return Err(content("what comes out of its map is not as wide as its hypothesis"));
            }
            let fitted = text.landmarks.then(|| decode_landmarks(text.width, &mut arrays)).transpose()?;
            let map = choice.restore(text.width, text.gamma, fitted);
            Some(map.map_err(|error| content(format!("its map: {error}")))?)
        }
        _ => return Err(content("its map is missing, or there should be none")),
    };
    let is_numbered = arrays.is_next(SUPPORT_NUMBERS);
    let support_numbers = if is_numbered { arrays.u64s(SUPPORT_NUMBERS)? } else { Vec::new() };
    let n_support = expansion(&kept).map_or(0, |expansion| expansion.rows().len());
    if !support_numbers.is_empty() && support_numbers.len() != n_support {
        return Err(content("it should number every support vector"));
    }
    let training_summary: TrainingSummary = header.training_summary.try_into()?;
    let held_out = match (arrays.is_next(HELD_ROWS), training_summary.estimate) {
        (true, Some(estimate)) => Some(Arc::new(decode_held_out(n_classes, estimate.rows, &mut arrays)?)),
        _ => None,
    };
    let numbers = header.numbers.map(|estimate| decode_numbers(estimate, &mut arrays)).transpose()?;
    arrays.finish()?;
    if spec.task() == Task::Numbers && calibration.is_some()
        || spec.task() != Task::Numbers && numbers.is_some()
    {
        return Err(content("it should predict classes, or numbers, but not both"));
    }
    if map.as_ref().is_some_and(|map| map.size() != kept.width()) {
        return Err(content("what comes out of its map is not as wide as its hypothesis"));
    }
    let width = map.as_ref().map_or_else(|| kept.width(), |map| map.width());
    let described = header.schema.as_ref().and_then(Schema::width).unwrap_or(0);
    if described > width {
        return Err(content(format!("its rows should have {described} features, but it knows {width}")));
    }
    let named = header.schema.as_ref().and_then(Schema::feature_names).or(header.feature_names);
    if named.as_ref().is_some_and(|names| names.len() != width) {
        return Err(content("it should have as many feature names as features"));
    }
    let is_digest =
        |text: &String| text.len() == 32 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    if !header.data_fingerprint.as_ref().is_none_or(is_digest) {
        return Err(content("its fingerprint should be 32 hexadecimal digits"));
    }
    let is_odd = header.importance.as_ref().is_some_and(|importance| !importance.is_possible());
    if is_odd || !Variation::are_possible(&header.variations, width) {
        return Err(content("what it says of columns is too long, or no number"));
    }
    let date = header.date.map(|text| text.parse()).transpose().map_err(content)?;
    Ok(Model {
        spec,
        labels,
        feature_names: named,
        schema: header.schema.map(Arc::new),
        map,
        kept,
        training_summary,
        calibration,
        provenance: Provenance {
            data: header.data_fingerprint,
            date,
            support_numbers,
            held_out,
            importance: header.importance.map(Arc::new),
            variations: header.variations.into(),
            numbers: numbers.map(Arc::new),
        },
    })
}

pub(super) fn decode_hypothesis(
    hypothesis: &Hypothesis,
    needed: usize,
    arrays: &mut Arrays<'_>,
) -> Result<Kept, FormatError> {
    let (Hypothesis::Hyperplanes { width, outputs, .. }
    | Hypothesis::Votes { width, outputs, .. }
    | Hypothesis::Kernel { width, outputs, .. }
    | Hypothesis::Network { width, outputs, .. }) = *hypothesis;
    if outputs != needed {
        return Err(content(format!("these classes need {needed} outputs, but it has {outputs}")));
    }
    // A sparse model may be far wider than its file is long, so the width is bounded by itself.
    let n_weights = width.checked_mul(outputs).filter(|&n| n as u128 * 8 <= crate::start::MOST_WEIGHT_BYTES);
    let n_weights = n_weights.ok_or_else(|| content(format!("a width of {width} is beyond all measure")))?;
    match *hypothesis {
        Hypothesis::Kernel { .. } => kernels::decode(hypothesis, arrays),
        Hypothesis::Network { .. } => networks::decode(hypothesis, arrays),
        Hypothesis::Hyperplanes { sparse, .. } => {
            let places = if sparse { Some(arrays.u32s("places")?) } else { None };
            let (weights, biases) = (arrays.f64s("weights")?, arrays.f64s("biases")?);
            let planes = match places {
                None => planes(weights, biases, width, outputs)?,
                Some(places) => {
                    check_places(&places, weights.len(), n_weights)?;
                    if biases.len() != outputs {
                        return Err(content("there are not as many biases as outputs"));
                    }
                    Hyperplanes::from_few(width, places, weights, biases)
                }
            };
            Ok(Kept::Hyperplanes(planes))
        }
        Hypothesis::Votes { rounds, joint, zero, start, .. } => {
            let (row_offsets, row_indices) = (arrays.u64s("row-offsets")?, arrays.u32s("row-indices")?);
            let row_values = arrays.f64s("row-values")?;
            let move_rounds = arrays.u64s("move-rounds")?;
            let (move_outputs, move_rows) = (arrays.u32s("move-outputs")?, arrays.u32s("move-rows")?);
            let amounts = arrays.f64s("move-amounts")?;
            let (keeps, biases) = (arrays.f64s("move-keeps")?, arrays.f64s("move-biases")?);
            let n_moves = move_rounds.len();
            let lengths = [move_outputs.len(), move_rows.len(), amounts.len(), keeps.len(), biases.len()];
            if lengths.iter().any(|&length| length != n_moves) {
                return Err(content("the arrays of the moves differ in length"));
            }
            let start = if start {
                Some(planes(arrays.f64s("start-weights")?, arrays.f64s("start-biases")?, width, outputs)?)
            } else {
                None
            };
            let moves = (0..n_moves).map(|k| (move_rounds[k], move_outputs[k], move_rows[k])).collect();
            let steps = (0..n_moves).map(|k| [amounts[k], keeps[k], biases[k]]).collect();
            let log = Log {
                ballot: kernels::ballot_of(joint, zero),
                start,
                width,
                n_outputs: outputs,
                rounds,
                row_offsets,
                row_indices,
                row_values,
                moves,
                steps,
            };
            Votes::from_log(log).map(Kept::Votes).map_err(content)
        }
    }
}

pub(super) fn decode_calibration(
    text: &CalibrationText,
    needed: usize,
    arrays: &mut Arrays<'_>,
) -> Result<Calibration, FormatError> {
    let method: Method =
        text.method.parse().map_err(|error: rosenblatt_core::NameError| content(error.to_string()))?;
    let curves: Vec<Curve> = match method {
        Method::Platt => {
            let (slopes, offsets) = (arrays.f64s("platt-slopes")?, arrays.f64s("platt-offsets")?);
            if slopes.len() != offsets.len() {
                return Err(content("the calibration should have as many offsets as slopes"));
            }
            let pairs = slopes.into_iter().zip(offsets);
            pairs.map(|(slope, offset)| Curve::Platt { slope, offset }).collect()
        }
        Method::Isotonic => {
            let counts = arrays.u64s("isotonic-counts")?;
            let (scores, shares) = (arrays.f64s("isotonic-scores")?, arrays.f64s("isotonic-shares")?);
            let total = counts.iter().try_fold(0_u64, |sum, &count| sum.checked_add(count));
            if total != Some(scores.len() as u64) || scores.len() != shares.len() || counts.contains(&0) {
                return Err(content("the corners of the calibration do not fill its curves"));
            }
            let mut first = 0;
            let mut curves = Vec::with_capacity(counts.len());
            for count in counts {
                let corners = first..first + count as usize;
                first = corners.end;
                let (scores, shares) = (scores[corners.clone()].to_vec(), shares[corners].to_vec());
                let ascend = scores.windows(2).all(|pair| pair[0] < pair[1]);
                let climb = shares.windows(2).all(|pair| pair[0] <= pair[1]);
                if !ascend || !climb || !shares.iter().all(|share| (0.0..=1.0).contains(share)) {
                    return Err(content("a curve of the calibration does not climb from 0 to 1"));
                }
                curves.push(Curve::Isotonic { scores, shares });
            }
            curves
        }
        Method::Softmax if needed < 2 => {
            return Err(content("a softmax needs more than two classes"));
        }
        Method::Softmax => vec![Curve::Softmax; needed],
    };
    if curves.len() != needed {
        return Err(content(format!("these classes need {needed} calibration curves, not {}", curves.len())));
    }
    Ok(Calibration { rows: text.rows, curves })
}

/// What was predicted of the rows that were held out, of which there were `n_held`.
fn decode_held_out(n_classes: usize, n_held: u64, arrays: &mut Arrays<'_>) -> Result<HeldOut, FormatError> {
    let rows = arrays.u32s(HELD_ROWS)?;
    let (classes, predicted) = (arrays.u32s(HELD_CLASSES)?, arrays.u32s(HELD_PREDICTED)?);
    let has_probabilities = arrays.is_next(HELD_PROBABILITIES);
    let values = arrays.f32s(if has_probabilities { HELD_PROBABILITIES } else { HELD_SCORES })?;
    let held_out = HeldOut { rows, classes, predicted, values, has_probabilities, n_classes };
    match held_out.fault(n_held) {
        Some(fault) => Err(content(fault)),
        None => Ok(held_out),
    }
}

/// What was predicted of held-out rows, where that is numbers.
fn decode_numbers(estimate: NumberEstimate, arrays: &mut Arrays<'_>) -> Result<HeldNumbers, FormatError> {
    let rows = arrays.u32s(HELD_ROWS)?;
    let (targets, predicted) = (arrays.f64s(HELD_TARGETS)?, arrays.f64s(HELD_NUMBERS)?);
    let numbers = HeldNumbers { rows, targets, predicted, estimate };
    match numbers.fault() {
        Some(fault) => Err(content(fault)),
        None => Ok(numbers),
    }
}

fn decode_landmarks(width: usize, arrays: &mut Arrays<'_>) -> Result<(SparseRows, Vec<f64>), FormatError> {
    let offsets = arrays.u64s("landmark-offsets")?.into_iter().map(|offset| offset as usize).collect();
    let (indices, values) = (arrays.u32s("landmark-indices")?, arrays.f64s("landmark-values")?);
    let rows = SparseRows::from_parts(offsets, indices, values, width)
        .map_err(|why| content(format!("the landmarks of the map do not fit together: {why}")))?;
    Ok((rows, arrays.f64s("landmark-factor")?))
}

fn check_places(places: &[u32], n_values: usize, n_weights: usize) -> Result<(), FormatError> {
    let ascend = places.is_sorted_by(|a, b| a < b);
    let within = places.last().is_none_or(|&last| (last as usize) < n_weights);
    if places.len() != n_values || !ascend || !within {
        return Err(content("the places of the weights do not ascend within the width"));
    }
    Ok(())
}

fn planes(
    weights: Vec<f64>,
    biases: Vec<f64>,
    width: usize,
    outputs: usize,
) -> Result<Hyperplanes, FormatError> {
    if weights.len() != width * outputs || biases.len() != outputs {
        return Err(content("there are not as many weights as the width says"));
    }
    Ok(Hyperplanes::from_parts(weights, biases))
}
