//! Pictures as text: letters for words and signs, braille dots for lines, sparse points for regions.
//!
//! A letter stands for 10 by 20 pixels, and a braille dot for 5 by 5. The paper is the terminal's own: nothing is painted
//! over it, words have the colour it writes with, and the others stand out from light and dark alike. Without colours,
//! only the boundary separates regions, signs separate classes, and shades show heat.

use crate::ink::{HEAT_STEPS, Ink, Look, Rgb};
use crate::raster::{self, Window, cover};
use crate::scene::{Anchor, Group, Item, Outline, Picture, Point, Rect, Shape, Text, at};
use std::fmt::Write as _;

const CELL: (f64, f64) = (10.0, 20.0);
/// Pixels of a braille dot.
const DOT: f64 = 5.0;
const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];
/// The bit of each dot of a braille letter, by column and row.
const BITS: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];

/// How a picture becomes text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terminal {
    /// Whether there are colours.
    pub colour: bool,
    /// The terminal's own paper, where it is known.
    pub look: Option<Look>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    letter: Option<char>,
    dots: u8,
    ink: Option<Ink>,
    /// The class whose region it is in.
    region: Option<usize>,
}

impl Picture {
    /// The picture as lines of text, best made for [`crate::Canvas::terminal`]. Of a film, the last frame.
    pub fn text(&self, how: Terminal) -> String {
        let columns = (self.width / CELL.0).round().clamp(1.0, 1000.0) as usize;
        let rows = (self.height / CELL.1).round().clamp(1.0, 1000.0) as usize;
        let mut page = Page { columns, rows, cells: vec![Cell::default(); columns * rows] };
        let whole = Rect { x: 0.0, y: 0.0, width: self.width, height: self.height };
        page.items(&self.items, at(0.0, 0.0), whole, self.film.map(|film| film.frames - 1));
        page.write(how)
    }
}

struct Page {
    columns: usize,
    rows: usize,
    cells: Vec<Cell>,
}

impl Page {
    fn items(&mut self, items: &[Item], shift: Point, clip: Rect, last: Option<usize>) {
        for item in items {
            match item {
                Item::Shape(shape) => self.shape(shape, shift, clip),
                Item::Text(text) => self.words(text, shift),
                Item::Group(group) if group.frame.is_some() && group.frame != last => {}
                Item::Group(Group { shift: moved, clip: inner, items, .. }) => {
                    let shift = at(shift.x + moved.x, shift.y + moved.y);
                    let inner = inner.map_or(clip, |inner| {
                        clip.within(&Rect { x: inner.x + shift.x, y: inner.y + shift.y, ..inner })
                    });
                    self.items(items, shift, inner, last);
                }
            }
        }
    }

    fn cell(&mut self, x: f64, y: f64) -> Option<&mut Cell> {
        let (column, row) = ((x / CELL.0).floor(), (y / CELL.1).floor());
        let inside = column >= 0.0 && row >= 0.0 && column < self.columns as f64 && row < self.rows as f64;
        inside.then(|| &mut self.cells[row as usize * self.columns + column as usize])
    }

    fn shape(&mut self, shape: &Shape, shift: Point, clip: Rect) {
        let moved = |point: &Point| at(point.x + shift.x, point.y + shift.y);
        let rings: Vec<Vec<Point>> = match &shape.outline {
            Outline::Marker(marker, centre, _) => {
                let (centre, ink) = (moved(centre), shape.paint.fill.or(shape.paint.stroke));
                if let Some(cell) = self.cell(centre.x, centre.y) {
                    let ringed = shape.role == "mistake";
                    cell.letter = Some(marker.letter(ringed));
                    cell.ink = ink;
                }
                return;
            }
            // A ring shows as the hollow sign of the point in it; only the legend has one without a point.
            Outline::Circle(centre, _) => {
                let centre = moved(centre);
                if shape.role == "key"
                    && let Some(cell) = self.cell(centre.x, centre.y)
                {
                    cell.letter = Some('○');
                    cell.ink = shape.paint.stroke;
                }
                return;
            }
            Outline::Line(points) => vec![points.iter().map(moved).collect()],
            Outline::Area(rings) => rings.iter().map(|ring| ring.iter().map(moved).collect()).collect(),
            Outline::Rect(rect) => vec![rect.corners().iter().map(moved).collect()],
        };
        if let Some(ink) = shape.paint.fill {
            self.fill(&rings, ink, clip);
        }
        let Some(ink) = shape.paint.stroke.filter(|ink| *ink != Ink::Grid && *ink != Ink::Paper) else {
            return;
        };
        for ring in &rings {
            if shape.paint.dashed {
                for dash in raster::dashes(ring, (15.0, 15.0)) {
                    self.line(&dash, ink, clip);
                }
            } else {
                self.line(ring, ink, clip);
                if let (false, [first, .., last]) =
                    (matches!(shape.outline, Outline::Line(_)), ring.as_slice())
                {
                    self.line(&[*last, *first], ink, clip);
                }
            }
        }
    }

    fn fill(&mut self, rings: &[Vec<Point>], ink: Ink, clip: Rect) {
        match ink {
            Ink::Paper => {}
            Ink::Tint(_) | Ink::Signed(..) => {
                let scaled = |point: &Point| at(point.x / CELL.0, point.y / CELL.1);
                let columns = self.columns;
                self.covered(rings, scaled, (CELL.0, CELL.1), clip, |cells, column, row| {
                    let cell = &mut cells[row * columns + column];
                    match ink {
                        Ink::Signed(_, step) => (cell.letter, cell.ink) = (Some(shade(step)), Some(ink)),
                        Ink::Tint(class) => cell.region = Some(class),
                        _ => {}
                    }
                });
            }
            _ => {
                let scaled = |point: &Point| at(point.x / DOT, point.y / DOT);
                let columns = self.columns;
                self.covered(rings, scaled, (DOT, DOT), clip, |cells, column, row| {
                    let cell = &mut cells[row / 4 * columns + column / 2];
                    cell.dots |= BITS[column % 2][row % 4];
                    cell.ink = Some(ink);
                });
            }
        }
    }

