//! What a picture is made of: shapes, text and groups, in pixels from the top left corner.
//!
//! A picture is a value. It knows nothing of files and of how it will be shown; [`Picture::svg`],
//! [`Picture::png`] and [`Picture::text`] draw it.

use crate::bars::on_paper;
use crate::chart::{Canvas, head};
use crate::font::Ruler;
use crate::ink::Ink;
use crate::marker::Marker;

/// A place, in pixels; `y` grows downwards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// From the left.
    pub x: f64,
    /// From the top.
    pub y: f64,
}

/// A place.
pub const fn at(x: f64, y: f64) -> Point {
    Point { x, y }
}

/// An upright rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rect {
    /// Its left edge.
    pub x: f64,
    /// Its upper edge.
    pub y: f64,
    /// How wide it is.
    pub width: f64,
    /// How high it is.
    pub height: f64,
}

impl Rect {
    /// Its right edge.
    pub fn right(&self) -> f64 {
        self.x + self.width
    }

    /// Its lower edge.
    pub fn bottom(&self) -> f64 {
        self.y + self.height
    }

    /// Its corners, going round.
    pub(crate) fn corners(&self) -> Vec<Point> {
        let (right, bottom) = (self.right(), self.bottom());
        vec![at(self.x, self.y), at(right, self.y), at(right, bottom), at(self.x, bottom)]
    }

    /// What it has in common with `other`.
    pub(crate) fn within(&self, other: &Self) -> Self {
        let (x, y) = (self.x.max(other.x), self.y.max(other.y));
        let (right, bottom) = (self.right().min(other.right()), self.bottom().min(other.bottom()));
        Self { x, y, width: (right - x).max(0.0), height: (bottom - y).max(0.0) }
    }
}

/// The outline of a shape.
#[derive(Debug, Clone, PartialEq)]
pub enum Outline {
    /// A line through points.
    Line(Vec<Point>),
    /// What closed rings surround; a ring that goes round the other way is a hole.
    Area(Vec<Vec<Point>>),
    /// An upright rectangle.
    Rect(Rect),
    /// A circle: its centre and radius.
    Circle(Point, f64),
    /// The sign of a class: its centre and size.
    Marker(Marker, Point, f64),
}

/// How a shape is painted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Paint {
    /// What is inside.
    pub fill: Option<Ink>,
    /// The outline.
    pub stroke: Option<Ink>,
    /// How wide the outline is.
    pub width: f64,
    /// Whether the outline has gaps.
    pub dashed: bool,
}

impl Paint {
    /// Filled.
    pub fn fill(ink: Ink) -> Self {
        Self { fill: Some(ink), stroke: None, width: 0.0, dashed: false }
    }

    /// An outline.
    pub fn stroke(ink: Ink, width: f64) -> Self {
        Self { fill: None, stroke: Some(ink), width, dashed: false }
    }

    /// The same with gaps in the outline.
    #[must_use]
    pub fn dashed(self) -> Self {
        Self { dashed: true, ..self }
    }

    /// The same with an outline.
    #[must_use]
    pub fn edged(self, ink: Ink, width: f64) -> Self {
        Self { stroke: Some(ink), width, ..self }
    }
}

/// A shape with its paint, and what it stands for.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// Its outline.
    pub outline: Outline,
    /// Its paint.
    pub paint: Paint,
    /// What it stands for, one word that SVG has as a class: `boundary`, `ring`, `dot`.
    pub role: &'static str,
    /// The row of the data it shows, from 0.
    pub row: Option<usize>,
    /// What it says when it is pointed at.
    pub note: Option<String>,
}

impl Shape {
    /// A shape.
    pub fn new(role: &'static str, outline: Outline, paint: Paint) -> Self {
        Self { outline, paint, role, row: None, note: None }
    }

    /// The same, showing a row of the data.
    #[must_use]
    pub fn of_row(self, row: usize) -> Self {
        Self { row: Some(row), ..self }
    }

    /// The same, saying something when it is pointed at.
    #[must_use]
    pub fn saying(self, note: impl Into<String>) -> Self {
        Self { note: Some(note.into()), ..self }
    }
}

/// Which part of a text its place is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// Where it begins.
    Start,
    /// Its middle.
    Middle,
    /// Where it ends.
    End,
}

/// One line of text.
#[derive(Debug, Clone, PartialEq)]
pub struct Text {
    /// Where it stands: on this base line.
    pub at: Point,
    /// What it says.
    pub text: String,
    /// How large it is, in pixels.
    pub size: f64,
    /// Which part of it stands there.
    pub anchor: Anchor,
    /// Its ink.
    pub ink: Ink,
    /// All it would say if there were room.
    pub full: Option<String>,
}

impl Text {
    /// A line of text that begins at a place.
    pub fn new(at: Point, text: impl Into<String>, size: f64) -> Self {
        Self { at, text: text.into(), size, anchor: Anchor::Start, ink: Ink::Text, full: None }
    }

    /// The same in another ink.
    #[must_use]
    pub fn ink(self, ink: Ink) -> Self {
        Self { ink, ..self }
    }

    /// The same with another part of it at its place.
    #[must_use]
    pub fn anchor(self, anchor: Anchor) -> Self {
        Self { anchor, ..self }
    }

    /// The same in at most this many pixels: shortened if need be, and then saying all of it when pointed at.
    #[must_use]
    pub fn fit(self, ruler: Ruler, width: f64) -> Self {
        let (text, is_cut) = ruler.fit(&self.text, self.size, width);
        if is_cut { Self { full: Some(self.text), text, ..self } } else { self }
    }
}

