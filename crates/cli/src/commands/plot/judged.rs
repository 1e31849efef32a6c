//! How good a model is, as pictures: ROC curves and the table of confusions.

use super::{Subject, Wish};
use crate::failure::Failure;
use crate::ui::{counted, percent};
use rosenblatt::{evaluate_rows, interval, roc};
use rosenblatt_plot::{Canvas, Confusion, Lines, Picture, PlotError, Range, Series};

/// More curves than this are a thicket.
const MOST_CURVES: usize = 8;

pub(super) fn draw_roc(subject: &Subject, wish: &Wish, canvas: Canvas) -> Result<Picture, Failure> {
    let model = subject.model()?;
    let mut curves = roc(model, &subject.data, &subject.rows);
    if curves.is_empty() {
        return Err(PlotError::Nothing { what: "rows of a class, and others,".to_owned() }.into());
    }
    let mut notes = vec![format!("{}: {}.", subject.learner(), subject.judged)];
    if curves.len() > MOST_CURVES {
        curves.sort_by(|a, b| a.area.total_cmp(&b.area).then(a.class.cmp(&b.class)));
        notes.push(format!("Of {} classes, the {MOST_CURVES} that are hardest to find.", curves.len()));
        curves.truncate(MOST_CURVES);
    }
    let mut series: Vec<Series> = curves
        .into_iter()
        .map(|curve| {
            let name = format!("{}: {:.3}", model.labels().name(curve.class), curve.area);
            Series::new(name, curve.points).bare()
        })
        .collect();
    notes.push("Beside each class stands the area below its curve: 1 is perfect, 0.5 is chance.".to_owned());
    series.push(Series::new("chance", vec![(0.0, 0.0), (1.0, 1.0)]).dashed().colour(6));
    let unit = Some(Range { low: 0.0, high: 1.0 });
    let title = wish.title.clone().unwrap_or_else(|| format!("ROC curves, {}", subject.source));
    let lines = Lines {
        notes,
        at_least: (unit, unit),
        ..Lines::new(title, "share of others taken for the class", "share of the class found", series)
    };
    Ok(lines.draw(canvas)?)
}

pub(super) fn draw_confusion(subject: &Subject, wish: &Wish, canvas: Canvas) -> Result<Picture, Failure> {
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
    let title =
        wish.title.clone().unwrap_or_else(|| format!("Which class is taken for which, {}", subject.source));
    let table = Confusion { title, notes, classes: evaluation.labels.names(), counts: &evaluation.confusion };
    Ok(table.draw(canvas)?)
}
