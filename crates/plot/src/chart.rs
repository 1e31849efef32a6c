//! A frame for data: title, notes, axes with ticks, a legend, and the place of every value.
//!
//! Text stands on lines 20 pixels apart and the name of the upright axis lies above it, so that the same layout
//! serves paper and terminals, where a letter takes 10 by 20.

use crate::axis::Axis;
use crate::font::Ruler;
use crate::ink::Ink;
use crate::marker::Marker;
use crate::scene::{Anchor, Group, Item, Outline, Paint, Picture, Point, Rect, Shape, Text, at};

/// The size of ordinary text.
pub(crate) const SIZE: f64 = 16.0;
const TITLE: f64 = 20.0;
pub(crate) const SMALL: f64 = 14.0;
/// From one line of text to the next.
pub(crate) const LINE: f64 = 20.0;
const AIR: f64 = 10.0;
/// An axis is stretched by less than this for the sake of the other.
const MOST_STRETCHED: f64 = 2.0;

/// How large a picture is, in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Canvas {
    /// How wide.
    pub width: f64,
    /// How high.
    pub height: f64,
    /// How text is measured.
    pub ruler: Ruler,
}

impl Default for Canvas {
    fn default() -> Self {
        Self { width: 800.0, height: 560.0, ruler: Ruler::Paper }
    }
}

impl Canvas {
    /// The canvas that fills a terminal of so many letters.
    pub fn terminal(columns: usize, rows: usize) -> Self {
        Self { width: 10.0 * columns as f64, height: 20.0 * rows as f64, ruler: Ruler::Terminal }
    }

    /// Some air, where there is room between lines of text.
    pub(crate) fn air(&self, pixels: f64) -> f64 {
        if self.ruler == Ruler::Paper { pixels } else { 0.0 }
    }
}

/// What a line of the legend shows beside its words.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Swatch {
    /// The sign of a class.
    Class(usize),
    /// A line.
    Line(Ink, bool),
    /// A ring round a point.
    Ring,
    /// A frame round a point.
    Frame,
    /// A patch of colour.
    Patch(Ink),
}

/// A line of the legend.
#[derive(Debug, Clone, PartialEq)]
pub struct Key {
    /// What is shown.
    pub swatch: Swatch,
    /// What it means.
    pub label: String,
}

impl Key {
    /// A line of the legend.
    pub fn new(swatch: Swatch, label: impl Into<String>) -> Self {
        Self { swatch, label: label.into() }
    }
}

/// What a chart says besides its data.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// What must be known of it: what was left out, what was held still.
    pub notes: Vec<String>,
    /// For how many lines of notes there is room at least: frames of a film are laid out alike.
    pub note_lines: usize,
    /// The axis that lies.
    pub x: Axis,
    /// The axis that stands.
    pub y: Axis,
    /// What signs and colours mean.
    pub legend: Vec<Key>,
    /// Whether a unit is as long on both axes, if need be by showing more of one; but not twice as much or more.
    pub equal: bool,
}

/// An open chart: where data goes.
#[derive(Debug, Clone)]
pub struct Plot {
    /// Where data is shown.
    pub area: Rect,
    /// The axis that lies.
    pub x: Axis,
    /// The axis that stands.
    pub y: Axis,
    picture: Picture,
    below: Vec<Item>,
    data: Vec<Item>,
    above: Vec<Item>,
    ruler: Ruler,
}

impl Chart {
    /// Lays out everything but the data.
    pub fn open(&self, canvas: Canvas) -> Plot {
        let Canvas { width, height, ruler } = canvas;
        let mut above = Vec::new();
        let mut y = head(&mut above, &self.title, &self.notes, canvas);
        y += LINE * self.note_lines.saturating_sub(note_lines(&self.notes, canvas)) as f64;
        let legend = self.legend_width(canvas);
        if !self.y.name.is_empty() {
            above
                .push(Text::new(at(AIR, y + 15.0), &self.y.name, SMALL).fit(ruler, width - 2.0 * AIR).into());
            y += LINE;
        }
        let bottom = if self.x.name.is_empty() { 1.4 * LINE } else { 2.4 * LINE };
        let tall = (height - y - bottom - canvas.air(8.0)).max(2.0 * LINE);
        let widest = |axis: &Axis| {
            let ticks = axis.ticks(tick_count(tall, 3.0 * LINE));
            ticks.iter().map(|(_, label)| ruler.width(label, SMALL)).fold(0.0, f64::max)
        };
        // The labels of a stretched axis are no longer than those of the one that is asked for, or hardly.
        let left = AIR + widest(&self.y).max(2.0 * AIR) + AIR;
        let area = Rect {
            x: left,
            y: y + canvas.air(8.0),
            width: (width - left - legend - 2.0 * AIR).max(4.0 * AIR),
            height: tall,
        };
        let (x_axis, y_axis) =
            if self.equal { self.equalised(&area) } else { (self.x.clone(), self.y.clone()) };
        let mut plot = Plot {
            area,
            x: x_axis,
            y: y_axis,
            picture: Picture {
                width,
                height,
                title: self.title.clone(),
                description: self.notes.join(" "),
                items: Vec::new(),
                film: None,
            },
            below: Vec::new(),
            data: Vec::new(),
            above,
            ruler,
        };
        plot.draw_axes();
        plot.draw_legend(&self.legend, legend);
        plot
    }