/// Things that belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// What it stands for, as in [`Shape::role`].
    pub role: &'static str,
    /// By how much everything in it is moved.
    pub shift: Point,
    /// What is seen of it, before it is moved.
    pub clip: Option<Rect>,
    /// In which frame of a film it is seen, from 0; always if none is given.
    pub frame: Option<usize>,
    /// What is in it.
    pub items: Vec<Item>,
}

impl Group {
    /// A group that is neither moved nor clipped.
    pub fn new(role: &'static str, items: Vec<Item>) -> Self {
        Self { role, shift: at(0.0, 0.0), clip: None, frame: None, items }
    }
}

/// Something in a picture; what comes later is drawn over what comes first.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// A shape.
    Shape(Shape),
    /// A line of text.
    Text(Text),
    /// Several things.
    Group(Group),
}

impl From<Shape> for Item {
    fn from(shape: Shape) -> Self {
        Self::Shape(shape)
    }
}

impl From<Text> for Item {
    fn from(text: Text) -> Self {
        Self::Text(text)
    }
}

impl From<Group> for Item {
    fn from(group: Group) -> Self {
        Self::Group(group)
    }
}

/// A film: how many frames, and how long each is seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Film {
    /// How many frames there are.
    pub frames: usize,
    /// How long each is seen.
    pub seconds: f64,
}

/// A picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// How wide it is, in pixels.
    pub width: f64,
    /// How high it is, in pixels.
    pub height: f64,
    /// What it shows, in a few words.
    pub title: String,
    /// What it shows, for those who cannot see it: its notes, as sentences.
    pub description: String,
    /// What is in it.
    pub items: Vec<Item>,
    /// If it moves, how.
    pub film: Option<Film>,
}

impl Picture {
    /// Several pictures of one size as one that moves, each seen for some seconds. Where nothing moves, the last
    /// one is seen. What all of them have in common is in it once.
    ///
    /// # Panics
    /// If there are no pictures.
    pub fn film(frames: Vec<Self>, seconds: f64) -> Self {
        let last = frames.last().expect("a film has frames");
        let (width, height, title) = (last.width, last.height, last.title.clone());
        let description = frames.iter().map(|frame| frame.description.as_str()).collect::<Vec<_>>().join(" ");
        let film = Some(Film { frames: frames.len(), seconds });
        let items = merged(frames.into_iter().map(|frame| frame.items).collect());
        Self { width, height, title, description, items, film }
    }

    /// Several pictures side by side, in rows of `columns`, below a title and notes.
    ///
    /// # Panics
    /// If there are no pictures or no columns.
    pub fn sheet(title: &str, notes: &[String], pictures: Vec<Self>, columns: usize, ruler: Ruler) -> Self {
        assert!(!pictures.is_empty() && columns > 0, "a sheet has pictures in columns");
        let width = pictures.iter().map(|picture| picture.width).fold(0.0, f64::max);
        let height = pictures.iter().map(|picture| picture.height).fold(0.0, f64::max);
        let rows = pictures.len().div_ceil(columns);
        let description =
            pictures.iter().map(|picture| picture.description.as_str()).collect::<Vec<_>>().join(" ");
        let whole = width * pictures.len().min(columns) as f64;
        let mut items = Vec::new();
        let canvas = Canvas { width: whole, height, ruler, may_shrink: false };
        let top = head(&mut items, title, notes, canvas) + canvas.air(6.0);
        let panels = pictures.into_iter().enumerate().map(|(number, picture)| {
            let shift = at(width * (number % columns) as f64, top + height * (number / columns) as f64);
            Group { shift, ..Group::new("panel", picture.items) }.into()
        });
        items.extend(panels);
        let description = format!("{} {description}", notes.join(" ")).trim().to_owned();
        Self { description, ..on_paper(whole, top + height * rows as f64, title, notes, items) }
    }
}

/// The items of all frames, in their order: what all have in common, and between that what each has for itself.
fn merged(mut frames: Vec<Vec<Item>>) -> Vec<Item> {
    let mut items = Vec::new();
    let first = std::mem::take(&mut frames[0]);
    let mut places = vec![0; frames.len()];
    let mut alone = Vec::new();
    for item in first {
        let found: Option<Vec<usize>> = (1..frames.len())
            .map(|number| {
                let from = places[number];
                frames[number][from..].iter().position(|other| is_same(&item, other)).map(|at| from + at)
            })
            .collect();
        let Some(found) = found else {
            alone.push(item);
            continue;
        };
        push_frame(&mut items, 0, std::mem::take(&mut alone));
        for (number, place) in (1..frames.len()).zip(&found) {
            push_frame(&mut items, number, frames[number][places[number]..*place].to_vec());
        }
        items.push(match item {
            Item::Group(group) => {
                let insides = std::iter::once(group.items.clone());
                let others =
                    (1..frames.len()).zip(&found).map(|(number, place)| match &frames[number][*place] {
                        Item::Group(other) => other.items.clone(),
                        _ => Vec::new(),
                    });
                Group { items: merged(insides.chain(others).collect()), ..group }.into()
            }
            item => item,
        });
        for (number, place) in (1..frames.len()).zip(&found) {
            places[number] = place + 1;
        }
    }
    push_frame(&mut items, 0, alone);
    for number in 1..frames.len() {
        push_frame(&mut items, number, frames[number].split_off(places[number]));
    }
    items
}

/// Whether two items are one: groups are if they differ in nothing but what is in them.
fn is_same(one: &Item, other: &Item) -> bool {
    match (one, other) {
        (Item::Group(one), Item::Group(other)) => {
            (one.role, one.shift, one.clip, one.frame) == (other.role, other.shift, other.clip, other.frame)
        }
        _ => one == other,
    }
}

fn push_frame(items: &mut Vec<Item>, number: usize, alone: Vec<Item>) {
    if !alone.is_empty() {
        items.push(Group { frame: Some(number), ..Group::new("frame", alone) }.into());
    }
}