    /// Calls `mark` for every spot that is mostly covered; spots are `size` pixels wide and high.
    fn covered(
        &mut self,
        rings: &[Vec<Point>],
        scaled: impl Fn(&Point) -> Point,
        spot: (f64, f64),
        clip: Rect,
        mut mark: impl FnMut(&mut [Cell], usize, usize),
    ) {
        let rings: Vec<Vec<Point>> = rings.iter().map(|ring| ring.iter().map(&scaled).collect()).collect();
        let most = (self.columns as f64 * CELL.0 / spot.0, self.rows as f64 * CELL.1 / spot.1);
        let window = Window {
            left: (clip.x / spot.0).round().clamp(0.0, most.0) as usize,
            top: (clip.y / spot.1).round().clamp(0.0, most.1) as usize,
            right: (clip.right() / spot.0).round().clamp(0.0, most.0) as usize,
            bottom: (clip.bottom() / spot.1).round().clamp(0.0, most.1) as usize,
        };
        let Some(coverage) = cover(&rings, window) else { return };
        for (row, shares) in coverage.rows().enumerate() {
            for (column, _) in shares.iter().enumerate().filter(|(_, share)| **share >= 0.5) {
                mark(&mut self.cells, coverage.left + column, coverage.top + row);
            }
        }
    }

    fn line(&mut self, points: &[Point], ink: Ink, clip: Rect) {
        for pair in points.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            let far = (to.x - from.x).abs().max((to.y - from.y).abs());
            if !far.is_finite() {
                continue;
            }
            let n_steps = (far / DOT * 2.0).ceil().clamp(1.0, 10_000.0) as usize;
            for step in 0..=n_steps {
                let share = step as f64 / n_steps as f64;
                let (x, y) = (from.x + share * (to.x - from.x), from.y + share * (to.y - from.y));
                let inside = x >= clip.x - DOT
                    && x <= clip.right() + DOT
                    && y >= clip.y - DOT
                    && y <= clip.bottom() + DOT;
                let (column, row) =
                    ((x / DOT).floor().max(0.0) as usize, (y / DOT).floor().max(0.0) as usize);
                if let Some(cell) = self.cell(x, y).filter(|_| inside) {
                    cell.dots |= BITS[column % 2][row % 4];
                    cell.ink = Some(ink);
                }
            }
        }
    }

    fn words(&mut self, text: &Text, shift: Point) {
        let n_letters = text.text.chars().count() as f64;
        let at_letter = (text.at.x + shift.x) / CELL.0;
        let first = match text.anchor {
            Anchor::Start => at_letter.round(),
            Anchor::Middle => (at_letter - n_letters / 2.0).round(),
            Anchor::End => (at_letter - n_letters).round(),
        };
        // The middle of the letters decides on which line they stand. A tick at the very edge moves in.
        let y = text.at.y + shift.y - 0.36 * text.size;
        let first = first.min(self.columns as f64 - n_letters).max(0.0);
        for (number, letter) in text.text.chars().enumerate() {
            let letter = if is_seen(letter) { letter } else { ' ' };
            if let Some(cell) = self.cell((first + number as f64 + 0.5) * CELL.0, y) {
                cell.letter = Some(letter);
                cell.ink = Some(text.ink);
            }
        }
    }

    fn write(&self, how: Terminal) -> String {
        let mut text = String::new();
        for (number, row) in self.cells.chunks_exact(self.columns).enumerate() {
            let mut line = String::new();
            let mut now = None;
            for (column, cell) in row.iter().enumerate() {
                // Sparse, so that points and lines stand out from their region.
                let is_speck = how.colour && column % 4 == 2 * (number % 2);
                let (letter, ink) = match (cell.letter, cell.dots, cell.region.filter(|_| is_speck)) {
                    (Some(letter), ..) => (letter, cell.ink),
                    (None, 0, Some(class)) => ('·', Some(Ink::Class(class))),
                    (None, 0, None) => (' ', None),
                    (None, dots, _) => (char::from_u32(0x2800 + u32::from(dots)).unwrap_or(' '), cell.ink),
                };
                if how.colour {
                    let colour = ink.filter(|_| letter != ' ').and_then(|ink| {
                        let known = ink.on_any_paper()?;
                        Some(how.look.map_or(known, |look| ink.rgb(look)))
                    });
                    if colour != now {
                        line.push_str("\x1b[0m");
                        if let Some(Rgb(r, g, b)) = colour {
                            let _ = write!(line, "\x1b[38;2;{r};{g};{b}m");
                        }
                        now = colour;
                    }
                }
                line.push(letter);
            }
            if now.is_some() {
                line.push_str("\x1b[0m");
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

fn shade(step: i8) -> char {
    let place =
        usize::from(step.unsigned_abs()) * SHADES.len() / (usize::from(HEAT_STEPS.unsigned_abs()) + 1);
    SHADES[place.min(SHADES.len() - 1)]
}
/// Whether a terminal shows a letter, and does not obey it: some reorder or hide what stands beside them.
fn is_seen(letter: char) -> bool {
    !letter.is_control()
        && !matches!(letter, '\u{61C}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}')
}
