//! How far rows are from the boundary, on which side.

use crate::error::FigureError;
use crate::settings::Settings;
use crate::subject::Subject;
use crate::words::counted;
use crate::{Figure, Needs};
use rosenblatt::insight::margins;
use rosenblatt::{Costs, Task};
use rosenblatt_plot::{Canvas, Histogram, Picture, Range, number};

pub(crate) const FIGURE: Figure = Figure {
    name: "margins",
    about: "how far rows are from the boundary, as a histogram",
    needs: Needs::Model,
    tasks: &[Task::Classes],
    textbook: false,
    settings: &[],
    draw,
};

/// A bar says nothing of where in it a value lies, so a value this many lengths of the others away is drawn in.
const FAR: f64 = 0.5;

fn draw(subject: &Subject, settings: &Settings, canvas: Canvas) -> Result<Picture, FigureError> {
    let model = subject.model()?;
    let all = match &subject.held_out {
        Some(held_out) => held_out.margins(model),
        None => margins(model, &subject.data, &subject.rows, true),
    };
    // Rows of a class that the model never heard of have no margin.
    let values: Vec<f64> = all.iter().copied().filter(|value| value.is_finite()).collect();
    let (shown, n_clipped) = clipped(&values);
    let is_distance =
        subject.held_out.is_none() && model.planes().is_some_and(|planes| planes.n_outputs() == 1);
    let is_log_odds = subject.held_out.as_ref().is_some_and(|held_out| held_out.has_probabilities());
    let wrong = values.iter().filter(|value| **value <= 0.0).count() as u64;
    let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
    let mut notes = vec![format!(
        "{}: of {}, {} on the wrong side; smallest margin {}.",
        subject.learner(),
        subject.judged,
        counted(wrong, "is", "are"),
        number(smallest)
    )];
    if values.len() < all.len() {
        let unknown = counted((all.len() - values.len()) as u64, "row is", "rows are");
        notes.push(format!("{unknown} of a class that the model does not know, and left out."));
    }
    if n_clipped > 0 {
        let rows = counted(n_clipped, "row lies", "rows lie");
        notes.push(format!("{rows} beyond the ends, and are counted in the outermost bars."));
    }
    let name = match (is_distance, model.labels().len()) {
        (_, 2) if is_log_odds && model.spec().options().costs != Costs::Even => {
            "log odds of the actual class, beyond those from which costs name it"
        }
        _ if is_log_odds => "log odds of the actual class against the next",
        (true, _) => "signed distance from the boundary",
        (false, 2) => "signed score",
        (false, _) => "margin of the true class over the next",
    };
    let title = settings.title(|| format!("Margins, {}", subject.source));
    let histogram = Histogram {
        title,
        notes,
        name: name.to_owned(),
        counted: "rows".to_owned(),
        meaning: ["wrong", "right"].map(str::to_owned),
        values: &shown,
    };
    Ok(histogram.draw(canvas)?)
}

/// The values, those far beyond nearly all others drawn in, so that a single one does not leave the rest a line; and how many
/// that are.
fn clipped(values: &[f64]) -> (Vec<f64>, u64) {
    let Some(Range { low, high }) = Range::of_most(values.iter().copied(), true, FAR) else {
        return (values.to_vec(), 0);
    };
    let n_clipped = values.iter().filter(|value| !(low..=high).contains(*value)).count();
    (values.iter().map(|value| value.clamp(low, high)).collect(), n_clipped as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_far_out_does_not_flatten_the_rest() {
        let mut values: Vec<f64> = (0..300).map(|row| f64::from(row) / 100.0 - 1.0).collect();
        assert_eq!(clipped(&values).1, 0);
        values.push(1700.0);
        let (shown, n_clipped) = clipped(&values);
        assert_eq!((n_clipped, shown.len()), (1, 301));
        assert!(shown.iter().all(|value| value.abs() < 10.0));
        assert_eq!(clipped(&[]), (Vec::new(), 0));
        let most = (0..300).map(|row| f64::from(row) / 15.0 - 10.0);
        let (shown, n_clipped) = clipped(&most.chain([-28.9]).collect::<Vec<_>>());
        assert!(n_clipped == 1 && shown.iter().all(|value| value.abs() <= 15.0), "{n_clipped}");
    }
}
