//! Whether probabilities come true.

use crate::error::FigureError;
use crate::roc::UNIT;
use crate::settings::Settings;
use crate::subject::{HOLDOUT, Subject};
use crate::words::counted;
use crate::{Figure, Needs};
use rosenblatt::Task;
use rosenblatt::insight::interval;
use rosenblatt::roc::reliability;
use rosenblatt_plot::{Canvas, Ink, Lines, Mark, Picture, PlotError, Series};

pub(crate) const FIGURE: Figure = Figure {
    name: "reliability",
    about: "the calibration curve: how often what is given a probability comes true",
    needs: Needs::Probabilities,
    tasks: &[Task::Classes],
    textbook: false,
    settings: &[HOLDOUT],
    draw,
};

fn draw(subject: &Subject, settings: &Settings, canvas: Canvas) -> Result<Picture, FigureError> {
    let model = subject.model()?;
    if subject.rows.is_empty() {
        return Err(PlotError::Nothing { what: "rows".to_owned() }.into());
    }
    let told = match &subject.held_out {
        Some(held_out) => held_out.reliability()?,
        None => reliability(model, &subject.data, &subject.rows)?,
    };
    let notes = vec![
        format!("{}: {}.", subject.learner(), subject.judged),
        format!(
            "Every point stands for rows of about the same probability, with what is likely at 95 % confidence. In \
             the mean over rows, probabilities are off by {:.3}.",
            told.error
        ),
    ];
    let points: Vec<(f64, f64)> = told.bins.iter().map(|bin| (bin.said, bin.came_true)).collect();
    // Of more than two classes, it is the probability of each in its turn.
    let ink = told.class.map_or(Ink::Text, |class| Ink::Class(class as usize));
    let marks = told.bins.iter().map(|bin| {
        let rows = counted(bin.rows, "row", "rows");
        let note = format!("{rows}: said {:.3}, came true {:.3}", bin.said, bin.came_true);
        let span = Some(interval((bin.came_true * bin.rows as f64).round() as u64, bin.rows));
        Mark { x: bin.said, y: bin.came_true, ink, note, label: String::new(), span }
    });
    let series = vec![
        Series::new("observed", points).bare().ink(ink),
        Series::new("perfectly calibrated", vec![(0.0, 0.0), (1.0, 1.0)]).dashed(),
    ];
    let (x_name, y_name) = match told.class {
        Some(class) => {
            let name = model.labels().name(class);
            (format!("predicted probability of {name}"), format!("observed share of {name}"))
        }
        None => ("probability of the predicted class".to_owned(), "share that are right".to_owned()),
    };
    let title = settings.title(|| format!("Calibration curve, {}", subject.source));
    let lines = Lines {
        notes,
        marks: marks.collect(),
        at_least: (UNIT, UNIT),
        square: true,
        may_be_log: false,
        ..Lines::new(title, x_name, y_name, series)
    };
    Ok(lines.draw(canvas)?)
}
