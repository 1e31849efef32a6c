//! Which classes are taken for which: a table whose colours are shares of its rows.

use crate::axis::PlotError;
use crate::chart::Canvas;
use crate::grid::{Grid, Spot};
use crate::ink::{Hue, Ink};
use crate::scene::Picture;

/// A table of actual classes and predicted ones.
#[derive(Debug, Clone)]
pub struct Confusion<'a> {
    /// What it shows.
    pub title: String,
    /// What must be known of it.
    pub notes: Vec<String>,
    /// What the classes are called.
    pub classes: &'a [String],
    /// `counts[true][given]`.
    pub counts: &'a [Vec<u64>],
    /// How a count is written.
    pub written: fn(u64) -> String,
}

impl Confusion<'_> {
    /// Draws it: actual classes downwards, predicted ones across. What is right is grey.
    pub fn draw(&self, canvas: Canvas) -> Result<Picture, PlotError> {
        let Self { title, notes, classes, counts, written } = self;
        let spot = |truth: usize, given: usize| {
            let count = *counts.get(truth)?.get(given).filter(|count| **count > 0)?;
            let of_class: u64 = counts[truth].iter().sum();
            let share = count as f64 / of_class as f64;
            // Mistakes are few; the root makes them visible.
            let share = if truth == given { share / 2.0 } else { -share.sqrt() / 2.0 };
            let ink = Ink::signed([Hue::Wrong, Hue::Plain], share);
            let text = written(count);
            let note = format!("{text} rows of {} were predicted as {}", classes[truth], classes[given]);
            Some(Spot { ink, text, note })
        };
        Grid { title, notes, names: classes, captions: ["actual class", "predicted class"] }
            .draw(spot, canvas)
    }
}
