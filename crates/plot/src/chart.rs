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
/// The most lines of a title.
const TITLE_LINES: usize = 2;
pub(crate) const SMALL: f64 = 14.0;
/// From one line of text to the next.
pub(crate) const LINE: f64 = 20.0;
const AIR: f64 = 10.0;
/// An axis is stretched by less than this for the sake of the other.
const MOST_STRETCHED: f64 = 2.0;

/// Below this width, legends stand below pictures.
pub(crate) const NARROW: f64 = 560.0;
/// How high the area of a narrow chart is at least, for its width.
const NARROW_SHAPE: f64 = 0.7;
/// The room of a sign in a legend, with the air about it.
const SIGN: f64 = 34.0;

/// How large a picture is, in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Canvas {
    /// How wide.
    pub width: f64,
    /// How high.
    pub height: f64,
    /// How text is measured.
    pub ruler: Ruler,
    /// Whether a picture may be narrower where its width would stay empty.
    pub may_shrink: bool,
}

impl Default for Canvas {
    fn default() -> Self {
        Self { width: 800.0, height: 560.0, ruler: Ruler::Paper, may_shrink: true }
    }
}

impl Canvas {
    /// The canvas that fills a terminal of this many letters.
    pub fn terminal(columns: usize, rows: usize) -> Self {
        let (width, height) = (10.0 * columns as f64, 20.0 * rows as f64);
        Self { width, height, ruler: Ruler::Terminal, may_shrink: false }
    }

    /// The canvas of a telephone.
    pub fn phone() -> Self {
        Self { width: 380.0, height: 430.0, ..Self::default() }
    }

    /// Whether there is no room for words beside a picture: they stand below it.
    pub fn is_narrow(&self) -> bool {
        self.width < NARROW
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

/// How the width and the height of a chart belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aspect {
    /// Not at all.
    Free,
    /// A unit is as long on both axes, if need be by showing more of one; but not twice as much or more.
    Equal,
    /// The same, and the area is as high as it is wide.
    Square,
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
    /// What stands at the right end of the height it belongs to, instead of in the legend.
    pub ends: Vec<(f64, Key)>,
    /// How its width and its height belong together.
    pub aspect: Aspect,
}

impl Default for Chart {
    fn default() -> Self {
        let axis = || Axis::new("", crate::Range { low: 0.0, high: 1.0 });
        Self {
            title: String::new(),
            notes: Vec::new(),
            note_lines: 0,
            x: axis(),
            y: axis(),
            legend: Vec::new(),
            ends: Vec::new(),
            aspect: Aspect::Free,
        }
    }
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
        let Canvas { width, height, ruler, .. } = canvas;
        let mut above = Vec::new();
        let mut y = head(&mut above, &self.title, &self.notes, canvas);
        y += LINE * self.note_lines.saturating_sub(note_lines(&self.notes, canvas)) as f64;
        let keys: Vec<&Key> = self.keys(canvas);
        let legend = self.legend_width(&keys, canvas);
        if !self.y.name.is_empty() {
            let name = Text::new(at(AIR, y + 15.0), &self.y.name, SMALL);
            above.push(name.fit(ruler, width - 2.0 * AIR).into());
            y += LINE;
        }
        let bottom = if self.x.name.is_empty() { 1.4 * LINE } else { 2.4 * LINE };
        let rows = if canvas.is_narrow() { packed(&keys, canvas) } else { Vec::new() };
        let below = LINE * rows.len() as f64 + if rows.is_empty() { 0.0 } else { canvas.air(8.0) };
        let mut tall = (height - y - bottom - below - canvas.air(8.0)).max(2.0 * LINE);
        let widest = |axis: &Axis| {
            let ticks = axis.ticks(tick_count(tall, 3.0 * LINE));
            ticks.iter().map(|(_, label)| ruler.width(label, SMALL)).fold(0.0, f64::max)
        };
        // The labels of a stretched axis are no longer than those of the one that is asked for, or hardly.
        let left = AIR + widest(&self.y).max(2.0 * AIR) + AIR;
        let mut area = Rect {
            x: left,
            y: y + canvas.air(8.0),
            width: (width - left - legend - 2.0 * AIR).max(4.0 * AIR),
            height: tall,
        };
        let is_square = self.aspect == Aspect::Square;
        // On narrow paper there may be many words; the picture grows rather than that nothing is seen of the data.
        if canvas.is_narrow() && ruler == Ruler::Paper {
            tall = tall.max(area.width * if is_square { 1.0 } else { NARROW_SHAPE });
            area.height = tall;
        }
        let height = height.max(area.bottom() + bottom + below);
        if is_square {
            let side = area.width.min(area.height);
            area = Rect { width: side, height: side, ..area };
            let needed = (area.right() + legend + 2.0 * AIR).max(NARROW).ceil();
            // Frames of a film are as large as each other, whatever their words.
            if canvas.may_shrink && !canvas.is_narrow() && needed < width && self.note_lines == 0 {
                return self.open(self.shrunk(canvas, needed));
            }
        }
        let legend = if is_square { (width - area.right() - 2.0 * AIR).max(legend) } else { legend };
        let (x_axis, y_axis) = if self.aspect == Aspect::Free {
            (self.x.clone(), self.y.clone())
        } else {
            self.equalised(&area)
        };
        let mut plot = Plot {
            area,
            x: x_axis,
            y: y_axis,
            picture: Picture {
                width,
                height,
                title: self.title.clone(),
                description: self.describe(),
                items: Vec::new(),
                film: None,
            },
            below: Vec::new(),
            data: Vec::new(),
            above,
            ruler,
        };
        plot.draw_axes();
        if canvas.is_narrow() {
            let top = area.bottom() + bottom + canvas.air(8.0);
            plot.draw_rows(&rows, keys.len(), top, canvas);
        } else {
            plot.draw_ends(&self.ends, legend);
            plot.draw_legend(&self.legend, legend);
        }
        plot
    }

