//! Regions, boundary, margin and mistakes on a plane.

use crate::error::FigureError;
use crate::settings::{Setting, Settings, Takes};
use crate::subject::{Judged, Subject};
use crate::words::{count, counted, percent};
use crate::{Figure, Needs, frames, network};
use rosenblatt::data::Scaling;
use rosenblatt::insight::margins;
use rosenblatt::learning::Dense;
use rosenblatt::slice::{Slice, SliceKind, sample, standing_unit, standings, stands_by_pairs};
use rosenblatt::{Model, Task};
use rosenblatt_plot::{
    Aspect, Axis, Boundary, Canvas, Dot, Ink, Item, Picture, PlotError, Range, Swatch, Verdict,
};
use std::collections::BTreeMap;

/// More points than this hide each other.
const MOST_DOTS: usize = 2000;
/// A row this many lengths of the others away from them is drawn in.
const FAR: f64 = 3.0;
/// This many weights are summed in no time.
const CHEAP: usize = 2000;

pub(crate) const FIGURE: Figure = Figure {
    name: "boundary",
    about: "regions of the classes, the boundary, margin and mistakes",
    needs: Needs::Model,
    tasks: &[Task::Classes],
    textbook: false,
    settings: &[COLUMNS, PRINCIPAL, frames::FRAMES, frames::STILL, SUPPORT],
    draw,
};

const COLUMNS: Setting = Setting::new(
    "columns",
    "the two columns to show, by name or number. Others are held at their mean",
    "",
    Takes::TwoColumns,
);
const PRINCIPAL: Setting = Setting::switch(
    "principal",
    "see the two directions in which rows vary most, instead of how far rows are from the boundary",
);
pub(crate) const SUPPORT: Setting = Setting::switch("support", "frame the rows that the run made a step for");

/// Which plane a boundary is seen on.
enum Plane {
    /// That of two features if there are no more, else one that has every row on its true side.
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
    let scene = Scene::new(subject, settings, Some(model))?;
    let mistakes = subject.mistakes(model)?;
    let (labels, classes) = subject.classes(model);
    let mut dots = scene.dots(&classes);
    for dot in &mut dots {
        dot.mistaken = mistakes[dot.row];
        dot.support = subject.support.as_ref().is_some_and(|support| support[dot.row]);
    }
    // The rows are all there are, whatever rows other pictures judge the model on.
    let rows = match subject.judged_on {
        Judged::Learned | Judged::HeldOut => ("training row", "training rows"),
        Judged::SetAside | Judged::Others => ("row", "rows"),
    };
    let beside = subject.held_out.as_ref().map_or_else(String::new, |held_out| {
        let judged = held_out.evaluation(model.labels());
        let rows = counted(judged.rows, "held-out row", "held-out rows");
        format!(", {} in {rows}, which are not shown", count(judged.errors))
    });
    let mut notes = vec![format!(
        "{}: {} in {}{beside}.",
        subject.learner(),
        counted(mistakes.iter().filter(|mistaken| **mistaken).count() as u64, "mistake", "mistakes"),
        counted(mistakes.len() as u64, rows.0, rows.1)
    )];
    notes.extend(scene.notes(dots.len()));
    if scene.by_pairs {
        notes.extend(scene.misplaced(&classes, &model.predict_all(&subject.data)?));
    }
    let mut predictor = model.predictor(subject.data.width());
    let mut row = Vec::new();
    // A hyperplane that is faced says one thing all the way up.
    let mut known: BTreeMap<u64, Verdict> = BTreeMap::new();
    let is_faced = scene.faces();
    let mut decide = |x: f64, y: f64| {
        if let Some(verdict) = scene.by_scores(x, y) {
            return verdict;
        }
        if is_faced && let Some(verdict) = known.get(&x.to_bits()) {
            return *verdict;
        }
        scene.row_into(x, y, &mut row);
        let (class, margin) = predictor.verdict(Dense(&row));
        let verdict = Verdict { class: class as usize, margin };
        if is_faced {
            known.insert(x.to_bits(), verdict);
        }
        verdict
    };
    // On a plane that leaves features out, the nearest row is not seen where it is; with probabilities, a lead is not
    // counted in scores.
    let has_band = scene.is_whole() || (is_faced && model.calibration().is_none());
    let band = if model.labels().len() == 2 && has_band {
        let nearest =
            margins(model, &subject.data, &subject.rows, false).into_iter().fold(f64::INFINITY, f64::min);
        (nearest > 0.0 && nearest.is_finite()).then_some(nearest)
    } else {
        None
    };
    let title = settings.title(|| format!("Decision boundary, {}", subject.source));
    // Corners are sharper where asking is cheap.
    let is_cheap = is_faced || model.planes().is_some_and(|planes| planes.raw_weights().len() <= CHEAP);
    let spacing = if is_cheap { 2.0 } else { 5.0 };
    let called = dots.first().map(|dot| decide(dot.x, dot.y).class);
    let mut drawn = |notes: Vec<String>, is_within: bool| {
        let chart = scene.boundary(title.clone(), labels.names(), &dots, &mut decide)?;
        let frame = subject.framed.clone().unwrap_or_else(|| chart.frame.clone());
        // What is within a network's margin is no band along a line.
        let is_network = model.network().is_some();
        let (band, normal) = (band.filter(|_| !is_network), chart.normal && !is_network);
        let lines = model.network().map_or_else(Vec::new, |network| network::lines(network, &scene));
        let mut whole = Boundary { band, lines, normal, notes, spacing, frame, ..chart };
        if !is_within {
            let mut keys = whole.keys();
            keys.retain(|key| key.swatch != Swatch::Line(Ink::Text, false));
            whole.legend = Some(keys);
        }
        Ok::<_, FigureError>(whole.draw(canvas))
    };
    let picture = drawn(notes.clone(), true)?;
    match called.and_then(|class| labels.names().get(class)) {
        Some(name) if scene.has_regions() && !has_boundary(&picture.items) => {
            let mut weights =
                model.planes().into_iter().flat_map(rosenblatt::learning::Hyperplanes::raw_weights);
            let why = if model.planes().is_some() && weights.all(|weight| *weight == 0.0) {
                "All weights are 0, so no boundary is in the picture"
            } else {
                "The boundary lies outside the picture"
            };
            notes.insert(1, format!("{why}; every point in it is predicted as {name}."));
            drawn(notes, false)
        }
        _ => Ok(picture),
    }
}

