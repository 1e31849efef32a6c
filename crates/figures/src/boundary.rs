//! Regions, boundary, margin and mistakes on a plane.

use crate::error::FigureError;
use crate::settings::{Setting, Settings, Takes};
use crate::subject::Subject;
use crate::words::{count, counted, percent};
use crate::{Figure, Needs, frames, network};
use rosenblatt::core::Dense;
use rosenblatt::data::Scaling;
use rosenblatt::insight::margins;
use rosenblatt::slice::{Slice, SliceKind, sample};
use rosenblatt_plot::{Axis, Boundary, Canvas, Dot, Picture, PlotError, Range, Verdict};

/// More points than this hide each other.
const MOST_DOTS: usize = 2000;
/// So many weights are summed in no time.
const CHEAP: usize = 2000;

pub(crate) const FIGURE: Figure = Figure {
    name: "boundary",
    about: "regions of the classes, the boundary, margin and mistakes",
    needs: Needs::Model,
    textbook: false,
    settings: &[COLUMNS, PRINCIPAL, frames::FRAMES, frames::STILL, SUPPORT],
    draw,
};

const COLUMNS: Setting = Setting::new(
    "columns",
    "the two columns to be seen, by name or number; others are held at their mean",
    "",
    Takes::TwoColumns,
);
const PRINCIPAL: Setting = Setting::switch(
    "principal",
    "see the two directions in which rows vary most; so it is for more than two features",
);
pub(crate) const SUPPORT: Setting = Setting::switch("support", "frame the rows that the run made a step for");

/// Which plane a boundary is seen on.
enum Plane {
    /// That of two features if there are no more, else the principal one.
    Found,
    /// That of two columns.
    Columns(String, String),
    /// The one in which rows vary most.
    Principal,
}

fn plane(settings: &Settings) -> Result<Plane, FigureError> {
    let columns = settings.parsed(&COLUMNS, |text| {
        let (across, up) = text.split_once(',').filter(|(_, up)| !up.contains(','))?;
        Some(Plane::Columns(across.to_owned(), up.to_owned()))
    })?;
    match (columns, settings.switch(&PRINCIPAL)?) {
        (Some(_), true) => Err(FigureError::Conflict { one: COLUMNS.name, other: PRINCIPAL.name }),
        (Some(columns), false) => Ok(columns),
        (None, true) => Ok(Plane::Principal),
        (None, false) => Ok(Plane::Found),
    }
}

fn draw(subject: &Subject, settings: &Settings, canvas: Canvas) -> Result<Picture, FigureError> {
    if let Some(n_frames) = settings.number(&frames::FRAMES)? {
        return frames::draw(subject, settings, n_frames, canvas);
    }
    let model = subject.model()?;
    let scene = Scene::new(subject, settings)?;
    let mistakes = subject.mistakes(model);
    let (labels, classes) = subject.classes(model);
    let mut dots = scene.dots(&classes);
    for dot in &mut dots {
        dot.mistaken = mistakes[dot.row];
        dot.support = subject.support.as_ref().is_some_and(|support| support[dot.row]);
    }
    let mut notes = vec![format!(
        "{}: {} in {}.",
        subject.learner(),
        counted(mistakes.iter().filter(|mistaken| **mistaken).count() as u64, "mistake", "mistakes"),
        counted(mistakes.len() as u64, "row", "rows")
    )];
    notes.extend(scene.notes(dots.len()));
    let mut predictor = model.predictor(subject.data.width());
    let mut row = Vec::new();
    let mut decide = |x: f64, y: f64| {
        let (x, y) = scene.seen(x, y);
        scene.slice.row_into(x, y, &mut row);
        let (class, margin) = predictor.verdict(Dense(&row));
        Verdict { class: class as usize, margin }
    };
    // On a plane that leaves features out, the nearest row is not seen where it is.
    let band = if model.labels().len() == 2 && scene.is_whole() {
        let nearest =
            margins(model, &subject.data, &subject.rows, false).into_iter().fold(f64::INFINITY, f64::min);
        (nearest > 0.0 && nearest.is_finite()).then_some(nearest)
    } else {
        None
    };
    let title = settings.title(|| format!("Decision boundary, {}", subject.source));
    // Corners are sharper where asking is cheap.
    let is_cheap = model.planes().is_some_and(|planes| planes.raw_weights().len() <= CHEAP);
    let spacing = if is_cheap { 2.0 } else { 5.0 };
    let lines = model.network().map_or_else(Vec::new, |network| network::lines(network, &scene));
    let picture = Boundary {
        // What is within a network's margin is no band along a line.
        band: band.filter(|_| model.network().is_none()),
        lines,
        normal: model.network().is_none(),
        notes,
        spacing,
        ..scene.boundary(title, labels.names(), &dots, &mut decide)?
    };
    Ok(picture.draw(canvas))
}

/// A plane with the places of all rows, in the units of the file.
pub(super) struct Scene<'a> {
    subject: &'a Subject,
    pub(super) slice: Slice,
    places: Vec<(f64, f64)>,
    /// From what the model sees to the units of the file, for each axis.
    units: [(f64, f64); 2],
}

