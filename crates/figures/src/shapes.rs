//! The curve of every column that bends: how much its values add to a score, and how many rows have them.

use crate::error::FigureError;
use crate::settings::{Setting, Settings, Takes};
use crate::subject::Subject;
use crate::{Figure, Needs};
use rosenblatt::core::{Examples, Row};
use rosenblatt::data::Visitor;
use rosenblatt::insight::{Curve, curves};
use rosenblatt::{Error, Model, Task};
use rosenblatt_plot::{Canvas, Level, Lines, Picture, PlotError, Ruler, Series, number};

pub(crate) const FIGURE: Figure = Figure {
    name: "shapes",
    about: "how much the values of each column that bends add to the score or number, and how many rows have them",
    needs: Needs::Model,
    tasks: &[Task::Classes, Task::Numbers],
    textbook: false,
    settings: &[TOP, CLASS],
    draw,
};

const TOP: Setting = Setting::new("top", "how many columns, those that matter most", "6", Takes::AtLeast(1));
const CLASS: Setting =
    Setting::new("class", "the curves in favour of this class; of the last by default", "", Takes::Class);

fn draw(subject: &Subject, settings: &Settings, canvas: Canvas) -> Result<Picture, FigureError> {
    let model = subject.model()?;
    let names = model.labels().names();
    let class = match settings.get(CLASS.name) {
        Some(name) => {
            let unknown = || Error::UnknownClass { name: name.to_owned(), known: names.to_vec() };
            model.labels().class(name).ok_or_else(unknown)?
        }
        None => names.len() as u32 - 1,
    };
    let most = settings.parsed(&TOP, |text| text.parse().ok().filter(|most| *most > 0))?.unwrap_or(1);
    let columns = ranked(model, class, subject);
    if columns.is_empty() {
        return Err(PlotError::Nothing { what: "columns that bend; train with `shape`".to_owned() }.into());
    }
    let (up, moved) = match model.task() {
        Task::Numbers => ("more", names[class as usize].as_str()),
        _ => ("for", "scores"),
    };
    let up = format!("Up: {up} {}; 0 is the mean.", names[class as usize]);
    let mut notes = vec![format!("{}.", subject.learner()), up];
    if columns.len() > most {
        notes.push(format!("The {most} of {} columns that matter most; `top` shows more.", columns.len()));
    }
    let n_surfaces = model.schema().map_or(0, |schema| schema.surfaces().len());
    if n_surfaces > 0 {
        notes.push(format!("Left out: what pairs of columns add together, {n_surfaces} in all."));
    }
    let is_alone = columns.len().min(most) == 1 || canvas.ruler == Ruler::Terminal || canvas.is_narrow();
    let (width, height) = if is_alone {
        (canvas.width, canvas.height * 0.7)
    } else {
        (canvas.width * 0.65, canvas.height * 0.6)
    };
    let panels: Result<Vec<Picture>, PlotError> = columns
        .into_iter()
        .take(most)
        .map(|column| column.draw(class, moved, Canvas { width, height, ..canvas }))
        .collect();
    let title = settings.title(|| format!("Curves, {}", subject.source));
    Ok(Picture::sheet(&title, &notes, panels?, if is_alone { 1 } else { 2 }, canvas.ruler))
}

/// A curve, and the rows that it was looked at with.
struct Shown {
    curve: Curve,
    /// The values of the rows, as far as the knots tell.
    values: Vec<f64>,
    /// The mean of how much the column moves a score.
    importance: f64,
}

/// The curves of a class, those first that move scores most over the rows.
fn ranked(model: &Model, class: u32, subject: &Subject) -> Vec<Shown> {
    struct Values<'a>(&'a Model, &'a [Curve], &'a [u32]);
    impl Visitor for Values<'_> {
        type Output = Vec<Vec<f64>>;
        fn visit<E: Examples>(self, examples: E) -> Self::Output {
            let Self(model, curves, rows) = self;
            let mut all = vec![Vec::new(); curves.len()];
            let Some(schema) = model.schema() else { return all };
            for &row in rows {
                let entries: Vec<(usize, f64)> = examples.row(row as usize).entries().collect();
                for (curve, values) in curves.iter().zip(&mut all) {
                    let run = &curve.features;
                    let own = entries.iter().filter(|(feature, _)| run.contains(feature));
                    let hats = own.map(|(feature, hat)| (feature - run.start, *hat));
                    values.extend(schema.bent_column(run.start).and_then(|(_, bend)| bend.value_of(hats)));
                }
            }
            all
        }
    }
    let all = curves(model, class);
    let values = subject.data.visit(Values(model, &all, &subject.rows));
    let mut shown: Vec<Shown> = all
        .into_iter()
        .zip(values)
        .map(|(curve, values)| {
            let heights: Vec<f64> = values.iter().map(|value| curve.height(*value)).collect();
            let mean = heights.iter().sum::<f64>() / heights.len().max(1) as f64;
            let moved = heights.iter().map(|height| (height - mean).abs()).sum::<f64>();
            Shown { curve, importance: moved / heights.len().max(1) as f64, values }
        })
        .collect();
    shown.sort_by(|a, b| b.importance.total_cmp(&a.importance));
    shown
}

impl Shown {
    fn draw(self, class: u32, moved: &str, canvas: Canvas) -> Result<Picture, PlotError> {
        let Self { curve, values, importance } = self;
        let mut levels = vec![Level { name: String::new(), value: 0.0 }];
        levels.extend(curve.missing.map(|value| Level { name: "missing".to_owned(), value }));
        let title = format!("{}: moves {moved} by {} in the mean", curve.column, number(importance));
        let series = Series::new("", curve.points).colour(class as usize).bare();
        let lines = Lines {
            levels,
            may_be_log: false,
            below: values,
            ..Lines::new(title, curve.column, "adds", vec![series])
        };
        lines.draw(canvas)
    }
}
