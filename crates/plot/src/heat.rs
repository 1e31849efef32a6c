//! Numbers that form pictures: what the weights of pixels look like, and how high something is over two axes.

use crate::axis::{Axis, PlotError, number};
use crate::bars::on_paper;
use crate::chart::{Canvas, Chart, Key, LINE, SMALL, Swatch, head};
use crate::font::Ruler;
use crate::ink::{HEAT_STEPS, Hue, Ink};
use crate::scene::{Anchor, Outline, Paint, Picture, Rect, Shape, Text, at};
use std::collections::BTreeMap;

/// The strongest numbers are cut if they are this many times the others, of which there must be some.
const FAR: f64 = 2.0;
const FEWEST: usize = 20;
/// The scale is this high, and has a stripe for each of this many colours.
const SCALE: f64 = 14.0;
const MOST_STRIPES: usize = 7;

/// A picture of numbers, row by row from the top.
#[derive(Debug, Clone, PartialEq)]
pub struct Tile {
    /// What it is called.
    pub name: String,
    /// Numbers in a row.
    pub width: usize,
    /// All numbers.
    pub values: Vec<f64>,
    /// The colours of numbers below zero, and above.
    pub hues: [Hue; 2],
}

/// Pictures of numbers side by side, in one scale of colours.
#[derive(Debug, Clone, PartialEq)]
pub struct Heat {
    /// What they show.
    pub title: String,
    /// What must be known of them.
    pub notes: Vec<String>,
    /// What the strongest numbers below and above zero mean.
    pub meaning: [String; 2],
    /// The pictures.
    pub tiles: Vec<Tile>,
}

impl Heat {
    /// Draws them; the picture is as high as they need.
    pub fn draw(&self, canvas: Canvas) -> Result<Picture, PlotError> {
        for tile in &self.tiles {
            if let Some(place) = tile.values.iter().position(|value| !value.is_finite()) {
                let what = format!("the values of {}", tile.name);
                return Err(PlotError::NotFinite { what, place, value: tile.values[place] });
            }
        }
        let (strongest, is_cut) = self.strongest();
        let Some(first) = self.tiles.iter().find(|tile| tile.width > 0 && !tile.values.is_empty()) else {
            return Err(PlotError::Nothing { what: "pictures of numbers".to_owned() });
        };
        let Canvas { width, ruler, .. } = canvas;
        let mut items = Vec::new();
        let top = head(&mut items, &self.title, &self.notes, canvas) + canvas.air(8.0);
        let columns = match self.tiles.len() {
            n @ 1..=3 => n,
            4 => 2,
            n @ 5..=6 => n.div_ceil(2),
            n if canvas.is_narrow() => {
                if n > 20 {
                    5
                } else {
                    3
                }
            }
            n => {
                if n > 20 {
                    8
                } else {
                    5
                }
            }
        };
        let high = first.values.len().div_ceil(first.width);
        let room = (width - 20.0) / columns as f64 - 20.0;
        // Whole pixels, so that neighbours leave no gap between them.
        let spot = (room / first.width as f64).min(320.0 / high as f64).floor().max(1.0);
        let (tile_width, tile_height) = (spot * first.width as f64, spot * high as f64);
        let pitch = ((tile_width + 20.0).max(room + 20.0), tile_height + LINE + 12.0);
        for (idx, tile) in self.tiles.iter().enumerate() {
            let x = (10.0 + pitch.0 * (idx % columns) as f64 + (pitch.0 - tile_width) / 2.0).round();
            let y = (top + pitch.1 * (idx / columns) as f64).round();
            let name = Text::new(at(x + tile_width / 2.0, y + 15.0), &tile.name, SMALL);
            items.push(name.anchor(Anchor::Middle).fit(ruler, pitch.0 - 8.0).into());
            let y = y + LINE;
            for (ink, rings) in runs(tile, strongest) {
                let moved = |rect: Rect| {
                    let Rect { x: i, y: j, width, height } = rect;
                    Rect { x: x + spot * i, y: y + spot * j, width: spot * width, height: spot * height }
                        .corners()
                };
                let rings = rings.into_iter().map(moved).collect();
                items.push(Shape::new("heat", Outline::Area(rings), Paint::fill(ink)).into());
            }
            let edge = Rect { x: x - 0.5, y: y - 0.5, width: tile_width + 1.0, height: tile_height + 1.0 };
            items.push(Shape::new("edge", Outline::Rect(edge), Paint::stroke(Ink::Grid, 1.0)).into());
        }
        let mut y = top + pitch.1 * self.tiles.len().div_ceil(columns) as f64 + 8.0;
        y = scale(&mut items, (&self.meaning, &self.hues()), (strongest, is_cut), y, canvas);
        Ok(on_paper(width, y, &self.title, &self.notes, items))
    }
}