    /// A narrower canvas, higher by the lines that its words then take.
    fn shrunk(&self, canvas: Canvas, width: f64) -> Canvas {
        let narrower = Canvas { width, may_shrink: false, ..canvas };
        let words = |canvas| head(&mut Vec::new(), &self.title, &self.notes, canvas);
        Canvas { height: canvas.height + words(narrower) - words(canvas), ..narrower }
    }

    /// What it shows, for those who cannot see it.
    fn describe(&self) -> String {
        let mut sentences = self.notes.clone();
        let names = [("Across", &self.x.name), ("upwards", &self.y.name)];
        let names: Vec<String> = names
            .into_iter()
            .filter(|(_, name)| !name.is_empty())
            .map(|(way, name)| format!("{way}: {name}"))
            .collect();
        if !names.is_empty() {
            sentences.push(format!("{}.", names.join("; ")));
        }
        let keys = self.ends.iter().map(|(_, key)| key).chain(&self.legend);
        let shown: Vec<&str> = keys.map(|key| key.label.as_str()).collect();
        if !shown.is_empty() {
            sentences.push(format!("Shown: {}.", shown.join(", ")));
        }
        sentences.join(" ")
    }

    /// The keys of the legend; where there is no room at the ends of lines, those of their ends, too.
    fn keys(&self, canvas: Canvas) -> Vec<&Key> {
        let ends = self.ends.iter().filter(|_| canvas.is_narrow()).map(|(_, key)| key);
        ends.chain(&self.legend).collect()
    }