impl<'a> Scene<'a> {
    pub(super) fn new(subject: &'a Subject, settings: &Settings) -> Result<Self, FigureError> {
        let data = &subject.data;
        if data.is_empty() {
            return Err(PlotError::Nothing { what: "rows".to_owned() }.into());
        }
        let slice = match &plane(settings)? {
            Plane::Columns(across, up) => {
                Slice::columns(data, column(subject, across)?, column(subject, up)?)?
            }
            Plane::Found if data.width() == 0 => {
                return Err(PlotError::Nothing { what: "features".to_owned() }.into());
            }
            Plane::Found if data.width() <= 2 => Slice::columns(data, 0, data.width() - 1)?,
            Plane::Found | Plane::Principal => Slice::principal(data, subject.spec.options().seed),
        };
        let units = match slice.kind() {
            SliceKind::Columns(across, up) => [subject.units(across), subject.units(up)],
            SliceKind::Principal(..) => [(1.0, 0.0); 2],
        };
        let shown = |(factor, shift): (f64, f64), value: f64| value * factor + shift;
        let places = slice.places(data).into_iter().map(|(x, y)| (shown(units[0], x), shown(units[1], y)));
        Ok(Self { subject, places: places.collect(), slice, units })
    }

    /// What the model sees of a place.
    pub(super) fn seen(&self, x: f64, y: f64) -> (f64, f64) {
        let seen = |(factor, shift): (f64, f64), value: f64| (value - shift) / factor;
        (seen(self.units[0], x), seen(self.units[1], y))
    }

    /// Whether the plane is all there is.
    fn is_whole(&self) -> bool {
        self.subject.data.width() <= 2 && matches!(self.slice.kind(), SliceKind::Columns(..))
    }

    /// The points to draw, all of them unless there are too many.
    pub(super) fn dots(&self, classes: &[u32]) -> Vec<Dot> {
        let rows = sample(self.places.len(), MOST_DOTS, self.subject.spec.options().seed);
        rows.into_iter().map(|row| self.dot(row, classes)).collect()
    }

    /// The point of a row.
    pub(super) fn dot(&self, row: usize, classes: &[u32]) -> Dot {
        let (x, y) = self.places[row];
        Dot::new(row, x, y, classes[row] as usize)
    }

    /// What must be known of the plane, and of the points that are drawn.
    pub(super) fn notes(&self, n_drawn: usize) -> Vec<String> {
        let mut notes = Vec::new();
        match self.slice.kind() {
            SliceKind::Principal(first, second) => notes.push(format!(
                "The first two principal components have {} and {} of the variance. Regions are those of the plane \
                 through the mean; rows lie off it, and rings go by all of their features.",
                percent(first),
                percent(second)
            )),
            SliceKind::Columns(across, up) => {
                let others = self.subject.data.width() - if across == up { 1 } else { 2 };
                if others > 0 {
                    let others = counted(others as u64, "other feature is", "other features are");
                    notes.push(format!(
                        "{others} held at the mean for the regions; rings go by all of them."
                    ));
                }
            }
        }
        if self.subject.scaler.as_ref().is_some_and(|scaler| scaler.scaling == Scaling::UnitNorm) {
            notes.push("Rows were brought to length 1.".to_owned());
        }
        let n_rows = self.places.len();
        if n_drawn < n_rows {
            notes.push(format!(
                "{} of {} rows are drawn, evenly chosen; axes hold all of them.",
                count(n_drawn as u64),
                count(n_rows as u64)
            ));
        }
        notes
    }

    /// The picture of some points, with axes that hold all.
    pub(super) fn boundary<'b>(
        &self,
        title: String,
        classes: &'b [String],
        dots: &'b [Dot],
        decide: &'b mut dyn FnMut(f64, f64) -> Verdict,
    ) -> Result<Boundary<'b>, FigureError> {
        let names = match self.slice.kind() {
            SliceKind::Columns(across, up) if across == up => {
                [self.subject.feature_name(across), String::new()]
            }
            SliceKind::Columns(across, up) => [across, up].map(|feature| self.subject.feature_name(feature)),
            SliceKind::Principal(..) => {
                ["first principal component", "second principal component"].map(str::to_owned)
            }
        };
        let x = Range::of(&names[0], self.places.iter().map(|place| place.0))?;
        let y = Range::of(&names[1], self.places.iter().map(|place| place.1))?;
        let [x_name, y_name] = names;
        Ok(Boundary {
            x: Axis::new(x_name, x.padded(0.08)),
            y: Axis::new(y_name, y.padded(0.08)),
            equal: true,
            ..Boundary::new(title, classes, dots, decide)?
        })
    }
}

/// The feature that goes by a name, or has that number, from 1.
fn column(subject: &Subject, word: &str) -> Result<usize, FigureError> {
    let width = subject.data.width();
    let names: Vec<String> = (0..width).map(|feature| subject.feature_name(feature)).collect();
    let named = names.iter().position(|name| name == word);
    let numbered = || word.parse::<usize>().ok().filter(|number| (1..=width).contains(number)).map(|n| n - 1);
    named.or_else(numbered).ok_or_else(|| {
        let known: Vec<String> = names.iter().take(12).map(|name| format!("`{name}`")).collect();
        let more = if names.len() > known.len() { ", …" } else { "" };
        let known = format!("{}{more}", known.join(", "));
        FigureError::NoSuchFeature { name: word.to_owned(), known, width }
    })
}