impl Heat {
    /// The colours below zero, and above, as many as fit into the scale.
    fn hues(&self) -> [Vec<Hue>; 2] {
        [0, 1].map(|side| {
            let mut hues: Vec<Hue> = Vec::new();
            for tile in &self.tiles {
                if !hues.contains(&tile.hues[side]) && hues.len() < MOST_STRIPES {
                    hues.push(tile.hues[side]);
                }
            }
            hues
        })
    }

    /// The number that has the strongest colour, and whether there are stronger ones: a few numbers that are far beyond
    /// all others would leave those without colour.
    fn strongest(&self) -> (f64, bool) {
        let all = self.tiles.iter().flat_map(|tile| &tile.values);
        let mut sizes: Vec<f64> = all.map(|value| value.abs()).filter(|size| *size > 0.0).collect();
        sizes.sort_by(f64::total_cmp);
        let Some(&most) = sizes.last() else { return (0.0, false) };
        let common = sizes[(sizes.len() - 1) * 99 / 100];
        if sizes.len() >= FEWEST && most > FAR * common { (common, true) } else { (most, false) }
    }
}

/// How large the spots of a surface are, in pixels: small squares, or letters.
const SPOT: (f64, f64) = (6.0, 6.0);
const LETTER: (f64, f64) = (10.0, 20.0);

/// How high something is over two axes, in colours.
pub struct Surface<'a> {
    /// What it shows.
    pub title: String,
    /// What must be known of it.
    pub notes: Vec<String>,
    /// The axis that lies.
    pub x: Axis,
    /// The axis that stands.
    pub y: Axis,
    /// How high it is at a pair of values.
    pub height: &'a dyn Fn(f64, f64) -> f64,
    /// The height that has the strongest colour: the same for surfaces that are compared.
    pub strongest: f64,
    /// The colours of heights below zero, and above.
    pub hues: [Hue; 2],
}

impl Surface<'_> {
    /// Draws it.
    pub fn draw(&self, canvas: Canvas) -> Result<Picture, PlotError> {
        let key = |share: f64| {
            let height = share * self.strongest;
            let sign = if height > 0.0 { "+" } else { "" };
            Key::new(Swatch::Patch(Ink::signed(self.hues, share)), format!("{sign}{}", number(height)))
        };
        let shares: &[f64] = if self.strongest > 0.0 { &[1.0, 0.5, 0.0, -0.5, -1.0] } else { &[0.0] };
        let chart = Chart {
            title: self.title.clone(),
            notes: self.notes.clone(),
            x: self.x.clone(),
            y: self.y.clone(),
            legend: shares.iter().map(|share| key(*share)).collect(),
            ..Chart::default()
        };
        let mut plot = chart.open(canvas);
        let area = plot.area;
        let spot = if canvas.ruler == Ruler::Terminal { LETTER } else { SPOT };
        let count = |length: f64, spot: f64| (length / spot).round().clamp(1.0, 400.0);
        let (across, down) = (count(area.width, spot.0), count(area.height, spot.1));
        let (name, width) = (self.title.clone(), across as usize);
        let mut tile = Tile { name, width, values: Vec::new(), hues: self.hues };
        for row in 0..down as usize {
            for column in 0..tile.width {
                let x = self.x.value((column as f64 + 0.5) / across);
                let value = (self.height)(x, self.y.value(1.0 - (row as f64 + 0.5) / down));
                if !value.is_finite() {
                    let what = format!("the heights of {}", tile.name);
                    return Err(PlotError::NotFinite { what, place: tile.values.len(), value });
                }
                tile.values.push(value);
            }
        }
        for (ink, rings) in runs(&tile, self.strongest) {
            // Whole pixels, so that neighbours leave no gap between them.
            let moved = |rect: Rect| {
                let (x, y) = (
                    |x: f64| (area.x + area.width * x / across).round(),
                    |y: f64| (area.y + area.height * y / down).round(),
                );
                let (left, top) = (x(rect.x), y(rect.y));
                let (width, height) = (x(rect.right()) - left, y(rect.bottom()) - top);
                Rect { x: left, y: top, width, height }.corners()
            };
            let rings = rings.into_iter().map(moved).collect();
            plot.below(Shape::new("heat", Outline::Area(rings), Paint::fill(ink)));
        }
        Ok(plot.finish())
    }
}

