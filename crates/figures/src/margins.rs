//! How far rows are from the boundary, on which side.

use crate::error::FigureError;
use crate::settings::Settings;
use crate::subject::Subject;
use crate::words::counted;
use crate::{Figure, Needs};
use rosenblatt::insight::margins;
use rosenblatt_plot::{Canvas, Histogram, Picture, number};

pub(crate) const FIGURE: Figure = Figure {
    name: "margins",
    about: "how far rows are from the boundary, as a histogram",
    needs: Needs::Model,
    textbook: false,
    settings: &[],
    draw,
};

fn draw(subject: &Subject, settings: &Settings, canvas: Canvas) -> Result<Picture, FigureError> {
    let model = subject.model()?;
    let all = margins(model, &subject.data, &subject.rows, true);
    // Rows of a class that the model never heard of have no margin.
    let values: Vec<f64> = all.iter().copied().filter(|value| value.is_finite()).collect();
    let is_distance = model.planes().is_some_and(|planes| planes.n_outputs() == 1);
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
    let name = match (is_distance, model.labels().len()) {
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
        values: &values,
    };
    Ok(histogram.draw(canvas)?)
}