    fn legend_width(&self, Canvas { width, ruler, .. }: Canvas) -> f64 {
        let longest = self.legend.iter().map(|key| ruler.width(&key.label, SMALL)).fold(0.0, f64::max);
        if self.legend.is_empty() { 0.0 } else { (longest + 40.0).min(width * 0.3) }
    }

    /// Both axes with units of one length: the one with room to spare shows more.
    fn equalised(&self, area: &Rect) -> (Axis, Axis) {
        let length = |axis: &Axis| axis.range.high / 2.0 - axis.range.low / 2.0;
        let (across, up) = (length(&self.x) / area.width, length(&self.y) / area.height);
        let stretched = |axis: &Axis, factor: f64| {
            let mut axis = axis.clone();
            let (middle, half) = (axis.range.low / 2.0 + axis.range.high / 2.0, length(&axis) * factor);
            axis.range.low = (middle - half).max(-f64::MAX);
            axis.range.high = (middle + half).min(f64::MAX);
            axis
        };
        if !(1.0 / MOST_STRETCHED..=MOST_STRETCHED).contains(&(across / up)) {
            (self.x.clone(), self.y.clone())
        } else if across > up {
            (self.x.clone(), stretched(&self.y, across / up))
        } else {
            (stretched(&self.x, up / across), self.y.clone())
        }
    }
}

/// How many lines notes take.
pub fn note_lines(notes: &[String], canvas: Canvas) -> usize {
    notes.iter().map(|note| canvas.ruler.wrap(note, SMALL, canvas.width - 2.0 * AIR).len()).sum()
}

/// Writes title and notes; returns where the next line begins.
pub(crate) fn head(items: &mut Vec<Item>, title: &str, notes: &[String], canvas: Canvas) -> f64 {
    let (width, ruler) = (canvas.width, canvas.ruler);
    let mut y = canvas.air(4.0);
    if !title.is_empty() {
        items.push(
            Text::new(at(AIR, y + 17.0 + canvas.air(3.0)), title, TITLE).fit(ruler, width - 2.0 * AIR).into(),
        );
        y += LINE + canvas.air(6.0);
    }
    for note in notes {
        for line in ruler.wrap(note, SMALL, width - 2.0 * AIR) {
            let line =
                Text::new(at(AIR, y + 15.0), line, SMALL).ink(Ink::Faint).fit(ruler, width - 2.0 * AIR);
            items.push(line.into());
            y += LINE;
        }
    }
    y
}

/// How many ticks of at least `room` pixels fit.
fn tick_count(length: f64, room: f64) -> usize {
    ((length / room) as usize).clamp(2, 10)
}

impl Plot {
    /// Where a pair of values is shown.
    pub fn place(&self, x: f64, y: f64) -> Point {
        at(
            self.area.x + self.area.width * self.x.range.share(x),
            self.area.bottom() - self.area.height * self.y.range.share(y),
        )
    }

    /// The pair of values that is shown at a place.
    pub fn values(&self, place: Point) -> (f64, f64) {
        (
            self.x.range.value((place.x - self.area.x) / self.area.width),
            self.y.range.value((self.area.bottom() - place.y) / self.area.height),
        )
    }

    /// Adds something below the lines that guide the eye, such as regions.
    pub fn below(&mut self, item: impl Into<Item>) {
        self.below.push(item.into());
    }

    /// Adds something to the data.
    pub fn add(&mut self, item: impl Into<Item>) {
        self.data.push(item.into());
    }

    /// Adds something that may reach beyond the axes.
    pub fn above(&mut self, item: impl Into<Item>) {
        self.above.push(item.into());
    }

