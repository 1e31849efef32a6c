//! What can go wrong between a wish and a model.

use crate::task::Task;
use rosenblatt_core::{NameError, ParamError, Readout, SetupError};
use rosenblatt_data::words::count;
use rosenblatt_data::{DataError, Remedy};
use rosenblatt_kernel::maps::MapError;
use rosenblatt_kernel::{KernelError, Trouble};

/// Why no model came of it. Messages say what was found and what was expected. What to do about a file stands in
/// [`DataError::help`]; [`DataError::report`] is the whole message, with the line that is wrong.
#[derive(Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no algorithm of this name.
    #[error("there is no algorithm `{name}`{}", instead(.name, .suggestion.as_deref()))]
    UnknownAlgorithm {
        /// The name that was given.
        name: String,
        /// The known name closest to it.
        suggestion: Option<String>,
    },
    /// A parameter of the algorithm is wrong.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// A convention has another name.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The feature map is wrong, or does not suit the data.
    #[error(transparent)]
    Map(#[from] MapError),
    /// The kernel cannot be had.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The card does not compute.
    #[error(transparent)]
    Device(#[from] Trouble),
    /// The choices do not go together.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// A number is outside its range.
    #[error("`{name}` should be {expected}, but is {found}")]
    Range {
        /// Which option.
        name: &'static str,
        /// What it should be.
        expected: &'static str,
        /// What it is.
        found: String,
    },
    /// A model could not be saved or loaded: the message of a [`StoreError`](crate::model::StoreError).
    #[error("{0}")]
    Store(String),
    /// Templates that cannot be used.
    #[error("{what}")]
    Template {
        /// What is wrong with them.
        what: String,
    },
    /// More labels than a search can weigh against each other.
    #[error(
        "a tagger should have at most {most} labels, but there are {found}; is this the column of the label?"
    )]
    TooManyLabels {
        /// How many there are, or were when it was too much.
        found: usize,
        /// How many there may be.
        most: usize,
    },
    /// There is nothing to learn from.
    #[error("there are no rows to learn from")]
    NoRows,
    /// A classifier needs classes.
    #[error("training needs at least two classes, but all rows are {}", found.as_deref().unwrap_or("unlabelled"))]
    OneClass {
        /// The only class there is.
        found: Option<String>,
    },
    /// Folders are classes, and there is one.
    #[error(
        "every folder in it is taken for a class, and training needs at least two, but there is only `{class}`"
    )]
    OneFolder {
        /// The one that holds files.
        class: String,
    },
    /// A stream has shown rows of one class only.
    #[error("training needs at least two classes, but there is only `{class}` so far")]
    OneClassSoFar {
        /// The only class so far.
        class: String,
    },
    /// A rule that cannot learn from rows that come and go.
    #[error("`{algorithm}` cannot learn online: {why}")]
    NotOnline {
        /// The rule.
        algorithm: &'static str,
        /// Why it cannot.
        why: &'static str,
    },
    /// Something is wrong with the rows of a source.
    #[error("{name}: {error}")]
    InData {
        /// What the source is called.
        name: String,
        /// What is wrong.
        error: Box<Error>,
    },
    /// A class is named that is not there.
    #[error("there is no class `{name}`; the classes are {}", some(known))]
    UnknownClass {
        /// The unknown name.
        name: String,
        /// The classes there are.
        known: Vec<String>,
    },
    /// A row has more features than the model knows.
    #[error("a row has {found} features, but the model knows {known}; were columns added?")]
    TooWide {
        /// The width of the row.
        found: usize,
        /// The width of the model.
        known: usize,
    },
    /// A row has not as many values as the model has features.
    #[error("a row has {found} values, but the model has {expected} features; give a value for each of them")]
    WrongWidth {
        /// Values of the row.
        found: usize,
        /// Features of the model.
        expected: usize,
    },
    /// The features of a sparse row are not in order, or not as many as its values.
    #[error("a sparse row should have a value for each of its features, and these ascending and each once")]
    NotSparse,
    /// Rows about which nothing can be proved.
    #[error("{what}")]
    Uncertifiable {
        /// Why not.
        what: String,
    },
    /// The space of a kernel is too large for a proof in it.
    #[error("{width} features have too many products of degree {degree}, or too large ones")]
    TooManyProducts {
        /// Features.
        width: usize,
        /// The degree of the kernel.
        degree: u32,
    },
    /// Probabilities are asked of a model that has none.
    #[error("the model was not calibrated, so it has no probabilities; calibrate it on held-out rows")]
    NotCalibrated,
    /// Rows are to be judged, and have no labels.
    #[error("there is no column `{label}` to compare with what the model predicts")]
    Unlabelled {
        /// The column that should have them.
        label: String,
    },
    /// A feature value is not a finite number.
    #[error("feature {feature} of row {row} is {value}; values must be finite numbers")]
    NotFinite {
        /// The row, from 0.
        row: usize,
        /// The feature, from 0.
        feature: usize,
        /// What stands there.
        value: f64,
    },
    /// The weights grew beyond all numbers.
    #[error("the weights overflowed in epoch {epoch}{}; scale the features or lower the rate", at_row(*.row))]
    Overflow {
        /// The epoch, from 1.
        epoch: u64,
        /// The row, from 0, if all are at hand.
        row: Option<usize>,
    },
    /// The checkpointer asked to stop.
    #[error("training was stopped in epoch {epoch}")]
    Interrupted {
        /// The epoch, from 1.
        epoch: u64,
    },
    /// The monitor asked to stop, and what was done so far is of no use.
    #[error("stopped before it was done")]
    Stopped,
    /// The rows cannot be had.
    #[error(transparent)]
    Data(#[from] DataError),
    /// Probabilities are fitted on rows that were held out.
    #[error("probabilities are fitted on held-out rows, and none are held out")]
    NothingHeldOut,
    /// Costs are weighed by probabilities.
    #[error("what mistakes cost is weighed by probabilities, and none are fitted")]
    CostsWithoutProbabilities,
    /// A model that this run cannot start from.
    #[error("this run cannot start from that model: {what}")]
    BadStart {
        /// Why not.
        what: String,
    },
    /// Something that cannot be had of rows that come and go.
    #[error("`{name}` should be {expected} where rows do not stay in memory, but is {found}")]
    NotOnDisk {
        /// Which option.
        name: &'static str,
        /// What it should be.
        expected: &'static str,
        /// What it is.
        found: String,
    },
    /// Each fold needs a row.
    #[error("{folds} folds need at least as many rows; there are {rows}")]
    TooFewRows {
        /// Folds that were asked for.
        folds: usize,
        /// Rows of the data.
        rows: usize,
    },
    /// What was taken for the label is different in most rows.
    #[error(
        "{} distinct values in {} rows do not look like classes",
        label_of(column.as_deref(), *classes),
        count(*rows as u64)
    )]
    NotALabel {
        /// What the column is called, if it has a name.
        column: Option<String>,
        /// How many classes there would be.
        classes: usize,
        /// In how many rows.
        rows: usize,
    },
    /// A number to predict that is none, or of no use.
    #[error("the number to predict in row {row} is {found}, but should be {expected}")]
    BadTarget {
        /// The row, from 1.
        row: usize,
        /// What stands there.
        found: String,
        /// What should.
        expected: &'static str,
    },
    /// Intervals are made of the residuals of held-out rows.
    #[error("intervals need rows that were held out, and this model has none")]
    NoResiduals,
    /// Of few residuals nothing is known of the largest.
    #[error("{rows} held-out rows are too few for an interval of {share}")]
    FewResiduals {
        /// The probability that was asked for.
        share: f64,
        /// Held-out rows.
        rows: usize,
    },
    /// Nothing is to be learned of targets that are all the same.
    #[error("the number to predict is {found} in every row, so there is nothing to learn")]
    OneTarget {
        /// The only one.
        found: f64,
    },
    /// What was taken for the label is a quantity.
    #[error(
        "{} distinct numbers in {} rows look like a quantity, and here classes are learned",
        label_of(column.as_deref(), *classes),
        count(*rows as u64)
    )]
    Quantity {
        /// What the column is called, if it has a name.
        column: Option<String>,
        /// How many classes there would be.
        classes: usize,
        /// In how many rows.
        rows: usize,
    },
    /// What was taken for the label are numbers that can be read in more than one way.
    #[error(
        "{} distinct values in {} rows look like numbers, such as `{found}`, but how they are read is not clear",
        label_of(column.as_deref(), *classes),
        count(*rows as u64)
    )]
    Amounts {
        /// What the column is called, if it has a name.
        column: Option<String>,
        /// How many classes there would be.
        classes: usize,
        /// In this many rows.
        rows: usize,
        /// One of them.
        found: String,
    },
    /// Something that is only to be had of rows in memory.
    #[error("{what} needs all rows in memory, and they take more than is allowed")]
    NeedsMemory {
        /// What was asked for.
        what: &'static str,
    },
    /// What must be known of every row is too much.
    #[error(
        "{} rows need {} bytes of memory to know each by its class{}, but {} are allowed",
        count(*rows as u64),
        count(*needed),
        if *calibrating { " and to fit probabilities" } else { "" },
        count(*limit)
    )]
    MemoryLimit {
        /// Rows of the data.
        rows: usize,
        /// Bytes that are needed.
        needed: u64,
        /// Bytes that are allowed.
        limit: u64,
        /// Whether probabilities are among what needs them.
        calibrating: bool,
    },
    /// Which column is the label is unclear.
    #[error("which column is the label: {}?", quoted(candidates))]
    WhichLabel {
        /// Those that may be.
        candidates: Vec<String>,
    },
    /// A checkpoint of other data, or of another description.
    #[error(
        "the checkpoint belongs to another run: {}; give the same data and options, or start anew",
        differences.join("; ")
    )]
    OtherRun {
        /// What differs, one sentence each.
        differences: Vec<String>,
    },
    /// Models that have no mean.
    #[error("these models cannot be mixed: {}", differences.join("; "))]
    NotMixable {
        /// What differs, one sentence each.
        differences: Vec<String>,
    },
    /// What a shard or a driver was handed is not what it should be.
    #[error("what was handed over cannot be mixed: {what}")]
    BadShare {
        /// What is wrong with it.
        what: String,
    },
    /// A checkpoint that is whole, but says what cannot be.
    #[error("the checkpoint is whole but wrong: {what}")]
    BadCheckpoint {
        /// What is wrong with it.
        what: String,
    },
    /// Rows to be judged on that have other classes.
    #[error("the test rows should have the classes of the training rows, in the same order, but do not")]
    OtherClasses,
    /// A model that claims far more features than it has weights for, where there would be room for every one.
    #[error(
        "{what} needs room for {n_weights} weights, but the model has only {n_stored} that are not zero; train it with fewer features, or hash them into fewer"
    )]
    Thin {
        /// What is asked of it.
        what: &'static str,
        /// One for every feature and output.
        n_weights: usize,
        /// Those that it holds.
        n_stored: usize,
    },
    /// Scores beyond all numbers.
    #[error(
        "the score of a row is no finite number: its values, or the weights of the model, are too large; scale the features"
    )]
    Endless,
    /// A kernel run starts from nothing.
    #[error("a run with a kernel cannot start from hyperplanes; leave the start out")]
    StartBesideKernel,
    /// A start of another kind or shape.
    #[error(
        "a run should start from weights of its own kind and as many, as hyperplanes of the same features or a network of the same layers; leave the start out"
    )]
    OtherStart,
    /// Weights are asked of a model that has none of its own.
    #[error(
        "this model is a vote of many hyperplanes, of a kernel or of a network, and has no weights of its own"
    )]
    NotLinear,
    /// Something is asked of a model whose task is another.
    #[error("this model {has}; what is asked for needs one that {wants}")]
    OtherTask {
        /// What the model does.
        has: Task,
        /// What it should do.
        wants: Task,
    },
    /// The rows were read a second time, and were others.
    #[error("the rows changed between two reads of the source, expected the same ones")]
    SourceChanged,
    /// A format holds a sum over the columns of a table, and a model is none.
    #[error("{format} holds a sum over the columns of a table, but {why}")]
    NotASum {
        /// The format.
        format: &'static str,
        /// What the model is.
        why: &'static str,
        /// What to do about it.
        cure: &'static str,
    },
    /// Something that is about features as they are is asked of a model that maps them.
    #[error("{what} features as they are, but rows go through a feature map here")]
    Mapped {
        /// What cannot be had, as the beginning of a sentence.
        what: &'static str,
    },
    /// The hypotheses would not fit into memory.
    #[error(
        "{features} features for {outputs} outputs need {needed} bytes of weights; hash the features, or raise the limit"
    )]
    TooLarge {
        /// Features of the data.
        features: usize,
        /// Outputs the classes need.
        outputs: usize,
        /// Bytes the weights would take.
        needed: u128,
    },
    /// Mapped rows would not fit into memory.
    #[error("{rows} rows of {size} mapped features need {needed} bytes")]
    MappedTooLarge {
        /// Rows of the data.
        rows: usize,
        /// Features that come out of the map.
        size: usize,
        /// Bytes the mapped rows would take.
        needed: u128,
    },
    /// The values of a row are too large for the map.
    #[error("the values of row {row} are too large for the feature map; scale the features, or lower gamma")]
    BeyondMap {
        /// The row, from 0.
        row: usize,
    },
}

