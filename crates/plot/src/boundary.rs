//! Points, the regions of classes, and the boundary between them.

use crate::axis::{Axis, PlotError, Range};
use crate::chart::{Aspect, Canvas, Chart, Key, Plot, Swatch};
use crate::ink::Ink;
use crate::marker::Marker;
use crate::regions::{Grid, Verdict, simplified};
use crate::scene::{Anchor, Outline, Paint, Picture, Point, Rect, Shape, Text, at};

/// How many pixels apart places are asked for their class, by default.
const SPACING: f64 = 5.0;
/// How many points at most show what they are under the pointer.
const MOST_NAMED: usize = 400;
/// How far a line may be from where it should be, in pixels.
const TOLERANCE: f64 = 0.05;

/// A point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dot {
    /// The row of the data it is, from 0.
    pub row: usize,
    /// Where it is, across.
    pub x: f64,
    /// Where it is, upwards.
    pub y: f64,
    /// Its class.
    pub class: usize,
    /// Whether it is given another class: it is ringed.
    pub mistaken: bool,
    /// Whether the boundary was learned from it: it is framed.
    pub support: bool,
    /// Whether it lies further out than it is drawn: it is hollow.
    pub beyond: bool,
}

impl Dot {
    /// A point that is right.
    pub fn new(row: usize, x: f64, y: f64, class: usize) -> Self {
        Self { row, x, y, class, mistaken: false, support: false, beyond: false }
    }
}

/// Points, and what is thought of every place.
pub struct Boundary<'a> {
    /// What it shows.
    pub title: String,
    /// What must be known of it.
    pub notes: Vec<String>,
    /// The axes; their ranges hold all points.
    pub x: Axis,
    /// The axis that stands.
    pub y: Axis,
    /// What the classes are called.
    pub classes: &'a [String],
    /// The points to draw.
    pub dots: &'a [Dot],
    /// The class of every place.
    pub decide: &'a mut dyn FnMut(f64, f64) -> Verdict,
    /// What was thought before, drawn as a faint line.
    pub before: Option<&'a mut dyn FnMut(f64, f64) -> Verdict>,
    /// Straight lines `a x + b y + c = 0` that have a say, drawn faintly.
    pub lines: Vec<[f64; 3]>,
    /// What such a line is.
    pub line: String,
    /// Of two classes: by how much the score leads at the edge of the margin.
    pub band: Option<f64>,
    /// Whether an arrow tells which way the second class lies; straight boundaries only.
    pub normal: bool,
    /// How its width and its height belong together.
    pub aspect: Aspect,
    /// Whether places have the colour of their class.
    pub regions: bool,
    /// A row that is ringed, though it may be right.
    pub watched: Option<usize>,
    /// What a ring means.
    pub ring: String,
    /// What a frame means.
    pub frame: String,
    /// The legend, instead of that of what is drawn.
    pub legend: Option<Vec<Key>>,
    /// For how many lines of notes there is room at least.
    pub note_lines: usize,
    /// How many pixels apart places are asked for their class. Straight boundaries are right whatever it is; corners
    /// and curves are the better the smaller it is, and asking takes the longer.
    pub spacing: f64,
}

impl<'a> Boundary<'a> {
    /// A picture of all `dots`, with axes that hold them.
    pub fn new(
        title: impl Into<String>,
        classes: &'a [String],
        dots: &'a [Dot],
        decide: &'a mut dyn FnMut(f64, f64) -> Verdict,
    ) -> Result<Self, PlotError> {
        let x = Range::of("x", dots.iter().map(|dot| dot.x))?;
        let y = Range::of("y", dots.iter().map(|dot| dot.y))?;
        Ok(Self {
            title: title.into(),
            notes: Vec::new(),
            x: Axis::new("x", x.padded(0.08)),
            y: Axis::new("y", y.padded(0.08)),
            classes,
            dots,
            decide,
            before: None,
            lines: Vec::new(),
            line: "hidden unit".to_owned(),
            band: None,
            normal: true,
            aspect: Aspect::Free,
            regions: true,
            watched: None,
            ring: "mistake".to_owned(),
            frame: "learned from".to_owned(),
            legend: None,
            note_lines: 0,
            spacing: SPACING,
        })
    }