    /// The picture.
    pub fn finish(self) -> Picture {
        let Self { area, mut picture, below, data, above, .. } = self;
        let paper = Rect { x: 0.0, y: 0.0, width: picture.width, height: picture.height };
        picture.items.push(Shape::new("paper", Outline::Rect(paper), Paint::fill(Ink::Paper)).into());
        for (role, items) in [("below", below), ("data", data)] {
            if !items.is_empty() {
                picture.items.push(Group { clip: Some(area), ..Group::new(role, items) }.into());
            }
        }
        picture.items.extend(above);
        picture
    }

    fn draw_axes(&mut self) {
        let area = self.area;
        for (value, label) in self.y.ticks(tick_count(area.height, 3.0 * LINE)) {
            let y = self.place(self.x.range.low, value).y;
            let line = Outline::Line(vec![at(area.x, y), at(area.right(), y)]);
            self.below.push(Shape::new("grid", line, Paint::stroke(Ink::Grid, 1.0)).into());
            self.above.push(
                Text::new(at(area.x - 8.0, y + 5.0), label, SMALL).anchor(Anchor::End).ink(Ink::Faint).into(),
            );
        }
        let ticks = self.x.ticks(tick_count(area.width, 4.5 * LINE));
        for (value, label) in ticks {
            let x = self.place(value, self.y.range.low).x;
            let line = Outline::Line(vec![at(x, area.y), at(x, area.bottom())]);
            self.below.push(Shape::new("grid", line, Paint::stroke(Ink::Grid, 1.0)).into());
            let text = Text::new(at(x, area.bottom() + 19.0), label, SMALL).anchor(Anchor::Middle);
            self.above.push(text.ink(Ink::Faint).into());
        }
        let corner = vec![at(area.x, area.y), at(area.x, area.bottom()), at(area.right(), area.bottom())];
        self.above.push(Shape::new("axes", Outline::Line(corner), Paint::stroke(Ink::Faint, 1.5)).into());
        if !self.x.name.is_empty() {
            let middle = at(area.x + area.width / 2.0, area.bottom() + 41.0);
            let name =
                Text::new(middle, &self.x.name, SMALL).anchor(Anchor::Middle).fit(self.ruler, area.width);
            self.above.push(name.into());
        }
    }

    fn draw_legend(&mut self, keys: &[Key], width: f64) {
        let (left, line) = (self.area.right() + 1.5 * AIR, LINE + 2.0);
        let room = ((self.area.height / line) as usize).max(1);
        let n_shown = if keys.len() > room { room - 1 } else { keys.len() };
        let mut y = self.area.y + line / 2.0;
        for key in &keys[..n_shown] {
            self.above.extend(swatch(key.swatch, at(left + 12.0, y)));
            let text = Text::new(at(left + 30.0, y + 5.0), &key.label, SMALL).fit(self.ruler, width - 34.0);
            self.above.push(text.into());
            y += line;
        }
        if n_shown < keys.len() {
            let more = format!("and {} more", keys.len() - n_shown);
            self.above
                .push(Text::new(at(left + 30.0, y + 5.0), more, SMALL).fit(self.ruler, width - 34.0).into());
        }
    }
}

fn swatch(swatch: Swatch, centre: Point) -> Vec<Item> {
    let shape = |outline, paint| Item::from(Shape::new("key", outline, paint));
    match swatch {
        Swatch::Class(class) => {
            let paint = Paint::fill(Ink::Class(class)).edged(Ink::Paper, 1.0);
            vec![shape(Outline::Marker(Marker::of_class(class), centre, 6.0), paint)]
        }
        Swatch::Line(ink, dashed) => {
            let ends = vec![at(centre.x - 12.0, centre.y), at(centre.x + 12.0, centre.y)];
            let paint = Paint { dashed, ..Paint::stroke(ink, 2.5) };
            vec![shape(Outline::Line(ends), paint)]
        }
        Swatch::Ring => vec![shape(Outline::Circle(centre, 8.0), Paint::stroke(Ink::Wrong, 2.5))],
        Swatch::Frame => {
            let frame = Rect { x: centre.x - 8.0, y: centre.y - 8.0, width: 16.0, height: 16.0 };
            vec![shape(Outline::Rect(frame), Paint::stroke(Ink::Text, 1.5))]
        }
        Swatch::Patch(ink) => {
            let patch = Rect { x: centre.x - 9.0, y: centre.y - 7.0, width: 18.0, height: 14.0 };
            vec![shape(Outline::Rect(patch), Paint::fill(ink))]
        }
    }
}
