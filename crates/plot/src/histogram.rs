//! How values are spread, those below zero apart from those above.

use crate::axis::{Axis, PlotError, Range};
use crate::chart::{Canvas, Chart, Key, Swatch};
use crate::ink::Ink;
use crate::scene::{Outline, Paint, Picture, Rect, Shape, at};

/// How many bins there are, about.
const BINS: f64 = 40.0;

/// Values, counted in bins of one width; zero is always an edge between two.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram<'a> {
    /// What it shows.
    pub title: String,
    /// What must be known of it.
    pub notes: Vec<String>,
    /// What the values are.
    pub name: String,
    /// What is counted.
    pub counted: String,
    /// What values below zero mean, and the others.
    pub meaning: [String; 2],
    /// The values.
    pub values: &'a [f64],
}

impl Histogram<'_> {
    /// Draws it.
    pub fn draw(&self, canvas: Canvas) -> Result<Picture, PlotError> {
        let range = Range::of(&self.name, self.values.iter().copied())?.with(0.0);
        let length = range.high / BINS - range.low / BINS;
        let step = if length > 0.0 { length } else { 1.0 };
        let first = (range.low / step).floor();
        let n_bins = ((range.high / step).floor() - first) as usize + 1;
        let mut counts = vec![0_u64; n_bins];
        for value in self.values {
            // A zero belongs to the bin below: a tie is no success.
            let bin =
                if *value > 0.0 { (value / step).floor() } else { ((value / step).ceil() - 1.0).max(first) };
            let bin = (bin - first).max(0.0) as usize;
            counts[bin.min(n_bins - 1)] += 1;
        }
        let highest = counts.iter().copied().max().unwrap_or(0) as f64;
        let edge = |bin: usize| (first + bin as f64) * step;
        let x = Range { low: edge(0), high: edge(n_bins) }.padded(0.01);
        let keys = [Ink::Wrong, Ink::Class(0)].into_iter().zip(&self.meaning);
        let chart = Chart {
            title: self.title.clone(),
            notes: self.notes.clone(),
            x: Axis::new(&self.name, x),
            y: Axis::new(&self.counted, Range { low: 0.0, high: (highest * 1.06).max(1.0) }).whole(),
            legend: keys.map(|(ink, label)| Key::new(Swatch::Patch(ink), label.clone())).collect(),
            ..Chart::default()
        };
        let mut plot = chart.open(canvas);
        for (bin, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let (low, high) = (plot.place(edge(bin), 0.0), plot.place(edge(bin + 1), count as f64));
            let bar = Rect { x: low.x + 0.5, y: high.y, width: high.x - low.x - 1.0, height: low.y - high.y };
            let ink = if first + (bin as f64) < 0.0 { Ink::Wrong } else { Ink::Class(0) };
            let note = format!("{} to {}: {count}", crate::number(edge(bin)), crate::number(edge(bin + 1)));
            plot.add(Shape::new("bin", Outline::Rect(bar), Paint::fill(ink)).saying(note));
        }
        let zero = plot.place(0.0, 0.0).x;
        let line = Outline::Line(vec![at(zero, plot.area.y), at(zero, plot.area.bottom())]);
        plot.add(Shape::new("zero", line, Paint::stroke(Ink::Text, 1.5)));
        Ok(plot.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Item;

    fn notes(values: &[f64]) -> Vec<String> {
        let meaning = ["wrong".to_owned(), "right".to_owned()];
        let chart = Histogram {
            title: String::new(),
            notes: Vec::new(),
            name: "margin".to_owned(),
            counted: "rows".to_owned(),
            meaning,
            values,
        };
        let picture = chart.draw(Canvas::default()).unwrap();
        let groups = picture
            .items
            .iter()
            .filter_map(|item| if let Item::Group(group) = item { Some(group) } else { None });
        let shapes = groups.flat_map(|group| &group.items);
        let bins = shapes.filter_map(|item| match item {
            Item::Shape(shape) if shape.role == "bin" => shape.note.clone(),
            _ => None,
        });
        bins.collect()
    }

    #[test]
    fn every_value_is_counted_once_and_zero_is_an_edge() {
        let total = |notes: &[String]| -> u64 {
            notes.iter().map(|note| note.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum()
        };
        for values in [vec![-1.0, -0.5, 0.0, 0.25, 3.0], vec![0.0, 0.0], vec![7.0], vec![-1e300, 1e300]] {
            assert_eq!(total(&notes(&values)), values.len() as u64, "{values:?}");
        }
        assert_eq!(notes(&[-1.0, 1.0]).len(), 2);
    }
}
