//! Why there is no picture.

use crate::settings::Takes;
use rosenblatt::Error;
use rosenblatt_plot::PlotError;

/// Why a picture could not be drawn.
#[derive(Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FigureError {
    /// Nobody knows a picture of this name.
    #[error("there is no plot of `{name}`")]
    NoSuchFigure {
        /// The name that was given.
        name: String,
    },
    /// A setting that this kind does not have.
    #[error("`plot {figure}` has no `{name}`; it has {}", if known.is_empty() { "no settings".to_owned() } else { known.join(", ") })]
    NoSuchSetting {
        /// The kind.
        figure: &'static str,
        /// What was set.
        name: String,
        /// What can be.
        known: Vec<&'static str>,
    },
    /// A setting has a value that makes no sense.
    #[error("`{name}` should be {takes}, but is `{found}`")]
    BadSetting {
        /// Which one.
        name: String,
        /// What it takes.
        takes: Takes,
        /// What it was given.
        found: String,
    },
    /// Two settings that exclude each other.
    #[error("`{one}` and `{other}` exclude each other")]
    Conflict {
        /// The first.
        one: &'static str,
        /// The second.
        other: &'static str,
    },
    /// There is nothing to draw, or it is too large.
    #[error(transparent)]
    Plot(#[from] PlotError),
    /// The run, or what it was to show, was refused.
    #[error(transparent)]
    Engine(#[from] Error),
    /// A kind that shows a model has none.
    #[error("this picture needs a model")]
    NoModel,
    /// A kind that shows a tagger has none.
    #[error("`plot {figure}` shows a tagger of sentences; train one from sentences, and name its model")]
    NoTagger {
        /// The kind.
        figure: &'static str,
    },
    /// A kind that shows models of rows was given a tagger.
    #[error(
        "`plot {figure}` shows models of rows, and this is a tagger of sentences; `transitions` shows those"
    )]
    IsTagger {
        /// The kind.
        figure: &'static str,
    },
    /// A certificate about the space of a kernel.
    #[error("a hyperplane in the space of a kernel is not drawn")]
    Kernel,
    /// A kind that shows a run was given a model.
    #[error("`plot {figure}` shows a run, which a model does not keep; leave the model out to train one")]
    NeedsRun {
        /// The kind.
        figure: &'static str,
    },
    /// The picture is of two classes.
    #[error(
        "this picture is of two classes, but there are {n_classes}; choose the one to be told from the rest"
    )]
    NotTwoClasses {
        /// Classes of the data.
        n_classes: usize,
    },
    /// No feature goes by this name or number.
    #[error("there is no feature `{name}`; there are {known}, or numbers from 1 to {width}")]
    NoSuchFeature {
        /// What was asked for.
        name: String,
        /// Some that there are.
        known: String,
        /// How many there are.
        width: usize,
    },
    /// Features that form no picture of this size.
    #[error("pictures of {width}x{height} have {} pixels, but the model has {features} features", width * height)]
    NotPixels {
        /// Pixels in a line.
        width: usize,
        /// Lines.
        height: usize,
        /// Features of the model.
        features: usize,
    },
}
