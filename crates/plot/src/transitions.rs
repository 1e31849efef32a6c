//! Which labels follow which, and how gladly: a table whose colours are weights.

use crate::axis::{PlotError, number};
use crate::chart::Canvas;
use crate::font::Ruler;
use crate::grid::{Grid, Spot};
use crate::ink::{Hue, Ink};
use crate::scene::Picture;

/// The strongest colour leaves the words in a cell readable.
const STRONGEST: f64 = 0.5;

/// A table of labels and those that follow them.
#[derive(Debug, Clone, PartialEq)]
pub struct Transitions<'a> {
    /// What it shows.
    pub title: String,
    /// What must be known of it.
    pub notes: Vec<String>,
    /// What the labels are called.
    pub labels: &'a [String],
    /// `weights[before][label]`; nothing where the label may not follow.
    pub weights: &'a [Vec<Option<f64>>],
}

impl Transitions<'_> {
    /// Draws it: the label before downwards, the label that follows across. Positive weights are blue, negative ones grey.
    pub fn draw(&self, canvas: Canvas) -> Result<Picture, PlotError> {
        let Self { title, notes, labels, weights } = self;
        let all = weights.iter().flatten().flatten();
        let strongest = all.fold(0.0_f64, |most, weight| most.max(weight.abs()));
        if !strongest.is_finite() {
            let what = "the weights of labels that follow each other".to_owned();
            return Err(PlotError::NotFinite { what, place: 0, value: strongest });
        }
        let spot = |before: usize, label: usize| {
            let (first, then) = (&labels[before], &labels[label]);
            let Some(weight) = *weights.get(before)?.get(label)? else {
                let note = format!("{then} may not follow {first}");
                let ink = if canvas.ruler == Ruler::Terminal { Ink::Paper } else { Ink::Grid };
                return Some(Spot { ink, text: "×".to_owned(), note });
            };
            let share = if strongest > 0.0 { weight / strongest } else { 0.0 };
            let note = format!("{then} after {first}: {}", number(weight));
            let ink = Ink::signed([Hue::Plain, Hue::Class(0)], STRONGEST * share);
            Some(Spot { ink, text: number(rounded(weight)), note })
        };
        Grid { title, notes, names: labels, captions: ["label before", "label"] }.draw(spot, canvas)
    }
}

/// As many digits as a narrow cell has room for.
fn rounded(weight: f64) -> f64 {
    if weight.abs() < 10.0 { (weight * 10.0).round() / 10.0 } else { weight.round() }
}