    /// The room beside the area.
    fn legend_width(&self, keys: &[&Key], canvas: Canvas) -> f64 {
        let Canvas { width, height, ruler, .. } = canvas;
        if canvas.is_narrow() {
            return 0.0;
        }
        let longest = |labels: &mut dyn Iterator<Item = &str>| {
            labels.map(|label| ruler.width(label, SMALL)).fold(0.0, f64::max)
        };
        let own = longest(&mut keys.iter().map(|key| key.label.as_str()));
        let ends = longest(&mut self.ends.iter().map(|(_, key)| key.label.as_str()));
        let one = if keys.is_empty() { 0.0 } else { (own + SIGN + 6.0).min(width * 0.3) };
        // Many keys stand in several columns, if they are short.
        let columns = (keys.len() as f64 * (LINE + 2.0) / (height * 0.7)).ceil().max(1.0);
        let all = one * columns.min((width * 0.36 / one.max(1.0)).floor().max(1.0));
        all.max(if self.ends.is_empty() { 0.0 } else { (ends + SIGN + 6.0).min(width * 0.36) })
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
        let mut lines = ruler.wrap(title, TITLE, width - 2.0 * AIR);
        if lines.len() > TITLE_LINES {
            let rest = lines.split_off(TITLE_LINES - 1);
            lines.push(rest.join(" "));
        }
        for line in lines {
            let line = Text::new(at(AIR, y + 17.0 + canvas.air(3.0)), line, TITLE);
            items.push(line.fit(ruler, width - 2.0 * AIR).into());
            y += LINE + canvas.air(6.0);
        }
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
            self.area.x + self.area.width * self.x.share(x),
            self.area.bottom() - self.area.height * self.y.share(y),
        )
    }

    /// The pair of values that is shown at a place.
    pub fn values(&self, place: Point) -> (f64, f64) {
        (
            self.x.value((place.x - self.area.x) / self.area.width),
            self.y.value((self.area.bottom() - place.y) / self.area.height),
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
        // A line on the edge of the area is seen in its whole width.
        let wider =
            Rect { x: area.x - 1.5, y: area.y - 1.5, width: area.width + 3.0, height: area.height + 3.0 };
        for (role, items, clip) in [("below", below, area), ("data", data, wider)] {
            if !items.is_empty() {
                picture.items.push(Group { clip: Some(clip), ..Group::new(role, items) }.into());
            }
        }
        picture.items.extend(above);
        picture
    }

    fn draw_axes(&mut self) {
        let area = self.area;
        let n_across = tick_count(area.width, 4.5 * LINE);
        // A square counts alike both ways.
        let is_square = area.width == area.height;
        let n_upwards = if is_square { n_across + 1 } else { tick_count(area.height, 3.0 * LINE) };
        for (value, label) in self.y.ticks(n_upwards) {
            let y = self.place(self.x.range.low, value).y;
            let line = Outline::Line(vec![at(area.x, y), at(area.right(), y)]);
            self.below.push(Shape::new("grid", line, Paint::stroke(Ink::Grid, 1.0)).into());
            // In a terminal, a tick at the upper edge must not take the line of the axis's name.
            let base = if self.ruler == Ruler::Terminal { (y + 5.0).max(area.y + 15.0) } else { y + 5.0 };
            let text = Text::new(at(area.x - 8.0, base), label, SMALL);
            self.above.push(text.anchor(Anchor::End).ink(Ink::Faint).into());
        }
        let ticks = self.x.ticks(if is_square { n_across + 1 } else { n_across });
        let mut end = f64::NEG_INFINITY;
        for (value, label) in ticks {
            let x = self.place(value, self.y.range.low).x;
            let half = self.ruler.width(&label, SMALL) / 2.0;
            if x - half < end {
                continue;
            }
            end = x + half + AIR / 2.0;
            let line = Outline::Line(vec![at(x, area.y), at(x, area.bottom())]);
            self.below.push(Shape::new("grid", line, Paint::stroke(Ink::Grid, 1.0)).into());
            let text = Text::new(at(x, area.bottom() + 19.0), label, SMALL).anchor(Anchor::Middle);
            self.above.push(text.ink(Ink::Faint).into());
        }
        let corner = vec![at(area.x, area.y), at(area.x, area.bottom()), at(area.right(), area.bottom())];
        self.above.push(Shape::new("axes", Outline::Line(corner), Paint::stroke(Ink::Faint, 1.5)).into());
        if !self.x.name.is_empty() {
            let middle = at(area.x + area.width / 2.0, area.bottom() + 41.0);
            // A long name may be wider than a square; it stays on the paper.
            let room = self.picture.width - 2.0 * AIR;
            let name = Text::new(middle, &self.x.name, SMALL).anchor(Anchor::Middle).fit(self.ruler, room);
            let half = self.ruler.width(&name.text, SMALL) / 2.0;
            let x = middle.x.min(self.picture.width - AIR - half).max(AIR + half);
            self.above.push(Text { at: at(x, middle.y), ..name }.into());
        }
    }

    fn draw_key(&mut self, key: &Key, x: f64, y: f64, room: f64) {
        self.above.extend(swatch(key.swatch, at(x + 12.0, y)));
        let text = Text::new(at(x + 30.0, y + 5.0), &key.label, SMALL).fit(self.ruler, room - SIGN);
        self.above.push(text.into());
    }

    fn draw_legend(&mut self, keys: &[Key], width: f64) {
        let (left, line) = (self.area.right() + 1.5 * AIR, LINE + 2.0);
        let room = ((self.area.height / line) as usize).max(1);
        let longest = keys.iter().map(|key| self.ruler.width(&key.label, SMALL)).fold(0.0, f64::max);
        let column = (longest + SIGN + 6.0).min(width).max(1.0);
        let most = room * ((width / column) as usize).max(1);
        let n_shown = if keys.len() > most { most - 1 } else { keys.len() };
        let place = |number: usize| {
            at(left + column * (number / room) as f64, self.area.y + line * ((number % room) as f64 + 0.5))
        };
        let places: Vec<Point> = (0..=n_shown).map(place).collect();
        for (key, place) in keys[..n_shown].iter().zip(&places) {
            self.draw_key(key, place.x, place.y, column);
        }
        if n_shown < keys.len() {
            let more = format!("and {} more", keys.len() - n_shown);
            let last = places[n_shown];
            let text = Text::new(at(last.x + 4.0, last.y + 5.0), more, SMALL).ink(Ink::Faint);
            self.above.push(text.fit(self.ruler, column - 4.0).into());
        }
    }

    /// Keys beside the heights they belong to, moved apart where they would overlap.
    fn draw_ends(&mut self, ends: &[(f64, Key)], width: f64) {
        let (top, bottom) = (self.area.y + LINE / 2.0, self.area.bottom() - LINE / 2.0);
        let mut places: Vec<(f64, &Key)> =
            ends.iter().map(|(value, key)| (self.place(0.0, *value).y.clamp(top, bottom), key)).collect();
        places.sort_by(|a, b| a.0.total_cmp(&b.0));
        let heights: Vec<f64> = places.iter().map(|place| place.0).collect();
        for ((_, key), y) in places.iter().zip(apart(&heights, LINE, (top, bottom))) {
            self.draw_key(key, self.area.right() + 0.6 * AIR, y, width);
        }
    }

    /// Keys below the area, as many in a row as fit.
    fn draw_rows(&mut self, rows: &[Vec<(f64, &Key)>], n_keys: usize, top: f64, canvas: Canvas) {
        let n_shown: usize = rows.iter().map(Vec::len).sum();
        for (number, row) in rows.iter().enumerate() {
            let y = top + LINE * (number as f64 + 0.5);
            for (x, key) in row {
                self.draw_key(key, *x, y, canvas.width - x - AIR / 2.0);
            }
            if let (true, true, Some((x, last))) = (n_shown < n_keys, number + 1 == rows.len(), row.last()) {
                let end = x + SIGN + 6.0 + canvas.ruler.width(&last.label, SMALL);
                let more = format!("and {} more", n_keys - n_shown);
                let more = Text::new(at(end + AIR, y + 5.0), more, SMALL).ink(Ink::Faint);
                self.above.push(more.fit(canvas.ruler, canvas.width - end - AIR).into());
            }
        }
    }
}

