//! Why there is no picture.

use crate::FIGURES;
use crate::settings::Takes;
use rosenblatt::{Error, Task};
use rosenblatt_plot::PlotError;

/// Why a picture could not be drawn.
#[derive(Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FigureError {
    /// There is no picture of this name.
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
    /// Training rows were asked for, and the data is not what the model learned from.
    #[error("these are not the rows that the model learned from: there are no training rows to show")]
    OtherRows,
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
    /// A kind that shows models of another task.
    #[error(
        "`plot {figure}` shows a model that {}, but this one {has}; {}",
        words(wants),
        others(*has)
    )]
    OtherTask {
        /// The kind.
        figure: &'static str,
        /// What its models are asked for.
        wants: &'static [Task],
        /// What this one is asked for.
        has: Task,
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
        "this picture is of two classes, but there are {}: {}; choose one against the rest",
        classes.len(),
        named(classes)
    )]
    NotTwoClasses {
        /// Classes of the data.
        classes: Vec<String>,
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
    #[error("pictures of {width}x{height} have {} pixels, but the model has {features} features", *width as u128 * *height as u128)]
    NotPixels {
        /// Pixels in a line.
        width: usize,
        /// Lines.
        height: usize,
        /// Features of the model.
        features: usize,
    },
}

/// The first of many names.
pub(crate) fn named(names: &[String]) -> String {
    let first: Vec<String> = names.iter().take(12).map(|name| format!("`{name}`")).collect();
    format!("{}{}", first.join(", "), if names.len() > 12 { ", …" } else { "" })
}

/// What models are asked for.
fn words(tasks: &[Task]) -> String {
    tasks.iter().map(Task::to_string).collect::<Vec<_>>().join(" or ")
}

/// The kinds for such models.
fn others(task: Task) -> String {
    let names: Vec<&str> =
        FIGURES.iter().filter(|figure| figure.tasks.contains(&task)).map(|figure| figure.name).collect();
    match names.as_slice() {
        [only] => format!("`plot {only}` is for those"),
        names => format!("kinds for those: {}", names.join(", ")),
    }
}
