//! A square table of names by names, whose cells have colours and words.

use crate::axis::PlotError;
use crate::bars::on_paper;
use crate::chart::{Canvas, LINE, NARROW, SMALL, head};
use crate::font::Ruler;
use crate::ink::Ink;
use crate::scene::{Anchor, Item, Outline, Paint, Picture, Point, Rect, Shape, Text, at};

/// Rows are as high as this at least, in pixels: a name fits.
const LOWEST: f64 = 13.0;
/// More names than this have a line at every fifth only.
const MANY: usize = 12;
/// How large a cell may be, in pixels; a table of few names has cells of this part of the canvas.
const LARGEST: (f64, f64) = (140.0, 90.0);
const OF_FEW: (f64, f64) = (440.0, 260.0);

/// The table, without what stands in it.
pub(crate) struct Grid<'a> {
    pub(crate) title: &'a str,
    pub(crate) notes: &'a [String],
    pub(crate) names: &'a [String],
    /// What the rows are, and what the columns.
    pub(crate) captions: [&'a str; 2],
}

/// What stands in a cell.
pub(crate) struct Spot {
    pub(crate) ink: Ink,
    pub(crate) text: String,
    /// What it means, in words.
    pub(crate) note: String,
}

impl Grid<'_> {
    /// Draws it, with what `spot` says of each row and column.
    pub(crate) fn draw(
        &self,
        spot: impl Fn(usize, usize) -> Option<Spot>,
        canvas: Canvas,
    ) -> Result<Picture, PlotError> {
        let n_classes = self.names.len();
        if n_classes == 0 {
            return Err(PlotError::Nothing { what: "classes".to_owned() });
        }
        let Canvas { width, height, ruler, .. } = canvas;
        let mut items = Vec::new();
        let top = head(&mut items, self.title, self.notes, canvas) + canvas.air(8.0);
        let is_paper = ruler == Ruler::Paper;
        let first = top + 2.0 * LINE;
        // Many rows are low, but high enough for a name of each.
        let high = (height - first - 16.0) / n_classes as f64;
        let high = if is_paper {
            high.clamp(LOWEST, LARGEST.1.max(OF_FEW.1 / n_classes as f64))
        } else {
            (high / LINE).floor().clamp(1.0, 4.0) * LINE
        };
        let size = if is_paper { (0.8 * high).clamp(9.0, SMALL) } else { SMALL };
        let span = |texts: &[String]| texts.iter().map(|text| ruler.width(text, size)).fold(0.0, f64::max);
        // Where names are too long to stand above columns, rows have a number as well, and columns only that.
        let guess = (width - 40.0 - span(self.names).min(width * 0.25)) / n_classes as f64;
        let is_long = span(self.names) > ruler.width("999", size);
        let has_numbers = is_long && span(self.names) + 4.0 > guess;
        let numbered = |number: usize| format!(" ({number})");
        let (rows, columns): (Vec<String>, Vec<String>) = if has_numbers {
            let rows = self.names.iter().zip(1..).map(|(name, number)| format!("{name}{}", numbered(number)));
            (rows.collect(), (1..=n_classes).map(|number| number.to_string()).collect())
        } else {
            (self.names.to_vec(), self.names.to_vec())
        };
        let names = span(&rows).min(width * 0.3).max(ruler.width(self.captions[0], SMALL));
        let left = 20.0 + names + canvas.air(2.0);
        let wide = ((width - left - 12.0) / n_classes as f64).min(LARGEST.0.max(OF_FEW.0 / n_classes as f64));
        // Whole letters, so that cells end where letters do.
        let wide = if is_paper { wide } else { (wide / 10.0).floor().max(1.0) * 10.0 };
        let cell = (wide, high);
        // Narrower where the width would stay empty, but not so narrow that names no longer fit.
        let needed = left + wide * n_classes as f64 + 12.0;
        let for_names = (names / 0.3).max(span(self.names) * (n_classes + 1) as f64 + 60.0);
        let needed = needed.max(NARROW).max(for_names).ceil();
        if canvas.may_shrink && !canvas.is_narrow() && !has_numbers && needed < width {
            return self.draw(spot, Canvas { width: needed, may_shrink: false, ..canvas });
        }
        let caption = |x: f64, y: f64, text: &str| Text::new(at(x, y), text, SMALL).ink(Ink::Faint);
        items.push(caption(left - 8.0, first - 8.0, self.captions[0]).anchor(Anchor::End).into());
        items.push(caption(left, top + 12.0, self.captions[1]).into());
        let gap = span(&columns) + if is_paper { 2.0 } else { 10.0 };
        let every = if is_long && !has_numbers { 1 } else { n_between(gap / cell.0) };
        for (idx, (row, column)) in rows.iter().zip(&columns).enumerate() {
            let (x, y) = (left + cell.0 * idx as f64, first + cell.1 * idx as f64);
            let mut text = Text::new(at(left - 8.0, y + cell.1 / 2.0 + 0.36 * size), row, size);
            if has_numbers && ruler.width(row, size) > names {
                // The number stays where the name is too long.
                let room = names - ruler.width(&numbered(idx + 1), size);
                text.text = format!("{}{}", ruler.fit(&self.names[idx], size, room).0, numbered(idx + 1));
                text.full = Some(self.names[idx].clone());
            }
            items.push(text.anchor(Anchor::End).fit(ruler, names + 0.5).into());
            if (idx + usize::from(has_numbers)).is_multiple_of(every) {
                let text = Text::new(at(x + cell.0 / 2.0, first - 8.0), column, size);
                items.push(
                    text.anchor(Anchor::Middle).fit(ruler, (every as f64 * cell.0 - 2.0).max(10.0)).into(),
                );
            }
        }
        let bottom = first + cell.1 * n_classes as f64;
        self.draw_grid(
            &mut items,
            Rect { x: left, y: first, width: cell.0 * n_classes as f64, height: bottom - first },
        );
        self.draw_cells(&mut items, spot, (at(left, first), cell), size, canvas);
        Ok(on_paper(width, bottom + 16.0, self.title, self.notes, items))
    }

    /// Lines between classes: all of them, or every fifth.
    fn draw_grid(&self, items: &mut Vec<Item>, area: Rect) {
        let n_classes = self.names.len();
        let step = if n_classes > MANY { 5 } else { 1 };
        for number in (0..=n_classes).step_by(step).chain([n_classes]) {
            let share = number as f64 / n_classes as f64;
            let (x, y) = (area.x + area.width * share, area.y + area.height * share);
            for ends in [[at(x, area.y), at(x, area.bottom())], [at(area.x, y), at(area.right(), y)]] {
                let line = Outline::Line(ends.to_vec());
                items.push(Shape::new("grid", line, Paint::stroke(Ink::Grid, 1.0)).into());
            }
        }
    }

    fn draw_cells(
        &self,
        items: &mut Vec<Item>,
        spot: impl Fn(usize, usize) -> Option<Spot>,
        (corner, cell): (Point, (f64, f64)),
        size: f64,
        canvas: Canvas,
    ) {
        let ruler = canvas.ruler;
        let n_names = self.names.len();
        for (row, column) in (0..n_names).flat_map(|row| (0..n_names).map(move |column| (row, column))) {
            let Some(Spot { ink, text, note }) = spot(row, column) else { continue };
            let rect = Rect {
                x: corner.x + cell.0 * column as f64,
                y: corner.y + cell.1 * row as f64,
                width: cell.0,
                height: cell.1,
            };
            let paint = Paint::fill(ink).edged(Ink::Grid, 1.0);
            items.push(Shape::new("cell", Outline::Rect(rect), paint).saying(note).into());
            if ruler.width(&text, size) + 2.0 <= cell.0 || ruler == Ruler::Terminal {
                let middle = at(rect.x + cell.0 / 2.0, rect.y + cell.1 / 2.0 + 0.36 * size);
                let text = Text::new(middle, text, size).anchor(Anchor::Middle);
                items.push(text.fit(ruler, cell.0).into());
            }
        }
    }
}

/// How many columns a label takes, as a round number.
fn n_between(columns: f64) -> usize {
    [1, 2, 5, 10, 20, 50, 100].into_iter().find(|step| *step as f64 >= columns).unwrap_or(1000)
}