    /// Draws it.
    pub fn draw(self, canvas: Canvas) -> Picture {
        let chart = Chart {
            title: self.title.clone(),
            notes: self.notes.clone(),
            note_lines: self.note_lines,
            x: self.x.clone(),
            y: self.y.clone(),
            legend: self.legend.clone().unwrap_or_else(|| self.keys()),
            aspect: self.aspect,
            ..Chart::default()
        };
        let mut plot = chart.open(canvas);
        let Self { decide, before, lines, band, normal, classes, dots, spacing, watched, .. } = self;
        let grid = ask(&plot, spacing, decide);
        let regions = grid.regions();
        for (class, rings) in regions.areas.into_iter().filter(|_| self.regions) {
            let rings = rings.iter().map(|ring| simplified(&placed(&plot, ring), TOLERANCE)).collect();
            let name = classes.get(class).map_or("", String::as_str);
            let shape = Shape::new("region", Outline::Area(rings), Paint::fill(Ink::Tint(class)));
            plot.below(shape.saying(name));
        }
        if let Some(before) = before {
            for border in ask(&plot, spacing, before).regions().borders {
                let line = simplified(&placed(&plot, &border), TOLERANCE);
                let paint = Paint::stroke(Ink::Faint, 2.0).dashed();
                plot.add(Shape::new("before", Outline::Line(line), paint));
            }
        }
        for line in lines {
            let Some(line) = within(&plot, line) else { continue };
            let paint = Paint::stroke(Ink::Faint, 2.0).dashed();
            plot.add(Shape::new("line", Outline::Line(line.to_vec()), paint));
        }
        for level in band.into_iter().flat_map(|band| [-band, band]) {
            for border in grid.beyond(level).regions().borders {
                let line = simplified(&placed(&plot, &border), TOLERANCE);
                let paint = Paint::stroke(Ink::Text, 1.5).dashed();
                plot.add(Shape::new("margin", Outline::Line(line), paint));
            }
        }
        draw_dots(&mut plot, dots, classes);
        draw_rings(&mut plot, dots, watched);
        let borders: Vec<Vec<Point>> =
            regions.borders.iter().map(|border| simplified(&placed(&plot, border), TOLERANCE)).collect();
        if normal
            && classes.len() == 2
            && let [line] = borders.as_slice()
            && let [from, to] = line.as_slice()
        {
            draw_normal(&mut plot, *from, *to, decide);
        }
        for line in borders {
            plot.add(Shape::new("boundary", Outline::Line(line), Paint::stroke(Ink::Text, 2.5)));
        }
        plot.finish()
    }

    /// The legend of what is drawn.
    pub fn keys(&self) -> Vec<Key> {
        let classes = self.classes.iter().enumerate();
        let mut keys: Vec<Key> =
            classes.map(|(class, name)| Key::new(Swatch::Class(class), name.clone())).collect();
        if self.before.is_some() {
            keys.push(Key::new(Swatch::Line(Ink::Faint, true), "before"));
            keys.push(Key::new(Swatch::Line(Ink::Text, false), "after"));
        } else {
            keys.push(Key::new(Swatch::Line(Ink::Text, false), "boundary"));
        }
        if !self.lines.is_empty() {
            keys.push(Key::new(Swatch::Line(Ink::Faint, true), self.line.clone()));
        }
        if self.band.is_some() {
            keys.push(Key::new(Swatch::Line(Ink::Text, true), "margin"));
        }
        if self.watched.is_some() || self.dots.iter().any(|dot| dot.mistaken) {
            keys.push(Key::new(Swatch::Ring, self.ring.clone()));
        }
        if self.dots.iter().any(|dot| dot.support) {
            keys.push(Key::new(Swatch::Frame, self.frame.clone()));
        }
        keys
    }
}

/// Verdicts all over the area of a plot.
fn ask(plot: &Plot, spacing: f64, decide: &mut dyn FnMut(f64, f64) -> Verdict) -> Grid {
    let cells = |length: f64| (length / spacing).clamp(8.0, 400.0) as usize;
    let (x, y) = (plot.x.clone(), plot.y.clone());
    let mut at_share = |across: f64, up: f64| decide(x.value(across), y.value(up));
    Grid::sample(cells(plot.area.width), cells(plot.area.height), &mut at_share)
}

/// The part of the line `a x + b y + c = 0` that is within the area, in pixels; nothing if it passes by.
fn within(plot: &Plot, [a, b, c]: [f64; 3]) -> Option<[Point; 2]> {
    let (x, y) = (plot.x.range, plot.y.range);
    let (left, right, bottom, top) = (x.value(0.0), x.value(1.0), y.value(0.0), y.value(1.0));
    let beside = [left, right].into_iter().filter(|_| b != 0.0).map(|x| (x, -(a * x + c) / b));
    let across = [bottom, top].into_iter().filter(|_| a != 0.0).map(|y| (-(b * y + c) / a, y));
    let mut ends = beside
        .filter(|(_, y)| (bottom..=top).contains(y))
        .chain(across.filter(|(x, _)| (left..=right).contains(x)));
    let first = ends.next()?;
    let distance = |end: &(f64, f64)| {
        ((end.0 - first.0) / (right - left)).abs() + ((end.1 - first.1) / (top - bottom)).abs()
    };
    let last = ends.max_by(|one, other| distance(one).total_cmp(&distance(other)))?;
    (distance(&last) > 0.0).then(|| [plot.place(first.0, first.1), plot.place(last.0, last.1)])
}

/// Shares of the area as pixels.
fn placed(plot: &Plot, shares: &[Point]) -> Vec<Point> {
    let area = plot.area;
    shares
        .iter()
        .map(|share| at(area.x + area.width * share.x, area.bottom() - area.height * share.y))
        .collect()
}

