//! ROC curves: how many rows of a class are found at the price of how many false alarms.

use crate::error::FigureError;
use crate::settings::Settings;
use crate::subject::{HOLDOUT, Subject};
use crate::{Figure, Needs};
use rosenblatt::roc::roc;
use rosenblatt_plot::{Canvas, Lines, Mark, Picture, PlotError, Range, Series, number};

/// More curves than this are a thicket.
pub(crate) const MOST_CURVES: usize = 8;
/// The axes of shares.
pub(crate) const UNIT: Option<Range> = Some(Range { low: 0.0, high: 1.0 });
/// How many thresholds are marked on a curve.
const MARKED: usize = 6;

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
    notes.push("Beside each class stands the area below its curve: 1 is perfect, 0.5 is chance.".to_owned());
    let is_alone = curves.len() == 1;
    let (mut series, mut marks) = (Vec::new(), Vec::new());
    for (colour, curve) in curves.into_iter().enumerate() {
        marks.extend(thresholds(&curve.points, &curve.thresholds, colour, is_alone));
        let name = format!("{}: {:.3}", model.labels().name(curve.class), curve.area);
        series.push(Series::new(name, curve.points).bare().colour(colour));
    }
    notes.push(about_marks(is_alone));
    series.push(Series::new("chance", vec![(0.0, 0.0), (1.0, 1.0)]).dashed().colour(6));
    let title = settings.title(|| format!("ROC curves, {}", subject.source));
    let lines = Lines {
        notes,
        marks,
        at_least: (UNIT, UNIT),
        square: true,
        may_be_log: false,
        ..Lines::new(title, "false positive rate", "true positive rate", series)
    };
    Ok(lines.draw(canvas)?)
}

/// Points of a curve with the scores from which on rows are taken for the class: the one of a score of zero, and if the
/// curve is alone, others about evenly along it, with their scores beside them.
pub(crate) fn thresholds(
    points: &[(f64, f64)],
    thresholds: &[f64],
    colour: usize,
    is_alone: bool,
) -> Vec<Mark> {
    let apart = |a: (f64, f64), b: (f64, f64)| (a.0 - b.0).abs() + (a.1 - b.1).abs();
    let length: f64 = points.windows(2).map(|pair| apart(pair[0], pair[1])).sum();
    let mark = |place: usize| {
        let ((x, y), score) = (points[place], thresholds[place]);
        let note = format!("score {} or more: {x:.3} across, {y:.3} upwards", number(score));
        Mark { x, y, colour, note, label: if is_alone { number(score) } else { String::new() }, span: None }
    };
    // The last point whose rows all score above zero.
    let own = thresholds.iter().rposition(|score| *score > 0.0 && score.is_finite());
    let mut chosen: Vec<usize> = own.into_iter().collect();
    let (mut gone, mut next) = (0.0, 0.0);
    for place in (0..points.len()).filter(|_| is_alone) {
        gone += if place > 0 { apart(points[place - 1], points[place]) } else { 0.0 };
        let is_near =
            chosen.iter().any(|&other| apart(points[other], points[place]) < 0.5 * length / MARKED as f64);
        if thresholds[place].is_finite() && gone >= next && !is_near {
            chosen.push(place);
            next = gone + length / MARKED as f64;
        }
    }
    chosen.into_iter().map(mark).collect()
}

/// What the marks are.
pub(crate) fn about_marks(is_alone: bool) -> String {
    if is_alone {
        "Rings are thresholds: the score from which on a row is taken for the class.".to_owned()
    } else {
        "Rings are where the score of the class is zero.".to_owned()
    }
}
