//! Pictures and reports of models, for any face: the engine computes, the plot crate draws, and here they meet.
//!
//! [`draw`] makes a [`Picture`] of a kind that [`FIGURES`] lists; [`report`] writes a page with everything
//! about a model. Neither reads a file nor writes one. Each kind is one file here and one line in the table, and has
//! options of its own.
//!
//! ```
//! use rosenblatt::{Dataset, Spec, train};
//! use rosenblatt_figures::{Canvas, Settings, Subject, draw};
//!
//! let data = Dataset::from_rows(&[[2.0, 0.1], [1.8, 0.3], [0.2, 2.1], [0.1, 1.7]], &["a", "a", "b", "b"]);
//! let model = train(&Spec::default(), &data)?;
//! let subject = Subject::of_model("points", data, model);
//! let picture = draw("boundary", &subject, &Settings::default(), Canvas::default())?;
//! assert!(picture.svg(&Default::default()).contains("class=\"boundary"));
//! let two = Settings::default().with("top", "1");
//! assert!(draw("weights", &subject, &two, Canvas::default()).is_ok());
//! assert!(draw("weights", &subject, &Settings::default().with("frames", "3"), Canvas::default()).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod boundary;
mod confusion;
mod curves;
mod error;
mod fit;
mod frames;
mod growth;
mod margins;
mod network;
mod page;
mod precision;
mod reliability;
mod report;
mod residuals;
mod roc;
mod sentences;
mod settings;
mod shapes;
mod subject;
mod weights;
pub mod words;

use rosenblatt::catalogue::{self, Catalogue};
use rosenblatt::{Model, Task};

pub use error::FigureError;
pub use network::{Approximation, approximation};
pub use report::{Fared, Report, report};
pub use rosenblatt_plot::{Canvas, Look, Picture, PlotError, Svg, Terminal};
pub use sentences::{TaggerReport, describe_estimate, list_attributes, list_labels, list_spans};
pub use settings::{Setting, Settings, Takes};
pub use subject::{Judged, Subject};

/// A kind of picture.
#[derive(Debug, Clone, Copy)]
pub struct Figure {
    /// What it is called.
    pub name: &'static str,
    /// What it shows.
    pub about: &'static str,
    /// What it is drawn from.
    pub needs: Needs,
    /// What the models are asked for that it shows.
    pub tasks: &'static [Task],
    /// Whether it shows a run as a textbook has it: rows unscaled, in the given order, the last hypothesis.
    pub textbook: bool,
    /// What can be chosen about it.
    pub settings: &'static [Setting],
    draw: fn(&Subject, &Settings, Canvas) -> Result<Picture, FigureError>,
}

/// What a kind is drawn from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// A model that learned from all rows, and rows.
    Model,
    /// A model that learned from all rows, and nothing else.
    ModelOnly,
    /// A model that learned from all rows but some, which it is judged on.
    HeldOut,
    /// The same, with probabilities, which were fitted on yet others.
    Probabilities,
    /// A run of its own; no model will do.
    Run,
}

/// The kinds of pictures.
pub const FIGURES: &[Figure] = &[
    boundary::FIGURE,
    curves::FIGURE,
    growth::MISTAKES,
    growth::NORMS,
    margins::FIGURE,
    weights::FIGURE,
    shapes::FIGURE,
    roc::FIGURE,
    precision::FIGURE,
    reliability::FIGURE,
    confusion::FIGURE,
    fit::FIGURE,
    residuals::FIGURE,
    sentences::TRANSITIONS,
];

/// Other names of kinds: what a kind shows, as you might ask for it.
pub const ALIASES: &[(&str, &str)] = &[("misclassified", "boundary")];

/// The kind that goes by this name.
pub fn find(name: &str) -> Result<&'static Figure, FigureError> {
    let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
    let name = alias.map_or(name, |(_, figure)| *figure);
    let found = FIGURES.iter().find(|figure| figure.name == name);
    found.ok_or_else(|| FigureError::NoSuchFigure { name: name.to_owned() })
}

impl Figure {
    /// The picture.
    pub fn draw(
        &self,
        subject: &Subject,
        settings: &Settings,
        canvas: Canvas,
    ) -> Result<Picture, FigureError> {
        settings.check(self)?;
        self.check_task(subject.model.as_ref().map_or_else(|| subject.spec.task(), Model::task))?;
        (self.draw)(subject, settings, canvas)
    }

    /// An error if it does not show models that are asked for this.
    pub fn check_task(&self, has: Task) -> Result<(), FigureError> {
        if self.tasks.contains(&has) {
            return Ok(());
        }
        Err(FigureError::OtherTask { figure: self.name, wants: self.tasks, has })
    }

    /// Whether these rows should be read, and learned from, as a textbook has it.
    pub fn is_textbook(&self, settings: &Settings) -> bool {
        self.textbook || settings.get(frames::FRAMES.name).is_some()
    }

    /// An error if a model that is at hand cannot show this, since it does not keep its run, or holds no rows out.
    pub fn check_model(&self, settings: &Settings) -> Result<(), FigureError> {
        if settings.get(subject::HOLDOUT.name).is_some() {
            return Err(FigureError::Conflict { one: "model", other: subject::HOLDOUT.name });
        }
        let shows_run = self.needs_run(settings) || settings.get(boundary::SUPPORT.name).is_some();
        if shows_run { Err(FigureError::NeedsRun { figure: self.name }) } else { Ok(()) }
    }

    /// Whether it is drawn from a run of its own, with these settings.
    pub fn needs_run(&self, settings: &Settings) -> bool {
        self.needs == Needs::Run || settings.get(frames::FRAMES.name).is_some()
    }
}

/// The picture of a kind.
pub fn draw(
    kind: &str,
    subject: &Subject,
    settings: &Settings,
    canvas: Canvas,
) -> Result<Picture, FigureError> {
    find(kind)?.draw(subject, settings, canvas)
}

/// [`rosenblatt::catalogue()`] with the pictures.
pub fn catalogue() -> Catalogue {
    let setting = |setting: &Setting| catalogue::FigureSetting {
        name: setting.name,
        meaning: setting.meaning,
        default: Some(setting.default).filter(|default| !default.is_empty()),
        takes: setting.takes.to_string(),
    };
    let figure = |figure: &Figure| catalogue::Figure {
        name: figure.name,
        about: figure.about,
        settings: figure.settings.iter().map(setting).collect(),
    };
    Catalogue { figures: FIGURES.iter().map(figure).collect(), ..rosenblatt::catalogue() }
}