/// A tile as runs of one colour, in its own units.
fn runs(tile: &Tile, strongest: f64) -> BTreeMap<Ink, Vec<Rect>> {
    let mut by_ink: BTreeMap<Ink, Vec<Rect>> = BTreeMap::new();
    for (row, values) in tile.values.chunks(tile.width.max(1)).enumerate() {
        let inks: Vec<Ink> = values
            .iter()
            .map(|value| Ink::signed(tile.hues, if strongest > 0.0 { value / strongest } else { 0.0 }))
            .collect();
        let mut start = 0;
        for run in inks.chunk_by(|a, b| a == b) {
            if !matches!(run[0], Ink::Signed(_, 0)) {
                let rect = Rect { x: start as f64, y: row as f64, width: run.len() as f64, height: 1.0 };
                by_ink.entry(run[0]).or_default().push(rect);
            }
            start += run.len();
        }
    }
    by_ink
}

/// What the colours mean; returns where the next line begins.
fn scale(
    items: &mut Vec<crate::Item>,
    (meaning, hues): (&[String; 2], &[Vec<Hue>; 2]),
    (strongest, is_cut): (f64, bool),
    y: f64,
    canvas: Canvas,
) -> f64 {
    let Canvas { width, ruler, .. } = canvas;
    let step = (width / 3.0 / (2.0 * f64::from(HEAT_STEPS) + 1.0)).clamp(1.0, 5.0);
    let length = step * (2.0 * f64::from(HEAT_STEPS) + 1.0);
    let start = ((width - length) / 2.0).round();
    for (place, shade) in (-HEAT_STEPS..=HEAT_STEPS).enumerate() {
        let stripes = &hues[usize::from(shade >= 0)];
        let high = SCALE / stripes.len() as f64;
        for (stripe, hue) in stripes.iter().enumerate() {
            let (x, y) = (start + step * place as f64, y + high * stripe as f64);
            let rect = Rect { x, y, width: step, height: high };
            items
                .push(Shape::new("scale", Outline::Rect(rect), Paint::fill(Ink::Signed(*hue, shade))).into());
        }
    }
    let room = start - 20.0;
    let words = |text: &str, cut: &str, value: f64| {
        format!("{text} ({}{})", if is_cut { cut } else { "" }, number(value))
    };
    let (against, speaks_for) = (words(&meaning[0], "≤ ", -strongest), words(&meaning[1], "≥ ", strongest));
    let left = Text::new(at(start - 8.0, y + 12.0), against, SMALL).anchor(Anchor::End).fit(ruler, room);
    let right = Text::new(at(start + length + 8.0, y + 12.0), speaks_for, SMALL).fit(ruler, room);
    items.extend([left.into(), right.into()]);
    y + SCALE + LINE
}
