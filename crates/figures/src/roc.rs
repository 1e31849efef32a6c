//! ROC curves: how many rows of a class are found at the price of how many false alarms.

use crate::error::FigureError;
use crate::settings::Settings;
use crate::subject::{HOLDOUT, Subject};
use crate::{Figure, Needs};
use rosenblatt::roc::roc;
use rosenblatt_plot::{Canvas, Lines, Picture, PlotError, Range, Series};

/// More curves than this are a thicket.
const MOST_CURVES: usize = 8;

pub(crate) const FIGURE: Figure = Figure {
    name: "roc",
    about: "how many are found at the price of how many false alarms",
    needs: Needs::HeldOut,
    textbook: false,
    settings: &[HOLDOUT],
    draw,
};

fn draw(subject: &Subject, settings: &Settings, canvas: Canvas) -> Result<Picture, FigureError> {
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
    let title = settings.title(|| format!("ROC curves, {}", subject.source));
    let lines = Lines {
        notes,
        at_least: (unit, unit),
        ..Lines::new(title, "share of others taken for the class", "share of the class found", series)
    };
    Ok(lines.draw(canvas)?)
}