/// Refuses what is out of its range.
pub(crate) fn refuse<T>(
    name: &'static str,
    expected: &'static str,
    found: impl std::fmt::Display,
) -> Result<T, Error> {
    Err(Error::range(name, expected, found))
}

impl From<rosenblatt_core::state::StateError> for Error {
    fn from(error: rosenblatt_core::state::StateError) -> Self {
        Self::BadCheckpoint { what: error.to_string() }
    }
}

impl Error {
    /// An option that is out of its range.
    pub fn range(name: &'static str, expected: &'static str, found: impl std::fmt::Display) -> Self {
        Self::Range { name, expected, found: found.to_string() }
    }

    /// The same error, for rows that follow `n_before` others.
    #[must_use]
    pub fn behind(self, n_before: usize) -> Self {
        match self {
            Self::NotFinite { row, feature, value } => {
                Self::NotFinite { row: row + n_before, feature, value }
            }
            other => other,
        }
    }

    /// The same with the name of the source that it is about, if it is about rows and names none.
    #[must_use]
    pub(crate) fn in_data(self, name: &str) -> Self {
        match self {
            Self::OneClass { .. }
            | Self::OneFolder { .. }
            | Self::OneClassSoFar { .. }
            | Self::NoRows
            | Self::NotFinite { .. }
            | Self::Overflow { .. }
            | Self::NotALabel { .. }
            | Self::BadTarget { .. }
            | Self::OneTarget { .. }
            | Self::Quantity { .. }
            | Self::Amounts { .. }
            | Self::WhichLabel { .. }
            | Self::BeyondMap { .. } => Self::InData { name: name.to_owned(), error: Box::new(self) },
            other => other,
        }
    }