/// Keys in rows as wide as the canvas, each with where it begins. Keys that would take more than a third of the height
/// are left out.
fn packed<'k>(keys: &[&'k Key], canvas: Canvas) -> Vec<Vec<(f64, &'k Key)>> {
    let most = ((canvas.height / 3.0 / LINE) as usize).max(1);
    let mut rows: Vec<Vec<(f64, &Key)>> = Vec::new();
    let mut x = f64::INFINITY;
    let more = canvas.ruler.width("and 999 more", SMALL) + AIR;
    for key in keys {
        let length = SIGN + 8.0 + canvas.ruler.width(&key.label, SMALL);
        // The last row keeps room for how many there are besides.
        let room = canvas.width - if rows.len() == most { more } else { 0.0 };
        if x + length > room && !rows.last().is_some_and(Vec::is_empty) {
            if rows.len() == most {
                break;
            }
            rows.push(Vec::new());
            x = AIR / 2.0;
        }
        if let Some(row) = rows.last_mut() {
            row.push((x, *key));
        }
        x += length;
    }
    rows
}

/// Ascending heights moved as little as need be until they are `least` apart, within bounds if they fit.
fn apart(heights: &[f64], least: f64, (top, bottom): (f64, f64)) -> Vec<f64> {
    let mut moved: Vec<f64> = Vec::new();
    for &height in heights {
        let lowest = moved.last().map_or(top, |last| last + least);
        moved.push(height.max(lowest));
    }
    let mut limit = bottom;
    for height in moved.iter_mut().rev() {
        *height = height.min(limit).max(top);
        limit = *height - least;
    }
    moved
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_move_apart_and_stay_inside() {
        assert_eq!(apart(&[10.0, 50.0], 20.0, (0.0, 100.0)), [10.0, 50.0]);
        assert_eq!(apart(&[10.0, 12.0, 13.0], 20.0, (0.0, 100.0)), [10.0, 30.0, 50.0]);
        assert_eq!(apart(&[95.0, 96.0, 97.0], 20.0, (0.0, 100.0)), [60.0, 80.0, 100.0]);
    }
}
