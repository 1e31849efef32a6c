//! Curves, and levels they should keep to.

use crate::axis::{Axis, PlotError, Range};
use crate::chart::{Aspect, Canvas, Chart, Key, LINE, Plot, SMALL, Swatch};
use crate::ink::Ink;
use crate::marker::Marker;
use crate::regions::simplified;
use crate::scene::{Outline, Paint, Picture, Point, Rect, Shape, Text, at};

/// How many bars stand on the floor, and how much of the area they take.
const BINS: usize = 40;
const FLOOR: f64 = 0.18;
/// More points than this have no signs of their own.
const MOST_SIGNS: usize = 25;
/// What is there to compare with is no class, and no mistake.
const NEUTRAL: Ink = Ink::Faint;

/// A curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// What it is called.
    pub name: String,
    /// Its points, from the left to the right.
    pub points: Vec<(f64, f64)>,
    /// Its ink; that of a class by its place if none is given, and of something to compare with a neutral one.
    pub ink: Option<Ink>,
    /// Whether it has gaps.
    pub dashed: bool,
    /// Whether its points have signs, if they are few.
    pub signs: bool,
    /// The rows that its points show, each without a line to the next; none of a curve.
    pub rows: Vec<usize>,
}

impl Series {
    /// A curve.
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, ink: None, dashed: false, signs: true, rows: Vec::new() }
    }

    /// The same with gaps, without signs and in a neutral ink: something to compare with.
    #[must_use]
    pub fn dashed(self) -> Self {
        Self { dashed: true, signs: false, ink: Some(NEUTRAL), ..self }
    }

    /// The same as a bare line.
    #[must_use]
    pub fn bare(self) -> Self {
        Self { signs: false, ..self }
    }

    /// The same as points without a line, each of which shows a row.
    #[must_use]
    pub fn of_rows(self, rows: Vec<usize>) -> Self {
        Self { rows, signs: false, ..self }
    }

    fn has_signs(&self) -> bool {
        self.signs && self.points.len() <= MOST_SIGNS
    }

    /// The same in the colour of that class.
    #[must_use]
    pub fn colour(self, colour: usize) -> Self {
        self.ink(Ink::Class(colour))
    }

    /// The same in this ink.
    #[must_use]
    pub fn ink(self, ink: Ink) -> Self {
        Self { ink: Some(ink), ..self }
    }
}

/// A height that means something.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    /// What it is called.
    pub name: String,
    /// The height.
    pub value: f64,
}

/// A point of a curve that means something.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// Where it is, across.
    pub x: f64,
    /// Where it is, upwards.
    pub y: f64,
    /// The ink of its curve.
    pub ink: Ink,
    /// What it says when it is pointed at.
    pub note: String,
    /// What stands beside it, if anything does and there is room.
    pub label: String,
    /// Between which heights the truth may lie.
    pub span: Option<(f64, f64)>,
}

/// Curves in one frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Lines {
    /// What it shows.
    pub title: String,
    /// What must be known of it.
    pub notes: Vec<String>,
    /// What the axis that lies is called.
    pub x_name: String,
    /// What the axis that stands is called.
    pub y_name: String,
    /// The curves.
    pub series: Vec<Series>,
    /// Levels they should keep to.
    pub levels: Vec<Level>,
    /// Whether the axes have whole numbers only.
    pub whole: (bool, bool),
    /// What the axes show at least.
    pub at_least: (Option<Range>, Option<Range>),
    /// Points of the curves that mean something.
    pub marks: Vec<Mark>,
    /// Values whose spread stands as bars on the floor, if any.
    pub below: Vec<f64>,
    /// Whether the area is as high as it is wide.
    pub square: bool,
    /// Whether an axis upwards may become logarithmic, where one value would leave the others flat.
    pub may_be_log: bool,
}

impl Lines {
    /// Curves whose upright axis begins at 0, or below if they do.
    pub fn new(
        title: impl Into<String>,
        x_name: impl Into<String>,
        y_name: impl Into<String>,
        series: Vec<Series>,
    ) -> Self {
        Self {
            title: title.into(),
            notes: Vec::new(),
            x_name: x_name.into(),
            y_name: y_name.into(),
            series,
            levels: Vec::new(),
            whole: (false, false),
            at_least: (None, Some(Range { low: 0.0, high: 0.0 })),
            marks: Vec::new(),
            below: Vec::new(),
            square: false,
            may_be_log: true,
        }
    }

