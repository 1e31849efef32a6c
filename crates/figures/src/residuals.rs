//! How far off predicted numbers are, from the lowest prediction to the highest.

use crate::error::FigureError;
use crate::fit::{AIR, Cloud};
use crate::settings::Settings;
use crate::subject::Subject;
use crate::words::short_number;
use crate::{Figure, Needs};
use rosenblatt::Task;
use rosenblatt_plot::{Canvas, Level, Lines, Picture, Range, Series};

/// The share of rows between the levels.
const SHARE: f64 = 0.9;

pub(crate) const FIGURE: Figure = Figure {
    name: "residuals",
    about: "how far true numbers are above or below predicted ones: a pattern is what the model misses",
    needs: Needs::HeldOut,
    tasks: &[Task::Numbers],
    textbook: false,
    settings: &[],
    draw,
};

fn draw(subject: &Subject, settings: &Settings, canvas: Canvas) -> Result<Picture, FigureError> {
    let cloud = Cloud::of(subject)?;
    let all = Range::of(&cloud.name, cloud.judged.predicted.iter().copied())?;
    let (mut notes, mut levels) = (cloud.notes.clone(), Vec::new());
    if let Some(reach) = cloud.judged.reach(SHARE) {
        let share = format!("{} % of rows", short_number(100.0 * SHARE));
        notes.push(format!("Between the levels, at {} up and down, are about {share}.", short_number(reach)));
        let level = |value: f64| Level { name: share.clone(), value };
        levels = vec![level(-reach), level(reach)];
    }
    let series = vec![
        cloud.series(|truth, predicted| (predicted, truth - predicted)),
        Series::new("predicted = true", vec![(all.low, 0.0), (all.high, 0.0)]).dashed(),
    ];
    let title = settings.title(|| format!("Residuals of {}, {}", cloud.name, subject.source));
    let lines = Lines {
        notes,
        levels,
        at_least: (Some(all.padded(AIR)), None),
        may_be_log: false,
        ..Lines::new(title, format!("predicted {}", cloud.name), "true less predicted", series)
    };
    Ok(lines.draw(canvas)?)
}
