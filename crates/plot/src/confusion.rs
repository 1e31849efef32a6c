//! Which classes are taken for which: a table whose colours are shares of its rows.

use crate::axis::PlotError;
use crate::bars::on_paper;
use crate::chart::{Canvas, LINE, SMALL, head};
use crate::font::Ruler;
use crate::ink::Ink;
use crate::scene::{Anchor, Outline, Paint, Picture, Rect, Shape, Text, at};

/// A table of true classes and given ones.
#[derive(Debug, Clone, PartialEq)]
pub struct Confusion<'a> {
    /// What it shows.
    pub title: String,
    /// What must be known of it.
    pub notes: Vec<String>,
    /// What the classes are called.
    pub classes: &'a [String],
    /// `counts[true][given]`.
    pub counts: &'a [Vec<u64>],
}

impl Confusion<'_> {
    /// Draws it: true classes downwards, given ones across. Blue is right, orange wrong.
    pub fn draw(&self, canvas: Canvas) -> Result<Picture, PlotError> {
        let n_classes = self.classes.len();
        if n_classes == 0 {
            return Err(PlotError::Nothing { what: "classes".to_owned() });
        }
        let Canvas { width, height, ruler } = canvas;
        let mut items = Vec::new();
        let top = head(&mut items, &self.title, &self.notes, canvas) + canvas.air(8.0);
        let longest = self.classes.iter().map(|name| ruler.width(name, SMALL)).fold(0.0, f64::max);
        let names = longest.min(width * 0.25).max(ruler.width("true class", SMALL));
        let left = 20.0 + names + canvas.air(2.0);
        let first = top + 2.0 * LINE;
        let (wide, high) =
            ((width - left - 20.0) / n_classes as f64, (height - first - 16.0) / n_classes as f64);
        let cell = (wide.min(140.0), high.clamp(6.0, 90.0).max((LINE + 2.0).min(wide)));
        let cell = match ruler {
            Ruler::Paper => cell,
            // Whole letters, so that cells end where letters do.
            Ruler::Terminal => {
                ((cell.0 / 10.0).floor().max(1.0) * 10.0, (cell.1 / LINE).floor().max(1.0) * LINE)
            }
        };
        let caption = |x: f64, y: f64, text: &str| Text::new(at(x, y), text, SMALL).ink(Ink::Faint);
        items.push(caption(left - 8.0, first - 8.0, "true class").anchor(Anchor::End).into());
        items.push(caption(left, top + 12.0, "given class").into());
        // Too many to be named are told when pointed at.
        let step = (LINE / cell.1).ceil().max(1.0) as usize;
        for (idx, name) in self.classes.iter().enumerate() {
            let (x, y) = (left + cell.0 * idx as f64, first + cell.1 * idx as f64);
            if idx % step == 0 {
                let row = Text::new(at(left - 8.0, y + cell.1 / 2.0 + 5.0), name, SMALL);
                items.push(row.anchor(Anchor::End).fit(ruler, names + 0.5).into());
            }
            if cell.0 >= 14.0 {
                let column = Text::new(at(x + cell.0 / 2.0, first - 8.0), name, SMALL);
                items.push(column.anchor(Anchor::Middle).fit(ruler, cell.0 - 4.0).into());
            }
        }
        for (truth, row) in self.counts.iter().enumerate() {
            let of_class: u64 = row.iter().sum();
            for (given, &count) in row.iter().enumerate() {
                let share = if of_class == 0 { 0.0 } else { count as f64 / of_class as f64 };
                // Mistakes are few; the root makes them visible.
                let ink = Ink::signed(if truth == given { share / 2.0 } else { -share.sqrt() / 2.0 });
                let rect = Rect {
                    x: left + cell.0 * given as f64,
                    y: first + cell.1 * truth as f64,
                    width: cell.0,
                    height: cell.1,
                };
                let note =
                    format!("{count} rows of {} were given {}", self.classes[truth], self.classes[given]);
                let paint = Paint::fill(ink).edged(Ink::Grid, 1.0);
                items.push(Shape::new("cell", Outline::Rect(rect), paint).saying(note).into());
                let text = count.to_string();
                if count > 0 && ruler.width(&text, SMALL) + 4.0 <= cell.0 && cell.1 >= LINE {
                    let middle = at(rect.x + cell.0 / 2.0, rect.y + cell.1 / 2.0 + 5.0);
                    let text = Text::new(middle, text, SMALL).anchor(Anchor::Middle);
                    items.push(text.into());
                }
            }
        }
        let bottom = first + cell.1 * n_classes as f64 + 16.0;
        Ok(on_paper(width, bottom, &self.title, &self.notes, items))
    }
}