    /// What to do about it, if that is known and the message does not say it.
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::InData { error, .. } => error.remedy(),
            Self::Data(error) => error.help().cloned(),
            Self::NotMixable { .. } => Some(
                "train them with the same options, from one model with {start-from}, so that they read rows alike".into(),
            ),
            Self::NotLinear => Some("train with {readout=averaged} and without a kernel".into()),
            Self::TooManyProducts { .. } => Some("try a lower {degree}".into()),
            Self::Mapped { .. } => Some("leave {map} out".into()),
            Self::NotASum { cure, .. } => Some((*cure).into()),
            Self::MappedTooLarge { .. } => {
                Some("lower {map-size}, or learn from rows that stay on disk with {memory}".into())
            }
            Self::WhichLabel { .. } => Some("name it with {label}".into()),
            Self::NotALabel { classes, rows, .. } if classes == rows => Some(
                "name a column of classes with {label}, or predict numbers with {task=regression}; with {holdout=0} each value \
                 is a class of one row, and nothing is estimated"
                    .into(),
            ),
            Self::NotALabel { .. } => {
                Some("name the label column with {label}, and a column of text with {text}".into())
            }
            Self::Quantity { .. } => Some(
                "predict it as a number from rows in memory, without {memory} and {online}, turn it into classes, such as \
                 low and high, or name a column of classes with {label}"
                    .into(),
            ),
            Self::Amounts { .. } => Some(
                "write them as plain numbers, such as 1234.5, to predict numbers, or say {task=classification} if these are \
                 classes"
                    .into(),
            ),
            Self::BadTarget { .. } => {
                Some("mend the row, or leave it out; if these are classes, say so with {task=classification}".into())
            }
            Self::NoResiduals => Some("train it again: `train` with {folds=5}".into()),
            Self::Unlabelled { .. } => Some("name the column of labels with {label=NAME}".into()),
            Self::FewResiduals { .. } => Some("ask for a smaller share, or train from more rows".into()),
            Self::OneTarget { .. } => Some("name another column with {label}".into()),
            Self::OneClassSoFar { .. } => Some(NAME_CLASSES.into()),
            Self::OneClass { .. } => {
                Some("add rows of another class, or name the column of the classes with {label}".into())
            }
            Self::OneFolder { .. } => {
                Some("name the folder that holds one folder per class, or a table with a column of classes".into())
            }
            Self::NeedsMemory { .. } => Some("raise {memory}, or leave it out".into()),
            Self::MemoryLimit { calibrating: true, .. } => Some(
                "raise {memory}, leave probabilities out with {calibrate=off}, or learn in one epoch with {online}"
                    .into(),
            ),
            Self::MemoryLimit { .. } => Some("raise {memory}, or learn in one epoch with {online}".into()),
            Self::CostsWithoutProbabilities => {
                Some("hold rows out with {holdout=0.2} or {folds=5}, and leave {calibrate} out".into())
            }
            Self::NothingHeldOut => Some("hold rows out, or learn from all of them with {folds=5}".into()),
            Self::NotOnDisk { .. } => {
                Some("raise {memory} so that the rows fit, or leave the choice out".into())
            }
            _ => None,
        }
    }
}

/// What helps if classes turn up late.
pub(crate) const NAME_CLASSES: &str =
    "name all classes beforehand with {classes=a,b,c}, or read from a file, which is looked through first";

/// What to write in place of a name that no algorithm has. Textbooks call the voted perceptron an algorithm.
fn instead(name: &str, suggestion: Option<&str>) -> String {
    match suggestion {
        _ if name.parse::<Readout>().is_ok() => {
            format!("; `{name}` is a readout, which goes with an algorithm such as `perceptron`")
        }
        Some(known) => format!("; did you mean `{known}`?"),
        None => "; see `algorithms`".to_owned(),
    }
}

/// The first of many names.
fn some(names: &[String]) -> String {
    let dots = if names.len() > 12 { ", …" } else { "" };
    quoted(&names[..names.len().min(12)]) + dots
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn label_of(column: Option<&str>, classes: usize) -> String {
    let classes = count(classes as u64);
    column.map_or_else(|| classes.clone(), |column| format!("column `{column}` is the label, and {classes}"))
}

fn at_row(row: Option<usize>) -> String {
    row.map_or_else(String::new, |row| format!(", at row {}", row + 1))
}
