//! The one font: how wide text is, what its letters look like, and how it is shortened.
//!
//! SVG names the font first and leaves the rest to the viewer; the letters of this one are wide, so what is laid
//! out with them fits in others, too.

use crate::scene::{Point, at};
use crate::truetype::{Draw, Font};
use std::sync::LazyLock;

static FONT: LazyLock<Option<Font>> =
    LazyLock::new(|| Font::new(include_bytes!("../font/DejaVuSans-subset.ttf")));

fn font() -> &'static Font {
    FONT.as_ref().expect("the font is part of this crate")
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
        let font = font();
        let units: u64 = text.chars().map(|letter| u64::from(font.advance(font.glyph(letter)))).sum();
        units as f64 * size / f64::from(font.units)
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

/// The outlines of `text`, which begins at `origin`, as closed rings.
pub(crate) fn rings(text: &str, size: f64, origin: Point) -> Vec<Vec<Point>> {
    let font = font();
    let scale = size / f64::from(font.units);
    let mut pen = Pen { scale, origin, rings: Vec::new() };
    for letter in text.chars() {
        let glyph = font.glyph(letter);
        font.outline(glyph, &mut pen);
        pen.origin.x += f64::from(font.advance(glyph)) * scale;
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
    fn place(&self, x: f64, y: f64) -> Point {
        at(self.origin.x + x * self.scale, self.origin.y - y * self.scale)
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

impl Draw for Pen {
    fn start(&mut self, x: f64, y: f64) {
        let point = self.place(x, y);
        self.rings.push(vec![point]);
    }

    fn line(&mut self, x: f64, y: f64) {
        self.push(self.place(x, y));
    }

    fn curve(&mut self, bend: (f64, f64), end: (f64, f64)) {
        let (from, bend, to) = (self.last(), self.place(bend.0, bend.1), self.place(end.0, end.1));
        for piece in 1..=PIECES {
            let t = f64::from(piece) / f64::from(PIECES);
            let mix = |a: f64, b: f64, c: f64| (1.0 - t).powi(2) * a + 2.0 * t * (1.0 - t) * b + t * t * c;
            self.push(at(mix(from.x, bend.x, to.x), mix(from.y, bend.y, to.y)));
        }
    }
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
