//! Learning curves: mistakes, errors and loss pass by pass, read-outs side by side.

use super::{Subject, Wish};
use crate::failure::Failure;
use crate::ui::{count, counted};
use rosenblatt::core::{Average, Readout};
use rosenblatt::{PassPoint, learning_curve, split};
use rosenblatt_plot::{Canvas, Lines, Picture, Ruler, Series};

pub(super) fn draw(subject: &Subject, wish: &Wish, canvas: Canvas) -> Result<Picture, Failure> {
    let (data, spec) = (&subject.data, &subject.spec);
    let (rows, held) = if wish.holdout > 0.0 {
        split(data, wish.holdout, spec.options().seed)
    } else {
        (subject.rows.clone(), Vec::new())
    };
    let default = [Readout::Last, Readout::Averaged(Average::Post)];
    let readouts = if wish.readouts.is_empty() { default.as_slice() } else { &wish.readouts };
    let mut curves: Vec<(String, Vec<PassPoint>)> = Vec::new();
    for readout in readouts {
        let curve = learning_curve(spec, data, (&rows, &held), *readout, wish.loss)?;
        curves.push((readout.to_string(), curve));
    }
    let series = |of: &dyn Fn(&PassPoint) -> f64| -> Vec<Series> {
        let curve = |(number, (name, points)): (usize, &(String, Vec<PassPoint>))| {
            let points = points.iter().map(|point| (point.epoch as f64, of(point))).collect();
            Series::new(name.clone(), points).colour(number)
        };
        curves.iter().enumerate().map(curve).collect()
    };
    let name = spec.entry().info.name;
    let mut panels = vec![Lines::new(
        "Error on rows learned from",
        "pass",
        "error (%)",
        series(&|point| 100.0 * point.errors[0]),
    )];
    if !held.is_empty() {
        let title = "Error on rows held out";
        panels.push(Lines::new(title, "pass", "error (%)", series(&|point| 100.0 * point.errors[1])));
    }
    // All read-outs are of one run, so its mistakes are drawn once.
    let mistakes = curves.first().map(|(_, points)| points.as_slice()).unwrap_or_default();
    let mistakes = mistakes.iter().map(|point| (point.epoch as f64, point.mistakes as f64)).collect();
    let title = "Mistakes made while learning";
    panels.push(Lines::new(title, "pass", "mistakes in the pass", vec![Series::new(name, mistakes)]));
    let (place, which) = if held.is_empty() { (0, "rows learned from") } else { (1, "rows held out") };
    panels.push(Lines::new(
        format!("Mean {} loss on {which}", wish.loss.name()),
        "pass",
        "loss",
        // Votes are counted in rounds, which no loss is made for.
        series(&|point| point.losses[place]).into_iter().filter(|series| series.name != "voted").collect(),
    ));
    let (part, columns) = match canvas.ruler {
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
    let title =
        wish.title.clone().unwrap_or_else(|| format!("Learning curves of {name}, {}", subject.source));
    let notes = [format!(
        "Of {}, {} are held out.",
        counted(data.len() as u64, "row", "rows"),
        count(held.len() as u64)
    )];
    Ok(Picture::sheet(&title, &notes, pictures, columns, canvas.ruler))
}
