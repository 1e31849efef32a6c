//! Numbers that were predicted, beside the true ones.

use crate::error::FigureError;
use crate::settings::Settings;
use crate::subject::Subject;
use crate::words::{counted, short_number};
use crate::{Figure, Needs};
use rosenblatt::Task;
use rosenblatt::model::{HeldNumbers, NumberEstimate};
use rosenblatt::slice::sample;
use rosenblatt_plot::{Canvas, Lines, Picture, PlotError, Range, Series};

/// The share of an axis that is left beside the outermost points.
pub(crate) const AIR: f64 = 0.02;
/// The most rows that are drawn.
const MOST_DOTS: usize = 2_000;

pub(crate) const FIGURE: Figure = Figure {
    name: "fit",
    about: "true numbers beside predicted ones: on the line, a prediction is right",
    needs: Needs::HeldOut,
    tasks: &[Task::Numbers],
    textbook: false,
    settings: &[],
    draw,
};

fn draw(subject: &Subject, settings: &Settings, canvas: Canvas) -> Result<Picture, FigureError> {
    let cloud = Cloud::of(subject)?;
    let ends = cloud.judged.targets.iter().chain(&cloud.judged.predicted).copied();
    let both = Range::of(&cloud.name, ends)?;
    let right = vec![(both.low, both.low), (both.high, both.high)];
    let series = vec![
        cloud.series(|truth, predicted| (predicted, truth)),
        Series::new("predicted = true", right).dashed(),
    ];
    let title = settings.title(|| format!("True and predicted {}, {}", cloud.name, subject.source));
    let lines = Lines {
        notes: cloud.notes,
        at_least: (Some(both.padded(AIR)), Some(both.padded(AIR))),
        square: true,
        may_be_log: false,
        ..Lines::new(title, format!("predicted {}", cloud.name), format!("true {}", cloud.name), series)
    };
    Ok(lines.draw(canvas)?)
}

/// Rows as points, and the notes on them.
pub(crate) struct Cloud {
    /// What is predicted.
    pub(crate) name: String,
    pub(crate) judged: std::sync::Arc<HeldNumbers>,
    pub(crate) notes: Vec<String>,
    drawn: Vec<usize>,
}

impl Cloud {
    pub(crate) fn of(subject: &Subject) -> Result<Self, FigureError> {
        let model = subject.model()?;
        let judged = subject.numbers(model)?;
        if judged.rows.is_empty() {
            return Err(PlotError::Nothing { what: "rows".to_owned() }.into());
        }
        let NumberEstimate { rmse, mae, r2, .. } = judged.estimate;
        let mut notes = vec![
            format!("{}: {}.", subject.learner(), subject.judged),
            format!(
                "Root mean squared error {}, mean absolute error {}, variance explained (R2) {}.",
                short_number(rmse.value),
                short_number(mae.value),
                short_number(r2.value)
            ),
        ];
        let drawn = sample(judged.rows.len(), MOST_DOTS, subject.spec.options().seed);
        if drawn.len() < judged.rows.len() {
            let rows = counted(drawn.len() as u64, "row", "rows");
            notes.push(format!("{rows} of them are drawn, chosen at random."));
        }
        let name = model.labels().names().first().cloned().unwrap_or_default();
        Ok(Self { name, judged, notes, drawn })
    }

    /// The points of the rows that are drawn, by the true number and the predicted one.
    pub(crate) fn series(&self, point: impl Fn(f64, f64) -> (f64, f64)) -> Series {
        let HeldNumbers { rows, targets, predicted, .. } = &*self.judged;
        let points = self.drawn.iter().map(|&place| point(targets[place], predicted[place])).collect();
        let rows = self.drawn.iter().map(|&place| rows[place] as usize).collect();
        Series::new("rows", points).of_rows(rows).colour(0)
    }
}
