//! ROC curves: how many rows of a class are found at the price of how many false alarms.

use crate::error::FigureError;
use crate::settings::Settings;
use crate::subject::{HOLDOUT, Subject};
use crate::{Figure, Needs};
use rosenblatt::roc::roc;
use rosenblatt::{Model, Task};
use rosenblatt_plot::{Canvas, Ink, Lines, Mark, Picture, PlotError, Range, Series, number};

/// More curves than this are a thicket.
pub(crate) const MOST_CURVES: usize = 8;
/// The axes of shares.
pub(crate) const UNIT: Option<Range> = Some(Range { low: 0.0, high: 1.0 });
/// How many thresholds are marked on a curve.
const MARKED: usize = 6;

pub(crate) const FIGURE: Figure = Figure {
    name: "roc",
    about: "true positive rate against false positive rate, at each threshold",
    needs: Needs::HeldOut,
    tasks: &[Task::Classes],
    textbook: false,
    settings: &[HOLDOUT],
    draw,
};

fn draw(subject: &Subject, settings: &Settings, canvas: Canvas) -> Result<Picture, FigureError> {
    let model = subject.model()?;
    let mut curves = match &subject.held_out {
        Some(held_out) => held_out.roc(),
        None => roc(model, &subject.data, &subject.rows),
    };
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
    let scale = Scale::of(subject, model);
    let (mut series, mut marks) = (Vec::new(), Vec::new());
    for curve in curves {
        let ink = Ink::Class(curve.class as usize);
        marks.extend(scale.thresholds(&curve.points, &curve.thresholds, ink, is_alone));
        let name = format!("{}: {:.3}", model.labels().name(curve.class), curve.area);
        series.push(Series::new(name, curve.points).bare().ink(ink));
    }
    notes.push(scale.about_marks(is_alone));
    series.push(Series::new("chance", vec![(0.0, 0.0), (1.0, 1.0)]).dashed());
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

/// What thresholds are measured in.
pub(crate) enum Scale<'m> {
    /// Scores.
    Scores,
    /// Scores that the curve of this model turns into probabilities.
    Calibrated(&'m Model),
    /// Probabilities.
    Probabilities,
}

impl<'m> Scale<'m> {
    pub(crate) fn of(subject: &Subject, model: &'m Model) -> Self {
        match &subject.held_out {
            Some(held_out) if held_out.has_probabilities() => Self::Probabilities,
            // Of more than two classes, a probability hangs on the scores of all.
            None if model.calibration().is_some() && model.labels().len() == 2 => Self::Calibrated(model),
            _ => Self::Scores,
        }
    }

    /// The threshold in words, and whether it is beyond the one by which the class is given.
    fn shown(&self, threshold: f64) -> (String, bool) {
        let probability = match self {
            Self::Scores => return (number(threshold), threshold > 0.0),
            Self::Probabilities => threshold,
            Self::Calibrated(model) => {
                let mut shares = Vec::new();
                if let Some(calibration) = model.calibration() {
                    calibration.probabilities(&[threshold], &mut shares);
                }
                shares.get(1).copied().unwrap_or(threshold)
            }
        };
        let shown = match probability {
            share if share < 0.005 => "< 0.01".to_owned(),
            share if share > 0.995 => "> 0.99".to_owned(),
            share => format!("{share:.2}"),
        };
        (shown, probability > 0.5)
    }

    /// Points of a curve with the thresholds from which on rows are taken for the class: the one by which it is given, and
    /// if the curve is alone, others about evenly along it, with their thresholds beside them.
    pub(crate) fn thresholds(
        &self,
        points: &[(f64, f64)],
        thresholds: &[f64],
        ink: Ink,
        is_alone: bool,
    ) -> Vec<Mark> {
        let apart = |a: (f64, f64), b: (f64, f64)| (a.0 - b.0).abs() + (a.1 - b.1).abs();
        let length: f64 = points.windows(2).map(|pair| apart(pair[0], pair[1])).sum();
        let mark = |place: usize| {
            let ((x, y), (shown, _)) = (points[place], self.shown(thresholds[place]));
            let what = if matches!(self, Self::Scores) { "score" } else { "probability" };
            let note = format!("{what} {shown} or more: {x:.3} across, {y:.3} upwards");
            Mark { x, y, ink, note, label: if is_alone { shown } else { String::new() }, span: None }
        };
        // The last point whose rows are all given the class.
        let own = thresholds.iter().rposition(|threshold| threshold.is_finite() && self.shown(*threshold).1);
        let mut chosen: Vec<usize> = own.into_iter().collect();
        // Not at the very start: where chance starts as well, no label can be read.
        let (mut gone, mut next) = (0.0, 0.5 * length / MARKED as f64);
        for place in (0..points.len()).filter(|_| is_alone) {
            gone += if place > 0 { apart(points[place - 1], points[place]) } else { 0.0 };
            let is_near = chosen
                .iter()
                .any(|&other| apart(points[other], points[place]) < 0.5 * length / MARKED as f64);
            if thresholds[place].is_finite() && gone >= next && !is_near {
                chosen.push(place);
                next = gone + length / MARKED as f64;
            }
        }
        chosen.into_iter().map(mark).collect()
    }

    /// What the marks are.
    pub(crate) fn about_marks(&self, is_alone: bool) -> String {
        match (is_alone, self) {
            (true, Self::Scores) => {
                "Circles are thresholds: the lowest score that is taken for the class.".to_owned()
            }
            (true, _) => {
                "Circles are thresholds: the lowest probability that is taken for the class.".to_owned()
            }
            (false, Self::Probabilities) => {
                "Circles are where the probability of the class is one half.".to_owned()
            }
            (false, _) => "Circles are where the score of the class is zero.".to_owned(),
        }
    }
}