/// Whether a line between classes is among what was drawn.
fn has_boundary(items: &[Item]) -> bool {
    items.iter().any(|item| match item {
        Item::Shape(shape) => shape.role == "boundary",
        Item::Group(group) => has_boundary(&group.items),
        Item::Text(_) => false,
    })
}

/// What a picture is seen from.
enum View {
    /// A plane through the space of features.
    Slice(Slice),
    /// The score of the second of two classes, and the first principal component.
    Score,
    /// The plane of three scores: what they differ in.
    Three,
    /// The score of a row's own class, and the highest of the others.
    Rival,
}

/// A plane with the places of all rows, in the units of the file.
pub(super) struct Scene<'a> {
    subject: &'a Subject,
    view: View,
    /// Where each row is; nowhere if the model knows nothing of its class, and the view needs that.
    places: Vec<Option<(f64, f64)>>,
    /// What the axes show.
    names: [String; 2],
    /// From what the model sees to the units of the file, for each axis.
    units: [(f64, f64); 2],
    /// What each axis shows where a few rows lie far out.
    most: [Option<Range>; 2],
    /// Whether places are scores of pairs of classes, by which votes are cast.
    by_pairs: bool,
}

impl<'a> Scene<'a> {
    /// The plane that was asked for. Without a model there is no boundary to be faced, and the one in which rows vary most
    /// stands in.
    pub(super) fn new(
        subject: &'a Subject,
        settings: &Settings,
        model: Option<&Model>,
    ) -> Result<Self, FigureError> {
        let data = &subject.data;
        let seed = subject.spec.options().seed;
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
            Plane::Principal => Slice::principal(data, seed),
            Plane::Found => match model {
                None => Slice::principal(data, seed),
                Some(model) => match faced(model, subject) {
                    Some(slice) => slice,
                    None => return Ok(Self::of_scores(subject, model)),
                },
            },
        };
        Ok(Self::of_slice(subject, slice))
    }

    fn of_slice(subject: &'a Subject, slice: Slice) -> Self {
        let (units, names) = match slice.kind() {
            SliceKind::Columns(across, up) => {
                let upwards = if across == up { String::new() } else { subject.feature_name(up) };
                ([subject.units(across), subject.units(up)], [subject.feature_name(across), upwards])
            }
            SliceKind::Principal(..) => (
                [(1.0, 0.0); 2],
                ["first principal component", "second principal component"].map(str::to_owned),
            ),
            SliceKind::Facing(_) => (
                [(1.0, 0.0); 2],
                ["signed distance to the hyperplane", "first principal component along the hyperplane"]
                    .map(str::to_owned),
            ),
        };
        let shown = |(factor, shift): (f64, f64), value: f64| value * factor + shift;
        let places = slice.places(&subject.data).into_iter();
        let places = places.map(|(x, y)| Some((shown(units[0], x), shown(units[1], y)))).collect();
        Self::with_most(Self {
            subject,
            places,
            names,
            view: View::Slice(slice),
            units,
            most: [None; 2],
            by_pairs: false,
        })
    }

    /// The plane of what speaks for each class.
    fn of_scores(subject: &'a Subject, model: &Model) -> Self {
        let standings = standings(model, &subject.data);
        let names = model.labels().names();
        let unit = standing_unit(model);
        let (view, axes, places) = match names {
            [_, second] => {
                let slice = Slice::principal(&subject.data, subject.spec.options().seed);
                let along = slice.places(&subject.data).into_iter().map(|place| place.0);
                let places = standings.iter().zip(along).map(|(standing, y)| Some((standing[1], y)));
                let axes = [format!("{unit} of {second}"), "first principal component".to_owned()];
                (View::Score, axes, places.collect())
            }
            [first, second, third] => {
                let places =
                    standings.iter().map(|standing| Some(of_three([standing[0], standing[1], standing[2]])));
                let axes = [
                    format!("{unit} of {second} minus {unit} of {first}"),
                    format!("{unit} of {third} minus the mean of the others, scaled"),
                ];
                (View::Three, axes, places.collect())
            }
            _ => {
                let (_, classes) = subject.classes(model);
                let places = standings.iter().zip(classes).map(|(standing, class)| {
                    let own = *standing.get(class as usize)?;
                    let others = standing.iter().enumerate().filter(|(other, _)| *other != class as usize);
                    let rival = others.map(|(_, value)| *value).fold(f64::NEG_INFINITY, f64::max);
                    rival.is_finite().then_some((own, rival))
                });
                let rival = if stands_by_pairs(model) {
                    format!("{unit} of the best other class")
                } else {
                    format!("highest {unit} of another class")
                };
                let axes = [format!("{unit} of the row's own class"), rival];
                (View::Rival, axes, places.collect())
            }
        };
        Self::with_most(Self {
            subject,
            places,
            names: axes,
            view,
            units: [(1.0, 0.0); 2],
            most: [None; 2],
            by_pairs: stands_by_pairs(model),
        })
    }

    /// The same with what is shown where a few rows lie far out.
    fn with_most(self) -> Self {
        let has_zero =
            [!matches!(self.view, View::Slice(_)) || self.faces(), matches!(self.view, View::Three)];
        let places = || self.places.iter().flatten();
        let most = [
            Range::of_most(places().map(|place| place.0), has_zero[0], FAR),
            Range::of_most(places().map(|place| place.1), has_zero[1], FAR),
        ];
        Self { most, ..self }
    }

    /// Where a row is drawn, and whether it lies further out. Such a row is drawn in towards a point of the boundary, if the
    /// view has one, so that it stays on its side.
    fn shown(&self, (x, y): (f64, f64)) -> ((f64, f64), bool) {
        let Ok((across, up)) = self.ranges() else { return ((x, y), false) };
        let middle = |range: Range| range.low / 2.0 + range.high / 2.0;
        let towards = match self.view {
            View::Three => (0.0, 0.0),
            View::Score => (0.0, middle(up)),
            View::Slice(_) if self.faces() => (0.0, middle(up)),
            View::Slice(_) | View::Rival => (middle(across), middle(up)),
        };
        let share = |value: f64, range: Range, from: f64| {
            let edge = if value > from { range.high } else { range.low };
            if (range.low..=range.high).contains(&value) { 1.0 } else { (edge - from) / (value - from) }
        };
        let part = share(x, across, towards.0).min(share(y, up, towards.1));
        let drawn = |value: f64, from: f64| from + (value - from) * part;
        if part < 1.0 { ((drawn(x, towards.0), drawn(y, towards.1)), true) } else { ((x, y), false) }
    }

    /// What the axes show, without the air about it.
    fn ranges(&self) -> Result<(Range, Range), PlotError> {
        let whole = |axis: usize, value: fn(&(f64, f64)) -> f64| match self.most[axis] {
            Some(most) => Ok(most),
            None => Range::of(&self.names[axis], self.places.iter().flatten().map(value)),
        };
        let (x, y) = (whole(0, |place| place.0)?, whole(1, |place| place.1)?);
        Ok(match self.view {
            // One range for both scores, or both would not be seen in one unit.
            View::Rival => (x.with(y.low).with(y.high), y.with(x.low).with(x.high)),
            View::Three | View::Score => (x.with(0.0), y),
            View::Slice(_) if self.faces() => (x.with(0.0), y),
            View::Slice(_) => (x, y),
        })
    }

    /// What the model predicts at a place, if the scores there determine it.
    fn by_scores(&self, x: f64, y: f64) -> Option<Verdict> {
        match self.view {
            View::Slice(_) => None,
            View::Score => Some(Verdict { class: usize::from(x > 0.0), margin: x.abs() }),
            View::Rival => Some(Verdict { class: usize::from(x > y), margin: (x - y).abs() }),
            View::Three => {
                let scores = three_of(x, y);
                let class =
                    (0..3).fold(0, |best, class| if scores[class] > scores[best] { class } else { best });
                let others = (0..3).filter(|other| *other != class);
                let next = others.map(|other| scores[other]).fold(f64::NEG_INFINITY, f64::max);
                Some(Verdict { class, margin: scores[class] - next })
            }
        }
    }

    /// Whether a hyperplane is faced.
    fn faces(&self) -> bool {
        matches!(&self.view, View::Slice(slice) if matches!(slice.kind(), SliceKind::Facing(_)))
    }

    /// Whether a place has a class, whatever row lies there.
    fn has_regions(&self) -> bool {
        !matches!(self.view, View::Rival)
    }

    /// The row that lies at a place.
    pub(super) fn row_into(&self, x: f64, y: f64, row: &mut Vec<f64>) {
        if let View::Slice(slice) = &self.view {
            let (x, y) = self.seen(x, y);
            slice.row_into(x, y, row);
        }
    }

    /// The two features that the axes show, if they show features.
    pub(super) fn columns(&self) -> Option<(usize, usize)> {
        match &self.view {
            View::Slice(slice) => match slice.kind() {
                SliceKind::Columns(across, up) => Some((across, up)),
                _ => None,
            },
            _ => None,
        }
    }

    /// What the model sees of a place.
    pub(super) fn seen(&self, x: f64, y: f64) -> (f64, f64) {
        let seen = |(factor, shift): (f64, f64), value: f64| (value - shift) / factor;
        (seen(self.units[0], x), seen(self.units[1], y))
    }

    /// Whether the plane is all there is.
    fn is_whole(&self) -> bool {
        self.subject.data.width() <= 2 && self.columns().is_some()
    }

    /// The points to draw, all of them unless there are too many.
    pub(super) fn dots(&self, classes: &[u32]) -> Vec<Dot> {
        let rows = sample(self.places.len(), MOST_DOTS, self.subject.spec.options().seed);
        rows.into_iter().filter_map(|row| self.dot(row, classes)).collect()
    }

    /// The point of a row, if it has a place.
    pub(super) fn dot(&self, row: usize, classes: &[u32]) -> Option<Dot> {
        let ((x, y), beyond) = self.shown(self.places[row]?);
        Some(Dot { beyond, ..Dot::new(row, x, y, classes[row] as usize) })
    }

    /// What must be known of the plane, and of the points that are drawn.
    pub(super) fn notes(&self, n_drawn: usize) -> Vec<String> {
        let mut notes = Vec::new();
        match &self.view {
            View::Slice(slice) => match slice.kind() {
                SliceKind::Principal(first, second) => notes.push(format!(
                    "The first two principal components have {} and {} of the variance. Regions are those of the \
                     plane through the mean; rows lie off it, and rings go by all of their features.",
                    percent(first),
                    percent(second)
                )),
                SliceKind::Facing(share) => notes.push(format!(
                    "Every row stands at its distance to the hyperplane, and so on its true side. Upwards is the \
                     direction along it in which rows vary most, with {} of the variance.",
                    percent(share)
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
            },
            View::Score => notes.push(
                "Every row stands where its score puts it, and so on its true side; upwards is the direction in which \
                 rows vary most."
                    .to_owned(),
            ),
            View::Rival | View::Three if self.by_pairs => notes.push(format!(
                "A class's lowest pairwise score is the one against its strongest rival. A class with all of its above 0 \
                 beats every other: {}.",
                if matches!(self.view, View::Rival) {
                    "a row below the line is right, one above it is wrong"
                } else {
                    "a row lies in the region of the class it is given"
                }
            )),
            View::Three => notes.push(
                "The plane of the three scores: every row lies in the region of the class it is given.".to_owned(),
            ),
            View::Rival => notes.push(
                "The plane of scores: a row below the line has more for its own class than for any other, and is right."
                    .to_owned(),
            ),
        }
        if matches!(self.view, View::Three) {
            notes.push(
                "The vertical axis is scaled by 2/√3, so that the three borders meet at equal angles."
                    .to_owned(),
            );
        }
        if self.subject.scaler.as_ref().is_some_and(|scaler| scaler.scaling == Scaling::UnitNorm) {
            notes.push("Rows were brought to length 1.".to_owned());
        }
        let n_rows = self.places.iter().flatten().count();
        if n_rows < self.places.len() {
            let left_out = counted((self.places.len() - n_rows) as u64, "row is", "rows are");
            notes.push(format!("{left_out} of a class that the model does not know, and left out."));
        }
        let n_beyond = self.places.iter().flatten().filter(|place| self.shown(**place).1).count();
        if n_beyond > 0 {
            let rows = counted(n_beyond as u64, "row lies", "rows lie");
            notes.push(format!("{rows} further out than drawn: hollow points."));
        }
        if n_drawn < n_rows {
            notes.push(format!(
                "{} of {} rows are drawn, evenly chosen.",
                count(n_drawn as u64),
                count(n_rows as u64)
            ));
        }
        notes
    }

    /// That votes put some rows on another side than their place does, if they do: where no class beats all others.
    fn misplaced(&self, classes: &[u32], given: &[u32]) -> Option<String> {
        let is_off = |row: usize| {
            let side = self.places[row].and_then(|(x, y)| self.by_scores(x, y));
            side.is_some_and(|side| match self.view {
                View::Rival => (side.class == 1) != (classes[row] == given[row]),
                _ => side.class != given[row] as usize,
            })
        };
        let n_off = (0..self.places.len()).filter(|&row| is_off(row)).count() as u64;
        let rows = counted(n_off, "row lies", "rows lie");
        (n_off > 0)
            .then(|| format!("{rows} elsewhere: no class beats all others there, and the votes decide."))
    }

    /// The picture of some points, with axes that hold all.
    pub(super) fn boundary<'b>(
        &self,
        title: String,
        classes: &'b [String],
        dots: &'b [Dot],
        decide: &'b mut dyn FnMut(f64, f64) -> Verdict,
    ) -> Result<Boundary<'b>, FigureError> {
        let [x_name, y_name] = self.names.clone();
        let (x, y) = self.ranges()?;
        let (mut x, mut y) = (x.padded(0.08), y.padded(0.08));
        if matches!(self.view, View::Three) {
            (x, y) = (as_long(x, y), as_long(y, x));
        }
        Ok(Boundary {
            x: Axis::new(x_name, x),
            y: Axis::new(y_name, y),
            aspect: match self.view {
                View::Score => Aspect::Free,
                View::Rival => Aspect::Square,
                View::Three | View::Slice(_) => Aspect::Equal,
            },
            regions: self.has_regions(),
            normal: matches!(self.view, View::Slice(_)),
            ..Boundary::new(title, classes, dots, decide)?
        })
    }
}