/// An arrow from the middle of a straight boundary to the side of the second class. On the page it stands upright
/// on the line, which is the way the score grows fastest as the page measures it.
fn draw_normal(plot: &mut Plot, from: Point, to: Point, decide: &mut dyn FnMut(f64, f64) -> Verdict) {
    let length = (to.x - from.x).hypot(to.y - from.y);
    if length < 40.0 {
        return;
    }
    let (along, across) = (
        ((to.x - from.x) / length, (to.y - from.y) / length),
        ((to.y - from.y) / length, (from.x - to.x) / length),
    );
    let foot = at(f64::midpoint(from.x, to.x), f64::midpoint(from.y, to.y));
    let (x, y) = plot.values(at(foot.x + 6.0 * across.0, foot.y + 6.0 * across.1));
    let side = if decide(x, y).class == 1 { 1.0 } else { -1.0 };
    let (dx, dy) = (side * across.0, side * across.1);
    let (shaft, tip) = (40.0, 54.0);
    let end = at(foot.x + shaft * dx, foot.y + shaft * dy);
    let paint = Paint::stroke(Ink::Text, 2.5);
    plot.add(Shape::new("normal", Outline::Line(vec![foot, end]), paint));
    let head = vec![
        at(foot.x + tip * dx, foot.y + tip * dy),
        at(end.x + 6.0 * along.0, end.y + 6.0 * along.1),
        at(end.x - 6.0 * along.0, end.y - 6.0 * along.1),
    ];
    plot.add(Shape::new("normal-head", Outline::Area(vec![head]), Paint::fill(Ink::Text)));
    let beside = at(foot.x + (tip + 12.0) * dx, foot.y + (tip + 12.0) * dy + 5.0);
    let inside = plot.area.within(&Rect { x: beside.x - 8.0, y: beside.y - 14.0, width: 16.0, height: 18.0 });
    if inside.width > 15.0 && inside.height > 17.0 {
        plot.add(Text::new(beside, "w", crate::chart::SIZE).anchor(Anchor::Middle));
    }
}

/// How large points are: the more, the smaller.
fn radius_of(dots: &[Dot]) -> f64 {
    match dots.len() {
        0..=60 => 7.0,
        61..=400 => 5.0,
        401..=1500 => 4.0,
        _ => 2.8,
    }
}

fn draw_dots(plot: &mut Plot, dots: &[Dot], classes: &[String]) {
    let radius = radius_of(dots);
    // What is right is drawn first: a mistake must not hide below others.
    for mistaken in [false, true] {
        for dot in dots.iter().filter(|dot| dot.mistaken == mistaken) {
            let centre = plot.place(dot.x, dot.y);
            let role = if mistaken { "mistake" } else { "dot" };
            let paint = if dot.beyond {
                Paint::fill(Ink::Paper).edged(Ink::Class(dot.class), 1.5)
            } else {
                Paint::fill(Ink::Class(dot.class)).edged(Ink::Paper, (radius / 7.0_f64).min(1.0))
            };
            let name = classes.get(dot.class).map_or("", String::as_str);
            let marker = Outline::Marker(Marker::of_class(dot.class), centre, radius);
            let shape = Shape::new(role, marker, paint).of_row(dot.row);
            // Among thousands you cannot point at one, and every word makes the file longer.
            let is_named = dots.len() <= MOST_NAMED;
            plot.add(if is_named { shape.saying(format!("row {}: {name}", dot.row + 1)) } else { shape });
        }
    }
}

/// More rings than this are drawn close and thin, or they would bury the rows.
const MOST_WIDE_RINGS: usize = 60;

/// Rings round mistakes and frames round what was learned from: thinner where there are many.
fn draw_rings(plot: &mut Plot, dots: &[Dot], watched: Option<usize>) {
    let radius = radius_of(dots);
    let is_crowded = dots.iter().filter(|dot| dot.mistaken).count() > MOST_WIDE_RINGS;
    let (reach, width) = if is_crowded {
        (radius + 0.4, 1.0)
    } else {
        (1.35 * radius + 1.2, (radius / 2.0 - 0.3).clamp(1.0, 2.5))
    };
    for dot in dots {
        let centre = plot.place(dot.x, dot.y);
        if dot.support {
            let half = 1.6 * radius;
            let frame =
                Rect { x: centre.x - half, y: centre.y - half, width: 2.0 * half, height: 2.0 * half };
            let paint = Paint::stroke(Ink::Text, 1.5);
            plot.add(Shape::new("support", Outline::Rect(frame), paint).of_row(dot.row));
        }
        if dot.mistaken || watched == Some(dot.row) {
            let ring = Outline::Circle(centre, reach);
            plot.add(Shape::new("ring", ring, Paint::stroke(Ink::Wrong, width)).of_row(dot.row));
        }
    }
}
