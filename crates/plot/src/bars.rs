//! Named values as bars: to the right what speaks for something, to the left what speaks against it.

use crate::axis::{PlotError, Range, number};
use crate::chart::{Canvas, LINE, SMALL, head};
use crate::ink::Ink;
use crate::scene::{Anchor, Item, Outline, Paint, Picture, Rect, Shape, Text, at};

/// A named value.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// What it is called.
    pub name: String,
    /// Its value.
    pub value: f64,
}

/// Bars below one another.
#[derive(Debug, Clone, PartialEq)]
pub struct Bars {
    /// What they show.
    pub title: String,
    /// What must be known of them.
    pub notes: Vec<String>,
    /// The bars, from the top.
    pub bars: Vec<Bar>,
    /// The inks of values below zero, and above.
    pub inks: [Ink; 2],
}

impl Bars {
    /// Draws them; the picture is as high as they need.
    pub fn draw(&self, canvas: Canvas) -> Result<Picture, PlotError> {
        Ok(self.drawn(&Layout::of(std::slice::from_ref(self), canvas)?, canvas))
    }

    /// Draws several on one scale, so that a bar of one compares with those of the others.
    pub fn draw_alike(several: &[Self], canvas: Canvas) -> Result<Vec<Picture>, PlotError> {
        let layout = Layout::of(several, canvas)?;
        Ok(several.iter().map(|bars| bars.drawn(&layout, canvas)).collect())
    }

    fn drawn(&self, layout: &Layout, canvas: Canvas) -> Picture {
        let Layout { range, names, numbers } = *layout;
        let Canvas { width, ruler, .. } = canvas;
        let mut items = Vec::new();
        let top = head(&mut items, &self.title, &self.notes, canvas) + canvas.air(8.0);
        let (line, thin) = (LINE + canvas.air(6.0), canvas.air(4.0));
        let height = top + line * self.bars.len() as f64 + LINE;
        let left = 10.0 + names + 12.0;
        let has_left = range.low < 0.0;
        let start = left + if has_left { numbers } else { 0.0 };
        let room = (width - start - numbers - 16.0).max(40.0);
        let place = |value: f64| start + room * range.share(value);
        let zero = place(0.0);
        for (idx, bar) in self.bars.iter().enumerate() {
            let y = top + line * idx as f64;
            let base = y + line / 2.0 + 5.0;
            let name =
                Text::new(at(left - 8.0, base), &bar.name, SMALL).anchor(Anchor::End).fit(ruler, names + 0.5);
            items.push(name.into());
            let end = place(bar.value);
            let rect =
                Rect { x: zero.min(end), y: y + thin, width: (end - zero).abs(), height: line - 2.0 * thin };
            let ink = self.inks[usize::from(bar.value >= 0.0)];
            let shape = Shape::new("bar", Outline::Rect(rect), Paint::fill(ink));
            items.push(shape.saying(format!("{}: {}", bar.name, bar.value)).into());
            let value = Text::new(at(end + 6.0, base), number(bar.value), SMALL).ink(Ink::Faint);
            let value = if bar.value < 0.0 {
                Text { at: at(end - 6.0, base), ..value }.anchor(Anchor::End)
            } else {
                value
            };
            items.push(value.into());
        }
        let axis = Outline::Line(vec![at(zero, top), at(zero, height - LINE - 1.0)]);
        items.push(Shape::new("axes", axis, Paint::stroke(Ink::Faint, 1.5)).into());
        on_paper(width, height, &self.title, &self.notes, items)
    }
}

/// What panels of one scale have in common: what bars range over, and the room for names and numbers.
struct Layout {
    range: Range,
    names: f64,
    numbers: f64,
}

impl Layout {
    fn of(several: &[Bars], canvas: Canvas) -> Result<Self, PlotError> {
        let bars = || several.iter().flat_map(|bars| &bars.bars);
        let range = Range::of("the bars", bars().map(|bar| bar.value))?.with(0.0);
        let range = if range.low < range.high { range } else { range.with(1.0) };
        let longest = |texts: &mut dyn Iterator<Item = String>| {
            texts.map(|text| canvas.ruler.width(&text, SMALL)).fold(0.0, f64::max)
        };
        let names = longest(&mut bars().map(|bar| bar.name.clone())).min(canvas.width * 0.35);
        let numbers = longest(&mut bars().map(|bar| number(bar.value))) + 10.0;
        Ok(Self { range, names, numbers })
    }
}

/// Items on paper.
pub(crate) fn on_paper(width: f64, height: f64, title: &str, notes: &[String], items: Vec<Item>) -> Picture {
    let paper = Rect { x: 0.0, y: 0.0, width, height };
    let paper = Shape::new("paper", Outline::Rect(paper), Paint::fill(Ink::Paper));
    let items = std::iter::once(paper.into()).chain(items).collect();
    Picture { width, height, title: title.to_owned(), description: notes.join(" "), items, film: None }
}