    /// Draws them.
    pub fn draw(&self, canvas: Canvas) -> Result<Picture, PlotError> {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let mut x = Range::of(&self.x_name, points().map(|point| point.0))?;
        let levels = self.levels.iter().map(|level| level.value);
        let mut y = Range::of(&self.y_name, points().map(|point| point.1).chain(levels))?;
        for (range, least) in [(&mut x, self.at_least.0), (&mut y, self.at_least.1)] {
            if let Some(least) = least {
                *range = range.with(least.low).with(least.high);
            }
        }
        if x.low == x.high {
            x = x.padded(0.05);
        }
        let air = y.padded(0.06);
        // A square shows what it should show, and no more.
        let high = if self.square { y.high } else { air.high };
        let y = Range { low: if y.low == 0.0 && y.high > 0.0 { 0.0 } else { air.low }, high };
        let axis = |name: &str, range, whole| Axis { whole, ..Axis::new(name, range) };
        let numbered = |(number, series): (usize, &Series)| series.ink.unwrap_or(Ink::Class(number));
        let inks: Vec<Ink> = self.series.iter().enumerate().map(numbered).collect();
        let mut upwards = axis(&self.y_name, y, self.whole.1);
        if self.may_be_log {
            let levels = self.levels.iter().map(|level| level.value);
            upwards = upwards.log_if_flat(points().map(|point| point.1).chain(levels));
        }
        // Curves in a square end in the same corner or anywhere along its edge: keys beside their ends would be scattered.
        let ends = self.ends(&inks);
        let (ends, legend) = if self.square {
            (Vec::new(), ends.into_iter().map(|(_, key)| key).collect())
        } else {
            (ends, Vec::new())
        };
        let chart = Chart {
            title: self.title.clone(),
            notes: self.notes.clone(),
            x: axis(&self.x_name, x, self.whole.0),
            y: upwards,
            ends,
            legend,
            aspect: if self.square { Aspect::Square } else { Aspect::Free },
            ..Chart::default()
        };
        let mut plot = chart.open(canvas);
        self.draw_floor(&mut plot, x);
        for level in &self.levels {
            let y = plot.place(x.low, level.value).y;
            let line = Outline::Line(vec![at(plot.area.x, y), at(plot.area.right(), y)]);
            plot.add(Shape::new("level", line, Paint::stroke(NEUTRAL, 2.0).dashed()).saying(&level.name));
        }
        for (series, &ink) in self.series.iter().zip(&inks) {
            let line: Vec<_> = series.points.iter().map(|&(x, y)| plot.place(x, y)).collect();
            if !series.rows.is_empty() {
                for (&row, centre) in series.rows.iter().zip(line) {
                    let paint = Paint::fill(ink).edged(Ink::Paper, 0.5);
                    let disc = Outline::Marker(Marker::Disc, centre, 2.5);
                    plot.add(Shape::new("dot", disc, paint).of_row(row));
                }
                continue;
            }
            let paint = Paint { dashed: series.dashed, ..Paint::stroke(ink, 2.5) };
            let outline = Outline::Line(simplified(&line, 0.1));
            plot.add(Shape::new("curve", outline, paint).saying(&series.name));
            if series.has_signs() {
                for (number, centre) in line.into_iter().enumerate() {
                    let sign = Outline::Marker(Marker::of_class(class_of(ink)), centre, 4.5);
                    let paint = Paint::fill(ink).edged(Ink::Paper, 1.0);
                    let (x, y) = series.points[number];
                    let note = format!("{}: {}, {}", series.name, crate::number(x), crate::number(y));
                    // Above the area, so that a point on its edge is whole.
                    plot.above(Shape::new("sign", sign, paint).saying(note));
                }
            }
        }
        self.draw_marks(&mut plot, canvas);
        Ok(plot.finish())
    }

    /// How values are spread below the curves.
    fn draw_floor(&self, plot: &mut Plot, range: Range) {
        let step = range.high / BINS as f64 - range.low / BINS as f64;
        if self.below.is_empty() || step <= 0.0 {
            return;
        }
        let mut counts = [0_u64; BINS];
        for value in &self.below {
            let bin = ((value - range.low) / step).max(0.0) as usize;
            counts[bin.min(BINS - 1)] += 1;
        }
        let highest = counts.iter().copied().max().unwrap_or(0).max(1) as f64;
        let (floor, most) = (plot.area.y + plot.area.height, plot.area.height * FLOOR);
        for (bin, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let edge = |bin: usize| plot.place(range.low + bin as f64 * step, 0.0).x;
            let (left, right) = (edge(bin), edge(bin + 1));
            let height = (most * count as f64 / highest).max(1.0);
            let bar = Rect { x: left + 0.5, y: floor - height, width: right - left - 1.0, height };
            let paint = Paint::fill(Ink::Faint);
            plot.add(Shape::new("rows", Outline::Rect(bar), paint).saying(format!("{count} rows")));
        }
    }