/// A range about the middle of `range` that is as long as `other`, if that is longer.
fn as_long(range: Range, other: Range) -> Range {
    let (half, length) = (other.high / 2.0 - other.low / 2.0, range.high / 2.0 - range.low / 2.0);
    let middle = range.low / 2.0 + range.high / 2.0;
    if half > length { Range { low: middle - half, high: middle + half } } else { range }
}

/// Three scores on the plane of what they differ in. A unit is as long in every direction, and the borders between
/// classes meet at equal angles.
fn of_three([a, b, c]: [f64; 3]) -> (f64, f64) {
    (b - a, (2.0 * c - a - b) / 3.0_f64.sqrt())
}

/// The three scores of a place, which add up to nothing.
fn three_of(x: f64, y: f64) -> [f64; 3] {
    let (across, up) = (x / 2.0, y / (2.0 * 3.0_f64.sqrt()));
    [-across - up, across - up, 2.0 * up]
}

/// The plane upright on the hyperplane of a model that has one, of the features themselves.
fn faced(model: &Model, subject: &Subject) -> Option<Slice> {
    let planes = model.planes().filter(|planes| planes.n_outputs() == 1 && model.map().is_none())?;
    let bias = planes.biases().first().copied().unwrap_or(0.0);
    Slice::facing(&subject.data, &planes.weights(0), bias, subject.spec.options().seed)
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
