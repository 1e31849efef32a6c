//! What of TrueType the one font of this crate is made of: letters to glyphs, widths, and outlines of straight lines
//! and quadratic curves, glyphs made of others included.
//!
//! The font is part of the program and no other is ever read, so nothing here is for strangers' files: hints, scaled
//! parts and other tables of letters are left out, and what is not there reads as an empty glyph.

/// A font, by where its tables begin.
pub(crate) struct Font {
    bytes: &'static [u8],
    glyphs: usize,
    offsets: usize,
    widths: usize,
    letters: usize,
    /// How many units make the height of a line.
    pub(crate) units: u16,
}

/// Who draws an outline. Coordinates are in units, upwards.
pub(crate) trait Draw {
    fn start(&mut self, x: f64, y: f64);
    fn line(&mut self, x: f64, y: f64);
    /// A curve that bends towards the first point and ends at the second.
    fn curve(&mut self, bend: (f64, f64), end: (f64, f64));
}

/// How deep glyphs may be made of glyphs.
const DEEPEST: u32 = 4;

impl Font {
    /// The font in `bytes`, if it has the tables that are needed, in the forms that are known here.
    pub(crate) fn new(bytes: &'static [u8]) -> Option<Self> {
        let mut font = Self { bytes, glyphs: 0, offsets: 0, widths: 0, letters: 0, units: 0 };
        let n_tables = usize::from(font.u16(4)?);
        let table = |name: &[u8; 4]| {
            let line = (0..n_tables).map(|k| 12 + 16 * k).find(|&at| bytes.get(at..at + 4) == Some(name))?;
            font.u32(line + 8)
        };
        let (head, cmap) = (table(b"head")?, table(b"cmap")?);
        let (glyphs, offsets, widths) = (table(b"glyf")?, table(b"loca")?, table(b"hmtx")?);
        let letters = cmap + font.u32(cmap + 8)?;
        // Letters in segments, and offsets in two bytes each.
        if font.u16(letters)? != 4 || font.u16(head + 50)? != 0 {
            return None;
        }
        let units = font.u16(head + 18)?;
        font = Self { bytes, glyphs, offsets, widths, letters, units };
        Some(font)
    }

    fn u16(&self, at: usize) -> Option<u16> {
        self.bytes.get(at..at + 2)?.try_into().ok().map(u16::from_be_bytes)
    }

    fn i16(&self, at: usize) -> Option<i16> {
        self.u16(at).map(u16::cast_signed)
    }

    fn u32(&self, at: usize) -> Option<usize> {
        self.bytes.get(at..at + 4)?.try_into().ok().map(|four| u32::from_be_bytes(four) as usize)
    }

    /// The glyph of a letter; 0, a box, if there is none.
    pub(crate) fn glyph(&self, letter: char) -> u16 {
        u16::try_from(u32::from(letter)).ok().and_then(|letter| self.find(letter)).unwrap_or(0)
    }

    fn find(&self, letter: u16) -> Option<u16> {
        let n_segments = usize::from(self.u16(self.letters + 6)? / 2);
        let ends = self.letters + 14;
        let starts = ends + 2 * n_segments + 2;
        let segment = (0..n_segments).find(|k| self.u16(ends + 2 * k).is_some_and(|end| end >= letter))?;
        let start = self.u16(starts + 2 * segment).filter(|&start| start <= letter)?;
        let delta = self.u16(starts + 2 * (n_segments + segment))?;
        let place = starts + 2 * (2 * n_segments + segment);
        match self.u16(place)? {
            0 => Some(letter.wrapping_add(delta)),
            offset => {
                let glyph = self.u16(place + usize::from(offset) + 2 * usize::from(letter - start))?;
                Some(if glyph == 0 { 0 } else { glyph.wrapping_add(delta) })
            }
        }
    }

    /// How far the pen goes on after a glyph.
    pub(crate) fn advance(&self, glyph: u16) -> u16 {
        self.u16(self.widths + 4 * usize::from(glyph)).unwrap_or(0)
    }

    /// Draws a glyph.
    pub(crate) fn outline(&self, glyph: u16, pen: &mut impl Draw) {
        let _ = self.draw(glyph, (0.0, 0.0), DEEPEST, pen);
    }

    fn draw(&self, glyph: u16, shift: (f64, f64), deepest: u32, pen: &mut impl Draw) -> Option<()> {
        let offset = |glyph: usize| self.u16(self.offsets + 2 * glyph).map(|half| 2 * usize::from(half));
        let (start, end) = (offset(usize::from(glyph))?, offset(usize::from(glyph) + 1)?);
        if start == end {
            return None;
        }
        let at = self.glyphs + start;
        match self.i16(at)? {
            n_rings if n_rings >= 0 => self.draw_rings(at + 10, n_rings as usize, shift, pen),
            _ if deepest > 0 => self.draw_parts(at + 10, shift, deepest, pen),
            _ => None,
        }
    }

