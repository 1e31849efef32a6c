//! Pictures as PNG files.

use crate::font::{self, Ruler};
use crate::ink::{Ink, Look, Rgb};
use crate::raster::{self, Window, cover};
use crate::scene::{Anchor, Group, Item, Outline, Picture, Point, Rect, Shape, Text, at};
use crate::svg::DASH;

/// More pixels than this are not drawn: they would take more memory than a picture is worth.
const MOST_PIXELS: f64 = 1e8;

impl Picture {
    /// The picture as the bytes of a PNG file, each of its pixels being `scale` wide and high: 2 is good for
    /// slides. Of a film, the last frame. A picture too large for that is drawn smaller.
    pub fn png(&self, look: Look, scale: f64) -> Vec<u8> {
        let last = self.film.map(|film| film.frames - 1);
        self.encoded(look, scale, &[last]).expect("writing to memory cannot fail")
    }

    /// A film as the bytes of an animated PNG file, which is seen as a PNG where nothing moves; a picture that does not
    /// move as [`Picture::png`].
    pub fn apng(&self, look: Look, scale: f64) -> Vec<u8> {
        let Some(film) = self.film.filter(|film| film.frames > 1) else { return self.png(look, scale) };
        let frames: Vec<Option<usize>> = (0..film.frames).map(Some).collect();
        self.encoded(look, scale, &frames).expect("writing to memory cannot fail")
    }

    /// The bytes of a file with these frames.
    fn encoded(
        &self,
        look: Look,
        scale: f64,
        frames: &[Option<usize>],
    ) -> Result<Vec<u8>, png::EncodingError> {
        let most = (MOST_PIXELS / (self.width * self.height).max(1.0)).sqrt();
        let scale = scale.min(most);
        let (width, height) = ((self.width * scale).ceil() as usize, (self.height * scale).ceil() as usize);
        let window = Window { left: 0, top: 0, right: width, bottom: height };
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, width as u32, height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::Balanced);
        if let (Some(film), [_, _, ..]) = (self.film, frames) {
            encoder.set_animated(frames.len() as u32, 0)?;
            encoder.set_frame_delay((film.seconds * 100.0).clamp(1.0, 6000.0) as u16, 100)?;
        }
        let mut writer = encoder.write_header()?;
        for frame in frames {
            let paper = Ink::Paper.rgb(look);
            let mut pixels = Pixels { width, look, scale, values: vec![paper; width * height] };
            pixels.items(&self.items, at(0.0, 0.0), window, *frame);
            let pixels: Vec<u8> = pixels.values.iter().flat_map(|Rgb(r, g, b)| [*r, *g, *b]).collect();
            writer.write_image_data(&pixels)?;
        }
        writer.finish()?;
        Ok(bytes)
    }
}

struct Pixels {
    width: usize,
    look: Look,
    scale: f64,
    values: Vec<Rgb>,
}

impl Pixels {
    fn items(&mut self, items: &[Item], shift: Point, window: Window, last: Option<usize>) {
        for item in items {
            match item {
                Item::Shape(shape) => self.shape(shape, shift, window),
                Item::Text(text) => self.text(text, shift, window),
                Item::Group(group) if group.frame.is_some() && group.frame != last => {}
                Item::Group(group) => {
                    let inner = self.narrowed(group, shift, window);
                    let shift = at(shift.x + group.shift.x, shift.y + group.shift.y);
                    self.items(&group.items, shift, inner, last);
                }
            }
        }
    }

    /// What is seen of a group.
    fn narrowed(&self, group: &Group, shift: Point, window: Window) -> Window {
        let Some(Rect { x, y, width, height }) = group.clip else { return window };
        let (left, top) = (shift.x + group.shift.x + x, shift.y + group.shift.y + y);
        let pixel = |value: f64| (value * self.scale).round().max(0.0) as usize;
        Window {
            left: window.left.max(pixel(left)),
            top: window.top.max(pixel(top)),
            right: window.right.min(pixel(left + width)),
            bottom: window.bottom.min(pixel(top + height)),
        }
    }

    fn shape(&mut self, shape: &Shape, shift: Point, window: Window) {
        let scaled = |point: &Point| at((point.x + shift.x) * self.scale, (point.y + shift.y) * self.scale);
        let (rings, closed): (Vec<Vec<Point>>, bool) = match &shape.outline {
            Outline::Line(points) => (vec![points.iter().map(scaled).collect()], false),
            Outline::Area(rings) => {
                (rings.iter().map(|ring| ring.iter().map(scaled).collect()).collect(), true)
            }
            Outline::Rect(rect) => (vec![rect.corners().iter().map(scaled).collect()], true),
            Outline::Circle(centre, radius) => {
                (vec![raster::disc(scaled(centre), radius * self.scale, 48)], true)
            }
            Outline::Marker(marker, centre, radius) => {
                (vec![marker.ring(scaled(centre), radius * self.scale)], true)
            }
        };
        if let Some(ink) = shape.paint.fill {
            self.fill(&rings, ink, window);
        }
        let Some(ink) = shape.paint.stroke else { return };
        let width = shape.paint.width * self.scale;
        let mut lines = Vec::new();
        for ring in &rings {
            if shape.paint.dashed {
                let dash = (DASH.0 * self.scale, DASH.1 * self.scale);
                for line in raster::dashes(ring, dash) {
                    lines.extend(raster::stroke(&line, false, width));
                }
            } else {
                lines.extend(raster::stroke(ring, closed, width));
            }
        }
        self.fill(&lines, ink, window);
    }

    fn text(&mut self, text: &Text, shift: Point, window: Window) {
        let size = text.size * self.scale;
        let width = Ruler::Paper.width(&text.text, size);
        let start = match text.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => width / 2.0,
            Anchor::End => width,
        };
        let origin =
            at((text.at.x + shift.x) * self.scale - start, ((text.at.y + shift.y) * self.scale).round());
        self.fill(&font::rings(&text.text, size, origin), text.ink, window);
    }

    fn fill(&mut self, rings: &[Vec<Point>], ink: Ink, window: Window) {
        let Some(coverage) = cover(rings, window) else { return };
        let ink = ink.rgb(self.look);
        for (row, shares) in coverage.rows().enumerate() {
            let start = (coverage.top + row) * self.width + coverage.left;
            for (pixel, &share) in self.values[start..start + coverage.width].iter_mut().zip(shares) {
                if share > 0.0 {
                    *pixel = pixel.towards(ink, f64::from(share));
                }
            }
        }
    }
}
