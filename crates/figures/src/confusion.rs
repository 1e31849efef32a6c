//! The confusion matrix: which classes are taken for which.

use crate::error::FigureError;
use crate::settings::Settings;
use crate::subject::{HOLDOUT, Subject};
use crate::words::{counted, percent};
use crate::{Figure, Needs};
use rosenblatt::evaluate::evaluate_rows;
use rosenblatt::insight::interval;
use rosenblatt_plot::{Canvas, Confusion, Picture};

pub(crate) const FIGURE: Figure = Figure {
    name: "confusion",
    about: "which classes are taken for which",
    needs: Needs::HeldOut,
    textbook: false,
    settings: &[HOLDOUT],
    draw,
};

fn draw(subject: &Subject, settings: &Settings, canvas: Canvas) -> Result<Picture, FigureError> {
    let model = subject.model()?;
    let evaluation = evaluate_rows(model, &subject.data, &subject.rows);
    let (low, high) = interval(evaluation.errors, evaluation.rows);
    let notes = vec![format!(
        "{}: {} in {}: {} ({} to {} with 95 % confidence).",
        subject.learner(),
        counted(evaluation.errors, "mistake", "mistakes"),
        subject.judged,
        percent(evaluation.error()),
        percent(low),
        percent(high)
    )];
    let title = settings.title(|| format!("Which class is taken for which, {}", subject.source));
    let table = Confusion { title, notes, classes: evaluation.labels.names(), counts: &evaluation.confusion };
    Ok(table.draw(canvas)?)
}
