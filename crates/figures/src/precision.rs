//! Precision against recall: how many of those taken for a class are of it, as more and more of its rows are found.

use crate::error::FigureError;
use crate::roc::{MOST_CURVES, Scale, UNIT};
use crate::settings::Settings;
use crate::subject::{HOLDOUT, Subject};
use crate::{Figure, Needs};
use rosenblatt::Task;
use rosenblatt::roc::precision_recall;
use rosenblatt_plot::{Canvas, Ink, Level, Lines, Picture, PlotError, Series};

pub(crate) const FIGURE: Figure = Figure {
    name: "precision-recall",
    about: "precision at each recall: how many of the predicted rows are right",
    needs: Needs::HeldOut,
    tasks: &[Task::Classes],
    textbook: false,
    settings: &[HOLDOUT],
    draw,
};

fn draw(subject: &Subject, settings: &Settings, canvas: Canvas) -> Result<Picture, FigureError> {
    let model = subject.model()?;
    let mut curves = match &subject.held_out {
        Some(held_out) => held_out.precision_recall(),
        None => precision_recall(model, &subject.data, &subject.rows),
    };
    if curves.is_empty() {
        return Err(PlotError::Nothing { what: "rows of a class, and others,".to_owned() }.into());
    }
    let mut notes = vec![format!("{}: {}.", subject.learner(), subject.judged)];
    if curves.len() > MOST_CURVES {
        curves.sort_by(|a, b| a.average.total_cmp(&b.average).then(a.class.cmp(&b.class)));
        notes.push(format!("Of {} classes, the {MOST_CURVES} of the lowest average.", curves.len()));
        curves.truncate(MOST_CURVES);
    }
    notes.push("Beside each class stands its average precision: 1 is perfect.".to_owned());
    let is_alone = curves.len() == 1;
    let scale = Scale::of(subject, model);
    let (mut series, mut marks, mut levels) = (Vec::new(), Vec::new(), Vec::new());
    for curve in curves {
        let ink = Ink::Class(curve.class as usize);
        // Of points that find the same rows, all but the first are worse than it in every way.
        let found: Vec<usize> = (0..curve.points.len())
            .filter(|&place| place == 0 || curve.points[place].0 > curve.points[place - 1].0)
            .collect();
        let best: Vec<(f64, f64)> = found.iter().map(|&place| curve.points[place]).collect();
        let scores: Vec<f64> = found.iter().map(|&place| curve.thresholds[place]).collect();
        marks.extend(scale.thresholds(&best, &scores, ink, is_alone));
        // Between two thresholds precision is that of the lower one, which is how it is averaged.
        let mut points = Vec::new();
        let mut before = 0.0;
        for (recall, precision) in best {
            points.extend([(before, precision), (recall, precision)]);
            before = recall;
        }
        let name = format!("{}: {:.3}", model.labels().name(curve.class), curve.average);
        series.push(Series::new(name, points).bare().ink(ink));
        if is_alone {
            levels.push(Level { name: format!("guessing: {:.3}", curve.share), value: curve.share });
        }
    }
    notes.push(scale.about_marks(is_alone));
    let title = settings.title(|| format!("Precision and recall, {}", subject.source));
    let lines = Lines {
        notes,
        marks,
        levels,
        at_least: (UNIT, UNIT),
        square: true,
        may_be_log: false,
        ..Lines::new(title, "recall", "precision", series)
    };
    Ok(lines.draw(canvas)?)
}