    /// Points that mean something, with their words where those hide nothing.
    fn draw_marks(&self, plot: &mut Plot, canvas: Canvas) {
        let centres: Vec<Point> = self.marks.iter().map(|mark| plot.place(mark.x, mark.y)).collect();
        let round = |centre: &Point| Rect { x: centre.x - 6.0, y: centre.y - 6.0, width: 12.0, height: 12.0 };
        let mut taken: Vec<Rect> = centres.iter().map(round).collect();
        let drawn = self.drawn(plot);
        for (mark, &centre) in self.marks.iter().zip(&centres) {
            if let Some((low, high)) = mark.span {
                let line = Outline::Line(vec![plot.place(mark.x, low), plot.place(mark.x, high)]);
                plot.add(Shape::new("span", line, Paint::stroke(mark.ink, 1.5)));
            }
            let paint = Paint::fill(Ink::Paper).edged(mark.ink, 2.0);
            let sign = Outline::Marker(Marker::Disc, centre, 4.5);
            plot.above(Shape::new("mark", sign, paint).saying(&mark.note));
            if mark.label.is_empty() {
                continue;
            }
            let width = canvas.ruler.width(&mark.label, SMALL);
            let boxed = |(dx, dy): (f64, f64)| Rect {
                x: centre.x + dx,
                y: centre.y + dy - 12.0,
                width,
                height: LINE - 4.0,
            };
            let is_free = |spot: &Rect| {
                let seen = plot.area.within(spot);
                seen.width == spot.width
                    && seen.height == spot.height
                    && drawn.iter().all(|line| line.windows(2).all(|ends| !meets(ends[0], ends[1], spot)))
                    && taken.iter().all(|other| {
                        let both = other.within(spot);
                        both.width <= 0.0 || both.height <= 0.0
                    })
            };
            // Below and above, to the right and to the left, then further away.
            let spots = [0.0, 12.0, 24.0].into_iter().flat_map(|far| {
                let (right, left) = (9.0 + far, -9.0 - far - width);
                let (below, above) = (16.0 + far, -6.0 - far);
                [(right, below), (right, above), (left, above), (left, below)]
            });
            if let Some(spot) = spots.map(boxed).find(is_free) {
                taken.push(spot);
                plot.above(Text::new(at(spot.x, spot.y + 12.0), &mark.label, SMALL).ink(Ink::Faint));
            }
        }
    }

    /// The lines that words should not stand on.
    fn drawn(&self, plot: &Plot) -> Vec<Vec<Point>> {
        let curves = self.series.iter().map(|series| series.points.clone());
        let levels = self.levels.iter().map(|level| {
            let across = plot.x.range;
            vec![(across.low, level.value), (across.high, level.value)]
        });
        let placed = |points: Vec<(f64, f64)>| points.into_iter().map(|(x, y)| plot.place(x, y)).collect();
        curves.chain(levels).map(placed).collect()
    }

    /// What stands at the right end of every curve and level.
    fn ends(&self, inks: &[Ink]) -> Vec<(f64, Key)> {
        let series = self.series.iter().zip(inks).map(|(series, &ink)| {
            let swatch = if series.has_signs() || !series.rows.is_empty() {
                Swatch::Class(class_of(ink))
            } else {
                Swatch::Line(ink, series.dashed)
            };
            let end = series.points.last().map_or(0.0, |point| point.1);
            (end, Key::new(swatch, series.name.clone()))
        });
        let levels = self
            .levels
            .iter()
            .map(|level| (level.value, Key::new(Swatch::Line(NEUTRAL, true), level.name.clone())));
        let ends: Vec<(f64, Key)> = series.chain(levels).filter(|(_, key)| !key.label.is_empty()).collect();
        if ends.len() > 1 || !self.levels.is_empty() { ends } else { Vec::new() }
    }
}

/// The class whose sign goes with an ink.
fn class_of(ink: Ink) -> usize {
    if let Ink::Class(class) = ink { class } else { 0 }
}

/// Whether the line between two points meets a rectangle.
fn meets(a: Point, b: Point, rect: &Rect) -> bool {
    let is_beside = a.x.max(b.x) < rect.x
        || a.x.min(b.x) > rect.right()
        || a.y.max(b.y) < rect.y
        || a.y.min(b.y) > rect.bottom();
    let side = |x: f64, y: f64| (b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x);
    let sides = [
        side(rect.x, rect.y),
        side(rect.right(), rect.y),
        side(rect.x, rect.bottom()),
        side(rect.right(), rect.bottom()),
    ];
    !is_beside && !sides.iter().all(|side| *side > 0.0) && !sides.iter().all(|side| *side < 0.0)
}
