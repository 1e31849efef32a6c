//! Learning curves: mistakes, errors and loss epoch by epoch, read-outs side by side.

use crate::error::FigureError;
use crate::settings::{Setting, Settings, Takes};
use crate::subject::{HOLDOUT, Subject, holdout};
use crate::words::{count, counted};
use crate::{Figure, Needs};
use rosenblatt::Task;
use rosenblatt::curves::{EpochPoint, learning_curve};
use rosenblatt::learning::{Loss, Readout};
use rosenblatt::split::split;
use rosenblatt_plot::{Canvas, Lines, Picture, Ruler, Series};

pub(crate) const FIGURE: Figure = Figure {
    name: "curves",
    about: "mistakes, errors and loss epoch by epoch, read-outs side by side",
    needs: Needs::Run,
    tasks: &[Task::Classes],
    textbook: false,
    settings: &[READOUTS, LOSS, HOLDOUT],
    draw,
};

const READOUTS: Setting =
    Setting::new("readouts", "the read-outs to compare", "last,averaged", Takes::Readouts);
const LOSS: Setting = Setting::new(
    "loss",
    "what a margin costs: zero-one, perceptron, hinge, logistic or squared",
    "hinge",
    Takes::Loss,
);

fn draw(subject: &Subject, settings: &Settings, canvas: Canvas) -> Result<Picture, FigureError> {
    let (data, spec) = (&subject.data, &subject.spec);
    let share = holdout(settings)?;
    let (rows, held) = if share > 0.0 {
        split(data, share, spec.options().seed)
    } else {
        (subject.rows.clone(), Vec::new())
    };
    let parse = |text: &str| text.split(',').map(|name| name.trim().parse().ok()).collect();
    let readouts: Vec<Readout> = settings.parsed(&READOUTS, parse)?.unwrap_or_default();
    let loss = settings.number(&LOSS)?.unwrap_or(Loss::Hinge);
    let mut curves: Vec<(String, Vec<EpochPoint>)> = Vec::new();
    for readout in &readouts {
        let curve = learning_curve(spec, data, (&rows, &held), *readout, loss)?;
        curves.push((readout.to_string(), curve));
    }
    let series = |of: &dyn Fn(&EpochPoint) -> f64| -> Vec<Series> {
        let curve = |(number, (name, points)): (usize, &(String, Vec<EpochPoint>))| {
            let points = points.iter().map(|point| (point.epoch as f64, of(point))).collect();
            Series::new(name.clone(), points).colour(number)
        };
        curves.iter().enumerate().map(curve).collect()
    };
    let name = spec.entry().info.name;
    let mut panels = vec![Lines::new(
        "Error on rows learned from",
        "epoch",
        "error (%)",
        series(&|point| 100.0 * point.errors[0]),
    )];
    if !held.is_empty() {
        let title = "Error on rows held out";
        panels.push(Lines::new(title, "epoch", "error (%)", series(&|point| 100.0 * point.errors[1])));
    }
    // All read-outs are of one run, so its mistakes are drawn once.
    let mistakes = curves.first().map(|(_, points)| points.as_slice()).unwrap_or_default();
    let mistakes = mistakes.iter().map(|point| (point.epoch as f64, point.mistakes as f64)).collect();
    let title = "Mistakes made while learning";
    panels.push(Lines::new(title, "epoch", "mistakes in the epoch", vec![Series::new(name, mistakes)]));
    let (place, which) = if held.is_empty() { (0, "rows learned from") } else { (1, "rows held out") };
    panels.push(Lines::new(
        format!("Mean {loss} loss on {which}"),
        "epoch",
        "loss",
        // Votes are counted in rounds, which no loss is made for.
        series(&|point| point.losses[place]).into_iter().filter(|series| series.name != "voted").collect(),
    ));
    let (part, columns) = match canvas.ruler {
        Ruler::Paper if canvas.is_narrow() => (Canvas { height: canvas.height * 0.75, ..canvas }, 1),
        Ruler::Paper => {
            (Canvas { width: (canvas.width * 0.7).max(300.0), height: canvas.height * 0.68, ..canvas }, 2)
        }
        Ruler::Terminal => (Canvas { height: (canvas.height * 0.6).max(320.0), ..canvas }, 1),
    };
    let mut pictures = Vec::new();
    for panel in panels.iter_mut().filter(|panel| !panel.series.is_empty()) {
        panel.whole.0 = true;
        pictures.push(panel.draw(part)?);
    }
    let title = settings.title(|| format!("Learning curves of {name}, {}", subject.source));
    let notes = [format!(
        "Of {}, {} are held out.",
        counted(data.len() as u64, "row", "rows"),
        count(held.len() as u64)
    )];
    Ok(Picture::sheet(&title, &notes, pictures, columns, canvas.ruler))
}