    /// A glyph made of others: each somewhere.
    fn draw_parts(&self, mut at: usize, shift: (f64, f64), deepest: u32, pen: &mut impl Draw) -> Option<()> {
        const WORDS: u16 = 1;
        const MORE: u16 = 0x20;
        loop {
            let (flags, glyph) = (self.u16(at)?, self.u16(at + 2)?);
            let (x, y) = if flags & WORDS != 0 {
                (self.i16(at + 4)?, self.i16(at + 6)?)
            } else {
                let byte = |at: usize| self.bytes.get(at).map(|byte| i16::from(byte.cast_signed()));
                (byte(at + 4)?, byte(at + 5)?)
            };
            at += if flags & WORDS != 0 { 8 } else { 6 };
            self.draw(glyph, (shift.0 + f64::from(x), shift.1 + f64::from(y)), deepest - 1, pen);
            if flags & MORE == 0 {
                return Some(());
            }
        }
    }

    /// A glyph of its own: the last point of each ring, flags of all points, then their steps in x and in y.
    fn draw_rings(&self, at: usize, n_rings: usize, shift: (f64, f64), pen: &mut impl Draw) -> Option<()> {
        const ON_CURVE: u8 = 1;
        const REPEATED: u8 = 8;
        let ends: Vec<usize> =
            (0..n_rings).map(|k| self.u16(at + 2 * k).map(usize::from)).collect::<Option<_>>()?;
        let n_points = ends.last()? + 1;
        let n_hints = usize::from(self.u16(at + 2 * n_rings)?);
        let mut at = at + 2 * n_rings + 2 + n_hints;
        let mut flags = Vec::with_capacity(n_points);
        while flags.len() < n_points {
            let flag = *self.bytes.get(at)?;
            at += 1;
            let mut times = 1;
            if flag & REPEATED != 0 {
                times += usize::from(*self.bytes.get(at)?);
                at += 1;
            }
            flags.extend(std::iter::repeat_n(flag, times));
        }
        // A step takes one byte and has its sign in the flags, or two, or is none.
        let mut steps = |short: u8, same: u8, from: f64| -> Option<Vec<f64>> {
            let mut value = from;
            let step = |flag: &u8| {
                value += match (flag & short != 0, flag & same != 0) {
                    (true, positive) => {
                        at += 1;
                        let step = f64::from(*self.bytes.get(at - 1)?);
                        if positive { step } else { -step }
                    }
                    (false, true) => 0.0,
                    (false, false) => {
                        at += 2;
                        f64::from(self.i16(at - 2)?)
                    }
                };
                Some(value)
            };
            flags.iter().take(n_points).map(step).collect()
        };
        let (xs, ys) = (steps(2, 16, shift.0)?, steps(4, 32, shift.1)?);
        let mut first = 0;
        for end in ends {
            let ring = first..end + 1;
            first = ring.end;
            let points = ring.map(|k| ((xs[k], ys[k]), flags[k] & ON_CURVE != 0));
            draw_ring(points, pen);
        }
        Some(())
    }
}

fn between(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    (f64::midpoint(a.0, b.0), f64::midpoint(a.1, b.1))
}

/// A closed ring. Between two points that are off the curve lies one that is on it.
fn draw_ring(points: impl Iterator<Item = ((f64, f64), bool)>, pen: &mut impl Draw) {
    let (mut start, mut early, mut bend) = (None, None, None);
    for (point, is_on) in points {
        match (start, bend, is_on) {
            (None, _, true) => {
                start = Some(point);
                pen.start(point.0, point.1);
            }
            (None, _, false) => match early {
                None => early = Some(point),
                Some(other) => {
                    let middle = between(other, point);
                    (start, bend) = (Some(middle), Some(point));
                    pen.start(middle.0, middle.1);
                }
            },
            (Some(_), None, true) => pen.line(point.0, point.1),
            (Some(_), None, false) => bend = Some(point),
            (Some(_), Some(towards), true) => {
                bend = None;
                pen.curve(towards, point);
            }
            (Some(_), Some(towards), false) => {
                bend = Some(point);
                pen.curve(towards, between(towards, point));
            }
        }
    }
    let Some(start) = start else { return };
    if let (Some(early), Some(towards)) = (early, bend.take_if(|_| early.is_some())) {
        pen.curve(towards, between(towards, early));
    }
    match early.or(bend) {
        Some(towards) => pen.curve(towards, start),
        None => pen.line(start.0, start.1),
    }
}
