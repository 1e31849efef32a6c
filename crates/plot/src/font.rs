//! The one font: how wide text is, what its letters look like, and how it is shortened.
//!
//! SVG names the font first and leaves the rest to the viewer; the letters of this one are wide, so what is laid
//! out with them fits in others, too.

use crate::scene::{Point, at};
use std::sync::LazyLock;
use ttf_parser::{Face, GlyphId, OutlineBuilder};

static FACE: LazyLock<Option<Face<'static>>> =
    LazyLock::new(|| Face::parse(include_bytes!("../font/DejaVuSans-subset.ttf"), 0).ok());

fn face() -> &'static Face<'static> {
    FACE.as_ref().expect("the font is part of this crate")
}

fn glyph(letter: char) -> GlyphId {
    face().glyph_index(letter).unwrap_or(GlyphId(0))
}

/// How text is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ruler {
    /// On paper: by the font.
    #[default]
    Paper,
    /// In a terminal: every letter is 10 pixels wide.
    Terminal,
}

impl Ruler {
    /// How wide `text` is, in pixels.
    pub fn width(self, text: &str, size: f64) -> f64 {
        if self == Self::Terminal {
            return 10.0 * text.chars().count() as f64;
        }
        let units: u64 = text.chars().map(|letter| advance(glyph(letter))).sum();
        units as f64 * size / f64::from(face().units_per_em())
    }

    /// `text` in at most `room` pixels, cut with an ellipsis if need be, and whether it was.
    pub fn fit(self, text: &str, size: f64, room: f64) -> (String, bool) {
        if self.width(text, size) <= room {
            return (text.to_owned(), false);
        }
        let mut kept = String::new();
        let mut used = self.width("…", size);
        for letter in text.chars() {
            used += self.width(letter.encode_utf8(&mut [0; 4]), size);
            if used > room {
                break;
            }
            kept.push(letter);
        }
        (format!("{}…", kept.trim_end()), true)
    }

    /// `text` in lines of at most `room` pixels, broken between words.
    pub fn wrap(self, text: &str, size: f64, room: f64) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for word in text.split_whitespace() {
            match lines.last_mut() {
                Some(line) if self.width(&format!("{line} {word}"), size) <= room => {
                    line.push(' ');
                    line.push_str(word);
                }
                _ => lines.push(word.to_owned()),
            }
        }
        lines
    }
}

fn advance(glyph: GlyphId) -> u64 {
    u64::from(face().glyph_hor_advance(glyph).unwrap_or(0))
}

/// The outlines of `text`, which begins at `origin`, as closed rings.
pub(crate) fn rings(text: &str, size: f64, origin: Point) -> Vec<Vec<Point>> {
    let scale = size / f64::from(face().units_per_em());
    let mut pen = Pen { scale, origin, rings: Vec::new() };
    for letter in text.chars() {
        let glyph = glyph(letter);
        face().outline_glyph(glyph, &mut pen);
        pen.origin.x += advance(glyph) as f64 * scale;
    }
    pen.rings
}

struct Pen {
    scale: f64,
    origin: Point,
    rings: Vec<Vec<Point>>,
}

/// Into how many straight pieces a curve of a letter is broken.
const PIECES: u32 = 6;

impl Pen {
    fn place(&self, x: f32, y: f32) -> Point {
        at(self.origin.x + f64::from(x) * self.scale, self.origin.y - f64::from(y) * self.scale)
    }

    fn last(&self) -> Point {
        self.rings.last().and_then(|ring| ring.last()).copied().unwrap_or(self.origin)
    }

    fn push(&mut self, point: Point) {
        if let Some(ring) = self.rings.last_mut() {
            ring.push(point);
        }
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let point = self.place(x, y);
        self.rings.push(vec![point]);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.push(self.place(x, y));
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let (from, bend, to) = (self.last(), self.place(x1, y1), self.place(x, y));
        for piece in 1..=PIECES {
            let t = f64::from(piece) / f64::from(PIECES);
            let mix = |a: f64, b: f64, c: f64| (1.0 - t).powi(2) * a + 2.0 * t * (1.0 - t) * b + t * t * c;
            self.push(at(mix(from.x, bend.x, to.x), mix(from.y, bend.y, to.y)));
        }
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        // A TrueType font has no such curves; straight lines would be seen, and be noticed.
        for (x, y) in [(x1, y1), (x2, y2), (x, y)] {
            self.line_to(x, y);
        }
    }

    fn close(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_measured_cut_and_wrapped() {
        let paper = Ruler::Paper;
        assert!(paper.width("mm", 16.0) > paper.width("ii", 16.0));
        assert!((paper.width("aa", 32.0) - 4.0 * paper.width("a", 16.0)).abs() < 1e-9);
        for ruler in [paper, Ruler::Terminal] {
            assert_eq!(ruler.fit("short", 16.0, 100.0), ("short".to_owned(), false));
            let (cut, is_cut) = ruler.fit(&"x".repeat(200), 16.0, 100.0);
            assert!(is_cut && cut.ends_with('…') && ruler.width(&cut, 16.0) <= 100.0, "{cut}");
            let lines = ruler.wrap("one two three four five", 16.0, 90.0);
            assert!(lines.len() > 1 && lines.iter().all(|line| ruler.width(line, 16.0) <= 90.0), "{lines:?}");
            assert_eq!(lines.join(" "), "one two three four five");
        }
    }

    #[test]
    fn letters_have_outlines_and_unknown_ones_a_box() {
        assert!(!rings("Ω", 16.0, at(0.0, 0.0)).is_empty());
        assert!(!rings("漢", 16.0, at(0.0, 0.0)).is_empty());
        assert!(rings(" ", 16.0, at(0.0, 0.0)).is_empty());
    }
}
